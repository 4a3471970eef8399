"""circles: no two files of a folder include each other, directly or through others, but for those of circles.list.

A file is a header with the .c file of its name, or one of them. The list only shrinks: a circle that grew or is new fails,
and so does a line of the list that is more than what is left.
"""
import pathlib
import re

from cb_tap import check

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("circles.list")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+\.h)"', re.MULTILINE)


def graph():
    """Folder -> {file: those of the folder that it includes}."""
    folders = {}
    for path in sorted((SRCDIR / "src").rglob("*.[ch]")):
        folder = str(path.parent.relative_to(SRCDIR / "src"))
        below = folders.setdefault(folder, {}).setdefault(path.stem, set())
        for header in INCLUDE.findall(path.read_text()):
            at = pathlib.PurePosixPath(header)
            if str(at.parent) == folder and at.stem != path.stem:
                below.add(at.stem)
    return folders


def reached(files):
    """File -> all that it includes, also through others."""
    far = {name: set(below) for name, below in files.items()}
    grown = True
    while grown:
        grown = False
        for below in far.values():
            more = set().union(*(far.get(other, set()) for other in below)) - below
            grown |= bool(more)
            below |= more
    return far


def circles():
    """Each circle as a line of the list."""
    found = set()
    for folder, files in graph().items():
        far = reached(files)
        for name, below in far.items():
            if name in below:
                found.add(f"{folder}: " + " ".join(sorted(other for other in below if name in far.get(other, ()))))
    return found


def case_circles():
    kept = {line for line in LIST.read_text().splitlines() if line and not line.startswith("#")}
    found = circles()
    check(graph(), "there are no sources")
    check(found <= kept, "files include each other:\n" + "\n".join(sorted(found - kept)))
    check(kept <= found, f"{LIST.name} has circles that are not there; delete or shorten their lines:\n" +
          "\n".join(sorted(kept - found)))


CASES = (("no circles of files in a folder, but for those of a list that shrinks", case_circles),)
