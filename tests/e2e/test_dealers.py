#!/usr/bin/python3
"""Dealers whose software exists already: clients that sign in base64, and the settings of a dealer
that make its answers to callbacks fit (contract, "Signature" and "Answers of a dealer")."""
import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_listener import Scripted  # noqa: E402
from cb_platform import (BETS, LOOPBACK, PLAYER_BALANCE, RESULTS, client_add,  # noqa: E402
                         platform_call)

# As a dealer's programmer would write them from the rule of the signature; see base64/client.sh.
CLIENTS = cb.SRCDIR / "tests" / "e2e" / "base64"
PROGRAMS = {"sh": ("sh", "client.sh"), "php": ("php", "client.php"),
            "python": ("/usr/bin/python3", "client.py"), "node": ("node", "client.js"),
            "perl": ("perl", "client.pl")}
VECTORS = json.loads((cb.SRCDIR / "doc" / "signature-vectors.json").read_text())
ENCODINGS = ("hex", "base64")
SETTINGS = {**LOOPBACK, "result_second_attempt_ms": 100, "result_third_attempt_ms": 100,
            "refund_backoff_ms": 50, "refund_backoff_max_ms": 100}
WALLET = SERVER = CLIENT = None
DEALERS = {}


def base64_of(key, data):
    return base64.b64encode(hmac.new(key.encode(), data, hashlib.sha256).digest()).decode()


def client(language, dealer, *words):
    """Runs the client of @language for @dealer."""
    program, script = PROGRAMS[language]
    return subprocess.run(
        [program, CLIENTS / script, *map(str, words)], capture_output=True, text=True, timeout=50 * cb.PATIENCE,
        check=False, stdin=subprocess.DEVNULL,
        env=dict(os.environ, URL=SERVER.base_url, CASINO=dealer.casino_id, KEY=dealer.key))


def of_all(function):
    """Runs @function for every language at once."""
    def case():
        missing = {language: program for language, (program, _) in PROGRAMS.items()
                   if not shutil.which(program)}
        cb.each_in_thread(function, set(PROGRAMS) - set(missing))
        if missing:
            raise Skip(f"not installed: {', '.join(missing.values())} (the others passed)")
    return case


# -- signatures

def calls(language):
    """A dealer that `dealer add` made with no option, and every call of group A."""
    user, dealer = "alice", DEALERS[language]

    def ask(*words):
        done = client(language, dealer, *words)
        equal(done.returncode, 0, f"{language} {words}: {done.stderr}")
        return json.loads(done.stdout)
    got = ask("in", user, "100.5", "in-1")
    equal((got.get("current_balance"), got.get("request_transaction_id")), (100.5, "in-1"), got)
    equal(ask("in", user, "100.5", "in-1"), got, f"{language}: a repeat")
    equal(ask("out", user, "0.3", "out-1").get("current_balance"), 100.2, language)
    equal(ask("balance", user).get("balance"), 100.2, language)
    equal(len(ask("stat", user).get("bet_summary", ())), 30, language)
    equal(ask("result", user, "no-game").get("id"), "game_not_found", language)
    other = dealer._replace(key="0" * 64)
    equal(json.loads(client(language, other, "balance", user).stdout).get("id"),
          "invalid_signature", f"{language}: another key")


def case_spellings():
    """The dealer's encoding has no part in it, and only the standard spelling is taken."""
    body = VECTORS["vectors"][0]["body"].encode()
    for encoding in ENCODINGS:
        dealer = DEALERS[encoding]

        def code(signature, name=dealer.casino_id):
            return cb.call(SERVER, "POST", cb.TRANSFER_IN, body, casino=name,
                           signature=signature).status
        digits = cb.sign(dealer.key, body)
        text = base64_of(dealer.key, body)
        for signature in (digits, digits.upper(), digits[:32] + digits[32:].upper(), text):
            equal(code(signature), 200, f"{encoding}: {signature}")
        # Of the last digit 4 bits count. The other 2 are 0.
        digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        loose = text[:-2] + digit[digit.index(text[-2]) + 1] + "="
        for signature in (text.rstrip("="), text + "=", loose, text.lower(), digits[:-1],
                          base64.b64encode(digits.encode()).decode(), text.replace("=", ".")):
            equal(code(signature), 401, f"{encoding}: {signature}")
        # A body whose signature has both digits in which the URL-safe alphabet differs.
        number = next(number for number in range(10000) if {"+", "/"} <= set(
            base64_of(dealer.key, body + b" " * number)))
        longer = body + b" " * number
        text = base64_of(dealer.key, longer)
        for signature, status in ((text, 200),
                                  (text.replace("+", "-").replace("/", "_"), 401)):
            equal(cb.call(SERVER, "POST", cb.TRANSFER_IN, longer, casino=dealer.casino_id,
                          signature=signature).status, status, f"{encoding}: {signature}")


def case_game_servers():
    """Game servers, too. The algorithm is theirs in either encoding: SHA-256."""
    body = json.dumps({"casino_id": DEALERS["hex"].casino_id, "user_id": "alice"}).encode()
    for signature, status in ((base64_of(CLIENT.key, body), 200), (cb.sign(CLIENT.key, body), 200),
                              (base64_of(CLIENT.key, body).rstrip("="), 401),
                              (base64.b64encode(hmac.new(CLIENT.key.encode(), body, "sha512")
                                                .digest()).decode(), 401)):
        got = platform_call(SERVER, "/platform/players", body, client_id=CLIENT.client_id,
                            signature=signature)
        equal(got.status, status, f"{signature}: {got}")


# -- callbacks

class Casino:
    """A dealer with a seamless wallet, whose answers the case decides: replies[kind](call), or else
    the balance. The sums of its player are not kept."""

    def __init__(self, casino_id, *options):
        self.replies = {}
        self.server = Scripted(self.reply)
        self.dealer = WALLET.dealer_add(casino_id, "--url", self.server.url, "--allow-http",
                                        "--refund-delay", "0", *options, mode="seamless")
        self.player = {"casino_id": casino_id, "user_id": "alice"}
        WALLET.player_add(casino_id, "alice")
        self.count = 0

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *failure):
        return self.server.__exit__(*failure)

    def reply(self, call):
        told = (200, {"user_id": "alice", "balance": 100, "currency": "thb"})
        return self.replies.get(call.path.strip("/"), lambda _call: told)(call)

    def call(self, path, code, **members):
        self.count += 1
        body = {"request_transaction_id": f"{self.player['casino_id']}-{self.count}",
                **self.player, **members}
        got = platform_call(SERVER, path, body, client=CLIENT)
        equal(got.status, code, f"{path} {members}: {got}")
        return got.json

    def bet(self, game, code=200):
        return self.call(BETS, code, game_id=game, bet_amount=1, user_bet={"red": 1})

    def win(self, game):
        return self.call(RESULTS, 200, game_id=game, result="win", payout_amount=2,
                         game_result={"number": 7})["callback"]

    def seen(self, kind):
        return [call for call in self.server.seen if call.path == f"/{kind}"]

    def callback(self, game, kind):
        """The newest callback of the game, as `callback show` prints it."""
        rows = WALLET.ctl_json("callback", "list", "--casino", self.player["casino_id"])["callbacks"]
        event = next(row["event"] for row in rows if (row["game_id"], row["kind"]) == (game, kind))
        return WALLET.ctl_json("callback", "show", event)

    def swept(self, game, kind, state, attempts):
        """Sweeps until the callback has this state after @attempts attempts or more, and returns it.
        One sweep may make several: on a slow machine the next one is due before it ends."""
        def there():
            subprocess.run([cb.find_program("creditbridge-sweep"), "--config", WALLET.config],
                           timeout=60 * cb.PATIENCE, capture_output=True, check=True)
            row = self.callback(game, kind)
            return row if row["state"] == state and row["attempts"] >= attempts else None
        return cb.wait_until(there, 30, f"{kind} of {game}: {state}", interval=0.05)


def every_kind(casino):
    """Sends B1 to B4. The first bet is lost and refunded."""
    casino.replies["betting"] = lambda _call: (500, {})
    casino.bet("lost", 504)
    casino.replies.clear()
    casino.swept("lost", "betting-refund", "delivered", 1)
    casino.bet("won")
    equal(casino.win("won")["state"], "delivered", "a win")
    casino.call(PLAYER_BALANCE, 200)
    return {call.path.strip("/"): call for call in casino.server.seen}


KINDS = {"balance-inquire", "betting", "betting-result", "betting-refund"}


def case_callbacks_in_base64():
    """Callbacks with a currency, signed in base64: each of the five clients verifies them."""
    with Casino("seamless-base64", "--encoding", "base64", "--send-currency") as casino:
        seen = every_kind(casino)
        equal(set(seen), KINDS, "kinds")
        path = WALLET.dir / "body"
        for kind, call in seen.items():
            signature = call.headers["x-casino-signature"]
            equal(signature, base64_of(casino.dealer.key, call.body), kind)
            equal(list(json.loads(call.body).items())[-1], ("currency", "thb"), kind)
            path.write_bytes(call.body)
            for language in (name for name, (program, _) in PROGRAMS.items() if shutil.which(program)):
                equal(client(language, casino.dealer, "verify", path, signature).returncode, 0,
                      f"{language}: {kind}")
                check(client(language, casino.dealer, "verify", path, signature[1:] + "A").returncode
                      != 0, f"{language}: another signature")
    WALLET.ctl("check")


def case_callbacks_by_default():
    """A dealer without settings: no currency, and hex. A setting concerns what is sent later."""
    with Casino("seamless-plain") as casino:
        for kind, call in every_kind(casino).items():
            equal(call.headers["x-casino-signature"], cb.sign(casino.dealer.key, call.body), kind)
            check("currency" not in json.loads(call.body), f"{kind}: {call.body}")
        casino.replies["betting-result"] = lambda _call: (500, {})
        casino.bet("later")
        equal(casino.win("later")["state"], "due", "a win")
        WALLET.ctl("dealer", "set", "seamless-plain", "--send-currency")
        casino.replies.clear()
        casino.swept("later", "betting-result", "delivered", 2)
        bodies = {call.body for call in casino.seen("betting-result") if b"later" in call.body}
        equal(len(bodies), 1, "the bytes of the second attempt")
        check(b"currency" not in bodies.pop(), "made before the setting")
        casino.bet("after")
        check(b'"currency":"thb"}' in casino.seen("betting")[-1].body, "made after it")
    WALLET.ctl("check")


def case_success_needs_balance():
    """A 2xx without a balance: a bet is refunded, a result and a refund are sent again."""
    error = {"status": "ERROR", "message": "no credit"}
    with Casino("needs-balance", "--success-needs-balance") as casino:
        casino.replies["betting"] = lambda _call: (200, error)
        casino.replies["betting-refund"] = lambda _call: (200, {})
        answer = casino.bet("free", 504)
        equal((answer["id"], answer["state"]), ("dealer_timeout", "refunding"), "the bet")
        row = casino.callback("free", "betting")
        equal((row["state"], row["last_class"], row["last_http_status"]), ("failed", "unknown", 200), row)
        check(row["last_note"].startswith("no usable balance in the answer: "), row)
        casino.swept("free", "betting-refund", "due", 1)
        del casino.replies["betting-refund"]
        casino.swept("free", "betting-refund", "delivered", 2)
        # An error body stays a refusal.
        casino.replies["betting"] = lambda _call: (200, {"id": "no_credit", "detail": "none"})
        equal(casino.bet("refused", 409)["dealer_error"]["id"], "no_credit", "an error body")
        casino.replies.clear()
        casino.bet("paid")
        casino.replies["betting-result"] = lambda _call: (200, "")
        equal(casino.win("paid")["state"], "due", "a win")
        casino.replies.clear()
        casino.swept("paid", "betting-result", "delivered", 2)
        # Without the setting the same answer is a success.
        WALLET.ctl("dealer", "set", "needs-balance", "--success-needs-balance=no")
        casino.replies["betting"] = lambda _call: (200, error)
        casino.bet("free-again")
    WALLET.ctl("check")


def case_duplicate_ids():
    """After an attempt whose answer was lost, a refusal that means a duplicate is a delivery."""
    known = (409, {"id": "E-409", "detail": "it was paid"})
    with Casino("knows", "--duplicate-ids", "TWICE,E-409") as casino:
        lost = lambda _call: (500, {})
        casino.bet("won")
        casino.replies["betting-result"] = lost
        equal(casino.win("won"), {"state": "due", "attempts": 1}, "the first answer is lost")
        casino.replies["betting-result"] = lambda _call: known
        row = casino.swept("won", "betting-result", "delivered", 2)
        equal((row["known_to_dealer"], row["unknown_to_dealer"], row["last_class"]),
              (True, False, "refused"), row)
        text = WALLET.ctl("callback", "show", row["event"])
        check("\nknown to the dealer " in text and "known to the dealer from an earlier" in text, text)
        bet = WALLET.ctl_json("bet", "list", "--casino", "knows")["bets"][0]["transaction_id"]
        text = WALLET.ctl("bet", "show", bet)
        check("known to the dealer from an earlier attempt: delivered" in text, text)
        rows = WALLET.ctl_json("bet", "show", bet)["callbacks"]
        equal([row["known_to_dealer"] for row in rows], [False, True], rows)
        # The same for a refund.
        casino.replies["betting"] = casino.replies["betting-refund"] = lost
        casino.bet("lost", 504)
        casino.swept("lost", "betting-refund", "due", 1)
        casino.replies["betting-refund"] = lambda _call: known
        row = casino.swept("lost", "betting-refund", "delivered", 2)
        equal((row["known_to_dealer"], row["unknown_to_dealer"]), (True, False), row)
        bet = WALLET.ctl_json("bet", "list", "--casino", "knows")["bets"][0]
        equal((bet["game_id"], bet["state"]), ("lost", "refunded"), bet)
        # The dealer refused each attempt with the id, so it performed none: it compares the id of
        # the result with that of another callback. The win is parked, the stake is still owed.
        casino.replies = {"betting-result": lambda _call: known}
        casino.bet("refused")
        casino.win("refused")
        row = casino.swept("refused", "betting-result", "parked", 3)
        equal((row["known_to_dealer"], row["last_class"]), (False, "refused"), row)
        casino.replies = {"betting": lost, "betting-refund": lambda _call: known}
        casino.bet("stake", 504)
        row = casino.swept("stake", "betting-refund", "due", 2)
        equal((row["known_to_dealer"], row["last_class"]), (False, "refused"), row)
        # An id that is not in the list.
        casino.replies = {"betting-result": lambda _call: (409, {"id": "E-4", "detail": "other"})}
        casino.bet("parked")
        casino.win("parked")
        casino.swept("parked", "betting-result", "parked", 3)
        # A bet is sent once: the id is a refusal like any other.
        casino.replies = {"betting": lambda _call: known}
        equal(casino.bet("again", 409)["dealer_error"]["id"], "E-409", "a bet")
    WALLET.ctl("check")


def case_ended_by_error():
    """Counted by dealer; doctor warns when it is more than an accident."""
    def warnings(text):
        found = json.loads(WALLET.ctl_run("--json", "doctor").stdout)["findings"]
        return [row for row in found if row["about"] == "errs" and text in row["found"]]

    def figures():
        return dict(re.findall(r'creditbridge_dealer_ended_by_error_total\{dealer="errs",error="(\w+)"\} (\d+)',
                               WALLET.ctl("metrics")))
    lost, known, unknown = ((500, {}), (409, {"id": "TWICE", "detail": "paid"}),
                            (404, {"id": "bet_not_found", "detail": "?"}))
    with Casino("errs", "--duplicate-ids", "TWICE") as casino:
        for number in range(3):
            equal(figures(), {"known": str(number), "unknown": str(number)} if number else {}, "before")
            equal(warnings("refunds"), [], "few")
            casino.replies = {"betting-result": lambda _call: lost}
            casino.bet(f"won-{number}")
            casino.win(f"won-{number}")
            casino.replies = {"betting-result": lambda _call: known}
            casino.swept(f"won-{number}", "betting-result", "delivered", 2)
            casino.replies = {"betting": lambda _call: lost, "betting-refund": lambda _call: unknown}
            casino.bet(f"lost-{number}", 504)
            casino.swept(f"lost-{number}", "betting-refund", "delivered", 1)
        equal(figures(), {"known": "3", "unknown": "3"}, "figures")
        check(warnings("3 of 3 refunds since the ledger's start are of bets that the dealer does not know"),
              "unknown")
        check(warnings("3 results and refunds since the ledger's start had arrived"), "known")
    WALLET.ctl("check")


def case_accepted_without_balance():
    """Counted by dealer; doctor warns of a dealer that usually sends a balance."""
    def warnings():
        found = json.loads(WALLET.ctl_run("--json", "doctor").stdout)["findings"]
        return [row for row in found
                if row["about"] == "counted" and "without a balance" in row["found"]]

    def figures():
        text = WALLET.ctl("metrics")
        return [line.rpartition(" ")[2] for line in text.splitlines()
                if line.startswith('creditbridge_dealer_bets_accepted_total{dealer="counted"')]
    with Casino("counted") as casino:
        casino.replies["betting"] = lambda _call: (200, {})
        casino.bet("quiet")
        equal(figures(), ["1", "0"], "without, with")
        equal(warnings(), [], "a dealer that sends none")
        casino.replies.clear()
        for number in range(3):
            casino.bet(f"told-{number}")
        casino.replies["betting"] = lambda _call: (409, {"id": "no", "detail": "no"})
        casino.bet("refused", 409)
        equal(figures(), ["1", "3"], "without, with")
        total = WALLET.ctl_json("dealer", "show", "counted")["total"]
        equal((total["bets_with_balance"], total["bets_without_balance"]), (3, 1), total)
        check("1 of 4 bets were accepted by an answer without a balance" in warnings()[0]["found"],
              warnings())
        check("dealer set counted --success-needs-balance" in warnings()[0]["remedy"], warnings())
        WALLET.ctl("dealer", "set", "counted", "--success-needs-balance")
        equal(warnings(), [], "when it is set")


CASES = [
    ("five clients that sign in base64", of_all(calls)),
    ("spellings of a signature", case_spellings),
    ("game servers that sign in base64", case_game_servers),
    ("callbacks in base64, with a currency", case_callbacks_in_base64),
    ("callbacks by default", case_callbacks_by_default),
    ("a success needs a balance", case_success_needs_balance),
    ("answers that mean a duplicate", case_duplicate_ids),
    ("bets that were accepted without a balance", case_accepted_without_balance),
    ("callbacks that an error of the dealer ended", case_ended_by_error),
]

if __name__ == "__main__":
    with cb.Instance("creditbridge-dealers", settings=SETTINGS) as WALLET:
        # Before the workers are there, so that each of them knows every key.
        CLIENT = client_add(WALLET, "slots")
        DEALERS.update({language: WALLET.dealer_add(f"base64-{language}") for language in PROGRAMS})
        DEALERS.update({encoding: WALLET.dealer_add(f"set-{encoding}", "--encoding", encoding)
                        for encoding in ENCODINGS})
        for added in DEALERS.values():
            WALLET.player_add(added.casino_id, "alice")
        with cb.Lighttpd(WALLET, prefix="/wallet") as SERVER:
            result = cb.run_cases(CASES, seconds=60)
    sys.exit(result)
