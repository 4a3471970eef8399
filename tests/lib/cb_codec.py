"""Packs and unpacks the ledger's rows and commands (src/base/pack.h) by the program's own field tables.

tests/lib/tables prints the tables. Nothing else in the tests knows the layout of a row or a command.
An enum may be given by its number or its name; it is read as its number."""
import functools
import json
import struct
import subprocess

from cb_process import builddir

# Heads of frames (src/link/frame.h).
MAGIC = b"CBL1"
GREETING = struct.Struct(">4sQQ")    # magic, protocol, generation
REQUEST = struct.Struct(">IHHQ")     # length, command, length of the request's name, tag
ANSWER = struct.Struct(">IHHQQ")     # length, command, outcome, tag, generation
LENGTH = struct.Struct(">I")         # of the rest of a frame
LENGTH_SIZE = LENGTH.size

NUMBERS = {"bool": "?", "u8": "B", "u16": "H", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "enum": "B"}
PREFIXES = {"text": struct.Struct(">H"), "bytes": LENGTH}


class Row(dict):
    """The members of a row by their names, which are attributes too."""
    __getattr__ = dict.__getitem__


class Number:
    def __init__(self, field):
        self.layout = struct.Struct(">" + NUMBERS[field["type"]])
        self.names = field.get("names")
        self.default = 0

    def pack(self, value):
        if isinstance(value, str):
            value = self.names.index(value)
        return self.layout.pack(value)

    def read(self, data, at):
        return self.layout.unpack_from(data, at)[0], at + self.layout.size

    key = pack


class Sum:
    """A number of 16 bytes."""
    default = 0

    @staticmethod
    def pack(value):
        return value.to_bytes(16, "big", signed=True)

    @staticmethod
    def read(data, at):
        return int.from_bytes(data[at:at + 16], "big", signed=True), at + 16


class Text:
    default = ""

    @staticmethod
    def pack(value):
        data = value.encode()
        return PREFIXES["text"].pack(len(data)) + data

    @staticmethod
    def read(data, at):
        end = at + 2 + PREFIXES["text"].unpack_from(data, at)[0]
        return data[at + 2:end].decode(), end

    @staticmethod
    def key(value):
        return value.encode() + b"\0"


class Octets:
    default = b""

    @staticmethod
    def pack(value):
        return LENGTH.pack(len(value)) + value

    @staticmethod
    def read(data, at):
        end = at + 4 + LENGTH.unpack_from(data, at)[0]
        return bytes(data[at + 4:end]), end


class Group:
    """One row within a row, or a list of them."""

    def __init__(self, field):
        self.table = Table(field["fields"])
        self.count = field["count"]
        self.default = {} if self.count == 1 else []

    def pack(self, value):
        if self.count == 1:
            return self.table.pack(value)
        value = [*value, *[{}] * (self.count - len(value))]
        return b"".join(map(self.table.pack, value))

    def read(self, data, at):
        rows = []
        for _ in range(self.count):
            row, at = self.table.read(data, at)
            rows.append(row)
        return rows[0] if self.count == 1 else rows, at


def member_of(field):
    if field["type"] in NUMBERS:
        return Number(field)
    return {"i128": lambda _: Sum, "text": lambda _: Text, "bytes": lambda _: Octets,
            "group": Group}[field["type"]](field)


class Table:
    """A table of fields. @keys: how many of them are the key of the row."""

    def __init__(self, fields, keys=0):
        self.members = [(field["name"], member_of(field)) for field in fields]
        self.names = {name for name, _ in self.members}
        self.keys = keys

    def pack(self, values):
        if not values.keys() <= self.names:
            raise KeyError(f"no members of the table: {values.keys() - self.names}")
        return b"".join([member.pack(values[name] if name in values else member.default)
                         for name, member in self.members])

    def read(self, data, at=0):
        """Returns the row at @at of @data, and where the next one begins."""
        row = Row()
        for name, member in self.members:
            row[name], at = member.read(data, at)
        return row, at

    def unpack(self, data):
        """Returns the row that @data is."""
        row, end = self.read(data)
        if end != len(data):
            raise ValueError(f"a row of {end} bytes in {len(data)}")
        return row

    def rows(self, data):
        """Returns the rows that are in @data one after the other."""
        found, at = [], 0
        while at < len(data):
            row, at = self.read(data, at)
            found.append(row)
        return found

    def key(self, *values):
        """Packs the first members of the key."""
        if len(values) > self.keys:
            raise ValueError(f"{len(values)} members of a key of {self.keys}")
        return b"".join(member.key(value) for value, (_, member) in zip(values, self.members))

    def changed(self, data, /, **values):
        """Returns the row @data with other @values, which must differ."""
        row = self.unpack(data)
        other = self.pack({**row, **values})
        if other == data:
            raise ValueError(f"{values} change nothing in {row}")
        return other


@functools.cache
def tables():
    done = subprocess.run([builddir() / "tests" / "lib" / "tables"], stdout=subprocess.PIPE, timeout=60,
                          check=True)
    return json.loads(done.stdout)


@functools.cache
def record(name):
    """The table of the rows of kind @name, such as BET."""
    made = tables()["records"][name.lower()]
    return Table(made["fields"], made["keys"])


@functools.cache
def command(name):
    """The table of a command's request, such as bet_place."""
    return Table(tables()["commands"][name]["command"])


@functools.cache
def result(name):
    """The table of a command's answer."""
    return Table(tables()["commands"][name]["result"])


@functools.cache
def entry(name):
    """The table of rows that are bytes within an answer, such as due_entry."""
    return Table(tables()["entries"][name])


@functools.cache
def _verdict():
    # Each answer begins with it.
    return result("resume")


def verdict(payload):
    """Returns the verdict with which the answer @payload begins."""
    return _verdict().read(payload)[0].verdict


def after_verdict(payload):
    """Returns the bytes of the answer @payload after its verdict."""
    return payload[_verdict().read(payload)[1]:]


def pack(name, /, **values):
    """Packs the command @name. A member that is not given is zero or empty."""
    return command(name).pack(values)


def unpack(name, payload):
    """Returns the answer to the command @name."""
    return result(name).unpack(payload)


# jobs.sock (src/link/jobs.h)
JOBS = ("explain", "doctor", "ping", "recon", "balance")
JOB_OUTCOMES = ("ended", "bad_request", "no_front", "signed_out", "role_needed", "busy", "too_long", "too_large",
                "no_ledger", "failed", "not_served")
JOB_OUTPUT, JOB_END = 1, 2


def job_request(job, front="", session="", request_id="", request="", casino="", date="", user=""):
    """The bytes by which the console asks for a job."""
    words = (front, session, request_id, request, casino, date, user)
    body = bytes([JOBS.index(job)]) + b"".join(
        struct.pack(">H", len(word)) + word.encode() for word in words)
    return b"CBJ1" + struct.pack(">I", len(body)) + body


def job_answer(answer):
    """Returns the output, the outcome and the detail of a whole answer."""
    output, kind = b"", JOB_OUTPUT
    while kind == JOB_OUTPUT:
        kind, size = struct.unpack(">BI", answer[:5])
        body, answer = answer[5:5 + size], answer[5 + size:]
        if kind == JOB_OUTPUT:
            output += body
    assert kind == JOB_END and not answer, f"an answer ends with its end: {kind} {answer!r}"
    return output, JOB_OUTCOMES[body[0]], body[7:].decode()
