#!/usr/bin/python3
"""Real servers, workers, ledger and sweepers under load, and SIGKILL.

    kill.py [--seconds N] [--seed N] [--from] [VARIANT...]

Variants (all by default; --from begins with the one named, which resumes a long run):

    lighttpd    a worker of each mount is killed every 200 ms, the ledger's engine every 500 ms, and
                a sweeper now and then, under lighttpd
    apache      the same under Apache mod_fcgid
    parent      creditbridge-ledger itself is killed each second, and started again

16 clients make transfers, and repeat what is not answered; game servers play rounds of a dealer who
fails now and then, so that sweepers have work (tables.py). Then: nothing acknowledged is lost,
nothing moved twice, every call was answered, `creditbridgectl check` finds nothing, and never was
there a longer time than a second in which no client was answered (5 s in runs of up to a minute,
which share their machine with others), but for the time in which this program stood still as well.

$SEED (or --seed) replays the clients' calls and the schedule of kills. Prints TAP, and a comment
with the figures of each variant.
"""
import argparse
import bisect
import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
import load  # noqa: E402
import tables  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_dealer import ReferenceDealer  # noqa: E402
from game import SETTINGS  # noqa: E402
from killers import EngineKiller, Killer, SweeperKiller, WorkerKiller  # noqa: E402

WORKER_PERIOD_S = 0.2
ENGINE_PERIOD_S = 0.5
SWEEPER_PERIOD_S = (0.2, 2.0)  # chosen anew each time
PARENT_PERIOD_S = 1.0
PARENT_SECONDS_MAX = (5.0, 60.0)  # in a short run, in a long one
STALL_S = (5.0, 1.0)              # likewise
LATE_S = 0.05        # by so much this program may be late without having stood still
REPLAYS_PER_SECOND = 60
REPLAYS_MAX = 10000
# All that a run is told is kept until its end: a long one makes its calls more slowly.
CALLS_MAX = 600000


class ParentKiller(Killer):
    what = "parent"

    def victim(self):
        return self.wallet.ledger.pid

    def run(self, now):
        before = len(self.kills)
        engine = self.wallet.engine_pids() if now >= self.next else []
        super().run(now)
        if len(self.kills) == before:
            return
        self.wallet.ledger.process.wait(20)
        cb.wait_until(lambda: all(cb.process_gone(pid) for pid in engine), 20,
                      f"the end of the engine {engine} without its parent")
        self.wallet.ledger_start()


class RandomSweeperKiller(SweeperKiller):
    def pause(self):
        return self.random.uniform(*SWEEPER_PERIOD_S)


class Pulse(threading.Thread):
    """When this program itself was not run in time: a machine that stood still."""

    def __init__(self):
        super().__init__(daemon=True)
        self.late = []  # (from, to)
        self.stopping = threading.Event()

    def run(self):
        before = time.monotonic()
        while not self.stopping.wait(0.01):
            now = time.monotonic()
            if now - before > LATE_S:
                self.late.append((before, now))
            before = now

    def within(self, begin, end):
        """How long of that time."""
        return sum(max(0.0, min(end, to) - max(begin, since)) for since, to in self.late)


def everything(wallet, game, seed):
    return [*(WorkerKiller(wallet, seed, WORKER_PERIOD_S, mount)
              for mount in ("wallet", "platform")),
            EngineKiller(wallet, seed, ENGINE_PERIOD_S),
            RandomSweeperKiller(game.sweepers, seed, sum(SWEEPER_PERIOD_S) / 2)]


def parent(wallet, _game, seed):
    return [ParentKiller(wallet, seed, PARENT_PERIOD_S)]


class Lighttpd(cb.Lighttpd):
    """It starts workers that died anew every other second: of more workers than are killed in that
    time there is always one."""

    processes_default = platform_processes = 16


# Name, server, what is killed.
VARIANTS = (
    ("lighttpd", Lighttpd, everything),
    ("apache", cb.ApacheFcgid, everything),
    ("parent", Lighttpd, parent),
)


def longest_stall(answered, pulse):
    """The longest time without an answer, and that less the time in which we stood still."""
    gaps = [(b - a, b - a - pulse.within(a, b)) for a, b in zip(answered, answered[1:])
            if b - a > LATE_S]
    return max((gap[0] for gap in gaps), default=0.0), max((gap[1] for gap in gaps), default=0.0)


def run_load(clients, game, killers, seconds):
    """Load and kills. Ends early when a client fails."""
    pulse = Pulse()
    pulse.start()
    clients.start()
    game.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not clients.failures() and not game.failures():
        game.sweepers.tend()
        for killer in killers:
            killer.run(time.monotonic())
        time.sleep(0.005)
    clients.stop()
    game.stop()
    pulse.stopping.set()
    return pulse


def variant_run(name, kind, killers_of, options):
    seconds = options.seconds
    if killers_of is parent:
        seconds = min(seconds, PARENT_SECONDS_MAX[options.long])
    seed = f"{options.seed}/{name}"
    settings = dict(SETTINGS, log_level="warning")
    with ReferenceDealer("--opening-balance", tables.OPENING, threads=16) as dealer, \
            cb.Instance("cbkill", settings=settings) as wallet:
        dealers = [wallet.dealer_add(f"dealer-{n}") for n in range(load.DEALERS)]
        with kind(wallet) as server:
            clients = load.Load(wallet, server, dealers, seed,
                                rate=CALLS_MAX / seconds if options.long else None)
            game = tables.Tables(wallet, server, dealer, seed)
            killers = killers_of(wallet, game, seed)
            try:
                pulse = run_load(clients, game, killers, seconds)
                game.prove()
                clients.prove(min(int(seconds * REPLAYS_PER_SECOND), REPLAYS_MAX))
            finally:
                game.stop()
        equal(wallet.stop(), 0, "exit code of the ledger, stopped at the end")
    report(name, clients, game, killers, pulse, STALL_S[options.long])
    for killer in killers:
        check(len(killer.kills) >= seconds / killer.period_s / 4,
              f"{type(killer).__name__}: {len(killer.kills)} kills in {seconds} s are no test")


def report(name, clients, game, killers, pulse, stall_max_s):
    answered = clients.answered()
    stall, ours = longest_stall(answered, pulse)
    figures = [f"acknowledged {len(clients.transfers())}", f"answers {len(answered)}",
               f"repeats {clients.repeats()}", "unanswered 0", f"bets {len(game.bets())}",
               f"left for later {game.left()}",
               *[f"{killer.what} kills {len(killer.kills)}" for killer in killers],
               "lost 0", "doubled 0", f"longest stall {stall * 1000:.0f} ms "
               f"({(stall - ours) * 1000:.0f} ms of it the machine's)"]
    print(f"# {name}: {', '.join(figures)}", flush=True)
    check(ours <= stall_max_s, f"nobody was answered for {ours * 1000:.0f} ms")


def arguments():
    names = [variant[0] for variant in VARIANTS]
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=20.0, help="of load in each variant")
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
    return cb.run_cases(cases, seconds=int(options.seconds * 1.5) + 180)


if __name__ == "__main__":
    sys.exit(main())
