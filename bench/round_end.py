#!/usr/bin/python3
"""The end of a live round: how soon the dealer has the last result.

Dealers answer each callback after DELAY_MS (bench/late_dealer.c) and accept MAX_INFLIGHT at a time. The
bets of a round are placed first. Then POST /platform/results/batch settles them, and the sweeper of a
normal run (--for) reports them. Each time counts from the beginning of the first call until the last
answer left the dealer:

    one dealer    500 results of one batch
    20 dealers    5,000 results, 250 of each dealer, in batches of 500
    others        another dealer transfers at a steady rate, without and beside a round that ends every
                  EVERY_S seconds, in turn

Prints the median over the rounds and the targets; writes round_end.json into --out. Exits with 1 if a
callback is missing or was sent twice, with --judge also if a target is missed. Run nothing else on the
machine meanwhile.
"""
import argparse
import concurrent.futures
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import os

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report  # noqa: E402
from dealer import LateDealer  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import Failure  # noqa: E402
from neighbours import Caller, HONEST_CONNECTIONS, HONEST_RATE, TRANSFER  # noqa: E402
from stands import Wallet, cb  # noqa: E402

from cb import TRANSFER_IN  # noqa: E402
from cb_platform import Client, RESULTS_BATCH, platform_call  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
import cb_rounds  # noqa: E402

DELAY_MS = 50
MAX_INFLIGHT = 20
BATCH = 500
DEALERS = 20
RESULTS = 5000
EVERY_S = 5
PLAYERS = 1000
ONE_S, MANY_S, P99_TIMES = 2.0, 3.0, 1.1
WAIT_S = 60
NUMBERS = itertools.count(1)


class Stand:
    """A wallet behind lighttpd with DEALERS seamless dealers, and its sweeper."""

    def __init__(self):
        self.dealer = LateDealer(DELAY_MS)
        self.wallet = Wallet(PLAYERS, ("lighttpd",))
        self.instance = self.wallet.instance
        self.server = self.wallet.servers["lighttpd"]
        self.client = Client(*self.wallet.client)
        self.names = [f"table{at}" for at in range(DEALERS)]
        for name in self.names:
            self.instance.dealer_add(name, "--url", f"http://127.0.0.1:{self.dealer.port}",
                                     "--allow-http", "--max-inflight", str(MAX_INFLIGHT),
                                     mode="seamless")
            self.instance.player_add(name, "u")
        self.sweeper = subprocess.Popen(
            [str(cb.find_program("creditbridge-sweep")), "--config", str(self.instance.config),
             "--for", "12h"], stdout=subprocess.DEVNULL)
        cb_rounds.CLIENT = self.client.client_id

    def close(self):
        self.sweeper.terminate()
        self.sweeper.wait()
        self.wallet.close()
        self.dealer.close()

    def bets(self, count, names):
        """Places @count accepted bets of different games. The items of their results."""
        items = []
        with Rounds(self.instance.sockets / "edge.sock") as link:
            for name in names:
                games = [f"g{next(NUMBERS)}" for _ in range(count // len(names))]
                link.bets(name, "u", games)
                items += [{"casino_id": name, "user_id": "u", "game_id": game, "result": "win",
                           "payout_amount": 20, "game_result": {"cards": ["AS", "KD", "7H"]}}
                          for game in games]
        # A live round of several dealers: their players are mixed.
        return [item for at in range(count // len(names)) for item in items[at::count // len(names)]]

    def settle(self, items):
        body = {"request_transaction_id": f"batch-{next(NUMBERS)}", "results": items}
        answer = platform_call(self.server, RESULTS_BATCH, body, client=self.client, timeout=WAIT_S)
        states = {item.get("callback", {}).get("state") for item in answer.json["results"]}
        if answer.status != 200 or states != {"due"}:
            raise Failure(f"a batch was answered {answer.status} {states}")

    def round_end(self, items):
        """Settles all. (seconds until the dealer had the last, seconds until the calls were answered)."""
        self.dealer.received()
        begun_s = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self.settle, (items[at:at + BATCH] for at in range(0, len(items), BATCH))))
        answered_s = time.monotonic() - begun_s
        received, last_s, most = 0, 0.0, 0
        while received < len(items) and time.monotonic() < begun_s + WAIT_S:
            time.sleep(0.2)
            row = self.dealer.received()
            received, last_s, most = received + row["received"], max(last_s, row["last_s"]), max(most, row["most"])
        time.sleep(0.2)
        received += self.dealer.received()["received"]
        if received != len(items):
            raise Failure(f"{received} callbacks of {len(items)} results")
        return {"received_s": last_s - begun_s, "answered_s": answered_s, "at_once": most}

    def honest(self, seconds):
        row = Caller(TRANSFER_IN, "casino", self.wallet.dealer, TRANSFER % next(NUMBERS),
                     rate=HONEST_RATE, seconds=seconds, connections=HONEST_CONNECTIONS,
                     port=self.server.port, players=PLAYERS).finish()
        if row["answered"] != row["calls"] or row["refused"] or row["broken"]:
            raise Failure(f"not all transfers of another dealer were accepted: {row}")
        return row

    def beside(self, seconds):
        """The honest dealer's figures while rounds end."""
        rounds = [self.bets(BATCH, self.names[:1]) for _ in range(max(1, int(seconds // EVERY_S)))]
        ends = []

        def play():
            for items in rounds:
                begun_s = time.monotonic()
                ends.append(self.round_end(items)["received_s"])
                time.sleep(max(0.0, EVERY_S - (time.monotonic() - begun_s)))
        player = threading.Thread(target=play)
        player.start()
        row = self.honest(seconds)
        player.join()
        return {**row, "received_s": ends}


def measure(options):
    found = {"one": [], "many": [], "alone": [], "beside": []}
    stand = Stand()
    try:
        stand.round_end(stand.bets(BATCH, stand.names))
        for _ in range(options.rounds):
            found["one"].append(stand.round_end(stand.bets(BATCH, stand.names[:1])))
            found["many"].append(stand.round_end(stand.bets(RESULTS, stand.names)))
            print(f"# one dealer: last result after {found['one'][-1]['received_s']:.2f} s, answered after "
                  f"{found['one'][-1]['answered_s']:.2f} s; {DEALERS} dealers: "
                  f"{found['many'][-1]['received_s']:.2f} s, {found['many'][-1]['answered_s']:.2f} s",
                  flush=True)
            if options.seconds:
                found["alone"].append(stand.honest(options.seconds))
                found["beside"].append(stand.beside(options.seconds))
                print(f"# others: p99 {found['alone'][-1]['p99_ms']:.2f} ms, beside "
                      f"{found['beside'][-1]['p99_ms']:.2f} ms", flush=True)
    finally:
        stand.close()
    return found


def bars(found):
    """(what, figure, bound)"""
    rows = [(f"{BATCH} results of one dealer: s until the dealer has the last",
             statistics.median(row["received_s"] for row in found["one"]), ONE_S),
            (f"{RESULTS} results of {DEALERS} dealers: s until the dealer has the last",
             statistics.median(row["received_s"] for row in found["many"]), MANY_S)]
    if found["alone"]:
        rows.append(("other dealers' p99, times that alone", statistics.median(
            beside["p99_ms"] / alone["p99_ms"]
            for alone, beside in zip(found["alone"], found["beside"])), P99_TIMES))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds, whose medians are reported")
    parser.add_argument("--seconds", type=float, default=15,
                        help="duration of each measurement of the others; 0: none")
    parser.add_argument("--judge", action="store_true", help="exit with 1 if a target is missed")
    report.add_out(parser)
    options = parser.parse_args()
    with everything_ends():
        found = measure(options)
    missed = False
    for what, figure, bound in bars(found):
        missed |= figure > bound
        print(f"{'MISSED' if figure > bound else 'ok'}: {what}: {figure:.2f}, at most {bound}")
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "round_end.json").write_text(json.dumps(
        {"cpus": os.cpu_count(), "rounds": found, "bars": bars(found)}, indent=1) + "\n")
    return 1 if options.judge and missed else 0


if __name__ == "__main__":
    sys.exit(main())
