#!/usr/bin/python3
"""The n-th call: one system call of a process fails, or every one from the n-th on, and what comes
of it.

    nthcall.py [--samples N | --all | --every] [--of PROGRAM] [--call CALL] [--from N] [--skip N]
        [--jobs N]

A script of transfers and bets is played to real programs: a ledger, a worker for each mount, a
dealer with its own books, a console of which an operator reads pages and sends forms, and a
sweeper. One of them (ledger, wallet, platform, console, sweep) runs with nth.so, which makes one call fail with one of
its errors (FAULTS); its start-up, the script and the sweep are in it. First all calls are noted
with their places: the code that makes the call (the return addresses, to the thread's beginning),
and the kind of the script's step. The script is played three times, because a thread that acts by
the clock may do so in another step. A program handles a failure at the same place in the same way,
so --all plays every (place, error, once or for ever) that any of the three runs passed; of calls
that are no allocation also another call of the place. --samples plays some of those, of the places
that all three passed; --every, 22,000 cases, the n-th call of each kind for every n (from --from
on). A run that was ended goes on with its SEED, its options, and as --skip the number of its last
line `played`.

What must hold:

- No program dies of a signal, nor ends for want of memory or descriptors with a code after which
  systemd would leave it down.
- No answer is wrong: while it fails a call may be answered with a 5xx or not at all, and if it is
  answered otherwise, then as it would have been without a fault. A bet of the dealer's may also end
  as rejected or refunded, if its book says the same in the end.
- Once the ledger has halted there is no 2xx until `creditbridgectl resume`.
- When the fault is over, everything is repeated until it is answered for good: what was answered
  before is answered the same, each amount has moved once, in the ledger and in the dealer's book,
  and `creditbridgectl check` finds nothing.

$SEED chooses the samples; a case's line repeats it: nthcall.py --case PROGRAM CALL ERROR PLACE N once,
where a place is one of the same build on the same libraries (0: the n-th of all).
"""
import argparse
import collections
import contextlib
import json
import multiprocessing
import os
import random
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import cb  # noqa: E402
import cb_fastcgi  # noqa: E402
import cb_other_dealer  # noqa: E402
import play  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_console import PREFIX  # noqa: E402
from cb_middle import Operator  # noqa: E402
from console_pages import OPERATOR, PAGES, Pages  # noqa: E402
import nth_cases  # noqa: E402
from nth_cases import PROGRAMS, Case, Control, case_of, each_call, each_place, named, sample  # noqa: E402
from slot import DIES_WITH_PARENT, WAIT_S, Slot, die_with_parent  # noqa: E402

SEED = os.environ.get("SEED") or str(random.getrandbits(32))
SETTINGS = {
    "socket_group": cb.own_group(),
    "log_level": "warning", "callback_networks": ["127.0.0.0/8"], "ledger_deadline_ms": 150,
    "ledger_cache_mib": 1, "checkpoint_interval_ms": 100, "disk_ballast_mib": 1,
    "disk_low_water_mib": 1, "callback_timeout_ms": 400, "callback_connect_timeout_ms": 200,
    "callback_lease_ms": 1900, "callback_owner_patience_ms": 500, "result_second_attempt_ms": 20,
    "result_third_attempt_ms": 40, "refund_backoff_ms": 20, "refund_backoff_max_ms": 100,
    "breaker_open_ms": 20,
}
TRIES = 2           # of a call while a fault goes on
REACH_TRIES = 3     # of a case
MISSED_SHARE = 0.05         # of all cases, in places that are passed each time
MISSED_SHARE_OF_ALL = 0.3   # in any
KIND_LEAST = 4      # cases of a kind of call of a program, of which at least one must be reached
COUNTINGS = 3       # of the places
TOLD_EACH = 50      # cases of a job
SHIFT_MAX = 100     # cases by which a list may differ from that of another run
RESTARTS = 40       # of one program in a case: a supervisor would start it on and on
LOG_FILE = 4 << 20   # src/store/bdb/env/env.h, BDB_LOG_FILE_SIZE
LOG_LEFT = 24 << 10  # the script takes 36 KiB
A_TRANSFER = 2 << 10 # in the log, with what checkpoints write meanwhile
DAMAGED = 76         # engine.h
STAYS_DOWN = (2, 78) # RestartPreventExitStatus of debian/systemd
PASSING = ("ENOMEM", "EMFILE", "EINTR")
OF_CONSOLE = ("--base-path", PREFIX, "--loopback-http", "--threads", "2")

# Addresses of one run are those of the next.
LAUNCHER = [*DIES_WITH_PARENT, "setarch", "--addr-no-randomize"]


class Process:
    """One program under a supervisor: when it ends it is started again."""

    def __init__(self, bench, name, argv, preload):
        self.bench = bench
        self.name = name
        self.argv = argv
        self.words = list(LAUNCHER)
        if preload:  # only into the program
            self.words += ["env", f"LD_PRELOAD={bench.shim}", f"NTH_CONTROL={bench.control.path}"]
        self.process = None
        self.starts = 0
        self.start()

    def start(self):
        with open(self.bench.slot.log, "ab") as out:
            self.process = subprocess.Popen([*self.words, *self.argv], stdout=out, stderr=out,
                                            stdin=subprocess.DEVNULL)
        self.starts += 1

    def look(self):
        """Starts it again when it has ended."""
        code = self.process.poll()
        if code is None:
            return
        self.told(code)
        if self.starts < RESTARTS:
            self.start()

    def told(self, code):
        check(code >= 0, f"{self.name} died of signal {-code}")
        check(code != DAMAGED, f"{self.name} took a failed call for damaged data")
        check(code not in STAYS_DOWN or self.bench.case.error not in PASSING,
              f"{self.name} ended with {code} for what passes")
        self.bench.exits[f"{self.name} {code}"] += 1

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"{self.name} did not stop") from None
        self.told(self.process.returncode)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Bench:
    """Everything that a case needs, made once."""

    def __init__(self):
        self.slot = Slot(SETTINGS)
        self.shim = cb.builddir() / "tests" / "campaign" / "nth.so"
        self.control = Control(self.slot.dir / "control")
        self.sockets = {name: self.slot.dir / "run" / f"{name}.sock"
                        for name in ("wallet", "platform", "console")}
        self.pages = Pages(self.sockets["console"], self.front_secret(), self.look)
        self.exits = collections.Counter()
        self.halts = 0
        self.case = None  # that is played
        self.processes = {}
        self.keys = {}
        self.prepare()
        self.dealer = cb_other_dealer.OtherDealer(self.port, self.keys["casino"], "bob")
        self.dealer.handle_error = lambda *_: None  # Workers that die are what is played.
        self.dealer.__enter__()

    def front_secret(self):
        """Returns the secret that vouches for the console's web server, which the ledger reads."""
        secret, file = secrets.token_hex(32), self.slot.dir / "console-front"
        file.touch(mode=0o600)
        file.write_text(secret + "\n")
        for path in (self.slot.config, self.slot.patient):
            with path.open("a") as config:
                config.write(f'console_front_file = "{file}"\nconsole_page_rate = 1000\n')
        return secret

    def ctl(self, *words):
        done = self.slot.program("creditbridgectl", "--json", *words)
        check(done.returncode == 0, f"creditbridgectl {' '.join(map(str, words))}: exit "
                                    f"{done.returncode}: {done.stderr}{done.stdout[:400]}")
        return json.loads(done.stdout)

    def prepare(self):
        """A state with dealers and players, which each case begins with."""
        self.port = cb.free_port()
        equal(self.slot.program("creditbridgectl", "init").returncode, 0, "init")
        equal(self.slot.start(), None, "a ledger without faults")
        made = self.ctl("dealer", "add", "bank", "--currency", "thb", "--mode", "transfer")
        self.keys["bank"] = made["key"]
        made = self.ctl("dealer", "add", "casino", "--currency", "thb", "--mode", "seamless",
                        "--url", f"http://127.0.0.1:{self.port}", "--allow-http",
                        "--refund-delay", "0")
        self.keys["casino"] = made["key"]
        self.keys["slots"] = self.ctl("client", "add", "slots")["key"]
        self.ctl("player", "add", "bank", "alice")
        self.ctl("player", "add", "casino", "bob")
        # Enough for all that is taken out, whatever of the rest was not done yet.
        self.ctl("player", "adjust", "bank", "alice", play.ADJUSTED, "--reason", "opening")
        self.otpauth = self.ctl("operator", "add", OPERATOR, "--role", "admin")["otpauth"]
        self.fill_log()
        equal(self.slot.finish(), 0, "the ledger's end")
        self.template = self.slot.take()

    def fill_log(self):
        """Up to so little room in its file that a case goes on in the next one."""
        self.ctl("player", "add", "bank", "filler")
        log = self.slot.state / "db" / "log.0000000001"
        with Operator(self.slot.edge) as operator:
            number = 0
            # The rest of the file is zeros.
            while (left := LOG_FILE - len(log.read_bytes().rstrip(b"\0"))) > LOG_LEFT:
                for _ in range((left - LOG_LEFT) // A_TRANSFER + 1):
                    number += 1
                    equal(operator.transfer("bank", "filler", 10000, f"filler-{number}"), 0,
                          "a transfer")

    def begin(self, case):
        for process in self.processes.values():
            process.kill()
        self.slot.stop()
        self.slot.put(self.template)
        self.slot.log.write_bytes(b"")
        self.case = case
        shutil.rmtree(self.slot.dir / "run")
        (self.slot.dir / "run").mkdir()
        self.dealer.book = play.Book()
        self.pages.otpauth = self.otpauth
        self.control.arm(case)
        config = ["--config", self.slot.config]
        self.processes = {"ledger": Process(self, "ledger", [
            cb.find_program("creditbridge-ledger"), *config], case.program == "ledger")}
        for name, socket in self.sockets.items():
            self.processes[name] = Process(self, name, [
                cb.find_program("creditbridge.fcgi"), *config, "--serve", name, "--socket",
                socket, *OF_CONSOLE * (name == "console")], case.program == name)

    def look(self):
        for process in self.processes.values():
            process.look()

    def serves(self):
        """Whether the ledger has made its sockets, and the workers listen."""
        return (self.slot.sockets / "desk.sock").exists() and all(
            map(cb_fastcgi.listens, self.sockets.values()))

    def wait_up(self):
        """Until all programs serve, or the one with the fault cannot."""
        deadline = time.monotonic() + (1.0 if self.case.n else WAIT_S)
        while time.monotonic() < deadline and not self.serves():
            self.look()
            if any(process.starts > 3 for process in self.processes.values()):
                break
            time.sleep(0.002)

    def halted(self):
        return any((place / "halted").exists() for place in (self.slot.state, self.slot.sockets))

    def call(self, operation, timeout=8.0):
        """The answer, None: none. Nothing may be done while the ledger is halted."""
        self.look()
        halted = self.halted()
        headers, body = operation.request(self.keys)
        try:
            answer = cb_fastcgi.request(self.sockets[operation.mount], operation.path, headers,
                                        body, timeout)
        except OSError:
            return None
        if halted and answer is not None:
            check(answer.status >= 500, f"while halted: {answer}")
        return answer

    def sweep(self, case=None):
        """One run of the sweeper."""
        self.control.moment(play.SWEEP)
        process = Process(self, "sweep", [cb.find_program("creditbridge-sweep"), "--config",
                                          self.slot.config], case and case.program == "sweep")
        try:
            process.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError("the sweeper does not end") from None
        process.told(process.process.returncode)

    def ready(self):
        """After the fault: all programs serve, resumed by the operator when that is needed."""
        self.control.disarm()
        for process in self.processes.values():
            process.starts = 0

        def serving():
            self.look()
            done = self.slot.program("creditbridgectl", "--json", "status")
            if done.returncode:
                return False
            if json.loads(done.stdout)["halted"]:
                self.halts += 1
                self.no_success()
                self.ctl("resume", "--reason", "the fault is over")
                return False
            return all(cb_fastcgi.listens(path) for path in self.sockets.values())
        wait_until(serving, WAIT_S, "all programs without the fault", interval=0.005)

    def no_success(self):
        for operation in play.probes():
            answer = self.call(operation)
            check(answer is None or answer.status >= 500, f"before resume: {answer}")

    def end(self):
        for process in reversed(list(self.processes.values())):
            process.stop()
        for code, number in re.findall(r"event=engine_ended exit=(-?\d+) signal=(\d+)",
                                       self.slot.log.read_text(errors="replace")):
            check(number == "0", f"an engine died of signal {number}")
            check(int(code) != DAMAGED or self.case.error not in PASSING,
                  "an engine took what passes for damaged data")
            self.exits[f"engine {code}"] += 1
        self.processes = {}

    def close(self):
        for process in self.processes.values():
            process.kill()
        self.dealer.__exit__()
        self.slot.close()


def play_case(bench, case):
    """Plays one case. Whether the call was made that fails."""
    bench.begin(case)
    script = play.Script(bench)
    bench.wait_up()
    script.run(TRIES)
    bench.sweep(case)
    struck = bench.control.struck()
    bench.ready()
    script.finish()
    done = bench.slot.program("creditbridgectl", "--json", "check")
    check(done.returncode == 0 and json.loads(done.stdout)["ok"],
          f"check: {done.stdout[:600]}{done.stderr[:400]}")
    bench.end()
    return struck > 0


def count(bench):
    """The calls of each program, and their places: (counts, places)."""
    counts, places = {}, {}
    for program in PROGRAMS:
        play_case(bench, Case(program, "read", "EIO", 0, 0, False))
        equal(bench.pages.shown, len(PAGES) + 1, "pages and forms of the console without a fault")
        counts[program], places[program] = bench.control.counts(), bench.control.places()
        check(counts[program]["malloc"], f"nth.so counts nothing of {program}")
        told = " ".join(f"{name} {number}" for name, number in counts[program].items())
        print(f"# calls of {program}: {told}; places {len(places[program])}", flush=True)
    return counts, places


def chosen(bench, options):
    """The cases to play, and (program, place) of what is not passed each time."""
    if options.case:
        return [case_of(options.case)], frozenset()
    counts, places = count(bench)
    always = dict(places)
    for _ in range(0 if options.every else COUNTINGS - 1):
        again = count(bench)[1]
        places = {program: places[program] | again[program] for program in PROGRAMS}
        always = {program: always[program] & again[program] for program in PROGRAMS}
    rare = frozenset((program, place) for program in PROGRAMS
                     for place in set(places[program]) - set(always[program]))
    # Of a place that is always passed, only calls that are always made.
    places = {program: dict(places[program]) | dict(always[program]) for program in PROGRAMS}
    if not options.all:
        places = always
    cases = [case for case in (each_call(counts, options.first) if options.every else
                               each_place(places, SEED))
             if options.of in (None, case.program) and options.call in (None, case.call)]
    if options.all or options.every:
        told = sum((case.program, case.place) in rare for case in cases)
        print(f"# {len(cases)} cases, {told} of them of places not passed each time", flush=True)
        check(cases, "no program makes such a call")
        check(options.skip < len(cases), f"--skip {options.skip} of {len(cases)} cases")
        return cases[options.skip:], rare
    return sample(cases, options.samples, SEED), rare


def play_all(bench, cases, rare, options, at):
    """Plays them, one after the other; @rare: chosen()'s; @at: the number of the case that each job
    plays. What came of it."""
    failures, played, missed = [], 0, {True: 0, False: 0}
    kinds = collections.Counter()  # (program, call, whether it was reached) of places passed each time
    begun = time.monotonic()
    for case in cases:
        if options.seconds and time.monotonic() - begun > options.seconds:
            print(f"# stopped after {options.seconds} s, before {named(case)}", flush=True)
            break
        if played and played % TOLD_EACH == 0:
            # Not the newest: which places there are differs by a few between runs.
            safe = options.skip + min(at) - SHIFT_MAX
            print(f"# played: {max(safe, 0)}", flush=True)
        played += 1
        try:
            # What threads do is not in the same order each time.
            reached = any(play_case(bench, case) for _ in range(REACH_TRIES))
            seldom = (case.program, case.place) in rare
            if not seldom:
                kinds[case.program, case.call, reached] += 1
            if not reached:
                missed[seldom] += 1
                print(f"# not reached{', not passed each time' * seldom}: {named(case)}", flush=True)
        except Exception as error:  # A failing harness fails the case, as a failing program does.
            failures.append(named(case))
            print(f"# {named(case)}: {error!r}"[:1500], flush=True)
            if options.case:
                print(bench.slot.log.read_text(errors="replace")[-6000:])
    return failures, collections.Counter({"cases": played, "not reached": missed[False],
                                          "seldom": missed[True], "halts": bench.halts}) + kinds, bench.exits


def take(cases, following, at, number):
    """Those that job @number plays: some take much longer than others, often every other one, so each
    takes the next when it is ready for it."""
    while True:
        with following.get_lock():
            index = following.value
            following.value += 1
        at[number] = min(index, len(cases))
        if index >= len(cases):
            return
        yield cases[index]


def job(results, cases, rare, options, following, at, number):
    die_with_parent()
    with contextlib.closing(Bench()) as bench:
        results.put(play_all(bench, take(cases, following, at, number), rare, options, at))


def play_jobs(cases, rare, options):
    """Plays them in --jobs processes."""
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    following = context.Value("I", 0)
    at = context.Array("I", options.jobs, lock=False)
    jobs = [context.Process(target=job, args=(results, cases, rare, options, following, at, number))
            for number in range(options.jobs)]
    for one in jobs:
        one.start()
    failures, figures, exits = [], collections.Counter(), collections.Counter()
    for _ in jobs:
        while results.empty():
            check(all(one.exitcode in (None, 0) for one in jobs), "a job ended without a result")
            time.sleep(0.5)
        told = results.get()
        failures += told[0]
        figures += told[1]
        exits += told[2]
    return failures, figures, exits


def campaign(options):
    begun = time.monotonic()
    with contextlib.closing(Bench()) as bench:
        cases, rare = chosen(bench, options)
        if options.jobs == 1:
            at = [0]
            following = multiprocessing.Value("I", 0)
            failures, figures, exits = play_all(bench, take(cases, following, at, 0), rare, options,
                                                at)
    if options.jobs > 1:
        failures, figures, exits = play_jobs(cases, rare, options)
    told = " ".join(f"{name.replace(' ', ':')}={number}" for name, number in sorted(exits.items()))
    print(f"# nthcall: SEED={SEED} cases {figures['cases']} of {len(cases)} failed {len(failures)} "
          f"not reached {figures['not reached']}, of places not passed each time {figures['seldom']}, "
          f"halts {figures['halts']} exits {told} in {time.monotonic() - begun:.0f} s", flush=True)
    equal(failures, [], "cases that failed")
    # A kind of call of which none failed is not tested, whatever the share of all cases.
    kinds = {(program, call) for program in PROGRAMS for call in nth_cases.CALLS}
    equal(sorted(kind for kind in kinds if figures[(*kind, False)] >= KIND_LEAST
                 and not figures[(*kind, True)]), [], "kinds of call that were never reached")
    # A run in which hardly a call failed is no test.
    missed = figures["not reached"] + figures["seldom"]
    check(figures["not reached"] <= 1 + figures["cases"] * MISSED_SHARE
          and missed <= 1 + figures["cases"] * MISSED_SHARE_OF_ALL, "too many were not reached")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=40, help="so many cases, by chance")
    parser.add_argument("--all", action="store_true", help="every place that makes a call")
    parser.add_argument("--every", action="store_true", help="every n-th call")
    parser.add_argument("--jobs", type=int, default=1, help="beside each other")
    parser.add_argument("--of", choices=PROGRAMS, help="only calls of this program")
    parser.add_argument("--call", choices=nth_cases.CALLS, help="only this call")
    parser.add_argument("--from", type=int, default=1, dest="first",
                        help="with --every: the first n")
    parser.add_argument("--skip", type=int, default=0, help="cases that were played before")
    parser.add_argument("--seconds", type=int, default=0, help="end after so many, failing nothing")
    parser.add_argument("--case", nargs=6, help="one case, in the words that a failure prints")
    options = parser.parse_args()
    if options.skip and not (options.all or options.every):
        parser.error("--skip goes with --all or --every")
    print(f"# SEED={SEED}", flush=True)
    return cb.run_cases([("the n-th call fails", lambda: campaign(options))], seconds=0,
                        unwinds=False)


if __name__ == "__main__":
    sys.exit(main())
