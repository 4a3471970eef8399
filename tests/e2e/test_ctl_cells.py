#!/usr/bin/python3
"""creditbridgectl with two cells: two ledgers, each with a configuration file and data of its own.

Cell a is the default cell: its file names that of cell b.
"""
import contextlib
import json
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, new, on_terminal, run  # noqa: E402
from cb_process import Child  # noqa: E402
from cb_worker import NOT_SENT, SUCCESS, WIN, Worker  # noqa: E402

DOWN_MS = 400  # how long a command waits for a cell that is down
DOUBLE = []  # dealers that were added to both cells
A = B = None
ctl = ctl_json = refused = None  # with the file of cell a


@contextlib.contextmanager
def down(cell):
    """The ledger of @cell does not run, and commands wait for it only a little."""
    kept = {one: one.config.read_text() for one in (A, B)}
    cell.stop()
    try:
        for one, text in kept.items():
            one.config.write_text(f"{text}ledger_deadline_ms = {DOWN_MS}\n")
        yield
    finally:
        for one, text in kept.items():
            one.config.write_text(text)
        cell.start()


def dealer_in(cell):
    """Adds a dealer with --cell. Returns its casino_id."""
    made = ctl_json("dealer", "add", new("dealer"), "--currency", "thb", "--mode", "transfer", "--cell", cell)
    equal(made["cell"], cell, "the cell of the new dealer")
    return made["casino_id"]


def adjusted(casino, user="alice", amount="10"):
    """Adds a player and moves credit. Returns the transaction id and the player_id."""
    ctl("player", "add", casino, user)
    moved = ctl_json("player", "adjust", casino, user, amount, "--reason", "test")
    return moved["transaction_id"], moved["player_id"]


def live_keys(cell, client):
    """The ids of the live keys of @client in one cell, as that cell has them."""
    rows = [row for row in cell.ctl_json("client", "list", "--cell", cell.name)["clients"]
            if row["client_id"] == client]
    return [key["key_id"] for key in rows[0]["keys"] if key["key_id"]] if rows else []


def findings():
    """The findings of doctor about cells, as {what it is about: (result, text)}."""
    made = A.ctl_run("doctor", "--no-lookup", "--json")
    return {item["about"]: (item["result"], item["found"])
            for item in json.loads(made.stdout)["findings"] if item["check"] == "cells"}


def alone(*words, code=0):
    """Runs creditbridgectl with the file of cell b, which names no other cell."""
    return run("--config", B.config, *words, code=code)


# -- which cell

def case_cell_list():
    listed = ctl_json("cell", "list")["cells"]
    equal([(row["cell"], row["ledger_number"], row["state"]) for row in listed],
          [("a", 0, "serving"), ("b", 3, "serving")], "cells")
    equal(listed[1]["configuration"], str(B.config), "the file of b")
    dealer_in("b")
    equal(ctl_json("cell", "list")["cells"][1]["dealers"], listed[1]["dealers"] + 1, "dealers of b")
    text = ctl("cell", "list").stdout
    check(text.split()[:3] == ["CELL", "CONFIGURATION", "NUMBER"], text)


def case_cell_option():
    casino = dealer_in("b")
    equal(ctl_json("dealer", "show", casino, "--cell", "b")["casino_id"], casino, "named")
    refused("dealer_not_found", "--cell", "a", "dealer", "show", casino)
    done = ctl("status", "--cell", "c", code=2)
    check("there is no cell 'c'" in done.stderr and ": a, b" in done.stderr, done.stderr)
    done = alone("status", "--cell", "a", code=2)
    check("there is no cell 'a'" in done.stderr and ": b" in done.stderr, done.stderr)
    # The file of b names no other cell, so nothing is found out and no cell is named.
    check("cell" not in json.loads(alone("--json", "dealer", "show", casino).stdout),
          "one cell is not named")
    equal(alone("status").stdout.count("Cell"), 0, "titles of cells")


def case_proposals():
    """status proposes the commands of the cell, if its file is named as the units of systemd want it."""
    dealer_in("b")
    named = B.dir / "cell-b.conf"
    named.write_text(B.config.read_text())
    for config, command in ((B.config, "creditbridgectl backup DIR"), (named, "creditbridgectl --cell b backup DIR")):
        text = run("--config", config, "status").stdout
        check(f"To do: {command}." in text, f"{config.name}: {text}")


def case_dealer_add():
    casino = dealer_in("b")
    done = refused("already_exists", "dealer", "add", casino, "--currency", "thb", "--mode", "transfer")
    check(f"dealer {casino} is in cell b" in done.stderr, done.stderr)
    refused("already_exists", "dealer", "add", casino, "--currency", "thb", "--mode", "transfer", "--cell", "b")


def case_commands_find_their_cell():
    casino = dealer_in("b")
    here = dealer_in("a")
    transaction, player = adjusted(casino)
    equal(transaction % 16, 3, "the remainder of an id of cell b")
    for words in (("dealer", "show", casino), ("player", "show", casino, "alice"), ("player", "show", player),
                  ("player", "list", casino), ("player", "ledger", player), ("report", "days", casino),
                  ("transfer", "show", f"--transaction={transaction}"),
                  ("transfer", "list", "--casino", casino), ("transfer", "list", "--user", f"{casino}/alice"),
                  ("bet", "list", "--casino", casino), ("owed", "--casino", casino),
                  ("dealer", "set", casino, "--rate-limit", "7"), ("dealer", "suspend", casino),
                  ("dealer", "resume", casino), ("player", "suspend", casino, "alice")):
        equal(ctl_json(*words)["cell"], "b", f"the cell of {words}")
    equal(ctl_json("dealer", "show", here)["cell"], "a", "a dealer of a")
    done = ctl("dealer", "show", casino)
    check("creditbridgectl: cell b\n" in done.stderr, done.stderr)
    check(casino in done.stdout and "cell" not in done.stdout, done.stdout)
    refused("dealer_not_found", "dealer", "show", new("dealer"))
    refused("bet_not_found", "bet", "show", str(transaction + 16 * 1000))
    # The first character is the number of cell b, or of none: that cell is asked first, and refuses what no cell has.
    equal(player[0], "d", "a player_id of cell b")
    for first, cell in (("d", "b"), ("e", "a"), ("a", "a")):
        done = refused("user_not_found", "player", "show", first + "2" * 19)
        check(f"creditbridgectl: cell {cell}\n" in done.stderr, done.stderr)


def case_a_dealer_in_two_cells():
    casino = dealer_in("a")
    # With the file of b, creditbridgectl knows of no other cell.
    alone("dealer", "add", casino, "--currency", "thb", "--mode", "transfer")
    done = refused("ambiguous", "dealer", "show", casino)
    check("in cell a and in cell b" in done.stderr and "--cell" in done.stderr, done.stderr)
    equal(ctl_json("dealer", "show", casino, "--cell", "b")["cell"], "b", "with --cell")
    check(f"dealer {casino}" in findings(), "doctor finds it")
    # What doctor proposes.
    ctl("dealer", "suspend", casino, "--cell", "a")
    equal(ctl_json("dealer", "show", casino)["cell"], "b", "the other cell has it")
    check(f"dealer {casino}" not in findings(), "doctor does not find it")
    ctl("dealer", "suspend", casino, "--cell", "b")
    refused("ambiguous", "dealer", "show", casino)
    for cell in "ab":
        ctl("dealer", "resume", casino, "--cell", cell)
    DOUBLE.append(casino)


def owed_result(cell):
    """A round of a seamless dealer of @cell whose result its dealer does not take. Returns the dealer, the
    transaction of the bet, and the event of the result."""
    casino = cell.dealer_add(new("dealer"), "--url", "http://127.0.0.1:1/d/", "--allow-http", "--cell", cell.name,
                             mode="seamless").casino_id
    with Worker(cell.sockets / "edge.sock") as link:
        ctl("player", "add", casino, "alice")
        bet = link.place("slots", casino, "alice", "g-1", 10)
        link.end(bet.send, casino, SUCCESS)
        won = link.settle("slots", casino, "alice", "g-1", WIN, 25)
        link.end(won.send, casino, NOT_SENT, note="connection refused")
    return casino, bet.transaction_id, won.event


def case_bets_and_events():
    ctl("client", "add", "slots")
    there, bet, event = owed_result(B)
    here = owed_result(A)
    equal((event % 16, here[2] % 16), (3, 0), "the remainders of events")
    for words in (("bet", "show", bet), ("round", "show", bet), ("round", "show", f"{there}/alice", "g-1"),
                  ("bet", "show", there, "alice", "g-1"), ("callback", "show", event),
                  ("callback", "show", f"betting-result-{event}")):
        equal(ctl_json(*words)["cell"], "b", f"the cell of {words}")
    equal(ctl_json("callback", "hold", here[2], "--reason", "test")["cell"], "a", "held")
    done = ctl("callback", "hold", here[2], event, "--reason", "test", code=2)
    check(f"callback {event} is not in cell a" in done.stderr, done.stderr)
    equal({row["casino_id"]: row["cell"] for row in ctl_json("callback", "list")["callbacks"]},
          {here[0]: "a", there: "b"}, "callbacks")
    equal([item["cell"] for item in ctl_json("owed")["cells"] if item["owed"]], ["a", "b"], "owed")
    done = ctl("callback", "hold", "-", stdin="5\n", code=2)
    check("--cell" in done.stderr, done.stderr)
    refused("callback_not_found", "callback", "show", "19")
    done = ctl("replay", "show", "77", code=1)
    check("there is no replay 77" in done.stderr, done.stderr)


# -- all cells

def case_lists():
    here, there = dealer_in("a"), dealer_in("b")
    adjusted(here)
    adjusted(there)
    rows = ctl_json("dealer", "list")["dealers"]
    equal({row["casino_id"]: row["cell"] for row in rows if row["casino_id"] in (here, there)},
          {here: "a", there: "b"}, "the cells of dealers")
    lines = ctl("dealer", "list").stdout.splitlines()
    check(lines[0].split()[-1] == "CELL", lines[0])
    equal([line.split()[-1] for line in lines if there in line], ["b"], "the column CELL")
    equal({row["cell"] for row in ctl_json("audit", "--limit", "5")["audit"]}, {"a", "b"}, "audit")
    equal(len(ctl_json("audit", "--limit", "5")["audit"]), 10, "--limit rows of each cell")
    done = ctl("transfer", "list", "--limit", "1")
    check("2 shown, more follow: --cell NAME, or --limit" in done.stderr or "2 shown" not in done.stderr,
          done.stderr)
    equal(len(ctl_json("transfer", "list", "--limit", "1")["transfers"]), 2, "one of each")
    check("--cell" in ctl("transfer", "list", "--after", "5", code=2).stderr, "--after")
    equal(ctl_json("replay", "list"), {"replays": []}, "an empty list")
    check("no replays" in ctl("replay", "list").stderr, "an empty list")
    code, shown = on_terminal(A, "dealer", "list")
    check(code == 0 and "CELL" in shown.splitlines()[0], shown)


def case_objects():
    for command in ("status", "check", "owed", "metrics"):
        made = ctl_json(command)["cells"]
        equal([item["cell"] for item in made], ["a", "b"], command)
        single = json.loads(alone("--json", command).stdout)
        equal(set(made[1]) - {"cell"}, set(single), f"members of {command}")
    equal(ctl_json("status")["cells"][1]["ledger_number"], 3, "status of b")
    text = ctl("status").stdout
    check(text.index("Cell a") < text.index("Cell b"), text)
    done = ctl("metrics", code=2)
    check("--cell NAME (a, b)" in done.stderr and not done.stdout, done.stderr)
    text = ctl("metrics", "--cell", "b").stdout
    kinds = [line for line in text.splitlines() if line.startswith("# TYPE")]
    equal((len(kinds) > 10, sorted(set(kinds))), (True, sorted(kinds)), "each family once")


def case_own_cell():
    done = ctl("explain", "nothing", code=1)
    check("this is of cell a only; --cell NAME names another one: b" in done.stderr, done.stderr)
    check("of cell" not in ctl("explain", "nothing", "--cell", "b", code=1).stderr, "named")


# -- game servers

def case_client():
    name = new("client")
    made = ctl_json("client", "add", name)
    check("cell" not in made, made)
    equal((live_keys(A, name), live_keys(B, name)), ([made["key_id"]],) * 2, "in both cells")
    refused("already_exists", "client", "add", name)
    second = ctl_json("client", "key-add", name)["key_id"]
    ctl("client", "key-use", name, second)
    ctl("client", "key-retire", name, made["key_id"])
    equal((live_keys(A, name), live_keys(B, name)), ([second],) * 2, "the key in both cells")
    refused("key_in_use", "client", "key-retire", name, second)
    refused("key_not_found", "client", "key-retire", name, made["key_id"])
    ctl("client", "key-confirm", name)
    ctl("client", "remove", name)
    equal((live_keys(A, name), live_keys(B, name)), ([], []), "removed")
    refused("client_not_found", "client", "remove", name)


def case_client_repeated():
    """What a failure between the cells leaves, the same command completes."""
    name = new("client")
    first = ctl_json("client", "add", name, "--cell", "a")
    done = ctl("client", "key-add", name, code=1)
    check("clients_differ" in done.stderr, done.stderr)
    again = ctl_json("client", "add", name)
    equal(again["key"], first["key"], "the key that a had")
    equal(len(live_keys(B, name)), 1, "b has it, too")
    second = ctl_json("client", "key-add", name, "--cell", "b")
    again = ctl_json("client", "key-add", name)
    equal((again["key"], len(live_keys(A, name))), (second["key"], 2), "a gets the key of b")
    ctl("client", "key-retire", name, first["key_id"], "--cell", "a")
    done = refused("clients_differ", "client", "key-add", name)
    check("client key-retire" in done.stderr and "--cell b" in done.stderr, done.stderr)
    result, text = findings()[f"client {name}"]
    check(result == "FAIL" and "has other keys" in text, text)
    ctl("client", "key-retire", name, first["key_id"])
    equal((len(live_keys(A, name)), len(live_keys(B, name))), (1, 1), "retired in both")
    ctl("client", "remove", name, "--cell", "b")
    ctl("client", "remove", name)
    equal((live_keys(A, name), live_keys(B, name)), ([], []), "removed")


def case_client_ids():
    """A key has another id in each cell. A key id means the key of the default cell."""
    name = new("client")
    first = ctl_json("client", "add", name, "--cell", "a")["key_id"]
    second = ctl_json("client", "key-add", name, "--cell", "a")["key_id"]
    ctl("client", "key-retire", name, first, "--cell", "a")
    ctl("client", "add", name)
    equal((live_keys(A, name), live_keys(B, name)), ([second], [first]), "the ids of one key")
    refused("key_not_found", "client", "key-retire", name, first)
    third = ctl_json("client", "key-add", name)["key_id"]
    ctl("client", "key-retire", name, second)
    equal((live_keys(A, name), live_keys(B, name)), ([third], [second]), "the older key is retired in both")


# -- doctor

def case_doctor():
    name, other = new("client"), new("client")
    for client in (name, other):
        ctl("client", "add", client)
    ctl("client", "add", new("client"), "--cell", "b")
    ctl("client", "key-add", name, "--cell", "b")
    ctl("client", "remove", other, "--cell", "a")
    found = findings()
    for casino in DOUBLE:
        result, text = found[f"dealer {casino}"]
        check(result == "FAIL" and "is in cell a and in cell b" in text, text)
    equal(found[f"client {name}"], ("FAIL", f"client {name} has other keys in cell a than in cell b"), "keys")
    equal(found[f"client {other}"], ("FAIL", f"client {other} is in cell b and not in cell a"), "missing")
    taken = A.dir / "taken.conf"
    for name in ("console", "lighttpd"):
        taken.write_text(B.config.read_text().replace('cell_name = "b"', f'cell_name = "{name}"'))
        error = json.loads(run("--config", taken, "--json", "dealer", "list", code=78).stdout)["error"]
        check(f"cell_name must not be {name}" in error["detail"], error)
    same = A.dir / "same-number.conf"
    same.write_text(A.config.read_text() + "ledger_number = 3\n")
    done = run("--config", same, "--json", "doctor", "--no-lookup", code=1)
    found = [item for item in json.loads(done.stdout)["findings"] if item["check"] == "cells"]
    check(len(found) == 1 and found[0]["result"] == "FAIL" and "ledger_number" in found[0]["found"], found)
    error = json.loads(run("--config", same, "--json", "dealer", "list", code=78).stdout)["error"]
    check(error["id"] == "configuration" and "ledger_number" in error["detail"], error)


# -- a cell that is down

def case_down():
    there, here, other, client = dealer_in("b"), dealer_in("a"), new("dealer"), new("client")
    transaction, player = adjusted(there)
    key = ctl_json("client", "add", client)["key_id"]
    with down(B):
        listed = ctl_json("cell", "list", code=3)["cells"]
        equal([row["state"] for row in listed], ["serving", "unreachable"], "cell list")
        check("admin.sock" in listed[1]["why"], listed[1]["why"])
        equal(ctl_json("dealer", "show", here)["cell"], "a", "dealers of the other cell")
        for words in (("dealer", "show", there), ("player", "show", player),
                      ("transfer", "show", f"--transaction={transaction}")):
            done = refused("ledger_unreachable", *words, code=69)
            check("cell b cannot be asked" in done.stderr, done.stderr)
        done = refused("ledger_unreachable", "dealer", "add", other, "--currency", "thb", "--mode", "transfer",
                       code=69)
        check("cell b cannot be asked" in done.stderr and "nothing was done" in done.stderr, done.stderr)
        listed = ctl_json("dealer", "list", code=3)
        check(here in {row["casino_id"] for row in listed["dealers"]}, "the rows of a")
        equal([(item["cell"], item["error"]["id"]) for item in listed["not_asked"]],
              [("b", "ledger_unreachable")], "what was not asked")
        done = ctl("dealer", "list", code=3)
        check("creditbridgectl: ledger_unreachable: cell b: " in done.stderr and here in done.stdout, done.stderr)
        equal(ctl_json("dealer", "list", "--cell", "a")["cell"], "a", "one is enough")
        made = ctl_json("check", code=3)["cells"]
        equal((made[0]["ok"], made[1]["error"]["id"]), (True, "ledger_unreachable"), "check")
        done = ctl("status", code=3)
        check("cell b: " in done.stderr and "Cell a" in done.stdout, done.stderr)
        for words in (("add", other), ("key-add", client), ("key-retire", client, key), ("remove", client)):
            done = refused("ledger_unreachable", "client", *words, code=69)
            check("nothing was changed" in done.stderr and "cell b: " in done.stderr, done.stderr)
        equal((live_keys(A, other), live_keys(A, client)), ([], [key]), "game servers")
        A.stop()
        found = findings()
        equal(found["cell a"], ("SKIP", "it cannot be asked (see ledger)"), "the own one")
        check(found["cell b"][0] == "FAIL" and "it cannot be asked" in found["cell b"][1], found["cell b"])
        listed = ctl_json("dealer", "list", code=69)
        equal((listed["error"]["id"], len(listed["not_asked"])), ("ledger_unreachable", 2), "none was asked")
        A.start()
    refused("dealer_not_found", "dealer", "show", other)


# -- the page

class Page:
    """The chapters of doc/cells.md about a second cell and moves, typed on an installation with one cell."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.paths = {"/etc/creditbridge/creditbridge.conf": wallet.config,
                      "/etc/creditbridge/cell-b.conf": wallet.dir / "cell-b.conf",
                      "/run/creditbridge-b": wallet.dir / "run-b", "/var/lib/creditbridge-b": wallet.dir / "state-b",
                      " --user _creditbridge": ""}
        self.started = []
        self.typed = set()

    def here(self, text):
        for there, path in self.paths.items():
            text = text.replace(there, str(path))
        return text

    def configure(self, path, block):
        """Adds the block to a file. A new one has the settings that every file of a test has."""
        path = pathlib.Path(self.here(path))
        usual = "" if path.exists() else 'log_target = "stderr"\ndisk_ballast_mib = 1\n'
        with path.open("a") as file:
            file.write(usual + self.here(block))
        path.chmod(0o644)

    def type(self, line):
        words = line.split()
        self.typed.add(" ".join(words[:2]))
        if words[0] != "systemctl":
            equal(words[0], "creditbridgectl", line)
            return run("--config", self.wallet.config, *self.here(line).split()[1:])
        equal({word.split("@")[1].split(".")[0] for word in words[3:]}, {"b"}, "the cell of the units")
        for unit in words[3:]:
            check((cb.SRCDIR / "debian" / "systemd" / unit.replace("@b", "@")).exists(), unit)
        if any(word.startswith("creditbridge-ledger@") for word in words):
            sockets = self.paths["/run/creditbridge-b"]
            sockets.mkdir(mode=0o755)
            self.started.append(Child([cb.find_program("creditbridge-ledger"), "--config",
                                       self.paths["/etc/creditbridge/cell-b.conf"]], self.wallet.logs / "b.log"))
            cb.wait_until((sockets / "admin.sock").exists, 20, "the ledger of b")
        return None


def case_page():
    text = (cb.SRCDIR / "doc" / "cells.md").read_text()
    chapter = "".join(text.split(f"\n## {title}\n")[1].split("\n## ")[0]
                      for title in ("A second cell on one host", "Moving a dealer"))
    with cb.Instance("page") as wallet:
        wallet.ctl("client", "add", "slots")
        wallet.dealer_add("demo")
        page = Page(wallet)
        try:
            for kind, path, block in re.findall(r"^```(sh|conf) ?(.*)\n((?:.*\n)*?)```$", chapter, re.MULTILINE):
                if kind == "conf":
                    page.configure(path, block)
                for line in block.splitlines() if kind == "sh" else ():
                    # What doctor finds of this host is no matter; the check of the cells is.
                    if line != "creditbridgectl doctor":
                        page.type(line)
            found = json.loads(wallet.ctl_run("--json", "doctor", "--no-lookup").stdout)["findings"]
            equal([(item["result"], item["found"]) for item in found if item["check"] == "cells"],
                  [("PASS", "2 cells answer; no dealer is in two, and all have the same game servers")], "doctor")
            equal({row["casino_id"]: row["cell"] for row in wallet.ctl_json("dealer", "list")["dealers"]},
                  {"demo": "b", "lucky": "b"}, "dealers")
        finally:
            for child in page.started:
                child.stop()
    check(page.typed >= {"creditbridgectl init", "creditbridgectl client", "creditbridgectl dealer", "systemctl enable"}, page.typed)


CASES = [
    ("cell list", case_cell_list),
    ("--cell", case_cell_option),
    ("proposed commands", case_proposals),
    ("dealer add", case_dealer_add),
    ("commands find their cell", case_commands_find_their_cell),
    ("bets and events", case_bets_and_events),
    ("lists", case_lists),
    ("status, check, owed, metrics", case_objects),
    ("commands of the own cell", case_own_cell),
    ("game servers", case_client),
    ("game servers: the same command again", case_client_repeated),
    ("game servers: ids of keys", case_client_ids),
    ("a dealer in two cells", case_a_dealer_in_two_cells),
    ("doctor", case_doctor),
    ("a cell that is down", case_down),
    ("the page about cells", case_page),
]


def main():
    global A, B, ctl, ctl_json, refused  # pylint: disable=global-statement
    with cb.Instance("cell-b", {"cell_name": "b", "ledger_number": 3}) as B, \
            cb.Instance("cell-a", {"cell_name": "a", "cells": [str(B.config)]}) as A:
        A.name, B.name = "a", "b"
        ctl, ctl_json, refused = bind(A)
        cb.needs(case_doctor, "a dealer in two cells")
        return cb.run_cases(CASES, seconds=60)


sys.exit(main())
