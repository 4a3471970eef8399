"""A ledger of a campaign: one state after the other is put below it, started and looked at."""
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile

import cb
import cb_link
from cb import check, wait_until
from cb_instance import as_option

WAIT_S = 30.0
# The words before a command; with a preexec_fn Popen would copy this program (cb_process.launcher()).
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]


class Slot:
    """A directory in which one state after the other is put and a ledger started."""

    def __init__(self, settings):
        """@settings: name -> value, of its configuration."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # of the programs that are killed, too
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.dir = base = pathlib.Path(tempfile.mkdtemp(prefix="cbslot.", dir=place))
        self.state = base / "state"
        self.sockets = base / "run"
        self.sockets.mkdir()
        self.edge = self.sockets / "edge.sock"
        self.config = base / "creditbridge.conf"
        values = {**settings, "state_directory": str(self.state), "log_target": "stderr",
                  "socket_directory": str(self.sockets)}
        # An operator's configuration: it waits longer than the programs, which are to fail fast.
        self.patient = base / "patient.conf"
        for path, more in ((self.config, {}), (self.patient, {"ledger_deadline_ms": 6000})):
            path.write_text("".join(f"{name} = {as_option(value)}\n"
                                    for name, value in {**values, **more}.items()))
        self.log = base / "ledger.log"
        self.ledger = None

    def put(self, files):
        """Makes @files (path -> content, None: a directory; "" is itself) the state. It stands for the
        same directory, so that what notes where the files were is left out."""
        shutil.rmtree(self.state, ignore_errors=True)
        # What an earlier state's ledger marked is of that one.
        (self.sockets / "halted").unlink(missing_ok=True)
        for name in sorted(set(files) - {"identity"}):
            target = self.state / name
            if files[name] is None:
                target.mkdir(mode=0o700)
            else:
                with open(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600), "wb", 0) as out:
                    out.write(files[name])

    def take(self):
        """The state as put() takes it."""
        found = {"": None}
        for path in self.state.rglob("*"):
            found[str(path.relative_to(self.state))] = None if path.is_dir() else path.read_bytes()
        return found

    def program(self, name, *words):
        return subprocess.run([cb.find_program(name), "--config", self.patient,
                               *map(str, words)],
                              capture_output=True, text=True, timeout=60, check=False)

    def start(self):
        """Returns an exit code when it does not start, None when it serves, perhaps halted."""
        with open(self.log, "wb") as out:
            self.ledger = subprocess.Popen(
                [*DIES_WITH_PARENT, cb.find_program("creditbridge-ledger"), "--config", self.config],
                stdout=out, stderr=out, stdin=subprocess.DEVNULL)

        def up():
            # An engine that cannot open the data is started again and again.
            ended = self.log.read_text().count("event=engine_ended")
            check(ended < 2, f"engines end: {self.log.read_text()[-800:]}")
            if self.ledger.poll() is not None:
                return True
            try:
                cb_link.Link(self.edge, timeout=0.5).close()
                return True
            except (OSError, cb_link.Closed):
                return False
        try:
            wait_until(up, WAIT_S, "the ledger's greeting", interval=0.002)
        except cb.HarnessError as error:
            raise cb.HarnessError(f"{error}: {self.log.read_text()[-800:]}") from error
        return self.ledger.poll()

    def finish(self):
        """As an operator would. Returns its exit code."""
        self.ledger.terminate()
        code = self.ledger.wait(WAIT_S)
        self.ledger = None
        return code

    def close(self):
        self.stop()
        if os.environ.get("CB_KEEP"):
            print(f"# kept: {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def stop(self):
        """As a power cut would."""
        if self.ledger is None:
            return
        pids = [self.ledger.pid]
        try:
            pids += map(int, pathlib.Path(
                f"/proc/{self.ledger.pid}/task/{self.ledger.pid}/children").read_text().split())
        except OSError:
            pass
        cb.signal_pids(pids, signal.SIGKILL)
        self.ledger.wait()
        wait_until(lambda: all(cb.process_gone(pid) for pid in pids[1:]), WAIT_S, "the engine")
        self.ledger = None


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
