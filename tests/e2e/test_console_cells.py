#!/usr/bin/python3
"""The web console of each of two cells, at one host name, with one browser.

Ledgers, consoles and the acceptor of jobs are the installed programs, each with the file of its cell.
"""
import contextlib
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import Browser, Installed, front_setting  # noqa: E402
from cb_process import Child, find_program, socket_ready  # noqa: E402

CELLS = {"a": 0, "b": 3}
WAIT_S = 20
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
            console = stack.enter_context(Installed(wallet, "console", threads=4))
            browser = Browser(console, "ann")
            browser.cookies = cookies
            self.wallets[name], self.consoles[name], self.browsers[name] = wallet, console, browser

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


def case_jobs():
    """The jobs of a console are those of its cell."""
    wallet = OFFICE.wallets["b"]
    path = wallet.sockets / "jobs.sock"
    acceptor = Child([find_program("creditbridgectl"), "--config", wallet.config, "job", "--listen"],
                     wallet.logs / "jobs.log")
    try:
        acceptor.wait_ready(lambda: socket_ready(path), WAIT_S, "jobs.sock")
        path.chmod(0o666)  # The console's process runs as this user in the test.
        browser = OFFICE.browsers["b"]
        page = browser.follow(browser.post("/health", {"token": browser.token()}))
        equal(page.status, 200, "the page with the checks")
        check("Made " in page.text and "No creditbridgectl" not in page.text, f"doctor ran: {page.text[-900:]}")
        check(wallet.dir.name in page.text and OFFICE.wallets["a"].dir.name not in page.text, "doctor looked at cell b")
    finally:
        acceptor.stop()


def case_sign_out():
    browser = OFFICE.browsers["a"]
    equal(browser.post("/sign-out", {"token": browser.token()}).status, 303, "the sign-out of cell a")
    equal(browser.get("/").status, 303, "no session in cell a")
    check("cell b</span>" in shown("b", "/"), "the session in cell b goes on")


CASES = [("sessions of two cells in one browser", case_sign_in), ("pages of each cell", case_pages),
         ("jobs of a cell", case_jobs), ("the sign-out of one cell", case_sign_out)]
for case in (case_pages, case_jobs, case_sign_out):
    cb.needs(case, CASES[0][0])


def main():
    global OFFICE
    with contextlib.ExitStack() as stack:
        OFFICE = Office(stack)
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
