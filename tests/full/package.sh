#!/usr/bin/env bash
# Debian's package: it builds, the checkers of Debian have nothing to say, and it does
# what it is for in machines of its own (tests/package/container.sh): in two without systemd, as
# its reader installs it, and in one that systemd boots, by debian/tests.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/package_build.sh"
tests=$src/tests/package

complete() {
	(cd "$work/export" && find . -type f -o -type l) | sed 's,^\./,,' | sort >"$work/archive"
	archive_complete "$work/archive"
}

# The source package, which is made without compiling.
source_package() {
	package_build "$work/source/creditbridge" "$work/source.log" "${build_command/ -b / -S -d }"
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
	mv "$made" "$work/base/plain/srv/apt-repo"
	sed -n 's/^    //p' "$work/repo.out" >"$work/base/plain/srv/apt-repo.lines"
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

# machine KIND NAME COMMAND...: in a fresh machine.
machine() {
	local kind=$1 name=$2
	shift 2
	mkdir "$work/$name"
	"$tests/container.sh" "$kind" "$work/base/$kind" "$work/$name" "$@"
}

tested() {
	machine systemd tested autopkgtest --no-built-binaries --output-dir="$work/results" \
		--ignore-restrictions=isolation-container,breaks-testbed \
		"$deb" "$work/one/creditbridge" -- chroot "$work/tested/root"
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
if ! step "the sources are exported" export_sources ||
	! step "README's dpkg-buildpackage" build_one || ! step "the source package" source_package; then
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
elif step "debootstrap" "$tests/base.sh" "$work/base" "$deb"; then
	# These run at the same time, because one of them mostly waits for cron. Their results are
	# printed one by one.
	tested >"$work/tested.log" 2>&1 &
	tested=$!
	machine systemd neighbour chroot "$work/neighbour/root" \
		sh -c "$(cat "$tests/bare.sh" "$tests/neighbour.sh")" >"$work/neighbour.log" 2>&1 &
	neighbour=$!
	machine systemd console chroot "$work/console/root" \
		sh -c "$(cat "$tests/bare.sh" "$tests/console.sh")" >"$work/console.log" 2>&1 &
	console=$!
	step "a bare Debian with Apache: installed, used, purged" machine plain bare \
		chroot "$work/bare/root" sh -c "$(cat "$tests/bare.sh" "$tests/first_hour.sh")" || true
	step "a game server's first hour, then nginx and spawn-fcgi" machine plain games \
		chroot "$work/games/root" sh -c "$(cat "$tests/bare.sh" "$tests/game_server.sh")" || true
	if step "make apt-repo" repository; then
		step "the signed apt repository: installed from, changed" machine plain repo \
			chroot "$work/repo/root" sh -c "$(cat "$tests/bare.sh" "$tests/apt_repo.sh")" || true
	fi
	step "the steps of the Containerfile, and its entry point" machine plain image \
		chroot "$work/image/root" sh -c "$(cat "$tests/bare.sh" "$tests/container_image.sh")" || true
	step "every other documented command, typed" machine systemd commands \
		chroot "$work/commands/root" sh -c "$(cat "$tests/bare.sh" "$tests/commands.sh")" || true
	step "beside a PHP site that is served as before" ended "$neighbour" "$work/neighbour.log" || true
	step "the web console: set up, signed in to, attacked" ended "$console" "$work/console.log" || true
	wait "$tested" || true
	for name in $names; do
		step "autopkgtest $name" result "$name" || true
	done
fi
steps_end
