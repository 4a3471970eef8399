#!/usr/bin/python3
"""fuzz.py [--campaign] [TARGET...]: libFuzzer on what comes from outside, under ASan and UBSan.

Each tests/fuzz/fuzz_TARGET.c says what must hold of it. The targets are built with clang in
$CB_BUILDDIR/sanitized and begin with the inputs of tests/fuzz/corpus/TARGET. From the environment:
RUNS executions of each (200000; of a campaign 10000000; of a slow target a share of these), but no more than
TARGET_SECONDS of each (15; of a campaign as many as it takes), SEED (any; it is printed), TARGET, names of targets.
An input that breaks a target is kept in $CB_BUILDDIR/fuzz/found: mend what it found and
add it to the corpus.

A campaign runs in slices, keeps the inputs that it finds in $CB_BUILDDIR/fuzz/corpus, and goes on
where it was ended, as long as the seed is the same (without SEED: the one that it has) and so is the
target: what was executed of another build counts for nothing.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_tap import check, comment, run_cases  # noqa: E402

# Target -> the longest input that is made.
TARGETS = {
    "import": 49152,
    "settings": 2048,
    "body": 2048,
    "fastcgi": 4096,
    "frame": 4096,
    "hello": 512,
    "jobs": 1024,
    "ping": 4096,
    "record": 2048,
    "row_line": 4096,
    "segment": 4096,
    "dealer_answer": 1024,
    "trace": 2048,
    "console": 2048,
    "amount": 64,
    "keys": 1024,
    "signature": 256,
}
# A run of these takes so many times as long as one of the others: they get as many runs less. Leaks are
# looked for once, at the end, for libFuzzer looks by running most inputs again.
SLOW = {"import": 20, "segment": 4}
AT_ONCE = 2
SLICE = 250000
TOLD = re.compile(r"it must be that|runtime error:|^SUMMARY:|ERROR: ", re.MULTILINE)
DONE = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
COVERAGE = re.compile(r"cov: (\d+)")

top_builddir = pathlib.Path(os.environ.get("CB_BUILDDIR", SRCDIR / "build")).resolve()
builddir = top_builddir / "fuzz"


def build():
    builddir.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([SRCDIR / "tests" / "full" / "sanitized.sh", "fuzz-programs"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env=dict(os.environ, CB_SRCDIR=str(SRCDIR), CB_BUILDDIR=str(top_builddir)))
    check(done.returncode == 0, f"the build:\n{done.stdout[-3000:]}")


def addresses_fix():
    """Begins again with no random addresses, as tests/full/lib.sh does and why."""
    fixed = ["setarch", "-R"]
    if "CB_ADDRESSES_FIXED" not in os.environ and subprocess.run(
            [*fixed, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ["CB_ADDRESSES_FIXED"] = "1"
        os.execvp(fixed[0], [*fixed, sys.executable, *sys.argv])


def inputs_of(target):
    return SRCDIR / "tests" / "fuzz" / "corpus" / target


def program_of(target):
    return top_builddir / "sanitized" / "tests" / "fuzz" / f"fuzz_{target}"


class Broken(Exception):
    """A target died."""


def execute(target, runs, seconds, seed, keep):
    """Runs it once, for up to @seconds (0: as long as it takes); new inputs go to the directory @keep. Returns
    what it reached."""
    found = builddir / "found"
    found.mkdir(exist_ok=True)
    command = [program_of(target), f"-runs={runs}", f"-seed={seed}",
               f"-max_len={TARGETS[target]}", f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=2048",
               f"-detect_leaks={int(target not in SLOW)}", "-print_final_stats=1",
               f"-artifact_prefix={found}/{target}-", keep, inputs_of(target)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        printed = [line for line in done.stdout.splitlines() if TOLD.search(line)]
        raise Broken("\n".join(printed[:10] + done.stdout.splitlines()[-6:]) +
                     f"\n{target}, seed {seed}, ended with code {done.returncode}")
    executed = int(DONE.search(done.stdout).group(1))
    # Within the time, it has at least executed each input that there was.
    least = len(list(inputs_of(target).iterdir())) if seconds else runs
    check(executed >= least, f"{target}: {executed} executions of {least}")
    return {"executed": executed, "reached": int(COVERAGE.findall(done.stdout)[-1])}


def once(target, runs, seed):
    seconds = int(os.environ.get("TARGET_SECONDS") or 15)
    with tempfile.TemporaryDirectory(prefix="creditbridge-fuzz.") as keep:
        return execute(target, runs, seconds, seed, keep)


def campaign(target, runs, seed):
    """As once(), slice by slice; what was done is in a file."""
    keep = builddir / "corpus" / target
    state = builddir / "corpus" / f"{target}.json"
    keep.mkdir(parents=True, exist_ok=True)
    so_far = json.loads(state.read_text()) if state.exists() else {}
    if seed is None:
        seed = so_far.get("seed") or random.randrange(1, 1 << 30)
    program = hashlib.sha256(program_of(target).read_bytes()).hexdigest()
    if (so_far.get("seed"), so_far.get("program")) != (seed, program):
        so_far = {"seed": seed, "program": program, "executed": 0, "reached": 0, "slices": 0}
    while so_far["executed"] < runs:
        slice_runs = min(SLICE, runs - so_far["executed"])
        figures = execute(target, slice_runs, 0, seed + so_far["slices"], keep)
        so_far |= {"executed": so_far["executed"] + slice_runs, "reached": figures["reached"],
                   "slices": so_far["slices"] + 1}
        state.with_suffix(".new").write_text(json.dumps(so_far))
        state.with_suffix(".new").replace(state)
    return dict(so_far, inputs=len(list(keep.iterdir())))


def main():
    addresses_fix()
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--campaign", action="store_true")
    options.add_argument("target", nargs="*")
    options = options.parse_args()
    names = options.target or os.environ.get("TARGET", "").split() or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        sys.exit(f"no such target: {', '.join(sorted(unknown))}")
    runs = int(os.environ.get("RUNS") or (10000000 if options.campaign else 200000))
    seed = int(os.environ["SEED"]) if os.environ.get("SEED") else None
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
    results = {}

    def case_build():
        check(shutil.which("clang"), "there is no clang")
        build()
        for name in names:
            # A seed of 0 would be one of libFuzzer's own choice.
            its = seed if options.campaign else seed or random.randrange(1, 1 << 30)
            results[name] = (its, pool.submit(campaign if options.campaign else once, name,
                                              max(runs // SLOW.get(name, 1), 1), its))

    def case_of(name):
        def case():
            check(name in results, "it was not built")
            check(any(inputs_of(name).iterdir()), "it has no corpus")
            its, future = results[name]
            figures = future.result()
            comment(f"{name}: {figures['executed']} executions, seed {figures.get('seed', its)}, "
                    f"{figures['reached']} places reached" +
                    (f", {figures['inputs']} inputs kept" if "inputs" in figures else ""))
        return case

    cases = [("the targets are built", case_build)]
    cases += [(f"{name}: what must hold does", case_of(name)) for name in names]
    # No deadline of its own: tests/run has one, a campaign has none.
    return run_cases(cases, seconds=0, unwinds=False)


if __name__ == "__main__":
    sys.exit(main())
