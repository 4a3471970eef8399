"""Sends single frames to the ledger's sockets (src/link/frame.h), for tests that no client of
ours can make.

The table of commands is read from src/link/commands.def, so that new commands are also tested."""
import collections
import re
import socket

from cb_codec import ANSWER, GREETING, LENGTH_SIZE, MAGIC, REQUEST, pack
from cb_process import SRCDIR

FRAME_MAX = 256 * 1024
DONE, BUSY, FORBIDDEN, FAULT = range(4)  # enum frame_outcome
TRANSFER_IN_KIND, TRANSFER_OUT_KIND = 0, 1  # enum entry_kind

Command = collections.namedtuple("Command", "number name socket access")
Frame = collections.namedtuple("Frame", "command outcome tag generation payload")


def commands_read():
    text = (SRCDIR / "src" / "link" / "commands.def").read_text()
    rows = re.findall(r"^COMMAND\(\w+, (\w+), (\w+), (\w+), \w+\)", text, re.MULTILINE)
    return {name: Command(number, name, where, access)
            for number, (name, where, access) in enumerate(rows)}


COMMANDS = commands_read()


def balance_payload(casino_id, user_id):
    return pack("balance", casino_id=casino_id, user_id=user_id)


def transfer_payload(casino_id, kind, key, user_id, amount):
    """Packs a transfer. @amount is in ten-thousandths of a credit."""
    return pack("transfer", casino_id=casino_id, kind=kind, request_transaction_id=key, user_id=user_id,
                amount=amount)


def request(command, payload=b"", tag=1, request_id=""):
    number = COMMANDS[command].number if isinstance(command, str) else command
    body = request_id.encode() + payload
    return REQUEST.pack(REQUEST.size - LENGTH_SIZE + len(body), number, len(request_id), tag) + body


class Closed(Exception):
    """The peer closed the connection."""


class Link:
    """One connection to edge.sock or admin.sock."""

    def __init__(self, path, timeout=30.0, greeted=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.protocol = self.generation = None
        if greeted:
            self.greet()

    def greet(self):
        magic, self.protocol, self.generation = GREETING.unpack(self.receive(GREETING.size))
        if magic != MAGIC:
            raise AssertionError(f"a greeting that begins with {magic!r}")

    def receive(self, size):
        data = b""
        while len(data) < size:
            try:
                piece = self.socket.recv(size - len(data))
            except ConnectionResetError as error:
                raise Closed() from error
            if not piece:
                raise Closed()
            data += piece
        return data

    def send(self, data):
        self.socket.sendall(data)

    def frame(self):
        """Returns the next answer."""
        length, command, outcome, tag, generation = ANSWER.unpack(self.receive(ANSWER.size))
        if length > FRAME_MAX:
            raise AssertionError(f"an answer of {length} bytes")
        payload = self.receive(length + LENGTH_SIZE - ANSWER.size)
        return Frame(command, outcome, tag, generation, payload)

    def call(self, command, payload=b"", tag=1, request_id=""):
        self.send(request(command, payload, tag, request_id))
        return self.frame()

    def ended(self):
        """Waits until the peer closes the connection; drops the data that it still sends."""
        try:
            while self.receive(1):
                pass
        except Closed:
            return True
        except TimeoutError:
            return False

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
