#!/usr/bin/env bash
# Static analysis by clang-tidy: one case a file.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

checks='-*,clang-analyzer-*,bugprone-*'
# What the style of this project allows, or what C11 without Annex K cannot follow.
checks+=',-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'
checks+=',-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier'
checks+=',-bugprone-assignment-in-if-condition,-bugprone-narrowing-conversions'
checks+=',-bugprone-macro-parentheses,-bugprone-branch-clone'
checks+=',-bugprone-implicit-widening-of-multiplication-result,-bugprone-sizeof-expression'
checks+=',-bugprone-not-null-terminated-result,-bugprone-suspicious-memory-comparison'

flags=$(pkg-config --cflags jansson gnutls libcurl libconfuse smartcols libsystemd)
tidy() {
	# shellcheck disable=SC2086 # flags are words
	clang-tidy --quiet --checks="$checks" \
		--warnings-as-errors='*' "$src/$1" -- -std=gnu11 -include "$CB_BUILDDIR/config.h" \
		-I "$src/src" "-DCREDITBRIDGE_SBINDIR=\"/usr/sbin\"" \
		"-DCREDITBRIDGE_PKGLIBEXECDIR=\"/usr/libexec/creditbridge\"" $flags
}

(cd "$src" && find src -name '*.c' | sort) >"$work/files"
steps_each "clang-tidy %s" tidy <"$work/files"
steps_end
