#!/usr/bin/python3
"""The installed service under packaged Apache mod_fcgid, while things happen to it: workers are
killed, Apache is reloaded, a stranger of the web server's user is at it, cron runs its line.
"""
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_installed  # noqa: E402
from cb import BALANCE, TRANSFER_IN, check, equal  # noqa: E402
from cb_listener import Scripted  # noqa: E402

CALLERS = 8
RELOADS = 5
BETWEEN_RELOADS = 50  # transfers at least
CRON_FILE = pathlib.Path("/etc/cron.d/creditbridge")
SWEEP_PATH = pathlib.Path("/usr/sbin/creditbridge-sweep")
# What cron gives its commands on Debian.
CRON_ENV = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "", "HOME": "/"}
AS_WEB_USER = ("setpriv", "--reuid=www-data", "--regid=www-data", "--clear-groups", "--")
work = pathlib.Path(tempfile.mkdtemp(prefix="service-test."))
numbers = itertools.count(1)


class Bench:
    def __init__(self, wallet):
        self.wallet = wallet
        self.server = None
        self.dealer = None

    def start(self):
        self.dealer = self.wallet.dealer_add("service")
        self.server = cb.INSTALLED["apache-fcgid"](self.wallet)
        equal(self.balance(self.player()), 0, "the first answer")

    def stop(self):
        self.server.stop()
        equal(self.wallet.worker_pids(), [], "workers left behind")

    def player(self):
        user_id = f"user-{next(numbers)}"
        self.wallet.player_add(self.dealer.casino_id, user_id)
        return user_id

    def credit(self, user_id, key):
        """One transfer, repeated with its id as a caller does, until it has an answer; how often
        it was sent."""
        body = {"user_id": user_id, "amount": 1, "request_transaction_id": key}
        deadline = time.monotonic() + 60
        for sent in itertools.count(1):
            try:
                answer = cb.call(self.server, "POST", TRANSFER_IN, body, dealer=self.dealer)
                if answer.status == 200:
                    return sent
                check(answer.status >= 500, f"transfer-in {answer}")
            except (OSError, http.client.HTTPException):
                pass
            check(time.monotonic() < deadline, "no answer within 60 s")
            time.sleep(0.05)

    def balance(self, user_id):
        answer = cb.call(self.server, "GET", BALANCE, {"user_id": user_id,
                         "request_timestamp": cb.now_ms()}, dealer=self.dealer)
        equal(answer.status, 200, f"balance {answer}")
        return answer.json["balance"]

    def exact(self, user_id, amount):
        equal(self.balance(user_id), amount, "balance: each transfer moved once")
        total = self.wallet.ctl_json("player", "show", self.dealer.casino_id, user_id)
        equal(float(total["balance"]), float(amount), f"the operator's view: {total}")
        done = self.wallet.ctl_run("check")
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")


def case_kill(b):
    """Workers die by SIGKILL with a transfer in their hands."""
    user = b.player()
    for round_number in range(5):
        engines = b.wallet.engine_pids()
        check(engines, "the ledger has an engine")
        with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
            for pid in engines:  # a ledger that stands still keeps the transfers in flight
                os.kill(pid, signal.SIGSTOP)
            try:
                sent = [pool.submit(b.credit, user, f"kill-{round_number}-{n}")
                        for n in range(CALLERS)]
                # The ledger's end of a connection holds what it has not read.
                cb.wait_until(lambda: len(b.server.worker_pids("wallet")) >= CALLERS / 2, 20,
                              "workers at work")
                time.sleep(0.3)
                equal([future for future in sent if future.done()], [], "answers")
                killed = b.server.worker_pids("wallet")
                cb.signal_pids(killed, signal.SIGKILL)
            finally:
                for pid in engines:
                    os.kill(pid, signal.SIGCONT)
            repeats = sum(future.result(90) - 1 for future in sent)
        check(repeats > 0, f"no caller noticed that {len(killed)} workers were killed")
        check(not set(killed) & set(b.server.worker_pids()), "they were killed")
    b.exact(user, 5 * CALLERS)


def case_reload(b):
    """Apache reloads gracefully, again and again, while transfers are made."""
    user = b.player()
    stopping = threading.Event()
    made = []

    def transfers(name):
        for number in itertools.count():
            if stopping.is_set():
                return
            b.credit(user, f"reload-{name}-{number}")
            made.append(number)
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(transfers, name) for name in range(CALLERS)]
        try:
            for number in range(RELOADS + 1):
                goal = len(made) + BETWEEN_RELOADS
                cb.wait_until(lambda goal=goal: len(made) >= goal or any(caller.done() for caller in callers),
                              120, f"{goal} transfers")
                if number < RELOADS:
                    cb_installed.run("apache2ctl", "graceful")
        finally:
            stopping.set()
        for caller in callers:
            caller.result(120)
    b.exact(user, len(made))


def case_units(_):
    """systemd finds nothing wrong with the units, and nothing of this machine has failed."""
    if not cb_installed.systemd():
        raise cb.Skip("systemd does not run here")
    units = sorted(str(path) for path in
                   pathlib.Path("/lib/systemd/system").glob("creditbridge-*"))
    check(len(units) >= 9, f"units: {units}")
    done = cb_installed.run("systemd-analyze", "--man=no", "verify", *units, check=False)
    equal((done.returncode, done.stdout + done.stderr), (0, ""), "systemd-analyze verify")
    failed = cb_installed.run("systemctl", "--failed", "--plain", "--no-legend").stdout
    equal(failed, "", "units that failed")


# As the web server's user, without the worker's group: each line says what it could do.
STRANGER = r"""
import errno, os, pathlib, socket
def attempt(what, deed):
    try:
        deed()
        print("COULD", what)
    except OSError as error:
        # A dynamic user of systemd sees the file system as read-only.
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        print("denied", what)
def connect(path):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
def write(path):
    os.close(os.open(path, os.O_RDWR))
attempt("list the state", lambda: os.listdir("/var/lib/creditbridge"))
for name in ("installation", "db", "db/player.db", "db/dealer.db"):
    attempt("read " + name, lambda: os.close(os.open("/var/lib/creditbridge/" + name, os.O_RDONLY)))
attempt("list the backups", lambda: os.listdir("/var/backups/creditbridge"))
for name in SOCKETS:
    attempt("connect to " + name, lambda: connect("/run/creditbridge/" + name))
attempt("make files beside the sockets", lambda: pathlib.Path("/run/creditbridge/x").touch())
for path in COUNTERS:
    attempt("write " + path, lambda: write(path))
"""
# Without desk.sock, which needs a front secret: tests/package/console.sh is about that one.
SOCKETS = ("admin.sock", "edge.sock", "jobs.sock", "ping.sock")
STRANGER_ATTEMPTS = 7  # and one for each socket
# Prints of each path whether root reads a byte of the file there, or connects to the socket.
LOOK = r"""
import socket
def reach(path):
    if not path.endswith(".sock"):
        with open(path, "rb") as file:
            return file.read(1)
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
    return True
for path in PATHS:
    try:
        print("reached" if reach(path) else "hidden", path)
    except OSError:
        print("hidden", path)
"""
RUN = pathlib.Path("/run/creditbridge")
FRONTS = tuple(f"/etc/creditbridge/console-front{end}" for end in ("", ".conf"))
# The last one is another cell's.
DATA = ("/var/lib/creditbridge/installation", f"/var/backups/creditbridge/test-{os.getpid()}",
        f"/var/lib/creditbridge-test-{os.getpid()}/installation")
# What is not the ledger's user: what the identity of each unit may do, and what even root does not reach in its mounts.
TALKING_UNITS = {"creditbridge-worker-wallet": ({"connect to edge.sock"}, set(DATA)),
                 "creditbridge-worker-platform": ({"connect to edge.sock"}, set(DATA)),
                 "creditbridge-sweep": ({"connect to edge.sock"}, set(DATA)),
                 "creditbridge-console": ({"connect to jobs.sock"}, {*DATA, *FRONTS}),
                 "creditbridge-console@test": ({"connect to jobs.sock"}, {*DATA, *FRONTS}),
                 "creditbridge-ping@test": (set(), {*DATA, *(str(RUN / name) for name in SOCKETS)})}
# What runs as the ledger's user, and so has no network.
SILENT_UNITS = ("creditbridge-ledger", "creditbridge-ledger@test", "creditbridge-job@test")


def as_web_user(*argv, **options):
    return subprocess.run([*AS_WEB_USER, *argv], capture_output=True, text=True, timeout=60,
                          check=False, stdin=subprocess.DEVNULL, cwd="/", **options)


def case_stranger(b):
    """Another program of www-data reads nothing of the ledger and does not talk to it."""
    user = b.player()
    b.credit(user, "stranger-1")
    counters = [str(path) for path in b.wallet.sockets.iterdir() if path.is_file()]
    check(counters, "there are the workers' counters")
    sockets = sorted(path.name for path in RUN.glob("*.sock"))
    script = STRANGER.replace("COUNTERS", repr(counters)).replace("SOCKETS", repr(sockets))
    own = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                         timeout=60, check=True)
    could = own.stdout.splitlines()
    equal([line for line in could if not line.startswith("COULD")], [],
          "what root could not, so that a denial would mean nothing")
    (b.wallet.sockets / "x").unlink()
    done = as_web_user(sys.executable, "-c", script)
    lines = done.stdout.splitlines()
    equal(len(lines), STRANGER_ATTEMPTS + len(sockets) + len(counters), f"attempts: {lines} {done.stderr}")
    equal([line for line in lines if not line.startswith("denied")], [], "what www-data could")
    for words in (("status",), ("dealer", "list"), ("dealer", "show", b.dealer.casino_id)):
        done = as_web_user("/usr/bin/creditbridgectl", *words)
        check(done.returncode != 0, f"www-data: creditbridgectl {words}: {done.stdout}")
        equal(done.stdout, "", f"www-data: creditbridgectl {words}")
    # All the while the workers, which are www-data too, are served.
    b.credit(user, "stranger-2")
    b.exact(user, 2)


IDENTITY = ("User", "Group", "DynamicUser", "SupplementaryGroups")
MOUNTS = ("InaccessiblePaths", "ReadWritePaths", "ProtectSystem", "ProtectHome", "PrivateDevices", "PrivateTmp")


def unit_options(unit, names):
    """The options of systemd-run for a program with these settings of @unit."""
    words = [word for name in names for word in ("-p", name)]
    shown = cb_installed.run("systemctl", "show", *words, f"{unit}.service").stdout.splitlines()
    equal(len(shown), len(names), f"{unit}: {shown}")
    return [option for line in shown for option in ("-p", line)]


@contextlib.contextmanager
def every_socket():
    """With the socket of the jobs, which is the operator's to enable, all sockets are there."""
    cb_installed.run("systemctl", "start", "creditbridge-job.socket")
    try:
        equal(sorted(path.name for path in RUN.glob("*.sock")), list(SOCKETS), "the sockets")
        yield
    finally:
        cb_installed.run("systemctl", "stop", "creditbridge-job.socket")


def run_script(script, *options):
    """The lines that the script of Python prints as a unit with these options of systemd-run."""
    done = cb_installed.run("systemd-run", "--quiet", "--wait", "--pipe", *options, "--", sys.executable, "-c", script)
    return done.stdout.splitlines()


def case_identities(b):
    """The programs that talk to others have the identity for edge.sock, and for nothing of the ledger."""
    if not cb_installed.systemd():
        raise cb.Skip("systemd does not run here")
    b.credit(b.player(), "identities")
    script = STRANGER.replace("COUNTERS", "[]").replace("SOCKETS", repr(SOCKETS))
    with every_socket():
        for unit, (wanted, _) in TALKING_UNITS.items():
            identity = unit_options(unit, IDENTITY)
            check("DynamicUser=yes" in identity or
                  not {"User=_creditbridge", "User=root", "User="} & set(identity), f"{unit}: {identity}")
            lines = run_script(script, *identity)
            equal(len(lines), STRANGER_ATTEMPTS + len(SOCKETS), f"{unit}: attempts: {lines}")
            equal({line.partition(" ")[2] for line in lines if line.startswith("COULD")}, wanted,
                  f"what the identity of {unit} could")


def case_mounts(_):
    """What a unit must not reach is not in its mounts, so that not even a fault that makes it root finds it there."""
    if not cb_installed.systemd():
        raise cb.Skip("systemd does not run here")
    paths = [*DATA, *FRONTS, *(str(RUN / name) for name in SOCKETS)]
    script = LOOK.replace("PATHS", repr(paths))
    with contextlib.ExitStack() as stack:
        stack.enter_context(every_socket())
        other_cell = pathlib.Path(DATA[2]).parent
        other_cell.mkdir(mode=0o700)
        stack.callback(other_cell.rmdir)
        for path in map(pathlib.Path, (*DATA[1:], *FRONTS)):
            if not path.exists():
                path.write_text("test\n")
                stack.callback(path.unlink)
        equal(run_script(script), [f"reached {path}" for path in paths], "outside of the units")
        for unit, (_, hidden) in TALKING_UNITS.items():
            lines = run_script(script, *unit_options(unit, MOUNTS))
            equal(len(lines), len(paths), f"{unit}: {lines}")
            equal({line.partition(" ")[2] for line in lines if line.startswith("hidden ")}, hidden,
                  f"what {unit} does not reach")


def case_no_network(_):
    """No unit of the ledger's user has a network."""
    if not cb_installed.systemd():
        raise cb.Skip("systemd does not run here")
    own = set()
    for path in pathlib.Path("/lib/systemd/system").glob("creditbridge-*.service"):
        unit = path.stem + ("test" if path.stem.endswith("@") else "")
        shown = dict(line.split("=", 1) for line in cb_installed.run(
            "systemctl", "show", "-p", "User", "-p", "PrivateNetwork", "-p", "RestrictAddressFamilies",
            f"{unit}.service").stdout.splitlines())
        if shown["User"] == "_creditbridge":
            own.add(unit)
            equal((shown["PrivateNetwork"], shown["RestrictAddressFamilies"]), ("yes", "AF_UNIX"), unit)
    equal(own, set(SILENT_UNITS), "the units of the ledger's user")


def case_inquiry(b):
    """`dealer ping` has a process without rights ask the dealer: the ledger's user needs no network for it."""
    if not cb_installed.systemd():
        raise cb.Skip("systemd does not run here")

    def answer(call):
        return 200, {"user_id": json.loads(call.body)["user_id"], "balance": 7.25, "currency": "thb"}
    kept = b.wallet.config.read_text()
    # Both processes of a ping begin with it, so they read this.
    b.wallet.config.write_text(re.sub("(?m)^callback_networks = .*", 'callback_networks = {"127.0.0.0/8"}', kept))
    with contextlib.ExitStack() as stack:
        stack.callback(b.wallet.config.write_text, kept)
        server = stack.enter_context(Scripted(answer))
        dealer = b.wallet.dealer_add("asked", "--url", server.url, "--allow-http", mode="seamless")
        b.wallet.player_add(dealer.casino_id, "ann")
        done = cb_installed.run("systemd-run", "--quiet", "--wait", "--pipe", "-p", "PrivateNetwork=yes",
                                "/usr/bin/creditbridgectl", "--json", "dealer", "ping", dealer.casino_id)
        equal((json.loads(done.stdout)["ok"], len(server.seen)), (True, 1), done.stdout + done.stderr)


def case_operator_sweep(_):
    """Root's `creditbridgectl sweep` does not call dealers as the ledger's user."""
    sweep = subprocess.Popen(["creditbridgectl", "sweep", "--for", "20s"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        cb.wait_until(lambda: sweep.pid in cb.pids_running(SWEEP_PATH) or sweep.poll() is not None,
                      20, "the sweeper")
        if sweep.poll() is None:
            owner = pwd.getpwuid(os.stat(f"/proc/{sweep.pid}").st_uid).pw_name
            equal(owner, "_creditbridge-sweep", "its user")
    finally:
        sweep.terminate()
        out = sweep.communicate(timeout=30)[0]
    # It may have been stopped before it asked for signals.
    check(sweep.returncode in (0, -signal.SIGTERM), f"exit code {sweep.returncode}: {out}")


def case_stranger_worker(b):
    """The worker has the ledger's group and gives it to no other process: its caller cannot look
    into its memory, and cannot make it load a library."""
    worker = subprocess.Popen([*AS_WEB_USER, "env", "LD_PRELOAD=/nonexistent.so",
                               str(b.wallet.worker), "--serve", "wallet", "--socket",
                               "/tmp/stranger.sock"], stderr=subprocess.PIPE, text=True, cwd="/")
    try:
        cb.wait_until(lambda: os.path.exists("/tmp/stranger.sock") or worker.poll() is not None,
                      20, "the worker")
        equal(worker.poll(), None, "the worker's end")
        for name in ("mem", "environ", "fd"):
            done = as_web_user("ls" if name == "fd" else "cat", f"/proc/{worker.pid}/{name}")
            check(done.returncode != 0, f"/proc/PID/{name} of the worker: {done.stdout[:80]!r}")
    finally:
        worker.kill()
        errors = worker.communicate()[1]
        pathlib.Path("/tmp/stranger.sock").unlink(missing_ok=True)
    check("LD_PRELOAD" not in errors, f"LD_PRELOAD was looked at: {errors}")
    equal(b.balance(b.player()), 0, "the service answers")


def case_nobody(b):
    """A user outside the web server's group cannot start a worker, because each takes connections
    of the ledger."""
    words = (str(b.wallet.worker), "--version")
    equal(as_web_user("env", *words).returncode, 0, "www-data starts one")
    # By env: setpriv itself still has root's capabilities when it starts a program.
    as_nobody = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--", "env")
    for words in (words, ("ls", str(b.wallet.worker.parent))):
        done = subprocess.run([*as_nobody, *words], capture_output=True, text=True, timeout=60,
                              check=False, stdin=subprocess.DEVNULL, cwd="/")
        check(done.returncode != 0 and "Permission denied" in done.stderr,
              f"nobody: {words}: {done.stdout}{done.stderr}")
    done = subprocess.run([*as_nobody, "/usr/bin/creditbridgectl", "--json", "doctor"],
                          capture_output=True, text=True, timeout=120, check=False, cwd="/")
    found = {row["result"] for row in json.loads(done.stdout)["findings"]
             if row["check"] == "programs"}
    equal(found, {"SKIP"}, f"what doctor reports to a user without rights: {done.stdout}")


def engine_starts(b):
    return b.wallet.ctl_json("status")["engine_starts"]


def case_operator(b):
    """What the operator asks of the ledger, it does within the sandbox: no call ends it."""
    user = b.player()
    b.credit(user, "operator-1")
    starts = engine_starts(b)
    copy = pathlib.Path("/var/backups/creditbridge") / f"test-{os.getpid()}"
    try:
        for _ in range(2):  # a new one, and more of the same
            b.wallet.ctl("backup", copy)
            b.credit(user, f"operator-{next(numbers)}")
        check((copy / "db").exists() or list(copy.rglob("player.db")), f"{copy} holds tables")
        b.wallet.ctl("export", work / "export.jsonl")
        for words in (("check",), ("audit",), ("metrics",)):
            done = b.wallet.ctl_run(*words)
            equal(done.returncode, 0, f"creditbridgectl {words[0]}: {done.stdout}{done.stderr}")
        found = json.loads(b.wallet.ctl_run("--json", "doctor", "--url", b.server.base_url,
                                            "--platform-url", b.server.platform_url).stdout)
        check(found["passed"] > 20, f"what doctor looked at: {found}")
        # Other tests have left dealers whose servers must not be called.
        equal([row for row in found["findings"]
               if row["result"] == "FAIL" and row["check"] != "dealers"], [], "what doctor found")
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    equal(engine_starts(b), starts, "starts of the engine")
    os.kill(b.wallet.engine_pids()[0], signal.SIGKILL)
    b.credit(user, "operator-killed")
    equal(engine_starts(b), starts + 1, "starts of the engine after it was killed")
    b.exact(user, 4)


def last_sweep(b):
    match = re.search(r"^creditbridge_last_sweep_timestamp_seconds (\S+)$",
                      b.wallet.ctl("metrics"), re.MULTILINE)
    check(match, "the figure of the last sweep")
    return float(match.group(1))


def cron_line():
    """User and command of the one line of the package's crontab."""
    lines = [line for line in CRON_FILE.read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    settings = [line for line in lines if re.match(r"[A-Z]+=", line)]
    equal(settings, ["MAILTO=root"], "settings: cron's mail has a reader")
    lines = [line for line in lines if line not in settings]
    equal(len(lines), 1, f"lines of {CRON_FILE}")
    match = re.fullmatch(r"(\S+\s+){5}(\S+)\s+(.*)", lines[0])
    check(match, f"{CRON_FILE}: {lines[0]}")
    check("%" not in match.group(3), "cron makes a line of what follows %")
    return match.group(2), match.group(3)


def cron_start(user, command, *around):
    return subprocess.Popen(
        [*around, "setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--",
         "/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, cwd="/", start_new_session=True,
        env=dict(CRON_ENV, LOGNAME=user))


def case_cron(b):
    """The line of /etc/cron.d, as its user, sweeps where systemd's timer does not."""
    user, command = cron_line()
    equal(user, "_creditbridge-sweep", "the line's user")
    status = CRON_FILE.stat()
    equal((status.st_uid, status.st_mode & 0o7777), (0, 0o644), "owner and mode, or cron ignores it")
    check(CRON_FILE.read_text().endswith("\n"), "the last line ends, or cron ignores it")
    around = ()
    if cb_installed.systemd():
        done = cron_start(user, command)
        out = done.communicate(timeout=20)[0]
        equal(out, "", "what cron would mail where systemd runs")
        cb_installed.run("systemctl", "stop", "creditbridge-sweep.timer",
                         "creditbridge-sweep.service")
        around = ("unshare", "--mount", "sh", "-c",
                  'mount -t tmpfs tmpfs /run/systemd && exec "$@"', "sh")
    try:
        before = last_sweep(b)
        time.sleep(1.1)  # the figure is in seconds
        sweep = cron_start(user, command, *around)
        try:
            cb.wait_until(lambda: last_sweep(b) > before or sweep.poll() is not None, 30,
                          "a sweep")
            check(last_sweep(b) > before, f"the line swept: {sweep.poll()}")
            owners = {os.stat(f"/proc/{pid}").st_uid for pid in cb.pids_running(SWEEP_PATH)}
            equal({pwd.getpwuid(owner).pw_name for owner in owners}, {user}, "users of the sweeper")
        finally:
            os.killpg(sweep.pid, signal.SIGTERM)
            out = sweep.communicate(timeout=30)[0]
        equal(out, "", "what cron would mail")
    finally:
        if around:
            cb_installed.run("systemctl", "start", "creditbridge-sweep.timer")


CASES = (
    ("the units of systemd", case_units),
    ("workers are killed with transfers in flight", case_kill),
    ("Apache is reloaded during transfers", case_reload),
    ("backup, export, doctor and recovery in the sandbox", case_operator),
    ("www-data neither reads the state nor connects to the ledger", case_stranger),
    ("workers and sweeper reach edge.sock only", case_identities),
    ("neither the data nor its sockets are in the mounts of a unit", case_mounts),
    ("what runs as the ledger's user has no network", case_no_network),
    ("a ping without a network of its own", case_inquiry),
    ("the operator's sweep", case_operator_sweep),
    ("a worker gives its group to no other process", case_stranger_worker),
    ("no other user starts a worker", case_nobody),
    ("the line of cron", case_cron),
)


def main():
    try:
        with cb.Installed() as wallet:
            bench = Bench(wallet)
            # CB_CASE selects cases by a part of their names.
            around = ("packaged Apache starts", "packaged Apache stops")
            cases = [(around[0], bench.start)]
            cases += [(name, cb.needs(lambda function=function: function(bench), *around))
                      for name, function in CASES]
            cases += [(around[1], bench.stop)]
            return cb.run_cases(cases, seconds=180)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
