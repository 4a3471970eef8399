"""The negative control: without a quorum acknowledged calls are lost, and both the ledger and the judge must see it."""
import signal

import cb
from cb import check
from faults import elected

ANSWERS = 30
REFUSED = "the servers lack acknowledged batches"


def lose_server(world):
    """The standbys get nothing more, calls are answered, and then the host of the leader loses its power."""
    leader = world.lead_elsewhere()
    own = world.active().member
    other = world.cell.other(leader, own)
    other.cut()
    cb.signal_pids([own.patroni.pid, *own.database_pids()], signal.SIGKILL)
    own.patroni.process.wait(20)
    before = len(world.load.answered())
    cb.wait_until(lambda: len(world.load.answered()) >= before + ANSWERS, 10, "answers without a standby", 0.02)
    leader.lose_power()
    other.join()
    own.start_patroni()
    # The members of etcd find each other again first.
    cb.wait_until(lambda: own.inside("env", "ETCDCTL_API=3", "etcdctl", "endpoint", "health", check=False).returncode == 0,
                  30, "etcd", 0.2)
    world.cell.revoke(leader)
    elected(world.cell, leader)


def give_up(world):
    """Ends the callers: some of their calls stay without an answer."""
    world.load.stopping.set()
    for client in world.load.clients:
        client.join(60)


def adopt(world):
    """The ledger refuses to serve until the operator accepts the loss."""
    service = world.active()
    wallet = service.wallet
    cb.wait_until(lambda: any(REFUSED in line for line in service.log()), 60, "the refusal of the ledger", 0.1)
    cb.wait_until(lambda: any("exit=76" in line for line in service.log()), 20, "exit code 76", 0.1)
    wallet.stop()
    done = wallet.ctl_run("adopt", "--moved", "--reason", "a control")
    check(done.returncode and REFUSED in done.stderr, f"adopt --moved accepts older servers: {done}")
    wallet.ctl("adopt", "--copied", "--reason", "a control")
    wallet.start()
    wallet.ctl("resume")
    cb.wait_until(lambda: wallet.ctl_run("check").returncode == 0, 30, "the ledger after adopt", 0.2)


def run(world):
    """Returns how many acknowledged transfers the tables lack."""
    world.begin()
    world.healthy()
    lose_server(world)
    adopt(world)
    give_up(world)
    found = world.movements(world.cell.leader())
    lost = [transfer.key for transfer in world.load.transfers() if transfer.status == 200
            and (transfer.player.dealer.casino_id, transfer.key) not in found]
    check(lost, "nothing was lost without a quorum: the judge cannot be right")
    return len(lost)

