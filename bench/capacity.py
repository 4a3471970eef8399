#!/usr/bin/python3
"""What a call costs: processor time, disk and log, and the memory of a dealer. Prints them, and what an installation
with a number of calls a second needs (doc/capacity.md).

Calls go through lighttpd: transfers of a transfer wallet; rounds of a seamless wallet, which are a bet and a result
with their two callbacks. Processor time is that of web server, workers and ledger, not of the callers and dealers.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
import cb  # noqa: E402
from cb_metrics import parse  # noqa: E402
from cb_platform import BETS, LOOPBACK, RESULTS, client_add, platform_call, seamless_dealer  # noqa: E402

THREADS = 8
PLAYERS = 100
DAY_S = 86400
YEAR_S = 365 * DAY_S
# What retention deletes after retention_days; the other tables only grow.
DELETED = {"callback_body", "attempt"}
HEADROOM = 2  # a processor that is busy for half of the time answers quickly
RATES = (1, 10, 100, 1000)
KIB, MIB, GIB = 1024, 1024 ** 2, 1024 ** 3
TICK = os.sysconf("SC_CLK_TCK")


def processor_s(pids):
    total = 0
    for pid in pids:
        # After the name, which may have spaces: user and system time are the 12th and 13th of the rest.
        rest = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(rest[11]) + int(rest[12])
    return total / TICK


def memory_bytes(pids):
    total = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total * KIB


class Stand:
    """A wallet under lighttpd, with a dealer of each kind and a game server."""

    def __init__(self, level):
        self.wallet = cb.Instance("cbcapacity", settings={**LOOPBACK, "log_level": level, "checkpoint_kib": 4096})
        self.plain = self.wallet.dealer_add("plain")
        self.seamless, self.reference = seamless_dealer(self.wallet, "own")
        self.client = client_add(self.wallet, "game")
        self.server = cb.Lighttpd(self.wallet, processes=1, threads=THREADS)
        for number in range(PLAYERS):
            self.wallet.player_add("plain", f"u{number}")
            self.wallet.player_add("own", f"u{number}")
        self.reference.set_balance("u0", 1000)
        self.number = 0

    def close(self):
        self.server.stop()
        self.reference.close()
        self.wallet.close()

    def pids(self):
        return {*self.server.worker_pids(), self.server.child.pid, self.wallet.ledger.pid,
                *self.wallet.engine_pids()}

    def tables(self):
        return {row["name"]: row["bytes"] for row in self.wallet.ctl_json("status")["tables"]}

    def log_bytes(self):
        return sum(path.stat().st_size for path in self.wallet.dir.rglob("*.log"))

    def transfer(self, number):
        done = cb.call(self.server, "POST", cb.TRANSFER_IN, {
            "user_id": f"u{number % PLAYERS}", "amount": 1.25, "request_transaction_id": f"t-{number}"},
            dealer=self.plain)
        cb.equal(done.status, 200, f"{done}")

    def play(self, number):
        player = {"casino_id": "own", "user_id": f"u{number % PLAYERS}", "game_id": f"g-{number}"}
        for path, words in ((BETS, {"bet_amount": 1, "remark": "roulette", "user_bet": {"red": 1}}),
                            (RESULTS, {"result": "win", "payout_amount": 2, "remark": "roulette",
                                       "game_result": {"number": 7}})):
            done = platform_call(self.server, path, {
                **player, **words, "request_transaction_id": f"{path[-4:]}-{number}"}, client=self.client)
            cb.equal(done.status, 200, f"{done}")

    def cost(self, what, times, calls):
        """The costs of one of @calls, of @times repetitions of @what."""
        pids = self.pids()
        before = processor_s(pids), self.tables(), self.log_bytes()
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(what, range(self.number, self.number + times)))
        self.number += times
        tables = self.tables()
        grown = {name: tables[name] - before[1][name] for name in tables}
        count = times * calls
        return {"processor_ms": 1000 * (processor_s(pids) - before[0]) / count,
                "kept_bytes": sum(size for name, size in grown.items() if name not in DELETED) / count,
                "deleted_bytes": sum(size for name, size in grown.items() if name in DELETED) / count,
                "log_bytes": (self.log_bytes() - before[2]) / count}

    def dealer_cost(self, count):
        """What a dealer with a player costs the ledger and the workers, and adds to /metrics."""
        def figures():
            text = self.wallet.ctl("metrics")
            parse(text)
            return memory_bytes(self.pids()), len(text)
        before = figures()
        for number in range(count):
            dealer = self.wallet.dealer_add(f"d{number}")
            self.wallet.player_add(dealer.casino_id, "u")
        cb.wait_until(lambda: cb.call(self.server, "POST", cb.BALANCE, {
            "user_id": "u", "request_timestamp": cb.now_ms()}, dealer=dealer).status == 200, 20, "its key")
        after = figures()
        return {"memory_bytes": max(0, after[0] - before[0]) / count, "metrics_bytes": (after[1] - before[1]) / count}


def measure(options):
    results = {}
    for level in ("info", "warning"):
        stand = Stand(level)
        try:
            stand.cost(stand.transfer, options.calls // 10, 1)  # the first ones fill caches
            results[level] = {"transfer": stand.cost(stand.transfer, options.calls, 1),
                              "call of a round": stand.cost(stand.play, options.calls // 4, 2)}
            results["memory_bytes"] = memory_bytes(stand.pids())
            if level == "info":
                results["dealer"] = stand.dealer_cost(options.dealers)
        finally:
            stand.close()
    return results


def size(number):
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:.0f} B"


def show(results):
    for kind, cost in results["info"].items():
        print(f"{kind}: {cost['processor_ms']:.2f} ms of a processor, {size(cost['kept_bytes'])} kept, "
              f"{size(cost['deleted_bytes'])} deleted after retention_days, log {size(cost['log_bytes'])} at info, "
              f"{size(results['warning'][kind]['log_bytes'])} at warning")
    dealer = results["dealer"]
    print(f"a dealer: {size(dealer['memory_bytes'])} of memory, {size(dealer['metrics_bytes'])} of /metrics")
    print(f"all processes: {size(results['memory_bytes'])} of memory")
    for kind, cost in results["info"].items():
        print(f"\n{kind}, calls a second on average | processors | disk a year | in 10 years | log a day")
        for rate in RATES:
            print(f"{rate} | {max(1, round(HEADROOM * rate * cost['processor_ms'] / 1000 + 0.49))} | "
                  f"{size(rate * YEAR_S * cost['kept_bytes'])} | {size(10 * rate * YEAR_S * cost['kept_bytes'])} | "
                  f"{size(rate * DAY_S * cost['log_bytes'])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000, help="transfers that are measured")
    parser.add_argument("--dealers", type=int, default=200, help="dealers that are added")
    parser.add_argument("--out", type=pathlib.Path, default=cb.builddir() / "results")
    options = parser.parse_args()
    results = measure(options)
    show(results)
    options.out.mkdir(exist_ok=True)
    (options.out / "capacity.json").write_text(json.dumps(results, indent="\t") + "\n")


if __name__ == "__main__":
    main()
