#!/usr/bin/python3
"""creditbridgectl export and import: everything, as lines of JSON, and back.

    test_export.py [--movements N]

With --movements N only the case of many movements is run: `make check-export` runs it with
100,000.
"""
import argparse
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from decimal import Decimal

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, new  # noqa: E402
from cb_middle import RECORDS, Operator  # noqa: E402
from cb_platform import LOOPBACK  # noqa: E402
from cb_worker import LOSS, NOT_SENT, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

SETTINGS = {**LOOPBACK, "callback_lease_ms": 20000, "result_second_attempt_ms": 30,
            "result_third_attempt_ms": 30}
SECRET = re.compile(r"[0-9a-f]{64}")
WALLET = None
ctl = ctl_json = refused = None  # of WALLET


@contextlib.contextmanager
def other(name="cbimport", start=False):
    """A second wallet, which was initialised and whose ledger was never started."""
    wallet = cb.Instance(name, settings=SETTINGS, start=start)
    try:
        yield wallet
    finally:
        wallet.close()


def exported(*options, wallet=None, name=None):
    """Returns the file of an export, and the report of it."""
    wallet = wallet or WALLET
    path = WALLET.dir / (name or new("export"))
    return path, wallet.ctl_json("export", *options, path)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def imported(wallet, path, *options, code=0):
    done = wallet.ctl_run("--json", "import", *options, path)
    equal(done.returncode, code, f"import: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def checked(wallet):
    """What `check --json` prints."""
    done = wallet.ctl_run("check", "--json")
    equal(done.returncode, 0, f"check: {done.stdout}{done.stderr}")
    return done.stdout


def world(wallet, old=False):
    """Everything that a ledger can hold: returns what is needed to go on with it. @old: only what a
    ledger of schema 2 could hold."""
    demo = wallet.dealer_add("demo", "--utc-offset", "420", "--decimals", "4")
    wallet.dealer_add("seam", "--url", "http://127.0.0.1:1/d/", "--allow-http",
                      "--refund-delay", "0", "--duplicate-ids", "TWICE,E-409",
                      "--success-needs-balance", "--send-currency", mode="seamless")
    wallet.ctl_json("dealer", "key-add", "demo")
    wallet.ctl_json("client", "add", "slots")
    wallet.ctl_json("client", "add", "gone")
    wallet.ctl("client", "remove", "gone", "--reason", "sold")
    if not old:
        wallet.ctl("operator", "add", "kim", "--role", "read")
    for dealer in ("demo", "seam"):
        wallet.player_add(dealer, "alice")
    wallet.player_add("demo", 'b"ö,b\\')
    wallet.player_add("seam", "bob")
    wallet.ctl("player", "suspend", "seam", "bob")
    with Operator(wallet.sockets / "edge.sock") as link:
        equal(link.transfer("demo", "alice", 1234567, "in-1"), 0, "a transfer in")
        equal(link.transfer("demo", "alice", -4567, "out-1"), 0, "a transfer out")
        check(link.transfer("demo", "alice", -99999999, "too much"), "a refusal is kept")
    wallet.ctl("player", "adjust", "demo", "alice", "-1", "--reason", "a mistake")
    with Worker(wallet.sockets / "edge.sock") as link:
        # A body with a line break, and numbers that no double holds.
        link.place("slots", "demo", "alice", "g-1", 10,
                   user_bet=b'{"n": 1.10,\n\t"big": 12345678901234567890, "u": "\\u00fc \xc3\xbc"}')
        link.settle("slots", "demo", "alice", "g-1", WIN, 25)
        if not old:
            equal(link.correct("slots", "demo", "alice", "g-1", 1, WIN, 26), "", "a correction")
            wallet.ctl("round", "correct", "demo/alice", "g-1", "win", "27", "--reason", "misread", "--yes")
        link.place("slots", "demo", "alice", "g-2", 4)
        if not old:
            link.place("slots", "demo", "alice", "g-2", 3, reference="to-cancel")
            equal(link.cancel("slots", "demo", "alice", "g-2", "to-cancel"), "", "a cancelled bet")
            link.place("slots", "demo", "alice", "g-4", 4)
            equal(link.settle_batch("slots", [("demo", "alice", "g-4", WIN, 6), ("demo", "alice", "g-5", LOSS, 0)]),
                  ("", 2), "a batch of results")
        bet = link.place("slots", "seam", "alice", "s-1", 10)
        link.end(bet.send, "seam", SUCCESS, status=200, balance=None if old else 90,
                 user_id="alice", currency="thb")
        lost = link.settle("slots", "seam", "alice", "s-1", LOSS)
        unknown = link.place("slots", "seam", "alice", "s-2", 10)
        link.end(unknown.send, "seam", UNKNOWN, status=500, note="HTTP 500", answer="" if old else "<h1>busy</h1>")
        link.place("slots", "seam", "alice", "s-3", 10)
        hold_one(wallet, link)
        if not old:
            replay_one(wallet, link)
    return demo, lost


def hold_one(wallet, link):
    """A result that an operator holds."""
    bet = link.place("slots", "seam", "alice", "s-5", 10)
    link.end(bet.send, "seam", SUCCESS, status=200)
    made = link.settle("slots", "seam", "alice", "s-5", LOSS)
    link.end(made.send, "seam", NOT_SENT, note="connection refused")
    wallet.ctl("callback", "hold", made.event, "--reason", "a question")


def replay_one(wallet, link):
    """A result that was parked, and that a replay sent again."""
    bet = link.place("slots", "seam", "alice", "s-4", 10)
    link.end(bet.send, "seam", SUCCESS, status=200)
    made = link.settle("slots", "seam", "alice", "s-4", WIN, 25)
    link.end(made.send, "seam", NOT_SENT, note="connection refused")

    def claimed():
        refusal, grant = link.claim(made.event)
        return grant if not refusal else None
    for _ in range(2):
        link.end(cb.wait_until(claimed, 20, "the result is due"), "seam", UNKNOWN, status=503, note="HTTP 503")
    replay = wallet.ctl_json("callback", "replay", "--casino", "seam", "--game", "s-4", "--reason", "it is up",
                             "--yes")["replay"]
    link.end(cb.wait_until(claimed, 20, "the result is due again"), "seam", SUCCESS, status=200)
    cb.wait_until(lambda: wallet.ctl_json("replay", "show", replay)["state"] == "done", 20,
                  "the end of the replay")


# -- export

def case_export():
    path, report = exported()
    equal(stat.S_IMODE(path.stat().st_mode), 0o600, "for its owner alone")
    data = path.read_bytes()
    lines = lines_of(path)
    head, rows, tail = lines[0], lines[1:-1], lines[-1]
    status = ctl_json("status")
    equal((head["record"], head["format"], head["version"], head["schema"], head["installation"],
           head["keys"], head["last_transaction_id"]),
          ("export", "creditbridge-export", 1, status["schema"], status["installation"], False,
           status["last_transaction_id"]), "the first line")
    check(abs(cb.now_ms() - head["created_ms"]) < 60000, "when")
    counts = {name.lower(): sum(row["record"] == name.lower() for row in rows) for name in RECORDS}
    equal((tail["record"], tail["rows"], tail["counts"]), ("end", len(rows), counts),
          "the last line")
    last = data.rstrip(b"\n").rindex(b"\n") + 1
    equal(tail["sha256"], hashlib.sha256(data[:last]).hexdigest(), "its SHA-256")
    equal((report["file"], report["rows"], report["counts"], report["sha256"], report["keys"]),
          (str(path), tail["rows"], counts, tail["sha256"], False), "the report")
    # A move needs another ledger: the suite move has its rows.
    check(all(counts[name] for name in counts if name != "dealer_move"), f"every kind of row is there: {counts}")
    order = [list(counts).index(row["record"]) for row in rows]
    equal(order, sorted(order), "one kind after the other")
    check("secret" not in path.read_text(), "no keys")
    row = next(row for row in rows
               if row["record"] == "transaction" and row["kind"] == "transfer_in")
    equal((row["amount"], row["entry_seq"], row["request_transaction_id"]), ("123.4567", 1, "in-1"),
          "a movement")
    bet = next(row for row in rows if row["record"] == "bet" and row["game_id"] == "g-1")
    equal(bet["user_bet"], '{"n": 1.10,\n\t"big": 12345678901234567890, "u": "\\u00fc ü"}',
          "bytes as they were")
    deed = ctl_json("audit", "--limit", "2")["audit"]
    equal([(row["action"], row["object"], row["detail"]) for row in deed][1],
          ("export", str(path), "keys=no"), "the trail")
    check(not (WALLET.state / "export").exists(), "nothing is left in the state directory")
    refused("already_exists", "export", path)
    equal(path.read_bytes(), data, "and the file is as it was")
    out = ctl("export").stdout
    equal(out.splitlines()[-1][:16], '{"record":"end",', "on standard output")
    ctl("--json", "export", code=2)


def case_keys():
    path, report = exported("--with-keys")
    text = path.read_text()
    equal((report["keys"], stat.S_IMODE(path.stat().st_mode)), (True, 0o600), "answered, and closed")
    dealers = [row for row in lines_of(path) if row["record"] == "dealer"]
    check(all(SECRET.fullmatch(key["secret"]) for row in dealers for key in row["keys"] if key),
          "the dealers' keys")
    demo = next(row for row in dealers if row["casino_id"] == "demo")
    equal([key["key_id"] for key in demo["keys"]], ["k1", "k2"], "both")
    check(DEMO.key in text, "as it was given out")
    equal(ctl_json("audit", "--limit", "2")["audit"][1]["detail"], "keys=yes", "the trail")
    shown = ctl("audit", "--limit", "0").stdout + (WALLET.logs / "ledger.log").read_text()
    check(DEMO.key not in shown, "a key is in no log")


# -- import

def case_round_trip():
    """The other ledger has the same figures, the same keys, and goes on."""
    path, report = exported("--with-keys")
    before = checked(WALLET)
    with other() as wallet:
        done = imported(wallet, path)
        equal((done["rows"], done["counts"], done["sha256"]),
              (report["rows"], report["counts"], report["sha256"]), "the report")
        check(done["first_id"] > report["last_transaction_id"] and done["raised_by"] > 0, f"{done}")
        equal(done["keys_missing"], {"dealers": [], "clients": []}, "all keys are there")
        revived = {(row["kind"], row["id"]): row for row in done["revived"]}
        equal({kind for kind, _ in revived}, {"dealer", "client", "player"}, "what it brought back")
        check("k2 of" in revived["dealer", "demo"]["keys"] and
              revived["client", "gone"]["removed"] and revived["player", "seam/bob"]["suspended"],
              f"keys, and who is suspended or removed: {revived}")
        equal((done["last_transaction_id"], done["last_ms"]),
              (report["last_transaction_id"], report["last_ms"]), "the last movement")
        wallet.start()
        equal(wallet.ctl_json("status")["installation"], done["installation"], "its own id")
        check(done["installation"] != report["installation"], "which is another one")
        equal(checked(wallet), before, "check --json, byte for byte")
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(cb.Lighttpd(wallet))
            answer = cb.call(server, "POST", cb.TRANSFER_IN, dealer=DEMO, body={
                "user_id": "alice", "amount": 1, "request_transaction_id": "after"})
            check(answer.status == 200, f"the dealer's key: {answer}")
            check(answer.json["transaction_id"] >= done["first_id"],
                  "a number that was never given out")
            again = cb.call(server, "POST", cb.TRANSFER_IN, dealer=DEMO, body={
                "user_id": "alice", "amount": 123.4567, "request_transaction_id": "in-1"})
            check(again.status == 200 and again.replayed, "a key that was used is used")
        # Days are found across the gap; midnight may have been meanwhile.
        now = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=7)))
        ids = []
        for day in (now - datetime.timedelta(days=1), now):
            rows = wallet.ctl("recon", "demo", "--date", day.date().isoformat(), "--kind",
                              "movement").splitlines()
            ids += [int(row.split(",")[1]) for row in rows if row.startswith("movement,")]
        equal((len(ids), ids[-1]), (13, answer.json["transaction_id"]), "all movements")
        deed = wallet.ctl_json("audit", "--limit", "0")["audit"]
        check(any(row["action"] == "import" and report["installation"] in row["object"] and
                  f"first_id={done['first_id']}" in row["detail"] for row in deed), "the trail")
        # Exported again it is the same, but for what the import itself wrote.
        again, _ = exported("--with-keys", wallet=wallet)
        changed = set(json.dumps(row) for row in lines_of(path)[1:-1])
        changed ^= set(json.dumps(row) for row in lines_of(again)[1:-1])
        kinds = {json.loads(row)["record"] for row in changed}
        check(kinds <= {"counter", "audit", "operation", "request", "transaction",
                        "player", "total", "dealer", "dealer_day", "client"}, f"what was done since: {kinds}")
        for line in map(json.loads, changed):
            if line["record"] in ("dealer", "client"):
                for member in ("keys_restored_ms", "callbacks_held_ms", "restored_ms",
                               "restored_to_ms", "restored_id"):
                    line.pop(member, None)
                check(any(dict(row, **line) == row for row in lines_of(path)[1:-1]), f"{line}")
        equal(sum(json.loads(row)["record"] == "transaction" for row in changed), 1, "one transfer")


def held_until_released(wallet, link, refund):
    """Nothing is sent before the operator says so, and the operator is shown what would be."""
    cb.wait_until(lambda: refund["first_ms"] <= cb.now_ms(), 30, "the refund is due")
    refusal, _ = link.claim(refund["event"])
    equal(refusal, "dealer_busy", "a claim while callbacks are held")
    placed = link.place("slots", "seam", "alice", "held", 1)
    equal(placed.refusal, "dealer_busy", f"a bet while callbacks are held: {placed}")
    equal(wallet.ctl_json("status")["held_dealers"], 2, "status")
    check("dealers held" in wallet.ctl("status"), "status, as text")
    shown = wallet.ctl_json("release")
    equal([row["casino_id"] for row in shown["dealers"]], ["demo", "seam"], "held dealers")
    check(any(row["webhook_id"] == f"betting-refund-{refund['event']}" and row["bet"] == "refunding"
              for row in shown["callbacks"]), f"what would be sent: {shown}")
    check(not shown["released"], "a preview")
    equal(wallet.ctl_json("status")["held_dealers"], 2, "a preview releases nothing")
    equal(wallet.ctl_run("release", "seam", "--yes").returncode, 2, "without a reason")
    equal(wallet.ctl_run("release", "seam", "--yes", "--reason", "early").returncode, 1,
          "without the dealer's file")
    text = wallet.ctl("release", "seam", "--yes", "--unreconciled", "--reason", "a test")
    check("Released" in text and "betting-refund" in text, text)
    equal(wallet.ctl_json("status")["held_dealers"], 1, "one is released")
    equal(wallet.ctl_run("release", "seam").returncode, 1, "it is not held any more")
    # Keys wait for the operator's word, too.
    shown = wallet.ctl_json("dealer", "show", "seam")
    check(shown["keys_restored_ms"], "keys of a restore")
    equal([shown[name] for name in ("duplicate_ids", "success_needs_balance", "send_currency")],
          ["TWICE,E-409", True, True], "settings")
    wallet.ctl("dealer", "key-confirm", "seam")
    wallet.ctl("client", "key-confirm", "slots")
    equal(wallet.ctl_json("dealer", "show", "seam")["keys_restored_ms"], 0, "confirmed")
    actions = [row["action"] for row in wallet.ctl_json("audit", "--limit", "3")["audit"]]
    equal(actions, ["client key-confirm", "dealer key-confirm", "release"], "the trail")
    # An operator can hold a dealer at any time.
    wallet.ctl("dealer", "hold", "seam", "--reason", "a test")
    refusal, _ = link.claim(refund["event"])
    equal(refusal, "dealer_busy", "a claim after dealer hold")
    wallet.ctl("release", "--yes", "--unreconciled", "--reason", "a test")
    equal(wallet.ctl_json("status")["held_dealers"], 0, "all are released")


def case_callbacks_go_on():
    """A refund that was due waits for the operator, and is sent by the other installation then."""
    path, _ = exported("--with-keys")
    with other() as wallet:
        done = imported(wallet, path)
        wallet.start()
        due = wallet.ctl_json("callback", "list", "--casino", "seam", "--state", "due")["callbacks"]
        refund = next(row for row in due if row["kind"] == "betting-refund")
        with Worker(wallet.sockets / "edge.sock") as link:
            def claimed():
                refusal, grant = link.claim(refund["event"])
                return grant if not refusal else None
            held_until_released(wallet, link, refund)
            grant = cb.wait_until(claimed, 30, "the refund can be claimed")
            link.end(grant, "seam", SUCCESS, status=200)
            made = link.place("slots", "demo", "alice", "new", 1)
        equal(wallet.ctl_json("callback", "show", refund["event"])["state"], "delivered", "sent")
        check(made.transaction_id >= done["first_id"], "the numbers were raised")
        bet = wallet.ctl_json("bet", "show", made.transaction_id)
        equal(bet["bet"]["state"], "accepted", "and bets go on")
        checked(wallet)


def case_without_keys():
    path, report = exported()
    with other() as wallet:
        text = wallet.ctl("import", path)
        for word in ("dealer key-add demo", "dealer key-add seam", "client key-add slots",
                     "New ids of transactions and events begin", "The last movement that it holds is transaction "
                     f"{report['last_transaction_id']} at "):
            check(word in text, f"{word}: {text}")
        check("key-add gone" not in text, "a game server that was removed needs none")
        wallet.start()
        equal(checked(wallet), checked(WALLET), "the same figures")
        equal(wallet.ctl_json("dealer", "show", "demo")["keys"], [], "no keys")
        key = wallet.ctl_json("dealer", "key-add", "demo")
        equal(key["key_id"], "k3", "an id is not used again")
        shown = wallet.ctl_json("dealer", "show", "demo")
        equal(shown["signing_key_id"], "k3", "the only key signs")
        equal(wallet.ctl_json("dealer", "key-add", "demo")["key_id"], "k4", "a second one ...")
        equal(wallet.ctl_json("dealer", "show", "demo")["signing_key_id"], "k3", "... does not")
        with cb.Lighttpd(wallet) as server:
            dealer = cb.Dealer("demo", key["key"], "transfer") if hasattr(cb, "Dealer") else \
                DEMO._replace(key=key["key"])
            body = {"user_id": "alice", "request_timestamp": cb.now_ms()}
            equal(cb.call(server, "POST", cb.BALANCE, dealer=dealer, body=body).status, 200,
                  "the new key")
            equal(cb.call(server, "POST", cb.BALANCE, dealer=DEMO, body=body).status, 401,
                  "the old one")
    with other() as wallet:
        missing = imported(wallet, path)["keys_missing"]
        equal(missing, {"dealers": ["demo", "seam"], "clients": ["slots"]}, "which")


def case_offline():
    """The state of a ledger that does not run; and the export is noted there."""
    with other("cboffline", start=True) as wallet:
        world(wallet)
        done = wallet.ctl_run("export", "--offline", WALLET.dir / new("offline"))
        check(done.returncode == 75 and "a ledger runs" in done.stderr, done.stderr)
        live, _ = exported("--with-keys", wallet=wallet)
        before = checked(wallet)
        wallet.stop()
        none = WALLET.dir / new("offline")
        equal(wallet.ctl_run("export", none).returncode, 69, "without --offline a ledger is needed")
        check(not none.exists(), "no file of a failure")
        path, report = exported("--with-keys", "--offline", wallet=wallet)
        differs = {row["record"] for row in lines_of(path) + lines_of(live)
                   if row not in lines_of(path) or row not in lines_of(live)}
        check(differs <= {"export", "end", "counter", "audit", "operation"},
              f"as the other one: {differs}")
        wallet.start()
        deed = wallet.ctl_json("audit", "--limit", "1")["audit"][0]
        equal((deed["action"], deed["detail"]), ("export", "keys=yes"), "the trail")
        with other() as there:
            equal(imported(there, path)["rows"], report["rows"], "it can be imported")
            there.start()
            equal(checked(there), before, "the same figures")


def untouched(wallet):
    """The state is as `init` left it: a ledger starts on it, and it is empty."""
    equal(sorted(p.name for p in wallet.state.iterdir() if p.name != "lock"),
          ["db", "identity", "installation"], "what is in the state directory")
    equal(list((wallet.state / "db").iterdir()), [], "no data")


def sealed(lines):
    """The lines, with a last one that fits them."""
    text = "".join(line + "\n" for line in lines[:-1]).encode()
    tail = json.loads(lines[-1])
    records = [json.loads(line)["record"] for line in lines[1:-1]]
    tail["rows"] = len(records)
    tail["counts"] = {name: records.count(name) for name in tail["counts"]}
    tail["sha256"] = hashlib.sha256(text).hexdigest()
    return text + json.dumps(tail).encode() + b"\n"


# Members that schema 3 added.
SINCE_SCHEMA_3 = {
    "round": ("revision", "current_result", "current_payout", "shortfall", "last_event"),
    "bet": ("cancelled",),
    "callback": ("revision", "known_to_dealer", "shortfall", "resent_ms", "adjusted_by",
                 "path", "maybe_performed", "parked_ms", "replay"),
    "request": ("all",),
    "dealer": ("send_currency", "success_needs_balance", "path_betting_correction",
               "duplicate_ids", "exam_passed", "exam_failed", "exam_not_judged", "exam_ms",
               "days_from_ms"),
    "total": ("corrected", "cancelled", "shortfall", "seamless_staked", "seamless_paid",
              "seamless_refunded", "owed_payouts", "owed_refunds", "bets_with_balance",
              "bets_without_balance"),
    "lifetime": ("staked",),
    "audit": ("operator",),
}


# Kinds of rows that a schema added. An import makes them from other rows; of dealer_move, an older file has none.
MADE_SINCE = (("aside", 4), ("game_player", 5), ("player_bet", 5), ("dealer_move", 6))


def as_schema(schema, lines):
    """The lines as a program of schema 3, 4 or 5 wrote them."""
    later = [kind for kind, since in MADE_SINCE if since > schema]
    rows = [row for row in map(json.loads, lines) if row["record"] not in later]
    rows[0]["schema"] = schema
    for kind in later:
        del rows[-1]["counts"][kind]
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def as_before(lines):
    """The lines as a program of schema 1 wrote them, whose rounds had no list of their bets."""
    rows = [json.loads(line) for line in as_schema(3, lines)]
    rows[0]["schema"] = 1
    for name in ("correction", "cancellation", "result_batch", "desk_operator", "replay", "dealer_day", "answer",
                 "retired_digest"):
        del rows[-1]["counts"][name]
    rows = [row for row in rows if row["record"] not in ("dealer_day", "retired_digest")]
    for row in rows:
        for member in SINCE_SCHEMA_3.get(row["record"], ()):
            del row[member]
    staked = {}
    for row in rows:
        if row["record"] == "bet":
            game = (row["player_id"], row["game_id"])
            staked[game] = staked.get(game, Decimal(0)) + Decimal(row["bet_amount"])
    for row in rows:
        if row["record"] == "round":
            for name in ("listed", "objects_len", "refunded"):
                del row[name]
            # It counted what was rejected, too.
            row["staked"] = str(staked[(row["player_id"], row["game_id"])])
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def case_older():
    """The sums that schema 3 added are computed at the import."""
    with cb.Instance("cbolder", settings=SETTINGS) as source:
        world(source, old=True)
        path = source.dir / "export"
        report = source.ctl_json("export", path, "--with-keys")
        before = checked(source)
        older = WALLET.dir / "older"
        older.write_bytes(sealed(as_before(path.read_text().splitlines())))
    with other() as wallet:
        made = sum(report["counts"][kind] for kind in ("dealer_day", "retired_digest",
                                                       *(kind for kind, _ in MADE_SINCE)))
        equal(imported(wallet, older)["rows"], report["rows"] - made, "all rows")
        check(report["counts"]["retired_digest"] > 0, "a client was removed: its keys are made from the audit")
        wallet.start()
        # The sums of days begin after the upgrade.
        before = re.sub(r'"days":\d+,', '"days":0,', before)
        equal(checked(wallet), before, "check --json, byte for byte")


def import_of_schema(schema):
    """The rows that later schemas added are made at the import."""
    path, report = exported("--with-keys")
    check(report["counts"]["aside"] > 0, "a callback is held")
    check(report["counts"]["game_player"] > 5, "there are rounds")
    older = WALLET.dir / f"schema-{schema}"
    older.write_bytes(sealed(as_schema(schema, path.read_text().splitlines())))
    made = sum(report["counts"][kind] for kind, since in MADE_SINCE if since > schema)
    with other() as wallet:
        equal(imported(wallet, older)["rows"], report["rows"] - made, "all rows")
        wallet.start()
        held = wallet.ctl_json("callback", "list", "--casino", "seam", "--state", "held")["callbacks"]
        equal([row["game_id"] for row in held], ["s-5"], "held callbacks")
        checked(wallet)
        counts = wallet.ctl_json("export", wallet.dir / "again", "--with-keys")["counts"]
        equal([counts[kind] for kind, _ in MADE_SINCE], [report["counts"][kind] for kind, _ in MADE_SINCE],
              "rows that were made")


def case_schema_3():
    """See import_of_schema()."""
    import_of_schema(3)


def case_schema_4():
    """See import_of_schema()."""
    import_of_schema(4)


def case_schema_5():
    """See import_of_schema()."""
    import_of_schema(5)


def edited(lines, change, **where):
    """The lines with change(row) in place of the first row that has the members @where; None: gone."""
    for i, line in enumerate(lines[1:-1], 1):
        row = json.loads(line)
        if all(row.get(name) == value for name, value in where.items()):
            rows = change(row)
            rows = [] if rows is None else rows if isinstance(rows, list) else [rows]
            return [*lines[:i], *(json.dumps(row) for row in rows), *lines[i + 1:]]
    raise AssertionError(f"no row {where}")


def with_members(**members):
    return lambda row: {**row, **members}


def forgeries():
    """What no command makes: (change, members of the row, what the refusal says)."""
    def cut(row):
        return {**row, "keys": [{**row["keys"][0], "secret": "abc"}, *row["keys"][1:]]}
    settled, open_round = {"record": "round", "game_id": "g-1"}, {"record": "round", "game_id": "s-3"}
    bet, pending = {"record": "bet", "game_id": "g-1"}, {"record": "bet", "game_id": "s-3"}
    alice = {"record": "player", "casino_id": "demo", "user_id": "alice"}
    moved = {"record": "transaction", "kind": "transfer_in"}
    demo, seam = ({"record": "dealer", "casino_id": name} for name in ("demo", "seam"))
    callback = {"record": "callback", "kind": "betting_result"}
    return (
        (with_members(bets=2000), settled, "counts 2000 bets"),
        (with_members(bets=2**31), settled, "round PLAYER g-1: bets is 2147483648 and must be"),
        (with_members(bets=2000, listed={"hex": "".join(f"{2 * n:08x}" for n in range(1, 2001))}),
         settled, "round PLAYER g-1: listed must hold at most 256 numbers of bets"),
        (with_members(listed={"hex": "00000004"}), settled, "listed must hold"),
        (with_members(bets=0), open_round, "bets"),
        (with_members(balance="1.00"), alice, "the rows do not agree: "),
        (with_members(balance="-1.00"), alice, "balance is -1 and must be 0 or more"),
        (with_members(balance="100000000000"), alice, "at most 99999999999.9999"),
        (lambda row: None, settled, "the rows do not agree: round "),
        (lambda row: None, alice, "the rows do not agree: "),
        (lambda row: [row, row], {"record": "request", "request_transaction_id": "in-1"},
         "second append of a request row"),
        (with_members(value=3), {"record": "counter", "name": "event"}, "below the rows"),
        (with_members(value=1), {"record": "counter", "name": "audit"}, "last row of the audit"),
        (with_members(value=2**53 - 1), {"record": "counter", "name": "audit"}, "last row of the audit"),
        (with_members(value=1), {"record": "counter", "name": "dealers"}, "there are 2 dealers"),
        (with_members(value=2**53), {"record": "counter", "name": "transaction_id"}, "value is "),
        (with_members(refund_dropped=True), {"record": "bet", "game_id": "s-3"},
         "there is no betting-refund"),
        (with_members(dropped=True), {"record": "bet", "game_id": "s-3"}, "only of settled bets"),
        (with_members(dropped=True), {"record": "round", "game_id": "s-3"},
         "only of settled rounds"),
        (with_members(user_id=""), alice, "user_id must be 1 to 128 bytes"),
        (with_members(user_id="a" * 129), alice, "user_id must be shorter"),
        (with_members(user_id="a\nb"), alice, "without control characters"),
        (with_members(casino_id="a b"), demo, "casino_id must be 1 to 64 of"),
        (with_members(player_id="A" * 20), alice, "20 lower-case base32 characters"),
        (with_members(state="settled"), pending, "the rows do not agree: "),
        (with_members(state="accepted"), bet, "the rows do not agree: "),
        (with_members(state="gone"), bet, "state must be one of its names"),
        (with_members(bet_amount="-1"), bet, "bet_amount is -1 and must be above 0"),
        (with_members(casino_id="nobody"), alice, "the rows do not agree: "),
        (with_members(casino_id="nobody"), bet, "another dealer than its round"),
        (with_members(client_id="nobody"), settled, "the rows do not agree: "),
        (cut, demo, "key k1: a key is 64 hex characters"),
        (with_members(signing_key_id="k9"), demo, "signing_key_id k9 is none of its keys"),
        (with_members(keys_issued=0), demo, "keys_issued"),
        (lambda row: {**row, "keys": [row["keys"][0], {**row["keys"][1], "secret":
                                                      row["keys"][0]["secret"]}]},
         demo, "dealer demo has a key of dealer demo"),
        (with_members(currency="T"), demo, "currency must be"),
        (with_members(decimals=5), demo, "decimals must be 0 to 4"),
        (with_members(max_inflight=0), seam, "max inflight must be"),
        (with_members(url="ftp://x/"), seam, "url must be https"),
        (with_members(path_betting="/../x"), seam, "a callback's path is"),
        (with_members(time_ms=-1), moved, "time_ms is no time"),
        (with_members(previous=0), {"record": "transaction", "kind": "transfer_out"},
         "the rows do not agree: "),
        (with_members(amount="5.00"), moved, "the rows do not agree: "),
        (with_members(transaction_id=str(2**53)), moved, "transaction_id is 9007199254740992"),
        (with_members(staked="1.0000"), {"record": "total", "casino_id": "demo"}, "the rows do not"),
        (with_members(open_bets=99), {"record": "total", "casino_id": "seam"}, "the rows do not"),
        (with_members(attempts=7), {"record": "callback", "game_id": "s-2", "kind": "betting"},
         "the rows do not agree: "),
        (lambda row: None, {"record": "due"}, "the rows do not agree: "),
        (lambda row: None, {"record": "aside"}, "is parked or held, and has no row aside"),
        (with_members(held=False), {"record": "aside"}, "has a row aside of another state"),
        (lambda row: [row, {**row, "event": row["event"] + 1}], {"record": "aside"},
         "has a row aside, and is neither parked nor held"),
        (lambda row: None, {"record": "game_player", "game_id": "g-1"}, "round PLAYER/g-1 is not found by its game"),
        (with_members(transaction_id="1"), {"record": "game_player", "game_id": "g-1"},
         "round PLAYER/g-1 is found by its game with transaction 1"),
        (lambda row: [row, {**row, "game_id": "g-1-no"}], {"record": "game_player", "game_id": "g-1"},
         "to bet PLAYER/g-1-no/1, which is not there"),
        (lambda row: [row, {**row, "game_id": "g-1-no", "transaction_id": str(2**53 - 1)}],
         {"record": "game_player", "game_id": "g-1"}, "which was never given out"),
        (lambda row: None, {"record": "player_bet", "game_id": "g-1"}, "bet PLAYER/g-1/1 is not found by its time"),
        (with_members(bet_number=2), {"record": "player_bet", "game_id": "g-1"},
         "bet PLAYER/g-1/1 is not found by its time"),
        (lambda row: [row, {**row, "transaction_id": str(int(row["transaction_id"]) + 1)}],
         {"record": "player_bet", "game_id": "g-1"}, "to bet PLAYER/g-1/1, which is not there"),
        (lambda row: None, {"record": "callback_body"}, "the rows do not agree: "),
        (with_members(event=99999), {"record": "attempt"}, "the rows do not agree: "),
        (lambda row: {**row, "sums": {**row["sums"], "bet_count": 77}}, {"record": "lifetime"},
         "the rows do not agree: "),
    )


def case_forged():
    """Rows that the ledger's commands cannot have made are refused, whether they are wrong by
    themselves or beside others."""
    path, _ = exported("--with-keys")
    lines = path.read_text().splitlines()
    player = next(json.loads(line)["player_id"] for line in lines if '"game_id":"g-1"' in line)
    with other() as wallet:
        for change, where, why in forgeries():
            bad = WALLET.dir / new("forged")
            bad.write_bytes(sealed(edited(lines, change, **where)))
            error = imported(wallet, bad, code=1)["error"]
            equal(error["id"], "bad_file", f"{where}: {error}")
            check(why.replace("PLAYER", player) in error["detail"], f"{where} {why}: {error}")
            untouched(wallet)
        equal(imported(wallet, path)["rows"], len(lines) - 2, "and the true one is taken")


NUMBERS = (0, 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1)
TEXTS = ("", "0.00", "-1.00", "99999999999.9999", "1.00", str(2**63 - 1), "k1", "alice", "demo", "seam",
         "settled", "accepted", "delivered")


def mutated(chance, value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((*NUMBERS, value + 1, max(0, value - 1), value * 2))
    if isinstance(value, str):
        return chance.choice((*TEXTS, value + "x", value[:-1], value * 200))
    if isinstance(value, list) and value:
        return value[1:] + value[:1]
    if isinstance(value, dict) and value:
        name = chance.choice(list(value))
        return {**value, name: mutated(chance, value[name])}
    return value


def mutated_lines(chance, lines):
    lines = list(lines)
    for _ in range(chance.choice((1, 1, 1, 2))):
        place = chance.randrange(1, len(lines) - 1)
        row = json.loads(lines[place])
        name = chance.choice([name for name in row if name != "record"])
        lines[place] = json.dumps({**row, name: mutated(chance, row[name])})
        if chance.random() < 0.1:
            del lines[place]
    return lines


def case_mutated():
    """Whatever a row is changed to: it is refused, or the proof of the running ledger finds no fault."""
    seed = int(os.environ.get("CB_SEED") or random.randrange(2**32))
    chance, accepted = random.Random(seed), 0
    path, _ = exported("--with-keys")
    lines = path.read_text().splitlines()
    files = int(os.environ.get("CB_FILES", "10"))
    with other() as wallet:
        for number in range(files):
            bad = WALLET.dir / "mutated"
            changed = mutated_lines(chance, lines)
            bad.write_bytes(sealed(changed))
            done = wallet.ctl_run("--json", "import", bad)
            which = f"CB_SEED={seed}, file {number}: {[row for row in changed if row not in lines]}: "
            if done.returncode:
                equal((done.returncode, json.loads(done.stdout)["error"]["id"]), (1, "bad_file"),
                      f"{which}{done.stdout}{done.stderr}")
                continue
            accepted += 1
            wallet.start()
            check(wallet.ctl_run("check").returncode == 0, which + wallet.ctl_run("check").stdout)
            wallet.stop()
            shutil.rmtree(wallet.state)
    print(f"# CB_SEED={seed}: {accepted} of {files} files are accepted")


def case_bad_files():
    path, _ = exported("--with-keys")
    data = path.read_bytes()
    lines = data.decode().splitlines()
    place = next(i for i, line in enumerate(lines)
                 if '"record":"transaction"' in line and '"kind":"transfer_in"' in line)

    def with_line(line, at=place):
        return sealed([*lines[:at], line, *lines[at + 1:]])
    entry = json.loads(lines[place])
    files = [
        (b"", ":1: it does not begin as an export"),
        (b"hello\n", ":1: it is no object of JSON"),
        (data[:-1], ":" + str(len(lines)) + ": the line has no end"),
        (data[:len(data) // 2].rpartition(b"\n")[0] + b"\n", "cut off"),
        (data.replace(b'"amount":"123.4567"', b'"amount":"123.4568"'), "the SHA-256 is another one"),
        (data + b"{}\n", "does not name its record"),
        (data + data.splitlines(True)[1], "something follows the end"),
        (with_line(lines[place].replace('"kind":"transfer_in"', '"kind":"gift"')), "kind must be"),
        (with_line(json.dumps({**entry, "more": 1})), "does not know"),
        (with_line(json.dumps({k: v for k, v in entry.items() if k != "entry_seq"})),
         "entry_seq is missing"),
        (with_line(lines[place].replace('"transaction"', '"exit"', 1)), "not known"),
        (sealed([lines[0], *lines[2:-1], lines[1], lines[-1]]), "out of order"),
        (sealed([*lines[:place], lines[place], *lines[place:]]), "transaction row"),
        (data.replace(b'"version":1', b'"version":2', 1), "newer creditbridge"),
        (re.sub(rb'"last_event":(\d+)', rb'"last_event":\1,"x":1', data, count=1), "does not know"),
        (data.replace(b'"rows":', b'"rows":1', 1), "counts other rows"),
        (sealed([line if '"transaction_id","value"' not in line else
                 re.sub(r'"value":\d+', '"value":1', line) for line in lines]),
         "below the rows"),
    ]
    with other() as wallet:
        for data, why in files:
            bad = WALLET.dir / new("bad")
            bad.write_bytes(data)
            error = imported(wallet, bad, code=1)["error"]
            equal(error["id"], "bad_file", f"{why}: {error}")
            check(why in error["detail"], f"{why}: {error}")
            untouched(wallet)
            # A dry run does not find faults that only the data can show.
            found = why not in ("transaction row", "below the rows")
            equal("error" in imported(wallet, bad, "--dry-run", code=int(found)), found, why)
        done = wallet.ctl_run("import", WALLET.dir / "not there")
        check(done.returncode == 1 and "cannot open" in done.stderr, done.stderr)
        # And the good one, from standard input.
        done = subprocess.run(wallet.ctl_argv("--json", "import", "--dry-run", "-"),
                              stdin=path.open("rb"), capture_output=True, timeout=60 * cb.PATIENCE, check=False)
        equal((done.returncode, json.loads(done.stdout)["dry_run"]), (0, True), "--dry-run")
        untouched(wallet)
        done = subprocess.run(wallet.ctl_argv("import", "-"), stdin=path.open("rb"),
                              capture_output=True, timeout=60 * cb.PATIENCE, check=False)
        equal(done.returncode, 0, f"{done.stderr}")
        wallet.start()
        equal(checked(wallet), checked(WALLET), "the same figures")


def case_places():
    """Only into an empty state; an import that was killed leaves nothing that hinders the next."""
    path, report = exported("--with-keys")
    with other() as wallet:
        wallet.start()
        done = wallet.ctl_run("import", path)
        check(done.returncode == 75 and "a ledger runs" in done.stderr, done.stderr)
        wallet.stop()
        done = wallet.ctl_run("import", path)
        check(done.returncode == 78 and "already holds a ledger" in done.stderr, done.stderr)
        wallet.start()
        checked(wallet)
        wallet.stop()
        # An empty directory, and none at all.
        for make in (True, False):
            shutil.rmtree(wallet.state)
            if make:
                wallet.state.mkdir(mode=0o700)
            equal(imported(wallet, path)["rows"], report["rows"], "into nothing")
        wallet.start()
        equal(checked(wallet), checked(WALLET), "the same figures")
        wallet.stop()
        # Killed in the middle: the file's end does not come.
        shutil.rmtree(wallet.state)
        feeder, end = os.pipe()
        process = subprocess.Popen(wallet.ctl_argv("import", "-"), stdin=feeder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        os.close(feeder)
        with os.fdopen(end, "wb") as pipe:
            pipe.write(path.read_bytes()[:-200])
            pipe.flush()
            cb.wait_until((wallet.state / "restoring").exists, 20, "the import is under way")
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for pid in (int(word) for word in children.read_text().split()):
                os.kill(pid, 9)
            process.wait(20)
        equal(process.returncode, 1, "reported")
        check("nothing was imported" in process.stderr.read().decode(), "what became of it")
        process.stderr.close()
        wallet.ledger_start()
        equal(wallet.ledger.process.wait(20), 78, "no ledger starts on it")
        check("was interrupted" in wallet.ledger.log_tail(), wallet.ledger.log_tail())
        equal(imported(wallet, path)["rows"], report["rows"], "again")
        wallet.start()
        equal(checked(wallet), checked(WALLET), "the same figures")


def case_root():
    """Root reads and writes files where the ledger's user cannot, and leaves that user the rest."""
    if not WALLET.user:
        raise cb.Skip("only root can become another user")
    path, report = exported("--with-keys")
    uid = pwd.getpwnam(WALLET.user).pw_uid
    with other() as wallet:
        shutil.rmtree(wallet.state)
        # An import cannot make a directory in one of root's: root makes it for the user.
        equal(imported(wallet, path, "--user", WALLET.user)["rows"], report["rows"], "imported")
        for place in (wallet.state, wallet.state / "db", wallet.state / "db" / "transaction.db"):
            equal(place.stat().st_uid, uid, f"owner of {place}")
        shutil.chown(wallet.sockets, WALLET.user)
        # The build directory may lie where that user cannot reach it.
        program = shutil.copy(cb.find_program("creditbridge-ledger"), wallet.dir / "bin")
        wallet.ledger = cb.Child([program, "--config", wallet.config],
                                 wallet.logs / "ledger.log", user=WALLET.user)
        wallet.ledger.wait_ready(wallet.answering, 20, "the ledger's first answer")
        equal(checked(wallet), checked(WALLET), "the same figures")
        closed = WALLET.dir / "closed"
        closed.mkdir(mode=0o700)
        again = closed / "again"
        equal(wallet.ctl_json("export", again)["counts"]["transaction"],
              report["counts"]["transaction"],
              "exported")
        equal((again.stat().st_uid, stat.S_IMODE(again.stat().st_mode)), (0, 0o600), "root's own")
        equal(wallet.ctl_run("export", again).returncode, 1, "it is there already")
        wallet.stop()
        equal(wallet.ctl_json("export", "--offline", closed / "offline")["counts"]["transaction"],
              report["counts"]["transaction"], "and offline")
        equal({p.stat().st_uid for p in (wallet.state / "db").iterdir()}, {uid}, "still the user's")


def on_bad_disk(wallet, fault, place, *words):
    """Runs creditbridgectl while the disk below @place fails as @fault says
    (tests/fault/shim.c)."""
    control = WALLET.dir / "fault"
    control.write_text(fault)
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    env = dict(os.environ, LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "shim.so"),
               FAULT_STATE=str(place), FAULT_CONTROL=str(control), ASAN_OPTIONS=sanitizer)
    done = subprocess.run(wallet.ctl_argv(*words), capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                          env=env, check=False)
    control.unlink()
    return done


def case_bad_disk():
    """A disk that fails or is full is reported, no half of a file is left, and the next try
    succeeds."""
    path, report = exported("--with-keys")
    faults = (("sync EIO\n", "the disk failed: ", "Input/output error"),
              ("write ENOSPC GROW\n", "disk is full", "No space left"))
    for fault, words, copying in faults:
        with other() as wallet:
            done = on_bad_disk(wallet, fault, wallet.state, "import", path)
            check(done.returncode == 1 and words in done.stderr, f"{fault}: {done}")
            wallet.ledger_start()
            if wallet.ledger.process.poll() is None and not (wallet.state / "restoring").exists():
                wallet.stop()
            else:
                equal(wallet.ledger.process.wait(20), 78, "no ledger starts on a part of it")
            shutil.rmtree(wallet.state)
            equal(imported(wallet, path)["rows"], report["rows"], "the next try")
        done = on_bad_disk(WALLET, fault, WALLET.state, "export", WALLET.dir / new("none"))
        check(done.returncode == 1 and copying in done.stderr, f"{fault}: {done}")
        check(not (WALLET.state / "export").exists(), "nothing is left there")
    place = WALLET.dir / "place"
    place.mkdir()
    done = on_bad_disk(WALLET, "sync EIO\n", place, "export", place / "out")
    check(done.returncode == 1 and "Input/output error" in done.stderr, f"{done}")
    equal(list(place.iterdir()), [], "no file of a failure")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(WALLET.ctl_argv("export"), stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=60 * cb.PATIENCE, check=False)
    check(done.returncode == 1 and "No space left" in done.stderr, f"{done}")
    exported()


# -- under load, and many

class Load:
    """Transfers, bets and results as fast as they go, until it is stopped."""

    def __init__(self, wallet, players=20, threads=2):
        self.wallet = wallet
        self.stopped = threading.Event()
        self.done = [0] * threads
        for number in range(players):
            wallet.player_add("demo", f"load-{number}")
        self.threads = [threading.Thread(target=self.play, args=(i, players))
                        for i in range(threads)]
        for thread in self.threads:
            thread.start()

    def play(self, thread, players):
        path = self.wallet.sockets / "edge.sock"
        with Operator(path) as link, Worker(path) as worker:
            while not self.stopped.is_set():
                number = self.done[thread] = self.done[thread] + 1
                user, key = f"load-{number % players}", f"{os.getpid()}-{thread}-{number}"
                link.transfer("demo", user, 50000, f"in-{key}")
                link.transfer("demo", user, -10000, f"out-{key}")
                game = f"game-{key}"
                worker.place("slots", "demo", user, game, 1)
                worker.settle("slots", "demo", user, game, WIN if number % 2 else LOSS,
                              number % 2 * 2)

    def total(self):
        return sum(self.done)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def case_under_load():
    """An export has the rows of one moment: the proof finds nothing in it, whatever changed
    meanwhile."""
    with Load(WALLET) as load:
        for _ in range(2):
            begun = load.total()
            path, report = exported("--with-keys")
            equal(ctl_json("check")["ok"], True, "the ledger itself")
            check(load.total() > begun, "the load goes on")
            with other() as wallet:
                imported(wallet, path)
                wallet.start()
                result = json.loads(checked(wallet))
                equal((result["ok"], result["transactions"]),
                      (True, report["counts"]["transaction"]), "whole")
        print(f"# {load.total()} rounds of four commands meanwhile")


def case_two_at_once():
    """A second export while one is under way reports that, or succeeds."""
    paths = [WALLET.dir / new("twice") for _ in range(3)]
    processes = [subprocess.Popen(WALLET.ctl_argv("export", path), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) for path in paths]
    codes = [process.wait(60) for process in processes]
    errors = [process.stderr.read().decode() for process in processes]
    for process in processes:
        process.stderr.close()
    check(0 in codes and set(codes) <= {0, 75}, f"{codes} {errors}")
    for code, path in zip(codes, paths):
        equal(path.exists(), code == 0, "a file, or none")
    # The remains of an export that was killed do no harm.
    (WALLET.state / "export" / "db").mkdir(parents=True)
    (WALLET.state / "export" / "db" / "transaction.db").write_text("half of it")
    exported()
    check(not (WALLET.state / "export").exists(), "it is gone")


def long_run(wallet, *words):
    """What creditbridgectl prints, however long it takes."""
    done = subprocess.run(wallet.ctl_argv(*words), capture_output=True, text=True, timeout=900 * cb.PATIENCE,
                          check=False)
    equal(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


def many(count):
    """The issue's: export of @count movements, import elsewhere, equal figures."""
    with cb.Instance("cbmany") as wallet:
        wallet.dealer_add("demo")
        players = 100
        for number in range(players):
            wallet.player_add("demo", f"p{number}")
        begun = time.monotonic()
        clients = 8

        def move(client):
            with Operator(wallet.sockets / "edge.sock") as link:
                for number in range(client, count, clients):
                    units = 10000 if number // players % 3 else 30000
                    if number // players % 3 == 2:
                        units = -5000
                    equal(link.transfer("demo", f"p{number % players}", units, f"t-{number}"), 0,
                          "a transfer")
        threads = [threading.Thread(target=move, args=(i,)) for i in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        moved = time.monotonic()
        path = wallet.dir / "export"
        report = json.loads(long_run(wallet, "--json", "export", path))
        wrote = time.monotonic()
        equal(report["counts"]["transaction"], count, "movements")
        with cb.Instance("cbthere", start=False) as there:
            done = long_run(there, "import", path)
            read = time.monotonic()
            check("dealer key-add demo" in done, done)
            there.start()
            equal(long_run(there, "check", "--json"), long_run(wallet, "check", "--json"),
                  "check --json, byte for byte")
        print(f"# {count} movements: made in {moved - begun:.1f} s, exported in "
              f"{wrote - moved:.1f} s ({path.stat().st_size >> 20} MiB), imported in "
              f"{read - wrote:.1f} s, checked in {time.monotonic() - read:.1f} s")


CASES = [
    ("export", case_export),
    ("export --with-keys", case_keys),
    ("import: the same figures, and it goes on", case_round_trip),
    ("import: callbacks that were due are sent", case_callbacks_go_on),
    ("import without keys", case_without_keys),
    ("export --offline", case_offline),
    ("import: rows of an older program", case_older),
    ("import: rows of schema 3", case_schema_3),
    ("import: rows of schema 4", case_schema_4),
    ("import: rows of schema 5", case_schema_5),
    ("import: bad files", case_bad_files),
    ("import: forged rows", case_forged),
    ("import: mutated rows", case_mutated),
    ("import: only into an empty state", case_places),
    ("export and import as root", case_root),
    ("export and import on a bad disk", case_bad_disk),
    ("export under load", case_under_load),
    ("exports at the same time", case_two_at_once),
    ("export of 1,500 movements", lambda: many(1500)),
]
DEMO = None


def main():
    global WALLET, DEMO, ctl, ctl_json, refused
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--movements", type=int)
    options = parser.parse_args()
    if options.movements:
        return cb.run_cases([(f"export of {options.movements} movements",
                              lambda: many(options.movements))], seconds=3600)
    with cb.Instance("cbexport", settings=SETTINGS) as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        DEMO, _lost = world(WALLET)
        return cb.run_cases(CASES, seconds=180)


if __name__ == "__main__":
    sys.exit(main())
