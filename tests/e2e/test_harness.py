#!/usr/bin/python3
"""What the tests promise of themselves: a suite that is ended by SIGTERM in a case leaves neither
processes nor files behind."""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402


def serve_for_ever():
    """Is ended in the middle of its case, with workers that are its servers' children."""
    with cb.Instance("harness") as wallet, cb.Lighttpd(wallet), cb.ApacheFcgid(wallet) as apache:
        answer = cb.call(apache, "GET", "/healthz", port=apache.platform_port)
        equal(answer.status, 200, "status of healthz")
        print(f"# {wallet.dir}", flush=True)
        signal.pause()


def ended_suite():
    env = {name: value for name, value in os.environ.items() if name != "CB_KEEP"}
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True,
                          env=env) as suite:
        try:
            folder = suite.stdout.readline().removeprefix("# ").strip()
            if not folder.startswith("/"):
                raise AssertionError(f"no directory: {folder}\n{suite.stdout.read()}")
            count = len(cb.commands_with(folder))
            check(count >= 5, f"{count} processes are no test")
        finally:
            suite.terminate()
        equal(suite.wait(60), 128 + signal.SIGTERM, "exit code of the suite")
    equal((cb.commands_with(folder), os.path.exists(folder)), ({}, False), "what is left of it")


def main():
    if sys.argv[1:] == ["serve"]:
        return cb.run_cases([("serves", serve_for_ever)], seconds=90)
    return cb.run_cases([("a suite that is ended leaves nothing", ended_suite)], seconds=180)


if __name__ == "__main__":
    sys.exit(main())
