# shellcheck shell=bash
# lib.sh - sourced by the scripts of this folder: steps that print TAP.
#
# A script runs `step NAME COMMAND...` for each thing that must succeed and ends with `steps_end`.
# $CB_SRCDIR and $CB_BUILDDIR are given by tests/run; $work is a temporary directory.
set -euo pipefail

# The sanitizers of gcc 12 and clang 14 cannot live with as many random bits of addresses as some
# kernels give (vm.mmap_rnd_bits), so that a program ends, or hangs, at its start: scripts that set
# addresses=fixed get none. What is started from there inherits it.
if [ "${addresses:-}" = fixed ] && [ -z "${CB_ADDRESSES_FIXED:-}" ] && setarch -R true 2>/dev/null; then
	CB_ADDRESSES_FIXED=1 exec setarch -R bash "$0" "$@"
fi

src=${CB_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)}
work=$(mktemp -d "${TMPDIR:-/tmp}/creditbridge-full.XXXXXX")
chmod 711 "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
# The suites that are C programs, and those that run the real programs.
# shellcheck disable=SC2034 # used by the scripts
unit_suites=$(awk '$2 == "check" && $5 ~ /^[{]build[}]/ { print $1 }' "$src/tests/BUDGET")
# shellcheck disable=SC2034
e2e_suites=$(awk '$2 == "check" && $6 ~ /tests\/e2e\// { print $1 }' "$src/tests/BUDGET")
steps=0
steps_failed=0

# What a failed command printed: first the lines that name a failure, with the comments that follow
# a failed case, then the last 30 lines. The output of a suite inside a suite is indented.
failure_show() {
	awk -v names_max=40 -v comments_max=30 '
		/^[ #]*not ok/ {
			if (++names > names_max)
				exit
			print
			comments = comments_max
			next
		}
		/^[ #]*# / && comments > 0 {
			comments--
			print
			next
		}
		{ comments = 0 }
		/error:|ERROR:|\*\*\* |FAIL/ || /Invalid (read|write)|uninitialised|definitely lost/ ||
		(/[0-9] passed, [0-9]+ failed/ && !/ 0 failed/) {
			if (++names > names_max)
				exit
			print
		}' "$1"
	echo "-- the last lines of $(wc -l <"$1"):"
	tail -n 30 "$1"
}

# Runs a command; what tells of its failure is shown. Returns 1 then.
step() {
	local name=$1
	shift
	steps=$((steps + 1))
	if "$@" >"$work/step.log" 2>&1; then
		echo "ok $steps - $name"
		return 0
	fi
	steps_failed=$((steps_failed + 1))
	echo "not ok $steps - $name"
	failure_show "$work/step.log" | sed 's/^/# /'
	return 1
}

# The output and the exit code of the command that steps_each gave the number @1.
each_end() {
	cat "$work/each/$1.log"
	return "$(cat "$work/each/$1.code")"
}

# steps_each NAME COMMAND...: COMMAND once for each line of standard input, with that line as its
# last argument; as many of them side by side as there are processors. Each is a step; %s in NAME is
# the line. Standard input is a file: behind a pipe the steps would be counted by another shell.
steps_each() {
	local name=$1 at running=0 lines
	shift
	mapfile -t lines
	rm -rf "$work/each"
	mkdir "$work/each"
	for at in "${!lines[@]}"; do
		if [ "$running" -ge "$(nproc)" ]; then
			wait -n
			running=$((running - 1))
		fi
		{
			code=0
			"$@" "${lines[$at]}" >"$work/each/$at.log" 2>&1 </dev/null || code=$?
			echo "$code" >"$work/each/$at.code"
		} &
		running=$((running + 1))
	done
	wait
	for at in "${!lines[@]}"; do
		step "${name//%s/${lines[$at]}}" each_end "$at" || true
	done
}

# step_skip NAME REASON: a step that cannot be done here.
step_skip() {
	steps=$((steps + 1))
	echo "ok $steps - $1 # SKIP $2"
}

steps_end() {
	echo "1..$steps"
	[ "$steps_failed" -eq 0 ]
}

# build DIR [CONFIGURE-ARGUMENT...]: configures in $work/DIR and builds all and the tests there.
build() {
	local dir=$work/$1
	shift
	mkdir -p "$dir"
	(cd "$dir" && "$src/configure" --quiet --enable-werror "$@")
	make -C "$dir" --no-print-directory -s -j"$(nproc)" all check-programs
}

# suites DIR NAME...: runs suites of tests/BUDGET on the programs built in DIR.
suites() {
	local dir=$1
	shift
	CB_BUILDDIR=$dir "$src/tests/run" "$@"
}
