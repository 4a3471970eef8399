#!/usr/bin/python3
"""two_cells: what a second cell adds on one machine.

Transfers by the ledgers' own sockets, in turn: all connections to the ledger of one cell, and half of them to each of two
cells. Both ledgers share the processors and the disk here, so the figure is the least that a second cell adds, and can be
below 1: on a host of its own it adds its whole rate. Prints the medians of all rounds. Writes the figures of all rounds to two_cells.json.

  make bench-cells [CELLS='--rounds 5 --seconds 4']"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import report  # noqa: E402
from guard import everything_ends  # noqa: E402
from stands import ledger_load, cb  # noqa: E402

PLAYERS = 1000
CONNECTIONS = (16, 64)


def load(cells, connections, seconds, run):
    """Transfers a second of all @cells together, which share the connections."""
    with concurrent.futures.ThreadPoolExecutor(len(cells)) as pool:
        rows = list(pool.map(lambda cell: ledger_load(cell, "transfer", connections // len(cells), "bench", seconds,
                                                      PLAYERS, run), cells))
    return sum(row["requests"] / row["seconds"] for row in rows)


def measure(cells, rounds, seconds):
    """{connections: [(rate of one cell, rate of two cells)]}"""
    found = {connections: [] for connections in CONNECTIONS}
    for number in range(rounds):
        for connections, pairs in found.items():
            rates = {}
            for count in (1, 2) if number % 2 else (2, 1):
                # The cells take turns as the one cell.
                used = cells if count == 2 else [cells[number % 2]]
                rates[count] = load(used, connections, seconds, f"{number}-{connections}-{count}-")
            pairs.append((rates[1], rates[2]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    report.add_out(parser)
    options = parser.parse_args()
    with everything_ends(), contextlib.ExitStack() as stack:
        cells = []
        for number, name in enumerate(("a", "b")):
            cells.append(cb.Instance("benchcell", settings={
                "cell_name": name, "ledger_number": number, "log_level": "warning", "disk_ballast_mib": 64}))
            stack.callback(cells[-1].close)
            cells[-1].dealer_add("bench")
            ledger_load(cells[-1], "fill", 16, "bench", 0, PLAYERS)
        found = measure(cells, options.rounds, options.seconds)
    print("connections  one cell/s  two cells/s  ratio")
    rows = []
    for connections, pairs in found.items():
        one, two = (statistics.median(column) for column in zip(*pairs))
        ratio = statistics.median(both / single for single, both in pairs)
        rows.append({"connections": connections, "ratio": ratio, "one_and_two": pairs})
        print(f"{connections:11}  {one:10.0f}  {two:11.0f}  {ratio:5.2f}")
    (options.out / "two_cells.json").write_text(json.dumps({"cpus": os.cpu_count(), "cases": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
