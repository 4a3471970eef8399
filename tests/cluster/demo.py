#!/usr/bin/python3
"""Implements `quickstart cluster` after the build: three hosts, transfers, the death of the leader, and what callers saw.

    demo.py [--seconds N] [--once] [--lose-host]

Everything runs in namespaces of this process and ends with it.
"""
import argparse
import os
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "crash"), os.path.join(HERE, "..", "campaign"), HERE]
import cb  # noqa: E402
import cell  # noqa: E402
import faults  # noqa: E402
import load  # noqa: E402
import namespaces  # noqa: E402
from cb_transcript import say  # noqa: E402
from service import PORT  # noqa: E402
from world import Stalls, World  # noqa: E402

CALLS_A_SECOND = 200
WATCH_S = 0.5


class Story:
    """Prints what happens, with the seconds since the transfers began."""

    def __init__(self, world):
        self.world = world
        self.begun = time.monotonic()

    def tell(self, text):
        say(f"{time.monotonic() - self.begun:6.1f} s  {text}")

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.1)
            if self.world.load.failures():
                raise cb.HarnessError(f"a call failed: {self.world.load.failures()[0].failure!r}")

    def kill_leader(self, lose_host):
        cluster = self.world.cell
        old = cluster.leader()
        self.tell(f"kill: {'all of ' + old.name if lose_host else 'PostgreSQL on ' + old.name}, which takes the writes")
        if lose_host:
            old.lose_power()
            faults.elected(cluster, old)
        else:
            cb.signal_pids([old.postmaster()], signal.SIGKILL)
        new = cb.wait_until(lambda: cluster.leader() and cluster.leader().postmaster() and cluster.leader(),
                            faults.ELECTION_S, "a leader", 0.05)
        self.tell(f"PostgreSQL on {new.name} takes the writes")
        if lose_host:
            self.world.return_hosts(old)
        self.world.healthy()
        self.tell("both standbys have every commit again")


def summary(world, begun):
    """Prints what the callers saw. Raises what is wrong with it."""
    world.end()
    ended = time.monotonic()
    world.prove()
    answers = len([when for when in world.load.answered() if begun <= when <= ended])
    stall = Stalls(world.load.answered(), world.pulse).longest(begun, ended)
    say(f"\n{load.CLIENTS} callers got {answers} answers. {world.load.repeats()} calls had no answer at first, and were sent "
        "again.\nEach acknowledged transfer was looked up in the tables of all three servers, and creditbridgectl check\n"
        "found nothing wrong:\n")
    say(f"0 lost, 0 doubled, longest stall {stall:.1f} s")


def serve(world, process):
    user = " --user --preserve-credentials" if namespaces.one_user() else ""
    service = world.active()
    ctl = " ".join(service.wallet.ctl_argv()[len(service.wallet.enter):])
    say(f"\nServing http://{service.member.address}:{PORT} on {service.member.name}. The hosts can be reached "
        f"from their own network only:\n"
        f"    nsenter --target {process}{user} --net curl -si http://{service.member.address}:{PORT}/livez\n"
        f"    {ctl} status\n"
        "Ctrl-C stops everything.")
    while True:
        time.sleep(WATCH_S)
        world.sweep()
        for each in world.services:
            if not each.wallet.ledger.running():
                say(f"the ledger of {each.member.name} ended: started again")
                each.wallet.ledger_start()


def arguments():
    parser = argparse.ArgumentParser(prog="quickstart cluster", allow_abbrev=False)
    parser.add_argument("--seconds", type=int, default=10, help="of transfers around the death of the leader")
    parser.add_argument("--once", action="store_true", help="stop after the summary")
    parser.add_argument("--lose-host", action="store_true", help="the whole host of the leader dies")
    return parser.parse_args()


def run(options, process):
    say("Starting three hosts with etcd, Patroni and PostgreSQL ...")
    with World(str(random.getrandbits(32)), note=say, rate=CALLS_A_SECOND) as world:
        members = ", ".join(f"{member.name} ({member.address})" for member in world.cell.members)
        say(f"{members} run after {world.cell.started_s:.1f} s. {world.cell.leader().name} takes the writes; each commit "
            f"waits for the two others.\nEach host has a ledger, a web server and callers; the ledger of {world.active().member.name} is active.\n")
        world.begin()
        story = Story(world)
        story.tell(f"{load.CLIENTS} callers make transfers, and repeat what is not answered")
        story.pause(options.seconds / 2)
        story.kill_leader(options.lose_host)
        story.pause(options.seconds / 2)
        summary(world, story.begun)
        if not options.once:
            serve(world, process)


def interrupted(_number, _frame):
    raise KeyboardInterrupt


def main():
    options = arguments()
    process = os.getpid()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    try:
        cell.need_packages()
        namespaces.enter()
        signal.signal(signal.SIGINT, interrupted)
        signal.signal(signal.SIGTERM, interrupted)
        run(options, process)
        return 0
    except (cb.Skip, cb.HarnessError, AssertionError, OSError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130 if options.once else 0


if __name__ == "__main__":
    sys.exit(main())
