#!/usr/bin/python3
"""Copies of one transfer, on their way over two web servers of one ledger: moved once, answered alike.

    test_copies.py [--transfers N] [--seed SEED]

    stopped    a worker of the one server is stopped at some moment of a transfer, its copy is sent over
               the other server, and then the worker goes on
    repeated   an nginx before both servers repeats each POST that has no answer in time, or a bad one
               (proxy_next_upstream non_idempotent), while workers are killed and the ledger stands
               still now and then: N transfers, each moved once
"""
import argparse
import contextlib
import itertools
import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import TRANSFER_IN, TRANSFER_OUT, check, equal  # noqa: E402
from cb_process import port_open  # noqa: E402
from cb_servers import find_server  # noqa: E402

STOPS = 24             # of a worker, at each server half of them
MOMENT_S = 0.004       # of half of them: from the start of a transfer to the stop, at most
CALLERS = 8
TRIES = 40             # of a transfer, each of which nginx repeats
IMPATIENT = "200ms"    # of nginx
STILL_S = 0.35         # of the ledger: nginx repeats
PAUSE_S = 0.3          # between two faults, at most
ENOUGH_S = 60          # until enough transfers met a fault, at most
OPTIONS = None
WALLET = DEALER = None
SERVERS = ()


def moves(user_id):
    return [row["request_transaction_id"] for row in WALLET.ctl_json(
        "transfer", "list", "--casino", "dealer", "--user", user_id, "--limit", 0)["transfers"]]


def transfer(server, path, user_id, key, amount=1, **words):
    return cb.call(server, "POST", path, {"user_id": user_id, "amount": amount,
                                          "request_transaction_id": key}, dealer=DEALER, **words)


def books_are_right():
    done = WALLET.ctl_run("check")
    equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")


def parent_of(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rsplit(")", 1)[1].split()[1])


def workers_of(server):
    """The wallet's workers that @server has started, and not the other one."""
    found = []
    for pid in server.worker_pids("wallet"):
        ancestor = pid
        while ancestor > 1 and ancestor != server.child.pid:
            ancestor = parent_of(ancestor)
        if ancestor > 1:
            found.append(pid)
    return found


@contextlib.contextmanager
def stopped(pids):
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def case_stopped():
    chance = random.Random(f"{OPTIONS.seed}/stopped")
    WALLET.player_add("dealer", "ann")
    balance, late = 100, 0
    for number in range(STOPS):
        one, other = SERVERS if number % 2 else SERVERS[::-1]
        path, key = (TRANSFER_OUT, TRANSFER_IN)[number % 3 > 0], f"copy-{number}"
        balance += 1 if path == TRANSFER_IN else -1
        equal(transfer(one, TRANSFER_IN, "ann", "start", 100).status, 200, "a worker runs")
        first = []
        caller = threading.Thread(target=lambda: first.append(
            transfer(one, path, "ann", key, timeout=60.0)))  # pylint: disable=cell-var-from-loop
        pids = workers_of(one)
        check(pids, f"workers of {one.name}")
        # Every other worker is stopped before it hears of the transfer, the others amid it.
        if number // 2 % 2:
            caller.start()
            time.sleep(chance.uniform(0, MOMENT_S))
        with stopped(pids):
            if number // 2 % 2 == 0:
                caller.start()
            second = transfer(other, path, "ann", key)
            late += not first
        caller.join(60)
        equal((len(first), second.status), (1, 200), f"{key}: {first} {second}")
        equal((first[0].status, first[0].json), (200, second.json), f"{key}: the answers")
        equal(sorted([first[0].replayed, second.replayed]), [False, True], f"{key}: replays")
        equal(second.json["current_balance"], balance, f"{key}: the balance")
    check(late >= STOPS // 2, f"{late} of {STOPS} workers were stopped before they had answered")
    made = moves("ann")
    equal((len(made), len(set(made))), (STOPS + 1, STOPS + 1), "movements, and their references")
    print(f"# {late} of {STOPS} first copies were answered after the second", flush=True)
    books_are_right()


class Proxy:
    """An nginx before the two servers, which repeats what went wrong at the one at the other."""

    def __init__(self):
        self.port, self.prefix, self.name = cb.free_port(), "", "nginx before both"
        self.dir = WALLET.dir / "proxy"
        self.dir.mkdir(mode=0o711)
        temporary = self.dir / "tmp"
        temporary.mkdir(mode=0o777)
        temporary.chmod(0o777)
        self.log = self.dir / "repeats"
        self.log.touch()
        self.log.chmod(0o666)
        kinds = "".join(f"\t{kind}_temp_path {temporary}/{kind};\n" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        servers = "".join(f"\t\tserver 127.0.0.1:{server.port} max_fails=0;\n" for server in SERVERS)
        identity = f"user {WALLET.user};\n" if WALLET.user else ""
        (self.dir / "server.conf").write_text(f"""\
{identity}daemon off;
worker_processes 1;
pid {self.dir}/nginx.pid;
error_log {self.dir}/errors crit;
events {{ worker_connections 256; }}
http {{
	log_format repeats "$status $upstream_status";
	access_log {self.log} repeats;
{kinds}	upstream wallet {{
{servers}	}}
	server {{
		listen 127.0.0.1:{self.port};
		location / {{
			proxy_pass http://wallet;
			proxy_read_timeout {IMPATIENT};
			proxy_next_upstream error timeout invalid_header http_500 http_502 http_503 http_504
				non_idempotent;
			proxy_next_upstream_tries 2;
		}}
	}}
}}
""")
        self.child = cb.Child([find_server("nginx"), "-e", self.dir / "errors", "-p", self.dir, "-c",
                               self.dir / "server.conf"], self.dir / "nginx.log")
        self.child.wait_ready(lambda: port_open(self.port), 15, "nginx")

    def repeats(self):
        """How many calls nginx sent to both servers."""
        return sum("," in line for line in self.log.read_text().splitlines())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stop()


class Faults(threading.Thread):
    """A worker is killed, or the ledger stands still, again and again."""

    def __init__(self, chance):
        super().__init__(daemon=True)
        self.chance = chance
        self.over = threading.Event()
        self.counts = {"killed": 0, "stood still": 0}
        self.failure = None

    def fault(self, number):
        pids = [pid for server in SERVERS for pid in workers_of(server)]
        if number % 2 and pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(pids), signal.SIGKILL)
            self.counts["killed"] += 1
            return
        with stopped(WALLET.engine_pids()):
            self.over.wait(STILL_S)
        self.counts["stood still"] += 1

    def run(self):
        try:
            for number in itertools.count():
                if self.over.wait(self.chance.uniform(0, PAUSE_S)):
                    return
                self.fault(number)
        except Exception as error:  # The main thread raises it.
            self.failure = error


def move(proxy, user_id, key):
    """Repeats one transfer until it is done, as a dealer would. Returns what went wrong, or None."""
    for _ in range(TRIES):
        try:
            answer = transfer(proxy, TRANSFER_IN, user_id, key, timeout=30.0)
        except (OSError, cb.HarnessError, ValueError):
            continue
        if answer.status < 500:
            return None if answer.status == 200 else f"{key}: {answer}"
    return f"{key}: no answer"


def move_all(proxy, user_id, keys, problems):
    """Makes the caller's share of the transfers, and more until enough of them met a fault."""
    each, enough = max(1, OPTIONS.transfers // CALLERS), OPTIONS.transfers // 20
    deadline = time.monotonic() + ENOUGH_S
    while len(keys) < each or (proxy.repeats() < enough and time.monotonic() < deadline):
        keys.append(f"{user_id}-{len(keys)}")
        problem = move(proxy, user_id, keys[-1])
        if problem:
            problems.append(problem)
            return


def case_repeated():
    users = [f"repeat-{number}" for number in range(CALLERS)]
    for user_id in users:
        WALLET.player_add("dealer", user_id)
    problems, faults = [], Faults(random.Random(f"{OPTIONS.seed}/repeated"))
    keys = {user_id: [] for user_id in users}
    with Proxy() as proxy:
        faults.start()
        threads = [threading.Thread(target=move_all, args=(proxy, user_id, keys[user_id], problems))
                   for user_id in users]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            faults.over.set()
            faults.join()
        repeats = proxy.repeats()
    equal((problems, faults.failure), ([], None), "problems")
    check(repeats >= OPTIONS.transfers // 20, f"nginx repeated {repeats} calls")
    cb.wait_until(WALLET.answering, 20, "the ledger")
    for user_id in users:
        made = moves(user_id)
        equal((len(made), set(made)), (len(keys[user_id]), set(keys[user_id])), f"movements of {user_id}")
        equal(WALLET.ctl_json("player", "show", "dealer", user_id)["balance"], len(keys[user_id]),
              f"balance of {user_id}")
    print(f"# {sum(map(len, keys.values()))} transfers, {repeats} repeated by nginx, 0 doubled; "
          f"{faults.counts}", flush=True)
    books_are_right()


CASES = [
    ("a worker stopped between two copies of a transfer", case_stopped),
    ("an nginx that repeats POSTs before two servers", case_repeated),
]


def main():
    global OPTIONS, WALLET, DEALER, SERVERS  # pylint: disable=global-statement
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transfers", type=int, default=400)
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    OPTIONS = parser.parse_args()
    print(f"# SEED={OPTIONS.seed}", flush=True)
    with cb.Instance("copies", settings={"log_level": "warning"}) as WALLET, \
            cb.Lighttpd(WALLET) as light, cb.ApacheFcgid(WALLET) as apache:
        DEALER, SERVERS = WALLET.dealer_add("dealer"), (light, apache)
        return cb.run_cases(CASES, seconds=max(120, OPTIONS.transfers // 5))


if __name__ == "__main__":
    sys.exit(main())
