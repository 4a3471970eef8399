"""Rows as the ledger's LIST returns them (src/link/admin_commands.h). They are changed or
removed before creditbridgectl receives them."""
import struct

from cb_link import ANSWER, DONE, LENGTH_SIZE, Link
from cb_middle import RECORDS
from cb_worker import Reader, octets


def key_text(value):
    """Encodes a string as part of a key (src/base/pack.h)."""
    return value.encode() + b"\0"


def rows_of(sockets, record, key=b""):
    """Returns the packed rows of @record whose key begins with the bytes @key."""
    with Link(sockets / "admin.sock") as link:
        frame = link.call("list", struct.pack(">BBI", RECORDS[record], 0, 0) + octets(key)
                          + octets(b""))
    assert frame.outcome == DONE
    return Page(ANSWER.pack(0, 0, 0, 0, 0) + frame.payload).rows


class Page:
    """A parsed answer to LIST that can be encoded again."""

    def __init__(self, answer):
        self.head = answer[:ANSWER.size]
        reader = Reader(answer[ANSWER.size:])
        size = len(reader.data)
        reader.verdict()
        self.verdict = answer[ANSWER.size:ANSWER.size + size - len(reader.data)]
        self.as_of, self.more, self.count = reader.take(">QBI")
        self.rows = reader.take(f"{reader.take('>I')}s")
        self.cursor = reader.take(f"{reader.take('>I')}s")

    def replace(self, old, new):
        """Replaces the row @old by @new, or removes it (b"")."""
        if old not in self.rows:
            return False
        self.rows = self.rows.replace(old, new, 1)
        self.count -= not new
        return True

    def answer(self):
        payload = (self.verdict + struct.pack(">QBI", self.as_of, self.more, self.count)
                   + octets(self.rows) + octets(self.cursor))
        length = struct.pack(">I", ANSWER.size - LENGTH_SIZE + len(payload))
        return length + self.head[LENGTH_SIZE:] + payload


class Lie:
    """For Middle: falsifies rows. @changes: (record, row, replacement or b"")."""

    def __init__(self, *changes, times=None):
        self.changes = [(RECORDS[record], old, new) for record, old, new in changes]
        self.times = times  # number of falsified answers; None: all
        self.told = 0

    def __call__(self, _command, record, answer):
        changes = [(old, new) for kind, old, new in self.changes if kind == record]
        if not changes or self.told == self.times:
            return answer
        page = Page(answer)
        if not any([page.replace(old, new) for old, new in changes]):
            return answer
        self.told += 1
        return page.answer()
