#!/bin/sh
# apt_repo.sh: in a bare Debian with a repository in /srv/apt-repo, made by tools/apt-repo.sh: the three lines that it
# printed are typed, as README.Debian has them; the package comes from there; a changed list or package is refused.
# Prints what it does; exits 0 if all is well.
# Begins with bare.sh.
# shellcheck disable=SC2154 # that gives deb
cd /root || exit
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/90yes
list=/etc/apt/sources.list.d/creditbridge.list
# This machine has no network: apt reads the lists of this repository only, and keeps those of Debian.
without_network() {
	sed "s|apt update|apt-get -q update -o Dir::Etc::sourcelist=$list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0|"
}

echo "# the lines that make apt-repo printed"
[ "$(grep -c . /srv/apt-repo.lines)" = 3 ] || fail "not three lines: $(cat /srv/apt-repo.lines)"
without_network </srv/apt-repo.lines >repo.sh
typed repo
expect "where the package comes from" "/srv/apt-repo stable/main" "$(apt-cache policy creditbridge)"
[ "$(dpkg-query -W -f '${db:Status-Status}' creditbridge)" = installed ] || fail "the package is not installed"
creditbridgectl --version

echo "# README.Debian has the same lines, for another address"
documents
block README.Debian '/usr/lib/apt/apt-helper' | sed 's|https://apt.example/creditbridge|file:/srv/apt-repo|g' >documented
diff documented /srv/apt-repo.lines || fail "README.Debian has other lines"

echo "# a list that was changed is refused"
tail -n 1 repo.sh | sed 's/ && .*//' >update.sh
typed update
cp -a /srv/apt-repo /srv/changed
sed -i 's|file:/srv/apt-repo|file:/srv/changed|' "$list"
typed update
sed -i 's/^Label: .*/Label: other/' /srv/changed/dists/stable/InRelease
sh -eu update.sh >update.out 2>&1 || true
expect "a changed Release" "BADSIG" "$(cat update.out)"

echo "# a package that was changed is refused"
cp -a /srv/apt-repo/dists/. /srv/changed/dists/
typed update
echo x >>"$(echo /srv/changed/pool/main/creditbridge_*.deb)"
apt-get -q clean
apt-get -q install --reinstall creditbridge >install.out 2>&1 && fail "a changed package was taken: $(cat install.out)"
grep -Eqi 'hash sum|size mismatch|unexpected size' install.out || fail "apt does not name the sum: $(cat install.out)"
echo "ok"
