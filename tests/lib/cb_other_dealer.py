"""A second correct dealer, which differs from the reference dealer. It stores bets and results
in separate tables and sends empty answers. It refuses the refund of an unknown bet with
bet_not_found. Each word in `bugs` adds one error."""
import decimal
import hashlib
import hmac
import json
import threading

from cb_listener import Listening, Quiet

UNITS = 10000
PATHS = ("balance-inquire", "betting", "betting-result", "betting-refund")


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
        self.games_over = set()
        self.last_result = None
        self.inquiries = 0

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

    def betting(self, body):
        if "bet_amount" not in body and "amount_defaults" in self.bugs:
            return {}
        amount, user, game = units(body["bet_amount"]), body["user_id"], body["game_id"]
        if "user_bet_optional" not in self.bugs and not isinstance(body["user_bet"], dict):
            raise Refused(400, "bad_request", "user_bet")
        known = self.bets.get(body["transaction_id"])
        if "one_bet_a_game" in self.bugs and any(
                bet[1] == game and bet[3] == "bet" for bet in self.bets.values()):
            return {}
        if known and (known[3] == "bet" or "known_is_ok" in self.bugs):
            return {}
        if known and known[3] != "refused":
            raise Refused(409, "too_late", "the bet was refunded")
        if known or amount > self.balances[user]:
            if "forgets_refusals" not in self.bugs:
                self.bets[body["transaction_id"]] = [user, game, amount, "refused"]
            raise Refused(402, "no_credit", "the balance is too low")
        before = self.balances[user]
        if "free_bets" not in self.bugs:
            self.balances[user] -= amount
        self.bets[body["transaction_id"]] = [user, game, amount, "bet"]
        if "answer_before" in self.bugs:
            return self.told(user, before)
        return {}

    def betting_result(self, body):
        outcome, number = body["result"], body["transaction_id"]
        if outcome == "loss":
            units(body["payout_amount"])
            self.games_over.add(body["game_id"])
            return {}
        if outcome not in ("win", "refund") and "else_win" not in self.bugs:
            raise Refused(400, "bad_request", "result")
        payout = units(body["payout_amount"])
        if "win_amount" in body and "stake_and_win" in self.bugs and outcome == "win":
            payout = int((body["bet_amount"] + body["win_amount"]) * UNITS)
        if not payout and "no_zero" in self.bugs:
            raise Refused(400, "bad_request", "payout_amount")
        known = self.last_result == number if "remembers_last" in self.bugs \
            else number in self.results
        if not known and "no_wins" not in self.bugs:
            self.balances[body["user_id"]] += payout
        self.results[number] = payout
        self.last_result = number
        self.games_over.add(body["game_id"])
        return {}

    def betting_refund(self, body):
        user, game, amount = body["user_id"], body["game_id"], units(body["bet_amount"])
        number = body["transaction_id"]
        bet = self.bets.setdefault(number, [user, game, amount, "tombstone"])
        if bet[3] == "tombstone":
            word = "no_such_bet" if "own_word" in self.bugs else "bet_not_found"
            raise Refused(404, word, "it never came")
        if game in self.games_over and "closed_game" in self.bugs:
            raise Refused(409, "game_over", "the game is over")
        if "no_refunds" in self.bugs:
            return {}
        for other in list(self.bets.values()):
            if other is bet or ("refunds_game" in self.bugs and other[1] == game):
                self.balances[user] += other[2] if other[3] == "bet" else 0
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
        if code >= 400 and "error_text" in bugs:
            payload = b"no"
        last = (self.headers["Connection"] or "").lower() == "close"
        self.send_response(code)
        if payload:
            self.send_header("Content-Type", "text/html" if "says_html" in bugs
                             else "Application/JSON; charset=utf-8")
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

    def signed(self, payload):
        bugs = self.server.book.bugs
        name = "x-casino-signature"
        if "header_as_written" in bugs:
            given = dict(self.headers.items()).get(name, "")
        else:
            given = self.headers[name] or ""
        if "strips" in bugs:
            payload = payload.strip()
        rights = [hmac.new(key.encode(), payload, hashlib.sha256).hexdigest()
                  for key in (self.server.key, *self.server.other_keys)]
        if "prefix" in bugs:
            return given and rights[0].startswith(given)
        return any(hmac.compare_digest(right, given) for right in rights)

    def check(self, kind, body):
        bugs = self.server.book.bugs
        sent_as = self.headers["webhook-id"]
        if {"user_bet_optional", "result_defaults"} & bugs:
            sent_as = None
        if sent_as and sent_as.rpartition("-")[0] != kind:
            raise Refused(400, "bad_request", "webhook-id")
        # The required members exclude bodies of other kinds. A bet has all members of a
        # betting-refund, and more.
        if kind == "betting-refund" and {"user_bet", "result"} & set(body):
            raise Refused(400, "bad_request", "that is no refund")
        if kind == "betting" and "result" in body:
            raise Refused(400, "bad_request", "that is no bet")
        if kind == "betting" and "user_bet" not in body and "user_bet_optional" not in bugs:
            raise Refused(400, "bad_request", "user_bet")
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
        if not self.signed(payload):
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
            return getattr(book, kind.replace("-", "_"))(body)
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(400, "bad_request", repr(error)) from error

    def do_POST(self):
        kind = self.path.strip("/")
        payload = self.read()
        with self.server.lock:
            self.server.calls += 1
            try:
                answer = (200, self.serve(kind, payload))
            except Refused as refused:
                code, error_id, detail = refused.args
                answer = (code, {"id": error_id, "detail": detail})
        self.answer(*answer)

    def do_GET(self):
        book = self.server.book
        with self.server.lock:
            for user in book.balances if "get_debits" in book.bugs else ():
                book.balances[user] -= UNITS
        self.answer(404, {"id": "not_found", "detail": "POST it"})


class OtherDealer(Listening):
    """Has one user with 1000 credits."""

    def __init__(self, port, key, user_id, bugs=()):
        super().__init__(Handler, port)
        self.key = key
        self.other_keys = []  # of other dealers that use this server
        self.lock = threading.Lock()
        self.calls = 0
        self.book = Book(frozenset(bugs))
        self.book.balances[user_id] = 1000 * UNITS
