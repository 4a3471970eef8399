#!/bin/sh
# commands.sh: in a bare Debian with systemd: the commands of README, README.Debian and the pages' EXAMPLES
# that no other test types, as they stand there. Prints what it does; exits 0 if all is well.
# Begins with bare.sh. tests/lint/commands.list says which test types which commands.
# shellcheck disable=SC2154 # that gives deb
work=/root/commands
backups=/var/backups/creditbridge
mkdir "$work"
cd "$work" || exit
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes
cp /srv/README .

# example PAGE FIRST: as block does, of the page's section EXAMPLES.
example() {
	zcat -f /usr/share/man/man[578]/"$1"* | sed -n '/^\.Sh EXAMPLES/,$p' |
		sed -e '/^\.Ed/s/.*//; /^\./d' -e 's/\\e$/\\/' -e 's/^/    /; s/^ *$//' >page
	block page "$2"
}

echo "# README: building, as far as a machine without a network can; installing"
block README 'apt build-dep' >install.sh
grep -o '^apt build-dep[^&]*' install.sh | sed 's/$/ --simulate/' >build.sh
(cd /srv/source && typed "$work/build" >/dev/null)
sed -n '/^apt install/s|\.\./|/srv/|p' install.sh >typed-install.sh
expect "Apache, which this machine has" " apache2 " "$(cat typed-install.sh)"
typed typed-install
documents
url=http://localhost/creditbridge
platform_url=http://127.0.0.1:8091
! pgrep -x creditbridge.fc || fail "a worker runs"
green "the installation, before a worker runs"

echo "# README: the mount, a dealer, a player, the doctor, a signed transfer"
block README 'a2enconf creditbridge' >mount.sh
typed mount
expect "the transfer" "200 OK" "$(cat mount.out)"
expect "the transfer" '"current_balance":100.0,' "$(cat mount.out)"
creditbridgectl check
expect "doctor in the block" " 0 failed, " " $(grep '^[0-9]* failed, ' mount.out)"
green "the mount" --url=$url
expect "a call without --url" '"balance":100.0' "$(creditbridgectl request demo balance --user alice)"

echo "# README.Debian: the whole Apache"
block README.Debian 'a2enconf creditbridge-tuning' >tuning.sh
typed tuning
green "the tuning" --url=$url
example creditbridgectl.8 'creditbridgectl request' >request.sh
typed request
expect "a call as the dealer" '"balance":100.0' "$(cat request.out)"

echo "# README.Debian: TLS from the start"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=wallet.example -addext subjectAltName=DNS:wallet.example \
	-keyout /etc/ssl/private/wallet.example.key -out /etc/ssl/certs/wallet.example.pem 2>/dev/null
cat /etc/ssl/certs/wallet.example.pem >>/etc/ssl/certs/ca-certificates.crt
echo '127.0.0.1 wallet.example' >>/etc/hosts
block README.Debian 'cat >/etc/apache2/sites-available/wallet-tls.conf' >tls.sh
typed tls
expect "doctor by TLS" " 0 failed, " " $(grep '^[0-9]* failed, ' tls.out)"
grep -q '^PASS   wallet_mount ' tls.out || fail "doctor did not call the mount: $(cat tls.out)"
expect "a call by TLS" '"balance":' "$(creditbridgectl request demo balance --user alice --url https://wallet.example/creditbridge)"

echo "# README.Debian: workers of systemd; who may start workers"
block README.Debian 'systemctl enable --now creditbridge-worker-wallet.socket' >workers.sh
typed workers
for socket in wallet platform; do
	[ -S "/run/creditbridge/$socket.sock" ] || fail "no $socket.sock"
done
green "the sockets of workers" --url=$url
block README.Debian 'dpkg-statoverride --remove' | sed 's/ GROUP / www-data /' >override.sh
typed override
green "the override" --url=$url
expect "the override" "root www-data 750 /usr/libexec/creditbridge" "$(dpkg-statoverride --list)"

echo "# README.Debian and pages: the ledger and the sweeper by hand"
block README.Debian 'service creditbridge-ledger start' >ledger.sh
typed ledger
example creditbridge-ledger.8 'systemctl restart creditbridge-ledger' >restart.sh
typed restart
expect "the ledger" "installation" "$(cat restart.out)"
green "a restart of the ledger" --url=$url
block README.Debian 'setpriv --reuid _creditbridge-sweep' | sed 's/--for 55s/--for 1s/' >sweep.sh
typed sweep
example creditbridge-sweep.8 'setpriv' >look.sh
typed look
example creditbridgectl.8 'creditbridgectl dealer key-add' >keys.sh
sed -n 1p keys.sh >key-add.sh
typed key-add >/dev/null
expect "the second key" "key k2 of dealer demo" "$(cat key-add.out)"
sed "1d; s/OLD_KEYID/k1/; s/KEYID/k2/" keys.sh >key-use.sh
typed key-use
green "a second key" --url=$url

echo "# creditbridgectl(8): an example of each group of commands"
for first in status 'client add roulette' 'player show' 'transfer list' check; do
	example creditbridgectl.8 "creditbridgectl $first" >group.sh
	sed "s/2026-01-31/$(date -u +%F)/" group.sh >group-today.sh
	typed group-today
done
expect "the examples" "creditbridgectl recon" "$(cat group-today.sh)"
# The balance of before.
creditbridgectl player adjust demo alice -20 --reason test

echo "# README.Debian: a backup; in another place; by cron"
block README.Debian 'creditbridgectl backup' >backup.sh
typed backup
example creditbridgectl.8 'creditbridgectl backup' >copies.sh
typed copies
block README.Debian 'systemctl edit creditbridge-ledger' >edit.sh
install -d -o _creditbridge -m 0700 /srv/backup
# What stands beside the command is typed into the editor.
sed -n 's/^.*# \(\[Service\]\|ReadWritePaths=.*\)$/\1/p' edit.sh >unit
cat >editor <<END
#!/bin/sh
cat $work/unit >"\$1"
END
chmod 0755 editor
# It wants a terminal.
printf 'SYSTEMD_EDITOR=%s/editor script -qec "sh -eu %s/edit.sh" /dev/null\n' "$work" "$work" >terminal.sh
creditbridgectl backup /srv/backup >outside.out 2>&1 && fail "a backup outside of the sandbox: $(cat outside.out)"
for words in /srv/backup "Read-only file system" "ReadWritePaths=" "systemctl edit creditbridge-ledger" "$backups"; do
	expect "the backup outside of the sandbox" "$words" "$(cat outside.out)"
done
typed terminal
creditbridgectl backup /srv/backup
green "a place for backups" --url=$url
block README.Debian '15 3 * * * root' | sed 's/^[^r]*root //' >cron.sh
typed cron
[ -n "$(ls "$backups/daily")" ] || fail "no backup"
sed -n 's/^    \(15 3 .*\)/\1/p' README.Debian >/etc/cron.d/creditbridge-backup
green "the backup by cron" --url=$url

echo "# creditbridge-export(5)"
apt-get -q install jq >/dev/null
creditbridgectl export export.jsonl
example creditbridge-export.5 'jq' | sed 's/FILE/export.jsonl/' >export.sh
typed export
expect "the balances" '"alice","100' "$(cat export.out)"

echo "# README.Debian: lighttpd in Apache's place"
systemctl stop apache2
apt-get -q install lighttpd >/dev/null
# 2: a module that both need was enabled by the first one.
block README.Debian 'lighty-enable-mod' | sed '/^lighty/s/$/ || [ $? = 2 ]/' >lighttpd.sh
typed lighttpd
expect "a call under lighttpd" '"balance":100.0' "$(sh -eu request.sh)"
creditbridgectl check
green "lighttpd" --url=$url --platform-url=$platform_url

echo "# README.Debian: nginx in lighttpd's place, with workers of systemd"
systemctl stop lighttpd
apt-get -q install nginx >/dev/null
rm /etc/nginx/sites-enabled/default
for mount in wallet:80 platform:8091; do
	printf 'server {\n\tlisten 127.0.0.1:%s;\n\tinclude /usr/share/creditbridge/fcgi-conf/nginx-%s.conf;\n}\n' \
		"${mount#*:}" "${mount%:*}"
done >/etc/nginx/conf.d/creditbridge.conf
systemctl restart nginx
block README.Debian 'creditbridgectl doctor --url=http://localhost/creditbridge --platform-url' >mounts.sh
typed mounts
green "nginx" --url=$url --platform-url=$platform_url
expect "a call under nginx" '"balance":100.0' "$(creditbridgectl request demo balance --user alice)"
echo "ok"
