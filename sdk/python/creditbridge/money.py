"""Money is text in credits ("12.5") or an integer of ten-thousandths (125000), and never a float: 0.1 + 0.2 is
not 0.3 in floats, and the wallet refuses it."""
from __future__ import annotations

import json
import re
from typing import Any

MONEY = frozenset((
    "amount", "before_balance", "current_balance", "balance", "staked", "turnover", "profit_loss",
    "bet_amount", "addition_amount", "win_amount", "payout_amount", "correction_amount",
    "previous_payout_amount", "shortfall", "delta"))
# What the game says of itself: any JSON, passed on as json.loads() has it.
OPAQUE = frozenset(("user_bet", "game_result", "user_bet_result"))
DIGITS_MAX = 15
NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?")


def units(text: str) -> int:
    """"12.50" -> 125000. Raises ValueError unless it is an amount of at most 4 decimals."""
    if not isinstance(text, str):
        raise TypeError('an amount is text such as "12.50", never a float')
    part = NUMBER.fullmatch(text)
    if not part:
        raise ValueError(f"{text}: not an amount")
    minus, whole, decimals, exponent = part[1], part[2], part[3] or "", int(part[4] or 0)
    digits = (whole + decimals).lstrip("0")
    short = digits.rstrip("0")
    zeros = len(digits) - len(short) - len(decimals) + exponent + 4
    if not short:
        return 0
    if zeros < 0 or len(short) + zeros > DIGITS_MAX:
        raise ValueError(f"{text}: more than 4 decimals, or too large")
    return int(minus + short + "0" * zeros)


def amount(count: int) -> str:
    """125000 -> "12.5"."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"{count!r}: not an integer of ten-thousandths")
    if abs(count) >= 10 ** DIGITS_MAX:
        raise ValueError(f"{count}: out of range")
    whole, rest = divmod(abs(count), 10000)
    decimals = f"{rest:04}".rstrip("0")
    return ("-" if count < 0 else "") + str(whole) + (f".{decimals}" if decimals else "")


class _Digits(str):
    """The digits of a number of the document."""


def _number(digits: str) -> Any:
    return int(digits) if re.fullmatch("-?[0-9]+", digits) else float(digits)


def _finish(value: Any, name: str, opaque: bool) -> Any:
    if isinstance(value, _Digits):
        return amount(units(str(value))) if name in MONEY and not opaque else _number(value)
    if isinstance(value, str) and name in MONEY and not opaque:
        raise ValueError(f"{name}: must be a number")
    opaque = opaque or name in OPAQUE
    if isinstance(value, dict):
        return {key: _finish(member, key, opaque) for key, member in value.items()}
    if isinstance(value, list):
        return [_finish(item, "", opaque) for item in value]
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def decode(text: "str | bytes") -> dict:
    """Parses a body of the protocol. Money becomes text of its exact digits. Raises ValueError unless it is
    one JSON object."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    value = json.loads(text, parse_int=_Digits, parse_float=_Digits, parse_constant=_refuse_constant)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return _finish(value, "", False)
