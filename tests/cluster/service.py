"""The service on the hosts of a cell: a ledger, a web server with workers, and sweepers."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import cb
import rounds
from cell import DATABASE, SCHEMA, USER

PORT = 8080
PLATFORM_PORT = 8081
PEER_PORT = 8090
WORKERS = 4


def settings(cell, member):
    return {
        **rounds.SETTINGS,
        "cell_member": member.name, "cell_listen": f"{member.address}:{PEER_PORT}",
        "cell_tls_directory": str(cell.dir / "tls"),
        "store": "postgresql", "postgresql_hosts": cell.hosts_setting(), "postgresql_database": DATABASE,
        "postgresql_user": USER, "postgresql_schema": SCHEMA, "postgresql_durability": "quorum" if cell.quorum else "local",
        "log_level": "info",
    }


class Lighttpd(cb.Lighttpd):
    """A web server on a host; callers that get no answer go to that of the next host."""

    processes_default = platform_processes = WORKERS

    def __init__(self, instance, member, ring):
        self.address = member.address
        self.ring = ring
        super().__init__(instance, port=PORT, platform_port=PLATFORM_PORT)
        ring.append(self)

    def other(self):
        return self.ring[(self.ring.index(self) + 1) % len(self.ring)] if self in self.ring else self


class Service:
    """What runs on @member. Workers and creditbridgectl use the ledger of their own host."""

    def __init__(self, cell, member, ring):
        self.member = member
        subprocess.run([cb.find_program("peer_alone"), "--issue", cell.dir / "tls", member.name, "0"], check=True, timeout=60)
        self.wallet = cb.Instance(f"cbcell-{member.name}", settings=settings(cell, member), enter=member.enter(),
                                  start=False, join=bool(ring))
        self.ring = ring
        self.server = None
        self.sweeper = None

    def start(self):
        """Starts the ledger, which serves or stands by, and the web server, which needs any active ledger."""
        self.wallet.ledger_start()
        self.wallet.ledger.wait_ready(self.wallet.answering, 40, f"the ledger of {self.member.name}")
        self.server = Lighttpd(self.wallet, self.member, self.ring)

    def restart(self):
        """Starts again what died with its host."""
        self.wallet.ledger.stop()
        self.wallet.ledger_start()
        self.server.restart()

    def rebuild(self):
        """Sets the host up again after its files are lost."""
        self.wallet.ledger.stop()
        shutil.rmtree(self.wallet.state)
        self.wallet.ctl("init", "--join")
        self.restart()

    def peers(self):
        """The peer, among the children of the ledger."""
        logged = {int(pid) for pid in re.findall(r"event=peer_ready.* pid=(\d+)", "\n".join(self.log()))}
        return set(self.wallet.engine_pids()) & logged

    def engine(self):
        """The engine, among the children of the ledger; None: none."""
        return next(iter(set(self.wallet.engine_pids()) - self.peers()), None)

    def sweep(self):
        """Starts a sweeper unless one runs."""
        if self.sweeper and self.sweeper.poll() is None:
            return
        self.sweeper = subprocess.Popen(
            [*self.member.enter(), str(cb.find_program("creditbridge-sweep")), "--config", str(self.wallet.config)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sweep_once(self):
        """Returns the summary of one run of a sweeper."""
        done = subprocess.run([*self.member.enter(), str(cb.find_program("creditbridge-sweep")), "--config",
                               str(self.wallet.config), "--json", "--for", "1s"], capture_output=True, text=True, timeout=60,
                              check=False)
        cb.equal(done.returncode, 0, f"exit code of a sweeper: {done.stdout}{done.stderr}")
        return next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))

    def close(self):
        if self.sweeper:
            self.sweeper.kill()
            self.sweeper.wait()
        if os.environ.get("CB_KEEP"):
            print(f"# kept: {self.wallet.dir}")
        self.wallet.close()

    def log(self):
        return pathlib.Path(self.wallet.logs / "ledger.log").read_text(errors="replace").splitlines()
