#!/usr/bin/python3
"""The ledger on a small file system that becomes full again and again while it serves.

    diskfull.py [--rounds N] [--seed N]

The file systems are by turns a tmpfs and an ext4 with a journal, which has its blocks free again
only when the journal is written. If one of them cannot be mounted, its rounds are skipped with the
reason. In each round the disk is filled at a random moment under load. Then every transfer is a 503
storage_full, reads and answers given before go on, and 5 s after there is space again, at the
latest, transfers are done again. In every other round the disk is filled to its last byte and the
engine killed at a random moment: its parent starts it again by itself, with the space of the
ballast where it needs it, and reads go on. At the end nothing acknowledged is lost and nothing
moved twice.

$SEED (or --seed) replays the clients' calls and the moments. Needs root, to mount the file system.
Prints TAP, and one line of figures.
"""
import argparse
import os
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("lib", "crash", "fault"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import cb  # noqa: E402
import load  # noqa: E402
import test_disk  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from test_disk import MIB, WAIT_S, Bench, MountedWallet, refuses, unavailable  # noqa: E402

BACK_S = 5.0
ROUNDS_OF_A_WALLET = 4  # what it keeps grows, and its disk does not
RATE = 400              # of the load
KINDS = ("tmpfs", "ext4")


class Campaign:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(f"{seed}/diskfull")
        self.rounds = dict.fromkeys(KINDS, 0)
        self.refused = self.kills = self.dropped = self.acknowledged = 0
        self.back_s = 0.0

    def wallet(self, kind, number, rounds):
        """So many rounds with a wallet of its own."""
        with MountedWallet(128, kind, disk_low_water_mib=24, disk_ballast_mib=16,
                           ledger_deadline_ms=5000) as wallet:
            bench = Bench(f"disk full {number}", wallet)
            bench.load.pause_s = load.CLIENTS / RATE
            equal(bench.move("before").status, 200, "a transfer before")
            bench.load.start()
            for turn in range(rounds):
                self.round(bench, killed=turn % 2)
                self.rounds[kind] += 1
            bench.prove(f"wallet {number}, {kind}")
            self.acknowledged += len(bench.load.transfers())
            self.dropped += wallet.log().count("ballast_dropped")

    def round(self, bench, killed):
        mount = bench.wallet.mount
        time.sleep(self.random.uniform(0, 1.5))
        wait_until(lambda: refuses(bench), WAIT_S, "the first refusal")
        for _ in range(self.random.randint(5, 30)):
            mount.fill(22 * MIB)
            self.refuse(bench)
        equal(bench.move("before").replayed, True, "an answer given before is repeated")
        if killed:
            self.kill(bench)
        time.sleep(self.random.uniform(0, 0.5))
        mount.empty()
        emptied = time.monotonic()
        wait_until(bench.moves, WAIT_S, "the first transfer with space")
        took = time.monotonic() - emptied
        check(took <= BACK_S, f"the first transfer was done {took:.1f} s after there was space")
        self.back_s = max(self.back_s, took)

    def refuse(self, bench):
        unavailable(bench.move(), "storage_full")
        equal(bench.read().status, 200, "reads go on")
        self.refused += 1

    def kill(self, bench):
        """The engine dies on a disk that is full to its last byte."""
        wallet = bench.wallet
        wallet.mount.fill(0)
        time.sleep(self.random.uniform(0, 1.2))
        pid = wallet.status()["pid"]
        wallet.mount.fill(0)  # What a checkpoint has removed since is taken as well.
        os.kill(pid, signal.SIGKILL)
        self.kills += 1
        wait_until(lambda: cb.process_gone(pid) and bench.read().status == 200, WAIT_S,
                   "reads after the restart")
        self.refuse(bench)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    options = parser.parse_args()
    print(f"# SEED={options.seed}", flush=True)
    test_disk.SEED = options.seed
    campaign = Campaign(options.seed)
    cases = []
    for first in range(0, options.rounds, ROUNDS_OF_A_WALLET):
        words = (KINDS[len(cases) % len(KINDS)], first,
                 min(ROUNDS_OF_A_WALLET, options.rounds - first))
        cases.append((f"rounds from {first} on {words[0]}",
                      lambda words=words: campaign.wallet(*words)))
    code = cb.run_cases(cases, seconds=ROUNDS_OF_A_WALLET * 40)
    rounds = ", ".join(f"{count} on {kind}" for kind, count in campaign.rounds.items())
    print(f"# disk full: rounds {rounds}, refused {campaign.refused} with reads going on, "
          f"killed while full {campaign.kills}, ballast given up {campaign.dropped}, back after at "
          f"most {campaign.back_s:.2f} s, acknowledged {campaign.acknowledged}, lost 0, doubled 0"
          if not code and any(campaign.rounds.values()) else "# disk full: see above", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
