"""Finds, starts, waits for and ends processes of the harness by their ids."""
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
# Factor for the time that a case, a wait or the end of a program may take. The limits are for a
# machine that does nothing else; a wait ends when its condition is met, so that more time costs nothing.
SLOWER = int(os.environ.get("CB_SLOWER", "1"))
PATIENCE = 3 * SLOWER
# Time that processes left by a server have to exit by themselves; tests/coverage uses it so that
# they write their counters.
LEAVE_S = float(os.environ.get("CB_LEAVE_S", "0"))
LIBC = ctypes.CDLL(None, use_errno=True)


class HarnessError(Exception):
    """The harness failed: not a fault of the service, but the case counts as failed."""


def builddir():
    return pathlib.Path(os.environ.get("CB_BUILDDIR", SRCDIR / "build")).resolve()


def find_program(name):
    """Returns the path of one of our programs, of faulty_dealer or of peer_alone, in the build directory."""
    for folder in ("", "src/cmd", "tests/dealer", "tests/peer"):
        path = builddir() / folder / name
        if os.access(path, os.X_OK) and path.is_file():
            return path
    raise HarnessError(f"{name} is not built in {builddir()} (set CB_BUILDDIR)")


def own_group():
    """Returns the name of this process's group; "" if it has none."""
    try:
        return grp.getgrgid(os.getegid()).gr_name
    except KeyError:
        return ""


def ports_to_give():
    """Returns the larger range of ports that the kernel does not use for outgoing connections. A
    port outside it could be taken between free_port() and the start of the server."""
    low, high = 32768, 60999
    try:
        text = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        low, high = map(int, text.split())
    except (OSError, ValueError):
        pass
    return max(range(PORT_MIN, low), range(high + 1, PORT_MAX + 1), key=len)


def port_reserve(port):
    """Reserves @port until this process exits. Returns False if another test has reserved it.
    The reservation is a name in the abstract namespace, which disappears with its process."""
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
    """Returns a loopback port on which no process listens. No other test gets it until this one
    exits."""
    ports = ports_to_give()
    if not ports:
        raise HarnessError("net.ipv4.ip_local_port_range leaves no port for a test's servers")
    first = random.SystemRandom().randrange(len(ports))
    for number in range(len(ports)):
        port = ports[(first + number) % len(ports)]
        if not port_taken(port) and port_reserve(port):
            return port
    raise HarnessError(f"no port of {ports} is free")


def wait_until(condition, seconds, what, interval=0.01):
    """Calls @condition until it returns a true value, and returns that value. It may take PATIENCE
    times @seconds."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise HarnessError(f"{what}: not within {seconds * PATIENCE} s")
        time.sleep(interval)


def port_open(port, address="127.0.0.1"):
    try:
        socket.create_connection((address, port), 1).close()
        return True
    except OSError:
        return False


def port_taken(port):
    """Returns True if no server could listen on @port of the loopback interface."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return False
        except OSError:
            return True


def serve_each(listener, serve):
    """Calls serve(connection) in a new thread for each connection that @listener accepts, until
    it is closed."""
    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


def each_in_thread(function, arguments):
    """Calls function(argument) for all arguments at the same time. After all have ended, raises
    the first exception."""
    problems = []

    def run(argument):
        try:
            function(argument)
        except Exception as error:  # The calling thread raises it below.
            problems.append(error)
    threads = [threading.Thread(target=run, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def thread_states(pid):
    """Returns the states of the threads of @pid, as in proc(5); empty if there is no such
    process."""
    states = []
    for path in pathlib.Path("/proc").glob(f"{pid}/task/*/stat"):
        try:
            states.append(path.read_text().rsplit(")", 1)[1].split()[0])
        except OSError:
            continue
    return states


def process_gone(pid):
    """Returns True if @pid does not exist or is a zombie without other threads. While another
    thread still waits for the disk, the process's locks are held, although its first thread has
    ended."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] in ("Z", "X") and len(threads) <= 1


def blocks_signal(pid, number):
    """Returns True if the first thread of @pid blocks the signal @number, as our workers do from the
    first line of main(). One that has not come so far is ended by the signal with what it was given."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    blocked = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(blocked, 16) >> (number - 1) & 1)


def process_stopped(pid):
    """Returns True if all threads of @pid are stopped, which takes some time after SIGSTOP."""
    return set(thread_states(pid)) == {"T"}


def socket_ready(path):
    """Returns True if a program takes connections to the socket @path. Its file is there a moment before."""
    for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split(maxsplit=7)
        # The flag is __SO_ACCEPTCON.
        if len(fields) == 8 and fields[7] == str(path) and int(fields[3], 16) & 0x10000:
            return True
    return False


def waited_s(pid):
    """Returns the seconds during which the main thread of @pid was runnable but had no CPU. 0 if
    the kernel does not report it."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def lock_holders(path):
    """Returns the processes that hold a lock on the file @path, from the kernel's list. Taking
    the lock for a test would block a program that requests it at that moment."""
    try:
        inode = os.stat(path).st_ino
    except FileNotFoundError:
        return []
    rows = (line.split() for line in pathlib.Path("/proc/locks").read_text().splitlines())
    # "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END". Rows with "->" are waiting
    # processes.
    return [int(row[4]) for row in rows if row[1] != "->" and row[5].endswith(f":{inode}")]


def pids_all():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def command_of(pid):
    """Returns the command line of @pid, its words separated by NUL. b"" if it ended or has none."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def commands_with(text):
    """Returns {pid: command line} of each process whose command line contains @text."""
    return {pid: line for pid in pids_all() if os.fsencode(text) in (line := command_of(pid))}


def runs(pid, program):
    try:
        target = os.readlink(f"/proc/{pid}/exe")
        # The path differs if systemd gave the process a separate mount namespace.
        return (target in (str(program), f"{program} (deleted)")
                or os.path.samefile(f"/proc/{pid}/exe", program))
    except PermissionError:  # Only root can read it for our programs (base/no_dump.h).
        return command_of(pid).split(b"\0")[0] == os.fsencode(program)


def pids_running(program):
    """Returns the processes whose executable is the file @program."""
    found = []
    for pid in pids_all():
        try:
            if runs(pid, program):
                found.append(pid)
        except OSError:
            continue
    return sorted(found)


def signal_pids(pids, number):
    """Sends the signal to processes that another program starts and ends. A process that has
    ended meanwhile is no failure."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def pids_end(pids, seconds=5.0, signals=(signal.SIGTERM, signal.SIGKILL)):
    """Ends processes that are not our children: SIGTERM, then SIGKILL after @seconds."""
    for number in signals:
        signal_pids(pids, number)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            pids = [pid for pid in pids if not process_gone(pid)]
            if not pids:
                return
            time.sleep(0.01)


def launcher(user, env):
    """Returns the words before a command that is to end with this program and to run as @user, and
    takes from @env the words that are only for the command. setpriv does both: with a preexec_fn or
    a user of its own Popen forks, and a copy of this program takes six times the processor time of
    setpriv."""
    words = []
    # The signal is sent when the starting *thread* ends, so only the main thread requests it.
    if threading.current_thread() is threading.main_thread():
        words += ["--pdeathsig", "TERM"]
    if user is not None:
        words += [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    preload = env.pop("LD_PRELOAD", "") if words else ""
    return ["setpriv", *words, *(["env", f"LD_PRELOAD={preload}"] if preload else [])] if words else []


class Child:
    """A started program that leads its own process group and writes its output to a file."""

    def __init__(self, argv, log, user=None, stdin=subprocess.DEVNULL, env=None):
        self.argv = [str(word) for word in argv]
        self.log = pathlib.Path(log)
        env = dict(os.environ if env is None else env)
        words = launcher(user, env)
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                [*words, *self.argv], stdin=stdin, stdout=out, stderr=out, cwd="/", env=env,
                start_new_session=True)
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
        """Ends the program, and the rest of its group with SIGKILL. Returns its exit code."""
        if self.running():
            self.process.send_signal(number)
            try:
                self.process.wait(seconds * PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(20 * PATIENCE)
        if LEAVE_S:
            self.group_wait(LEAVE_S)
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return self.process.returncode

    def group_wait(self, seconds):
        """Waits until its group is empty, or @seconds have passed."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                os.killpg(self.pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.01)
