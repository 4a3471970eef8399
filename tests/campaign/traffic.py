"""Transfers and bets by the ledger's own commands, over several connections, and whether what was
answered is there: every command is remembered with its bytes, which may be sent again."""
import collections
import json
import os
import selectors
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
from cb import check, equal, wait_until  # noqa: E402
from cb_link import (DONE, TRANSFER_IN_KIND, TRANSFER_OUT_KIND, Link, request, text,  # noqa: E402
                     transfer_payload)
from cb_worker import LOSS, REFUSED, SUCCESS, UNITS, UNKNOWN, WIN, Reader  # noqa: E402
from pump import VERDICT, Stream  # noqa: E402

CONNECTIONS = 12
WINDOW = 200  # frames under way, when asked for again
PLAYERS = 6
FIRST_TAG = 1000000  # no other client's answer is taken for one of these
CLIENT, BANK, CASINO = "slots", "bank", "casino"
PENDING, ACCEPTED, REJECTED = 0, 1, 2  # enum bet_state
BET_UNDER_WAY = "bet_in_progress"
STANDS = ("", BET_UNDER_WAY, "bet_rejected", "dealer_timeout")  # how a bet that is there is told
NONE = struct.pack(">I", 0)


class Asked:
    """One command. A replay must be answered as the first time was."""
    has_sender = False

    def __init__(self, command, payload, tag):
        self.frame = request(command, payload, tag=tag)
        self.again = self.frame  # what it is asked for again with
        if self.has_sender:
            # The same sender would be told to go on sending, which is no replay.
            self.again = self.frame[:-8] + struct.pack(">Q", 1 << 63 | tag)
        self.tag = tag

    def holds(self, payload):
        """Whether the answer says that something was done which is to be there."""
        return payload[0] == 0

    def wrong(self, told, payload):
        """What is wrong with the answer to the repeat; "": nothing."""
        first = told[self.tag]
        if payload[:2] != b"\0\1":
            return f"{self.name} {self.tag}: no replay: {payload!r} for {first!r}"
        if self.sums(payload[VERDICT:]) != self.sums(first[VERDICT:]):
            return f"{self.name} {self.tag}: {payload!r} for {first!r}"
        return ""


class Transfer(Asked):
    name = "transfer"

    def sums(self, rest):
        return rest


class Settle(Asked):
    """Transaction, stakes and payout; where its callback stands changes."""
    name = "result"
    has_sender = True

    def sums(self, rest):
        return rest[:40]


class Bet(Asked):
    """A bet stands where the last command that was answered put it."""
    name = "bet"
    has_sender = True

    def __init__(self, *words):
        super().__init__(*words)
        self.end = None  # tag of the command that ended it, and what it meant
        self.settled = None

    def holds(self, payload):
        reader = Reader(payload)
        return reader.verdict() in ("", BET_UNDER_WAY)

    @staticmethod
    def parse(payload):
        reader = Reader(payload)
        return (reader.verdict(), *reader.take(">QB"))

    def wrong(self, told, payload):
        _, first_id, first_state = self.parse(told[self.tag])
        refusal, transaction_id, state = self.parse(payload)
        at_least = first_state
        if self.end and self.end[0] in told:
            at_least = self.end[1]
        if refusal not in STANDS:
            return f"bet {self.tag}: refused: {refusal}"
        if transaction_id != first_id:
            return f"bet {self.tag}: transaction {transaction_id} and not {first_id}"
        if state < at_least:
            return f"bet {self.tag}: state {state}, told {at_least}"
        return ""


class End(Asked):
    """How an attempt ended: its bet tells."""

    def holds(self, payload):
        return False


def lost_of(edge, asked, told):
    """Asks for all that was answered (@told: tag -> payload) again; what is wrong with each."""
    lost = []
    tags = [tag for tag in sorted(told) if tag in asked and asked[tag].holds(told[tag])]
    with Link(edge, timeout=30) as link:
        for at in range(0, len(tags), WINDOW):
            part = tags[at:at + WINDOW]
            link.send(b"".join(asked[tag].again for tag in part))
            for tag in part:
                frame = link.frame()
                equal((frame.tag, frame.outcome), (tag, DONE), "an answer")
                wrong = asked[tag].wrong(told, frame.payload)
                if wrong:
                    lost.append(wrong)
    return lost


Actor = collections.namedtuple("Actor", "stream steps")


class Load:
    """Dealers, players and a game server, and what they do."""

    def __init__(self, wallet, chance):
        self.wallet = wallet
        self.chance = chance
        self.asked = {}
        self.told = {}   # tag -> the answer's payload
        self.breaks = 0  # how often the engine was found dead
        wallet.dealer_add(BANK)
        wallet.dealer_add(CASINO, "--url", "http://127.0.0.1:9", "--allow-http", mode="seamless")
        wallet.ctl("client", "add", CLIENT)
        for casino in (BANK, CASINO):
            for number in range(PLAYERS):
                wallet.player_add(casino, f"user-{number}")

    def ask(self, kind, command, payload):
        tag = FIRST_TAG + len(self.asked)
        self.asked[tag] = made = kind(command, payload, tag)
        return made

    def player(self, casino):
        return text("") + text(casino) + text(f"user-{self.chance.randrange(PLAYERS)}")

    # -- what one connection does: each step yields a command and is sent its answer

    def steps(self, count):
        for _ in range(count):
            roll = self.chance.random()
            if roll < 0.65:
                yield from self.transfer()
            elif roll < 0.8:
                yield from self.round(BANK)
            else:
                yield from self.round(CASINO)

    def transfer(self):
        kind = TRANSFER_IN_KIND if self.chance.random() < 0.6 else TRANSFER_OUT_KIND
        number = len(self.asked)
        yield self.ask(Transfer, "transfer", transfer_payload(
            BANK, kind, f"t-{number}-{'x' * self.chance.randrange(60)}",
            f"user-{self.chance.randrange(PLAYERS)}", self.chance.randint(1, 50) * UNITS))

    def round(self, casino):
        """A bet, what the dealer's answer was, and its result, sometimes."""
        number = len(self.asked)
        player, game = self.player(casino), f"game-{number}"
        words = json.dumps({"on": "r" * self.chance.randrange(300)}).encode()
        bet = self.ask(Bet, "bet_place", b"".join((
            text(CLIENT), text(f"b-{number}"), player, text(game),
            struct.pack(">qB", self.chance.randint(1, 5) * UNITS, 0), text("a bet"),
            struct.pack(">I", len(words)), words, struct.pack(">Q", number + 1))))
        reader = Reader((yield bet))
        refusal = reader.verdict()
        if refusal not in ("", BET_UNDER_WAY):
            return
        state = ACCEPTED
        if casino == CASINO:
            state = yield from self.end_bet(bet, reader)
        if state == ACCEPTED and self.chance.random() < 0.7:
            yield from self.settle(number, casino, player, game)

    def end_bet(self, bet, reader):
        reader.take(">QBBq")
        reader.text()
        reader.text()
        grant = reader.grant()
        outcome, state = self.chance.choice(((SUCCESS, ACCEPTED), (SUCCESS, ACCEPTED),
                                             (REFUSED, REJECTED), (UNKNOWN, PENDING)))
        if not grant.event:
            return PENDING
        ended = self.ask(End, "callback_end", end_payload(grant, outcome))
        bet.end = (ended.tag, state)
        yield ended
        return state

    def settle(self, number, casino, player, game):
        result = self.chance.choice((WIN, LOSS))
        payout = self.chance.randint(1, 9) * UNITS if result == WIN else 0
        reader = Reader((yield self.ask(Settle, "round_settle", b"".join((
            text(CLIENT), text(f"r-{number}"), player, text(game),
            struct.pack(">Bq", result, payout), text("a result"), NONE, NONE, NONE,
            struct.pack(">Q", number + 1))))))
        if reader.verdict() or casino != CASINO:
            return
        reader.take(">QqqqqQBI")
        grant = reader.grant()
        if grant.event and self.chance.random() < 0.8:
            yield self.ask(End, "callback_end",
                           end_payload(grant, self.chance.choice((SUCCESS, UNKNOWN))))

    # -- all of them

    def run(self, operations):
        """All connections; what an engine that died did not answer is sent again."""
        steps = [self.steps(operations // CONNECTIONS) for _ in range(CONNECTIONS)]
        waiting = [next(step, None) for step in steps]
        while any(waiting):
            if not self.serve(steps, waiting):
                self.breaks += 1

    def serve(self, steps, waiting):
        """Until all is done (True) or the engine died (False)."""
        streams = [wait_until(self.connect, 20, "the next engine") for _ in steps]
        selector = selectors.DefaultSelector()
        try:
            for number, stream in enumerate(streams):
                selector.register(stream.socket, selectors.EVENT_READ, number)
                if waiting[number]:
                    stream.socket.sendall(waiting[number].frame)
            while any(waiting):
                ready = selector.select(20)
                check(ready, "the ledger does not answer")
                for key, _ in ready:
                    number = key.data
                    answers = streams[number].answers()
                    if answers is None:
                        return False
                    for tag, outcome, payload in answers:
                        check(tag == waiting[number].tag and outcome == 0,
                              f"an answer to another command, or {outcome}")
                        self.told[tag] = payload
                        waiting[number] = advance(steps[number], payload)
                        if waiting[number]:
                            streams[number].socket.sendall(waiting[number].frame)
            return True
        except OSError:
            return False
        finally:
            selector.close()
            for stream in streams:
                stream.socket.close()

    def connect(self):
        try:
            return Stream(self.wallet.sockets / "edge.sock")
        except OSError:
            return None


def advance(steps, payload):
    try:
        return steps.send(payload)
    except StopIteration:
        return None


def end_payload(grant, outcome):
    return b"".join((
        struct.pack(">QB", grant.event, grant.kind), text(""),
        struct.pack(">IBHI", grant.attempt, outcome, 200 if outcome == SUCCESS else 0, 12),
        text(""), text(""), struct.pack(">Bq", 0, 0), text(""), text(""), text(""), b"\0"))
