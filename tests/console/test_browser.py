#!/usr/bin/python3
"""The web console in a real browser: chromium by playwright-core, and axe-core (browser.js).

Where Node.js, the npm packages or chromium cannot be had, the case is skipped and says why."""
import json
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("lib", "contract", "e2e")]
import cb  # noqa: E402
import contract_tools as tools  # noqa: E402
import test_console  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_console import CODE, PASSWORD, PREFIX, Console  # noqa: E402

HERE = TESTS / "console"
NAME = "console-tools"
PAGES_MIN = 30


def case_browser():
    """No finding in any page, with and without a script."""
    chromium = shutil.which("chromium")
    if not chromium:
        raise Skip("chromium is not installed")
    try:
        tools.install(HERE, NAME)
    except tools.Missing as missing:
        raise Skip(str(missing)) from missing
    with cb.Instance("browser", settings=test_console.SETTINGS) as wallet:
        test_console.World(wallet)
        console = Console(wallet)
        try:
            url = f"http://127.0.0.1:{console.port}{PREFIX}/"
            done = tools.run([tools.node_path(), HERE / "browser.js", url, "ann", PASSWORD, CODE], 240,
                             env=dict(os.environ, CB_CHROMIUM=chromium, NODE_PATH=str(tools.modules(NAME))))
        finally:
            console.close()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    equal([line for line in lines if "what" in line], [], f"findings; {done.stderr[-2000:]}")
    check(lines and lines[-1].get("visited", 0) >= PAGES_MIN, f"pages that were read: {lines}")


if __name__ == "__main__":
    sys.exit(cb.run_cases([("every page in a browser", case_browser)], seconds=280))
