"""Extracts the command lines of the documents as blocks that tests run: README, README.Debian,
the guide and the EXAMPLES of the manual pages. tests/package/bare.sh extracts blocks in the same
way in a shell."""
import re

from cb_process import SRCDIR

README = SRCDIR / "README"
README_DEBIAN = SRCDIR / "debian" / "creditbridge.README.Debian"
GUIDE = SRCDIR / "doc" / "integrator-guide.md"


def indented(text):
    """Returns blocks of lines that are indented by at least four columns. An empty line or a
    line with less indentation than the block's first line ends a block."""
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
    """Returns the displays in the section EXAMPLES of a page."""
    section = text.partition("\n.Sh EXAMPLES\n")[2].partition("\n.Sh ")[0]
    for display in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", section, re.MULTILINE | re.DOTALL):
        yield display.replace("\\e", "\\").replace("\\-", "-")


def block(path, first):
    """Returns the block of @path that contains a line beginning with @first, from that line on.
    @path is a text with indented blocks."""
    for text in indented(path.read_text()):
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines):
            if line.startswith(first):
                return "".join(lines[number:])
    raise AssertionError(f"{path.name} has no block with a line that begins with {first!r}")
