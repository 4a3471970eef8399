"""The transcripts of doc/support.md: what its commands print now, in the words of the page."""
import pathlib
import re
import shlex
import sys

from cb import check, equal
from cb_process import SRCDIR

PAGE = SRCDIR / "doc" / "support.md"
BLOCK = re.compile(r"^```transcript\n\$ (creditbridgectl (\S+)[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Names:
    """Replaces what differs between two runs by text of the same length: ids, times and durations."""

    def __init__(self):
        self.known = {}

    def number(self, match):
        return self.known.setdefault(match[0], f"{218000000000000 + 17 + 16 * len(self.known)}")

    def plain(self, text):
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "2026-11-28T02:13:07.000Z", text)
        text = re.sub(r"\bin \d+(\.\d+)? (min|s)( \d+ s)?", "in 1 min 0 s", text)
        text = re.sub(r"\b[a-z2-7]{20}\b", "6c3tvo4hbrru2i2loz7n", text)
        return re.sub(r"\b\d{15,16}\b", self.number, text)


def compare(ctl, mine, names):
    """Compares the blocks whose commands @mine(command) selects with what they print. @names stand for words of the
    page. With --write in the command line the page is written anew. Returns its chapters: {title: [block]}."""
    plain = Names()

    def block(match):
        if not mine(match[2]):
            return match[0]
        words = [names.get(word, word) for word in shlex.split(match[1])[1:]]
        shown = "\n".join(line.rstrip() for line in plain.plain(ctl(*words).stdout).splitlines())
        return f"```transcript\n$ {match[1]}\n{shown}\n```"

    text = PAGE.read_text()
    made = BLOCK.sub(block, text)
    if "--write" in sys.argv:
        pathlib.Path(PAGE).write_text(made)
    check(made == text or "--write" in sys.argv, f"doc/support.md is not what the commands print: {made}")
    return {part.split("\n")[0]: [found[2] for found in BLOCK.findall(part)]
            for part in re.split(r"\n##+ ", made)[1:]}
