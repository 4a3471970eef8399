#!/usr/bin/python3
"""creditbridgectl doctor and the web console: each fault is made for real, and nothing is said of a console
that is not set up."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_console import FRONT, PREFIX, Console  # noqa: E402
from cb_process import Child, free_port  # noqa: E402

GROUP = "nogroup"
WALLET = FRONT_FILE = SOCKET = CONSOLE = PROGRAM = None
FOUND = set()  # checks that found a fault


def doctor(*words, config=None):
    """The findings of the console: {check: [(result, about, found + remedy)]}, and the text of the clock."""
    done = subprocess.run([cb.find_program("creditbridgectl"), "--config", config or WALLET.config, "--json",
                           "doctor", *words], capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False,
                          stdin=subprocess.DEVNULL)
    found = {}
    for row in json.loads(done.stdout)["findings"]:
        if row["check"].startswith("console_") or row["check"] == "clock":
            check(row["result"] in ("PASS", "SKIP") or row["remedy"], f"no remedy: {row}")
            found.setdefault(row["check"], []).append((row["result"], row["about"],
                                                       f"{row['about']}: {row['found']} => {row['remedy']}"))
    return found


def diagnose(expected, *words, **options):
    """Demands the findings {"RESULT check": regular expression}; the other checks of the console pass or look
    at nothing. Only console_apache may find a fault of this machine."""
    found = doctor(*words, **options)
    clock = found.pop("clock")
    check(clock[0][0] != "WARN" or "the console refuses codes" in clock[0][2], f"the clock: {clock}")
    bad = {}
    for name, rows in found.items():
        for result, _, text in rows:
            # An Apache with PHP inside may run here that is none of ours.
            if result in ("WARN", "FAIL") and (name != "console_apache" or f"{result} {name}" in expected):
                bad.setdefault(f"{result} {name}", []).append(text)
    equal(set(bad), set(expected), f"{found}")
    for name, pattern in expected.items():
        check(any(re.search(pattern, text) for text in bad[name]), f"{name}: {pattern!r} is not in {bad[name]!r}")
        FOUND.add(name.split()[1])
    return found


@contextlib.contextmanager
def mode(path, bits):
    before = os.stat(path).st_mode & 0o7777
    os.chmod(path, bits)
    try:
        yield
    finally:
        os.chmod(path, before)


@contextlib.contextmanager
def away(path):
    os.rename(path, f"{path}.away")
    try:
        yield
    finally:
        os.rename(f"{path}.away", path)


def config_with(**changes):
    text = "".join(line for line in WALLET.config.read_text().splitlines(True) if line.split()[0] not in changes)
    path = WALLET.dir / "changed.conf"
    path.write_text(text + "".join(f'{name} = "{value}"\n' for name, value in changes.items()))
    path.chmod(0o644)
    return path


class Process(Child):
    """The console, as the installed unit runs it with its socket on standard input, but as @user, with this
    program."""

    def __init__(self, user, program=None):
        SOCKET.unlink(missing_ok=True)
        argv = ["setpriv", f"--reuid={user}", f"--regid={GROUP if user != 'root' else 'root'}", "--clear-groups",
                "--no-new-privs", "--", program or WALLET.worker, "--config", WALLET.config, "--serve", "console",
                "--base-path", PREFIX, "--loopback-http", "--threads", "2"]
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(SOCKET))
            SOCKET.chmod(0o660)
            shutil.chown(SOCKET, None, WALLET.user)
            listener.listen(64)
            super().__init__([str(word) for word in argv], WALLET.logs / "console.log", stdin=listener)
        wait_until(self.serving, 20, "the console")

    def serving(self):
        check(self.running(), self.log_tail())
        return pathlib.Path(f"/proc/{self.pid}/comm").read_text().startswith("creditbridge")

    def stop(self):
        SOCKET.unlink(missing_ok=True)
        super().stop()


class Mount(Console):
    """lighttpd before the console that runs already."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.wallet, self.dir, self.socket = WALLET, WALLET.dir / "console", SOCKET
        self.dir.mkdir(mode=0o755)
        self.listen()

    def apache(self, folder, port):
        library = next(path for place in ("/lib", "/usr/lib") for path in
                       sorted(pathlib.Path(place).glob("*/libz.so.1")))
        shutil.copy(library, folder / "libphp8.2.so")
        config, argv = super().apache(folder, port)
        return f"{config}LoadFile {folder}/libphp8.2.so\n", argv

    def url(self, port):
        return f"http://127.0.0.1:{port}{PREFIX}"


def case_not_used():
    """Of a console that is not set up, nothing is said."""
    for changes in ({}, {"console_front_file": ""}):
        config = config_with(**changes) if changes else WALLET.dir / "default.conf"
        if not changes:
            config.write_text("".join(line for line in WALLET.config.read_text().splitlines(True)
                                      if not line.startswith("console_")))
            config.chmod(0o644)
            if pathlib.Path("/etc/creditbridge/console-front").exists():
                continue
        with away(SOCKET):
            for words in ((), ("--console-url", "https://127.0.0.1/console")):
                equal(set(doctor(*words, config=config)), {"clock"}, f"findings with {changes} {words}")


def case_enabled():
    """The configuration of an earlier version turns the console off, and its socket was enabled since."""
    config = config_with(console_front_file="")
    found = doctor(config=config)
    found.pop("clock")
    ((result, _, text),) = found.pop("console_front")
    equal((result, found), ("WARN", {}), text)
    check(re.search(f"console_front_file is empty.* => delete the line console_front_file of {config}, then .*"
                    "console-front new.*restart creditbridge-ledger", text), text)


def case_healthy():
    found = diagnose({"WARN console_operators": "no operator may sign in => .*operator add"})
    equal([row[0] for row in found["console_mount"]], ["SKIP"], "without a URL")
    check("--console-url" in found["console_mount"][0][2], found)
    WALLET.ctl("operator", "add", "nok", "--role", "support")
    found = diagnose({}, "--console-url", CONSOLE.url(CONSOLE.port))
    found.pop("console_apache")  # see diagnose()
    equal({row[0] for rows in found.values() for row in rows}, {"PASS"}, f"{found}")


def case_front():
    for bits in (0o644, 0o640):
        with mode(FRONT_FILE, bits):
            diagnose({"FAIL console_front": f"mode {bits:04o}.*=> chmod 0600 {FRONT_FILE}.*change the secret"})
    os.chown(FRONT_FILE, 65534, -1)
    diagnose({"FAIL console_front": "belongs to user nobody, not to root => chown root "})
    os.chown(FRONT_FILE, 0, -1)
    for text in ("", "short\n", f"{FRONT}\n" * 3):
        FRONT_FILE.write_text(text)
        diagnose({"FAIL console_front": "is not usable: it needs one or two lines.*=> /usr/share/creditbridge/console-front new"})
    FRONT_FILE.write_text(f"{FRONT}\n")
    diagnose({"FAIL console_front": "No such file.*=> /usr/share/creditbridge/console-front new"},
             config=config_with(console_front_file=WALLET.dir / "nowhere"))


def case_form():
    """The file that the web server reads."""
    form = FRONT_FILE.with_name(FRONT_FILE.name + ".conf")
    form.touch(mode=0o600)
    form.write_text(f"fastcgi_param CREDITBRIDGE_FRONT {FRONT};\n")
    try:
        diagnose({})
        with mode(form, 0o644):
            diagnose({"FAIL console_front": f"{form} has mode 0644"})
        form.write_text(f"fastcgi_param CREDITBRIDGE_FRONT {'0' * 64};\n")
        diagnose({"FAIL console_front": "passes a secret of .* that is not valid => .*restart the web server"})
    finally:
        form.unlink()


def case_desk_socket():
    desk = WALLET.sockets / "desk.sock"
    for bits in (0o666, 0o662):
        with mode(desk, bits):
            diagnose({"FAIL console_sockets": f"desk.sock: .*mode {bits:04o}.*=> restart creditbridge-ledger"})
    with away(desk):
        diagnose({"FAIL console_sockets": "it is not there.*before the file.*=> restart creditbridge-ledger"})
    diagnose({"FAIL console_sockets": "admits others than group daemon"}, config=config_with(console_group="daemon"))
    jobs, ping = (WALLET.sockets / name for name in ("jobs.sock", "ping.sock"))
    jobs.touch()
    try:
        diagnose({"WARN console_sockets": "ping.sock is not there.*=> systemctl enable --now creditbridge-ping.socket"})
        ping.touch(0o600)
        diagnose({})
        with mode(ping, 0o666):
            diagnose({"FAIL console_sockets": "ping.sock has mode 0666.*=> chmod go= "})
    finally:
        jobs.unlink()
        ping.unlink(missing_ok=True)
    with cb.Instance("console-lone", settings={"console_front_file": str(FRONT_FILE),
                                               "console_group": "no-such-group"}) as lone:
        diagnose({"WARN console_sockets": "only the ledger's user can open .*=> set console_group",
                  "WARN console_operators": "no operator"}, config=lone.config)


def case_web_socket():
    with mode(SOCKET, 0o666):
        diagnose({"FAIL console_sockets": "console.sock has mode 0666.*=> chmod o= "})
    with mode(SOCKET.parent, 0o777):
        diagnose({"FAIL console_sockets": "has mode 0777: others may put a socket.*=> chmod go-w"})
    with away(SOCKET):
        diagnose({"WARN console_sockets": "is not there: the console is not started.*=> systemctl enable"})


def case_process():
    copy = WALLET.dir / "creditbridge.fcgi"
    PROGRAM.stop()
    found = diagnose({"WARN console_sockets": "is not there"})
    equal(found["console_process"][0][0], "SKIP", f"{found}")
    root = Process("root")
    try:
        diagnose({"FAIL console_process": "as user root.*=> .*_creditbridge-console"})
    finally:
        root.stop()
    shutil.copy(WALLET.worker, copy)
    copy.chmod(0o755)
    other = Process("nobody", copy)
    try:
        copy.unlink()
        diagnose({"WARN console_process": "was replaced.*=> systemctl restart creditbridge-console"})
    finally:
        other.stop()
    globals()["PROGRAM"] = Process("nobody")
    diagnose({})


def case_operators():
    """After an import an operator has no code secret."""
    export = WALLET.dir / "export.jsonl"
    WALLET.ctl("export", export)
    with cb.Instance("console-import", start=False, settings={"console_front_file": str(FRONT_FILE),
                                                              "console_group": GROUP}) as other:
        shutil.rmtree(other.state)
        other.ctl("import", export)
        other.start()
        diagnose({"WARN console_operators": "operators without a code secret, .*: 1 => creditbridgectl "
                                            "operator list; creditbridgectl operator new-code NAME", "WARN console_sockets": "console.sock is not there"},
                 config=other.config)
        other.ctl("operator", "suspend", "nok")
        diagnose({"WARN console_operators": "no operator may sign in",
                  "WARN console_sockets": "console.sock is not there"}, config=other.config)


def case_apache():
    child, _ = CONSOLE.other("apache")
    try:
        diagnose({"WARN console_apache": "mod_php runs in Apache.*=> .*php-fpm.*of its own"})
    finally:
        child.stop()
    diagnose({})


def case_mount():
    diagnose({"FAIL console_mount": "HTTP 403: the web server asks for no user => require a valid user"},
             "--console-url", CONSOLE.url(CONSOLE.bare))
    diagnose({"FAIL console_mount": "HTTP 404: the console is not mounted there => include"},
             "--console-url", f"http://127.0.0.1:{CONSOLE.port}/elsewhere")
    diagnose({"FAIL console_mount": "no answer.*=> "}, "--console-url", CONSOLE.url(free_port()))
    diagnose({"FAIL console_mount": "has no TLS: .*=> serve the console over https"},
             "--console-url", "http://wallet.example/console")
    PROGRAM.stop()
    try:
        diagnose({"FAIL console_mount": r"HTTP 50\d: the web server .*=> see", "WARN console_sockets": "not there"},
                 "--console-url", CONSOLE.url(CONSOLE.bare))
    finally:
        globals()["PROGRAM"] = Process("nobody")


def case_no_root():
    raise cb.Skip("only root can run the console as another user")


def case_every_check():
    names = set(doctor()) - {"clock"}
    equal(names - FOUND, set(), "checks that found nothing")


CASES = (
    ("a console that is not set up", case_not_used),
    ("an enabled console that is turned off", case_enabled),
    ("a healthy console", case_healthy),
    ("the file of the front secret", case_front),
    ("the file of the web server", case_form),
    ("desk.sock", case_desk_socket),
    ("console.sock", case_web_socket),
    ("the process", case_process),
    ("operators without a code", case_operators),
    ("mod_php in Apache", case_apache),
    ("the mount", case_mount),
    ("every check found a fault", case_every_check),
)


def main():
    global WALLET, FRONT_FILE, SOCKET, CONSOLE, PROGRAM  # pylint: disable=global-statement
    if os.geteuid() != 0:
        return cb.run_cases([(name, case_no_root) for name, _ in CASES])
    with cb.Instance("console-doctor", start=False, settings={"console_group": GROUP}) as WALLET:
        FRONT_FILE = WALLET.dir / "front"
        FRONT_FILE.touch(mode=0o600)
        FRONT_FILE.write_text(f"{FRONT}\n")
        with WALLET.config.open("a") as config:
            config.write(f'console_front_file = "{FRONT_FILE}"\n')
        WALLET.start()
        SOCKET = pathlib.Path(f"{WALLET.sockets}-console") / "console.sock"
        SOCKET.parent.mkdir(mode=0o755)
        shutil.chown(SOCKET.parent, "nobody")
        PROGRAM = Process("nobody")
        CONSOLE = Mount()
        try:
            return cb.run_cases(CASES, seconds=60)
        finally:
            CONSOLE.server.stop()
            PROGRAM.stop()


if __name__ == "__main__":
    sys.exit(main())
