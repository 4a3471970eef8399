#!/bin/sh
# render.sh FCGI-CONF DIRECTORY: makes the files for the web servers' conf-available in DIRECTORY, of
# what was installed in FCGI-CONF for the installed places.
set -eu
conf=$1
to=$2
port=8091
mkdir -p "$to"

# The platform's mount: on a port of the loopback alone.
# apache NAME MOUNT
apache() {
	echo "# creditbridge, the $2 mount, under Apache mod_fcgid. Part of Debian's package:"
	echo "#     a2enconf $1 && systemctl reload apache2"
	echo "# Without mod_fcgid it does nothing (a2enmod fcgid)."
	echo
	echo '<IfModule mod_fcgid.c>'
	# Both have them: either may be enabled alone.
	cat "$conf/apache-mod_fcgid-global.conf"
	echo
	if [ "$2" = wallet ]; then
		cat "$conf/apache-mod_fcgid-$2.conf"
	else
		echo '# Game servers alone may reach this one, and its /healthz, /readyz and /metrics are not'
		echo '# signed: let it listen where only they are, never on a public address.'
		echo "Listen 127.0.0.1:$port"
		echo "<VirtualHost 127.0.0.1:$port>"
		cat "$conf/apache-mod_fcgid-$2.conf"
		echo '</VirtualHost>'
	fi
	echo '</IfModule>'
}

# lighttpd NAME MOUNT
lighttpd() {
	echo "# -*- depends: creditbridge-common -*-"
	echo "# creditbridge, the $2 mount, under lighttpd. Part of Debian's package:"
	echo "#     lighty-enable-mod $1 && systemctl reload lighttpd"
	echo
	if [ "$2" = wallet ]; then
		# shellcheck disable=SC2016 # lighttpd's own
		echo '$HTTP["url"] =~ "^/creditbridge/" {'
	else
		echo '# Game servers alone may reach this one, and its /healthz, /readyz and /metrics are not'
		echo '# signed: let it listen where only they are, never on a public address.'
		# shellcheck disable=SC2016
		echo '$SERVER["socket"] == "127.0.0.1:'"$port"'" {'
	fi
	cat "$conf/lighttpd-$2.conf"
	echo '}'
}

apache creditbridge wallet >"$to/creditbridge.conf"
apache creditbridge-platform platform >"$to/creditbridge-platform.conf"
# Both mounts need it, and a line of it may stand once only.
cat "$conf/lighttpd-global.conf" >"$to/10-creditbridge-common.conf"
lighttpd creditbridge wallet >"$to/50-creditbridge.conf"
lighttpd creditbridge-platform platform >"$to/50-creditbridge-platform.conf"
