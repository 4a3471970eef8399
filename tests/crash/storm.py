#!/usr/bin/python3
"""The storm: a dealer's server that fails two times in three, and everything of ours dying.

    storm.py [--seconds N] [--bets N] [--seed N] [VARIANT...]

Variants (lighttpd and lie by default):

    lighttpd    real workers under lighttpd, ledger, sweepers and reference dealer; between them and
                the dealer the failing network of proxy.py
    apache      the same under Apache mod_fcgid
    lie         a short storm with a dealer that credits a repeated result again: it must be found

Game servers place bets and settle rounds, and repeat each call until it is answered for good. All
the while a worker and a sweeper are killed every 500 ms, the ledger's engine every 4 s, a worker is
stopped for longer than its leases now and then, and sweepers are started two at once. A storm goes
on until --bets were placed, for four times its seconds at most. Then the network is mended, and
what is left is swept; what was parked the operator retries. In the end every bet is in one end
state, which is that of the answer to its game server, the dealer's book and ours agree to the last
1/10000 for each player, nothing is stuck, no callback was sent more often than it was counted, and
`creditbridgectl check` finds nothing (judge.py). The judge then gets false data, and must notice
it.

What is shortened: the call's timeout (350 ms), leases (2 s), the delays between attempts (0.1 to
0.8 s), the breaker's time (50 ms); refund_delay is 1 s. Bets that come later than their refund are
part of the storm: the reference dealer's tombstones are what refuses them.

$SEED (or --seed) replays the calls, and the chances of the faults and kills. Prints TAP, and a
comment with the figures of each variant.
"""
import argparse
import collections
import contextlib
import decimal
import json
import os
import random
import secrets
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
import game  # noqa: E402
import judge  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_dealer import ReferenceDealer  # noqa: E402
from cb_platform import client_add  # noqa: E402
from killers import EngineKiller, Freezer, SweeperKiller, Sweepers, WorkerKiller  # noqa: E402
from network import Network  # noqa: E402
from proxy import FAULTS  # noqa: E402

GAME_SERVERS = 32
CASINOS = 4          # one reference dealer serves them all: the breaker and max_inflight are theirs.
                     # No more than the keys that it takes: a key is of one dealer only
PLAYERS = 40
OPENING = 1000       # what each player has at the dealer
THREADS = 16         # of a worker under lighttpd
WORKER_PERIOD_S = 0.5
SWEEPER_PERIOD_S = 0.5
SWEEPERS_ENOUGH = 40     # started in a run, that one of them must have stood back; 66 are usual
ENGINE_PERIOD_S = 4.0
FREEZER_PERIOD_S = 2.0   # between two
LIE_SECONDS = 4.0
LIE_BETS = 150
REFUND_DELAY_S = 1
SETTINGS = dict(game.SETTINGS, log_level="warning", refund_give_up_s=4, sweep_concurrency=64)


class Lighttpd(cb.Lighttpd):
    """It starts dead workers again once a second: with two there would often be none."""

    platform_processes = 4


class Storm:
    """All that takes part in one."""

    def __init__(self, wallet, server, dealer, network, options, seed):
        self.wallet = wallet
        self.server = server
        self.dealer = dealer
        self.network = network
        self.options = options
        self.seed = seed
        self.stopping = threading.Event()
        self.struck = {}  # while it raged: how often each fault struck
        self.client = client_add(wallet, "slots")
        self.players = self.players_make()
        self.games = [game.GameServer(self, number) for number in range(GAME_SERVERS)]
        self.sweepers = Sweepers(wallet)
        self.freezer = Freezer(wallet, seed, FREEZER_PERIOD_S)
        self.killers = [WorkerKiller(wallet, seed, WORKER_PERIOD_S, "platform", self.freezer),
                        SweeperKiller(self.sweepers, seed, SWEEPER_PERIOD_S),
                        EngineKiller(wallet, seed, ENGINE_PERIOD_S)]

    def players_make(self):
        casinos = [f"casino-{number}" for number in range(CASINOS)]
        keys = [secrets.token_hex(32) for _ in casinos]
        self.dealer.keys_write(*keys)
        for casino_id, key in zip(casinos, keys):
            self.wallet.ctl("dealer", "add", casino_id, "--currency", "thb", "--mode", "seamless",
                            "--decimals", 4, "--url", self.network.base_url, "--allow-http",
                            "--refund-delay", REFUND_DELAY_S, "--key-file", "-",
                            stdin=key + "\n")
        caller = game.Caller(self.server, self.client, random.Random(self.seed), True)
        players = []
        for number in range(PLAYERS):
            casino_id, user_id = casinos[number % CASINOS], f"user-{number}"
            answer = caller.call(game.PLAYERS, {"casino_id": casino_id, "user_id": user_id})
            equal(answer.status, 200, f"registering {user_id}: {answer}")
            players.append(game.Player(casino_id, user_id, answer.json["player_id"]))
        caller.close()
        return players

    def bets(self):
        return [bet for one in self.games for bet in one.bets]

    def results(self):
        return [result for one in self.games for result in one.results]

    def failures(self):
        return [one for one in self.games if one.failure]

    def rage(self):
        """Ends early when a game server fails."""
        self.network.fail(True)
        for one in self.games:
            one.start()
        start = time.monotonic()
        while not self.failures() and not self.over(time.monotonic() - start):
            self.sweepers.tend()
            for killer in [self.freezer, *self.killers]:
                killer.run(time.monotonic())
            time.sleep(0.005)
        self.struck = self.network.report()["struck"]
        self.network.fail(False)
        self.stop()
        self.games_end()
        return time.monotonic() - start

    def stop(self):
        """No more rounds, no more sweepers."""
        self.stopping.set()
        self.freezer.thaw()
        self.sweepers.stop()

    def over(self, seconds):
        enough = sum(len(one.bets) for one in self.games) >= self.options.bets
        return seconds > self.options.seconds * (1 if enough else 4)

    def games_end(self):
        """Lets every game server finish its round; for what others left they need a sweeper."""
        deadline = time.monotonic() + game.PATIENCE_S + 2 * game.TIMEOUT_S
        while time.monotonic() < deadline and any(one.is_alive() for one in self.games):
            self.sweepers.sweep()
        for one in self.games:
            check(not one.is_alive(), f"game server {one.number} hangs")
        failed = self.failures()
        check(not failed, "; ".join(f"game server {one.number}: {one.failure!r}"
                                    for one in failed[:5]))

    # -- the end

    def drain(self):
        return self.sweepers.drain(lambda: self.network.report()["pending"])

    def case(self, retries):
        """All that is known by now (judge.py)."""
        exactly = decimal.Decimal
        rows, callbacks = (
            json.loads(self.wallet.ctl("--json", what, "list", "--limit", 0), parse_float=exactly)
            for what in ("bet", "callback"))
        return judge.Case(self.bets(), self.results(), rows["bets"], callbacks["callbacks"],
                          self.dealer.state(exactly), self.network.report()["arrivals"], OPENING,
                          retries)

    def figures(self, seconds, retries, case):
        bets = collections.Counter(bet.error or "accepted" for bet in self.bets())
        struck = self.struck
        return [f"{len(self.bets())} bets in {seconds:.0f} s",
                *[f"{error} {count}" for error, count in sorted(bets.items())],
                f"results {len(self.results())}",
                f"repeats {sum(one.caller.repeats for one in self.games)}",
                f"calls {sum(struck.values()) - struck.get('door', 0)}",
                *[f"{fault} {count}" for fault, count in sorted(struck.items())],
                *[f"{killer.what} kills {len(killer.kills)}"
                  for killer in self.killers], f"workers frozen {self.freezer.count}",
                f"taken over {case.taken_over()}",
                f"sweepers {self.sweepers.started} (stood back {self.sweepers.stood_back})",
                f"bets that came after their refund {case.after_refund()}",
                f"parked and retried {sum(retries.values())}", "stuck 0"]


@contextlib.contextmanager
def storm_open(name, kind, options, seed):
    with contextlib.ExitStack() as stack:
        dealer = stack.enter_context(ReferenceDealer("--opening-balance", OPENING, threads=32))
        wallet = stack.enter_context(cb.Instance("cbstorm", settings=SETTINGS))
        network = stack.enter_context(Network(wallet.logs, dealer.port, seed, game.TIMEOUT_MS,
                                              REFUND_DELAY_S * 1000))
        server = stack.enter_context(kind(wallet, threads=THREADS))
        storm = Storm(wallet, server, dealer, network, options, seed)
        stack.callback(storm.stop)
        yield storm


def variant_run(name, kind, options):
    with storm_open(name, kind, options, f"{options.seed}/{name}") as storm:
        seconds = storm.rage()
        retries = storm.drain()
        case = storm.case(retries)
        print(f"# {name}: {', '.join(storm.figures(seconds, retries, case))}", flush=True)
        case.judge()
        missed = [lie for lie, false in judge.lies(case) if noticed(false) is None]
        check(not missed, f"lies that the judge did not notice: {missed}")
        for killer in storm.killers:
            check(len(killer.kills) >= seconds / killer.period_s / 4,
                  f"{type(killer).__name__}: {len(killer.kills)} kills in {seconds:.0f} s")
        check(case.taken_over(), "nothing was taken over")
        # On a machine that is too busy few sweepers start, and none beside another.
        check(storm.sweepers.stood_back or storm.sweepers.started < SWEEPERS_ENOUGH, "no sweeper had to stand back")
        check_faults(storm.struck)
        done = storm.wallet.ctl_run("check")
        equal(done.returncode, 0, f"{done.stdout}{done.stderr}creditbridgectl check, exit code")
        equal(storm.wallet.stop(), 0, "exit code of the ledger, stopped at the end")


def check_faults(struck):
    """The storm was one: every fault struck, and in the share that was promised."""
    calls = sum(count for fault, count in struck.items() if fault != "door")
    for fault, percent in FAULTS:
        share = 100 * struck.get(fault, 0) / calls
        check(share > percent / 2, f"{fault} struck {share:.1f} % of the calls, not {percent}")


def noticed(case):
    """What the judge finds; None: nothing."""
    try:
        case.judge()
    except AssertionError as error:
        return str(error)
    return None


def lie_run(name, kind, options):
    """The judge notices a dealer that credits a repeated result again."""
    options = argparse.Namespace(**{**vars(options), "seconds": LIE_SECONDS, "bets": LIE_BETS})
    with storm_open(name, kind, options, f"{options.seed}/{name}") as storm:
        storm.dealer.fault("credit_twice")
        storm.rage()
        found = noticed(storm.case(storm.drain()))
    check(found and "balance of" in found, f"a dealer who credits twice: {found}")


VARIANTS = {
    "lighttpd": (variant_run, Lighttpd),
    "apache": (variant_run, cb.ApacheFcgid),
    "lie": (lie_run, Lighttpd),
}


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=15.0, help="of each storm")
    parser.add_argument("--bets", type=int, default=300, help="at least, in each storm")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(VARIANTS))
    options = parser.parse_args()
    if set(options.variants) - set(VARIANTS):
        parser.error(f"the variants are {', '.join(VARIANTS)}")
    return options


def main():
    options = arguments()
    print(f"# SEED={options.seed}", flush=True)
    names = options.variants or ["lighttpd", "lie"]
    cases = [(name, lambda name=name: VARIANTS[name][0](name, VARIANTS[name][1], options))
             for name in names]
    return cb.run_cases(cases, seconds=int(options.seconds * 5) + 180)


if __name__ == "__main__":
    sys.exit(main())
