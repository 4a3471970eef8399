"""The negative controls: acknowledged calls are lost, and the judge must see it.

    no quorum         no commit waits for a standby, and the host of the leader is lost. The ledger must see it, too
    wrong promotion   an operator promotes a standby without the last commits by force, and no host remembers what
                      was served, so that the ledgers serve it
"""
import re
import shutil
import signal

import cb
from cb import check
from cell import SCOPE
from faults import ELECTION_S, elected

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



def promote_wrongly(world):
    """Makes the standby lead that lacks the last acknowledged batches. The others give up what they have more."""
    cluster = world.cell
    leader = world.healthy()
    own = world.active().member
    wrong = cluster.other(leader, own)
    cb.signal_pids([wrong.patroni.pid, *wrong.database_pids()], signal.SIGKILL)
    wrong.patroni.process.wait(20)
    cb.wait_until(lambda: cluster.streaming() == [cluster.other(leader, wrong).name], 30, "one synchronous standby", 0.1)
    before = len(world.load.answered())
    cb.wait_until(lambda: len(world.load.answered()) >= before + ANSWERS, 30, "answers without the standby", 0.02)
    others = [member for member in cluster.members if member is not wrong]
    for service in world.services:
        service.wallet.stop()
    for member in others:
        cb.signal_pids([member.patroni.pid, *member.database_pids()], signal.SIGKILL)
        member.patroni.process.wait(20)
    for service in world.services:
        (service.wallet.state / "served").unlink()
    # By /sync Patroni knows that this standby must not lead.
    wrong.inside("env", "ETCDCTL_API=3", "etcdctl", "del", f"/service/{SCOPE}/sync")
    wrong.start_patroni()
    cluster.revoke(leader)
    cb.wait_until(lambda: cluster.leader() is wrong, ELECTION_S, f"{wrong.name} as leader", 0.1)
    for member in others:
        shutil.rmtree(member.data)  # it copies the wrong one
        member.start_patroni()
    for service in world.services:
        service.wallet.ledger_start()


def run_wrong_promotion(world):
    """Returns what the judge found."""
    world.begin()
    promote_wrongly(world)
    world.healthy()
    try:
        world.end()
        world.prove()
    except AssertionError as error:
        found = re.search(r"lost ([1-9][0-9]*), doubled [0-9]+", str(error))
        check(found, f"the judge found something else: {error}")
        return found[0]
    raise AssertionError("a standby without acknowledged transfers was promoted, and the judge found nothing")
