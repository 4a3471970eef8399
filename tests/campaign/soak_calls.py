"""The calls of soak.py: one process a caller, which knows what every answer has to be."""
import json
import os
import random
import socket
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cb import BALANCE, STAT, TRANSFER_IN, TRANSFER_OUT, check, equal, sign  # noqa: E402
from cb_platform import BETS, RESULTS  # noqa: E402

BANK, CASINO, CLIENT = "bank", "casino", "slots"
TIMEOUT_S = 30.0
BUSY_TRIES = 200
# What is called, by how often in a hundred.
KINDS = (("move", 45), ("look", 20), ("stat", 8), ("again", 10), ("refused", 12), ("round", 4),
         ("scrape", 1))


class Ended(Exception):
    """The server ended the connection."""


class Line:
    """A kept connection. Each call may be made again, so one to which not a byte was answered is:
    a server may end a kept connection between two. @ended counts that."""

    def __init__(self, port, ended):
        self.port = port
        self.ended = ended
        self.socket = None

    def call(self, *words):
        try:
            return self.once(*words)
        except (Ended, ConnectionResetError, BrokenPipeError):
            self.ended.value += 1
            self.socket.close()
            self.socket = None
            return self.once(*words)

    def once(self, method, path, headers, body):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}"
                            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.receive(data)
        head, data = data[:end].decode("latin-1").lower(), data[end + 4:]
        if "transfer-encoding: chunked" in head:
            while not data.endswith(b"0\r\n\r\n"):
                data += self.receive(head)
            data = b""  # Only /metrics is so long, and its body is not needed here.
        else:
            size = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
            while len(data) < size:
                data += self.receive(head)
        if "connection: close" in head:
            self.socket.close()
            self.socket = None
        return int(head[9:12]), "x-idempotent-replay" in head, data

    def receive(self, before):
        piece = self.socket.recv(65536)
        check(piece or not before, f"the server ended a connection in an answer, after {before}")
        if not piece:
            raise Ended()
        return piece


class Caller:
    """Makes @count calls."""

    def __init__(self, number, plan):
        self.number = number
        self.plan = plan
        self.random = random.Random(f"{plan.seed}/{plan.run}/{number}")
        self.wallet = Line(plan.port, plan.ended[number])
        self.platform = Line(plan.platform_port, plan.ended[number])
        self.user = f"user-{number}"
        self.unique = 0
        self.balance = 0
        self.last = None
        self.done = plan.done[number]

    def run(self, count):
        try:
            self.balance = self.look()
            names = [name for name, _ in KINDS]
            weights = [weight for _, weight in KINDS]
            while self.done.value < count:
                getattr(self, self.random.choices(names, weights)[0])()
        except Exception:  # The process that started this one reports it.
            self.plan.failures.put(f"caller {self.number}: {traceback.format_exc()}")

    def key(self):
        self.unique += 1
        return f"{self.plan.run}-{self.number}-{self.unique}"

    def bank(self, path, body, *, method="POST", casino=BANK, signature=None):
        data = json.dumps(body).encode()
        signature = signature or sign(self.plan.keys[BANK], data)
        self.done.value += 1
        return self.wallet.call(method, path, f"x-casino-id: {casino}\r\n"
                                f"x-casino-signature: {signature}\r\n", data)

    def slots(self, path, body):
        """Until the dealer is not too busy, and what others do to the round is over."""
        data = json.dumps(body).encode()
        for _ in range(BUSY_TRIES):
            self.done.value += 1
            status, _, answer = self.platform.call(
                "POST", path, f"x-client-id: {CLIENT}\r\n"
                f"x-client-signature: {sign(self.plan.keys[CLIENT], data)}\r\n", data)
            if status != 503:
                break
            time.sleep(0.01)
        equal(status, 200, f"{path} {body}: {answer}")

    def read(self, path, **more):
        stamp = int((time.time() + self.plan.wall.ahead_s) * 1000)
        status, _, answer = self.bank(path, {"user_id": self.user, "request_timestamp": stamp,
                                             **more})
        equal(status, 200, f"{path}: {answer}")
        return json.loads(answer)

    # -- kinds

    def look(self):
        balance = round(self.read(BALANCE)["balance"])
        check(self.last is None or balance == self.balance, f"balance {balance}: {self.balance}")
        return balance

    def stat(self):
        equal(len(self.read(STAT, include_data=["bet_summary"])["bet_summary"]), 30, "days")

    def move(self):
        incoming = self.balance < 100 or self.random.random() < 0.5
        amount = self.random.randint(1, 100)
        body = {"request_transaction_id": self.key(), "user_id": self.user, "amount": amount}
        path = TRANSFER_IN if incoming else TRANSFER_OUT
        status, _, answer = self.bank(path, body)
        equal(status, 200, f"{path} {body}: {answer}")
        self.balance += amount if incoming else -amount
        equal(round(json.loads(answer)["current_balance"]), self.balance, f"{path} {body}")
        self.last = (path, body, answer)

    def again(self):
        if self.last:
            path, body, answer = self.last
            equal(self.bank(path, body), (200, True, answer), f"{path} {body}, again")

    def refused(self):
        body = {"request_transaction_id": self.key(), "user_id": self.user, "amount": 1}
        words, expected = self.random.choice((
            ({"signature": "0" * 64}, 401), ({"casino": "nobody"}, 401),
            ({"body": {**body, "user_id": "nobody"}}, 404), ({"body": {**body, "amount": 0}}, 400),
            ({"body": {**body, "amount": 10 ** 9}}, 402), ({"body": {"amount": 1}}, 400),
            ({"method": "PUT"}, 405)))
        words = {"body": body, **words}
        status, _, answer = self.bank(TRANSFER_OUT, **words)
        equal(status, expected, f"{words}: {answer}")

    def round(self):
        key = self.key()
        game = {"casino_id": CASINO, "user_id": self.user, "game_id": f"game-{key}",
                "remark": "soak"}
        self.slots(BETS, {"request_transaction_id": f"bet-{key}", "bet_amount": 2,
                          "user_bet": {"red": 2}, **game})
        self.slots(RESULTS, {"request_transaction_id": f"result-{key}", "payout_amount": 2,
                             "result": "win", **game})

    def scrape(self):
        self.done.value += 1
        equal(self.platform.call("GET", "/metrics", "", b"")[0], 200, "/metrics")
