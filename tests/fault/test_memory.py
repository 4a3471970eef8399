#!/usr/bin/python3
"""Programs that find no memory when they start: each allocation up to where the configuration is read
fails in its turn (tests/campaign/nth.c), by itself or with all that follow.

    test_memory.py [--every N]

With --every N only the first allocation fails, and each N-th from a random one on.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "campaign"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_process import process_gone  # noqa: E402
from nth_cases import Case, Control  # noqa: E402

NOBODY = 65534
FAILED, EX_TEMPFAIL, EX_CONFIG = 1, 75, 78  # debian/systemd, RestartPreventExitStatus
CALLS_MAX = 500  # allocations of a start; it makes about 60, creditbridgectl 100
CALLS_MIN = 40
ENGINES = 20
WAIT_S = 20
GROUP = cb.own_group()
# Values longer than the scanner's first buffer, which grows by 32 bytes.
SETTINGS = f"""state_directory = "/nonexistent/{'x' * 100}"
callback_networks = {{"10.0.0.0/8", "127.0.0.0/8"}}
socket_group = "{GROUP}"
"""
# Shows that all before it was read.
WRONG = "last = 1\n"

# Starts a ledger, argv[1:], as systemd does: with the sockets that are its descriptors 100 and 101.
HANDED_OVER = """
import os, sys
os.dup2(100, 3, inheritable=True)
os.dup2(101, 4, inheritable=True)
os.environ.update(LISTEN_FDS="2", LISTEN_FDNAMES="edge:admin", LISTEN_PID=str(os.getpid()),
                  LD_PRELOAD=os.environ.pop("PRELOAD"))
os.execv(sys.argv[1], sys.argv[1:])
"""


def ignoring_ends():
    """As a caller may have set it: the program gets no signal at a child's end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


class Bench:
    def __init__(self, every):
        self.every = every
        self.shim = cb.builddir() / "tests" / "campaign" / "nth.so"
        check(self.shim.exists(), f"{self.shim} is not built")
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cbmemory"))
        self.config = self.dir / "creditbridge.conf"
        self.config.write_text(SETTINGS + WRONG, "ascii")
        self.right = self.dir / "right.conf"
        self.right.write_text(SETTINGS, "ascii")
        self.wrong = f"{self.config}:4: no such option 'last'\n"
        self.control = Control(self.dir / "control")

    def arm(self, number, lasting, name="LD_PRELOAD"):
        """The environment of a program whose allocation @number fails."""
        self.control.arm(Case("", "malloc", "ENOMEM", 0, number, lasting))
        return dict(os.environ, NTH_CONTROL=str(self.control.path), **{
            name: str(self.shim)})

    def start(self, words, number, lasting, before=None):
        """Starts @words, whose allocation @number fails. What became of it, None: that was none."""
        environment = self.arm(number, lasting)
        done = subprocess.run(words, env=environment, capture_output=True, text=True,
                              timeout=WAIT_S, check=False, preexec_fn=before)
        return done if self.control.struck() else None

    def numbers(self, end):
        """The first allocation, and those that are looked at of the others below @end."""
        yield 1
        yield from range(2 + random.randrange(self.every), end, self.every)

    def enough(self):
        """More starts than this must have failed."""
        return CALLS_MIN // self.every

    def starts(self, words, before=None, ways=(False, True)):
        """Yields the outcome of each start. At each one more allocation succeeds."""
        for lasting in ways:
            for number in self.numbers(CALLS_MAX):
                done = self.start(words, number, lasting, before)
                if done is None:
                    break
                yield done
            check(CALLS_MIN < number < CALLS_MAX - self.every, f"{words[0].name}: {number} allocations")

    def starved(self, words, last, before=None, ways=(False, True)):
        """Each start ends with the code after which it is tried again; or says @last with that after
        which it is not, because it had no need of the allocation."""
        name = words[0].name
        short = 0
        for done in self.starts(words, before, ways):
            if done.returncode == EX_CONFIG:
                equal(done.stderr, last, f"{name}: the last word")
            else:
                equal(done.returncode, EX_TEMPFAIL, f"{name}: {done}")
                check(done.stderr.endswith((
                    ".conf: out of memory\n",
                    f"{name}: the arguments cannot be read: out of memory\n",
                    f"socket_group {GROUP} cannot be looked up: out of memory\n",
                    f"socket_group {GROUP} cannot be looked up: Cannot allocate memory\n",
                    "cannot be looked up: the process for it was ended by signal 11\n",
                    f"{name}: the kernel gives no random numbers: allow the system call getrandom, and "
                    "repeat this\n",
                    )), f"{name}: {done.stderr}")
                short += 1
        check(short > self.enough(), f"{name}: {short} starts failed")

    def close(self):
        shutil.rmtree(self.dir)


def case_daemons(bench):
    """Up to where the configuration was read, whatever their parent set."""
    for program in ("creditbridge-ledger", "creditbridge-sweep"):
        bench.starved([cb.find_program(program), "--config", bench.config], bench.wrong)
    bench.starved([cb.find_program("creditbridge-ledger"), "--config", bench.config], bench.wrong,
                  ignoring_ends, (False,))


def case_worker(bench):
    """Up to where its socket is made, which is in no directory here."""
    path = bench.dir / "none" / "worker.sock"
    bench.starved([cb.find_program("creditbridge.fcgi"), "--config", bench.right, "--socket", path],
                  f"creditbridge.fcgi: {path}: No such file or directory\n")


def case_dealer(bench):
    """The reference dealer has no configuration; its words are read as the others'."""
    words = [cb.find_program("creditbridge-dealer.fcgi"), "--key-file", bench.config,
             "--state", "/nonexistent"]
    done = bench.start(words, 1, False)
    equal((done.returncode, done.stderr), (
        EX_TEMPFAIL, "creditbridge-dealer.fcgi: the arguments cannot be read: out of memory\n"),
          "dealer")


def ctl(bench, *options):
    return [cb.find_program("creditbridgectl"), *options, "--config", bench.config, "status"]


def case_ctl(bench):
    """No command is run with words that were not read."""
    for done in bench.starts(ctl(bench)):
        if done.returncode == EX_CONFIG:
            equal(done.stderr, f"creditbridgectl: configuration: {bench.wrong}", "all was read")
        else:
            equal(done.returncode, FAILED, f"{done}")
            check(done.stderr.endswith(("out of memory\n", "getrandom, and repeat this\n")), f"{done}")


def case_ctl_json(bench):
    """The same with --json: the answer is JSON, unless there is no memory for it."""
    reported = 0
    for done in bench.starts(ctl(bench, "--json"), ways=(False,)):
        check(done.returncode in (FAILED, EX_CONFIG), f"{done}")
        if done.stdout:
            error = json.loads(done.stdout)["error"]
            check(error["id"] in ("failed", "configuration"), f"{done}")
            reported += 1
        else:
            check(done.stderr.endswith(("out of memory\n", bench.wrong)), f"{done}")
    check(reported > bench.enough(), f"{reported} answers in JSON")


def case_no_process(bench):
    """If no process can be made, the configuration cannot be read."""
    def one_process():
        if os.geteuid() == 0:  # root has no limit
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))

    bench.dir.chmod(0o755)
    try:
        subprocess.run(["/bin/test", "-x", cb.find_program("creditbridge-sweep")], check=True,
                       preexec_fn=one_process)
    except subprocess.CalledProcessError:
        raise cb.Skip("only root may enter the build directory") from None
    reason = f"{bench.config}: no process for it: Resource temporarily unavailable\n"
    for words, code, said in (
            ([cb.find_program("creditbridge-sweep"), "--config", bench.config], EX_TEMPFAIL, reason),
            (ctl(bench), FAILED, f"creditbridgectl: {reason}")):
        done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT_S, check=False,
                              preexec_fn=one_process)
        equal((done.returncode, done.stderr), (code, said), f"{words[0].name}")


class Activated:
    """A ledger that can be started, and the sockets that systemd would keep for it."""

    def __init__(self, bench):
        self.bench = bench
        self.run = bench.dir / "run"
        self.run.mkdir()
        self.config = bench.dir / "activated.conf"
        self.config.write_text(f'state_directory = "{bench.dir}/state"\n'
                               f'socket_directory = "{self.run}"\nlog_target = stderr\n'
                               f'socket_group = "{GROUP}"\n'
                               # Numbers, which are not looked up: the look-up of socket_group is enough.
                               f'read_group = "54331"\nsupport_group = "54332"\n'
                               f'ledger_cache_mib = 1\ndisk_ballast_mib = 1\n', "ascii")
        self.paths = [self.run / "edge.sock", self.run / "admin.sock"]
        self.sockets = []
        for path in self.paths:
            self.sockets.append(socket.socket(socket.AF_UNIX))
            self.sockets[-1].bind(str(path))
            self.sockets[-1].listen(16)
        self.log = bench.dir / "log"
        done = subprocess.run([cb.find_program("creditbridgectl"), "--config", self.config, "init"],
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        equal(done.returncode, 0, f"init: {done}")
        self.inodes = self.look()

    def look(self):
        return [path.stat().st_ino for path in self.paths]

    def start(self, number):
        """Starts it, until it has an engine that serves. Its exit code, None when it came so far;
        whether that allocation was made by then; what it said."""
        environment = self.bench.arm(number, False, "PRELOAD")
        for at, made in enumerate(self.sockets):
            os.dup2(made.fileno(), 100 + at)
        with open(self.log, "wb") as log:
            process = subprocess.Popen([
                sys.executable, "-c", HANDED_OVER, str(cb.find_program("creditbridge-ledger")),
                "--config", self.config], env=environment, pass_fds=(100, 101), stdout=log, stderr=log,
                preexec_fn=ignoring_ends)
        try:
            wait_until(lambda: b"event=ledger_ready" in self.log.read_bytes()
                       or process.poll() is not None, WAIT_S, "an engine that serves", 0.002)
            code = process.poll()
            struck = self.bench.control.struck()
            if code is None:
                process.terminate()
                process.wait(WAIT_S)
        finally:
            process.kill()
            process.wait()
        return code, struck, self.log.read_text("utf-8")

    def close(self):
        for made in self.sockets:
            made.close()


def case_handed_over(bench):
    """systemd's sockets stay those that callers reach: each is taken, or there is no ledger. An engine
    without memory is followed by one that serves (ENGINES are looked at; the n-th call campaign looks at
    all their thousand allocations)."""
    short = engines = 0
    with contextlib.closing(Activated(bench)) as activated:
        for number in bench.numbers(CALLS_MAX):
            code, struck, said = activated.start(number)
            equal(activated.look(), activated.inodes, f"allocation {number}: the sockets; {said}")
            check(code in (None, EX_TEMPFAIL), f"allocation {number}: exit {code}: {said}")
            check("event=ledger_halted" not in said, f"allocation {number}: {said}")
            short += code == EX_TEMPFAIL
            engines += "event=engine_ended" in said
            check("event=engine_ended" not in said or "event=engine_ended exit=70" in said,
                  f"allocation {number}: how the engine ended: {said}")
            check(struck, "all allocations of a start were made")
            if engines >= ENGINES // bench.every:
                break
    equal(engines, ENGINES // bench.every, "engines without memory")
    check(short > bench.enough(), f"up to allocation {number} {short} starts came to no engine")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


class Reading:
    """A ledger whose configuration is a pipe without a writer: its reading process waits for
    ever."""

    def __init__(self, bench):
        self.path = bench.dir / "fifo"
        if not self.path.exists():
            os.mkfifo(self.path)

    def __enter__(self):
        self.process = subprocess.Popen([cb.find_program("creditbridge-ledger"), "--config", self.path],
                                        stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: children(self.process.pid), WAIT_S, "the process that reads")
            self.reader, = children(self.process.pid)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def case_killed(bench):
    """The process that reads the configuration is killed, by a lack of memory or by another signal.
    Its verdict is not known, so the error is not that of a wrong configuration."""
    for number, reason in ((signal.SIGKILL, "out of memory"), (signal.SIGABRT, "out of memory"),
                           (signal.SIGSEGV, "the process for it was ended by signal 11"),
                           (signal.SIGTERM, "the process for it was ended by signal 15")):
        with Reading(bench) as reading:
            os.kill(reading.reader, number)
            _, errors = reading.process.communicate(timeout=WAIT_S)
        equal((reading.process.returncode, errors), (EX_TEMPFAIL, f"{reading.path}: {reason}\n"),
              f"signal {number}")


def case_orphan(bench):
    """A signal that kills the program also ends its reading process."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with Reading(bench) as reading:
            reading.process.send_signal(number)
            # The standard error is that one's, too.
            reading.process.communicate(timeout=WAIT_S)
            wait_until(lambda gone=reading.reader: process_gone(gone), WAIT_S, "its end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    bench = Bench(parser.parse_args().every)
    seconds = 240 if bench.every == 1 else 120
    try:
        return cb.run_cases([(name, lambda case=case: case(bench)) for name, case in (
            ("a ledger or sweeper without memory is to be started again", case_daemons),
            ("a worker without memory is to be started again", case_worker),
            ("the reference dealer that has no memory for its words, likewise", case_dealer),
            ("creditbridgectl without memory runs no command", case_ctl),
            ("nor with --json", case_ctl_json),
            ("without another process the configuration is not read", case_no_process),
            ("the process that reads the configuration is killed", case_killed),
            ("it ends with the program", case_orphan),
            ("a ledger without memory halts nothing, and loses none of systemd's sockets", case_handed_over),
        )], seconds=seconds)
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
