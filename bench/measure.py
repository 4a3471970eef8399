"""One run of a cell, and what is measured beside the cells: the disk, sizes, starts."""
import contextlib
import os
import pathlib
import resource
import signal
import statistics
import time

from stands import TRANSFER_DEALER, cb, ledger_load

import cb_fastcgi
import wrk as wrk_module
from cb_link import DONE, Closed, Link, balance_payload

TICK = os.sysconf("SC_CLK_TCK")
WARM_S = 2
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


def wrk(cell, stand, players, seconds, run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        row = wrk_module.run(stand.url(cell), cell.kind, stand.signer(cell), players, run,
                             connections=cell.connections, seconds=seconds)
    except wrk_module.Failure as failure:
        raise Failure(str(failure)) from failure
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
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


def workers_start(cell, stand, options, run):
    """mod_fcgid starts a worker for a call that finds all busy, and does so again a second later, for
    which it sleeps. With quick calls that never comes: so the workers that are there are held while a
    crowd calls."""
    enough = cell.connections + FCGID_SPARE
    crowd = cell._replace(connections=enough + FCGID_CROWD)
    for number in range(FCGID_TRIES):
        with held(stand.parts(cell.server)["worker"]):
            wrk(crowd, stand, options.players, FCGID_CROWD_S, f"{run}w{number}-")
        if len(stand.parts(cell.server)["worker"]) >= enough:
            return
    raise Failure(f"mod_fcgid did not start {enough} workers")


def warm(cell, stand, options, run):
    """Calls until it is as it stays."""
    if (cell.server == "mod_fcgid" and
            len(stand.parts(cell.server)["worker"]) < cell.connections + FCGID_SPARE):
        workers_start(cell, stand, options, run)
    wrk(cell, stand, options.players, WARM_S, f"{run}w")


def measure(cell, stand, options, run):
    """One run of a cell: a row of figures."""
    seconds = cell.seconds or options.seconds
    if cell.server != "socket":
        warm(cell, stand, options, run)
    around = Around(cell, stand)
    if cell.server == "socket":
        row = ledger_load(stand.instance, cell.kind, cell.connections, TRANSFER_DEALER, seconds,
                          options.players, run)
    else:
        row = wrk(cell, stand, options.players, seconds, run)
    errors = row["refused"] + row["broken"] + row["late"]
    if errors or not row["requests"]:
        raise Failure(f"{cell.row} on {cell.server} at {cell.connections}: {row}", errors)
    around.end(row)
    row["rate"] = row["requests"] / row["seconds"]
    used = sum(value for name, value in row.items() if name.endswith("_us"))
    row["busy"] = used * row["rate"] / 1e6 / os.cpu_count()
    return row


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
