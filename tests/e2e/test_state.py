#!/usr/bin/python3
"""The state directory below a ledger: moved, copied, replaced, initialised anew, unmounted while no
engine runs; and copies, which no ledger serves before an operator says what they are."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_process import process_stopped  # noqa: E402
from cb_worker import LOSS, SUCCESS, WIN, Worker  # noqa: E402

EX_CONFIG = 78
BUSY = 75
WAIT_S = 20.0
MOUNTED = "--mounted"  # of this program: one case in a mount namespace of its own


def wallet_new(name="cbstate", **words):
    wallet = cb.Instance(name, **words)
    wallet.dealer_add("demo")
    wallet.player_add("demo", "alice")
    return wallet


def adjust(wallet, operation, amount="1"):
    """Credits alice, once for each @operation; the transaction id."""
    return wallet.ctl_json("player", "adjust", "demo", "alice", amount, "--reason", "test",
                           "--operation-id", operation)["transaction_id"]


def balance(wallet):
    return float(wallet.ctl_json("player", "show", "demo", "alice")["balance"])


class Between:
    """While it is entered the ledger is between two engines; afterwards its parent goes on."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.parent = wallet.ledger.pid

    def __enter__(self):
        engines = self.wallet.engine_pids()
        os.kill(self.parent, signal.SIGSTOP)
        wait_until(lambda: process_stopped(self.parent), WAIT_S, "the parent is stopped")
        for pid in engines:
            os.kill(pid, signal.SIGKILL)
        return self

    def __exit__(self, *_):
        os.kill(self.parent, signal.SIGCONT)


def ends_refusing(wallet, *texts):
    """The parent ends by itself with 78, and says why."""
    code = wallet.ledger.process.wait(timeout=WAIT_S)
    log = (wallet.logs / "ledger.log").read_text(errors="replace")
    wallet.ledger = None
    equal(code, EX_CONFIG, f"exit code of the ledger ({log[-300:]})")
    for text in texts:
        check(text in log, f"the log lacks {text!r}: {log[-600:]}")


def goes_on(wallet, credit, last_id, amount="5"):
    """The state of before serves again: nothing lost, nothing done twice, higher ids."""
    wallet.start()
    equal(balance(wallet), credit, "the balance afterwards")
    equal(adjust(wallet, "first", amount), last_id, "the repeated adjustment is answered as before")
    equal(balance(wallet), credit, "the balance after the repetition")
    check(adjust(wallet, "later") > last_id, "a later id is not above")
    equal(wallet.ctl_json("check")["ok"], True, "check")


def swapped(change, *texts):
    """The ledger notices what @change(state) does between two engines."""
    with wallet_new() as wallet:
        first = adjust(wallet, "first", "5")
        aside = wallet.dir / "aside"
        with Between(wallet):
            wallet.state.rename(aside)
            change(wallet, aside)
        ends_refusing(wallet, *texts)
        shutil.rmtree(wallet.state, ignore_errors=True)
        aside.rename(wallet.state)
        goes_on(wallet, 5, first)


def test_moved_away():
    swapped(lambda wallet, aside: None, "is gone", "moved")


def test_copied_in():
    swapped(lambda wallet, aside: shutil.copytree(aside, wallet.state), "not the one that this "
            "ledger locked")


def test_initialised_anew():
    def change(wallet, _aside):
        # Commands with the ledger's own configuration are refused: the ledger has the lock beside
        # the sockets.
        for words in (("init",), ("restore", "/nonexistent"), ("import", "/dev/null"),
                      ("adopt", "--copied")):
            done = wallet.ctl_run(*words)
            equal(done.returncode, BUSY, f"{words[0]} between two engines: {done.stderr}")
            check("stop it first" in done.stderr, f"{words[0]}: {done.stderr}")
        check(not wallet.state.exists(), "a refused command made the state directory")
        # By another configuration it is done.
        other = wallet.dir / "other.conf"
        (wallet.dir / "elsewhere").mkdir()
        other.write_text(wallet.config.read_text().replace(str(wallet.sockets),
                                                           str(wallet.dir / "elsewhere")))
        subprocess.run([cb.find_program("creditbridgectl"), "--config", other, "init"],
                       check=True, capture_output=True, timeout=WAIT_S)

    swapped(change, "not the one that this ledger locked")


def test_half_restored():
    with wallet_new() as wallet:
        first = adjust(wallet, "first", "5")
        mark = wallet.state / "restoring"
        with Between(wallet):
            mark.touch()
        ends_refusing(wallet, "a restore to", "repeat it")
        mark.unlink()
        goes_on(wallet, 5, first)


def test_lock_deleted():
    """Another ledger on the same data, after the lock file was deleted, does not serve; nor does the
    first one again."""
    with wallet_new() as wallet:
        first = adjust(wallet, "first", "5")
        other = wallet.dir / "other.conf"
        (wallet.dir / "elsewhere").mkdir()
        other.write_text(wallet.config.read_text().replace(str(wallet.sockets),
                                                           str(wallet.dir / "elsewhere")))
        (wallet.state / "lock").unlink()
        done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", other],
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        equal(done.returncode, 1, f"exit code of the second ledger: {done.stderr}")
        check("in use by another ledger" in done.stderr, done.stderr)
        with Between(wallet):
            pass
        ends_refusing(wallet, "/lock is not the one that this ledger locked")
        goes_on(wallet, 5, first)


def test_moved_while_it_serves():
    """An engine serves what it opened, wherever that is named; no file of it comes to be elsewhere."""
    with wallet_new() as wallet:
        adjust(wallet, "before", "5")
        # The engine makes it after its start.
        cb.wait_until((wallet.state / "ballast").exists, WAIT_S, "the ballast")
        aside = wallet.dir / "aside"
        wallet.state.rename(aside)
        wallet.state.mkdir(mode=0o700)
        (wallet.state / "db").mkdir(mode=0o700)
        first = adjust(wallet, "first", "2")
        (aside / "ballast").unlink()
        cb.wait_until((aside / "ballast").exists, WAIT_S, "the ballast, which a second makes anew")
        equal(sorted(path.name for path in wallet.state.rglob("*")), ["db"],
              "what the ledger made in the other directory")
        with Between(wallet):
            pass
        ends_refusing(wallet, "not the one that this ledger locked")
        shutil.rmtree(wallet.state)
        aside.rename(wallet.state)
        goes_on(wallet, 7, first, "2")


def test_unmounted():
    if os.geteuid() != 0 or not shutil.which("unshare"):
        raise cb.Skip("no file system can be mounted here")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable,
                           __file__, MOUNTED], capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                          check=False)
    if "unshare failed" in done.stderr or "cannot mount" in done.stderr:
        raise cb.Skip("no file system can be mounted here")
    equal(done.returncode, 0, f"{done.stdout}{done.stderr}")


def mounted():
    """In a mount namespace: an older copy lies below the file system that the state is on."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cbmount.", dir="/tmp"))
    state = folder / "state"
    try:
        with wallet_new(state=state) as wallet:
            older = adjust(wallet, "older", "100")
            wallet.stop()
            keep = wallet.dir / "keep"
            shutil.copytree(state, keep)
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0700", "cbstate", state],
                              check=False).returncode:
                sys.exit("cannot mount")
            shutil.copytree(keep, state, dirs_exist_ok=True)
            wallet.ctl("adopt", "--moved")
            wallet.start()
            first = adjust(wallet, "first", "5")
            check(first > older, "ids after adopt")
            with Between(wallet):
                subprocess.run(["umount", "--lazy", state], check=True)
            ends_refusing(wallet, "mounted over or unmounted")
            # The directory has an older state, which was served here before.
            wallet.start()
            equal(balance(wallet), 100.0, "the older state serves when it is started by hand")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


# -- copies

def refuses_start(wallet, *texts):
    done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", wallet.config],
                          capture_output=True, text=True, timeout=WAIT_S, check=False)
    equal(done.returncode, EX_CONFIG, f"exit code of a ledger on a copy ({done.stderr})")
    for text in ("adopt --moved", "adopt --copied", *texts):
        check(text in done.stderr, f"standard error lacks {text!r}: {done.stderr}")


def adopted(wallet, how, last_id):
    done = wallet.ctl_json("adopt", f"--{how}", "--reason", "test")
    equal(done["copied"], how == "copied", f"{done}")
    check(done["first_id"] > last_id and done["last_transaction_id"] <= last_id, f"{done}")
    wallet.start()
    if how == "copied":
        # The keys that the copy knows, by their ids.
        dealers = wallet.ctl_json("dealer", "list")["dealers"]
        wanted = [("dealer", row["casino_id"], ", ".join(
            f"{key['key_id']} of {time.strftime('%Y-%m-%d', time.gmtime(key['created_ms'] / 1000))}"
            for key in row["keys"])) for row in dealers]
        equal([(row["kind"], row["id"], row["keys"]) for row in done["revived"]], wanted, "keys copied")
        check(wanted and not re.search("[0-9a-f]{64}", json.dumps(done)), f"no secret: {done}")
        check(all(row["keys_restored_ms"] for row in dealers), "doctor asks to confirm the keys")
    else:
        check("revived" not in done, f"nothing was copied: {done}")
    equal(wallet.ctl_json("audit")["audit"][0]["action"], "adopt", "the trail")
    equal(wallet.ctl_json("status")["held_dealers"], int(how == "copied"), "dealers held")
    later = adjust(wallet, f"after-{how}")
    check(later >= done["first_id"], f"{later} is below {done['first_id']}")
    equal(wallet.ctl_json("check")["ok"], True, "check")
    wallet.stop()
    return later


def test_copied_state():
    with wallet_new() as wallet:
        last = adjust(wallet, "first", "5")
        wallet.stop()
        copy = wallet.dir / "copy"
        shutil.copytree(wallet.state, copy)
        # An older copy comes back in the place of the state.
        last = (wallet.start(), adjust(wallet, "lost"), wallet.stop())[1]
        shutil.rmtree(wallet.state)
        copy.rename(wallet.state)
        refuses_start(wallet, "was copied or moved")
        for words in ((), ("--moved", "--copied")):
            equal(wallet.ctl_run("adopt", *words).returncode, 2, f"adopt {words}")
        last = adopted(wallet, "copied", last)
        # Adopted, it serves as before.
        wallet.start()
        equal(wallet.ctl_run("adopt", "--copied").returncode, BUSY, "adopt beside a ledger")
        wallet.stop()


def test_rolled_back():
    """The ledger does not notice older files in the same directory: the operator must run adopt."""
    with wallet_new() as wallet:
        adjust(wallet, "first", "5")
        wallet.stop()
        copy = wallet.dir / "copy"
        shutil.copytree(wallet.state, copy)
        last = (wallet.start(), adjust(wallet, "lost"), wallet.stop())[1]
        for path in (wallet.state / "db").iterdir():
            path.unlink()
        subprocess.run(["cp", "-a", f"{copy}/.", wallet.state], check=True)
        wallet.start()
        equal(balance(wallet), 5.0, "the older files serve")
        wallet.stop()
        adopted(wallet, "copied", last)


def test_moved_state():
    with wallet_new() as wallet:
        last = adjust(wallet, "first", "5")
        wallet.stop()
        with cb.Instance("cbstate", state=wallet.state, start=False) as other:
            # The same directory by a symbolic link is no other one.
            link = other.dir / "link"
            link.symlink_to(wallet.state)
            other.state = link
            other.write_config({})
            other.start()
            other.stop()
            wallet.state.rename(other.dir / "state")
            other.state = other.dir / "state"
            other.write_config({})
            refuses_start(other, "the path is another")
            adopted(other, "moved", last)


def test_other_host():
    with wallet_new() as wallet:
        last = adjust(wallet, "first", "5")
        wallet.stop()
        identity = wallet.state / "identity"
        text = identity.read_text()
        lines = dict(line.split(" ", 1) for line in text.splitlines())
        if lines["machine"] != "-":
            identity.write_text(text.replace(lines["machine"], "0123456789abcdef" * 2))
            refuses_start(wallet, "the host")
        identity.write_text(text.replace("installation ", "installation 0", 1))
        refuses_start(wallet, "is damaged")
        # A host without an id, or that had none, is no other one.
        identity.write_text(text.replace(lines["machine"], "-"))
        wallet.start()
        wallet.stop()
        # As a version before left it.
        identity.unlink()
        wallet.start()
        check(adjust(wallet, "later") > last, "ids go on")
        check(identity.exists(), "where the state is was not noted")
        wallet.stop()
        wallet.start()


def test_fresh_copy():
    """No ledger was started on it: adopt says where it is, and no life begins."""
    with cb.Instance("cbstate", start=False) as wallet:
        aside = wallet.dir / "aside"
        wallet.state.rename(aside)
        shutil.copytree(aside, wallet.state)
        refuses_start(wallet)
        equal(wallet.ctl_json("adopt", "--copied")["first_id"], 0, "first_id")
        wallet.start()


def test_last_backup():
    """When the last backup was made outlives engines, ledgers and exports."""
    with wallet_new() as wallet:
        def known():
            text = wallet.ctl("metrics")
            metric = next(line for line in text.splitlines()
                          if line.startswith("creditbridge_last_backup_timestamp_seconds"))
            return wallet.ctl_json("status")["backup_ms"], float(metric.split()[1])

        equal(known(), (0, 0.0), "before the first backup")
        made = wallet.ctl_json("backup", wallet.dir / "backup")["complete_to_ms"]
        before = known()
        equal(before[0], made, "after it")
        with Between(wallet):
            pass
        wait_until(wallet.answering, WAIT_S, "the next engine answers")
        equal(known(), before, "after the engine's restart")
        wallet.ctl("export", wallet.dir / "export.jsonl")
        wallet.stop()
        wallet.start()
        equal(known(), before, "after the ledger's restart")
        wallet.stop()
        # There is no backup since the restore.
        wallet.state.rename(wallet.dir / "aside")
        wallet.ctl("restore", wallet.dir / "backup")
        wallet.start()
        equal(known(), (0, 0.0), "after a restore")


def old_state(schema):
    """The state that the last program of an older schema left goes on in place: its ids, its sums, its
    open rounds; its next life begins above all ids. The sums that schema 3 added are there, and the lists that
    schemas 4 to 6 added."""
    fixture = cb.SRCDIR / "tests" / "package" / f"schema-{schema}.tar.xz"
    with cb.Instance("cbold", start=False) as wallet:
        shutil.rmtree(wallet.state)
        subprocess.run(["tar", "-C", wallet.dir, "--no-same-owner", "-xJf", fixture], check=True)
        equal(wallet.ctl_json("schema")["data"], "older", "schema before the first start")
        if schema > 1:
            # Since schema 2 the state knows its place, which is another one here.
            wallet.ctl("adopt", "--moved")
        wallet.start()
        status = wallet.ctl_json("status")
        last = status["last_transaction_id"]
        equal((status["schema"], last if schema == 1 else 8), (6, 8), f"status: {status}")
        equal(wallet.ctl_json("check")["ok"], True, "check")
        equal(float(wallet.ctl_json("player", "show", "old", "alice")["balance"]), 12.34, "balance")
        total = wallet.ctl_json("dealer", "show", "old")["total"]
        equal((total["balance"], total["adjusted"], total["staked"]), (12.34, 20, 7.66), f"{total}")
        total = wallet.ctl_json("dealer", "show", "seam")["total"]
        equal([total[name] for name in ("seamless_staked", "seamless_paid", "seamless_refunded",
                                        "owed_payouts", "owed_refunds")], [30 if schema < 3 else 40, 25, 10, 0, 10],
              f"sums of a seamless dealer: {total}")
        day = wallet.ctl_run("report", "days", "old")
        equal("the sums of old begin on" in day.stderr, schema < 3, f"days: {day.stderr}")
        held = wallet.ctl_json("callback", "list", "--casino", "seam", "--state", "held")["callbacks"]
        equal([row["game_id"] for row in held], [] if schema < 3 else ["held"], "held callbacks")
        with Worker(wallet.sockets / "edge.sock") as link:
            settled = link.settle("slots", "old", "alice", "open", WIN, 17.66, reference="new-1")
            equal(settled.refusal, "", "an open round is settled")
            # Since schema 2 a moved state begins another life, whose ids lie further on.
            check(settled.transaction_id == 9 if schema == 1 else settled.transaction_id > last,
                  f"id after {last}: {settled.transaction_id}")
            won = link.settle("slots", "seam", "bob", "open", LOSS, reference="new-2")
            link.end(won.send, "seam", SUCCESS)
            refused = link.settle("slots", "seam", "bob", "refunding", WIN, 20, reference="new-3")
            equal(refused.refusal, "bet_not_found", "a bet that is being refunded has no result")
            again = link.settle("slots", "seam", "bob", "won", WIN, 25, reference="new-4")
            equal(again.refusal, "already_settled", "a round that was settled")
        equal(float(wallet.ctl_json("player", "show", "old", "alice")["balance"]), 30, "balance")
        equal(wallet.ctl_json("check")["ok"], True, "check afterwards")
        last = wallet.ctl_json("status")["last_transaction_id"]
        equal(last, settled.transaction_id, "its ids count on")
        wallet.ctl("backup", wallet.dir / "backup")
        wallet.stop()
        shutil.rmtree(wallet.state)
        restored = wallet.ctl_json("restore", wallet.dir / "backup")
        check(restored["first_id"] > max(last, 10 ** 14), f"its next life: {restored}")
        wallet.start()
        equal(wallet.ctl_json("check")["ok"], True, "check after its next life began")


def test_schema_1():
    """See old_state()."""
    old_state(1)


def test_schema_2():
    """See old_state()."""
    old_state(2)


def test_schema_3():
    """See old_state()."""
    old_state(3)


def test_schema_4():
    """See old_state()."""
    old_state(4)


def test_schema_5():
    """See old_state()."""
    old_state(5)


def log_end(data):
    """Where the records of a log file end: each begins with the place of the one before, and its own length."""
    at = 0
    while length := int.from_bytes(data[at + 4:at + 8], sys.byteorder):
        at += length
    return at


def as_backup(state, directory, schema):
    """Makes a backup of a stopped state, as the program of @schema wrote it: manifest.h has the format."""
    shutil.copytree(state / "db", directory / "data.1")
    lines = ["creditbridge-backup 1", "version 0.0.9", f"installation {(state / 'installation').read_text().strip()}",
             "folder data.1", f"schema {schema}", "tables_ms 1", "complete_to_ms 1"]
    paths = (directory / "data.1").iterdir()
    # Logs come last.
    files = {path.name: path.read_bytes() for path in sorted(paths, key=lambda path: (path.suffix != ".db", path.name))}
    last = list(files)[-1]
    files[last] = files[last][:log_end(files[last])]
    logs = [name for name in files if name.startswith("log.")]
    lines += [f"first_log {int(logs[0][4:])}", f"last_log {int(logs[-1][4:])}",
              f"last_offset {len(files[last])}", f"files {len(files)}"]
    lines += [f"file {hashlib.sha256(data).hexdigest()} {len(data)} {name}" for name, data in files.items()]
    text = "".join(f"{line}\n" for line in lines)
    (directory / "manifest").write_text(f"{text}end {hashlib.sha256(text.encode()).hexdigest()}\n")


def test_schema_backup():
    """A backup that the last program of an older schema made is raised, then proved, and serves."""
    with cb.Instance("cbraised", start=False) as wallet:
        for schema in range(1, 6):
            shutil.rmtree(wallet.state)
            fixture = cb.SRCDIR / "tests" / "package" / f"schema-{schema}.tar.xz"
            subprocess.run(["tar", "-C", wallet.dir, "--no-same-owner", "-xJf", fixture], check=True)
            backup = wallet.dir / f"backup-{schema}"
            as_backup(wallet.state, backup, schema)
            shutil.rmtree(wallet.state)
            restored = wallet.ctl_json("restore", backup)
            equal((restored["proved"], restored["version"], restored["unreadable"]), (True, "0.0.9", 0), f"{restored}")
            equal(wallet.ctl_json("schema")["data"], "current", f"schema {schema}")
        wallet.start()
        equal(wallet.ctl_json("check")["ok"], True, "check")
        equal(float(wallet.ctl_json("player", "show", "old", "alice")["balance"]), 12.34, "balance")


def test_upgrade_copy():
    """The copy that the package makes of data of an older schema is noticed when it is put back, though
    its data are of a version before identities: ids go on above all that were given out since."""
    fixture = cb.SRCDIR / "tests" / "package" / "schema-1.tar.xz"
    postinst = (cb.SRCDIR / "debian" / "creditbridge.postinst").read_text()
    command = postinst.split("sh -c '", 1)[1].split("' sh ", 1)[0]
    with cb.Instance("cbcopy", start=False) as wallet:
        shutil.rmtree(wallet.state)
        subprocess.run(["tar", "-C", wallet.dir, "--no-same-owner", "-xJf", fixture], check=True)
        copy = wallet.dir / "schema-1-copy"
        subprocess.run(["sh", "-c", command, "sh", wallet.state, copy], check=True, timeout=60 * cb.PATIENCE)
        wallet.start()
        last = wallet.ctl_json("player", "adjust", "old", "alice", "1", "--reason",
                               "test")["transaction_id"]
        wallet.stop()
        shutil.rmtree(wallet.state)
        subprocess.run(["cp", "-a", copy, wallet.state], check=True)
        refuses_start(wallet, f"was copied or moved: the path is another than before (it was {copy}")
        done = wallet.ctl_json("adopt", "--copied", "--reason", "test")
        check(done["first_id"] > last, f"ids above {last}: {done}")
        wallet.start()
        equal(float(wallet.ctl_json("player", "show", "old", "alice")["balance"]), 12.34, "balance")
        check(wallet.ctl_json("status")["held_dealers"] > 0, "callbacks are held")
        equal(wallet.ctl_json("check")["ok"], True, "check")


CASES = [
    ("a state of schema 1 goes on", test_schema_1),
    ("a state of schema 2 goes on", test_schema_2),
    ("a state of schema 3 goes on", test_schema_3),
    ("a state of schema 4 goes on", test_schema_4),
    ("a state of schema 5 goes on", test_schema_5),
    ("a backup of an older schema is proved and restored", test_schema_backup),
    ("the copy that an upgrade made is refused until it is adopted", test_upgrade_copy),
    ("the state is moved away between two engines", test_moved_away),
    ("a copy takes its place between two engines", test_copied_in),
    ("it is initialised anew between two engines", test_initialised_anew),
    ("a restore of it was interrupted", test_half_restored),
    ("its lock is deleted", test_lock_deleted),
    ("it is moved while an engine serves", test_moved_while_it_serves),
    ("it is unmounted between two engines", test_unmounted),
    ("a copied state is refused until it is adopted", test_copied_state),
    ("a state that was rolled back in its place, and is adopted", test_rolled_back),
    ("a moved state is refused until it is adopted", test_moved_state),
    ("a state of another host, and one of a version before", test_other_host),
    ("a copy on which no ledger was started", test_fresh_copy),
    ("the time of the last backup outlives restarts", test_last_backup),
]

if __name__ == "__main__":
    wanted = sys.argv[1:]
    if wanted == [MOUNTED]:
        sys.exit(mounted())
    sys.exit(cb.run_cases([case for case in CASES
                           if not wanted or any(word in case[0] for word in wanted)], seconds=60))
