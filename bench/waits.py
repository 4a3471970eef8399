#!/usr/bin/python3
"""Where a request waits: records the system calls of lighttpd, the workers and the ledger with perf, during
transfers in. Prints how long each part of a request takes, and how this depends on what the ledger's other
threads write meanwhile. perf itself slows all of it. The figures are in waits.json, too.

Exits with 1 if an answer was an error or the requests could not be followed, with 77 if perf cannot be used
here.
"""
import argparse
import bisect
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cells import Cell  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import FAILURES, Failure, Play  # noqa: E402
from packages import PACKAGES, install  # noqa: E402
from perf import usable  # noqa: E402
from report import add_out, aligned  # noqa: E402
from stands import Wallet  # noqa: E402
from cb_figures import percentile  # noqa: E402
from wrk import add_eager_client  # noqa: E402

PERF_S = 120        # for perf's work after the recording
EVENTS = ",".join(f"syscalls:sys_{call}" for call in (
    "enter_connect", "exit_connect", "enter_read", "enter_writev", "exit_accept4", "enter_sendto",
    "enter_write", "enter_pwrite64", "enter_fdatasync", "exit_fdatasync"))
RECORD = ("-m", "4096", "-e", EVENTS)
LINE = re.compile(r"\s*(\d+)/(\d+)\s+([\d.]+):\s+syscalls:sys_(\w+): (.*)")
WORD = re.compile(r"(\w+): (0x[0-9a-f]+)")
NEGATIVE = 1 << 31  # and above: the result is an error
EDGE_S = 1          # of load before perf looks on, and after
SETTLED = 100       # connections from which on all calls of all are seen
SHIFTS = 16         # offsets of one order against the other that are tried
MOMENT_MS = 100
SHARES = (0.1, 0.5, 0.9, 0.99)
LEGEND = """\
A request counts where it is connected. Written meanwhile: in the tenth of a second, or an fdatasync of it
lasted into it. fdatasync: the log's, for which callers wait."""

Call = collections.namedtuple("Call", "pid thread ms name words")
# What lighttpd, and the worker, did with one connection between them; ms, or None.
Request = collections.namedtuple("Request", "connected accepted answered read sent")


def words_of(text):
    """{name: number} of `fd: 0x0000000b, count: 0x00002000`; a bare result has the name "result"."""
    return {name: int(value, 16) for name, value in WORD.findall(text)} or {"result": int(text, 16)}


def read_calls(data):
    done = subprocess.run(
        ["perf", "script", "-i", str(data), "--show-lost-events", "-F", "pid,tid,time,event,trace"],
        capture_output=True, text=True, check=False, timeout=PERF_S)
    if done.returncode:
        raise Failure(f"perf script: {done.stderr.strip()}")
    if "PERF_RECORD_LOST" in done.stdout:
        raise Failure("perf lost calls: give it fewer --seconds")
    found = [Call(int(pid), int(thread), float(seconds) * 1e3, name, words_of(words))
             for pid, thread, seconds, name, words in
             (match.groups() for match in map(LINE.match, done.stdout.splitlines()) if match)]
    return sorted(found, key=lambda call: call.ms)


def of_server(calls):
    """{worker's address: [[connected, read, sent]]}, in the order of connecting. lighttpd keeps an address
    for each worker. What it writes after it read an answer is that answer, to the caller."""
    made, waiting, last, answer = collections.defaultdict(list), {}, None, None
    for call in calls:
        fd = call.words.get("fd")
        if call.name == "enter_connect":
            last = (call.words["uservaddr"], fd)
            waiting[fd] = entry = [call.ms, None, None]
            made[last[0]].append(entry)
        elif call.name == "exit_connect" and last and call.words["result"] >= NEGATIVE:
            made[last[0]].pop()
            waiting.pop(last[1])
        elif call.name == "enter_read" and fd in waiting:
            answer = waiting.pop(fd)
            answer[1] = call.ms
        elif call.name == "enter_writev" and answer and fd not in waiting:
            answer[2] = call.ms
            answer = None
    return made


def of_worker(calls):
    """[[accepted, answered]], in the order of accepting."""
    taken, waiting = [], {}
    for call in calls:
        if call.name == "exit_accept4" and call.words["result"] < NEGATIVE:
            waiting[call.words["result"]] = entry = [call.ms, None]
            taken.append(entry)
        elif call.name == "enter_sendto" and call.words["fd"] in waiting:
            waiting.pop(call.words["fd"])[1] = call.ms
    return taken


def in_order(request):
    return all(begin <= end for begin, end in zip(request, request[1:]))


def matched(made, taken):
    """Requests in the order of connecting, which is that of accepting; none if these are not of one
    socket. perf traces one call earlier than the other, so one order begins some places after the
    other. The offset is the smallest with which each request is accepted after it connected, and
    its answer read after it was sent."""
    begins = [accepted for accepted, _ in taken]
    places = [bisect.bisect_left(begins, connected) for connected, *_ in made]
    least = max((place - at for at, place in enumerate(places) if at >= SETTLED and place < len(taken)),
                default=None)
    for shift in () if least is None else range(least, least + SHIFTS):
        found = [Request(connected, *taken[at + shift], *rest)
                 for at, (connected, *rest) in enumerate(made)
                 if at >= SETTLED and 0 <= at + shift < len(taken)]
        whole = [request for request in found if None not in request]
        if all(map(in_order, whole)):
            return whole
    return []


def requests_of(calls, server, workers):
    """Those that could be followed from end to end. Each address is that worker's by whose accepting its
    connections waited least."""
    taken = {pid: of_worker([call for call in calls if call.pid == pid]) for pid in workers}
    found = []
    for made in of_server([call for call in calls if call.pid in server]).values():
        orders = {pid: order for pid, entries in taken.items() if (order := matched(made, entries))}
        if not orders:
            raise Failure(f"{len(made)} connections could not be followed")
        pid = min(orders, key=lambda pid: statistics.median(
            request.accepted - request.connected for request in orders[pid]))
        found += orders[pid]
        taken.pop(pid)
    if not found:
        raise Failure("no request could be followed")
    return found


STAGES = (("lighttpd connects .. the worker accepts", "connected", "accepted"),
          (".. the worker answers", "accepted", "answered"),
          (".. lighttpd reads the answer", "answered", "read"),
          (".. lighttpd sends it on", "read", "sent"),
          ("all of it", "connected", "sent"))


def stages(requests):
    """[{"stage", "p10_ms", ...}]"""
    rows = []
    for name, begin, end in STAGES:
        spans = [getattr(request, end) - getattr(request, begin) for request in requests]
        rows.append({"stage": name} | {f"p{share * 100:.0f}_ms": percentile(spans, share) for share in SHARES})
    return rows


def stages_text(rows):
    lines = [["ms", *(f"p{share * 100:.0f}" for share in SHARES)]]
    lines += [[name, *(f"{span:.2f}" for span in spans)] for name, *spans in (row.values() for row in rows)]
    return aligned(lines, 1)


# The writers: store/bdb/env/log_prealloc.c with pwrite(), libdb's pages through env.c with write().
WRITERS = {"enter_pwrite64": "zeros", "enter_write": "pages"}
WRITTEN = {"pages": "a checkpoint's pages", "zeros": "zeros of a log file to come",
           "pages zeros": "both", "": "neither"}


class Moment:
    """A tenth of a second."""

    def __init__(self):
        self.requests = []
        self.syncs = []
        self.written = set()


class Moments:
    def __init__(self, calls):
        self.begin = calls[0].ms
        # The last one is not whole.
        self.all = [Moment() for _ in range(max(1, int(self.number(calls[-1].ms))))]

    def number(self, ms):
        return (ms - self.begin) // MOMENT_MS

    def during(self, begin, end):
        return self.all[int(self.number(begin)):int(self.number(end)) + 1]

    def add_requests(self, requests):
        for request in requests:
            for moment in self.during(request.connected, request.connected):
                moment.requests.append(request.sent - request.connected)

    def add_log(self, calls):
        """@calls of the engine's main thread."""
        begun = None
        for call in calls:
            if call.name == "enter_fdatasync":
                begun = call.ms
            elif call.name == "exit_fdatasync" and begun is not None:
                for moment in self.during(begun, begun):
                    moment.syncs.append(call.ms - begun)

    def add_other(self, calls):
        """@calls of another thread."""
        what = begun = None
        for call in calls:
            what = WRITERS.get(call.name, what)
            if call.name == "enter_fdatasync":
                begun = call.ms
            ended = call.name == "exit_fdatasync" and begun is not None
            if what:
                for moment in self.during(begun if ended else call.ms, call.ms):
                    moment.written.add(what)


def moments_of(calls, requests, ledger):
    found = Moments(calls)
    found.add_requests(requests)
    threads = collections.defaultdict(list)
    for call in calls:
        if call.pid in ledger:
            threads[(call.pid, call.thread)].append(call)
    for (pid, thread), of_thread in threads.items():
        (found.add_log if thread == pid else found.add_other)(of_thread)
    return found.all


def by_writing(moments):
    """[{"written", "share", "rate", "p50_ms", "p99_ms", "fdatasync_p50_ms"}]; fdatasync_p50_ms is None if there was none."""
    rows = []
    for key, name in WRITTEN.items():
        of_kind = [moment for moment in moments if " ".join(sorted(moment.written)) == key]
        spans = [span for moment in of_kind for span in moment.requests]
        syncs = [span for moment in of_kind for span in moment.syncs]
        if spans:
            rows.append({"written": name, "share": len(of_kind) / len(moments),
                         "rate": len(spans) * 1000 / MOMENT_MS / len(of_kind),
                         "p50_ms": percentile(spans, 0.5), "p99_ms": percentile(spans, 0.99),
                         "fdatasync_p50_ms": percentile(syncs, 0.5) if syncs else None})
    return rows


def by_writing_text(rows):
    lines = [["written meanwhile", "of the time", "req/s", "p50 ms", "p99 ms", "fdatasync p50 ms"]]
    for row in rows:
        sync_ms = row["fdatasync_p50_ms"]
        lines.append([row["written"], f"{row['share']:.2f}", f"{row['rate']:.0f}", f"{row['p50_ms']:.2f}",
                      f"{row['p99_ms']:.2f}", "" if sync_ms is None else f"{sync_ms:.2f}"])
    return aligned(lines, 1)


def record(play, seconds, data):
    """The figures of a slice, with perf looking on in its middle."""
    pids = [pid for part in play.stand.parts("lighttpd").values() for pid in part]
    perf = ["perf", "record", "-q", *RECORD, "-p", ",".join(map(str, pids)), "-o", str(data), "--", "sleep", str(seconds)]
    told = []
    timer = threading.Timer(EDGE_S, lambda: told.append(subprocess.run(
        perf, capture_output=True, text=True, check=False, timeout=seconds + PERF_S)))
    timer.start()
    try:
        play.slice(seconds + 2 * EDGE_S)
    finally:
        timer.cancel()
        timer.join()
    if not told or told[0].returncode:
        raise Failure(f"perf record: {told[0].stderr.strip() if told else 'it did not end'}")
    return play.slices[-1]


def followed(cell, options, folder):
    """The figures, as waits.json has them."""
    data = os.path.join(folder, "calls.data")
    play = Play(cell, Wallet(options.players, ("lighttpd",)), options.players, "waits", options.client)
    play.warm()
    row = record(play, options.seconds, data)
    calls = read_calls(data)
    parts = play.stand.parts("lighttpd")
    requests = requests_of(calls, parts["server"], parts["worker"])
    return {"cpus": os.cpu_count(), "kind": options.kind, "connections": options.connections,
            "rate": row["requests"] / row["seconds"], "p50_ms": row["p50_ms"], "p99_ms": row["p99_ms"],
            "followed": len(requests), "stages": stages(requests),
            "written": by_writing(moments_of(calls, requests, parts["ledger"]))}


def text_of(found):
    """What is to be printed."""
    head = (f"{found['rate']:.0f}/s, to the caller p50 {found['p50_ms']:.2f} and p99 {found['p99_ms']:.2f} ms; "
            f"{found['followed']} requests followed")
    return "\n\n".join((head, "\n".join(stages_text(found["stages"])),
                        "\n".join(by_writing_text(found["written"])), LEGEND))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--players", type=int, default=100000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--kind", default="transfer-in", help="kind of call, of bench/load.lua")
    add_eager_client(parser)
    add_out(parser)
    options = parser.parse_args()
    install((*PACKAGES, "linux-perf"))
    usable(RECORD)
    cell = Cell(options.kind, "creditbridge", "lighttpd", options.connections, options.kind)
    with everything_ends() as ends:
        try:
            found = followed(cell, options, ends.folder())
        except FAILURES as failure:
            print(f"FAILED: {failure}")
            return 1
    print(text_of(found))
    (options.out / "waits.json").write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
