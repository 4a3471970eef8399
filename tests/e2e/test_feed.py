#!/usr/bin/python3
"""The feed, the history of a player, `creditbridgectl follow`, and a dealer's own callbacks.

Transactions are made over HTTP in the transfer wallet, and over edge.sock (cb_worker.py) in the seamless
one, so that each case decides how the dealer answered.
"""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_ctl import bind, new  # noqa: E402
from cb_feed import CALLBACKS, FEED, HISTORY, RESEND, exported, read_all, shape  # noqa: E402
from cb_platform import LOOPBACK  # noqa: E402
from cb_worker import LOSS, NOT_SENT, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

SETTINGS = {**LOOPBACK, "callback_lease_ms": 20000, "callback_timeout_ms": 3000,
            "result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
WAIT_MS = 15000      # FEED_WAIT_MS of web/request/feed_waits.h
WAITING_MAX = 4      # FEED_WAITS_DEALER_MAX
SOON_S = 10.0        # a waiting call is answered by a transaction, not by the end of its wait
THREADS = 16
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
pool = {"transfer": [], "seamless": []}
DEALERS = {"transfer": 14, "seamless": 9}
wallet = server = ctl = ctl_json = refused = None


def ask(path, body, dealer, code=200, method="POST", timed=True, **words):
    body = {"request_timestamp": cb.now_ms(), **body} if timed else body
    answer = cb.call(server, method, path, body, dealer=dealer, timeout=40, **words)
    equal(answer.status, code, f"{path} {body}: {answer}")
    return answer.json


def transfer(dealer, amount, user="alice"):
    reference = new("ref")
    path = cb.TRANSFER_IN if amount > 0 else cb.TRANSFER_OUT
    answer = cb.call(server, "POST", path, {"user_id": user, "amount": abs(amount),
                                            "request_transaction_id": reference}, dealer=dealer)
    equal(answer.status, 200, f"{answer}")
    return answer.json["transaction_id"]


def dealer_make(mode):
    options = ("--url", "http://127.0.0.1:1/d", "--allow-http", "--refund-delay", "0",
               "--max-inflight", "100") if mode == "seamless" else ()
    dealer = wallet.dealer_add(new("dealer"), *options, mode=mode)
    for user in ("alice", "bob"):
        wallet.player_add(dealer.casino_id, user)
    return dealer


def dealer_new(mode="transfer"):
    """A dealer with the players alice and bob. They were made before the workers began, which need up to
    a second for a new key."""
    return pool[mode].pop()


def play(link, dealer, user, count, rounds):
    """Rounds of a seamless player: accepted, rejected or refunded bets, won or lost."""
    for number in range(count):
        game = new("game")
        bet = link.place("slots", dealer.casino_id, user, game, 10)
        link.end(bet.send, dealer.casino_id, (SUCCESS, SUCCESS, UNKNOWN, NOT_SENT)[number % 4])
        if number % 4 > 1:
            continue
        made = link.settle("slots", dealer.casino_id, user, game, (WIN, LOSS)[number % 2],
                           15 if number % 2 == 0 else 0)
        link.end(made.send, dealer.casino_id, SUCCESS, status=200)
        rounds.append(made.transaction_id)


def make_traffic(dealers, count):
    """Transactions of several dealers, one among another."""
    rng = random.Random(SEED)
    with Worker(wallet.sockets / "edge.sock") as link:
        for _ in range(count):
            dealer = rng.choice(dealers)
            user = rng.choice(("alice", "bob"))
            if dealer.mode == "seamless":
                play(link, dealer, user, rng.randrange(1, 5), [])
            else:
                transfer(dealer, rng.choice((5, 2.5)), user)
                if rng.random() < 0.3:
                    transfer(dealer, -1, user)


# -- the feed

def case_union():
    """Pages of random limits from random places have what the export has: each once, in order."""
    dealers = [dealer_new(), dealer_new("seamless"), dealer_new()]
    make_traffic(dealers, 60)
    ctl("player", "adjust", dealers[0].casino_id, "alice", "3", "--reason", "x")
    rows = exported(wallet)
    rng = random.Random(SEED)
    for dealer in dealers * 2:
        if dealer is dealers[0]:  # a new ledger has no transaction in memory
            wallet.stop()
            wallet.start()
            make_traffic(dealers, 3)
            rows = exported(wallet)
        own = [row for row in rows if row["casino_id"] == dealer.casino_id]
        check(len(own) > 10, f"{len(own)} transactions")
        for _ in range(4):
            limit = rng.randrange(1, len(own) + 5)
            after = rng.choice([0] + [row["transaction_id"] for row in rows])
            items = read_all(ask, dealer, limit, after)
            equal([shape(item) for item in items],
                  [shape(row) for row in own if row["transaction_id"] > after],
                  f"{dealer.casino_id} limit {limit} after {after} SEED={SEED}")
    equal(ask(FEED, {"after": 0, "limit": 1}, dealers[0], method="GET")["items"][0]["kind"],
          "transfer_in", "by GET")


def case_members():
    dealer = dealer_new()
    made = transfer(dealer, 12.5)
    page = ask(FEED, {"after": 0, "limit": 5}, dealer)
    equal(set(page), {"items", "next", "complete"}, "members of the answer")
    item, = page["items"]
    equal((page["next"] >= made, page["complete"]), (True, True), "the end")
    equal({key: item[key] for key in ("transaction_id", "kind", "state", "user_id", "amount",
                                      "before_balance", "current_balance")},
          {"transaction_id": made, "kind": "transfer_in", "state": "done", "user_id": "alice",
           "amount": 12.5, "before_balance": 0, "current_balance": 12.5}, "a transfer")
    check(item["request_transaction_id"].startswith("ref"), "the dealer's reference")
    ctl("player", "adjust", dealer.casino_id, "alice", "-2.5", "--reason", "x")
    item, = ask(FEED, {"after": made, "limit": 5}, dealer)["items"]
    equal((item["kind"], item["amount"], item["current_balance"], "request_transaction_id" in item),
          ("adjust", -2.5, 10, False), "an operator's reference is not shown")


def case_states():
    """An item has the state of now, whenever its transaction was made."""
    dealer = dealer_new("seamless")
    name, game = dealer.casino_id, new("game")
    with Worker(wallet.sockets / "edge.sock") as link:
        bet = link.place("slots", name, "alice", game, 10)

        def state(transaction_id=bet.transaction_id):
            item, = ask(FEED, {"after": transaction_id - 1, "limit": 1}, dealer)["items"]
            return item["state"]
        equal(state(), "pending", "not answered yet")
        link.end(bet.send, name, SUCCESS)
        equal(state(), "accepted", "accepted")
        made = link.settle("slots", name, "alice", game, WIN, 15)
        equal((state(), state(made.transaction_id)), ("settled", "sending"), "settled")
        link.end(made.send, name, SUCCESS, status=200)
        item, = ask(FEED, {"after": bet.transaction_id, "limit": 5}, dealer)["items"]
        equal({key: item[key] for key in ("kind", "state", "game_id", "result", "bet_amount",
                                          "win_amount", "payout_amount", "webhook_id", "attempts")},
              {"kind": "payout", "state": "delivered", "game_id": game, "result": "win",
               "bet_amount": 10, "win_amount": 5, "payout_amount": 15,
               "webhook_id": f"betting-result-{made.event}", "attempts": 1}, "a result")
        lost = link.place("slots", name, "alice", new("game"), 10)
        link.end(lost.send, name, UNKNOWN)
        equal(state(lost.transaction_id), "refunding", "refunding")
    equal(ask(FEED, {"after": 0, "limit": 100}, dealer_new())["items"], [], "another dealer's")


def case_refused():
    dealer = dealer_new()
    for body, field in (({"limit": 5}, "after"), ({"after": 0}, "limit"),
                        ({"after": 0, "limit": 0}, "limit"), ({"after": 0, "limit": 1001}, "limit"),
                        ({"after": -1, "limit": 5}, "after"),
                        ({"after": 0, "limit": 5, "wait_ms": 20001}, "wait_ms")):
        answer = ask(FEED, body, dealer, code=400)
        equal((answer["id"], field in answer["detail"]), ("bad_request", True), f"{body}: {answer}")
    equal(ask(FEED, {"after": 0, "limit": 5, "request_timestamp": 1}, dealer, code=401)["id"],
          "stale_request", "an old call")
    equal(ask(FEED, {"after": 0, "limit": 5}, dealer, code=401, signature="0" * 64)["id"],
          "invalid_signature", "not signed")


def case_few_among_many():
    """A dealer with few transactions among many of another goes on: next passes them."""
    few, many = dealer_new(), dealer_new()
    first = transfer(few, 1)
    with Worker(wallet.sockets / "edge.sock") as link:
        from cb_link import TRANSFER_IN_KIND, request, transfer_payload
        for begin in range(0, 5000, 100):
            link.send(b"".join(request("transfer", transfer_payload(
                many.casino_id, TRANSFER_IN_KIND, f"many-{begin + i}", "alice", 10000))
                for i in range(100)))
            for _ in range(100):
                link.frame()
    last = transfer(few, 2)
    # The history of the busy player below an id that is none of its own.
    page = ask(HISTORY, {"user_id": "alice", "limit": 10, "after": first}, many)
    equal(page["items"], [], "nothing above after")
    check(page["next"] < first or page["complete"], f"{page}")
    wallet.stop()
    wallet.start()  # a new ledger has no transaction in memory
    page = ask(FEED, {"after": first, "limit": 10}, few)
    equal((page["items"], page["complete"]), ([], False), "a bounded number was looked at")
    check(first < page["next"] < last, "next is on the way")
    equal([item["transaction_id"] for item in read_all(ask, few, 10, 0)], [first, last], "all")


# -- waiting

class Waiting(threading.Thread):
    """A waiting call."""

    def __init__(self, dealer, after, wait_ms=20000):
        super().__init__(daemon=True)
        self.dealer, self.after, self.wait_ms = dealer, after, wait_ms
        self.begun, self.ended, self.answer = time.monotonic(), None, None
        self.start()

    def run(self):
        self.answer = cb.call(server, "POST", FEED, {
            "after": self.after, "limit": 10, "wait_ms": self.wait_ms,
            "request_timestamp": cb.now_ms()}, dealer=self.dealer, timeout=40)
        self.ended = time.monotonic()

    def done(self):
        self.join(40)
        check(self.ended, "no answer")
        return self.answer


def case_wait():
    """A waiting call is answered by the next transaction; others are served meanwhile."""
    dealer, other = dealer_new(), dealer_new()
    after = ask(FEED, {"after": 0, "limit": 10}, dealer)["next"]
    calls = [Waiting(dealer, after) for _ in range(server.processes * WAITING_MAX + 1)]
    full = cb.wait_until(lambda: [call for call in calls if call.ended], 10, "one too many")
    for _ in range(20):
        transfer(other, 1)
    for call in full:
        equal((call.answer.status, call.answer.json["id"], call.answer.header("Retry-After")),
              (429, "rate_limited", "1"), "one too many")
    waiting = [call for call in calls if not call.ended]
    check(len(waiting) >= WAITING_MAX, f"{len(waiting)} wait on")
    made = transfer(dealer, 5)
    moment = time.monotonic()
    for call in waiting:
        items = call.done().json["items"]
        equal([item["transaction_id"] for item in items], [made], "the new one")
        check(call.ended - moment < SOON_S, f"{call.ended - moment:.1f} s later")
    call = Waiting(dealer, made, wait_ms=300)
    page = call.done().json
    equal((page["items"], page["complete"]), ([], True), "nothing came")
    check(call.ended - call.begun >= 0.3, "it waited")


def case_wait_ends():
    """A waiting call is answered when its worker stops; one whose caller is gone gives its place."""
    dealer = dealer_new()
    after = ask(FEED, {"after": 0, "limit": 10}, dealer)["next"]
    waiting = Waiting(dealer, after)
    time.sleep(0.3)
    pids = server.worker_pids("wallet")
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    equal(waiting.done().status, 200, "it was answered")
    check(waiting.ended - waiting.begun < SOON_S + 2, "early")
    server.wait_for_successors(pids, "wallet")
    equal(cb.call(server, "POST", cb.BALANCE, {
        "user_id": "alice", "request_timestamp": cb.now_ms()}, dealer=dealer).status, 200, "a new worker answers")


def case_wait_alone():
    """A worker that serves one request at a time never waits: other calls would."""
    dealer = dealer_new()
    with cb.Lighttpd(wallet, threads=1) as single:
        # The first call also starts the worker.
        for wait_ms in (0, 20000):
            begun = time.monotonic()
            answer = cb.call(single, "POST", FEED, {"after": 0, "limit": 10, "wait_ms": wait_ms,
                                                    "request_timestamp": cb.now_ms()},
                             dealer=dealer)
        equal((answer.status, answer.json["items"]), (200, []), "at once")
        check(time.monotonic() - begun < SOON_S, "at once")


def case_wait_servers():
    """The other web servers keep a waiting call as well."""
    dealer = dealer_new()
    for kind in (cb.ApacheFcgid, cb.Nginx):
        with kind(wallet) as other:
            after = ask(FEED, {"after": 0, "limit": 100}, dealer)["next"]
            begun = time.monotonic()
            answer = cb.call(other, "POST", FEED, {
                "after": after, "limit": 10, "wait_ms": 700, "request_timestamp": cb.now_ms()},
                dealer=dealer, timeout=30)
            equal((answer.status, answer.json["items"]), (200, []), f"{kind.name}: {answer}")
            check(time.monotonic() - begun >= 0.7, f"{kind.name}: it waited")


# -- the history

def history(dealer, user, limit, after=0):
    ids, pages = [], 0
    while True:
        body = {"user_id": user, "limit": limit, **({"after": after} if after else {})}
        page = ask(HISTORY, body, dealer)
        ids += [item["transaction_id"] for item in page["items"]]
        equal({item["user_id"] for item in page["items"]} - {user}, set(), "one player's")
        after, pages = page["next"], pages + 1
        check(pages < 500, "no end")
        if page["complete"]:
            return ids


def case_history():
    dealers = [dealer_new(), dealer_new("seamless")]
    make_traffic(dealers, 40)
    rows = exported(wallet)
    players = {row["player_id"]: row["user_id"] for row in exported(wallet, "player")}
    for dealer in dealers:
        for user in ("alice", "bob"):
            own = [row["transaction_id"] for row in rows if row["casino_id"] == dealer.casino_id
                   and players[row["player_id"]] == user]
            for limit in (1, 7, 1000):
                equal(history(dealer, user, limit), own[::-1], f"{dealer.mode} {user} by {limit}")
    equal(ask(HISTORY, {"user_id": "nobody", "limit": 5}, dealers[0], code=404)["id"],
          "user_not_found", "no such player")
    equal(ask(HISTORY, {"user_id": "alice", "limit": 5, "after": 5}, dealers[0])["items"], [],
          "before the first")


# -- follow

def case_follow():
    """Lines of all dealers without end, until a signal or the reader's end."""
    dealers = [dealer_new(), dealer_new("seamless")]
    make_traffic(dealers, 10)
    rows = exported(wallet)
    child = subprocess.Popen(wallet.ctl_argv("follow"), stdout=subprocess.PIPE)
    lines = [json.loads(child.stdout.readline()) for _ in rows]
    equal([(line["casino_id"], *shape(line)) for line in lines],
          [(row["casino_id"], *shape(row)) for row in rows], "all of the export")
    made = transfer(dealers[0], 1)
    line = json.loads(child.stdout.readline())
    equal((line["transaction_id"], line["casino_id"]), (made, dealers[0].casino_id), "a new one")
    wallet.stop()
    wallet.start()
    made = transfer(dealers[0], 1)
    equal(json.loads(child.stdout.readline())["transaction_id"], made, "after a restart")
    child.send_signal(signal.SIGTERM)
    equal(child.wait(20), 0, "by SIGTERM")
    for signal_or_pipe in (signal.SIGINT, None):
        child = subprocess.Popen(wallet.ctl_argv("follow", "--casino", dealers[1].casino_id, "--after",
                                                 rows[0]["transaction_id"]), stdout=subprocess.PIPE)
        equal(json.loads(child.stdout.readline())["casino_id"], dealers[1].casino_id, "one dealer's")
        if signal_or_pipe:
            child.send_signal(signal_or_pipe)
        child.stdout.close()
        equal(child.wait(20), 0, "it ends")
    refused("dealer_not_found", "follow", "--casino", "nobody")


# -- a dealer's own callbacks

def park(link, dealer, user="alice"):
    """A result that is parked after three attempts."""
    name, game = dealer.casino_id, new("game")
    bet = link.place("slots", name, user, game, 10)
    link.end(bet.send, name, SUCCESS)
    made = link.settle("slots", name, user, game, WIN, 15)
    link.end(made.send, name, NOT_SENT)
    for _ in range(2):
        grant = cb.wait_until(lambda: [grant for refusal, grant in [link.claim(made.event)]
                                       if not refusal], 20, "it is due")[0]
        link.end(grant, name, UNKNOWN, status=503)
    return made.event


def case_callbacks():
    dealer, other = dealer_new("seamless"), dealer_new("seamless")
    with Worker(wallet.sockets / "edge.sock") as link:
        events = [park(link, dealer) for _ in range(2)]
        foreign = park(link, other)
        bet = link.place("slots", dealer.casino_id, "bob", new("game"), 10)
        link.end(bet.send, dealer.casino_id, UNKNOWN)
        page = ask(CALLBACKS, {"state": "parked", "limit": 10}, dealer, timed=False)
        equal([item["webhook_id"] for item in page["items"]],
              [f"betting-result-{event}" for event in events[::-1]], "the newest first")
        equal(page["complete"], True, "all of them")
        item = page["items"][0]
        equal((item["state"], item["attempts"], item["last_http_status"], item["user_id"]),
              ("parked", 3, 503, "alice"), "its members")
        page = ask(CALLBACKS, {"state": "parked", "limit": 1}, dealer, timed=False)
        equal((len(page["items"]), page["next"]), (1, events[1]), "a page")
        page = ask(CALLBACKS, {"state": "parked", "limit": 1, "after": page["next"]}, dealer,
                   timed=False, method="GET")
        equal([item["webhook_id"] for item in page["items"]], [f"betting-result-{events[0]}"], "the rest")
        due, = ask(CALLBACKS, {"state": "due", "limit": 5}, dealer, timed=False)["items"]
        equal((due["kind"], due["user_id"]), ("betting-refund", "bob"), "the refund")
        for body in ({"state": "held", "limit": 5}, {"state": "due"}, {"state": "due", "limit": 0}):
            equal(ask(CALLBACKS, body, dealer, 400, timed=False)["id"], "bad_request", f"{body}")
        for webhook_id in (f"betting-result-{foreign}", "betting-result-5", f"betting-{events[0]}",
                           "betting-result-x", str(events[0])):
            equal(ask(RESEND, {"webhook_id": webhook_id}, dealer, 404, timed=False)["id"],
                  "callback_not_found", webhook_id)


def case_resend():
    """The same bytes, once more, and at most once in five minutes."""
    dealer = dealer_new("seamless")
    name = dealer.casino_id
    with Worker(wallet.sockets / "edge.sock") as link:
        event = park(link, dealer)
        body = {"webhook_id": f"betting-result-{event}"}
        before = ctl_json("callback", "show", event)
        answer = ask(RESEND, body, dealer, timed=False)
        equal(answer, {**body, "resent": True, "state": "due", "attempts": 3}, "asked for")
        answer = cb.call(server, "POST", RESEND, body, dealer=dealer)
        equal((answer.status, answer.json["id"]), (429, "rate_limited"), "too soon")
        check(290 <= int(answer.header("Retry-After")) <= 300, answer.header("Retry-After"))
        refusal, grant = link.claim(event)
        equal(refusal, "", "it is sent")
        link.end(grant, name, SUCCESS, status=200)
        after = ctl_json("callback", "show", event)
        equal((after["state"], after["attempts"], after["body"]), ("delivered", 4, before["body"]),
              "the same bytes")
        answer = ask(RESEND, body, dealer, timed=False)
        equal((answer["resent"], answer["state"]), (False, "delivered"), "delivered")
    row = ctl_json("audit", "--limit", 1)["audit"][0]
    equal((row["action"], row["object"], row["reason"], row["uid"]),
          ("callback resend", body["webhook_id"], f"asked by dealer {name}", 0xffffffff), "the audit")
    check(f"casino_id={name} was=parked is=due" in row["detail"], row["detail"])
    ctl("check")


def case_adjust_for():
    """An adjustment stands for a parked result, which is then never sent; and the other way round."""
    dealer = dealer_new("seamless")
    name = dealer.casino_id
    adjust = ("player", "adjust", name)
    with Worker(wallet.sockets / "edge.sock") as link:
        event, other = park(link, dealer), park(link, dealer)
        refused("wrong_wallet_mode", *adjust, "alice", "15", "--reason", "x")
        refused("callback_not_found", *adjust, "alice", "15", "--for", "5", "--reason", "x")
        done = refused("not_allowed_now", *adjust, "bob", "15", "--for", event, "--reason", "x")
        check("is of another player" in done.stderr, done.stderr)
        made = ctl_json(*adjust, "alice", "15", "--for", f"betting-result-{event}", "--reason", "paid",
                        "--operation-id", "op1")
        again = ctl_json(*adjust, "alice", "15", "--for", event, "--reason", "paid",
                         "--operation-id", "op1")
        equal((again["replay"], again["transaction_id"]), (True, made["transaction_id"]), "once")
        done = refused("not_allowed_now", *adjust, "alice", "15", "--for", event, "--reason", "x")
        check(f"transaction {made['transaction_id']} stands for" in done.stderr, done.stderr)
        equal(ctl_json("callback", "show", event)["adjusted_by"], made["transaction_id"], "tied")
        row = json.loads(ctl("callback", "retry", event, "--yes", "--reason", "x", "--json",
                             code=1).stdout)["callbacks"][0]
        equal((row["state"], row["error"]["id"]), ("parked", "not_allowed_now"), "no retry")
        check(str(made["transaction_id"]) in row["error"]["detail"], "it names the adjustment")
        answer = ask(RESEND, {"webhook_id": f"betting-result-{event}"}, dealer, timed=False)
        equal((answer["resent"], answer["adjusted_by"]), (False, made["transaction_id"]), "no resend")
        ctl("callback", "retry", other, "--yes", "--reason", "x")
        done = refused("not_allowed_now", *adjust, "alice", "15", "--for", other, "--reason", "x")
        check("is due" in done.stderr, done.stderr)
    row = ctl_json("audit", "--limit", 2)["audit"][1]
    equal((row["action"], row["detail"]),
          ("player adjust", f"amount=15.00 transaction_id={made['transaction_id']} "
                            f"for=betting-result-{event}"), "the audit")
    ctl("check")
    ctl("callback", "cancel", event, "--yes", "--reason", "x")
    ctl("check")
    # When the dealer has paid the player, the credit leaves the platform, and no more than that.
    refused("insufficient_balance", *adjust, "--reason", "x", "--", "alice", "-15.01")
    made = ctl_json(*adjust, "--reason", "the dealer paid", "--", "alice", "-15")
    equal((float(made["before_balance"]), float(made["current_balance"])), (15, 0), "taken back")
    refused("insufficient_balance", *adjust, "--reason", "x", "--", "alice", "-1")
    ctl("check")


def main():
    global wallet, server, ctl, ctl_json, refused
    with cb.Instance(settings=SETTINGS) as wallet:
        ctl, ctl_json, refused = bind(wallet)
        ctl("client", "add", "slots")
        for mode, count in DEALERS.items():
            pool[mode] += [dealer_make(mode) for _ in range(count)]
        with cb.Lighttpd(wallet, threads=THREADS) as server:
            return run_all()


def run_all():
    return cb.run_cases([
        ("the union of the pages is the export", case_union),
        ("members of an item", case_members),
        ("the state of now", case_states),
        ("refused calls", case_refused),
        ("few among many", case_few_among_many),
        ("a waiting call", case_wait),
        ("a waiting call whose worker stops", case_wait_ends),
        ("a worker of one request never waits", case_wait_alone),
        ("a waiting call under other web servers", case_wait_servers),
        ("the history of a player", case_history),
        ("follow", case_follow),
        ("a dealer's own callbacks", case_callbacks),
        ("a callback asked for again", case_resend),
        ("an adjustment for a parked result", case_adjust_for),
    ])


if __name__ == "__main__":
    sys.exit(main())
