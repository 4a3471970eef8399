#!/usr/bin/python3
"""The campaign `callbacks out`: no spelling of a forbidden address gets a connection.

A canary listens on every address of this machine. Each spelling of one of them, as a dealer's URL, as
what a name of the dealer's resolves to, and as where an allowed dealer redirects to, must not make it
sing. That it can is shown by the same spellings with every network allowed.
"""
import json
import os
import pathlib
import socket
import sys
import threading

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE)]
import cb  # noqa: E402
import cb_alone  # noqa: E402
from attempts import Sender  # noqa: E402
from cb import check, equal  # noqa: E402
from dealers import Dealer, answer  # noqa: E402

# 127.0.0.1 and its network.
IPV4 = (
    "127.0.0.1", "127.0.1", "127.1", "2130706433", "0x7f000001", "0X7F000001", "0x7f.1", "0x7f.0.1",
    "0x7f.0x0.0x0.0x1", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "0177.1", "0177.0.1",
    "0177.0000.0000.0001", "00177.0.0.01", "127.0.0.01", "127.000.000.001", "127.0x1", "127.0.0x1",
    "127.65535", "127.16777214", "127.0.0.2", "127.1.2.3", "127.255.255.254", "2147483646",
    "0x7ffffffe", "017777777776",
)
# Everything, which is this machine to connect().
ANY = ("0.0.0.0", "0", "0x0", "00", "0.0", "0.0.0", "0x0.0x0")
IPV6 = (
    "[::1]", "[0:0::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::0.0.0.1]", "[::]", "[0::0]", "[::ffff:127.0.0.1]", "[::FFFF:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:127.1.2.3]", "[::ffff:0.0.0.0]", "[::ffff:0:0]",
    "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]",
)
# Of this machine's names, and names that a dealer's DNS has for these addresses (tests/callback/send_one.c:
# at.HOST has the addresses of HOST, two.HOST a forbidden one before them).
NAMES = (
    "localhost", "LOCALHOST", "localhost.", "dealer.localhost", "%31%32%37.0.0.1", "%6c%6fcalhost",
    "at.127.0.0.1", "at.localhost", "at.2130706433", "at.0177.0.0.1", "at.0x7f.1", "at.0",
    "two.127.0.0.1", "two.localhost", "two.127.1.2.3",
    "\u0661\u0662\u0667.0.0.1", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021",
    "\u2460\u2461\u2466.0.0.1", "loc\u0430lhost",
)
# What leaves this machine, if it is let: an address that wraps another, one of a name's, a look-up in the DNS.
LEAVING = ("[64:ff9b::7f00:1]", "[2002:7f00:1::]", "two.127.0.0.1", "two.localhost", "two.127.1.2.3",
           *(name for name in NAMES if not name.isascii()))
# In a network of its own with loopback only nothing leaves.
ALONE = cb_alone.enter()
SPELLINGS = tuple(spelling for spelling in IPV4 + ANY + IPV6 + NAMES if ALONE or spelling not in LEAVING)
REDIRECTED = ("127.0.0.1", "127.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0")
STATUSES = (300, 301, 302, 303, 307, 308)
SINGS_MIN = 40  # of the spellings, where nothing is forbidden


class Canary:
    """Listens on one port of every address of this machine; @sung: the connections it was given."""

    def __init__(self):
        self.sung = []
        self.listeners = []
        port = 0
        for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            listener = socket.socket(family)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((host, port))
            listener.listen(512)
            port = listener.getsockname()[1]
            self.listeners.append(listener)
            threading.Thread(target=self.run, args=(listener,), daemon=True).start()
        self.port = port

    def run(self, listener):
        while True:
            try:
                connection, peer = listener.accept()
            except OSError:
                return
            self.sung.append((peer, connection.getsockname()))
            connection.close()

    def close(self):
        for listener in self.listeners:
            listener.close()


def own_addresses():
    """Those of this machine's interfaces that are not public."""
    found = set()
    try:
        places = socket.getaddrinfo(socket.gethostname(), None)
    except socket.gaierror:
        print("# this machine's name has no address")
        return []
    for family, _, _, _, place in places:
        host = place[0].split("%")[0]
        found.add(f"[{host}]" if family == socket.AF_INET6 else host)
    return sorted(found)


def attempts(spellings, port, networks):
    with Sender(networks=networks) as sender:
        for spelling in spellings:
            sender.add(spelling, f"http://{spelling}:{port}")
        return sender.wait()


def case_forbidden():
    canary = Canary()
    spellings = SPELLINGS + tuple(own_addresses())
    outcomes = attempts(spellings, canary.port, ())
    equal(len(outcomes), len(set(spellings)), "outcomes")
    check(len(outcomes) >= 60, f"{len(outcomes)} spellings")
    if not ALONE:
        print(f"# no network of its own: without {len(LEAVING)} spellings")
    for spelling, outcome in outcomes.items():
        equal((outcome["class"], outcome["fences"]), ("not_sent", 0), spelling)
    equal(canary.sung, [], "connections at the canary")
    canary.close()
    print(f"# {len(outcomes)} spellings, 0 connections")


def case_control():
    canary = Canary()
    attempts(SPELLINGS, canary.port, ("0.0.0.0/0", "::/0"))
    count = len(canary.sung)
    canary.close()
    check(count >= SINGS_MIN, f"the canary sings {count} times where nothing is forbidden")
    print(f"# {count} connections where every network is allowed")


def case_redirects():
    """An allowed dealer on ::1, whose answers point at the canary."""
    canary = Canary()
    dealers = []
    with Sender(networks=("::1",)) as sender:
        for status in STATUSES:
            for spelling in REDIRECTED:
                place = f"Location: http://{spelling}:{canary.port}/x\r\n"
                dealer = Dealer(fault=answer(status, b"{}", place), family=socket.AF_INET6)
                dealers.append(dealer)
                sender.add(f"{status} {spelling}", dealer.url("[::1]"))
        outcomes = sender.wait()
    equal(len(outcomes), len(STATUSES) * len(REDIRECTED), "outcomes")
    equal([dealer.connections for dealer in dealers], [1] * len(dealers), "calls of the dealer")
    for job, outcome in outcomes.items():
        check(outcome["class"] != "success", f"{job}: {outcome}")
    equal(canary.sung, [], "connections at the canary")
    for dealer in dealers:
        dealer.stop()
    canary.close()


def case_product():
    """The same through creditbridgectl and the sweeper's sender: `dealer ping` of each that `dealer add`
    takes at all."""
    canary = Canary()
    taken = 0
    with cb.Instance("canary") as wallet:
        for number, spelling in enumerate(SPELLINGS):
            done = wallet.ctl_run("dealer", "add", f"d{number}", "--currency", "thb", "--mode",
                                  "seamless", "--url", f"http://{spelling}:{canary.port}",
                                  "--allow-http")
            if done.returncode:
                continue
            taken += 1
            wallet.player_add(f"d{number}", "alice")
            done = wallet.ctl_run("--json", "dealer", "ping", f"d{number}", "--user", "alice")
            equal((done.returncode != 0, json.loads(done.stdout)["class"]), (True, "not_sent"),
                  f"{spelling}: {done.stdout}")
    equal(canary.sung, [], "connections at the canary")
    check(taken > 0, "no spelling is taken as a dealer's URL")
    print(f"# {taken} of {len(SPELLINGS)} are taken as a dealer's URL")
    canary.close()


def main():
    os.environ.pop("http_proxy", None)
    return cb.run_cases([
        ("every spelling, as a URL and as a name", case_forbidden),
        ("the canary sings where nothing is forbidden", case_control),
        ("redirects", case_redirects),
        ("dealers of a ledger", case_product),
    ], seconds=120)


if __name__ == "__main__":
    sys.exit(main())
