#!/usr/bin/python3
"""The benchmark: compares the wallet with a FastCGI program that does nothing, and with the same
contract in PHP over MariaDB.

Everything runs on the loopback of one machine. Cells that are compared are measured in turn
(measure.in_turn()), in several rounds. The figures are the medians of the rounds.

Prints a table and the targets (bars); writes bench.json and bench.svg into --out. Exits with 1 if an
answer was an error. With --judge it also exits with 1 if a target is missed or was not measured.
doc/performance.md explains how to compare, and the targets.
"""
import argparse
import itertools
import os
import platform
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bars  # noqa: E402
import busy  # noqa: E402
import cells as cells_module  # noqa: E402
import report  # noqa: E402
from seamless import Seamless  # noqa: E402
from stands import THREADS, Hello, Wallet, cb, setting  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import FAILURES, Play, in_turn, sizes, starts, syncs  # noqa: E402
from packages import install  # noqa: E402
from peer import Absent, Peer  # noqa: E402
from peer_bets import NodeBets, PhpBets  # noqa: E402
import refunds  # noqa: E402
from wrk import EAGER, add_eager_client  # noqa: E402


BET_STANDS = {"seamless": Seamless, "php": PhpBets, "node": NodeBets}


class Stands:
    """The stands, each started when a cell first needs it."""

    def __init__(self, options, memory):
        self.players = options.players
        self.settings = dict(options.set)
        self.threads = options.threads
        self.memory = memory
        self.options = options
        self.up = {}
        self.absent = {}

    def make(self, name):
        if name == "ceiling":
            return Hello(threads=self.threads)
        if name == cells_module.WAITING:
            return Hello(("mod_fcgid",), options=("--delay-us", cells_module.WAIT_US))
        kind, _, delay_ms = name.rpartition("-")
        if kind in BET_STANDS:
            return BET_STANDS[kind](int(delay_ms), self.players)
        if name == "peer":
            return Peer(self.players)
        wallet = self.make_wallet(name)
        busy.arrange(wallet, self.options)
        return wallet

    def make_wallet(self, name):
        if name == "no disk":
            return Wallet(self.players, names=(), state=self.memory / "state",
                          settings=self.settings)
        return Wallet(self.players, settings=self.settings, threads=self.threads)

    def get(self, name):
        if name in self.absent:
            return None
        if name not in self.up:
            start = time.monotonic()
            try:
                self.up[name] = self.make(name)
            except Absent as reason:
                self.absent[name] = str(reason)
                print(f"# {name} is absent: {reason}", flush=True)
                return None
            print(f"# {name} is up after {time.monotonic() - start:.1f} s", flush=True)
        return self.up[name]

    def close(self):
        for stand in self.up.values():
            stand.close()


class Run:
    """All rounds."""

    def __init__(self, options, stands):
        self.options = options
        self.stands = stands
        self.cells = chosen(options)
        self.rows = {cell: {} for cell in self.cells}
        self.errors = {}  # {cell: answers that were errors}
        self.failures = []
        self.machine = {"cpus": os.cpu_count(), "kernel": platform.release(), "syncs": [],
                        "mpm": options.mpm,
                        "client": "eager" if options.client == EAGER else "batch"}
        self.sized = None
        self.refunds = {}

    def fail(self, failure):
        self.failures.append(str(failure))
        print(f"# FAILED: {failure}", flush=True)

    def failed(self, cell, failure):
        self.errors[cell] = self.errors.get(cell, 0) + getattr(failure, "errors", 1)
        self.fail(failure)

    def play(self, cell, number):
        """None where the stand of the cell is absent or failed."""
        try:
            stand = self.stands.get(cell.stand)
        except FAILURES as failure:
            self.failed(cell, failure)
            return None
        return stand and Play(cell, stand, self.options.players,
                              f"{number}-{self.cells.index(cell)}",
                              self.options.client)

    def group(self, cells, number):
        plays = [play for cell in cells if (play := self.play(cell, number))]
        in_turn(plays, cells[0].seconds or self.options.seconds)
        for play in plays:
            try:
                row = self.rows[play.cell][number] = play.row()
            except FAILURES as failure:
                self.failed(play.cell, failure)
                continue
            cell = play.cell
            print(f"# {number + 1}/{self.options.rounds} {cell.row}, {cell.stand} on {cell.server},"
                  f" {cell.connections}: {row['rate']:.0f}/s, p99 {row['p99_ms']:.2f} ms",
                  flush=True)

    def all(self):
        for number in range(self.options.rounds):
            for _, cells in itertools.groupby(self.cells, cells_module.group):
                self.group(list(cells), number)
            self.machine["syncs"].append(syncs(tempfile.gettempdir()))
        if self.options.bets:
            self.refund_all()
        wallet = self.stands.up.get("creditbridge")
        if wallet and not self.options.no_sizes:
            try:
                self.sized = {"resident": sizes(wallet), "starts": starts(wallet)}
            except (cb.HarnessError, OSError) as failure:
                self.fail(failure)


    def refund_all(self):
        for name, make in BET_STANDS.items():
            try:
                self.refunds[name] = refunds.measure(make, self.options.client)
            except Absent:
                pass  # said by its row
            except FAILURES as failure:
                self.fail(failure)


def chosen(options):
    def wanted(text, words):
        return not words or any(word in text for word in words)
    return [cell for cell in cells_module.cells_all()
            if wanted(cell.row, options.only) and wanted(cell.server, options.server)
            and wanted(cell.stand, options.stand)
            and (not options.bars or bars.needed(cell, options.judged))
            and (not options.bets or cell.kind in cells_module.BET_KINDS)
            and (not options.connections or cell.connections in options.connections)]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="rounds, whose medians are reported")
    parser.add_argument("--seconds", type=int, default=8, help="duration of each cell")
    parser.add_argument("--players", type=int, default=100000, help="players of the wallet")
    for name, of in (("only", "row"), ("server", "server"), ("stand", "stand")):
        names = "; ".join(dict.fromkeys(getattr(cell, of) for cell in cells_module.cells_all()))
        parser.add_argument(f"--{name}", action="append", default=[], metavar=of.upper(),
                            help=f"only cells whose {of} contains this text; one of: {names}")
    parser.add_argument("--connections", action="append", type=int, default=[],
                        help="only cells with 1, 16, 64 or 256 connections; the last four options may be "
                             "given several times")
    parser.add_argument("--bars", action="store_true",
                        help="only the cells that the targets need")
    parser.add_argument("--bets", action="store_true",
                        help="only bets, results and refunds beside the peers in PHP and Node, and their "
                             "targets")
    parser.add_argument("--install", action="store_true",
                        help="only install missing packages")
    parser.add_argument("--set", action="append", type=setting, default=[], metavar="NAME=VALUE",
                        help="a setting of creditbridge.conf; may be given several times")
    parser.add_argument("--threads", type=int, default=THREADS,
                        help="threads of all workers together, except under mod_fcgid; at least half of the "
                             "connections")
    parser.add_argument("--mpm", choices=("event", "worker"), default=cb.Apache.mpm,
                        help="MPM of each Apache, also of the peer's; default: %(default)s, as Debian's")
    busy.add_options(parser)
    add_eager_client(parser)
    parser.add_argument("--no-sizes", action="store_true", help="do not measure sizes and starts")
    parser.add_argument("--judge", action="store_true",
                        help="exit with 1 if a target is missed or was not measured")
    report.add_out(parser)
    options = parser.parse_args()
    options.judged = (bars.BUSY_BARS if options.beside else bars.BET_BARS if options.bets
                      else bars.BARS + bars.BET_BARS)
    return options


def main():
    options = parse()
    if not chosen(options):
        raise SystemExit("FAILED: there is no such cell")
    install()
    if options.install:
        return 0
    cb.Apache.mpm = options.mpm
    with everything_ends() as ends:
        stands = Stands(options, ends.folder("/dev/shm"))
        run = Run(options, stands)
        try:
            with busy.beside(options.beside, run.machine):
                run.all()
        finally:
            judged = report.write(run, stands.absent, options)
        stands.close()
    for failure in run.failures:
        print(f"FAILED: {failure}")
    return 1 if run.failures or (options.judge and bars.missed(judged)) else 0


if __name__ == "__main__":
    sys.exit(main())
