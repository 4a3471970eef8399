#!/usr/bin/env bash
# Static analysis by gcc -fanalyzer: one case a file. fanalyzer.list has what it is wrong about.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$src/tests/full/analyzed.sh"

list=$src/tests/full/fanalyzer.list
mkdir "$work/used"

# What gcc says of the file @1; fails where a warning is not in the list.
analyze() {
	local flags
	flags=$(pkg-config --cflags jansson gnutls libcurl libconfuse smartcols libsystemd libpq)
	# shellcheck disable=SC2086 # flags are words
	LC_ALL=C gcc -O2 -fanalyzer -fdiagnostics-path-format=separate-events \
		-fno-diagnostics-show-caret -c -o "$(mktemp -p "$work")" \
		-std=gnu11 -include "$CB_BUILDDIR/config.h" -I "$src/src" \
		"-DCREDITBRIDGE_SBINDIR=\"/usr/sbin\"" \
		"-DCONSOLE_ASSETS=\"$src/src/console\"" \
		"-DSTORE_MODULE_DIRECTORY=\"/usr/lib/creditbridge\"" \
		"-DCURL_LIBRARY_FILE=\"libcurl-gnutls.so.4\"" \
		"-DCREDITBRIDGE_PKGLIBEXECDIR=\"/usr/libexec/creditbridge\"" $flags \
		"$src/$1" 2>&1 || return 1
}

# The same, judged.
judge() {
	local said
	if ! said=$(analyze "$1"); then
		echo "$said"
		return 1
	fi
	echo "$said"
	echo "$said" | awk -v file="$1" -v list="$list" -v used="$work/used/$(basename "$1")" '
		BEGIN {
			while ((getline line < list) > 0) {
				split(line, word, " ")
				if (word[1] == file)
					listed[word[2] " " word[3]] = 1
			}
		}
		match($0, /: In function \047[^\047]+\047/) {
			where = substr($0, RSTART + 15, RLENGTH - 16)
		}
		match($0, / warning: .*\[-W[^]]+\]$/) {
			key = where " " substr($0, match($0, /-W[^]]+\]$/), RLENGTH - 1)
			if (key in listed)
				print file, key > used
			else {
				print "error: " $0 ", in " where
				bad = 1
			}
		}
		END { exit bad }'
}

# Checks that every line of the list has a reason. A line that gcc no longer reports is printed and
# kept: another gcc may report it.
list_check() {
	! sed '/^#/d; /^$/d' "$list" | awk 'NF < 4 { print "error: no reason: " $0; bad = 1 } END { exit !bad }'
}

(cd "$src/src" && find "${analyzed[@]}" -name '*.c' -printf 'src/%p\n' | sort) >"$work/files"
steps_each "gcc -fanalyzer %s" judge <"$work/files"
step "each suppression is explained" list_check || true
sed '/^#/d; /^$/d' "$list" | while read -r file where flag reason; do
	if ! cat "$work"/used/* 2>/dev/null | grep -xF "$file $where $flag" >/dev/null; then
		echo "# listed, and not said: $file $where $flag ($reason)"
	fi
done
steps_end
