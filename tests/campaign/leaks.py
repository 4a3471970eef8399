#!/usr/bin/python3
"""Searches for keys, signatures and bodies in all places where they must not be.

    leaks.py [--rounds N] [--seed N] [CASE...]

All that the service does is done with keys, signatures and words in bodies that are noted: under
lighttpd at level info with the log going to syslog and every process traced, and under Apache
mod_fcgid at level debug. Then each is searched for, raw, in hex, in base64 and urlencoded, as
pieces of 31 bytes and more, in every log, what callers were answered, what creditbridgectl printed,
the audit, the figures, the command lines and environments of all processes, what was written to
anything but the wire and the state, and every file; and core dumps are provoked. What is meant to
be there:

    keys         in the state and its backups, which only their owner can read, on the link to the
                 ledger, where a key is shown once, and in an export that was asked for them
    signatures   on the wire, and on the link of a worker that notes a refused request
    bodies       there, in logs at level debug, and on pages of the console; a round's objects in the
                 answer that shows the round
    front        the secret that vouches for the console's web server: in its file and that server's
                 configuration, and on the wire to the console and on its link to the ledger
    session      the cookie of the console's operator: on the wire of the browser and of the console
    code         the secret of one-time codes: printed once, in the state and its backups, and on the link
                 on which it is made
    memory       of a process that is alive: only root can look into it (base/no_dump.h)

The search is put to the test in each place by a leak that was planted there. Prints its seed, and
one line of figures.
"""
import argparse
import contextlib
import os
import pathlib
import random
import re
import resource
import secrets
import signal
import stat
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("lib", "e2e"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import cb  # noqa: E402
import test_logs  # noqa: E402
from canaries import Run, Wallet  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_instance import temporary_directory  # noqa: E402
from needles import Net, spellings  # noqa: E402
from traced import Traced  # noqa: E402

# Those that show a key, once.
SHOWING = (["dealer", "add"], ["dealer", "key-add"], ["client", "add"], ["client", "key-add"],
           ["operator", "add"])
# Those that no text shows, whatever the level of the log.
NEVER = ("key", "signature", "front", "session", "code")
# Outputs that never have a body.
BODILESS = ("audit", "metrics", "status", "check", "doctor")
# Files that have the front secret: the ledger's, and those that the console's lighttpd reads.
FRONT_FILES = ("console-front", "front.conf", "tls.conf")
WAIT_S = 20.0


class Processes(threading.Thread):
    """Reads every process' command line and environment, again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.texts = set()
        self.stopping = threading.Event()
        self.start()

    def run(self):
        while not self.stopping.wait(0.02):
            for pid in cb.pids_all():
                for name in ("cmdline", "environ"):
                    with contextlib.suppress(OSError):
                        self.texts.add(pathlib.Path(f"/proc/{pid}/{name}").read_bytes())

    def stop(self):
        self.stopping.set()
        self.join()
        return self.texts


class Search:
    """One round: what was done under one server, and what was found out about it."""

    def __init__(self, kind, level, chance):
        self.kind, self.level, self.random = kind, level, chance
        self.wallet = self.run = self.net = None
        self.processes = set()
        self.searched = 0

    def find(self, where, data, *kinds):
        self.searched += len(data)
        return [f"{where}: {kind} ({spelling})" for kind, spelling in self.net.find(data, *kinds)]

    def case_do(self):
        self.wallet = Wallet(self.level)
        self.run = Run(self.wallet)
        watch = Processes()
        try:
            self.run.everything(self.kind, self.level == "info")
        finally:
            self.processes = watch.stop()
        self.net = self.run.net()
        for kind, least in (("key", 10), ("signature", 50), ("body", 8), ("front", 1), ("session", 1),
                            ("code", 1)):
            check(self.net.kinds.get(kind, 0) >= least, f"noted: {self.net.kinds}")

    # -- where nothing may be

    def case_logs(self):
        kinds = NEVER if self.level == "debug" else ()
        texts = self.wallet.logged()
        check(b"".join(texts.values()).count(b"event=request") > 50, "the logs were written")
        equal([hit for name, text in texts.items() for hit in self.find(name, text, *kinds)], [],
              "in logs")
        if not self.wallet.log and self.level == "info":
            raise cb.Skip("only root can stand in for the system's log; standard error had nothing")

    def case_answers(self):
        check(len({status for status, _ in self.run.answers}) >= 8, "answers of every kind")
        found = []
        for status, data in self.run.answers:
            kinds = NEVER if status == 200 else ()
            found += self.find(f"an answer {status}", data, *kinds)
        # A form that is refused comes with its page, which shows bodies.
        for status, data in self.run.pages:
            found += self.find(f"a page {status}", data, *NEVER)
        equal(found, [], "in answers")

    def case_printed(self):
        found = []
        for words, data in self.run.printed:
            if words[:2] in SHOWING:
                continue
            kinds = ["key", "front", "session", "code"]
            kinds += ["signature"] if words[0] not in ("sign", "explain", "request") else []
            kinds += ["body"] if words[0] in BODILESS else []
            found += self.find(" ".join(words), data, *kinds)
        equal(found, [], "printed by creditbridgectl")

    def case_processes(self):
        check(any(b"creditbridge.fcgi" in text for text in self.processes), "workers were seen")
        equal([hit for text in self.processes for hit in self.find(text[:80], text)], [],
              "in command lines and environments")

    def case_traced(self):
        """What was written to, or read from, anything but what is meant for it."""
        found, wire = set(), set()
        for trace in self.run.traces:
            for call, target, data in trace.strings():
                hits = self.net.find(data)
                self.searched += len(data)
                for kind, spelling in hits:
                    meant = self.meant(target, kind)
                    wire |= {(meant, kind)} if meant else set()
                    found |= set() if meant else {f"{call}({target}): {kind} ({spelling})"}
        equal(sorted(found), [], "traced")
        # It would have been seen.
        check({("link", "key"), ("state", "key"), ("server", "signature"), ("dealer", "signature"),
               ("server", "body"), ("link", "signature"), ("link", "front"),
               ("console", "front"), ("console", "session"), ("browser", "session")} <= wire, f"seen on the wire: {wire}")

    def meant(self, target, kind):
        """What @target is, if a secret of that @kind belongs there; None: it does not."""
        inside = str(self.wallet.dir)
        for of, start, kinds in (
                ("link", f"UNIX:{inside}/run/", ("key", "signature", "body", "front", "code")),
                ("state", f"{inside}/state/", ("key", "body", "code")),
                ("state", f"{inside}/backup/", ("key", "body", "code")),
                ("front", f"{inside}/console-front", ("front",)),
                ("console", f"UNIX:{inside}/console/console.sock", ("front", "session", "body")),
                ("browser", f"TCP:[127.0.0.1:{self.run.visits.console.port}-", ("session", "body")),
                ("server", f"UNIX:{inside}/{self.kind.name}", ("signature", "body")),
                ("dealer", "TCP:[127.0.0.1:", ("signature", "body"))):
            if target.startswith(start) and kind in kinds:
                return of
        return None

    def case_files(self):
        """Keys are in files of the state and of copies of it, which only their owner can read."""
        state, copies = self.wallet.state, (self.wallet.dir / "backup",
                                            self.wallet.dir / "export-keys")
        found, kept = [], 0
        for path in sorted(self.wallet.dir.rglob("*")):
            if not stat.S_ISREG(path.lstat().st_mode) or path.name == "trace":
                continue
            hits = self.find(path, path.read_bytes(), *NEVER)
            if path.name in FRONT_FILES:
                hits = [hit for hit in hits if ": front (" not in hit]
            if not hits:
                continue
            home = next((home for home in (state, *copies) if path.is_relative_to(home)), None)
            kept += home is not None
            if not home or any(f": {kind} (" in hit for kind in ("signature", "front", "session")
                               for hit in hits):
                found += hits
            elif path.stat().st_mode & 0o077 or home.stat().st_mode & 0o077:
                found.append(f"{path}: mode {path.stat().st_mode:o} in {home.stat().st_mode:o}")
        equal(found, [], "in files")
        check(kept >= 4, f"{kept} files with keys: the search finds too little")

    # -- memory

    def case_neighbour(self):
        """No other process of the web server's user can look into a worker."""
        user = self.wallet.user
        if not user:
            raise cb.Skip("only root can become another user")
        other = subprocess.Popen(["sleep", "60"], user=user, group=user)
        try:
            wait_until(lambda: readable(other.pid, user), WAIT_S, "a look into a common process")
            for pid in self.run.server.worker_pids():
                check(not readable(pid, user), f"{user} can read a worker's memory")
        finally:
            other.kill()
            other.wait()

    def case_cores(self):
        """Each program is made to dump core: there is none."""
        sweep = cb.Child(self.wallet.argv([cb.find_program("creditbridge-sweep"), "--config",
                                           self.wallet.config, "--for", "50s"]),
                         self.wallet.logs / "sweep-aborted.log")
        sign = subprocess.Popen(["sh", "-c", 'cd "$0"; ulimit -c unlimited; exec "$@"',
                                 self.wallet.dumps, *self.wallet.ctl_argv("sign", "seamless", "-")],
                                stdin=subprocess.PIPE)
        wait_until(lambda: (self.wallet.dir / "run" / "sweep.lock").exists() and all(
            b"creditbridge" in pathlib.Path(f"/proc/{pid}/comm").read_bytes()
            for pid in (sweep.pid, sign.pid)), WAIT_S, "programs to run")
        dump_or_skip(self)
        console = self.run.visits.console.program.pid
        workers = [pid for pid in self.run.server.worker_pids() if pid != console]
        victims = [*self.random.sample(workers, min(3, len(workers))), console, sweep.pid, sign.pid,
                   *self.wallet.engine_pids(), self.wallet.ledger.pid]
        for pid in victims:
            limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
            check(re.search(r"core file size +unlimited", limits), f"the limits of {pid}: {limits}")
            os.kill(pid, signal.SIGABRT)
            wait_until(lambda: cb.process_gone(pid), WAIT_S, f"the end of {pid}")
        equal(sign.wait(WAIT_S), -signal.SIGABRT, "creditbridgectl's end")
        equal([str(path) for path in self.wallet.dir.rglob("core*") if path.is_file()], [],
              "core dumps")

    def case_stop(self):
        if self.wallet:
            self.run.stop()
            equal([hit for name, text in self.wallet.logged().items()
                   for hit in self.find(name, text, *NEVER)], [], "in logs")
            self.wallet.close()

    def cases(self):
        where = f"{self.kind.name}, {self.level}"
        yield f"{where}: everything is done", self.case_do
        for name, function in (
                ("logs", self.case_logs), ("answers", self.case_answers),
                ("what creditbridgectl printed", self.case_printed),
                ("command lines and environments", self.case_processes),
                *[("what was read and written", self.case_traced)][:self.level == "info"],
                ("files", self.case_files),
                ("a neighbour of the workers", self.case_neighbour),
                ("core dumps", self.case_cores)):
            yield f"{where}: {name}", lambda function=function: (
                check(self.net, "nothing was done"), function())
        yield f"{where}: stops", self.case_stop


def readable(pid, user):
    return subprocess.run(["head", "-c1", f"/proc/{pid}/environ", f"/proc/{pid}/maps"], user=user,
                          group=user, capture_output=True, check=False).returncode == 0


def dump_or_skip(search):
    """A program that does not hide leaves a core dump here, and a key is found in it."""
    key = next(iter(search.run.keys))
    child = subprocess.Popen([sys.executable, "-c",
                              "import os; key = os.read(0, 99) * 2; os.abort()"],
                             stdin=subprocess.PIPE, cwd=search.wallet.dumps,
                             preexec_fn=lambda: resource.setrlimit(
                                 resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))
    child.communicate(key.encode())
    dumps = list(search.wallet.dumps.glob("core*"))
    if not dumps:
        raise cb.Skip("this machine leaves no core dump where a program runs")
    check(search.find("core", dumps[0].read_bytes(), "key"), "a key in a core dump is not found")
    for path in dumps:
        path.unlink()


# -- the search is tight


def case_planted_texts():
    """Each spelling, anywhere in a text."""
    net = Net()
    secret = {"key": secrets.token_hex(32), "signature": secrets.token_hex(32),
              "body": secrets.token_urlsafe(48)}
    for kind, text in secret.items():
        net.add(kind, [text])
    noise = secrets.token_bytes(1000)
    equal(net.find(noise), set(), "nothing is found in noise")
    for kind, text in secret.items():
        for name, data in spellings(text):
            for at in range(0, 1000, 37):
                hits = {hit for hit, _ in net.find(noise[:at] + data[3:34] + noise[at:])}
                check(hits <= {kind} and (hits or len(data) < 34), f"{kind} {name} at {at}: {hits}")


def case_planted_process():
    """A key in a command line, and one in an environment."""
    net, keys = Net(), [secrets.token_hex(32) for _ in range(2)]
    for number, key in enumerate(keys):
        net.add(f"key {number}", [key])
    watch = Processes()
    child = subprocess.Popen(["sh", "-c", "read -r wait", keys[0]], env={"KEY": keys[1]},
                             stdin=subprocess.PIPE)
    wait_until(lambda: {kind for text in set(watch.texts) for kind, _ in net.find(text)} ==
               {"key 0", "key 1"}, WAIT_S, "a key that a process shows")
    child.communicate(b"\n")
    watch.stop()


def case_planted_write():
    """A key that a traced program writes to a file."""
    key, net = secrets.token_hex(32), Net()
    net.add("key", [key])
    folder = temporary_directory("cbleaks")
    try:
        trace = Traced(folder / "trace")
        subprocess.run([*trace.argv(), "sh", "-c", "read -r key; echo \"$key\" >\"$0\"",
                        folder / "planted"], input=key.encode() + b"\n", check=False)
        found = {(call, target) for call, target, data in trace.strings() if net.find(data)}
        check(("write", str(folder / "planted")) in found, f"found: {found}")
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


CONTROLS = (("a leak of each spelling is found", case_planted_texts),
            ("a key that a process shows is found", case_planted_process),
            ("a key that is written somewhere is found", case_planted_write))


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    options = parser.parse_args()
    print(f"# SEED={options.seed}", flush=True)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    test_logs.MARKER = secrets.token_urlsafe(48)
    searches = [Search(kind, level, random.Random(f"{options.seed}/{number}/{level}"))
                for number in range(options.rounds)
                for kind, level in ((cb.Lighttpd, "info"), (cb.ApacheFcgid, "debug"))]
    code = cb.run_cases([*CONTROLS, *(case for search in searches for case in search.cases())],
                        seconds=150)
    done = [search for search in searches if search.net]
    print(f"# secrets: keys {sum(s.net.kinds['key'] for s in done)}, signatures "
          f"{sum(s.net.kinds['signature'] for s in done)}, words of bodies "
          f"{sum(s.net.kinds['body'] for s in done)}, requests "
          f"{sum(len(s.run.answers) + len(s.run.pages) for s in done)}, searched "
          f"{sum(s.searched for s in done) >> 20} MiB, leaks {'0' if not code else 'as above'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
