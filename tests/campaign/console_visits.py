"""An operator's visit to the web console, whose secrets are noted: what leaks.py searches for.

The installed program runs on a desk.sock of the ledger, under a lighttpd of its own. The visit signs in,
reads every page to which a link leads, and sends the forms of a callback.
"""
import pathlib
import secrets
import urllib.parse

import cb_console
from cb import check, equal
from cb_codes import one_time_code
from cb_console import PREFIX, Browser

USER = "ann"  # of cb_console.USERS
PAGES_MAX = 150
FORMS_MAX = 5


class Console(cb_console.Console):
    """The console of @wallet, whose processes run as the wallet's programs do."""

    def __init__(self, wallet):
        folder = pathlib.Path(wallet.dir) / "console"
        super().__init__(wallet, wallet.argv([
            wallet.worker, "--config", wallet.config, "--serve", "console", "--base-path", PREFIX,
            "--loopback-http", "--threads", "2", "--socket", folder / "console.sock"]))


class Visits:
    """The visit to @wallet, and what is secret of it. A secret counts as found in the places where
    leaks.py does not expect its kind."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.front = wallet.front
        self.sessions = set()
        self.codes = set()      # the secrets of one-time codes
        self.pages = []         # Page
        self.console = None

    def start(self, printed_by):
        """Makes the operator with @printed_by, creditbridgectl as JSON, and starts the console."""
        otpauth = printed_by("operator", "add", USER, "--role", "admin")["otpauth"]
        self.codes.add(urllib.parse.parse_qs(urllib.parse.urlparse(otpauth).query)["secret"][0])
        self.otpauth = otpauth
        cb_console.FRONT = self.front
        self.console = Console(self.wallet)

    def run(self):
        browser = Browser(self.console, USER)
        self.note(browser.post("/sign-in", {"code": "wrong"}))
        page = self.note(browser.post("/sign-in", {"code": one_time_code(self.otpauth)}))
        equal(page.status, 303, f"the sign-in: {page.text[:300]}")
        self.sessions |= set(browser.cookies.values())
        self.read(browser)
        self.send(browser)
        token = browser.token()
        equal(self.note(browser.post("/sign-out", {"token": token})).status, 303, "the sign-out")

    def note(self, page):
        self.pages.append(page)
        return page

    def read(self, browser):
        """Every page to which a link leads."""
        seen, waiting = set(), [PREFIX + "/"]
        while waiting and len(seen) < PAGES_MAX:
            target = waiting.pop(0)
            if target in seen:
                continue
            seen.add(target)
            page = self.note(browser.get(target))
            check(page.status < 500, f"{target}: {page.status}")
            if page.status != 200 or not (page.header("Content-Type") or "").startswith("text/html"):
                continue
            for link in page.document().all("a"):
                to = urllib.parse.urljoin(target, link.attributes.get("href") or "").partition("#")[0]
                if to.startswith(PREFIX + "/") and to not in seen:
                    waiting.append(to)
        self.read_all = seen
        check(len(seen) > 15, f"pages: {sorted(seen)}")

    def send(self, browser):
        """The forms of some callbacks."""
        sent = 0
        for target in sorted(self.read_all):
            if sent >= FORMS_MAX or not target.startswith(PREFIX + "/callbacks/"):
                continue
            for form in browser.get(target).document().all("form", method="post"):
                if not form.attributes["action"].endswith("/act"):
                    continue
                values = {node.attributes["name"]: node.attributes.get("value") or ""
                          for name in ("input", "button") for node in form.all(name)
                          if "name" in node.attributes}
                values |= {"reason": secrets.token_hex(4), "code": "000000"}
                self.note(browser.post(form.attributes["action"], values))
                sent += 1
        check(sent, "no form of a callback was found")

    def stop(self):
        if self.console:
            self.console.close()
