#!/usr/bin/python3
"""Per-dealer fairness, measured: a dead dealer does not slow down a healthy one, nor slow dealers
the transfers.

Each measure is a ratio of two p99 that are taken in one run, one after the other, on one machine.
It is taken three times, and the median judges. While the machine stood still, as seen by a thread that
only sleeps and one that only writes a block to the disk (tests/crash/pulse.py), no time counts.

    sweeper    how long a healthy dealer's callbacks take from due to delivered, through
               creditbridge-sweep: without load, and beside a dealer that accepts connections and
               hangs, with 5,000 callbacks queued. At most 1.5 times and 0.2 s, where a sweeper that
               waits for the dead one costs seconds. The sweeper always has a call of a third dealer
               under way: idle it looks once a second, which would hide the cost of the others
    noticed    the same measure finds a dealer that did become slow
    transfers  how long a transfer takes under Apache mod_fcgid, with and without twenty bets that
               hang in the platform's pool: at most 1.5 times and 5 ms
"""
import asyncio
import json
import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
from pulse import DiskPulse, Pulse, stood_still  # noqa: E402

STALL_S = 0.05         # of the machine, which is noticed
TRIES = 3              # of a measure; the third only where the first two differ
RATIO_MAX = 1.5
QUEUED = 5000
SWEEP_SECONDS = 4.0
WARMING_S = 1.2        # of these: until the sweeper has found that there is work
ANSWER_S = 0.1         # of a healthy dealer
STEADY = 300           # callbacks of the third dealer, one at a time: for half a minute
SLOW_S = 0.7           # of a dealer that became slow
SWEEP_SLACK_S = 0.2
SWEEP_PERIOD_S = 0.05  # a healthy dealer's callbacks come by so many
SWEEP_BATCH = 8
RETRY_MS = 200         # from the first attempt's end to its being due
HEALTHY_INFLIGHT = 60
HANGING = 20           # max_inflight of the dead dealer; and bets that hang
TRANSFER_SECONDS = 2
TRANSFERS_MIN = 200
TRANSFER_CLIENTS = 2
SLACK_S = 0.005
FOREVER_S = 60


class Servers:
    """Dealers' servers in a thread: one answers after delay_s, one never."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.delay_s = ANSWER_S
        self.hanging = set()  # writers
        self.ports = {}
        started = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(started,), daemon=True)
        self.thread.start()
        check(started.wait(20), "the dealers' servers did not start")

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        for name, serve in (("healthy", self.answer), ("dead", self.hang)):
            server = self.loop.run_until_complete(
                asyncio.start_server(serve, "127.0.0.1", 0, backlog=512))
            self.ports[name] = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()

    def url(self, name):
        return f"http://127.0.0.1:{self.ports[name]}"

    async def answer(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
                await asyncio.sleep(self.delay_s)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    async def hang(self, reader, writer):
        self.hanging.add(writer)
        try:
            while await reader.read(65536):
                pass
        except OSError:
            pass
        self.hanging.discard(writer)
        writer.close()

    def release(self):
        """Ends the calls that hang."""
        self.loop.call_soon_threadsafe(lambda: [w.transport.abort() for w in set(self.hanging)])

    def close(self):
        self.release()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Machine:
    """Whether the machine ran while something was measured on it, its processors and its disk."""

    def __init__(self, wallet):
        self.pulses = Pulse(), DiskPulse(wallet.dir)

    def __enter__(self):
        for pulse in self.pulses:
            pulse.late_s = STALL_S
            pulse.start()
        return self

    def __exit__(self, *_):
        for pulse in self.pulses:
            pulse.stopping.set()
            pulse.join()

    def p99(self, times):
        """Returns the p99 of the durations of @times, which are (begin, end) of the monotonic
        clock, and the machine's stalls, which the durations leave out."""
        stalls = sum(to - since for pulse in self.pulses for since, to in pulse.late)
        net = [end - begin - stood_still(self.pulses, begin, end) for begin, end in times]
        return sorted(net)[int(len(net) * 0.99)], stalls


def fair(name, measure, slack=0.0):
    """@measure returns p99 and the machine's stalls, in seconds, without the load and beside it.
    The median of TRIES must be fair: the verdict of two of three."""
    verdicts = []
    while max(verdicts.count(True), verdicts.count(False)) <= TRIES // 2:
        (alone, still), (beside, stiller) = measure()
        allowed = RATIO_MAX * alone + slack
        verdicts.append(beside <= allowed)
        print(f"# {name}, try {len(verdicts)}: p99 alone {alone * 1000:.1f} ms, beside "
              f"{beside * 1000:.1f} ms (ratio {beside / alone:.2f}, allowed {allowed * 1000:.1f} ms); "
              f"the machine stood still for {still:.2f} s and {stiller:.2f} s", flush=True)
    check(verdicts.count(True) > TRIES // 2,
          f"{name}: p99 {beside * 1000:.1f} ms, allowed {allowed * 1000:.1f} ms")


# -- a dead dealer's callbacks beside a healthy one's

SWEEP_SETTINGS = {
    "log_level": "warning",
    "callback_networks": ["127.0.0.0/8"],
    "result_second_attempt_ms": RETRY_MS,
    # So that the dead dealer is tried again as often as can be.
    "breaker_open_ms": 10,
}


class Sweeping:
    """A wallet with a dead and a healthy dealer, and its sweeper."""

    def __init__(self, wallet, servers):
        self.wallet = wallet
        self.servers = servers
        self.games = 0
        for casino_id, server, inflight in (("healthy", "healthy", HEALTHY_INFLIGHT),
                                            ("dead", "dead", HANGING), ("steady", "healthy", HANGING)):
            wallet.dealer_add(casino_id, "--url", servers.url(server), "--allow-http",
                              "--max-inflight", inflight, mode="seamless")
            wallet.player_add(casino_id, "alice")
        wallet.ctl("client", "add", "fair")

    def link(self):
        return Rounds(self.wallet.sockets / "admin.sock", timeout=30)

    def bets(self, casino_id, count):
        """Places bets, which are accepted; the names of their games."""
        games = [f"game-{self.games + n}" for n in range(count)]
        self.games += count
        with self.link() as rounds:
            rounds.bets(casino_id, "alice", games)
        return games

    def queue(self, casino_id, count):
        games = self.bets(casino_id, count)
        with self.link() as rounds:
            due, left = rounds.settle(casino_id, "alice", games)
        equal(len(due) + len(left), count, f"callbacks of {casino_id}")
        waiting = json.loads(self.wallet_sweep("--dry-run"))["waiting"]
        check(waiting >= count, f"only {waiting} callbacks wait")

    def forget(self):
        """A new engine knows of no calls: the dead dealer's breaker is closed again, and its calls
        take all that max_inflight allows."""
        pid = self.wallet.ctl_json("status")["pid"]
        os.kill(pid, 9)
        cb.wait_until(lambda: self.wallet.ctl_json("status")["pid"] != pid, 20, "a new engine")

    def wallet_sweep(self, *words):
        argv = [cb.find_program("creditbridge-sweep"), "--config", self.wallet.config, "--json"]
        child = cb.Child([*argv, *words], self.wallet.logs / "look.log")
        equal(child.process.wait(30), 0, f"creditbridge-sweep {words}")
        return child.log.read_text().splitlines()[-1]

    def measure(self):
        """p99 of due to delivered of the healthy dealer, and the machine's stalls."""
        self.forget()
        self.wallet.ctl("dealer", "set", "steady", "--max-inflight", HANGING)
        self.queue("steady", STEADY)
        self.wallet.ctl("dealer", "set", "steady", "--max-inflight", 1)
        games = self.bets("healthy", SWEEP_BATCH * int(SWEEP_SECONDS / SWEEP_PERIOD_S))
        log = self.wallet.logs / f"sweep-{self.games}.log"
        child = cb.Child([cb.find_program("creditbridge-sweep"), "--config", self.wallet.config,
                          "--json", "--for", f"{FOREVER_S}s"], log)
        with Machine(self.wallet) as machine:
            try:
                warm_ms = cb.now_ms() + WARMING_S * 1000
                due = self.settle(games)
                rows = cb.wait_until(lambda: self.delivered(games), 30,
                                     "delivery of the healthy dealer's callbacks")
            finally:
                code = child.stop()
        equal(code, 0, f"exit code of the sweeper: {log.read_text()}")
        # One that was not tried at once was due when it was made.
        times = [(row["ended_ms"], due.get(row["event"], row["first_ms"])) for row in rows]
        since = time.monotonic() - time.time()
        return machine.p99([(begin / 1000 + since, ended / 1000 + since) for ended, begin in times
                            if begin >= warm_ms])

    def settle(self, games):
        """Settles the rounds evenly; {event: when it is due}."""
        due = {}
        start = time.monotonic()
        with self.link() as rounds:
            for at in range(0, len(games), SWEEP_BATCH):
                due.update(rounds.settle("healthy", "alice", games[at:at + SWEEP_BATCH])[0])
                later = start + (at // SWEEP_BATCH + 1) * SWEEP_PERIOD_S
                time.sleep(max(0.0, later - time.monotonic()))
        return due

    def delivered(self, games):
        """The callbacks of @games; None: they are not all delivered."""
        rows = self.wallet.ctl_json("callback", "list", "--casino", "healthy", "--kind",
                                    "betting-result", "--limit", len(games))["callbacks"]
        equal({row["game_id"] for row in rows}, set(games), "the games of the newest callbacks")
        return rows if all(row["state"] == "delivered" for row in rows) else None


def case_sweeper():
    def measure():
        with Servers() as servers, cb.Instance("cbfair", settings=SWEEP_SETTINGS) as wallet:
            sweeping = Sweeping(wallet, servers)
            alone = sweeping.measure()
            sweeping.queue("dead", QUEUED)
            hung = threading.Event()
            watch = threading.Thread(target=watch_hanging, args=(servers, hung), daemon=True)
            watch.start()
            beside = sweeping.measure()
            check(hung.is_set(), "the dead dealer was not called")
            return alone, beside
    fair("sweeper", measure, SWEEP_SLACK_S)


def watch_hanging(servers, hung):
    """Until the dead dealer has all the calls that max_inflight allows."""
    end = time.monotonic() + FOREVER_S
    while not hung.is_set() and time.monotonic() < end:
        if len(servers.hanging) >= HANGING:
            hung.set()
        time.sleep(0.01)


def case_noticed():
    with Servers() as servers, cb.Instance("cbfair", settings=SWEEP_SETTINGS) as wallet:
        sweeping = Sweeping(wallet, servers)
        alone, _ = sweeping.measure()
        servers.delay_s = SLOW_S
        beside, _ = sweeping.measure()
    check(beside > RATIO_MAX * alone + SWEEP_SLACK_S, f"p99 {alone:.3f} s, and {beside:.3f} s of a slow dealer")


# -- hanging bets beside transfers

TRANSFER_SETTINGS = {
    "log_level": "warning",
    "callback_networks": ["127.0.0.0/8"],
    "callback_timeout_ms": 6000,
}


class Platform:
    def __init__(self, wallet, server, servers):
        self.wallet = wallet
        self.server = server
        self.servers = servers
        self.dealer = wallet.dealer_add("transfers")
        self.key = wallet.ctl_json("client", "add", "slots")["key"]
        self.phases = 0
        for number in range(TRANSFER_CLIENTS):
            wallet.player_add("transfers", f"user-{number}")

    def bet(self, casino_id, number, answers):
        body = json.dumps({"request_transaction_id": f"{casino_id}-{number}", "game_id": "g",
                           "casino_id": casino_id, "user_id": "alice", "bet_amount": 1,
                           "remark": "", "user_bet": {}}).encode()
        answers.append(cb.call(self.server, "POST", "/platform/bets", body,
                               port=self.server.platform_port, timeout=30, headers=[
                                   ("x-client-id", "slots"),
                                   ("x-client-signature", cb.sign(self.key, body))]))

    def hanging(self, measure, strict=True):
        """Returns the result of @measure while twenty bets hang; not @strict: while as many hang as
        can."""
        self.phases += 1
        casino_id = f"slow-{self.phases}"
        self.wallet.dealer_add(casino_id, "--url", self.servers.url("dead"), "--allow-http",
                               "--max-inflight", HANGING, mode="seamless")
        self.wallet.player_add(casino_id, "alice")
        answers = []
        threads = [threading.Thread(target=self.bet, args=(casino_id, number, answers))
                   for number in range(HANGING)]
        for thread in threads:
            thread.start()
        cb.wait_until(lambda: len(self.servers.hanging) == HANGING or answers, 20,
                      "twenty bets that hang")
        value = measure()
        hung = (len(self.servers.hanging), len(answers))
        self.servers.release()
        for thread in threads:
            thread.join(30)
        if strict:
            equal(hung, (HANGING, 0), "bets that hung all the time, and that did not")
            equal([answer.status for answer in answers], [504] * HANGING, "answers to them")
        return value

    def transfers(self):
        """When each transfer began and ended."""
        took = []
        end = time.monotonic() + TRANSFER_SECONDS

        def client(number):
            chance = random.Random()
            # A slow machine gets more time: fewer transfers have no p99.
            while time.monotonic() < end or len(took) < TRANSFERS_MIN:
                start = time.monotonic()
                answer = cb.call(self.server, "POST", cb.TRANSFER_IN, {
                    "request_transaction_id": f"{chance.getrandbits(64)}",
                    "user_id": f"user-{number}", "amount": 1}, dealer=self.dealer)
                equal(answer.status, 200, f"a transfer: {answer}")
                took.append((start, time.monotonic()))
        cb.each_in_thread(client, range(TRANSFER_CLIENTS))
        return took


def case_transfers():
    with Servers() as servers, \
            cb.Instance("cbfair", settings=TRANSFER_SETTINGS) as wallet, \
            cb.ApacheFcgid(wallet) as server:
        platform = Platform(wallet, server, servers)
        # The pools grow to what they will need.
        platform.hanging(platform.transfers, strict=False)

        def measure():
            with Machine(wallet) as machine:
                first = platform.transfers()
                beside = platform.hanging(platform.transfers)
                last = platform.transfers()
            return machine.p99(first + last), machine.p99(beside)
        fair("transfers", measure, SLACK_S)


CASES = [
    ("a dead dealer with 5,000 callbacks does not slow down a healthy one", case_sweeper),
    ("a dealer who becomes slow is noticed", case_noticed),
    ("twenty hanging bets do not slow down the transfers", case_transfers),
]

if __name__ == "__main__":
    WANTED = sys.argv[1:]
    sys.exit(cb.run_cases([case for case in CASES if not WANTED or case[1].__name__ in WANTED],
                          seconds=150))
