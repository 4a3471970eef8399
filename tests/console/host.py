"""What the scripts of the browser ask of the ledger's host: they print a line {"ask": WHAT, ...} and read one line."""
import itertools
import json
import os
import signal
import subprocess
import threading

from cb import check
from cb_tap import comment
from cb_worker import SUCCESS, UNKNOWN
from office import cb, test_console, test_replay

PARKED = 12  # callbacks of a dealer whose replay can be looked at while it runs


class Host:
    """Each ask_WHAT() takes the members of the line and returns what is answered, as JSON."""

    def __init__(self, office):
        self.office, self.wallet = office, office.wallet
        self.numbers = itertools.count(1)

    def ask_code(self, user):
        return self.office.code(user)

    def ask_next_code(self, user):
        return self.office.next_code(user)

    def ask_stop(self):
        self.wallet.stop()

    def ask_start(self):
        self.wallet.start()

    def ask_kill_engine(self):
        (engine,) = self.wallet.engine_pids()
        os.kill(engine, signal.SIGKILL)
        cb.wait_until(lambda: engine not in self.wallet.engine_pids(), 20, "the end of the engine")
        cb.wait_until(self.wallet.answering, 20, "the next engine")

    def ask_kill_console(self):
        self.office.console.kill()

    def ask_change(self, user):
        """Gives the operator the other one of two roles."""
        role = {"admin": "finance", "finance": "admin"}[self.office.roles[user]]
        self.office.roles[user] = role
        self.wallet.ctl("operator", "set", user, "--role", role)

    def ask_unlock(self, user):
        self.wallet.ctl("operator", "unlock", user)

    def ask_audit(self, reason):
        """How many actions have the reason."""
        rows = self.wallet.ctl_json("audit", "--limit", 200)["audit"]
        return sum(row["reason"] == reason for row in rows)

    def ask_fresh(self, seconds):
        """How long a code counts as fresh: the ledger reads its settings at its start."""
        text = self.wallet.config.read_text()
        lines = [line for line in text.splitlines() if not line.startswith("console_code_fresh_s")]
        self.wallet.config.write_text("\n".join([*lines, f"console_code_fresh_s = {seconds}", ""]))
        self.wallet.stop()
        self.wallet.start()

    def ask_dispute(self):
        """A bet that the dealer did not answer: its ids, and the sentences of creditbridgectl."""
        number = next(self.numbers)
        reference, game, request = f"dispute-{number}", f"disputed-{number}", f"http-dispute-{number}"
        # Of its own: a breaker that is open refuses bets.
        name = test_replay.dealer_new(f"disputes-{number}")
        with self.office.world.link() as link:
            link.request_id = request
            bet = link.place("slots", name, "bob", game, 7, reference=reference)
            check(bet.transaction_id, f"the bet: {bet}")
            link.end(bet.send, name, UNKNOWN, status=503, note="HTTP 503", answer=test_console.ANSWER)
        story = self.wallet.ctl_json("bet", "show", bet.transaction_id)["story"]
        return {"bet": bet.transaction_id, "story": [story["happened"], story["owes"]],
                "ids": {"transaction": str(bet.transaction_id), "reference": reference, "game": game,
                        "request": request, "event": f"betting-{bet.send.event}"}}

    def ask_park(self, count=PARKED):
        """A dealer with that many parked results."""
        name = test_replay.dealer_new(f"late-{next(self.numbers)}")
        with self.office.world.link() as link:
            events = test_replay.park(link, name, count)
        return {"casino": name, "events": events, "count": count}

    def ask_park_more(self, casino):
        with self.office.world.link() as link:
            return test_replay.park(link, casino, 1, first=100)

    def ask_deliver(self, casino):
        """The dealer takes its due callbacks, once."""
        with self.office.world.link() as link:
            return len(test_replay.send_due(link, casino, SUCCESS))

    def ask_attempts(self, casino, events):
        """The numbers of attempts that callbacks of @events have."""
        return sorted(test_replay.attempts_of(casino, events))

    def ask_replays(self, casino):
        return sum(row["casino_id"] == casino for row in self.wallet.ctl_json("replay", "list")["replays"])

    def ask_refuse(self):
        number = next(self.numbers)
        return self.office.refuse(f"refused-{number}", request_id=f"browser-401-{number}")

    def ask_day(self):
        """The sums of the recon file of the newest day of a dealer with bets."""
        day = next(row for row in self.wallet.ctl_json("report", "days", "demo")["days"] if row["bets"])
        return {"casino": "demo", "date": day["date"], "sums": test_console.day_of_recon("demo", day["date"])}

    def ask_forge(self, login, front):
        return self.office.console.forge(login, front)

    def ask_strange(self, server):
        """The address of a console that the web server's user started; "": the tests have that user's rights."""
        return self.office.url(self.office.strange()[server]) if self.wallet.user else ""

    def answer(self, line):
        words = {key: value for key, value in line.items() if key != "ask"}
        return json.dumps(getattr(self, f"ask_{line['ask']}")(**words))


def converse(argv, env, host, seconds):
    """Runs the script and answers what it asks. Returns its other lines."""
    lines = []
    with subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=env) as child:
        timer = threading.Timer(seconds, child.kill)
        timer.start()
        try:
            for text in child.stdout:
                line = json.loads(text)
                if "what" in line:
                    comment(json.dumps(line))
                if "ask" not in line:
                    lines.append(line)
                    continue
                child.stdin.write(host.answer(line) + "\n")
                child.stdin.flush()
        finally:
            timer.cancel()
            child.kill()
    return lines
