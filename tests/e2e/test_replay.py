#!/usr/bin/python3
"""Replays of parked callbacks, from the command line and from the console over desk.sock: each callback gets
one attempt more, whatever is killed meanwhile.

The dealer's part is done over edge.sock (cb_worker.py): a worker claims what is due and reports how it
ended.
"""
import contextlib
import datetime
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import PREFIX, Browser, Installed, front_setting  # noqa: E402
from cb_worker import NOT_SENT, REFUSED, SUCCESS, WIN, Worker  # noqa: E402

SETTINGS = {"callback_lease_ms": 20000, "result_second_attempt_ms": 30, "result_third_attempt_ms": 30,
            "replay_rate": 10}
COUNT = 50
WALLET = CONSOLE = None


def worker():
    return Worker(WALLET.sockets / "edge.sock")


def dealer_new(name):
    # A refund delay: nothing of these cases is refunded.
    WALLET.dealer_add(name, "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
    WALLET.player_add(name, "bob")
    return name


def send_due(link, name, class_=REFUSED):
    """Sends what is due of the dealer. Returns the events."""
    sent = []
    for event, casino in link.find():
        refusal, grant = link.claim(event) if casino == name else ("other", None)
        if not refusal:
            link.end(grant, name, class_, status=422)
            sent.append(event)
    return sent


def park(link, name, count, first=0):
    """Rounds that were won, whose results the dealer refuses until they are parked. Returns the events."""
    events = []
    for number in range(first, first + count):
        bet = link.place("slots", name, "bob", f"g-{number}", 10)
        link.end(bet.send, name, SUCCESS, status=200)
        made = link.settle("slots", name, "bob", f"g-{number}", WIN, 25)
        link.end(made.send, name, NOT_SENT, note="connection refused")
        events.append(made.event)

    before = sums(name)["parked"]

    def all_parked():
        send_due(link, name)
        return sums(name)["parked"] == before + count
    cb.wait_until(all_parked, 30, f"{count} are parked")
    return events


def callbacks(name):
    return {row["event"]: row for row in WALLET.ctl_json(
        "callback", "list", "--casino", name, "--kind", "betting-result", "--limit", "0")["callbacks"]}


def sums(name):
    return WALLET.ctl_json("dealer", "show", name)["total"]


def replay(number):
    return WALLET.ctl_json("replay", "show", number)


def is_done(number):
    return replay(number)["state"] == "done"


def start(name, *words):
    return WALLET.ctl_json("callback", "replay", "--casino", name, "--reason", "dealer is up", "--yes",
                           *words)["replay"]


def attempts_of(name, events):
    rows = callbacks(name)
    return {rows[event]["attempts"] for event in events}


def case_command_line():
    """The preview, the start, the progress and the list."""
    name = dealer_new("shell")
    with worker() as link:
        events = park(link, name, 3)
        WALLET.ctl("callback", "hold", events[0], "--reason", "ticket 1")
        seen = WALLET.ctl_json("callback", "replay", "--casino", name, "--dry-run")
        equal((seen["callbacks"], seen["held"], seen["replay"]), (2, 1, None), "the preview")
        equal(seen["kinds"], [{"kind": "betting-result", "callbacks": 2, "amount": "50.0000"}], "kinds")
        text = WALLET.ctl("callback", "replay", "--casino", name, "--dry-run")
        check("2 callbacks of shell" in text and "1 are held" in text, text)
        # A filter that selects nothing replays nothing.
        equal(start(name, "--kind", "betting-refund"), None, "no match")
        equal(WALLET.ctl_json("replay", "list")["replays"], [], "no replay")
        number = start(name, "--game", "g-1")
        cb.wait_until(lambda: is_done(number), 20, "the replay is done")
        equal(send_due(link, name, SUCCESS), [events[1]], "what was sent")
    row = replay(number)
    equal((row["casino_id"], row["expected"], row["made_due"], row["delivered"], row["reason"]),
          (name, 1, 1, 1, "dealer is up"), "the replay")
    equal([row["id"] for row in WALLET.ctl_json("replay", "list")["replays"]], [number], "the list")
    check("1 of 1 made due: 1 delivered" in WALLET.ctl("replay", "show", number), "as text")
    for words, said in ((("callback", "replay", "--dry-run"), "--casino"),
                        (("callback", "replay", "--casino", name), "--reason"),
                        (("replay", "show", "77"), "replay_not_found"),
                        (("replay", "stop", "x"), "no number of a replay")):
        done = WALLET.ctl_run(*words)
        check(done.returncode and said in done.stderr, f"{words}: {done.stderr}")


def form_of(page, *names):
    root = page.document()
    return {node.attributes["name"]: node.attributes.get("value", "") for node in root.all("input")
            if node.attributes.get("name") in names}


def preview(browser, **query):
    return browser.get("/replays/preview", **query)


def ms_of(time):
    return round(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)


def case_replay_survives_kills():
    """50 parked ones from the console in three clicks. A form that is sent twice acts once. The engine of the
    ledger and the console die in the middle; each callback gets one attempt more."""
    name = dealer_new("kills")
    nok = Browser(CONSOLE, "nok")
    code = WALLET.ctl_json("operator", "add", "nok", "--role", "support")["otpauth"]
    equal(nok.post("/sign-in", {"code": one_time_code(code)}).status, 303, "signed in")
    with worker() as link:
        events = park(link, name, COUNT)
    root = nok.get("/callbacks", casino=name, state="parked").document()
    offers = [node.text() for node in root.all("button", name="which")]
    equal(offers, [f"Preview replay of all {COUNT} parked", "Preview replay of the marked ones"], "offers")
    page = preview(nok, casino=name, state="parked", which="all")
    check(f"Send these {COUNT} again" in page.document().text(), page.text)
    text = page.document().text()
    check("together 1,250.00" in text, text)
    # The duration at replay_rate, and the ages by the rows.
    check("at most 10 a second of one dealer, so the replay takes at least 5.000 s" in text, text)
    made = [node.attributes["datetime"] for node in page.document().all("time")]
    times = sorted(callbacks(name)[event]["created_ms"] for event in events)
    check(len(made) >= 2 and times[0] < times[-1], f"{made} {times}")
    equal([ms_of(made[at]) for at in (0, 1)], [times[0], times[-1]], "the oldest and the newest")
    ages = re.search(r"The oldest was made at .* \((\S+ s|\d+ min \d+ s) ago\), the newest at .* ago\)", text)
    check(ages, text)
    form = form_of(page, "token", "selection", "operation", "step")
    equal(nok.post("/replays/start", form | {"reason": ""}).status, 400, "no reason")
    page = nok.post("/replays/start", form | {"reason": "dealer is up"})
    equal(page.status, 303, f"started: {page.text[-800:]}")
    again = nok.post("/replays/start", form | {"reason": "dealer is up"})
    equal(again.header("Location"), page.header("Location"), "the same replay")
    number = int(page.header("Location").rsplit("/", 1)[1])
    cb.wait_until(lambda: replay(number)["made_due"] > 0, 20, "the replay began")
    (engine,) = WALLET.engine_pids()
    os.kill(engine, signal.SIGKILL)
    CONSOLE.kill()
    cb.wait_until(WALLET.answering, 20, "the next engine")
    with worker() as link:
        def ended():
            send_due(link, name)
            row = replay(number)
            return row["state"] == "done" and row["parked_again"] == COUNT
        cb.wait_until(ended, 40, "the replay ended")
        equal(send_due(link, name), [], "nothing is left")
    equal(attempts_of(name, events), {4}, "attempts of each")
    text = nok.follow(nok.get(f"/replays/{number}")).document().text()
    check(f"{COUNT} of {COUNT} made due: 0 delivered, {COUNT} parked again" in text, text)
    check("dealer is up" in nok.get("/replays").document().text(), "the list of replays")
    audit = WALLET.ctl_json("audit", "--limit", "0")["audit"]
    started = [row for row in audit if row["action"] == "callback replay" and row["object"] == f"replay {number}"]
    equal([row["operator"] for row in started], ["nok"], "the audit")
    marks_of(nok, name, events)


def marks_of(nok, name, events):
    """A replay of only the marked callbacks. Without a mark, a dealer or a match the page offers
    none."""
    page = nok.request("GET", f"{PREFIX}/replays/preview?casino={name}&which=marked&mark={events[4]}&mark={events[2]}")
    check("Send these 2 again" in page.document().text(), page.text)
    page = nok.post("/replays/start", form_of(page, "token", "selection", "operation", "step") |
                    {"reason": "only these"})
    number = int(page.header("Location").rsplit("/", 1)[1])
    cb.wait_until(lambda: is_done(number), 20, "the replay of the marked ones")
    with worker() as link:
        equal(sorted(send_due(link, name)), [events[2], events[4]], "the marked ones")
    equal(preview(nok, casino=name, which="marked").status, 400, "no mark")
    equal(preview(nok).status, 400, "no dealer")
    page = preview(nok, casino=name, kind="betting-refund")
    check("No parked callback with this filter" in page.document().text(), page.text)
    equal(list(page.document().all("form", action=f"{PREFIX}/replays/start")), [], "no match, no button")
    root = nok.get("/callbacks", casino=name, kind="betting-refund", state="parked").document()
    equal(list(root.all("button", name="which")), [], "no match, no button in the list")
    root = nok.get("/callbacks", state="parked").document()
    equal(list(root.all("button", name="which")), [], "no dealer, no button")


def case_later_parked_is_not_replayed():
    """A callback that is parked after the preview stays parked, also if it was made before."""
    name = dealer_new("later")
    nok = Browser(CONSOLE, "kim")
    code = WALLET.ctl_json("operator", "add", "kim", "--role", "finance")["otpauth"]
    equal(nok.post("/sign-in", {"code": one_time_code(code)}).status, 303, "signed in")
    with worker() as link:
        events = park(link, name, 2)
        page = preview(nok, casino=name)
        later = park(link, name, 1, first=10)
        page = nok.post("/replays/start", form_of(page, "token", "selection", "operation", "step") |
                        {"reason": "dealer is up"})
        number = int(page.header("Location").rsplit("/", 1)[1])
        cb.wait_until(lambda: is_done(number), 20, "the replay is done")
        equal(sorted(send_due(link, name)), events, "what was sent")
    equal((attempts_of(name, events), attempts_of(name, later)), ({4}, {3}), "attempts")


def stop_by_command(number):
    WALLET.ctl("replay", "stop", number, "--reason", "wrong dealer")


def stopped_halfway(link, name, stop):
    """Starts a replay of 50 and stops it. On a slow machine it may be done before: then None is returned."""
    number = start(name)
    cb.wait_until(lambda: replay(number)["made_due"] > 0, 20, "the replay began")
    stop(number)
    row = replay(number)
    sent = send_due(link, name)
    # One look finds no more of a dealer than it may have under way.
    while more := send_due(link, name):
        sent += more
    if row["state"] == "done":
        return None
    equal((row["state"], row["made_due"]), ("stopped", len(sent)), "the stop")
    row = replay(number)
    equal((row["made_due"], row["parked_again"]), (len(sent), len(sent)), "after the stop")
    return number, sent


def case_replay_stopped_halfway():
    """A stop leaves the rest parked."""
    name = dealer_new("stopped")
    with worker() as link:
        events = park(link, name, COUNT)
        made = None
        while not made:
            before = {event: row["attempts"] for event, row in callbacks(name).items()}
            made = stopped_halfway(link, name, stop_by_command)
    number, sent = made
    check(0 < len(sent) < COUNT, f"{len(sent)} were made due")
    after = {event: row["attempts"] for event, row in callbacks(name).items()}
    equal(after, {event: before[event] + (event in sent) for event in events}, "attempts")
    rows = [row for row in WALLET.ctl_json("audit", "--limit", "0")["audit"]
            if row["object"] == f"replay {number}"]
    equal([(row["action"], row["reason"], row["uid"]) for row in rows],
          [("replay stop", "wrong dealer", os.getuid()), ("callback replay", "dealer is up", os.getuid())],
          "the audit")


def case_stopped_on_the_page():
    """The button of the replay's page stops it. Without a usable reason the form comes back as it was filled."""
    name = dealer_new("button")
    rita = Browser(CONSOLE, "rita")
    code = WALLET.ctl_json("operator", "add", "rita", "--role", "support")["otpauth"]
    equal(rita.post("/sign-in", {"code": one_time_code(code)}).status, 303, "signed in")

    def stop(number):
        form = form_of(rita.get(f"/replays/{number}"), "token", "operation")
        # Without the button the replay was done already.
        if "operation" not in form:
            return
        long = "wrong dealer " * 30
        page = rita.post(f"/replays/{number}/stop", form | {"reason": long})
        check(page.status == 400 and "A reason must be given" in page.document().text(), page.text[-600:])
        again = form_of(page, "token", "operation", "reason")
        if "operation" in again:
            equal(again["reason"], long, "the reason stays")
            check(again["operation"] != form["operation"], "the form has an operation of its own")
            page = rita.post(f"/replays/{number}/stop", again | {"reason": "wrong dealer"})
            equal(page.header("Location"), f"{PREFIX}/replays/{number}", f"stopped: {page.text[-600:]}")
    with worker() as link:
        park(link, name, COUNT)
        while not (made := stopped_halfway(link, name, stop)):
            pass
    row = next(row for row in WALLET.ctl_json("audit", "--limit", "0")["audit"]
               if (row["action"], row["object"]) == ("replay stop", f"replay {made[0]}"))
    equal((row["operator"], row["reason"]), ("rita", "wrong dealer"), "the audit")


def answered_again(browser, path, form, code):
    """Sends a form whose code is old: it comes back as it was filled, and acts with a new code."""
    page = browser.post(path, form)
    check(page.status == 403 and "This needs a fresh one-time code. Nothing was done." in page.document().text(),
          f"{path}: {page.status} {page.text[-900:]}")
    names = [node.attributes["name"] for node in page.document().all("input") if "name" in node.attributes]
    check("code" in names, f"the form asks for a code: {names}")
    again = {node.attributes["name"]: node.attributes.get("value", "") for node in page.document().all("input")
             if "name" in node.attributes and node.attributes["name"] != "id"}
    equal(again["reason"], form["reason"], "the reason stays")
    page = browser.post(path, form | again | {"code": "000000"})
    check(page.status == 403 and "The code was not accepted" in page.document().text(), page.text[-900:])
    page = browser.post(path, form | again | {"code": one_time_code(code, later=1)})
    equal(page.status, 303, f"{path} with a code: {page.text[-900:]}")


def case_stale_code_asks_again():
    """A replay, a cancellation and the suspension of a dealer need a fresh code, that of a player needs none."""
    global WALLET, CONSOLE  # pylint: disable=global-statement
    outer = WALLET, CONSOLE
    with contextlib.ExitStack() as stack:
        WALLET = stack.enter_context(cb.Instance(
            "stale", settings=SETTINGS | front_setting(stack) | {"console_code_fresh_s": 5}))
        stack.callback(globals().update, WALLET=outer[0], CONSOLE=outer[1])
        WALLET.ctl("client", "add", "slots")
        CONSOLE = stack.enter_context(Installed(WALLET, "desk", WALLET.config))
        name = dealer_new("old")
        codes, browsers = {}, {}
        for user, role in (("nok", "support"), ("kim", "finance"), ("ann", "admin")):
            codes[user] = WALLET.ctl_json("operator", "add", user, "--role", role)["otpauth"]
            browsers[user] = Browser(CONSOLE, user)
            page = browsers[user].post("/sign-in", {"code": one_time_code(codes[user])})
            equal(page.status, 303, f"{user} signs in")
        with worker() as link:
            events = park(link, name, 2)
        stale_forms(name, events, browsers, codes)


def stale_forms(name, events, browsers, codes):
    nok, kim, ann = (browsers[user] for user in ("nok", "kim", "ann"))
    # A page asks for a code as soon as the last one is old.
    path = f"/callbacks/{events[0]}"
    # ann signed in last.
    cb.wait_until(lambda: "code" in form_of(ann.get("/dealer", id=name), "code"), 20, "the codes are old")
    form = form_of(kim.get(path), "token", "operation", "step")
    check("code" not in form_of(nok.get(path), "code"), "who may not cancel needs no code")
    # The forms apart: Enter in one of them does not send what is to be cancelled.
    forms = [[node.attributes["value"] for node in form.all("button", name="action")]
             for form in kim.get(path).document().all("form")]
    equal([names for names in forms if names], [["retry", "hold"], ["cancel"]], "the buttons of each form")
    equal(nok.post(f"{path}/act", form_of(nok.get(path), "token", "operation") |
                   {"action": "cancel", "reason": "r"}).status, 403, "support cancels nothing")
    page = kim.post(f"{path}/act", form | {"action": "cancel", "reason": ""})
    check(page.status == 400 and "A reason must be given" in page.document().text(), page.text[-900:])
    answered_again(kim, f"{path}/act", form | {"action": "cancel", "reason": "paid by hand"}, codes["kim"])
    equal(WALLET.ctl_json("callback", "show", events[0])["state"], "cancelled", "the callback")
    form = form_of(preview(nok, casino=name), "token", "selection", "operation", "step")
    answered_again(nok, "/replays/start", form | {"reason": "dealer is up"}, codes["nok"])
    equal(len(WALLET.ctl_json("replay", "list")["replays"]), 1, "one replay")
    for suspended in (True, False):
        page = nok.get("/player", id=f"{name}/bob")
        form = form_of(page, "token", "id", "suspended", "operation")
        page = nok.post("/player/suspend", form | {"reason": "ticket 1"})
        equal(page.status, 303, f"suspended={suspended}: {page.text[-900:]}")
        equal(WALLET.ctl_json("player", "show", name, "bob")["suspended"], suspended, "the player")
    equal(nok.post("/dealer/suspend", {"token": nok.token(), "id": name}).status, 403, "support suspends no dealer")
    form = form_of(ann.get("/dealer", id=name), "token", "id", "suspended", "operation", "step")
    answered_again(ann, "/dealer/suspend", form | {"reason": "contract ended"}, codes["ann"])
    check(WALLET.ctl_json("dealer", "show", name)["suspended"], "the dealer")
    done = {(row["operator"], row["action"]) for row in WALLET.ctl_json("audit", "--limit", "0")["audit"]
            if row["operator"] and not row["action"].startswith("session")}
    equal(done, {("ann", "dealer suspend"), ("kim", "callback cancel"), ("nok", "callback replay"),
                 ("nok", "player suspend"), ("nok", "player resume")}, "the audit")


def case_check():
    """The proof holds, and an export has the replays."""
    WALLET.ctl("check")
    made = WALLET.ctl_json("export", WALLET.dir / "all.export")
    equal(made["counts"]["replay"], len(WALLET.ctl_json("replay", "list")["replays"]), "rows")


CASES = [
    ("the command line", case_command_line),
    ("a replay survives kills of the engine and of the console", case_replay_survives_kills),
    ("what is parked later is not replayed", case_later_parked_is_not_replayed),
    ("a replay that is stopped halfway", case_replay_stopped_halfway),
    ("a replay that is stopped on its page", case_stopped_on_the_page),
    ("stale-code-asks-again", case_stale_code_asks_again),
    ("check", case_check),
]


def main():
    global WALLET, CONSOLE  # pylint: disable=global-statement
    with contextlib.ExitStack() as stack:
        WALLET = stack.enter_context(cb.Instance(
            "replay", settings=SETTINGS | front_setting(stack)))
        WALLET.ctl("client", "add", "slots")
        CONSOLE = Installed(WALLET, "desk", WALLET.config)
        stack.enter_context(CONSOLE)
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
