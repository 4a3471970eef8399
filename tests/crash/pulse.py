"""Whether the machine ran, beside what is tested on it: a thread that only looks at the clock, and one
that only writes to the disk."""
import os
import threading
import time

BEAT_S = 0.01


class Pulse(threading.Thread):
    """Beats until `stopping` is set. A beat that comes later than @late_s stood still."""

    late_s = 0.05

    def __init__(self):
        super().__init__(daemon=True)
        self.late = []  # (from, to), in their order
        self.stopping = threading.Event()

    def beat(self):
        """The work of the machine at each beat."""

    def run(self):
        before = time.monotonic()
        while not self.stopping.wait(BEAT_S):
            self.beat()
            now = time.monotonic()
            if now - before > self.late_s:
                self.late.append((before, now))
            before = now


class DiskPulse(Pulse):
    """Writes the same block of a file in @folder, again and again, and waits until it is on the
    disk: it makes no new block and no name, so that it waits for the device and for no journal."""

    late_s = 0.2

    def __init__(self, folder):
        super().__init__()
        self.file = os.open(folder / "pulse", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(self.file, bytes(4096))
        os.fsync(self.file)

    def beat(self):
        os.pwrite(self.file, os.urandom(4096), 0)
        os.fdatasync(self.file)

    def run(self):
        try:
            super().run()
        finally:
            os.close(self.file)


def stood_still(pulses, begin, end):
    """How long, between @begin and @end, at least one of @pulses was late."""
    parts = sorted((max(begin, since), min(end, to)) for pulse in pulses for since, to in pulse.late
                   if since < end and to > begin)
    total, until = 0.0, begin
    for since, to in parts:
        total += max(0.0, to - max(since, until))
        until = max(until, to)
    return total
