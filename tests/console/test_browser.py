#!/usr/bin/python3
"""The web console in a real browser: chromium by playwright-core, and axe-core (browser.js).

Where Node.js, the npm packages or chromium cannot be had, the case is skipped and says why."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("lib", "contract", "e2e")]
import cb  # noqa: E402
import contract_tools as tools  # noqa: E402
import test_console  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import CODE, PASSWORD, PREFIX, Console, front_setting  # noqa: E402

HERE = TESTS / "console"
NAME = "console-tools"
PAGES_MIN = 30
SCENARIOS = 9  # of scenarios.js, with and without a script


def environment():
    """Of a script that drives chromium."""
    chromium = shutil.which("chromium")
    if not chromium:
        raise Skip("chromium is not installed")
    try:
        tools.install(HERE, NAME)
    except tools.Missing as missing:
        raise Skip(str(missing)) from missing
    return dict(os.environ, CB_CHROMIUM=chromium, NODE_PATH=str(tools.modules(NAME)))


def case_browser():
    """No finding in any page, with and without a script."""
    env = environment()
    with cb.Instance("browser", settings=test_console.SETTINGS) as wallet:
        test_console.World(wallet)
        console = Console(wallet)
        try:
            url = f"http://127.0.0.1:{console.port}{PREFIX}/"
            done = tools.run([tools.node_path(), HERE / "browser.js", url, "ann", PASSWORD, CODE], 480, env=env)
        finally:
            console.close()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    equal([line for line in lines if "what" in line], [], f"findings; {done.stderr[-2000:]}")
    check(lines and lines[-1].get("visited", 0) >= PAGES_MIN, f"pages that were read: {lines}")


class Host:
    """What scenarios.js asks of the ledger's host."""

    def __init__(self, wallet):
        self.wallet, self.role = wallet, None

    def stop(self, _):
        self.wallet.stop()
        return "stopped"

    def start(self, _):
        self.wallet.start()
        return "started"

    def kill(self, _):
        (engine,) = self.wallet.engine_pids()
        os.kill(engine, signal.SIGKILL)
        cb.wait_until(lambda: engine not in self.wallet.engine_pids(), 20, "the end of the engine")
        cb.wait_until(self.wallet.answering, 20, "the next engine")
        return "killed"

    def code(self, _):
        """A code of the operator ann that was not used."""
        words = ("new-code", "ann") if self.role else ("add", "ann", "--role", "admin")
        self.role = self.role or "admin"
        return one_time_code(self.wallet.ctl_json("operator", *words)["otpauth"])

    def change(self, _):
        self.role = "finance" if self.role == "admin" else "admin"
        self.wallet.ctl("operator", "set", "ann", "--role", self.role)
        return self.role

    def audit(self, line):
        rows = self.wallet.ctl_json("audit", "--limit", 100)["audit"]
        return str(sum(row["reason"] == line["reason"] for row in rows))

    def answer(self, line):
        return {"stop": self.stop, "start": self.start, "kill": self.kill, "code": self.code, "role": self.change,
                "audit": self.audit}[line["ask"]](line)


def converse(argv, env, host):
    """Runs the script and answers what it asks. Returns its other lines."""
    lines = []
    with subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=env) as child:
        timer = threading.Timer(400, child.kill)
        timer.start()
        try:
            for text in child.stdout:
                line = json.loads(text)
                if "ask" not in line:
                    lines.append(line)
                    continue
                child.stdin.write(host.answer(line) + "\n")
                child.stdin.flush()
        finally:
            timer.cancel()
            child.kill()
    return lines


def case_scenarios():
    """What operators do, with and without a script."""
    env = environment()
    with contextlib.ExitStack() as stack:
        wallet = stack.enter_context(cb.Instance(
            "scenarios", settings=test_console.SETTINGS | front_setting(stack)))
        test_console.WALLET = wallet
        world = test_console.World(wallet)
        console = Console(wallet)
        stack.callback(console.close)
        desk = stack.enter_context(test_console.Installed(wallet, "desk"))
        urls = [f"http://127.0.0.1:{port}{PREFIX}/" for port in (console.port, desk.port)]
        lines = converse([tools.node_path(), HERE / "scenarios.js", *urls, "ann", PASSWORD, CODE, world.parked,
                          world.fresh], env, Host(wallet))
    equal([line for line in lines if "what" in line], [], "findings")
    equal(lines[-1:], [{"scenarios": 2 * SCENARIOS}], "scenarios that were played")


if __name__ == "__main__":
    sys.exit(cb.run_cases([("every page in a browser", case_browser),
                           ("scenarios", case_scenarios)], seconds=560))
