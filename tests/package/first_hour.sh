#!/bin/sh
# first_hour.sh: in a bare Debian with the package in /srv: the commands of a reader's first hour,
# with no file edited, then those that remove the package. Prints its steps; exits 0 if all is well.
# Begins with bare.sh.
# shellcheck disable=SC2154 # that gives deb

# What the package does itself where there is an init system; a chroot has none.
by_hand() {
	[ -e /sbin/init ] || service "$1" "$2"
}

url=http://127.0.0.1/creditbridge
cd /root || exit

balance() {
	creditbridgectl request --url "$url" demo balance --user alice
}

echo "# a Debian with Apache"
apt-get -q -y install apache2 >/dev/null

echo "# the two commands of README.Debian"
apt-get -q -y install "$deb"
documents
creditbridgectl doctor >doctor.out || true
failed=$(sed -n 's/^FAIL  *\([a-z_]*\) .*/\1/p' doctor.out | sort -u | tr '\n' ' ')
[ "$failed" = "$(announced FAIL | sort -u | tr '\n' ' ')" ] ||
	fail "doctor before services start: $failed: $(cat doctor.out)"
by_hand creditbridge-ledger start
apt-get -q -y install rsyslog >/dev/null
[ -e /sbin/init ] || rsyslogd
green "the ledger's start by hand"
a2enconf creditbridge
service apache2 restart

echo "# a dealer, a player, a signed transfer through Apache on port 80"
creditbridgectl dealer add demo --currency thb --mode transfer >/dev/null
creditbridgectl player add demo alice
expect "transfer in" '"current_balance":100.5,' \
	"$(creditbridgectl request --url "$url" demo transfer-in --user alice --amount 100.50)"
expect "transfer out" '"current_balance":80.0,' \
	"$(creditbridgectl request --url "$url" demo transfer-out --user alice --amount 20.5)"
expect "balance" '"balance":80.0,' "$(balance)"
expect "demo" "The round is settled, and the dealer has confirmed it." "$(creditbridgectl demo)"
creditbridgectl check >/dev/null || fail "creditbridgectl check"
green "the mount" --url="$url"
changed=$(dpkg --verify creditbridge apache2)
[ -z "$changed" ] || fail "files were edited: $changed"

echo "# what is not there without being asked for"
[ ! -e /etc/apache2/conf-enabled/creditbridge-platform.conf ] || fail "the platform's mount is enabled"

echo "# the sweeper sweeps: by cron, or where systemd runs by its timer"
by_hand cron start
left=300
until creditbridgectl metrics | grep -q '^creditbridge_last_sweep_timestamp_seconds [1-9]'; do
	left=$((left - 1))
	[ "$left" -gt 0 ] || fail "no sweeper ran within 300 s"
	sleep 1
done

echo "# remove keeps the data, and another installation finds them"
by_hand creditbridge-ledger stop
apt-get -q -y remove creditbridge
[ -e /var/lib/creditbridge/installation ] || fail "remove took the data"
service apache2 restart || fail "Apache does not start without the package"
left=$(readlink /proc/[0-9]*/exe | grep creditbridge || true)
[ -z "$left" ] || fail "these run on: $left"
apt-get -q -y install "$deb"
by_hand creditbridge-ledger start
a2enconf -q creditbridge
service apache2 restart
expect "the balance of before" '"balance":80.0,' "$(balance)"

echo "# purge keeps the data where nothing can be asked, and says so; their owner stays"
by_hand creditbridge-ledger stop
cp -a /var/lib/creditbridge /var/lib/creditbridge.old
apt-get -q -y purge creditbridge 2>&1 | tee /tmp/purge.out
for place in /var/lib/creditbridge /var/lib/creditbridge.old; do
	expect "purge" "rm -rf '$place'" "$(cat /tmp/purge.out)"
	[ "$(stat -c %U "$place")" = _creditbridge ] || fail "purge left $place to $(stat -c %U "$place")"
done
apt-get -q -y install "$deb"
by_hand creditbridge-ledger start
a2enconf -q creditbridge
service apache2 restart
expect "the balance after the purge" '"balance":80.0,' "$(balance)"

# purge_typed ANSWER: purges and answers the question on a terminal, as an operator does.
purge_typed() {
	: >/tmp/purge.out
	rm -f /tmp/purge.done
	# debconf drops what was typed before it asks, and takes the end of the input for an answer.
	{
		until grep -q '\[yes/no\]' /tmp/purge.out || [ -e /tmp/purge.done ]; do sleep 0.1; done
		echo "$1"
		until [ -e /tmp/purge.done ]; do sleep 0.1; done
	} | {
		DEBIAN_FRONTEND=teletype timeout 300 \
			script -qfec 'apt-get -q -y purge creditbridge' /dev/null >/tmp/purge.out 2>&1 || true
		touch /tmp/purge.done
	}
	expect "the question of the purge" "Delete the players' credit" "$(cat /tmp/purge.out)"
}

echo "# purge asks: no keeps everything"
by_hand creditbridge-ledger stop
purge_typed no
[ -e /var/lib/creditbridge/installation ] || fail "purge took the data, though the answer was no"
[ "$(stat -c %U /var/lib/creditbridge)" = _creditbridge ] || fail "the data lost their owner"

echo "# yes deletes; a backup in another place keeps its owner, whose number no other user can get"
apt-get -q -y install "$deb"
rm -rf /var/lib/creditbridge.old
install -d -o _creditbridge -g _creditbridge -m 0700 /srv/elsewhere
install -d -o _creditbridge -m 0700 /var/lib/docker/volumes/other/_data
by_hand creditbridge-ledger start
creditbridgectl backup /srv/elsewhere
by_hand creditbridge-ledger stop
purge_typed yes
[ ! -e /var/lib/creditbridge ] || fail "purge left the data, though the answer was yes: $(cat /tmp/purge.out)"
expect "purge of a backup elsewhere" "     /srv/elsewhere" "$(tr -d '\r' </tmp/purge.out)"
# Only the number of its owner is known: it may be another system's, so no line deletes it.
! grep -q "rm -rf '/srv" /tmp/purge.out || fail "purge prints how to delete what it does not know"
! grep -q /var/lib/docker /tmp/purge.out || fail "purge names the files of a container"
rm -rf /var/lib/docker
[ "$(stat -c %U /srv/elsewhere)" = _creditbridge ] || fail "purge left a backup to $(stat -c %U /srv/elsewhere)"
rm -rf /srv/elsewhere

echo "# purge leaves nothing, if that is the answer"
apt-get -q -y install "$deb"
echo creditbridge creditbridge/purge_data boolean true | debconf-set-selections
apt-get -q -y purge --autoremove creditbridge
rm -f /tmp/purge.out /tmp/purge.done
service apache2 restart || fail "Apache does not start after the purge"
# What the packages that came with it leave is theirs; test_lifecycle.py compares every file.
left=$(find / -xdev \( -path /proc -o -path /srv -o -path /var/cache/apt \) -prune \
	-o \( -name '*creditbridge*' -o -nouser -o -nogroup \) -print)
[ -z "$left" ] || fail "purge left $left"
left=$(find /run /dev/shm -name '*creditbridge*')
[ -z "$left" ] || fail "purge left $left"
left=$({ getent passwd; getent group; dpkg-statoverride --list; dpkg --get-selections; } |
	grep creditbridge || true)
[ -z "$left" ] || fail "purge left $left"
echo "ok"
