#!/usr/bin/env bash
# Everything once more under AddressSanitizer and UndefinedBehaviorSanitizer.
# shellcheck disable=SC2034 # lib.sh reads it
addresses=fixed
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A finding ends the program with this code, which no test takes for success.
export ASAN_OPTIONS=exitcode=99:detect_leaks=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1
# A fork alone, which each case is, costs these programs ten times as much.
export CB_SLOWER=4
# The simulator runs ten times as many otherwise, random tests five times.
export CB_SIM_SEEDS=1000 CB_FEWER_ROUNDS=5

if step "builds with --enable-sanitizers" build sanitizers --enable-sanitizers; then
	echo "$unit_suites" >"$work/units"
	CK_TIMEOUT_MULTIPLIER=3 steps_each "%s with sanitizers" suites "$work/sanitizers" \
		<"$work/units"
	# fairness compares times, which these programs do not have. The leak checker ends a program that
	# nobody may look into, as a setgid one. Examples, guide and quickstart make the same calls and
	# commands as wallet, platform and ctl, by other clients: that these are right is shown without
	# sanitizers.
	tr ' ' '\n' <<<"$e2e_suites peer" | grep -vxE 'fairness|setgid|examples|guide|quickstart' >"$work/e2e"
	steps_each "%s with sanitizers" suites "$work/sanitizers" <"$work/e2e"
fi
steps_end
