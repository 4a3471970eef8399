#!/usr/bin/python3
"""A worker of the platform's mount with few descriptors: each thread keeps connections to the dealers
that it called, and healthy dealers stay within reach."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import re
import resource
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_fastcgi  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_http import sign  # noqa: E402
from cb_other_dealer import OtherDealer  # noqa: E402
from cb_platform import BETS, LOOPBACK, client_add  # noqa: E402
from cb_process import free_port  # noqa: E402

DEALERS = 12
THREADS = 4
ROUNDS = 3
SPARE, OF_THREAD = 64 + 256, 16  # src/cmd/fcgi.c
KEPT_MAX = 256  # SENDER_INFLIGHT_MAX
WAIT_S = 20


class Bench:
    """A wallet with many dealers, and a client of group C."""

    def __init__(self):
        self.wallet = cb.Instance("cbdescriptors", settings=LOOPBACK)
        self.client = client_add(self.wallet, "game")
        self.dealers = contextlib.ExitStack()
        for number in range(DEALERS):
            port = free_port()
            made = self.wallet.dealer_add(f"dealer-{number}", "--url", f"http://127.0.0.1:{port}",
                                          "--allow-http", mode="seamless")
            self.dealers.enter_context(OtherDealer(port, made.key, "alice"))
            self.wallet.player_add(f"dealer-{number}", "alice")

    def close(self):
        self.dealers.close()
        self.wallet.close()


class Worker:
    """A worker whose limits of descriptors are @soft and @hard at its start."""

    def __init__(self, bench, name, soft, hard):
        self.bench, self.name = bench, name
        self.numbers = itertools.count()
        self.socket = bench.wallet.dir / f"{name}.sock"
        self.log = bench.wallet.logs / f"{name}.log"
        # The limits are inherited; this process gets its own back.
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        argv = ["prlimit", f"--nofile={soft}:{hard}", bench.wallet.worker, "--config",
                bench.wallet.config, "--serve", "platform", "--threads", THREADS, "--socket",
                self.socket]
        self.child = cb.Child(argv, self.log)
        equal(resource.getrlimit(resource.RLIMIT_NOFILE), before, "limits of this process")
        wait_until(lambda: cb_fastcgi.listens(self.socket), WAIT_S, "the worker's socket")

    def limit(self):
        text = pathlib.Path(f"/proc/{self.child.pid}/limits").read_text()
        return int(re.search(r"Max open files\s+(\d+)", text).group(1))

    def open(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def bet(self, number):
        body = json.dumps({"request_transaction_id": f"{self.name}-{number}",
                           "casino_id": f"dealer-{number % DEALERS}", "user_id": "alice",
                           "game_id": f"{self.name}-{number}", "bet_amount": 1,
                           "user_bet": {}}).encode()
        headers = [("x-client-id", self.bench.client.client_id),
                   ("x-client-signature", sign(self.bench.client.key, body))]
        return cb_fastcgi.request(self.socket, BETS, headers, body)

    def play(self, dealers=DEALERS):
        """Bets of so many dealers in all threads; each has to be accepted. How many descriptors are
        open then."""
        numbers = [next(self.numbers) * DEALERS + which for _ in range(THREADS * ROUNDS)
                   for which in range(dealers)]
        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            for answer in pool.map(self.bet, numbers):
                equal(answer.status, 200, f"{self.name}: {answer}")
        return self.open()


def case_few(bench):
    """The inherited limit is too low; the worker raises it as far as it may."""
    worker = Worker(bench, "few", 40, 4096)
    # It listens a moment before that.
    wait_until(lambda: worker.limit() != 40, WAIT_S, "another limit")
    equal(worker.limit(), SPARE + THREADS * (OF_THREAD + KEPT_MAX), "the limit it gave itself")
    used = worker.play()
    check(used > 40, f"the threads keep connections: {used} descriptors")
    check("descriptors_few" not in worker.log.read_text(), "logged as too few")
    worker.child.stop()


def case_fewer(bench):
    """No more may be had: fewer connections are kept."""
    each = 4
    limit = SPARE + THREADS * (OF_THREAD + each)
    worker = Worker(bench, "fewer", 40, limit)
    # It listens a moment before that.
    wait_until(lambda: worker.limit() == limit, WAIT_S, "the limit")
    few = worker.play(1)
    used = worker.play()
    print(f"# {few} descriptors with one dealer, {used} with {DEALERS}")
    check(used <= few + THREADS * each, f"{few} descriptors, then {used}")
    worker.child.stop()


def case_too_few(bench):
    """A worker with too few descriptors logs it, and still calls dealers as long as it can."""
    worker = Worker(bench, "too-few", 64, 64)
    wait_until(lambda: "descriptors_few limit=64 threads=4 " in worker.log.read_text(), WAIT_S, "the line of the log")
    worker.play()
    worker.child.stop()


def main():
    bench = Bench()
    try:
        return cb.run_cases([
            ("few descriptors, and more may be had", lambda: case_few(bench)),
            ("few descriptors", lambda: case_fewer(bench)),
            ("too few descriptors", lambda: case_too_few(bench)),
        ], seconds=60)
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
