#!/usr/bin/env bash
# What threads share, under ThreadSanitizer: the workers' and the dealer's threads, the counters that
# all workers map, the ledger's threads for checkpoints and for backups, and the tests' own.
# shellcheck disable=SC2034 # lib.sh reads it
addresses=fixed
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A report is a file, whatever becomes of the process; workers may be another user's. Each step has a folder for
# its reports.
mkdir -m 1777 "$work/reports"
# atexit_sleep_ms: it would sleep that long in a process that ends while a thread hangs.
# detect_deadlocks: libdb takes its page latches in any order and backs out if one is busy. The
#   sanitizer would report this as a deadlock, a hundred thousand times. Races have no suppression.
tsan_options="exitcode=99 atexit_sleep_ms=0 detect_deadlocks=0"

tests=(link metrics web callback sweep)
programs=()
for test in "${tests[@]}"; do
	programs+=("tests/$test/test_$test")
done

threads_build() {
	mkdir -p "$work/tsan"
	cd "$work/tsan"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -c -o tsan.o "$src/tests/full/tsan.c"
	"$src/configure" --quiet --enable-werror --enable-sanitizers=thread CFLAGS="-O1 -g1" \
		LDFLAGS=-Wl,--wrap=pthread_clockjoin_np LIBS="$work/tsan/tsan.o"
	make --no-print-directory -s -j"$(nproc)" all
	# Not in one with it: `all` is another make, and both would write the same objects.
	make --no-print-directory -s -j"$(nproc)" "${programs[@]}" tests/store/test_backup
}

probe_build() {
	echo 'int main(void) { return 0; }' >"$work/probe.c"
	gcc -fsanitize=thread -o "$work/probe" "$work/probe.c"
}

# Where addresses could not be fixed, no program of it may run at all.
probe_runs() {
	[ -n "${CB_ADDRESSES_FIXED:-}" ] && return
	for _ in 1 2 3 4 5; do
		timeout 10 "$work/probe" || return 1
	done
}

runs() {
	local code=0 reports
	reports=$(mktemp -d "$work/reports/XXXXXX")
	chmod 1777 "$reports"
	TSAN_OPTIONS="log_path=$reports/tsan $tsan_options" CK_TIMEOUT_MULTIPLIER=10 CB_BUILDDIR=$work/tsan \
		"$@" || code=$?
	cat "$reports"/* 2>/dev/null && code=1
	return "$code"
}

unit() {
	runs "$work/tsan/tests/$1"
}

if ! step "gcc has a ThreadSanitizer" probe_build; then
	:
elif ! probe_runs >/dev/null 2>&1; then
	step_skip "builds with --enable-sanitizers=thread" \
		"its programs do not run: setarch -R fails, vm.mmap_rnd_bits is $(cat /proc/sys/vm/mmap_rnd_bits)"
elif step "builds with --enable-sanitizers=thread" threads_build; then
	for test in "${tests[@]}"; do
		echo "$test/test_$test"
	done >"$work/units"
	echo store/test_backup >>"$work/units"
	steps_each "%s has no race" unit <"$work/units"
	step "a backup under load has no race" runs /usr/bin/python3 \
		"$src/tests/e2e/test_backup.py" --seconds 3 --rate 200 "under load" || true
	step "a storm of bets has no race" runs /usr/bin/python3 \
		"$src/tests/crash/storm.py" --seconds 8 --bets 100 lighttpd || true
fi
steps_end
