#!/usr/bin/python3
"""A million random amounts, printed as answers hold them, parsed and printed by five languages, and parsed
as requests hold them: each is the same in the end.

What is printed is one JSON number a line (tests/wire/amounts.c). Each language makes a number of its own
of it and prints that in its usual way. $SEED chooses the amounts.
"""
import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402

SEED = os.environ.get("SEED") or str(random.getrandbits(32))
COUNT = 200000  # of each language
TOOL = cb.builddir() / "tests" / "wire" / "amounts"
NODE = """\
const lines = require('fs').readFileSync(0, 'utf8').trimEnd().split('\\n');
process.stdout.write(lines.map((line) => JSON.stringify(JSON.parse(line))).join('\\n') + '\\n');
"""
PHP = "while (($line = fgets(STDIN)) !== false) echo json_encode(json_decode($line)), \"\\n\";"
PYTHON = """\
import json, sys
sys.stdout.writelines(json.dumps(json.loads(line)) + "\\n" for line in sys.stdin)
"""
LANGUAGES = {
    "C": ["cat"],
    "Python": [sys.executable, "-c", PYTHON],
    "JavaScript": ["node", "-e", NODE],
    "PHP": ["php", "-n", "-r", PHP],
    "Perl": ["perl", "-ne", 'print 0 + $_, "\\n"'],
}


def case_of(number, command):
    def case():
        if not shutil.which(command[0]):
            raise cb.Skip(f"not installed: {command[0]}")
        words = [str(int(SEED) + number), str(COUNT)]
        printed = subprocess.run([TOOL, "print", *words], capture_output=True, check=True,
                                 timeout=60 * cb.PATIENCE).stdout
        passed = subprocess.run(command, input=printed, capture_output=True, check=True, timeout=60 * cb.PATIENCE)
        equal(passed.stdout.count(b"\n"), COUNT, f"lines, {passed.stderr}")
        done = subprocess.run([TOOL, "read", *words], input=passed.stdout, capture_output=True,
                              check=False, timeout=60 * cb.PATIENCE)
        check(done.returncode == 0, f"SEED={SEED}: {done.stdout}{done.stderr}")
    return case


def case_control():
    """An amount that one language changes is found."""
    printed = subprocess.run([TOOL, "print", SEED, "1000"], capture_output=True, check=True,
                             timeout=60 * cb.PATIENCE).stdout.splitlines()
    printed[500] = b"1" + printed[500]
    done = subprocess.run([TOOL, "read", SEED, "1000"], input=b"\n".join(printed) + b"\n",
                          capture_output=True, check=False, timeout=60 * cb.PATIENCE)
    equal(done.returncode, 1, f"{done.stdout}")


CASES = [(f"{COUNT} amounts through {name}", case_of(number, command))
         for number, (name, command) in enumerate(LANGUAGES.items())]
CASES += [("an amount that was changed", case_control)]


if __name__ == "__main__":
    sys.exit(cb.run_cases(CASES, seconds=60))
