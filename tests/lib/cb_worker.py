"""Sends the commands of a worker and of the sweeper to the ledger, without HTTP: bets, results,
and the outcome of each attempt of a callback. The test decides how the dealer would have
answered."""
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
UNITS = 10000  # units in one credit

Grant = collections.namedtuple("Grant", "event kind attempt")
Placed = collections.namedtuple("Placed", "refusal transaction_id state send")
Settled = collections.namedtuple("Settled", "refusal transaction_id event send")
NUMBERS = itertools.count(1)


def refusals_read():
    table = (SRCDIR / "src" / "domain" / "refusal.def").read_text()
    return re.findall(r'^REFUSAL\(\w+, "(\w*)"', table, re.MULTILINE)


REFUSALS = refusals_read()


def octets(value):
    """Packs bytes (src/base/pack.h)."""
    return struct.pack(">I", len(value)) + value


class Reader:
    """Reads packed members from an answer, one by one."""

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
        """Returns the id of the refusal; "": none."""
        refusal, _replay = self.take(">BB")
        self.text()
        self.text()
        self.take(">qI")
        return REFUSALS[refusal]

    def grant(self):
        return Grant(*self.take(">QBI"))

    def placed(self):
        refusal = self.verdict()
        transaction_id, state, *_ = self.take(">QBBq")
        self.text()
        self.text()
        return Placed(refusal, transaction_id, state, self.grant())

    def settled(self):
        refusal = self.verdict()
        transaction_id, *_, event, _state, _attempts = self.take(">QqqqqQBI")
        return Settled(refusal, transaction_id, event, self.grant())

    def ended(self):
        """Returns the refusal, and the Unix ms when the callback is due again."""
        refusal = self.verdict()
        *_, next_ms = self.take(">BBIQ")
        return refusal, next_ms


def player_ref(casino_id, user_id):
    return text("") + text(casino_id) + text(user_id)


def bet_payload(client_id, player, game_id, units, *, reference, addition=False, remark="",
                user_bet=b""):
    """@player: a player_ref(); @units: ten-thousandths of a credit."""
    return b"".join((
        text(client_id), text(reference), player, text(game_id),
        struct.pack(">q?", units, addition), text(remark), octets(user_bet), os.urandom(8)))


def settle_payload(client_id, player, game_id, result, units, *, reference, remark="",
                   game_result=b""):
    return b"".join((
        text(client_id), text(reference), player, text(game_id), struct.pack(">Bq", result, units),
        text(remark), octets(b""), octets(game_result), octets(b""), os.urandom(8)))


def end_payload(send, casino_id, outcome, *, status=0, milliseconds=12, error="", detail="",
                balance=None, user_id="", currency="", note=""):
    """Packs the outcome of the attempt @send."""
    return b"".join((
        struct.pack(">QB", send.event, send.kind), text(casino_id),
        struct.pack(">IBHI", send.attempt, outcome, status, milliseconds), text(error),
        text(detail), struct.pack(">Bq", balance is not None, round((balance or 0) * UNITS)),
        text(currency), text(user_id), text(note), b"\0"))


class Worker(Link):
    """One connection to edge.sock."""

    def ask(self, command, payload):
        frame = self.call(command, payload)
        if frame.outcome != DONE:
            raise AssertionError(f"{command}: outcome {frame.outcome}")
        return Reader(frame.payload)

    def place(self, client_id, casino_id, user_id, game_id, amount, *, addition=False,
              reference=None, remark="a bet", user_bet=b'{"on":"red"}'):
        return self.ask("bet_place", bet_payload(
            client_id, player_ref(casino_id, user_id), game_id, round(amount * UNITS),
            reference=reference or f"bet-{next(NUMBERS)}", addition=addition, remark=remark,
            user_bet=user_bet)).placed()

    def settle(self, client_id, casino_id, user_id, game_id, result, payout=0, *,
               reference=None, remark="a result"):
        return self.ask("round_settle", settle_payload(
            client_id, player_ref(casino_id, user_id), game_id, result, round(payout * UNITS),
            reference=reference or f"result-{next(NUMBERS)}", remark=remark,
            game_result=b'{"ball":7}')).settled()

    def end(self, send, casino_id, outcome, **words):
        """Reports the outcome of the attempt @send; @words are as in end_payload(). Returns the
        refusal."""
        return self.ask("callback_end", end_payload(send, casino_id, outcome, **words)).ended()[0]

    def find(self):
        """Returns [(event, casino_id)] of the callbacks that a sweeper could claim now."""
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
        """Claims a due event, as the sweeper does. Returns the refusal and the grant."""
        reader = self.ask("callback_claim", struct.pack(">Q", event) + os.urandom(8))
        refusal = reader.verdict()
        reader.take(">B")
        reader.text()
        reader.take(">BBIq")
        return refusal, reader.grant()
