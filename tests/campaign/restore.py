#!/usr/bin/python3
"""The campaign `restore`: an installation goes back in time, in every way, beside dealers that did not.

    restore.py [--cycles N] [--seconds S] [--seed N] [--way WAY]...

Each cycle plays traffic (bets and results of two seamless dealers, transfers of a third), makes a
backup, an export or a copy of the state in the middle, plays on, kills everything, and brings the data
back in one of these ways:

    restore       the backup
    twice         the backup, played on, killed, and the same backup once more
    logs          the backup, rolled forward by all logs of the old state
    some-logs     the backup, rolled forward by a part of the logs
    import        an export
    rehearsal     the backup is first restored on another host, which must not call any dealer
    downgrade     the copy of the state that an upgrade made, put back as README.Debian's way to an older
                  version does, and adopted
    copied        an older copy of the state in another directory, on which no ledger starts before it is
                  adopted
    rolled-back   the older files in the same directory, which no ledger can detect, adopted
    init          a new state: the old one is lost, and there is no backup

Then come the operator's steps: the sweeper takes over what was under way, the game servers repeat the
results that they sent since the backup, `reconcile` is given each dealer's file and its proposals are
typed, and `release` sends what is left. At the end nothing may be open, and of each bet: a win that was
acknowledged is paid once, a stake is returned at most once and never beside a win, no id names two
things, and the balances of the transfer dealer's players agree with its answers. After `init` there is
nothing to reconcile: the dealers' people end what was open, and the bank begins anew.

`--without floor` is the control: the first ids of a life are taken only from the data, by a clock that
is set back for the commands that begin a life (fault/clock.so). The judge must find an id that names
two things; another fault is not enough. `--without steps` releases without looking: the judge must find
a win that is not paid, or a stake that is not returned once.
"""
import argparse
import collections
import csv
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lib"), os.path.join(HERE, "..", "crash")]
import cb  # noqa: E402
import game  # noqa: E402
import restore_judge  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_platform import client_add  # noqa: E402
from cb_process import pids_end  # noqa: E402
from cb_postgresql import settings_of_store  # noqa: E402
from game import UNITS  # noqa: E402
from restore_judge import contradiction, judge  # noqa: E402
from restore_world import GameServer, SpecDealer, TransferDealer  # noqa: E402

WAYS = ("restore", "twice", "logs", "some-logs", "import", "rehearsal", "downgrade", "copied", "rolled-back",
        "init")
# What is taken when a copy of the state is to come back: with the ledger stopped.
STOPPED = ("downgrade", "copied", "rolled-back")
# The kinds of faults that each control must find.
CONTROLS = {"floor": (restore_judge.ID,), "steps": (restore_judge.UNPAID, restore_judge.PAID_TWICE, restore_judge.STAKE)}
CASINOS = ("one", "two")
PLAYERS = 6
GAME_SERVERS = 4
SETTINGS = dict(game.SETTINGS, callback_timeout_ms=1500, callback_lease_ms=3500,
                breaker_open_ms=50, log_level="warning",
                disk_ballast_mib=0, result_second_attempt_ms=200, result_third_attempt_ms=400)
PATIENCE_S = 60.0


class Lighttpd(cb.Lighttpd):
    platform_processes = 4


class Scene:
    """A wallet, its web server, and the world around it."""

    def __init__(self, options, seed):
        self.options = options
        self.seed = seed
        self.chance = random.Random(seed)
        self.dealers = {}
        self.life = 0
        self.stopping = threading.Event()
        self.sweeps = 0
        self.contradictions = []  # proposals that ask the dealer
        self.bank_begin = 0       # the transfers of the bank before it are of a state that was lost

    def __enter__(self):
        self.wallet = cb.Instance("cbrestore", settings=SETTINGS)
        self.server = Lighttpd(self.wallet, threads=16)
        self.server.__enter__()
        for casino in CASINOS:
            dealer = SpecDealer(cb.free_port(), casino)
            dealer.__enter__()
            self.dealers[casino] = dealer
            dealer.silent_share = 0.1
            for number in range(PLAYERS):
                dealer.opened(f"{casino}-{number}")
        client, players, bank = self.set_up()
        self.games = [GameServer(self.server, client, players, f"{self.seed}-{number}")
                      for number in range(GAME_SERVERS)]
        users = [f"bank-{number}" for number in range(PLAYERS)]
        self.bank = TransferDealer(self.server, bank, users, f"{self.seed}-bank")
        return self

    def set_up(self):
        """What the operator types in a new state. Returns the client, the seamless players, and the bank."""
        client = client_add(self.wallet, "slots")
        players = []
        for casino, dealer in self.dealers.items():
            made = self.wallet.dealer_add(casino, "--url", f"http://127.0.0.1:{dealer.server_port}",
                                          "--allow-http", "--refund-delay", "0", "--decimals", "4",
                                          mode="seamless")
            dealer.key = made.key
            players += [game.Player(casino, user, self.wallet.player_add(casino, user))
                        for user in dealer.balances]
        bank = self.wallet.dealer_add("bank")
        for number in range(PLAYERS):
            self.wallet.player_add("bank", f"bank-{number}")
        return client, players, bank

    def __exit__(self, *_):
        self.stopping.set()
        self.server.__exit__()
        self.wallet.close()
        for dealer in self.dealers.values():
            dealer.__exit__()

    # -- traffic

    def sweep(self, seconds="1s"):
        """One run of the sweeper, which may find no ledger."""
        self.sweeps += 1
        return subprocess.run([cb.find_program("creditbridge-sweep"), "--config",
                               self.wallet.config, "--for", seconds], capture_output=True,
                              text=True, timeout=60, check=False)

    def play(self, seconds):
        """Everything at once for so long."""
        end = time.monotonic() + seconds

        def left():
            return end - time.monotonic()

        def sweeping():
            while left() > 0:
                self.sweep()
        threads = [threading.Thread(target=one.play, args=(self.life, left)) for one in self.games]
        threads.append(threading.Thread(target=self.bank.play, args=(left,)))
        threads.append(threading.Thread(target=sweeping))
        for thread in threads:
            thread.start()
        return threads

    # -- going back

    def kill(self):
        engines = self.wallet.engine_pids()
        os.kill(self.wallet.ledger.pid, signal.SIGKILL)
        pids_end(engines, 20, (signal.SIGKILL,))
        self.wallet.ledger.process.wait(20)
        self.wallet.ledger = None

    def put_away(self):
        aside = self.wallet.dir / f"state-{time.monotonic_ns()}"
        self.wallet.state.rename(aside)
        return aside

    def begin_life(self, *words):
        """A command that begins a life; with --without floor by a clock of 2020."""
        argv = self.wallet.ctl_argv("--json", *words)
        env = dict(os.environ)
        if self.options.without == "floor":
            argv.insert(-1, "--accept-clock")
            env.update(LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "clock.so"),
                       CLOCK_OFFSET_S=str(1577836860 - int(time.time())))
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, env=env, check=False)
        equal(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        self.life += 1

    def start(self):
        """Starts the ledger; the control's engine goes on by its clock, too."""
        if self.options.without == "floor":
            env = dict(os.environ, LD_PRELOAD=str(cb.builddir() / "tests" / "fault" / "clock.so"),
                       CLOCK_OFFSET_S=str(1577836860 - int(time.time())))
            self.wallet.ledger = cb.Child(
                [cb.find_program("creditbridge-ledger"), "--config", self.wallet.config],
                self.wallet.logs / "ledger.log", env=env)
            self.wallet.ledger.wait_ready(self.wallet.answering, 30, "the ledger's first answer")
        else:
            self.wallet.start()

    def go_back(self, way, seconds):
        backup, export = self.wallet.dir / f"backup-{self.life}", self.wallet.dir / f"e-{self.life}"
        threads = self.play(2 * seconds)
        time.sleep(self.chance.uniform(0.3, 1) * seconds)
        if way == "import":
            self.wallet.ctl("export", "--with-keys", export)
        elif way in STOPPED:
            # As the package's preinst does.
            self.wallet.stop()
            shutil.copytree(self.wallet.state, backup)
            self.start()
        elif way != "init":
            self.wallet.ctl("backup", backup)
        time.sleep(self.chance.uniform(0.3, 1) * seconds)
        self.kill()
        for thread in threads:
            thread.join(PATIENCE_S)
            check(not thread.is_alive(), "traffic does not end")
        if way == "rolled-back":
            self.roll_back(backup)
            return
        aside = self.put_away()
        if way == "init":
            self.begin_anew()
            shutil.rmtree(aside)
            return
        if way == "import":
            self.begin_life("import", export)
        elif way == "copied":
            self.move_state(backup)
            self.refused_start()
            self.begin_life("adopt", "--copied")
        elif way == "downgrade":
            shutil.copytree(backup, self.wallet.state)
            self.begin_life("adopt", "--copied")
        elif way in ("logs", "some-logs"):
            if way == "some-logs":
                self.cut_logs(aside / "db", backup)
            self.begin_life("restore", "--logs", aside / "db", backup)
        else:
            if way == "rehearsal":
                self.rehearse(backup)
            self.begin_life("restore", backup)
        if way == "twice":
            self.start()
            self.operator_steps()
            for thread in self.play(seconds):
                thread.join(PATIENCE_S)
            self.kill()
            self.put_away()
            self.begin_life("restore", backup)
        self.start()
        self.operator_steps()
        shutil.rmtree(aside)

    def move_state(self, directory):
        """The state is at another path from now on."""
        self.wallet.state = directory
        self.wallet.write_config(settings_of_store() | SETTINGS)

    def refused_start(self):
        """No ledger starts on a copy before the operator states what it is."""
        done = subprocess.run([cb.find_program("creditbridge-ledger"), "--config", self.wallet.config],
                              capture_output=True, text=True, timeout=60, check=False)
        equal(done.returncode, 78, f"the ledger on a copy: {done.stderr}")
        check("adopt" in done.stderr, f"its remedy: {done.stderr}")

    def roll_back(self, backup):
        """The older files take the place of those in the directory, which stays the same one."""
        for path in self.wallet.state.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        shutil.copytree(backup, self.wallet.state, dirs_exist_ok=True)
        self.begin_life("adopt", "--copied")
        self.start()
        self.operator_steps()

    def begin_anew(self):
        """A new state in place of one that is lost: what was open is ended by the dealers' people."""
        self.begin_life("init")
        self.start()
        for casino, dealer in self.dealers.items():
            over = {payment.game_id for payment in dealer.payments.values()} | set(dealer.losses)
            for number, bet in list(dealer.bets.items()):
                if not bet.returned and bet.game_id not in over:
                    self.dealer_ends(casino, number)
        client, players, self.bank.dealer = self.set_up()
        for server in self.games:
            for one in server.rounds:
                one.bet = "lost" if one.bet is None else one.bet
                one.result = "lost" if one.result is None else one.result
            server.players, server.caller.client = players, client
        for one in self.bank.transfers:
            one.error = "lost" if one.error is None else one.error
        self.bank_begin = len(self.bank.transfers)

    def cut_logs(self, logs, backup):
        """Takes the last log away or, where the backup ends in it, a part of what follows."""
        last = sorted(logs.glob("log.*"))[-1]
        copied = sorted(backup.glob("data.*/log.*"))[-1]
        if last.name != copied.name:
            last.unlink()
            return
        begin, end = copied.stat().st_size, last.stat().st_size
        os.truncate(last, begin + int(self.chance.random() * (end - begin)))

    def rehearse(self, backup):
        """Another host restores the backup and serves; no dealer may hear of it."""
        with cb.Instance("cbrehearse", settings=SETTINGS, start=False) as host:
            shutil.rmtree(host.state)
            host.ctl("restore", backup)
            calls = sum(dealer.calls for dealer in self.dealers.values())
            host.start()
            for _ in range(2):
                done = subprocess.run([cb.find_program("creditbridge-sweep"), "--config",
                                       host.config, "--for", "1s"], capture_output=True, text=True,
                                      timeout=60, check=False)
                equal(done.returncode, 0, done.stderr)
            equal(sum(dealer.calls for dealer in self.dealers.values()), calls,
                  "calls of a rehearsal")

    # -- what the operator does

    def operator_steps(self):
        if self.options.without == "steps":
            self.wallet.ctl("release", "--yes", "--unreconciled", "--reason", "without looking")
            return
        self.settle_pending()
        for one in self.games:
            self.repeat_results(one)
        for casino in (*CASINOS, "bank"):
            self.reconcile(casino)
        words = ["--unreconciled"] if self.contradictions else []
        self.wallet.ctl("release", "--yes", "--reason", "reconciled", *words)

    def settle_pending(self):
        """The sweeper takes over what was under way; nothing is sent."""
        calls = sum(dealer.calls for dealer in self.dealers.values())

        def none_pending():
            self.sweep()
            return not self.wallet.ctl_json("bet", "list", "--state", "pending", "--limit", 0)["bets"]
        cb.wait_until(none_pending, PATIENCE_S, "bets that were under way to be taken over")
        equal(sum(dealer.calls for dealer in self.dealers.values()), calls,
              "calls of dealers before the release")

    def repeat_results(self, one):
        """A game server repeats each result that it sent, and sends those that it still has to."""
        end = time.monotonic() + PATIENCE_S
        for a_round in one.rounds:
            if a_round.bet != "" or (a_round.result not in (None, "")):
                continue
            before = a_round.result, a_round.result_id
            while not one.settle(a_round):
                check(time.monotonic() < end, f"the result of {a_round.game_id} is not answered")
                time.sleep(0.05)
            if before[0] == "":
                # It was acknowledged: what it says now is the operator's concern, not the player's.
                a_round.lost = a_round.result != ""
                a_round.result, a_round.result_id = before

    def file_of(self, casino):
        """What the dealer has, as creditbridge-recon(5) wants it for `reconcile`."""
        path = self.wallet.dir / f"{casino}.csv"
        rows = self.rows_of_bank() if casino == "bank" else self.rows_of(self.dealers[casino])
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("record", "id", "kind", "user_id", "game_id", "time_ms", "amount",
                             "state", "reference"))
            writer.writerows(rows)
        os.chmod(path, 0o644)
        return path

    def rows_of(self, dealer):
        """Its bets, and the results that it booked; it keeps no webhook-id."""
        with dealer.lock:
            over = {payment.game_id for payment in dealer.payments.values()} | set(dealer.losses)
            rows = [("bet", number, "bet", bet.user_id, bet.game_id, bet.time_ms,
                     f"{bet.units / UNITS:.4f}", "refunded" if bet.returned else
                     "settled" if bet.game_id in over else "accepted", "")
                    for number, bet in dealer.bets.items()]
            results = [(f"betting-result-{number}", payment.user_id, payment.game_id,
                        payment.time_ms, payment.units)
                       for number, payment in dealer.payments.items()]
            results += [(f"betting-result-{game_id}", user_id, game_id, time_ms, units)
                        for game_id, (user_id, time_ms, units) in dealer.losses.items()]
        rows += [("callback", name, "betting-result", user_id, game_id, time_ms,
                  f"{units / UNITS:.4f}", "delivered", "")
                 for name, user_id, game_id, time_ms, units in results]
        return rows

    def rows_of_bank(self):
        return [("movement", one.transaction_id, "transfer_out" if one.out else "transfer_in",
                 one.user_id, "", one.time_ms, f"{(-one.units if one.out else one.units) / UNITS:.2f}",
                 "done", one.reference) for one in self.bank.transfers if one.done()]

    def reconcile(self, casino):
        """Types what `reconcile` proposes, and does the dealer's part, until nothing is left to do."""
        end = time.monotonic() + PATIENCE_S
        asked = set()
        report, left, whole = {"noted": False}, [], []
        while not report["noted"]:
            check(time.monotonic() < end, f"proposals that do not end: {left[:3]}")
            done = self.wallet.ctl_run("--json", "reconcile", *whole, casino, self.file_of(casino),
                                       seconds=120)
            check(done.returncode in (0, 1) and done.stdout, f"reconcile: {done.stderr}")
            report = json.loads(done.stdout)
            # A dealer without traffic since the backup has no newer row.
            whole = ["--complete"] if report["ok"] and not report["covers"] else []
            left = [row for row in report["differences"] if row["remedy"] != "none"]
            for row in left:
                self.follow(casino, row, asked)
            if self.contradictions:
                return

    def follow(self, casino, row, asked):
        remedy = row["remedy"]
        if remedy == "none" or (remedy == "release" and not row["command"]):
            return
        if remedy == "repeat" and casino == "bank":
            self.bank_repeats()
        elif remedy == "sweep":
            self.sweep()
        elif row["command"]:
            words = shlex.split(row["command"])
            equal(words.pop(0), "creditbridgectl", "a command")
            self.wallet.ctl(*words)
        elif remedy == "ask_dealer" and row["record"] == "bet" and not row["our_state"]:
            if row["id"] not in asked:
                self.dealer_ends(casino, int(row["id"]))
            asked.add(row["id"])
        else:
            self.contradictions.append(contradiction(row, f"{casino}: {row} {self.evidence(casino, row)}"))

    def evidence(self, casino, row):
        """What each side has of a round that they contradict each other about."""
        game_id = row["game_id"]
        if not game_id:
            return ""
        dealer = self.dealers[casino]
        played = [one for server in self.games for one in server.rounds if one.game_id == game_id]
        shown = self.wallet.ctl_run("--json", "round", "show", f"{casino}/{row['user_id']}", game_id)
        return (f"{played} {[bet for bet in dealer.bets.items() if bet[1].game_id == game_id]} "
                f"{[one for one in dealer.payments.items() if one[1].game_id == game_id]} "
                f"{dealer.losses.get(game_id)} {dealer.by_hand.get(game_id)} {shown.stdout}")

    def bank_repeats(self):
        end = time.monotonic() + PATIENCE_S
        self.bank.finish(lambda: end - time.monotonic())

    def dealer_ends(self, casino, number):
        """The dealer's people end a bet that the ledger lost, as its game server says."""
        dealer = self.dealers[casino]
        bet = dealer.bets[number]
        one = next((one for server in self.games for one in server.rounds
                    if one.game_id == bet.game_id), None)
        if one and one.result == "" and one.bet_id == number and one.word != "refund":
            with dealer.lock:
                if one.word == "win":
                    dealer.balances[bet.user_id] += one.payout
                    dealer.by_hand[bet.game_id] = one.payout
                dealer.lose(bet.game_id, bet.user_id, bet.time_ms, one.payout)
        else:
            dealer.give_back(number)

    # -- the end

    def drain(self):
        """All that is due is sent; parked ones are sent again."""
        end = time.monotonic() + PATIENCE_S

        def left():
            return end - time.monotonic()
        for dealer in self.dealers.values():
            dealer.silent_share = 0.0
        for one in self.games:
            one.finish(left)
        self.bank.finish(left)

        def drained():
            self.sweep()
            rows = self.wallet.ctl_json("callback", "list", "--state", "due,sending,parked",
                                        "--limit", 0)["callbacks"]
            parked = [str(row["event"]) for row in rows if row["state"] == "parked"]
            if parked:
                self.wallet.ctl("callback", "retry", *parked, "--yes", "--reason", "the dealer is up")
            return not rows
        cb.wait_until(drained, PATIENCE_S, "callbacks to be delivered")


def report_faults(faults):
    kinds = collections.Counter(fault.kind for fault in faults)
    print(f"# faults: {len(faults)} {dict(sorted(kinds.items()))}", flush=True)
    for fault in faults[:10]:
        print(f"# fault {str(fault)[:500]}", flush=True)


def run(options, seed):
    with Scene(options, seed) as scene:
        ways = list(options.way or WAYS)
        counts = collections.Counter()
        for cycle in range(options.cycles):
            way = ways[cycle % len(ways)]
            started = time.monotonic()
            scene.go_back(way, options.seconds)
            counts[way] += 1
            print(f"# cycle {cycle}: {way}, life {scene.life}, "
                  f"{time.monotonic() - started:.1f} s", flush=True)
        # The last life gives out ids, too.
        for thread in scene.play(options.seconds):
            thread.join(PATIENCE_S)
            check(not thread.is_alive(), "traffic does not end")
        scene.drain()
        faults = judge(scene)
        rounds = [one for server in scene.games for one in server.rounds]
        wins = sum(one.won() for one in rounds)
        print(f"# {'control' if options.without else 'campaign'}, seed {seed}: {dict(counts)}, {scene.life} lives, "
              f"{len(rounds)} rounds, {wins} wins, {len(scene.bank.transfers)} transfers, {scene.sweeps} sweeps",
              flush=True)
        report_faults(faults)
        if options.without:
            named = CONTROLS[options.without]
            check(any(fault.kind in named for fault in faults),
                  f"without {options.without} no fault of the kind {' or '.join(named)} was found")
            return
        check(not faults, "\n".join(str(fault) for fault in faults[:10]))
        done = scene.wallet.ctl_run("check")
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--cycles", type=int, default=len(WAYS))
    parser.add_argument("--seconds", type=float, default=0.7, help="of traffic before and after")
    parser.add_argument("--seed", default=os.environ.get("SEED") or str(random.getrandbits(32)))
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--without", choices=tuple(CONTROLS), default="")
    options = parser.parse_args()
    print(f"# SEED={options.seed}", flush=True)
    cases = [("restores, and dealers that did not go back", lambda: run(options, options.seed))]
    if not options.without:
        control = argparse.Namespace(**{**vars(options), "without": "floor", "cycles": 1,
                                        "way": ["twice"]})
        cases.append(("the control: ids without the clock's floor are found",
                      lambda: run(control, f"{options.seed}-control")))
    return cb.run_cases(cases, seconds=int(60 + options.cycles * (options.seconds * 6 + 60)))


if __name__ == "__main__":
    sys.exit(main())
