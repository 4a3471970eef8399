"""A model of a disk: the operations that record.so recorded (record.c), and the data that a power
cut leaves.

A file is what was synced, and what was done to it since. A name is an entry of a directory, and
durable when the directory was synced after it was made. At a point of the trace rebuild() makes the
state directory as a disk may have it then, in one of the MODES:

    drop    what was not synced is gone, names too
    blocks  of what was not synced each 4 KiB block of a file is there or not, in any of its
            versions; of the directories' changes a beginning is there
    tear    the log ends anywhere in what was not synced, at 512 bytes: with the file's end, with
            zeros, or with later sectors that are there; the rest as with blocks
"""
import os
import struct

RECORD = struct.Struct("<IBBHHHIQq")
MAGIC = 0x31524243
BLOCK = 4096
SECTOR = 512
MODES = ("drop", "blocks", "tear")


class Record:
    __slots__ = ("kind", "inode", "offset", "paths", "data")

    def __init__(self, kind, inode, offset, paths, data):
        self.kind = kind
        self.inode = inode
        self.offset = offset
        self.paths = paths
        self.data = data


def trace_read(path, state):
    """The records; paths are relative to the directory @state ("" is itself)."""
    with open(path, "rb") as trace:
        data = trace.read()
    records, at = [], 0
    while at < len(data):
        magic, kind, _, first, second, _, size, inode, offset = RECORD.unpack_from(data, at)
        if magic != MAGIC:
            raise AssertionError(f"byte {at} of the trace is no record")
        at += RECORD.size
        paths = []
        for length in (first, second):
            text = data[at:at + length].decode()
            paths.append(os.path.relpath(text, state) if text else "")
            at += length
        records.append(Record(chr(kind), inode, offset,
                              ["" if path == "." else path for path in paths], data[at:at + size]))
        at += size
    return records


class File:
    """@synced, and the changes since: (number of the record, kind, offset, data)."""

    def __init__(self):
        self.synced = bytearray()
        self.changes = []

    def sync(self, upto):
        """What was done before number @upto is durable now."""
        kept = []
        for change in self.changes:
            if change[0] < upto:
                apply(self.synced, change)
            else:
                kept.append(change)
        self.changes = kept


def apply(content, change):
    _, kind, offset, data = change
    if kind == "w":
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        content[offset:offset + len(data)] = data
    elif kind == "t":
        del content[offset:]
        content.extend(bytes(max(0, offset - len(content))))
    else:
        content.extend(bytes(max(0, offset - len(content))))


class Disk:
    def __init__(self, syncs=True):
        self.syncs = syncs    # False: from lie() on no sync reaches the disk
        self.files = {}       # inode -> File
        self.names = {}       # path -> File, as a process sees it
        self.directories = {} # path -> inode
        self.durable = {}     # path -> File or None (a directory), as the disk has it
        self.pending = []     # (number, directories concerned, kind, path, path2, file)
        self.syncing = {}     # (thread, inode) -> number at which a sync began
        self.lying = False

    def lie(self):
        self.lying = not self.syncs

    def step(self, number, record):
        KINDS[record.kind](self, number, record)

    def opened(self, number, record):
        path = record.paths[0]
        if record.offset:
            self.names[path].changes.append((number, "t", 0, b""))
            return
        file = File()
        self.files[record.inode] = self.names[path] = file
        self.changed(number, "o", path, "", file)

    def changed(self, number, kind, path, path2, file):
        where = {os.path.dirname(name) for name in (path, path2) if name}
        self.pending.append((number, where, kind, path, path2, file))

    def written(self, number, record):
        self.files[record.inode].changes.append((number, record.kind, record.offset, record.data))

    def begun(self, number, record):
        self.syncing[record.offset, record.inode] = number

    def synced(self, _number, record):
        begun = self.syncing.pop((record.offset, record.inode))
        if self.lying:
            return
        for path, inode in self.directories.items():
            if inode == record.inode:
                self.settle(lambda change: path in change[1] and change[0] < begun)
                return
        self.files[record.inode].sync(begun)

    def settle(self, chosen):
        """Makes those of the pending changes of directories durable that @chosen() takes."""
        kept = []
        for change in self.pending:
            if chosen(change):
                rename_apply(self.durable, change)
            else:
                kept.append(change)
        self.pending = kept

    def renamed(self, number, record):
        path, path2 = record.paths
        self.names[path2] = self.names.pop(path)
        self.changed(number, "r", path, path2, self.names[path2])

    def unlinked(self, number, record):
        self.names.pop(record.paths[0], None)
        self.directories.pop(record.paths[0], None)
        self.changed(number, "u", record.paths[0], "", None)

    def made(self, number, record):
        path = record.paths[0]
        self.directories[path] = record.inode
        if path:
            self.changed(number, "d", path, "", None)
        else:
            self.durable[""] = None  # The directory above is not ours to look at.

    def ignored(self, number, record):
        pass

    def mapped(self, number, record):
        raise AssertionError(f"{record.paths[0]} is written through memory")

    # -- what is left

    def everything(self):
        """path -> content, of all that was done."""
        left = {}
        for path, file in self.names.items():
            content = bytearray(file.synced)
            for change in file.changes:
                apply(content, change)
            left[path] = content
        return left

    def rebuild(self, mode, chance):
        """path -> content (None: a directory) of what a power cut leaves now. @chance: Random."""
        names = dict(self.durable)
        if mode != "drop" and self.pending:
            # A journal keeps an order; of file systems that sync a file's name with it none loses
            # the name of a file that was synced.
            upto = chance.choice(self.pending)[0] if chance.random() < 0.7 else 0
            for change in self.pending:
                if change[0] <= upto:
                    rename_apply(names, change)
        share = chance.choice((0.05, 0.5, 0.95))
        left = {}
        for path in sorted(names):
            file = names[path]
            if path and os.path.dirname(path) not in names:
                continue
            if file is None or mode == "drop" or not file.changes:
                left[path] = file and file.synced
            elif mode == "tear" and os.path.basename(path).startswith("log."):
                left[path] = torn(file, chance)
            else:
                left[path] = blocks(file, share, chance)
        return left


KINDS = {"o": Disk.opened, "w": Disk.written, "t": Disk.written, "a": Disk.written,
         "s": Disk.begun, "S": Disk.synced, "r": Disk.renamed, "u": Disk.unlinked,
         "d": Disk.made, "x": Disk.ignored, "m": Disk.mapped}


def rename_apply(names, change):
    _, _, kind, path, path2, file = change
    if kind == "o":
        names[path] = file
    elif kind == "d":
        names[path] = None
    elif kind == "u":
        names.pop(path, None)
    else:
        names.pop(path, None)
        names[path2] = file


def blocks(file, share, chance):
    """Each block that was touched has one of its versions."""
    content = bytearray(file.synced)
    size = len(content)
    touched = {}
    for change in file.changes:
        _, kind, offset, data = change
        if kind != "w":
            if chance.random() < share:
                apply(content, change)
                size = len(content)
            continue
        for block in range(offset // BLOCK, (offset + len(data) - 1) // BLOCK + 1):
            touched.setdefault(block, []).append(change)
    for block in sorted(touched):
        if chance.random() >= share:
            continue
        begin = block * BLOCK
        for _, _, offset, data in touched[block][:chance.randint(1, len(touched[block]))]:
            first, last = max(begin, offset), min(begin + BLOCK, offset + len(data))
            apply(content, (0, "w", first, data[first - offset:last - offset]))
            size = max(size, last)
    return content[:size]


def torn(file, chance):
    """The writes' bytes up to a sector, in their order."""
    content = bytearray(file.synced)
    total = sum(len(change[3]) for change in file.changes)
    cut = chance.randint(0, total)
    end = chance.choice(("short", "zeros", "later"))
    for change in file.changes:
        number, kind, offset, data = change
        if kind != "w":
            apply(content, change)
            continue
        if cut >= len(data):
            apply(content, change)
            cut -= len(data)
            continue
        stop = (offset + cut) // SECTOR * SECTOR  # before it what was written is there
        cut = 0
        apply(content, (number, "w", offset, data[:max(0, stop - offset)]))
        if end == "short":
            continue
        for first in range(max(stop, offset), offset + len(data), SECTOR):
            last = min(first // SECTOR * SECTOR + SECTOR, offset + len(data))
            if len(content) < last:
                content.extend(bytes(last - len(content)))
            if end == "later" and chance.random() < 0.5:
                content[first:last] = data[first - offset:last - offset]
    return content
