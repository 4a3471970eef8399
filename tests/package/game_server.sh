#!/bin/sh
# game_server.sh: in a bare Debian with the package in /srv: a game server's first hour, with the
# commands that README.Debian gives, taken from it: a bet of a dealer who keeps the credit himself,
# under Apache; then under nginx, with workers that spawn-fcgi starts. Prints what it does; exits 0 if
# all is well.
set -eu
export DEBIAN_FRONTEND=noninteractive
deb=$(echo /srv/creditbridge_*.deb)
libexec=/usr/libexec/creditbridge
work=/root/first-hour
mkdir "$work"
cd "$work"

fail() {
	echo "not ok: $*"
	exit 1
}

# expect WHAT WANTED GOT
expect() {
	case $3 in
	*"$2"*) ;;
	*) fail "$1: wanted $2, got $3" ;;
	esac
}

# block FIRST: the indented lines of README.Debian from the one that begins with FIRST to the next that
# is not indented as deep, or empty, with a machine's words in place of an example's.
block() {
	awk -v first="$1" '
		!depth && index($0, first) && match($0, /[^ ]/) && substr($0, RSTART, length(first)) == first {
			depth = RSTART
		}
		depth {
			match($0, /[^ ]/)
			if ($0 == "" || RSTART < depth) exit
			print substr($0, depth)
		}' README.Debian |
		sed -e 's|systemctl reload|service|; s|service apache2|service apache2 restart|' \
			-e 's|https://dealer.example/wallet|http://127.0.0.1:8099/wallet --allow-http|'
}

echo "# a dealer's own server, on another port"
apt-get -q -y install nginx curl openssl >/dev/null
rm /etc/nginx/sites-enabled/default
cat >/etc/nginx/conf.d/dealer.conf <<'END'
server {
	listen 127.0.0.1:8099;
	location / {
		fastcgi_pass unix:/tmp/dealer/sock;
		fastcgi_param PATH_INFO $document_uri;
		fastcgi_param REQUEST_METHOD $request_method;
		fastcgi_param CONTENT_LENGTH $content_length;
		fastcgi_param HTTP_X_CASINO_SIGNATURE $http_x_casino_signature;
	}
}
END
service nginx restart

echo "# Apache and the package"
apt-get -q -y install apache2 libapache2-mod-fcgid "$deb" >/dev/null
zcat -f /usr/share/doc/creditbridge/README.Debian* >README.Debian
sed -i 's|^callback_networks = .*|callback_networks = {"127.0.0.0/8"}|' /etc/creditbridge/creditbridge.conf
service creditbridge-ledger start
service apache2 restart

echo "# README.Debian's game server and bet; the dealer's key is in his server's file as soon as it is told"
block 'a2enconf creditbridge-platform' >bet.sh
first=$(grep -n 'dealer add' bet.sh | cut -d: -f1)
head -n "$first" bet.sh >add.sh
sed "1,${first}d" bet.sh >rest.sh
sh -eu add.sh | tee added
grep -o '[0-9a-f]\{64\}' added >keys
setpriv --reuid=www-data --regid=www-data --clear-groups sh -c "mkdir -m 0700 /tmp/dealer &&
	cat >/tmp/dealer/keys && exec $libexec/creditbridge-dealer.fcgi --key-file /tmp/dealer/keys \
		--state /tmp/dealer/state --socket /tmp/dealer/sock --base-path=/wallet" <keys &
left=100
until [ -S /tmp/dealer/sock ]; do
	left=$((left - 1))
	[ "$left" -gt 0 ] || fail "the dealer does not serve"
	sleep 0.1
done
sh -eu rest.sh | tee answer
expect "the ping" 1000 "$(cat answer)"
expect "the bet" "200 OK" "$(cat answer)"
expect "the bet" '"state":"accepted"' "$(cat answer)"

echo "# the same, and a transfer, under nginx with workers of spawn-fcgi"
service apache2 stop
apt-get -q -y install spawn-fcgi >/dev/null
block 'spawn-fcgi -s /run/creditbridge/wallet.sock' >spawn.sh
[ "$(grep -c '^spawn-fcgi' spawn.sh)" = 2 ] || fail "README.Debian: $(cat spawn.sh)"
sh -eu spawn.sh
conf=/usr/share/creditbridge/fcgi-conf
cat >/etc/nginx/conf.d/creditbridge.conf <<END
server {
	listen 127.0.0.1:80;
	include $conf/nginx-wallet.conf;
}
server {
	listen 127.0.0.1:8091;
	include $conf/nginx-platform.conf;
}
END
nginx -q -t
service nginx restart
sed -n '/^BODY/,$s/bet-1/bet-2/; /^BODY/,$p' rest.sh >again.sh
sh -eu again.sh | tee answer
expect "the bet" '"state":"accepted"' "$(cat answer)"
creditbridgectl dealer add demo --currency thb --mode transfer >/dev/null
creditbridgectl player add demo alice
expect "transfer in" '"current_balance":100.5,' "$(creditbridgectl request \
	--url http://127.0.0.1/creditbridge demo transfer-in --user alice --amount 100.50)"
creditbridgectl check >/dev/null || fail "creditbridgectl check"
# Nobody takes log lines here; nothing else may fail.
failed=$(creditbridgectl doctor --url=http://127.0.0.1/creditbridge \
	--platform-url=http://127.0.0.1:8091 | grep '^FAIL' | grep -v '^FAIL   log ' || true)
[ -z "$failed" ] || fail "creditbridgectl doctor: $failed"
echo "ok"
