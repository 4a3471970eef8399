#!/usr/bin/env bash
# The other compiler: no warning, and the unit suites pass, under AddressSanitizer and UndefinedBehaviorSanitizer.
# shellcheck disable=SC2034 # lib.sh reads it
addresses=fixed
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator runs six times as many otherwise, random tests five times.
export CB_SIM_SEEDS=500 CB_FEWER_ROUNDS=5

if step "builds with clang, --enable-werror and sanitizers" sanitized check-programs; then
	echo "$unit_suites" >"$work/units"
	steps_each "%s with clang and sanitizers" unit_sanitized <"$work/units"
fi
steps_end
