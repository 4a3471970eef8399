#!/usr/bin/env bash
# distcheck.sh [--archive]: the distributed archive has every file, builds, passes its tests, installs and cleans up, from
# read-only sources. With --archive only that it has every file; the suite package builds the same files.
#
# What differs from `make check` is the archive: a file that is missing in it. Where the sources are of
# git, that is asked first, of all files; the suites that run there are few, of each kind one, and only their
# programs are built, without optimising: what the code does is tested elsewhere.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What a release does not need.
LEFT_OUT='^(\.ci/.*|\.clang-format|\.gitignore)$'

# Prints what git has and the archive has not.
left_out() {
	tar -tf "$work"/dist/creditbridge-*.tar.* | sed -n 's,^[^/]*/\(.*[^/]\)$,\1,p' |
		sort >"$work/archive"
	git -C "$src" ls-files | grep -vE "$LEFT_OUT" | sort | comm -23 - "$work/archive"
}

complete() {
	local missing
	missing=$(left_out) || return 1
	[ -z "$missing" ] || printf 'FAIL: not in the archive: %s\n' "$missing"
	[ -z "$missing" ]
}

archive() {
	mkdir -p "$work/dist"
	cd "$work/dist"
	"$src/configure" --quiet
	make --no-print-directory -s dist
}

distcheck() {
	cd "$work/dist"
	CB_CHECK="base wire lint quickstart" \
		make --no-print-directory -s -j"$(nproc)" distcheck DISTCHECK_CONFIGURE_FLAGS="CFLAGS=-O0" \
		check_PROGRAMS="tests/base/test_base tests/wire/test_wire"
}

if step "make dist" archive; then
	if git -C "$src" rev-parse --git-dir >/dev/null 2>&1; then
		step "every file is in the archive" complete || true
	else
		step_skip "every file is in the archive" "the sources are not of git"
	fi
	[ "${1:-}" = --archive ] || step "make distcheck" distcheck || true
fi
steps_end
