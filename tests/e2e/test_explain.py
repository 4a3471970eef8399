#!/usr/bin/python3
"""creditbridgectl explain: why a request was answered 400 or 401, on real servers.

Every mistake of an integrator is made under lighttpd and under Apache mod_fcgid, on the dealers'
mount and on the game servers', and explain must name it. The answers do not distinguish one 401
from another, and nothing of the kept request is logged or sent.
"""
import base64
import hashlib
import hmac
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_ctl  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_http import raw_request, request_bytes, sign  # noqa: E402
from cb_platform import BETS, PLAYERS  # noqa: E402
from cb_process import PATIENCE  # noqa: E402

MARKER = "only-in-a-refused-body-77d1"
FLOOD_THREADS = 6
FLOOD_S = 3.0
HONEST = 10  # calls meant well that a flood has to let through
numbers = itertools.count(1)


def mac(key, body, algorithm="sha256"):
    return hmac.new(key if isinstance(key, bytes) else key.encode(), body, algorithm).digest()


class Mount:
    """The mount of dealers or of game servers, and one of these callers with its keys."""

    def __init__(self, wallet, of):
        self.wallet, self.of = wallet, of
        self.is_wallet = of == "dealer"
        ctl_json = wallet.ctl_json
        options = ("--currency", "thb", "--mode", "transfer") if self.is_wallet else ()
        self.name = f"casino-{of}"
        made = [ctl_json(of, "add", self.name, *options)]
        self.old = made[0]["key"]
        made.append(ctl_json(of, "key-add", self.name))
        ctl_json(of, "key-use", self.name, "k2")
        ctl_json(of, "key-retire", self.name, "k1", "--reason", "rotation")
        self.key = made[1]["key"]
        self.other = ctl_json(of, "add", f"rival-{of}", *options)["key"]
        self.header = "x-casino" if self.is_wallet else "x-client"
        self.path = cb.TRANSFER_IN if self.is_wallet else PLAYERS
        if self.is_wallet:
            wallet.player_add(self.name, "alice")
            self.dealer = self.name
        else:
            self.dealer = "casino-dealer"

    def body(self, **more):
        """A good body, of which no other has the bytes."""
        number = next(numbers)
        if self.is_wallet:
            good = {"amount": 10.5, "request_transaction_id": f"r/{number}", "user_id": "alice",
                    "remark": "caf\u00e9 " + MARKER}
        else:
            good = {"casino_id": self.dealer, "user_id": f"u/{number}",
                    "remark": "caf\u00e9 " + MARKER}
        return dict(good, **more)

    def port(self, server):
        return server.port if self.is_wallet else server.platform_port

    def send(self, server, body, *, signature=None, name=None, headers=None, method="POST",
             path=None, request_id=None):
        """One request; @headers replace those of id and signature. Its id, and the answer."""
        request_id = request_id or f"explain-{os.getpid()}-{next(numbers)}"
        if headers is None:
            headers = [(f"{self.header}-id", self.name if name is None else name)]
            if signature != "":
                headers.append((f"{self.header}-signature",
                                sign(self.key, body) if signature is None else signature))
        sent = [("Host", "127.0.0.1"), ("Connection", "close"), ("X-Request-Id", request_id)]
        data = request_bytes(method, path or self.path, sent + headers, body, False)
        return request_id, raw_request(self.port(server), data, method)


def dumps(value, **options):
    return json.dumps(value, **options).encode()


def php(value):
    """As json_encode() writes it."""
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode()


def signature_mistakes(mount):
    """(name, words of Mount.send(), the cause, what is found)."""
    key, value = mount.key, mount.body()
    body = dumps(value)
    compact = dumps(value, separators=(",", ":"))

    def of(text):
        return {"body": body, "signature": text}

    def signed(text):
        return of(sign(key, text))
    yield "no id", {"body": body, "name": ""}, "id_missing", "-id is "
    yield "no signature", {"body": body, "signature": ""}, "signature_missing", "missing"
    yield "a comma in the id", {"body": body, "name": mount.name + ",x"}, "id_not_single", "comma"
    yield "unknown id", {"body": body, "name": "nobody-at-all"}, "caller_unknown", "there is no"
    yield "id in upper case", {"body": body, "name": mount.name.upper()}, "caller_misspelt", "case"
    yield "id in quotes", {"body": body, "name": f'"{mount.name}"'}, "caller_misspelt", "around"
    yield "a typing error", {"body": body, "name": mount.name[:-1]}, "caller_misspelt", "one char"
    other = "casino-client" if mount.is_wallet else "casino-dealer"
    yield "id of the other mount", {"body": body, "name": other}, "caller_other_mount", "id is that"
    yield "a rival's key", of(sign(mount.other, body)), "key_of_other", "'rival-"
    yield "a retired key", of(sign(mount.old, body)), "key_retired", "key k1, which was retired at"
    yield ("base64 for URLs", of(base64.urlsafe_b64encode(mac(key, body)).decode().rstrip("=")),
           "encoding_wrong", "base64 of the URL-safe alphabet or without")
    yield ("base64 of hex", of(base64.b64encode(sign(key, body).encode()).decode()),
           "encoding_wrong", "base64 of the hex")
    yield "SHA-512", of(mac(key, body, "sha512").hex()), "algorithm_wrong", "hmac-sha512"
    yield "SHA-1", of(mac(key, body, "sha1").hex()), "algorithm_wrong", "hmac-sha1"
    yield "MD5", of(hashlib.md5(body).hexdigest()), "signature_malformed", "MD5"
    yield "a prefix", of("sha256=" + sign(key, body)), "signature_decorated", "around"
    yield ("dashes", of("-".join(re.findall("..", sign(key, body).upper()))),
           "signature_decorated", "between")
    yield "half of it", of(sign(key, body)[:30]), "signature_malformed", "30 hex"
    yield "no hex", of("this-is-no-signature!"), "signature_malformed", "neither"
    yield "a plain hash", of(hashlib.sha256(body).hexdigest()), "not_hmac", "plain hash"
    yield ("hash with key", of(hashlib.sha256(key.encode() + body).hexdigest()), "not_hmac",
           "before it")
    yield "swapped", of(mac(body, key.encode()).hex()), "arguments_swapped", "as its key"
    yield "decoded key", of(mac(bytes.fromhex(key), body).hex()), "key_form", "32 bytes"
    yield "key with line end", of(sign(key + "\n", body)), "key_form", "line end"
    yield "compact", signed(compact), "body_reserialised", "compact"
    yield "sorted", signed(dumps(value, sort_keys=True)), "body_reserialised", "sorted"
    yield "indented", signed(dumps(value, indent=4)), "body_reserialised", "indented by 4"
    yield "PHP", signed(php(value)), "body_reserialised", "\\/ for /"
    yield "raw UTF-8", signed(dumps(value, ensure_ascii=False)), "body_reserialised", "space"
    yield ("spaces sent compact", {"body": compact, "signature": sign(key, body)},
           "body_reserialised", "space after : and ,")
    yield ("sent with line end", {"body": body + b"\n", "signature": sign(key, body)},
           "body_line_end", "without the line end")
    yield "signed with line end", signed(body + b"\n"), "body_line_end", "with a line end"
    yield "signed with CRLF", signed(body + b"\r\n"), "body_line_end", "CR and LF"
    yield "signed with BOM", signed(b"\xef\xbb\xbf" + body), "body_line_end", "byte order mark"
    yield "signed the empty body", signed(b""), "body_empty_signed", "empty body"
    yield ("signed the path", signed(mount.path.encode()), "url_signed", "the path")
    yield ("signed the query", dict(signed(b"a=1&b=2"), path=mount.path + "?a=1&b=2"),
           "url_signed", "the query")
    yield "signed UTF-16", signed(body.decode().encode("utf-16-le")), "body_encoded", "UTF-16"
    yield "another key", of(sign("7" * 64, body)), "signature_unexplained", "no live key"
    if mount.is_wallet:
        yield ("a lost body", {"body": None, "signature": sign(key, b"{}"), "method": "GET",
                               "path": cb.BALANCE}, "body_not_received", "without a body")


def clock_mistakes():
    def at(off_ms=0, divide=1):
        return dumps({"user_id": "alice", "request_timestamp": (cb.now_ms() + off_ms) // divide})
    yield "seconds", at(divide=1000), "clock_unit", "in seconds"
    yield "microseconds", dumps({"user_id": "alice", "request_timestamp": cb.now_ms() * 1000}
                                ), "clock_unit", "microseconds"
    yield "behind", at(-400_000), "clock_behind", r"is (399|4\d\d)\.\d+ s behind"
    yield "ahead", at(500_000), "clock_ahead", r"is (499|500|501)\.\d+ s ahead"
    yield "local time", at(7 * 3600_000), "clock_zone", "close to 7.0 hours"


def body_mistakes(mount):
    field = "amount" if mount.is_wallet else "casino_id"
    good = mount.body()
    text = dumps(good)

    def without(name):
        return dumps({key: value for key, value in good.items() if key != name})
    yield "no body", b"", "body_empty", "empty"
    yield "a form", b"user_id=alice&amount=1", "body_form", "form"
    yield "an array", b"[1]", "body_not_object", "not an object"
    yield "a string", dumps(text.decode()), "body_quoted", "holds JSON"
    yield "BOM", b"\xef\xbb\xbf" + text, "body_bom", "order mark"
    yield "UTF-16", text.decode().encode("utf-16"), "body_utf16", "UTF-16"
    yield "gzip", b"\x1f\x8b\x08\x00" + text, "body_compressed", "gzip"
    yield "multipart", b"--b1\r\nContent-Disposition: form-data\r\n", "body_form", "multipart"
    yield "print_r", b"Array\n(\n    [amount] => 1\n)\n", "body_syntax", "PHP array"
    yield "cut", text[:-4], "body_syntax", "too early"
    yield "a comma", b'{"user_id":"alice",}', "body_syntax", r"comma .*line 1, column \d+"
    yield "single quotes", b"{'user_id':'alice'}", "body_syntax", "where JSON has"
    yield "line 3", b'{\n"a": 1,\n"b" 2}', "body_syntax", r"line 3, column \d+"
    yield "None", b'{"user_id":None}', "body_syntax", "does not know: None"
    yield "twice", b'{"user_id":"a","user_id":"b"}', "body_key_twice", "user_id"
    yield "Latin-1", b'{"user_id":"caf\xe9"}', "body_not_utf8", "UTF-8"
    yield "nested", b'{"a":' * 20 + b"1" + b"}" * 20, "body_nested", "deeper than 16"
    yield "a field left out", without("user_id"), "field_absent", "user_id"
    yield ("another spelling", without("user_id")[:-1] + b', "userId": "alice"}',
           "field_misspelt", "'userId'")
    yield "a wrong type", dumps(dict(good, user_id=7)), "field_type", "an integer: 7"
    if not mount.is_wallet:
        yield "a bad name", dumps(dict(good, casino_id="a b")), "field_value", field
        return
    yield "a number as text", dumps(dict(good, amount="10.00")), "field_type", "a string"
    yield "a negative", dumps(dict(good, amount=-1)), "amount_value", "above zero"
    yield "5 decimals", dumps(dict(good, amount=1.00001)), "amount_value", "at most 2"
    yield "3 decimals", dumps(dict(good, amount=1.001)), "amount_value", r"at most 2 decimals; 1.001 is nearest to 1.00"
    yield "0.1 + 0.2", dumps(dict(good, amount=0.1 + 0.2)), "amount_value", r"nearest to 0\.30"


class Desk:
    """The operator's."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.ctl, self.ctl_json, self.refused = cb_ctl.bind(wallet)

    def explain(self, request_id, *words, **options):
        """Returns what explain reports of a request. The request may be on its way to the
        ledger."""
        end = time.monotonic() + 5 * PATIENCE
        while True:
            done = self.wallet.ctl_run("--json", "explain", *words, request_id, **options)
            if done.returncode == 0 or time.monotonic() > end:
                equal(done.returncode, 0, f"{done.stdout}{done.stderr}")
                return json.loads(done.stdout)
            time.sleep(0.02)

    def judge(self, name, mount, server, words, cause, found, status):
        request_id, answer = mount.send(server, **words)
        equal(answer.status, status, f"{name}: {answer}")
        equal(answer.json["request_id"], request_id, name)
        told = self.explain(request_id)
        first = told["findings"][0]
        check(first["cause"] == cause and re.search(found, first["found"]), f"{name}: {told}")
        equal((told["code"], told["id"]), (status, answer.json["id"]), name)
        equal(told["detail"], answer.json["detail"], f"{name}: the detail")
        check(first["remedy"] and first["rule"][0].isupper(), f"{name}: {first}")
        equal(told["body_bytes"], len(words["body"] or b""), f"{name}: bytes")
        text = json.dumps(told)
        for secret in (mount.key, mount.old, mount.other, words.get("signature") or mount.key):
            check(secret not in text, f"{name}: a secret is printed")
        check(MARKER not in text, f"{name}: the body is printed")
        return answer


def shape(answer):
    """An answer without the members that differ by request and time."""
    body = re.sub(rb'"request_id":"[^"]*"', b"", answer.body)
    headers = sorted((key, value) for key, value in answer.headers
                     if key.lower() not in ("date", "x-request-id", "content-length"))
    return answer.status, headers, body


def case_signatures(desk, mount, server):
    shapes = set()
    for name, words, cause, found in signature_mistakes(mount):
        answer = desk.judge(name, mount, server, words, cause, found, 401)
        shapes.add(repr(shape(answer)))
    equal(len(shapes), 1, f"all are answered the same: {shapes}")
    # The header was sent twice: servers hand that over in different ways.
    body = dumps(mount.body())
    twice = [(f"{mount.header}-id", mount.name)] * 2 + [
        (f"{mount.header}-signature", sign(mount.key, body))]
    desk.judge("id twice", mount, server, {"body": body, "headers": twice}, "id_not_single", "-id",
               401)


def case_bodies(desk, mount, server):
    for name, body, cause, found in body_mistakes(mount):
        desk.judge(name, mount, server, {"body": body}, cause, found, 400)


def case_clocks(desk, mount, server):
    for name, body, cause, found in clock_mistakes():
        desk.judge(name, mount, server, {"body": body, "path": cb.BALANCE}, cause, found, 401)


def case_several(desk, mount, server):
    """Two mistakes at once: explain reports both."""
    body = dumps(mount.body())
    text = base64.b64encode(mac(mount.old, body + b"\n")).decode().rstrip("=")
    request_id, _ = mount.send(server, body, signature=text)
    causes = [finding["cause"] for finding in desk.explain(request_id)["findings"]]
    equal(sorted(causes), ["body_line_end", "encoding_wrong", "key_retired"], "causes")
    desk.ctl("dealer", "suspend", mount.name)
    request_id, _ = mount.send(server, body, signature=text)
    causes = [finding["cause"] for finding in desk.explain(request_id)["findings"]]
    equal(causes[-1], "caller_suspended", "causes")
    desk.ctl("dealer", "resume", mount.name)


def case_words(desk, mount, server):
    """The text, the id from standard input, a key from a file, and ids that are not kept."""
    body = dumps(mount.body())
    foreign = "ab" * 32
    request_id, _ = mount.send(server, body, signature=sign(foreign, body))
    equal(desk.explain(request_id)["findings"][0]["cause"], "signature_unexplained", "no key")
    equal(desk.explain("-", stdin=f" {request_id}\n".lstrip())["request_id"], request_id, "stdin")
    told = desk.explain(request_id, "--key-file", "-", stdin=foreign + "\n")
    equal(told["findings"][0]["cause"], "key_given", "with the key")
    text = desk.ctl("explain", request_id).stdout
    check(text.startswith(f"request  {request_id} at 2") and "\ncause    no live key" in text and
          "\nremedy   Compare" in text and "answer   401 invalid_signature" in text, text)
    check(foreign not in text and sign(foreign, body) not in text, text)
    desk.refused("not_kept", "explain", "nobody-asked-so")
    equal(desk.ctl("explain", "a b", code=2).stdout, "", "no id")
    # The caller chose the id of another request: explain reports the newest, and that there are
    # two.
    mount.send(server, body, signature="", request_id=request_id)
    deadline = time.monotonic() + 5 * PATIENCE
    while desk.explain(request_id)["matches"] == 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    told = desk.explain(request_id)
    equal((told["matches"], told["findings"][0]["cause"]), (2, "signature_missing"), f"{told}")


def case_players(desk, mount, server):
    """A player that is not found: the answer names no other, explain shows the operator a similar
    id."""
    desk.ctl("player", "add", mount.name, "Bob Roe")

    def explained(sent):
        request_id, answer = mount.send(server, dumps(mount.body(user_id=sent)))
        equal((answer.status, answer.json["id"], answer.json["detail"]),
              (404, "user_not_found", "the player is not known"), f"{sent!r}")
        finding, = desk.explain(request_id)["findings"]
        return request_id, finding["cause"], finding["found"]
    for sent, other, what in (("Alice", "alice", "upper and lower case"),
                              ("alice ", "alice", "the white space around it"),
                              (" ALICE", "alice", "upper and lower case, and the white space"),
                              ("bob roe", "Bob Roe", "upper and lower case")):
        request_id, cause, found = explained(sent)
        equal(cause, "user_misspelt", f"{sent!r}")
        near = re.search(rf'event=user_not_found request_id={request_id} casino_id={mount.name} '
                         rf'user_id="{sent}" near_user_id="{other}"$',
                         (desk.wallet.logs / "ledger.log").read_text(), re.MULTILINE)
        # The log names what can be looked up at once: no other player's id in upper case.
        equal(near is not None, other == other.lower(), f"the log, {sent!r}")
        check(f"no player '{sent}', but there is a player '{other}', which differs in {what}" in found,
              found)
    request_id, cause, found = explained("nobody")
    check(request_id not in (desk.wallet.logs / "ledger.log").read_text(), "no line without a player")
    equal((cause, "nor one with a similar id" in found), ("user_unknown", True), found)
    desk.ctl("player", "add", mount.name, "nobody")
    equal(desk.explain(request_id)["findings"][0]["cause"], "user_there", "registered since")


def case_good(desk, mount, server):
    """What is let in is not kept. A call that was refused for another reason is explained without
    its body."""
    request_id, answer = mount.send(server, dumps(mount.body()))
    equal(answer.status, 200, f"{answer}")
    missing, answer = mount.send(server, dumps(mount.body()), path="/nowhere")
    check(answer.status == 404, f"{answer}")
    mount.send(server, b"", signature="")
    desk.refused("not_kept", "explain", request_id)
    equal(desk.explain(missing)["findings"][0]["cause"], "path_unknown", "another path")


def flood(mount, server, stop, count):
    body = b"x" * 3000
    while not stop.is_set():
        try:
            _, answer = mount.send(server, body, signature="0" * 64)
        except OSError:
            continue
        if answer.status == 401:
            count.append(1)


def dropped(wallet):
    text = wallet.ctl("metrics")
    return int(re.search(r'refused_notes_total\{outcome="dropped"\} (\d+)', text).group(1))


def case_flood(desk, mount, server):
    """Refused requests as fast as they come: others are answered, and what is too much is left out."""
    before, stop, count = dropped(desk.wallet), threading.Event(), []
    threads = [threading.Thread(target=flood, args=(mount, server, stop, count))
               for _ in range(FLOOD_THREADS)]
    for thread in threads:
        thread.start()
    took, end = [], time.monotonic() + FLOOD_S
    try:
        # A busy machine runs the flood's threads and this one in turn: it is given time, not fewer.
        while time.monotonic() < end or (time.monotonic() < end + 20 and
                                         (len(took) < HONEST or dropped(desk.wallet) == before)):
            begun = time.monotonic()
            _, answer = mount.send(server, dumps(mount.body()))
            equal(answer.status, 200, "an honest call")
            took.append(time.monotonic() - begun)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    took.sort()
    print(f"# {len(count)} refused and {len(took)} honest calls, of these the middle one took "
          f"{took[len(took) // 2] * 1000:.0f} ms and the slowest {took[-1] * 1000:.0f} ms; "
          f"{dropped(desk.wallet) - before} left out")
    check(dropped(desk.wallet) > before, "some are left out")
    check(len(took) >= HONEST, f"{len(took)} honest calls")
    check(took[len(took) // 2] < 3, f"half of the honest calls took {took[len(took) // 2]:.1f} s")
    check(took[-1] < 10, f"an honest call took {took[-1]:.1f} s")
    # A request that is made afterwards is kept again.
    time.sleep(0.2)
    for _ in range(20):
        request_id, _ = mount.send(server, dumps(mount.body()), signature="")
        done = desk.wallet.ctl_run("explain", request_id)
        if done.returncode == 0:
            break
        time.sleep(0.2)
    equal(done.returncode, 0, "kept after the flood")


def files_with(folder, words):
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            found += [(path, word) for word in words if word.encode() in data]
    return found


def case_nowhere(desk, mounts, server):
    """Bodies and signatures are in no log, no file of the state, no backup, no export; and end with the ledger."""
    wallet = desk.wallet
    marker = "refused-" + MARKER
    words = [marker]
    for mount in mounts:
        body = dumps(mount.body(marker=marker))
        text = sign("9" * 64, body)
        words += [text, mount.key[8:40], mount.old[8:40]]
        request_id, _ = mount.send(server, body, signature=text)
        desk.explain(request_id)
    equal(files_with(wallet.logs, words), [], "in the logs")
    (wallet.dir / "planted").write_text(marker)
    equal(len(files_with(wallet.dir, [marker])), 1, "a file with it would be found")
    (wallet.dir / "planted").unlink()
    desk.ctl("backup", backup_directory(wallet))
    exported = subprocess.run([*wallet.ctl_argv("export")], capture_output=True, check=True,
                              timeout=60 * cb.PATIENCE).stdout.decode()
    equal([word for word in words if word in exported], [], "in the export")
    equal(files_with(wallet.dir, [words[0], words[1], words[4]]), [], "in files")
    # No retired key is on the disk: retiring is for good.
    equal([path for path, _ in files_with(wallet.dir, [mount.old for mount in mounts])
           if "/log." not in path], [], "a retired key in a table")
    wallet.stop()
    wallet.start()
    told = desk.explain(request_id)
    equal((told["findings"][0]["cause"], told["body_bytes_kept"]), ("signature_wrong", 0), f"{told}")


def backup_directory(wallet):
    """One that the ledger's user may write to."""
    path = wallet.dir / "backup"
    path.mkdir(mode=0o700)
    owner = os.stat(wallet.state)
    os.chown(path, owner.st_uid, owner.st_gid)
    return path


def main():
    with cb.Instance("explain-test") as wallet:
        desk = Desk(wallet)
        mounts = [Mount(wallet, "dealer"), Mount(wallet, "client")]
        cases = []
        for kind in (cb.Lighttpd, cb.ApacheFcgid):
            server = kind(wallet)
            for mount in mounts:
                cases += [
                    (f"{kind.name}, {mount.of}: signatures",
                     lambda m=mount, s=server: case_signatures(desk, m, s)),
                    (f"{kind.name}, {mount.of}: bodies",
                     lambda m=mount, s=server: case_bodies(desk, m, s))]
            cases.append((f"{kind.name}: clocks", lambda s=server: case_clocks(desk, mounts[0], s)))
        cases += [
            ("several causes", lambda: case_several(desk, mounts[0], server)),
            ("texts and arguments", lambda: case_words(desk, mounts[0], server)),
            ("players", lambda: case_players(desk, mounts[0], server)),
            ("what is not kept", lambda: case_good(desk, mounts[0], server)),
            ("a flood", lambda: case_flood(desk, mounts[0], server)),
            ("it goes nowhere", lambda: case_nowhere(desk, mounts, server)),
        ]
        return cb.run_cases(cases, seconds=120)


if __name__ == "__main__":
    sys.exit(main())
