"""Plays with a seamless dealer of a wallet as a game server does, and examines it."""
import json
import subprocess

from cb_platform import BETS, PLAYER_BALANCE, RESULTS, platform_call
from cb_process import PATIENCE, find_program, wait_until
from cb_tap import equal


def known(ask):
    """Waits until every worker knows a new dealer or game server: @ask() is a call that it makes."""
    wait_until(lambda: {ask().status for _ in range(20)} == {200}, 20, "every worker knows it")


class Table:
    """A player's bets at the dealer @casino_id, as the game server @client makes them."""

    def __init__(self, server, client, casino_id, user_id):
        self.server = server
        self.client = client
        self.player = {"casino_id": casino_id, "user_id": user_id}
        self.count = 0

    def call(self, path, code=200, **members):
        self.count += 1
        body = {"request_transaction_id": f"{self.player['casino_id']}-{self.count}",
                **self.player, **members}
        got = platform_call(self.server, path, body, client=self.client)
        equal(got.status, code, f"{path} {members}: {got}")
        return got.json

    def bet(self, game, amount, code=200, **members):
        return self.call(BETS, code, game_id=game, bet_amount=amount, remark="roulette",
                         user_bet={"red": amount, "odds": 1.10}, **members)

    def result(self, game, result, **members):
        return self.call(RESULTS, game_id=game, result=result, **members)

    def balance(self):
        return self.call(PLAYER_BALANCE)["balance"]

    def known(self):
        """Waits until every worker knows the game server."""
        known(lambda: platform_call(self.server, PLAYER_BALANCE, self.player, client=self.client))


def exam(wallet, casino_id, user_id):
    """Runs `dealer test`, which must pass. Returns its report. The dealer is not restarted, and may have no path for
    corrections."""
    got = wallet.ctl_run("--json", "dealer", "test", casino_id, "--user", user_id, "--yes")
    rows = json.loads(got.stdout)
    wrong = [(row["name"], row["why"]) for row in rows["cases"] if row["result"] != "passed" and not (
        row["result"] == "skipped" and row["name"].startswith(("restart", "lower")))]
    equal((wrong, got.returncode, rows["difference"]), ([], 0, 0), "the exam")
    return rows


def sweep(wallet):
    """Runs one sweep of @wallet."""
    subprocess.run([find_program("creditbridge-sweep"), "--config", wallet.config], timeout=60 * PATIENCE,
                   capture_output=True, check=True)
