#!/usr/bin/python3
"""/healthz, /readyz and /metrics on real servers: what an operator and Prometheus see of a wallet,
and that no death of a process makes it wrong."""
import argparse
import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_metrics  # noqa: E402
from cb import check, equal, find_program, wait_until  # noqa: E402
from cb_dealer import BETTING, BETTING_RESULT  # noqa: E402
from cb_platform import (BETS, LOOPBACK, PLAYER_BALANCE, PLAYERS, RESULTS, client_add,  # noqa: E402
                         platform_call, seamless_dealer)
from cb_worker import NOT_SENT, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

PLENTY_S = 30  # on a machine that is busy
OVERDUE_S = 3
SETTINGS = {**LOOPBACK, "sweep_overdue_s": OVERDUE_S, "callback_timeout_ms": 3000,
            "ledger_deadline_ms": 3000,
            "result_second_attempt_ms": 0, "result_third_attempt_ms": 0, "breaker_open_ms": 1000}
TEXT = "text/plain; version=0.0.4; charset=utf-8"
HUGE_MIB = 16777216  # more than any disk here has free


class Bench:
    """A server of a wallet of its own, which no failure under another server can harm, with a dealer of either
    mode, and a game server. @stack ends what was started."""

    def __init__(self, stack, kind):
        self.stack = stack
        self.wallet = None
        self.kind = kind
        self.server = self.dealer = self.seamless = self.reference = self.client = None
        self.secrets = set()  # ids of players and games: they may be in no label
        self.numbers = 0

    def start(self):
        self.wallet = self.stack.enter_context(cb.Instance(settings=SETTINGS))
        self.dealer = self.wallet.dealer_add(f"plain-{self.kind.name}")
        self.seamless, self.reference = seamless_dealer(self.wallet, f"own.{self.kind.name}",
                                                        words=("--refund-delay", "0"))
        self.client = client_add(self.wallet, f"game-{self.kind.name}")
        self.server = self.kind(self.wallet, threads=4)
        equal(self.get("/healthz").json, {"status": "ok"}, "healthz")

    def stop(self):
        try:
            if self.reference:
                self.reference.close()
        finally:
            if self.wallet:
                self.wallet.close()

    def new(self, what):
        """An id that no case uses again."""
        self.numbers += 1
        name = f"{what}-{self.kind.name}-{self.numbers}"
        self.secrets.add(name)
        return name

    def ours(self, ask, answers=None):
        """Calls @ask until a worker answers, not the web server that has just lost one."""
        def asked():
            try:
                answer = ask()
            except (OSError, ValueError):
                return None
            return answer if answer.header("X-Request-Id") else None
        answer = wait_until(asked, PLENTY_S, "a worker's answer", 0.05)
        if answers is not None:
            answers.append(answer.status)
        return answer

    def get(self, path):
        return self.ours(lambda: platform_call(self.server, path, method="GET"))

    def metrics(self):
        answer = self.get("/metrics")
        equal((answer.status, answer.header("Content-Type")), (200, TEXT), "metrics")
        text = answer.body.decode()
        for secret in self.secrets:
            check(secret not in text, f"{secret} is in a label")
        return cb_metrics.parse(text)

    def ready(self):
        """The answer of /readyz: its status, and its checks by name."""
        answer = self.get("/readyz")
        body = answer.json
        equal(set(body), {"status", "checks"}, f"{body}")
        checks = {one["name"]: one for one in body["checks"]}
        equal(list(checks), ["ledger", "disk", "sweeper"], f"{body}")
        failing = [name for name, one in checks.items() if not one["ok"]]
        check(all(one["detail"] for one in checks.values()), f"a detail: {body}")
        equal((answer.status, body["status"]),
              (503, "not_ready") if failing else (200, "ready"), f"{body}")
        return failing, checks

    def wait_ready(self, failing, what):
        wait_until(lambda: self.ready()[0] == failing, PLENTY_S, f"{what}: {self.ready()}", 0.05)

    def sweep(self):
        done = subprocess.run([find_program("creditbridge-sweep"), "--config", self.wallet.config],
                              capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False)
        equal(done.returncode, 0, f"the sweeper: {done.stdout}{done.stderr}")

    def transfer(self, user, path=cb.TRANSFER_IN, dealer=None, **words):
        body = {"user_id": user, "amount": 1, "request_transaction_id": self.new("ref")}
        return cb.call(self.server, "POST", path, body, dealer=dealer or self.dealer, **words)

    def kill_workers(self):
        pids = self.server.worker_pids()
        cb.signal_pids(pids, signal.SIGKILL)
        wait_until(lambda: all(cb.process_gone(pid) for pid in pids), PLENTY_S, "dead workers")
        return len(pids)


def requests_of(metrics):
    """The requests by operation, code and error."""
    samples = metrics.families["creditbridge_requests_total"].samples
    return {tuple(dict(labels)[name] for name in ("operation", "code", "error")): int(value)
            for (_, labels), value in samples.items() if int(value)}


def difference(after, before):
    return {key: value - before.get(key, 0) for key, value in after.items()
            if value != before.get(key, 0)}


# -- what is counted


def case_exact(b):
    """N requests are N, although all workers are killed again and again in between."""
    user = b.new("user")
    b.wallet.player_add(b.dealer.casino_id, user)
    before = b.metrics()
    rounds, killed = 4, 0
    for _ in range(rounds):
        answers = []
        for _ in range(5):
            b.ours(lambda: b.transfer(user), answers)
        equal(answers, [200] * 5, "transfers")
        nobody = cb.Dealer("nobody", "k" * 64, "")
        equal(b.ours(lambda: b.transfer(user, dealer=nobody)).status, 401, "unknown")
        equal(b.ours(lambda: b.transfer(user, signature="0" * 64)).status, 401, "forged")
        equal(b.ours(lambda: b.transfer(user, signature="")).status, 401, "unsigned")
        equal(b.ours(lambda: cb.call(b.server, "POST", cb.BALANCE,
                                     {"user_id": user, "request_timestamp": 1},
                                     dealer=b.dealer)).status, 401, "stale")
        equal(b.ours(lambda: b.transfer(b.new("nobody"))).status, 404, "no such player")
        equal(b.ours(lambda: cb.call(b.server, "GET", cb.TRANSFER_IN)).status, 405, "method")
        equal(b.ours(lambda: cb.call(b.server, "GET", "/nowhere")).status, 404, "path")
        player = {"casino_id": b.dealer.casino_id, "user_id": user}
        equal(b.ours(lambda: platform_call(b.server, PLAYER_BALANCE, player,
                                           client=b.client)).status, 200, "balance")
        equal(b.ours(lambda: platform_call(b.server, PLAYERS, player, client=b.client,
                                           signature="f" * 64)).status, 401, "a client's")
        killed += b.kill_workers()
    check(killed >= rounds, f"{killed} workers were killed")
    after = b.metrics()
    equal(difference(requests_of(after), requests_of(before)), {
        ("transfer-in", "200", ""): 5 * rounds,
        ("transfer-in", "401", "invalid_signature"): 3 * rounds,
        ("transfer-in", "404", "user_not_found"): rounds,
        ("transfer-in", "405", "method_not_allowed"): rounds,
        ("balance", "401", "stale_request"): rounds,
        ("none", "404", "not_found"): rounds,
        ("player-balance", "200", ""): rounds,
        ("players", "401", "invalid_signature"): rounds,
        ("metrics", "200", ""): 1,
    }, "what was counted")
    for caller, reason, times in (("dealer", "unknown_caller", 1), ("dealer", "signature", 1),
                                  ("dealer", "headers", 1), ("dealer", "stale_request", 1),
                                  ("client", "signature", 1), ("client", "headers", 0)):
        labels = {"caller": caller, "reason": reason}
        name = "creditbridge_auth_failures_total"
        equal(after.get(name, **labels) - before.get(name, **labels), times * rounds, f"{labels}")
    # Counts of only this case: a worker that is killed between the two increments leaves them
    # unequal.
    for operation in ("transfer-in", "player-balance", "none"):
        timed, counted = (
            after.sum(name, operation=operation) - before.sum(name, operation=operation)
            for name in ("creditbridge_request_duration_seconds_count",
                         "creditbridge_requests_total"))
        equal(timed, counted, operation)


def case_kill_under_load(b):
    """Each call that was answered is counted, whenever the workers are killed."""
    users = [b.new("user") for _ in range(4)]
    for user in users:
        b.wallet.player_add(b.dealer.casino_id, user)
    name, labels = "creditbridge_requests_total", {"operation": "transfer-in", "code": "200"}
    before = b.metrics().sum(name, **labels)
    answered, over = [], threading.Event()

    def play(user):
        while not over.is_set():
            b.ours(lambda: b.transfer(user), answered)
    threads = [threading.Thread(target=play, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    kills = 0
    try:
        for _ in range(6):
            # If workers take long to start, kills at fixed times would let none of them answer.
            enough = len(answered) + 35
            wait_until(lambda: len(answered) >= enough, PLENTY_S, "answers between two kills")
            kills += b.kill_workers() > 0
    finally:
        over.set()
        for thread in threads:
            thread.join()
    equal(kills, 6, "kills while workers ran")
    equal(set(answered), {200}, "answers")
    counted = b.metrics().sum(name, **labels) - before
    check(counted >= len(answered), f"{counted} counted, {len(answered)} answered")
    # Beyond them only what was under way when its worker was killed; servers may try it again.
    most = len(answered) + kills * len(users) * 4
    check(counted <= most, f"{counted} counted, at most {most} can have been")


def case_wallet_mount(b):
    """None of it is on the wallet's mount."""
    for path in ("/healthz", "/readyz", "/metrics"):
        for method in ("GET", "POST"):
            for dealer in (None, b.dealer):
                answer = b.ours(lambda: cb.call(b.server, method, path, {}, dealer=dealer))
                equal((answer.status, answer.json["id"]), (404, "not_found"), f"{method} {path}")
        answer = b.ours(lambda: cb.call(b.server, "GET", path))
        equal(answer.status, 404, path)
    for path in ("/readyz", "/metrics"):
        answer = b.ours(lambda: platform_call(b.server, path, {}))
        equal((answer.status, answer.header("Allow")), (405, "GET"), f"POST {path}")


# -- callbacks


def case_callbacks(b):
    """Bets of a seamless dealer, through the web server: attempts by kind and outcome."""
    user = b.new("user")
    player = {"casino_id": b.seamless.casino_id, "user_id": user}
    answer = platform_call(b.server, PLAYERS, player, client=b.client)
    b.secrets.add(answer.json["player_id"])

    def bet(game):
        return platform_call(b.server, BETS, {
            **player, "request_transaction_id": b.new("bet"), "game_id": game, "bet_amount": 5,
            "remark": "", "user_bet": {}}, client=b.client)

    def result(game):
        return platform_call(b.server, RESULTS, {
            **player, "request_transaction_id": b.new("result"), "game_id": game, "result": "win",
            "payout_amount": 9}, client=b.client)
    won, refused, parked = (b.new("game") for _ in range(3))
    equal(bet(won).status, 200, "bet")
    equal(result(won).status, 200, "result")
    b.reference.fault("refuse", kind=BETTING, user_id=user, times=1)
    equal(bet(refused).status, 409, "refused")
    equal(platform_call(b.server, PLAYER_BALANCE, player, client=b.client).status, 200, "balance")
    equal(bet(parked).status, 200, "bet")
    b.reference.fault("status", kind=BETTING_RESULT, user_id=user, times=3)
    equal(result(parked).status, 200, "result")
    for _ in range(2):
        b.sweep()
    metrics = b.metrics()
    name, dealer = "creditbridge_callback_attempts_total", b.seamless.casino_id
    for kind, outcome, expected in (("betting", "success", 2), ("betting", "refused", 1),
                                    ("betting-result", "success", 1),
                                    ("betting-result", "unknown", 3),
                                    ("balance-inquire", "success", 1)):
        equal(metrics.find(name, dealer=dealer, kind=kind, outcome=outcome), expected,
              f"{kind} {outcome}")
    equal(metrics.sum(name, dealer=dealer), 8, "attempts")
    check(metrics.get("creditbridge_callback_duration_seconds_count", kind="betting") >= 3, "times")
    # A dealer that was never called is not there.
    check(b.dealer.casino_id not in metrics.labels("creditbridge_dealer_breaker", "dealer"),
          "only who was called")
    states = "creditbridge_dealer_callbacks"
    equal(metrics.get(states, dealer=dealer, state="parked"), 1, "parked")
    # The win of 9 that is parked is owed; the other was paid.
    equal([metrics.get("creditbridge_dealer_owed", dealer=dealer, currency="thb", of=of)
           for of in ("payouts", "refunds")], [9, 0], "owed")
    equal([metrics.get("creditbridge_dealer_credit", dealer=dealer, currency="thb", wallet="seamless", sum=name)
           for name in ("staked", "paid", "refunded")], [10, 18, 0], "credit of a seamless dealer")
    equal(metrics.get("creditbridge_callbacks", state="parked"),
          metrics.sum(states, state="parked"), "all parked ones")
    event = b.wallet.ctl_json("callback", "list", "--casino", dealer, "--state",
                              "parked")["callbacks"][0]["event"]
    b.wallet.ctl("callback", "hold", event, "--reason", "a test")
    metrics = b.metrics()
    equal([metrics.get(states, dealer=dealer, state=state) for state in ("parked", "held")], [0, 1],
          "held")
    b.wallet.ctl("callback", "cancel", event, "--reason", "a test", "--yes")
    equal(b.metrics().get(states, dealer=dealer, state="held"), 0, "cancelled")


LOOKS = ("doctor", "readyz", "healthz", "metrics")  # operations that are no traffic of callers


def case_looks(b):
    """doctor, readiness, `dealer ping` and a sweep without sending are no traffic, and no refused calls."""
    def figures():
        metrics = b.metrics()
        return (requests_of(metrics), metrics.sum("creditbridge_auth_failures_total"),
                metrics.sum("creditbridge_callback_attempts_total"))
    before = figures()
    doctor = b.wallet.ctl_run("--json", "doctor", "--url", b.server.base_url, "--platform-url",
                              b.server.platform_url)
    found = {row["check"]: row["result"] for row in json.loads(doctor.stdout)["findings"]}
    equal((found["wallet_mount"], found["platform_mount"]), ("PASS", "PASS"), "doctor called both")
    b.ready()
    ping = b.wallet.ctl_run("--json", "dealer", "ping", b.seamless.casino_id)
    check("class" in json.loads(ping.stdout), f"dealer ping: {ping}")
    subprocess.run([find_program("creditbridge-sweep"), "--config", b.wallet.config, "--dry-run"],
                   capture_output=True, timeout=60 * cb.PATIENCE, check=True)
    after = figures()
    counted = difference(after[0], before[0])
    equal([key for key in counted if key[0] not in LOOKS], [], "requests that were counted")
    check({"doctor", "readyz"} <= {key[0] for key in counted}, f"the looks have counters: {counted}")
    equal(after[1:], before[1:], "refused signatures, and attempts at dealers")


def case_backlog(b):
    """A dealer that cannot be reached: its breaker, and how long its callbacks have been due."""
    casino = f"dead.{b.kind.name}"
    b.wallet.dealer_add(casino, "--url", "http://127.0.0.1:9", "--allow-http", "--refund-delay",
                        "0", mode="seamless")
    user = b.new("user")
    b.wallet.player_add(casino, user)
    worker = Worker(b.wallet.sockets / "edge.sock")
    try:
        placed = worker.place("slots", casino, user, b.new("game"), 5)
        metrics = b.metrics()
        equal([metrics.get("creditbridge_dealer_callbacks", dealer=casino, state="sending"),
               metrics.get("creditbridge_dealer_inflight", dealer=casino)], [1, 1], "under way")
        worker.end(placed.send, casino, UNKNOWN, milliseconds=1000)

        def overdue():
            return b.metrics().get("creditbridge_dealer_callback_overdue_seconds", dealer=casino)
        first = wait_until(overdue, PLENTY_S, "an overdue refund")
        check(wait_until(lambda: overdue() > first, PLENTY_S, "a longer one"), "it rises")
        equal(b.metrics().get("creditbridge_dealer_callbacks", dealer=casino, state="due"), 1,
              "due")
        check(b.metrics().get("creditbridge_callback_overdue_seconds") >= first, "the longest")
        equal(b.metrics().get("creditbridge_dealer_breaker", dealer=casino), 0, "closed")
        for _ in range(9):
            placed = worker.place("slots", casino, user, b.new("game"), 5)
            worker.end(placed.send, casino, NOT_SENT)
        check(b.metrics().get("creditbridge_dealer_breaker", dealer=casino) in (1, 2), "open")
        equal(b.metrics().get("creditbridge_callback_attempts_total", dealer=casino, kind="betting",
                              outcome="not_sent"), 9, "not sent")
    finally:
        worker.close()
    for one in b.wallet.ctl_json("callback", "list", "--casino", casino, "--state",
                                 "due")["callbacks"]:
        b.wallet.ctl("callback", "cancel", one["event"], "--reason", "a test", "--yes")


def case_engine(b):
    """The ledger's engine is killed: nothing that was counted is lost, and readiness comes back."""
    b.sweep()
    equal(b.ready()[0], [], "ready")
    before = b.metrics()
    for pid in b.wallet.engine_pids():
        os.kill(pid, signal.SIGKILL)
    # Whether the sweeper has run is known to the next engine, too.
    wait_until(lambda: b.metrics().find("creditbridge_engine_starts_total") ==
               before.get("creditbridge_engine_starts_total") + 1, PLENTY_S, "the next engine")
    after = b.metrics()
    equal(after.get("creditbridge_last_sweep_timestamp_seconds"),
          before.get("creditbridge_last_sweep_timestamp_seconds"), "the last sweep")
    for name in ("creditbridge_callback_attempts_total", "creditbridge_dealer_callbacks",
                 "creditbridge_callback_duration_seconds_count"):
        equal(after.sum(name), before.sum(name), name)
    check(after.get("creditbridge_batch_commands_count") >
          before.get("creditbridge_batch_commands_count"), "batches")
    check(after.get("creditbridge_commit_duration_seconds_count") >=
          before.get("creditbridge_commit_duration_seconds_count"), "commits")
    equal(after.sum("creditbridge_requests_total", operation="transfer-in"),
          before.sum("creditbridge_requests_total", operation="transfer-in"), "requests")


# -- readiness


def case_ready(b):
    """Each check fails by its name and recovers: sweeper, ledger, disk."""
    wallet = b.wallet
    wallet.stop()
    wallet.start()
    failing, checks = b.ready()
    equal((failing, checks["sweeper"]["detail"]),
          (["sweeper"], "has not run since the ledger was started"), "a new ledger")
    # A look is no sweep.
    subprocess.run([find_program("creditbridge-sweep"), "--config", wallet.config, "--dry-run"],
                   capture_output=True, timeout=60 * cb.PATIENCE, check=True)
    equal(b.ready()[0], ["sweeper"], "a dry run")
    b.sweep()
    b.wait_ready([], "a sweep")
    b.wait_ready(["sweeper"], "no sweep for too long")
    check(re.fullmatch(r"ran \d+ s ago", b.ready()[1]["sweeper"]["detail"]), f"{b.ready()}")
    b.sweep()
    b.wait_ready([], "a sweep again")

    wallet.stop()
    failing, checks = b.ready()
    equal(failing, ["ledger", "disk", "sweeper"], "without a ledger")
    check(checks["ledger"]["detail"].startswith("does not answer: "), f"{checks}")
    equal(checks["disk"]["detail"], "not known: the ledger does not answer", "disk")
    equal(b.get("/healthz").status, 200, "the worker is alive")

    wallet.write_config({**SETTINGS, "disk_low_water_mib": HUGE_MIB})
    try:
        wallet.start()
        low_on_disk(b)
    finally:
        wallet.stop()
        wallet.write_config(SETTINGS)
        wallet.start()
    b.sweep()
    b.wait_ready([], "all is well")
    equal(b.metrics().get("creditbridge_storage_low"), 0, "storage_low")


def low_on_disk(b):
    b.sweep()
    b.wait_ready(["disk"], "low on disk")
    detail = b.ready()[1]["disk"]["detail"]
    check(re.fullmatch(rf"\d+ bytes free, the mark is {HUGE_MIB * 1024 * 1024}", detail), detail)
    metrics = b.metrics()
    equal(metrics.get("creditbridge_storage_low"), 1, "storage_low")
    equal(metrics.get("creditbridge_disk_low_water_bytes"), HUGE_MIB * 1024 * 1024, "the mark")


def case_without_ledger(b):
    """Metrics of a wallet whose ledger is down: what the workers counted, and that it is down."""
    before = b.metrics()
    b.wallet.stop()
    try:
        down = b.metrics()
        equal(down.get("creditbridge_ledger_up"), 0, "ledger_up")
        equal(down.find("creditbridge_storage_low"), None, "what is not known")
        user = b.new("user")
        equal(b.ours(lambda: b.transfer(user)).status, 503, "a transfer")
        down = b.metrics()
        equal(down.get("creditbridge_requests_total", operation="transfer-in", code="503",
                       error="service_unavailable") -
              (before.find("creditbridge_requests_total", operation="transfer-in", code="503",
                           error="service_unavailable") or 0), 1, "counted")
    finally:
        b.wallet.start()
    after = b.metrics()
    equal(after.get("creditbridge_ledger_up"), 1, "ledger_up")
    equal(after.get("creditbridge_requests_total", operation="transfer-in", code="200", error=""),
          before.get("creditbridge_requests_total", operation="transfer-in", code="200", error=""),
          "counts over a restart of the ledger")


def case_by_dealer(b):
    """Requests and credit of each dealer: what its calls moved, and how they were answered."""
    casino, user = b.dealer.casino_id, b.new("user")
    b.wallet.player_add(casino, user)

    def requests(code):
        return b.metrics().find("creditbridge_dealer_requests_total", dealer=casino, code=str(code)) or 0

    def credit(name):
        return b.metrics().get("creditbridge_dealer_credit", dealer=casino, currency="thb", wallet="transfer",
                               sum=name)
    answered, unknown, poor, forged = requests(200), requests(404), requests(402), requests(401)
    moved_in, moved_out, balance = credit("in"), credit("out"), credit("balance")
    equal([b.ours(lambda: b.transfer(user)).status for _ in range(3)], [200] * 3, "in")
    equal(b.ours(lambda: b.transfer(user, cb.TRANSFER_OUT)).status, 200, "out")
    equal(b.ours(lambda: b.transfer(b.new("nobody"))).status, 404, "no such player")
    equal([b.ours(lambda: b.transfer(user, cb.TRANSFER_OUT)).status for _ in range(3)], [200, 200, 402], "empty")
    # A caller that proves no key is counted for no dealer.
    equal(b.ours(lambda: b.transfer(user, signature="0" * 64)).status, 401, "forged")
    equal((requests(200) - answered, requests(404) - unknown, requests(402) - poor), (6, 1, 1), "requests")
    equal(requests(401), forged, "a forged signature")
    equal((credit("in") - moved_in, credit("out") - moved_out, credit("balance") - balance), (3, 3, 0), "credit")
    b.wallet.ctl("player", "adjust", casino, user, "2.5", "--reason", "a test")
    equal((credit("adjusted"), credit("balance") - balance), (2.5, 2.5), "an adjustment")


# -- the operator


def case_ctl(b):
    """creditbridgectl metrics prints the same, status the main ones."""
    shown = cb_metrics.parse(b.wallet.ctl("metrics"))
    served = b.metrics()
    equal(list(shown.families), list(served.families), "families")
    ours = requests_of(shown)
    theirs = requests_of(served)
    equal(difference(theirs, ours), {}, "requests")  # its own is counted after it was answered
    for name in ("creditbridge_callback_attempts_total", "creditbridge_dealer_callbacks"):
        equal(shown.families[name].samples, served.families[name].samples, name)
    equal(cb_metrics.parse(b.wallet.ctl_json("metrics")["metrics"]).families.keys(),
          shown.families.keys(), "as JSON")
    b.sweep()
    status = b.wallet.ctl_json("status")
    queue = status["callbacks"]
    for state in ("due", "sending", "held", "parked"):
        equal(queue[state], served.get("creditbridge_callbacks", state=state), state)
    check(cb.now_ms() - status["swept_ms"] < PLENTY_S * 1000, f"{status}")
    equal(status["engine_starts"], 1, "engine starts")
    lines = dict(re.split(r"  +", line.strip(), maxsplit=1)
                 for line in b.wallet.ctl("status").splitlines() if "  " in line.strip())
    equal(lines["callbacks parked"], str(queue["parked"]), f"{lines}")
    check(lines["last sweep"].startswith("20"), f"{lines}")
    b.wallet.stop()
    done = b.wallet.ctl_run("metrics")
    equal((done.returncode, done.stdout), (69, ""), f"without a ledger: {done}")
    b.wallet.start()


def case_file(b):
    """Only users that may connect to the ledger may read the file of the counters."""
    counters = (b.wallet.sockets / "counters").stat()
    edge = (b.wallet.sockets / "edge.sock").stat()
    equal((stat.S_IMODE(counters.st_mode), counters.st_gid),
          (stat.S_IMODE(edge.st_mode), edge.st_gid), "mode and group")
    check(counters.st_blocks * 512 >= counters.st_size, "it has all its blocks")
    log = (b.wallet.logs / "ledger.log").read_text()
    check("no_counters" not in log, "the ledger's log")


def case_damage(b):
    """A worker that cuts the file off harms no ledger; the next start makes a new one."""
    path = b.wallet.sockets / "counters"
    os.truncate(path, 0)
    answer = b.get("/readyz")
    check(answer.status in (200, 503), f"{answer}")
    metrics = b.metrics()
    equal((metrics.get("creditbridge_counters_readable"), metrics.get("creditbridge_ledger_up")),
          (0, 1), "without counters")
    user = b.new("user")
    b.wallet.player_add(b.dealer.casino_id, user)
    equal(b.ours(lambda: b.transfer(user)).status, 200, "a transfer")
    b.wallet.stop()
    b.wallet.start()
    equal(b.metrics().get("creditbridge_counters_readable"), 1, "a new file")
    wait_until(lambda: b.metrics().find("creditbridge_requests_total", operation="metrics",
                                        code="200", error=""), PLENTY_S, "workers count in it")


def case_promtool(b, program):
    """Prometheus' own tool accepts the metrics of a ledger with many figures."""
    text = b.get("/metrics").body
    done = subprocess.run([program, "check", "metrics"], input=text, capture_output=True,
                          timeout=60 * cb.PATIENCE, check=False)
    equal((done.returncode, done.stdout, done.stderr), (0, b"", b""), "promtool check metrics")


def case_parser():
    """The parser of this test refuses what is not the format."""
    good = ("# HELP creditbridge_a_total It.\n# TYPE creditbridge_a_total counter\n"
            "creditbridge_a_total 1\n")
    cb_metrics.parse(good)
    bad = (good[:-1], good.replace("_total", "_count"), good.replace("# HELP", "#HELP"),
           good.replace("counter", "gauge"), good.replace(" 1\n", " x\n"),
           good.replace(" 1\n", "{a=1} 1\n"), good.replace(" 1\n", '{a="1",a="2"} 1\n'),
           good + "creditbridge_a_total 2\n", good + "creditbridge_b_total 2\n", good + good,
           good.replace("_a_", "_ms_"), "\n" + good, good.replace("# TYPE", "# TIPE"))
    for text in bad:
        try:
            cb_metrics.parse(text)
        except AssertionError:
            continue
        raise AssertionError(f"accepted: {text!r}")


# On each server ...
CASES = (
    ("N requests are N through kills", case_exact),
    ("kills under load lose nothing", case_kill_under_load),
    ("not on the wallet's mount", case_wallet_mount),
    ("callbacks by dealer, kind and outcome", case_callbacks),
    ("looks are no traffic", case_looks),
    ("readiness", case_ready),
)
# ... and what does not depend on it, on one.
ONCE = (
    ("a backlog and its breaker", case_backlog),
    ("the engine dies", case_engine),
    ("without a ledger", case_without_ledger),
    ("requests and credit by dealer", case_by_dealer),
    ("creditbridgectl", case_ctl),
    ("the file of the counters", case_file),
    ("a damaged file", case_damage),
)


# With --promtool PROGRAM: what fills each family of figures, then that program's opinion.
FILLING = (
    ("callbacks by dealer, kind and outcome", case_callbacks),
    ("a backlog and its breaker", case_backlog),
    ("requests and credit by dealer", case_by_dealer),
)


def cases_of(more, program):
    """The cases on one server."""
    if not program:
        return CASES + more
    return FILLING + (("promtool check metrics", lambda b: case_promtool(b, program)),)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--promtool", metavar="PROGRAM",
                        help="only what this promtool says of the figures")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        cases = [("the test's own parser", case_parser)]
        for kind, more in ((cb.ApacheFcgid, ()), (cb.Lighttpd, ONCE)):
            bench = Bench(stack, kind)
            cases.append((f"{kind.name}: starts", bench.start))
            cases += [(f"{kind.name}: {name}", lambda case=case, bench=bench: case(bench))
                      for name, case in cases_of(more, options.promtool)]
            cases.append((f"{kind.name}: stops", bench.stop))
        return cb.run_cases(cases, seconds=120)


if __name__ == "__main__":
    sys.exit(main())
