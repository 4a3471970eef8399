#!/usr/bin/python3
"""The wallet from outside: real web servers, workers and ledger, called as by a dealer.

Cases that depend on the web server run on each of them, mounted at / and at a prefix; the others
only on lighttpd. With --installed, all run on mod_fcgid of Debian's package, and those that depend
on the server on each other one of it.
"""
import concurrent.futures
import itertools
import json
import os
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import BALANCE, TRANSFER_IN, TRANSFER_OUT, check, equal  # noqa: E402

PREFIX = "/pcw/v1"
BODY_MAX = 65536
TRANSFER_KEYS = {"amount", "before_balance", "currency", "current_balance", "player_id",
                 "request_transaction_id", "transaction_id", "user_id"}
ERROR_KEYS = {"id", "code", "status", "detail", "retryable", "request_id"}
REASONS = {400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden",
           404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
           413: "Payload Too Large", 429: "Too Many Requests", 503: "Service Unavailable"}
# A change takes effect within this time on all workers (contract, "What an operator may change").
EFFECT_S = 1.0
CALM_S = 0.02  # between two calls of one caller
numbers = itertools.count(1)


class Bench:
    """A server with what the cases need: dealers, new players, new ids."""

    def __init__(self, wallet, kind, prefix):
        self.wallet = wallet
        self.kind = kind
        self.prefix = prefix
        self.server = None
        self.dealer = None
        self.known_from = {}  # casino_id -> when every worker knows the dealer

    def start(self):
        dealer = self.dealer_new()
        self.server = self.kind(self.wallet, prefix=self.prefix)
        self.dealer = dealer
        answer = self.read(self.player())
        equal(answer.status, 200, "the first answer")

    def stop(self):
        if self.server:
            self.server.stop()
            equal(self.wallet.worker_pids(), [], "workers left behind")

    def dealer_new(self, *options, **words):
        dealer = self.wallet.dealer_add(f"dealer{next(numbers)}", *options, **words)
        self.known_from[dealer.casino_id] = time.monotonic() + EFFECT_S
        return dealer

    def player(self, dealer=None):
        user_id = f"user-{next(numbers)}"
        self.wallet.player_add((dealer or self.dealer).casino_id, user_id)
        return user_id

    def call(self, method, path, body=None, dealer=None, **words):
        if dealer:
            time.sleep(max(0, self.known_from[dealer.casino_id] - time.monotonic()))
        return cb.call(self.server, method, path, body, dealer=dealer or self.dealer, **words)

    def move(self, path, user_id, amount, key=None, **words):
        body = {"user_id": user_id, "amount": amount, "request_transaction_id": key or new_id()}
        return self.call("POST", path, body, **words)

    def read(self, user_id, method="GET", **words):
        return self.call(method, BALANCE,
                         {"user_id": user_id, "request_timestamp": cb.now_ms()}, **words)

    def credit(self, user_id, amount=100, **words):
        answer = self.move(TRANSFER_IN, user_id, amount, **words)
        equal(answer.status, 200, f"transfer-in {answer}")
        return answer.json

    def balance(self, user_id, **words):
        answer = self.read(user_id, **words)
        equal(answer.status, 200, f"balance {answer}")
        return answer.json["balance"]


def new_id():
    return f"ref-{os.getpid()}-{next(numbers)}"


def refused(answer, code, error_id, **more):
    """@answer is the error @error_id in all its parts; returns it."""
    body = answer.json
    equal((answer.status, body.get("id")), (code, error_id), f"refusal {answer}")
    equal(body["code"], code, "code")
    equal(body["status"], REASONS[code], "status")
    check(isinstance(body["detail"], str) and body["detail"], f"detail: {body}")
    equal(body["retryable"], code in (429, 503), "retryable")
    equal(body["request_id"], answer.header("X-Request-Id"), "request_id")
    check(ERROR_KEYS <= set(body), f"keys of {body}")
    equal({key: body[key] for key in set(body) - ERROR_KEYS}, more, "other members")
    return body


def without_request_id(answer):
    return {key: value for key, value in answer.json.items() if key != "request_id"}


# -- what depends on the web server: run on each of them


def case_transfer(b):
    user = b.player()
    key = new_id()
    done = b.move(TRANSFER_IN, user, 100.5, key)
    equal(done.status, 200, f"transfer-in {done}")
    equal(set(done.json), TRANSFER_KEYS, "keys of transfer-in")
    player_id = done.json["player_id"]
    check(len(player_id) == 20 and player_id.isalnum() and player_id == player_id.lower(),
          f"player_id {player_id}")
    check(isinstance(done.json["transaction_id"], int) and done.json["transaction_id"] > 0,
          "transaction_id")
    equal({k: done.json[k] for k in TRANSFER_KEYS - {"player_id", "transaction_id"}},
          {"amount": 100.5, "before_balance": 0, "currency": "thb", "current_balance": 100.5,
           "request_transaction_id": key, "user_id": user}, "transfer-in")
    out = b.move(TRANSFER_OUT, user, 0.1)
    equal(out.status, 200, f"transfer-out {out}")
    equal(set(out.json), TRANSFER_KEYS, "keys of transfer-out")
    equal((out.json["amount"], out.json["before_balance"], out.json["current_balance"]),
          (0.1, 100.5, 100.4), "transfer-out")
    check(out.json["transaction_id"] > done.json["transaction_id"], "transaction_id increases")
    check(b'"amount":0.1,' in out.body or b'"amount":0.1}' in out.body,
          f"0.1 is printed as 0.1: {out}")
    read = b.read(user)
    equal((read.status, read.json), (200, {"user_id": user, "player_id": player_id,
                                           "balance": 100.4, "currency": "thb",
                                           "staked": 0}), "balance")


def case_bodies(b):
    """GET with a body, by Content-Length and chunked, and the POST twin."""
    user = b.player()
    for chunked in (False, True):
        for method in ("GET", "POST"):
            answer = b.read(user, method, chunked=chunked)
            equal((answer.status, answer.json["balance"]), (200, 0),
                  f"balance by {method}, chunked {chunked}: {answer}")
    equal(b.move(TRANSFER_IN, user, 5, chunked=True).status, 200, "chunked transfer-in")
    equal(b.balance(user), 5, "balance")
    # Web servers keep small bodies differently from large ones.
    for size in (8000, 20000, 40000):
        answer = b.call("GET", BALANCE, {"user_id": user, "request_timestamp": cb.now_ms(),
                                         "unknown": "x" * size}, chunked=True)
        equal((answer.status, answer.json.get("balance")), (200, 5), f"{size} bytes chunked")


def case_replay(b):
    user = b.player()
    for path in (TRANSFER_IN, TRANSFER_OUT):
        key = new_id()
        first = b.move(path, user, 7.25, key)
        equal((first.status, first.header("X-Idempotent-Replay")), (200, None), f"{first}")
        b.credit(user, 1)
        again = b.move(path, user, 7.25, key)
        equal((again.status, again.replayed, again.body), (200, True, first.body), "the replay")
    equal(b.balance(user), 2, "balance: each moved once")


def case_headers(b):
    user = b.player()
    for answer in (b.read(user), b.move(TRANSFER_OUT, user, 1), b.call("GET", "/nothing")):
        equal(answer.header("Content-Type"), "application/json", "Content-Type")
        equal(answer.header("Cache-Control"), "no-store", "Cache-Control")
        check(answer.header("X-Request-Id"), "X-Request-Id")
    equal(b.read(user, headers=[("X-Request-Id", "My.own_id-1")]).header("X-Request-Id"),
          "My.own_id-1", "a request id of the caller")
    made = [b.read(user, headers=[("X-Request-Id", sent)]).header("X-Request-Id")
            for sent in ("no spaces", "x" * 65, "a/b")] + [b.read(user).header("X-Request-Id")]
    equal(len(set(made)), 4, f"request ids made: {made}")
    for request_id in made:
        check(0 < len(request_id) <= 64 and request_id.replace("-", "").isalnum(),
              f"a made request id: {request_id}")


def case_signature(b):
    """Whatever is wrong with the signature, the answer is the same."""
    user = b.player()
    body = json.dumps({"user_id": user, "amount": 1, "request_transaction_id": new_id()}).encode()
    good = cb.sign(b.dealer.key, body)
    other = b.dealer_new()
    wrong = {
        "missing": {"signature": ""},
        "wrong": {"signature": cb.sign("another key", body)},
        "of another body": {"signature": cb.sign(b.dealer.key, body + b" ")},
        "cut off": {"signature": good[:-1]},
        "with more": {"signature": good + "0"},
        "no hex": {"signature": "z" * 64},
        "with a comma": {"signature": good + ","},
        "with a space": {"signature": good[:32] + " " + good[32:]},
        "with a tab": {"signature": good[:32] + "\t" + good[32:]},
        "sent twice": {"headers": [("x-casino-signature", good)]},
        "casino id sent twice": {"headers": [("x-casino-id", b.dealer.casino_id)]},
        "no casino id": {"casino": ""},
        "unknown casino id": {"casino": "nobody"},
        "casino id that cannot be": {"casino": "no/body"},
        "another dealer's casino id": {"casino": other.casino_id, "signature": good},
    }
    bodies = []
    for name, words in wrong.items():
        answer = b.call("POST", TRANSFER_IN, body, **words)
        check(answer.status == 401, f"signature {name}: {answer}")
        refused(answer, 401, "invalid_signature")
        bodies.append((without_request_id(answer), sorted(key.lower() for key, _ in
                                                          answer.headers)))
    equal([entry for entry in bodies if entry != bodies[0]], [], "answers that differ")
    equal(b.balance(user), 0, "balance")
    answer = b.call("POST", TRANSFER_IN, body, signature=good.upper())
    equal(answer.status, 200, f"an upper-case signature {answer}")


def case_paths(b):
    for path in ("/", "/nothing", TRANSFER_IN + "/", TRANSFER_IN + "x", "/wallet-service",
                 "/healthz", "//", "/%00", "/x" * 300):
        answer = b.call("POST", path, {})
        if path == "/%00":
            check(answer.status in (400, 404), f"{path}: {answer}")  # refused by the server itself
        else:
            refused(answer, 404, "not_found")
    for method, path, allow in (("GET", TRANSFER_IN, {"POST"}), ("PUT", TRANSFER_OUT, {"POST"}),
                                *(("DELETE", read, {"GET", "POST"}) for read in cb.READ_PATHS)):
        answer = b.call(method, path, {})
        refused(answer, 405, "method_not_allowed")
        allowed = {word.strip() for word in answer.header("Allow").split(",")}
        equal(allowed, allow, f"Allow of {path}")
    if b.prefix:
        outside = cb.call(b.server, "POST", "", {}, dealer=b.dealer)  # only the prefix
        check(outside.status in (301, 404), f"the prefix without a slash: {outside}")
        answer = cb.raw_request(b.server.port, b"GET " + BALANCE.encode() + b" HTTP/1.1\r\n"
                                b"Host: x\r\nConnection: close\r\n\r\n", "GET")
        equal(answer.status, 404, f"a route outside of the prefix: {answer}")
    # No web server's own answer to TRACE, which would echo the signature.
    answer = b.call("TRACE", TRANSFER_IN, headers=[("X-Secret", "s3cret")])
    check(answer.status in (403, 405), f"TRACE: {answer}")
    check(b"s3cret" not in answer.body and b"signature" not in answer.body, f"TRACE: {answer}")
    # Routing is on the decoded path; the query is none of it.
    user = b.player()
    body = {"user_id": user, "request_timestamp": cb.now_ms()}
    equal(b.call("GET", BALANCE.replace("get", "%67et"), body).status, 200, "an encoded path")
    equal(b.call("GET", BALANCE + "?x=1", body).status, 200, "a query")


def case_sizes(b):
    user = b.player()

    def padded(size):
        head = json.dumps({"user_id": user, "amount": 1, "request_transaction_id": new_id(),
                           "unknown": ""}).encode()
        return head[:-2] + b"x" * (size - len(head)) + head[-2:]

    for chunked in (False, True):
        for size, status in ((BODY_MAX, 200), (BODY_MAX + 1, 413), (10 * BODY_MAX, 413),
                             (16 * BODY_MAX + 1, 413), (32 * BODY_MAX, 413)):
            body = padded(size)
            equal(len(body), size, "the test's own body")
            answer = b.call("POST", TRANSFER_IN, body, chunked=chunked)
            equal(answer.status, status, f"{size} bytes, chunked {chunked}: {answer}")
            if status == 413:
                refused(answer, 413, "payload_too_large")
    equal(b.balance(user), 2, "balance")
    # Size is looked at before the signature.
    answer = b.call("POST", TRANSFER_IN, padded(BODY_MAX + 1), signature="no")
    refused(answer, 413, "payload_too_large")
    # Up to 16 MiB the answer is the service's own.
    refused(b.call("POST", TRANSFER_IN, padded(256 * BODY_MAX)), 413, "payload_too_large")


def case_same_id_at_once(b):
    user = b.player()
    body = {"user_id": user, "amount": 3, "request_transaction_id": new_id()}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: b.call("POST", TRANSFER_IN, body), range(16)))
    equal({answer.status for answer in answers}, {200}, f"statuses {answers}")
    equal(len({answer.body for answer in answers}), 1, f"answers {answers}")
    equal(sum(answer.replayed for answer in answers), 15, "replays")
    equal(b.balance(user), 3, "balance: moved once")


def case_platform(b):
    """The platform's mount knows no route of the wallet, and the other way round."""
    port = b.server.platform_port
    platform = type("Mount", (), {"port": port, "prefix": ""})
    answer = cb.call(platform, "GET", "/healthz")
    equal(answer.status, 200, f"healthz {answer}")
    refused(cb.call(platform, "POST", TRANSFER_IN, {}, dealer=b.dealer), 404, "not_found")
    refused(cb.call(platform, "GET", BALANCE, {}, dealer=b.dealer), 404, "not_found")
    refused(b.call("GET", "/healthz"), 404, "not_found")


EVERYWHERE = (
    ("transfer in, out and balance", case_transfer),
    ("bodies of GET and POST, with length and chunked", case_bodies),
    ("an exact repeat is replayed", case_replay),
    ("headers of answers", case_headers),
    ("every bad signature gets the same answer", case_signature),
    ("paths and methods", case_paths),
    ("sizes of bodies", case_sizes),
    ("16 callers with one id: one movement, equal answers", case_same_id_at_once),
    ("wallet and platform are apart", case_platform),
)

# -- the rules: run on one server


def case_conflict(b):
    user, other = b.player(), b.player()
    key = new_id()
    b.credit(user, 10, key=key)
    b.credit(user, 10)
    for what, path, who, amount in (("amount", TRANSFER_IN, user, 11),
                                    ("user_id", TRANSFER_IN, other, 10),
                                    ("direction", TRANSFER_OUT, user, 10)):
        answer = b.move(path, who, amount, key)
        refused(answer, 409, "transaction_conflict", field=what)
        equal(answer.header("X-Idempotent-Replay"), None, "a conflict is no replay")
    equal((b.balance(user), b.balance(other)), (20, 0), "balances")
    # The same amount, written otherwise, is the same amount.
    body = b'{"amount": 1.0e1, "user_id": "%s", "request_transaction_id": "%s"}' % (
        user.encode(), key.encode())
    answer = b.call("POST", TRANSFER_IN, body)
    equal((answer.status, answer.replayed), (200, True), f"1.0e1 is 10: {answer}")
    # Keys are a dealer's own.
    dealer = b.dealer_new()
    stranger = b.player(dealer)
    answer = b.move(TRANSFER_IN, stranger, 11, key, dealer=dealer)
    equal((answer.status, answer.replayed), (200, False), "the id at another dealer")


def case_insufficient(b):
    user = b.player()
    b.credit(user, 5)
    key = new_id()
    first = b.move(TRANSFER_OUT, user, 5.01, key)
    refused(first, 402, "insufficient_balance", current_balance=5)
    b.credit(user, 100)
    again = b.move(TRANSFER_OUT, user, 5.01, key)
    refused(again, 402, "insufficient_balance", current_balance=5)
    equal(without_request_id(again), without_request_id(first), "the repeat")
    refused(b.move(TRANSFER_OUT, user, 5, key), 409, "transaction_conflict", field="amount")
    equal(b.balance(user), 105, "balance")
    equal(b.move(TRANSFER_OUT, user, 105).json["current_balance"], 0, "to the last coin")


def case_unknown_user(b):
    stranger = b.player(b.dealer_new())
    for user in ("nobody", stranger):
        key = new_id()
        refused(b.move(TRANSFER_IN, user, 1, key), 404, "user_not_found")
        refused(b.move(TRANSFER_OUT, user, 1, key), 404, "user_not_found")
        refused(b.read(user), 404, "user_not_found")
    # A refusal of this kind does not consume the key.
    b.credit(b.player(), 1, key=key)


def case_bad_request(b):
    user = b.player()
    good = {"user_id": user, "amount": 1, "request_transaction_id": "bad-request"}
    text = json.dumps(good)[1:-1]
    raw = [b"", b"   ", b"[]", b"1", b'"x"', b"null", b"{", b"{" + text.encode(),
           b"{" + text.encode() + b"} x", b"{" + text.encode() + b', "amount": 2}',
           b"{" + text.encode() + b', "x": ' + b"[" * 16 + b"]" * 16 + b"}",
           b"{" + text.encode() + b', "x": "\xff"}', b"\xef\xbb\xbf{" + text.encode() + b"}",
           b"{" + text.encode() + b', "x": NaN}', b"amount=1"]
    for body in raw:
        refused(b.call("POST", TRANSFER_IN, body), 400, "bad_request")
    for path in (TRANSFER_IN, TRANSFER_OUT):
        for name in good:
            bad = [{key: value for key, value in good.items() if key != name}]
            values = [None, [], {}, True] + (["1", ""] if name == "amount" else
                                             [1, "", "x" * 129, "a\nb", "a\x7fb"])
            bad += [dict(good, **{name: value}) for value in values]
            for body in bad:
                answer = b.call("POST", path, body)
                detail = refused(answer, 400, "bad_request")["detail"]
                check(name in detail, f"{body}: the detail names {name}: {detail}")
    for body in ({"user_id": user}, {"user_id": user, "request_timestamp": "1"},
                 {"user_id": user, "request_timestamp": 1.5},
                 {"request_timestamp": cb.now_ms()}):
        refused(b.call("GET", BALANCE, body), 400, "bad_request")
    equal(b.balance(user), 0, "balance")
    # Unknown members are ignored, ids may have 128 bytes, and 16 levels may be nested.
    deep = b"{" + text.encode() + b', "x": ' + b"[" * 15 + b"]" * 15 + b"}"
    equal(b.call("POST", TRANSFER_IN, deep).status, 200, "16 levels")
    b.credit(user, 1, key="i" * 128)


def case_invalid_amount(b):
    user = b.player()
    for amount in (0, -1, -0.01, 1e11, 100000000000, 1e300, 0.001, 1.005, 10.123):
        detail = refused(b.move(TRANSFER_IN, user, amount), 400, "invalid_amount")["detail"]
        check("amount" in detail, f"{amount}: {detail}")
        equal("amount: must have at most 2 decimals" in detail, amount in (0.001, 1.005, 10.123),
              f"{amount}: {detail}")
    equal(b.balance(user), 0, "balance")
    exact = b.dealer_new("--decimals", "4")
    precise = b.player(exact)
    b.credit(precise, 0.0001, dealer=exact)
    refused(b.move(TRANSFER_IN, precise, 0.00001, dealer=exact), 400, "invalid_amount")
    for _ in range(3):
        b.credit(user, 0.1)
    equal(b.balance(user), 0.3, "0.1 three times")
    b.credit(user, 99999999999.69)
    equal(b.balance(user), 99999999999.99, "a large balance")


def case_balance_limit(b):
    dealer = b.dealer_new("--decimals", "4")
    user = b.player(dealer)
    b.credit(user, 99999999999.9999, dealer=dealer)
    key = new_id()
    refused(b.move(TRANSFER_IN, user, 0.0001, key, dealer=dealer), 409, "balance_limit")
    equal(b.balance(user, dealer=dealer), 99999999999.9999, "balance")
    equal(b.move(TRANSFER_OUT, user, 1, dealer=dealer).status, 200, "out")
    b.credit(user, 0.0001, key=key, dealer=dealer)  # the key was not consumed


def case_stale(b):
    user = b.player()
    for off_s, stale in ((-310, True), (-290, False), (0, False), (290, False), (310, True)):
        answer = b.call("GET", BALANCE, {"user_id": user,
                                         "request_timestamp": cb.now_ms() + off_s * 1000})
        if stale:
            refused(answer, 401, "stale_request")
        else:
            equal(answer.status, 200, f"{off_s} s off: {answer}")


def case_seamless(b):
    dealer = b.dealer_new("--url", "http://127.0.0.1:9/", "--allow-http", mode="seamless")
    user = b.player(dealer)
    for path in (TRANSFER_IN, TRANSFER_OUT):
        refused(b.move(path, user, 1, dealer=dealer), 409, "wrong_wallet_mode")
    equal(b.balance(user, dealer=dealer), 0, "the credit held here")


def case_suspended(b):
    for what, error_id in (("dealer", "dealer_suspended"), ("player", "user_suspended")):
        dealer = b.dealer_new()
        user = b.player(dealer)
        words = [dealer.casino_id] + ([user] if what == "player" else [])
        key = new_id()
        done = b.move(TRANSFER_IN, user, 9, key, dealer=dealer)
        b.wallet.ctl(what, "suspend", *words)
        for path in (TRANSFER_IN, TRANSFER_OUT):
            blocked = new_id()
            refused(b.move(path, user, 1, blocked, dealer=dealer), 403, error_id)
        equal(b.balance(user, dealer=dealer), 9, "the balance is read on")
        again = b.move(TRANSFER_IN, user, 9, key, dealer=dealer)
        equal((again.status, again.replayed, again.body), (200, True, done.body), "the replay")
        refused(b.move(TRANSFER_IN, user, 8, key, dealer=dealer), 409, "transaction_conflict",
                field="amount")
        b.wallet.ctl(what, "resume", *words)
        equal(b.move(TRANSFER_OUT, user, 1, blocked, dealer=dealer).status, 200, "after resume")


def case_rate_limit(b):
    dealer = b.dealer_new("--rate-limit", "2")
    user = b.player(dealer)
    for _ in range(5):  # A machine so slow that 12 are not too many is given another try.
        keys = [new_id() for _ in range(12)]
        start = time.monotonic()
        answers = [b.move(TRANSFER_IN, user, 1, key, dealer=dealer) for key in keys]
        limited = [key for key, answer in zip(keys, answers) if answer.status == 429]
        if time.monotonic() - start < 2 or len(limited) >= 4:
            break
    check(4 <= len(limited) < 12, f"limited {len(limited)} of 12: {answers}")
    for answer in answers:
        if answer.status == 429:
            refused(answer, 429, "rate_limited")
            check(int(answer.header("Retry-After")) >= 1, "Retry-After")
    time.sleep(1.1)  # the bucket fills
    answer = b.move(TRANSFER_IN, user, 1, limited[0], dealer=dealer)
    equal((answer.status, answer.replayed), (200, False), f"a second later: {answer}")
    equal(b.read(user := b.player()).status, 200, f"another dealer's {user} is not limited")


def within_a_second(b, dealer, user, status):
    """Some worker may hold the old keys for a moment; after a second none does."""
    deadline = time.monotonic() + EFFECT_S
    while time.monotonic() < deadline:
        b.read(user, dealer=dealer)
        time.sleep(0.05)
    seen = {b.read(user, dealer=dealer).status for _ in range(20)}
    equal(seen, {status}, "a second after the change")


def case_key_rotation(b):
    old = b.dealer_new()
    user = b.player(old)
    equal(b.read(user, dealer=old).status, 200, "the first key")
    first_id = b.wallet.ctl_json("dealer", "show", old.casino_id)["keys"][0]["key_id"]
    added = b.wallet.ctl_json("dealer", "key-add", old.casino_id)
    new = old._replace(key=added["key"])
    within_a_second(b, new, user, 200)
    within_a_second(b, old, user, 200)
    b.wallet.ctl("dealer", "key-use", old.casino_id, added["key_id"])
    b.wallet.ctl("dealer", "key-retire", old.casino_id, first_id)
    within_a_second(b, old, user, 401)
    within_a_second(b, new, user, 200)


def case_sigterm(b):
    """A worker asked to end answers what it has begun."""
    user = b.player()
    equal(b.read(user).status, 200, "before")
    engines = b.wallet.engine_pids()
    check(engines, "the ledger has an engine")
    before = b.server.worker_pids("wallet")
    check(before, "there are workers")
    answers = []
    for pid in engines:  # a ledger that hangs keeps the requests under way
        os.kill(pid, signal.SIGSTOP)
    try:
        threads = [threading.Thread(target=lambda: answers.append(
            b.move(TRANSFER_IN, user, 1))) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(1.5)  # They have all been begun, on a slow machine too.
        equal(answers, [], "answers of a ledger that stands still")
        cb.signal_pids(before, signal.SIGTERM)
        time.sleep(0.5)
    finally:
        for pid in engines:
            os.kill(pid, signal.SIGCONT)
    for thread in threads:
        thread.join(20)
    equal([answer.status for answer in answers], [200] * 4, f"{answers}")
    b.server.wait_for_successors(before, "wallet")
    cb.wait_until(lambda: b.read(user).status == 200, 20, "new workers")
    equal(b.balance(user), 4, "balance")


def case_sigterm_one(b):
    """One worker of several is asked to end, under load, again and again: no caller notices."""
    user = b.player()
    equal(b.read(user).status, 200, "before")
    stop, calm = threading.Event(), threading.Event()
    answers = []

    def load():
        while not stop.is_set():
            answers.append(b.move(TRANSFER_IN, user, 1))
            if calm.is_set():
                stop.wait(CALM_S)

    def started():
        return [pid for pid in b.server.worker_pids("wallet") if cb.blocks_signal(pid, signal.SIGTERM)]
    threads = [threading.Thread(target=load) for _ in range(6)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(4):
            calm.clear()
            time.sleep(0.3)
            cb.wait_until(lambda: len(started()) >= 2, 20, "several workers")
            worker = started()[0]
            cb.signal_pids([worker], signal.SIGTERM)
            cb.wait_until(lambda old=worker: old not in started(), 20, "its end")
            # Until the web server starts another one there is nothing to see that a full load would show.
            calm.set()
            cb.wait_until(lambda: len(started()) >= 2, 20, "another worker", interval=0.05)
        cb.wait_until(lambda: len(answers) > 100, 20, "a load")
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
    bad = [answer for answer in answers if answer.status != 200]
    equal(bad[:3], [], f"{len(bad)} of {len(answers)} answers")
    equal(b.balance(user), len(answers), "balance")


def case_ledger_away(b):
    user = b.player()
    key = new_id()
    b.wallet.stop()
    try:
        start = time.monotonic()
        answer = b.move(TRANSFER_IN, user, 1, key)
        seconds = time.monotonic() - start
        refused(answer, 503, "service_unavailable")
        check(int(answer.header("Retry-After")) >= 1, "Retry-After")
        check(4 < seconds < 14, f"the worker tried for 5 s: {seconds:.1f}")
    finally:
        b.wallet.start()
    equal(b.credit(user, 1, key=key)["current_balance"], 1, "the repeat")
    # A ledger that comes back within the deadline is not noticed.
    b.wallet.stop()
    timer = threading.Timer(0.5, b.wallet.start)
    timer.start()
    answer = b.move(TRANSFER_OUT, user, 1)
    timer.join()
    equal(answer.status, 200, f"a ledger away for a moment: {answer}")


ONCE = (
    ("the same id with other content is a conflict", case_conflict),
    ("insufficient balance, and the same again after more credit", case_insufficient),
    ("unknown users, and users of another dealer", case_unknown_user),
    ("bad requests", case_bad_request),
    ("invalid amounts", case_invalid_amount),
    ("the limit of a balance", case_balance_limit),
    ("stale requests", case_stale),
    ("transfers of a seamless dealer", case_seamless),
    ("suspended dealers and players", case_suspended),
    ("the rate limit", case_rate_limit),
    ("rotation of keys", case_key_rotation),
)
# These depend on what starts workers and the ledger.
PROCESSES = (
    ("SIGTERM lets requests under way finish", case_sigterm),
    ("without the ledger", case_ledger_away),
)


def built_cases(wallet):
    for kind in cb.SERVERS:
        for prefix in ("", PREFIX):
            rules = ONCE + PROCESSES if kind is cb.Lighttpd and not prefix else ()
            if kind.spawns and not prefix:
                rules += (("one of several workers ends under load", case_sigterm_one),)
            yield from cb.bench_cases(Bench(wallet, kind, prefix), EVERYWHERE + rules,
                                      f"{kind.name} at {prefix or '/'}")


def installed_cases(wallet, kind):
    rules = ONCE + PROCESSES if kind is cb.INSTALLED["apache-fcgid"] else PROCESSES
    if kind.spawns:
        rules += (("one of several workers ends under load", case_sigterm_one),)
    return cb.bench_cases(Bench(wallet, kind, kind.prefix), EVERYWHERE + rules,
                          f"{kind.name} at {kind.prefix}")


def main():
    """test_wallet.py [--installed SERVER]: what is built, or the package (debian/tests)."""
    if sys.argv[1:2] == ["--installed"]:
        kind = cb.INSTALLED[sys.argv[2]]
        with cb.Installed() as wallet:
            return cb.run_cases(list(installed_cases(wallet, kind)), seconds=90)
    with cb.Instance("wallet-test") as wallet:
        return cb.run_cases(list(built_cases(wallet)), seconds=90)


if __name__ == "__main__":
    sys.exit(main())
