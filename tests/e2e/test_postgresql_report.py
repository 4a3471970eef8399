#!/usr/bin/python3
"""The roles, tables and views that `creditbridgectl schema --sql` prints."""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_postgresql import Server  # noqa: E402
from cb_worker import WIN, Worker  # noqa: E402

LEDGER, READER = "credit_ledger", "analyst"
SERVER = WALLET = None


def sql(text, user="creditbridge"):
    return subprocess.run(["psql", "-qAtX", "-h", SERVER.directory, "-U", user, "-d", "books", "-v", "ON_ERROR_STOP=1",
                           "-c", text], capture_output=True, text=True, check=False)


def read(text, user=READER):
    done = sql(text, user)
    equal(done.returncode, 0, f"{text}: {done.stderr}")
    return done.stdout.strip()


def refused(text, user=READER):
    done = sql(text, user)
    check(done.returncode and "permission denied" in done.stderr, f"{text}: {done}")


def case_views():
    """Amounts, times, names and JSON as people read them."""
    equal(read("SELECT balance FROM report.player WHERE user_id = 'alice'"), "115.5000", "an amount")
    equal(read("SELECT pg_typeof(balance) || ' ' || pg_typeof(created_ms) FROM report.player LIMIT 1"),
          "numeric timestamp with time zone", "types")
    equal(read("SELECT mode FROM report.dealer"), "transfer", "a name")
    equal(read("SELECT count(*) FROM report.transaction WHERE time_ms > now() - interval '1 hour'"),
          read("SELECT count(*) FROM creditbridge.transaction", "creditbridge"), "transactions of an hour")
    # Every view can be read whole: no value breaks a cast.
    views = read("SELECT table_name FROM information_schema.views WHERE table_schema = 'report'").split()
    tables = read("SELECT tablename FROM pg_tables WHERE schemaname = 'creditbridge'", "creditbridge").split()
    equal(sorted(views), sorted(set(tables) - {"cell", "member"}), "views")
    for view in views:
        read(f"SELECT * FROM report.{view}")


def case_secrets():
    """No key in any view, and nothing but the views."""
    keys = set(read("SELECT keys_1_secret FROM creditbridge.dealer UNION SELECT keys_1_secret FROM creditbridge.client",
                    "creditbridge").split())
    check(len(keys) == 2 and all(len(key) > 20 for key in keys), "the keys")
    for view in read("SELECT table_name FROM information_schema.views WHERE table_schema = 'report'").split():
        text = read(f"SELECT row_to_json(v) FROM report.{view} v")
        check(not any(key in text for key in keys), f"a key in {view}")
        check("_secret" not in text, f"{view} has a secret")
    refused("SELECT * FROM creditbridge.dealer")
    refused("SELECT * FROM creditbridge.cell")


def case_no_writes():
    refused("INSERT INTO report.counter VALUES ('x', 1)")
    refused("UPDATE report.player SET user_id = 'bob'")
    refused("DELETE FROM report.total")
    refused("UPDATE creditbridge.player SET balance = 10000")
    refused("CREATE TABLE report.x (y int)")
    # The ledger's own role changes rows, and no table.
    for text in ("DROP TABLE creditbridge.player", "ALTER TABLE creditbridge.player ADD COLUMN x int"):
        done = sql(text, LEDGER)
        check(done.returncode and "must be owner" in done.stderr, f"{text}: {done}")
    refused("CREATE TABLE creditbridge.x (y int)", LEDGER)


def case_doctor():
    """These roles are those that doctor wants."""
    rows = [row for row in json.loads(WALLET.ctl_run("--json", "doctor").stdout)["findings"] if row["check"] == "store_roles"]
    equal([row["result"] for row in rows], ["PASS"], f"{rows}")


def run_statements(statements):
    done = subprocess.run(["psql", "-qX", "-h", SERVER.directory, "-U", "creditbridge", "-d", "books",
                           "-v", "ON_ERROR_STOP=1"], input=statements, capture_output=True, text=True, check=False)
    equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "the statements")


def refuses_start():
    done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", WALLET.config], capture_output=True,
                          text=True, timeout=60 * cb.PATIENCE, check=False)
    check(done.returncode and "schema --sql" in done.stderr, f"{done}")


def case_older_tables():
    """A ledger that may make no table does not serve tables of the version before. The statements add what they lack,
    and nothing that was lost."""
    statements = WALLET.ctl("schema", "--sql")
    WALLET.stop()
    for text in ("DROP VIEW report.dealer_move", "DROP TABLE creditbridge.dealer_move",
                 "UPDATE creditbridge.cell SET schema = 5"):
        equal(sql(text, "creditbridge").returncode, 0, text)
    refuses_start()
    equal(read("SELECT schema FROM creditbridge.cell", "creditbridge"), "5", "the older version may still serve")
    run_statements(statements)
    WALLET.start()
    equal(read("SELECT schema FROM creditbridge.cell", "creditbridge"), "6", "the schema")
    equal(WALLET.ctl_json("check")["ok"], True, "check")
    case_views()
    case_no_writes()
    run_statements(statements)
    equal(WALLET.ctl_json("check")["ok"], True, "check")
    WALLET.stop()
    equal(sql("DROP TABLE creditbridge.aside CASCADE", "creditbridge").returncode, 0, "a lost table")
    done = subprocess.run(["psql", "-qX", "-h", SERVER.directory, "-U", "creditbridge", "-d", "books",
                           "-v", "ON_ERROR_STOP=1"], input=statements, capture_output=True, text=True, check=False)
    check(done.returncode and 'relation "creditbridge.aside" does not exist' in done.stderr, f"{done}")


CASES = [
    ("views", case_views),
    ("secrets", case_secrets),
    ("no writes", case_no_writes),
    ("doctor", case_doctor),
    ("tables of the version before", case_older_tables),
]


def main():
    global SERVER, WALLET  # pylint: disable=global-statement
    SERVER = Server()
    SERVER.sql("CREATE DATABASE books")
    settings = {"store": "postgresql", "postgresql_hosts": SERVER.directory, "postgresql_database": "books",
                "postgresql_schema": "creditbridge", "postgresql_user": LEDGER, "postgresql_durability": "local"}
    with cb.Instance("pgreport", settings=settings, start=False) as WALLET:
        statements = WALLET.ctl("schema", "--sql")
        run_statements(statements)
        SERVER.sql(f"CREATE ROLE {READER} LOGIN IN ROLE creditbridge_report")
        WALLET.start()
        WALLET.dealer_add("demo")
        WALLET.ctl("client", "add", "slots")
        WALLET.player_add("demo", "alice")
        WALLET.ctl("player", "adjust", "demo", "alice", "100.50", "--reason", "a test")
        with Worker(WALLET.sockets / "edge.sock") as link:
            link.place("slots", "demo", "alice", "g-1", 10)
            link.settle("slots", "demo", "alice", "g-1", WIN, 25)
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
