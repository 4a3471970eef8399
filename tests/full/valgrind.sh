#!/usr/bin/env bash
# valgrind: nothing is used before it is set, no invalid access, nothing lost. AddressSanitizer
# (clang.sh, sanitizers.sh) does not see the first, which matters where bytes are made of
# structures: in the unit suites of domain, wire, store and ledger, in a short life of the ledger
# itself, and in the console, which reads what strangers send. The rest of the code runs only under
# AddressSanitizer, which takes a tenth of the time.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Random tests run twenty times as many otherwise. The suite store has the cases of Berkeley DB, which opens a database
# in each, and so has the ledger of valgrind_ledger.py.
export CB_FEWER_ROUNDS=20 CB_LEDGER_STORES=1

# Besides, these repeat a move of a dealer, or a command, hundreds of times.
export CB_LEAVE_OUT="$repeats an_interrupted_move_goes_on an_aborted_move_leaves_nothing dealers_have_a_limit"
CB_LEAVE_OUT+=" a_stranger_pushes_out_no_other"

left_out_exist() {
	local name
	for name in $CB_LEAVE_OUT; do
		grep -rqF "START_TEST($name)" "$src/tests/ledger" || { echo "FAIL: no case $name"; return 1; }
	done
}

# valgrind translates a program again in each child, so that the cases run in one process where they can. It does not
# look for leaks in the unit suites, because the suite clang does.
under_valgrind() {
	case $1 in creditbridge-ledger | creditbridge-console)
		CB_SLOWER=4 /usr/bin/python3 "$src/tests/full/valgrind_${1#creditbridge-}.py"
		return
		;;
	esac
	local suite=${1%/*}
	local -x CB_HALF=
	[ "$suite" = "$1" ] || CB_HALF=${1#*/}
	CK_FORK=$(unit_fork "$suite") CK_TIMEOUT_MULTIPLIER=30 valgrind --quiet --error-exitcode=99 --leak-check=no \
		--suppressions="$src/tests/full/valgrind.supp" --child-silent-after-fork=no --trace-children=no \
		"$CB_BUILDDIR/tests/$suite/test_$suite"
}

# The longest ones first, so that no processor is idle at the end. The suite ledger takes as long as the others together:
# its odd cases are one step, the even ones another.
printf '%s\n' ledger/0 ledger/1 store creditbridge-ledger creditbridge-console domain wire console >"$work/tests"
steps_each "%s under valgrind" under_valgrind <"$work/tests"
step "the cases that are left out are there" left_out_exist || true
steps_end
