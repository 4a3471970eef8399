#!/bin/sh
# render.sh SRCDIR fcgi-conf/SERVER-MOUNT.conf: fills in the server's template for a mount, as
# installed; make gives $worker, $config and $rundir. The result is written to standard output.
set -eu
srcdir=$1
serve=${2##*-}
serve=${serve%.conf}
server=${2%-"$serve".conf}

# The platform's mount has a port of its own and needs no prefix. Its requests wait for dealers, so
# it serves more of them at a time.
case $serve in
wallet) prefix=/creditbridge processes=2 threads=16 ;;
*) prefix='' processes=2 threads=64 ;;
esac
case $server-$serve in
*mod_fcgid-wallet) processes=40 ;; # one request per process
*mod_fcgid-platform) processes=100 ;;
esac

exec sed \
	-e "s|@worker@|${worker:?}|g" -e "s|@config@|${config:?}|g" \
	-e "s|@serve@|$serve|g" -e "s|@prefix@|$prefix|g" \
	-e "s|@processes@|$processes|g" -e "s|@threads@|$threads|g" \
	-e "s|@socket@|${rundir:?}/${server##*/}/$serve.sock|g" \
	"$srcdir/$server.conf.in"
