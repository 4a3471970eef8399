"""A cell, the service on its hosts, callers, and the judge of what the callers were answered."""
import contextlib
import random
import sys
import time

import cb
import load
from cb import check, equal
from cell import SCHEMA, Cell
from faults import elected
from order import History
from pulse import Pulse, stood_still
from rounds import Rounds
from service import Service

HEALTHY_S = 90.0
RATE = 300       # calls a second, of all callers together
REPLAYS = 200
# Then a caller asks another host.
load.TIMEOUT_S = 3.0
load.PATIENCE_S = 120.0
# A host with a wrong clock refuses a right request_timestamp.
load.REPEATED = ("stale_request",)
KEPT = ("transaction", "request", "player", "total", "round", "bet")


class Stalls:
    """The longest time without an answer in a part of a run."""

    def __init__(self, answered, pulse):
        self.answered = answered
        self.pulse = pulse

    def longest(self, begin, end):
        """In seconds, without the time in which this machine stood still."""
        times = [begin] + [when for when in self.answered if begin < when < end] + [end]
        return max(b - a - stood_still([self.pulse], a, b) for a, b in zip(times, times[1:]))


class World:
    """A context manager. Without @quorum, commits wait for no standby: then acknowledged calls can be lost. With @bets,
    game servers play rounds beside the callers (rounds.py)."""

    def __init__(self, seed, note=lambda text: print(f"# {text}", flush=True), rate=RATE, quorum=True, ledgers=3, bets=False):
        self.seed = seed
        self.chance = random.Random(f"{seed}/faults")
        self.note = note
        self.rate = rate
        self.ledgers = ledgers
        self.cell = Cell(quorum)
        self.services = []
        self.ring = []
        self.load = None
        self.bets = bets
        self.rounds = None
        self.history = History()
        self.ends = {}  # of the bets
        self.ordered = 0  # calls in the history
        self.pulse = Pulse()
        self.records = []

    def __enter__(self):
        try:
            self.cell.__enter__()
            for member in self.cell.members[:self.ledgers]:
                self.services.append(Service(self.cell, member, self.ring))
                self.services[-1].start()
            wallet = self.services[0].wallet
            dealers = [wallet.dealer_add(f"dealer-{n}") for n in range(load.DEALERS)]
            self.load = load.Load(wallet, self.ring[0], dealers, self.seed, rate=self.rate, record=self.history.add)
            for client in self.load.clients:
                client.caller.server = self.ring[client.number % len(self.ring)]
            if self.bets:
                self.rounds = Rounds(self)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.note(self.cell.logs())
        self.pulse.stopping.set()
        if self.load:
            self.load.stopping.set()
        with contextlib.ExitStack() as stack:  # Each of them is closed, also if another fails.
            stack.callback(self.cell.__exit__, kind, *_)
            for service in self.services:
                if kind:
                    self.note("\n".join(service.log()[-20:]))
                stack.callback(service.close)
            if self.rounds:
                stack.callback(self.rounds.close)

    # -- places

    def active(self):
        """The service whose ledger is active, or was the last."""
        done = cb.wait_until(lambda: self.answered_sql(f"SELECT holder FROM {SCHEMA}.cell"), HEALTHY_S, "the cell", 0.1)
        return next((service for service in self.services if service.member.name == done.stdout.strip()), self.services[0])

    def answered_sql(self, text):
        """What the leader answers; None: there is none now."""
        leader = self.cell.leader()
        done = leader and leader.sql(text, check=False)
        return done if done and done.returncode == 0 else None

    def leader(self):
        """The member whose server takes writes. Waits for an election."""
        return cb.wait_until(self.cell.leader, HEALTHY_S, "a leader", 0.1)

    def bystander(self):
        """A member that does not lead and, if possible, has no active ledger."""
        leader = self.leader()
        return self.cell.other(leader, self.active().member)

    def engine(self):
        """The engine of the active ledger. Waits for a start of it."""
        return cb.wait_until(lambda: self.active().engine(), HEALTHY_S, "an engine", 0.05)

    def lead_elsewhere(self):
        """Makes another host lead than that of the active ledger. Returns the leader."""
        leader = self.cell.leader()
        if leader is self.active().member:
            self.cell.switch_over(leader)
            elected(self.cell, leader)
            leader = self.healthy()
        return leader

    def return_hosts(self, *members):
        """Starts all servers of hosts again that lost their power."""
        self.cell.return_hosts(members)
        for service in self.services:
            if service.member in members:
                service.restart()

    def rebuild_host(self, member):
        """Sets up a host again that lost its power and its files."""
        self.cell.rebuild_host(member)
        for service in self.services:
            if service.member is member:
                service.rebuild()

    def check_preloads(self, member):
        """The programs of a host have the clock that is set, and PostgreSQL its disk."""
        service = next(service for service in self.services if service.member is member)
        for pid in (service.wallet.ledger.pid, member.patroni.pid, *service.wallet.engine_pids(), *service.wallet.worker_pids()):
            check(member.preloads.have(pid), f"process {pid} of {member.name} has the true clock")
        check(member.preloads.have(member.postmaster(), disk=True), f"PostgreSQL of {member.name} has the true disk")

    def sweep(self):
        for service in self.services:
            service.sweep()

    def healthy(self):
        """Waits until both standbys are synchronous again, and callers are answered. Returns the leader."""
        leader = self.cell.wait_streaming(seconds=HEALTHY_S)
        before = len(self.load.answered())
        cb.wait_until(lambda: len(self.load.answered()) > before or self.load.failures(), HEALTHY_S, "an answer", 0.05)
        failed = self.load.failures() + (self.rounds.failures() if self.rounds else [])
        check(not failed, f"a call failed: {failed[:1] and failed[0].failure!r}")
        return leader

    # -- faults

    def begin(self):
        self.pulse.start()
        self.load.start()
        if self.rounds:
            self.rounds.start()

    def inject(self, fault):
        leader = self.healthy()
        # Until Patroni has recorded the standbys, no operator could switch over to one.
        cb.wait_until(lambda: len(self.cell.may_lead(leader)) > 1, HEALTHY_S, "standbys in /sync", 0.1)
        self.note(f"{fault.name}: the leader is {leader.name}")
        self.sweep()
        begun = time.monotonic()
        steps = fault.function(self)
        for _ in steps:
            time.sleep(fault.holds)
        self.healthy()
        self.records.append((fault, begun, time.monotonic()))

    def end(self):
        self.load.stop()
        if self.rounds:
            self.rounds.stop()

    # -- the proof

    def figures(self):
        """What was seen."""
        stalls = Stalls(self.load.answered(), self.pulse)
        rows = [{"fault": fault.name, "stall_s": round(stalls.longest(begun, ended), 2), "bar_s": fault.bar,
                 "whole_s": round(ended - begun, 1)} for fault, begun, ended in self.records]
        return {"acknowledged": len(self.load.transfers()), "answers": len(self.load.answered()),
                "repeats": self.load.repeats(), "start_s": round(self.cell.started_s, 1), "faults": rows,
                "bets": self.ends, "ordered": self.ordered, "longest_s": max((row["stall_s"] for row in rows), default=0.0)}

    def prove(self):
        service = self.active()
        if self.rounds:
            self.ends = self.rounds.prove(service)
        self.load.wallet, self.load.server = service.wallet, service.server
        self.load.prove(REPLAYS)
        self.ordered = self.history.prove()
        self.prove_tables()

    def prove_tables(self):
        """Every acknowledged transfer is once in the tables of the leader, with its answer, and the standbys have the
        same rows."""
        leader = self.cell.wait_streaming(seconds=HEALTHY_S)
        found = self.movements(leader)
        for transfer in self.load.transfers():
            if transfer.status == 200:
                row = found.pop((transfer.player.dealer.casino_id, transfer.key), None)
                check(row, f"{transfer.key} was acknowledged and is lost")
                equal([int(row[0]), int(row[1])], [transfer.answer["transaction_id"],
                      round(transfer.answer["current_balance"] * 10000)], f"the row of {transfer.key}")
        equal(found, {}, "movements without an answer")
        self.prove_copies(leader)

    @staticmethod
    def movements(leader):
        """What the tables of @leader have, by the key of the request."""
        found = {}
        for line in leader.sql(f"SELECT casino_id, request_transaction_id, transaction_id, current_balance FROM "
                               f"{SCHEMA}.transaction WHERE entry_seq > 0").stdout.splitlines():
            casino_id, key, *answer = line.split("|")
            check((casino_id, key) not in found, f"{key} is there twice")
            found[casino_id, key] = answer
        return found

    def prove_copies(self, leader):
        """The ledger saves nothing by itself meanwhile, so that the copies can be compared."""
        sums = " UNION ALL ".join(f"SELECT '{name}', count(*), sum(hashtextextended(t::text, 0)::numeric) FROM "
                                  f"{SCHEMA}.\"{name}\" t" for name in KEPT)
        want = leader.sql(sums).stdout
        for member in self.cell.members:
            cb.wait_until(lambda member=member: member.sql(sums).stdout == want, 20,
                          f"the rows of {leader.name} on {member.name}", 0.1)
