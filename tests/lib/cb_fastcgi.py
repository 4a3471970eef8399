"""The web server's side of FastCGI: sends one request at a time to a worker's own socket
(--socket)."""
import socket
import struct

from cb_http import Answer

HEADER = struct.Struct(">BBHHBx")
BEGIN, END, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6
RESPONDER = 1


def record(kind, data):
    return HEADER.pack(1, kind, 1, len(data), 0) + data


def pair(name, value):
    """Encodes one parameter; all of ours are short."""
    name, value = name.encode(), value.encode()
    head = b"".join(bytes([len(part)]) if len(part) < 128 else struct.pack(">I", 1 << 31 | len(part))
                    for part in (name, value))
    return head + name + value


def request_bytes(path, headers, body, method, more=None):
    params = {
        "REQUEST_METHOD": method, "SCRIPT_NAME": path, "PATH_INFO": "", "REQUEST_URI": path,
        "QUERY_STRING": "", "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)),
        "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
    }
    params.update({f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers})
    params.update(more or {})
    data = b"".join(pair(*param) for param in params.items())
    return b"".join((record(BEGIN, struct.pack(">HB5x", RESPONDER, 0)), record(PARAMS, data),
                     record(PARAMS, b""), record(STDIN, body) if body else b"",
                     record(STDIN, b"")))


def receive(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionResetError("the worker closed the connection")
        data += piece
    return data


def request(path_of_socket, path, headers, body, timeout=10.0, method="POST", more=None):
    """Returns the answer; @more are parameters of the web server's. Raises OSError if there is none or it is incomplete."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(str(path_of_socket))
        connection.sendall(request_bytes(path, headers, body, method, more))
        out = b""
        while True:
            _, kind, _, length, padding = HEADER.unpack(receive(connection, HEADER.size))
            data = receive(connection, length + padding)[:length]
            if kind == STDOUT:
                out += data
            if kind == END:
                break
    return parse(out)


def parse(out):
    head, end, body = out.partition(b"\r\n\r\n")
    if not end:
        raise ConnectionResetError("an answer without a head")
    headers = [tuple(part.strip() for part in line.split(":", 1))
               for line in head.decode().split("\r\n")]
    status = int(dict(headers).get("Status", "200").split()[0])
    length = dict(headers).get("Content-Length")
    if length is not None and int(length) != len(body):
        raise ConnectionResetError(f"a body of {len(body)} bytes, {length} announced")
    return Answer(status, headers, body)


def listens(path):
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
