#!/usr/bin/env bash
# The unit tests under valgrind: no invalid access, nothing used before it is set, nothing lost.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The simulator runs a hundred times as many otherwise, random tests twenty times. The suite store has the cases
# of Berkeley DB, which opens a database in each.
export CB_SIM_SEEDS=100 CB_FEWER_ROUNDS=20 CB_LEDGER_STORES=1

# valgrind translates a program again in each child, so that the cases run in one process. Some cases of base
# set an alarm, and some of the store end their process: in these two suites check forks a child for each case,
# which valgrind follows. What the library itself still holds when a child ends is "still reachable" and no error.
under_valgrind() {
	local fork=no
	case $1 in base/test_base | store/test_store) fork=yes ;; esac
	CK_FORK=$fork CK_TIMEOUT_MULTIPLIER=30 valgrind --quiet --error-exitcode=99 --leak-check=full \
		--suppressions="$src/tests/full/valgrind.supp" \
		--errors-for-leak-kinds=definite --show-leak-kinds=definite \
		--child-silent-after-fork=no --trace-children=no "$CB_BUILDDIR/tests/$1"
}

# The longest ones first, so that no processor is idle at the end. Only ASan sees those of tests/web, which take as
# long as all others together here, and those with a PostgreSQL.
(cd "$CB_BUILDDIR/tests" && find domain ledger store link sim explain proof base callback metrics state sweep wire peer \
	console \
	-name 'test_*' ! -name '*_pg' -type f -perm -u+x) \
	>"$work/tests"
steps_each "%s under valgrind" under_valgrind <"$work/tests"
steps_end
