#!/usr/bin/python3
"""peer: clients of one host reach the ledger of another one, over TLS 1.3 with certificates of the cell.

Host a has the ledger, host b only a peer that relays to it. Strangers are Python's ssl module."""
import contextlib
import os
import pathlib
import socket
import ssl
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_cell import Cell  # noqa: E402
from cb_codec import GREETING, tables  # noqa: E402
from test_desk import FRONT, OTHER_FRONT, Desk, Office  # noqa: E402
from cb_link import (DONE, FORBIDDEN, TRANSFER_IN_KIND, Closed, Link, balance_payload,  # noqa: E402
                     request, transfer_payload)

UNIT = 10000
AUDIT = list(tables()["records"]).index("audit")
CALLERS = 4


@contextlib.contextmanager
def cell_with_player():
    with Cell() as cell:
        cell.dealer = cell.wallet.dealer_add("demo")
        cell.wallet.player_add("demo", "alice")
        yield cell


def edge(cell, timeout=30.0):
    return Link(cell.hosts["b"].sockets / "edge.sock", timeout)


def transfer(link, key):
    equal(link.call("transfer", transfer_payload("demo", TRANSFER_IN_KIND, key, "alice", UNIT)).outcome, DONE, key)


def movements(cell):
    return len(cell.wallet.ctl_json("player", "ledger", "demo", "alice", "--limit", 0)["entries"])


# -- what arrives

def case_worker():
    with cell_with_player() as cell, cb.Lighttpd(cell.hosts["b"], prefix="/w") as server:
        answer = cb.call(server, "POST", cb.TRANSFER_IN,
                         {"user_id": "alice", "amount": 5, "request_transaction_id": "h1",
                          "request_timestamp": cb.now_ms() // 1000}, dealer=cell.dealer)
        equal(answer.status, 200, f"a transfer by a web server of host b: {answer}")
        equal(movements(cell), 1, "its movement")


def case_operator():
    with cell_with_player() as cell:
        host = cell.hosts["b"]
        host.ctl("dealer", "suspend", "demo", "--reason", "from host b")
        row = cell.wallet.ctl_json("audit", "--limit", 1)["audit"][0]
        equal((row["action"], row["object"], row["reason"], row["uid"], row["peer_uid"]),
              ("dealer suspend", "dealer demo", "from host b", os.getuid(), os.stat(host.state).st_uid), "audit")
        login = int(open("/proc/self/loginuid", encoding="ascii").read())
        equal(row["login_uid"], login, "the login user")
        equal(host.ctl_json("status")["installation"], cell.id, "the installation that answers")


def case_roles():
    """A command of admin.sock that comes by the edge.sock of another host is refused there, too."""
    with cell_with_player() as cell:
        with edge(cell) as link:
            equal(link.call("status").outcome, FORBIDDEN, "status on edge.sock of host b")
            transfer(link, "r1")
        with Link(cell.hosts["b"].sockets / "admin.sock") as link:
            equal(link.call("status", b"\0").outcome, DONE, "status on admin.sock of host b")


def case_desk():
    """The console of another host: the front secret, the session and the role are judged by the active ledger."""
    with tempfile.TemporaryDirectory() as folder:
        front = pathlib.Path(folder) / "front"
        front.write_text(f"{FRONT}\n")
        front.chmod(0o600)
        with Cell({"console_front_file": str(front)}) as cell:
            office, host = Office(cell.wallet), cell.hosts["b"]
            office.add("ann", "admin")
            office.add("sue", "support")
            with Desk(host, OTHER_FRONT) as desk:
                equal(desk.ask("status")[0], FORBIDDEN, "another front secret")
            with Desk(host) as desk:
                equal(desk.refused("status"), "session_needed", "no session")
                equal(desk.sign_in("sue", office.code("sue")), "", "the sign-in")
                equal(desk.refused("status"), "", "a command")
                equal(desk.refused("list", record=AUDIT), "role_needed", "the audit as support")
                with Desk(cell.wallet, session=desk.session) as here:
                    equal(here.refused("status"), "", "the same session on the active host")
            with Desk(host) as desk:
                equal(desk.sign_in("ann", office.code("ann")), "", "the sign-in")
                equal(desk.refused("list", record=AUDIT), "", "the audit as admin")
                equal(desk.ask("transfer")[0], FORBIDDEN, "a command of edge.sock")
            equal(cell.hosts["b"].peer.logged("event=relay_failed"), [], "failed relays")
            row = next(row for row in cell.wallet.ctl_json("audit", "--limit", 20)["audit"]
                       if row["action"] == "session open")
            equal((row["operator"], row["object"]), ("ann", "operator ann"), "the audit")


def case_large():
    """Many frames before an answer is read: more than the buffers of the peers hold."""
    with cell_with_player() as cell, edge(cell) as link:
        for number in range(2000):
            link.send(request("balance", balance_payload("demo", "alice"), number))
        for number in range(2000):
            equal(link.frame().tag, number, "the order of the answers")


# -- which members are refused

def context(cell, name, folder=None, newest=True):
    folder = folder or cell.certificates
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.load_verify_locations(cell.certificates / "ca.pem")
    if name:
        made.load_cert_chain(folder / f"{name}.pem", folder / f"{name}-key.pem")
    if not newest:
        made.maximum_version = ssl.TLSVersion.TLSv1_2
    return made


def plain(cell, source="127.0.0.1"):
    made = socket.create_connection(("127.0.0.1", cell.port), 20, (source, 0))
    made.settimeout(20)
    return made


def say(cell, made, data):
    """Sends @data over TLS. Returns what comes, until the end."""
    received = b""
    try:
        with made.wrap_socket(plain(cell)) as wire:
            wire.sendall(data)
            while len(received) < GREETING.size:
                piece = wire.recv(4096)
                if not piece:
                    break
                received += piece
    except (ssl.SSLError, ConnectionError):
        pass
    return received


def hello(cell, member="b", cell_id=None, where="edge"):
    return f"CBP1 {cell_id or cell.id} {member} {where} {'admin' if where == 'admin' else 'none'} 0 4294967295\n".encode()


def refused(cell, reason, act, *words):
    """Does @act, which gets no greeting; the peer of host a logs it with @reason."""
    before = len(cell.peer.logged("event=peer_refused", f"reason={reason}", *words))
    equal(act() or b"", b"", f"an answer to: {reason}")
    wait_until(lambda: len(cell.peer.logged("event=peer_refused", f"reason={reason}", *words)) > before, 20,
               f"the log of {reason}: {cell.peer.logged('peer_refused')}")


def case_strangers():
    with cell_with_player() as cell, edge(cell) as link:
        transfer(link, "s0")
        other = cell.wallet.dir / "other"
        cell.issue("b", certificates=other)
        equal(len(say(cell, context(cell, "b"), hello(cell))), GREETING.size, "the control: a member")
        refused(cell, "certificate", lambda: say(cell, context(cell, "b", other), hello(cell)))
        refused(cell, "certificate", lambda: say(cell, context(cell, None), hello(cell)))
        cell.issue("late", seconds_ago=500 * 86400)
        refused(cell, "expired", lambda: say(cell, context(cell, "late"), hello(cell, "late")))
        refused(cell, "tls", lambda: say(cell, context(cell, "b", newest=False), hello(cell)))
        refused(cell, "hello", lambda: say(cell, context(cell, "b"), hello(cell, "a")), "member=b")
        refused(cell, "hello", lambda: say(cell, context(cell, "b"), hello(cell, cell_id="f" * 32)))
        refused(cell, "hello", lambda: say(cell, context(cell, "b"), hello(cell, where="root")))
        refused(cell, "hello", lambda: say(cell, context(cell, "b"), b"x" * 4096))
        refused(cell, "tls", lambda: plain_says(cell, b"GET / HTTP/1.0\r\n\r\n"))
        transfer(link, "s1")
        with edge(cell) as another:
            transfer(another, "s2")
        lines = len(cell.peer.logged("event=peer_refused"))
        wait_until(lambda: cell.wallet.ctl_json("status")["peers_refused"] == lines, 20, "the figure of status")
        wait_until(lambda: cell.hosts["b"].ctl_json("status")["relayed"] >= 3, 20, "relayed connections")
        metrics = cell.wallet.ctl("metrics")
        check(f"creditbridge_peers_refused_total {lines}\n" in metrics, "the metric")


def plain_says(cell, data):
    """Returns nothing but an alert's end: the bytes of a handshake are no answer."""
    with plain(cell) as wire:
        wire.sendall(data)
        try:
            while wire.recv(4096):
                pass
        except ConnectionError:
            pass


def case_slow():
    """Half a handshake, silence, and a hello that does not come are cut after 2 s; members are served meanwhile."""
    with cell_with_player() as cell, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(plain(cell, "127.0.0.2")) for _ in range(3)]
        slow[1].sendall(b"\x16\x03\x01\x02\x00\x01")
        wire = stack.enter_context(context(cell, "b").wrap_socket(plain(cell)))
        wire.sendall(hello(cell)[:-1])
        for number in range(10):
            with edge(cell) as link:
                transfer(link, f"l{number}")
        wait_until(lambda: len(cell.peer.logged("event=peer_refused", "reason=deadline")) >= 4, 20,
                   "four refusals at the deadline")
        for made in slow:
            equal(made.recv(1), b"", "the end of a silent connection")


def case_flood():
    """More half-open connections than there is room for push out each other, and no member."""
    with cell_with_player() as cell, contextlib.ExitStack() as stack:
        for number in range(200):
            stack.enter_context(plain(cell, f"127.0.0.{2 + number % 2}"))
        with edge(cell) as link:
            transfer(link, "f0")
        wait_until(lambda: cell.peer.logged("event=peer_refused", "reason=full"), 20, "those that were pushed out")
        with edge(cell) as link:
            transfer(link, "f1")


def case_crowd():
    """All clients of a host connect at once, as after a takeover: none is refused."""
    with cell_with_player() as cell, contextlib.ExitStack() as stack:
        links = [stack.enter_context(Link(cell.hosts["b"].sockets / "edge.sock", greeted=False))
                 for _ in range(300)]
        for number, link in enumerate(links):
            link.greet()
            if number % 100 == 0:
                transfer(link, f"c{number}")
        equal(cell.peer.logged("event=peer_refused"), [], "refused connections")
        equal(cell.hosts["b"].peer.logged("event=relay_failed"), [], "failed relays")
        equal(cell.hosts["b"].peer.counts()["outward_open"], 300, "relayed connections")


def case_removed():
    """A removed member is cut off and refused; added again, it is served."""
    with cell_with_player() as cell:
        with edge(cell) as link:
            transfer(link, "m0")
            cell.wallet.ctl("member", "remove", "b")
            check(link.ended(), "the connection of a removed member ends")
        refused(cell, "removed", lambda: say(cell, context(cell, "b"), hello(cell)))
        cell.wallet.ctl("member", "add", "b")
        call_until_answered(cell, "m1")


def case_not_active():
    """A host whose ledger does not serve admits no client of another host, and keeps no client of its own."""
    with cell_with_player() as cell:
        cell.issue("c")
        other = cell.host_add("c")
        other.peer.role("standby", cell.hosts["b"].address, "b")
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.settimeout(20)
            waiting.connect(str(other.sockets / "edge.sock"))
            wait_until(lambda: cell.hosts["b"].peer.logged("peer_refused", "reason=not_active", "member=c"), 20,
                       "host b refuses: it relays itself")
            equal(waiting.recv(1), b"", "the client's connection ends")
        other.peer.role("standby", cell.address, "b")
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.settimeout(20)
            waiting.connect(str(other.sockets / "edge.sock"))
            equal(waiting.recv(1), b"", "another member than the active one answers")
        check(other.peer.logged("relay_failed", "another member"), "its log")
        other.peer.role("unknown")
        with Link(other.sockets / "edge.sock", greeted=False) as link:
            other.peer.role("standby", cell.address, "a")
            link.greet()
            transfer(link, "n0")
            other.peer.role("unknown")
            check(link.ended(), "the connection ends when the active host is not known any more")


# -- what breaks

def call_until_answered(cell, key):
    """As link_call() does: the same bytes again while a connection breaks."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            with edge(cell, 10) as link:
                transfer(link, key)
                return
        except (Closed, OSError):
            time.sleep(0.01)
    raise AssertionError(f"{key} was not answered")


def case_kills():
    """SIGKILL of either peer while callers transfer: each repeats, and one movement is made for each key."""
    with cell_with_player() as cell:
        stop, done, failed = threading.Event(), [0] * CALLERS, []

        def caller(number):
            try:
                while not stop.is_set():
                    call_until_answered(cell, f"k{number}-{done[number]}")
                    done[number] += 1
            except BaseException as error:
                failed.append(error)
                raise

        threads = [threading.Thread(target=caller, args=(number,)) for number in range(CALLERS)]
        for thread in threads:
            thread.start()
        try:
            for number in range(6):
                before = list(done)
                (cell.peer if number % 2 else cell.hosts["b"].peer).kill()
                wait_until(lambda: failed or all(now > then for now, then in zip(done, before)), 30,
                           "each caller goes on")
        finally:
            stop.set()
            for thread in threads:
                thread.join(30)
        check(not failed, f"callers failed: {failed}")
        equal(movements(cell), sum(done), "movements and answered calls")
        equal(cell.wallet.ctl_json("check")["ok"], True, "check")


def case_engine():
    """The engine is killed: its clients of other hosts wait and are served, as its own are."""
    with cell_with_player() as cell:
        call_until_answered(cell, "e0")
        engine = cell.wallet.ctl_json("status")["pid"]
        os.kill(engine, 9)
        call_until_answered(cell, "e1")
        equal(movements(cell), 2, "movements")


sys.exit(cb.run_cases([
    ("a worker of another host moves credit", case_worker),
    ("an operator of another host is in the audit", case_operator),
    ("sockets are kept apart over hosts", case_roles),
    ("the console of another host", case_desk),
    ("many calls before the first answer", case_large),
    ("strangers are refused and logged", case_strangers),
    ("slow strangers are cut", case_slow),
    ("a flood of strangers keeps no member out", case_flood),
    ("all clients of a host at once", case_crowd),
    ("a removed member is cut off", case_removed),
    ("hosts that are not active relay nothing", case_not_active),
    ("either peer is killed", case_kills),
    ("the engine is killed", case_engine),
], seconds=60))
