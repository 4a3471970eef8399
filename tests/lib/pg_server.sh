#!/bin/sh
# pg_server.sh DIRECTORY [PRIMARY]: runs a private PostgreSQL whose socket is in DIRECTORY, until it gets SIGTERM or SIGINT.
# Its superuser is creditbridge, without a password. With PRIMARY, the directory of another one, it is a standby of that. PostgreSQL refuses to run as root. As root, the script runs it
# as another user of the host.
set -eu
directory=$1
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
# That user may not be able to enter the folder of the sources.
cd /
as=
if [ "$(id -u)" = 0 ]; then
	chown nobody "$directory"
	as="setpriv --reuid nobody --regid nogroup --clear-groups --pdeathsig TERM"
fi
if [ -n "${2:-}" ]; then
	# shellcheck disable=SC2086 # words
	$as "$bin/pg_basebackup" --pgdata="$directory/data" --host="$2" --username=creditbridge --no-sync \
		--checkpoint=fast --write-recovery-conf >"$directory/initdb.log" 2>&1
else
	# shellcheck disable=SC2086 # words
	$as "$bin/initdb" --pgdata="$directory/data" --username=creditbridge --auth=trust --no-sync --wal-segsize=1 \
		--encoding=UTF8 --locale=C.UTF-8 --data-checksums >"$directory/initdb.log" 2>&1
fi
# A copy that has begun to follow still needs what a checkpoint would remove.
# shellcheck disable=SC2086 # words
exec $as "$bin/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c max_wal_size=64MB -c wal_keep_size=64MB \
	-c shared_buffers=16MB -c max_connections=20 >"$directory/server.log" 2>&1
