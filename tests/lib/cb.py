"""Harness of the end-to-end tests: one module that exports everything a test needs.

    import cb
    with cb.Instance() as wallet, cb.Lighttpd(wallet, prefix="/wallet") as server:
        dealer = wallet.dealer_add("demo")
        wallet.player_add("demo", "alice")
        answer = cb.call(server, "POST", cb.TRANSFER_IN, {...}, dealer=dealer)

The programs are in $CB_BUILDDIR (default: build/ beside the sources). All processes use a temporary
directory and free ports of the loopback interface, and are ended by process id."""
import os
import sys

# The sources may be read-only, and compiled files do not belong there.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# The distance between two ids of transactions or events (src/ledger/rows/life.h).
ID_STRIDE = 16

from cb_http import (BALANCE, READ_PATHS, RESULT_INQUIRE, STAT, TRANSFER_IN, TRANSFER_OUT,  # noqa
                     Answer, call, now_ms, raw_request, sign)
from cb_instance import Dealer, Instance, noon_offset  # noqa
from cb_installed import INSTALLED, Installed  # noqa
from cb_process import (PATIENCE, SRCDIR, Child, HarnessError, blocks_signal, builddir, command_of,  # noqa
                        commands_with, each_in_thread, find_program, free_port, lock_holders,
                        own_group, pids_all, pids_running, port_taken, process_gone, serve_each,
                        signal_pids, socket_ready, wait_until, waited_s)
from cb_servers import (SERVERS, Apache, ApacheFcgid, ApacheProxyFcgi, Lighttpd, Nginx, Server,  # noqa
                        bench_cases)
from cb_tap import Skip, check, equal, needs, run_cases  # noqa
