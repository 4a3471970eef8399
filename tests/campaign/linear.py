"""Checks that a recorded history of calls can have happened one after the other (linearizability).

A history is a list of Try: each time that a call was sent, and its answer. Transfers have the order
of their transaction_id, so the order of a player's writes is given. The checker proves this order:
each write begins with the balance that the one before it left, and none comes before a write that
had been answered when it was sent.

A read needs a place between two writes at which the player had the balance that it returned. So
does a refusal for want of credit, which has the balance, too. The place must come after all writes
that had been answered when the read was sent, before all writes that were sent after its answer,
and not before the place of a read that ended earlier. The checker takes the first such place for
each, in the order in which the reads were sent. This finds places for all if there are any.
"""
import bisect
import collections
import heapq

READ, IN, OUT = "read", "in", "out"

# One time that a call was sent. @key: the call's id; several tries may have the same. Times in ns
# of one clock; @end None: no answer, or a 5xx. @answer: the bytes. @value: the balance in the
# answer, in cents (of a transfer: afterwards); @tid: the transaction_id.
Try = collections.namedtuple("Try", "kind player key cents start end status replay tid value answer")


class Write:
    """A transfer that happened: all its tries as one."""

    def __init__(self, tries, answered):
        first = answered[0]
        self.key, self.kind, self.tid = first.key, first.kind, first.tid
        self.start = min(one.start for one in tries)
        self.end = min(one.end for one in answered)
        self.after = first.value
        self.before = first.value - (first.cents if first.kind == IN else -first.cents)


def calls_of(history):
    """The tries of each call."""
    calls = collections.defaultdict(list)
    for one in history:
        calls[one.key].append(one)
    return calls


def call_faults(key, tries, answered, resent):
    """What is wrong with the answers to one transfer, whatever the others did. @resent: as for faults()."""
    found = []
    if len({(one.status, one.answer) for one in answered}) > 1:
        found.append(f"{key}: different answers to the same call")
    fresh = sum(not one.replay for one in answered)
    if fresh > 1:
        found.append(f"{key}: {fresh} answers that are no replay")
    if not fresh and len(answered) == len(tries) and not resent:
        found.append(f"{key}: every answer is a replay")
    if answered[0].status == 402 and answered[0].value >= answered[0].cents:
        found.append(f"{key}: refused with {answered[0].value} for {answered[0].cents}")
    return found


def chain_faults(player, start_cents, writes):
    """What is wrong with the writes of a player, which are in the order of their transaction_id."""
    found, balance, latest = [], start_cents, None
    for write in writes:
        if write.before != balance:
            found.append(f"{player}: {write.key} began with {write.before}, not {balance}")
        if write.after < 0:
            found.append(f"{player}: {write.key} left {write.after}")
        if latest and write.end < latest.start:
            found.append(f"{player}: {latest.key} stands before {write.key}, which had been "
                         "answered when it was sent")
        balance = write.after
        if latest is None or write.start > latest.start:
            latest = write
    return found


class Places:
    """The places of a player's reads: place p is after the first p writes."""

    def __init__(self, start_cents, writes):
        self.last = len(writes)
        self.of_balance = collections.defaultdict(list)
        for place, balance in enumerate([start_cents] + [write.after for write in writes]):
            self.of_balance[balance].append(place)
        by_end = sorted((write.end, place) for place, write in enumerate(writes, 1))
        self.ends = [end for end, _ in by_end]
        self.behind = []  # the furthest of those that ended first
        for _, place in by_end:
            self.behind.append(max(place, self.behind[-1] if self.behind else 0))
        by_start = sorted(((write.start, place) for place, write in enumerate(writes)),
                          reverse=True)
        self.starts = [-start for start, _ in by_start]
        self.before = []  # the nearest of those that started last
        for _, place in by_start:
            self.before.append(min(place, self.before[-1] if self.before else self.last))

    def find(self, balance, start, end, least):
        """The first place of a read, None: there is none."""
        count = bisect.bisect_left(self.ends, start)
        low = max(least, self.behind[count - 1] if count else 0)
        count = bisect.bisect_left(self.starts, -end)
        high = self.before[count - 1] if count else self.last
        places = self.of_balance.get(balance, [])
        at = bisect.bisect_left(places, low)
        return places[at] if at < len(places) and places[at] <= high else None


def read_faults(player, start_cents, writes, reads):
    """What is wrong with the reads [(start, end, balance, key)] of a player."""
    found, places = [], Places(start_cents, writes)
    running, least = [], 0  # (end, place) of reads that may not have ended
    for start, end, balance, key in sorted(reads):
        while running and running[0][0] < start:
            least = max(least, heapq.heappop(running)[1])
        place = places.find(balance, start, end, least)
        if place is None:
            found.append(f"{player}: {key} returned {balance}, which was not the balance then")
        else:
            heapq.heappush(running, (end, place))
    return found


def faults(history, start_cents, closed=True, resent=False):
    """What is wrong with a history in which every call was answered in the end. @start_cents: the
    balance of each player before it. @closed: the players' balances have the same total afterwards.
    @resent: ledgers were killed, so a worker may have sent a call twice, and its only answer be a replay."""
    found = []
    writes, reads = collections.defaultdict(list), collections.defaultdict(list)
    tids = set()
    for key, tries in calls_of(history).items():
        answered = sorted((one for one in tries if one.end is not None), key=lambda one: one.end)
        if not answered:
            found.append(f"{key}: never answered")
            continue
        first = answered[0]
        if first.kind == READ:
            reads[first.player].append((first.start, first.end, first.value, key))
            continue
        found += call_faults(key, tries, answered, resent)
        if first.status == 402:
            start = min(one.start for one in tries)
            reads[first.player].append((start, first.end, first.value, key))
            continue
        write = Write(tries, answered)
        if write.tid in tids:
            found.append(f"{key}: its transaction_id {write.tid} is another's")
        tids.add(write.tid)
        writes[first.player].append(write)
    total = 0
    for player, cents in start_cents.items():
        chain = sorted(writes[player], key=lambda write: write.tid)
        found += chain_faults(player, cents, chain)
        found += read_faults(player, cents, chain, reads[player])
        total += chain[-1].after if chain else cents
    if closed and total != sum(start_cents.values()):
        found.append(f"all players have {total}, not {sum(start_cents.values())}")
    return found
