"""Rows as the ledger's LIST returns them (src/link/admin_commands.h). They are changed or
removed before creditbridgectl receives them."""
from cb_codec import pack, record, unpack
from cb_link import DONE, Link
from cb_middle import RECORDS, unpacked, with_members


def rows_of(sockets, kind, *key):
    """Returns the packed rows of @kind whose keys begin with @key, one after the other."""
    with Link(sockets / "admin.sock") as link:
        frame = link.call("list", pack("list", record=RECORDS[kind], prefix=record(kind).key(*key)))
    assert frame.outcome == DONE
    return unpack("list", frame.payload).rows


def changed(kind, row, /, **values):
    """Returns the change of a Lie that gives the packed @row other @values, which must differ."""
    return kind, row, record(kind).changed(row, **values)


class Lie:
    """For Middle: falsifies rows. @changes: (record, row, replacement or b"")."""

    def __init__(self, *changes, times=None):
        self.changes = [(RECORDS[kind], old, new) for kind, old, new in changes]
        self.times = times  # number of falsified answers; None: all
        self.falsified = 0

    def __call__(self, _command, kind, answer):
        if self.falsified == self.times:
            return answer
        found = [(old, new) for of, old, new in self.changes if of == kind]
        page = unpacked("list", answer) if found else None
        found = [(old, new) for old, new in found if old in page["rows"]]
        if not found:
            return answer
        for old, new in found:
            page["rows"] = page["rows"].replace(old, new, 1)
            page["count"] -= not new
        self.falsified += 1
        return with_members("list", answer, page)


class Change:
    """For Middle: gives rows of @kind other values. @change(row) returns those of an unpacked row, or
    nothing."""

    def __init__(self, kind, change):
        self.kind = kind
        self.change = change
        self.falsified = 0  # number of changed answers

    def __call__(self, _command, kind, answer):
        if kind != RECORDS[self.kind]:
            return answer
        page = unpacked("list", answer)
        rows = record(self.kind).rows(page["rows"])
        changes = [self.change(row) or {} for row in rows]
        if not any(changes):
            return answer
        self.falsified += 1
        page["rows"] = b"".join(record(self.kind).pack({**row, **change})
                                for row, change in zip(rows, changes))
        return with_members("list", answer, page)
