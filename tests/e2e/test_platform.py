#!/usr/bin/python3
"""Group C from outside: real servers, workers and ledger, spoken to as a game server would, and
dealers with a server of their own behind them.

What depends on the web server is run on lighttpd and on Apache mod_fcgid; the rest of the rules on
lighttpd alone.
"""
import concurrent.futures
import itertools
import json
import os
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_dealer import BALANCE_INQUIRE, BETTING, BETTING_RESULT  # noqa: E402
from cb_platform import (BETS, LOOPBACK, PLATFORM_PATHS, PLAYER_BALANCE, PLAYERS,  # noqa: E402
                         RESULTS, client_add, platform_call, seamless_dealer)

OPENING = 1000  # what a player has at the reference dealer
TIMEOUT_MS = 3000  # of a callback
HANG_MS = TIMEOUT_MS + 1000
ERROR_KEYS = {"id", "code", "status", "detail", "retryable", "request_id"}
RETRYABLE = {"bet_in_progress", "dealer_busy", "service_unavailable"}
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
    equal(len(b.reference.transactions(user)), 3, "what the dealer was told")


def case_seamless_loss_and_refund(b):
    user, game = b.seamless_player(), new_id("game")
    accepted(b.seamless_bet(user, game, 10), OPENING - 10)
    equal(settled(b.seamless_result(user, game, "loss"), 10, 0, -10, 0, attempts=1), 0, "id")
    equal(b.reference.balance(user), OPENING - 10, "after the loss")
    game = new_id("game")
    accepted(b.seamless_bet(user, game, 20), OPENING - 30)
    settled(b.seamless_result(user, game, "refund"), 20, 0, 0, 20, attempts=1)
    equal(b.reference.balance(user), OPENING - 10, "after the refund")


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


def case_hang(b):
    """The dealer does not answer: the bet is being refunded, and blocks nothing but itself."""
    user, game, key = b.seamless_player(), new_id("game"), new_id("bet")
    b.reference.fault("hang", kind=BETTING, user_id=user, times=1, ms=HANG_MS)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        b.seamless_bet(user, game, 10, key)))
    start = time.monotonic()
    thread.start()
    cb.wait_until(lambda: b.wallet.ctl_json("bet", "list", "--casino", b.seamless.casino_id,
                                            "--user", user)["bets"], 20, "the bet's row")
    refused(b.seamless_bet(user, game, 10, key), 409, "bet_in_progress", replayed=True)
    refused(b.seamless_result(user, game, "win", 5), 409, "bet_in_progress")
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
    """B1: the balance is the dealer's to tell."""
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
        for pid in before:
            os.kill(pid, signal.SIGTERM)
        accepted(slow.result(), OPENING - 10)
        refused(never.result(), 504, "dealer_timeout", state="refunding")
    cb.wait_until(lambda: not set(before) & set(b.server.worker_pids("platform")), 20,
                  "the end of the workers that got SIGTERM")
    cb.wait_until(lambda: b.read(user, b.seamless).status == 200, 20, "new workers")
    settled(b.seamless_result(user, game, "win", 12), 10, 0, 2, 12, attempts=1)


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
    ("a bet that the dealer refuses", case_refused),
    ("a dealer that hangs", case_hang),
    ("a dealer that cannot be reached", case_unreachable),
    ("a dealer that is down at the result", case_dealer_down_at_result),
    ("balances by inquiry", case_inquiry),
    ("SIGTERM lets a callback under way finish", case_stopped_worker),
)

# -- the rules: run on one server


def case_player_names(b):
    """By player_id, or by casino_id and user_id; who gives all must mean one player."""
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
    """What the dealer may answer to a bet besides yes and no (contract, "Answers of a dealer")."""
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
            equal(set(answer.json), {"transaction_id", "state"}, "no balance was told")
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
    """A line tells of each callback; keys and bodies are in none."""
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


ONCE = (
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
    ("what the log tells", case_log),
)


def main():
    with cb.Instance("platform-test", settings=LOOPBACK) as wallet:
        cases = [*cb.bench_cases(Bench(wallet, cb.Lighttpd), EVERYWHERE + ONCE),
                 *cb.bench_cases(Bench(wallet, cb.ApacheFcgid), EVERYWHERE)]
        return cb.run_cases(cases, seconds=90)


if __name__ == "__main__":
    sys.exit(main())
