"""One run of wrk with load.lua: signed calls of one kind."""
import json
import pathlib
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parent / "load.lua"
GRACE_S = 60


class Failure(Exception):
    """wrk failed, or told nothing."""


def run(url, kind, signer, players, name, *, connections, seconds, env=None):
    """The row that load.lua ends with. @signer: id and key; @name makes the ids of this run its own."""
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(SCRIPT),
         url, "--", kind, *signer, str(players), name],
        capture_output=True, text=True, timeout=seconds + GRACE_S, check=False, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise Failure(f"wrk: {done.stdout}{done.stderr}")
    return json.loads(lines[-1])
