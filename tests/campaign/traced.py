"""Processes under strace, and what they read and wrote where."""
import codecs
import pathlib
import re
import shutil
import signal
import subprocess

import cb

LINE = re.compile(r"(\d+) +(.*)")
CALL = re.compile(r"(\w+)\((?:\d+<((?:[^<>]|<[^<>]*>|->)*)>)?")
RESUMED = re.compile(r"<\.\.\. (\w+) resumed>")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
PEER = re.compile(r'\[(\d+)->(\d+),"([^"]*)"\]')
UNIX = re.compile(r'UNIX-[A-Z]+:\[(\d+)(?:->(\d+))?(?:,"([^"]*)")?')
ATTACH_S = 20.0


class Traced:
    """The processes @pids and their children, or a program that is run by argv()."""

    def __init__(self, path, pids=()):
        if not shutil.which("strace"):
            raise cb.Skip("there is no strace")
        self.path = pathlib.Path(path)
        self.process = None
        if pids:
            self.process = subprocess.Popen(
                [*self.argv(), *(word for pid in pids for word in ("-p", str(pid)))],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            cb.wait_until(lambda: self.ended() or all(self.attached(pid) for pid in pids), ATTACH_S,
                          "strace to attach itself")
            if self.ended():
                raise cb.Skip("processes cannot be traced here")

    def argv(self):
        return ["strace", "-f", "-yy", "-q", "-s", "65536", "-o", str(self.path)]

    def ended(self):
        return self.process.poll() is not None

    def attached(self, pid):
        return all("TracerPid:\t0\n" not in path.read_text()
                   for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status"))

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(ATTACH_S)

    def strings(self):
        """(call, what it was made on, bytes) for each string in a call. A Unix socket is called by
        the path that it or its other end is bound to."""
        text = self.path.read_text(errors="surrogateescape")
        paths = {end: path for *ends, path in PEER.findall(text) for end in ends}
        under_way = {}
        for line in text.splitlines():
            thread, rest = LINE.match(line).groups()
            resumed = RESUMED.match(rest)
            call = CALL.match(rest)
            if resumed:
                name, target = under_way.get(thread, (resumed[1], ""))
            elif call:
                name, target = call[1], target_name(call[2] or "", paths)
                under_way[thread] = (name, target)
            else:
                continue  # a signal, an exit
            # The text after the descriptor, whose name is no data.
            for string in STRING.findall(rest[call.end() if call else 0:]):
                yield name, target, codecs.escape_decode(
                    string.encode("utf-8", "surrogateescape"))[0]


def target_name(text, paths):
    match = UNIX.match(text)
    if not match:
        return text
    own, peer, path = match.groups()
    return f"UNIX:{path or paths.get(own) or paths.get(peer) or '?'}"
