#!/usr/bin/python3
"""The power cut: the ledger's disk as a cut may leave it, at any point, and what recovery makes of it.

    powercut.py [--points N] [--parallel N] [--mode MODE]

A ledger serves transfers and bets, seamless ones too, with few MiB of cache and log, checkpoints
every 100 ms, and an engine that is killed now and then. record.so records all that it does to its
disk and each answer that it sends. Then, for --points random points in each mode of disk.py, the
state directory is made as a power cut at that point may leave it. A ledger is started on it and
must serve; every movement, bet and result that was answered before is asked for again and must be
there, with the same answer; the bets whose attempt ended stand where they were said to stand; and
`creditbridgectl check` finds nothing. Points before the load are cuts of `init` and the first
start.

The control takes the same trace and drops its syncs: it must lose, in every mode.

$SEED replays the load's choices, the points and what is left at each. A new trace is made after
every TRACE_POINTS points. The first failure of each case is printed with its point; with CB_KEEP
its state is kept.
"""
import argparse
import collections
import json
import mmap
import multiprocessing
import os
import random
import signal
import struct
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import cb  # noqa: E402
import cb_codec  # noqa: E402
import cb_link  # noqa: E402
import disk  # noqa: E402
import traffic  # noqa: E402
from cb import check, equal  # noqa: E402
from slot import Slot  # noqa: E402

SEED = os.environ.get("SEED") or str(random.getrandbits(32))
TRACE_POINTS = 1000   # points of one trace
EARLY_SHARE = 0.04    # of the points: before the load
SWITCH_SHARE = 0.15   # of them: soon after the log's next file got its name
SWITCH_SPAN = 12      # so many records
OPERATIONS = 3000     # of one trace's load
KILLS = 3             # of the engine, in one trace
DIE_AT = 8            # offset of die_at in struct shared (record.c)
SETTINGS = {
    "log_level": "warning", "ledger_cache_mib": 1, "checkpoint_interval_ms": 100,
    "checkpoint_kib": 256, "log_keep_mib": 0, "disk_ballast_mib": 1,
    "disk_low_water_mib": 1, "callback_lease_ms": 600000,
}


# -- a ledger that is recorded

class Recorded(cb.Instance):
    """Its `init` and its ledger run with record.so."""

    def write_config(self, settings):
        super().write_config(settings)
        self.trace = self.dir / "trace"
        self.preload(True)

    def preload(self, on):
        names = {"LD_PRELOAD": cb.builddir() / "tests" / "campaign" / "record.so",
                 "RECORD_STATE": self.state, "RECORD_TRACE": self.trace}
        for name, value in names.items():
            os.environ.pop(name, None)
            if on:
                os.environ[name] = str(value)

    def records(self):
        """How many there are, and the place where it is said at which to die."""
        with open(f"{self.trace}.lock", "r+b") as shared:
            return mmap.mmap(shared.fileno(), 16)

    def die_after(self, count):
        shared = self.records()
        now = struct.unpack_from("<Q", shared)[0]
        struct.pack_into("<Q", shared, DIE_AT, now + count)

    def close(self):
        self.preload(False)
        super().close()


Recording = collections.namedtuple("Recording", "records begin answers asked")


def record(seed, operations):
    """Runs the load under a recorded ledger. The records, the number of the load's first, and what
    was answered: [(number of the record, tag, payload)]."""
    chance = random.Random(seed)
    with Recorded("cbpower", settings=SETTINGS, start=False) as wallet:
        wallet.start()
        wallet.preload(False)
        load = traffic.Load(wallet, chance)
        begin = struct.unpack_from("<Q", wallet.records())[0]
        for part in range(KILLS + 1):
            if part < KILLS:
                wallet.die_after(chance.randint(300, 1500))
            load.run(operations // (KILLS + 1))
        wallet.stop()
        records = disk.trace_read(wallet.trace, str(wallet.state))
        compare(records, wallet.state)
        check(load.breaks >= KILLS - 1, f"{load.breaks} of {KILLS} kills of the engine")
        return Recording(records, begin, answers_of(records), load.asked)


def compare(records, state):
    """The recorder saw everything: rebuilt of all records the files are the same."""
    model = disk.Disk()
    for number, row in enumerate(records):
        model.step(number, row)
    left = model.everything()
    there = {str(path.relative_to(state)): path.read_bytes()
             for path in sorted(state.rglob("*")) if path.is_file()}
    equal(sorted(left), sorted(there), "the files of all that was recorded")
    for name, content in there.items():
        check(left[name] == content, f"{name} is not what was recorded")


def answers_of(records):
    """[(number, tag, payload)] of every answer that was sent and not refused by its outcome."""
    streams, found = {}, []
    for number, row in enumerate(records):
        if row.kind != "x":
            continue
        if row.data.startswith(cb_codec.MAGIC):
            streams[row.inode] = row.data[cb_codec.GREETING.size:]
            continue
        data = streams.get(row.inode, b"") + row.data
        while len(data) >= cb_codec.ANSWER.size:
            length, _, outcome, tag, _ = cb_codec.ANSWER.unpack_from(data)
            end = cb_codec.LENGTH_SIZE + length
            if len(data) < end:
                break
            if outcome == cb_link.DONE:
                found.append((number, tag, data[cb_codec.ANSWER.size:end]))
            data = data[end:]
        streams[row.inode] = data
    return found


# -- a ledger on what is left

def serve(slot, left, early):
    slot.put(left)
    code = slot.start()
    if code is not None and early:
        # What an operator does with an `init` that was cut off.
        said = slot.log.read_text()
        check(code == 78 and ("is not initialised" in said or "does not exist" in said),
              f"a ledger on a cut `init`: exit {code}: {said}")
        done = slot.program("creditbridgectl", "init")
        equal(done.returncode, 0, f"init after a cut: {done.stderr}")
        code = slot.start()
    check(code is None, f"the ledger does not start: exit {code}: {slot.log.read_text()[-800:]}")


def prove(slot, recording, number, left):
    """One point. Returns what was lost."""
    early = number <= recording.begin
    told = {tag: payload for at, tag, payload in recording.answers
            if recording.begin <= at < number}
    try:
        serve(slot, left, early)
        lost = [] if early else traffic.lost_of(slot.edge, recording.asked, told)
        done = slot.program("creditbridgectl", "--json", "check")
        check(done.returncode == 0 and json.loads(done.stdout)["ok"],
              f"check: {done.stdout[:600]}{done.stderr[:600]}")
        return len(told), lost
    finally:
        slot.stop()


Job = collections.namedtuple("Job", "seed mode syncs points")


def switches_of(recording):
    """The records by which a file of the log got its name, under load."""
    return [number for number, record in enumerate(recording.records)
            if number >= recording.begin and record.kind in "or"
            and os.path.basename(record.paths[record.kind == "r"]).startswith("log.")]


def points_of(recording, job):
    chance = random.Random(f"{job.seed}/{job.mode}/points")
    early = int(job.points * EARLY_SHARE) + 1
    if not job.syncs:
        early = 0
    points = [chance.randint(1, recording.begin) for _ in range(early)]
    switches = switches_of(recording)
    near = int(job.points * SWITCH_SHARE) if switches else 0
    points += [min(chance.choice(switches) + chance.randint(1, SWITCH_SPAN),
                   len(recording.records)) for _ in range(near)]
    points += [chance.randint(recording.begin + 1, len(recording.records))
               for _ in range(job.points - early - near)]
    return sorted(points)


Outcome = collections.namedtuple("Outcome", "points losing asked failures")


def worker(recording, job, share, shares, send):
    """Every @shares-th point, in order, so that the disk goes forward only."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    slot = Slot(SETTINGS)
    model = disk.Disk(syncs=job.syncs)
    done, asked, losing, failures = 0, 0, 0, []
    for index, number in enumerate(points_of(recording, job)):
        if index % shares != share:
            continue
        while done < number:
            if done == recording.begin:
                model.lie()
            model.step(done, recording.records[done])
            done += 1
        left = model.rebuild(job.mode, random.Random(f"{job.seed}/{job.mode}/{number}/{index}"))
        try:
            told, lost = prove(slot, recording, number, left)
            asked += told
        except Exception as error:  # Whatever it is, the point does not hold.
            lost = [f"{type(error).__name__}: {error}"]
        if lost:
            losing += 1
            failures.append(f"{job.mode}, point {number} ({index}): {len(lost)} lost or wrong, "
                            f"as {lost[0][:600]}")
            if os.environ.get("CB_KEEP") and losing == 1 and job.syncs:
                slot.put(left)
                slot.state.rename(slot.dir / "failed")
                failures[-1] += f"; kept: {slot.dir}/failed"
    points = len(range(share, len(points_of(recording, job)), shares))
    slot.close()
    send.send(Outcome(points, losing, asked, failures))
    send.close()


def run(recording, job, parallel):
    """The outcome of a job's points, by @parallel processes."""
    ends, processes = [], []
    for share in range(parallel):
        receive, send = multiprocessing.Pipe(False)
        process = multiprocessing.Process(target=worker, daemon=True,
                                          args=(recording, job, share, parallel, send))
        process.start()
        send.close()
        ends.append(receive)
        processes.append(process)
    outcomes = [end.recv() for end in ends]
    for process in processes:
        process.join()
    return Outcome(*[sum(column, type(column[0])()) for column in zip(*outcomes)])


RECORDINGS = {}


def recording_of(seed):
    if seed not in RECORDINGS:
        RECORDINGS.clear()
        RECORDINGS[seed] = record(seed, OPTIONS.operations)
    return RECORDINGS[seed]


def campaign(mode):
    begun = time.monotonic()
    all_points = losing = asked = traces = 0
    while all_points < OPTIONS.points:
        count = min(TRACE_POINTS, OPTIONS.points - all_points)
        seed = f"{SEED}/{traces}"
        recording = recording_of(seed)
        outcome = run(recording, Job(seed, mode, True, count), OPTIONS.parallel)
        for text in outcome.failures[:5]:
            print(f"# {text}", flush=True)
        all_points += outcome.points
        losing += outcome.losing
        asked += outcome.asked
        traces += 1
    print(f"# powercut {mode}: SEED={SEED} points {all_points} traces {traces} records "
          f"{len(recording.records)} new files of the log {len(switches_of(recording))} "
          f"acknowledged and asked for {asked} losing points {losing} "
          f"in {time.monotonic() - begun:.0f} s", flush=True)
    equal(losing, 0, "points that lose")


def control():
    """The same disk that never syncs: the cuts must be seen."""
    recording = recording_of(f"{SEED}/0")
    for mode in disk.MODES:
        points = max(4, min(20, OPTIONS.points // 5))
        outcome = run(recording, Job(f"{SEED}/0", mode, False, points), OPTIONS.parallel)
        print(f"# powercut control {mode}: SEED={SEED} points {outcome.points} losing points "
              f"{outcome.losing}", flush=True)
        # Most points lose. But a cut may take only the last writes, which were not answered yet.
        check(outcome.losing * 3 >= outcome.points,
              f"without syncs {outcome.losing} of {outcome.points} points lose in mode {mode}")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=30)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--operations", type=int, default=OPERATIONS)
    parser.add_argument("--mode", choices=disk.MODES)
    OPTIONS = parser.parse_args()
    print(f"# SEED={SEED}", flush=True)
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    # The control has the trace of the first points: it comes before the modes make others.
    cases = [] if OPTIONS.mode else [("the control: without syncs it loses", control)]
    cases += [(f"{mode}: {OPTIONS.points} points", lambda mode=mode: campaign(mode))
              for mode in disk.MODES if OPTIONS.mode in (None, mode)]
    return cb.run_cases(cases, seconds=120 + OPTIONS.points * 10)


OPTIONS = None

if __name__ == "__main__":
    sys.exit(main())
