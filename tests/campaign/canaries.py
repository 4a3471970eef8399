"""All that the service does, done with keys, signatures and words in bodies that are noted: what
leaks.py searches for.
"""
import json
import os
import secrets
import socket
import stat
import subprocess
import threading

import cb
import test_logs
from cb import check
from cb_listener import TlsServer
from cb_platform import BETS, PLAYERS, RESULTS
from console_visits import Visits
from needles import Net
from traced import Traced

SETTINGS = dict(test_logs.LOOPBACK, result_second_attempt_ms=0, ledger_deadline_ms=1000)


class SystemLog(threading.Thread):
    """A /dev of its own, in which log is ours; wrap() runs a program where it stands for /dev."""

    def __init__(self, directory):
        super().__init__(daemon=True)
        self.dev = directory / "dev"
        self.dev.mkdir(mode=0o755)
        self.received = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.dev / "log"))
        (self.dev / "log").chmod(0o666)
        for name in ("null", "zero", "random", "urandom"):
            os.mknod(self.dev / name, stat.S_IFCHR | 0o666, os.stat(f"/dev/{name}").st_rdev)
            (self.dev / name).chmod(0o666)
        self.start()

    def run(self):
        while True:
            try:
                self.received.append(self.socket.recv(65536))
            except OSError:
                return

    def wrap(self, argv):
        return ["unshare", "--mount", "--", "sh", "-ec", 'mount --bind "$0" /dev; exec "$@"',
                self.dev, *argv]


class Wallet(cb.Instance):
    """Runs in @dumps, where everybody may leave a core dump."""

    def __init__(self, level):
        self.log = None
        super().__init__("cbleaks", settings=dict(SETTINGS, log_level=level), start=False)
        self.front = secrets.token_hex(32)
        front_file = self.dir / "console-front"
        front_file.touch(mode=0o600)
        front_file.write_text(self.front + "\n")
        self.settings = dict(SETTINGS, log_level=level, console_front_file=str(front_file),
                             console_page_rate=1000)
        self.dumps = self.dir / "dumps"
        self.dumps.mkdir()
        # Web servers run workers in the directory of the program.
        for path in (self.dumps, self.dir / "bin"):
            path.chmod(0o777)
        if level == "info" and os.geteuid() == 0:
            self.log = SystemLog(self.dir)
            self.settings["log_target"] = "syslog"
        self.write_config(self.settings)
        self.start()

    def argv(self, argv):
        argv = ["sh", "-c", 'cd "$0"; ulimit -c unlimited; exec "$@"', self.dumps, *argv]
        return self.log.wrap(argv) if self.log else argv

    def ledger_start(self):
        self.ledger = cb.Child(self.argv([cb.find_program("creditbridge-ledger"), "--config",
                                          self.config]), self.logs / "ledger.log")

    def server(self, kind):
        class Wrapped(kind):
            def argv(self):
                return self.instance.argv(super().argv())
        return Wrapped(self, threads=4)

    def logged(self):
        texts = {path.name: path.read_bytes() for path in self.logs.iterdir()}
        if self.log:
            texts["syslog"] = b"\n".join(self.log.received)
        return texts

    def close(self):
        super().close()
        if self.log:
            self.log.socket.close()


class Run(test_logs.Run):
    """All actions of a run on a wallet, with its secrets, and all outputs that are searched for
    them."""

    def __init__(self, wallet):
        super().__init__(wallet)
        self.keys = set()
        self.bodies = {test_logs.MARKER}
        self.answers = []   # (expected status, bytes), of callers without a session of the console
        self.pages = []     # (status, bytes), of the console's operator
        self.printed = []   # (words, bytes)
        self.traces = []    # (program, Traced)
        self.visits = Visits(wallet)

        self.ctl = self.operate_on
        self.ctl_json = lambda *words: json.loads(self.ctl("--json", *words).stdout)

    def operate_on(self, *words, code=0):
        """creditbridgectl; @code None: it may end as it likes."""
        done = self.wallet.ctl_run(*words)
        check(code in (None, done.returncode), f"{words}: {done}")
        self.printed.append(([str(word) for word in words if word != "--json"],
                             (done.stdout + done.stderr).encode()))
        return done

    def key(self, made):
        self.keys.add(made["key"])
        return super().key(made)

    def canary(self):
        self.bodies.add(secrets.token_urlsafe(48))
        return max(self.bodies, key=len)

    def setup(self):
        super().setup()
        self.keys.add(self.dealers["reference"][1])

    def send(self, *words):
        answer = super().send(*words)
        head = "".join(f"{name}: {value}\n" for name, value in answer.headers)
        self.answers.append((answer.status, head.encode() + b"\n" + answer.body))
        return answer

    def net(self):
        net = Net()
        net.add("key", self.keys)
        net.add("signature", self.secrets - self.keys)
        net.add("body", self.bodies)
        net.add("front", [self.visits.front])
        net.add("session", self.visits.sessions)
        net.add("code", self.visits.codes)
        return net

    # -- more than the logs' suite does

    def more(self):
        self.rotate()
        self.broken_dealers()
        for request_id in [name for name, (status, _) in self.requests.items()
                           if status in (400, 401)][-8:]:
            self.ctl("explain", request_id, code=None)
        events = self.ctl_json("callback", "list", "--limit", 3)["callbacks"]
        for words in (("status",), ("metrics",), ("audit", "--limit", 0), ("dealer", "list"),
                      ("dealer", "show", "seamless"), ("client", "list"), ("check",), ("doctor",),
                      *(("callback", "show", row["event"]) for row in events)):
            self.ctl(*words, code=None)
        for path in ("/metrics", "/readyz", "/healthz"):
            self.send(self.server.platform_port, "GET", path, b"", [], 200)
        backup = self.wallet.dir / "backup"
        self.ctl("backup", backup)
        self.ctl("export", self.wallet.dir / "export")
        self.ctl("export", "--with-keys", self.wallet.dir / "export-keys", code=None)

    def rotate(self):
        """Keys that come from files, and go again."""
        path = self.wallet.dir / "key"
        name = test_logs.new_id("filed")
        for words in (("dealer", "add", name, "--currency", "thb", "--mode", "transfer"),
                      ("dealer", "key-add", name)):
            self.keys.add(key := secrets.token_hex(32))
            path.write_text(key + "\n")
            path.chmod(0o600)
            self.ctl(*words, "--key-file", path)
        self.ctl("dealer", "key-use", name, "k2")
        self.ctl("dealer", "key-retire", name, "k1", "--reason", "rotation")
        body = self.wallet.dir / "body"
        body.write_text("{}")
        self.secrets |= {cb.sign(key, b"{}") for key in self.keys}
        self.ctl("sign", "--key-file", path, body)
        path.unlink()

    def broken_dealers(self):
        """Dealers without a server, with a certificate of no known CA, with a redirect; and a round
        with objects."""
        certificate = self.wallet.dir / "tls.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", certificate, "-out",
                        self.wallet.dir / "certificate", "-days", "2", "-subj", "/CN=dealer"],
                       check=True, capture_output=True, timeout=30)
        with open(certificate, "a", encoding="ascii") as both:
            both.write((self.wallet.dir / "certificate").read_text())
        with TlsServer(certificate) as tls:
            for url in (tls.url, f"http://127.0.0.1:{cb.free_port()}"):
                name = test_logs.new_id("broken")
                self.key(self.ctl_json("dealer", "add", name, "--currency", "thb", "--mode",
                                       "seamless", "--url", url, "--allow-http"))
                self.bet(name, 502)
        self.casino.answers = [(302, {})]
        self.bet("seamless", 504)
        player = self.bet("seamless", 200)
        self.platform(RESULTS, {**player, "request_transaction_id": test_logs.new_id("key"),
                                "result": "win", "payout_amount": 2, "remark": self.canary(),
                                "user_bet": {"word": self.canary()},
                                "game_result": {"word": self.canary()},
                                "user_bet_result": {"word": self.canary()}})
        self.call("GET", cb.RESULT_INQUIRE, {"user_id": player["user_id"],
                                             "game_id": player["game_id"]}, "seamless")
        self.platform(BETS, {**player, "request_transaction_id": test_logs.new_id("key"),
                             "bet_amount": "1", "remark": self.canary(),
                             "user_bet": {"word": self.canary()}}, 400)

    def bet(self, casino_id, expected):
        player = {"casino_id": casino_id, "user_id": test_logs.new_id("user")}
        self.platform(PLAYERS, player)
        player["game_id"] = test_logs.new_id("game")
        self.platform(BETS, {**player, "request_transaction_id": test_logs.new_id("key"),
                             "bet_amount": 1, "remark": self.canary(),
                             "user_bet": {"word": self.canary()}}, expected)
        return player

    def refused_for_room(self):
        """No space, and then no ledger."""
        user = test_logs.new_id("user")
        self.platform(PLAYERS, {"casino_id": self.dealers["hmac-sha256"][0], "user_id": user})
        move = {"user_id": user, "amount": 1, "request_transaction_id": user, "note": self.canary()}
        self.wallet.stop()
        self.call("POST", cb.TRANSFER_IN, move, expected=503)
        text = self.wallet.config.read_text()
        self.wallet.config.write_text(text + "disk_low_water_mib = 16777216\n")
        self.wallet.start()
        self.call("POST", cb.TRANSFER_IN, move, expected=503)
        self.wallet.config.write_text(text)
        self.wallet.stop()
        self.wallet.start()

    def trace(self):
        # The console runs the workers' program, too.
        workers = self.server.processes + self.server.platform_processes + 1
        cb.wait_until(lambda: len(self.server.worker_pids()) == workers, 20, "the workers")
        pids = [self.wallet.ledger.pid, *self.wallet.engine_pids(), *self.server.worker_pids(),
                self.visits.console.server.pid]
        self.traces.append(Traced(self.wallet.dir / "trace", pids))

    def visit(self):
        """The web console, which shows what was done before."""
        self.visits.run()
        for page in self.visits.pages:
            head = "".join(f"{name}: {value}\n" for name, value in page.headers
                           if name.lower() != "set-cookie")
            self.pages.append((page.status, head.encode() + b"\n" + page.body))

    def stop(self):
        self.visits.stop()
        super().stop()

    def everything(self, kind, traced):
        self.setup()
        self.server = self.wallet.server(kind)
        self.visits.start(self.ctl_json)
        if traced:
            self.trace()
        try:
            self.transfers()
            self.bets()
            self.sweeps()
            self.reference_signatures()
            self.operate()
            self.more()
            self.visit()
        finally:
            for trace in self.traces:
                trace.stop()
        self.refused_for_room()
