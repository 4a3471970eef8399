#!/usr/bin/python3
"""The time of a report does not depend on the number of a player's bets (A4, A5).

One player gets --bets bets (1,000,000), another --few (100), by the ledger's own commands, many at
a time. Then both are asked for in turn: A4 through lighttpd and by its command, and A5 of a game
that is alike. The ratio of the medians, measured in one run, must stay below 1.5. Every sum in A4's
answer is compared with the bets that were placed, and `check` must find the books right.
"""
import argparse
import http.client
import json
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import pack, verdict  # noqa: E402
from cb_link import DONE, Link, request  # noqa: E402
from cb_worker import (LOSS, REFUND, UNITS, WIN, bet_payload, player_ref,  # noqa: E402
                       settle_payload)

RATIO_MAX = 1.5
LINKS = 8       # connections that load
WINDOW = 100    # frames under way on each
ROUND = 50      # bets a round
STAKE = 1 * UNITS
PAYOUT = {WIN: ROUND * STAKE + 7 * UNITS, LOSS: 0, REFUND: 0}
OUTCOMES = (WIN, LOSS, LOSS, REFUND)  # of one round after the other
CLIENT = "growth"
CALLS = 1000    # of each kind, for each player


def stat_payload(casino_id, user_id):
    return pack("user_stat", casino_id=casino_id, user_id=user_id, bet_summary=True)


class Loader:
    """Places bets, many at a time."""

    def __init__(self, wallet, casino_id):
        self.casino_id = casino_id
        self.links = [Link(wallet.sockets / "edge.sock", timeout=60) for _ in range(LINKS)]

    def close(self):
        for link in self.links:
            link.close()

    def run(self, command, payloads):
        """All of @payloads, which must be granted."""
        payloads = list(payloads)
        size = LINKS * WINDOW
        for at in range(0, len(payloads), size):
            parts = [payloads[at + i:at + size:LINKS] for i in range(LINKS)]
            for link, part in zip(self.links, parts):
                link.send(b"".join(request(command, payload) for payload in part))
            for link, part in zip(self.links, parts):
                for _ in part:
                    frame = link.frame()
                    if frame.outcome != DONE or verdict(frame.payload).refusal:
                        raise AssertionError(f"{command}: {frame}")

    def bets(self, user_id, count):
        """Places @count bets in rounds of ROUND, all settled but the last. Returns the sums that A4
        must answer for them, in ten-thousandths."""
        sums = {"bet_count": 0, "turnover": 0, "profit_loss": 0}
        games = [f"g{number}" for number in range((count + ROUND - 1) // ROUND)]
        player = player_ref(self.casino_id, user_id)
        batch = 4 * LINKS
        for at in range(0, len(games), batch):
            part = games[at:at + batch]
            first = at * ROUND
            self.run("bet_place", (
                bet_payload(CLIENT, player, games[number // ROUND], STAKE,
                            reference=f"b{number}-{user_id}", addition=number % 10 == 9)
                for number in range(first, min(count, first + len(part) * ROUND))))
            over = [(game, OUTCOMES[(at + i) % len(OUTCOMES)]) for i, game in enumerate(part)
                    if game != games[-1]]
            self.run("round_settle", (
                settle_payload(CLIENT, player, game, result, PAYOUT[result],
                               reference=f"r-{game}-{user_id}") for game, result in over))
            for _, result in over:
                if result == REFUND:
                    continue
                sums["bet_count"] += ROUND * 9 // 10
                sums["turnover"] += ROUND * STAKE
                sums["profit_loss"] += PAYOUT[result] - ROUND * STAKE
        last = range((len(games) - 1) * ROUND, count)
        sums["bet_count"] += sum(1 for number in last if number % 10 != 9)
        return sums


class Caller:
    """Calls of one dealer on a connection that is kept."""

    def __init__(self, server, dealer):
        self.server = server
        self.dealer = dealer
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def __call__(self, path, body):
        payload = json.dumps(body).encode()
        self.connection.request("GET", path, payload, {
            "x-casino-id": self.dealer.casino_id, "Content-Type": "application/json",
            "x-casino-signature": cb.sign(self.dealer.key, payload)})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status != 200:
            raise AssertionError(f"{path} {body}: {answer.status} {data}")
        return data


def measure(name, many, few):
    """The medians of @many() and @few(), called in turn; checks their ratio."""
    took = {many: [], few: []}
    for round_ in range(CALLS):
        for function in (many, few) if round_ % 2 else (few, many):
            start = time.perf_counter()
            function()
            took[function].append(time.perf_counter() - start)
    medians = [statistics.median(took[function]) * 1e6 for function in (many, few)]
    ratio = medians[0] / medians[1]
    print(f"# {name}: {medians[0]:.0f} us and {medians[1]:.0f} us, ratio {ratio:.3f}", flush=True)
    check(ratio < RATIO_MAX, f"{name}: ratio {ratio:.2f}")


class Growth:
    def __init__(self, wallet, options):
        self.wallet = wallet
        self.counts = {"many": options.bets, "few": options.few}
        self.sums = {}
        self.dealer = self.server = None

    def load(self):
        self.dealer = self.wallet.dealer_add("growth")
        self.wallet.ctl("client", "add", CLIENT)
        loader = Loader(self.wallet, "growth")
        for user, count in self.counts.items():
            self.wallet.player_add("growth", user)
            self.wallet.ctl("player", "adjust", "growth", user, count, "--reason", "stakes")
            start = time.monotonic()
            self.sums[user] = loader.bets(user, count)
            took = time.monotonic() - start
            print(f"# {user}: {count} bets in {took:.1f} s, {count / took:.0f}/s", flush=True)
        loader.close()
        self.server = cb.Lighttpd(self.wallet, threads=1, processes=1)

    def sums_right(self):
        call = Caller(self.server, self.dealer)
        for user, sums in self.sums.items():
            answer = json.loads(call(cb.STAT, {"user_id": user, "request_timestamp": cb.now_ms(),
                                               "include_data": ["bet_summary"]}))
            wanted = {key: value if key == "bet_count" else value / UNITS
                      for key, value in sums.items()}
            equal({key: answer[key] for key in wanted}, wanted, f"of {user}")
            for key, value in wanted.items():
                equal(round(sum(row[key] for row in answer["bet_summary"]), 4), value,
                      f"{key} of all days of {user}")

    def over_http(self):
        call = Caller(self.server, self.dealer)
        for name, path, more in (
                ("A4", cb.STAT, {"include_data": ["bet_summary"]}),
                ("A4 without bet_summary", cb.STAT, {}),
                # The first game of each was the same.
                ("A5", cb.RESULT_INQUIRE, {"game_id": "g0"})):
            measure(name, *(
                lambda user=user, path=path, more=more: call(path, {
                    "user_id": user, "request_timestamp": cb.now_ms(), **more})
                for user in ("many", "few")))

    def by_command(self):
        link = Link(self.wallet.sockets / "edge.sock", timeout=30)
        frames = [request("user_stat", stat_payload("growth", user)) for user in ("many", "few")]

        def ask(frame):
            link.send(frame)
            equal(link.frame().outcome, DONE, "outcome")
        measure("USER_STAT", *(lambda frame=frame: ask(frame) for frame in frames))
        link.close()

    def books(self):
        start = time.monotonic()
        done = self.wallet.ctl_run("check")
        print(f"# check took {time.monotonic() - start:.1f} s", flush=True)
        equal(done.returncode, 0, f"check: {done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bets", type=int, default=1000000)
    parser.add_argument("--few", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=1800, help="deadline of each case")
    options = parser.parse_args()
    # Logs of loading are of no use here.
    with cb.Instance("growth", settings={"log_keep_mib": 0, "ledger_cache_mib": 256}) as wallet:
        growth = Growth(wallet, options)
        return cb.run_cases([
            (f"a player gets {options.bets} bets, another {options.few}", growth.load),
            ("every sum is right", growth.sums_right),
            ("through a web server", growth.over_http),
            ("by the ledger's command", growth.by_command),
            ("the books are right", growth.books)], seconds=options.seconds)


if __name__ == "__main__":
    sys.exit(main())
