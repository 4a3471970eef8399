"""The Test Anything Protocol, printed for tests/run."""
import os
import signal
import sys
import time
import traceback


class Skip(Exception):
    """Raised by a case that cannot be run here; its text says why."""


SLOWER = int(os.environ.get("CB_SLOWER", "1"))  # how many times as long all takes here
# As automake's: all was skipped, which shows nothing.
ALL_SKIPPED = 77


class CaseTimeout(Exception):
    pass


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(actual, expected, what):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


def on_alarm(_number, _frame):
    raise CaseTimeout("the case's deadline is over")


class Ending:
    """SIGTERM: the `with` statements under way end what they started, as servers' own children would
    not by themselves. A second one ends the program as it stands, and so does the first in a process
    that a case forked, whose statements are its parent's as well."""

    def __init__(self):
        self.owner = os.getpid()
        self.code = None

    def __call__(self, number, _frame):
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != self.owner:
            os._exit(128 + number)
        signal.alarm(0)
        self.code = 128 + number
        sys.exit(self.code)


def comment(text):
    for line in text.rstrip().splitlines():
        print(f"# {line}")


PASSED, SKIPPED, FAILED = range(3)


def run_case(number, name, function, seconds):
    signal.alarm(seconds * SLOWER)
    start = time.monotonic()
    try:
        function()
    except Skip as skip:
        print(f"ok {number} - {name} # SKIP {skip}")
        return SKIPPED
    except Exception:  # A failing harness fails the case, as a failing service does.
        signal.alarm(0)
        print(f"not ok {number} - {name}")
        comment(traceback.format_exc())
        return FAILED
    finally:
        signal.alarm(0)
        if time.monotonic() - start > 5:
            comment(f"{name} took {time.monotonic() - start:.1f} s")
    print(f"ok {number} - {name}")
    return PASSED


def run_cases(cases, seconds=30, unwinds=True):
    """Runs [(name, function)], each within @seconds, $CB_SLOWER times that on a slow machine; prints
    TAP; returns main()'s exit code: 1 when one failed or there is none, ALL_SKIPPED when all were
    skipped. Without @unwinds SIGTERM ends the program as it stands: one that would wait for its jobs
    otherwise."""
    signal.signal(signal.SIGALRM, on_alarm)
    ending = Ending()
    if unwinds:
        signal.signal(signal.SIGTERM, ending)
    ended = []
    for number, (name, function) in enumerate(cases, 1):
        ended.append(run_case(number, name, function, seconds))
        sys.stdout.flush()
        if ending.code is not None:  # what failed while the case was ended is a failed case
            sys.exit(ending.code)
    print(f"1..{len(cases)}", flush=True)
    if FAILED in ended or not ended:
        return 1
    return 0 if PASSED in ended else ALL_SKIPPED
