"""Servers that replace the service or a proxy and disturb a client in many ways."""
import collections
import http.server
import json
import ssl
import threading

from cb_http import raw_request, request_bytes
from cb_process import commands_with


Call = collections.namedtuple("Call", "method path headers body")


class Listening(http.server.ThreadingHTTPServer):
    """A server on a loopback port that accepts connections as soon as the `with` statement is
    entered. @port 0: any."""

    daemon_threads = True
    request_queue_size = 128
    scheme = "http"

    def __init__(self, handler, port=0):
        super().__init__(("127.0.0.1", port), handler)
        self.url = f"{self.scheme}://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"] or 0))


class Scripted(Listening):
    """A dealer's server whose answers the test decides. reply(call) returns the status and the body:
    a text, or what becomes JSON. @seen lists the calls; the names of their headers are in lower case."""

    def __init__(self, reply, port=0):
        super().__init__(ScriptedHandler, port)
        self.reply = reply
        self.seen = []


class ScriptedHandler(Quiet):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def do_POST(self):
        call = Call(self.command, self.path, {name.lower(): value for name, value in self.headers.items()},
                    self.body())
        self.server.seen.append(call)
        status, answer = self.server.reply(call)
        payload = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("X-Request-Id", "r-1")
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_PUT = do_POST


def key_shown(key):
    """Returns the command lines that contain the key, which every user of the machine could
    read."""
    return list(commands_with(key).values())


class DisturbingProxy(Listening):
    """A disturbing proxy in front of the service. @plan lists the disturbance of each request."""

    def __init__(self, server, key, plan, passed=("x-casino-id", "x-casino-signature")):
        super().__init__(DisturbingHandler)
        self.passed = ("Content-Type", *passed)
        self.target = server
        self.key = key
        self.plan = plan
        self.bodies = []
        self.shown = []
        self.held = threading.Event()  # set while a call waits for its answer or to be forwarded
        self.release = threading.Event()

    def handle_error(self, *_):  # pylint: disable=arguments-differ
        pass


class DisturbingHandler(Quiet):
    protocol_version = "HTTP/1.1"

    def hold(self):
        self.server.held.set()
        self.server.release.wait(60)

    def do_POST(self):
        body = self.body()
        plan, target = self.server.plan, self.server.target
        step = plan[min(len(self.server.bodies), len(plan) - 1)]
        self.server.bodies.append(body)
        self.server.shown += key_shown(self.server.key)
        self.close_connection = True
        answer = None
        if step == "held before":
            self.hold()
            return
        if step in ("lost", "pass", "held after"):
            headers = [("Host", "127.0.0.1"), ("Connection", "close"),
                       *((name, self.headers[name]) for name in self.server.passed)]
            answer = raw_request(target.port, request_bytes(
                self.command, target.prefix + self.path, headers, body, False), self.command)
        if step == "held after":
            self.hold()
        if step in ("lost", "held after"):
            return
        status, payload = (answer.status, answer.body) if answer else (step, b"<h1>Sorry</h1>")
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


class TlsServer(Listening):
    """A server with a self-signed certificate."""

    scheme = "https"

    def __init__(self, certificate):
        super().__init__(TlsHandler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        # The thread of a connection does its handshake: a client that says nothing keeps no other waiting.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.requests = self.refused = 0


class TlsHandler(Quiet):
    def handle(self):
        try:
            self.connection.do_handshake()
        except OSError:
            self.server.refused += 1
            return
        super().handle()

    def do_POST(self):
        self.body()
        self.server.requests += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"amount":1}')
