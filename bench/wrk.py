"""One run of wrk with load.lua: signed calls of one kind."""
import json
import pathlib
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parent / "load.lua"
GRACE_S = 60

# How wrk asks for the processor. It stands for callers on machines of their own, but shares the server's: woken
# by each answer, it would interrupt the server in the middle of its work to take that one (EAGER). As
# SCHED_BATCH it waits for its turn.
BATCH = ("chrt", "--batch", "0")
EAGER = ()


class Failure(Exception):
    """wrk failed, or printed no figures."""


def add_eager_client(parser):
    """The option --eager-client: options.client is BATCH or EAGER."""
    parser.add_argument("--eager-client", action="store_const", dest="client", const=EAGER, default=BATCH,
                        help="let wrk interrupt the server for each answer (bench/wrk.py)")


def run(url, kind, signer, players, name, *, connections, seconds, client=BATCH, env=None,
        before=()):
    """The row that load.lua ends with. @signer: id and key; @name makes the ids of this run its own,
    @before is what load.lua's round() needs."""
    done = subprocess.run(
        [*client, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(SCRIPT),
         url, "--", kind, *signer, str(players), name, *map(str, before)],
        capture_output=True, text=True, timeout=seconds + GRACE_S, check=False, env=env)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise Failure(f"wrk: {done.stdout}{done.stderr}")
    return json.loads(lines[-1])
