#!/usr/bin/python3
"""relay: what it costs that a client's host relays it to the active one.

One ledger; transfers by its own socket, in turn directly and through the peers of two hosts on this machine,
which also costs this machine the work of both. Prints the medians of all rounds, and whether the bars hold:
at 64 connections at least 0.85 of the direct rate, and at one connection at most 0.3 ms more. Writes the figures of
all rounds to relay.json.

  make bench-relay [RELAY='--rounds 5 --seconds 4']"""
import argparse
import json
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
import cb  # noqa: E402
import report  # noqa: E402
from cb_cell import Cell  # noqa: E402

PLAYERS = 1000
CONNECTIONS = (1, 16, 64)
RATE_LEAST, ADDED_MOST_MS = 0.85, 0.3
COLUMNS = ("rate", "p50_ms", "peers_us")  # of measure()
TICKS = os.sysconf("SC_CLK_TCK")


def load(sockets, *words):
    done = subprocess.run([str(cb.find_program("bench/ledger_load")), str(sockets / "edge.sock"),
                           *map(str, words)], capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise cb.HarnessError(f"ledger_load {words}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def busy_s(pid):
    """Processor time of a process."""
    words = open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


def measure(cell, rounds, seconds):
    """{(connections, relayed): [(rate, p50, processor time of both peers a transfer)]}"""
    found = {}
    for number in range(rounds):
        for connections in CONNECTIONS:
            for relayed in (False, True) if number % 2 else (True, False):
                peers = [cell.peer.pid, cell.hosts["b"].peer.pid]
                before = sum(map(busy_s, peers))
                sockets = cell.hosts["b"].sockets if relayed else cell.wallet.sockets
                row = load(sockets, "transfer", connections, "bench", seconds, PLAYERS,
                           f"{number}-{connections}-{relayed:d}-")
                spent = sum(map(busy_s, peers)) - before
                found.setdefault((connections, relayed), []).append(
                    (row["requests"] / row["seconds"], row["p50_ms"], spent * 1e6 / row["requests"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    report.add_out(parser)
    options = parser.parse_args()
    with Cell() as cell:
        cell.wallet.dealer_add("bench")
        load(cell.wallet.sockets, "fill", 16, "bench", 0, PLAYERS)
        found = measure(cell, options.rounds, options.seconds)
    print("connections  direct/s  relayed/s  ratio  direct p50  relayed p50  peers' us a transfer")
    good, rows = True, []
    for connections in CONNECTIONS:
        direct, relayed = ([statistics.median(column) for column in zip(*found[connections, through])]
                           for through in (False, True))
        ratio, added = relayed[0] / direct[0], relayed[1] - direct[1]
        rows.append({"connections": connections, "ratio": ratio, "added_ms": added}
                    | {name: [dict(zip(COLUMNS, row)) for row in found[connections, through]]
                       for name, through in (("direct", False), ("relayed", True))})
        print(f"{connections:11}  {direct[0]:8.0f}  {relayed[0]:9.0f}  {ratio:5.2f}  {direct[1]:7.3f} ms"
              f"  {relayed[1]:8.3f} ms  {relayed[2]:20.1f}")
        if connections == CONNECTIONS[0] and added > ADDED_MOST_MS:
            good = False
        if connections == CONNECTIONS[-1] and ratio < RATE_LEAST:
            good = False
    print(f"bars (64 connections: at least {RATE_LEAST} of the rate; one: at most {ADDED_MOST_MS} ms more): "
          f"{'held' if good else 'MISSED'}")
    (options.out / "relay.json").write_text(json.dumps(
        {"cpus": os.cpu_count(), "cases": rows, "held": good}, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
