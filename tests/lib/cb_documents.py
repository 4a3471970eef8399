"""The command lines of the documents: README, README.Debian, the guide and the pages' EXAMPLES, as blocks
that tests type. tests/package/bare.sh takes blocks in the same way, in a shell.
"""
import re

from cb_process import SRCDIR

README = SRCDIR / "README"
README_DEBIAN = SRCDIR / "debian" / "creditbridge.README.Debian"
GUIDE = SRCDIR / "doc" / "integrator-guide.md"


def indented(text):
    """Blocks of lines that are indented by four columns at least; empty and other lines end one, lines
    of less depth than its first one, too."""
    block, depth = [], 0
    for line in [*text.splitlines(), ""]:
        own = len(line) - len(line.lstrip())
        if block and (not line.strip() or own < depth):
            yield "\n".join(block) + "\n"
            block = []
        if line.strip() and own >= 4:
            depth = depth if block else own
            block.append(line[depth:])


def examples(text):
    """The displays of a page's section EXAMPLES."""
    section = text.partition("\n.Sh EXAMPLES\n")[2].partition("\n.Sh ")[0]
    for display in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", section, re.MULTILINE | re.DOTALL):
        yield display.replace("\\e", "\\").replace("\\-", "-")


def block(path, first):
    """The block of @path, a text with indented blocks, from the line on that begins with @first."""
    for text in indented(path.read_text()):
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines):
            if line.startswith(first):
                return "".join(lines[number:])
    raise AssertionError(f"{path.name} has no block with a line that begins with {first!r}")
