"""What goes on outside the wallet while it is restored: dealers, game servers, and their books.

The world never goes back in time. A seamless dealer keeps the four rules of the specification (B3,
rules 1 to 4, and B4, rules 1 and 2) and nothing more: it looks at transaction_id only, and knows no
webhook-id. A transfer dealer sends signed transfers and repeats each one until it is answered. The
game server plays rounds and repeats each call until it is answered.
"""
import dataclasses
import json
import random
import threading
import time

import cb
import game
from cb_listener import Scripted
from game import UNITS

OPENING = 10 ** 6 * UNITS     # what each player of a seamless dealer has there
STAKES = (1, 50)              # credits
REFUND_SHARE = 0.1
WIN_SHARE = 0.5
# Each transfer that a restore undoes is adjusted by a command of its own.
TRANSFER_PAUSE_S = 0.01


@dataclasses.dataclass
class DealerBet:
    """A bet in a seamless dealer's book."""

    user_id: str
    game_id: str
    units: int
    time_ms: int
    returned: int = 0         # units given back by B4 or by the dealer's own people


@dataclasses.dataclass
class Payment:
    """A result that a seamless dealer credited."""

    user_id: str
    game_id: str
    result: str
    units: int
    time_ms: int
    webhook_id: str           # kept for the judge and the dealer's file; the dealer decides nothing by it


class SpecDealer(Scripted):
    """A seamless dealer on the loopback. @key is set before the first call."""

    def __init__(self, port, casino_id):
        super().__init__(self.serve, port)
        self.casino_id = casino_id
        self.key = ""
        self.lock = threading.Lock()
        self.balances = {}
        self.bets = {}            # transaction_id -> DealerBet
        self.payments = {}        # transaction_id -> Payment
        self.losses = {}          # game_id -> (user_id, time_ms, units) of a round that ended by no payment
        self.by_hand = {}         # game_id -> units that the dealer's people paid
        self.names = {}           # transaction_id -> what it named first
        self.reused = []          # (transaction_id, first, then): an id that named two things
        self.silent_share = 0.0   # of the bets: taken, but the answer is withheld
        self.chance = random.Random(casino_id)
        self.calls = 0

    def serve(self, call):
        if call.headers.get("x-casino-signature") != cb.sign(self.key, call.body):
            return 401, {"id": "bad_signature", "detail": "the signature is wrong"}
        body, kind = json.loads(call.body), call.path.strip("/")
        silent = False
        with self.lock:
            self.calls += 1
            if kind == "balance-inquire":
                answer = self.inquire(body)
            elif kind == "betting":
                answer = self.betting(body)
                silent = self.chance.random() < self.silent_share
            elif kind == "betting-result":
                answer = self.betting_result(body, call.headers["webhook-id"])
            else:
                answer = self.betting_refund(body)
        # Unreadable: the bet's outcome is unknown, and it is refunded.
        return (500, "") if silent else (200, answer or "")

    def name(self, transaction_id, thing):
        first = self.names.setdefault(transaction_id, thing)
        if first != thing:
            self.reused.append((transaction_id, first, thing))

    # -- the rules

    def inquire(self, body):
        return {"user_id": body["user_id"], "currency": "thb",
                "balance": self.balances[body["user_id"]] / UNITS}

    def betting(self, body):
        number = body["transaction_id"]
        self.name(number, ("bet", body["game_id"]))
        if number not in self.bets:
            units = round(body["bet_amount"] * UNITS)
            self.balances[body["user_id"]] -= units
            self.bets[number] = DealerBet(body["user_id"], body["game_id"], units,
                                          body["timestamp"])
        return {}

    def betting_result(self, body, webhook_id):
        if body["result"] == "loss":
            self.lose(body["game_id"], body["user_id"], body["timestamp"], 0)
            return {}
        number = body["transaction_id"]
        self.name(number, ("result", body["game_id"]))
        if number not in self.payments:
            units = round(body["payout_amount"] * UNITS)
            self.balances[body["user_id"]] += units
            self.payments[number] = Payment(body["user_id"], body["game_id"], body["result"], units,
                                            body["timestamp"], webhook_id)
        return {}

    def betting_refund(self, body):
        bet = self.bets.get(body["transaction_id"])
        if bet and not bet.returned:
            self.balances[bet.user_id] += bet.units
            bet.returned = bet.units
        return {}

    # -- what the dealer's own people do

    def give_back(self, transaction_id):
        """The stake of a bet that the platform does not know."""
        with self.lock:
            self.betting_refund({"transaction_id": transaction_id})

    def lose(self, game_id, user_id, time_ms, units):
        """The round has ended: lost, or paid by hand."""
        self.losses[game_id] = (user_id, time_ms, units)

    def opened(self, user_id):
        self.balances[user_id] = OPENING


@dataclasses.dataclass
class Round:
    """A round with one bet, and what the game server was answered. None: not answered yet."""

    key: str
    player: game.Player
    game_id: str
    units: int
    word: str                    # its result
    payout: int
    bet: str | None = None       # "": accepted, else the error id
    bet_id: int | None = None    # transaction_id as answered
    result: str | None = None    # "": settled, else the error id
    result_id: int | None = None
    life: int = 0                # in which life of the installation it was played
    lost: bool = False           # a restore lost it after its result was acknowledged

    def open(self):
        """True: there is a call to be made or repeated."""
        return self.bet is None or (self.bet == "" and self.result is None)

    def won(self):
        return self.result == "" and self.word == "win"


class GameServer:
    """Plays rounds one after the other, by a connection of its own."""

    def __init__(self, server, client, players, seed):
        self.chance = random.Random(seed)
        self.caller = game.Caller(server, client, self.chance, True)
        self.players = players
        self.seed = seed
        self.rounds = []

    def round_make(self, life):
        chance = self.chance
        number = len(self.rounds)
        units = chance.randint(*STAKES) * UNITS
        draw = chance.random()
        word = "win" if draw < WIN_SHARE else "refund" if draw < WIN_SHARE + REFUND_SHARE else "loss"
        payout = {"win": units * 2, "refund": units, "loss": 0}[word]
        made = Round(f"{self.seed}-{number}", chance.choice(self.players),
                     f"game-{self.seed}-{number}", units, word, payout, life=life)
        self.rounds.append(made)
        return made

    def bet(self, one):
        """One attempt of the bet; True when it is answered for good."""
        answer = self.caller.once(game.BETS, {
            "request_transaction_id": f"bet-{one.key}", "player_id": one.player.player_id,
            "game_id": one.game_id, "bet_amount": one.units / UNITS, "remark": "restore",
            "user_bet": {"red": one.units / UNITS}})
        if not answer or not game.settled_for_good(answer):
            return False
        one.bet = "" if answer.status == 200 else answer.json["id"]
        one.bet_id = answer.json.get("transaction_id")
        return True

    def settle(self, one):
        """One attempt of the result; True when it is answered for good."""
        answer = self.caller.once(game.RESULTS, {
            "request_transaction_id": f"result-{one.key}", "player_id": one.player.player_id,
            "game_id": one.game_id, "result": one.word, "remark": "restore",
            "payout_amount": one.payout / UNITS, "game_result": {"number": 17}})
        if not answer or not game.settled_for_good(answer):
            return False
        one.result = "" if answer.status == 200 else answer.json["id"]
        one.result_id = answer.json.get("transaction_id")
        return True

    def play(self, life, seconds_left):
        """New rounds until the time is over; some are left open on purpose. What is not answered
        stays open."""
        while seconds_left() > 0:
            one = self.round_make(life)
            if not self.bet(one) or one.bet != "":
                continue
            if self.chance.random() < 0.8:
                self.settle(one)

    def finish(self, seconds_left):
        """Repeats every call that is still to be answered."""
        for one in self.rounds:
            while one.open() and seconds_left() > 0:
                if one.bet is None:
                    self.bet(one)
                elif one.result is None:
                    self.settle(one)


@dataclasses.dataclass
class Transfer:
    """A transfer, and how it was answered. None: not yet."""

    reference: str
    user_id: str
    out: bool
    units: int
    error: str | None = None
    transaction_id: int | None = None
    time_ms: int = 0

    def done(self):
        return self.error == ""


class TransferDealer:
    """Sends transfers one after the other."""

    def __init__(self, server, dealer, users, seed):
        self.server = server
        self.dealer = dealer
        self.users = users
        self.chance = random.Random(seed)
        self.seed = seed
        self.transfers = []

    def send(self, one):
        """One attempt; True when it is answered for good."""
        try:
            answer = cb.call(self.server, "POST", cb.TRANSFER_OUT if one.out else cb.TRANSFER_IN, {
                "amount": one.units / UNITS, "request_transaction_id": one.reference,
                "user_id": one.user_id}, dealer=self.dealer)
        except (OSError, game.http.client.HTTPException):
            return False
        if not game.settled_for_good(answer):
            return False
        one.error = "" if answer.status == 200 else answer.json["id"]
        one.transaction_id = answer.json.get("transaction_id")
        one.time_ms = cb.now_ms()
        return True

    def play(self, seconds_left):
        while seconds_left() > 0:
            number = len(self.transfers)
            one = Transfer(f"{self.seed}-{number}", self.chance.choice(self.users),
                           self.chance.random() < 0.4, self.chance.randint(*STAKES) * UNITS)
            self.transfers.append(one)
            self.send(one)
            time.sleep(TRANSFER_PAUSE_S)

    def finish(self, seconds_left):
        for one in self.transfers:
            while one.error is None and seconds_left() > 0:
                self.send(one)
