#!/usr/bin/env bash
# Debian's package: it builds, the checkers of Debian have nothing to say, and it does
# what it is for in machines of its own (tests/package/container.sh): in two without systemd, as
# its reader installs it, and in one that systemd boots, by debian/tests.
#
# It has mounts of its own, because those end with it in whatever way it ends.
if [ "$(id -u)" = 0 ] && [ -z "${CB_MOUNTS_OWN:-}" ] && unshare --mount true 2>/dev/null; then
	CB_MOUNTS_OWN=1 exec unshare --mount bash "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/package_build.sh"
tests=$src/tests/package

complete() {
	(cd "$work/export" && find . -type f -o -type l) | sed 's,^\./,,' | sort >"$work/archive"
	archive_complete "$work/archive"
}

# Without the packages of debugging symbols, which the suite reproducible makes.
build() {
	DEB_BUILD_OPTIONS=noautodbgsym build_one
}

# The source package, which is made without compiling; only lintian reads it.
source_package() {
	package_build "$work/source/creditbridge" "$work/source.log" "${build_command/ -b / -S -d --source-option=-z1 }"
}

# Tags of `pedantic` are shown and no failure.
lint() {
	lintian --allow-root --tag-display-limit 0 --fail-on error,warning --pedantic \
		"$work"/one/*.changes "$work"/source/*.changes
}

sandbox() {
	local unit code=0
	dpkg-deb -x "$deb" "$work/unpacked"
	for unit in "$work"/unpacked/lib/systemd/system/*.service; do
		systemd-analyze security --offline=true --no-pager --threshold=20 "$unit" ||
			code=1
	done
	return "$code"
}

# README.Debian's `make apt-repo`, into the tree of the machines, with the lines that it prints.
repository() {
	local made=$CB_BUILDDIR/apt-repo
	rm -rf "$made"
	# An earlier call died before it had made the key.
	mkdir -p "$work/keys"
	make -C "$CB_BUILDDIR" --no-print-directory -s apt-repo DEB="$deb" APT_REPO_URL=file:/srv/apt-repo \
		APT_REPO_KEYS="$work/keys" >"$work/repo.out" || return 1
	cat "$work/repo.out"
	mv "$made" "$work/trees/base/plain/srv/apt-repo"
	sed -n 's/^    //p' "$work/repo.out" >"$work/trees/base/plain/srv/apt-repo.lines"
}

# Whether this host can make machines; why not is printed.
machines() {
	if [ "$(id -u)" != 0 ]; then
		echo "not root"
	elif ! unshare --mount --net --pid --fork --uts --ipc --cgroup true 2>/dev/null; then
		echo "no namespaces can be made here"
	elif ! curl -sfL -o /dev/null --max-time 20 "$mirror/dists/bookworm/InRelease"; then
		echo "$mirror cannot be reached"
	else
		return 0
	fi
	return 1
}

# The memory, in KiB, that this host has left, and our control group may use.
memory_kib() {
	{
		sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo
		cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null |
			awk '/^[0-9]+$/ { printf "%.0f\n", $1 / 1024 }'
	} | sort -n | head -n 1
}

# The trees of the machines are in memory, if it has room: an overlay goes onto them there, wherever the temporary
# files are.
trees() {
	mkdir "$work/trees"
	if [ -n "${CB_MOUNTS_OWN:-}" ] && [ "$(memory_kib)" -ge "$trees_kib" ]; then
		mount -t tmpfs -o "mode=711,size=${trees_kib}k" trees "$work/trees" || return 1
		trap 'umount -l "$work/trees"; chmod -R u+w "$work"; rm -rf "$work"' EXIT
	fi
	"$tests/base.sh" "$work/trees/base" "$deb"
}

# machine KIND NAME COMMAND...: in a fresh machine, of which nothing is kept.
machine() {
	local kind=$1 name=$2 code=0
	shift 2
	mkdir "$work/trees/$name"
	"$tests/container.sh" "$kind" "$work/trees/base/$kind" "$work/trees/$name" "$@" || code=$?
	rm -rf "$work/trees/$name"
	return "$code"
}

# scripted KIND NAME SCRIPT: what SCRIPT does in a fresh machine.
scripted() {
	machine "$1" "$2" chroot "$work/trees/$2/root" sh -c "$(cat "$tests/bare.sh" "$tests/$3.sh")"
}

# The tests need what is distributed only. With this file autopkgtest takes it for built, and installs no dpkg-dev.
tested() {
	: >"$work/export/debian/files"
	machine systemd tested autopkgtest --no-built-binaries --output-dir="$work/results" \
		--ignore-restrictions=isolation-container,breaks-testbed \
		"$deb" "$work/export" -- chroot "$work/trees/tested/root"
}

# ended PID LOG: the result of a machine that ran beside others.
ended() {
	local code=0
	wait "$1" || code=$?
	cat "$2"
	return "$code"
}

# Prints the result of one test from autopkgtest's summary. Returns 1 if it failed.
result() {
	grep -E "^$1 +PASS" "$work/results/summary" && return
	if ! grep -E "^$1 " "$work/results/summary"; then
		cat "$work/tested.log"
	fi
	cat "$work/results/$1-stdout" "$work/results/$1-stderr" 2>/dev/null
	return 1
}

mirror=${CB_DEBIAN_MIRROR:-http://deb.debian.org/debian}
export CB_DEBIAN_MIRROR=$mirror
# What the trees take at most, and half as much again.
trees_kib=$((6 << 20))
if ! step "the sources are exported" export_sources ||
	! step "README's dpkg-buildpackage" build || ! step "the source package" source_package; then
	steps_end
	exit 1
fi
deb=$(echo "$work"/one/creditbridge_*.deb)
step_archive_complete complete
step "lintian has no error and no warning" lint || true
sed -n 's/^[PIXO]: /# &/p' "$work/step.log"
step "blhc finds every hardening flag" blhc "$work/one.log" || true
step "systemd-analyze security is at most 2.0" sandbox || true
sed -n 's/^→ /# /p' "$work/step.log"

names=$(sed -n 's/^Features:.*test-name=\([^ ,]*\).*/\1/p' "$src/debian/tests/control")
if ! why=$(machines); then
	for name in "a bare Debian" "a game server" "an apt repository" "the Containerfile" "documented commands" "a PHP site beside" \
		"the web console" $names; do
		step_skip "package: $name" "$why"
	done
elif step "the trees of the machines" trees; then
	# These run at the same time, because one of them mostly waits for cron. Their results are
	# printed one by one.
	tested >"$work/tested.log" 2>&1 &
	tested=$!
	scripted systemd neighbour neighbour >"$work/neighbour.log" 2>&1 &
	neighbour=$!
	scripted systemd console console >"$work/console.log" 2>&1 &
	console=$!
	step "a bare Debian with Apache: installed, used, purged" scripted plain bare first_hour || true
	step "a game server's first hour, then nginx and spawn-fcgi" scripted plain games game_server || true
	if step "make apt-repo" repository; then
		step "the signed apt repository: installed from, changed" scripted plain repo apt_repo || true
	fi
	step "the steps of the Containerfile, and its entry point" scripted plain image container_image || true
	step "every other documented command, typed" scripted systemd commands commands || true
	step "beside a PHP site that is served as before" ended "$neighbour" "$work/neighbour.log" || true
	step "the web console: set up, signed in to, attacked" ended "$console" "$work/console.log" || true
	wait "$tested" || true
	for name in $names; do
		step "autopkgtest $name" result "$name" || true
	done
fi
steps_end
