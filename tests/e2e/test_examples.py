#!/usr/bin/python3
"""examples/ against the real service, and doc/signature-vectors.json against every program that
signs."""
import base64
import contextlib
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_listener import DisturbingProxy, TlsServer  # noqa: E402
from cb_php import MariaDb, PhpDealer  # noqa: E402
from cb_platform import BETS, LOOPBACK, client_add  # noqa: E402
from cb_process import port_open  # noqa: E402
from cb_table import Table, exam, sweep  # noqa: E402

VECTORS = cb.SRCDIR / "doc" / "signature-vectors.json"
EXAMPLES = cb.SRCDIR / "examples"
CLIENTS = {
    "shell": ("sh", EXAMPLES / "shell" / "creditbridge.sh"),
    "python": ("/usr/bin/python3", EXAMPLES / "python" / "creditbridge.py"),
    "node": ("node", EXAMPLES / "node" / "creditbridge.js"),
    "perl": ("perl", EXAMPLES / "perl" / "creditbridge.pl"),
    "php": ("php", EXAMPLES / "php" / "creditbridge.php"),
}
WALLET = SERVER = DEALER = KEY_FILE = None
OUTCOME_UNKNOWN = 75


def bytes_of(row):
    return base64.b64decode(row["body_base64"]) * row["times"]


def mac(scheme, encoding, key, data):
    made = hmac.new(key.encode(), data, scheme.replace("hmac-", ""))
    return made.hexdigest() if encoding == "hex" else base64.b64encode(made.digest()).decode()


def openssl(scheme, encoding, key, data):
    made = subprocess.run(["openssl", "dgst", "-" + scheme.replace("hmac-", ""), "-mac", "HMAC",
                           "-macopt", "key:" + key, "-binary"], input=data, capture_output=True,
                          timeout=20 * cb.PATIENCE, check=True).stdout
    return made.hex() if encoding == "hex" else base64.b64encode(made).decode()


def ctl_sign(scheme, encoding, key, data):
    path = WALLET.dir / "vector.key"
    path.write_text(key + "\n")
    path.chmod(0o600)
    argv = [cb.find_program("creditbridgectl"), "sign", "--key-file", path, "--algorithm", scheme,
            "--encoding", encoding, "-"]
    return subprocess.run(argv, input=data, capture_output=True, timeout=20 * cb.PATIENCE,
                          check=True).stdout.decode().strip()


# -- the vectors

def case_vectors():
    """Made anew by three programs: Python's hashlib, openssl, and creditbridgectl."""
    held = json.loads(VECTORS.read_text())
    rows = held["vectors"]
    check(len(rows) >= 8 and len({row["name"] for row in rows}) == len(rows), "vectors")
    equal(len({(row["key"], bytes_of(row)) for row in rows}), len(rows), "no two the same")
    equal(len({row["key"] for row in rows}), 2, "keys")
    check(max(row["length"] for row in rows) > 60000, "a large one")
    for row in rows:
        data = bytes_of(row)
        equal(row["body"].encode() * row["times"], data, f"{row['name']}: body and body_base64")
        equal((row["length"], row["sha256"]), (len(data), hashlib.sha256(data).hexdigest()),
              row["name"])
    everything = [("hmac-sha256", "hex", row["key"], bytes_of(row), row["signature"])
                  for row in rows]
    everything += [(row["algorithm"], row["encoding"], row["key"], row["body"].encode(),
                    row["signature"]) for row in held["other_schemes"]]
    equal(len({row[:2] for row in everything}), 6, "all algorithms and encodings")
    for scheme, encoding, key, data, signature in everything:
        for maker in (mac, openssl, ctl_sign):
            equal(maker(scheme, encoding, key, data), signature, f"{maker.__name__} {data[:60]}")


def case_webhook_vectors():
    for row in json.loads(VECTORS.read_text())["webhook"]:
        signed = f"{row['id']}.{row['timestamp']}.{row['body']}".encode()
        equal(row["webhook-signature"], " ".join(
            "v1," + mac("hmac-sha256", "base64", key, signed) for key in row["keys"]), row["keys"])
        equal(row["x-casino-signature"], mac("hmac-sha256", "hex", row["keys"][0],
                                             row["body"].encode()), row["keys"])


# -- the clients

def command(language, *words, url=None, trusted=None):
    """What subprocess needs to run a client. @trusted: the certificate that it is to know."""
    program, script = CLIENTS[language]
    env = dict(os.environ, CREDITBRIDGE_URL=url or SERVER.base_url, LC_ALL="C.UTF-8",
               CREDITBRIDGE_CASINO="demo", CREDITBRIDGE_KEY_FILE=str(KEY_FILE))
    options = []
    if trusted:
        env.update(dict.fromkeys(("CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"),
                                 str(trusted)))
        options = ["-d", f"curl.cainfo={trusted}"] if language == "php" else []
    return {"args": [program, *options, str(script), *words], "env": env, "text": True,
            "stdin": subprocess.DEVNULL}


def run(language, *words, code=0, **options):
    """Runs a client, which must end with @code; what it printed."""
    done = subprocess.run(**command(language, *words, **options), capture_output=True, timeout=50 * cb.PATIENCE,
                          check=False)
    equal(done.returncode, code, f"{language} {words}: {done.stdout}{done.stderr}")
    return done.stdout


def answered(language, *words, **options):
    return json.loads(run(language, *words, **options))


def signs(language):
    rows = json.loads(VECTORS.read_text())["vectors"]
    equal(run(language, "--vectors", str(VECTORS)).strip(), f"{len(rows)} of {len(rows)} vectors",
          language)
    # And it can fail: one digit of one signature.
    row = rows[5]
    wrong = pathlib.Path(WALLET.dir) / f"wrong-{language}.json"
    signature = row["signature"]
    wrong.write_text(VECTORS.read_text().replace(
        signature, ("1" if signature[0] == "0" else "0") + signature[1:]))
    check(f"{len(rows) - 1} of {len(rows)}" in run(language, "--vectors", str(wrong), code=1),
          f"{language}: a wrong vector")


def calls(language):
    """What a client does, with a user and references of its own."""
    user, reference = f"ผู้เล่น {language}", f"ฝาก-{language}"
    WALLET.player_add("demo", user)
    got = answered(language, "in", user, "100.50", reference)
    equal((got["amount"], got["current_balance"], got["user_id"], got["request_transaction_id"]),
          (100.5, 100.5, user, reference), language)
    equal(answered(language, "in", user, "100.50", reference), got, f"{language}: a repeat")
    error = answered(language, "in", user, "100.51", reference, code=1)
    equal((error["id"], error["field"]), ("transaction_conflict", "amount"), language)
    equal(answered(language, "balance", user)["balance"], 100.5, language)
    equal(answered(language, "out", user, "0.3", reference + "-2")["current_balance"], 100.2,
          language)
    error = answered(language, "out", user, "99999999999", reference + "-3", code=1)
    equal((error["id"], error["current_balance"]), ("insufficient_balance", 100.2), language)
    equal(answered(language, "result", user, "no-game", code=1)["id"], "game_not_found", language)
    equal(answered(language, "balance", "nobody", code=1)["id"], "user_not_found", language)
    equal(len(WALLET.ctl_json("transfer", "list", "--casino", "demo", "--user", user)["transfers"]),
          2, f"{language}: movements")
    run(language, code=2)


def repeats(language):
    """The transfer is made, its answer lost; then errors; then the answer. One movement."""
    user = f"repeat-{language}"
    WALLET.player_add("demo", user)
    # curl repeats by itself, and does not look into a body.
    plan = ["lost", 502 if language == "shell" else 200, 503, "pass"]
    with DisturbingProxy(SERVER, DEALER.key, plan) as front:
        got = answered(language, "in", user, "7", f"once-{language}", url=front.url)
    equal(got["current_balance"], 7, language)
    equal((len(front.bodies), len(set(front.bodies))), (4, 1), f"{language}: the same bytes")
    equal(front.shown, [], f"{language}: the key on a command line")
    equal(len(WALLET.ctl_json("transfer", "list", "--casino", "demo", "--user", user)["transfers"]),
          1, f"{language}: movements")
    with DisturbingProxy(SERVER, DEALER.key, [503]) as front:
        equal(run(language, "in", user, "7", f"never-{language}", url=front.url,
                  code=OUTCOME_UNKNOWN), "", f"{language}: nothing is known")
    equal(len(front.bodies), 5, f"{language}: it ends")
    with DisturbingProxy(SERVER, DEALER.key, [403]) as front:
        run(language, "in", user, "7", f"never-{language}", url=front.url, code=1)
    equal(len(front.bodies), 1, f"{language}: what is refused is not repeated")


def killed(language):
    """Killed when the transfer is done and before its answer comes, and when nothing was done yet: the
    reference is its caller's, so the same command sends the same bytes, and moves once."""
    user = f"killed-{language}"
    WALLET.player_add("demo", user)
    for number, step in enumerate(("held after", "held before")):
        words = ("in", user, "7", f"killed-{language}-{number}")
        with DisturbingProxy(SERVER, DEALER.key, [step, "pass"]) as front:
            with subprocess.Popen(**command(language, *words, url=front.url), start_new_session=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
                try:
                    cb.wait_until(front.held.is_set, 30, f"{language}: the call")
                finally:
                    os.killpg(client.pid, signal.SIGKILL)
            front.release.set()
            got = answered(language, *words, url=front.url)
        equal(got["current_balance"], 7 * (number + 1), f"{language} {step}")
        equal((len(front.bodies), len(set(front.bodies))), (2, 1), f"{language} {step}: the bytes")
    equal(len(WALLET.ctl_json("transfer", "list", "--casino", "demo", "--user", user)["transfers"]),
          2, f"{language}: movements")


def knows_servers(language):
    """Over https, and not a byte to a server whose certificate is not valid."""
    certificate = WALLET.dir / f"{language}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", certificate, "-out",
                    f"{certificate}.crt", "-days", "2", "-subj", "/CN=dealer-test", "-addext",
                    "subjectAltName=IP:127.0.0.1"], capture_output=True, timeout=20 * cb.PATIENCE, check=True)
    public = pathlib.Path(f"{certificate}.crt")
    certificate.write_text(certificate.read_text() + public.read_text())
    words = ("in", "alice", "1", f"tls-{language}")
    with TlsServer(certificate) as server:
        equal(answered(language, *words, url=server.url, trusted=public), {"amount": 1}, language)
        equal(server.requests, 1, f"{language}: requests")
    with TlsServer(certificate) as server, subprocess.Popen(
            **command(language, *words, url=server.url), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL) as client:
        try:
            cb.wait_until(lambda: server.refused or server.requests, 20, f"{language} connects")
        finally:
            client.kill()
        equal(server.requests, 0, f"{language}: what a stranger was sent")


def of_all(function):
    """Runs @function for every language at once; waits are most of it."""
    def case():
        missing = {language: program for language, (program, _) in CLIENTS.items()
                   if not shutil.which(program)}
        cb.each_in_thread(function, set(CLIENTS) - set(missing))
        if missing:
            raise Skip(f"not installed: {', '.join(missing.values())} (the others passed)")
    return case


# -- ids

SAFE_MAX = 2 ** 53 - 1  # contract, "Transaction ids": the last transaction_id
# What JavaScript makes of an answer on its standard input.
READ_ID = """\
const id = JSON.parse(require('fs').readFileSync(0, 'utf8')).transaction_id;
console.log(String(id), Number.isSafeInteger(id));
"""


def case_last_ids():
    """The last ids that there are arrive exactly in JavaScript; then each call is refused, and moves
    nothing, and reads and replays go on."""
    if not shutil.which("node"):
        raise Skip("not installed: node")
    with cb.Instance("creditbridge-last-ids") as wallet, cb.Lighttpd(wallet) as server:
        dealer = wallet.dealer_add("demo")
        wallet.player_add("demo", "alice")
        wallet.ctl("player", "adjust", "demo", "alice", 100, "--reason", "stakes")
        wallet.stop()
        subprocess.run([cb.builddir() / "tests" / "fault" / "set_counter", wallet.state / "db",
                        "transaction_id", str(SAFE_MAX - 64)], check=True, timeout=20 * cb.PATIENCE)
        wallet.start()

        def move(number):
            return cb.call(server, "POST", cb.TRANSFER_IN, {
                "request_transaction_id": f"last-{number}", "user_id": "alice", "amount": 1},
                dealer=dealer)
        cb.wait_until(lambda: move(0).status == 200, 20, "the first transfer")
        ids = []
        for number in range(1, 67):
            got = move(number)
            if got.status != 200:
                break
            text = re.search(rb'"transaction_id":(\d+)', got.body)[1].decode()
            if int(text) > SAFE_MAX - 20:
                read = subprocess.run(["node", "-e", READ_ID], input=got.body, capture_output=True,
                                      timeout=20 * cb.PATIENCE, check=True).stdout.decode()
                equal(read, f"{text} true\n", "the id, read by JavaScript")
            ids.append(int(text))
        check(ids == sorted(set(ids)) and SAFE_MAX - 16 < ids[-1] <= SAFE_MAX, f"ids: {ids}")
        equal((got.status, got.json["id"]), (503, "service_unavailable"), f"no id is left: {got}")
        check("every transaction_id up to 2^53-1 was given out; nothing was changed" in
              got.json["detail"], f"the refusal's detail: {got}")
        equal((move(1).status, move(1).replayed), (200, True), "a replay")
        balance = cb.call(server, "POST", cb.BALANCE, {
            "user_id": "alice", "request_timestamp": cb.now_ms()}, dealer=dealer)
        equal((balance.status, balance.json["balance"]), (200, 100 + 1 + len(ids)), "the balance")


# -- the receiver

def case_php_exam():
    with PhpDealer(WALLET, "php-dealer") as dealer:
        dealer.player("bob", "1000")
        rows = exam(WALLET, "php-dealer", "bob")
        equal((rows["balance_before"], rows["balance_after"]), (1000, 1000), "balance")
        equal(dealer.errors(), "", "what PHP complained of")


def case_php_mariadb():
    """The same, with the other database that it is written for."""
    with MariaDb() as server, PhpDealer(
            WALLET, "php-mariadb", CREDITBRIDGE_DSN=server.dsn, CREDITBRIDGE_DB_USER="root",
            CREDITBRIDGE_DB_PASSWORD="") as dealer:
        for user in ("Bob", "bob", "bob "):
            dealer.player(user, "1000")
        exam(WALLET, "php-mariadb", "bob")
        body = {"user_id": "bob ", "player_id": "p"}
        equal(dealer.call("balance-inquire", body).json["user_id"], "bob ", "ids are bytes")
        equal(dealer.errors(), "", "what PHP complained of")


def case_php_amounts():
    """Its amounts are exact at both ends of their range, and ids are not numbers."""
    with PhpDealer(WALLET, "php-amounts", "--decimals", "4") as dealer:
        for user, amount in (("007", "99999999999.9999"), ("7", "0.0001"), ("Bob", "0"),
                             ("bob", "12.5")):
            dealer.player(user, amount)
        for user, amount in (("007", "99999999999.9999"), ("7", "0.0001"), ("Bob", "0"),
                             ("bob", "12.5")):
            got = dealer.call("balance-inquire", {"user_id": user, "player_id": "p"})
            equal(got.body.decode(), f'{{"user_id":"{user}","balance":{amount},"currency":"thb"}}',
                  user)
        bet = {"user_id": "007", "player_id": "p", "remark": "", "game_id": "g", "timestamp": 1,
               "user_bet": {}, "bet_amount": 0, "transaction_id": 0}
        number = 2 ** 53 - 10
        for text, left in (("0.0001", "99999999999.9998"), ("1e-4", "99999999999.9997"),
                           ("10.0e-1", "99999999998.9997"), ("1.00000", "99999999997.9997")):
            number += 1
            raw = json.dumps(dict(bet, transaction_id=number)).replace(
                '"bet_amount": 0', f'"bet_amount": {text}')
            got = dealer.call("betting", raw.encode())
            check(f'"balance":{left},' in got.body.decode(), f"{text}: {got}")
        for text in ("0.00001", "-1", '"1"', "1e99", "1e999999999999", "0", "0.0", "true", "null",
                     "123456789012345678901", "[1]"):
            raw = json.dumps(dict(bet, transaction_id=number + 1)).replace(
                '"bet_amount": 0', f'"bet_amount": {text}')
            equal(dealer.call("betting", raw.encode()).status, 400, f"bet_amount {text}")
        equal(dealer.errors(), "", "what PHP complained of")


def case_php_gone():
    """The refund of a bet whose player was taken away is not swallowed."""
    with PhpDealer(WALLET, "php-gone") as dealer:
        dealer.player("eve", "10")
        body = {"user_id": "eve", "player_id": "p", "bet_amount": 7, "transaction_id": 70,
                "timestamp": 1, "remark": "", "game_id": "g"}
        equal(dealer.call("betting", dict(body, user_bet={})).json["balance"], 3, "a bet")
        with contextlib.closing(sqlite3.connect(dealer.dir / "dealer.sqlite")) as database:
            database.execute("DELETE FROM players")
            database.commit()
        equal(dealer.call("betting-refund", body).json["id"], "user_not_found", "its refund")
        dealer.player("eve", "3")
        equal(dealer.call("betting-refund", body).json["balance"], 10, "when the dealer is back")


def case_php_keys():
    """While keys are changed either verifies, and the receiver says 500 when it cannot know."""
    with PhpDealer(WALLET, "php-keys") as dealer:
        dealer.player("bob", "10")
        body = b'{"user_id":"bob","player_id":"p"}'
        other = "f" * 64
        equal(dealer.call("balance-inquire", body, key=other).status, 401, "another key")
        dealer.key_file.write_text(f"{other}\n{dealer.key}\n")
        equal(dealer.call("balance-inquire", body, key=other).status, 200, "the second key")
        equal(dealer.call("balance-inquire", body).status, 200, "the first key")
        dealer.key_file.write_text("\n")
        equal(dealer.call("balance-inquire", body, key="").status, 500, "the empty key")
        dealer.key_file.unlink()
        got = dealer.call("balance-inquire", body)
        equal((got.status, got.json["id"]), (500, "internal_error"), "no key file")
        check("key" in dealer.errors(), "the log says why")


def case_php_included():
    """A program of a dealer's that includes the file answers its own requests."""
    if not shutil.which("php"):
        raise Skip("php is not installed")
    page, port = WALLET.dir / "page.php", cb.free_port()
    page.write_text(f"<?php require '{CLIENTS['php'][1]}';\n"
                    "echo 'page ', creditbridge\\amount_text(125000);\n")
    server = cb.Child(["php", "-S", f"127.0.0.1:{port}", page], WALLET.dir / "page.log")
    try:
        server.wait_ready(lambda: port_open(port), 15, "php -S")
        got = cb.raw_request(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    finally:
        server.stop()
    equal((got.status, got.body), (200, b"page 12.5"), "what the page answers")
    ran = subprocess.run(["php", page], capture_output=True, timeout=20 * cb.PATIENCE, check=True)
    equal(ran.stdout, b"page 12.5", "the same on the command line")


def case_php_plays():
    """Real bets, results and refunds by the service, and the books of both sides at the end."""
    with PhpDealer(WALLET, "php-plays", "--refund-delay", "0") as dealer:
        dealer.player("dora", "100")
        table = Table(SERVER, client_add(WALLET, "slots"), "php-plays", "dora")
        bet = table.bet("won", 10)
        equal((bet["state"], bet["balance"]), ("accepted", 90), "a bet")
        table.bet("won", 0.5, addition=True)
        got = table.result("won", "win", payout_amount=25.25)
        equal(got["callback"]["state"], "delivered", "a win")
        equal(table.balance(), 114.75, "after a win")
        table.bet("lost", 4.75)
        equal(table.result("lost", "loss")["callback"]["state"], "delivered", "a loss")
        table.bet("cancelled", 3)
        equal(table.result("cancelled", "refund")["callback"]["state"], "delivered", "cancelled")
        equal(table.balance(), 110, "after a loss and a cancelled game")
        refused = table.call(BETS, 409, game_id="dear", bet_amount=110.01)
        equal(refused["dealer_error"]["id"], "insufficient_balance", "a bet above the balance")
        # The dealer cannot say whether it debited: the bet is refunded, and the dealer never had
        # it.
        key = dealer.key_file.read_text()
        dealer.key_file.unlink()
        unknown = table.call(BETS, 504, game_id="unknown", bet_amount=7)
        equal((unknown["id"], unknown["state"]), ("dealer_timeout", "refunding"), "a bet")
        dealer.key_file.write_text(key)
        number = next(row["transaction_id"] for row in WALLET.ctl_json(
            "bet", "list", "--casino", "php-plays")["bets"] if row["game_id"] == "unknown")

        def refunded():
            sweep(WALLET)
            return WALLET.ctl_json("bet", "show", number)["bet"]["state"] == "refunded"

        cb.wait_until(refunded, 20, "the refund", interval=0.2)
        late = {"user_id": "dora", "player_id": "p", "bet_amount": 7, "transaction_id": number,
                "timestamp": 1, "remark": "", "game_id": "unknown", "user_bet": {}}
        got = dealer.call("betting", late)
        equal((got.status, got.json["id"]), (409, "bet_refunded"), "the bet comes after all")
        equal(table.balance(), 110, "at the end")
        WALLET.ctl("check")


CASES = [
    ("the vectors, by hashlib, openssl and creditbridgectl", case_vectors),
    ("the vectors of webhook headers", case_webhook_vectors),
    ("every example signs the vectors", of_all(signs)),
    ("every example: transfers, balance, result", of_all(calls)),
    ("every example repeats, and moves once", of_all(repeats)),
    ("every example, killed in its call", of_all(killed)),
    ("every example knows its server", of_all(knows_servers)),
    ("the last ids, read by JavaScript", case_last_ids),
    ("the PHP receiver passes the exam", case_php_exam),
    ("the PHP receiver passes it with MariaDB", case_php_mariadb),
    ("the PHP receiver's amounts", case_php_amounts),
    ("the PHP receiver's keys", case_php_keys),
    ("the PHP file, included", case_php_included),
    ("the PHP receiver and a player who is gone", case_php_gone),
    ("the PHP receiver plays", case_php_plays),
]

if __name__ == "__main__":
    slow = {"callback_timeout_ms": 6000, "callback_lease_ms": 15000,
            "callback_connect_timeout_ms": 3000}
    with cb.Instance("creditbridge-examples", settings={**LOOPBACK, **slow}) as WALLET, \
            cb.Lighttpd(WALLET, prefix="/wallet") as SERVER:
        DEALER = WALLET.dealer_add("demo")
        KEY_FILE = WALLET.dir / "demo.key"
        KEY_FILE.write_text(DEALER.key + "\n")
        KEY_FILE.chmod(0o600)
        result = cb.run_cases(CASES, seconds=90)
    sys.exit(result)
