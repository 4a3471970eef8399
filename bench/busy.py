"""Other work of the machine while cells are measured (--beside php), and what may be set against it.

The other work is a PHP site: php-fpm with two processes that build pages and never rest. Like each service of a
Debian host, each program here leads a session of its own, so that the kernel shares the processors between the
programs first and between the processes of each program then (sched(7), "The autogroup feature"). Hence the nice value
of a process counts only within its program, and the weight of a program is its session's: --weight sets that, as
CPUWeight= of systemd does for a service. --batch gives a part the policy SCHED_BATCH.
"""
import argparse
import contextlib
import math
import os
import pathlib
import shutil
import socket
import time

import cb_fastcgi
from cb_process import Child
from measure import cpu_s
from guard import descendants
from peer import USER, fpm_found
from stands import cb, temporary_directory

PAGE = pathlib.Path(__file__).resolve().parent / "busy" / "page.php"
PROCESSES = 2
PARTS = ("server", "worker", "ledger")
KINDS = ("php",)
STEP = 1.25  # Between two nice values, in processor time: sched_prio_to_weight[] of the kernel.
NICE_MOST = 19
WEIGHT_OF_ALL = 100  # What systemd gives a service without CPUWeight=.
AUTOGROUP = pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled")


class Php:
    """php-fpm with PROCESSES processes, each with a request that has no end."""

    def __init__(self):
        self.dir = temporary_directory("busy")
        self.dir.chmod(0o755)
        path = self.dir / "fpm.sock"
        config = self.dir / "fpm.conf"
        page = self.dir / PAGE.name
        shutil.copy(PAGE, page)
        page.chmod(0o644)
        config.write_text(f"""\
[global]
error_log = {self.dir}/fpm-error.log
daemonize = no
[site]
user = {USER}
group = {USER}
listen = {path}
pm = static
pm.max_children = {PROCESSES}
""")
        self.requests = []
        self.child = Child([fpm_found(), "-F", "-y", config, "-d", "opcache.enable=1",
                            "-d", "max_execution_time=0"], self.dir / "fpm.log")
        try:
            self.child.wait_ready(path.exists, 60, "php-fpm")
            for _ in range(PROCESSES):
                request = socket.socket(socket.AF_UNIX)
                self.requests.append(request)
                request.connect(str(path))
                request.sendall(cb_fastcgi.request_bytes("/page.php", [], b"", "GET",
                                                         {"SCRIPT_FILENAME": str(page)}))
            self.begun = self.measured()
            self.check()
        except BaseException:
            self.close()
            raise

    def measured(self):
        """The moment, and the processor time of the processes until then."""
        return time.monotonic(), cpu_s(descendants(self.child.pid))

    def check(self):
        """Waits until each process has worked; fails if one rests. The other work would be less than it should be."""
        _, before = self.measured()
        cb.wait_until(lambda: sum(used > before.get(pid, 0) for pid, used in self.measured()[1].items()) >= PROCESSES,
                      20, "the processes of php-fpm to work", 0.1)

    def processors(self):
        """How many processors' time it had since it began."""
        begun, before = self.begun
        moment, now = self.measured()
        return (sum(now.values()) - sum(before.values())) / (moment - begun)

    def close(self):
        for request in self.requests:
            request.close()
        self.child.stop()
        shutil.rmtree(self.dir, ignore_errors=True)


@contextlib.contextmanager
def beside(kind, machine):
    """Runs the other work meanwhile; with None there is none. @machine says afterwards what it took."""
    if not kind:
        yield
        return
    php = Php()
    try:
        yield
        php.check()
        had = php.processors()
        machine["beside"] = {"kind": kind, "processors": had}
        print(f"# the PHP site had {had:.2f} of {os.cpu_count()} processors all the time", flush=True)
    finally:
        php.close()


def weight_of_part(text):
    """PART=WEIGHT of the command line."""
    part, _, weight = text.partition("=")
    if part not in PARTS or not weight.isdigit() or not 1 <= int(weight) <= 10000:
        raise argparse.ArgumentTypeError(f"{text!r} is not PART=WEIGHT with a weight from 1 to 10000 and one of the parts "
                                         + ", ".join(PARTS))
    return part, int(weight)


def add_options(parser):
    parser.add_argument("--beside", choices=KINDS,
                        help="measure all cells beside a PHP site of two processes that never rest, and judge the targets of a "
                             "busy host")
    parser.add_argument("--weight", type=weight_of_part, action="append", default=[], metavar="PART=WEIGHT",
                        help="weigh this part of the wallet as CPUWeight= of systemd does, others have 100; may be given several "
                             f"times; parts: {', '.join(PARTS)}")
    parser.add_argument("--batch", choices=PARTS, action="append", default=[],
                        help="give this part of the wallet the policy SCHED_BATCH; may be given several times")


def arrange(stand, options):
    """Gives the processes of a wallet the weights and policies of the command line."""
    if not options.weight and not options.batch:
        return
    if options.weight and AUTOGROUP.read_text().strip() != "1":
        raise cb.HarnessError(f"--weight needs {AUTOGROUP} 1")
    for server in stand.servers:
        parts = stand.parts(server)
        for part, weight in options.weight:
            nice = -round(math.log(weight / WEIGHT_OF_ALL, STEP))
            nice = max(-NICE_MOST - 1, min(NICE_MOST, nice))
            for pid in {os.getsid(pid): pid for pid in parts[part]}.values():
                pathlib.Path(f"/proc/{pid}/autogroup").write_text(str(nice))
        for part in options.batch:
            for pid in parts[part]:
                for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                    os.sched_setscheduler(int(task.name), os.SCHED_BATCH, os.sched_param(0))
