"""What is measured: the wallet, the FastCGI program that does nothing, a dealer beside a wallet, each
behind the servers. A stand has urls by server, what its calls are signed with, and the processes whose
time counts, by part."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
import cb  # noqa: E402
from cb_instance import Instance, temporary_directory, web_user  # noqa: E402
from cb_platform import LOOPBACK, client_add  # noqa: E402
from cb_process import pids_end, pids_running  # noqa: E402
from guard import descendants  # noqa: E402

# Of a child of Apache: above the connections of any cell, which one child may have all of.
APACHE_THREADS = 128


class ApacheFcgid(cb.ApacheFcgid):
    threads_per_child = APACHE_THREADS


class ApacheProxyFcgi(cb.ApacheProxyFcgi):
    threads_per_child = APACHE_THREADS


SERVERS = {"lighttpd": cb.Lighttpd, "mod_fcgid": ApacheFcgid, "mod_proxy_fcgi": ApacheProxyFcgi,
           "nginx": cb.Nginx}
# More than the calls at once, in a cell and before it (measure.py): of mod_fcgid, which asks each
# worker for one.
FCGID_PROCESSES = 112
# Of the others, in all: half of the calls at once, so that no call is excess (src/fcgi/admission.h).
THREADS = 32
FILL_CONNECTIONS = 64
FILL_SECONDS = 4 * 3600
FILL_CACHE_MIB = (512, 8192)
FILL_CACHE_MIB_A_MILLION = 800
TRANSFER_DEALER = "bench"
SEAMLESS_DEALER = "seamless"
SEAMLESS_INFLIGHT = 512
# Of both workers: a bet occupies a thread while the dealer works.
SEAMLESS_THREADS = 288


class Behind:
    """An instance that some of the four web servers serve. Its workers have @threads in all; under
    mod_fcgid there are as many workers as threads."""

    lighttpd_processes = 2  # as fcgi-conf/ has it; nginx and mod_proxy_fcgi have one worker

    def __init__(self, instance, names=tuple(SERVERS), threads=THREADS):
        self.instance = instance
        self.servers = {}
        for name in names:
            processes = self.lighttpd_processes if name == "lighttpd" else 1
            options = ({"processes": FCGID_PROCESSES} if name == "mod_fcgid" else
                       {"processes": processes, "threads": max(1, threads // processes)})
            self.servers[name] = SERVERS[name](instance, **options)

    def url(self, cell, serve="wallet"):
        server = self.servers[cell.server]
        return server.base_url if serve == "wallet" else server.platform_url

    def signer(self, cell):
        del cell
        return self.dealer

    def parts(self, name):
        server = self.servers[name]
        workers = [child.pid for child in server.workers.values()]
        workers += [pid for pid in descendants(server.child.pid)
                    if pid in self.instance.worker_pids()]
        return {"server": [pid for pid in descendants(server.child.pid) if pid not in workers],
                "worker": workers}


class HelloInstance:
    """As much of an instance as a server needs to run hello."""

    enter = ()  # in this network namespace

    def __init__(self, options=()):
        self.user = web_user()
        self.dir = temporary_directory("hello")
        self.logs = self.dir / "log"
        self.logs.mkdir(mode=0o755)
        self.servers = []
        self.config = "-"
        (self.dir / "bin").mkdir(mode=0o755)
        program = self.dir / "bin" / "hello"
        real = self.dir / "bin" / "hello.fcgi"
        real.write_bytes(cb.find_program("bench/hello").read_bytes())
        real.chmod(0o755)
        self.program = real
        self.worker = real
        if options:
            quoted = " ".join("'" + str(option) + "'" for option in options)
            program.write_text(f"#!/bin/sh\nexec {real} {quoted} \"$@\"\n")
            program.chmod(0o755)
            self.worker = program

    def worker_pids(self):
        return pids_running(self.program)

    def close(self):
        for server in list(self.servers):
            server.stop()
        pids_end(self.worker_pids())
        shutil.rmtree(self.dir, ignore_errors=True)


class Hello(Behind):
    name = "ceiling"
    lighttpd_processes = 1  # two make it slower: what is measured is held to the higher ceiling
    dealer = (TRANSFER_DEALER, "0" * 64)

    def __init__(self, names=tuple(SERVERS), options=(), **more):
        instance = HelloInstance(options)
        try:
            super().__init__(instance, names, **more)
        except BaseException:
            instance.close()
            raise

    def close(self):
        self.instance.close()


def ledger_load(instance, *words, seconds=3600):
    """Runs the program ledger_load on an instance's ledger; what it measured."""
    done = subprocess.run([str(cb.find_program("bench/ledger_load")),
                           str(instance.sockets / "edge.sock"), *map(str, words)],
                          capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode:
        raise cb.HarnessError(f"ledger_load {words}: exit {done.returncode}: {done.stdout}")
    return json.loads(done.stdout)


def state_fill(instance, players, entries):
    """So many players with so many movements each, into a state whose ledger is stopped."""
    low, high = FILL_CACHE_MIB
    cache = min(high, low + max(players, players * entries // 2) * FILL_CACHE_MIB_A_MILLION // 10**6)
    done = subprocess.run([str(cb.find_program("bench/state_fill")), str(instance.config),
                           str(cache), TRANSFER_DEALER, "0", str(players), str(entries)],
                          capture_output=True, text=True, timeout=FILL_SECONDS, check=False)
    if done.returncode:
        raise cb.HarnessError(f"state_fill: exit {done.returncode}: {done.stderr}")


def setting(text):
    """NAME=VALUE of a command line, for a configuration file."""
    name, value = text.split("=", 1)
    return name, int(value) if value.isdigit() else value


class Wallet(Behind):
    """A ledger with @players players of dealer `bench`, each with credit and @entries movements, and
    @seamless_players of the seamless dealer, whose server is @dealer_url. With @state (a directory that
    is kept) it is filled once, and opened as it is afterwards."""

    name = "creditbridge"
    SETTINGS = {**LOOPBACK, "log_level": "warning", "disk_ballast_mib": 64}

    def __init__(self, players, names=tuple(SERVERS), dealer_url=None, seamless_players=0,
                 state=None, entries=1, settings=None, **more):
        self.players = players
        keys = pathlib.Path(f"{state}.json") if state else None
        if keys and not keys.exists():
            shutil.rmtree(state, ignore_errors=True)  # what an interrupted run left
        instance = Instance("bench", settings={**self.SETTINGS, **(settings or {})}, state=state)
        try:
            if keys and keys.exists():
                self.dealer, self.client = json.loads(keys.read_text())
            else:
                self.fill(instance, players, entries, dealer_url, seamless_players)
                if keys:
                    keys.touch(mode=0o600)
                    keys.write_text(json.dumps([self.dealer, self.client]))
            super().__init__(instance, names, **more)
        except BaseException:
            instance.close()
            raise

    def fill(self, instance, players, entries, dealer_url, seamless_players):
        made = instance.dealer_add(TRANSFER_DEALER)
        self.dealer = (made.casino_id, made.key)
        made = client_add(instance, "game")
        self.client = (made.client_id, made.key)
        if players:
            instance.stop()
            state_fill(instance, players, entries)
            instance.start()
        if dealer_url:
            instance.dealer_add(SEAMLESS_DEALER, "--url", dealer_url, "--allow-http",
                                "--max-inflight", str(SEAMLESS_INFLIGHT), "--refund-delay", "1",
                                mode="seamless")
            ledger_load(instance, "register", FILL_CONNECTIONS, SEAMLESS_DEALER, 0, seamless_players)

    def parts(self, name):
        """@name: of a server, or "socket" for only the ledger."""
        ledger = [self.instance.ledger.pid, *self.instance.engine_pids()]
        return {**(super().parts(name) if name in self.servers else {}), "ledger": ledger}

    def figures(self):
        """What the ledger counted until now, by the names of its metrics."""
        lines = [line.rsplit(" ", 1) for line in self.instance.ctl("metrics").splitlines()
                 if line and not line.startswith("#")]
        return {name.removeprefix("creditbridge_"): float(value) for name, value in lines}

    def log_number(self):
        """Of the newest file of the database's log."""
        return max(int(path.suffix[1:]) for path in (self.instance.state / "db").glob("log.*"))

    def close(self):
        self.instance.close()
