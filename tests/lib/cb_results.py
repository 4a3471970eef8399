"""Keeps what a campaign printed as JSON: with $CB_RESULTS, run_cases() writes SUITE.json into that folder.

The file has the cases with their outcomes and seconds, and the report: each comment line of TAP, in which
campaigns print their figures. It is written again after each case, so that an ended run leaves what it had.
"""
import json
import os
import pathlib
import sys
import time


class Results:
    """Copies the comment lines of standard output. A context manager."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / f"{pathlib.Path(sys.argv[0]).stem}.json"
        self.begun = time.time()
        self.out, self.rest = sys.stdout, ""
        self.cases, self.report = [], []

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        sys.stdout = self
        return self

    def __exit__(self, *_):
        sys.stdout = self.out
        self.save(ended=True)

    def write(self, text):
        *lines, self.rest = (self.rest + text).split("\n")
        self.report += [line.removeprefix("# ") for line in lines if line.startswith("#")]
        return self.out.write(text)

    def flush(self):
        self.out.flush()

    def __getattr__(self, name):
        return getattr(self.out, name)

    def case(self, name, outcome, seconds):
        self.cases.append({"name": name, "outcome": outcome, "seconds": round(seconds, 1)})
        self.save(ended=False)

    def save(self, ended):
        text = json.dumps({"command": sys.argv, "begun": round(self.begun),
                           "seconds": round(time.time() - self.begun, 1), "ended": ended,
                           "seed": os.environ.get("SEED"), "cases": self.cases, "report": self.report},
                          indent=1)
        self.path.write_text(text + "\n", encoding="utf-8")


class NoResults:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def case(self, *_):
        pass


def results():
    # Suites inside a suite keep none of their own.
    folder = os.environ.pop("CB_RESULTS", "")
    return Results(folder) if folder else NoResults()
