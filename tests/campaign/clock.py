#!/usr/bin/python3
"""The wall clock is set while bets, callbacks and transfers are under way.

    clock.py [--jumps N] [--seed N]

Ledger, workers under lighttpd and sweeper have a wall clock of their own (wall.c); CLOCK_MONOTONIC
and CLOCK_BOOTTIME are the true ones. Game servers play rounds at a dealer whose server is late,
hangs and fails, clients move credit, and bets are begun whose sender ends or is silent, so that
leases are held through every jump.

    days      jumps of a day each way, and of two, and to anywhere within a day (--jumps of them); the
              ledger's engine is killed on both sides of one. lighttpd keeps the true clock: it
              starts itself anew when its clock jumps, and no worker would live through a jump
    calendar  both changes of daylight saving time in the programs' time zone, a leap second, as Linux
              makes it (a second comes twice), and the second after which 32 bits are too few
    retention what is older than retention_days is dropped, and a jump of a day drops nothing; a time
              in the future keeps nothing else

Judged by the true clock and what the dealer's server saw (clock_judge.py): no refund before its delay,
no lease taken over early, nothing stuck, attempts in their time; and by the wall clock as it was: times
of bets, webhook-timestamp, the window of request_timestamp, days of A4 and of recon. Ids grow, both
books agree, `creditbridgectl check` finds nothing.

What is shortened: see SETTINGS in clock_play.py. Prints TAP, the seed and a comment with figures.
"""
import argparse
import contextlib
import datetime
import os
import random
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
import cb_metrics  # noqa: E402
import clock_play as play  # noqa: E402
from cb import STAT, check, equal, wait_until  # noqa: E402
from cb_platform import client_add, platform_call  # noqa: E402
from clock_judge import Judge  # noqa: E402
from wall import Wall  # noqa: E402

DAY_S = 86400
JUMPS = 3
DWELL_S = (0.2, 0.7)
SWEEP_S = 2
ASIDE_S = 0.8  # of a moment that is run over
ZONE = "America/New_York"
RETENTION_DAYS = 180
RETENTION_PAUSE_S = 1
PASSES_S = 2.5  # an engine's start, its pause and its first pass


def unix(text):
    return datetime.datetime.fromisoformat(text + "+00:00").timestamp()


# Seconds that the clock is run over; the last number is added to it there.
CALENDAR = (
    ("daylight saving time ends", unix("2026-11-01T06:00:00"), 0),
    ("daylight saving time begins", unix("2026-03-08T07:00:00"), 0),
    ("a leap second", unix("2017-01-01T00:00:00"), -1),
    ("2038", unix("2038-01-19T03:14:08"), 0),
)


class Bench:
    """All that takes part in a case."""

    def __init__(self, stack, wall, seed, offset_min=0):
        self.wall = wall
        self.seed = seed
        self.offset_min = offset_min
        self.random = random.Random(f"{seed}/bench")
        self.stopping = threading.Event()
        self.sweeper = None
        self.sweeps = 0
        self.kills = []  # when (time.monotonic()), before each
        self.holds = []
        self.retried = set()  # games
        self.wallet = stack.enter_context(cb.Instance("cbclock", settings=dict(play.SETTINGS, retention_pause_s=RETENTION_PAUSE_S)))
        self.server = stack.enter_context(cb.Lighttpd(self.wallet, threads=16))
        stack.callback(self.end)
        self.bank = self.wallet.dealer_add(play.BANK)
        port = cb.free_port()
        self.options = ("--url", f"http://127.0.0.1:{port}", "--allow-http", "--refund-delay",
                        play.REFUND_DELAY_S, "--utc-offset", offset_min)
        self.casino = self.wallet.dealer_add(play.CASINO, *self.options, mode="seamless")
        self.client = client_add(self.wallet, "slots")
        self.dealer = stack.enter_context(play.Dealer(port, self.casino.key))
        self.games = [play.GameServer(self, number) for number in range(play.GAMES)]
        self.bankers = [play.Banker(self, number) for number in range(play.BANKERS)]
        for player in self.games:
            self.wallet.player_add(play.CASINO, player.user_id)
            self.dealer.book.balances[player.user_id] = play.OPENING
        for player in self.bankers:
            self.wallet.player_add(play.BANK, player.user_id)

    # -- processes

    def sweep(self):
        """A sweeper is at work all the time."""
        if self.sweeper and self.sweeper.running():
            return
        if self.sweeper:
            equal(self.sweeper.process.returncode, 0, f"a sweeper: {self.sweeper.log_tail()}")
        self.sweeps += 1
        self.sweeper = cb.Child(
            [cb.find_program("creditbridge-sweep"), "--config", self.wallet.config, "--json",
             "--for", f"{SWEEP_S}s"], self.wallet.logs / "sweep.log")

    def end(self):
        self.stopping.set()
        for held in self.holds:
            held.link.close()
        if self.sweeper:
            self.sweeper.stop()

    def kill(self):
        """Kills the engine, which is started again at the present time of the clock."""
        self.kills.append(time.monotonic())
        for pid in self.wallet.engine_pids():
            os.kill(pid, signal.SIGKILL)
        wait_until(self.wallet.answering, play.LATE_S, "the next engine")

    def faked(self):
        """Every program has the clock that is set."""
        pids = [self.wallet.ledger.pid, *self.wallet.engine_pids(), *self.server.worker_pids(),
                self.sweeper.pid]
        check(len(pids) >= 7, f"processes: {pids}")
        for pid in pids:
            check(self.wall.holds(pid) is not False, f"process {pid} has the clock")

    # -- play

    def start(self):
        for player in self.games + self.bankers:
            player.start()
        self.stay(0.5)
        self.faked()

    def stay(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.sweep()
            for player in self.games + self.bankers:
                if player.failure:
                    raise player.failure
            time.sleep(0.01)

    def hold(self):
        """Two leases: of a sender that is gone, and of one that is silent."""
        for patience in (False, True):
            # Each has a dealer of its own: bets with an unknown outcome open a dealer's breaker.
            casino_id = f"held-{len(self.holds)}"
            held = self.wallet.dealer_add(casino_id, *self.options, mode="seamless")
            self.dealer.other_keys.append(held.key)
            self.wallet.player_add(casino_id, "user-0")
            self.holds.append(play.hold(self, casino_id, patience))

    def stop(self):
        """Lets everything come to its end."""
        self.stopping.set()
        deadline = time.monotonic() + 3 * play.LATE_S
        for player in self.games + self.bankers:
            while player.is_alive():
                self.stay(0.05)
                check(time.monotonic() < deadline, f"{player.user_id} hangs")
        while not self.ended():
            self.stay(0.1)
            check(time.monotonic() < deadline, f"callbacks that do not end: {self.waiting()[:3]}")
        self.stay(0)

    def waiting(self):
        # Not all there are: while this program reads thousands of them the dealer in it is late.
        rows = self.wallet.ctl_json("callback", "list", "--limit", 0, "--state",
                                    "due,sending,parked,held,cancelled")["callbacks"]
        for row in rows:
            if row["state"] == "parked":
                self.retry(row)
        return rows

    def retry(self, row):
        """Retries a callback that is parked, as an operator does. It may be parked only if the
        dealer, which is slow on a busy machine, did not answer the last attempt in time. Only few
        rounds may have such a callback."""
        check(row["last_class"] == "unknown" and row["attempts"] > len(play.RESULT_DELAYS_S) and
              row["last_ms"] >= play.TIMEOUT_S * 1000, f"given up: {row}")
        self.retried.add(row["game_id"])
        rounds = sum(len(player.rounds) for player in self.games)
        check(len(self.retried) <= 1 + play.RETRIED_SHARE * rounds, f"given up: {self.retried}")
        self.wallet.ctl("callback", "retry", row["event"], "--yes", "--reason",
                        "the dealer was slow")

    def ended(self):
        return not self.waiting()

    def swept(self):
        self.sweep()
        return self.ended()

    # -- the time

    def midnight(self, day):
        return unix(day)

    def noon(self, day):
        return unix(day) + DAY_S // 2 - self.offset_min * 60

    def balance(self, banker):
        body = {"user_id": banker.user_id, "request_timestamp": self.wall.now_ms()}
        return cb.call(self.server, "POST", cb.BALANCE, body, dealer=self.bank).json["balance"]

    def windows(self):
        """What depends on the wall clock follows it at once."""
        banker, ahead_ms = self.bankers[0], int(self.wall.ahead_s * 1000)
        for off_s in (0, -240, 240):
            equal(banker.read(off_s * 1000), "", f"a timestamp {off_s} s off")
        for off_s in (-360, 360):
            equal(banker.read(off_s * 1000), "stale_request", f"a timestamp {off_s} s off")
        if abs(ahead_ms) > 400000:
            equal(banker.read(-ahead_ms), "stale_request", "the true time")
        before = self.wall.now_ms()
        answer = cb.call(self.server, "POST", STAT, {
            "user_id": self.games[0].user_id, "include_data": ["bet_summary"],
            "request_timestamp": before}, dealer=self.casino)
        equal(answer.status, 200, f"A4: {answer}")
        check(answer.json["bet_summary"][-1]["date"] in
              [play.day_of(ms, self.offset_min) for ms in (before, self.wall.now_ms())],
              f"today is {answer.json['bet_summary'][-1]}")
        self.ready()

    def ready(self):
        """The readiness check does not take the sweeper for dead because the clock was set."""
        answer = platform_call(self.server, "/readyz", method="GET")
        equal(answer.status, 200, f"/readyz: {answer}")

    def leap(self, ahead_s):
        self.wall.leap(ahead_s)
        self.windows()

    def over(self, moment, step_s):
        """Runs the clock over @moment, where @step_s is added."""
        self.wall.set(moment - ASIDE_S)
        self.windows()
        self.stay(max(0, moment - self.wall.now()))
        if step_s:
            self.wall.leap(self.wall.ahead_s + step_s)
        self.stay(ASIDE_S)
        self.windows()


@contextlib.contextmanager
def bench_open(seed, offset_min=0, **environment):
    with contextlib.ExitStack() as stack:
        wall = stack.enter_context(Wall(**environment))
        yield Bench(stack, wall, seed, offset_min)


def finish(bench, name, judge_days):
    bench.stop()
    judge = Judge(bench)
    print(f"# {name}: {judge.figures()}", flush=True)
    judge.all()
    judge.statistics()
    if judge_days:
        judge.recon()
    equal(bench.wallet.stop(), 0, "exit code of the ledger")


def case_days(options):
    with bench_open(f"{options.seed}/days", offset_min=420, WALL_SPARES="lighttpd") as bench:
        leaps = [DAY_S, 0, -DAY_S, 0, -DAY_S, DAY_S, 0]
        leaps += [bench.random.uniform(-DAY_S, DAY_S) for _ in range(options.jumps)] + [0]
        bench.start()
        for number, ahead_s in enumerate(leaps):
            # Some leases begin before a jump, and end after it.
            if number < 5 or number % 20 == 0:
                bench.hold()
                bench.stay(0.05)
            bench.leap(ahead_s)
            bench.stay(bench.random.uniform(*DWELL_S))
            if number == 5:
                bench.kill()
                bench.leap(-ahead_s)
                bench.kill()
        finish(bench, "days", True)


def case_calendar(options):
    with bench_open(f"{options.seed}/calendar", TZ=ZONE) as bench:
        bench.start()
        for what, moment, step_s in CALENDAR:
            print(f"# {what}", flush=True)
            bench.hold()
            bench.over(moment, step_s)
        bench.leap(0)
        finish(bench, "calendar", False)


def body_of(bench, event):
    return bench.wallet.ctl_json("callback", "show", event)["body"]


def dropped(bench):
    text = platform_call(bench.server, "/metrics", method="GET").body.decode()
    return cb_metrics.parse(text).get("creditbridge_bodies_dropped_total")


def case_retention(options):
    """A pass begins a second after each engine's start."""
    with bench_open(f"{options.seed}/retention") as bench:
        player = bench.games[0]
        player.random = random.Random(1)

        def played(count):
            """Rounds that are over; an event of one of them."""
            for _ in range(count):
                player.step()
            wait_until(bench.swept, play.LATE_S, "callbacks that have ended")
            return max(row["event"] for row in bench.wallet.ctl_json(
                "callback", "list", "--limit", 0)["callbacks"])

        bench.wall.set(unix("2038-06-01"))
        future = played(1)
        bench.leap(0)
        now = played(1)
        for days in (1, -1, RETENTION_DAYS - 1, 0):
            bench.wall.leap(days * DAY_S)
            bench.kill()
            time.sleep(PASSES_S)
            check(body_of(bench, now), f"the body is there when the clock is {days} days ahead")
        bench.wall.leap((RETENTION_DAYS + 2) * DAY_S)
        bench.kill()
        wait_until(lambda: dropped(bench), play.LATE_S, "bodies dropped, which are old enough",
                   interval=0.1)
        wait_until(lambda: body_of(bench, now) is None, play.LATE_S, "the body gone", interval=12)
        check(body_of(bench, future), "what is to come has its body")
        bench.wall.leap(0)
        Judge(bench).books()


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--jumps", type=int, default=JUMPS, help="to anywhere within a day")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    parser.add_argument("cases", nargs="*", metavar="CASE")
    return parser.parse_args()


def main():
    options = arguments()
    print(f"# SEED={options.seed}", flush=True)
    cases = {"days": case_days, "calendar": case_calendar, "retention": case_retention}
    names = options.cases or list(cases)
    return cb.run_cases([(name, lambda name=name: cases[name](options)) for name in names],
                        seconds=int(options.jumps * 3) + 240)


if __name__ == "__main__":
    sys.exit(main())
