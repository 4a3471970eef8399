#!/usr/bin/python3
"""The ledger, its engine, and what writes and reads all rows of creditbridgectl, under valgrind: a short life of a
wallet."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_platform import client_add  # noqa: E402
from cb_worker import REFUND, SUCCESS, UNKNOWN, WIN, Worker  # noqa: E402

FOUND = 99  # the exit code of a program in which valgrind found something
VALGRIND = ("valgrind", "--quiet", f"--error-exitcode={FOUND}", "--leak-check=full",
            f"--suppressions={cb.SRCDIR / 'tests' / 'full' / 'valgrind.supp'}",
            "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite")


class Wallet(cb.Instance):
    """Its ledger runs under valgrind, and of creditbridgectl only what is worth its start, which takes seconds."""

    def ctl_argv(self, *words):
        argv = super().ctl_argv(*words)
        return argv if words[0] in ("check", "export", "import") else argv[len(self.enter):]


def play(wallet):
    """Bets of a seamless dealer's player: one won, one without an answer, one refunded."""
    wallet.dealer_add("own", "--url", "http://127.0.0.1:9", "--allow-http", mode="seamless")
    client_add(wallet, "slots")
    wallet.player_add("own", "alice")
    worker = Worker(wallet.sockets / "edge.sock", timeout=60.0)
    try:
        for game, outcome, result in (("won", SUCCESS, WIN), ("lost", UNKNOWN, None), ("gone", SUCCESS, REFUND)):
            bet = worker.place("slots", "own", "alice", game, 5)
            check(bet.send.event, f"bet {game}: {bet}")
            worker.end(bet.send, "own", outcome)
            if result:
                settled = worker.settle("slots", "own", "alice", game, result, 9 if result == WIN else 0)
                equal(settled.refusal, "", f"result {game}")
                worker.end(settled.send, "own", SUCCESS)
    finally:
        worker.close()


def case_life():
    with Wallet(enter=VALGRIND) as wallet:
        dealer = wallet.dealer_add("demo")
        wallet.player_add(dealer.casino_id, "alice")
        wallet.ctl("player", "adjust", dealer.casino_id, "alice", "7.5", "--reason", "test")
        play(wallet)
        for words in (("status",), ("bet", "list", "--casino", "own"), ("callback", "list"), ("metrics",),
                      ("backup", wallet.dir / "backup"), ("export", wallet.dir / "export"), ("check",)):
            wallet.ctl(*words, seconds=120)
        log = wallet.logs / "ledger.log"
        equal((wallet.stop(), [line for line in log.read_text().splitlines() if line.startswith("==")]), (0, []),
              "the ledger and its engine")
        wallet.state.rename(wallet.dir / "old")
        wallet.ctl("import", wallet.dir / "export", seconds=120)


CASES = (("the ledger and creditbridgectl, from init to import", case_life),)

if __name__ == "__main__":
    sys.exit(cb.run_cases(CASES, seconds=200))
