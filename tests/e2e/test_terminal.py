#!/usr/bin/python3
"""creditbridgectl on a terminal of 100 columns: no line is longer, whatever the ids; colours, zones, lists
that are cut, and what an operator may have meant.
"""
import contextlib
import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import termios
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, run  # noqa: E402
from cb_worker import LOSS, NOT_SENT, REFUSED, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

# The attempts after which a result is parked are soon over.
SETTINGS = {"callback_lease_ms": 20000, "result_second_attempt_ms": 30, "result_third_attempt_ms": 30}

WALLET = None
ctl = ctl_json = refused = None  # of WALLET
WIDTH = 100
LONG = "dealer-" + "x" * 57  # 64 characters, the longest casino_id
SEAMLESS = "seamless-" + "w" * 55
USERS = ("alice-" + "y" * 58, "日本" * 21, "ä" * 64)
GAME = "game-" + "z" * 59
STRANGER = "stranger-" + "s" * 119  # 128 bytes, the longest user_id
REFERENCE = "reference-" + "r" * 118
COLOR = re.compile(r"\033\[[0-9;]*m")
# A list without an argument, such as "bet list"
LIST_COMMAND = re.compile(r"^  ((?!player )[a-z]+ list)  ", re.M)
AFTER = re.compile(r"^(\d+)(?: of \d+)? shown(?:, more follow)?: --after (\S+), or --limit N \(0: all\)$", re.M)
ZONED = {"TZ": "Europe/Berlin"}


def width(text):
    """The columns of a line, as a terminal counts them."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def on_terminal(*words, columns=WIDTH, errors=None, code=0, **env):
    """Runs creditbridgectl on a terminal; standard error goes there too, or is appended to @errors."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(
        WALLET.ctl_argv(*words), stdin=subprocess.DEVNULL, stdout=follower,
        stderr=follower if errors is None else subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", **env})
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while piece := os.read(leader, 65536):
            shown += piece
    os.close(leader)
    if errors is not None:
        errors.append(child.stderr.read().decode())
        child.stderr.close()
    text = shown.decode().replace("\r", "")
    equal(child.wait(30), code, f"exit code of {words}: {text}")
    return text


def make_refused(dealer):
    """A 401, a 402 and a 404, each with the longest reference."""
    server = cb.Lighttpd(WALLET)
    for number, (path, user, status, words) in enumerate((
            (cb.TRANSFER_IN, USERS[0], 401, {"signature": "0" * 64}), (cb.TRANSFER_OUT, USERS[1], 402, {}),
            (cb.TRANSFER_IN, STRANGER, 404, {}))):
        answer = cb.call(server, "POST", path, {
            "amount": 9876543210.25, "request_transaction_id": f"{REFERENCE[:-1]}{number}", "user_id": user,
            "remark": ""}, dealer=dealer, headers=[("X-Request-Id", f"{'i' * 63}{number}")], **words)
        equal(answer.status, status, f"{answer}")
    cb.wait_until(lambda: len(ctl_json("refused", "list")["refused"]) == 3, 20, "the refused calls are kept")


def park(link, made):
    """The second and third attempt of a result fail, too."""
    for _ in range(2):
        def claimed():
            refusal, grant = link.claim(made.event)
            return None if refusal else grant
        link.end(cb.wait_until(claimed, 20, f"event {made.event} is due"), SEAMLESS, UNKNOWN, status=503,
                 note="HTTP 503")


def fill():
    """A dealer, players and a game with ids of the greatest length, and rows of every list."""
    dealer = WALLET.dealer_add(LONG, "--utc-offset", "420")
    WALLET.ctl("dealer", "set", LONG, "--url", "https://dealer.example/" + "path/" * 40)
    WALLET.ctl("client", "add", "c" * 64)
    for user in USERS:
        WALLET.player_add(LONG, user)
        WALLET.ctl("player", "adjust", LONG, user, "123456789.5", "--reason", "a long reason " * 15)
        WALLET.ctl("player", "adjust", LONG, user, "-1", "--reason", "back")
    WALLET.dealer_add(SEAMLESS, "--url", "http://127.0.0.1:1/d/", "--allow-http", "--refund-delay", "0",
                      mode="seamless")
    for user in USERS:
        WALLET.player_add(SEAMLESS, user)
    with Worker(WALLET.sockets / "edge.sock") as link:
        for user, result in zip(USERS, (WIN, LOSS, None)):
            bet = link.place("slots", SEAMLESS, user, GAME, 10)
            if result is None:
                link.end(bet.send, SEAMLESS, REFUSED, status=400, error="insufficient_balance",
                         detail="a long text of the dealer " * 4)
                continue
            link.end(bet.send, SEAMLESS, SUCCESS)
            made = link.settle("slots", SEAMLESS, user, GAME, result, 15 if result == WIN else 0)
            link.end(made.send, SEAMLESS, NOT_SENT, note="connection refused by the server of the dealer")
            if result == WIN:
                park(link, made)
        link.place("slots", SEAMLESS, USERS[0], GAME[:-1] + "2", 10)
    make_refused(dealer)


LISTS = (
    ("dealer", "list"), ("dealer", "show", LONG), ("client", "list"), ("player", "list", LONG),
    ("player", "show", LONG, USERS[1]), ("player", "ledger", LONG, USERS[0]), ("transfer", "list"),
    ("transfer", "list", "--casino", LONG, "--user", USERS[1]), ("bet", "list"),
    ("bet", "list", "--state", "settled"), ("bet", "show", SEAMLESS, USERS[0], GAME),
    ("round", "show", f"{SEAMLESS}/{USERS[1]}", GAME), ("dealer", "show", SEAMLESS), ("callback", "list"), ("callback", "list", "--shape"),
    ("audit",), ("audit", "--limit", "0"), ("release",), ("status",), ("refused", "list"),
    ("refused", "list", "--user", f"{LONG}/{STRANGER}"), ("owed",), ("owed", "--user", f"{SEAMLESS}/{USERS[0]}"),
)


def open_key():
    """Returns a key file that all may read, of which doctor says FAIL."""
    path = WALLET.dir / "open.key"
    path.write_text("0" * 64)
    path.chmod(0o644)
    return str(path)


def case_nothing_is_wider_than_the_terminal():
    others = [tuple(name.split()) for name in LIST_COMMAND.findall(run("--help").stdout)]
    check(("bet", "list") in others, f"lists: {others}")
    for columns in (80, WIDTH, 132):
        for words in LISTS + tuple(words for words in others if words not in LISTS):
            text = COLOR.sub("", on_terminal(*words, columns=columns))
            check(text.strip(), f"{words} prints something")
            for line in text.splitlines():
                check(width(line) <= columns, f"{words} at {columns}: {width(line)}: {line}")
    for line in COLOR.sub("", on_terminal("doctor", open_key(), code=1)).splitlines():
        check(width(line) <= WIDTH, f"doctor: {width(line)}: {line}")


def case_what_was_shortened_is_said():
    errors = []
    text = COLOR.sub("", on_terminal("transfer", "list", errors=errors))
    check("~" in text, f"ids are shortened: {text}")
    check("Texts with ~ are shortened" in errors[0], errors[0])
    check("Columns left out: " in errors[0] and "a pipe or --json has them." in errors[0].replace("\n", " "), errors[0])
    # Ends of an id stay, and amounts are whole.
    check("123456789.50" in text and re.search(r"dea[a-z-]*~x+ ", text), text)
    whole = ctl("transfer", "list").stdout
    check(LONG in whole and USERS[0] in whole and USERS[1] in whole and "~" not in whole,
          "a pipe gets all")
    errors = []
    wide = on_terminal("transfer", "list", columns=600, errors=errors)
    check(LONG in wide and "Texts" not in errors[0], "a wide terminal gets all")


def case_colours():
    for env, wanted in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        text = on_terminal("doctor", open_key(), code=1, **env)
        for word in ("PASS", "WARN", "FAIL", "SKIP"):
            check(word in text, f"{word}: {text}")
            equal(bool(re.search(r"\033\[[0-9;]*m" + word, text)), wanted, f"{word} with {env}")
            equal("\033[" in text, wanted, f"colours with {env}")
    check("\033" not in ctl("doctor", open_key(), code=1).stdout, "no colours in a pipe")


STATES = (  # of a list: (state, its colour as a terminal knows it)
    (("bet", "list"), (("pending", 33), ("rejected", 35), ("settled", 32), ("settled, 15.00", 33))),
    (("callback", "list"), (("parked", 31), ("sending", 33), ("due", 33), ("delivered", 32))),
    (("callback", "list", "--shape"), (("parked", 31), ("due", 33))),
    (("bet", "show", SEAMLESS, USERS[0], GAME), (("settled", 32),)),
)


def case_colours_of_states():
    """Each state has its colour on a terminal. NO_COLOR, TERM=dumb and a pipe have none."""
    for words, states in STATES:
        shown = on_terminal(*words)
        for state, color in states:
            found = re.findall(rf"(?:\033\[(?:1;)?(\d+)m)?{state}\b", shown)
            check(str(color) in found, f"{words}: {state}: {found} in {shown!r}")
        plain = ctl(*words).stdout
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            plain += on_terminal(*words, **env)
        check(states[0][0] in plain and "\033" not in plain, f"{words}: {plain!r}")


def case_problems():
    everything = ctl("doctor", open_key(), code=1).stdout
    problems = ctl("doctor", "--problems", open_key(), code=1).stdout
    check("PASS " in everything and "PASS " not in problems, problems)
    check("FAIL " in problems and " passed, " in problems, problems)
    found = ctl_json("doctor", "--problems", open_key(), code=1)
    check(found["passed"] > 0 and found["findings"], found)
    equal([f for f in found["findings"] if f["result"] == "PASS"], [], "findings that passed")


def times_of(text):
    return re.findall(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*", text)


def case_zones():
    piped = ctl("transfer", "list", env={**os.environ, **ZONED})
    for time in times_of(piped.stdout):
        check(re.fullmatch(r"\S{10}T\S{8}\.\d{3}Z", time), f"a pipe stays in UTC: {time}")
    check("Times are in" not in piped.stderr, piped.stderr)
    errors = []
    shown = times_of(on_terminal("transfer", "list", errors=errors, **ZONED))
    check(shown and all(re.fullmatch(r"\S{10} \S{8}\+0[12]", time) for time in shown), f"local: {shown}")
    check("Times are in Europe/Berlin." in errors[0], errors[0])
    shown = times_of(on_terminal("transfer", "list", "--tz", "utc", **ZONED))
    check(shown and all(time.endswith("Z") for time in shown), f"utc: {shown}")
    dealer = ctl("transfer", "list", "--tz", "dealer")
    shown = times_of(dealer.stdout)
    check(shown and all(time.endswith(".000+07:00"[4:]) for time in shown), f"dealer: {shown}")
    check("utc_offset of each dealer" in dealer.stderr, dealer.stderr)
    for zone in ("+03:00", "Africa/Nairobi"):
        check(all(time.endswith("+03:00") for time in times_of(ctl("audit", "--tz", zone).stdout)), zone)
    # JSON has Unix times, whatever the zone.
    equal(ctl("--json", "transfer", "list", "--tz", "+03:00").stdout,
          ctl("--json", "transfer", "list").stdout, "JSON")
    check("--tz takes" in ctl("audit", "--tz", "Europe/Atlantis", code=2).stderr, "an unknown zone")


def count(*words, **env):
    return len(ctl_json("transfer", "list", "--limit", "0", *words, env={**os.environ, **env})["transfers"])


def case_times_of_options():
    everything = 2 * len(USERS)
    for since in ("-1h", "-1d", "-2h30m", "yesterday", "2000-01-01 14:00", "2000-01-01T14:00"):
        equal(count("--since", since), everything, f"--since {since}")
    equal(count("--since", "now"), 0, "--since now")
    equal(count("--until", "yesterday"), 0, "--until yesterday")
    # The same words are other times in other zones.
    newest = ctl_json("transfer", "list", "--limit", "1")["transfers"][0]["time_ms"]
    line = next(l for l in ctl("transfer", "list", "--limit", "1", "--tz", "+14:00").stdout.splitlines()
                if "+14:00" in l)
    written = times_of(line)[0]
    local = written[:10] + " " + written[11:16]
    check(count("--since", local, "--tz", "+14:00") >= 1, f"{local} in +14:00 is {newest}")
    equal(count("--since", local, "--tz", "utc"), 0, f"{local} in UTC has not come yet")
    check(count("--since", local, "--tz", "dealer", "--casino", LONG) == 0, "the dealer's zone")
    check("--casino" in ctl("transfer", "list", "--since", "yesterday", "--tz", "dealer", code=2).stderr,
          "a dealer's zone without a dealer")
    for wrong in ("-1", "1h", "2026-02-30", "tomorrow"):
        check("a time is" in ctl("transfer", "list", "--since", wrong, code=2).stderr, wrong)


def without_next_attempts(value):
    """@value without each next_ms in it. The command adds what the boot clock leaves to the wall clock, so that
    two answers may differ by a millisecond."""
    if isinstance(value, dict):
        return {name: without_next_attempts(member) for name, member in value.items() if name != "next_ms"}
    if isinstance(value, list):
        return [without_next_attempts(member) for member in value]
    return value


def case_cut_lists():
    for words, member, key in ((("transfer", "list"), "transfers", "transaction_id"),
                               (("bet", "list"), "bets", "transaction_id"),
                               (("bet", "list", "--casino", SEAMLESS, "--state", "rejected,settled"), "bets",
                                "transaction_id"),
                               (("callback", "list"), "callbacks", "event"),
                               (("player", "list", LONG), "players", "user_id"),
                               (("player", "ledger", LONG, USERS[0]), "entries", "transaction_id"),
                               (("audit",), "audit", "seq")):
        all_rows = ctl_json(*words, "--limit", "0")
        check("more" not in all_rows, f"{words}: all")
        rows, after, pages = [], [], 0
        while True:
            page = ctl_json(*words, "--limit", "2", *after)
            rows += page[member]
            pages += 1
            if "more" not in page:
                break
            equal(page["more"], True, "more")
            after = ["--after", rows[-1][key]]
            note = AFTER.search(ctl(*words, "--limit", "2", *after).stderr) if pages == 1 else None
            if pages == 1 and len(all_rows[member]) > 4:
                equal(note.group(1), "2", f"{words}: rows")
        equal(without_next_attempts(rows), without_next_attempts(all_rows[member]), f"{words}: page by page")
        exactly = ctl(*words, "--limit", len(all_rows[member]))
        check("more follow" not in exactly.stderr, f"{words}: {exactly.stderr}")
    for words, member in ((("player", "ledger", LONG, USERS[0]), "entries"), (("audit",), "audit"),
                          (("player", "list", LONG), "players")):
        count = len(ctl_json(*words, "--limit", "0")[member])
        page = ctl_json(*words, "--limit", "1")
        equal((len(page[member]), page["more"], page["total"]), (1, True, count), f"{words}: the total")
        done = ctl(*words, "--limit", "1")
        after = re.search(rf"^1 of {count} shown: --after (\S+), or --limit N \(0: all\)$", done.stderr, re.M)
        check(after, f"{words}: {done.stderr}")
        second = ctl_json(*words, "--limit", "1", "--after", after[1])
        equal(second[member], ctl_json(*words, "--limit", "2")[member][1:], f"{words}: the second row")
    other = ctl_json("player", "ledger", LONG, USERS[1])["entries"][0]["transaction_id"]
    refused("transaction_not_found", "player", "ledger", LONG, USERS[0], "--after", other)
    for words in (("audit",), ("player", "ledger", LONG, USERS[0])):
        check("--after takes" in ctl(*words, "--after", "x", code=2).stderr, f"{words}: a wrong id")
    check("--after takes" in ctl("bet", "list", "--after", "x", code=2).stderr, "a wrong id")


def case_forms_of_a_player():
    one, other = (ctl_json("player", "show", LONG, USERS[2]), ctl_json("player", "show", f"{LONG}/{USERS[2]}"))
    equal(one, other, "player show")
    equal(ctl_json("player", "ledger", f"{LONG}/{USERS[2]}"), ctl_json("player", "ledger", LONG, USERS[2]),
          "player ledger")
    equal(ctl_json("transfer", "list", "--user", f"{LONG}/{USERS[2]}"),
          ctl_json("transfer", "list", "--casino", LONG, "--user", USERS[2]), "--user")
    check(ctl_json("player", "suspend", f"{LONG}/{USERS[2]}")["suspended"], "suspended")
    check(not ctl_json("player", "resume", LONG, USERS[2])["suspended"], "resumed")

    def shown(*words):
        """Without the next step, which has the time that is left, and without times of next attempts."""
        answer = without_next_attempts(ctl_json(*words))
        del answer["story"]["next"]
        return answer

    for words in (("bet", "show"), ("round", "show")):
        equal(shown(*words, SEAMLESS, USERS[0], GAME), shown(*words, f"{SEAMLESS}/{USERS[0]}", GAME), f"{words}")
    equal(shown("bet", "show", SEAMLESS, USERS[0], GAME, "1"),
          shown("bet", "show", ctl_json("player", "show", SEAMLESS, USERS[0])["player_id"], GAME, "1"),
          "bet show with a number")


def case_did_you_mean():
    for words, meant in ((("daeler", "list"), "dealer list"), (("player", "shw"), "player show"),
                         (("statsu",), "status"), (("bet", "list", "--limt", "3"), "--limit"),
                         (("audit", "--jsn"), "--json")):
        done = run(*words, code=2)
        check(f"Did you mean '{meant}'?" in done.stderr, f"{words}: {done.stderr}")
        error = json.loads(run("--json", *words, code=2).stdout)["error"]
        equal(error["id"], "usage", f"{words}")
    check("Did you mean" not in run("xyzzy", code=2).stderr, "nothing is near")
    # The argument of an option is none.
    check("Did you mean" not in ctl("player", "suspend", LONG, "no-player", "--reason", "--limt", code=1).stderr,
          "an argument")
    near = LONG[:-1] + "z"
    done = refused("dealer_not_found", "player", "list", near)
    check(f"(did you mean '{LONG}'?)" in done.stderr, done.stderr)
    check("did you mean" not in refused("dealer_not_found", "player", "list", "roulette").stderr, "nothing")


CASES = [
    ("no line is wider than the terminal", case_nothing_is_wider_than_the_terminal),
    ("what was shortened or left out is said", case_what_was_shortened_is_said),
    ("colours, NO_COLOR, TERM=dumb", case_colours),
    ("colours of states", case_colours_of_states),
    ("doctor --problems", case_problems),
    ("zones of printed times", case_zones),
    ("times of options", case_times_of_options),
    ("lists that are cut, and --after", case_cut_lists),
    ("CASINO USER and CASINO/USER", case_forms_of_a_player),
    ("did you mean", case_did_you_mean),
]


def main():
    global WALLET, ctl, ctl_json, refused
    with cb.Instance("terminal", settings=SETTINGS) as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        WALLET.ledger_start()
        fill()
        return cb.run_cases(CASES)


if __name__ == "__main__":
    sys.exit(main())
