#!/usr/bin/python3
"""Moves of dealers between two ledgers that serve meanwhile: nothing is lost, nothing happens twice, and the same
command goes on after any of the three processes was killed.

The part of workers and of the sweeper is done over edge.sock (cb_worker.py). A caller that is refused by one
ledger asks the other one with the same id, as a worker does.
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import pack, unpack  # noqa: E402
from cb_ctl import on_terminal  # noqa: E402
from cb_link import Closed  # noqa: E402
from cb_moves import step  # noqa: E402
from cb_worker import (LOSS, REFUSED, SUCCESS, WIN, Worker, refusal_of)  # noqa: E402

SETTINGS = {"callback_lease_ms": 20000, "result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
A = B = CELLS = None
# What a ledger answers that does not serve the dealer now.
ELSEWHERE = ("service_unavailable", "invalid_signature", "dealer_not_found", "user_not_found")


def worker(wallet):
    return Worker(wallet.sockets / "edge.sock")


def other(wallet):
    return B if wallet is A else A


def cells_argv(*words):
    """Words of creditbridgectl with the file that lists both cells."""
    return A.ctl_argv("--config", CELLS, *words)


def cells_run(*words):
    return subprocess.run(cells_argv(*words), capture_output=True, text=True, timeout=120, check=False)


def move_argv(wallet, name, *words):
    return cells_argv("--json", "dealer", "move", name, "--to", "b" if wallet is A else "a", *words)


def move(wallet, name, *words):
    return subprocess.run(move_argv(wallet, name, *words), capture_output=True, text=True, timeout=120, check=False)


def moved(wallet, name):
    done = move(wallet, name)
    equal(done.returncode, 0, f"the move of {name}: {done.stderr}")


def both_are_right():
    for wallet in (A, B):
        done = wallet.ctl_run("--json", "check", seconds=120)
        equal(done.returncode, 0, f"check: {done.stdout} {done.stderr}")


def transfer(link, casino_id, reference, amount=1):
    answer = unpack("transfer", link.ask("transfer", pack(
        "transfer", casino_id=casino_id, kind="transfer_in", request_transaction_id=reference, user_id="alice",
        amount=amount * 10000)))
    return refusal_of(answer), answer.transaction_id


class Load(threading.Thread):
    """Transfers for a dealer, one after the other, each until it is done in one of the two ledgers."""

    def __init__(self, casino_id):
        super().__init__()
        self.casino_id = casino_id
        self.done = {}  # reference -> transaction_id of the first answer
        self.refused = 0
        self.ends = threading.Event()
        self.failure = None

    def one(self, links, reference):
        wallet = A
        while True:
            try:
                if wallet not in links:
                    links[wallet] = worker(wallet)
                refusal, transaction_id = transfer(links[wallet], self.casino_id, reference)
            except (OSError, Closed, AssertionError):
                links.pop(wallet, None)
                refusal = "service_unavailable"
            if not refusal:
                self.done[reference] = transaction_id
                return
            if refusal not in ELSEWHERE:
                raise AssertionError(f"{self.casino_id}: {refusal}")
            self.refused += refusal == "service_unavailable"
            wallet = other(wallet)
            time.sleep(0.002)

    def run(self):
        links, number = {}, 0
        try:
            while not self.ends.is_set():
                self.one(links, f"{self.casino_id}-{number}")
                number += 1
        except AssertionError as failure:
            self.failure = failure

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join()

    def prove(self, wallet):
        """All are in @wallet, each once, and have their first answers; the feed has them in the order of their ids."""
        if self.failure:
            raise self.failure
        check(len(self.done) > 20, f"{self.casino_id}: {len(self.done)} transfers")
        with worker(wallet) as link:
            for reference, transaction_id in self.done.items():
                equal(transfer(link, self.casino_id, reference), ("", transaction_id), f"repeated {reference}")
        ids = list(self.done.values())
        equal(ids, sorted(set(ids)), "the ids rise")
        player = wallet.ctl_json("player", "show", self.casino_id, "alice")
        equal(float(player["balance"]), float(len(ids)), "the balance")


def dealer_new(name, mode="transfer"):
    A.dealer_add(name, "--url", "http://127.0.0.1:1/d/", "--allow-http", mode=mode)
    A.player_add(name, "alice")


def play(name):
    """A seamless dealer with rounds that are open, lost, parked after more attempts, and due. Returns the event that is
    parked and the one that is due."""
    events = []
    with worker(A) as link:
        for game in ("open", "lost", "parked", "due"):
            bet = link.place("slots", name, "alice", f"{name}-{game}", 10)
            link.end(bet.send, name, SUCCESS)
        link.end(link.settle("slots", name, "alice", f"{name}-lost", LOSS).send, name, SUCCESS)
        for game in ("parked", "due"):
            made = link.settle("slots", name, "alice", f"{name}-{game}", WIN, 25)
            link.end(made.send, name, REFUSED, status=422)
            events.append(made.event)
            if game == "parked":
                park(link, name, made.event)
        A.ctl("callback", "retry", events[0], "--reason", "again", "--yes")
        park(link, name, events[0])
    return events


def park(link, name, event):
    def is_parked():
        for due, _ in link.find():
            refusal, grant = link.claim(due) if due == event else ("other", None)
            if not refusal:
                link.end(grant, name, REFUSED, status=422)
        return A.ctl_json("callback", "show", event)["state"] == "parked"
    cb.wait_until(is_parked, 30, "it is parked")


def deliver(wallet, name, event):
    """Sends the event as the sweeper does. Returns the number of attempts."""
    with worker(wallet) as link:
        cb.wait_until(lambda: (event, name) in link.find(), 30, f"{event} is due in the other cell")
        refusal, grant = link.claim(event)
        equal(refusal, "", "the claim")
        link.end(grant, name, SUCCESS)
        equal(link.claim(event)[0], "not_allowed_now", "it is not sent again")
    return wallet.ctl_json("callback", "show", event)["attempts"]


def owed_by(wallet, name):
    """What is owed, without how late it is."""
    report = wallet.ctl_json("owed", "--casino", name)
    return report["dealers"], [{key: value for key, value in row.items() if key != "next"} for row in report["owed"]]


def case_load():
    """Both ledgers serve while a dealer moves: the moved one is refused for a moment, the other ones never."""
    dealer_new("demo")
    dealer_new("calm")
    with Load("demo") as demo, Load("calm") as calm:
        cb.wait_until(lambda: len(demo.done) > 50, 30, "there is load")
        moved(A, "demo")
        before = len(demo.done)
        cb.wait_until(lambda: len(demo.done) > before + 20, 30, "the dealer goes on in the other cell")
    demo.prove(B)
    calm.prove(A)
    equal(calm.refused, 0, "calls of another dealer that were refused")
    both_are_right()
    equal(move(A, "demo").returncode, 0, "once more: it is done")
    steps = [row["detail"].split()[0] for wallet in (A, B) for row in wallet.ctl_json("audit", "--limit", 0)["audit"]
             if row["action"] == "dealer move"]
    equal(steps, ["step=finish", "step=remove", "step=cut", "step=leave", "step=open", "step=arrive"], "the audit")


def case_seamless():
    """What is owed and what was tried goes with the dealer."""
    dealer_new("seam", mode="seamless")
    parked, due = play("seam")
    before = A.ctl_json("dealer", "show", "seam")["total"]
    owed = owed_by(A, "seam")
    moved(A, "seam")
    check(A.ctl_run("dealer", "show", "seam").returncode, "the dealer has left")
    equal(B.ctl_json("dealer", "show", "seam")["total"], before, "sums")
    equal(owed_by(B, "seam"), owed, "owed")
    equal([row["event"] for row in B.ctl_json("callback", "list", "--casino", "seam", "--state", "parked")["callbacks"]],
          [parked], "parked")
    equal(deliver(B, "seam", due), 2, "attempts of the due result")
    B.ctl("callback", "retry", parked, "--reason", "the dealer is up", "--yes")
    deliver(B, "seam", parked)
    with worker(B) as link:
        equal(link.settle("slots", "seam", "alice", "seam-open", LOSS).refusal, "", "a round that was open")
    both_are_right()


def case_abort():
    """A move that was aborted leaves nothing in the other ledger."""
    dealer_new("stays")
    with Load("stays") as load:
        cb.wait_until(lambda: len(load.done) > 50, 30, "there is load")
        with subprocess.Popen(move_argv(A, "stays"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            cb.wait_until(lambda: load.refused > 0 or run.poll() is not None, 30, "the move began")
            run.kill()
        done = move(A, "stays", "--abort")
        if done.returncode:
            moved(A, "stays")
    wallet = B if done.returncode else A
    load.prove(wallet)
    if wallet is A:
        check(B.ctl_run("dealer", "show", "stays").returncode, "it is not in the other cell")
    both_are_right()


def kill_one(victim, run):
    """Kills an engine, whose parent starts another one, or creditbridgectl."""
    if victim is None:
        run.kill()
        return
    for pid in victim.engine_pids():
        os.kill(pid, signal.SIGKILL)


def case_kills():
    """The dealer goes to and fro, and of the three processes one is killed at a random moment."""
    chance = random.Random(int(os.environ.get("CB_SEED", "1")))
    dealer_new("kill")
    dealer_new("kept", mode="seamless")
    parked, due = play("kept")
    wallet, took = A, 0.3
    with Load("kill") as load, Load("calm") as calm:
        for turn in range(int(os.environ.get("CB_TURNS", "3"))):
            for name in ("kill", "kept"):
                began = time.monotonic()
                with subprocess.Popen(move_argv(wallet, name), stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as run:
                    time.sleep(chance.uniform(0, took))
                    kill_one((None, wallet, other(wallet))[turn % 3], run)
                cb.wait_until(lambda: A.answering() and B.answering(), 30, "both ledgers serve")
                moved(wallet, name)
                took = min(2, (time.monotonic() - began) / 2)
            wallet = other(wallet)
        before = len(load.done)
        cb.wait_until(lambda: len(load.done) > before + 10, 30, "the dealer goes on")
    load.prove(wallet)
    calm.prove(A)
    both_are_right()
    counts = wallet.ctl_json("export", wallet.dir / "export")["counts"]
    check(counts["dealer_move"] > 1, "an export has the moves")
    equal(deliver(wallet, "kept", due), 2, "attempts of the due result")
    wallet.ctl("callback", "retry", parked, "--reason", "up", "--yes")
    deliver(wallet, "kept", parked)
    both_are_right()


def asked(*words):
    """Runs a command with all cells. Returns the cell that it acted in, or the error."""
    done = cells_run("--json", *words)
    answer = json.loads(done.stdout)
    return answer["error"]["id"] if "error" in answer else answer["cell"]


def case_finding():
    """Commands find the cell that serves the dealer, and `dealer move` the one that it leaves."""
    dealer_new("where")
    equal(asked("dealer", "show", "where"), "a", "before")
    step(A, B, "where", "leave")
    equal(asked("dealer", "show", "where"), "a", "it is leaving")
    step(A, B, "where", "cut")
    equal(asked("dealer", "show", "where"), "not_allowed_now", "no cell serves it")
    done = cells_run("dealer", "show", "where")
    check("moves to cell b" in done.stderr and "dealer move where --to b" in done.stderr, done.stderr)
    new = ("dealer", "add", "where", "--currency", "thb", "--mode", "transfer")
    for cell in "ab":
        equal(asked(*new, "--cell", cell), "already_exists", "its name is taken")
    done = json.loads(move(A, "where").stdout)
    equal((done["from"], done["to"], done["state"]), ("a", "b", "moved"), "the same move goes on")
    equal(asked("dealer", "show", "where"), "b", "after")
    equal(asked("dealer", "move", "where", "--to", "b"), "a", "once more")
    for wallet, name in ((A, "b"), (B, "a")):
        cells = {word for row in wallet.ctl_json("audit", "--limit", 0)["audit"]
                 if row["action"] == "dealer move" and row["object"] == "dealer where"
                 for word in row["detail"].split() if word.startswith("cell=")}
        equal(cells, {f"cell={name}"}, "each half has the name of the other cell")


def player_id(name):
    return json.loads(cells_run("--json", "player", "show", name, "alice").stdout)["player_id"]


def case_player_ids():
    """A player is found by its id in the cell that serves its dealer, whatever cell the id points to."""
    dealer_new("plain")
    plain = player_id("plain")
    step(A, B, "plain", "leave")
    equal(asked("player", "show", plain), "a", "it is leaving")
    moved(A, "plain")
    equal(asked("player", "show", plain), "b", "an id that points nowhere")
    B.dealer_add("pointing")
    B.player_add("pointing", "alice")
    pointing = player_id("pointing")
    equal((pointing[0], asked("player", "show", pointing)), ("b", "b"), "an id that points to its cell")
    moved(B, "pointing")
    equal(asked("player", "show", pointing), "a", "an id that points to the cell that it left")


def case_players_in_two_cells():
    """Two cells know a player after one was restored: an error names both, until the dealer is suspended in one."""
    dealer_new("twice")
    twice = player_id("twice")
    backup = A.dir / "backup-twice"
    A.ctl("backup", backup)
    moved(A, "twice")
    A.stop()
    A.state.rename(A.dir / "state-twice")
    A.ctl("restore", backup)
    A.start()
    for words in (("player", "show", twice), ("player", "ledger", twice)):
        equal(asked(*words), "ambiguous", f"{words}")
        done = cells_run(*words)
        check(f"player {twice} is in cell a and in cell b: name one with --cell" in done.stderr, done.stderr)
    equal(asked("player", "show", twice, "--cell", "a"), "a", "with --cell")
    A.ctl("dealer", "suspend", "twice")
    equal(asked("player", "show", twice), "b", "the dealer is suspended in the other cell")


def case_shown():
    """The command says what it will look at, and then how far it is."""
    dealer_new("shown")
    with worker(A) as link:
        for number in range(3):
            equal(transfer(link, "shown", f"shown-{number}")[0], "", "a transfer")
    code, text = on_terminal(A, "--config", CELLS, "dealer", "move", "shown", "--to", "b")
    equal(code, 0, text)
    check(text.startswith("creditbridgectl: cell a\ndealer shown: players: 1, movements: 3, bets: 0, callbacks: 0\n"),
          text)
    check(re.search(r"\d\.\d MiB of tables until cell b serves the dealer\n.*rows copied: \d+"
                    r".*dealer shown is served by cell b", text, re.DOTALL), text)


def case_refused_moves():
    dealer_new("here")
    for words, wanted in (((), "--to takes the name of a cell that the configuration lists: a, b"),
                          (("--to", "c"), "the configuration lists: a, b"),
                          (("--to", "a", "--cell", "a"), "--cell and --to name the same cell")):
        done = cells_run("dealer", "move", "here", *words)
        equal((done.returncode, wanted in done.stderr), (2, True), f"{words}: {done.stderr}")
    equal(asked("dealer", "move", "here", "--to", "a"), "already_exists", "it is there")
    equal(asked("dealer", "move", "nowhere", "--to", "b"), "dealer_not_found", "unknown")
    done = A.ctl_run("dealer", "move", "here", "--to", "b")
    check(done.returncode == 2 and "names no other cell" in done.stderr, done.stderr)
    step(A, B, "here", "leave")
    step(A, B, "here", "cut")
    A.stop()
    equal(asked("dealer", "move", "here", "--to", "b"), "ledger_unreachable", "the cell that it leaves is down")
    A.start()
    moved(A, "here")


CASES = [
    ("a dealer moves under load", case_load),
    ("a seamless dealer moves", case_seamless),
    ("a move is aborted", case_abort),
    ("the cell of a dealer that moves", case_finding),
    ("players by their ids", case_player_ids),
    ("what a move shows", case_shown),
    ("moves that are refused", case_refused_moves),
    ("processes are killed", case_kills),
    ("a player in two cells", case_players_in_two_cells),
]


def main():
    global A, B, CELLS
    with cb.Instance("cba", settings=SETTINGS | {"cell_name": "a"}) as A, \
            cb.Instance("cbb", settings=SETTINGS | {"ledger_number": 1, "cell_name": "b"}) as B:
        CELLS = A.dir / "cells.conf"
        CELLS.write_text(A.config.read_text() + f'cells = {{"{B.config}"}}\n')
        for wallet in (A, B):
            wallet.ctl("client", "add", "slots")
        return cb.run_cases(CASES)


if __name__ == "__main__":
    sys.exit(main())
