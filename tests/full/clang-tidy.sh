#!/usr/bin/env bash
# clang-tidy.sh [--analyze-all]: static analysis by clang-tidy with the checks of .clang-tidy: one case a folder. One
# process reads a folder's files one after the other, because a start takes as long as the checks of two files.
# Clang's analyzer takes most of the time. It looks at the folders of analyzed.sh, with --analyze-all at every file.
# A file with a va_list has a process and a case of its own: the analyzer of LLVM 14 knows va_start only in the first
# file that a process reads.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/analyzed.sh"

flags=$(pkg-config --cflags jansson gnutls libcurl libconfuse smartcols libsystemd libpq)
# Checks the file @1, or the files without a va_list of the folder @1.
tidy() {
	local files=("$src/$1") checks=
	[ "$analyze_all" ] || is_analyzed "$1/" || checks='-clang-analyzer-*'
	[ -f "$src/$1" ] || mapfile -t files < <(grep -L va_list "$src/$1"/*.c)
	# shellcheck disable=SC2086 # flags are words
	clang-tidy --quiet --config-file="$src/.clang-tidy" --checks="$checks" "${files[@]}" -- -std=gnu11 \
		-include "$CB_BUILDDIR/config.h" \
		-I "$src/src" "-DCREDITBRIDGE_SBINDIR=\"/usr/sbin\"" \
		"-DCONSOLE_ASSETS=\"$src/src/console\"" \
		"-DSTORE_MODULE_DIRECTORY=\"/usr/lib/creditbridge\"" \
		"-DCURL_LIBRARY_FILE=\"libcurl-gnutls.so.4\"" \
		"-DCREDITBRIDGE_PKGLIBEXECDIR=\"/usr/libexec/creditbridge\"" $flags
}

analyze_all=${1:-}
# The folders with most files first, so that no processor is idle at the end.
(cd "$src" && grep -rL va_list src --include='*.c' | xargs -n 1 dirname | sort | uniq -c | sort -rn |
	awk '{ print $2 }' && grep -rl va_list src --include='*.c') >"$work/targets"
steps_each "clang-tidy %s" tidy <"$work/targets"
steps_end
