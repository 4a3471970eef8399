#!/usr/bin/python3
"""Backups under a load of transfers, and what is restored from them after everything was killed.

    test_backup.py [--rate N] [--seconds N] [--players N] [CASE...]

make check-backup runs the first two cases for longer, at 5,000 transfers a second.
"""
import argparse
import contextlib
import hashlib
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
import cb  # noqa: E402
import pump  # noqa: E402
from cb import Skip, check, equal, wait_until  # noqa: E402
from cb_codec import verdict  # noqa: E402
from cb_link import TRANSFER_IN_KIND, Link, transfer_payload  # noqa: E402
from cb_middle import Operator  # noqa: E402
from cb_process import pids_end  # noqa: E402
from cb_worker import LOSS, REFUSED, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

EPOCH_MS = 1577836800000  # 2020-01-01: src/ledger/rows/life.h
BASE32 = str.maketrans("0123456789", "abcdefghij")
OPTIONS = None
RANDOM = random.Random(os.environ.get("SEED"))


class Wallet(cb.Instance):
    """An instance with one dealer, whose state can be taken away."""

    def __init__(self, players=20, **settings):
        super().__init__("cbbackup", settings=settings)
        self.backup_dir = self.dir / "backup"
        self.dealer = self.dealer_add("demo")
        self.users = [f"user-{n}" for n in range(players)]
        with Operator(self.sockets / "admin.sock") as operator:
            for number, user in enumerate(self.users):
                equal(operator.player_add("demo", user, f"{number:020}".translate(BASE32),
                                          f"made-{number}"), 0, user)

    def kill(self):
        """SIGKILL for everything: parent and engine at once."""
        engines = self.engine_pids()
        os.kill(self.ledger.pid, signal.SIGKILL)
        pids_end(engines, 20, (signal.SIGKILL,))
        self.ledger.process.wait(20)
        self.ledger = None

    def put_away(self):
        """Takes the state away; where it is now."""
        aside = self.dir / f"state-{time.monotonic_ns()}"
        self.state.rename(aside)
        return aside

    def backup(self, *words):
        return self.ctl_json("backup", self.backup_dir, *words)

    def restore(self, *words):
        return self.ctl_json("restore", self.backup_dir, *words)

    def restore_refused(self, code, error_id, what, *words):
        refused(self, code, error_id, what, "restore", self.backup_dir, *words)

    def check(self):
        done = self.ctl_run("check")
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")

    def prove(self, load):
        """The state is restored: it has all transactions that @load got answers for."""
        self.restore()
        self.start()
        self.check()
        load.prove(load.acknowledged)

    def move(self, key):
        """A transfer in of 1 credit; True when it is done now, and no replay."""
        with Link(self.sockets / "edge.sock") as link:
            frame = link.call("transfer", transfer_payload("demo", TRANSFER_IN_KIND, key,
                                                           self.users[0], 10000))
            told = verdict(frame.payload)
            equal((frame.outcome, told.refusal), (0, 0), f"transfer {key}")
            return not told.replay

    def last_id(self):
        return self.ctl_json("status")["last_transaction_id"]


def refused(wallet, code, error_id, what, *words):
    done = wallet.ctl_run(*words)
    equal(done.returncode, code, f"exit code of {words}: {done.stdout}{done.stderr}")
    said = "" if error_id == "failed" else f"{error_id}: "
    check(done.stderr.startswith(f"creditbridgectl: {said}") and what in done.stderr,
          f"{words}: {done.stderr}")


def check_life(restored):
    """The ids of the life that a restore began are above what the clock and the data allow before."""
    floor = (cb.now_ms() - EPOCH_MS) * 1000
    check(restored["last_transaction_id"] < restored["first_id"] and
          floor - 60 * 10 ** 6 < restored["first_id"] <= floor, f"restore: {restored}")
    equal(restored["first_id"] % cb.ID_STRIDE, 0, "stride")
    check(restored["raised_by"] > 0, f"restore: {restored}")


def pause():
    """For what the ledger does meanwhile to be no moment only."""
    time.sleep(OPTIONS.seconds)


# -- under load

def case_under_load():
    """Backup, everything killed, the state deleted, restore: nothing acknowledged before is lost."""
    with Wallet(OPTIONS.players) as wallet:
        load = pump.Pump(wallet, "demo", wallet.users, "load", OPTIONS.rate)
        pause()
        done = wallet.backup()
        pause()
        wallet.kill()
        load.stop()
        shutil.rmtree(wallet.state)
        equal((done["stage"], done["added"]), ("done", False), f"backup: {done}")
        rows = load.before(done["complete_to_ms"])
        check(len(rows) > 100, f"{len(rows)} transfers before the backup are no test")
        restored = wallet.restore()
        check(not restored["rolled_forward"], f"restore: {restored}")
        check_life(restored)
        # The time of the last movement: of one that was acknowledged then, or a moment later.
        check(abs(restored["last_ms"] - rows[-1][1] * 1000) < 60000, f"last_ms: {restored}")
        check(restored["last_transaction_id"] >= len(rows), f"restore: {restored}")
        wallet.start()
        wallet.check()
        check(wallet.last_id() >= restored["first_id"] - cb.ID_STRIDE, "raised ids")
        load.prove(rows)
        wallet.move("after")
        wallet.check()
        audit = wallet.ctl_json("audit")["audit"]
        check([row["action"] for row in audit[:2]] == ["restore", "backup"], f"audit: {audit[:2]}")
        print(f"# {load.rate():.0f} transfers/s, {len(load.acknowledged)} acknowledged, "
              f"{len(rows)} before the backup ended: lost 0; the backup, of "
              f"{done['bytes'] >> 10} KiB, took {done['ended_ms'] - done['begun_ms']} ms, and the "
              f"longest stall meanwhile {load.stall_ms(done['begun_ms'], done['ended_ms']):.0f} ms",
              flush=True)


def case_rolled_forward():
    """Every table is lost, the logs are not: every acknowledged movement comes back."""
    with Wallet(OPTIONS.players) as wallet:
        load = pump.Pump(wallet, "demo", wallet.users, "load", OPTIONS.rate)
        pause()
        wallet.backup()
        pause()
        wallet.kill()
        load.stop()
        aside = wallet.put_away()
        for table in (aside / "db").glob("*.db"):
            table.unlink()
        restored = wallet.restore("--logs", aside / "db")
        # A kill may tear the last record; nothing of it was acknowledged.
        equal(restored["rolled_forward"], restored["unreadable"] == 0, f"restore: {restored}")
        check_life(restored)
        wallet.start()
        wallet.check()
        load.prove(load.acknowledged)
        print(f"# {load.rate():.0f} transfers/s, {len(load.acknowledged)} acknowledged until the "
              f"kill: lost 0", flush=True)


def case_second_backup():
    """A second backup copies only log files, under load, and restores as well."""
    with Wallet() as wallet:
        load = pump.Pump(wallet, "demo", wallet.users, "load", OPTIONS.rate)
        pause()
        first = wallet.backup()
        tables = {path.name: path.stat().st_mtime_ns
                  for path in (wallet.backup_dir / "data.1").glob("*.db")}
        check(len(tables) > 10, f"tables: {tables}")
        pause()
        wallet.kill()
        wallet.start()
        second = wallet.backup()
        wallet.kill()
        load.stop()
        equal((first["added"], second["added"], second["tables"]), (False, True, 0), "added")
        equal({path.name: path.stat().st_mtime_ns
               for path in (wallet.backup_dir / "data.1").glob("*.db")}, tables, "tables")
        check(second["complete_to_ms"] > first["complete_to_ms"], "complete_to_ms")
        shutil.rmtree(wallet.state)
        wallet.prove(load)
        # Backups of the restored data continue in the same directory.
        equal(wallet.backup()["added"], True, "a backup of what was restored")
        equal(wallet.backup("--whole")["added"], False, "a whole backup")


# -- refusals

def case_refusals():
    with Wallet() as wallet:
        refused(wallet, 1, "backup_not_found", "cannot open", "restore", wallet.dir / "none",
                "--dry-run")
        wallet.move("one")
        one = wallet.last_id()
        text = wallet.ctl("backup", wallet.backup_dir)
        check("tables and the log" in text and "acknowledged before 20" in text, text)
        wallet.restore_refused(75, "busy", "a ledger runs")
        equal(wallet.stop(), 0, "exit code of the ledger")
        wallet.restore_refused(78, "configuration", "already holds a ledger")
        aside = wallet.put_away()
        wallet.state.mkdir(mode=0o700)
        (wallet.state / "precious").touch()
        wallet.restore_refused(78, "configuration", "is not empty: it holds precious")
        check((wallet.state / "precious").exists(), "what was there")
        shutil.rmtree(wallet.state)
        manifest = wallet.backup_dir / "manifest"
        good = manifest.read_bytes()
        manifest.write_bytes(good.replace(b"folder data.1", b"folder data.2"))
        wallet.restore_refused(1, "backup_damaged", "the manifest is damaged")
        manifest.write_bytes(newer(good))
        wallet.restore_refused(78, "configuration", "written by a newer creditbridge (schema 7")
        manifest.unlink()
        wallet.restore_refused(1, "backup_not_found", "it has no manifest")
        manifest.write_bytes(good)
        wallet.backup_dir.chmod(0o702)
        wallet.restore_refused(78, "configuration", "others may have changed it")
        wallet.backup_dir.chmod(0o700)
        log = next((wallet.backup_dir / "data.1").glob("log.*"))
        data = log.read_bytes()
        log.write_bytes(data[:-5] + b"!!!!!")
        wallet.restore_refused(1, "backup_damaged", "is damaged, because its SHA-256")
        wallet.restore_refused(1, "backup_damaged", "is damaged, because its SHA-256", "--dry-run")
        log.write_bytes(data)
        wallet.restore_refused(78, "configuration", "cannot open", "--logs", wallet.dir / "none")
        # A ledger does not start on what a refused restore left; the next restore does.
        wallet.ledger_start()
        equal(wallet.ledger.process.wait(20), 78, "exit code of a ledger without a state")
        check("a restore to" in wallet.ledger.log_tail(), wallet.ledger.log_tail())
        look = wallet.ctl("restore", wallet.backup_dir, "--dry-run")
        check("is whole" in look and "Nothing was restored" in look, look)
        text = wallet.ctl("restore", wallet.backup_dir)
        for part in ("is restored", "The backup holds every movement that was acknowledged before 20",
                     "not rolled forward", "New ids of transactions and events begin",
                     "must be reconciled", f"transaction {one} at 20"):
            check(part in text, f"{part}: {text}")
        shutil.rmtree(wallet.state)
        text = wallet.ctl("restore", wallet.backup_dir, "--logs", aside / "db")
        check("rolled forward to the end of the last log" in text and "New ids" in text, text)
        wallet.start()
        check(not wallet.move("one"), "a movement from before is done again")


def newer(manifest):
    """The manifest of a later schema, otherwise right."""
    body = manifest[:manifest.rindex(b"end ")].replace(b"schema 6\n", b"schema 7\n")
    return body + b"end " + hashlib.sha256(body).hexdigest().encode() + b"\n"


def case_lives():
    """Whatever way an installation goes back in time, its new ids name nothing that was named before."""
    with Wallet() as wallet:
        wallet.move("before")
        wallet.backup()
        highest = wallet.last_id()
        aside = None
        for words in ((), (), ("--logs",), ()):
            for number in range(5):
                check(wallet.move(f"after-{number}"), "a movement that came after the backup")
            highest = max(highest, wallet.last_id())
            wallet.kill()
            aside = wallet.put_away()
            restored = wallet.restore(*words, *([aside / "db"] if words else []))
            check(restored["first_id"] > highest, f"{words}: {highest}, {restored}")
            wallet.start()
            check(not wallet.move("before"), "a movement from before is done again")
            if not words:
                wallet.move("new")
                equal(wallet.last_id() % cb.ID_STRIDE, 0, "stride")
            else:
                # What the logs hold is there: what comes next needs the state as it was then.
                check(not wallet.move("after-0"), "a movement that the logs hold is done again")
                wallet.kill()
                wallet.put_away()
                wallet.restore()
                wallet.start()
            highest = max(highest, wallet.last_id())
        # All is lost, and the operator begins anew.
        wallet.kill()
        wallet.put_away()
        wallet.ctl("init")
        wallet.start()
        wallet.dealer_add("demo")
        wallet.player_add("demo", wallet.users[0])
        check(wallet.move("before"), "a new state knows no movement")
        check(wallet.last_id() > highest, f"{wallet.last_id()} after {highest}")


def case_two_hosts():
    """Two hosts restore the same backup and both go on: with different numbers they share no id."""
    number = 5
    with Wallet() as wallet, cb.Instance("cbother", settings={"ledger_number": number}, start=False) as other:
        wallet.move("before")
        wallet.backup()
        wallet.kill()
        wallet.put_away()
        shutil.rmtree(other.state)
        begun = wallet.restore(), other.ctl_json("restore", wallet.backup_dir)
        equal([one["first_id"] % cb.ID_STRIDE for one in begun], [0, number], f"first ids: {begun}")
        equal([one["ledger_number"] for one in begun], [0, number], f"numbers: {begun}")
        given = []
        for host in (wallet, other):
            # At least those of the start of an engine, and those after it.
            for _ in range(2):
                host.start()
                for _ in range(3):
                    host.ctl("player", "adjust", "demo", wallet.users[0], 1, "--reason", "both go on")
                    status = host.ctl_json("status")
                    given.append(status["last_transaction_id"])
                    equal(status["ledger_number"], given[-1] % cb.ID_STRIDE, "the number in force")
                host.stop()
        equal([one % cb.ID_STRIDE for one in given], 6 * [0] + 6 * [number], f"ids: {given}")
        check(all(one > begun[0]["last_transaction_id"] for one in given), f"ids: {given}")
        equal(len(set(given)), len(given), f"ids: {given}")


def case_forged():
    """Rows that no command can have made are refused, though every file is as the manifest says."""
    with Wallet() as wallet:
        wallet.move("before")
        wallet.backup()
        last = wallet.last_id()
        wallet.stop()
        # An adjustment of a million that nothing else names.
        subprocess.run([cb.builddir() / "tests" / "fault" / "set_movement", wallet.state / "db", str(last + cb.ID_STRIDE),
                        str(last + cb.ID_STRIDE), "demo", "a" * 20, "2", str(last), "10000", "10000000000"], check=True,
                       timeout=20 * cb.PATIENCE)
        wallet.start()
        forged = wallet.dir / "forged"
        wallet.ctl("backup", forged)
        wallet.kill()
        wallet.put_away()
        equal(wallet.ctl_json("restore", "--dry-run", forged)["proved"], False, "the files are whole")
        for _ in range(2):
            refused(wallet, 1, "backup_damaged", "the rows of the backup do not agree", "restore", forged)
            done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", wallet.config], capture_output=True,
                                  text=True, timeout=20 * cb.PATIENCE, check=False)
            equal(done.returncode, 78, f"no ledger starts on it: {done.stderr}")
            equal([path.name for path in wallet.state.rglob("*") if "lock" not in path.name], [], "no row and no key is left")
        # The operator decides.
        equal(wallet.ctl_json("restore", "--no-proof", forged)["proved"], False, "without a proof")
        wallet.start()
        equal(wallet.ctl_run("check").returncode, 1, "check finds it, too")
        wallet.stop()
        wallet.put_away()
        equal(wallet.restore()["proved"], True, "a backup that a ledger wrote")
        wallet.start()
        wallet.check()


def case_places():
    """Where a backup may not be written to."""
    with Wallet() as wallet:
        refused(wallet, 1, "backup_failed", "lies in the state directory", "backup",
                wallet.state / "backup")
        refused(wallet, 1, "failed", "No such file", "backup", wallet.dir / "no" / "such")
        wallet.backup_dir.mkdir(mode=0o700)
        wallet.backup_dir.chmod(0o777)
        refused(wallet, 1, "backup_failed", "is open to others", "backup", wallet.backup_dir)
        wallet.backup_dir.chmod(0o700)
        (wallet.backup_dir / "photo.jpg").touch()
        refused(wallet, 1, "backup_failed", "holds photo.jpg and no backup", "backup",
                wallet.backup_dir)
        (wallet.backup_dir / "photo.jpg").unlink()
        # A name that is meant from here.
        done = subprocess.run(wallet.ctl_argv("backup", "backup"), cwd=wallet.dir, timeout=30 * cb.PATIENCE,
                              capture_output=True, text=True, check=False)
        equal(done.returncode, 0, done.stderr)
        check((wallet.backup_dir / "manifest").exists(), "the manifest")
        for path in wallet.backup_dir.rglob("*"):
            equal(path.stat().st_mode & 0o777, 0o700 if path.is_dir() else 0o600, f"mode of {path}")
        with Wallet() as other:
            refused(other, 1, "backup_failed", "of another installation", "backup",
                    wallet.backup_dir)


def case_other_user():
    """As root: the directory is made for the user that the ledger runs as, and so is the state."""
    if os.geteuid() != 0:
        raise Skip("only root can be another user")
    with cb.Instance("cbbackup", start=False) as wallet:
        user = pwd.getpwnam(wallet.user)
        shutil.rmtree(wallet.state)
        wallet.ctl("init", "--user", wallet.user)
        os.chown(wallet.sockets, user.pw_uid, user.pw_gid)
        # The build directory may lie where that user cannot reach it.
        program = shutil.copy(cb.find_program("creditbridge-ledger"), wallet.dir / "bin")
        wallet.ledger = cb.Child([program, "--config", wallet.config],
                                 wallet.logs / "ledger.log", user=wallet.user)
        wallet.ledger.wait_ready(wallet.answering, 20, "the ledger's first answer")
        wallet.dealer_add("demo")
        target = wallet.dir / "backup"
        wallet.ctl("backup", target)
        equal(target.stat().st_uid, user.pw_uid, "owner of the backup")
        # A directory of root that is not empty keeps its owner.
        mine = wallet.dir / "mine"
        mine.mkdir()
        (mine / "file").touch()
        refused(wallet, 1, "failed", "belongs to root and is not empty", "backup", mine)
        equal(mine.stat().st_uid, 0, "owner of another directory")
        wallet.stop()
        shutil.rmtree(wallet.state)
        wallet.ctl("restore", target)
        for path in [wallet.state, *wallet.state.rglob("*")]:
            equal(path.stat().st_uid, user.pw_uid, f"owner of {path}")


# -- killed in the middle

def fill(wallet, count):
    load = pump.Pump(wallet, "demo", wallet.users, f"fill-{count}", 20000)
    time.sleep(count)
    load.stop()
    return load


def changed_at(paths):
    """When each of @paths that is there was changed: what differs later was touched in between."""
    times = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            times[path] = path.stat().st_mtime_ns
    return times


def case_killed_backup():
    """The engine dies while it copies: what was backed up before stays, and the next one is done."""
    with Wallet() as wallet:
        load = fill(wallet, 1)
        wallet.backup()
        died, tries = 0, 0
        # A disk may be quick: each that was done before its kill halves the time for the next.
        longest = 0.05
        while died < 3 and tries < 40:
            tries += 1
            before = changed_at(wallet.backup_dir.glob("data.*"))
            child = subprocess.Popen(wallet.ctl_argv("backup", wallet.backup_dir, "--whole"),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            # As soon as it has begun to copy, or a moment later.
            wait_until(lambda: changed_at(wallet.backup_dir.glob("data.*")).items() - before.items()
                       or child.poll() is not None, 20, "a new folder", interval=0.001)
            time.sleep(RANDOM.uniform(0, longest))
            for pid in wallet.engine_pids():
                os.kill(pid, signal.SIGKILL)
            _, errors = child.communicate(timeout=30 * cb.PATIENCE)
            check(child.returncode in (0, 1), f"exit code {child.returncode}: {errors}")
            if child.returncode:
                died += 1
                check("the ledger was started again before the backup was done" in errors, errors)
            else:
                longest /= 2
            wallet.ctl("restore", wallet.backup_dir, "--dry-run")
        wallet.backup()
        wallet.kill()
        shutil.rmtree(wallet.state)
        wallet.prove(load)
        check(died, "no backup was killed in the middle")
        print(f"# {died} of {tries} backups were killed in the middle", flush=True)


def case_killed_restore():
    """It can be repeated, and no ledger starts on half of a state."""
    with Wallet() as wallet:
        load = fill(wallet, 1)
        wallet.backup()
        wallet.kill()
        shutil.rmtree(wallet.state)
        half, tries = 0, 0
        longest = 0.15  # halved as above
        while half < 4 and tries < 40:
            tries += 1
            before = changed_at([wallet.state / "lock"])
            child = subprocess.Popen(wallet.ctl_argv("restore", wallet.backup_dir),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     start_new_session=True)
            # It writes its pid into the lock, and then takes away what a killed one left.
            wait_until(lambda: changed_at([wallet.state / "lock"]) != before and
                       any((wallet.state / name).exists() for name in ("restoring", "installation")),
                       20, "its beginning", interval=0.0005)
            time.sleep(RANDOM.uniform(0, longest))
            os.killpg(child.pid, signal.SIGKILL)
            child.wait(20)
            # Its child holds the lock until it is gone, too.
            wait_until(lambda: not cb.lock_holders(wallet.state / "lock"), 20, "its end")
            if (wallet.state / "installation").exists():
                longest /= 2
                shutil.rmtree(wallet.state)
                continue
            half += 1
            wallet.ledger_start()
            equal(wallet.ledger.process.wait(20), 78, "exit code on half of a state")
        wallet.prove(load)
        check(half, "no restore was killed in the middle")
        print(f"# {half} of {tries} restores were killed in the middle", flush=True)


# -- a disk that fails

class FailingTarget(Wallet):
    """The disk of the backup fails while the file @control says so; the state's does not."""

    def ledger_start(self):
        env = dict(os.environ, LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "shim.so"),
                   FAULT_STATE=str(self.dir / "backup"), FAULT_CONTROL=str(self.dir / "fault"),
                   ASAN_OPTIONS=":".join([os.environ.get("ASAN_OPTIONS", ""),
                                          "verify_asan_link_order=0"]))
        self.ledger = cb.Child([cb.find_program("creditbridge-ledger"), "--config", self.config],
                               self.logs / "ledger.log", env=env)


def case_failing_disk():
    with FailingTarget() as wallet:
        control = wallet.dir / "fault"
        engines = wallet.engine_pids()
        for fault, what in (("write ENOSPC", "No space left on device"),
                            ("write EIO", "Input/output error"),
                            ("sync EIO", "Input/output error"),
                            ("sync ENOSPC", "No space left on device")):
            control.write_text(fault)
            refused(wallet, 1, "backup_failed", what, "backup", wallet.backup_dir)
            check(not (wallet.backup_dir / "manifest").exists(), f"a manifest after {fault}")
            wait_until(lambda: not list(wallet.backup_dir.glob("data.*/*")), 20, "what was copied")
            check(wallet.move(f"at {fault}"), "a transfer meanwhile")
            control.unlink()
        wallet.backup()
        manifest = (wallet.backup_dir / "manifest").read_bytes()
        check(wallet.move("later"), "a transfer")
        for words in ((), ("--whole",)):
            control.write_text("write ENOSPC")
            refused(wallet, 1, "backup_failed", "No space left on device", "backup",
                    wallet.backup_dir, *words)
            equal((wallet.backup_dir / "manifest").read_bytes(), manifest, "the manifest before")
            control.unlink()
            wallet.ctl("restore", wallet.backup_dir, "--dry-run")
        equal(wallet.engine_pids(), engines, "the ledger is the same")
        equal(wallet.backup()["added"], True, "the backup goes on")


def case_full_file_system():
    """A small file system that is full, as far as one can be mounted."""
    with Wallet() as wallet:
        wallet.backup_dir.mkdir(mode=0o700)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "none",
                           wallet.backup_dir], capture_output=True, check=False).returncode:
            raise Skip("no file system can be mounted here")
        try:
            refused(wallet, 1, "backup_failed", "has room for", "backup", wallet.backup_dir)
            check(wallet.move("meanwhile"), "a transfer")
        finally:
            subprocess.run(["umount", wallet.backup_dir], check=True)


# -- retention

DAY_S = 86400
QUICK = {"result_second_attempt_ms": 10, "result_third_attempt_ms": 10}


class ReadOnlyPlace(Wallet):
    """A ledger that finds one directory read-only, as a unit with ProtectSystem= does."""

    def ledger_start(self):
        place = self.dir / "outside"
        place.mkdir(mode=0o700, exist_ok=True)
        script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        self.ledger = cb.Child(["unshare", "--mount", "sh", "-c", script, place,
                                cb.find_program("creditbridge-ledger"), "--config", self.config],
                               self.logs / "ledger.log")


def case_read_only_place():
    """The sandbox of the ledger's unit is named, and what to do about it."""
    if os.geteuid() or subprocess.run(["unshare", "--mount", "true"], capture_output=True,
                                      check=False).returncode:
        raise cb.Skip("there are no mount namespaces here")
    with ReadOnlyPlace() as wallet:
        done = wallet.ctl_run("backup", wallet.dir / "outside" / "x")
        equal(done.returncode, 1, f"exit code: {done}")
        for words in (str(wallet.dir / "outside" / "x"), "Read-only file system", "ProtectSystem=",
                      "ReadWritePaths=", "/var/backups/creditbridge"):
            check(words in done.stderr, f"{words}: {done.stderr}")


class Later(Wallet):
    """Its ledger's wall clock is ahead by @days."""

    days = 0

    def ledger_start(self):
        env = dict(os.environ, LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "clock.so"),
                   CLOCK_OFFSET_S=str(self.days * DAY_S),
                   ASAN_OPTIONS=":".join([os.environ.get("ASAN_OPTIONS", ""),
                                          "verify_asan_link_order=0"]))
        self.ledger = cb.Child([cb.find_program("creditbridge-ledger"), "--config", self.config],
                               self.logs / "ledger.log", env=env)

    def start_later(self, days):
        equal(self.stop(), 0, "exit code of the ledger")
        self.days = days
        self.start()

    def rests(self):
        """Waits until no more bodies are dropped, and returns their number. Reading the status
        disturbs nothing."""
        wait_until(lambda: self.ctl_json("status")["bodies_dropped"], 30, "the first drop")
        seen = [0, 1]
        while seen[-1] != seen[-2]:
            time.sleep(0.3)
            seen.append(self.ctl_json("status")["bodies_dropped"])
        return seen[-1]


def play(wallet):
    """A won and a lost round, one whose result is parked, a rejected bet, one under way, one that is
    being refunded, and a round of a transfer wallet. The events: won, parked, refused."""
    events = []
    with Worker(wallet.sockets / "edge.sock") as link:
        for game, result in (("won", WIN), ("lost", LOSS), ("parked", WIN)):
            link.end(link.place("slots", "seamless", "bob", game, 10).send, "seamless", SUCCESS)
            made = link.settle("slots", "seamless", "bob", game, result, 15 if result == WIN else 0)
            link.end(made.send, "seamless", SUCCESS if game != "parked" else UNKNOWN)
            events.append(made.event)
        for _ in range(2):
            grant = wait_until(lambda: claimed(link, events[2]), 20, "the next attempt")
            link.end(grant, "seamless", UNKNOWN)
        bet = link.place("slots", "seamless", "bob", "rejected", 10)
        link.end(bet.send, "seamless", REFUSED)
        events.append(bet.send.event)
        link.end(link.place("slots", "seamless", "bob", "refunded", 10).send, "seamless", UNKNOWN)
        link.end(link.place("slots", "seamless", "bob", "open", 10).send, "seamless", SUCCESS)
        link.place("slots", "demo", wallet.users[0], "g", 1)
        link.settle("slots", "demo", wallet.users[0], "g", WIN, 2)
    return events[0], events[2], events[3]


def claimed(link, event):
    refusal, grant = link.claim(event)
    return grant if not refusal else None


def case_retention():
    """With a clock that is ahead: what was delivered and settled loses its bodies, and nothing else;
    `check` finds that in order, and so it is after a backup and a restore."""
    with Later(2, retention_days=180, retention_pause_s=1, **QUICK) as wallet:
        wallet.dealer_add("seamless", "--url", "http://127.0.0.1:1", "--allow-http",
                          mode="seamless")
        wallet.player_add("seamless", "bob")
        wallet.ctl("client", "add", "slots")
        wallet.move("credit")
        won, parked, rejected = play(wallet)
        before = {event: wallet.ctl_json("callback", "show", event)
                  for event in (won, parked, rejected)}
        bet = wallet.ctl_json("bet", "show", "seamless/bob", "won", 1)
        check(bet["bet"]["user_bet"] and before[won]["body"] and before[won]["tries"], f"{bet}")
        wallet.check()
        wallet.start_later(179)
        time.sleep(0.5)
        equal(wallet.ctl_json("status")["bodies_dropped"], 0, "dropped after 179 days")
        wallet.start_later(182)
        # Bet and result of the won and the lost round, the bet of the parked one, and the round and
        # the bet of the transfer wallet.
        equal(wallet.rests(), 7, "dropped after 182 days")
        wallet.check()
        for event in (parked, rejected):
            equal(wallet.ctl_json("callback", "show", event), before[event], f"callback {event}")
        shown = wallet.ctl_json("callback", "show", won)
        equal((shown["body"], shown["tries"]), (None, []), "a delivered callback")
        equal((shown["state"], shown["attempts"]), ("delivered", 1), "its state")
        after = wallet.ctl_json("bet", "show", "seamless/bob", "won", 1)
        bet["bet"].pop("user_bet")
        equal(after["bet"], dict(bet["bet"], dropped=True), "a settled bet")
        check(not wallet.move("credit"), "a movement from before is done again")
        wallet.backup()
        equal(wallet.stop(), 0, "exit code of the ledger")
        shutil.rmtree(wallet.state)
        # Of the disk before: other data takes its place.
        (wallet.sockets / "halted").touch()
        wallet.restore_refused(78, "configuration", "before the newest row")
        wallet.restore("--accept-clock")
        wallet.start()
        wallet.check()


# -- what the operator is shown

def case_status():
    with Wallet() as wallet:
        status = wallet.ctl_json("status")
        sizes = {row["name"]: row["bytes"] for row in status["tables"]}
        tables = {path.stem: path.stat().st_size for path in (wallet.state / "db").glob("*.db")}
        equal(sizes, tables, "bytes by table")
        equal((status["retention_days"], status["backup_ms"]), (180, 0), "status")
        wallet.ctl("export")
        equal(wallet.ctl_json("status")["backup_ms"], 0, "an export is no backup")
        done = wallet.backup()
        equal(wallet.ctl_json("status")["backup_ms"], done["complete_to_ms"], "the last backup")
        text = wallet.ctl("status")
        check("retention" in text and "180 days" in text and "last backup to" in text, text)
        for part in ("tables", " 8.0 KiB, ", f"{len(tables) - 6} others "):
            check(part in text, f"{part}: {text}")
        # The verdict, an empty line, and a screen.
        check(len(text.splitlines()) < 2 + 25 and max(map(len, text.splitlines())) < 80,
              f"one screen: {text}")
        # One of two that are asked for at once is busy, or comes after the other.
        results = []
        threads = [threading.Thread(target=lambda: results.append(
            wallet.ctl_run("backup", wallet.backup_dir, "--whole").returncode)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(0 in results and set(results) <= {0, 75}, f"exit codes: {results}")


CASES = (
    ("under load", case_under_load),
    ("rolled forward", case_rolled_forward),
    ("a second backup", case_second_backup),
    ("refusals", case_refusals),
    ("lives", case_lives),
    ("two hosts go on after one backup", case_two_hosts),
    ("forged rows", case_forged),
    ("places", case_places),
    ("a place that is read-only for the ledger", case_read_only_place),
    ("another user", case_other_user),
    ("killed backup", case_killed_backup),
    ("killed restore", case_killed_restore),
    ("failing disk", case_failing_disk),
    ("full file system", case_full_file_system),
    ("retention", case_retention),
    ("status", case_status),
)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--rate", type=int, default=2000, help="transfers a second")
    parser.add_argument("--seconds", type=float, default=1.0, help="before and after the backup")
    parser.add_argument("--players", type=int, default=20)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    OPTIONS = parser.parse_args()
    chosen = [case for case in CASES if not OPTIONS.cases or case[0] in OPTIONS.cases]
    if len(chosen) < len(OPTIONS.cases):
        parser.error("the cases are: " + ", ".join(name for name, _ in CASES))
    return cb.run_cases(chosen, seconds=int(OPTIONS.seconds * 12) + 120)


if __name__ == "__main__":
    sys.exit(main())
