#!/usr/bin/env bash
# Static analysis by clang-tidy with the checks of .clang-tidy: one case a file.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

flags=$(pkg-config --cflags jansson gnutls libcurl libconfuse smartcols libsystemd libpq)
tidy() {
	# shellcheck disable=SC2086 # flags are words
	clang-tidy --quiet --config-file="$src/.clang-tidy" "$src/$1" -- -std=gnu11 -include "$CB_BUILDDIR/config.h" \
		-I "$src/src" "-DCREDITBRIDGE_SBINDIR=\"/usr/sbin\"" \
		"-DCONSOLE_ASSETS=\"$src/src/console\"" \
		"-DSTORE_MODULE_DIRECTORY=\"/usr/lib/creditbridge\"" \
		"-DCURL_LIBRARY_FILE=\"libcurl-gnutls.so.4\"" \
		"-DCREDITBRIDGE_PKGLIBEXECDIR=\"/usr/libexec/creditbridge\"" $flags
}

(cd "$src" && find src -name '*.c' | sort) >"$work/files"
steps_each "clang-tidy %s" tidy <"$work/files"
steps_end
