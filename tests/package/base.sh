#!/usr/bin/env bash
# base.sh DIR DEB: makes the Debian trees that the tests of the package start from, below DIR.
#
#   DIR/plain      what debootstrap's minbase holds, and in apt's cache everything that the tests
#                  will install, for they have no network; DEB is in /srv, and is not installed
#   DIR/systemd    the same, with systemd as init, python3, and the packages that DEB depends on. A tool that a
#                  document installs must not be among them
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

mkdir -p "$dir"
debootstrap --variant=minbase bookworm "$dir/plain" "$mirror"
# These machines are thrown away: a power cut may damage them.
echo force-unsafe-io >"$dir/plain/etc/dpkg/dpkg.cfg.d/unsafe-io"
install -m 0644 "$deb" "$dir/plain/srv/"
install -m 0644 "$here/../../README" "$dir/plain/srv/"
install -m 0644 "$here/../../contrib/container/Containerfile" "$dir/plain/srv/"
install -D -m 0644 "$here/../../debian/control" "$dir/plain/srv/source/debian/control"
deb=/srv/${deb##*/}
inside update
# What an operator would have, with what is recommended; then what the tests need.
inside install --download-only "$deb" apache2
inside install --download-only "$deb" apache2 libapache2-mod-fcgid curl openssl
inside install --download-only "$deb" lighttpd
inside install --download-only "$deb" apache2 curl openssl oathtool spawn-fcgi
inside install --download-only "$deb" nginx spawn-fcgi curl jq rsyslog
inside install --download-only "$deb" apache2 libapache2-mod-php php-cgi libapache2-mod-fcgid
# shellcheck disable=SC2046 # words
inside install --download-only --no-install-recommends "$deb" apt-utils dbus systemd-sysv \
	$(sed -n "s/^Depends: //p" "$here/../../debian/tests/control" | tr -s ", " "\n" | sort -u | grep -v "^@$")
cp -a "$dir/plain" "$dir/systemd"
# shellcheck disable=SC2046 # words
chroot "$dir/systemd" apt-get -q -y install --no-install-recommends dbus systemd-sysv python3 \
	$(dpkg-deb -f "$dir/plain/$deb" Depends | tr ',' '\n' | sed 's/[|(].*//' | grep -v '^ *creditbridge')
