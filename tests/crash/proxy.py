#!/usr/bin/python3
"""A network that fails, between the service and a dealer's server.

    proxy.py --address ADDRESS --listen PORT --target PORT --control PORT --seed SEED
             --timeout-ms N --refund-delay-ms N

Passes each request to ADDRESS:PORT on to 127.0.0.1:TARGET, unless a fault strikes, and keeps a book of what
arrived: how often each webhook-id, and with what bodies. Which fault strikes the n-th arrival of a
webhook-id is drawn from the seed. --timeout-ms is how long the service waits for an answer,
--refund-delay-ms how long until it refunds a bet: what is late is late by these.

    fault     percent  what happens
    hang           15  nothing is passed on, no answer comes
    swallow        15  passed on, its answer is kept
    reset          20  before it is passed on, in the answer, or after it
    error          10  500, passed on or not
    garbage         5  an unreadable 200, passed on or not
    late            5  passed on at once and answered after the timeout; or passed on after it,
                       perhaps after the refund

Now and then the listener is closed for a moment, so that new connections are refused. On the
control port each line is a JSON object and is answered by one: {"faults": BOOL} turns faults on or
off; {"report": true} is answered by the book.
"""
import argparse
import asyncio
import collections
import hashlib
import json
import random
import signal
import socket
import struct
import sys

FAULTS = (("hang", 15), ("swallow", 15), ("reset", 20), ("error", 10), ("garbage", 5), ("late", 5))
GARBAGE = (b"OK", b"<html><body>It works!</body></html>", b'{"user_id":"', b"[]", b"\0\xff\xfe")
HEAD_MAX = 64 * 1024
TARGET_TIMEOUT_S = 20.0
LATE_ANSWER_S = 0.15    # behind the timeout
SHUT_EVERY_S = (1.0, 3.0)
SHUT_S = 0.05


class Cut(Exception):
    """The connection is to be ended by a reset, after the bytes @data."""

    def __init__(self, data=b""):
        super().__init__()
        self.data = data


class Target:
    """The dealer's server: one connection for each request."""

    def __init__(self, port):
        self.port = port
        self.pending = 0

    async def ask(self, head, body):
        """The answer's bytes; b"": there was none."""
        self.pending += 1
        try:
            return await asyncio.wait_for(self.exchange(head, body), TARGET_TIMEOUT_S)
        except (OSError, asyncio.TimeoutError):
            return b""
        finally:
            self.pending -= 1

    async def exchange(self, head, body):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            lines = [line for line in head.split(b"\r\n")
                     if line and not line.lower().startswith(b"connection:")]
            writer.write(b"\r\n".join([*lines, b"Connection: close", b"", body]))
            data = await reader.read(-1)
        finally:
            writer.close()
        # The service keeps its connection to us.
        return data.replace(b"\r\nConnection: close\r\n", b"\r\n", 1)

    def ask_later(self, delay_s, head, body):
        """Forwards the call after its caller has stopped waiting."""
        self.pending += 1

        async def wait():
            await asyncio.sleep(delay_s)
            self.pending -= 1
            await self.ask(head, body)
        return asyncio.ensure_future(wait())


class Book:
    """What arrived. A request counts with the end of its headers."""

    def __init__(self):
        self.counts = collections.Counter()
        self.bodies = collections.defaultdict(set)
        self.struck = collections.Counter()

    def render(self, pending):
        return {"pending": pending, "struck": dict(self.struck),
                "arrivals": {name: {"count": count, "bodies": sorted(self.bodies[name])}
                             for name, count in self.counts.items()}}


def header(head, name):
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip().decode("latin-1")
    return None


def answer(status, body):
    return (f"HTTP/1.1 {status} Answered\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Proxy:
    def __init__(self, options):
        self.options = options
        self.target = Target(options.target)
        self.book = Book()
        self.faults = False
        self.late = set()   # tasks, so that none is collected while it waits
        self.server = None

    def draw(self, name, count):
        """The fault of this arrival, and the chance that decides its kind."""
        chance = random.Random(f"{self.options.seed}/{name}/{count}")
        point = chance.uniform(0, 100)
        for fault, percent in FAULTS:
            point -= percent
            if point < 0:
                return fault, chance
        return "none", chance

    async def serve(self, reader, writer):
        try:
            while await self.request(reader, writer):
                pass
        except Cut as cut:
            if cut.data:
                writer.write(cut.data)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                       struct.pack("ii", 1, 0))
            writer.transport.abort()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def request(self, reader, writer):
        """One request. False: the connection is to be closed."""
        head = await reader.readuntil(b"\r\n\r\n")
        name = header(head, b"webhook-id") or "-"
        self.book.counts[name] += 1
        fault, chance = "none", None
        if self.faults:
            fault, chance = self.draw(name, self.book.counts[name])
        self.book.struck[fault] += 1
        body = await reader.readexactly(int(header(head, b"content-length") or 0))
        self.book.bodies[name].add(hashlib.sha256(body).hexdigest())
        data = await getattr(self, f"fault_{fault}")(head, body, reader, chance)
        if not data:
            return False
        writer.write(data)
        await writer.drain()
        return True

    # -- the faults: each returns what is answered; b"" closes the connection

    async def fault_none(self, head, body, _reader, _chance):
        return await self.target.ask(head, body)

    async def fault_hang(self, _head, _body, reader, _chance):
        await self.silence(reader)
        return b""

    async def fault_swallow(self, head, body, reader, _chance):
        await self.target.ask(head, body)
        await self.silence(reader)
        return b""

    async def fault_reset(self, head, body, _reader, chance):
        kind = chance.choice(("before", "in", "after"))
        if kind == "before":
            raise Cut()
        data = await self.target.ask(head, body)
        if kind == "in":
            data = data[:chance.randrange(len(data))] if data else b""
        raise Cut(data)

    async def fault_error(self, head, body, _reader, chance):
        if chance.random() < 0.5:
            await self.target.ask(head, body)
        return answer(500, b"<html>oops</html>")

    async def fault_garbage(self, head, body, _reader, chance):
        if chance.random() < 0.5:
            await self.target.ask(head, body)
        return answer(200, chance.choice(GARBAGE))

    async def fault_late(self, head, body, reader, chance):
        timeout_s = self.options.timeout_ms / 1000
        if chance.random() < 0.5:
            data, _ = await asyncio.gather(self.target.ask(head, body),
                                           asyncio.sleep(timeout_s + LATE_ANSWER_S))
            return data
        # As likely before the refund as after it.
        delay_s = timeout_s + chance.uniform(0.05, 2 * self.options.refund_delay_ms / 1000)
        task = self.target.ask_later(delay_s, head, body)
        self.late.add(task)
        task.add_done_callback(self.late.discard)
        await self.silence(reader)
        return b""

    async def silence(self, reader):
        """Until the other side goes away."""
        while await reader.read(4096):
            pass

    # -- the listener, and the control port

    async def listen(self):
        self.server = await asyncio.start_server(self.serve_cutting, self.options.address,
                                                 self.options.listen, limit=HEAD_MAX, backlog=512)

    async def serve_cutting(self, reader, writer):
        """As serve(), for a task whose end no other task waits for."""
        try:
            await self.serve(reader, writer)
        except Exception as error:  # Seen in the log: a proxy that fails is no fault of a dealer.
            print(f"proxy: {error!r}", file=sys.stderr, flush=True)

    async def door(self):
        chance = random.Random(f"{self.options.seed}/door")
        while True:
            await asyncio.sleep(chance.uniform(*SHUT_EVERY_S))
            if not self.faults:
                continue
            self.server.close()
            self.book.struck["door"] += 1
            await asyncio.sleep(SHUT_S)
            await self.listen()

    async def control(self, reader, writer):
        try:
            while line := await reader.readline():
                wanted = json.loads(line)
                self.faults = wanted.get("faults", self.faults)
                told = self.book.render(self.target.pending) if "report" in wanted else {}
                writer.write(json.dumps(told).encode() + b"\n")
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def run(self):
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        await self.listen()
        await asyncio.start_server(self.control, "127.0.0.1", self.options.control)
        door = asyncio.ensure_future(self.door())
        await ended.wait()
        door.cancel()


def main():
    parser = argparse.ArgumentParser()
    for name in ("listen", "target", "control", "timeout-ms", "refund-delay-ms"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--seed", required=True)
    asyncio.run(Proxy(parser.parse_args()).run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
