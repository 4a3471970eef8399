#!/usr/bin/python3
"""Programs that find no memory when they start: each allocation up to where the configuration is read
fails in its turn (tests/campaign/nth.c), alone or with all that follow."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

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

    def start(self, words, number, lasting):
        """Starts @words, whose allocation @number fails. What became of it, None: that was none."""
        self.control.arm(Case("", "malloc", "ENOMEM", 0, number, lasting))
        environment = dict(os.environ, NTH_CONTROL=str(self.control.path), LD_PRELOAD=str(
            cb.builddir() / "tests" / "campaign" / "nth.so"))
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
        )], seconds=60)
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
