#!/usr/bin/python3
"""The torn page: a page of the database of which some 512-byte sectors are older than the others.

    tornpage.py [--tears N] [--restores N]

A ledger serves the transfers and bets of traffic.py; a backup is made under way, and copies of its
tables at two later moments: of a ledger that was stopped, and of one that was killed with much of
its log still to be redone. A page that differs between two copies gets some of the sectors of the
older one. Then a ledger is started on it, `creditbridgectl check` reads everything, and if nothing
was met so far, `creditbridgectl backup`, which reads the pages that are free, too.

Each tear must be found: the service halts, says that a page is damaged and to restore it from a
backup, and answers nothing but that it is not available, also after another start; or, of a page
that nothing reads, the backup is refused and names the table. For --restores of the tears the state
is put aside and `restore --logs` of it must bring back all that was ever answered, `check` being
clean.

$SEED chooses pages and sectors; the load depends on the machine's timing as well.
"""
import argparse
import collections
import json
import os
import random
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import cb  # noqa: E402
import cb_link  # noqa: E402
import traffic  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from slot import WAIT_S, Slot  # noqa: E402

SEED = os.environ.get("SEED") or str(random.getrandbits(32))
PAGE = 4096
SECTOR = 512
OPERATIONS = 500  # between two copies
SETTINGS = {
    "log_level": "warning", "ledger_cache_mib": 16, "checkpoint_interval_ms": 100,
    "disk_ballast_mib": 1, "disk_low_water_mib": 1, "callback_lease_ms": 600000,
}
# Nothing is written back but by the recovery that follows a kill.
NO_CHECKPOINTS = {"checkpoint_interval_ms": 3600000, "checkpoint_kib": 1048576}
HALTED = 'reason="the data is damaged" remedy="restore it from a backup"'

Copy = collections.namedtuple("Copy", "name files told")


class Wallet(cb.Instance):
    """An instance whose ledger is stopped, killed and copied."""

    def copy(self, name, load):
        files = {"": None}
        for path in sorted(self.state.rglob("*")):
            files[str(path.relative_to(self.state))] = \
                None if path.is_dir() else path.read_bytes()
        return Copy(name, files, dict(load.told))

    def kill(self):
        engines = self.engine_pids()
        for pid in [self.ledger.pid, *engines]:
            os.kill(pid, signal.SIGKILL)
        self.ledger.process.wait(10)
        wait_until(lambda: all(map(cb.process_gone, engines)), 10, "the engine's end")
        self.ledger = None

    def checkpoints(self, on):
        self.write_config({**SETTINGS, **({} if on else NO_CHECKPOINTS)})


class Material:
    """The copies, the backup, and what was asked."""

    def __init__(self, wallet, chance):
        load = traffic.Load(wallet, chance)
        load.run(OPERATIONS)
        self.backup = wallet.dir / "backup"
        wallet.ctl("backup", self.backup)
        load.run(OPERATIONS)
        wallet.stop()
        self.older = wallet.copy("older", load)
        wallet.start()
        load.run(OPERATIONS)
        wallet.stop()
        stopped = wallet.copy("stopped", load)
        wallet.checkpoints(False)
        wallet.start()
        load.run(OPERATIONS)
        wallet.kill()
        killed = wallet.copy("killed", load)
        self.asked = load.asked
        # In the killed one the tables are those of the stopped one, perhaps with pages that were
        # evicted: tears are made of the same two versions, and recovery meets them.
        self.torn = {"stopped": stopped, "killed": killed}

    def pages(self, copy):
        """[(table, page)] of what differs between the older copy and @copy."""
        found = []
        for name, old in self.older.files.items():
            if not name.endswith(".db"):
                continue
            new = copy.files[name]
            for at in range(0, min(len(old), len(new)), PAGE):
                if old[at:at + PAGE] != new[at:at + PAGE]:
                    found.append((name, at))
        return found


def tear(material, copy, chance):
    """Returns the files with one torn page, and what was torn."""
    name, at = chance.choice(material.pages(copy))
    old = material.older.files[name][at:at + PAGE]
    new = copy.files[name][at:at + PAGE]
    differing = [i for i in range(PAGE // SECTOR)
                 if old[i * SECTOR:(i + 1) * SECTOR] != new[i * SECTOR:(i + 1) * SECTOR]]
    if len(differing) < 2:
        return None
    stale = chance.sample(differing, chance.randint(1, len(differing) - 1))
    page = bytearray(new)
    for sector in stale:
        page[sector * SECTOR:(sector + 1) * SECTOR] = old[sector * SECTOR:(sector + 1) * SECTOR]
    content = bytearray(copy.files[name])
    content[at:at + PAGE] = page
    return {**copy.files, name: content}, f"{copy.name} {name} page {at // PAGE} sectors {stale}"


def halts(slot, what):
    """The service has halted and says why; it does so again after another start."""
    for _ in range(2):
        wait_until(lambda: HALTED in slot.log.read_text() or slot.halted(), WAIT_S, what)
        log = slot.log.read_text()
        wait_until(slot.halted, WAIT_S, f"{what}: the halt in status: {log[-600:]}")
        with cb_link.Link(slot.edge) as link:
            frame = link.call("balance", cb_link.balance_payload(traffic.BANK, "user-0"))
            equal(frame.outcome, cb_link.BUSY, f"{what}: an answer while halted")
        if slot.starts == 2:
            return
        check(HALTED in log, f"{what}: the log does not name the page: {log[-600:]}")
        slot.stop()
        slot.start()


class TornSlot(Slot):
    starts = 0

    def start(self):
        self.starts += 1
        return super().start()

    def halted(self):
        done = self.program("creditbridgectl", "--json", "status")
        return done.returncode == 0 and json.loads(done.stdout)["halted"]


def found_by(slot, what):
    """How a tear is found: by the start, the check, or the backup."""
    slot.starts = 0
    code = slot.start()
    equal(code, None, f"{what}: the exit code of the ledger")
    if slot.halted():
        halts(slot, what)
        return "start"
    done = slot.program("creditbridgectl", "check")
    if done.returncode:
        halts(slot, f"{what}: check: {done.stderr.strip()}")
        return "check"
    target = slot.dir / "backup"
    done = slot.program("creditbridgectl", "backup", target)
    shutil.rmtree(target, ignore_errors=True)
    check(done.returncode == 1 and "is damaged" in done.stderr,
          f"{what}: was not found; backup: exit {done.returncode} {done.stdout}{done.stderr}")
    return "backup"


def restore(slot, material, copy, what):
    """Everything that was answered comes back from the backup and the logs of the torn state."""
    slot.stop()
    aside = slot.dir / "aside"
    shutil.rmtree(aside, ignore_errors=True)
    slot.state.rename(aside)
    done = slot.program("creditbridgectl", "--json", "restore", material.backup, "--logs",
                        aside / "db")
    equal(done.returncode, 0, f"{what}: restore: {done.stdout}{done.stderr}")
    equal(slot.start(), None, f"{what}: the restored ledger")
    lost = traffic.lost_of(slot.edge, material.asked, copy.told)
    equal(lost[:3], [], f"{what}: {len(lost)} of {len(copy.told)} answered are lost")
    done = slot.program("creditbridgectl", "--json", "check")
    check(done.returncode == 0 and json.loads(done.stdout)["ok"], f"{what}: check: {done.stdout}")
    return len(copy.told)


def campaign(options):
    begun = time.monotonic()
    chance = random.Random(SEED)
    found, tables = collections.Counter(), set()
    restored = answered = 0
    with Wallet("cbtorn", settings=SETTINGS) as wallet:
        material = Material(wallet, chance)
        slot = TornSlot(SETTINGS)
        try:
            while sum(found.values()) < options.tears:
                number = sum(found.values())
                copy = material.torn[("stopped", "killed")[number % 2]]
                made = tear(material, copy, chance)
                if not made:
                    continue  # One sector differs: either version of it is a whole page.
                files, what = made
                slot.put(files)
                way = found_by(slot, f"tear {number}, {what}")
                found[f"{copy.name}:{way}"] += 1
                tables.add(what.split()[1])
                if number * options.restores // options.tears != \
                        (number + 1) * options.restores // options.tears:
                    answered += restore(slot, material, copy, f"tear {number}, {what}")
                    restored += 1
                slot.stop()
        finally:
            slot.close()
    ways = " ".join(f"{way}={count}" for way, count in sorted(found.items()))
    print(f"# tornpage: SEED={SEED} tears {sum(found.values())} found {sum(found.values())} "
          f"({ways}) tables {len(tables)} restored {restored} answered and asked for {answered} "
          f"lost 0 in {time.monotonic() - begun:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tears", type=int, default=10)
    parser.add_argument("--restores", type=int, default=2)
    options = parser.parse_args()
    print(f"# SEED={SEED}", flush=True)
    return cb.run_cases([("every torn page is found", lambda: campaign(options))],
                        seconds=120 + options.tears * 10)


if __name__ == "__main__":
    sys.exit(main())
