"""Signatures of both directions. The signed bytes are the raw body, and the key's 64 characters are the key:
they look like hex and are not decoded."""
from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from typing import Iterable, Mapping, NamedTuple, Optional, Union

HASHES = {"hmac-sha256": hashlib.sha256, "hmac-sha512": hashlib.sha512, "hmac-sha1": hashlib.sha1}
ID = re.compile(r"([a-z]+(?:-[a-z]+)*)-[0-9]{1,20}")


class SignatureError(Exception):
    """The callback is not to be trusted. The text is for your log; the answer must not show it."""


class Verified(NamedTuple):
    """What the headers of a verified callback say; None if it came without webhook headers."""

    kind: Optional[str]
    webhook_id: Optional[str]
    webhook_timestamp: Optional[int]


def _mac(algorithm: str, key: str, data: bytes) -> bytes:
    if algorithm not in HASHES:
        raise ValueError(f"unknown algorithm {algorithm}")
    if not key:  # anyone can sign with an empty key
        raise ValueError("the key is empty")
    return hmac.new(key.encode("ascii"), data, HASHES[algorithm]).digest()


def sign(key: str, body: bytes, algorithm: str = "hmac-sha256", encoding: str = "hex") -> str:
    """The value of x-casino-signature for the bytes @body. @encoding: hex or base64."""
    mac = _mac(algorithm, key, body)
    if encoding == "hex":
        return mac.hex()
    if encoding == "base64":
        return base64.b64encode(mac).decode()
    raise ValueError(f"unknown encoding {encoding}")


def _matches(text: str, macs: list[bytes], encodings: Iterable[str]) -> bool:
    """Whether @text is one of the MACs in an encoding of @encodings; hex may be of either case.

    Compares with every one, so that the time does not show which key matched. A text is compared, not its
    bytes: base64 has several spellings of the same bytes, and only one is valid."""
    good = False
    for mac in macs:
        for encoding in encodings:
            made, found = (mac.hex(), text.lower()) if encoding == "hex" else (
                base64.b64encode(mac).decode(), text)
            good = hmac.compare_digest(made.encode(), found.encode("utf-8", "replace")) or good
    return good


def verify(raw_body: bytes, headers: Mapping[str, str], keys: Union[str, Iterable[str]], *,
           algorithm: str = "hmac-sha256", tolerance_s: float = 300, now: Optional[float] = None,
           require_webhook: bool = True) -> Verified:
    """Verifies x-casino-signature, and by the webhook headers the id and the time of the attempt.

    Each of your live @keys may have signed. Raises SignatureError. With @require_webhook False, a callback
    without any webhook header is accepted: its time and its kind are then not protected."""
    if not isinstance(raw_body, (bytes, bytearray, memoryview)):
        raise TypeError("raw_body: the bytes that arrived, before anything parsed them")
    keys = [keys] if isinstance(keys, str) else list(keys)
    if not keys:
        raise ValueError("there is no key")
    raw = bytes(raw_body)
    values = {name.lower(): value for name, value in headers.items()}
    signature = values.get("x-casino-signature")
    if signature is None:
        raise SignatureError("x-casino-signature is missing")
    if not _matches(signature, [_mac(algorithm, key, raw) for key in keys], ("hex", "base64")):
        raise SignatureError("x-casino-signature is of another key or of other bytes")
    webhook = [values.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")]
    if not require_webhook and webhook == [None, None, None]:
        return Verified(None, None, None)
    if None in webhook:
        raise SignatureError("a webhook header is missing")
    event, at, signatures = webhook
    kind = ID.fullmatch(event)
    if not kind or not re.fullmatch("[0-9]{1,12}", at):
        raise SignatureError("webhook-id or webhook-timestamp is malformed")
    # Standard Webhooks: always SHA-256; of several signatures and keys one pair must match.
    signed = f"{event}.{at}.".encode() + raw
    macs = [_mac("hmac-sha256", key, signed) for key in keys]
    found = [_matches(one[3:], macs, ("base64",)) for one in signatures.split(" ") if one.startswith("v1,")]
    if not any(found):
        raise SignatureError("webhook-signature is of another key, id, time or body")
    if abs((time.time() if now is None else now) - int(at)) > tolerance_s:
        raise SignatureError(f"webhook-timestamp {at} is more than {tolerance_s} s off")
    return Verified(kind[1], event, int(at))
