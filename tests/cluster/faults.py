"""What is done to a cell while callers make transfers: how each fault begins and how it ends.

A fault is a generator: it injects, yields while the fault lasts, and heals. At each yield it lasts `holds` seconds.
`bar` is the longest time in seconds without an answer that is accepted, by the table of doc/internals/cluster.md.
"""
import collections
import itertools
import signal
import sys
import threading
import time

import host_faults as host
from cb_process import signal_pids, wait_until
from cb_tap import check
from host_faults import ELECTION_S, elected

STOP_S = 4.0
LEASE_S = 10.0  # longer than Patroni's ttl
RUN_S = 0.03    # between two waits of etcd for its disk
PAIR_S = 2.0    # between the faults of a pair, at most

Fault = collections.namedtuple("Fault", "name function holds bar")


def postmaster_killed(world):
    signal_pids([world.leader().postmaster()], signal.SIGKILL)
    yield


def postmaster_stopped(world):
    pids = world.leader().database_pids()
    signal_pids(pids, signal.SIGSTOP)
    yield
    signal_pids(pids, signal.SIGCONT)


def standby_stopped(world):
    pids = world.bystander().database_pids()
    signal_pids(pids, signal.SIGSTOP)
    yield
    signal_pids(pids, signal.SIGCONT)


def patroni_killed(world):
    """Patroni 3.0.2, started beside a running leader, sets synchronous_standby_names to * and leaves it so: then one
    standby is enough. The next leader names both again."""
    leader = world.leader()
    signal_pids([leader.patroni.pid], signal.SIGKILL)
    leader.patroni.process.wait(20)
    yield
    leader.start_patroni()
    wait_until(lambda: world.cell.leader() is leader, ELECTION_S, f"Patroni of {leader.name}", 0.1)
    world.cell.switch_over(leader)
    elected(world.cell, leader)


def patroni_stopped(world):
    """Its lease ends, another host leads, and the server of the old leader still takes writes until Patroni goes on."""
    leader = world.leader()
    signal_pids([leader.patroni.pid], signal.SIGSTOP)
    yield
    elected(world.cell, leader)
    signal_pids([leader.patroni.pid], signal.SIGCONT)


def etcd_killed(world):
    member = world.leader()
    signal_pids([member.etcd.pid], signal.SIGKILL)
    member.etcd.process.wait(20)
    yield
    member.start_etcd(world.cell.etcd_cluster())


def etcd_stopped(world):
    """The leader of etcd, which may be on any host."""
    member = world.cell.etcd_leader()
    signal_pids([member.etcd.pid], signal.SIGSTOP)
    yield
    signal_pids([member.etcd.pid], signal.SIGCONT)


def etcd_slow(world):
    """The disk of etcd's leader takes SYNC_MS for each commit. Its program is static, so no library can delay its calls:
    it is stopped for that time, over and over."""
    etcd = world.cell.etcd_leader().etcd
    healed = threading.Event()
    delays = []

    def delay():
        while not healed.wait(RUN_S) and etcd.running():
            signal_pids([etcd.pid], signal.SIGSTOP)
            time.sleep(host.SYNC_MS / 1000)
            signal_pids([etcd.pid], signal.SIGCONT)
            delays.append(host.SYNC_MS)

    thread = threading.Thread(target=delay, daemon=True)
    thread.start()
    try:
        yield
    finally:
        healed.set()
        thread.join()
    check(delays, "etcd had no slow disk")


def switchover(world):
    leader = world.leader()
    world.cell.switch_over(leader)
    yield
    elected(world.cell, leader)


def wait_cancelled(world):
    """A backend that is ended while it waits for the standbys commits without them, with a warning."""
    leader = world.leader()
    for _ in range(10):
        leader.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' OR "
                   f"usename = 'creditbridge' AND pid IN (SELECT pid FROM pg_stat_activity WHERE usename = "
                   "'creditbridge' LIMIT 1)", check=False)
    yield


def ledger_killed(world):
    signal_pids([world.engine()], signal.SIGKILL)
    yield


def ledger_lost(world):
    """The supervisor, its engine and its peer end for good; another host takes over."""
    service = world.active()
    signal_pids([service.wallet.ledger.pid, *service.wallet.engine_pids()], signal.SIGKILL)
    service.wallet.ledger.process.wait(20)
    yield
    service.wallet.ledger_start()


def ledger_stopped(world):
    """Another host takes over, and fences the ledger before it goes on."""
    pid = world.engine()
    signal_pids([pid], signal.SIGSTOP)
    yield
    signal_pids([pid], signal.SIGCONT)


def peer_stopped(world):
    """The process that relays calls of other hosts to the active ledger."""
    pids = world.active().peers()
    signal_pids(pids, signal.SIGSTOP)
    yield
    signal_pids(pids, signal.SIGCONT)


FAULTS = (
    Fault("postmaster killed", postmaster_killed, 2.0, 5.0),
    Fault("postmaster stopped", postmaster_stopped, STOP_S, 15.0),
    Fault("standby stopped", standby_stopped, STOP_S, 15.0),
    Fault("standby's host lost", host.standby_loses_power, 4.0, 15.0),
    Fault("leader's host cut off", host.leader_cut_off, 1.0, 30.0),
    Fault("leader's host lost", host.leader_loses_power, 1.0, 15.0),
    Fault("leader's host stopped", host.leader_stands_still, 1.0, 15.0),
    Fault("leader's host wiped", host.leader_wiped, 1.0, 15.0),
    Fault("two hosts lost", host.two_hosts_lost, 5.0, 60.0),
    Fault("all hosts lost", host.all_hosts_lost, 1.0, 60.0),
    Fault("leader mute", host.leader_mute, LEASE_S, 15.0),
    Fault("leader deaf", host.leader_deaf, LEASE_S, 15.0),
    Fault("two hosts parted", host.pair_parted, LEASE_S, 15.0),
    Fault("patroni killed", patroni_killed, 3.0, 5.0),
    Fault("patroni stopped", patroni_stopped, LEASE_S, 15.0),
    Fault("etcd member killed", etcd_killed, 3.0, 5.0),
    Fault("etcd member stopped", etcd_stopped, STOP_S, 5.0),
    Fault("etcd's disk slow", etcd_slow, 5.0, 5.0),
    Fault("switchover", switchover, 1.0, 10.0),
    Fault("new leader cut off", host.new_leader_cut_off, 1.0, 60.0),
    Fault("unrecorded leader cut off", host.unrecorded_leader_cut_off, LEASE_S, 60.0),
    Fault("cancelled wait", wait_cancelled, 1.0, 5.0),
    Fault("slow link", host.link_slow, 3.0, 5.0),
    Fault("leader's link slow", host.leader_link_slow, 3.0, 5.0),
    Fault("leader's disk slow", host.leader_disk_slow, 5.0, 5.0),
    Fault("standby's disk slow", host.standby_disk_slow, 5.0, 5.0),
    Fault("clock steps", host.clock_stepped, 3.0, 15.0),
    Fault("engine killed", ledger_killed, 1.0, 5.0),
    Fault("ledger lost", ledger_lost, 3.0, 10.0),
    Fault("ledger stopped", ledger_stopped, STOP_S, 10.0),
    Fault("peer stopped", peer_stopped, STOP_S, 5.0),
)
# What the suite injects, by chance: one of each line, none of which lasts for long. Its case `quickstart` loses the host of the
# leader. The rest is for the campaign.
SHORT = (
    ("postmaster killed", "standby stopped", "etcd member stopped"),
    ("standby's host lost", "etcd member killed", "peer stopped"),
    ("cancelled wait", "leader's disk slow", "leader's link slow"),
    ("switchover", "slow link", "standby's disk slow", "etcd's disk slow"),
    ("ledger lost", "ledger stopped", "engine killed"),
)
# The first lasts while the second comes and goes. Two hosts remain: neither of both may take away another host.
LASTING = ("standby's disk slow", "leader's disk slow", "slow link", "leader's link slow", "clock steps", "etcd's disk slow",
           "etcd member stopped")
AWAY = ("standby's host lost", "standby stopped")
SUDDEN = ("engine killed", "ledger lost", "ledger stopped", "cancelled wait", "postmaster killed")
PAIRS = (*itertools.product(LASTING + AWAY, SUDDEN), *itertools.product(LASTING[:-2], ("leader's host lost", "leader mute")))


def by_name(name):
    """A fault, or a pair of them as FIRST+SECOND."""
    first, _, second = name.partition("+")
    if second:
        return pair(by_name(first), by_name(second))
    for fault in FAULTS:
        if fault.name == name:
            return fault
    sys.exit(f"there is no fault {name!r}; there are: {', '.join(fault.name for fault in FAULTS)}")


def pair(first, second):
    """Both faults at once. The second heals first. Their times without an answer may follow each other."""
    def both(world):
        around = first.function(world)
        next(around)
        time.sleep(world.chance.uniform(0.0, PAIR_S))
        within = second.function(world)
        for _ in within:
            yield
        for _ in around:
            yield
    return Fault(f"{first.name}+{second.name}", both, second.holds, first.bar + second.bar)
