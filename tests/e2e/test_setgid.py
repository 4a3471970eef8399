#!/usr/bin/python3
"""A worker that is setgid: its caller cannot choose its configuration, reach its libraries through
the environment, or look into its memory.

Needs root, to give a copy of the worker a group that its caller is not in.
"""
import functools
import os
import pathlib
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from cb_instance import temporary_directory, web_user  # noqa: E402
from cb_process import PATIENCE, find_program, wait_until  # noqa: E402
from cb_tap import Skip, check, equal, run_cases  # noqa: E402

GROUP = 54321  # of no user
EX_CONFIG = 78
DEFAULT = "/etc/creditbridge/creditbridge.conf"


class Copies:
    """Two copies of the worker that only differ in the bit."""

    def __init__(self):
        self.dir = temporary_directory("creditbridge-setgid")
        built = find_program("creditbridge.fcgi")
        self.plain, self.setgid = self.dir / "plain", self.dir / "setgid"
        for path, mode in ((self.plain, 0o755), (self.setgid, 0o2755)):
            shutil.copy(built, path)
            os.chown(path, 0, GROUP)
            path.chmod(mode)
        self.config = self.dir / "other.conf"
        self.config.write_text(f'socket_directory = "{self.dir}"\nlog_target = stderr\n')
        self.config.chmod(0o644)

    def argv(self, program, *options):
        return ["setpriv", f"--reuid={web_user()}", f"--regid={web_user()}", "--clear-groups",
                program, *map(str, options)]

    def run(self, program, *options, environment=None):
        return subprocess.run(self.argv(program, *options), capture_output=True, text=True,
                              timeout=20 * PATIENCE, env={"PATH": os.environ["PATH"], **(environment or {})},
                              stdin=subprocess.DEVNULL)


def copies():
    if os.geteuid() != 0:
        raise Skip("only root can give a file to a group that its caller is not in")
    made = Copies()
    # A file system that ignores the bit would let every case pass.
    if os.statvfs(made.dir).f_flag & os.ST_NOSUID:
        shutil.rmtree(made.dir)
        raise Skip(f"{made.dir} is mounted nosuid")
    started = made.run(made.setgid, "--version")
    if started.returncode:
        shutil.rmtree(made.dir)
        raise AssertionError(f"the setgid worker does not start: {started}")
    return made


def with_copies(case):
    @functools.wraps(case)
    def run():
        made = copies()
        try:
            case(made)
        finally:
            shutil.rmtree(made.dir)
    return run


@with_copies
def configuration_is_not_the_callers(made):
    plain = made.run(made.plain, "--config", made.config)
    check("standard input is no listening socket" in plain.stderr,
          f"the plain one reads another configuration: {plain}")
    setgid = made.run(made.setgid, "--config", made.config)
    equal(setgid.returncode, EX_CONFIG, f"setgid with --config: {setgid}")
    equal(setgid.stderr, f"creditbridge.fcgi: --config {made.config}: being setgid, this program "
          f"reads {DEFAULT} only\n", "what it says")
    # Not a path that ends there, either.
    setgid = made.run(made.setgid, "--config", f"/etc/../{DEFAULT}")
    check("being setgid" in setgid.stderr, f"setgid with /etc/..: {setgid}")
    setgid = made.run(made.setgid, "--config", DEFAULT)
    check("being setgid" not in setgid.stderr, f"setgid with the default: {setgid}")


@with_copies
def environment_is_not_the_callers(made):
    narrow = {"ARGP_HELP_FMT": "rmargin=40"}  # argp is one library that asks it
    plain, setgid = (made.run(path, "--help").stdout for path in (made.plain, made.setgid))
    check(made.run(made.plain, "--help", environment=narrow).stdout != plain,
          "the plain one ignores ARGP_HELP_FMT, so this case shows nothing")
    equal(made.run(made.setgid, "--help", environment=narrow).stdout, setgid,
          "--help with ARGP_HELP_FMT")


@with_copies
def console_has_no_further_right(made):
    """The web console runs without the group of edge.sock, whatever its caller wants."""
    words = ("--serve", "console", "--socket", made.dir / "console.sock")
    setgid = made.run(made.setgid, *words)
    equal(setgid.returncode, EX_CONFIG, f"setgid console: {setgid}")
    check("--serve console runs with no more rights than its user has" in setgid.stderr, f"{setgid}")
    plain = made.run(made.plain, *words, "--config", made.dir / "none.conf")
    check("no more rights" not in plain.stderr, f"plain console: {plain}")


@with_copies
def memory_is_not_the_callers(made):
    """Its caller's other programs run as the same user: they must not read keys out of it."""
    reader, writer = socket.socketpair()
    writer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    peek = ["setpriv", f"--reuid={web_user()}", f"--regid={web_user()}", "--clear-groups", "cat"]
    for program, word, readable in ((pathlib.Path(shutil.which("cat")), "/dev/zero", True),
                                    (made.plain, "--help", False),
                                    (made.setgid, "--help", False)):
        # Filled, so that the program waits in its first write for as long as it is looked at.
        writer.setblocking(False)
        try:
            while True:
                writer.send(b"x" * 64)
        except BlockingIOError:
            writer.setblocking(True)
        with subprocess.Popen(made.argv(program, word), stdout=writer) as child:
            try:
                wait_until(lambda: pathlib.Path(f"/proc/{child.pid}/comm").read_text().strip() ==
                           program.name, 10, f"{program} running")
                # The first that it does, once it has its name, is to hide.
                look = [*peek, f"/proc/{child.pid}/environ"]
                wait_until(lambda: (subprocess.run(look, capture_output=True, check=False)
                                    .returncode == 0) == readable, 10,
                           f"{program.name}: its environment, readable: {readable}")
            finally:
                child.kill()
    reader.close()
    writer.close()


if __name__ == "__main__":
    sys.exit(run_cases([(case.__name__, case) for case in (
        configuration_is_not_the_callers, environment_is_not_the_callers,
        console_has_no_further_right, memory_is_not_the_callers)]))
