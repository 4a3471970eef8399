#!/bin/sh
# neighbour.sh: in a Debian with systemd whose Apache serves a PHP site by mod_php and a program by mod_fcgid:
# the wallet is mounted with the commands of README.Debian, in each way, and the other sites are served as
# before: slow uploads, slow headers, kept connections, FastCGI programs. Prints what it does; exits 0 if
# all is well.
# Begins with bare.sh.
# shellcheck disable=SC2154 # that gives deb
work=/root/neighbour
upload_bytes=1300000
mkdir "$work"
cd "$work" || exit
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes

echo "# the sites that are there already"
apt-get -q install --no-install-recommends apache2 libapache2-mod-php libfcgi-perl libapache2-mod-fcgid >/dev/null
a2disconf -q security
echo '<?php echo strlen(file_get_contents("php://input"));' >/var/www/html/length.php
mkdir /var/www/other
cat >/var/www/other/sleep.fcgi <<'END'
#!/usr/bin/perl
use FCGI;
my $request = FCGI::Request();
while ($request->Accept() >= 0) {
	sleep($ENV{QUERY_STRING});
	print("Content-Type: text/plain\r\n\r\nslept $$\n");
}
END
chmod 0755 /var/www/other/sleep.fcgi
cat >/etc/apache2/sites-available/other.conf <<'END'
Listen 127.0.0.1:8081
<VirtualHost 127.0.0.1:8081>
	DocumentRoot /var/www/other
	<Directory /var/www/other>
		Require all granted
		Options +ExecCGI
		AddHandler fcgid-script .fcgi
	</Directory>
</VirtualHost>
END
a2ensite -q other
systemctl restart apache2
head -c "$upload_bytes" /dev/zero >upload

# slow_header: a request whose header takes 6 s. slow_kept: two requests, 4 s apart, on one connection.
cat >slow.php <<'END'
<?php
$link = fsockopen('127.0.0.1', 80);
stream_set_timeout($link, 30);
$head = "Host: other\r\nContent-Length: 2\r\nConnection: ";
if ($argv[1] == 'header') {
	fwrite($link, "POST /length.php HTTP/1.1\r\n");
	sleep(6);
	fwrite($link, $head . "close\r\n\r\nok");
} else {
	fwrite($link, "POST /length.php HTTP/1.1\r\n" . $head . "keep-alive\r\n\r\nok");
	sleep(4);
	fwrite($link, "POST /length.php HTTP/1.1\r\n" . $head . "close\r\n\r\nok");
}
echo stream_get_contents($link);
END

# The answers of the other sites, one file each. The upload takes over a minute, the program 25 s.
others() {
	curl -s --limit-rate 20k -H 'Expect:' --data-binary @upload http://127.0.0.1/length.php >upload.out &
	php slow.php header >header.out &
	php slow.php kept >kept.out &
	curl -s 'http://127.0.0.1:8081/sleep.fcgi?25' >program.out &
	curl -si -X TRACE http://127.0.0.1/length.php >trace.out
	# Not the machine's other children.
	wait
}

as_before() {
	others
	expect "a slow upload to the PHP site" "$upload_bytes" "$(cat upload.out)"
	expect "a slow header to the PHP site" "200 OK" "$(cat header.out)"
	[ "$(grep -o 'HTTP/1.1 200' kept.out | wc -l)" = 2 ] || fail "a kept connection: $(cat kept.out)"
	expect "another FastCGI program" "slept " "$(cat program.out)"
	expect "TRACE, which this Apache allows" "200 OK" "$(cat trace.out)"
}

echo "# README.Debian: the wallet on one virtual host, a dealer, a signed transfer, the proof, the doctor"
apt-get -q install "$deb" >/dev/null
documents
cd /srv || exit
block "$work/README.Debian" 'apt install apache2' >"$work/mount.sh"
typed "$work/mount"
cd "$work" || exit
block README.Debian 'creditbridgectl dealer add demo --currency thb --mode transfer' >dealer.sh
typed dealer
key=$(grep -o '[0-9a-f]\{64\}' dealer.out | head -n 1)
block README.Debian 'KEY=...' | sed "s/^KEY=[^ ]*/KEY=$key/" >transfer.sh
typed transfer
expect "the transfer" '"current_balance":100.5,' "$(cat transfer.out)"
block README.Debian 'creditbridgectl check ' >proof.sh
typed proof
expect "doctor in the block" " 0 failed, " " $(grep '^[0-9]* failed, ' proof.out)"
green "the virtual host" --url=http://localhost/creditbridge

echo "# README.Debian: on every virtual host; the game servers' mount"
block README.Debian 'a2enconf creditbridge &&' >everywhere.sh
typed everywhere
green "the mount everywhere" --url=http://localhost/creditbridge
a2enconf -q creditbridge-platform
systemctl reload apache2
# The reload ends before Apache listens at the new port.
curl -s --retry 100 --retry-delay 1 --retry-connrefused -o /dev/null http://127.0.0.1:8091/healthz
green "the game servers' mount" --url=http://localhost/creditbridge --platform-url=http://127.0.0.1:8091
expect "the wallet on the PHP site" '"balance":100.5,' \
	"$(creditbridgectl request --url http://127.0.0.1/creditbridge demo balance --user alice)"
head -c 200000 /dev/zero >large
expect "a body above mod_fcgid's limit" '"code":413' \
	"$(curl -s --data-binary @large http://127.0.0.1/creditbridge/wallet-service/credit/transfer-in)"
# What stands outside of sections is for the whole server.
left=$(sed -e '/^[[:space:]]*#/d; /^$/d' -e '/^<Location/,/^<\/Location/d; /^<Directory/,/^<\/Directory/d' \
	-e '/^Alias "\/creditbridge\//d' -e '/^<\/\{0,1\}IfModule/d' \
	-e '/^FcgidCmdOptions \/usr\/libexec\/creditbridge\//,/[^\\]$/d' /etc/apache2/conf-available/creditbridge.conf)
[ -z "$left" ] || fail "creditbridge.conf changes the whole server: $left"

echo "# the other sites are served as before"
as_before
echo "ok"
