"""Prints the Test Anything Protocol for tests/run."""
import os
import signal
import sys
import time
import traceback

from cb_process import PATIENCE
from cb_results import results


class Skip(Exception):
    """Raised by a case that cannot run here; its text is the reason."""


# As in automake: all cases were skipped, which proves nothing.
ALL_SKIPPED = 77


# A part of the name of the cases that run (tests/run); empty: all. It is not for the suites inside a suite.
CASE = os.environ.pop("CB_CASE", "")


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
    """Handles SIGTERM: the active `with` statements end the processes that they started, because
    servers' children would not exit by themselves. A second SIGTERM ends the program at once. So
    does the first in a process that a case forked, because its `with` statements also belong to
    its parent."""

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
OUTCOMES = ("passed", "skipped", "failed")


def run_case(number, name, function, seconds):
    signal.alarm(seconds * PATIENCE)
    start = time.monotonic()
    try:
        function()
    except Skip as skip:
        print(f"ok {number} - {name} # SKIP {skip}")
        return SKIPPED
    except Exception:  # A failure of the harness fails the case, as a failure of the service does.
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


def needs(function, *names):
    """States that the case of @function runs with the cases @names, before and after it. Returns
    @function."""
    function.needs = names
    return function


def selected(cases):
    """The cases that have CASE in their names and those that they need, in their order."""
    if not CASE:
        return cases
    needed = {name: getattr(function, "needs", ()) for name, function in cases}
    names = set()
    more = {name for name in needed if CASE in name}
    while more:
        names |= more
        more = {other for name in more for other in needed[name]} - names
    return [case for case in cases if case[0] in names]


def run_cases(cases, seconds=30, unwinds=True):
    """Runs [(name, function)], each within PATIENCE times @seconds.
    Prints TAP. Returns main()'s exit code: 1 if a case failed or there is none, ALL_SKIPPED if
    all were skipped. $CB_CASE selects cases. If @unwinds is False, SIGTERM ends the program at
    once, for programs that would otherwise wait for their jobs. With $CB_RESULTS the outcome is kept
    (cb_results.py)."""
    cases = selected(list(cases))
    signal.signal(signal.SIGALRM, on_alarm)
    ending = Ending()
    if unwinds:
        signal.signal(signal.SIGTERM, ending)
    ended = []
    with results() as kept:
        for number, (name, function) in enumerate(cases, 1):
            start = time.monotonic()
            ended.append(run_case(number, name, function, seconds))
            sys.stdout.flush()
            kept.case(name, OUTCOMES[ended[-1]], time.monotonic() - start)
            if ending.code is not None:  # a failure while the case is being ended fails the case
                sys.exit(ending.code)
        print(f"1..{len(cases)}", flush=True)
    if FAILED in ended or not ended:
        return 1
    return 0 if PASSED in ended else ALL_SKIPPED
