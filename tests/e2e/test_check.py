#!/usr/bin/python3
"""creditbridgectl check on bets, rounds and callbacks: sound data pass, also while they change and
after the ledger was killed; each lie is found.

The test does the work of workers and of the sweeper over edge.sock (cb_worker.py). A proxy between
creditbridgectl and the ledger makes the lies: it changes rows.
"""
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, new, run  # noqa: E402
from cb_codec import record as record_table  # noqa: E402
from cb_lies import Change, Lie, changed, rows_of  # noqa: E402
from cb_link import Closed  # noqa: E402
from cb_process import SLOWER  # noqa: E402
from cb_middle import Middle, Operator  # noqa: E402
from cb_worker import (LOSS, NOT_SENT, REFUND, REFUSED, SUCCESS,  # noqa: E402
                       UNITS, UNKNOWN, WIN, Worker)

SETTINGS = {
    "callback_timeout_ms": 800, "callback_connect_timeout_ms": 500, "callback_lease_ms": 2500,
    "result_second_attempt_ms": 30, "result_third_attempt_ms": 30, "refund_backoff_ms": 10,
    "breaker_open_ms": 100,
}
CLIENT = "slots"
WALLET = None
ctl = ctl_json = None  # of WALLET


class Player(Worker):
    """One connection of a game server's worker, which plays for @user of @dealer."""

    def __init__(self, dealer, user="alice"):
        super().__init__(WALLET.sockets / "edge.sock")
        self.dealer = dealer
        self.user = user

    def bet(self, game, outcome=SUCCESS, amount=10.0, **more):
        """A bet whose betting ended with @outcome; None: it has not ended."""
        placed = self.place(CLIENT, self.dealer, self.user, game, amount, **more)
        if placed.send.event and outcome is not None:
            self.end(placed.send, self.dealer, outcome, status=200 if outcome == SUCCESS else 0)
        return placed

    def result(self, game, result, payout=0.0, outcome=SUCCESS, **more):
        made = self.settle(CLIENT, self.dealer, self.user, game, result, payout, **more)
        if made.send.event and outcome is not None:
            self.end(made.send, self.dealer, outcome, status=200 if outcome == SUCCESS else 0)
        return made

    def corrected(self, game, revision, result, payout, chance):
        made = self.correction(CLIENT, self.dealer, self.user, game, revision, result, payout)
        if made.send.event:
            outcome = chance.choice((SUCCESS, SUCCESS, UNKNOWN))
            self.end(made.send, self.dealer, outcome, status=200 if outcome == SUCCESS else 0,
                     shortfall=chance.choice((0, 0, 3)))

    def sweep(self, chance=None):
        """Claims the due callbacks and reports their outcomes. Returns their number."""
        found = self.find()
        for event, casino_id in found:
            refusal, grant = self.claim(event)
            if not refusal and grant.event:
                outcome = chance.choice((SUCCESS, SUCCESS, UNKNOWN)) if chance else SUCCESS
                self.end(grant, casino_id, outcome, status=200 if outcome == SUCCESS else 0)
        return len(found)


def dealer_new(mode="seamless", refund_delay=0):
    options = ()
    if mode == "seamless":
        options = ("--url", "http://127.0.0.1:1/", "--allow-http", "--refund-delay",
                   str(refund_delay), "--max-inflight", "200", "--path-betting-correction", "/c")
    name = WALLET.dealer_add(new("dealer"), *options, mode=mode).casino_id
    WALLET.player_add(name, "alice")
    return name


def fill(dealer):
    """Bets and rounds of alice in every state that lasts. Returns the events' numbers by name."""
    events = {}
    with Player(dealer) as link:
        link.bet("won", amount=11)
        link.bet("won", amount=2, addition=True)
        link.bet("won", REFUSED, 3)
        events["refunding"] = link.bet("won", UNKNOWN, 4).send.event + cb.ID_STRIDE
        events["won"] = link.result("won", WIN, 50).event
        link.bet("lost", amount=5)
        events["parked"] = link.result("lost", LOSS, outcome=UNKNOWN).event
        link.bet("over", amount=6)
        events["over"] = link.result("over", REFUND).event
        events["open"] = link.bet("open", amount=7).send.event
        link.bet("open", NOT_SENT, 8)
        events["cancelled"] = link.bet("open", UNKNOWN, 9).send.event + cb.ID_STRIDE
    ctl("callback", "cancel", str(events["cancelled"]), "--reason", "test", "--yes")
    return events


def park(dealer, event):
    """Lets the second and third attempt of a result fail, too."""
    with Player(dealer) as link:
        for _ in range(2):
            def failed():
                refusal, grant = link.claim(event)
                return not refusal and (link.end(grant, dealer, UNKNOWN) or True)
            cb.wait_until(failed, 20, f"event {event} is due")


def proved():
    """Runs check, which must find nothing."""
    result = ctl_json("check")
    equal((result["ok"], result["problems"]), (True, []), "check")
    return result


# -- what is sound

def case_states():
    before = proved()
    name = dealer_new()
    # A refund is due in an hour: this one stays.
    ctl("dealer", "set", name, "--refund-delay", "3600")
    events = fill(name)
    park(name, events["parked"])
    with Player(name) as link:
        link.bet("open", None, 10)
    after = proved()
    equal([after[name] - before[name] for name in ("rounds", "bets", "callbacks")], [4, 10, 15],
          "figures")
    total = next(row for row in after["dealers"] if row["casino_id"] == name)
    # won/4, open/1, open/4, and the parked result
    equal(total["open_bets"], 4, "open")
    shown = ctl("check").stdout
    for line in ("rounds        ", "bets          ", "callbacks     ", "problems      0"):
        check(line in shown, f"{line!r} in {shown}")


def case_transfer_wallet():
    name = dealer_new("transfer")
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer(name, "alice", 100 * UNITS, new("in")), 0, "credit")
    with Player(name) as link:
        equal(link.bet("won", amount=11).refusal, "", "a bet")
        link.bet("won", amount=2, addition=True)
        equal(link.bet("won", amount=1000).refusal, "insufficient_balance", "more than there is")
        equal(link.result("won", WIN, 50).refusal, "", "a win")
        link.bet("nothing", amount=1)
        link.result("nothing", WIN, 0)
        link.bet("lost", amount=1)
        link.result("lost", LOSS)
        link.bet("over", amount=1)
        link.result("over", REFUND)
        link.bet("open", amount=1)
    total = next(row for row in proved()["dealers"] if row["casino_id"] == name)
    equal((total["staked"], total["paid"], total["balance"], total["open_bets"]),
          (17, 51, 134, 1), "sums")


def case_pages():
    """More rounds, bets of a round, and callbacks than a page holds."""
    name = dealer_new()
    before = proved()
    with Player(name) as link:
        for number in range(300):
            link.bet(f"page-{number}")
            link.result(f"page-{number}", LOSS)
        for number in range(256):
            link.bet("many", amount=1)
        equal(link.bet("many").refusal, "round_full", "the most")
        link.result("many", REFUND)
    after = proved()
    equal([after[name] - before[name] for name in ("rounds", "bets", "callbacks")],
          [301, 556, 857], "figures")


def case_client_removed():
    name = dealer_new()
    ctl("client", "add", "gone")
    with Player(name) as link:
        link.end(link.place("gone", name, "alice", "g", 1).send, name, SUCCESS)
    ctl("client", "remove", "gone", "--yes")
    proved()


# -- lies

def case_shared_key():
    """A key that an older program gave to two: check, status and doctor name both, until it is retired."""
    dealer = new("shared")
    key = ctl_json("dealer", "add", dealer, "--currency", "thb", "--mode", "transfer")["key"]
    client = new("client")
    ctl("client", "add", client)
    equal((proved()["shared_keys"], ctl_json("status")["shared_keys"]), ([], []), "keys of their own")
    WALLET.stop()
    subprocess.run([cb.builddir() / "tests" / "fault" / "set_client_key", WALLET.state / "db", client],
                   input=key.encode(), check=True, timeout=60 * cb.PATIENCE)
    WALLET.start()
    both = f"dealer {dealer} and client {client}"
    equal(proved()["shared_keys"], [both], "check --json")
    check(f"warning: {both} have the same key" in ctl("check").stdout, "check")
    equal(ctl_json("status")["shared_keys"], [both], "status --json")
    check(re.search(rf"^one key of two +{both}$", ctl("status").stdout, re.MULTILINE), "status")
    findings = json.loads(WALLET.ctl_run("--json", "doctor").stdout)["findings"]
    check(any(row["check"] == "keys" and row["about"] == f"client {client}" and
              f"a key of dealer {dealer}" in row["found"] and f"client key-add {client}" in row["remedy"]
              for row in findings), f"doctor: {findings}")
    # The remedy.
    ctl("client", "key-add", client)
    ctl("client", "key-retire", client, "k1")
    equal((proved()["shared_keys"], ctl_json("status")["shared_keys"]), ([], []), "after the remedy")


def found(lie, problem, what):
    """The lie is found, in JSON and as text."""
    with Middle(WALLET, lie) as middle:
        result = json.loads(run("--config", middle.config, "check", "--json", code=1).stdout)
        check(lie.falsified, f"{what}: the row was not requested")
        check(not result["ok"] and any(problem in line for line in result["problems"]),
              f"{what}: {problem!r} not in {result['problems']}")
    return result["problems"]


class Rows:
    """The rows of what made_for_lies() made for @dealer."""

    def __init__(self, dealer, events, transactions):
        self.dealer = dealer
        self.events = events
        self.transactions = transactions  # of the bet and the result of round "keyed"
        self.player = ctl_json("player", "show", dealer, "alice")["player_id"]

    def one(self, record, *key):
        rows = rows_of(WALLET.sockets, record, *key)
        check(rows, f"{record} {key!r} is there")
        return rows

    def round(self, game):
        return self.one("ROUND", self.player, game)

    def bet(self, game, number):
        return self.one("BET", self.player, game, number)

    def of_event(self, record, name):
        return self.one(record, self.events[name])

    def attempt(self, name, number):
        return self.one("ATTEMPT", self.events[name], number)

    def transaction(self, number):
        return self.one("TRANSACTION", number)

    def request(self, reference):
        return self.one("REQUEST", "client", CLIENT, reference)


def body_changed(row, old, new_bytes):
    body = record_table("CALLBACK_BODY").unpack(row).body
    equal(body.count(old), 1, f"{old!r} in {body!r}")
    return changed("CALLBACK_BODY", row, body=body.replace(old, new_bytes))


def made_for_lies():
    """A dealer with everything; its rows, and references of its keys."""
    name = dealer_new()
    ctl("dealer", "set", name, "--refund-delay", "3600")
    events = fill(name)
    park(name, events["parked"])
    with Player(name) as link:
        link.bet("sent", None, 10)
        events["sent"] = int(ctl_json("callback", "list", "--casino", name, "--state", "sending")
                             ["callbacks"][0]["event"])
        ids = [link.bet("keyed", amount=12, reference=f"{name}-bet").transaction_id,
               link.result("keyed", WIN, 13, reference=f"{name}-win").transaction_id]
        link.bet("keyed-loss", amount=12)
        link.result("keyed-loss", LOSS, reference=f"{name}-loss")
    return Rows(name, events, ids)


def lies_about_rounds(rows):
    won, opened = rows.round("won"), rows.round("open")
    bet = rows.bet("open", 1)
    event = rows.events["open"]
    return (
        ("a round that is gone", "is not there and has bets", ("ROUND", won, b"")),
        ("a round that is open again", "is settled in a round that is open",
         changed("ROUND", won, state="open")),
        ("a round that is settled without a result", "is settled without a result",
         changed("ROUND", opened, state="settled")),
        ("a stake too much", "keeps bet_amount as 11.01, its bets make 11.00",
         changed("ROUND", won, bet_amount=110100)),
        ("a win too much", "keeps win_amount as 37.01, its bets make 37.00",
         changed("ROUND", won, win_amount=370100)),
        ("another user", "is of user eve of ", changed("ROUND", won, user_id="eve")),
        ("a client who never was", "is of client eve, which does not exist",
         changed("ROUND", opened, client_id="eve")),
        ("a bet of another client", "is of another client than its round",
         changed("BET", bet, client_id="eve")),
        ("a bet that is gone", "counts 4 bets, the last one found is number 3",
         ("BET", rows.bet("won", 4), b"")),
        ("a bet refunding without a refund", "is refunding without a betting-refund",
         changed("BET", bet, state="refunding")),
        ("another remark", "its betting has another body", changed("BET", bet, remark="a Bet")),
        ("another event", "its betting is missing", changed("BET", bet, event=0xffffff)),
        ("another bet's event", "the event of its betting is another one's",
         changed("BET", bet, event=event + cb.ID_STRIDE)),
        ("a rejected bet", "its betting has not failed",
         changed("BET", bet, state="rejected", outcome="bet_rejected")),
    )


def lies_about_callbacks(rows):
    refunding, sent = rows.of_event("CALLBACK", "refunding"), rows.of_event("CALLBACK", "sent")
    result, body = rows.of_event("CALLBACK", "won"), rows.of_event("CALLBACK_BODY", "won")
    due = rows.of_event("DUE", "refunding")
    attempt = rows.attempt("parked", 2)
    bet_body = rows.of_event("CALLBACK_BODY", "open")
    refund_body = rows.of_event("CALLBACK_BODY", "refunding")
    return (
        ("a callback that is gone", "is not there and has a body", ("CALLBACK", result, b"")),
        ("a callback of another game", "is not named by its round",
         changed("CALLBACK", result, game_id="open")),
        ("a callback to another dealer", "its betting-result goes to another dealer",
         changed("CALLBACK", result, casino_id="eve")),
        ("a betting that failed", "its betting is not being sent",
         changed("CALLBACK", sent, state="failed")),
        ("a refund that was delivered", "its betting-refund has ended",
         changed("CALLBACK", refunding, state="delivered")),
        ("a body that is gone", "has no body", ("CALLBACK_BODY", body, b"")),
        ("a payout in a body", "its betting-result has another body",
         body_changed(body, b'"payout_amount":50', b'"payout_amount":51')),
        ("a stake in a body", "its betting has another body",
         body_changed(bet_body, b'"bet_amount":7', b'"bet_amount":8')),
        ("a stake in a refund", "its betting-refund has another body",
         body_changed(refund_body, b'"bet_amount":4', b'"bet_amount":5')),
        ("the time of a refund", "has a body of another time",
         body_changed(refund_body, b'"timestamp":1', b'"timestamp":2')),
        ("an attempt that is gone", "has attempt 3 after attempt 1", ("ATTEMPT", attempt, b"")),
        ("a last attempt that is gone", "counts 3 attempts, the last one found is number 2",
         ("ATTEMPT", rows.attempt("parked", 3), b"")),
        ("a due row that is gone", "is due and has no due row", ("DUE", due, b"")),
        ("a due row of another dealer", "has the due row of a betting-refund to eve",
         changed("DUE", due, casino_id="eve")),
    )


def lies_about_links(rows):
    bet_key, win_key = rows.request(f"{rows.dealer}-bet"), rows.request(f"{rows.dealer}-win")
    loss_key = rows.request(f"{rows.dealer}-loss")
    bet_row, win_row = map(rows.transaction, rows.transactions)
    total = rows.one("TOTAL", rows.dealer)
    counter = rows.one("COUNTER", "event")
    last = record_table("COUNTER").unpack(counter).value
    return (
        ("a bet's key that is gone", "its request key is missing", ("REQUEST", bet_key, b"")),
        ("a bet's key of another client", "which was placed by another key",
         changed("REQUEST", bet_key, owner="eve")),
        ("a bet's key of another amount", "its request key asked for something else",
         changed("REQUEST", bet_key, amount=130000)),
        ("a result's key that is gone", "keyed: its result's request key is missing",
         ("REQUEST", win_key, b"")),
        ("a loss's key that is gone", "keyed-loss: its result's request key is missing",
         ("REQUEST", loss_key, b"")),
        ("a result's key that is there twice", "keyed: its result has two request keys",
         ("REQUEST", win_key, win_key + win_key)),
        ("a result's key of another amount", "of the result of round",
         changed("REQUEST", win_key, amount=140000)),
        ("a result's key of another game", "which is not settled",
         changed("REQUEST", win_key, game_id="open")),
        ("a bet's transaction that is gone", "its transaction row is missing",
         ("TRANSACTION", bet_row, b"")),
        ("a result's transaction that is gone", "its transaction row is missing",
         ("TRANSACTION", win_row, b"")),
        ("a transaction of another game", "which is another transaction's",
         changed("TRANSACTION", win_row, game_id="won")),
        ("a bet less open", "open_bets is kept as 3, 4 bets and results are open",
         changed("TOTAL", total, open_bets=3)),
        ("a bet more open", "open_bets is kept as 5, 4 bets and results are open",
         changed("TOTAL", total, open_bets=5)),
        ("a parked callback too many", "parked is kept as 2, 1 callbacks are",
         changed("TOTAL", total, parked=2)),
        ("events that were never given out", "was never given out",
         changed("COUNTER", counter, value=last - 1)),
    )


def case_lies():
    rows = made_for_lies()
    proved()
    for lies in (lies_about_rounds, lies_about_callbacks, lies_about_links):
        for what, problem, *changes in lies(rows):
            found(Lie(*changes), problem, what)
    proved()


def case_what_does_not_last():
    """A row that is read wrongly once is read again, and nothing is reported."""
    rows = made_for_lies()
    for lies in (lies_about_rounds, lies_about_callbacks):
        for what, _, *changes in lies(rows)[:4]:
            lie = Lie(*changes, times=1)
            with Middle(WALLET, lie) as middle:
                done = run("--config", middle.config, "check", "--json")
            equal((lie.falsified, json.loads(done.stdout)["problems"]), (1, []), what)


def case_sent_more_often():
    """A betting-result is sent three times, and once more for each retry of an operator."""
    name = dealer_new()
    with Player(name) as link:
        link.bet("g")
        event = link.result("g", WIN, 20, outcome=UNKNOWN).event
        park(name, event)
        for _ in range(2):
            ctl("callback", "retry", str(event), "--reason", "test", "--yes")
            refusal, grant = link.claim(event)
            equal(refusal, "", "one more attempt")
            link.end(grant, name, UNKNOWN)
    proved()
    audit = record_table("AUDIT").rows(rows_of(WALLET.sockets, "AUDIT"))
    mark = f"betting-result-{event}"
    equal([(row.action, row.object) for row in audit].count(("callback retry", mark)), 2, "audited")
    hidden = Change("AUDIT", lambda row: row.object == mark and {"object": "another"})
    with Middle(WALLET, hidden) as middle:
        result = json.loads(run("--config", middle.config, "check", "--json", code=1).stdout)
    equal(result["problems"],
          [f"callback betting-result-{event} was sent 5 times, with 0 retries by operators and the dealer"],
          "unexplained attempts")


def case_what_is_not_compared():
    """A count that an operator or a replay changes during the check is not compared, and check says so."""
    named = "the numbers of parked and held callbacks of each dealer"
    made_for_lies()
    equal(proved()["not_compared"], [], "everything is compared")
    # What each action does: the counter of the audit rises between two readings.
    for words in (("--json",), ()):
        readings = itertools.count(1)
        acting = Change("COUNTER", lambda row, n=readings: row.name == "audit" and {"value": row.value + next(n)})
        with Middle(WALLET, acting) as middle:
            done = run("--config", middle.config, "check", *words)
        if words:
            result = json.loads(done.stdout)
            equal((result["ok"], result["problems"], result["not_compared"]), (True, [], [named]), "as JSON")
        else:
            check(f"not compared  {named}: " in done.stdout and "that was compared" in done.stdout, done.stdout)


# -- while it changes

class Storm:
    """Game servers and a sweeper at work, with dealers that may answer anything."""

    def __init__(self, players=3, killed=False):
        self.killed = killed  # the ledger will be
        # The players pause then. On a slow machine the rows would grow faster than a check reads them.
        self.rounds_max = 0
        self.dealer = dealer_new()
        self.other = dealer_new()
        self.stopped = threading.Event()
        self.engines = WALLET.engine_pids()
        self.failures = []
        self.rounds = 0
        self.swept = 0
        self.threads = [threading.Thread(target=self.run, args=(self.play, n))
                        for n in range(players)]
        self.threads.append(threading.Thread(target=self.run, args=(self.sweep, 99)))

    def run(self, work, seed):
        chance = random.Random(seed)
        dealer = chance.choice((self.dealer, self.other))
        while not self.stopped.is_set():
            try:
                with Player(dealer) as link:
                    while not self.stopped.is_set():
                        work(link, chance, seed)
            except Exception as error:  # pylint: disable=broad-except
                if not isinstance(error, (Closed, OSError)) or self.engine_ended():
                    self.failures.append(error)
                    return
                time.sleep(0.05)

    def engine_ended(self):
        """Returns True if an engine has ended that nothing was to end. On a slow machine the ledger
        itself cuts a caller whose lease is over, which then connects again as a worker does."""
        return not self.killed and WALLET.engine_pids() != self.engines

    def play(self, link, chance, seed):
        if self.rounds >= self.rounds_max:
            time.sleep(0.01)
            return
        game = new(f"storm-{seed}-")
        for _ in range(chance.randint(1, 3)):
            link.bet(game, chance.choice((SUCCESS,) * 14 + (UNKNOWN,) * 2 + (REFUSED, NOT_SENT)),
                     addition=chance.random() < 0.2)
        if chance.random() < 0.02:
            link.bet(game, None)  # Its sender is gone with the link, or it is pending for long.
        if chance.random() < 0.2:
            link.bet(game, reference=f"bet-{game}")
            link.cancel(CLIENT, link.dealer, link.user, game, f"bet-{game}")
        result = chance.choice((WIN, LOSS, REFUND))
        link.result(game, result, 12.5 if result == WIN else 0,
                    outcome=chance.choice((SUCCESS, SUCCESS, UNKNOWN)))
        # Each is refused while the callback before it is open, or if the round is not settled.
        for revision, (result, payout) in enumerate(((WIN, 20), (LOSS, 0), (WIN, 5)), 1):
            if chance.random() < 0.5:
                link.corrected(game, revision, result, payout, chance)
        self.rounds += 1
        # Each answer that check waits for waits for a commit. If programs are slow, there are fewer
        # rows to read.
        time.sleep(0.01 * (SLOWER ** 2 if self.killed else 1))

    def sweep(self, link, chance, _seed):
        count = link.sweep(chance)
        self.swept += count
        if not count:
            time.sleep(0.01)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def checked(storm, codes, meanwhile=None):
    """Runs check amid the storm: no problem; it may say that it was too fast for it."""
    with subprocess.Popen(WALLET.ctl_argv("--json", "check"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as child:
        if meanwhile:
            meanwhile()
        out, errors = child.communicate(timeout=80 * SLOWER)
    result = json.loads(out)
    codes.append(child.returncode)
    check(child.returncode in (0, 75) and not result["problems"], out + errors)
    check(not storm.failures, f"{storm.failures}: {WALLET.ledger.log_tail()}")
    return result


def case_storm():
    codes, figures = [], []
    with Storm() as storm:
        start = time.monotonic()

        def enough():
            return codes.count(0) >= 5 and storm.rounds > 300 and storm.swept > 50
        while not enough() and time.monotonic() < start + 60:
            storm.rounds_max = storm.rounds + 300
            figures.append(checked(storm, codes)["callbacks"])
        check(enough(), f"{codes}, {storm.rounds} rounds, {storm.swept} swept")
    check(figures[-1] > figures[0] + 100, f"it changed meanwhile: {figures}")
    equal(storm.failures, [], "storm")
    proved()


def case_killed():
    """The ledger is killed amid the storm, before a check and amid it: what it held is sound."""
    kills, codes = [], []

    def kill():
        for pid in WALLET.engine_pids():
            os.kill(pid, signal.SIGKILL)
            kills.append(pid)

    def kill_soon():
        time.sleep(random.uniform(0, 0.1))
        kill()
    with Storm(killed=True) as storm:
        for _ in range(3):
            before = storm.rounds
            storm.rounds_max = before + 150
            cb.wait_until(lambda rounds=before: storm.rounds > rounds + 10, 20, "rounds")
            kill()
            cb.wait_until(WALLET.answering, 20, "the ledger again")
            checked(storm, codes)
            storm.rounds_max = storm.rounds + 150
            checked(storm, codes, kill_soon)
    equal(storm.failures, [], "storm")
    check(len(kills) >= 6 and 0 in codes, f"{kills} were killed, {codes}")
    proved()


CASES = [
    ("bets and rounds in every state", case_states),
    ("bets and rounds of a transfer wallet", case_transfer_wallet),
    ("a client that was removed", case_client_removed),
    ("one key of two", case_shared_key),
    ("lies", case_lies),
    ("what does not last", case_what_does_not_last),
    # After these, of which each of many checks reads all rows.
    ("more than a page", case_pages),
    ("a result that operators sent again", case_sent_more_often),
    ("what is not compared", case_what_is_not_compared),
    ("a storm of bets", case_storm),
    ("the ledger is killed", case_killed),
]


def main():
    global WALLET, ctl, ctl_json  # pylint: disable=global-statement
    with cb.Instance("check", settings=SETTINGS) as WALLET:
        ctl, ctl_json, _ = bind(WALLET)
        ctl("client", "add", CLIENT)
        return cb.run_cases(CASES, seconds=90)


if __name__ == "__main__":
    sys.exit(main())
