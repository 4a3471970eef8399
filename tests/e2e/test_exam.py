#!/usr/bin/python3
"""`creditbridgectl dealer test`: right dealers pass every case, and each wrong one fails just those
that are about what is wrong with it."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, new, on_terminal, run  # noqa: E402
from cb_error_forms import ERROR_FORMS  # noqa: E402
from cb_other_dealer import UNITS, Book, OtherDealer  # noqa: E402
from cb_platform import LOOPBACK, seamless_dealer  # noqa: E402

FIRST_ID = 2 ** 52
MONEY = re.compile(r"[+-]?\d+\.\d\d")
# The instance of these cases, and the reference dealer.
WALLET = REFERENCE = None
ctl = ctl_json = refused = None
CORRECTIONS = ("--path-betting-correction", "/betting-correction")
ALL = []  # the names of the cases
NEEDS = {}  # of each case, the cases that it needs
SEEN_FAILING = set()
AT_ONCE = 10

# A planted bug of the reference dealer -> the case that it must fail, and what is missing of 1000 then.
BROKEN = {
    "reject_unicode": ("unicode", 0),
    "float_money": ("bet-smallest", 0),
    "debit_twice": ("bet-again", -2),
    "credit_twice": ("win-thrice", 2),
    "refund_twice": ("refund-again", 2),
    "loss_credits": ("loss", 3),
    "loss_once": ("loss-other", 0),
    "no_tombstone": ("tombstone", -2),
    "refund_unknown_credits": ("refund-unknown", 2),
}
# These faults are of the dealer, for every user.
BROKEN_FOR_ALL = {"signature_unchecked": "balance-unsigned", "kind_unchecked": "bet-as-refund"}
# Dealers that have the whole exam, so that none of the other cases fails. The others have the case and those
# that it needs.
WHOLE = {"debit_twice", "kind_unchecked", "memory_only", "no_lock", "takes_twice"}
CB_EXAM_WHOLE = bool(os.environ.get("CB_EXAM_WHOLE"))
if CB_EXAM_WHOLE:
    WHOLE |= {*BROKEN, *BROKEN_FOR_ALL, "equal_is_same", "exception_is_ok", "free_bets", "one_win_a_game",
              "text_money", "unsigned_betting"}
# The same of the other dealer, whose bugs are its own (cb_other_dealer.py).
OTHER_BROKEN = {
    "64_bits": "odd-user-bet",
    "altered_betting": "bet-altered",
    "altered_betting-result": "win-altered",
    "amount_defaults": "bet-incomplete",
    "answer_before": "bet-answer",
    "answers_anew": "lower-again",
    "any_key_balance-inquire": "balance-other-key",
    "any_key_betting": "bet-other-key",
    "cancels_twice": "cancelled-again",
    "check_then_insert": "bet-copies",
    "closed_game": "refund-after-result",
    "corrects_twice": "raise-again",
    "credit_then_insert": "win-copies",
    "else_win": "unknown-result",
    "equal_is_same": "bet-equal",
    "error_text": "bet-above-balance",
    "error_text_400": "balance-incomplete",
    "error_text_balance": "balance-unknown-user",
    "exception_is_ok": "bet-above-balance",
    "float_sum": "bet-tenths",
    "forgets_ids": "restart",
    "forgets_refusals": "bet-refused-again",
    "forgets_shortfall": "lower-short",
    "free_bets": "bet",
    "get_debits": "get",
    "header_as_written": "header-case",
    "json_crashes": "balance-no-json",
    "kind_by_header": "bet-as-refund-bare",
    "known_is_ok": "tombstone",
    "losses_conflict": "loss-other",
    "losses_once": "loss-again",
    "memory_only": "restart",
    "needs_win_amount": "least",
    "no_cancels": "cancelled",
    "no_corrections": "raise",
    "no_lock": "bets-at-once",
    "no_refunds": "refund",
    "no_white_space": "white-space",
    "no_wins": "win",
    "no_zero": "win-of-nothing",
    "one_bet_a_game": "bet-addition",
    "one_win_a_game": "second-win",
    "ordered": "reordered",
    "own_word": "refund-unknown",
    "prefix": "bet-cut-signature",
    "refund_then_mark": "refund-copies",
    "refunded_is_ok": "tombstone-after-bet",
    "refunds_game": "refund-one-of-two",
    "remembers_last": "win-late-repeat",
    "remembers_unsigned": "bet-unsigned-first",
    "result_at_betting": "result-as-bet",
    "result_at_betting-refund": "result-as-refund",
    "result_defaults": "bet-as-result",
    "says_html": "content-type",
    "short_decimals": "cents",
    "small_bodies": "large-user-bet",
    "stake_and_win": "win-addition",
    "strict": "unknown-members",
    "strips": "bet-line-break",
    "takes_nothing": "lower",
    "takes_twice": "lower-again",
    "text_money": "win",
    "tires": "kept-connection",
    "unsigned_betting": "bet-unsigned",
    "unsigned_betting-correction": "lower-unsigned",
    "unsigned_betting-refund": "refund-unsigned",
    "unsigned_betting-result": "win-unsigned",
    "user_bet_optional": "refund-as-bet",
}


def examined(casino_id, user_id, *words, wallet=None, code=0):
    """The exam's JSON; it must end with @code."""
    done = run("--config", (wallet or WALLET).config, "--json", "dealer", "test", casino_id,
               "--user", user_id, "--yes", *words, code=code)
    got = json.loads(done.stdout)
    equal("error" in got, code != 0, done.stdout)
    return got


def having(got, result):
    return {row["name"] for row in got["cases"] if row["result"] == result}


def failing(got):
    return having(got, "failed")


def depending(expected):
    """The cases that cannot be judged when the @expected ones fail."""
    found = set()
    for name in ALL:
        if name not in expected and ({ALL[0], *NEEDS[name]} & (found | expected)):
            found.add(name)
    return found


def needed(case):
    """The case, and all that it needs."""
    return {ALL[0], case}.union(*(needed(name) for name in NEEDS[case] if name))


def judged(got, expected, what, skipped=("restart",), late=()):
    """Just the @expected cases failed. Those that need them were not judged, and say so."""
    lost = depending(expected) | set(late)
    chosen = {row["name"] for row in got["cases"] if row["why"] != "not named by --case"}
    lost &= chosen
    skipped = set(skipped) - lost
    equal(failing(got), expected, f"{what}: " + "\n".join(
        f"{row['name']}: {row['why']}" for row in got["cases"] if row["result"] == "failed"))
    equal(having(got, "not judged"), lost, f"{what}: not judged")
    equal(having(got, "skipped"), skipped, f"{what}: skipped")
    for row in got["cases"]:
        equal(row["why"] != "", row["name"] in expected | lost | skipped, f"{what}: {row}")
        equal(row["cause"] in expected, row["name"] in lost, f"{what}: {row}")
    equal((got["failed"], got["passed"], got["not_judged"], got["skipped"], got["not_run"]),
          (len(expected), len(ALL) - len(expected) - len(lost) - len(skipped), len(lost), len(skipped),
           0), what)
    SEEN_FAILING.update(expected)


def chosen(bug, case):
    """The words with which the dealer with @bug is examined, and the cases that are skipped then."""
    if bug in WHOLE:
        return (), {"restart"}
    return ("--case", case), set(ALL) - needed(case)


def at_once(function, items):
    """The exam waits more than it works."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        failures = [done.exception() for done in [pool.submit(function, *item) for item in items]]
    for failure in failures:
        if failure:
            print(f"# {failure}"[:2000])
    if any(failures):
        raise next(filter(None, failures))


def shares(items):
    """Arguments for at_once(): the items, shared by as many dealers as are examined at once."""
    return [(items[at::AT_ONCE],) for at in range(AT_ONCE)]


@contextlib.contextmanager
def other_dealer(*bugs, wallet=None, words=(), user_id="bob"):
    """A dealer of the other kind; gives its name and itself."""
    wallet, port = wallet or WALLET, cb.free_port()
    made = wallet.dealer_add(new("other"), "--url", f"http://127.0.0.1:{port}", "--allow-http",
                             *CORRECTIONS, *words, mode="seamless")
    wallet.player_add(made.casino_id, user_id)
    with OtherDealer(port, made.key, user_id, bugs) as dealer:
        yield made.casino_id, dealer


def restarting(dealer):
    """The option that restarts a dealer of the other kind."""
    return ("--restart-command",
            f"{sys.executable} -c 'import urllib.request as u; u.urlopen(\"{dealer.url}/restart\")'")


def user_new():
    user = new("user")
    WALLET.player_add("demo", user)
    return user


def cases_listed():
    return json.loads(run("--json", "dealer", "test", "nobody", "--dry-run").stdout)["cases"]


# -- right dealers

def case_restart():
    """A real restart of the reference dealer's process; its result is stored with the dealer."""
    def stored():
        return {name: value for name, value in ctl_json("dealer", "show", "demo").items() if name.startswith("exam_")}
    user = user_new()
    pids = " ".join(map(str, REFERENCE.pids()))
    # lighttpd starts the dealer again, when the old one has ended.
    got = examined("demo", user, "--restart-command",
                   f"kill {pids}; while kill -0 {pids} 2>/dev/null; do sleep 0.05; done")
    judged(got, set(), "the reference dealer", skipped=())
    check(pids != " ".join(map(str, REFERENCE.pids())), "it was restarted")
    equal((stored()["exam_passed"], stored()["exam_failed"], stored()["exam_not_judged"]), (len(ALL), 0, 0),
          "stored")
    check(stored()["exam_ms"] > 0, "when")
    before = stored()
    shown = ctl("dealer", "show", "demo").stdout
    check(re.search(rf"(?m)^last exam +20\d\d-.*\ncases passed in it +{len(ALL)}$", shown), shown)
    # A command that fails fails the case. A part of an exam is not stored.
    got = examined("demo", user, "--restart-command", "exit 3", "--case", "restart", code=1)
    equal(failing(got), {"restart"}, "a restart that failed")
    check("status 3" in [row["why"] for row in got["cases"] if row["name"] == "restart"][0], got)
    equal(stored(), before, "what is stored after a part of an exam")
    # Neither is lost by a change of settings.
    ctl("dealer", "set", "demo", "--refund-delay", "61")
    equal(stored(), before, "after a change")
    # An export and an import carry it.
    path = WALLET.dir / "exam.export"
    ctl("export", path)
    with cb.Instance("creditbridge-exam-import", settings=LOOPBACK, start=False) as copy:
        equal(copy.ctl_run("import", path).returncode, 0, "import")
        copy.start()
        shown = copy.ctl_json("dealer", "show", "demo")
        equal({name: shown[name] for name in before}, before, "after an import")
    done = ctl("dealer", "test", "demo", "--user", user, "--yes", "--case", "bet,none", code=2)
    check("there is no case none" in done.stderr, done.stderr)


def case_cases():
    """What is listed are the cases, without a ledger."""
    listed = cases_listed()
    for number, name in enumerate(ALL):
        check(set(NEEDS[name]) <= {"", *ALL[:number]}, f"{name} needs only earlier cases: {NEEDS[name]}")
    equal(len(set(ALL)), len(ALL), "each has a name of its own")
    check(len(ALL) >= 40, len(ALL))
    for row in listed:
        check(row["rule"] and row["expected"] and row["group"], row)
    text = run("dealer", "test", "nobody", "--dry-run").stdout
    equal(re.findall(r"(?m)^(\S+)", text), ALL, "the cases for people")
    check(max(map(len, text.splitlines())) < 80, text)


def case_reference_passes():
    user = "ลูกค้า " + user_new()
    WALLET.player_add("demo", user)
    before = ctl_json("check")
    got = examined("demo", user, "--reason", "first look")
    judged(got, set(), "the reference dealer")
    equal([row["name"] for row in got["cases"]], ALL, "the cases")
    equal((got["casino_id"], got["user_id"], got["url"]),
          ("demo", user, REFERENCE.base_url + "/balance-inquire"), "of whom")
    equal((got["balance_before"], got["balance_after"], got["difference"]), (1000, 1000, 0),
          "balance")
    for row in got["cases"]:
        if row["name"] == "restart":
            equal((row["result"], row["calls"]), ("skipped", 0), row)
            check("--restart-command" in row["why"], row)
            continue
        check(row["came"] and row["has_money"] and row["calls"] >= 2 and row["ms"] >= 0, row)
        equal((row["before"], row["after"], row["moved"]), (1000, 1000, 0), row["name"])
    rows = {row["name"]: row for row in got["cases"]}
    equal(MONEY.findall(rows["win"]["came"]), ["-5.00", "+2.00", "-1.00", "+4.00"], "the moves")
    # The dealer's side of it.
    state = REFERENCE.state()
    check(state["totals"]["conserved"], state["totals"])
    equal(REFERENCE.balance(user), 1000, "the dealer's balance")
    mine = REFERENCE.transactions(user)
    check(len(mine) > 40, f"{len(mine)} transactions")
    for number, row in mine.items():
        check(FIRST_ID < got["first_id"] <= number <= got["last_id"] < 2 ** 53, row)
        check(row["game_id"].startswith(f"exam-{got['first_id']}-"), row)
    for row in state["events"]:
        number = int(row["webhook_id"].rpartition("-")[2])
        check(number < FIRST_ID and number % cb.ID_STRIDE == 0 or FIRST_ID < number < 2 ** 53,
              row)
    # The ledger has no row of the exam, except in the audit.
    equal(ctl_json("check"), before, "the ledger")
    equal(ctl_json("bet", "list")["bets"], [], "no bets")
    equal(ctl_json("callback", "list")["callbacks"], [], "no callbacks")
    result, trail = ctl_json("audit")["audit"][:2]
    equal((result["action"], result["object"], re.sub(r"\d+$", "", result["detail"])),
          ("dealer tested", "dealer demo", f"exam_passed={len(ALL) - 1} exam_failed=0 "
           "exam_not_judged=0 exam_ms="), "the trail")
    equal((trail["action"], trail["object"], trail["reason"]),
          ("dealer test", f"player demo/{user}", "first look"), "the trail")
    detail = f"first_id={got['first_id']} cases={len(ALL)} url=http"
    check(trail["detail"].startswith(detail), trail)
    # Ids are not used again.
    again = examined("demo", user)
    check(again["first_id"] > got["last_id"], "ids of the second exam")
    judged(again, set(), "the second exam")


def case_other_passes():
    with other_dealer() as (name, dealer):
        judged(examined(name, "bob", *restarting(dealer)), set(), "another right dealer", skipped=())
        equal(dealer.restarts, 1, "restarts")
        equal(dealer.book.balances, {"bob": 1000 * UNITS}, "its balance")
    # Its own word for a bet that it does not know, when that is set.
    with other_dealer("own_word", words=("--unknown-bet-ids", "no_such_bet")) as (name, _):
        judged(examined(name, "bob"), set(), "unknown bet ids")


def case_software_that_exists():
    """Answers that a dealer's settings allow, and the same answers without the settings."""
    def allowed(bug, *words):
        with other_dealer(bug, words=words) as (name, _):
            got = examined(name, "bob")
            equal((failing(got), "warning" in got), (set(), False), f"{bug}: {got}")

    def not_allowed(bugs, words, failed, passed):
        with other_dealer(*bugs, words=words) as (name, _):
            found = failing(examined(name, "bob", code=1))
            check(failed <= found and not found & passed, f"{bugs} {words}: {found}")
    at_once(lambda function, *items: function(*items), [
        (allowed, "already_done", "--duplicate-ids", "x,already_done"),
        (allowed, "tells_balance", "--success-needs-balance"),
        (allowed, "wants_currency", "--send-currency"),
        (not_allowed, ("already_done",), (), {"win-thrice", "refund-again"}, {"bet-again", "win"}),
        (not_allowed, (), ("--success-needs-balance",), {"bet"}, {"balance"})])


def case_warning():
    """Some bets are accepted by an answer without the balance that the others have."""
    with other_dealer("tells_balance", "quiet_additions") as (name, _):
        got = examined(name, "bob")
        equal(failing(got), set(), f"the balance is optional: {got}")
        counts = re.match(r"(\d+) of (\d+) bets were accepted by an answer without a balance, "
                          r"which the others have: .* --success-needs-balance ", got["warning"])
        check(counts and 0 < 4 * int(counts[1]) <= int(counts[2]), got["warning"])
        done = ctl("dealer", "test", name, "--user", "bob", "--yes", "--tap", "--junit",
                   WALLET.dir / "warning.xml")
        check(re.search(r"(?m)^# warning: \d+ of \d+ bets ", done.stdout), done.stdout)
        check(re.search(r"(?m)^creditbridgectl: warning: \d+ of \d+ bets ", done.stderr), done.stderr)
        check('name="warning" value="' in (WALLET.dir / "warning.xml").read_text(), "JUnit")


def case_what_a_dealer_has():
    """Amounts have the dealer's decimals, and no more calls are made at once than it takes."""
    with other_dealer(words=("--decimals", "0", "--max-inflight", "1")) as (name, dealer):
        got = examined(name, "bob")
        why = {row["name"]: row["why"] for row in got["cases"] if row["result"] == "skipped"}
        equal(set(why), {"bet-tenths", "cents", "bet-copies", "bets-at-once", "win-copies", "refund-copies",
                         "restart"}, "skipped")
        check("0 decimals" in why["cents"] and "at a time" in why["bet-copies"], why)
        equal((got["failed"], got["passed"], got["difference"]), (0, len(ALL) - len(why), 0), "others")
        check(all(amount % UNITS == 0 for _, _, amount, _ in dealer.book.bets.values()), "amounts")
        tap = ctl("dealer", "test", name, "--user", "bob", "--yes", "--tap").stdout
        equal(len(re.findall(r"(?m)^ok \d+ - \S+ # SKIP \S", tap)), len(why), tap)
    with other_dealer(words=("--path-betting-correction", "")) as (name, dealer):
        judged(examined(name, "bob"), set(), "no corrections",
               skipped={"restart", *(case for case in ALL if case.startswith("lower"))})
    with other_dealer(words=("--decimals", "4")) as (name, dealer):
        judged(examined(name, "bob"), set(), "4 decimals")
        check(any(amount == 1 for _, _, amount, _ in dealer.book.bets.values()), "0.0001")


# -- wrong dealers

def case_broken():
    def broken(bug, case, missing):
        user = user_new()
        REFERENCE.fault(bug, user_id=user)
        words, skipped = chosen(bug, case)
        got = examined("demo", user, *words, code=1)
        judged(got, {case}, bug, skipped=skipped)
        equal(got["difference"], missing, f"{bug}: difference")
        equal(got["balance_after"], 1000 + missing, f"{bug}: balance")
        if bug != "float_money":
            equal(REFERENCE.balance(user), 1000 + missing, f"{bug}: the dealer's balance")
        moved = sum(row["moved"] for row in got["cases"] if row["has_money"])
        if bug != "float_money":
            equal(moved, missing, f"{bug}: what the cases moved")

    at_once(broken, [(bug, *row) for bug, row in BROKEN.items()])
    for bug, case in BROKEN_FOR_ALL.items():
        user = user_new()
        REFERENCE.faults_clear()
        REFERENCE.fault(bug)
        words, skipped = chosen(bug, case)
        got = examined("demo", user, *words, code=1)
        judged(got, {case}, bug, skipped=skipped)
        equal(got["balance_after"], REFERENCE.balance(user), f"{bug}: the dealer's balance")
        equal(got["difference"], REFERENCE.balance(user) - 1000, f"{bug}: difference")
    REFERENCE.faults_clear()


def case_other_broken():
    def broken(rows):
        with other_dealer() as (name, dealer):
            for bug, case in rows:
                dealer.book = Book(frozenset([bug]))
                dealer.book.balances["bob"] = 1000 * UNITS
                words, skipped = chosen(bug, case)
                got = examined(name, "bob", *words, *restarting(dealer), code=1)
                judged(got, {case}, bug, skipped=skipped - {"restart"} if not words else skipped)
                equal(round(got["difference"] * UNITS), dealer.book.balances["bob"] - 1000 * UNITS,
                      f"{bug}: difference")

    at_once(broken, shares(list(OTHER_BROKEN.items())))


def case_no_balance():
    with other_dealer("forgets_currency") as (name, dealer):
        got = examined(name, "bob", code=1)
        judged(got, {"balance"}, "nothing can be judged without a balance")
        check("difference" not in got, "the balance is not known")
        equal(dealer.book.bets, {}, "and nothing is moved")
        shown = ctl_json("dealer", "show", name)
        equal((shown["exam_passed"], shown["exam_failed"], shown["exam_not_judged"]),
              (got["passed"], 1, got["not_judged"]), "stored")
        check(got["not_judged"] > 0 and
              re.search(rf"(?m)^cases not judged in it +{got['not_judged']}$", ctl("dealer", "show", name).stdout),
              "dealer show prints it")


def case_reads_once():
    with other_dealer("reads_once") as (name, _):
        got = examined(name, "bob", code=1)
        # How much of a large body comes at once is the kernel's business.
        check({"slow-body"} <= failing(got) <= {"slow-body", "large-user-bet"}, failing(got))
        SEEN_FAILING.add("slow-body")


def case_error_forms():
    """Errors with status 200, in the forms of other wallets and of frameworks: each is found, for a bet above
    the balance or for a bet of an unknown user, in turn; with CB_EXAM_WHOLE for both."""
    check(len(ERROR_FORMS) >= 20, len(ERROR_FORMS))
    cases = ("--case", "bet-above-balance,bet-unknown-user")

    def found(forms):
        with other_dealer() as (name, dealer):
            for form, (form_of, case) in forms:
                dealer.form = (form, form_of)
                words = cases if form_of == "all" else ("--case", case)
                # B1 of a stranger is another case.
                got = examined(name, "bob", *words, code=1)
                check(case in failing(got) or case in having(got, "not judged"), f"{form}: {got}")
                rows = {row["name"]: row for row in got["cases"]}
                check(failing(got) == {case},
                      f"{form} {form_of}: {[row for row in got['cases'] if row['result'] == 'failed']}")
                if form[2].startswith("{"):
                    check(f"HTTP 200 {form[2]}"[:60] in rows[case]["why"], f"{form}: {rows[case]['why']}")
                equal(got["difference"], 0, f"{form}: difference")

    kinds = (("all", "bet-above-balance"), ("strangers", "bet-unknown-user"))
    both = itertools.product(ERROR_FORMS, kinds)
    at_once(found, shares(list(both if CB_EXAM_WHOLE else zip(ERROR_FORMS, itertools.cycle(kinds)))))
    SEEN_FAILING.update({"bet-unknown-user"})


def case_late():
    """Answers that come too late; the bet that may have arrived is refunded."""
    def late(name, user, expected, what, lost=("in-time",)):
        got = examined(name, user, wallet=wallet, code=1)
        judged(got, expected, what, late=lost)
        equal(got["difference"], 0, f"{what}: what was not answered was made good")

    with contextlib.ExitStack() as stack:
        wallet = stack.enter_context(cb.Instance(
            "creditbridge-exam", settings={**LOOPBACK, "callback_timeout_ms": 2000}))
        _, reference = seamless_dealer(wallet, "demo", words=CORRECTIONS)
        stack.enter_context(reference)
        other, _ = stack.enter_context(other_dealer("never_closes", wallet=wallet))
        slow, slow_dealer = stack.enter_context(other_dealer(wallet=wallet))
        for user in ("lena", "sam"):
            wallet.player_add("demo", user)
        reference.fault("late", user_id="lena", kind="betting-refund", ms=2500, times=1)
        reference.fault("slow", user_id="sam", kind="betting", ms=8000, times=1)
        # The first result is the payback of case `bet`, which is not judged.
        slow_dealer.late_result_s = 2.5
        at_once(late, [("demo", "lena", {"refund"}, "a late answer"),
                       ("demo", "sam", {"bet"}, "a bet that is still to come"),
                       (slow, "bob", {"in-time"}, "a late payback", ()),
                       (other, "bob", {"last-of-connection"}, "never_closes")])
        rows = reference.transactions("sam")
        equal(rows[min(rows)]["state"], "tombstone", "the bet that is still to come")


def case_every_case_can_fail():
    equal(set(ALL) - SEEN_FAILING, set(), "cases that no wrong dealer of this file fails")


# -- reports

def case_reports():
    with other_dealer("says_html") as (name, other):
        path = WALLET.dir / "report.xml"
        words = ("dealer", "test", name, "--user", "bob", "--yes")
        tap = ctl(*words, "--tap", "--junit", path, code=1).stdout
        lines = tap.splitlines()
        equal(lines[:2], ["TAP version 13", f"1..{len(ALL)}"], "TAP's head")
        results = [line for line in lines if not line.startswith(("#", "TAP", "1.."))]
        equal([re.sub(r" # SKIP give --restart-command.*", " # SKIP", line) for line in results],
              [f"{'not ' if case == 'content-type' else ''}ok {number} - {case}"
               f"{' # SKIP' if case == 'restart' else ''}" for number, case in enumerate(ALL, 1)], "TAP")
        for word in ("# failed: balance: expected", "# rule: A repeated result", "# came: bet A:",
                     "# balance before 1000.00, after 1000.00, difference 0.00"):
            check(word in tap, f"{word} in {tap}")
        suite = xml.etree.ElementTree.parse(path).getroot()
        equal((suite.tag, suite.get("tests"), suite.get("failures"), suite.get("skipped"),
               suite.get("errors")), ("testsuite", str(len(ALL)), "1", "1", "0"), "JUnit")
        equal([case.get("name") for case in suite.iter("testcase")], ALL, "JUnit's cases")
        failures = {case.get("name"): case.find("failure").get("message")
                    for case in suite.iter("testcase") if case.find("failure") is not None}
        equal(set(failures), {"content-type"}, "JUnit's failures")
        check(failures["content-type"].startswith("balance: expected"), failures)
        out = suite.find("testcase[@name='win-thrice']/system-out").text
        check("rule: A repeated result" in out and "win B again: success 0.00" in out, out)
        text = ctl(*words, code=1)
        check(re.search(r"(?m)^server +6 +1 ", text.stdout), text.stdout)
        check(re.search(r"(?m)^FAILED content-type\n  guide     A balance inquiry\n  expected  the answer is JSON",
                        text.stdout), text.stdout)
        check(re.search(r"(?m)^skipped: give --restart-command.*\n  restart$", text.stdout), text.stdout)
        check(max(map(len, text.stdout.splitlines())) < 80, text.stdout)
        check(re.search(r"(?m)^difference +0\.00$", text.stdout), text.stdout)
        check("creditbridgectl: exam_failed: 1 of" in text.stderr, text.stderr)
        calls = other.calls
        done = ctl(*words, "--junit", WALLET.dir / "none" / "report.xml", code=1)
        check("cannot write" in done.stderr, done.stderr)
        equal(other.calls, calls, "nothing was sent for a report that cannot be written")
        # If there is no room for the whole report, no part of it is left.
        done = subprocess.run(WALLET.ctl_argv(*words, "--junit", path), capture_output=True,
                              text=True, timeout=60 * cb.PATIENCE, check=False, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)))
        equal(done.returncode, 1, done.stderr)
        check(f"creditbridgectl: failed: cannot write {path}: File too large\n" in done.stderr, done.stderr)
        check(not path.exists(), "a part of a report")
    # Nothing listens any more.
    done = ctl(*words, "--junit", path, code=69)
    check("creditbridgectl: dealer_unreachable: " in done.stderr, done.stderr)
    suite = xml.etree.ElementTree.parse(path).getroot()
    equal(suite.get("errors"), str(len(ALL)), "a report that nothing was tested")


def case_confirmation():
    with other_dealer() as (name, dealer):
        words = ("dealer", "test", name, "--user", "bob")
        done = ctl(*words, code=2)
        check("give --yes" in done.stderr, done.stderr)
        for answer in ("n\n", "\n", "\x04"):
            code, shown = on_terminal(WALLET, *words, answer=answer)
            equal(code, 1, shown)
            check("The credit of bob at http://" in shown and "nothing was changed" in shown, shown)
        equal((dealer.calls, dealer.book.bets), (4, {}), "only balances were asked for")
        check(all(row["action"] != "dealer test" or name not in row["object"]
                  for row in ctl_json("audit")["audit"]), "no trail of what was not done")
        code, shown = on_terminal(WALLET, *words, answer="yes\n\n")
        equal(code, 0, shown)
        check(f"case {len(ALL)} of {len(ALL)}" in shown, "progress")
        check(dealer.calls > 200, "the exam was held")


def case_refused():
    user = user_new()
    for words in (("dealer", "test", "demo"), ("dealer", "test"),
                  ("dealer", "test", "demo", "--user", user, "--tap", "--json", "--yes")):
        equal(ctl(*words, code=2).returncode, 2, words)
    refused("user_not_found", "dealer", "test", "demo", "--user", "nobody", "--yes")
    refused("dealer_not_found", "dealer", "test", "nobody", "--user", user, "--yes")
    transfer = WALLET.dealer_add(new("dealer")).casino_id
    WALLET.player_add(transfer, "bob")
    refused("not_seamless", "dealer", "test", transfer, "--user", "bob", "--yes")
    bare = WALLET.dealer_add(new("dealer"), mode="seamless").casino_id
    WALLET.player_add(bare, "bob")
    refused("no_url", "dealer", "test", bare, "--user", "bob", "--yes")
    REFERENCE.set_balance(user, 9.99)
    refused("insufficient_balance", "dealer", "test", "demo", "--user", user, "--yes")
    REFERENCE.fault("html", user_id=user)
    refused("dealer_timeout", "dealer", "test", "demo", "--user", user, "--yes")
    REFERENCE.faults_clear()
    equal(REFERENCE.transactions(user), {}, "nothing was moved")


# -- exams that do not come to their end

@contextlib.contextmanager
def under_way(user):
    """An exam, slowed down, that has begun to move credit."""
    REFERENCE.fault("slow", user_id=user, ms=30)
    child = subprocess.Popen(WALLET.ctl_argv("--json", "dealer", "test", "demo", "--user", user,
                                             "--yes"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    try:
        cb.wait_until(lambda: REFERENCE.transactions(user), 30, "the first bet")
        yield child
    finally:
        child.kill()
        child.communicate()
        REFERENCE.faults_clear()


def case_interrupted():
    for number in (signal.SIGINT, signal.SIGTERM):
        user = user_new()
        with under_way(user) as child:
            child.send_signal(number)
            out, errors = child.communicate(timeout=60 * cb.PATIENCE)
            equal(child.returncode, 1, errors)
        got = json.loads(out)
        check(0 < got["not_run"] < len(ALL) and not got["failed"], out)
        equal(got["error"]["detail"],
              f"0 of {len(ALL)} cases; {got['not_run']} were not run", "what did not pass")
        equal((got["difference"], REFERENCE.balance(user)), (0, 1000), "what was begun was ended")
        equal({row["why"] for row in got["cases"] if row["result"] == "not run"}, {"interrupted"},
              "why not")


def case_gone():
    """The dealer goes away in the middle."""
    user = user_new()
    with under_way(user) as child:
        stopping = threading.Thread(target=REFERENCE.stop)
        stopping.start()
        out, errors = child.communicate(timeout=90 * cb.PATIENCE)
        stopping.join(60)
        REFERENCE.start()
        equal(child.returncode, 69, errors)
    got = json.loads(out)
    check(got["not_run"] > 0 and got["failed"] > 0, out)
    check("balance_after" not in got, "the balance is not known")
    check("the dealer does not answer any more" in {row["why"] for row in got["cases"]}, out)


CASES = [
    ("the cases", case_cases),
    ("the reference dealer passes", case_reference_passes),
    ("a restart, and what is stored", case_restart),
    ("another right dealer passes", case_other_passes),
    ("software that exists already", case_software_that_exists),
    ("a warning that fails no case", case_warning),
    ("decimals and calls at a time", case_what_a_dealer_has),
    ("planted bugs fail the right cases", case_broken),
    ("so do those of the other dealer", case_other_broken),
    ("a dealer without a balance", case_no_balance),
    ("a dealer that reads once", case_reads_once),
    ("errors with status 200", case_error_forms),
    ("late answers", case_late),
    ("every case can fail", case_every_case_can_fail),
    ("reports", case_reports),
    ("confirmation", case_confirmation),
    ("refusals", case_refused),
    ("signals", case_interrupted),
    ("the dealer goes away", case_gone),
]

if __name__ == "__main__":
    # An exam is not the faster for four of them being held at once.
    slow = {"callback_timeout_ms": 6000, "callback_lease_ms": 15000,
            "callback_connect_timeout_ms": 3000}
    with cb.Instance("creditbridge-exam", settings={**LOOPBACK, **slow}) as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        for case_row in cases_listed():
            ALL.append(case_row["name"])
            NEEDS[case_row["name"]] = case_row["needs"].split(",")
        _, REFERENCE = seamless_dealer(WALLET, "demo", "--threads", "16", words=CORRECTIONS)
        with REFERENCE:
            result = cb.run_cases(CASES, seconds=120)
    sys.exit(result)
