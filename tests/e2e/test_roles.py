#!/usr/bin/python3
"""People without root: the groups read_group and support_group list, show, and send callbacks again.

The ledger decides by the groups that the kernel reports. The users and groups of this suite are bare
numbers, so that it needs no account. Needs root, to be other users.
"""
import contextlib
import hashlib
import hmac
import json
import os
import stat
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import Skip, check, equal, run_cases, wait_until  # noqa: E402
from cb_codec import pack, unpack  # noqa: E402
from cb_ctl import lone_dealer, new  # noqa: E402
from cb_link import COMMANDS as ALL_COMMANDS, DONE, Closed, Link  # noqa: E402
from cb_refusals import refusals  # noqa: E402
from cb_worker import SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

# No role is needed for what only desk.sock carries (tests/e2e/test_desk.py).
COMMANDS = {name: command for name, command in ALL_COMMANDS.items() if command.socket not in ("DESK", "NONE")}
READ, SUPPORT = 54331, 54332  # groups that no other process has
ANN, BOB, EVE = 60001, 60002, 60003  # support; read; neither
GROUPS = {ANN: [SUPPORT], BOB: [READ], EVE: []}
ROLES = {ANN: "support", BOB: "read", 0: "admin"}
SETTINGS = {"read_group": str(READ), "support_group": str(SUPPORT), "callback_lease_ms": 20000,
            "result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
NOT_PERMITTED = 77
ACL, NO_ID = "system.posix_acl_access", 0xffffffff
STAFF_MAX = 24  # SERVER_STAFF_MAX
READS = {"status", "metrics", "dealer_state", "activity", "callback_ages", "list", "feed", "find",
         "refused_list", "replay_preview"}
MAY = {"read": READS, "support": READS | {"refused_find", "key_try", "callback_operate", "replay_start",
                                                   "replay_stop"}}
# Commands that would end or change the ledger under the other cases, also as root.
NOT_AS_ROOT = {"resume", "backup", "callback_wait"}


@contextlib.contextmanager
def person(uid):
    """Within it this process is @uid with its groups. The kernel notes that when it connects."""
    before = os.getgroups()
    os.setgroups(GROUPS[uid])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


def link_as(wallet, uid):
    if not uid:
        return Link(wallet.sockets / "admin.sock")
    with person(uid):
        return Link(wallet.sockets / "admin.sock")


def ctl_as(wallet, uid, *words, gid=None, groups=None, environment=None):
    groups = GROUPS[uid] if groups is None else groups
    return subprocess.run(
        ["setpriv", f"--reuid={uid}", f"--regid={gid or uid}",
         f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups",
         *wallet.ctl_argv(*words)], capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False,
        stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})


def done_as(wallet, uid, *words, **options):
    done = ctl_as(wallet, uid, "--json", *words, **options)
    equal(done.returncode, 0, f"{words} of user {uid}: {done.stderr}")
    return json.loads(done.stdout)


def refused_as(wallet, uid, role, *words, **options):
    done = ctl_as(wallet, uid, "--json", *words, **options)
    equal(done.returncode, NOT_PERMITTED, f"{words} of user {uid}: {done}")
    error = json.loads(done.stdout)["error"]
    equal(error["id"], "role_needed", words)
    check(f"this needs the role {role}, and user {uid} has the role {ROLES[uid]}" in
          error["detail"], f"{words}: {error}")


def state_of(wallet):
    """The data that a refused command must not change."""
    status = wallet.ctl_json("status")
    return status["commits"], status["last_transaction_id"], wallet.ctl_json("audit", "--limit", 1)


def case_each_command_and_role(wallet):
    for uid, role in ROLES.items():
        may = COMMANDS.keys() - NOT_AS_ROOT if role == "admin" else MAY[role]
        before = state_of(wallet)
        with link_as(wallet, uid) as link:
            if uid:
                for name in sorted(COMMANDS.keys() - may):
                    frame = link.call(name, pack(name))
                    equal(frame.outcome, DONE, f"{name} as {role}")
                    equal(refusal_of(name, frame), "role_needed", f"{name} as {role}")
                equal(state_of(wallet), before, f"what the role {role} changed")
            for name in sorted(may):
                frame = link.call(name, pack(name))
                check(not frame.payload or refusal_of(name, frame) != "role_needed",
                      f"{name} as {role}")


def refusal_of(name, frame):
    return refusals()[unpack(name, frame.payload).verdict.refusal][0]


def case_read_lists_and_shows(wallet):
    name = lone_dealer(wallet, mode="transfer")
    wallet.ctl("player", "adjust", name, "alice", "5", "--reason", "x")
    for words in (["status"], ["metrics"], ["dealer", "list"], ["dealer", "show", name],
                  ["client", "list"], ["player", "list", name], ["player", "show", name, "alice"],
                  ["player", "ledger", name, "alice"], ["transfer", "list"], ["bet", "list"],
                  ["callback", "list"], ["owed"], ["refused", "list"],
                  ["refused", "list", "--casino", name.upper()]):
        done_as(wallet, BOB, *words)
    for words in (["player", "add", name, "bob"],
                  ["player", "adjust", name, "alice", "1", "--reason", "x"],
                  ["dealer", "set", name, "--currency", "usd"], ["dealer", "key-add", name],
                  ["client", "add", new("client")], ["sign", name, "{}"]):
        refused_as(wallet, BOB, "admin", *words)
        refused_as(wallet, ANN, "admin", *words)
    for words in (["status"], ["check"]):
        done = ctl_as(wallet, BOB, *words)
        check(done.returncode == 0 and "left_out: keys that two owners have" in done.stderr,
              f"what {words} leaves out: {done}")
    refused_as(wallet, BOB, "support", "player", "suspend", name, "alice")
    done_as(wallet, ANN, "player", "suspend", name, "alice")
    refused_as(wallet, BOB, "admin", "operator", "list")
    refused_as(wallet, BOB, "finance", "audit")
    equal(json.loads(ctl_as(wallet, BOB, "audit", "--own", "--json").stdout)["audit"], [], "BOB changed nothing")
    own = json.loads(ctl_as(wallet, ANN, "audit", "--own", "--limit", "0", "--json").stdout)["audit"]
    equal({row["peer_uid"] for row in own}, {ANN}, "the own rows")
    equal((own[0]["action"], own[0]["object"].split("/")[0]), ("player suspend", f"player {name}"), "the newest")
    refused_as(wallet, BOB, "support", "explain", "some-request")


def case_no_key_is_listed(wallet):
    name = lone_dealer(wallet, mode="transfer")
    secret = wallet.ctl_json("dealer", "key-add", name)["key"]
    for uid in (ANN, BOB):
        with link_as(wallet, uid) as link:
            for record in ("dealer", "client"):
                answer = link.call("list", pack("list", record=record)).payload
                check(secret.encode() not in answer, f"a list of each {record} has a key")


def parked(wallet):
    """A callback whose attempts are used up."""
    name = lone_dealer(wallet, mode="seamless")
    with Worker(wallet.sockets / "edge.sock") as link:
        game = new("game")
        bet = link.place("slots", name, "alice", game, 10)
        link.end(bet.send, name, SUCCESS)
        made = link.settle("slots", name, "alice", game, WIN, 15)
        grant = made.send
        for attempt in range(3):
            link.end(grant, name, UNKNOWN, status=503, note="HTTP 503")
            if attempt == 2:
                break

            def claimed():
                refusal, found = link.claim(made.event)
                return found if not refusal else None
            grant = wait_until(claimed, 20, "the next attempt")
    return made.event


def case_support_operates_on_callbacks(wallet):
    event = parked(wallet)
    why = ["--reason", "ticket 7", "--yes"]
    lie = {"SUDO_USER": "root"}
    shown = wallet.ctl_json("callback", "show", event)
    equal(shown["state"], "parked", "before")
    refused_row = done_as_failed(wallet, BOB, "callback", "retry", event, *why)
    equal(refused_row["error"]["id"], "role_needed", "retry as read")
    refused_row = done_as_failed(wallet, ANN, "callback", "cancel", event, *why)
    check("this needs the role finance" in refused_row["error"]["detail"], f"cancel: {refused_row}")
    equal(wallet.ctl_json("callback", "show", event), shown, "what refused actions left")
    for action, words, state in (("hold", why[:2], "held"), ("release", why[:2], "parked"),
                                 ("retry", why, "due")):
        done_as(wallet, ANN, "callback", action, event, *words, environment=lie)
        equal(wallet.ctl_json("callback", "show", event)["state"], state, action)
        row = wallet.ctl_json("audit", "--limit", 1)["audit"][0]
        equal((row["action"], row["reason"]), (f"callback {action}", "ticket 7"), "the audit")
        equal((row["uid"], row["peer_uid"], row["sudo_user"]), (ANN, ANN, ""), f"who: {row}")


def done_as_failed(wallet, uid, *words):
    done = ctl_as(wallet, uid, "--json", *words)
    equal(done.returncode, NOT_PERMITTED, f"{words}: {done}")
    return json.loads(done.stdout)["callbacks"][0]


def case_nobody_acts_as_another(wallet):
    """A program of the peer's own may send any operator."""
    event = parked(wallet)
    with link_as(wallet, ANN) as link:
        frame = link.call("callback_operate", pack(
            "callback_operate", event=event, action=1, operator={
                "uid": 0, "login_uid": 0, "sudo_user": "root", "operation_id": new("op"),
                "reason": "a lie"}))
        equal(unpack("callback_operate", frame.payload).verdict.refusal, 0, "it is held")
    row = wallet.ctl_json("audit", "--limit", 1)["audit"][0]
    equal((row["uid"], row["peer_uid"], row["sudo_user"], row["reason"]), (ANN, ANN, "", "a lie"),
          "the audit")
    check(row["login_uid"] != 0, f"the login: {row}")


def case_support_explains(wallet):
    made = wallet.dealer_add(new("casino"))
    request, body = new("request"), b'{"user_id": "alice"}'
    note = {"time_ms": cb.now_ms(), "request_id": request, "of": 0, "operation": "balance",
            "method": "POST", "path": "/user/balance", "caller_count": 1, "signature_count": 1,
            "refusal": 3, "body_len": len(body), "caller": made.casino_id.encode(), "body": body,
            "signature": hmac.new(made.key.encode(), body + b"\n", hashlib.sha256)
            .hexdigest().encode()}
    with Link(wallet.sockets / "edge.sock") as link:
        kept = unpack("refused_note", link.call("refused_note", pack("refused_note", request=note))
                      .payload)
        check(kept.kept, "the request is kept")
    explained = done_as(wallet, ANN, "explain", request)
    equal([finding["cause"] for finding in explained["findings"]], ["body_line_end"], "the cause")
    equal(explained, wallet.ctl_json("explain", request), "as root")
    with link_as(wallet, ANN) as link:
        answer = link.call("refused_find", pack("refused_find", request_id=request)).payload
        check(request.encode() in answer and made.key.encode() not in answer, "what is sent")
    refused_as(wallet, BOB, "support", "explain", request)


def case_strangers_cannot_connect(wallet):
    path = wallet.sockets / "admin.sock"
    done = ctl_as(wallet, EVE, "status")
    equal(done.returncode, NOT_PERMITTED, f"a stranger: {done}")
    check("not_permitted" in done.stderr and "ROLES" in done.stderr, f"what it says: {done}")
    with person(EVE):
        try:
            Link(path).close()
        except PermissionError:
            pass
        else:
            raise AssertionError("a stranger may connect")
    mode = stat.S_IMODE(path.stat().st_mode)
    equal(mode & 0o7, 0, f"mode {mode:o}")


def case_primary_group_counts(wallet):
    done = ctl_as(wallet, EVE, "--json", "status", gid=READ, groups=[])
    equal(done.returncode, 0, f"a primary group: {done}")
    # The higher of two roles.
    done = ctl_as(wallet, EVE, "--json", "explain", "none-such", gid=READ, groups=[7, SUPPORT])
    check("not_kept" in done.stdout, f"two groups: {done}")


def case_staff_leave_room_for_the_operator(wallet):
    with contextlib.ExitStack() as stack:
        for _ in range(STAFF_MAX):
            stack.enter_context(link_as(wallet, BOB))
        try:
            stack.enter_context(link_as(wallet, BOB))
        except Closed:
            pass
        else:
            raise AssertionError("one connection too many is greeted")
        wallet.ctl("status")
    wait_until(lambda: ctl_as(wallet, BOB, "status").returncode == 0, 20, "room again")


def case_groups_are_taken_away(_):
    with cb.Instance("creditbridge-roles", settings=SETTINGS) as wallet:
        path = wallet.sockets / "admin.sock"
        done_as(wallet, BOB, "status")
        for settings in ({"read_group": "", "support_group": ""},
                         {"read_group": "no-such-group", "support_group": "no-such-group"}):
            wallet.stop()
            wallet.write_config(SETTINGS | settings)
            wallet.start()
            equal(stat.S_IMODE(path.stat().st_mode), 0o600, f"its mode with {settings}")
            equal(ctl_as(wallet, BOB, "status").returncode, NOT_PERMITTED, f"with {settings}")
        check("event=no_role group=no-such-group" in (wallet.logs / "ledger.log").read_text(),
              "what the log says")


def acl_of(*groups):
    """The bytes of a list that gives @groups access (linux/posix_acl_xattr.h)."""
    rows = [(1, 6, NO_ID), (4, 0, NO_ID), *((8, 6, group) for group in groups), (16, 6, NO_ID),
            (32, 0, NO_ID)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def case_doctor_compares_the_list(wallet):
    path = wallet.sockets / "admin.sock"

    def found():
        report = json.loads(wallet.ctl_run("--json", "doctor").stdout)
        return [(row["result"], row["found"]) for row in report["findings"]
                if row["check"] == "sockets" and row["about"] == "admin.sock"]

    equal(os.getxattr(path, ACL), acl_of(READ, SUPPORT), "the list")
    equal([result for result, _ in found()], ["PASS"], "as the ledger made it")
    try:
        for groups, result, words in (((READ,), "WARN", f"members of group {SUPPORT} cannot"),
                                      ((READ, 7777), "FAIL", "group 7777 may use it")):
            os.setxattr(path, ACL, acl_of(*groups))
            check(any(row[0] == result and words in row[1] for row in found()), f"{groups}: {found()}")
    finally:
        os.setxattr(path, ACL, acl_of(READ, SUPPORT))


CASES = [case_doctor_compares_the_list,case_each_command_and_role, case_read_lists_and_shows, case_no_key_is_listed,
         case_support_operates_on_callbacks, case_nobody_acts_as_another, case_support_explains,
         case_strangers_cannot_connect, case_primary_group_counts,
         case_staff_leave_room_for_the_operator, case_groups_are_taken_away]


def main():
    if os.geteuid() != 0:
        def skipped():
            raise Skip("only root can be other users")
        return run_cases([(case.__name__[5:], skipped) for case in CASES])
    with cb.Instance("creditbridge-roles", settings=SETTINGS) as wallet:
        return run_cases([(case.__name__[5:], lambda case=case: case(wallet)) for case in CASES])


if __name__ == "__main__":
    sys.exit(main())
