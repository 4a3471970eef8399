#!/usr/bin/python3
"""Did my transfer go through? transfer-inquire and its seal from outside, and races of a delayed transfer
against a seal, from two connections at once.

$SEAL_RACES is the number of races; $SEED chooses them.
"""
import concurrent.futures
import itertools
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import TRANSFER_IN, TRANSFER_OUT, check, equal  # noqa: E402
from cb_http import TRANSFER_INQUIRE  # noqa: E402

RACES = int(os.environ.get("SEAL_RACES") or 2000)
SEED = int(os.environ.get("SEED") or random.getrandbits(32))
PAIRS = 4  # callers of a transfer, each with one that seals it
WALLET = SERVER = DEALER = None
numbers = itertools.count(1)


def post(path, body, method="POST"):
    return cb.call(SERVER, method, path, body, dealer=DEALER)


def player():
    user = f"user-{next(numbers)}"
    WALLET.player_add(DEALER.casino_id, user)
    return user


def move(path, user, key, amount=None, **more):
    body = {"request_transaction_id": key, "user_id": user, **more}
    if amount is not None:
        body["amount"] = amount
    return post(path, body)


def inquire(key, method="POST", **more):
    return post(TRANSFER_INQUIRE, {"request_transaction_id": key, "request_timestamp": cb.now_ms(),
                                   **more}, method)


def without_request_id(body):
    return {name: value for name, value in body.items() if name != "request_id"}


def case_answers():
    user = player()
    for method in ("GET", "POST"):
        equal(inquire("a-0", method).json, {"request_transaction_id": "a-0", "state": "unknown"},
              "an id that no call used")
    move(TRANSFER_IN, user, "a-1", 100.5)
    move(TRANSFER_OUT, user, "a-2", 0.5)
    again = move(TRANSFER_IN, user, "a-1", 100.5)
    check(again.replayed, f"a repeat: {again}")
    for seal in (False, True):
        found = inquire("a-1", seal=seal)
        equal(found.body, b'{"request_transaction_id":"a-1","state":"done","transfer":' + again.body
              + b"}", "the stored answer, byte for byte")
        check(not found.replayed, "an inquiry is no replay")
    refused = move(TRANSFER_OUT, user, "a-3", 101)
    equal(refused.status, 402, f"{refused}")
    found = inquire("a-3", seal=True).json
    equal((found["state"], sorted(found)), ("refused", ["error", "request_transaction_id", "state"]),
          f"{found}")
    equal(list(found["error"]), list(refused.json), "members of the error, in their order")
    equal(without_request_id(found["error"]), without_request_id(refused.json), "the error")


def case_seal():
    user = player()
    for _ in range(2):
        equal(inquire("s-1", seal=True).json, {"request_transaction_id": "s-1", "state": "sealed"},
              "an unknown id")
    for path, more in ((TRANSFER_IN, {"amount": 1}), (TRANSFER_OUT, {"amount": 2}),
                       (TRANSFER_OUT, {"all": True})):
        late = move(path, user, "s-1", **more)
        equal((late.status, late.json["id"], late.json["retryable"], late.replayed),
              (409, "transaction_sealed", False, False), f"a call that comes late: {late}")
    equal(inquire("s-1").json["state"], "sealed", "later")
    shown = WALLET.ctl("transfer", "show", DEALER.casino_id, "s-1")
    check("transaction_sealed" in shown and "player" not in shown, shown)
    shown = json.loads(WALLET.ctl("--json", "transfer", "show", DEALER.casino_id, "s-1"))
    equal((shown["casino_id"], shown["user_id"], shown["entry"], shown["request"]["outcome"],
           shown["request"]["player_id"]), (DEALER.casino_id, "", None, "transaction_sealed", ""),
          f"{shown}")


def case_by_hand():
    """`creditbridgectl request` makes the same calls."""
    user = player()
    url = ("--url", SERVER.base_url)

    def request(*words):
        return json.loads(json.loads(WALLET.ctl("--json", "request", DEALER.casino_id, *words,
                                                *url))["body"])

    equal(request("transfer-inquire", "--reference", "h-1")["state"], "unknown", "without --seal")
    equal(request("transfer-inquire", "--reference", "h-1", "--seal")["state"], "sealed", "--seal")
    request("transfer-in", "--user", user, "--amount", "7.25", "--reference", "h-2")
    equal(request("transfer-inquire", "--reference", "h-2")["transfer"]["amount"], 7.25, "done")
    equal(request("transfer-out", "--user", user, "--amount", "all")["amount"], 7.25, "all")
    for words in (("transfer-inquire",), ("transfer-inquire", "--reference", "h", "--user", user),
                  ("balance", "--user", user, "--seal"),
                  ("transfer-in", "--user", user, "--amount", "all")):
        equal(WALLET.ctl_run("request", DEALER.casino_id, *words, *url).returncode, 2, f"{words}")


def case_all():
    user = player()
    equal(move(TRANSFER_OUT, user, "o-0", all=True).json["id"], "insufficient_balance", "of nothing")
    move(TRANSFER_IN, user, "o-1", 12.34)
    done = move(TRANSFER_OUT, user, "o-2", all=True)
    equal((done.status, done.json["amount"], done.json["before_balance"],
           done.json["current_balance"]), (200, 12.34, 12.34, 0), f"{done}")
    move(TRANSFER_IN, user, "o-3", 5)
    again = move(TRANSFER_OUT, user, "o-2", all=True)
    check(again.replayed and again.body == done.body, f"a repeat: {again}")
    for more in ({"amount": 12.34}, {"amount": 12.34, "all": False}):
        other = move(TRANSFER_OUT, user, "o-2", **more)
        equal((other.status, other.json.get("field")), (409, "amount"), f"{more}: {other}")
    for more, detail in (({}, "amount: is required"), ({"all": False}, "amount: is required"),
                         ({"all": True, "amount": 1}, "amount: must be absent with all"),
                         ({"all": "yes"}, "all: must be true or false")):
        bad = move(TRANSFER_OUT, user, "o-4", **more)
        equal((bad.status, bad.json["detail"]), (400, detail), f"{more}")
    # To a transfer in the member is unknown.
    equal(move(TRANSFER_IN, user, "o-5", all=True).json["detail"], "amount: is required", "in")


def case_bad():
    stale = post(TRANSFER_INQUIRE, {"request_transaction_id": "b-1", "seal": True,
                                    "request_timestamp": cb.now_ms() - 400_000})
    equal(stale.json["id"], "stale_request", "an old call")
    equal(inquire("b-1").json["state"], "unknown", "what a stale call sealed")
    for body, detail in (({"request_timestamp": cb.now_ms()}, "request_transaction_id: is required"),
                         ({"request_transaction_id": "b"}, "request_timestamp: is required"),
                         ({"request_transaction_id": "b", "request_timestamp": cb.now_ms(),
                           "seal": 1}, "seal: must be true or false")):
        answer = post(TRANSFER_INQUIRE, body)
        equal((answer.status, answer.json["detail"]), (400, detail), f"{body}")
    for path, body, member in (
            (TRANSFER_INQUIRE, {"request_transaction_id": "b"}, "request_timestamp"),
            (TRANSFER_OUT, {"request_transaction_id": "b", "user_id": "nobody"}, "amount")):
        answer = post(path, body)
        told = cb.wait_until(lambda request_id=answer.json["request_id"]: explained(request_id), 10,
                             "the ledger keeps the request")
        equal((told["path"], told["findings"][0]["cause"]), (path, "field_absent"), f"{told}")
        check(member in told["findings"][0]["found"], f"{told}")


def explained(request_id):
    done = WALLET.ctl_run("--json", "explain", request_id)
    return json.loads(done.stdout) if done.returncode == 0 else None


# -- races


class Race:
    """A transfer and a seal of its id, each from its own connection, at the same moment."""

    def __init__(self, number, chance):
        self.key = f"race-{number}"
        self.user = USERS[number % len(USERS)]
        self.out = chance.random() < 0.2
        self.body = {"request_transaction_id": self.key, "user_id": self.user}
        self.body.update({"all": True} if self.out and chance.random() < 0.5 else
                         {"amount": chance.randint(1, 40)})
        self.copies = chance.choice((1, 1, 1, 2))
        self.seal_first = chance.random() < 0.5

    def calls(self, pool):
        """The answers of the transfer's copies, and the seal's."""
        path = TRANSFER_OUT if self.out else TRANSFER_IN
        sent = [lambda: post(path, self.body)] * self.copies
        sent.insert(0 if self.seal_first else len(sent), lambda: inquire(self.key, seal=True))
        answers = [future.result() for future in [pool.submit(call) for call in sent]]
        seal = answers.pop(0 if self.seal_first else -1)
        return answers, seal


def judge(race, answers, seal):
    """The state; the answers agree on it."""
    equal(seal.status, 200, f"{race.key}: the seal {seal}")
    state = seal.json["state"]
    wanted = {"done": 200, "refused": 402, "sealed": 409}
    check(state in wanted, f"{race.key}: {seal}")
    equal([answer.status for answer in answers], [wanted[state]] * len(answers),
          f"{race.key}, {state}: {answers}")
    if state == "sealed":
        equal({answer.json["id"] for answer in answers}, {"transaction_sealed"}, race.key)
    if state == "done":
        equal({answer.body for answer in answers}, {seal.body.split(b'"transfer":')[1][:-1]},
              f"{race.key}: the answers")
        equal(sum(not answer.replayed for answer in answers), 1, f"{race.key}: first answers")
    later = inquire(race.key, seal=True)
    equal(later.json["state"], state, f"{race.key}: later")
    return state


def run_races(numbers_of):
    chance = random.Random(SEED + numbers_of[0])
    found = []
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for number in numbers_of:
            race = Race(number, chance)
            answers, seal = race.calls(pool)
            state = judge(race, answers, seal)
            if state == "done":
                moved = answers[0].json["amount"]
                found.append((state, race.user, -moved if race.out else moved))
            else:
                found.append((state, race.user, 0))
    return found


def case_races():
    global USERS
    USERS = [player() for _ in range(8)]
    print(f"# SEED={SEED}, {RACES} races")
    parts = [range(1 + first, RACES + 1, PAIRS) for first in range(PAIRS)]
    with concurrent.futures.ThreadPoolExecutor(PAIRS) as pool:
        found = [row for rows in pool.map(run_races, parts) for row in rows]
    equal(len(found), RACES, "races")
    states = {state: sum(row[0] == state for row in found) for state in ("done", "refused", "sealed")}
    print(f"# {states}")
    check(min(states["done"], states["sealed"]) > RACES / 50, f"both win at times: {states}")
    for user in USERS:
        books = sum(amount for _, name, amount in found if name == user)
        equal(json.loads(WALLET.ctl("--json", "player", "show", DEALER.casino_id, user))["balance"],
              books, f"SEED={SEED}: the balance of {user} is that of the answers")


def case_forged():
    """No import takes a sealed key that names a player, or another key that names none."""
    file, bad = WALLET.dir / "forged.jsonl", WALLET.dir / "bad.jsonl"
    WALLET.ctl("export", str(file))
    lines = file.read_text().splitlines()
    for outcome, change, why in (
            ("transaction_sealed", {"player_id": "a" * 20}, "player_id must be empty in a sealed"),
            ("transaction_sealed", {"amount": "1.0000"}, "a sealed request or a batch has moved something"),
            ("insufficient_balance", {"player_id": ""}, "player_id must be 20 lower-case")):
        at, row = next((at, row) for at, row in enumerate(map(json.loads, lines))
                       if row.get("record") == "request" and row["outcome"] == outcome)
        bad.write_text("\n".join([*lines[:at], json.dumps({**row, **change}), *lines[at + 1:]]) + "\n")
        with cb.Instance("seal-forged", start=False) as other:
            done = other.ctl_run("import", str(bad))
            check(done.returncode == 1 and why in done.stderr, f"{change}: {done}")


def case_books():
    """check proves the keys, also those that came by an export and an import."""
    WALLET.ctl("check")
    file = WALLET.dir / "export.jsonl"
    WALLET.ctl("export", str(file))
    with cb.Instance("seal-import", start=False) as other:
        other.ctl("import", str(file))
        other.start()
        other.ctl("check")
        shown = json.loads(other.ctl("--json", "transfer", "show", DEALER.casino_id, "s-1"))
        equal(shown["request"]["outcome"], "transaction_sealed", "the seal, imported")


USERS = []
CASES = [
    ("what became of a transfer", case_answers),
    ("a sealed id moves nothing", case_seal),
    ("the whole balance", case_all),
    ("by hand", case_by_hand),
    ("bad requests", case_bad),
    ("races of a delayed transfer against a seal", case_races),
    ("a forged seal", case_forged),
    ("the books", case_books),
]

if __name__ == "__main__":
    with cb.Instance("seal-test") as WALLET, cb.Lighttpd(WALLET) as SERVER:
        DEALER = WALLET.dealer_add("demo")
        result = cb.run_cases(CASES, seconds=max(120, RACES // 50))
    sys.exit(result)
