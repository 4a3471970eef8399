#!/usr/bin/python3
"""Group C from outside: real web servers, workers and ledger, called as by a game server, and
dealers with servers.

Cases that depend on the web server run on lighttpd and on Apache mod_fcgid; the others only on
lighttpd.
"""
import concurrent.futures
import http.client
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_dealer import (BALANCE_INQUIRE, BETTING, BETTING_REFUND,  # noqa: E402
                       BETTING_RESULT, body_of)
from cb_listener import Scripted  # noqa: E402
from cb_platform import (BETS, BETS_CANCEL, CORRECTIONS, LOOPBACK, PLATFORM_PATHS, PLAYER_BALANCE, PLAYERS,  # noqa: E402
                         RESULTS, RESULTS_BATCH, client_add, platform_call, seamless_dealer)

OPENING = 1000  # what a player has at the reference dealer
TIMEOUT_MS = 3000  # of a callback
HANG_MS = TIMEOUT_MS + 1000
ERROR_KEYS = {"id", "code", "status", "detail", "retryable", "request_id"}
RETRYABLE = {"bet_in_progress", "callback_open", "dealer_busy", "service_unavailable"}
numbers = itertools.count(1)


def new_id(what="ref"):
    return f"{what}-{os.getpid()}-{next(numbers)}"


class Bench:
    """A server with what the cases need: a client, dealers of both modes, new players."""

    def __init__(self, wallet, kind):
        self.wallet = wallet
        self.kind = kind
        self.server = self.client = self.other = self.dealer = None
        self.seamless = self.reference = None

    def start(self):
        self.dealer = self.wallet.dealer_add(new_id("dealer"))
        self.seamless, self.reference = seamless_dealer(self.wallet, new_id("seamless"),
                                                        words=("--max-inflight", "100"))
        self.client = client_add(self.wallet, new_id("game"))
        self.other = client_add(self.wallet, new_id("other"))
        self.server = self.kind(self.wallet, threads=16)
        answer = platform_call(self.server, "/healthz", method="GET")
        equal((answer.status, answer.json), (200, {"status": "ok"}), "healthz")

    def stop(self):
        if self.reference:
            self.reference.close()
        if self.server:
            self.server.stop()
            equal(self.wallet.worker_pids(), [], "workers left behind")

    def call(self, path, body, client=None, **words):
        return platform_call(self.server, path, body, client=client or self.client, **words)

    def player(self, amount=0, dealer=None):
        """A new player, as user_id, with @amount of credit."""
        user_id = f"user-{next(numbers)}"
        dealer = dealer or self.dealer
        answer = self.call(PLAYERS, {"casino_id": dealer.casino_id, "user_id": user_id})
        equal((answer.status, answer.json["created"]), (200, True), f"{answer}")
        if amount:
            answer = cb.call(self.server, "POST", cb.TRANSFER_IN,
                             {"user_id": user_id, "amount": amount,
                              "request_transaction_id": new_id()}, dealer=dealer)
            equal(answer.status, 200, f"{answer}")
        return user_id

    def bet(self, user_id, game_id, amount, key=None, dealer=None, client=None, **more):
        body = {"request_transaction_id": key or new_id("bet"), "game_id": game_id,
                "casino_id": (dealer or self.dealer).casino_id, "user_id": user_id,
                "bet_amount": amount, **more}
        return self.call(BETS, body, client=client)

    def result(self, user_id, game_id, result, payout=None, key=None, dealer=None, client=None,
               **more):
        body = {"request_transaction_id": key or new_id("result"), "game_id": game_id,
                "casino_id": (dealer or self.dealer).casino_id, "user_id": user_id,
                "result": result, **more}
        if payout is not None:
            body["payout_amount"] = payout
        return self.call(RESULTS, body, client=client)

    def cancel(self, user_id, game_id, bet_key, key=None, dealer=None, client=None, **more):
        return self.call(BETS_CANCEL, {
            "request_transaction_id": key or new_id("cancel"), "game_id": game_id,
            "casino_id": (dealer or self.dealer).casino_id, "user_id": user_id,
            "bet_request_transaction_id": bet_key, "reason": "table closed", **more},
            client=client)

    def correct(self, user_id, game_id, revision, result, payout=None, key=None, dealer=None,
                **more):
        body = {"request_transaction_id": key or new_id("correction"), "game_id": game_id,
                "casino_id": (dealer or self.dealer).casino_id, "user_id": user_id,
                "revision": revision, "result": result, "reason": "misread", **more}
        if payout is not None:
            body["payout_amount"] = payout
        return self.call(CORRECTIONS, body)

    def batch(self, items, key=None, client=None, **words):
        return self.call(RESULTS_BATCH, {"request_transaction_id": key or new_id("batch"),
                                         "results": items}, client=client, **words)

    def item(self, user_id, game_id, result, payout=None, dealer=None, **more):
        body = {"casino_id": (dealer or self.dealer).casino_id, "user_id": user_id,
                "game_id": game_id, "result": result, **more}
        return body if payout is None else {**body, "payout_amount": payout}

    def read(self, user_id, dealer=None):
        return self.call(PLAYER_BALANCE, {"casino_id": (dealer or self.dealer).casino_id,
                                          "user_id": user_id})

    def balance(self, user_id, dealer=None):
        answer = self.read(user_id, dealer)
        equal(answer.status, 200, f"balance {answer}")
        return answer.json["balance"]

    # of the seamless dealer

    def seamless_player(self):
        return self.player(dealer=self.seamless)

    def seamless_bet(self, user_id, game_id, amount, key=None, **more):
        return self.bet(user_id, game_id, amount, key, dealer=self.seamless, **more)

    def seamless_result(self, user_id, game_id, result, payout=None, key=None):
        return self.result(user_id, game_id, result, payout, key, dealer=self.seamless)

    def rejected_game(self, user_id):
        """A game whose only bet the dealer refused."""
        game = new_id("game")
        self.reference.fault("refuse", kind=BETTING, user_id=user_id, times=1)
        refused(self.seamless_bet(user_id, game, 1), 409, "bet_rejected", dealer_error=ANY)
        return game


ANY = object()


def refused(answer, code, error_id, replayed=False, **more):
    """@answer is the error @error_id in all its parts, with @more members; returns it."""
    body = answer.json
    equal((answer.status, body.get("id")), (code, error_id), f"refusal {answer}")
    equal(body["code"], code, "code")
    check(body["status"] and isinstance(body["detail"], str) and body["detail"], f"{body}")
    equal(body["request_id"], answer.header("X-Request-Id"), "request_id")
    if error_id != "dealer_timeout":
        equal(body["retryable"], error_id in RETRYABLE, f"retryable of {body}")
    equal(answer.replayed, replayed, f"X-Idempotent-Replay of {answer}")
    equal(set(body) - ERROR_KEYS, set(more), f"members of {body}")
    equal({key: body[key] for key in more if more[key] is not ANY},
          {key: value for key, value in more.items() if value is not ANY}, f"{body}")
    return body


def accepted(answer, balance, replayed=False):
    equal(answer.status, 200, f"bet {answer}")
    equal(answer.replayed, replayed, f"X-Idempotent-Replay of {answer}")
    body = answer.json
    equal(set(body), {"transaction_id", "state", "balance"}, f"members of {body}")
    equal((body["state"], body["balance"]), ("accepted", balance), f"{body}")
    check(isinstance(body["transaction_id"], int) and body["transaction_id"] > 0, f"{body}")
    return body["transaction_id"]


def settled(answer, bet, addition, win, payout, state="delivered", attempts=0, replayed=False):
    equal(answer.status, 200, f"result {answer}")
    equal(answer.replayed, replayed, f"X-Idempotent-Replay of {answer}")
    body = answer.json
    transaction_id = body.pop("transaction_id")
    equal(body, {"bet_amount": bet, "addition_amount": addition, "win_amount": win,
                 "payout_amount": payout,
                 "callback": {"state": state, "attempts": attempts}}, f"{answer}")
    return transaction_id


# -- on each web server: a transfer wallet


def case_players(b):
    user = new_id("user")
    body = {"casino_id": b.dealer.casino_id, "user_id": user}
    first = b.call(PLAYERS, body)
    equal(first.status, 200, f"{first}")
    player_id = first.json["player_id"]
    check(len(player_id) == 20 and player_id.isalnum(), f"{player_id}")
    equal(first.json, {"player_id": player_id, "user_id": user, "casino_id": b.dealer.casino_id,
                       "currency": "thb", "created": True}, "registered")
    again = b.call(PLAYERS, body)
    equal((again.status, again.json), (200, dict(first.json, created=False)), "registered twice")
    equal(again.header("X-Idempotent-Replay"), None, "no replay")
    refused(b.call(PLAYERS, {"casino_id": "nobody", "user_id": user}), 404, "dealer_not_found")
    answer = b.read(user)
    equal((answer.status, answer.json), (200, {"player_id": player_id, "user_id": user,
                                               "balance": 0, "currency": "thb"}), "balance")
    equal(answer.header("Content-Type"), "application/json", "Content-Type")
    equal(answer.header("Cache-Control"), "no-store", "Cache-Control")


def case_round(b):
    """A bet, an addition, a win: the whole way of a transfer wallet."""
    user, game, bet_key = b.player(100), new_id("game"), new_id("bet")
    first = b.bet(user, game, 10.5, bet_key, remark="roulette", user_bet={"red": 10.5})
    number = accepted(first, 89.5)
    check(b'"balance":89.5' in first.body, f"{first}")
    again = b.bet(user, game, 10.5, bet_key)
    equal((again.status, again.replayed, again.body), (200, True, first.body), "the replay")
    check(accepted(b.bet(user, game, 5, addition=True), 84.5) > number, "ids increase")
    short = new_id("bet")
    refused(b.bet(user, game, 84.51, short), 402, "insufficient_balance", current_balance=84.5)
    key = new_id("result")
    done = b.result(user, game, "win", 40, key, game_result={"number": 7})
    paid = settled(done, 10.5, 5, 24.5, 40)
    check(paid > number, "a transaction of its own")
    again = b.result(user, game, "win", 40, key)
    equal((again.status, again.replayed, again.body), (200, True, done.body), "the replay")
    equal(b.balance(user), 124.5, "balance")
    refused(b.bet(user, game, 84.51, short), 402, "insufficient_balance", replayed=True,
            current_balance=84.5)
    again = b.bet(user, game, 10.5, bet_key)
    equal((again.status, again.replayed, again.body), (200, True, first.body), "settled")
    refused(b.result(user, game, "win", 40), 409, "already_settled")
    refused(b.bet(user, game, 1), 409, "already_settled")
    equal(b.balance(user), 124.5, "balance")


def case_loss_and_refund(b):
    user, game = b.player(100), new_id("game")
    accepted(b.bet(user, game, 10), 90)
    equal(settled(b.result(user, game, "loss"), 10, 0, -10, 0), 0, "the id of a loss")
    equal(b.balance(user), 90, "after the loss")
    game = new_id("game")
    accepted(b.bet(user, game, 20), 70)
    accepted(b.bet(user, game, 0.5, addition=True), 69.5)
    check(settled(b.result(user, game, "refund"), 20, 0.5, 0, 20.5) > 0, "the id of a refund")
    equal(b.balance(user), 90, "after the refund")


def case_conflict(b):
    user, other, game, key = b.player(100), b.player(100), new_id("game"), new_id("bet")
    accepted(b.bet(user, game, 10, key), 90)
    for field, answer in (
            ("bet_amount", b.bet(user, game, 11, key)),
            ("game_id", b.bet(user, game + "x", 10, key)),
            ("addition", b.bet(user, game, 10, key, addition=True)),
            ("player", b.bet(other, game, 10, key)),
            ("operation", b.result(user, game, "win", 10, key))):
        refused(answer, 409, "transaction_conflict", field=field)
    result_key = new_id("result")
    settled(b.result(user, game, "win", 10, result_key), 10, 0, 0, 10)
    for field, answer in (
            ("payout_amount", b.result(user, game, "win", 11, result_key)),
            ("result", b.result(user, game, "loss", 0, result_key)),
            ("operation", b.bet(user, game, 10, result_key))):
        refused(answer, 409, "transaction_conflict", field=field)
    # The key space is the client's own.
    accepted(b.bet(other, new_id("game"), 10, key, client=b.other), 90)
    equal((b.balance(user), b.balance(other)), (100, 90), "balances")


def case_other_client(b):
    """A round belongs to the client of its first bet."""
    user, game = b.player(100), new_id("game")
    accepted(b.bet(user, game, 10), 90)
    refused(b.bet(user, game, 10, client=b.other), 404, "game_not_found")
    refused(b.result(user, game, "win", 1000, client=b.other), 404, "game_not_found")
    settled(b.result(user, game, "loss"), 10, 0, -10, 0)
    refused(b.result(user, game, "win", 1000, client=b.other), 404, "game_not_found")
    # The same game of another player is another round.
    other = b.player(100)
    accepted(b.bet(other, game, 10, client=b.other), 90)


def case_signature(b):
    """Whatever is wrong with the signature, the answer is the same."""
    user = b.player(100)
    body = json.dumps({"request_transaction_id": new_id("bet"), "game_id": new_id("game"),
                       "casino_id": b.dealer.casino_id, "user_id": user, "bet_amount": 1}).encode()
    good = cb.sign(b.client.key, body)
    dealer_good = cb.sign(b.dealer.key, body)
    wrong = {
        "missing": {"signature": ""},
        "wrong": {"signature": cb.sign("another key", body)},
        "of another body": {"signature": cb.sign(b.client.key, body + b" ")},
        "cut off": {"signature": good[:-1]},
        "with a comma": {"signature": good + ","},
        "with a space": {"signature": good[:32] + " " + good[32:]},
        "sent twice": {"headers": [("x-client-signature", good)]},
        "client id sent twice": {"headers": [("x-client-id", b.client.client_id)]},
        "no client id": {"client_id": ""},
        "unknown client": {"client_id": "nobody"},
        "client id that cannot be": {"client_id": "no/body"},
        "another client's id": {"client_id": b.other.client_id, "signature": good},
        "a dealer's headers": {"client_id": "", "signature": "", "headers": [
            ("x-casino-id", b.dealer.casino_id), ("x-casino-signature", dealer_good)]},
        "a dealer as client": {"client_id": b.dealer.casino_id, "signature": dealer_good},
    }
    seen = []
    for name, words in wrong.items():
        answer = b.call(BETS, body, **words)
        check(answer.status == 401, f"{name}: {answer}")
        refused(answer, 401, "invalid_signature")
        seen.append(({key: value for key, value in answer.json.items() if key != "request_id"},
                     sorted(key.lower() for key, _ in answer.headers)))
    equal([one for one in seen if one != seen[0]], [], "answers that differ")
    equal(b.balance(user), 100, "balance")
    accepted(b.call(BETS, body, signature=good.upper()), 99)


def case_mounts(b):
    """Each mount has its own paths, and only those."""
    for path in (cb.TRANSFER_IN, cb.TRANSFER_OUT, *cb.READ_PATHS, "/", "/platform", BETS + "/"):
        refused(b.call(path, {}), 404, "not_found")
    for path in PLATFORM_PATHS:
        body = json.dumps({}).encode()
        headers = [("x-client-id", b.client.client_id),
                   ("x-client-signature", cb.sign(b.client.key, body))]
        refused(cb.call(b.server, "POST", path, body, dealer=b.dealer, headers=headers), 404,
                "not_found")
        for method in ("GET", "PUT"):
            answer = b.call(path, body, method=method)
            refused(answer, 405, "method_not_allowed")
            equal(answer.header("Allow"), "POST", "Allow")


def case_bodies(b):
    user, game = b.player(100), new_id("game")
    body = {"request_transaction_id": new_id("bet"), "game_id": game, "bet_amount": 1,
            "casino_id": b.dealer.casino_id, "user_id": user, "user_bet": {"x": "y" * 40000}}
    answer = b.call(BETS, body, chunked=True)
    accepted(answer, 99)
    refused(b.call(BETS, dict(body, user_bet={"x": "y" * 70000})), 413, "payload_too_large")
    for name in ("request_transaction_id", "game_id", "bet_amount", "casino_id", "user_id"):
        bad = {key: value for key, value in body.items() if key != name}
        detail = refused(b.call(BETS, bad), 400, "bad_request")["detail"]
        check(name in detail, f"the detail names {name}: {detail}")


def case_same_id_at_once(b):
    user, game = b.player(100), new_id("game")
    body = {"request_transaction_id": new_id("bet"), "game_id": game, "bet_amount": 3,
            "casino_id": b.dealer.casino_id, "user_id": user}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: b.call(BETS, body), range(16)))
    equal({answer.status for answer in answers}, {200}, f"{answers}")
    equal(len({answer.body for answer in answers}), 1, f"{answers}")
    equal(sum(answer.replayed for answer in answers), 15, "replays")
    equal(b.balance(user), 97, "balance: staked once")


# -- on each web server: a seamless wallet


def case_seamless_round(b):
    """Accepted by the dealer, added to, won: and the dealer's books agree."""
    user, game, bet_key = b.seamless_player(), new_id("game"), new_id("bet")
    first = b.seamless_bet(user, game, 10.5, bet_key, remark="roulette", user_bet={"red": 10.5})
    number = accepted(first, OPENING - 10.5)
    again = b.seamless_bet(user, game, 10.5, bet_key)
    equal((again.status, again.replayed, again.body), (200, True, first.body), "the replay")
    equal(b.reference.transactions(user)[number]["amount"], 10.5, "at the dealer's")
    accepted(b.seamless_bet(user, game, 5, addition=True), OPENING - 15.5)
    key = new_id("result")
    done = b.seamless_result(user, game, "win", 40, key)
    paid = settled(done, 10.5, 5, 24.5, 40, attempts=1)
    row = b.reference.transactions(user)[paid]
    equal((row["amount"], row["state"]), (40, "paid"), "at the dealer's")
    equal(b.reference.balance(user), OPENING + 24.5, "the dealer's balance")
    again = b.seamless_result(user, game, "win", 40, key)
    equal((again.status, again.replayed, again.body), (200, True, done.body), "the replay")
    again = b.seamless_bet(user, game, 10.5, bet_key)
    equal((again.status, again.replayed, again.body), (200, True, first.body), "settled")
    refused(b.seamless_bet(user, game, 1), 409, "already_settled")
    refused(b.seamless_result(user, game, "win", 40), 409, "already_settled")
    equal(b.balance(user, b.seamless), OPENING + 24.5, "by B1")
    equal(len(b.reference.transactions(user)), 3, "the call to the dealer")


def case_seamless_loss_and_refund(b):
    user, game = b.seamless_player(), new_id("game")
    accepted(b.seamless_bet(user, game, 10), OPENING - 10)
    equal(settled(b.seamless_result(user, game, "loss"), 10, 0, -10, 0, attempts=1), 0, "id")
    equal(b.reference.balance(user), OPENING - 10, "after the loss")
    game = new_id("game")
    accepted(b.seamless_bet(user, game, 20), OPENING - 30)
    settled(b.seamless_result(user, game, "refund"), 20, 0, 0, 20, attempts=1)
    equal(b.reference.balance(user), OPENING - 10, "after the refund")


def corrected(answer, revision, delta, payout, shortfall=0, callback=None, replayed=False):
    """@callback: its (state, attempts). Returns the transaction_id."""
    equal((answer.status, answer.replayed), (200, replayed), f"correction {answer}")
    body = answer.json
    transaction_id = body.pop("transaction_id")
    more = {"callback": {"state": callback[0], "attempts": callback[1]}} if callback else {}
    equal(body, {"revision": revision, "delta": delta, "shortfall": shortfall,
                 "payout_amount": payout, **more}, f"{answer}")
    return transaction_id


def game_of(b, user_id, game_id, dealer):
    """A5: the result in force, as the dealer reads it."""
    answer = cb.call(b.server, "POST", cb.RESULT_INQUIRE, {"user_id": user_id, "game_id": game_id},
                     dealer=dealer)
    equal(answer.status, 200, f"{answer}")
    return answer.json


def case_correction(b):
    """A settled round gets another result, in both wallets; A5 shows what is in force."""
    user, game, key = b.player(100), new_id("game"), new_id("correction")
    accepted(b.bet(user, game, 30), 70)
    settled(b.result(user, game, "loss"), 30, 0, -30, 0)
    check("revision" not in game_of(b, user, game, b.dealer), "a round without a correction")
    first = corrected(b.correct(user, game, 1, "win", 50, key), 1, 50, 50)
    again = corrected(b.correct(user, game, 1, "win", 50, key), 1, 50, 50, replayed=True)
    equal((b.balance(user), again), (120, first), "the credit")
    refused(b.correct(user, game, 1, "loss"), 409, "revision_conflict", current_revision=1)
    refused(b.correct(user, new_id("game"), 1, "loss"), 404, "game_not_found")
    cb.call(b.server, "POST", cb.TRANSFER_OUT, {"user_id": user, "amount": 100,
                                                "request_transaction_id": new_id()},
            dealer=b.dealer)
    refused(b.correct(user, game, 2, "loss"), 402, "insufficient_balance", current_balance=20)
    second = corrected(b.correct(user, game, 2, "loss", allow_shortfall=True,
                                 game_result={"card": "9h"}), 2, -50, 0, shortfall=30)
    equal(b.balance(user), 0, "the balance")
    shown = game_of(b, user, game, b.dealer)
    equal((shown["result"], shown["payout_amount"], shown["win_amount"], shown["revision"],
           shown["game_result"]), ("loss", 0, -30, 2, {"card": "9h"}), f"A5 {shown}")
    equal([(row["revision"], row["transaction_id"], row["delta"], row["shortfall"], row["reason"])
           for row in shown["corrections"]],
          [(1, first, 50, 0, "misread"), (2, second, -50, 30, "misread")], "its corrections")
    equal(b.wallet.ctl_json("check")["ok"], True, "check")


def case_seamless_correction(b):
    """The dealer is sent another win, and a decrease if it has a path for it."""
    user, game = b.seamless_player(), new_id("game")
    accepted(b.seamless_bet(user, game, 10), OPENING - 10)
    settled(b.seamless_result(user, game, "win", 30), 10, 0, 20, 30, attempts=1)
    number = corrected(b.correct(user, game, 1, "win", 45, dealer=b.seamless), 1, 15, 45,
                       callback=("delivered", 1))
    row = b.reference.transactions(user)[number]
    equal((row["amount"], row["state"]), (15, "paid"), "at the dealer's")
    refused(b.correct(user, game, 2, "loss", dealer=b.seamless), 409, "correction_not_supported")
    b.wallet.ctl("dealer", "set", b.seamless.casino_id, "--path-betting-correction",
                 "/betting-correction", "--reason", "test")
    number = corrected(b.correct(user, game, 2, "loss", dealer=b.seamless), 2, -45, 0,
                       callback=("delivered", 1))
    row = b.reference.transactions(user)[number]
    equal((row["amount"], row["state"]), (45, "corrected"), "at the dealer's")
    equal(b.reference.balance(user), OPENING - 10, "the dealer's balance")
    # The player has spent the win: the dealer's shortfall is in the first answer and in each repeated one.
    game, key = new_id("game"), new_id("correction")
    accepted(b.seamless_bet(user, game, 10), OPENING - 20)
    settled(b.seamless_result(user, game, "win", 30), 10, 0, 20, 30, attempts=1)
    accepted(b.seamless_bet(user, new_id("game"), OPENING + 10), 0)
    first = b.correct(user, game, 1, "loss", key=key, dealer=b.seamless)
    corrected(first, 1, -30, 0, shortfall=30, callback=("delivered", 1))
    again = b.correct(user, game, 1, "loss", key=key, dealer=b.seamless)
    equal((again.replayed, again.body), (True, first.body), "a repeated request")
    # An operator's correction is sent by the sweeper. The part that was not taken is taken from an
    # increase.
    made = b.wallet.ctl_json("round", "correct", f"{b.seamless.casino_id}/{user}", game, "win", "40",
                             "--reason", "misread", "--yes")
    equal((made["delta"], made["shortfall"], made["revision"]), (40, -30, 2), f"{made}")
    b.wallet.ctl("sweep")
    row = b.reference.transactions(user)[made["transaction_id"]]
    equal((row["amount"], row["state"]), (10, "paid"), "at the dealer's")
    equal(b.wallet.ctl_json("check")["ok"], True, "check")


def cancelled(answer, transaction_id, state, replayed=False):
    body = {"transaction_id": transaction_id, "state": state}
    if not transaction_id:
        del body["transaction_id"]
    equal((answer.status, answer.json, answer.replayed), (200, body, replayed), f"{answer}")


def case_cancel(b):
    """One bet of a round is cancelled, in both wallets: the stake comes back once, the rest stays."""
    user, game, first, second = b.player(100), new_id("game"), new_id("bet"), new_id("bet")
    number = accepted(b.bet(user, game, 30, first), 70)
    accepted(b.bet(user, game, 20, second), 50)
    key = new_id("cancel")
    cancelled(b.cancel(user, game, first, key), number, "refunded")
    cancelled(b.cancel(user, game, first, key), number, "refunded", replayed=True)
    cancelled(b.cancel(user, game, first), number, "refunded")
    equal(b.balance(user), 80, "the balance")
    refused(b.bet(user, game, 30, first), 409, "bet_cancelled", replayed=True)
    settled(b.result(user, game, "win", 25), 20, 0, 5, 25)
    refused(b.cancel(user, game, second), 409, "already_settled")

    user, game, first, late = b.seamless_player(), new_id("game"), new_id("bet"), new_id("bet")
    number = accepted(b.seamless_bet(user, game, 30, first), OPENING - 30)
    cancelled(b.cancel(user, game, first, dealer=b.seamless), number, "refunded")
    equal((b.reference.balance(user), b.reference.transactions(user)[number]["state"]),
          (OPENING, "refunded"), "at the dealer's")
    cancelled(b.cancel(user, game, late, dealer=b.seamless), 0, "rejected")
    refused(b.seamless_bet(user, game, 30, late), 409, "bet_cancelled")
    equal(b.reference.balance(user), OPENING, "the dealer's balance")


def case_cancel_bodies(b):
    user, game, bet_key = b.player(100), new_id("game"), new_id("bet")
    refused(b.cancel(user, game, bet_key, bet_key), 400, "bad_request")
    refused(b.cancel("nobody-" + user, game, bet_key), 404, "user_not_found")
    refused(b.cancel(user, game, bet_key, reason=7), 400, "bad_request")
    accepted(b.bet(user, game, 30, bet_key), 70)
    refused(b.cancel(user, new_id("game"), bet_key), 409, "transaction_conflict", field="game_id")
    # The key of another game server is another key.
    cancelled(b.cancel(user, game, bet_key, client=b.other), 0, "rejected")
    equal(b.balance(user), 70, "the balance")


def case_cancel_dealer_down(b):
    """The dealer is away when the bet is cancelled: the sweeper returns the stake later."""
    user, game, bet_key = b.seamless_player(), new_id("game"), new_id("bet")
    number = accepted(b.seamless_bet(user, game, 30, bet_key), OPENING - 30)
    b.reference.fault("status", kind=BETTING_REFUND, user_id=user, times=1, code=500)
    key = new_id("cancel")
    cancelled(b.cancel(user, game, bet_key, key, dealer=b.seamless), number, "refunding")
    rows = b.wallet.ctl_json("callback", "list", "--casino", b.seamless.casino_id, "--user", user,
                             "--kind", "betting-refund")["callbacks"]
    equal([(row["state"], row["attempts"]) for row in rows], [("due", 1)], f"{rows}")
    total = b.wallet.ctl_json("dealer", "show", b.seamless.casino_id)["total"]
    check(total["owed_refunds"] >= 30, f"what the dealer must still give back: {total}")
    b.wallet.ctl("callback", "retry", rows[0]["event"], "--reason", "test", "--yes")
    subprocess.run([cb.find_program("creditbridge-sweep"), "--config", b.wallet.config],
                   check=True, stdout=subprocess.DEVNULL, timeout=60 * cb.PATIENCE)
    cancelled(b.cancel(user, game, bet_key, key, dealer=b.seamless), number, "refunded",
              replayed=True)
    equal(b.reference.balance(user), OPENING, "the dealer's balance")


def case_refused(b):
    """The dealer says no: with its own words, and again on a repeat."""
    user, game, key = b.seamless_player(), new_id("game"), new_id("bet")
    words = refused(b.seamless_bet(user, game, OPENING + 1, key), 409, "bet_rejected",
                    dealer_error=ANY)["dealer_error"]
    equal((set(words), words["id"]), ({"id", "detail"}, "insufficient_balance"), "the dealer's")
    refused(b.seamless_bet(user, game, OPENING + 1, key), 409, "bet_rejected", replayed=True,
            dealer_error=words)
    equal([row["state"] for row in b.reference.transactions(user).values()], ["refused"],
          "at the dealer's")
    refused(b.seamless_result(user, game, "win", 5), 404, "bet_not_found")


def hung_bet(b):
    """Places a bet that the dealer does not answer, and asks about it meanwhile. Returns what case_hang() looks at, or
    None if this machine took longer for that than the dealer may."""
    user, game, key = b.seamless_player(), new_id("game"), new_id("bet")
    b.reference.fault("hang", kind=BETTING, user_id=user, times=1, ms=HANG_MS)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        b.seamless_bet(user, game, 10, key)))
    start = time.monotonic()
    thread.start()
    cb.wait_until(lambda: b.wallet.ctl_json("bet", "list", "--casino", b.seamless.casino_id,
                                            "--user", user)["bets"], 20, "the bet's row")
    again, result = b.seamless_bet(user, game, 10, key), b.seamless_result(user, game, "win", 5)
    if time.monotonic() - start > TIMEOUT_MS / 1000 - 0.1:
        thread.join(20)
        return None
    refused(again, 409, "bet_in_progress", replayed=True)
    refused(result, 409, "bet_in_progress")
    return user, game, key, answers, thread, start


def case_hang(b):
    """The dealer does not answer: the bet is being refunded, and blocks nothing but itself."""
    user, game, key, answers, thread, start = next(filter(None, (hung_bet(b) for _ in range(5))))
    thread.join(20)
    seconds = time.monotonic() - start
    check(TIMEOUT_MS / 1000 - 0.1 < seconds < TIMEOUT_MS / 1000 + 15, f"after {seconds:.1f} s")
    equal(refused(answers[0], 504, "dealer_timeout", state="refunding")["retryable"], False, "")
    refused(b.seamless_bet(user, game, 10, key), 504, "dealer_timeout", replayed=True,
            state="refunding")
    refused(b.seamless_result(user, game, "win", 5), 404, "bet_not_found")
    # Other bets of the round go on, and settle without it.
    accepted(b.seamless_bet(user, game, 7), OPENING - 7)
    settled(b.seamless_result(user, game, "win", 9), 7, 0, 2, 9, attempts=1)
    return user, game, key


def case_unreachable(b):
    """Nothing left for the dealer: no bet, nothing to refund."""
    dealer = b.wallet.dealer_add(new_id("gone"), "--url", f"http://127.0.0.1:{cb.free_port()}",
                                 "--allow-http", mode="seamless")
    user, game, key = b.player(dealer=dealer), new_id("game"), new_id("bet")
    refused(b.bet(user, game, 10, key, dealer=dealer), 502, "dealer_unreachable")
    refused(b.bet(user, game, 10, key, dealer=dealer), 502, "dealer_unreachable", replayed=True)
    refused(b.read(user, dealer), 502, "dealer_unreachable")
    refused(b.result(user, game, "win", 5, dealer=dealer), 404, "bet_not_found")


def case_dealer_down_at_result(b):
    """A round is settled whether or not its dealer hears of it."""
    for fault, words in (("status", {"code": 500}), ("refuse", {}), ("hang", {"ms": HANG_MS})):
        user, game, key = b.seamless_player(), new_id("game"), new_id("result")
        accepted(b.seamless_bet(user, game, 10), OPENING - 10)
        b.reference.fault(fault, kind=BETTING_RESULT, user_id=user, times=1, **words)
        done = b.seamless_result(user, game, "win", 30, key)
        number = settled(done, 10, 0, 20, 30, state="due", attempts=1)
        again = b.seamless_result(user, game, "win", 30, key)
        equal(settled(again, 10, 0, 20, 30, state="due", attempts=1, replayed=True), number,
              "the replay")
        check(number not in b.reference.transactions(user), "the dealer has not heard")


def case_inquiry(b):
    """B1: the balance comes from the dealer."""
    user = b.seamless_player()
    equal(b.balance(user, b.seamless), OPENING, "the balance")
    b.reference.fault("refuse", kind=BALANCE_INQUIRE, user_id=user, times=1)
    body = refused(b.read(user, b.seamless), 409, "dealer_refused", dealer_error=ANY)
    equal(body["dealer_error"]["id"], "dealer_refuses", f"{body}")
    for fault, words in (("hang", {"ms": HANG_MS}), ("status", {}), ("html", {}),
                         ("truncated", {})):
        b.reference.fault(fault, kind=BALANCE_INQUIRE, user_id=user, times=1, **words)
        answer = b.read(user, b.seamless)
        body = refused(answer, 504, "dealer_timeout")
        equal(body["retryable"], True, f"{fault}: {body}")
        check(int(answer.header("Retry-After")) >= 1, "Retry-After")
    b.reference.fault("empty", kind=BALANCE_INQUIRE, user_id=user, times=1)
    refused(b.read(user, b.seamless), 502, "dealer_bad_answer")
    equal(b.balance(user, b.seamless), OPENING, "and again")
    refused(b.call(PLAYER_BALANCE, {"casino_id": b.seamless.casino_id, "user_id": "nobody"}),
            404, "user_not_found")


def case_stopped_worker(b):
    """A worker asked to stop while it waits for the dealer hears it to the end."""
    user, hung, game = b.seamless_player(), b.seamless_player(), new_id("game")
    b.reference.fault("slow", kind=BETTING, user_id=user, times=1, ms=TIMEOUT_MS // 2)
    b.reference.fault("hang", kind=BETTING, user_id=hung, times=1, ms=HANG_MS)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        slow, never = [pool.submit(b.seamless_bet, name, game, 10) for name in (user, hung)]
        for name in (user, hung):
            cb.wait_until(lambda name=name: b.wallet.ctl_json(
                "bet", "list", "--casino", b.seamless.casino_id, "--user", name)["bets"], 20,
                "the bet's row")
        before = b.server.worker_pids("platform")
        check(before, "there are workers")
        cb.signal_pids(before, signal.SIGTERM)
        accepted(slow.result(), OPENING - 10)
        refused(never.result(), 504, "dealer_timeout", state="refunding")
    b.server.wait_for_successors(before, "platform")
    cb.wait_until(lambda: b.read(user, b.seamless).status == 200, 20, "new workers")
    settled(b.seamless_result(user, game, "win", 12), 10, 0, 2, 12, attempts=1)


def won(bet, payout, state="delivered"):
    """Returns the answer to an item, without its transaction_id."""
    return {"bet_amount": bet, "addition_amount": 0.0, "win_amount": payout - bet, "payout_amount": payout,
            "callback": {"state": state, "attempts": 0}}


def without_id(item):
    return {name: value for name, value in item.items() if name != "transaction_id"}


def error_item(item, code, error_id, request_id, **more):
    equal((item["id"], item["code"], item["request_id"]), (error_id, code, request_id), f"{item}")
    equal(set(item) - ERROR_KEYS, set(more), f"members of {item}")
    equal(item["retryable"], error_id in RETRYABLE, f"{item}")


def case_batch(b):
    """The results of a round: both wallets, refused items, and the same bytes to the same batch."""
    table = new_id("table")
    users = [b.player(100) for _ in range(3)]
    seamless = b.seamless_player()
    for user in users:
        accepted(b.bet(user, table, 10), 90)
    accepted(b.seamless_bet(seamless, table, 10), OPENING - 10)
    accepted(b.bet(users[0], table + "x", 5, client=b.other), 85)
    key = new_id("batch")
    items = [b.item(users[0], table, "win", 25.5, game_result={"number": 7}),
             b.item(users[1], table, "loss"),
             b.item(users[2], table, "refund"),
             b.item(seamless, table, "win", 20, dealer=b.seamless),
             b.item(users[0], table, "win", 25.5),
             b.item(users[0], table + "x", "loss"),
             b.item("nobody", table, "loss")]
    first = b.batch(items, key)
    equal((first.status, first.replayed), (200, False), f"{first}")
    answers = first.json["results"]
    request_id = first.header("X-Request-Id")
    equal([without_id(item) for item in answers[:4]],
          [won(10, 25.5), won(10, 0.0), won(10, 10.0), won(10, 20.0, "due")], "the settled items")
    equal(answers[1]["transaction_id"], 0, "a loss has no id")
    ids = [item["transaction_id"] for item in answers[:4]]
    check(0 < ids[0] < ids[2] < ids[3], f"ids in the order of the items: {ids}")
    error_item(answers[4], 409, "already_settled", request_id)
    error_item(answers[5], 404, "game_not_found", request_id)
    error_item(answers[6], 404, "user_not_found", request_id)
    equal([b.balance(user) for user in users], [110.5, 90, 100], "balances")
    sweep(b)
    row = b.reference.transactions(seamless)[ids[3]]
    equal((row["amount"], row["state"]), (20, "paid"), "at the dealer's")
    again = b.batch(items, key)
    equal((again.status, again.replayed, again.body), (200, True, first.body), "the replay")
    for body in (items[:-1], [*items[:-1], b.item("nobody", table, "refund")]):
        refused(b.batch(body, key), 409, "transaction_conflict", field="results")
    refused(b.bet(users[0], new_id("game"), 1, key), 409, "transaction_conflict", field="operation")
    refused(b.result(users[0], table, "win", 25.5, key), 409, "transaction_conflict",
            field="operation")
    # The key space is the client's own.
    other = b.batch(items[:1], key, client=b.other)
    error_item(other.json["results"][0], 404, "game_not_found", other.header("X-Request-Id"))


def sweep(b):
    """Lets the sweeper work until nothing is due."""
    subprocess.run([cb.find_program("creditbridge-sweep"), "--config", b.wallet.config],
                   capture_output=True, check=True, timeout=60 * cb.PATIENCE)


def case_batch_bodies(b):
    """Faults of a batch as a whole. Nothing of it moves and no key is used."""
    user, game, key = b.player(100), new_id("game"), new_id("batch")
    accepted(b.bet(user, game, 10), 90)
    good = b.item(user, game, "win", 20)

    def wrong(items, text, code=400, error_id="bad_request"):
        detail = refused(b.batch(items, key), code, error_id)["detail"]
        check(text in detail, f"{text} in {detail}")
    wrong([], "1 to 500")
    wrong([good] * 501, "1 to 500")
    wrong({}, "results: must be an array")
    wrong([good, 7], "results[1]: must be an object")
    wrong([good, []], "results[1]: must be an object")
    wrong([good, {**good, "result": "tie"}], "results[1].result: ")
    wrong([good, {"game_id": game, "result": "loss"}], "results[1].player_id: ")
    wrong([good, b.item(user, game, "win")], "results[1].payout_amount: is required")
    wrong([good, b.item(user, game, "win", "20")], "results[1].payout_amount: must be a number")
    wrong([good, b.item(user, game, "win", 0.00001)], "results[1].payout_amount: ", 400,
          "invalid_amount")
    wrong([good, {**good, "user_bet": {"x": "y" * 70000}}], "results[1]: has more than 65536", 413,
          "payload_too_large")
    for name in ("request_transaction_id", "results"):
        body = {"request_transaction_id": key, "results": [good]}
        del body[name]
        check(name in refused(b.call(RESULTS_BATCH, body), 400, "bad_request")["detail"], name)
    equal(b.balance(user), 90, "nothing moved")
    answer = b.batch([good], key)
    equal((answer.status, answer.replayed), (200, False), f"{answer}")
    equal(b.balance(user), 110, "the key was free")


def case_batch_size(b):
    """The largest batch, and one byte more. The other paths keep their limit."""
    user, game = b.player(100), new_id("game")
    accepted(b.bet(user, game, 10), 90)
    good = b.item(user, game, "win", 20, user_bet={"x": "y" * 60000})
    body = json.dumps({"request_transaction_id": new_id("batch"),
                       "results": [good] * 17}).encode()
    check(len(body) < 1 << 20, f"{len(body)} bytes")
    body += b" " * ((1 << 20) + 1 - len(body))
    detail = refused(b.call(RESULTS_BATCH, body), 413, "payload_too_large")["detail"]
    check("1048576" in detail, detail)
    for chunked in (False, True):
        answer = b.call(RESULTS_BATCH, body[:1 << 20], chunked=chunked)
        equal((answer.status, answer.replayed), (200, chunked), f"{answer}"[:500])
    equal(without_id(answer.json["results"][0]), won(10, 20.0), "settled")
    equal({item["id"] for item in answer.json["results"][1:]}, {"already_settled"}, "the others")
    refused(b.call(BETS, b" " * 65537), 413, "payload_too_large")


def case_batch_in_progress(b):
    """A bet that is under way is tried again by the same batch; the others are not."""
    slow, done, table, key = b.seamless_player(), b.seamless_player(), new_id("table"), new_id("batch")
    accepted(b.seamless_bet(done, table, 10), OPENING - 10)
    b.reference.fault("late", kind=BETTING, user_id=slow, times=1, ms=1500)
    items = [b.item(done, table, "loss", dealer=b.seamless),
             b.item(slow, table, "win", 30, dealer=b.seamless)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        bet = pool.submit(b.seamless_bet, slow, table, 10)
        first = None
        while not first or first.json["results"][1].get("id") == "game_not_found":
            # Until the bet is recorded the answer is another one, and stays so.
            key = new_id("batch")
            first = b.batch(items, key)
        error_item(first.json["results"][1], 409, "bet_in_progress", first.header("X-Request-Id"))
        accepted(bet.result(), OPENING - 10)
    second = b.batch(items, key)
    equal((second.status, second.replayed), (200, False), f"{second}")
    equal(second.json["results"][0], first.json["results"][0], "the other item")
    equal(without_id(second.json["results"][1]), won(10, 30.0, "due"), "the bet that was under way")
    third = b.batch(items, key)
    equal((third.status, third.replayed, third.body), (200, True, second.body), "the replay")


EVERYWHERE = (
    ("players are registered", case_players),
    ("a round of a transfer wallet", case_round),
    ("losses and refunds", case_loss_and_refund),
    ("the same id with other content is a conflict", case_conflict),
    ("a round belongs to its client", case_other_client),
    ("every bad signature gets the same answer", case_signature),
    ("paths and methods of the mounts", case_mounts),
    ("bodies", case_bodies),
    ("16 callers with one id: one bet", case_same_id_at_once),
    ("a round of a seamless wallet", case_seamless_round),
    ("losses and refunds of a seamless wallet", case_seamless_loss_and_refund),
    ("one bet is cancelled", case_cancel),
    ("the results of a live round", case_batch),
    ("the largest batch", case_batch_size),
    ("a bet that the dealer refuses", case_refused),
    ("a dealer that hangs", case_hang),
    ("a dealer that cannot be reached", case_unreachable),
    ("a dealer that is down at the result", case_dealer_down_at_result),
    ("balances by inquiry", case_inquiry),
    ("SIGTERM lets a callback under way finish", case_stopped_worker),
)

# -- the rules: run on one server


def case_player_names(b):
    """By player_id, or by casino_id and user_id; if a call has all of them, they must name one
    player."""
    user, other = b.player(50), b.player(60)
    player_id = b.read(user).json["player_id"]
    casino_id = b.dealer.casino_id
    for body, balance in (({"player_id": player_id}, 50),
                          ({"casino_id": casino_id, "user_id": other}, 60),
                          ({"player_id": player_id, "user_id": user}, 50),
                          ({"player_id": player_id, "casino_id": casino_id, "user_id": user}, 50)):
        answer = b.call(PLAYER_BALANCE, body)
        equal((answer.status, answer.json.get("balance")), (200, balance), f"{body}: {answer}")
    for body in ({"player_id": player_id, "user_id": other},
                 {"player_id": player_id, "casino_id": b.seamless.casino_id},
                 {"player_id": player_id + "a"}, {"player_id": player_id[:-1]},
                 {"player_id": "a" * 128}, {"casino_id": casino_id, "user_id": "nobody"}):
        refused(b.call(PLAYER_BALANCE, body), 404, "user_not_found")
        bet = dict(body, request_transaction_id=new_id(), game_id=new_id(), bet_amount=1)
        refused(b.call(BETS, bet), 404, "user_not_found")
    for body in ({}, {"casino_id": casino_id}, {"user_id": user}, {"player_id": "a" * 129}):
        refused(b.call(PLAYER_BALANCE, body), 400, "bad_request")
    refused(b.call(PLAYER_BALANCE, {"casino_id": "nobody", "user_id": user}), 404,
            "dealer_not_found")
    game, key = new_id("game"), new_id("bet")
    body = {"player_id": player_id, "request_transaction_id": key, "game_id": game,
            "bet_amount": 1}
    accepted(b.call(BETS, body), 49)
    # Named otherwise, it is the same player, and the same bet.
    equal(b.bet(user, game, 1, key).replayed, True, "the replay")
    equal((b.balance(user), b.balance(other)), (49, 60), "balances")


def case_amounts(b):
    user, game = b.player(100), new_id("game")
    for amount in (0, -1, 1e11, 0.001, 0.00001):
        detail = refused(b.bet(user, game, amount), 400, "invalid_amount")["detail"]
        check("bet_amount" in detail, detail)
    refused(b.result(user, game, "win", 1), 404, "game_not_found")
    accepted(b.bet(user, game, 10), 90)
    for result, payout in (("win", -1), ("win", 0.001), ("win", 1e11), ("loss", 1), ("refund", 9),
                           ("refund", 11)):
        detail = refused(b.result(user, game, result, payout), 400, "invalid_amount")["detail"]
        check("payout_amount" in detail, detail)
    detail = refused(b.result(user, game, "win"), 400, "bad_request")["detail"]
    check("payout_amount" in detail, detail)
    for result in ("draw", "", None, "Win"):
        detail = refused(b.result(user, game, result, 1), 400, "bad_request")["detail"]
        check("result" in detail, detail)
    settled(b.result(user, game, "refund", 10), 10, 0, 0, 10)
    game = new_id("game")
    accepted(b.bet(user, game, 10), 90)
    settled(b.result(user, game, "win", 0), 10, 0, -10, 0)


def case_suspended(b):
    """No new players and bets; what was staked ends all the same."""
    for what, error_id in (("dealer", "dealer_suspended"), ("player", "user_suspended")):
        dealer = b.wallet.dealer_add(new_id("dealer"))
        time.sleep(1)  # until every worker of the wallet knows the dealer
        user, game, key = b.player(100, dealer), new_id("game"), new_id("bet")
        accepted(b.bet(user, game, 10, key, dealer), 90)
        words = [dealer.casino_id] + ([user] if what == "player" else [])
        b.wallet.ctl(what, "suspend", *words)
        refused(b.bet(user, game, 1, dealer=dealer), 403, error_id)
        equal(b.bet(user, game, 10, key, dealer).replayed, True, "the replay")
        if what == "dealer":
            refused(b.call(PLAYERS, {"casino_id": dealer.casino_id, "user_id": new_id()}), 403,
                    error_id)
        settled(b.result(user, game, "win", 15, dealer=dealer), 10, 0, 5, 15)
        equal(b.balance(user, dealer), 105, "balance")


def case_keys(b):
    """A key that is taken away ends within a second, for every worker."""
    client = client_add(b.wallet, new_id("short"))
    user = b.player(100)
    body = {"casino_id": b.dealer.casino_id, "user_id": user}

    def statuses():
        return {b.call(PLAYER_BALANCE, body, client=client).status for _ in range(20)}

    cb.wait_until(lambda: statuses() == {200}, 20, "every worker knows the client")
    second = client._replace(key=b.wallet.ctl_json("client", "key-add", client.client_id)["key"])
    b.wallet.ctl("client", "key-retire", client.client_id, "k1")
    time.sleep(1)
    equal(statuses(), {401}, "the retired key")
    client = second
    equal(statuses(), {200}, "the second key")
    b.wallet.ctl("client", "remove", client.client_id)
    time.sleep(1)
    equal(statuses(), {401}, "the removed client")


def case_refunded(b):
    """The replay of a bet whose refund has ended."""
    user, game, key = case_hang(b)
    rows = b.wallet.ctl_json("callback", "list", "--casino", b.seamless.casino_id, "--user", user,
                             "--kind", "betting-refund")["callbacks"]
    equal([row["state"] for row in rows], ["due"], f"{rows}")
    b.wallet.ctl("callback", "cancel", rows[0]["event"], "--reason", "settled by hand", "--yes")
    refused(b.seamless_bet(user, game, 10, key), 504, "dealer_timeout", replayed=True,
            state="refunded")


def case_late_success(b):
    """The dealer takes the bet, but says so too late."""
    user, game, key = b.seamless_player(), new_id("game"), new_id("bet")
    b.reference.fault("late", kind=BETTING, user_id=user, times=1, ms=TIMEOUT_MS + 1000)
    refused(b.seamless_bet(user, game, 10, key), 504, "dealer_timeout", state="refunding")
    equal(b.reference.balance(user), OPENING - 10, "the dealer's balance")
    refused(b.seamless_bet(user, game, 10, key), 504, "dealer_timeout", replayed=True,
            state="refunding")


def case_odd_answers(b):
    """Answers of a dealer to a bet that neither accept nor refuse it (contract, "Answers of a
    dealer")."""
    user = b.seamless_player()
    for fault, words, code, error_id in (
            ("empty", {"works": 1}, 200, None), ("status", {"code": 404}, 409, "bet_rejected"),
            ("status", {"code": 429}, 504, "dealer_timeout"),
            ("status", {"code": 500}, 504, "dealer_timeout"),
            ("html", {}, 504, "dealer_timeout"), ("garbage", {}, 504, "dealer_timeout"),
            ("truncated", {}, 504, "dealer_timeout"),
            ("refuse", {"code": 200}, 409, "bet_rejected")):
        b.reference.fault(fault, kind=BETTING, user_id=user, times=1, **words)
        answer = b.seamless_bet(user, new_id("game"), 1)
        equal((answer.status, answer.json.get("id")), (code, error_id), f"{fault} {answer}")
        if code == 200:
            equal(set(answer.json), {"transaction_id", "state"}, "no balance was answered")
        if code == 409 and fault == "status":
            equal(answer.json["dealer_error"], {"id": "", "detail": ""}, "a dealer without words")


def case_not_implemented(b):
    """A dealer's 501: the game server gets the status, the operator reads what to correct, and the bet is
    refunded."""
    user, game = b.seamless_player(), new_id("game")
    b.reference.fault("status", kind=BETTING, user_id=user, times=1, code=501)
    answer = b.seamless_bet(user, game, 1)
    equal((answer.status, answer.json["id"], answer.json["state"], answer.json["detail"]),
          (504, "dealer_timeout", "refunding",
           "the dealer's answer cannot be used (HTTP status 501); the bet is being refunded"), "the bet")
    row, = b.wallet.ctl_json("bet", "list", "--casino", b.seamless.casino_id, "--user", user)["bets"]
    tried, = b.wallet.ctl_json("callback", "show", row["event"])["tries"]
    equal((tried["http_status"], tried["class"], tried["note"]),
          (501, "unknown", "HTTP status 501: the dealer's server does not implement the call; check the "
           "URL and the callback's path"), "the attempt")
    refund = b.wallet.ctl_json("callback", "show", row["refund_event"])
    equal((refund["kind"], refund["state"]), ("betting-refund", "due"), "its refund")


def case_rejected_is_no_part(b):
    """Refused and unanswered bets are in no sum of the round."""
    user, game = b.seamless_player(), new_id("game")
    accepted(b.seamless_bet(user, game, 10), OPENING - 10)
    b.reference.fault("refuse", kind=BETTING, user_id=user, times=1)
    refused(b.seamless_bet(user, game, 100), 409, "bet_rejected", dealer_error=ANY)
    b.reference.fault("status", kind=BETTING, user_id=user, times=1, code=503)
    refused(b.seamless_bet(user, game, 200), 504, "dealer_timeout", state="refunding")
    settled(b.seamless_result(user, game, "win", 25), 10, 0, 15, 25, attempts=1)
    refused(b.seamless_result(user, b.rejected_game(user), "win", 5), 404, "bet_not_found")


def case_busy(b):
    """One call at a time: a second bet is refused at once, and may be repeated with its key."""
    dealer, reference = seamless_dealer(b.wallet, new_id("busy"), words=("--max-inflight", "1"))
    with reference:
        user, other, game = b.player(dealer=dealer), b.player(dealer=dealer), new_id("game")
        accepted(b.bet(other, game, 1, dealer=dealer), OPENING - 1)
        reference.fault("hang", kind=BETTING, user_id=user, times=1, ms=HANG_MS)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(
            b.bet(user, game, 10, dealer=dealer)))
        thread.start()
        cb.wait_until(lambda: b.wallet.ctl_json("bet", "list", "--casino", dealer.casino_id,
                                                "--user", user)["bets"], 20, "the bet's row")
        start = time.monotonic()
        key = new_id("bet")
        answer = b.bet(other, game, 10, key, dealer=dealer)
        refused(answer, 503, "dealer_busy")
        check(int(answer.header("Retry-After")) >= 1, "Retry-After")
        refused(b.read(other, dealer), 503, "dealer_busy")
        # A first result is left to the sweeper.
        settled(b.result(other, game, "win", 3, dealer=dealer), 1, 0, 2, 3, state="due",
                attempts=0)
        check(time.monotonic() - start < TIMEOUT_MS / 1000, "all at once")
        thread.join(20)
        refused(answers[0], 504, "dealer_timeout", state="refunding")
        answer = b.bet(other, new_id("game"), 10, key, dealer=dealer)
        accepted(answer, OPENING - 11)


def hang_and_read(b, reader):
    """Twenty bets that hang, and meanwhile twenty reads: whether the bets outlasted the reads, how
    long these took, and the bets' answers."""
    dealer, reference = seamless_dealer(b.wallet, new_id("hung"))
    hung, game = [b.player(dealer=dealer) for _ in range(20)], new_id("game")
    reference.fault("hang", kind=BETTING, ms=HANG_MS)
    with reference, concurrent.futures.ThreadPoolExecutor(20) as pool:
        futures = [pool.submit(b.bet, name, game, 1, dealer=dealer) for name in hung]
        start = time.monotonic()
        for _ in range(20):
            answer = cb.call(b.server, "GET", cb.BALANCE, {
                "user_id": reader, "request_timestamp": cb.now_ms()}, dealer=b.dealer)
            equal(answer.status, 200, f"{answer}")
        seconds = time.monotonic() - start
        hang = not all(future.done() for future in futures)
        return hang, seconds, [future.result() for future in futures]


def case_hanging_and_transfers(b):
    """Dealers that hang hold workers of the platform's mount, and none of the wallet's."""
    reader = b.player(100)
    for _ in range(3):  # A machine that stalls is given another try.
        hang, seconds, answers = hang_and_read(b, reader)
        if hang and seconds < TIMEOUT_MS / 1000:
            break
    check(hang, "they hang still")
    check(seconds < TIMEOUT_MS / 1000, f"20 reads in {seconds:.2f} s")
    for answer in answers:
        refused(answer, 504, "dealer_timeout", state="refunding")


def case_ledger_away(b):
    user, game, key = b.player(100), new_id("game"), new_id("bet")
    b.wallet.stop()
    try:
        answer = b.bet(user, game, 10, key)
        refused(answer, 503, "service_unavailable")
        check(int(answer.header("Retry-After")) >= 1, "Retry-After")
    finally:
        b.wallet.start()
    accepted(b.bet(user, game, 10, key), 90)


def case_log(b):
    """Each callback has a line; keys and bodies are in none."""
    user, game = b.seamless_player(), new_id("game")
    request_id = new_id("request")
    b.reference.fault("status", kind=BETTING, user_id=user, times=1, code=502)
    body = {"request_transaction_id": new_id(), "game_id": game, "bet_amount": 1,
            "casino_id": b.seamless.casino_id, "user_id": user, "user_bet": {"s3cret": "s3cret"}}
    equal(b.call(BETS, body, headers=[("X-Request-Id", request_id)]).status, 504, "the answer")

    def lines():
        text = b.server.log.read_text(errors="replace")
        return [line for line in text.splitlines() if f"request_id={request_id}" in line]
    found = cb.wait_until(lambda: len(lines()) >= 2 and lines(), 20, "the lines of the log")
    equal(len(found), 2, f"{found}")
    callback = [line for line in found if "event=callback" in line][0]
    for word in ("webhook_id=betting-", "kind=betting", "attempt=1", "class=unknown",
                 "http_status=502", "ms="):
        check(word in callback, f"{word} in {callback}")
    request = [line for line in found if "event=request" in line][0]
    for word in (f"client_id={b.client.client_id}", "path=/platform/bets", "code=504",
                 "refusal=dealer_timeout"):
        check(word in request, f"{word} in {request}")
    text = b.server.log.read_text(errors="replace")
    for secret in ("s3cret", b.client.key, b.seamless.key, b.dealer.key):
        check(secret not in text, "no secret in the log")


def repeated(b, body):
    """Sends the same batch until it is answered with 200."""
    def answered():
        try:
            answer = b.call(RESULTS_BATCH, body)
        except (OSError, http.client.HTTPException):
            return None
        return answer if answer.status == 200 else None
    return wait_until(answered, 60, "the answer to a batch", interval=0.02)


def case_batch_killed(b):
    """Engines and workers are killed while batches are settled, and the callers repeat. Nothing is lost
    and nothing is settled twice."""
    rounds, seed = 6, int(os.environ.get("SEED", os.getpid()))
    print(f"# SEED={seed}")
    chance = random.Random(seed)
    user, other = b.player(10000), b.seamless_player()
    for number in range(rounds):
        games = [new_id("game") for _ in range(30)]
        for game in games[:20]:
            equal(b.bet(user, game, 10).status, 200, "a bet")
        for game in games[20:]:
            equal(b.seamless_bet(other, game, 10).status, 200, "a bet")
        items = [b.item(user, game, "win", 15) for game in games[:20]]
        items += [b.item(other, game, "win", 15, dealer=b.seamless) for game in games[20:]]
        body = {"request_transaction_id": new_id("batch"), "results": items}
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            first = pool.submit(repeated, b, body)
            time.sleep(chance.uniform(0, 0.01))
            # Behind the proxy of the suite contract every answer must be the service's, not the server's.
            engines = number % 2 or "CB_FRONT" in os.environ
            cb.signal_pids(b.wallet.engine_pids() if engines else b.wallet.worker_pids(), signal.SIGKILL)
            answer = first.result()
        equal([without_id(item) for item in answer.json["results"]],
              [won(10, 15.0)] * 20 + [won(10, 15.0, "due")] * 10, "the answers")
        again = repeated(b, body)
        equal((again.replayed, again.body), (True, answer.body), "the replay")
        wait_until(lambda: b.read(user).status == 200, 60, "a balance")
        equal(b.balance(user), 10000 + (number + 1) * 20 * 5, "credited once each")
    sweep(b)
    equal(b.reference.balance(other), OPENING + rounds * 10 * 5, "the dealer's balance")
    equal(len(b.reference.transactions(other)), rounds * 20, "bets and results, each once")
    b.wallet.ctl("check")


def case_same_result_at_once(b):
    """32 equal results on 32 connections: one betting-result, and equal answers. Only the state of the
    callback is that of the moment."""
    user, game, key = b.seamless_player(), new_id("game"), new_id("result")
    accepted(b.seamless_bet(user, game, 10), OPENING - 10)
    begin = threading.Barrier(32)

    def send(_):
        begin.wait(60)
        return b.seamless_result(user, game, "win", 40, key)

    def results():
        return [row["calls"] for row in b.reference.state()["events"]
                if row["webhook_id"].startswith(BETTING_RESULT)]
    before = results()
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(send, range(32)))
    equal({answer.status for answer in answers}, {200}, f"{answers}")
    bodies = [answer.json for answer in answers]
    for body in bodies:
        check(body.pop("callback")["state"] in ("sending", "delivered"), f"{answers}")
    equal([body for body in bodies if body != bodies[0]], [], "the answers that differ")
    after = results()
    equal((len(after) - len(before), sum(after) - sum(before)), (1, 1), "betting-results")
    equal(b.reference.balance(user), OPENING + 30, "paid once")


def case_refunds_reversed(b):
    """Three refunds of one game, delivered again in the reverse order, thrice each."""
    user, game = b.seamless_player(), new_id("game")
    bets = [900000 + next(numbers) for _ in range(3)]
    for bet in bets:
        equal(b.reference.call(BETTING, body_of(BETTING, user, bet, 10, game_id=game)).status, 200, "a bet")
    equal(b.reference.balance(user), OPENING - 30, "staked")
    for _ in range(3):
        for bet in reversed(bets):
            answer = b.reference.call(BETTING_REFUND, body_of(BETTING_REFUND, user, bet, 10, game_id=game),
                                      webhook_id=f"betting-refund-{bet}")
            equal(answer.status, 200, f"{answer}")
        equal(b.reference.balance(user), OPENING, "each credited once")


def case_dealer_calls_back(b):
    """A dealer that calls stat and result-inquire from within betting and betting-result, with one
    worker on each mount: neither waits for the other."""
    inner, made = [], []

    def reply(call):
        told = json.loads(call.body)
        user_id, game_id = told["user_id"], told["game_id"]
        for path, body in ((cb.STAT, {"user_id": user_id, "request_timestamp": int(time.time() * 1000)}),
                           (cb.RESULT_INQUIRE, {"user_id": user_id, "game_id": game_id})):
            answer = cb.call(server, "POST", path, body, dealer=made[0])
            inner.append((path, answer.status, answer.json.get("status")))
        return 200, {}
    with Scripted(reply) as dealer, cb.Lighttpd(b.wallet, threads=1) as server:
        made.append(b.wallet.dealer_add(new_id("dealer"), "--url", dealer.url, "--allow-http", mode="seamless"))
        user, game = b.player(dealer=made[0]), new_id("game")

        def send(path, **more):
            return platform_call(server, path, {
                "request_transaction_id": new_id(), "casino_id": made[0].casino_id, "user_id": user,
                "game_id": game, **more}, client=b.client)
        equal(send(BETS, bet_amount=10).status, 200, "the bet")
        answer = send(RESULTS, result="win", payout_amount=15)
        equal((answer.status, answer.json["callback"]["state"]), (200, "delivered"), f"{answer}")
    equal(inner, [(cb.STAT, 200, None), (cb.RESULT_INQUIRE, 200, "pending"),
                  (cb.STAT, 200, None), (cb.RESULT_INQUIRE, 200, "settled")], "what the dealer read")


ONCE = (
    ("a batch that is not valid", case_batch_bodies),
    ("32 equal results at once", case_same_result_at_once),
    ("refunds of one game in the reverse order", case_refunds_reversed),
    ("a dealer that calls from within a callback", case_dealer_calls_back),
    ("a batch while engines and workers are killed", case_batch_killed),
    ("a batch with a bet under way", case_batch_in_progress),
    ("a settled round is corrected", case_correction),
    ("a settled round of a seamless wallet is corrected", case_seamless_correction),
    ("a cancellation that is not valid", case_cancel_bodies),
    ("a dealer that is away when a bet is cancelled", case_cancel_dealer_down),
    ("names of players", case_player_names),
    ("amounts and results", case_amounts),
    ("suspended dealers and players", case_suspended),
    ("keys that are taken away", case_keys),
    ("a refund that has ended", case_refunded),
    ("a success that comes too late", case_late_success),
    ("a dealer's 501", case_not_implemented),
    ("odd answers of dealers", case_odd_answers),
    ("rejected bets are no part of a round", case_rejected_is_no_part),
    ("a dealer that takes one call at a time", case_busy),
    ("dealers that hang and transfers", case_hanging_and_transfers),
    ("without the ledger", case_ledger_away),
    ("the line of the log", case_log),
)


def main():
    with cb.Instance("platform-test", settings=LOOPBACK) as wallet:
        cases = [*cb.bench_cases(Bench(wallet, cb.Lighttpd), EVERYWHERE + ONCE),
                 *cb.bench_cases(Bench(wallet, cb.ApacheFcgid), EVERYWHERE)]
        return cb.run_cases(cases, seconds=90)


if __name__ == "__main__":
    sys.exit(main())
