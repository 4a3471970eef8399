#!/bin/sh
# bare.sh: what the other scripts begin with, which follow it in one script: $deb is the package, and what
# is not as it should be ends them with 1.
# shellcheck disable=SC2034 # they use it
set -eu
export DEBIAN_FRONTEND=noninteractive
deb=$(echo /srv/creditbridge_*.deb)

fail() {
	echo "not ok: $*"
	exit 1
}

# expect WHAT WANTED GOT
expect() {
	case $3 in
	*"$2"*) ;;
	*) fail "$1: wanted $2, got $3" ;;
	esac
}

# Puts README.Debian, as installed, and what else the machine was given in /srv beside us.
documents() {
	zcat -f /usr/share/doc/creditbridge/README.Debian* >README.Debian
	[ ! -e /srv/README ] || cp /srv/README .
}

# block DOCUMENT FIRST: the indented lines from the one that begins with FIRST to the next that is not
# indented as deep, or empty.
block() {
	awk -v first="$2" '
		!depth && match($0, /[^ ]/) && substr($0, RSTART, length(first)) == first {
			depth = RSTART
		}
		depth {
			match($0, /[^ ]/)
			if ($0 == "" || RSTART < depth) exit
			print substr($0, depth)
		}' "$1"
}

# announced RESULT: the checks that README.Debian, "What doctor reports", lets doctor report as RESULT.
announced() {
	sed -n '/^What doctor reports/,/^Pre-starting/p' README.Debian |
		awk -v fail="$([ "$1" = FAIL ] && echo 1)" '
			/^    [a-z_]+ +/ && (($2 == "FAIL") == (fail == 1)) { print $1 }'
}

# green STEP ARGUMENT...: doctor, called with the arguments, reports no FAIL and exits 0. It warns of nothing
# that README.Debian does not announce, except the checks in $tests_own, which the test itself made so.
tests_own=
green() {
	step=$1
	shift
	creditbridgectl doctor "$@" >doctor.out 2>&1 || fail "doctor after $step: $(cat doctor.out)"
	[ -n "$(announced WARN)" ] || fail "README.Debian announces no warning"
	sed -n 's/^WARN  *\([a-z_]*\) .*/\1/p' doctor.out | sort -u >warnings
	{ announced WARN; echo "$tests_own"; } | sort -u >normal
	other=$(comm -23 warnings normal | tr '\n' ' ')
	[ -z "$other" ] ||
		fail "doctor after $step: README.Debian does not announce a warning of $other: $(cat doctor.out)"
	grep -q '^PASS   socket_access ' doctor.out || fail "doctor after $step: socket_access: $(cat doctor.out)"
	echo "doctor after $step: $(tail -n 1 doctor.out)"
}

# typed NAME: runs the lines of NAME.sh, and keeps and shows what they print.
typed() {
	[ -s "$1.sh" ] || fail "no document has such lines: $1"
	sh -eu "$1.sh" >"$1.out" 2>&1 || fail "$1: $(cat "$1.out")"
	cat "$1.out"
}
