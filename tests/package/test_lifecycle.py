#!/usr/bin/python3
"""The package as dpkg handles it: upgraded while it serves, from data of an older schema, refused on
data of a newer one, removed, purged.

The other versions are those under test with another number. The older data are
schema-0.tar.xz, which is kept; newer data are the same with another number.
"""
import contextlib
import hashlib
import http.client
import itertools
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import cb  # noqa: E402
import cb_installed  # noqa: E402
from cb import BALANCE, TRANSFER_IN, check, equal  # noqa: E402
from cb_installed import run, systemd  # noqa: E402

STATE = pathlib.Path("/var/lib/creditbridge")
BACKUPS = pathlib.Path("/var/backups/creditbridge")
OLDER_STATE = HERE / "schema-0.tar.xz"
NEWER_STATE = HERE / "schema-99.tar.xz"
README_DEBIAN = HERE.parents[1] / "debian" / "creditbridge.README.Debian"
OLD_DEALER = cb.Dealer("old", "0" * 64, "transfer")
OLD_BALANCE = 12.34
# README.Debian's commands before and after an adopt.
STOP = "systemctl stop 'creditbridge-ledger*'"
RESET = "systemctl reset-failed --all 'creditbridge-ledger*'"
LIGHTTPD = pathlib.Path("/usr/sbin/lighttpd")
LIGHTTPD_MOUNTS = pathlib.Path("/etc/lighttpd/conf-enabled")
# What apt and dpkg keep for themselves, and logs.
UNWATCHED = ("/proc", "/sys", "/dev", "/tmp", "/var/tmp", "/var/cache", "/var/lib/apt",
             "/var/lib/dpkg", "/var/log", "/run/systemd", "/run/log", "/run/apache2", "/run/lock",
             "/run/udev", "/run/user", "/var/lib/systemd", "/var/lib/apache2/fcgid/sock")
CALM_S = 0.05  # between two calls of one caller: an upgrade takes many seconds
work = pathlib.Path(tempfile.mkdtemp(prefix="lifecycle-test."))
os.environ["DEBIAN_FRONTEND"] = "noninteractive"


def version():
    return run("dpkg-query", "-W", "-f=${Version}", "creditbridge").stdout


def deb_under_test():
    """The package itself, which the machine has installed: from apt, or the place that
    $CREDITBRIDGE_DEB names."""
    named = os.environ.get("CREDITBRIDGE_DEB")
    if named:
        return pathlib.Path(named)
    run("apt-get", "-q", "download", "creditbridge", cwd=work)
    return next(work.glob("creditbridge_*.deb"))


def deb_as(number):
    """The package under test with another version number. It is made once, and not compressed, which takes longest."""
    deb = work / f"{number}.deb"
    if deb.exists():
        return deb
    tree = work / number
    run("dpkg-deb", "-R", DEB, tree)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {number}", control.read_text(), flags=re.MULTILINE))
    run("dpkg-deb", "-Znone", "-b", tree, deb)
    shutil.rmtree(tree)
    return deb


def dpkg_install(deb, check_code=True):
    """Installs @deb over what there is; all that was printed, and dpkg's exit code."""
    done = subprocess.run(["dpkg", "--force-confold", "-i", str(deb)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
                          timeout=180, check=False)
    check(not check_code or done.returncode == 0, f"dpkg -i {deb}: {done.stdout}")
    return done.stdout, done.returncode


def balance(server, dealer, user):
    answer = cb.call(server, "GET", BALANCE, {"user_id": user, "request_timestamp": cb.now_ms()},
                     dealer=dealer)
    equal(answer.status, 200, f"balance {answer}")
    return answer.json["balance"]


def tables(state):
    """Returns digests of the tables, which data that were not changed keep."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((state / "db").glob("*.db"))}


def with_cells(config, other):
    """The text of the configuration of cell a, with the file of another cell."""
    named = re.sub("(?m)^cell_name = .*", 'cell_name = "a"', config)
    return re.sub("(?m)^cells = .*", f'cells = {{\n"{other}"}}', named)


def state_put(archive):
    """Puts a state in the place of that which there is."""
    shutil.rmtree(STATE)
    with tarfile.open(archive) as tar:
        tar.extractall(STATE.parent)
    run("chown", "-R", "_creditbridge:_creditbridge", STATE)


class Callers:
    """Transfers of 1, made and repeated as callers do, until stopped."""

    def __init__(self, server, dealer, user):
        self.server, self.dealer, self.user = server, dealer, user
        self.stopping = threading.Event()
        self.made = itertools.count()
        self.count = 0
        self.errors = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(4)]
        for thread in self.threads:
            thread.start()

    def work(self, name):
        for number in itertools.count():
            if self.stopping.is_set():
                return
            body = {"user_id": self.user, "amount": 1,
                    "request_transaction_id": f"{self.user}-{name}-{number}"}
            if self.until_answered(body):
                with self.lock:
                    self.count += 1
            self.stopping.wait(CALM_S)

    def until_answered(self, body):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                answer = cb.call(self.server, "POST", TRANSFER_IN, body, dealer=self.dealer)
                if answer.status == 200:
                    return True
                # Without the worker's file Apache answers 404 for a moment: nothing was done.
                if answer.status < 500 and answer.status not in (403, 404):
                    break
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.1)
        self.errors.append(str(body))
        return False

    def end(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(90)
        equal(self.errors[:3], [], "transfers that got no answer")
        return self.count


def case_upgrade():
    """A newer package of the same schema: the ledger is stopped cleanly and started, the data are as
    they were, and callers that repeat lose nothing."""
    dpkg_install(deb_as("0.0.1"))
    with cb.Installed() as wallet:
        dealer = wallet.dealer_add("upgrade")
        wallet.player_add(dealer.casino_id, "alice")
        with cb.INSTALLED["apache-fcgid"](wallet) as server:
            before = wallet.engine_pids()
            callers = Callers(server, dealer, "alice")
            try:
                cb.wait_until(lambda: callers.count > 50, 60, "transfers")
                printed = dpkg_install(DEB)[0]
                count = callers.count
                cb.wait_until(lambda: callers.count > count + 50, 60, "transfers afterwards")
            finally:
                count = callers.end()
            after = wallet.engine_pids()
            check(after and not set(after) & set(before), f"a new ledger: {before}, {after}")
            equal(balance(server, dealer, "alice"), count, "balance: each moved once")
        equal(wallet.ctl_run("check").returncode, 0, "creditbridgectl check")
    check(not list(BACKUPS.iterdir()), f"a backup without a reason: {printed}")


def case_older_schema():
    """Data of an older schema are copied before the new ledger changes them."""
    dpkg_install(deb_as("0.0.1"))
    with cb.Installed() as wallet:
        wallet.stop()
        state_put(OLDER_STATE)
        old = tables(STATE)
        # What is wrong with the file of another cell does not keep the data of this one from being copied.
        kept = cb_installed.CONFIG.read_text()
        cb_installed.CONFIG.write_text(with_cells(kept, "/etc/creditbridge/cell-none.conf"))
        printed = dpkg_install(DEB)[0]
        cb_installed.CONFIG.write_text(kept)
        wallet.start()
        status = wallet.ctl_json("status")
        check(status["schema"] > 0, f"the schema was raised: {status['schema']}")
        with cb.INSTALLED["apache-fcgid"](wallet) as server:
            equal(balance(server, OLD_DEALER, "alice"), OLD_BALANCE, "the balance of before")
            answer = cb.call(server, "POST", TRANSFER_IN, {
                "user_id": "alice", "amount": 0.66, "request_transaction_id": "after"},
                dealer=OLD_DEALER)
            equal(answer.json["current_balance"], 13, f"a transfer afterwards {answer}")
        equal(wallet.ctl_run("check").returncode, 0, "creditbridgectl check")
        copies = list(BACKUPS.rglob("counter.db"))
        equal(len(copies), 1, f"copies of the data as they were: {printed}")
        copy = copies[0].parent.parent
        check(str(copy) in printed, f"dpkg reports {copy}: {printed}")
        equal(tables(copy), old, "the copy")
        for path in BACKUPS.rglob("*"):
            equal((path.owner(), path.stat().st_mode & 0o077), ("_creditbridge", 0), f"{path}")
        # And it is worth something: put back, it is what it was.
        wallet.stop()
        shutil.rmtree(STATE)
        shutil.copytree(copy, STATE)
        run("chown", "-R", "_creditbridge:_creditbridge", STATE)
        type_block(wallet, chapter_block(STOP))
        run("creditbridgectl", "adopt", "--copied")
        type_block(wallet, chapter_block(RESET))
        wallet.start()
        show = wallet.ctl_json("player", "show", "old", "alice")
        equal(float(show["balance"]), OLD_BALANCE, "the balance in the copy")


class Knockers:
    """Connects to the ledger's sockets all the time, as its callers do."""

    def __init__(self):
        self.stopping = threading.Event()
        self.connected = {"admin": 0, "edge": 0}
        self.threads = [threading.Thread(target=self.knock, args=(name,)) for name in self.connected]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(30)

    def knock(self, name):
        while not self.stopping.wait(0.001):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
                caller.settimeout(1)
                caller.connect(f"/run/creditbridge/{name}.sock")
                self.connected[name] += 1


def case_stop():
    """systemctl stops the ledger and its sockets while calls come, in whatever order they are named."""
    if not systemd():
        raise cb.Skip("the machine has no systemd")
    with cb.Installed() as wallet, Knockers() as knockers:
        try:
            for units in itertools.permutations(cb_installed.LEDGER_UNITS):
                run("systemctl", "reset-failed", "--all", "creditbridge-ledger*")  # systemd limits starts, too
                run("systemctl", "start", *units)
                before = dict(knockers.connected)
                cb.wait_until(lambda then=before: all(knockers.connected[name] > then[name] + 5 for name in then),
                              20, "connections to both sockets")
                run("systemctl", "stop", *units)
                state = run("systemctl", "show", "-P", "ActiveState", *units).stdout.split()
                equal(state, ["inactive"] * len(units), f"after the stop of {units}")
            # As the documents write it, before a command that needs the data for itself.
            run("systemctl", "reset-failed", "--all", "creditbridge-ledger*")
            run("systemctl", "start", "creditbridge-ledger")
            run("systemctl", "stop", "creditbridge-ledger*")
            run("creditbridgectl", "export", "--offline", work / "stopped.jsonl")
        finally:
            run("systemctl", "reset-failed")
            wallet.start()


def type_block(wallet, commands, words=()):
    """Types @commands of README.Debian, with @words in the place of those that stand for something. Where
    apt asks, its question is answered with yes."""
    for command in commands:
        for word, value in words:
            command = command.replace(word, str(value))
        if not systemd() and command.startswith("systemctl reset-failed"):
            continue
        if not systemd() and command.startswith("systemctl"):
            (wallet.stop if " stop " in command else wallet.start)()
            continue
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True, timeout=180,
                              stderr=subprocess.STDOUT, input="y\n", check=False)
        equal(done.returncode, 0, f"{command}: {done.stdout}")


def case_way_back():
    """README.Debian's way back to an older package: the data are those of before the upgrade, all
    callbacks are held, and no id is given out again."""
    aside = STATE.with_name(STATE.name + ".new")
    older = deb_as("0.0.1")
    dpkg_install(older)
    with cb.Installed() as wallet:
        own = work / "own-back"
        wallet.stop()
        shutil.copytree(STATE, own)
        known = set(BACKUPS.glob("schema-*"))
        state_put(OLDER_STATE)
        old = tables(STATE)
        dpkg_install(DEB)
        wallet.start()
        try:
            with cb.INSTALLED["apache-fcgid"](wallet) as server:
                body = {"user_id": "alice", "amount": 0.66, "request_transaction_id": "lost"}
                lost = cb.call(server, "POST", TRANSFER_IN, body, dealer=OLD_DEALER)
                equal(lost.status, 200, f"a transfer after the upgrade: {lost}")
            copy, = set(BACKUPS.glob("schema-*")) - known
            equal(tables(copy), old, "the data of before the upgrade")
            type_block(wallet, chapter_block("systemctl stop creditbridge-ledger.service"),
                       (("/var/backups/creditbridge/schema-N-TIME", copy),
                        ("./creditbridge_OLD.deb", older)))
            equal(version(), "0.0.1", "the older package")
            check(wallet.ctl_run("status").returncode != 0, "no ledger serves a copy by itself")
            # Callers that wait make systemd start it again and again, until its limit of starts.
            with Knockers():
                cb.wait_until(lambda: "limit-hit" in run("systemctl", "show", "-P", "Result", *cb_installed.LEDGER_UNITS
                                                         ).stdout, 60, "the limit of starts")
                type_block(wallet, chapter_block(f"{STOP}\n    creditbridgectl adopt --copied"))
            cb.wait_until(lambda: wallet.ctl_run("status").returncode == 0, 30, "the ledger")
            show = wallet.ctl_json("player", "show", "old", "alice")
            equal(float(show["balance"]), OLD_BALANCE, "the balance of before")
            check(wallet.ctl_json("status")["held_dealers"] >= 1, "callbacks are held")
            with cb.INSTALLED["apache-fcgid"](wallet) as server:
                again = cb.call(server, "POST", TRANSFER_IN, body, dealer=OLD_DEALER)
                equal(again.status, 200, f"the dealer repeats it: {again}")
                check(again.json["transaction_id"] > lost.json["transaction_id"],
                      f"ids above all that were given out: {again} {lost}")
            equal(wallet.ctl_run("check").returncode, 0, "creditbridgectl check")
        finally:
            wallet.stop()
            shutil.rmtree(aside, ignore_errors=True)
            state_put_tree(own)
            if systemd():
                run("systemctl", "reset-failed")
        dpkg_install(DEB)
        wallet.start()


def stop_what_cannot_start(wallet):
    """Each call makes systemd start a ledger that ends at once. It is stopped all the same."""
    with Knockers():
        for _ in range(5):
            run("systemctl", "reset-failed", "--all", "creditbridge-ledger*")
            run("systemctl", "start", *cb_installed.LEDGER_UNITS, check=False)
            time.sleep(0.3)
            wallet.stop()


def case_downgrade():
    """An older package is refused with a reason on newer data, before it has changed a thing."""
    dpkg_install(deb_as("99.0"))
    with cb.Installed() as wallet:
        own = work / "own"
        wallet.stop()
        shutil.copytree(STATE, own)
        try:
            state_put(NEWER_STATE)
            new = tables(STATE)
            printed, code = dpkg_install(DEB, check_code=False)
            check(code != 0, f"dpkg's exit code: {printed}")
            check("the data are of schema 99" in printed, f"dpkg gives the reason: {printed}")
            equal(version(), "99.0", "the version that stays")
            equal(tables(STATE), new, "the data")
            # Nor does a ledger of this version touch them, however it is started.
            if systemd():
                run("systemctl", "start", *cb_installed.LEDGER_UNITS, check=False)
            else:
                run("service", "creditbridge-ledger", "start", check=False)
            status = wallet.ctl_run("status")
            check(status.returncode != 0, f"a ledger serves newer data: {status.stdout}")
            equal(tables(STATE), new, "the data")
            if systemd():
                stop_what_cannot_start(wallet)
        finally:
            wallet.stop()
            state_put_tree(own)
            if systemd():
                run("systemctl", "reset-failed")
        dpkg_install(DEB)
        wallet.start()


def state_put_tree(tree):
    shutil.rmtree(STATE)
    shutil.copytree(tree, STATE)
    run("chown", "-R", "_creditbridge:_creditbridge", STATE)
    # A ledger does not start on it as it is: it is a copy.
    run("creditbridgectl", "adopt", "--moved", "--reason", "test")


def chapter_block(first):
    """The commands of the block of README.Debian that begins with @first, one line each."""
    text = README_DEBIAN.read_text()
    block = text[text.index(f"\n    {first}") + 1:].split("\n\n")[0]
    return [" ".join(line.split()) for line in block.replace("\\\n", " ").splitlines()]


def restoring():
    """The commands of README.Debian by which a backup is restored."""
    lines = chapter_block("systemctl stop creditbridge-sweep.timer")
    check(len(lines) >= 6, f"commands: {lines}")
    return lines


def reconciled(wallet, casino_id):
    """Types the steps of README.Debian after a restore, up to the old state's end."""
    status = wallet.ctl_json("status")
    check(status["held_dealers"] >= 1, f"callbacks are held: {status}")
    file = work / "dealer.csv"
    file.write_text("record,id,amount,time_ms\n")
    work.chmod(0o711)
    for first in ("creditbridgectl dealer show CASINO", "creditbridgectl reconcile CASINO FILE",
                  "creditbridgectl release CASINO", "rm -rf /var/lib/creditbridge.old"):
        for command in chapter_block(first):
            for word, value in (("CASINO", casino_id), ("CLIENT", casino_id), ("FILE", str(file))):
                command = command.replace(word, value)
            done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True, timeout=60,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
            equal(done.returncode, 0, f"{command}: {done.stdout}")
    shown = wallet.ctl_json("dealer", "show", casino_id)
    equal((shown["callbacks_held_ms"], shown["keys_restored_ms"], shown["restored_ms"]), (0, 0, 0),
          f"after the steps: {shown}")
    # Dealers of other cases.
    wallet.ctl("release", "--yes", "--unreconciled", "--reason", "test")


def restored(wallet, backup, options=""):
    """Follows README.Debian, and puts away the state of before."""
    type_block(wallet, [line.replace(" restore ", f" restore {options} ") for line in restoring()],
               (("DIRECTORY", backup),))
    equal((STATE.owner(), STATE.group(), STATE.stat().st_mode & 0o777),
          ("_creditbridge", "_creditbridge", 0o700), f"{STATE}")
    cb.wait_until(lambda: wallet.ctl_run("status").returncode == 0, 30, "the ledger")


def case_restore():
    """README.Debian's way to restore a backup: without the old log what the backup has, on the host
    that it is of everything."""
    old = STATE.with_name(STATE.name + ".old")
    backup = BACKUPS / "daily"
    elsewhere = work / "elsewhere"
    with cb.Installed() as wallet:
        dealer = wallet.dealer_add("restored")
        wallet.ctl("client", "add", dealer.casino_id)
        wallet.player_add(dealer.casino_id, "alice")
        wallet.ctl("player", "adjust", dealer.casino_id, "alice", "5", "--reason", "test")
        wallet.ctl("backup", backup)
        wallet.ctl("player", "adjust", dealer.casino_id, "alice", "3", "--reason", "test")

        def has():
            return float(wallet.ctl_json("player", "show", dealer.casino_id, "alice")["balance"])
        try:
            restored(wallet, backup, f"--logs {old}/db")
            equal(has(), 8, "the balance, with the log")
            reconciled(wallet, dealer.casino_id)
            check(not old.exists(), f"{old} is deleted")
            # As from another host, where the user has another number.
            shutil.copytree(backup, elsewhere)
            work.chmod(0o711)
            restored(wallet, elsewhere)
            equal(has(), 5, "the balance, of the backup alone")
            reconciled(wallet, dealer.casino_id)
        finally:
            shutil.rmtree(old, ignore_errors=True)
            shutil.rmtree(backup, ignore_errors=True)
            wallet.start()


def remains():
    """Every file, account, group and override there is, with its owner and mode."""
    lines = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in UNWATCHED]
        for name in folders + files:
            path = os.path.join(folder, name)
            try:
                status = os.lstat(path)
            except FileNotFoundError:
                continue
            lines.append(f"{path} {status.st_mode:o} {status.st_uid} {status.st_gid}")
    for database in ("passwd", "group", "shadow", "gshadow"):
        lines += [f"{database} {line}" for line in
                  run("getent", database).stdout.splitlines()]
    lines += run("dpkg-statoverride", "--list", check=False).stdout.splitlines()
    return set(lines)


def case_remove():
    """remove leaves the data, and nothing that runs."""
    with cb.Installed() as wallet:
        dealer = wallet.dealer_add("kept")
        wallet.player_add(dealer.casino_id, "alice")
        wallet.ctl("player", "adjust", dealer.casino_id, "alice", "5", "--reason", "test")
        wallet.stop()
        run("a2enconf", "creditbridge")
        before = tables(STATE)
        wallet.start()
        cb_installed.service("restart", "apache2")
        run("dpkg", "--remove", "creditbridge")
        equal(cb.pids_running(cb_installed.LEDGER_PATH), [], "ledgers")
        equal([line for line in cb.commands_with("creditbridge").values()
               if line.startswith(b"/usr/libexec/creditbridge")], [], "workers")
        check(set(tables(STATE)) == set(before), "the data are there")
        pwd.getpwnam("_creditbridge")
        cb_installed.service("restart", "apache2")  # its configuration is whole
        dpkg_install(DEB)
        wallet.start()
        show = wallet.ctl_json("player", "show", dealer.casino_id, "alice")
        equal(float(show["balance"]), 5, "the balance of before")


class OtherCell(cb_installed.Installed):
    """Cell b, as doc/cells.md makes it, with enabled units."""
    units = ("creditbridge-ledger-edge@b.socket", "creditbridge-ledger-admin@b.socket",
             "creditbridge-ledger@b.service", "creditbridge-sweep@b.timer", "creditbridge-job@b.socket",
             "creditbridge-ping@b.socket")

    def __init__(self, default):  # pylint: disable=super-init-not-called
        self.config = pathlib.Path("/etc/creditbridge/cell-b.conf")
        self.state = STATE.with_name("creditbridge-b")
        self.sockets = pathlib.Path("/run/creditbridge-b")
        self.servers = []
        self.run_name = default.run_name
        self.config.write_text('cell_name = "b"\nledger_number = 1\nsocket_directory = "/run/creditbridge-b"\n'
                               f'state_directory = "{self.state}"\n')
        self.kept = cb_installed.CONFIG.read_text()
        cb_installed.CONFIG.write_text(with_cells(self.kept, self.config))

    def ctl_argv(self, *words):
        return ["/usr/bin/creditbridgectl", "--config", str(self.config), *map(str, words)]

    def make(self):
        run("creditbridgectl", "init", "--cell", "b", "--user", "_creditbridge")
        run("systemctl", "enable", "--now", *self.units)
        cb.wait_until(self.answering, 20, "the ledger of cell b")
        self.ctl("dealer", "add", "other", "--currency", "thb", "--mode", "transfer")
        self.ctl("player", "add", "other", "alice")
        self.ctl("player", "adjust", "other", "alice", "5", "--reason", "test")

    def stop(self):
        run("systemctl", "stop", *self.units)

    def start(self):
        run("systemctl", "start", *self.units)
        cb.wait_until(self.answering, 20, "the ledger of cell b")

    def active(self):
        return run("systemctl", "is-active", *self.units, check=False).stdout.split()

    def balance(self):
        return float(self.ctl_json("player", "show", "other", "alice")["balance"])

    def close(self):
        """As if the cell had never been there."""
        run("systemctl", "disable", "--now", *self.units, check=False)
        self.config.unlink(missing_ok=True)
        if cb_installed.CONFIG.exists():
            cb_installed.CONFIG.write_text(self.kept)
        for place in (self.state, self.sockets):
            shutil.rmtree(place, ignore_errors=True)


def older_cell(cell):
    """An upgrade of a cell whose data are of an older schema: they are copied before."""
    cell.stop()
    shutil.rmtree(cell.state)
    with tarfile.open(OLDER_STATE) as tar:
        tar.extractall(work)
    shutil.copytree(work / "creditbridge", cell.state)
    run("chown", "-R", "_creditbridge:_creditbridge", cell.state)
    old = tables(cell.state)
    printed = dpkg_install(DEB)[0]
    cb.wait_until(cell.answering, 30, "the ledger of cell b")
    copies = list(BACKUPS.glob("cell-b-schema-0-*"))
    equal([tables(copy) for copy in copies], [old], f"the copy of before: {printed}")
    shutil.rmtree(copies[0])
    check(cell.ctl_json("status")["schema"] > 0, "the schema was raised")


def after_a_boot(cell):
    """The sockets come before the ledger, whose start must not take jobs.sock from the console."""
    cell.stop()
    shutil.rmtree(cell.sockets)
    run("systemctl", "start", cell.units[0])
    equal(cell.sockets.owner(), "root", "the owner of the directory that a socket made")
    run("systemctl", "start", "creditbridge-job@b.socket")
    cell.start()
    equal((cell.sockets / "jobs.sock").group(), "_creditbridge-console", "the group of jobs.sock")


def case_cells():
    """The units and the data of another cell are treated as those of the default cell."""
    if not systemd():
        raise cb.Skip("the machine has no systemd")
    dpkg_install(deb_as("0.0.1"))
    with cb.Installed() as wallet, OtherCell(wallet) as cell:
        cell.make()
        before = run("systemctl", "show", "-P", "MainPID", cell.units[2]).stdout
        # A second one, whose socket is started by hand.
        run("systemctl", "start", "creditbridge-ledger-edge@c.socket")
        dpkg_install(DEB)
        check(run("systemctl", "show", "-P", "MainPID", cell.units[2]).stdout != before, "a new ledger")
        equal(cell.active(), ["active"] * len(cell.units), "the units after the upgrade")
        cb.wait_until(cell.answering, 20, "the ledger of cell b")
        equal(cell.balance(), 5, "the balance after the upgrade")
        equal(run("systemctl", "is-active", "creditbridge-ledger-edge@c.socket", check=False).stdout, "inactive\n",
              "a unit that is not enabled is stopped")
        run("dpkg", "--remove", "creditbridge")
        equal(cb.pids_running(cb_installed.LEDGER_PATH), [], "ledgers after remove")
        equal(set(cell.active()), {"inactive"}, "the units after remove")
        dpkg_install(DEB)
        cb.wait_until(cell.answering, 20, "the ledger of cell b")
        equal((cell.active(), cell.balance()), (["active"] * len(cell.units), 5), "after the next installation")
        after_a_boot(cell)
        older_cell(cell)


def case_cells_purged():
    """A package that is older than the data of another cell is refused. A purge asks about the data of all cells."""
    if not systemd():
        raise cb.Skip("the machine has no systemd")
    with cb.Installed() as wallet, OtherCell(wallet) as cell:
        cell.make()
        newer_cell(cell)
        printed = purge(delete=False)
        for text in (f"rm -rf '{STATE}'", f"rm -rf '{cell.state}'"):
            check(f"creditbridge:     {text}" in printed, f"what is kept is named: {printed}")
        equal(cell.state.owner(), "_creditbridge", "the owner of what is kept")
        dpkg_install(DEB)
        asked = purge(delete=True, show=True)
        check(f"SUBST creditbridge/purge_data cells 2 ({STATE}, {cell.state})\n" in asked, f"the question: {asked}")
        left = [path for path in (STATE, cell.state, BACKUPS, *pathlib.Path("/etc/systemd/system").glob("*/*@b.*"))
                if os.path.lexists(path)]
        equal(left, [], "what purge left")
        dpkg_install(DEB)
        wallet.start()


def newer_cell(cell):
    """A package that is older than the data of a cell is refused, and the cell goes on with the newer package."""
    dpkg_install(deb_as("99.0"))
    cell.stop()
    kept = work / "kept-b"
    cell.state.rename(kept)
    with tarfile.open(NEWER_STATE) as tar:
        tar.extractall(work / "newer")
    shutil.copytree(work / "newer" / "creditbridge", cell.state)
    run("chown", "-R", "_creditbridge:_creditbridge", cell.state)
    printed, code = dpkg_install(DEB, check_code=False)
    check(code and "the data are of schema 99" in printed and str(cell.state) in printed, f"{code}: {printed}")
    equal(version(), "99.0", "the version that stays")
    cell.stop()
    shutil.rmtree(cell.state)
    kept.rename(cell.state)
    dpkg_install(DEB)
    cb.wait_until(cell.answering, 30, "the ledger of cell b")


def lighttpd_after(action):
    """Its processes: some after "start", none after "stop"."""
    cb.wait_until(lambda: bool(cb.pids_running(LIGHTTPD)) == (action == "start"), 20,
                  f"lighttpd as after {action}")
    return cb.pids_running(LIGHTTPD)


def case_remove_lighttpd():
    """remove takes the mounts out of lighttpd, which runs on if it ran, and stays stopped if not."""
    cb_installed.service("stop", "apache2")  # it is on lighttpd's port
    with cb.Installed():
        for action in ("start", "stop"):
            run("lighty-enable-mod", "creditbridge")
            cb_installed.service(action, "lighttpd")
            before = lighttpd_after(action)
            run("dpkg", "--remove", "creditbridge")
            equal(list(LIGHTTPD_MOUNTS.glob("*creditbridge*")), [], "mounts that are left")
            after = lighttpd_after(action)
            check(not set(before) & set(after), "it was restarted without the mounts")
            dpkg_install(DEB)
    cb_installed.service("stop", "lighttpd")


def purge(delete, show=False):
    """Purges the package; @delete: with the answer that the data are to be deleted. @show: with what is said to
    debconf. What was printed."""
    if delete:
        subprocess.run(["debconf-set-selections"], text=True, check=True, timeout=60,
                       input="creditbridge creditbridge/purge_data boolean true\n")
    done = run("dpkg", "--purge", "creditbridge", env=os.environ | ({"DEBCONF_DEBUG": "developer"} if show else {}))
    return done.stdout + done.stderr


def case_purge_keeps():
    """Where nothing is asked, purge keeps all that holds credit and keys, names it, and leaves it to its
    owner. Another installation goes on with it."""
    aside = STATE.with_name(STATE.name + ".old")
    with cb.Installed() as wallet:
        dealer = wallet.dealer_add("purge-kept")
        wallet.player_add(dealer.casino_id, "alice")
        wallet.ctl("player", "adjust", dealer.casino_id, "alice", "5", "--reason", "test")
        wallet.ctl("backup", BACKUPS / "one")
        wallet.stop()
        run("cp", "-a", STATE, aside)
        before = tables(STATE)
        printed = purge(delete=False)
        for place in (STATE, aside, BACKUPS):
            equal(place.owner(), "_creditbridge", f"owner of {place}")
            check(f"creditbridge:     rm -rf '{place}'" in printed, f"{place} is named: {printed}")
        equal(tables(STATE), before, "the data")
        for user in ("_creditbridge-web", "_creditbridge-sweep"):
            equal(run("getent", "passwd", user, check=False).returncode, 2, user)
        dpkg_install(DEB)
        wallet.start()
        show = wallet.ctl_json("player", "show", dealer.casino_id, "alice")
        equal(float(show["balance"]), 5, "the balance of before")
    shutil.rmtree(aside)


def case_links():
    """The package's scripts run as root, and the ledger's user may put links where they go: nothing
    outside is written, given away or deleted."""
    victims = pathlib.Path("/srv/victims")
    victims.mkdir(mode=0o755)
    (victims / "file").write_text("kept\n")
    (victims / "file").chmod(0o600)

    def seen():
        return [(str(path), path.stat().st_mode, path.stat().st_uid, path.stat().st_gid,
                 path.read_bytes() if path.is_file() else b"")
                for path in sorted([victims, *victims.rglob("*")])]
    before = seen()

    def plant(paths, target):
        run("setpriv", "--reuid=_creditbridge", "--regid=_creditbridge", "--clear-groups", "--",
            "sh", "-euc", 'target=$1; shift; for path; do ln -sfn "$target" "$path"; done', "sh", target, *paths)
    dpkg_install(deb_as("0.0.1"))
    with cb.Installed() as wallet:
        wallet.stop()
        state_put(OLDER_STATE)
        now = time.time()
        names = [time.strftime("schema-0-%Y%m%dT%H%M%SZ.partial", time.gmtime(now + s))
                 for s in range(120)]
        plant([BACKUPS / name for name in names], victims)
        plant([f"/run/creditbridge/{name}" for name in ("counters", "counters.new", "sweep.lock")],
              victims / "file")
        printed, code = dpkg_install(DEB, check_code=False)
        equal(seen(), before, f"after the upgrade (exit {code}): {printed}")
        for name in names:
            (BACKUPS / name).unlink(missing_ok=True)
        for name in ("counters", "counters.new", "sweep.lock"):
            pathlib.Path("/run/creditbridge", name).unlink(missing_ok=True)
        run("dpkg", "--configure", "-a")
        wallet.start()
        wallet.stop()
        (STATE / "lock").unlink(missing_ok=True)
        plant([STATE / "lock"], victims / "file")
        printed, code = dpkg_install(DEB, check_code=False)
        equal(seen(), before, f"after another one (exit {code}): {printed}")
        plant([STATE / "db" / "elsewhere", BACKUPS / "elsewhere"], victims)
        run("dpkg", "--remove", "creditbridge")
        purge(delete=True)
        equal(seen(), before, "after the purge")
        dpkg_install(DEB)
        wallet.start()
    shutil.rmtree(victims)


def case_users():
    """An upgrade from the package whose sweeper and workers ran as the ledger's user."""
    for user in ("_creditbridge-web", "_creditbridge-sweep"):
        run("userdel", user, check=False)
    dpkg_install(DEB)
    for user in ("_creditbridge-web", "_creditbridge-sweep"):
        check("_creditbridge" in run("id", "-Gn", user).stdout.split(), f"the groups of {user}")


def case_roles():
    """A member of creditbridge-read uses creditbridgectl without root, also on the socket that systemd made."""
    argv = ("setpriv", "--reuid=games", "--regid=games", "--init-groups", "creditbridgectl")
    with cb.Installed() as wallet:
        dealer = wallet.dealer_add("roles")
        equal(run(*argv, "dealer", "list", check=False).returncode, 77, "before")
        run("gpasswd", "--add", "games", "creditbridge-read")
        try:
            check(dealer.casino_id in run(*argv, "dealer", "list").stdout, "a member's list")
            equal(run(*argv, "dealer", "suspend", dealer.casino_id, check=False).returncode, 77, "a change")
        finally:
            run("gpasswd", "--delete", "games", "creditbridge-read")


def case_purge():
    """purge leaves the machine as if the package had never been there, if it is asked to."""
    # What the cases before left in their own folder. purge keeps the user of files that it finds anywhere.
    run("chown", "-R", "root:root", str(work))
    printed = purge(delete=True)
    never = remains()
    named = [line for line in never if "creditbridge" in line and not line.startswith(
        (str(HERE.parents[1]), str(work), "/srv/"))]
    equal(named, [], f"what purge left: {printed}")
    dpkg_install(DEB)
    with cb.Installed() as wallet, cb.INSTALLED["apache-fcgid"](wallet) as server:
        dealer = wallet.dealer_add("purged")
        wallet.player_add(dealer.casino_id, "alice")
        equal(balance(server, dealer, "alice"), 0, "balance")
        wallet.ctl("backup", BACKUPS / "one")
        run("cp", "-a", STATE, STATE.with_name(STATE.name + ".old"))
        purge(delete=True)
        server.disable = server.site_remove  # purge has done the rest
    left = remains()
    equal(sorted(left - never), [], "what purge left")
    equal(sorted(never - left), [], "what purge took of others")
    for user in ("_creditbridge", "_creditbridge-web", "_creditbridge-sweep", "_creditbridge-console"):
        equal(run("getent", "passwd", user, check=False).returncode, 2, user)


CASES = (
    ("an upgrade while callers are served", case_upgrade),
    ("an upgrade of data of an older schema", case_older_schema),
    ("a downgrade is refused", case_downgrade),
    ("a stop while calls come", case_stop),
    ("the way back to an older package, as README.Debian describes", case_way_back),
    ("a backup restored as README.Debian describes", case_restore),
    ("remove keeps the data", case_remove),
    ("another cell: upgraded, removed", case_cells),
    ("another cell: a downgrade is refused, purged", case_cells_purged),
    ("remove and lighttpd", case_remove_lighttpd),
    ("an upgrade from the time of one user", case_users),
    ("a member of a group lists without root", case_roles),
    ("links of the ledger's user lead root nowhere", case_links),
    ("purge keeps the data", case_purge_keeps),
    ("purge leaves nothing, if so answered", case_purge),
)


def main():
    cb_installed.service("stop", "lighttpd")  # it is on Apache's port
    try:
        return cb.run_cases(CASES, seconds=240)
    finally:
        shutil.rmtree(work, ignore_errors=True)


DEB = deb_under_test()
if __name__ == "__main__":
    sys.exit(main())
