"""Game servers that play rounds through the platform's mount and never give up on a call.

A call whose outcome is not known yet (no answer, a web server's own page, an error body that says
`retryable`) is repeated with the same key and bytes until it is answered for good; some are made
again after that, or twice at once, and must be answered the same.
"""
import http.client
import json
import random
import threading
import time

import cb

UNITS = 10000        # of a credit: what is counted in
TIMEOUT_S = 10.0     # of one attempt
PATIENCE_S = 60.0    # for all attempts of one call
PAUSE_S = (0.02, 0.1)  # between two attempts, doubled up to PAUSE_MAX_S
PAUSE_MAX_S = 0.5
BROKEN = (OSError, http.client.HTTPException)
PLAYERS = "/platform/players"
BALANCE = "/platform/balance"
BETS = "/platform/bets"
RESULTS = "/platform/results"
# The statuses that a call of group C can get in the storm, by id of the error body.
BET_ENDS = {"": 200, "bet_rejected": 409, "dealer_unreachable": 502, "dealer_timeout": 504}
TOO_MUCH = 10 ** 7 * UNITS  # more than any player has at the dealer
# A seamless dealer whose deadlines and delays are short.
TIMEOUT_MS = 350
SETTINGS = {
    "callback_networks": ["127.0.0.0/8"],
    "callback_timeout_ms": TIMEOUT_MS,
    "callback_connect_timeout_ms": 200,
    "callback_lease_ms": 2000,
    "callback_owner_patience_ms": 2000,
    "result_second_attempt_ms": 200,
    "result_third_attempt_ms": 500,
    "refund_backoff_ms": 100,
    "refund_backoff_max_ms": 800,
    "breaker_open_ms": 50,
}


class Unanswered(Exception):
    """A call was repeated for PATIENCE_S without an answer for good."""


class Player:
    def __init__(self, casino_id, user_id, player_id):
        self.casino_id = casino_id
        self.user_id = user_id
        self.player_id = player_id


class Bet:
    """A bet, and the answers that the game server got for it."""

    def __init__(self, key, player, game_id, units, addition):
        self.key = key
        self.player = player
        self.game_id = game_id
        self.units = units
        self.addition = addition
        self.error = None           # id of the error body; "": accepted; None: nothing yet
        self.state = None           # as answered
        self.transaction_id = None  # as answered

    def fields(self):
        return {"request_transaction_id": self.key, "player_id": self.player.player_id,
                "game_id": self.game_id, "bet_amount": self.units / UNITS, "remark": "storm",
                "user_bet": {"red": self.units / UNITS}, "addition": self.addition}

    def accepted(self):
        return self.error == ""

    def hear(self, answer, at_once=False):
        """Takes an answer for good, which must be the one that was given before; @at_once: or
        perhaps after this one."""
        body = answer.json
        error = "" if answer.status == 200 else body["id"]
        check_answer(BET_ENDS.get(error) == answer.status, self.key, answer)
        if self.error is None:
            self.error, self.state = error, body.get("state")
            self.transaction_id = body.get("transaction_id")
            return
        same = error == self.error and body.get("transaction_id") == self.transaction_id
        # A bet that is being refunded becomes refunded later.
        moved = (self.state, body.get("state")) == ("refunding", "refunded")
        moved |= at_once and (body.get("state"), self.state) == ("refunding", "refunded")
        check_answer(same and (moved or body.get("state") == self.state), self.key, answer,
                     f"answered before: {self.error!r} {self.state} {self.transaction_id}")
        if not at_once:
            self.state = body.get("state")


class Result:
    """The result of a round, and the answers that the game server got for it."""

    def __init__(self, key, bets, word, payout):
        self.key = key
        self.player = bets[0].player
        self.game_id = bets[0].game_id
        self.word = word
        staked = sum(bet.units for bet in bets)
        self.payout = staked if word == "refund" else payout
        self.expected = {
            "bet_amount": sum(bet.units for bet in bets if not bet.addition),
            "addition_amount": sum(bet.units for bet in bets if bet.addition),
            "payout_amount": self.payout,
            "win_amount": 0 if word == "refund" else self.payout - staked,
        }
        self.transaction_id = None  # as answered

    def fields(self):
        return {"request_transaction_id": self.key, "player_id": self.player.player_id,
                "game_id": self.game_id, "result": self.word, "remark": "storm",
                "payout_amount": self.payout / UNITS, "game_result": {"number": 17}}

    def hear(self, answer, at_once=False):
        del at_once  # A round is settled in one step.
        check_answer(answer.status == 200, self.key, answer)
        body = answer.json
        told = {name: round(body[name] * UNITS) for name in self.expected}
        check_answer(told == self.expected, self.key, answer, f"not {self.expected}")
        check_answer((body["transaction_id"] == 0) == (self.word == "loss"), self.key, answer)
        check_answer(self.transaction_id in (None, body["transaction_id"]), self.key, answer)
        self.transaction_id = body["transaction_id"]


def check_answer(good, key, answer, more=""):
    if not good:
        raise AssertionError(f"{key}: {answer} {more}")


def settled_for_good(answer):
    """True if the call has its final answer, so that no repetition is needed."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        return False
    return answer.status == 200 or body.get("retryable") is False


class Caller:
    """One game server's way to the platform's mount: a kept connection, or one for each call."""

    def __init__(self, server, client, chance, keep_alive):
        self.server = server
        self.client = client
        self.random = chance
        self.keep_alive = keep_alive
        self.connection = None
        self.repeats = 0

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def attempt(self, path, body):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.server.address, self.server.platform_port,
                                                         timeout=TIMEOUT_S)
        self.connection.request("POST", path, body, {
            "x-client-id": self.client.client_id, "Content-Type": "application/json",
            "x-client-signature": cb.sign(self.client.key, body),
            "Connection": "keep-alive" if self.keep_alive else "close"})
        response = self.connection.getresponse()
        data = response.read()
        if not self.keep_alive or response.will_close:
            self.close()
        return cb.Answer(response.status, response.getheaders(), data)

    def once(self, path, fields):
        """One attempt. The answer, or None."""
        try:
            return self.attempt(path, json.dumps(fields).encode())
        except BROKEN:
            self.close()
            return None

    def call(self, path, fields):
        """The answer for good, however many attempts it takes."""
        deadline = time.monotonic() + PATIENCE_S
        pause = self.random.uniform(*PAUSE_S)
        while True:
            answer = self.once(path, fields)
            if answer and settled_for_good(answer):
                return answer
            if time.monotonic() > deadline:
                raise Unanswered(f"{path} {fields}: the last attempt: {answer}")
            self.repeats += 1
            time.sleep(pause)
            pause = min(2 * pause, PAUSE_MAX_S)


class Playing(threading.Thread):
    """Plays one round() after the other until @stopping; what ended it early is its failure."""

    def __init__(self, stopping):
        super().__init__(daemon=True)
        self.stopping = stopping
        self.failure = None  # an exception

    def run(self):
        try:
            while not self.stopping.is_set():
                self.round()
        except Exception as error:  # Reported by the main thread.
            self.failure = error
        finally:
            self.caller.close()


class GameServer(Playing):
    """Plays one round after the other."""

    def __init__(self, storm, number):
        super().__init__(storm.stopping)
        self.storm = storm
        self.number = number
        self.random = random.Random(f"{storm.seed}/game/{number}")
        self.caller = self.caller_new(number % 2 == 0)
        self.bets = []
        self.results = []
        self.rounds = 0

    def caller_new(self, keep_alive):
        return Caller(self.storm.server, self.storm.client, self.random, keep_alive)

    def round(self):
        self.rounds += 1
        player = self.random.choice(self.storm.players)
        game_id = f"game-{self.number}-{self.rounds}"
        bets = [self.bet(player, game_id, n) for n in range(self.random.choice((1, 1, 1, 2, 3)))]
        accepted = [bet for bet in bets if bet.accepted()]
        if self.random.random() < 0.05:
            self.inquire(player)
        # Some games are still going on when all is over.
        if not accepted or self.random.random() < 0.05:
            return
        self.result(f"{self.number}-{self.rounds}-result", accepted)

    def bet(self, player, game_id, number):
        units = self.random.randint(1, 50 * UNITS)
        if self.random.random() < 0.03:
            units += TOO_MUCH
        bet = Bet(f"{self.number}-{self.rounds}-{number}", player, game_id, units,
                  addition=number > 0 and self.random.random() < 0.5)
        self.bets.append(bet)
        self.make(BETS, bet)
        return bet

    def result(self, key, accepted):
        word = self.random.choice(("win", "win", "loss", "loss", "loss", "refund"))
        payout = 0 if word == "loss" else self.random.randint(0, 100 * UNITS)
        result = Result(key, accepted, word, payout)
        self.results.append(result)
        self.make(RESULTS, result)
        if self.random.random() < 0.05:
            self.too_late(result)

    def too_late(self, result):
        """A round is settled once, and takes no bets then."""
        bet = Bet(f"{result.key}-bet", result.player, result.game_id, UNITS, False)
        for path, fields in ((RESULTS, dict(result.fields(), request_transaction_id=bet.key)),
                             (BETS, bet.fields())):
            answer = self.caller.call(path, fields)
            check_answer((answer.status, answer.json.get("id")) == (409, "already_settled"),
                         bet.key, answer)

    def make(self, path, call):
        """Makes a call, some twice at once, some again when they are answered."""
        kind = self.random.random()
        if kind < 0.05:
            self.make_twice(path, call)
        else:
            call.hear(self.caller.call(path, call.fields()))
        if kind > 0.9:
            call.hear(self.caller.call(path, call.fields()))

    def make_twice(self, path, call):
        answers = []
        other = self.caller_new(False)
        thread = threading.Thread(
            target=lambda: answers.append(other.call(path, call.fields())), daemon=True)
        thread.start()
        call.hear(self.caller.call(path, call.fields()))
        thread.join()
        other.close()
        if not answers:
            raise Unanswered(f"{path} {call.fields()}, made twice at once")
        call.hear(answers[0], at_once=True)

    def inquire(self, player):
        """Whatever comes moves nothing; a balance must be one."""
        answer = self.caller.once(BALANCE, {"player_id": player.player_id})
        if answer and answer.status == 200:
            check_answer(answer.json["user_id"] == player.user_id and
                         answer.json["balance"] >= 0, "balance", answer)
