#!/usr/bin/python3
"""The OpenAPI documents against the running service, with the tools that package-lock.json pins.

Group A and C: suites of tests/e2e through proxy.js, which judges requests and answers. Group B: our
callbacks to a mock of the dealer's server. Each kind of judge is shown documents that are wrong, and
must say so. Where the tools cannot be had, every case is skipped and says why.
"""
import collections
import concurrent.futures
import contextlib
import functools
import itertools
import json
import os
import pathlib
import re
import shlex
import socket
import sys
import tempfile
import time

import contract_tools as tools
import cb
from cb import Skip, check, equal, wait_until
from cb_http import TRANSFER_IN, TRANSFER_OUT
from cb_platform import (BETS, LOOPBACK, PLAYER_BALANCE, RESULTS, client_add,
                         platform_call)
from cb_process import SLOWER
from cb_refusals import answers

# The suites of tests/e2e that are about what callers of web servers get. Not metrics, daemon, doctor and
# fairness: they kill workers or servers, or compare times. Not logs, explain and examples: they make the same calls.
SUITES = ("wallet", "platform", "reports", "guide", "game_guide", "seal", "server_errors", "feed")
# A proxy reads the document when it starts, which takes a processor for seconds, and then judges each answer:
# more suites at once would only wait for each other, and their deadlines are for calls without a proxy.
AT_ONCE = min(3, len(os.sched_getaffinity(0)))
SLOWER_BY_PROXY = 2
SUITE_SECONDS = 900
EFFECT_S = 1.0  # until every worker knows of a change
OPENAPI = tools.OPENAPI.read_text()
CALLBACKS = tools.CALLBACKS.read_text()
SCRATCH = None
WHY_NOT = None  # why there are no tools


def needs_tools(case):
    @functools.wraps(case)
    def run():
        if WHY_NOT:
            raise Skip(WHY_NOT)
        case()
    return run


def case_tools():
    global WHY_NOT
    WHY_NOT = "the tools could not be installed"
    try:
        tools.install()
    except tools.Missing as missing:
        WHY_NOT = str(missing)
        raise Skip(WHY_NOT) from missing
    WHY_NOT = None


def altered(name, text, *changes):
    """@text with each (old, new) done, old being there once; the path of it as a file."""
    for old, new in changes:
        equal(text.count(old), 1, f"how often the document has {old!r}")
        text = text.replace(old, new)
    path = SCRATCH / f"{name}.yaml"
    path.write_text(text)
    return path


@needs_tools
def case_lint():
    done = tools.make("redocly", "lint", "--config", tools.SRCDIR / "doc" / "redocly.yaml",
                      "--format", "json", tools.OPENAPI, tools.CALLBACKS)
    found, _ = json.JSONDecoder().raw_decode(done.stdout[done.stdout.index("{"):])
    equal([problem["message"] for problem in found["problems"]], [], "problems")
    wrong = altered("wrong", OPENAPI, ("      operationId: transferOut\n", ""))
    done = tools.run(tools.tool("redocly", "lint", "--format", "json", wrong),
                     env=tools.environment())
    check("operationId" in done.stdout, f"a missing operationId is reported: {done.stdout[-500:]}")


# -- groups A and C


def proxied(document):
    """The environment of a suite whose servers have the proxy before them, with @document."""
    reports = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH))
    argv = tools.tool("proxy.js", "--document", document)
    return reports, dict(tools.environment(), CB_FRONT=shlex.join(map(str, argv)),
                         CB_FRONT_REPORTS=str(reports))


def reports_read(reports):
    """What all proxies have seen, as one."""
    total, seen = collections.Counter(), collections.Counter()
    violations, told = [], []
    for path in reports.iterdir():
        report = json.loads(path.read_text())
        violations += report["violations"]
        seen.update(report["seen"])
        told = report["told"]
        total.update({key: report[key] for key in ("judged", "requests_refused", "by_server")})
    check(total["judged"], "the proxy judged nothing")
    return total, seen, violations, told


def failure_of(done):
    """The first case that failed in a suite, and the last line of its traceback; "": the suite passed."""
    lines = iter(done.stdout.splitlines())
    case = next((line for line in lines if line.startswith("not ok")), "")
    comments = [line[2:] for line in itertools.takewhile(lambda line: line.startswith("#"), lines)]
    ends = [line for line in comments if line and line[0] != " " and not re.search(r" took [\d.]+ s$", line)]
    if case or done.returncode:
        return ": ".join([case or f"exit code {done.returncode}", *ends[-1:]])
    return ""


def suite_through_proxy(name):
    reports, env = proxied(tools.OPENAPI)
    env["CB_SLOWER"] = str(SLOWER_BY_PROXY * SLOWER)
    done = tools.run(["/usr/bin/python3", tools.SRCDIR / "tests" / "e2e" / f"test_{name}.py"],
                     SUITE_SECONDS, env=env)
    failure = failure_of(done)
    check(not failure, f"{name}: {failure}\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return name, *reports_read(reports)


@needs_tools
def case_suites():
    seen, told = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for name, total, some, violations, told in pool.map(suite_through_proxy, SUITES):
            print(f"# {name}: {total['judged']} answers judged, of {total['requests_refused']} "
                  f"requests that are not as they must be, {total['by_server']} of the web server, "
                  f"{len(violations)} violations")
            equal(sorted(set(violations))[:20], [], f"violations of {name}")
            seen.update(some)
    for word in ("transferIn 200", "transferOut 402 insufficient_balance", "getBalance 200",
                 "getBalanceByPost 200", "getUserStat 200",
                 "inquireTransfer 200", "inquireTransferByPost 200",
                 "transferIn 409 transaction_sealed", "inquireResult 200", "placeBet 200",
                 "transferIn 401 invalid_signature", "settleRound 200", "settleRounds 200", "registerPlayer 200",
                 "playerBalance 504 dealer_timeout", "placeBet 503 dealer_busy",
                 "not in the document 404 not_found"):
        check(seen[word], f"{word} was never seen")
    met = {" ".join(key.split()[:2]) for key in seen}
    print(f"# {len(met & set(told))} of {len(told)} statuses of operations were met")
    print("# errors that were not met:", *sorted(
        set(answers()) - {key.split()[-1] for key in seen if len(key.split()) > 2}))


@contextlib.contextmanager
def front(server, document):
    """A proxy before @server for a while: an object to be called like a server; its violations are
    in the list that it has when it is over."""
    reports, env = proxied(document)
    mounts = {"base_url": cb.free_port(), "platform_url": cb.free_port()}
    behind = {"base_url": server.port, "platform_url": server.platform_port}
    argv = [*shlex.split(env["CB_FRONT"]), "--report", reports / "report.json",
            *[f"--mount={port}:{behind[name]}:{name}" for name, port in mounts.items()]]
    child = cb.Child(argv, reports.with_suffix(".log"), env=env)
    place = type("Front", (), {"port": mounts["base_url"], "prefix": "", "violations": None,
                               "platform_port": mounts["platform_url"]})
    try:
        child.wait_ready(lambda: all(not free(port) for port in mounts.values()), 30, "the proxy")
        yield place
    finally:
        equal(child.stop(), 0, f"the proxy: {child.log_tail()}")
    _, _, place.violations, _ = reports_read(reports)


def free(port):
    return not cb.port_taken(port)


# What is made wrong in the document, and what the judge then has to say of the service.
TRANSFER_MEMBERS = "        - request_transaction_id\n        - transaction_id\n        - user_id\n"
IN, OUT = r"^POST \S+in \(transferIn\)", r"^POST \S+out \(transferOut\)"
PLANTS = (
    ("a member that is not there", IN + " 200: .*required property 'nowhere'",
     ((TRANSFER_MEMBERS, TRANSFER_MEMBERS + "        - nowhere\n"),)),
    ("a member that is not listed", r"\(getBalance\) 200: .*unevaluated",
     (("      required: [user_id, player_id, balance, currency, staked]\n",
       "      required: [user_id, player_id, balance, currency]\n"),
      ("        staked:\n          description: Credit in accepted",
       "        money:\n          description: Credit in accepted"))),
    ("an error of another id", OUT + " 402: .*must be equal to constant",
     (("id: { type: string, const: insufficient_balance }", "id: { type: string, const: poor }"),)),
    ("a header that is not there", IN + " 200: no header X-Idempotent-Replay",
     (("    X-Idempotent-Replay:\n      description:",
       "    X-Idempotent-Replay:\n      required: true\n      description:"),)),
    ("a request that should be refused", r"\(getBalance\) 200: done, although",
     (("    BalanceRequest:\n      type: object\n      required: [user_id, request_timestamp]\n",
       "    BalanceRequest:\n      type: object\n      required: [user_id, nowhere]\n"),)),
    ("a request that should be allowed", IN + " 400: the document allows what is refused: amount",
     (("      required: [amount, request_transaction_id, user_id]\n",
       "      required: [request_transaction_id, user_id]\n"),)),
    ("a path that is not known", r"^GET /user-service/user/stat \(not in the document\) 200",
     (("  /user-service/user/stat:\n", "  /user-service/user/statistics:\n"),)),
    ("a status that is not listed", r"\(readyz\) 503: a status that is not listed",
     (("        '503':\n          description: Not ready\n",
       "        '502':\n          description: Not ready\n"),)),
    ("a 5xx with another id", r"\(playerBalance\) 502: .*must be equal to constant",
     (("id: { type: string, const: dealer_unreachable }", "id: { type: string, const: away }"),)),
)


def calls(server, dealer, client):
    """A few calls, of which each planted fault meets one."""
    player = {"user_id": "alice"}
    number = next(calls.numbers)
    body = dict(player, amount=10, request_transaction_id=f"in-{number}")
    timed = dict(player, request_timestamp=cb.now_ms())
    got = [cb.call(server, method, path, sent, dealer=dealer) for method, path, sent in (
        ("POST", TRANSFER_IN, body),
        ("POST", TRANSFER_IN, dict(player, request_transaction_id="bad")),
        ("POST", TRANSFER_OUT, dict(body, amount=1000000, request_transaction_id=f"out-{number}")),
        ("GET", cb.BALANCE, timed), ("GET", cb.STAT, timed))]
    got.append(platform_call(server, "/readyz", method="GET"))
    got.append(platform_call(server, PLAYER_BALANCE, {"casino_id": "gone", "user_id": "bob"},
                             client=client))
    equal([answer.status for answer in got], [200, 400, 402, 200, 200, 503, 502], f"{got}")


calls.numbers = iter(range(1000))


@needs_tools
def case_plants():
    wrong = altered("planted", OPENAPI, *[change for plant in PLANTS for change in plant[2]])
    with cb.Instance("contract-test", settings=LOOPBACK) as wallet, cb.Lighttpd(wallet) as server:
        dealer = wallet.dealer_add("demo")
        client = client_add(wallet, "slots")
        wallet.dealer_add("gone", "--url", f"http://127.0.0.1:{cb.free_port()}", "--allow-http",
                          mode="seamless")
        wallet.player_add("demo", "alice")
        wallet.player_add("gone", "bob")
        time.sleep(EFFECT_S)
        with front(server, tools.OPENAPI) as place:
            calls(place, dealer, client)
        equal(place.violations, [], "the document as it is")
        with front(server, wrong) as place:
            calls(place, dealer, client)
    for what, wanted, _ in PLANTS:
        check(any(re.search(wanted, line) for line in place.violations),
              f"{what}: not found among {place.violations}")


# -- group B


class Mock:
    """`prism mock` of a document of callbacks."""

    def __init__(self, document):
        self.port = cb.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = SCRATCH / f"prism-{self.port}.log"
        self.child = cb.Child(tools.tool("prism", "mock", "--host", "127.0.0.1", "--port",
                                         self.port, document), self.log, env=tools.environment())
        self.child.wait_ready(lambda: "Prism is listening" in self.text(), 60, "prism")

    def text(self):
        return re.sub(r"\x1b\[[0-9;]*m", "", self.log.read_text(errors="replace"))

    def violations(self):
        return re.findall(r"Violation: (.*)", self.text())

    def received(self):
        """How often each path was called."""
        return collections.Counter(
            re.findall(r"post (/\S*) +\S+ +info +Request received", self.text()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stop()


class Game:
    """A game server, and a mock of a seamless dealer."""

    def __init__(self, wallet, server, mock):
        self.wallet = wallet
        self.server = server
        # The mock answers each call with the balance of this user.
        self.named = {"casino_id": "mocked", "user_id": "alice"}
        self.wallet.dealer_add("mocked", "--url", mock.url, "--allow-http", "--refund-delay", "0",
                               mode="seamless")
        self.client = client_add(wallet, "slots")
        self.wallet.player_add("mocked", "alice")
        self.keys = iter(range(1000))

    def call(self, path, **body):
        body.update(self.named)
        if path != PLAYER_BALANCE:
            body["request_transaction_id"] = f"key-{next(self.keys)}"
        return platform_call(self.server, path, body, client=self.client)

    def bet(self, game, amount=10.5, **more):
        return self.call(BETS, game_id=game, bet_amount=amount, **more)


@contextlib.contextmanager
def silence():
    """The port of a server that takes calls and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield listener.getsockname()[1]


def refund(game, mock):
    """A bet whose call has no answer; the sweeper brings its refund to the mock."""
    with silence() as port:
        game.wallet.ctl("dealer", "set", "mocked", "--url", f"http://127.0.0.1:{port}")
        answer = game.bet("game-lost", 7, remark="lost")
        equal((answer.status, answer.json["id"]), (504, "dealer_timeout"), f"{answer}")
        game.wallet.ctl("dealer", "set", "mocked", "--url", mock.url)

    def refunded():
        done = tools.run([cb.find_program("creditbridge-sweep"), "--config", game.wallet.config])
        equal(done.returncode, 0, f"the sweeper: {done.stderr}")
        bets = game.wallet.ctl_json("bet", "list", "--casino", "mocked", "--user", "alice")["bets"]
        return [bet["state"] for bet in bets if bet["remark"] == "lost"] == ["refunded"]
    wait_until(refunded, 30, "the refund", interval=0.5)


@needs_tools
def case_callbacks():
    with cb.Instance("contract-test", settings=LOOPBACK) as wallet, cb.Lighttpd(wallet) as server, \
            Mock(tools.CALLBACKS) as mock:
        game = Game(wallet, server, mock)
        answer = game.call(PLAYER_BALANCE)
        equal((answer.status, answer.json["balance"]), (200, 1000.0), f"{answer}")
        for number, more in enumerate((
                {"result": "win", "payout_amount": 30.25, "game_result": {"number": 7},
                 "user_bet": {"red": 10.5}, "user_bet_result": {"red": True}, "remark": "r\u00f6d"},
                {"result": "loss"}, {"result": "refund"})):
            name = f"game-{number}"
            equal(game.bet(name, remark="roulette", user_bet={"red": 10.5}).status, 200, "a bet")
            equal(game.bet(name, 0.3, addition=True).status, 200, "an addition")
            answer = game.call(RESULTS, game_id=name, **more)
            equal((answer.status, answer.json["callback"]),
                  (200, {"state": "delivered", "attempts": 1}), f"{answer}")
        refund(game, mock)
        equal(mock.received(), {"/balance-inquire": 1, "/betting": 6, "/betting-result": 3,
                                "/betting-refund": 1}, "what the mock received")
        equal(mock.violations(), [], "violations")


@needs_tools
def case_callbacks_plant():
    wrong = altered("callbacks", CALLBACKS, (
        "        - game_id\n        - user_bet\n", "        - game_id\n        - nowhere\n"))
    with cb.Instance("contract-test", settings=LOOPBACK) as wallet, cb.Lighttpd(wallet) as server, \
            Mock(wrong) as mock:
        game = Game(wallet, server, mock)
        equal(game.bet("game-1").json["id"], "bet_rejected", "the mock refuses")
        check(any("nowhere" in line for line in mock.violations()), f"{mock.violations()}")


# -- what is made of the documents


def settings_of(collection_variables, path):
    """A file of Postman's environment, for what may not stand on a command line."""
    path.touch(mode=0o600)
    path.write_text(json.dumps({"name": "contract", "values": [
        {"key": key, "value": value, "enabled": True} for key, value in
        collection_variables.items()]}))
    return path


@needs_tools
def case_postman():
    collection = tools.postman()
    with cb.Instance("contract-test") as wallet, cb.Lighttpd(wallet) as server:
        dealer = wallet.dealer_add("demo")
        client = client_add(wallet, "slots")
        wallet.player_add("demo", "alice")
        time.sleep(EFFECT_S)
        equal(cb.call(server, "POST", TRANSFER_IN, {"user_id": "alice", "amount": 50, "request_tra"
                      "nsaction_id": "first"}, dealer=dealer).status, 200, "transfer-in")
        named = {"casino_id": "demo", "user_id": "alice", "game_id": "game-1"}
        for path, body in ((BETS, {"bet_amount": 1}), (RESULTS, {"result": "loss"})):
            equal(platform_call(server, path, dict(named, request_transaction_id=path, **body),
                                client=client).status, 200, path)
        equal(tools.run([cb.find_program("creditbridge-sweep"), "--config",
                         wallet.config]).returncode, 0, "the sweeper")
        settings = settings_of({"base_url": server.base_url, "platform_url": server.platform_url,
                                "casino_id": "demo", "casino_key": dealer.key, "client_id": "slots",
                                "client_key": client.key}, SCRATCH / "postman-environment.json")
        report = SCRATCH / "newman.json"
        done = tools.run(tools.tool("newman", "run", collection, "--environment", settings,
                                    "--reporters", "cli,json", "--reporter-json-export", report,
                                    "--color", "off"), env=tools.environment())
    ran = json.loads(report.read_text())["run"]
    failures = [f"{one['source']['name']}: {one['error']['message']}" for one in ran["failures"]]
    equal((failures, done.returncode), ([], 0), f"newman: {done.stdout[-3000:]}")
    sent = [one["item"]["name"] for one in ran["executions"]]
    told = re.findall(r"^ {6}summary: (.*)$", OPENAPI, re.MULTILINE)
    equal(sorted(sent), sorted(told), "the requests that were sent are the operations")
    check(ran["stats"]["assertions"]["total"] >= 3 * len(told), "each was judged")


REMOTE = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


@needs_tools
def case_html():
    for page in tools.html():
        text = page.read_text()
        equal(REMOTE.findall(text), [], f"what {page.name} asks of others")
        check("cdn.redoc" not in text and "fonts.googleapis" not in text, f"{page.name}")
        check(len(text) > 1000000, f"{page.name} has its script")
    text = (tools.docs_folder() / "openapi.html").read_text()
    for path in re.findall(r"^  (/\S+):$", OPENAPI, re.MULTILINE):
        check(path in text, f"{path} is in the page")


CASES = (
    ("the tools are installed", case_tools),
    ("redocly lint", case_lint),
    ("suites through the proxy: every answer is as the document says", case_suites),
    ("the proxy finds what is wrong", case_plants),
    ("callbacks to a mock of the dealer", case_callbacks),
    ("the mock finds what is wrong", case_callbacks_plant),
    ("the Postman collection, by newman", case_postman),
    ("the HTML reference asks nothing of others", case_html),
)


def main():
    """With words on the command line, only the cases that have one of them in their name."""
    global SCRATCH
    words = sys.argv[1:] or [""]
    chosen = [CASES[0]] + [case for case in CASES[1:] if any(word in case[0] for word in words)]
    with tempfile.TemporaryDirectory(prefix="contract.") as scratch:
        SCRATCH = pathlib.Path(scratch)
        return cb.run_cases(chosen, seconds=500)


if __name__ == "__main__":
    sys.exit(main())
