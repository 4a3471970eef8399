#!/usr/bin/python3
"""doc/integrator-guide.md: its commands and programs are run in their order, its figures are the
code's, its pictures and links are whole."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_dealer import BETTING_RESULT, ReferenceDealer  # noqa: E402
from cb_feed import CALLBACKS, RESEND  # noqa: E402
from cb_guide import RUN, Guide, Ids, operations, same_answer  # noqa: E402
from cb_listener import Listening, Quiet, Scripted  # noqa: E402
from cb_platform import BETS, CORRECTIONS, LOOPBACK, client_add  # noqa: E402
from cb_table import Table, known, sweep  # noqa: E402

PAGE = Guide("integrator-guide")
GUIDE = PAGE.text
VECTORS = json.loads((cb.SRCDIR / "doc" / "signature-vectors.json").read_text())["vectors"]
BOB = {"user_id": "bob", "balance": 1000.0, "currency": "thb"}
WALLET = SERVER = None


def refusal():
    """The body of a refused call."""
    done = WALLET.ctl_run("--json", "request", "demo", "balance", "--user", "nobody", "--url",
                          SERVER.base_url)
    return json.loads(done.stdout)["body"]


def case_commands():
    missing = [name for name in ("node", "php", "perl", "curl", "openssl") if not shutil.which(name)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}")
    names = {"https://wallet.example": SERVER.base_url, ":9000": f":{cb.free_port()}"}
    printed = PAGE.outputs(WALLET, names)
    page = PAGE.blocks()
    check(len(page) > 25, f"{len(page)} blocks")
    last = answers = signatures = 0
    for number, (language, text) in enumerate(page):
        if language == "json" and page[number - 1][0] not in ("http", "rule"):
            shown = json.loads(text)
            came = refusal() if "id" in shown else printed[last].strip().splitlines()[-1]
            same_answer(shown, json.loads(came), text)
            answers += 1
        elif language in RUN:
            last = number
        if VECTORS[0]["key"] in text and language in RUN:
            equal(printed[number].strip(), VECTORS[0]["signature"], f"{language}: {text}")
            signatures += 1
        elif language in ("php", "js") and "transfer-inquire" not in text:
            equal(json.loads(printed[number])["balance"], 100, text)
    equal((answers, signatures), (4, 5), "answers and signatures that the guide shows")
    everything = "".join(printed.values())
    equal(everything.count(f"{len(VECTORS)} of {len(VECTORS)} vectors"), 5, "vectors")
    equal(everything.count("exit status 1"), 4, "refusals")
    check("a signature of key k1 of the dealer 'demo-php'" in printed[last], printed[last])
    check(re.search(r"(?m)^passed +[1-9]\d*\nfailed +0\nskipped +5$", everything), everything[-600:])


def case_vectors():
    rows = re.findall(r"(?m)^\| ([^|]+) \| ([12]) \| ([^|]+) \| `([0-9a-f]{64})` \|$", GUIDE)
    equal([(name, about, signature) for name, _, about, signature in rows],
          [(row["name"], row["about"], row["signature"]) for row in VECTORS], "the table")
    keys = {"1": "0123456789abcdef" * 4, "2": "fedcba9876543210" * 4}
    equal([keys[row[1]] for row in rows], [row["key"] for row in VECTORS], "the keys")


def game_server(casino_id, *words):
    """A table with a player bob at a new dealer, which every worker knows, and its game server."""
    dealer = WALLET.dealer_add(casino_id, *words, mode="seamless" if words else "transfer")
    WALLET.player_add(casino_id, "bob")
    table = Table(SERVER, client_add(WALLET, casino_id), casino_id, "bob")
    table.known()
    known(lambda: cb.call(SERVER, "POST", cb.BALANCE, {"user_id": "bob", "request_timestamp": cb.now_ms()},
                          dealer=dealer))
    return dealer, table


def examples():
    """The guide's calls to the wallet, and its callbacks. Each operation has one, and nothing else has."""
    callbacks = operations("dealer-callbacks.yaml")
    # The guide for game servers has those of the platform's mount (test_game_guide.py).
    wallet = {path: methods for path, methods in operations("openapi.yaml").items() if not path.startswith("/platform/")}
    sent = PAGE.requests()
    equal({path for _, path, _, _ in sent}, {*wallet, *callbacks}, "operations with an example")
    return [row for row in sent if row[1] in wallet], [row for row in sent if row[1] in callbacks], wallet


def case_requests():
    """Every call to the wallet is answered as the guide shows, by each method that it has."""
    sent, _, methods = examples()
    dealer, table = game_server("guide-calls")
    ids = Ids()
    before = {cb.BALANCE: lambda: table.call(BETS, game_id="round-7", bet_amount=10, remark="roulette",
                                             user_bet={"red": 10}),
              cb.STAT: lambda: table.result("round-7", "win", payout_amount=25, game_result={"number": 7})}
    with Scripted(lambda call: (503 if call.path.strip("/") == BETTING_RESULT else 200, BOB)) as server:
        owed = parked_result("guide-owed", server.url)
        for _, path, body, shown in sent:
            before.pop(path, lambda: None)()
            if "webhook_id" in body:
                body["webhook_id"] = ids.real["webhook_id", body["webhook_id"]]
            for method in sorted(methods[path]):
                if "request_timestamp" in body:
                    body["request_timestamp"] = cb.now_ms()
                got = cb.call(SERVER, method, path, body, dealer=owed if path in (CALLBACKS, RESEND) else dealer)
                equal(got.status, 200, f"{method} {path}: {got}")
                came = got.json
                if path == cb.STAT:
                    equal(len(came["bet_summary"]), 30, "days")
                    came["bet_summary"] = came["bet_summary"][-1:]
                same_answer(shown, came, f"{method} {path}", ids)
        check(not before, "calls that nothing was made for")
        server.reply = lambda _: (200, BOB)
        seen = len(server.seen)
        sweep(WALLET)
        first, again = [call for call in server.seen if call.path.strip("/") == BETTING_RESULT][-2:]
        equal((len(server.seen), again.body, again.headers["webhook-id"]),
              (seen + 1, first.body, ids.real["webhook_id", "betting-result-18"]), "what is sent again")


def parked_result(casino_id, url):
    """A dealer at @url, which takes bets but no results, with a parked result of bob."""
    dealer, table = game_server(casino_id, "--url", url, "--allow-http")
    table.bet("round-17", 10)
    table.result("round-17", "win", payout_amount=25)

    def parked():
        sweep(WALLET)
        return cb.call(SERVER, "POST", CALLBACKS, {"state": "parked", "limit": 1}, dealer=dealer).json["items"]
    cb.wait_until(parked, 20, "the result is parked", interval=0.1)
    return dealer


def case_callbacks():
    """Every callback has the body that the guide shows, and its answers mean what they say."""
    _, shown, _ = examples()
    lost = []

    def reply(call):
        if call.path == "/betting" and b"round-10" in call.body:
            lost.append(call)
            return 500, ""
        name = json.loads(call.body).get("game_id", "")
        [answer] = [row[3] for row in shown if row[1] == call.path and row[2].get("game_id", "") == name] or [{}]
        return 404 if "id" in answer else 200, answer

    with Scripted(reply) as dealer:
        _, table = game_server("guide-callbacks", "--url", dealer.url, "--allow-http", "--refund-delay", "0",
                               "--path-betting-correction", "/betting-correction")
        for game in ("round-8", "round-9"):
            table.call(BETS, game_id=game, bet_amount=10, remark="roulette", user_bet={"red": 10})
        table.result("round-8", "win", payout_amount=25, game_result={"number": 7}, remark="roulette")
        table.result("round-9", "loss")
        table.call(BETS, 504, game_id="round-10", bet_amount=10, remark="roulette", user_bet={"red": 10})
        number = json.loads(lost[0].body)["transaction_id"]

        def refunded():
            sweep(WALLET)
            return WALLET.ctl_json("bet", "show", number)["bet"]["state"] == "refunded"
        cb.wait_until(refunded, 20, "the refund, which the dealer answers with bet_not_found", interval=0.2)
        [(body, answer)] = [row[2:] for row in shown if row[1] == "/betting-correction"]
        made = table.call(CORRECTIONS, game_id="round-8", revision=1, result="win", payout_amount=4,
                          reason="the card was misread")
        equal((made["delta"], made["shortfall"]), (body["correction_amount"], answer["shortfall"]), "the correction")
    came = {(call.path, json.loads(call.body).get("game_id")): json.loads(call.body) for call in dealer.seen}
    ids = Ids()
    for _, path, body, _ in shown:
        same_answer(body, came[path, body.get("game_id")], path, ids)
    equal({path for path, _ in came}, {path for _, path, _, _ in shown}, "callbacks")
    equal(json.loads(next(call.body for call in dealer.seen if b"loss" in call.body))["transaction_id"], 0, "a loss")


def case_shortfall():
    """The reference dealer answers the correction as the guide shows, and the same again."""
    [(body, answer)] = [row[2:] for row in PAGE.requests() if row[1] == "/betting-correction"]
    with ReferenceDealer("--opening-balance", "4") as dealer:
        for _ in range(2):
            equal(dealer.call("betting-correction", json.dumps(body).encode()).json, answer, "a shortfall")


def case_rules():
    """The reference dealer answers the bodies of the rules as the guide shows, in their order."""
    shown = PAGE.rules()
    check(len(shown) > 20, f"{len(shown)} examples")
    with ReferenceDealer("--opening-balance", "1000") as dealer:
        for heading, path, body, answer in shown:
            kind = path.strip("/")
            done = dealer.call(kind, body.encode())
            wrong = "id" in answer
            equal((done.status >= 400, done.json), (wrong, answer), f"{heading}: {body}")
        check(dealer.state()["totals"]["conserved"], "money")


def defines(path):
    text = (cb.SRCDIR / path).read_text()
    return dict(re.findall(r"(?m)^#define (\w+) +([^/\n]*[^/\n ])", text))


def case_figures():
    """What the guide says in numbers is what the code does."""
    options = dict(re.findall(r'(?m)^\tOPTION\(OPTION_NUMBER, (\w+), "(\d+)"',
                              (cb.SRCDIR / "src/base/settings_options.c").read_text()))
    settings = (cb.SRCDIR / "src/cmd/ctl/common/dealer_settings.def").read_text()
    delay = re.search(r'"refund-delay".*"(\d+)"\)', settings).group(1)
    inflight = re.search(r'"max-inflight".*"(\d+)"\)', settings).group(1)
    decimals = re.search(r'"decimals".*?, (\d+), (\d+), "(\d+)"\)', settings).groups()
    body = int(defines("src/wire/body.h")["BODY_MAX"])
    bets = defines("src/domain/sizes.h")["ROUND_BETS_MAX"]
    answer = int(defines("src/callback/http.h")["HTTP_ANSWER_MAX"])
    idle = [defines("src/callback/http_exchange.c")[name].rstrip("L") for name in ("IDLE_AGE_S", "LIFETIME_S")]

    def s(name):
        return int(options[name]) // 1000

    told = {
        f"within {options['request_window_s']} s of the wallet's clock": 1,
        f"more than {options['request_window_s']} s off": 1,
        f"keeps a call for up to {s('ledger_deadline_ms')} s": 2,
        f"{options['request_window_s']} s before or after": 1,
        f"{s('callback_timeout_ms')} s for the whole call, of which "
        f"{s('callback_connect_timeout_ms')} s for connecting": 1,
        f"At once, {s('result_second_attempt_ms')} s later, {s('result_third_attempt_ms')} s after "
        "that": 1,
        f"For {int(options['refund_give_up_s']) // 3600} h, then it is parked": 1,
        f"Your answer has at most {answer // 1024} KiB": 1,
        f"for up to {idle[0]} s without use, and for {int(idle[1]) // 60} minutes at most": 1,
        f"at most {body:,} bytes": 1,
        f"More than {body:,} bytes": 1,
        f"A body has up to {body // 1024} KiB": 1,
        f"{bets} bets in one round": 1,
        f"at once, {s('result_second_attempt_ms')} s later, {s('result_third_attempt_ms')} s after "
        "that": 1,
        f"1, 2, 4 … {s('refund_backoff_max_ms')} s apart for "
        f"{int(options['refund_give_up_s']) // 3600} h": 1,
        f"at most {inflight} calls at a time": 1,
        f"stops for {s('breaker_open_ms')} s": 1,
        f"Be faster than {s('callback_timeout_ms')} s": 1,
        f"`refund_delay` seconds ({delay},": 1,
        f"the refund delay, by default {delay} s": 2,
        f"({decimals[2]}, unless the operator set\n  another number from {decimals[0]} to "
        f"{decimals[1]})": 1,
    }
    equal({words: GUIDE.count(words) for words in told}, told, "how often the guide says so")


class Echo(Quiet):
    """Answers with the method and the body of the request, as far as it is framed."""

    def do_GET(self):
        body = self.body()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{self.command} {body.decode()}".encode())

    do_POST = do_GET


def case_clients_of_get():
    """What the guide says of clients that send, drop or refuse the body of a GET."""
    php = "$c = curl_init($argv[1]); curl_setopt_array($c, [%s]); curl_exec($c);"
    node = "require('http').request(process.argv[1], {method: 'GET'%s}, " \
        "(a) => a.pipe(process.stdout)).end('{}')"
    tries = [
        (("curl", "-s", "-X", "GET", "--data-binary", "{}"), "GET {}"),
        (("php", "-r", php % "CURLOPT_CUSTOMREQUEST => 'GET', CURLOPT_POSTFIELDS => '{}'"),
         "GET {}"),
        (("php", "-r", php % "CURLOPT_POSTFIELDS => '{}', CURLOPT_HTTPGET => true"), "GET "),
        (("php", "-r", php % "CURLOPT_HTTPGET => true, CURLOPT_POSTFIELDS => '{}'"), "POST {}"),
        (("/usr/bin/python3", "-c", "import sys, urllib.request as u; print(u.urlopen(u.Request("
          "sys.argv[1], b'{}', method='GET')).read().decode())"), "GET {}"),
        (("node", "-e", node % ", headers: {'Content-Length': 2}"), "GET {}"),
        (("node", "-e", node % ""), "GET "),
        (("node", "-e", "fetch(process.argv[1], {method: 'GET', body: '{}'})"
          ".then((a) => a.text()).catch((e) => e.name).then(console.log)"), "TypeError"),
        (("perl", "-MHTTP::Tiny", "-e",
          "print HTTP::Tiny->new->request('GET', $ARGV[0], {content => '{}'})->{content}"),
         "GET {}"),
    ]
    missing = {words[0] for words, _ in tries if not shutil.which(words[0])}
    with Listening(Echo) as server:
        for words, wanted in tries:
            if words[0] in missing:
                continue
            done = subprocess.run([*words, server.url], text=True,
                                  capture_output=True, timeout=20 * cb.PATIENCE, check=False)
            equal(done.stdout.rstrip("\n"), wanted, f"{words}: {done.stderr}")
    if missing:
        raise Skip(f"not installed: {', '.join(sorted(missing))} (the others passed)")


CASES = [
    ("every command and program is run", case_commands),
    ("every call is answered as shown", case_requests),
    ("every callback has the body that is shown", case_callbacks),
    ("a shortfall", case_shortfall),
    ("the rules", case_rules),
    ("the table of vectors", case_vectors),
    ("clients and the body of a GET", case_clients_of_get),
    ("figures", case_figures),
    ("HTML", PAGE.page_check),
]

if __name__ == "__main__":
    slow = {"callback_timeout_ms": 6000, "callback_lease_ms": 15000,
            "callback_connect_timeout_ms": 3000, "result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
    with cb.Instance("creditbridge-guide", settings={**LOOPBACK, **slow}) as WALLET, \
            cb.Lighttpd(WALLET) as SERVER:
        result = cb.run_cases(CASES, seconds=120)
    sys.exit(result)
