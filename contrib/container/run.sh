#!/bin/sh
# run.sh [init]: the first process of a container of creditbridge (Containerfile).
#
# Without an argument it runs ledger, sweeper and Apache until one of them ends or the container is stopped. It makes
# no state: an empty volume may be one that was not mounted. `init` makes the state of a new installation, once.
set -eu

state=/var/lib/creditbridge
directories() {
	chown _creditbridge:_creditbridge "$state" /var/backups/creditbridge
	chmod 0700 "$state" /var/backups/creditbridge
	install -d -m 0711 -o _creditbridge -g _creditbridge /run/creditbridge
	install -d -m 1770 -o _creditbridge -g _creditbridge /run/creditbridge/together
}

# as USER COMMAND...: in the place of a shell that is killed with it.
as() {
	user=$1
	shift
	exec setpriv --reuid="$user" --regid="$user" --init-groups -- "$@"
}

directories
case ${1:-} in
init)
	exec creditbridgectl init --user _creditbridge
	;;
'') ;;
*)
	exec "$@"
	;;
esac
if [ ! -e "$state/installation" ]; then
	echo "creditbridge: there is no state in $state. Is the volume mounted? For a new installation run 'init' once." >&2
	exit 78
fi

# Ends Apache first, whose workers finish their calls within 7 s, then the ledger, which they need for that.
apache=
stop() {
	trap - TERM INT
	if [ -n "$apache" ]; then
		kill -WINCH "$apache" 2>/dev/null || true
		left=70
		while [ "$left" -gt 0 ] && kill -0 "$apache" 2>/dev/null; do
			left=$((left - 1))
			sleep 0.1
		done
		kill -TERM "$apache" 2>/dev/null || true
	fi
	kill -TERM "$sweeper" "$ledger" 2>/dev/null || true
	wait
	exit "$1"
}

# The ledger converts data of an older version in place, and the older version cannot read them then. So they are
# copied first, as the maintainer scripts of the package do on a host: with an identity of the copy's own place.
case $(creditbridgectl schema --json 2>/dev/null || true) in
*'"data":"older"'*)
	copy=/var/backups/creditbridge/before-upgrade-$(date -u +%Y%m%dT%H%M%SZ)
	echo "creditbridge: the data are of an older version: a copy goes to $copy" >&2
	# shellcheck disable=SC2016 # of the other shell
	(as _creditbridge sh -c 'umask 077
		cp -a --reflink=auto "$1" "$2.partial" && id=$(cat "$1/installation") &&
		printf "version 1\ninstallation %s\nmachine -\ndirectory 0\ndb 0\npath %s\n" \
			"$id" "$2" >"$2.partial/identity" &&
		sync -f "$2.partial" && mv "$2.partial" "$2" || {
			rm -rf "$2.partial"
			exit 1
		}' sh "$state" "$copy") || {
		echo "creditbridge: the data could not be copied, and were not touched: make room" >&2
		exit 1
	}
	;;
esac

(as _creditbridge creditbridge-ledger) &
ledger=$!
# A sweep ends by itself within a minute; the next begins.
sweeps() {
	trap 'kill "$sweep" 2>/dev/null; wait "$sweep"; exit 0' TERM
	while :; do
		(as _creditbridge-sweep creditbridge-sweep --for 55s) &
		sweep=$!
		wait "$sweep" || true
		sleep 1 &
		wait $!
	done
}
sweeps &
sweeper=$!
trap 'stop 0' TERM INT
# A conversion of much data takes minutes: wait as long as the ledger lives.
until creditbridgectl status >/dev/null 2>&1; do
	if ! kill -0 "$ledger" 2>/dev/null; then
		echo "creditbridge: the ledger ended before it served" >&2
		stop 1
	fi
	sleep 0.2 &
	wait $! || true
done
# The variables of Debian's Apache; its file reads some that are not set.
set +u
# shellcheck source=/dev/null
. /etc/apache2/envvars
set -u
mkdir -p "$APACHE_RUN_DIR" "$APACHE_LOCK_DIR" "$APACHE_LOG_DIR"
apache2 -DFOREGROUND &
apache=$!
while kill -0 "$ledger" 2>/dev/null && kill -0 "$apache" 2>/dev/null; do
	sleep 1 &
	wait $! || true
done
echo "creditbridge: the ledger or Apache ended" >&2
stop 1
