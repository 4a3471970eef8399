#!/usr/bin/python3
"""The reference dealer from outside, under a real lighttpd: every rule of group B
(specification, "Group B: callbacks to the dealer").
"""
import concurrent.futures
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
from cb import check, equal  # noqa: E402
from cb_dealer import (BALANCE_INQUIRE, BETTING, BETTING_REFUND, BETTING_RESULT, DEALER,  # noqa: E402
                       KINDS, ReferenceDealer, body_of, logs)

numbers = itertools.count(1)
OPENING = 1000
LOST = (500, 502, 503)  # what lighttpd says in the name of a dealer that closed the connection
bench = None  # the dealer that most cases share


def user_new():
    return f"user-{next(numbers)}"


def id_new():
    return 1000 + next(numbers)


def accepted(answer, user_id, balance, what=""):
    equal(answer.status, 200, f"{what} {answer}")
    equal(answer.json, {"user_id": user_id, "balance": balance, "currency": "thb"}, what)
    check(answer.header("Content-Type") == "application/json", "content type")


def refused(answer, code, error_id, what=""):
    equal((answer.status, answer.json.get("id")), (code, error_id), f"{what} {answer}")
    equal(set(answer.json), {"id", "detail"}, "an error body's members")
    check(answer.json["detail"], "a detail")


def conserved():
    totals = bench.state()["totals"]
    check(totals["conserved"], f"money is conserved: {totals}")


def bet(user, number, amount=10, dealer=None, **more):
    return (dealer or bench).call(BETTING, body_of(BETTING, user, number, amount, **more))


def result(user, number, amount=30, word="win", dealer=None, **more):
    return (dealer or bench).call(BETTING_RESULT, body_of(BETTING_RESULT, user, number, amount,
                                                          result=word, **more))


def refund(user, number, amount=10, dealer=None, **more):
    return (dealer or bench).call(BETTING_REFUND, body_of(BETTING_REFUND, user, number, amount,
                                                          **more))


def inquire(user, dealer=None):
    return (dealer or bench).call(BALANCE_INQUIRE, body_of(BALANCE_INQUIRE, user))


# -- the rules


def case_balance():
    user = "ลูกค้า-" + user_new()
    accepted(inquire(user), user, OPENING, "first sight")
    check(b"1000.0" in inquire(user).body, "a balance is answered as a decimal")
    accepted(bench.call(BALANCE_INQUIRE, body_of(BALANCE_INQUIRE, user, unknown={"a": [1]})),
             user, OPENING, "unknown fields")


def case_round():
    user = user_new()
    accepted(bet(user, id_new(), 100.1), user, 899.9, "bet")
    accepted(bet(user, id_new(), 0.2), user, 899.7, "addition")
    accepted(result(user, id_new(), 200.5), user, 1100.2, "win")
    accepted(bet(user, id_new(), 0.0001), user, 1100.1999, "the smallest stake")
    accepted(result(user, id_new(), 0.0001, "refund"), user, 1100.2, "a cancelled game")
    accepted(result(user, id_new(), 0), user, 1100.2, "a win of nothing")
    conserved()


# What was there before -> callback of equal content -> (answer, what the balance does, state
# after). This is the table of rules.h, written down a second time.
AFTER = {
    "none": {BETTING: ("ok", -10, "bet"), "win": ("ok", 10, "paid"),
             "refund": ("ok", 10, "paid"), BETTING_REFUND: ("{}", 0, "tombstone")},
    "bet": {BETTING: ("ok", 0, "bet"), "win": ("transaction_conflict", 0, "bet"),
            "refund": ("transaction_conflict", 0, "bet"),
            BETTING_REFUND: ("ok", 10, "refunded")},
    "refunded": {BETTING: ("bet_refunded", 0, "refunded"),
                 "win": ("transaction_conflict", 0, "refunded"),
                 "refund": ("transaction_conflict", 0, "refunded"),
                 BETTING_REFUND: ("ok", 0, "refunded")},
    "tombstone": {BETTING: ("bet_refunded", 0, "tombstone"),
                  "win": ("transaction_conflict", 0, "tombstone"),
                  "refund": ("transaction_conflict", 0, "tombstone"),
                  BETTING_REFUND: ("{}", 0, "tombstone")},
    "paid": {BETTING: ("transaction_conflict", 0, "paid"), "win": ("ok", 0, "paid"),
             "refund": ("transaction_conflict", 0, "paid"),
             BETTING_REFUND: ("transaction_conflict", 0, "paid")},
    "refused": {BETTING: ("insufficient_balance", 0, "refused"),
                "win": ("transaction_conflict", 0, "refused"),
                "refund": ("transaction_conflict", 0, "refused"),
                BETTING_REFUND: ("ok", 0, "refused")},
}
# How to get there.
PATHS = {"none": [], "bet": [BETTING], "refunded": [BETTING, BETTING_REFUND],
         "tombstone": [BETTING_REFUND], "paid": ["win"], "refused": ["poor"]}


def send(step, user, number, **more):
    """A callback of 10 credits; "poor": a bet without any, which there are again then."""
    if step == "poor":
        bench.set_balance(user, 0)
        answer = bet(user, number, 10)
        bench.set_balance(user, OPENING)
        return answer
    if step in ("win", "refund"):
        return result(user, number, more.pop("amount", 10), step, **more)
    return {BETTING: bet, BETTING_REFUND: refund}[step](user, number, more.pop("amount", 10), **more)


def judge(answer, expected, user, balance, what):
    if expected == "ok":
        accepted(answer, user, balance, what)
    elif expected == "{}":
        equal((answer.status, answer.json), (200, {}), what)
    else:
        refused(answer, 402 if expected == "insufficient_balance" else 409, expected, what)


def case_pairs():
    for before, row in AFTER.items():
        for step, (expected, change, after) in row.items():
            user, number = user_new(), id_new()
            inquire(user)
            for made in PATHS[before]:
                equal(send(made, user, number).status, 402 if made == "poor" else 200,
                      f"{before}: {made}")
            balance = bench.balance(user)
            what = f"{step} after {before}"
            judge(send(step, user, number), expected, user, balance + change, what)
            equal(bench.balance(user), balance + change, f"{what}: balance")
            rows = bench.transactions(user)
            equal(rows[number]["state"], after, f"{what}: state")
            # And whatever comes in the end, the same answer comes to its repeat.
            paid_by = step if after == "paid" and before == "none" else "win"
            again = AFTER[after]["win" if step == paid_by else step]
            judge(send(step, user, number), again[0], user, balance + change + again[1],
                  f"{what}, repeated")
    conserved()


def case_other_content():
    changes = [{"amount": 11}, {"game_id": "game-2"}]
    for before, row in AFTER.items():
        for step, (expected, _, _) in row.items():
            if before == "none" or expected not in ("ok", "{}"):
                continue
            user, number = user_new(), id_new()
            inquire(user)
            for made in PATHS[before]:
                send(made, user, number)
            state = bench.state()
            for change in changes:
                refused(send(step, user, number, **change), 409, "transaction_conflict",
                        f"{step} after {before} with {change}")
            refused(send(step, user_new(), number), 409, "transaction_conflict", "another user")
            after = bench.state()
            for part in ("users", "transactions"):
                equal(after[part], state[part], f"{part} after refused calls")


def case_refund_after_result():
    """A bet whose answer got lost is no part of the round: refunded after its result."""
    user, lost = user_new(), id_new()
    accepted(bet(user, id_new(), 100), user, 900, "the bet that the platform knows")
    accepted(bet(user, lost, 50), user, 850, "the bet whose answer got lost")
    accepted(result(user, id_new(), 200), user, 1050, "the round's result")
    accepted(refund(user, lost, 50), user, 1100, "its refund")
    accepted(refund(user, lost, 50), user, 1100, "once")
    conserved()


def case_refund_unknown():
    user, number = user_new(), id_new()
    answer = refund(user, number)
    equal((answer.status, answer.json), (200, {}), "the refund of an unknown bet")
    equal(bench.balance(user), None, "nothing is known of the user")
    refused(bet(user, number), 409, "bet_refunded", "a bet after its refund")
    accepted(inquire(user), user, OPENING, "nothing was moved")


def case_insufficient():
    user, number = user_new(), id_new()
    refused(bet(user, number, 1000.0001), 402, "insufficient_balance", "more than there is")
    equal(bench.transactions()[number]["state"], "refused", "it is remembered")
    accepted(bet(user, id_new(), 1000), user, 0, "all there is")
    refused(bet(user, id_new(), 0.0001), 402, "insufficient_balance", "nothing is left")
    bench.set_balance(user, 2000)
    refused(bet(user, number, 1000.0001), 402, "insufficient_balance", "the same bet again")
    refused(bet(user, number, 5), 402, "insufficient_balance", "nor is its id free")
    accepted(bet(user, id_new(), 1000.0001), user, 999.9999, "another one")
    bench.set_balance(user, 99999999999.9999)
    refused(result(user, id_new(), 0.0001), 409, "balance_limit", "above the limit")
    conserved()


def case_loss():
    user = user_new()
    accepted(bet(user, id_new(), 100), user, 900, "bet")
    for _ in range(2):
        answer = bench.call(BETTING_RESULT, body_of(BETTING_RESULT, user, 0, 0, result="loss"),
                            webhook_id="betting-result-777001")
        accepted(answer, user, 900, "a loss")
    body = body_of(BETTING_RESULT, user, 0, 5, result="loss")
    accepted(bench.call(BETTING_RESULT, body), user, 900, "a loss credits nothing, whatever it says")
    rows = [row for row in bench.state()["events"] if row["webhook_id"] == "betting-result-777001"]
    equal([(row["calls"], row["result"], row["transaction_id"]) for row in rows],
          [(2, "loss", 0)], "the journal has the repeat")


def case_journal():
    user, number = user_new(), id_new()
    for _ in range(3):
        bench.call(BETTING, body_of(BETTING, user, number), webhook_id=f"betting-{number}")
    bench.call(BETTING, body_of(BETTING, user, number), webhook_id=None)
    rows = {row["webhook_id"]: row for row in bench.state()["events"]
            if row["transaction_id"] == number}
    equal({name: row["calls"] for name, row in rows.items()},
          {f"betting-{number}": 3, f"betting/{number}": 1}, "calls by webhook-id")


# -- which callers are accepted, and in which form


def case_signature():
    user = user_new()
    for kind in KINDS:
        body = json.dumps(body_of(kind, user, id_new())).encode()
        good = cb.sign(bench.key, body)
        twice = [("x-casino-signature", good)]
        for what, words in {
                "missing": {"signature": ""},
                "another key": {"key": "0" * 64},
                "cut": {"signature": good[:-1]},
                "changed": {"signature": good[:-1] + ("1" if good[-1] == "0" else "0")},
                "not hex": {"signature": "z" * 64},
                "twice": {"headers": twice},
                "a list": {"signature": f"{good},{good}"},
                "with a space": {"signature": f"{good[:10]} {good[10:]}"},
                "of another body": {"signature": cb.sign(bench.key, body + b" ")},
        }.items():
            refused(bench.call(kind, body, **words), 401, "invalid_signature", f"{kind} {what}")
        equal(bench.call(kind, body, signature=good.upper()).status, 200, f"{kind} in upper case")
        answer = bench.call(kind, b"", signature="")
        refused(answer, 401, "invalid_signature", "no body, no signature")
        refused(bench.call(kind, b""), 400, "bad_request", "an empty body, signed")


def case_keys():
    user = user_new()
    old, new = bench.key, "f" * 63 + "e"
    body = body_of(BALANCE_INQUIRE, user)
    refused(bench.call(BALANCE_INQUIRE, body, key=new), 401, "invalid_signature", "not yet")
    bench.keys_write(old, "", "# the next one", new)
    for key in (old, new):
        equal(bench.call(BALANCE_INQUIRE, body, key=key).status, 200, "both keys are live")
    bench.keys_write(new)
    refused(bench.call(BALANCE_INQUIRE, body, key=old), 401, "invalid_signature", "retired")
    for unusable in (["no key"], [], ["0" * 64] * 5, [new[:-1] + "x"]):
        bench.keys_write(*unusable)
        refused(bench.call(BALANCE_INQUIRE, body, key=new), 401, "invalid_signature",
                f"a key file of {unusable}")
    # A line of any length is one line: no key begins within a comment.
    for length in range(120, 136):
        bench.keys_write("#" * length + new, old)
        refused(bench.call(BALANCE_INQUIRE, body, key=new), 401, "invalid_signature",
                f"a key behind {length} bytes of comment")
        equal(bench.call(BALANCE_INQUIRE, body, key=old).status, 200, "the key below it")
    bench.keys_write(old)
    equal(bench.call(BALANCE_INQUIRE, body, key=old).status, 200, "the old key again")
    for key in (old, new):
        check(key not in logs(bench), "no key in a log")


def case_shapes():
    user = user_new()
    for kind in KINDS:
        whole = body_of(kind, user, id_new())
        optional = {"addition_amount", "win_amount", "game_result"}
        optional |= {"user_bet"} if kind == BETTING_RESULT else set()
        for name in whole:
            without = {key: value for key, value in whole.items() if key != name}
            if name in optional:
                continue
            answer = bench.call(kind, without)
            refused(answer, 400, "bad_request", f"{kind} without {name}")
            check(name in answer.json["detail"], f"{name} is named: {answer}")
            for wrong in (None, [], {"a": 1} if name != "user_bet" else "x", True):
                answer = bench.call(kind, {**whole, name: wrong})
                refused(answer, 400, "bad_request", f"{kind} with {name}: {wrong}")
        for payload in (b"[]", b"{", b"null", b'{"user_id":"a","user_id":"b"}', b"\xff"):
            refused(bench.call(kind, payload), 400, "bad_request", f"{kind} {payload}")
    for what, changes in {"no id": {"number": 0}, "an unknown result": {"word": "draw"}}.items():
        refused(result(user, changes.get("number", 1), 10, changes.get("word", "win")), 400,
                "bad_request", what)
    refused(bet(user, 0), 400, "bad_request", "a bet without an id")
    refused(refund(user, 0), 400, "bad_request", "a refund without an id")
    for amount in (0, -1, 0.00001, 1e11):
        refused(bet(user, id_new(), amount), 400, "invalid_amount", f"a bet of {amount}")
    for amount in (-1, 0.00001, 1e11):
        refused(result(user, id_new(), amount), 400, "invalid_amount", f"a win of {amount}")
    equal(bench.balance(user), None, "nothing was done")


def case_replays():
    """The body of one callback, sent by an attacker to the path of another."""
    user = user_new()
    accepted(inquire(user), user, OPENING, "before")
    for kind, path in itertools.permutations(KINDS, 2):
        body = body_of(kind, user, id_new())
        for header in (f"{kind}-5", f"{path}-5", None):
            answer = bench.call(path, body, webhook_id=header)
            if path == BALANCE_INQUIRE and header != f"{kind}-5":
                accepted(answer, user, OPENING, "a balance moves nothing")
            else:
                refused(answer, 400, "bad_request", f"{kind} at {path} as {header}")
    # A refund with a member of another kind is refused.
    body = body_of(BETTING_REFUND, user, id_new())
    for more in ({"user_bet": {}}, {"user_bet": None}, {"result": "win"}):
        refused(bench.call(BETTING_REFUND, {**body, **more}), 400, "bad_request",
                f"a refund with {more}")
    body = body_of(BETTING, user, id_new())
    refused(bench.call(BETTING, {**body, "result": "win"}), 400, "bad_request",
            "a bet with a result")
    for kind in KINDS:
        for header in ("", "5", f"{kind}", f"{kind}-", f"{kind}-x", f"{kind}-5 ", "x-5",
                       f"{kind}-5,{kind}-6", f"{kind}-1-5"):
            body = body_of(kind, user, id_new())
            answer = bench.send("POST", f"/{kind}", json.dumps(body).encode(),
                                [("x-casino-signature", cb.sign(bench.key, json.dumps(body).encode())),
                                 ("webhook-id", header)])
            # lighttpd strips blanks around a value and drops an empty header.
            if header in ("", f"{kind}-5 "):
                continue
            refused(answer, 400, "bad_request", f"{kind} as {header!r}")
    conserved()


def case_paths():
    body = json.dumps(body_of(BALANCE_INQUIRE, user_new())).encode()
    for path in ("/", "/betting/", "/betting-results", "/x/betting", "/control", "/control/x"):
        refused(bench.send("POST", path, body), 404, "not_found", path)
    for path in [f"/{kind}" for kind in KINDS]:
        answer = bench.send("GET", path, None)
        refused(answer, 405, "method_not_allowed", path)
        equal(answer.header("Allow"), "POST", "Allow")
    big = body_of(BETTING, user_new(), 1, remark="x" * 65536)
    refused(bench.call(BETTING, big), 413, "payload_too_large", "too large")
    with ReferenceDealer("--currency", "eur", "--opening-balance", "7.25", prefix="/seamless/v1",
                         control=False) as other:
        answer = inquire("alice", dealer=other)
        equal((answer.status, answer.json), (200, {"user_id": "alice", "balance": 7.25,
                                                   "currency": "eur"}), "options and prefix")
        for method, path in (("GET", "/control/state"), ("POST", "/control/faults"),
                             ("POST", "/control/users")):
            refused(other.send(method, path, b"{}" if method == "POST" else None), 404, "not_found", "control is not there")


# -- faults


def timed(function):
    start = time.monotonic()
    answer = function()
    return answer, time.monotonic() - start


def case_faults():
    """Fault -> rule, least seconds, whether the bet is there, status, body."""
    table = {
        "slow": ({"ms": 300}, 0.3, True, 200, b"balance"),
        "late": ({"ms": 300}, 0.3, True, 200, b"balance"),
        "lost": ({"ms": 300}, 0.3, True, LOST, None),
        "hang": ({"ms": 300}, 0.3, False, LOST, None),
        "cut": ({}, 0, False, LOST, None),
        "status": ({}, 0, False, 500, b"<html>"),
        "status 503": ({"code": 503}, 0, False, 503, b"<html>"),
        "status done": ({"code": 429, "works": 1}, 0, True, 429, b"<html>"),
        "refuse": ({}, 0, False, 409, b"dealer_refuses"),
        "refuse 200": ({"code": 200}, 0, False, 200, b"dealer_refuses"),
        "empty": ({}, 0, True, 200, b""),
        "html": ({}, 0, True, 200, b"<html>"),
        "html undone": ({"works": 0}, 0, False, 200, b"<html>"),
        "garbage": ({}, 0, True, 200, b"\xff"),
        "truncated": ({}, 0, True, 200, b'{"user_id'),
    }
    for name, (rule, seconds, done, status, part) in table.items():
        user, number = user_new(), id_new()
        bench.fault(name.split()[0], user_id=user, kind=BETTING, times=1, **rule)
        answer, took = timed(lambda user=user, number=number: bet(user, number))
        check(answer.status in status if isinstance(status, tuple) else answer.status == status,
              f"{name}: {answer}")
        check(seconds <= took < seconds + 15, f"{name} took {took}")
        if part is not None:
            check(part in answer.body if part else answer.body == b"", f"{name}: {answer}")
        equal(number in bench.transactions(), done, f"{name}: the bet is there")
        accepted(bet(user, number), user, 990, f"{name}: and then all is well")
    try:
        json.loads(bench_truncated())
        check(False, "a truncated body is no JSON")
    except ValueError:
        pass
    bench.faults_clear()
    conserved()


def bench_truncated():
    user = user_new()
    bench.fault("truncated", user_id=user)
    return inquire(user).body


def struck(count, user, kind=BALANCE_INQUIRE):
    return "".join("x" if bench.call(kind, body_of(kind, user)).status == 500 else "."
                   for _ in range(count))


def case_script():
    user = user_new()
    for rule, expected in (({"skip": 2, "times": 1}, "..x..."), ({"every": 3}, "x..x.."),
                           ({"skip": 1, "every": 2, "times": 2}, ".x.x.."),
                           ({"kind": BETTING}, "......"), ({"percent": 0}, "......"),
                           ({"user_id": user}, "xxxxxx"), ({"user_id": "nobody"}, "......")):
        bench.fault("status", **rule)
        equal(struck(6, user), expected, str(rule))
        bench.faults_clear()
    bench.fault("status", percent=50)
    hits = struck(60, user).count("x")
    check(15 < hits < 45, f"half of 60 is {hits}")
    rule = bench.faults()[0]
    equal((rule["seen"], rule["struck"]), (60, hits), "the script counts")
    bench.faults_clear()
    for wrong in ({}, {"fault": "x"}, {"fault": "cut", "kind": "x"}, {"fault": "cut", "ms": 60001},
                  {"fault": "cut", "percent": 101}, {"fault": "cut", "every": 0},
                  {"fault": "status", "code": 99}, {"fault": "cut", "works": 2}, []):
        answer = bench.send("POST", "/control/faults", json.dumps(wrong).encode())
        refused(answer, 400, "bad_request", f"rule {wrong}")
    for _ in range(64):
        bench.fault("status", user_id="nobody")
    answer = bench.send("POST", "/control/faults", b'{"fault":"cut"}')
    refused(answer, 400, "bad_request", "the 65th rule")
    bench.faults_clear()
    equal(bench.faults(), [], "the script is empty")


def case_bugs():
    """Each planted bug shows, and only where it is planted."""
    def twice(function, *words):
        return [function(*words).json["balance"] for _ in range(2)]

    with ReferenceDealer() as dealer:
        def planted(bug):
            user = user_new()
            inquire(user, dealer)
            if bug == "signature_unchecked":
                dealer.fault(bug)
            else:
                dealer.fault(bug, user_id=user)
            return user, id_new()

        user, number = planted("debit_twice")
        equal(twice(bet, user, number, 10, dealer), [990, 980], "debit_twice")
        user, number = planted("credit_twice")
        equal(twice(result, user, number, 30, "win", dealer), [1030, 1060], "credit_twice")
        user, number = planted("refund_twice")
        bet(user, number, dealer=dealer)
        equal(twice(refund, user, number, 10, dealer), [1000, 1010], "refund_twice")
        check(not dealer.state()["totals"]["conserved"], "the sums show it")
        user, number = planted("loss_credits")
        equal(result(user, 0, 0, "loss", dealer).json["balance"], 1010, "loss_credits")
        user, number = planted("loss_once")
        equal(result(user, 0, 0, "loss", dealer).status, 200, "loss_once: the first")
        refused(result(user, 0, 0, "loss", dealer), 409, "transaction_conflict", "loss_once")
        user, number = planted("no_tombstone")
        refund(user, number, dealer=dealer)
        equal(bet(user, number, dealer=dealer).json["balance"], 990, "no_tombstone")
        user, number = planted("refund_unknown_credits")
        equal(refund(user, number, dealer=dealer).json["balance"], 1010, "refund_unknown_credits")
        user, number = planted("float_money")
        answer = bet(user, number, 0.1, dealer)
        check(answer.json["balance"] not in (999.9, 1000), f"float_money: {answer}")
        user = "é" + user_new()
        dealer.fault("reject_unicode", user_id=user)
        refused(inquire(user, dealer), 400, "bad_request", "reject_unicode")
        user, number = planted("reject_unicode")
        equal(bet(user, number, dealer=dealer).status, 200, "reject_unicode: ASCII")
        body = json.dumps(body_of(BETTING, user, id_new(), remark="é"), ensure_ascii=False)
        refused(dealer.call(BETTING, body.encode()), 400, "bad_request", "reject_unicode: remark")
        user, number = planted("kind_unchecked")
        equal(inquire(user, dealer).status, 200, "kind_unchecked elsewhere")
        dealer.faults_clear()
        dealer.fault("kind_unchecked", kind=BETTING_REFUND)
        bet(user, number, dealer=dealer)
        answer = dealer.call(BETTING_REFUND, body_of(BETTING, user, number))
        equal((answer.status, answer.json["balance"]), (200, 1000), "kind_unchecked")
        dealer.faults_clear()
        user, number = planted("signature_unchecked")
        answer = dealer.call(BETTING, body_of(BETTING, user, number), signature="x")
        equal(answer.status, 200, "signature_unchecked")
        dealer.faults_clear()
        answer = dealer.call(BETTING, body_of(BETTING, user, number), signature="x")
        refused(answer, 401, "invalid_signature", "no bug is left")
    conserved()


# -- at once, and after a kill


def case_equal_at_once():
    user = user_new()
    inquire(user)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for make, amount, after in ((bet, 100, 900), (refund, 100, 1000), (result, 50, 1050)):
            number = id_new() if make is not refund else number
            answers = list(pool.map(lambda _, m=make, n=number, a=amount: m(user, n, a), range(16)))
            for answer in answers:
                accepted(answer, user, after, make.__name__)
        # A bet and its refund at once: whichever is first, nothing is taken in the end.
        for _ in range(10):
            number = id_new()
            calls = [pool.submit(bet, user, number), pool.submit(refund, user, number)]
            first, second = (call.result() for call in calls)
            check(first.status == 200 or first.json["id"] == "bet_refunded", f"bet {first}")
            equal(second.status, 200, f"refund {second}")
            equal(bench.balance(user), 1050, "bet and refund at once")
    conserved()


def case_kills():
    """The state that an answer reported is there after SIGKILL, and a repeated call gets the same
    answer."""
    chance = random.Random(int(os.environ.get("CB_SEED", "7")))
    stop = threading.Event()
    done = []  # (user, number)
    stake = 0.125  # exact, and more bets than a fast machine makes in these seconds

    def load(user):
        while not stop.is_set():
            number = id_new()
            while True:  # as the platform would not, but a client of ours can
                try:
                    answer = bet(user, number, stake)
                except (OSError, cb.HarnessError, ValueError):
                    continue
                except Exception:  # http.client's, of an answer cut off
                    continue
                if answer.status == 200:
                    done.append((user, number))
                    break
                check(answer.status in LOST, f"bet {answer}")
                time.sleep(0.01)

    users = [user_new() for _ in range(6)]
    kills = 0
    with concurrent.futures.ThreadPoolExecutor(len(users)) as pool:
        loads = [pool.submit(load, user) for user in users]
        try:
            for _ in range(5):
                time.sleep(0.2 + 0.3 * chance.random())
                cb.wait_until(bench.pids, 20, "lighttpd starts the dealer anew")
                bench.kill()
                kills += 1
            cb.wait_until(lambda: len(done) > 50, 20, "a load of bets")
        finally:
            stop.set()
        for one in loads:
            one.result(20)
    equal(kills, 5, "kills")
    # Every load may have had its last answer before the last kill.
    cb.wait_until(bench.serves, 20, "the dealer after the last kill")
    rows = bench.transactions()
    for user, number in done:
        equal(rows[number]["state"], "bet", f"bet {number} is there")
    for user in users:
        mine = [number for name, number in done if name == user]
        staked = [row for row in rows.values()
                  if row["user_id"] == user and row["state"] != "refused"]
        equal(len(staked), len(mine), "no bet that was not answered in the end")
        equal(bench.balance(user), OPENING - len(mine) * stake, f"balance of {user}")
    conserved()


def case_storm():
    """Random callbacks in a random order, each some times, against the rules written as a model."""
    seed = int(os.environ.get("CB_SEED", time.time_ns() % 1000000))
    print(f"# CB_SEED={seed}")
    chance = random.Random(seed)
    users = [user_new() for _ in range(3)]
    balances = {user: OPENING for user in users}
    states = {}
    for user in users:
        inquire(user)
    base = 10 ** 9 + seed * 1000
    for _ in range(250):
        number = base + chance.randrange(40)
        user = users[number % 3]
        step = chance.choice([BETTING, BETTING_REFUND, "win", "refund"])
        expected, change, after = AFTER[states.get(number, "none")][step]
        if states.get(number) == "paid" and step in ("win", "refund"):
            expected = "ok" if step == kinds_paid(states, number) else "transaction_conflict"
        answer = send(step, user, number)
        balances[user] += change
        if number not in states and step in ("win", "refund"):
            states[(number, "kind")] = step
        states[number] = after
        judge(answer, expected, user, balances[user], f"{step} of {number}")
    equal({user: bench.balance(user) for user in users}, balances, "balances")
    conserved()


def kinds_paid(states, number):
    return states[(number, "kind")]


# -- the program


def case_program():
    program = cb.find_program(DEALER)
    folder = bench.dir / "program"
    folder.mkdir()
    good = folder / "key"
    good.write_text("a" * 64 + "\n")
    bad = folder / "bad"
    bad.write_text("secret-words\n")
    state = folder / "state"
    words = ["--key-file", good, "--state", state]

    def run(*words):
        return subprocess.run([program, *map(str, words)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=20, check=False)

    socket_words = ["--socket", folder / "sock"]
    for argv, code, part in (
            ([], 2, "required"), (words, 2, "no listening socket"),
            ([*words, "--threads", "0"], 2, "--threads"), ([*words, "--threads", "x"], 2, "--threads"),
            ([*words, "--currency", "THB"], 2, "--currency"),
            ([*words, "--opening-balance", "-1"], 2, "--opening-balance"),
            ([*words, "--base-path", "x"], 2, "--base-path"), ([*words, "more"], 2, "unexpected"),
            (["--key-file", bad, "--state", state, *socket_words], 78, "64 hex"),
            (["--key-file", folder / "none", "--state", state, *socket_words], 78, "No such file"),
            (["--key-file", good, "--state", folder / "a/b", *socket_words], 78, "No such file"),
            ([*words, "--socket", good], 78, "is no socket")):
        done = run(*argv)
        equal(done.returncode, code, f"{argv}: {done.stderr}")
        check(part in done.stderr, f"{part} in {done.stderr}")
        check("secret-words" not in done.stderr, "a text that may be a key is not logged")
    child = cb.Child([program, *words, *socket_words], folder / "log")
    child.wait_ready((folder / "sock").exists, 20, "the dealer on a socket of its own")
    start = time.monotonic()
    done = run(*words, "--socket", folder / "second")
    equal(done.returncode, 78, f"a second process on the same state: {done.stderr}")
    check(time.monotonic() - start > 1, "it waits for the first to go")
    equal(child.stop(signal.SIGTERM), 0, "exit code of SIGTERM")
    check(not (folder / "sock").exists(), "its socket is gone")


CASES = [
    ("balance-inquire", case_balance),
    ("a round", case_round),
    ("every callback after every other", case_pairs),
    ("known ids with other content", case_other_content),
    ("a refund after the round's result", case_refund_after_result),
    ("the refund of an unknown bet", case_refund_unknown),
    ("insufficient balance, and too much", case_insufficient),
    ("losses", case_loss),
    ("the journal", case_journal),
    ("signatures", case_signature),
    ("keys are replaced", case_keys),
    ("shapes of bodies", case_shapes),
    ("bodies under another kind", case_replays),
    ("paths, methods, sizes, options", case_paths),
    ("faults", case_faults),
    ("the fault script", case_script),
    ("planted bugs", case_bugs),
    ("equal ids at once", case_equal_at_once),
    ("random order", case_storm),
    ("SIGKILL", case_kills),
    ("the program", case_program),
]

if __name__ == "__main__":
    with ReferenceDealer() as bench:
        code = cb.run_cases(CASES, seconds=60)
    sys.exit(code)
