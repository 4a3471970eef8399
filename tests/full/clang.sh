#!/usr/bin/env bash
# clang.sh [--whole]: the other compiler: no warning, and the unit suites pass, under AddressSanitizer and
# UndefinedBehaviorSanitizer.
# shellcheck disable=SC2034 # lib.sh reads it
addresses=fixed
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator and the random tests run five times as many otherwise, which --whole lets them. The model goes through very
# many states by a few pure functions of domain/, which the other suites call as well.
if [ "${1:-}" = --whole ]; then
	left_out=none
else
	left_out=model
	export CB_SIM_SEEDS=200 CB_FEWER_ROUNDS=5 CB_LEAVE_OUT=$repeats
fi

if step "builds with clang, --enable-werror and sanitizers" sanitized check-programs; then
	grep -vx "$left_out" <<<"$unit_suites" >"$work/units"
	steps_each "%s with clang and sanitizers" unit_sanitized <"$work/units"
fi
steps_end
