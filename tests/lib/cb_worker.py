"""What a worker and the sweeper ask of the ledger, without HTTP: bets, results, and how each
attempt of a callback ended. A test decides what the dealer would have done."""
import collections
import itertools
import os
import re
import struct

from cb_link import DONE, Link, text
from cb_process import SRCDIR

UNKNOWN, SUCCESS, REFUSED, NOT_SENT = range(4)  # enum callback_class
WIN, LOSS, REFUND = 1, 2, 3  # enum round_result
BALANCE_INQUIRE, BETTING, BETTING_RESULT, BETTING_REFUND = range(4)  # enum callback_kind
UNITS = 10000  # of a credit

Grant = collections.namedtuple("Grant", "event kind attempt")
Placed = collections.namedtuple("Placed", "refusal transaction_id state send")
Settled = collections.namedtuple("Settled", "refusal transaction_id event send")
NUMBERS = itertools.count(1)


def refusals_read():
    table = (SRCDIR / "src" / "domain" / "refusal.def").read_text()
    return re.findall(r'^REFUSAL\(\w+, "(\w*)"', table, re.MULTILINE)


REFUSALS = refusals_read()


def octets(value):
    """Bytes as they are packed (src/base/pack.h)."""
    return struct.pack(">I", len(value)) + value


class Reader:
    """Takes packed members off an answer, one by one."""

    def __init__(self, data):
        self.data = data

    def take(self, layout):
        size = struct.calcsize(layout)
        values = struct.unpack(layout, self.data[:size])
        self.data = self.data[size:]
        return values[0] if len(values) == 1 else values

    def text(self):
        return self.take(f"{self.take('>H')}s").decode()

    def verdict(self):
        """The id of the refusal; "": none."""
        refusal, _replay = self.take(">BB")
        self.text()
        self.text()
        self.take(">qI")
        return REFUSALS[refusal]

    def grant(self):
        return Grant(*self.take(">QBI"))


class Worker(Link):
    """One connection to edge.sock."""

    def ask(self, command, payload):
        frame = self.call(command, payload)
        if frame.outcome != DONE:
            raise AssertionError(f"{command}: outcome {frame.outcome}")
        return Reader(frame.payload)

    @staticmethod
    def player(casino_id, user_id):
        return text("") + text(casino_id) + text(user_id)

    def place(self, client_id, casino_id, user_id, game_id, amount, *, addition=False,
              reference=None, remark="a bet", user_bet=b'{"on":"red"}'):
        reader = self.ask("bet_place", b"".join((
            text(client_id), text(reference or f"bet-{next(NUMBERS)}"),
            self.player(casino_id, user_id), text(game_id),
            struct.pack(">qB", round(amount * UNITS), addition), text(remark), octets(user_bet),
            os.urandom(8))))
        refusal = reader.verdict()
        transaction_id, state, *_ = reader.take(">QBBq")
        reader.text()
        reader.text()
        return Placed(refusal, transaction_id, state, reader.grant())

    def settle(self, client_id, casino_id, user_id, game_id, result, payout=0, *,
               reference=None, remark="a result"):
        reader = self.ask("round_settle", b"".join((
            text(client_id), text(reference or f"result-{next(NUMBERS)}"),
            self.player(casino_id, user_id), text(game_id),
            struct.pack(">Bq", result, round(payout * UNITS)), text(remark), octets(b""),
            octets(b'{"ball":7}'), octets(b""), os.urandom(8))))
        refusal = reader.verdict()
        transaction_id, *_, event, _state, _attempts = reader.take(">QqqqqQBI")
        return Settled(refusal, transaction_id, event, reader.grant())

    def end(self, send, casino_id, outcome, *, status=0, milliseconds=12, error="", detail="",
            balance=None, user_id="", currency="", note=""):
        """Tells how the attempt @send ended."""
        reader = self.ask("callback_end", b"".join((
            struct.pack(">QB", send.event, send.kind), text(casino_id),
            struct.pack(">IBHI", send.attempt, outcome, status, milliseconds), text(error),
            text(detail), struct.pack(">Bq", balance is not None, round((balance or 0) * UNITS)),
            text(currency), text(user_id), text(note))))
        return reader.verdict()

    def find(self):
        """What a sweeper at work could claim now: [(event, casino_id)]."""
        reader = self.ask("callback_find", struct.pack(">I?", 0, True))
        reader.verdict()
        _, count = reader.take(">QI")
        entries = Reader(reader.take(f"{reader.take('>I')}s"))
        found = []
        for _ in range(count):
            found.append((entries.take(">Q"), entries.text()))
            entries.take(">BBQ")
        return found

    def claim(self, event):
        """Claims an event that is due, as the sweeper does. The refusal and the grant."""
        reader = self.ask("callback_claim", struct.pack(">Q", event) + os.urandom(8))
        refusal = reader.verdict()
        reader.take(">B")
        reader.text()
        reader.take(">BBIq")
        return refusal, reader.grant()
