#!/usr/bin/env bash
# The other compiler: no warning, and the unit tests pass.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator runs five times as many otherwise.
export CB_SIM_SEEDS=2000

if step "builds with clang and --enable-werror" build clang CC=clang; then
	echo "$unit_suites" >"$work/units"
	steps_each "%s with clang" suites "$work/clang" <"$work/units"
fi
steps_end
