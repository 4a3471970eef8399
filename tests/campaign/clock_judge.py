"""What must hold of all that was played while the clock was set (clock.py)."""
import collections
import csv
import io

from cb import STAT, call, check, equal
from clock_play import (BACKOFF_S, CASINO, EARLY_S, LATE_S, LEASE_S, REFUND_DELAY_S,
                        RESULT_DELAYS_S, TIMEOUT_S, day_of)

DAY_S = 86400


class Judge:
    def __init__(self, bench):
        self.bench = bench
        self.arrivals = collections.defaultdict(list)  # (kind, game) -> arrivals in their order
        for arrival in bench.dealer.arrivals:
            self.arrivals[arrival.kind, arrival.game_id].append(arrival)
        self.rounds = [(server, row) for server in bench.games for row in server.rounds]
        self.latest_s = 0.0

    def gap(self, what, begin, end, least_s, most_s):
        """Times of the true clock: not sooner than promised, and not stuck."""
        check(end - begin >= least_s - EARLY_S,
              f"{what}: after {end - begin:.3f} s, and not {least_s} s")
        check(end - begin <= most_s + LATE_S, f"{what}: only after {end - begin:.1f} s")
        self.latest_s = max(self.latest_s, end - begin - most_s)

    def came(self, kind, game_id):
        return self.arrivals[kind, game_id]

    def bets(self):
        """Each was sent once, with a time that the clock had meanwhile."""
        for _, row in self.rounds:
            came = self.came("betting", row["game_id"])
            check(len(came) <= 1, f"{row['game_id']}: sent {len(came)} times")
            check(came or not row["accepted"], f"{row['game_id']}: accepted, and never sent")
            for arrival in came:
                check(self.bench.wall.told(arrival.body["timestamp"] / 1000, row["begin"],
                                           arrival.at),
                      f"{row['game_id']}: its time is {arrival.body['timestamp']}")
        for arrival in self.bench.dealer.arrivals:
            # In whole seconds, and the header is made before the call.
            check(any(self.bench.wall.told(arrival.stamp + part / 4, arrival.at - LATE_S,
                                           arrival.at) for part in range(5)),
                  f"{arrival.event_id}: webhook-timestamp {arrival.stamp}")

    def results(self):
        """As often as they have to be, and each attempt in its time."""
        attempts_max = len(RESULT_DELAYS_S) + 1
        for _, row in self.rounds:
            came = self.came("betting-result", row["game_id"])
            attempts = {"once": 2, "twice": 3}.get(row["way"], 1) if row["result"] else 0
            if row["game_id"] in self.bench.retried:
                came = came[:attempts_max]  # The operator's come when they come.
            if self.bench.kills:
                check(attempts <= len(came) <= attempts_max,
                      f"{row['game_id']}: {len(came)} attempts")
            else:
                equal(len(came), attempts, f"attempts of the result of {row['game_id']}")
            for number in range(len(came) - 1):
                self.gap(f"attempt {number + 2} of the result of {row['game_id']}",
                         came[number].at, came[number + 1].at, RESULT_DELAYS_S[number],
                         RESULT_DELAYS_S[number] + TIMEOUT_S)

    def refunds(self):
        """None before refund_delay, and then until it is delivered."""
        for _, row in self.rounds:
            if row["accepted"]:
                check(not self.came("betting-refund", row["game_id"]),
                      f"{row['game_id']}: accepted and refunded")
                continue
            sent = self.came("betting", row["game_id"])
            self.refund(row["game_id"], sent[0].at if sent else row["begin"], REFUND_DELAY_S,
                        REFUND_DELAY_S + (TIMEOUT_S if sent else 2 * LEASE_S))
        for held in self.bench.holds:
            least = self.takeover(held) - held.since + REFUND_DELAY_S
            self.refund(held.game_id, held.since, least, least)

    def takeover(self, held):
        """Returns the time from which a held bet may be taken over. When the ledger starts, the
        rest of its lease begins anew, and the ledger waits for no sender: their links ended with
        the engine."""
        at = held.since + LEASE_S + held.patience_s
        for kill in self.bench.kills:
            if held.since < kill < at:
                at = kill + LEASE_S
        return at

    def refund(self, game_id, begin, least_s, most_s):
        came = self.came("betting-refund", game_id)
        check(len(came) >= 3, f"{game_id}: {len(came)} attempts to refund it")
        self.gap(f"the refund of {game_id}", begin, came[0].at, least_s, most_s)
        for number, backoff in enumerate(BACKOFF_S):
            self.gap(f"attempt {number + 2} to refund {game_id}", came[number].at,
                     came[number + 1].at, backoff * 0.75, backoff + TIMEOUT_S)

    def books(self):
        for server in self.bench.games:
            equal(self.bench.dealer.book.balances[server.user_id], server.balance,
                  f"balance of {server.user_id} at the dealer's")
        for banker in self.bench.bankers:
            equal(self.bench.balance(banker), banker.balance, f"balance of {banker.user_id}")
        done = self.bench.wallet.ctl_run("check")
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")

    # -- days

    def days(self, server):
        """day -> [bets, turnover, profit]: of the day that the bet was accepted on."""
        days = collections.defaultdict(lambda: [0, 0, 0])
        for row in server.rounds:
            if not row["accepted"]:
                continue
            stamp = self.came("betting", row["game_id"])[0].body["timestamp"]
            day = days[day_of(stamp, self.bench.offset_min)]
            day[0] += row["result"] != "refund"
            if row["result"] in ("win", "loss"):
                day[1] += row["stake"]
                day[2] += row["payout"] - row["stake"]
        return days

    def statistics(self):
        """A4 at noon of each day that was played on, and where its window ends."""
        for server in self.bench.games:
            days = self.days(server)
            for day in sorted(days):
                self.window(server, days, day, 0)
            self.window(server, days, max(days), 29)
            self.window(server, days, max(days), 30)

    def window(self, server, days, day, later):
        noon = self.bench.noon(day) + later * DAY_S
        self.bench.wall.set(noon)
        answer = call(self.bench.server, "POST", STAT, {
            "user_id": server.user_id, "include_data": ["bet_summary"],
            "request_timestamp": self.bench.wall.now_ms()}, dealer=self.bench.casino)
        equal(answer.status, 200, f"A4: {answer}")
        rows = answer.json["bet_summary"]
        dates = [day_of((noon - back * DAY_S) * 1000, self.bench.offset_min)
                 for back in range(29, -1, -1)]
        equal([row["date"] for row in rows], dates, "the days of A4")
        for row in rows:
            told = [row["bet_count"], row["turnover"], row["profit_loss"]]
            equal(told, days[row["date"]] if row["date"] in days else [0, 0, 0],
                  f"{server.user_id} on {row['date']}")
        everything = [sum(day[part] for day in days.values()) for part in range(3)]
        equal([answer.json[name] for name in ("bet_count", "turnover", "profit_loss")],
              everything, f"all of {server.user_id}")

    def recon(self):
        """The file of each day has every bet and movement that the lists have of it."""
        for casino, what, name, word in ((CASINO, "bet", "bets", "accepted_ms"),
                                         ("bank", "transfer", "transfers", "time_ms")):
            rows = self.bench.wallet.ctl_json(what, "list", "--casino", casino,
                                              "--limit", 0)[name]
            offset = self.bench.offset_min if casino == CASINO else 0
            days = collections.Counter(day_of(row[word], offset) for row in rows)
            check(len(days) > 1, f"days of {casino}: {days}")
            for day, count in sorted(days.items()):
                self.bench.wall.set(self.bench.noon(day))
                text = self.bench.wallet.ctl("recon", casino, "--date", day)
                kind = "movement" if what == "transfer" else "bet"
                found = sum(row[0] == kind for row in csv.reader(io.StringIO(text)))
                equal(found, count, f"{kind}s of {casino} in the file of {day}")
                since = self.bench.wallet.ctl_json(what, "list", "--casino", casino, "--since",
                                                   day, "--limit", 0)[name]
                later = [row for row in rows if row[word] >= self.bench.midnight(day) * 1000]
                equal(len(since), len(later), f"{what} list --since {day}")

    def all(self):
        for part in (self.bets, self.results, self.refunds, self.books):
            part()

    def figures(self):
        refunds = sum(kind == "betting-refund" and bool(came)
                      for (kind, _), came in self.arrivals.items())
        return (f"{len(self.rounds)} rounds, {sum(b.moved for b in self.bench.bankers)} transfers, "
                f"{len(self.bench.dealer.arrivals)} callbacks, {refunds} refunds, "
                f"{len(self.bench.holds)} leases held, {len(self.bench.wall.jumps) - 1} jumps, "
                f"{len(self.bench.kills)} restarts, "
                f"{len(self.bench.retried)} retried, 0 early, the latest {self.latest_s:.1f} s late")
