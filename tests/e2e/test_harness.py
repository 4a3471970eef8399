#!/usr/bin/python3
"""The promises of the tests' library: a suite that SIGTERM ends in a case leaves no processes and
no files; a look at a lock does not take it; a case that must not be skipped fails."""
import concurrent.futures
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402


def serve_for_ever():
    """Is ended in the middle of its case, with workers that are its servers' children."""
    with cb.Instance("harness") as wallet, cb.Lighttpd(wallet), cb.ApacheFcgid(wallet) as apache:
        answer = cb.call(apache, "GET", "/healthz", port=apache.platform_port)
        equal(answer.status, 200, "status of healthz")
        print(f"# {wallet.dir}", flush=True)
        signal.pause()


def ended_suite():
    env = {name: value for name, value in os.environ.items() if name != "CB_KEEP"}
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True,
                          env=env) as suite:
        try:
            folder = suite.stdout.readline().removeprefix("# ").strip()
            if not folder.startswith("/"):
                raise AssertionError(f"no directory: {folder}\n{suite.stdout.read()}")
            count = len(cb.commands_with(folder))
            check(count >= 5, f"{count} processes are no test")
        finally:
            suite.terminate()
        equal(suite.wait(60), 128 + signal.SIGTERM, "exit code of the suite")
    equal((cb.commands_with(folder), os.path.exists(folder)), ({}, False), "what is left of it")


def lock_take(path):
    """The file @path, locked; None: another one has the lock."""
    file = open(path, "ab")  # pylint: disable=consider-using-with
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except BlockingIOError:
        file.close()
        return None


def looks_take_no_lock():
    """A process that asks for a lock while a test looks at it gets it."""
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        path = pathlib.Path(folder) / "lock"
        equal(cb.lock_holders(path), [], "holders of a lock that is not there")
        with lock_take(path):
            equal(cb.lock_holders(path), [os.getpid()], "holders")
        over, looks = threading.Event(), []

        def look():
            while not over.is_set():
                looks.append(len(cb.lock_holders(path)))
        looking = threading.Thread(target=look)
        looking.start()
        try:
            refused, times = 0, 0
            while times < 500 or len(looks) < 500:
                file = lock_take(path)
                times += 1
                refused += file is None
                if file:
                    file.close()
        finally:
            over.set()
            looking.join()
    equal(refused, 0, f"refused locks of {times}, with {len(looks)} looks")


def ports_are_not_the_kernels():
    """A port that is given is none that the kernel may give to a connection meanwhile."""
    low, high = map(int, pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = [cb.free_port() for _ in range(20)]
    equal((len(set(ports)), [port for port in ports if low <= port <= high]), (20, []), "ports")


SUITE = """\
echo "ok 1 - one"
echo "ok 2 - two # SKIP there is no two"
echo "ok 3 - three # SKIP there is no three here"
[ "${SEED:-0}" != 8 ] || echo "not ok 4 - four"
[ "${SEED:-0}" = 8 ] || echo "ok 4 - four"
echo 1..4
"""


def tree(folder):
    """A tree with a suite of its own, which fails with the seed 8."""
    top = pathlib.Path(folder)
    (top / "tests" / "lib").mkdir(parents=True)
    (top / "build").mkdir()
    for name in ("run", "repeat.py", "lib/cb_process.py"):
        shutil.copy(cb.SRCDIR / "tests" / name, top / "tests" / name)
    (top / "tests" / "BUDGET").write_text("mine check beside 10 /bin/sh {src}/suite\n")
    (top / "tests" / "SKIPS").write_text("# why\nmine  there is no * here\n")
    (top / "suite").write_text(SUITE)
    return top


def done(top, *words, **more):
    env = {name: value for name, value in os.environ.items()
           if name not in ("CB_REQUIRE", "CB_SLOWER", "CB_UNTIL", "SEED", "TMPDIR")}
    env.update(more, CB_BUILDDIR=str(top / "build"))
    return subprocess.run([top / "tests" / words[0], *words[1:]], env=env, capture_output=True,
                          text=True, timeout=120 * cb.PATIENCE, check=False)


def skips_that_fail():
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree(folder)
        for more, code, last in (({}, 0, "2 passed, 0 failed, 2 skipped"),
                                 ({"CB_REQUIRE": "1"}, 1, "2 passed, 1 failed, 1 skipped"),
                                 ({"CB_REQUIRE": "1", "CB_UNTIL": "1"}, 1, "0 passed, 1 failed, 0 skipped")):
            ran = done(top, "run", "check", **more)
            equal((ran.returncode, ran.stdout.splitlines()[-1]), (code, last), ran.stdout)
        check("FAILED mine: two: it must not be skipped here (tests/SKIPS): there is no two" in
              done(top, "run", "mine", CB_REQUIRE="1").stdout, "the case and its reason")


SLOW_SUITE = """\
echo "ok 1 - one"
[ "${SEED:-0}" != 8 ] || echo "not ok 2 - two"
trap 'echo "not ok 3 - three"; exit 1' TERM
[ "${SEED:-0}" != 9 ] || { sleep 60 & wait; }
for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	echo "# at work"
	sleep 1 & wait
done
"""


def cut_run(budget, seed):
    """The exit code and the last line of a run whose time ends in the middle of its suite."""
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree(folder)
        (top / "suite").write_text(SLOW_SUITE)
        (top / "tests" / "BUDGET").write_text(f"mine check beside {budget} /bin/sh {{src}}/suite\n")
        shutil.copy(cb.SRCDIR / "tests" / "SKIPS", top / "tests" / "SKIPS")
        ran = done(top, "run", "check", CB_REQUIRE="1", CB_UNTIL=str(int(time.time()) + 15), SEED=str(seed))
        return ran.returncode, ran.stdout.splitlines()[-1]


def the_time_of_the_run():
    """A suite that runs when the time of the run is over: the rest of it is skipped, unless it hangs."""
    # Seed 8: a case failed before. Seed 9: it prints no line for longer than its budget.
    wanted = {(6, 0): (0, "1 passed, 0 failed, 1 skipped"), (6, 8): (1, "1 passed, 1 failed, 1 skipped"),
              (6, 9): (1, "1 passed, 1 failed, 0 skipped"), (0, 0): (1, "1 passed, 1 failed, 0 skipped")}
    with concurrent.futures.ThreadPoolExecutor(len(wanted)) as pool:
        equal(dict(zip(wanted, pool.map(cut_run, *zip(*wanted)))), wanted, "the ends of the runs")


TOLD = """\
1..1
not ok 1 - one
# Traceback (most recent call last):
#   File "one.py", line 1, in <module>
#     one()
# ValueError: the cause
#
# During handling of the above exception, another exception occurred:
#
# Traceback (most recent call last):
#   File "two.py", line 1, in <module>
# AssertionError: what failed
# one took 9.8 s
# what the next case says: all is well
"""


def the_reason_of_a_failure():
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree(folder)
        (top / "suite").write_text(f"cat <<'E'\n{TOLD}E\n")
        equal(done(top, "run", "mine").stdout.splitlines()[-2],
              "FAILED mine: one: AssertionError: what failed", "the last line but one")


def the_check_repeated():
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree(folder)
        ran = done(top, "repeat.py", "-n", "3", SEED="7")
        equal((ran.returncode, ran.stderr), (1, ""), ran.stdout)
        for line in ("run 2 of 3, SEED=8: 1 passed, 1 failed, 2 skipped in", "  FAILED mine: four",
                     f"  log: {top / 'build' / 'check-repeat' / 'run-8.log'}", "1 times: mine: four",
                     "3 runs, 1 failed"):
            check(line in ran.stdout, f"{line} in {ran.stdout}")
        equal(sorted(os.listdir(top / "build" / "check-repeat")), ["run-8.log", "runs.json"], "files")
        equal(cb.commands_with(folder), {}, "processes that are left")
        ran = done(top, "repeat.py", "-n", "3", "--continue")
        equal((ran.returncode, ran.stdout), (1, "1 times: mine: four\n3 runs, 1 failed\n"), "no run is missing to 3")
        ran = done(top, "repeat.py", "-n", "4", "--continue", SEED="99")
        check("run 4 of 4, SEED=10" in ran.stdout and ran.stdout.endswith("4 runs, 1 failed\n"), ran.stdout)
        ran = done(top, "repeat.py", "-n", "4", "--continue", "mine")
        check(ran.returncode == 2 and "has runs of check: leave --continue out" in ran.stderr, ran.stderr)
        equal(done(top, "repeat.py", "-n", "1", SEED="7").returncode, 0, "a run that passes")
        ran = done(top, "repeat.py", "-n", "4", "-j", "3", SEED="7")
        check("4 runs, 1 failed" in ran.stdout, f"three at a time: {ran.stdout}")


CASES = """\
import sys
sys.path.insert(0, {lib!r})
import cb_tap
def no():
    raise AssertionError("it was not chosen")
def seldom():
    with open({count!r}, "a+") as file:
        file.write("x")
        file.seek(0)
        cb_tap.check(len(file.read()) < 3, "the third run fails")
sys.exit(cb_tap.run_cases([
    ("begin", lambda: None), ("one word", cb_tap.needs(lambda: None, "begin", "end")),
    ("two words", no), ("seldom", seldom), ("end", lambda: None)]))
"""


def files_in_memory():
    """A suite with +memory keeps its files there, if there is room, and where the caller says otherwise."""
    mount = re.search(r"(?m)^\S+ /dev/shm tmpfs ", pathlib.Path("/proc/mounts").read_text())
    found = os.statvfs("/dev/shm") if mount else None
    left = int(re.search(r"(?m)^MemAvailable: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) << 10
    # Requires much more space than is needed, because other programs may take some meanwhile.
    room = (found and not found.f_flag & os.ST_NOEXEC and os.access("/dev/shm", os.W_OK) and
            min(left, found.f_bavail * found.f_frsize) >= 4 << 30)
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree(folder)
        (top / "suite").write_text('echo "$TMPDIR" >"${0%/*}/place"\necho "ok 1 - one"\necho 1..1\n')
        for turn, place, expected in (("beside", "", ("",)), ("beside+memory", "/var/tmp", ("/var/tmp",)),
                                      ("beside+memory", "", ("/dev/shm",) if room else ("", "/dev/shm"))):
            (top / "tests" / "BUDGET").write_text(f"mine check {turn} 10 /bin/sh {{src}}/suite\n")
            environment = {"TMPDIR": place} if place else {}
            ran = done(top, "run", "mine", **environment)
            equal(ran.returncode, 0, ran.stdout + ran.stderr)
            check((top / "place").read_text().strip() in expected, f"{turn} {place}")


def tree_of_cases(folder):
    """A tree whose suite `mine` is in Python."""
    top = tree(folder)
    (top / "tests" / "BUDGET").write_text("mine check beside 10 /usr/bin/python3 {src}/suite\n"
                                          "shell check beside 10 /bin/sh {src}/suite\n")
    (top / "suite").write_text(CASES.format(lib=str(cb.SRCDIR / "tests" / "lib"),
                                            count=str(top / "count")))
    return top


def one_case_of_python():
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree_of_cases(folder)
        for words in (("mine", "one"), ("mine:one w",), ("mine", "--case", "one word"),
                      ("mine", "-n", "1", "one")):
            ran = done(top, "run", *words)
            equal((ran.returncode, ran.stdout.splitlines()[-1]),
                  (0, "3 passed, 0 failed, 0 skipped"), f"{words}: {ran}")
        equal(done(top, "run", "mine", "two").returncode, 1, "a case that fails")
        for words, reason in ((("mine", "three"), "no case of mine has 'three' in its name"),
                              (("mine", "shell", "--case", "one"), "need one suite"),
                              (("check", "one"), "no such suite: one"),
                              (("shell", "one"), "cannot be run one by one"),
                              (("mine", "--gdb"), "mine is no C program"),
                              (("mine", "-n", "0"), "-n takes a number from 1")):
            ran = done(top, "run", *words)
            equal((ran.returncode, reason in ran.stderr), (2, True), f"{words}: {ran}")


def runs_until_one_fails():
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        top = tree_of_cases(folder)
        ran = done(top, "run", "mine", "seldom", "-n", "5")
        equal((ran.returncode, [line for line in ran.stdout.splitlines() if line.startswith("run ")],
               ran.stdout.splitlines()[-1]),
              (1, ["run 1 of 5: passed", "run 2 of 5: passed", "run 3 of 5: failed"],
               "2 passed, 1 failed, 0 skipped"), ran.stdout)


def run_here(*words, **more):
    return subprocess.run([cb.SRCDIR / "tests" / "run", *words], env=dict(os.environ, **more),
                          capture_output=True, text=True, timeout=120 * cb.PATIENCE, check=False)


def one_case_of_c():
    name = "utf8_every_character"
    ran = run_here("base", name, "-n", "2")
    equal((ran.returncode, ran.stdout.splitlines()[-1]), (0, "2 passed, 0 failed, 0 skipped"), f"{ran}")
    ran = run_here("base", "no_such_case")
    equal((ran.returncode, "no case of base has" in ran.stderr), (2, True), f"{ran}")
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        gdb = pathlib.Path(folder) / "gdb"
        gdb.write_text("#!/bin/sh\necho $CK_FORK $CB_CASE $*\n")
        gdb.chmod(0o755)
        ran = run_here("base", name, "--gdb", PATH=f"{folder}:{os.environ['PATH']}")
    equal(ran.stdout.strip(), f"no {name} --args {cb.builddir() / 'tests/base/test_base'}", f"{ran}")


def halves_of_c():
    """$CB_HALF: each case is in one half. $CB_LEAVE_OUT: whole names."""
    def names(half, left_out=""):
        ran = subprocess.run([cb.builddir() / "tests/peer/test_peer"],
                             env=dict(os.environ, CB_HALF=half, CB_LEAVE_OUT=left_out), capture_output=True,
                             text=True, timeout=60 * cb.PATIENCE, check=True)
        return re.findall(r"(?m)^ok \d+ - (.+): Passed$", ran.stdout)
    every, first, second = names(""), names("0"), names("1")
    check(first and second, f"{first}, {second}")
    equal(sorted(first + second), sorted(every), "the cases of both halves")
    name = every[-1].rpartition(":")[2]
    equal(names("", f"x{name} {name} {every[0]}"), every[:-1], "$CB_LEAVE_OUT: the others")


GDB_SCRIPT = """\
set pagination off
set debuginfod enabled off
set breakpoint pending on
source tools/gdb/creditbridge.py
break bdb_save if ws->first->record == RECORD_BET
run
cb-ws ws
cb-row bet ws->first->data
"""


def commands_of_gdb():
    """tools/gdb/creditbridge.py, in a test of the store that saves a bet."""
    if not shutil.which("gdb"):
        raise cb.Skip("gdb is not installed")
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        script = pathlib.Path(folder) / "script"
        script.write_text(GDB_SCRIPT)
        done = subprocess.run(["gdb", "-batch", "-x", script, cb.builddir() / "tests/store/test_store"],
                              cwd=cb.SRCDIR, env={**os.environ, "CK_FORK": "no", "CB_CASE": "every_length"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                              check=False)
    if "Could not trace the inferior process" in done.stderr + done.stdout:
        raise cb.Skip("processes cannot be traced here")
    for line in (r"bet +WS_LOADED +dirty,appended +player_id='a{20}' game_id='g' number=1", "1 rows",
                 r"  state +accepted", r"  bet_amount +0\.0001", r"  user_bet +0 bytes b''"):
        check(re.search(f"^{line}$", done.stdout, re.M), f"no line {line!r}: {done.stdout}{done.stderr}")


def main():
    if sys.argv[1:] == ["serve"]:
        return cb.run_cases([("serves", serve_for_ever)], seconds=90)
    return cb.run_cases([
        ("a suite that is ended leaves nothing", ended_suite),
        ("a look at a lock does not take it", looks_take_no_lock),
        ("ports are not the kernel's to give", ports_are_not_the_kernels),
        ("what must not be skipped fails", skips_that_fail),
        ("the end of the time of a run skips the rest", the_time_of_the_run),
        ("the reason of a failure", the_reason_of_a_failure),
        ("files in memory", files_in_memory),
        ("one case of a suite in Python", one_case_of_python),
        ("one case of a suite in C", one_case_of_c),
        ("halves of a suite in C", halves_of_c),
        ("runs until one fails", runs_until_one_fails),
        ("commands of gdb", commands_of_gdb),
        ("the check repeated on a busy machine", the_check_repeated)], seconds=180)


if __name__ == "__main__":
    sys.exit(main())
