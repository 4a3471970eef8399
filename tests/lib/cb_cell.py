"""Two hosts of a cell on the loopback: one with a ledger, the other ones only with a peer.

    with Cell() as cell:
        cell.wallet                     the Instance of the active host
        cell.hosts["b"].sockets         where the clients of host b connect

Host a's peer is the one that its ledger starts. The others run without a ledger (tests/peer/peer_alone.c), and
the case sets their roles."""
import json
import os
import pathlib
import re
import select
import subprocess

from cb_instance import Instance
from cb_process import HarnessError, find_program, free_port, wait_until


class Log:
    """The log of a peer, and its process."""

    def __init__(self, log):
        self.log = log

    def logged(self, *words):
        """Returns the lines of the log that contain all @words."""
        return [line for line in pathlib.Path(self.log).read_text().splitlines()
                if all(word in line for word in words)]

    @property
    def pid(self):
        return int(re.search(r" pid=(\d+)", self.logged("event=peer_ready")[-1])[1])

    def kill(self):
        """Kills the peer, which is started again. Returns when the next one serves."""
        before = len(self.logged("event=peer_ready"))
        os.kill(self.pid, 9)
        wait_until(lambda: len(self.logged("event=peer_ready")) > before, 20, "the next peer")


class Peer(Log):
    """peer_alone with a configuration."""

    def __init__(self, config, log, cell):
        super().__init__(log)
        with open(log, "a", encoding="ascii") as errors:
            self.process = subprocess.Popen(
                [find_program("peer_alone"), config, cell],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, bufsize=1)
        self.line("peer ")

    def line(self, begins):
        """Returns the rest of the next line that begins so."""
        while True:
            ready, _, _ = select.select([self.process.stdout], [], [], 20)
            text = self.process.stdout.readline() if ready else ""
            if not text:
                raise HarnessError(f"peer_alone ended: {pathlib.Path(self.log).read_text()[-2000:]}")
            if text.startswith(begins):
                return text[len(begins):]

    def ask(self, words, begins):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.line(begins)

    def role(self, *words):
        self.ask(" ".join(words), "set")

    def counts(self):
        return json.loads(self.ask("counts", "counts "))

    def stop(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        self.process.stdout.close()
        return code


def host_settings(name, port, certificates):
    return {"cell_member": name, "cell_listen": f"127.0.0.1:{port}", "cell_tls_directory": str(certificates)}


class Host(Instance):
    """A host without a ledger: sockets, a configuration and a peer. A web server may run on it."""

    def __init__(self, cell, name):
        self.port = free_port()
        self.peer = None
        super().__init__(f"host-{name}", cell.settings | host_settings(name, self.port, cell.certificates), start=False)
        try:
            self.peer = Peer(self.config, self.logs / "peer.log", cell.id)
        except BaseException:
            self.close()
            raise

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def close(self):
        for server in list(self.servers):
            server.stop()
        if self.peer:
            self.peer.stop()
            self.peer = None
        super().close()


class Cell:
    """Host a with a ledger, its engine active, and host b, which relays to it."""

    def __init__(self, settings=None):
        self.hosts = {}
        self.settings = settings or {}
        self.port = free_port()
        self.wallet = Instance("cell", start=False)
        self.certificates = self.wallet.dir / "cell"
        self.peer = None
        try:
            self.wallet.write_config(host_settings("a", self.port, self.certificates) | self.settings)
            for name in "ab":
                self.issue(name)
            self.wallet.start()
            self.id = (self.wallet.state / "installation").read_text().strip()
            self.peer = Log(self.wallet.logs / "ledger.log")
            self.host_add("b").peer.role("standby", self.address, "a")
        except BaseException:
            self.close()
            raise

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def issue(self, name, seconds_ago=0, certificates=None):
        done = subprocess.run([find_program("peer_alone"), "--issue", certificates or self.certificates, name,
                               str(seconds_ago)], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise HarnessError(f"the certificate of {name}: {done.stderr}")

    def host_add(self, name):
        self.hosts[name] = Host(self, name)
        return self.hosts[name]

    def close(self):
        for host in self.hosts.values():
            host.close()
        self.wallet.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
