#!/usr/bin/python3
"""creditbridgectl on game servers, bets, rounds and callbacks, against a real ledger.

The test does the work of workers and of the sweeper over edge.sock (cb_worker.py), so that each
case decides how the dealer answered; only `dealer ping` speaks HTTP, to dealers of its own on
loopback.
"""
import contextlib
import hashlib
import hmac
import json
import os
import re
import socket
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, lone_dealer, new, on_terminal, run  # noqa: E402
from cb_lies import Change  # noqa: E402
from cb_listener import Scripted  # noqa: E402
from cb_middle import Middle  # noqa: E402
from cb_worker import (BETTING, BETTING_CORRECTION, BETTING_RESULT, LOSS, NOT_SENT, REFUND, REFUSED, SUCCESS,  # noqa
                       UNKNOWN, WIN, Worker)

SETTINGS = {
    "callback_networks": ["127.0.0.0/8"], "callback_timeout_ms": 3000,
    "callback_connect_timeout_ms": 2000, "callback_lease_ms": 20000,
    "result_second_attempt_ms": 30, "result_third_attempt_ms": 30,
}
WALLET = None
ctl = ctl_json = refused = None  # of WALLET
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@contextlib.contextmanager
def worker():
    with Worker(WALLET.sockets / "edge.sock") as link:
        yield link


def dealer_new(*options, mode="seamless"):
    return lone_dealer(WALLET, *options, mode=mode)


def place(link, name, game, outcome=SUCCESS, amount=10, **told):
    """A bet of a seamless wallet, whose betting ended with @outcome."""
    bet = link.place("slots", name, "alice", game, amount)
    equal(bet.send.kind, BETTING, "a betting to be sent")
    link.end(bet.send, name, outcome, **told)
    return bet


def park(link, name, event, send, **told):
    """Lets all three attempts of a result fail: the first is @send."""
    link.end(send, name, NOT_SENT, note="connection refused")
    for _ in range(2):
        attempt_failed(link, name, event, **told)


def attempt_failed(link, name, event, **told):
    def claimed():
        refusal, grant = link.claim(event)
        return grant if not refusal else None
    grant = cb.wait_until(claimed, 20, f"event {event} is due")
    link.end(grant, name, UNKNOWN, status=503, note="HTTP 503", **told)


def parked(link, name=None):
    """Returns the event of the result of a new round, which is parked. The dealer is a new one,
    unless named: ten failed calls would open its breaker."""
    name = name or dealer_new()
    game = new("game")
    place(link, name, game)
    made = link.settle("slots", name, "alice", game, WIN, 15)
    park(link, name, made.event, made.send)
    return made.event


def state_of(event):
    return ctl_json("callback", "show", event)["state"]


# -- clients

def case_clients():
    name = new("client")
    made = ctl_json("client", "add", name)
    equal(set(made), {"client_id", "key_id", "key"}, "members")
    equal((made["client_id"], made["key_id"]), (name, "k1"), "its first key")
    check(re.fullmatch("[0-9a-f]{64}", made["key"]), "the key")
    refused("already_exists", "client", "add", name)
    for words in (("remove", "nobody"), ("key-add", "nobody"), ("key-use", "nobody", "k1"),
                  ("key-retire", "nobody", "k1")):
        refused("client_not_found", "client", *words)
    second = ctl_json("client", "key-add", name)
    equal(second["key_id"], "k2", "its second key")
    check(second["key"] != made["key"], "another key")
    refused("too_many_keys", "client", "key-add", name)
    refused("key_not_found", "client", "key-use", name, "k3")
    refused("key_not_found", "client", "key-retire", name, "k" * 40)
    equal(ctl_json("client", "key-use", name, "k2"), {"client_id": name, "key_id": "k2"}, "use")
    equal(ctl_json("client", "key-retire", name, "k1"), {"client_id": name, "key_id": "k1"},
          "retired")
    refused("key_in_use", "client", "key-retire", name, "k2")
    equal(ctl_json("client", "key-add", name)["key_id"], "k3", "an id is not used again")
    row = listed_clients()[name]
    equal([key["key_id"] for key in row["keys"]], ["k3", "k2"], "live keys")
    table = ctl("client", "list").stdout
    check(table.startswith("CLIENT"), table)
    check(re.search(rf"^{name} +k3, k2 +{TIME}$", table, re.M), table)
    everything = table + json.dumps(listed_clients()) + ctl("audit").stdout
    for key in (made["key"], second["key"]):
        check(key not in everything, "a key is shown once")


def listed_clients(*options):
    return {row["client_id"]: row for row in ctl_json("client", "list", *options)["clients"]}


def case_client_removed():
    name = new("client")
    ctl("client", "add", name)
    equal(ctl_json("client", "remove", name, "--reason", "sold"),
          {"client_id": name, "removed": True}, "removed")
    check(name not in listed_clients(), "not listed")
    equal(listed_clients("--all")[name]["removed"], True, "listed with --all")
    check(re.search(rf"^{name} .* yes$", ctl("client", "list", "--all").stdout, re.M), "table")
    refused("client_not_found", "client", "remove", name)
    refused("client_not_found", "client", "key-add", name)
    equal(ctl_json("client", "add", name)["key_id"], "k2", "added again, no key id again")
    equal(listed_clients()[name]["removed"], False, "listed again")
    rows = ctl_json("audit", "--limit", "3")["audit"]
    equal([(row["action"], row["reason"]) for row in rows],
          [("client add", ""), ("client remove", "sold"), ("client add", "")], "audit")
    for row in rows:
        check(name in row["object"] and row["uid"] == os.getuid(), row)


def case_client_with_open_rounds():
    """Its bets wait for a client of its name: it is not removed by the way."""
    name, dealer = new("client"), dealer_new(mode="transfer")
    WALLET.player_add(dealer, "bob")
    for user in ("alice", "bob"):
        ctl("player", "adjust", dealer, user, "100", "--reason", "test")
    ctl("client", "add", name)
    with worker() as link:
        for user, game in (("alice", "done"), ("alice", "g-1"), ("bob", "g-1"), ("bob", "g-2")):
            link.place(name, dealer, user, game, 1)
        link.settle(name, dealer, "alice", "done", LOSS)
        link.place("slots", dealer, "alice", "of another", 1)
    refused("open_rounds", "client", "remove", name)
    detail = ctl_json("client", "remove", name, code=1)["error"]["detail"]
    games = re.search(r"of game (.*): their bets can only be settled by a client of this name",
                      detail)
    equal(sorted(games[1].split(", ")), ["g-1", "g-2"], f"each game once: {detail}")
    with worker() as link:
        for number in range(3, 10):
            link.place(name, dealer, "alice", f"g-{number}", 1)
    detail = ctl_json("client", "remove", name, code=1)["error"]["detail"]
    equal((detail.count("g-"), " and others: " in detail), (5, True), detail)
    check(name in listed_clients(), "nothing was removed")
    done = ctl("client", "remove", name, "--yes")
    check("its open rounds wait until the same name is added again" in done.stdout, done.stdout)
    refused("client_not_found", "client", "remove", name)
    ctl("client", "add", name)
    with worker() as link:
        equal(link.settle(name, dealer, "bob", "g-2", LOSS).refusal, "", "taken up")


def case_client_key_files():
    key = "0123456789abcdef" * 4
    path = WALLET.dir / "client-key"
    path.write_text(key + "\n")
    name = new("client")
    done = ctl("client", "add", name, "--key-file", path)
    check(key not in done.stdout and str(path) in done.stdout, "a key of one's own is not shown")
    other = key[::-1]
    equal(ctl_json("client", "add", new("client"), "--key-file", "-", stdin=other)["key"], other,
          "from standard input")
    equal(ctl_json("client", "key-add", name, "--key-file", "-", stdin="f" * 64)["key"], "f" * 64,
          "a second one")
    path.write_text("short")
    refused("bad_key", "client", "add", new("client"), "--key-file", path)


# -- bets and rounds

def correct(*words, code=0):
    return ctl_json("round", "correct", *words, "--reason", "misread", "--yes", code=code)


def case_correct_transfer():
    """The difference moves here, once for each operation id; a preview moves nothing."""
    name, game = dealer_new(mode="transfer"), new("game")
    who = f"{name}/alice"

    def balance():
        return ctl_json("player", "show", who)["balance"]
    ctl("player", "adjust", name, "alice", "100", "--reason", "test")
    with worker() as link:
        link.place("slots", name, "alice", game, 30)
        refused("revision_conflict", "round", "correct", who, game, "loss", "--reason", "x", "--yes")
        link.settle("slots", name, "alice", game, LOSS)
    for words in ((who, game, "loss"), (who, game, "win", "--reason", "x"),
                  (who, game, "loss", "5", "--reason", "x"), (who, game, "draw", "--reason", "x"),
                  (who, game, "win", "-5", "--reason", "x"), (who, game, "win", "5", "--reason", "x"),
                  (who, game, "loss", "--reason", "x", "--revision", "65")):
        ctl("round", "correct", *words, code=2)
    refused("game_not_found", "round", "correct", who, "no game", "loss", "--reason", "x", "--yes")
    shown = ctl_json("round", "correct", who, game, "win", "50", "--reason", "x", "--dry-run")
    equal((shown["dry_run"], shown["previous_result"], shown["previous_payout_amount"], shown["delta"],
           shown["revision"], shown["transaction_id"], shown["effect"]),
          (True, "loss", 0, 50, 1, 0, "credit is added here"), f"a preview: {shown}")
    code, text = on_terminal(WALLET, "round", "correct", who, game, "win", "50", "--reason", "x",
                             answer="n\n")
    check(code == 1 and re.search(r"^difference +50\.00$", text, re.M) and "[y/N]" in text, text)
    equal((balance(), ctl_json("round", "show", who, game)["corrections"]), (70, []), "nothing moved")
    code, text = on_terminal(WALLET, "round", "correct", who, game, "win", "50", "--reason", "misread",
                             answer="y\n")
    check(code == 0 and re.search(r"^transaction id +\d+$", text, re.M), text)
    equal(balance(), 120, "after it")
    row = ctl_json("round", "show", who, game)["corrections"][0]
    equal((row["scope"], row["client_id"], row["reason"], row["payout_amount"]),
          ("operator", "", "misread", 50), f"{row}")
    # Another operator was quicker.
    refused("revision_conflict", "round", "correct", who, game, "loss", "--reason", "x", "--yes",
            "--revision", "1")
    refused("invalid_amount", "round", "correct", who, game, "win", "0.001", "--reason", "x", "--yes")
    made = correct(who, game, "refund", "--operation-id", f"{game}-2", "--revision", "2")
    equal((made["delta"], made["payout_amount"], made["replay"], balance()), (-20, 30, False, 100),
          f"{made}")
    again = correct(who, game, "refund", "--operation-id", f"{game}-2", "--revision", "2")
    equal((again["transaction_id"], again["replay"], balance()), (made["transaction_id"], True, 100),
          f"repeated: {again}")
    done = correct(who, game, "loss", "--operation-id", f"{game}-2", "--revision", "2", code=1)
    equal(done["error"]["id"], "transaction_conflict", f"{done}")
    ctl("player", "adjust", name, "alice", "-90", "--reason", "spent")
    equal(correct(who, game, "loss", code=1)["error"]["id"], "insufficient_balance", "too little")
    made = correct(who, game, "loss", "--allow-shortfall")
    equal((made["delta"], made["shortfall"], balance()), (-30, 20, 0), f"{made}")
    with worker() as link:
        equal(link.correct("slots", name, "alice", game, 4, WIN, 40), "", "the game server goes on")
    equal(balance(), 20, "less what was not taken")
    equal(ctl_json("check")["ok"], True, "check")


def case_correct_seamless():
    """The callback is left to the sweeper; the rules of a correction hold."""
    name, game = dealer_new(), new("game")
    who = f"{name}/alice"
    with worker() as link:
        place(link, name, game)
        made = link.settle("slots", name, "alice", game, WIN, 30)
        equal(correct(who, game, "win", "45", code=1)["error"]["id"], "callback_open", "not answered")
        link.end(made.send, name, SUCCESS)

        def swept(kind, event):
            equal(state_of(event), "due", "left to the sweeper")
            refusal, grant = link.claim(event)
            equal((refusal, grant.kind, grant.attempt), ("", kind, 1), "the sweeper's")
            link.end(grant, name, SUCCESS)
            equal(state_of(event), "delivered", "sent")
        up = correct(who, game, "win", "45")
        equal((up["delta"], up["effect"]), (15, "the dealer is sent a betting-result"), f"{up}")
        swept(BETTING_RESULT, int(up["webhook_id"].rpartition("-")[2]))
        equal(correct(who, game, "loss", code=1)["error"]["id"], "correction_not_supported", "no path")
        done = ctl_json("round", "correct", who, game, "loss", "--reason", "x", "--dry-run", code=1)
        equal(done["error"]["id"], "correction_not_supported", "the preview says so")
        ctl("dealer", "set", name, "--path-betting-correction", "/c", "--reason", "test")
        down = correct(who, game, "loss")
        equal((down["delta"], down["effect"]), (-45, "the dealer is sent a betting-correction"),
              f"{down}")
        swept(BETTING_CORRECTION, int(down["webhook_id"].rpartition("-")[2]))
        # Only the result changes: nothing moves, and nothing is sent.
        same = correct(who, game, "win", "0")
        equal((same["delta"], same["webhook_id"], same["effect"]), (0, "", "nothing moves"), f"{same}")
    equal(ctl_json("check")["ok"], True, "check")


def case_bet_of_transfer_wallet():
    name = dealer_new(mode="transfer")
    player_id = ctl_json("player", "show", f"{name}/alice")["player_id"]
    ctl("player", "adjust", name, "alice", "100", "--reason", "test")
    with worker() as link:
        first = link.place("slots", name, "alice", "g-1", 10, remark="Roulette", reference="r-1")
        more = link.place("slots", name, "alice", "g-1", 2.5, addition=True)
        made = link.settle("slots", name, "alice", "g-1", WIN, 30)
    shown = ctl_json("bet", "show", first.transaction_id)
    equal(set(shown), {"bet", "answer", "round", "callbacks", "movements", "story"}, "members")
    bet = shown["bet"]
    equal((bet["state"], bet["number"], bet["bet_amount"], bet["addition"], bet["remark"],
           bet["request_transaction_id"], bet["user_bet"]),
          ("settled", 1, 10, False, "Roulette", "r-1", {"on": "red"}), "the bet")
    equal(shown["answer"], {"code": 200, "id": "", "detail": ""}, "the answer")
    equal((shown["round"]["result"], shown["round"]["addition_amount"],
           shown["round"]["win_amount"], shown["round"]["user_id"]), ("win", 2.5, 17.5, "alice"),
          "its round")
    equal([(row["kind"], row["amount"], row["current_balance"]) for row in shown["movements"]],
          [("bet", -10, 90), ("payout", 30, 117.5)], "movements")
    equal(shown["callbacks"], [], "none is sent")
    for words in ((player_id, "g-1", 2), (f"{name}/alice", "g-1", "2")):
        equal(ctl_json("bet", "show", *words)["bet"]["transaction_id"], more.transaction_id,
              f"by {words}")
    text = ctl("bet", "show", more.transaction_id).stdout
    for pattern in (r"^bet +2 of 2$", r"^addition +yes$", r"^in the round's sums +yes$",
                    r"^answer to it +200 accepted, balance 87\.50$", r"^win amount +17.50$",
                    r"^Movements$",
                    rf"^ *{made.transaction_id} {TIME} payout +30\.00 +87\.50 117\.50 "):
        check(re.search(pattern, text, re.M), f"{pattern}: {text}")
    check("Callbacks" not in text and "no " not in ctl("bet", "show", first.transaction_id).stderr,
          "nothing about callbacks")
    # The id of a win leads to the round, and so does the game without a number.
    by_result = ctl_json("bet", "show", made.transaction_id)
    equal(set(by_result), {"round", "bets", "corrections", "callbacks", "movements", "story"},
          "members of a round")
    for words in ((made.transaction_id,), (first.transaction_id,), (player_id, "g-1")):
        equal(ctl_json("round", "show", *words), by_result, f"by {words}")
    equal([row["transaction_id"] for row in by_result["bets"]],
          [first.transaction_id, more.transaction_id], "its bets")
    equal([row["kind"] for row in by_result["movements"]], ["bet", "bet", "payout"], "movements")
    check("has 2 bets" in ctl("bet", "show", player_id, "g-1", code=2).stderr, "which one")
    refused("bet_not_found", "bet", "show", player_id, "g-1", 3)
    refused("game_not_found", "bet", "show", player_id, "g-2")
    refused("user_not_found", "bet", "show", f"{name}/bob", "g-1")
    refused("user_not_found", "round", "show", "nobody", "g-1")
    refused("bet_not_found", "bet", "show", 2**53 - 1)
    adjusted = ctl_json("player", "adjust", name, "alice", "1", "--reason", "x")["transaction_id"]
    done = ctl("bet", "show", adjusted, code=1)
    check(f"transfer show --transaction {adjusted}" in done.stderr, "where to look then")


def case_bet_without_win():
    """One bet, and a loss, whose transaction id is 0."""
    name = dealer_new(mode="transfer")
    ctl("player", "adjust", name, "alice", "10", "--reason", "test")
    with worker() as link:
        equal(link.place("slots", name, "alice", "g", 11).refusal, "insufficient_balance",
              "too high")
        refused("game_not_found", "bet", "show", f"{name}/alice", "g")
        bet = link.place("slots", name, "alice", "g", 4)
        text = ctl("bet", "show", f"{name}/alice", "g").stdout
        check(re.search(r"^state +open$", text, re.M) and not re.search("^result ", text, re.M), text)
        equal(link.settle("slots", name, "alice", "g", LOSS).transaction_id, 0, "a loss")
    shown = ctl_json("bet", "show", f"{name}/alice", "g")
    equal((shown["bet"]["transaction_id"], shown["round"]["result"], shown["round"]["win_amount"]),
          (bet.transaction_id, "loss", -4), "shown without a number")
    equal(len(shown["movements"]), 1, "a loss moves nothing")
    refused("bet_not_found", "bet", "show", 0)


def case_bet_of_seamless_wallet():
    name = dealer_new()
    with worker() as link:
        pending = link.place("slots", name, "alice", "g-1", 10)
        shown = ctl_json("bet", "show", pending.transaction_id)
        equal((shown["bet"]["state"], shown["answer"]["code"], shown["answer"]["id"]),
              ("pending", 409, "bet_in_progress"), "under way")
        equal([(row["kind"], row["state"], row["attempts"]) for row in shown["callbacks"]],
              [("betting", "sending", 1)], "its callback")
        text = ctl("bet", "show", pending.transaction_id).stdout
        check(re.search(r" betting +sending +1 - +being sent ", text), text)
        link.end(pending.send, name, SUCCESS, status=200, balance=90, user_id="alice",
                 currency="thb")
        rejected = place(link, name, "g-1", REFUSED, 5, status=400, error="no_credit",
                         detail="only 1.20")
        unsent = place(link, name, "g-1", NOT_SENT, 6, note="connection refused")
        lost = place(link, name, "g-1", UNKNOWN, 7, status=504, milliseconds=3000, note="HTTP 504")
        made = link.settle("slots", name, "alice", "g-1", WIN, 30)
        equal(made.send.kind, BETTING_RESULT, "a result to be sent")
        link.end(made.send, name, SUCCESS, status=200)
    expected = (
        (pending, "settled", 200, "", ["betting", "betting-result"], "yes",
         "200 accepted, balance 90.00"),
        (rejected, "rejected", 409, "bet_rejected", ["betting", "betting-result"], "no",
         "409 bet_rejected: the dealer refused the bet"),
        (unsent, "rejected", 502, "dealer_unreachable", ["betting", "betting-result"], "no",
         "502 dealer_unreachable: "),
        (lost, "refunding", 504, "dealer_timeout",
         ["betting", "betting-refund", "betting-result"], "no", "504 dealer_timeout: "))
    for bet, state, code, error_id, kinds, counted, answer in expected:
        shown = ctl_json("bet", "show", bet.transaction_id)
        equal((shown["bet"]["state"], shown["answer"]["code"], shown["answer"]["id"]),
              (state, code, error_id), "state and answer")
        equal([row["kind"] for row in shown["callbacks"]], kinds, "callbacks")
        equal(shown["movements"], [], "nothing moved here")
        text = ctl("bet", "show", bet.transaction_id).stdout
        check(re.search(rf"^in the round's sums +{counted}$", text, re.M), text)
        check(re.search(rf"^answer to it +{re.escape(answer)}", text, re.M), text)
        check("Movements" not in text, text)
    text = ctl("bet", "show", rejected.transaction_id).stdout
    check(re.search(r"^dealer's error +no_credit: only 1\.20$", text, re.M), text)
    check(re.search(r" betting +failed +1 refused 400 +12 - +no_credit", text), text)
    text = ctl("bet", "show", lost.transaction_id).stdout
    check(re.search(r" betting +failed +1 unknown 504 +3000 - +HTTP 504$", text, re.M), text)
    check(re.search(r" betting-refund +due +0 - +now, \S+ s late", text), text)
    shown = ctl_json("round", "show", f"{name}/alice", "g-1")
    equal([(row["number"], row["state"]) for row in shown["bets"]],
          [(1, "settled"), (2, "rejected"), (3, "rejected"), (4, "refunding")], "bets")
    equal((shown["round"]["bet_amount"], shown["round"]["win_amount"]), (10, 20), "sums")
    equal(len(shown["callbacks"]), 6, "all callbacks")
    text = ctl("round", "show", made.transaction_id).stdout
    check(re.search(r" rejected +bet_rejected +no_credit ", text), text)
    check(re.search(r" refunding +dealer_timeout ", text), text)


def case_bet_refunded():
    """A refund that reaches a dealer that never saw the bet, and one that an operator cancels."""
    name = dealer_new("--unknown-bet-ids", "E-404")
    with worker() as link:
        bet = place(link, name, "g-1", UNKNOWN)
        event = ctl_json("bet", "show", bet.transaction_id)["bet"]["refund_event"]
        refusal, grant = link.claim(event)
        equal(refusal, "", "it is due")
        link.end(grant, name, REFUSED, status=404, error="E-404")
        other = place(link, name, "g-2", UNKNOWN)
    shown = ctl_json("callback", "show", event)
    equal((shown["state"], shown["unknown_to_dealer"]), ("delivered", True), "unknown to the dealer")
    check(re.search(r"^unknown to the dealer +yes$", ctl("callback", "show", event).stdout, re.M),
          "as text")
    equal(ctl_json("bet", "show", bet.transaction_id)["bet"]["state"], "refunded", "refunded")
    event = ctl_json("bet", "show", other.transaction_id)["bet"]["refund_event"]
    ctl("callback", "cancel", f"betting-refund-{event}", "--reason", "paid by hand", "--yes")
    text = ctl("bet", "show", other.transaction_id).stdout
    check(re.search(r"^state +refunded$", text, re.M), text)
    check(re.search(r"^settled outside by +\S", text, re.M), text)
    answer = "the dealer did not answer; the bet was refunded"
    check(re.search(rf"^answer to it +504 dealer_timeout: {answer}$", text, re.M), text)
    equal(ctl_json("bet", "show", other.transaction_id)["answer"],
          {"code": 504, "id": "dealer_timeout", "detail": answer}, "as it is answered")


def case_damage():
    """A row that another one names is not there: that is said, and not passed over."""
    name = dealer_new()
    with worker() as link:
        bet = place(link, name, "g-1")
    change = Change("BET", lambda row: row.event == bet.send.event and {"event": 2**40})
    with Middle(WALLET, change) as middle:
        for words in (("bet", "show", bet.transaction_id), ("round", "show", bet.transaction_id)):
            done = run("--config", middle.config, "--json", *words, code=1)
            equal(json.loads(done.stdout)["error"]["id"], "damaged", f"{words}")
    equal(change.falsified, 2, "the row was seen")


def case_long_values():
    """Values that would fill the screen are cut in text, and whole in JSON."""
    name = dealer_new()
    user_bet = {"list": list(range(300)), "ü": "x\u009bm" * 50}
    with worker() as link:
        bet = link.place("slots", name, "alice", "g-1", 1,
                         user_bet=json.dumps(user_bet, ensure_ascii=False).encode())
    done = ctl("bet", "show", bet.transaction_id)
    check(re.search(r"^user bet +\{\"list\".{300,420}\.\.\. \(\d+ bytes; all of it with --json\)$",
                    done.stdout, re.M), done.stdout)
    equal(ctl_json("bet", "show", bet.transaction_id)["bet"]["user_bet"], user_bet, "with --json")
    event = bet.send.event
    equal(json.loads(ctl_json("callback", "show", event)["body"])["user_bet"], user_bet, "its body")
    check("\u009b" in ctl("callback", "show", event).stdout, "byte for byte to a pipe")
    _, shown = on_terminal(WALLET, "callback", "show", event)
    check("\u009b" not in shown and r"x\u009bm" in shown, "nothing that steers a terminal")


# -- lists

def case_bet_lists():
    name, other = dealer_new(mode="transfer"), dealer_new()
    WALLET.player_add(name, "bob")
    for user in ("alice", "bob"):
        ctl("player", "adjust", name, user, "100", "--reason", "test")
    begin = cb.now_ms()
    with worker() as link:
        ids = [link.place("slots", name, user, game, 1).transaction_id
               for user, game in (("alice", "g-1"), ("bob", "g-1"), ("alice", "g-2"))]
        link.settle("slots", name, "alice", "g-1", REFUND)
        ids.append(place(link, other, "g-1", REFUSED).transaction_id)

    def listed(*options):
        return [row["transaction_id"] for row in ctl_json("bet", "list", *options)["bets"]]
    a1, b1, a2, o1 = ids
    by_casino = ("--casino", name)
    equal(listed("--limit", 4), [o1, a2, b1, a1], "the newest first")
    equal(listed("--since", "2999-01-01"), [], "none yet")
    for options, expected in (
            (by_casino, [a2, b1, a1]), (("--casino", other), [o1]),
            ((*by_casino, "--user", "alice"), [a2, a1]), ((*by_casino, "--user", "bob"), [b1]),
            ((*by_casino, "--game", "g-1"), [b1, a1]),
            ((*by_casino, "--user", "alice", "--game", "g-2"), [a2]),
            ((*by_casino, "--state", "settled"), [a1]),
            ((*by_casino, "--state", "accepted,settled"), [a2, b1, a1]),
            ((*by_casino, "--state", "pending"), []),
            (("--casino", other, "--state", "rejected"), [o1]),
            ((*by_casino, "--user", "alice", "--state", "accepted"), [a2])):
        equal(listed(*options), expected, f"{options}")
        equal(listed(*options, "--limit", 1), expected[:1], f"{options} --limit 1")
        equal(listed(*options, "--since", begin - 1), expected, f"{options} --since")
        equal(listed(*options, "--until", begin - 1), [], f"{options} --until")
    refused("dealer_not_found", "bet", "list", "--casino", "nobody")
    refused("user_not_found", "bet", "list", "--casino", name, "--user", "carol")
    row = ctl_json("bet", "list", *by_casino, "--game", "g-2")["bets"][0]
    equal((row["user_id"], row["casino_id"], row["state"]), ("alice", name, "accepted"), "a row")
    check("user_bet" not in row, "details are for bet show")
    table = ctl("bet", "list", *by_casino).stdout.splitlines()
    check(table[0].lstrip().startswith("TRANSACTION") and len(table) == 4, table)
    check(re.match(rf" *{a2} {TIME} {name} +alice +g-2 +1 +1\.00 accepted ", table[1]), table)
    done = ctl("bet", "list", *by_casino, "--state", "pending")
    equal((done.stdout, done.stderr), ("", "no bets\n"), "none")


def case_bet_list_order():
    """More bets of a player than a page, in games whose names are not in the order of time."""
    name = dealer_new(mode="transfer")
    ctl("player", "adjust", name, "alice", "10000", "--reason", "test")
    with worker() as link:
        ids = [link.place("slots", name, "alice", f"g-{i * 7919 % 307}", 1).transaction_id
               for i in range(600)]
    newest = ids[::-1]
    for options in (("--casino", name), ("--casino", name, "--user", "alice"),
                    ("--casino", name, "--state", "accepted")):
        for limit, count in ((0, 600), (300, 300), (1, 1)):
            rows = ctl_json("bet", "list", *options, "--limit", limit)["bets"]
            equal([row["transaction_id"] for row in rows], newest[:count], f"{options} {limit}")


def case_callback_lists():
    name = dealer_new()
    begin = cb.now_ms()
    with worker() as link:
        accepted = place(link, name, "g-1").send.event
        refused_event = place(link, name, "g-1", REFUSED, status=409).send.event
        made = link.settle("slots", name, "alice", "g-1", WIN, 20)
        park(link, name, made.event, made.send)
        lost = place(link, name, "g-2", UNKNOWN).send.event
    refund = lost + cb.ID_STRIDE
    by_casino = ("--casino", name)

    def listed(*options):
        return [row["event"] for row in ctl_json("callback", "list", *options)["callbacks"]]
    everything = [refund, lost, made.event, refused_event, accepted]
    for options, expected in (
            (by_casino, everything), ((*by_casino, "--user", "alice"), everything),
            ((*by_casino, "--kind", "betting"), [lost, refused_event, accepted]),
            ((*by_casino, "--kind", "betting-result,betting-refund"), [refund, made.event]),
            ((*by_casino, "--state", "parked"), [made.event]),
            ((*by_casino, "--state", "parked,due"), [refund, made.event]),
            ((*by_casino, "--state", "failed", "--kind", "betting"), [lost, refused_event]),
            ((*by_casino, "--state", "held"), []), ((*by_casino, "--game", "g-2"), [refund, lost])):
        equal(listed(*options), expected, f"{options}")
        equal(listed(*options, "--limit", 1), expected[:1], f"{options} --limit 1")
        equal(listed(*options, "--since", begin - 1), expected, f"{options} --since")
        equal(listed(*options, "--until", begin - 1), [], f"{options} --until")
    equal(listed("--limit", 5), everything, "of all dealers, the newest first")
    refused("dealer_not_found", "callback", "list", "--casino", "nobody")
    row = ctl_json("callback", "list", *by_casino, "--state", "parked")["callbacks"][0]
    equal((row["user_id"], row["attempts"], row["last_class"], row["last_http_status"],
           row["last_note"], row["next_ms"]), ("alice", 3, "unknown", 503, "HTTP 503", 0), "a row")
    table = ctl("callback", "list", *by_casino).stdout
    for pattern in (rf" {TIME} betting-result +{name} +alice +g-1 +20.00 parked +3 unknown 503 "
                    r"when retried +HTTP 503$", r" betting-refund .* due +0 - +now, \S+ s late",
                    r" betting .* delivered +1 success +-"):
        check(re.search(pattern, table, re.M), f"{pattern}: {table}")


# -- one callback

def case_callback_totals():
    """The dealer's sums have the number of its parked and held callbacks."""
    name = dealer_new()
    with worker() as link:
        events = [parked(link, name) for _ in range(2)]
    words = ("callback", "list", "--casino", name, "--limit", "1")
    for state in ("parked", "held"):
        if state == "held":
            ctl("callback", "hold", *events, "--reason", "test")
        page = ctl_json(*words, "--state", state)
        equal((len(page["callbacks"]), page["total"]), (1, 2), state)
        check(ctl(*words, "--state", state).stderr.startswith("1 of 2 shown: --after "), state)
    for more in ((), ("--state", "held,parked"), ("--state", "held", "--kind", "betting-result")):
        check("total" not in ctl_json(*words, *more), f"{more}: no sum has this number")


def case_callback_show():
    name = dealer_new("--path-betting-result", "/win")
    with worker() as link:
        place(link, name, "g-1")
        made = link.settle("slots", name, "alice", "g-1", WIN, 12.5)
        event = made.event
        for row in (ctl_json("callback", "show", event),
                    *ctl_json("callback", "list", "--casino", name, "--kind",
                              "betting-result")["callbacks"],
                    ctl_json("round", "show", f"{name}/alice", "g-1")["callbacks"][1]):
            check(row["event"] == event and "last_class" not in row, f"no attempt ended: {row}")
        text = ctl("callback", "show", event).stdout
        check(re.search(rf"^ +1 {TIME} under way ", text, re.M), text)
        park(link, name, event, made.send, milliseconds=17, error="overload", answer="<h1>busy</h1>\\n")
    shown = ctl_json("callback", "show", event)
    equal((shown["webhook_id"], shown["url"], shown["kind"], shown["state"], shown["attempts"]),
          (f"betting-result-{event}", "http://127.0.0.1:1/d/win", "betting-result", "parked", 3),
          "what")
    equal([(row["number"], row["ended"], row["class"], row["http_status"], row["ms"],
            row["dealer_error_id"], row["note"]) for row in shown["tries"]],
          [(1, True, "not_sent", 0, 12, "", "connection refused"),
           (2, True, "unknown", 503, 17, "overload", "HTTP 503"),
           (3, True, "unknown", 503, 17, "overload", "HTTP 503")], "every attempt")
    equal([(row["number"], row["length"], row["content_type"], row["text"]) for row in shown["answers"]],
          [(number, 15, "text/html", "<h1>busy</h1>\\n") for number in (2, 3)], "what the dealer answered")
    check("Answer to attempt 3 (15 bytes, text/html)\n<h1>busy</h1>\\n\n" in ctl("callback", "show", event).stdout,
          "the answer as text")
    times = [row["time_ms"] for row in shown["tries"]]
    nexts = [row["next_ms"] for row in shown["tries"]]
    equal((times, nexts[2]), (sorted(times), 0), "in order, and no next try")
    for i in (0, 1):
        check(times[i] <= nexts[i] <= times[i + 1], f"the next try was announced: {shown}")
    body = json.loads(shown["body"])
    equal((body["result"], body["payout_amount"], body["transaction_id"]),
          ("win", 12.5, made.transaction_id), "the body")
    for word in (f"betting-result-{event}", event):
        text = ctl("callback", "show", word).stdout
        check(text.endswith(f"\nBody ({len(shown['body'])} bytes)\n{shown['body']}\n"), text)
    for pattern in (rf"^webhook-id +betting-result-{event}$", r"^state +parked$",
                    r"^goes to +http://127\.0\.0\.1:1/d/win$", r"^next try +when retried$",
                    rf"^ +1 {TIME} not_sent +12 {TIME} +connection refused$",
                    rf"^ +3 {TIME} unknown +503 17 - +overload +HTTP 503$"):
        check(re.search(pattern, text, re.M), f"{pattern}: {text}")
    refused("callback_not_found", "callback", "show", 2**40)
    refused("callback_not_found", "callback", "show", f"betting-{event}")


def case_callback_body_is_signed():
    """The body that is shown is what the dealer's signature is made of."""
    dealer = WALLET.dealer_add(new("dealer"), "--url", "http://127.0.0.1:1", "--allow-http",
                               mode="seamless")
    WALLET.player_add(dealer.casino_id, "alice")
    with worker() as link:
        event = link.place("slots", dealer.casino_id, "alice", "g", 1, remark="é \"").send.event
    body = ctl_json("callback", "show", event)["body"]
    expected = hmac.new(dealer.key.encode(), body.encode(), hashlib.sha256).hexdigest()
    equal(ctl("sign", dealer.casino_id, stdin=body).stdout.strip(), expected, "its signature")


def case_sweep():
    """The sweeper, by another name."""
    with Scripted(lambda _call: (200, {})) as server, worker() as link:
        name = dealer_new("--url", server.url)
        bet = place(link, name, "g-1", UNKNOWN)
        event = ctl_json("bet", "show", bet.transaction_id)["bet"]["refund_event"]
        ctl("sweep", "--dry-run", "--for", "5s")
        equal((server.seen, state_of(event)), ([], "due"), "nothing is sent")
        summary = ctl_json("sweep")
        equal([row["casino_id"] for row in summary["dealers"] if row["casino_id"] == name],
              [name], f"its summary: {summary}")
        equal((len(server.seen), state_of(event)), (1, "delivered"), "sent")
    check("Usage: creditbridgectl sweep" in ctl("sweep", "--help").stdout, "help")
    for words in (("--for", "soon"), ("--for", "2d"), ("now",)):
        done = ctl("sweep", *words, code=2)
        check("creditbridgectl sweep --help" in done.stderr, done.stderr)


# -- what an operator does to callbacks

def operate(action, *words, code=0, **options):
    return ctl_json("callback", action, *words, "--reason", "test", code=code, **options)


def case_retry():
    name = dealer_new()
    with worker() as link:
        event = parked(link, name)
        for missing in ((), ("--reason", "")):
            done = ctl("callback", "retry", event, "--yes", *missing, code=2)
            check("--reason must be given" in done.stderr, done.stderr)
        done = operate("retry", event, "--yes")
        equal(set(done), {"action", "dry_run", "callbacks", "done", "not_done"}, "members")
        equal((done["action"], done["dry_run"], done["done"], done["not_done"]),
              ("retry", False, 1, 0), "done")
        equal(done["callbacks"], [{"event": event, "kind": "betting-result", "casino_id": name,
                                   "state": "due", "attempts": 3, "done": True, "error": None}],
              "the callback")
        check(re.search(r"^one more by the operator +yes$",
                        ctl("callback", "show", event).stdout, re.M), "once more")
        attempt_failed(link, name, event)
        equal(ctl_json("callback", "show", event)["attempts"], 4, "one more attempt")
        equal(state_of(event), "parked", "and parked again")
        # As many as can be named at once, and one more: nothing is done.
        words = [str(event)] * 10_000
        equal(operate("retry", "-", "--dry-run", stdin=" ".join(words))["done"], 1, "at the limit")
        done = ctl("callback", "retry", "-", "--yes", "--reason", "x", code=2,
                   stdin=" ".join([*words, str(event)]))
        check("at most 10000 events at once" in done.stderr, done.stderr)
        equal(state_of(event), "parked", "of too many")
        operate("retry", event, "--yes")
        refusal, grant = link.claim(event)
        equal(refusal, "", "due at once")
        refused_row = operate("hold", event, code=1)["callbacks"][0]
        equal(refused_row["error"]["id"], "not_allowed_now", "it is being sent")
        link.end(grant, name, SUCCESS, status=200)
    equal(state_of(event), "delivered", "delivered")
    row = operate("retry", event, "--yes", code=1)["callbacks"][0]
    equal((row["done"], row["state"], row["error"]), (False, "delivered", {
        "id": "not_allowed_now", "detail": "it has ended"}), "it has ended")


def case_adjust_and_retry():
    """The ledger refuses an operator's adjustment that would pay a parked result: the credit is the
    dealer's. The retry sends the same event, once; a result settled outside is never sent again."""
    name = dealer_new()
    with worker() as link:
        event, other = parked(link, name), parked(link, name)
        before = ctl_json("callback", "show", event)
        refused("wrong_wallet_mode", "player", "adjust", name, "alice", 15, "--reason", "unpaid")
        equal(ctl_json("callback", "show", event), before, "the parked result")
        operate("retry", event, "--yes")
        refused("wrong_wallet_mode", "player", "adjust", name, "alice", 15, "--reason", "unpaid")
        refusal, grant = link.claim(event)
        equal((refusal, grant.event), ("", event), "the retry")
        link.end(grant, name, SUCCESS, status=200)
        equal(link.claim(event)[0], "not_allowed_now", "it was sent once")
        operate("cancel", other, "--yes")
        row = operate("retry", other, "--yes", code=1)["callbacks"][0]
        equal((row["state"], row["error"]["id"]), ("cancelled", "not_allowed_now"), "settled outside")
        equal(link.claim(other)[0], "not_allowed_now", "it is never sent")
    after = ctl_json("callback", "show", event)
    equal((after["state"], after["attempts"], after["body"]), ("delivered", 4, before["body"]),
          "the same bytes, once more")
    player = ctl_json("player", "show", name, "alice")
    equal((player["balance"], player["entry_seq"]), (0, 0), "nothing moved here")
    ctl("check")


def case_retry_too_soon():
    """A refund that was never sent waits for its time, however much an operator hurries it."""
    name = dealer_new("--refund-delay", "600")
    with worker() as link:
        bet = place(link, name, new("game"), UNKNOWN)
        event = ctl_json("bet", "show", bet.transaction_id)["bet"]["refund_event"]
        for words in (("retry", "--yes"), ("hold",), ("release",)):
            text = ctl("callback", words[0], event, "--reason", "x", *words[1:]).stdout
            check(words[0] == "hold" or
                  re.search(r" is due in 9 min \d+ s, no refund goes sooner$", text, re.M), text)
        equal(link.claim(event)[0], "not_allowed_now", "it is not due")
    left_ms = ctl_json("callback", "show", event)["next_ms"] - cb.now_ms()
    check(500000 < left_ms <= 600000, f"{left_ms} ms left")


def case_hold_release_cancel():
    name = dealer_new()
    with worker() as link:
        event = parked(link, name)
        lost = place(link, name, new("game"), UNKNOWN)
        refund = ctl_json("bet", "show", lost.transaction_id)["bet"]["refund_event"]
        done = operate("hold", event, f"betting-refund-{refund}", refund)
        equal([row["state"] for row in done["callbacks"]], ["held", "held"], "held; each once")
        equal(link.claim(refund)[0], "not_allowed_now", "nothing is sent")
        check(re.search(r"^next try +when released$", ctl("callback", "show", refund).stdout, re.M),
              "when")
        text = ctl("callback", "release", event, refund, "--dry-run", "--reason", "x").stdout
        check(re.search(r" would be parked again; retry sends it$", text, re.M) and
              re.search(r" would be released$", text, re.M), text)
        text = ctl("callback", "release", event, "--reason", "x").stdout
        check(re.search(r" parked +3 is parked again; retry sends it$", text, re.M), text)
        operate("hold", event)
        done = operate("release", event, refund)
        equal([row["state"] for row in done["callbacks"]], ["parked", "due"], "released")
        equal(operate("release", refund, code=1)["callbacks"][0]["error"]["detail"],
              "it is not held", "not held")
        text = ctl("callback", "cancel", event, refund, "--reason", "paid", "--yes").stdout
        check(text.count("is cancelled") == 2, text)
    for number in (event, refund):
        check(re.search(r"^cancelled by +\S", ctl("callback", "show", number).stdout, re.M), "who")
    equal(ctl_json("bet", "show", lost.transaction_id)["bet"]["state"], "refunded", "its bet")
    rows = ctl_json("audit", "--limit", 2)["audit"]
    equal([(row["action"], row["object"], row["reason"], row["uid"]) for row in rows],
          [("callback cancel", f"betting-refund-{refund}", "paid", os.getuid()),
           ("callback cancel", f"betting-result-{event}", "paid", os.getuid())], "audit")


def case_many_at_once():
    """From standard input; some that cannot be done: exit 3, none: 1."""
    name = dealer_new()
    with worker() as link:
        events = [parked(link) for _ in range(3)]
        ended = place(link, name, "g-1").send.event
    words = f"{events[0]}\n betting-result-{events[1]}\t\n{ended} {2**40}\nbetting-{events[2]}\n"
    done = operate("retry", "-", events[2], "--dry-run", stdin=words, code=3)
    equal((done["dry_run"], done["done"], done["not_done"]), (True, 3, 3), "rehearsed")
    equal([state_of(event) for event in events], ["parked"] * 3, "nothing was done")
    done = operate("retry", "-", events[0], "--yes", stdin=words, code=3)
    equal((done["done"], done["not_done"]), (2, 3), "each once")
    rows = {row["event"]: row for row in done["callbacks"]}
    equal([rows[event]["done"] for event in (*events, ended, 2**40)],
          [True, True, False, False, False], "done")
    equal(set(rows[2**40]), {"event", "done", "error"}, "what is not there")
    equal(rows[2**40]["error"]["id"], "callback_not_found", "not there")
    equal(rows[events[2]]["error"]["id"], "callback_not_found", "not of that kind")
    equal(rows[ended]["error"]["id"], "not_allowed_now", "a betting")
    equal([state_of(event) for event in events], ["due", "due", "parked"], "states")
    done = ctl("callback", "hold", *events, ended, "--reason", "x", code=3)
    check(done.stdout.count(" is held") == 3 and "not_done: 1 of 4" in done.stderr, done)
    done = ctl("callback", "hold", ended, 2**40, "--reason", "x", code=1)
    check("not_done: 2 of 2" in done.stderr, done.stderr)
    operate("cancel", *events, "--yes", "--dry-run")
    equal([state_of(event) for event in events], ["held"] * 3, "rehearsed")
    actions = [row["action"] for row in ctl_json("audit", "--limit", 3)["audit"]]
    equal(actions, ["callback hold"] * 3, "what was not done is not in the audit")


def case_ledger_lost_amid():
    """The second answer is lost, however often it is asked for: the third is not tried."""
    with worker() as link:
        events = [parked(link) for _ in range(3)]
    asked = []

    def lose(command, _record, answer):
        if command == "callback_operate":
            asked.append(answer)
        return None if command == "callback_operate" and len(asked) > 1 else answer
    with Middle(WALLET, lose) as middle:
        done = run("--config", middle.config, "--json", "callback", "hold", *events, "--reason",
                   "x", code=3)
    result = json.loads(done.stdout)
    equal((result["done"], result["not_done"]), (1, 2), "one")
    equal([row["error"] and row["error"]["id"] for row in result["callbacks"]],
          [None, "outcome_unknown", "not_tried"], "and why")
    equal([state_of(event) for event in events], ["held", "held", "parked"], "states")
    # An operation is done once, however often its command arrives.
    rows = ctl_json("audit", "--limit", 3)["audit"]
    equal([row["object"] for row in rows[:2]],
          [f"betting-result-{events[1]}", f"betting-result-{events[0]}"], "audit")
    check(len(asked) > 2, "it was asked again")
    with Middle(WALLET, lambda command, _record, answer:
                None if command == "callback_operate" else answer) as middle:
        run("--config", middle.config, "callback", "release", *events, "--reason", "x", code=69)


def case_release_goes_on():
    """A dealer that cannot be released does not keep the others held."""
    names = [dealer_new(), dealer_new()]
    for name in names:
        ctl("dealer", "hold", name)
    # The ledger knows no dealer of this name.
    ghost = names[0] + "-"
    change = Change("DEALER", lambda row: row.casino_id == names[0] and {"casino_id": ghost})
    with Middle(WALLET, change) as middle:
        done = run("--config", middle.config, "--json", "release", "--yes", "--reason", "x", code=3)
    shown = json.loads(done.stdout)
    rows = {row["casino_id"]: row for row in shown["dealers"]}
    equal([(rows[name]["released"], rows[name].get("error", {}).get("id")) for name in (ghost, names[1])],
          [(False, "dealer_not_found"), (True, None)], done.stdout)
    equal(shown["released"], False, "not all")
    check(f"dealer_not_found: dealer {ghost}: " in done.stderr, done.stderr)
    held = [ctl_json("dealer", "show", name)["callbacks_held_ms"] > 0 for name in names]
    equal(held, [True, False], "held")
    # The ledger is lost at the first one: the other is not tried.
    ctl("dealer", "hold", names[1])
    with worker() as link:
        # What is due is not sent now: the next step is the release of the dealer.
        ctl("release", names[0], "--yes", "--reason", "x")
        bet = place(link, names[0], "g-held", UNKNOWN)
    for step, held in (("creditbridgectl callback retry betting-refund-", False),
                       (f"creditbridgectl release {names[0]} ", True)):
        if held:
            ctl("dealer", "hold", names[0])
        story = ctl_json("bet", "show", bet.transaction_id)["story"]
        check(step in story["next"], story)
    with Middle(WALLET, lambda command, _record, answer: None if command == "dealer_put" else answer) as middle:
        done = run("--config", middle.config, "release", "--yes", "--reason", "x", code=69)
    check(f"not_tried: dealer {names[1]} was not tried: " in done.stderr, done.stderr)
    check("Released: 0 of 2 dealers" in done.stdout, done.stdout)
    for name in names:
        ctl("dealer", "hold", name)
    text = ctl("release", "--yes", "--reason", "x").stdout
    check("Released: the sweeper sends them" in text, text)


def case_confirmation():
    name = dealer_new()
    with worker() as link:
        event = parked(link, name)
    for action in ("retry", "cancel"):
        done = ctl("callback", action, event, "--reason", "x", code=2)
        check("give --yes" in done.stderr, done.stderr)
        for answer in ("n\n", "\n", "yeah\n", "\x04"):
            code, shown = on_terminal(WALLET, "callback", action, event, "--reason", "x",
                                      answer=answer)
            equal(code, 1, shown)
            check("[y/N]" in shown and "nothing was changed" in shown, shown)
            check(name in shown.split("[y/N]")[0], f"what is asked about: {shown}")
        equal(state_of(event), "parked", "not confirmed")
    code, shown = on_terminal(WALLET, "callback", "retry", event, "--reason", "x", answer="y\n")
    equal((code, state_of(event)), (0, "due"), shown)
    # The command does not ask before an action that can be undone, or with --dry-run.
    equal(on_terminal(WALLET, "callback", "hold", event, "--reason", "x")[0], 0, "hold")
    code, shown = on_terminal(WALLET, "callback", "cancel", event, "--reason", "x", "--dry-run")
    equal((code, state_of(event)), (0, "held"), shown)
    code, shown = on_terminal(WALLET, "callback", "cancel", event, "--reason", "x", answer="yes\n")
    equal((code, state_of(event)), (0, "cancelled"), shown)


# -- dealer ping

def balance_of(call):
    user_id = json.loads(call.body)["user_id"]
    return 200, {"user_id": user_id, "balance": 12.5, "currency": "thb"}


def case_ping():
    dealer = WALLET.dealer_add(new("dealer"), "--allow-http", mode="seamless")
    name = dealer.casino_id
    refused("no_url", "dealer", "ping", name)
    with Scripted(balance_of) as server:
        url = server.url
        ctl("dealer", "set", name, "--url", url + "/base/", "--path-balance-inquire", "/bal.php")
        refused("no_player", "dealer", "ping", name)
        first = WALLET.player_add(name, "alice")
        WALLET.player_add(name, "bob")
        pinged = ctl_json("dealer", "ping", name)
        equal((pinged["casino_id"], pinged["asked_user_id"], pinged["ok"], pinged["class"],
               pinged["http_status"], pinged["balance"], pinged["currency"], pinged["url"]),
              (name, "alice", True, "success", 200, 12.5, "thb", url + "/base/bal.php"), "answered")
        check("error" not in pinged and 0 <= pinged["ms"] < 30000, pinged)
        _, path, headers, body = server.seen[-1]
        equal((path, json.loads(body)), ("/base/bal.php", {"user_id": "alice", "player_id": first}),
              "what was sent")
        equal(headers["x-casino-signature"], cb.sign(dealer.key, body), "signed")
        check(re.fullmatch(r"balance-inquire-\d+", headers["webhook-id"]), headers)
        equal(ctl_json("dealer", "ping", name, "--user", "bob")["asked_user_id"], "bob", "--user")
        text = ctl("dealer", "ping", name).stdout
        check(re.search(r"^balance +12\.50 thb$", text, re.M), text)
        check(dealer.key not in text, "no key")
    refused("user_not_found", "dealer", "ping", name, "--user", "carol")
    refused("dealer_not_found", "dealer", "ping", "nobody")
    refused("not_seamless", "dealer", "ping", dealer_new(mode="transfer"))


def demo_left():
    """What a demonstration leaves: its dealer and its game server."""
    dealer = ctl_json("dealer", "show", "demo-dealer")
    return (dealer["suspended"], dealer["url"] != "",
            listed_clients("--all")["demo-game"]["removed"])


def shown_calls(text):
    """(path, code, balance) of the dealer's calls that a demonstration prints."""
    sent = re.findall(r"^ +platform to dealer: +POST (\S+) (\{.*\})$", text, re.M)
    answers = re.findall(r"^ +the dealer answers: +(\d+) (\{.*\})$", text, re.M)
    equal(len(sent), len(answers), text)
    for _, body in sent:
        equal(json.loads(body)["user_id"], "demo-player", body)
    return [(path, int(code), json.loads(answer)["balance"])
            for (path, _), (code, answer) in zip(sent, answers)]


DEMO_CALLS = [("/balance-inquire", 200, 1000), ("/betting", 200, 990), ("/betting-result", 200, 1015),
              ("/balance-inquire", 200, 1015)]


def case_demo():
    """Two runs by the ledger's own path, the second with --keep."""
    with tempfile.TemporaryDirectory() as place:
        own = {**os.environ, "TMPDIR": place}
        text = ctl("demo", env=own).stdout
        equal(shown_calls(text), DEMO_CALLS, text)
        number = re.search(r"The bet is accepted: transaction (\d+)\.$", text, re.M)[1]
        check(ctl("bet", "show", number).stdout in text, text)
        equal(demo_left(), (True, False, True), "cleaned up")
        rows = [row for row in ctl_json("audit")["audit"] if row["reason"] == "creditbridgectl demo"]
        equal([row["action"] for row in reversed(rows)],
              ["dealer add", "client add", "dealer set", "player add", "dealer set", "client remove"], "audit")
        made = ctl_json("demo", "--keep", env=own)
        equal((made["casino_id"], made["client_id"], made["user_id"], made["state"], made["kept"]),
              ("demo-dealer", "demo-game", "demo-player", "settled", True), made)
        check(made["transaction_id"] > int(number), "another bet")
        shown = ctl_json("bet", "show", made["transaction_id"])
        equal((shown["bet"]["game_id"], shown["round"]["payout_amount"]), (made["game_id"], 25), shown)
        equal(demo_left(), (False, True, False), "kept")
        equal(os.listdir(place), [], "the dealer's key and data are removed")


def case_demo_over_http():
    with cb.Lighttpd(WALLET, processes=1) as server:
        url = f"http://127.0.0.1:{server.platform_port}"
        text = ctl("demo", "--platform-url", url + "/").stdout
    equal(shown_calls(text), DEMO_CALLS, text)
    equal(len(re.findall(r"^ +the platform answers: 200 ", text, re.M)), 4, text)
    equal(demo_left(), (True, False, True), "cleaned up")
    # Nothing listens there any more: a failure cleans up, too.
    done = ctl("demo", "--platform-url", url, code=69)
    check("creditbridgectl: unreachable: " + url in done.stderr, done.stderr)
    equal(demo_left(), (True, False, True), "cleaned up after the failure")
    config = WALLET.dir / "closed.conf"
    config.write_text(re.sub(r"(?m)^callback_networks.*$", "", WALLET.config.read_text()))
    done = run("--config", config, "demo", "--platform-url", url, code=78)
    check("loopback_forbidden" in done.stderr, done.stderr)
    equal(shown_calls(run("--config", config, "demo").stdout), DEMO_CALLS, "this process calls it")


def case_demo_is_not_ours():
    """A dealer of that name with other settings is not changed."""
    for option, value, before in (("--url", "https://dealer.example/", ""), ("--decimals", "3", None)):
        ctl("dealer", "set", "demo-dealer", option, value)
        rows = ctl_json("audit", "--limit", "1")
        refused("already_exists", "demo")
        equal(ctl_json("audit", "--limit", "1"), rows, "nothing was done")
        if before is not None:
            ctl("dealer", "set", "demo-dealer", option, before)


def failed_ping(name, error_id, code, outcome):
    """Runs a ping that must fail so. Returns its report."""
    started = time.monotonic()
    done = ctl("--json", "dealer", "ping", name, code=code)
    pinged = json.loads(done.stdout)
    equal((pinged["ok"], pinged["class"], pinged["error"]["id"]), (False, outcome, error_id),
          done.stdout)
    check(f"creditbridgectl: {error_id}: " in done.stderr, done.stderr)
    check(time.monotonic() - started < 30, "it ended")
    return pinged


def case_ping_fails():
    port = cb.free_port()
    name = dealer_new("--url", f"http://127.0.0.1:{port}")
    failed_ping(name, "dealer_unreachable", 69, "not_sent")
    replies = (
        (lambda call: (200, ""), "dealer_bad_answer", "success"),
        (lambda call: (200, '{"user_id":"bob","balance":1,"currency":"thb"}'), "dealer_bad_answer",
         "success"),
        (lambda call: (200, '{"user_id":"alice","balance":1,"currency":"usd"}'),
         "dealer_bad_answer", "success"),
        (lambda call: (200, "<html>"), "dealer_timeout", "unknown"),
        (lambda call: (500, "{}"), "dealer_timeout", "unknown"),
        (lambda call: (404, '{"id":"user_not_found","detail":"who?"}'), "dealer_refused",
         "refused"),
        (lambda call: (200, '{"id":"bad_request","detail":"no"}'), "dealer_refused", "refused"))
    for reply, error_id, outcome in replies:
        with Scripted(reply) as server:
            ctl("dealer", "set", name, "--url", server.url)
            pinged = failed_ping(name, error_id, 1, outcome)
    equal(pinged["dealer_error_id"], "bad_request", "the dealer's error")
    # One that takes the call and says nothing: no answer in callback_timeout_ms.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ctl("dealer", "set", name, "--url", f"http://127.0.0.1:{silent.getsockname()[1]}")
        pinged = failed_ping(name, "dealer_timeout", 69, "unknown")
    check(pinged["ms"] >= 2900, "the timeout")
    ctl("dealer", "set", name, "--url", "http://192.0.2.1")
    pinged = failed_ping(name, "dealer_unreachable", 69, "not_sent")
    check("not public" in pinged["note"], pinged)


def case_ping_gives_permit_back():
    """With one permit a ping that kept it would make the next one busy; one in use does."""
    with Scripted(balance_of) as server:
        name = dealer_new("--url", server.url, "--max-inflight", "1")
        for _ in range(3):
            ctl("dealer", "ping", name)
        with worker() as link:
            bet = link.place("slots", name, "alice", "g-1", 1)
            refused("dealer_busy", "dealer", "ping", name, code=75)
            link.end(bet.send, name, SUCCESS, status=200)
        ctl("dealer", "ping", name)


def case_check_agrees():
    """After all this the proof still holds."""
    equal(ctl_json("check")["problems"], [], "check")


CASES = [
    ("clients", case_clients),
    ("clients that are removed", case_client_removed),
    ("a client with open rounds", case_client_with_open_rounds),
    ("clients' keys from files", case_client_key_files),
    ("a bet of a transfer wallet", case_bet_of_transfer_wallet),
    ("an operator corrects a round of a transfer wallet", case_correct_transfer),
    ("an operator corrects a round of a seamless wallet", case_correct_seamless),
    ("a bet that is refused, one that is lost", case_bet_without_win),
    ("bets of a seamless wallet", case_bet_of_seamless_wallet),
    ("a bet that is refunded", case_bet_refunded),
    ("damage", case_damage),
    ("long values", case_long_values),
    ("lists of bets", case_bet_lists),
    ("the order of many bets", case_bet_list_order),
    ("lists of callbacks", case_callback_lists),
    ("the number of all parked or held callbacks", case_callback_totals),
    ("a callback with its attempts", case_callback_show),
    ("the body as it is signed", case_callback_body_is_signed),
    ("sweep", case_sweep),
    ("retry", case_retry),
    ("an adjustment for a parked result, and a retry", case_adjust_and_retry),
    ("a retry that comes too soon", case_retry_too_soon),
    ("hold, release, cancel", case_hold_release_cancel),
    ("many at once", case_many_at_once),
    ("the ledger is lost amid many", case_ledger_lost_amid),
    ("a release goes on after a failure", case_release_goes_on),
    ("confirmation", case_confirmation),
    ("ping", case_ping),
    ("pings that fail", case_ping_fails),
    ("a ping gives its permit back", case_ping_gives_permit_back),
    ("a demonstration", case_demo),
    ("a demonstration over HTTP", case_demo_over_http),
    ("a demonstration does not touch what is not its own", cb.needs(case_demo_is_not_ours, "a demonstration")),
    ("check agrees", case_check_agrees),
]


def main():
    global WALLET, ctl, ctl_json, refused  # pylint: disable=global-statement
    with cb.Instance("ctl-bets", settings=SETTINGS) as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        ctl("client", "add", "slots")
        return cb.run_cases(CASES, seconds=60)


sys.exit(main())
