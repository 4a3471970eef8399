#!/usr/bin/python3
"""Real servers, workers and ledger under load, and SIGKILL.

    crash.py [--seconds N] [--seed N] [--from] [VARIANT...]

Variants (all by default; --from begins with the one named, which resumes a long run):

    workers-lighttpd    a worker is killed every 200 ms, under lighttpd
    workers-apache      the same under Apache mod_fcgid
    ledger              the ledger's engine is killed every 500 ms
    both                both at once
    parent              creditbridge-ledger itself is killed each second, and started again

16 clients repeat what is not answered. Then: nothing acknowledged is lost, nothing moved twice,
every call was answered, `creditbridgectl check` finds nothing, and the ledger's death cost at most
a second. $SEED (or --seed) replays the clients' calls and the schedule of kills. Prints TAP, and a
comment with the figures of each variant.
"""
import argparse
import bisect
import os
import random
import signal
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
import load  # noqa: E402
from cb import check, equal  # noqa: E402

WORKER_PERIOD_S = 0.2
ENGINE_PERIOD_S = 0.5
PARENT_PERIOD_S = 1.0
PARENT_SECONDS_MAX = 5.0
STALL_MAX_S = 1.0
# How long after a kill a gap between two answers is put down to it.
SUSPICION_S = 0.1
REPLAYS_PER_SECOND = 60


class Killer:
    """One victim every @period_s, a fifth more or less."""

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
    def victim(self):
        pids = [pid for server in self.wallet.servers for pid in server.worker_pids("wallet")]
        chosen = self.random.random()
        return pids[int(chosen * len(pids))] if pids else None


class EngineKiller(Killer):
    def victim(self):
        """As an operator finds it; the answer also shows that the last one is replaced."""
        return self.wallet.ctl_json("status")["pid"]


class ParentKiller(Killer):
    def victim(self):
        return self.wallet.ledger.pid

    def run(self, now):
        before = len(self.kills)
        engine = self.wallet.engine_pids() if now >= self.next else []
        super().run(now)
        if len(self.kills) == before:
            return
        self.wallet.ledger.process.wait(10)
        cb.wait_until(lambda: all(cb.process_gone(pid) for pid in engine), 10,
                      f"the end of the engine {engine} without its parent")
        self.wallet.ledger_start()


def engine(*words):
    return EngineKiller(*words, ENGINE_PERIOD_S)


def worker(*words):
    return WorkerKiller(*words, WORKER_PERIOD_S)


def parent(*words):
    return ParentKiller(*words, PARENT_PERIOD_S)


# lighttpd starts dead workers again once a second: for a while there is none left to be killed.
LIGHTTPD_WORKERS = 4

# Name, server, what is killed, whether the ledger's stalls are bounded: where workers die as well
# a stall may be theirs (mod_fcgid replaces them once a second).
VARIANTS = (
    ("workers-lighttpd", cb.Lighttpd, (worker,), False),
    ("workers-apache", cb.ApacheFcgid, (worker,), False),
    ("ledger", cb.Lighttpd, (engine,), True),
    ("both", cb.ApacheFcgid, (engine, worker), False),
    ("parent", cb.Lighttpd, (parent,), True),
)


def stalls(answered, kills):
    """For each kill the longest time around it in which no client was answered."""
    found = []
    for kill in kills:
        first = bisect.bisect_right(answered, kill)
        last = bisect.bisect_right(answered, kill + SUSPICION_S)
        found.append(longest_gap(answered[max(first - 1, 0):last + 1]))
    return found


def longest_gap(answered):
    return max((b - a for a, b in zip(answered, answered[1:])), default=0.0)


def run_load(clients, killers, seconds):
    """Load and kills. Ends early when a client fails."""
    clients.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not clients.failures():
        for killer in killers:
            killer.run(time.monotonic())
        time.sleep(0.005)
    clients.stop()


def variant_run(name, kind, makers, bounded, options):
    seconds = options.seconds
    if name == "parent" and not options.long:
        seconds = min(seconds, PARENT_SECONDS_MAX)
    seed = f"{options.seed}/{name}"
    with cb.Instance("cbcrash", settings={"log_level": "warning"}) as wallet:
        dealers = [wallet.dealer_add(f"dealer-{n}") for n in range(load.DEALERS)]
        with kind(wallet, processes=LIGHTTPD_WORKERS if kind is cb.Lighttpd else None) as server:
            clients = load.Load(wallet, server, dealers, seed)
            killers = [make(wallet, seed) for make in makers]
            run_load(clients, killers, seconds)
            clients.prove(int(seconds * REPLAYS_PER_SECOND))
        equal(wallet.stop(), 0, "exit code of the ledger, stopped at the end")
    report(name, bounded, clients, killers)
    for killer in killers:
        check(len(killer.kills) >= seconds / killer.period_s / 4,
              f"{type(killer).__name__}: {len(killer.kills)} kills in {seconds} s are no test")


def report(name, bounded, clients, killers):
    answered = clients.answered()
    figures = [f"acknowledged {len(clients.transfers())}", f"answers {len(answered)}",
               f"repeats {clients.repeats()}", "unanswered 0",
               *[f"{type(killer).__name__[:-6].lower()} kills {len(killer.kills)}"
                 for killer in killers],
               "lost 0", "doubled 0",
               f"longest stall {longest_gap(answered) * 1000:.0f} ms"]
    worst = 0.0
    for killer in killers:
        if isinstance(killer, WorkerKiller) or not killer.kills:
            continue
        found = stalls(answered, killer.kills)
        worst = max(found)
        figures.append(f"kill to new answer: median {statistics.median(found) * 1000:.0f} ms, "
                       f"max {worst * 1000:.0f} ms")
    print(f"# {name}: {', '.join(figures)}", flush=True)
    if bounded:
        check(worst <= STALL_MAX_S, f"a death of the ledger cost {worst * 1000:.0f} ms")


def arguments():
    names = [variant[0] for variant in VARIANTS]
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=15.0, help="of load in each variant")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    parser.add_argument("--from", dest="resume", action="store_true",
                        help="the variant named and those behind it")
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(names))
    options = parser.parse_args()
    if set(options.variants) - set(names) or (options.resume and len(options.variants) != 1):
        parser.error(f"the variants are {', '.join(names)}; --from takes one")
    if options.resume:
        names = names[names.index(options.variants[0]):]
    elif options.variants:
        names = options.variants
    options.names = names
    options.long = options.seconds > 60
    return options


def main():
    options = arguments()
    print(f"# SEED={options.seed}", flush=True)
    cases = [(name, lambda words=(name, *rest): variant_run(*words, options))
             for name, *rest in VARIANTS if name in options.names]
    return cb.run_cases(cases, seconds=int(options.seconds * 1.5) + 120)


if __name__ == "__main__":
    sys.exit(main())
