#!/usr/bin/python3
"""commands: each command line that a document shows is typed by a test, or is named with the reason why
not, as TAP. The suite `manual` has these cases, too.

commands.list has a row for each block of commands. The documents are README, README.Debian and the
EXAMPLES of the pages; test_guide.py types every block of the guide.
"""
import pathlib
import re
import sys

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_documents import README, README_DEBIAN, examples, indented  # noqa: E402
from cb_tap import check, equal, run_cases  # noqa: E402

LIST = SRCDIR / "tests" / "lint" / "commands.list"
NOT_TYPED_MAX = 12
# First words of lines that are commands.
PROGRAMS = {"a2disconf", "a2dismod", "a2enconf", "a2enmod", "a2ensite", "adduser", "apt", "apt-get", "cat", "chown",
            "cp", "creditbridge-ledger", "creditbridge-sweep", "creditbridge.fcgi", "creditbridgectl",
            "curl", "deluser", "dpkg", "dpkg-buildpackage", "dpkg-reconfigure", "dpkg-statoverride", "echo", "git",
            "install", "jq", "lighty-disable-mod", "lighty-enable-mod", "make", "mkdir", "mv", "openssl",
            "php", "podman", "printf", "python3", "rm", "runuser", "service", "setpriv", "sh", "spawn-fcgi", "sudo",
            "sync", "systemctl", "tests/run", "userdel"}
COMMAND = re.compile(r"(\./|\$[A-Z_]+( |$)|[A-Z_]+=|\(umask |/usr/(lib/apt|libexec|s?bin|share/creditbridge)/|/etc/init\.d/|(\S+ ){5}root )")
# A name with its description.
TABLE = re.compile(r"\S+ {2,}[^ #]")


def is_command(line):
    if TABLE.match(line):
        return False
    return line.partition(" ")[0] in PROGRAMS or bool(COMMAND.match(line))


def documents():
    """Names with their blocks."""
    for path in (README, README_DEBIAN):
        yield path.name.rpartition("creditbridge.")[2], list(indented(path.read_text()))
    for path in sorted((SRCDIR / "doc").glob("*.[578]")):
        yield path.name, list(examples(path.read_text()))


def command_blocks():
    """Pairs of a document's name and the lines from the first command of a block on."""
    for name, blocks in documents():
        for text in blocks:
            lines = [line.strip() for line in text.splitlines()]
            for number, line in enumerate(lines):
                if is_command(line):
                    yield name, lines[number:]
                    break


def rows():
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" | ")]
            equal(len(parts), 4, f"parts of {line!r}")
            yield parts


def case_listed():
    """Each block has a row of its own: the first words of its first command. Two blocks that begin alike have two rows."""
    left = [(row[0], row[1]) for row in rows()]
    check(len(left) > 20, "there are rows")
    for name, lines in command_blocks():
        found = [row for row in left if row[0] == name and lines[0].startswith(row[1])]
        check(found, f"{name}: {lines} are in no row of {LIST.name} of their own")
        left.remove(max(found, key=lambda row: len(row[1])))
    equal(left, [], f"rows of {LIST.name} without a block")


def case_typed():
    """A test that is said to type a block takes it by the words of the row."""
    for name, first, how, what in rows():
        if how == "typed":
            path, _, words = what.partition(": ")
            check((words or first) in (SRCDIR / path).read_text(),
                  f"{name}: {path} does not have {words or first!r}")
        else:
            equal(how, "not", f"{name}: {first}: typed or not")
            check(len(what) > 20, f"{name}: {first}: the reason")


def case_not_typed():
    """The list of what no test types stays short."""
    count = sum(row[2] == "not" for row in rows())
    check(count <= NOT_TYPED_MAX, f"{count} blocks are typed by no test")


def case_targets():
    """Targets of make and suites that README names are there."""
    text = README.read_text()
    made = "".join(path.read_text() for path in (SRCDIR / "Makefile.am", *SRCDIR.glob("[b-t]*/**/Makefile.inc")))
    for target in sorted(set(re.findall(r"(?<!-)\bmake ((?:campaign|check|bench|coverage)[a-z-]*)", text))):
        check(re.search(rf"^[^\t\n#]*\b{re.escape(target)}(?![a-z-])", made, re.MULTILINE), f"make {target}")
    suites = set(re.findall(r"^([a-z-]+) +(?:check|full|long) ", (SRCDIR / "tests" / "BUDGET").read_text(),
                            re.MULTILINE))
    for words in re.findall(r"tests/run ((?:[a-z-]+ ?)+)$", text, re.MULTILINE):
        equal(set(words.split()) - suites, set(), "suites that README names and that are not there")


CASES = (
    ("documents: each block of commands is listed", case_listed),
    ("documents: the tests take them from there", case_typed),
    ("documents: few commands are typed by no test", case_not_typed),
    ("documents: make's targets and suites", case_targets),
)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
