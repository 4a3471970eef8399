#!/usr/bin/python3
"""The store on PostgreSQL, with real programs: data move there and back, and what only its own tools can do is refused.

Whole suites run on it with CB_STORE=postgresql (tests/BUDGET).
"""
import json
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_postgresql import Server  # noqa: E402
from cb_link import DONE, TRANSFER_IN_KIND, Closed, Link, request, transfer_payload  # noqa: E402
from cb_worker import WIN, Worker  # noqa: E402

FIGURES = ("ok", "players", "entries", "requests", "transactions", "rounds", "bets", "callbacks", "dealers")
SERVER = None


def play(wallet):
    """Rows of several kinds: transfers, a bet that is settled, and one that is open."""
    wallet.dealer_add("demo")
    wallet.ctl("client", "add", "slots")
    for user in ("alice", "bob"):
        wallet.player_add("demo", user)
        wallet.ctl("player", "adjust", "demo", user, "100.50", "--reason", "a test")
    with Worker(wallet.sockets / "edge.sock") as link:
        link.place("slots", "demo", "alice", "g-1", 10)
        link.settle("slots", "demo", "alice", "g-1", WIN, 25)
        link.place("slots", "demo", "bob", "g-2", 10)


def checked(wallet):
    return {name: value for name, value in wallet.ctl_json("check").items() if name in FIGURES}


def exported(wallet, name):
    wallet.stop()
    path = wallet.dir / name
    wallet.ctl("export", "--offline", str(path))
    return path


def rows_of(path, records):
    return sorted(json.dumps(row, sort_keys=True) for row in map(json.loads, path.read_text().splitlines())
                  if row.get("record") in records)


def case_there_and_back():
    settings = SERVER.settings()
    with cb.Instance("move-from") as first, cb.Instance("move-to", settings=settings, start=False) as second, \
            cb.Instance("move-back", start=False) as third:
        play(first)
        before = checked(first)
        one = exported(first, "one.jsonl")
        second.ctl("import", str(one))
        second.start()
        equal(checked(second), before, "check on PostgreSQL")
        equal(second.ctl_json("player", "show", "demo", "bob")["balance"], 90.5, "a balance")
        equal(int(SERVER.sql(f"SELECT count(*) FROM {settings['postgresql_schema']}.player").stdout), 2, "rows in SQL")
        two = exported(second, "two.jsonl")
        third.ctl("import", str(two))
        third.start()
        equal(checked(third), before, "check after the way back")
        moved = ("player", "transaction", "request", "total", "bet", "round")
        equal(rows_of(exported(third, "three.jsonl"), moved), rows_of(one, moved), "rows")


def check_imported(path, name):
    """An import of @path elsewhere: its figures."""
    with cb.Instance(name, start=False) as other:
        other.ctl("import", str(path))
        other.start()
        figures = checked(other)
        check(figures["ok"], f"{figures}")
        return figures


def case_running():
    """The export of a ledger that serves: all rows of one moment, while transfers go on."""
    with cb.Instance("running", settings=SERVER.settings()) as wallet:
        play(wallet)
        wallet.ctl("export", str(wallet.dir / "quiet.jsonl"))
        equal(check_imported(wallet.dir / "quiet.jsonl", "quiet"), checked(wallet), "figures")
        stop = threading.Event()
        load = threading.Thread(target=bets_until, args=(wallet, stop))
        load.start()
        try:
            for number in range(3):
                wallet.ctl("export", str(wallet.dir / f"{number}.jsonl"))
        finally:
            stop.set()
            load.join()
        moved = [len(rows_of(wallet.dir / f"{number}.jsonl", ("transaction",))) for number in range(3)]
        check(moved[0] < moved[1] < moved[2], f"transactions, while more are made: {moved}")
        check_imported(wallet.dir / "2.jsonl", "loaded")
        equal([row["action"] for row in wallet.ctl_json("audit", "--limit", "1")["audit"]], ["export"], "the audit")


def bets_until(wallet, stop):
    number = 0
    with Worker(wallet.sockets / "edge.sock") as link:
        while not stop.is_set():
            link.place("slots", "demo", "alice", f"load-{number}", 10)
            link.settle("slots", "demo", "alice", f"load-{number}", WIN, 10)
            number += 1


def sessions(server):
    """The sessions on @server that have begun to read and wait for the reader of the export."""
    return int(server.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
                          "AND state <> 'active' AND query LIKE 'SELECT \"%' AND xact_start IS NOT NULL").stdout)


def case_standby():
    """A standby is read if it has everything; otherwise the server that takes writes."""
    settings = SERVER.settings()
    standby = Server(SERVER)
    settings["postgresql_hosts"] = f"{SERVER.directory},{standby.directory}"
    with cb.Instance("standby", settings=settings) as wallet:
        play(wallet)
        with Worker(wallet.sockets / "edge.sock") as link:
            for number in range(200):
                link.place("slots", "demo", "alice", f"many-{number}", 10)
                link.settle("slots", "demo", "alice", f"many-{number}", WIN, 10)
        for paused, reader in ((False, standby), (True, SERVER)):
            if paused:
                standby.sql("SELECT pg_wal_replay_pause()")
                wallet.ctl("player", "adjust", "demo", "bob", "1", "--reason", "not replayed")
            # Nothing takes the lines, so the export stays in its transaction.
            with subprocess.Popen([str(cb.find_program("creditbridgectl")), "--config", str(wallet.config), "export"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as export:
                cb.wait_until(lambda: sessions(reader), seconds=30, what="the session")
                equal(sessions(SERVER if reader is standby else standby), 0, "others")
                lines, errors = export.communicate(timeout=60)
            equal(export.returncode, 0, errors)
            equal("not replayed" in lines, paused, "the newest row")
    standby.close()


def answer_before_end(link):
    """The frame that comes before the end of the connection; None if there is none."""
    try:
        return link.frame()
    except Closed:
        return None


def case_stop_in_doubt():
    """The ledger is stopped while a commit waits for a standby that is not there: it ends long before its patience, with
    exit code 0, and has not answered. The same call is then made once."""
    settings = SERVER.settings() | {"postgresql_patience_ms": 120000}
    with cb.Instance("doubt", settings=settings) as wallet:
        play(wallet)
        link = Link(wallet.sockets / "edge.sock")
        SERVER.sql("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        SERVER.sql("SELECT pg_reload_conf()")
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name"
        # The checkpointer makes the setting valid, some time after the signal: this commit waits from then on.
        SERVER.sql_until("SELECT pg_logical_emit_message(true, 'probe', '')", waiting + " = 'psql'")
        try:
            link.send(request("transfer", transfer_payload("demo", TRANSFER_IN_KIND, "once", "alice", 10000)))
            cb.wait_until(lambda: SERVER.sql(waiting + " <> 'psql'").stdout and "save_in_doubt" in (wallet.logs / "ledger.log").read_text(),
                          seconds=30, what="the commit in doubt")
            begun = time.monotonic()
            wallet.ledger.process.terminate()
            equal(wallet.ledger.process.wait(60), 0, "the exit code")
            check(time.monotonic() - begun < 30, "the end within the patience")
            equal(answer_before_end(link), None, "an answer that no standby has")
        finally:
            link.close()
            SERVER.sql("ALTER SYSTEM RESET synchronous_standby_names")
            SERVER.sql("SELECT pg_reload_conf()")
        wallet.start()
        with Link(wallet.sockets / "edge.sock") as again:
            for _ in range(2):
                equal(again.call("transfer", transfer_payload("demo", TRANSFER_IN_KIND, "once", "alice", 10000)).outcome, DONE,
                      "the call again")
        equal(wallet.ctl_json("player", "show", "demo", "alice")["balance"], 116.5, "the balance")


def case_refusals():
    settings = SERVER.settings()
    with cb.Instance("refused", settings=settings) as wallet, cb.Instance("other", settings=settings, start=False) as other:
        wallet.dealer_add("demo")
        done = wallet.ctl_run("backup", str(wallet.dir / "backup"))
        check(done.returncode == 75 and "its tools, such as pgBackRest" in done.stderr, done.stderr)
        done = wallet.ctl_run("restore", str(wallet.dir))
        check(done.returncode == 1 and "restore its data with its own tools" in done.stderr, done.stderr)
        path = exported(wallet, "one.jsonl")
        done = other.ctl_run("import", str(path))
        check(done.returncode == 78 and "has tables already" in done.stderr, f"{done}")
        # Another installation does not serve them either.
        other.ledger_start()
        other.ledger.process.wait(20)
        log = (other.logs / "ledger.log").read_text()
        check("belong to installation" in log, log)


def case_half_an_import():
    """The end of an import is one row: without it no ledger serves."""
    settings = SERVER.settings()
    with cb.Instance("half", settings=settings) as wallet:
        wallet.dealer_add("demo")
        wallet.stop()
        SERVER.sql(f"UPDATE {settings['postgresql_schema']}.cell SET state = 'filling'")
        wallet.ledger_start()
        wallet.ledger.process.wait(20)
        log = (wallet.logs / "ledger.log").read_text()
        check("an import into these tables did not end" in log, log)


CASES = [
    ("there and back", case_there_and_back),
    ("export of a running ledger", case_running),
    ("export from a standby", case_standby),
    ("a stop while a commit is in doubt", case_stop_in_doubt),
    ("refusals", case_refusals),
    ("half an import", case_half_an_import),
]


def main():
    global SERVER  # pylint: disable=global-statement
    SERVER = Server()
    return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
