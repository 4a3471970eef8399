"""The script of transfers and bets that nthcall.py plays, and what every answer must be."""
import json

from cb import check, equal, wait_until
from cb_http import BALANCE, STAT, TRANSFER_IN, TRANSFER_OUT, now_ms, sign
from cb_other_dealer import UNITS, Book as OtherBook, Refused
from cb_platform import BETS, PLAYER_BALANCE, RESULTS

OPENING = 1000 * UNITS  # of bob, at the dealer
ADJUSTED = 1000         # of alice, in credits
UNSURE = "casino-4"     # the game of the bet that the dealer took and answered with a 503
FINISH_S = 30.0
# What a bet of the dealer's may come to when a fault met it, beside being accepted.
ENDED = {"dealer_timeout": 504, "dealer_unreachable": 502, "bet_rejected": 409}
SWEEP = 255             # the moment of a sweep (Operation.moment())


class Book(OtherBook):
    """The dealer fails at the first attempt of each result, and after a bet of one game, so that
    there is something to sweep."""

    def __init__(self):
        super().__init__(frozenset())
        self.balances["bob"] = OPENING
        self.failed = set()

    def betting(self, body):
        done = super().betting(body)
        if body["game_id"] == UNSURE:
            raise Refused(503, "busy", "come again")
        return done

    def betting_result(self, body):
        if body["game_id"] not in self.failed:
            self.failed.add(body["game_id"])
            raise Refused(503, "busy", "come again")
        return super().betting_result(body)


class Operation:
    """One call. @status is its answer without a fault."""

    def __init__(self, mount, path, signer, body, status=200, moves=0, after=None, error=None):
        self.mount = mount
        self.path = path
        self.signer = signer
        self.body = body
        self.status = status
        self.moves = moves    # what it adds to alice's balance
        self.after = after    # a result: its bet
        self.error = error    # the id of an answer that is no 200
        self.told = None      # the first answer for good
        self.balance = None   # in that answer

    def __repr__(self):
        key = self.body.get("request_transaction_id", "")
        return f"{self.path} {key}"

    def request(self, keys):
        body = dict(self.body)
        if self.path in (BALANCE, STAT):
            body["request_timestamp"] = now_ms()
        data = json.dumps(body).encode()
        who = "x-client" if self.mount == "platform" else "x-casino"
        return [(f"{who}-id", self.signer), (f"{who}-signature", sign(keys[self.signer], data))], \
            data

    def reads(self):
        return self.path in (BALANCE, STAT, PLAYER_BALANCE)

    def seamless(self):
        return self.body.get("user_id") == "bob"

    def moment(self):
        """Its kind among the steps of the script, from 1 on: what the programs do with another of its
        kind is the same."""
        kinds = sorted({one.kind() for one in operations()})
        return kinds.index(self.kind()) + 1

    def kind(self):
        return f"{self.path} {self.seamless()} {self.status} {self.body.get('result')}"

    # -- an answer, while a fault may be at work or after it

    def final(self, answer):
        """True: it is the answer for good. Raises what is wrong with one that is no 5xx."""
        if answer is None or answer.status in (500, 503, 429):
            return False
        error = None if answer.status == 200 else answer.json["id"]
        if answer.status == 504 and self.reads() and self.seamless():
            return False  # The dealer's answer did not come; asking again is harmless.
        if answer.status == 502 and self.reads():
            return False
        if error == "bet_in_progress":
            return False
        if self.without_bet(error) and self.after.told is None:
            return False  # All answers to its bet were 5xx: the bet need not exist.
        if not self.allowed(answer, error):
            raise AssertionError(f"{self}: {answer}")
        self.hear(answer, error)
        return True

    def allowed(self, answer, error):
        if (answer.status, error) == (self.status, self.error):
            return True
        if self.path == BETS and self.seamless():
            return ENDED.get(error) == answer.status
        # A bet that ended otherwise has no result.
        return self.without_bet(error) and self.after.told[0] is not None

    def without_bet(self, error):
        return self.path == RESULTS and error in ("bet_not_found", "game_not_found")

    def hear(self, answer, error):
        """A repeated answer must be the same."""
        body = answer.json
        told = (error, body.get("transaction_id"), body.get("current_balance"),
                body.get("before_balance"))
        self.balance = body.get("balance")
        if answer.status == 200 and "amount" in self.body:
            check(body["amount"] == self.body["amount"], f"{self}: {answer}")
            moved = round((body["current_balance"] - body["before_balance"]) * UNITS)
            equal(moved, self.moves * UNITS, f"{self}: {answer}")
        if answer.status == 200 and self.path == RESULTS:
            equal(body["payout_amount"], self.body.get("payout_amount", 0), f"{self}: {answer}")
        if self.told and not self.reads():
            equal(told, self.told, f"{self}, answered again")
        self.told = told


def transfer(path, key, amount, user="alice", **more):
    moves = amount if path == TRANSFER_IN else -amount
    return Operation("wallet", path, "bank", {"request_transaction_id": key, "user_id": user,
                                              "amount": amount},
                     moves=0 if more else moves, **more)


def bet(casino, user, key, amount, **more):
    return Operation("platform", BETS, "slots", {
        "request_transaction_id": f"b-{key}", "casino_id": casino, "user_id": user, "game_id": key,
        "bet_amount": amount, "remark": "a bet", "user_bet": {"on": "red"}},
        moves=-amount if casino == "bank" else 0, **more)


def result(placed, word, payout=0):
    body = placed.body
    return Operation("platform", RESULTS, "slots", {
        "request_transaction_id": f"r-{body['game_id']}", "casino_id": body["casino_id"],
        "user_id": body["user_id"], "game_id": body["game_id"], "result": word,
        "payout_amount": payout, "remark": "a result", "game_result": {"ball": 7}},
        moves=payout if body["casino_id"] == "bank" else 0, after=placed)


def probes():
    """Calls that must fail while the ledger is halted."""
    return [transfer(TRANSFER_IN, "probe", 1), reading(), bet("bank", "alice", "probe", 1)]


def reading(path=BALANCE):
    return Operation("wallet", path, "bank", {"user_id": "alice"})


def operations():
    made = [
        transfer(TRANSFER_IN, "t1", 100),
        transfer(TRANSFER_OUT, "t2", 30),
        reading(),
        transfer(TRANSFER_OUT, "t3", 100000, status=402, error="insufficient_balance"),
        transfer(TRANSFER_IN, "t4", 1, user="nobody", status=404, error="user_not_found"),
    ]
    for casino, user in (("casino", "bob"), ("bank", "alice")):
        won, lost = bet(casino, user, f"{casino}-1", 10), bet(casino, user, f"{casino}-2", 5)
        made += [won, lost, result(won, "win", 25), result(lost, "loss")]
    made += [
        bet("casino", "bob", "casino-3", 2000, status=409, error="bet_rejected"),
        bet("casino", "bob", UNSURE, 3, status=504, error="dealer_timeout"),
        Operation("platform", PLAYER_BALANCE, "slots", {"casino_id": "casino", "user_id": "bob"}),
        reading(STAT),
        transfer(TRANSFER_IN, "t5", 7),
    ]
    return made


class Script:
    def __init__(self, bench):
        self.bench = bench
        self.operations = operations()

    def run(self, tries):
        """While the fault goes on: each call a few times."""
        for operation in self.operations:
            self.bench.control.moment(operation.moment())
            for _ in range(tries):
                if operation.final(self.bench.call(operation)):
                    break
        self.bench.pages.run(self.bench.control, tries)

    def finish(self):
        """All calls until they are answered for good, and the same as before."""
        for operation in self.operations:
            wait_until(lambda: self.ask(operation), FINISH_S, f"{operation}: its answer",
                       interval=0.02)
        self.sweep()
        for operation in self.operations:
            wait_until(lambda: operation.final(self.bench.call(operation)), FINISH_S,
                       f"{operation}: its answer at last", interval=0.02)
        self.prove()
        self.bench.pages.finish(self.bench.ctl)

    def ask(self, operation):
        answer = self.bench.call(operation)
        if operation.final(answer):
            return True
        if answer is not None and answer.status == 409:
            self.bench.sweep()  # A bet whose sender was killed.
        return False

    def callbacks(self):
        return self.bench.ctl("callback", "list", "--limit", "0")["callbacks"]

    def sweep(self):
        """Until nothing waits; what was given up the operator tries again."""
        def swept():
            rows = self.callbacks()
            for row in rows:
                if row["state"] == "parked":
                    self.bench.ctl("callback", "retry", row["event"], "--yes",
                                   "--reason", "the fault is over")
            if all(row["state"] in ("delivered", "failed") for row in rows):
                return True
            self.bench.sweep()
            return False
        wait_until(swept, FINISH_S, "the end of all callbacks", interval=0.02)

    def prove(self):
        """Balances, here and at the dealer, are those of what was done, each once."""
        total = ADJUSTED + sum(operation.moves for operation in self.operations)
        told = reading()
        wait_until(lambda: told.final(self.bench.call(told)), FINISH_S, "alice's balance",
                   interval=0.02)
        equal(told.balance, total, "alice's balance")
        book = self.bench.dealer.book
        expected = OPENING
        for operation in self.operations:
            if not operation.seamless() or operation.reads():
                continue
            done = operation.told[0] is None
            if operation.path == BETS:
                expected -= operation.body["bet_amount"] * UNITS * done
            else:
                expected += operation.body["payout_amount"] * UNITS * done
        equal(book.balances["bob"], expected, "bob's balance at the dealer")
