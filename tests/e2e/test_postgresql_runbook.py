#!/usr/bin/python3
"""The chapters of doc/postgresql.md about one server, typed in their order."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_instance import temporary_directory  # noqa: E402
from cb_postgresql import Kept  # noqa: E402
from cb_worker import WIN, Worker  # noqa: E402

FIGURES = ("players", "entries", "requests", "transactions", "rounds", "bets", "callbacks", "dealers")
DOCUMENT = cb.SRCDIR / "doc" / "postgresql.md"
BLOCK = re.compile(r"^```(sh|conf)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Host:
    """One host: a wallet, a PostgreSQL, and an operator that types commands."""

    def __init__(self):
        self.work = temporary_directory("runbook")
        for name in ("root", "socket", "backups"):
            (self.work / name).mkdir(mode=0o700)
        self.database = Kept(self.work / "main", self.work / "socket")
        if os.geteuid() == 0:
            shutil.chown(self.work / "backups", "nobody")
        self.database.start()
        self.wallet = cb.Instance("runbook-wallet", state=self.work / "state")

    def close(self):
        self.wallet.close()
        self.database.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def here(self, text):
        """@text with the paths of this host."""
        for there, path in (("/var/lib/postgresql/15/main", self.work / "main"), ("/var/lib/creditbridge", self.work / "state"),
                            ("/var/backups/", f"{self.work}/backups/"), ("/var/run/postgresql", self.work / "socket"),
                            ("/root/", f"{self.work}/root/"), (" --user _creditbridge", "")):
            text = text.replace(there, str(path))
        return text

    def configure(self, text):
        config = pathlib.Path(self.wallet.config)
        lines = [line for line in config.read_text().splitlines()
                 if not line.startswith(("store =", "postgresql_"))]
        for name, value in re.findall(r"^(\w+) = (.*)$", self.here(text), re.MULTILINE):
            lines.append(f'{name} = "{value}"')
        config.write_text("\n".join(lines) + "\n")

    def type(self, line):
        words = line.split()
        if words[:2] == ["systemctl", "reset-failed"]:
            return
        if words[0] == "systemctl":
            service = self.wallet if words[2].strip("'*") == "creditbridge-ledger" else self.database
            if words[1] == "start":
                service.start()
            else:
                (self.wallet.stop if service is self.wallet else self.database.close)()
            return
        line = self.here(line).replace("runuser -u postgres --", " ".join(self.database.user))
        ctl = " ".join(map(str, self.wallet.ctl_argv()))
        line = re.sub(r"^creditbridgectl", ctl, line)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", line], capture_output=True, text=True, check=False,
                              cwd="/", env=dict(os.environ, PGHOST=str(self.work / "socket"), PGUSER="creditbridge"))
        equal(done.returncode, 0, f"{line}: {done.stdout}{done.stderr}")
        self.said = done.stdout

    def follow(self, heading, which=None):
        """Types the blocks below @heading; @which: only these."""
        text = re.split(r"^##+ ", DOCUMENT.read_text(), flags=re.MULTILINE)
        section = next(part for part in text if part.startswith(heading + "\n"))
        blocks = BLOCK.findall(section)
        check(blocks, f"no blocks below {heading}")
        for kind, block in blocks if which is None else [blocks[at] for at in which]:
            if kind == "conf":
                self.configure(block)
            else:
                for line in block.splitlines():
                    self.type(line)


HOST = None


def checked():
    return {name: value for name, value in HOST.wallet.ctl_json("check").items() if name in FIGURES}


def play(game):
    with Worker(HOST.wallet.sockets / "edge.sock") as link:
        link.place("slots", "demo", "alice", game, 10)
        link.settle("slots", "demo", "alice", game, WIN, 25)


def case_move_in():
    wallet = HOST.wallet
    wallet.dealer_add("demo")
    wallet.ctl("client", "add", "slots")
    wallet.player_add("demo", "alice")
    wallet.ctl("player", "adjust", "demo", "alice", "100", "--reason", "a test")
    play("g-1")
    before = checked()
    HOST.follow("From Berkeley DB", [0])
    HOST.follow("Settings")
    HOST.follow("Database")
    HOST.follow("From Berkeley DB", [1])
    equal(checked(), before, "figures")
    equal(wallet.ctl_json("player", "show", "demo", "alice")["balance"], 115.0, "the balance")
    rows = [row for row in HOST.database.psql("-d", "creditbridge", "-c", "SELECT count(*) FROM creditbridge.player"
                                              ).stdout.split()]
    equal(rows, ["1"], "rows in PostgreSQL")


def case_reports():
    HOST.follow("Reports")
    check("alice|115.0000" in HOST.said.replace(" ", ""), HOST.said)


def case_restore():
    """What was lost gave out ids; none of them comes again."""
    HOST.follow("Backup")
    play("g-2")
    lost = HOST.wallet.ctl_json("status")["last_transaction_id"]
    HOST.follow("Restore")
    equal(HOST.wallet.ctl_json("player", "show", "demo", "alice")["balance"], 115.0, "the balance of the copy")
    play("g-3")
    check(HOST.wallet.ctl_json("status")["last_transaction_id"] > lost, "an id twice")


def case_move_back():
    before = checked()
    HOST.follow("Back to Berkeley DB")
    equal(checked(), before, "figures")
    equal(HOST.wallet.ctl_json("status")["store"], [], "figures of PostgreSQL")


def case_new():
    """A new installation, on a database of its own."""
    HOST.wallet.stop()
    HOST.database.psql("-c", "DROP DATABASE creditbridge")
    shutil.rmtree(HOST.work / "state")
    HOST.follow("Settings")
    HOST.follow("Database")
    HOST.wallet.ctl("init")
    HOST.follow("Start")
    equal(checked()["players"], 0, "players")


CASES = [
    ("from Berkeley DB", case_move_in),
    ("reports", case_reports),
    ("backup and restore", case_restore),
    ("back to Berkeley DB", case_move_back),
    ("a new installation", case_new),
]
cb.needs(case_reports, "from Berkeley DB")
cb.needs(case_restore, "from Berkeley DB")
cb.needs(case_move_back, "from Berkeley DB")


def main():
    global HOST  # pylint: disable=global-statement
    HOST = Host()
    try:
        return cb.run_cases(CASES, seconds=60)
    finally:
        HOST.close()


if __name__ == "__main__":
    sys.exit(main())
