#!/usr/bin/python3
"""The web console on a large state: how long its pages take, and what its readers cost transfers.

The state has --players players with a movement each, and a seamless dealer with PARKED parked results.
The console runs as installed, over desk.sock, on lighttpd. Its operator has signed in.

    pages      each page of PAGES, READS times, while nothing else runs (idle), beside transfers at half of the
               rate that saturates the ledger (half), and beside as many as are answered (full)
    consoles   transfers that saturate the ledger, and half of the round's rate, each without the console and beside
               CONSOLES browsers that read lists, in turn. Each reads the next page --pause ms after the answer,
               so nearly as many as console_page_rate permits (the operator is one for all, and has no limit here)

A time is from the request until the whole page has come, so it contains the web server's. Prints the 95th
percentile of each page, the medians of the rounds' ratios, and the targets; writes console.json into --out.
Exits with 1 if a page was not 200 or a transfer had an error, with --judge also if a target is missed. Run
nothing else on the machine meanwhile. With --states DIR the filled state is kept there and used again (10 million
players take six minutes and 8 GB). With --shots DIR it also photographs pages into DIR (tests/console/shots.js).
"""
import argparse
import collections
import contextlib
import http.client
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bars  # noqa: E402
import report  # noqa: E402
import wrk  # noqa: E402
from growth import tables_read  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import FAILURES, Failure  # noqa: E402
from neighbours import TRANSFER, Caller  # noqa: E402
from packages import install  # noqa: E402
from stands import TRANSFER_DEALER, Wallet, cb, setting  # noqa: E402

import cb_rounds  # noqa: E402
from cb import TRANSFER_IN  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import PASSWORD, PREFIX, Browser, Installed, basic, front_setting  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
from cb_process import SRCDIR  # noqa: E402
from cb_worker import REFUSED, Worker  # noqa: E402

PARKED_DEALER = "parked"
PARKED = 5000
REFUSED_CALLS = 200
OPERATOR = "ann"
THREADS = 8  # of the console, as its unit has it
# As much of a busy processor, in place of CPUWeight=20 of the unit. The readers' callers stand for other machines.
NICE = ("nice", "-n", "8")
CONNECTIONS = 64
CONSOLES = 8
WARM_S = 2
LONG_WARM_S = 15
# Half load is measured so many times as long: a stall of the machine is then less than a hundredth of the time.
HALF_TIMES = 2
PARK_S = 600
SETTINGS = {"result_second_attempt_ms": 30, "result_third_attempt_ms": 30}
LOADS = ("idle", "half", "full")
# The targets: the 95th percentile of pages in ms, and what CONSOLES readers may cost.
PAGE_MS = {"half": 50, "full": 300}
HALF_P99_TIMES, FULL_RATE, FULL_P99_TIMES = 1.05, 0.95, 1.10
LISTS = ("transactions", "callbacks", "dealers", "audit", "player", "replays")

Bar = collections.namedtuple("Bar", "what figure holds bound")


class NiceConsole(Installed):
    def start(self):
        if self.argv[0] != NICE[0]:
            self.argv = [*NICE, *self.argv]
        super().start()


class Stand:
    """The wallet, its console, and the addresses of pages that exist."""

    def __init__(self, options):
        state = options.states and options.states / f"console-{options.players}"
        self.players, self.runs = options.players, 0
        self.wallet = Wallet(options.players, ("lighttpd",), state=state,
                             settings=SETTINGS | front_setting(options.stack) | dict(options.set))
        self.instance = self.wallet.instance
        self.server = self.wallet.servers["lighttpd"]
        self.park()
        self.refuse()
        tables_read(self.wallet)
        self.console = NiceConsole(self.instance, "console", threads=THREADS)
        self.browser = Browser(self.console, OPERATOR)
        self.sign_in()
        self.pages = self.addresses()

    def close(self):
        self.console.close()
        self.wallet.close()

    def park(self):
        """Rounds that were won, whose results the dealer refused until they were parked."""
        names = [row["casino_id"] for row in self.instance.ctl_json("dealer", "list")["dealers"]]
        if PARKED_DEALER in names:
            return
        self.instance.dealer_add(PARKED_DEALER, "--url", "http://127.0.0.1:1/d/", "--allow-http", mode="seamless")
        self.instance.player_add(PARKED_DEALER, "bob")
        cb_rounds.CLIENT = self.wallet.client[0]
        games = [f"game-{number}" for number in range(PARKED)]
        with Rounds(self.instance.sockets / "edge.sock") as link:
            link.bets(PARKED_DEALER, "bob", games)
            link.settle(PARKED_DEALER, "bob", games)
        end_s = time.monotonic() + PARK_S
        with Worker(self.instance.sockets / "edge.sock") as link:
            while self.parked() < PARKED:
                if time.monotonic() > end_s:
                    raise Failure(f"only {self.parked()} results were parked in {PARK_S} s")
                for event, _ in link.find():
                    refusal, grant = link.claim(event)
                    if not refusal:
                        link.end(grant, PARKED_DEALER, REFUSED, status=422)

    def parked(self):
        return self.instance.ctl_json("dealer", "show", PARKED_DEALER)["total"]["parked"]

    def refuse(self):
        """Calls with a wrong signature."""
        for number in range(REFUSED_CALLS):
            cb.call(self.server, "POST", TRANSFER_IN, {"user_id": "u0", "amount": 1,
                                                       "request_transaction_id": f"refused-{number}"},
                    casino=self.wallet.dealer[0], signature="0" * 64)

    def sign_in(self):
        names = [row["name"] for row in self.instance.ctl_json("operator", "list")["operators"]]
        words = ("new-code", OPERATOR) if OPERATOR in names else ("add", OPERATOR, "--role", "admin")
        code = one_time_code(self.instance.ctl_json("operator", *words)["otpauth"])
        page = self.browser.post("/sign-in", {"code": code})
        if page.status != 303:
            raise Failure(f"the sign-in was answered {page.status}: {page.text[:500]}")

    def addresses(self):
        """{name of a page: its address}"""
        user = f"u{self.players // 2}"
        player = self.found(user)
        bob = self.found(f"{PARKED_DEALER}/bob")
        row = self.instance.ctl_json("callback", "list", "--casino", PARKED_DEALER, "--state", "parked",
                                     "--limit", "1")["callbacks"][0]
        newest = self.instance.ctl_json("status")["last_transaction_id"]
        transfer = f"fill-0-{self.players // 2}"
        query = urllib.parse.urlencode({"of": "dealer", "owner": TRANSFER_DEALER, "reference": transfer})
        parked = f"casino={PARKED_DEALER}&state=parked"
        return {
            "overview": "/", "search: a player": f"/search?id={user}", "search: nothing": "/search?id=zzz",
            "search: a reference": f"/search?id={transfer}", "dealers": "/dealers",
            "dealer": f"/dealer?id={TRANSFER_DEALER}", "dealer, parked": f"/dealer?id={PARKED_DEALER}",
            "dealer, a day": f"/days?casino={TRANSFER_DEALER}", "player": f"/player?id={player}",
            "player, many bets": f"/player?id={bob}", "transactions": "/transactions",
            "transactions of a dealer": f"/transactions?casino={PARKED_DEALER}",
            "transaction": f"/transactions/{newest}", "transfer": f"/transfer?{query}",
            "round": f"/round?player={bob}&game=game-0", "callbacks": f"/callbacks?{parked}",
            "callback": f"/callbacks/{row['event']}", "replay preview": f"/replays/preview?{parked}",
            "replays": "/replays", "refused": "/refused", "days": "/days", "audit": "/audit",
            "operators": "/operators", "health": "/health"}

    def found(self, text):
        """The id of the player that a search opens."""
        where = self.browser.get("/search", id=text).header("Location") or ""
        ids = urllib.parse.parse_qs(urllib.parse.urlparse(where).query).get("id")
        if not ids:
            raise Failure(f"the search for {text} opened no page: {where}")
        return ids[0]

    def headers(self):
        return {"Authorization": basic(OPERATOR),
                "Cookie": "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())}

    def names(self):
        self.runs += 1
        return f"c{time.time_ns()}-{self.runs}-"

    def saturated(self, seconds):
        row = wrk.run(self.server.base_url, "transfer-in", self.wallet.dealer, self.players, self.names(),
                      connections=CONNECTIONS, seconds=seconds)
        row["rate"] = row["requests"] / row["seconds"]
        return row

    def steady(self, rate, seconds):
        """Begins transfers at a rate; their times count from when they were due."""
        self.runs += 1
        body = TRANSFER.replace("%d", f"c{time.time_ns()}-{self.runs}")
        return Caller(TRANSFER_IN, "casino", self.wallet.dealer, body, rate=rate, seconds=seconds,
                      connections=CONNECTIONS, port=self.server.port, neighbour=True,
                      players=self.players)


class Readers:
    """CONSOLES browsers that read lists meanwhile."""

    SCRIPT = """\
local pages = { %s }
local at = 0
function delay()
	return %d
end
function request()
	at = at + 1
	return wrk.format("GET", pages[at %% #pages + 1])
end
function done(summary, latency)
	io.write(string.format('{"pages":%%d,"bad":%%d}\\n', summary.requests, summary.errors.status
		+ summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""

    def __init__(self, stand, seconds, folder, pause_ms):
        lists = [path for name, path in stand.pages.items() if name.split(" ")[0].rstrip(",:") in LISTS]
        script = pathlib.Path(folder) / "lists.lua"
        script.write_text(self.SCRIPT % (", ".join(json.dumps(PREFIX + path) for path in lists), pause_ms))
        words = [word for name, value in stand.headers().items() for word in ("-H", f"{name}: {value}")]
        self.child = subprocess.Popen(
            [*NICE, *wrk.BATCH, "wrk", "-t1", f"-c{CONSOLES}", f"-d{math.ceil(seconds)}s", "--timeout", "10s",
             "-s", str(script), *words, f"http://127.0.0.1:{stand.console.port}"],
            stdout=subprocess.PIPE, text=True)

    def finish(self):
        text = self.child.communicate()[0]
        lines = [line for line in text.splitlines() if line.startswith("{")]
        if self.child.returncode or not lines:
            raise Failure(f"wrk: {text}")
        row = json.loads(lines[-1])
        if row["bad"] or not row["pages"]:
            raise Failure(f"readers of lists: {row}")
        return row["pages"]


def page_times(stand, reads):
    """{page: [ms]}, one page after the other, so that each meets the same load."""
    times = collections.defaultdict(list)
    link = http.client.HTTPConnection("127.0.0.1", stand.console.port, timeout=30)
    headers = stand.headers()
    for _ in range(reads):
        for name, path in stand.pages.items():
            begun = time.perf_counter()
            link.request("GET", PREFIX + path, headers=headers)
            answer = link.getresponse()
            answer.read()
            times[name].append((time.perf_counter() - begun) * 1e3)
            # A search that finds one thing opens its page.
            if answer.status not in (200, 303):
                raise Failure(f"{path}: status {answer.status}")
    link.close()
    return times


def p95(values):
    return sorted(values)[max(0, math.ceil(len(values) * 0.95) - 1)]


class Beside(threading.Thread):
    """Transfers, again and again until the pages were read."""

    def __init__(self, stand, load, rate):
        super().__init__(daemon=True)
        self.stand, self.load, self.rate = stand, load, rate
        self.stopping = threading.Event()
        self.rows, self.failure = [], None

    def run(self):
        try:
            while not self.stopping.is_set() and self.load != "idle":
                row = (self.stand.saturated(WARM_S) if self.load == "full"
                       else self.stand.steady(self.rate, WARM_S).finish())
                if row["refused"] + row["broken"]:
                    raise Failure(f"transfers at load {self.load}: {row}")
                self.rows.append(row)
            if self.load != "idle" and not self.rows:
                raise Failure(f"no transfers ran at load {self.load}")
        except Exception as failure:  # pylint: disable=broad-exception-caught
            self.failure = failure  # pages() raises it


def pages(stand, options, half):
    """{load: {page: 95th percentile in ms}}, with that of all pages."""
    found = {}
    page_times(stand, 2)  # what the ledger read once is in memory
    for load in LOADS:
        beside = Beside(stand, load, half)
        beside.start()
        try:
            times = page_times(stand, options.reads)
        finally:
            beside.stopping.set()
            beside.join()
        if beside.failure:
            raise beside.failure
        found[load] = {name: p95(values) for name, values in times.items()}
        found[load]["all pages"] = p95([value for values in times.values() for value in values])
    return found


def consoles(stand, options):
    """A list of rounds: {load: (row without, row beside the readers)}, and pages that they read. Half load is half of
    the rate that saturated the ledger in the same round."""
    rounds = []
    for number in range(options.rounds):
        found = {"pages": 0}
        for load in ("full", "half"):
            rows = {}
            seconds = options.seconds * (HALF_TIMES if load == "half" else 1)
            for who in ("without", "beside") if number % 2 else ("beside", "without"):
                readers = None
                if who == "beside":
                    readers = Readers(stand, seconds + 2 * WARM_S, options.folder, options.pause)
                time.sleep(WARM_S)
                row = (stand.saturated(seconds) if load == "full"
                       else stand.steady(found["full"]["without"]["rate"] / 2, seconds).finish())
                if row["refused"] + row["broken"]:
                    raise Failure(f"transfers {who} consoles: {row}")
                rows[who] = row
                found["pages"] += readers.finish() if readers else 0
            found[load] = rows
        print("# " + ", ".join(
            f"{load}: p99 {found[load]['without']['p99_ms']:.2f} ms without, {found[load]['beside']['p99_ms']:.2f} "
            f"beside" for load in ("half", "full"))
            + f"; {found['full']['without']['rate']:.0f} and {found['full']['beside']['rate']:.0f} transfers a second; "
            f"{found['pages']} pages", flush=True)
        rounds.append(found)
    return rounds


def judged(times, rounds):
    found = [Bar(f"95th percentile of pages, {load} load, ms", times[load]["all pages"], bars.MOST, bound)
             for load, bound in PAGE_MS.items()] if times else []
    for load, name, what, holds, bound in (
            ("half", "p99_ms", "p99 of transfers at half load", bars.MOST, HALF_P99_TIMES),
            ("full", "rate", "rate of transfers that saturate the ledger", bars.LEAST, FULL_RATE),
            ("full", "p99_ms", "their p99", bars.MOST, FULL_P99_TIMES)) if rounds else ():
        ratio = statistics.median(row[load]["beside"][name] / row[load]["without"][name] for row in rounds)
        found.append(Bar(f"{what} beside {CONSOLES} consoles, times that without", ratio, holds, bound))
    return found


def show(times, found):
    if times:
        lines = [["page", *(f"p95 ms {load}" for load in LOADS)]]
        lines += [[name, *(f"{times[load][name]:.1f}" for load in LOADS)] for name in times[LOADS[0]]]
        print("\n" + "\n".join(report.aligned(lines, 1)) + "\n")
    for bar in found:
        print(f"{'ok' if bar.holds(bar.figure, bar.bound) else 'MISSED'}: {bar.what}: {bar.figure:.2f}, "
              f"{bars.WORDS[bar.holds]} {bar.bound}")


def photograph(stand, folder):
    """Pictures of the large state; needs Node.js, chromium and the packages of tests/console."""
    sys.path[:0] = [str(SRCDIR / "tests" / part) for part in ("console", "contract", "e2e")]
    import test_browser  # pylint: disable=import-outside-toplevel
    cookie = "; ".join(f"{name}={value}" for name, value in stand.browser.cookies.items())
    done = subprocess.run(
        [test_browser.tools.node_path(), test_browser.HERE / "shots.js",
         f"http://127.0.0.1:{stand.console.port}{PREFIX}/", OPERATOR, PASSWORD, cookie, folder,
         "large", json.dumps({"bob": stand.found(f"{PARKED_DEALER}/bob")})],
        env=test_browser.environment(), stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode or '"what"' in done.stdout:
        raise Failure("a picture could not be taken, is too large, or its page is wider than the window")


def measured(options):
    with contextlib.ExitStack() as stack:
        options.stack = stack
        begun = time.monotonic()
        stand = Stand(options)
        stack.callback(stand.close)
        print(f"# {options.players:,} players and {PARKED:,} parked results after {time.monotonic() - begun:.0f} s",
              flush=True)
        stand.saturated(LONG_WARM_S)  # until the tables' pages are in memory
        rate = statistics.median(stand.saturated(options.seconds)["rate"] for _ in range(3))
        print(f"# {rate:.0f} transfers a second saturate the ledger", flush=True)
        if options.shots:
            photograph(stand, options.shots)
        times = pages(stand, options, rate / 2) if "pages" in options.only else {}
        rounds = consoles(stand, options) if "consoles" in options.only else []
    return times, rounds


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=10_000_000)
    parser.add_argument("--reads", type=int, default=40, help="of each page and load")
    parser.add_argument("--rounds", type=int, default=7, help="of the consoles")
    parser.add_argument("--seconds", type=int, default=6, help="duration of each measurement beside consoles")
    parser.add_argument("--states", type=pathlib.Path, metavar="DIR",
                        help="keep the filled state there, and use it again")
    parser.add_argument("--shots", type=report.made_folder, metavar="DIR", help="photograph pages into this directory")
    parser.add_argument("--pause", type=int, default=190, metavar="MS",
                        help="from an answer to a browser's next request; 0: none")
    parser.add_argument("--set", action="append", type=setting, default=[], metavar="NAME=VALUE",
                        help="a setting of creditbridge.conf; may be given several times")
    parser.add_argument("--only", action="append", choices=("pages", "consoles"), default=[])
    parser.add_argument("--judge", action="store_true", help="exit with 1 if a target is missed")
    report.add_out(parser)
    options = parser.parse_args()
    options.only = options.only or ["pages", "consoles"]
    return options


def main():
    options = parse()
    install()
    if options.states:
        options.states.mkdir(mode=0o711, parents=True, exist_ok=True)
    times, rounds, failure = {}, [], None
    with everything_ends() as ends:
        options.folder = ends.folder()
        try:
            times, rounds = measured(options)
        except FAILURES as error:
            failure = error
    found = judged(times, rounds)
    show(times, found)
    (options.out / "console.json").write_text(json.dumps(
        {"cpus": os.cpu_count(), "players": options.players, "pages_p95_ms": times, "rounds": rounds,
         "bars": [[bar.what, bar.figure, bar.bound] for bar in found],
         "failure": failure and str(failure)}, indent=1) + "\n")
    if failure:
        print(f"FAILED: {failure}")
    return 1 if failure or (options.judge and not all(bar.holds(bar.figure, bar.bound) for bar in found)) else 0


if __name__ == "__main__":
    sys.exit(main())
