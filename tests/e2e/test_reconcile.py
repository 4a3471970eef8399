#!/usr/bin/python3
"""creditbridgectl reconcile: dealers that went on after the backup, and a state that did not.

The dealers are books of this test. The commands that reconcile proposes are typed into a shell as
they stand; afterwards the books of both sides agree.
"""
import contextlib
import csv
import json
import os
import shlex
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import pack  # noqa: E402
from cb_middle import Operator  # noqa: E402
from cb_platform import LOOPBACK  # noqa: E402
from cb_process import pids_end  # noqa: E402
from cb_worker import LOSS, SUCCESS, UNKNOWN, WIN, Worker, bet_payload, placed, player_ref  # noqa: E402

SETTINGS = {**LOOPBACK, "callback_timeout_ms": 2000, "callback_lease_ms": 4000}
COLUMNS = ["record", "id", "time_ms", "user_id", "game_id", "kind", "state", "amount", "reference",
           "transaction_id", "revision"]
STAKE = 10


class Book:
    """The book of a seamless dealer: the calls that it executed."""

    def __init__(self):
        self.balance = 100
        self.rows = {}

    def row(self, record, number, **columns):
        self.rows[record, str(number)] = {"record": record, "id": number, "time_ms": cb.now_ms(),
                                          "user_id": "alice", **columns}

    def bet(self, placed, game):
        self.balance -= STAKE
        self.row("bet", placed.transaction_id, game_id=game, state="accepted", amount=STAKE)

    def result(self, event, game, payout):
        self.balance += payout
        self.row("callback", f"betting-result-{event}", game_id=game, kind="betting-result",
                 state="delivered", amount=payout)

    def give_back(self, number):
        row = self.rows["bet", str(number)]
        if row["state"] == "accepted":
            self.balance += STAKE
            row["state"] = "refunded"


class Wallet(cb.Instance):
    """An instance that is restored from its backup."""

    def __init__(self):
        super().__init__("cbreconcile", settings=SETTINGS)
        self.dealer_add("demo")
        self.dealer_add("seam", "--url", "http://127.0.0.1:1/d/", "--allow-http",
                        "--refund-delay", "0", mode="seamless")
        self.ctl_json("client", "add", "slots")
        for dealer in ("demo", "seam"):
            self.player_add(dealer, "alice")

    def go_back(self, *options):
        """Everything is killed, and the backup is restored."""
        engines = self.engine_pids()
        self.ledger.process.kill()
        pids_end(engines, 20)
        self.ledger.process.wait(20)
        self.ledger = None
        self.state.rename(self.dir / "old")
        done = self.ctl_json("restore", *options, self.dir / "backup")
        self.start()
        return done

    def check_books(self):
        done = self.ctl_run("check")
        equal(done.returncode, 0, f"check: {done.stdout}{done.stderr}")

    def balance(self, user):
        return self.ctl_json("player", "show", "demo", user)["balance"]

    def reconcile(self, casino, rows):
        path = self.dir / f"{casino}.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="")
            writer.writeheader()
            writer.writerows(rows)
        done = self.ctl_run("--json", "reconcile", casino, path)
        report = json.loads(done.stdout)
        equal(done.returncode, 0 if report["ok"] else 1, f"reconcile: {report}{done.stderr}")
        text = self.ctl_run("reconcile", casino, path).stdout
        for row in report["differences"]:
            check(not row["command"] or f"\n{row['command']}\n" in text, f"{row}: {text}")
        return report


def typed(wallet, command):
    """Types @command into a shell."""
    program = wallet.ctl_argv()[0]
    done = subprocess.run(["sh", "-c", f'creditbridgectl() {{ {shlex.quote(program)} "$@"; }}; '
                           f"{command}"], capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False)
    equal(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")


def remedies(report):
    return {(row["record"], str(row["id"])): row["remedy"] for row in report["differences"]}


# -- transfers

def case_transfers():
    """Transfers in and out that a dealer made after the backup are adjusted, once."""
    with Wallet() as wallet:
        odd = "o'b,\"é"
        rows = []

        def transfer(user, cents, reference, known=True):
            with Operator(wallet.sockets / "edge.sock") as link:
                equal(link.transfer("demo", user, cents * 100, reference), 0, reference)
            entry = wallet.ctl_json("transfer", "show", "demo", reference)["entry"]
            if known:
                rows.append({"record": "movement", "id": entry["transaction_id"],
                             "time_ms": cb.now_ms(), "user_id": user, "state": "done",
                             "amount": f"{cents / 100:.2f}", "reference": reference})
        transfer("alice", 10000, "in-1")
        wallet.ctl("backup", wallet.dir / "backup")
        transfer("alice", -9000, "out-1")
        transfer("alice", 5025, "in-2")
        wallet.player_add("demo", odd)
        transfer(odd, 700, "in-3")
        transfer("alice", -4000, "out-2")
        transfer("alice", 300, "in-4")
        wallet.go_back()
        # One is repeated after the restore, as the specification lets a dealer do.
        transfer("alice", 300, "in-4", known=False)
        equal((wallet.balance("alice"), wallet.ctl_run("player", "show", "demo", odd).returncode),
              (103, 1), "the backup's")
        report = wallet.reconcile("demo", rows)
        wanted = {("movement", str(row["id"])): remedy for row, remedy in zip(
            rows[1:], ("adjust", "adjust", "adjust", "adjust", "none"))}
        equal(remedies(report), wanted, f"remedies: {report}")
        steps = [row for row in report["differences"] if row["command"]]
        equal([row["remedy"] for row in steps], ["add_player"] + ["adjust"] * 4, "a player first")
        before = wallet.balance("alice")
        wallet.reconcile("demo", rows)
        equal(wallet.balance("alice"), before, "reconcile changes nothing")
        for _ in range(2):  # a second time does nothing more
            for row in steps:
                if row["remedy"] == "adjust":
                    typed(wallet, row["command"])
                elif wallet.ctl_run("player", "show", "demo", odd).returncode:
                    typed(wallet, row["command"])
        equal((wallet.balance("alice"), wallet.balance(odd)), (23.25, 7), "both sides agree")
        report = wallet.reconcile("demo", rows)
        check(report["ok"] and set(remedies(report).values()) == {"none"}, f"it is reconciled: {report}")
        # Only the dealer can mend rows that it lost or booked twice.
        report = wallet.reconcile("demo", [rows[0], *rows])
        equal(remedies(report)["movement", str(rows[0]["id"])], "ask_dealer", "booked twice")
        transfer("alice", 100, "in-5", known=False)
        report = wallet.reconcile("demo", rows)
        check(report["ok"], f"a movement newer than the file is no difference: {report}")
        report = wallet.reconcile("demo", [*rows[:-1], {**rows[-1], "time_ms": cb.now_ms() + 1000}])
        check("repeat" in remedies(report).values(), f"the dealer lacks one: {report}")
        wallet.check_books()


def case_sealed():
    """A dealer that booked a transfer and sealed its reference since is asked which of the two holds."""
    with Wallet() as wallet:
        with Operator(wallet.sockets / "edge.sock") as link:
            wallet.ctl("backup", wallet.dir / "backup")
            equal(link.transfer("demo", "alice", 100 * 10000, "in-1"), 0, "a transfer")
        entry = wallet.ctl_json("transfer", "show", "demo", "in-1")["entry"]
        wallet.go_back()
        rows = [{"record": "movement", "id": entry["transaction_id"], "time_ms": cb.now_ms(),
                 "user_id": "alice", "state": "done", "amount": "100.00", "reference": "in-1"}]
        equal(set(remedies(wallet.reconcile("demo", rows)).values()), {"adjust"}, "before the seal")
        with Operator(wallet.sockets / "edge.sock") as link:
            equal(link.verdict("transfer_inquire", pack("transfer_inquire", casino_id="demo",
                                                        request_transaction_id="in-1", seal=True)),
                  0, "a seal")
        report = wallet.reconcile("demo", rows)
        equal(set(remedies(report).values()), {"ask_dealer"}, f"after it: {report}")
        check("sealed its reference" in str(report), f"{report}")
        wallet.check_books()


def case_quiet_dealer():
    """A file that may be older than the failure releases no dealer, unless the operator vouches for it."""
    with Wallet() as wallet:
        with Operator(wallet.sockets / "edge.sock") as link:
            equal(link.transfer("demo", "alice", 10000 * 100, "in-1"), 0, "a transfer")
        entry = wallet.ctl_json("transfer", "show", "demo", "in-1")["entry"]
        wallet.ctl("backup", wallet.dir / "backup")
        wallet.go_back()
        path = wallet.dir / "demo.csv"
        path.write_text("record,id,kind,user_id,time_ms,amount,state,reference\n"
                        f"movement,{entry['transaction_id']},transfer_in,alice,{cb.now_ms() - 3600000},"
                        "100.00,done,in-1\n", encoding="utf-8")
        release = ("release", "demo", "--yes", "--reason", "reconciled")
        done = wallet.ctl_run("reconcile", "demo", path)
        check(done.returncode == 1 and "not_covered" in done.stderr and "--complete" in done.stderr,
              f"an old file: {done.stdout}{done.stderr}")
        done = wallet.ctl_run(*release)
        check(done.returncode == 1 and "not_reconciled" in done.stderr, f"release: {done.stderr}")
        report = wallet.ctl_json("reconcile", "--complete", "demo", path)
        equal((report["ok"], report["noted"]), (True, True), f"{report}")
        wallet.ctl(*release)


# -- bets

def play(wallet, book):
    """Plays the calls before the backup, and those after it. Returns the bets by their games."""
    bets = {}
    with Worker(wallet.sockets / "edge.sock") as link:
        def place(game, ended=True):
            bets[game] = link.place("slots", "seam", "alice", game, STAKE)
            book.bet(bets[game], game)
            if ended:
                link.end(bets[game].send, "seam", SUCCESS, status=200)

        def settle(game, result, payout=0):
            done = link.settle("slots", "seam", "alice", game, result, payout,
                               reference=f"result of {game}")
            link.end(done.send, "seam", SUCCESS, status=200)
            book.result(done.event, game, payout)
        place("won", ended=False)    # pending when the backup ends, won afterwards
        place("gone", ended=False)   # pending, and without a result
        place("paid")                # accepted, and won afterwards
        place("open")
        wallet.ctl("backup", wallet.dir / "backup")
        link.end(bets["won"].send, "seam", SUCCESS, status=200)
        settle("won", WIN, 25)
        settle("paid", WIN, 15)
        place("new")
        place("lost")
        settle("lost", LOSS)
    return bets


def mend(wallet, book, report):
    """Does what is proposed: by the operator, the dealer's people and the game server."""
    for row in report["differences"]:
        if row["command"]:
            typed(wallet, row["command"])
        elif row["remedy"] == "ask_dealer":
            book.give_back(row["id"])
        elif row["remedy"] == "repeat":
            with Worker(wallet.sockets / "edge.sock") as link:
                done = link.settle("slots", "seam", "alice", row["game_id"], WIN, 15,
                                   reference=f"result of {row['game_id']}")
                equal((done.refusal, done.send.event), ("", 0), "it is settled, and nothing is sent")


def deliver(wallet, book, bets):
    """What the sweeper sends, until nothing is left."""
    sent = []
    with Worker(wallet.sockets / "edge.sock") as link:
        def all_sent():
            waiting = wallet.ctl_json("callback", "list", "--state", "due,sending")["callbacks"]
            for row in waiting:
                refusal, grant = link.claim(row["event"])
                if refusal:
                    continue
                equal(row["kind"], "betting-refund", f"what is sent: {row}")
                book.give_back(bets[row["game_id"]].transaction_id)
                sent.append(row["game_id"])
                link.end(grant, "seam", SUCCESS, status=200)
            return not waiting
        cb.wait_until(all_sent, 30, "everything is sent")
    return sent


def case_bets():
    """Bets that were won after the backup are not refunded; those without a result are."""
    with Wallet() as wallet:
        book = Book()
        bets = play(wallet, book)
        balance = book.balance
        wallet.ctl("dealer", "suspend", "seam", "--reason", "after the backup")
        wallet.ctl("client", "key-add", "slots")
        report = wallet.go_back()["revived"]
        equal([(row["kind"], row["id"], row["suspended"], row["keys"][:3]) for row in report],
              [("dealer", "demo", False, "k1 "), ("dealer", "seam", False, "k1 "),
               ("client", "slots", False, "k1 ")], f"what is in force again: {report}")
        check(all("," not in row["keys"] for row in report), f"the backup's keys only: {report}")
        rounds = 0

        def mended():
            nonlocal rounds
            rounds += 1
            report = wallet.reconcile("seam", book.rows.values())
            if rounds == 1:
                found = remedies(report)
                equal(found["bet", str(bets["new"].transaction_id)], "ask_dealer", "a new bet")
                equal(found["bet", str(bets["lost"].transaction_id)], "none", "a new bet, settled")
                equal(found["bet", str(bets["paid"].transaction_id)], "repeat", "a result is missing")
                check(found.get(("bet", str(bets["won"].transaction_id)), "sweep") == "sweep",
                      f"a bet that was pending: {report}")
            mend(wallet, book, report)
            return report["ok"]
        cb.wait_until(mended, 60, "everything is reconciled", interval=0.2)
        equal(book.balance, balance + STAKE, "nothing was sent before release")
        equal(wallet.ctl_json("bet", "list", "--state", "accepted")["bets"][0]["game_id"], "open",
              "a round that goes on")
        shown = wallet.ctl_json("release", "seam")["callbacks"]
        equal([row["game_id"] for row in shown], ["gone"], "what would be sent")
        # Neither the operator's retry nor the sweeper goes past the hold.
        name = shown[0]["webhook_id"]
        wallet.ctl("callback", "retry", "--yes", "--reason", "test", name)
        wallet.ctl("sweep")
        row = wallet.ctl_json("callback", "list", "--state", "due")["callbacks"][0]
        equal((row["kind"], row["attempts"]), ("betting-refund", 0), f"nothing is sent: {row}")
        wallet.ctl("release", "seam", "--yes", "--reason", "reconciled")
        equal(deliver(wallet, book, bets), ["gone"], "the refund of the bet without a result")
        # 100 - 6 stakes of 10 + what was won + two stakes given back
        equal(book.balance, 100 - 6 * STAKE + 25 + 15 + 2 * STAKE, "the dealer's book")
        cancelled = wallet.ctl_json("callback", "list", "--state", "cancelled")["callbacks"]
        equal(sorted((row["game_id"], row["kind"]) for row in cancelled),
              [("paid", "betting-result"), ("won", "betting-refund")], "what was cancelled")
        report = wallet.reconcile("seam", book.rows.values())
        check(report["ok"], f"it stays reconciled: {report}")
        # A worker that repeats its own call is given nothing to send, either.
        payload = bet_payload("slots", player_ref("seam", "alice"), "again", STAKE * 10000,
                              reference="again")
        with Worker(wallet.sockets / "edge.sock") as link:
            check(placed(link.ask("bet_place", payload)).send.event, "a first attempt")
            check(placed(link.ask("bet_place", payload)).send.event, "the same one again")
            wallet.ctl("dealer", "hold", "seam", "--reason", "test")
            equal(placed(link.ask("bet_place", payload)).send.event, 0, "the same one, held")
        wallet.check_books()


# -- what the restore undid

def case_security():
    """Keys, game servers and suspensions: what came back, and what was changed after the backup."""
    with Wallet() as wallet:
        for name in ("gone", "pacman"):
            wallet.ctl_json("client", "add", name)
        wallet.ctl("client", "remove", "gone", "--yes")
        wallet.ctl_json("dealer", "key-add", "demo")
        wallet.ctl("dealer", "key-use", "demo", "k2")
        wallet.player_add("seam", "bob")
        wallet.ctl("player", "suspend", "seam", "bob")
        wallet.ctl("backup", wallet.dir / "backup")
        deeds = [("dealer key-retire", "dealer demo k1"), ("dealer suspend", "dealer seam"),
                 ("client remove", "client pacman"), ("player suspend", "player demo/alice")]
        wallet.ctl("dealer", "key-retire", "demo", "k1")
        wallet.ctl("dealer", "suspend", "seam", "--reason", "a breach")
        wallet.ctl("client", "remove", "pacman", "--yes")
        wallet.ctl("player", "suspend", "demo", "alice")

        def changed(report):
            return [(row["action"], row["object"]) for row in report["changed"]]

        def again(*options, code=0):
            """Restores once more, without a ledger in between."""
            shutil.rmtree(wallet.state)
            done = wallet.ctl_run("--json", "restore", *options, wallet.dir / "backup")
            equal(done.returncode, code, f"restore {options}: {done.stdout}{done.stderr}")
            return json.loads(done.stdout), done.stderr
        report = wallet.go_back("--old", wallet.dir / "old")
        equal(changed(report), deeds, "changed after the backup")
        equal({row["in_force"] for row in report["changed"]}, {False}, "undone by the restore")
        equal([row["reason"] for row in report["changed"]][1], "a breach", "why it was done")
        shown = [(row["kind"], row["id"], row["suspended"], row["removed"], row["keys"].count("k"))
                 for row in report["revived"]]
        equal(shown, [("dealer", "demo", False, False, 2), ("dealer", "seam", False, False, 1),
                      ("client", "gone", False, True, 0), ("client", "pacman", False, False, 1),
                      ("client", "slots", False, False, 1), ("player", "seam/bob", True, False, 0)],
              "in force again")
        # Of these all dealers and two game servers wait for key-confirm.
        equal(wallet.ctl_json("status")["unconfirmed_keys"], 4, "keys to be confirmed")
        check("unconfirmed_keys 4" in wallet.ctl("metrics"), "the metric")
        wallet.ctl("client", "key-confirm", "slots")
        wallet.ctl("dealer", "key-confirm", "demo")
        wallet.ctl("dealer", "key-confirm", "demo")
        equal(wallet.ctl_json("status")["unconfirmed_keys"], 2, "two are confirmed")
        wallet.ctl("client", "remove", "pacman", "--yes")
        check("keys to confirm" in wallet.ctl("status"), "status, as text")
        wallet.stop()
        wallet.start()
        equal(wallet.ctl_json("status")["unconfirmed_keys"], 1, "of the dealer, after a start")
        wallet.stop()
        # If the logs are rolled forward, the changes are in force; an audit of a later life has
        # other rows.
        report, _ = again("--logs", wallet.dir / "old" / "db")
        equal((report["rolled_forward"], changed(report)), (True, deeds), "with the logs")
        equal({row["in_force"] for row in report["changed"]}, {True}, "in force")
        report, _ = again()
        check("changed" not in report, f"without the old state nothing is known: {report}")
        # Whatever else is damaged, the audit is read; where it is damaged itself, that is said.
        db = wallet.dir / "old" / "db"
        for name in ("player.db", "counter.db"):
            os.truncate(db / name, 100)
        before = {path.name: path.read_bytes() for path in db.iterdir()}
        report, _ = again("--old", wallet.dir / "old")
        equal(changed(report), deeds, "of a damaged state")
        equal({path.name: path.read_bytes() for path in db.iterdir()}, before, "it is not changed")
        (db / "audit.db").write_bytes(b"x" * 8192)
        report, text = again("--old", wallet.dir / "old", code=3)
        check(report["first_id"] and "not complete" in text, f"{report} {text}")
        os.truncate(db / "audit.db", 0)
        for path in db.glob("log.*"):
            path.unlink()
        shutil.rmtree(wallet.state)
        (db / "audit.db").unlink()
        done = wallet.ctl_run("restore", "--old", wallet.dir / "old", wallet.dir / "backup")
        check(done.returncode == 1 and "nothing was restored" in done.stderr and
              not wallet.state.exists(), f"no audit: {done.stderr}")


# -- results that come too late

def others_are_released(wallet):
    """A dealer that nothing has to be reconciled with is not held because of the others."""
    wallet.dealer_add("third", mode="transfer")
    wallet.ctl("dealer", "hold", "third")
    done = wallet.ctl_run("--json", "release", "--yes", "--reason", "test")
    equal(done.returncode, 3, f"release: {done.stdout}{done.stderr}")
    equal([(row["casino_id"], row["released"], row.get("error", {}).get("id"))
           for row in json.loads(done.stdout)["dealers"]],
          [("demo", False, "not_allowed_now"), ("seam", False, "not_allowed_now"), ("third", True, None)],
          "which were released")
    equal(wallet.ctl_json("status")["held_dealers"], 2, "the others are still held")


def refused_release(wallet, *words):
    done = wallet.ctl_run("--json", "release", *words, "--yes", "--reason", "test")
    equal((done.returncode, json.loads(done.stdout)["error"]["id"]), (1, "not_reconciled"),
          f"release: {done.stdout}{done.stderr}")
    equal(wallet.ctl_json("status")["held_dealers"], 2, "nothing is released")


def case_late_results():
    """A result that is repeated after the release is not paid twice, whatever the operator did."""
    with Wallet() as wallet, contextlib.ExitStack() as stack:
        book = Book()

        def place(link, game):
            placed = link.place("slots", "seam", "alice", game, STAKE)
            link.end(placed.send, "seam", SUCCESS, status=200)
            book.balance -= STAKE
            return placed

        def settle(link, game):
            return link.settle("slots", "seam", "alice", game, WIN, 25, reference=f"result of {game}")
        with Worker(wallet.sockets / "edge.sock") as link:
            for game in ("paid", "later", "last"):
                place(link, game)
            pending = link.place("slots", "seam", "alice", "gone", STAKE)
            wallet.ctl("backup", wallet.dir / "backup")
            done = settle(link, "paid")
            link.end(done.send, "seam", SUCCESS, status=200)
            book.result(done.event, "paid", 25)
        wallet.go_back()
        shown = wallet.ctl_json("dealer", "show", "seam")
        check(shown["restored_ms"] == shown["callbacks_held_ms"] >= shown["restored_to_ms"] > 0 and
              shown["restored_id"] > pending.transaction_id, f"the restore's marks: {shown}")
        refused_release(wallet, "seam")
        refused_release(wallet)
        others_are_released(wallet)
        # The file names the result only: the bet is older than the backup.
        report = wallet.reconcile("seam", book.rows.values())
        check("repeat" in [row["remedy"] for row in report["differences"]] and not report["ok"] and
              not report["noted"], f"the round is open here: {report}")
        refused_release(wallet, "seam")
        # Without looking: what would have been sent is sent; what comes later is held by itself.
        wallet.ctl("release", "seam", "--yes", "--unreconciled", "--reason", "test")
        deed = wallet.ctl_json("audit", "--limit", "1")["audit"][0]
        check(deed["action"] == "release" and deed["detail"].endswith(" unreconciled"), f"{deed}")
        link = stack.enter_context(Worker(wallet.sockets / "edge.sock"))

        def taken_over():
            wallet.ctl("sweep")
            return not wallet.ctl_json("bet", "list", "--state", "pending")["bets"]
        cb.wait_until(taken_over, 30, "the bet that was under way is taken over")
        for game in ("paid", "later"):
            done = settle(link, game)
            equal((done.refusal, done.send.event), ("", 0), f"{game}: settled, and nothing is sent")
        place(link, "new")
        check(settle(link, "new").send.event, "a round of after the restore is sent")
        held = wallet.ctl_json("callback", "list", "--state", "held")["callbacks"]
        equal(sorted((row["game_id"], row["kind"], row["attempts"]) for row in held),
              [("gone", "betting-refund", 0), ("later", "betting-result", 0),
               ("paid", "betting-result", 0)], "what is held by itself")
        done = wallet.ctl_run("--json", "doctor")
        check(any("was released without its file" in row["found"]
                  for row in json.loads(done.stdout)["findings"]), f"doctor: {done.stdout}")
        report = wallet.reconcile("seam", book.rows.values())
        for row in report["differences"]:
            if row["command"]:
                typed(wallet, row["command"])
        report = wallet.reconcile("seam", book.rows.values())
        check(report["ok"] and report["noted"], f"it is reconciled: {report}")
        report = wallet.reconcile("seam", book.rows.values())
        check(report["ok"] and not report["noted"], f"it is noted once: {report}")
        shown = wallet.ctl_json("dealer", "show", "seam")
        equal((shown["restored_ms"], shown["restored_to_ms"], shown["restored_id"]), (0, 0, 0),
              "the restore is over")
        states = {row["game_id"]: row["state"] for row in wallet.ctl_json(
            "callback", "list", "--state", "due,sending,held,parked,cancelled")["callbacks"]}
        equal((states["paid"], states["later"] in ("due", "sending"), states["gone"] in ("due", "sending")),
              ("cancelled", True, True), f"paid once, sent once: {states}")
        check(settle(link, "last").send.event, "a round of before is sent, now that nothing is open")
        # A dealer that is held again by hand needs no file.
        wallet.ctl("dealer", "hold", "seam", "--reason", "test")
        wallet.ctl("release", "seam", "--yes", "--reason", "test")
        wallet.check_books()


# -- corrections of settled rounds

def case_corrections():
    """A waiting correction is compared by its ids only: no owed win is cancelled, none is taken twice."""
    with Wallet() as wallet:
        book, waiting = Book(), {}
        wallet.ctl("dealer", "set", "seam", "--path-betting-correction", "/betting-correction",
                   "--reason", "test")

        def played(link, game, payout, outcome=SUCCESS):
            placed = link.place("slots", "seam", "alice", game, STAKE)
            link.end(placed.send, "seam", SUCCESS, status=200)
            done = link.settle("slots", "seam", "alice", game, WIN, payout)
            link.end(done.send, "seam", outcome, status=200 if outcome == SUCCESS else 0)
            if outcome == SUCCESS:
                book.result(done.event, game, payout)
            book.rows["bet", str(placed.transaction_id)] = {
                "record": "bet", "id": placed.transaction_id, "user_id": "alice", "game_id": game,
                "state": "settled", "amount": STAKE}
            return done

        def corrected(link, game, payout, outcome):
            done = link.correction("slots", "seam", "alice", game, 1, WIN, payout)
            equal(done.refusal, "", game)
            if done.send.event:
                link.end(done.send, "seam", outcome, status=200 if outcome == SUCCESS else 0)
            return done

        def booked(kind, done, game, amount, state="delivered", **columns):
            name = f"{kind}-{done.event}"
            book.row("callback", name, game_id=game, kind=kind, state=state, amount=amount, **columns)
            return "callback", name

        def found():
            return remedies(wallet.reconcile("seam", book.rows.values()))
        with Worker(wallet.sockets / "edge.sock") as link:
            for game in ("owed", "paid", "taken", "later"):
                played(link, game, 10)
            both = played(link, "both", 10, UNKNOWN)
            # The correction owes as much as the result paid.
            for game, payout in (("owed", 20), ("paid", 30), ("taken", 3)):
                waiting[game] = corrected(link, game, payout, UNKNOWN)
            wallet.ctl("backup", wallet.dir / "backup")
            booked("betting-correction", corrected(link, "later", 4, SUCCESS), "later", -6)
        wallet.go_back()
        owed = ("callback", f"betting-result-{waiting['owed'].event}")
        taken = ("callback", f"betting-correction-{waiting['taken'].event}")
        # The dealer that stores no webhook-id has the transaction_id of the callback's body.
        book.row("callback", "betting-result-of-paid", game_id="paid", kind="betting-result",
                 state="delivered", amount=20, transaction_id=waiting["paid"].transaction_id)
        paid = ("callback", f"betting-result-{waiting['paid'].event}")
        # The result of a round is not taken for one of its corrections, either.
        book.row("callback", "betting-result-of-both", game_id="both", kind="betting-result",
                 state="delivered", amount=10)
        book.row("callback", "betting-result-again", game_id="both", kind="betting-result",
                 state="delivered", amount=4, revision=1)
        shown = found()
        equal((shown[owed], shown[taken], shown[paid]), ("ask_dealer", "ask_dealer", "cancel"),
              f"before the dealer is asked: {shown}")
        equal((shown["callback", f"betting-result-{both.event}"], shown["callback", "betting-result-again"]),
              ("cancel", "repeat"), f"a result and its correction: {shown}")
        del book.rows["callback", "betting-result-again"]
        check("repeat" in shown.values(), f"a correction that is not known here: {shown}")
        with Worker(wallet.sockets / "edge.sock") as link:
            again = corrected(link, "later", 4, SUCCESS)
        equal(again.send.event, 0, "a repeated correction is held")
        repeated = ("callback", f"betting-correction-{again.event}")
        equal(found()[repeated], "ask_dealer", "a repeated correction, booked under an older id")
        # The dealer has answered: it took one, and has not booked the other.
        booked("betting-correction", waiting["taken"], "taken", -7)
        booked("betting-result", waiting["owed"], "owed", 10, state="failed")
        shown = found()
        equal((shown[owed], shown[taken]), ("release", "cancel"), f"the dealer answered: {shown}")
        book.rows[taken]["amount"] = -5
        equal(found()[taken], "ask_dealer", "it took another amount")
        book.rows[taken]["amount"] = -7
        for row in wallet.reconcile("seam", book.rows.values())["differences"]:
            if row["command"]:
                typed(wallet, row["command"])
        wallet.ctl("callback", "cancel", "--yes", "--reason", "booked before the restore",
                   repeated[1])
        report = wallet.reconcile("seam", book.rows.values())
        check(report["ok"], f"it is reconciled: {report}")
        wallet.ctl("release", "seam", "--yes", "--reason", "reconciled")
        due = wallet.ctl_json("callback", "list", "--state", "due,sending")["callbacks"]
        equal([row["game_id"] for row in due], ["owed"], "what is sent")
        wallet.check_books()


CASES = (
    ("corrections: compared by their ids, not by their rounds", case_corrections),
    ("security: what a restore brings back, and what was changed after the backup", case_security),
    ("results after the release: held until the dealer's file was compared", case_late_results),
    ("transfers: adjusted once, by the commands that are proposed", case_transfers),
    ("a transfer whose reference the dealer sealed", case_sealed),
    ("a dealer without calls since the backup: released by --complete", case_quiet_dealer),
    ("bets: what was won is not refunded", case_bets),
)


def main():
    return cb.run_cases(CASES, seconds=120)


if __name__ == "__main__":
    sys.exit(main())
