#!/usr/bin/python3
"""The campaign `overload`: more calls than the servers can answer, and slow callers.

On lighttpd and Apache mod_fcgid, one after the other, each for --seconds:

    flood    transfers on four times as many connections as the mount serves calls at a time
    stranger a caller without a key sends STRANGER_RATE bodies of 64 KiB a second, for an id that does
             not exist and then for the honest dealer's
    limited  a dealer with a rate limit calls as fast as it can
    held     bets at four times the rate that a slow dealer allows: under lighttpd all threads of the
             mount are held (service_unavailable), under mod_fcgid its max-inflight is (dealer_busy)
    heads    headers that come line by line (and slowhttptest -H, when it is there)
    bodies   bodies that come byte by byte (and slowhttptest -B)
    idle     400 connections that say nothing
    deaf     callers that send calls one after the other and read no answer

Apache has fcgi-conf/apache-mod_fcgid-tuning.conf, settings of its whole server: that workers are started
as fast as calls need them, and that locks of mod_fcgid do not fail, rests on that file. Limits of workers
and of slow callers are in the file for one virtual host.

Meanwhile an honest dealer transfers now and then, each call repeated until it is answered: within
HONEST_S. Excess is refused within REFUSED_S where it is threads or permits, and not the machine, that
there are too few of. Afterwards the memory of workers and ledger is what it was, and within RECOVERY_S
calls take what they took before.

  overload.py [--seconds S] [--seed N] [--phase PHASE] [--server NAME] [--long]
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]
import cb  # noqa: E402
from cb import TRANSFER_IN, check, equal  # noqa: E402
from cb_figures import percentile  # noqa: E402
from cb_http import request_bytes  # noqa: E402
from cb_platform import BETS, LOOPBACK, client_add  # noqa: E402
from crowd import Load, Slow, Strangers  # noqa: E402

THREADS = 8                 # of each of two processes under lighttpd
FCGID_PROCESSES = 150       # as many as Apache serves requests at a time
TIMES = 4
RATE_LIMIT = 50
DEALER_S = 0.4
SLOTS = 16                  # bets at a time: threads of the mount, or the dealer's max-inflight
IDLE = 400
SLOW = 60
DEAF = 20
HONEST_EACH_S = 0.05
STRANGER_RATE = 2000
STRANGER_BYTES = 65536
STRANGER_CONNECTIONS = 16
STRANGER_ADDRESS = "127.0.0.9"
# Honest calls take at most so many times what they take without a stranger, at the 99th percentile; below
# STRANGER_S a ratio is of the machine's scheduler.
STRANGER_TIMES = 2
STRANGER_S = 0.02
HONEST_S = 5.0
# Apache, which has 128 threads here, keeps one for each silent connection until its patience of 3 s
# is over.
IDLE_APACHE_S = 20.0
REPEAT_S = 0.2
REFUSED_S = 0.1
RECOVERY_S = 5.0
NORMAL_CALLS = 10
# Allowed growth, of a worker and of the ledger, however much it does: its cache, which is small here, may
# become full.
WORKER_KIB = 512
CACHE_MIB = 8
LEDGER_KIB = 8 * 1024 + CACHE_MIB * 1024
KINDS = (cb.Lighttpd, cb.ApacheFcgid)
README_DEBIAN = pathlib.Path(HERE).parents[1] / "debian" / "creditbridge.README.Debian"


def private_kib(pids):
    """Returns the memory that only @pids use, in KiB."""
    total = 0
    for pid in pids:
        try:
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in text.splitlines()
                     if line.startswith("Private_"))
    return total


class Honest(threading.Thread):
    """A dealer's server that does as the contract says."""

    def __init__(self, stand, limit_s=HONEST_S):
        super().__init__(daemon=True)
        self.limit_s = limit_s
        self.stand, self.took, self.wrong = stand, [], []
        self.repeated, self.over = 0, threading.Event()

    def once(self):
        """One transfer, repeated until it is answered: how long that took."""
        body = {"request_transaction_id": self.stand.new_id(), "user_id": "alice", "amount": 1}
        begun = time.monotonic()
        while True:
            try:
                answer = cb.call(self.stand.server, "POST", TRANSFER_IN, body,
                                 dealer=self.stand.honest, timeout=2 * self.limit_s)
                if answer.status == 200:
                    return time.monotonic() - begun
                if answer.status != 503:
                    self.wrong.append(str(answer))
            except OSError as error:
                self.wrong.append(repr(error))
            self.repeated += 1
            if len(self.wrong) > 3 or time.monotonic() - begun > 4 * self.limit_s:
                raise AssertionError(f"an honest call: {self.wrong}")
            time.sleep(REPEAT_S)

    def run(self):
        while not self.over.wait(HONEST_EACH_S):
            try:
                self.took.append(self.once())
            except AssertionError as error:
                self.wrong.append(str(error))
                return

    def finish(self):
        self.over.set()
        self.join(60)
        equal(self.wrong, [], "the answers to honest callers")
        check(self.took, "no honest call was answered")
        check(max(self.took) <= self.limit_s, f"an honest call took {max(self.took):.1f} s")
        return self.took


class Stand:
    """A wallet behind a server, its dealers and what is asked of it."""

    def __init__(self, kind, options):
        self.kind, self.options = kind, options
        self.random = random.Random(f"{options.seed}-{kind.name}")
        self.run_id, self.ids = f"{self.random.getrandbits(48):x}", 0
        self.wallet = cb.Instance("overload", {**LOOPBACK, "log_level": "warning",
                                                "ledger_cache_mib": CACHE_MIB})
        lighttpd = kind is cb.Lighttpd
        self.processes = 2 if lighttpd else FCGID_PROCESSES
        kind.platform_processes = 2 if lighttpd else FCGID_PROCESSES
        self.server = kind(self.wallet, processes=self.processes, threads=THREADS)
        self.at_once = self.processes * THREADS if lighttpd else 128
        self.slow_dealer = self.dealer_listen()
        self.honest, self.flooder = (self.wallet.dealer_add(name) for name in ("honest", "flood"))
        self.limited = self.wallet.dealer_add("limited", "--rate-limit", RATE_LIMIT)
        for name in ("honest", "flood", "limited"):
            self.wallet.player_add(name, "alice")
        self.wallet.dealer_add(
            "slow", "--url", f"http://127.0.0.1:{self.slow_dealer.getsockname()[1]}",
            "--allow-http", "--max-inflight", 256 if lighttpd else SLOTS, mode="seamless")
        self.wallet.player_add("slow", "alice")
        self.client = client_add(self.wallet, "slots")

    def dealer_listen(self):
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)

        def serve(connection):
            with connection, connection.makefile("rb") as stream:
                while True:
                    length = 0
                    while (line := stream.readline()) not in (b"\r\n", b""):
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                    if not line or len(stream.read(length)) < length:
                        return
                    time.sleep(DEALER_S)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        cb.serve_each(listener, serve)
        return listener

    def close(self):
        self.slow_dealer.close()
        self.wallet.close()

    def new_id(self):
        self.ids += 1
        return f"{self.run_id}-{self.ids}"

    def transfer(self, phase):
        return lambda number: {"request_transaction_id": f"{self.run_id}-{phase}-{number}",
                               "user_id": "alice", "amount": 1}

    def large(self, number):
        """A transfer in a body of nearly the largest size: a worker's memory for it is in use then."""
        return {**self.transfer("warm")(number), "padding": "x" * (STRANGER_BYTES - 1024)}

    def load(self, dealer, phase, **words):
        return Load(self.server.port, self.server.prefix + TRANSFER_IN,
                    ("casino", dealer.casino_id, dealer.key), self.transfer(phase),
                    seconds=self.options.seconds, **words)

    def memory(self):
        """Of a worker on average, since mod_fcgid starts and ends them, and of the ledger."""
        workers = self.wallet.worker_pids()
        return private_kib(workers) // len(workers), private_kib(self.wallet.engine_pids())

    def settled_s(self):
        """How long it takes from now on until NORMAL_CALLS calls one after the other take what
        they did before anything was asked too much."""
        begun, caller = time.monotonic(), Honest(self)
        limit = max(10 * self.normal_s, REFUSED_S)
        good = 0
        while good < NORMAL_CALLS:
            since = time.monotonic() - begun if not good else since
            good = good + 1 if caller.once() <= limit else 0
            check(time.monotonic() - begun < 2 * RECOVERY_S + good,
                  f"calls take more than {limit * 1000:.0f} ms")
        return since

    def burst(self):
        """What README.Debian lets systemd do once Apache has started, typed for the mounts here."""
        text = README_DEBIAN.read_text().replace("\\\n", "")
        started, reloaded = re.findall(r"Exec(?:StartPost|Reload)=-(.*)", text)
        equal(started, reloaded, "README.Debian after a start, and after a reload")
        for mount in (self.server.platform_url, self.server.base_url):
            argv = shlex.split(started.replace("http://127.0.0.1:8091", mount))
            check(argv[-1].startswith(mount), f"README.Debian: {started}")
            subprocess.run(argv, timeout=10, check=True)
        print(f"# {self.kind.name}: {len(self.wallet.worker_pids())} workers after its start")

    def warm(self):
        """As many workers and as much memory as a flood makes, and what a call takes then."""
        if self.kind is cb.ApacheFcgid:
            self.burst()
        Load(self.server.port, self.server.prefix + TRANSFER_IN,
             ("casino", self.flooder.casino_id, self.flooder.key), self.large,
             connections=self.at_once, seconds=2).start().finish()
        self.bets("warm", 2 * SLOTS / DEALER_S, 1.0).start().finish()
        caller = Honest(self)
        self.normal_s = percentile([caller.once() for _ in range(20)], 0.5)

    def bets(self, phase, rate, seconds):
        def body(number):
            unique = f"{self.run_id}-{phase}-{number}"
            return {"request_transaction_id": unique, "casino_id": "slow", "user_id": "alice",
                    "game_id": unique, "bet_amount": 1}
        return Load(self.server.platform_port, BETS,
                    ("client", self.client.client_id, self.client.key), body, rate=rate,
                    seconds=seconds)

    # -- the phases: the answers, and the times of refusals

    def flood(self):
        answers = self.load(self.flooder, "flood",
                            connections=TIMES * self.at_once).start().finish()
        equal([what for what in answers.times if what not in ("200", "503 service_unavailable")],
              [], "other answers")
        equal(dict(answers.broken), {}, "connections that broke")
        check(len(answers.done()) > 100, f"a flood is served: {answers}")
        return answers, answers.refused()

    def honest_p99_s(self, meanwhile):
        """Of the honest dealer's calls while @meanwhile runs; none is refused."""
        caller = Honest(self)
        caller.start()
        meanwhile()
        took = caller.finish()
        equal(caller.repeated, 0, "honest calls that were repeated")
        return percentile(took, 0.99)

    def stranger(self):
        alone_s = self.honest_p99_s(lambda: time.sleep(self.options.seconds))
        told, refused = [], []
        for caller_id in ("nobody", self.honest.casino_id):
            crowd = Strangers(self.server.port, self.server.prefix + TRANSFER_IN, caller_id,
                              STRANGER_BYTES, STRANGER_RATE, connections=STRANGER_CONNECTIONS,
                              seconds=self.options.seconds, address=STRANGER_ADDRESS)
            beside_s = self.honest_p99_s(lambda crowd=crowd: crowd.start().finish())
            answers = crowd.answers
            equal(set(answers.times) - {"503 service_unavailable"},
                  {"401 invalid_signature", "429 rate_limited"}, f"answers for {caller_id}")
            told.append(f"{caller_id}: {answers}; honest p99 {beside_s * 1000:.1f} ms "
                        f"({alone_s * 1000:.1f} ms without)")
            refused += answers.refused()
            if self.options.long:
                check(beside_s <= max(STRANGER_TIMES * alone_s, STRANGER_S),
                      f"the 99th percentile of honest calls: {told[-1]}")
        return "; ".join(told), refused

    def limited_(self):
        answers = self.load(self.limited, "limited", connections=self.at_once // 4).start().finish()
        equal(set(answers.times) - {"503 service_unavailable"}, {"200", "429 rate_limited"},
              "answers")
        check(len(answers.refused()) > 3 * len(answers.done()), f"excess: {answers}")
        return answers, answers.refused()

    def held(self):
        answers = self.bets("held", TIMES * SLOTS / DEALER_S, self.options.seconds).start().finish()
        wanted = ("503 service_unavailable" if self.kind is cb.Lighttpd else "503 dealer_busy")
        equal(set(answers.times), {"200", wanted}, "answers")
        equal(dict(answers.broken), {}, "connections that broke")
        least = SLOTS / DEALER_S * self.options.seconds / 2
        check(len(answers.done()) >= least, f"at least {least:.0f} are served: {answers}")
        return answers, answers.refused()

    def slow(self, count, first=b"", more=b"", test=()):
        """@count silent or slow connections, and in the long form slowhttptest's with @test."""
        tool = self.options.long and test and "slowhttptest"
        ends = collections.Counter()
        argv = [tool, "-c", str(SLOW // 2), *test, "-r", "50", "-i", "1", "-l",
                str(int(self.options.seconds)), "-u", self.server.base_url + TRANSFER_IN]
        end = time.monotonic() + self.options.seconds
        with Slow(self.server.port, count, first, more) as crowd:
            while tool and time.monotonic() < end:  # it ends when all its connections were cut
                done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      timeout=10 * self.options.seconds, check=False)
                ends[done.returncode] += 1
            time.sleep(max(0, end - time.monotonic()))
        check(not tool or set(ends) == {0}, f"slowhttptest ended with {dict(ends)}")
        others = f", slowhttptest {ends[0]} times" if tool else ""
        return f"{count} connections, cut {crowd.cut} times{others}", []

    def head(self, length):
        return (f"POST {self.server.prefix}{TRANSFER_IN} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Content-Length: {length}\r\n").encode()

    def heads(self):
        return self.slow(SLOW, self.head(10), b"X-a: b\r\n", ("-H",))

    def bodies(self):
        return self.slow(SLOW, self.head(4096) + b"\r\n", b"x", ("-B",))

    def idle(self):
        return self.slow(IDLE)

    def deaf(self):
        one = request_bytes("POST", self.server.prefix + TRANSFER_IN, [("Host", "127.0.0.1")],
                            b"{}", False)
        return self.slow(DEAF, one * 50, one * 50)


PHASES = {"flood": Stand.flood, "stranger": Stand.stranger, "limited": Stand.limited_, "held": Stand.held,
          "heads": Stand.heads, "bodies": Stand.bodies, "idle": Stand.idle, "deaf": Stand.deaf}


def run_phase(stand, name):
    """One phase; its figures in one line."""
    before = stand.memory()
    slow_server = name == "idle" and stand.kind is cb.ApacheFcgid
    honest = Honest(stand, IDLE_APACHE_S if slow_server else HONEST_S)
    honest.start()
    told, refused = PHASES[name](stand)
    took = honest.finish()
    settled = stand.settled_s()
    grown = [after - then for after, then in zip(stand.memory(), before)]
    line = (f"{stand.kind.name}, {name}: {told}; {len(took)} honest calls, {honest.repeated} "
            f"repeated, longest {max(took) * 1000:.0f} ms; normal after {settled:.1f} s; "
            f"a worker {grown[0]:+} KiB, the ledger {grown[1]:+} KiB")
    if refused:
        late = sum(one > REFUSED_S for one in refused) / len(refused)
        line += (f"; refused in {percentile(refused, 0.5) * 1000:.0f} ms, p99 "
                 f"{percentile(refused, 0.99) * 1000:.0f} ms, {late:.2%} later than 100 ms")
    print(f"# {line}", flush=True)
    check(settled <= RECOVERY_S, f"calls are normal again only after {settled:.1f} s")
    check(grown[0] <= WORKER_KIB, f"a worker's memory grew by {grown[0]} KiB")
    check(grown[1] <= LEDGER_KIB, f"the ledger's grew by {grown[1]} KiB")
    # Where the machine itself is what is asked too much of, refusals wait for it as everything does.
    if name == "held" or (name == "limited" and stand.options.long):
        share = 0.99 if stand.options.long else 0.5
        check(percentile(refused, share) <= REFUSED_S, f"{share:.0%} of refusals took longer")


def cases_of(kind, options):
    stand = []

    def start():
        stand.append(Stand(kind, options))
        stand[0].warm()

    def phase(name):
        def run():
            check(stand, "the stand did not start")
            run_phase(stand[0], name)
        return run

    def stop():
        check(stand, "the stand did not start")
        done = stand[0].wallet.ctl_run("check")
        stand[0].close()
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")
    yield f"{kind.name}: starts", start
    for name in options.phase or PHASES:
        yield f"{kind.name}: {name}", phase(name)
    yield f"{kind.name}: the books are right", stop


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each phase")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    parser.add_argument("--phase", action="append", choices=PHASES)
    parser.add_argument("--server", action="append", choices=[kind.name for kind in KINDS])
    parser.add_argument("--long", action="store_true",
                        help="slowhttptest beside the slow callers, and the limits of a long run")
    options = parser.parse_args()
    # Before the first phase, and not minutes later.
    if options.long and {"heads", "bodies"} & set(options.phase or PHASES) and not shutil.which(
            "slowhttptest"):
        raise SystemExit("FAILED: slowhttptest is not installed (a Debian package of that name)")
    print(f"# seed {options.seed}", flush=True)
    return cb.run_cases([case for kind in KINDS
                         if not options.server or kind.name in options.server
                         for case in cases_of(kind, options)], seconds=1200)


if __name__ == "__main__":
    sys.exit(main())
