#!/usr/bin/python3
"""Lists of the web console over desk.sock with many players: each row has the names, amounts and states that belong to
it, and no page needs more than FRAMES_MAX commands of the ledger."""
import contextlib
import csv
import io
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_fastcgi  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import REQUEST, command  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import PREFIX, Browser, Installed, dicts_of, front_setting  # noqa: E402
from cb_ctl import run  # noqa: E402
from cb_middle import RECORDS, Middle, Operator, unpacked, with_members  # noqa: E402
from cb_process import Child  # noqa: E402
from cb_worker import NOT_SENT, REFUSED, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

SETTINGS = {"result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
PLAYERS = 150  # more than two parts of a list
OTHERS = 1100
ROUND_BETS = 60
ATTEMPTS = 45  # of a callback; a page shows 50
FRAMES_MAX = 40
DEALERS_FRAMES_MAX = 4096 // 128  # commands that read the figures of the most dealers there can be
LIST_FRAMES_MAX = 16  # a list of many players and bets
VOUCHED, VOUCH_SIZE = 0x8000, 128  # of a frame on desk.sock (src/link/frame.h)
PREVIEW_FRAMES_MAX = 36
REPLAY_MAX = 10000  # callbacks of one replay
GAMES = "games"
WALLET = BROWSER = COUNTER = None
BETS_MS = 0  # when the transfers had been made, and no bet yet


class Counter(Middle):
    """Between the console and desk.sock: counts the commands and the bytes of their answers. Cuts off those called @cut.
    instead(members) gives the members of the answer to those called @replaced."""

    frames = answered = 0
    asked = ()  # the names of the commands, of all pages
    cut = replaced = None

    def __init__(self, instance):
        super().__init__(instance, None, name="desk.sock")

    def relay(self, near, ledger):
        asked = self.frame(near)
        name = self.names[REQUEST.unpack(asked[:REQUEST.size])[1]]
        if name == self.cut:
            return False
        self.asked += (name,)
        ledger.send(asked)
        self.frames += 1
        answer = self.frame(ledger)
        if name == self.replaced:
            _, _, named, _ = REQUEST.unpack(asked[:REQUEST.size])
            vouch = VOUCH_SIZE if named & VOUCHED else 0
            members = command(name).read(asked, REQUEST.size + named % VOUCHED + vouch)[0]
            answer = with_members(name, answer, unpacked(name, answer) | self.instead(members))
        self.answered += len(answer)
        near.send(answer)
        return True

    def of(self, browser, path, **query):
        """The commands of one page, and the page."""
        before = self.frames
        page = browser.get(path, **query)
        equal(page.status, 200, f"{path}: {page.text[-500:]}")
        return self.frames - before, page


def stake(at):
    """Of player @at: each has another one."""
    return at + 1


def game(at):
    """Long, as the references are: the bets of one part of a list are more than one answer of the ledger."""
    return f"game-{at}-" + "g" * 115


def reference(at):
    return f"bet-{at}-" + "r" * 115


def number_of(user):
    return int(user.removeprefix("u"))


def fill_before():
    """A transfer of dealer few, then OTHERS of dealer others."""
    for dealer in ("few", "others"):
        WALLET.dealer_add(dealer)
        WALLET.player_add(dealer, "alice")
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer("few", "alice", 10000, "few-1"), 0, "the refusal of a transfer")
        for number in range(OTHERS):
            equal(link.transfer("others", "alice", 10000, f"t-{number}"), 0, "the refusal of a transfer")


def fill():
    """PLAYERS players with a bet each, whose results are parked. Player N plays game N."""
    global BETS_MS  # pylint: disable=global-statement
    fill_before()
    BETS_MS = int(time.time() * 1000) + 1
    cb.wait_until(lambda: time.time() * 1000 > BETS_MS, 20, "the next millisecond", interval=0.001)
    WALLET.ctl("client", "add", GAMES)
    WALLET.dealer_add("many", "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
    with Operator(WALLET.sockets / "admin.sock") as admin:
        for at in range(PLAYERS):
            equal(admin.player_add("many", f"u{at}", f"{at:020}".translate(str.maketrans("0189", "abcd")), f"p{at}"),
                  0, "the refusal of a player")
    with Worker(WALLET.sockets / "edge.sock") as link:
        for at in range(PLAYERS):
            bet = link.place(GAMES, "many", f"u{at}", game(at), stake(at), reference=reference(at), remark="m" * 256)
            link.end(bet.send, "many", SUCCESS, status=200)
            made = link.settle(GAMES, "many", f"u{at}", game(at), WIN, 2 * stake(at))
            link.end(made.send, "many", NOT_SENT, note="connection refused")

    def parked():
        with Worker(WALLET.sockets / "edge.sock") as link:
            for event, _ in link.find():
                refusal, grant = link.claim(event)
                if not refusal:
                    link.end(grant, "many", REFUSED, status=400 + event // 16 % 90)
        return WALLET.ctl_json("dealer", "show", "many")["total"]["parked"] == PLAYERS
    cb.wait_until(parked, 60, "all are parked")


def claimed(link, event):
    """The right to send the event, as soon as it is due."""
    grants = []

    def claim():
        refusal, grant = link.claim(event)
        grants.append(grant)
        return not refusal
    cb.wait_until(claim, 20, f"callback {event} can be sent")
    return grants[-1]


def long_round():
    """A round of ROUND_BETS bets, whose result the dealer refused ATTEMPTS times with a long answer: (transaction of a
    bet, event of the result)."""
    WALLET.dealer_add("long", "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
    WALLET.player_add("long", "carl")
    with Worker(WALLET.sockets / "edge.sock") as link:
        for number in range(ROUND_BETS):
            bet = link.place(GAMES, "long", "carl", "long", 1, addition=number > 0)
            equal(link.end(bet.send, "long", SUCCESS, status=200), "", f"bet {number}")
        made = link.settle(GAMES, "long", "carl", "long", WIN, 2)
        send = made.send
        for number in range(1, ATTEMPTS + 1):
            link.end(send, "long", REFUSED, status=422, answer=f"{number} " + "a" * 2000)
            if number >= 3 and number < ATTEMPTS:
                WALLET.ctl("callback", "retry", made.event, "--yes", "--reason", "again")
            if number < ATTEMPTS:
                send = claimed(link, made.event)
    return bet.transaction_id, made.event


def rows(path, **query):
    page = BROWSER.get(path, **query)
    equal(page.status, 200, path)
    return list(csv.DictReader(io.StringIO(page.text)))


def case_callbacks():
    """The CSV of the callbacks, which is read in parts, has what the command line says of each."""
    shown = {int(row["event"]): row for row in rows("/callbacks.csv", casino="many")}
    listed = WALLET.ctl_json("callback", "list", "--casino", "many", "--limit", "0")["callbacks"]
    equal(len(shown), 2 * PLAYERS, "callbacks of bets and results")
    equal(sorted(shown), sorted(row["event"] for row in listed), "events")
    for row in listed:
        line = shown[row["event"]]
        at = number_of(row["user_id"])
        result = row["kind"] == "betting-result"
        equal((line["user_id"], line["game_id"], line["state"]), (f"u{at}", game(at), row["state"]), "a callback")
        equal(line["amount"], f"{stake(at) * (2 if result else 1)}.00", "the amount")
        equal(line["last"], f"{row['last_class']} {row['last_http_status']}", "the last attempt")
    check(len({line["last"] for line in shown.values()}) > 10, "the dealer's answers differ")


def case_last():
    """The filter of the last attempt: by class and by HTTP status. It offers no replay of all."""
    listed = WALLET.ctl_json("callback", "list", "--casino", "many", "--limit", "0")["callbacks"]
    for last, fits in (
            ("success", lambda row: row["last_class"] == "success"),
            ("refused", lambda row: row["last_class"] == "refused"),
            ("unknown", lambda row: False), ("zzz", lambda row: False),
            ("4xx", lambda row: row["last_http_status"] // 100 == 4)):
        wanted = sorted(row["event"] for row in listed if fits(row))
        equal(sorted(int(row["event"]) for row in rows("/callbacks.csv", casino="many", last=last)), wanted, last)
        check(wanted or last in ("unknown", "zzz"), f"{last} selects some")
    for query, offered in (({}, True), ({"last": "refused"}, False)):
        page = BROWSER.get("/callbacks", casino="many", state="parked", **query).document()
        buttons = [node.attributes.get("value") for node in page.all("button", name="which")]
        equal(buttons, ["all", "marked"] if offered else ["marked"], f"buttons with {query}")


def case_transactions():
    equal(len(rows("/transactions.csv", casino="many")), 2 * PLAYERS, "bets and results")
    for kind, state in (("bet", "settled"), ("payout", "at the dealer")):
        found = rows("/transactions.csv", casino="many", kind=kind)
        equal(sorted(number_of(row["user_id"]) for row in found), list(range(PLAYERS)), f"players of {kind}")
        for row in found:
            at = number_of(row["user_id"])
            equal((row["game_id"], row["state"]), (game(at), state), f"a {kind}")
            # The newest callback about a settled bet is the result of its round.
            equal(row["callback"], "parked" if kind == "bet" else "", f"the callback of a {kind}")
            if kind == "bet":
                equal((row["request_transaction_id"], row["amount"]), (reference(at), f"-{stake(at)}.00"), "a bet")


def case_callbacks_of_bets():
    """The rows of a seamless player's bets have the state of the newest callback about each."""
    def states(user):
        page = BROWSER.get("/player", id=f"bets/{user}").document()
        return [row["Callback"] for row in dicts_of(page, "Bets, the newest first")]
    WALLET.dealer_add("bets", "--url", "http://127.0.0.1:1/d/", "--allow-http", "--refund-delay", "600", mode="seamless")
    WALLET.player_add("bets", "eve")
    with Worker(WALLET.sockets / "edge.sock") as link:
        bet = link.place(GAMES, "bets", "eve", "g-1", 1)
        equal(states("eve"), ["sending"], "under way")
        link.end(bet.send, "bets", SUCCESS, status=200)
        equal(states("eve"), ["delivered"], "accepted")
        made = link.settle(GAMES, "bets", "eve", "g-1", WIN, 2)
        link.end(made.send, "bets", NOT_SENT, note="connection refused")
        WALLET.ctl("callback", "hold", made.event, "--reason", "ticket 1")
        lost = link.place(GAMES, "bets", "eve", "g-2", 1)
        link.end(lost.send, "bets", UNKNOWN, status=503)
    equal(states("eve"), ["due", "held"], "a refund that waits, and a result that is held")
    WALLET.ctl("callback", "release", made.event, "--reason", "ticket 1")
    equal(states("eve")[1], WALLET.ctl_json("callback", "show", made.event)["state"], "released")
    equal({row["callback"] for row in rows("/transactions.csv", casino="few")}, {""}, "a transfer has none")


def case_dealer_of_few():
    """The ledger passes over the rows of other dealers. The page says how far back it looked, and goes on from there."""
    looked, pages, query = 0, [], {"casino": "few"}
    while True:
        frames, page = COUNTER.of(BROWSER, "/transactions", **query)
        check(frames <= 8, f"{frames} commands for 1,024 rows")
        looked += int(re.search(r"Looked at (\d+) rows", page.text)[1])
        pages.append(page.text)
        older = re.search(r'href="[^"]*[?&;]after=(\d+)', page.text)
        if not older:
            break
        check("There may be older ones." in page.text and "back to" in page.text, "how far it looked")
        query["after"] = older[1]
    equal(looked, 2 * PLAYERS + OTHERS + 1, "each row was looked at once")
    equal([page.count("few-1") > 0 for page in pages], [False] * (len(pages) - 1) + [True], "the transfer is on the last page")
    equal([row["request_transaction_id"] for row in rows("/transactions.csv", casino="few")], ["few-1"], "the CSV")
    # Each row is older than the filter asks for: the list ends, though no row of the dealer was met.
    late = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 5 * 86400))
    frames, page = COUNTER.of(BROWSER, "/transactions", casino="few", since=late)
    check("No older row fits the filter." in page.text and frames <= 4, f"{frames} commands: {page.text[-600:]}")


def case_commands():
    """No page needs more than FRAMES_MAX commands."""
    event = WALLET.ctl_json("callback", "list", "--casino", "many", "--limit", "1")["callbacks"][0]["event"]
    pages = (("/", {}), ("/search", {"id": "zzz"}), ("/dealers", {}), ("/dealer", {"id": "many"}),
             ("/players", {"casino": "many", "begins": "u1"}),
             ("/days", {"casino": "many"}), ("/player", {"id": "many/u7"}), ("/player", {"id": "others/alice"}),
             ("/player", {"id": "others/alice", "kind": "transfer_out"}), ("/transactions", {}),
             ("/transactions", {"casino": "many", "kind": "bet"}), ("/callbacks", {}),
             ("/callbacks", {"casino": "many", "state": "parked"}), (f"/callbacks/{event}", {}),
             ("/replays/preview", {"casino": "many"}), ("/replays", {}), ("/refused", {}), ("/audit", {}),
             ("/operators", {}), ("/health", {}))
    for path, query in pages:
        frames, _ = COUNTER.of(BROWSER, path, **query)
        most = LIST_FRAMES_MAX if path in ("/callbacks", "/transactions") else FRAMES_MAX
        check(0 < frames <= most, f"{path} {query} needs {frames} commands of the ledger")
    _, page = COUNTER.of(BROWSER, "/player", id="others/alice", kind="transfer_out")
    check("Looked at 1024 rows" in page.document().text(), f"the player's movements: {page.document().text()[-900:]}")
    before = COUNTER.frames
    moved = rows("/player.csv", id="others/alice")
    equal([row["request_transaction_id"] for row in moved], [f"t-{number}" for number in reversed(range(OTHERS))], "the CSV")
    check(COUNTER.frames - before <= FRAMES_MAX, f"the CSV needs {COUNTER.frames - before} commands")
    _, page = COUNTER.of(BROWSER, "/callbacks", casino="many", state="parked")
    users = {node.text() for node in page.document().all("a") if node.text().startswith("u")}
    check(users == {f"u{at}" for at in range(PLAYERS - 50, PLAYERS)}, f"the players of the newest 50: {users}")


class ManyParked:
    """A dealer with @count parked callbacks, whose events are 1 to @count, as the ledger previews them."""

    def __init__(self, count):
        self.count = count

    def __call__(self, members):
        last = members.below - 1 if members.below else self.count
        first = max(1, last + 1 - members.most)
        found = b"".join(event.to_bytes(8, "big") for event in range(last, first - 1, -1))
        return {"last_event": self.count, "first_event": first, "looked_to_ms": 1, "more": first > 1, "found": found,
                "sums": [{}, {"count": last + 1 - first, "amount": 10000 * (last + 1 - first)}]}


def case_owed_players():
    """The alarm of a dealer says to how many players it owes credit. Each of them has one result."""
    _, page = COUNTER.of(BROWSER, "/")
    alarms = [node.text() for node in next(page.document().all("ul", class_="alarms")).all("li")]
    check(any(text.startswith("many: ") and f" in payouts, to {PLAYERS} players. " in text for text in alarms), f"{alarms}")


def case_preview_of_many():
    """One page previews the largest replay, and says that there are more."""
    COUNTER.replaced = "replay_preview"
    try:
        for count, sent in ((REPLAY_MAX, REPLAY_MAX), (REPLAY_MAX + 1, REPLAY_MAX), (321, 321)):
            COUNTER.instead = ManyParked(count)
            frames, page = COUNTER.of(BROWSER, "/replays/preview", casino="many")
            check(frames <= PREVIEW_FRAMES_MAX, f"{frames} commands")
            text = page.document().text()
            check(f"Send these {sent:,} again" in text, f"{count}: {text[-900:]}")
            equal("A second replay can send them" in text, count > sent, f"{count}: {text[-900:]}")
    finally:
        COUNTER.replaced = None


def case_ages():
    """The ages of what waits, with few commands: of a dealer, and of all."""
    for query, dealer in (({"casino": "many"}, "many"), ({}, "all")):
        frames, page = COUNTER.of(BROWSER, "/callbacks", **query)
        check(frames <= LIST_FRAMES_MAX, f"{frames} commands")
        found = dicts_of(page.document(), "By their age, since they were made")
        equal([(row["Dealer"], row["State"], row["All"]) for row in found], [(dealer, "parked", str(PLAYERS))],
              "the states that wait")
        equal(sum(int(found[0][age]) for age in ("< 1 min", "< 10 min", "< 1 h", "< 1 d", "Older")), PLAYERS,
              f"by age: {found}")
    frames, page = COUNTER.of(BROWSER, "/callbacks", casino="many", after=str(2**53))
    check("By their age" not in page.text, "the next page of the list")


def calls_shown():
    """(calls, refused) in the sentence of the overview; None before the first sample."""
    page = BROWSER.get("/")
    found = re.search(r"([\d,]+) calls, of which .* accepted, ([\d,]+) calls were refused", page.document().text())
    return tuple(int(number.replace(",", "")) for number in found.groups()) if found else None


def case_calls():
    """The overview has the calls a minute of 24 hours, which outlive the console and the engine of the ledger."""
    cb.wait_until(lambda: calls_shown() == (0, 0), 20, "the first sample of the counters")
    check("Known since 20" in BROWSER.get("/").document().text(), "since when")
    socket = WALLET.dir / "calls.sock"
    worker = Child([WALLET.worker, "--config", WALLET.config, "--serve", "wallet", "--threads", 1, "--socket", socket],
                   WALLET.logs / "calls.log")
    try:
        worker.wait_ready(lambda: cb_fastcgi.listens(socket), 20, "the worker's socket")
        for path in ("/user-service/user/stat", "/nowhere", "/wallet-service/feed"):
            code = cb_fastcgi.request(socket, path, [], b"{}").status
            check(400 <= code < 500, f"{path}: {code}")
    finally:
        worker.stop()
    cb.wait_until(lambda: calls_shown() == (3, 3), 20, "the calls are sampled")
    for pid in WALLET.engine_pids():
        os.kill(pid, signal.SIGKILL)
    cb.wait_until(lambda: BROWSER.get("/").status == 200, 20, "the next engine")
    equal(calls_shown(), (3, 3), "after another engine has begun")
    root = BROWSER.get("/").document()
    found = dicts_of(root, "The newest quarter of an hour first")
    equal((sum(int(row["Calls"]) for row in found), sum(int(row["Refused"]) for row in found)), (3, 3), f"{found}")
    check(any(float(row["Calls a minute"]) > 0 for row in found), f"rates: {found}")
    labels = [node.attributes["aria-label"] for node in root.all("svg", role="img")]
    check(any(label.startswith("Calls a minute") for label in labels), f"the chart: {labels}")


def case_until():
    """A time in the past is found, and newer rows are not read: of the transfers before the bets, the newest."""
    page = BROWSER.get("/transactions", until=str(BETS_MS))
    text = page.document().text()
    check(f"t-{OTHERS - 1}" in text and f"t-{OTHERS - 50}" in text, f"the newest before that time: {text[-900:]}")
    check("Looked at 50 rows" in text, f"rows that were looked at: {text[-600:]}")
    # The ids jump to the clock at each start of an engine. That costs no commands.
    for _ in range(3):
        WALLET.stop()
        WALLET.start()
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer("few", "alice", 10000, "few-2"), 0, "the refusal of a transfer")
    code = WALLET.ctl_json("operator", "new-code", "ann")["otpauth"]
    equal(BROWSER.post("/sign-in", {"code": one_time_code(code)}).status, 303, "signed in again")
    frames, page = COUNTER.of(BROWSER, "/transactions", until=str(BETS_MS))
    check(frames <= FRAMES_MAX, f"{frames} commands")
    older = next(node for node in page.document().all("a") if node.text() == "Further rows")
    text = BROWSER.get(older.attributes["href"].removeprefix(PREFIX)).document().text()
    check(f"t-{OTHERS - 51}" in text and f"t-{OTHERS - 50}" not in text, f"the next page: {text[-900:]}")
    # Before the first row, and of callbacks.
    text = BROWSER.get("/transactions", until="1000").document().text()
    check("No transaction with this filter" in text, text[-600:])
    text = BROWSER.get("/callbacks", until=str(BETS_MS)).document().text()
    check("No callback with this filter" in text, text[-600:])
    text = BROWSER.get("/callbacks", casino="many", state="parked", until=str(BETS_MS)).document().text()
    check("No callback with this filter" in text, text[-600:])


def case_long_round():
    """The page of a callback with many attempts, of its bet and of its round."""
    bet, event = long_round()
    player = WALLET.ctl_json("player", "show", "long", "carl")["player_id"]
    for path, query in ((f"/callbacks/{event}", {}), (f"/bets/{bet}", {}), ("/round", {"player": player, "game": "long"})):
        frames, page = COUNTER.of(BROWSER, path, **query)
        check(0 < frames <= FRAMES_MAX, f"{path} {query} needs {frames} commands of the ledger")
        check(str(event) in page.document().text(), f"{path} shows the result: {page.text[-900:]}")
    _, page = COUNTER.of(BROWSER, f"/callbacks/{event}")
    for number in (ATTEMPTS, 2):
        check(f"{number} aaaa" in page.document().text(), f"the answer to attempt {number}")


def case_bodies_of_a_round():
    """The page of a round reads no objects of its bets, which are far more than a page."""
    user_bet = b'{"on":"' + b"r" * 12000 + b'"}'
    with Worker(WALLET.sockets / "edge.sock") as link:
        for number in range(ROUND_BETS):
            equal(link.place(GAMES, "others", "alice", "heavy", 1, addition=number > 0, user_bet=user_bet).refusal, "", "a bet")
    player = WALLET.ctl_json("player", "show", "others", "alice")["player_id"]
    for path in ("/round", "/round.csv"):
        before = COUNTER.answered
        frames, page = COUNTER.of(BROWSER, path, player=player, game="heavy")
        check(0 < frames <= 12, f"{path} needs {frames} commands of the ledger")
        check(COUNTER.answered - before < 10 * len(user_bet), f"{path}: {COUNTER.answered - before} bytes of the ledger")
        check(page.text.count("settled") + page.text.count("accepted") >= ROUND_BETS, f"{path} has each bet")


def case_overview_of_many_dealers():
    """The overview with callbacks of four dealers, and with the most dealers. What the script refreshes needs less."""
    with Worker(WALLET.sockets / "edge.sock") as link:  # It does not call the dealers: the bets wait.
        for dealer in ("wait-a", "wait-b", "wait-c", "wait-d"):
            WALLET.dealer_add(dealer, "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
            WALLET.player_add(dealer, "dora")
            link.place(GAMES, dealer, "dora", "waits", 1)
    for query in ({}, {"refresh": "1"}):
        before = len(COUNTER.asked)
        _, page = COUNTER.of(BROWSER, "/", **query)
        document = page.document()
        asked = COUNTER.asked[before:]
        equal((asked.count("metrics"), asked.count("callback_ages")), (1, 4), f"{asked}")
        check(len(asked) - 1 + DEALERS_FRAMES_MAX <= FRAMES_MAX, f"beside the figures of the dealers: {asked}")
        heads = [node.text() for node in document.all("h2")]
        for head in ("Calls", "Last days"):
            equal(head in heads, not query, f"{head} with {query}: {heads}")
        equal("activity" in asked, not query, f"{asked}")
        check({"Alarms", "Callbacks that wait", "Dealers"} <= set(heads), f"{heads}")
        equal([node.attributes["href"] for node in document.all("a") if node.text() == "Refresh"], [f"{PREFIX}/"], "the link")
        check("Four dealers, those that need attention first." in document.text(), "there are more that wait")
    equal(set(asked), {"session_show", "metrics", "callback_ages"}, "a refresh")


def case_csv_is_recorded():
    """A list as CSV is in the audit before it is sent. Without the audit there is no CSV; the page needs none."""
    equal(BROWSER.get("/transactions.csv", casino="few", kind="transfer_in").status, 200, "a CSV")
    row = WALLET.ctl_json("audit", "--limit", "1")["audit"][0]
    equal((row["operator"], row["action"], row["object"], row["detail"]),
          ("ann", "csv", "/transactions.csv", "casino=few kind=transfer_in"), "the audit")
    COUNTER.cut = "note"
    try:
        page = BROWSER.get("/transactions.csv", casino="few")
        equal(page.status, 503, "a CSV without the audit")
        check("could not record this in its audit" in page.document().text() and "few-1" not in page.text, page.text)
        equal(BROWSER.get("/transactions", casino="few").status, 200, "the page")
    finally:
        COUNTER.cut = None


def case_search():
    """The search shows 10 hits of each kind, and says of which there are more."""
    with Worker(WALLET.sockets / "edge.sock") as link:
        for at in range(11):
            link.place(GAMES, "many", f"u{at}", "shared", 1)
            if at in (9, 10):
                page = BROWSER.get("/search", id="shared").document()
                hits = [node.text() for node in next(page.all("ul", class_="hits")).all("li")]
                cut = ["The first 10 of this kind are shown; there are more."] if at == 10 else []
                equal((len(hits[:10]), hits[10:]), (10, cut), f"{at + 1} players of a game: {hits}")
                check(all("many/u" in text for text in hits[:10]), f"{hits}")
    page = BROWSER.get("/search", id="many/u").document()
    hits = [node.text() for node in next(page.all("ul", class_="hits")).all("li")]
    check(len(hits) == 11 and hits[10].startswith("The first 10 of this kind"), f"users that begin so: {hits}")
    check("all of them" in page.text(), "the link to all")


def case_cut():
    """creditbridgectl callback list reports once that the ledger does not answer the second page of 256 callbacks."""
    pages = []

    def cut(command, record, answer):
        pages.append(command == "list" and record == RECORDS["CALLBACK"])
        return answer if sum(pages) < 2 else None
    with Middle(WALLET, cut) as middle:
        done = run("--config", middle.config, "--json", "callback", "list", "--casino", "many", "--limit", "0", code=69)
    check(sum(pages) >= 2, "the second page was asked for")
    equal(done.stdout.count('"error"'), 1, f"errors in {done.stdout[-500:]}")
    equal(done.stderr.count("creditbridgectl: "), 1, f"errors in {done.stderr}")


CASES = [
    ("callbacks of many players", case_callbacks),
    ("callbacks by their last attempt", case_last),
    ("transactions of many players", case_transactions),
    ("a dealer with few transactions", case_dealer_of_few),
    ("commands of a page", case_commands),
    ("the players that a dealer owes", case_owed_players),
    ("the preview of many callbacks", case_preview_of_many),
    ("ages of what waits", case_ages),
    ("calls a minute", case_calls),
    ("a list until a time in the past", case_until),
    ("commands of the pages of a long round", case_long_round),
    ("bodies of a round", case_bodies_of_a_round),
    ("the overview of many dealers", case_overview_of_many_dealers),
    ("a CSV is recorded", case_csv_is_recorded),
    ("the callbacks of a player's bets", case_callbacks_of_bets),
    ("a search with many hits", case_search),
    ("a list that breaks off", case_cut),
]


def main():
    global WALLET, BROWSER, COUNTER  # pylint: disable=global-statement
    with contextlib.ExitStack() as stack:
        WALLET = stack.enter_context(cb.Instance(
            "lists", settings=SETTINGS | front_setting(stack)))
        fill()
        COUNTER = stack.enter_context(Counter(WALLET))
        console = stack.enter_context(Installed(WALLET, "desk", COUNTER.config))
        BROWSER = Browser(console, "ann")
        code = WALLET.ctl_json("operator", "add", "ann", "--role", "admin")["otpauth"]
        equal(BROWSER.post("/sign-in", {"code": one_time_code(code)}).status, 303, "signed in")
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
