#!/usr/bin/env bash
# The unit tests under valgrind: no invalid access, nothing used before it is set, nothing lost.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator runs a hundred times as many otherwise.
export CB_SIM_SEEDS=100

# check forks a child for each test, which is followed; what the library itself still holds when a
# child ends is "still reachable" and no error.
under_valgrind() {
	CK_TIMEOUT_MULTIPLIER=30 valgrind --quiet --error-exitcode=99 --leak-check=full \
		--suppressions="$src/tests/full/valgrind.supp" \
		--errors-for-leak-kinds=definite --show-leak-kinds=definite \
		--child-silent-after-fork=no --trace-children=no "$CB_BUILDDIR/tests/$1"
}

# The longest ones first, so that no processor is idle at the end.
(cd "$CB_BUILDDIR/tests" && find ledger store sim base callback domain explain link metrics proof state sweep web wire \
	-name 'test_*' -type f -perm -u+x) \
	>"$work/tests"
steps_each "%s under valgrind" under_valgrind <"$work/tests"
steps_end
