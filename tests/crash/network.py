"""The failing network of proxy.py as a process of its own, and the line to its control port."""
import json
import os
import pathlib
import socket
import sys

import cb

PROGRAM = pathlib.Path(os.path.abspath(__file__)).parent / "proxy.py"


class Network:
    """Between the service and the dealer's server at port @target."""

    def __init__(self, directory, target, seed, timeout_ms, refund_delay_ms, address="127.0.0.1"):
        self.port = cb.free_port()
        self.base_url = f"http://{address}:{self.port}"
        control = cb.free_port()
        self.log = pathlib.Path(directory) / "network.log"
        self.child = cb.Child(
            [sys.executable, PROGRAM, "--address", address, "--listen", self.port, "--target", target,
             "--control", control, "--seed", seed, "--timeout-ms", timeout_ms,
             "--refund-delay-ms", refund_delay_ms], self.log)
        self.line = None

        def connect():
            try:
                self.line = socket.create_connection(("127.0.0.1", control), 30).makefile("rwb")
            except OSError:
                return False
            return True
        self.child.wait_ready(connect, 15, "the failing network")

    def ask(self, wanted):
        self.line.write(json.dumps(wanted).encode() + b"\n")
        self.line.flush()
        return json.loads(self.line.readline())

    def fail(self, on):
        self.ask({"faults": on})

    def report(self):
        """{"pending", "struck": {fault: n}, "arrivals": {webhook_id: {"count", "bodies"}}}."""
        return self.ask({"report": True})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.close()
        self.child.stop()
