#!/bin/sh
# old_state.sh BUILD SCHEMA FILE.tar.xz: made schema-0.tar.xz: the state of a wallet as an older
# creditbridge would have left it. One dealer, `old`, whose key is 64 zeros, and its player alice
# with 12.34, in two movements. The rows are those of schema 1: there was none before it.
# schema-1.tar.xz and schema-2.tar.xz beside it are of real schemas 1 and 2 (old_rounds.py).
set -eu
build=$1
schema=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/conf" <<END
state_directory = "$dir/creditbridge"
socket_directory = "$dir/run"
log_target = stderr
disk_ballast_mib = 0
END
mkdir "$dir/run"
ctl() {
	"$build/creditbridgectl" --config "$dir/conf" "$@" >/dev/null
}
ctl init
"$build/creditbridge-ledger" --config "$dir/conf" 2>"$dir/log" &
ledger=$!
tries=0
until ctl status 2>/dev/null; do
	tries=$((tries + 1))
	[ "$tries" -lt 100 ]
	sleep 0.1
done
printf '%064d\n' 0 | ctl dealer add old --currency thb --mode transfer --key-file -
ctl player add old alice
ctl player adjust old alice 20 --reason "fixture"
ctl player adjust old alice -7.66 --reason "fixture"
kill "$ledger"
wait "$ledger"
"$build/tests/fault/set_schema" "$dir/creditbridge/db" "$schema"
rm -f "$dir/creditbridge/db/spare.log"
tar -C "$dir" --owner=0 --group=0 --sort=name --mtime=@0 -cJf "$3" creditbridge
