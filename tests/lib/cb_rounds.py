"""Rounds by the ledger's own commands: much faster than calls of a game server and a dealer."""
import itertools
import struct

from cb_link import DONE, Link, request, text

PENDING_MAX = 20  # bets placed before their ends are told: what a dealer takes at a time
WINDOW = 100      # frames under way
BETTING, BETTING_RESULT = 1, 2     # enum callback_kind
UNKNOWN, SUCCESS = 0, 1            # enum callback_class
WIN = 1                            # enum round_result
STAKE = 10 * 10000                 # in ten-thousandths
numbers = itertools.count(1)


class Reader:
    """Takes a packed record apart (src/base/pack.h)."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def number(self, width):
        self.at += width
        return int.from_bytes(self.data[self.at - width:self.at], "big")

    def string(self, width=2):
        size = self.number(width)
        self.at += size
        return self.data[self.at - size:self.at]

    def verdict(self):
        refusal = self.number(1)
        self.number(1)
        self.string()
        self.string()
        self.number(12)
        return refusal

    def bet_answer(self):
        self.number(8 + 1 + 1 + 8)
        self.string()
        self.string()

    def grant(self):
        """(event, attempt); event 0: none."""
        event, _kind, attempt = self.number(8), self.number(1), self.number(4)
        return event, attempt


def player_ref(casino_id, user_id):
    return text("") + text(casino_id) + text(user_id)


def bet_payload(casino_id, user_id, game_id):
    return (text("fair") + text(f"bet-{game_id}") + player_ref(casino_id, user_id) + text(game_id)
            + struct.pack(">q", STAKE) + b"\0" + text("") + struct.pack(">I", 0)
            + struct.pack(">Q", next(numbers)))


def settle_payload(casino_id, user_id, game_id):
    return (text("fair") + text(f"result-{game_id}") + player_ref(casino_id, user_id)
            + text(game_id) + bytes([WIN]) + struct.pack(">q", 2 * STAKE) + text("")
            + 3 * struct.pack(">I", 0) + struct.pack(">Q", next(numbers)))


def end_payload(event, kind, attempt, outcome):
    return (struct.pack(">QB", event, kind) + text("") + struct.pack(">IBHI", attempt, outcome,
                                                                     200 if outcome else 0, 1)
            + text("") + text("") + b"\0" + struct.pack(">q", 0) + 3 * text(""))


class Rounds(Link):
    """Plays rounds of one player after the other: the bet is accepted, the round is won, and the
    first attempt of its betting-result, where one is begun, fails: the rest is the sweeper's."""

    def pipeline(self, command, payloads):
        """The answers' payloads."""
        answers = []
        payloads = list(payloads)
        for at in range(0, len(payloads), WINDOW):
            part = payloads[at:at + WINDOW]
            self.send(b"".join(request(command, payload) for payload in part))
            for _ in part:
                frame = self.frame()
                if frame.outcome != DONE:
                    raise AssertionError(f"{command}: outcome {frame.outcome}")
                answers.append(frame.payload)
        return answers

    def bets(self, casino_id, user_id, games):
        """Places a bet in each of @games, which must be accepted."""
        for at in range(0, len(games), PENDING_MAX):
            grants = []
            for answer in self.pipeline("bet_place", (bet_payload(casino_id, user_id, game_id)
                                                      for game_id in games[at:at + PENDING_MAX])):
                reader = Reader(answer)
                reader.verdict()
                reader.bet_answer()
                event, attempt = reader.grant()
                if not event:
                    raise AssertionError(f"a bet was refused: {answer!r}")
                grants.append((event, attempt))
            for answer in self.pipeline("callback_end",
                                        (end_payload(event, BETTING, attempt, SUCCESS)
                                         for event, attempt in grants)):
                if Reader(answer).verdict():
                    raise AssertionError(f"a bet was not accepted: {answer!r}")

    def settle(self, casino_id, user_id, games):
        """Settles the rounds. Returns {event: when it is due, in Unix ms}, of those whose first
        attempt was begun here, and the events of the others, which were due at once."""
        begun, left = [], []
        for answer in self.pipeline("round_settle", (settle_payload(casino_id, user_id, game_id)
                                                     for game_id in games)):
            reader = Reader(answer)
            if reader.verdict():
                raise AssertionError(f"a result was refused: {answer!r}")
            reader.number(5 * 8)
            event = reader.number(8)
            reader.number(1 + 4)
            granted, attempt = reader.grant()
            if granted:
                begun.append((granted, attempt))
            else:
                left.append(event)
        due = {}
        answers = self.pipeline("callback_end",
                                (end_payload(event, BETTING_RESULT, attempt, UNKNOWN)
                                 for event, attempt in begun))
        for (event, _), answer in zip(begun, answers):
            reader = Reader(answer)
            reader.verdict()
            reader.number(1 + 1 + 4)
            due[event] = reader.number(8)
        return due, left
