#!/usr/bin/python3
"""The campaign `input`: generated bad requests, each with its exact status and error id (bad_requests.py),
through real servers. None is answered 5xx, and afterwards everything that the ledger holds is as it was.

  input.py [--requests N] [--seed N]
"""
import argparse
import http.client
import json
import os
import random
import socket
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]
import cb  # noqa: E402
from bad_requests import Maker  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_http import request_bytes  # noqa: E402
from cb_platform import client_add  # noqa: E402

CASINO, USER = "input", "alice"
WRONG_MAX = 10


class Caller:
    """Connections to both mounts of a server, kept while it keeps them."""

    def __init__(self, server):
        self.ports = {"wallet": server.port, "platform": server.platform_port}
        self.kept = {}

    def __call__(self, request):
        headers = [("Host", "127.0.0.1"), ("Content-Type", "application/json"), *request.headers]
        data = request_bytes(request.method, request.path, headers, request.body, False)
        for _ in range(2):  # a kept connection may have been closed meanwhile
            connection = self.kept.pop(request.mount, None)
            fresh = connection is None
            if fresh:
                connection = socket.create_connection(("127.0.0.1", self.ports[request.mount]), 30)
            try:
                return self.exchange(request, connection, data)
            except (OSError, http.client.HTTPException):
                connection.close()
                if fresh:
                    raise
        raise AssertionError("two kept connections")

    def exchange(self, request, connection, data):
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # answered before it was read to its end
        response = http.client.HTTPResponse(connection, method=request.method)
        response.begin()
        body = response.read()
        if response.will_close:
            connection.close()
        else:
            self.kept[request.mount] = connection
        return response.status, body

    def close(self):
        for connection in self.kept.values():
            connection.close()


def holds(wallet):
    """Returns all rows of the ledger except those about operators' commands, because this export is
    one."""
    rows = [json.loads(line) for line in wallet.ctl("export").splitlines()]
    return [row for row in rows if row["record"] not in ("export", "end", "audit", "operation")
            and (row["record"], row.get("name")) != ("counter", "audit")]


def wrong_of(request, status, body):
    """What is wrong with an answer; None: nothing."""
    try:
        told = json.loads(body)
        found = (status, told["id"], told["code"])
    except (ValueError, KeyError, TypeError):
        found = (status, body[:200])
    if found == (request.status, request.id, request.status):
        return None
    return (f"{request.what}: {request.method} {request.path} {request.headers} "
            f"{request.body[:300]!r}: expected {request.status} {request.id}, got {found}")


def run(kind, requests, seed):
    with cb.Instance("input") as wallet:
        dealer = wallet.dealer_add(CASINO)
        client = client_add(wallet, "game")
        wallet.player_add(CASINO, USER)
        wallet.ctl("player", "adjust", CASINO, USER, 1000, "--reason", "start")
        with kind(wallet) as server:
            maker = Maker(random.Random(seed), {"wallet": (dealer.casino_id, dealer.key),
                                                "platform": (client.client_id, client.key)},
                          CASINO, USER, "f" * 64)
            before = holds(wallet)
            check(len(before) > 3, f"an export of {len(before)} lines")
            caller = Caller(server)
            wrong, statuses = [], {}
            for _ in range(requests):
                request = maker.make()
                status, body = caller(request)
                statuses[status] = statuses.get(status, 0) + 1
                one = wrong_of(request, status, body)
                if one:
                    wrong.append(one)
            caller.close()
            print(f"# seed {seed}: {requests} requests, {dict(sorted(statuses.items()))}, "
                  f"{len(wrong)} wrong", flush=True)
            equal(wrong[:WRONG_MAX], [], "answers")
            after = holds(wallet)
            equal([row for row in after if row not in before], [], "rows that are new")
            equal([row for row in before if row not in after], [], "rows that are gone")
            # The service is well: a good call is answered.
            answer = cb.call(server, "GET", cb.BALANCE, {
                "user_id": USER, "request_timestamp": cb.now_ms()}, dealer=dealer)
            equal((answer.status, answer.json["balance"]), (200, 1000), "a good call")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    options = parser.parse_args()
    kinds = (cb.Lighttpd, cb.ApacheFcgid)
    return cb.run_cases([
        (f"{kind.name}: bad requests", lambda kind=kind, number=number: run(
            kind, options.requests // len(kinds), options.seed + number))
        for number, kind in enumerate(kinds)], seconds=3600)


if __name__ == "__main__":
    sys.exit(main())
