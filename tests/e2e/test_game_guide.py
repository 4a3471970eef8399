#!/usr/bin/python3
"""doc/game-server-guide.md: its commands are run in their order, its requests are sent, and their answers are
those that it shows."""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_guide import Guide, Ids, operations, same_answer  # noqa: E402
from cb_listener import DisturbingProxy, Scripted  # noqa: E402
from cb_platform import LOOPBACK, client_add, platform_call  # noqa: E402
from cb_table import Table  # noqa: E402

PAGE = Guide("game-server-guide")
VECTORS = json.loads((cb.SRCDIR / "doc" / "signature-vectors.json").read_text())["vectors"]
WALLET = SERVER = None


def case_commands():
    """The requests need the dealer that a block adds."""
    printed = PAGE.outputs(WALLET, {"http://platform.example": SERVER.platform_url})
    last = answers = signatures = 0
    for number, (language, text) in enumerate(PAGE.blocks()):
        if language == "sh":
            last = number
        elif language == "json" and "balance" in text and PAGE.blocks()[number - 1][0] == "sh":
            same_answer(json.loads(text), json.loads(printed[last].strip().splitlines()[-1]), text)
            answers += 1
        elif language == "python":
            equal(printed[number].strip(), VECTORS[0]["signature"], text)
            signatures += 1
    equal((answers, signatures), (2, 1), "answers and signatures that the guide shows")
    check(f"{len(VECTORS)} of {len(VECTORS)} vectors" in "".join(printed.values()), "vectors")


class Dealer:
    """Refuses bets of round-poor, and loses the answers of round-slow."""

    def __init__(self):
        self.units = 10000000

    def reply(self, call):
        body = json.loads(call.body)
        moved = {"betting": -body.get("bet_amount", 0), "betting-result": body.get("payout_amount", 0)}
        if body.get("game_id") == "round-poor":
            return 402, {"id": "insufficient_balance", "detail": "not enough credit"}
        if body.get("game_id") == "round-slow":
            return 500, {}
        self.units += round(10000 * moved.get(call.path.strip("/"), 0))
        return 200, {"user_id": body["user_id"], "balance": self.units / 10000, "currency": "thb"}


def case_requests():
    """Every request of the guide is answered as it shows; every operation has one."""
    sent = PAGE.requests()
    equal({path for _, path, _, _ in sent}, set(operations("openapi.yaml", "/platform/")), "operations")
    ids = Ids()
    with Scripted(Dealer().reply) as dealer:
        WALLET.dealer_add("casino-b", "--url", dealer.url, "--allow-http", mode="seamless")
        WALLET.player_add("casino-b", "bob")
        client = client_add(WALLET, "roulette")
        Table(SERVER, client, "casino-b", "bob").known()
        for method, path, body, shown in sent:
            got = platform_call(SERVER, path, body, client=client, method=method)
            equal(got.status, shown.get("code", 200), f"{path} {body}: {got}")
            same_answer(shown, got.json, f"{path} {body}", ids)
            if "request_transaction_id" in body and got.status == 200:
                again = platform_call(SERVER, path, body, client=client)
                equal((again.json, again.replayed), (got.json, True), f"a repeat of {body}")


def case_errors():
    """The table of errors has those of the integrator's guide that game servers get, with their statuses."""
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| (\w+) \|", PAGE.text)
    others = re.findall(r"(?m)^\| `(\w+)` \| (\d+) \| ([^|]+) \| (A/C|C) \|", Guide("integrator-guide").text)
    equal([row[:2] for row in rows], [row[:2] for row in others], "errors")
    equal([row[2] == "yes" for row in rows], [row[2] == "yes" for row in others], "which may be repeated")


def case_client_repeats():
    """The example repeats the same bytes, and a bet that is refused only once."""
    client = client_add(WALLET, "cards")
    key = WALLET.dir / "cards.key"
    key.write_text(client.key + "\n")
    WALLET.player_add("demo", "carol")
    WALLET.ctl("player", "adjust", "demo", "carol", 10, "--reason", "stakes")
    Table(SERVER, client, "demo", "carol").known()
    target = type("Platform", (), {"port": SERVER.platform_port, "prefix": ""})
    program = cb.SRCDIR / "examples" / "game-server" / "creditbridge_game.py"

    def run(plan, *words, code=0):
        with DisturbingProxy(target, client.key, plan, ("x-client-id", "x-client-signature")) as front:
            done = subprocess.run(
                ["/usr/bin/python3", program, *words], capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                check=False,
                env=dict(os.environ, CREDITBRIDGE_PLATFORM_URL=front.url, CREDITBRIDGE_CLIENT="cards",
                         CREDITBRIDGE_CLIENT_KEY_FILE=str(key)))
        equal(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout, front.bodies

    out, bodies = run(["lost", 200, "pass"], "bet", "demo", "carol", "cards-1", "cards-bet-1", "4")
    equal((json.loads(out)["balance"], len(bodies), len(set(bodies))), (6, 3, 1), "a bet whose answer was lost")
    out, bodies = run(["pass"], "bet", "demo", "carol", "cards-2", "cards-bet-2", "6.01", code=1)
    equal((json.loads(out)["id"], len(bodies)), ("insufficient_balance", 1), "a refusal")
    run(["pass"], "refund", "demo", "carol", "cards-1", "cards-result-1")
    out, _ = run(["pass"], "balance", "demo", "carol")
    equal(json.loads(out)["balance"], 10, "the balance")
    run(["pass"], "bet", "demo", "carol", "cards-3", "cards-bet-3", "4")
    results = WALLET.dir / "results"
    results.write_text('''
        {"casino_id":"demo","user_id":"carol","game_id":"cards-3","result":"win","payout_amount":6.50}
        {"casino_id":"demo","user_id":"carol","game_id":"cards-1","result":"loss"}''')
    out, bodies = run(["lost", 200, "pass"], "batch", "cards-end", str(results))
    equal(([item.get("id", item.get("win_amount")) for item in json.loads(out)["results"]], len(set(bodies))),
          ([2.5, "already_settled"], 1), "a batch whose answer was lost")


CASES = [
    ("every command and program is run", case_commands),
    ("every request is answered as shown", cb.needs(case_requests, "every command and program is run")),
    ("the example client repeats by the rules", cb.needs(case_client_repeats, "every command and program is run")),
    ("the table of errors", case_errors),
    ("HTML", PAGE.page_check),
]

if __name__ == "__main__":
    with cb.Instance("creditbridge-game-guide", settings=LOOPBACK) as WALLET, cb.Lighttpd(WALLET) as SERVER:
        result = cb.run_cases(CASES, seconds=60)
    sys.exit(result)
