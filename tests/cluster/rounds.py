"""Game servers that play rounds with a seamless dealer on a cell, and the judge of how their bets ended (tests/crash)."""
import collections
import decimal
import json
import secrets
import threading
import time

import cb
import game
import judge
from cb import check  # noqa: E402
from cb_dealer import ReferenceDealer
from cb_platform import client_add
from namespaces import CALLERS, NETWORK
from network import Network

GAME_SERVERS = 4
PLAYERS = 12
OPENING = 1000
PAUSE_S = 0.3          # between two rounds of a game server
REFUND_DELAY_S = 1
CASINO_ID = "rounds"
DRAIN_S = 120.0
SETTINGS = dict(game.SETTINGS, callback_networks=[f"{NETWORK}.0/24"])
# A host that is lost answers nothing: then a game server asks another one.
game.TIMEOUT_S = 5.0
game.PATIENCE_S = 120.0


class Caller(game.Caller):
    """Asks another host after each attempt without an answer for good."""

    def once(self, path, fields):
        answer = super().once(path, fields)
        if not answer or not game.settled_for_good(answer):
            self.close()
            self.server = self.server.other()
        return answer


class GameServer(game.GameServer):
    def caller_new(self, keep_alive):
        return Caller(self.storm.server, self.storm.client, self.random, keep_alive)

    def round(self):
        super().round()
        time.sleep(PAUSE_S)


class Rounds:
    """A dealer, its players, and game servers. A program between the hosts and the dealer counts the calls."""

    def __init__(self, world):
        self.world = world
        self.seed = world.seed
        self.stopping = threading.Event()
        self.server = world.ring[0]
        self.dealer = ReferenceDealer("--opening-balance", OPENING, threads=16)
        self.network = None
        try:
            self.network = Network(self.dealer.dir, self.dealer.port, self.seed, game.TIMEOUT_MS, REFUND_DELAY_S * 1000,
                                   address=CALLERS)
            wallet = world.services[0].wallet
            self.client = client_add(wallet, "slots")
            key = secrets.token_hex(32)
            self.dealer.keys_write(key)
            wallet.ctl("dealer", "add", CASINO_ID, "--currency", "thb", "--mode", "seamless", "--decimals", 4, "--url",
                       self.network.base_url, "--allow-http", "--refund-delay", REFUND_DELAY_S, "--key-file", "-",
                       stdin=key + "\n")
            self.players = [game.Player(CASINO_ID, f"user-{n}", wallet.player_add(CASINO_ID, f"user-{n}"))
                            for n in range(PLAYERS)]
        except BaseException:
            self.close()
            raise
        self.games = [GameServer(self, number) for number in range(GAME_SERVERS)]
        for number, one in enumerate(self.games):
            one.caller.server = world.ring[number % len(world.ring)]

    def start(self):
        for one in self.games:
            one.start()

    def close(self):
        self.stopping.set()
        try:
            if self.network:
                self.network.__exit__()
        finally:
            self.dealer.close()

    def failures(self):
        return [one for one in self.games if one.failure]

    def bets(self):
        return [bet for one in self.games for bet in one.bets]

    def results(self):
        return [result for one in self.games for result in one.results]

    def stop(self):
        """Lets each game server finish its round; for what workers left it needs a sweeper."""
        self.stopping.set()
        deadline = time.monotonic() + game.PATIENCE_S + 2 * game.TIMEOUT_S
        while time.monotonic() < deadline and any(one.is_alive() for one in self.games):
            self.world.sweep()
            time.sleep(0.1)
        for one in self.games:
            check(not one.is_alive(), f"game server {one.number} hangs")
        failed = self.failures()
        check(not failed, "; ".join(f"game server {one.number}: {one.failure!r}" for one in failed))

    def drain(self, service):
        """Sweeps until nothing waits and nothing is parked. Returns how often each callback was sent again."""
        deadline = time.monotonic() + DRAIN_S
        retries = collections.Counter()
        while True:
            parked = [callback["event"] for callback in service.wallet.ctl_json(
                "callback", "list", "--state", "parked", "--limit", 0)["callbacks"]]
            if parked:
                service.wallet.ctl("callback", "retry", "-", "--yes", "--reason", "mended",
                                   stdin="".join(f"{event}\n" for event in parked))
            retries.update(parked)
            if not service.sweep_once()["waiting"] and not parked and not self.network.report()["pending"]:
                return retries
            check(time.monotonic() < deadline, f"callbacks that do not end: {len(parked)} parked")

    def prove(self, service):
        """Each bet ended as its game server was answered, at the dealer and here. Returns the counts of the ends."""
        retries = self.drain(service)
        exactly = decimal.Decimal
        rows, callbacks = (json.loads(service.wallet.ctl("--json", what, "list", "--limit", 0), parse_float=exactly)
                           for what in ("bet", "callback"))
        case = judge.Case(self.bets(), self.results(), rows["bets"], callbacks["callbacks"], self.dealer.state(exactly),
                          self.network.report()["arrivals"], OPENING, retries)
        case.judge()
        bets = collections.Counter(bet.error or "accepted" for bet in self.bets())
        check(bets["accepted"] and self.results(), f"nothing was played: {bets}")
        return {"bets": len(self.bets()), **bets, "results": len(self.results()), "retried": sum(retries.values())}
