"""A dealer's calls to the wallet. A transfer is repeated with the same bytes, and so with the same
request_transaction_id, which the wallet recognises: credit moves once."""
from __future__ import annotations

import http.client
import json
import random
import re
import time
import urllib.parse
from typing import Any, Callable, Mapping, Optional, Union

from .money import amount, decode, units
from .signature import sign

TRANSFER = "/wallet-service/credit/transfer-"
BALANCE = "/user-service/user/3rdparty-get-balance"
STAT = "/user-service/user/stat"
RESULT = "/game-service/bet_game/result-inquire"
INQUIRE = "/wallet-service/credit/transfer-inquire"
FEED = "/wallet-service/feed"
HISTORY = "/wallet-service/history"
CALLBACKS = "/wallet-service/callbacks"
ANSWER_MAX = 4194304
RETRY_AFTER_MAX_S = 30
# They say nothing about an earlier call with the same id. See the guide, "What to repeat".
ONLY_THIS_CALL = (401, 403, 429)


class Refused(Exception):
    """The wallet refused this call: it moved nothing. Record a transfer as failed only if `conclusive` is True;
    otherwise an earlier call with the same request_transaction_id may have moved credit."""

    def __init__(self, status: int, body: Optional[Mapping[str, Any]]):
        known = body is not None and isinstance(body.get("id"), str)
        self.status = status
        self.body = body
        self.id = body["id"] if known else f"http_{status}"
        self.request_id = body.get("request_id") if known else None
        # A request_id "none", or none at all: the answer is of a web server on the way.
        self.conclusive = (known and isinstance(self.request_id, str) and self.request_id != "none" and
                           status not in ONLY_THIS_CALL and self.id != "transaction_conflict")
        super().__init__(f"{self.id}: {(body or {}).get('detail', f'status {status}')}")


class UnknownOutcome(Exception):
    """The outcome is not known: make the same call later, with the same request_transaction_id."""

    def __init__(self, attempts: int, cause: Optional[Exception]):
        super().__init__(f"the outcome is not known after {attempts} attempts: {cause}")
        self.attempts = attempts


def _object(text: bytes) -> Optional[dict]:
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class Client:
    """Each method returns the members of the answer, or raises Refused or UnknownOutcome."""

    def __init__(self, base_url: str, casino_id: str, key: str, *, algorithm: str = "hmac-sha256",
                 encoding: str = "hex", attempts: int = 5, timeout_s: float = 10,
                 wait: Callable[[float], Any] = time.sleep):
        self.url = urllib.parse.urlsplit(base_url)
        if self.url.scheme not in ("http", "https") or not self.url.hostname:
            raise ValueError(f"{base_url}: not an address of http or https")
        self.casino_id = casino_id
        self.signing = {"key": key, "algorithm": algorithm, "encoding": encoding}
        self.attempts = attempts
        self.timeout_s = timeout_s
        self.wait = wait

    def transfer_in(self, user_id: str, value: Union[str, int], request_transaction_id: str) -> dict:
        """Credit into the platform. @value: text in credits, or an integer of ten-thousandths. Note the
        request_transaction_id in your database before the call."""
        return self._transfer("in", user_id, value, request_transaction_id)

    def transfer_out(self, user_id: str, value: Union[str, int], request_transaction_id: str) -> dict:
        """Credit out of the platform."""
        return self._transfer("out", user_id, value, request_transaction_id)

    def transfer_out_all(self, user_id: str, request_transaction_id: str) -> dict:
        """The player's whole credit out of the platform."""
        return self._move("out", f'"all":true,"request_transaction_id":{_json(request_transaction_id)},'
                                 f'"user_id":{_json(user_id)}')

    def transfer_inquire(self, request_transaction_id: str, seal: bool = False) -> dict:
        """What became of a transfer: `state` is done (with `transfer`), refused (with `error`), sealed or
        unknown. With @seal an unknown id is sealed: no transfer can use it any more, so the answer is final."""
        more = {"seal": True} if seal else {}
        return self._read(INQUIRE, request_transaction_id=request_transaction_id, **more)

    def feed(self, after: int = 0, limit: int = 100, wait_ms: int = 0) -> dict:
        """The transactions after the id @after: `items`, and `next`, the next call's @after. Waits up to
        @wait_ms for one. Unless `complete` is True, continue at once."""
        return self._read(FEED, timeout_s=self.timeout_s + wait_ms / 1000, after=after, limit=limit,
                          wait_ms=wait_ms)

    def history(self, user_id: str, after: int = 0, limit: int = 100) -> dict:
        """As feed(), of one player, the newest first."""
        return self._read(HISTORY, user_id=user_id, after=after, limit=limit)

    def callbacks(self, state: str = "parked", after: int = 0, limit: int = 100) -> dict:
        """Your callbacks that are not delivered: @state is "parked" or "due"."""
        return self._read(CALLBACKS, state=state, after=after, limit=limit)

    def resend(self, webhook_id: str) -> dict:
        """Lets a parked or due callback be sent once more now. Refused (429, rate_limited) if it was in the last
        5 minutes; that is not repeated."""
        return self._call(CALLBACKS + "/resend", lambda: _json({"webhook_id": webhook_id}), once=(429,))[0]

    def balance(self, user_id: str) -> dict:
        return self._read(BALANCE, user_id=user_id)

    def stat(self, user_id: str, bet_summary: bool = False) -> dict:
        """With @bet_summary also 30 days, one row each."""
        more = {"include_data": ["bet_summary"]} if bet_summary else {}
        return self._read(STAT, user_id=user_id, **more)

    def result_inquire(self, user_id: str, game_id: str) -> dict:
        return self._call(RESULT, lambda: _json({"user_id": user_id, "game_id": game_id}))[0]

    def _transfer(self, direction: str, user_id: str, value: Union[str, int], reference: str) -> dict:
        # Built once: every attempt sends the same bytes. The digits are sent as they are.
        digits = amount(units(value)) if isinstance(value, str) else amount(value)
        return self._move(direction, f'"amount":{digits},"request_transaction_id":{_json(reference)},'
                                     f'"user_id":{_json(user_id)}')

    def _move(self, direction: str, members_text: str) -> dict:
        members, headers = self._call(TRANSFER + direction, lambda: f"{{{members_text}}}")
        return {**members, "replayed": headers.get("X-Idempotent-Replay") == "true"}

    def _read(self, path: str, timeout_s: Optional[float] = None, **members: Any) -> dict:
        """A read is repeated with the time of its attempt."""
        return self._call(path, lambda: _json({**members, "request_timestamp": time.time_ns() // 1000000}),
                          timeout_s=timeout_s)[0]

    def _send(self, path: str, body: bytes, timeout_s: float) -> tuple[int, Any, Optional[dict]]:
        """One attempt. OSError or HTTPException: no answer."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.url.hostname, self.url.port, timeout=timeout_s)
        try:
            connection.request("POST", self.url.path.rstrip("/") + path, body, {
                "Content-Type": "application/json", "x-casino-id": self.casino_id,
                "x-casino-signature": sign(body=body, **self.signing)})
            answer = connection.getresponse()
            text = answer.read(ANSWER_MAX + 1)
            # read(n) of a connection that was cut returns what came.
            if answer.length or len(text) > ANSWER_MAX:
                raise http.client.IncompleteRead(b"")
            return answer.status, answer.headers, _object(text)
        finally:
            connection.close()

    def _call(self, path: str, make_body: Callable[[], str], *, timeout_s: Optional[float] = None,
              once: tuple[int, ...] = ()) -> tuple[dict, Any]:
        """Repeats after no answer, a 5xx, 429 and what is no answer of the wallet; nothing else. A status in
        @once is not repeated."""
        cause: Optional[Exception] = None
        unknown = False
        delay_s = 0.0
        attempt = 0
        while attempt < self.attempts:
            if attempt:
                self.wait(delay_s)
            # With jitter, so that many callers do not come back at the same moment.
            delay_s = 2 ** min(attempt, 4) * (1 + random.random() / 4)
            attempt += 1
            try:
                status, headers, members = self._send(path, make_body().encode(),
                                                      self.timeout_s if timeout_s is None else timeout_s)
            except (OSError, http.client.HTTPException) as error:
                cause, unknown = error, True
                continue
            if status == 200 and members is not None:
                return members, headers
            cause = Refused(status, members)
            if 400 <= status < 500 and (status != 429 or status in once):
                if unknown and status in ONLY_THIS_CALL:
                    break
                raise cause
            unknown = unknown or status != 429
            after = headers.get("Retry-After", "")
            if re.fullmatch("[0-9]{1,9}", after):
                delay_s = min(int(after), RETRY_AFTER_MAX_S)
        raise UnknownOutcome(attempt, cause) from cause
