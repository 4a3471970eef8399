#!/usr/bin/python3
"""Callbacks against dealers that fail in every way, as TAP.

For each of B1 to B4 and each fault of dealers.py one attempt is made, all side by side: its class
is that of the contract, "Answers of a dealer", it ends within 3.3 s, and exactly one request arrives.
What is claimed not to have been sent did not arrive.

An attempt is given what its process waited for a processor on top of its 3.3 s: that is the
machine's time and not the sender's, and nearly nothing where the machine is not busy. On a machine
so busy that the dealer of this test needs 3 s to answer, an attempt that timed out for that reason
is made again, with few beside it.
"""
import base64
import hashlib
import hmac
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
sys.path.insert(0, str(SRCDIR / "tests" / "callback"))
import cb  # noqa: E402
import cb_alone  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from attempts import BODY, PROGRAM, Sender  # noqa: E402
from dealers import BALANCE, FAULTS, CutDealer, Dealer, answer, full_backlog, hang, reset  # noqa: E402

KINDS = ("balance-inquire", "betting", "betting-result", "betting-refund")
KEY1 = "0123456789abcdef" * 4
KEY2 = "fedcba9876543210" * 4
ATTEMPT_MS = 3300
CONNECT_MS = 2000
# How often an attempt is made again that found the machine busy, and how many at the same time.
AGAIN_MAX = 3
AGAIN_BESIDE = 8
# Plays only the case of the resets, with each byte over TLS in place of each seventh.
EVERY_BYTE = os.environ.get("CB_EVERY_BYTE") == "1"


def in_time(outcome, what, limit_ms=ATTEMPT_MS):
    check(outcome["ms"] <= limit_ms + outcome["waited"],
          f"{what}: took {outcome['ms']} ms, of which it waited at most {outcome['waited']}")


def not_sent(outcome, note=""):
    equal(outcome["class"], "not_sent", f"class of {outcome}")
    equal(outcome["http_status"], 0, "HTTP status")
    check(note in outcome["note"] and outcome["note"], f"note {note!r}: {outcome}")
    in_time(outcome, outcome["note"])


# The table of faults

TABLE = {}


def late(fault, outcome):
    """Whether the attempt timed out although the @fault is to answer."""
    _, expected, status, *_ = FAULTS[fault]
    return "timed out" in outcome["note"] and (outcome["class"] != expected or
                                               status not in (None, outcome["http_status"]))


def attempts(number, kind, wanted, path):
    """One attempt for each of the faults @wanted, at the same time. A path that @path makes of a
    fault names it."""
    with Sender() as sender:
        for fault in wanted:
            # A host of its own: no fault gets a connection that another has spoilt.
            sender.add(fault, TABLE["dealer"].url(f"{fault}.localhost"), path(fault, kind), number,
                       number + 17)
        outcomes = sender.wait()
    for fault in wanted:
        TABLE["outcomes"][kind][fault] = outcomes[fault]
        TABLE["paths"][kind][fault] = path(fault, kind)


def table_run():
    """Every fault under every kind. One sender a kind, all at the same time."""
    other = Dealer(fault=answer(200, b"{}"))
    dealer = Dealer()
    dealer.other = other.url() + "/x"
    TABLE.update(dealer=dealer, other=other, outcomes={kind: {} for kind in KINDS},
                 paths={kind: {} for kind in KINDS})
    cb.each_in_thread(lambda item: attempts(*item, FAULTS, lambda *names: "/" + "/".join(names)),
                      enumerate(KINDS))
    for again in range(AGAIN_MAX):
        for number, kind in enumerate(KINDS):
            wanted = [fault for fault in FAULTS if late(fault, TABLE["outcomes"][kind][fault])]
            for start in range(0, len(wanted), AGAIN_BESIDE):
                print(f"# again, {kind}: {wanted[start:start + AGAIN_BESIDE]}", flush=True)
                attempts(number, kind, wanted[start:start + AGAIN_BESIDE],
                         lambda *names, again=again: f"/{names[0]}/{names[1]}/again-{again}")


def case_table():
    table_run()
    equal(sorted(TABLE["outcomes"]), sorted(KINDS), "kinds")
    for kind in KINDS:
        equal(sorted(TABLE["outcomes"][kind]), sorted(FAULTS), f"outcomes of {kind}")
    equal(TABLE["dealer"].errors, [], "the dealer's own errors")
    equal(TABLE["other"].connections, 0, "connections to where a redirect points")


def make_fault_case(fault):
    def case():
        expected = FAULTS[fault]
        check(TABLE, "the table was not run")
        for kind in KINDS:
            outcome = TABLE["outcomes"][kind][fault]
            equal(outcome["class"], expected[1], f"{kind}: {outcome}")
            if expected[2] is not None:
                equal(outcome["http_status"], expected[2], f"{kind}: HTTP status of {outcome}")
            in_time(outcome, kind)
            path = TABLE["paths"][kind][fault]
            arrived = [r for r in TABLE["dealer"].requests if r.path == path]
            equal(len(arrived), 1, f"{kind}: requests that arrived")
            equal(outcome["fences"], 1, f"{kind}: times that the fence was asked")
            words = (outcome["dealer_error_id"], outcome["dealer_error_detail"])
            spoken = len(expected) > 3 and expected[3]
            equal(words, ("bet_refused", "no bets today") if spoken else ("", ""), f"{kind}: words")
            check(expected[1] == "success" or spoken or outcome["note"], f"{kind}: there is no note")
    return case


def case_balance():
    for kind in KINDS:
        outcome = TABLE["outcomes"][kind]["balance"]
        equal((outcome["has_balance"], outcome["balance"], outcome["currency"], outcome["user_id"],
               outcome["note"]), (True, 100.5, "thb", "alice", ""), kind)
        outcome = TABLE["outcomes"][kind]["wrong-members"]
        equal((outcome["has_balance"], outcome["balance"], outcome["currency"], outcome["user_id"]),
              (False, 0, "", ""), kind)
        check("user_id, balance, currency" in outcome["note"], outcome["note"])


def signed(key, data):
    return hmac.new(key.encode(), data, hashlib.sha256)


def case_requests():
    """Every request that arrived, to the last header."""
    paths = {request.path for request in TABLE["dealer"].requests}
    equal([path for kind in KINDS for path in TABLE["paths"][kind].values() if path not in paths],
          [], "requests that did not arrive")
    body = BODY.encode()
    for request in TABLE["dealer"].requests:
        kind = request.path.split("/")[2]
        event = f"{kind}-{KINDS.index(kind) + 17}"
        equal((request.method, request.version), ("POST", "HTTP/1.1"), "request line")
        equal(request.body, body, "body")
        equal(sorted(name.lower() for name, _ in request.headers),
              ["accept", "content-length", "content-type", "host", "user-agent", "webhook-id",
               "webhook-signature", "webhook-timestamp", "x-casino-signature"], "headers")
        equal(request.header("Content-Type"), "application/json", "Content-Type")
        check(re.fullmatch(r"creditbridge/\d[\w.]*", request.header("User-Agent")), "User-Agent")
        equal(request.header("x-casino-signature"), signed(KEY1, body).hexdigest(), "signature")
        equal(request.header("webhook-id"), event, "webhook-id")
        stamp = request.header("webhook-timestamp")
        check(abs(int(stamp) - request.time_s) < 10, f"webhook-timestamp {stamp}")
        digest = signed(KEY1, f"{event}.{stamp}.".encode() + body).digest()
        equal(request.header("webhook-signature"), "v1," + base64.b64encode(digest).decode(),
              "webhook-signature")


def case_two_keys():
    dealer = Dealer(fault=answer(200, b"{}"))
    with Sender() as sender:
        equal(sender.one(dealer.url(), flags="h2")["class"], "success", "class")
    request = dealer.requests[0]
    body = BODY.encode()
    stamp = request.header("webhook-timestamp")
    digests = [signed(key, f"betting-17.{stamp}.".encode() + body).digest() for key in (KEY2, KEY1)]
    equal(request.header("x-casino-signature"), signed(KEY2, body).hexdigest(), "signature")
    equal(request.header("webhook-signature"),
          " ".join("v1," + base64.b64encode(digest).decode() for digest in digests),
          "webhook-signature: the signing key's first")
    dealer.stop()


# Kept connections

def each_kind(test):
    """Runs @test(kind number) for B1 to B4 side by side."""
    cb.each_in_thread(test, range(len(KINDS)))


def case_kept():
    """Ten requests on one connection, by both ways of sending."""
    def test(kind):
        dealer = Dealer(fault=answer(200, b"{}"))
        with Sender() as sender:
            for number in range(10):
                outcome = sender.one(dealer.url(), kind=kind, verb="call" if number % 2 else "add")
                equal((outcome["class"], outcome["fences"]), ("success", 1), f"request {number}")
        equal((dealer.connections, len(dealer.requests)), (1, 10), "connections, requests")
        dealer.stop()
    each_kind(test)


def case_kept_cut():
    """The second request of a connection is cut: it has arrived, and may not arrive again."""
    def test(kind):
        dealer = Dealer(fault=answer(200, b"{}"), cut_at=2)
        with Sender() as sender:
            equal(sender.one(dealer.url(), kind=kind)["class"], "success", "first")
            outcome = sender.one(dealer.url(), kind=kind)
            equal(outcome["class"], "unknown", f"second: {outcome}")
            equal(outcome["fences"], 1, "times that the fence was asked")
            equal(len(dealer.requests), 2, "requests")
            # The dead connection is not tried again.
            equal(sender.one(dealer.url(), kind=kind)["class"], "success", "third")
        equal(len(dealer.requests), 3, "requests")
        dealer.stop()
    each_kind(test)


def case_kept_reset():
    """The second request is cut by a reset before its body can have been read."""
    def second_reset(connection, request):
        answer(200, b"{}")(connection, request)
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(1)
        reset(connection)
        return False

    def test(kind):
        dealer = Dealer(fault=second_reset)
        with Sender() as sender:
            equal(sender.one(dealer.url(), kind=kind)["class"], "success", "first")
            outcome = sender.one(dealer.url(), kind=kind)
            equal((outcome["class"], outcome["fences"]), ("unknown", 1), f"second: {outcome}")
            # The second's was not read, and nothing of it came on another connection.
            equal(len(dealer.requests), 1, "requests")
        dealer.stop()
    each_kind(test)


def case_kept_closed():
    """A connection that the dealer closed meanwhile is replaced before anything is sent."""
    def close_later(connection, request):
        answer(200, b"{}")(connection, request)
        return False

    def test(kind):
        dealer = Dealer(fault=close_later)
        with Sender() as sender:
            for number in range(5):
                outcome = sender.one(dealer.url(), kind=kind)
                equal((outcome["class"], outcome["fences"]), ("success", 1), f"{outcome}")
                cb.wait_until(lambda n=number: dealer.closed > n, 20, "the dealer's closing")
        equal((dealer.connections, len(dealer.requests)), (5, 5), "connections, requests")
        dealer.stop()
    each_kind(test)


def case_unasked_answers():
    """The client does not take an answer without a request for the next request's."""
    def test(kind):
        dealer = Dealer()
        with Sender() as sender:
            for fault, pause_s in (("two-answers", 0.0), ("two-answers", 0.2),
                                   ("two-answers-later", 0.2)):
                outcome = sender.one(dealer.url(), path=f"/{fault}/x", kind=kind)
                equal(outcome["class"], "success", f"{fault}: {outcome}")
                cb.wait_until(lambda: dealer.responded == len(dealer.requests), 20, "both answers")
                time.sleep(pause_s)
                outcome = sender.one(dealer.url(), path="/balance/x", kind=kind)
                equal((outcome["class"], outcome["has_balance"]), ("success", True),
                      f"after {fault}: {outcome}")
        equal(len(dealer.requests), 6, "requests")
        dealer.stop()
    each_kind(test)


def case_no_cookies():
    dealer = Dealer()
    with Sender() as sender:
        for _ in range(2):
            equal(sender.one(dealer.url(), path="/cookie/x")["class"], "success", "class")
    check(all(request.header("Cookie") is None for request in dealer.requests), "a cookie was sent")
    dealer.stop()


def case_fence():
    """On a new connection and on a kept one: no byte of the request leaves."""
    def test(kind):
        dealer = Dealer(fault=answer(200, b"{}"))
        with Sender() as sender:
            for flags, klass in (("hf", "not_sent"), ("h", "success"), ("hf", "not_sent"),
                                 ("h", "success")):
                outcome = sender.one(dealer.url(), kind=kind, flags=flags,
                                     verb="call" if kind % 2 else "add")
                equal((outcome["class"], outcome["fences"]), (klass, 1), f"{outcome}")
                if klass == "not_sent":
                    equal(outcome["note"], "fence", "note")
        equal(len(dealer.requests), 2, "requests")
        dealer.stop()
    each_kind(test)


# Nothing sent

def case_not_reached():
    def test(kind):
        held, full = full_backlog()
        with Sender() as sender:
            url = "http://127.0.0.1:{}".format
            sender.add("refused", url(cb.free_port()), kind=kind)
            sender.add("refused6", f"http://[::1]:{cb.free_port()}", kind=kind)
            sender.add("no name", "http://dealer.invalid", kind=kind)
            sender.add("slow name", "http://hang.example", kind=kind)
            sender.add("full backlog", url(full), kind=kind)
            outcomes = sender.wait()
        for job, outcome in outcomes.items():
            not_sent(outcome)
            equal(outcome["fences"], 0, f"{job}: times that the fence was asked")
        check(outcomes["slow name"]["ms"] >= 900, "a slow name was waited for")
        check(outcomes["full backlog"]["ms"] >= 900, "a full backlog was waited for")
        for job, outcome in outcomes.items():
            in_time(outcome, job, CONNECT_MS)
        del held
    each_kind(test)


def case_cut_at_accept():
    """Whether anything left is a race; that the request does not count as delivered is none."""
    def test(kind):
        for on_accept in (lambda connection, _: reset(connection), lambda *_: None):
            dealer = Dealer(on_accept=on_accept)
            with Sender() as sender:
                outcome = sender.one(dealer.url(), kind=kind)
            check(outcome["class"] in ("unknown", "not_sent"), f"{outcome}")
            equal((outcome["class"] == "unknown"), outcome["fences"] == 1, "sent after the fence")
            equal(dealer.connections, 1, "connections")
            dealer.stop()
    each_kind(test)


def case_unusable_targets():
    with Sender() as sender:
        sender.add("http", "http://127.0.0.1:1", flags="")
        sender.add("no URL", "")
        sender.add("scheme", "ftp://127.0.0.1/")
        sender.add("user", "http://a:b@127.0.0.1/")
        sender.add("query", "http://127.0.0.1/?x")
        sender.add("path", "http://127.0.0.1/", path="x")
        sender.add("path2", "http://127.0.0.1/", path="/a b")
        sender.add("path3", "http://127.0.0.1/", path="/../x")
        sender.add("host", "http://[::1/")
        outcomes = sender.wait()
        sender.add("call", "", verb="call")
        outcomes.update(sender.wait())
    equal(len(outcomes), 10, "outcomes")
    for outcome in outcomes.values():
        not_sent(outcome)
        equal(outcome["fences"], 0, "times that the fence was asked")


# Every spelling; PORT is where a server listens on both loopbacks.
FORBIDDEN = (
    "127.0.0.1:PORT", "127.1:PORT", "2130706433:PORT", "0x7f000001:PORT", "0x7f.1:PORT",
    "017700000001:PORT", "0177.0.0.1:PORT", "127.0.0.1.:PORT", "localhost:PORT", "%31%32%37.0.0.1:PORT",
    "[::1]:PORT", "[0:0::1]:PORT", "[::ffff:127.0.0.1]:PORT", "[::ffff:7f00:1]:PORT",
    "0.0.0.0:PORT", "0:PORT", "[::]:PORT", "[::ffff:0:0]:PORT",
    "10.1.2.3", "10.255.255.254", "172.16.0.1", "172.31.255.254", "192.168.1.1", "3232235777",
    "169.254.169.254", "0xa9fea9fe", "[::ffff:169.254.169.254]", "100.64.0.1", "100.127.255.254",
    "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::1]", "[2001:db8::1]",
)
# In a network of its own with loopback only nothing leaves, also if the program is wrong.
ALONE = cb_alone.enter()
if not ALONE:
    FORBIDDEN = tuple(spelling for spelling in FORBIDDEN if "PORT" in spelling)


def case_forbidden():
    servers = [Dealer(), Dealer(family=socket.AF_INET6)]

    def test(kind):
        with Sender(networks=()) as sender:
            for spelling in FORBIDDEN:
                for server in servers if "PORT" in spelling else servers[:1]:
                    url = "http://" + spelling.replace("PORT", str(server.port))
                    sender.add(f"{spelling} {server.port}", url, kind=kind)
            outcomes = sender.wait()
        check(len(outcomes) > len(FORBIDDEN), "outcomes")
        for job, outcome in outcomes.items():
            check(outcome["fences"] == 0, f"{job}: the fence was asked")
            # With a dot at its end it is a name, which does not exist.
            name = job.startswith("127.0.0.1.:")
            not_sent(outcome, "" if name else "is not public and not in callback_networks")
    each_kind(test)
    for server in servers:
        equal(server.connections, 0, "connections to a forbidden address")
        server.stop()


def case_allowed():
    """A network opens its own addresses and no others; of a name's addresses the allowed one is
    used."""
    four, six = Dealer(fault=answer(200, b"{}")), Dealer(fault=answer(200, b"{}"), family=socket.AF_INET6)
    with Sender(networks=("127.0.0.0/8",)) as sender:
        equal(sender.one(four.url("[::ffff:127.0.0.1]"))["class"], "success", "mapped")
        equal(sender.one(four.url("two.127.0.0.1"))["class"], "success", "the second address")
        not_sent(sender.one(six.url("[::1]")), "::1")
    with Sender(networks=("::/0",)) as sender:
        equal(sender.one(six.url("[::1]"))["class"], "success", "::1")
        not_sent(sender.one(four.url()), "127.0.0.1")
    with Sender(networks=("127.0.0.2/31",)) as sender:
        not_sent(sender.one(four.url()), "127.0.0.1")
    equal((four.connections, six.connections), (2, 1), "connections")
    four.stop()
    six.stop()


# TLS

def openssl(folder, *words):
    done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True, timeout=30, check=False)
    check(done.returncode == 0, done.stderr)


KEY_KIND = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def make_ca(folder, name):
    openssl(folder, "req", "-x509", *KEY_KIND, "-keyout", f"{name}.key", "-out", f"{name}.pem",
            "-days", "2", "-subj", f"/CN=test {name}")


def make_certificate(folder, name, hosts, days="2", ca="ca"):
    """A server's certificate; returns its TLS context."""
    (folder / "hosts").write_text(f"subjectAltName={hosts}\n")
    openssl(folder, "req", *KEY_KIND, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=dealer")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key",
            "-CAcreateserial", "-days", days, "-extfile", "hosts", "-out", f"{name}.pem")
    return context_of(folder, name)


def context_of(folder, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return context


def old_context(folder, name):
    context = context_of(folder, name)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


def case_tls():
    """No byte of the request leaves before the certificate of the peer is verified."""
    with tempfile.TemporaryDirectory(prefix="creditbridge-tls-") as name:
        folder = pathlib.Path(name)
        make_ca(folder, "ca")
        make_ca(folder, "stranger")
        good = make_certificate(folder, "good", "IP:127.0.0.1,DNS:localhost")
        openssl(folder, "req", "-x509", *KEY_KIND, "-keyout", "self.key", "-out", "self.pem",
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
        contexts = {
            "wrong name": make_certificate(folder, "other", "DNS:other.example,IP:127.0.0.9"),
            "expired": make_certificate(folder, "old", "IP:127.0.0.1", days="-1"),
            "self-signed": context_of(folder, "self"),
            "unknown CA": make_certificate(folder, "strange", "IP:127.0.0.1", ca="stranger"),
            "TLS 1.1": old_context(folder, "good"),
        }
        bad = {what: Dealer(context=context, fault=answer(200, b"{}")) for what, context in contexts.items()}
        plain = Dealer(fault=answer(200, b"{}"))
        silent = Dealer(on_accept=hang)
        cut = Dealer(on_accept=lambda connection, _: (connection.recv(100), reset(connection)))
        ours = Dealer(context=good, fault=answer(200, BALANCE))

        def test(kind):
            with Sender("-c", str(folder / "ca.pem")) as sender:
                for what, dealer in bad.items():
                    sender.add(what, dealer.url(), kind=kind, flags="")
                for what, dealer in (("no TLS", plain), ("silence", silent), ("reset", cut)):
                    sender.add(what, dealer.url().replace("http:", "https:"), kind=kind, flags="")
                for what, outcome in sender.wait().items():
                    check(outcome["fences"] == 0, f"{what}: the fence was asked")
                    not_sent(outcome)
            # Patient: a slow machine may need more for a handshake than dealers are given.
            with Sender("-c", str(folder / "ca.pem"), "-k", "2900") as sender:
                for _ in range(3):
                    outcome = sender.one(ours.url(), kind=kind, flags="")
                    equal((outcome["class"], outcome["balance"]), ("success", 100.5), f"{outcome}")
            # Without its CA it is a stranger too.
            with Sender() as sender:
                not_sent(sender.one(ours.url(), kind=kind, flags=""))
        each_kind(test)
        for what, dealer in [*bad.items(), ("no TLS", plain)]:
            equal((what, len(dealer.requests)), (what, 0), "requests")
            dealer.stop()
        equal((ours.connections, len(ours.requests)), (8, 12), "connections, requests")
        for dealer in (silent, cut, ours, plain):
            dealer.stop()


def case_tls_cut():
    """An answer that ends with its connection is whole only if TLS says so."""
    def cut(connection, _request):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        time.sleep(0.2)
        # Beneath TLS: without its close_notify.
        connection.shutdown(socket.SHUT_RDWR)
        return False
    with tempfile.TemporaryDirectory(prefix="creditbridge-tls-") as name:
        folder = pathlib.Path(name)
        make_ca(folder, "ca")
        dealer = Dealer(context=make_certificate(folder, "good", "IP:127.0.0.1"), fault=cut)
        with Sender("-c", str(folder / "ca.pem"), "-k", "2900") as sender:
            outcome = sender.one(dealer.url(), flags="")
        equal(outcome["class"], "unknown", f"class of {outcome}")
        dealer.stop()


def case_reset_at_each_byte():
    """A connection that is reset after each byte of a bet: the bet counts as not sent only if not one
    byte of it arrived. Over TLS each seventh byte, and those at both ends; with CB_EVERY_BYTE=1 each
    byte."""
    with tempfile.TemporaryDirectory(prefix="creditbridge-tls-") as name:
        folder = pathlib.Path(name)
        make_ca(folder, "ca")
        context = make_certificate(folder, "good", "IP:127.0.0.1")
        for dealer, step in ((CutDealer(), 1), (CutDealer(context), 1 if EVERY_BYTE else 7)):
            with Sender("-c", str(folder / "ca.pem"), "-k", "2900") as sender:
                flags = "" if dealer.context else "h"
                equal(sender.one(dealer.url(), flags=flags)["class"], "success", "a whole bet")
                length = dealer.length
                check(length > 100, f"a request of {length} bytes")
                for offset in sorted({0, 1, 2, length - 1, length, *range(0, length, step)}):
                    dealer.offset = offset
                    outcome = sender.one(dealer.url(), flags=flags)
                    check(outcome["class"] == "unknown" or (outcome["class"], offset) == ("not_sent", 0),
                          f"reset after {offset} bytes: {outcome}")
            dealer.stop()


RESET_CASE = ("a reset after each byte of a bet", case_reset_at_each_byte)


# Many and much

def case_slow_do_not_delay():
    """Hanging dealers do not hold up another; a call in between is not held up by them."""
    slow, quick = Dealer(fault=hang), Dealer(fault=answer(200, b"{}"))
    with Sender() as sender:
        for number in range(100):
            sender.add(f"slow {number}", slow.url())
        for number in range(50):
            sender.add(f"quick {number}", quick.url(), verb="call" if number % 10 == 0 else "add")
        outcomes = sender.wait()
    equal(len(outcomes), 150, "outcomes")
    for job, outcome in outcomes.items():
        if job.startswith("slow"):
            equal(outcome["class"], "unknown", job)
            check(2900 <= outcome["ms"], f"{job} took {outcome['ms']} ms")
            in_time(outcome, job)
        else:
            equal(outcome["class"], "success", job)
            check(outcome["ms"] < 2500, f"{job} took {outcome['ms']} ms")
    slow.stop()
    quick.stop()


GREEDY = ("gigabyte", "gigabyte-chunked", "gigabyte-400", "header-line", "header-lines", "interims",
          "largest", "deep", "error-body-200", "reset-before", "gzip", "two-answers")


def case_memory():
    """It stays small under gigabytes, and does not grow with their number."""
    if b"__asan_init" in PROGRAM.read_bytes():
        raise Skip("the sanitizer keeps what was freed")
    dealer = Dealer()

    def rounds(sender, count):
        for _ in range(count):
            for fault in GREEDY:
                for kind in range(len(KINDS)):
                    sender.add(f"{fault} {kind}", dealer.url(), f"/{fault}/x", kind)
            for outcome in sender.wait().values():
                check(outcome["class"] != "not_sent", f"{outcome}")
    with Sender() as sender:
        rounds(sender, 3)
        before_kib = sender.memory_kib()
        rounds(sender, 12)
        grown_kib = sender.memory_kib() - before_kib
        peak_kib = sender.memory_kib("VmHWM")
    check(grown_kib < 2048, f"grown by {grown_kib} KiB")
    check(peak_kib < 65536, f"{peak_kib} KiB at its peak")
    dealer.stop()


def main():
    if EVERY_BYTE:
        return cb.run_cases([RESET_CASE], seconds=180)
    cases = [("all faults under B1 to B4 side by side", case_table)]
    cases += [(f"fault: {fault}", make_fault_case(fault)) for fault in FAULTS]
    cases += [
        ("balance, currency and user_id of an answer", case_balance),
        ("every request, to the last header", case_requests),
        ("two live keys both sign", case_two_keys),
        ("connections are kept", case_kept),
        ("the second request of a connection is cut", case_kept_cut),
        ("the second request of a connection is reset", case_kept_reset),
        ("a kept connection that was closed", case_kept_closed),
        ("answers without a request", case_unasked_answers),
        ("no cookies", case_no_cookies),
        ("the fence", case_fence),
        ("not reached: refused, no name, slow name, full backlog", case_not_reached),
        ("cut at accept", case_cut_at_accept),
        ("targets that are not usable", case_unusable_targets),
        ("forbidden addresses, every spelling", case_forbidden),
        ("allowed networks", case_allowed),
        ("TLS: wrong name, expired, strangers, old, none", case_tls),
        ("TLS: an answer cut off", case_tls_cut),
        RESET_CASE,
        ("slow dealers do not delay others", case_slow_do_not_delay),
        ("memory does not grow", case_memory),
    ]
    return cb.run_cases(cases, seconds=120)


sys.exit(main())
