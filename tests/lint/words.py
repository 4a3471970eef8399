#!/usr/bin/python3
"""words: documents and messages name components and use the standard words, as TAP. The suite `manual` has
these cases, too.

A message here is a literal of src/ outside of comments. words.list holds how many of the words a document
still has; a number in it only becomes smaller.
"""
import pathlib
import re
import sys

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_tap import check, equal, run_cases  # noqa: E402

LIST = SRCDIR / "tests" / "lint" / "words.list"
# CONTRIBUTING, Style: a person for a component, and words that mean something else than in the field.
WORDS = re.compile(r"\b(tells?|telling|told|nobody|whoever|somebody|anybody|who|whom|he|his|him|himself|"
                   r"alone|behind)\b", re.IGNORECASE)
# What these words may mean: a place in front of which something else is, a clock that is slow, the names of things.
ALLOWED = re.compile(r"stand-alone|behind (a|the|your) (\w+ )?(web server|proxy|server|time)|"
                     r"\"(who|nobody|he|tell|behind|alone)\"|behind (TLS|lighttpd|nginx|Apache|sudo)|clock[ _]behind|leaves? nothing behind|exam-nobody", re.IGNORECASE)
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# A message that a failing function is given.
FAILURE = re.compile(r'\b(?:ctl_fail\(\w+(?:->\w+)*, \w+,\s*"\w+",\s*|ctl_usage\([^"()]*,\s*|refuse\(&?\w+,\s*|'
                     r'(?:backup|restore)_fail\((?:&?\w+(?:->\w+)*, )+\s*|doctor_(?:fail|warn|remedy)\(\w+,\s*)'
                     r'((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
# First words that are names.
NAMES = re.compile(r"[A-Z]{2,}|'|[A-Z]\w+=")


def documents():
    yield from (SRCDIR / name for name in (
        "README", "HACKING", "CONTRIBUTING", "quickstart", "debian/creditbridge.README.Debian",
        "debian/creditbridge.templates", "debian/creditbridge.NEWS"))
    for pattern in ("doc/*.[578]", "doc/*.md", "doc/internals/*.md", "doc/requirements/*.md", "doc/*.yaml",
                    "fcgi-conf/*.conf*", "examples/**/*.*", "sdk/**/*.*", "contrib/**/*.*", "src/**/README",
                    "tools/**/README"):
        yield from sorted(SRCDIR.glob(pattern))


def found(text):
    """The words of @text that are refused, with the lines on which they are."""
    text = ALLOWED.sub(lambda match: re.sub(r"\S", "_", match[0]), re.sub(r"\n(?=\S)", " ", text))
    return [match[0] for match in WORDS.finditer(text)]


def messages():
    for path in sorted((SRCDIR / "src").rglob("*")):
        if path.suffix in (".c", ".h", ".def"):
            yield path.relative_to(SRCDIR), COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]),
                                                        path.read_text())


def joined(literals):
    return "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literals))


def case_documents():
    """A document has no more of the words than words.list says, and the list no more than there are."""
    allowed = dict(line.split() for line in LIST.read_text().splitlines() if line and line[0] != "#")
    for path in documents():
        name = str(path.relative_to(SRCDIR))
        words = found(path.read_text())
        wanted = int(allowed.pop(name, 0))
        check(len(words) <= wanted, f"{name}: name the component, by CONTRIBUTING; {wanted} were left, now: {words}")
        equal(len(words), wanted, f"{name}: lower its number in {LIST.name}")
    equal(allowed, {}, f"documents of {LIST.name} that are not there")


def case_messages():
    problems = [f"{path}: {word}: {joined(match[0])}" for path, text in messages()
                for match in LITERALS.finditer(text) for word in found(joined(match[0]))]
    # The literal of a single word is that of a slow clock.
    problems = [line for line in problems if line.rpartition(": ")[2] != "behind"]
    equal(problems, [], "messages that name no component")


def case_form():
    """A message: lower case, no full stop at its end, and not only the words of errno."""
    problems, count = [], 0
    for path, text in messages():
        for match in FAILURE.finditer(text):
            message = joined(match[1])
            # Between them stands a macro, such as that of a format.
            if not message or text[match.end() - 1] not in '"' and text[match.end()] not in ",)":
                continue
            count += 1
            if message[0].isupper() and not NAMES.match(message):
                problems.append(f"{path}: begins with a capital: {message}")
            if message.endswith((".", "!")) and not message.endswith("..."):
                problems.append(f"{path}: ends with a full stop: {message}")
    check(count > 200, f"messages: {count}")
    equal(problems, [], "the form of messages")


CASES = (
    ("words: documents name components", case_documents),
    ("words: messages name components", case_messages),
    ("words: the form of messages", case_form),
)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
