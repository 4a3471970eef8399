#!/usr/bin/python3
"""The jobs of the web console: explain, doctor, ping and recon over jobs.sock, which creditbridgectl serves.

The ledger, the console, the wallet's worker and the acceptor are the installed programs. The dealer of the
pings is a listening socket that never answers, so a ping lasts until the job is ended.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_codec import job_answer, job_request  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import FRONT, Browser, Installed, front_setting  # noqa: E402
from cb_listener import Scripted  # noqa: E402
from cb_process import Child, commands_with, find_program, socket_ready  # noqa: E402

ROLES = {"rita": "read", "nok": "support", "kim": "finance", "ann": "admin"}
WAIT_S = 20


class Silent:
    """A dealer's server that takes connections and never answers."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.taken = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.listener.accept()[0])

    def drop(self):
        for connection in self.taken:
            connection.close()

    def close(self):
        self.listener.close()
        self.drop()


class Office:
    def __init__(self, wallet):
        self.wallet = wallet
        self.silent = Silent()
        self.dealer = wallet.dealer_add("demo")
        wallet.player_add("demo", "alice")
        wallet.dealer_add("slow", "--url", self.silent.url, "--allow-http", mode="seamless")
        wallet.player_add("slow", "bob")
        self.server = cb.Lighttpd(wallet)
        self.acceptor = None
        self.listen()
        self.console = Installed(wallet, "jobs", threads=8)
        secrets = {name: wallet.ctl_json("operator", "add", name, "--role", role)["otpauth"]
                   for name, role in ROLES.items()}
        self.browsers = {}
        for name, secret in secrets.items():
            browser = Browser(self.console, name)
            equal(browser.post("/sign-in", {"code": one_time_code(secret)}).status, 303, f"{name} signs in")
            self.browsers[name] = browser

    def listen(self, *words):
        """Starts the acceptor anew."""
        path = self.wallet.sockets / "jobs.sock"
        self.unlisten()
        self.acceptor = Child([find_program("creditbridgectl"), "--config", self.wallet.config, "job", "--listen",
                               *words], self.wallet.logs / "jobs.log")
        self.acceptor.wait_ready(lambda: socket_ready(path), WAIT_S, "jobs.sock")
        # The console's process runs as this user in the test.
        path.chmod(0o666)

    def unlisten(self):
        if self.acceptor:
            equal(self.acceptor.stop(), 0, "the acceptor ends")
            check(not (self.wallet.sockets / "jobs.sock").exists(), "its socket is gone")
            self.acceptor = None

    def log(self):
        return (self.wallet.logs / "jobs.log").read_text()

    def ask(self, request, rest=b""):
        """Sends bytes to jobs.sock. Returns the output, and the outcome with its detail."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(WAIT_S)
            link.connect(str(self.wallet.sockets / "jobs.sock"))
            link.sendall(request + rest)
            answer = b""
            while part := link.recv(65536):
                answer += part
        return job_answer(answer)

    def close(self):
        self.console.close()
        self.unlisten()
        self.silent.close()


def request_of(job, front=FRONT, **values):
    return job_request(job, front=front, request_id="test-request", **values)


def session_of(browser):
    """The session that the ledger knows (console/common/desk_link.c)."""
    token = browser.cookies["creditbridge-console"].encode()
    return hashlib.sha256(b"creditbridge console session\0" + token + b"\0" + browser.user.encode()).hexdigest()


@contextlib.contextmanager
def stopped(office):
    """The acceptor stands still: jobs.sock takes connections, and no job of theirs begins."""
    os.kill(office.acceptor.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(office.acceptor.pid, signal.SIGCONT)


class Asked:
    """A request that is under way; @send makes it."""

    def __init__(self, send):
        self.pages = []
        self.thread = threading.Thread(target=lambda: self.pages.append(send()))
        self.thread.start()

    def page(self):
        self.thread.join(90)
        check(self.pages, "it was answered")
        return self.pages[0]


def post(browser, path, **form):
    return browser.post(path, {"token": browser.token(), **form})


def case_explain(office):
    """A 401 is explained by two clicks: Refused, and the request id."""
    body = {"amount": 1, "request_transaction_id": "r-1", "user_id": "alice", "remark": ""}
    answer = cb.call(office.server, "POST", cb.TRANSFER_IN, body, dealer=office.dealer, signature="0" * 64,
                     headers=[("X-Request-Id", "jobs-401")])
    equal(answer.status, 401, "the call")
    nok, rita = office.browsers["nok"], office.browsers["rita"]
    home = nok.get("/").document()
    refused = next(node for node in home.all("a") if node.text() == "Refused").attributes["href"]

    def link():
        return next((node for node in nok.get(refused).document().all("a") if node.text() == "jobs-401"), None)
    page = nok.get(wait_until(link, WAIT_S, "the refused call is listed").attributes["href"])
    equal(page.status, 200, page.text[-600:])
    document = page.document()
    text = next(document.all("pre")).text()
    for line in ("answer   401 invalid_signature", "\ncause    ", "\nremedy   ", "\nowed     "):
        check(line in text, f"{line!r} in {text}")
    button = next(node for node in document.all("button") if node.text() == "copy for the integrator")
    headers, shown, hexed = [node.text() for node in document.all("pre")][1:]
    check(headers.startswith(f"POST {cb.TRANSFER_IN}\nX-Request-Id: jobs-401\nX-Casino-Id: demo (sent 1 time)\n") and
          "X-Casino-Signature: sent 1 time; its value is not shown\n" in headers, headers)
    equal(json.loads(shown), body, "the body as text")
    sent = bytes.fromhex("".join(line[10:58] for line in hexed.splitlines()))
    equal(sent.decode(), shown, "the body in hex")
    folded = {next(node.all("summary")).text(): "open" not in node.attributes for node in document.all("details")}
    check(folded["Headers"] and folded[f"Body ({len(sent)} bytes)"], f"both are folded: {folded}")
    equal(button.attributes["data-copy"], f"{text}\n{headers}\n{hexed}", "what is copied")
    check("0" * 64 not in page.text, "no signature")
    check("It was refused at " in page.document().text(), "the time")
    # Two callers chose one id. The newer call is only on disk: the body of the older one is not shown for it.
    for number, path, more, status in ((1, cb.TRANSFER_IN, {"signature": "0" * 64}, 401), (2, cb.TRANSFER_OUT, {}, 402)):
        body = {"amount": 1, "request_transaction_id": f"twice-{number}", "user_id": "alice", "remark": f"mark-{number}"}
        answer = cb.call(office.server, "POST", path, body, dealer=office.dealer, headers=[("X-Request-Id", "jobs-twice")],
                         **more)
        equal(answer.status, status, "a call")
        text = wait_until(lambda at=f"twice-{number}": at in (text := nok.get("/refused").document().text()) and text,
                          WAIT_S, "it is listed")
    text = nok.get("/explain", request="jobs-twice").document().text()
    check("402 insufficient_balance" in text and "are not kept" in text, text)
    check("mark-1" not in text, "the body of the other call")
    equal(rita.get("/explain", request="jobs-401").status, 403, "the role read may not")
    check(not any(node.text() == "jobs-401" for node in rita.get(refused).document().all("a")),
          "no link for the role read")
    page = nok.get("/explain", request="nothing-like-it")
    equal(page.status, 404, "a call that is not kept")
    check("no refused call is kept of" in page.document().text(), page.text)
    for wrong in ("", "-", "--json", "a b", "a;id", "$(id)", "x" * 65, "../x"):
        equal(nok.get("/explain", request=wrong).status, 400, f"request id {wrong!r}")


def case_roles(office):
    """The job itself asks the ledger: a forged session gets nothing, and a role is checked there."""
    nok, rita = (office.browsers[name] for name in ("nok", "rita"))
    for label, job, values, outcome in (
            ("no session", "doctor", {}, "signed_out"),
            ("a forged session", "doctor", {"session": "f" * 64}, "signed_out"),
            ("the cookie in place of the session", "doctor",
             {"session": rita.cookies["creditbridge-console"]}, "signed_out"),
            ("a wrong front secret", "doctor", {"front": "0" * 64, "session": session_of(rita)}, "no_front"),
            ("no front secret", "doctor", {"front": "", "session": session_of(rita)}, "no_front"),
            ("explain by read", "explain", {"session": session_of(rita), "request": "jobs-401"}, "role_needed"),
            ("ping by read", "ping", {"session": session_of(rita), "casino": "slow"}, "role_needed"),
            ("recon by support", "recon",
             {"session": session_of(nok), "casino": "demo", "date": "2026-01-01"}, "role_needed"),
            ("an option", "explain", {"session": session_of(nok), "request": "--help"}, "bad_request"),
            ("an argument too many", "doctor", {"session": session_of(nok), "casino": "demo"}, "bad_request"),
            ("no day", "recon", {"session": session_of(nok), "casino": "demo", "date": "$(id)"}, "bad_request")):
        output, came, detail = office.ask(request_of(job, **values))
        equal((output, came), (b"", outcome), label)
        check(detail.endswith("."), f"{label}: {detail!r}")
    for label, raw in (("http", b"GET / HTTP/1.0\r\n\r\n"), ("a length", b"CBJ1\xff\xff\xff\xff"),
                       ("too much", request_of("doctor", session=session_of(rita)) + b"x")):
        output, came, _ = office.ask(raw)
        equal((output, came), (b"", "bad_request"), label)
    output, came, detail = office.ask(request_of("explain", session=session_of(nok), request="jobs-401"))
    equal((came, detail), ("ended", ""), "the same by support")
    check(b"invalid_signature" in output, output)
    check(session_of(nok) not in office.log() and FRONT not in office.log(), "the log has no secret")
    check("operator=nok job=explain outcome=ended" in office.log(), "the log names the operator")


def case_recon(office):
    """The file of the console is that of the command, with its digest; finance and admin may have it."""
    wallet, kim = office.wallet, office.browsers["kim"]
    body = {"amount": 5, "request_transaction_id": "in-1", "user_id": "alice", "remark": ""}
    equal(cb.call(office.server, "POST", cb.TRANSFER_IN, body, dealer=office.dealer).status, 200, "a transfer")
    day = time.strftime("%Y-%m-%d", time.gmtime(wallet.ctl_json("transfer", "list")["transfers"][0]["time_ms"] / 1000))
    page = post(kim, "/dealer/recon", id="demo", date=day)
    equal((page.status, page.header("Content-Type")), (200, "text/csv; charset=utf-8"), page.text[-600:])
    equal(page.header("Content-Disposition"), f'attachment; filename="recon-demo-{day}.csv"', "its name")
    lines = page.body.splitlines(keepends=True)
    digest = next(field for field in lines[-1].decode().strip().split(",") if re.fullmatch("[0-9a-f]{64}", field))
    equal(hashlib.sha256(b"".join(lines[:-1])).hexdigest(), digest, "the digest in its last line")
    same = wallet.ctl_run("recon", "demo", "--date", day).stdout.encode()
    equal([line for line in page.body.splitlines() if b"in-1" in line],
          [line for line in same.splitlines() if b"in-1" in line], "the rows of the command")
    audit = next(node.text() for node in office.browsers["ann"].get("/audit").document().all("tr")
                 if "recon" in node.text())
    check("kim" in audit and day in audit, f"the audit names the operator: {audit}")
    dealer = kim.get("/dealer", id="demo").document()
    check(any(node.text() == "Recon file (CSV)" for node in dealer.all("button")), "the form")
    for name in ("rita", "nok"):
        equal(post(office.browsers[name], "/dealer/recon", id="demo", date=day).status, 403, name)
    for values, status, text in (
            ({"id": "nobody-1", "date": day}, 404, "nobody-1"),
            ({"id": "--help", "date": day}, 404, "no such dealer"),
            ({"id": "demo", "date": "yesterday"}, 400, "YYYY-MM-DD"),
            ({"id": "demo", "date": "2026-02-31"}, 400, "2026-02-31"),
            ({"id": "demo", "date": "9999-01-01"}, 400, "has not begun")):
        page = post(kim, "/dealer/recon", **values)
        check(status <= page.status < 500 and text in page.document().text(), f"{values}: {page.status} {page.text[-900:]}")


def doctor_ran(office, times):
    """The log has its lines soon after the console has the answers."""
    def runs():
        return office.log().count("job=doctor outcome=ended")
    wait_until(lambda: runs() >= times, WAIT_S, f"doctor ran {times} times")
    equal(runs(), times, "doctor did not run again for a kept result, or one of less than 10 s")


def case_one_doctor(office):
    """An operator that opens Health while doctor runs sees that run: a reload takes no further
    place and no thread."""
    rita, nok = (office.browsers[name] for name in ("rita", "nok"))
    with stopped(office):
        asked = [Asked(lambda browser=browser: browser.get("/health")) for browser in (rita, nok)]
        wait_until(lambda: any(one.pages for one in asked), WAIT_S, "one of both is answered")
        shown = next(one for one in asked if one.pages)
        other = next(one for one in asked if one is not shown)
        text = shown.page().document().text()
        check("Doctor has been running since" in text and "takes 60 s at most" in text, text)
        for _ in range(8):
            check("Doctor has been running since" in rita.get("/health").document().text(), "a reload")
        page = post(nok, "/health")
        equal((page.status, page.header("Location")), (303, "/console/health"), "Run again")
        check(not other.pages, "the first waits for its result")
    check("Made " in other.page().document().text(), other.page().text[-900:])
    check("Made " in rita.get("/health").document().text(), "the result is shown")
    doctor_ran(office, 1)


def case_health(office):
    """Doctor's checks with remedies and counts; the result is kept until it is run again."""
    rita = office.browsers["rita"]
    page = rita.get("/health")
    equal(page.status, 200, page.text[-600:])
    document = page.document()
    counts = re.search(r"FAIL (\d+), WARN (\d+), PASS (\d+), not looked at (\d+)", document.text())
    check(counts, document.text())
    results = [next(row.all("td")).text() for row in document.all("tr") if list(row.all("td"))]
    equal([results.count(name) for name in ("FAIL", "WARN", "PASS", "SKIP")], [int(n) for n in counts.groups()],
          "the counts are those of the rows")
    check(int(counts.group(3)) > 5 and any("configuration" in row.text() for row in document.all("tr")), "the checks")
    check("hosts of dealers were not looked up" in document.text(), "a job asks no name server")
    made = next(node for node in document.all("section") if "Made " in node.text())
    made = next(made.all("time")).attributes["datetime"]
    check(made in office.browsers["nok"].get("/health").text, "the kept result")

    def newer():
        page = post(office.browsers["nok"], "/health")
        equal(page.status, 303, page.text[-600:])
        return made not in rita.get("/health").text
    wait_until(newer, 60, "a newer result, once the other is 10 s old")
    doctor_ran(office, 2)


class Mounted(Installed):
    """The same console under further web servers, whose patience is 1 s in place of 75."""

    def __init__(self, console):  # pylint: disable=super-init-not-called
        self.wallet, self.dir, self.socket = console.wallet, console.wallet.dir / "mounted", console.socket
        self.dir.mkdir(mode=0o755)
        self.listen()

    def mount(self, front, server="lighttpd"):
        text, count = re.subn(r'(read_timeout |timeout=|"read-timeout" => )75', r"\g<1>1", super().mount(front, server))
        equal(count, 1, f"the patience of {server}")
        return text


def case_quiet_recon(office):
    """A recon file whose rows are far apart is not given up by any web server; another page is."""
    mounted = Mounted(office.console)
    day = time.strftime("%Y-%m-%d", time.gmtime())
    with contextlib.ExitStack() as stack:
        stack.callback(mounted.server.stop)
        ports = {"lighttpd": mounted.port}
        for name in ("apache", "nginx"):
            child, ports[name] = mounted.other(name)
            stack.callback(child.stop)
        for name, port in ports.items():
            browsers = {}
            for user in ("kim", "nok"):
                browsers[user] = Browser(mounted, user, port)
                browsers[user].cookies = dict(office.browsers[user].cookies)
            token = browsers["kim"].token()
            with stopped(office):
                recon = Asked(lambda kim=browsers["kim"], token=token:
                              kim.post("/dealer/recon", {"token": token, "id": "demo", "date": day}))
                for _ in range(2):
                    page = browsers["nok"].get("/explain", request="jobs-401")
                    check(page.status in (502, 503, 504), f"{name} gives up a page: {page.status} {page.text[-600:]}")
                check(not recon.pages, f"{name} waits for the file")
            page = recon.page()
            equal((page.status, page.header("Content-Type")), (200, "text/csv; charset=utf-8"), f"{name}: {page.text[-600:]}")
            check(page.text.splitlines()[-1].startswith("sha256,"), f"{name}: {page.text[-600:]}")
            # The pages that were given up have taken places of explain.
            wait_until(lambda: office.browsers["nok"].get("/explain", request="jobs-401").status == 200, WAIT_S,
                       "explain works again")


def case_balance(office):
    """The player's page asks the dealer for the balance; nothing moves."""
    wallet, nok = office.wallet, office.browsers["nok"]
    user = "o'bob --json; $(id)"
    answers = []
    with Scripted(lambda call: answers.pop(0)(json.loads(call.body)["user_id"])) as server:
        wallet.dealer_add("keeper", "--url", server.url, "--allow-http", mode="seamless")
        player = wallet.player_add("keeper", user)
        page = nok.get("/player", id=player)
        button = next(node for node in page.document().all("form") if "Ask the dealer" in node.text())
        address = button.attributes["action"]
        answers.append(lambda asked: (200, {"user_id": asked, "balance": 1015.25, "currency": "thb"}))
        page = post(nok, address)
        equal(page.status, 200, page.text[-900:])
        document = page.document()
        text = document.text()
        check("The dealer answered." in text and "1,015.25" in text and "Answered after, ms" in text, text)
        equal(next(document.all("h1")).text(), f"Player {user}", "it stands on the player's page")
        back = next(document.all("input", name="back")).attributes["value"]
        equal(nok.get(back).status, 200, "the page to which the choice of the zone leads")
        answers.append(lambda asked: (404, {"id": "user_not_found", "detail": "who?"}))
        text = post(nok, address).document().text()
        check("The dealer gave no balance." in text and "user_not_found" in text and "1,015.25" not in text, text)
    text = post(nok, address).document().text()
    check("The dealer gave no balance." in text and "dealer_unreachable" in text, text)
    rows = [row for row in wallet.ctl_json("audit", "--limit", 20)["audit"] if row["action"] == "dealer ping"]
    equal({(row["operator"], row["object"], row["detail"]) for row in rows}, {("nok", "keeper", user)}, "the audit")
    equal(len(rows), 3, f"the audit has each: {rows}")
    rita = office.browsers["rita"]
    check("creditbridgectl dealer ping DEALER --user USER" in rita.get("/player", id=player).document().text(),
          "the role read sees the command")
    page = post(rita, address)
    check(page.status == 403 and "This needs the role support" in page.text, page.text[-900:])
    page = post(nok, f"/player/balance?id={wallet.ctl_json('player', 'show', 'demo', 'alice')['player_id']}")
    check(page.status == 404 and "transfer wallet" in page.document().text(), page.text[-900:])
    office.unlisten()
    text = post(nok, address).document().text()
    check("creditbridgectl dealer ping --user='o'\\''bob --json; $(id)' keeper" in text, text[-900:])
    office.listen()


ALONE = ("unshare", "--net", "--")
WITHOUT_RIGHTS = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--")


def refuse_without_root():
    if os.geteuid():
        raise cb.Skip("only root can make a network of its own and change users")


class Inquiries:
    """What systemd does for ping.sock: starts a process as a user without rights for each connection."""

    def __init__(self, wallet):
        path = wallet.sockets / "ping.sock"
        self.argv = [*WITHOUT_RIGHTS, str(find_program("creditbridgectl")), "--config", str(wallet.config), "job", "--ping"]
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.path, self.ends = path, []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                with self.listener.accept()[0] as connection:
                    self.ends.append(subprocess.run(self.argv, stdin=connection, timeout=WAIT_S, check=False).returncode)

    def close(self):
        self.path.unlink()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def balance_of(call):
    return 200, {"user_id": json.loads(call.body)["user_id"], "balance": 7.25, "currency": "thb"}


def case_inquiry(office):
    """A process without rights and without a socket of the ledger asks the dealer; the ping has no network."""
    refuse_without_root()
    wallet = office.wallet

    def asked():
        done = subprocess.run([*ALONE, *wallet.ctl_argv("--json", "dealer", "ping", "asked")], capture_output=True,
                              text=True, timeout=WAIT_S, check=False)
        return json.loads(done.stdout)
    with Scripted(balance_of) as server, contextlib.ExitStack() as stack:
        wallet.dealer_add("asked", "--url", server.url, "--allow-http", mode="seamless")
        wallet.player_add("asked", "ann")
        equal((asked()["class"], server.seen), ("not_sent", []), "the control: without a network nothing is sent")
        inquiries = Inquiries(wallet)
        stack.callback(inquiries.close)
        found = asked()
        equal((found["ok"], found["balance"], len(server.seen)), (True, 7.25, 1), found)
        wait_until(lambda: inquiries.ends, WAIT_S, "the process ends")
        equal(inquiries.ends, [0], "its end")
        check("x-casino-signature" in server.seen[0].headers, "it is signed")
        server.reply = lambda call: (404, {"id": "user_not_found", "detail": "line\n2"})
        found = asked()
        equal((found["class"], found["error"]["id"]), ("refused", "dealer_refused"), found)
        # A process that ends without an answer.
        inquiries.argv = ["true"]
        found = asked()
        equal((found["class"], found["error"]["id"], len(server.seen)), ("unknown", "dealer_timeout", 2), found)
        # Ten such calls of players would open the breaker, and the next one would not be permitted.
        for _ in range(11):
            found = asked()
            equal((found.get("class"), found["error"]["id"]), ("unknown", "dealer_timeout"), found)
        # What is no inquiry is not sent.
        inquiries.argv = [*WITHOUT_RIGHTS, str(find_program("creditbridgectl")), "--config", str(wallet.config), "job", "--ping"]
        for raw in (b"", b"\xff\xff\xff\xff", b"\0\0\0\x04oops"):
            with socket.socket(socket.AF_UNIX) as link:
                link.settimeout(WAIT_S)
                link.connect(str(inquiries.path))
                link.sendall(raw)
                link.shutdown(socket.SHUT_WR)
                equal(link.recv(64), b"", f"the answer to {raw}")
        equal(len(server.seen), 2, "calls of the dealer")


def case_listen_inquiry(office):
    """Without systemd, root's acceptor has the sweeper's user serve ping.sock."""
    refuse_without_root()
    wallet = office.wallet
    users = wallet.dir / "passwd"
    owner = pwd.getpwuid(os.stat(wallet.state).st_uid).pw_name
    free = next(uid for uid in range(40000, 50000) if uid not in {row.pw_uid for row in pwd.getpwall()})
    users.write_text(pathlib.Path("/etc/passwd").read_text() + f"{owner}-sweep:x:{free}:{free}::/nonexistent:/bin/false\n")
    # Debian's package puts the sweeper's user into the group of edge.sock.
    groups = wallet.dir / "group"
    groups.write_text(pathlib.Path("/etc/group").read_text() + f"further:x:{free + 1}:{owner}-sweep\n")
    path = wallet.sockets / "ping.sock"
    office.unlisten()
    script = 'mount --bind "$0" /etc/passwd && mount --bind "$1" /etc/group && shift && exec "$@"'
    acceptor = Child(["unshare", "--mount", "sh", "-c", script, users, groups, find_program("creditbridgectl"), "--config",
                      wallet.config, "job", "--listen"], wallet.logs / "jobs.log")
    try:
        acceptor.wait_ready(lambda: socket_ready(path), WAIT_S, "ping.sock")
        wait_until(lambda: socket_ready(wallet.sockets / "jobs.sock"), WAIT_S, "jobs.sock")
        equal(path.stat().st_mode & 0o777, 0o600, "its mode")
        def users_of():
            found = {}
            for pid in commands_with(f"{wallet.config}\0job\0--listen"):
                with contextlib.suppress(FileNotFoundError):  # The process of a connection has ended.
                    found[pid] = os.stat(f"/proc/{pid}").st_uid
            return found
        wait_until(lambda: free in users_of().values(), WAIT_S, "a process of the sweeper's user")
        found = users_of()
        apart = next(pid for pid, uid in found.items() if uid == free)
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{apart}/status").read_text().splitlines()
                      if ":\t" in line)
        equal((status["Groups"].split(), set(status["Gid"].split())), ([], {str(free)}), "its groups")
        with Scripted(balance_of) as server:
            wallet.dealer_add("listened", "--url", server.url, "--allow-http", mode="seamless")
            wallet.player_add("listened", "ann")
            # The ping has no network, and the process on ping.sock has one.
            done = subprocess.run([*ALONE, *wallet.ctl_argv("--json", "dealer", "ping", "listened")], capture_output=True,
                                  text=True, timeout=WAIT_S, check=False)
            equal((json.loads(done.stdout)["ok"], len(server.seen)), (True, 1), done.stdout + done.stderr)
    finally:
        equal(acceptor.stop(), 0, "the acceptor ends")
        office.listen()
    check(not path.exists(), "its socket is gone")
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in found), WAIT_S, "the sweeper's user's process ends")


def ping(office):
    """Begins a ping that the dealer does not answer. Returns its thread, and its page to come."""
    nok = office.browsers["nok"]
    token = nok.token()
    before = len(office.silent.taken)
    pages = []
    thread = threading.Thread(target=lambda: pages.append(nok.post("/dealer/ping", {"token": token, "id": "slow"})))
    thread.start()
    wait_until(lambda: len(office.silent.taken) > before, WAIT_S, "the ping reaches the dealer")
    return thread, pages


def pings(office):
    """The processes of the pings that are under way."""
    return commands_with(f"dealer\0ping\0--config\0{office.wallet.config}")


def case_busy(office):
    """Two pings run at a time. The third is refused with a sentence, and keeps no other job from running."""
    waiting = []
    for _ in range(2):
        waiting.append(ping(office))
        # Stopped, it does not end by its own limit.
        for pid in pings(office):
            os.kill(pid, signal.SIGSTOP)
    page = post(office.browsers["nok"], "/dealer/ping", id="slow")
    equal(page.status, 503, "the third")
    check("The console already runs 2 jobs of the kind ping" in page.document().text(), page.text[-900:])
    equal(office.browsers["nok"].get("/explain", request="jobs-401").status, 200, "explain runs beside them")
    for pid in pings(office):
        os.kill(pid, signal.SIGCONT)
    office.silent.drop()
    for thread, pages in waiting:
        thread.join(WAIT_S)
        equal(pages[0].status, 200, "a ping")
        check("dealer_timeout" in pages[0].document().text(), pages[0].text[-900:])
    page = post(office.browsers["nok"], "/dealer/ping", id="demo")
    check(page.status == 404 and "transfer wallet" in page.document().text(), page.text[-900:])
    equal(office.browsers["nok"].post("/dealer/ping", {"token": "0", "id": "slow"}).status, 403, "a wrong token")


def case_too_long(office):
    """A job that takes too long is ended, and its place is free."""
    office.listen("--for", "1s")
    for _ in range(2):
        page = post(office.browsers["nok"], "/dealer/ping", id="slow")
        equal(page.status, 503, "the ping")
        check("The job took longer than 1 s and was ended" in page.document().text(), page.text[-900:])
    equal(pings(office), {}, "nothing is left of them")
    office.listen()


def case_gone(office):
    """A console that closes the connection ends the job; so does the end of the acceptor."""
    before = len(office.silent.taken)
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(office.wallet.sockets / "jobs.sock"))
        link.sendall(request_of("ping", session=session_of(office.browsers["nok"]), casino="slow"))
        wait_until(lambda: len(office.silent.taken) > before, WAIT_S, "the ping reaches the dealer")
        dealer = office.silent.taken[-1]
        # A ping that stands still does not end by itself.
        for pid in pings(office):
            os.kill(pid, signal.SIGSTOP)
    dealer.settimeout(WAIT_S)
    while dealer.recv(4096):
        pass
    thread, pages = ping(office)
    office.unlisten()
    thread.join(WAIT_S)
    equal(pages[0].status, 500, "the ping")
    check("ended without a complete answer" in pages[0].document().text(), pages[0].text[-900:])


def case_cells(office):
    """With several cells a job acts on the default cell, whatever the state of the others."""
    wallet, other = office.wallet, office.wallet.dir / "cell-b.conf"
    kept = wallet.config.read_text()
    other.write_text(f'cell_name = "b"\nledger_number = 1\nsocket_directory = "{wallet.dir}/b"\n'
                     f'state_directory = "{wallet.dir}/b-state"\n')
    wallet.config.write_text(f'cell_name = "a"\ncells = {{"{other}"}}\n{kept}')
    try:
        office.listen()
        _, came, detail = office.ask(request_of("ping", session=session_of(office.browsers["nok"]), casino="absent"))
        check(detail.startswith("dealer_not_found: there is no dealer"), (came, detail))
        done = wallet.ctl_run("dealer", "ping", "absent")
        check("cell b cannot be asked" in done.stderr, f"the command itself asks the other cell: {done.stderr}")
    finally:
        wallet.config.write_text(kept)
        office.listen()


def case_not_served(office):
    """Without an acceptor the page shows the command to type."""
    office.unlisten()
    page = office.browsers["nok"].get("/explain", request="jobs-401")
    check("creditbridgectl explain jobs-401" in page.document().text(), page.text[-900:])
    page = post(office.browsers["nok"], "/health")
    text = page.document().text()
    check("creditbridgectl doctor" in text and "creditbridge-job.socket" in text, text)
    office.listen()


def case_ended_session(office):
    nok = office.browsers["nok"]
    session = session_of(nok)
    office.wallet.ctl("operator", "sign-out", "nok")
    _, came, _ = office.ask(request_of("explain", session=session, request="jobs-401"))
    equal(came, "signed_out", "the session has ended")
    equal(nok.get("/explain", request="jobs-401").status, 303, "the console asks to sign in")


def case_halted(office):
    """Health works while the ledger is halted, and says what can be said while it is down."""
    wallet, rita = office.wallet, office.browsers["rita"]
    mark = wallet.state / "halted"
    mark.write_text("")
    os.chown(mark, os.stat(wallet.state).st_uid, -1)
    engines = wallet.engine_pids()
    for pid in engines:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: wallet.ctl_json("status")["halted"], WAIT_S, "the halt")
    page = post_halted(rita)
    check("The ledger is halted because its disk failed" in page and "creditbridgectl resume" in page, page)
    check("FAIL" in page and "halted" in page, f"doctor ran: {page}")
    wallet.stop()
    page = rita.get("/health")
    equal(page.status, 503, "the ledger is down")
    check("systemctl status creditbridge-ledger" in page.document().text(), page.text)
    equal(office.ask(request_of("doctor", session="f" * 64))[:2], (b"", "no_ledger"), "a job without a ledger")


def post_halted(browser):
    """Runs doctor by the form of the page itself: other pages do not work now."""
    page = browser.get("/health")
    equal(page.status, 200, page.text[-900:])
    form = next(node for node in page.document().all("form")
                if node.attributes["action"].endswith("/health"))
    token = next(form.all("input", name="token")).attributes["value"]
    return browser.follow(browser.post("/health", {"token": token})).document().text()


CASES = (
    ("explain", case_explain),
    ("sessions and roles", case_roles),
    ("recon", case_recon),
    ("one doctor at a time", case_one_doctor),
    ("health", case_health),
    ("a recon file without a row for long", case_quiet_recon),
    ("the balance at the dealer", case_balance),
    ("a ping by a process without rights", case_inquiry),
    ("the sweeper's user serves inquiries without systemd", case_listen_inquiry),
    ("places", case_busy),
    ("a job that takes too long", case_too_long),
    ("a console that is gone", case_gone),
    ("several cells", case_cells),
    ("not served", case_not_served),
    ("a session that ended", case_ended_session),
    ("a ledger that is down or halted", case_halted),
)


def main():
    with contextlib.ExitStack() as stack:
        wallet = stack.enter_context(cb.Instance("jobs", settings={
            **front_setting(stack), "callback_timeout_ms": 6000, "callback_lease_ms": 20000,
            "callback_networks": ["127.0.0.0/8"]}))
        office = Office(wallet)
        stack.callback(office.close)
        return cb.run_cases([(name, lambda case=case: case(office)) for name, case in CASES], seconds=60)


if __name__ == "__main__":
    sys.exit(main())
