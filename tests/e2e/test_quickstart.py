#!/usr/bin/python3
"""quickstart as a newcomer uses it: `run --once`, serving, its supervision and its refusals.

Uses what is already built ($CB_BUILDDIR); building is not tested here, and of installing only what
is missing.
"""
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_console import Browser  # noqa: E402
from cb_documents import README, block  # noqa: E402

QUICKSTART = cb.SRCDIR / "quickstart"
work = pathlib.Path(tempfile.mkdtemp(prefix="quickstart-test."))


def argv(*words, state="state", port=None):
    return [str(QUICKSTART), "run", "--state", str(work / state), "--port",
            str(port or cb.free_port()), *words]


def run(*words, **options):
    return subprocess.run(argv(*words, **options), capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                          env=dict(os.environ, CB_BUILDDIR=str(cb.builddir())), check=False)


def read_demo(state="state"):
    return json.loads((work / state / "demo.json").read_text())


def dealer_of(demo):
    entry = demo["dealers"][0]
    return cb.Dealer(entry["casino_id"], entry["key"], entry["mode"])


def nothing_left(demo):
    """No file and no process of the quickstart that wrote @demo is there any more."""
    config = pathlib.Path(demo["ctl"][demo["ctl"].index("--config") + 1])
    check(not config.parent.exists(), f"{config.parent} is left")
    equal(cb.commands_with(config.parent), {}, "its processes")


class Serving:
    """A quickstart that serves, as a context."""

    def __init__(self, *words, **options):
        self.state = options.get("state", "state")
        (work / self.state / "demo.json").unlink(missing_ok=True)
        self.child = cb.Child(argv(*words, **options), work / "serving.log")
        self.child.wait_ready(lambda: "Ctrl-C stops" in self.child.log.read_text(), 20,
                              "quickstart serving")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        code = self.child.stop(signal.SIGINT)
        self.child.log.unlink()
        equal(code, 0, "exit code after Ctrl-C")
        nothing_left(read_demo(self.state))


def call(demo, path, **members):
    """A signed call made with nothing but what demo.json says."""
    port = int(demo["base_url"].rsplit(":", 1)[1])
    server = type("Mount", (), {"port": port, "prefix": ""})
    return cb.call(server, "POST", path, dict(members, user_id="alice"), dealer=dealer_of(demo))


def once(server):
    done = run("--once", "--server", server, state=server)
    equal(done.returncode, 0, f"exit code\n{done.stdout}\n{done.stderr}")
    for text in ("Transfer in:", "Balance:", "Transfer out:", "sign demo", '"current_balance":',
                 '"state":"accepted"', '"callback":{"state":"delivered","attempts":1}',
                 '"state":"refunding"', '"delivered":1', '"state":"refunded"'):
        check(text in done.stdout, f"{text!r} in the transcript:\n{done.stdout}")
    equal(done.stdout.count("HTTP/1.1 200"), 6, f"answers with 200:\n{done.stdout}")
    equal(done.stdout.count("HTTP/1.1 504"), 2, f"answers with 504:\n{done.stdout}")
    demo = read_demo(server)
    for entry in demo["dealers"] + demo["clients"]:
        check(entry["key"] not in done.stdout + done.stderr, "a key in the transcript")
    equal(demo["pids"], {"server": None, "ledger": None}, "pids of what has stopped")
    nothing_left(demo)
    for path in (work / server).iterdir():
        equal(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, f"mode of {path}")
    equal(stat.S_IMODE((work / server).stat().st_mode), 0o700, "mode of the state directory")


def case_once_lighttpd():
    once("lighttpd")


def case_once_apache():
    once("apache")


def case_postgresql():
    """The same calls on a PostgreSQL of its own, which is kept and ends with the quickstart."""
    lines = {}
    for store in ("berkeleydb", "postgresql"):
        done = run("--once", "--store", store, state=f"on-{store}")
        equal(done.returncode, 0, f"exit code\n{done.stdout}\n{done.stderr}")
        # Ids, times, ports and signatures are of each run.
        random = r'(?<="player_id":")[^"]*|(?<="request_id":")[^"]*|(?<=creditbridge-demo\.)\w+|[\w-]*\d[\w.:-]*'
        lines[store] = [re.sub(random, "N", line).replace(f"on-{store}", "STATE") for line in done.stdout.splitlines()]
        nothing_left(read_demo(f"on-{store}"))
    equal([(theirs, ours) for theirs, ours in itertools.zip_longest(lines["postgresql"], lines["berkeleydb"])
           if theirs != ours], [], "lines of the transcript that differ")
    data = work / "on-postgresql" / "postgresql"
    equal(stat.S_IMODE(data.stat().st_mode), 0o700, "mode of the data")
    equal(cb.commands_with(data), {}, "processes of the database")
    for store in ("berkeleydb", "postgresql"):
        other = {"berkeleydb": "postgresql", "postgresql": "berkeleydb"}[store]
        done = run("--once", "--store", other, state=f"on-{store}")
        check(done.returncode == 1 and "in another store" in done.stderr, f"{done}")
    with Serving("--store", "postgresql", state="on-postgresql") as _:
        demo = read_demo("on-postgresql")
        done = subprocess.run([*demo["ctl"], "check"], capture_output=True, timeout=20 * cb.PATIENCE, check=False)
        equal(done.returncode, 0, f"creditbridgectl check {done}")


def case_demo_json():
    with Serving() as _:
        demo = read_demo()
        equal(set(demo), {"base_url", "platform_url", "dealer_url", "ctl", "sweep", "dealers",
                          "clients", "players", "pids"}, "members of demo.json")
        equal([(d["casino_id"], d["mode"]) for d in demo["dealers"]],
              [("demo", "transfer"), ("demo-seamless", "seamless")], "dealers")
        equal([(p["casino_id"], p["user_id"]) for p in demo["players"]],
              [("demo", "alice"), ("demo-seamless", "alice")], "players")
        equal([c["client_id"] for c in demo["clients"]], ["slots"], "clients")
        equal(set(demo["pids"]), {"server", "ledger"}, "pids")
        words = {"amount": 2.5, "request_transaction_id": f"t-{os.getpid()}"}
        first = call(demo, cb.TRANSFER_IN, **words)
        equal(first.status, 200, f"a signed transfer {first}")
        again = call(demo, cb.TRANSFER_IN, **words)
        equal((again.body, again.replayed), (first.body, True), "the replay")
        status = subprocess.run([*demo["ctl"], "check"], capture_output=True, timeout=20 * cb.PATIENCE,
                                check=False)
        equal(status.returncode, 0, f"creditbridgectl check {status}")
        swept = subprocess.run([*demo["sweep"], "--json"], capture_output=True, timeout=20 * cb.PATIENCE,
                               check=False)
        equal((swept.returncode, json.loads(swept.stdout)["waiting"]), (0, 0), f"sweep {swept}")
        check(cb.port_taken(int(demo["dealer_url"].rsplit(":", 1)[1])), "the dealer's server")
        listening = cb.call(type("Mount", (), {
            "port": int(demo["platform_url"].rsplit(":", 1)[1]), "prefix": ""}), "GET", "/healthz")
        equal(listening.status, 200, "healthz of the platform's mount")


def case_readme():
    """README's commands for another terminal, with the settings that were printed, one after the other."""
    with Serving() as serving:
        settings = "\n".join(line.strip() for line in serving.child.log.read_text().splitlines()
                             if re.match(r"    (CTL|SWEEP|URL|PLATFORM|DEALER|SLOTS_KEY)=", line))
        for first, wanted in (("""BODY='{"amount":25""", '"current_balance":'),
                              ("""BODY='{"request_transaction_id":"bet-1\"""", '"state":"accepted"'),
                              ("$CTL bet list", " accepted "),
                              ("curl $PLATFORM/healthz", "creditbridge_ledger_up 1")):
            done = subprocess.run(["bash", "-c", f"set -eu\n{settings}\n{block(README, first)}"],
                                  capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False, cwd=work)
            equal(done.returncode, 0, f"{first}: {done.stdout}{done.stderr}")
            check(wanted in done.stdout, f"{first}: {wanted} in {done.stdout}{done.stderr}")
        (work / "balance.php").write_text(block(README, "<?php"))
        done = subprocess.run(["php", "balance.php", str(work / "state" / "demo.json")],
                              capture_output=True, text=True, timeout=30 * cb.PATIENCE, check=False, cwd=work)
        check('"balance":' in done.stdout, f"balance.php: {done.stdout}{done.stderr}")
        console_works(serving)


def console_works(serving):
    """The console as its address and its code are printed: the bet of the commands is there, and doctor has run."""
    url, code = re.search(r"web console is (\S+): sign in with the code (\d+)\.", serving.child.log.read_text()).groups()
    port = urllib.parse.urlsplit(url).port
    console = type("Demo", (), {"port": port, "tls": None})
    demo = Browser(console)
    page = demo.get("/")
    equal((page.status, page.header("Location")), (303, "/console/sign-in?back=%2Fconsole%2F"), "no session yet")
    page = demo.post("/sign-in", {"code": code})
    if page.status == 403:  # Its 30 s were over, and those of the next one.
        page = demo.post("/sign-in", {"code": (work / "state" / "console-code").read_text().strip()})
    equal(page.status, 303, f"the code that was printed: {page.text[-600:]}")
    equal(Browser(console).post("/sign-in", {"code": code}).status, 403, "it counts once")
    home = demo.get("/").document().text()
    check("demo (admin)" in home and "demo-seamless" in home, f"the overview: {home}")
    page = demo.follow(demo.get("/search", id="bet-1"))
    check(page.status == 200 and "bet-1" in page.document().text(), f"the bet: {page.text[-600:]}")
    health = demo.get("/health").document().text()
    check(re.search(r"FAIL \d+, WARN \d+, PASS \d+", health), f"doctor: {health}")


def case_second_start():
    """The second start keeps dealers, keys, players and credit, and is quick."""
    before = read_demo()
    start = time.monotonic()
    with Serving() as _:
        seconds = time.monotonic() - start
        after = read_demo()
        equal((after["dealers"], after["players"]), (before["dealers"], before["players"]),
              "dealers and players")
        again = call(after, cb.TRANSFER_IN, amount=2.5,
                     request_transaction_id=f"t-{os.getpid()}")
        equal((again.status, again.replayed), (200, True), "a replay from before")
        check(seconds < 20, f"the second start took {seconds:.1f} s")


def case_refusals():
    with Serving(state="taken") as _:
        demo = read_demo("taken")
        done = run("--once", state="taken")
        equal(done.returncode, 1, "exit code of a second quickstart on the same state")
        check("another quickstart is running" in done.stderr, done.stderr)
        equal(call(demo, cb.TRANSFER_OUT, amount=1, request_transaction_id="after").status, 200,
              "the first one goes on")
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        done = run("--once", port=port)
        equal(done.returncode, 1, "exit code when the port is in use")
        check(f"port {port}" in done.stderr and "in use" in done.stderr, done.stderr)
    (work / "file").touch()
    done = run("--once", state="file/below")
    equal(done.returncode, 1, "exit code when the state directory cannot be made")
    equal((done.stderr.count("\n"), "Not a directory" in done.stderr), (1, True), done.stderr)


def case_options():
    """They are looked at before anything is installed or built."""
    env = {key: value for key, value in os.environ.items() if key != "CB_BUILDDIR"}

    def exits(code, *words):
        done = subprocess.run([QUICKSTART, *words], capture_output=True, text=True, timeout=20 * cb.PATIENCE,
                              env=env, check=False)
        equal(done.returncode, code, f"exit code of {words}: {done.stderr}")
        check("building" not in done.stderr and "installing" not in done.stderr, done.stderr)
        return done
    for words in (["--server", "nothing"], ["--server"], ["--store", "nothing"], ["--port", "x"], ["--port", "99999"],
                  ["--port", "0"], ["--port="], ["--once=1"], ["--what"], ["here"]):
        check("usage:" in exits(2, "run", *words).stderr, f"usage for {words}")
    exits(2)
    exits(2, "what")
    exits(2, "check", "--once")
    for words in (["--seconds"], ["--seconds", "x"], ["--what"]):
        check("usage:" in exits(2, "cluster", *words).stderr, f"usage for {words}")
    for words in (["--help"], ["-h"], ["run", "--help"], ["run", "--port", "1", "--help"],
                  ["cluster", "--help"], ["check", "--help"]):
        done = exits(0, *words)
        check("./quickstart run [--server" in done.stdout and "Exit codes" in done.stdout
              and done.stderr == "", f"{words}: {done}")


def case_missing():
    """A package is there when another provides it, however many are installed; else it is named."""
    tree, programs = work / "tree", work / "programs"
    (tree / "debian").mkdir(parents=True)
    programs.mkdir()
    for name in ("quickstart", "debian/control"):
        shutil.copy(cb.SRCDIR / name, tree / name)
    # It ends when it builds.
    (tree / "autogen.sh").write_text("#!/bin/sh\nexit 1\n")
    (programs / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    # All are installed but debhelper-compat, which another provides (unless there is .none); the
    # list has 1 MiB.
    names = re.findall(r"(?m)^ ([a-z0-9.+-]+)", (cb.SRCDIR / "debian" / "control").read_text())
    check("debhelper-compat" in names and len(names) > 50, f"{names}")
    installed = "\n".join(f"installed,{name}," for name in names if name != "debhelper-compat")
    (programs / "installed").write_text(f"{installed}\n")
    (programs / "dpkg-query").write_text("""#!/bin/sh
[ $# = 2 ] || exit 2
cat "${0%/*}/installed"
[ -e "$0.none" ] || echo "installed,debhelper,dh-sequence-elf-tools, debhelper-compat (= 13), other (= 1)"
echo "config-files,debhelper-compat,"
yes "installed,some-other-package,some-package (= 1)" | head -c 1048576
""")
    for program in (tree / "autogen.sh", programs / "apt-get", programs / "dpkg-query"):
        program.chmod(0o755)

    def said():
        done = subprocess.run([tree / "quickstart", "check"], capture_output=True, text=True,
                              timeout=20 * cb.PATIENCE, check=False,
                              env=dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}"))
        equal(done.returncode, 1, f"exit code: {done}")
        return done.stderr
    for _ in range(5):
        text = said()
        check("debhelper-compat" not in text and "building in ./build" in text, text)
    (programs / "dpkg-query.none").touch()
    text = said()
    check("debhelper-compat" in text and "building in ./build" not in text, text)
    check("installing debhelper-compat\n" in text or "packages are missing: debhelper-compat\n" in text, text)


def case_run_depends():
    """`run` installs a part of what `check` installs: the build and the one web server that is asked for."""
    def missing(*words):
        """Lists the packages that quickstart would install on a Debian without them, as a user that
        is not root."""
        tree, programs = work / "bare-tree", work / "bare-programs"
        for folder in (tree / "debian", programs):
            folder.mkdir(parents=True, exist_ok=True)
        for name in ("quickstart", "debian/control"):
            shutil.copy(cb.SRCDIR / name, tree / name)
        for name, text in (("dpkg-query", ""), ("id", "echo 1000")):
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)
        env = {key: value for key, value in os.environ.items() if key != "CB_BUILDDIR"}
        done = subprocess.run([tree / "quickstart", *words], capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                              check=False, env=dict(env, PATH=f"{programs}:{os.environ['PATH']}"))
        equal(done.returncode, 1, f"{words}: {done}")
        return set(re.search(r"packages are missing: (.*)", done.stderr)[1].split())
    everything = missing("check")
    check(len(everything) > 50, f"{everything}")
    tools = missing("run") - {"lighttpd"}
    equal(missing("run", "--server=lighttpd"), tools | {"lighttpd"}, "lighttpd")
    equal(missing("run", "--store", "postgresql"), tools | {"lighttpd", "libpq-dev", "postgresql"}, "PostgreSQL")
    equal(missing("run", "--server", "apache"), tools | {"apache2", "libapache2-mod-fcgid"}, "Apache")
    # Parts of build-essential, which `check` installs whole.
    equal(tools - everything, {"gcc", "libc6-dev", "make"}, "packages that debian/control does not name")
    check(len(tools) < 20, f"{tools}")


def kill_and_wait(name):
    """Kills a process of demo.json and waits until its successor works; how long demo.json named
    the dead one."""
    old = read_demo()["pids"][name]
    os.kill(old, signal.SIGKILL)
    killed = time.monotonic()
    cb.wait_until(lambda: read_demo()["pids"][name] != old, 20, f"a new {name}")
    seconds = time.monotonic() - killed

    def works():
        try:
            return call(read_demo(), cb.TRANSFER_IN, amount=1,
                        request_transaction_id=f"{name}-{old}").status == 200
        except OSError:
            return False
    cb.wait_until(works, 20, f"an answer after the {name} was killed")
    return seconds


def case_supervision():
    """A ledger or a web server that is killed is started again, and demo.json says so."""
    for server in ("lighttpd", "apache"):
        with Serving("--server", server) as serving:
            for name in ("ledger", "server"):
                # A machine that stalls is given more tries.
                found = [kill_and_wait(name)]
                while found[-1] >= 1 and len(found) < 4:
                    found.append(kill_and_wait(name))
                check(found[-1] < 1, f"{name} was back after {found} s")
            pids = list(read_demo()["pids"].values())
            check(all(pids), f"{pids}")
            check(serving.child.running(), "quickstart goes on")
        for pid in pids:
            check(cb.process_gone(pid), f"process {pid} is left")


def main():
    """With --postgresql, the one case of suite quickstart-pg."""
    postgresql = [("the store on PostgreSQL", case_postgresql)]
    try:
        return cb.run_cases(postgresql if "--postgresql" in sys.argv[1:] else [
            ("run --once under lighttpd", case_once_lighttpd),
            ("run --once under Apache", case_once_apache),
            ("demo.json is enough to use it", case_demo_json),
            ("README: calls of your own", case_readme),
            ("a second start on the same state", case_second_start),
            ("refusals", case_refusals),
            ("options", case_options),
            ("what is missing", case_missing),
            ("run installs only what it needs", case_run_depends),
            ("killed processes are started again", case_supervision),
        ], seconds=60)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
