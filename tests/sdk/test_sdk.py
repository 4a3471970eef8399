#!/usr/bin/python3
"""sdk/: each package is built as it is published, and used from that: its own tests, the programs of its
README, every call against the running service, and a seamless dealer that takes the exam and plays.

The packages of npm that package-lock.json pins are installed into the build directory."""
import contextlib
import filecmp
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE.parent / "contract")]
import cb  # noqa: E402
import contract_tools as tools  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_http import raw_request, request_bytes  # noqa: E402
from cb_listener import DisturbingProxy, Scripted  # noqa: E402
from cb_platform import LOOPBACK, client_add  # noqa: E402
from cb_process import port_open  # noqa: E402
from cb_table import Table, exam, known, sweep  # noqa: E402

SDK = cb.SRCDIR / "sdk"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DEBIAN_PHP = pathlib.Path("/usr/share/php")
PHP_PARTS = ("GuzzleHttp/autoload.php", "GuzzleHttp/Psr7/autoload.php", "Psr/Http/Client/autoload.php",
             "Psr/Http/Message/autoload.php")
WALLET = SERVER = DEALER = KEY_FILE = None


def run(argv, folder, seconds=60, **env):
    """Runs a program, which must succeed; what it printed."""
    done = subprocess.run([str(word) for word in argv], cwd=folder, capture_output=True, text=True,
                          timeout=seconds, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, **env})
    equal(done.returncode, 0, f"{argv}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Package:
    """An SDK; @stage is a folder in which it is installed."""

    def __init__(self, name, program, language):
        self.name = name
        self.program = program
        self.source = SDK / name
        self.blocks = BLOCK.findall((self.source / "README.md").read_text())
        self.language = language
        self.stage = None

    def made(self):
        """The folder, installed at the first call."""
        if not shutil.which(self.program):
            raise Skip(f"not installed: {self.program}")
        if self.stage is None:
            stage = WALLET.dir / f"sdk-{self.name}"
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir()
            getattr(self, f"make_{self.name}")(stage)
            shutil.copy(HERE / f"calls.{self.suffix}", stage)
            for number, (language, text) in enumerate(self.blocks):
                if language == self.language:
                    (stage / f"block-{number}.{self.suffix}").write_text(
                        ("<?php\n" if language == "php" else "") + text)
            self.stage = stage
        return self.stage

    @property
    def suffix(self):
        return {"node": "mjs", "php": "php", "python": "py"}[self.name]

    def argv(self):
        return {"node": ["node"], "php": ["php"], "python": ["/usr/bin/python3"]}[self.name]

    def env(self, **more):
        return {"CREDITBRIDGE_URL": SERVER.base_url, "CREDITBRIDGE_CASINO": "demo",
                "CREDITBRIDGE_KEY_FILE": str(KEY_FILE), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(self.stage),
                "PYTHONDONTWRITEBYTECODE": "1", "PHP_CLI_SERVER_WORKERS": "8", **more}

    def make_node(self, stage):
        """What `npm pack` packs, as npm install would lay it."""
        try:
            tools.install(HERE, "sdk")
        except tools.Missing as missing:
            raise Skip(str(missing)) from missing
        packed = json.loads(run(["npm", "pack", "--json", "--pack-destination", stage, self.source], stage))
        names = {file["path"] for file in packed[0]["files"]}
        equal(names, {"LICENSE", "README.md", "package.json", *(
            f"src/{path.name}" for path in (self.source / "src").iterdir())}, "what is packed")
        folder = stage / "node_modules"
        folder.mkdir()
        run(["tar", "-xf", packed[0]["filename"]], stage)
        (stage / "package").rename(folder / "creditbridge-dealer")
        for path in tools.modules("sdk").iterdir():
            if not path.name.startswith("."):
                (folder / path.name).symlink_to(path)

    def make_php(self, stage):
        """Its archive with composer's autoloader, and Debian's packages of the interfaces."""
        if not shutil.which("composer"):
            raise Skip("not installed: composer")
        missing = [name for name in PHP_PARTS if not (DEBIAN_PHP / name).exists()]
        if missing:
            raise Skip(f"not installed: {', '.join(missing)} of Debian's php-guzzlehttp-guzzle and php-psr-*")
        home = {"COMPOSER_HOME": str(stage / "home"), "COMPOSER_ALLOW_SUPERUSER": "1",
                "COMPOSER_DISABLE_NETWORK": "1", "COMPOSER_ROOT_VERSION": "0.1.0"}
        composer = ["composer", "--no-interaction", "--no-plugins"]
        run([*composer, "validate", "--strict"], self.source, **home)
        run([*composer, "archive", "--format=tar", f"--dir={stage}", "--file=archive"], self.source, **home)
        run(["tar", "-xf", "archive.tar"], stage)
        check(not (stage / "tests").exists(), "tests are in the archive")
        run([*composer, "dump-autoload"], stage, **home)
        (stage / "vendor" / "autoload.php").rename(stage / "vendor" / "own.php")
        parts = "".join(f"require '{DEBIAN_PHP / name}';\n" for name in PHP_PARTS)
        (stage / "vendor" / "autoload.php").write_text(
            f"<?php\nrequire __DIR__ . '/own.php';\n{parts}require '{HERE}/psr15.php';\n")

    def make_python(self, stage):
        """The wheel, unpacked."""
        copy = stage / "source"
        shutil.copytree(self.source, copy, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        run(["chmod", "-R", "u+w", copy], stage)  # the sources may be read-only
        try:
            run(["/usr/bin/python3", "-c", "import setuptools, pip, wheel"], stage)
        except AssertionError as error:
            raise Skip("not installed: python3-pip, python3-setuptools or python3-wheel") from error
        run(["/usr/bin/python3", "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
             "--disable-pip-version-check", "--wheel-dir", stage, copy], stage)
        [wheel] = stage.glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            check("creditbridge/py.typed" in file.namelist(), "the types are in the wheel")
            file.extractall(stage)
        shutil.copytree(copy / "examples", stage / "examples")
        shutil.rmtree(copy)

    def calls(self, calls, **env):
        """Makes the calls [(method, words...)] with the client: what calls.* printed of each."""
        stage = self.made()
        out = run([*self.argv(), f"calls.{self.suffix}", json.dumps(calls)], stage, **self.env(**env))
        return [json.loads(line) for line in out.splitlines()]

    def serve(self, casino_id, port, keys):
        """The README's dealer with @keys: a Child to be stopped."""
        stage = self.made()
        folder = stage / casino_id
        folder.mkdir()
        (folder / "key").write_text("".join(f"{key}\n" for key in keys))
        env = self.env(CREDITBRIDGE_KEY_FILE=str(folder / "key"), PORT=str(port))
        if self.name == "node":
            argv = ["node", "block-1.mjs"]
        else:
            # The README's lines, of which the last one serves.
            [text] = [text for language, text in self.blocks if language == "sh"]
            text = text.replace("$PWD", str(folder)).replace("9000", str(port))
            argv = ["bash", "-euc", text.replace("python3 ", "/usr/bin/python3 ")]
        child = cb.Child(["env", "-C", stage, *argv], folder / "log", env={**os.environ, **env})
        child.wait_ready(lambda: port_open(port), 20, f"the dealer of {self.name}")
        return child


class Losing(Scripted):
    """Passes callbacks on to a dealer at @port, and loses the answers while @lost."""

    def __init__(self, port):
        super().__init__(self.forward)
        self.target = port
        self.lost = False

    def forward(self, call):
        headers = [(name, value) for name, value in call.headers.items() if name != "content-length"]
        got = raw_request(self.target, request_bytes("POST", call.path, headers, call.body, False))
        return (500, "") if self.lost else (got.status, got.body.decode())


PACKAGES = (Package("node", "node", "js"), Package("php", "php", "php"), Package("python", "python3", "python"))


def own_tests(package):
    vectors = {"CREDITBRIDGE_VECTORS": str(cb.SRCDIR / "doc" / "signature-vectors.json"),
               "PYTHONPATH": str(package.source), "PYTHONDONTWRITEBYTECODE": "1"}
    argv = {"node": ["node", "--test", "test/vectors.test.js"], "php": ["php", "tests/vectors.php"],
            "python": ["/usr/bin/python3", "-m", "unittest", "discover", "-s", "tests"]}[package.name]
    run(argv, package.source, **vectors)
    check(filecmp.cmp(package.source / "LICENSE", cb.SRCDIR / "LICENSE", shallow=False), "the licence")


def readme(package):
    """The client of the README, twice: the second time it is a repeat."""
    stage = package.made()
    lines = (package.source / "README.md").read_text().splitlines()
    check(20 <= len(lines) <= 75, f"{len(lines)} lines")
    user = f"alice-{package.name}"
    WALLET.player_add("demo", user)
    path = stage / f"block-0.{package.suffix}"
    path.write_text(path.read_text().replace("alice", user).replace("in-1", f"in-{package.name}"))
    for replayed in ("false", "true"):
        out = run([*package.argv(), path.name], stage, **package.env())
        equal(out.lower().split(), ["100.5", replayed, "100.5"], f"{package.name}: what it prints")


def calls(package):
    """Every method, with money as text and as an integer, and ids beyond ASCII."""
    user, ref = f"ผู้เล่น {package.name}", f"ฝาก-{package.name}"
    WALLET.player_add("demo", user)
    refused = {("out", user, "99999999999", f"{ref}-3"): (True, "insufficient_balance"),
               ("in", user, "1", ref): (False, "transaction_conflict"),
               ("in", "nobody", "1", f"{ref}-4"): (True, "user_not_found"),
               ("in", user, "0.001", f"{ref}-5"): (True, "invalid_amount"),
               ("result", user, "no-game"): (True, "game_not_found")}
    values = ["1.", "0.00001", "1e99", 10 ** 15, "", "ten", 0.5]
    wrong = WALLET.dir / f"wrong-{package.name}.key"
    wrong.write_text("f" * 64)
    # One program makes them all: its start takes a hundred times as long as a call.
    made = iter(package.calls([
        ("in", user, 1005000, ref), ("in", user, "100.50", ref), ("out", user, "0.3", f"{ref}-2"),
        ("balance", user), ("stat", user), *refused, *(("in", user, value, f"{ref}-6") for value in values),
        ("at", SERVER.base_url, str(wrong)), ("balance", user)]))
    done = list(itertools.islice(made, 5))
    check(all("answer" in got for got in done), f"{package.name}: {done}")
    first, again, out, balance, stat = (got["answer"] for got in done)
    equal({name: first[name] for name in ("amount", "before_balance", "current_balance", "user_id",
                                          "request_transaction_id", "replayed")},
          {"amount": "100.5", "before_balance": "0", "current_balance": "100.5", "user_id": user,
           "request_transaction_id": ref, "replayed": False}, package.name)
    equal(again, {**first, "replayed": True}, "a repeat")
    equal((out["current_balance"], balance["balance"]), ("100.2", "100.2"), "balances")
    equal((stat["turnover"], len(stat["bet_summary"]), stat["bet_summary"][0]["profit_loss"]), ("0", 30, "0"),
          "statistics")
    for words, got in zip(refused, itertools.islice(made, len(refused)), strict=True):
        equal((got["error"], got["conclusive"], got["id"], got["waits"]), ("Refused", *refused[words], []),
              f"{package.name} {words}")
    for value, got in zip(values, itertools.islice(made, len(values)), strict=True):
        check(got.get("error") in ("Range", "Value", "Type"), f"{package.name}: {value!r}: {got}")
    [got] = made
    equal((got["error"], got["id"], got["conclusive"]), ("Refused", "invalid_signature", False), "another key")
    equal(len(WALLET.ctl_json("transfer", "list", "--casino", "demo", "--user", user)["transfers"]), 2,
          f"{package.name}: movements")


def repeats(package):
    """Its answer is lost, then no answer is one, then 503; one movement, and the same bytes."""
    user = f"repeat-{package.name}"
    WALLET.player_add("demo", user)
    package.made()

    transfer, never = ("in", user, "7", f"once-{package.name}"), ("in", user, "7", f"never-{package.name}")
    plans = ((["lost", 200, 503, "pass"], transfer), ([502], never), ([403], never), (["lost", 401], transfer),
             ([429, "pass"], ("balance", user)))
    with contextlib.ExitStack() as stack:
        fronts = [stack.enter_context(DisturbingProxy(SERVER, DEALER.key, plan)) for plan, _ in plans]
        done = package.calls([call for front, (_, words) in zip(fronts, plans)
                              for call in (("at", front.url, str(KEY_FILE)), words)])
        for front in fronts:
            equal(front.shown, [], "the key on a command line")
    moved, ends, refused, unauthorized, read = zip(done, (front.bodies for front in fronts), strict=True)

    got, bodies = moved
    equal(got["answer"]["current_balance"], "7", package.name)
    equal((len(bodies), len(set(bodies))), (4, 1), f"{package.name}: the same bytes")
    check(1 <= got["waits"][0] <= 1.25 and 2 <= got["waits"][1] <= 2.5 and got["waits"][2] == 1,
          f"{package.name}: waits, the last by Retry-After: {got['waits']}")
    equal(len(WALLET.ctl_json("transfer", "list", "--casino", "demo", "--user", user)["transfers"]), 1,
          f"{package.name}: movements")
    got, bodies = ends
    equal((got["error"], got["attempts"], len(bodies)), ("UnknownOutcome", 5, 5), f"{package.name}: it ends")
    got, bodies = refused
    equal((got["error"], got["id"], got["conclusive"], len(bodies)), ("Refused", "http_403", False, 1),
          f"{package.name}: what is refused is not repeated")
    got, bodies = unauthorized
    equal((got["error"], len(bodies)), ("UnknownOutcome", 2),
          f"{package.name}: a 401 says nothing about the attempt before it")
    got, bodies = read
    equal((got["answer"]["balance"], len(bodies)), ("7", 2), f"{package.name}: a read is repeated")


def plays(package):
    """The dealer of the README passes the exam, and plays with real bets, results and refunds."""
    package.made()
    direct, behind = f"sdk-{package.name}", f"sdk-{package.name}-2"
    port = cb.free_port()
    with Losing(port) as losing:
        keys = [WALLET.dealer_add(casino_id, "--url", url, "--allow-http", "--refund-delay", "0",
                                  mode="seamless").key
                for casino_id, url in ((direct, f"http://127.0.0.1:{port}"), (behind, losing.url))]
        for casino_id in (direct, behind):
            WALLET.player_add(casino_id, "alice")
        client = client_add(WALLET, direct)
        child = package.serve(direct, port, keys)
        try:
            exam(WALLET, direct, "alice")
            table = Table(SERVER, client, behind, "alice")
            play(table, losing)
            decrease(table, losing, package, keys[1])
        except AssertionError as error:
            raise AssertionError(f"{error}\n{package.name}: {child.log_tail()}") from error
        finally:
            child.stop()


def play(table, losing):
    table.known()
    equal(table.bet("won", 10)["balance"], 990, "a bet")
    table.bet("won", 0.5, addition=True)
    equal(table.result("won", "win", payout_amount=25.25)["callback"]["state"], "delivered", "a win")
    equal(table.balance(), 1014.75, "after a win")
    table.bet("lost", 4.75)
    equal(table.result("lost", "loss")["callback"]["state"], "delivered", "a loss")
    table.bet("cancelled", 3)
    equal(table.result("cancelled", "refund")["callback"]["state"], "delivered", "a cancelled game")
    equal(table.balance(), 1010, "after a loss and a cancelled game")
    refused = table.bet("dear", 1010.01, code=409)
    equal(refused["dealer_error"]["id"], "insufficient_balance", "a bet above the balance")
    losing.lost = True
    equal(table.bet("unknown", 7, code=504)["state"], "refunding", "a bet without an answer")
    losing.lost = False
    equal(table.balance(), 1003, "the dealer has debited it")

    def refunded():
        sweep(WALLET)
        return table.balance() == 1010
    cb.wait_until(refunded, 20, "the refund", interval=0.2)
    kinds = {call.path.strip("/") for call in losing.seen}
    equal(kinds, {"balance-inquire", "betting", "betting-result", "betting-refund"}, "callbacks")


def decrease(table, losing, package, key):
    """A payout is lowered, and its first answer is lost: the dealer sees and asks for its callback, and takes
    once what is there."""
    casino_id = table.player["casino_id"]
    WALLET.ctl("dealer", "set", casino_id, "--path-betting-correction", "/betting-correction",
               "--reason", "test")
    table.bet("spent", 1005)
    losing.lost = True
    made = WALLET.ctl_json("round", "correct", f"{casino_id}/alice", "won", "loss", "--reason", "misread",
                           "--yes")
    webhook_id = made["webhook_id"]

    def due():
        sweep(WALLET)
        return WALLET.ctl_json("callback", "show", webhook_id)["attempts"]
    cb.wait_until(due, 20, "the first attempt", interval=0.2)
    losing.lost = False
    path = WALLET.dir / f"{casino_id}.key"
    path.write_text(key)
    listed, resent, again = package.calls(
        [("callbacks", "due"), ("resend", webhook_id), ("resend", webhook_id)],
        CREDITBRIDGE_CASINO=casino_id, CREDITBRIDGE_KEY_FILE=str(path))
    equal([(row["webhook_id"], row["state"], row["attempts"]) for row in listed["answer"]["items"]],
          [(webhook_id, "due", 1)], f"{package.name}: what is not delivered")
    equal((resent["answer"]["resent"], again["error"], again["id"], again["waits"]),
          (True, "Refused", "rate_limited", []), f"{package.name}: it is asked for once")

    def delivered():
        sweep(WALLET)
        return WALLET.ctl_json("callback", "show", webhook_id)["state"] == "delivered"
    cb.wait_until(delivered, 20, "the decrease", interval=0.2)
    [row] = WALLET.ctl_json("round", "show", f"{casino_id}/alice", "won")["corrections"]
    equal((made["delta"], row["shortfall"], table.balance()), (-25.25, 20.25, 0), f"{package.name}: what is taken")
    equal(sum(call.path == "/betting-correction" for call in losing.seen), 2, "sent twice")


def more_calls(package):
    """The whole credit out, what became of a transfer, the feed and the history."""
    user, ref = f"more-{package.name}", f"more-{package.name}"
    WALLET.player_add("demo", user)
    done = package.calls([("in", user, "12.5", f"{ref}-1"), ("out_all", user, f"{ref}-2"),
                          ("out_all", user, f"{ref}-2"), ("inquire", f"{ref}-2"), ("inquire", f"{ref}-3"),
                          ("inquire", f"{ref}-3", True), ("history", user, 0, 10)])
    check(all("answer" in got for got in done), f"{package.name}: {done}")
    first, out, again, known_one, unknown, sealed, history = (got["answer"] for got in done)
    equal((out["amount"], out["current_balance"], out["replayed"], again["replayed"]),
          ("12.5", "0", False, True), f"{package.name}: all")
    equal((known_one["state"], known_one["transfer"]["amount"]), ("done", "12.5"), f"{package.name}: {known_one}")
    equal((unknown["state"], sealed["state"]), ("unknown", "sealed"), f"{package.name}: a final answer")
    equal([(row["kind"], row["amount"]) for row in history["items"]],
          [("transfer_out", "-12.5"), ("transfer_in", "12.5")], f"{package.name}: {history}")
    feed, waited, late, empty = package.calls([
        ("feed", first["transaction_id"] - 1, 1), ("feed", 2 ** 52, 10, 100), ("in", user, "1", f"{ref}-3"),
        ("out_all", user, f"{ref}-4")])
    equal([row["transaction_id"] for row in feed["answer"]["items"]], [first["transaction_id"]],
          f"{package.name}: {feed}")
    equal((waited["answer"]["items"], waited["answer"]["complete"]), ([], True), f"{package.name}: {waited}")
    equal((late["id"], late["conclusive"]), ("transaction_sealed", True), f"{package.name}: {late}")
    equal(empty["id"], "insufficient_balance", f"{package.name}: {empty}")


def of_each(function):
    """Runs @function for every package at once; waits are most of it."""
    def case():
        skipped = []

        def one(package):
            try:
                function(package)
            except Skip as skip:
                skipped.append(f"{package.name}: {skip}")
        cb.each_in_thread(one, PACKAGES)
        if skipped:
            raise Skip(f"{'; '.join(sorted(skipped))} (the others passed)")
    return case


def case_types():
    """The types of the Node package suit its use."""
    stage = PACKAGES[0].made()
    shutil.copy(HERE / "types.mts", stage)
    tsc = stage / "node_modules" / "typescript" / "bin" / "tsc"
    # Its own library, which is most of what it reads, need not be checked.
    argv = ["node", tsc, "--noEmit", "--strict", "--skipDefaultLibCheck", "--target", "es2022", "--module", "node16",
            "--moduleResolution", "node16", "--typeRoots", "nothing", "types.mts"]
    run(argv, stage)


def case_versions():
    """The packages have the version of the service."""
    version = re.search(r"AC_INIT\(\[creditbridge\], \[([^]]+)\]", (cb.SRCDIR / "configure.ac").read_text())[1]
    equal(json.loads((SDK / "node" / "package.json").read_text())["version"], version, "node")
    equal(re.search(r'(?m)^version = "(.*)"$', (SDK / "python" / "pyproject.toml").read_text())[1], version,
          "python")


CASES = [
    ("versions", case_versions),
    ("each package passes its own tests, the vectors first", of_each(own_tests)),
    ("each package as it is published, and the client of its README", of_each(readme)),
    ("each client: every method, money, refusals", of_each(calls)),
    ("each client: all credit, final answers, the feed", of_each(more_calls)),
    ("each client repeats by the rules, and moves once", of_each(repeats)),
    ("each dealer passes the exam and plays", of_each(plays)),
    ("the types of the Node package", case_types),
]

if __name__ == "__main__":
    slow = {"callback_timeout_ms": 6000, "callback_lease_ms": 15000, "callback_connect_timeout_ms": 3000}
    with cb.Instance("creditbridge-sdk", settings={**LOOPBACK, **slow}) as WALLET, \
            cb.Lighttpd(WALLET, prefix="/wallet") as SERVER:
        DEALER = WALLET.dealer_add("demo")
        KEY_FILE = WALLET.dir / "demo.key"
        KEY_FILE.write_text(DEALER.key + "\n")
        WALLET.player_add("demo", "alice")
        known(lambda: cb.call(SERVER, "POST", cb.BALANCE, {"user_id": "alice", "request_timestamp": cb.now_ms()},
                              dealer=DEALER))
        result = cb.run_cases(CASES, seconds=90)
    sys.exit(result)
