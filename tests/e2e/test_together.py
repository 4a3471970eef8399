#!/usr/bin/python3
"""Workers that serve together (--together, src/fcgi/shared_listener.h), each with a listening
socket of its own as mod_fcgid gives it: one answers for all, and whichever of them ends, no call
that a worker could accept is lost.
"""
import array
import collections
import concurrent.futures
import contextlib
import functools
import hashlib
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_fastcgi  # noqa: E402
from cb import Child, check, equal, wait_until  # noqa: E402
from cb_http import TRANSFER_IN, now_ms, sign  # noqa: E402
from cb_process import PATIENCE  # noqa: E402
from cb_tap import Skip, run_cases  # noqa: E402

GROUP = 54321  # of no user
WAIT_S = 10
# By fcgi/handoff.h and fcgi/shared_listener.c a worker serves by itself after 7.
HANG_S = 20
FOLLOWERS = 20
STRANGERS = 200
CALLERS = 4
PLAYERS = 3
SECONDS = 2
CALLS_S = 30  # for a hundred calls, on a machine that is slow
USAGE = 2


class Workers:
    """A wallet, its workers by name, and one log of all."""

    def __init__(self):
        self.wallet = cb.Instance("cbtogether", settings={"log_level": "info"})
        self.dealer = self.wallet.dealer_add("dealer")
        for number in range(PLAYERS):
            self.wallet.player_add("dealer", f"player-{number}")
        self.log = self.wallet.logs / "together.log"
        self.children = {}
        self.started = 0
        self.numbers = itertools.count()

    def socket(self, name):
        return self.wallet.dir / f"{name}.sock"

    def start(self, *names):
        for name in names:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(self.socket(name)))
                listener.listen(64)
                self.children[name] = Child(
                    [self.wallet.worker, "--config", self.wallet.config, "--together", "--threads",
                     8, "--exclusive"], self.log, stdin=listener)
            # The first worker leads.
            self.started += 1
            wait_until(lambda: len(self.lines("start")) == self.started
                       and (self.lines("lead") or "serves by itself" in self.log.read_text()),
                       WAIT_S, f"the start of {name}")

    def lines(self, event):
        """The pids that logged @event."""
        pattern = re.compile(rf"\[(\d+)\]: level=\w+ event={event} ")
        return [int(pid) for pid in pattern.findall(self.log.read_text())]

    def leader(self):
        """The name of the worker that came to lead last."""
        pids = {child.pid: name for name, child in self.children.items()}
        return pids[self.lines("lead")[-1]]

    def transfer(self, name, number=None, timeout=WAIT_S):
        number = next(self.numbers) if number is None else number
        body = json.dumps({"request_transaction_id": f"t-{number}", "user_id": f"player-{number % PLAYERS}",
                           "amount": 1, "timestamp": now_ms()}).encode()
        headers = [("x-casino-id", self.dealer.casino_id),
                   ("x-casino-signature", sign(self.dealer.key, body))]
        return cb_fastcgi.request(self.socket(name), TRANSFER_IN, headers, body, timeout)

    def moves(self, name, **more):
        answer = self.transfer(name, **more)
        equal(answer.status, 200, f"a transfer by {name}'s socket: {answer}")

    def moves_at_last(self, name):
        """As a caller on a busy machine: 503 means that the same call is to be repeated."""
        number, until = next(self.numbers), time.monotonic() + WAIT_S
        while (answer := self.transfer(name, number)).status == 503 and time.monotonic() < until:
            time.sleep(0.1)
        equal(answer.status, 200, f"a transfer by {name}'s socket: {answer}")

    def close(self):
        for child in self.children.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGCONT)
            child.stop()
        equal(self.wallet.ctl_run("check").returncode, 0, "exit code of creditbridgectl check")
        self.wallet.close()


@contextlib.contextmanager
def workers(*names):
    made = Workers()
    try:
        made.start(*names)
        yield made
    finally:
        made.close()


class Callers:
    """Transfers one after the other by sockets that are there throughout; how each ended."""

    def __init__(self, made, names, once=False):
        self.once = once
        self.ends = collections.Counter()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.call, args=(made, name))
                        for name in names for _ in range(CALLERS)]
        for thread in self.threads:
            thread.start()

    def call(self, made, name):
        while not self.stopping.is_set():
            try:
                end = made.transfer(name).status
            except OSError as error:
                end = f"{name}: {error!r}"
            self.ends[end] += 1
            if self.once:
                break

    def stop(self):
        if not self.once:
            self.stopping.set()
        for thread in self.threads:
            thread.join(2 * WAIT_S)
        return self.ends


def one_serves_for_all():
    with workers("a", "b", "c", "d") as made:
        for name in "abcd" * 3:
            made.moves(name)
        equal(made.lines("lead"), [made.children["a"].pid], "who leads")
        equal(set(made.lines("request")), {made.children["a"].pid}, "who answers")


def another_leads_when_the_leader_is_killed():
    with workers("a", "b", "c", "d") as made:
        for number in range(3):
            leader = made.leader()
            for name in made.children:
                made.moves(name)
            made.children.pop(leader).stop(signal.SIGKILL)
            begin = time.monotonic()
            for name in made.children:
                made.moves(name)
            check(time.monotonic() - begin < 2 * PATIENCE, "another one did not lead soon")
            equal(len(made.lines("lead")), number + 2, "how many have led")


def a_call_sent_again_is_told_the_truth():
    """The next leader knows the outcome of calls to the killed one."""
    with workers("a", "b") as made:
        moved = made.transfer("b", number=1)
        made.children.pop("a").stop(signal.SIGKILL)
        again = made.transfer("b", number=1)
        equal((again.status, again.replayed), (200, True), "a call sent again")
        equal(again.json, moved.json, "what it was answered")


def told_to_stop_the_leader_loses_no_call():
    with workers("a", "b", "c", "d") as made:
        callers = Callers(made, "d")
        try:
            # Another worker leads. The callers' socket stays open.
            while len(made.children) > 1 and made.leader() != "d":
                time.sleep(SECONDS / 4)
                known = len(made.lines("lead"))
                equal(made.children.pop(made.leader()).stop(), 0, "exit code of a leader")
                wait_until(lambda known=known: len(made.lines("lead")) > known, WAIT_S,
                           "another leader")
            wait_until(lambda: callers.ends[200] > 100, CALLS_S, "calls that are answered")
        finally:
            ends = callers.stop()
        equal(ends[200], sum(ends.values()), f"calls that were answered, of {ends}")


def a_follower_ends_and_the_others_go_on():
    for number, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)):
        with workers("a", "b", "c") as made:
            callers = Callers(made, "ac")
            its_own = Callers(made, "b")
            try:
                time.sleep(SECONDS / 4)
                equal(made.children.pop("b").stop(number), code, "exit code of the follower")
                time.sleep(SECONDS / 4)
            finally:
                ends = callers.stop()
                of_b = its_own.stop()
            # Refused, so that the web server tries another one, and never cut off.
            equal([end for end in of_b if end != 200 and "Refused" not in end], [],
                  "other ends of calls by the follower's socket")
            equal(ends[200], sum(ends.values()), f"calls that were answered, of {ends}")
            # A caller must not wait at a socket that no worker serves.
            try:
                answer = made.transfer("b")
                raise AssertionError(f"the socket of one that ended answers {answer}")
            except ConnectionRefusedError:
                pass
            rests(made.children["a"])


def rests(child):
    """A socket that was shut stays ready for ever: a worker that goes on polling it keeps a
    processor busy."""
    def used():
        return sum(map(int, pathlib.Path(f"/proc/{child.pid}/stat").read_text().split()[13:15]))
    before = used()
    time.sleep(0.5)
    busy = (used() - before) / os.sysconf("SC_CLK_TCK")
    check(busy < 0.25, f"the leader was busy for {busy} s of 0.5 s without a call")


def beside_a_leader_that_hangs():
    with workers("a", "b") as made:
        made.moves("b")
        made.children["a"].process.send_signal(signal.SIGSTOP)
        made.start("c")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(functools.partial(made.moves, timeout=HANG_S), "bc"))
        equal(made.log.read_text().count("serves by itself"), 2, "which log that they serve by themselves")
        # The leader reads the messages of both only now. Both serve by themselves by then, so it
        # must not take their sockets.
        made.children["a"].process.send_signal(signal.SIGCONT)
        for name in "abc" * 3:
            made.moves(name)
        made.children.pop("a").stop(signal.SIGKILL)
        for name in "bc" * 3:
            made.moves(name)


def all_are_told_to_stop_at_once():
    """As Apache does: if the leader is gone and the follower is to stop, the follower serves the
    calls that wait at its socket."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with workers("a", "b") as made:
            made.moves("b")
            follower = made.children["b"]
            follower.process.send_signal(signal.SIGSTOP)
            made.children.pop("a").stop(number)
            callers = Callers(made, "b", once=True)
            time.sleep(SECONDS / 4)
            follower.process.send_signal(signal.SIGTERM)
            follower.process.send_signal(signal.SIGCONT)
            ends = callers.stop()
            equal(made.children.pop("b").stop(), 0, "exit code of the follower")
            equal(ends, {200: CALLERS}, f"calls that waited, the leader ended by {number}")


def many_follow():
    """More followers than the leader reads at a time; later ones get the places of those that
    end."""
    with workers("a") as made:
        made.moves("a")
        leader = made.children["a"]
        alone = descriptors_kept(leader)
        for turn in range(2):
            names = [f"{turn}-{number}" for number in range(FOLLOWERS)]
            made.start(*names)
            with concurrent.futures.ThreadPoolExecutor(FOLLOWERS) as pool:
                list(pool.map(made.moves_at_last, names * 3))
            kept = descriptors_kept(leader)
            check(kept >= alone + 2 * FOLLOWERS, f"{kept} descriptors, {alone} without followers")
            for name in names:
                made.children.pop(name).process.kill()
            wait_until(lambda: descriptors(leader) <= alone, WAIT_S,
                       "the descriptors of those that ended")
        equal(len(made.lines("lead")), 1, "how many have led")


def descriptors(child):
    return len(os.listdir(f"/proc/{child.pid}/fd"))


def descriptors_kept(child):
    """Without a caller's connection, which is closed a moment after its answer."""
    def look():
        time.sleep(0.01)
        return descriptors(child)
    return min(look() for _ in range(20))


def handoff_digest(made):
    """The name of the leader's socket, as src/cmd/fcgi.c makes it; abstract names had all of it."""
    told = subprocess.run([made.wallet.worker, "--version"], capture_output=True, text=True,
                          check=True).stdout
    mount = f"wallet  {made.wallet.config}"
    data = told.split()[-1].encode() + b"\0" + struct.pack("i", os.getpid()) + mount.encode()
    return hashlib.sha256(data).hexdigest()


def handoff_of(made):
    return f"{made.wallet.sockets}/together/{handoff_digest(made)[:16]}"


@contextlib.contextmanager
def as_stranger():
    """As a group that no worker has, which stands for all that is not its own program."""
    if os.geteuid() != 0:
        raise Skip("only root can be another group")
    before = os.getegid()
    os.setegid(GROUP)
    try:
        yield
    finally:
        os.setegid(before)


def strangers_lead_nobody():
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as handoff, workers() as made:
        with as_stranger():
            handoff.bind(handoff_of(made))
            handoff.listen(16)
        made.start("a")
        made.moves("a")
        check("serves by itself" in made.log.read_text(), "a does not log that it serves by itself")
        handoff.setblocking(False)
        came = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                with handoff.accept()[0] as connection:
                    said = connection.recv(1, socket.MSG_DONTWAIT)
                    equal(said, b"", "what a worker says to a stranger")
                    came += 1
        check(came > 0, "the name is not the one that workers look for")
        # Nor for ever: once the stranger is gone the worker leads.
        handoff.close()
        wait_until(lambda: made.lines("lead"), HANG_S, "the worker leads after the stranger has gone")
        made.moves("a")
        equal(made.log.read_text().count("serves by itself"), 1, "lines of what is tried again")
        made.start("b")
        made.moves("b")
        equal(made.lines("request")[-1], made.children["a"].pid, "who serves for b")


def only_workers_enter_the_directory():
    """The directory is of the group of edge.sock, which workers have; names elsewhere are not used."""
    with workers("a") as made:
        handoff = pathlib.Path(handoff_of(made)).parent
        edge = (made.wallet.sockets / "edge.sock").stat()
        found = handoff.stat()
        equal((stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid),
              (0o1770, os.geteuid(), edge.st_gid), "mode, user and group of the directory")
        check(stat.S_ISSOCK(pathlib.Path(handoff_of(made)).stat().st_mode), "the leader's socket")
        check(f"@creditbridge.fcgi/{handoff_digest(made)}" not in
              pathlib.Path("/proc/net/unix").read_text(), "a name is in the abstract namespace")
        # A directory where others may write is not used.
        made.children.pop("a").stop()
        equal(list(handoff.iterdir()), [], "what a leader that stops leaves")
        handoff.chmod(0o777)
        made.start("b")
        made.moves("b")
        check("Operation not permitted" in made.log.read_text(), "b does not log why")
        handoff.chmod(0o1770)
        wait_until(lambda: len(made.lines("lead")) == 2, HANG_S, "b leads once the mode is right")


def names_of_the_dead_are_removed():
    """Of a leader that was killed, and of web servers that are gone."""
    with workers("a") as made:
        handoff = pathlib.Path(handoff_of(made))
        stale = handoff.with_name("0123456789abcdef")
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(stale))
        made.children.pop("a").stop(signal.SIGKILL)
        check(handoff.exists() and stale.exists(), "nothing is left to be removed")
        made.start("b")
        made.moves("b")
        wait_until(lambda: len(made.lines("lead")) == 2, WAIT_S, "b leads")
        equal([entry.name for entry in handoff.parent.iterdir()], [handoff.name], "names in the directory")


def it_is_tried_again():
    """Without the directory a worker serves by itself, and leads or follows once it is there."""
    with workers() as made:
        handoff = pathlib.Path(handoff_of(made)).parent
        handoff.rmdir()
        made.start("a", "b")
        for name in "ab":
            made.moves(name)
        equal(made.lines("lead"), [], "who leads")
        callers = Callers(made, "ab")
        handoff.mkdir()
        handoff.chmod(0o1770)
        wait_until(lambda: made.lines("lead"), HANG_S, "one leads")
        leader = made.children[made.leader()].pid
        wait_until(lambda: set(made.lines("request")[-20:]) == {leader}, HANG_S,
                   "the leader serves for the other one")
        ends = callers.stop()
        equal(set(ends), {200}, f"calls meanwhile: {ends}")


def strangers_follow_nobody():
    with workers("a") as made:
        made.moves("a")
        with socket.socket(socket.AF_UNIX) as own, socket.socket(socket.AF_UNIX) as connection:
            own.bind(str(made.socket("stranger")))
            own.listen(1)
            connection.settimeout(WAIT_S)
            with as_stranger():
                connection.connect(handoff_of(made))
            # The leader may have closed it by then.
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendmsg([b"f"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                             array.array("i", [own.fileno()]))])
                equal(connection.recv(1), b"", "what the leader says to a stranger")
        made.moves("a")


def nonsense_on_the_handoff_socket():
    """Of its own kind, even: nothing, a word without a socket, and what is no listening socket."""
    with workers("a") as made, socket.socket(socket.AF_UNIX) as no_listener:
        made.moves("a")
        before = descriptors_kept(made.children["a"])
        for said, rights in ((b"", ()), (b"f", ()), (b"x", (no_listener,)), (b"f", (no_listener,)),
                             (b"f", (no_listener, no_listener))):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(WAIT_S)
                connection.connect(handoff_of(made))
                control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                            array.array("i", [each.fileno() for each in rights]))] if rights else []
                if said:
                    connection.sendmsg([said], control)
                    equal(connection.recv(1), b"", f"the answer to {said} with {len(rights)} sockets")
            made.moves("a")
        wait_until(lambda: descriptors(made.children["a"]) <= before, WAIT_S,
                   "the descriptors that came")
        rests(made.children["a"])


def without_descriptors():
    """A leader that can accept no follower, or cannot receive its socket, does not spin and can
    accept followers later."""
    with workers("a") as made:
        made.moves("a")
        leader = made.children["a"]
        before = resource.prlimit(leader.pid, resource.RLIMIT_NOFILE)
        for name, limit in (("b", 3), ("c", descriptors_kept(leader))):
            resource.prlimit(leader.pid, resource.RLIMIT_NOFILE, (limit, before[1]))
            made.start(name)
            rests(leader)
            made.moves(name, timeout=HANG_S)
            equal(made.lines("request")[-1], made.children[name].pid, "who serves by itself")
        resource.prlimit(leader.pid, resource.RLIMIT_NOFILE, before)
        made.start("d")
        made.moves("d")
        equal(made.lines("request")[-1], leader.pid, "who serves for the next")


def strangers_keep_nobody_out():
    """A client that sends nothing holds no place and no descriptor."""
    with workers("a") as made, contextlib.ExitStack() as held:
        made.moves("a")
        before = descriptors_kept(made.children["a"])
        with as_stranger():
            for _ in range(STRANGERS):
                connection = held.enter_context(socket.socket(socket.AF_UNIX))
                connection.connect(handoff_of(made))
        made.start("b")
        made.moves("b")
        # But for b's two.
        wait_until(lambda: descriptors(made.children["a"]) <= before + 2, WAIT_S,
                   "the descriptors of strangers")
        made.children.pop("a").stop(signal.SIGKILL)
        made.moves("b")


def usage():
    made = Workers()
    try:
        right = ("--together", "--exclusive", "--threads", "8")
        for words in (right[:1], right[:2], (*right[:1], *right[2:]),
                      (*right, "--serve", "platform"), (*right, "--socket", made.socket("none"))):
            done = subprocess.run([made.wallet.worker, "--config", made.wallet.config,
                                   *map(str, words)], capture_output=True, text=True, timeout=WAIT_S,
                                  check=False)
            equal(done.returncode, USAGE, f"exit code of {words}: {done.stderr}")
            check("--together requires --serve=wallet" in done.stderr, f"{words}: {done.stderr}")
    finally:
        made.close()


if __name__ == "__main__":
    sys.exit(run_cases([(function.__name__.replace("_", " "), function) for function in (
        one_serves_for_all, another_leads_when_the_leader_is_killed,
        a_call_sent_again_is_told_the_truth, told_to_stop_the_leader_loses_no_call,
        a_follower_ends_and_the_others_go_on, all_are_told_to_stop_at_once, many_follow,
        beside_a_leader_that_hangs, strangers_lead_nobody, only_workers_enter_the_directory,
        names_of_the_dead_are_removed, it_is_tried_again, strangers_follow_nobody,
        without_descriptors, strangers_keep_nobody_out, nonsense_on_the_handoff_socket, usage)]))
