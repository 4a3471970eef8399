#!/bin/sh
# pg_copies.sh PRIMARY DIRECTORY KIND: a copy of the server whose socket is in PRIMARY, until
# SIGTERM.
#
#   archive   pg_receivewal: acknowledges all that is written, and shows nothing of it
#   follow    a standby, whose socket is in DIRECTORY
#   "alone"   a standby that follows no server
set -eu
primary=$1 directory=$2 kind=$3
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
cd /
as=
if [ "$(id -u)" = 0 ]; then
	chown nobody "$directory"
	as="setpriv --reuid nobody --regid nogroup --clear-groups --pdeathsig TERM"
fi
if [ "$kind" = archive ]; then
	# shellcheck disable=SC2086 # words
	exec $as env PGAPPNAME=archive "$bin/pg_receivewal" -h "$primary" -U creditbridge -D "$directory" --synchronous \
		>"$directory/log" 2>&1
fi
# shellcheck disable=SC2086 # words
$as "$bin/pg_basebackup" -h "$primary" -U creditbridge -D "$directory/data" -c fast --no-sync >"$directory/log" 2>&1
# shellcheck disable=SC2086 # words
$as touch "$directory/data/standby.signal"
[ "$kind" = alone ] || echo "primary_conninfo = 'host=$primary user=creditbridge'" >>"$directory/data/postgresql.auto.conf"
# shellcheck disable=SC2086 # words
exec $as "$bin/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c shared_buffers=16MB \
	-c max_connections=20 >>"$directory/log" 2>&1
