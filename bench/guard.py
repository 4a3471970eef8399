"""Ends all processes of a benchmark and removes its temporary files, however the benchmark ends.

Servers start sessions of their own, and their children survive when a server is killed. This
process adopts such orphans and ends them when it ends.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import tempfile

from cb_process import pids_end

PR_SET_CHILD_SUBREAPER = 36
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
END_S = 10.0


def descendants(pid):
    """@pid and all processes below it."""
    found = [pid]
    for process in found:
        for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                pass
    return found


def interrupted(number, _frame):
    """The first signal ends the work, the next ones do not disturb its end."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def end_all():
    """Ends all that lives below this process, also what is taken over while doing so."""
    for _ in range(20):
        left = descendants(os.getpid())[1:]
        if not left:
            return
        pids_end(left, END_S)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


class Ends:
    """What goes at the end beside the processes."""

    def __init__(self):
        self.folders = []

    def folder(self, where=None):
        """A directory below @where that is gone at the end."""
        path = tempfile.mkdtemp(prefix="cb-bench.", dir=where)
        os.chmod(path, 0o711)  # servers under another user pass through
        self.folders.append(path)
        return pathlib.Path(path)


@contextlib.contextmanager
def everything_ends():
    """For the whole of a program: at its end, also by a signal or an error, all that it started is
    ended, and its temporary files are gone."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in SIGNALS:
        signal.signal(number, interrupted)
    ends = Ends()
    before, tempfile.tempdir = tempfile.tempdir, str(ends.folder())
    try:
        yield ends
    finally:
        tempfile.tempdir = before
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        end_all()
        for path in ends.folders:
            shutil.rmtree(path, ignore_errors=True)
