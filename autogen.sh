#!/bin/sh
# Makes ./configure from configure.ac.
set -eu
cd "$(dirname "$0")"
exec autoreconf --install --force "$@"
