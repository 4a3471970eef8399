"""Transfers at a steady rate over the ledger's own socket, in a process of its own.

Every acknowledged transfer is remembered with the time and the answer. prove() sends each again,
with the same bytes. A transfer that the ledger has is answered as a replay, with the same answer. A
transfer that it lost would be made anew, which prove() notices.
"""
import multiprocessing
import os
import selectors
import signal
import socket
import time

from cb_codec import ANSWER, GREETING, LENGTH_SIZE, after_verdict, verdict
from cb_link import DONE, TRANSFER_IN_KIND, Link, request, transfer_payload
from cb import check

CONNECTIONS = 8
TICK_S = 0.005
WINDOW = 256  # frames on their way, when transfers are asked for again
UNITS = 10000


def key_of(name, number):
    return f"{name}-{number}"


def payload_of(casino_id, users, name, number):
    return transfer_payload(casino_id, TRANSFER_IN_KIND, key_of(name, number),
                            users[number % len(users)], UNITS)


class Stream:
    """One connection, without waiting."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.data = b""
        while len(self.data) < GREETING.size:
            self.data += self.socket.recv(GREETING.size - len(self.data))
        self.data = b""

    def answers(self):
        """What has arrived, as (tag, outcome, payload). None: the connection is broken."""
        try:
            piece = self.socket.recv(256 * 1024)
        except OSError:
            return None
        if not piece:
            return None
        self.data += piece
        found, at = [], 0
        while len(self.data) - at >= ANSWER.size:
            length, _, outcome, tag, _ = ANSWER.unpack_from(self.data, at)
            end = at + LENGTH_SIZE + length
            if len(self.data) < end:
                break
            found.append((tag, outcome, self.data[at + ANSWER.size:end]))
            at = end
        self.data = self.data[at:]
        return found


def pump(path, casino_id, users, name, rate, stop, result):
    """In the child: until @stop is set or the ledger is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    streams = [Stream(path) for _ in range(CONNECTIONS)]
    selector = selectors.DefaultSelector()
    for stream in streams:
        selector.register(stream.socket, selectors.EVENT_READ, stream)
    acknowledged, sent = [], 0
    begun = time.monotonic()
    broken = False
    while not stop.is_set() and not broken:
        due = int((time.monotonic() - begun) * rate)
        # After a stall the rate is what the ledger takes: no more than these calls are under way.
        due = min(due, len(acknowledged) + 2000)
        parts = [[] for _ in streams]
        while sent < due:
            parts[sent % CONNECTIONS].append(
                request("transfer", payload_of(casino_id, users, name, sent), tag=sent))
            sent += 1
        try:
            for stream, part in zip(streams, parts):
                if part:
                    stream.socket.sendall(b"".join(part))
        except OSError:
            break
        for key, _ in selector.select(TICK_S):
            answers = key.data.answers()
            if answers is None:
                broken = True
                break
            now = time.time()
            acknowledged += [(tag, now, outcome, payload) for tag, outcome, payload in answers]
    seconds = time.monotonic() - begun
    result.send((acknowledged, sent, seconds))
    result.close()
    os._exit(0)


class Pump:
    def __init__(self, wallet, casino_id, users, name, rate):
        self.wallet = wallet
        self.casino_id = casino_id
        self.users = users
        self.name = name
        self.acknowledged = None
        self.stop_event = multiprocessing.Event()
        self.receive, send = multiprocessing.Pipe(False)
        self.process = multiprocessing.Process(
            target=pump, daemon=True, args=(wallet.sockets / "edge.sock", casino_id, users, name,
                                            rate, self.stop_event, send))
        self.process.start()
        send.close()

    def stop(self):
        """Ends the pump, unless the ledger's death ended it, and returns its answers."""
        self.stop_event.set()
        self.acknowledged, sent, self.seconds = self.receive.recv()
        self.process.join(30)
        for number, _, outcome, payload in self.acknowledged:
            told = verdict(payload) if outcome == DONE else None
            check(told and not told.refusal and not told.replay,
                  f"transfer {key_of(self.name, number)}: outcome {outcome}, {payload!r}")
        check(self.acknowledged, f"none of {sent} transfers was acknowledged")

    def rate(self):
        return len(self.acknowledged) / self.seconds

    def stall_ms(self, begin_ms, end_ms):
        """The longest time without an acknowledgement, in that time."""
        times = [row[1] * 1000 for row in self.acknowledged if begin_ms <= row[1] * 1000 <= end_ms]
        return max((b - a for a, b in zip(times, times[1:])), default=end_ms - begin_ms)

    def before(self, time_ms):
        """What was acknowledged before @time_ms."""
        return [row for row in self.acknowledged if row[1] * 1000 < time_ms]

    def prove(self, rows):
        """Each of @rows is there, with the same answer."""
        lost = [self.missing(part) for part in
                (rows[at:at + WINDOW] for at in range(0, len(rows), WINDOW))]
        lost = [key for part in lost for key in part]
        check(not lost, f"{len(lost)} of {len(rows)} acknowledged transfers are lost: {lost[:5]}")

    def missing(self, rows):
        with Link(self.wallet.sockets / "edge.sock") as link:
            link.send(b"".join(
                request("transfer", payload_of(self.casino_id, self.users, self.name, row[0]),
                        tag=row[0]) for row in rows))
            lost = []
            for number, _, _, told in rows:
                frame = link.frame()
                check(frame.tag == number and frame.outcome == DONE, f"an answer: {frame}")
                now = verdict(frame.payload)
                if not now.replay:
                    lost.append(key_of(self.name, number))
                else:
                    check(not now.refusal and after_verdict(frame.payload) == after_verdict(told),
                          f"{key_of(self.name, number)}: {frame.payload!r} and not {told!r}")
            return lost
