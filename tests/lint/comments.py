#!/usr/bin/python3
"""comments: comments, docstrings and the messages of tests name components and use the standard words, as TAP.
The suite `lint` has these cases, too.

The words are those of words.py, which checks documents and the messages of src. There is no list of exceptions.
"""
import pathlib
import re
import sys

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_tap import check, equal, run_cases  # noqa: E402
from words import ALLOWED, WORDS  # noqa: E402

# A string comes first in each pattern, because a string may have the signs of a comment.
STRINGS = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
SLASHES = re.compile(STRINGS + r"|(/\*.*?\*/|(?<!:)//[^\n]*)", re.DOTALL)
TEMPLATES = re.compile(STRINGS + r"|`(?:[^`\\]|\\.)*`|(/\*.*?\*/|(?<![:\\])//[^\n]*)", re.DOTALL)
PHP = re.compile(STRINGS + r"|(/\*.*?\*/|(?<!:)//[^\n]*|^[ \t]*#(?!\[)[^\n]*)", re.DOTALL | re.MULTILINE)
DASHES = re.compile(STRINGS + r"|(--[^\n]*)")
# A docstring is a triple-quoted string that begins its line.
TRIPLE = r'"""(?:[^"\\]|\\.|"(?!""))*"""'
PYTHON = re.compile(r"(^[ \t]*" + TRIPLE + r"|#[^\n]*)|" + TRIPLE + "|" + STRINGS, re.DOTALL | re.MULTILINE)
HASHES = re.compile(r"(?:^|(?<=\s))(#[^\n]*)", re.MULTILINE)
PATTERNS = {
    **dict.fromkeys((".c", ".h", ".def", ".css"), SLASHES),
    **dict.fromkeys((".js", ".mjs", ".ts", ".mts"), TEMPLATES),
    **dict.fromkeys((".lua", ".sql"), DASHES),
    **dict.fromkeys(("", ".sh", ".inc", ".am", ".ac", ".awk", ".pl", ".list", ".yml", ".supp", ".service", ".socket",
                     ".timer", ".config", ".postinst", ".preinst", ".prerm", ".postrm", ".creditbridge-ledger"), HASHES),
    ".php": PHP, ".py": PYTHON,
}
FOLDERS = ("src", "tests", "bench", "tools", "debian", "examples", "contrib", "sdk", "fcgi-conf", "doc/guide")
TOP = ("Makefile.am", "configure.ac", "autogen.sh", "quickstart")
# words.py checks each README; a licence is not ours.
NOT_HERE = ("README", "LICENSE")
# What a comment's line begins with, and the end of the last one.
MARGIN = re.compile(r"^[ \t]*(?:\"\"\"|/\*+|\*+(?!/)|//+|#+|--+)?[ \t]*|[ \t]*\*/$", re.MULTILINE)
# In a comment the words of ALLOWED may be on two lines, and these are names.
MAY = (re.compile(ALLOWED.pattern.replace(" ", r"\s+"), re.IGNORECASE),
       re.compile(r"@\w+|\b\w+\(\)|\bwho\.\w+|`[^`\n]*`"))
# In the strings of tests a single word is data. Of the words only these are never the right one there.
MESSAGE_WORDS = re.compile(r"\b(tells?|telling|told|nobody|whoever|somebody|anybody|whom)\b", re.IGNORECASE)
# Words that a message has as a name, and the answers and texts of other programs.
MESSAGE_NAMES = re.compile(r"user(?:-data nor)? nobody|www-data nor nobody|to nobody|-reuid nobody|\"nobody: |"
                           r"name files told|of whom|anybody may read it")


def pattern_of(path, text):
    return PYTHON if text.startswith("#!/usr/bin/python3") else PATTERNS[path.suffix]


def comments(path, text):
    """[(line, text)] of a file's comments, without margins. Those on adjacent lines are one."""
    joined, end = [], -1
    for match in pattern_of(path, text).finditer(text):
        if not match[1]:
            continue
        line = text.count("\n", 0, match.start(1)) + 1
        if line == end + 1:
            joined[-1] = (joined[-1][0], joined[-1][1] + "\n" + match[1])
        else:
            joined.append((line, match[1]))
        end = line + match[1].count("\n")
    return [(line, MARGIN.sub("", comment)) for line, comment in joined]


def messages(path, text):
    """[(line, text)] of the strings of several words, without the expressions in them."""
    return [(text.count("\n", 0, match.start()) + 1, re.sub(r"\{[^{}]*\}", "{}", match[0])) for match in pattern_of(path, text).finditer(text)
            if not match.lastindex and " " in match[0]]


def files(*folders):
    for folder in folders:
        for path in sorted((SRCDIR / folder).rglob("*")):
            if path.is_file() and "corpus" not in path.parts and path.suffix in PATTERNS and \
                    path.name not in NOT_HERE:
                yield path


def refused(text):
    """[(line in the text, word)]"""
    for pattern in MAY:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)
    return [(text.count("\n", 0, match.start()), match[0]) for match in WORDS.finditer(text)]


def case_comments():
    found, kinds = [], set()
    for path in (*(SRCDIR / name for name in TOP), *files(*FOLDERS)):
        text = path.read_text()
        kinds.add(path.suffix)
        for line, comment in comments(path, text) if WORDS.search(text) else ():
            found += [f"{path.relative_to(SRCDIR)}:{line + below}: {word}" for below, word in refused(comment)]
    check(kinds >= {".c", ".h", ".py", ".sh", ".js", ".php", ".sql", ""}, f"kinds of files: {kinds}")
    equal(found, [], "comments that name no component, by CONTRIBUTING")


def case_messages():
    found, count = [], 0
    for path in files("tests", "bench"):
        if path == pathlib.Path(__file__).resolve() or path.name == "words.py":
            continue
        text = path.read_text()
        count += text.count('"')
        for line, message in messages(path, text) if MESSAGE_WORDS.search(text) else ():
            found += [f"{path.relative_to(SRCDIR)}:{line}: {word}"
                      for word in MESSAGE_WORDS.findall(MESSAGE_NAMES.sub("_", message))]
    check(count > 10000, f"quotes: {count}")
    equal(found, [], "messages of tests that name no component")


PLANTED = (
    ("a.c", 'const char *who = "/* who */"; /* nobody\n * waits */\n', [(1, "nobody")]),
    ("a.c", "// a slot\n/* of @who, who.role and who() is\n * alone */\n", [(3, "alone")]),
    ("a.py", '"""a.\n\nWhoever calls."""\nwho = "# nobody"  # told\n', [(3, "Whoever"), (4, "told")]),
    ("a.sh", "#!/bin/sh\necho \"${1#who}\" # for whom\n", [(2, "whom")]),
    ("a.js", "const url = 'http://who', who = `// he`; // behind him\n/** tells */\n",
     [(1, "behind"), (1, "him"), (2, "tells")]),
    ("a.php", "<?php\n#[Told]\n$url = 'http://who'; // his\n# himself\n", [(3, "his"), (4, "himself")]),
    ("a.sql", "SELECT '-- who'; -- somebody\n", [(1, "somebody")]),
    ("a.yml", "who: 1 # anybody behind a\n  # web server\n", [(1, "anybody")]),
    ("run", "#!/usr/bin/python3\n# whom\n", [(2, "whom")]),
)


def case_planted():
    """The words are found in each kind of file, and not in its code, strings and names."""
    for name, text, wanted in PLANTED:
        path = pathlib.Path(name)
        equal([(line + below, word) for line, comment in comments(path, text) for below, word in refused(comment)],
              wanted, f"{name}: {text}")


CASES = (
    ("comments name components", case_comments),
    ("messages of tests name components", case_messages),
    ("words in each kind of comment are found", case_planted),
)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
