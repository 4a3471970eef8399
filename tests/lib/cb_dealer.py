"""Runs the reference dealer under a real lighttpd, and sends it callbacks as the platform would."""
import itertools
import json
import os
import pathlib
import secrets
import shutil
import signal

from cb_http import now_ms, raw_request, request_bytes, sign
from cb_instance import temporary_directory, web_user
from cb_process import Child, HarnessError, find_program, free_port, pids_end, pids_running, port_open
from cb_servers import find_server

DEALER = "creditbridge-dealer.fcgi"
FAULTY_DEALER = "faulty_dealer"
BALANCE_INQUIRE = "balance-inquire"
BETTING = "betting"
BETTING_RESULT = "betting-result"
BETTING_REFUND = "betting-refund"
KINDS = (BALANCE_INQUIRE, BETTING, BETTING_RESULT, BETTING_REFUND)
events = itertools.count(1)


def body_of(kind, user_id, transaction_id=0, amount=10, game_id="game-1", result=None, **more):
    """Returns a callback's body. @amount is the stake or, for a result, the payout. A value of
    None in @more omits the field."""
    body = {"user_id": user_id, "player_id": "p" * 20}
    if kind != BALANCE_INQUIRE:
        body.update(bet_amount=amount, transaction_id=transaction_id, timestamp=now_ms(),
                    remark="roulette", game_id=game_id)
    if kind == BETTING:
        body["user_bet"] = {"red": amount}
    if kind == BETTING_RESULT:
        body.update(bet_amount=10, addition_amount=0, payout_amount=amount, win_amount=amount - 10,
                    result=result or "win", user_bet={}, game_result={})
    body.update(more)
    return {name: value for name, value in body.items() if value is not None}


class ReferenceDealer:
    """One lighttpd with one dealer process. @options are appended to the dealer's command line.
    With @control it is the dealer with a script (tests/dealer/faulty), otherwise the shipped one."""

    def __init__(self, *options, prefix="", port=None, threads=8, control=True, key=None):
        self.user = web_user()
        self.dir = temporary_directory("cbdealer")
        self.prefix = prefix
        self.port = port or free_port()
        self.base_url = f"http://127.0.0.1:{self.port}{prefix}"
        self.key = key or secrets.token_hex(32)
        self.state_dir = self.dir / "state"
        self.state_dir.mkdir(mode=0o700)
        self.key_file = self.dir / "keys"
        self.log = self.dir / "lighttpd.log"
        self.worker_log = self.dir / "worker.log"
        for name in ("sockets", "empty", "tmp"):
            (self.dir / name).mkdir()
        # The web server's user may not be able to reach the build directory.
        (self.dir / "bin").mkdir(mode=0o755)
        name = FAULTY_DEALER if control else DEALER
        self.program = self.dir / "bin" / name
        shutil.copyfile(find_program(name), self.program)
        self.program.chmod(0o755)
        for path in (self.log, self.worker_log):
            path.touch()
        self.keys_write(self.key)
        if self.user:
            for path in (self.state_dir, self.dir / "sockets", self.dir / "tmp", self.log,
                         self.worker_log):
                shutil.chown(path, self.user, self.user)
        self.words = ["--key-file", self.key_file, "--state", self.state_dir,
                      f"--base-path={prefix}", "--threads", threads, *options]
        self.words += ["--control"] if control else []
        self.child = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def keys_write(self, *keys):
        """Replaces the key file atomically, as an operator should."""
        new = self.key_file.with_suffix(".new")
        new.write_text("".join(f"{key}\n" for key in keys))
        new.chmod(0o600)
        if self.user:
            shutil.chown(new, self.user, self.user)
        new.replace(self.key_file)

    def start(self):
        identity = f'server.username = "{self.user}"\n' if self.user else ""
        config = self.dir / "server.conf"
        config.write_text(f"""\
server.bind = "127.0.0.1"
server.port = {self.port}
server.document-root = "{self.dir}/empty"
server.errorlog = "{self.log}"
server.breakagelog = "{self.worker_log}"
server.upload-dirs = ( "{self.dir}/tmp" )
server.max-request-size = 1024
server.max-fds = 4096
server.modules += ( "mod_fastcgi" )
{identity}fastcgi.server = ( "{self.prefix}/" => ((
	"bin-path" => "{' '.join(str(word) for word in [self.program, *self.words])}",
	"socket" => "{self.dir}/sockets/dealer.sock",
	"max-procs" => 1, "check-local" => "disable", "kill-signal" => 15, "read-timeout" => 90,
	"listen-backlog" => 1024, "disable-time" => 0
)))
""")
        self.child = Child([find_server("lighttpd"), "-D", "-f", config], self.log)
        self.child.wait_ready(lambda: port_open(self.port), 15, "the dealer's lighttpd")

    def stop(self):
        if self.child:
            self.child.stop()
            self.child = None
        pids_end(self.pids())

    def close(self):
        self.stop()
        if os.environ.get("CB_KEEP"):
            print(f"# kept: {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def pids(self):
        return pids_running(self.program)

    def kill(self):
        """Kills the dealer's process; lighttpd restarts it."""
        pids = self.pids()
        if not pids:
            raise HarnessError("there is no dealer to kill")
        pids_end(pids, signals=(signal.SIGKILL,))

    # -- requests

    def send(self, method, path, payload, headers=(), timeout=15.0):
        headers = [("Host", f"127.0.0.1:{self.port}"), ("Connection", "close"), *headers]
        data = request_bytes(method, self.prefix + path, headers, payload, False)
        return raw_request(self.port, data, method, timeout)

    def call(self, kind, body, *, key=None, webhook_id="", signature=None, headers=(), **words):
        """Sends one callback. A @webhook_id of "" generates one; None omits it."""
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        signature = sign(key or self.key, payload) if signature is None else signature
        sent = [("x-casino-signature", signature)] if signature else []
        if webhook_id == "":
            webhook_id = f"{kind}-{next(events)}"
        if webhook_id is not None:
            sent.append(("webhook-id", webhook_id))
        return self.send("POST", f"/{kind}", payload, [*sent, *headers], **words)

    def control(self, path, body):
        answer = self.send("POST", f"/control/{path}", json.dumps(body).encode())
        if answer.status != 200:
            raise HarnessError(f"control/{path} {body}: {answer}")
        return answer.json

    def fault(self, fault, **rule):
        self.control("faults", {"fault": fault, **rule})

    def faults(self):
        """Returns the rules of the script, with how often each was seen and struck."""
        answer = self.send("GET", "/control/faults", None)
        if answer.status != 200:
            raise HarnessError(f"control/faults: {answer}")
        return answer.json

    def faults_clear(self):
        self.fault("none")

    def set_balance(self, user_id, balance):
        self.control("users", {"user_id": user_id, "balance": balance})

    def serves(self):
        return self.send("GET", "/control/state", None, timeout=60.0).status == 200

    def state(self, number=float):
        """Returns all data of the dealer, with each amount as a @number."""
        answer = self.send("GET", "/control/state", None, timeout=60.0)
        if answer.status != 200:
            raise HarnessError(f"control/state: {answer}")
        return json.loads(answer.body, parse_float=number)

    def transactions(self, user_id=None):
        """Returns {transaction_id: row}."""
        return {row["transaction_id"]: row for row in self.state()["transactions"]
                if user_id in (None, row["user_id"])}

    def balance(self, user_id):
        """Returns the balance in the state; None for an unknown user."""
        for row in self.state()["users"]:
            if row["user_id"] == user_id:
                return row["balance"]
        return None


def logs(dealer):
    return "".join(pathlib.Path(path).read_text(errors="replace")
                   for path in (dealer.log, dealer.worker_log))
