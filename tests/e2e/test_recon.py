#!/usr/bin/python3
"""creditbridgectl recon, and callback list --shape, against a real ledger.

Days in the past are made by a proxy between creditbridgectl and the ledger, which changes the times
in the rows.
"""
import collections
import contextlib
import csv
import datetime
import hashlib
import io
import json
import os
import re
import stat
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, lone_dealer, new, run  # noqa: E402
from cb_lies import Change  # noqa: E402
from cb_middle import RECORDS, Middle, Operator  # noqa: E402
from cb_worker import (LOSS, NOT_SENT, REFUND, REFUSED, SUCCESS, UNKNOWN, WIN,  # noqa
                       Worker)

SETTINGS = {
    "callback_networks": ["127.0.0.0/8"], "callback_lease_ms": 20000,
    "result_second_attempt_ms": 30, "result_third_attempt_ms": 30,
}
COLUMNS = ["record", "id", "casino_id", "time", "time_ms", "user_id", "player_id", "game_id",
           "kind", "state", "amount", "currency", "transaction_id", "reference", "before_balance",
           "current_balance", "count", "revision"]
DAY_MS = 86400000
HOUR_MS = 3600000
WALLET = None
ctl = ctl_json = refused = None  # of WALLET


@contextlib.contextmanager
def worker():
    with Worker(WALLET.sockets / "edge.sock") as link:
        yield link


def today(offset_min=0):
    zone = datetime.timezone(datetime.timedelta(minutes=offset_min))
    return datetime.datetime.now(zone).date().isoformat()


def dealer_new(*options, mode="transfer"):
    return lone_dealer(WALLET, *options, mode=mode)


def rows_of(text):
    """The rows of a file, as dictionaries: all but the last, which is the SHA-256 of them."""
    check(text.endswith("\n"), "the last row is ended")
    data, last = text[:text.rindex("\n", 0, -1) + 1], text[text.rindex("\n", 0, -1) + 1:]
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    equal(rows[0], COLUMNS, "columns")
    check(all(len(row) == len(COLUMNS) for row in rows), "every row has every column")
    equal(last, f"sha256,{hashlib.sha256(data.encode()).hexdigest()}{',' * (len(COLUMNS) - 2)}\n", "the last row")
    return [dict(zip(COLUMNS, row)) for row in rows[1:-1]]


def recon(*words, day=None, config=None):
    """The rows of a day (of today), by record."""
    done = run("--config", config or WALLET.config, "recon", *words, "--date", day or today())
    rows = collections.defaultdict(list)
    for row in rows_of(done.stdout):
        rows[row["record"]].append(row)
    rows["text"] = done.stdout
    rows["errors"] = done.stderr
    return rows


def columns(rows, *names):
    return [tuple(row[name] for name in names) for row in rows]


def midnight_is_far():
    """The cases below are of one day of UTC: none may begin in its last minute."""
    def far():
        return cb.now_ms() % DAY_MS < DAY_MS - 60000
    cb.wait_until(far, 100, "midnight to be over", interval=1)


# -- a day

def case_transfers():
    midnight_is_far()
    name, other = dealer_new("--utc-offset", "0"), dealer_new()
    odd = 'b"ö,b\''
    WALLET.player_add(name, odd)
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer(name, "alice", 1000000, "in,1"), 0, "a transfer in")
        equal(link.transfer(name, odd, 500, '"in"'), 0, "a small one")
        equal(link.transfer(name, "alice", -123400, "out-1"), 0, "a transfer out")
        equal(link.transfer(other, "alice", 70000, "other"), 0, "another dealer's")
        check(link.transfer(name, "alice", -99900000, "too much"), "refused")
    adjusted = ctl_json("player", "adjust", name, "alice", "-7.65", "--reason", "a mistake")
    with worker() as link:
        bet = link.place("slots", name, "alice", "g,1", 10)
        more = link.place("slots", name, "alice", "g,1", 2.5, addition=True)
        won = link.settle("slots", name, "alice", "g,1", WIN, 31)
        lost = link.place("slots", name, "alice", "g-2", 3)
        link.settle("slots", name, "alice", "g-2", LOSS)
        opened = link.place("slots", name, "alice", "g-3", 4)
    day = recon(name)
    equal(columns(day["day"], "id", "state", "reference", "currency", "casino_id"),
          [(today(), "running", "+00:00", "thb", name)], "the day's own row")
    check("has not ended in" in day["errors"], "the warning about it")
    names = ("user_id", "kind", "amount", "before_balance", "current_balance", "reference",
             "game_id")
    equal(columns(day["movement"], *names)[:4], [
        ("alice", "transfer_in", "100.00", "0.00", "100.00", "in,1", ""),
        (odd, "transfer_in", "0.05", "0.00", "0.05", '"in"', ""),
        ("alice", "transfer_out", "-12.34", "100.00", "87.66", "out-1", ""),
        ("alice", "adjust", "-7.65", "87.66", "80.01", adjusted["operation_id"], ""),
    ], "transfers")
    equal(columns(day["movement"], "id", "kind", "amount", "game_id")[4:], [
        (str(bet.transaction_id), "bet", "-10.00", "g,1"),
        (str(more.transaction_id), "bet", "-2.50", "g,1"),
        (str(won.transaction_id), "payout", "31.00", "g,1"),
        (str(lost.transaction_id), "bet", "-3.00", "g-2"),
        (str(opened.transaction_id), "bet", "-4.00", "g-3"),
    ], "stakes and prizes")
    equal(columns(day["bet"], "id", "kind", "state", "amount", "game_id"), [
        (str(bet.transaction_id), "bet", "settled", "10.00", "g,1"),
        (str(more.transaction_id), "addition", "settled", "2.50", "g,1"),
        (str(lost.transaction_id), "bet", "settled", "3.00", "g-2"),
        (str(opened.transaction_id), "bet", "accepted", "4.00", "g-3"),
    ], "bets")
    equal(day["callback"], [], "no callback")
    equal(columns(day["total"], "id", "kind", "state", "amount", "count"), [
        ("movement", "transfer_in", "", "100.05", "2"),
        ("movement", "transfer_out", "", "-12.34", "1"),
        ("movement", "adjust", "", "-7.65", "1"),
        ("movement", "bet", "", "-19.50", "4"),
        ("movement", "payout", "", "31.00", "1"),
        ("bet", "", "accepted", "4.00", "1"),
        ("bet", "", "settled", "15.50", "3"),
    ], "totals")
    row = day["movement"][0]
    at = datetime.datetime.strptime(row["time"], "%Y-%m-%dT%H:%M:%S.%f%z").timestamp() * 1000
    equal(round(at), int(row["time_ms"]), "both times")
    check(abs(cb.now_ms() - at) < 120000, "just now")
    equal(len(recon(name, "--kind", "bet")["movement"]), 0, "--kind")
    equal(columns(recon(other)["movement"], "reference"), [("other",)], "the other dealer's day")
    equal(recon(name)["text"], day["text"], "nothing changed: byte for byte the same")


def park(link, name, event, send):
    link.end(send, name, NOT_SENT, note="connection refused")
    for _ in range(2):
        def claimed():
            refusal, grant = link.claim(event)
            return grant if not refusal else None
        link.end(cb.wait_until(claimed, 20, f"event {event} is due"), name, UNKNOWN, status=503)


def seamless_day(name):
    """A bet won and one lost, one parked, one refused, one being refunded, one cancelled game."""
    with worker() as link:
        def place(game, outcome=SUCCESS, **more):
            bet = link.place("slots", name, "alice", game, 10)
            link.end(bet.send, name, outcome, **more)
            return bet
        bets = [place("won"), place("lost"), place("parked"),
                place("refused", REFUSED, status=402, error="no_money"),
                place("unknown", UNKNOWN, status=500), place("cancelled")]
        won = link.settle("slots", name, "alice", "won", WIN, 25)
        link.end(won.send, name, SUCCESS, status=200)
        lost = link.settle("slots", name, "alice", "lost", LOSS)
        link.end(lost.send, name, SUCCESS, status=200)
        parked = link.settle("slots", name, "alice", "parked", WIN, 15)
        park(link, name, parked.event, parked.send)
        back = link.settle("slots", name, "alice", "cancelled", REFUND)
        link.end(back.send, name, SUCCESS, status=200)
    return bets, won, lost, parked, back


def case_seamless():
    midnight_is_far()
    name = dealer_new(mode="seamless")
    bets, won, lost, parked, back = seamless_day(name)
    refund = ctl_json("bet", "show", bets[4].transaction_id)["bet"]["refund_event"]
    day = recon(name)
    equal(day["movement"], [], "no credit is here")
    equal(columns(day["bet"], "id", "game_id", "state", "amount"), [
        (str(bet.transaction_id), game, state, "10.00") for bet, game, state in zip(
            bets, ("won", "lost", "parked", "refused", "unknown", "cancelled"),
            ("settled", "settled", "settled", "rejected", "refunding", "settled"))], "bets")
    found = {row["id"]: row for row in day["callback"]}
    equal(len(found), len(day["callback"]), "each once")
    for bet, state in zip(bets, ("delivered", "delivered", "delivered", "failed", "failed",
                                 "delivered")):
        row = found.pop(f"betting-{bet.send.event}")
        equal((row["kind"], row["state"], row["amount"], row["transaction_id"], row["user_id"]),
              ("betting", state, "10.00", str(bet.transaction_id), "alice"), f"{row}")
    for made, state, amount, number in (
            (won, "delivered", "25.00", won.transaction_id), (lost, "delivered", "0.00", 0),
            (parked, "parked", "15.00", parked.transaction_id),
            (back, "delivered", "10.00", back.transaction_id)):
        row = found.pop(f"betting-result-{made.event}")
        equal((row["kind"], row["state"], row["amount"], row["transaction_id"]),
              ("betting-result", state, amount, str(number)), f"{row}")
    row = found.pop(f"betting-refund-{refund}")
    equal((row["state"], row["amount"], row["transaction_id"]),
          ("due", "10.00", str(bets[4].transaction_id)), "the refund")
    equal(found, {}, "nothing else")
    equal(columns(day["total"], "id", "kind", "state", "amount", "count")[3:], [
        ("callback", "betting", "delivered", "40.00", "4"),
        ("callback", "betting", "failed", "20.00", "2"),
        ("callback", "betting-result", "delivered", "35.00", "3"),
        ("callback", "betting-result", "parked", "15.00", "1"),
        ("callback", "betting-refund", "due", "10.00", "1"),
    ], "totals of the callbacks")
    equal(len(recon(name, "--kind", "callback,movement")["bet"]), 0, "--kind")


# -- days in the past

class Past(Middle):
    """Gives transactions and callbacks the time at(number), and counts the rows' pages."""

    def __init__(self, at):
        self.pages = collections.Counter()
        self.changes = {
            "TRANSACTION": Change("TRANSACTION", lambda row: {"time_ms": at(row.transaction_id)}),
            "CALLBACK": Change("CALLBACK", lambda row: {"created_ms": at(row.event)})}
        super().__init__(WALLET, self.answer)

    def answer(self, command, record, answer):
        if command != "list":
            return answer
        name = next(key for key, value in RECORDS.items() if value == record)
        self.pages[name] += 1
        change = self.changes.get(name)
        return change(command, record, answer) if change else answer


def first_of(name):
    """The id of the dealer's first movement."""
    rows = ctl_json("transfer", "list", "--casino", name, "--limit", "0")["transfers"]
    return min(row["transaction_id"] for row in rows)


def case_days():
    """1,000 movements in 20 days: each day has its own, at a cost that is that of the day."""
    midnight_is_far()
    count, per_day = 1000, 50
    name = dealer_new("--utc-offset", "420")
    with Operator(WALLET.sockets / "edge.sock") as link:
        for i in range(count):
            equal(link.transfer(name, "alice", 10000, f"in-{i}"), 0, "a transfer")
    first = first_of(name)
    begin = datetime.datetime(2024, 2, 20, tzinfo=datetime.timezone.utc)
    begin_ms = int(begin.timestamp() * 1000) - 420 * 60000
    step = DAY_MS // per_day

    def at(number):
        return begin_ms + (number - first) // cb.ID_STRIDE * step
    with Past(at) as past:
        seen = []
        for number in (0, 1, 8, 9, 10, 19):
            day = (begin + datetime.timedelta(days=number)).date().isoformat()
            past.pages.clear()
            rows = recon(name, day=day, config=past.config)
            equal(columns(rows["day"], "id", "state", "reference"), [(day, "complete", "+07:00")],
                  "the day is over")
            equal([(int(row["id"]) - first) // cb.ID_STRIDE for row in rows["movement"]],
                  list(range(number * per_day, (number + 1) * per_day)), day)
            seen.append(past.pages["TRANSACTION"])
            check(past.pages["TRANSACTION"] < 30 and
                  past.pages["PLAYER_NAME"] == 1, f"what {day} cost: {past.pages}")
        print(f"# pages of transactions a day: {seen}")
        for day in ("2024-02-19", "2024-03-11"):
            equal(recon(name, day=day, config=past.config)["movement"], [], f"{day} is empty")

    # A clock that was set back by 50 minutes, twice: no row is lost, and none is printed twice.
    def disturbed(number):
        return at(number) - (50 * 60000 if (number - first) // cb.ID_STRIDE // per_day % 2
                             else 0)
    with Past(disturbed) as past:
        ids = []
        for number in range(-1, 20):
            day = (begin + datetime.timedelta(days=number)).date().isoformat()
            rows = recon(name, day=day, config=past.config)["movement"]
            ids += [(int(row["id"]) - first) // cb.ID_STRIDE for row in rows]
        equal(sorted(ids), list(range(count)), "every movement is in one day")


def case_callbacks_of_days():
    name = dealer_new(mode="seamless")
    _bets, won, *_ = seamless_day(name)
    now = cb.now_ms()

    def at(number):
        return now - (DAY_MS if number < won.event else 0)
    with Past(at) as past:
        yesterday = datetime.datetime.fromtimestamp((now - DAY_MS) / 1000, datetime.timezone.utc)
        rows = recon(name, day=yesterday.date().isoformat(), config=past.config)
        check(all(int(row["id"].rsplit("-", 1)[1]) < won.event for row in rows["callback"]),
              "the day before")
        equal(len(rows["callback"]), 7, "six bettings and a refund")
        rows = recon(name, day=(yesterday + datetime.timedelta(days=1)).date().isoformat(),
                     config=past.config)
        equal(columns(rows["callback"], "kind"), [("betting-result",)] * 4, "the day itself")


def case_while_serving():
    """The day goes on: what is made meanwhile does not keep recon from its end."""
    midnight_is_far()
    name = dealer_new()
    stop = threading.Event()

    def play():
        with Operator(WALLET.sockets / "edge.sock") as link:
            number = 0
            while not stop.is_set():
                number += 1
                link.transfer(name, "alice", 10000, f"in-{number}")
    player = threading.Thread(target=play)
    player.start()
    try:
        cb.wait_until(lambda: recon(name)["movement"], 20, "a first movement")
        for _ in range(5):
            rows = recon(name)["movement"]
            equal([row["before_balance"] for row in rows],
                  ["0.00", *[row["current_balance"] for row in rows[:-1]]], "one after the other")
    finally:
        stop.set()
        player.join()
    check(len(recon(name)["movement"]) > len(rows) > 0, "it went on")


# -- the file

def case_file():
    midnight_is_far()
    name = dealer_new()
    with Operator(WALLET.sockets / "edge.sock") as link:
        link.transfer(name, "alice", 10000, "in")
    path = WALLET.dir / "day.csv"
    found = ctl_json("recon", name, "--date", today(), path)
    equal(stat.S_IMODE(path.stat().st_mode), 0o600, "for its owner alone")
    data = path.read_text()
    equal(data, recon(name)["text"], "as on standard output")
    rows_of(data)
    equal((found["file"], found["casino_id"], found["date"], found["complete"], found["movements"],
           found["bets"], found["callbacks"], found["until_ms"] - found["from_ms"]),
          (str(path), name, today(), False, 1, 0, 0, DAY_MS), "the report of it")
    check(data.endswith(f"sha256,{found['sha256']}{',' * (len(COLUMNS) - 2)}\n"), "its SHA-256")
    refused("already_exists", "recon", name, "--date", today(), path)
    equal(path.read_text(), data, "and it is as it was")
    other = WALLET.dir / "none.csv"
    refused("dealer_not_found", "recon", "nobody", "--date", today(), other)
    check(not other.exists(), "no file of a failure")
    for words in (("--date", "2025-02-30"), ("--date", "1735689600"), ("--date", "9999-01-01"),
                  ("--date", "2025-01-01T00:00"), (), ("--date", today(), "--kind", "rounds"),
                  ("--compare",), ("--date", "1969-12-31")):
        ctl("recon", name, *words, code=2)
    ctl("--json", "recon", name, "--date", today(), code=2)
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(WALLET.ctl_argv("recon", name, "--date", today()), stdout=full,
                              stderr=subprocess.DEVNULL, timeout=30 * cb.PATIENCE, check=False)
    equal(done.returncode, 1, "what is not written is no success")


def case_formulas():
    """No field is a formula to a spreadsheet, and what is a number stays one."""
    midnight_is_far()
    name = dealer_new()
    ids = ("=cmd|'/C calc'!A0", "+1+1", "@SUM(1)", "-2+3", "-5", "+07:00", "'=x", "\'\'x",
           "'plain", "=a,b", '="x"')
    with Operator(WALLET.sockets / "edge.sock") as link:
        for reference in ids:
            equal(link.transfer(name, "alice", 10000, reference), 0, f"in {reference}")
        equal(link.transfer(name, "alice", -10000, "out"), 0, "out")
    rows = recon(name, "--kind", "movement")
    # An apostrophe more than @ids have, where one is needed.
    equal([row["reference"] for row in rows["movement"]],
          ["'" * (reference not in ("-5", "+07:00", "'plain")) + reference for reference in ids] +
          ["out"], "marked")
    equal(rows["movement"][-1]["amount"], "-1.00", "a number stays one")
    check(not re.search(r'(^|,)"?[=@]', rows["text"], re.MULTILINE), "no formula")
    # Readers take the mark away.
    equal(counts(compared(THEIRS.replace("-20", "'-20").replace("done", "'done"), code=1))[:4],
          (5, 0, 0, 0), "an amount after a mark")


# -- compare

OURS = """record,id,casino_id,kind,state,amount
day,2025-01-31,demo,,complete,
movement,11,demo,transfer_in,done,100.00
movement,12,demo,transfer_out,done,-20.00
bet,13,demo,bet,settled,10.00
bet,14,demo,bet,refunded,10.50
callback,betting-7,demo,betting,delivered,10.00
total,movement,demo,transfer_in,,100.00
"""


def written(name, text, sealed=True):
    path = WALLET.dir / new(name)
    data = text.encode() if isinstance(text, str) else text
    if sealed:
        data += b"sha256,%s,,,,\n" % hashlib.sha256(data).hexdigest().encode()
    path.write_bytes(data)
    return path


def compared(theirs, *options, ours=None, code=0, sealed=False):
    paths = (written("ours", ours or OURS), written("theirs", theirs, sealed))
    text = ctl("recon", "--compare", *options, *paths, code=code)
    found = ctl_json("recon", "--compare", *options, *paths, code=code)
    found["text"] = text
    if code == 0 or "error" not in found:
        equal(found["ok"], code == 0, "ok")
    return found


def findings(found):
    names = ("finding", "record", "id", "our_amount", "their_amount", "our_state", "their_state")
    return [tuple(row[name] for name in names) for row in found["differences"]]


def counts(found):
    return tuple(found[name] for name in ("compared", "missing_here", "missing_there",
                                         "amount_differs", "state_differs"))


THEIRS = """amount,state,id,record,note
10,delivered,betting-7,callback,
10.5000,refunded,14,bet,"one, ""two""
three"
10.0,settled,13,bet,
-20,done,12,movement
100.00,done,11,movement,
"""


def case_compare_equal():
    found = compared(OURS, sealed=True)
    equal((counts(found), found["states_compared"]), ((5, 0, 0, 0, 0), True), "the same file")
    equal((found["our"]["rows"], found["their"]["rows"]), (5, 5), "rows")
    equal(counts(compared(THEIRS)), (5, 0, 0, 0, 0), "other columns, order and spelling")
    equal(counts(compared(b"\xef\xbb\xbf" + THEIRS.replace("\n", "\r\n").encode())),
          (5, 0, 0, 0, 0), "as Windows writes it")
    equal(counts(compared(THEIRS.rstrip("\n"))), (5, 0, 0, 0, 0), "without the last line's end")
    without = "".join(",".join(line.split(",")[:1] + line.split(",")[2:]) + "\n" for line in (
        "amount,,id,record", "10,,betting-7,callback", "10.5,,14,bet", "10,,13,bet",
        "-20,,12,movement", "100,,11,movement"))
    found = compared(without)
    equal((counts(found), found["states_compared"]), ((5, 0, 0, 0, 0), False), "without states")
    check("states were not compared" in found["text"].stderr, "which is reported")
    midnight_is_far()
    name = dealer_new(mode="seamless")
    seamless_day(name)
    paths = [WALLET.dir / new("day") for _ in range(2)]
    for path in paths:
        ctl("recon", name, "--date", today(), path)
    found = ctl_json("recon", "--compare", *paths)
    equal(counts(found), (17, 0, 0, 0, 0), "what recon writes")


def case_compare_differences():
    theirs = (THEIRS.replace("10,delivered,betting-7,callback,\n", "")
              .replace("10.5000,refunded", "10.51,refunding").replace("10.0,settled", "10.0,pending")
              + "55.5,done,99,movement,\n")
    found = compared(theirs, code=1)
    equal(sorted(findings(found)), sorted([
        ("missing_there", "callback", "betting-7", "10.00", "", "delivered", ""),
        ("missing_here", "movement", "99", "", "55.50", "", "done"),
        ("amount_differs", "bet", "14", "10.50", "10.51", "refunded", "refunding"),
        ("state_differs", "bet", "14", "10.50", "10.51", "refunded", "refunding"),
        ("state_differs", "bet", "13", "10.00", "10.00", "settled", "pending"),
    ]), "each is named")
    equal(counts(found), (4, 1, 1, 1, 2), "and counted")
    text = found["text"].stdout
    check("missing_here" in text and "compared 4, missing here 1, missing there 1, "
          "amount differs 1, state differs 2\n" in text, text)
    found = compared(theirs, "--limit", "1", code=1)
    equal((len(found["differences"]), counts(found)), (1, (4, 1, 1, 1, 2)), "--limit")
    equal(counts(compared(theirs, "--kind", "callback", code=1)), (0, 0, 1, 0, 0), "--kind")
    equal(counts(compared(theirs, "--kind", "movement", code=1)), (2, 1, 0, 0, 0), "--kind")
    # A dealer that booked twice: the ledger lacks the second row.
    found = compared(THEIRS + "100,done,11,movement,\n", code=1)
    equal((counts(found), findings(found)[0][:3]), ((5, 1, 0, 0, 0),
                                                 ("missing_here", "movement", "11")), "twice")
    found = compared(THEIRS + "10,rejected,13,bet,\n", code=1)
    equal((counts(found), findings(found)[0][-1]), ((5, 1, 0, 0, 0), "rejected"),
          "the one that fits is the one")
    found = compared("record,id,amount\n", code=1)
    equal(counts(found), (0, 0, 5, 0, 0), "an empty day of theirs")


def case_compare_bad_files():
    for theirs, words in (
            ("", "is empty"),
            ("id,amount\n", "no column 'record'"),
            ("record,id,id,amount\n", "named twice"),
            ("record,id,amount\nbet,1,ten\n", ":2: 'ten' is not an amount"),
            ("record,id,amount\nbet,1,1\n\nbet,2,1.00001\n", ":4: "),
            ('record,id,amount\n"be\nt",1,1\nbet,1,x\n', ":2: "),
            ("record,id,amount\nbet,,1\n", "id is missing"),
            ("record,id,amount\nround,1,1\n", "'round' is no record"),
            ("record,id,amount\nbet,1,1,2\n", "more fields"),
            ('record,id,amount\nbet,"1,1\n', "not closed"),
            ('record,id,amount\nbet,"1"2,1\n', "follows a closing quote"),
            ('record,id,amount\nbet,1"2",1\n', "a quote stands within"),
            ("record,id,amount\nbet,1\0,1\n", "no text"),
            ("record,id,amount,casino_id\nday,2025-02-01,,demo\n", "nothing to compare"),
            ("record,id,amount,casino_id\nday,2025-01-31,,other\n", "nothing to compare")):
        error = compared(theirs, code=1)["error"]
        equal(error["id"], "bad_file", f"{theirs!r}")
        check(words in error["detail"], f"{theirs!r}: {error}")
    sealed = written("sealed", OURS).read_text()
    for ours, words in ((OURS, "cut off"), (sealed.replace("100.00", "100.01"), "another one"),
                        (sealed + "bet,15,demo,bet,settled,1\n", "another one")):
        for paths in ((ours, sealed), (sealed, ours)):
            if ours == OURS and paths[1] == OURS:
                continue  # a dealer's own file need not have one
            done = ctl("recon", "--compare", *(written("f", p, sealed=False) for p in paths),
                       code=1)
            check("bad_file" in done.stderr and words in done.stderr, done.stderr)
    done = ctl("recon", "--compare", written("ours", OURS), WALLET.dir / "not there", code=1)
    check("cannot read" in done.stderr, done.stderr)


# -- callback list --shape

AGES = ("up_to_1m", "up_to_5m", "up_to_15m", "up_to_1h", "up_to_4h", "up_to_1d", "over_1d")


def shape(*words, config=None):
    done = run("--config", config or WALLET.config, "--json", "callback", "list", "--shape",
               *words)
    return {(row["casino_id"], row["state"]): tuple(row[age] for age in AGES)
            for row in json.loads(done.stdout)["shape"]}


def case_shape():
    name, other = (dealer_new(mode="seamless") for _ in range(2))
    bets, _won, _lost, parked, _back = seamless_day(name)
    seamless_day(other)
    refund = ctl_json("bet", "show", bets[4].transaction_id)["bet"]["refund_event"]
    young = (1, 0, 0, 0, 0, 0, 0)
    found = shape()
    equal({key: row for key, row in found.items() if key[0] in (name, other)},
          {(dealer, state): young for dealer in (name, other) for state in ("due", "parked")},
          "one refund, one result")
    ctl("callback", "hold", refund, "--reason", "later")
    equal(shape("--casino", name), {(name, "held"): young, (name, "parked"): young}, "--casino")
    equal(shape("--casino", name, "--state", "parked"), {(name, "parked"): young}, "--state")
    equal(shape("--casino", name, "--kind", "betting-refund"), {(name, "held"): young}, "--kind")
    equal(shape("--casino", other, "--state", "due,held"), {(other, "due"): young}, "both")
    table = [line.split() for line in ctl("callback", "list", "--shape").stdout.splitlines()]
    equal(table[0], ["CASINO", "STATE", "T", "1m", "5m", "15m", "1h", "4h", "1d", "1d+"], "heading")
    sums = {row[1]: int(row[2]) for row in table[1:] if row[0] == "TOTAL"}
    everything = shape()
    for state in ("due", "parked", "held"):
        equal(sums[state], sum(sum(row) for key, row in everything.items() if key[1] == state),
              f"sum of {state}")
    check([name, "held", "1", "1", "0", "0", "0", "0", "0", "0"] in table, table)
    for words in (("--limit", "5"), ("--since", "2024-01-01"), ("--state", "delivered")):
        ctl("callback", "list", "--shape", *words, code=2)
    # Ages.
    ages = {refund: 2 * DAY_MS, parked.event: 10 * 60000}
    for age, column in ((40, 0), (80, 1), (320, 2), (3580, 3), (3620, 4), (86380, 5), (86420, 6)):
        ages[refund] = age * 1000

        def at(number):
            return cb.now_ms() - ages.get(number, 0)
        with Past(at) as past:
            row = shape("--casino", name, "--state", "held", config=past.config)[name, "held"]
        equal(row.index(1), column, f"{age} s")
    ctl("callback", "release", refund, "--reason", "now")
    waiting = [row["event"] for row in ctl_json("callback", "list", "--state", "parked,held",
                                                "--limit", "0")["callbacks"]]
    for event in waiting:
        ctl("callback", "cancel", event, "--reason", "paid", "--yes")
    with Past(lambda number: 0) as past:
        due = shape(config=past.config)
        equal({key[1] for key in due}, {"due"}, "nothing is parked")
        equal(past.pages["CALLBACK"], sum(sum(row) for row in due.values()),
              "and it was not looked up")


CASES = [
    ("recon: transfers and bets of a transfer wallet", case_transfers),
    ("recon: bets and callbacks of a seamless wallet", case_seamless),
    ("recon: days of the dealer's, found by halving", case_days),
    ("recon: callbacks belong to the day they were made", case_callbacks_of_days),
    ("recon: while the day goes on", case_while_serving),
    ("recon: the file", case_file),
    ("recon: no field is a formula", case_formulas),
    ("recon --compare: equal", case_compare_equal),
    ("recon --compare: differences", case_compare_differences),
    ("recon --compare: bad files", case_compare_bad_files),
    ("callback list --shape", case_shape),
]


def main():
    global WALLET, ctl, ctl_json, refused
    with cb.Instance("cbrecon", settings=SETTINGS) as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        WALLET.ctl_json("client", "add", "slots")
        return cb.run_cases(CASES, seconds=180)


if __name__ == "__main__":
    sys.exit(main())
