"""Runs of cells in turn, and what is measured beside them: the disk, sizes, starts."""
import contextlib
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import time

from stands import TRANSFER_DEALER, cb, ledger_load

import cb_fastcgi
import wrk as wrk_module
from cb_link import DONE, Closed, Link, balance_payload

TICK = os.sysconf("SC_CLK_TCK")
WARM_S = 2
SLICE_S = 2
FCGID_SPARE = 8
FCGID_CROWD = 24
FCGID_TRIES = 4
FCGID_CROWD_S = 3
SYNCS_S = 2
SYNC_BYTES = 512
SYNC_FILE_BYTES = 32 << 20
STARTS = 11


class Failure(Exception):
    """Answers were errors, @errors of them, or a tool failed."""

    def __init__(self, text, errors=1):
        super().__init__(text)
        self.errors = errors


# What may go wrong with a cell while the others go on.
FAILURES = (Failure, cb.HarnessError, OSError, subprocess.SubprocessError)


def cpu_s(pids):
    """{pid: processor time that it has used}."""
    found = {}
    for pid in pids:
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[pid] = (int(stat[11]) + int(stat[12])) / TICK
    return found


def resident_kib(pid):
    """(resident, of it not shared with others) of a process."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    rows = {line.split(":")[0]: int(line.split()[1]) for line in text.splitlines()[1:]}
    return rows["Rss"], rows["Private_Clean"] + rows["Private_Dirty"]


def wrk(cell, stand, players, seconds, run, client, before=()):
    used_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        row = wrk_module.run(stand.url(cell), cell.kind, stand.signer(cell), players, run,
                             connections=cell.connections, seconds=seconds, client=client,
                             before=before)
    except wrk_module.Failure as failure:
        raise Failure(str(failure)) from failure
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - used_before.ru_utime - used_before.ru_stime
    row["client_us"] = used * 1e6 / max(1, row["requests"])
    return row


class Around:
    """What a stand used and counted between two moments."""

    def __init__(self, cell, stand):
        self.cell = cell
        self.stand = stand
        self.before = {name: cpu_s(pids) for name, pids in stand.parts(cell.server).items()}
        self.figures = stand.figures() if hasattr(stand, "figures") else None
        self.log = stand.log_number() if self.figures else 0

    def end(self, row):
        requests = row["requests"]
        for name, pids in self.stand.parts(self.cell.server).items():
            used = sum(s - self.before[name].get(pid, 0) for pid, s in cpu_s(pids).items())
            row[f"{name}_us"] = used * 1e6 / requests
        if not self.figures:
            return
        after = self.stand.figures()
        grown = {name: after[name] - self.figures.get(name, 0) for name in after}
        commits = grown["commit_duration_seconds_count"]
        # Each commit is one fdatasync of the log. One that a read began is none.
        if commits > 1:
            row["commands_a_commit"] = grown["batch_commands_sum"] / commits
        row["checkpoints"] = grown["checkpoints_total"]
        row["log_switches"] = self.stand.log_number() - self.log


@contextlib.contextmanager
def held(pids):
    """The processes stand still meanwhile."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def added(rows, name):
    return sum(row[name] for row in rows)


# Of the slices of a cell: the others are the median of the slices' figures.
OF_SLICES = {"requests": added, "seconds": added, "checkpoints": added, "log_switches": added,
             "max_ms": lambda rows, name: max(row[name] for row in rows)}


def merged(rows):
    """One row of figures of the slices of a cell."""
    names = [name for name in rows[0] if all(name in row for row in rows)]
    whole = {name: OF_SLICES[name](rows, name) if name in OF_SLICES
             else statistics.median(row[name] for row in rows) for name in names}
    whole["rate"] = whole["requests"] / whole["seconds"]
    used = sum(value for name, value in whole.items() if name.endswith("_us"))
    whole["busy"] = used * whole["rate"] / 1e6 / os.cpu_count()
    return whole


class Play:
    """A cell on its stand in one round. @run makes the ids of its calls its own, @client is wrk.py's."""

    def __init__(self, cell, stand, players, run, client=wrk_module.BATCH):
        self.cell = cell
        self.stand = stand
        self.players = players
        self.run = run
        self.client = client
        self.slices = []
        self.failure = None
        self.before = ()  # of kind round: the run before, and its bets (first, last) that surely ended

    def wrk(self, connections, seconds, run):
        row = wrk(self.cell._replace(connections=connections), self.stand, self.players, seconds,
                  f"{self.run}{run}", self.client, self.before)
        if self.cell.kind == "round":
            # wrk makes some first requests twice, and ends with some under way.
            self.before = (f"{self.run}{run}", 2 * connections, max(0, row["bets"] - 2 * connections))
        return row

    def workers_start(self):
        """mod_fcgid starts a worker for a call that finds all busy, and does so again a second later,
        for which it sleeps. With quick calls that never comes: so the workers that are there are held
        while a crowd calls."""
        enough = self.cell.connections + FCGID_SPARE
        for number in range(FCGID_TRIES):
            if len(self.stand.parts(self.cell.server)["worker"]) >= enough:
                return
            with held(self.stand.parts(self.cell.server)["worker"]):
                self.wrk(enough + FCGID_CROWD, FCGID_CROWD_S, f"w{number}-")
        if len(self.stand.parts(self.cell.server)["worker"]) < enough:
            raise Failure(f"mod_fcgid did not start {enough} workers")

    def checked(self, row):
        errors = row["refused"] + row["broken"] + row["late"]
        if errors or not row["requests"]:
            raise Failure(f"{self.cell.row} on {self.cell.server} at {self.cell.connections}: {row}",
                          errors)
        return row

    def warm(self):
        """Calls until it is as it stays."""
        if self.cell.server == "socket":
            return
        if self.cell.server == "mod_fcgid":
            self.workers_start()
        self.checked(self.wrk(self.cell.connections, WARM_S, "w"))

    def slice(self, seconds):
        run = f"s{len(self.slices)}-"
        around = Around(self.cell, self.stand)
        if self.cell.server == "socket":
            row = ledger_load(self.stand.instance, self.cell.kind, self.cell.connections,
                              TRANSFER_DEALER, seconds, self.players, f"{self.run}{run}")
        else:
            row = self.wrk(self.cell.connections, seconds, run)
        self.checked(row)
        around.end(row)
        self.slices.append(row)

    def tried(self, do, *words):
        """A failure is the end of this one, and the others go on."""
        if self.failure:
            return
        try:
            do(*words)
        except FAILURES as failure:
            self.failure = failure

    def row(self):
        """Its figures; raises its failure."""
        if self.failure:
            raise self.failure
        return merged(self.slices)


def in_turn(plays, seconds):
    """Runs each of @plays for @seconds, in short turns, so that all see the same machine. If there
    is only one play, it gets its time in one piece."""
    for play in plays:
        play.tried(play.warm)
    slice_s = SLICE_S if len(plays) > 1 else seconds
    for begin in range(0, seconds, slice_s):
        for play in plays:
            play.tried(play.slice, min(slice_s, seconds - begin))


def syncs(folder):
    """fdatasync per second of the disk that the states are on: after 512 bytes written over others, and
    after 512 bytes more, as a log grows."""
    path = pathlib.Path(folder) / "syncs"
    rates = {}
    for name in ("written over", "appended"):
        with open(path, "wb", buffering=0) as file:
            if name == "written over":
                file.write(b"\0" * SYNC_FILE_BYTES)
                os.fsync(file.fileno())
                file.seek(0)
            count, end = 0, time.monotonic() + SYNCS_S
            while time.monotonic() < end and count * SYNC_BYTES < SYNC_FILE_BYTES:
                file.write(b"x" * SYNC_BYTES)
                os.fdatasync(file.fileno())
                count += 1
            rates[name] = count / (SYNCS_S - max(0, end - time.monotonic()))
        path.unlink()
    return rates


# -- sizes and starts

def sizes(wallet):
    """{what: (processes, resident MiB, of it not shared)}: of workers the median."""
    found = {}
    for server in wallet.servers:
        pids = wallet.parts(server)["worker"]
        if not pids:
            continue  # mod_fcgid starts none before the first call
        found[f"worker on {server}"] = (len(pids), *median_mib(pids))
    found["ledger"] = (1, *median_mib(wallet.instance.engine_pids()[-1:]))
    found["ledger's parent"] = (1, *median_mib([wallet.instance.ledger.pid]))
    return found


def median_mib(pids):
    pairs = [resident_kib(pid) for pid in pids]
    return [statistics.median(pair[i] for pair in pairs) / 1024 for i in (0, 1)]


def worker_answers(path):
    try:
        return cb_fastcgi.request(path, "/healthz", [], b"", method="GET").status == 200
    except OSError:
        return False


def ledger_answers(instance):
    """A balance, read by the workers' socket."""
    try:
        with Link(instance.sockets / "edge.sock", timeout=1) as link:
            return link.call("balance", balance_payload(TRANSFER_DEALER, "u0")).outcome == DONE
    except (OSError, Closed):
        return False


def starts(wallet):
    """{what: ms from its start to its first answer}, medians."""
    instance = wallet.instance
    took = {"worker": [], "ledger": []}
    for number in range(STARTS):
        path = instance.sockets / f"start-{number}.sock"
        start = time.perf_counter()
        child = cb.Child([instance.worker, "--config", instance.config, "--serve", "platform",
                          "--socket", path], instance.logs / "start.log")
        cb.wait_until(lambda: worker_answers(path), 20, "the worker's first answer", 0.0002)
        took["worker"].append((time.perf_counter() - start) * 1e3)
        child.stop()
    for _ in range(STARTS):
        instance.stop()
        start = time.perf_counter()
        instance.ledger_start()
        cb.wait_until(lambda: ledger_answers(instance), 20, "the ledger's first answer", 0.0002)
        took["ledger"].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(times) for name, times in took.items()}
