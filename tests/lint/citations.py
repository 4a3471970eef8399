#!/usr/bin/python3
"""citations: a citation of doc/requirements names a heading that is there, as TAP. The suite `lint` has these
cases, too.

A citation is the document and a heading in quotes, such as: contract, "Bet states" and "Leases".
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_tap import check, equal, run_cases  # noqa: E402

REQUIREMENTS = SRCDIR / "doc" / "requirements"
CITATION = re.compile(r'\b(contract|specification),((?:(?: and|;)? "[^"\n]+")+)')
# The documents' names before they were in the tree.
OLD = re.compile(r"\b(?:api|spec|design)\.md\b")
SUFFIXES = {".c", ".h", ".def", ".py", ".js", ".sh", ".md", ".7", ".8", ".5", ".php", ".yaml", ""}
# The beginning of a comment's next line.
MARGIN = re.compile(r"\n[ \t]*(?:\*(?!/)|#|//)?[ \t]*")


def headings(name):
    return set(re.findall(r"(?m)^#+ (.*)$", (REQUIREMENTS / f"{name}.md").read_text()))


def sources():
    """The files that may cite, with their texts."""
    paths = [SRCDIR / name for name in ("HACKING", "CONTRIBUTING", "README")]
    for folder in ("src", "tests", "doc", "bench"):
        paths += sorted(path for path in (SRCDIR / folder).rglob("*") if path.is_file() and path.suffix in SUFFIXES)
    for path in paths:
        if path != pathlib.Path(__file__).resolve() and "corpus" not in path.parts:
            yield path, path.read_text(errors="replace")


def case_headings():
    known = {name: headings(name) for name in ("contract", "specification")}
    count, problems = 0, []
    for path, text in sources():
        for name, cited in CITATION.findall(MARGIN.sub(" ", text)):
            for heading in re.findall(r'"([^"]+)"', cited):
                count += 1
                if heading not in known[name]:
                    problems.append(f'{path.relative_to(SRCDIR)}: {name}, "{heading}"')
    check(count > 100, f"citations: {count}")
    equal(problems, [], "citations of headings that doc/requirements does not have")


def case_old_forms():
    equal([f"{path.relative_to(SRCDIR)}: {word}" for path, text in sources() for word in OLD.findall(text)], [],
          'citations that are not in the form: contract, "HEADING"')


def case_rules():
    """The rules that `dealer test` and `explain` print are headings of the guide. Those of `dealer test` have an
    example body and answer there."""
    page = (SRCDIR / "doc" / "integrator-guide.md").read_text()
    sections = dict(re.findall(r"(?ms)^##+ ([^\n]*)\n(.*?)(?=^## |^### |\Z)", page))
    folder = SRCDIR / "src" / "conformance"
    cases = "".join(path.read_text() for path in sorted(folder.glob("cases*.c")))
    exam = set(re.findall(r'\n\t\{"[a-z0-9-]+",\s+"([^"]+)",', cases))
    causes = set(re.findall(r'(?m)^CAUSE\(\w+, "\w+", "([^"]+)"', (SRCDIR / "src" / "explain" / "causes.def").read_text()))
    check(len(exam) > 15 and len(causes) > 2, f"rules: {exam} {causes}")
    equal(sorted((exam | causes) - set(sections)), [], "rules that are no headings of the guide")
    bare = [rule for rule in sorted(exam) if rule != "The signature" and not re.search(
        r"```rule\n.*?```\n\n```json\n", sections[rule], re.DOTALL)]
    equal(bare, [], "rules of `dealer test` without an example in the guide")
    shown = set(re.findall(r"(?ms)^### ([^\n]*)$", page.partition("\n## Rule by rule\n")[2].partition("\n## ")[0]))
    equal(sorted(shown - exam), [], "rules of the guide that `dealer test` does not ask")


CASES = (
    ("citations: headings exist", case_headings),
    ("citations: old forms", case_old_forms),
    ("citations: rules that users read", case_rules),
)

if __name__ == "__main__":
    sys.exit(run_cases(CASES))
