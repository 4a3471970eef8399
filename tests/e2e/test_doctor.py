#!/usr/bin/python3
"""creditbridgectl doctor: faults that are made for real, and what it says of each.

A healthy installation under a real web server comes first. Then each case makes one fault and
demands what doctor finds beyond that: exactly the checks that are named, no others, with the words
that lead to the cause and a remedy.
"""
import collections
import contextlib
import ctypes
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_instance  # noqa: E402
from cb import check, equal, needs, wait_until  # noqa: E402
from cb_ctl import new, on_terminal  # noqa: E402
from cb_link import GREETING  # noqa: E402
from cb_lies import Change  # noqa: E402
from cb_middle import Middle, unpacked, with_members  # noqa: E402
from cb_moves import step  # noqa: E402
from cb_platform import client_add, platform_call  # noqa: E402
from cb_process import LIBC  # noqa: E402
from cb_worker import SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

ROOT = os.geteuid() == 0
RESULTS = ("PASS", "WARN", "FAIL", "SKIP")
MEMBERS = ["result", "check", "purpose", "about", "found", "remedy"]
DAY_S = 24 * 3600
# An address that is public and never called here: doctor only looks it up.
PUBLIC_URL = "https://8.8.8.8"
# Words of what warnings_here() and a slow disk give.
EXPECTED_WORDS = {"clock": "synchronised", "cron": "creditbridge-sweep", "disk_sync": "on the disk",
                 "state_directory": "belongs to root"}

STA_UNSYNC, TIME_ERROR = 0x40, 5  # adjtimex(2)
STATUS_OFFSET = 40                # of struct timex

WALLET = None  # the installation; faults that are made in it are mended again
SERVER = None
PATIENCE = None
SWEEP_VALID_S = 30      # sweep_overdue_s is 120; the rest is for the case
LAST_SWEEP = {"at": float("-inf"), "engines": []}
FAULTY = set()   # checks that found a fault
EXCUSED = set()  # checks whose fault could not be made here


class Report:
    """The result of one run of doctor."""

    def __init__(self, done):
        check(done.stdout.endswith("\n") and done.stdout.count("\n") == 1,
              f"one line of JSON: {done.stdout!r} {done.stderr!r}")
        whole = json.loads(done.stdout)
        self.findings = [cb_finding(row) for row in whole["findings"]]
        counts = collections.Counter(finding.result for finding in self.findings)
        equal({word: whole[word] for word in ("failed", "warnings", "passed", "not_looked_at",
                                              "not_shown")},
              {"failed": counts["FAIL"], "warnings": counts["WARN"], "passed": counts["PASS"],
               "not_looked_at": counts["SKIP"], "not_shown": 0}, "the counts")
        equal(whole["ok"], not counts["FAIL"], "ok")
        equal(done.returncode, 1 if counts["FAIL"] else 0, f"exit code of {self}")
        equal(done.stderr, "", "standard error")

    def of(self, check_name):
        found = [finding for finding in self.findings if finding.check == check_name]
        check(found, f"there is nothing of {check_name}: {self}")
        return found

    def results(self, *wanted):
        return {f"{finding.result} {finding.check}" for finding in self.findings
                if finding.result in wanted}

    def __repr__(self):
        return "\n" + "\n".join(" | ".join(finding[:2] + finding[3:]) for finding in self.findings
                                if finding.result != "PASS")


Finding = collections.namedtuple("Finding", MEMBERS)


def cb_finding(row):
    equal(list(row), MEMBERS, "the members of a finding")
    finding = Finding(**row)
    check(finding.result in RESULTS and finding.check and finding.purpose and finding.found,
          f"a finding: {finding}")
    for text in finding:
        check(all(character.isprintable() for character in text), f"one line: {text!r}")
    if finding.result in ("WARN", "FAIL"):
        check(finding.remedy, f"no remedy: {finding}")
    if finding.result == "PASS":
        equal(finding.remedy, "", f"a remedy for nothing: {finding}")
    return finding


def doctor(*words, config=None, program=None, wrap=(), **options):
    argv = [*wrap, str(program or cb.find_program("creditbridgectl")), "--config",
            str(config or WALLET.config), "--json", "doctor", *map(str, words)]
    return Report(subprocess.run(argv, capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False,
                                 stdin=subprocess.DEVNULL, **options))


def diagnose(expected, *words, **options):
    """Demands exactly the findings @expected, {"FAIL check": words of found and remedy, as one
    regular expression}, besides warnings_here(). Faults that an earlier case left would be found,
    too. Returns the report."""
    report = doctor(*words, **options)
    found = report.results("WARN", "FAIL")
    # No warning of what this machine has, such as a clock that is kept.
    here = warnings_here() | {"WARN disk_sync"}
    equal(found - here | set(expected) & found, set(expected), f"diagnosis of {report}")
    for name, pattern in expected.items():
        texts = [f"{finding.about}: {finding.found} => {finding.remedy}"
                 for finding in report.of(name.split()[1]) if name.startswith(finding.result)]
        check(any(re.search(pattern, text) for text in texts), f"{name}: {pattern}: {texts}")
        FAULTY.add(name.split()[1])
    return report


def mended(*words, **options):
    diagnose({}, *words, **options)


@contextlib.contextmanager
def mode(path, bits):
    before = os.stat(path).st_mode & 0o7777
    os.chmod(path, bits)
    try:
        yield
    finally:
        os.chmod(path, before)


@contextlib.contextmanager
def away(*paths):
    """Takes files away for a while."""
    for path in paths:
        os.rename(path, f"{path}.away")
    try:
        yield
    finally:
        for path in paths:
            os.rename(f"{path}.away", path)


def config_with(*lines, drop=(), name=None):
    """A configuration of the same installation with other settings, as old as the real one."""
    text = "".join(line for line in WALLET.config.read_text().splitlines(True)
                   if line.split()[0] not in drop)
    path = WALLET.dir / f"{name or new('other')}.conf"
    path.write_text(text + "".join(f"{line}\n" for line in lines))
    stat = WALLET.config.stat()
    os.utime(path, (stat.st_atime, stat.st_mtime))
    return path


def config_unserved(state):
    """A configuration with a new state, which no ledger has."""
    path = config_with(f'state_directory = "{state}"', drop=["state_directory"])
    subprocess.run([cb.find_program("creditbridgectl"), "--config", path, "init"], check=True,
                   capture_output=True)
    return path


def skip(why, *checks):
    """Skips the rest of a case, so that some @checks have no fault to find."""
    EXCUSED.update(checks)
    raise cb.Skip(why)


def need_root(what, *checks):
    if not ROOT:
        skip(f"only root can {what}", *checks)


# -- in health

def sweep():
    LAST_SWEEP.update(at=time.monotonic(), engines=WALLET.engine_pids())
    subprocess.run([cb.find_program("creditbridge-sweep"), "--config", WALLET.config], check=True,
                   capture_output=True, timeout=30 * cb.PATIENCE)


def swept(case):
    """A case before which the sweeper runs, if those before it took so long that the next one could find it late."""
    name, function = case

    def run():
        if (time.monotonic() - LAST_SWEEP["at"] > SWEEP_VALID_S or
                LAST_SWEEP["engines"] != WALLET.engine_pids()):
            sweep()
        function()
    return name, needs(run, *getattr(function, "needs", ()))


def case_never_swept():
    """Before the sweeper has run for the first time."""
    report = doctor()
    check("WARN sweeper" in report.results("WARN", "FAIL"), report)
    wait_until(lambda: WALLET.ctl_json("status")["uptime_ms"] > 1100, 20, "the ledger's age")
    diagnose({"FAIL sweeper": "has not run since the ledger was started.*cron",
              "WARN settings": "sweep_overdue_s.*set it back to 120"},
             config=config_with("sweep_overdue_s = 1"))
    sweep()
    report = doctor()
    equal([finding.result for finding in report.of("sweeper")], ["PASS"], "after a sweep")


def clock_is_kept():
    timex = ctypes.create_string_buffer(512)
    state = LIBC.adjtimex(timex)
    status = struct.unpack_from("=i", timex, STATUS_OFFSET)[0]
    return 0 <= state != TIME_ERROR and not status & STA_UNSYNC


@functools.cache
def machine_sweeps():
    """True: a file of cron or systemd on this machine has a sweeper. The cases put theirs where only they see it."""
    return any(b"creditbridge-sweep" in path.read_bytes()
               for folder in ("/etc/cron.d", "/etc/systemd/system", "/lib/systemd/system", "/var/spool/cron/crontabs")
               for path in pathlib.Path(folder).glob("*") if path.is_file())


def warnings_here():
    """The warnings that doctor must give on this machine, except for its disk, which each run
    measures anew."""
    return ({"WARN state_directory"} if ROOT else set()) | \
        (set() if clock_is_kept() else {"WARN clock"}) | \
        (set() if machine_sweeps() else {"WARN cron"})


def case_healthy():
    report = diagnose({}, "--url", SERVER.base_url, "--platform-url", SERVER.platform_url)
    equal(report.results("SKIP"), set(), f"nothing is left out: {report}")
    equal(report.results("WARN") - {"WARN disk_sync"}, warnings_here(), f"warnings: {report}")
    for finding in report.findings:
        if finding.result == "WARN":
            check(EXPECTED_WORDS[finding.check] in finding.found, f"why: {finding}")
    names = {finding.check for finding in report.findings}
    check(len(names) >= 37, f"checks: {len(names)} {sorted(names)}")


def case_text():
    """For a person: two tables and a sum, the exit code, no colours but on a terminal."""
    done = WALLET.ctl_run("doctor", "--url", SERVER.base_url)
    equal((done.returncode, done.stderr), (0, ""), f"exit code: {done.stdout}")
    check(re.match(r"What was found\nRESULT +CHECK +ABOUT +FOUND\nPASS +configuration ", done.stdout)
          and re.search(r"\nWhat to do\n(cron|clock|state_directory) ", done.stdout)
          and re.search(r"\n0 failed, \d+ warnings, \d+ passed, 3 not looked at\n$", done.stdout)
          and "\033" not in done.stdout, done.stdout)
    equal(len(re.findall("--platform-url=URL", done.stdout)), 3, done.stdout)
    with mode(WALLET.state, 0o750):
        done = WALLET.ctl_run("doctor")
    equal(done.returncode, 1, "exit code")
    lines = done.stdout.split("What to do\n")[1].splitlines()
    check(lines[0].startswith("state_directory") and "chmod 0700" in lines[0],
          f"failures come first: {lines}")
    code, shown = on_terminal(WALLET, "doctor")
    equal(code, 0, "on a terminal")
    check("\033[1mWhat was found" in shown, shown[:200])
    for words in (("--limit", "1"), ("--url",)):
        equal(WALLET.ctl_run("doctor", *words).returncode, 2, f"usage: {words}")


def tree(path):
    """Returns every name below @path with all of stat(2) except the time of access."""
    return {str(file): tuple(file.lstat())[:7] + (file.lstat().st_mtime_ns, file.lstat().st_ctime_ns)
            for file in [path, *sorted(path.rglob("*"))]}


def case_nothing_changed():
    with cb.Instance("cbdoctor-still", start=False) as still:
        still.start()
        still.dealer_add("demo")
        audit = still.ctl_json("audit")
        status = still.ctl_json("status")
        doctor(config=still.config)
        equal(still.ctl_json("audit"), audit, "the audit")
        equal(still.ctl_json("status")["last_transaction_id"], status["last_transaction_id"],
              "ids given out")
        still.stop()
        before = tree(still.dir)
        doctor(config=still.config)
        equal(tree(still.dir), before, "files")


# -- files

def case_state_mode():
    for bits in (0o750, 0o777, 0o500):
        with mode(WALLET.state, bits):
            diagnose({"FAIL state_directory": f"mode {bits:04o}.*chmod 0700 {WALLET.state}"})


def case_state_missing():
    empty = WALLET.dir / "empty"
    empty.mkdir(mode=0o700)
    for path, words in ((WALLET.dir / "nowhere", "No such file.*init"),
                        (empty, "is not initialised.*mount"), (WALLET.config, "no directory")):
        report = diagnose({"FAIL state_directory": words},
                          config=config_with(f'state_directory = "{path}"',
                                             drop=["state_directory"]))
        check("SKIP state_files" in report.results("SKIP"), report)
    # The remains of an interrupted restore must not be initialised.
    (empty / "restoring").touch(mode=0o600)
    report = diagnose({"FAIL state_directory": "a restore to .* was interrupted.*repeat it"},
                      config=config_with(f'state_directory = "{empty}"',
                                         drop=["state_directory"]))
    check("init`" not in str(report), report)


def case_state_files():
    table = WALLET.state / "db" / "dealer.db"
    check(table.exists(), f"{sorted(WALLET.state.rglob('*'))}")
    with mode(table, 0o666):
        diagnose({"FAIL state_files": "may be written by others, such as .*dealer.db.*chmod -R go="})
    need_root("give files away")
    os.chown(table, 65534, -1)
    try:
        diagnose({"FAIL state_files": "1 of .* do not belong to user .*dealer.db.*chown -R"})
    finally:
        os.chown(table, 0, -1)


def case_configuration_refused():
    path = config_with("disk_low_water_mib = many")
    line = len(path.read_text().splitlines())
    report = diagnose({"FAIL configuration": f"{path}:{line}: .*disk_low_water_mib.*correct that"},
                      "--url", SERVER.base_url, config=path)
    # Checks that do not depend on the configuration run all the same.
    check(report.of("wallet_mount")[0].result == "PASS" and "SKIP ledger" in report.results("SKIP"),
          report)
    diagnose({"FAIL configuration": "No such file.*--config=FILE"}, config=WALLET.dir / "none.conf")


def case_configuration_default():
    """Without a file nothing runs, and doctor looks where things would be."""
    told = WALLET.ctl_run("doctor", "--help").stdout
    path = re.search(r"\(default\s+(/\S+)\)", told)
    check(path, told)
    if os.path.exists(path[1]):
        raise cb.Skip(f"there is a {path[1]} here")
    done = subprocess.run([cb.find_program("creditbridgectl"), "--json", "doctor"], text=True,
                          capture_output=True, timeout=60 * cb.PATIENCE, check=False)
    finding = Report(done).of("configuration")[0]
    check(finding.result == "FAIL" and f"there is no {path[1]}" in finding.found
          and "sample" in finding.remedy, finding)


def case_configuration_open():
    with mode(WALLET.config, 0o666):
        diagnose({"FAIL configuration_file": "mode 0666.*chmod go-w"})
    with mode(WALLET.dir, 0o777):
        diagnose({"FAIL configuration_file": f"{WALLET.dir} has mode 0777"})


def case_configuration_unreadable():
    need_root("try to read it as another user", "configuration_access")
    with mode(WALLET.config, 0o600):
        diagnose({"FAIL configuration_access": f"workers: user {WALLET.user} cannot read .*"
                                               "Permission denied.*chmod 0644"},
                 "--worker-user", WALLET.user)
    # Without --worker-user, doctor finds the user of the workers that run.
    with mode(WALLET.config, 0o600):
        diagnose({"FAIL configuration_access": f"user {WALLET.user} cannot"})
    diagnose({"FAIL configuration_access": "there is no user", "FAIL socket_access": "no user"},
             "--worker-user", "nobody-of-that-name")


def case_configuration_newer():
    stat = WALLET.config.stat()
    os.utime(WALLET.config, (stat.st_atime, time.time() + 100))
    try:
        diagnose({"WARN configuration_in_use": "changed .* s after the ledger.*restart"})
    finally:
        os.utime(WALLET.config, (stat.st_atime, stat.st_mtime))


def case_settings():
    diagnose({"WARN settings": "callback_connect_timeout_ms: it is 100: .*set it back to 1000"},
             config=config_with("callback_connect_timeout_ms = 100"))
    report = diagnose({"WARN settings": "log_level.*bodies"},
                      config=config_with("log_level = debug", "log_keep_mib = 0",
                                         "request_window_s = 0", "refund_backoff_ms = 400000"))
    equal({finding.about for finding in report.of("settings")},
          {"log_level", "log_keep_mib", "request_window_s", "refund_backoff_ms"}, "what is odd")


def case_callback_networks():
    fine = ["10.0.0.0/8", "fd12:3456::/32"]
    odd = {"0.0.0.0/0": ("FAIL", "metadata"), "127.0.0.0/8": ("WARN", "itself"), "2000::/3": ("WARN", "wider"),
           "::1": ("WARN", "itself")}

    def config(networks):
        return config_with(f"callback_networks = {cb_instance.as_option(networks)}")
    diagnose({}, config=config(fine))
    report = diagnose({f"{result} callback_networks": words for result, words in odd.values()},
                      config=config([*odd, *fine]))
    found = report.of("callback_networks")
    equal([finding.about.removesuffix("/128") for finding in found], list(odd), f"networks: {found}")
    for finding, (result, words) in zip(found, odd.values()):
        check(finding.result == result and words in finding.found and "callback_networks" in finding.remedy,
              f"{finding}")


def case_key_files():
    key = WALLET.dir / "slots.key"
    key.write_text("0123456789abcdef" * 4 + "\n")
    other = WALLET.dir / "backup"
    other.mkdir(mode=0o700)
    try:
        key.chmod(0o600)
        mended(other)
        key.chmod(0o644)
        diagnose({"FAIL key_files": f"{key}: .*mode 0644.*chmod 0600 {key}"})
        key.write_text("this is no key: anybody may read it\n")
        mended()
        diagnose({"FAIL key_files": f"{key}: "}, key)
        other.chmod(0o755)
        key.unlink()
        diagnose({"FAIL key_files": f"chmod 0700 {other}"}, other)
        diagnose({"FAIL key_files": "No such file"}, key)
    finally:
        key.unlink(missing_ok=True)
        other.rmdir()


# -- the disk

def case_space():
    diagnose({"FAIL disk_space": "less than disk_low_water_mib = 16777216.*storage_full.*free or add"},
             config=config_with("disk_low_water_mib = 16777216"))
    found = os.statvfs(WALLET.state)
    free = found.f_bavail * found.f_frsize // 2**20
    diagnose({"WARN disk_space": "below .* writes are refused"},
             config=config_with(f"disk_low_water_mib = {free * 2 // 3}"))
    diagnose({"WARN disk_space": "may grow to log_keep_mib = 16777216.*lower log_keep_mib"},
             config=config_with("log_keep_mib = 16777216"))


def case_ballast():
    # The ledger makes its own anew within a second.
    path = config_unserved(WALLET.dir / "unserved")
    diagnose({"WARN disk_ballast": "is not there.*restart creditbridge-ledger"}, config=path)
    diagnose({"WARN disk_ballast": "instead of 2 MiB"},
             config=config_with("disk_ballast_mib = 2", drop=["disk_ballast_mib"]))


def case_tmpfs():
    shm = pathlib.Path("/dev/shm")
    kind = subprocess.run(["stat", "-f", "-c", "%T", shm], capture_output=True, text=True, check=False)
    if kind.stdout.strip() != "tmpfs" or not os.access(shm, os.W_OK):
        skip("there is no tmpfs at /dev/shm", "file_system")
    state = shm / f"cbdoctor-{os.getpid()}"
    try:
        path = config_unserved(state)
        diagnose({"FAIL file_system": "lies on tmpfs, which is gone after a reboot.*ext4",
                  "WARN disk_ballast": "not there"}, config=path)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def failing_env(instance):
    """The environment of a program whose disk fails as the file "fault" says
    (tests/fault/shim.c)."""
    return dict(os.environ, LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "shim.so"),
                FAULT_STATE=str(instance.state), FAULT_CONTROL=str(instance.dir / "fault"),
                ASAN_OPTIONS=":".join([os.environ.get("ASAN_OPTIONS", ""),
                                       "verify_asan_link_order=0"]))


def case_disk_fails():
    fault = WALLET.dir / "fault"
    try:
        for text, words in (("sync EIO\n", "Input/output error.*replace the disk"),
                            ("write ENOSPC\n", "No space left.*free space")):
            fault.write_text(text)
            diagnose({"FAIL disk_sync": f"writing in {WALLET.state} fails: {words}"},
                     env=failing_env(WALLET))
    finally:
        fault.unlink()


class FailingDisk(cb.Instance):
    def ledger_start(self):
        self.ledger = cb.Child([cb.find_program("creditbridge-ledger"), "--config", self.config],
                               self.logs / "ledger.log", env=failing_env(self))


def case_halted():
    with FailingDisk("cbdoctor-disk", {"ledger_deadline_ms": 1000}) as failing, \
            cb.Lighttpd(failing, prefix="/wallet", processes=1) as server:
        failing.dealer_add("demo")
        (failing.dir / "fault").write_text("sync EIO\n")
        failing.ctl_run("dealer", "suspend", "demo", "--reason", "a write")
        wait_until(lambda: failing.ctl_json("status")["halted"], 20, "the halt")
        problem, = failing.ctl_json("status")["problems"]
        equal((problem["level"], problem["remedy"]),
              ("failure", "check or replace the disk, then creditbridgectl resume"), "status of a halted ledger")
        # It is one cause, and found once.
        report = diagnose({"FAIL halted": "disk failed.*creditbridgectl resume",
                           "WARN sweeper": "not run yet"},
                          "--url", server.base_url, config=failing.config)
        check({"SKIP dealers", "SKIP engine"} <= report.results("SKIP"), report)
        equal(report.of("wallet_mount")[0].result, "PASS", report)
        # When the ledger is down, doctor reads the halt from its mark.
        failing.stop()
        diagnose({"FAIL halted": "disk failed", "FAIL ledger": "no ledger runs"},
                 config=failing.config)


# -- the ledger and its sockets

def case_socket_directory():
    with mode(WALLET.sockets, 0o777):
        diagnose({"FAIL socket_directory": "mode 0777: others may put.*chmod go-w"})
    diagnose({"FAIL socket_directory": "No such file", "FAIL ledger": "process|a ledger has the data"},
             config=config_with('socket_directory = "/nowhere"', drop=["socket_directory"]))


def case_socket_modes():
    edge, admin = WALLET.sockets / "edge.sock", WALLET.sockets / "admin.sock"
    with mode(admin, 0o666), mode(edge, 0o666):
        report = diagnose({"FAIL sockets": "admin.sock: .*mode 0666.*chmod 0600"})
        check(re.search("edge.sock.*mode 0666.*chmod 0660", str(report)), report)
    need_root("give sockets to another group", "socket_access")
    group = edge.stat().st_gid
    os.chown(edge, -1, 0)
    try:
        diagnose({"FAIL sockets": f"its group is root, socket_group is {WALLET.user}.*restart",
                  "FAIL socket_access": f"user {WALLET.user} with group {WALLET.user}, as which .* "
                                        "cannot connect.*not the user, the group root.*2755"})
    finally:
        os.chown(edge, -1, group)
    with mode(WALLET.sockets, 0o700):
        diagnose({"FAIL socket_access": f"cannot connect.*chmod 0711 {WALLET.sockets}"})
    diagnose({"FAIL sockets": "nogroup-here is no group of this machine"},
             config=config_with('socket_group = "nogroup-here"', drop=["socket_group"]))


def case_setgid_worker():
    """While no worker runs, the installed program counts: it is setgid in Debian's package."""
    need_root("give files away")
    edge, worker = WALLET.sockets / "edge.sock", WALLET.dir / "installed" / "creditbridge.fcgi"
    ctl = WALLET.dir / "installed" / "creditbridgectl"
    if os.statvfs(WALLET.dir).f_flag & os.ST_NOSUID:
        raise cb.Skip(f"{WALLET.dir} is mounted nosuid")
    config = config_with('socket_group = ""', drop=["socket_group"])
    group, gid = edge.stat().st_gid, 54321
    os.chown(edge, -1, gid)
    os.chown(worker, -1, gid)
    try:
        worker.chmod(0o2755)
        words = ("--worker-user", WALLET.user)
        report = diagnose({}, *words, config=config, program=ctl)
        equal([finding.result for finding in report.of("socket_access")], ["PASS"], report)
        worker.chmod(0o755)
        report = diagnose({"FAIL socket_access": "cannot connect.*the group 54321"}, *words,
                          config=config, program=ctl)
        # A group of the user would let all of its programs move credit.
        check("socket_group" not in report.of("socket_access")[0].remedy, report)
    finally:
        os.chown(edge, -1, group)
        os.chown(worker, -1, 0)
        worker.chmod(0o755)


def case_sockets_missing():
    edge, admin = WALLET.sockets / "edge.sock", WALLET.sockets / "admin.sock"
    pid = WALLET.ledger.pid
    with away(edge, admin):
        report = diagnose({"FAIL ledger": "edge.sock and admin.sock: it is not there, though .*"
                                          rf"\(process {pid}\).*restart creditbridge-ledger"})
        check({"SKIP sockets", "SKIP socket_access", "SKIP dealers"} <= report.results("SKIP"), report)
    with away(edge):
        diagnose({"FAIL ledger": "^edge.sock: it is not there"})


def case_ledger_stopped():
    """Not ended: SIGSTOP. Connections are taken, and nothing is answered."""
    pids = WALLET.engine_pids()
    check(pids, "an engine")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        diagnose({"FAIL ledger": "edge.sock and admin.sock: the ledger does not greet.*ps -o stat",
                  "WARN settings": "ledger_deadline_ms"},
                 config=config_with("ledger_deadline_ms = 300"))
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def older(middle):
    """Makes the proxy look like the installation itself."""
    os.link(WALLET.sockets / "edge.sock", middle.dir / "edge.sock")
    (middle.dir / "admin.sock").chmod(0o600)
    middle.config.write_text(middle.config.read_text().replace("ledger_deadline_ms = 500\n", ""))
    stat = WALLET.config.stat()
    os.utime(middle.config, (stat.st_atime, stat.st_mtime))
    return middle.config


def case_other_version():
    def other_protocol(data):
        magic, protocol, generation = GREETING.unpack(data)
        return GREETING.pack(magic, protocol ^ 1, generation)

    def older_version(command, _record, answer):
        if command != "status":
            return answer
        return with_members("status", answer, {**unpacked("status", answer), "version": "0.0.9"})

    with Middle(WALLET, lambda *words: words[2], other_protocol) as middle:
        diagnose({"FAIL ledger": "^admin.sock: another version of the ledger runs.*restart"},
                 config=older(middle))
    with Middle(WALLET, older_version) as middle:
        diagnose({"WARN ledger": "^version: the ledger is 0.0.9, .*restart"}, config=older(middle))
    with Middle(WALLET, lambda *words: words[2], lambda data: b"220 welcome to something else") as middle:
        diagnose({"FAIL ledger": "^admin.sock: what listens there is no ledger"}, config=older(middle))


def case_descriptors():
    pid, = WALLET.engine_pids()
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (256, before[1]))
    try:
        diagnose({"WARN descriptors": "may open 256 files only, .* 1024.*LimitNOFILE"})
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def case_ledger_number():
    """A number that is set later has no effect, until a life begins as the remedy says."""
    with cb.Instance("cbdoctor-number") as wallet:
        wallet.stop()
        with wallet.config.open("a") as config:
            config.write("ledger_number = 3\n")
        wallet.start()
        equal(wallet.ctl_json("status")["ledger_number"], 0, "the number in force")
        words = "is 3, but new ids leave 0 .*adopt --moved.*or set ledger_number to 0"
        diagnose({"WARN ledger_number": words, "WARN sweeper": "yet"}, config=wallet.config)
        wallet.stop()
        done = wallet.ctl_json("adopt", "--moved")
        equal((done["ledger_number"], done["first_id"] % cb.ID_STRIDE), (3, 3), f"{done}")
        wallet.start()
        check(re.search("ledger number +3\n", wallet.ctl("status")), "status as text")
        diagnose({"WARN sweeper": "yet"}, config=wallet.config)


def case_cell_certificate():
    """One ends soon, one has ended, and one is missing. The ledger did not read this configuration."""
    folder = WALLET.dir / "certificates"
    for name, days in (("soon", 380), ("over", 400)):
        # An hour more: no whole number of days is left while the case runs.
        subprocess.run([cb.find_program("peer_alone"), "--issue", folder, name, str(days * DAY_S + 3600)], check=True)
    for name, finding in (("soon", "WARN.*"), ("over", "FAIL.*"), ("none", "FAIL.*")):
        config = config_with(f'cell_member = "{name}"', 'cell_listen = "127.0.0.1:7410"',
                             f'cell_tls_directory = "{folder}"')
        words = {"soon": "expires in 16 days.*member renew soon", "over": "expired.*member renew over",
                 "none": "none.pem is missing.*member add"}[name]
        diagnose({f"{finding[:4]} cell_certificate": words}, config=config)


def case_engine_died():
    """The supervisor starts the engine again, and no other check would notice its death."""
    with cb.Instance("cbdoctor-engine") as wallet:
        wait_until(lambda: wallet.ctl_json("status")["uptime_ms"] > 300, 20, "the engine's age")
        pid, = wallet.engine_pids()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: wallet.engine_pids() not in ([], [pid]) and wallet.answering(), 20,
                   "the next engine")
        diagnose({"WARN engine": "was started again, 1 times.*engine_ended", "WARN sweeper": "yet"},
                 config=wallet.config)


# -- programs, cron, log, clock

def case_programs():
    folder = WALLET.dir / "installed"
    folder.mkdir(mode=0o755)
    for name in ("creditbridgectl", "creditbridge-ledger", "creditbridge.fcgi"):
        shutil.copy(cb.find_program(name), folder)
    sweeper = folder / "creditbridge-sweep"
    ctl = folder / "creditbridgectl"
    diagnose({"FAIL programs": "creditbridge-sweep: .* is not installed.*install all"}, program=ctl)
    sweeper.write_text("#!/bin/sh\necho creditbridge-sweep 0.0.9\n")
    sweeper.chmod(0o755)
    diagnose({"FAIL programs": "creditbridge-sweep is 0.0.9, this creditbridgectl 0.1.0"}, program=ctl)
    sweeper.write_text("#!/bin/sh\necho broken\nexit 3\n")
    diagnose({"FAIL programs": r"no version in its output \(exit 3\)"}, program=ctl)
    sweeper.unlink()
    shutil.copy(cb.find_program("creditbridge-sweep"), folder)  # for the cases that need this one


def case_version_asked():
    """A program that is only asked for its version, as doctor itself does, is no worker."""
    before = doctor().of("workers")
    program = WALLET.dir / "asked" / "creditbridge.fcgi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nread line\n")
    program.chmod(0o755)
    with subprocess.Popen([program, "--config", WALLET.config, "--version"],
                          stdin=subprocess.PIPE) as asked:
        comm = pathlib.Path(f"/proc/{asked.pid}/comm")
        cb.wait_until(lambda: comm.read_text().startswith("creditbridge.fc"), 10, "the program")
        equal(doctor().of("workers"), before, "the workers that are found")
        asked.stdin.close()


def case_caller():
    """A user without the rights gets a report that says so, and no check counts this as a fault."""
    need_root("call it as another user", "caller")
    report = doctor(program=WALLET.dir / "installed" / "creditbridgectl", user=WALLET.user,
                    group=WALLET.user, extra_groups=[])
    equal(report.results("WARN", "FAIL") - warnings_here() - {"WARN disk_sync"}, {"WARN caller"}, report)
    FAULTY.add("caller")
    check("call doctor as root" in report.of("caller")[0].remedy, report)
    check({"SKIP state_files", "SKIP ledger", "SKIP disk_sync"} <= report.results("SKIP"), report)


def case_cron():
    need_root("put files into /etc/cron.d, in a mount namespace of its own", "cron")
    etc = WALLET.dir / "cron.d"
    etc.mkdir()
    wrap = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/cron.d && exec "$@"', etc)
    if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode:
        skip("there are no mount namespaces here", "cron")
    wrap = tuple(map(str, wrap))
    line = f"{cb.find_program('creditbridge-sweep')} --config {WALLET.config} --for 55s >/dev/null\n"
    daemon = WALLET.dir / "cron"
    shutil.copy(shutil.which("sleep"), daemon)

    def cron(expected, name, text, bits=0o644, beside=()):
        path = etc / name
        path.write_text(text)
        path.chmod(bits)
        report = diagnose({f"{expected[0]} cron": expected[1]} if expected else {},
                          wrap=(*beside, *wrap))
        path.unlink()
        return report

    child = cb.Child([daemon, "1000"], WALLET.logs / "cron.log")
    try:
        wait_until(lambda: pathlib.Path(f"/proc/{child.pid}/comm").read_text() == "cron\n", 20, "cron")
        report = cron(None, "creditbridge", f"# sweeps\n* * * * * root {line}")
        equal(report.of("cron")[0].result, "PASS", f"{report.of('cron')}")
        cron(("FAIL", "ignores .*creditbridge.cron: its name.*as /etc/cron.d/creditbridge"),
             "creditbridge.cron", f"* * * * * root {line}")
        cron(("FAIL", "ignores .*others than root may write"), "creditbridge",
             f"* * * * * root {line}", 0o666)
        cron(("FAIL", "as user no-such-user, which this machine does not have"), "creditbridge",
             f"* * * * * no-such-user {line}")
        cron(("WARN", "does not start creditbridge-sweep each minute"), "creditbridge",
             f"0 * * * * root {line}")
        cron(("WARN", "neither cron nor systemd has a line"), "creditbridge", f"#* * * * * root {line}")
    finally:
        child.stop()
    # In a name space without other processes.
    cron(("WARN", "neither cron nor systemd runs.*start cron"), "creditbridge",
         f"* * * * * root {line}", beside=("unshare", "--pid", "--fork", "--mount-proc"))


def case_log():
    path = config_with("log_target = syslog", drop=["log_target"])
    if os.path.exists("/dev/log"):
        mended(config=path)
        EXCUSED.add("log")
    else:
        diagnose({"FAIL log": "/dev/log: No such file.*are lost.*journald"}, config=path)


def case_clock_set_back():
    table = WALLET.state / "db" / "dealer.db"
    stat = table.stat()
    os.utime(table, (stat.st_atime, time.time() + DAY_S))
    try:
        diagnose({"FAIL clock": "was set back: .* (8639[0-9]|86400) s from now.*set the clock right"})
    finally:
        os.utime(table, (stat.st_atime, stat.st_mtime))


# -- dealers

def case_dealers():
    WALLET.dealer_add("bare", mode="seamless")
    diagnose({"FAIL dealers": "^bare: .*without a URL.*dealer set bare --url"})
    urls = {"unknown": ("https://dealer.invalid/api", (), "FAIL", "dealer.invalid is not found: .*resolv.conf"),
            "private4": ("https://10.1.2.3:8443", (), "FAIL", "10.1.2.3.* not public.*callback_networks"),
            "private6": ("https://[fd00::1]/", (), "FAIL", "fd00::1, which is not public"),
            "open": ("http://8.8.8.8", ("--allow-http",), "WARN", "unencrypted.*https://")}
    for name, (url, options, _, _) in urls.items():
        WALLET.dealer_add(name, "--url", url, *options, mode="seamless")
    found = diagnose({"FAIL dealers": "^bare: .*without a URL", "WARN dealers": "^open: "}).of("dealers")
    equal(sorted(finding.about for finding in found), sorted(["bare", *urls]), f"dealers: {found}")
    for name, (_, _, result, words) in urls.items():
        finding, = [finding for finding in found if finding.about == name]
        check(finding.result == result and re.search(words, f"{finding.found} => {finding.remedy}"), f"{finding}")
        WALLET.ctl("dealer", "set", name, "--url", PUBLIC_URL)
    # No program calls a suspended dealer: doctor reports it as a warning.
    WALLET.ctl("dealer", "set", "bare", "--url", "https://dealer.invalid/api")
    WALLET.ctl("dealer", "suspend", "bare", "--reason", "test")
    diagnose({"WARN dealers": "^bare: the dealer is suspended; .*dealer.invalid is not found"})
    WALLET.ctl("dealer", "resume", "bare", "--reason", "test")
    diagnose({"FAIL dealers": "^bare: the host dealer.invalid is not found"})
    WALLET.ctl("dealer", "set", "bare", "--url", "https://10.1.2.3:8443")
    mended(config=config_with('callback_networks = {"10.1.2.0/24"}'))
    WALLET.ctl("dealer", "set", "bare", "--url", PUBLIC_URL)


def case_keys():
    """Two keys, the newer one forty days old: a change of keys that was not finished."""
    WALLET.ctl("dealer", "key-add", "rotating")
    mended()
    made = [key["created_ms"] for key in WALLET.ctl_json("dealer", "show", "rotating")["keys"]]
    equal(len(made), 2, "keys")

    def aged(row):
        return {"keys": [{**key, "created_ms": key.created_ms - 40 * DAY_S * 1000}
                         if key.created_ms in made else key for key in row["keys"]]}
    with Middle(WALLET, Change("DEALER", aged)) as middle:
        diagnose({"WARN keys": r"^dealer rotating: two keys .*\(k2\) for 40 days.*"
                               "key-use rotating k2, then key-retire rotating k1"},
                 config=older(middle))


def case_moves():
    """The move of a dealer that began an hour ago, and one that began now."""
    with cb.Instance("cbdoctor-move") as target:
        for name in ("left-long-ago", "moves-now"):
            WALLET.dealer_add(name)
            step(WALLET, target, name, "leave")
        mended()

        def aged(row):
            return {"changed_ms": row["changed_ms"] - (3600 * 1000 if row["casino_id"] == "left-long-ago" else 0)}
        with Middle(WALLET, Change("DEALER_MOVE", aged)) as middle:
            diagnose({"WARN moves": "^dealer left-long-ago: its move to cell b has been leaving for 60 "
                                    "minutes.*dealer move left-long-ago --to b; to undo it, add --abort"},
                     config=older(middle))
        for name in ("left-long-ago", "moves-now"):
            step(WALLET, target, name, "stay")


def case_callbacks():
    with cb.Instance("cbdoctor-calls", {"result_second_attempt_ms": 0,
                                        "result_third_attempt_ms": 0}) as wallet:
        wallet.dealer_add("slow", "--url", PUBLIC_URL, mode="seamless")
        wallet.player_add("slow", "alice")
        client_add(wallet, "slots")
        worker = Worker(wallet.sockets / "edge.sock")
        bet = worker.place("slots", "slow", "alice", "game-1", 10)
        worker.end(bet.send, "slow", SUCCESS, status=200)
        grant = worker.settle("slots", "slow", "alice", "game-1", WIN, 20).send
        for _ in range(2):
            worker.end(grant, "slow", UNKNOWN)
            event = grant.event
            refusal, grant = worker.claim(event)
            equal(refusal, "", "a claim")
        worker.end(grant, "slow", UNKNOWN)
        diagnose({"WARN callbacks": r"^slow: 1 callbacks were given up.*--casino slow --state parked",
                  "WARN sweeper": "yet"}, config=wallet.config)
        for number in range(10):
            bet = worker.place("slots", "slow", "alice", f"game-{number + 2}", 10)
            if not bet.send.event:
                break
            worker.end(bet.send, "slow", UNKNOWN)
        report = diagnose({"WARN callbacks": "^slow: calls to the dealer's server fail.*dealer ping slow",
                           "WARN sweeper": "yet"}, config=wallet.config)
        equal(len(report.of("callbacks")), 2, f"both: {report}")
        worker.socket.close()


# -- mounts

def figures():
    """The figures of calls, each with its labels."""
    text = platform_call(SERVER, "/metrics", method="GET").body.decode()
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if re.match(
                r"creditbridge_(requests|auth_failures|refused_notes)_total", line))}


def case_probes_are_apart():
    """Calls of doctor are counted as doctor's: they raise no figure of callers."""
    before = figures()
    mended(*both(SERVER))
    after = figures()
    raised = {name for name in after if after[name] > before.get(name, 0)}
    check(any('operation="doctor"' in name for name in raised) and
          all(re.search('operation="(doctor|healthz|metrics)"', name) for name in raised),
          f"raised: {raised}")
    # A caller that names itself is counted as ever, whatever its request id.
    answer = cb.call(SERVER, "POST", cb.TRANSFER_IN, {}, casino="nobody", signature="0" * 64,
                     headers=[("X-Request-Id", "doctor-1")])
    equal(answer.status, 401, "a stranger")
    name = 'creditbridge_auth_failures_total{caller="dealer",reason="unknown_caller"}'
    equal(figures()[name] - after[name], 1, "failures")


class NoGetBody(cb.Lighttpd):
    def config(self):
        return re.sub(r'include ".*lighttpd-global.conf"', 'server.modules += ( "mod_fastcgi" )',
                      super().config())


class Swapped(cb.Lighttpd):
    """Each mount's worker serves the other's paths."""

    def values(self, serve):
        other = {"wallet": "platform", "platform": "wallet"}[serve]
        return dict(super().values(serve), serve=other)


class WrongPrefix(cb.Lighttpd):
    def render(self, serve):
        path = super().render(serve)
        path.write_text(path.read_text().replace("--base-path=/wallet ", "--base-path=/credit "))
        return path


def both(server):
    return "--url", server.base_url, "--platform-url", server.platform_url


def case_servers():
    """Healthy mounts of every web server: bodies of GET pass."""
    for server_class in cb.SERVERS:
        if server_class is cb.Lighttpd:
            continue  # seen already
        with server_class(WALLET, prefix="/wallet", processes=2) as server:
            report = diagnose({}, *both(server))
            for name in ("wallet_mount", "wallet_get_body", "wallet_paths", "platform_mount",
                         "platform_paths", "platform_private", "clock_skew"):
                equal([finding.result for finding in report.of(name)][0], "PASS",
                      f"{server.name}: {report.of(name)}")
            if server.spawns:
                continue
            server.workers["wallet"].stop()
            diagnose({"FAIL wallet_mount": r"HTTP 50[23]: the web server reaches no worker.*start"},
                     *both(server))


def case_no_get_body():
    with NoGetBody(WALLET, prefix="/wallet", processes=1) as server:
        diagnose({"FAIL wallet_get_body": "a GET with a body is answered HTTP 400 .*a POST does.*"
                                          "method-get-body"}, *both(server))


def case_wrong_serve():
    with Swapped(WALLET, prefix="/wallet", processes=1) as server:
        report = diagnose(
            {"FAIL wallet_mount": "serves the platform's paths.*--serve wallet",
             "FAIL wallet_paths": "the paths of the platform can be called at the mount of the wallet",
             "FAIL platform_mount": "serves the wallet's paths.*--serve platform",
             "FAIL platform_paths": "the paths of the wallet can be called at the mount of the platform"},
            *both(server))
        check("SKIP wallet_get_body" in report.results("SKIP"), report)


def case_wrong_prefix():
    with WrongPrefix(WALLET, prefix="/wallet", processes=1) as server:
        diagnose({"FAIL wallet_mount": "mounted at another prefix.*--base-path"}, *both(server))
    diagnose({"FAIL wallet_mount": "HTTP 404: the web server does not hand this path.*fcgi-conf"},
             "--url", f"http://127.0.0.1:{SERVER.port}/elsewhere")


def case_nobody_there():
    report = diagnose({"FAIL wallet_mount": "no answer.*start the web server",
                       "FAIL platform_mount": "no answer"},
                      "--url", f"http://127.0.0.1:{cb.free_port()}",
                      "--platform-url", f"http://127.0.0.1:{cb.free_port()}")
    check({"SKIP wallet_get_body", "SKIP wallet_paths", "SKIP clock_skew"} <= report.results("SKIP"),
          report)
    diagnose({"FAIL wallet_mount": ".", "FAIL platform_private": "no URL", "FAIL platform_mount": "."},
             "--url", "nonsense:", "--platform-url", "also nonsense")


class Proxy:
    """Between doctor and the web server: change(request) and change_answer(answer), on bytes."""

    def __init__(self, request=lambda data: data, answer=lambda data: data):
        self.request = request
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}{SERVER.prefix}"
        cb.serve_each(self.listener, self.serve)

    def serve(self, client):
        with client:
            client.settimeout(10)
            data = b""
            with contextlib.suppress(OSError, ValueError):
                while b"\r\n\r\n" not in data:
                    data += client.recv(65536)
                head, body = data.split(b"\r\n\r\n", 1)
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                while length and len(body) < int(length[1]):
                    body += client.recv(65536)
                head = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", head) + b"\r\nConnection: close"
                data = self.request(head + b"\r\n\r\n" + body)
                with socket.create_connection(("127.0.0.1", SERVER.port), 10) as server:
                    server.sendall(data)
                    answer = b""
                    while part := server.recv(65536):
                        answer += part
                client.sendall(self.answer(answer))

    def close(self):
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def case_clock_skew():
    for off_s, result in ((120, "FAIL"), (-3600, "FAIL"), (20, "WARN")):
        def dated(data, off_s=off_s):
            date = time.strftime("Date: %a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + off_s))
            return re.sub(rb"(?i)\bdate: [^\r]*", date.encode(), data, count=1)
        with Proxy(answer=dated) as proxy:
            diagnose({f"{result} clock_skew": r"differ by (11[89]|120|360\d|359\d|19|20|21) s.*synchronise"},
                     "--url", proxy.url)


def case_get_body_refused():
    """Fronts that answer a GET with a body by themselves are named, each with what to do."""
    for code, reason, server, words in (
            (400, "Bad Request", "gws", "load balancer or proxy in front.*POST on the same paths"),
            (403, "Forbidden", "CloudFront", "firewall or delivery network.*POST on the same paths"),
            (411, "Length Required", "squid", "proxy in front takes no body.*POST on the same paths")):
        call = threading.local()  # of the thread that serves a connection

        def request(data, call=call):
            call.refused = data.startswith(b"GET ") and not data.endswith(b"\r\n\r\n")
            return data

        def answer(data, call=call, code=code, reason=reason, server=server):
            return (f"HTTP/1.1 {code} {reason}\r\nServer: {server}\r\nContent-Length: 0\r\n"
                    "Connection: close\r\n\r\n").encode() if call.refused else data
        with Proxy(request=request, answer=answer) as proxy:
            diagnose({"FAIL wallet_get_body": f"answered HTTP {code} by {server} and does not reach.*"
                                              f"a POST does.*{words}"}, "--url", proxy.url)


def case_body_dropped():
    """A proxy that takes the body of a GET away: the call arrives all the same."""
    def bare(data):
        if not data.startswith(b"GET "):
            return data
        head = data.split(b"\r\n\r\n", 1)[0]
        return re.sub(rb"(?i)\r\ncontent-(length|type):[^\r]*", b"", head) + b"\r\n\r\n"
    with Proxy(request=bare) as proxy:
        diagnose({"FAIL wallet_get_body": "without its body.*proxy"}, "--url", proxy.url)

    def redirect(_data):
        return (b"HTTP/1.1 301 Moved Permanently\r\nLocation: https://wallet.example/\r\n"
                b"Content-Length: 0\r\nConnection: close\r\n\r\n")
    with Proxy(answer=redirect) as proxy:
        diagnose({"FAIL wallet_mount": "HTTP 301: the web server redirects to https://wallet.example/"},
                 "--url", proxy.url)


def case_platform_public():
    need_root("look from a machine without a network", "platform_private")
    wrap = ("unshare", "--net")
    if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode:
        skip("there are no network namespaces here", "platform_private")
    diagnose({"WARN platform_private": "public address 8.8.8.8.*private address",
              "FAIL platform_mount": "no answer"},
             "--platform-url", "http://8.8.8.8:8081", wrap=wrap)


class Patience:
    """The slow checks, beside the other cases: a configuration that is a pipe without a writer, and
    a server that never answers."""

    def __init__(self):
        self.reports = {}
        fifo = WALLET.dir / "fifo.conf"
        os.mkfifo(fifo)
        self.silent = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{self.silent.getsockname()[1]}"
        self.threads = [threading.Thread(target=self.look, args=words, daemon=True)
                        for words in (("fifo", fifo), ("silent", config_with(), "--url", url))]
        for thread in self.threads:
            thread.start()

    def look(self, name, config, *words):
        begun = time.monotonic()
        self.reports[name] = (doctor(*words, config=config), time.monotonic() - begun)

    def report(self, name):
        for thread in self.threads:
            thread.join()
        self.silent.close()
        return self.reports[name]


def case_deadlines():
    report, seconds = PATIENCE.report("fifo")
    check("no answer within 10 s" in report.of("configuration")[0].found and 10 <= seconds < 25,
          f"{seconds} s: {report}")
    report, seconds = PATIENCE.report("silent")
    check(re.search("timed out|Timeout|Operation too slow", report.of("wallet_mount")[0].found)
          and "FAIL wallet_mount" in report.results("FAIL"), report)
    check(8 <= seconds < 35, f"{seconds} s")


def case_worker_replaced():
    """A new worker is installed, and the old one serves on. The last case with this server."""
    name = WALLET.worker.with_name("new")
    shutil.copy(WALLET.worker, name)
    name.rename(WALLET.worker)
    diagnose({"WARN workers": r"4 of 4 workers run a program that was replaced.*reload"}, *both(SERVER))


def case_ledger_down():
    """When doctor is needed most. One cause, found once; the rest is looked at, or says why not."""
    WALLET.stop()
    report = diagnose({"FAIL ledger": "no ledger runs.*start creditbridge-ledger",
                       "WARN workers": "replaced"}, *both(SERVER))
    check({"SKIP dealers", "SKIP keys", "SKIP sweeper", "SKIP callbacks", "SKIP socket_access"}
          <= report.results("SKIP"), report)
    for name in ("state_files", "wallet_mount", "wallet_get_body", "wallet_paths", "platform_mount",
                 "platform_paths"):
        equal([finding.result for finding in report.of(name)], ["PASS"], f"{name}: {report}")


def case_every_check():
    """No check without a fault that it found."""
    names = {finding.check for finding in doctor().findings}
    equal(names - FAULTY - EXCUSED, set(), "checks that found nothing")


CASES = [
    ("the sweeper never ran", case_never_swept),
    ("a healthy installation", case_healthy),
    ("as text", case_text),
    ("nothing is changed", case_nothing_changed),
    ("state directory open", case_state_mode),
    ("state directory missing or empty", case_state_missing),
    ("files of the state", case_state_files),
    ("configuration refused", case_configuration_refused),
    ("no configuration at all", case_configuration_default),
    ("configuration open to others", case_configuration_open),
    ("configuration closed to the workers", case_configuration_unreadable),
    ("configuration newer than the ledger", case_configuration_newer),
    ("odd settings", case_settings),
    ("callback networks", case_callback_networks),
    ("key files", case_key_files),
    ("disk space", case_space),
    ("ballast", case_ballast),
    ("state on tmpfs", case_tmpfs),
    ("a disk that fails", case_disk_fails),
    ("halted by a failing disk", case_halted),
    ("socket directory", case_socket_directory),
    ("sockets' modes and groups", case_socket_modes),
    ("sockets missing", case_sockets_missing),
    ("a ledger that hangs", case_ledger_stopped),
    ("another version of the ledger", case_other_version),
    ("too few descriptors", case_descriptors),
    ("a number of the ledger that is not in force", case_ledger_number),
    ("certificates of the cell", case_cell_certificate),
    ("an engine that died", case_engine_died),
    ("stale and missing programs", case_programs),
    ("a program that is asked for its version", case_version_asked),
    ("a caller who may not look", case_caller),
    ("a setgid worker that does not run", case_setgid_worker),
    ("cron", case_cron),
    ("no process takes the log", case_log),
    ("clock set back", case_clock_set_back),
    ("dealers' URLs", case_dealers),
    ("a change of keys that hangs", case_keys),
    ("a move that was left", case_moves),
    ("callbacks given up, breaker open", case_callbacks),
    ("probes are counted apart", case_probes_are_apart),
    ("every web server", case_servers),
    ("lighttpd without method-get-body", case_no_get_body),
    ("mounts that serve each other's paths", case_wrong_serve),
    ("wrong prefix", case_wrong_prefix),
    ("no server at the URL", case_nobody_there),
    ("clocks that differ", case_clock_skew),
    ("fronts that refuse the body of a GET", case_get_body_refused),
    ("a proxy that drops bodies", case_body_dropped),
    ("a public platform mount", case_platform_public),
    ("every probe has a deadline", case_deadlines),
    ("workers of a replaced program", case_worker_replaced),
    ("the ledger is down", case_ledger_down),
    ("every check found a fault", case_every_check),
]
needs(case_caller, "stale and missing programs")
needs(case_setgid_worker, "stale and missing programs")
needs(case_ledger_down, "workers of a replaced program")
needs(case_every_check, *(name for name, _ in CASES))


def main():
    global WALLET, SERVER, PATIENCE
    with cb.Instance("cbdoctor") as WALLET, cb.Lighttpd(WALLET, prefix="/wallet") as SERVER:
        WALLET.dealer_add("demo")
        WALLET.dealer_add("rotating")
        WALLET.dealer_add("far", "--url", PUBLIC_URL, mode="seamless")
        client_add(WALLET, "slots")
        PATIENCE = Patience()
        return cb.run_cases([*CASES[:1], *map(swept, CASES[1:-1]), CASES[-1]], seconds=60)


sys.exit(main())
