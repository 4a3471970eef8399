#!/usr/bin/python3
"""The cost of readers of the feed for transfers.

wrk makes transfers of one dealer on lighttpd as fast as they are answered, without readers and beside READERS
of them, in turn, so that both see the same machine:

    others   each reader is another dealer's and waits for a transaction, as a dealer's own software does; a
             transfer of each dealer comes now and then
    own      each reader is the dealer's that transfers, and reads 1000 items a second

Prints the median of the rounds' ratios, and the target, which is for others: their readers read little. Readers
of the dealer's own transfers cost what reading costs, and their own processor time, since they share the machine;
so what an item takes of the service's processor time is printed, too. Writes feeds.json into --out. Exits with 1 if
a call failed, with --judge also if the target is missed. Run nothing else on the machine meanwhile.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measure  # noqa: E402
import report  # noqa: E402
import wrk  # noqa: E402
from guard import everything_ends  # noqa: E402
from stands import Wallet, cb  # noqa: E402

from cb_feed import FEED  # noqa: E402

READERS = 8
KINDS = ("others", "own")
JUDGED = "others"
PLAYERS = 10000
CONNECTIONS = 64
LIMIT = 1000
WAIT_MS = 5000
OWN_PERIOD_S = 1.0
OTHERS_PERIOD_S = 0.5
WARM_S = 2
NEXT = re.compile(rb'"next":\s*(\d+)')
BAR = 0.97


class Reader(threading.Thread):
    """Reads a dealer's feed. @waits: it waits for items, and otherwise reads a page each second."""

    def __init__(self, server, dealer, waits):
        super().__init__(daemon=True)
        self.server, self.dealer, self.waits = server, dealer, waits
        self.stopping = threading.Event()
        self.after = self.items = self.calls = 0
        self.failures = []

    def page(self):
        body = {"after": self.after, "limit": LIMIT, "request_timestamp": cb.now_ms(),
                "wait_ms": WAIT_MS if self.waits else 0}
        answer = cb.call(self.server, "POST", FEED, body, dealer=self.dealer, timeout=30)
        self.calls += 1
        if answer.status != 200:
            self.failures.append(repr(answer))
            time.sleep(1)
            return
        # The machine is the readers' too: to parse a page would cost as much as to make it.
        self.after = int(NEXT.search(answer.body)[1])
        self.items += answer.body.count(b'"transaction_id"')

    def run(self):
        while not self.stopping.is_set():
            begun = time.monotonic()
            self.page()
            if not self.waits:
                self.stopping.wait(max(0.0, begun + OWN_PERIOD_S - time.monotonic()))


class Visits(threading.Thread):
    """A transfer of each of @dealers every OTHERS_PERIOD_S, so that their readers have something."""

    def __init__(self, server, dealers, run):
        super().__init__(daemon=True)
        self.server, self.dealers, self.run_id = server, dealers, run
        self.stopping = threading.Event()

    def run(self):
        number = 0
        while not self.stopping.wait(OTHERS_PERIOD_S):
            for dealer in self.dealers:
                number += 1
                cb.call(self.server, "POST", cb.TRANSFER_IN, {
                    "user_id": "alice", "amount": 1,
                    "request_transaction_id": f"{self.run_id}-{number}"}, dealer=dealer)


class Stand:
    def __init__(self, options):
        self.options, self.runs = options, 0
        self.wallet = Wallet(PLAYERS, ("lighttpd",))
        instance = self.wallet.instance
        self.server = self.wallet.servers["lighttpd"]
        self.others = [instance.dealer_add(f"reader{number}") for number in range(READERS)]
        for dealer in self.others:
            instance.player_add(dealer.casino_id, "alice")
        self.busy = cb.Dealer(*self.wallet.dealer, "transfer")
        self.transfers(WARM_S)

    def transfers(self, seconds):
        self.runs += 1
        row = wrk.run(self.server.base_url, "transfer-in", self.wallet.dealer, PLAYERS,
                      f"f{self.runs}-", connections=CONNECTIONS, seconds=seconds)
        row["rate"] = row["requests"] / row["seconds"]
        return row

    def beside(self, kind):
        """Transfers beside the readers, and what these read."""
        dealers = self.others if kind == "others" else [self.busy] * READERS
        readers = [Reader(self.server, dealer, kind == "others") for dealer in dealers]
        if kind == "others":
            newest = self.wallet.instance.ctl_json("status")["last_transaction_id"]
            for reader in readers:
                reader.after = newest  # it has read what was before
        threads = [*readers, *([Visits(self.server, self.others, f"v{self.runs}")]
                               if kind == "others" else [])]
        for thread in threads:
            thread.start()
        row = self.transfers(self.options.seconds)
        for thread in threads:
            thread.stopping.set()
        for thread in threads:
            thread.join(WAIT_MS / 1000 + 30)
        return self.counted(readers, row)

    def counted(self, readers, row):
        row["items"] = sum(reader.items for reader in readers)
        row["calls"] = sum(reader.calls for reader in readers)
        row["failures"] = [text for reader in readers for text in reader.failures]
        return row

    def cpu_s(self):
        """Processor time of the web server, the workers and the ledger."""
        return sum(sum(measure.cpu_s(pids).values()) for pids in self.wallet.parts("lighttpd").values())

    def alone(self):
        """What readers of the dealer's own transfers read while there are no further ones."""
        readers = [Reader(self.server, self.busy, False) for _ in range(READERS)]
        before = self.cpu_s()
        for reader in readers:
            reader.start()
        time.sleep(self.options.seconds)
        for reader in readers:
            reader.stopping.set()
        for reader in readers:
            reader.join()
        row = self.counted(readers, {})
        row["item_us"] = (self.cpu_s() - before) * 1e6 / max(1, row["items"])
        return row


def run(options):
    rows, failures = collections.defaultdict(list), []
    stand = Stand(options)
    try:
        for _ in range(options.rounds):
            for kind in options.only or KINDS:
                without = stand.transfers(options.seconds)
                beside = stand.beside(kind)
                failures += beside.pop("failures")
                failures += [f"{kind}: {row}" for row in (without, beside)
                             if row["refused"] + row["broken"] + row["late"]]
                rows[kind].append({"without": without, "beside": beside,
                                   "ratio": beside["rate"] / without["rate"]})
                print(f"# {kind}: {without['rate']:.0f} transfers a second, beside {READERS} readers "
                      f"{beside['rate']:.0f}; p99 {without['p99_ms']:.1f} and {beside['p99_ms']:.1f} ms; "
                      f"{beside['calls']} calls read {beside['items']} items", flush=True)
        alone = stand.alone()
        failures += alone.pop("failures")
        print(f"# an item takes {alone['item_us']:.1f} us of the service's processor time", flush=True)
    finally:
        stand.wallet.close()
    return rows, alone, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds, whose medians are reported")
    parser.add_argument("--seconds", type=int, default=8, help="duration of each measurement")
    parser.add_argument("--only", action="append", choices=KINDS, default=[])
    parser.add_argument("--judge", action="store_true", help="exit with 1 if a target is missed")
    report.add_out(parser)
    options = parser.parse_args()
    with everything_ends():
        rows, alone, failures = run(options)
    bars = [(f"{kind}: rate beside {READERS} readers, of that without",
             statistics.median(row["ratio"] for row in found)) for kind, found in rows.items()]
    for what, ratio in bars:
        print(f"# {what}: {ratio:.3f}")
    missed = report.below([bar for kind, bar in zip(rows, bars) if kind == JUDGED], BAR)
    for failure in failures:
        print(f"FAILED: {failure}")
    out = pathlib.Path(options.out)
    (out / "feeds.json").write_text(json.dumps(
        {"cpus": os.cpu_count(), "cases": rows, "bars": bars, "alone": alone, "failures": failures}, indent=1) + "\n")
    return 1 if failures or (options.judge and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
