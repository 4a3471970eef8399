#!/usr/bin/python3
"""The service runs for a day of sweeps under mixed calls, and only its data grow.

    soak.py [--calls N] [--bulk N] [--sweeps N] [--seed N] [--state DIR]

Callers move credit both ways, read, repeat, are refused, play rounds and scrape the metrics, on
lighttpd; before each sweep the wall clock is set a minute ahead (wall.c); after each tenth a backup
is made into the same directory. Each answer must be the right one, and:

    resident memory   of each process, after the first tenth, no more than MEMORY_KIB above what it had
                      then: what malloc's arenas do; the engine ENGINE_KIB, for of a short run's first
                      tenth neither the cache of CACHE_MIB nor the 1,000 refused requests that it
                      remembers are full. Of 10 million calls none may keep a byte
    descriptors       likewise, DESCRIPTORS above
    the database's log  bounded: log_keep_mib, what is written between two looks at it, and what is
                      written while a backup holds it (with --bulk not that: it is looked at from
                      AFTER_BACKUP_S after each backup on)
    lines of logs     LINES_KIB, however many calls (the level is warning)
    the data          each half of the calls adds as much to the tables, within a factor of two
    the dealer's book each round pays its stake: the players end with the credit of the beginning

Beside the --calls of these callers, wrk makes --bulk transfers in, as fast as they are taken.

With --state the data are kept there, and a run that was ended goes on: memory is then judged from a
tenth of what is left on. Prints TAP, the seed and a line of figures; a line after each tenth.
"""
import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_dealer import ReferenceDealer  # noqa: E402
from soak_bulk import Bulk  # noqa: E402
from soak_calls import BANK, CASINO, CLIENT, Caller  # noqa: E402
from wall import Wall  # noqa: E402

CALLERS = 4
BULK_PLAYERS = 1000
OPENING = 10 ** 9  # of a player at the dealer
DRAINS_MAX = 30
MEMORY_KIB = 2048
ENGINE_KIB = 8192
DESCRIPTORS = 8
CACHE_MIB = 2
LOG_KEEP_MIB = 8
LOG_MIB = LOG_KEEP_MIB + 24
BULK_LOG_MIB = 64  # more, of what is written between two looks
AFTER_BACKUP_S = 5.0  # what it held goes at the first checkpoint that began after it
LONG_S = 1800  # of a backup or a check of 10 million movements
LINES_KIB = 256
SAMPLE_S = 0.25
SETTINGS = {
    "callback_networks": ["127.0.0.0/8"], "log_level": "warning", "ledger_cache_mib": CACHE_MIB,
    "log_keep_mib": LOG_KEEP_MIB, "checkpoint_kib": 2048,
}
Plan = collections.namedtuple("Plan", "seed run port platform_port keys wall done ended failures")


def tree_bytes(path, pattern):
    total = 0
    for file in pathlib.Path(path).rglob(pattern):
        try:
            total += file.stat().st_size
        except FileNotFoundError:  # A log that was removed just now.
            continue
    return total


class Samples:
    """What each process had before and after the first tenth."""

    def __init__(self):
        self.early = {}
        self.late = {}
        self.log_bytes = 0
        self.unseen = set()

    def take(self, processes, late):
        for name, pid in processes.items():
            try:
                pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
                count = len(os.listdir(f"/proc/{pid}/fd"))
            except PermissionError:  # Only root may read the figures of a process with keys.
                count = 0
                self.unseen.add(name)
            except FileNotFoundError:
                raise AssertionError(f"{name}, process {pid}, has ended") from None
            kept = self.late if late else self.early
            before = kept.get(name, (0, 0))
            kept[name] = (max(before[0], pages * os.sysconf("SC_PAGE_SIZE") // 1024),
                          max(before[1], count))

    def judge(self):
        if self.unseen:
            print(f"# descriptors not seen, which only root may: {', '.join(sorted(self.unseen))}",
                  flush=True)
        for name, (memory, count) in self.late.items():
            first_memory, first_count = self.early[name]
            check(memory <= first_memory + (ENGINE_KIB if name == "engine" else MEMORY_KIB),
                  f"{name} grew from {first_memory} to {memory} KiB")
            check(count <= first_count + DESCRIPTORS,
                  f"{name}: {first_count} descriptors and then {count}")

    def most(self):
        return max((self.late[name][0] - self.early[name][0], name) for name in self.late)


class Soak:
    def __init__(self, stack, options):
        self.options = options
        self.wall = stack.enter_context(Wall(WALL_SPARES="lighttpd"))
        self.dealer = stack.enter_context(ReferenceDealer("--opening-balance", OPENING))
        self.wallet = stack.enter_context(cb.Instance("cbsoak", SETTINGS, state=options.state))
        self.server = stack.enter_context(cb.Lighttpd(self.wallet))
        self.backups = self.wallet.dir / "backup"
        self.backups.mkdir(mode=0o700)
        self.progress = pathlib.Path(f"{options.state}.json") if options.state else None
        self.before = {"calls": 0, "sweeps": 0, "keys": None, "runs": 0}
        if self.progress and self.progress.exists():
            self.before = json.loads(self.progress.read_text())
        self.keys = self.before["keys"] or self.prepare()
        # The reference dealer is another one in each run, at another port.
        self.wallet.ctl("dealer", "set", CASINO, "--url", self.dealer.base_url)
        self.dealer.keys_write(self.keys[CASINO])
        # Of all that is left, wrk makes the same share as of all.
        self.calls = options.calls + options.bulk - self.before["calls"]
        self.bulk = Bulk(f"http://127.0.0.1:{self.server.port}", BANK, self.keys[BANK],
                         BULK_PLAYERS, f"bulk{self.before['runs']}",
                         self.calls * options.bulk // (options.calls + options.bulk))
        self.sweeps = options.sweeps - self.before["sweeps"]
        check(self.calls >= CALLERS, "all calls were made before")
        self.swept = 0
        self.look_at_log_from = 0.0
        self.samples = Samples()
        self.sizes = []
        self.callers = []
        stack.callback(self.end)

    def prepare(self):
        keys = {BANK: self.wallet.dealer_add(BANK).key,
                CASINO: self.wallet.dealer_add(
                    CASINO, "--url", self.dealer.base_url, "--allow-http", "--max-inflight", 2,
                    mode="seamless").key,
                CLIENT: self.wallet.ctl_json("client", "add", CLIENT)["key"]}
        for number in range(CALLERS):
            for casino in (BANK, CASINO):
                self.wallet.player_add(casino, f"user-{number}")
        for number in range(BULK_PLAYERS if self.options.bulk else 0):
            self.wallet.player_add(BANK, f"u{number}")
        return keys

    def processes(self):
        found = {"ledger": self.wallet.ledger.pid, "engine": self.wallet.engine_pids()[0],
                 "lighttpd": self.server.child.pid}
        for serve in ("wallet", "platform"):
            for number, pid in enumerate(self.server.worker_pids(serve)):
                found[f"{serve} worker {number + 1}"] = pid
        return found

    def note(self, called):
        """What a run that goes on begins with: another number of its own, whatever it has done."""
        if self.progress:
            self.progress.write_text(json.dumps({
                "calls": self.before["calls"] + called,
                "sweeps": self.before["sweeps"] + self.swept, "keys": self.keys,
                "runs": self.before["runs"] + 1}))

    def start(self):
        self.note(0)
        self.plan = Plan(
            self.options.seed, f"run{self.before['runs']}", self.server.port,
            self.server.platform_port, self.keys, self.wall,
            *([multiprocessing.Value("Q", 0, lock=False) for _ in range(CALLERS)]
              for _ in range(2)),
            multiprocessing.SimpleQueue())
        for number in range(CALLERS):
            self.callers.append(multiprocessing.Process(
                target=lambda number=number: Caller(number, self.plan).run(
                    (self.calls - self.bulk.calls) // CALLERS), daemon=True))
            self.callers[-1].start()
        self.bulk.start()

    def end(self):
        self.bulk.end()
        for caller in self.callers:
            caller.terminate()
            caller.join()

    def called(self):
        return sum(value.value for value in self.plan.done) + self.bulk.done

    def sweep(self):
        """A minute of the wall clock later, as cron does."""
        self.wall.leap(self.wall.ahead_s + 60)
        done = subprocess.run([cb.find_program("creditbridge-sweep"), "--config",
                               self.wallet.config], capture_output=True, text=True, timeout=60,
                              check=False)
        equal(done.returncode, 0, f"a sweep: {done.stdout}{done.stderr}")
        self.swept += 1

    def run(self):
        self.start()
        processes = self.processes()
        tenth = 0
        sampled = 0.0
        while any(caller.is_alive() for caller in [*self.callers, self.bulk]):
            check(self.plan.failures.empty() and not self.bulk.failures, "a caller failed")
            called = self.called()
            if self.swept < self.sweeps and self.swept * self.calls <= called * self.sweeps:
                self.sweep()
            if time.monotonic() > sampled + SAMPLE_S:
                sampled = time.monotonic()
                self.look(processes, called)
            while called * 10 >= (tenth + 1) * self.calls and tenth < 10:
                tenth += 1
                self.pass_tenth(tenth, called)
            time.sleep(0.005)
        while self.swept < self.sweeps:
            self.sweep()
        self.drain()
        self.look(processes, self.calls)
        self.pass_tenth(10, self.called())

    def drain(self):
        """Sends the results for which the dealer was busy or slow at the very end."""
        due = ("callback", "list", "--state", "due", "--limit", 1)
        for _ in range(DRAINS_MAX):
            self.sweep()
            if not self.wallet.ctl_json(*due)["callbacks"]:
                return
            time.sleep(1)
        raise AssertionError("results are still due")

    def look(self, processes, called):
        self.samples.take(processes, called * 10 > self.calls)
        if time.monotonic() >= self.look_at_log_from:
            self.samples.log_bytes = max(self.samples.log_bytes,
                                         tree_bytes(self.wallet.state, "log.*"))

    def pass_tenth(self, tenth, called):
        if tenth < 10:
            self.wallet.ctl("backup", self.backups, seconds=LONG_S)
            if self.options.bulk:
                self.look_at_log_from = time.monotonic() + AFTER_BACKUP_S
        if not self.sizes or called > self.sizes[-1][0]:
            self.sizes.append((called, tree_bytes(self.wallet.state, "*.db")))
        if self.options.calls + self.options.bulk > 100000:
            print(f"# {tenth}/10: {called} calls, {self.swept} sweeps, "
                  f"{self.sizes[-1][1] >> 20} MiB", flush=True)
        self.note(called)

    def judge(self):
        if not self.plan.failures.empty():
            raise AssertionError(self.plan.failures.get())
        equal(self.bulk.failures, [], "calls by wrk")
        mine = sum(value.value for value in self.plan.done)
        check(mine >= self.calls - self.bulk.calls - CALLERS, f"the callers made {mine} calls")
        check(self.bulk.done >= self.bulk.calls, f"wrk made {self.bulk.done} calls")
        equal([caller.exitcode for caller in self.callers], [0] * CALLERS, "how callers ended")
        check(len(self.sizes) > 2, "too few calls to see how data grow")
        ended = sum(value.value for value in self.plan.ended)
        check(ended <= CALLERS + self.options.calls // 1000,
              f"{ended} connections ended without an answer")
        lines = tree_bytes(self.wallet.logs, "*.log")
        first, middle, last = self.sizes[0], self.sizes[len(self.sizes) // 2], self.sizes[-1]
        rates = [(after[1] - before[1]) / (after[0] - before[0])
                 for before, after in ((first, middle), (middle, last))]
        grown, who = self.samples.most()
        print(f"# {self.called()} calls, {self.swept} sweeps, {len(self.sizes) - 1} backups: the "
              f"most that grew: {who}, {grown} KiB; database's log at most "
              f"{self.samples.log_bytes >> 10} KiB, lines of logs {lines} bytes; connections "
              f"that ended {ended}; of wrk {self.bulk.done} calls, {self.bulk.slowest_ms:.0f} ms the "
              f"slowest; tables "
              f"{rates[0]:.0f} and then {rates[1]:.0f} bytes a call", flush=True)
        self.samples.judge()
        most = LOG_MIB + (BULK_LOG_MIB if self.options.bulk else 0)
        check(self.samples.log_bytes, "the database's log was not measured")
        check(self.samples.log_bytes <= most << 20, "the database's log is not bounded")
        check(lines <= LINES_KIB << 10, f"{lines} bytes of lines in logs")
        check(rates[0] / 2 <= rates[1] <= rates[0] * 2, "the data grow ever faster or slower")
        self.judge_book()
        done = self.wallet.ctl_run("check", seconds=LONG_S)
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")
        equal(self.wallet.stop(), 0, "exit code of the ledger")

    def judge_book(self):
        book = self.dealer.state()
        check(book["totals"]["conserved"], "the dealer's own sums do not agree")
        if self.before["runs"]:
            # This dealer may have got results of bets that the dealer of an earlier run took.
            return
        check(book["users"], "no round was played")
        equal({row["user_id"]: row["balance"] for row in book["users"]
               if row["balance"] != OPENING}, {}, "balances that rounds changed at the dealer")


def case_soak(options):
    with contextlib.ExitStack() as stack:
        soak = Soak(stack, options)
        try:
            soak.run()
        except AssertionError:
            if soak.plan.failures.empty() and not soak.bulk.failures:
                raise
        soak.judge()


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--calls", type=int, default=30000)
    parser.add_argument("--bulk", type=int, default=0, help="as many more, by wrk")
    parser.add_argument("--sweeps", type=int, default=120)
    parser.add_argument("--state", help="the data are kept there, and gone on with")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    return parser.parse_args()


def main():
    options = arguments()
    print(f"# SEED={options.seed}", flush=True)
    return cb.run_cases([("soak", lambda: case_soak(options))],
                        seconds=300 + options.calls // 200 + options.bulk // 1000)


if __name__ == "__main__":
    sys.exit(main())
