#!/usr/bin/python3
"""Three hosts with PostgreSQL, Patroni and etcd, callers that repeat calls without an answer, and
faults.

    cluster.py [--seconds N] [--seed N] [FAULT...]

Without --seconds each FAULT, or FIRST+SECOND at once, is injected once; by default a part of them, drawn by $SEED
(faults.SHORT), and a control. With --seconds all are injected in turn, and then by chance, with pairs of them
between, for so long; both controls follow. Then: each acknowledged transfer is once in the tables of the
leader and of both standbys with its answer, `creditbridgectl check` finds nothing, repeated calls get the same answers,
one order of the calls explains all answers (order.py), each bet ended as its game server was answered, at the dealer
and here (tests/crash/judge.py), and no fault left the callers without an answer for longer than its bar. Prints TAP, and
the figures as a comment.

The hosts are network namespaces (namespaces.py), so that root is not needed.
"""
import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "crash"), os.path.join(HERE, "..", "campaign"), HERE]
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
        print(f"#   {row['fault']:<44} longest time without an answer {row['stall_s']:5.2f} s (bar {row['bar_s']:.0f} s)",
              flush=True)
    print(f"# {figures['ordered']} calls in one order; bets: {json.dumps(figures['bets'])}", flush=True)
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
    with World(options.seed, bets=True) as world:
        world.begin()
        for name in options.faults or [world.chance.choice(names) for names in faults.SHORT]:
            world.inject(faults.by_name(name))
        judged(world)


def planned(chance):
    """All faults in turn, and then by chance, without an end. Each second one is followed by a pair."""
    by_chance = (chance.choice(faults.FAULTS) for _ in itertools.count())
    for number, fault in enumerate(itertools.chain(faults.FAULTS, by_chance)):
        yield fault
        if number % 2:
            yield faults.by_name("+".join(chance.choice(faults.PAIRS)))


def case_campaign(options):
    chance = random.Random(options.seed)
    with World(options.seed, rate=100, bets=True) as world:
        world.begin()
        end = time.monotonic() + options.seconds
        for fault in itertools.takewhile(lambda _: time.monotonic() < end, planned(chance)):
            world.inject(fault)
        judged(world)


def case_control(options):
    with World(options.seed, quorum=False, ledgers=1) as world:
        print(f"# without a quorum {control.run(world)} acknowledged transfers are lost", flush=True)


def case_wrong_promotion(options):
    with World(options.seed) as world:
        print(f"# a wrong standby leads: {control.run_wrong_promotion(world)}", flush=True)


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


CONTROLS = (("control", case_control), ("wrong promotion", case_wrong_promotion))


def chosen(options):
    """The cases, as name and function."""
    if options.faults:
        return (("faults", case_faults),)
    if options.seconds:
        return (("campaign", case_campaign), *CONTROLS)
    return (("faults", case_faults), CONTROLS[0], ("quickstart", case_quickstart))


def main():
    options = arguments()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    cases = [(name, lambda case=case: case(options)) for name, case in chosen(options)]
    try:
        cell.need_packages()
        namespaces.enter()
    except cb.Skip as reason:
        cases = [(name, skipped(str(reason))) for name, _ in cases]
    print(f"# SEED={options.seed}", flush=True)
    return cb.run_cases(cases, seconds=int(options.seconds or 0) * 2 + 300)


if __name__ == "__main__":
    sys.exit(main())
