"""Kills and stops processes under load: workers, the ledger's engine and sweepers."""
import collections
import json
import os
import random
import signal
import time

import cb
from cb import check, equal

FROZEN_S = (2.2, 4.5)  # a lease, and the patience with a sender that is still connected
SWEEP_S = 5
DRAIN_S = 60.0
AT_ONCE = 10_000  # events that creditbridgectl takes


class Killer:
    """One victim every @period_s, a fifth more or less."""

    what = ""  # of ours is killed

    def __init__(self, wallet, seed, period_s):
        self.wallet = wallet
        self.random = random.Random(f"{seed}/{type(self).__name__}")
        self.period_s = period_s
        self.kills = []  # when
        self.next = time.monotonic() + self.pause()

    def pause(self):
        return self.period_s * self.random.uniform(0.8, 1.2)

    def run(self, now):
        if now < self.next:
            return
        pid = self.victim()
        if pid is not None:
            self.kills.append(time.monotonic())
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                self.kills.pop()
        self.next = max(self.next + self.pause(), time.monotonic())


class WorkerKiller(Killer):
    """Of one mount; never the one that @freezer has stopped."""

    def __init__(self, wallet, seed, period_s, mount, freezer=None):
        super().__init__(wallet, f"{seed}/{mount}", period_s)
        self.mount = mount
        self.what = f"{mount} worker"
        self.freezer = freezer

    def victim(self):
        frozen = self.freezer.frozen if self.freezer else None
        pids = [pid for pid in workers(self.wallet, self.mount) if pid != frozen]
        chosen = self.random.random()
        return pids[int(chosen * len(pids))] if pids else None


class EngineKiller(Killer):
    what = "engine"

    def victim(self):
        return next(iter(self.wallet.engine_pids()), None)


def workers(wallet, mount):
    return [pid for server in wallet.servers for pid in server.worker_pids(mount)]


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
        pids = workers(self.wallet, "platform")
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
        # The ledger's engine is killed, too: a sweeper may find no ledger that answers.
        check(code == 0 or "stopped" in told, f"a sweeper ended with {code}: {told}")
        self.stood_back += "already_running" in told

    def stop(self):
        for sweeper in self.running:
            sweeper.stop()
        self.running = []

    def sweep(self):
        """Returns the summary of one run of a sweeper, which is not killed."""
        self.started += 1
        sweeper = sweeper_start(self.wallet, self.started, 1)
        code = sweeper.process.wait(30)
        told = sweeper.log.read_text()
        equal(code, 0, f"exit code of a sweeper: {told}")
        return next(json.loads(line) for line in told.splitlines() if line.startswith("{"))

    def drain(self, pending=lambda: 0):
        """Sweeps until nothing waits, nothing is parked and nothing is @pending on the way. Returns
        how often the operator had each callback sent once more."""
        deadline = time.monotonic() + DRAIN_S
        retries = collections.Counter()
        while True:
            parked = [callback["event"] for callback in self.wallet.ctl_json(
                "callback", "list", "--state", "parked", "--limit", 0)["callbacks"]]
            for first in range(0, len(parked), AT_ONCE):
                self.wallet.ctl("callback", "retry", "-", "--yes", "--reason", "mended",
                                stdin="".join(f"{event}\n"
                                              for event in parked[first:first + AT_ONCE]))
            retries.update(parked)
            waiting = self.sweep()["waiting"]
            if not waiting and not parked and not pending():
                return retries
            check(time.monotonic() < deadline,
                  f"{waiting} callbacks still wait, {len(parked)} were parked again")


def sweeper_start(wallet, number, seconds):
    return cb.Child([cb.find_program("creditbridge-sweep"), "--config", wallet.config, "--json",
                     "--for", f"{seconds}s"], wallet.logs / f"sweep-{number}.log")


class SweeperKiller(Killer):
    what = "sweeper"

    def __init__(self, sweepers, seed, period_s):
        super().__init__(sweepers.wallet, seed, period_s)
        self.sweepers = sweepers

    def victim(self):
        running = [sweeper.pid for sweeper in self.sweepers.running if sweeper.running()]
        return self.random.choice(running) if running else None
