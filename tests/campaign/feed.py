#!/usr/bin/python3
"""Readers of the feed while workers, the ledger's engine and sweepers are killed.

    feed.py [--seconds N] [--seed N]

Clients make transfers and game servers play rounds, as in tests/crash/kill.py. Meanwhile each dealer has
readers over HTTP with random limits and waits, and `creditbridgectl follow` reads all of them. A reader goes
on with `next` only after an answer that it got whole; after a broken call it asks again. In the end what
each has read must be the transactions of the export, in their order: none missing, none twice.

$SEED (or --seed) replays the calls, the kills and the limits. Prints TAP.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("lib", "crash")]
import cb  # noqa: E402
import kill  # noqa: E402
import load  # noqa: E402
import tables  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_dealer import ReferenceDealer  # noqa: E402
from cb_feed import FEED, exported, shape  # noqa: E402
from game import SETTINGS  # noqa: E402

READERS = 2  # of each dealer
LIMITS = (1, 7, 50, 1000)
WAITS_MS = (0, 100, 2000)
TIMEOUT_S = 25.0
PAUSE_S = 0.05
END_S = 60.0


class Reader(threading.Thread):
    """Reads one dealer's feed from the first transaction on."""

    def __init__(self, server, dealer, seed, number):
        super().__init__(daemon=True)
        self.server, self.dealer = server, dealer
        self.random = random.Random(f"{seed}/{dealer.casino_id}/{number}")
        self.items, self.after = [], 0
        self.calls = self.broken = 0
        self.stopping = threading.Event()
        self.failure = None

    def once(self):
        """Returns whether the end was reached."""
        self.calls += 1
        body = {"after": self.after, "limit": self.random.choice(LIMITS),
                "wait_ms": 0 if self.stopping.is_set() else self.random.choice(WAITS_MS),
                "request_timestamp": cb.now_ms()}
        try:
            answer = cb.call(self.server, "POST", FEED, body, dealer=self.dealer, timeout=TIMEOUT_S)
        except load.BROKEN:
            answer = None
        if answer is None or answer.status != 200:
            check(answer is None or answer.status >= 500 or answer.status == 429, f"{answer}")
            self.broken += 1
            time.sleep(PAUSE_S)
            return False
        page = answer.json
        self.items += page["items"]
        self.after = page["next"]
        return page["complete"]

    def run(self):
        try:
            while not self.once() or not self.stopping.is_set():
                pass
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = failure


class Follower:
    """`creditbridgectl follow`, whose lines are kept."""

    def __init__(self, wallet):
        self.path = wallet.dir / "followed"
        self.out = open(self.path, "wb")
        self.child = subprocess.Popen(wallet.ctl_argv("follow"), stdout=self.out)

    def lines(self):
        whole = self.path.read_bytes().rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def end(self):
        self.child.terminate()
        equal(self.child.wait(20), 0, "exit status of follow")
        return self.lines()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """However the case ends, the command does not stay."""
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        self.out.close()


def compare(what, items, rows):
    ids = [item["transaction_id"] for item in items]
    doubled = len(ids) - len(set(ids))
    missing = {row["transaction_id"] for row in rows} - set(ids)
    equal((doubled, len(missing)), (0, 0), f"{what}: doubled, missing")
    equal([shape(item) for item in items], [shape(row) for row in rows], f"{what}: items")


def case_kills(options):
    seed = options.seed
    with ReferenceDealer("--opening-balance", tables.OPENING, threads=16) as reference, \
            cb.Instance("cbfeed", settings=dict(SETTINGS, log_level="warning")) as wallet:
        dealers = [wallet.dealer_add(f"dealer-{n}") for n in range(load.DEALERS)]
        with kill.Lighttpd(wallet) as server:
            clients = load.Load(wallet, server, dealers, seed, rate=options.rate)
            game = tables.Tables(wallet, server, reference, seed)
            killers = kill.everything(wallet, game, seed)
            guests = cb.Dealer(tables.CASINO, reference.key, "seamless")
            with Follower(wallet) as follower:
                readers = [Reader(server, dealer, seed, number) for dealer in (*dealers, guests)
                           for number in range(READERS)]
                for reader in readers:
                    reader.start()
                try:
                    kill.run_load(clients, game, killers, options.seconds)
                    game.prove()
                finally:
                    game.stop()
                for reader in readers:
                    reader.stopping.set()
                for reader in readers:
                    reader.join(END_S)
                    check(not reader.is_alive() and not reader.failure, f"{reader.failure!r}")
                rows = exported(wallet)
                cb.wait_until(lambda: len(follower.lines()) >= len(rows), END_S, "follow reads them all")
                compare("follow", follower.end(), rows)
                for reader in readers:
                    own = [row for row in rows if row["casino_id"] == reader.dealer.casino_id]
                    check(own, f"{reader.dealer.casino_id} has transactions")
                    compare(reader.dealer.casino_id, reader.items, own)
    print(f"# transactions {len(rows)}, readers {len(readers)} and follow, calls "
          f"{sum(reader.calls for reader in readers)}, broken {sum(reader.broken for reader in readers)}, "
          f"{', '.join(f'{killer.what} kills {len(killer.kills)}' for killer in killers)}, missing 0, "
          "doubled 0", flush=True)
    for killer in killers:
        check(len(killer.kills) >= options.seconds / killer.period_s / 4, "too few kills")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=8.0, help="of load")
    parser.add_argument("--rate", type=float, default=300.0, help="calls of clients a second")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    options = parser.parse_args()
    print(f"# SEED={options.seed}", flush=True)
    return cb.run_cases([("readers during kills", lambda: case_kills(options))],
                        seconds=int(options.seconds * 1.5) + 180)


if __name__ == "__main__":
    sys.exit(main())
