#!/usr/bin/python3
"""The ledger on a disk that fails or becomes full, under load.

A disk's errors come from shim.so, a full disk also from a small file system of its own where one
can be mounted. In each case the clients of tests/crash/load.py repeat their calls until they are
answered; at the end the ledger must have all transactions that were answered.
"""
import contextlib
import datetime
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
import cb  # noqa: E402
import load  # noqa: E402
from cb import BALANCE, TRANSFER_IN, check, equal, wait_until  # noqa: E402
from cb_codec import pack, unpack  # noqa: E402
from cb_link import request  # noqa: E402
from cb_process import pids_end, process_gone, process_stopped  # noqa: E402
from cb_worker import (SUCCESS, UNITS, WIN, Worker, bet_payload, grant_of, placed,  # noqa: E402
                       player_ref, refusal_of, settle_payload, settled)

SEED = os.environ.get("SEED") or str(random.getrandbits(32))
MIB = 1024 * 1024
# After space has returned everything works again within this time: the next try comes after 1 s at
# the latest, after other deaths of an engine 5 s (parent.c), and recovery takes a while.
BACK_S = 8.0
WAIT_S = 20.0  # for what must come, on a slow machine too
ASK_S = 0.1  # between two calls of creditbridgectl
TRIES = 6  # of what succeeds most times
REPLAYS = 300
RETRY_S = 0.1  # of a call that was refused: more often the refusals take all of the processor
RATE = 200  # calls a second, where a case does not need to use up the log


class Wallet(cb.Instance):
    """An instance whose ledger's disk fails while the file @control says so: from @top on, by
    default the state."""

    top = None

    def __init__(self, **settings):
        self.mounted = None
        # A worker's patience is not what is tested here, and would only take time.
        super().__init__("cbdisk", settings=dict({"ledger_deadline_ms": 1500}, **settings))

    @property
    def control(self):
        return self.dir / "fault"

    def on_bad_disk(self):
        """The environment of a program for which the disk fails."""
        return dict(os.environ, LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "shim.so"),
                    FAULT_STATE=str(self.top or self.state), FAULT_CONTROL=str(self.control),
                    # A program built with it insists on its runtime being loaded first.
                    ASAN_OPTIONS=":".join([os.environ.get("ASAN_OPTIONS", ""),
                                           "verify_asan_link_order=0"]))

    def ledger_start(self):
        self.ledger = cb.Child([cb.find_program("creditbridge-ledger"), "--config", self.config],
                               self.logs / "ledger.log", env=self.on_bad_disk())

    def fail(self, text):
        """From now on the disk fails as @text says (shim.c); "": it does no longer."""
        if not text:
            self.control.unlink(missing_ok=True)
            return
        new = self.control.with_suffix(".new")
        new.write_text(text)
        new.rename(self.control)

    def status(self):
        return self.ctl_json("status")

    def halted(self):
        """Returns True if the ledger is halted, and False if it did not answer: between two engines
        a command may find no engine in time."""
        done = self.ctl_run("--json", "status")
        return done.returncode == 0 and json.loads(done.stdout)["halted"]

    def log(self):
        return self.ledger.log.read_text()


class Bench:
    """A wallet behind lighttpd with the load's clients, and a player that is not the load's."""

    def __init__(self, name, wallet, rate=None):
        self.wallet = wallet
        self.dealers = [wallet.dealer_add(f"dealer-{n}") for n in range(load.DEALERS)]
        wallet.player_add("dealer-0", "probe")
        self.server = cb.Lighttpd(wallet, processes=4)
        self.load = load.Load(wallet, self.server, self.dealers, f"{SEED}/{name}", rate=rate, retry_s=RETRY_S)
        self.probes = 0
        self.sum = 0

    def read(self, **words):
        return cb.call(self.server, "POST", BALANCE, {
            "user_id": "probe", "request_timestamp": cb.now_ms()}, dealer=self.dealers[0], **words)

    def move(self, key=None, **words):
        """A transfer in of 1, which is counted when it is done."""
        self.probes += key is None
        answer = cb.call(self.server, "POST", TRANSFER_IN, {
            "user_id": "probe", "amount": 1, "request_transaction_id":
            key or f"probe-{self.probes}"}, dealer=self.dealers[0], **words)
        if answer.status == 200 and not answer.replayed:
            self.sum += 1
        return answer

    def moves(self):
        return self.move().status == 200

    def prove(self, what):
        """Ends the load; nothing may be lost or doubled."""
        self.load.stop()
        self.load.prove(REPLAYS)
        print(f"# {what}: acknowledged {len(self.load.transfers())}, repeats "
              f"{self.load.repeats()}, lost 0, doubled 0", flush=True)


def unavailable(answer, *ids):
    check(answer.status == 503 and answer.json["id"] in ids, f"not 503 {ids}: {answer}")
    check(int(answer.header("Retry-After")) > 0, f"Retry-After: {answer.headers}")


def wait_back(bench, since):
    """Waits until transfers are done again; how long after @since."""
    wait_until(bench.moves, WAIT_S, "the first transfer after that")
    took = time.monotonic() - since
    check(took <= BACK_S, f"the first transfer was done {took:.1f} s later")
    return took


# -- the disk fails

def test_sync_fails():
    with Wallet() as wallet:
        bench = Bench("sync", wallet, RATE)
        refused = wallet.ctl_run("resume", "--reason", "nothing is wrong")
        equal(refused.returncode, 1, f"resume of a ledger that serves: {refused.stderr}")
        bench.load.start()
        time.sleep(1)
        equal(bench.move("kept").status, 200, "a transfer before")
        parent = wallet.ledger.pid
        wallet.fail("sync EIO\n")
        answer = bench.move("during", timeout=10)
        check(answer.status in (500, 503), f"a transfer on a failed disk: {answer}")
        wait_until(wallet.halted, WAIT_S, "the halt", ASK_S)
        check("engine_ended exit=74 " in wallet.log(), "the engine's exit code")
        equal(wallet.status()["parent_pid"], parent, "the parent")
        # The disk seems well again, which proves nothing about what it has kept.
        wallet.fail("")
        halted(bench)
        equal(wallet.stop(), 0, "exit code after SIGTERM while halted")
        wallet.start()
        halted(bench)
        os.kill(wallet.ledger.pid, signal.SIGKILL)
        wallet.ledger.process.wait(WAIT_S)
        wallet.start()
        halted(bench)
        # Resumed too early it halts again.
        wallet.fail("sync EIO\n")
        equal(wallet.ctl_run("resume", "--reason", "hope").returncode, 1, "resumed too early")
        wait_until(lambda: wallet.log().count("engine_ended exit=74 ") == 2, WAIT_S,
                   "the next halt")
        wait_until(wallet.halted, WAIT_S, "the next halt", ASK_S)
        wallet.fail("")
        resumed = time.monotonic()
        wallet.ctl("resume", "--reason", "disk replaced")
        wait_back(bench, resumed)
        check(not (wallet.state / "halted").exists(), "the marker is still there")
        check(not wallet.status()["halted"], "status says halted")
        row = wallet.ctl_json("audit", "--limit", "1")["audit"][0]
        equal((row["action"], row["reason"]), ("resume", "disk replaced"), "audit")
        equal(bench.move("during").status, 200, "the transfer that failed")
        equal(bench.move("kept").replayed, True, "the transfer before")
        equal(bench.read().json["balance"], bench.move("sum").json["before_balance"], "balance")
        bench.prove("sync fails")


def halted(bench):
    """Nothing is served until an operator says so."""
    begun = time.monotonic()
    check((bench.wallet.state / "halted").exists(), "no marker in the state directory")
    wait_until(bench.wallet.halted, WAIT_S, "the halt in status", ASK_S)
    settled = time.monotonic()
    while time.monotonic() < max(begun + 1, settled + 0.7):
        unavailable(bench.move("halted"), "service_unavailable")
        unavailable(bench.read(), "service_unavailable")
        time.sleep(0.05)
    # By when they were asked for: a client may come late to read what was sent before.
    late = [when for when in bench.load.asked() if when > settled]
    equal(late, [], "answers while halted")
    equal(bench.wallet.ctl_run("player", "show", "dealer-0", "probe").returncode, 75,
          "creditbridgectl's exit code while halted")


def test_parent_dies_first():
    """The engine that met the failure marks it itself; where its disk does not keep the mark, beside
    the sockets."""
    with Wallet() as wallet:
        bench = Bench("parent", wallet, RATE)
        bench.load.start()
        for lost in (False, True):
            time.sleep(1)
            os.kill(wallet.ledger.pid, signal.SIGSTOP)
            wallet.fail("sync EIO\n")
            for place in (wallet.sockets, wallet.state):
                wait_until((place / "halted").exists, WAIT_S, f"the mark in {place}")
            os.kill(wallet.ledger.pid, signal.SIGKILL)
            wallet.ledger.process.wait(WAIT_S)
            check("engine_ended exit=74 " not in wallet.log(), "the parent noted it")
            wallet.fail("")
            if lost:
                (wallet.state / "halted").unlink()
            wallet.start()
            if lost:
                check("/run/halted)" in wallet.ctl_run("doctor").stdout, "doctor while halted")
                (wallet.state / "halted").touch()
            halted(bench)
            wallet.ctl("resume", "--reason", "disk replaced")
            wait_back(bench, time.monotonic())
            check(not (wallet.state / "halted").exists(), "the marker is still there")
            check(not (wallet.sockets / "halted").exists(), "the marker beside the sockets is")
        bench.prove("parent dies first")


def test_slow_mark():
    """While the engine makes the mark of a halt, nothing else ends it in a way that does not halt
    the ledger: not a log that cannot be written, not the supervisor's end. If it is killed, no
    engine that serves follows."""
    def log_fails(bench):
        bench.wallet.fail("write EROFS\ntop SLOW\n")
        answer = bench.move("log", timeout=10)
        check(answer.status in (500, 503), f"a transfer that the log does not take: {answer}")

    def parent_dies(bench):
        wallet = bench.wallet
        engines = wallet.engine_pids()
        os.kill(wallet.ledger.pid, signal.SIGKILL)
        wallet.ledger.process.wait(WAIT_S)
        # The supervisor's end stops the engine, which first makes its mark.
        pids_end(engines, WAIT_S, ())
        wallet.fail("")
        wallet.start()

    def engine_dies(bench):
        pids_end(bench.wallet.engine_pids(), WAIT_S, (signal.SIGKILL,))

    with Wallet(checkpoint_interval_ms=300) as wallet:
        bench = Bench("mark", wallet)
        # If the test is slow, the engine has ended by itself before it is killed.
        for what, codes in ((log_fails, ([74],)), (parent_dies, ([],)), (engine_dies, ([-1], [74]))):
            equal(bench.move().status, 200, "a transfer before")
            wallet.fail("table EIO\ntop SLOW\n")
            ends = wallet.log().count("engine_ended")
            # A checkpoint that comes before it may be what meets the failure.
            known = bench.move(what.__name__).status == 200
            wait_until(lambda: (wallet.sockets / "halted").exists(), WAIT_S, "the mark")
            what(bench)
            wait_until(wallet.halted, WAIT_S, "the halt", ASK_S)
            wallet.fail("")
            told = list(map(int, re.findall(r"engine_ended exit=(-?\d+) ", wallet.log())))[ends:]
            check(told in codes, f"{what.__name__}: how engines ended: {told}")
            halted(bench)
            wallet.ctl("resume", "--reason", "disk replaced")
            wait_back(bench, time.monotonic())
            equal(bench.move(what.__name__).replayed or not known, True, "a transfer that was done")


def test_other_failures():
    """A write that fails, and a sync that fails with another error: what was to be kept may be
    lost all the same."""
    with Wallet() as wallet:
        bench = Bench("write", wallet, RATE)
        bench.load.start()
        for text in ("write EIO\n", "sync ENOSPC\n"):
            time.sleep(1)
            wallet.fail(text)
            wait_until(lambda: (wallet.state / "halted").exists(), WAIT_S,
                       f"{text.strip()}: the halt")
            wallet.fail("")
            halted(bench)
            wallet.ctl("resume", "--reason", "cable")
            wait_back(bench, time.monotonic())
        equal(wallet.log().count("event=engine_ended"), 4, "engines that ended")
        bench.prove("write fails")


# -- the disk is full

def full_by_shim(name, text):
    grows = "GROW" in text
    with Wallet() as wallet:
        bench = Bench(name, wallet, None if grows else RATE)
        bench.load.start()
        time.sleep(1)
        # Using up the log takes long, and that space comes back twice the other case shows.
        for _ in range(1 if grows else 2):
            wallet.fail(text)
            answers = []
            end = time.monotonic() + 2
            limit = end + 40  # for the log that is there to be used up
            while time.monotonic() < end or (answers[-1].status == 200
                                             and time.monotonic() < limit):
                answers.append(bench.move(timeout=10))
                time.sleep(0.02)
            failed = [answer for answer in answers if answer.status != 200]
            # A log that is there already takes some more.
            check(failed and (grows or len(failed) == len(answers)), f"answers: {answers}")
            for answer in failed:
                # 500: the outcome is unknown; a call with the same id returns it later.
                if answer.status != 500:
                    unavailable(answer, "storage_full", "service_unavailable")
            check(not (wallet.state / "halted").exists(), "a full disk is no failed one")
            wallet.fail("")
            since = time.monotonic()
            took = wait_back(bench, since)
            equal(bench.read().status, 200, "reads")
            print(f"# {name}: back after {took:.2f} s", flush=True)
        bench.prove(name)


def test_full():
    full_by_shim("full", "write ENOSPC\n")


def test_full_growing():
    full_by_shim("full for what grows", "write ENOSPC GROW\n")


def engine_ends(wallet, how):
    """Returns [(time in seconds, seconds lived)] of the engines that the log says ended so."""
    return [(datetime.datetime.fromisoformat(when).timestamp(), int(lived_ms) / 1000)
            for when, lived_ms in re.findall(
                rf"^(\S+)Z .* event=engine_ended {how} .*lived_ms=(\d+)$", wallet.log(), re.MULTILINE)]


def test_pauses_between_starts():
    """A recovery that finds no space is tried again less and less often, also one that takes its time."""
    with Wallet() as wallet:
        bench = Bench("pauses", wallet)
        equal(bench.move("kept").status, 200, "a transfer before")
        wallet.fail("write ENOSPC\nsync SLOW\n")
        os.kill(wallet.status()["pid"], signal.SIGKILL)
        wait_until(lambda: wallet.log().count("event=engine_ended exit=73 ") >= 7, WAIT_S,
                   "engines that find no space")
        ended = engine_ends(wallet, "exit=73")
        check(min(lived for _, lived in ended) >= 0.25, f"they take no time: {ended}")
        pauses = [after - before for (before, _), (after, _) in zip(ended, ended[1:])]
        check(pauses[5] > pauses[0] + 0.5, f"pauses {pauses}")
        wallet.fail("")
        wait_back(bench, time.monotonic())
        equal(bench.move("kept").replayed, True, "the transfer before")
        wallet.ctl("check")


# Kind of file system -> how one of so many MiB is mounted on @path; ext4 in the file @image beside it,
# as of a loop device. Of ext4 nothing is reserved for root, which runs the ledger here.
MOUNTS = {
    "tmpfs": ("mount -t tmpfs -o size={mib}m,mode=0700 tmpfs {path}",),
    "ext4": ("truncate -s {mib}M {image}", "mkfs.ext4 -q -F -m 0 -J size=4 {image}",
             "mount -o loop {image} {path}", "chmod 0700 {path}", "rmdir {path}/lost+found"),
}


class Mount:
    """A small file system on the state directory of a wallet, which must not be initialised."""

    def __init__(self, path, mib, kind):
        self.path = path
        self.image = path.with_name("disk.image")
        if os.geteuid() != 0:
            raise cb.Skip("only root can mount a small file system")
        path.mkdir(mode=0o700)
        for command in MOUNTS[kind]:
            words = command.format(mib=mib, path=path, image=self.image).split()
            try:
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                reason = done.stderr.strip() if done.returncode else ""
            except FileNotFoundError:
                reason = f"{words[0]} is not installed"
            if reason:
                subprocess.run(["umount", path], capture_output=True, check=False)
                path.rmdir()
                self.image.unlink(missing_ok=True)
                raise cb.Skip(f"a small file system of kind {kind} cannot be mounted: {reason}")

    def free(self):
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def fill(self, leave):
        """Leaves at most @leave bytes."""
        self.settle()
        with open(self.path / "filler", "ab", buffering=0) as filler:
            piece = MIB
            while piece >= 4096 and self.free() > leave:
                try:
                    filler.write(bytes(max(min(self.free() - leave, piece), 4096)))
                except OSError:
                    piece //= 2  # Full: the ledger was faster, or a block is needed for names.

    def empty(self):
        (self.path / "filler").unlink(missing_ok=True)
        self.settle()

    def settle(self):
        """A journal gives blocks back when it has the unlinking of their files on the disk."""
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)

    def close(self):
        subprocess.run(["umount", "--lazy", self.path], check=True)
        self.image.unlink(missing_ok=True)


class MountedWallet(Wallet):
    def __init__(self, mib, kind="tmpfs", **settings):
        self.mount = None
        super().__init__(log_keep_mib=0, ledger_cache_mib=16, **settings, mount=(mib, kind))

    def write_config(self, settings):
        # The first moment at which the directory is known and the state not yet made.
        settings = dict(settings)
        try:
            self.mount = Mount(self.state, *settings.pop("mount"))
        except cb.Skip:
            self.dir_remove()
            raise
        super().write_config(settings)

    def dir_remove(self):
        for path in (self.sockets, self.logs, self.dir):
            path.rmdir()

    def close(self):
        super().close()
        if self.mount and not os.environ.get("CB_KEEP"):
            self.mount.close()
            self.mount = None
            shutil.rmtree(self.dir, ignore_errors=bool(os.environ.get("CB_KEEP")))


def refuses(bench):
    """Whether writes are refused for want of space, of which no more than 22 MiB are left: the
    ledger's checkpoints remove old log."""
    bench.wallet.mount.fill(22 * MIB)
    answer = bench.move()
    return answer.status == 503 and answer.json["id"] == "storage_full"


def inquires(wallet, count=1):
    """The ledger lets a worker ask the dealer `lazy` for a balance, @count times; the events."""
    worker = Worker(wallet.sockets / "edge.sock")
    events = []
    for _ in range(count):
        answer = unpack("player_balance", worker.ask("player_balance", pack(
            "player_balance", player=player_ref("lazy", "ann"))))
        equal(refusal_of(answer), "", "an inquiry of a balance")
        send = grant_of(answer)
        equal(worker.end(send, "lazy", SUCCESS, balance=1), "", "the inquiry's end")
        events.append(send.event)
    worker.close()
    return events


def killed_on_full_disk(bench):
    """The disk is full to the last byte, and the engine ends: a checkpoint that has to write just then ends it
    (exit 72), otherwise it is killed."""
    wallet = bench.wallet
    ended = wallet.log().count("event=engine_ended")
    pid = wallet.status()["pid"]
    wait_until(lambda: refuses(bench), WAIT_S, "the refusal")
    wallet.mount.fill(0)
    time.sleep(1)
    with contextlib.suppress(ProcessLookupError):
        # Space that a checkpoint freed since is filled as well. No checkpoint follows.
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: process_stopped(pid) or process_gone(pid), WAIT_S, "the engine stands still or has ended")
        wallet.mount.fill(0)
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: bench.read().status == 200, WAIT_S, "reads after the restart")
    ends = re.findall(r"event=engine_ended exit=(-?\d+) signal=(\d+)", wallet.log())[ended:]
    check(ends[:1] in ([("72", "0")], [("-1", "9")]), f"how the engine ended: {ends}")
    unavailable(bench.move(), "storage_full")


def low_water(kind):
    """The mark is above what Berkeley DB needs: it never sees a full disk."""
    # As the defaults: the deleted ballast does not lift the free space above the mark by itself.
    # Patience costs nothing where all is answered at once, and a machine that stalls is not taken
    # for a full disk.
    with MountedWallet(128, kind, disk_low_water_mib=24, disk_ballast_mib=16,
                       ledger_deadline_ms=5000) as wallet:
        bench = Bench(f"low water on {kind}", wallet)
        equal((wallet.state / "ballast").stat().st_size, 16 * MIB, "the ballast")
        equal(bench.move("before").status, 200, "a transfer before")
        wallet.dealer_add("lazy", "--url", "http://127.0.0.1:1", "--allow-http", mode="seamless")
        wallet.player_add("lazy", "ann")
        events = []
        bench.load.start()
        pid = wallet.status()["pid"]
        for _ in range(2):
            time.sleep(1)
            wait_until(lambda: refuses(bench), WAIT_S, "the first refusal")
            for _ in range(20):
                wallet.mount.fill(22 * MIB)
                unavailable(bench.move(), "storage_full")
                equal(bench.read().status, 200, "reads go on")
                events += inquires(wallet, 30)  # more than a block of ids in all
            equal(bench.move("before").replayed, True, "an answer given before is repeated")
            check(wallet.status()["storage_low"], "status: storage_low")
            wallet.mount.empty()
            wait_back(bench, time.monotonic())
            check(not wallet.status()["storage_low"], "status: storage_low")
        equal(wallet.status()["pid"], pid, "the engine went on")
        # Its recovery is given the ballast. One after a checkpoint may need no space: another try.
        for _ in range(TRIES):
            killed_on_full_disk(bench)
            if "ballast_dropped" in wallet.log():
                break
            wallet.mount.empty()
            wait_back(bench, time.monotonic())
        check("ballast_dropped" in wallet.log(), "the ballast was not needed")
        events += inquires(wallet)
        equal(events, sorted(set(events)), "events of inquiries")
        wallet.mount.empty()
        wait_back(bench, time.monotonic())
        bench.prove(f"low water on {kind}")


def test_low_water():
    """On ext4, whose journal gives blocks back late; where none can be mounted, on tmpfs."""
    try:
        low_water("ext4")
    except cb.Skip:
        low_water("tmpfs")


def test_really_full():
    """Without a mark: Berkeley DB meets the end of the disk."""
    with MountedWallet(64, disk_low_water_mib=0, disk_ballast_mib=8) as wallet:
        bench = Bench("really full", wallet)
        check((wallet.state / "ballast").exists(), "the ballast")
        bench.load.start()
        time.sleep(1)
        wallet.mount.fill(0)
        # The last log file is zero-filled or not; once it is used up there is no more.
        wait_until(lambda: bench.move(timeout=10).status != 200, 60, "the end of the disk")
        end = time.monotonic() + 2
        limit = time.monotonic() + WAIT_S
        while time.monotonic() < end or ("ballast_dropped" not in wallet.log()
                                         and time.monotonic() < limit):
            wallet.mount.fill(0)  # The space of the ballast is filled as well.
            answer = bench.move(timeout=10)
            if answer.status not in (200, 500):
                unavailable(answer, "storage_full", "service_unavailable")
            time.sleep(0.05)
        check("ballast_dropped" in wallet.log(), "the ballast was not given up")
        # It may be about to end by itself.
        pids_end(wallet.engine_pids(), WAIT_S, (signal.SIGKILL,))
        time.sleep(0.5)
        wallet.mount.empty()
        took = wait_back(bench, time.monotonic())
        print(f"# really full: back after {took:.2f} s", flush=True)
        bench.prove("really full")


# -- a commit that takes half a second

class Racing:
    """A bet by one worker and its result by another, while the disk keeps nothing sooner than half a
    second after it was asked to."""

    def __init__(self, wallet, casino_id):
        self.wallet = wallet
        self.casino_id = casino_id
        self.frames = {}  # by game: a worker that repeats a call sends the same bytes, its sender too
        self.open()

    def open(self):
        self.better, self.settler = (Worker(self.wallet.sockets / "edge.sock") for _ in range(2))

    def close(self):
        self.better.close()
        self.settler.close()

    def send(self, game):
        player = player_ref(self.casino_id, "ann")
        if game not in self.frames:
            self.frames[game] = (
                request("bet_place", bet_payload("slots", player, game, 10 * UNITS,
                                                 reference=f"bet-{game}")),
                request("round_settle", settle_payload("slots", player, game, WIN, 30 * UNITS,
                                                       reference=f"result-{game}")))
        bet, result = self.frames[game]
        self.better.send(bet)
        self.settler.send(result)

    def play(self, game):
        """The result is repeated until it counts, as a game server would; how often it came too early,
        and the event of its callback."""
        self.send(game)
        bet = placed(self.better.frame().payload)
        result, early = settled(self.settler.frame().payload), 0
        # While the dealer is asked, the bet is pending. The answer to a repetition would say so.
        equal(bet.refusal, "bet_in_progress" if bet.send.event else "", f"{game}: the bet")
        while result.refusal:
            # The bet is not there yet, or the dealer has not answered.
            check(result.refusal in ("game_not_found", "bet_not_found", "bet_in_progress"), f"{result}")
            check(early < 3, f"{game}: the result is refused again and again: {result}")
            early += 1
            if bet.send.event and early == 1:
                equal(self.better.end(bet.send, self.casino_id, SUCCESS), "", f"{game}: the bet's end")
            result = self.settler.settle("slots", self.casino_id, "ann", game, WIN, 30,
                                          reference=f"result-{game}")
        again = self.settler.settle("slots", self.casino_id, "ann", game, WIN, 30,
                                    reference=f"result-{game}")
        equal((again.refusal, again.transaction_id, again.event),
              ("", result.transaction_id, result.event), f"{game}: the same result again")
        return early, result.event


def test_late_commit():
    with Wallet(ledger_deadline_ms=6000) as wallet:
        wallet.dealer_add("bank")
        wallet.dealer_add("lazy", "--url", "http://127.0.0.1:1", "--allow-http", mode="seamless")
        wallet.ctl("client", "add", "slots")
        for casino_id in ("bank", "lazy"):
            wallet.player_add(casino_id, "ann")
        wallet.ctl("player", "adjust", "bank", "ann", 1000, "--reason", "stakes")
        rounds, events = 3, set()
        for casino_id in ("bank", "lazy"):
            racing = Racing(wallet, casino_id)
            wallet.fail("sync LATE\n")
            early = 0
            for number in range(rounds):
                more, event = racing.play(f"{casino_id}-{number}")
                early += more
                events.add(event)
            check(early >= (rounds if casino_id == "lazy" else 0), f"{casino_id}: {early} were early")
            # The engine dies with both under way: each is sent again by a worker that waits for it.
            racing.send(f"{casino_id}-killed")
            pids_end(wallet.engine_pids(), WAIT_S, (signal.SIGKILL,))
            racing.close()
            wallet.fail("")
            wait_until(wallet.answering, WAIT_S, "the next engine")
            racing.open()
            events.add(racing.play(f"{casino_id}-killed")[1])
            racing.close()
        # A transfer wallet's results have no callback: event 0.
        equal(len(events), 1 + rounds + 1, f"callbacks: {events}")
        equal(wallet.ctl_json("player", "show", "bank", "ann")["balance"],
              1000 + (rounds + 1) * 20, "balance")
        results = wallet.ctl_json("callback", "list", "--kind", "betting-result", "--limit", 0)
        equal({row["event"] for row in results["callbacks"]}, events - {0}, "callbacks that are kept")
        equal(wallet.ctl_run("check").returncode, 0, "creditbridgectl check")


# -- killed again while it recovers

def test_killed_in_recovery():
    # Recovery has everything to do: no checkpoint but its own.
    with Wallet(checkpoint_interval_ms=3600000, checkpoint_kib=1048576) as wallet:
        bench = Bench("recovery", wallet, 2 * RATE)
        chance = random.Random(f"{SEED}/recovery")
        bench.load.start()
        killed = []
        for _ in range(4):
            # An engine that serves for a while: the back-off of the parent starts anew. It would
            # else grow to 5 s when a slow machine is late with the last engine of a round.
            wait_until(bench.moves, WAIT_S, "a transfer between two rounds")
            time.sleep(1)
            for _ in range(4):
                pid = wait_until(lambda: [p for p in wallet.engine_pids() if p not in killed],
                                 WAIT_S, "another engine", interval=0.001)[0]
                killed.append(pid)
                time.sleep(chance.uniform(0, 0.03))
                os.kill(pid, signal.SIGKILL)
        wait_back(bench, time.monotonic())
        log = wallet.log()
        unready = [pid for pid in killed if f"ledger_ready pid={pid} " not in log]
        print(f"# killed {len(killed)} engines, {len(unready)} of them before they were ready")
        check(len(unready) >= 3, f"only {len(unready)} engines were killed in recovery")
        bench.prove("killed in recovery")


def test_pauses_after_slow_recoveries():
    """Engines that end before they serve are started less and less often, also when they take their
    time."""
    with Wallet() as wallet:
        bench = Bench("recoveries", wallet)
        equal(bench.move("kept").status, 200, "a transfer before")
        wallet.fail("sync SLOW\n")
        killed = wallet.engine_pids()
        os.kill(killed[0], signal.SIGKILL)
        for _ in range(6):
            pid = wait_until(lambda: [p for p in wallet.engine_pids() if p not in killed], WAIT_S,
                             "another engine", interval=0.001)[0]
            killed.append(pid)
            time.sleep(0.3)
            os.kill(pid, signal.SIGKILL)
        wallet.fail("")
        wait_back(bench, time.monotonic())
        ended = engine_ends(wallet, "exit=-1 signal=9")
        pauses = [after - lived - before for (before, _), (after, lived) in zip(ended, ended[1:])]
        equal([pid for pid in killed[1:] if f"ledger_ready pid={pid} " in wallet.log()], [],
              "engines that served")
        check(len(pauses) == 6 and pauses[5] > pauses[0] + 1, f"pauses {pauses}")
        equal(bench.move("kept").replayed, True, "the transfer before")


# -- a file system that cannot sync directories, and one that fails to

def test_directories():
    """EINVAL of a directory's sync means that there is no better way: all is done. Another error is
    one, also of the directory that holds the state."""
    with Wallet() as wallet:
        wallet.stop()
        wallet.top = wallet.dir
        wallet.fail("directory EINVAL\n")
        wallet.start()
        bench = Bench("directories", wallet)
        bench.load.start()
        wait_until(lambda: len(bench.load.transfers()) > 100, WAIT_S, "transfers")
        wallet.ctl("backup", wallet.dir / "backup")
        pids_end(wallet.engine_pids(), WAIT_S, (signal.SIGKILL,))
        wait_back(bench, time.monotonic())
        check("engine_ended exit=74 " not in wallet.log(), "a disk that failed")
        bench.prove("directories")
        # A state is made, or not, with names that are kept.
        other = wallet.dir / "other"
        wallet.write_config({"state_directory": str(other)})
        for text, code, why in (("top EIO\n", 1, "cannot be initialised: Input/output error"),
                                ("directory EIO\n", 1, "cannot be initialised: Input/output error"),
                                ("directory EINVAL\n", 0, "")):
            wallet.fail(text)
            done = subprocess.run(wallet.ctl_argv("init"), env=wallet.on_bad_disk(), text=True,
                                  capture_output=True, timeout=60, check=False)
            check(done.returncode == code and why in done.stderr, f"{text}: {done}")
            equal((other / "installation").exists(), not code, f"{text}: initialised")


CASES = [
    ("fdatasync fails: halted until resume", test_sync_fails),
    ("fdatasync fails, and the parent dies before it notes that", test_parent_dies_first),
    ("the mark of a halt takes long", test_slow_mark),
    ("write fails, sync fails otherwise", test_other_failures),
    ("no space for any write", test_full),
    ("no space for what makes a file grow", test_full_growing),
    ("no space, and a slow recovery", test_pauses_between_starts),
    ("a small file system: low water, ballast", test_low_water),
    ("a small file system: really full", test_really_full),
    ("a bet's commit takes half a second, its result comes meanwhile", test_late_commit),
    ("killed in recovery", test_killed_in_recovery),
    ("killed in slow recoveries", test_pauses_after_slow_recoveries),
    ("directories that cannot be synced", test_directories),
]

# These are run when a word names them.
MORE = [
    ("a small tmpfs: low water, ballast", lambda: low_water("tmpfs")),
]

if __name__ == "__main__":
    print(f"# SEED={SEED}", flush=True)
    wanted = sys.argv[1:]
    sys.exit(cb.run_cases([case for case in (CASES + MORE if wanted else CASES)
                           if not wanted or any(word in case[0] for word in wanted)], seconds=150))
