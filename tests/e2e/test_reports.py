#!/usr/bin/python3
"""A4 and A5 from outside: what a player has bet and won by days, and how a game ended.

Bets are placed as a game server would, in both wallet modes, on lighttpd and on Apache mod_fcgid;
each report is asked for by GET with a body and by POST.
"""
import collections
import datetime
import itertools
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import RESULT_INQUIRE, STAT, check, equal  # noqa: E402
from cb_dealer import BETTING, BETTING_RESULT  # noqa: E402
from cb_platform import (BETS, LOOPBACK, PLAYERS, RESULTS, client_add, platform_call,  # noqa: E402
                         seamless_dealer)

DAYS = 30
ROUND_BETS_MAX = 256
OPENING = 1000  # what a player has at the reference dealer
# A change takes effect within this time on all workers (contract, "What an operator may change").
EFFECT_S = 1.0
ERROR_KEYS = {"id", "code", "status", "detail", "retryable", "request_id"}
ZERO = {"bet_count": 0, "turnover": 0, "profit_loss": 0}
BET_KEYS = ["transaction_id", "bet_amount", "addition", "timestamp", "state", "remark", "user_bet"]
ROUND_KEYS = ["result", "bet_amount", "addition_amount", "win_amount", "payout_amount", "timestamp"]
OBJECT_KEYS = ["user_bet", "game_result", "user_bet_result"]
# Numbers that no float keeps, and white space: what came in must come out.
ODD = b'{ "red" : 0.10,\t"n":[1e400,0.30000000000000004,18446744073709551615,-0],"u":"\\u00e9\xc3\xa9" }'
numbers = itertools.count(1)


def new_id(what="ref"):
    return f"{what}-{os.getpid()}-{next(numbers)}"


def day_of(offset_min, at=None):
    """Today's date with the dealer's day boundary."""
    moment = datetime.datetime.fromtimestamp(at or time.time(), datetime.timezone.utc)
    return (moment + datetime.timedelta(minutes=offset_min)).date()


def sums(count, turnover, profit):
    return {"bet_count": count, "turnover": turnover, "profit_loss": profit}


def refused(answer, code, error_id):
    body = answer.json
    equal((answer.status, body.get("id")), (code, error_id), f"refusal {answer}")
    equal(body["request_id"], answer.header("X-Request-Id"), "request_id")
    equal(set(body), ERROR_KEYS, f"members of {body}")
    return body


class Bench:
    """A server with a dealer of each mode and a game server."""

    def __init__(self, wallet, kind):
        self.wallet = wallet
        self.kind = kind
        self.server = self.client = self.transfer = self.seamless = self.reference = None

    def start(self):
        self.transfer = self.wallet.dealer_add(new_id("dealer"))
        self.seamless, self.reference = seamless_dealer(
            self.wallet, new_id("seamless"), words=("--max-inflight", "100"))
        self.client = client_add(self.wallet, new_id("game"))
        self.server = self.kind(self.wallet, threads=8)
        equal(platform_call(self.server, "/healthz", method="GET").status, 200, "healthz")

    def stop(self):
        if self.reference:
            self.reference.close()
        if self.server:
            self.server.stop()
            equal(self.wallet.worker_pids(), [], "workers left behind")

    def modes(self):
        return (self.transfer, self.seamless)

    def dealer_new(self, *options):
        dealer = self.wallet.dealer_add(new_id("dealer"), *options)
        time.sleep(EFFECT_S)
        return dealer

    # -- the platform's side

    def platform(self, path, body):
        return platform_call(self.server, path, body, client=self.client)

    def player(self, dealer, amount=OPENING):
        user_id = new_id("user")
        answer = self.platform(PLAYERS, {"casino_id": dealer.casino_id, "user_id": user_id})
        equal(answer.status, 200, f"{answer}")
        if dealer.mode == "transfer" and amount:
            answer = cb.call(self.server, "POST", cb.TRANSFER_IN,
                             {"user_id": user_id, "amount": amount,
                              "request_transaction_id": new_id()}, dealer=dealer)
            equal(answer.status, 200, f"{answer}")
        return user_id

    def bet(self, dealer, user_id, game_id, amount, code=200, **more):
        answer = self.platform(BETS, {
            "request_transaction_id": new_id("bet"), "game_id": game_id, "bet_amount": amount,
            "casino_id": dealer.casino_id, "user_id": user_id, **more})
        equal(answer.status, code, f"bet {answer}")
        return answer.json.get("transaction_id")

    def raw_bet(self, dealer, user_id, game_id, user_bet):
        """A bet of 1 with an object that is sent byte for byte."""
        body = json.dumps({"request_transaction_id": new_id("bet"), "game_id": game_id,
                           "bet_amount": 1, "casino_id": dealer.casino_id,
                           "user_id": user_id}).encode()
        answer = self.platform(BETS, body[:-1] + b',"user_bet":' + user_bet + b"}")
        equal(answer.status, 200, f"bet {answer}")

    def result(self, dealer, user_id, game_id, result, payout=None, **more):
        body = {"request_transaction_id": new_id("result"), "game_id": game_id, "result": result,
                "casino_id": dealer.casino_id, "user_id": user_id, **more}
        if payout is not None:
            body["payout_amount"] = payout
        answer = self.platform(RESULTS, body)
        equal(answer.status, 200, f"result {answer}")
        return answer.json

    # -- the dealer's side

    def call(self, path, body, dealer, method="GET", **words):
        return cb.call(self.server, method, path, body, dealer=dealer, **words)

    def read(self, path, body, dealer):
        """The answer that GET with a body and POST must both give."""
        answers = [self.call(path, body, dealer, method) for method in ("GET", "POST")]
        for answer in answers:
            equal(answer.status, 200, f"{path} {body}: {answer}")
            equal(answer.header("Content-Type"), "application/json", "Content-Type")
            equal(answer.header("Cache-Control"), "no-store", "Cache-Control")
        equal(answers[0].body, answers[1].body, "GET and POST")
        return answers[0]

    def stat(self, dealer, user_id, days=True):
        body = {"user_id": user_id, "request_timestamp": cb.now_ms()}
        if days:
            body["include_data"] = ["bet_summary"]
        return self.read(STAT, body, dealer).json

    def inquire(self, dealer, user_id, game_id):
        return self.read(RESULT_INQUIRE, {"user_id": user_id, "game_id": game_id}, dealer)


def stands(b, dealer, user_id, count, turnover, profit):
    """All time, and today, which holds all of it."""
    expected = sums(count, turnover, profit)
    answer = b.stat(dealer, user_id)
    equal({key: answer[key] for key in expected}, expected, "of all time")
    rows = answer["bet_summary"]
    equal(len(rows), DAYS, "days")
    today = {key: rows[-1][key] for key in expected}
    # The case may have begun before midnight.
    both = {key: rows[-1][key] + rows[-2][key] for key in expected}
    check(expected in (today, both), f"today: {rows[-2:]}, expected {expected}")
    for row in rows[:-2]:
        equal({key: row[key] for key in ZERO}, ZERO, f"{row}")
    return answer


# -- A4


def case_nothing(b):
    """A player without bets."""
    for dealer in b.modes():
        user = b.player(dealer)
        before = day_of(0)
        answer = b.stat(dealer, user)
        after = day_of(0)
        equal(list(answer), ["user_id", "player_id", "currency", "bet_count", "turnover",
                             "profit_loss", "bet_summary", "utc_offset"], "members")
        equal((answer["user_id"], answer["currency"], answer["utc_offset"]), (user, "thb", 0), "")
        check(len(answer["player_id"]) == 20, f"{answer['player_id']}")
        equal({key: answer[key] for key in ZERO}, ZERO, "sums")
        last = datetime.date.fromisoformat(answer["bet_summary"][-1]["date"])
        check(before <= last <= after, f"today: {last}")
        equal(answer["bet_summary"],
              [{"date": (last - datetime.timedelta(days=DAYS - 1 - i)).isoformat(), **ZERO}
               for i in range(DAYS)], "days")
        short = b.stat(dealer, user, days=False)
        equal(short, {key: answer[key] for key in list(answer)[:6]}, "without bet_summary")
        body = {"user_id": user, "request_timestamp": cb.now_ms(), "include_data": []}
        equal(b.read(STAT, body, dealer).json, short, "nothing included")


def case_sums(b):
    """Bets, additions, a win, a loss, a refund (contract, "Statistics")."""
    for dealer in b.modes():
        user = b.player(dealer)
        game = new_id("game")
        b.bet(dealer, user, game, 10.5)
        stands(b, dealer, user, 1, 0, 0)
        b.bet(dealer, user, game, 5, addition=True)
        b.bet(dealer, user, game, 0.25)
        stands(b, dealer, user, 2, 0, 0)
        b.result(dealer, user, game, "win", 40)
        stands(b, dealer, user, 2, 15.75, 24.25)
        game = new_id("game")
        b.bet(dealer, user, game, 100)
        b.result(dealer, user, game, "loss")
        stands(b, dealer, user, 3, 115.75, -75.75)
        game = new_id("game")
        b.bet(dealer, user, game, 30)
        b.bet(dealer, user, game, 3, addition=True)
        stands(b, dealer, user, 4, 115.75, -75.75)
        b.result(dealer, user, game, "refund")
        answer = stands(b, dealer, user, 3, 115.75, -75.75)
        # Money is a number with a point.
        body = {"user_id": user, "request_timestamp": cb.now_ms()}
        check(b'"turnover":115.75,"profit_loss":-75.75}' in b.read(STAT, body, dealer).body,
              f"{answer}")


def case_never_accepted(b):
    """Bets that the dealer refused, or that are being refunded, do not count as bets of the
    player."""
    dealer = b.seamless
    user, game = b.player(dealer), new_id("game")
    b.reference.fault("refuse", kind=BETTING, user_id=user, times=1)
    b.bet(dealer, user, game, 10, code=409)
    b.reference.fault("status", kind=BETTING, user_id=user, times=1, code=502)
    b.bet(dealer, user, game, 10, code=504)
    stands(b, dealer, user, 0, 0, 0)
    b.bet(dealer, user, game, 10)
    # The dealer did not hear of the result: the round is settled all the same.
    b.reference.fault("status", kind=BETTING_RESULT, user_id=user, times=3, code=502)
    b.result(dealer, user, game, "win", 11)
    stands(b, dealer, user, 1, 10, 1)


def case_stat_refused(b):
    dealer, user = b.transfer, b.player(b.transfer)
    now = cb.now_ms()
    good = {"user_id": user, "request_timestamp": now, "include_data": ["bet_summary"]}
    for name, value, word in (
            ("user_id", None, "required"), ("user_id", 7, "string"), ("user_id", "", "1 to 128"),
            ("request_timestamp", None, "required"), ("request_timestamp", "1", "integer"),
            ("request_timestamp", 1.5, "integer"), ("request_timestamp", -1, "integer"),
            ("include_data", "bet_summary", "array"), ("include_data", {"bet_summary": 1}, "array"),
            ("include_data", True, "array"), ("include_data", ["bets"], "known"),
            ("include_data", ["bet_summary", "bets"], "known"), ("include_data", [None], "known")):
        body = {key: old for key, old in good.items() if key != name}
        if value is not None:
            body[name] = value
        for method in ("GET", "POST"):
            detail = refused(b.call(STAT, body, dealer, method), 400, "bad_request")["detail"]
            check(detail.startswith(f"{name}: ") and word in detail, f"{body}: {detail}")
    refused(b.call(STAT, b'{"user_id":"a","include_data":null,"request_timestamp":1}', dealer),
            400, "bad_request")
    for off_s, stale in ((-310, True), (-290, False), (290, False), (310, True)):
        body = dict(good, request_timestamp=cb.now_ms() + off_s * 1000)
        answer = b.call(STAT, body, dealer)
        if stale:
            refused(answer, 401, "stale_request")
        else:
            equal(answer.status, 200, f"{off_s} s off: {answer}")
    refused(b.call(STAT, dict(good, user_id="nobody"), dealer), 404, "user_not_found")
    # Another dealer's player is not found.
    refused(b.call(STAT, good, b.seamless), 404, "user_not_found")


# -- A5


def shown(answer, status, settled, objects=()):
    """@answer has the shape of its status; its bets."""
    body = answer.json
    equal(list(body), ["user_id", "player_id", "game_id", "status",
                       *(ROUND_KEYS if settled else ()), *objects, "bets"], "members")
    equal(body["status"], status, f"status of {body}")
    for bet in body["bets"]:
        equal(list(bet), BET_KEYS, "members of a bet")
        check(abs(bet["timestamp"] - cb.now_ms()) < 300000, f"timestamp of {bet}")
    return body["bets"]


def case_game(b):
    """From the first bet to the result, in both modes."""
    for dealer in b.modes():
        user, game = b.player(dealer), new_id("game")
        refused(b.call(RESULT_INQUIRE, {"user_id": user, "game_id": game}, dealer), 404,
                "game_not_found")
        first = b.bet(dealer, user, game, 10.5, remark="ro\u00fblette", user_bet={"red": 10.5})
        second = b.bet(dealer, user, game, 5, addition=True)
        answer = b.inquire(dealer, user, game)
        bets = shown(answer, "pending", False)
        for bet in bets:
            bet.pop("timestamp")
        equal(bets, [
            {"transaction_id": first, "bet_amount": 10.5, "addition": False, "state": "accepted",
             "remark": "ro\u00fblette", "user_bet": {"red": 10.5}},
            {"transaction_id": second, "bet_amount": 5, "addition": True, "state": "accepted",
             "remark": "", "user_bet": {}}], "bets")
        equal((answer.json["user_id"], answer.json["game_id"]), (user, game), "names")
        b.result(dealer, user, game, "win", 40, user_bet={"a": 1}, game_result={"number": 7},
                 user_bet_result={"won": ["red"]})
        answer = b.inquire(dealer, user, game)
        bets = shown(answer, "settled", True, OBJECT_KEYS)
        equal([bet["state"] for bet in bets], ["settled"] * 2, "states")
        body = answer.json
        check(abs(body["timestamp"] - cb.now_ms()) < 300000, f"{body}")
        equal([body[key] for key in ROUND_KEYS[:-1]], ["win", 10.5, 5, 24.5, 40], "the round")
        equal([body[key] for key in OBJECT_KEYS],
              [{"a": 1}, {"number": 7}, {"won": ["red"]}], "objects")
        check(b'"bet_amount":10.5,"addition_amount":5.0,"win_amount":24.5,"payout_amount":40.0,'
              in answer.body, f"{answer}")


def case_statuses(b):
    for dealer in b.modes():
        user, game = b.player(dealer), new_id("game")
        b.bet(dealer, user, game, 10)
        b.result(dealer, user, game, "loss")
        shown(b.inquire(dealer, user, game), "settled", True)
        game = new_id("game")
        b.bet(dealer, user, game, 10)
        b.bet(dealer, user, game, 1, addition=True)
        b.result(dealer, user, game, "refund", game_result={})
        answer = b.inquire(dealer, user, game)
        shown(answer, "refunded", True, ["game_result"])
        equal([answer.json[key] for key in ROUND_KEYS[:-1]], ["refund", 10, 1, 0, 11], "the round")


def case_seamless_statuses(b):
    dealer = b.seamless
    user, game = b.player(dealer), new_id("game")
    b.reference.fault("refuse", kind=BETTING, user_id=user, times=1)
    b.bet(dealer, user, game, 10, code=409)
    body = {"user_id": user, "game_id": game}
    for method in ("GET", "POST"):
        refused(b.call(RESULT_INQUIRE, body, dealer, method), 404, "game_not_found")
    b.reference.fault("status", kind=BETTING, user_id=user, times=1, code=502)
    b.bet(dealer, user, game, 10, code=504)
    bets = shown(b.inquire(dealer, user, game), "refunded", False)
    equal([bet["state"] for bet in bets], ["rejected", "refunding"], "states")
    b.bet(dealer, user, game, 10)
    bets = shown(b.inquire(dealer, user, game), "pending", False)
    equal([bet["state"] for bet in bets], ["rejected", "refunding", "accepted"], "states")
    b.result(dealer, user, game, "loss")
    bets = shown(b.inquire(dealer, user, game), "settled", True)
    equal([bet["state"] for bet in bets], ["rejected", "refunding", "settled"], "states")


def case_objects(b):
    """Objects byte for byte; a dealer's B2 and B3 hold the same."""
    for dealer in b.modes():
        user, game = b.player(dealer), new_id("game")
        b.raw_bet(dealer, user, game, ODD)
        check(b'"user_bet":' + ODD + b"}]}" in b.inquire(dealer, user, game).body, "user_bet")
        body = json.dumps({"request_transaction_id": new_id("result"), "game_id": game,
                           "result": "loss", "casino_id": dealer.casino_id,
                           "user_id": user}).encode()
        body = body[:-1] + b"".join(b',"%s": %s' % (key.encode(), ODD) for key in OBJECT_KEYS) + b"}"
        equal(b.platform(RESULTS, body).status, 200, "the result")
        answer = b.inquire(dealer, user, game)
        for key in OBJECT_KEYS:
            check(b'"%s":%s,' % (key.encode(), ODD) in answer.body, f"{key} in {answer.body}")


def case_full_round(b):
    """The longest round, with objects: 1 MiB."""
    dealer = b.dealer_new("--rate-limit", "2")
    user, game = b.player(dealer, 0), new_id("game")
    time.sleep(1)  # for the calls that are limited
    cb.call(b.server, "POST", cb.TRANSFER_IN, {"user_id": user, "amount": 256,
                                               "request_transaction_id": new_id()}, dealer=dealer)
    wanted = [{"n": number, "text": "\u00e9" * 300 + "x" * 2200}
              for number in range(ROUND_BETS_MAX)]
    for details in wanted:
        b.bet(dealer, user, game, 1, user_bet=details)
    cb.wait_until(lambda: b.call(RESULT_INQUIRE, {"user_id": user, "game_id": game},
                                 dealer).status == 200, 20, "leave to ask")
    time.sleep(1)
    answer = b.inquire(dealer, user, game)
    check(len(answer.body) > 1000000, f"{len(answer.body)} bytes")
    equal(int(answer.header("Content-Length")), len(answer.body), "Content-Length")
    bets = shown(answer, "pending", False)
    equal([bet["user_bet"] for bet in bets], wanted, "objects")
    check(all(one["transaction_id"] < other["transaction_id"]
              for one, other in zip(bets, bets[1:])), "in their order")
    b.result(dealer, user, game, "win", 300)
    time.sleep(1)
    answer = b.inquire(dealer, user, game)
    equal([bet["state"] for bet in shown(answer, "settled", True)], ["settled"] * 256, "states")
    equal(answer.json["win_amount"], 44, "win_amount")


def case_inquire_refused(b):
    dealer, user, game = b.transfer, b.player(b.transfer), new_id("game")
    b.bet(dealer, user, game, 10)
    good = {"user_id": user, "game_id": game}
    for name, value, word in (("user_id", None, "required"), ("game_id", None, "required"),
                              ("game_id", 7, "string"), ("game_id", "", "1 to 128"),
                              ("game_id", "x" * 129, "1 to 128")):
        body = {key: old for key, old in good.items() if key != name}
        if value is not None:
            body[name] = value
        detail = refused(b.call(RESULT_INQUIRE, body, dealer), 400, "bad_request")["detail"]
        check(detail.startswith(f"{name}: ") and word in detail, f"{body}: {detail}")
    refused(b.call(RESULT_INQUIRE, dict(good, user_id="nobody"), dealer), 404, "user_not_found")
    refused(b.call(RESULT_INQUIRE, good, b.seamless), 404, "user_not_found")
    other = b.player(dealer)
    refused(b.call(RESULT_INQUIRE, dict(good, user_id=other), dealer), 404, "game_not_found")


# -- both


def case_signature(b):
    user, game = b.player(b.transfer), new_id("game")
    b.bet(b.transfer, user, game, 1)
    for path, body in ((STAT, {"user_id": user, "request_timestamp": cb.now_ms()}),
                       (RESULT_INQUIRE, {"user_id": user, "game_id": game})):
        payload = json.dumps(body).encode()
        for method in ("GET", "POST"):
            for words in ({"signature": ""}, {"casino": ""}, {"casino": "nobody"},
                          {"signature": cb.sign(b.transfer.key, payload + b" ")},
                          {"signature": cb.sign(b.transfer.key, b"")}):
                refused(b.call(path, payload, b.transfer, method, **words), 401,
                        "invalid_signature")
        refused(b.call(path, body, b.transfer, "PUT"), 405, "method_not_allowed")
        refused(platform_call(b.server, path, body, client=b.client), 404, "not_found")
        equal(b.call(path, payload, b.transfer, chunked=True, method="POST").status, 200, "chunked")


def case_suspended(b):
    """What was staked can be asked for (contract, "Suspension")."""
    dealer = b.dealer_new()
    user, game = b.player(dealer), new_id("game")
    b.bet(dealer, user, game, 1)
    b.wallet.ctl("player", "suspend", dealer.casino_id, user)
    b.wallet.ctl("dealer", "suspend", dealer.casino_id)
    stands(b, dealer, user, 1, 0, 0)
    shown(b.inquire(dealer, user, game), "pending", False)


def case_offset(b):
    """The dealer's day boundary; a bet stays on the day of its acceptance."""
    dealer = b.dealer_new("--utc-offset", "840")
    user, game = b.player(dealer), new_id("game")
    before = day_of(840)
    b.bet(dealer, user, game, 10)
    answer = b.stat(dealer, user)
    after = day_of(840)
    equal(answer["utc_offset"], 840, "utc_offset")
    row = [row for row in answer["bet_summary"] if row["bet_count"]][0]
    check(before <= datetime.date.fromisoformat(row["date"]) <= after, f"{row}")
    # 24 hours to the west: there the day of the bets is tomorrow, which A4 does not report yet.
    b.wallet.ctl("dealer", "set", dealer.casino_id, "--utc-offset=-600")
    moved = b.stat(dealer, user)
    equal(moved["utc_offset"], -600, "utc_offset")
    check(moved["bet_summary"][-1]["date"] < row["date"], f"{moved['bet_summary'][-1]}")
    equal(sum(row["bet_count"] for row in moved["bet_summary"]), 0, "not yet that day")
    equal(moved["bet_count"], 1, "of all time")
    # Its settlement books on the day that it has.
    b.result(dealer, user, game, "loss")
    b.wallet.ctl("dealer", "set", dealer.casino_id, "--utc-offset", "840")
    again = {row["date"]: row for row in b.stat(dealer, user)["bet_summary"]}
    equal(again[row["date"]], {"date": row["date"], **sums(1, 10, -10)}, "that day")


def case_offsets(b):
    """The day boundary moves between bets and before their results: each bet is in exactly one day,
    that of its acceptance, and its result in the same."""
    dealer = b.dealer_new()
    user = b.player(dealer)
    games = [(new_id("game"), offset) for offset in (840, -720, 0, 345, -600, 840, -720, 720)]

    def boundary(offset):
        b.wallet.ctl("dealer", "set", dealer.casino_id, f"--utc-offset={offset}")

    def booked():
        """The bets, and what A4 has of each day when the newest of all offsets is shown."""
        boundary(840)
        rows = b.stat(dealer, user)["bet_summary"]
        bets = b.wallet.ctl_json("bet", "list", "--casino", dealer.casino_id, "--limit", 0)["bets"]
        days = collections.defaultdict(list)
        for bet in bets:
            day = datetime.date(1970, 1, 1) + datetime.timedelta(days=bet["day"])
            days[day.isoformat()].append(bet)
        equal({row["date"]: row["bet_count"] for row in rows if row["bet_count"]},
              {date: len(of_day) for date, of_day in days.items()}, "bets of each day")
        return rows, days

    for number, (game, offset) in enumerate(games, 1):
        boundary(offset)
        before = day_of(offset)
        b.bet(dealer, user, game, number)
        after = day_of(offset)
        bet = b.wallet.ctl_json("bet", "list", "--casino", dealer.casino_id, "--limit", 1)["bets"][0]
        check((before - datetime.date(1970, 1, 1)).days <= bet["day"]
              <= (after - datetime.date(1970, 1, 1)).days, f"the day at {offset}: {bet}")
    _, days = booked()
    check(len(days) >= 2, f"the boundaries are on both sides of now: {set(days)}")
    for game, offset in games:
        boundary(-offset if abs(offset) <= 720 else 0)
        b.result(dealer, user, game, "loss")
    rows, days = booked()
    equal({row["date"]: (row["turnover"], row["profit_loss"]) for row in rows if row["bet_count"]},
          {date: (staked := sum(bet["bet_amount"] for bet in of_day), -staked)
           for date, of_day in days.items()}, "sums of each day")
    told = b.stat(dealer, user)
    equal((told["bet_count"], told["turnover"]), (len(games), sum(range(1, len(games) + 1))), "in all")
    equal(b.wallet.ctl_run("check").returncode, 0, "creditbridgectl check")


def case_operator(b):
    """creditbridgectl request makes both calls."""
    user, game = b.player(b.transfer), new_id("game")
    b.bet(b.transfer, user, game, 10)
    words = ("--user", user, "--url", b.server.base_url)

    def request(operation, *more):
        answer = b.wallet.ctl_json("request", b.transfer.casino_id, operation, *words, *more)
        equal(answer["status"], 200, f"{answer}")
        return json.loads(answer["body"])
    equal(len(request("stat")["bet_summary"]), DAYS, "days")
    equal(request("result-inquire", "--game", game)["status"], "pending", "status")
    equal(request("balance")["staked"], 10, "what is in the bet")
    for operation, *more in (("result-inquire",), ("stat", "--game", game),
                             ("balance", "--game", game), ("stat", "--amount", "1")):
        done = b.wallet.ctl_run("request", b.transfer.casino_id, operation, *words, *more)
        equal(done.returncode, 2, f"{operation} {more}: {done}")


EVERYWHERE = (
    ("a player without bets", case_nothing),
    ("sums of both modes", case_sums),
    ("what A4 refuses", case_stat_refused),
    ("a game from its first bet to its result", case_game),
    ("how games end", case_statuses),
    ("how seamless games end", case_seamless_statuses),
    ("objects byte for byte", case_objects),
    ("a full round", case_full_round),
    ("what A5 refuses", case_inquire_refused),
    ("signatures and methods", case_signature),
)
ONCE = (
    ("bets that were never accepted", case_never_accepted),
    ("suspended dealers and players", case_suspended),
    ("the day boundary", case_offset),
    ("the day boundary moves", case_offsets),
    ("creditbridgectl request", case_operator),
)


def main():
    with cb.Instance("reports-test", settings=LOOPBACK) as wallet:
        cases = [*cb.bench_cases(Bench(wallet, cb.Lighttpd), EVERYWHERE + ONCE),
                 *cb.bench_cases(Bench(wallet, cb.ApacheFcgid), EVERYWHERE)]
        return cb.run_cases(cases, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
