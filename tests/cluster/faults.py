"""What is done to a cell while callers make transfers: how each fault begins and how it ends.

A fault is a generator: it injects, yields while the fault lasts, and heals. `holds` is how long it lasts, `bar` is the
longest time in seconds without an answer that is accepted, by the table of doc/internals/cluster.md.
"""
import collections
import signal
import sys

from cb_process import signal_pids, wait_until

STOP_S = 4.0
ELECTION_S = 40.0

Fault = collections.namedtuple("Fault", "name function holds bar")


def elected(cell, old):
    """Waits until another member than @old leads."""
    wait_until(lambda: cell.leader() not in (None, old), ELECTION_S, f"another leader than {old.name}", 0.1)


def postmaster_killed(world):
    signal_pids([world.cell.leader().postmaster()], signal.SIGKILL)
    yield


def postmaster_stopped(world):
    pids = world.cell.leader().database_pids()
    signal_pids(pids, signal.SIGSTOP)
    yield
    signal_pids(pids, signal.SIGCONT)


def leader_cut_off(world):
    leader = world.cell.leader()
    leader.cut()
    yield
    elected(world.cell, leader)
    leader.join()


def leader_loses_power(world):
    leader = world.cell.leader()
    leader.lose_power()
    yield
    elected(world.cell, leader)
    world.return_host(leader)


def standby_loses_power(world):
    standby = world.cell.other(world.cell.leader(), world.active().member)
    standby.lose_power()
    yield
    world.return_host(standby)


def patroni_killed(world):
    """Patroni 3.0.2, started beside a running leader, sets synchronous_standby_names to * and leaves it so: then one
    standby is enough. The next leader names both again."""
    leader = world.cell.leader()
    signal_pids([leader.patroni.pid], signal.SIGKILL)
    leader.patroni.process.wait(20)
    yield
    leader.start_patroni()
    wait_until(lambda: world.cell.leader() is leader, ELECTION_S, f"Patroni of {leader.name}", 0.1)
    world.cell.switch_over(leader)
    elected(world.cell, leader)


def etcd_killed(world):
    member = world.cell.leader()
    signal_pids([member.etcd.pid], signal.SIGKILL)
    member.etcd.process.wait(20)
    yield
    member.start_etcd(world.cell.etcd_cluster())


def switchover(world):
    leader = world.cell.leader()
    world.cell.switch_over(leader)
    yield
    elected(world.cell, leader)


def new_leader_cut_off(world):
    """The leader is cut off as soon as it has standbys after a planned switchover."""
    old = world.cell.leader()
    world.cell.switch_over(old, world.cell.other(old, world.active().member))
    elected(world.cell, old)
    leader = world.healthy()
    leader.cut()
    yield
    elected(world.cell, leader)
    leader.join()


def wait_cancelled(world):
    """A backend that is ended while it waits for the standbys commits without them, with a warning."""
    leader = world.cell.leader()
    for _ in range(10):
        leader.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' OR "
                   f"usename = 'creditbridge' AND pid IN (SELECT pid FROM pg_stat_activity WHERE usename = "
                   "'creditbridge' LIMIT 1)", check=False)
    yield


def link_slow(world):
    standby = world.cell.other(world.cell.leader(), world.active().member)
    world.note(f"the link of {standby.name}: {standby.slow_link()}")
    yield
    standby.fast_link()


def ledger_killed(world):
    signal_pids([world.active().engine()], signal.SIGKILL)
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
    pid = world.active().engine()
    signal_pids([pid], signal.SIGSTOP)
    yield
    signal_pids([pid], signal.SIGCONT)


FAULTS = (
    Fault("postmaster killed", postmaster_killed, 2.0, 5.0),
    Fault("postmaster stopped", postmaster_stopped, STOP_S, 15.0),
    Fault("standby's host lost", standby_loses_power, 4.0, 15.0),
    Fault("leader's host cut off", leader_cut_off, 1.0, 30.0),
    Fault("leader's host lost", leader_loses_power, 1.0, 15.0),
    Fault("patroni killed", patroni_killed, 3.0, 5.0),
    Fault("etcd member killed", etcd_killed, 3.0, 5.0),
    Fault("switchover", switchover, 1.0, 10.0),
    Fault("new leader cut off", new_leader_cut_off, 1.0, 60.0),
    Fault("cancelled wait", wait_cancelled, 1.0, 5.0),
    Fault("slow link", link_slow, 3.0, 5.0),
    Fault("engine killed", ledger_killed, 1.0, 5.0),
    Fault("ledger lost", ledger_lost, 3.0, 10.0),
    Fault("ledger stopped", ledger_stopped, STOP_S, 10.0),
)
# What the suite injects, and its case `quickstart` loses the host of the leader: the rest is for the campaign.
SHORT = ("postmaster killed", "standby's host lost", "cancelled wait", "switchover", "ledger lost")


def by_name(name):
    for fault in FAULTS:
        if fault.name == name:
            return fault
    sys.exit(f"there is no fault {name!r}; there are: {', '.join(fault.name for fault in FAULTS)}")
