#!/usr/bin/env bash
# measure_quickstart.sh [run|check]: what ./quickstart installs on a bare Debian, as root: packages, MiB and, for `run`,
# the seconds until its calls were made. Downloads from $CB_DEBIAN_MIRROR; README has the figures. `check` is only asked
# what it would install.
set -euo pipefail

command=${1:-run}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
mirror=${CB_DEBIAN_MIRROR:-http://deb.debian.org/debian}
work=$(mktemp -d)
if [ "${MEASURE_STAGE:-}" != mounted ]; then
	rmdir "$work"
	MEASURE_STAGE=mounted exec unshare --mount --pid --fork --kill-child bash "$0" "$command"
fi
trap 'umount -R "$work/root/proc" "$work/root/dev" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
mount --make-rprivate /
mmdebstrap --variant=minbase --format=directory bookworm "$work/root" "$mirror" >"$work/mmdebstrap.log" 2>&1
mkdir "$work/root/srv/source"
git -C "$top" ls-files -z | (cd "$top" && xargs -0 cp --parents -t "$work/root/srv/source")
mount -t proc proc "$work/root/proc"
mount --rbind /dev "$work/root/dev"

installed() {
	# shellcheck disable=SC2016 # of dpkg-query
	chroot "$work/root" dpkg-query -W -f '${Installed-Size}\n' | awk '{ n++; kib += $1 } END { print n, int(kib / 1024) }'
}

read -r packages mib < <(installed)
if [ "$command" = check ]; then
	# As a user that is not root it names them.
	missing=$(chroot "$work/root" setpriv --reuid=65534 --regid=65534 --clear-groups /srv/source/quickstart check 2>&1 |
		sed -n 's/^quickstart: these packages are missing: //p')
	chroot "$work/root" apt-get -q update >/dev/null
	# shellcheck disable=SC2086 # words
	chroot "$work/root" apt-get install --no-install-recommends --assume-no $missing |
		grep -E 'newly installed|disk space' || true
	exit 0
fi
begun=$SECONDS
chroot "$work/root" /srv/source/quickstart run --once --state /tmp/demo >"$work/out" 2>&1 ||
	{ tail -n 20 "$work/out"; exit 1; }
read -r after mib_after < <(installed)
echo "$((after - packages)) packages, $((mib_after - mib)) MiB, $((SECONDS - begun)) s"
