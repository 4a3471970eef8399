#!/usr/bin/python3
"""Makes the pictures of doc/console.md anew: shots.py DIRECTORY, such as doc/console. No suite: look at them."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_browser  # noqa: E402
from test_browser import HERE, cb, test_console, tools  # noqa: E402
from cb_console import CODE, PASSWORD, PREFIX, Console  # noqa: E402


def main(directory):
    env = test_browser.environment()
    with cb.Instance("shots", settings=test_console.SETTINGS) as wallet:
        world = test_console.World(wallet)
        console = Console(wallet)
        try:
            url = f"http://127.0.0.1:{console.port}{PREFIX}/"
            done = tools.run([tools.node_path(), HERE / "shots.js", url, "ann", PASSWORD, CODE, directory, world.parked,
                              world.refunding], 300, env=env)
        finally:
            console.close()
    print(done.stdout + done.stderr, end="")
    return done.returncode or any("what" in json.loads(line) for line in done.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
