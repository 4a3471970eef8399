"""What a seamless dealer does with a callback, by the state of the row that it has for its transaction_id.
Pure: you read and store row and balance, both in one transaction of your database."""
from __future__ import annotations

import json
from typing import Any, Mapping, NamedTuple, Optional

from .callback import Callback
from .money import amount, units

# One id moves credit once, and each callback may come any number of times, late, and in any order. A
# tombstone is a refund that came before its bet: that bet is refused. A bet above the balance stays refused:
# the platform has rejected it, so only an attacker sends it again.
KINDS = ("betting", "betting-result", "betting-refund", "betting-correction")
RULES = {
    # state       betting      betting-result  betting-refund  betting-correction
    "none":      ("debit",     "credit",       "bury",         "take"),
    "bet":       ("success",   "conflict",     "return",       "conflict"),
    "refunded":  ("refunded",  "conflict",     "success",      "conflict"),
    "tombstone": ("refunded",  "conflict",     "success",      "conflict"),
    "paid":      ("conflict",  "success",      "conflict",     "conflict"),
    "refused":   ("no credit", "conflict",     "success",      "conflict"),
    "corrected": ("conflict",  "conflict",     "conflict",     "success"),
}
AMOUNTS = ("bet_amount", "payout_amount", "bet_amount", "correction_amount")
NEXT = {"debit": "bet", "credit": "paid", "bury": "tombstone", "return": "refunded"}
FACTOR = {"debit": -1, "credit": 1, "bury": 0, "return": 1}
REFUSALS = {
    "refunded": (409, "bet_refunded", "the bet was refunded"),
    "no credit": (402, "insufficient_balance", "the balance is lower than the bet"),
    "conflict": (409, "transaction_conflict", "the transaction_id has other content"),
    "no player": (404, "user_not_found", "the user is not known"),
}


class Decision(NamedTuple):
    """Store @row and @balance unless they are None, commit, and only then answer @json with @status."""

    status: int
    json: str
    row: Optional[dict[str, Any]]
    balance: Optional[int]


def _refuse(why: str, row: Optional[dict] = None) -> Decision:
    status, error_id, detail = REFUSALS[why]
    return Decision(status, json.dumps({"id": error_id, "detail": detail}), row, None)


def _answer(body: Mapping, balance: Optional[int], currency: str, shortfall: Optional[int] = None) -> str:
    if balance is None:
        return "{}"
    # The digits are written as they are. json.dumps() would need a float.
    more = "" if shortfall is None else f',"shortfall":{amount(shortfall)}'
    return (f'{{"user_id":{json.dumps(body["user_id"])},"balance":{amount(balance)},'
            f'"currency":{json.dumps(currency)}{more}}}')


def _take(body: Mapping, balance: int, currency: str, wanted: Mapping) -> Decision:
    """A decrease takes what is there. The rest is the shortfall, which a repeated call is answered again."""
    shortfall = max(wanted["amount"] - balance, 0)
    after = balance - wanted["amount"] + shortfall
    return Decision(200, _answer(body, after, currency, shortfall),
                    {"state": "corrected", **wanted, "shortfall": shortfall}, after)


def decide(callback: Callback, row: Optional[Mapping], balance: Optional[int], currency: str) -> Decision:
    """@row: what you have stored for the transaction_id, or None: state, user_id, game_id, amount, result, and
    shortfall if the state is "corrected". @balance: the player's, in ten-thousandths; None: you have no such player."""
    kind, body = callback.kind, callback.body
    if balance is None and kind != "betting-refund":
        return _refuse("no player")
    # A loss has the transaction_id 0 and moves nothing.
    if kind == "balance-inquire" or body.get("result") == "loss":
        return Decision(200, _answer(body, balance, currency), None, None)
    moved = abs(units(body[AMOUNTS[KINDS.index(kind)]]))
    wanted = {"user_id": body["user_id"], "game_id": body["game_id"], "amount": moved,
              "result": body.get("result", "")}
    action = RULES[row["state"] if row else "none"][KINDS.index(kind)]
    if action == "conflict" or row and any(row[name] != value for name, value in wanted.items()):
        return _refuse("conflict")
    if action == "success":
        kept = row["shortfall"] if kind == "betting-correction" else None
        return Decision(200, _answer(body, balance, currency, kept), None, None)
    if action == "take":
        return _take(body, balance, currency, wanted)
    if action not in NEXT:
        return _refuse(action)
    if balance is None and action == "return":
        return _refuse("no player")
    after = None if balance is None else balance + FACTOR[action] * moved
    if after is not None and after < 0:
        return _refuse("no credit", {"state": "refused", **wanted})
    return Decision(200, _answer(body, after, currency), {"state": NEXT[action], **wanted},
                    None if action == "bury" else after)
