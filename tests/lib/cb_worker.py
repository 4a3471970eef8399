"""Sends the commands of a worker and of the sweeper to the ledger, without HTTP: bets, results,
and the outcome of each attempt of a callback. The test decides how the dealer would have
answered."""
import collections
import itertools
import os
import re

from cb_codec import entry, pack, unpack
from cb_link import DONE, Link
from cb_process import SRCDIR

UNKNOWN, SUCCESS, REFUSED, NOT_SENT = range(4)  # enum callback_class
WIN, LOSS, REFUND = 1, 2, 3  # enum round_result
BALANCE_INQUIRE, BETTING, BETTING_RESULT, BETTING_REFUND, BETTING_CORRECTION = range(5)  # enum callback_kind
UNITS = 10000  # units in one credit

Grant = collections.namedtuple("Grant", "event kind attempt")
Placed = collections.namedtuple("Placed", "refusal transaction_id state send")
Settled = collections.namedtuple("Settled", "refusal transaction_id event send")
NUMBERS = itertools.count(1)


def refusals_read():
    table = (SRCDIR / "src" / "domain" / "refusal.def").read_text()
    return re.findall(r'^REFUSAL\(\w+, "(\w*)"', table, re.MULTILINE)


REFUSALS = refusals_read()


def refusal_of(answer):
    """Returns the id of the refusal in an unpacked answer; "": none."""
    return REFUSALS[answer.verdict.refusal]


def grant_of(answer):
    return Grant(answer.send.event, answer.send.kind, answer.send.attempt)


def placed(payload):
    """Reads the answer to bet_place."""
    answer = unpack("bet_place", payload)
    return Placed(refusal_of(answer), answer.bet.transaction_id, answer.bet.state, grant_of(answer))


def settled(payload):
    """Reads the answer to round_settle."""
    answer = unpack("round_settle", payload)
    return Settled(refusal_of(answer), answer.transaction_id, answer.event, grant_of(answer))


def ended(payload):
    """Reads the answer to callback_end. Returns the refusal, and the Unix ms when the callback is due
    again."""
    answer = unpack("callback_end", payload)
    return refusal_of(answer), answer.next_ms


def sender_new():
    return int.from_bytes(os.urandom(8), "big")


def player_ref(casino_id, user_id):
    return {"casino_id": casino_id, "user_id": user_id}


def bet_payload(client_id, player, game_id, units, *, reference, addition=False, remark="",
                user_bet=b""):
    """@player: a player_ref(); @units: ten-thousandths of a credit."""
    return pack("bet_place", client_id=client_id, request_transaction_id=reference, player=player,
                game_id=game_id, bet_amount=units, addition=addition, remark=remark, user_bet=user_bet,
                sender=sender_new())


def settle_payload(client_id, player, game_id, result, units, *, reference, remark="",
                   game_result=b""):
    return pack("round_settle", client_id=client_id, request_transaction_id=reference, player=player,
                game_id=game_id, result=result, payout_amount=units, remark=remark,
                game_result=game_result, sender=sender_new())


def cancel_payload(client_id, player, game_id, bet_reference, *, reference):
    return pack("bet_cancel", client_id=client_id, request_transaction_id=reference, player=player,
                game_id=game_id, bet_request_transaction_id=bet_reference, reason="table closed",
                sender=sender_new())


def correct_payload(client_id, player, game_id, revision, result, units, *, reference,
                    allow_shortfall=False):
    return pack("round_correct", client_id=client_id, request_transaction_id=reference,
                player=player, game_id=game_id, revision=revision, result=result,
                payout_amount=units, reason="misread", game_result=b'{"ball":8}',
                allow_shortfall=allow_shortfall, sender=sender_new())


def end_payload(send, casino_id, outcome, *, status=0, milliseconds=12, error="", detail="",
                balance=None, user_id="", currency="", note="", shortfall=0, answer=""):
    """Packs the outcome of the attempt @send."""
    return pack("callback_end", event=send.event, kind=send.kind, casino_id=casino_id,
                attempt=send.attempt, outcome={
                    "class": outcome, "http_status": status, "ms": milliseconds,
                    "dealer_error_id": error, "dealer_error_detail": detail,
                    "has_balance": balance is not None, "balance": round((balance or 0) * UNITS),
                    "shortfall": round(shortfall * UNITS),
                    "currency": currency, "user_id": user_id, "note": note,
                    "answer_length": len(answer.encode()), "answer_type": "text/html" if answer else "",
                    "answer": answer})


class Worker(Link):
    """One connection to edge.sock."""

    request_id = ""  # of the HTTP request that the next commands belong to

    def ask(self, command, payload):
        """Returns the payload of the answer."""
        frame = self.call(command, payload, request_id=self.request_id)
        if frame.outcome != DONE:
            raise AssertionError(f"{command}: outcome {frame.outcome}")
        return frame.payload

    def place(self, client_id, casino_id, user_id, game_id, amount, *, addition=False,
              reference=None, remark="a bet", user_bet=b'{"on":"red"}'):
        return placed(self.ask("bet_place", bet_payload(
            client_id, player_ref(casino_id, user_id), game_id, round(amount * UNITS),
            reference=reference or f"bet-{next(NUMBERS)}", addition=addition, remark=remark,
            user_bet=user_bet)))

    def settle(self, client_id, casino_id, user_id, game_id, result, payout=0, *,
               reference=None, remark="a result", game_result=b'{"ball":7}'):
        return settled(self.ask("round_settle", settle_payload(
            client_id, player_ref(casino_id, user_id), game_id, result, round(payout * UNITS),
            reference=reference or f"result-{next(NUMBERS)}", remark=remark, game_result=game_result)))

    def settle_batch(self, client_id, items, *, reference=None):
        """@items: (casino_id, user_id, game_id, result, payout). Returns the refusal and how many were
        answered."""
        packed = b"".join(entry("settle_item").pack({
            "player": player_ref(casino_id, user_id), "game_id": game_id, "result": result,
            "payout_amount": round(payout * UNITS)})
            for casino_id, user_id, game_id, result, payout in items)
        answer = unpack("settle_batch", self.ask("settle_batch", pack(
            "settle_batch", client_id=client_id, digest="d", count=len(items), items=packed,
            request_id="batch", request_transaction_id=reference or f"batch-{next(NUMBERS)}")))
        return refusal_of(answer), answer.count

    def cancel(self, client_id, casino_id, user_id, game_id, bet_reference, *, reference=None):
        """Cancels the bet that was placed with @bet_reference. Returns the refusal."""
        return refusal_of(unpack("bet_cancel", self.ask("bet_cancel", cancel_payload(
            client_id, player_ref(casino_id, user_id), game_id, bet_reference,
            reference=reference or f"cancel-{next(NUMBERS)}"))))

    def correction(self, client_id, casino_id, user_id, game_id, revision, result, payout=0, *,
                   reference=None, allow_shortfall=False):
        """Corrects the settled round."""
        answer = unpack("round_correct", self.ask("round_correct", correct_payload(
            client_id, player_ref(casino_id, user_id), game_id, revision, result,
            round(payout * UNITS), reference=reference or f"correction-{next(NUMBERS)}",
            allow_shortfall=allow_shortfall)))
        return Settled(refusal_of(answer), answer.transaction_id, answer.event, grant_of(answer))

    def correct(self, client_id, casino_id, user_id, game_id, revision, result, payout=0):
        """Corrects the settled round. Returns the refusal."""
        return self.correction(client_id, casino_id, user_id, game_id, revision, result,
                               payout).refusal

    def end(self, send, casino_id, outcome, **words):
        """Reports the outcome of the attempt @send; @words are as in end_payload(). Returns the
        refusal."""
        return ended(self.ask("callback_end", end_payload(send, casino_id, outcome, **words)))[0]

    def find(self):
        """Returns [(event, casino_id)] of the callbacks that a sweeper could claim now."""
        answer = unpack("callback_find", self.ask("callback_find", pack("callback_find", sweeping=True)))
        return [(row.event, row.casino_id) for row in entry("due_entry").rows(answer.entries)]

    def claim(self, event):
        """Claims a due event, as the sweeper does. Returns the refusal and the grant."""
        answer = unpack("callback_claim", self.ask("callback_claim", pack(
            "callback_claim", event=event, sender=sender_new())))
        return refusal_of(answer), grant_of(answer)
