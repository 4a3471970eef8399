"""What arrives: a body of one of the callbacks, and what must be in it."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

from .money import decode

PLAYER = {"user_id": "id", "player_id": "id"}
GAME = {**PLAYER, "game_id": "id", "remark": "string", "transaction_id": "integer", "timestamp": "integer",
        "bet_amount": "amount"}
# Members that must be there. Others are ignored: there may be new ones.
MEMBERS = {
    "balance-inquire": PLAYER,
    "betting": {**GAME, "user_bet": "object"},
    "betting-result": {**GAME, "result": "string", "payout_amount": "amount"},
    "betting-refund": GAME,
    "betting-correction": {**PLAYER, "game_id": "id", "remark": "string", "transaction_id": "integer",
                           "timestamp": "integer", "correction_amount": "decrease",
                           "previous_payout_amount": "amount", "payout_amount": "amount",
                           "revision": "integer"},
}
# Members that must not be there, because they show a body of another callback. x-casino-signature covers
# only the body, so an attacker that saw a bet could send it to the path of refunds.
FOREIGN = {"balance-inquire": (), "betting": ("result",), "betting-result": (),
           "betting-refund": ("result", "user_bet"), "betting-correction": ("result", "bet_amount")}
TYPES = {
    "id": lambda value: isinstance(value, str) and 1 <= len(value.encode("utf-8", "replace")) <= 128,
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "amount": lambda value: isinstance(value, str) and value[:1].isdigit(),
    "decrease": lambda value: isinstance(value, str) and value.startswith("-"),
    "object": lambda value: isinstance(value, dict),
}


class CallbackError(Exception):
    """Becomes an error body {id, detail} with the HTTP status `status`."""

    def __init__(self, status: int, error_id: str, detail: str):
        super().__init__(detail)
        self.status = status
        self.id = error_id
        self.detail = detail


class Callback(NamedTuple):
    """A verified callback. Amounts in the body are text."""

    kind: str
    body: dict[str, Any]
    webhook_id: Optional[str] = None
    webhook_timestamp: Optional[int] = None


def parse_callback(kind: str, raw_body: Union[bytes, str]) -> dict:
    """The body of a verified callback of @kind. Raises CallbackError if it is not such a body."""
    if kind not in MEMBERS:
        raise CallbackError(404, "not_found", f"there is no callback {kind}")
    try:
        body = decode(raw_body)
    except (ValueError, RecursionError) as error:
        raise CallbackError(400, "bad_request", f"the body is not valid: {error}") from error
    for name, kind_of in MEMBERS[kind].items():
        if not TYPES[kind_of](body.get(name)):
            raise CallbackError(400, "bad_request", f"{name}: must be there, as {kind_of}")
    if any(name in body for name in FOREIGN[kind]):
        raise CallbackError(400, "bad_request", "the body is of another callback")
    if kind == "betting-result" and body["result"] not in ("win", "loss", "refund"):
        raise CallbackError(400, "bad_request", "result: must be win, loss or refund")
    if kind != "balance-inquire" and body.get("result") != "loss" and body["transaction_id"] == 0:
        raise CallbackError(400, "bad_request", "transaction_id: must not be 0")
    return body
