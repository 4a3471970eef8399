"""An HTTP client with which tests control every byte of a request."""
import hashlib
import hmac
import http.client
import json
import socket
import time

from cb_process import PATIENCE

ANSWER_S = 5.0 * PATIENCE  # until an answer's next byte
TRANSFER_IN = "/wallet-service/credit/transfer-in"
TRANSFER_OUT = "/wallet-service/credit/transfer-out"
TRANSFER_INQUIRE = "/wallet-service/credit/transfer-inquire"
BALANCE = "/user-service/user/3rdparty-get-balance"
STAT = "/user-service/user/stat"
RESULT_INQUIRE = "/game-service/bet_game/result-inquire"
READ_PATHS = (BALANCE, STAT, RESULT_INQUIRE)


def now_ms():
    return int(time.time() * 1000)


def sign(key, body):
    """Returns the x-casino-signature of the bytes @body: HMAC-SHA256 with the key's characters
    as bytes."""
    return hmac.new(key.encode(), body, hashlib.sha256).hexdigest()


class Answer:
    """The status, headers and body of one answer."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def header(self, name):
        """Returns the header's value, or None if it is absent. Fails if the header occurs twice."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"header {name} is there {len(values)} times: {values}")
        return values[0] if values else None

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise AssertionError(f"no JSON body: {self}") from error

    @property
    def replayed(self):
        return self.header("X-Idempotent-Replay") == "true"

    def __repr__(self):
        return f"{self.status} {self.body[:400]!r}"


def encode_chunked(body, size=7):
    """Encodes @body in small chunks (chunked transfer)."""
    pieces = [body[i:i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def raw_request(port, data, method="POST", timeout=ANSWER_S):
    """Sends the bytes @data on a new connection and reads one answer."""
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        try:
            connection.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # A server may answer before it has read the whole request.
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        body = response.read()
        return Answer(response.status, response.getheaders(), body)


def request_bytes(method, target, headers, body, chunked):
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    if body is None:
        payload = b""
    elif chunked:
        lines.append("Transfer-Encoding: chunked")
        payload = encode_chunked(body, max(7, len(body) // 16))
    else:
        lines.append(f"Content-Length: {len(body)}")
        payload = body
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + payload


def call(server, method, path, body=None, *, dealer=None, casino=None, signature=None,
         headers=(), chunked=False, port=None, timeout=ANSWER_S):
    """Sends one request to @server (a Server, or any object with port and prefix).

    @body: an object is sent as JSON, bytes are sent unchanged, None sends no body. @dealer signs.
    @casino and @signature replace the default values; "" omits the header. @headers are added."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if dealer is not None:
        casino = dealer.casino_id if casino is None else casino
        signature = sign(dealer.key, body or b"") if signature is None else signature
    sent = [("Host", f"127.0.0.1:{port or server.port}"), ("Connection", "close")]
    if body is not None:
        sent.append(("Content-Type", "application/json"))
    if casino:
        sent.append(("x-casino-id", casino))
    if signature:
        sent.append(("x-casino-signature", signature))
    data = request_bytes(method, server.prefix + path, sent + list(headers), body, chunked)
    return raw_request(port or server.port, data, method, timeout)
