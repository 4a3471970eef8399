#!/usr/bin/python3
"""The cost of keeping refused calls on disk, for transfers.

Two services stand side by side: one keeps refused calls (refused_keep_mib = 64), the other does not (0). wrk
makes transfers of one dealer on lighttpd as fast as they are answered, on each of them in turn, beside the same
refused calls:

    calls   another dealer's transfers out above the balance (402), CALLS_PER_S a second
    flood   wrong signatures (401) from one address, as fast as they are answered on FLOOD_CONNECTIONS
    all     as calls; the service that keeps them also has 8 readers of the feed, as in feeds.py, and its
            metrics are read each second

Prints the median of the rounds' ratios, and the target; writes refused.json into --out. Exits with 1 if a call
of the transfers failed, or if no refused call was kept, with --judge also if a target is missed. Run nothing
else on the machine meanwhile.
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
from feeds import READERS, Reader  # noqa: E402
from guard import everything_ends  # noqa: E402
from stands import Wallet, cb  # noqa: E402

KINDS = ("calls", "flood", "all")
ARMS = {"off": 0, "kept": 64}  # refused_keep_mib
PLAYERS = 10000
CONNECTIONS = 64
CALLS_PER_S = 100
FLOOD_CONNECTIONS = 8
WARM_S = 2
BAR = 0.97


class Calls(threading.Thread):
    """Transfers out of a dealer whose player has no credit."""

    def __init__(self, server, dealer, run):
        super().__init__(daemon=True)
        self.server, self.dealer, self.run_id = server, dealer, run
        self.stopping = threading.Event()
        self.count = 0
        self.failures = []

    def run(self):
        begun = time.monotonic()
        while not self.stopping.is_set():
            self.count += 1
            answer = cb.call(self.server, "POST", cb.TRANSFER_OUT, {
                "user_id": "alice", "amount": 1,
                "request_transaction_id": f"{self.run_id}-{self.count}"}, dealer=self.dealer)
            if answer.status != 402:
                self.failures.append(repr(answer))
            self.stopping.wait(max(0.0, begun + self.count / CALLS_PER_S - time.monotonic()))


class Flood(threading.Thread):
    """wrk with a key that is not the dealer's."""

    def __init__(self, stand, seconds):
        super().__init__(daemon=True)
        self.stand, self.seconds = stand, seconds
        self.stopping = threading.Event()
        self.count = 0
        self.failures = []

    def run(self):
        row = wrk.run(self.stand.server.base_url, "transfer-in", (self.stand.wallet.dealer[0], "0" * 64), PLAYERS,
                      "flood", connections=FLOOD_CONNECTIONS, seconds=self.seconds)
        self.count = row["refused"]


class Scrapes(threading.Thread):
    """Reads the metrics each second, as Prometheus does four times as seldom."""

    def __init__(self, instance):
        super().__init__(daemon=True)
        self.instance = instance
        self.stopping = threading.Event()
        self.failures = []

    def run(self):
        while not self.stopping.wait(1):
            if "creditbridge_refused_calls_total" not in self.instance.ctl("metrics"):
                self.failures.append("no metrics")


class Stand:
    def __init__(self, mib):
        self.keeps = mib > 0
        self.runs = 0
        self.wallet = Wallet(PLAYERS, ("lighttpd",), settings={"refused_keep_mib": mib})
        self.server = self.wallet.servers["lighttpd"]
        self.other = self.wallet.instance.dealer_add("other")
        self.wallet.instance.player_add("other", "alice")
        self.readers = [self.wallet.instance.dealer_add(f"reader{number}") for number in range(READERS)]
        self.transfers(WARM_S)

    def watchers(self):
        """What else the service does in the case `all`."""
        if not self.keeps:
            return []
        readers = [Reader(self.server, dealer, True) for dealer in self.readers]
        newest = self.wallet.instance.ctl_json("status")["last_transaction_id"]
        for reader in readers:
            reader.after = newest  # it has read what was before
        return [*readers, Scrapes(self.wallet.instance)]

    def transfers(self, seconds):
        self.runs += 1
        row = wrk.run(self.server.base_url, "transfer-in", self.wallet.dealer, PLAYERS,
                      f"r{self.runs}-", connections=CONNECTIONS, seconds=seconds)
        row["rate"] = row["requests"] / row["seconds"]
        return row

    def beside(self, kind, seconds):
        thread = (Flood(self, seconds) if kind == "flood"
                  else Calls(self.server, self.other, f"c{self.runs}"))
        threads = [thread, *(self.watchers() if kind == "all" else [])]
        before = self.cpu_s()
        for each in threads:
            each.start()
        row = self.transfers(seconds)
        for each in threads:
            each.stopping.set()
        for each in threads:
            each.join(30)
        row["beside"] = thread.count
        row["failures"] = [text for each in threads for text in each.failures]
        row["cpu_us"] = (self.cpu_s() - before) * 1e6 / (row["requests"] + row["beside"])
        return row

    def cpu_s(self):
        """Processor time of the web server, the workers and the ledger. It depends less on what else the machine
        does than the rate."""
        return sum(sum(measure.cpu_s(pids).values()) for pids in self.wallet.parts("lighttpd").values())

    def answers(self):
        """The answers to transfers so far that were none, by code and error."""
        return re.findall(r'requests_total\{operation="transfer-in",(code="[45].*"\} \d+)',
                          self.wallet.instance.ctl("metrics"))

    def kept_bytes(self):
        return self.wallet.instance.ctl_json("status")["refused_bytes"]


def run(options):
    rows, failures = collections.defaultdict(list), []
    stands = {}
    try:
        for arm, mib in ARMS.items():
            stands[arm] = Stand(mib)
        for number in range(options.rounds):
            for kind in options.only or KINDS:
                # Each goes first in every other round.
                order = list(ARMS) if number % 2 else list(ARMS)[::-1]
                found = {arm: stands[arm].beside(kind, options.seconds) for arm in order}
                for arm, row in found.items():
                    failures += row.pop("failures")
                    if row["refused"] + row["broken"] + row["late"]:
                        failures.append(f"{kind}, {arm}: {row}; {stands[arm].answers()}")
                rows[kind].append({**found, "ratio": found["kept"]["rate"] / found["off"]["rate"],
                                   "cpu_ratio": found["kept"]["cpu_us"] / found["off"]["cpu_us"]})
                print(f"# {kind}: {found['off']['rate']:.0f} transfers a second without, "
                      f"{found['kept']['rate']:.0f} with refused calls on disk; beside "
                      f"{found['off']['beside']} and {found['kept']['beside']} refused calls; {found['off']['cpu_us']:.1f} and "
                      f"{found['kept']['cpu_us']:.1f} us of processor time a call", flush=True)
        if not stands["kept"].kept_bytes() or stands["off"].kept_bytes():
            failures.append("refused calls were not kept, or were kept in the other service")
    finally:
        for stand in stands.values():
            stand.wallet.close()
    return rows, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="rounds, whose medians are reported")
    parser.add_argument("--seconds", type=int, default=5, help="duration of each measurement")
    parser.add_argument("--only", action="append", choices=KINDS, default=[])
    parser.add_argument("--judge", action="store_true", help="exit with 1 if a target is missed")
    report.add_out(parser)
    options = parser.parse_args()
    with everything_ends():
        rows, failures = run(options)
    bars = [(f"{kind}: rate with refused calls kept on disk, of that without",
             statistics.median(row["ratio"] for row in found)) for kind, found in rows.items()]
    missed = report.below(bars, BAR)
    for kind, found in rows.items():
        ratio = statistics.median(row["cpu_ratio"] for row in found)
        print(f"# {kind}: processor time of a call with refused calls kept, of that without: {ratio:.3f}")
    for failure in failures:
        print(f"FAILED: {failure}")
    out = pathlib.Path(options.out)
    (out / "refused.json").write_text(json.dumps(
        {"cpus": os.cpu_count(), "cases": rows, "bars": bars, "failures": failures}, indent=1) + "\n")
    return 1 if failures or (options.judge and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
