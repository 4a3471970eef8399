"""Servers that replace the service or a proxy and disturb a client in many ways."""
import http.server
import ssl
import threading

from cb_http import raw_request, request_bytes
from cb_process import commands_with


class Listening(http.server.ThreadingHTTPServer):
    """A server on a loopback port that accepts connections as soon as the `with` statement is
    entered."""

    daemon_threads = True
    scheme = "http"

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
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


def key_shown(key):
    """Returns the command lines that contain the key, which every user of the machine could
    read."""
    return list(commands_with(key).values())


class Front(Listening):
    """A disturbing proxy in front of the service. @plan lists the disturbance of each request."""

    def __init__(self, server, key, plan):
        super().__init__(FrontHandler)
        self.target = server
        self.key = key
        self.plan = plan
        self.bodies = []
        self.shown = []
        self.held = threading.Event()  # set while a call waits for its answer or to be forwarded
        self.release = threading.Event()

    def handle_error(self, *_):  # pylint: disable=arguments-differ
        pass


class FrontHandler(Quiet):
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
                       *((name, self.headers[name]) for name in
                         ("Content-Type", "x-casino-id", "x-casino-signature"))]
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
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.requests = self.refused = 0

    def get_request(self):
        try:
            return super().get_request()
        except OSError:
            self.refused += 1
            raise


class TlsHandler(Quiet):
    def do_POST(self):
        self.body()
        self.server.requests += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"amount":1}')
