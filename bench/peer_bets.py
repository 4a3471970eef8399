"""The peers for bets: what an operator would write over MariaDB, in PHP (php-fpm behind nginx) and
in Node.

The contract is ours: the bet is on disk before the dealer is called, the dealer has 3 s, and its
answer is on disk before the caller is answered. If the outcome is unknown, a process sends the
refund again and again until the dealer has it.

How they are tuned, and why:
- A procedure, so that each commit is one round trip.
- Connections to the database and to the dealer are kept.
- Enough processes of php-fpm, since a bet occupies one while the dealer works: more than there are
  connections with the slow dealer, 64 with the quick one.
- A process of Node for each processor, which serves HTTP by itself, because a web server before it
  only costs.

Both serve WARM_BETS before they are measured, for their compilers.
"""
import pathlib
import shutil

import wrk

from cb_process import port_open
from dealer import LateDealer
from guard import descendants
from peer import HERE, MariaDb, Peer, USER, found, fpm_found, free_port, needs
from stands import SEAMLESS_DEALER

BETS = pathlib.Path(__file__).resolve().parent / "peer-bets"
CLIENT = ("game", "c" * 64)
DEALER_KEY = "d" * 64
PROCESSES = {1: 64}  # by the dealer's delay in ms
PROCESSES_MOST = 288
NODE_MODULES = pathlib.Path("/usr/share/nodejs")
WARM_S = 10
WARM_RUNS = 6
WARM_BETS = 3000
WARM_CONNECTIONS = 32


def warm(port, players):
    """Bets of a stand until its compiler has done its work."""
    bets = 0
    for number in range(WARM_RUNS):
        bets += wrk.run(f"http://127.0.0.1:{port}", "bet", CLIENT, players, f"warm{number}",
                        connections=WARM_CONNECTIONS, seconds=WARM_S)["requests"]
        if bets >= WARM_BETS:
            break


class PhpBets(Peer):
    """php-fpm behind nginx."""

    name = "php"
    SCHEMAS = (HERE / "schema.sql", BETS / "schema.sql")
    CASINO = SEAMLESS_DEALER
    SCRIPTS = (BETS / "bets.php", BETS / "common.php", BETS / "due.php")
    POOLS = ("nginx",)

    def __init__(self, delay_ms, players, silent_each=None):
        self.PROCESSES = PROCESSES.get(delay_ms, PROCESSES_MOST)
        fpm_found(("curl", "php-curl"))
        self.php = found("php", "php-cli")
        self.dealer_server = LateDealer(delay_ms, silent_each)
        try:
            super().__init__(players)
            warm(self.ports["php-fpm on nginx"], players)
        except BaseException:
            self.dealer_server.close()
            raise

    def close(self):
        super().close()
        self.dealer_server.close()

    def scripts_write(self, words):
        super().scripts_write({**words, "client_key": CLIENT[1], "dealer_key": DEALER_KEY,
                               "dealer_port": self.dealer_server.port})

    def fpm_start(self):
        super().fpm_start()
        self.child("due", [self.php, self.dir / "root" / "due.php"], lambda: True, USER)

    def signer(self, cell):
        del cell
        return CLIENT

    def parts(self, name):
        del name
        return {"server": descendants(self.children["nginx"].pid),
                "worker": [*descendants(self.children["php-fpm"].pid), self.children["due"].pid],
                "ledger": descendants(self.children["mariadb"].pid),
                "dealer": [self.dealer_server.child.pid]}


class NodeBets(MariaDb):
    """Node with undici and the driver mysql."""

    name = "node"
    SCHEMAS = PhpBets.SCHEMAS
    CASINO = SEAMLESS_DEALER

    def __init__(self, delay_ms, players, silent_each=None):
        node = found("node", "nodejs")
        for module in ("undici", "mysql"):
            if not (NODE_MODULES / module).exists():
                raise needs(f"node-{module}")
        super().__init__()
        self.dealer_server = LateDealer(delay_ms, silent_each)
        try:
            self.database_start()
            self.database_fill(players)
            self.port = free_port()
            script = self.dir / "bets.js"
            shutil.copy(BETS / "bets.js", script)
            script.chmod(0o644)
            self.child("node", ["/usr/bin/env", f"NODE_PATH={NODE_MODULES}", "NODE_ENV=production", node,
                                script, self.port, self.socket, self.dealer_server.port,
                                CLIENT[1], DEALER_KEY],
                       lambda: port_open(self.port), USER)
            warm(self.port, players)
        except BaseException:
            self.close()
            raise

    def close(self):
        super().close()
        self.dealer_server.close()

    def url(self, cell):
        del cell
        return f"http://127.0.0.1:{self.port}"

    def signer(self, cell):
        del cell
        return CLIENT

    def parts(self, name):
        del name
        return {"server": [], "worker": descendants(self.children["node"].pid),
                "ledger": descendants(self.children["mariadb"].pid),
                "dealer": [self.dealer_server.child.pid]}
