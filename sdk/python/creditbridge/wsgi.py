"""WSGI middleware: keeps the raw body, verifies and parses a callback. It stands in front of an application of
Flask, Django or any other framework, because those may parse the body first."""
from __future__ import annotations

import io
import json
from typing import Any, Callable, Iterable, Optional, Union

from .callback import Callback, CallbackError, parse_callback
from .signature import SignatureError, verify

BODY_MAX = 262144  # no callback is larger
HEADERS = ("x-casino-signature", "webhook-id", "webhook-timestamp", "webhook-signature")


class Callbacks:
    """The application finds a Callback in environ["creditbridge.callback"] and the bytes in
    environ["creditbridge.raw_body"]. A callback that is not verified or not of this path does not reach it.

    @options are those of verify(). @kind: None takes the last part of the path. @prefix: only paths that
    begin with it are callbacks; the others pass untouched. @on_refused gets each refusal, for your log."""

    def __init__(self, application: Callable, keys: Union[str, Iterable[str]], *, kind: Optional[str] = None,
                 prefix: str = "/", on_refused: Optional[Callable[[Exception], Any]] = None, **options: Any):
        self.application = application
        self.keys = [keys] if isinstance(keys, str) else list(keys)
        self.kind = kind
        self.prefix = prefix
        self.on_refused = on_refused or (lambda error: None)
        self.options = options

    def __call__(self, environ: dict, start_response: Callable) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if not path.startswith(self.prefix):
            return self.application(environ, start_response)
        try:
            self._accept(environ, path)
        except SignatureError as error:
            return self._refuse(start_response, error, "401 Unauthorized", "invalid_signature",
                                "the signature is not valid")
        except CallbackError as error:
            return self._refuse(start_response, error, f"{error.status} Refused", error.id, error.detail)
        return self.application(environ, start_response)

    def _accept(self, environ: dict, path: str) -> None:
        length = environ.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or int(length) > BODY_MAX:
            raise CallbackError(413, "payload_too_large", "the body is too large")
        raw = environ["wsgi.input"].read(int(length))
        names = {name: "HTTP_" + name.upper().replace("-", "_") for name in HEADERS}
        verified = verify(raw, {name: environ[key] for name, key in names.items() if key in environ},
                          self.keys, **self.options)
        kind = self.kind or path.rpartition("/")[2]
        if verified.kind not in (None, kind):
            raise CallbackError(400, "bad_request", "webhook-id: is not of this callback")
        environ["creditbridge.callback"] = Callback(kind, parse_callback(kind, raw), *verified[1:])
        environ["creditbridge.raw_body"] = raw
        environ["wsgi.input"] = io.BytesIO(raw)

    def _refuse(self, start_response: Callable, error: Exception, status: str, error_id: str,
                detail: str) -> Iterable[bytes]:
        self.on_refused(error)
        body = json.dumps({"id": error_id, "detail": detail}).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]
