"""Attempts at a dealer, made by tests/callback/send_one: the sender of the workers and the sweeper."""
import json
import pathlib
import re
import subprocess
import sys

import cb
from cb import check, equal

BODY = '{"user_id":"alice","player_id":"p2345abcdefghijklmno","remark":"\u0e3f \\" \\\\"}'
PROGRAM = cb.builddir() / "tests" / "callback" / "send_one"


class Sender:
    """A send_one."""

    def __init__(self, *arguments, networks=("127.0.0.1", "::1")):
        words = [str(PROGRAM), *arguments]
        for network in networks:
            words += ["-n", network]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.asked = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()
        if sys.exc_info()[0] is None:
            equal(code, 0, "send_one's exit code")

    def add(self, job, url, path="/x", kind=1, event=17, flags="h", body=BODY, verb="add"):
        self.asked += 1
        self.tell(verb, job, kind, event, flags, url, path, body)

    def tell(self, *fields):
        self.process.stdin.write("\t".join(str(field) for field in fields) + "\n")

    def wait(self):
        """The outcomes of all that was asked for since, by job."""
        self.tell("wait")
        outcomes = {}
        while self.asked:
            line = self.process.stdout.readline()
            check(line, "send_one ended")
            told = json.loads(line)
            told["outcome"]["fences"] = told["fences"]
            told["outcome"]["waited"] = int(cb.waited_s(self.process.pid) * 1000)
            outcomes[told["job"]] = told["outcome"]
            self.asked -= 1
        return outcomes

    def one(self, url, **more):
        self.add("one", url, **more)
        return self.wait()["one"]

    def memory_kib(self, name="VmRSS"):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status).group(1))
