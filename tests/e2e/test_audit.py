#!/usr/bin/python3
"""Every action of an operator is in the audit, with the operator, the action, the time and the
reason.

The table of creditbridgectl's commands and that of the ledger's admin commands are read from the
sources. A new command must be added here, with its row in the audit or as one that only reads.
"""
import itertools
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
import cb_ctl  # noqa: E402
from cb import check, equal  # noqa: E402
from cb_link import COMMANDS  # noqa: E402
from cb_rounds import Rounds  # noqa: E402
from cb_worker import LOSS, Worker  # noqa: E402

# What changes nothing.
READS = {"status", "metrics", "dealer list", "dealer show", "dealer ping", "client list",
         "player list", "player show", "player ledger", "transfer show", "transfer list",
         "bet show", "bet list", "round show", "callback list", "callback show", "check", "audit",
         "recon", "reconcile", "explain", "doctor", "completion", "follow", "refused list", "owed",
         "operator list", "cell list", "cluster status", "replay list", "replay show", "report days"}
# Commands that work without a ledger, or whose rows the suite of the command looks up.
ELSEWHERE = {"init", "adopt", "schema", "dealer test", "backup", "restore", "export", "import", "sweep",
             "demo", "callback replay", "replay stop", "job", "dealer move", "member add", "member list", "member renew", "member remove"}
SETTINGS = (("currency", "eur", "currency"), ("mode", "seamless", "mode"), ("decimals", "3", "decimals"),
            ("utc-offset", "420", "utc_offset_min"), ("rate-limit", "7", "rate_limit"),
            ("algorithm", "hmac-sha512", "signature_algorithm"),
            ("encoding", "base64", "signature_encoding"), ("refund-delay", "61", "refund_delay_s"),
            ("allow-http=yes", None, "allow_http"), ("url", "http://127.0.0.1:9/x", "url"),
            ("max-inflight", "19", "max_inflight"), ("path-betting", "/b", "path_betting"),
            ("path-betting-result", "/r", "path_betting_result"),
            ("path-betting-refund", "/f", "path_betting_refund"),
            ("path-betting-correction", "/c", "path_betting_correction"),
            ("path-balance-inquire", "/i", "path_balance_inquire"),
            ("unknown-bet-ids", "gone", "unknown_bet_ids"), ("duplicate-ids", "twice", "duplicate_ids"),
            ("success-needs-balance=yes", None, "success_needs_balance"),
            ("send-currency=yes", None, "send_currency"))
numbers = itertools.count(1)


class Trail:
    """A wallet, and what of its admin commands and of creditbridgectl's were done."""

    def __init__(self, wallet):
        self.wallet = wallet
        self.ctl, self.ctl_json, _ = cb_ctl.bind(wallet)
        self.done = set()
        self.ledger = set()

    def rows(self, limit):
        return self.ctl_json("audit", "--limit", limit)["audit"]

    def deed(self, command, arguments, target, ledger, detail="", words=(), reason=True):
        """Runs the command. Its one row in the audit must have all of it. Returns the answer."""
        why = f"because {next(numbers)}" if reason else ""
        last = self.rows(1)
        begun = cb.now_ms()
        answer = self.ctl_json(*command.split(), *arguments, *words,
                               *(("--reason", why) if reason else ()))
        rows = self.rows(2)
        equal(rows[0]["seq"], last[0]["seq"] + 1 if last else 1, f"one row of {command}")
        row = rows[0]
        equal((row["action"], row["object"], row["reason"]), (command, target, why), command)
        equal((row["uid"], row["peer_uid"]), (os.getuid(), self.owner()), f"who: {row}")
        check(begun - 1 <= row["time_ms"] <= cb.now_ms() + 1, f"when: {row}")
        check(detail in row["detail"], f"{command}: {detail} in {row['detail']!r}")
        for secret in (answer.get("key"), answer.get("signature")):
            check(not secret or secret not in str(rows), f"{command}: a secret")
        table = self.ctl("audit", "--limit", 1).stdout
        check(command in table and target in table and why in table, f"the table: {table}")
        self.done.add(command)
        self.ledger.add(ledger)
        return answer

    def owner(self):
        return os.stat(self.wallet.state).st_uid


def case_dealers(trail):
    name, target = "casino", "dealer casino"
    trail.deed("dealer add", (name, "--currency", "thb", "--mode", "transfer"), target,
               "dealer_put", "currency=thb")
    key = trail.deed("dealer key-add", (name,), target, "dealer_key", "key_id=k2")["key_id"]
    trail.deed("dealer key-use", (name, key), f"{target} {key}", "dealer_key", f"key_id={key}")
    trail.deed("dealer key-retire", (name, "k1"), f"{target} k1", "dealer_key", "key_id=k1 sha256=")
    trail.deed("dealer key-confirm", (name,), target, "dealer_key", "key_id=")
    trail.deed("dealer hold", (name,), target, "dealer_put", "callbacks_held_ms=1")
    trail.deed("release", (name,), target, "dealer_put", "callbacks_held_ms=0", ("--yes",))
    trail.deed("dealer suspend", (name,), target, "dealer_put")
    trail.deed("dealer resume", (name,), target, "dealer_put")
    for option, value, member in SETTINGS:
        words = (f"--{option}",) if value is None else (f"--{option}", value)
        trail.deed("dealer set", (name, *words), target, "dealer_put",
                   f"{member}={'' if value is None else value}")
    known = re.findall(r'^DEALER_SETTING\(\w+, "([a-z-]+)"', (
        cb.SRCDIR / "src/cmd/ctl/common/dealer_settings.def").read_text(), re.MULTILINE)
    equal({option.split("=")[0] for option, _, _ in SETTINGS}, set(known), "settings")


def case_clients(trail):
    name, target = "slots", "client slots"
    trail.deed("client add", (name,), target, "client_put")
    key = trail.deed("client key-add", (name,), target, "client_key", "key_id=k2")["key_id"]
    trail.deed("client key-use", (name, key), f"{target} {key}", "client_key", f"key_id={key}")
    trail.deed("client key-retire", (name, "k1"), f"{target} k1", "client_key", "key_id=k1 sha256=")
    trail.deed("client key-confirm", (name,), target, "client_key")
    trail.deed("client remove", (name,), target, "client_put")


def case_players(trail):
    trail.ctl("dealer", "add", "bank", "--currency", "thb", "--mode", "transfer")
    target = "player bank/alice"
    trail.deed("player add", ("bank", "alice"), target, "player_put", "player_id=")
    trail.deed("player suspend", ("bank", "alice"), target, "player_put")
    trail.deed("player resume", ("bank", "alice"), target, "player_put")
    trail.deed("player adjust", ("bank", "alice", "12.5"), target, "adjust", "amount=12.50")
    trail.deed("player adjust", ("bank", "alice", "-2.5"), target, "adjust", "amount=-2.50")
    with Worker(trail.wallet.sockets / "edge.sock") as link:
        link.place("slots", "bank", "alice", "g-1", 1)
        link.settle("slots", "bank", "alice", "g-1", LOSS)
    trail.deed("round correct", ("bank/alice", "g-1", "win", "2.5"), target, "operator_correct",
               "game_id=g-1 revision=1 result=win payout_amount=2.5", words=("--yes",))


def case_operators(trail):
    """Operators of the web console. The secret of the one-time codes is in no row."""
    name, target = "kim", "operator kim"
    added = trail.deed("operator add", (name, "--role", "read"), target, "operator_put", "login=kim role=read")
    check(added["otpauth"].split("secret=")[1][:32] not in str(trail.rows(0)), "the secret of the codes")
    trail.deed("operator set", (name, "--role", "finance"), target, "operator_put", "role=finance")
    for action in ("suspend", "resume", "unlock", "new-code", "sign-out"):
        trail.deed(f"operator {action}", (name,), target, "operator_put")


def case_callbacks(trail):
    """Results that were not delivered."""
    trail.ctl("dealer", "add", "lazy", "--currency", "thb", "--mode", "seamless", "--url",
              "http://127.0.0.1:9", "--allow-http")
    trail.ctl("player", "add", "lazy", "bob")
    games = [f"g{number}" for number in range(3)]
    with Rounds(trail.wallet.sockets / "edge.sock") as rounds:
        rounds.bets("lazy", "bob", games)
        due, left = rounds.settle("lazy", "bob", games)
    event, other = sorted([*due, *left])[:2]
    target = f"betting-result-{event}"
    trail.deed("callback hold", (event,), target, "callback_operate", "is=held")
    trail.deed("callback release", (event,), target, "callback_operate", "is=due")
    trail.deed("callback retry", (event,), target, "callback_operate", "casino_id=lazy",
               words=("--yes",))
    trail.deed("callback cancel", (event,), target, "callback_operate", "is=cancelled",
               words=("--yes",))
    before = trail.rows(1)[0]["seq"]
    trail.ctl("callback", "cancel", other, "--reason", "paid", "--dry-run")
    equal(trail.rows(1)[0]["seq"], before, "a dry run is no deed")


def case_keys_used(trail):
    """An operator uses a dealer's key: with it, the operator can move credit as the dealer does."""
    body = trail.wallet.dir / "body"
    body.write_text("{}")
    trail.deed("sign", ("bank", body), "dealer bank", "note", reason=False)
    port = cb.free_port()
    last = trail.rows(1)[0]["seq"]
    words = ("--user", "alice", "--url", f"http://127.0.0.1:{port}")
    # No server listens there. The audit has the attempt all the same.
    trail.ctl("request", "bank", "transfer-in", *words, "--amount", "5", "--reference", "r-1",
              code=69)
    row = trail.rows(1)[0]
    equal((row["seq"], row["action"], row["object"], row["detail"], row["uid"]),
          (last + 1, "request", "dealer bank",
           "POST /wallet-service/credit/transfer-in reference=r-1", os.getuid()), "the row")
    trail.ctl("request", "bank", "balance", *words, code=69)
    equal(trail.rows(1)[0]["seq"], last + 1, "what reads is no deed")
    key = trail.wallet.dir / "key"
    key.write_text("0123456789abcdef" * 4 + "\n")
    key.chmod(0o600)
    trail.ctl("sign", body, "--key-file", key)
    equal(trail.rows(1)[0]["seq"], last + 1, "another's key is none of the ledger's")
    trail.done.add("request")


def case_resume(trail):
    """The ledger was halted, and has no store to write in."""
    wallet = trail.wallet
    last = trail.rows(1)[0]["seq"]
    wallet.stop()
    (wallet.state / "halted").write_text("")
    if os.geteuid() == 0:
        os.chown(wallet.state / "halted", trail.owner(), -1)
    wallet.start()
    equal(trail.ctl_json("status")["halted"], True, "halted")
    trail.ctl("audit", code=75)
    trail.ctl("resume", "--reason", "the cable was loose")
    row = trail.rows(1)[0]
    equal((row["seq"], row["action"], row["reason"], row["uid"]),
          (last + 1, "resume", "the cable was loose", os.getuid()), "the row")
    log = (wallet.logs / "ledger.log").read_text()
    check(f'event=resume_asked peer_uid={trail.owner()} uid={os.getuid()}' in log and
          'reason="the cable was loose"' in log, "the log")
    trail.done.add("resume")
    trail.ledger.add("resume")


def case_refused(trail):
    """A command that was refused has no row in the audit."""
    last = trail.rows(1)[0]["seq"]
    trail.ctl("dealer", "add", "bank", "--currency", "thb", "--mode", "transfer", code=1)
    trail.ctl("player", "adjust", "bank", "alice", "-1000", "--reason", "x", code=1)
    trail.ctl("dealer", "key-retire", "bank", "k1", code=1)
    equal(trail.rows(1)[0]["seq"], last, "rows")


def case_complete(trail):
    """Nothing that an operator can do is missing here."""
    text = (cb.SRCDIR / "src/cmd/ctl/commands.c").read_text()
    words = re.findall(r'^\t\{"([a-z][a-z -]*)",', text, re.MULTILINE)
    check(len(words) > 30, f"commands: {words}")
    equal(set(words) - READS - ELSEWHERE - trail.done, set(), "commands of creditbridgectl")
    equal(trail.done - set(words), set(), "commands that are gone")
    admin = {name for name, command in COMMANDS.items()
             if command.socket == "ADMIN" and command.access == "WRITE"}
    elsewhere = {name for name in admin if name in ("backup", "import", "replay_start", "replay_stop", "dealer_move",
                                                        "move_put", "move_drop")}
    equal(admin - elsewhere - trail.ledger, set(), "commands of the ledger")


def case_numbers(trail):
    """The rows are numbered without a gap, and none can be taken away."""
    rows = trail.rows(0)
    equal([row["seq"] for row in rows], list(range(len(rows), 0, -1)), "seq")
    check(all(one["time_ms"] >= other["time_ms"] for one, other in zip(rows, rows[1:])), "times")


def main():
    with cb.Instance("audit-test") as wallet:
        trail = Trail(wallet)
        cases = {name: lambda function=function: function(trail) for name, function in (
            ("dealers and their settings", case_dealers),
            ("game servers", case_clients),
            ("players", case_players),
            ("operators", case_operators),
            ("callbacks", case_callbacks),
            ("keys that are used", case_keys_used),
            ("a ledger that halted", case_resume),
            ("refusals", case_refused),
            ("no command is forgotten", case_complete),
            ("the rows' numbers", case_numbers))}
        cb.needs(cases["no command is forgotten"], *cases)
        return cb.run_cases(list(cases.items()), seconds=120)


if __name__ == "__main__":
    sys.exit(main())
