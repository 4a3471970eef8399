#!/usr/bin/python3
"""The cost of a hostile neighbour for other callers.

An honest dealer transfers at a steady rate, and each latency counts from the moment at which its call was
due (bench/open_load.c). It does so without a neighbour and beside one, in turn, so that both see the same
machine:

    stranger     a caller without a key sends STRANGER_RATE bodies of 64 KiB a second: without the headers,
                 for an id that does not exist, for the honest dealer's id, and for that from the dealer's
                 own address
    game server  results of the largest rounds, ROUND_RATE a second, and then all at once

Prints the median of each figure over the rounds, the median of the rounds' ratios, and the targets; writes
neighbours.json into --out. Exits with 1 if an honest call had an error, with --judge also if a target is
missed. Run nothing else on the machine meanwhile.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report  # noqa: E402
from stands import TRANSFER_DEALER, Wallet, cb  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import FCGID_CROWD_S, FCGID_SPARE, FCGID_TRIES, Failure, held  # noqa: E402
from wrk import BATCH, EAGER  # noqa: E402

from cb import TRANSFER_IN  # noqa: E402
from cb_codec import verdict  # noqa: E402
from cb_link import transfer_payload  # noqa: E402
from cb_platform import RESULTS  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
from cb_worker import UNITS, bet_payload, placed, player_ref  # noqa: E402

NEIGHBOURS = ("stranger", "game server")
SERVERS = ("lighttpd", "mod_fcgid")
PLAYERS = 10000
HONEST_RATE = 200
HONEST_CONNECTIONS = 16
HONEST_ADDRESS = "127.0.0.1"
STRANGER_RATE = 2000
STRANGER_BYTES = 64 * 1024
STRANGER_CONNECTIONS = 64
STRANGER_ADDRESS = "127.0.0.9"
NO_KEY = "0" * 64
ROUND_RATE = 4
ROUND_BETS = 256
ROUND_BET_BYTES = 4096     # of 256 together the most that a round takes
RESULT_BYTES = 60 * 1024
ROUND_CONNECTIONS = 4
CREDIT = 10**7 * UNITS
ENTRY_TRANSFER_IN = 0       # enum entry_kind
BURST = 32
BEFORE_S = 1               # a neighbour begins earlier: what its budgets hold at once is used up then
GAMES_DEALER = "games"
WARM_S = 2
P99_TIMES = 2
LEDGER_MIB = 64
SETTINGS = {}

Case = collections.namedtuple("Case", "name caller_id address")
STRANGERS = (Case("no headers", "-", STRANGER_ADDRESS),
             Case("an id that does not exist", "nobody", STRANGER_ADDRESS),
             Case("the dealer's id", TRANSFER_DEALER, STRANGER_ADDRESS),
             Case("the dealer's id and address", TRANSFER_DEALER, HONEST_ADDRESS))
TRANSFER = '{"request_transaction_id":"%d-@","user_id":"u#","amount":1.25}'


class Caller:
    """open_load at work. @body: '@' is the call's number, from @first on. @rate: calls a second."""

    def __init__(self, path, head, who, body, *, rate, seconds, connections, port,
                 address=HONEST_ADDRESS, first=0, neighbour=False, players=PLAYERS):
        words = [address, port, path, head, *who, rate, seconds, connections, players, first]
        # As SCHED_BATCH a neighbour does not interrupt the server for each answer (bench/wrk.py).
        self.child = subprocess.Popen(
            [*(BATCH if neighbour else EAGER), str(cb.find_program("bench/open_load")),
             *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.child.stdin.write(body)
        self.child.stdin.close()

    def finish(self):
        text = self.child.stdout.read()
        self.child.stdout.close()
        if self.child.wait():
            raise Failure(f"open_load: exit {self.child.returncode}")
        return json.loads(text)


class Stand:
    """A wallet under one of the web servers, and its honest dealer."""

    def __init__(self, name, seconds):
        self.name, self.seconds, self.runs = name, seconds, 0
        self.wallet = Wallet(PLAYERS, (name,), settings=SETTINGS)
        self.instance = self.wallet.instance
        self.server = self.wallet.servers[name]
        if name == "mod_fcgid":
            self.workers_start()
        self.honest(WARM_S).finish()

    def workers_start(self):
        """mod_fcgid starts further workers only while all are busy (measure.py), and a call that finds no
        free one sleeps for a second. So there is one for each connection."""
        enough = STRANGER_CONNECTIONS + HONEST_CONNECTIONS + FCGID_SPARE
        self.honest(1).finish()
        for _ in range(FCGID_TRIES):
            workers = self.wallet.parts(self.name)["worker"]
            if len(workers) >= enough:
                return
            with held(workers):
                crowd = self.honest(FCGID_CROWD_S, connections=enough)
                time.sleep(FCGID_CROWD_S)
            crowd.finish()
        raise Failure(f"mod_fcgid did not start {enough} workers")

    def honest(self, seconds, connections=HONEST_CONNECTIONS):
        self.runs += 1
        return Caller(TRANSFER_IN, "casino", self.wallet.dealer, TRANSFER % self.runs,
                      rate=HONEST_RATE, seconds=seconds, connections=connections,
                      port=self.server.port)

    def stranger(self, case):
        body = json.dumps({"user_id": "x" * (STRANGER_BYTES - 15)})
        return Caller(TRANSFER_IN, "casino", (case.caller_id, NO_KEY), body, rate=STRANGER_RATE,
                      seconds=self.seconds + 2 * BEFORE_S, connections=STRANGER_CONNECTIONS,
                      port=self.server.port, address=case.address, neighbour=True)

    def measured(self, neighbour=None):
        """(the honest dealer's figures, the neighbour's). @neighbour() begins one."""
        beside = neighbour and neighbour()
        if beside:
            time.sleep(BEFORE_S)
        row = self.honest(self.seconds).finish()
        return row, beside and beside.finish()

    def engine(self):
        """What /proc has of the ledger's engine."""
        return pathlib.Path(f"/proc/{self.instance.engine_pids()[-1]}")

    def memory_mib(self, name):
        """@name: VmRSS, now; VmHWM, the most since memory_mark()."""
        return int((self.engine() / "status").read_text().split(f"{name}:")[1].split()[0]) / 1024

    def memory_mark(self):
        (self.engine() / "clear_refs").write_text("5")

    def close(self):
        self.wallet.close()


class Games:
    """The game server. Its dealer is another than the honest one."""

    def __init__(self, stand, rounds):
        self.stand, self.client, self.settled = stand, stand.wallet.client, 0
        stand.instance.dealer_add(GAMES_DEALER)
        stand.instance.player_add(GAMES_DEALER, "u0")
        with Rounds(stand.instance.sockets / "edge.sock") as link:
            credit, = link.pipeline("transfer", (
                transfer_payload(GAMES_DEALER, ENTRY_TRANSFER_IN, "credit", "u0", CREDIT),))
            cb.equal(verdict(credit).refusal, 0, "the refusal of a transfer")
            for game in range(rounds):
                self.bets(link, game)

    def bets(self, link, game):
        """All bets of a round of the largest size."""
        user_bet = json.dumps({"x": "y" * (ROUND_BET_BYTES - 9)}).encode()
        player = player_ref(GAMES_DEALER, "u0")
        for answer in link.pipeline("bet_place", (
                bet_payload(self.client[0], player, f"g{game}", UNITS,
                            reference=f"b{game}-{bet}", user_bet=user_bet)
                for bet in range(ROUND_BETS))):
            cb.equal(placed(answer).refusal, "", "the refusal of a bet")

    def results(self, count, rate, connections):
        """Begins the results of the next @count rounds."""
        body = json.dumps({
            "request_transaction_id": "r@", "casino_id": GAMES_DEALER, "user_id": "u0",
            "game_id": "g@", "result": "win", "payout_amount": 1,
            "game_result": {"x": "y" * RESULT_BYTES}})
        first, self.settled = self.settled, self.settled + count
        return Caller(RESULTS, "client", self.client, body, rate=rate, seconds=count / rate,
                      connections=connections, port=self.stand.server.platform_port, first=first,
                      neighbour=True)

    def steady(self):
        count = round(ROUND_RATE * (self.stand.seconds + 2 * BEFORE_S))
        return self.results(count, ROUND_RATE, ROUND_CONNECTIONS)


class Figures:
    """Of all rounds, by case."""

    def __init__(self):
        self.rows = collections.defaultdict(list)
        self.failures = []
        self.memory_mib = None

    def pair(self, stand, name, neighbour, statuses):
        """One turn of a case: without the neighbour and beside it."""
        alone, _ = stand.measured()
        beside, other = stand.measured(neighbour)
        for what, row in (("without", alone), ("beside", beside)):
            bad = row["refused"] + row["broken"] + row["unsent"]
            if bad:
                self.failures.append(f"{name}: {bad} honest calls failed {what} the neighbour: "
                                     f"{row}")
        if set(other["statuses"]) - set(statuses):
            self.failures.append(f"{name}: the neighbour was answered {other['statuses']}")
        self.rows[name].append({"alone": alone, "beside": beside, "neighbour": other,
                                "times": beside["p99_ms"] / alone["p99_ms"]})
        print(f"# {name}: p99 {alone['p99_ms']:.2f} ms, beside {beside['p99_ms']:.2f} ms; p50 "
              f"{alone['p50_ms']:.2f} and {beside['p50_ms']:.2f} ms; the neighbour: "
              f"{other['statuses']}, {other['broken']} broken, {other['unsent']} not sent",
              flush=True)

    def burst(self, stand, games):
        """The ledger's memory above rest while results come all at once."""
        rest = stand.memory_mib("VmRSS")
        stand.memory_mark()
        answers = games.results(BURST, BURST * 10, BURST).finish()
        if answers["answered"] != BURST or answers["refused"]:
            self.failures.append(f"{BURST} results at once: {answers}")
        self.memory_mib = stand.memory_mib("VmHWM") - rest
        print(f"# {BURST} results at once: the ledger had {self.memory_mib:.1f} MiB above rest",
              flush=True)

    def bars(self):
        """(what, figure, bound)"""
        found = [(f"{name}: honest p99, times that without",
                  statistics.median(row["times"] for row in rows), P99_TIMES)
                 for name, rows in self.rows.items()]
        if self.memory_mib is not None:
            found.append(("MiB of the ledger above rest", self.memory_mib, LEDGER_MIB))
        return found

    def table(self):
        def median(rows, side, name):
            return statistics.median(row[side][name] for row in rows)
        for name, rows in self.rows.items():
            texts = [f"{what} {median(rows, 'alone', key):.2f} / {median(rows, 'beside', key):.2f}"
                     for what, key in (("p50", "p50_ms"), ("p90", "p90_ms"), ("p99", "p99_ms"))]
            print(f"{name}: {', '.join(texts)} ms without / beside")


def run(options):
    figures = Figures()
    for name in options.server or SERVERS:
        stand = Stand(name, options.seconds)
        try:
            games = None
            if "game server" in options.only and name == SERVERS[0]:
                calls = round(ROUND_RATE * (options.seconds + 2 * BEFORE_S))
                games = Games(stand, options.rounds * calls + BURST)
            for _ in range(options.rounds):
                for case in STRANGERS if "stranger" in options.only else ():
                    figures.pair(stand, f"{name}, stranger, {case.name}",
                                 lambda case=case: stand.stranger(case), ("401", "429", "503"))
                if games:
                    figures.pair(stand, f"{name}, game server", games.steady, ("200",))
            if games:
                figures.burst(stand, games)
        finally:
            stand.close()
    return figures


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds, whose medians are reported")
    parser.add_argument("--seconds", type=float, default=6, help="duration of each measurement")
    parser.add_argument("--server", action="append", choices=SERVERS, default=[])
    parser.add_argument("--only", action="append", choices=NEIGHBOURS, default=[])
    parser.add_argument("--judge", action="store_true", help="exit with 1 if a target is missed")
    report.add_out(parser)
    options = parser.parse_args()
    options.only = options.only or NEIGHBOURS
    return options


def main():
    options = parse()
    with everything_ends():
        figures = run(options)
    figures.table()
    missed = False
    for what, figure, bound in figures.bars():
        missed |= figure > bound
        print(f"{'MISSED' if figure > bound else 'ok'}: {what}: {figure:.2f}, at most {bound}")
    for failure in figures.failures:
        print(f"FAILED: {failure}")
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "neighbours.json").write_text(json.dumps(
        {"cpus": os.cpu_count(), "cases": figures.rows, "bars": figures.bars(),
         "failures": figures.failures}, indent=1) + "\n")
    return 1 if figures.failures or (options.judge and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
