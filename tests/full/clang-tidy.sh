#!/usr/bin/env bash
# clang-tidy.sh [--analyze-all]: static analysis by clang-tidy with the checks of .clang-tidy: one case a folder. One
# process reads a folder's files one after the other, because a start takes as long as the checks of two files.
# Clang's analyzer takes most of the time. It looks at the folders of analyzed.sh, with --analyze-all at every file.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/analyzed.sh"

flags=$(pkg-config --cflags jansson gnutls libcurl libconfuse smartcols libsystemd libpq)
tidy() {
	local checks=
	[ "$analyze_all" ] || is_analyzed "$1/" || checks='-clang-analyzer-*'
	# shellcheck disable=SC2086 # flags are words
	clang-tidy --quiet --config-file="$src/.clang-tidy" --checks="$checks" "$src/$1"/*.c -- -std=gnu11 \
		-include "$CB_BUILDDIR/config.h" \
		-I "$src/src" "-DCREDITBRIDGE_SBINDIR=\"/usr/sbin\"" \
		"-DCONSOLE_ASSETS=\"$src/src/console\"" \
		"-DSTORE_MODULE_DIRECTORY=\"/usr/lib/creditbridge\"" \
		"-DCURL_LIBRARY_FILE=\"libcurl-gnutls.so.4\"" \
		"-DCREDITBRIDGE_PKGLIBEXECDIR=\"/usr/libexec/creditbridge\"" $flags
}

analyze_all=${1:-}
# The folders with most files first, so that no processor is idle at the end.
(cd "$src" && find src -name '*.c' -printf '%h\n' | sort | uniq -c | sort -rn | awk '{ print $2 }') >"$work/folders"
steps_each "clang-tidy %s" tidy <"$work/folders"
steps_end
