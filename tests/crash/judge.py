"""What must hold when a storm is over. It compares the answers to the game servers, our ledger, the
calls that arrived at the dealer's server and the dealer's own book with each other.

A Case has all of this data, read once. judge() raises the first difference. lies() are changes to a
case, each of which must be noticed.
"""
import collections
import copy
import decimal

from cb import check, equal
from game import UNITS

# The states in which a bet may end, by the answer to its game server (contract, "Repeated bets").
ENDS = {
    "": {"accepted", "settled"},
    "bet_rejected": {"rejected"},
    "dealer_unreachable": {"rejected"},
    "dealer_timeout": {"refunded"},
}
# The states that the bet may have at the dealer then: a refund may arrive for a bet that it never
# saw.
DEALER_HAS = {
    "accepted": {"bet"},
    "settled": {"bet"},
    "rejected": {None, "refused"},
    "refunded": {"refunded", "tombstone", "refused"},
}
CALLBACK_ENDS = {"betting": {"delivered", "failed"}, "betting-result": {"delivered"},
                 "betting-refund": {"delivered"}}
RESULT_ATTEMPTS = 3


def units(amount):
    """An amount of a JSON text, in ten-thousandths of a credit."""
    value = decimal.Decimal(amount) * UNITS
    check(value == value.to_integral_value(), f"{amount} has more than four decimals")
    return int(value)


class Case:
    """@bets, @results: the answers to the game servers; @rows, @callbacks: the ledger's; @book: the
    dealer's state; @arrivals: the calls that arrived at its server; @retries: how often the
    operator retried each callback."""

    def __init__(self, bets, results, rows, callbacks, book, arrivals, opening, retries):
        self.bets = bets
        self.results = results
        self.rows = {row["request_transaction_id"]: row for row in rows}
        equal(len(self.rows), len(rows), "bets have keys of their own")
        self.callbacks = {callback["event"]: callback for callback in callbacks}
        self.users = {row["user_id"]: row["balance"] for row in book["users"]}
        self.transactions = {row["transaction_id"]: row for row in book["transactions"]}
        self.events = {row["webhook_id"]: row for row in book["events"]}
        self.conserved = book["totals"]["conserved"]
        self.arrivals = arrivals
        self.opening = opening
        self.retries = retries

    # -- bets

    def judge_bets(self):
        placed = {bet.key for bet in self.bets}
        equal(set(self.rows) ^ placed, set(), "bets that were not placed, or placed ones that are lost")
        settled = {(result.player.player_id, result.game_id) for result in self.results}
        for bet in self.bets:
            self.judge_bet(bet, (bet.player.player_id, bet.game_id) in settled)

    def judge_bet(self, bet, settled):
        row = self.rows[bet.key]
        state = row["state"]
        what = f"bet {bet.key} ({state}, answered {bet.error!r} {bet.state})"
        check(state in ENDS[bet.error], f"{what} did not end as promised")
        if bet.accepted():
            equal(state, "settled" if settled else "accepted", what)
            equal(bet.transaction_id, row["transaction_id"], f"{what}: transaction_id")
        equal((row["game_id"], row["player_id"], units(row["bet_amount"])),
              (bet.game_id, bet.player.player_id, bet.units), what)
        known = self.transactions.get(row["transaction_id"])
        check((known and known["state"]) in DEALER_HAS[state], f"{what}: the dealer has {known}")
        if known and known["state"] != "tombstone":
            equal((known["user_id"], units(known["amount"])), (bet.player.user_id, bet.units),
                  f"{what}: the dealer's row")
        if bet.error == "dealer_unreachable":
            equal(self.arrived("betting", row["event"]), 0, f"{what}: requests that left")
        equal(row["refund_event"] != 0, state == "refunded", f"{what}: its refund")

    # -- results

    def judge_results(self):
        for result in self.results:
            known = self.transactions.get(result.transaction_id)
            what = f"result {result.key} ({result.word}, {result.transaction_id})"
            if result.word == "loss":
                equal(known, None, f"{what}: the dealer's row")
                continue
            check(known, f"{what} never came to the dealer")
            equal((known["state"], known["user_id"], known["game_id"], known["result"],
                   units(known["amount"])),
                  ("paid", result.player.user_id, result.game_id, result.word, result.payout),
                  f"{what}: the dealer's row")
        known = {row["transaction_id"] for row in self.rows.values()}
        known |= {result.transaction_id for result in self.results}
        equal(set(self.transactions) - known, set(), "transactions that only the dealer knows")

    # -- money

    def judge_balances(self):
        balances = collections.defaultdict(lambda: self.opening * UNITS)
        for bet in self.bets:
            if self.rows[bet.key]["state"] in ("accepted", "settled"):
                balances[bet.player.user_id] -= bet.units
        for result in self.results:
            balances[result.player.user_id] += result.payout
        for user_id in balances.keys() | self.users.keys():
            equal(units(self.users.get(user_id, self.opening)), balances[user_id],
                  f"balance of {user_id} at the dealer, in 1/10000")
        check(self.conserved, "the dealer's own sums do not agree")

    # -- callbacks

    def judge_callbacks(self):
        for event, callback in self.callbacks.items():
            kind = callback["kind"]
            what = f"{kind}-{event}"
            check(callback["state"] in CALLBACK_ENDS[kind], f"{what} is {callback['state']}")
            arrived = self.arrived(kind, event)
            check(arrived <= callback["attempts"],
                  f"{what} was sent {arrived} times, counted {callback['attempts']}")
            check(len(self.arrivals.get(what, {"bodies": []})["bodies"]) <= 1,
                  f"{what} was sent with other bytes")
            if kind == "betting":
                equal(callback["attempts"], 1, f"attempts of {what}")
            if kind == "betting-result":
                check(callback["attempts"] <= RESULT_ATTEMPTS + self.retries[event],
                      f"{callback['attempts']} attempts of {what}, {self.retries[event]} retries")
            if callback["state"] == "delivered":
                check(arrived and what in self.events, f"{what} is delivered, and never came")
        results = [c for c in self.callbacks.values() if c["kind"] == "betting-result"]
        equal(len(results), len(self.results), "one callback for each result")
        refunds = [c for c in self.callbacks.values() if c["kind"] == "betting-refund"]
        equal(len(refunds), sum(row["state"] == "refunded" for row in self.rows.values()),
              "one callback for each refund")

    def arrived(self, kind, event):
        return self.arrivals.get(f"{kind}-{event}", {"count": 0})["count"]

    def after_refund(self):
        """How many bets the dealer refused because their refund had come before."""
        return sum(f"betting-{row['event']}" in self.events for row in self.rows.values()
                   if self.transactions.get(row["transaction_id"], {}).get("state") == "tombstone")

    def taken_over(self):
        """How many bettings were finished for a worker that was gone."""
        return sum("disconnected" in callback["last_note"] for callback in self.callbacks.values())

    def judge(self):
        self.judge_bets()
        self.judge_results()
        self.judge_callbacks()
        self.judge_balances()


def lies(case):
    """[(name, case)]: @case, each time changed in one place."""
    made = []

    def lie(name, change):
        false = copy.copy(case)
        for member in ("rows", "callbacks", "users", "transactions", "events", "arrivals"):
            setattr(false, member, copy.deepcopy(getattr(case, member)))
        change(false)
        made.append((name, false))

    accepted = next(bet for bet in case.bets if bet.accepted())
    timeout = next(bet for bet in case.bets if bet.error == "dealer_timeout")
    won = next(result for result in case.results if result.word == "win")
    lost = next(result for result in case.results if result.word == "loss")
    refund = case.rows[timeout.key]["refund_event"]

    def balance(false):
        user_id = accepted.player.user_id
        false.users[user_id] = decimal.Decimal(false.users[user_id]) + decimal.Decimal("0.0001")

    def payout(false):
        row = false.transactions[won.transaction_id]
        row["amount"] = decimal.Decimal(row["amount"]) + decimal.Decimal("0.0001")

    def no_payout(false):
        del false.transactions[won.transaction_id]

    def refunded_both(false):
        false.transactions[false.rows[accepted.key]["transaction_id"]]["state"] = "refunded"

    def kept(false):
        false.transactions[false.rows[timeout.key]["transaction_id"]]["state"] = "bet"

    def promise(false):
        false.rows[accepted.key]["state"] = "refunded"

    def lost_bet(false):
        del false.rows[accepted.key]

    def stuck(false):
        false.callbacks[refund]["state"] = "parked"

    def sent_more(false):
        false.arrivals[f"betting-refund-{refund}"]["count"] += 100

    def other_bytes(false):
        false.arrivals[f"betting-refund-{refund}"]["bodies"].append("0")

    def loss_unheard(false):
        for callback in false.callbacks.values():
            if (callback["game_id"], callback["kind"]) == (lost.game_id, "betting-result"):
                del false.events[f"betting-result-{callback['event']}"]

    for change in (balance, payout, no_payout, refunded_both, kept, promise, lost_bet, stuck,
                   sent_more, other_bytes, loss_unheard):
        lie(change.__name__, change)
    return made
