#!/usr/bin/env bash
# The distributed archive has every file, builds, passes its tests, installs and cleans up, from
# read-only sources.
#
# What differs from `make check` is the archive: a file that is missing in it. Where the sources are of
# git, that is asked first, of all files; the suites that run there are few, of each kind one, and only their
# programs are built, without optimising: what the code does is tested elsewhere.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/package_build.sh"

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

complete() {
	tar -tf "$work"/dist/creditbridge-*.tar.* | sed -n 's,^[^/]*/\(.*[^/]\)$,\1,p' | sort >"$work/archive"
	archive_complete "$work/archive"
}

if step "make dist" archive; then
	step_archive_complete complete
	step "make distcheck" distcheck || true
fi
steps_end
