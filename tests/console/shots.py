#!/usr/bin/python3
"""Makes the pictures of doc/console.md anew: shots.py DIRECTORY, such as doc/console. No suite: look at them."""
import contextlib
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_browser  # noqa: E402
from test_browser import HERE, cb, test_console, tools  # noqa: E402
from cb import TRANSFER_IN, check, find_program  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import PASSWORD, PREFIX, Browser, Installed, front_setting  # noqa: E402
from cb_process import Child  # noqa: E402

OPERATORS = {"ann": "admin", "nok": "support", "kim": "finance"}


def sign_in(wallet, console):
    """Adds OPERATORS. Returns the cookie of ann's session."""
    made = {name: wallet.ctl_json("operator", "add", name, "--role", role)["otpauth"]
            for name, role in OPERATORS.items()}
    ann = Browser(console, "ann")
    page = ann.post("/sign-in", {"code": one_time_code(made["ann"])})
    check(page.status == 303, f"ann signs in: {page.status} {page.text[-800:]}")
    return "; ".join(f"{name}={value}" for name, value in ann.cookies.items())


def refuse(wallet):
    """Calls with a wrong signature. Returns the request id of one."""
    with cb.Lighttpd(wallet) as server:
        for reference in ("in-2", "in-3"):
            cb.call(server, "POST", TRANSFER_IN, {"user_id": "alice", "amount": 100,
                                                  "request_transaction_id": reference},
                    casino="demo", signature="0" * 64)
        rows = cb.wait_until(lambda: wallet.ctl_json("refused", "list")["refused"], 20, "the refused calls")
    return rows[0]["request_id"]


def photograph(stack, directory):
    env = test_browser.environment()
    wallet = stack.enter_context(cb.Instance("shots", settings=test_console.SETTINGS | front_setting(stack)))
    world = test_console.World(wallet)
    jobs = Child([find_program("creditbridgectl"), "--config", wallet.config, "job", "--listen"],
                 wallet.logs / "jobs.log")
    stack.callback(jobs.stop)
    socket = wallet.sockets / "jobs.sock"
    jobs.wait_ready(socket.exists, 20, "jobs.sock")
    socket.chmod(0o666)  # The console's process runs as this user.
    ids = {name: value for name, value in vars(world).items() if isinstance(value, (int, str))}
    # Before the console starts: the end of the web server ends all workers.
    ids["refused"] = refuse(wallet)
    console = stack.enter_context(Installed(wallet, "desk"))
    return tools.run([tools.node_path(), HERE / "shots.js", f"http://127.0.0.1:{console.port}{PREFIX}/", "ann",
                      PASSWORD, sign_in(wallet, console), directory, "shots", json.dumps(ids)], 300, env=env)


def main(directory):
    with contextlib.ExitStack() as stack:
        done = photograph(stack, directory)
    print(done.stdout + done.stderr, end="")
    return done.returncode or any("what" in json.loads(line) for line in done.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
