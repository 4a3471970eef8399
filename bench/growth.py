#!/usr/bin/python3
"""The cost of size: transfers in with more and more players, and with more and more movements.

Each of --sizes is a state with that many players and a movement for each. A further state has the players
of the first size and --entries movements. In each state, transfers in for random players are measured through
lighttpd, in turn with those of the first size, so that both see the same machine. The tables are read into
memory first, except with --cold. Then the ledger is killed with SIGKILL under load; the time until it answers
again is its recovery.

Prints a table and the targets, and writes growth.json into --out. Exits with 1 if an answer was an error,
with --judge also if a target is missed. With --states DIR the filled states are kept there and used again
(filling 10 million players takes four minutes and 8 GB); --fill only fills.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import statistics
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bars  # noqa: E402
from cells import Cell  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import FAILURES, Failure, Play, in_turn, ledger_answers, resident_kib  # noqa: E402
from packages import install  # noqa: E402
from report import add_out, aligned  # noqa: E402
from stands import Wallet, cb, ledger_load, setting  # noqa: E402
from wrk import add_eager_client  # noqa: E402

BYTES_A_PLAYER = 900  # of disk, with the player's first transaction; more than was seen
BYTES_AN_ENTRY = 700
LOG_BYTES = 2 << 30
CONNECTIONS = 64
KILLS = 3
KILL_AFTER_S = 3
RECOVERY_MAX_S = 300
MILLION = 1_000_000
MIB = 1 << 20
COLUMNS = (("players", "players", ",d"), ("movements", "movements", ",d"), ("req/s", "rate", ".0f"),
           ("of first", "of_smallest", ".2f"), ("p99 ms", "p99_ms", ".2f"),
           ("p99.9 ms", "p999_ms", ".2f"), ("ledger us", "ledger_us", ".0f"),
           ("resident MiB", "ledger_resident_mib", ".0f"), ("tables MiB", "tables_mib", ".0f"),
           ("table bytes/transfer", "table_bytes_a_transfer", ".0f"),
           ("log bytes/transfer", "log_bytes_a_transfer", ".0f"),
           ("read bytes/transfer", "read_bytes_a_transfer", ".0f"),
           ("recovery s", "recovery_s", ".2f"), ("longest wait s", "stall_s", ".2f"))

# @players with @entries movements each.
Size = collections.namedtuple("Size", "players entries")


def table_bytes(wallet):
    return sum(path.stat().st_size for path in (wallet.instance.state / "db").glob("*.db"))


def log_end(wallet):
    """Where the database's log ends, in bytes since its beginning."""
    newest = max((wallet.instance.state / "db").glob("log.*"))
    return int(newest.suffix[1:]) * 4 * MIB + newest.stat().st_size


def tables_read(wallet):
    """Once, so that they are in memory, as far as it holds them: of tables just filled, each of the
    first calls would read a page from the disk."""
    for path in sorted((wallet.instance.state / "db").glob("*.db")):
        with open(path, "rb", buffering=0) as table:
            while table.read(MIB):
                pass


def bytes_read(pid):
    """How much a process has read that was not in memory."""
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])


class Clocked(threading.Thread):
    """Kills the ledger's engine in a while, and measures until something is answered again."""

    def __init__(self, wallet):
        super().__init__()
        self.wallet = wallet
        self.took_s = None

    def run(self):
        time.sleep(KILL_AFTER_S)
        os.kill(self.wallet.instance.engine_pids()[-1], signal.SIGKILL)
        start = time.monotonic()
        cb.wait_until(lambda: ledger_answers(self.wallet.instance), RECOVERY_MAX_S,
                      "an answer after the kill", 0.001)
        self.took_s = time.monotonic() - start


def recoveries(wallet, players):
    """(longest recovery, longest wait of a caller) over some kills under 64 connections, which send
    again what was not answered."""
    recovery = stall = 0
    for number in range(KILLS):
        clocked = Clocked(wallet)
        clocked.start()
        row = ledger_load(wallet.instance, "transfer", CONNECTIONS, "bench", 2 * KILL_AFTER_S,
                          players, f"k{number}-{time.time_ns()}")
        clocked.join()
        if clocked.took_s is None:
            raise Failure("no recovery")
        recovery = max(recovery, clocked.took_s)
        stall = max(stall, row["max_ms"] / 1000)
    return recovery, stall


def fill(size, options):
    start = time.monotonic()
    state = options.states and options.states / f"{size.players}-{size.entries}"
    wallet = Wallet(size.players, ("lighttpd",), state=state, entries=size.entries,
                    settings=dict(options.set))
    print(f"# {size.players:,} players with {size.entries:,} movements each after "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return wallet


def room_for(size, folder):
    need = size.players * (BYTES_A_PLAYER + (size.entries - 1) * BYTES_AN_ENTRY) + LOG_BYTES
    free = shutil.disk_usage(folder).free
    if need > free:
        print(f"# {size} is left out: it needs {need >> 30} GiB of disk, {free >> 30} are free")
    return need <= free


def row_of(smallest, wallet, size, options):
    cell = Cell("transfer-in", "creditbridge", "lighttpd", CONNECTIONS, "transfer-in")
    measured = {smallest: [], wallet: []}
    for stand in () if options.cold else measured:
        tables_read(stand)
    engine = wallet.instance.engine_pids()[-1]
    tables, log, read = table_bytes(wallet), log_end(wallet), bytes_read(engine)
    before = wallet.figures()["batch_commands_sum"]
    started = time.time_ns()
    for number in range(options.rounds):
        plays = {stand: Play(cell, stand, stand.players, f"g{started}-{number}", options.client)
                 for stand in measured}
        in_turn(list(plays.values()), options.seconds)
        for stand, play in plays.items():
            measured[stand].append(play.row())
    if wallet.instance.engine_pids()[-1] != engine:
        raise Failure("the ledger's engine was restarted")
    runs = measured[wallet]
    moved = wallet.figures()["batch_commands_sum"] - before  # with those that warmed up
    row = {name: statistics.median(run[name] for run in runs)
           for name in ("rate", "p99_ms", "p999_ms", "ledger_us")}
    row |= {"players": size.players, "movements": size.players * size.entries,
            "of_smallest": statistics.median(ours["rate"] / other["rate"] for ours, other
                                             in zip(runs, measured[smallest])),
            "ledger_resident_mib": resident_kib(engine)[0] / 1024,
            "tables_mib": tables / MIB,
            "table_bytes_a_transfer": (table_bytes(wallet) - tables) / moved,
            "log_bytes_a_transfer": (log_end(wallet) - log) / moved,
            "read_bytes_a_transfer": (bytes_read(engine) - read) / moved}
    row["recovery_s"], row["stall_s"] = recoveries(wallet, size.players)
    return row


def sizes_of(options):
    """The first one is what the others are held to."""
    found = [Size(players, 1) for players in options.sizes]
    if options.entries:
        found.append(Size(options.sizes[0], options.entries // options.sizes[0]))
    return found


def measured(options, rows, left_out):
    """Appends to @rows, and sizes that there is no disk for to @left_out."""
    sizes = sizes_of(options)
    smallest = fill(sizes[0], options)
    for size in sizes:
        if not room_for(size, options.states or smallest.instance.dir):
            left_out.append(size)
            continue
        wallet = smallest if size is sizes[0] else fill(size, options)
        rows.append(row_of(smallest, wallet, size, options))
        print("# " + json.dumps(rows[-1]), flush=True)
        if wallet is not smallest:
            wallet.close()
    smallest.close()


def show(rows):
    print("\n" + "\n".join(aligned(
        [[head for head, _, _ in COLUMNS]]
        + [[format(row[name], form) for _, name, form in COLUMNS] for row in rows], 0)))
    judged = [bar for row in rows if row["players"] >= MILLION
              for bar in bars.judge(bars.growth_bars(row["players"]), [row])]
    if judged:
        print("\n" + "\n".join(bars.told(judged)))
    return judged


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000, 10_000_000],
                        help="numbers of players")
    parser.add_argument("--entries", type=int, default=10_000_000,
                        help="movements of all players of the first size; 0: no such row")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--states", type=pathlib.Path, metavar="DIR",
                        help="keep the filled states there, and use them again")
    parser.add_argument("--set", action="append", type=setting, default=[], metavar="NAME=VALUE",
                        help="a setting of creditbridge.conf; may be given several times")
    parser.add_argument("--cold", action="store_true",
                        help="do not read the tables into memory first")
    parser.add_argument("--fill", action="store_true", help="only fill --states")
    parser.add_argument("--judge", action="store_true",
                        help="exit with 1 if a target is missed, or a size was left out")
    add_out(parser)
    add_eager_client(parser)
    return parser.parse_args()


def main():
    options = parse()
    install()
    rows, left_out, failure, judged = [], [], None, []
    if options.states:
        options.states.mkdir(mode=0o711, parents=True, exist_ok=True)
    with everything_ends():
        try:
            if options.fill:
                for size in sizes_of(options):
                    fill(size, options).close()
            else:
                measured(options, rows, left_out)
        except FAILURES as error:
            failure = error
        if rows:
            judged = show(rows)
            (options.out / "growth.json").write_text(
                json.dumps({"rows": rows, "bars": judged}, indent=1) + "\n")
    if failure:
        print(f"FAILED: {failure}")
    return 1 if failure or (options.judge and (left_out or bars.missed(judged))) else 0


if __name__ == "__main__":
    sys.exit(main())
