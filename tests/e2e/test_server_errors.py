#!/usr/bin/python3
"""What a web server answers by itself has the shape of the service's errors (contract, "Error ids"),
on each server, at a prefix and at the root; and the service's own errors pass through as they are.
"""
import itertools
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import TRANSFER_IN, check, equal, needs  # noqa: E402

ERROR_KEYS = {"id", "code", "status", "detail", "retryable", "request_id"}
# Beyond what the servers are configured to take; of those that take all, the worker refuses it.
TOO_LARGE = b"x" * (17 * 1024 * 1024)
IDS = {413: ("payload_too_large", False), 500: ("internal_error", True),
       502: ("internal_error", True), 503: ("service_unavailable", True),
       504: ("internal_error", True)}


def refused(answer, statuses, who):
    """An error of one of @statuses, made by @who: "server" or "worker"."""
    check(answer.status in statuses, f"status: {answer}")
    equal(answer.header("Content-Type"), "application/json", f"Content-Type of {answer}")
    body = json.loads(answer.body)
    equal(set(body), ERROR_KEYS, f"members of {answer}")
    equal((body["id"], body["code"], body["retryable"]),
          (IDS[answer.status][0], answer.status, IDS[answer.status][1]), f"{answer}")
    equal("worker" if body["request_id"] != "none" else "server", who, f"who made {answer}")


def too_large(server):
    """nginx, lighttpd and Apache with mod_fcgid answer 413 themselves; mod_proxy_fcgi leaves it to the
    worker. All of it moved nothing."""
    path = TRANSFER_IN if server.mounted == "wallet" else "/platform/bets"
    answer = server.post(path, TOO_LARGE)
    refused(answer, (413,), "worker" if server.name == "apache-mod_proxy_fcgi" else "server")
    refused(server.post(path, TOO_LARGE[:70000]), (413,), "worker")


def no_worker(server, wallet):
    """Every worker is gone and none can be started."""
    path = TRANSFER_IN if server.mounted == "wallet" else "/platform/bets"
    aside = wallet.worker.with_suffix(".aside")
    wallet.worker.rename(aside)
    try:
        for child in server.workers.values():
            child.stop()
        pids = wallet.worker_pids() + cb.pids_running(aside)
        cb.signal_pids(pids, signal.SIGKILL)
        cb.wait_until(lambda: all(cb.process_gone(pid) for pid in pids), 10, f"the end of {pids}")
        refused(server.post(path, b"{}", timeout=60), (500, 502, 503, 504), "server")
    finally:
        aside.rename(wallet.worker)


class Mount:
    """One mount of a server."""

    def __init__(self, server, mounted):
        self.server, self.mounted, self.name = server, mounted, server.name
        self.workers = server.workers
        self.port = server.port if mounted == "wallet" else server.platform_port
        self.prefix = server.prefix if mounted == "wallet" else ""

    def post(self, path, body, timeout=20.0):
        head = (f"POST {self.prefix}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        return cb.raw_request(self.port, head.encode() + body, timeout=timeout)


def cases_of(wallet, kind):
    """Starts the server with its first case and stops it with its last."""
    running = {}

    def start():
        running["server"] = kind(wallet, prefix="/pcw/v1")

    def mount(mounted):
        return Mount(running["server"], mounted)

    def stop():
        running.pop("server").stop()

    starts, stops = f"{kind.name}: starts", f"{kind.name}: stops"
    yield starts, needs(start, stops)
    for mounted in ("wallet", "platform"):
        yield (f"{kind.name}, {mounted}: a body too large",
               needs(lambda mounted=mounted: too_large(mount(mounted)), starts, stops))
    for mounted in ("wallet", "platform"):
        yield (f"{kind.name}, {mounted}: no worker",
               needs(lambda mounted=mounted: no_worker(mount(mounted), wallet), starts, stops))
    yield stops, needs(stop, starts)


def main():
    with cb.Instance("server-errors") as wallet:
        return cb.run_cases(list(itertools.chain.from_iterable(
            cases_of(wallet, kind) for kind in cb.SERVERS)), seconds=90)


if __name__ == "__main__":
    sys.exit(main())
