#!/usr/bin/python3
"""coverage.py SRCDIR COVERAGE.json: the figures of coverage.sh, by folder.

Reads what gcovr --json wrote. Exit 1: less than 90 % of the lines or 80 % of the branches were
reached, or a branch of the files where credit moves was not, that coverage.list does not name.
coverage.list has two kinds of lines, in which a blank separates the words and # begins a comment:

    leave-out FILE REASON               FILE counts for nothing
    branch FILE "SOURCE LINE" REASON    its branches cannot be reached by a test, or need not be;
                                        of one such line: as many as there are have an entry each
"""
import collections
import json
import pathlib
import re
import sys

LINES_MIN = 90.0
BRANCHES_MIN = 80.0
# Money, transfers, bets and signatures: every branch, less those that the list explains.
STRICT = ("src/domain/money.c", "src/domain/movement.c", "src/domain/wager.c",
          "src/ledger/rows/post.c", "src/ledger/commands/transfers/transfers.c", "src/ledger/commands/wagers/bets.c",
          "src/ledger/commands/wagers/rounds.c", "src/wire/signature.c")
BRANCH = re.compile(r'branch (\S+) "(.*)" (.+)')
LEAVE_OUT = re.compile(r"leave-out (\S+) (.+)")


def list_read(path):
    """{file: reason}, {(file, source line): [reason]}. Raises ValueError for a line of neither kind."""
    left_out, branches = {}, collections.defaultdict(list)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := LEAVE_OUT.fullmatch(line):
            left_out[match.group(1)] = match.group(2)
        elif match := BRANCH.fullmatch(line):
            branches[match.group(1), match.group(2)].append(match.group(3))
        else:
            raise ValueError(f"{path}:{number}: neither of the two kinds of lines")
    return left_out, branches


class Sum:
    def __init__(self):
        self.lines = self.lines_reached = self.branches = self.branches_reached = 0

    def add(self, line):
        self.lines += 1
        self.lines_reached += line["count"] > 0
        self.branches += len(line["branches"])
        self.branches_reached += sum(branch["count"] > 0 for branch in line["branches"])

    def shares(self):
        return (100 * self.lines_reached / max(self.lines, 1),
                100 * self.branches_reached / max(self.branches, 1))

    def __str__(self):
        lines, branches = self.shares()
        return (f"{lines:5.1f} % of {self.lines:6} lines, "
                f"{branches:5.1f} % of {self.branches:6} branches")


def main():
    source = pathlib.Path(sys.argv[1])
    try:
        left_out, listed = list_read(source / "tests" / "coverage" / "coverage.list")
    except ValueError as error:
        sys.exit(error)
    folders, files, total = collections.defaultdict(Sum), collections.defaultdict(Sum), Sum()
    missing, used = [], collections.Counter()
    for entry in json.loads(pathlib.Path(sys.argv[2]).read_text())["files"]:
        name = entry["file"]
        if name in left_out:
            print(f"left out: {name}: {left_out[name]}")
            continue
        text = (source / name).read_text().splitlines()
        for line in entry["lines"]:
            if line.get("gcovr/noncode"):
                continue
            for one in (folders[name.rsplit("/", 1)[0]], files[name], total):
                one.add(line)
            reached = [branch["count"] > 0 for branch in line["branches"]]
            if name in STRICT and not all(reached):
                key = (name, text[line["line_number"] - 1].strip())
                used[key] += 1
                if used[key] > len(listed.get(key, ())):
                    missing.append(f"{name}:{line['line_number']}: "
                                   f"{reached.count(False)} of {len(reached)}: {key[1]}")
    for name, one in sorted(folders.items()):
        print(f"{name:24} {one}")
    print(f"{'in all':24} {total}")
    print("least lines, and least branches, of files with 20 and more of them:")
    for number, of in enumerate(("lines", "branches")):
        some = [(one.shares()[number], name) for name, one in files.items()
                if getattr(one, of) >= 20]
        for share, name in sorted(some)[:8]:
            print(f"  {share:5.1f} % of {getattr(files[name], of):5} {of} of {name}")
    for name in STRICT:
        print(f"{name:24} {files[name]}")
        if not files[name].lines:
            missing.append(f"{name}: none of it was measured")
    for key, reasons in sorted(listed.items()):
        for number, reason in enumerate(reasons):
            print(f"not reached, as listed: {key[0]}: {key[1]}: {reason}" if number < used[key] else
                  f"listed, and reached or gone: {key[0]}: {key[1]}")
    for line in missing:
        print(f"not reached: {line}")
    lines, branches = total.shares()
    for what, share, least in (("lines", lines, LINES_MIN), ("branches", branches, BRANCHES_MIN)):
        if share < least:
            print(f"{share:.1f} % of the {what} were reached: at least {least:.0f} % must be")
    return 1 if missing or lines < LINES_MIN or branches < BRANCHES_MIN else 0


if __name__ == "__main__":
    sys.exit(main())
