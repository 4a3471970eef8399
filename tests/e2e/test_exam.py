#!/usr/bin/python3
"""`creditbridgectl dealer test`: right dealers pass every case, and each wrong one fails just those
that are about what is wrong with it."""
import concurrent.futures
import contextlib
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
from cb_other_dealer import UNITS, OtherDealer  # noqa: E402
from cb_platform import LOOPBACK, seamless_dealer  # noqa: E402

FIRST_ID = 2 ** 52
MONEY = re.compile(r"[+-]?\d+\.\d\d")
# What the dealers of this file are called, and what the reference dealer knows.
WALLET = REFERENCE = None
ctl = ctl_json = refused = None
ALL = []  # the names of the cases
SEEN_FAILING = set()

# A planted bug of the reference dealer -> what it must fail, and what is missing of 1000 then.
BROKEN = {
    "reject_unicode": ({"unicode"}, 0),
    "float_money": ({"bet-smallest", "bet-tenths", "cents", "win-tenths"}, 0),
    "debit_twice": ({"bet-again", "bet-copies"}, -2 - 14),
    "credit_twice": ({"win-thrice", "win-copies", "win-late-repeat", "cancelled-again"},
                     2 + 14 + 1 + 2),
    "refund_twice": ({"refund-again", "refund-copies"}, 2 + 14),
    "loss_credits": ({"loss", "loss-again", "loss-other"}, 3 + 2 + 1),
    "loss_once": ({"loss-again", "loss-other"}, 0),
    "no_tombstone": ({"tombstone"}, -2),
    "refund_unknown_credits": ({"refund-unknown", "tombstone"}, 2 + 2),
}
# These are of the dealer, whoever the user is.
BROKEN_FOR_ALL = {
    "signature_unchecked": (
        {"balance-unsigned", "balance-other-key", "bet-unsigned", "bet-other-key",
         "bet-cut-signature", "bet-altered", "bet-line-break", "bet-unsigned-first",
         "win-unsigned", "win-altered", "refund-unsigned"}, None),
    "kind_unchecked": ({"bet-as-refund", "bet-as-refund-bare", "result-as-bet",
                        "result-as-refund"}, None),
}
# The same of the other dealer, whose bugs are its own (cb_other_dealer.py).
OTHER_BROKEN = {
    "64_bits": {"odd-user-bet"},
    "amount_defaults": {"bet-incomplete"},
    "answer_before": {"bet-answer"},
    "closed_game": {"refund-after-result"},
    "else_win": {"unknown-result"},
    "error_text": {"balance-unknown-user", "balance-incomplete", "balance-no-json",
                   "bet-above-balance", "bet-refused-again", "refund-unknown", "tombstone"},
    "forgets_refusals": {"bet-refused-again"},
    "get_debits": {"get"},
    "header_as_written": {"header-case"},
    "known_is_ok": {"tombstone", "tombstone-after-bet"},
    "needs_win_amount": {"least"},
    "no_white_space": {"white-space"},
    "no_zero": {"win-of-nothing"},
    "one_bet_a_game": {"bet-addition", "bet-equal", "bet-tenths", "win-addition", "win-tenths",
                       "refund-one-of-two", "refund-after-result"},
    "ordered": {"reordered", "unknown-members"},
    "own_word": {"refund-unknown", "tombstone"},
    "prefix": {"bet-cut-signature"},
    "refunds_game": {"refund-one-of-two", "refund-after-result"},
    "remembers_last": {"win-late-repeat"},
    "remembers_unsigned": {"bet-unsigned-first"},
    "result_defaults": {"bet-as-result"},
    "says_html": {"content-type"},
    "short_decimals": {"cents"},
    "small_bodies": {"large-user-bet"},
    "stake_and_win": {"win-addition"},
    "strict": {"unknown-members"},
    "strips": {"bet-line-break", "white-space"},
    "user_bet_optional": {"refund-as-bet"},
}
# So much is wrong there that only the plainest cases are named.
OTHER_RUINED = {
    "forgets_currency": {"balance", "balance-again", "kept-connection", "bet", "win", "refund"},
    "free_bets": {"bet", "bet-again", "win", "refund"},
    "no_refunds": {"refund", "refund-again", "refund-copies", "tombstone-after-bet"},
    "no_wins": {"win", "win-thrice", "win-copies", "cancelled"},
}


def examined(casino_id, user_id, *words, wallet=None, code=0):
    """The exam's JSON; it must end with @code."""
    done = run("--config", (wallet or WALLET).config, "--json", "dealer", "test", casino_id,
               "--user", user_id, "--yes", *words, code=code)
    got = json.loads(done.stdout)
    equal("error" in got, code != 0, done.stdout)
    return got


def failing(got):
    return {row["name"] for row in got["cases"] if row["result"] != "passed"}


def judged(got, expected, what):
    """Just the @expected cases failed, and say why."""
    equal(failing(got), expected, f"{what}: " + "\n".join(
        f"{row['name']}: {row['why']}" for row in got["cases"] if row["why"]))
    for row in got["cases"]:
        equal(row["why"] != "", row["name"] in expected, f"{what}: {row}")
    equal((got["failed"], got["passed"], got["skipped"], got["not_run"]),
          (len(expected), len(ALL) - len(expected), 0, 0), what)
    SEEN_FAILING.update(expected)


def at_once(function, items):
    """The exam waits more than it works."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(function, *item) for item in items]:
            done.result()


@contextlib.contextmanager
def other_dealer(*bugs, wallet=None, words=(), user_id="bob"):
    """A dealer of the other kind; gives its name and itself."""
    wallet, port = wallet or WALLET, cb.free_port()
    made = wallet.dealer_add(new("other"), "--url", f"http://127.0.0.1:{port}", "--allow-http",
                             *words, mode="seamless")
    wallet.player_add(made.casino_id, user_id)
    with OtherDealer(port, made.key, user_id, bugs) as dealer:
        yield made.casino_id, dealer


def user_new():
    user = new("user")
    WALLET.player_add("demo", user)
    return user


# -- right dealers

def case_cases():
    """What is listed are the cases, without a ledger."""
    listed = json.loads(run("--json", "dealer", "test", "nobody", "--dry-run").stdout)["cases"]
    ALL.extend(row["name"] for row in listed)
    equal(len(set(ALL)), len(ALL), "each has a name of its own")
    check(len(ALL) >= 40, len(ALL))
    for row in listed:
        check(row["rule"].startswith(("spec ", "api ")) and row["expected"] and row["group"], row)
    text = run("dealer", "test", "nobody", "--dry-run").stdout
    equal(len(text.splitlines()), len(ALL) + 1, "a line for each, and the headings")


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
    # None of it is the ledger's, but for the trail.
    equal(ctl_json("check"), before, "the ledger")
    equal(ctl_json("bet", "list")["bets"], [], "no bets")
    equal(ctl_json("callback", "list")["callbacks"], [], "no callbacks")
    trail = ctl_json("audit")["audit"][0]
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
        judged(examined(name, "bob"), set(), "another right dealer")
        equal(dealer.book.balances, {"bob": 1000 * UNITS}, "its balance")
    # Its own word for a bet that it does not know, when that is set.
    with other_dealer("own_word", words=("--unknown-bet-ids", "no_such_bet")) as (name, _):
        judged(examined(name, "bob"), set(), "unknown bet ids")


def case_what_a_dealer_has():
    """Amounts have the dealer's decimals, and no more calls are made at once than it takes."""
    with other_dealer(words=("--decimals", "0", "--max-inflight", "1")) as (name, dealer):
        got = examined(name, "bob")
        skipped = {row["name"]: row["why"] for row in got["cases"] if row["result"] == "skipped"}
        equal(set(skipped), {"bet-tenths", "cents", "win-tenths", "bet-copies", "win-copies",
                             "refund-copies"}, "skipped")
        check("0 decimals" in skipped["cents"] and "at a time" in skipped["bet-copies"], skipped)
        equal((got["failed"], got["passed"], got["difference"]), (0, len(ALL) - 6, 0), "others")
        check(all(amount % UNITS == 0 for _, _, amount, _ in dealer.book.bets.values()), "amounts")
        tap = ctl("dealer", "test", name, "--user", "bob", "--yes", "--tap").stdout
        equal(len(re.findall(r"(?m)^ok \d+ - \S+ # SKIP \S", tap)), 6, tap)
    with other_dealer(words=("--decimals", "4")) as (name, dealer):
        judged(examined(name, "bob"), set(), "4 decimals")
        check(any(amount == 1 for _, _, amount, _ in dealer.book.bets.values()), "0.0001")


# -- wrong dealers

def case_broken():
    def broken(bug, expected, missing):
        user = user_new()
        REFERENCE.fault(bug, user_id=user)
        got = examined("demo", user, code=1)
        judged(got, expected, bug)
        equal(got["difference"], missing, f"{bug}: difference")
        equal(got["balance_after"], 1000 + missing, f"{bug}: balance")
        if bug != "float_money":
            equal(REFERENCE.balance(user), 1000 + missing, f"{bug}: the dealer's balance")
        moved = sum(row["moved"] for row in got["cases"] if row["has_money"])
        if bug != "float_money":
            equal(moved, missing, f"{bug}: what the cases moved")

    at_once(broken, [(bug, *row) for bug, row in BROKEN.items()])
    for bug, (expected, _) in BROKEN_FOR_ALL.items():
        user = user_new()
        REFERENCE.faults_clear()
        REFERENCE.fault(bug)
        got = examined("demo", user, code=1)
        judged(got, expected, bug)
        equal(got["balance_after"], REFERENCE.balance(user), f"{bug}: the dealer's balance")
        equal(got["difference"], REFERENCE.balance(user) - 1000, f"{bug}: difference")
        check(got["difference"] != 0, f"{bug} loses credit")
    REFERENCE.faults_clear()


def case_other_broken():
    def broken(bug, expected):
        with other_dealer(bug) as (name, dealer):
            got = examined(name, "bob", code=1)
            judged(got, expected, bug)
            equal(round(got["difference"] * UNITS), dealer.book.balances["bob"] - 1000 * UNITS,
                  f"{bug}: difference")

    at_once(broken, OTHER_BROKEN.items())


def case_other_ruined():
    def ruined(bug, expected):
        with other_dealer(bug) as (name, dealer):
            got = examined(name, "bob", code=1)
            check(expected <= failing(got), f"{bug}: {expected - failing(got)} passed")
            equal("difference" in got, bug != "forgets_currency", f"{bug}: the balance is known")
            if bug == "forgets_currency":
                equal(failing(got), set(ALL), "nothing can be said without a balance")
                check(dealer.book.bets == {}, "and nothing is moved")
        SEEN_FAILING.update(expected)

    at_once(ruined, OTHER_RUINED.items())
    with other_dealer("reads_once") as (name, _):
        got = examined(name, "bob", code=1)
        # How much of a large body comes at once is the kernel's business.
        check({"slow-body"} <= failing(got) <= {"slow-body", "large-user-bet"}, failing(got))
        SEEN_FAILING.add("slow-body")


def case_late():
    """Answers that come too late; the bet that may have arrived is refunded."""
    def late(name, user, expected, what):
        got = examined(name, user, wallet=wallet, code=1)
        judged(got, expected, what)
        equal(got["difference"], 0, f"{what}: what was not answered was made good")

    with contextlib.ExitStack() as stack:
        wallet = stack.enter_context(cb.Instance(
            "creditbridge-exam", settings={**LOOPBACK, "callback_timeout_ms": 2000}))
        _, reference = seamless_dealer(wallet, "demo")
        stack.enter_context(reference)
        other, _ = stack.enter_context(other_dealer("never_closes", wallet=wallet))
        for user in ("lena", "sam"):
            wallet.player_add("demo", user)
        reference.fault("late", user_id="lena", kind="betting-refund", ms=2500, times=1)
        reference.fault("slow", user_id="sam", kind="betting", ms=8000, times=1)
        at_once(late, [("demo", "lena", {"unicode", "in-time"}, "a late answer"),
                       ("demo", "sam", {"bet", "in-time"}, "a bet that is still to come"),
                       (other, "bob", {"last-of-connection", "in-time"}, "never_closes")])
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
        equal(results, [f"{'not ' if case == 'content-type' else ''}ok {number} - {case}"
                        for number, case in enumerate(ALL, 1)], "TAP")
        for word in ("# failed: balance: expected", "# rule: spec B3 rule 4", "# came: bet A:",
                     "# balance before 1000.00, after 1000.00, difference 0.00"):
            check(word in tap, f"{word} in {tap}")
        suite = xml.etree.ElementTree.parse(path).getroot()
        equal((suite.tag, suite.get("tests"), suite.get("failures"), suite.get("skipped"),
               suite.get("errors")), ("testsuite", str(len(ALL)), "1", "0", "0"), "JUnit")
        equal([case.get("name") for case in suite.iter("testcase")], ALL, "JUnit's cases")
        failures = {case.get("name"): case.find("failure").get("message")
                    for case in suite.iter("testcase") if case.find("failure") is not None}
        equal(set(failures), {"content-type"}, "JUnit's failures")
        check(failures["content-type"].startswith("balance: expected"), failures)
        out = suite.find("testcase[@name='win-thrice']/system-out").text
        check("rule: spec B3 rule 4" in out and "win B again: success 0.00" in out, out)
        text = ctl(*words, code=1)
        check(re.search(r"(?m)^win-thrice +passed +-2\.00 \+2\.00 0\.00 0\.00 +spec B3 rule 4 +the",
                        text.stdout), text.stdout)
        check(re.search(r"(?m)^failed content-type: balance: expected", text.stdout), text.stdout)
        check(re.search(r"(?m)^difference +0\.00$", text.stdout), text.stdout)
        check("creditbridgectl: exam_failed: 1 of" in text.stderr, text.stderr)
        calls = other.calls
        done = ctl(*words, "--junit", WALLET.dir / "none" / "report.xml", code=1)
        check("cannot write" in done.stderr, done.stderr)
        equal(other.calls, calls, "nothing was sent for a report that cannot be written")
        # Nor is a part of one left, when there is no room for all of it.
        done = subprocess.run(WALLET.ctl_argv(*words, "--junit", path), capture_output=True,
                              text=True, timeout=60, check=False, restore_signals=False,
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
        code, shown = on_terminal(WALLET, *words, answer="yes\n")
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
            out, errors = child.communicate(timeout=60)
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
        out, errors = child.communicate(timeout=90)
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
    ("another right dealer passes", case_other_passes),
    ("decimals and calls at a time", case_what_a_dealer_has),
    ("planted bugs fail the right cases", case_broken),
    ("so do those of the other dealer", case_other_broken),
    ("dealers with whom hardly anything is right", case_other_ruined),
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
        _, REFERENCE = seamless_dealer(WALLET, "demo", "--threads", "16")
        with REFERENCE:
            result = cb.run_cases(CASES, seconds=120)
    sys.exit(result)
