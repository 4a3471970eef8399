#!/usr/bin/python3
"""The web console under valgrind: each route is read once, and each kind of form is sent."""
import contextlib
import pathlib
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("lib", "e2e", "full")]
import cb  # noqa: E402
import test_console  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import PREFIX, Browser, Installed, front_setting  # noqa: E402
from cb_process import Child, socket_ready  # noqa: E402
from valgrind_ledger import VALGRIND  # noqa: E402

READY_S = 60  # valgrind translates the program first


class Console(Installed):
    def start(self):
        self.program = Child([*VALGRIND, *self.argv], self.log)
        self.program.wait_ready(lambda: socket_ready(self.socket), READY_S, "the socket of the console")
        self.socket.chmod(0o666)

    def end(self):
        """Returns the exit code, and what valgrind said."""
        return self.program.stop(), [line for line in self.log.read_text().splitlines() if line.startswith("==")]


def form_of(page, path):
    """The hidden inputs of the form that is sent to @path."""
    form = next(page.document().all("form", action=PREFIX + path))
    return {node.attributes["name"]: node.attributes.get("value", "") for node in form.all("input")
            if node.attributes.get("type") == "hidden"}


def send_forms(ann, world):
    """A callback is held, released and replayed; a player is suspended; the zone is chosen; doctor is run."""
    act = f"/callbacks/{world.parked}/act"
    for action in ("hold", "release"):
        form = form_of(ann.get(f"/callbacks/{world.parked}"), act)
        equal(ann.post(act, form | {"action": action, "reason": ""}).status, 400, "no reason")
        equal(ann.post(act, form | {"action": action, "reason": "valgrind"}).status, 303, action)
    for path, address in (("/replays/start", "/replays/preview?casino=demo-b&state=parked"),
                          ("/player/suspend", f"/player?id={world.alice}"), ("/dealer/suspend", "/dealer?id=demo")):
        equal(ann.post(path, form_of(ann.get(address), path) | {"reason": "valgrind"}).status, 303, path)
    token = ann.token()
    equal(ann.post("/zone", {"token": token, "zone": "+07:00"}).status, 303, "the zone")
    for path, form in (("/health", {}), ("/dealer/ping", {"id": "demo-b"}),
                       ("/dealer/recon", {"id": "demo", "date": "2026-01-01"}), (f"/player/balance?id={world.bob}", {})):
        check(ann.post(path, {"token": token, **form}).status in (200, 303, 503), path)
    equal(ann.post("/zone", {"token": "0", "zone": "UTC"}).status, 403, "a wrong token")


def case_console():
    with contextlib.ExitStack() as stack:
        wallet = stack.enter_context(cb.Instance("console", settings=test_console.SETTINGS | front_setting(stack)))
        test_console.WALLET = wallet
        world = test_console.WORLD = test_console.World(wallet)
        console = Console(wallet, "desk")
        stack.callback(console.close)
        ann = Browser(console, "ann")
        equal(ann.get("/").status, 303, "no session")
        equal(ann.post("/sign-in", {"code": "000000"}).status, 403, "a wrong code")
        code = one_time_code(wallet.ctl_json("operator", "add", "ann", "--role", "admin")["otpauth"])
        equal(ann.post("/sign-in", {"code": code}).status, 303, "signed in")
        for path, methods, _, _ in test_console.routes():
            if "GET" in methods:
                page = ann.get(test_console.example(path))
                check(page.status in (200, 303, 503), f"{path}: {page.status} {page.text[-600:]}")
        for path in ("/nothing", "/bets/999999", "/search?id=alice", "/callbacks?casino=demo-b&state=parked",
                     "/days?casino=demo-b", f"/player?id={world.bob}", f"/bets/{world.refunding}"):
            check(ann.get(path).status in (200, 303, 404), path)
        send_forms(ann, world)
        equal(ann.post("/sign-out", {"token": ann.token()}).status, 303, "signed out")
        equal(console.end(), (0, []), "the console")


if __name__ == "__main__":
    sys.exit(cb.run_cases((("each route, and the forms", case_console),), seconds=200))
