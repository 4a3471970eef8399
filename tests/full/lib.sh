# shellcheck shell=bash
# lib.sh - sourced by the scripts of this folder: steps that print TAP.
#
# A script runs `step NAME COMMAND...` for each thing that must succeed and ends with `steps_end`.
# $CB_SRCDIR and $CB_BUILDDIR are given by tests/run; $work is a temporary directory.
set -euo pipefail

src=${CB_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)}
work=$(mktemp -d "${TMPDIR:-/tmp}/creditbridge-full.XXXXXX")
chmod 711 "$work"
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
# The suites that are C programs, and those that run the real programs.
# shellcheck disable=SC2034 # used by the scripts
unit_suites=$(awk '$4 ~ /^[{]build[}]/ { print $1 }' "$src/tests/BUDGET")
# shellcheck disable=SC2034
e2e_suites=$(awk '$5 ~ /tests\/e2e\// { print $1 }' "$src/tests/BUDGET")
steps=0
steps_failed=0

# Runs a command; its output is shown when it fails. Returns 1 then.
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
	tail -n 60 "$work/step.log" | sed 's/^/# /'
	return 1
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
