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
# The suites that are C programs.
# shellcheck disable=SC2034 # used by the scripts
unit_suites=$(awk '$2 == "check" && $5 ~ /^[{]build[}]/ { print $1 }' "$src/tests/BUDGET")
# These cases of the suite ledger repeat ten thousand times what other cases do a few times.
# shellcheck disable=SC2034
repeats="sixteen_mebibytes_are_kept strangers_push_out_no_dealer ten_thousand_smallest_stakes_make_one sums_grow_for_ever \
small_stakes_add_up a_flood_pushes_out_no_other a_thousand_are_kept"
steps=0
steps_failed=0
at_once=$(nproc)

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

# Sets processors_s to the seconds of processors that this shell, and what it has waited for, have used.
processors() {
	local at milliseconds=0 words
	times >"$work/times.$BASHPID"
	read -r -d '' -a words <"$work/times.$BASHPID" || true
	for at in "${words[@]//[.s]/}"; do
		milliseconds=$((milliseconds + 10#${at%m*} * 60000 + 10#${at#*m}))
	done
	processors_s=$((milliseconds / 1000))
}

# took NAME SECONDS PROCESSORS: says so, of what took long.
took() {
	[ "$2" -lt 10 ] || echo "# $1, processors $3 s, took $2 s"
}

# Runs a command. If it fails, shows the lines about the failure and returns 1.
step() {
	local name=$1 began=$SECONDS code=0 used
	processors
	used=$processors_s
	shift
	steps=$((steps + 1))
	"$@" >"$work/step.log" 2>&1 || code=1
	if [ "$code" = 0 ]; then
		echo "ok $steps - $name"
	else
		steps_failed=$((steps_failed + 1))
		echo "not ok $steps - $name"
		failure_show "$work/step.log" | sed 's/^/# /'
	fi
	processors
	took "$name" "$((SECONDS - began))" "$((processors_s - used))"
	return "$code"
}

# The output and the exit code of the command that steps_each gave the number @1.
each_end() {
	cat "$work/each/$1.log"
	return "$(cat "$work/each/$1.code")"
}

# Prints the results of the steps that have ended, up to the first one that has not: so a result is known even if the
# suite is ended later. Counts them in each_shown.
each_show() {
	local seconds used name=$1 line
	shift
	while [ "$each_shown" -lt $# ] && [ -e "$work/each/$each_shown.code" ]; do
		line=${*:$((each_shown + 1)):1}
		step "${name//%s/$line}" each_end "$each_shown" || true
		read -r seconds used <"$work/each/$each_shown.seconds"
		took "${name//%s/$line}" "$seconds" "$used"
		each_shown=$((each_shown + 1))
	done
}

# steps_each NAME COMMAND...: COMMAND once for each line of standard input, with that line as its
# last argument; $at_once of them side by side, by default as many as there are processors. Each is
# a step; %s in NAME is the line. Standard input is a file: after a pipe another shell would count
# the steps.
steps_each() {
	local name=$1 at running=0 lines each_shown=0
	shift
	mapfile -t lines
	rm -rf "$work/each"
	mkdir "$work/each"
	for at in "${!lines[@]}"; do
		if [ "$running" -ge "$at_once" ]; then
			wait -n
			running=$((running - 1))
			each_show "$name" "${lines[@]}"
		fi
		{
			code=0 began=$SECONDS
			"$@" "${lines[$at]}" >"$work/each/$at.log" 2>&1 </dev/null || code=$?
			processors
			echo "$((SECONDS - began)) $processors_s" >"$work/each/$at.seconds"
			echo "$code" >"$work/each/$at.end"
			mv "$work/each/$at.end" "$work/each/$at.code"
		} &
		running=$((running + 1))
	done
	wait
	each_show "$name" "${lines[@]}"
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

# suites DIR NAME...: runs suites of tests/BUDGET on the programs built in DIR.
suites() {
	local dir=$1
	shift
	CB_BUILDDIR=$dir "$src/tests/run" "$@"
}

# unit_fork SUITE: whether check has to fork a child for each case of it, yes or no. A fork takes these programs under a
# sanitizer or valgrind longer than most cases. Some cases of store end their process, and some of web leave memory to the
# end of theirs.
unit_fork() {
	case $1 in web | store) echo yes ;; *) echo no ;; esac
}

# sanitized TARGET...: makes them in $CB_BUILDDIR/sanitized, which several scripts use.
sanitized() {
	CB_SRCDIR=$src "$src/tests/full/sanitized.sh" "$@"
}

# suite_sanitized SUITE: runs it on the programs that sanitized() made. A finding ends a program with a code which no
# test takes for success. What was freed is kept for a shorter time than by default: a fork copies the tables of its
# pages. A name that two libraries define is not looked for, which takes a tenth of the start: no library of ours is
# loaded.
suite_sanitized() {
	local options=exitcode=99:abort_on_error=0:detect_odr_violation=0:quarantine_size_mb=32:malloc_context_size=12
	ASAN_OPTIONS=$options:detect_leaks=${leaks:-1} UBSAN_OPTIONS=print_stacktrace=1 CB_SLOWER=4 \
		suites "$CB_BUILDDIR/sanitized" "$1"
}

unit_sanitized() {
	CK_FORK=$(unit_fork "$1") CK_TIMEOUT_MULTIPLIER=3 suite_sanitized "$1"
}
