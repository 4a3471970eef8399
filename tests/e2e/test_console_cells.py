#!/usr/bin/python3
"""The web console of each of two cells, at one host name, with one browser.

Ledgers and consoles are the installed programs, each with the file of its cell: that of cell b is cell-b.conf, as on an
installed host. Jobs are started as systemd starts them.
"""
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import Browser, Installed, front_setting  # noqa: E402
from cb_process import find_program  # noqa: E402

CELLS = {"a": 0, "b": 3}
OFFICE = None


class Office:
    """Two cells with a dealer and a console each. A browser sends its cookies to both consoles, because cookies do not
    know ports."""

    def __init__(self, stack):
        self.wallets, self.consoles, self.browsers, cookies = {}, {}, {}, {}
        for name, number in CELLS.items():
            wallet = cb.Instance(f"cbcons{name}", settings={"cell_name": name, "ledger_number": number} |
                                 front_setting(stack))
            stack.callback(wallet.close)
            wallet.dealer_add(f"dealer-{name}")
            wallet.player_add(f"dealer-{name}", f"user-{name}")
            self.wallets[name] = wallet
        # The default cell is a: its file names that of b.
        self.configs = {"a": self.wallets["a"].dir / "both.conf", "b": self.wallets["b"].dir / "cell-b.conf"}
        self.configs["b"].write_text(self.wallets["b"].config.read_text())
        self.configs["a"].write_text(self.wallets["a"].config.read_text() + f'cells = {{"{self.configs["b"]}"}}\n')
        for name, wallet in self.wallets.items():
            console = stack.enter_context(Installed(wallet, "console", config=self.configs[name], threads=4))
            browser = Browser(console, "ann")
            browser.cookies = cookies
            self.consoles[name], self.browsers[name] = console, browser

    def sign_in(self, name):
        secret = self.wallets[name].ctl_json("operator", "add", "ann", "--role", "admin")["otpauth"]
        page = self.browsers[name].post("/sign-in", {"code": one_time_code(secret)})
        equal(page.status, 303, f"ann signs in to the console of cell {name}: {page.text[:400]}")


def shown(name, path, **query):
    page = OFFICE.browsers[name].get(path, **query)
    equal(page.status, 200, f"{path} of cell {name}: {page.header('Location')} {page.text[:400]}")
    return page.text


def case_sign_in():
    """A session in one cell is none in the other one."""
    check('<span class="cell">cell a</span>' in shown("a", "/sign-in"), "the sign-in names the cell")
    OFFICE.sign_in("a")
    page = OFFICE.browsers["b"].get("/")
    check(page.status == 303 and "/sign-in" in page.header("Location"), f"cell b: {page.status}")
    check("cell a</span>" in shown("a", "/"), "the session in cell a goes on")
    OFFICE.sign_in("b")
    equal(len([name for name in OFFICE.browsers["a"].cookies if name.startswith("creditbridge-console")]), 2,
          f"{OFFICE.browsers['a'].cookies}")


def case_pages():
    for name, other in (("a", "b"), ("b", "a")):
        text = shown(name, "/")
        check(f'<span class="cell">cell {name}</span>' in text, "each page names its cell")
        check(f", cell {name}</title>" in text, "the title does, too")
        check(f"dealer-{name}" in text and f"dealer-{other}" not in text, "the dealers of the cell")
        page = OFFICE.browsers[name].follow(OFFICE.browsers[name].get("/search", id=f"dealer-{name}/user-{name}"))
        check("Player" in page.text and f"user-{name}" in page.text, f"a player of cell {name}: {page.status}")
        text = shown(name, "/search", id=f"user-{other}")
        check(f"This console shows cell {name}" in text, "the search says where it looked")


@contextlib.contextmanager
def jobs_served():
    """Serves both sockets as systemd does: it runs the same command for each connection, which is its standard input."""
    argv = [find_program("creditbridgectl"), "--config", OFFICE.configs["a"], "job"]
    listeners, ran = [], []

    def accept(listener):
        with contextlib.suppress(OSError):
            while True:
                with listener.accept()[0] as connection:
                    ran.append(subprocess.Popen(argv, stdin=connection))

    for wallet in OFFICE.wallets.values():
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(wallet.sockets / "jobs.sock"))
        listener.listen()
        (wallet.sockets / "jobs.sock").chmod(0o666)  # The console's process runs as another user in the test.
        listeners.append(listener)
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
    try:
        yield
    finally:
        for listener, wallet in zip(listeners, OFFICE.wallets.values()):
            listener.shutdown(socket.SHUT_RDWR)  # ends accept()
            listener.close()
            (wallet.sockets / "jobs.sock").unlink()
        for process in ran:
            process.wait()


def case_jobs():
    """The jobs of a console are those of its cell."""
    with jobs_served():
        for name, other in (("a", "b"), ("b", "a")):
            browser = OFFICE.browsers[name]
            page = browser.follow(browser.post("/health", {"token": browser.token()}))
            equal(page.status, 200, "the page with the checks")
            check("Made " in page.text and "No creditbridgectl" not in page.text, f"doctor ran: {page.text[-900:]}")
            text = page.text.replace(str(OFFICE.configs["b"]), "")  # the check that reads all files
            check(f"/{OFFICE.wallets[name].dir.name}/state" in text and
                  f"/{OFFICE.wallets[other].dir.name}/" not in text, f"doctor looked at cell {name}: {text}")
            check("ping.sock is not there" in text, f"a remedy with a unit: {text}")
            unit = "creditbridge-ping.socket" if name == "a" else "creditbridge-ping@b.socket"
            check(f"systemctl enable --now {unit}" in text, f"{unit}: {text}")


def case_unknown_socket():
    """A job whose socket belongs to no cell is refused."""
    with tempfile.TemporaryDirectory(prefix="cbcons") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/jobs.sock")
        listener.listen()
        for words in ([], ["--ping"]):
            link = socket.socket(socket.AF_UNIX)
            link.connect(f"{folder}/jobs.sock")
            with link, listener.accept()[0] as connection:
                done = subprocess.run([find_program("creditbridgectl"), "--config", OFFICE.configs["a"], "job", *words],
                                      stdin=connection, capture_output=True, text=True, timeout=60, check=False)
            equal(done.returncode, 78, f"job {words}: {done.stdout}{done.stderr}")
            check(f"no cell has the socket_directory {folder}" in done.stderr, f"job {words}: {done.stderr}")


def case_remedies():
    """The commands and units on the pages of another cell than the default one are those of that cell."""
    for name, option, instance in (("a", "", ""), ("b", " --cell b", "@b")):
        text = shown(name, "/operators")
        check(f"creditbridgectl{option} operator add NAME" in text, f"/operators: {text}")
        text = shown(name, "/dealer", id=f"dealer-{name}")
        check(f"creditbridgectl{option} request --url URL" in text, f"/dealer: {text}")
        text = shown(name, "/health")  # jobs.sock is not there
        for part in (f"type: creditbridgectl{option} doctor", f"enable --now creditbridge-job{instance}.socket",
                     f"keep creditbridgectl{option} job --listen running"):
            check(part in text, f"/health: {part}: {text}")


def case_sign_out():
    browser = OFFICE.browsers["a"]
    equal(browser.post("/sign-out", {"token": browser.token()}).status, 303, "the sign-out of cell a")
    equal(browser.get("/").status, 303, "no session in cell a")
    check("cell b</span>" in shown("b", "/"), "the session in cell b goes on")


def case_no_ledger():
    """A restart of a ledger ends its sessions, so this is the last case."""
    for name, option, instance in (("a", "", ""), ("b", " --cell b", "@b")):
        OFFICE.wallets[name].stop()
        page = OFFICE.browsers[name].get("/dealers")
        equal(page.status, 503, f"cell {name} without a ledger")
        check(f"systemctl status creditbridge-ledger{instance}; creditbridgectl{option} doctor." in page.text, page.text)


CASES = [("sessions of two cells in one browser", case_sign_in), ("pages of each cell", case_pages),
         ("remedies of a cell", case_remedies), ("jobs of a cell", case_jobs), ("a socket of no cell", case_unknown_socket),
         ("the sign-out of one cell", case_sign_out), ("no ledger", case_no_ledger)]
for case in (case_pages, case_remedies, case_jobs, case_sign_out):
    cb.needs(case, CASES[0][0])


def main():
    global OFFICE
    with contextlib.ExitStack() as stack:
        OFFICE = Office(stack)
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
