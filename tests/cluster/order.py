"""The answers to the callers of a cell as a history, and the proof that one order of the calls explains it (linear.py)."""
import hashlib
import json

from cb import BALANCE, TRANSFER_IN, check, equal
from history import PLANTED, plant_total
from linear import IN, OUT, READ, Try, calls_of, faults

SHOWN = 10


def cents_of(number):
    return round(number * 100)


class History:
    """What each caller sent, and what it was answered. Threads may add at the same time."""

    def __init__(self):
        self.tries = []
        self.players = set()

    def add(self, path, player, key, cents, sent):
        """@sent: for each time that the call was sent, when, when it was answered, and the answer (load.Caller)."""
        kind = READ if path == BALANCE else IN if path == TRANSFER_IN else OUT
        name = f"{player.dealer.casino_id}/{player.user_id}"
        self.players.add(name)
        for start, end, answer in sent:
            if not answer:
                self.tries.append(Try(kind, name, key, cents, start, None, None, None, None, None, b""))
                continue
            shown = answer.json
            if answer.status != 200:
                shown.pop("request_id")  # each answer has its own
            balance = cents_of(shown["balance"] if kind == READ else shown["current_balance"])
            digest = hashlib.sha256(json.dumps(shown).encode()).digest()
            self.tries.append(Try(kind, name, key, cents, start, end, answer.status, answer.replayed,
                                  shown.get("transaction_id"), balance, digest))

    def prove(self):
        """Returns how many calls one order explains. The proof must find each fault that is planted into it."""
        start = dict.fromkeys(self.players, 0)
        equal(faults(self.tries, start, closed=False, resent=True)[:SHOWN], [], "no order of the calls explains the answers")
        for plant in PLANTED:
            if plant is not plant_total:  # credit comes and goes
                check(faults(plant(self.tries), start, closed=False, resent=True), f"{plant.__name__} was not found")
        return len(calls_of(self.tries))
