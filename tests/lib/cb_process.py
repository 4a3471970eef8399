"""Processes of the harness: found, started, waited for, and ended by their ids."""
import ctypes
import errno
import grp
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
PR_SET_PDEATHSIG = 1
PORTS_TAKEN = []
PORT_MIN, PORT_MAX = 10240, 65535
# How long what a server leaves behind may take to end by itself; tests/coverage gives it the time to
# write its counters.
LEAVE_S = float(os.environ.get("CB_LEAVE_S", "0"))
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


def own_group():
    """The name of this process's group; "": it has none."""
    try:
        return grp.getgrgid(os.getegid()).gr_name
    except KeyError:
        return ""


def ports_to_give():
    """The larger range of ports that the kernel gives to no outgoing connection: a port of the
    others may be taken between free_port() and the server that listens on it."""
    low, high = 32768, 60999
    try:
        text = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        low, high = map(int, text.split())
    except (OSError, ValueError):
        pass
    return max(range(PORT_MIN, low), range(high + 1, PORT_MAX + 1), key=len)


def port_reserve(port):
    """True: no other test is given @port while this process lasts. A name in the abstract namespace,
    which goes with its process, marks it as taken."""
    taken = socket.socket(socket.AF_UNIX)
    try:
        taken.bind(f"\0creditbridge-test-port-{port}")
    except OSError as error:
        taken.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    PORTS_TAKEN.append(taken)
    return True


def free_port():
    """A port of the loopback on which nothing listens; no other test is given it while this one
    lasts."""
    ports = ports_to_give()
    if not ports:
        raise HarnessError("net.ipv4.ip_local_port_range leaves no port for a test's servers")
    for port in random.SystemRandom().sample(ports, len(ports)):
        if not port_taken(port) and port_reserve(port):
            return port
    raise HarnessError(f"no port of {ports} is free")


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


def serve_each(listener, serve):
    """serve(connection) in a thread of its own for each that @listener takes, until it is closed."""
    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


def each_in_thread(function, arguments):
    """function(argument) for each side by side. Raises, when all have ended, what failed first."""
    problems = []

    def run(argument):
        try:
            function(argument)
        except Exception as error:  # Raised below, by the calling thread.
            problems.append(error)
    threads = [threading.Thread(target=run, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def thread_states(pid):
    """The states of the threads of @pid, as proc(5) has them; empty: there is no such process."""
    states = []
    for path in pathlib.Path("/proc").glob(f"{pid}/task/*/stat"):
        try:
            states.append(path.read_text().rsplit(")", 1)[1].split()[0])
        except OSError:
            continue
    return states


def process_gone(pid):
    """True when @pid is no process, or one that only waits to be collected. While a thread of it still
    waits for the disk, its locks are held, though its first thread has ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] in ("Z", "X") and len(threads) <= 1


def process_stopped(pid):
    """True when all threads of @pid stand still, which is some time after SIGSTOP."""
    return set(thread_states(pid)) == {"T"}


def waited_s(pid):
    """How long the main thread of @pid was ready to run and got no processor: the machine's time in
    what it took. 0: the kernel does not tell."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def lock_holders(path):
    """The processes that hold a lock on the file @path, as the kernel lists them: a look that takes
    the lock itself would keep out a program that asks for it in that moment."""
    try:
        inode = os.stat(path).st_ino
    except FileNotFoundError:
        return []
    rows = (line.split() for line in pathlib.Path("/proc/locks").read_text().splitlines())
    # "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END". Rows with "->" are of waiters.
    return [int(row[4]) for row in rows if row[1] != "->" and row[5].endswith(f":{inode}")]


def pids_all():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def command_of(pid):
    """The command line of @pid, its words separated by NUL. b"": it ended, or has none."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def commands_with(text):
    """{pid: command line} of each process whose command line has @text in it."""
    return {pid: line for pid in pids_all() if os.fsencode(text) in (line := command_of(pid))}


def runs(pid, program):
    try:
        target = os.readlink(f"/proc/{pid}/exe")
        # The name is another one where systemd gave the process mounts of its own.
        return (target in (str(program), f"{program} (deleted)")
                or os.path.samefile(f"/proc/{pid}/exe", program))
    except PermissionError:  # Our programs show it to root alone (base/secrecy.h).
        return command_of(pid).split(b"\0")[0] == os.fsencode(program)


def pids_running(program):
    """The processes whose executable is the file @program."""
    found = []
    for pid in pids_all():
        try:
            if runs(pid, program):
                found.append(pid)
        except OSError:
            continue
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

    def stop(self, number=signal.SIGTERM, seconds=30.0):
        """Ends it, and with SIGKILL what is left of its group. Returns its exit code."""
        if self.running():
            self.process.send_signal(number)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(20)
        if LEAVE_S:
            self.group_wait(LEAVE_S)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return self.process.returncode

    def group_wait(self, seconds):
        """Until nothing is left of its group, or @seconds are over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                os.killpg(self.pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.01)
