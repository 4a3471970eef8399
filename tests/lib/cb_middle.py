"""A fast client of the ledger, and a proxy between creditbridgectl and the ledger that changes
frames."""
import itertools
import os
import pathlib
import re
import socket

from cb_codec import ANSWER, GREETING, LENGTH, LENGTH_SIZE, REQUEST, command, pack, result, unpack, verdict
from cb_link import (COMMANDS, DONE, FRAME_MAX, TRANSFER_IN_KIND, TRANSFER_OUT_KIND, Closed, Link,
                     transfer_payload)
from cb_process import SRCDIR, serve_each

NUMBERS = itertools.count(1)
CONFIG_DEADLINE = "ledger_deadline_ms = 500\n"


def records_read():
    table = (SRCDIR / "src" / "domain" / "records.def").read_text()
    return {name: i for i, name in enumerate(re.findall(r"^RECORD(?:_\d)?\((\w+)", table, re.MULTILINE))}


RECORDS = records_read()


class Operator(Link):
    """Moves credit and adds players much faster than one process for each could."""

    def verdict(self, name, payload):
        """Returns the number of the refusal; 0: done."""
        frame = self.call(name, payload)
        if frame.outcome != DONE:
            raise AssertionError(f"{name}: outcome {frame.outcome}")
        return verdict(frame.payload).refusal

    def transfer(self, casino_id, user_id, units, reference):
        """Transfers @units (1/10000 credit) in, or out if negative."""
        kind = TRANSFER_OUT_KIND if units < 0 else TRANSFER_IN_KIND
        return self.verdict("transfer", transfer_payload(casino_id, kind, reference, user_id,
                                                         abs(units)))

    def player_add(self, casino_id, user_id, player_id, operation_id):
        return self.verdict("player_put", pack(
            "player_put", casino_id=casino_id, user_id=user_id, player_id=player_id, operator={
                "uid": os.getuid(), "login_uid": 0xffffffff, "operation_id": operation_id}))


class Middle:
    """Listens on admin.sock, or on @name, in a separate directory and forwards everything to the real one.

    change(command, record, answer) returns the frame to forward, or None, which closes the
    connection. @command is the command's name, @record the number of the kind of row in a LIST.
    greeting(bytes) may change the ledger's greeting."""

    def __init__(self, instance, change, greeting=lambda data: data, name="admin.sock"):
        self.target = instance.sockets / name
        self.dir = pathlib.Path(instance.dir) / f"middle-{next(NUMBERS)}"
        self.dir.mkdir()
        self.change = change
        self.greeting = greeting
        self.config = self.dir / "creditbridge.conf"
        self.config.write_text(instance.config.read_text().replace(
            str(instance.sockets), str(self.dir)) + CONFIG_DEADLINE)
        self.names = {command.number: name for name, command in COMMANDS.items()}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.dir / name))
        self.listener.listen(16)
        serve_each(self.listener, self.serve)

    @staticmethod
    def frame(link):
        """Reads a whole frame without decoding it."""
        head = link.receive(LENGTH_SIZE)
        size, = LENGTH.unpack(head)
        if size > FRAME_MAX:
            raise AssertionError(f"a frame of {size} bytes")
        return head + link.receive(size)

    def serve(self, client):
        try:
            with client, Link(self.target, greeted=False) as ledger:
                near = Link.__new__(Link)
                near.socket = client
                near.send(self.greeting(ledger.receive(GREETING.size)))
                while True:
                    if not self.relay(near, ledger):
                        return
        except (Closed, OSError):
            return

    def relay(self, near, ledger):
        asked = self.frame(near)
        name = self.names[REQUEST.unpack(asked[:REQUEST.size])[1]]
        record = command(name).read(asked, REQUEST.size)[0].record if name == "list" else None
        ledger.send(asked)
        answer = self.change(name, record, self.frame(ledger))
        if answer is None:
            return False
        near.send(answer)
        return True

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def with_outcome(answer, outcome):
    """Returns the frame @answer with @outcome in place of its own, and without its payload."""
    _, number, _, tag, generation = ANSWER.unpack(answer[:ANSWER.size])
    return ANSWER.pack(ANSWER.size - LENGTH_SIZE, number, outcome, tag, generation)


def unpacked(name, answer):
    """Returns the members of the frame @answer to the command @name."""
    return unpack(name, answer[ANSWER.size:])


def with_members(name, answer, members):
    """Returns the frame @answer to the command @name with other @members."""
    payload = result(name).pack(members)
    _, *head = ANSWER.unpack(answer[:ANSWER.size])
    return ANSWER.pack(ANSWER.size - LENGTH_SIZE + len(payload), *head) + payload
