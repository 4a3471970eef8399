"""Rounds of a seamless dealer while everything of ours is killed: work for the sweeper.

A ledger whose engine dies every half second takes no bet over: each start grants what was under way
a lease anew. So these game servers leave a call without an answer for later and play on. When the
kills are over, a sweeper sends the due callbacks, every such call is repeated until it has its
final answer, and the answers, our rows and the dealer's book are compared (judge.py).
"""
import decimal
import json
import random
import threading
import time

import game
import judge
from cb import check, equal
from cb_platform import client_add
from killers import Sweepers

TABLES = 3
PLAYERS = 12
OPENING = 100000     # of each player at the dealer
PATIENCE_S = 2.0     # with one call, while there are kills
PAUSE_S = 0.05
CASINO = "seamless"
# The dealer's own faults leave something to the sweeper whatever is killed.
FAULTS = ({"fault": "status", "kind": "betting-result", "percent": 30},
          {"fault": "lost", "kind": "betting-result", "percent": 20},
          {"fault": "lost", "kind": "betting", "percent": 20})


class Table(game.Playing):
    """A game server that plays one round after the other."""

    def __init__(self, tables, number):
        super().__init__(tables.stopping)
        self.tables = tables
        self.number = number
        self.random = random.Random(f"{tables.seed}/table/{number}")
        self.caller = game.Caller(tables.server, tables.client, self.random, number % 2 == 0)
        self.bets = []
        self.results = []
        self.later = []      # (path, Bet or Result) without an answer for good

    def round(self):
        key = f"table-{self.number}-{len(self.bets)}"
        bet = game.Bet(key, self.random.choice(self.tables.players), key,
                       self.random.randint(1, 20 * game.UNITS), False)
        word = self.random.choice(("win", "loss", "refund"))
        payout = 0 if word == "loss" else self.random.randint(0, 40 * game.UNITS)
        self.bets.append(bet)
        self.make(game.BETS, bet)
        if bet.accepted():
            result = game.Result(f"{key}-result", [bet], word, payout)
            self.results.append(result)
            self.make(game.RESULTS, result)

    def make(self, path, call):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            answer = self.caller.once(path, call.fields())
            if answer and game.settled_for_good(answer):
                call.hear(answer)
                return
            time.sleep(PAUSE_S)
        self.later.append((path, call))

    def finish(self):
        """Asks again for what was left for later."""
        for path, call in self.later:
            call.hear(self.caller.call(path, call.fields()))
        self.caller.close()


class Tables:
    """The game servers at @server, whose players' credit is in the reference dealer @dealer."""

    def __init__(self, wallet, server, dealer, seed):
        self.wallet = wallet
        self.server = server
        self.dealer = dealer
        self.seed = seed
        self.stopping = threading.Event()
        self.client = client_add(wallet, "slots")
        wallet.ctl("dealer", "add", CASINO, "--currency", "thb", "--mode", "seamless",
                   "--decimals", 4, "--url", dealer.base_url, "--allow-http", "--refund-delay", 1,
                   "--key-file", "-", stdin=dealer.key + "\n")
        self.players = [game.Player(CASINO, f"guest-{number}",
                                    wallet.player_add(CASINO, f"guest-{number}"))
                        for number in range(PLAYERS)]
        self.sweepers = Sweepers(wallet)
        self.tables = [Table(self, number) for number in range(TABLES)]

    def start(self):
        for fault in FAULTS:
            self.dealer.control("faults", fault)
        for table in self.tables:
            table.start()

    def stop(self):
        """No more rounds, no more sweepers."""
        self.stopping.set()
        self.sweepers.stop()
        for table in self.tables:
            if table.ident:
                table.join(game.TIMEOUT_S + PATIENCE_S + 5)
                check(not table.is_alive(), f"table {table.number} hangs")

    def failures(self):
        return [table for table in self.tables if table.failure]

    def left(self):
        return sum(len(table.later) for table in self.tables)

    def bets(self):
        return [bet for table in self.tables for bet in table.bets]

    def prove(self):
        """Raises what does not agree."""
        failed = self.failures()
        check(not failed, "; ".join(f"table {t.number}: {t.failure!r}" for t in failed))
        self.dealer.faults_clear()
        retries = self.sweepers.drain()
        for table in self.tables:
            table.finish()
        retries.update(self.sweepers.drain())
        exactly = decimal.Decimal
        rows, callbacks = (
            json.loads(self.wallet.ctl("--json", what, "list", "--limit", 0), parse_float=exactly)
            for what in ("bet", "callback"))
        results = [result for table in self.tables for result in table.results]
        # There is no proxy before the dealer's server: only its book shows which calls arrived.
        case = judge.Case(self.bets(), results, rows["bets"], callbacks["callbacks"],
                          self.dealer.state(exactly), {}, OPENING, retries)
        case.judge_bets()
        case.judge_results()
        case.judge_balances()
        open_yet = [row for row in callbacks["callbacks"] if row["state"] not in
                    judge.CALLBACK_ENDS[row["kind"]]]
        equal(open_yet, [], "callbacks that did not end")
        check(self.bets(), "no bet was placed")
