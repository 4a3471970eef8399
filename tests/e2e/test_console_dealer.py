#!/usr/bin/python3
"""The console's pages of a dealer, of its players and of refused calls, over desk.sock: onboarding, keys, the breaker
and its openings, refused calls by their cause, and the calls that were left out under a flood."""
import contextlib
import csv
import io
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_codec import entry, pack, unpack  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import PREFIX, Browser, Installed, cells, front_setting  # noqa: E402
from cb_link import Link  # noqa: E402
from cb_middle import Operator  # noqa: E402
from cb_platform import BETS, client_add, platform_call  # noqa: E402
from cb_worker import NOT_SENT, REFUSALS, SUCCESS, Worker  # noqa: E402

SETTINGS = {"breaker_open_ms": 600000, "callback_lease_ms": 20000}
WAIT_S = 20
PLAYERS = 120  # more than two pages
FLOOD = 300  # calls of one network in a second: REFUSED_NETWORK_BURST and more are left out
URL = ("--url", "http://127.0.0.1:1/d/", "--allow-http")
WALLET = SERVER = BROWSER = CLIENT = FRONT = None


def dealer_page(casino):
    page = BROWSER.get("/dealer", id=casino)
    equal(page.status, 200, f"{casino}: {page.text[-600:]}")
    return page.document()


def section(document, heading):
    """The section of a page with this heading."""
    return next(node for node in document.all("section")
                if any(title.text() == heading for title in node.all("h2")))


def onboarding(casino):
    """(steps that are done, the next command; "": none, whether the list is unfolded)."""
    details = next(section(dealer_page(casino), "Onboarding").all("details"))
    items = [node.text() for node in details.all("li")]
    equal(len(items), 5, f"steps: {items}")
    done = sum(": done" in item for item in items)
    equal(next(details.all("summary")).text(), f"{done} of 5 steps are done", "the summary")
    commands = [node.text() for node in details.all("code")]
    check(len(commands) <= 1, f"one next command: {commands}")
    return done, "".join(commands), "open" in details.attributes


def case_onboarding():
    """The next command is that of the first step that is not done."""
    WALLET.dealer_add("new")
    equal(onboarding("new"), (2, "creditbridgectl player add new USER", True), "no player")
    WALLET.player_add("new", "alice")
    done, command, _ = onboarding("new")
    check(done == 3 and command.startswith("creditbridgectl request --url URL new transfer-in "), command)
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer("new", "alice", 100000, "new-1"), 0, "the refusal of a transfer")
    equal(onboarding("new"), (4, "creditbridgectl client add CLIENT", True), "no bet")
    with Worker(WALLET.sockets / "edge.sock") as link:
        equal(link.place("slots", "new", "alice", "game-1", 1).refusal, "", "a bet")
    equal(onboarding("new"), (5, "", False), "all is done: the list is folded")
    WALLET.dealer_add("new-b", *URL, mode="seamless")
    equal(onboarding("new-b"), (3, "creditbridgectl player add new-b USER", True), "a seamless dealer")
    WALLET.player_add("new-b", "bob")
    equal(onboarding("new-b"), (4, "creditbridgectl dealer test new-b --user USER", True), "no exam")


def case_keys():
    """Ids, what each is for, and when it was made; never a key."""
    dealer = WALLET.dealer_add("keys", *URL, mode="seamless")
    second = WALLET.ctl_json("dealer", "key-add", "keys")
    page = BROWSER.get("/dealer", id="keys")
    rows = cells(section(page.document(), "Keys"))
    equal([row[:2] for row in rows], [["k1", "signs callbacks, verifies calls"], ["k2", "verifies calls"]], "the keys")
    check(all(row[2] for row in rows), f"when each was made: {rows}")
    for key in (dealer.key, second["key"]):
        check(len(key) == 64 and key not in page.text, "no key")
    WALLET.ctl("dealer", "key-use", "keys", "k2")
    WALLET.ctl("dealer", "key-retire", "keys", "k1")
    rows = cells(section(dealer_page("keys"), "Keys"))
    equal([row[:2] for row in rows], [["k2", "signs callbacks, verifies calls"]], "after the change of keys")


def end_bets(casino, outcome, number, game):
    """@number bets whose callbacks end with @outcome. Returns the last event."""
    with Worker(WALLET.sockets / "edge.sock") as link:
        for at in range(number):
            bet = link.place("slots", casino, "bob", f"{game}-{at}", 1)
            end = link.end(bet.send, casino, outcome, note="connection refused" if outcome == NOT_SENT else "",
                           status=200 if outcome == SUCCESS else 0)
            equal(end, "" if outcome == SUCCESS else "dealer_unreachable", "its end")
    return bet.send.event


def case_breaker():
    """Closed, open with the next attempt and the last error, and closed again with its history."""
    WALLET.dealer_add("down", *URL, mode="seamless")
    WALLET.player_add("down", "bob")
    check(not any(node.text() == "Breaker" for node in dealer_page("down").all("h2")), "no callback: no section")
    check("Breaker" not in WALLET.ctl("dealer", "show", "down"), "nor of dealer show")
    end_bets("down", SUCCESS, 1, "fine")
    equal({key: ctl_breaker("down")[key] for key in ("state", "since_ms", "next_ms", "opened", "openings", "last_error")},
          {"state": "closed", "since_ms": 0, "next_ms": 0, "opened": 0, "openings": [], "last_error": None},
          "dealer show of a closed breaker")
    text = section(dealer_page("down"), "Breaker").text()
    check(text.startswith("Breakerclosed.") and "It has not opened since " in text and "Last error" not in text, text)
    event = end_bets("down", NOT_SENT, 9, "lost")
    node = section(dealer_page("down"), "Breaker")
    text = node.text()
    check("open: it opened at " in text and "the test call, which is admitted at " in text and
          "connection refused" in text and "Opened 1 time in 24 hours, 1 since " in text, text)
    equal([(row[0] != "-", row[1:]) for row in cells(node)], [(True, ["-", "0"])], "one opening, which is not closed")
    to = next(link for link in node.all("a") if link.text() == "Its callback").attributes["href"]
    equal(to, f"{PREFIX}/callbacks/{event}", "the last callback that failed")
    equal(BROWSER.get(to).status, 200, "its page")
    rows = cells(section(dealer_page("down"), "Attempts"))
    equal(rows, [["betting", "1", "0", "0", "9"]], "the attempts")
    times = [item.attributes["datetime"] for item in next(node.all("p")).all("time")]
    equal(len(times), 2, f"since when, and the next attempt: {times}")
    check(times[0] < times[1], f"{times}")
    shown = ctl_breaker("down")
    opening, = shown["openings"]
    equal((shown["state"], shown["opened"], opening["closed_ms"], opening["tests"]), ("open", 1, 0, 0), f"{shown}")
    check(0 < shown["started_ms"] < shown["since_ms"] == opening["opened_ms"] < shown["next_ms"], f"{shown}")
    error = shown["last_error"]
    equal((error["class"], error["http_status"], error["note"], error["event"]), ("not_sent", 0, "connection refused", event),
          "the last error is that of the page")
    check(shown["started_ms"] < error["time_ms"] <= shown["since_ms"] + 1000, f"{shown}")
    text = WALLET.ctl("dealer", "show", "down")
    for line in (r"state +open", r"next test call +\d{4}-", r"openings since then +1\n", r"openings in 24 hours +1\n",
                 r"its outcome +not_sent", r"its note +connection refused", rf"its callback +{event}\n",
                 r"OPENED +CLOSED +FAILED-TEST-CALLS\n\d{4}-\S+ +- +0\n"):
        check(re.search(line, text), f"{line}: {text}")


def ctl_breaker(casino):
    """What `dealer show` has of the breaker."""
    return WALLET.ctl_json("dealer", "show", casino)["breaker"]


def players(**query):
    """The user ids of all pages that follow each other, and how many pages there are."""
    users, pages, page = [], 0, BROWSER.get("/players", **query)
    while True:
        equal(page.status, 200, page.text[-600:])
        document = page.document()
        rows = [row for row in cells(document) if len(row) > 1]
        check(len(rows) <= 50, f"{len(rows)} rows")
        users += [row[0] for row in rows]
        pages += 1
        on = list(document.all("a", rel="next"))
        if not on:
            return users, pages
        page = BROWSER.get(on[0].attributes["href"])


def case_players():
    """Those whose user id begins with a text, page by page; none of another dealer."""
    for casino in ("many", "manyfold"):
        WALLET.dealer_add(casino)
    names = [f"u{number:03}" for number in range(PLAYERS)]
    with Operator(WALLET.sockets / "admin.sock") as admin:
        for at, name in enumerate([*names, "u", "v1", "\u00fcber", "u%1"]):
            equal(admin.player_add("many", name, f"{at:020}".translate(str.maketrans("0189", "abcd")), f"p{at}"), 0, name)
        equal(admin.player_add("manyfold", "u777", "z" * 20, "other"), 0, "a player of another dealer")
    form = section(dealer_page("many"), "Players")
    equal([node.attributes["value"] for node in form.all("input", name="casino")], ["many"], "the form names the dealer")
    check("124 players" in form.text(), form.text())
    equal(players(casino="many", begins="u0"), (names[:100], 2), "two pages")
    equal(players(casino="many", begins="u1"), (names[100:], 1), "one page")
    equal(players(casino="many", begins="u007"), (["u007"], 1), "a whole id")
    equal(players(casino="many", begins="u%"), (["u%1"], 1), "a sign that some search for")
    equal(players(casino="many", begins="\u00fc"), (["\u00fcber"], 1), "a letter of two bytes")
    equal(sorted(players(casino="many", begins="u")[0]), sorted([*names, "u", "u%1"]), "each once")
    equal(len(players(casino="many")[0]), PLAYERS + 4, "all")
    for begins in ("U0", "zzz", "u0000", "u" * 129, "x" * 3000):
        equal(players(casino="many", begins=begins), ([], 1), f"begins with {begins[:9]}")
    rows = list(csv.DictReader(io.StringIO(BROWSER.get("/players.csv", casino="many", begins="u0").text)))
    equal([row["user_id"] for row in rows], names[:100], "the CSV")
    equal(BROWSER.get("/players", casino="zzz").status, 404, "no such dealer")
    link = next(node for node in BROWSER.get("/search", id="many/u0").document().all("a") if node.text() == "all of them")
    rows = [row[0] for row in cells(BROWSER.get(link.attributes["href"]).document())]
    equal(rows, names[:50], "the search leads to all whose ids begin so")


def case_days():
    """Yesterday of more dealers than a page has: page by page, and as CSV, which names the dealer to go on after."""
    for number in range(18):
        WALLET.dealer_add(f"z{number:02}")
    wanted = [row["casino_id"] for row in WALLET.ctl_json("dealer", "list")["dealers"]]
    shown, page = [], BROWSER.get("/days")
    while page:
        document = page.document()
        shown += [row[0] for row in cells(document)]
        following = list(document.all("a", rel="next"))
        page = BROWSER.get(following[0].attributes["href"]) if following else None
    equal((shown, len(wanted) > 16), (wanted, True), "the pages")
    link = next(node for node in BROWSER.get("/days").document().all("a") if node.text() == "CSV")
    shown, address = [], link.attributes["href"]
    while address:
        rows = list(csv.reader(io.StringIO(BROWSER.get(address).text)))[1:]
        more = re.fullmatch(r"This list stops here\..* repeat it with (after=\S+)\.", rows[-1][0])
        shown += [row[0] for row in (rows[:-1] if more else rows)]
        address = f"{link.attributes['href']}?{more[1]}" if more else None
    equal(shown, wanted, "the CSV")


def transfer(reference, amount=1000):
    return {"amount": amount, "request_transaction_id": reference, "user_id": "carl", "remark": ""}


def causes(node):
    """{(error, why): (calls, of them proved, address of the list, cause)} of a table of causes."""
    found = {}
    for row in node.all("tr"):
        columns = list(row.all("td"))
        if len(columns) == 6:
            text = [cell.text() for cell in columns]
            found[text[0], text[1]] = (int(text[3]), int(text[4]), next(columns[0].all("a")).attributes["href"], text[2])
    return found


def refused_page(**query):
    """The causes of the page, and the request ids of its list."""
    page = BROWSER.get("/refused", **query)
    equal(page.status, 200, page.text[-600:])
    return causes(page.document()), listed(page)


def listed(page):
    tables = list(page.document().all("table"))
    return [row[11] for row in cells(tables[-1]) if len(row) > 11]


def case_refused():
    """Counts by cause on both pages; each leads to just these calls; a filter by game server."""
    dealer = WALLET.dealer_add("ref")
    WALLET.player_add("ref", "carl")
    sent = {"insufficient_balance": [], "invalid_signature": [], "bet": []}
    for number in range(3):
        sent["insufficient_balance"].append(f"poor-{number}")
        answer = cb.call(SERVER, "POST", cb.TRANSFER_OUT, transfer(f"p-{number}"), dealer=dealer,
                         headers=[("X-Request-Id", f"poor-{number}")])
        equal(answer.status, 402, f"{answer}")
    for number in range(2):
        sent["invalid_signature"].append(f"wrong-{number}")
        answer = cb.call(SERVER, "POST", cb.TRANSFER_IN, transfer(f"w-{number}"), dealer=dealer, signature="0" * 64,
                         headers=[("X-Request-Id", f"wrong-{number}")])
        equal(answer.status, 401, f"{answer}")
    player = WALLET.ctl_json("player", "show", "ref", "carl")["player_id"]
    answer = platform_call(SERVER, BETS, {
        "request_transaction_id": "b-1", "player_id": player, "game_id": "g-1", "bet_amount": 5, "remark": "",
        "user_bet": {}}, client=CLIENT, headers=[("X-Request-Id", "bet-of-slots")])
    equal(answer.status, 402, f"{answer}")
    wait_until(lambda: len(listed(BROWSER.get("/refused"))) >= 6, WAIT_S, "all are kept")
    found, ids = refused_page(casino="ref")
    equal({key: value[:2] for key, value in found.items()},
          {("insufficient_balance", ""): (3, 3), ("invalid_signature", "signature"): (2, 0)}, "the counts of the dealer")
    equal([found["insufficient_balance", ""][3], found["invalid_signature", "signature"][3]],
          ["balance_low", "not known without the body"], "the causes")
    check("Bodies and signatures are not kept on disk." in BROWSER.get("/refused", casino="ref").document().text(), "why")
    equal(sorted(ids), sorted(sent["insufficient_balance"] + sent["invalid_signature"]), "the list")
    of_dealer = causes(section(dealer_page("ref"), "Refused calls in 24 hours"))
    equal({key: value[:2] for key, value in of_dealer.items()}, {key: value[:2] for key, value in found.items()},
          "the page of the dealer has the same counts")
    for place, table_of in (("refused", found), ("dealer", of_dealer)):
        for (error, why), (calls, _, address, _) in table_of.items():
            page = BROWSER.get(address)
            equal(sorted(listed(page)), sorted(sent[error]), f"{place}: the list of {error} {why}")
            equal(len(listed(page)), calls, "as many as were counted")
    found, ids = refused_page(client="slots")
    equal((list(found), ids), ([("insufficient_balance", "")], ["bet-of-slots"]), "of the game server")
    equal(refused_page(client="slot"), ({}, []), "of no game server")
    equal(refused_page(client="ref"), ({}, []), "the id of a dealer is none of a game server")
    equal(refused_page(casino="ref", error="stale_request"), ({}, []), "a cause that no call has")
    equal(refused_page(casino="ref", error="zzz"), ({}, []), "an error that does not exist")
    equal(refused_page(casino="ref", why="zzz"), ({}, []), "a reason that does not exist")
    equal(sorted(refused_page(casino="ref", why="none")[1]), sorted(sent["insufficient_balance"]), "without a reason")
    rows = list(csv.DictReader(io.StringIO(BROWSER.get("/refused.csv", casino="ref", error="invalid_signature").text)))
    equal(sorted(row["request_id"] for row in rows), sorted(sent["invalid_signature"]), "the CSV has the filter")
    text = BROWSER.get("/refused").document().text()
    check("Calls are kept since " in text and "None was left out since " in text and "6 calls counted." in text, text)


def case_flood():
    """Of a flood the page says how many calls were left out."""
    call = entry("refused_call")
    with Link(WALLET.sockets / "edge.sock") as link:
        for first in range(0, FLOOD, 100):
            packed = b"".join(call.pack({
                "time_ms": cb.now_ms(), "request_id": f"flood-{number}", "refusal": REFUSALS.index("invalid_signature"),
                "address": "198.51.100.7", "caller": "ref", "casino_id": "ref"}) for number in range(first, first + 100))
            answer = unpack("refused_keep", link.call("refused_keep", pack("refused_keep", calls=packed)).payload)
            equal(answer.kept + answer.left_out, 100, "of 100 calls")
    left_out = WALLET.ctl_json("status")["refused_left_out"]
    check(0 < left_out < FLOOD, f"{left_out} left out")
    text = BROWSER.get("/refused").document().text()
    check(re.search(rf"{left_out} call(s were| was) left out since ", text), text)


def sign_in():
    code = WALLET.ctl_json("operator", "new-code", "ann")["otpauth"]
    equal(BROWSER.post("/sign-in", {"code": one_time_code(code)}).status, 303, "signed in")


def case_breaker_closed():
    """A failed test call belongs to the opening; one that succeeds closes it. A restart of the ledger forgets all."""
    WALLET.stop()
    WALLET.write_config(FRONT | {"breaker_open_ms": 10})
    WALLET.start()
    sign_in()
    check("It has not opened since " in section(dealer_page("down"), "Breaker").text(), "it has forgotten the opening")

    def half_open():
        return "half-open: it opened at " in section(dealer_page("down"), "Breaker").text()
    end_bets("down", NOT_SENT, 10, "again")
    wait_until(half_open, WAIT_S, "the breaker admits a test call")
    check("One test call is admitted" in section(dealer_page("down"), "Breaker").text(), "it says so")
    end_bets("down", NOT_SENT, 1, "test")
    wait_until(half_open, WAIT_S, "the breaker admits another test call")
    end_bets("down", SUCCESS, 1, "up")
    node = section(dealer_page("down"), "Breaker")
    check(node.text().startswith("Breakerclosed since ") and "Opened 1 time in 24 hours, 1 since " in node.text(), node.text())
    (opened, closed, failed), = cells(node)
    check(opened != "-" and closed != "-", f"from {opened} to {closed}")
    equal(failed, "1", "failed test calls")
    shown = ctl_breaker("down")
    opening, = shown["openings"]
    equal((shown["state"], shown["next_ms"], opening["tests"]), ("closed", 0, 1), f"dealer show: {shown}")
    check(opening["opened_ms"] < opening["closed_ms"] == shown["since_ms"], f"{shown}")


CASES = [
    ("onboarding", case_onboarding),
    ("keys", case_keys),
    ("the breaker", case_breaker),
    ("players by the beginning of their id", case_players),
    ("yesterday of many dealers", case_days),
    ("refused calls by cause", case_refused),
    ("a flood of refused calls", case_flood),
    ("the breaker is closed again", case_breaker_closed),
]


def main():
    global WALLET, SERVER, BROWSER, CLIENT, FRONT  # pylint: disable=global-statement
    with contextlib.ExitStack() as stack:
        FRONT = front_setting(stack)
        WALLET = stack.enter_context(cb.Instance("console-dealer", settings=SETTINGS | FRONT))
        SERVER = cb.Lighttpd(WALLET)
        CLIENT = client_add(WALLET, "slots")
        WALLET.ctl("operator", "add", "ann", "--role", "admin")
        BROWSER = Browser(stack.enter_context(Installed(WALLET, "desk")), "ann")
        sign_in()
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
