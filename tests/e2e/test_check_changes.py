#!/usr/bin/python3
"""creditbridgectl check on corrections, cancellations and the dealers' sums: what is sound passes, and
each damage is named.

As in test_check.py, a proxy between creditbridgectl and the ledger damages the rows.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import entry, record  # noqa: E402
from cb_ctl import bind, new, run  # noqa: E402
from cb_lies import Change, Lie, changed, rows_of  # noqa: E402
from cb_middle import Middle, Operator  # noqa: E402
from cb_worker import (LOSS, SUCCESS, UNITS, UNKNOWN, WIN, Worker)  # noqa: E402

SETTINGS = {
    "callback_timeout_ms": 800, "callback_connect_timeout_ms": 500, "callback_lease_ms": 2500,
    "result_second_attempt_ms": 30, "result_third_attempt_ms": 30, "breaker_open_ms": 100,
}
CLIENT = "slots"
WALLET = None
ctl = ctl_json = None  # of WALLET


def dealer_new(mode):
    options = ("--url", "http://127.0.0.1:1/", "--allow-http", "--refund-delay", "3600",
               "--path-betting-correction", "/c") if mode == "seamless" else ()
    name = WALLET.dealer_add(new("dealer"), *options, mode=mode).casino_id
    WALLET.player_add(name, "alice")
    return name


class Player(Worker):
    """One connection of a game server's worker, which plays for alice of @dealer."""

    def __init__(self, dealer):
        super().__init__(WALLET.sockets / "edge.sock")
        self.dealer = dealer
        self.who = (CLIENT, dealer, "alice")

    def done(self, made, outcome=SUCCESS, **told):
        """The callback that @made gave to this worker ends with @outcome."""
        check(made.refusal in ("", "bet_in_progress"), f"refused: {made}")
        if made.send.event and outcome is not None:
            self.end(made.send, self.dealer, outcome, status=200 if outcome == SUCCESS else 0, **told)
        return made

    def round(self, game, stake, result, payout=0):
        self.done(self.place(*self.who, game, stake, reference=f"{self.dealer}-{game}"))
        return self.done(self.settle(*self.who, game, result, payout))


def proved():
    """Runs check, which must find nothing."""
    result = ctl_json("check")
    equal((result["ok"], result["problems"]), (True, []), "check")
    return result


def transfer_fill():
    """A transfer wallet: a round corrected to a loss, which left a shortfall, and a cancelled bet."""
    name = dealer_new("transfer")
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer(name, "alice", 100 * UNITS, new("in")), 0, "credit")
        with Player(name) as player:
            player.round("misread", 10, WIN, 50)
            equal(link.transfer(name, "alice", -120 * UNITS, new("out")), 0, "credit leaves")
            player.done(player.correction(*player.who, "misread", 1, LOSS, allow_shortfall=True,
                                          reference=f"{name}-correction"))
            equal(link.transfer(name, "alice", 10 * UNITS, new("in")), 0, "credit")
            player.place(*player.who, "open", 4, reference=f"{name}-bet")
            equal(player.cancel(*player.who, "open", f"{name}-bet", reference=f"{name}-cancel"), "",
                  "a bet is cancelled")
    return name


def seamless_fill():
    """A seamless wallet: a win corrected upwards and downwards, with a shortfall, a result that is
    not delivered, and a cancelled bet."""
    name = dealer_new("seamless")
    with Player(name) as player:
        player.round("misread", 10, WIN, 50)
        player.done(player.correction(*player.who, "misread", 1, WIN, 60))
        player.done(player.correction(*player.who, "misread", 2, LOSS), shortfall=7)
        player.round("due", 5, WIN, 8)
        player.done(player.correction(*player.who, "due", 1, WIN, 9), UNKNOWN)
        player.done(player.place(*player.who, "open", 4, reference=f"{name}-bet"), balance=90,
                    user_id="alice", currency="thb")
        equal(player.cancel(*player.who, "open", f"{name}-bet", reference=f"{name}-cancel"), "",
              "a bet is cancelled")
    return name


class Rows:
    def __init__(self, dealer):
        self.dealer = dealer
        self.player = ctl_json("player", "show", dealer, "alice")["player_id"]

    def one(self, kind, *key):
        rows = rows_of(WALLET.sockets, kind, *key)
        check(rows, f"{kind} {key!r} is there")
        return rows

    def total(self):
        return self.one("TOTAL", self.dealer)

    def correction(self, game, revision):
        return self.one("CORRECTION", self.player, game, revision)

    def request(self, what):
        return self.one("REQUEST", "client", CLIENT, f"{self.dealer}-{what}")

    def movement(self, what):
        return self.one("TRANSACTION", record("REQUEST").unpack(self.request(what)).transaction_id)

    def callback(self, game, revision):
        return self.one("CALLBACK", record("CORRECTION").unpack(self.correction(game, revision)).event)


def found(lie, problem, what):
    """The damage is found."""
    with Middle(WALLET, lie) as middle:
        result = json.loads(run("--config", middle.config, "check", "--json", code=1).stdout)
    check(lie.falsified, f"{what}: no process asked for the row")
    check(not result["ok"] and any(problem in line for line in result["problems"]),
          f"{what}: {problem!r} not in {result['problems']}")


def case_sums():
    """Each sum of a dealer that no movement makes."""
    here, there = Rows(transfer_fill()), Rows(seamless_fill())
    kept = record("TOTAL").unpack(here.total())
    equal(kept.shortfall, 30 * UNITS, "the shortfall of the transfer wallet")
    found(Lie(changed("TOTAL", here.total(), shortfall=kept.shortfall + 1)),
          f"dealer {here.dealer}: shortfall is kept as 30.0001, the rows sum up to 30.00", "shortfall")
    expected = {"shortfall": 7, "seamless_staked": 15, "seamless_paid": 9, "seamless_refunded": 4,
                "owed_payouts": 1, "owed_refunds": 4}
    kept = record("TOTAL").unpack(there.total())
    equal({name: kept[name] for name in expected},
          {name: value * UNITS for name, value in expected.items()}, "sums")
    for name, value in expected.items():
        for change in (1, -1):
            found(Lie(changed("TOTAL", there.total(), **{name: value * UNITS + change})),
                  f"dealer {there.dealer}: {name} is kept as ", name)
    equal((kept.bets_with_balance, kept.bets_without_balance), (1, 2), "answers to bets")
    for name, value in (("bets_with_balance", 1), ("bets_without_balance", 2)):
        found(Lie(changed("TOTAL", there.total(), **{name: value + 1})),
              f"dealer {there.dealer}: {name} is kept as {value + 1}, there are {value}", name)
    proved()


def second_cancel(rows):
    """The changes that add another movement of the cancelled bet, with a key of its own. The player's
    chain and the sums of the dealer agree with it."""
    made = rows.movement("cancel")
    first = record("TRANSACTION").unpack(made)
    player = record("PLAYER").unpack(rows.one("PLAYER", rows.dealer, "alice"))
    total = record("TOTAL").unpack(rows.total())
    second = {**first, "transaction_id": first.transaction_id + 1, "previous": first.transaction_id,
              "entry_seq": first.entry_seq + 1, "before_balance": first.current_balance,
              "current_balance": first.current_balance + first.amount,
              "request_transaction_id": first.request_transaction_id + "-2"}
    key = record("REQUEST").unpack(rows.request("cancel"))
    other = {**key, **{name: second[name] for name in ("transaction_id", "entry_seq", "current_balance",
                                                       "request_transaction_id")}}
    return (("TRANSACTION", made, made + record("TRANSACTION").pack(second)),
            ("REQUEST", rows.request("cancel"),
             rows.request("cancel") + record("REQUEST").pack(other)),
            changed("PLAYER", rows.one("PLAYER", rows.dealer, "alice"),
                    balance=player.balance + first.amount, entry_seq=player.entry_seq + 1,
                    entry_transaction_id=second["transaction_id"]),
            changed("TOTAL", rows.total(), balance=total.balance + first.amount,
                    cancelled=total.cancelled + first.amount)), second


def case_cancellations():
    here, there = Rows(transfer_fill()), Rows(seamless_fill())
    changes, second = second_cancel(here)
    place = f"bet {here.player}/open/1"
    found(Lie(*changes), f"transaction {second['transaction_id']} points to cancellation of {place}, "
          "which is another transaction's", "a second movement")
    found(Lie(*changes), f"request {here.dealer}-cancel-2 of {CLIENT} points to cancellation of {place}, "
          "which was made by another key", "its key")
    found(Lie(("REQUEST", here.request("cancel"), b"")),
          f"cancellation of {place}: its request key is missing", "a key that is gone")
    found(Lie(("TRANSACTION", here.movement("cancel"), b"")),
          f"{place} was cancelled, and the movement that returned its stake is missing",
          "a movement that is gone")
    place = f"bet {there.player}/open/1"
    for what, problem, change in (
            ("gone", f"cancellation of {place}: its request key is missing",
             ("REQUEST", there.request("cancel"), b"")),
            ("of another time", f"cancellation of {place}: its request key is of another time",
             changed("REQUEST", there.request("cancel"), time_ms=1)),
            ("of another bet", f"cancels bet {there.player}/open/2, which does not exist",
             changed("REQUEST", there.request("cancel"), bet_number=2)),
            ("of a settled bet", f"cancels bet {there.player}/misread/1, which was not cancelled",
             changed("REQUEST", there.request("cancel"), game_id="misread"))):
        found(Lie(change), problem, f"the key of a seamless cancellation: {what}")
    proved()


def case_corrections():
    here, there = Rows(transfer_fill()), Rows(seamless_fill())
    row, place = here.correction("misread", 1), f"correction {here.player}/misread/1"
    number = record("CORRECTION").unpack(row).transaction_id
    round_row = here.one("ROUND", here.player, "misread")
    orphan = Lie(("CORRECTION", row, b""),
                 changed("ROUND", round_row, revision=0, current_result="win",
                         current_payout=50 * UNITS, shortfall=0))
    found(orphan, f"transaction {number} points to {place}, which is not there", "an orphan movement")
    found(orphan, f"request {here.dealer}-correction of {CLIENT} points to {place}, which is not there",
          "an orphan key")
    found(Lie(changed("REQUEST", here.request("correction"), owner="eve")),
          f"{place}: its request key is another client's", "a key of another client")
    place = f"correction {there.player}/misread/2"
    for shortfall in (0, 8):
        found(Lie(changed("CALLBACK", there.callback("misread", 2), shortfall=shortfall * UNITS)),
              f"{place} has another shortfall than its betting-correction", "a dealer's shortfall")
    # The dealer cannot have kept more than was asked: what is above it counts as all.
    answered = Lie(changed("CALLBACK", there.callback("misread", 2), shortfall=1000 * UNITS),
                   changed("CORRECTION", there.correction("misread", 2), shortfall=60 * UNITS),
                   changed("ROUND", there.one("ROUND", there.player, "misread"), shortfall=60 * UNITS),
                   changed("TOTAL", there.total(), shortfall=60 * UNITS))
    with Middle(WALLET, answered) as middle:
        equal(json.loads(run("--config", middle.config, "check", "--json").stdout)["problems"], [],
              "all of it")
    proved()


def case_sent_more_often():
    """A betting-correction is sent three times, and once more for each retry of an operator."""
    name = dealer_new("seamless")
    with Player(name) as player:
        player.round("g", 1, WIN, 20)
        event = player.done(player.correction(*player.who, "g", 1, LOSS), UNKNOWN).event
        for _ in range(2):
            def failed():
                refusal, grant = player.claim(event)
                return not refusal and (player.end(grant, name, UNKNOWN) or True)
            cb.wait_until(failed, 20, f"event {event} is due")
        ctl("callback", "retry", str(event), "--reason", "test", "--yes")
        refusal, grant = player.claim(event)
        equal(refusal, "", "one more attempt")
        player.end(grant, name, UNKNOWN)
    proved()
    mark = f"betting-correction-{event}"
    hidden = Change("AUDIT", lambda row: row.object == mark and {"object": "another"})
    with Middle(WALLET, hidden) as middle:
        result = json.loads(run("--config", middle.config, "check", "--json", code=1).stdout)
    equal(result["problems"],
          [f"callback {mark} was sent 4 times, with 0 retries by operators and the dealer"],
          "unexplained attempts")


def case_batches():
    """The keys of a batch's items agree with the answers that the batch stored."""
    name, key = dealer_new("transfer"), new("batch")
    with Operator(WALLET.sockets / "edge.sock") as link, Player(name) as player:
        equal(link.transfer(name, "alice", 100 * UNITS, new("in")), 0, "credit")
        for game in ("won", "lost"):
            player.done(player.place(*player.who, game, 5))
        equal(player.settle_batch(CLIENT, [(name, "alice", "won", WIN, 8 * UNITS), (name, "alice", "lost", LOSS, 0),
                                           (name, "alice", "none", LOSS, 0)], reference=key), ("", 3), "a batch")
    proved()

    def problems(answers):
        change = Change("RESULT_BATCH", lambda row: row.request_transaction_id == key and
                        {"answers": answers(bytes(row.answers))})
        with Middle(WALLET, change) as middle:
            found = json.loads(run("--config", middle.config, "check", "--json", code=1).stdout)["problems"]
        check(change.falsified, "the row was seen")
        return sorted(found)

    def items(first, second):
        return [f"request {key}#{at} of {CLIENT} is an item of a batch, {what}"
                for at, what in enumerate((first, second)) if what]

    packed = [entry("settle_answer").pack(fields) for fields in ({}, {"verdict": {"refusal": 1}})]
    equal(problems(lambda _answers: b""), items(*["which has no answer for it"] * 2), "no answers")
    equal(problems(lambda _answers: packed[0] + packed[1]),
          items("whose answer names another transaction", "whose answer is a refusal"), "other answers")


CASES = [
    ("batches of results", case_batches),
    ("the sums of a dealer", case_sums),
    ("cancellations", case_cancellations),
    ("corrections", case_corrections),
    ("a correction that operators sent again", case_sent_more_often),
]


def main():
    global WALLET, ctl, ctl_json  # pylint: disable=global-statement
    with cb.Instance("changes", settings=SETTINGS) as WALLET:
        ctl, ctl_json, _ = bind(WALLET)
        ctl("client", "add", CLIENT)
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
