"""Clients that repeat a call until it is answered, and the proof that their answers agree with the
ledger.

Each client makes calls of its own sequence, drawn from the seed; every transfer has an id of its
own, and a call without an answer (a broken connection, a timeout, any 5xx) is repeated with the
same id and bytes until it is answered.
"""
import http.client
import json
import random
import threading
import time

import cb
from cb import BALANCE, TRANSFER_IN, TRANSFER_OUT, check, equal

CLIENTS = 16
DEALERS = 2
PLAYERS = 8          # of all dealers together
TIMEOUT_S = 8.0      # of one attempt
PATIENCE_S = 60.0    # for all attempts of one call
PAUSE_S = 0.02       # between two attempts, by default
START_CENTS = 200000
BROKEN = (OSError, http.client.HTTPException)
REPEATED = ()        # refusals that count as no answer


def refused(answer, errors):
    return answer.status >= 400 and answer.json.get("id") in errors


class Unanswered(Exception):
    """A call was repeated for PATIENCE_S without an answer."""


class Player:
    def __init__(self, dealer, user_id):
        self.dealer = dealer
        self.user_id = user_id
        self.start_id = f"start-{user_id}"


class Transfer:
    """A transfer that was answered."""

    __slots__ = ("key", "path", "player", "cents", "status", "answer")

    def __init__(self, key, path, player, cents):
        self.key = key
        self.path = path
        self.player = player
        self.cents = cents
        self.status = None
        self.answer = None

    def body(self):
        return {"request_transaction_id": self.key, "user_id": self.player.user_id,
                "amount": self.cents / 100}


class Caller:
    """One client's way to the server: a kept connection, or a new one for each call."""

    def __init__(self, server, keep_alive, pause_s=PAUSE_S):
        self.server = server
        self.keep_alive = keep_alive
        self.pause_s = pause_s
        self.connection = None
        self.repeats = 0
        self.asked = 0.0  # when the last attempt began
        self.sent = []    # of the last call, for each attempt: when it began and ended, in ns, and its answer; None: none

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def attempt(self, method, path, body, headers):
        self.asked = time.monotonic()
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.server.address, self.server.port,
                                                         timeout=TIMEOUT_S)
        self.connection.request(method, self.server.prefix + path, body, headers)
        response = self.connection.getresponse()
        data = response.read()
        if not self.keep_alive or response.will_close:
            self.close()
        return cb.Answer(response.status, response.getheaders(), data)

    def call(self, method, path, player, fields):
        """The answer, however many attempts it takes."""
        body = json.dumps(fields).encode()
        headers = {"x-casino-id": player.dealer.casino_id, "Content-Type": "application/json",
                   "x-casino-signature": cb.sign(player.dealer.key, body),
                   "Connection": "keep-alive" if self.keep_alive else "close"}
        deadline = time.monotonic() + PATIENCE_S
        self.sent = []
        while True:
            begun = time.monotonic_ns()
            try:
                answer = self.attempt(method, path, body, headers)
                if answer.status < 500 and not refused(answer, REPEATED):
                    self.sent.append((begun, time.monotonic_ns(), answer))
                    return answer
                why = repr(answer)
            except BROKEN as error:
                self.close()
                why = repr(error)
            self.sent.append((begun, None, None))
            if time.monotonic() > deadline:
                raise Unanswered(f"{path} {fields}: the last attempt: {why}")
            self.repeats += 1
            if self.server.other() is not self.server:
                self.close()
                self.server = self.server.other()
            time.sleep(self.pause_s)

    def transfer(self, transfer):
        return self.call("POST", transfer.path, transfer.player, transfer.body())


class Client(threading.Thread):
    def __init__(self, load, number):
        super().__init__(daemon=True)
        self.load = load
        self.number = number
        self.random = random.Random(f"{load.seed}/client/{number}")
        self.caller = Caller(load.server, number % 2 == 0, load.retry_s)
        self.transfers = []
        self.answered = []   # when
        self.asked = []      # when the attempt began that was answered
        self.failure = None  # an exception

    def run(self):
        try:
            while not self.load.stopping.is_set():
                begun = time.monotonic()
                self.step()
                time.sleep(max(0.0, begun + self.load.pause_s - time.monotonic()))
        except Exception as error:  # Reported by the main thread.
            self.failure = error
        finally:
            self.caller.close()

    def step(self):
        player = self.random.choice(self.load.players)
        kind = self.random.random()
        if kind < 0.15:
            answer = self.caller.call("POST" if kind < 0.07 else "GET", BALANCE, player, {
                "user_id": player.user_id, "request_timestamp": cb.now_ms()})
            if answer.status != 200 or not answer.json["balance"] >= 0:
                raise AssertionError(f"balance: {answer}")
            self.load.record(BALANCE, player, f"balance-{self.number}-{len(self.answered)}", 0, self.caller.sent)
        else:
            # Now and then the amount is more than any player has: a refusal is recorded, and
            # repeated, too.
            cents = self.random.randint(1, 1000)
            if kind > 0.97:
                cents += 10 ** 11
            transfer = Transfer(f"{self.number}-{len(self.transfers)}",
                                TRANSFER_IN if kind < 0.6 else TRANSFER_OUT, player, cents)
            answer = self.caller.transfer(transfer)
            if answer.status not in ((200,) if transfer.path == TRANSFER_IN else (200, 402)):
                raise AssertionError(f"{transfer.key}: {answer}{self.load.explained(answer)}")
            transfer.status = answer.status
            transfer.answer = answer.json
            self.transfers.append(transfer)
            self.load.record(transfer.path, player, transfer.key, transfer.cents, self.caller.sent)
        self.asked.append(self.caller.asked)
        self.answered.append(time.monotonic())


class Load:
    """The clients on one server, which make at most @rate calls a second, and afterwards the judge
    of the answers that they got. A call that was not answered is repeated after @retry_s. @record gets
    each answered call: its path, player, key and cents, and Caller.sent."""

    def __init__(self, wallet, server, dealers, seed, rate=None, retry_s=PAUSE_S, record=lambda *_: None):
        self.record = record
        self.wallet = wallet
        self.server = server
        self.seed = seed
        self.retry_s = retry_s
        self.players = []
        self.started = []
        for number in range(PLAYERS):
            dealer = dealers[number % len(dealers)]
            player = Player(dealer, f"player-{number}")
            wallet.player_add(dealer.casino_id, player.user_id)
            self.players.append(player)
        caller = Caller(server, False)
        for player in self.players:
            transfer = Transfer(player.start_id, TRANSFER_IN, player, START_CENTS)
            answer = caller.transfer(transfer)
            equal(answer.status, 200, f"the first transfer of {player.user_id}: {answer}")
            transfer.status, transfer.answer = answer.status, answer.json
            self.record(transfer.path, player, transfer.key, transfer.cents, caller.sent)
            self.started.append(transfer)
        self.stopping = threading.Event()
        self.pause_s = CLIENTS / rate if rate else 0
        self.clients = [Client(self, number) for number in range(CLIENTS)]

    def start(self):
        for client in self.clients:
            client.start()

    def failures(self):
        return [client for client in self.clients if client.failure]

    def stop(self):
        """Lets every client finish the call it is at."""
        self.stopping.set()
        for client in self.clients:
            client.join(PATIENCE_S + TIMEOUT_S + 5)
        for client in self.clients:
            check(not client.is_alive(), f"client {client.number} hangs")
        failed = self.failures()
        unanswered = [c for c in failed if isinstance(c.failure, Unanswered)]
        check(not failed, f"{len(unanswered)} calls unanswered; client by client: "
              + "; ".join(f"{c.number}: {c.failure!r}" for c in failed))

    def explained(self, answer):
        """Why a call was refused as badly signed: its client signs well."""
        if answer.status != 401:
            return ""
        done = self.wallet.ctl_run("explain", answer.json["request_id"])
        return f"\n{done.stdout}{done.stderr}"

    def transfers(self):
        return self.started + [t for client in self.clients for t in client.transfers]

    def answered(self):
        return sorted(when for client in self.clients for when in client.answered)

    def asked(self):
        return sorted(when for client in self.clients for when in client.asked)

    def repeats(self):
        return sum(client.caller.repeats for client in self.clients)

    # -- the proof

    def prove(self, replays):
        """Compares all that was acknowledged with all that is there. Raises what does not
        agree."""
        acknowledged = {(t.player.dealer.casino_id, t.key): t for t in self.transfers()}
        equal(len(acknowledged), len(self.transfers()), "keys were used once")
        seen, doubled = set(), []
        for player in self.players:
            casino_id = player.dealer.casino_id
            for entry in self.wallet.ctl_json("player", "ledger", casino_id,
                                              player.user_id)["entries"]:
                key = (casino_id, entry["request_transaction_id"])
                transfer = acknowledged.get(key)
                check(transfer is not None and transfer.status == 200,
                      f"a movement that no answer names: {entry}")
                doubled += [key] if key in seen else []
                seen.add(key)
                self.compare(transfer, entry)
        lost = [key for key, transfer in acknowledged.items()
                if transfer.status == 200 and key not in seen]
        check(not lost and not doubled, f"acknowledged {len(acknowledged)}, lost {len(lost)}, "
              f"doubled {len(doubled)}; the first: {lost[:3]} {doubled[:3]}")
        for player in self.players:
            answer = Caller(self.server, False).call("GET", BALANCE, player, {
                "user_id": player.user_id, "request_timestamp": cb.now_ms()})
            equal((answer.status, round(answer.json["balance"] * 100)),
                  (200, self.expected_cents(player)), f"balance of {player.user_id}")
        self.replay(replays)
        done = self.wallet.ctl_run("check")
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")

    def expected_cents(self, player):
        return sum(t.cents if t.path == TRANSFER_IN else -t.cents
                   for t in self.transfers() if t.player is player and t.status == 200)

    @staticmethod
    def compare(transfer, entry):
        told = transfer.answer
        sign = 1 if transfer.path == TRANSFER_IN else -1
        equal((entry["transaction_id"], entry["before_balance"], entry["current_balance"],
               entry["player_id"], entry["amount"]),
              (told["transaction_id"], told["before_balance"], told["current_balance"],
               told["player_id"], sign * told["amount"]), f"movement of {transfer.key}")
        equal(round(told["amount"] * 100), transfer.cents, f"amount of {transfer.key}")

    def replay(self, count):
        """Repeats every refused transfer and @count of the others: the answers must be the same."""
        refused = [t for t in self.transfers() if t.status == 402]
        moved = [t for t in self.transfers() if t.status == 200]
        chance = random.Random(f"{self.seed}/replay")
        work = chance.sample(refused, min(count, len(refused)))
        work += chance.sample(moved, min(count, len(moved)))

        def run(part):
            caller = Caller(self.server, True)
            try:
                for transfer in part:
                    self.replay_one(caller, transfer)
                    self.record(transfer.path, transfer.player, transfer.key, transfer.cents, caller.sent)
            finally:
                caller.close()
        cb.each_in_thread(run, [work[n::8] for n in range(8)])

    @staticmethod
    def replay_one(caller, transfer):
        answer = caller.transfer(transfer)
        equal(answer.status, transfer.status, f"the repeated {transfer.key}: {answer}")
        check(answer.replayed, f"the repeated {transfer.key} says it is none: {answer.headers}")
        again, told = answer.json, dict(transfer.answer)
        for body in (again, told):
            body.pop("request_id", None)
        equal(again, told, f"the repeated {transfer.key}")
