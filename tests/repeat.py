#!/usr/bin/python3
"""repeat.py [-n N] [-j N] [--continue] [TIER|SUITE...]: runs the check, or some suites of it, N times on a busy machine.

-j N runs N at the same time, which makes the machine busy as well. Beside the runs two processes use a processor each
and a third writes and syncs a file of 64 MiB, over and over. They are children of this program, and end with it,
whatever ends it. $CB_HOGS and $CB_WRITERS set how many there are. Each run has a seed of its own in $SEED, counted up
from the first one (that of the caller, else chosen). check-repeat/ of the build directory keeps the output of failed
runs, and runs.json with one entry a finished run. --continue keeps them, and makes only the runs that are missing
to N: twenty checks take hours. The last line is "N runs, N failed", the earlier runs included; it names the commits if
there were several. Exit: 0 all runs passed; 1 one failed; 2 usage.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
SRCDIR = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_process import PR_SET_PDEATHSIG, LIBC, builddir  # noqa: E402

FILE_BYTES = 64 << 20
PIECE = bytes(1 << 20)
SLOWER = "3"  # times as long as otherwise a case and a suite may take
NICE = 5  # A busy machine's other work; the suites keep more than a third of two processors.
running = []  # the processes of the runs
SUMMARY = re.compile(r"\d+ passed, \d+ failed, \d+ skipped$")


def compute():
    while True:
        pass


def write():
    """A file without a name, which goes with the process."""
    with tempfile.TemporaryFile() as file:
        while True:
            file.seek(0)
            for _ in range(FILE_BYTES // len(PIECE)):
                file.write(PIECE)
            file.flush()
            os.fsync(file.fileno())


def child(work):
    """Forks a process that does @work for ever; its id."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() == parent:
        os.nice(NICE)
        with contextlib.suppress(OSError):
            work()
    os._exit(1)


@contextlib.contextmanager
def busy():
    pids = []
    try:
        for work, name, count in ((compute, "CB_HOGS", 2), (write, "CB_WRITERS", 1)):
            pids += [child(work) for _ in range(int(os.environ.get(name, count)))]
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def run(words, seed, log):
    """One run. Its exit code, its output as a list of lines, and the seconds that it took."""
    env = dict(os.environ, CB_BUILDDIR=str(builddir()), SEED=str(seed))
    env.setdefault("CB_SLOWER", SLOWER)
    begun = time.monotonic()
    with open(log, "w+", encoding="utf-8", errors="replace") as out:
        process = subprocess.Popen([SRCDIR / "tests" / "run", *words], env=env, stdout=out,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        running.append(process)
        code = process.wait()
        out.seek(0)
        return code, out.read().splitlines(), time.monotonic() - begun


def terminate(number, _):
    """Ends the runs; the children of busy() end with this process."""
    for process in running:
        if process.poll() is None:
            process.terminate()
    os._exit(128 + number)


def number_from_1(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("a number from 1")
    return number


class Record:
    """The finished runs of some suites, in the file runs.json of @folder."""

    def __init__(self, folder, words, keep):
        self.folder = folder
        self.path = folder / "runs.json"
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        first = int(os.environ.get("SEED") or random.getrandbits(31))
        known = {"suites": words, "first_seed": first, "runs": []}
        if self.path.exists():
            known = json.loads(self.path.read_text())
        if known["suites"] != words:
            print(f"repeat.py: {self.path} has runs of {' '.join(known['suites'])}: leave --continue out", file=sys.stderr)
            sys.exit(2)
        self.known, self.runs = known, known["runs"]
        git = subprocess.run(["git", "-C", SRCDIR, "describe", "--always", "--dirty"], capture_output=True, text=True)
        self.commit = git.stdout.strip() or "none"

    def add(self, **run):
        """Adds a run. The new file replaces the old one, so that an interruption loses no run."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        self.runs.append({"ended": now, "commit": self.commit, **run})
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.known, indent=1) + "\n")
        new.replace(self.path)

    def missing(self, count):
        """The number and seed of each of @count runs that has not ended."""
        ended = {run["seed"] for run in self.runs}
        first = self.known["first_seed"]
        return [(number, seed) for number, seed in enumerate(range(first, first + count), 1) if seed not in ended]

    def failed(self):
        return sum(run["code"] != 0 for run in self.runs)

    def causes(self):
        """How often each case failed."""
        return collections.Counter(": ".join(line[len("FAILED "):].split(": ")[:2])
                                   for run in self.runs for line in run["failures"])

    def commits(self):
        names = sorted({run["commit"] for run in self.runs})
        return f", of the commits {', '.join(names)}" if len(names) > 1 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=number_from_1, default=20, metavar="N", help="runs (default: 20)")
    parser.add_argument("-j", type=number_from_1, default=1, metavar="N",
                        help="runs at the same time (default: 1)")
    parser.add_argument("--continue", action="store_true", dest="keep",
                        help="make only the runs that are missing to N since the last one without this option")
    parser.add_argument("words", nargs="*", metavar="TIER|SUITE", help="default: check")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, terminate)
    signal.signal(signal.SIGINT, terminate)
    words = options.words or ["check"]
    record = Record(builddir() / "check-repeat", words, options.keep)
    with busy(), concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        runs = {}
        for number, seed in record.missing(options.n):
            log = record.folder / f"run-{seed}.log"
            runs[pool.submit(run, words, seed, log)] = number, seed, log
        for done in concurrent.futures.as_completed(runs):
            number, seed, log = runs[done]
            code, lines, took = done.result()
            last = lines[-1] if lines and SUMMARY.match(lines[-1]) else f"exit code {code}"
            print(f"run {number} of {options.n}, SEED={seed}: {last} in {took:.0f} s", flush=True)
            named = [line for line in lines if line.startswith("FAILED ")]
            record.add(seed=seed, code=code, result=last, seconds=round(took), failures=named)
            if not code:
                log.unlink()
                continue
            for line in named or lines[-5:]:
                print(f"  {line}", flush=True)
            print(f"  log: {log}", flush=True)
    for case, count in record.causes().most_common():
        print(f"{count} times: {case}")
    print(f"{len(record.runs)} runs, {record.failed()} failed{record.commits()}")
    return 1 if record.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
