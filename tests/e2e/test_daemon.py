#!/usr/bin/python3
"""The ledger daemon: what it refuses to start on, which clients it serves and cuts off, how it
ends."""
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_codec  # noqa: E402
import cb_link  # noqa: E402
from cb import BALANCE, TRANSFER_IN, check, equal, wait_until  # noqa: E402
from cb_process import SLOWER  # noqa: E402
from cb_process import process_stopped  # noqa: E402
from cb_link import BUSY, COMMANDS, DONE, FORBIDDEN, Link, request  # noqa: E402
from cb_worker import LOSS, REFUSALS, UNITS, bet_payload, player_ref, settle_payload  # noqa: E402

EX_CONFIG = 78
PATIENCE_S = 5.0  # CONNECTION_PATIENCE_MS; looked at once a second
DEADLINE_S = 5.0  # ledger_deadline_ms
LOCK_WAIT_S = 3.0
FRESH_S = 1.0     # how long a worker trusts the keys that it has
WAIT_S = 20.0     # for what must come, on a slow machine too
SURPLUS_MAX = 64  # SERVER_SURPLUS_MAX
PLAYER = "alice"
# An unreadable client may cost the ledger its two buffers (connection.h), and little else.
CONNECTION_MEMORY_KIB = 2048


def ledger_run(config, seconds=WAIT_S, env=None):
    """Runs a ledger that is to refuse its start; exit code and standard error."""
    done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", config],
                          capture_output=True, text=True, timeout=seconds, check=False, env=env)
    return done.returncode, done.stderr


def refused(config, code, *texts):
    got, errors = ledger_run(config)
    equal(got, code, f"exit code ({errors.strip()})")
    for text in texts:
        check(re.search(text, errors), f"standard error lacks {text!r}: {errors}")


def engine_pid(wallet):
    return wallet.ctl_json("status")["pid"]


def memory_kib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+) kB", text).group(1))


class Bench:
    """A wallet with a dealer and a player, and the words for both."""

    def __init__(self, **settings):
        self.wallet = cb.Instance("cbdaemon", settings=settings)
        self.dealer = self.wallet.dealer_add("demo")
        self.wallet.player_add("demo", PLAYER)
        self.edge = self.wallet.sockets / "edge.sock"
        self.admin = self.wallet.sockets / "admin.sock"
        self.keys = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        logs = "".join(path.read_text(errors="replace") for path in self.wallet.logs.iterdir())
        self.wallet.close()
        # Of a build with sanitizers, which do not all end the program.
        found = re.search(r".*(runtime error:|Sanitizer).*", logs)
        check(not found, f"a log holds: {found and found.group(0)}")

    def link(self, **words):
        return Link(self.edge, **words)

    def balance_payload(self):
        return cb_link.balance_payload("demo", PLAYER)

    def serves(self, link=None):
        """Asks for the player's balance over @link, or one of its own."""
        if link is None:
            with self.link() as own:
                return self.serves(own)
        return link.call("balance", self.balance_payload()).outcome == DONE

    def transfer(self, server, key=None, amount=1, **words):
        self.keys += 1
        return cb.call(server, "POST", TRANSFER_IN, {
            "user_id": PLAYER, "amount": amount,
            "request_transaction_id": key or f"key-{self.keys}"}, dealer=self.dealer, **words)

    def read(self, server, **words):
        return cb.call(server, "GET", BALANCE, {
            "user_id": PLAYER, "request_timestamp": cb.now_ms()}, dealer=self.dealer, **words)

    def worker(self):
        """A web server whose wallet mount has one worker with one thread: one link."""
        return cb.Lighttpd(self.wallet, processes=1, threads=1)


def unavailable(answer):
    equal((answer.status, answer.json["id"]), (503, "service_unavailable"), f"{answer}")
    check(int(answer.header("Retry-After")) > 0, f"Retry-After: {answer.headers}")


# -- what a ledger does not start on

def test_not_initialised():
    with cb.Instance("cbdaemon", start=False) as wallet:
        (wallet.state / "installation").unlink()
        refused(wallet.config, EX_CONFIG, "not initialised", "creditbridgectl init")
        shutil.rmtree(wallet.state)
        refused(wallet.config, EX_CONFIG, "does not exist", "creditbridgectl init")
        wallet.state.write_text("")
        refused(wallet.config, EX_CONFIG, "not a directory")
        equal(list(wallet.sockets.iterdir()), [], "sockets made by ledgers that did not start")


def test_open_state():
    with cb.Instance("cbdaemon", start=False) as wallet:
        for mode in (0o777, 0o770, 0o720, 0o702, 0o750, 0o701):
            wallet.state.chmod(mode)
            refused(wallet.config, EX_CONFIG, f"mode {mode:04o}", "chmod 0700")
        wallet.state.chmod(0o700)
        wallet.start()
        equal(wallet.stop(), 0, "exit code of a ledger with a state that is closed again")


def test_second_ledger():
    with Bench() as bench, bench.link() as established:
        wallet = bench.wallet
        inodes = [path.stat().st_ino for path in (bench.edge, bench.admin)]
        start = time.monotonic()
        refused(wallet.config, 1, f"in use by another ledger, process {wallet.ledger.pid}")
        check(time.monotonic() - start < LOCK_WAIT_S + WAIT_S - 5, "it took too long to refuse")
        # Sockets elsewhere do not make it another ledger.
        other = wallet.dir / "other"
        other.mkdir()
        config = wallet.dir / "other.conf"
        config.write_text(wallet.config.read_text().replace(str(wallet.sockets), str(other)))
        refused(config, 1, "in use by another ledger")
        equal(list(other.iterdir()), [], "sockets of the second ledger")
        equal([path.stat().st_ino for path in (bench.edge, bench.admin)], inodes,
              "the first one's sockets")
        check(bench.serves(established) and bench.serves(), "the first one was harmed")


def test_configuration():
    with cb.Instance("cbdaemon", start=False) as wallet:
        good = wallet.config.read_text()
        lines = len(good.splitlines())
        for text, line, message in (
                ("ledger_queue_max = 0", lines + 1, "ledger_queue_max must be"),
                ("\nno_such_option = 1", lines + 2, "no_such_option"),
                ("# fine\nledger_cache_mib = many", lines + 2, "ledger_cache_mib must be"),
                ('state_directory = "relative"', lines + 1, "absolute path"),
                ("socket_group = \"", lines + 1, "."),
                ("log_level = loud", lines + 1, "log_level must be")):
            wallet.config.write_text(good + text + "\n")
            # The end of an unfinished string is found lines later.
            where = r"\d+" if text.endswith('"') else line
            refused(wallet.config, EX_CONFIG, f"^{wallet.config}:{where}: .*{message}")
        missing = wallet.dir / "missing.conf"
        refused(missing, EX_CONFIG, rf"^{missing}:\d+: No such file")
        others = [line for line in good.splitlines() if not line.startswith("socket_group")]
        wallet.config.write_text("\n".join(others) + '\nsocket_group = "no-such-group"\n')
        refused(wallet.config, EX_CONFIG, "no-such-group")


def test_older_schema():
    """It is read before an upgrade, raised by the first start, and then no older program's."""
    set_schema = cb.builddir() / "tests" / "fault" / "set_schema"

    def schema():
        return wallet.ctl_json("schema")

    with Bench() as bench:
        wallet = bench.wallet
        own = wallet.ctl_json("status")["schema"]
        running = wallet.ctl_run("schema")
        equal(running.returncode, 75, f"schema of a ledger that runs: {running.stderr}")
        wallet.stop()
        expected = {"state_directory": str(wallet.state), "schema": own, "program_schema": own,
                    "data": "current", "store": "berkeleydb"}
        equal(schema(), expected, "schema")
        for number, data in ((own - 1, "older"), (own + 1, "newer")):
            subprocess.run([set_schema, wallet.state / "db", str(number)], check=True, timeout=20 * cb.PATIENCE)
            for _ in range(2):  # Looking does not change it.
                equal(schema(), dict(expected, schema=number, data=data), "schema")
            if data == "older":
                wallet.start()
                wallet.stop()
                equal(schema(), expected, "schema after a start")


def test_schema_of_no_data():
    with cb.Instance("schema", start=False) as wallet:
        equal(wallet.ctl_json("schema")["data"], "none", "a state without data")
        (wallet.state / "installation").unlink()
        done = wallet.ctl_run("schema")
        equal(done.returncode, 78, f"a state that is not initialised: {done}")


def test_newer_schema():
    set_schema = cb.builddir() / "tests" / "fault" / "set_schema"
    with Bench() as bench:
        wallet = bench.wallet
        newer = wallet.ctl_json("status")["schema"] + 1
        wallet.stop()
        subprocess.run([set_schema, wallet.state / "db", str(newer)], check=True, timeout=20 * cb.PATIENCE)
        refused(wallet.config, EX_CONFIG, "newer creditbridge", f"schema {newer}",
                "install that version")
        # Refusing did not change it.
        refused(wallet.config, EX_CONFIG, f"schema {newer}")


# -- the rights of each role

def test_socket_modes():
    with Bench() as bench:
        wallet = bench.wallet
        for path, mode in ((bench.edge, 0o660), (bench.admin, 0o600)):
            found = path.stat()
            check(stat.S_ISSOCK(found.st_mode), f"{path} is no socket")
            equal(oct(stat.S_IMODE(found.st_mode)), oct(mode), f"mode of {path.name}")
        if not wallet.user:
            return
        equal(bench.edge.group(), wallet.user, "group of edge.sock")
        probe = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
                 "try:\n    s.connect(sys.argv[1])\nexcept PermissionError:\n    sys.exit(13)")
        for user, path, code in ((wallet.user, bench.edge, 0), (wallet.user, bench.admin, 13),
                                 ("nobody", bench.edge, 13), ("nobody", bench.admin, 13)):
            # Not sys.executable, which may lie where that user cannot go.
            done = subprocess.run(["/usr/bin/python3", "-c", probe, path], user=user,
                                  group=user if user == wallet.user else "nogroup",
                                  extra_groups=[], check=False, timeout=30 * cb.PATIENCE, cwd="/")
            equal(done.returncode, code, f"{user} opens {path.name}")


def test_admin_over_edge():
    with Bench() as bench, bench.link() as link:
        admin = [c for c in COMMANDS.values() if c.socket == "ADMIN"]
        check(len(admin) >= 7, f"commands.def was not read: {admin}")
        for tag, command in enumerate(admin):
            answer = link.call(command.number, tag=tag)
            equal((answer.command, answer.outcome, answer.tag, answer.payload),
                  (command.number, FORBIDDEN, tag, b""), f"{command.name} over edge.sock")
        check(bench.serves(link), "the connection goes on")
        # And in one breath with what is allowed: answers keep the order of requests.
        link.send(b"".join(request("balance", bench.balance_payload(), 2 * n)
                           + request("status", tag=2 * n + 1) for n in range(100)))
        for tag in range(200):
            answer = link.frame()
            equal((answer.tag, answer.outcome), (tag, FORBIDDEN if tag % 2 else DONE), "answer")
        with Link(bench.admin) as allowed:
            equal(allowed.call("status", b"\0").outcome, DONE, "status over admin.sock")
            check(bench.serves(allowed), "edge's commands over admin.sock")
        equal(bench.wallet.ctl_json("status")["dealers"], 1, "dealers")


# -- clients that misbehave

GARBAGE = (
    ("HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ("zeros", bytes(64)),
    ("too short a length", cb_codec.REQUEST.pack(11, 0, 0, 1)),
    ("too long a length", cb_codec.REQUEST.pack(1280 * 1024 - 3, 0, 0, 1)),
    ("the longest length", cb_codec.REQUEST.pack(0xffffffff, 0, 0, 1)),
    ("an unknown command", request(len(COMMANDS))),
    ("the last command", request(0xffff)),
    ("a request id that is not there", cb_codec.REQUEST.pack(12, 0, 1, 1)),
    ("a request id with a quote", cb_codec.REQUEST.pack(13, 0, 1, 1) + b'"'),
    ("a payload too short", request("balance", b"\0")),
    ("a string too long", request("balance", cb_codec.pack("balance", casino_id="x" * 5000))),
    ("a string with a NUL", request("balance", b"\0\3a\0b\0\1c")),
)


def test_garbage():
    with Bench() as bench, bench.link() as good:
        garbage = GARBAGE + (
            ("a payload too long", request("balance", bench.balance_payload() + b"x")),
            ("an enum out of range", request("transfer", cb_link.transfer_payload(
                "demo", 99, "k", PLAYER, 1))))
        for number, (what, data) in enumerate(garbage, 1):
            with bench.link(timeout=PATIENCE_S - 0.5) as link:
                link.send(data)
                check(link.ended(), f"{what}: not cut off")
            check(bench.serves(good), f"{what}: another client was harmed")
            equal(bench.wallet.ctl_json("status")["clients_cut"], number, f"{what}: clients_cut")
        # After a frame that is good, too.
        with bench.link(timeout=PATIENCE_S - 0.5) as link:
            link.send(request("balance", bench.balance_payload()) + b"\xff" * 40)
            check(link.ended(), "garbage behind a frame: not cut off")
        check(bench.serves(good), "another client was harmed")


def test_silence_and_deafness():
    """Half a frame, half a header, a frame that drips, answers never read: all are cut off, while
    others are served."""
    with Bench() as bench, bench.link() as good:
        engine = engine_pid(bench.wallet)
        before_kib = memory_kib(engine)
        frame = request("balance", bench.balance_payload())
        half, header, drip = bench.link(), bench.link(), bench.link()
        mute = (("half a frame", half), ("half a header", header), ("drips", drip))
        deaf = [bench.link() for _ in range(6)]
        start = time.monotonic()
        half.send(frame[:-3])
        header.send(frame[:2])
        stop = threading.Event()
        threads = [threading.Thread(target=flood, args=(link, frame, stop)) for link in deaf]
        for thread in threads:
            thread.start()
        longest = peak_kib = 0
        dripped = 0
        idle = cb.waited_s(engine)

        def all_cut():
            for what, link in mute:
                late = time.monotonic() - start - (cb.waited_s(engine) - idle)
                check(closed(link) or late < PATIENCE_S + 1.8, f"{what}: not cut off")
            check(time.monotonic() - start < PATIENCE_S + WAIT_S, "the deaf are not cut off")
            return (time.monotonic() - start > PATIENCE_S + 1.8
                    and all(closed(link) for _, link in mute)
                    and bench.wallet.ctl_json("status")["clients_cut"] >= len(mute) + len(deaf))

        def waited():
            return cb.waited_s(engine) + cb.waited_s(os.getpid())
        while not all_cut():
            asked = time.monotonic() - waited()
            check(bench.serves(good), "another client was harmed")
            longest = max(longest, time.monotonic() - waited() - asked)
            peak_kib = max(peak_kib, memory_kib(engine))
            if dripped < len(frame) - 1 and time.monotonic() - start > dripped * 0.3:
                try:
                    drip.send(frame[dripped:dripped + 1])
                except OSError:
                    pass
                dripped += 1
            if closed(half) or closed(header):
                check(time.monotonic() - start > PATIENCE_S - 0.5, "cut off before its time")
            time.sleep(0.05)
        for thread in threads:
            thread.join(WAIT_S)
        stop.set()
        check(not any(thread.is_alive() for thread in threads),
              "a client that does not read is still served")
        cut = bench.wallet.ctl_json("status")["clients_cut"]
        equal(cut, len(mute) + len(deaf), "clients_cut")
        check(longest < 1, f"another client waited {longest:.2f} s for the ledger")
        grown = peak_kib - before_kib
        check(grown < CONNECTION_MEMORY_KIB * (len(deaf) + 4), f"the ledger grew by {grown} KiB")


def flood(link, frame, stop):
    """Sends without reading, until it is cut off."""
    data = frame * 1000
    link.socket.settimeout(1)
    while not stop.is_set():
        try:
            link.socket.send(data)
        except TimeoutError:
            continue
        except OSError:
            return


def closed(link):
    """Whether the ledger ended the connection."""
    if not select.select([link.socket], [], [], 0)[0]:
        return False
    try:
        return link.socket.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


# -- overload

def test_connections_max():
    with Bench(ledger_connections_max=4) as bench, bench.worker() as first:
        equal(bench.read(first).status, 200, "the first worker")
        idle = [bench.link() for _ in range(3)]
        with bench.worker() as second:
            for ask in (bench.read, bench.transfer):
                start = time.monotonic()
                unavailable(ask(second))
                check(time.monotonic() - start < DEADLINE_S - 1, "an overload is answered at once")
            equal(bench.transfer(first).status, 200, "the established worker")
            check(all(bench.serves(link) for link in idle), "the established clients")
            # Connections beyond these are closed without an answer.
            crowd, ended = [], 0
            for _ in range(SURPLUS_MAX + 5):
                try:
                    crowd.append(bench.link())
                except cb_link.Closed:
                    ended += 1
            check(4 <= ended <= 6, f"{ended} of {SURPLUS_MAX + 5} connections were ended")
            equal(crowd[0].call("balance", bench.balance_payload()).outcome, BUSY, "the surplus")
            check(bench.wallet.ctl_json("status")["refused_busy"] >= 3, "refused_busy")
            equal(bench.transfer(first).status, 200, "the established worker")
            for link in idle + crowd:
                link.close()
            # There is room: a client that was refused is served.
            wait_until(lambda: bench.read(second).status == 200, WAIT_S,
                       "the second worker's turn")
            equal(bench.read(first).json["balance"], 2, "balance")


def test_queue_max():
    frames, clients = 64, 8
    with Bench(ledger_queue_max=4) as bench:
        counts = {DONE: 0, BUSY: 0}
        for _ in range(20):
            links = [bench.link() for _ in range(clients)]
            os.kill(engine_pid(bench.wallet), signal.SIGSTOP)  # All arrive at once.
            try:
                for link in links:
                    link.send(b"".join(request("balance", bench.balance_payload(), tag)
                                       for tag in range(frames)))
            finally:
                for pid in bench.wallet.engine_pids():
                    os.kill(pid, signal.SIGCONT)
            for link in links:
                for tag in range(frames):
                    answer = link.frame()
                    equal(answer.tag, tag, "the order of answers")
                    counts[answer.outcome] += 1
                link.close()
            if counts[BUSY]:
                break
        check(counts[DONE] > 0 and counts[BUSY] > 0, f"outcomes {counts}")
        equal(bench.wallet.ctl_json("status")["refused_busy"], counts[BUSY], "refused_busy")
        check(bench.serves(), "served when the crowd is gone")


# -- the end

class Mover(threading.Thread):
    """Moves credit over a link of its own, 20 transfers at a time, until the link ends."""

    def __init__(self, bench, number):
        super().__init__()
        self.link = bench.link()
        self.number = number
        self.sent = 0
        self.done = []  # keys

    def run(self):
        with self.link as link:
            try:
                while True:
                    tags = range(self.sent, self.sent + 20)
                    link.send(b"".join(request("transfer", cb_link.transfer_payload(
                        "demo", cb_link.TRANSFER_IN_KIND, self.key(tag), PLAYER, 10000), tag)
                        for tag in tags))
                    self.sent += 20
                    for _ in tags:
                        answer = link.frame()
                        if answer.outcome == DONE:
                            self.done.append(self.key(answer.tag))
            except (OSError, cb_link.Closed):
                pass

    def key(self, tag):
        return f"{self.number}-{tag}"


def move_until(bench, seconds, end):
    """Moves credit for @seconds, and until that was a load, calls end(); the keys that were
    answered."""
    movers = [Mover(bench, f"{bench.keys}-{n}") for n in range(4)]
    bench.keys += 1
    for mover in movers:
        mover.start()
    time.sleep(seconds)
    wait_until(lambda: sum(len(mover.done) for mover in movers) > 1000, WAIT_S, "a load")
    end()
    for mover in movers:
        mover.join(WAIT_S)
        check(not mover.is_alive(), "a client of a ledger that ended hangs")
    return [key for mover in movers for key in mover.done]


def recovery_ms(bench):
    """How long the last start took to open the data."""
    return int(re.findall(r"store_open .*ms=(\d+)", bench.wallet.ledger.log.read_text())[-1])


def moved(bench):
    return {entry["request_transaction_id"] for entry in
            bench.wallet.ctl_json("player", "ledger", "demo", PLAYER)["entries"]}


def test_stop():
    """SIGTERM under load: what is answered is kept, and the next start has nothing to recover."""
    # No checkpoint but the last one.
    with Bench(checkpoint_interval_ms=3600000, checkpoint_kib=1048576) as bench:
        wallet = bench.wallet
        answered = []
        for _ in range(3):  # A machine that stalls at the wrong moment is given another try.
            codes = []
            answered += move_until(bench, 1.5, lambda: codes.append(wallet.stop()))
            equal(codes, [0], "exit code after SIGTERM")
            wallet.start()
            clean_ms = recovery_ms(bench)
            equal(set(answered) - moved(bench), set(), "answered and not there")
            # The same without a farewell, to see that there was something to spare.
            answered += move_until(bench, 1.5, lambda: wallet.ledger.stop(signal.SIGKILL))
            wallet.start()
            hard_ms = recovery_ms(bench)
            equal(set(answered) - moved(bench), set(), "answered and not there")
            print(f"# opening the data took {clean_ms} ms after SIGTERM, {hard_ms} after SIGKILL")
            if clean_ms < 100 or clean_ms < hard_ms / 2:
                break
        else:
            check(False, f"recovery after SIGTERM: {clean_ms} ms, after SIGKILL: {hard_ms} ms")
        equal(wallet.ctl_run("check").returncode, 0, "creditbridgectl check")
        # An engine that is asked to stop by itself is no stop of the ledger.
        pid = engine_pid(wallet)
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: engine_pid(wallet) != pid, WAIT_S, "another engine")


def test_killed_as_it_serves():
    """Engines that are killed as soon as they serve do not make the pauses between them grow."""
    with Bench() as bench:
        pid = engine_pid(bench.wallet)
        paused_s = []
        for _ in range(8):
            os.kill(pid, signal.SIGKILL)
            began = time.monotonic()
            pid = wait_until(lambda killed=pid: {engine_pid(bench.wallet)} - {killed}, WAIT_S,
                             "the next engine").pop()
            paused_s.append(time.monotonic() - began)
        # Pauses that grow, as those after engines that never serve, come to 5 s.
        check(max(paused_s) < 4, f"the next engine served after {paused_s} s")


ACTIVATE = """
import os, socket, sys
names, paths, ledger, config = sys.argv[1], sys.argv[2:4], sys.argv[4], sys.argv[5]
made = []
for path in paths:
    made.append(socket.socket(socket.AF_UNIX))
    made[-1].bind(path)
    made[-1].listen(64)
print("listening", flush=True)
sys.stdin.read(1)
kept = [os.dup(s.fileno()) for s in made]
kept = [os.dup2(fd, 100 + n) for n, fd in enumerate(kept)]
for number, fd in enumerate(kept):
    os.dup2(fd, 3 + number, inheritable=True)
os.environ.update(LISTEN_FDS="2", LISTEN_FDNAMES=names, LISTEN_PID=str(os.getpid()))
os.execv(ledger, [ledger, "--config", config])
"""


def test_socket_activation():
    with Bench() as bench:
        wallet = bench.wallet
        for names, paths in (("edge:admin", (bench.edge, bench.admin)),
                             ("admin:edge", (bench.admin, bench.edge))):
            wallet.stop()
            for path in paths:
                path.unlink(missing_ok=True)
            activated(bench, names, paths)


def activated(bench, names, paths):
    wallet = bench.wallet
    argv = [sys.executable, "-c", ACTIVATE, names, *paths,
            cb.find_program("creditbridge-ledger"), wallet.config]
    with subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            equal(process.stdout.readline(), b"listening\n", "the sockets' maker")
            inodes = [path.stat().st_ino for path in paths]
            # Before there is a ledger.
            early = [bench.link(greeted=False) for _ in range(20)]
            for link in early:
                link.send(request("balance", bench.balance_payload(), 7))
            process.stdin.write(b"x")
            process.stdin.close()
            for link in early:
                link.greet()
                answer = link.frame()
                equal((answer.outcome, answer.tag), (DONE, 7), "a connection made before")
            pid = engine_pid(wallet)
            equal(pathlib.Path(f"/proc/{pid}/environ").read_bytes().count(b"LISTEN_PID"), 1,
                  "LISTEN_PID was given")
            os.kill(pid, signal.SIGKILL)
            check(bench.serves(), "served by the next engine on the same sockets")
            equal([path.stat().st_ino for path in paths], inodes, "the sockets of systemd")
            with bench.link() as link:
                equal(link.call("status", b"\0").outcome, FORBIDDEN, "edge is edge")
        finally:
            process.terminate()
            process.wait(20)
        equal(process.returncode, 0, "exit code after SIGTERM")


# -- seen from a worker

class FakeLedger(threading.Thread):
    """Greets in another protocol and counts what it is sent."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        os.chmod(path, 0o666)
        self.listener.listen(16)
        self.received = b""

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(cb_codec.GREETING.pack(cb_codec.MAGIC, 4711, 1))
                connection.settimeout(1)
                try:
                    self.received += connection.recv(1024)
                except OSError:
                    pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def test_other_protocol():
    with Bench() as bench, bench.worker() as server:
        equal(bench.transfer(server).status, 200, "the worker")
        pids = server.worker_pids("wallet")
        equal(len(pids), 1, "workers")
        bench.wallet.stop()
        bench.edge.unlink()
        fake = FakeLedger(bench.edge)
        fake.start()
        start = time.monotonic()
        unavailable(bench.transfer(server, key="during"))
        check(time.monotonic() - start < DEADLINE_S - 1, "another protocol is no matter of waiting")
        wait_until(lambda: cb.process_gone(pids[0]), WAIT_S, "the end of the worker")
        equal(fake.received, b"", "what was sent to a ledger of another version")
        fake.close()
        bench.wallet.start()
        wait_until(lambda: bench.read(server).status == 200, WAIT_S,
                   "the next worker's first answer")
        check(pids[0] not in server.worker_pids("wallet"), "the worker is another process")
        answer = bench.transfer(server, key="during")
        equal((answer.status, answer.replayed), (200, False), "the call that was refused")


def frozen_transfer(bench, server, key, pause_s):
    """A transfer while the ledger stands still, @pause_s after one that was done: its answer, how
    long that took, and how many were done before."""
    pid = engine_pid(bench.wallet)
    for done in range(1, 6):
        before = time.monotonic()
        equal(bench.transfer(server).status, 200, "before")
        time.sleep(pause_s)
        os.kill(pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            answer = bench.transfer(server, key=key)
            took = time.monotonic() - start
        finally:
            os.kill(pid, signal.SIGCONT)
        # On a machine that stalls the worker's keys may be too old where they should not be.
        if pause_s or answer.status != 503 or start - before < FRESH_S:
            break
    return answer, took, done


def test_frozen():
    """A ledger that does not answer: the same call returns the outcome later."""
    moves = 0
    with Bench() as bench, bench.worker() as server:
        for key, pause_s, wanted in (("sent", 0, (500, "internal_error")),
                                     # The worker asks for the keys first, and moved nothing.
                                     ("unsent", 1.3, (503, "service_unavailable"))):
            answer, took, done = frozen_transfer(bench, server, key, pause_s)
            moves += done + 1
            equal((answer.status, answer.json["id"]), wanted, f"{answer}")
            equal(answer.json["retryable"], True, "retryable")
            # The upper bound is that of bench.transfer() itself.
            check(took > DEADLINE_S - 0.5, f"it was answered after {took:.1f} s")
            answer = bench.transfer(server, key=key)
            equal(answer.status, 200, f"the same call after that: {answer}")
            if key == "unsent":
                check(not answer.replayed, "503 promises that nothing moved")
            equal(bench.transfer(server, key=key).json, answer.json, "and once more")
        equal(bench.read(server).json["balance"], moves, "balance: each moved once")
        equal(bench.wallet.ctl_run("check").returncode, 0, "creditbridgectl check")


def test_frozen_amid_a_frame():
    """A ledger is stopped for longer than it waits for a frame's rest: a rest that arrived
    meanwhile is not late. A rest that was not sent is."""
    with Bench() as bench, bench.link(timeout=WAIT_S) as link, bench.link(timeout=WAIT_S) as mute:
        # More than it reads at a time.
        bet = bet_payload("nobody", player_ref("demo", PLAYER), "game", UNITS, reference="bet",
                          user_bet=json.dumps({"red": "x" * 60000}).encode())
        frame = request("bet_place", bet)
        pid = engine_pid(bench.wallet)
        link.send(frame[:20])
        mute.send(frame[:20])
        time.sleep(0.3)
        os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: process_stopped(pid), WAIT_S, "the engine stands still")
            link.send(frame[20:])
            time.sleep(PATIENCE_S + 0.5)
        finally:
            os.kill(pid, signal.SIGCONT)
        equal(link.frame().outcome, DONE, "the frame")
        check(mute.ended(), "half a frame: not cut off")
        equal(bench.wallet.ctl_json("status")["clients_cut"], 1, "clients_cut")


LARGE_ROUNDS = 48
LARGE_LINKS = 8
LARGE_BETS = 17  # of 60,000 bytes: what a round may have
LARGE_GROWTH_KIB = 64 * 1024


def status_kib(pid, what):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{what}:\s*(\d+) kB", text, re.MULTILINE).group(1))


def test_large_rounds():
    """Results of rounds of the largest size, many at a time, refused and not, and what A5 asks of
    them: the ledger's memory stays within 64 MiB above what it was."""
    with Bench(ledger_cache_mib=8) as bench, contextlib.ExitStack() as stack:
        links = [stack.enter_context(bench.link(timeout=WAIT_S)) for _ in range(LARGE_LINKS)]
        pid = engine_pid(bench.wallet)
        player = player_ref("demo", PLAYER)
        details = json.dumps({"red": "x" * (60000 - 10)}).encode()
        bench.wallet.ctl("client", "add", "slots")
        bench.wallet.ctl("player", "adjust", "demo", PLAYER, 10 * LARGE_ROUNDS * LARGE_BETS,
                         "--reason", "stakes")

        def burst(frames):
            """The refusals, by the frames' order; all are sent before an answer is read."""
            threads = [threading.Thread(target=lambda link=link, at=at: [
                link.send(frame) for frame in frames[at::LARGE_LINKS]])
                for at, link in enumerate(links)]
            for thread in threads:
                thread.start()
            answers = [links[i % LARGE_LINKS].frame() for i in range(len(frames))]
            for thread in threads:
                thread.join()
            equal({answer.outcome for answer in answers}, {DONE}, "outcomes")
            return {REFUSALS[cb_codec.verdict(answer.payload).refusal] for answer in answers}

        def results(payout):
            return [request("round_settle", settle_payload(
                "slots", player, f"large-{n}", LOSS, payout, reference=f"result-{n}"))
                for n in range(LARGE_ROUNDS)]

        def asks():
            return [request("result_inquire", cb_codec.pack(
                "result_inquire", casino_id="demo", user_id=PLAYER, game_id=f"large-{n}")) for n in range(LARGE_ROUNDS)]
        bets = [request("bet_place", bet_payload(
            "slots", player, f"large-{n}", UNITS, reference=f"bet-{n}-{i}", user_bet=details))
            for i in range(LARGE_BETS) for n in range(LARGE_ROUNDS)]
        equal(burst(bets[:LARGE_LINKS]), {""}, "the first bets")
        rest = status_kib(pid, "VmRSS")
        grown = {}
        for name, frames, refusals in (
                ("bets", bets[LARGE_LINKS:], {""}),
                ("refused results", results(UNITS), {"invalid_amount"}),
                ("result-inquire", asks(), {""}),
                ("results", results(0), {""})):
            pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")
            equal(burst(frames), refusals, name)
            grown[name] = status_kib(pid, "VmHWM") - rest
        print(f"# KiB above rest: {grown}")
        # Freed memory that a sanitizer or valgrind keeps does not count.
        check(SLOWER > 1 or max(grown.values()) < LARGE_GROWTH_KIB, f"KiB above rest: {grown}")
        equal(bench.wallet.ctl_run("check").returncode, 0, "creditbridgectl check")


def test_mark_of_a_halt():
    """The mark beside the sockets counts for the state that it names, one that names none for any; the
    init of another state does not clear it."""
    with Bench() as bench:
        wallet = bench.wallet
        mark = wallet.sockets / "halted"
        other = wallet.dir / "other"
        for text, halted in ((str(other), False), (str(wallet.state), True), ("", True)):
            wallet.stop()
            mark.write_text(text)
            wallet.start()
            equal(wallet.ctl_json("status")["halted"], halted, f"with a mark of {text!r}")
            if halted:
                config = wallet.dir / "other.conf"
                config.write_text(f'state_directory = "{other}"\n'
                                  f'socket_directory = "{wallet.sockets}"\nlog_target = stderr\n')
                shutil.rmtree(other, ignore_errors=True)
                subprocess.run([cb.find_program("creditbridgectl"), "--config", config, "init"],
                               check=True, capture_output=True, timeout=WAIT_S)
                equal(mark.exists(), text != "", "the mark after init of another state")
                wallet.ctl("resume", "--reason", "test")
                wait_until(bench.serves, WAIT_S, "calls are served after resume")
            equal(mark.exists(), not halted, f"the mark of {text!r} afterwards")
            mark.unlink(missing_ok=True)


CASES = [
    ("refuses a state that is not initialised", test_not_initialised),
    ("refuses a state that is open to others", test_open_state),
    ("refuses a second ledger on the same state", test_second_ledger),
    ("refuses a bad configuration with file and line", test_configuration),
    ("raises data of an older schema", test_older_schema),
    ("reports the schema of no data", test_schema_of_no_data),
    ("refuses data of a newer schema", test_newer_schema),
    ("modes and groups of the sockets", test_socket_modes),
    ("every admin command is forbidden over edge.sock", test_admin_over_edge),
    ("garbage is cut off and harms no other client", test_garbage),
    ("half a frame and unread answers are cut off and harm no other client", test_silence_and_deafness),
    ("connections beyond the limit are answered so", test_connections_max),
    ("frames beyond the queue are answered so", test_queue_max),
    ("SIGTERM finishes, keeps and checkpoints", test_stop),
    ("engines killed as they serve", test_killed_as_it_serves),
    ("sockets handed over by systemd", test_socket_activation),
    ("a ledger of another protocol ends the worker", test_other_protocol),
    ("the mark of a halt is of one state", test_mark_of_a_halt),
    ("rounds of the largest size", test_large_rounds),
    ("a frozen ledger", test_frozen),
    ("a ledger frozen amid a frame", test_frozen_amid_a_frame),
]

if __name__ == "__main__":
    wanted = sys.argv[1:]
    sys.exit(cb.run_cases([case for case in CASES
                           if not wanted or any(word in case[0] for word in wanted)], seconds=60))
