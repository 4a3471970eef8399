#!/usr/bin/env bash
# sanitized.sh TARGET...: makes TARGETs in $CB_BUILDDIR/sanitized, by clang, under AddressSanitizer and UBSan, and
# with what libFuzzer counts. The suites clang, sanitizers and fuzz share this build, because each build of the
# whole tree takes minutes.
set -euo pipefail
src=${CB_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)}
dir=$CB_BUILDDIR/sanitized

command -v clang >/dev/null || { echo "clang is not installed" >&2; exit 1; }
mkdir -p "$dir"
cd "$dir"
# With lines for the reports, and no more: the rest of -g takes as long as the code.
[ config.status -nt "$src/configure" ] || "$src/configure" --quiet --enable-werror --enable-sanitizers=fuzzer CC=clang \
	CFLAGS="-O1 -gline-tables-only"
# Each target by itself: `all` is another make, and two would write the same objects. The suites on PostgreSQL do not run
# here, and their programs have the files of test_ledger and test_store over again.
for target; do
	make --no-print-directory -s -j"$(nproc)" AM_MAKEFLAGS="-o tests/ledger/test_ledger_pg -o tests/store/test_pg" "$target"
done
