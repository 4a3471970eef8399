#!/usr/bin/python3
"""desk.sock, the socket of the web console, on a ledger that runs: which role may send which
command.

    front secret   without it nothing is answered and nothing is counted
    sessions       survive an engine that is killed, and end with the operator's suspension
    roles          each command of the socket as each role, by src/link/roles.def
    secrets        no page of rows has a key or a code secret
    share          a flood of desk commands runs beside other commands, one in a round
"""
import concurrent.futures
import os
import pathlib
import signal
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codes import code_of  # noqa: E402
from cb_codec import REQUEST, entry, pack, record, tables, unpack  # noqa: E402
from cb_link import BUSY, COMMANDS, DONE, FORBIDDEN, Closed, Link  # noqa: E402
from cb_worker import Worker, refusal_of  # noqa: E402

VOUCHED = 0x8000
FRONT = "0123456789abcdef" * 4
OTHER_FRONT = "fedcba9876543210" * 4
ROLES = ("read", "support", "finance", "admin")
# The least role of what desk.sock carries, with empty contents (doc/internals/architecture.md).
LEAST = {"status": "read", "metrics": "read", "list": "read", "find": "read", "refused_list": "read",
         "dealer_state": "read", "activity": "read", "callback_ages": "read",
         "refused_find": "support", "callback_operate": "support", "replay_preview": "read",
         "replay_start": "support",
         "replay_stop": "support", "session_count": "admin"}
OWN = {"session_step", "session_show", "session_close"}
FLOOD_S = 1.0
CONNECTIONS_MAX = 24  # DESK_CONNECTIONS_MAX
UNIX_CONNECTED = "03"  # the state in /proc/net/unix


class Desk(Link):
    """A connection to desk.sock, as the console's process has one."""

    def __init__(self, wallet, front=FRONT, session=""):
        super().__init__(wallet.sockets / "desk.sock")
        self.front, self.session = front, session

    def frame_of(self, name, payload, tag=1):
        vouch = b"".join((text or "").encode().ljust(64, b"\0") for text in (self.front, self.session))
        body = vouch + payload
        number = COMMANDS[name].number
        return REQUEST.pack(REQUEST.size - 4 + len(body), number, VOUCHED, tag) + body

    def ask(self, name, **values):
        """Returns the outcome, and the answer if there is one."""
        self.send(self.frame_of(name, pack(name, **values)))
        frame = self.frame()
        return frame.outcome, unpack(name, frame.payload) if frame.outcome == DONE else None

    def refused(self, name, **values):
        """Returns the refusal of the answer; "": none."""
        outcome, answer = self.ask(name, **values)
        equal(outcome, DONE, f"outcome of {name}")
        return refusal_of(answer)

    def sign_in(self, login, code):
        session = os.urandom(32).hex()
        refusal = self.refused("session_open", login=login, code=code, session=session,
                               address="10.0.0.7")
        if not refusal:
            self.session = session
        return refusal


class Office:
    """A wallet with a console, and its operators' secrets."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.secrets = {}
        self.steps = {}

    def add(self, name, role):
        answer = self.wallet.ctl_json("operator", "add", name, "--role", role)
        query = urllib.parse.parse_qs(urllib.parse.urlparse(answer["otpauth"]).query)
        self.secrets[name] = query["secret"][0]
        return answer

    def code(self, name):
        """A code that was not used yet. Each sign-in uses up one step; one step ahead is accepted."""
        step = max(self.steps.get(name, 0) + 1, int(time.time()) // 30)
        if step > int(time.time()) // 30 + 1:
            self.secrets[name] = self.new_secret(name)
            step = int(time.time()) // 30
        self.steps[name] = step
        return code_of(self.secrets[name], step)

    def new_secret(self, name):
        """A new secret, for which no code was used."""
        answer = self.wallet.ctl_json("operator", "new-code", name)
        query = urllib.parse.parse_qs(urllib.parse.urlparse(answer["otpauth"]).query)
        return query["secret"][0]

    def desk(self, name):
        """A connection with a session of the operator."""
        desk = Desk(self.wallet)
        equal(desk.sign_in(name, self.code(name)), "", f"sign-in of {name}")
        return desk

    def operator(self, name):
        rows = self.wallet.ctl_json("operator", "list")["operators"]
        return next(row for row in rows if row["name"] == name)


def case_front_secret(office):
    """Without the secret, a right session and a right code are worth nothing."""
    good = office.desk("ann")
    for front in ("", OTHER_FRONT):
        with Desk(office.wallet, front, good.session) as desk:
            for name in COMMANDS:
                equal(desk.ask(name)[0], FORBIDDEN, f"{name} with {front!r}")
            for _ in range(8):
                equal(desk.ask("session_open", login="ann", code="000000",
                               session=os.urandom(32).hex())[0], FORBIDDEN, "a guess")
    equal(office.operator("ann")["locked_until_ms"] in (0, None, ""), True, "no lock by guesses")
    equal(good.refused("status"), "", "the session")
    # A frame without a vouch is as one with a wrong secret.
    equal(good.call("status", pack("status")).outcome, FORBIDDEN, "no vouch")
    # Two values are live while the secret is changed.
    front_file = office.wallet.dir / "front"
    front_file.write_text(f"# new\n{OTHER_FRONT}\n{FRONT}\n")
    good.front = OTHER_FRONT
    cb.wait_until(lambda: good.ask("status")[0] == DONE, 10, "the second secret")
    good.front = FRONT
    equal(good.refused("status"), "", "the first secret")
    front_file.chmod(0o644)
    cb.wait_until(lambda: good.ask("status")[0] == FORBIDDEN, 10, "a file that others read")
    front_file.chmod(0o600)
    cb.wait_until(lambda: good.ask("status")[0] == DONE, 10, "the file is private again")
    good.close()


def case_sign_in(office):
    """Each reason for a refusal looks alike, and a code counts once."""
    with Desk(office.wallet) as desk:
        code = office.code("sue")
        equal(desk.refused("status"), "session_needed", "no session")
        equal(desk.sign_in("sue", "000000"), "sign_in_refused", "wrong code")
        equal(desk.sign_in("unknown", code), "sign_in_refused", "unknown login")
        equal(desk.sign_in("sue", code), "", "right code")
        equal(desk.refused("session_show"), "", "the session")
        first = desk.session
        equal(desk.sign_in("sue", code), "sign_in_refused", "the same code")
        desk.session = os.urandom(32).hex()
        equal(desk.refused("session_show"), "session_needed", "another session")
        desk.session = first
        who = desk.ask("session_show")[1].who
        equal((who.name, who.role), ("sue", 2), "who")
        equal(desk.refused("session_close"), "", "sign-out")
        equal(desk.refused("session_show"), "session_needed", "after the sign-out")
    audit = office.wallet.ctl_json("audit", "--limit", 20)["audit"]
    opened = [row for row in audit if row["action"] == "session open"]
    equal((opened[0]["operator"], opened[0]["object"], opened[0]["detail"]),
          ("sue", "operator sue", "address=10.0.0.7"), "audit")


def case_no_signature(office):
    """A refused request comes over desk.sock with its body, and without its signature."""
    body, signature = b'{"user_id": "alice"}', b"5" * 64
    note = {"time_ms": cb.now_ms(), "request_id": "desk-401", "method": "POST", "path": "/user/balance", "caller_count": 1,
            "signature_count": 1, "body_len": len(body), "caller": b"demo", "body": body, "signature": signature}
    with Link(office.wallet.sockets / "edge.sock") as link:
        answer = link.call("refused_note", pack("refused_note", request=note))
        check(unpack("refused_note", answer.payload).kept, "the request is kept")
    with Link(office.wallet.sockets / "admin.sock") as link:
        found = unpack("refused_find", link.call("refused_find", pack("refused_find", request_id="desk-401")).payload)
        equal(found.request.signature, signature, "on admin.sock, for explain")
    with office.desk("sue") as desk:
        outcome, found = desk.ask("refused_find", request_id="desk-401")
        equal((outcome, found.matches, found.request.body), (DONE, 1, body), "on desk.sock")
        equal((found.request.signature_count, found.request.signature), (1, b""), "the signature")


def case_roles(office):
    """Each command as each role."""
    for role in ROLES:
        office.add(f"as-{role}", role)
        with office.desk(f"as-{role}") as desk:
            for name, info in COMMANDS.items():
                if name == "session_open" or name in OWN:
                    continue
                outcome, answer = desk.ask(name)
                if name not in LEAST:
                    equal(outcome, FORBIDDEN, f"{name} as {role}")
                    continue
                may = ROLES.index(role) >= ROLES.index(LEAST[name])
                equal((outcome, refusal_of(answer) == "role_needed"), (DONE, not may), f"{name} as {role}")
                check(info.socket != "EDGE" or name == "metrics", f"{name} is of edge.sock")
            for kind, least in (("audit", "finance"), ("desk_operator", "admin"), ("dealer", "read")):
                number = list(tables()["records"]).index(kind)
                refusal = desk.refused("list", record=number)
                equal(refusal == "role_needed", ROLES.index(role) < ROLES.index(least), f"{kind} as {role}")
            for row in record("audit").rows(
                    desk.ask("list", record=list(tables()["records"]).index("audit"), own=True)[1].rows):
                equal(row.operator, f"as-{role}", f"the own audit as {role}")
            refusal = desk.refused("player_put", casino_id="demo", user_id="alice", change_suspended=True,
                                   operator={"operation_id": f"op-{role}"})
            equal(refusal, "role_needed" if role == "read" else "", f"a player as {role}")
            refusal = desk.refused("dealer_put", mask=1 << 3, dealer={"casino_id": "demo"},
                                   operator={"operation_id": f"dealer-{role}"})
            equal(refusal, "" if role == "admin" else "role_needed", f"a dealer as {role}")


def case_other_sockets(office):
    """The commands of a session are on no other socket."""
    for socket in ("edge.sock", "admin.sock"):
        with Link(office.wallet.sockets / socket) as link:
            for name, info in COMMANDS.items():
                if info.socket == "DESK":
                    equal(link.call(name, pack(name)).outcome, FORBIDDEN, f"{name} on {socket}")


def case_secrets(office):
    """No row that desk.sock shows has a secret, and a page has 64 rows at most."""
    desk = office.desk("ann")
    known = [secret.encode() for secret in office.secrets.values()]
    known += [office.key.encode(), FRONT.encode()]
    for number, kind in enumerate(tables()["records"]):
        cursor, more = b"", True
        while more:
            _, answer = desk.ask("list", record=number, cursor=cursor)
            check(answer.count <= 64 and len(answer.rows) <= 64 * 1024, f"a page of {kind}")
            for secret in known:
                check(secret not in answer.rows, f"a secret in {kind}")
            cursor, more = answer.cursor, answer.more
    rows = record("desk_operator").rows(
        desk.ask("list", record=list(tables()["records"]).index("desk_operator"))[1].rows)
    check({"ann", "sue"} <= {row.name for row in rows}, "operators are listed")
    equal({row.secret for row in rows}, {""}, "their secrets")
    desk.close()
    # A file of all rows has the code secrets only together with the keys of dealers.
    for words, shown in (((), False), (("--with-keys",), True)):
        path = office.wallet.dir / f"export{len(words)}"
        office.wallet.ctl("export", path, *words)
        equal(office.secrets["ann"] in path.read_text(), shown, f"export {words}")


def case_find(office):
    """An id leads to its rows."""
    with office.desk("ann") as desk:
        for text, kinds in (("alice", ["player"]), ("demo", ["dealer"]), ("demo/alice", ["player"]),
                            ("deposit-1", ["request"]), ("nothing", [])):
            found, after = [], ""
            while True:
                _, answer = desk.ask("find", text=text, after=after)
                found += entry("find_hit").rows(answer.hits)
                after = answer.next
                if not after:
                    break
            names = ("dealer", "client", "player", "transaction", "callback", "request", "call", "round")
            equal([names[hit.of] for hit in found], kinds, f"places of {text}")


def case_killed_engine(office):
    """A session survives the engine, and ends with the suspension of its operator."""
    desk = office.desk("sue")
    session = desk.session
    (engine,) = office.wallet.engine_pids()
    os.kill(engine, signal.SIGKILL)
    check(desk.ended(), "the connection ended")
    desk.close()
    cb.wait_until(office.wallet.answering, 20, "the next engine")
    with Desk(office.wallet, session=session) as desk:
        cb.wait_until(lambda: desk.ask("session_show")[0] == DONE, 10, "the front secret")
        equal(desk.refused("session_show"), "", "the session after the kill")
        office.wallet.ctl("operator", "suspend", "sue")
        equal(desk.refused("session_show"), "session_needed", "after the suspension")
        equal(desk.sign_in("sue", office.code("sue")), "sign_in_refused", "a suspended one")
        office.wallet.ctl("operator", "resume", "sue")


def case_lock(office):
    """Five wrong codes lock the name, which the audit says."""
    office.add("kim", "read")
    with Desk(office.wallet) as desk:
        for _ in range(5):
            equal(desk.sign_in("kim", "00000x"), "sign_in_refused", "wrong")
        equal(desk.sign_in("kim", office.code("kim")), "sign_in_refused", "locked")
        row = office.wallet.ctl_json("audit", "--limit", 1)["audit"][0]
        equal((row["action"], row["object"]), ("operator lock", "operator kim"), "audit")
        office.wallet.ctl("operator", "unlock", "kim")
        equal(desk.sign_in("kim", code_of(office.secrets["kim"], int(time.time()) // 30)), "", "unlocked")


def connections(wallet):
    """Those that the ledger has on desk.sock. Asking takes none, as a connection of its own would."""
    path = str(wallet.sockets / "desk.sock")
    rows = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]]
    return sum(row[-1] == path and row[5] == UNIX_CONNECTED for row in rows)


def case_connections(office):
    """One connection beyond the limit is closed."""
    held = []

    def hold_one():
        """Those of earlier cases count until the ledger notices that they are gone."""
        try:
            held.append(Desk(office.wallet))
        except Closed:
            return False
        return True

    try:
        for _ in range(CONNECTIONS_MAX):
            cb.wait_until(hold_one, 10, "room for a connection")
        equal(connections(office.wallet), CONNECTIONS_MAX, "connections")
        with Link(office.wallet.sockets / "desk.sock", greeted=False) as link:
            check(link.ended(), "one more than the limit")
    finally:
        for desk in held:
            desk.close()
    # The ledger notices one after the other that they are gone.
    cb.wait_until(lambda: not connections(office.wallet), 10, "the end of the connections")


def case_flood(office):
    """While consoles list without an end, a worker is served, and never refused. How much the desk gets
    beside others is in tests/ledger/test_desk.c."""
    done = threading.Event()
    answers = [0] * 4

    def flood(number):
        with office.desk_again() as desk:
            payload = pack("list", record=list(tables()["records"]).index("transaction"))
            frame = desk.frame_of("list", payload)
            while not done.is_set():
                desk.send(frame * 4)
                for _ in range(4):
                    equal(desk.frame().outcome, DONE, "a page")
                    answers[number] += 1

    with office.desk("ann") as signed_in:
        office.flooding = signed_in.session
    pool = concurrent.futures.ThreadPoolExecutor(len(answers))
    floods = [pool.submit(flood, number) for number in range(len(answers))]
    try:
        cb.wait_until(lambda: all(answers) or any(each.done() for each in floods), 20, "the flood")
        before, served = sum(answers), 0
        with Worker(office.wallet.sockets / "edge.sock") as worker:
            payload = pack("balance", casino_id="demo", user_id="alice")
            frame = worker.call("balance", payload)
            until = time.monotonic() + FLOOD_S
            while time.monotonic() < until:
                frame = worker.call("balance", payload)
                check(frame.outcome != BUSY, "a worker is not refused")
                served += 1
        beside = sum(answers) - before
    finally:
        done.set()
        pool.shutdown()
    for each in floods:
        each.result()  # raises what failed in it
    check(served > 0 and beside > 0, "both were served")


def main():
    front = None
    wallet = cb.Instance("desk-test", start=False)
    try:
        front = wallet.dir / "front"
        front.write_text(f"{FRONT}\n")
        front.chmod(0o600)
        with wallet.config.open("a") as config:
            config.write(f'console_front_file = "{front}"\n')
        wallet.start()
        office = Office(wallet)
        office.key = wallet.dealer_add("demo").key
        wallet.player_add("demo", "alice")
        wallet.ctl("player", "adjust", "demo", "alice", "10", "--reason", "test", "--operation-id", "deposit-1")
        office.add("ann", "admin")
        office.add("sue", "support")
        office.desk_again = lambda: Desk(wallet, session=office.flooding)
        cases = [(name, lambda function=function: function(office)) for name, function in (
            ("front secret", case_front_secret),
            ("sign-in", case_sign_in),
            ("no signature", case_no_signature),
            ("roles", case_roles),
            ("other sockets", case_other_sockets),
            ("secrets", case_secrets),
            ("find", case_find),
            ("killed engine", case_killed_engine),
            ("lock", case_lock),
            ("connections", case_connections),
            ("flood", case_flood))]
        return cb.run_cases(cases, seconds=60)
    finally:
        wallet.close()


if __name__ == "__main__":
    sys.exit(main())
