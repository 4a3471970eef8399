#!/bin/sh
# console.sh: in a bare Debian with systemd: the web console is not there unasked; it is set up with the
# commands of README.Debian, signed in to, and attacked as a site of the same Apache could. Prints what it does;
# exits 0 if all is well.
# Begins with bare.sh.
# shellcheck disable=SC2154 # that gives deb
work=/root/console
url=https://wallet.example/console
mkdir "$work"
cd "$work" || exit
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes

# as_web COMMAND...: as another program of the web server's user. By env: see test_service.py.
as_web() {
	setpriv --reuid www-data --regid www-data --clear-groups -- env "$@"
}

# page ADDRESS OPTION...: status and body of a page, as nok's browser gets it.
page() {
	address=$1
	shift
	curl -s -o page.body -w '%{http_code}' -u nok:secret-1 -b cookies -c cookies "$@" "$url$address" >page.code
	cat page.code
}

# code SECRET: the one-time code of now.
code() {
	oathtool --totp -b "$1"
}

# signed_in OTPAUTH-FILE: signs nok in.
signed_in() {
	secret=$(sed -n 's/.*[?&]secret=\([A-Z2-7]*\).*/\1/p' "$1")
	rm -f cookies
	[ "$(page / )" = 303 ] || fail "without a session: $(cat page.code page.body)"
	got=$(page /sign-in -H "Origin: https://wallet.example" --data-urlencode "code=$(code "$secret")")
	[ "$got" = 303 ] || fail "the sign-in: $got $(cat page.body)"
	[ "$(page /)" = 200 ] || fail "the overview: $(cat page.code page.body)"
	expect "the overview" "nok" "$(cat page.body)"
}

# forged SOCKET SECRET: what a site's .htaccess gets from SOCKET; SECRET: its guess of the front secret.
forged() {
	cat >/var/www/site/.htaccess <<-END
		SetHandler "proxy:unix:$1|fcgi://localhost/"
		SetEnv REMOTE_USER nok
		SetEnv HTTPS on
		SetEnv CREDITBRIDGE_FRONT $2
		ProxyFCGISetEnvIf "true" SCRIPT_NAME "/console"
		ProxyFCGISetEnvIf "true" PATH_INFO "/"
	END
	curl -s -o site.body -w '%{http_code} %{redirect_url}' -b "$(sed -n 's/.*\(__Host-creditbridge\)\t/\1=/p' cookies)" \
		http://127.0.0.1:8082/page
}

front() {
	sed -n 's/^SetEnv CREDITBRIDGE_FRONT //p' /etc/creditbridge/console-front.conf
}

# commands FIRST NAME: the block of README.Debian as NAME.sh, with the password of the test.
commands() {
	block README.Debian "$1" | sed 's/htpasswd -B/printf secret-1 | htpasswd -Bi/' >"$2.sh"
	typed "$2"
}

echo "# an Apache with TLS, and a site with .htaccess"
apt-get -q install apache2 curl openssl oathtool spawn-fcgi "$deb" >/dev/null
documents
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=wallet.example -addext subjectAltName=DNS:wallet.example \
	-keyout /etc/ssl/private/wallet.example.key -out /etc/ssl/certs/wallet.example.pem 2>/dev/null
cat /etc/ssl/certs/wallet.example.pem >>/etc/ssl/certs/ca-certificates.crt
echo '127.0.0.1 wallet.example' >>/etc/hosts
mkdir /var/www/site
echo page >/var/www/site/page
cat >/etc/apache2/sites-available/console-test.conf <<'END'
<VirtualHost *:443>
	ServerName wallet.example
	SSLEngine on
	SSLCertificateFile /etc/ssl/certs/wallet.example.pem
	SSLCertificateKeyFile /etc/ssl/private/wallet.example.key
</VirtualHost>
Listen 127.0.0.1:8082
<VirtualHost 127.0.0.1:8082>
	DocumentRoot /var/www/site
	<Directory /var/www/site>
		AllowOverride FileInfo
	</Directory>
</VirtualHost>
END
a2enmod -q ssl proxy_fcgi
a2ensite -q console-test

echo "# nothing of it is there unasked, and its mount does nothing without secret and users"
a2enconf -q creditbridge-console
systemctl restart apache2
[ "$(curl -s -o /dev/null -w '%{http_code}' $url/)" = 404 ] || fail "the mount does something"
a2disconf -q creditbridge-console
systemctl restart apache2
[ "$(systemctl is-enabled creditbridge-console.socket || true)" = disabled ] || fail "the socket is enabled"
[ "$(systemctl is-active creditbridge-console.socket || true)" = inactive ] || fail "the socket is active"
[ ! -e /run/creditbridge/desk.sock ] || fail "there is a desk.sock"
green "the installation"
! grep console doctor.out || fail "doctor names the console"

echo "# README.Debian: the commands that set it up"
commands '/usr/share/creditbridge/console-front new apache' setup
[ "$(grep -c . setup.sh)" = 5 ] || fail "they are not five: $(cat setup.sh)"
signed_in setup.out
commands 'creditbridgectl doctor --console-url' doctor-block
green "the set-up" --console-url=$url
for name in front sockets process operators apache mount; do
	grep -q "^PASS   console_$name " doctor.out || fail "doctor: no PASS of console_$name: $(cat doctor.out)"
done
for row in "600 _creditbridge /etc/creditbridge/console-front" "600 root /etc/creditbridge/console-front.conf" \
	"640 root /etc/creditbridge/console-users" "660 _creditbridge /run/creditbridge/desk.sock" \
	"600 www-data /run/creditbridge-console/console.sock"; do
	expect "modes" "$row" "$(stat -c '%a %U %n' "${row##* }")"
done
expect "the process" _creditbridge-console \
	"$(stat -c %U "/proc/$(systemctl show -P MainPID creditbridge-console.service)")"
expect "without TLS" 403 "$(curl -s -o /dev/null -w '%{http_code}' -u nok:secret-1 http://wallet.example/console/)"
[ "$(curl -s -o /dev/null -w '%{http_code}' $url/)" = 401 ] || fail "no password is asked for"

echo "# forged-REMOTE_USER-by-htaccess"
socket=/run/creditbridge-console/console.sock
# With the secret the site would be taken for the console's mount, and signed in by the stolen cookie.
got=$(forged $socket "$(front)")
[ "$got" = "200 " ] || fail "the attack does not reach the console: $got $(cat site.body)"
for guess in none "$(printf %064d 0)"; do
	got=$(forged $socket "$guess")
	[ "$got" = "403 " ] || fail "the site got: $got $(cat site.body)"
	expect "the site" "no valid front secret" "$(cat site.body)"
done

echo "# exec-as-www-data-gets-nothing"
for file in /etc/creditbridge/console-front /etc/creditbridge/console-front.conf; do
	! as_web cat $file 2>/dev/null || fail "www-data reads $file"
done
# shellcheck disable=SC2016 # perl's own
connect='socket(my $s, 1, 1, 0); exit(!connect($s, pack("Sa108", 1, $ARGV[0])))'
perl -e "$connect" /run/creditbridge/desk.sock || fail "root does not reach desk.sock"
for user in www-data _creditbridge-web _creditbridge-sweep; do
	! setpriv --reuid $user --regid $user --init-groups -- env perl -e "$connect" /run/creditbridge/desk.sock ||
		fail "$user reaches desk.sock"
done
for name in edge admin; do
	! setpriv --reuid _creditbridge-console --regid _creditbridge-console --init-groups -- env \
		perl -e "$connect" /run/creditbridge/$name.sock || fail "the console reaches $name.sock"
done
result=0
as_web /usr/libexec/creditbridge/creditbridge.fcgi --serve console --socket /tmp/own.sock 2>own.err || result=$?
[ "$result" = 78 ] || fail "the setgid program serves a console: $result $(cat own.err)"
as_web /usr/libexec/creditbridge-console/creditbridge.fcgi --serve console --base-path=/console \
	--socket /tmp/own.sock 2>own.err &
own=$!
left=600
until [ -S /tmp/own.sock ]; do
	left=$((left - 1))
	[ "$left" -gt 0 ] || fail "www-data's own console does not start: $(cat own.err)"
	sleep 0.1
done
got=$(forged /tmp/own.sock "$(front)")
[ "$got" = "503 " ] || fail "www-data's own console got: $got $(cat site.body)"
kill $own
wait $own || true

echo "# README.Debian: the front secret is changed"
old=$(front)
awk '/To change the secret:/ { on = 1 } on && /^    / { print substr($0, 5); seen = 1 } on && seen && !NF { exit }' \
	README.Debian >change.sh
typed change
[ "$(front)" != "$old" ] || fail "the secret is the same"
# For a moment after a reload the old processes of Apache send the old secret, also to the new console.
tries=600
until [ "$(page /)" = 200 ]; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || fail "after the change: $(cat page.code page.body)"
	sleep 0.1
done
tries=600
until [ "$(forged $socket "$old")" = "403 " ]; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || fail "the old secret is valid: $(cat site.body)"
	sleep 0.1
done

echo "# cells.md: a second cell, and its console beside this one"
zcat -f /usr/share/doc/creditbridge/cells.md* >cells.md
# chapter TITLE: the commands of a chapter of cells.md. What doctor finds is no matter here.
chapter() {
	awk -v title="## $1" '/^## / { on = $0 == title } on && /^```sh/ { sh = 1; next } /^```/ { sh = 0 } on && sh' cells.md |
		grep -v '^creditbridgectl doctor'
}
# file PATH: what cells.md says is in a file.
file() {
	awk -v begin="\140\140\140conf $1" '$0 == begin { on = 1; next } /^```/ { on = 0 } on' cells.md
}
conf=/etc/creditbridge/creditbridge.conf
cp -p $conf conf.kept
file $conf >a.part
file /etc/creditbridge/cell-b.conf >b.part
sed -i -e '/^cell_name\b/d' -e '/^cells\b/d' $conf
cat a.part >>$conf
cp b.part /etc/creditbridge/cell-b.conf
chapter "A second cell on one host" >cell.sh
typed cell
chapter "A web console for each cell" >cell-console.sh
typed cell-console
mkdir cell
cd cell || exit
default=$url
url=$default-b
signed_in ../cell-console.out
expect "the console of cell b" '<span class="cell">cell b</span>' "$(cat page.body)"
[ "$(page '/dealer?id=lucky')" = 200 ] || fail "a dealer of cell b: $(cat page.code page.body)"
expect "a command" 'creditbridgectl --cell b request --url URL lucky' "$(cat page.body)"
# The job of this cell runs: doctor looks at its data. The token of a form is valid in the whole session.
[ "$(page /search)" = 200 ] || fail "the search: $(cat page.code page.body)"
token=$(sed -n 's/.*name="token" value="\([^"]*\)".*/\1/p' page.body | head -n 1)
got=$(page /health -H "Origin: https://wallet.example" --data-urlencode "token=$token")
[ "$got" = 303 ] || fail "doctor in cell b: $got $(cat page.body)"
[ "$(page /health)" = 200 ] || fail "the checks of cell b: $(cat page.code page.body)"
expect "the checks of cell b" '/var/lib/creditbridge-b' "$(cat page.body)"
! grep -q 'the console is not started' page.body || fail "doctor does not find the console of cell b: $(cat page.body)"
[ -S /run/creditbridge-b/ping.sock ] || fail "there is no ping.sock of cell b"
cd ..
url=$default
[ "$(page /)" = 200 ] || fail "the console of the default cell: $(cat page.code page.body)"
! grep -q lucky page.body || fail "a dealer of cell b in the console of the default cell: $(cat page.body)"
a2disconf -q creditbridge-console-b
systemctl restart apache2
systemctl disable -q --now creditbridge-job@b.socket creditbridge-ping@b.socket \
	creditbridge-console@b.socket creditbridge-console@b.service creditbridge-sweep@b.timer \
	creditbridge-ledger-edge@b.socket creditbridge-ledger-admin@b.socket creditbridge-ledger@b.service
rm /etc/creditbridge/cell-b.conf
cp -p conf.kept $conf

echo "# README.Debian: without systemd"
systemctl disable -q --now creditbridge-console.socket creditbridge-console.service
commands 'setpriv --no-new-privs spawn-fcgi' spawn
[ "$(page /)" = 200 ] || fail "under spawn-fcgi: $(cat page.code page.body)"
green "spawn-fcgi" --console-url=$url
kill "$(sed -n 's/.*PID: //p' spawn.out)"

echo "# README.Debian: to be rid of it"
commands 'a2disconf creditbridge-console' rid
[ "$(curl -s -o /dev/null -w '%{http_code}' $url/)" = 404 ] || fail "the mount is there"
! perl -e "$connect" /run/creditbridge/desk.sock || fail "a ledger listens on desk.sock"
green "the end of it"
! grep console doctor.out || fail "doctor names the console"
echo "ok"
