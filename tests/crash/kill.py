#!/usr/bin/python3
"""Real servers, workers, ledger and sweepers under load, and SIGKILL.

    kill.py [--seconds N] [--seed N] [--from] [VARIANT...]

Variants (all by default; --from begins with the one named, which resumes a long run):

    lighttpd    a worker of each mount is killed every 200 ms, the ledger's engine every 500 ms
                (on PostgreSQL every second), and a sweeper now and then, under lighttpd
    apache      the same under Apache mod_fcgid
    parent      creditbridge-ledger itself is killed each second, and started again

16 clients make transfers, and repeat what is not answered; game servers play rounds of a dealer
whose server fails now and then, so that sweepers have work (tables.py). Then: nothing acknowledged
is lost, nothing moved twice, every call was answered, `creditbridgectl check` finds nothing, and
never was there a longer time than a second in which no client was answered (5 s in runs of up to a
minute, which share their machine with others), but for the time in which this program stood still
as well. It prints the longest such times, with the processes that were killed in them and the lines
that the ledger logged.

$SEED (or --seed) replays the clients' calls and the schedule of kills. Prints TAP, and a comment
with the figures of each variant.
"""
import argparse
import datetime
import os
import random
import sys
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
from pulse import DiskPulse, Pulse, stood_still  # noqa: E402

WORKER_PERIOD_S = 0.2
# On PostgreSQL an engine takes 0.4 s to start: killed every 0.5 s, on a busy machine none ever answered.
ENGINE_PERIOD_S = 1.0 if os.environ.get("CB_STORE") == "postgresql" else 0.5
SWEEPER_PERIOD_S = (0.2, 2.0)  # chosen anew each time
PARENT_PERIOD_S = 1.0
PARENT_SECONDS_MAX = (5.0, 60.0)  # in a short run, in a long one
STALL_S = (5.0 * cb.PATIENCE, 1.0)  # likewise; the long one runs on a quiet machine
UNANSWERED_KILLS = 3
LATE_S = 0.05        # a shorter time without an answer is none
STALLS_TOLD = 5
REPLAYS_PER_SECOND = 60
REPLAYS_MAX = 10000
# All answers of a run are kept until its end: so a long run makes its calls more slowly.
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


class Stall:
    """A time without an answer."""

    def __init__(self, begin, end, machine, disk):
        self.begin = begin
        self.whole = end - begin
        self.of_machine = stood_still([machine], begin, end)
        self.of_disk = stood_still([machine, disk], begin, end) - self.of_machine
        # A slow disk may delay the ledger's writes: the report says so, and the time counts.
        self.ours = self.whole - self.of_machine

    def __str__(self):
        return (f"{self.whole * 1000:.0f} ms ({self.of_machine * 1000:.0f} ms of it the machine's; for "
                f"{self.of_disk * 1000:.0f} ms the disk was late)")

    def told(self, start, killers, log):
        """When it was, what was killed in it, and what of the ledger's @log is of that time."""
        kills = [f"{killer.what} at {(when - self.begin) * 1000:.0f} ms" for killer in killers
                 for when in killer.kills if -0.1 < when - self.begin < self.whole]
        first, last = (log_time(when) for when in (self.begin - 0.1, self.begin + self.whole))
        return "\n#     ".join((
            f"{self.begin - start:.1f} s after the first answer: {self}; {', '.join(kills)}",
            f"from {log_time(self.begin)}",
            *[line for line in log if first <= line[:len(first)] <= last]))


def log_time(when):
    """@when, of the monotonic clock, as the log writes it."""
    wall = time.time() - time.monotonic() + when
    return datetime.datetime.fromtimestamp(wall, datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%S.%f")[:-3]


def starved(clients, killer):
    """No call was answered since the last UNANSWERED_KILLS ledgers were killed. A machine may be so slow that none starts
    within the period: to kill each one would prove nothing."""
    if not isinstance(killer, (EngineKiller, ParentKiller)) or len(killer.kills) < UNANSWERED_KILLS:
        return False
    return killer.kills[-UNANSWERED_KILLS] > max((client.answered[-1] for client in clients.clients if client.answered),
                                                 default=0.0)


def run_load(clients, game, killers, seconds):
    """Load and kills. Ends early when a client fails. Returns the machine's pulse and its disk's."""
    pulses = Pulse(), DiskPulse(clients.wallet.dir)
    for pulse in pulses:
        pulse.start()
    clients.start()
    game.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not clients.failures() and not game.failures():
        game.sweepers.tend()
        for killer in killers:
            if not starved(clients, killer):
                killer.run(time.monotonic())
        time.sleep(0.005)
    clients.stop()
    game.stop()
    for pulse in pulses:
        pulse.stopping.set()
    return pulses


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
                pulses = run_load(clients, game, killers, seconds)
                game.prove()
                clients.prove(min(int(seconds * REPLAYS_PER_SECOND), REPLAYS_MAX))
            finally:
                game.stop()
        equal(wallet.stop(), 0, "exit code of the ledger, stopped at the end")
        log = wallet.logs.joinpath("ledger.log").read_text(errors="replace").splitlines()
    report(name, clients, game, killers, pulses, log, STALL_S[options.long])
    for killer in killers:
        check(len(killer.kills) >= seconds / killer.period_s / 4,
              f"{type(killer).__name__}: {len(killer.kills)} kills in {seconds} s are no test")


def report(name, clients, game, killers, pulses, log, stall_max_s):
    answered = clients.answered()
    stalls = sorted((Stall(a, b, *pulses) for a, b in zip(answered, answered[1:]) if b - a > LATE_S),
                    key=lambda stall: stall.ours, reverse=True)
    figures = [f"acknowledged {len(clients.transfers())}", f"answers {len(answered)}",
               f"repeats {clients.repeats()}", "unanswered 0", f"bets {len(game.bets())}",
               f"left for later {game.left()}",
               *[f"{killer.what} kills {len(killer.kills)}" for killer in killers],
               "lost 0", "doubled 0", f"longest stall {stalls[0] if stalls else 'none'}"]
    print(f"# {name}: {', '.join(figures)}", flush=True)
    for stall in stalls[:STALLS_TOLD]:
        print(f"#   stall {stall.told(answered[0], killers, log)}", flush=True)
    ours = stalls[0].ours if stalls else 0.0
    check(ours <= stall_max_s, f"no client was answered for {ours * 1000:.0f} ms")


def arguments():
    names = [variant[0] for variant in VARIANTS]
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=10.0, help="of load in each variant")
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
