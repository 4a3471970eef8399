"""The pages of the web console that nthcall.py reads, and what each answer must be.

A fault may lose an answer, end a session or make a page a 5xx. A page that is answered with 200 is whole,
whatever failed on the way to it. A form that is answered with 303 has acted, and it acts once, however often it is sent.
"""
import re
import urllib.parse

import cb_fastcgi
from cb import check, equal, wait_until
from cb_codes import one_time_code
from cb_console import CODE, PREFIX
from play import FINISH_S

OPERATOR = "ann"
HOST = "localhost"
REASON = "a fault goes on"
MOMENT = 200  # of the first step (Operation.moment() gives lower numbers)
# path and query, a word of the whole page
PAGES = (
    ("/", "", "</html>"),
    ("/search", "id=nowhere", "</html>"),
    ("/dealer", "id=bank", "bank"),
    ("/players", "casino=bank&begins=a", "alice"),
    ("/player", "id=bank/alice", "alice"),
    ("/transactions", "casino=bank", "</html>"),
    ("/transactions.csv", "", "transaction_id"),
    ("/callbacks", "", "</html>"),
    ("/refused", "", "</html>"),
    ("/audit", "", "opening"),
    ("/replays", "", "</html>"),
    ("/replays/preview", "casino=casino", "Preview of a replay"),
    ("/days", "casino=bank", "bank"),
    ("/operators", "", OPERATOR),
    ("/health", "", "</html>"),
)
# Of a player that nothing else of the script names, and that the form suspends.
SUSPENDED = ("/player", "id=bank/filler", "filler")


def lacks_front(answer):
    """Whether the ledger admits no operator, because it could not read the file of the front secret."""
    return answer.status == 403 and b"front secret" in answer.body


class Pages:
    def __init__(self, socket, front, look):
        """@socket of the console, @front the front secret, @look starts programs that have ended."""
        self.socket, self.front, self.look = socket, front, look
        self.otpauth = None  # of the operator
        self.cookie = ""
        self.shown = 0  # pages that run() saw
        self.form = None  # of the suspension, as its page had it

    def request(self, method, path, query="", form=None):
        """The answer. None: none."""
        self.look()
        body = urllib.parse.urlencode(form or {}).encode()
        more = {"CREDITBRIDGE_FRONT": self.front, "REMOTE_USER": OPERATOR, "QUERY_STRING": query,
                "CONTENT_TYPE": "application/x-www-form-urlencoded",
                "REQUEST_URI": PREFIX + path + (f"?{query}" if query else "")}
        headers = [("Host", HOST), ("Origin", f"http://{HOST}"), ("Cookie", self.cookie)]
        try:
            return cb_fastcgi.request(self.socket, PREFIX + path, headers, body if method == "POST" else b"",
                                      8.0, method, more)
        except OSError:
            return None

    def sign_in(self, code):
        """Whether a session was begun."""
        answer = self.request("POST", "/sign-in", form={"code": code})
        cookies = dict(answer.headers).get("Set-Cookie", "") if answer else ""
        if not answer or answer.status != 303 or not cookies:
            return False
        self.cookie = cookies.partition(";")[0]
        return True

    def read(self, page):
        """Whether the page was shown."""
        path, query, word = page
        answer = self.request("GET", path, query)
        if answer is None or answer.status >= 500 or lacks_front(answer):
            return False
        if answer.status == 303:  # The session is over.
            return False
        equal(answer.status, 200, f"{path}: {answer}")
        self.text = answer.body.decode()
        check(word in self.text and (path.endswith(".csv") or self.text.rstrip().endswith("</html>")),
              f"{path} is not whole: {self.text[-300:]}")
        return True

    def fetch_form(self):
        """Reads the form of the suspension, unless it is known, with a token of this session."""
        if not self.read(SUSPENDED):
            return False
        form = self.text.partition("/player/suspend")[2].partition("</form>")[0]
        values = {name: value for name, value in
                  re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)}
        equal(sorted(values), ["id", "operation", "suspended", "token"], f"the form: {form}")
        self.form = (self.form or values) | {"token": values["token"], "reason": REASON}
        return True

    def send(self, path, form, done=303):
        """Whether the form was answered as done."""
        answer = self.request("POST", path, form=form)
        if answer is None or answer.status >= 500 or lacks_front(answer):
            return False
        # After the end of the session the form leads to the sign-in.
        if "/sign-in" in dict(answer.headers).get("Location", ""):
            return False
        equal(answer.status, done, f"{path}: {answer}")
        return True

    def send_forms(self):
        """Whether the forms were answered as done."""
        return (self.fetch_form() and self.send("/player/suspend", self.form) and
                self.send("/zone", {"token": self.form["token"], "zone": "+07:00"}) and
                self.send("/health", {"token": self.form["token"]}, 200))  # There is no jobs.sock.

    def run(self, control, tries):
        """While the fault goes on: each page a few times."""
        self.cookie = ""
        self.shown = 0
        self.form = None
        control.moment(MOMENT)
        # A code counts once: an answer that is lost has used it up.
        for code in (one_time_code(self.otpauth), CODE)[:tries]:
            if self.sign_in(code):
                break
        for number, page in enumerate(PAGES, 1):
            control.moment(MOMENT + number)
            for _ in range(tries):
                if self.read(page):
                    self.shown += 1
                    break
        control.moment(MOMENT + len(PAGES) + 1)
        self.shown += any(self.send_forms() for _ in range(tries))

    def finish(self, ctl):
        """After the fault every page is shown. @ctl: creditbridgectl as JSON."""
        def signed_in():
            self.otpauth = ctl("operator", "new-code", OPERATOR)["otpauth"]
            return self.sign_in(one_time_code(self.otpauth))
        wait_until(signed_in, FINISH_S, "a session of the console", interval=0.05)
        for page in PAGES:
            wait_until(lambda page=page: self.read(page), FINISH_S, f"the page {page[0]}", interval=0.02)
        wait_until(self.send_forms, FINISH_S, "the forms", interval=0.02)
        rows = [row for row in ctl("audit", "--limit", "0")["audit"] if row["reason"] == REASON]
        equal([row["operator"] for row in rows], [OPERATOR], "the suspension in the audit")
