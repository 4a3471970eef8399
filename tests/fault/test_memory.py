#!/usr/bin/python3
"""Programs that find no memory when they start: each allocation up to where the configuration is read
fails in its turn (tests/campaign/nth.c), alone or with all that follow."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "campaign"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from nth_cases import Case, Control  # noqa: E402

FAILED, EX_TEMPFAIL, EX_CONFIG = 1, 75, 78  # debian/systemd, RestartPreventExitStatus
DAEMONS = ("creditbridge-ledger", "creditbridge.fcgi", "creditbridge-sweep")
CALLS_MAX = 500  # allocations of a start; it makes about 60, creditbridgectl 100
CALLS_MIN = 40
WAIT_S = 20
# Values longer than the scanner's first buffer, which grows by 32 bytes; the last line shows that all
# were read.
SETTINGS = """state_directory = "/nonexistent/{long}"
callback_networks = {{"10.0.0.0/8", "127.0.0.0/8"}}
last = 1
"""


# Starts a ledger, argv[1:], as systemd does: with the sockets that are its descriptors 100 and 101.
HANDED_OVER = """
import os, sys
os.dup2(100, 3, inheritable=True)
os.dup2(101, 4, inheritable=True)
os.environ.update(LISTEN_FDS="2", LISTEN_FDNAMES="edge:admin", LISTEN_PID=str(os.getpid()),
                  LD_PRELOAD=os.environ.pop("PRELOAD"))
os.execv(sys.argv[1], sys.argv[1:])
"""


class Bench:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="cbmemory")
        self.config = os.path.join(self.dir, "creditbridge.conf")
        with open(self.config, "w", encoding="ascii") as file:
            file.write(SETTINGS.format(long="x" * 100))
        self.wrong = f"{self.config}:3: no such option 'last'\n"
        self.control = Control(pathlib.Path(self.dir) / "control")

    def words(self, program, *more):
        words = [cb.find_program(program), "--config", self.config, *more]
        if program == "creditbridge.fcgi":
            words += ["--socket", os.path.join(self.dir, "worker.sock")]
        return words

    def arm(self, number, lasting, name="LD_PRELOAD"):
        """The environment of a program whose allocation @number fails."""
        self.control.arm(Case("", "malloc", "ENOMEM", 0, number, lasting))
        return dict(os.environ, NTH_CONTROL=str(self.control.path), **{
            name: str(cb.builddir() / "tests" / "campaign" / "nth.so")})

    def start(self, words, number, lasting):
        """Starts @words, whose allocation @number fails. What became of it, None: that was none."""
        environment = self.arm(number, lasting)
        done = subprocess.run(words, env=environment, capture_output=True, text=True,
                              timeout=WAIT_S, check=False)
        return done if self.control.struck() else None

    def starts(self, words):
        """What became of each start, of which one more allocation succeeded."""
        for lasting in (False, True):
            for number in range(1, CALLS_MAX):
                done = self.start(words, number, lasting)
                if done is None:
                    break
                yield done
            check(CALLS_MIN < number < CALLS_MAX - 1, f"{words[0].name}: {number} allocations")

    def close(self):
        shutil.rmtree(self.dir)


def case_daemons(bench):
    """It ends with the code after which it is started again, or had no need of that allocation."""
    for program in DAEMONS:
        reasons = (f"{bench.config}: out of memory\n",
                   f"{program}: the arguments cannot be read: out of memory\n")
        short = 0
        for done in bench.starts(bench.words(program)):
            if done.returncode == EX_CONFIG:
                equal(done.stderr, bench.wrong, f"{program}: all was read")
            else:
                equal(done.returncode, EX_TEMPFAIL, f"{program}: {done}")
                check(done.stderr.endswith(reasons), f"{program}: {done.stderr}")
                short += 1
        check(short > CALLS_MIN, f"{program}: {short} starts failed")


def case_dealer(bench):
    """The reference dealer has no configuration; its words are read as the others'."""
    words = [cb.find_program("creditbridge-dealer.fcgi"), "--key-file", bench.config, "--state", "/nonexistent"]
    done = bench.start(words, 1, False)
    equal((done.returncode, done.stderr), (
        EX_TEMPFAIL, "creditbridge-dealer.fcgi: the arguments cannot be read: out of memory\n"), "dealer")


def case_ctl(bench):
    """No command is run with words that were not read."""
    for done in bench.starts(bench.words("creditbridgectl", "status")):
        if done.returncode == EX_CONFIG:
            equal(done.stderr, f"creditbridgectl: configuration: {bench.wrong}", "all was read")
        else:
            equal(done.returncode, FAILED, f"{done}")
            check(done.stderr.endswith(("creditbridgectl: out of memory\n",
                                        "creditbridgectl: no random numbers\n")), f"{done}")


def case_ctl_json(bench):
    """Nor with --json, and the answer is JSON."""
    for done in bench.starts(bench.words("creditbridgectl", "--json", "status")):
        check(done.returncode in (FAILED, EX_CONFIG), f"{done}")
        if done.stdout:
            check("error" in json.loads(done.stdout), f"{done}")
        check(done.stdout or done.stderr, f"silent: {done}")


class Activated:
    """A ledger that can be started, and the sockets that systemd would keep for it."""

    def __init__(self, bench):
        self.bench = bench
        self.run = pathlib.Path(bench.dir) / "run"
        self.run.mkdir()
        self.config = pathlib.Path(bench.dir) / "activated.conf"
        self.config.write_text(f'state_directory = "{bench.dir}/state"\n'
                               f'socket_directory = "{self.run}"\nlog_target = stderr\n'
                               f'ledger_cache_mib = 1\ndisk_ballast_mib = 1\n', "ascii")
        self.paths = [self.run / "edge.sock", self.run / "admin.sock"]
        self.sockets = []
        for path in self.paths:
            self.sockets.append(socket.socket(socket.AF_UNIX))
            self.sockets[-1].bind(str(path))
            self.sockets[-1].listen(16)
        self.ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ready.bind(str(self.run / "notify"))
        self.ready.settimeout(0.005)
        done = subprocess.run([cb.find_program("creditbridgectl"), "--config", self.config, "init"],
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        equal(done.returncode, 0, f"init: {done}")
        self.inodes = self.look()

    def look(self):
        return [path.stat().st_ino for path in self.paths]

    def start(self, number):
        """What became of it: its exit code, None when it was ready, and was stopped then; whether
        that allocation was made by then; what it said."""
        environment = dict(self.bench.arm(number, False, "PRELOAD"),
                           NOTIFY_SOCKET=str(self.run / "notify"))
        for at, made in enumerate(self.sockets):
            os.dup2(made.fileno(), 100 + at)
        with open(self.run / "log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen([
                sys.executable, "-c", HANDED_OVER, str(cb.find_program("creditbridge-ledger")),
                "--config", self.config], env=environment, pass_fds=(100, 101), stdout=log, stderr=log)
            try:
                code = self.await_ready(process)
                struck = self.bench.control.struck()
                if code is None:
                    process.terminate()
                    process.wait(WAIT_S)
            finally:
                process.kill()
                process.wait()
            log.seek(0)
            return code, struck, log.read()

    def await_ready(self, process):
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            try:
                if self.ready.recv(4096).startswith(b"READY=1"):
                    return None
            except TimeoutError:
                code = process.poll()
                if code is not None:
                    return code
        raise AssertionError(f"neither ready nor ended within {WAIT_S} s")

    def close(self):
        for made in self.sockets:
            made.close()
        self.ready.close()


def case_handed_over(bench):
    """systemd's sockets stay those that callers reach: each is taken, or there is no ledger."""
    activated = Activated(bench)
    short = 0
    try:
        # After READY the engine allocates: how much of that is seen is chance.
        for number in range(1, CALLS_MAX):
            code, struck, said = activated.start(number)
            equal(activated.look(), activated.inodes, f"allocation {number}: the sockets; {said}")
            check(code in (None, EX_TEMPFAIL), f"allocation {number}: exit {code}: {said}")
            short += code == EX_TEMPFAIL
            if not struck:
                break
        check(short > CALLS_MIN, f"{short} of {number} starts failed")
    finally:
        activated.close()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def case_killed(bench):
    """The process that reads the configuration is killed: by a lack of memory, or by a fault of it."""
    path = os.path.join(bench.dir, "fifo")
    os.mkfifo(path)  # which is read for as long as nobody writes to it
    for number, code, reason in (
            (signal.SIGKILL, EX_TEMPFAIL, "out of memory"),
            (signal.SIGABRT, EX_TEMPFAIL, "out of memory"),
            (signal.SIGSEGV, EX_CONFIG, "the process that read it ended early (signal 11)")):
        process = subprocess.Popen([cb.find_program("creditbridge-sweep"), "--config", path],
                                   stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: children(process.pid), WAIT_S, "the process that reads")
            os.kill(children(process.pid)[0], number)
            _, errors = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
            process.wait()
        equal((process.returncode, errors), (code, f"{path}: {reason}\n"), f"signal {number}")


def main():
    bench = Bench()
    try:
        return cb.run_cases([(name, lambda case=case: case(bench)) for name, case in (
            ("ledger, worker and sweeper without memory are to be started again", case_daemons),
            ("the reference dealer without memory is to be started again", case_dealer),
            ("creditbridgectl without memory runs no command", case_ctl),
            ("nor with --json", case_ctl_json),
            ("the process that reads the configuration is killed", case_killed),
            ("a ledger without memory loses none of systemd's sockets", case_handed_over),
        )], seconds=60)
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
