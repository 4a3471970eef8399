#!/usr/bin/env bash
# The other compiler: no warning, and the unit tests pass.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator runs five times as many otherwise.
export CB_SIM_SEEDS=2000

if step "builds with clang and --enable-werror" build clang CC=clang; then
	for suite in $unit_suites; do
		step "$suite with clang" suites "$work/clang" "$suite" || true
	done
fi
steps_end
