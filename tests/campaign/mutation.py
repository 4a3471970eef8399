#!/usr/bin/python3
"""Removes each write of the ledger's commands in turn: the ledger's tests must fail each time.

    mutation.py [--list] [--only TEXT]... [--from N]

A write is a call of ws_put(), ws_append(), ws_drop() or another function of WRITERS, in the files of FILES.
It is a statement of its own, its result is assigned, or it stands in an expression, such as a condition. The
sources are copied into a temporary folder, and each call is put into a condition there: the environment
variable REMOVED_WRITE has the number of the call that is left out. Its result is then 0, or true in an
expression, where the code goes on as if the write had succeeded. This copy is built once.
tests/ledger/test_ledger then runs without each write in turn, until its first failure, or to its end. A write without which every test passes
is a failure of this campaign, unless KEPT names it with the reason. --list prints the writes; --only runs
those whose FILE:LINE or text has TEXT, or one of several texts. Prints TAP; a case is a write.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_tap import check, comment, run_cases  # noqa: E402

FILES = ("commands/callbacks/callbacks.c", "commands/transfers/transfer_inquiry.c",
         "commands/transfers/transfers.c", "commands/wagers/bets.c", "commands/wagers/cancels.c",
         "commands/wagers/correction_change.c", "commands/wagers/corrections.c",
         "commands/wagers/operator_corrections.c", "commands/wagers/result_batches.c",
         "commands/wagers/rounds.c", "outbox/hold.c", "outbox/outbox.c", "outbox/settle.c", "rows/audit.c",
         "rows/counters.c", "rows/dealer_days.c", "rows/life.c", "rows/player_stats.c", "rows/post.c",
         "rows/round_bet.c")
# How the names of functions begin that write, and of those that begin so and do not.
WRITERS = ("audit_write", "outbox_(?:admit|begin|end|hold|open|write)", "player_stats_", "post_",
           "ws_append", "ws_drop", "ws_put")
READERS = ("outbox_hold_old", "player_stats_want", "post_describe", "post_want")
CALL = rf"(?!{'|'.join(READERS)})(?:{'|'.join(WRITERS)})\w*\("
STATEMENT = re.compile(rf"^\t+([\w >-]+ =\s+!?)?({CALL})", re.MULTILINE)
# A call anywhere in a function, with no comment before it in its line.
ANYWHERE = re.compile(rf"^\t(?:(?!/\*).)*?(?<!\w)({CALL})", re.MULTILINE)
# What ends the text before a statement: another statement, a block, a condition or a comment.
BEFORE_STATEMENT = re.compile(r"(?:[;{})]|\belse|\*/)\Z")
PROGRAM = "tests/ledger/test_ledger"
RUN_S = 300
IS_REMOVED = """static int is_removed(int number)
{
	extern char *getenv(const char *);
	extern int atoi(const char *);
	const char *removed = getenv("REMOVED_WRITE");

	return removed && atoi(removed) == number;
}
"""
# FILE and text of a statement without which nothing changes that a caller or the proof can see.
KEPT = {}


ON_ITS_OWN, ASSIGNED, IN_EXPRESSION = range(3)


class Statement:
    def __init__(self, file, text, begin, end, place):
        self.file = file
        self.line = text.count("\n", 0, begin) + 1
        self.begin, self.end, self.place = begin, end, place
        self.text = " ".join(text[begin:end].split())

    def name(self):
        return f"{self.file}:{self.line} {self.text[:70]}"

    def switched(self, number, call):
        """The statement, which does nothing if @number is removed."""
        if self.place == IN_EXPRESSION:
            return f"(is_removed({number}) ? 1 : {call})"
        if self.place == ASSIGNED:
            return f"(is_removed({number}) ? 0 : {call.rstrip(';')});"
        return f"{{ if (!is_removed({number})) {call} }}"


def end_of(text, begin):
    """Returns the position after the call that begins at @begin."""
    depth = 0
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if text[at] == ")" and depth == 0:
            return at + 1
    raise ValueError(f"a call without an end: {text[begin:begin + 70]}")


def statements_of(file, text):
    """{begin: statement}: a call in an expression is a statement here, too."""
    found = {}
    for match in STATEMENT.finditer(text):
        begin, end = match.start(2), end_of(text, match.start(2))
        if text[end] == ";" and BEFORE_STATEMENT.search(text[:match.start()].rstrip()):
            found[begin] = Statement(file, text, begin, end + 1, ASSIGNED if match[1] else ON_ITS_OWN)
    for match in ANYWHERE.finditer(text):
        begin = match.start(1)
        if begin not in found:
            found[begin] = Statement(file, text, begin, end_of(text, begin), IN_EXPRESSION)
    return found


def statements():
    found = []
    for file in FILES:
        text = (SRCDIR / "src" / "ledger" / file).read_text(encoding="utf-8")
        of_file = statements_of(file, text)
        found += [of_file[begin] for begin in sorted(of_file)]
    return found


class Copy:
    """The sources and a build in a temporary folder."""

    def __init__(self, folder):
        self.top = pathlib.Path(folder) / "creditbridge"
        self.build = self.top / "build"

    def call(self, *command):
        done = subprocess.run(command, cwd=self.build, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, errors="replace", check=False)
        check(done.returncode == 0, f"{' '.join(map(str, command))}:\n{done.stdout[-2000:]}")

    def switch(self, all_statements):
        """Puts each statement into a condition. The last one of a file comes first: places stay right."""
        for number, each in reversed(list(enumerate(all_statements))):
            path = self.top / "src" / "ledger" / each.file
            text = path.read_text(encoding="utf-8")
            switched = each.switched(number, text[each.begin:each.end])
            path.write_text(text[:each.begin] + switched + text[each.end:], encoding="utf-8")
        for file in FILES:
            path = self.top / "src" / "ledger" / file
            path.write_text(IS_REMOVED + path.read_text(encoding="utf-8"), encoding="utf-8")

    def begin(self):
        shutil.copytree(SRCDIR, self.top, ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
        self.switch(statements())
        self.build.mkdir()
        self.call("../configure", "--quiet", "CFLAGS=-O0 -w")
        self.call("make", "-s", f"-j{os.cpu_count()}", PROGRAM)
        failure = self.failure_without(-1)
        check(not failure, f"the tests fail without a change: {failure}")

    def failure_without(self, number):
        """The name of the first test that fails without the statement @number; None: all passed."""
        # A test of every store runs on the one in memory: the writes are the same.
        environ = os.environ | {"REMOVED_WRITE": str(number), "CB_LEDGER_STORES": "1"}
        with subprocess.Popen(["timeout", str(RUN_S), self.build / PROGRAM], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", env=environ) as process:
            for line in process.stdout:
                if line.startswith("not ok"):
                    process.terminate()
                    return line.strip().removeprefix("not ok ").replace(f"{self.top}/", "")
            process.wait()
        return None if process.returncode == 0 else f"exit code {process.returncode}"


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--list", action="store_true")
    options.add_argument("--only", action="append", metavar="TEXT")
    options.add_argument("--from", dest="begin", type=int, default=1, metavar="N")
    options = options.parse_args()
    chosen = [(number, each) for number, each in enumerate(statements())
              if not options.only or any(text in each.name() for text in options.only)][options.begin - 1:]
    if options.list:
        print("\n".join(each.name() for _, each in chosen))
        return 0
    if not chosen:
        sys.exit(f"no statement has {' or '.join(options.only)} in its name")
    with tempfile.TemporaryDirectory(prefix="creditbridge-mutation.") as folder:
        copy = Copy(folder)

        def case_of(numbered):
            number, statement = numbered

            def case():
                failure = copy.failure_without(number)
                kept = KEPT.get((statement.file, statement.text))
                check(failure or kept, f"every test passes without {statement.name()}")
                check(not (failure and kept), f"KEPT names it, and a test fails: {failure}")
                comment(failure or f"kept: {kept}")
            return statement.name(), case

        return run_cases([("the copy is built", copy.begin), *map(case_of, chosen)], seconds=900)


if __name__ == "__main__":
    sys.exit(main())
