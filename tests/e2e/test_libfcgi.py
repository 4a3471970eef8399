#!/usr/bin/python3
"""libfcgi below a worker: what it cannot read ends one connection only, a request that has not come
whole stalls no other, and a libfcgi that does not call the worker's OS_Read() is refused."""
import ctypes.util
import itertools
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_fastcgi  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_http import TRANSFER_IN, now_ms, sign  # noqa: E402

WAIT_S = 20
GET_VALUES = 9
SYMBOLIC = struct.pack("<QQ", 16, 0)  # DT_SYMBOLIC
NUMBERS = itertools.count(1)


class Bench:
    """A ledger, and a worker of the wallet with a socket of its own."""

    def __init__(self):
        self.wallet = cb.Instance("cblibfcgi")
        self.dealer = self.wallet.dealer_add("dealer")
        self.wallet.player_add("dealer", "alice")
        self.worker = self.start("worker")
        wait_until(lambda: cb_fastcgi.listens(self.socket("worker")), WAIT_S, "the worker's socket")

    def socket(self, name):
        return self.wallet.dir / f"{name}.sock"

    def start(self, name, **env):
        return cb.Child([self.wallet.worker, "--config", self.wallet.config, "--threads", 8,
                         "--socket", self.socket(name)], self.wallet.logs / f"{name}.log",
                        env=dict(os.environ, **env))

    def transfer_bytes(self):
        """A whole request, signed, and its number."""
        number = next(NUMBERS)
        body = json.dumps({"request_transaction_id": f"t-{number}", "user_id": "alice", "amount": 1,
                           "timestamp": now_ms()}).encode()
        headers = [("x-casino-id", self.dealer.casino_id),
                   ("x-casino-signature", sign(self.dealer.key, body))]
        return cb_fastcgi.request_bytes(TRANSFER_IN, headers, body, "POST")

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(WAIT_S)
        connection.connect(str(self.socket("worker")))
        return connection

    def moves(self):
        with self.connect() as connection:
            connection.sendall(self.transfer_bytes())
            equal(answer_of(connection).status, 200, "a transfer")

    def balance(self):
        return self.wallet.ctl_json("player", "show", "dealer", "alice")["balance"]

    def close(self):
        check(self.worker.running(), "the worker is alive")
        self.worker.stop()
        self.wallet.close()


def answer_of(connection):
    data = b""
    while piece := connection.recv(65536):
        data += piece
    out = b""
    while data:
        _, kind, _, length, padding = cb_fastcgi.HEADER.unpack(data[:8])
        out += data[8:8 + length] if kind == cb_fastcgi.STDOUT else b""
        data = data[8 + length + padding:]
    return cb_fastcgi.parse(out)


def closed_unanswered(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def case_half_sent(bench):
    """More requests than the worker has fibers to spare hang in each part; others are answered."""
    half = []
    for number in range(7):
        whole = bench.transfer_bytes()
        connection = bench.connect()
        connection.sendall(whole[:(3, 8, 13, 16, 40, len(whole) - 60, len(whole) - 8)[number]])
        half.append((connection, whole))
    before = bench.balance()
    for _ in range(20):
        bench.moves()
    equal(bench.balance(), before + 20, "what the others moved")
    for connection, whole in half[:6]:
        connection.close()
    # The one that lacks its last record only goes on where it was.
    connection, whole = half[6]
    connection.sendall(whole[len(whole) - 8:])
    equal(answer_of(connection).status, 200, "the request that hung")
    connection.close()


def case_broken_body(bench):
    """A body that broke off is not answered, and moves nothing: not even a 4xx is true of it."""
    before = bench.balance()
    for left_out in (1, 8, 9, 20):
        with bench.connect() as connection:
            connection.sendall(bench.transfer_bytes()[:-left_out])
            connection.shutdown(socket.SHUT_WR)
            check(closed_unanswered(connection), f"an answer to a request without {left_out} bytes")
    equal(bench.balance(), before, "the balance")
    bench.moves()


def case_management(bench):
    """FCGI_GET_VALUES with 60 names would write past a buffer of libfcgi."""
    names = b"".join(cb_fastcgi.pair("FCGI_MAX_CONNS", "") for _ in range(60))
    record = cb_fastcgi.HEADER.pack(1, GET_VALUES, 0, len(names), 0) + names
    whole = bench.transfer_bytes()
    for sent in (record, whole[:16] + record, whole[:-8] + record):
        with bench.connect() as connection:
            connection.sendall(sent)
            check(closed_unanswered(connection), "an answer to a management record")
    bench.moves()


def symbolic_made(folder):
    """A copy of libfcgi that looks for its functions in itself first, as -Bsymbolic makes it."""
    name = ctypes.util.find_library("fcgi")
    check(name, "libfcgi is installed")
    with open("/proc/self/maps", encoding="utf-8") as maps:
        library = ctypes.CDLL(name)
        path = next(line.split()[-1] for line in maps if "libfcgi.so" in line)
    del library
    data = bytearray(pathlib.Path(path).read_bytes())
    sections, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    for number in range(count):
        kind, _, _, at, size = struct.unpack_from("<IQQQQ", data, sections + 64 * number + 4)
        if kind == 6:  # SHT_DYNAMIC, which ends with spare entries
            spare = next(entry for entry in range(at, at + size - 16, 16)
                         if data[entry:entry + 32] == bytes(32))
            data[spare:spare + 16] = SYMBOLIC
    folder.mkdir()
    (folder / name).write_bytes(data)
    (folder / "libfcgi.so").symlink_to(name)
    return folder


def case_symbolic(bench):
    """A worker would wait within libfcgi, and all its other requests with it."""
    folder = symbolic_made(bench.wallet.dir / "symbolic")
    worker = bench.start("symbolic", LD_LIBRARY_PATH=str(folder))
    wait_until(lambda: not worker.running(), WAIT_S, "the end of the worker")
    equal(worker.stop(), 1, "its exit code")
    text = (bench.wallet.logs / "symbolic.log").read_text()
    check("libfcgi does not call this program's OS_Read()" in text, text)
    check("install the distribution's libfcgi0ldbl" in text, text)


def case_configure(bench):
    folder = bench.wallet.dir / "configure"
    folder.mkdir()
    done = subprocess.run([cb.SRCDIR / "configure", "--quiet"], cwd=folder, text=True,
                          capture_output=True, check=False, timeout=300,
                          env=dict(os.environ, LD_LIBRARY_PATH=str(bench.wallet.dir / "symbolic")))
    equal(done.returncode, 1, "exit code of configure")
    check("libfcgi does not call this program's OS_Read()" in done.stderr, done.stderr[-500:])
    check("install the distribution's libfcgi-dev" in done.stderr, done.stderr[-500:])


def main():
    bench = Bench()
    try:
        return cb.run_cases([
            ("a half-sent request stalls no other", lambda: case_half_sent(bench)),
            ("a body that broke off is not answered", lambda: case_broken_body(bench)),
            ("management records", lambda: case_management(bench)),
            ("a libfcgi that ignores OS_Read()", lambda: case_symbolic(bench)),
            ("configure refuses such a libfcgi", lambda: case_configure(bench)),
        ])
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
