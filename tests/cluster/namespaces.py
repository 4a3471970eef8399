"""A small network of hosts inside this process: each host has its own network, mounts, boot id and boot time.

enter() moves the program into namespaces of its own: all that it starts ends with it, also when it is killed. Hosts
hang on a bridge, where the callers are, too. A host shares the process ids and the files with the others.
"""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import uuid

from cb_process import Child, process_gone, wait_until
from cb_tap import Skip

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
NETWORK = "10.99.0"
CALLERS = f"{NETWORK}.254"
BRIDGE = "cb0"
NO_CARD = "02:00:00:00:00:01"
BOOT_STEP_S = 10000  # each host has run for that much longer than the one before it
HOLDER = """\
mount --bind "$1" /proc/sys/kernel/random/boot_id
ip link set lo up
echo $$
exec sleep infinity
"""


def run(*words, check=True):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done


def unshare(flags):
    if LIBC.unshare(flags):
        error = ctypes.get_errno()
        raise Skip(f"no namespaces can be made here: {os.strerror(error)}")


def map_identity(uid, gid):
    """Makes this user the root of the new user namespace, where it has no other user."""
    pathlib.Path("/proc/self/setgroups").write_text("deny")
    pathlib.Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    pathlib.Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def wait_for(pid):
    """Forwards signals to @pid, and ends as it did. As the first process of a namespace it also collects the
    processes that others left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda got, _frame: os.kill(pid, got))
    while True:
        try:
            ended, status = os.wait()
        except InterruptedError:
            continue
        if ended == pid:
            os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def fork_off():
    """Continues in a child that ends with this process."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        wait_for(pid)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def enter():
    """Continues the program in namespaces of its own. Raises Skip, before anything else has changed, if this machine
    has none."""
    uid, gid = os.geteuid(), os.getegid()
    if uid:
        unshare(CLONE_NEWUSER)
        map_identity(uid, gid)
    unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET)
    fork_off()
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "proc", "proc", "/proc")
    fork_off()
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    run("ip", "addr", "add", f"{CALLERS}/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


def one_user():
    """True if this is the root of a user namespace without other users."""
    rows = pathlib.Path("/proc/self/uid_map").read_text().split()
    return rows[2] == "1"


def as_server():
    """The words before the command of a server that refuses to run as root."""
    if one_user():
        return ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    return ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]


class Host:
    """Host number @number, from 1, whose files are in @directory."""

    def __init__(self, number, directory):
        self.number = number
        self.name = f"h{number}"
        self.address = f"{NETWORK}.{number}"
        self.link = f"to-{self.name}"
        self.dir = pathlib.Path(directory) / self.name
        self.dir.mkdir(mode=0o755)
        self.children = []
        boot_id = self.dir / "boot_id"
        boot_id.write_text(f"{uuid.uuid4()}\n")
        boot_id.chmod(0o444)
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "--time", "--boottime", str(BOOT_STEP_S * number), "--fork",
             "--kill-child", "sh", "-ec", HOLDER, "sh", str(boot_id)], stdout=subprocess.PIPE, text=True)
        line = self.holder.stdout.readline().strip()
        if not line:
            raise Skip("no network namespaces can be made here")
        self.pid = int(line)
        self.namespace = os.readlink(f"/proc/{self.pid}/ns/net")
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.pid)
        run("ip", "link", "set", self.link, "master", BRIDGE, "up")
        self.inside("hostname", self.name)
        self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")

    def close(self):
        self.signal_all(signal.SIGKILL)
        self.holder.kill()
        self.holder.wait()
        run("ip", "link", "del", self.link, check=False)

    def enter(self):
        """The words before a command that runs on this host."""
        return ["nsenter", f"--target={self.pid}", "--net", "--mount", "--uts", "--time"]

    def inside(self, *words, check=True):
        return run(*self.enter(), *words, check=check)

    def start(self, name, argv, env=None):
        """Starts a program; its output is in NAME.log."""
        child = Child([*self.enter(), *argv], self.dir / f"{name}.log", env=env)
        self.children.append(child)
        return child

    def pids(self):
        """All processes of this host, but those that hold its namespaces."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and int(entry) not in (self.pid, self.holder.pid) and \
                        os.readlink(f"/proc/{entry}/ns/net") == self.namespace:
                    found.append(int(entry))
            except OSError:
                continue
        return found

    def signal_all(self, number):
        for pid in self.pids():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    # -- faults

    def cut(self):
        """No packet leaves or arrives any more, and neither side hears of that."""
        run("ip", "link", "set", self.link, "nomaster")

    def join(self):
        run("ip", "link", "set", self.link, "master", BRIDGE)

    def lose_packets(self, hosts):
        """What this host sends to @hosts is lost; what they send arrives. It sends to an address that no card has."""
        for host in hosts:
            self.inside("ip", "neigh", "replace", host.address, "lladdr", NO_CARD, "dev", "eth0", "nud", "permanent")

    def deliver_packets(self, hosts):
        for host in hosts:
            self.inside("ip", "neigh", "del", host.address, "dev", "eth0")

    def lose_power(self):
        """The network goes first: the kernel of a dead host resets no connection."""
        self.cut()
        while self.pids():
            self.signal_all(signal.SIGKILL)
            pids = self.pids()
            wait_until(lambda pids=pids: all(process_gone(pid) for pid in pids), 20, f"the end of all of {self.name}")

    def slow_link(self):
        """Returns how the link was made slow: netem, or a rate where the kernel lacks it."""
        if run("tc", "qdisc", "add", "dev", self.link, "root", "netem", "delay", "20ms", "5ms", check=False).returncode:
            run("tc", "qdisc", "add", "dev", self.link, "root", "tbf", "rate", "1mbit", "burst", "16k", "latency", "200ms")
            self.inside("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "1mbit", "burst", "16k", "latency",
                        "200ms")
            return "1 Mbit/s"
        self.inside("tc", "qdisc", "add", "dev", "eth0", "root", "netem", "delay", "20ms", "5ms")
        return "20 ms each way"

    def fast_link(self):
        run("tc", "qdisc", "del", "dev", self.link, "root")
        self.inside("tc", "qdisc", "del", "dev", "eth0", "root")


TOOLS = ("ip", "nsenter", "setpriv", "tc", "unshare")


def need_tools(names):
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    missing = [name for name in names if not shutil.which(name, path=path)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}")
