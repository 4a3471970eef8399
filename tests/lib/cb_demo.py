#!/usr/bin/python3
"""Implements `quickstart run` after the build: a wallet under a real web server.

    cb_demo.py [--server lighttpd|apache] [--store berkeleydb|postgresql] [--port N] [--state DIR] [--once]

The state (data, keys, demo.json) stays in DIR. Sockets and the server's configuration are in a
temporary directory that the web server's user can enter; it is removed at the end."""
import argparse
import fcntl
import json
import os
import pathlib
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
from cb import HarnessError  # noqa: E402
from cb_dealer import ReferenceDealer  # noqa: E402
from cb_demo_console import DemoConsole, front_secret  # noqa: E402
from cb_instance import temporary_directory  # noqa: E402
from cb_postgresql import Kept  # noqa: E402
from cb_process import find_program  # noqa: E402
from cb_transcript import Transcript, say, seamless_steps, wallet_steps  # noqa: E402

SERVERS = {"lighttpd": cb.Lighttpd, "apache": cb.ApacheFcgid}
SEAMLESS = "demo-seamless"
DEALERS = (("demo", "transfer"), (SEAMLESS, "seamless"))
CLIENT = "slots"
PLAYER = "alice"
DEALER_BALANCE = 1000  # the player's balance at the dealer's own server
WATCH_S = 0.02
SWEEP_EVERY_S = 60


class Demo:
    def __init__(self, options):
        self.options = options
        self.dir = options.state
        self.wallet = None
        self.database = None
        self.server = None
        self.dealer_server = None
        self.console = None  # under lighttpd only
        self.sweeper = None
        self.swept_s = 0
        self.players = []
        self.keys = {}
        self.written = False

    def lock_state(self):
        """Locks the state, because only one demo may use it at a time."""
        try:
            self.dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.dir.chmod(0o700)
            self.lock = os.open(self.dir / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise HarnessError(f"cannot use {self.dir} as the state directory: "
                               f"{error.strerror}; choose another one with --state DIR") from error
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise HarnessError(f"another quickstart is running on {self.dir}; stop it, or choose "
                               "another directory with --state DIR") from error

    def start(self):
        port = self.options.port
        if cb.port_taken(port):
            raise HarnessError(f"port {port} of 127.0.0.1 is in use; choose another one with "
                               "--port N")
        self.lock_state()
        self.wallet = cb.Instance("creditbridge-demo", state=self.dir / "ledger", start=False,
                                  settings={"callback_networks": ["127.0.0.0/8", "::1"], "console_front_file": str(front_secret(self.dir)),
                                            **self.start_database()})
        if self.database:
            self.database.make_tables(self.wallet.ctl("schema", "--sql"))
        self.wallet.start()
        self.server = SERVERS[self.options.server](
            self.wallet, port=port, platform_port=port_near(port + 1))
        for casino_id, mode in DEALERS:
            self.keys[casino_id] = self.key(casino_id, "dealer", "--currency", "thb",
                                            "--mode", mode)
            self.players.append({"casino_id": casino_id, "user_id": PLAYER,
                                 "player_id": self.wallet.player_add(casino_id, PLAYER)})
        self.keys[CLIENT] = self.key(CLIENT, "client")
        self.dealer_server = ReferenceDealer(port=port_near(port + 2), key=self.keys[SEAMLESS])
        self.dealer_server.set_balance(PLAYER, DEALER_BALANCE)
        # No refund delay: this dealer refuses a bet that arrives after its refund.
        self.wallet.ctl("dealer", "set", SEAMLESS, "--url", self.dealer_server.base_url,
                        "--allow-http", "--refund-delay", "0")
        if self.options.server == "lighttpd" and not self.options.once:
            self.console = DemoConsole(self.wallet, self.dir, port_near(port + 3))
        self.write()

    def start_database(self):
        """Starts the store of --store. Returns the settings of the ledger."""
        data, other = self.dir / "postgresql", self.options.store != "postgresql"
        if (self.dir / "ledger").exists() and data.exists() == other:
            raise HarnessError(f"{self.dir} holds a wallet in another store; choose another one with --state DIR")
        if other:
            return {}
        self.database = Kept(data, temporary_directory("creditbridge-pg"))
        self.database.start()
        return self.database.settings()

    def key(self, name, kind, *options):
        """Creates a dealer or client unless it exists. Its key is generated here, stored in DIR,
        and never on a command line."""
        path = self.dir / f"{name}.key"
        known = [row[f"{'casino' if kind == 'dealer' else kind}_id"]
                 for row in self.wallet.ctl_json(kind, "list")[f"{kind}s"]]
        if name not in known:
            replace_file(path, secrets.token_hex(32) + "\n")
            self.wallet.ctl(kind, "add", name, *options, "--key-file", path)
        elif not path.exists():
            raise HarnessError(f"{path} is missing, and a key is shown only once; start anew "
                               "with another --state DIR")
        return path.read_text().strip()

    def sweep_argv(self):
        return [str(find_program("creditbridge-sweep")), "--config", str(self.wallet.config)]

    def write(self):
        """Writes demo.json: all that a program needs to use this wallet."""
        self.written = True
        running = self.server.child is not None
        replace_file(self.dir / "demo.json", json.dumps({
            "base_url": self.server.base_url,
            "platform_url": self.server.platform_url,
            "dealer_url": self.dealer_server.base_url,
            "ctl": self.wallet.ctl_argv(),
            "sweep": self.sweep_argv(),
            "dealers": [{"casino_id": casino_id, "key": self.keys[casino_id], "mode": mode}
                        for casino_id, mode in DEALERS],
            "clients": [{"client_id": CLIENT, "key": self.keys[CLIENT]}],
            "players": self.players,
            "pids": {"server": self.server.child.pid if running else None,
                     "ledger": self.wallet.ledger.pid if running else None},
        }, indent="\t") + "\n")

    # -- the transcript

    def transcript(self):
        """Makes the calls with the commands that it prints. Returns the number of failures."""
        made = Transcript({
            "CTL": shlex.join(self.wallet.ctl_argv()), "SWEEP": shlex.join(self.sweep_argv()),
            "URL": self.server.base_url, "PLATFORM": self.server.platform_url,
            "DEALER": self.dealer_server.base_url, "SLOTS_KEY": str(self.dir / f"{CLIENT}.key")})
        run = made.run_id()
        made.begin(f"The wallet is served by {self.server.name}. To type the calls yourself, set")
        made.perform(wallet_steps(run, PLAYER))
        made.perform(seamless_steps(run, PLAYER, SEAMLESS))
        return made.failed

    # -- serving

    def serve(self):
        say(f"\nServing {self.server.base_url} (wallet) and {self.server.platform_url} (platform);"
            f"\nkeys, players and process ids are in {self.dir / 'demo.json'}.\n"
            "Ctrl-C stops everything.")
        if self.console:
            say(f"The web console is {self.console.url}: sign in with the code {self.console.code()}.\n"
                f"Each code counts once; the next ones are in {self.console.code_file}.")
        self.swept_s = time.monotonic()  # the transcript included a sweep
        while True:
            time.sleep(WATCH_S)
            if self.console:
                self.console.renew()
            self.sweep()
            if not self.wallet.ledger.running():
                say(f"the ledger ended ({self.wallet.ledger.process.returncode}): started again")
                self.wallet.ledger_start()
                self.write()
            if not self.server.child.running():
                say(f"{self.server.name} ended ({self.server.child.process.returncode}): "
                    "started again")
                self.server.restart()
                self.write()

    def sweep(self):
        """Sweeps once a minute, as cron does in an installation."""
        if self.sweeper and self.sweeper.poll() is None:
            return
        if time.monotonic() - self.swept_s < SWEEP_EVERY_S:
            return
        self.swept_s = time.monotonic()
        self.sweeper = subprocess.Popen(self.sweep_argv(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL)

    def close(self):
        if self.sweeper:
            self.sweeper.terminate()
            self.sweeper.wait()
        if self.console:
            self.console.close()
        if self.dealer_server:
            self.dealer_server.close()
        if self.wallet:
            self.wallet.close()
        if self.database:
            self.database.close()
            shutil.rmtree(self.database.sockets, ignore_errors=True)
        if self.written:
            self.write()  # the keys stay, the processes have ended


def port_near(port):
    return port if not cb.port_taken(port) else cb.free_port()


def replace_file(path, text):
    """Writes @path atomically, readable only by its owner."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w",
              encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(path)


def arguments():
    home = pathlib.Path(os.environ.get("XDG_STATE_HOME")
                        or pathlib.Path.home() / ".local" / "state")
    parser = argparse.ArgumentParser(prog="quickstart run", allow_abbrev=False)
    parser.add_argument("--server", choices=sorted(SERVERS), default="lighttpd")
    parser.add_argument("--store", choices=("berkeleydb", "postgresql"), default="berkeleydb")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--state", metavar="DIR", type=lambda text: pathlib.Path(text).absolute(),
                        default=home / "creditbridge-demo")
    parser.add_argument("--once", action="store_true", help="stop after the transcript")
    options = parser.parse_args()
    if not 1 <= options.port <= 65532:
        parser.error("--port takes 1 to 65532")
    return options


def interrupted(_number, _frame):
    raise KeyboardInterrupt


def main():
    demo = Demo(arguments())
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    try:
        demo.start()
        failed = demo.transcript()
        if not demo.options.once:
            demo.serve()
        return 1 if failed else 0
    except (HarnessError, OSError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130 if demo.options.once else 0
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        demo.close()


if __name__ == "__main__":
    sys.exit(main())
