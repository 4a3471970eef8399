#!/usr/bin/python3
"""creditbridge-sweep against a real ledger and real dealers (contract, "Attempts"), and what cron sees."""
import contextlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import HarnessError, check, equal, find_program, lock_holders, wait_until  # noqa: E402
from cb_dealer import BETTING, BETTING_REFUND, BETTING_RESULT, body_of  # noqa: E402
from cb_link import request  # noqa: E402
from cb_middle import Middle, unpacked, with_members  # noqa: E402
from cb_platform import LOOPBACK, seamless_dealer  # noqa: E402
from cb_worker import (REFUSED, SUCCESS, UNITS, UNKNOWN, WIN, Worker, bet_payload,  # noqa: E402
                       end_payload, player_ref)

TIMEOUT_S = 2.5
LEASE_S = 4.1
PATIENCE_S = 2.0
# The delays of the contract, "Attempts", shortened.
SETTINGS = {
    **LOOPBACK, "callback_timeout_ms": int(TIMEOUT_S * 1000),
    "callback_lease_ms": int(LEASE_S * 1000),
    "callback_owner_patience_ms": int(PATIENCE_S * 1000), "result_second_attempt_ms": 100,
    "result_third_attempt_ms": 200, "refund_backoff_ms": 50, "refund_backoff_max_ms": 400,
    "breaker_open_ms": 300,
}
PLENTY_S = 30  # on a machine that is busy
COUNTS = ("sent", "delivered", "due_again", "parked", "failed", "late", "taken_over",
          "refused_busy")
CLIENT = "slots"
AT_WORK = "another creditbridge-sweep is at work\n"
numbers = itertools.count(1)
WALLET = None


def argv(*words, config=None):
    return [str(find_program("creditbridge-sweep")), "--config", str(config or WALLET.config),
            *map(str, words)]


def sweep(*words, code=0, config=None):
    """A run of the sweeper, which must end with @code; the CompletedProcess."""
    done = subprocess.run(argv(*words, config=config), capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                          check=False)
    equal(done.returncode, code, f"exit code: {done.stdout}{done.stderr}")
    return done


def summary(*words, **options):
    done = sweep("--json", *words, **options)
    check(done.stdout.endswith("\n") and done.stdout.count("\n") == 1, f"a line: {done.stdout!r}")
    return json.loads(done.stdout)


def only(counts, **expected):
    """The counts that are not 0."""
    equal({name: counts[name] for name in COUNTS if counts[name]}, expected, f"counts: {counts}")


def started(*words, **options):
    return subprocess.Popen(argv(*words, **options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def ended(process, code=0):
    out, err = process.communicate(timeout=60 * cb.PATIENCE)
    equal(process.returncode, code, f"exit code: {out}{err}")
    return out, err


class Casino:
    """A dealer of the wallet with a server of its own, and a worker that plays for its users."""

    def __init__(self, *options, words=(), user="alice", delay=0):
        self.name = f"casino{next(numbers)}"
        self.user = user
        self.key, self.dealer = seamless_dealer(WALLET, self.name, *options,
                                                words=["--refund-delay", delay, *words])
        WALLET.player_add(self.name, user)
        self.worker = Worker(WALLET.sockets / "edge.sock")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.worker.close()
        self.dealer.close()

    def bet(self, amount=10, outcome=SUCCESS, worker=None):
        """Places a bet, of which the dealer hears if it is to be a success. Its game."""
        game = f"game{next(numbers)}"
        worker = worker or self.worker
        placed = worker.place(CLIENT, self.name, self.user, game, amount)
        check(placed.send.event, f"a grant: {placed}")
        if outcome == SUCCESS:
            answer = self.dealer.call(
                BETTING, body_of(BETTING, self.user, placed.transaction_id, amount, game_id=game),
                webhook_id=f"betting-{placed.send.event}")
            equal(answer.status, 200, "the bet")
        if outcome is not None:
            worker.end(placed.send, self.name, outcome)
        return game

    def win(self, payout=30, amount=10, outcome=REFUSED):
        """Settles a round. The first attempt ends with @outcome (None: its end is not reported).
        Returns the event of its result, which is due again soon."""
        settled = self.worker.settle(CLIENT, self.name, self.user, self.bet(amount), WIN, payout)
        equal(settled.refusal, "", "the result")
        if settled.send.event and outcome is not None:
            self.worker.end(settled.send, self.name, outcome)
        return settled.event

    def callbacks(self):
        """event -> row."""
        rows = WALLET.ctl_json("callback", "list", "--casino", self.name,
                               "--limit", 0)["callbacks"]
        return {row["event"]: row for row in rows}

    def states(self):
        return {event: (row["state"], row["attempts"]) for event, row in self.callbacks().items()}

    def state(self, event):
        return self.states()[event]

    def refund_of(self, game):
        """The row of the refund in @game."""
        return next(row for row in self.callbacks().values()
                    if row["game_id"] == game and row["kind"] == BETTING_REFUND)

    def bet_state(self, game):
        bets = WALLET.ctl_json("bet", "list", "--casino", self.name, "--limit", 0)["bets"]
        return next(bet["state"] for bet in bets if bet["game_id"] == game)

    def calls(self, kind, event):
        """How often the dealer worked on an event."""
        return sum(row["calls"] for row in self.dealer.state()["events"]
                   if row["webhook_id"] == f"{kind}-{event}")

    def until_due(self, count=1):
        """Waits until @count callbacks of this casino could be claimed."""
        wait_until(lambda: len(self.due()) >= count, PLENTY_S, f"{count} callbacks that are due",
                   interval=0.05)

    def due(self):
        return [row for row in summary("--dry-run")["callbacks"] if row["casino_id"] == self.name]

    def swept(self, *words):
        """Runs a sweeper. What it did for this casino, if anything."""
        rows = [row for row in summary(*words)["dealers"] if row["casino_id"] == self.name]
        return rows[0] if rows else dict.fromkeys(COUNTS, 0)

    def drained(self):
        """Runs sweepers until nothing of this casino waits. The sums of their counts."""
        total = dict.fromkeys(COUNTS, 0)

        def run():
            row = self.swept()
            for name in COUNTS:
                total[name] += row[name]
            return all(row["state"] not in ("due", "sending") for row in self.callbacks().values())
        wait_until(run, PLENTY_S, "callbacks that have ended", interval=0.05)
        return total


def quiet_config():
    """The log goes elsewhere, as it does when cron runs it: what is left is what cron mails."""
    path = WALLET.dir / "quiet.conf"
    path.write_text(WALLET.config.read_text().replace('"stderr"', '"syslog"'))
    return path


# -- the command line


def case_nothing_due():
    done = sweep(config=quiet_config())
    equal(done.stdout, "0 sent, 0 taken over: 0 delivered, 0 due again, 0 parked, 0 failed; "
                       "0 waiting\n", "the summary")
    equal(done.stderr, "", "cron would mail this")
    equal(summary(), {**dict.fromkeys(COUNTS, 0), "waiting": 0, "dealers": []}, "as JSON")


def case_usage():
    for words in (["--for", "soon"], ["--for", "0"], ["--for", "25h"], ["--for=-1s"], ["x"],
                  ["--what"]):
        check("Try `" in sweep(*words, code=2).stderr, f"{words}")
    out = sweep("--help").stdout
    for option in ("--config", "--for", "--dry-run", "--json", "--version"):
        check(option in out, f"{option} in {out}")
    check(re.match(r"creditbridge-sweep \d", sweep("--version").stdout), "the version")


def case_configuration():
    path = WALLET.dir / "bad.conf"
    path.write_text("callback_timeout_ms = 6000\n\ncallback_lease_ms = 7499\n")
    done = sweep(config=path, code=78)
    equal(done.stderr, f"{path}:3: callback_lease_ms must be at least callback_timeout_ms + 1500, "
                       "which is 7500\n", "where it is")
    sweep(config="/nonexistent", code=78)


def case_no_directory():
    path = WALLET.dir / "elsewhere.conf"
    path.write_text(f'socket_directory = "{WALLET.dir}/nowhere"\nlog_target = syslog\n')
    done = sweep(config=path, code=1)
    equal(done.stderr, f"creditbridge-sweep: {WALLET.dir}/nowhere/sweep.lock: No such file or "
                       "directory\n", "why")


def case_ledger_away():
    path = WALLET.dir / "away"
    path.mkdir()
    (path / "c.conf").write_text(f'socket_directory = "{path}"\nlog_target = syslog\n'
                                 "ledger_deadline_ms = 300\n")
    for words in ([], ["--for", "30s"], ["--dry-run"]):
        start = time.monotonic()
        done = sweep(*words, config=path / "c.conf", code=1)
        check(time.monotonic() - start < 20, "it gives up by the deadline")
        equal(done.stderr, f"creditbridge-sweep: stopped: callback_find at {path}/edge.sock: the "
                           "ledger is not reachable\n", "why")


def case_output_lost():
    """No process reads its output: it ends with an error, not by a signal."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(argv(config=quiet_config()), stdout=write, stderr=subprocess.PIPE,
                          text=True, timeout=60 * cb.PATIENCE, check=False)
    os.close(write)
    equal((done.returncode, done.stderr), (1, "creditbridge-sweep: standard output: Broken pipe\n"),
          "the pipe")


# -- what is delivered


def case_result():
    with Casino() as casino:
        event = casino.win(payout=30)
        casino.until_due()
        only(casino.swept(), sent=1, delivered=1)
        equal(casino.state(event), ("delivered", 2), "the result")
        equal(casino.dealer.balance("alice"), 1000 - 10 + 30, "the dealer's player")
        equal(casino.calls(BETTING_RESULT, event), 1, "calls")
        only(casino.swept())


def case_refund():
    with Casino() as casino:
        lost = casino.bet(outcome=UNKNOWN)
        equal(casino.bet_state(lost), "refunding", "no answer")
        only(casino.swept(), sent=1, delivered=1)
        equal(casino.bet_state(lost), "refunded", "the bet")
        refund = casino.refund_of(lost)
        equal((refund["state"], refund["attempts"]), ("delivered", 1), "the refund")
        # The dealer never saw the bet; should it come now it is refused.
        equal([row["state"] for row in casino.dealer.transactions().values()], ["tombstone"],
              "the dealer's row")
        check(casino.dealer.state()["totals"]["conserved"], "the dealer's money")


def case_refund_delay():
    with Casino(delay=1) as casino:
        lost = casino.bet(outcome=UNKNOWN)
        only(casino.swept())
        equal(casino.refund_of(lost)["state"], "due", "too early")
        casino.until_due()
        row = casino.refund_of(lost)
        check(cb.now_ms() - row["created_ms"] >= 1000, f"after the delay: {row}")
        only(casino.swept(), sent=1, delivered=1)


def attempts_of(log, event):
    """The log's lines about an event: (attempt, class, state)."""
    return [(int(a), c, s) for a, c, s in re.findall(
        rf"event=callback webhook_id=[a-z-]+-{event} casino_id=\S+ attempt=(\d+) "
        r"class=(\S+) http_status=\d+ ms=\d+ state=(\S+)", log)]


def case_backoff():
    """Refused again and again, later and later, until the dealer changes its mind."""
    with Casino() as casino:
        game = casino.bet(outcome=UNKNOWN)
        event = casino.refund_of(game)["event"]
        casino.dealer.fault("refuse", kind=BETTING_REFUND)
        process = started("--for", "40s")
        wait_until(lambda: casino.state(event)[1] >= 5, PLENTY_S, "five attempts", interval=0.05)
        casino.dealer.faults_clear()
        wait_until(lambda: casino.state(event)[0] == "delivered", PLENTY_S, "the refund",
                   interval=0.05)
        process.send_signal(signal.SIGTERM)
        _, log = ended(process)
        tries = attempts_of(log, event)
        equal([number for number, _, _ in tries], list(range(1, len(tries) + 1)), "each once")
        equal({entry[1:] for entry in tries[:-1]}, {("refused", "due")}, "refused")
        equal(tries[-1][1:], ("success", "delivered"), "at last")
        tries = WALLET.ctl_json("callback", "show", event)["tries"]
        for number, (this, following) in enumerate(zip(tries, tries[1:])):
            wait = this["next_ms"] - this["time_ms"] - this["ms"]
            most = min(50 * 2 ** number, 400)
            check(most * 0.7 <= wait <= most + 2000, f"attempt {number + 1} waits {wait} of {most}")
            # The wall clock of two moments of the ledger; within a boot it goes by boot time.
            check(following["time_ms"] >= this["next_ms"] - 20, f"not before: {this} {following}")


def parked_line(casino, what, *events):
    return (f"casino {casino.name}: parked {what} (events {' '.join(map(str, events))}); see: "
            f"creditbridgectl callback list --casino {casino.name} --state parked\n")


def case_parked():
    """Three attempts, one line for each dealer; it is no failure of the sweeper."""
    with Casino() as first, Casino() as second:
        for casino in (first, second):
            casino.dealer.fault("refuse", kind=BETTING_RESULT)
        events = [first.win() for _ in range(7)]
        other = second.win()
        mail, parked = "", 0
        for _ in range(20):
            wait_until(lambda: first.due() or second.due(), PLENTY_S, "one that is due",
                       interval=0.05)
            done = sweep("--json", config=quiet_config())
            mail += done.stderr
            parked += json.loads(done.stdout)["parked"]
            if parked == 8:
                break
        # Which callback is parked in which run depends on the machine's speed. Each is reported
        # once.
        told = re.findall(r"^casino (\S+): parked (\d+) betting-result \(events ([\d .]+)\); "
                          r"see: creditbridgectl callback list --casino (\S+) --state parked\n",
                          mail, re.MULTILINE)
        equal(mail.count("\n"), len(told), f"lines: {mail}")
        equal(sum(int(count) for name, count, _, _ in told if name == first.name), 7, mail)
        equal([(count, shown) for name, count, shown, _ in told if name == second.name],
              [("1", str(other))], mail)
        check(all(name == again for name, _, _, again in told), mail)
        for event in events:
            equal(first.state(event), ("parked", 3), "the result")
        equal(sweep(config=quiet_config()).stderr, "", "it is reported once")
        # Once more, by the operator.
        WALLET.ctl("callback", "retry", events[0], "--reason", "it works now", "--yes")
        first.dealer.faults_clear()
        only(first.swept(), sent=1, delivered=1)
        equal(first.state(events[0]), ("delivered", 4), "once more")


def case_parked_line():
    with Casino() as casino:
        casino.dealer.fault("refuse", kind=BETTING_RESULT)
        event = casino.win()
        parked = False
        # A slow run makes both of the attempts that are left.
        for _ in range(2):
            casino.until_due()
            done = sweep(config=quiet_config())
            parked = "1 parked" in done.stdout
            equal(done.stderr, parked_line(casino, "1 betting-result", event) if parked else "",
                  f"cron's mail of {done.stdout}")
            if parked:
                break
        check(parked, done.stdout)


def case_log():
    """One line an attempt; no key, no body, no player."""
    with Casino(user="somebody-special") as casino:
        event = casino.win()
        casino.until_due()
        log = sweep().stderr
        equal(attempts_of(log, event), [(2, "success", "delivered")], log)
        for secret in (casino.dealer.key, casino.user, "ball", "payout_amount"):
            check(secret not in log, f"{secret} in {log}")


# -- senders that are gone


WORKER = """
import sys
sys.path.insert(0, {lib!r})
from cb_worker import Worker
worker = Worker({path!r})
print(worker.place({client!r}, {casino!r}, {user!r}, "left", 10, reference={casino!r}).send.event,
      flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def another_worker(casino):
    """Another process, which has placed a bet in the game "left" and holds its grant."""
    code = WORKER.format(lib=str(cb.SRCDIR / "tests" / "lib"), client=CLIENT, casino=casino.name,
                         path=str(WALLET.sockets / "edge.sock"), user=casino.user)
    with subprocess.Popen([sys.executable, "-B", "-c", code], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        try:
            check(int(process.stdout.readline()), "a bet")
            yield process
        finally:
            process.kill()


def swept_to(casino, game, state):
    """Runs sweepers until the bet is @state; how many callbacks they took over, altogether."""
    taken = 0

    def run():
        nonlocal taken
        taken += casino.swept()["taken_over"]
        return casino.bet_state(game) == state
    wait_until(run, PLENTY_S, f"a bet that is {state}", interval=0.1)
    return taken


def case_worker_killed():
    with Casino() as casino:
        begun = time.monotonic()
        with another_worker(casino) as worker:
            worker.kill()
        equal(casino.bet_state("left"), "pending", "the outcome is not known yet")
        equal(swept_to(casino, "left", "refunded"), 1, "taken over")
        check(time.monotonic() - begun >= LEASE_S - 0.1, "its lease was waited for")
        equal(casino.refund_of("left")["state"], "delivered", "the refund")


def case_worker_stopped():
    """It does not die; it is not there either. Its link is cut when patience is over."""
    with Casino() as casino:
        begun = time.monotonic()
        with another_worker(casino) as worker:
            worker.send_signal(signal.SIGSTOP)
            equal(swept_to(casino, "left", "refunded"), 1, "taken over")
            check(time.monotonic() - begun >= LEASE_S + PATIENCE_S - 0.2, "patience")


def case_ledger_stopped():
    """The ledger is stopped for longer than lease and patience, while the end of an attempt waits
    in the worker's socket, after more bytes than one read takes: an end that was sent in time is
    not late."""
    with Casino() as casino:
        placed = casino.worker.place(CLIENT, casino.name, casino.user, "stop", 10)
        before = WALLET.ctl_json("status")["clients_cut"]
        large = bet_payload("nobody", player_ref(casino.name, casino.user), "stop", UNITS,
                            reference="large", user_bet=json.dumps({"on": "x" * 60000}).encode())
        end = end_payload(placed.send, casino.name, REFUSED)
        engine, = WALLET.engine_pids()
        os.kill(engine, signal.SIGSTOP)
        try:
            casino.worker.send(request("bet_place", large, 1) + request("callback_end", end, 2))
            time.sleep(LEASE_S + PATIENCE_S + 0.5)
        finally:
            os.kill(engine, signal.SIGCONT)
        equal([casino.worker.frame().tag for _ in range(2)], [1, 2], "tags answered")
        equal(casino.bet_state("stop"), "rejected", "the bet")
        equal(WALLET.ctl_json("status")["clients_cut"], before, "clients_cut")


def case_result_left():
    """The worker that had the first attempt died before it reported the end."""
    with Casino() as casino:
        event = casino.win(outcome=None)
        casino.worker.close()
        total = casino.drained()
        equal(casino.state(event), ("delivered", 2), "the result")
        only(total, taken_over=1, due_again=1, sent=1, delivered=1)


def killed_while_sending(casino):
    """An event whose sweeper was killed after the dealer had worked on it, before it answered; and
    when it was begun."""
    for _ in range(5):
        event = casino.win(payout=30)
        casino.until_due()
        casino.dealer.fault("late", kind=BETTING_RESULT, ms=60000, times=1)
        begun = time.monotonic()
        process = started("--for", "40s")
        wait_until(lambda: casino.calls(BETTING_RESULT, event), PLENTY_S, "the call")
        process.kill()
        ended(process, -signal.SIGKILL)
        if casino.state(event) == ("sending", 2):
            return event, begun
        casino.drained()
    raise HarnessError("the sweeper was too fast to be killed")


def case_sweeper_killed():
    """In the middle of a call that the dealer works on. The next sweeper waits for the lease, sends
    the same again, and the dealer pays once."""
    with Casino() as casino:
        event, begun = killed_while_sending(casino)
        balance = casino.dealer.balance("alice")
        total = casino.drained()
        equal(casino.state(event), ("delivered", 3), "the result")
        check(time.monotonic() - begun >= LEASE_S, "its lease was waited for")
        only(total, taken_over=1, due_again=1, sent=1, delivered=1)
        equal(casino.calls(BETTING_RESULT, event), 2, "calls")
        equal(casino.dealer.balance("alice"), balance, "paid once")


def case_asked_to_stop():
    """What is under way is finished, nothing else is begun."""
    with Casino(words=["--max-inflight", "1"]) as casino:
        events = [casino.win() for _ in range(20)]
        casino.until_due(1)
        casino.dealer.fault("late", kind=BETTING_RESULT, ms=400)
        process = started("--for", "40s", "--json")
        wait_until(lambda: any(casino.calls(BETTING_RESULT, event) for event in events), PLENTY_S,
                   "a call")
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        out, _ = ended(process)
        check(time.monotonic() - begun < 15, "it ends when the call has ended")
        counts = json.loads(out)
        check(1 <= counts["sent"] < 20, f"not all of them: {counts}")
        equal(counts["delivered"] + counts["due_again"], counts["sent"], f"all reported: {counts}")
        states = sorted(row["state"] for row in casino.callbacks().values()
                        if row["kind"] == BETTING_RESULT)
        check("sending" not in states, f"nothing is left: {states}")
        casino.dealer.faults_clear()
        casino.drained()


# -- the ledger


def case_ledger_killed():
    """The engine dies under the sweeper, which goes on with the next one."""
    with Casino() as casino:
        events = [casino.win() for _ in range(5)]
        casino.until_due(5)
        casino.dealer.fault("late", kind=BETTING_RESULT, ms=300)
        process = started("--for", "40s")
        wait_until(lambda: any(casino.calls(BETTING_RESULT, event) for event in events), PLENTY_S,
                   "a call")
        for pid in WALLET.engine_pids():
            os.kill(pid, signal.SIGKILL)
        casino.dealer.faults_clear()
        wait_until(lambda: all(casino.state(event)[0] == "delivered" for event in events), PLENTY_S,
                   "all results", interval=0.1)
        process.send_signal(signal.SIGTERM)
        ended(process)
        equal(casino.dealer.balance("alice"), 1000 + 5 * (30 - 10), "paid once each")


def stopped_while_sending(casino):
    """An event whose call the dealer answered while the engine was stopped, from before the sweeper
    looked again until the call's time was over; and the sweeper's log."""
    for _ in range(10):
        event = casino.win()
        casino.until_due()
        casino.dealer.fault("late", kind=BETTING_RESULT, ms=int(TIMEOUT_S * 500), times=1)
        begun = time.monotonic()
        process = started("--for", "40s")
        wait_until(lambda: casino.calls(BETTING_RESULT, event), PLENTY_S, "the call",
                   interval=0.01)
        engine, = WALLET.engine_pids()
        os.kill(engine, signal.SIGSTOP)
        took = time.monotonic() - begun
        try:
            time.sleep(TIMEOUT_S + 0.7)
        finally:
            os.kill(engine, signal.SIGCONT)
        wait_until(lambda: casino.state(event)[0] != "sending", PLENTY_S, "its end", interval=0.05)
        process.send_signal(signal.SIGTERM)
        _, log = ended(process)
        # It looks each second.
        if took < 0.9:
            return event, log
        casino.drained()
    raise HarnessError("the engine was always stopped too late")


def case_answer_meanwhile():
    """The engine stops while a call is under way, and goes on after the call's time is over. The
    dealer has answered in time, and that counts: nothing is sent again."""
    with Casino() as casino:
        event, log = stopped_while_sending(casino)
        equal(casino.state(event), ("delivered", 2), f"the result: {log}")
        equal(casino.calls(BETTING_RESULT, event), 1, "calls")


# -- one at a time


def lock_path():
    return WALLET.sockets / "sweep.lock"


def locked():
    """True while some sweeper runs."""
    return bool(lock_holders(lock_path()))


def case_second():
    first = started("--for", "40s")
    wait_until(locked, PLENTY_S, "the first one's lock")
    done = sweep("--for", "40s", config=quiet_config())
    equal((done.stdout, done.stderr), (AT_WORK, ""), "the second one")
    equal(summary(), {"already_running": True}, "as JSON")
    check("callbacks" in summary("--dry-run"), "a look needs no lock")
    first.send_signal(signal.SIGINT)
    ended(first)
    check(not locked(), "the lock is free")
    sweep()


def case_lock_file():
    """No other user can lock the file, or replace it by a link."""
    sweep()
    edge = (WALLET.sockets / "edge.sock").stat()
    equal((lock_path().stat().st_mode & 0o777, lock_path().stat().st_gid),
          (edge.st_mode & 0o777, edge.st_gid), "mode and group are those of edge.sock")
    lock_path().unlink()
    lock_path().symlink_to(WALLET.dir / "victim")
    done = sweep(config=quiet_config(), code=1)
    check("sweep.lock: Too many levels" in done.stderr, done.stderr)
    check(not (WALLET.dir / "victim").exists(), "nothing was made")
    lock_path().unlink()
    victim = WALLET.dir / "victim"
    victim.write_text("x")
    os.link(victim, lock_path())
    sweep(config=quiet_config(), code=1)
    equal(victim.stat().st_mode & 0o077, victim.stat().st_mode & 0o044, "a second name gives nothing away")
    lock_path().unlink()
    victim.unlink()


def case_two_at_once():
    """Without the lock, too, nothing is sent twice: the leases see to that."""
    with Casino(words=["--max-inflight", "4"]) as casino:
        events = [casino.win() for _ in range(60)]
        casino.until_due(4)
        first = started("--json")
        wait_until(lambda: locked() or first.poll() is not None, PLENTY_S, "the first one's lock")
        lock_path().unlink()
        second = started("--json")
        runs = [json.loads(ended(process)[0]) for process in (first, second)]
        casino.drained()
        equal(casino.dealer.balance("alice"), 1000 + 60 * 20, "paid once each")
        for event in events:
            equal(casino.calls(BETTING_RESULT, event), 1, "calls")
        equal({row["attempts"] for row in casino.callbacks().values()
               if row["kind"] == BETTING_RESULT}, {2}, "attempts")
        check(sum(run["late"] for run in runs) == 0, f"{runs}")


class Hole:
    """A dealer's server that answers nothing, and how many calls it has had at a time."""

    def __init__(self):
        self.lock = threading.Lock()
        self.calls = self.now = self.most = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        cb.serve_each(self.listener, self.hang)

    def hang(self, connection):
        with connection:
            if not connection.recv(1):
                return
            with self.lock:
                self.calls += 1
                self.now += 1
                self.most = max(self.most, self.now)
            with contextlib.suppress(OSError):
                while connection.recv(65536):
                    pass
            with self.lock:
                self.now -= 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def case_five_at_once():
    """Five sweepers, kept apart by no lock, and a dealer that hangs: it never has more than its
    max_inflight calls at a time."""
    with Casino(words=["--max-inflight", "3"]) as casino, Hole() as hole:
        events = [casino.win() for _ in range(20)]
        casino.until_due(3)
        WALLET.ctl("dealer", "set", casino.name, "--url", hole.url, "--allow-http")
        processes = []
        for _ in range(5):
            processes.append(started("--for", "4s", "--json"))
            wait_until(lambda: lock_holders(lock_path()) == [processes[-1].pid], PLENTY_S, "its lock")
            lock_path().unlink()
        runs = [json.loads(ended(process)[0]) for process in processes]
        equal((hole.most, hole.now), (3, 0), f"calls at a time, of {hole.calls}, and in the end")
        equal(sum(run["sent"] for run in runs), hole.calls, f"calls: {runs}")
        equal(sum(run["late"] for run in runs), 0, f"late: {runs}")
        rows = casino.callbacks()
        equal(sum(rows[event]["attempts"] - 1 for event in events), hole.calls, "attempts")
        check("sending" not in {row["state"] for row in rows.values()}, "nothing is left")
        WALLET.ctl("callback", "cancel", *events, "--reason", "the case is over", "--yes")
        equal(casino.due(), [], "what the next cases would meet")


# -- time


def case_for():
    begun = time.monotonic()
    process = started("--for", "2s", "--json")
    out, _ = ended(process)
    took = time.monotonic() - begun
    check(2 <= took < 2 + 15, f"--for 2s took {took:.1f} s")
    equal(json.loads(out)["sent"], 0, "nothing to do")


def case_for_and_hanging_dealer():
    """It ends in time although a dealer hangs, and reports the end of every call."""
    with Casino("--threads", 32, words=["--max-inflight", "3"]) as casino:
        for _ in range(12):
            casino.win()
        casino.until_due(3)
        casino.dealer.fault("hang", kind=BETTING_RESULT, ms=60000)
        begun = time.monotonic()
        out, log = ended(started("--for", "2s", "--json"))
        took = time.monotonic() - begun
        check(took < 2 + TIMEOUT_S + 15, f"--for 2s took {took:.1f} s")
        counts = json.loads(out)
        check(counts["sent"] >= 3, f"it tried: {counts}")
        equal(counts["due_again"] + counts["parked"], counts["sent"], f"all ended: {counts}")
        states = {row["state"] for row in casino.callbacks().values()}
        check("sending" not in states, f"nothing is left: {states}")
        for milliseconds in re.findall(r"class=unknown http_status=0 ms=(\d+)", log):
            check(int(milliseconds) >= TIMEOUT_S * 1000 - 50, f"it waited {milliseconds}")
        casino.dealer.faults_clear()
        casino.drained()


def case_new_ones_are_found():
    """What falls due while it runs is sent within about a second."""
    with Casino() as casino:
        process = started("--for", "40s")
        wait_until(locked, PLENTY_S, "the sweeper")
        event = casino.win()
        wait_until(lambda: casino.state(event)[0] == "delivered", PLENTY_S, "the result",
                   interval=0.05)
        tries = WALLET.ctl_json("callback", "show", event)["tries"]
        late = tries[1]["time_ms"] - tries[0]["next_ms"]
        process.send_signal(signal.SIGTERM)
        ended(process)
        check(-20 <= late < 15000, f"{late} ms after it was due")


# -- looking


def case_woken():
    """The results of a batch are sent because the ledger wakes the sweeper. Here its looks find nothing
    but the first after each wake, and what is sent is no more than max_inflight at a time."""
    woken = threading.Event()

    def change(name, _record, answer):
        if name == "callback_wait":
            woken.set()
        if name != "callback_find" or woken.is_set():
            if name == "callback_find":
                woken.clear()
            return answer
        return with_members(name, answer, {**unpacked(name, answer), "count": 0, "entries": b""})
    with Casino(words=["--max-inflight", "3"]) as casino, \
            Middle(WALLET, change, name="edge.sock") as middle:
        process = started("--for", "120s", "--json", config=middle.config)
        try:
            items = [(casino.name, casino.user, casino.bet(), WIN, 30) for _ in range(10)]
            equal(casino.worker.settle_batch(CLIENT, items), ("", 10), "the batch")
            wait_until(lambda: [row["state"] for row in casino.callbacks().values()].count("delivered")
                       == 20, PLENTY_S, "the results that were sent", interval=0.05)
        finally:
            process.send_signal(signal.SIGTERM)
            out, _ = ended(process)
        equal(json.loads(out)["delivered"], 10, f"{out}")


def case_dry_run():
    with Casino() as casino:
        lost = casino.bet(outcome=UNKNOWN)
        refund = casino.refund_of(lost)["event"]
        result = casino.win()
        casino.until_due(2)
        before = casino.states()
        text = sweep("--dry-run", config=quiet_config())
        equal(text.stderr, "", "nothing to report")
        for event, kind in ((refund, BETTING_REFUND), (result, BETTING_RESULT)):
            check(re.search(rf"^send {kind}-{event} casino {casino.name}, overdue by \d+\.\d+ s$",
                            text.stdout, re.MULTILINE), text.stdout)
        equal([(row["event"], row["kind"], row["takeover"]) for row in casino.due()],
              [(refund, BETTING_REFUND, False), (result, BETTING_RESULT, False)], "as JSON")
        equal(set(summary("--dry-run")), {"waiting", "callbacks"}, "members")
        equal(casino.states(), before, "nothing was claimed")
        equal((casino.calls(BETTING_REFUND, refund), casino.calls(BETTING_RESULT, result)), (0, 0),
              "nothing was sent")
        only(casino.swept(), sent=2, delivered=2)


def case_dry_run_takeover():
    with Casino() as casino:
        with another_worker(casino) as worker:
            worker.kill()
        casino.until_due()
        equal([(row["kind"], row["takeover"]) for row in casino.due()], [(BETTING, True)], "found")
        check(re.search(r"^take over betting-\d+ casino", sweep("--dry-run").stdout, re.MULTILINE),
              "as text")
        equal(casino.bet_state("left"), "pending", "nothing was done")
        swept_to(casino, "left", "refunded")


# -- cron


def cron_command(program, config):
    """The command of the shipped line, as cron takes it: the text after the user."""
    text = (cb.SRCDIR / "fcgi-conf" / "creditbridge.cron.in").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    equal(lines[:-1], ["MAILTO=root"], "lines before that of the command")
    when, user, command = re.match(r"((?:\S+ ){5})(\S+) (.*)$", lines[-1]).groups()
    equal((when, user), ("* * * * * ", "_creditbridge-sweep"), "each minute")
    check("%" not in command and "@" not in command.replace("@sweep@", "").replace("@config@", ""),
          command)
    return command.replace("@sweep@", str(program)).replace("@config@", str(config))


def as_cron(command):
    """Starts it as cron(8) does: by /bin/sh, with next to nothing in its environment."""
    return subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
                            env={"HOME": "/", "LOGNAME": "_creditbridge-sweep", "SHELL": "/bin/sh",
                                 "PATH": "/usr/bin:/bin"})


def case_cron():
    """The line that is shipped: it works for its 55 s, and what is parked is all that is mailed."""
    program = find_program("creditbridge-sweep")
    command = cron_command(program, quiet_config())
    check("--for 55s" in command, command)
    with Casino() as casino:
        casino.dealer.fault("refuse", kind=BETTING_RESULT)
        first = as_cron(command)
        wait_until(locked, PLENTY_S, "the sweeper")
        second = as_cron(command)
        equal(ended(second), ("", None), "the next minute's one: nothing to mail")
        parked = casino.win()
        wait_until(lambda: casino.state(parked) == ("parked", 3), PLENTY_S, "three attempts",
                   interval=0.1)
        check(first.poll() is None, "it goes on")
        for pid in cb.pids_running(program.resolve()):
            if os.fsencode(quiet_config()) in cb.command_of(pid):
                os.kill(pid, signal.SIGTERM)
        equal(ended(first), (parked_line(casino, "1 betting-result", parked), None), "the mail")


def case_cron_removed():
    """The package is gone, its cron line is not: no mail each minute."""
    process = as_cron(cron_command("/nonexistent/creditbridge-sweep", "/nonexistent/x.conf"))
    equal(process.communicate(timeout=60 * cb.PATIENCE)[0], "", "output")


# -- fairness


def healthy_takes(casino, count):
    """How long a sweeper needs until @count results of @casino are delivered."""
    events = [casino.win() for _ in range(count)]
    casino.until_due()
    begun = time.monotonic()
    process = started("--for", "40s")
    wait_until(lambda: all(casino.calls(BETTING_RESULT, event) for event in events), PLENTY_S,
               "the healthy dealer's results", interval=0.02)
    took = time.monotonic() - begun
    process.send_signal(signal.SIGTERM)
    ended(process)
    return took


def case_dead_dealer():
    """One that accepts connections and nothing more, with 200 callbacks that wait."""
    with Casino() as healthy, Casino() as dead, socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen(512)
        alone = healthy_takes(healthy, 30)
        WALLET.ctl("dealer", "set", dead.name, "--url",
                   f"http://127.0.0.1:{hole.getsockname()[1]}", "--allow-http")
        queued = [dead.win(amount=1) for _ in range(200)]
        beside = healthy_takes(healthy, 30)
        check(beside < alone + 10, f"{beside:.2f} s beside the dead one, {alone:.2f} s alone")
        rows = dead.callbacks()
        equal({rows[event]["state"] for event in queued} - {"due", "sending", "parked"}, set(),
              "nothing of it is delivered")
        # It was asked about the 20 that it may have at once, not about all of them.
        tried = sum(rows[event]["attempts"] - 1 for event in queued)
        check(0 < tried <= 100, f"{tried} attempts")


def cases():
    return [
        ("nothing is due", case_nothing_due),
        ("usage", case_usage),
        ("a bad configuration is exit 78", case_configuration),
        ("there is no socket directory", case_no_directory),
        ("there is no ledger", case_ledger_away),
        ("no process reads the summary", case_output_lost),
        ("a result is sent again and delivered", case_result),
        ("a bet without an answer is refunded", case_refund),
        ("the refund waits for its delay", case_refund_delay),
        ("a refund comes later and later", case_backoff),
        ("a line on standard error for each dealer with parked ones", case_parked),
        ("what cron mails", case_parked_line),
        ("the log", case_log),
        ("a worker killed with a bet under way", case_worker_killed),
        ("a worker stopped with a bet under way", case_worker_stopped),
        ("a ledger stopped while an end was on its way", case_ledger_stopped),
        ("a worker gone with a result under way", case_result_left),
        ("a sweeper killed with a call under way", case_sweeper_killed),
        ("a sweeper asked to stop", case_asked_to_stop),
        ("the engine killed under the sweeper", case_ledger_killed),
        ("an answer that comes while the engine is stopped", case_answer_meanwhile),
        ("a second one says so and ends", case_second),
        ("the lock's file", case_lock_file),
        ("two at once, without the lock", case_two_at_once),
        ("five at once, and a dealer that hangs", case_five_at_once),
        ("--for", case_for),
        ("--for with a dealer that hangs", case_for_and_hanging_dealer),
        ("what falls due while it runs", case_new_ones_are_found),
        ("a batch wakes it", case_woken),
        ("--dry-run claims nothing", case_dry_run),
        ("--dry-run shows what would be taken over", case_dry_run_takeover),
        ("cron's line", case_cron),
        ("cron's line without the program", case_cron_removed),
        ("a dead dealer beside a healthy one", case_dead_dealer),
    ]


def main():
    global WALLET
    wanted = sys.argv[1:]
    chosen = [case for case in cases() if not wanted or case[1].__name__ in wanted]
    with cb.Instance(settings=SETTINGS) as WALLET:
        return cb.run_cases(chosen, seconds=90)


if __name__ == "__main__":
    sys.exit(main())
