#!/bin/sh
# render.sh SRCDIR fcgi-conf/SERVER-MOUNT.conf: fills in the server's template for a mount, as
# installed; make gives $worker, $config,
# $rundir and $errors. The result is written to standard output.
set -eu
srcdir=$1
serve=${2##*-}
serve=${serve%.conf}
server=${2%-"$serve".conf}

processes=2 threads=64
# The platform's mount has a port of its own and needs no prefix.
case $serve in
wallet) prefix=/creditbridge ;;
*) prefix='' ;;
esac
case $server-$serve in
*mod_fcgid-*) processes=150 ;; # one request per process, as many as Apache has threads
esac
# Workers of the wallet's mount serve together.
together=''
[ "$serve" = platform ] || together=" --together --threads $processes"
# lighttpd makes the sockets of the workers that it starts, in a directory of its own.
case $server in
*/lighttpd) socket=${rundir:?}-lighttpd/$serve.sock ;;
*) socket=${rundir:?}/$serve.sock ;;
esac

exec sed \
	-e "s|@worker@|${worker:?}|g" -e "s|@config@|${config:?}|g" \
	-e "s|@serve@|$serve|g" -e "s|@prefix@|$prefix|g" \
	-e "s|@processes@|$processes|g" -e "s|@threads@|$threads|g" \
	-e "s|@together@|$together|g" \
	-e "s|@errors@|${errors:?}|g" -e "s|@socket@|$socket|g" \
	"$srcdir/$server.conf.in"
