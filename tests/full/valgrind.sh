#!/usr/bin/env bash
# The unit tests under valgrind: no invalid access, nothing used before it is set, nothing lost.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator runs a hundred times as many otherwise.
export CB_SIM_SEEDS=100

# check forks a child for each test, which is followed; what the library itself still holds when a
# child ends is "still reachable" and no error.
for test in "$CB_BUILDDIR"/tests/unit/test_* "$CB_BUILDDIR"/tests/store/test_* \
	"$CB_BUILDDIR"/tests/ledger/test_* "$CB_BUILDDIR"/tests/sim/test_*; do
	if [ ! -f "$test" ] || [ ! -x "$test" ]; then continue; fi
	step "${test##*/} under valgrind" env CK_TIMEOUT_MULTIPLIER=30 \
		valgrind --quiet --error-exitcode=99 --leak-check=full \
		--suppressions="$src/tests/full/valgrind.supp" \
		--errors-for-leak-kinds=definite --show-leak-kinds=definite \
		--child-silent-after-fork=no --trace-children=no "$test" || true
done
steps_end
