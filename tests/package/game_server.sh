#!/bin/sh
# game_server.sh: in a bare Debian with the package in /srv: a game server's first hour, with the
# commands of README.Debian: a bet of a seamless dealer, under Apache; then under nginx, with
# workers that spawn-fcgi starts. Prints its steps; exits 0 if all is well. Begins with bare.sh.
# shellcheck disable=SC2154 # that gives deb
work=/root/first-hour
mkdir "$work"
cd "$work" || exit

# What a machine without systemd, and without a dealer's server elsewhere, types instead.
instead() {
	sed -e 's|systemctl reload|service|; s|service apache2|service apache2 restart|' \
		-e 's|https://dealer.example/wallet|http://127.0.0.1:8099/wallet --allow-http|'
}

echo "# a dealer's own server, on another port"
apt-get -q -y install nginx curl >/dev/null
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
documents
sed -i 's|^callback_networks = .*|callback_networks = {"127.0.0.0/8"}|' /etc/creditbridge/creditbridge.conf
service creditbridge-ledger start
service apache2 restart
apt-get -q -y install rsyslog >/dev/null
rsyslogd

echo "# README.Debian's game server and bet; the dealer's key is in his server's file as soon as it is told"
block README.Debian 'a2enconf creditbridge-platform' | instead >whole.sh
sed '/dealer add/q' whole.sh >add.sh
sed '1,/dealer add/d' whole.sh >bet.sh
typed add
grep -o '[0-9a-f]\{64\}' add.out >keys
# creditbridge-dealer.fcgi(8), EXAMPLES.
zcat -f /usr/share/man/man8/creditbridge-dealer.fcgi.8* | sed -n '/^\.Sh EXAMPLES/,/^\.Sh EXIT/p' |
	sed -e '/^\./d' -e 's/\\e$/\\/' -e 's/^/    /' >page
block page '/usr/libexec/creditbridge/creditbridge-dealer.fcgi --key-file keys' >dealer.sh
setpriv --reuid=www-data --regid=www-data --clear-groups sh -c "mkdir -m 0700 /tmp/dealer &&
	cd /tmp/dealer && cat >keys && $(cat dealer.sh)" <keys &
left=600
until [ -S /tmp/dealer/sock ]; do
	left=$((left - 1))
	[ "$left" -gt 0 ] || fail "the dealer does not serve"
	sleep 0.1
done
typed bet
expect "the ping" "1000.00 thb" "$(cat bet.out)"
expect "the bet" "200 OK" "$(cat bet.out)"
expect "the bet" "Server: Apache" "$(cat bet.out)"
expect "the bet" '"state":"accepted"' "$(cat bet.out)"
expect "doctor in the block" " 0 failed, " " $(grep '^[0-9]* failed, ' bet.out)"
# The dealer's server is on the loopback.
# shellcheck disable=SC2034 # green() of bare.sh reads it
tests_own=callback_networks
green "the game server's bet" --platform-url=http://127.0.0.1:8091

echo "# the exam of his server, as creditbridgectl(8) has it"
zcat -f /usr/share/man/man8/creditbridgectl.8* | grep '^creditbridgectl dealer test' |
	sed 's/ demo / demo2 /' >exam.sh
typed exam

echo "# the same, and a transfer, under nginx with workers of spawn-fcgi"
service apache2 stop
apt-get -q -y install spawn-fcgi >/dev/null
block README.Debian 'spawn-fcgi -s /run/creditbridge/wallet.sock' >spawn.sh
[ "$(grep -c '^spawn-fcgi' spawn.sh)" = 2 ] || fail "README.Debian: $(cat spawn.sh)"
typed spawn
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
sed -n '/^BODY/,$s/bet-1/bet-2/; /^BODY/,$p' bet.sh >again.sh
typed again
expect "the second bet" "200 OK" "$(cat again.out)"
expect "the second bet" "Server: nginx" "$(cat again.out)"
expect "the second bet" '"state":"accepted","balance":980.0' "$(cat again.out)"
creditbridgectl dealer add demo --currency thb --mode transfer >/dev/null
creditbridgectl player add demo alice
expect "transfer in" '"current_balance":100.5,' "$(creditbridgectl request \
	--url http://127.0.0.1/creditbridge demo transfer-in --user alice --amount 100.50)"
creditbridgectl check >/dev/null || fail "creditbridgectl check"
green "nginx and spawn-fcgi" --url=http://127.0.0.1/creditbridge --platform-url=http://127.0.0.1:8091
for row in "PASS   wallet_mount " "PASS   platform_mount "; do
	grep -q "^$row" doctor.out || fail "creditbridgectl doctor: no $row: $(cat doctor.out)"
done
echo "ok"
