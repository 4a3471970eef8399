#!/usr/bin/python3
"""old_rounds.py SOURCES FILE.tar.xz: made schema-1.tar.xz to schema-5.tar.xz: a state as the last creditbridge of that schema
left it, by its own programs and test library (SOURCES, with what was built in SOURCES/build).

Dealer `old` (transfer, its key is 64 zeros) has player alice with 12.34 and a round that is open. Dealer
`seam` has player bob, a round won and delivered, one lost, one bet rejected, one being refunded, and one
round that is open. The game server is `slots`. From schema-3.tar.xz on bob has a round more, `held`, whose result an
operator holds.
"""
import os
import pathlib
import subprocess
import sys

SOURCES, FILE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
os.environ["CB_BUILDDIR"] = str(SOURCES / "build")
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCES / "tests" / "lib"))
import cb  # noqa: E402
from cb_worker import LOSS, REFUSED, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

with cb.Instance("old", settings={"disk_ballast_mib": 0}) as wallet:
    wallet.ctl("dealer", "add", "old", "--currency", "thb", "--mode", "transfer", "--key-file", "-",
               stdin="0" * 64 + "\n")
    wallet.dealer_add("seam", "--url", "http://127.0.0.1:1", "--allow-http", mode="seamless")
    wallet.player_add("old", "alice")
    wallet.player_add("seam", "bob")
    wallet.ctl("client", "add", "slots")
    wallet.ctl("player", "adjust", "old", "alice", "20", "--reason", "fixture")
    with Worker(wallet.sockets / "edge.sock") as link:
        link.place("slots", "old", "alice", "open", 7.66)
        for game, outcome in (("won", SUCCESS), ("lost", SUCCESS), ("rejected", REFUSED),
                              ("refunding", UNKNOWN), ("open", SUCCESS)):
            link.end(link.place("slots", "seam", "bob", game, 10).send, "seam", outcome)
        for game, result, payout in (("won", WIN, 25), ("lost", LOSS, 0)):
            link.end(link.settle("slots", "seam", "bob", game, result, payout).send, "seam", SUCCESS)
        link.end(link.place("slots", "seam", "bob", "held", 10).send, "seam", SUCCESS)
        result = link.settle("slots", "seam", "bob", "held", LOSS, 0)
        link.end(result.send, "seam", UNKNOWN)
        wallet.ctl("callback", "hold", result.event, "--reason", "fixture")
    wallet.ctl("check")
    wallet.stop()
    (wallet.state / "db" / "spare.log").unlink(missing_ok=True)
    (wallet.state / "lock").unlink(missing_ok=True)
    subprocess.run(["tar", "-C", wallet.state.parent, "--owner=0", "--group=0", "--sort=name",
                    "--mtime=@0", "-cJf", FILE, wallet.state.name], check=True)
