"""Processes of the harness: found, started, waited for, and ended by their ids."""
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
PR_SET_PDEATHSIG = 1
PORTS = set()
LIBC = ctypes.CDLL(None, use_errno=True)


class HarnessError(Exception):
    """The harness could not do its work: not a finding about the service, but a failure."""


def builddir():
    return pathlib.Path(os.environ.get("CB_BUILDDIR", SRCDIR / "build")).resolve()


def find_program(name):
    """Path of a program of ours in the build directory."""
    for folder in ("", "src/cmd"):
        path = builddir() / folder / name
        if os.access(path, os.X_OK) and path.is_file():
            return path
    raise HarnessError(f"{name} is not built in {builddir()} (set CB_BUILDDIR)")


def free_port():
    """A port of the loopback that was free a moment ago; none is given out twice."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in PORTS:
            PORTS.add(port)
            return port


def wait_until(condition, seconds, what, interval=0.01):
    """Calls @condition until it returns something true, which is returned."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise HarnessError(f"{what}: not within {seconds} s")
        time.sleep(interval)


def port_open(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def port_taken(port):
    """True when no server could listen on @port of the loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return False
        except OSError:
            return True


def process_gone(pid):
    """True when @pid is no process, or one that only waits to be collected."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] in ("Z", "X")


def waited_s(pid):
    """How long the main thread of @pid was ready to run and got no processor: the machine's time in
    what it took. 0: the kernel does not tell."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def pids_running(program):
    """The processes whose executable is the file @program."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                target = os.readlink(f"/proc/{entry}/exe")
            except OSError:
                continue
            if target in (str(program), f"{program} (deleted)"):
                found.append(int(entry))
    return sorted(found)


def pids_end(pids, seconds=5.0, signals=(signal.SIGTERM, signal.SIGKILL)):
    """Ends processes that are not our children: SIGTERM, after @seconds SIGKILL."""
    for number in signals:
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            pids = [pid for pid in pids if not process_gone(pid)]
            if not pids:
                return
            time.sleep(0.01)


class Child:
    """One started program, leader of its own process group, its output in a file."""

    def __init__(self, argv, log, user=None, stdin=subprocess.DEVNULL, env=None):
        self.argv = [str(word) for word in argv]
        self.log = pathlib.Path(log)
        # The signal comes when the starting *thread* ends, so only the main one asks for it.
        tied = threading.current_thread() is threading.main_thread()
        parent = os.getpid()

        def prepare():
            if tied:
                LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
                if os.getppid() != parent:
                    os._exit(1)

        identity = {}
        if user is not None:
            identity = {"user": user, "group": user, "extra_groups": []}
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                self.argv, stdin=stdin, stdout=out, stderr=out, cwd="/", env=env,
                start_new_session=True, preexec_fn=prepare, **identity)
        self.pid = self.process.pid

    def running(self):
        return self.process.poll() is None

    def log_tail(self, lines=20):
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def wait_ready(self, condition, seconds, what):
        def ready():
            if not self.running():
                raise HarnessError(f"{what}: ended with {self.process.returncode}\n"
                                   f"{' '.join(self.argv)}\n{self.log_tail()}")
            return condition()
        try:
            wait_until(ready, seconds, what)
        except HarnessError:
            self.stop()
            raise

    def stop(self, number=signal.SIGTERM, seconds=10.0):
        """Ends it, and with SIGKILL what is left of its group. Returns its exit code."""
        if self.running():
            self.process.send_signal(number)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return self.process.returncode
