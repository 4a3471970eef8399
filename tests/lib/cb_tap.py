"""The Test Anything Protocol, printed for tests/run."""
import os
import signal
import sys
import time
import traceback


class Skip(Exception):
    """Raised by a case that cannot be run here; its text says why."""


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


def on_term(owner):
    """A handler of SIGTERM: the case's `with` statements end what they started, as servers' own
    children would not. A process forked by a case owns none of it, and just ends."""
    def handler(number, _frame):
        signal.signal(number, signal.SIG_IGN)
        if os.getpid() != owner:
            os._exit(128 + number)
        sys.exit(128 + number)
    return handler


def comment(text):
    for line in text.rstrip().splitlines():
        print(f"# {line}")


def run_case(number, name, function, seconds):
    signal.alarm(seconds)
    start = time.monotonic()
    try:
        function()
    except Skip as skip:
        print(f"ok {number} - {name} # SKIP {skip}")
        return True
    except Exception:  # A failing harness fails the case, as a failing service does.
        signal.alarm(0)
        print(f"not ok {number} - {name}")
        comment(traceback.format_exc())
        return False
    finally:
        signal.alarm(0)
        if time.monotonic() - start > 5:
            comment(f"{name} took {time.monotonic() - start:.1f} s")
    print(f"ok {number} - {name}")
    return True


def run_cases(cases, seconds=30):
    """Runs [(name, function)], each within @seconds; prints TAP; returns main()'s exit code."""
    signal.signal(signal.SIGALRM, on_alarm)
    signal.signal(signal.SIGTERM, on_term(os.getpid()))
    failed = 0
    for number, (name, function) in enumerate(cases, 1):
        failed += not run_case(number, name, function, seconds)
        sys.stdout.flush()
    print(f"1..{len(cases)}", flush=True)
    return 1 if failed else 0
