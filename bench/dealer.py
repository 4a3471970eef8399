"""The dealer's server that bets and results are sent to (bench/late_dealer.c)."""
import json
import subprocess
import urllib.request

from stands import cb

from cb_process import free_port


class LateDealer:
    """One server for all dealers: answers after @delay_ms, and never each @silent_each-th bet."""

    def __init__(self, delay_ms, silent_each=None):
        self.port = free_port()
        words = [self.port, delay_ms] + ([silent_each] if silent_each else [])
        self.child = subprocess.Popen([str(cb.find_program("bench/late_dealer")), *map(str, words)],
                                      stdout=subprocess.PIPE, text=True)
        self.child.stdout.readline()
        self.url = f"http://127.0.0.1:{self.port}"

    def received(self):
        """What it received since the last call."""
        with urllib.request.urlopen(f"{self.url}/", timeout=30) as answer:
            return json.load(answer)

    def close(self):
        self.child.terminate()
        self.child.wait()
        self.child.stdout.close()
