#!/usr/bin/env bash
# apt-repo.sh DIR DEB...: makes DIR a signed apt repository of the packages DEB, to be served by any web server
# or used in place, and prints the lines that an operator types. `make apt-repo` calls it.
#
# A second call into the same DIR adds the packages and signs again. The old versions stay, so that hosts can
# go back.
#
#   APT_REPO_URL   where hosts will find DIR (default: file:DIR)
#   APT_REPO_KEYS  the directory of gpg that holds the signing key; made with a new key if it is missing
#                  (default: ~/.local/share/creditbridge-apt). Back it up: without it hosts refuse later versions
#
# Exit: 0 made; 1 failed; 2 usage, or a program is missing.
set -euo pipefail

SUITE=stable
NAME=creditbridge
OWNER="$NAME package repository"

fail() {
	echo "apt-repo: $2" >&2
	exit "$1"
}

[ $# -ge 2 ] || fail 2 "usage: apt-repo.sh DIR DEB..."
for program in apt-ftparchive dpkg-deb gpg; do
	command -v "$program" >/dev/null || fail 2 "$program is missing: apt install apt-utils dpkg gpg"
done
mkdir -p "$1"
dir=$(cd "$1" && pwd -P)
shift
url=${APT_REPO_URL:-file:$dir}
export GNUPGHOME=${APT_REPO_KEYS:-${XDG_DATA_HOME:-$HOME/.local/share}/creditbridge-apt}

# A key of its own, without a passphrase: the directory's mode protects it.
# An earlier call may have made the directory and died before the key.
mkdir -p "$GNUPGHOME"
chmod 0700 "$GNUPGHOME"
if ! gpg --batch --list-secret-keys "=$OWNER" >/dev/null 2>&1; then
	gpg --batch --quiet --passphrase '' --quick-generate-key "$OWNER" ed25519 sign never
	echo "apt-repo: made the signing key in $GNUPGHOME: back it up" >&2
fi

pool=$dir/pool/main
mkdir -p "$pool"
for deb in "$@"; do
	[ "$(dpkg-deb -f "$deb" Package)" = "$NAME" ] || fail 1 "$deb is no package of $NAME"
	install -m 0644 "$deb" "$pool/"
done
architectures=$(for deb in "$pool"/*.deb; do dpkg-deb -f "$deb" Architecture; done | sort -u | tr '\n' ' ')
architectures=${architectures% }

# Beside the present one: a host that reads meanwhile sees the old or the new one.
new=$dir/dists.new
rm -rf "$new"
for architecture in $architectures; do
	list=$new/$SUITE/main/binary-$architecture
	mkdir -p "$list"
	(cd "$dir" && apt-ftparchive --arch "$architecture" packages pool) >"$list/Packages"
	gzip -9n <"$list/Packages" >"$list/Packages.gz"
done
apt-ftparchive -o APT::FTPArchive::Release::Origin="$NAME" -o APT::FTPArchive::Release::Label="$NAME" \
	-o APT::FTPArchive::Release::Suite="$SUITE" -o APT::FTPArchive::Release::Codename="$SUITE" \
	-o APT::FTPArchive::Release::Components=main \
	-o APT::FTPArchive::Release::Architectures="$architectures" \
	release "$new/$SUITE" >"$dir/Release.new"
mv "$dir/Release.new" "$new/$SUITE/Release"
gpg --batch --yes --armor --detach-sign -o "$new/$SUITE/Release.gpg" "$new/$SUITE/Release"
gpg --batch --yes --clearsign -o "$new/$SUITE/InRelease" "$new/$SUITE/Release"
gpg --batch --yes --export -o "$dir/$NAME.gpg" "=$OWNER"
chmod -R a+rX "$new" "$pool" "$dir/$NAME.gpg"
rm -rf "$dir/dists.old"
[ ! -d "$dir/dists" ] || mv "$dir/dists" "$dir/dists.old"
mv "$new" "$dir/dists"
rm -rf "$dir/dists.old"

echo "apt-repo: $dir has $(find "$pool" -name '*.deb' | wc -l) package(s). On each host, as root:"
cat <<-END

	    /usr/lib/apt/apt-helper download-file $url/$NAME.gpg /etc/apt/keyrings/$NAME.gpg
	    echo 'deb [signed-by=/etc/apt/keyrings/$NAME.gpg] $url $SUITE main' >/etc/apt/sources.list.d/$NAME.list
	    apt update && apt install $NAME

	END
