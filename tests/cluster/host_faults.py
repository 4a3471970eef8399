"""Faults of a whole host: its power, its network, its disk, its clock. See faults.py."""
import signal

from cb_process import signal_pids, wait_until

ELECTION_S = 40.0
STEPS_S = (3600, -3600, 86400)
SYNC_MS, WRITE_MS = 300, 5


def elected(cell, old):
    """Waits until another member than @old leads."""
    wait_until(lambda: cell.leader() not in (None, old), ELECTION_S, f"another leader than {old.name}", 0.1)


def cut_off(world, leader):
    leader.cut()
    yield
    elected(world.cell, leader)
    leader.join()


def leader_cut_off(world):
    yield from cut_off(world, world.leader())


def promote_other(world):
    """A planned switchover away from the leader, to a host without the active ledger if possible."""
    old = world.leader()
    world.cell.switch_over(old, world.cell.other(old, world.active().member))
    elected(world.cell, old)


def new_leader_cut_off(world):
    """The leader is cut off as soon as it has standbys after a planned switchover, and Patroni has recorded them: that takes
    it up to 3 s more, in which no other member may lead (doc/postgresql.md)."""
    promote_other(world)
    leader = world.healthy()
    wait_until(lambda: world.cell.may_lead(leader), ELECTION_S, "standbys in /sync", 0.05)
    yield from cut_off(world, leader)


def unrecorded_leader_cut_off(world):
    """The same without that wait. If no other member may lead, callers wait until the leader is back."""
    promote_other(world)
    leader = world.leader()
    world.note(f"may lead in place of {leader.name}: {[member.name for member in world.cell.may_lead(leader)]}")
    leader.cut()
    yield
    leader.join()


def leader_loses_power(world):
    leader = world.leader()
    leader.lose_power()
    yield
    elected(world.cell, leader)
    world.return_hosts(leader)


def standby_loses_power(world):
    standby = world.bystander()
    standby.lose_power()
    yield
    world.return_hosts(standby)


def leader_stands_still(world):
    """As a virtual machine that is not scheduled: its kernel still acknowledges packets."""
    leader = world.leader()
    pids = leader.pids()
    signal_pids(pids, signal.SIGSTOP)
    yield
    elected(world.cell, leader)
    signal_pids(pids, signal.SIGCONT)


def leader_wiped(world):
    """The host of the leader is lost with all its files, and built again from those of the others."""
    leader = world.leader()
    leader.lose_power()
    yield
    elected(world.cell, leader)
    world.rebuild_host(leader)


def two_hosts_lost(world):
    """The last host has no quorum: it must answer nothing."""
    leader, standby = world.leader(), world.bystander()
    for member in (leader, standby):
        member.lose_power()
    yield
    world.return_hosts(standby, leader)


def all_hosts_lost(world):
    members = world.cell.members
    for member in members:
        member.lose_power()
    yield
    world.return_hosts(*members)


# -- the network


def leader_mute(world):
    """What the leader's host sends to the other hosts is lost; what they send arrives."""
    leader = world.leader()
    others = [member for member in world.cell.members if member is not leader]
    leader.lose_packets(others)
    yield
    leader.deliver_packets(others)


def leader_deaf(world):
    """What the other hosts send to the leader's is lost; what it sends arrives."""
    leader = world.leader()
    others = [member for member in world.cell.members if member is not leader]
    for member in others:
        member.lose_packets([leader])
    yield
    for member in others:
        member.deliver_packets([leader])


def pair_parted(world):
    """The leader's host and a standby's do not reach each other; the third host reaches both."""
    leader, standby = world.leader(), world.bystander()
    leader.lose_packets([standby])
    standby.lose_packets([leader])
    yield
    leader.deliver_packets([standby])
    standby.deliver_packets([leader])


def slow_link(world, member):
    world.note(f"the link of {member.name}: {member.slow_link()}")
    yield
    member.fast_link()


def link_slow(world):
    yield from slow_link(world, world.bystander())


def leader_link_slow(world):
    yield from slow_link(world, world.leader())


# -- the disk and the clock


def slow_disk(world, member):
    world.check_preloads(member)
    member.preloads.slow_disk(SYNC_MS, WRITE_MS)
    yield
    member.preloads.fast_disk()


def leader_disk_slow(world):
    yield from slow_disk(world, world.leader())


def standby_disk_slow(world):
    yield from slow_disk(world, world.bystander())


def clock_stepped(world):
    """The wall clock of one host, by chance: an hour ahead, an hour late, a day ahead, and right again."""
    host = world.chance.choice(world.cell.members)
    world.note(f"the clock of {host.name}")
    world.check_preloads(host)
    for ahead_s in STEPS_S:
        host.preloads.leap(ahead_s)
        yield
    host.preloads.leap(0)
    yield
