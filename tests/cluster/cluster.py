#!/usr/bin/python3
"""Three hosts with PostgreSQL, Patroni and etcd, callers that repeat calls without an answer, and
faults.

    cluster.py [--seconds N] [--seed N] [FAULT...]

Without --seconds each FAULT (by default those of faults.SHORT) is injected once. With --seconds, faults are drawn by
$SEED for so long. Then: each acknowledged transfer is once in the tables of the
leader and of both standbys with its answer, `creditbridgectl check` finds nothing, repeated calls get the same answers,
and no fault left the callers without an answer for longer than its bar. Prints TAP, and the figures as a comment.

The hosts are network namespaces (namespaces.py), so that root is not needed.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "crash"), HERE]
import cb  # noqa: E402
import cell  # noqa: E402
import control  # noqa: E402
import faults  # noqa: E402
import namespaces  # noqa: E402
from cb import check  # noqa: E402
from world import World  # noqa: E402

HOST_BAR_S = 25.0  # 15 s, and what a busy machine adds


def show(figures):
    print(f"# cluster: {json.dumps(figures)}", flush=True)
    for row in figures["faults"]:
        print(f"#   {row['fault']:<24} longest time without an answer {row['stall_s']:5.2f} s (bar {row['bar_s']:.0f} s)",
              flush=True)
    print(f"# {figures['acknowledged']} acknowledged, 0 lost, 0 doubled, longest stall {figures['longest_s']:.1f} s",
          flush=True)


def judged(world):
    world.end()
    world.prove()
    figures = world.figures()
    show(figures)
    late = [row for row in figures["faults"] if row["stall_s"] > row["bar_s"]]
    check(not late, f"callers waited too long: {late}")


def case_faults(options):
    with World(options.seed) as world:
        world.begin()
        for name in options.faults or faults.SHORT:
            world.inject(faults.by_name(name))
        judged(world)


def case_campaign(options):
    chance = random.Random(options.seed)
    with World(options.seed, rate=100) as world:
        world.begin()
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            fault = chance.choice(faults.FAULTS)
            print(f"# {fault.name}", flush=True)
            world.inject(fault)
        judged(world)


def case_control(options):
    with World(options.seed, quorum=False, ledgers=1) as world:
        print(f"# without a quorum {control.run(world)} acknowledged transfers are lost", flush=True)


def case_quickstart(_options):
    """What a newcomer sees when the host of the leader dies."""
    done = subprocess.run([cb.SRCDIR / "quickstart", "cluster", "--once", "--lose-host", "--seconds", "2"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=240,
                          env={**os.environ, "CB_BUILDDIR": str(cb.builddir())})
    check(done.returncode == 0, done.stdout)
    check(re.search(r"kill: all of h[123], which takes the writes\n.* PostgreSQL on h[123] takes the writes\n", done.stdout),
          done.stdout)
    last = re.fullmatch(r"0 lost, 0 doubled, longest stall ([0-9.]+) s", done.stdout.splitlines()[-1])
    check(last and float(last[1]) <= HOST_BAR_S, done.stdout)
    print(f"# quickstart: {last[0]}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--seconds", type=float, help="of a campaign")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    parser.add_argument("faults", nargs="*", metavar="FAULT")
    options = parser.parse_args()
    for name in options.faults:
        faults.by_name(name)
    return options


def skipped(reason):
    def case():
        raise cb.Skip(reason)
    return case


CASES = (("faults", case_faults), ("control", case_control), ("quickstart", case_quickstart))


def main():
    options = arguments()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    cases = [(name, lambda case=case: case(options)) for name, case in CASES]
    if options.seconds:
        cases = [("campaign", lambda: case_campaign(options))]
    try:
        cell.need_packages()
        namespaces.enter()
    except cb.Skip as reason:
        cases = [(name, skipped(str(reason))) for name, _ in cases]
    print(f"# SEED={options.seed}", flush=True)
    return cb.run_cases(cases, seconds=int(options.seconds or 0) * 2 + 300)


if __name__ == "__main__":
    sys.exit(main())
