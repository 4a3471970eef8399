#!/usr/bin/env bash
# Everything once more under AddressSanitizer and UndefinedBehaviorSanitizer.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A finding ends the program with this code, which no test takes for success.
export ASAN_OPTIONS=exitcode=99:detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1
# The simulator runs ten times as many otherwise.
export CB_SIM_SEEDS=1000

if step "builds with --enable-sanitizers" build sanitizers --enable-sanitizers; then
	for suite in $unit_suites $e2e_suites; do
		# It compares times, which these programs do not have.
		[ "$suite" = fairness ] && continue
		step "$suite with sanitizers" suites "$work/sanitizers" "$suite" || true
	done
fi
steps_end
