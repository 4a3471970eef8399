#!/usr/bin/env bash
# The distributed archive builds, passes its tests, installs and cleans up, from read-only sources.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

distcheck() {
	mkdir -p "$work/dist"
	cd "$work/dist"
	"$src/configure" --quiet
	make --no-print-directory -s distcheck
}

step "make distcheck" distcheck || true
steps_end
