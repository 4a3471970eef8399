#!/usr/bin/env bash
# Static analysis by cppcheck.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

step "cppcheck" cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
	--inline-suppr --suppress=missingIncludeSystem -j "$(nproc)" \
	-I "$src/src" -I "$CB_BUILDDIR" --include="$CB_BUILDDIR/config.h" "$src/src" || true
steps_end
