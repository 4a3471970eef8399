"""Most calls of a long soak: transfers in, as many as the service takes, by wrk (bench/load.lua)."""
import os
import shutil
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import wrk  # noqa: E402
from cb import check  # noqa: E402

CONNECTIONS = 16
SLICE_S = 2
WRK_S = 60


class Bulk(threading.Thread):
    """Makes @calls calls, and some more; @failures says what went wrong."""

    def __init__(self, url, casino, key, players, run, calls):
        super().__init__(daemon=True)
        check(not calls or shutil.which("wrk"), "calls by wrk: it is not installed")
        self.url, self.calls = url, calls
        self.words = [casino, key, str(players), run]
        self.done, self.slowest_ms, self.failures, self.over = 0, 0.0, [], False

    def slice(self, number):
        casino, key, players, run = self.words
        # wrk's clock is the true one.
        env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        row = wrk.run(self.url, "transfer-in", (casino, key), players, f"{run}-{number}",
                      connections=CONNECTIONS, seconds=SLICE_S, env=env)
        check(row["requests"] and not row["refused"] + row["broken"] + row["late"], f"wrk: {row}")
        self.slowest_ms = max(self.slowest_ms, row["max_ms"])
        self.done += row["requests"]

    def run(self):
        number = 0
        try:
            while self.done < self.calls and not self.over:
                self.slice(number)
                number += 1
        except Exception as failure:  # Of any kind: an exception in a thread would be lost.
            self.failures.append(repr(failure))

    def end(self):
        self.over = True
        if self.is_alive():
            self.join(WRK_S)
