"""Callers that overload a server: with many calls at once (Load), or slowly (Slow)."""
import asyncio
import collections
import json
import multiprocessing
import socket
import threading
import time

from cb import sign
from cb_http import request_bytes
from cb_process import HarnessError

SLOW_STEP_S = 0.5
GRACE_S = 25.0  # of calls that were sent before the end


class Answers:
    """The answers that a crowd got: their times in seconds, by status and error id."""

    def __init__(self):
        self.times = collections.defaultdict(list)
        self.broken = collections.Counter()  # by what became of the connection
        self.hung_up = 0  # kept connections that the server closed: such a call is sent anew

    def of(self, *whats):
        return [took for what in whats for took in self.times.get(what, ())]

    def done(self):
        return self.of("200")

    def refused(self):
        return [took for what, times in self.times.items() if what != "200" for took in times]

    def __str__(self):
        return ", ".join([f"{len(times)} {what}" for what, times in sorted(self.times.items())]
                         + [f"{self.hung_up} hung up"] * bool(self.hung_up)
                         + [f"{count} broken: {what}" for what, count in self.broken.items()])


def error_id(body):
    """The id of an error (contract, "Error ids"). A server's own page has none: no campaign counts it as an answer."""
    try:
        return json.loads(body)["id"]
    except (ValueError, KeyError, TypeError):
        return f"{body[:200]!r}"


class Call(asyncio.Protocol):
    """A connection; it calls again as soon as it was answered, if @again."""

    def __init__(self, load, again):
        self.load, self.again = load, again
        self.data, self.sent, self.transport, self.kept = b"", None, None, False

    def connection_made(self, transport):
        self.transport = transport
        self.send()

    def send(self):
        self.data, self.sent = b"", time.monotonic()
        self.transport.write(self.load.request())

    def data_received(self, data):
        self.data += data
        head, end, body = self.data.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.lower().split(b"content-length:")[1].split()[0]):
            return
        status, what = head.split(None, 2)[1].decode(), ""
        if status != "200":
            what = f" {error_id(body)}"
        now, sent = time.monotonic(), self.sent
        self.load.answers.times[status + what].append(now - sent)
        self.sent, self.kept = None, True
        if not self.again or self.load.over:
            self.transport.close()
        elif b"\r\nconnection: close" in head.lower():
            self.transport.close()
        elif self.load.each_s > now - sent:
            asyncio.get_running_loop().call_later(self.load.each_s - (now - sent), self.go_on)
        else:
            self.send()

    def go_on(self):
        if self.load.over:
            self.transport.close()
        elif not self.transport.is_closing():
            self.send()

    def connection_lost(self, error):
        self.load.lost(self, error)


class Load:
    """Signed calls of one caller to one path, for @seconds: on @connections kept busy, or at @rate
    calls a second whatever becomes of them. From @address, an address of loopback."""

    def __init__(self, port, path, who, body, *, connections=0, rate=0.0, seconds=5.0,
                 address="127.0.0.1"):
        self.address = address
        self.each_s = 0.0  # a connection calls no oftener
        self.port, self.path, self.body = port, path, body
        self.header, self.name, self.key = who
        self.connections, self.rate, self.seconds = connections, rate, seconds
        self.answers, self.over, self.number, self.calls = Answers(), False, 0, set()

    def request(self):
        self.number += 1
        data = json.dumps(self.body(self.number)).encode()
        return request_bytes("POST", self.path, [
            ("Host", "127.0.0.1"), ("Content-Type", "application/json"),
            (f"x-{self.header}-id", self.name),
            (f"x-{self.header}-signature", sign(self.key, data))], data, False)

    def lost(self, call, error):
        self.calls.discard(call)
        if call.sent is not None and call.kept and not call.data:
            self.answers.hung_up += 1
        elif call.sent is not None:
            when = "in its answer" if call.data else f"{time.monotonic() - call.sent:.0f} s after it"
            self.answers.broken[f"{error!r} {when}"] += 1
        if call.again and not self.over:
            self.open(True)

    def open(self, again):
        call = Call(self, again)
        self.calls.add(call)
        task = asyncio.get_running_loop().create_task(asyncio.get_running_loop().create_connection(
            lambda: call, "127.0.0.1", self.port, local_addr=(self.address, 0)))
        task.add_done_callback(lambda done: done.exception() and self.unconnected(call, done))

    def unconnected(self, call, done):
        self.calls.discard(call)
        self.answers.broken[f"not connected: {done.exception()!r}"] += 1

    async def run(self):
        end = time.monotonic() + self.seconds
        for _ in range(self.connections):
            self.open(True)
        begun, made = time.monotonic(), 0
        while time.monotonic() < end:
            await asyncio.sleep(0.01)
            while made < (time.monotonic() - begun) * self.rate:
                self.open(False)
                made += 1
        self.over = True
        late = time.monotonic() + GRACE_S
        while self.calls and time.monotonic() < late:
            await asyncio.sleep(0.01)
        if self.calls:
            self.answers.broken[f"not answered in {GRACE_S} s"] += len(self.calls)

    def start(self):
        """Runs it in a process of its own; finish() returns its answers."""
        def main(pipe):
            asyncio.run(self.run())
            pipe.send((dict(self.answers.times), self.answers.broken, self.answers.hung_up))
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=main, args=(theirs,),
                                                                   daemon=True)
        self.process.start()
        theirs.close()
        return self

    def finish(self):
        try:
            (self.answers.times, self.answers.broken,
             self.answers.hung_up) = self.pipe.recv()
        except EOFError as error:
            raise HarnessError("the load ended without its results") from error
        finally:
            self.process.join(30)
        return self.answers


class Strangers(Load):
    """Calls of @caller_id, which exists or not, with a body of @size bytes and a signature of nothing:
    at most @most a second, on connections that wait for their answers."""

    def __init__(self, port, path, caller_id, size, most, **words):
        super().__init__(port, path, ("casino", caller_id, ""), None, **words)
        self.each_s = self.connections / most
        data = json.dumps({"user_id": "x" * (size - 15)}).encode()
        self.bytes = request_bytes("POST", path, [
            ("Host", "127.0.0.1"), ("Content-Type", "application/json"), ("x-casino-id", caller_id),
            ("x-casino-signature", sign("", b""))], data, False)

    def request(self):
        return self.bytes


class Slow:
    """@count connections on which @first is sent, and then @more piece by piece, each half second,
    as long as they last. Answers are not read."""

    def __init__(self, port, count, first=b"", more=b""):
        self.port, self.count, self.first, self.more = port, count, first, more
        self.connections, self.cut, self.over = [], 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def connect(self):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self.port))
        return [connection, 0]

    def step(self, place):
        connection, sent = self.connections[place]
        try:
            if not sent:
                self.connections[place][1] = 1
                if self.first:
                    connection.send(self.first)
            elif self.more:
                connection.send(self.more)
        except BlockingIOError:
            pass  # not connected yet, or it does not read either
        except OSError:
            self.cut += 1
            connection.close()
            self.connections[place] = self.connect()

    def run(self):
        self.connections = [self.connect() for _ in range(self.count)]
        while not self.over.wait(SLOW_STEP_S):
            for place in range(self.count):
                self.step(place)
        for connection, _ in self.connections:
            connection.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(30)
