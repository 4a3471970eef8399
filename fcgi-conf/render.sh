#!/bin/sh
# render.sh SRCDIR fcgi-conf/SERVER-MOUNT.conf: fills in the server's template for a mount, as
# installed; make gives $worker, $config and $rundir. The result is written to standard output.
set -eu
srcdir=$1
serve=${2##*-}
serve=${serve%.conf}
server=${2%-"$serve".conf}

# The platform's mount has a port of its own and needs no prefix, and few callers.
case $serve in
wallet) prefix=/creditbridge processes=2 ;;
*) prefix='' processes=2 ;;
esac
case $server in
*mod_fcgid) processes=40 ;; # one request per process
esac

exec sed \
	-e "s|@worker@|${worker:?}|g" -e "s|@config@|${config:?}|g" \
	-e "s|@serve@|$serve|g" -e "s|@prefix@|$prefix|g" \
	-e "s|@processes@|$processes|g" -e "s|@threads@|16|g" \
	-e "s|@socket@|${rundir:?}/${server##*/}/$serve.sock|g" \
	"$srcdir/$server.conf.in"
