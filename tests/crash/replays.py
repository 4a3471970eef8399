#!/usr/bin/python3
"""Replays of parked callbacks from the web console, while the ledger and the console are killed.

    replays.py [--rounds N]

The results of a dealer that refuses them are parked. In each round the console starts a replay of
all of them, and sweepers send them. Meanwhile the ledger's engine, its supervisor and the console
are killed at random moments. A form that was not answered is sent again. Then the dealer must have
had each callback exactly once more, the ledger must count exactly one attempt more for each, and
the replay must say so. At the end `creditbridgectl check` finds nothing. $SEED repeats the schedule
of the kills. Prints TAP, and a comment with the figures.
"""
import argparse
import collections
import contextlib
import http.client
import json
import os
import random
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cb  # noqa: E402
import cb_rounds  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import Browser, Installed, front_setting  # noqa: E402
from cb_listener import Scripted  # noqa: E402
from cb_platform import LOOPBACK  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
from kill import ParentKiller  # noqa: E402
from killers import EngineKiller, Killer, Sweepers  # noqa: E402

SEED = os.environ.get("SEED") or str(random.getrandbits(32))
DEALER = "stubborn"
PARKED = 200
ENGINE_PERIOD_S, PARENT_PERIOD_S, CONSOLE_PERIOD_S = 0.7, 4.0, 1.1
ROUND_S = 90
# A replay of all takes about four seconds, so that several kills meet it.
SETTINGS = {**LOOPBACK, "result_second_attempt_ms": 30, "result_third_attempt_ms": 30, "replay_rate": 50,
            "log_level": "warning"}


class ConsoleKiller(Killer):
    what = "console"

    def __init__(self, wallet, seed, period_s, console):
        super().__init__(wallet, seed, period_s)
        self.console = console

    def run(self, now):
        if now >= self.next:
            self.kills.append(now)
            self.console.kill()
            self.next = time.monotonic() + self.pause()

    def victim(self):
        return self.console.program.pid


class Host:
    """The ledger, the console with its operator, the dealer, and the sweepers between."""

    def __init__(self, stack):
        self.dealer = stack.enter_context(Scripted(lambda _: (422, {"error_id": "closed", "error_detail": "closed"})))
        self.wallet = stack.enter_context(cb.Instance(
            "replays", settings=SETTINGS | front_setting(stack)))
        self.wallet.ctl("client", "add", cb_rounds.CLIENT)
        self.wallet.dealer_add(DEALER, "--url", self.dealer.url, "--allow-http", mode="seamless")
        self.wallet.player_add(DEALER, "bob")
        self.console = stack.enter_context(Installed(self.wallet, "desk"))
        self.browser = Browser(self.console, "nok")
        code = one_time_code(self.wallet.ctl_json("operator", "add", "nok", "--role", "support")["otpauth"])
        equal(self.browser.post("/sign-in", {"code": code}).status, 303, "signed in")
        self.sweepers = Sweepers(self.wallet)
        stack.callback(self.sweepers.stop)

    def park(self):
        games = [f"game-{number}" for number in range(PARKED)]
        with Rounds(self.wallet.sockets / "edge.sock") as link:
            link.bets(DEALER, "bob", games)
            link.settle(DEALER, "bob", games)

        def parked():
            self.sweepers.tend()
            return self.wallet.ctl_json("dealer", "show", DEALER)["total"]["parked"] == PARKED
        cb.wait_until(parked, 60, f"{PARKED} are parked")

    def attempts(self):
        return {row["event"]: row["attempts"] for row in self.wallet.ctl_json(
            "callback", "list", "--casino", DEALER, "--kind", "betting-result", "--limit", "0")["callbacks"]}

    def posts(self):
        """How often the dealer had each callback."""
        return collections.Counter(call.headers["webhook-id"] for call in self.dealer.seen)

    def replays(self):
        return {row["id"]: row for row in self.wallet.ctl_json("replay", "list")["replays"]}


def sent(browser, *words, **form):
    """The answer to a request that is sent again until the console and the ledger answer it."""
    def answered():
        with contextlib.suppress(OSError, http.client.HTTPException):
            page = browser.post(*words, **form) if len(words) > 1 else browser.get(*words, **form)
            return page if page.status < 500 else None
        return None
    return cb.wait_until(answered, 30, f"an answer to {words[0]}", 0.05)


class Round:
    """One replay under kills."""

    def __init__(self, host, killers):
        self.host, self.killers = host, killers

    def form(self):
        page = sent(self.host.browser, "/replays/preview", casino=DEALER, which="all", state="parked")
        if page.status == 303:
            # The session ended with the supervisor, in whose memory it was.
            code = one_time_code(self.host.wallet.ctl_json("operator", "new-code", "nok")["otpauth"])
            page = sent(self.host.browser, "/sign-in", {"code": code})
            equal(page.status, 303, f"signed in again: {page.text[-500:]}")
            page = sent(self.host.browser, "/replays/preview", casino=DEALER, which="all", state="parked")
        check(f"Send these {PARKED} again" in page.document().text(), page.text)
        return {node.attributes["name"]: node.attributes.get("value", "")
                for node in page.document().all("input")
                if node.attributes.get("name") in ("token", "selection", "operation", "step")}

    def run(self, number):
        host = self.host
        before, posts, known = host.attempts(), host.posts(), set(host.replays())
        equal(len(before), PARKED, "callbacks")
        form = self.form() | {"reason": f"round {number}"}
        # Kills that meet the start itself. The supervisor has the sessions, and lives until the replay began.
        for killer in self.killers[:2]:
            killer.next = time.monotonic()
            killer.run(time.monotonic())
        page = sent(host.browser, "/replays/start", form)
        equal(page.status, 303, f"started: {page.text[-800:]}")
        equal(sent(host.browser, "/replays/start", form).header("Location"), page.header("Location"),
              "the form that is sent again leads to the same replay")
        made = int(page.header("Location").rsplit("/", 1)[1])
        end_s = time.monotonic() + ROUND_S * cb.PATIENCE
        while not self.done(made):
            check(time.monotonic() < end_s, f"replay {made} did not end: {host.replays().get(made)}")
            host.sweepers.tend()
            for killer in self.killers:
                killer.run(time.monotonic())
            time.sleep(0.01)
        equal(set(host.replays()) - known, {made}, "replays of this round")
        equal(host.attempts(), {event: count + 1 for event, count in before.items()}, "attempts of each callback")
        equal({name: count - posts[name] for name, count in host.posts().items() if count != posts[name]},
              {name: 1 for name in host.posts() if "result" in name}, "what the dealer received of each callback")

    def done(self, number):
        answer = self.host.wallet.ctl_run("--json", "replay", "show", number)
        if answer.returncode:
            return False  # the ledger was killed just then
        row = json.loads(answer.stdout)
        return row["state"] == "done" and row["parked_again"] == PARKED


def replays(rounds):
    with contextlib.ExitStack() as stack:
        host = Host(stack)
        host.park()
        engine = EngineKiller(host.wallet, SEED, ENGINE_PERIOD_S)
        console = ConsoleKiller(host.wallet, SEED, CONSOLE_PERIOD_S, host.console)
        parent = ParentKiller(host.wallet, SEED, PARENT_PERIOD_S)
        killers = [engine, console, parent]
        for number in range(rounds):
            Round(host, killers).run(number + 1)
        host.sweepers.stop()
        host.wallet.ctl("check")
    print(f"# replays {rounds}, callbacks sent again {rounds * PARKED}, "
          + ", ".join(f"{killer.what} kills {len(killer.kills)}" for killer in killers)
          + ", missing 0, doubled 0", flush=True)
    check(min(len(engine.kills), len(console.kills)) >= rounds, "fewer kills than rounds are no test")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    print(f"# SEED={SEED}", flush=True)
    return cb.run_cases([("replays under kills", lambda: replays(options.rounds))],
                        seconds=60 + ROUND_S * options.rounds)


if __name__ == "__main__":
    sys.exit(main())
