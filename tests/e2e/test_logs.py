#!/usr/bin/python3
"""The lines that the logs of a whole run must have, and the secrets that they must not have.

Everything that the service does is done once, at level debug, on lighttpd and on Apache mod_fcgid:
group A and C in both wallet modes, with every algorithm, callbacks that succeed, fail and are
repeated, the sweeper, the operator. Every key and every signature that was issued, sent or received
is noted, and then looked for in every log.
"""
import base64
import functools
import hashlib
import hmac
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_ctl  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_dealer import logs as dealer_logs  # noqa: E402
from cb_http import raw_request, request_bytes  # noqa: E402
from cb_listener import Scripted  # noqa: E402
from cb_platform import (BETS, LOOPBACK, PLAYER_BALANCE, PLAYERS, RESULTS,  # noqa: E402
                         seamless_dealer)

# A word of a body, which level info must not show.
MARKER = "body-only-5f1c"
PIECE = 16  # of a secret: so much of it, anywhere, is a find
LINE = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?P<program>creditbridge[\w.-]*)"
                  r"\[\d+\]: (?P<rest>.*)$")
VALUE = r'(?:"(?:\\.|[^"\\])*"|[^\s"]*)'
REST = re.compile(rf"level=(?:error|warning|info|debug) event=[a-z_]+(?: [a-z_]+={VALUE})*$")
WORD = re.compile(rf"([a-z_]+)=({VALUE})")
# Lines that belong to a request, but for the sweeper's callbacks.
OF_REQUESTS = {"request", "body", "callback", "balance_dropped", "command_failed"}
ALGORITHMS = {"hmac-sha256": hashlib.sha256, "hmac-sha512": hashlib.sha512,
              "hmac-sha1": hashlib.sha1}
# A change takes effect within this time on all workers (contract, "What an operator may change").
EFFECT_S = 1.0
numbers = itertools.count(1)


def new_id(what):
    return f"{what}-{os.getpid()}-{next(numbers)}"


class Casino(Scripted):
    """A dealer's server: answers as the test chose, and notes the signatures that it was sent."""

    def __init__(self, secrets):
        super().__init__(self.serve)
        self.secrets = secrets
        self.answers = []    # (status, body) of the next calls; none: success

    def serve(self, call):
        self.secrets.add(call.headers["x-casino-signature"])
        for word in call.headers["webhook-signature"].split():
            self.secrets.add(word.split(",")[1])
        if self.answers:
            return self.answers.pop(0)
        return 200, {"user_id": json.loads(call.body)["user_id"], "balance": 7, "currency": "thb"}


class Run:
    """One wallet, all that is done with it, and what is secret of that."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.secrets = set()
        self.requests = {}  # request id -> (status, the refusal's id or None)
        self.server = self.client = self.casino = self.reference = None
        self.dealers = {}   # algorithm -> (Dealer, encoding)
        self.ctl, self.ctl_json, _ = cb_ctl.bind(wallet)

    def key(self, made):
        self.secrets.add(made["key"])
        return made

    def setup(self):
        for algorithm, encoding in (("hmac-sha256", "hex"), ("hmac-sha512", "base64"),
                                    ("hmac-sha1", "hex")):
            made = self.key(self.ctl_json("dealer", "add", new_id("dealer"), "--currency", "thb",
                                          "--mode", "transfer", "--algorithm", algorithm,
                                          "--encoding", encoding))
            self.dealers[algorithm] = (made["casino_id"], made["key"], encoding)
        self.casino = Casino(self.secrets).__enter__()
        made = self.key(self.ctl_json(
            "dealer", "add", "seamless", "--currency", "thb", "--mode", "seamless", "--url",
            f"http://127.0.0.1:{self.casino.server_port}/cb", "--allow-http", "--refund-delay", 0))
        self.dealers["seamless"] = (made["casino_id"], made["key"], "hex")
        # Two live keys: callbacks carry a signature of each.
        self.key(self.ctl_json("dealer", "key-add", "seamless", "--reason", "rotation"))
        self.client = self.key(self.ctl_json("client", "add", "slots"))
        dealer, self.reference = seamless_dealer(self.wallet, "reference")
        self.secrets.add(dealer.key)
        self.dealers["reference"] = (dealer.casino_id, dealer.key, "hex")

    # -- requests

    def signature(self, algorithm, body):
        _, key, encoding = self.dealers[algorithm]
        digest = hmac.new(key.encode(), body, ALGORITHMS.get(algorithm, hashlib.sha256)).digest()
        return digest.hex() if encoding == "hex" else base64.b64encode(digest).decode()

    def send(self, port, method, path, body, headers, expected):
        request_id = new_id("request")
        sent = [("Host", "127.0.0.1"), ("Connection", "close"), ("X-Request-Id", request_id)]
        data = request_bytes(method, path, sent + headers, body, False)
        answer = raw_request(port, data, method, 20)
        equal(answer.status, expected, f"{method} {path} {body}: {answer}")
        equal(answer.header("X-Request-Id"), request_id, "X-Request-Id")
        error = answer.json.get("id") if expected != 200 else None
        if error:
            equal(answer.json["request_id"], request_id, "request_id")
        self.requests[request_id] = (expected, error)
        return answer

    def call(self, method, path, body, dealer="hmac-sha256", expected=200, signature=None):
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        signature = signature or self.signature(dealer, payload)
        self.secrets.add(signature)
        return self.send(self.server.port, method, path, payload, [
            ("x-casino-id", self.dealers[dealer][0]), ("x-casino-signature", signature)], expected)

    def platform(self, path, body, expected=200, key=None):
        payload = json.dumps(body).encode()
        signature = cb.sign(key or self.client["key"], payload)
        self.secrets.add(signature)
        return self.send(self.server.platform_port, "POST", path, payload, [
            ("x-client-id", "slots"), ("x-client-signature", signature)], expected)

    # -- what is done

    def transfers(self):
        for algorithm in ALGORITHMS:
            casino_id, user = self.dealers[algorithm][0], new_id("user")
            self.platform(PLAYERS, {"casino_id": casino_id, "user_id": user})
            move = {"user_id": user, "amount": 10, "request_transaction_id": new_id("ref"),
                    "note": MARKER}
            self.call("POST", cb.TRANSFER_IN, move, algorithm)
            self.call("POST", cb.TRANSFER_IN, move, algorithm)
            self.call("POST", cb.TRANSFER_IN, dict(move, amount=11), algorithm, 409)
            self.call("POST", cb.TRANSFER_OUT, dict(move, amount=11,
                                                    request_transaction_id=new_id("ref")),
                      algorithm, 402)
            now = {"user_id": user, "request_timestamp": cb.now_ms()}
            for method in ("GET", "POST"):
                self.call(method, cb.BALANCE, now, algorithm)
                self.call(method, cb.STAT, dict(now, include_data=["bet_summary"]), algorithm)
            self.call("GET", cb.BALANCE, dict(now, request_timestamp=1), algorithm, 401)
            self.call("GET", cb.RESULT_INQUIRE, {"user_id": user, "game_id": "none"}, algorithm,
                      404)
            self.call("POST", cb.TRANSFER_IN, move, algorithm, 401,
                      signature=self.signature(algorithm, b"another body"))
            self.call("PUT", cb.TRANSFER_IN, move, algorithm, 405)
            self.call("POST", "/nowhere", move, algorithm, 404)
            self.call("POST", cb.TRANSFER_IN, b'{"a\x01"', algorithm, 400)
            self.call("POST", cb.TRANSFER_IN, b'"' + b"x" * 70000 + b'"', algorithm, 413)
            # Texts that look like lines and values of a log.
            self.call("POST", cb.TRANSFER_IN, dict(
                move, request_transaction_id=new_id('x" event=request request_id=forged y="')),
                algorithm)

    def bets(self):
        game = new_id("game")
        for name in ("hmac-sha256", "seamless", "reference"):
            casino_id, user = self.dealers[name][0], new_id("user")
            player = {"casino_id": casino_id, "user_id": user}
            self.platform(PLAYERS, player)
            self.platform(PLAYER_BALANCE, player)
            if name == "hmac-sha256":
                self.call("POST", cb.TRANSFER_IN, {"user_id": user, "amount": 100,
                                                   "request_transaction_id": new_id("ref")})
            bet = {**player, "game_id": game, "bet_amount": 1, "remark": MARKER,
                   "user_bet": {"text": 'a"\\\n b'}}

            def new(body, **more):
                return {**body, "request_transaction_id": new_id("key"), **more}
            self.platform(BETS, new(bet))
            if name == "seamless":
                self.failures(player, bet, new)
            self.platform(RESULTS, new(player, game_id=game, result="win", payout_amount=2))
            self.call("GET", cb.RESULT_INQUIRE, {"user_id": user, "game_id": game}, name)
            self.platform(BETS, new(bet), expected=409)
            self.platform(BETS, new(bet), expected=401, key="f" * 64)
            self.platform(BETS, new(player), expected=400)

    def reference_signatures(self):
        """Those that the reference dealer was sent, from the bodies that were signed."""
        for row in self.ctl_json("callback", "list", "--casino", "reference",
                                 "--limit", 0)["callbacks"]:
            body = self.ctl_json("callback", "show", row["event"])["body"]
            self.secrets.add(cb.sign(self.dealers["reference"][1], body.encode()))

    def failures(self, player, bet, new):
        """Refused, unknown and odd answers, and what the sweeper makes of them."""
        casino = self.casino
        refusal = {"id": 'no" event=forged', "detail": "because \"\\ of\nit"}
        casino.answers = [(409, refusal)]
        self.platform(BETS, new(bet), expected=409)
        casino.answers = [(502, {})]
        self.platform(BETS, new(bet), expected=504)
        casino.answers = [(200, {"user_id": 'a"b', "balance": 1, "currency": "usd"})]
        self.platform(BETS, new(bet))
        casino.answers = [(200, ["no object"]), (503, {})]
        lost = new_id("game")
        self.platform(BETS, new(bet, game_id=lost), expected=504)
        self.platform(PLAYER_BALANCE, player, expected=504)
        won = new_id("game")
        self.platform(BETS, new(bet, game_id=won))
        casino.answers = [(500, {})]
        self.platform(RESULTS, new(player, game_id=won, result="win", payout_amount=2))

    def sweeps(self):
        # Sent before it was due, as an operator would.
        events = [row["event"] for row in
                  self.ctl_json("callback", "list", "--state", "due", "--limit", 0)["callbacks"]]
        check(len(events) >= 3, f"callbacks that are due: {events}")
        self.ctl("callback", "retry", *events, "--reason", "now", "--yes")
        with open(self.wallet.logs / "sweep.log", "a", encoding="utf-8") as log:
            subprocess.run([cb.find_program("creditbridge-sweep"), "--config", self.wallet.config],
                           stdout=log, stderr=log, timeout=60 * cb.PATIENCE, check=True)
        kinds = [call.path.rsplit("/", 1)[1] for call in self.casino.seen]
        for kind in ("balance-inquire", "betting", "betting-result", "betting-refund"):
            check(kind in kinds, f"{kind} was sent: {kinds}")

    def operate(self):
        name = new_id("operated")
        self.key(self.ctl_json("dealer", "add", name, "--currency", "thb", "--mode", "transfer"))
        made = self.key(self.ctl_json("dealer", "key-add", name, "--reason", "r"))
        self.ctl("dealer", "key-use", name, made["key_id"], "--reason", "r")
        self.ctl("player", "add", name, "u")
        self.ctl("player", "adjust", name, "u", 5, "--reason", "gift")
        body = self.wallet.dir / "body"
        body.write_text('{"user_id":"u"}')
        self.secrets.add(self.ctl("sign", name, body).stdout.strip())
        time.sleep(EFFECT_S)
        self.ctl("request", name, "balance", "--user", "u", "--url", self.server.base_url)
        self.ctl("dealer", "ping", "seamless")
        self.ctl("status")

    def run(self, kind):
        self.server = kind(self.wallet, threads=4)
        self.transfers()
        self.bets()
        self.sweeps()
        self.reference_signatures()
        self.operate()

    def stop(self):
        self.casino.shutdown()
        for server in list(self.wallet.servers):
            server.stop()
        self.reference.stop()
        (self.wallet.logs / "dealer.log").write_text(dealer_logs(self.reference))
        self.reference.close()

    # -- the logs

    def texts(self):
        return {path.name: path.read_text(errors="replace")
                for path in sorted(self.wallet.logs.iterdir())}

    def lines(self):
        """Every line of our programs: (file, the text after the program's name)."""
        found = []
        for name, text in self.texts().items():
            for line in text.splitlines():
                if "creditbridge" in line and "event=" in line:
                    match = LINE.search(line)
                    check(match, f"{name}: a line without time and program: {line!r}")
                    found.append((name, match["rest"]))
        return found

    def find_secrets(self):
        """Pieces of secrets in the logs."""
        pieces = set()
        for secret in self.secrets:
            check(len(secret) >= 2 * PIECE, f"no secret: {secret!r}")
            for text in (secret, secret.upper()):
                pieces |= {text[at:at + PIECE] for at in range(0, len(text) - PIECE + 1, 4)}
        found = []
        for name, text in self.texts().items():
            found += [f"{name}: {piece}" for piece in pieces if piece in text]
            # Secrets that were not noted, but have the form of one.
            found += [f"{name}: {hit}" for hit in
                      re.findall(r"\b[0-9a-f]{40,}\b|\b[0-9A-F]{40,}\b|\bv1,\S{40,}|whsec_\S+", text)]
        return found


def words_of(rest):
    return {key: value.strip('"') for key, value in WORD.findall(rest)}


def case_no_secret(run):
    check(len(run.secrets) > 100, f"{len(run.secrets)} secrets were noted")
    text = "".join(run.texts().values())
    check(text.count("event=request") > 100, "the logs were written")
    check(MARKER in text, "bodies are logged at debug")
    equal(run.find_secrets(), [], "secrets in the logs")


def case_net_is_tight(run):
    """The search finds a key that the test wrote into a log."""
    path = run.wallet.logs / "planted.log"
    for planted in (run.client["key"], run.client["key"][8:40], run.client["key"].upper(),
                    next(iter(run.secrets))[4:30]):
        path.write_text(f"2026-01-01T00:00:00.000Z creditbridge[1]: level=info x={planted}\n")
        check(run.find_secrets(), f"{planted} is not found")
    path.unlink()


def case_form(run):
    """One line an event, key=value; nothing from outside makes another event or value."""
    lines = run.lines()
    events = set()
    for name, rest in lines:
        check(REST.match(rest), f"{name}: {rest!r}")
        words = words_of(rest)
        events.add(words["event"])
        check(words.get("request_id") != "forged", f"{name}: {rest!r}")
    check({"start", "request", "callback", "body", "ledger_ready"} <= events, f"{events}")
    check("forged" not in events, f"{events}")


def case_request_ids(run):
    """Every request has its line, and every line of a request its id."""
    requests = {}
    for name, rest in run.lines():
        words = words_of(rest)
        if words["event"] in OF_REQUESTS and not name.startswith(("sweep", "dealer")):
            check(words.get("request_id", "-") != "-", f"{name}: {rest!r}")
        if words["event"] == "request":
            requests.setdefault(words["request_id"], []).append(words)
    for request_id, (status, error) in run.requests.items():
        found = requests.get(request_id, [])
        equal(len(found), 1, f"lines of {request_id}")
        equal((found[0]["code"], found[0]["refusal"]), (str(status), error or "-"), f"{found}")
    # Each callback for a request is logged with the request's id.
    told = {(words["webhook_id"], words["request_id"]) for name, rest in run.lines()
            for words in [words_of(rest)]
            if words["event"] == "callback" and not name.startswith(("sweep", "dealer"))}
    sent = {call.headers["webhook-id"] for call in run.casino.seen}
    check(sent & {webhook_id for webhook_id, _ in told}, f"{told} {sent}")
    check(all(request_id in run.requests for _, request_id in told), f"{told}")
    check(len(told) >= 8, f"{told}")


def case_bodies(run):
    """At debug each body is there, bounded and whole lines; those of callbacks both ways."""
    shown = [words_of(rest) for _, rest in run.lines() if "event=body" in rest]
    kinds = {words["of"] for words in shown}
    equal(kinds, {"request", "answer", "callback", "callback_answer"}, "bodies")
    check(max(len(words["body"]) for words in shown) <= 1536, "a long body is cut")
    check(any(words["bytes"] == "65537" for words in shown), "the length is logged")


def case_info(wallet):
    """At level info there is no body at all."""
    for path in wallet.logs.iterdir():
        path.write_text("")
    wallet.write_config(dict(LOOPBACK, log_level="info"))
    wallet.stop()
    wallet.start()
    run = Run(wallet)
    run.client = run.key(run.ctl_json("client", "key-add", "slots"))
    made = run.key(run.ctl_json("dealer", "add", new_id("quiet"), "--currency", "thb", "--mode",
                                "transfer"))
    run.dealers["hmac-sha256"] = (made["casino_id"], made["key"], "hex")
    run.server = cb.Lighttpd(wallet)
    user = new_id(MARKER)
    run.platform(PLAYERS, {"casino_id": made["casino_id"], "user_id": user})
    run.call("POST", cb.TRANSFER_IN, {"user_id": user, "amount": 1, "note": MARKER,
                                      "request_transaction_id": new_id(MARKER)})
    text = "".join(run.texts().values())
    check("event=request" in text and "event=start" in text, "the logs were written")
    check("event=body" not in text and MARKER not in text, "no body")
    equal(run.find_secrets(), [], "secrets in the logs")
    run.server.stop()


# -- starts that fail


def failing_server(wallet, kind):
    """A server whose workers cannot start; what is in its log after a request."""
    server = None
    try:
        server = kind(wallet)
        answer = cb.call(server, "POST", cb.TRANSFER_IN, {}, timeout=30)
        check(answer.status in (500, 503), f"{answer}")
    except (cb.HarnessError, OSError):
        pass  # lighttpd may give up
    finally:
        if server:
            server.stop()
    logs = [path for path in wallet.logs.iterdir() if path.name.startswith(kind.name)]
    return max(logs, key=lambda path: path.stat().st_mtime).read_text(errors="replace")


def case_bad_configuration(wallet, kind):
    """Also when lines go to syslog: the web server's log has the file and the line."""
    wallet.write_config(dict(LOOPBACK, log_target="syslog", nonsense=1))
    number = len(wallet.config.read_text().splitlines())
    text = failing_server(wallet, kind)
    check(f"{wallet.config}:{number}: " in text and "nonsense" in text, f"{kind.name}: {text}")


def case_bad_path(wallet, kind):
    wallet.write_config(dict(LOOPBACK, log_target="syslog", socket_directory="relative"))
    text = failing_server(wallet, kind)
    check(f"{wallet.config}:" in text and "socket_directory must be an absolute path" in text,
          f"{kind.name}: {text}")


def case_no_threads(wallet):
    """A failure after the configuration was read: no descriptors for the threads."""
    wallet.write_config(dict(LOOPBACK, log_target="syslog"))
    argv = [wallet.worker, "--config", wallet.config, "--socket", wallet.dir / "x.sock",
            "--serve", "platform", "--threads", "4"]

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          preexec_fn=few, timeout=30 * cb.PATIENCE, check=False)
    check(done.returncode != 0, f"{done}")
    check("event=start_failed error=\"" in done.stderr, f"{done}")


def case_ledger(wallet):
    """The ledger's, where its starter looks."""
    wallet.write_config(dict(LOOPBACK, log_target="syslog",
                             state_directory=str(wallet.dir / "nowhere")))
    done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", wallet.config],
                          capture_output=True, text=True, timeout=30 * cb.PATIENCE, check=False)
    equal(done.returncode, 78, f"{done}")
    check("creditbridge-ledger: " in done.stderr and "nowhere" in done.stderr, f"{done}")


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with cb.Instance("logs-test", settings=dict(LOOPBACK, log_level="debug",
                                                result_second_attempt_ms=0)) as wallet:
        run = Run(wallet)
        servers = (cb.Lighttpd, cb.ApacheFcgid)
        traffic = [f"everything is done under {kind.name}" for kind in servers]
        before = ("keys are issued", *traffic, "everything stops")
        return cb.run_cases([
            ("keys are issued", cb.needs(functools.partial(run.setup), "everything stops")),
            *((name, cb.needs(lambda kind=kind: run.run(kind), *before))
              for name, kind in zip(traffic, servers)),
            ("everything stops", cb.needs(functools.partial(run.stop), *before)),
            ("no key and no signature is in a log", cb.needs(lambda: case_no_secret(run), *before)),
            ("a key in a log would be found", cb.needs(lambda: case_net_is_tight(run), *before)),
            ("lines have their form", cb.needs(lambda: case_form(run), *before)),
            ("requests and their lines", cb.needs(lambda: case_request_ids(run), *before)),
            ("bodies at level debug", cb.needs(lambda: case_bodies(run), *before)),
            ("no bodies at level info", cb.needs(lambda: case_info(wallet), *before)),
            *((f"{kind.name} logs a bad configuration",
               lambda kind=kind: case_bad_configuration(wallet, kind)) for kind in servers),
            *((f"{kind.name} logs a bad path", lambda kind=kind: case_bad_path(wallet, kind))
              for kind in servers),
            ("threads that cannot be started", lambda: case_no_threads(wallet)),
            ("a ledger that cannot start", lambda: case_ledger(wallet)),
        ], seconds=120)


if __name__ == "__main__":
    sys.exit(main())
