#!/usr/bin/env bash
# container.sh plain|systemd BASE WORK COMMAND...: runs COMMAND beside a machine of its own.
#
# The machine is a throw-away copy of the Debian tree BASE at $ROOT (an overlay whose changes are
# below WORK), with processes, mounts, network (only the loopback) and host name of its own.
# `systemd` boots it; `plain` starts nothing. COMMAND sees the files of this host and the processes,
# network and mounts of the machine: `chroot "$ROOT" ...` is a shell in it, and
# `autopkgtest ... -- chroot "$ROOT"` tests in it. When COMMAND ends, or this script is ended in
# whatever way, the kernel ends every process of the machine and drops its mounts.
#
# Exit: that of COMMAND; 77: this host does not let us make such a machine, or it did not boot.
set -euo pipefail

BOOT_S=180
CGROUP=creditbridge-package.$$
self=$(readlink -f "${BASH_SOURCE[0]}")

cannot() {
	echo "container: $*" >&2
	exit 77
}

# The files of the devices that programs expect, and nothing of the host's disks.
devices() {
	local dev=$1 name
	mount -t tmpfs -o mode=755 tmpfs "$dev"
	mkdir "$dev/pts" "$dev/shm"
	for name in null zero full random urandom tty; do
		: >"$dev/$name"
		mount --bind "/dev/$name" "$dev/$name"
	done
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$dev/shm"
	ln -s pts/ptmx "$dev/ptmx"
	ln -s /proc/self/fd "$dev/fd"
	ln -s /proc/self/fd/0 "$dev/stdin"
	ln -s /proc/self/fd/1 "$dev/stdout"
	ln -s /proc/self/fd/2 "$dev/stderr"
}

# In new namespaces but that of processes.
stage_mounts() {
	local base=$1 work=$2
	mount --make-rprivate /
	mkdir -p "$work/changes" "$work/overlay" "$ROOT"
	if ! mount -t overlay overlay \
		-o "lowerdir=$base,upperdir=$work/changes,workdir=$work/overlay" "$ROOT" 2>/dev/null
	then
		# An overlay does not go onto another one.
		cp -a "$base/." "$ROOT"
		mount --bind "$ROOT" "$ROOT"
	fi
	hostname package-test
	echo package-test >"$ROOT/etc/hostname"
	grep -q package-test "$ROOT/etc/hosts" 2>/dev/null ||
		echo '127.0.0.1 localhost package-test' >>"$ROOT/etc/hosts"
	ip link set lo up
	# The host's view: ours is that of the machine as soon as it runs.
	mkdir -p "$work/proc"
	mount --bind /proc "$work/proc"
	mount -t sysfs -o ro sysfs "$ROOT/sys"
	mount -t tmpfs -o mode=755 tmpfs "$ROOT/run"
	mkdir -m 1777 "$ROOT/run/lock"
	devices "$ROOT/dev"
}

# The first process of the machine: $1 is plain or systemd.
stage_init() {
	# This host's view too: what COMMAND finds in /proc has to be what it sees.
	mount -t proc proc /proc
	mount -t proc proc "$ROOT/proc"
	if [ "$1" = plain ]; then
		# While it waits it collects the dead, as an init does.
		exec dash -c 'sleep infinity & wait'
	fi
	mount -t cgroup2 cgroup2 "$ROOT/sys/fs/cgroup"
	export container=other
	exec chroot "$ROOT" /lib/systemd/systemd --log-target=journal --show-status=0
}

# up KIND NAMESPACE: the machine has begun.
up() {
	local state
	if [ "$1" = plain ]; then
		mountpoint -q "$ROOT/proc"
		return
	fi
	state=$(nsenter --pid="$2" chroot "$ROOT" systemctl is-system-running 2>/dev/null) || true
	case $state in running | degraded) return 0 ;; esac
	return 1
}

main() {
	local kind=$1 base=$2 work=$3 init namespaces=() deadline code=0
	shift 3
	export ROOT=$work/root
	[ "$(id -u)" = 0 ] || cannot "needs root"
	if [ "${CONTAINER_STAGE:-}" != mounted ]; then
		# Once, to distinguish a host that forbids it from a test that fails.
		unshare --mount --net --pid --fork --uts --ipc --cgroup true 2>/dev/null ||
			cannot "no namespaces can be made here"
		CONTAINER_STAGE=mounted exec unshare --mount --net --uts --ipc \
			bash "$self" "$kind" "$base" "$work" "$@"
	fi
	unset CONTAINER_STAGE
	stage_mounts "$base" "$work"
	if [ "$kind" = systemd ]; then
		namespaces=(--cgroup)
		mkdir -p "$work/cgroup"
		if ! mount -t cgroup2 cgroup2 "$work/cgroup" 2>/dev/null ||
			! mkdir "$work/cgroup/$CGROUP" 2>/dev/null; then
			cannot "no cgroup for systemd can be made here"
		fi
		cgroups_sweep "$work/cgroup"
		# shellcheck disable=SC2064 # now
		trap "cgroup_end '$work/cgroup/$CGROUP'" EXIT
		exec 3>"$work/cgroup/$CGROUP/cgroup.procs"
	else
		exec 3>/dev/null
	fi
	# Moves itself into the cgroup, then becomes the machine's parent; it goes when we go.
	setpriv --pdeathsig KILL bash -c 'echo $$ >&3; exec 3>&-; exec "$@"' sh \
		unshare "${namespaces[@]}" --pid --fork --kill-child \
		bash "$self" --init "$kind" </dev/null >"$work/init.log" 2>&1 &
	machine=$!
	exec 3>&-
	trap 'exit 143' TERM INT HUP
	deadline=$((SECONDS + BOOT_S))
	until init=$(cat "$work/proc/$machine/task/$machine/children" 2>/dev/null) &&
		init=${init%% *} && [ -n "$init" ] && up "$kind" "$work/proc/$init/ns/pid"; do
		kill -0 "$machine" 2>/dev/null || cannot "the machine ended: $(tail -n 3 "$work/init.log")"
		[ "$SECONDS" -lt "$deadline" ] || cannot "systemd did not boot within $BOOT_S s"
		sleep 0.2
	done
	nsenter --pid="$work/proc/$init/ns/pid" "$@" || code=$?
	exit "$code"
}

# Removes the empty control groups of runs that were killed.
cgroups_sweep() {
	local group
	for group in "$1"/creditbridge-package.*; do
		kill -0 "${group##*.}" 2>/dev/null ||
			find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
	done
}

# What systemd left: empty groups, when its processes are gone.
cgroup_end() {
	kill -KILL "$machine" 2>/dev/null || true
	wait "$machine" 2>/dev/null || true
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		find "$1" -depth -type d -exec rmdir {} + 2>/dev/null && return 0
		sleep 0.2
	done
}

if [ "${1:-}" = --init ]; then
	stage_init "$2"
else
	main "$@"
fi
