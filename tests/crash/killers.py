"""What dies and stops in the storm: workers of the platform's mount, and sweepers."""
import os
import random
import signal
import time

import cb
from cb import check
from crash import Killer

FROZEN_S = (2.2, 4.5)  # a lease, and the patience with whoever is still connected
SWEEP_S = 5


def workers(wallet):
    return [pid for server in wallet.servers for pid in server.worker_pids("platform")]


class WorkerKiller(Killer):
    def __init__(self, freezer, seed, period_s):
        super().__init__(freezer.wallet, seed, period_s)
        self.freezer = freezer

    def victim(self):
        pids = [pid for pid in workers(self.wallet) if pid != self.freezer.frozen]
        chosen = self.random.random()
        return pids[int(chosen * len(pids))] if pids else None


class Freezer:
    """Stops a worker, and lets it go on when its leases are over and others went on."""

    def __init__(self, wallet, seed, period_s):
        self.wallet = wallet
        self.random = random.Random(f"{seed}/freezer")
        self.period_s = period_s
        self.frozen = None
        self.count = 0
        self.next = time.monotonic() + period_s

    def run(self, now):
        if now < self.next:
            return
        if self.frozen:
            self.thaw()
            self.next = now + self.period_s
            return
        pids = workers(self.wallet)
        if pids:
            self.frozen = self.random.choice(pids)
            self.signal(signal.SIGSTOP)
            self.count += 1
            self.next = now + self.random.uniform(*FROZEN_S)

    def thaw(self):
        if self.frozen:
            self.signal(signal.SIGCONT)
        self.frozen = None

    def signal(self, number):
        try:
            os.kill(self.frozen, number)
        except ProcessLookupError:
            self.frozen = None


class Sweepers:
    """Sweepers, started two at once whenever none is left; one of the two has to stand back."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.running = []
        self.started = self.stood_back = 0

    def start(self):
        for _ in range(2):
            self.started += 1
            self.running.append(sweeper_start(self.wallet, self.started, SWEEP_S))

    def tend(self):
        """Collects what ended."""
        for sweeper in [s for s in self.running if not s.running()]:
            self.running.remove(sweeper)
            self.collect(sweeper)
        if not self.running:
            self.start()

    def collect(self, sweeper):
        code = sweeper.process.returncode
        if code == -9:
            return
        told = sweeper.log.read_text()
        # The ledger's engine is killed, too: a sweeper may find nobody to ask.
        check(code == 0 or "stopped" in told, f"a sweeper ended with {code}: {told}")
        self.stood_back += "already_running" in told

    def stop(self):
        for sweeper in self.running:
            sweeper.stop()
        self.running = []


def sweeper_start(wallet, number, seconds):
    return cb.Child([cb.find_program("creditbridge-sweep"), "--config", wallet.config, "--json",
                     "--for", f"{seconds}s"], wallet.logs / f"sweep-{number}.log")


class SweeperKiller(Killer):
    def __init__(self, sweepers, seed, period_s):
        super().__init__(sweepers.wallet, seed, period_s)
        self.sweepers = sweepers

    def victim(self):
        running = [sweeper.pid for sweeper in self.sweepers.running if sweeper.running()]
        return self.random.choice(running) if running else None
