#!/usr/bin/python3
"""Ledgers of three hosts on one PostgreSQL: one is active, the others stand by and take over.

Each host has its own state, sockets, web server and callers. Callers repeat what is not answered, with the same id,
on any host that is left (load.py). Afterwards nothing that was acknowledged is lost or doubled, and `check` finds
nothing. In the control the module lacks the condition that fences a replaced ledger: there the same proof must fail.
"""
import http.client
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
import cb  # noqa: E402
import load  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_cell import host_settings  # noqa: E402
from cb_link import Closed, Link, balance_payload, request  # noqa: E402
from cb_platform import platform_call  # noqa: E402
from cb_postgresql import Server  # noqa: E402
from cb_instance import temporary_directory  # noqa: E402
from pulse import Pulse, stood_still  # noqa: E402
from cb_process import Child, builddir, find_program  # noqa: E402

SEED = os.environ.get("SEED") or "standby"
STALL_MAX_S = 5.0    # without the time in which this machine stood still; the figures are printed
STOPPED_S = 4.0
ATTEMPT_S = 2.0      # then a caller asks another host
CONTROL_TRIES = 6
RATE = 300           # calls a second of all callers
SERVER = None
UNFENCED = "tests/store/unfenced/store-postgresql.so"


class Host(cb.Instance):
    """One host. @folder has another ledger than the build directory."""

    def __init__(self, name, settings, join, folder=None):
        self.folder = folder
        self.port = cb.free_port()
        certificates = settings["cell_tls_directory"]
        subprocess.run([find_program("peer_alone"), "--issue", certificates, name, "0"], check=True, timeout=60)
        super().__init__(name, settings=settings | host_settings(name, self.port, certificates), join=join, start=False)
        self.name = name
        self.server = None

    def ledger_start(self):
        program = self.folder / "creditbridge-ledger" if self.folder else find_program("creditbridge-ledger")
        self.ledger = Child([program, "--config", self.config], self.logs / "ledger.log")

    def peer(self):
        return int(re.findall(r"event=peer_ready.* pid=(\d+)", self.logged())[-1])

    def engine(self):
        """The engine: the child that is not the peer."""
        return next(pid for pid in self.engine_pids() if pid != self.peer())

    def status(self):
        return self.ctl_json("cluster", "status")

    def logged(self):
        return (self.logs / "ledger.log").read_text(errors="replace")

    def kill_all(self):
        """The host loses power."""
        pids = [self.ledger.pid, *self.engine_pids()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.ledger.process.wait(20)


class Cluster:
    def __init__(self, count, folder=None):
        self.certificates = temporary_directory("cell")
        settings = SERVER.settings() | {"cell_tls_directory": str(self.certificates / "tls"), "log_level": "info"}
        self.hosts = []
        self.closing = []
        for number in range(count):
            host = Host("abc"[number], settings, join=number > 0, folder=folder)
            self.closing.append(host)
            host.ledger_start()
            if not number:
                host.ledger.wait_ready(host.answering, 20, "the first ledger")
            self.hosts.append(host)
        for host in self.hosts:
            host.server = cb.Lighttpd(host)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for host in self.closing:
            host.close()
        shutil.rmtree(self.certificates, ignore_errors=True)

    def active(self):
        """The host whose ledger is active; None while there is none."""
        name = next(host for host in self.hosts if host.ledger).status()["active"]
        return next((host for host in self.hosts if host.name == name), None)

    def await_active(self, other=None):
        """Waits for an active ledger, which is not that of the host @other."""
        found = []

        def look():
            host = self.active()
            if host and host is not other:
                found.append(host)
            return bool(found)
        wait_until(look, 20, "an active ledger")
        return found[-1]


class Sides(load.Caller):
    """A caller of all hosts: after a failure it asks the next one."""

    def __init__(self, hosts, first, keep_alive):
        super().__init__(hosts[first % len(hosts)].server, keep_alive)
        self.servers = itertools.cycle([hosts[(first + n) % len(hosts)].server for n in range(1, len(hosts) + 1)])

    def attempt(self, method, path, body, headers):
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=ATTEMPT_S)
            answer = super().attempt(method, path, body, headers)
        except load.BROKEN:
            self.server = next(self.servers)
            raise
        if answer.status >= 500:
            self.close()
            self.server = next(self.servers)
        return answer


def load_of(cluster):
    """Callers on every host, which begin on their own one."""
    active = cluster.active()
    dealers = [active.dealer_add(f"dealer-{n}") for n in range(load.DEALERS)]
    made = load.Load(active, active.server, dealers, SEED, rate=RATE)
    for client in made.clients:
        client.caller = Sides(cluster.hosts, client.number, client.number % 2 == 0)
    return made


def prove(cluster, made):
    made.wallet = cluster.await_active()
    made.server = made.wallet.server
    made.prove(200)


def longest_stall(made, pulse, begin, end):
    """The longest time between two answers, from @begin to @end, without what the machine stood still."""
    times = [begin, *[when for when in made.answered() if begin < when < end], end]
    return max(b - a - stood_still([pulse], a, b) for a, b in zip(times, times[1:]))


class Faults:
    """Does one thing to the cluster under load, waits until it is served again, and notes the longest stall."""

    def __init__(self, cluster, made):
        self.cluster = cluster
        self.made = made
        self.stalls = []
        self.pulse = Pulse()
        self.pulse.start()

    def do(self, what, work, other=False):
        """@other: another host must be active afterwards."""
        active = self.cluster.await_active()
        epoch = active.status()["epoch"]
        begin = time.monotonic()
        done = work(active)
        now = self.cluster.await_active(other=active if other else None)
        answers = len(self.made.answered())
        wait_until(lambda: len(self.made.answered()) > answers + 20 or self.made.failures(), 30, "calls go on")
        status = now.status()
        self.stalls.append((what, longest_stall(self.made, self.pulse, begin, time.monotonic()), status["epoch"] - epoch))
        return active, now, done


def kill_engine(host):
    os.kill(host.engine(), signal.SIGKILL)


def kill_parent(host):
    os.kill(host.ledger.pid, signal.SIGKILL)
    host.ledger.process.wait(20)


def read_stopped(cluster, host):
    """Stops the active engine with a read in its socket, until another ledger has taken over and STOPPED_S are over."""
    player = cluster.read_player
    link = Link(host.sockets / "edge.sock")
    link.call("balance", balance_payload(*player))
    engine = host.engine()
    begin = time.monotonic()
    os.kill(engine, signal.SIGSTOP)
    try:
        link.send(request("balance", balance_payload(*player)))
        cluster.await_active(other=host)
        time.sleep(max(0.0, begin + STOPPED_S - time.monotonic()))
    finally:
        os.kill(engine, signal.SIGCONT)
    with link:
        try:
            frame = link.frame()
        except Closed:
            frame = None
        check(frame is None, f"a ledger that was replaced answered a read: {frame}")
    wait_until(lambda: cb.process_gone(engine), 20, "the end of the fenced engine")
    wait_until(lambda: "exit=77" in host.logged() and "store_fenced" in host.logged(), 20,
               "what the parent logs of a fenced engine")


def show_standby(cluster):
    """A host that stands by shows the answers and the readiness of the active one."""
    active = cluster.active()
    host = next(host for host in cluster.hosts if host is not active)
    status = host.status()
    equal((status["member"], status["role"], status["active"], status["epoch"]),
          (host.name, "standby", active.name, active.ctl_json("status")["epoch"]), "cluster status of a standby")
    equal({member["name"]: member["role"] for member in status["members"]},
          {h.name: "active" if h is active else "standby" for h in cluster.hosts}, "members")
    equal(host.ctl_json("status")["member"], active.name, "status over the relay")
    answer = platform_call(host.server, "/readyz", method="GET")
    check(f"this host is the standby of {active.name}" in answer.body.decode(), f"readyz of a standby: {answer}")


def case_takeovers():
    with Cluster(3) as cluster:
        made = load_of(cluster)
        player = made.players[0]
        cluster.read_player = (player.dealer.casino_id, player.user_id)
        faults = Faults(cluster, made)
        made.start()
        try:
            show_standby(cluster)
            faults.do("engine killed", kill_engine)
            faults.do("parent killed", kill_parent, other=True)[0].ledger_start()
            faults.do("stopped 4 s", lambda host: read_stopped(cluster, host), other=True)
            stopped = faults.do("stopped by the operator", lambda host: host.stop(), other=True)
            equal(stopped[2], 0, "exit code of a clean stop")
            # A command that works on stopped data must not take it from the ledger of another host.
            done = stopped[0].ctl_run("export", "--offline", str(stopped[0].dir / "export.jsonl"))
            check(done.returncode == 75 and "serves this data" in done.stderr, f"{done}")
            stopped[0].ledger_start()
            # Two candidates stand by, and one of them wins.
            lost = faults.do("host lost, two candidates", lambda host: host.kill_all(), other=True)[0]
            equal(faults.stalls[-1][2], 1, "epochs of one takeover by two candidates")
            lost.ledger_start()
            wait_until(lambda: {m["role"] for m in lost.status()["members"]} == {"active", "standby"}, 20, "all hosts")
        finally:
            made.stop()
            faults.pulse.stopping.set()
        prove(cluster, made)
        for what, stall, epochs in faults.stalls:
            print(f"# {what}: longest stall {stall * 1000:.0f} ms, epochs {epochs}", flush=True)
        print(f"# acknowledged {len(made.transfers())}, repeats {made.repeats()}, lost 0, doubled 0", flush=True)
        worst = max(stall for _, stall, _ in faults.stalls)
        check(worst <= STALL_MAX_S, f"no caller was answered for {worst * 1000:.0f} ms")


def finds_a_loss(folder):
    """Lets two ledgers of @folder write at once. Returns whether the proof found what they lost."""
    with Cluster(2, folder) as cluster:
        made = load_of(cluster)
        made.start()
        active = cluster.await_active()
        engine = active.engine()
        os.kill(engine, signal.SIGSTOP)
        cluster.await_active(other=active)
        os.kill(engine, signal.SIGCONT)
        answers = len(made.answered())
        wait_until(lambda: len(made.answered()) > answers + 2 * RATE or made.failures(), 30, "calls of both hosts")
        try:
            made.stop()
            prove(cluster, made)
        except AssertionError as error:
            print(f"# found: {str(error)[:200]!r}", flush=True)
            return True
        except cb.HarnessError as error:
            # Two ledgers damaged the chain of a player, so that no command reads it.
            if "damaged: " not in str(error):
                raise
            print(f"# found: {str(error)[-200:]!r}", flush=True)
            return True
    return False


def case_control():
    """Without the fence the ledger that goes on after its stop writes beside the new one. It is chance whether the stop
    came in the middle of a batch: about one try in four loses nothing."""
    folder = pathlib.Path(temporary_directory("unfenced"))
    try:
        shutil.copy(find_program("creditbridge-ledger"), folder)
        shutil.copy(builddir() / UNFENCED, folder)
        check(any(finds_a_loss(folder) for _ in range(CONTROL_TRIES)),
              "two ledgers wrote at once, and the proof found nothing")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


CASES = [
    ("takeovers", case_takeovers),
    ("without the fence", case_control),
]


def main():
    global SERVER  # pylint: disable=global-statement
    SERVER = Server()
    return cb.run_cases(CASES, seconds=120)


if __name__ == "__main__":
    sys.exit(main())
