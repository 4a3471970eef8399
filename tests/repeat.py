#!/usr/bin/python3
"""repeat.py [-n N] [TIER|SUITE...]: runs the check, or some suites of it, N times on a busy machine.

Beside each run two processes use a processor each and a third writes and syncs a file of 64 MiB, over
and over. They are children of this program, and end with it, whatever ends it. $CB_HOGS and $CB_WRITERS
set how many there are. Each run has a seed of its own in $SEED, counted up from the first one (that
of the caller, else chosen). What a failed run printed is kept in check-repeat/ of the build directory. The last
line is "N runs, N failed". Exit: 0 all runs passed; 1 one failed; 2 usage.
"""
import argparse
import collections
import contextlib
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
    """One run. Its exit code, and its output as a list of lines."""
    env = dict(os.environ, CB_BUILDDIR=str(builddir()), SEED=str(seed))
    env.setdefault("CB_SLOWER", SLOWER)
    with open(log, "w+", encoding="utf-8", errors="replace") as out:
        process = subprocess.Popen([SRCDIR / "tests" / "run", *words], env=env, stdout=out,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        out.seek(0)
        return code, out.read().splitlines()


def terminate(*_):
    sys.exit(143)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=20, metavar="N", help="runs (default: 20)")
    parser.add_argument("words", nargs="*", metavar="TIER|SUITE", help="default: check")
    options = parser.parse_args()
    if options.n < 1:
        parser.error("-n takes a number from 1")
    signal.signal(signal.SIGTERM, terminate)
    first = int(os.environ.get("SEED") or random.getrandbits(31))
    logs = builddir() / "check-repeat"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    failed, causes = 0, collections.Counter()
    with busy():
        for number in range(1, options.n + 1):
            seed, log, begun = first + number - 1, logs / f"run-{number}.log", time.monotonic()
            code, lines = run(options.words or ["check"], seed, log)
            told = [line for line in lines if line.startswith("FAILED ")]
            last = lines[-1] if lines and SUMMARY.match(lines[-1]) else f"exit code {code}"
            print(f"run {number} of {options.n}, SEED={seed}: {last} in "
                  f"{time.monotonic() - begun:.0f} s", flush=True)
            if not code:
                log.unlink()
                continue
            failed += 1
            for line in told or lines[-5:]:
                print(f"  {line}", flush=True)
            print(f"  log: {log}", flush=True)
            causes.update({": ".join(line[len("FAILED "):].split(": ")[:2]) for line in told})
    for case, count in causes.most_common():
        print(f"{count} times: {case}")
    print(f"{options.n} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
