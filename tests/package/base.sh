#!/usr/bin/env bash
# base.sh DIR DEB: makes the Debian trees that the tests of the package start from, below DIR.
#
#   DIR/plain      minbase with Apache, and in apt's cache everything that the tests will install, for they have no
#                  network; DEB is in /srv, and is not installed
#   DIR/systemd    the same, with systemd as init, python3, and the packages that DEB depends on
#
# A tool that a document installs must not be among them, except Apache, which takes longest: there the test looks
# whether the document names it.
#
# README, whose commands are typed there, too, and the Containerfile are in /srv, and debian/control in
# /srv/source/debian.
#
# $CB_DEBIAN_MIRROR: where the packages come from.
set -euo pipefail
dir=$1
deb=$2
mirror=${CB_DEBIAN_MIRROR:-http://deb.debian.org/debian}
here=$(dirname "${BASH_SOURCE[0]}")
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

inside() {
	chroot "$dir/plain" apt-get -q -y "$@"
}

# Leaves in apt's lists what is installed, what is in its cache, and what building needs. Each apt reads all that they
# have, which takes it 6 s for Debian's 64,000 packages.
lists_trim() {
	local list names=$dir/names
	{
		# shellcheck disable=SC2016 # of dpkg-query
		chroot "$dir/plain" dpkg-query -W -f '${Package}\n'
		(cd "$dir/plain/var/cache/apt/archives" && printf '%s\n' *.deb) | sed 's/_.*//'
		inside build-dep --simulate -P nocheck /srv/source | sed -n 's/^Inst \([^ ]*\) .*/\1/p'
	} >"$names"
	for list in "$dir"/plain/var/lib/apt/lists/*_Packages; do
		awk -v ORS='\n\n' -v names="$names" '
			BEGIN { while ((getline line <names) > 0) wanted[line "\n"]; RS = "" }
			match($0, /^Package: [^\n]*\n/) && substr($0, 10, RLENGTH - 9) in wanted' "$list" >"$dir/list"
		cat "$dir/list" >"$list"
	done
	rm "$names" "$dir/list"
	inside check
}

# into TREE ARGUMENT...: apt-get install ARGUMENT...; nothing of it is started.
into() {
	local policy=$dir/$1/usr/sbin/policy-rc.d
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 0755 "$policy"
	chroot "$dir/$1" apt-get -q -y install "${@:2}"
	rm "$policy"
}

mkdir -p "$dir"
# These machines are thrown away: a power cut may damage them. The lists are kept for what follows.
mmdebstrap --variant=minbase --format=directory --skip=cleanup/apt --dpkgopt=force-unsafe-io \
	--aptopt='Acquire::Languages "none"' bookworm "$dir/plain" "$mirror"
install -m 0644 "$deb" "$dir/plain/srv/"
install -m 0644 "$here/../../README" "$dir/plain/srv/"
install -m 0644 "$here/../../contrib/container/Containerfile" "$dir/plain/srv/"
install -D -m 0644 "$here/../../debian/control" "$dir/plain/srv/source/debian/control"
deb=/srv/${deb##*/}
# What an operator would have, with what is recommended; then what the tests need.
inside install --download-only "$deb" apache2
inside install --download-only "$deb" apache2 libapache2-mod-fcgid curl openssl
inside install --download-only "$deb" lighttpd
inside install --download-only "$deb" apache2 curl openssl oathtool spawn-fcgi
inside install --download-only "$deb" nginx spawn-fcgi curl jq rsyslog
inside install --download-only "$deb" apache2 libapache2-mod-php libfcgi-perl libapache2-mod-fcgid
# shellcheck disable=SC2046 # words
inside install --download-only --no-install-recommends "$deb" apt-utils dbus systemd-sysv \
	$(sed -n "s/^Depends: //p" "$here/../../debian/tests/control" | tr -s ", " "\n" | sort -u | grep -v "^@$")
lists_trim
into plain apache2
cp -a "$dir/plain" "$dir/systemd"
# The files of apt's cache are the same.
ln -f "$dir"/plain/var/cache/apt/archives/*.deb "$dir/systemd/var/cache/apt/archives/"
# shellcheck disable=SC2046 # words
into systemd --no-install-recommends dbus systemd-sysv python3 \
	$(dpkg-deb -f "$dir/plain/$deb" Depends | tr ',' '\n' | sed 's/[|(].*//' | grep -v '^ *creditbridge')
