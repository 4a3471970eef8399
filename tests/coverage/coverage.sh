#!/usr/bin/env bash
# Which lines and branches the tests reach: `make coverage`. In no tier: it repeats what others run.
#
#   coverage.sh [SUITE...]     default: the suites below
#   CB_COVERAGE_DIR=DIR        build there and leave it, with the figures, for a look (gcovr --html)
#
# Counters are written when a process ends, also by _exit() (exit.c), and not when it is
# killed. Workers may run as another user: each counter file is made beforehand, for all to write.
. "$(dirname "${BASH_SOURCE[0]}")/../full/lib.sh"

suites=("$@")
if [ ${#suites[@]} -eq 0 ]; then
	# The unit suites side by side, and what runs each program.
	units=$unit_suites
	suites=(manual dealer wallet platform sweep ctl ctl-bets exam check-e2e reports metrics
		explain backup export doctor recon daemon audit logs sums fault)
fi
# Not optimized, and they count.
export CB_SLOWER=4
# The simulator runs more otherwise.
export CB_SIM_SEEDS=300
# A worker that its web server asks to end must end by itself: killed, it would not write its
# counts.
export CB_LEAVE_S=5

dir=${CB_COVERAGE_DIR:-$work/coverage}
mkdir -p "$dir"
chmod 755 "$dir"

prepare() {
	gcc -O2 -c -o "$dir/exit.o" "$src/tests/coverage/exit.c"
	(cd "$dir" && "$src/configure" --quiet \
		CFLAGS="--coverage -O0 -g -fprofile-update=atomic" \
		LDFLAGS="--coverage -Wl,--wrap=_exit" LIBS="$dir/exit.o")
	# One after the other: side by side they would compile a file twice, and its notes would be of
	# another compilation than its object.
	make -C "$dir" --no-print-directory -s -j"$(nproc)" all
	make -C "$dir" --no-print-directory -s -j"$(nproc)" check-programs
	find "$dir" -name '*.gcda' -delete
	# Of configure's own.
	rm -f "$dir"/conftest*
	find "$dir" -name '*.gcno' | while read -r notes; do
		install -m 666 /dev/null "${notes%.gcno}.gcda"
	done
}

figures() {
	# What no process wrote is no counter file.
	find "$dir" -name '*.gcda' -empty -delete
	# A branch that gcov has taken -1 times (some process died while it wrote) is left out, not all.
	(cd "$dir" && gcovr --gcov-ignore-parse-errors --root "$src" --filter "$src/src/" \
		--json "$dir/coverage.json" .)
}

if step "builds with --coverage" prepare; then
	echo "${units:-}" | sed '/^$/d' >"$work/units"
	CK_TIMEOUT_MULTIPLIER=3 steps_each "%s for its coverage" suites "$dir" <"$work/units"
	for suite in "${suites[@]}"; do
		step "$suite for its coverage" suites "$dir" "$suite" || true
	done
	if step "gcovr reads the counters" figures; then
		/usr/bin/python3 "$src/tests/coverage/coverage.py" "$src" "$dir/coverage.json" \
			>"$work/figures" && status=0 || status=$?
		sed 's/^/# /' "$work/figures"
		step "lines, branches and the files of money" test "$status" -eq 0 || true
	fi
fi
steps_end
