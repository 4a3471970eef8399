#!/usr/bin/python3
"""What is owed, and the sentences of `bet show`, `round show` and `transfer show`, against a real ledger.

The test does the work of workers and of the sweeper over edge.sock (cb_worker.py). The transcripts
of doc/support.md are compared with what the commands print; `test_owed.py --write` writes them
anew.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_support  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import pack, unpack  # noqa: E402
from cb_ctl import bind, lone_dealer, new  # noqa: E402
from cb_link import TRANSFER_IN_KIND, transfer_payload  # noqa: E402
from cb_worker import (LOSS, NOT_SENT, REFUND, REFUSED, SUCCESS, UNKNOWN, WIN, Worker,  # noqa: E402
                       grant_of, player_ref, refusal_of, sender_new)

SETTINGS = {"callback_lease_ms": 20000, "result_second_attempt_ms": 30,
            "result_third_attempt_ms": 30}
WALLET = None
ctl = ctl_json = refused = None  # of WALLET


def dealer_new(*options, mode="seamless"):
    return lone_dealer(WALLET, *options, mode=mode)


def worker():
    return Worker(WALLET.sockets / "edge.sock")


def place(link, name, user, game, outcome=SUCCESS, amount=10, reference=None, **shown):
    bet = link.place("slots", name, user, game, amount, reference=reference)
    link.end(bet.send, name, outcome, **shown)
    return bet


def won(link, name, user, game, payout=25):
    """A round that was won, and the grant of its result."""
    place(link, name, user, game)
    return link.settle("slots", name, user, game, WIN, payout)


def fail_once(link, name, event):
    def claimed():
        refusal, grant = link.claim(event)
        return grant if not refusal else None
    link.end(cb.wait_until(claimed, 20, f"event {event} is due"), name, UNKNOWN, status=503,
             note="HTTP 503")


def park(link, name, made):
    link.end(made.send, name, NOT_SENT, note="connection refused")
    fail_once(link, name, made.event)
    fail_once(link, name, made.event)


def correct_short(link, name, user, game):
    """Corrects the round to a loss, also if the balance does not cover it. Returns the refusal."""
    return refusal_of(unpack("round_correct", link.ask("round_correct", pack(
        "round_correct", client_id="slots", request_transaction_id=new("correction"),
        player=player_ref(name, user), game_id=game, revision=1, result=LOSS, reason="misread",
        allow_shortfall=True, sender=sender_new()))))


def cancel(link, name, user, game, reference):
    """Cancels a bet. Returns the grant of its refund."""
    return grant_of(unpack("bet_cancel", link.ask("bet_cancel", pack(
        "bet_cancel", client_id="slots", request_transaction_id=new("cancel"),
        player=player_ref(name, user), game_id=game, bet_request_transaction_id=reference,
        reason="table closed", sender=sender_new()))))


def story(*words):
    return ctl_json(*words)["story"]


def debts(*words):
    """{webhook id: (debt, amount)} of `owed`."""
    return {row["webhook_id"]: (row["debt"], row["owed"])
            for row in ctl_json("owed", *words)["owed"]}


def sums(name):
    """The debts by the dealer's sums."""
    total = ctl_json("dealer", "show", name)["total"]
    return total["owed_payouts"], total["owed_refunds"], total["shortfall"]


def case_nothing():
    done = ctl("owed")
    equal((done.stdout, "nothing is owed" in done.stderr), ("", True), "an empty ledger")
    equal(ctl_json("owed"), {"owed": [], "dealers": []}, "as JSON")
    refused("dealer_not_found", "owed", "--casino", "nobody")


def case_payout():
    """From the first attempt to the retry: each state of the result has its sentence and its debt."""
    name = dealer_new()
    with worker() as link:
        made = won(link, name, "alice", "g-1")
        event = f"betting-result-{made.event}"
        equal(debts("--casino", name), {event: ("dealer", 25)}, "while it is sent")
        park(link, name, made)
    shown = story("round", "show", f"{name}/alice", "g-1")
    equal((shown["debt"], shown["owed"], shown["owes"]),
          ("dealer", 25, f"{name} owes alice 25.00."), "parked")
    equal(shown["happened"], f"The round was won. {name} has not confirmed 25.00 for alice after 3 attempts "
          "(last: unknown 503), and no further attempt is planned.", "why")
    check(f"creditbridgectl callback retry {event} " in shown["next"], shown["next"])
    bet = ctl_json("bet", "list", "--casino", name)["bets"][0]
    equal((bet["state"], bet["debt"], bet["owed"]), ("settled", "dealer", 25), "bet list")
    equal(story("bet", "show", bet["transaction_id"]), shown, "the bet has the story of its round")
    check(" settled, 25.00 not delivered " in ctl("bet", "list", "--casino", name).stdout, "as text")
    row = ctl_json("callback", "list", "--casino", name, "--kind", "betting-result")["callbacks"][0]
    equal(row["amount"], 25, "callback list")
    equal(sums(name), (25, 0, 0), "the dealer's sums")
    equal(ctl_json("owed", "--casino", name)["dealers"],
          [{"casino_id": name, "currency": "thb", "payouts": 25, "refunds": 0, "shortfall": 0}],
          "the sums of owed")
    for command in ("status", "check"):
        text = ctl(command).stdout
        check(f"owed: dealer {name} owes its players 25.00 thb in payouts" in text,
              f"{command}: {text}")
        check({"casino_id": name, "currency": "thb", "payouts": 25, "refunds": 0, "shortfall": 0}
              in ctl_json(command)["owed"], command)
    ctl("callback", "hold", event, "--reason", "ticket 1")
    check("is held" in story("round", "show", f"{name}/alice", "g-1")["happened"], "held")
    ctl("callback", "release", event, "--reason", "ticket 1")
    ctl("callback", "retry", event, "--reason", "ticket 1", "--yes")
    with worker() as link:
        link.end(link.claim(made.event)[1], name, SUCCESS, status=200)
    equal(debts("--casino", name), {}, "delivered")
    equal(sums(name), (0, 0, 0), "no debt is left")
    shown = story("round", "show", f"{name}/alice", "g-1")
    equal((shown["debt"], shown["owes"]), ("none", "Nothing is owed."), "delivered")
    check("settled, " not in ctl("bet", "list", "--casino", name).stdout, "no debt in the list")


def case_refunds():
    name = dealer_new("--unknown-bet-ids", "E-404")
    with worker() as link:
        lost = place(link, name, "alice", "g-1", UNKNOWN)
        place(link, name, "alice", "g-2", SUCCESS, 7, reference="cancel-me")
        send = cancel(link, name, "alice", "g-2", "cancel-me")
        equal(debts("--casino", name)[f"betting-refund-{send.event}"], ("dealer", 7), "being sent")
        link.end(send, name, UNKNOWN, status=503)
        rejected = place(link, name, "alice", "g-3", REFUSED, status=402, error="no_credit")
    equal(sorted(debts("--casino", name).values()), [("dealer", 7), ("dealer_perhaps", 10)], "two refunds")
    equal(sums(name), (0, 17, 0), "the sums")
    check(" refunding, 10.00 not delivered " in ctl("bet", "list", "--casino", name).stdout, "bet list")
    shown = story("bet", "show", lost.transaction_id)
    equal(shown["owes"], f"If {name} debited the bet, it owes alice 10.00.", "not known")
    shown = story("round", "show", f"{name}/alice", "g-1")
    equal((shown["debt"], shown["owes"]), ("none", "Nothing is owed for the result. One bet of the round has a refund: "
                                                   "see what is owed for that bet."), "the round of that bet")
    check("(no_credit), so it must not have debited 10.00" in
          story("bet", "show", rejected.transaction_id)["happened"], "rejected")
    event = ctl_json("bet", "show", lost.transaction_id)["bet"]["refund_event"]
    with worker() as link:
        link.end(link.claim(event)[1], name, REFUSED, status=404, error="E-404")
    shown = story("bet", "show", lost.transaction_id)
    check("does not know it" in shown["happened"] and shown["debt"] == "none", shown)
    ctl("callback", "cancel", send.event, "--reason", "paid by hand", "--yes")
    shown = story("bet", "show", f"{name}/alice", "g-2")
    check("as settled by other means" in shown["happened"] and shown["debt"] == "none", shown)
    equal((debts("--casino", name), sums(name)), ({}, (0, 0, 0)), "no debt is left")


def case_adjusted():
    """An adjustment on the platform stands for a parked result: the dealer owes the platform."""
    name = dealer_new()
    with worker() as link:
        made = won(link, name, "alice", "g-1")
        park(link, name, made)
    event = f"betting-result-{made.event}"
    ctl("player", "adjust", name, "alice", "25", "--for", event, "--reason", "ticket 2")
    equal(debts("--casino", name), {event: ("dealer_platform", 25)}, "adjusted")
    shown = story("round", "show", f"{name}/alice", "g-1")
    equal(shown["owes"], f"{name} owes the platform 25.00.", "the platform paid")
    check(" settled, 25.00 not delivered, adjusted " in ctl("bet", "list", "--casino", name).stdout, "list")
    ctl("callback", "cancel", event, "--reason", "ticket 2", "--yes")
    equal(debts("--casino", name), {}, "cancelled")
    check("in place of" in story("round", "show", f"{name}/alice", "g-1")["happened"], "the end")


def case_corrections():
    """A decrease that the dealer did not confirm, and what a transfer wallet could not take back."""
    name = dealer_new("--path-betting-correction", "/betting-correction")
    with worker() as link:
        made = won(link, name, "alice", "g-1")
        link.end(made.send, name, SUCCESS, status=200)
        equal(link.correct("slots", name, "alice", "g-1", 1, WIN, 15), "", "corrected")
    shown = story("round", "show", f"{name}/alice", "g-1")
    equal((shown["debt"], shown["owed"], shown["owes"]),
          ("player_dealer", 10, f"alice owes {name} 10.00."), "a decrease")
    check("after 1 correction. That is 10.00 less than was paid." in shown["happened"], shown)
    check(" settled, 10.00 not taken back " in ctl("bet", "list", "--casino", name).stdout, "bet list")
    lone = dealer_new(mode="transfer")
    ctl("player", "adjust", lone, "alice", "10", "--reason", "test")
    with worker() as link:
        link.place("slots", lone, "alice", "g-2", 10)
        link.settle("slots", lone, "alice", "g-2", WIN, 25)
    ctl("player", "adjust", lone, "alice", "-21", "--reason", "test")
    with worker() as link:
        equal(correct_short(link, lone, "alice", "g-2"), "", "corrected")
    equal(debts("--casino", lone), {"": ("player_platform", 21)}, "what was not there")
    equal(sums(lone), (0, 0, 21), "the sums")
    shown = story("round", "show", f"{lone}/alice", "g-2")
    equal(shown["owes"], "alice owes the platform 21.00.", "as a sentence")
    check(f"players of dealer {lone} owe 21.00 thb" in ctl("owed").stdout, "all")


def case_transfers():
    name = dealer_new(mode="transfer")
    made = ctl_json("player", "adjust", name, "alice", "10", "--reason", "test")
    shown = story("transfer", "show", name, made["operation_id"])
    equal(shown["happened"], "An operator adjusted the balance of alice by 10.00. The balance was then 10.00.",
          "an adjustment")
    with worker() as link:
        bet = link.place("slots", name, "alice", "g", 4)
        equal(link.place("slots", name, "alice", "g-2", 40, reference="too-much").refusal,
              "insufficient_balance", "refused")
        paid = link.settle("slots", name, "alice", "g", REFUND)
    shown = story("transfer", "show", "--transaction", bet.transaction_id)
    check("This is the stake of a bet: 4.00 of alice." in shown["happened"], shown)
    check(f"creditbridgectl bet show {bet.transaction_id} " in shown["next"], shown)
    shown = story("transfer", "show", "--transaction", paid.transaction_id)
    check("This is the payout of a round: 4.00 for alice." in shown["happened"], shown)
    shown = story("transfer", "show", "slots", "too-much")
    check("refused as insufficient_balance" in shown["happened"] and "Nothing moved" in shown["happened"], shown)
    shown = story("round", "show", f"{name}/alice", "g")
    equal(shown["happened"], "The round was refunded. The platform credited 4.00 to alice.", "a round")


def case_players():
    name, lone = dealer_new(), dealer_new(mode="transfer")
    equal(ctl_json("player", "show", name, "alice")["credit_at"], "dealer", "seamless")
    equal(ctl_json("player", "show", lone, "alice")["credit_at"], "platform", "transfer")
    text = ctl("player", "show", name, "alice").stdout
    check(f"at dealer {name}, besides the balance; `creditbridgectl dealer ping {name} --user alice`" in text,
          text)


def case_limits():
    name = dealer_new()
    with worker() as link:
        for number in range(3):
            won(link, name, "alice", f"g-{number}", number + 1)
    done = ctl("owed", "--casino", name, "--limit", "2")
    check("2 of 3 debts are listed" in done.stderr, done.stderr)
    equal(done.stdout.count(" owes alice "), 2, "rows")
    check(f"In all, dealer {name} owes its players 6.00 thb in payouts" in done.stdout, done.stdout)
    WALLET.player_add(name, "bob")
    equal(debts("--casino", name, "--user", "bob"), {}, "another player")
    equal(debts("--user", f"{name}/bob"), {}, "another player by both ids")
    equal(len(debts("--user", f"{name}/alice")), 3, "the player by both ids")
    refused("user_not_found", "owed", "--casino", name, "--user", f"{name}/alice")
    check("--user goes with --casino, or is CASINO/USER" in ctl("owed", "--user", "alice", code=2).stderr,
          "a player without a dealer")


# -- doc/support.md

NEXT_STEP = re.compile(r"^( *Next step: |next  )", re.MULTILINE)


def disputes():
    """Makes the rows of the page. Returns what its names stand for."""
    WALLET.dealer_add("demo-b", "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
    WALLET.dealer_add("demo")
    for user in ("alice", "bob"):
        WALLET.player_add("demo-b", user)
    WALLET.player_add("demo", "alice")
    with worker() as link:
        first = place(link, "demo-b", "alice", "game-2", UNKNOWN, reference="spin-1", milliseconds=3001,
                      note="timed out")
        place(link, "demo-b", "alice", "game-2", SUCCESS, reference="spin-2", status=200)
        park(link, "demo-b", won(link, "demo-b", "bob", "game-3", 250))
        link.ask("transfer", transfer_payload("demo", TRANSFER_IN_KIND, "in-1", "alice", 1005000))
    return {"218000000000033": str(first.transaction_id)}


def case_support_page():
    """Each dispute is solved by at most 2 commands, as the page shows. test_refused.py has the refused calls."""
    chapters = cb_support.compare(ctl, lambda command: command != "explain", disputes())
    check({"My bet was charged twice", "I won but was not paid", "The transfer was recorded"} <= set(chapters), chapters)
    for title, blocks in chapters.items():
        check(len(blocks) <= 2, f"{title}: {len(blocks)} commands")
        check(not blocks or (NEXT_STEP.search(blocks[-1]) and (" owe" in blocks[-1] or "Nothing is owed." in blocks[-1])),
              f"{title}: {blocks}")


CASES = [
    ("nothing is owed", case_nothing),
    ("a payout, from its first attempt to the retry", case_payout),
    ("refunds", case_refunds),
    ("an adjustment that stands for a result", case_adjusted),
    ("corrections", case_corrections),
    ("transfers", case_transfers),
    ("where a player's credit is", case_players),
    ("limits", case_limits),
    ("the page for support", case_support_page),
]


def main():
    global WALLET, ctl, ctl_json, refused  # pylint: disable=global-statement
    with cb.Instance("owed", settings=SETTINGS) as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        ctl("client", "add", "slots")
        return cb.run_cases(CASES, seconds=60)


sys.exit(main())
