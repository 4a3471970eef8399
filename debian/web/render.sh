#!/bin/sh
# render.sh FCGI-CONF DIRECTORY: makes the files for the web servers' conf-available in DIRECTORY, of
# what was installed in FCGI-CONF for the installed places.
set -eu
conf=$1
to=$2
port=8091
installed=/usr/share/creditbridge/fcgi-conf
mkdir -p "$to"

# apache_head NAME WHAT
apache_head() {
	echo "# creditbridge, $2, under Apache mod_fcgid. Part of Debian's package:"
	echo "#     a2enconf $1 && systemctl reload apache2"
	echo "# Without mod_fcgid it does nothing (a2enmod fcgid)."
	echo
	echo '<IfModule mod_fcgid.c>'
}

# Applies to every virtual host, so it contains only the mount.
apache_wallet() {
	apache_head creditbridge "the wallet mount at /creditbridge of every virtual host"
	echo "# It changes nothing outside of that path. In the virtual host that dealers call, include this"
	echo "# instead, which also disconnects slow callers (README.Debian):"
	echo "#     IncludeOptional $installed/apache-mod_fcgid-wallet.conf"
	# A virtual host's FcgidMaxRequestLen is mod_fcgid's own, then.
	sed -n '/^# -- The mount/,$p' "$conf/apache-mod_fcgid-wallet.conf" | sed 's/16777216/131072/'
	echo '</IfModule>'
}

# The platform's mount: a virtual host on a port of the loopback.
apache_platform() {
	apache_head creditbridge-platform "the platform mount"
	echo '# Only game servers may reach this mount, because its /healthz, /readyz and /metrics are not'
	echo '# signed. Let it listen on an address that only they reach, never on a public one.'
	echo "Listen 127.0.0.1:$port"
	echo "<VirtualHost 127.0.0.1:$port>"
	cat "$conf/apache-mod_fcgid-platform.conf"
	echo '</VirtualHost>'
	echo '</IfModule>'
}

apache_tuning() {
	apache_head creditbridge-tuning "settings of the whole Apache for many calls at a time"
	cat "$conf/apache-mod_fcgid-tuning.conf"
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
		echo '# Only game servers may reach this mount, because its /healthz, /readyz and /metrics are not'
		echo '# signed. Let it listen on an address that only they reach, never on a public one.'
		# shellcheck disable=SC2016
		echo '$SERVER["socket"] == "127.0.0.1:'"$port"'" {'
	fi
	cat "$conf/lighttpd-$2.conf"
	echo '}'
}

apache_wallet >"$to/creditbridge.conf"
apache_platform >"$to/creditbridge-platform.conf"
apache_tuning >"$to/creditbridge-tuning.conf"
# Both mounts need it, and each of its lines may occur only once.
cat "$conf/lighttpd-global.conf" >"$to/10-creditbridge-common.conf"
lighttpd creditbridge wallet >"$to/50-creditbridge.conf"
lighttpd creditbridge-platform platform >"$to/50-creditbridge-platform.conf"
