#!/usr/bin/python3
"""floors: the rules of the house that a compiler does not know, as TAP.

Each source file includes only from its own floor and from floors below; a library's header stands
only where its floor is; files and functions stay short; every test is in tests/BUDGET; tests pack rows by one codec; the
branches that coverage need not reach are there; shell scripts pass shellcheck.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRCDIR / "tests" / folder) for folder in ("lib", "coverage")]
import coverage  # noqa: E402
from cb_tap import Skip, check, run_cases  # noqa: E402
from circles import CASES as CIRCLES  # noqa: E402
from citations import CASES as CITATIONS  # noqa: E402
from comments import CASES as COMMENTS  # noqa: E402
from format import CASES as FORMAT  # noqa: E402
from names import CASES as NAMES  # noqa: E402

# From the ground up.
FLOORS = ("base", "domain", "wire", "proof", "state", "link", "explain", "metrics", "store", "ledger", "peer",
          "callback", "sweep", "fcgi", "web", "dealer", "admin", "console", "recon", "conformance", "check", "archive", "doctor",
          "cmd")
# These are below it in the list, but it must not include them: the link knows nothing of JSON, and
# the sweeper asks the ledger through the link, as other programs do.
FORBIDDEN = {
    "link": {"wire"},
    "explain": {"proof", "state"},
    "proof": {"state", "link"},
    "peer": {"wire", "proof", "explain", "store"},
    "callback": {"peer"},
    "sweep": {"store", "ledger", "peer"},
    "fcgi": {"domain", "wire", "proof", "state", "link", "explain", "metrics", "store", "ledger", "peer", "callback", "sweep"},
    "web": {"proof", "state", "store", "ledger", "peer", "sweep"},
    "admin": {"state", "store", "ledger", "peer", "sweep", "fcgi", "web", "dealer"},
    "console": {"proof", "state", "store", "ledger", "peer", "callback", "sweep", "web", "dealer"},
    "doctor": {"check", "archive", "fcgi", "web", "dealer"},
    "recon": {"proof", "state", "metrics", "store", "ledger", "peer", "callback", "sweep", "fcgi", "web", "dealer"},
    "conformance": {"proof", "state", "metrics", "store", "ledger", "peer", "sweep", "fcgi", "web", "dealer", "recon"},
    "check": {"state", "metrics", "store", "ledger", "peer", "callback", "sweep", "fcgi", "web", "dealer"},
    "archive": {"metrics", "peer", "callback", "sweep", "fcgi", "web", "dealer", "recon", "conformance"},
    "dealer": {"proof", "link", "metrics", "store", "ledger", "peer", "callback", "sweep", "web"},
}
# Header -> where it may be included: a folder, or a single file.
LIBRARIES = {
    "jansson.h": "src/wire/",
    "gnutls/": ("src/wire/", "src/peer/tls.c", "src/peer/issue.c"),
    "db.h": ("src/store/bdb/", "src/dealer/store.c"),
    "libpq-fe.h": "src/store/pg/",
    "curl/": "src/callback/",
    "confuse.h": "src/base/settings.c",
    "libsmartcols": "src/cmd/",
    "liboath": "src/ledger/",
    "argp.h": "src/cmd/",
    "fcgiapp.h": "src/fcgi/",
    "check.h": "tests/",
}
# The headers of src/store itself are the seam: nothing else knows which database is below it.
STORE_HIDDEN = "store/bdb/"
STORE_KNOWN_BY = ("src/store/bdb/", "tests/store/")
# Files that still look below the seam. The list only shrinks.
STORE_EXCEPTIONS = ()
STORE_WORDS = re.compile(r"\bBDB_|\bbdb_|\blibdb\b|Berkeley")
# The reference dealer keeps its data with Berkeley DB, and has nothing to do with the store.
STORE_WORDS_MAY = ("src/store/", "src/dealer/")
FILE_LINES_LONG = 600  # above it a line of the output names the file
FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 80
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def sources(*patterns):
    found = sorted(path for pattern in patterns for path in (SRCDIR / "src").rglob(pattern))
    check(found, "there are no sources")
    return found


def name_of(path):
    return str(path.relative_to(SRCDIR))


def none(findings, rule):
    check(not findings, rule + ":\n" + "\n".join(findings))


def includes(path):
    return INCLUDE.findall(path.read_text())


def case_floors():
    findings = []
    for path in sources("*.c", "*.h", "*.def"):
        floor = path.relative_to(SRCDIR / "src").parts[0]
        check(floor in FLOORS, f"{name_of(path)}: {floor} is no floor; add it to {__file__}")
        allowed = set(FLOORS[:FLOORS.index(floor) + 1]) - FORBIDDEN.get(floor, set())
        for kind, header in includes(path):
            if kind != '"':
                continue
            if not (SRCDIR / "src" / header).is_file():
                findings.append(f'{name_of(path)}: "{header}" is not rooted at src/')
            elif header.split("/")[0] not in allowed:
                findings.append(f'{name_of(path)}: "{header}" is no floor below')
    none(findings, "a file includes from its own floor and floors below")


def folder_of(path):
    return str(path.relative_to(SRCDIR / "src").parent)


def case_circles():
    """No two folders include each other, directly or through others."""
    reached = {}
    for path in sources("*.c", "*.h", "*.def"):
        for kind, header in includes(path):
            if kind == '"' and folder_of(SRCDIR / "src" / header) != folder_of(path):
                reached.setdefault(folder_of(path), set()).add(folder_of(SRCDIR / "src" / header))
    grown = True
    while grown:
        grown = False
        for folder, others in reached.items():
            more = set().union(*(reached.get(other, set()) for other in others)) - others
            grown |= bool(more)
            others |= more
    none(sorted(folder for folder, others in reached.items() if folder in others),
         "folders include each other")


def case_readmes():
    findings = []
    for folder in sorted({path.parent for path in sources("*.c", "*.h")}):
        readme = folder / "README"
        lines = len(readme.read_text().splitlines()) if readme.is_file() else 0
        if not 10 <= lines <= 30:
            findings.append(f"{name_of(readme)}: {lines} lines")
    none(findings, "each folder of src has a README of 10 to 30 lines")


def case_libraries():
    findings = []
    for path in sources("*.c", "*.h", "*.def"):
        for _, header in includes(path):
            for library, place in LIBRARIES.items():
                if header != library and not (library[-2:] != ".h" and header.startswith(library)):
                    continue
                if not name_of(path).startswith(place):
                    findings.append(f"{name_of(path)}: <{header}> belongs to {place}")
    none(findings, "a library's header stays on its floor")


def case_store_seam():
    """Code above src/store does not know Berkeley DB."""
    findings, users = [], sources("*.c", "*.h", "*.def")
    tests = sorted(path for suffix in ("*.c", "*.h") for path in (SRCDIR / "tests").rglob(suffix))
    tests += sorted(path for suffix in ("*.c", "*.h") for path in (SRCDIR / "bench").rglob(suffix))
    for path in users + tests:
        name = name_of(path)
        if any(header.startswith(STORE_HIDDEN) for _, header in includes(path)) and \
                not name.startswith(STORE_KNOWN_BY) and name not in STORE_EXCEPTIONS:
            findings.append(f"{name}: includes a header below {STORE_HIDDEN}")
    for path in users:
        if name_of(path).startswith(STORE_WORDS_MAY):
            continue
        findings += [f"{name_of(path)}: {word}" for word in STORE_WORDS.findall(path.read_text())]
    none(findings, "only src/store and tests/store know Berkeley DB")


def case_file_lines():
    findings = []
    for path in sources("*.c", "*.h"):
        lines = len(path.read_text().splitlines())
        if lines > FILE_LINES_LONG:
            print(f"# {name_of(path)} has {lines} lines: more than {FILE_LINES_LONG} are seldom one subject", flush=True)
        if lines > FILE_LINES_MAX:
            findings.append(f"{name_of(path)}: {lines} lines")
    none(findings, f"a file has at most {FILE_LINES_MAX} lines")


def case_function_lines():
    findings = []
    for path in sources("*.c"):
        start = 0
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("{"):
                start = number
            elif line.startswith("}") and start:
                if number - start > FUNCTION_LINES_MAX:
                    findings.append(f"{name_of(path)}:{start}: {number - start} lines")
                start = 0
    none(findings, f"a function has at most {FUNCTION_LINES_MAX} lines")


def case_budget():
    """A test that no suite runs is no test."""
    # The suite package runs what debian/tests names.
    budget = "".join((SRCDIR / name).read_text() for name in ("tests/BUDGET", "debian/tests/control"))
    findings = []
    tests = [*(SRCDIR / "tests").rglob("test_*.c"), *(SRCDIR / "tests").rglob("test_*.py"),
             SRCDIR / "tests" / "crash" / "kill.py", SRCDIR / "tests" / "crash" / "storm.py",
             *(SRCDIR / "tests" / "full").glob("*.sh")]
    check(tests, "there are no tests")
    makefiles = "".join(p.read_text() for p in (SRCDIR / "tests").rglob("Makefile.inc"))
    for path in tests:
        if path.name in ("analyzed.sh", "lib.sh", "package_build.sh", "sanitized.sh"):  # sourced or called by others
            continue
        program = name_of(path).removesuffix(".c")
        # A program of several sources is in BUDGET by the program's name.
        listed = re.search(rf"(?m){re.escape(program)}(?=\s|$)", budget)
        if not listed and not (path.suffix == ".c" and name_of(path) in makefiles):
            findings.append(name_of(path))
    for program in re.findall(r"tests/[a-z]+/test_[a-z]+(?=\s|$)", makefiles):
        if not re.search(rf"(?m){re.escape(program)}$", budget):
            findings.append(program)
    none(findings, "every test is run by a suite of tests/BUDGET")


def case_coverage_list():
    """A changed line is noticed here, not first by `make coverage`, which is in no tier."""
    left_out, branches = coverage.list_read(SRCDIR / "tests" / "coverage" / "coverage.list")
    check(branches, "the list is empty")
    findings = [name for name in left_out if not (SRCDIR / name).is_file()]
    for name, quoted in branches:
        path = SRCDIR / name
        lines = map(str.strip, path.read_text().splitlines() if path.is_file() else ())
        if quoted not in lines:
            findings.append(f"{name}: {quoted}")
    none(findings, "what tests/coverage/coverage.list names is in the sources")


# The only files that may pack big-endian numbers: the codec, and FastCGI's records.
PACKERS = ("tests/lib/cb_codec.py", "tests/lib/cb_fastcgi.py")
PACKED = re.compile(r"""\b(?:Struct|pack|pack_into|unpack|unpack_from|calcsize)\(f?["'][>!]""")


def case_codec():
    """A row that is packed by hand is wrong when its table changes."""
    findings = []
    for path in sorted(path for folder in ("tests", "bench") for path in (SRCDIR / folder).rglob("*.py")):
        if name_of(path) not in PACKERS:
            findings += [f"{name_of(path)}:{number}: {line.strip()}"
                         for number, line in enumerate(path.read_text().splitlines(), 1)
                         if PACKED.search(line)]
    none(findings, "rows and frames are packed by tests/lib/cb_codec.py")


def case_shellcheck():
    if not shutil.which("shellcheck"):
        raise Skip("shellcheck is not installed")
    scripts = [SRCDIR / name for name in ("quickstart", "autogen.sh", ".ci/run")]
    scripts += sorted(path for folder in ("examples", "fcgi-conf", "tests")
                      for path in (SRCDIR / folder).rglob("*.sh"))
    scripts = [script for script in scripts if script.exists()]  # .ci is not distributed
    done = subprocess.run(["shellcheck", "-x", "-P", "SCRIPTDIR", *scripts], capture_output=True, text=True,
                          cwd=SRCDIR, timeout=300, check=False)
    check(done.returncode == 0, done.stdout + done.stderr)


sys.exit(run_cases([
    ("include floors", case_floors),
    ("no circles of includes", case_circles),
    ("a README in each folder", case_readmes),
    ("library headers on their floors", case_libraries),
    ("the store hides its database", case_store_seam),
    ("length of files", case_file_lines),
    ("length of functions", case_function_lines),
    ("every test is in BUDGET", case_budget),
    ("coverage.list names what is there", case_coverage_list),
    ("one codec of rows and frames", case_codec),
    ("shell scripts", case_shellcheck),
    *CIRCLES,
    *FORMAT,
    *NAMES,
    *CITATIONS,
    *COMMENTS,
], seconds=90))
