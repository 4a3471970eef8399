#!/usr/bin/python3
"""Refused calls on disk: `refused list` and `explain` find each 4xx by each filter, before and after a kill.

A call is made for each code on the real service, and then found by dealer, player, reference, id and time.
The ledger's engine is killed with SIGKILL, and then the ledger is started again. The dispute "my deposit did
not arrive" is solved by one or two commands.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_ctl  # noqa: E402
import cb_support  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_platform import BETS, client_add, platform_call  # noqa: E402

WAIT_S = 20
FLOOD = 1500  # calls of the flooding dealer, in this suite; tests/ledger floods with 100,000
FLOOD_THREADS = 8
SECRET = "only-in-a-body-4f1c"


class Desk:
    """The service, and what its operator types."""

    def __init__(self, wallet, server):
        self.wallet, self.server = wallet, server
        self.ctl, self.ctl_json, self.refused = cb_ctl.bind(wallet)
        self.dealer = wallet.dealer_add("demo", "--rate-limit", "40")
        self.other = wallet.dealer_add("quiet")
        for casino, user in (("demo", "bob"), ("demo", "alice"), ("quiet", "carol")):
            wallet.player_add(casino, user)
        self.calls = {}

    def listed(self, *words):
        return self.ctl_json("refused", "list", "--limit", "0", *words)["refused"]

    def wait_listed(self, *words, count=1):
        """The calls that the filter finds; a worker sends them a moment after the answer."""
        wait_until(lambda: len(self.listed(*words)) >= count, WAIT_S, f"refused list {words}")
        return self.listed(*words)

    def send(self, name, path, body, status, error, *, dealer=None, casino="demo", **options):
        """A call that is refused. Remembers how it is found."""
        request_id = f"refused-{name}"
        answer = cb.call(self.server, "POST", path, body, dealer=dealer or self.dealer,
                         headers=[("X-Request-Id", request_id)], **options)
        equal((answer.status, answer.json["id"]), (status, error), f"{name}: {answer}")
        parsed = body if isinstance(body, dict) else {}
        self.calls[name] = {
            "request_id": request_id, "code": status, "id": error, "casino_id": casino,
            "user_id": parsed.get("user_id", ""),
            "request_transaction_id": parsed.get("request_transaction_id", ""),
            "amount": str(parsed.get("amount", ""))}
        return answer


def transfer(reference, user="bob", amount=10.25, **more):
    return {"amount": amount, "request_transaction_id": reference, "user_id": user,
            "remark": SECRET, **more}


def case_each_code(desk):
    """401, 402, 404, 409, 413 and 429 are listed with what support looks for."""
    desk.send("401", cb.TRANSFER_IN, transfer("r-401"), 401, "invalid_signature", signature="0" * 64)
    desk.send("402", cb.TRANSFER_OUT, transfer("r-402"), 402, "insufficient_balance")
    desk.send("404", cb.TRANSFER_IN, transfer("r-404", user="Bob"), 404, "user_not_found")
    first = cb.call(desk.server, "POST", cb.TRANSFER_IN, transfer("r-409"), dealer=desk.dealer)
    equal(first.status, 200, f"{first}")
    desk.send("409", cb.TRANSFER_IN, transfer("r-409", amount=11.5), 409, "transaction_conflict")
    desk.send("413", cb.TRANSFER_IN, b" " * 70000, 413, "payload_too_large")
    desk.send("path", "/wallet-service/credit/transfer-on", transfer("r-path"), 404, "not_found")
    for number in range(400):
        body = transfer("r-429", user="alice")
        answer = cb.call(desk.server, "POST", cb.TRANSFER_OUT, body, dealer=desk.dealer,
                         headers=[("X-Request-Id", f"refused-429-{number}")])
        if answer.status == 429:
            break
    equal(answer.json["id"], "rate_limited", f"{answer}")
    desk.calls["429"] = {
        "request_id": f"refused-429-{number}", "code": 429, "id": "rate_limited",
        "casino_id": "demo", "user_id": "alice", "request_transaction_id": "r-429",
        "amount": "10.25"}
    found_by_each_filter(desk)


def found_by_each_filter(desk):
    for name, call in desk.calls.items():
        filters = [("--id", call["request_id"]), ("--casino", "demo"),
                   ("--since", str(cb.now_ms() - 3600_000))]
        if call["user_id"]:
            filters += [("--user", call["user_id"]), ("--casino", "demo", "--user", call["user_id"])]
        if call["request_transaction_id"]:
            filters.append(("--reference", call["request_transaction_id"]))
        desk.wait_listed("--id", call["request_id"])
        for words in filters:
            rows = [row for row in desk.listed(*words) if row["request_id"] == call["request_id"]]
            equal(len(rows), 1, f"{name} by {words}")
            row, = rows
            equal({key: row[key] for key in call}, call, f"{name} by {words}")
            equal(row["proved"], name not in ("401", "413", "path"), f"{name}: proved")
            equal(row["address"], "127.0.0.1", f"{name}: address")
        for words in (("--casino", "quiet"), ("--user", "no-such"), ("--reference", "no-such"),
                      ("--since", str(cb.now_ms() + 3600_000)), ("--until", "2020-01-01")):
            equal(desk.listed(*words), [], f"{name} is not found by {words}")
    rows = desk.listed()
    times = [row["time_ms"] for row in rows]
    equal(times, sorted(times, reverse=True), "the newest first")


def explained(desk):
    """`explain` works from each row."""
    for name, call in desk.calls.items():
        shown = desk.ctl_json("explain", call["request_id"])
        equal((shown["code"], shown["id"]), (call["code"], call["id"]), name)
        check(shown["findings"] and shown["findings"][0]["remedy"] and shown["owed"] and shown["next"],
              f"{name}: {shown}")
        text = desk.ctl("explain", call["request_id"]).stdout
        check("\ncause    " in text and "\nowed     " in text and "\nnext     " in text, text)
        if call["request_transaction_id"]:
            same = desk.ctl_json("explain", "--casino", "demo", "--reference",
                                 call["request_transaction_id"])
            equal(same["code"], call["code"], f"{name}, by reference")
    causes = {name: desk.ctl_json("explain", call["request_id"])["findings"][0]["cause"]
              for name, call in desk.calls.items()}
    equal({name: causes[name] for name in ("402", "404", "409", "413", "429", "path")},
          {"402": "balance_low", "404": "user_misspelt", "409": "reference_reused",
           "413": "body_too_large", "429": "rate_exceeded", "path": "path_unknown"}, "the causes")
    return causes


def case_explained(desk):
    equal(explained(desk)["401"], "signature_unexplained", "with its body")


def case_killed(desk):
    """The engine is killed; then the ledger is stopped and started."""
    for pid in desk.wallet.engine_pids():
        os.kill(pid, signal.SIGKILL)
    found_by_each_filter(desk)
    equal(explained(desk)["401"], "signature_wrong", "without its body")
    desk.wallet.stop()
    desk.wallet.start()
    found_by_each_filter(desk)
    shown = desk.ctl_json("explain", desk.calls["404"]["request_id"])
    check("there is a player 'bob'" in shown["findings"][0]["found"], f"{shown}")


def case_torn(desk):
    """The newest file ends in the middle of a call: the other calls are there, and new ones follow."""
    before = len(desk.listed())
    desk.wallet.stop()
    newest = max((desk.wallet.state / "refused").iterdir())
    with open(newest, "ab") as file:
        file.write(newest.read_bytes()[8:60])
    desk.wallet.start()
    equal(len(desk.listed()), before, "none lost, none twice")
    desk.send("after", cb.TRANSFER_OUT, transfer("r-after", amount=1000), 402, "insufficient_balance")
    desk.wait_listed("--reference", "r-after")
    equal(len(desk.listed()), before + 1, "the next call")


def case_disputes(desk):
    """My deposit did not arrive: refused with 401, and with 404. At most two commands."""
    shown = desk.ctl("explain", "--casino", "demo", "--reference", "r-401").stdout
    check("401 invalid_signature" in shown and "the platform owes nothing" in shown and
          "the dealer owes bob that amount" in shown and "10.25" in shown and
          "sends the call again with the same request_transaction_id" in shown, shown)
    rows = desk.listed("--casino", "demo", "--user", "Bob")
    equal([row["request_transaction_id"] for row in rows], ["r-404"], "by the player as sent")
    shown = desk.ctl("explain", "--casino", "demo", "--user", "Bob").stdout
    check("there is a player 'bob'" in shown and "the dealer owes Bob that amount" in shown, shown)
    # The call was repeated rightly: both sides are even.
    sent = cb.call(desk.server, "POST", cb.TRANSFER_IN, transfer("r-401"), dealer=desk.dealer)
    equal(sent.status, 200, f"{sent}")
    shown = desk.ctl_json("explain", "--casino", "demo", "--reference", "r-401")
    check(str(sent.json["transaction_id"]) in shown["owed"] and "no side owes" in shown["owed"],
          f"{shown}")
    # It was never refused.
    shown = desk.ctl_json("explain", "--casino", "demo", "--reference", "r-409")
    check("no side owes" in shown["owed"], f"{shown}")


def case_support_page(desk):
    """doc/support.md shows the refused deposits as `explain` prints them; --write writes them anew."""
    desk.send("page-401", cb.TRANSFER_IN, transfer("in-2", user="alice"), 401, "invalid_signature", signature="0" * 64)
    desk.send("page-404", cb.TRANSFER_IN, transfer("in-3", user="Alice"), 404, "user_not_found")
    for reference in ("in-2", "in-3"):
        desk.wait_listed("--reference", reference)
    chapters = cb_support.compare(desk.ctl, lambda command: command == "explain", {})
    shown = "".join(chapters["The call was refused"])
    check("401 invalid_signature" in shown and "404 user_not_found" in shown, f"{chapters}")


def near(desk, *words):
    done = desk.wallet.ctl_run(*words)
    return done.returncode, done.stderr


def case_near(desk):
    """Nothing is found: what is near is named."""
    for words, text in ((("--user", "BOB"), "there is a player 'bob'"),
                        (("--user", "bobb"), "there is a player 'bob'"),
                        (("--user", " alice"), "there is a player 'alice'"),
                        (("--user", "alcie"), "there is a player 'alice'"),
                        (("--reference", "r-40"), "reference 'r-40"),
                        (("--reference", "R-402"), "reference 'r-402'")):
        code, shown = near(desk, "refused", "list", "--casino", "demo", *words)
        check(code == 0 and text in shown, f"{words}: {shown}")
        code, shown = near(desk, "explain", "--casino", "demo", *words)
        check(code == 1 and "not_kept" in shown and text in shown, f"{words}: {shown}")
    # The call named the player in another way than the player is registered.
    desk.ctl("player", "add", "demo", "carl")
    desk.send("near", cb.TRANSFER_IN, transfer("r-near", user="Carl "), 404, "user_not_found")
    desk.wait_listed("--reference", "r-near")
    code, shown = near(desk, "explain", "--casino", "demo", "--user", "carl")
    check(code == 1 and "there is a refused call of the player 'Carl '" in shown, shown)
    code, shown = near(desk, "refused", "list", "--casino", "dem")
    check(code == 0 and "there is 'demo'" in shown, shown)
    code, shown = near(desk, "explain", "--casino", "demo", "--user", "zoe")
    check(code == 1 and "there is" not in shown, shown)
    for words in (("explain",), ("explain", "x", "--casino", "demo", "--user", "bob"),
                  ("explain", "--casino", "demo"), ("explain", "--user", "bob")):
        equal(desk.wallet.ctl_run(*words).returncode, 2, f"{words}")


def case_cut(desk):
    """A list that is cut says so."""
    total = len(desk.listed("--casino", "demo"))
    code, shown = near(desk, "refused", "list", "--casino", "demo", "--limit", "2")
    check(code == 0 and f"2 of {total}; --limit" in shown, shown)
    code, shown = near(desk, "refused", "list", "--casino", "demo", "--limit", "0")
    check(code == 0 and " of " not in shown, shown)
    table = desk.ctl("refused", "list", "--id", "refused-401").stdout
    check(re.search(r"401 +invalid_signature +demo\? +bob +r-401 +10.25 +refused-401 +127.0.0.1", table),
          table)


def case_platform(desk):
    """A game server's call is found by the dealer and the player it names, also by player_id."""
    client = client_add(desk.wallet, "slots")
    player_id = desk.ctl_json("player", "show", "demo", "alice")["player_id"]
    bet = {"request_transaction_id": "b-1", "player_id": player_id, "game_id": "g-1", "bet_amount": 5,
           "remark": "", "user_bet": {}}
    answer = platform_call(desk.server, BETS, bet, client=client,
                           headers=[("X-Request-Id", "refused-bet")])
    equal(answer.status, 402, f"{answer}")
    row, = [row for row in desk.wait_listed("--reference", "b-1")]
    equal((row["caller_id"], row["game_id"], row["amount"], row["of"]), ("slots", "g-1", "5", "clients"),
          f"{row}")
    check(row in desk.listed("--casino", "demo", "--user", "alice"), "by the player")
    shown = desk.ctl_json("explain", "refused-bet")
    check("took no stake" in shown["owed"], f"{shown}")
    desk.wait_listed("--client", "slots")
    equal(ids(desk, "--client", "slots"), {"refused-bet"}, "by the game server")
    equal(ids(desk, "--client", "slots", "--error", "user_not_found"), set(), "with another error")
    equal(ids(desk, "--client", "demo"), set(), "a dealer's calls are of no game server")
    code, shown = near(desk, "refused", "list", "--client", "slot")
    check(code == 0 and "no game server of that id, but there is 'slots'" in shown, shown)


def case_casino_user(desk):
    """--user CASINO/USER means both filters. With --casino the text is the user_id of the call."""
    both = ids(desk, "--casino", "demo", "--user", "bob")
    check({"refused-401", "refused-402"} <= both, f"{both}")
    equal(ids(desk, "--user", "demo/bob"), both, "demo/bob")
    equal(ids(desk, "--user", "quiet/bob"), set(), "quiet/bob")
    equal(ids(desk, "--user", "demo/Bob"), {"refused-404"}, "a player that does not exist")
    check("refused-bet" in ids(desk, "--user", "demo/alice"), "by the player_id")
    text = desk.ctl("explain", "--user", "demo/Bob").stdout
    check("there is a player 'bob'" in text, text)
    for command in (("refused", "list"), ("transfer", "list"), ("explain",)):
        done = desk.refused("user_not_found", *command, "--casino", "demo", "--user", "quiet/carol")
        check("dealer 'demo' has no player 'quiet/carol'" in done.stderr, f"{command}: {done.stderr}")
        check("is not" in desk.ctl(*command, "--user", "a b/bob", code=2).stderr, f"{command}: a b")
    # An id with a slash, which names no dealer.
    desk.send("slash", cb.TRANSFER_IN, transfer("r-slash", user="room/7"), 404, "user_not_found")
    desk.wait_listed("--reference", "r-slash")
    equal(ids(desk, "--casino", "demo", "--user", "room/7"), {"refused-slash"}, "a slash in an id")
    # A player of the dealer whose id begins as another dealer's.
    desk.wallet.player_add("demo", "quiet/carol")
    equal(ids(desk, "--casino", "demo", "--user", "quiet/carol"), set(), "that is a player")


def ids(desk, *words):
    return {row["request_id"] for row in desk.listed(*words)}


def case_cause(desk):
    """--error and --why select what the console's filters select; a word that does not exist is refused."""
    rows = desk.listed()
    for error in sorted({row["id"] for row in rows}):
        equal(ids(desk, "--error", error), {row["request_id"] for row in rows if row["id"] == error}, error)
    for why in ("none", "headers", "unknown_caller", "signature", "stale_request", "flood"):
        wanted = {row["request_id"] for row in rows if row["why"] == ("" if why == "none" else why)}
        equal(ids(desk, "--why", why), wanted, why)
    check({"signature", ""} <= {row["why"] for row in rows}, "the causes of this suite")
    equal(ids(desk, "--casino", "demo", "--error", "invalid_signature", "--why", "signature",
              "--reference", "r-401"), {"refused-401"}, "together")
    for words, text in ((("--error", "insufficient_balanse"), "did you mean 'insufficient_balance'?"),
                        (("--error", ""), "is no error id"), (("--why", "sig"), "flood; not 'sig'"),
                        (("--why", ""), "--why takes"), (("--client", "a b"), "is not a client id")):
        code, shown = near(desk, "refused", "list", *words)
        check(code == 2 and text in shown, f"{words}: {code} {shown}")


def case_flood(desk):
    """One dealer's flood leaves another dealer's call where it is, and a stranger's flood a dealer's."""
    desk.send("quiet", cb.TRANSFER_OUT, transfer("q-1", user="carol"), 402, "insufficient_balance",
              dealer=desk.other, casino="quiet")
    desk.ctl("dealer", "set", "demo", "--rate-limit", "0")

    def one(number):
        return cb.call(desk.server, "POST", cb.TRANSFER_OUT, transfer(f"flood-{number}", amount=1000),
                       dealer=desk.dealer,
                       signature="0" * 64 if number % 2 else None).status
    with concurrent.futures.ThreadPoolExecutor(FLOOD_THREADS) as pool:
        begun = time.monotonic()
        statuses = list(pool.map(one, range(FLOOD)))
    print(f"# {FLOOD} refused calls in {time.monotonic() - begun:.1f} s")
    check(set(statuses) <= {401, 402, 429}, f"{set(statuses)}")
    desk.send("quiet2", cb.TRANSFER_OUT, transfer("q-2", user="carol"), 402, "insufficient_balance",
              dealer=desk.other, casino="quiet")
    desk.wait_listed("--casino", "quiet", count=2)
    kept = len(desk.listed("--casino", "demo", "--user", "bob"))
    check(kept >= FLOOD // 2, f"{kept} of the flood")
    size = sum(path.stat().st_size for path in (desk.wallet.state / "refused").iterdir())
    check(size <= 1.3 * 1024 * 1024, f"{size} bytes of 1 MiB")
    status = desk.ctl_json("status")
    check(0 < status["refused_bytes"] <= 1.3 * 1024 * 1024 and status["refused_bytes_max"] == 1024 * 1024,
          f"{status}")
    check(re.search(r"refused calls +[0-9.]+ [KM]iB", desk.ctl("status").stdout), "status")
    metrics = desk.ctl("metrics").stdout
    sent = int(re.search(r'creditbridge_refused_calls_total\{outcome="sent"\} (\d+)', metrics).group(1))
    check(sent >= FLOOD // 2 and "creditbridge_refused_calls_bound_bytes 1048576" in metrics, metrics)


def files_with(folder, word):
    return [path for path in pathlib.Path(folder).rglob("*")
            if path.is_file() and word.encode() in path.read_bytes()]


def case_nothing_else(desk):
    """No body, signature or key is in the files; they are in no backup and no export."""
    refused = desk.wallet.state / "refused"
    check(files_with(refused, "r-401"), "the reference of a call is there")
    for word in (SECRET, "0" * 64, desk.dealer.key):
        equal(files_with(refused, word), [], "in the files")
    equal([oct(path.stat().st_mode & 0o777) for path in (refused, *refused.iterdir())
           if path.stat().st_mode & 0o077], [], "modes")
    exported = desk.ctl("export").stdout
    check("refused-401" not in exported, "an export has no refused call")
    backup = desk.wallet.dir / "backup"
    backup.mkdir(mode=0o700)
    owner = os.stat(desk.wallet.state)
    os.chown(backup, owner.st_uid, owner.st_gid)
    desk.ctl("backup", backup)
    equal(files_with(backup, "refused-401"), [], "a backup has no refused call")


def case_off(desk):
    """refused_keep_mib = 0 keeps none, and deletes what was kept."""
    desk.wallet.stop()
    desk.wallet.write_config({"refused_keep_mib": 0})
    desk.wallet.start()
    done = desk.wallet.ctl_run("--json", "refused", "list")
    equal(json.loads(done.stdout), {"refused": []}, "none")
    check("refused_keep_mib is 0" in done.stderr, done.stderr)
    equal(list((desk.wallet.state / "refused").iterdir()), [], "no file")


def main():
    with cb.Instance("refused-test", settings={"refused_keep_mib": 1}) as wallet:
        server = cb.Lighttpd(wallet)
        desk = Desk(wallet, server)
        return cb.run_cases([(name, lambda case=case: case(desk)) for name, case in (
            ("each code is found by each filter", case_each_code),
            ("each call is explained", case_explained),
            ("after a kill and a restart", case_killed),
            ("a torn file", case_torn),
            ("my deposit did not arrive", case_disputes),
            ("the page for support", case_support_page),
            ("what is near", case_near),
            ("a list that is cut", case_cut),
            ("game servers", case_platform),
            ("CASINO/USER", case_casino_user),
            ("by error and cause", case_cause),
            ("a flood", case_flood),
            ("nothing else is kept", case_nothing_else),
            ("off", case_off),
        )], seconds=90)


if __name__ == "__main__":
    sys.exit(main())
