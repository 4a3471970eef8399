#!/usr/bin/python3
"""Where a request waits: perf, of the system calls of lighttpd, the workers and the ledger, while
connections move credit in. Prints how long the parts of a request's way take, and how that goes by what the
ledger's other threads write meanwhile.

Exits with 1 when any answer was an error or no request could be followed, with 77 when perf cannot be used
here.
"""
import argparse
import bisect
import collections
import os
import re
import statistics
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench import PACKAGES, install  # noqa: E402
from cells import Cell  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import Failure, Play  # noqa: E402
from report import aligned  # noqa: E402
from stands import Wallet  # noqa: E402

SKIP = 77
CALLS = ("enter_connect", "exit_accept4", "enter_sendto", "enter_close", "enter_write", "enter_pwrite64",
         "enter_fdatasync", "exit_fdatasync")
EVENTS = ",".join(f"syscalls:sys_{call}" for call in CALLS)
LINE = re.compile(r"\s*(\d+)/(\d+)\s+([\d.]+):\s+syscalls:sys_(\w+): (.*)")
EDGE_S = 1          # of the load, before perf looks on and behind it
LATE_MS = 1000      # nobody waits as long: an order that says so is not that of the calls
MOMENT_MS = 100
MANY = 30           # writes in a moment, from which on it counts as one with them
PERCENTS = (10, 50, 90, 99)

Call = collections.namedtuple("Call", "pid thread ms name words")
# What lighttpd, and the worker, did with one connection; ms, or None.
Request = collections.namedtuple("Request", "connected accepted answered taken")


def words_of(text):
    """{name: number} of `fd: 0x0000000b, count: 0x00002000`, and of a bare result."""
    pairs = (part.split(": ") for part in text.split(", ")) if ": " in text else [("", text)]
    return {name: int(value, 16) for name, value in pairs}


def read_calls(data):
    done = subprocess.run(["perf", "script", "-i", str(data), "-F", "pid,tid,time,event,trace"],
                          capture_output=True, text=True, check=True)
    found = [Call(int(pid), int(thread), float(seconds) * 1e3, name, words_of(words))
             for pid, thread, seconds, name, words in
             (match.groups() for match in map(LINE.match, done.stdout.splitlines()) if match)]
    return sorted(found, key=lambda call: call.ms)


def connections_of_server(calls):
    """{worker's address: [[connected, taken]]}: of connections that lighttpd made and closed."""
    made, up = collections.defaultdict(list), {}
    for call in calls:
        if call.name == "enter_connect":
            up[call.words["fd"]] = entry = [call.ms, None]
            made[call.words["uservaddr"]].append(entry)
        elif call.name == "enter_close" and call.words["fd"] in up:
            up.pop(call.words["fd"])[1] = call.ms
    return made


def connections_of_worker(calls):
    """[[accepted, answered]]"""
    taken, up = [], {}
    for call in calls:
        if call.name == "exit_accept4" and call.words[""] < 1 << 31:
            up[call.words[""]] = entry = [call.ms, None]
            taken.append(entry)
        elif call.name == "enter_sendto" and call.words["fd"] in up:
            entry = up[call.words["fd"]]
            entry[1] = entry[1] or call.ms
        elif call.name == "enter_close":
            up.pop(call.words["fd"], None)
    return taken


def matched(made, taken):
    """Requests, by the order of connecting, which is that of accepting; none where these are not of one
    socket. Where perf began to look on in between, the one order begins some places behind the other: by
    so many that none is taken before it was connected, and no more."""
    begins = [accepted for accepted, _ in taken]
    places = [bisect.bisect_left(begins, connected) for connected, _ in made]
    shift = max((place - at for at, place in enumerate(places) if place < len(taken)), default=0)
    found = [Request(connected, *taken[at + shift], closed) for at, (connected, closed) in enumerate(made)
             if 0 <= at + shift < len(taken)]
    if any(request.accepted - request.connected > LATE_MS for request in found):
        return []
    return [request for request in found if None not in request]


def requests_of(calls, server, workers):
    """Those that could be followed from end to end."""
    found = []
    taken = {pid: connections_of_worker([call for call in calls if call.pid == pid]) for pid in workers}
    for made in connections_of_server([call for call in calls if call.pid in server]).values():
        orders = [order for entries in taken.values() if (order := matched(made, entries))]
        if orders:
            found += min(orders, key=lambda order: statistics.median(
                request.accepted - request.connected for request in order))
    return found


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


STAGES = (("lighttpd connects .. the worker takes it", "connected", "accepted"),
          (".. the worker answers", "accepted", "answered"),
          (".. lighttpd has sent the answer on", "answered", "taken"),
          ("all of it", "connected", "taken"))


def stages(requests):
    lines = [["ms", *(f"p{percent}" for percent in PERCENTS)]]
    for name, begin, end in STAGES:
        spans = [getattr(request, end) - getattr(request, begin) for request in requests]
        lines.append([name, *(f"{percentile(spans, percent):.2f}" for percent in PERCENTS)])
    return aligned(lines, 1)


class Moment:
    """A tenth of a second."""

    def __init__(self):
        self.requests = []
        self.syncs = []
        self.writes = collections.Counter()

    def kind(self):
        if self.writes["enter_write"] >= MANY:
            return "a checkpoint's pages"
        return "a log file's zeros" if self.writes["enter_pwrite64"] >= MANY else "neither"


def moments_of(calls, requests, ledger):
    begin = calls[0].ms
    found = collections.defaultdict(Moment)
    for request in requests:
        found[int((request.connected - begin) // MOMENT_MS)].requests.append(
            request.taken - request.connected)
    of_ledger = [call for call in calls if call.pid in ledger]
    main = collections.Counter(call.thread for call in of_ledger
                               if call.name == "enter_fdatasync").most_common(1)[0][0]
    begun = None
    for call in of_ledger:
        moment = found[int((call.ms - begin) // MOMENT_MS)]
        if call.thread != main:
            moment.writes[call.name] += 1
        elif call.name == "enter_fdatasync":
            begun = call.ms
        elif call.name == "exit_fdatasync" and begun is not None:
            moment.syncs.append(call.ms - begun)
    return [moment for moment in found.values() if moment.requests]


def by_writing(moments):
    """What was written beside the log, and how requests went then."""
    lines = [["written meanwhile", "of the time", "req/s", "p50 ms", "p99 ms", "fdatasync p50 ms"]]
    for kind in ("a checkpoint's pages", "a log file's zeros", "neither"):
        of_kind = [moment for moment in moments if moment.kind() == kind]
        spans = [span for moment in of_kind for span in moment.requests]
        syncs = [span for moment in of_kind for span in moment.syncs]
        if spans:
            lines.append([kind, f"{len(of_kind) / len(moments):.2f}",
                          f"{len(spans) * 1000 / MOMENT_MS / len(of_kind):.0f}",
                          f"{percentile(spans, 50):.2f}", f"{percentile(spans, 99):.2f}",
                          f"{percentile(syncs, 50):.2f}" if syncs else ""])
    return aligned(lines, 1)


def record(play, seconds, data):
    """The slice's figures, with perf looking on in its middle."""
    pids = [pid for part in play.stand.parts("lighttpd").values() for pid in part]
    perf = ["perf", "record", "-q", "-m", "4096", "-e", EVENTS, "-p", ",".join(map(str, pids)), "-o",
            str(data), "--", "sleep", str(seconds)]
    told = []
    timer = threading.Timer(EDGE_S, lambda: told.append(
        subprocess.run(perf, capture_output=True, text=True, check=False, timeout=seconds + 60)))
    timer.start()
    play.slice(seconds + 2 * EDGE_S)
    timer.join()
    if not told or told[0].returncode:
        raise Failure(f"perf record: {told[0].stderr.strip() if told else 'no answer'}")
    return play.slices[-1]


def usable():
    done = subprocess.run(["perf", "record", "-q", "-e", EVENTS, "-o", "/dev/null", "--", "true"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"SKIP: {(done.stderr.strip().splitlines() or ['perf failed'])[-1]}")
        sys.exit(SKIP)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--players", type=int, default=100000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--kind", default="transfer-in", help="of bench/load.lua")
    options = parser.parse_args()
    install((*PACKAGES, "linux-perf"))
    usable()
    cell = Cell(options.kind, "creditbridge", "lighttpd", options.connections, options.kind)
    with everything_ends() as ends:
        data = os.path.join(ends.folder(), "calls.data")
        try:
            play = Play(cell, Wallet(options.players, ("lighttpd",)), options.players, "waits")
            play.warm()
            row = record(play, options.seconds, data)
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
        calls = read_calls(data)
        parts = play.stand.parts("lighttpd")
    requests = requests_of(calls, parts["server"], parts["worker"])
    if not requests:
        print("FAILED: no request could be followed")
        return 1
    print(f"{row['requests'] / row['seconds']:.0f}/s, to the caller p50 {row['p50_ms']:.2f} and p99 "
          f"{row['p99_ms']:.2f} ms; {len(requests)} requests followed\n")
    print("\n".join(stages(requests)), end="\n\n")
    print("\n".join(by_writing(moments_of(calls, requests, parts["ledger"]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
