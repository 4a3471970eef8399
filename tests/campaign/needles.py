"""Secrets, and the search for them in whatever may have leaked: in every spelling that something
between us and a disk might give them.
"""
import base64
import binascii
import urllib.parse

# Of each spelling every window of this size is known, and a text is looked at in steps of it: so
# any piece of twice the size, less one byte, is found, wherever it lies.
WINDOW = 16
PIECE_MIN = 2 * WINDOW - 1


def in_base64(data):
    """As it stands within a longer text: at each of the three places of a group of four."""
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data)
        inner = whole[4 if before else 0:len(whole) - 4]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


def spellings(text):
    """(what it is called, the bytes)."""
    data = text.encode()
    yield "raw", data
    yield "raw", data.upper()
    for name, of in (("", data), ("bytes in ", as_bytes(text))):
        if name and of:
            yield "bytes", of
        yield name + "hex", of.hex().encode()
        yield name + "hex", of.hex().upper().encode()
        for inner in in_base64(of):
            yield name + "base64", inner
        yield name + "urlencoded", "".join(f"%{byte:02x}" for byte in of).encode()
        yield name + "urlencoded", "".join(f"%{byte:02X}" for byte in of).encode()
    yield "urlencoded", urllib.parse.quote(text, safe="").encode()


def as_bytes(text):
    """What a key's or a signature's text spells; b"" for other texts."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        pass
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""


class Net:
    """Everything that is to be found."""

    def __init__(self):
        self.windows = {}
        self.kinds = {}  # kind -> how many

    def add(self, kind, texts):
        for text in texts:
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            for spelling, data in spellings(text):
                for at in range(len(data) - WINDOW + 1 if len(data) >= PIECE_MIN else 0):
                    self.windows.setdefault(data[at:at + WINDOW], (kind, spelling))

    def find(self, data, *kinds):
        """The (kind, spelling) that are in @data; of these @kinds only, if any are given."""
        found = set()
        for at in range(0, len(data) - WINDOW + 1, WINDOW):
            hit = self.windows.get(data[at:at + WINDOW])
            if hit and (not kinds or hit[0] in kinds):
                found.add(hit)
        return found
