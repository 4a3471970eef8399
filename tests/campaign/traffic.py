"""Transfers and bets by the ledger's own commands, over several connections, and whether what was
answered is there: every command is remembered with its bytes, which may be sent again."""
import collections
import json
import os
import selectors
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
from cb import check, equal, wait_until  # noqa: E402
from cb_codec import after_verdict, pack, unpack, verdict  # noqa: E402
from cb_link import DONE, Link, request  # noqa: E402
from cb_worker import (LOSS, REFUSED, SUCCESS, UNITS, UNKNOWN, WIN, grant_of, placed,  # noqa: E402
                       player_ref, refusal_of)
from pump import Stream  # noqa: E402

CONNECTIONS = 12
WINDOW = 200  # frames under way, when asked for again
PLAYERS = 6
FIRST_TAG = 1000000  # no other client's answer is taken for one of these
CLIENT, BANK, CASINO = "slots", "bank", "casino"
PENDING, ACCEPTED, REJECTED = 0, 1, 2  # enum bet_state
BET_UNDER_WAY = "bet_in_progress"
# The refusals, or none, that an existing bet may have.
STANDS = ("", BET_UNDER_WAY, "bet_rejected", "dealer_timeout")


class Asked:
    """One command. A replay must be answered as the first time was."""
    has_sender = False

    def __init__(self, command, tag, /, **values):
        self.frame = request(command, pack(command, **values), tag=tag)
        self.again = self.frame  # what it is asked for again with
        if self.has_sender:
            # The answer to the same sender would be to go on sending, which is no replay.
            self.again = request(command, pack(command, **{**values, "sender": 1 << 63 | tag}), tag=tag)
        self.tag = tag

    def holds(self, payload):
        """Whether the answer says that something was done which is to be there."""
        return not verdict(payload).refusal

    def wrong(self, told, payload):
        """What is wrong with the answer to the repeat; "": nothing."""
        first = told[self.tag]
        now = verdict(payload)
        if now.refusal or not now.replay:
            return f"{self.name} {self.tag}: no replay: {payload!r} for {first!r}"
        if self.sums(payload) != self.sums(first):
            return f"{self.name} {self.tag}: {payload!r} for {first!r}"
        return ""


class Transfer(Asked):
    name = "transfer"

    def sums(self, payload):
        return after_verdict(payload)


class Settle(Asked):
    """Transaction, stakes and payout; where its callback stands changes."""
    name = "result"
    has_sender = True

    def sums(self, payload):
        answer = unpack("round_settle", payload)
        return (answer.transaction_id, answer.bet_amount, answer.addition_amount, answer.win_amount,
                answer.payout_amount)


class Bet(Asked):
    """A bet stands where the last command that was answered put it."""
    name = "bet"
    has_sender = True

    def __init__(self, *words, **values):
        super().__init__(*words, **values)
        self.end = None  # tag of the command that ended it, and what it meant
        self.settled = None

    def holds(self, payload):
        return placed(payload).refusal in ("", BET_UNDER_WAY)

    def wrong(self, told, payload):
        _, first_id, first_state, _ = placed(told[self.tag])
        refusal, transaction_id, state, _ = placed(payload)
        at_least = first_state
        if self.end and self.end[0] in told:
            at_least = self.end[1]
        if refusal not in STANDS:
            return f"bet {self.tag}: refused: {refusal}"
        if transaction_id != first_id:
            return f"bet {self.tag}: transaction {transaction_id} and not {first_id}"
        if state < at_least:
            return f"bet {self.tag}: state {state}, answered {at_least}"
        return ""


class End(Asked):
    """The end of an attempt: its bet shows it."""

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

    def ask(self, kind, command, /, **values):
        tag = FIRST_TAG + len(self.asked)
        self.asked[tag] = made = kind(command, tag, **values)
        return made

    def player(self, casino):
        return player_ref(casino, f"user-{self.chance.randrange(PLAYERS)}")

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
        kind = "transfer_in" if self.chance.random() < 0.6 else "transfer_out"
        number = len(self.asked)
        yield self.ask(
            Transfer, "transfer", casino_id=BANK, kind=kind,
            request_transaction_id=f"t-{number}-{'x' * self.chance.randrange(60)}",
            user_id=f"user-{self.chance.randrange(PLAYERS)}", amount=self.chance.randint(1, 50) * UNITS)

    def round(self, casino):
        """A bet, what the dealer's answer was, and its result, sometimes."""
        number = len(self.asked)
        player, game = self.player(casino), f"game-{number}"
        words = json.dumps({"on": "r" * self.chance.randrange(300)}).encode()
        bet = self.ask(
            Bet, "bet_place", client_id=CLIENT, request_transaction_id=f"b-{number}", player=player,
            game_id=game, bet_amount=self.chance.randint(1, 5) * UNITS, remark="a bet", user_bet=words,
            sender=number + 1)
        answer = placed((yield bet))
        refusal = answer.refusal
        if refusal not in ("", BET_UNDER_WAY):
            return
        state = ACCEPTED
        if casino == CASINO:
            state = yield from self.end_bet(bet, answer.send)
        if state == ACCEPTED and self.chance.random() < 0.7:
            yield from self.settle(number, casino, player, game)

    def end_bet(self, bet, grant):
        outcome, state = self.chance.choice(((SUCCESS, ACCEPTED), (SUCCESS, ACCEPTED),
                                             (REFUSED, REJECTED), (UNKNOWN, PENDING)))
        if not grant.event:
            return PENDING
        ended = self.end(grant, outcome)
        bet.end = (ended.tag, state)
        yield ended
        return state

    def settle(self, number, casino, player, game):
        result = self.chance.choice((WIN, LOSS))
        payout = self.chance.randint(1, 9) * UNITS if result == WIN else 0
        answer = unpack("round_settle", (yield self.ask(
            Settle, "round_settle", client_id=CLIENT, request_transaction_id=f"r-{number}", player=player,
            game_id=game, result=result, payout_amount=payout, remark="a result", sender=number + 1)))
        if refusal_of(answer) or casino != CASINO:
            return
        grant = grant_of(answer)
        if grant.event and self.chance.random() < 0.8:
            yield self.end(grant, self.chance.choice((SUCCESS, UNKNOWN)))

    def end(self, grant, outcome):
        return self.ask(
            End, "callback_end", event=grant.event, kind=grant.kind, attempt=grant.attempt, outcome={
                "class": outcome, "http_status": 200 if outcome == SUCCESS else 0, "ms": 12})

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
