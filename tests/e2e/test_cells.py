#!/usr/bin/python3
"""Workers that serve the dealers of two cells: two ledgers on Berkeley DB with different numbers, and one
web server on both mounts. The operator's commands go to each cell by a configuration file of its own; the
workers' file lists the other cell."""
import contextlib
import itertools
import json
import os
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
from cb_codec import GREETING, MAGIC  # noqa: E402
from cb_feed import FEED  # noqa: E402
from cb_moves import step  # noqa: E402
from cb_platform import (BETS, BETS_CANCEL, LOOPBACK, PLAYER_BALANCE, PLAYERS, RESULTS,  # noqa: E402
                         RESULTS_BATCH, Client, platform_call, seamless_dealer)

NUMBER = 5       # of the ledger of cell b
LETTER = "f"     # of that number in base32
DEADLINE_MS = 1000
KEY = "5" * 64
numbers = itertools.count(1)


def new_id(what="ref"):
    return f"{what}-{next(numbers)}"


class Lighttpd(cb.Lighttpd):
    """The workers read the file that lists the other cell."""

    def values(self, serve):
        return super().values(serve) | {"config": self.instance.cells_config}


class World:
    """Both cells, the server, a game server, and a dealer of each kind."""

    def __init__(self):
        self.b = cb.Instance("cbcellb", settings={"cell_name": "b", "ledger_number": NUMBER} | LOOPBACK)
        self.a = cb.Instance("cbcella", settings={"cell_name": "a"} | LOOPBACK)
        self.cells = {"a": self.a, "b": self.b}
        self.a.cells_config = self.a.dir / "cells.conf"
        self.a.cells_config.write_text(
            self.a.config.read_text() +
            f'cells = {{"{self.b.config}"}}\nledger_deadline_ms = {DEADLINE_MS}\n')
        self.a.cells_config.chmod(0o644)
        self.b.dir.chmod(0o755)
        # The game server's key has another id in each cell.
        self.a.ctl("client", "add", "game")
        self.a.ctl("client", "key-add", "game", "--key-file=-", stdin=KEY)
        self.a.ctl("client", "key-retire", "game", "k1")
        self.b.ctl("client", "add", "game", "--key-file=-", stdin=KEY)
        self.client = Client("game", KEY)
        self.dealers = {name: cell.dealer_add(f"dealer-{name}") for name, cell in self.cells.items()}
        self.users = {name: new_id("user") for name in self.cells}
        self.seamless, self.reference = seamless_dealer(self.b, "seamless-b")
        self.server = Lighttpd(self.a, threads=8)
        self.players = {}

    def close(self):
        self.server.stop()
        self.reference.close()
        for cell in self.cells.values():
            cell.close()

    def register(self, dealer, user_id):
        answer = self.platform(PLAYERS, casino_id=dealer.casino_id, user_id=user_id)
        equal((answer.status, answer.json["created"]), (200, True), f"{answer}")
        return answer.json["player_id"]

    def transfer(self, name, amount=100, path=cb.TRANSFER_IN, **words):
        return cb.call(self.server, "POST", path,
                       {"user_id": self.users[name], "amount": amount, "request_transaction_id": new_id()},
                       dealer=self.dealers[name], **words)

    def balance(self, name, **words):
        return cb.call(self.server, "POST", cb.BALANCE,
                       {"user_id": self.users[name], "request_timestamp": cb.now_ms()},
                       dealer=self.dealers[name], **words)

    def platform(self, path, **body):
        return platform_call(self.server, path, body, client=self.client)

    def bet(self, amount=10, game_id=None, **player):
        game_id = game_id or new_id("game")
        reference = new_id()
        answer = self.platform(BETS, request_transaction_id=reference, game_id=game_id, bet_amount=amount,
                               user_bet={"on": "red"}, **player)
        return answer, game_id, reference

    def result_body(self, game_id, result="win", payout=20, **player):
        return {"game_id": game_id, "result": result, "payout_amount": payout, "game_result": {"ball": 7},
                "user_bet_result": {}, **player}


WORLD = None


def refused(answer, status, name):
    equal((answer.status, name in json.dumps(answer.json)), (status, True), f"{answer}")


def served(call):
    """The first answer that is not 503. A fiber that has not read the keys of both cells answers 503, and so does a
    busy host after DEADLINE_MS."""
    return wait_until(lambda: [answer for answer in [call()] if answer.status != 503], 10, "an answer")[0]


def stranger():
    """A call of a dealer that no cell has."""
    return cb.call(WORLD.server, "POST", cb.BALANCE, {"user_id": "x", "request_timestamp": cb.now_ms()},
                   casino="nowhere", signature="0" * 64)


def case_players():
    for name, dealer in WORLD.dealers.items():
        WORLD.players[name] = WORLD.register(dealer, WORLD.users[name])
    WORLD.players["seamless"] = WORLD.register(WORLD.seamless, "alice")
    check(WORLD.players["b"].startswith(LETTER), f"{WORLD.players}")
    check(WORLD.players["seamless"].startswith(LETTER), f"{WORLD.players}")
    answer = WORLD.platform(PLAYERS, casino_id="unknown-dealer", user_id="x")
    refused(answer, 404, "dealer_not_found")


def case_transfers():
    for name, number in (("a", 0), ("b", NUMBER)):
        answer = WORLD.transfer(name)
        equal(answer.status, 200, f"{answer}")
        equal(answer.json["transaction_id"] % cb.ID_STRIDE, number, f"{answer.json}")
        equal(WORLD.transfer(name, 30, cb.TRANSFER_OUT).status, 200, "transfer-out")
        equal(WORLD.balance(name).json["balance"], 70, "balance")
        answer = cb.call(WORLD.server, "POST", FEED, {"after": 0, "limit": 10, "wait_ms": 0,
                                                      "request_timestamp": cb.now_ms()},
                         dealer=WORLD.dealers[name])
        equal([item["amount"] for item in answer.json["items"]], [100, -30], f"{answer.json}")


def case_callers():
    answer = WORLD.transfer("b", signature="0" * 64)
    refused(answer, 401, "invalid_signature")
    refused(stranger(), 401, "invalid_signature")
    answer = platform_call(WORLD.server, PLAYER_BALANCE, {"player_id": WORLD.players["b"]}, client=WORLD.client,
                           signature="0" * 64)
    refused(answer, 401, "invalid_signature")
    # The dealer's cell keeps its refused calls; the default cell those of unknown callers.
    for name, casino in (("b", "dealer-b"), ("a", "nowhere")):
        wait_until(lambda cell=name, wanted=casino: wanted in WORLD.cells[cell].ctl("--json", "refused", "list"),
                   10, f"the refused call of {casino} in cell {name}")
    check("dealer-b" not in WORLD.a.ctl("--json", "refused", "list"), "a refused call in the wrong cell")


def case_player_ids():
    for name in WORLD.dealers:
        for _ in range(2):  # the second one from what the worker remembers
            answer = WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players[name])
            equal((answer.status, answer.json["user_id"]), (200, WORLD.users[name]), f"{answer}")
        answer = WORLD.platform(PLAYER_BALANCE, casino_id=f"dealer-{name}", user_id=WORLD.users[name])
        equal(answer.json.get("player_id"), WORLD.players[name], f"{answer}")
    for unknown in ("a" * 20, LETTER * 20, "short", "x" * 100):
        refused(WORLD.platform(PLAYER_BALANCE, player_id=unknown), 404, "user_not_found")
    refused(WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["a"], casino_id="dealer-b"), 404, "user_not_found")


def case_bets():
    for player in ({"player_id": WORLD.players["a"]}, {"player_id": WORLD.players["b"]},
                   {"player_id": WORLD.players["seamless"]},
                   {"casino_id": "seamless-b", "user_id": "alice"}):
        answer, game_id, _ = WORLD.bet(**player)
        equal((answer.status, answer.json.get("state")), (200, "accepted"), f"{answer} {answer.json}")
        answer = WORLD.platform(RESULTS, request_transaction_id=new_id(), **WORLD.result_body(game_id, **player))
        equal((answer.status, answer.json["callback"]["state"]), (200, "delivered"), f"{answer}")
        answer, game_id, reference = WORLD.bet(**player)
        answer = WORLD.platform(BETS_CANCEL, request_transaction_id=new_id(), game_id=game_id,
                                bet_request_transaction_id=reference, reason="table closed", **player)
        equal((answer.status, answer.json.get("state")), (200, "refunded"), f"{answer}")


def case_batch():
    items, wins = [], []
    for name in ("b", "a", "seamless", "a", "b"):
        player = {"player_id": WORLD.players[name]}
        _, game_id, _ = WORLD.bet(**player)
        items.append(WORLD.result_body(game_id, payout=11 + len(items), **player))
        wins.append(items[-1]["payout_amount"])
    items.insert(1, WORLD.result_body("g", player_id="z" * 20))
    body = {"request_transaction_id": new_id("batch"), "results": items}
    first = WORLD.platform(RESULTS_BATCH, **body)
    equal(first.status, 200, f"{first}")
    got = first.json["results"]
    equal([item.get("payout_amount") for item in got[:1] + got[2:]], wins, f"{got}")
    check("user_not_found" in json.dumps(got[1]), f"{got[1]}")
    numbers_of = {item["transaction_id"] % cb.ID_STRIDE for item in got if "transaction_id" in item}
    equal(numbers_of, {0, NUMBER}, "the cells of the results")
    again = WORLD.platform(RESULTS_BATCH, **body)
    equal((again.json, again.replayed), (first.json, True), "the same batch again")
    body["results"] = items[:3]
    refused(WORLD.platform(RESULTS_BATCH, **body), 409, "transaction_conflict")


def case_batch_refused_by_one():
    """Cell b knows the key from a bet, after cell a has settled its item: no 4xx hides that."""
    _, game_a, _ = WORLD.bet(player_id=WORLD.players["a"])
    _, game_b, _ = WORLD.bet(player_id=WORLD.players["b"])
    _, _, used = WORLD.bet(player_id=WORLD.players["b"])
    items = [WORLD.result_body(game_b, player_id=WORLD.players["b"]),
             WORLD.result_body(game_a, player_id=WORLD.players["a"])]
    refused(WORLD.platform(RESULTS_BATCH, request_transaction_id=used, results=items[:1]), 409, "transaction_conflict")
    for _ in range(2):
        answer = WORLD.platform(RESULTS_BATCH, request_transaction_id=used, results=items)
        equal(answer.status, 200, f"{answer}")
        conflict, settled = answer.json["results"]
        equal((conflict["id"], conflict["request_id"]),
              ("transaction_conflict", answer.header("X-Request-Id")), f"{conflict}")
        equal(settled["transaction_id"] % cb.ID_STRIDE, 0, f"{settled}")
    answer = WORLD.platform(RESULTS, request_transaction_id=new_id(), **items[0])
    equal(answer.status, 200, f"the round of cell b is open: {answer}")


def case_batch_found_later():
    """An item's dealer is added after the call moved money: the same call gets the same answer."""
    _, game_a, _ = WORLD.bet(player_id=WORLD.players["a"])
    later = {"casino_id": "later", "user_id": "x"}
    body = {"request_transaction_id": new_id("batch"),
            "results": [WORLD.result_body(game_a, player_id=WORLD.players["a"]), WORLD.result_body("g", **later)]}
    first = WORLD.platform(RESULTS_BATCH, **body)
    equal(first.status, 200, f"{first}")
    check("transaction_id" in first.json["results"][0], f"{first.json}")
    equal(first.json["results"][1]["id"], "dealer_not_found", f"{first.json}")
    WORLD.b.dealer_add("later")
    wait_until(lambda: WORLD.platform(PLAYERS, **later).status == 200, 10, "the new dealer is known")
    again = WORLD.platform(RESULTS_BATCH, **body)
    equal((again.status, again.json["results"][0]), (200, first.json["results"][0]), f"{again}")
    equal(WORLD.platform(RESULTS_BATCH, **body).json, again.json, "the same call again")


def case_batch_of_a_moved_dealer():
    """The dealer of one item moves to the other cell after the call: the same call gets the same answers."""
    mover = WORLD.a.dealer_add("batch-mover")
    wait_until(lambda: WORLD.platform(PLAYERS, casino_id="batch-mover", user_id="x").status == 200, 10, "the new dealer")
    credit = {"user_id": "x", "amount": 100, "request_transaction_id": new_id()}
    wait_until(lambda: cb.call(WORLD.server, "POST", cb.TRANSFER_IN, credit, dealer=mover).status == 200, 10,
               "the new dealer's key")
    items = []
    for player in ({"casino_id": "batch-mover", "user_id": "x"}, {"player_id": WORLD.players["a"]}):
        placed, game_id, _ = WORLD.bet(**player)
        equal(placed.status, 200, f"{placed}")
        items.append(WORLD.result_body(game_id, **player))
    body = {"request_transaction_id": new_id("batch"), "results": items}
    first = WORLD.platform(RESULTS_BATCH, **body)
    equal((first.status, ["transaction_id" in item for item in first.json["results"]]), (200, [True, True]), f"{first}")
    subprocess.run(WORLD.a.ctl_argv("--config", WORLD.a.cells_config, "dealer", "move", "batch-mover", "--to", "b"),
                   stdout=subprocess.DEVNULL, check=True, timeout=60)
    wait_until(lambda: WORLD.platform(PLAYER_BALANCE, casino_id="batch-mover", user_id="x").status == 200, 10,
               "the dealer is served from the other cell")
    again = served(lambda: WORLD.platform(RESULTS_BATCH, **body))
    equal((again.status, again.replayed, again.json), (200, True, first.json), "the same batch again")


def case_retired_key():
    """A key that was retired in the default cell does not work for players of the other cell either."""
    for cell in WORLD.cells.values():
        cell.ctl("client", "add", "second", "--key-file=-", stdin=KEY[::-1].replace("5", "6"))
        cell.ctl("client", "key-add", "second", "--key-file=-", stdin=KEY.replace("5", "7"))
    client = Client("second", KEY[::-1].replace("5", "6"))

    def ask():
        return platform_call(WORLD.server, PLAYER_BALANCE, {"player_id": WORLD.players["b"]}, client=client)

    wait_until(lambda: ask().status == 200, 10, "the new key")
    with hanging(WORLD.a):
        # The keys of the other cell serve meanwhile.
        wait_until(lambda: all(ask().status == 200 for _ in range(40)), 10, "the players of cell b")
    WORLD.a.ctl("client", "key-retire", "second", "k1")
    wait_until(lambda: all(ask().status == 401 for _ in range(20)), 10, "the key is retired")


def figures():
    text = platform_call(WORLD.server, "/metrics", method="GET").body.decode()
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines() if "cell_up{" in line}


def ready():
    answer = platform_call(WORLD.server, "/readyz", method="GET")
    return {cell["name"]: cell["ok"] for cell in answer.json["cells"]}, answer


def until_equal(ask, wanted, what):
    """On a busy host, a cell may be late once and be asked again."""
    seen = []
    try:
        wait_until(lambda: seen.append(ask()) or seen[-1] == wanted, 10, what)
    except cb.HarnessError:
        equal(seen[-1], wanted, what)


def gauge(a, b):
    return {'creditbridge_cell_up{cell="a"}': a, 'creditbridge_cell_up{cell="b"}': b}


def in_time(seconds):
    """The calls of cell a, many times: none waits for cell b."""
    began = time.monotonic()
    for _ in range(20):
        equal(served(lambda: WORLD.balance("a")).status, 200, "a dealer of the cell that runs")
        equal(served(lambda: WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["a"])).status, 200, "its player")
    check(time.monotonic() - began < seconds, "the calls of the cell that runs wait for the other")


def case_one_cell_hangs():
    with hanging(WORLD.b):
        refused(WORLD.balance("b"), 503, "service_unavailable")
        check(WORLD.transfer("b", 1).status in (500, 503), "a transfer")
        in_time(8)
        until_equal(figures, gauge(1, 0), "the gauge")
    wait_until(lambda: WORLD.balance("b").status == 200, 10, "the cell's dealers are served again")


@contextlib.contextmanager
def hanging(cell):
    """A ledger that takes calls and does not answer, so that only the worker's limits end them."""
    pids = cell.engine_pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@contextlib.contextmanager
def stopped(cell):
    """The ledger of @cell does not run."""
    cell.stop()
    try:
        yield
    finally:
        cell.start()


@contextlib.contextmanager
def many(count, function):
    """Runs @function again and again in @count threads."""
    stop = threading.Event()

    def run():
        while not stop.is_set():
            function()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def case_many_callers_of_a_cell_that_hangs():
    """They leave slots to the dealers of the other cell. Those without a signature do, too."""
    def player_balance_b():
        WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["b"])

    def unsigned_b():
        WORLD.balance("b", signature="0" * 64)

    pairs = {unsigned_b: lambda: WORLD.balance("a"),
             player_balance_b: lambda: WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["a"])}
    for function, ask in pairs.items():
        with hanging(WORLD.b), many(48, function):
            wait_until(lambda one=ask: all(one().status == 200 for _ in range(40)), 10,
                       f"the calls of cell a beside {function.__name__}")
    wait_until(lambda: WORLD.balance("b").status == 200, 10, "the cell's dealers are served again")


def case_other_version():
    """A ledger of another version in one cell ends no worker, also if a stranger makes it look there."""
    pids = WORLD.server.worker_pids()
    path = WORLD.b.sockets / "edge.sock"
    with stopped(WORLD.b), socket.socket(socket.AF_UNIX) as listener:
        path.unlink(missing_ok=True)
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen(64)

        def greet():
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as connection:
                        connection.sendall(GREETING.pack(MAGIC, 1, 1))

        greeter = threading.Thread(target=greet)
        greeter.start()
        try:
            wait_until(lambda: stranger().status == 503, 10, "an unknown dealer may be in that cell")
            for _ in range(20):
                refused(WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["b"]), 503, "service_unavailable")
                equal(served(lambda: WORLD.balance("a")).status, 200, "a dealer of the other cell")
            refused(WORLD.balance("b"), 503, "service_unavailable")
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            greeter.join()
            path.unlink()
    equal(WORLD.server.worker_pids(), pids, "the workers")
    logged = "".join(file.read_text() for file in WORLD.a.logs.iterdir())
    check('event=cell_version cell="b"' in logged, "the log")
    equal(served(lambda: WORLD.balance("b")).status, 200, "the cell's dealers are served again")


def case_most_cells():
    """The most cells and threads: all connections have their fibers."""
    others = [WORLD.b.config]
    for number in set(range(1, 16)) - {NUMBER}:
        others.append(WORLD.a.dir / f"cell-{number}.conf")
        others[-1].write_text(f'cell_name = "c{number}"\nledger_number = {number}\n'
                              f'socket_directory = "/nowhere/{number}"\nstate_directory = "/nowhere/{number}"\n')
        others[-1].chmod(0o644)
    config = WORLD.a.dir / "most.conf"
    config.write_text(WORLD.a.cells_config.read_text().replace(
        f'cells = {{"{WORLD.b.config}"}}', "cells = {" + ", ".join(f'"{path}"' for path in others) + "}"))
    config.chmod(0o644)
    path = WORLD.a.dir / "most.sock"
    with subprocess.Popen([WORLD.a.worker, "--config", config, "--socket", path, "--threads", "256"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as worker:
        wait_until(lambda: path.exists() or worker.poll() is not None, 10, "the worker's socket")
        worker.terminate()
        output = worker.communicate(timeout=20)[0]
    equal(worker.returncode, 0, output)
    check("start_failed" not in output, output)


def case_one_cell_stopped():
    until_equal(lambda: (figures(), ready()[0]), (gauge(1, 1), {"a": True, "b": True}), "both answer")
    balance = served(lambda: WORLD.balance("b")).json["balance"]
    with stopped(WORLD.b):
        refused(WORLD.balance("b"), 503, "service_unavailable")
        in_time(8)
        # The keys of the stopped cell are used for a second.
        wait_until(lambda: stranger().status == 503, 10, "an unknown dealer may be in the stopped cell")
        refused(WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["b"]), 503, "service_unavailable")
        refused(WORLD.platform(PLAYER_BALANCE, player_id="z" * 20), 503, "service_unavailable")
        refused(WORLD.platform(RESULTS_BATCH, request_transaction_id=new_id(), results=[
            WORLD.result_body("g", player_id=WORLD.players[name]) for name in "ab"]), 503, "service_unavailable")
        until_equal(figures, gauge(1, 0), "the gauge")
        until_equal(lambda: ready()[0], {"a": True, "b": False}, "readyz")
    equal(served(lambda: WORLD.balance("b")).json["balance"], balance, "the cell's dealers are served again")
    until_equal(figures, gauge(1, 1), "the gauge")


def case_default_cell_stopped():
    with stopped(WORLD.a):
        refused(WORLD.balance("a"), 503, "service_unavailable")
        equal(served(lambda: WORLD.balance("b")).status, 200, "a dealer of the other cell")
        equal(served(lambda: WORLD.platform(PLAYER_BALANCE, player_id=WORLD.players["b"])).status, 200, "its player")
        until_equal(lambda: (ready()[1].status, ready()[0]), (503, {"a": False, "b": True}),
                    "readyz is that of the default cell")
        until_equal(figures, gauge(0, 1), "and says that the other one answers")
    equal(served(lambda: WORLD.balance("a")).status, 200, "the default cell's dealers are served again")


def case_two_cells():
    """A dealer that two cells have is served by none."""
    double = WORLD.b.dealer_add("double")
    WORLD.b.player_add("double", "x")

    def ask():
        return cb.call(WORLD.server, "POST", cb.BALANCE, {"user_id": "x", "request_timestamp": cb.now_ms()},
                       dealer=double)

    def unanimous(status):
        """The answers, if all have the status. Another fiber may still answer otherwise."""
        answers = [ask() for _ in range(20)]
        return all(answer.status == status for answer in answers) and answers

    wait_until(lambda: ask().status == 200, 10, "the new dealer is served")
    WORLD.a.dealer_add("double")
    # Each fiber of a worker looks at the second cell now and then.
    wait_until(lambda: unanimous(503), 20, "the dealer is in two cells")
    # What doctor proposes.
    WORLD.a.ctl("dealer", "suspend", "double")
    wait_until(lambda: unanimous(200), 20, "it is suspended in one of them")
    WORLD.a.ctl("dealer", "resume", "double")
    answers = wait_until(lambda: unanimous(503), 20, "it is in two cells again")
    refused(answers[-1], 503, "service_unavailable")
    equal(WORLD.balance("b").status, 200, "another dealer")
    logged = "".join(path.read_text() for path in WORLD.a.logs.iterdir())
    equal(logged.count("event=dealer_in_two_cells casino_id=double") >= 1 and "remedy=" in logged, True, "the log")


def case_move():
    """A dealer moves to cell b: the same URLs, keys and ids before and after, and 503 in between."""
    dealer = WORLD.a.dealer_add("mover")
    player_id = WORLD.register(dealer, "x")

    def ask(path, **body):
        return cb.call(WORLD.server, "POST", path, body, dealer=dealer)

    def transfer(reference, amount):
        return ask(cb.TRANSFER_IN, user_id="x", amount=amount, request_transaction_id=reference)

    def balance():
        return ask(cb.BALANCE, user_id="x", request_timestamp=cb.now_ms())

    def feed(after):
        answer = served(lambda: ask(FEED, after=after, limit=10, wait_ms=0, request_timestamp=cb.now_ms()))
        equal(answer.status, 200, f"{answer}")
        return [item["transaction_id"] for item in answer.json["items"]]

    reference, later = new_id(), new_id()
    # By each thread of the workers.
    wait_until(lambda: all(balance().status == 200 for _ in range(20)), 10, "the new dealer is served")
    first = transfer(reference, 100)
    equal(first.status, 200, f"{first}")
    before = feed(0)
    equal(WORLD.platform(PLAYER_BALANCE, player_id=player_id).status, 200, "the player is remembered")
    for action in ("leave", "cut"):
        step(WORLD.a, WORLD.b, "mover", action)
        for answer in (balance(), transfer(later, 7), transfer(reference, 100),
                       WORLD.platform(PLAYER_BALANCE, player_id=player_id), WORLD.bet(player_id=player_id)[0]):
            refused(answer, 503, "service_unavailable")
            check(int(answer.header("Retry-After")) > 0, f"{answer}")
        equal(WORLD.balance("a").status, 200, "another dealer of the cell")
    statuses = []
    with subprocess.Popen(WORLD.a.ctl_argv("--config", WORLD.a.cells_config, "dealer", "move", "mover", "--to", "b"),
                          stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            statuses.append(balance().status)
        equal(run.returncode, 0, "the move")
    wait_until(lambda: statuses.append(balance().status) or statuses[-20:] == [200] * 20, 10,
               "the dealer is served by cell b")
    check(set(statuses) == {200, 503}, f"a key that is valid in one cell is never refused: {set(statuses)}")
    equal(served(balance).json["balance"], 100, "nothing happened meanwhile")
    again = served(lambda: transfer(reference, 100))
    equal((again.json, again.replayed), (first.json, True), "the same transfer again")
    answer = served(lambda: WORLD.platform(PLAYER_BALANCE, player_id=player_id))
    equal(answer.json.get("user_id"), "x", f"the player by its id: {answer}")
    added = served(lambda: transfer(later, 7))
    equal((added.status, added.json["transaction_id"] % cb.ID_STRIDE), (200, NUMBER), f"{added.json}")
    equal(feed(before[-1]), [added.json["transaction_id"]], "the feed goes on")
    equal(feed(0), [*before, added.json["transaction_id"]], "the whole feed")
    equal(served(lambda: WORLD.bet(player_id=player_id)[0]).status, 200, "a bet of a game server")


def case_same_number():
    config = WORLD.a.dir / "same.conf"
    config.write_text(WORLD.a.cells_config.read_text().replace("cell_name", f"ledger_number = {NUMBER}\ncell_name", 1))
    done = subprocess.run([WORLD.a.worker, "--config", config, "--socket", WORLD.a.dir / "s"], capture_output=True,
                          text=True, timeout=20, check=False)
    equal(done.returncode, 78, done.stderr)
    check(f"ledger_number {NUMBER} is that of cell \"a\"" in done.stderr, done.stderr)
    check("set another one from 0 to 15" in done.stderr, done.stderr)


for case in (case_transfers, case_callers, case_player_ids, case_one_cell_hangs, case_one_cell_stopped,
             case_default_cell_stopped, case_two_cells, case_retired_key, case_other_version,
             case_many_callers_of_a_cell_that_hangs):
    cb.needs(case, "players of both cells")
for case in (case_batch, case_batch_refused_by_one, case_batch_found_later, case_batch_of_a_moved_dealer):
    cb.needs(case, "players of both cells", "transfers, balance and feed")
cb.needs(case_bets, "players of both cells", "transfers, balance and feed")

CASES = [
    ("players of both cells", case_players),
    ("transfers, balance and feed", case_transfers),
    ("wrong keys and unknown callers", case_callers),
    ("players by their ids", case_player_ids),
    ("bets, results and cancellations", case_bets),
    ("results of both cells in one batch", case_batch),
    ("a batch that one of two cells refuses", case_batch_refused_by_one),
    ("a batch with a dealer that is found later", case_batch_found_later),
    ("a batch with a dealer that moves", case_batch_of_a_moved_dealer),
    ("a retired key of a game server", case_retired_key),
    ("one cell hangs", case_one_cell_hangs),
    ("many callers of a cell that hangs", case_many_callers_of_a_cell_that_hangs),
    ("a cell of another version", case_other_version),
    ("the most cells", case_most_cells),
    ("one cell stopped, and its restart", case_one_cell_stopped),
    ("the default cell stopped", case_default_cell_stopped),
    ("a dealer in two cells", case_two_cells),
    ("a dealer moves", case_move),
    ("two cells with one number", case_same_number),
]

if __name__ == "__main__":
    WORLD = World()
    try:
        code = cb.run_cases(CASES)
    finally:
        WORLD.close()
    sys.exit(code)
