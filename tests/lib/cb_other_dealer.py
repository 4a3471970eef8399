"""A second correct dealer, which differs from the reference dealer. It stores bets and results
in separate tables and sends empty answers. It refuses the refund of an unknown bet with
bet_not_found. Each word in `bugs` adds one error, or another way that a setting of a dealer allows:
already_done (duplicate_ids), tells_balance (success_needs_balance), wants_currency (send_currency).

With `form`, a row of cb_error_forms.py, it answers errors with status 200 in that form: all of them, or
only those for users that it does not know (`form_of` "strangers")."""
import collections
import contextlib
import decimal
import hashlib
import hmac
import json
import math
import threading
import time

from cb_listener import Listening, Quiet
from cb_process import SLOWER

UNITS = 10000
PATHS = ("balance-inquire", "betting", "betting-result", "betting-refund", "betting-correction")
# A dealer that checks a signature, but not at this path or not all of it.
UNCHECKED = ("unsigned", "any_key", "altered")
# How long a dealer without a lock works between reading and writing, at most: less than the 3 s that a call has.
RACE_S = min(2.0, 0.8 * SLOWER)
RACES = {"no_lock", "check_then_insert", "credit_then_insert", "refund_then_mark"}


class Refused(Exception):
    """An error answer: code, id, detail."""


def units(number):
    """Converts an amount of credit to 1/10000; decimal.Decimal keeps every digit of the body."""
    amount = decimal.Decimal(number) * UNITS
    if amount != amount.to_integral_value() or amount < 0:
        raise Refused(400, "invalid_amount", "the amount is not valid")
    return int(amount)


class Book:
    """The dealer's data. It handles one call at a time."""

    def __init__(self, bugs):
        self.bugs = bugs
        self.balances = {}
        self.bets = {}  # transaction_id -> [user_id, game_id, amount, state]
        self.results = {}  # transaction_id -> the body's values
        self.corrections = {}  # transaction_id -> [taken, the answer]
        self.losses = set()
        self.won_games = set()
        self.games_over = set()
        self.racing = threading.Condition()
        self.readers = 0
        self.last_result = None
        self.inquiries = 0
        self.floats = {}

    def balance(self, body):
        user = body["user_id"]
        if user not in self.balances:
            raise Refused(404, "user_not_found", "who is that?")
        self.inquiries += 1
        told = self.told(user, self.balances[user])
        if "forgets_currency" in self.bugs and self.inquiries > 1:
            del told["currency"]
        return told

    def told(self, user, balance):
        # json cannot encode Decimal; a float of this size represents 1/10000 of a credit.
        return {"user_id": user, "balance": balance / UNITS, "currency": "thb"}

    def is_quiet(self, kind, body):
        """A framework that leaves the balance out of the answer to further bets of a game."""
        return "quiet_additions" in self.bugs and kind == "betting" and any(
            bet[1] == body["game_id"] and number != body["transaction_id"]
            for number, bet in self.bets.items())

    def restart(self):
        """Keeps the data that a restart of the server leaves."""
        if "memory_only" in self.bugs:
            self.balances = {user: 1000 * UNITS for user in self.balances}
        if {"memory_only", "forgets_ids"} & self.bugs:
            self.bets, self.results, self.corrections = {}, {}, {}

    def race(self, bug):
        """Between reading and writing, without a lock: waits for another call that has read, too."""
        if bug not in self.bugs:
            return
        with self.racing:
            self.readers += 1
            self.racing.notify_all()
            self.racing.wait_for(lambda: self.readers > 1, RACE_S)
        with self.racing:
            self.readers -= 1

    def bet_is_new(self, number, amount, user, game):
        """A bet that was taken before is no new one."""
        if "equal_is_same" in self.bugs and any(bet[:3] == [user, game, amount] and bet[3] == "bet"
                                                for bet in self.bets.values()):
            return False
        known = self.bets.get(number)
        if "one_bet_a_game" in self.bugs and any(
                bet[1] == game and bet[3] == "bet" for bet in self.bets.values()):
            return False
        if known and (known[3] == "bet" or "known_is_ok" in self.bugs or
                      known[3] == "refunded" and "refunded_is_ok" in self.bugs):
            return False
        if known and known[3] != "refused":
            raise Refused(409, "too_late", "the bet was refunded")
        return True

    def charged(self, game, amount):
        """Returns the amount that is debited for a stake of @amount."""
        if "float_sum" not in self.bugs:
            return amount
        before = self.floats.get(game, 0.0)
        self.floats[game] = before + amount / UNITS
        return (math.ceil(self.floats[game] * 100) - math.ceil(before * 100)) * (UNITS // 100)

    def spend(self, user, amount):
        """Returns False if the balance is too low."""
        before = self.balances[user]
        if amount > before:
            return False
        self.race("no_lock")
        if "free_bets" not in self.bugs:
            self.balances[user] = before - amount
        return True

    def betting(self, body):
        if "bet_amount" not in body and "amount_defaults" in self.bugs:
            return {}
        amount, user, game = units(body["bet_amount"]), body["user_id"], body["game_id"]
        if user not in self.balances:
            raise Refused(404, "user_not_found", "who is that?")
        if "user_bet_optional" not in self.bugs and not isinstance(body["user_bet"], dict):
            raise Refused(400, "bad_request", "user_bet")
        number, before = body["transaction_id"], self.balances[user]
        if not self.bet_is_new(number, amount, user, game):
            return {}
        self.race("check_then_insert")
        if number in self.bets or not self.spend(user, self.charged(game, amount)):
            if self.bets.get(number, [""])[-1] == "bet" and "check_then_insert" in self.bugs:
                self.balances[user] -= amount
                return {}
            if "forgets_refusals" not in self.bugs:
                self.bets[number] = [user, game, amount, "refused"]
            if "exception_is_ok" in self.bugs:
                return {}
            raise Refused(402, "no_credit", "the balance is too low")
        self.bets[number] = [user, game, amount, "bet"]
        if "answer_before" in self.bugs:
            return self.told(user, before)
        return {}

    def loss(self, body):
        units(body["payout_amount"])
        if "losses_conflict" in self.bugs and self.losses - {body["game_id"]} or \
                "losses_once" in self.bugs and body["game_id"] in self.losses:
            raise Refused(409, "transaction_conflict", "another loss has this transaction_id")
        self.losses.add(body["game_id"])
        self.games_over.add(body["game_id"])
        return {}

    def result_is_new(self, body):
        number, outcome = body["transaction_id"], body["result"]
        if "cancels_twice" in self.bugs and outcome == "refund":
            return True
        if "corrects_twice" in self.bugs and "corrects_revision" in body:
            return True
        if "one_win_a_game" in self.bugs and body["game_id"] in self.won_games:
            return False
        if "no_corrections" in self.bugs and "corrects_revision" in body:
            return False
        return self.last_result != number if "remembers_last" in self.bugs else number not in self.results

    def betting_result(self, body):
        outcome, number = body["result"], body["transaction_id"]
        if outcome == "loss":
            return self.loss(body)
        if outcome not in ("win", "refund") and "else_win" not in self.bugs:
            raise Refused(400, "bad_request", "result")
        payout = units(body["payout_amount"])
        if "win_amount" in body and "stake_and_win" in self.bugs and outcome == "win":
            payout = int((body["bet_amount"] + body["win_amount"]) * UNITS)
        if not payout and "no_zero" in self.bugs:
            raise Refused(400, "bad_request", "payout_amount")
        new = self.result_is_new(body)
        if not new and "already_done" in self.bugs:
            raise Refused(409, "already_done", "the result is known")
        self.race("credit_then_insert")
        if new and "text_money" in self.bugs:
            text = f"{self.balances[body['user_id']] // UNITS}{payout // UNITS}"
            self.balances[body["user_id"]] = int(text) * UNITS
        elif new and {"win": "no_wins", "refund": "no_cancels"}.get(outcome) not in self.bugs:
            self.balances[body["user_id"]] += payout
        self.results[number] = payout
        self.last_result = number
        self.won_games.add(body["game_id"])
        self.games_over.add(body["game_id"])
        return {}

    def betting_correction(self, body):
        user, number = body["user_id"], body["transaction_id"]
        amount = units(body["previous_payout_amount"]) - units(body["payout_amount"])
        known = self.corrections.get(number)
        if known and "takes_twice" not in self.bugs:
            if "forgets_shortfall" in self.bugs and known["shortfall"]:
                return {**known, "shortfall": 0}
            if "answers_anew" in self.bugs:
                return {"known": True}
            return known
        taken = min(amount, self.balances[user])
        if "takes_nothing" not in self.bugs:
            self.balances[user] -= taken
        self.corrections[number] = {**self.told(user, self.balances[user]), "shortfall": (amount - taken) / UNITS}
        return self.corrections[number]

    def betting_refund(self, body):
        user, game, amount = body["user_id"], body["game_id"], units(body["bet_amount"])
        number = body["transaction_id"]
        bet = self.bets.setdefault(number, [user, game, amount, "tombstone"])
        if bet[3] == "tombstone":
            if "result" in body:
                self.results[number] = 0
            word = "no_such_bet" if "own_word" in self.bugs else "bet_not_found"
            raise Refused(404, word, "it never came")
        if bet[3] == "refunded" and "already_done" in self.bugs:
            raise Refused(409, "already_done", "the bet was refunded")
        if game in self.games_over and "closed_game" in self.bugs:
            raise Refused(409, "game_over", "the game is over")
        if "no_refunds" in self.bugs:
            return {}
        for other in list(self.bets.values()):
            if other is bet or ("refunds_game" in self.bugs and other[1] == game):
                back = other[2] if other[3] == "bet" else 0
                self.race("refund_then_mark")
                self.balances[user] += back
                other[3] = "refunded"
        return {}


class Handler(Quiet):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def answer(self, code, body):
        """Sends an answer. An empty @body stays empty, which means success."""
        bugs = self.server.book.bugs
        payload = json.dumps(body).encode() if body else b""
        kind = self.path.strip("/")
        if code >= 400 and ("error_text" in bugs or code == 400 and "error_text_400" in bugs or
                            kind == "balance-inquire" and "error_text_balance" in bugs):
            payload = b"no"
        form, form_of = self.server.form
        content_type = "text/html" if "says_html" in bugs else "Application/JSON; charset=utf-8"
        if form and code >= 400 and (form_of == "all" or body.get("id") == "user_not_found"):
            code, content_type, payload = 200, form[1], form[2].encode()
        last = (self.headers["Connection"] or "").lower() == "close"
        self.send_response(code)
        if payload:
            self.send_header("Content-Type", content_type)
        if last and "never_closes" in bugs:
            self.close_connection = False
        else:
            self.send_header("Content-Length", str(len(payload)))
        if self.close_connection and not last:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(payload)

    def read(self):
        length = int(self.headers["Content-Length"])
        if "reads_once" not in self.server.book.bugs:
            return self.rfile.read(length)
        self.close_connection = True
        return self.rfile.read1(length)

    def signed(self, kind, payload):
        bugs = self.server.book.bugs
        found = [how for how in UNCHECKED if f"{how}_{kind}" in bugs]
        name = "x-casino-signature"
        if "header_as_written" in bugs:
            given = dict(self.headers.items()).get(name, "")
        else:
            given = self.headers[name] or ""
        if "strips" in bugs:
            payload = payload.strip()
        if found and not given:
            return "unsigned" in found
        if "any_key" in found:
            return True
        payloads = [payload]
        for name in (b'"payout_amount":', b'"bet_amount":') if "altered" in found else ():
            at = payload.find(name) + len(name)
            payloads += [payload[:at] + b"%d" % digit + payload[at + 1:] for digit in range(1, 10)]
        rights = [hmac.new(key.encode(), each, hashlib.sha256).hexdigest() for each in payloads
                  for key in (self.server.key, *self.server.other_keys)]
        if "prefix" in bugs:
            return given and rights[0].startswith(given)
        return any(hmac.compare_digest(right, given) for right in rights)

    def check(self, kind, body):
        bugs = self.server.book.bugs
        sent_as = self.headers["webhook-id"]
        bare = not sent_as and "kind_by_header" in bugs
        as_result = "result" in body and f"result_at_{kind}" in bugs
        if bare or as_result:
            return
        if {"user_bet_optional", "result_defaults"} & bugs:
            sent_as = None
        if sent_as and sent_as.rpartition("-")[0] != kind:
            raise Refused(400, "bad_request", "webhook-id")
        # The required members exclude bodies of other kinds. A bet has all members of a
        # betting-refund, and more.
        if kind == "betting-refund" and {"user_bet", "result"} & set(body):
            raise Refused(400, "bad_request", "that is no refund")
        if kind == "betting-correction" and {"user_bet", "result"} & set(body):
            raise Refused(400, "bad_request", "that is no correction")
        if kind == "betting" and "result" in body:
            raise Refused(400, "bad_request", "that is no bet")
        if kind == "betting" and "user_bet" not in body and "user_bet_optional" not in bugs:
            raise Refused(400, "bad_request", "user_bet")
        if "wants_currency" in bugs and kind != "betting-correction" and body.get("currency") != "thb":
            raise Refused(400, "bad_request", "currency")
        if "strict" in bugs and any(name.startswith("exam_") for name in body):
            raise Refused(400, "bad_request", "unknown members")
        if "ordered" in bugs and next(iter(body)) not in ("user_id", "bet_amount"):
            raise Refused(400, "bad_request", "order")
        if "needs_win_amount" in bugs and kind == "betting-result" and "win_amount" not in body:
            raise Refused(400, "bad_request", "win_amount")
        if kind == "betting-result" and "result_defaults" in bugs:
            body.setdefault("result", "win")
            body.setdefault("payout_amount", body["bet_amount"])

    def spelled(self, payload):
        bugs = self.server.book.bugs
        if "no_white_space" in bugs and b"\n" in payload.strip():
            raise Refused(400, "bad_request", "white space")
        if "short_decimals" in bugs and b".30," in payload:
            raise Refused(400, "bad_request", "0.30")
        if "small_bodies" in bugs and len(payload) > 32768:
            raise Refused(413, "too_large", "32 KiB")
        if "64_bits" in bugs and b"12345678901234567890" in payload:
            raise Refused(400, "bad_request", "number")

    def serve(self, kind, payload):
        book = self.server.book
        if not self.signed(kind, payload):
            if "remembers_unsigned" in book.bugs and kind == "betting" and payload:
                body = json.loads(payload)
                book.bets.setdefault(body["transaction_id"], ["", "", 0, "bet"])
            raise Refused(401, "who_are_you", "the signature is wrong")
        try:
            body = json.loads(payload, parse_float=decimal.Decimal)
            self.spelled(payload)
            self.check(kind, body)
            if kind == "balance-inquire":
                return book.balance(body)
            answer = getattr(book, kind.replace("-", "_"))(body)
            if "tells_balance" in book.bugs and not book.is_quiet(kind, body):
                answer = {**book.told(body["user_id"], book.balances[body["user_id"]]), **answer}
            return answer
        except ValueError as error:
            code = 500 if "json_crashes" in book.bugs else 400
            raise Refused(code, "bad_request", repr(error)) from error
        except (KeyError, TypeError) as error:
            raise Refused(400, "bad_request", repr(error)) from error

    def do_POST(self):
        kind = self.path.strip("/")
        payload = self.read()
        with self.server.counting:
            self.server.calls += 1
        # A dealer with a race has no lock.
        with contextlib.nullcontext() if RACES & self.server.book.bugs else self.server.lock:
            try:
                answer = (200, self.serve(kind, payload))
            except Refused as refused:
                code, error_id, detail = refused.args
                answer = (code, {"id": error_id, "detail": detail})
        self.server.asked[self.headers["webhook-id"]] += 1
        if self.server.asked[self.headers["webhook-id"]] == 9 and "tires" in self.server.book.bugs:
            answer = (500, {})
        if kind == "betting-result" and self.server.late_result_s:
            delay, self.server.late_result_s = self.server.late_result_s, 0
            time.sleep(delay)
        self.answer(*answer)

    def do_GET(self):
        book = self.server.book
        if self.path == "/restart":
            with self.server.lock:
                self.server.restarts += 1
                book.restart()
            self.answer(200, {})
            return
        with self.server.lock:
            for user in book.balances if "get_debits" in book.bugs else ():
                book.balances[user] -= UNITS
        self.answer(404, {"id": "not_found", "detail": "POST it"})


class OtherDealer(Listening):
    """Has one user with 1000 credits. GET /restart stands for a restart of the server."""

    def __init__(self, port, key, user_id, bugs=(), form=None):
        super().__init__(Handler, port)
        self.key = key
        self.other_keys = []  # of other dealers that use this server
        self.lock = threading.Lock()
        self.counting = threading.Lock()
        self.calls = 0
        self.restarts = 0
        self.asked = collections.Counter()  # calls by webhook-id
        self.form = (form, "all")
        self.late_result_s = 0  # how late the next result is answered
        self.book = Book(frozenset(bugs))
        self.book.balances[user_id] = 1000 * UNITS
