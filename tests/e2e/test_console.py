#!/usr/bin/python3
"""The web console under lighttpd, read by Python's parser: each route, role and method, the
headers, forms, lists, the sentences of the debt, and a corpus of hostile ids.

The ledger is real. The console's way to it is admin.sock (tests/console/desk_admin.c): four operators with
a role each, and one code. `test_console.py --serve` leaves it running, for a look.
"""
import collections
import contextlib
import csv
import io
import json
import os
import re
import shlex
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_codec import unpack  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import CODE, FRONT, PREFIX, USERS, Browser, Console, Installed, cells, front_setting, rows_of  # noqa: E402
from cb_link import TRANSFER_IN_KIND, balance_payload, transfer_payload  # noqa: E402
from cb_middle import Operator  # noqa: E402
from cb_process import SRCDIR, Child, builddir, free_port, port_open  # noqa: E402
from cb_servers import APACHE_MODULES  # noqa: E402
from cb_worker import (NOT_SENT, REFUSED, SUCCESS, UNITS, UNKNOWN, WIN, Worker, refusal_of)  # noqa: E402

SETTINGS = {"callback_lease_ms": 20000, "result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
ROLES = ("read", "support", "finance", "admin")  # of USERS
# Ids that a dealer or a game server may choose: markup, attributes, addresses, formulas, look-alikes.
PAYLOADS = (
    "<script>alert(1)</script>", "</title><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>", "' autofocus onfocus='alert(1)", "javascript:alert(1)", "//evil.example/",
    "http://evil.example/?a=1&b=2#c", "+ADw-script+AD4-", "&lt;b&gt;&amp;&#60;", "<!--", "-->", "]]>",
    "{{7*7}}", "${7*7}", "%3Cscript%3E", "%00", "a%0d%0aSet-Cookie: x=1", "=1+1", "+1", "-1", "@SUM(A1)",
    "=cmd|' /C calc'!A0", "a\"b", "a,b;c", "a'b", "`id`", "../../etc/passwd", "..", "a/b", "a?b=c", "a#b", "a&b=c",
    "\\", "alice\u202egnp", "al\u200bice", "\u2066a\u2069", "\ufeffalice", "\u00a0alice", "аlice", "ＡＬＩＣＥ",
    "\U000e0041", "a\ufe0f", "é", "e\u0301", "日本語", "🎲", "\ufffe", "\ufdd0", "x" * 128,
    "<a href=javascript:alert(1)>x</a>", "<iframe srcdoc='<script>alert(1)</script>'>", "<style>*{display:none}</style>",
    "</pre></details><img src=x onerror=alert(1)>", "<base href=//evil.example/>", "data:text/html,<script>alert(1)</script>",
    "<meta http-equiv=refresh content=0;url=//evil.example/>", "&#x202e;&NewLine;")
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
                    "\ufe00-\ufe0f\ufeff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff]")
ANSWER = "<script>alert(1)</script>\\n"  # of a dealer, as the ledger keeps it
CSP = ("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
       "form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
HEADERS = {
    "Content-Security-Policy": CSP, "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
WALLET = CONSOLE = WORLD = None


class World:
    """What the pages show."""

    def __init__(self, wallet):
        self.wallet = wallet
        wallet.dealer_add("demo")
        wallet.dealer_add("demo-b", "--url", "http://127.0.0.1:1/d/", "--allow-http", "--refund-delay", "0",
                          mode="seamless")
        wallet.ctl("client", "add", "slots")
        self.alice = wallet.player_add("demo", "alice")
        self.bob = wallet.player_add("demo-b", "bob")
        with self.link() as link:
            link.request_id = "http-in-1"
            self.transfer = self.move(link, "demo", "in-1", "alice", 1000.5)
            link.request_id = "http-bet"
            self.bet = link.place("slots", "demo", "alice", "game-1", 10).transaction_id
            link.request_id = ""
            link.settle("slots", "demo", "alice", "game-1", WIN, 25)
            self.parked = self.park(link, "bob", "game-2")
            self.fresh = self.park(link, "bob", "game-5")
            self.replay = wallet.ctl_json("callback", "replay", "--casino", "demo-b", "--game", "game-5",
                                          "--reason", "ticket 1", "--yes")["replay"]
            lost = link.place("slots", "demo-b", "bob", "game-3", 7)
            link.end(lost.send, "demo-b", UNKNOWN, status=503, note="HTTP 503", answer=ANSWER)
            self.refunding = lost.transaction_id
            no = link.place("slots", "demo-b", "bob", "game-4", 7)
            link.end(no.send, "demo-b", REFUSED, status=402, error="=1+1", note="@SUM(A1)")
            self.refused = no.transaction_id

    def link(self):
        return Worker(self.wallet.sockets / "edge.sock")

    @staticmethod
    def move(link, casino, reference, user, amount):
        answer = unpack("transfer", link.ask("transfer", transfer_payload(
            casino, TRANSFER_IN_KIND, reference, user, round(amount * UNITS))))
        equal(refusal_of(answer), "", f"transfer {reference}")
        return answer.transaction_id

    def park(self, link, user, game):
        """A round that was won, whose result is parked. Returns the event."""
        bet = link.place("slots", "demo-b", user, game, 10)
        link.end(bet.send, "demo-b", SUCCESS, status=200)
        made = link.settle("slots", "demo-b", user, game, WIN, 25)
        link.end(made.send, "demo-b", NOT_SENT, note="connection refused")
        for _ in range(2):
            def claimed():
                refusal, grant = link.claim(made.event)
                return grant if not refusal else None
            link.end(cb.wait_until(claimed, 20, "the result is due"), "demo-b", UNKNOWN, status=503,
                     note="HTTP 503")
        return made.event


def operator(user, port=None):
    return Browser(CONSOLE, user, port).sign_in()


def shown(text):
    """How the console shows an id."""
    return HIDDEN.sub(lambda match: f"\\u{{{ord(match.group()):X}}}", text)


def routes():
    """(path, methods, role) of each row of src/console/pages/routes.c."""
    table = (SRCDIR / "src" / "console" / "pages" / "routes.c").read_text()
    found = re.findall(r'^\t\{"([^"]+)", (ROUTE_\w+(?: \| ROUTE_\w+)?), ROLE_(\w+), (true|false),', table,
                       re.MULTILINE)
    check(len(found) > 20, "the table of routes was read")
    return [(path, set(re.findall(r"ROUTE_(\w+)", methods)), role.lower(), open_ == "true")
            for path, methods, role, open_ in found]


def example(path):
    """An address of the route that exists."""
    numbers = {"/bets/#": WORLD.bet, "/transactions/#": WORLD.transfer, "/replays/#": WORLD.replay}
    queries = {"/player": f"?id={WORLD.alice}", "/player.csv": f"?id={WORLD.alice}",
               "/player/days.csv": f"?id={WORLD.alice}", "/dealer": "?id=demo",
               "/players": "?casino=demo", "/players.csv": "?casino=demo",
               "/round": f"?player={WORLD.bob}&game=game-2", "/round.csv": f"?player={WORLD.bob}&game=game-2",
               "/transfer": "?of=dealer&owner=demo&reference=in-1", "/search": "?id=zzz",
               "/replays/preview": "?casino=demo-b", "/explain": "?request=zzz"}
    return path.replace("#", str(numbers.get(path, WORLD.parked))) + queries.get(path, "")


def headers_fit(page, where):
    for name, value in HEADERS.items():
        equal(page.header(name), value, f"{name} of {where}")


def case_without_session():
    """Nothing is shown without a session, and no page without a user, the front secret or TLS."""
    browser = Browser(CONSOLE, "nok")
    for path, methods, _, open_ in routes():
        if open_:
            continue
        page = browser.get(example(path)) if "GET" in methods else browser.post(example(path), {})
        equal(page.status, 303, f"{path} without a session")
        check(page.header("Location").startswith(PREFIX + "/sign-in"), page.header("Location"))
        equal(page.body, b"", f"{path} shows nothing")
        headers_fit(page, path)
    equal(browser.get("/nothing").status, 303, "an address that does not exist looks the same")
    browser.cookies["creditbridge-console"] = "0" * 64
    equal(browser.get("/").status, 303, "a made-up session")
    for port, text in ((CONSOLE.bare, "named no user"), (CONSOLE.unfronted, "the front secret")):
        page = Browser(CONSOLE, "nok", port).get("/")
        equal(page.status, 403, text)
        check(text in page.document().text(), page.text)
        page = Browser(CONSOLE, "nok", port).post("/sign-in", {"code": CODE})
        equal((page.status, page.header("Set-Cookie")), (403, None), f"sign-in: {text}")
    equal(Browser(CONSOLE).get("/").status, 401, "lighttpd asks for a user")


def case_sign_in():
    browser = Browser(CONSOLE, "nok")
    page = browser.get("/callbacks", state="parked")
    address = page.header("Location")
    page = browser.get(address)
    root = page.document()
    back = next(root.all("input", name="back")).attributes["value"]
    equal(back, f"{PREFIX}/callbacks?state=parked", "where the sign-in leads")
    wrong = browser.post("/sign-in", {"code": "000000", "back": back})
    equal((wrong.status, wrong.header("Set-Cookie")), (403, None), "a wrong code")
    stranger = Browser(CONSOLE, "zoe").post("/sign-in", {"code": CODE})
    sentence = [next(page.document().all("p", class_="error")).text() for page in (wrong, stranger)]
    equal(sentence[0], sentence[1], "a stranger and a wrong code get one sentence")
    page = browser.post("/sign-in", {"code": CODE, "back": back})
    equal((page.status, page.header("Location")), (303, back), "signed in")
    cookie = page.header("Set-Cookie")
    check(re.fullmatch(r"creditbridge-console=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Lax", cookie), cookie)
    equal(browser.get("/callbacks", state="parked").status, 200, "the page")
    for evil in ("//evil.example/", "https://evil.example/", f"{PREFIX}//evil", f"{PREFIX}/\\evil", "/other"):
        page = Browser(CONSOLE, "nok").post("/sign-in", {"code": CODE, "back": evil})
        equal(page.header("Location"), f"{PREFIX}/", f"back={evil}")
    other = Browser(CONSOLE, "ann")
    other.cookies = dict(browser.cookies)
    equal(other.get("/").status, 303, "the session of another user")
    link = next(node for node in wrong.document().all("a") if node.text() == "open the page")
    equal(link.attributes["href"], back, "the page, if another tab was signed in with this code at the same time")
    first, second = Browser(CONSOLE, "nok"), Browser(CONSOLE, "nok")
    equal(first.get("/sign-in").status, 200, "the form in the first tab")
    equal(first.post("/sign-in", {"code": CODE}).status, 303, "signed in there")
    second.cookies = dict(first.cookies)
    page = second.post("/sign-in", {"code": "000000", "back": back})
    equal((page.status, page.header("Location"), page.header("Set-Cookie")), (303, back, None),
          "the form of the second tab, which was open before")
    equal((first.get("/").status, second.get("/").status), (200, 200), "both tabs are signed in")
    page = second.post("/sign-in", {"code": CODE}, headers={"Origin": "https://evil.example"})
    equal(page.status, 403, "the form of another site")
    stolen = dict(browser.cookies)
    page = browser.post("/sign-out", {"token": browser.token()})
    equal(page.status, 303, "signed out")
    check("cache" in page.header("Clear-Site-Data"), "the browser forgets")
    browser.cookies = stolen
    equal(browser.get("/").status, 303, "the session has ended")


def case_tls_cookie():
    """With TLS the cookie cannot be set by another site; without TLS, only the loopback is served."""
    browser = Browser(CONSOLE, "nok", CONSOLE.tls)
    cookie = browser.post("/sign-in", {"code": CODE}).header("Set-Cookie")
    check(re.fullmatch(r"__Host-creditbridge=[0-9a-f]{64}; Path=/; Secure; HttpOnly; SameSite=Lax", cookie),
          cookie)
    equal(browser.get("/").status, 200, "signed in over TLS")
    browser.port = CONSOLE.port
    equal(browser.get("/").status, 303, "the cookie of TLS is none of plain http")


def case_each_route():
    """Each route x role x method: which roles may, well-formed pages, the headers."""
    for user, role in zip(USERS, ROLES):
        browser = operator(user)
        token = browser.token()
        for path, methods, least, _ in routes():
            if path in ("/sign-out", "/sign-in"):
                continue
            target = example(path)
            may = ROLES.index(role) >= ROLES.index(least)
            for method in ("GET", "POST", "HEAD", "PUT"):
                if method == "POST":
                    page = browser.post(target, {"token": token})
                else:
                    page = browser.request(method, PREFIX + target)
                allowed = {"HEAD": "GET"}.get(method, method) in methods
                wanted = (405,) if not allowed else (403,) if not may else (200, 303, 400, 404)
                check(page.status in wanted, f"{role}: {method} {target}: {page.status} {page.text[-900:]}")
                headers_fit(page, target)
                if method == "GET" and page.status == 200 and not path.endswith(".csv"):
                    page.document()
                elif method == "GET" and page.status == 200:
                    check(page.header("Content-Disposition").startswith("attachment"), path)
                if page.status == 403 and method != "HEAD":
                    check(f"Your role is {role}. This needs the role {least}." in page.text, page.text)
        page = browser.get("/nothing")
        equal(page.status, 404, "no such page")
        page.document()


def case_assets():
    """The style sheet and the script need no session, and are kept."""
    document = operator("rita").get("/").document()
    paths = [next(document.all("link")).attributes["href"], next(document.all("script")).attributes["src"]]
    for path, kind, most in zip(paths, ("text/css", "text/javascript"), (12288, 8192)):
        page = Browser(CONSOLE, "rita").get(path)
        equal((page.status, page.header("Cache-Control")), (200, "public, max-age=31536000, immutable"), path)
        check(page.header("Content-Type").startswith(kind), page.header("Content-Type"))
        check(len(page.body) <= most, f"{path}: {len(page.body)} bytes")
        equal(Browser(CONSOLE, "rita").get(path[:-1]).status, 303, "another hash")


def case_forms():
    """A form without the token, with that of another session, or from another site does nothing."""
    browser, other = operator("nok"), operator("nok")
    path = f"/callbacks/{WORLD.parked}/act"
    form = {"action": "hold", "reason": "ticket 1", "operation": "a" * 20}
    token, theirs = browser.token(), other.token()
    check(token != browser.token(), "each answer has a token of its own")
    for wrong, options in (
            ({}, {}), ({"token": theirs}, {}), ({"token": token[:-1]}, {}), ({"token": "0" * 128}, {}),
            ({"token": token}, {"headers": {"Origin": "https://evil.example"}}),
            ({"token": token}, {"headers": {"Origin": "null"}}),
            ({"token": token}, {"headers": {"Origin": None}}),
            ({"token": token}, {"headers": {"Sec-Fetch-Site": "cross-site"}})):
        page = browser.post(path, form | wrong, **options)
        equal(page.status, 403, f"{wrong} {options}")
        check("Nothing was done" in page.document().text(), page.text)
    for body in (b"token=%zz", b"a=%00", b"a=%ff", b"x" * 70000, b"&".join([b"a=1"] * 65)):
        equal(browser.request("POST", PREFIX + path, body=body).status, 400, f"{body[:20]}")
    state = WALLET.ctl_json("callback", "show", WORLD.parked)["state"]
    equal(state, "parked", "nothing was done")
    page = browser.post(path, form | {"token": token, "reason": ""})
    equal(page.status, 400, "no reason")


def case_callback_actions():
    """Hold, release and retry one callback; each is in the audit, and a form that is sent twice acts once."""
    browser = operator("nok")
    path = f"/callbacks/{WORLD.parked}"
    for action, state in (("hold", "held"), ("release", "parked"), ("retry", "due")):
        root = browser.get(path).document()
        form = {node.attributes["name"]: node.attributes.get("value", "")
                for node in root.all("input") if node.attributes.get("name") in ("token", "operation")}
        names = [node.attributes["value"] for node in root.all("button", name="action")]
        check(action in names, f"{action} is offered: {names}")
        form |= {"action": action, "reason": f"ticket 4711 {action}"}
        for _ in range(2):
            page = browser.post(f"{path}/act", form)
            equal((page.status, page.header("Location")), (303, f"{PREFIX}{path}?done={action}"), page.text)
        equal(WALLET.ctl_json("callback", "show", WORLD.parked)["state"], state, action)
        check(next(browser.follow(page).document().all("p", class_="done")), "it says that it is done")
    found = [node.text() for node in operator("kim").get("/audit").document().all("tr")
             if "ticket 4711" in node.text()]
    equal(len(found), 3, f"the audit: {found}")
    reader = operator("rita").get(path).document()
    equal(list(reader.all("button", name="action")), [], "who may not act sees no button")


def case_sentences():
    """The pages of a bet, a round and a transfer say what creditbridgectl says."""
    browser = operator("rita")

    def story(path, *words):
        wanted = WALLET.ctl_json(*words)["story"]
        section = next(browser.get(path).document().all("section", aria_label="What happened"))
        said = [node.text() for node in section.all("p")]
        equal(said[:2], [wanted["happened"], wanted["owes"]], path)

    story(f"/bets/{WORLD.bet}", "bet", "show", WORLD.bet)
    story(f"/bets/{WORLD.refunding}", "bet", "show", WORLD.refunding)
    story(f"/round?player={WORLD.bob}&game=game-2", "round", "show", "demo-b/bob", "game-2")
    story(f"/round?player={WORLD.bob}&game=game-4", "round", "show", "demo-b/bob", "game-4")
    story("/transfer?of=dealer&owner=demo&reference=in-1", "transfer", "show", "demo", "in-1")


def case_timeline():
    """A bet and a transfer in the order of time, with the bytes that were sent and answered."""
    browser = operator("rita")
    root = browser.get(f"/bets/{WORLD.refunding}").document()
    steps = list(next(root.all("ol", class_="timeline")).all("li"))
    whats = [next(step.all("strong")).text() for step in steps]
    times = [next(step.all("time")).attributes["datetime"] for step in steps]
    equal(times, sorted(times), "the order of time")
    equal(whats[:5], ["Call of the game server", "Recorded", "Callback made", "Sent to the dealer",
                      "Outcome not known"], "the steps")
    check({"Answered", "State"} <= set(whats), f"the steps: {whats}")
    bet = WALLET.ctl_json("bet", "show", WORLD.refunding)["bet"]
    for name in ("event", "refund_event"):
        shown = WALLET.ctl_json("callback", "show", bet[name])
        step = steps[whats.index("Callback made") if name == "event" else
                     len(whats) - 1 - whats[::-1].index("Callback made")]
        exact, indented = step.all("pre")
        equal(exact.text(), shown["body"], f"the body of {name}")
        equal(json.loads(indented.text()), json.loads(shown["body"]), "the same with an indent")
        check("\n  " in indented.text(), indented.text())
    equal(next(steps[4].all("pre")).text(), ANSWER, "what the dealer answered")
    equal(next(steps[4].all("summary")).text(), f"Answer to attempt 1 ({len(ANSWER)} bytes, text/html)", "its type")
    folded = [node.text() for node in browser.get(f"/callbacks/{bet['event']}").document().all("summary")]
    check(f"Answer to attempt 1 ({len(ANSWER)} bytes, text/html)" in folded, f"the page of the callback: {folded}")
    text = next(next(node.all("pre")).text() for node in root.all("details")
                if next(node.all("summary")).text() == "As text for the dealer")
    check(f"betting-{bet['event']}, attempt 1" in text and "504 dealer_timeout to the game server" in text, text)
    check(text in [node.attributes.get("data-copy") for node in root.all("button")], "the button copies it")
    root = browser.get("/transfer", of="dealer", owner="demo", reference="in-1").document()
    whats = [node.text() for node in next(root.all("ol", class_="timeline")).all("strong")]
    equal(whats, ["Call", "Recorded", "Answered"], "a transfer")
    check("balance 0.00 before, 1000.50 after" in root.text(), "what it moved")


def case_operators():
    """An administrator sees the operators and their sessions."""
    page = operator("ann").get("/operators").document()
    check("No operator yet" in page.text(), "none by the command line")
    check("creditbridgectl operator unlock NAME" in {node.attributes.get("data-copy") for node in page.all("button")},
          "the command lines")


def search_beginning(browser):
    """The beginning of a user id of one dealer lists its users, and never opens one of them."""
    hits = {}
    for text in ("demo/al", "demo/alice", "demo/alicea", "demo-b/al", "demo/", "dem/al", "demo/" + "x" * 4000):
        page = browser.get("/search", id=text)
        hits[text] = (page.status, [node.text() for node in page.document().all("li") if "begins so" in node.text()]
                      if page.status == 200 else [])
    equal(hits.pop("demo/al"), (200, ["player whose user id begins so: demo/alice"]), "one user begins so")
    equal(hits.pop("demo/alice"), (303, []), "the whole id")
    equal(set(map(str, hits.values())), {"(200, [])"}, f"nothing begins so: {hits}")


def case_search():
    """Any id leads to its page with one click."""
    browser = operator("rita")
    for word, where in (
            (WORLD.alice, f"/player?id={WORLD.alice}"), ("demo/alice", f"/player?id={WORLD.alice}"),
            ("alice", f"/player?id={WORLD.alice}"), ("demo-b", "/dealer?id=demo-b"), ("slots", "/refused?client=slots"),
            ("in-1", "/transfer?of=dealer&owner=demo&reference=in-1"),
            (f"betting-result-{WORLD.parked}", f"/callbacks/{WORLD.parked}"),
            ("game-2", f"/round?player={WORLD.bob}&game=game-2"),
            ("http-in-1", f"/transactions/{WORLD.transfer}"), ("http-bet", f"/transactions/{WORLD.bet}")):
        page = browser.get("/search", id=word)
        equal((page.status, page.header("Location")), (303, PREFIX + where), f"search {word}")
        equal(browser.follow(page).status, 200, where)
    root = browser.get("/search", id=str(WORLD.bet)).document()
    links = [node.attributes["href"] for node in root.all("a")]
    check(f"{PREFIX}/transactions/{WORLD.bet}" in links, f"a number may be several things: {links}")
    page = browser.get("/search", id="zzz")
    equal(page.status, 200, "nothing found")
    check(re.search(r"games, user ids and references of 2 dealers, references of 1 game servers, and refused calls. Of "
                    r"the accepted calls, only those since 20\d\d-", page.document().text()), "it says where it looked")
    search_beginning(browser)
    with WORLD.link() as link:
        # A balance, a batch and a refused call make no movement of their own.
        for word, command, payload in (
                ("http-balance", "balance", balance_payload("demo", "alice")),
                ("http-refused", "balance", balance_payload("demo", "zzz"))):
            link.request_id = word
            link.ask(command, payload)
        link.request_id = "http-batch"
        link.settle_batch("slots", [("demo", "alice", "no-such-game", WIN, 1)])
    equal(browser.get("/search", id="http-balance").header("Location"), f"{PREFIX}/dealer?id=demo", "a balance")
    page = browser.get("/search", id="http-batch")
    equal(page.status, 200, "a call without a page")
    check("call: results-batch of slots 20" in page.document().text(), page.document().text())
    check("Nothing has the id" in browser.get("/search", id="http-refused").document().text(), "it was refused")
    for path in ("/bets/999999", "/transactions/999999", "/callbacks/999999", "/player?id=demo/zzz",
                 "/dealer?id=zzz", "/round?player=x&game=y", "/transfer?of=dealer&owner=demo&reference=zzz"):
        page = browser.get(path)
        equal(page.status, 404, path)
        page.document()


AGES = "By their age, since they were made"


def owing(casino, rounds):
    """A dealer that has refused the results of @rounds rounds of eve until they were parked, and whose refund of a bet of fay
    waits."""
    WALLET.dealer_add(casino, "--url", "http://127.0.0.1:1/d/", "--allow-http", "--refund-delay", "0", mode="seamless",
                      currency="usd")
    for user in ("eve", "fay"):
        WALLET.player_add(casino, user)
    with WORLD.link() as link:
        for number in range(rounds):
            bet = link.place("slots", casino, "eve", f"owed-{number}", 10)
            link.end(bet.send, casino, SUCCESS, status=200)
            send = link.settle("slots", casino, "eve", f"owed-{number}", WIN, 400.5)
            event, send = send.event, send.send
            for attempt in range(3):
                def claimed(event=event):
                    refusal, grant = link.claim(event)
                    return grant if not refusal else None
                link.end(send if not attempt else cb.wait_until(claimed, 20, "the result is due"), casino, REFUSED,
                         status=422)
        lost = link.place("slots", casino, "fay", "lost", 7)
        link.end(lost.send, casino, UNKNOWN, status=503)


def ages_above_the_bound(browser):
    """The console of this suite counts the ages of three parked and held callbacks of a dealer (console_admin.c), the oldest,
    on the overview too. Above them the numbers are the ledger's sums, and ages that were not counted are empty."""
    held = WALLET.ctl_json("callback", "list", "--casino", "demo-c", "--state", "parked", "--limit", "1")["callbacks"][0]
    WALLET.ctl("callback", "hold", held["event"], "--reason", "the newest")
    sums = [WALLET.ctl_json("dealer", "show", dealer["casino_id"])["total"] for dealer in
            WALLET.ctl_json("dealer", "list")["dealers"]]
    every = {state: str(sum(total[state] for total in sums)) for state in ("parked", "held")}
    for path, query, dealer, wanted in (("/", {}, "demo-c", {"parked": "4", "held": "1"}),
                                        ("/callbacks", {"casino": "demo-c"}, "demo-c", {"parked": "4", "held": "1"}),
                                        ("/callbacks", {}, "all", every)):
        page = browser.get(path, **query).document()
        found = {(row[0], row[1]): row[2:] for row in rows_of(page, AGES)}
        equal({state: found[dealer, state][-1] for state in wanted}, wanted, f"all of {dealer}: {found}")
        counted = [text for state in wanted for text in found[dealer, state][:-1] if text]
        equal(sum(int(text.rstrip("+")) for text in counted), 3, f"three were counted: {found}")
        check(all(text == "0" or text.endswith("+") for text in counted), f"there are more: {found}")
        check("" in found[dealer, "held"] and found[dealer, "held"][0] != "0", f"ages that were not counted: {found}")
        check(("of the oldest 3 parked" if dealer != "all" else "of the first 3 parked") in page.text(), page.text())
        check("+" not in "".join(found[dealer, "due"]), f"each due one was counted: {found}")
    WALLET.ctl("callback", "release", held["event"], "--reason", "counted")


def case_overview():
    """The overview and the callbacks say what a dealer owes, what waits and for how long, as the ledger has it."""
    browser = operator("rita")
    owing("demo-c", 5)
    sums = WALLET.ctl_json("dealer", "show", "demo-c")["total"]
    equal((sums["parked"], sums["owed_payouts"], sums["owed_refunds"]), (5, 2002.5, 7), "the sums of the ledger")
    root = browser.get("/").document()
    alarms = {node.text().split(":")[0]: node.text() for node in next(root.all("ul", class_="alarms")).all("li")}
    check(alarms["demo-c"].startswith("demo-c: 5 callbacks are parked. It owes 2,002.50 usd in payouts, and 7.00 usd in "
                                      "refunds that it has not confirmed, to at least 2 players. "), alarms["demo-c"])
    check(not any("2,0" in text for dealer, text in alarms.items() if dealer != "demo-c"), f"no other one: {alarms}")
    found = {(row[0], row[1]): row[2:] for row in rows_of(root, AGES)}
    equal(found["demo-c", "due"][-1], "1", f"the refund: {found}")
    check(not any(dealer == "demo" for dealer, _ in found), f"nothing of a transfer wallet waits: {found}")
    dealers = {row[0]: row for row in rows_of(root, "Those that need attention first")}
    # Fifteen refusals, five accepted bets and one without an outcome.
    equal((dealers["demo-c"][10], dealers["demo"][10]), ("ok 23.8 %, refused 15, no answer 1", ""), "in 5 minutes")
    ages_above_the_bound(browser)
    page = browser.get("/callbacks", casino="demo").document()
    check("No callback waits." in page.text(), page.text())


def csv_bound(browser):
    """A CSV that ends at its bound (console_admin.c) says so, and the next one has the rest."""
    with WORLD.link() as link:
        for number in range(15):
            WORLD.move(link, "demo", f"more-{number}", "alice", 1)
    rows = list(csv.reader(io.StringIO(browser.get("/transactions.csv").text)))
    equal(len(rows), 1 + 130 + 1, "rows of the CSV")
    last = rows.pop()
    found = re.fullmatch(r"This list stops here\. There may be more rows: repeat it with after=(\d+)\.", last[0])
    check(found and not any(last[1:]) and len(last) == len(rows[0]), f"the last line: {last}")
    rest = list(csv.reader(io.StringIO(browser.get("/transactions.csv", after=found.group(1)).text)))[1:]
    check(rest and int(rest[0][1]) < int(rows[-1][1]), "the rest begins behind it")
    equal(rest[-1][1], str(WORLD.transfer), "the rest ends with the oldest, and says nothing more")


def case_lists():
    """Filters select, pages follow each other without a gap, and the figures are those of the ledger."""
    browser = operator("rita")
    with WORLD.link() as link:
        for number in range(120):
            WORLD.move(link, "demo", f"page-{number}", "alice", 1)
    seen, page = [], browser.get("/transactions", casino="demo", kind="transfer_in")
    for _ in range(3):
        document = page.document()
        seen += [row[-2] for row in rows_of(document)]
        page = browser.get(next(document.all("a", rel="next")).attributes["href"]) if len(seen) < 120 else page
    equal(seen[:120], [f"page-{number}" for number in reversed(range(120))], "three pages")
    rows = list(csv.reader(io.StringIO(browser.get("/transactions.csv", casino="demo", kind="transfer_in").text)))
    equal([row[-2] for row in rows[1:121]], seen[:120], "the CSV has the same rows")
    equal(rows[0][:2], ["time_ms", "transaction_id"], "its heading")
    player = browser.get("/player", id="demo/alice").document()
    equal([row[7] for row in rows_of(player, "Transactions")], seen[:64], "the player's chain")
    check("There may be older ones" in player.text(), "the page says how far it looked back")
    chain, page = [], player
    for _ in range(3):
        chain += [row[7] for row in rows_of(page, "Transactions")]
        older = list(page.all("a", rel="next"))
        page = browser.get(older[0].attributes["href"]).document() if older else page
    equal(chain[:120], seen[:120], "the pages of the chain follow each other without a gap")
    equal(len(older), 0, "the last page has no older one")
    bets = rows_of(browser.get("/player", id="demo/alice", kind="bet").document(), "Transactions")
    equal([(row[2], row[1]) for row in bets], [("bet", str(WORLD.bet))], "the filter of a kind")
    day = rows_of(player, "Transactions")[0][0][:10]
    equal(rows_of(browser.get("/player", id="demo/alice", day=day).document(), "Transactions")[0][7], seen[0], "one day")
    none = browser.get("/player", id="demo/alice", day="2020-01-01").document()
    check("No bet of that day" in none.text(), none.text())
    link = next(node for node in none.all("a") if node.text() == "All transactions of this player on that day")
    there = browser.get(link.attributes["href"].removeprefix(PREFIX)).document().text()
    check("No transaction with this filter" in there, there)
    equal(browser.get("/player", id="demo/alice", day="-1h").status, 400, "no day")
    equal(browser.get("/player", id="demo/alice", after=WORLD.fresh + 100000).status, 404, "not of this player")
    check("at the dealer" in browser.get("/player", id="demo-b/bob").document().text(), "where the credit is")
    balance = WALLET.ctl_json("player", "show", "demo", "alice")["balance"]
    check(f"{balance:,.2f}" in player.text(), f"balance {balance}")
    parked = rows_of(browser.get("/callbacks", state="parked", kind="betting-result").document())
    listed = WALLET.ctl_json("callback", "list", "--state", "parked", "--kind", "betting-result")["callbacks"]
    equal([row[1] for row in parked if row[0] != ""] if listed else [], [str(row["event"]) for row in listed],
          "callbacks")
    none = browser.get("/transactions", casino="demo", user="zzz").document()
    check("No transaction with this filter" in none.text(), "an unknown player selects nothing")
    csv_bound(browser)
    equal(browser.get("/transactions", user="alice").status, 400, "a user without a dealer")
    equal(browser.get("/transactions", since="yesterweek").status, 400, "no time")
    equal(browser.request("GET", f"{PREFIX}/transactions?casino=%00").status, 400, "NUL")
    equal(browser.request("GET", f"{PREFIX}/search?id=%ff").status, 400, "ill-formed UTF-8")


def case_csv_of_players():
    """A CSV of players that ends at its bound (console_admin.c) names the user id to go on after."""
    browser = operator("rita")
    WALLET.dealer_add("crowd")
    names = [f"u {at:03}" for at in range(140)]
    with Operator(WALLET.sockets / "admin.sock") as admin:
        for at, name in enumerate(names):
            equal(admin.player_add("crowd", name, f"{at:020}".translate(str.maketrans("0189", "abcd")), f"c{at}"), 0, name)
    users, more = [], ""
    for _ in range(2):
        page = browser.request("GET", f"{PREFIX}/players.csv?casino=crowd{more}")
        rows = list(csv.reader(io.StringIO(page.text)))[1:]
        found = re.fullmatch(r"This list stops here\. There may be more rows: repeat it with (after=\S+)\.", rows[-1][0])
        users += [row[0] for row in rows[:-1] if found] or [row[0] for row in rows]
        equal(bool(found), not more, f"the last line: {rows[-1]}")
        more = found and f"&{found[1]}"
    equal(users, names, "each player once")


def case_csv_of_parts():
    """The bets of a round, the attempts of a callback and the figures of the ledger as CSV. The dealer's text is no formula."""
    browser = operator("rita")
    with WORLD.link() as link:
        for number in range(140):
            link.place("slots", "demo", "alice", "long", 1, addition=number > 0, reference=f"=long-{number}")

    def lines(path, **query):
        page = browser.get(path, **query)
        equal(page.status, 200, f"{path}: {page.text[-600:]}")
        return page, list(csv.DictReader(io.StringIO(page.text)))

    query = {"player": WORLD.alice, "game": "long"}
    _, rows = lines("/round.csv", **query)
    equal(len(rows), 131, "130 bets, and that there are more")
    more = re.search(r"repeat it with after=(\d+)\.", rows.pop()["number"])
    bets = rows + lines("/round.csv", **query, after=more.group(1))[1]
    equal([(row["number"], row["request_transaction_id"], row["bet_amount"]) for row in bets],
          [(str(number + 1), f"'=long-{number}", "1.00") for number in range(140)], "each bet, and no formula")
    links = {node.text(): node.attributes["href"] for node in browser.get("/round", **query).document().all("a")}
    equal(links["CSV"], f"{PREFIX}/round.csv?player={WORLD.alice}&game=long", "the link")
    page = browser.get(links["Further rows"])
    equal([row[0] for row in rows_of(page.document())], [str(number) for number in range(65, 129)], "the second page")
    bet = WALLET.ctl_json("bet", "show", WORLD.refused)["bet"]
    page, rows = lines(f"/callbacks/{bet['event']}/attempts.csv")
    equal([(row["number"], row["outcome"], row["dealer_error_id"], row["note"]) for row in rows],
          [("1", "refused", "'=1+1", "'@SUM(A1)")], "the attempts")
    equal(page.header("Content-Disposition"), f'attachment; filename="callback-{bet["event"]}-attempts.csv"', "the file's name")
    _, rows = lines(f"/callbacks/{WORLD.parked}/attempts.csv", after=3)
    equal([row["number"] for row in rows], ["2", "1"], "the newest first, behind the third")
    equal(browser.get("/callbacks/999999/attempts.csv").status, 404, "no such callback")
    _, rows = lines("/health.csv")
    status = WALLET.ctl_json("status")
    equal([(row["version"], row["halted"]) for row in rows], [(status["version"], "no")], "the figures")


def case_player():
    """The sums of a player's days are those of A4; the filter of a state selects bets."""
    browser = operator("rita")
    WALLET.player_add("demo", "dora")
    with WORLD.link() as link:
        WORLD.move(link, "demo", "dora-1", "dora", 100)
        for number, result in enumerate((WIN, WIN, None)):
            link.place("slots", "demo", "dora", f"dora-{number}", 10)
            if result:
                link.settle("slots", "demo", "dora", f"dora-{number}", result, 12 + number)
    root = browser.get("/player", id="demo/dora").document()
    section = next(node for node in root.all("section") if next(node.all("h2")).text() == "Last 30 days")
    check(list(section.all("svg", role="img")), "the chart")
    page = browser.get("/player/days.csv", id="demo/dora")
    rows = list(csv.DictReader(io.StringIO(page.text)))
    equal((len(rows), page.header("Content-Disposition")), (30, 'attachment; filename="days.csv"'), "thirty days")
    days = sorted({row["date"] for row in rows}, reverse=True)
    equal([row["date"] for row in rows], days, "the newest first, each once")
    # Midnight may have passed between two bets.
    total = [round(sum(float(row[name]) for row in rows), 2) for name in ("bet_count", "turnover", "profit_loss")]
    equal(total, [3, 20, 5], "the sums of the days")
    shown_rows = cells(section)
    equal([[cell.replace(",", "") for cell in row] for row in shown_rows], [list(row.values()) for row in rows], "the table")
    none = browser.get("/player", id="demo-b/bob", state="pending").document().text()
    check("No bet with this state." in none, none)
    for state, games in (("settled", ["dora-1", "dora-0"]), ("accepted", ["dora-2"]), ("", ["dora-2", "dora-1", "dora-0"])):
        root = browser.get("/player", id="demo/dora", state=state).document()
        equal([row[4] for row in rows_of(root, "Bets")], games, f"state {state}")
    equal(browser.get("/player/days.csv", id="demo/zzz").status, 404, "no such player")


def case_way():
    """Each page below a section says the way to it, whose steps are pages."""
    browser = operator("nok")
    player, round_ = f"/player?id={WORLD.bob}", f"/round?player={WORLD.bob}&game=game-3"
    to_bob = [("Dealers", "/dealers"), ("demo-b", "/dealer?id=demo-b"), ("bob", player)]
    to_alice = [("Dealers", "/dealers"), ("demo", "/dealer?id=demo"), ("alice", f"/player?id={WORLD.alice}")]
    for path, steps, here in (
            ("/dealer?id=demo-b", to_bob[:1], "Dealer demo-b"), (player, to_bob[:2], "Player bob"), (round_, to_bob, "Round game-3"),
            (f"/bets/{WORLD.refunding}", [*to_bob, ("game-3", round_)], f"Bet {WORLD.refunding}"),
            ("/transfer?of=dealer&owner=demo&reference=in-1", to_alice, "Transfer in-1"),
            (f"/callbacks/{WORLD.parked}", [("Callbacks", "/callbacks")], f"Callback betting-result-{WORLD.parked}"),
            (f"/replays/{WORLD.replay}", [("Replays", "/replays")], f"Replay {WORLD.replay}"),
            ("/replays/preview?casino=demo-b", [("Replays", "/replays")], "Preview of a replay: demo-b")):
        root = browser.get(path).document()
        way = next(root.all("nav", aria_label="Breadcrumb"))
        equal([(node.text(), node.attributes["href"]) for node in way.all("a")],
              [(text, PREFIX + to) for text, to in steps], f"the way to {path}")
        equal(next(way.all("li", aria_current="page")).text(), here, f"the end of the way to {path}")
        nav = next(root.all("nav", aria_label="Pages"))
        equal([node.text() for node in nav.all("a", aria_current="page")], [steps[0][0]], f"the section of {path}")
        for _, to in steps:
            equal(browser.get(to).status, 200, to)
    for path in ("/", "/dealers", "/callbacks", "/health", "/search?id=zzz", "/nothing"):
        equal(list(browser.get(path).document().all("nav", aria_label="Breadcrumb")), [], f"{path} is at the top")
    # Retry in a row leads to the form of its callback, for the roles that may send it again.
    for role, wanted in (("nok", True), ("rita", False)):
        browser = operator(role)
        root = browser.get("/callbacks", casino="demo-b", state="parked").document()
        links = [node.attributes["href"] for node in root.all("a") if node.text() == "Retry"]
        equal([link.endswith("#act") for link in links], [True] * len(links), f"{role}: {links}")
        equal((bool(links), "Retry" in [node.text() for node in root.all("th")]), (wanted, wanted), f"{role} {links}")
        for link in links:
            root = browser.get(link.removeprefix(PREFIX).removesuffix("#act")).document()
            place = next(root.all("div", id="act"))
            check("retry" in [node.attributes.get("value") for node in place.all("button", name="action")], f"{link} has the form")
            check(list(place.all("input", name="reason")), f"{link} asks for the reason")
    links = [node.text() for node in operator("nok").get("/callbacks", casino="demo-b", state="delivered").document().all("a")]
    check("Retry" not in links, f"what was delivered is not sent again: {links}")
    # The script shows the button that marks all rows; without it the button stays hidden.
    for role, wanted in (("nok", 1), ("rita", 0)):
        root = operator(role).get("/callbacks", casino="demo-b", state="parked").document()
        marks = [node.attributes for node in root.all("button", class_="mark-all")]
        check(len(marks) == wanted and all("hidden" in mark and mark["type"] == "button" for mark in marks), f"{role}: {marks}")


def case_curl():
    """The page of a callback has its newest attempt as a command: one that a shell reads, with all but the signatures. What a
    dealer or a game server chose stays one word."""
    WALLET.dealer_add("curl", "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
    WALLET.player_add("curl", "bob")
    with WORLD.link() as link:
        bet = link.place("slots", "curl", "bob", "it's '$(x)' \\\"", 10)
        link.end(bet.send, "curl", SUCCESS, status=200)
        made = link.settle("slots", "curl", "bob", "it's '$(x)' \\\"", WIN, 25)
        link.end(made.send, "curl", REFUSED, status=422)
    event = made.event
    tries = WALLET.ctl_json("callback", "show", event)["attempts"]
    root = operator("rita").get(f"/callbacks/{event}").document()
    folded = {next(node.all("summary")).text(): node for node in root.all("details")}
    body = next(next(node for title, node in folded.items() if title.startswith("Body of each attempt")).all("pre")).text()
    command = next(folded[f"Attempt {tries} as a curl command"].all("pre")).text()
    check(command in [node.attributes.get("data-copy") for node in root.all("button")], "the button copies it")
    words = [word for word in shlex.split(command) if word != "\n"]
    equal(words[:3], ["curl", "-X", "POST"], "the command")
    check(words[3].startswith("http") and words[3].endswith("/betting-result"), f"the address: {words[3]}")
    headers = dict(words[at + 1].split(": ") for at, word in enumerate(words) if word == "-H")
    check(re.fullmatch(r"\d{10}", headers.pop("webhook-timestamp")), "the time of the attempt")
    equal(headers, {"Content-Type": "application/json", "webhook-id": f"betting-result-{event}",
                    "x-casino-signature": "SIGNATURE", "webhook-signature": "SIGNATURE"}, "the headers")
    equal((words[-2], words[-1]), ("--data-binary", body), "the body")
    equal(json.loads(body)["game_id"], "it's '$(x)' \\\"", "the game")


def recon_totals(casino, date):
    """(count, amount) of the recon file's totals of a day, by record, kind and state."""
    lines = csv.reader(io.StringIO(WALLET.ctl("recon", casino, "--date", date), newline=""))
    rows = list(lines)
    at = {name: rows[0].index(name) for name in ("record", "id", "kind", "state", "count", "amount")}
    return {(row[at["id"]], row[at["kind"]], row[at["state"]]): (int(row[at["count"]]), float(row[at["amount"]]))
            for row in rows if row[at["record"]] == "total"}


def total(totals, record, kind="", *states):
    """The sum of the totals that fit; no state is any state."""
    found = [value for (of, is_kind, state), value in totals.items()
             if of == record and (not kind or is_kind == kind) and (not states or state in states)]
    return sum(count for count, _ in found), round(sum(amount for _, amount in found), 4)


def day_of_recon(casino, date):
    """What a day's sums must be by its recon file."""
    totals = recon_totals(casino, date)
    into, out = total(totals, "movement", "transfer_in"), total(totals, "movement", "transfer_out")
    paid, results = total(totals, "movement", "payout"), total(totals, "callback", "betting-result")
    counted = total(totals, "bet", "", "settled", "accepted", "pending")
    refunded = total(totals, "bet", "", "refunding", "refunded")
    rejected = total(totals, "bet", "", "rejected")
    return {"transfers_in": into[0], "transferred_in": into[1], "transfers_out": out[0],
            "transferred_out": -out[1], "bets": total(totals, "bet")[0], "staked": counted[1],
            "paid": paid[1] + results[1], "bets_refunded": refunded[0], "refunded": refunded[1],
            "bets_rejected": rejected[0], "rejected": rejected[1], "callbacks": total(totals, "callback")[0]}


def case_days():
    """The sums of a dealer's day are those of its recon file, on the page, as CSV and at the shell."""
    browser = operator("kim")
    for casino in ("demo", "demo-b"):
        days = [row for row in WALLET.ctl_json("report", "days", casino)["days"] if row["bets"]]
        check(days, f"{casino} has a day with bets")
        for day in days:
            expected = day_of_recon(casino, day["date"])
            equal({name: day[name] for name in expected}, expected, f"{casino} on {day['date']}")
            equal(day["complete"], True, "all rows were counted")
            page = browser.get("/days", casino=casino, day=day["date"])
            root = page.document()
            equal(page.status, 200, page.text[:500])
            pairs = dict(zip((node.text() for node in root.all("dt")), (node.text() for node in root.all("dd"))))
            equal((int(pairs["Bets"]), float(pairs["Staked"].replace(",", ""))), (day["bets"], day["staked"]),
                  "the page")
            equal(len(list(root.all("svg", role="img"))), 1 + (day["callbacks"] > 0), "charts")
            rows = list(csv.DictReader(io.StringIO(browser.get("/days.csv", casino=casino, day=day["date"]).text)))
            equal((rows[0]["date"], float(rows[0]["staked"]), len(rows)), (day["date"], day["staked"], 30), "the CSV")
        root = browser.get("/dealer", id=casino).document()
        check(list(root.all("svg", role="img")), "the charts of the dealer")
    check("demo-b" in browser.get("/days").document().text(), "yesterday of all dealers")
    for day in ("2026-02-30", "x", "9999-01-01"):
        equal(browser.get("/days", casino="demo", day=day).status, 404, f"day {day}")
    equal(browser.get("/days", casino="none").status, 404, "no such dealer")


def case_zone():
    browser = operator("rita")
    path = f"{PREFIX}/bets/{WORLD.bet}"
    page = browser.post("/zone", {"token": browser.token(), "zone": "+07:00", "back": path})
    equal((page.status, page.header("Location")), (303, path), "the zone")
    equal(browser.cookies["creditbridge-zone"], "+07:00", "its cookie")
    check(all(node.text().endswith("+07") for node in browser.get(path).document().all("time")), "times")
    for target, back in ((f"/callbacks/{WORLD.parked}/act", f"/callbacks/{WORLD.parked}"), ("/zone", "/")):
        page = operator("nok").post(target, {"token": "wrong"})
        equal(page.status, 403, f"a form without a token for {target}")
        field = next(page.document().all("input", name="back"))
        equal(field.attributes["value"], PREFIX + back, f"where the zone leads from the error of {target}")
        equal(browser.get(back).status, 200, "it is a page")
    for zone in ("+25:00", "Europe/Berlin", "", "<b>"):
        page = browser.post("/zone", {"token": browser.token(), "zone": zone})
        equal(page.status, 400, f"zone {zone}")


def case_hostile_ids():
    """Ids, references and remarks of others are shown as text, in pages, in addresses and in CSV."""
    browser = operator("rita")
    wanted = {}
    with WORLD.link() as link:
        for number, payload in enumerate(PAYLOADS):
            if WALLET.ctl_run("player", "add", "demo", "--", payload).returncode:
                check(HIDDEN.search(payload) or not payload, f"user id {payload!r} was refused")
                payload_user = "alice"
            else:
                payload_user = payload
            WORLD.move(link, "demo", f"fund-{number}", payload_user, 50)
            placed = link.place("slots", "demo", payload_user, payload, 1, reference=payload, remark=payload)
            if placed.refusal:
                continue
            wanted[placed.transaction_id] = (payload_user, payload)
    check(len(wanted) > 40, f"{len(wanted)} payloads were accepted")
    for transaction_id, (user, payload) in wanted.items():
        document = browser.get(f"/bets/{transaction_id}").document()
        values = {node.text() for node in document.all("bdi")}
        check(shown(payload) in values and shown(user) in values, f"{payload!r}: {values}")
        equal(sum(1 for _ in document.all("script")), 1, "one script")
        check(not list(document.all("img")) and not list(document.all("svg")), "no element was added")
        link_ = next(node for node in document.all("a") if node.attributes["href"].startswith(f"{PREFIX}/round?"))
        round_ = browser.get(link_.attributes["href"])
        equal(round_.status, 200, f"the round of {payload!r}: {link_.attributes['href']}")
        equal(next(round_.document().all("h1")).text(), f"Round {shown(payload)}", "its heading")
        check(payload in {node.attributes.get("data-copy") for node in round_.document().all("button")} or
              HIDDEN.search(payload), "what is copied is exact")
        page = browser.get("/search", id=payload)
        if page.status == 200:
            field = next(page.document().all("input", name="id"))
            check(field.attributes["value"] == payload or "\ufffe" in payload or "\ufdd0" in payload,
                  f"the search box has {field.attributes['value']!r}")
    lines = [row for row in csv.reader(io.StringIO(browser.get("/transactions.csv", kind="bet").text))][1:]
    for row in lines:
        for number, cell in enumerate(row):
            check(not re.match(r"[=+@\t]", cell), f"a formula in CSV: {cell!r}")
            check(not cell.startswith("-") or re.fullmatch(r"-[0-9.]+", cell), f"a formula in CSV: {cell!r}")
            check(number != 6 or re.fullmatch(r"-?[0-9]+\.[0-9]{2}", cell), f"the amount is a number: {cell!r}")


def case_no_ledger():
    """Without a ledger a page says so; it comes back by itself."""
    browser = operator("rita")
    WALLET.stop()
    page = browser.get("/transactions")
    equal(page.status, 503, "no ledger")
    check("creditbridgectl doctor" in page.document().text(), page.text)
    WALLET.start()
    equal(browser.get("/transactions").status, 200, "the ledger is back")


def other_server(name):
    """The mount for another web server: sign in, read, act, and no page without a user."""
    child, port = CONSOLE.other(name)
    try:
        equal(Browser(CONSOLE, None, port).get("/").status, 401, f"{name} asks for a user")
        browser = Browser(CONSOLE, "nok", port).sign_in()
        for path, methods, _, open_ in routes():
            if open_ or "GET" not in methods or path.startswith(("/audit", "/operators")):
                continue
            page = browser.follow(browser.get(example(path)))
            equal(page.status, 200, f"{name}: {path}")
            headers_fit(page, f"{name}: {path}")
        page = browser.get("/search", id="a/b?c&d=\u202e")
        field = next(page.document().all("input", name="id"))
        equal(field.attributes["value"], "a/b?c&d=\u202e", f"the query by {name}")
        page = browser.post("/zone", {"token": browser.token(), "zone": "+07:00"})
        equal((page.status, browser.cookies.get("creditbridge-zone")), (303, "+07:00"), f"a form by {name}")
        equal(browser.request("POST", PREFIX + "/zone", body=b"x" * 70000).status, 400, "a form that is too long")
    finally:
        child.stop()


def case_apache():
    other_server("apache")


def case_view_log():
    """The line of a view names what the operator looked at. The text of a search stays out of the log."""
    browser = operator("rita")
    for path, query in (("/player", {"id": "demo/alice"}), ("/round", {"player": WORLD.bob, "game": "game-2"}),
                        ("/transactions", {"casino": "demo", "user": "alice"}), ("/search", {"id": "pasted-by-mistake"})):
        equal(browser.get(path, **query).status, 200, path)
    log = WALLET.logs / "console.log"
    cb.wait_until(lambda: "page=/search" in log.read_text(), 20, "the last line")
    lines = [line for line in log.read_text().splitlines() if "event=view" in line and "operator=rita" in line]
    for page, wanted in (("/player", "demo/alice"), ("/round", f"{WORLD.bob}/game-2"), ("/transactions", "demo/alice")):
        check(any(f"page={page} " in line and f'object="{wanted}"' in line for line in lines), f"{page}: {lines[-9:]}")
    check("pasted-by-mistake" not in log.read_text(), "the text of a search")


def case_mounts():
    """The mounts, as make makes them for the installed places, have every value."""
    for server in ("apache", "lighttpd", "nginx"):
        text = (builddir() / "fcgi-conf" / f"console-{server}.conf").read_text()
        rules = "".join(line for line in text.splitlines(True) if not line.lstrip().startswith("#"))
        check("/console/" in rules and "console.sock" in rules and "console-front.conf" in rules, rules)
        check("@" not in rules, f"a place without its value: {rules}")


def case_nginx():
    other_server("nginx")


def sample(title):
    """A sample of README.Debian for Apache: the lines for the virtual host, and those for the location."""
    text = (SRCDIR / "debian" / "creditbridge.README.Debian").read_text()
    lines = [line.strip() for line in text.split(f"    # {title}", 1)[1].split("\n\n")[0].splitlines()[1:]]
    host = [line for line in lines if line.startswith("OIDC")]
    return host, [line for line in lines if line not in host]


def sample_server(title, modules, status):
    """Apache with its own modules takes a sample in place of the password file, and lets no stranger in."""
    for name in modules:
        if not os.path.exists(f"{APACHE_MODULES}/mod_{name}.so"):
            raise Skip(f"mod_{name} of Apache is not installed")
    host, location = sample(title)
    folder, port = CONSOLE.dir / f"sample-{modules[-1]}", free_port()
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    (CONSOLE.dir / "front-sample.conf").write_text(f"SetEnv CREDITBRIDGE_FRONT {FRONT}\n")
    mount, count = re.subn(r"\tAuthType Basic\n.*?\tRequire valid-user\n", lambda _: "\n".join(location) + "\n",
                           CONSOLE.mount("front-sample.conf", "apache"), flags=re.DOTALL)
    equal(count, 1, "the four lines that a sample replaces")
    (folder / "mount.conf").write_text("\n".join(host) + "\n" + mount)
    config, argv = CONSOLE.apache(folder, port)
    load = "".join(f"LoadModule {name}_module {APACHE_MODULES}/mod_{name}.so\n" for name in modules)
    (folder / "server.conf").write_text(config.replace("Listen ", load + "Listen ", 1))
    child = Child(argv, WALLET.logs / f"console-sample-{modules[-1]}.log")
    try:
        child.wait_ready(lambda: port_open(port), 20, f"Apache with the sample {title}")
        # A script gets a refusal in place of the page of the identity provider.
        page = Browser(CONSOLE, None, port).request("GET", PREFIX + "/", headers={"X-Requested-With": "XMLHttpRequest"})
        equal(page.status, status, f"{title}: {page.text[-600:]}")
        check("named no user" not in page.text, "the console was asked")
    finally:
        child.stop()


def case_ldap():
    sample_server("LDAP", ("ldap", "authnz_ldap"), 401)


def case_certificates():
    sample_server("Client certificates", ("ssl",), 403)


def case_openid():
    sample_server("OpenID Connect", ("auth_openidc",), 401)


def operators_shown(console):
    """The page of the operators, over desk.sock: sessions, a lock, a suspension; no secret."""
    made = WALLET.ctl_json("operator", "add", "ann", "--role", "admin")["otpauth"]
    WALLET.ctl("operator", "add", "rita", "--role", "read")
    rita, ann = Browser(console, "rita"), Browser(console, "ann")
    for _ in range(5):
        equal(rita.post("/sign-in", {"code": "12345x"}).status, 403, "a wrong code")
    log = (WALLET.logs / "ledger.log").read_text()
    check(re.search(r'event=code_refused operator=rita action=sign-in reason=wrong address="127\.0\.0\.1"', log) and
          "12345x" not in log, "a wrong code is logged by the name")
    equal(log.count("event=code_refused operator=rita action=sign-in reason=wrong "), 5, "also the one that locks")
    equal(rita.post("/sign-in", {"code": "12345x"}).status, 403, "the name is locked")
    log = (WALLET.logs / "ledger.log").read_text()
    equal(log.count("event=code_refused operator=rita action=sign-in reason=locked "), 1, "a locked name")
    equal(ann.post("/sign-in", {"code": one_time_code(made)}).status, 303, "ann signs in")
    page = ann.get("/operators")
    rows = {row[0]: row for row in rows_of(page.document())}
    equal(sorted(rows), ["ann", "kim", "nok", "rita"], "all operators")
    equal([rows[name][3] for name in sorted(rows)], ["1", "1", "1", "0"], "their sessions")
    check(rows["ann"][4] and not rows["rita"][4] and rows["rita"][8] and not rows["kim"][8], f"{rows}")
    equal([rows[name][6] for name in sorted(rows)], ["127.0.0.1"] * 3 + [""], "where they signed in")
    secret = re.search(r"secret=([A-Z2-7]+)", made).group(1)
    check(secret not in page.text, "no secret")
    lines = list(csv.reader(io.StringIO(ann.get("/operators.csv").text)))
    equal([line[0] for line in lines], ["name", "ann", "kim", "nok", "rita"], "the CSV")


def case_desk():
    """The installed program over desk.sock: sessions and roles are the ledger's, and a code counts once."""
    made = {user: WALLET.ctl_json("operator", "add", user, "--role", role)["otpauth"]
            for user, role in (("nok", "support"), ("kim", "finance"))}
    event = WORLD.fresh
    with Installed(WALLET, "desk") as console:
        nok, kim = Browser(console, "nok"), Browser(console, "kim")
        equal(nok.get("/").status, 303, "no session")
        equal(nok.post("/sign-in", {"code": "000000"}).status, 403, "a wrong code")
        code = one_time_code(made["nok"])
        two_tabs(nok, Browser(console, "nok"), code)
        again = Browser(console, "nok")
        equal(again.post("/sign-in", {"code": code}).status, 403, "a code counts once")
        for path, methods, role, open_ in routes():
            if open_ or "GET" not in methods:
                continue
            page = nok.follow(nok.get(example(path)))
            equal(page.status, 403 if role in ("finance", "admin") else 200, f"{path}: {page.text[-600:]}")
        equal(nok.get("/search", id="alice").header("Location"), f"{PREFIX}/player?id={WORLD.alice}", "FIND")
        thief = Browser(console, "kim")
        thief.cookies = dict(nok.cookies)
        equal(thief.get("/").status, 303, "a cookie is worth nothing under another login")
        page = Browser(console, "nok", console.unfronted).get("/")
        check(page.status == 403 and "the front secret" in page.document().text(), page.text)
        equal(kim.post("/sign-in", {"code": one_time_code(made["kim"])}).status, 303, "kim signs in")
        root = nok.get(f"/callbacks/{event}").document()
        form = {node.attributes["name"]: node.attributes.get("value", "")
                for node in root.all("input") if node.attributes.get("name") in ("token", "operation")}
        page = nok.post(f"/callbacks/{event}/act", form | {"action": "hold", "reason": "ticket by desk"})
        equal(page.status, 303, f"held: {page.text[-600:]}")
        row = next(node.text() for node in kim.get("/audit").document().all("tr")
                   if "ticket by desk" in node.text())
        check("nok" in row, f"the audit names the operator: {row}")
        operators_shown(console)
        WALLET.ctl("operator", "suspend", "nok", "--reason", "left")
        equal(nok.get("/").status, 303, "the session of a suspended operator has ended")
        equal(kim.post("/sign-out", {"token": kim.token()}).status, 303, "signed out")
        equal(kim.get("/").status, 303, "the session has ended")


def rows_of_operator(name):
    """(action, object, detail) of each CSV and view of the operator in the audit."""
    return [(row["action"], row["object"], row["detail"]) for row in WALLET.ctl_json("audit", "--limit", "0")["audit"]
            if row["operator"] == name and row["action"] in ("csv", "view")]


def case_views_in_the_audit():
    """With console_audit_views each view is in the audit, once in a while of one address; the text of a search is not."""
    made = WALLET.ctl_json("operator", "add", "vera", "--role", "support")["otpauth"]
    config = WALLET.dir / "views.conf"
    config.write_text(WALLET.config.read_text() + "console_audit_views = yes\n")
    config.chmod(0o644)
    with Installed(WALLET, "views", config) as console:
        vera = Browser(console, "vera")
        equal(vera.post("/sign-in", {"code": one_time_code(made)}).status, 303, "signed in")
        for _ in range(5):
            equal(vera.get("/player", id="demo/alice").status, 200, "a page that is opened again and again")
        for path, query in ((f"/callbacks/{WORLD.parked}", {}), ("/search", {"id": "pasted-by-mistake"}), ("/health.csv", {}),
                            ("/nothing", {}), ("/transactions", {"casino": "demo", "user": "al\u202eice"})):
            vera.get(path, **query)
        rows = rows_of_operator("vera")
        counts = collections.Counter(rows)
        player = ("view", "/player", "id=demo/alice")
        check(counts.pop(player) in (1, 2), f"five views at once: {rows}")
        equal(sorted(counts), [("csv", "/health.csv", ""), ("view", f"/callbacks/{WORLD.parked}", ""), ("view", "/search", ""),
                               ("view", "/transactions", 'casino=demo user="al\\u202eice"')], "what was looked at")
        views_are_exact(vera)
        views_by_forms(vera)
    views = [row for row in WALLET.ctl_json("audit", "--limit", "0")["audit"] if row["action"] == "view"]
    equal({row["operator"] for row in views}, {"vera"}, "without the setting no view is recorded")


def new_rows(browser, *requests):
    """The rows of the audit that these pages, (path, parameters), made; the newest first."""
    before = len(rows_of_operator(browser.user))
    for path, query in requests:
        browser.get(path, **query)
    rows = rows_of_operator(browser.user)
    return rows[:len(rows) - before]


def views_are_exact(browser):
    """No parameter hides or forges a filter, or makes further rows of one view. A CSV that was not made has no row."""
    long = "a" * 1100
    for path, query, detail in (
            ("/transactions.csv", {"a": long, "casino": "demo"}, "casino=demo"),
            ("/transactions.csv", {"user": "x casino=other", "casino": "demo"}, 'casino=demo user="x casino=other"'),
            ("/transactions.csv", {"kind": 'bet" game="g\\', "casino": "demo"}, r'casino=demo kind="bet\" game=\"g\\"'),
            ("/refused.csv", {"reference": long, "client": "slots"}, f'reference="{"a" * 128}"... client=slots')):
        equal(new_rows(browser, (path, query)), [("csv", path, detail)], f"{path} {str(query)[:60]}")
    names = ("reference", "request", "client", "kind", "state", "last", "why", "action")
    (_, _, detail), = new_rows(browser, ("/refused.csv", {name: "\u202e" * 100 for name in names} | {"casino": "demo"}))
    equal(sorted(re.findall(r"(?:^| )([a-z]+)=", detail)), sorted([*names, "casino"]), f"each filter: {detail}")
    check("casino=demo" in detail and len(detail) <= 512, detail)
    rows = new_rows(browser, *(("/dealers", {"x": number}) for number in range(5)))
    check(rows in ([("view", "/dealers", "")], [("view", "/dealers", "")] * 2), f"a parameter that selects nothing: {rows}")
    rows = new_rows(browser, *(("/refused", {"reference": long + end}) for end in "bc"))
    equal(len(rows), 2, f"two views, though their cut texts are equal: {rows}")
    equal(new_rows(browser, ("/callbacks/999999/attempts.csv", {}), ("/transactions.csv", {"user": "alice"}),
                   ("/dealer", {"id": "zzz"}), ("/transactions.csv", {"kind": "bet"})),
          [("csv", "/transactions.csv", "kind=bet"), ("view", "/dealer", "id=zzz")], "what was not made, and then a CSV")


def views_by_forms(browser):
    """The page that a refused form shows is a view. A form that is done is none."""
    token = browser.token()
    before = rows_of_operator("vera")
    path = f"/callbacks/{WORLD.fresh}/act"
    form = {"token": token, "action": "hold", "operation": "v" * 20}
    page = browser.post(path, form)
    check(page.status == 400 and "A reason must be given" in page.document().text(), page.text[-600:])
    form["player"] = "from a form"
    page = browser.post(path, form)
    rows = [row for row in rows_of_operator("vera") if row not in before]
    equal(rows, [("view", path, 'player="from a form" action=hold'), ("view", path, "action=hold")], "the page of the callback")
    page = browser.post("/zone", {"token": token, "zone": "UTC"})
    equal(page.status, 303, "a form that is done")
    equal(len(rows_of_operator("vera")), len(before) + 2, "no further view")


def two_tabs(nok, other, code):
    """Both tabs of a browser send the same code at once: one is signed in, and the other says what to do."""
    pages = []
    threads = [threading.Thread(target=lambda tab=tab: pages.append(tab.post("/sign-in", {"code": code})))
               for tab in (nok, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(sorted(page.status for page in pages), [303, 403], f"both forms: {[page.text[-600:] for page in pages]}")
    nok.cookies.update(other.cookies)
    refused = next(page for page in pages if page.status == 403).document()
    link = next(node for node in refused.all("a") if node.text() == "open the page")
    equal(nok.get(link.attributes["href"]).status, 200, "the link of the other tab")


def case_too_many_pages():
    """A program that reads pages without a pause is stopped; its operator can sign out, and others go on."""
    made = {user: WALLET.ctl_json("operator", "add", user, "--role", "read")["otpauth"] for user in ("lou", "max")}
    config = WALLET.dir / "few-pages.conf"
    text = WALLET.config.read_text()
    check("console_page_rate = 1000" in text, text)
    config.write_text(text.replace("console_page_rate = 1000", "console_page_rate = 1"))
    config.chmod(0o644)
    with Installed(WALLET, "few", config, threads=4) as console:
        lou, other = Browser(console, "lou"), Browser(console, "max")
        for user, browser in (("lou", lou), ("max", other)):
            equal(browser.post("/sign-in", {"code": one_time_code(made[user])}).status, 303, f"{user} signs in")
        refused, counts = flooded(lou)
        check(counts[404] >= 12, f"twelve pages at once: {counts}")
        text = refused.document().text()
        check("You have opened too many pages at once." in text and "console_page_rate" in text, text)
        equal(refused.header("Retry-After"), "5", "the header")
        equal(other.get("/audit").status, 200, "another operator")
        cb.wait_until(lambda: lou.get("/audit").status == 200, 20, "a page after a while")
        token = lou.token()
        flooded(lou)
        equal(lou.post("/sign-out", {"token": token}).status, 303, "a form is no page")
        equal(lou.get("/").status, 303, "signed out")


def flooded(browser):
    """Reads an address that does not exist until a page is refused. Returns that page, and how many had each status."""
    pages, ends = [], time.monotonic() + 30

    def read():
        while time.monotonic() < ends and not any(page.status == 429 for page in pages):
            pages.append(browser.get("/nothing"))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [page for page in pages if page.status == 429]
    check(refused, f"{len(pages)} pages, and none was refused")
    return refused[0], collections.Counter(page.status for page in pages)


def case_game_of_two():
    """A game id leads to the round of each player. A player's newest bets come first."""
    browser = operator("nok")
    with WORLD.link() as link:
        link.place("slots", "demo", "alice", "game-2", 1)
    root = browser.get("/search", id="game-2").document()
    links = [node.attributes["href"] for node in root.all("a") if "/round" in node.attributes["href"]]
    equal(sorted(links), sorted(f"{PREFIX}/round?player={player}&game=game-2" for player in (WORLD.alice, WORLD.bob)),
          "a game of two players")
    with WORLD.link() as link:
        for number in range(70):
            link.place("slots", "demo", "alice", f"z-{number % 9}-{number}", 1)
    rows = [[cell.text() for cell in row.all("td")] for table in browser.get("/player", id=WORLD.alice).document().all("table")
            for row in table.all("tr") if "Bets" in table.text()]
    games = [cell for row in rows for cell in row if cell.startswith("z-")]
    equal(games, [f"z-{number % 9}-{number}" for number in range(69, 5, -1)], "the newest bets")
    root = browser.get("/player", id=WORLD.alice).document()
    check("Older bets are under Transactions." in root.text(), "older ones")
    link = next(node for node in root.all("a", href=f"{PREFIX}/transactions?casino=demo&user=alice&kind=bet"))
    found = rows_of(browser.get(link.attributes["href"]).document())
    equal([row[5] for row in found[:50]], [f"z-{number % 9}-{number}" for number in range(69, 19, -1)], "they are there")


def case_not_configured():
    """Without desk.sock the program serves no page."""
    nothing = WALLET.dir / "no-desk"
    nothing.mkdir(mode=0o755)
    config = WALLET.dir / "no-desk.conf"
    config.write_text(WALLET.config.read_text().replace(str(WALLET.sockets), str(nothing)))
    config.chmod(0o644)
    with Installed(WALLET, "none", config) as console:
        for target in ("/", "/sign-in", "/callbacks", "/nothing"):
            page = Browser(console, "ann", console.tls).get(target)
            equal(page.status, 503, target)
            check("The console is not configured" in page.document().text(), page.text)


CASES = [
    ("nothing without a session", case_without_session),
    ("sign in and out", case_sign_in),
    ("the cookie with TLS", case_tls_cookie),
    ("each route, role and method", case_each_route),
    ("the style sheet and the script", case_assets),
    ("forms", case_forms),
    ("the sentences of the debt", case_sentences),
    ("timelines", case_timeline),
    ("operators", case_operators),
    ("search", case_search),
    ("the way to a page", case_way),
    ("hold, release and retry", case_callback_actions),
    ("lists", case_lists),
    ("finance-day-equals-recon", case_days),
    ("zones", case_zone),
    ("hostile ids", case_hostile_ids),
    ("CSV of players", case_csv_of_players),
    ("CSV of the parts of a page", case_csv_of_parts),
    ("a player", case_player),
    ("under Apache", case_apache),
    ("under nginx", case_nginx),
    ("the sample LDAP", case_ldap),
    ("the sample client certificates", case_certificates),
    ("the sample OpenID Connect", case_openid),
    ("the log of views", case_view_log),
    ("mounts", case_mounts),
    ("a game of two players", case_game_of_two),
    ("overview", case_overview),
    ("an attempt as a command", case_curl),
    ("without a ledger", case_no_ledger),
    ("the installed program", case_desk),
    ("views in the audit", case_views_in_the_audit),
    ("too many pages", case_too_many_pages),
    ("not configured", case_not_configured),
]


def main():
    global WALLET, CONSOLE, WORLD  # pylint: disable=global-statement
    with contextlib.ExitStack() as stack:
        WALLET = stack.enter_context(cb.Instance(
            "console", settings=SETTINGS | front_setting(stack)))
        WORLD = World(WALLET)
        CONSOLE = Console(WALLET)
        try:
            if "--serve" in sys.argv:
                print(f"http://127.0.0.1:{CONSOLE.port}{PREFIX}/", flush=True)
                time.sleep(3600)
            return cb.run_cases(CASES, seconds=60)
        finally:
            CONSOLE.close()


if __name__ == "__main__":
    sys.exit(main())
