"""A case of floors.py: the C files have the format of .clang-format (`make format` gives it to them)."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

from cb_tap import Skip, check

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
# Other versions break some lines elsewhere. This is the version of Debian 12.
VERSION = "14"
AT_ONCE = 60


def c_files():
    return [str(path) for folder in ("src", "tests", "bench", "examples")
            for path in sorted((SRCDIR / folder).rglob("*.[ch]"))]


def misformatted(files):
    done = subprocess.run(["clang-format", "--dry-run", "--ferror-limit=1", *files], cwd=SRCDIR,
                          capture_output=True, text=True, timeout=120, check=False)
    return sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", done.stderr, re.M)))


def case_format():
    if not shutil.which("clang-format"):
        raise Skip("clang-format is not installed")
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, timeout=20,
                             check=True).stdout
    if f"version {VERSION}." not in version:
        raise Skip(f"clang-format {VERSION} is not installed")
    files = c_files()
    parts = [files[at:at + AT_ONCE] for at in range(0, len(files), AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = sum(pool.map(misformatted, parts), [])
    check(not found, f"not in the format of .clang-format, `make format` mends it: {found}")


CASES = [("format of C files", case_format)]
