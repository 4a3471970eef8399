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

# The web console, in every virtual host with TLS. Basic would send passwords in the clear without it.
apache_console() {
	cat <<-'END'
		# creditbridge, the web console at /console/ of every virtual host with TLS, under Apache with
		# mod_proxy_fcgi. Part of Debian's package:
		#     a2enconf creditbridge-console && systemctl reload apache2
		# It does nothing without mod_ssl and mod_proxy_fcgi (a2enmod ssl proxy_fcgi), and before both
		# files exist: the front secret and the users (README.Debian, The web console). For users of a
		# directory replace the lines from AuthType to Require, and the line <IfFile> of the users.

		<IfModule mod_ssl.c>
		<IfModule mod_proxy_fcgi.c>
		<IfFile "/etc/creditbridge/console-front.conf">
		<IfFile "/etc/creditbridge/console-users">
	END
	sed -n '/^<Location/,$p' "$conf/console-apache.conf" |
		sed 's/^<Location.*/&\n\tSSLRequireSSL/'
	echo '</IfFile>'
	echo '</IfFile>'
	echo '</IfModule>'
	echo '</IfModule>'
}

lighttpd_console() {
	cat <<-'END'
		# -*- depends: auth, setenv, creditbridge-common -*-
		# creditbridge, the web console at /console/ over https, under lighttpd. Part of Debian's package:
		#     lighty-enable-mod creditbridge-console && systemctl restart lighttpd
		# lighttpd does not start before the file of the front secret exists (README.Debian, The web
		# console).

		server.modules += ( "mod_authn_file" )
		$HTTP["scheme"] == "https" {
	END
	{
		echo 'auth.backend = "htpasswd"'
		echo 'auth.backend.htpasswd.userfile = "/etc/creditbridge/console-users"'
		sed -n '/^\$HTTP/,$p' "$conf/console-lighttpd.conf"
	} | sed 's/^./\t&/'
	echo '}'
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
apache_console >"$to/creditbridge-console.conf"
lighttpd_console >"$to/50-creditbridge-console.conf"
# Both mounts need it, and each of its lines may occur only once.
cat "$conf/lighttpd-global.conf" >"$to/10-creditbridge-common.conf"
lighttpd creditbridge wallet >"$to/50-creditbridge.conf"
lighttpd creditbridge-platform platform >"$to/50-creditbridge-platform.conf"
