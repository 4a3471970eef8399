#!/usr/bin/python3
"""The web console in a real browser: chromium by playwright-core, and axe-core.

    every page    each kind of page at three widths, light and dark, and the integrators' guides (browser.js)
    scenarios     what operators do, with and without a script (scenarios.js, work.js)
    hostile text  only with --text: text that others choose is shown as text (corpus.py, corpus.js)

A scenario is played by one web server with a script and by another without; the first two only with the keyboard, too.
With --every-server each is played by Apache, lighttpd and nginx. $CB_SCENARIO, a part of a name, selects scenarios.
Where Node.js, the npm packages or chromium cannot be had, the cases are skipped and say why."""
import contextlib
import json
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from office import PASSWORD, ROLES, SERVERS, TESTS, Office, cb, test_console  # noqa: E402
import contract_tools as tools  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from corpus import ALL, FIELDS, Corpus  # noqa: E402
from host import Host, converse  # noqa: E402

HERE = TESTS / "console"
NAME = "console-tools"
SCENARIOS = 21  # of scenarios.js
BY_KEYBOARD = 2
PAYLOADS_ALL = 60
HELD_MIN = 50  # of a field; the others are refused
# Beside an address of each route.
MORE_PAGES = (("search?id=18", 200), ("callbacks?casino=demo-b&state=parked", 200), ("callbacks?state=held", 200),
              ("days?casino=demo-b", 200), ("days?casino=demo&day=2026-02-30", 404), ("bets/999999", 404),
              ("transactions?since=yesterweek", 400), ("nothing", 404))


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


def run_script(office, name, seconds, **given):
    """Runs a script of this folder, which must have no finding. Returns what it has done."""
    given = {"password": PASSWORD, "servers": office.servers(), "every": "--every-server" in sys.argv} | given
    env = environment()
    file = office.wallet.dir / f"{name}.json"
    file.write_text(json.dumps(given))
    lines = converse([tools.node_path(), HERE / name, file], env, Host(office), seconds * cb.PATIENCE)
    equal(sum("what" in line for line in lines), 0, "findings, as above")
    office.skipped = [line for line in lines if "skipped" in line]
    for line in sorted((line for line in lines if line.get("ms", 0) > 4000), key=lambda line: -line["ms"]):
        print(f"# {line['played']} by {line['mode']} took {line['ms'] / 1000:.1f} s")
    check(lines and "done" in lines[-1], f"{name} ended: {lines[-3:]}")
    return lines[-1]["done"]


def pages_of(office):
    """[(address, status)]: of each page that the table of routes has, and of what else a page can be."""
    world = office.world
    refused = office.refuse("page-refused")
    shown = [test_console.example(path).lstrip("/") for path, methods, _, _ in test_console.routes()
             if "GET" in methods and not path.endswith(".csv") and path not in ("/sign-in", "/explain")]
    return [(address, 200) for address in (*shown, f"explain?request={refused}", f"player?id={world.bob}",
                                           f"bets/{world.refunding}")] + list(MORE_PAGES)


def guides():
    """The guides that `make` made; none without cmark-gfm."""
    found = sorted((cb.builddir() / "doc").glob("*-guide.html"))
    check(len(found) in (0, 2), f"{found}")
    return [path.as_uri() for path in found]


def case_pages(office):
    """No finding in any page."""
    pages = pages_of(office)
    done = run_script(office, "browser.js", 400, pages=pages, parked=office.world.parked, guides=guides())
    equal(done, len(pages), "pages that were read")


def case_scenarios(office):
    """What operators do, with and without a script."""
    only = "CB_SCENARIO" in os.environ
    each = 2 * (len(SERVERS) if "--every-server" in sys.argv else 1)
    done = run_script(office, "scenarios.js", 400 * each // 2)
    played = done + len(office.skipped)
    check(only or played == each * (SCENARIOS + BY_KEYBOARD), f"{done} scenarios were played, {office.skipped} skipped")


def case_skipped(office):
    """Says which scenarios could not be played here."""
    if office.skipped:
        raise Skip("; ".join(sorted({f"{line['skipped']}: {line['why']}" for line in office.skipped})))


def case_corpus(office):
    """Hostile text is text in each field and page."""
    environment()  # Where it is missing, nothing is put.
    corpus = Corpus(office)
    equal(len(set(ALL)), PAYLOADS_ALL, "payloads")
    for field in FIELDS:
        held = set(corpus.held[field])
        print(f"# {field} holds {len(held)} of {len(ALL)}")
        check(len(held) >= HELD_MIN, f"{field} holds {len(held)} payloads")
    done = run_script(office, "corpus.js", 400, visits=corpus.visits, operators=list(ROLES))
    equal(done, len(corpus.visits), "pages that were read")


def main():
    with contextlib.ExitStack() as stack:
        office = Office(stack, "browser")
        cases = [("hostile text", case_corpus)] if "--text" in sys.argv else [
            ("every page in a browser", case_pages), ("scenarios", case_scenarios),
            ("no scenario was left out", case_skipped, "scenarios")]
        return cb.run_cases([(name, cb.needs(lambda case=case: case(office), *needed)) for name, case, *needed in cases],
                            seconds=560)


if __name__ == "__main__":
    sys.exit(main())
