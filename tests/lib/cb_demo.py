#!/usr/bin/python3
"""What `quickstart run` does once everything is built: a wallet behind a real web server.

    cb_demo.py [--server lighttpd|apache] [--port N] [--state DIR] [--once]

The state (data, keys, demo.json) stays in DIR; sockets and the server's configuration are in a
temporary directory that the web server's user can enter, and are removed at the end.
"""
import argparse
import fcntl
import json
import os
import pathlib
import secrets
import shlex
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
from cb import HarnessError  # noqa: E402

SERVERS = {"lighttpd": cb.Lighttpd, "apache": cb.ApacheFcgid}
DEALERS = (("demo", "transfer"), ("demo-seamless", "seamless"))
PLAYER = "alice"
WATCH_S = 0.02


class Demo:
    def __init__(self, options):
        self.options = options
        self.dir = options.state
        self.wallet = None
        self.server = None
        self.players = []
        self.keys = {}
        self.written = False

    def lock_state(self):
        """The data has one ledger; two demos on it would fight for it."""
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
        self.wallet = cb.Instance("creditbridge-demo", state=self.dir / "ledger")
        platform_port = port + 1 if not cb.port_taken(port + 1) else cb.free_port()
        self.server = SERVERS[self.options.server](self.wallet, port=port,
                                                   platform_port=platform_port)
        for casino_id, mode in DEALERS:
            self.keys[casino_id] = self.dealer(casino_id, mode)
            self.players.append({"casino_id": casino_id, "user_id": PLAYER,
                                 "player_id": self.wallet.player_add(casino_id, PLAYER)})
        self.write()

    def dealer(self, casino_id, mode):
        """Makes sure of the dealer; its key is made here, kept in DIR and never on a command line.
        """
        path = self.dir / f"{casino_id}.key"
        if self.wallet.ctl_run("dealer", "show", casino_id).returncode == 0:
            if not path.exists():
                raise HarnessError(f"{path} is missing, and a key is shown only once; start anew "
                                   "with another --state DIR")
            return path.read_text().strip()
        replace_file(path, secrets.token_hex(32) + "\n")
        words = ["dealer", "add", casino_id, "--currency", "thb", "--mode", mode,
                 "--key-file", path]
        if mode == "seamless":
            # Where a dealer's own server would be.
            words += ["--url", f"http://127.0.0.1:{self.options.port + 2}", "--allow-http"]
        self.wallet.ctl(*words)
        return path.read_text().strip()

    def write(self):
        """demo.json: all that a program needs to use this wallet."""
        self.written = True
        running = self.server.child is not None
        replace_file(self.dir / "demo.json", json.dumps({
            "base_url": self.server.base_url,
            "platform_url": self.server.platform_url,
            "dealer_url": None,
            "ctl": self.wallet.ctl_argv(),
            "sweep": None,
            "dealers": [{"casino_id": casino_id, "key": self.keys[casino_id], "mode": mode}
                        for casino_id, mode in DEALERS],
            "clients": [],
            "players": self.players,
            "pids": {"server": self.server.child.pid if running else None,
                     "ledger": self.wallet.ledger.pid if running else None},
        }, indent="\t") + "\n")

    # -- the transcript

    def transcript(self):
        """Makes the calls by the very commands that it prints. Returns the number of failures."""
        say(f"\nThe wallet is served by {self.server.name}. To type the calls yourself, set\n")
        setup = (f"CTL={shlex.quote(shlex.join(self.wallet.ctl_argv()))}\n"
                 f"URL={self.server.base_url}")
        say(indent(setup))
        run = f"{os.getpid()}-{cb.now_ms()}"
        failed = 0
        for title, method, path, body, wanted in (
                ("Transfer in", "POST", cb.TRANSFER_IN,
                 f'{{"amount":100.5,"request_transaction_id":"in-{run}","user_id":"{PLAYER}"}}',
                 "current_balance"),
                ("Balance", "GET", cb.BALANCE,
                 f'{{"request_timestamp":\'$(date +%s%3N)\',"user_id":"{PLAYER}"}}', "balance"),
                ("Transfer out", "POST", cb.TRANSFER_OUT,
                 f'{{"amount":40.25,"request_transaction_id":"out-{run}","user_id":"{PLAYER}"}}',
                 "current_balance")):
            command = (f"BODY='{body}'\n"
                       f"curl -si -X {method} $URL{path} \\\n"
                       "    -H 'Content-Type: application/json' -H 'x-casino-id: demo' \\\n"
                       "    -H \"x-casino-signature: $(printf %s \"$BODY\" | $CTL sign demo -)\" \\\n"
                       "    -d \"$BODY\"")
            say(f"\n{title}:\n\n{indent(command)}\n")
            status, text = self.shell(f"{setup}\n{command}")
            say(f"    {status}\n    {text}")
            try:
                done = " 200 " in f"{status} " and wanted in json.loads(text)
            except ValueError:
                done = False
            if not done:
                failed += 1
                say("    FAILED")
        return failed

    @staticmethod
    def shell(script):
        """Runs what curl would be typed; the status line and the body of the answer."""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30,
                              check=False)
        head, _, body = done.stdout.replace("\r", "").partition("\n\n")
        return head.split("\n")[0] or done.stderr.strip(), body.strip()

    # -- serving

    def serve(self):
        say(f"\nServing {self.server.base_url} (wallet) and {self.server.platform_url} (platform);"
            f"\nkeys, players and process ids are in {self.dir / 'demo.json'}.\n"
            "Ctrl-C stops everything.")
        while True:
            time.sleep(WATCH_S)
            if not self.wallet.ledger.running():
                say(f"the ledger ended ({self.wallet.ledger.process.returncode}): started again")
                self.wallet.ledger_start()
                self.write()
            if not self.server.child.running():
                say(f"{self.server.name} ended ({self.server.child.process.returncode}): "
                    "started again")
                self.server.restart()
                self.write()

    def close(self):
        if self.wallet:
            self.wallet.close()
        if self.written:
            self.write()  # the keys stay, the processes are gone


def say(text):
    print(text, flush=True)


def indent(text):
    return "\n".join("    " + line for line in text.splitlines())


def replace_file(path, text):
    """Writes @path, readable by its owner alone, so that nobody ever sees half of it."""
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
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--state", metavar="DIR", type=lambda text: pathlib.Path(text).absolute(),
                        default=home / "creditbridge-demo")
    parser.add_argument("--once", action="store_true", help="stop after the transcript")
    options = parser.parse_args()
    if not 1 <= options.port <= 65533:
        parser.error("--port takes 1 to 65533")
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
