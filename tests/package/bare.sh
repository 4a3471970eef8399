#!/bin/sh
# bare.sh: what first_hour.sh and game_server.sh begin with, who stand behind it in one script: $deb is
# the package, and what is not as it should be ends them with 1.
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
