#!/usr/bin/env bash
# Every benchmark runs to its end, in its shortest form. Otherwise a change of the tests' library could break one, and only
# the next measurement would show it. No target is judged here.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

bench() {
	local target=$1 variable=$2 options=$3
	step "$target" make -C "$CB_BUILDDIR" --no-print-directory -s "$target" "$variable=$options --out $work/results" || true
}

mkdir "$work/results"
short='--rounds 1 --seconds 1'
bench bench BENCH "--bars --players 1000 $short"
bench bench BENCH "--beside php --weight ledger=300 --batch worker --stand ceiling --stand creditbridge --only ceiling \
--only transfer-in --server lighttpd --connections 1 --players 1000 --no-sizes $short"
bench bench-capacity CAPACITY "--calls 200"
bench bench-cells CELLS "$short"
bench bench-console CONSOLE "--players 1000 --reads 3 $short"
bench bench-feeds FEEDS "$short"
bench bench-growth GROWTH "--sizes 1000 --entries 1 $short"
bench bench-neighbours NEIGHBOURS "--server lighttpd $short"
bench bench-perf PERF "--players 1000 --seconds 1"
bench bench-refused REFUSED "$short"
bench bench-relay RELAY "$short"
bench bench-round-end ROUND_END "$short"
bench bench-store STORE "--players 1000 $short"
bench bench-waits WAITS "--players 1000 --seconds 1"
steps_end
