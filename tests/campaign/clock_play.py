"""The players while clock.py sets the clock: game servers, clients of transfers, a dealer's server
that notes the time of each call, and bets whose sender does not go on."""
import collections
import datetime
import http.client
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
import cb  # noqa: E402
import game  # noqa: E402
from cb import BALANCE, TRANSFER_IN, TRANSFER_OUT, check, equal  # noqa: E402
from cb_other_dealer import UNITS, Book as OtherBook, Handler as OtherHandler  # noqa: E402
from cb_other_dealer import OtherDealer, Refused  # noqa: E402
from cb_worker import Worker  # noqa: E402

CASINO, BANK = "casino", "bank"
TIMEOUT_S = 1.5
LEASE_S = 3.0
PATIENCE_S = 2.0
REFUND_DELAY_S = 2
RESULT_DELAYS_S = (0.8, 1.6)
BACKOFF_S = (0.4, 0.8)  # before the jitter, which takes up to a quarter off
SLOW_S = 0.4
HANG_S = 2.2
# What a busy machine may add to a time that has come.
LATE_S = 30.0
RETRIED_SHARE = 0.005  # of rounds: results that a late dealer let wait too often
EARLY_S = 0.005  # both sides count whole milliseconds
GAMES, BANKERS = 6, 2
OPENING = 100000 * UNITS
SETTINGS = {
    "callback_networks": ["127.0.0.0/8"],
    "log_level": "warning",
    "callback_timeout_ms": int(TIMEOUT_S * 1000),
    "callback_lease_ms": int(LEASE_S * 1000),
    "callback_owner_patience_ms": int(PATIENCE_S * 1000),
    "result_second_attempt_ms": int(RESULT_DELAYS_S[0] * 1000),
    "result_third_attempt_ms": int(RESULT_DELAYS_S[1] * 1000),
    "refund_backoff_ms": int(BACKOFF_S[0] * 1000),
    "refund_give_up_s": 3600,  # which a jump of a day passes
    "breaker_open_ms": 20,     # of the dealer that hangs and fails
}
# How a round goes, by how often: what the dealer does with its calls.
WAYS = ("plain",) * 5 + ("slow", "once", "twice", "hang")
Arrival = collections.namedtuple("Arrival", "at kind game_id event_id stamp body")
Hold = collections.namedtuple("Hold", "game_id since patience_s link")


class Book(OtherBook):
    """Fails as the game's name says."""

    def __init__(self):
        super().__init__(frozenset())
        self.failed = collections.Counter()

    def fail(self, body, times):
        self.failed[body["game_id"]] += 1
        if self.failed[body["game_id"]] <= times:
            raise Refused(503, "busy", "come again")

    def betting_result(self, body):
        self.fail(body, {"once": 1, "twice": 2}.get(way_of(body), 0))
        return super().betting_result(body)

    def betting_refund(self, body):
        self.fail(body, 2)
        return super().betting_refund(body)


class Handler(OtherHandler):
    def read(self):
        return self.server.arrived(self, super().read())


class Dealer(OtherDealer):
    def __init__(self, port, key):
        super().__init__(port, key, "nobody")
        self.RequestHandlerClass = Handler
        self.book = Book()
        self.arrivals = []
        self.handle_error = lambda *_: None  # Callers give up: the hanging game.

    def arrived(self, handler, payload):
        """Notes a call, and is as slow as its game's name says."""
        body = handler.server_body = cb.Answer(0, [], payload).json
        arrival = Arrival(time.monotonic(), handler.path.strip("/"), body.get("game_id", ""),
                          handler.headers["webhook-id"],
                          int(handler.headers["webhook-timestamp"]), body)
        self.arrivals.append(arrival)
        if arrival.kind == "betting":
            time.sleep({"slow": SLOW_S, "hang": HANG_S}.get(way_of(body), 0))
        return payload


def way_of(body):
    return body["game_id"].split("-")[0]


class Player(threading.Thread):
    """Makes calls one after the other until stop() is called."""

    def __init__(self, bench, number, server_port):
        super().__init__(daemon=True)
        self.bench = bench
        self.number = number
        self.random = random.Random(f"{bench.seed}/{type(self).__name__}/{number}")
        self.failure = None
        self.last_id = 0
        self.port = server_port
        self.calls = 0

    def run(self):
        try:
            while not self.bench.stopping.is_set():
                self.step()
        except Exception as error:  # The main thread raises it.
            self.failure = error

    def heard_id(self, number, what):
        check(number > self.last_id, f"{what}: transaction {number} came after {self.last_id}")
        self.last_id = number


class GameServer(Player):
    """Plays rounds of a user of its own."""

    def __init__(self, bench, number):
        super().__init__(bench, number, bench.server.platform_port)
        self.user_id = f"user-{number}"
        self.caller = game.Caller(bench.server, bench.client, self.random, True)
        self.balance = OPENING
        self.rounds = []

    def step(self):
        way = self.random.choice(WAYS)
        game_id = f"{way}-{self.number}-{self.calls}"
        stake = self.random.randint(1, 20)
        self.calls += 1
        begin = time.monotonic()
        answer = self.caller.call(game.BETS, {
            "request_transaction_id": f"bet-{game_id}", "casino_id": CASINO,
            "user_id": self.user_id, "game_id": game_id, "bet_amount": stake, "remark": "clock",
            "user_bet": {"red": stake}})
        end = time.monotonic()
        row = {"game_id": game_id, "way": way, "stake": stake, "begin": begin, "end": end,
               "accepted": answer.status == 200, "result": None, "payout": 0}
        self.rounds.append(row)
        if answer.status != 200:
            # Only a slow dealer or a ledger that was killed is an excuse.
            equal(answer.json["id"], "dealer_timeout", f"{game_id}: {answer}")
            check(end - begin > TIMEOUT_S - EARLY_S,
                  f"{game_id}: given up after {end - begin:.3f} s: {answer}")
            return
        check(way != "hang", f"{game_id}: accepted without an answer: {answer}")
        self.heard_id(answer.json["transaction_id"], game_id)
        self.balance -= stake * UNITS
        self.settle(row)
        time.sleep(self.random.uniform(0, 0.03))

    def settle(self, row):
        word = self.random.choice(("win", "win", "loss", "refund"))
        payout = {"loss": 0, "refund": row["stake"]}.get(word, self.random.randint(0, 40))
        answer = self.caller.call(game.RESULTS, {
            "request_transaction_id": f"result-{row['game_id']}", "casino_id": CASINO,
            "user_id": self.user_id, "game_id": row["game_id"], "result": word,
            "payout_amount": payout, "remark": "clock"})
        equal(answer.status, 200, f"result of {row['game_id']}: {answer}")
        row.update(result=word, payout=payout)
        self.balance += payout * UNITS


class Banker(Player):
    """Transfers in and out, each of which is made again once."""

    def __init__(self, bench, number):
        super().__init__(bench, number, bench.server.port)
        self.user_id = f"user-{number}"
        self.balance = 0
        self.moved = 0

    def step(self):
        self.calls += 1
        path = TRANSFER_IN if self.balance < 50 or self.random.random() < 0.5 else TRANSFER_OUT
        body = {"request_transaction_id": f"move-{self.number}-{self.calls}",
                "user_id": self.user_id, "amount": self.random.randint(1, 50)}
        first = self.ask(path, body)
        self.heard_id(first.json["transaction_id"], body)
        self.balance += body["amount"] if path == TRANSFER_IN else -body["amount"]
        equal(first.json["current_balance"], self.balance, f"balance after {body}")
        equal(self.ask(path, body).json, first.json, f"{body}, made again")
        self.moved += 1
        time.sleep(self.random.uniform(0, 0.03))

    def ask(self, path, body):
        """Until it is answered."""
        deadline = time.monotonic() + LATE_S
        while True:
            try:
                answer = cb.call(self.bench.server, "POST", path, body, dealer=self.bench.bank)
            except (OSError, http.client.HTTPException) as error:
                answer = error
            if isinstance(answer, cb.Answer) and answer.status == 200:
                return answer
            check(time.monotonic() < deadline, f"{path} {body}: {answer}")
            time.sleep(0.05)

    def read(self, ahead_ms):
        """The id of the error that a balance is refused with when its timestamp is so far off."""
        stamp = self.bench.wall.now_ms() + ahead_ms
        answer = cb.call(self.bench.server, "POST", BALANCE,
                         {"user_id": self.user_id, "request_timestamp": stamp},
                         dealer=self.bench.bank)
        return "" if answer.status == 200 else answer.json["id"]


def hold(bench, casino_id, patience):
    """A bet whose sender ends (@patience: is silent) before it calls the dealer. Its game is named as
    the dealer."""
    link = Worker(bench.wallet.sockets / "edge.sock")
    since = time.monotonic()
    placed = link.place("slots", casino_id, "user-0", casino_id, 1)
    check(placed.send.event, f"a grant: {placed}")
    if not patience:
        link.close()
    return Hold(casino_id, since, PATIENCE_S if patience else 0, link)


def day_of(ms, offset_min):
    return (datetime.datetime(1970, 1, 1) +
            datetime.timedelta(milliseconds=ms, minutes=offset_min)).date().isoformat()
