#!/usr/bin/python3
"""What a transfer costs with the store on one PostgreSQL, beside Berkeley DB, in one run: make bench-store.

Calls of the ledger by its own socket, with the stores in turn in each round. Beside them, as a control, what the same
rows cost if each transfer is a transaction of its own with a round trip for each row (pgbench). With --import, how long an
import of so many movements takes. Both stores sync each commit to the disk. The figures are kept in
store.json in --out.
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

SRCDIR = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(SRCDIR / "bench"), str(SRCDIR / "tests" / "lib")]
import cb  # noqa: E402
import report  # noqa: E402
from cb_instance import temporary_directory  # noqa: E402
from cb_postgresql import Kept  # noqa: E402
from stands import ledger_load, state_fill  # noqa: E402

LEAST = 0.5  # of Berkeley DB's rate, at 64 connections
IMPORT_S = 60  # for a million movements
DEALER = "bench"
ENTRIES = 10  # movements of a player, for an import
# The rows of a transfer in, a statement for each, on tables like the ledger's own.
TABLES = ("request", "player", "total", "transaction", "counter")
ROWS = """\\set player random(0, {last})
\\set id random(1000000000, 9000000000000)
BEGIN;
SELECT * FROM control.request WHERE scope = 0 AND owner = 'bench' AND request_transaction_id = 'x' || :id::text;
SELECT * FROM control.player WHERE casino_id = 'bench' AND user_id = 'u' || :player::text;
UPDATE control.counter SET value = value + 1 WHERE name = 'transaction_id';
UPDATE control.total SET balance = balance + 10000, transferred_in = transferred_in + 10000 WHERE casino_id = 'bench';
UPDATE control.player SET balance = balance + 10000, entry_seq = entry_seq + 1
    WHERE casino_id = 'bench' AND user_id = 'u' || :player::text;
INSERT INTO control.transaction VALUES (:id, 'bench', 'abcdefghijklmnopqrst', 0, 0, '', 0, 1, 1, 10000, 0, 0, 0, 'x', '');
INSERT INTO control.request VALUES (0, 'bench', 'x' || :id::text, 0, 0, 10000, 'abcdefghijklmnopqrst', 1, 1, 0, 0, '', 0,
    false, false);
COMMIT;
"""


class Stand:
    """A ledger with players that have credit."""

    def __init__(self, store, players):
        self.database = None
        settings = {"log_level": "warning"}
        if store == "postgresql":
            folder = temporary_directory("bench-pg")
            (folder / "socket").mkdir()
            self.database = Kept(folder / "data", folder / "socket")
            self.database.start()
            settings |= self.database.settings()
        self.instance = cb.Instance(f"bench-{store}", settings=settings, start=False)
        if self.database:
            self.database.make_tables(self.instance.ctl("schema", "--sql"))
        self.instance.start()
        if players:
            self.instance.dealer_add(DEALER)
            ledger_load(self.instance, "fill", 64, DEALER, 0, players)

    def close(self):
        self.instance.close()
        if self.database:
            self.database.close()
            shutil.rmtree(self.database.sockets.parent, ignore_errors=True)


def make_control(database):
    statements = "CREATE SCHEMA control;"
    for name in TABLES:
        statements += (f"CREATE TABLE control.{name} (LIKE creditbridge.{name} INCLUDING ALL);"
                       f"INSERT INTO control.{name} SELECT * FROM creditbridge.{name};")
    done = database.psql("-c", statements)
    cb.check(not done.returncode, done.stderr)


def row_at_a_time(stand, connections, seconds, players):
    """Transfers a second by pgbench."""
    script = stand.instance.dir / "rows.sql"
    script.write_text(ROWS.format(last=players - 1))
    done = subprocess.run([stand.database.bin / "pgbench", "-n", "-M", "prepared", "-c", str(connections), "-j", "2",
                           "-T", str(seconds), "-f", script, "-h", stand.database.sockets, "-U", "creditbridge", "postgres"],
                          capture_output=True, text=True, check=False)
    cb.check(not done.returncode, done.stderr)
    return float(re.search(r"tps = ([\d.]+)", done.stdout)[1])


def measure(options):
    """{(name, connections): rates}, a rate for each round."""
    rates = {}
    stands = {store: Stand(store, options.players) for store in ("berkeleydb", "postgresql")}
    database = stands["postgresql"].database
    make_control(database)
    try:
        for number in range(options.rounds):
            for connections in (16, 64):
                for store, stand in stands.items():
                    row = ledger_load(stand.instance, "transfer", connections, DEALER, options.seconds, options.players,
                                      f"r{number}-{connections}")
                    rates.setdefault((store, connections), []).append(row["requests"] / row["seconds"])
                rates.setdefault(("row at a time", connections), []).append(
                    row_at_a_time(stands["postgresql"], connections, options.seconds, options.players))
    finally:
        for stand in stands.values():
            stand.close()
    return rates


def measure_import(movements):
    """Seconds of an import into PostgreSQL."""
    source = cb.Instance("bench-source")
    target = None
    try:
        source.dealer_add(DEALER)
        source.stop()
        state_fill(source, movements // ENTRIES, ENTRIES)
        path = source.dir / "all.jsonl"
        source.ctl("export", "--offline", "--with-keys", str(path), seconds=3600)
        target = Stand("postgresql", 0)
        target.instance.stop()
        # The ledger wrote its first rows there: the tables have to be empty.
        target.database.psql("-c", "DROP SCHEMA creditbridge CASCADE; DROP SCHEMA report CASCADE")
        target.database.make_tables(target.instance.ctl("schema", "--sql"))
        shutil.rmtree(target.instance.state)
        begun = time.monotonic()
        target.instance.ctl("import", str(path), seconds=3600)
        return time.monotonic() - begun
    finally:
        source.close()
        if target:
            target.close()


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="of each measurement")
    parser.add_argument("--players", type=int, default=2000)
    parser.add_argument("--import", dest="movements", type=int, help="only measure an import of so many movements")
    parser.add_argument("--judge", action="store_true", help="exit with 1 if a target is missed")
    report.add_out(parser)
    options = parser.parse_args()
    good = True
    if options.movements:
        took = measure_import(options.movements)
        result = {"movements": options.movements, "seconds": round(took, 1)}
        good = took <= IMPORT_S * options.movements / 10**6
        print(f"import of {options.movements} movements: {took:.1f} s")
        path = options.out / "store-import.json"
    else:
        rates = measure(options)
        result = {"rounds": options.rounds, "seconds": options.seconds, "rates": []}
        print(f"{'store':<15}{'connections':>12}{'transfers/s':>14}{'of Berkeley DB':>16}")
        for (name, connections), found in rates.items():
            part = statistics.median(ours / theirs for ours, theirs in zip(found, rates["berkeleydb", connections]))
            result["rates"].append({"store": name, "connections": connections, "of_berkeleydb": round(part, 3),
                                    "transfers_per_second": [round(rate) for rate in found]})
            print(f"{name:<15}{connections:>12}{statistics.median(found):>14.0f}{part:>16.2f}")
            good = good and (part >= LEAST or (name, connections) != ("postgresql", 64))
        path = options.out / "store.json"
    path.write_text(json.dumps({"command": sys.argv, **result}, indent=1) + "\n")
    return int(options.judge and not good)


if __name__ == "__main__":
    sys.exit(main())
