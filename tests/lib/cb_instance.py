"""One wallet: its state directory, configuration and ledger, and the operator's commands."""
import collections
import grp
import json
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import tempfile
import time

from cb_codec import pack
from cb_link import DONE, Closed, Link
from cb_postgresql import settings_of_store
from cb_process import Child, HarnessError, find_program, pids_end, pids_running

WORKER = "creditbridge.fcgi"
Dealer = collections.namedtuple("Dealer", "casino_id key mode")


def web_user():
    """Returns the user for servers and workers: www-data if the tests run as root; otherwise
    None, the current user. The root of a user namespace has no other user."""
    if os.geteuid() != 0 or pathlib.Path("/proc/self/uid_map").read_text().split()[2] == "1":
        return None
    for name in ("www-data", "nobody"):
        try:
            pwd.getpwnam(name)
            return name
        except KeyError:
            continue
    raise HarnessError("there is neither a user www-data nor nobody")


def temporary_directory(name):
    """Creates a directory that the web server's user can enter. Its path is short enough for
    Unix sockets."""
    places = [tempfile.gettempdir(), "/tmp", "/var/tmp"]
    for place in places:
        folders = [pathlib.Path(place).resolve()]
        folders += folders[0].parents
        if len(place) < 40 and all(os.stat(f).st_mode & stat.S_IXOTH for f in folders):
            path = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.", dir=place))
            path.chmod(0o711)
            return path
    raise HarnessError(f"none of {places} can be entered by the web server's user")


def noon_offset():
    """Returns options that give a dealer a time zone in which it is about noon now, so that no
    day ends during a case."""
    return (f"--utc-offset={12 * 60 - int(time.time()) // 60 % (24 * 60)}",)


def as_option(value):
    """Formats a value for the configuration file."""
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(as_option(item) for item in value) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


class Instance:
    """A wallet. @settings are appended to its configuration. @state is a directory that is kept:
    its state is opened, or created if it does not exist. @join: for the data of another host. @enter are
    words before the commands of the ledger and of creditbridgectl, which run them on another host
    (tests/cluster)."""

    enter = ()

    def __init__(self, name="creditbridge", settings=None, state=None, start=True, join=False, enter=()):
        self.enter = list(enter)
        self.user = web_user()
        self.dir = temporary_directory(name)
        self.state = pathlib.Path(state) if state else self.dir / "state"
        self.sockets = self.dir / "run"
        self.sockets.mkdir(mode=0o755)
        self.logs = self.dir / "log"
        self.logs.mkdir(mode=0o755)
        self.config = self.dir / "creditbridge.conf"
        self.ledger = None
        self.servers = []
        self.programs = {}
        self.write_config(settings_of_store() | (settings or {}))
        # The web server's user may not be able to reach the build directory.
        (self.dir / "bin").mkdir(mode=0o755)
        self.worker = self.dir / "bin" / WORKER
        shutil.copyfile(find_program(WORKER), self.worker)
        self.worker.chmod(0o755)
        try:
            if not (self.state / "installation").exists():
                self.ctl("init", *(["--join"] if join else []))
            if start:
                self.start()
        except BaseException:
            self.close()
            raise

    def write_config(self, settings):
        values = {
            "state_directory": str(self.state),
            "socket_directory": str(self.sockets),
            "log_target": "stderr",
            "disk_ballast_mib": 1,
        }
        if self.user:
            values["socket_group"] = grp.getgrgid(pwd.getpwnam(self.user).pw_gid).gr_name
        if "CB_CACHE_MIB" in os.environ:  # tests/run sets it; a benchmark has the default
            values["ledger_cache_mib"] = int(os.environ["CB_CACHE_MIB"])
        values.update(settings)
        lines = [f"{key} = {as_option(value)}" for key, value in values.items()]
        self.config.write_text("\n".join(lines) + "\n")
        self.config.chmod(0o644)

    # -- the ledger

    def ledger_start(self):
        self.ledger = Child([*self.enter, find_program("creditbridge-ledger"), "--config", self.config],
                            self.logs / "ledger.log")

    def start(self):
        """Starts the ledger and waits until it responds."""
        self.ledger_start()
        self.ledger.wait_ready(self.answering, 20, "the ledger's first answer")

    def answering(self):
        """Returns True if the ledger greets at both sockets and says how it is."""
        try:
            status = pack("status")
        except FileNotFoundError:  # quickstart builds no program of the tests
            return self.ctl_run("status").returncode == 0
        try:
            with Link(self.sockets / "edge.sock", 1), Link(self.sockets / "admin.sock", 10) as link:
                return link.call("status", status).outcome == DONE
        except (OSError, Closed):
            return False

    def stop(self):
        """Stops the ledger as an operator would. Returns its exit code."""
        code = None
        if self.ledger:
            code = self.ledger.stop()
            self.ledger = None
        return code

    def engine_pids(self):
        """Returns the engines: the ledger's child processes, which the parent restarts when they
        exit."""
        path = pathlib.Path(f"/proc/{self.ledger.pid}/task/{self.ledger.pid}/children")
        try:
            return [int(pid) for pid in path.read_text().split()]
        except OSError:
            return []

    def worker_pids(self):
        """Returns the workers of this instance under all servers."""
        return pids_running(self.worker)

    # -- creditbridgectl

    def ctl_argv(self, *words):
        return [*self.enter, str(find_program("creditbridgectl")), "--config", str(self.config),
                *[str(word) for word in words]]

    def ctl_run(self, *words, stdin="", seconds=60):
        """Runs creditbridgectl. Returns the CompletedProcess, whatever its exit code."""
        return subprocess.run(self.ctl_argv(*words), input=stdin, capture_output=True, text=True,
                              timeout=seconds, check=False)

    def ctl(self, *words, stdin="", seconds=60):
        """Runs creditbridgectl, which must succeed. Returns its output as text."""
        done = self.ctl_run(*words, stdin=stdin, seconds=seconds)
        if done.returncode:
            raise HarnessError(f"creditbridgectl {' '.join(map(str, words))}: exit "
                               f"{done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def ctl_json(self, *words, stdin=""):
        return json.loads(self.ctl("--json", *words, stdin=stdin))

    def dealer_add(self, casino_id, *options, currency="thb", mode="transfer"):
        made = self.ctl_json("dealer", "add", casino_id, "--currency", currency, "--mode", mode,
                             *options)
        return Dealer(made["casino_id"], made["key"], mode)

    def player_add(self, casino_id, user_id):
        return self.ctl_json("player", "add", casino_id, user_id)["player_id"]

    # -- the end

    def close(self):
        """Ends all processes started here and removes the temporary directory."""
        for server in list(self.servers):
            server.stop()
        self.stop()
        pids_end(self.worker_pids())
        if os.environ.get("CB_KEEP"):
            print(f"# kept: {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
