#!/usr/bin/env bash
# The distributed archive builds, passes its tests, installs and cleans up, from read-only sources.
#
# What differs from `make check` is the archive: a file that is missing in it. So the suites that
# need the most different files run there, and not all of them again.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

distcheck() {
	mkdir -p "$work/dist"
	cd "$work/dist"
	"$src/configure" --quiet
	CB_CHECK="$unit_suites lint wallet platform ctl quickstart sweep fault" \
		make --no-print-directory -s distcheck
}

step "make distcheck" distcheck || true
steps_end
