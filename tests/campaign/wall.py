"""The wall clock of programs under test, which a campaign sets (wall.c); every other clock is real."""
import mmap
import os
import pathlib
import shutil
import struct
import time

import cb
from cb import check
from cb_instance import temporary_directory

NS_PER_S = 10 ** 9


class Wall:
    """While it is entered, every program that is started has this clock. @environment is added."""

    def __init__(self, **environment):
        self.library = cb.builddir() / "tests" / "campaign" / "wall.so"
        check(self.library.exists(), f"{self.library} is not built")
        self.dir = temporary_directory("cbwall")
        path = self.dir / "clock"
        path.write_bytes(bytes(8))
        path.chmod(0o644)
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 8)
        self.environment = {"LD_PRELOAD": str(self.library), "WALL_CLOCK": str(path),
                            **environment}
        self.before = {name: os.environ.get(name) for name in self.environment}
        self.jumps = [(float("-inf"), 0.0)]  # when (time.monotonic()), and how far ahead from then

    def __enter__(self):
        os.environ.update(self.environment)
        return self

    def __exit__(self, *_):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self.page.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    @property
    def ahead_s(self):
        return struct.unpack("=q", self.page[:])[0] / NS_PER_S

    def now(self):
        """Unix time as the programs see it."""
        return time.time() + self.ahead_s

    def now_ms(self):
        return int(self.now() * 1000)

    def leap(self, ahead_s):
        """Sets the clock @ahead_s seconds ahead of the true one. A negative number makes it
        slow."""
        # Noted before and after: at the moment itself both are right.
        self.jumps.append((time.monotonic(), float(ahead_s)))
        self.page[:] = struct.pack("=q", round(ahead_s * NS_PER_S))

    def set(self, unix_s):
        self.leap(unix_s - time.time())

    def told(self, unix_s, begin, end, slack_s=0.25):
        """Whether @unix_s may have been read between the moments @begin and @end (monotonic)."""
        true = time.time() - time.monotonic()
        for number, (since, ahead_s) in enumerate(self.jumps):
            over = self.jumps[number + 1][0] if number + 1 < len(self.jumps) else float("inf")
            first, last = max(since, begin), min(over, end)
            if first <= last + slack_s and \
                    first - slack_s <= unix_s - true - ahead_s <= last + slack_s:
                return True
        return False

    def holds(self, pid):
        """Returns True if a process has this clock; None if only root may read its memory map."""
        try:
            return str(self.library) in pathlib.Path(f"/proc/{pid}/maps").read_text()
        except PermissionError:
            return None
