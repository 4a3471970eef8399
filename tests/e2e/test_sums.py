#!/usr/bin/python3
"""`creditbridgectl check` proves the answers of A4: every player's sums, of all time and of each
day, are those of the player's rounds and bets. It finds and names damage to any of them; bets that
are placed while it reads are no damage. It also finds a transaction that no player counts."""
import datetime
import itertools
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_codec import verdict  # noqa: E402
from cb_link import DONE, TRANSFER_IN_KIND, request, transfer_payload  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
from cb_worker import LOSS, REFUND, UNITS, WIN, Worker, bet_payload, player_ref, settle_payload  # noqa: E402

LIVE_S = 4  # how long bets go on while it is checked
PLAYERS = 3
numbers = itertools.count(1)


class Player(Worker):
    """Bets of a transfer wallet's player, by the ledger's own commands."""

    def __init__(self, wallet, user_id):
        super().__init__(wallet.sockets / "edge.sock")
        self.user_id = user_id

    def bet(self, game_id, amount, addition=False):
        equal(self.place("slots", "bank", self.user_id, game_id, amount,
                         addition=addition).refusal, "", "a bet")

    def over(self, game_id, result, payout=0):
        equal(self.settle("slots", "bank", self.user_id, game_id, result, payout).refusal, "",
              "a result")


def proved(wallet):
    done = wallet.ctl_json("check")
    equal((done["ok"], done["problems"]), (True, []), "check")
    return done["sums"]


def problems(wallet):
    done = wallet.ctl_run("--json", "check")
    equal(done.returncode, 1, f"check of damaged sums: {done.stdout}{done.stderr}")
    table = wallet.ctl_run("check")
    equal(table.returncode, 1, f"check: {table.stdout}")
    return [line.removeprefix("problem: ") for line in table.stdout.splitlines()
            if line.startswith("problem: ")]


OPEN_STAKE = 3  # of the bet that user0 leaves open


class Sums:
    """The members of a player's rows, and the commands that overwrite them."""

    def __init__(self, wallet, player_id):
        self.wallet = wallet
        self.player_id = player_id

    def set(self, row, count, turnover, profit):
        """@row: "lifetime" or a day's number."""
        self.wallet.stop()
        subprocess.run([cb.builddir() / "tests" / "fault" / "set_sums", self.wallet.state / "db",
                        self.player_id, str(row), str(count), str(turnover * UNITS),
                        str(profit * UNITS), str(OPEN_STAKE * UNITS)], check=True, timeout=20 * cb.PATIENCE)
        self.wallet.start()


def case_sound(wallet):
    """Both modes, every end of a round."""
    wallet.dealer_add("bank", *cb.noon_offset(), currency="thb")
    wallet.dealer_add("lazy", *cb.noon_offset(), "--url", "http://127.0.0.1:9", "--allow-http",
                      mode="seamless")
    wallet.ctl("client", "add", "slots")
    wallet.ctl("client", "add", "fair")
    wallet.player_add("lazy", "bob")
    for number in range(PLAYERS):
        wallet.player_add("bank", f"user{number}")
        wallet.ctl("player", "adjust", "bank", f"user{number}", 1000000, "--reason", "stakes")
    with Player(wallet, "user0") as player:
        for game, result, payout in (("won", WIN, 50), ("lost", LOSS, 0), ("off", REFUND, 0),
                                     ("nothing", WIN, 0)):
            player.bet(game, 10)
            player.bet(game, 2, addition=True)
            player.bet(game, 7)
            player.over(game, result, payout)
        player.bet("open", OPEN_STAKE)
    with Rounds(wallet.sockets / "edge.sock") as rounds:
        games = [f"g{number}" for number in range(30)]
        rounds.bets("lazy", "bob", games)
        rounds.settle("lazy", "bob", games[:20])
    # A row of all time and a row of a day for each player, and no rows of players that did not bet.
    equal(proved(wallet), 4, "rows that were compared")
    check("player sums   " in wallet.ctl("check"), "the table")


def case_damage(wallet):
    player_id = wallet.ctl_json("player", "show", "bank", "user0")["player_id"]
    sums = Sums(wallet, player_id)
    bet = wallet.ctl_json("bet", "list", "--casino", "bank", "--user", "user0", "--limit", 1)
    day = bet["bets"][0]["day"]
    date = (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()
    days = [row["day"] for row in wallet.ctl_json(
        "bet", "list", "--casino", "bank", "--user", "user0", "--limit", 0)["bets"]]
    equal(set(days), {day}, "days")
    # won 50 - 19, lost 19, nothing won -19: 57 turned over; two bets each, and the open one.
    right = (7, 57, -7)
    for row, name in (("lifetime", f"player {player_id}"), (day, f"player {player_id} on {date}")):
        for wrong, told in (
                ((8, 57, -7), "bet_count is kept as 8, the bets make 7"),
                ((7, 56, -7), "turnover is kept as 56.00, the bets make 57.00"),
                ((7, 57, 7), "profit_loss is kept as 7.00, the bets make -7.00")):
            sums.set(row, *wrong)
            equal(problems(wallet), [f"{name}: {told}"], f"{row} {wrong}")
        sums.set(row, *right)
        proved(wallet)
    sums.set(day + 1, 1, 0, 0)
    after = (datetime.date(1970, 1, 1) + datetime.timedelta(days=day + 1)).isoformat()
    equal(problems(wallet), [f"player {player_id} on {after}: bet_count is kept as 1, the bets "
                             "make 0"], "a day without bets")
    sums.set(day + 1, 0, 0, 0)
    proved(wallet)


def case_live(wallet):
    """Bets and results all the time: what is read at different times is no problem."""
    failed = []
    placed = [0] * PLAYERS
    ending = threading.Event()

    def play(number):
        try:
            with Player(wallet, f"user{number}") as player:
                while not ending.is_set():
                    game = f"live{next(numbers)}"
                    for _ in range(5):
                        player.bet(game, 1)
                    player.over(game, (WIN, LOSS, REFUND)[next(numbers) % 3])
                    placed[number] += 5
        except Exception as error:  # Raised below.
            failed.append(error)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(PLAYERS)]
    for thread in threads:
        thread.start()
    codes = []
    try:
        until = time.monotonic() + LIVE_S
        # A slow machine is given time, within that of the case.
        while (time.monotonic() < until or len(codes) < 3 or 0 not in codes or
               (min(placed) <= 50 and not failed)):
            done = wallet.ctl_run("check")
            codes.append(done.returncode)
            check(done.returncode in (0, 75) and "problem:" not in done.stdout,
                  f"check while bets are placed: {done.stdout}{done.stderr}")
    finally:
        ending.set()
        for thread in threads:
            thread.join()
    equal(failed, [], "who bet")
    check(min(placed) > 50, f"bets placed: {placed}")
    check(0 in codes, f"no check came to an end: {codes}")
    print(f"# {len(codes)} checks, {codes.count(75)} of them busy, while {sum(placed)} bets were "
          "placed")
    proved(wallet)


def set_movement(wallet, given, number, player_id, seq=1, previous=0, before=0):
    """Adds one of bank's movements as transaction @number; @given is the last id given out."""
    wallet.stop()
    subprocess.run([cb.builddir() / "tests" / "fault" / "set_movement", wallet.state / "db",
                    str(given), str(number), "bank", player_id, str(seq), str(previous),
                    str(int(before * UNITS)), str(UNITS)], check=True, timeout=20 * cb.PATIENCE)
    wallet.start()


def case_uncounted():
    """A movement beside a player's chain: a second number 2, and a movement of a player that does
    not exist. A seamless player's transactions, which move nothing, are not taken for such."""
    with cb.Instance("uncounted") as wallet:
        wallet.dealer_add("bank", currency="thb")
        wallet.dealer_add("lazy", "--url", "http://127.0.0.1:9", "--allow-http", mode="seamless")
        wallet.ctl("client", "add", "fair")
        wallet.player_add("bank", "ann")
        wallet.player_add("lazy", "bob")
        with Rounds(wallet.sockets / "edge.sock") as rounds:
            rounds.bets("lazy", "bob", ["one", "two"])
        for _ in range(3):
            wallet.ctl("player", "adjust", "bank", "ann", 10, "--reason", "a gift")
        proved(wallet)
        add_uncounted(wallet)


def case_not_given_out():
    """A movement after the last transaction id that was given out: a later transaction would get
    its id."""
    with cb.Instance("not-given-out") as wallet:
        wallet.dealer_add("bank", currency="thb")
        wallet.player_add("bank", "ann")
        wallet.ctl("player", "adjust", "bank", "ann", 10, "--reason", "a gift")
        last = wallet.ctl_json("status")["last_transaction_id"]
        set_movement(wallet, last, last + 7, "7" * 20)
        told = f"transaction {last + 7} was never given out"
        check(told in problems(wallet), f"{told}: {problems(wallet)}")


def add_uncounted(wallet):
    player = wallet.ctl_json("player", "show", "bank", "ann")
    last, second, _ = wallet.ctl_json("player", "ledger", "bank", "ann")["entries"]
    equal((second["entry_seq"], player["entry_seq"]), (2, 3), "a movement in the middle")
    for player_id, seq, previous, before, told in (
            (player["player_id"], 2, second["previous"], second["before_balance"],
             "neither the next one nor the player names it"),
            (player["player_id"], 4, last["transaction_id"], last["current_balance"],
             f"is not counted by the player, which has {player['entry_seq']}"),
            ("7" * 20, 1, 0, 0, "belongs to no player")):
        number = wallet.ctl_json("status")["last_transaction_id"] + 1
        set_movement(wallet, number, number, player_id, seq, previous, before)
        found = problems(wallet)
        check(not any("/0 " in line or "/0:" in line for line in found),
              f"a transaction that is no movement: {found}")
        check(any(line.startswith(f"movement {player_id}/{seq}") and told in line
                  for line in found), f"{told}: {found}")


LARGEST = 99999999999 * UNITS  # of whole credits, the largest amount
WIDE = 9300                            # amounts whose sum is above 2^63 ten-thousandths
AT_ONCE = 30                           # rounds


def lose(casino_id, user_id, number):
    """Commands by which the player gets the largest amount and loses it."""
    player, game_id = player_ref(casino_id, user_id), f"g{number}"
    return (request("transfer", transfer_payload(casino_id, TRANSFER_IN_KIND, f"in-{number}", user_id, LARGEST)),
            request("bet_place", bet_payload("fair", player, game_id, LARGEST, reference=f"bet-{casino_id}-{number}")),
            request("round_settle", settle_payload("fair", player, game_id, LOSS, 0,
                                                   reference=f"result-{casino_id}-{number}")))


def case_wide():
    """Sums above 64 bits, of a day, a player and a dealer, are possible: check is silent, and reports print them.
    Those of the second dealer exceed 64 bits only over its players."""
    with cb.Instance("wide") as wallet:
        wallet.dealer_add("bank", *cb.noon_offset(), currency="thb")
        wallet.ctl("client", "add", "fair")
        wallet.dealer_add("other", *cb.noon_offset(), currency="thb")
        wallet.player_add("bank", "ann")
        for user in ("bob", "eve"):
            wallet.player_add("other", user)
        most = LARGEST * WIDE
        check(most > 2 ** 63 > most // 2, "it does not fit into 64 bits, and its half does")
        with Rounds(wallet.sockets / "edge.sock") as link:
            for casino_id, users in (("bank", ("ann",)), ("other", ("bob", "eve"))):
                for first in range(0, WIDE, AT_ONCE):
                    sent = [frame for number in range(first, first + AT_ONCE)
                            for frame in lose(casino_id, users[number % len(users)], number)]
                    link.send(b"".join(sent))
                    for _ in sent:
                        frame = link.frame()
                        equal((frame.outcome, verdict(frame.payload).refusal), (DONE, 0), "a command")
                proved(wallet)
                day = wallet.ctl_json("report", "days", casino_id)["days"][-1]
                equal([day[name] for name in ("transferred_in", "staked", "profit")], 3 * [most // UNITS],
                      f"the day: {day}")
        equal(wallet.ctl_json("player", "show", "bank", "ann")["balance"], 0, "what is left")


def main():
    with cb.Instance("sums-test") as wallet:
        return cb.run_cases([
            ("sums are proved", lambda: case_sound(wallet)),
            ("damages are named", lambda: case_damage(wallet)),
            ("while bets are placed", lambda: case_live(wallet)),
            ("movements that no player counts", case_uncounted),
            ("a movement behind the ids given out", case_not_given_out),
            ("sums above 64 bits", case_wide)], seconds=60)


if __name__ == "__main__":
    sys.exit(main())
