#!/usr/bin/python3
"""The campaign `history`: the answers to all clients must agree with one order of the calls.

16 clients move credit between 8 players (out of one, then into another: the total stays) and read their
balances, through a real server; an id is sent up to five times at once, connections are dropped
half-way. The recorded history is checked for linearizability of each player and for the total
(linear.py), in rounds of --round calls, each with a wallet of its own and a seed that is printed; at
the end of a round `check` must find the books right, and the checker must find each of ten faults that
are planted into the round's history.

  history.py [--calls N] [--seed N] [--from ROUND]
"""
import argparse
import http.client
import json
import multiprocessing
import os
import pickle
import random
import socket
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib")]
import cb  # noqa: E402
from cb import BALANCE, TRANSFER_IN, TRANSFER_OUT, check, equal  # noqa: E402
from cb_http import request_bytes  # noqa: E402
from linear import IN, OUT, READ, Try, calls_of, faults  # noqa: E402

CLIENTS = 16
PLAYERS = 8
START_CENTS = 10000
AMOUNT_MAX_CENTS = 6000        # so that some are refused
AT_ONCE = (1, 1, 1, 1, 2, 3, 5)
DROP_SHARE = 0.05
READ_SHARE = 0.5
TIMEOUT_S = 20.0
PATIENCE_S = 120.0
PROCESSES = {cb.Lighttpd: 2, cb.ApacheFcgid: 96}  # mod_fcgid: more than the calls at once
BROKEN = (OSError, http.client.HTTPException)
PATHS = {READ: ("GET", BALANCE), IN: ("POST", TRANSFER_IN), OUT: ("POST", TRANSFER_OUT)}


def cents_of(number):
    return round(number * 100)


class Client:
    """One client: a process with a few connections, and the answers that it got."""

    def __init__(self, port, dealer, number, seed):
        self.port, self.dealer, self.number = port, dealer, number
        self.random = random.Random(f"{seed}-{number}")
        self.connections = []
        self.history = []
        self.calls = 0

    def request(self, kind, body):
        method, path = PATHS[kind]
        data = json.dumps(body).encode()
        return request_bytes(method, path, [
            ("Host", "127.0.0.1"), ("Content-Type", "application/json"),
            ("x-casino-id", self.dealer.casino_id),
            ("x-casino-signature", cb.sign(self.dealer.key, data))], data, False)

    def connection(self):
        if self.connections:
            return self.connections.pop()
        return socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S)

    def drop(self, data):
        """Sends a part of a request, or all of it, and hangs up."""
        with self.connection() as connection:
            connection.sendall(data[:self.random.choice((len(data) // 2, len(data) - 1,
                                                         len(data)))])

    def receive(self, connection):
        """One answer: (status, replay, bytes). The connection is kept when the server keeps it."""
        response = http.client.HTTPResponse(connection)
        response.begin()
        body = response.read()
        if response.will_close:
            connection.close()
        else:
            self.connections.append(connection)
        return response.status, response.getheader("X-Idempotent-Replay") == "true", body

    def send(self, kind, player, key, cents, data):
        """One time of sending; (connection, when), None when it broke."""
        start = time.monotonic_ns()
        try:
            if self.random.random() < DROP_SHARE:
                self.drop(data)
            else:
                connection = self.connection()
                connection.sendall(data)
                return connection, start
        except BROKEN:
            pass
        self.history.append(Try(kind, player, key, cents, start, None, None, None, None, None, b""))
        return None

    def answered(self, kind, player, key, cents, connection, start):
        """The answer to what was sent, recorded; its status, None when there is none."""
        try:
            status, replay, body = self.receive(connection)
        except BROKEN:
            status = None
            connection.close()
        if status not in (200, 402):
            if status is not None and status < 500 and status != 429:
                raise AssertionError(f"{key}: {status} {body!r}")
            self.history.append(Try(kind, player, key, cents, start, None, None, None, None, None,
                                    b""))
            return None
        end = time.monotonic_ns()
        told = json.loads(body)
        if told.pop("request_id", None):  # of an error: each answer has its own
            body = json.dumps(told).encode()
        balance = told["balance"] if kind == READ else told["current_balance"]
        self.history.append(Try(kind, player, key, cents, start, end, status, replay,
                                told.get("transaction_id"), cents_of(balance), body))
        return status

    def call(self, kind, player, cents=0):
        """One call, sent several times at once if it moves, until it was answered. Its status."""
        self.calls += 1
        key = f"{kind}-{self.number}-{self.calls}"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            if kind == READ:
                body = {"user_id": player, "request_timestamp": cb.now_ms()}
            else:
                body = {"request_transaction_id": key, "user_id": player, "amount": cents / 100}
            data = self.request(kind, body)
            times = 1 if kind == READ else self.random.choice(AT_ONCE)
            sent = [self.send(kind, player, key, cents, data) for _ in range(times)]
            statuses = [self.answered(kind, player, key, cents, *one) for one in sent if one]
            statuses = [status for status in statuses if status is not None]
            if statuses:
                return statuses[0]
            if time.monotonic() > deadline:
                raise AssertionError(f"{key}: not answered in {PATIENCE_S} s")

    def run(self, calls):
        players = [f"p{i}" for i in range(PLAYERS)]
        while self.calls < calls:
            if self.random.random() < READ_SHARE:
                self.call(READ, self.random.choice(players))
                continue
            cents = self.random.randint(1, AMOUNT_MAX_CENTS)
            giver, taker = self.random.sample(players, 2)
            if self.call(OUT, giver, cents) == 200:
                self.call(IN, taker, cents)
        for connection in self.connections:
            connection.close()


def client_main(path, port, dealer, number, seed, calls):
    client = Client(port, dealer, number, seed)
    client.run(calls)
    with open(path, "wb") as file:
        pickle.dump(client.history, file)


def record(wallet, server, seed, calls):
    """Runs the clients; the history of all and the balances before it."""
    dealer = wallet.dealer_add("history")
    start = {}
    for number in range(PLAYERS):
        user = f"p{number}"
        wallet.player_add("history", user)
        wallet.ctl("player", "adjust", "history", user, START_CENTS / 100, "--reason", "start")
        start[user] = START_CENTS
    paths = [wallet.dir / f"history-{number}" for number in range(CLIENTS)]
    context = multiprocessing.get_context("fork")
    clients = [context.Process(target=client_main, daemon=True, args=(
        path, server.port, dealer, number, seed, calls // CLIENTS))
        for number, path in enumerate(paths)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
        equal(client.exitcode, 0, "a client's exit code")
    history = []
    for path in paths:
        with open(path, "rb") as file:
            history += pickle.load(file)
    return history, start


# -- faults, planted

def written(history):
    """The calls that moved something, their tries together, in the order of the transactions."""
    moved = [tries for tries in calls_of(history).values()
             if any(one.status == 200 for one in tries) and tries[0].kind != READ]
    return sorted(moved, key=lambda tries: max(one.tid or 0 for one in tries))


def without(history, tries):
    gone = {id(one) for one in tries}
    return [one for one in history if id(one) not in gone]


def changed(history, tries, **values):
    return without(history, tries) + [one._replace(**values) if one.end else one for one in tries]


def middle(history):
    calls = written(history)
    return calls[len(calls) // 2]


def plant_lost(history):
    """A transfer that was answered is gone."""
    return without(history, middle(history))


def plant_doubled(history):
    """One moved twice."""
    tries = middle(history)
    again = [one._replace(key="again", tid=one.tid and one.tid + 10**9) for one in tries]
    return history + again


def plant_stale(history):
    """A read returns the balance before a write that had been answered long before."""
    tries = middle(history)
    one = next(one for one in tries if one.status == 200)
    before = one.value - (one.cents if one.kind == IN else -one.cents)
    late = max(other.end for other in history if other.end) + 10**9
    last = [calls for calls in written(history) if calls[0].player == one.player][-1]
    value = next(other.value for other in last if other.status == 200)
    check(before != value, "the planted read is right by chance")
    return history + [Try(READ, one.player, "stale", 0, late, late + 1, 200, False, None, before, b"")]


def plant_backwards(history):
    """A read returns less than one that ended before it, in between two writes."""
    player = middle(history)[0].player
    chain = [calls for calls in written(history) if calls[0].player == player]
    first, second = (next(one.value for one in calls if one.status == 200) for calls in chain[-2:])
    start = min(one.start for one in chain[-1]) - 10**6
    span = [one for one in history if one.end is None or one.end > 0]
    end = max(one.end for one in span if one.end) + 10**6
    reads = [Try(READ, player, f"back-{i}", 0, end + i * 10, end + i * 10 + 1, 200, False, None,
                 value, b"") for i, value in enumerate((second, first))]
    check(start < end and first != second, "nothing to plant")
    return history + reads


def plant_invented(history):
    """A read returns a balance that never was."""
    read = next(one for one in history if one.kind == READ and one.end)
    return without(history, [read]) + [read._replace(value=read.value + 10**7)]


def plant_order(history):
    """A transfer stands before one that had been answered when it was sent."""
    player = middle(history)[0].player
    chain = [calls for calls in written(history) if calls[0].player == player]
    tries = chain[0]
    late = max(one.end for one in history if one.end) + 10**9
    return without(history, tries) + [one._replace(start=late, end=one.end and late + 1)
                                      for one in tries]


def plant_two_answers(history):
    """The same call was answered in two ways."""
    one = next(one for one in middle(history) if one.status == 200)
    return history + [one._replace(replay=True, answer=one.answer + b" ")]


def plant_twice_fresh(history):
    """Two answers to the same call, and neither is a replay."""
    one = next(one for one in middle(history) if one.status == 200)
    return history + [one._replace(replay=False)] + (
        [one._replace(replay=False)] if one.replay else [])


def plant_refused(history):
    """A transfer out was refused although there was enough."""
    one = next(one for one in middle(history) if one.status == 200)
    return history + [Try(OUT, one.player, "refused", one.value, one.end, one.end + 1, 402, False,
                          None, one.value, b"")]


def plant_total(history):
    """The last transfer of a player moved one cent more."""
    player = middle(history)[0].player
    tries = [calls for calls in written(history) if calls[0].player == player][-1]
    change = 1 if tries[0].kind == IN else -1
    value = next(one.value for one in tries if one.status == 200)
    history = [one for one in history if one.kind != READ or one.player != player]
    return changed(history, tries, value=value + change, cents=tries[0].cents + 1)


PLANTED = (plant_lost, plant_doubled, plant_stale, plant_backwards, plant_invented, plant_order,
           plant_two_answers, plant_twice_fresh, plant_refused, plant_total)


def run_round(seed, calls, kind):
    """One round; what it came to in one line."""
    with cb.Instance("history") as wallet, kind(wallet, processes=PROCESSES[kind]) as server:
        began = time.monotonic()
        history, start = record(wallet, server, seed, calls)
        took = time.monotonic() - began
        done = wallet.ctl_run("check")
        equal(done.returncode, 0, f"check: {done.stdout}{done.stderr}")
    answers = sum(one.end is not None for one in history)
    wrong = faults(history, start)
    equal(wrong[:10], [], f"faults of seed {seed}")
    for plant in PLANTED:
        check(faults(plant(history), start), f"{plant.__name__} was not found, seed {seed}")
    made = len(calls_of(history))
    print(f"# seed {seed}: {made} calls, sent {len(history)} times, {answers} answers in "
          f"{took:.0f} s; 0 faults; {len(PLANTED)} planted ones found", flush=True)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=12000)
    parser.add_argument("--round", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="ROUND")
    options = parser.parse_args()
    rounds = max(1, (options.calls + options.round - 1) // options.round)
    calls = min(options.calls, options.round)
    kinds = (cb.Lighttpd, cb.ApacheFcgid)

    def case(number):
        return lambda: run_round(options.seed + number, calls, kinds[number % len(kinds)])
    return cb.run_cases([
        (f"history, round {number} of {rounds}, {kinds[number % len(kinds)].name}", case(number))
        for number in range(options.first, rounds)], seconds=3600)


if __name__ == "__main__":
    sys.exit(main())
