"""The wall clock and the disk of one host, which faults change while its programs run: libraries that are loaded first.

They are not part of the product's build. Without them, as after `quickstart`, a host has the true clock and its disk.
"""
import os
import pathlib
import shutil

import cb
from cb import check
from wall import Wall

WALL = "tests/campaign/wall.so"
DISK = "tests/fault/shim.so"


class Preloads:
    """Of a host whose files are in @folder. Only what is below @data is slow when the disk is slow."""

    def __init__(self, folder, data):
        self.built = all((cb.builddir() / name).exists() for name in (WALL, DISK))
        if not self.built:
            return
        # The servers' user may not be able to reach the build directory.
        self.libraries = [shutil.copy(cb.builddir() / name, folder) for name in (WALL, DISK)]
        for path in self.libraries:
            os.chmod(path, 0o644)
        # lighttpd starts itself anew when the clock jumps.
        self.wall = Wall(WALL_SPARES="lighttpd")
        self.wall.dir.chmod(0o755)
        self.control = pathlib.Path(folder) / "slow"
        self.environment = {**self.wall.environment, "FAULT_STATE": str(data), "FAULT_CONTROL": str(self.control)}

    def words(self, disk=False):
        """The words before the command of a program; @disk: of one that has the disk, too."""
        if not self.built:
            return []
        libraries = self.libraries if disk else self.libraries[:1]
        return ["env", *(f"{name}={value}" for name, value in
                         {**self.environment, "LD_PRELOAD": ":".join(map(str, libraries))}.items())]

    def close(self):
        if self.built:
            self.wall.page.close()
            shutil.rmtree(self.wall.dir, ignore_errors=True)

    def have(self, pid, disk=False):
        """Whether a process has the libraries: otherwise nothing would be injected."""
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
        return all(str(path) in maps for path in (self.libraries if disk else self.libraries[:1]))

    def leap(self, ahead_s):
        check(self.built, "tests/campaign/wall.so is not built")
        self.wall.leap(ahead_s)

    def slow_disk(self, sync_ms, write_ms):
        """Each fsync and each write lasts so much longer, until fast_disk()."""
        check(self.built, "tests/fault/shim.so is not built")
        new = self.control.with_suffix(".new")
        new.write_text(f"sync DELAY {sync_ms}\nwrite DELAY {write_ms}\n")
        new.chmod(0o644)
        new.rename(self.control)

    def fast_disk(self):
        self.control.unlink()
