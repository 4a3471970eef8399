"""Dealers' servers as they should not be: each fault is a path of one server.

A fault is a function of a connection and a request; it returns True to keep the connection.
"""
import gzip
import select
import socket
import ssl
import struct
import threading
import time

BALANCE = b'{"user_id":"alice","balance":100.5,"currency":"thb"}'
ERROR = b'{"id":"bet_refused","detail":"no bets today"}'
HANG_S = 6


class Request:
    """One request as it arrived."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, self.version = lines[0].split(" ")
        self.headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
        self.body = body
        self.length = len(head) + len(b"\r\n\r\n") + len(body)
        self.time_s = time.time()

    def header(self, name):
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"header {name} is there {len(values)} times")
        return values[0] if values else None


def reset(connection):
    """Closes with an RST instead of a FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def answer(status, body=b"", headers="", length=None, reason="Reason"):
    def fault(connection, _request):
        size = len(body) if length is None else length
        connection.sendall(f"HTTP/1.1 {status} {reason}\r\nContent-Length: {size}\r\n{headers}\r\n"
                           .encode() + body)
        return length is None
    return fault


def raw(data, then="close"):
    """Sends bytes and closes, resets, hangs, or waits a moment and resets."""
    def fault(connection, _request):
        connection.sendall(data)
        if then == "hang":
            hang(connection, _request)
        elif then == "reset":
            reset(connection)
        elif then == "reset later":
            time.sleep(0.3)
            reset(connection)
        return False
    return fault


def hang(connection, _request):
    """Until the client goes away."""
    select.select([connection], [], [], HANG_S)
    return False


def reset_at_once(connection, _request):
    reset(connection)
    return False


def close_at_once(_connection, _request):
    return False


def trickle(head, body):
    """A byte each 100 ms."""
    def fault(connection, _request):
        connection.sendall(head)
        for byte in body:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)
        return False
    return fault


def endless(head, piece):
    """A gigabyte, if it is let."""
    def fault(connection, _request):
        connection.sendall(head)
        for _ in range(1 + (1 << 30) // len(piece)):
            connection.sendall(piece)
        return False
    return fault


def chunks(*pieces, end=True):
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    data += b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return raw(data + (b"0\r\n\r\n" if end else b""))


def sized(size):
    """A readable object of @size bytes."""
    return b'{"padding":"' + b"x" * (size - 14) + b'"}'


def two_answers(delay_s):
    """Sends a second answer without a request: the client must not take it for the next
    request's."""
    def fault(connection, _request):
        one = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
        two = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ERROR), ERROR)
        if delay_s:
            connection.sendall(one)
            time.sleep(delay_s)
            connection.sendall(two)
        else:
            connection.sendall(one + two)
        return True
    return fault


PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
HTML = b"<!DOCTYPE html><html><body>It works!</body></html>"
PACKED = gzip.compress(BALANCE)

# Name: (fault, class, HTTP status; for refusals, whether the dealer's words must have arrived).
FAULTS = {
    # no answer
    "hang": (hang, "unknown", 0),
    "hang-in-header": (raw(b"HTTP/1.1 200 OK\r\nContent-", "hang"), "unknown", 200),
    "hang-in-body": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "hang"), "unknown", 200),
    "reset-before": (reset_at_once, "unknown", 0),
    "reset-in-header": (raw(b"HTTP/1.1 200 OK\r\nContent-", "reset later"), "unknown", 200),
    "reset-in-body": (raw(PLAIN + b"\r\n{", "reset later"), "unknown", 200),
    "reset-without-length": (raw(b"HTTP/1.1 200 OK\r\n\r\n", "reset later"), "unknown", 200),
    "reset-after": (raw(PLAIN + b"\r\n{}", "reset later"), "success", 200),
    "close-without-reply": (close_at_once, "unknown", 0),
    "close-in-header": (raw(b"HTTP/1.1 200 OK\r\nContent-"), "unknown", 200),
    # 2xx
    "empty": (answer(200), "success", 200),
    "empty-204": (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "success", 204),
    "white-space": (answer(200, b" \r\n\t\n"), "success", 200),
    "object": (answer(200, b'{"ok":true}'), "success", 200),
    "balance": (answer(200, BALANCE), "success", 200),
    "wrong-members": (answer(200, b'{"user_id":1,"balance":"1","currency":"THB"}'), "success", 200),
    "no-reason": (raw(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}"), "success", 200),
    "http-1.0": (raw(b"HTTP/1.0 200 OK\r\n\r\n" + BALANCE), "success", 200),
    "chunked": (chunks(BALANCE[:10], BALANCE[10:]), "success", 200),
    "largest": (answer(200, sized(65536)), "success", 200),
    "interim": (raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + PLAIN + b"\r\n{}"), "success", 200),
    "error-body-200": (answer(200, ERROR), "refused", 200, True),
    "error-body-202": (answer(202, ERROR), "refused", 202, True),
    "html": (answer(200, HTML, "Content-Type: text/html\r\n"), "unknown", 200),
    "ok": (answer(200, b"OK"), "unknown", 200),
    "array": (answer(200, b"[" + BALANCE + b"]"), "unknown", 200),
    "string": (answer(200, b'"ok"'), "unknown", 200),
    "null": (answer(200, b"null"), "unknown", 200),
    "truncated": (answer(200, BALANCE[:-1]), "unknown", 200),
    "two-objects": (answer(200, BALANCE + BALANCE), "unknown", 200),
    "key-twice": (answer(200, b'{"balance":1,"balance":2}'), "unknown", 200),
    "deep": (answer(200, b"[" * 30000 + b"]" * 30000), "unknown", 200),
    "not-utf-8": (answer(200, b'{"a":"\xff"}'), "unknown", 200),
    "nul": (answer(200, b'{}\0'), "unknown", 200),
    # bodies of a wrong length
    "too-long-length": (answer(200, b"{}", length=100), "unknown", 200),
    "too-short-length": (answer(200, BALANCE, length=10), "unknown", 200),
    "no-length": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{", "hang"), "unknown", 200),
    "negative-length": (answer(200, b"{}", length=-2), "unknown", 200),
    "chunks-cut": (chunks(BALANCE[:10], end=False), "unknown", 200),
    "chunks-broken": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"), "unknown", 200),
    # too much, too slow
    "trickle-header": (trickle(b"", PLAIN + b"\r\n{}" + b" " * 60), "unknown", None),
    "trickle-body": (trickle(b"HTTP/1.1 200 OK\r\n\r\n", BALANCE + b" " * 20), "unknown", 200),
    "body-of-65537": (answer(200, sized(65537)), "unknown", 200),
    "gigabyte": (endless(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n", b" " * 65536), "unknown", 200),
    "gigabyte-chunked": (endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                 b"8000\r\n" + b" " * 32768 + b"\r\n"), "unknown", 200),
    "gigabyte-400": (endless(b"HTTP/1.1 400 No\r\n\r\n", b" " * 65536), "unknown", 400),
    "header-line": (endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"x" * 65536), "unknown", 200),
    "header-lines": (endless(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n" * 1024), "unknown", 200),
    "header-of-20k": (answer(200, b"{}", "X-A: " + "x" * 20000 + "\r\n"), "unknown", 200),
    "header-of-15k": (answer(200, b"{}", "X-A: " + "x" * 15000 + "\r\n"), "success", 200),
    "interims": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1024), "unknown", None),
    # packed
    "gzip": (answer(200, PACKED, "Content-Encoding: gzip\r\n"), "unknown", 200),
    "gzip-claimed": (answer(200, BALANCE, "content-encoding: GZIP\r\n"), "unknown", 200),
    "gzip-not-said": (answer(200, PACKED), "unknown", 200),
    "gzip-transfer": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + PACKED), "unknown", 200),
    "identity": (answer(200, BALANCE, "Content-Encoding: identity\r\n"), "success", 200),
    # not HTTP
    "http-0.9": (raw(BALANCE), "unknown", 0),
    "garbage": (raw(b"\0\1\2\3\r\n\r\n"), "unknown", 0),
    "status-600": (answer(600, b"{}"), "unknown", 600),
    "status-101": (raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n{}", "hang"), "unknown", None),
    # 3xx
    "301": (answer(301, b"{}", "Location: /object\r\n"), "unknown", 301),
    "302-forbidden": (answer(302, b"", "Location: http://169.254.169.254/\r\n"), "unknown", 302),
    "304": (raw(b"HTTP/1.1 304 Not Modified\r\n\r\n"), "unknown", 304),
    "307": (answer(307, b"", "Location: @OTHER@\r\n"), "unknown", 307),
    # 4xx
    "400": (answer(400), "refused", 400, False),
    "400-error-body": (answer(400, ERROR), "refused", 400, True),
    "400-half-error-body": (answer(400, b'{"id":"x"}'), "refused", 400, False),
    "400-gzip": (answer(400, gzip.compress(ERROR), "Content-Encoding: gzip\r\n"), "refused", 400, False),
    "400-cut": (answer(400, ERROR, length=1000), "unknown", 400),
    "401": (answer(401, b"", 'WWW-Authenticate: Basic realm="x"\r\n'), "refused", 401, False),
    "402-error-body": (answer(402, ERROR), "refused", 402, True),
    "404": (answer(404, HTML), "refused", 404, False),
    "404-error-body": (answer(404, ERROR), "refused", 404, True),
    "405": (answer(405, b"", "Allow: GET\r\n"), "refused", 405, False),
    "409-error-body": (answer(409, ERROR), "refused", 409, True),
    "417": (answer(417), "refused", 417, False),
    "408": (answer(408), "unknown", 408),
    "408-error-body": (answer(408, ERROR), "unknown", 408),
    "425-error-body": (answer(425, ERROR), "unknown", 425),
    "429": (answer(429, b"", "Retry-After: 1\r\n"), "unknown", 429),
    "429-error-body": (answer(429, ERROR), "unknown", 429),
    # 5xx
    "500": (answer(500), "unknown", 500),
    "500-error-body": (answer(500, ERROR), "unknown", 500),
    "502": (answer(502, HTML), "unknown", 502),
    "503": (answer(503, b"{}", "Retry-After: 1\r\n"), "unknown", 503),
    "504": (answer(504), "unknown", 504),
    # good ones that matter for what comes next on the same connection
    "cookie": (answer(200, b"{}", "Set-Cookie: a=b; Path=/\r\n"), "success", 200),
    "two-answers": (two_answers(0), "success", 200),
    "two-answers-later": (two_answers(0.2), "success", 200),
}


class Dealer:
    """A listening server. @requests, oldest first, and @connections are what arrived."""

    def __init__(self, context=None, fault=None, on_accept=None, cut_at=0, family=socket.AF_INET):
        """@context: TLS. @fault: of every path. @on_accept: what happens instead of reading.
        @cut_at: each connection is closed after so many requests, the last one unanswered."""
        self.context = context
        self.fault = fault
        self.on_accept = on_accept
        self.cut_at = cut_at
        self.other = ""
        self.requests = []
        self.connections = 0
        self.responded = 0  # faults that are done
        self.closed = 0
        self.errors = []
        self.listener = socket.socket(family)
        self.listener.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))
        self.listener.listen(512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def url(self, host="127.0.0.1"):
        return f"{'https' if self.context else 'http'}://{host}:{self.port}"

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.on_accept:
                self.on_accept(connection, None)
                return
            if self.context:
                connection.settimeout(HANG_S)
                connection = self.context.wrap_socket(connection, server_side=True)
            served = 0
            while True:
                request = read_request(connection)
                if not request:
                    return
                served += 1
                self.requests.append(request)
                if served == self.cut_at:
                    return
                fault = self.fault or FAULTS[request.path.split("/")[1]][0]
                goes_on = self.respond(fault, connection, request)
                self.responded += 1
                if not goes_on:
                    return
        except (OSError, ssl.SSLError):
            pass  # The client went away, as it should from many of these.
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(repr(error))
        finally:
            connection.close()
            self.closed += 1

    def respond(self, fault, connection, request):
        if request.path.startswith("/307/"):
            fault = answer(307, b"", f"Location: {self.other}\r\n")
        return fault(connection, request)

    def stop(self):
        # shutdown() wakes the accept(). close() does not.
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()


class CutDealer(Dealer):
    """Resets each connection as soon as it has read @offset bytes of a request. None: it reads a whole
    request, and @length is then how long that was."""

    def __init__(self, context=None):
        self.offset = self.length = None
        super().__init__(context)

    def serve(self, connection):
        try:
            if self.context:
                connection.settimeout(HANG_S)
                connection = self.context.wrap_socket(connection, server_side=True)
            if self.offset is None:
                request = read_request(connection)
                self.length = request.length
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                return
            left = self.offset
            while left:
                left -= len(connection.recv(left))
            reset(connection)
        except (OSError, ssl.SSLError):
            pass  # The client went away.
        finally:
            connection.close()


def read_request(connection):
    """The next request; None: the connection ended."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    if len(body) != length:
        raise AssertionError(f"{len(body)} bytes of body, {length} announced")
    return Request(head, body)


def full_backlog():
    """A listener whose queue is full: a connection's first packet is not answered.
    Returns what must be kept alive, and the port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    held = [listener]
    for _ in range(8):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(listener.getsockname())
        held.append(client)
    time.sleep(0.1)
    return held, listener.getsockname()[1]
