"""Hostile text in every field that others may choose: what is put where, and what the pages must show.

A field takes a payload or refuses it; the refusal is checked here. corpus.js reads the pages: a visit is
    user, address    the operator, and the page that the operator opens
    pairs            {label: the text beside it}
    columns          {heading of a column: [the texts of cells], here or on the next pages of the list}
    texts            each is the whole text of an element
    values           {selector of an input: its value}
    within, absent   these are, or are not, in the text of the page
"""
import collections
import json
import re
import urllib.parse

import cb
from cb import check, equal
from cb_console import PASSWORD, Browser
from cb_worker import REFUSED, SUCCESS, WIN
from test_console import HIDDEN, PAYLOADS, shown

CASINO = "hostile"
# The last two cannot be an argument of a command, or a line of a file.
ALL = PAYLOADS + ("a\0b", "a\nb")
PATH_LETTERS = 100  # a path is cut after 128 bytes
REASON_MAX = 256  # bytes
ERROR_MAX = 64  # bytes of a dealer's error id, which the worker cuts


def below(path, **query):
    return path + "?" + urllib.parse.urlencode(query)


def shown_lines(text):
    """How the console shows text of several lines."""
    return "\n".join("\t".join(shown(part) for part in line.split("\t")) for line in text.split("\n"))


class Corpus:
    """Puts the payloads into the ledger of @office. @held: field -> the payloads that it took."""

    def __init__(self, office):
        self.office, self.wallet = office, office.wallet
        self.visits = []
        self.held = collections.defaultdict(list)
        self.wallet.dealer_add(CASINO, "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
        self.wallet.player_add(CASINO, "plain")
        with office.world.link() as link:
            self.bets(link)
        self.refused_nul()
        self.reasons()
        self.refused_calls()
        self.searches()
        self.logins()

    def visit(self, user, address, **members):
        self.visits.append({"user": user, "address": address, **members})

    def put(self, field, payload, taken, why=""):
        """Notes whether the field took the payload. Only what is not visible may be refused. Returns @taken."""
        if taken:
            self.held[field].append(payload)
        else:
            check(HIDDEN.search(payload), f"{field} refuses {payload!r}: {why}")
        return taken

    def user_of(self, payload):
        """The player of that name, or "plain"."""
        if "\0" in payload:
            return "plain"
        done = self.wallet.ctl_run("player", "add", CASINO, "--", payload)
        return payload if self.put("user_id", payload, not done.returncode, done.stderr) else "plain"

    def bets(self, link):
        """A bet that is settled, and one that the dealer refuses, for each payload."""
        for number, payload in enumerate(ALL):
            user = self.user_of(payload)
            bet_bytes, result_bytes = (json.dumps({name: payload}, ensure_ascii=False, separators=(",", ":")).encode()
                                       for name in ("bet", "won"))
            plain = {"game": f"plain-{number}", "reference": f"plain-{number}", "remark": "plain"}
            ids = plain if "\0" in payload else {name: payload for name in plain}  # refused_nul()
            placed = self.place(link, user, ids, bet_bytes)
            taken = ids is not plain and placed.transaction_id
            if not self.put("game_id", payload, taken, placed.refusal) and ids is not plain:
                ids = plain
                placed = self.place(link, user, ids, bet_bytes)
            check(placed.transaction_id, f"a bet with {payload!r}: {placed}")
            link.end(placed.send, CASINO, SUCCESS, status=200)
            made = link.settle("slots", CASINO, user, ids["game"], WIN, 1, game_result=result_bytes)
            equal(made.refusal, "", f"a result with {payload!r}")
            link.end(made.send, CASINO, SUCCESS, status=200)
            self.visit("rita", f"bets/{placed.transaction_id}", texts=[shown(bet_bytes.decode()), shown(user)],
                       within=[shown(result_bytes.decode())],  # in the body of the callback
                       pairs={"Game": shown(ids["game"]), "Its reference": shown(ids["reference"]),
                              "Remark": shown(ids["remark"])})
            self.keep_bet(placed.transaction_id, payload)
            self.refuse(link, user, f"no-{number}", payload)

    @staticmethod
    def place(link, user, ids, user_bet):
        return link.place("slots", CASINO, user, ids["game"], 1, reference=ids["reference"], remark=ids["remark"],
                          user_bet=user_bet)

    def keep_bet(self, transaction, payload):
        """Notes which fields of the settled bet have the payload in the ledger."""
        shown_bet = self.wallet.ctl_json("bet", "show", transaction)
        bet, played = shown_bet["bet"], shown_bet["round"]
        for field, kept in (("reference", bet["request_transaction_id"]), ("remark", bet["remark"]),
                            ("user_bet", bet["user_bet"]["bet"]),
                            ("results", played["game_result"]["won"])):
            self.put(field, payload, kept == payload, f"the ledger has {kept!r}")

    def keep_refusal(self, lost, payload, error):
        """Notes which fields of the refused bet and of its callback have the payload in the ledger."""
        bet = self.wallet.ctl_json("bet", "show", lost.transaction_id)["bet"]
        callback = self.wallet.ctl_json("callback", "show", lost.send.event)
        (attempt,), (answer,) = callback["tries"], callback["answers"]
        # An id is cut.
        self.put("dealer's error id", payload, attempt["dealer_error_id"] == error and payload.startswith(error),
                 f"the ledger has {attempt['dealer_error_id']!r}")
        for field, kept in (("dealer's detail", bet["dealer_error_detail"]), ("note", attempt["note"]),
                            ("answer", answer["text"])):
            self.put(field, payload, kept == payload, f"the ledger has {kept!r}")

    def refuse(self, link, user, game, payload):
        """The dealer answers with the payload wherever it can."""
        lost = link.place("slots", CASINO, user, game, 1)
        text = payload.replace("\0", "")  # the ledger keeps text
        error = text.encode()[:ERROR_MAX].decode(errors="ignore")
        link.end(lost.send, CASINO, REFUSED, status=402, error=error, detail=text, note=text, answer=text)
        self.keep_refusal(lost, payload, error)
        self.visit("rita", f"bets/{lost.transaction_id}", texts=[shown_lines(text)],
                   pairs={"Dealer's error": shown(error), "Dealer's text": shown(text)})
        self.visit("rita", f"callbacks/{lost.send.event}", texts=[shown_lines(text)],
                   columns={"Dealer's error": [shown(error)], "Note": [shown(text)]})

    def refused_nul(self):
        """No id that a caller sends has NUL."""
        dealer = self.wallet.dealer_add("nul")
        for name in ("user_id", "request_transaction_id"):
            body = {"user_id": "plain", "request_transaction_id": "plain", "amount": 1} | {name: "a\0b"}
            answer = cb.call(self.office.calls, "POST", cb.TRANSFER_IN, body, dealer=dealer)
            equal(answer.status, 400, f"NUL in {name}: {answer}")

    def reasons(self):
        """The reason that an operator gives for an action, and that the audit keeps."""
        event = self.office.world.parked
        nok = Browser(self.office.console, "nok")
        equal(nok.post("/sign-in", {"code": self.office.code("nok")}).status, 303, "signed in")
        for payload in (*ALL, "x" * (REASON_MAX + 1)):
            root = nok.get(f"/callbacks/{event}").document()
            form = {node.attributes["name"]: node.attributes.get("value", "") for node in root.all("input")
                    if node.attributes.get("name") in ("token", "operation")}
            state = next(name for name in ("hold", "release") if list(root.all("button", name="action", value=name)))
            page = nok.post(f"/callbacks/{event}/act", form | {"action": state, "reason": payload})
            if len(payload) > REASON_MAX:
                equal(page.status, 400, "a reason that is too long")
                continue
            check(page.status in (303, 400), f"reason {payload!r}: {page.status}")
            self.put("reason", payload, page.status == 303, page.text[-300:])
        texts = [shown(text) for text in self.held["reason"]]
        self.visit("kim", below("audit", action="callback"), columns={"Reason": texts})

    def refused_calls(self):
        """Calls without a key, which any stranger may write. The list shows no signature, query or other member of the
        body; the page of one call shows the query and the body."""
        for number, payload in enumerate(ALL):
            quoted = urllib.parse.quote(payload, safe="")
            # A web server refuses these in an address, and no header can have them.
            control = bool(re.search("[\0\n]", payload))
            header = "plain" if control else payload.encode().decode("latin-1")
            body = {"user_id": payload, "request_transaction_id": payload, "amount": 1, "remark": f"body-{number}"}
            answer = cb.call(self.office.calls, "POST", f"{cb.TRANSFER_IN}?query-{number}={quoted}", body, casino="demo",
                             signature=f"signature-{number}-{header}", headers=[("X-Request-Id", header)])
            equal(answer.status, 400 if control else 401, f"a call with {payload!r}: {answer}")
        paths = self.paths()
        rows = cb.wait_until(lambda: self.refused_rows(paths), 20, "the refused calls")
        calls = [row for row in rows if row["operation"] != "none"]
        for field, name in (("refused user", "user_id"), ("refused reference", "request_transaction_id")):
            taken = {row[name] for row in calls}
            for payload in ALL:
                self.put(field, payload, payload in taken)
        names = {payload for payload in ALL if re.fullmatch("[A-Za-z0-9._-]{1,64}", payload)}
        equal({row["request_id"] for row in calls} & set(ALL), names, "request ids that the caller gave")
        absent = ["signature-", "query-", "body-"]
        self.visit("nok", below("refused", casino="demo"), absent=absent, columns={
            "User": [shown(text) for text in self.held["refused user"]],
            "Reference": [shown(text) for text in self.held["refused reference"]]})
        # A third of them, because explain takes long.
        for row in calls[::3]:
            self.visit("nok", below("explain", request=row["request_id"]), absent=["signature-"])
        kept = [row["path"] for row in rows if row["operation"] == "none"]
        for payload in ALL:
            # As a path is kept, and as the web server understands it.
            path = re.sub("//+", "/", "".join(chr(byte) if 32 < byte < 127 else "?" for byte in payload.encode()))
            if any(path[:PATH_LETTERS] in one for one in kept):
                self.held["path"].append(payload)
        for row in rows:
            if row["operation"] == "none":
                self.visit("nok", below("explain", request=row["request_id"]), within=[row["path"]])

    def paths(self):
        """Calls of paths that do not exist, each with several payloads, because explain takes long. Returns how many
        there are."""
        groups = [[]]
        for payload in ALL:
            if re.search("[\0\n]", payload):
                equal(cb.call(self.office.calls, "POST", "/" + urllib.parse.quote(payload), {}).status, 400, f"{payload!r}")
                continue
            if ".." in payload:  # which takes away what stands before it
                groups.insert(0, [payload])
                continue
            if sum(map(len, [*groups[-1], payload])) > PATH_LETTERS:
                groups.append([])
            groups[-1].append(payload)
        for number, group in enumerate(groups):
            path = "/".join(urllib.parse.quote(payload, safe="") for payload in group)
            equal(cb.call(self.office.calls, "POST", f"/path-{number}/{path}", {}).status, 404, path)
        return len(groups)

    def refused_rows(self, paths):
        """The rows of refused_calls(), once they are kept; None before."""
        rows = [row for row in self.wallet.ctl_json("refused", "list", "--limit", "0")["refused"]
                if row["operation"] == "none" or row["casino_id"] == "demo"]
        # The web server has refused NUL and the end of a line.
        found = sum(row["operation"] == "none" for row in rows)
        return rows if found == paths and len(rows) >= paths + len(ALL) - 2 else None

    def searches(self):
        rita = Browser(self.office.console, "rita")
        equal(rita.post("/sign-in", {"code": self.office.code("rita")}).status, 303, "signed in")
        for payload in ALL:
            if "\0" in payload or "\n" in payload:
                equal(rita.get("/search", id=payload).status, 400, f"a search for {payload!r}")
                continue
            self.held["search"].append(payload)
            text = payload + "~"  # which is no id
            value = re.sub("[\ufffe\ufdd0]", "\ufffd", text)  # which are no characters of HTML
            self.visit("rita", below("search", id=text), values={".search input": value}, within=[shown(text)])

    def logins(self):
        """REMOTE_USER, as a web server says it, and the logins of operators."""
        with (self.office.console.dir / "users").open("a", encoding="utf-8") as users:
            for number, payload in enumerate(ALL):
                if "\0" in payload:
                    continue
                done = self.wallet.ctl_run("operator", "add", f"a-{number:02}", "--role", "read", f"--login={payload}")
                self.put("login", payload, not done.returncode, done.stderr)
                if re.search("[:\n]", payload):  # which Basic and its file cannot hold
                    equal(Browser(self.office.console, payload).get("/sign-in").status, 401, f"the name {payload!r}")
                    continue
                users.write(f"{payload}:{PASSWORD}\n")
                self.held["REMOTE_USER"].append(payload)
                self.visit(payload, "sign-in", texts=[shown(payload)])
        self.visit("ann", "operators", columns={"Login": [shown(text) for text in self.held["login"]]})


FIELDS = ("user_id", "game_id", "reference", "remark", "user_bet", "results", "dealer's error id", "dealer's detail",
          "answer", "note", "reason", "refused user", "refused reference", "path", "REMOTE_USER", "login", "search")
