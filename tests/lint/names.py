"""Cases of floors.py: names that a debugger and a reader can distinguish.

A backtrace shows a function without its file, and a debugger a struct without its header.
"""
import collections
import pathlib
import re

from cb_tap import check

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
STATIC = re.compile(r"^static (?:[\w *]+[ *])?(?!__attribute__)(\w+)\([^;]*$", re.M)
STRUCT = re.compile(r"^struct (\w+) \{", re.M)
# The words of a name that says nothing, if it is the whole name of a static function, grow no longer.
FILES_MAX = 3
# A one-word name is allowed where the file is small enough to know it; their number only shrinks.
ONE_WORD_MAX = 3
# Structs of two files. The programs that define them are different ones, or the list is to shrink.
STRUCTS_TWICE = ("arguments", "game", "slot", "step", "walk")


def sources(*suffixes):
    return sorted(path for path in (SRCDIR / "src").rglob("*") if path.suffix in suffixes)


def places(pattern, *suffixes):
    """{name: files that define it}"""
    found = collections.defaultdict(set)
    for path in sources(*suffixes):
        for name in pattern.findall(path.read_text()):
            found[name].add(str(path.relative_to(SRCDIR)))
    return found


def case_statics():
    found = places(STATIC, ".c")
    often = {name: sorted(files) for name, files in found.items() if len(files) > FILES_MAX}
    check(not often, f"a static function's name is in more than {FILES_MAX} files: {often}")
    one_word = sum(len(files) for name, files in found.items() if "_" not in name and name != "main")
    check(one_word == ONE_WORD_MAX, f"{one_word} static functions have one-word names, and ONE_WORD_MAX of "
                                    f"{pathlib.Path(__file__).name} is {ONE_WORD_MAX}: name the new one by "
                                    "what it does, or lower the number")


def case_structs():
    found = places(STRUCT, ".c", ".h")
    twice = {name: sorted(files) for name, files in found.items() if len(files) > 1}
    check(set(twice) == set(STRUCTS_TWICE), f"structs of two files: {twice}; known are {sorted(STRUCTS_TWICE)}")


CASES = [
    ("names of static functions", case_statics),
    ("names of structs", case_structs),
]
