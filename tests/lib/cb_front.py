"""Puts a proxy in front of every server of the tests if $CB_FRONT names one (tests/contract)."""
import os
import shlex

from cb_process import Child, HarnessError, free_port, port_open

# The proxy's command line. --mount FROM:TO:SERVER:PREFIX for each port and --report FILE are
# appended.
FRONT = shlex.split(os.environ.get("CB_FRONT", ""))


class Front:
    """Replaces @server: from now on its ports are those of the proxy. The proxy writes its
    reports to the directory $CB_FRONT_REPORTS."""

    def __init__(self, server):
        behind = [f"{server.port}:base_url:{server.prefix}",
                  f"{server.platform_port}:platform_url:"]
        ports = [free_port() for _ in behind]
        mounts = [f"--mount={port}:{mount}" for port, mount in zip(ports, behind)]
        name = f"{server.name}-{os.getpid()}-{server.port}"
        report = os.path.join(os.environ["CB_FRONT_REPORTS"], f"{name}.json")
        self.child = Child([*FRONT, *mounts, "--report", report],
                           server.instance.logs / f"front-{server.port}.log")
        self.child.wait_ready(lambda: all(map(port_open, ports)), 30, "the proxy")
        server.port, server.platform_port = ports
        server.base_url = f"http://127.0.0.1:{server.port}{server.prefix}"
        server.platform_url = f"http://127.0.0.1:{server.platform_port}"

    def stop(self):
        if self.child.stop() != 0:
            raise HarnessError(f"the proxy failed:\n{self.child.log_tail()}")
