#!/usr/bin/python3
"""creditbridgectl as an operator uses it, against a real ledger.

A proxy on the ledger's socket makes the faults that the ledger does not have: damaged rows, a lost
answer, overload.
"""
import base64
import hashlib
import hmac
import http.server
import inspect
import itertools
import json
import os
import pwd
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, needs  # noqa: E402
from cb_ctl import bind, new, on_terminal, run  # noqa: E402
from cb_instance import temporary_directory  # noqa: E402
from cb_listener import Scripted, TlsServer  # noqa: E402
from cb_lies import Change  # noqa: E402
from cb_link import BUSY, FAULT, FORBIDDEN  # noqa: E402
from cb_middle import Middle, Operator, with_outcome  # noqa: E402

WALLET = None
ctl = ctl_json = refused = None  # of WALLET
COMMAND_LINE = re.compile(r"^  ([a-z]+(?: [a-z-]+)?)  +\S", re.M)


def dealer_new(*options):
    return WALLET.dealer_add(new("dealer"), *options)


def player_new(casino_id):
    user_id = new("user")
    WALLET.player_add(casino_id, user_id)
    return user_id


def adjust(casino_id, user_id, amount, *options):
    return ctl_json("player", "adjust", casino_id, user_id, amount, "--reason", "test", *options)


def entries(casino_id, user_id):
    return ctl_json("player", "ledger", casino_id, user_id)["entries"]


# -- the command line

def case_help():
    top = run("--help").stdout
    commands = COMMAND_LINE.findall(top)
    check(len(commands) >= 40, f"commands: {commands}")
    for name in ("init", "dealer key-retire", "dealer ping", "client key-retire", "player adjust",
                 "transfer list", "bet show", "round show", "callback release", "check", "request"):
        check(name in commands, f"{name} in --help")
    for name in commands:
        shown = run(*name.split(), "--help").stdout
        check(shown.startswith(f"Usage: creditbridgectl {name}"), f"{name}: {shown}")
        for part in ("--json", "--config", "With --json:", "Exit status:"):
            check(part in shown, f"{part} in the help of {name}")
    group = run("player", "--help").stdout
    equal({name.split()[0] for name in COMMAND_LINE.findall(group)}, {"player"}, "group")
    for name in {name.split()[0] for name in commands if " " in name}:
        equal(run(name, "--help").stdout.splitlines()[1], f"The commands that begin with '{name}'.", name)
    check("0.1" in run("--version").stdout, "version")
    listed = top.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
    equal([line for line in listed if len(line) > 79 or not re.match(r"  [a-z]| {21}\S", line)],
          [], "a command's help is folded below its own column")
    check(any(line.startswith(" " * 21) for line in listed), "folded")


def case_usage():
    """With --json each error is on standard error, too. The form without is looked at for every fourth."""
    for number, words in enumerate((
                  (), ("nonsense",), ("dealer",), ("dealer", "nonsense"), ("--nonsense",),
                  ("dealer", "show"), ("dealer", "show", "a", "b"), ("status", "--limit", "1"),
                  ("dealer", "add", "a"), ("dealer", "add", "a", "--currency", "thb"),
                  ("dealer", "add", "a", "--currency", "THB", "--mode", "transfer"),
                  ("dealer", "add", "a b", "--currency", "thb", "--mode", "transfer"),
                  ("dealer", "add", "a", "--currency", "thb", "--mode", "x"),
                  ("dealer", "add", "a", "--currency", "thb", "--mode", "transfer",
                   "--decimals", "5"),
                  ("dealer", "add", "a", "--currency", "thb", "--mode", "seamless",
                   "--url", "http://dealer.example"),
                  ("dealer", "add", "a", "--currency", "thb", "--mode", "seamless",
                   "--url", "https://user@dealer.example"),
                  ("player", "add", "demo", "a\nb"), ("player", "add", "demo", "x" * 129),
                  ("player", "adjust", "demo", "alice", "5"),
                  ("player", "adjust", "demo", "alice", "--reason", "x"),
                  ("player", "adjust", "demo", "alice", "0", "--reason", "x"),
                  ("player", "adjust", "demo", "alice", "1e3", "--reason", "x"),
                  ("player", "adjust", "demo", "alice", "0.00001", "--reason", "x"),
                  ("player", "adjust", "demo", "alice", "5", "-5", "--reason", "x"),
                  ("player", "adjust", "demo", "alice", "-5", "-5", "--reason", "x"),
                  ("player", "list", "demo", "--limit", "-1"),
                  ("transfer", "show", "demo"), ("transfer", "show", "--transaction", "x"),
                  ("transfer", "list", "--user", "alice"),
                  ("transfer", "list", "--since", "2025-02-30"),
                  ("transfer", "list", "--until", "last week"),
                  ("request", "demo", "nonsense"), ("request", "demo", "balance"),
                  ("transfer", "list", "--casino", "a b"),
                  ("dealer", "add", "a", "--currency", "thb", "--mode", "seamless",
                   "--path-betting", "betting"),
                  ("dealer", "add", "a", "--currency", "thb", "--mode", "seamless",
                   "--path-betting-refund", "/a/../b"),
                  ("client", "add", "a b"), ("client", "add", "x" * 65), ("client", "key-use", "a"),
                  ("bet", "show"), ("bet", "show", "x"), ("bet", "show", "0x1"),
                  ("bet", "show", "demo/alice", "g", "0"),
                  ("bet", "show", "demo/alice", "g", 2 ** 30 + 1),
                  ("bet", "show", "demo/alice", "a\nb"), ("round", "show", "demo/alice", "g", "1"),
                  ("bet", "list", "--state", "nonsense"), ("bet", "list", "--state", "pending,"),
                  ("bet", "list", "--user", "alice"), ("bet", "list", "--kind", "betting"),
                  ("callback", "list", "--kind", "betting,x"), ("callback", "list", "--state", ""),
                  ("callback", "show", "x"), ("callback", "show", "betting-"),
                  ("callback", "show", "bet-1"), ("callback", "show", "-1"),
                  ("callback", "hold", "1"), ("callback", "hold", "--reason", "x"),
                  ("callback", "hold", "x", "--reason", "x"),
                  ("callback", "hold", "-", "--reason", "x"),
                  ("callback", "hold", "1", "--reason", "x", "--yes"),
                  ("sign",), ("sign", "demo", "a", "b"),
                  ("sign", "--key-file", "-", "-"),
                  ("request", "demo", "POST", "/", "--key-file", "-", "--body", "-"))):
        done = ctl("--json", *words, code=2)
        error = json.loads(done.stdout)["error"]
        if number % 4 == 0:
            done = ctl(*words, code=2)
            equal(done.stdout, "", f"output of {words}")
        check("--help" in done.stderr, f"a hint to --help for {words}: {done.stderr}")
        equal(error["id"], "usage", f"{words} with --json")
        check(error["detail"] and error["detail"] in done.stderr, f"{words}: {error}")
    check("control characters" in run("player", "suspend", "demo", "alice", "--reason", "a\nb",
                                      code=2).stderr, "what is wrong with a reason of two lines")
    # --json is found wherever it stands, and help is no error.
    done = run("dealer", "show", "--what", "--json", code=2)
    check("--what" in json.loads(done.stdout)["error"]["detail"], done.stdout)
    check("unrecognized option" in done.stderr and "--help" in done.stderr, done.stderr)
    check(run("--json", "dealer", "show", "--help").stdout.startswith("Usage:"), "help")
    equal(run("dealer", "show", "--what", "--", "--json", code=2).stdout, "", "behind --")


def case_options_anywhere():
    equal(json.loads(run("--config", WALLET.config, "--json", "status").stdout)["halted"], False,
          "before the command")
    equal(json.loads(run("status", "--json", "--config", WALLET.config).stdout)["halted"], False,
          "behind the command")


def case_configuration():
    bad = WALLET.dir / "bad.conf"
    bad.write_text("nonsense = 1\n")
    missing = WALLET.dir / "missing.conf"
    for path, why in ((bad, "no such option 'nonsense'"), (missing, "No such file or directory")):
        # One line, and the same in JSON.
        done = run("--json", "--config", path, "status", code=78)
        equal(done.stderr, f"creditbridgectl: configuration: {path}:1: {why}\n", "file and line")
        equal(json.loads(done.stdout), {"error": {"id": "configuration",
              "detail": f"{path}:1: {why}"}}, "in JSON")
    full = WALLET.dir / "full"
    full.mkdir()
    (full / "something").touch()
    bad.write_text(f'state_directory = "{full}"\nsocket_directory = "{full}"\n')
    run("--config", bad, "init", code=78)
    check(os.listdir(full) == ["something"], "nothing was changed")


def case_children_ignored():
    """A caller may ignore SIGCHLD, which the program inherits."""
    def ignoring():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    place = WALLET.dir / "ignored"
    place.mkdir(mode=0o700)
    config = place / "creditbridge.conf"
    config.write_text(f'state_directory = "{place}/state"\nsocket_directory = "{place}"\n')
    bad = place / "bad"
    bad.write_text("no export")
    for words, code in ((("import", bad), 1), (("schema",), 78), (("restore", place), 1)):
        said = [run("--config", config, *words, code=code, preexec_fn=before).stderr
                for before in (None, ignoring)]
        equal(said[1], said[0], f"{words[0]}: what it says")
    # Both runs see the same processes and the same cron. Only disk_sync measures a speed, which may differ.
    found = [[(one["check"], one["check"] == "disk_sync" or one["result"]) for one in json.loads(
        subprocess.run(WALLET.ctl_argv("--json", "doctor"), capture_output=True, text=True,
                       timeout=60 * cb.PATIENCE, check=False, preexec_fn=before).stdout)["findings"]]
             for before in (None, ignoring)]
    check(len(found[0]) > 5, f"{found[0]}")
    equal(found[1], found[0], "what doctor found")


def case_init():
    installation = WALLET.state / "installation"
    before = installation.read_bytes()
    refused("already_exists", "init")
    equal(installation.read_bytes(), before, "the installation's id")
    other = WALLET.dir / "other.conf"
    other.write_text(f'state_directory = "{WALLET.dir}/fresh"\n'
                     f'socket_directory = "{WALLET.dir}"\n')
    made = json.loads(run("--config", other, "init", "--json").stdout)
    equal(made["state_directory"], f"{WALLET.dir}/fresh", "where")
    check(re.fullmatch("[0-9a-f]{32}", made["installation"]), made)
    equal(os.stat(made["state_directory"]).st_mode & 0o777, 0o700, "mode")
    run("--config", other, "init", code=1)


def case_unreachable():
    config = WALLET.dir / "down.conf"
    (WALLET.dir / "down").mkdir()
    config.write_text(f'state_directory = "{WALLET.state}"\n'
                      f'socket_directory = "{WALLET.dir}/down"\nledger_deadline_ms = 200\n')
    done = run("--config", config, "--json", "dealer", "list", code=69)
    equal(json.loads(done.stdout)["error"]["id"], "ledger_unreachable", "error")
    # A socket without a listener.
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(f"{WALLET.dir}/down/admin.sock")
    done = run("--config", config, "status", code=69)
    check(f"{WALLET.dir}/down/admin.sock" in done.stderr and "doctor" in done.stderr, done.stderr)


def case_failures():
    for outcome, code, error_id in ((BUSY, 75, "ledger_busy"), (FAULT, 1, "failed"),
                                    (FORBIDDEN, 77, "not_permitted")):
        def change(_command, _record, answer, outcome=outcome):
            return with_outcome(answer, outcome)
        with Middle(WALLET, change) as middle:
            done = run("--config", middle.config, "--json", "status", code=code)
            equal(json.loads(done.stdout)["error"]["id"], error_id, error_id)
    with Middle(WALLET, None, greeting=lambda data: data[:4] + b"\1" * 16) as middle:
        run("--config", middle.config, "status", code=1)
    with Middle(WALLET, lambda *_: None) as middle:
        done = run("--config", middle.config, "--json", "status", code=69)
        equal(json.loads(done.stdout)["error"]["id"], "outcome_unknown", "no answer")


def case_not_permitted():
    sock = WALLET.sockets / "admin.sock"
    if os.geteuid() == 0:
        # The program is copied, because the build directory may be closed to other users.
        program = WALLET.dir / "bin" / "creditbridgectl"
        program.write_bytes(cb.find_program("creditbridgectl").read_bytes())
        program.chmod(0o755)
        done = subprocess.run([program, "--config", WALLET.config, "status"], user="nobody",
                              group="nogroup", extra_groups=[], capture_output=True, text=True,
                              timeout=30 * cb.PATIENCE, check=False, cwd="/")
    else:
        mode = os.stat(sock).st_mode & 0o777
        os.chmod(sock, 0)
        try:
            done = WALLET.ctl_run("status")
        finally:
            os.chmod(sock, mode)
    equal(done.returncode, 77, done.stderr)
    check(f"run this as user {pwd.getpwuid(os.stat(sock).st_uid).pw_name}" in done.stderr, done.stderr)


def case_root_drops():
    if os.geteuid() != 0:
        raise cb.Skip("only root can drop to another user")
    owner = pwd.getpwnam("daemon")
    folder = temporary_directory("ctl-root")
    config = folder / "creditbridge.conf"
    sockets = folder / "run"
    sockets.mkdir()
    os.chown(sockets, owner.pw_uid, owner.pw_gid)
    config.write_text(f'state_directory = "{folder}/state"\nsocket_directory = "{sockets}"\n'
                      'log_target = "stderr"\ndisk_ballast_mib = 1\n')
    config.chmod(0o644)
    run("--config", config, "init", "--user", "daemon")
    for name in ("state", "state/installation"):
        equal(os.stat(folder / name).st_uid, owner.pw_uid, f"owner of {name}")
    program = folder / "creditbridge-ledger"
    program.write_bytes(cb.find_program("creditbridge-ledger").read_bytes())
    program.chmod(0o755)
    log = folder / "ledger.log"
    ledger = cb.Child([program, "--config", config], log, user="daemon")
    try:
        cb.wait_until(lambda: cb.socket_ready(sockets / "admin.sock"), 20, "the socket")
        env = dict(os.environ, SUDO_USER="joe")
        run("--config", config, "dealer", "add", "demo", "--currency", "thb", "--mode", "transfer",
            "--reason", "because", env=env)
        row = json.loads(run("--config", config, "--json", "audit").stdout)["audit"][0]
        equal((row["uid"], row["peer_uid"], row["sudo_user"], row["reason"]),
              (0, owner.pw_uid, "joe", "because"), "audit")
    finally:
        ledger.stop()
        shutil.rmtree(folder)


# -- dealers

def case_dealers():
    name = new("dealer")
    made = ctl_json("dealer", "add", name, "--currency", "thb", "--mode", "transfer")
    equal(set(made), {"casino_id", "key_id", "key"}, "members")
    check(re.fullmatch("[0-9a-f]{64}", made["key"]), "the key")
    done = refused("already_exists", "dealer", "add", name, "--currency", "thb", "--mode", "transfer")
    check(f"dealer {name}: it exists already; see `creditbridgectl dealer list`" in done.stderr,
          done.stderr)
    done = ctl("dealer", "add", new("dealer"), "--currency", "THB", "--mode", "transfer", code=2)
    check("'THB': currency codes are lower case: thb" in done.stderr, done.stderr)
    done = refused("key_not_found", "dealer", "key-use", name, "k9")
    check(f"dealer {name} k9: there is no such live key; " in done.stderr, done.stderr)
    # A seamless wallet without a URL is made, with a warning that names the next command.
    bare = new("dealer")
    made = ctl_json("dealer", "add", bare, "--currency", "thb", "--mode", "seamless")
    check(f"`creditbridgectl dealer set {bare} --url URL`" in made["warning"], made)
    check("warning" in ctl_json("dealer", "show", bare), "dealer show")
    done = ctl("dealer", "set", bare, "--decimals", "2")
    check(f"dealer {bare} has a seamless wallet and no URL" in done.stderr, done.stderr)
    check(re.search(rf"{bare}.*none: its bets are refused", ctl("dealer", "list").stdout), "dealer list")
    check(bare in ctl_json("status")["dealers_without_url"], "status --json")
    check(re.search(rf"^(dealers without URL)? +{bare}$", ctl("status").stdout, re.MULTILINE), "status")
    check("warning" not in ctl_json("dealer", "set", bare, "--url", "https://dealer.example"), "with a URL")
    check(bare not in ctl_json("status")["dealers_without_url"], "status --json, with a URL")
    refused("dealer_not_found", "dealer", "show", "nobody")
    refused("dealer_not_found", "dealer", "set", "nobody", "--decimals", "3")
    refused("dealer_not_found", "dealer", "suspend", "nobody")
    refused("dealer_not_found", "player", "list", "nobody")
    changed = ctl_json("dealer", "set", name, "--decimals", "3", "--url", "http://x.example/y",
                       "--allow-http", "--utc-offset", "-420", "--algorithm", "hmac-sha512",
                       "--encoding", "base64", "--refund-delay", "0", "--max-inflight", "7",
                       "--rate-limit", "9", "--mode", "seamless", "--currency", "usd",
                       "--path-balance-inquire", "/cb/balance.php", "--path-betting", "/b",
                       "--path-betting-result", "/r", "--path-betting-refund", "/f",
                       "--unknown-bet-ids", "NO_BET,E-404", "--duplicate-ids", "TWICE,E-409",
                       "--success-needs-balance", "--send-currency=yes")
    shown = ctl_json("dealer", "show", name)
    for dealer in (changed, shown):
        for key, value in (("decimals", 3), ("url", "http://x.example/y"), ("allow_http", True),
                           ("utc_offset_min", -420), ("signature_algorithm", "hmac-sha512"),
                           ("signature_encoding", "base64"), ("refund_delay_s", 0),
                           ("max_inflight", 7), ("rate_limit", 9), ("mode", "seamless"),
                           ("path_balance_inquire", "/cb/balance.php"), ("path_betting", "/b"),
                           ("path_betting_result", "/r"), ("path_betting_refund", "/f"),
                           ("unknown_bet_ids", "NO_BET,E-404"),
                           ("duplicate_ids", "TWICE,E-409"), ("success_needs_balance", True),
                           ("send_currency", True),
                           ("currency", "usd"), ("suspended", False)):
            equal(dealer[key], value, key)
        equal([key["key_id"] for key in dealer["keys"]], ["k1"], "keys")
    equal(shown["total"]["players"], 0, "players")
    refused("not_allowed_now", "dealer", "set", name, "--decimals", "2")
    refused("bad_request", "dealer", "set", name, "--unknown-bet-ids", "a b")
    refused("bad_request", "dealer", "set", name, "--duplicate-ids", "a b")
    for option, value in (("--duplicate-ids", "X,NO_BET"), ("--duplicate-ids", "bet_not_found"),
                          ("--unknown-bet-ids", "E-409")):
        refused("bad_request", "dealer", "set", name, option, value)
    ctl("dealer", "set", name, "--duplicate-ids", "x" * 257, code=2)
    text = ctl("dealer", "show", name).stdout
    check(re.search(r"^duplicate ids +TWICE,E-409\nsuccess needs balance +yes\nsends currency +yes$", text,
                    re.M), text)
    text = ctl("dealer", "set", name, "--path-betting", "", "--unknown-bet-ids", "").stdout
    check(re.search(r"path of betting +/betting\n", text), f"the suggested path: {text}")
    check(re.search(r"path of betting-result +/r\n", text), f"the path that was set: {text}")
    check("unknown bet ids" not in text, text)
    # The URL stays: without TLS it is not acceptable any more.
    ctl("dealer", "set", name, "--allow-http=no", code=2)
    ctl_json("dealer", "suspend", name)
    equal(ctl_json("dealer", "show", name)["suspended"], True, "suspended")
    refused("dealer_suspended", "player", "add", name, "alice")
    equal(ctl_json("dealer", "resume", name)["suspended"], False, "resumed")
    listed = {row["casino_id"]: row for row in ctl_json("dealer", "list")["dealers"]}
    equal(listed[name]["currency"], "usd", "listed")
    table = ctl("dealer", "list").stdout
    check(table.startswith("CASINO") and name in table and "\033" not in table, table)
    for text in (table, json.dumps(listed), json.dumps(shown), ctl("dealer", "show", name).stdout,
                 ctl("audit").stdout):
        check(made["key"] not in text, "the key is shown once")


def case_keys_from_files():
    # A key is taken once: each of these begins with another digit.
    keys = [digit + "0123456789abcdef" * 3 + "0123456789abcde" for digit in "abcd"]
    path = WALLET.dir / "key"
    path.write_text(keys[0] + "\n")
    options = ("--currency", "thb", "--mode", "transfer", "--key-file")
    equal(ctl_json("dealer", "add", new("dealer"), *options, path)["key"], keys[0], "from a file")
    equal(ctl_json("dealer", "add", new("dealer"), *options, "-", stdin=keys[1])["key"], keys[1],
          "stdin")
    path.write_text(keys[2] + "\n")
    check(keys[2] not in ctl("dealer", "add", new("dealer"), *options, path).stdout, "not repeated")
    key = keys[3]
    path.write_text(key + " \t\r\n\n")
    equal(ctl_json("dealer", "add", new("dealer"), *options, path)["key"], key, "white space")
    equal(ctl_json("dealer", "add", new("dealer"), *options, "-", stdin="short", code=1)["error"]
          ["detail"], "standard input does not hold a key: 64 hex characters", "the name of -")
    for bad in ("", key[:-1], key + "0", key[:-1] + "g", key + "\n" + key):
        path.write_text(bad)
        refused("bad_key", "dealer", "add", new("dealer"), *options, path)
    ctl("dealer", "add", new("dealer"), *options, "/nonexistent", code=1)


def case_key_rotation():
    dealer = dealer_new()
    name = dealer.casino_id
    body = '{"a":1}'

    def signature():
        return ctl("sign", name, stdin=body).stdout.strip()
    equal(signature(), cb.sign(dealer.key, body.encode()), "the first key signs")
    second = ctl_json("dealer", "key-add", name)
    equal(second["key_id"], "k2", "its id")
    equal(signature(), cb.sign(dealer.key, body.encode()), "still the first key")
    refused("too_many_keys", "dealer", "key-add", name)
    refused("key_in_use", "dealer", "key-retire", name, "k1")
    refused("key_not_found", "dealer", "key-use", name, "k3")
    refused("key_not_found", "dealer", "key-use", name, "k" * 40)
    ctl("dealer", "key-use", name, "k2")
    equal(signature(), cb.sign(second["key"], body.encode()), "the second key signs")
    equal(ctl_json("dealer", "key-retire", name, "k1")["key_id"], "k1", "retired")
    refused("key_in_use", "dealer", "key-retire", name, "k2")
    equal(ctl_json("dealer", "key-add", name)["key_id"], "k3", "an id is not used again")
    equal([key["key_id"] for key in ctl_json("dealer", "show", name)["keys"]].count("k1"), 0,
          "k1 is gone")


# -- players

def case_players():
    name = dealer_new().casino_id
    first = ctl_json("player", "add", name, "alice")
    equal((first["casino_id"], first["user_id"], first["currency"], first["created"],
           first["balance"]), (name, "alice", "thb", True, 0), "added")
    check(re.fullmatch("[a-z2-7]{20}", first["player_id"]), first)
    again = ctl_json("player", "add", name, "alice")
    equal((again["player_id"], again["created"]), (first["player_id"], False), "added again")
    refused("dealer_not_found", "player", "add", "nobody", "alice")
    refused("user_not_found", "player", "show", name, "bob")
    refused("user_not_found", "player", "show", "aaaaaaaaaaaaaaaaaaaa")
    refused("user_not_found", "player", "show", "x" * 200)
    refused("user_not_found", "player", "suspend", name, "bob")
    for words in ((name, "alice"), (first["player_id"],)):
        equal(ctl_json("player", "show", *words)["user_id"], "alice", "shown")
    equal(ctl_json("player", "suspend", name, "alice")["suspended"], True, "suspended")
    equal(ctl_json("player", "show", name, "alice")["suspended"], True, "suspended")
    equal(ctl_json("player", "resume", name, "alice")["suspended"], False, "resumed")
    for user_id in ("bob", "ünï çødé", "a'b\"c\\d"):
        ctl("player", "add", name, user_id)
    users = [row["user_id"] for row in ctl_json("player", "list", name)["players"]]
    equal(sorted(users), sorted(["alice", "bob", "ünï çødé", "a'b\"c\\d"]), "listed")
    equal(len(ctl_json("player", "list", name, "--limit", "2")["players"]), 2, "limit")
    check("alice" in ctl("player", "list", name).stdout, "table")


def case_key_is_issued_once():
    """One key for two owners would make a body signed for one valid for the other."""
    name, key = new("dealer"), f"{time.time_ns():064x}"
    file = ("--key-file", "-")
    ctl("dealer", "add", name, "--currency", "thb", "--mode", "transfer", *file, stdin=key)
    for words, owner in ((("dealer", "key-add", name), name), (("client", "add", "same"), name),
                         (("dealer", "add", "same", "--currency", "thb", "--mode", "transfer"), name)):
        done = ctl(*words, *file, stdin=key, code=1)
        check("key_known: " in done.stderr and f"dealer {owner}" in done.stderr and
              "make a new one" in done.stderr and key not in done.stderr, done.stderr)
    ctl("dealer", "key-add", name)
    ctl("dealer", "key-use", name, "k2")
    ctl("dealer", "key-retire", name, "k1")
    done = ctl("dealer", "key-add", name, *file, stdin=key, code=1)
    check("key_known: " in done.stderr, f"a retired key: {done.stderr}")


def case_direction_marks():
    """An id may have a mark that turns the direction of what follows, or characters that show nothing:
    text shows them escaped, JSON as they are."""
    for hidden in ("\u202egpj.\u2066", "\u200b", "\ufeff\u00ad", "\u3164", "\U000e0041"):
        show_hidden(hidden)


def show_hidden(hidden):
    name = dealer_new().casino_id
    user = f"eve{hidden}x"
    visible = "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in user)
    WALLET.player_add(name, user)
    adjust(name, user, "3")
    for words in (("player", "list", name), ("player", "show", name, user),
                  ("transfer", "list", "--casino", name), ("audit",)):
        code, shown = on_terminal(WALLET, *words)
        check(code == 0 and visible in shown and hidden not in shown, f"{words}: {shown!r}")
        text = ctl(*words).stdout
        check(visible in text and user not in text, f"{words}: in a file: {text!r}")
        check(visible not in json.dumps(ctl_json(*words), ensure_ascii=False), f"{words}: JSON")
    code, shown = on_terminal(WALLET, "dealer", "show", user)
    check(code == 2 and visible in shown and user not in shown, f"an error: {shown!r}")


def case_adjust():
    name = dealer_new().casino_id
    user = player_new(name)
    equal(adjust(name, user, "100.25")["current_balance"], 100.25, "in")
    out = adjust(name, user, "-5")
    equal((out["amount"], out["before_balance"], out["current_balance"], out["replay"]),
          (-5, 100.25, 95.25, False), "out")
    equal(adjust(name, user, "-0.05")["current_balance"], 95.2, "a fraction out")
    equal(ctl_json("player", "adjust", "--reason", "x", name, user, "-0.2")["current_balance"], 95,
          "options first")
    refused("insufficient_balance", "player", "adjust", name, user, "-95.01", "--reason", "x")
    for amount in ("0.001", "-0.001"):
        done = refused("invalid_amount", "player", "adjust", name, user, amount, "--reason", "x")
        check("invalid_amount: amount: must have at most 2 decimals\n" in done.stderr, done.stderr)
    refused("user_not_found", "player", "adjust", name, "nobody", "1", "--reason", "x")
    # The same call twice is two movements, but not with the same operation id.
    equal(adjust(name, user, "1")["current_balance"], 96, "once")
    equal(adjust(name, user, "1")["current_balance"], 97, "twice")
    first = adjust(name, user, "1", "--operation-id", "op-1")
    again = adjust(name, user, "1", "--operation-id", "op-1")
    equal((first["replay"], again["replay"]), (False, True), "replay")
    equal(again["transaction_id"], first["transaction_id"], "the same movement")
    refused("transaction_conflict", "player", "adjust", name, user, "2", "--reason", "x",
            "--operation-id", "op-1")
    rows = entries(name, user)
    equal([row["entry_seq"] for row in rows], list(range(len(rows), 0, -1)), "newest first")
    for newer, older in zip(rows, rows[1:]):
        equal(newer["before_balance"], older["current_balance"], "chain")
    equal(rows[0]["current_balance"], 98, "balance")
    equal(rows[0]["request_transaction_id"], "op-1", "reference")
    equal(len(ctl_json("player", "ledger", name, user, "--limit", "3")["entries"]), 3, "limit")


def case_adjust_unknown():
    """The answer is lost: the command that is printed then must not move twice."""
    name = dealer_new().casino_id
    user = player_new(name)
    reason = "it's \"lost\""

    def lose(command, _record, answer):
        return None if command == "adjust" else answer
    with Middle(WALLET, lose) as middle:
        done = run("--config", middle.config, "player", "adjust", name, user, "-3.5", "--reason",
                   reason, code=69)
        check("insufficient" not in done.stderr, "a refusal's answer was lost, too")
        done = run("--config", middle.config, "player", "adjust", name, user, "7.5", "--reason",
                   reason, code=69)
        check("outcome is not known" in done.stderr, done.stderr)
        equal(entries(name, user)[0]["current_balance"], 7.5, "it was made")
        command = done.stderr.strip().splitlines()[-1].replace(str(middle.config),
                                                               str(WALLET.config))
    words = shlex.split(command)
    equal(words[0], "creditbridgectl", "the command to repeat")
    again = json.loads(run(*words[1:], "--json").stdout)
    equal((again["replay"], again["current_balance"]), (True, 7.5), "the repeat")
    equal(len(entries(name, user)), 1, "one movement")
    check(any(row["reason"] == reason for row in ctl_json("audit")["audit"]), "the reason")


# -- transfers

def case_empty_lists():
    name = dealer_new().casino_id
    done = ctl("player", "list", name)
    equal((done.stdout, done.stderr), ("", "no players\n"), "no players")
    user = player_new(name)
    for words, member in ((("player", "ledger", name, user), "entries"),
                          (("transfer", "list", "--casino", name), "transfers"),
                          (("transfer", "list", "--casino", name, "--user", user), "transfers")):
        done = ctl(*words)
        equal((done.stdout, done.stderr), ("", "no movements\n"), f"{words}")
        equal(ctl_json(*words), {member: []}, f"{words} with --json")
        equal(ctl("--json", *words).stderr, "", f"{words} with --json")


def case_transfers():
    name = dealer_new().casino_id
    user = player_new(name)
    begin_ms = cb.now_ms()
    with Operator(WALLET.sockets / "edge.sock") as link:
        equal(link.transfer(name, user, 1000000, "in-1"), 0, "transfer in")
        equal(link.transfer(name, user, -250000, "out-1"), 0, "transfer out")
        check(link.transfer(name, user, -9000000, "out-2") != 0, "more than there is")
    made = ctl_json("transfer", "show", name, "out-1")
    equal((made["casino_id"], made["user_id"]), (name, user), "whose")
    equal((made["request"]["kind"], made["request"]["amount"]), ("transfer_out", 25), "request")
    equal((made["entry"]["amount"], made["entry"]["before_balance"],
           made["entry"]["current_balance"]), (-25, 100, 75), "movement")
    by_id = ctl_json("transfer", "show", "--transaction", made["entry"]["transaction_id"])
    equal(by_id, made, "by its transaction id")
    declined = ctl_json("transfer", "show", name, "out-2")
    equal((declined["request"]["outcome"], declined["entry"]), ("insufficient_balance", None),
          "refused")
    check("insufficient_balance" in ctl("transfer", "show", name, "out-2").stdout, "as text")
    check("refusal" not in ctl("transfer", "show", name, "out-1").stdout, "no refusal, no line")
    adjusted = adjust(name, user, "5")
    equal(ctl_json("transfer", "show", name, adjusted["operation_id"])["entry"]["kind"], "adjust",
          "an operation id")
    refused("transfer_not_found", "transfer", "show", name, "nothing")
    refused("transfer_not_found", "transfer", "show", "--transaction", 2**53 - 1)
    expected = [(5, "adjust"), (-25, "transfer_out"), (100, "transfer_in")]

    def listed(*options):
        return [(row["amount"], row["kind"]) for row in
                ctl_json("transfer", "list", *options)["transfers"]]
    for options in (("--casino", name), ("--casino", name, "--user", user)):
        equal(listed(*options), expected, f"{options}")
        equal(listed(*options, "--limit", "1"), expected[:1], "limit")
        equal(listed(*options, "--since", begin_ms), expected, "since")
        equal(listed(*options, "--until", begin_ms), [], "until")
        equal(listed(*options, "--since", "2020-01-01", "--until", "2020-01-01T12:00"), [], "past")
        equal(listed(*options, "--since", "2020-01-01T00:00:00", "--until", "2999-12-31"),
              expected, "a long time")
    equal(listed()[:3], expected, "of everybody")
    check(re.search(r"transfer_out +-25\.00 +100\.00 +75\.00 out-1",
                    ctl("transfer", "list", "--casino", name).stdout), "table")
    # By its transaction id in the first column, the time in ISO form.
    check(re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
                    ctl("player", "ledger", name, user).stdout), "time")


# -- check

def random_player_id():
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz234567", k=20))


def case_check_pages():
    """More players and movements than a page holds, and one player with many."""
    name = dealer_new().casino_id
    users = [new("page") for _ in range(600)]
    with Operator(WALLET.sockets / "admin.sock") as admin:
        for user in users:
            equal(admin.player_add(name, user, random_player_id(), random_player_id()), 0, "added")
    with Operator(WALLET.sockets / "edge.sock") as link:
        for i in range(700):
            equal(link.transfer(name, users[0], 10000, f"hot-{i}"), 0, "in")
        for i, user in enumerate(users):
            equal(link.transfer(name, user, 20000, f"cold-{i}"), 0, "in")
    result = ctl_json("check")
    equal((result["ok"], result["problems"]), (True, []), "check")
    total = next(row for row in result["dealers"] if row["casino_id"] == name)
    equal((total["players"], total["balance"], total["transferred_in"]), (600, 1900, 1900), "sums")
    check(result["players"] >= 600 and result["entries"] >= 1300, result)
    equal(result["entries"], result["transactions"], "a transaction for each movement")
    status = ctl_json("status")
    equal(result["as_of"], status["last_transaction_id"], "as of")
    check("problems      0" in ctl("check").stdout, "text")
    listed = ctl_json("player", "ledger", name, users[0])["entries"]
    equal([row["entry_seq"] for row in listed], list(range(701, 0, -1)), "all its movements")
    equal(len(ctl_json("player", "list", name, "--limit", "0")["players"]), 600, "all players")
    table = ctl("player", "list", name, "--limit", "0").stdout.splitlines()
    equal((len(table), sum("BALANCE" in line for line in table)), (601, 1), "one heading")


def case_check_under_load():
    name = dealer_new().casino_id
    users = [player_new(name) for _ in range(4)]
    stop = threading.Event()
    failures = []

    def load(seed):
        chance = random.Random(seed)
        try:
            with Operator(WALLET.sockets / "edge.sock") as link:
                for i in itertools.count():
                    if stop.is_set():
                        return
                    # A dealer's replays and its refused transfers are part of the load.
                    link.transfer(name, chance.choice(users),
                                  chance.choice((30000, 20000, -10000, -40000)),
                                  f"load-{seed}-{i - i % 5 // 4}")
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)

    def add_players():
        try:
            with Operator(WALLET.sockets / "admin.sock") as admin, \
                 Operator(WALLET.sockets / "edge.sock") as link:
                while not stop.is_set():
                    user = new("late")
                    admin.player_add(name, user, random_player_id(), random_player_id())
                    link.transfer(name, user, 10000, user)
                    time.sleep(0.4)
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)
    threads = [threading.Thread(target=load, args=(seed,)) for seed in range(3)]
    threads.append(threading.Thread(target=add_players))
    for thread in threads:
        thread.start()
    moved = []
    try:
        start = time.monotonic()

        def proved():
            return (any(code == 0 for _, code in moved)
                    and moved[-1][0] > moved[0][0] + 100)
        while time.monotonic() < start + 6 or (not proved() and time.monotonic() < start + 30):
            done = WALLET.ctl_run("--json", "check")
            result = json.loads(done.stdout)
            check(done.returncode in (0, 75) and not result["problems"], done.stdout + done.stderr)
            moved.append((result["as_of"], done.returncode))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    equal(failures, [], "load")
    check(moved[-1][0] > moved[0][0] + 100, f"there was load: {moved}")
    check(any(code == 0 for _, code in moved), f"proved under load: {moved}")
    result = ctl_json("check")
    check(result["ok"] and result["as_of"] > moved[-1][0], result)


def case_check_finds_damage():
    name = dealer_new().casino_id
    user = player_new(name)
    player_id = ctl_json("player", "show", name, user)["player_id"]
    with Operator(WALLET.sockets / "edge.sock") as link:
        link.transfer(name, user, 12345600, "mark-1")
        link.transfer(name, user, -11100, "mark-2")
        link.transfer(name, user, 777700, "mark-3")

    last = name[:-1] + "?"
    damages = (
        ("PLAYER", {"balance": 13112200}, {"balance": 13112300}, "which left another balance"),
        ("PLAYER", {"player_id": player_id}, {"player_id": "a" * 20}, "is not found by its name"),
        ("PLAYER_NAME", {"user_id": user}, {"user_id": user[:-1] + "?"}, "which does not exist"),
        ("PLAYER_NAME", {"player_id": player_id}, {"player_id": "7" * 20},
         "is named by player 77777777777777777777 but is player"),
        ("TRANSACTION", {"player_id": player_id}, {"player_id": "c" * 20}, "which is another player's"),
        ("TRANSACTION", {"casino_id": name}, {"casino_id": last}, "which is of another dealer"),
        ("TRANSACTION", {"entry_seq": 2}, {"entry_seq": 3}, "which is a movement of another number"),
        ("TRANSACTION", {"current_balance": 12334500}, {"current_balance": 12334501}, "balance"),
        ("TRANSACTION", {"amount": 777700}, {"amount": 777701}, "do not make the balance after"),
        ("TRANSACTION", {"request_transaction_id": "mark-2"}, {"request_transaction_id": "mark-?"},
         "its request key is missing"),
        ("REQUEST", {"request_transaction_id": "mark-1"}, {"request_transaction_id": "mark-0"},
         "its request key is another one"),
        ("REQUEST", {"amount": 777700}, {"amount": 777600}, "its request key asked for something else"),
        ("TOTAL", {"transferred_in": 13123300}, {"transferred_in": 13123200},
         "transferred_in is kept as 1312.32"),
        ("TOTAL", {"casino_id": name}, {"casino_id": last}, "has no sums"),
        ("DEALER", {"casino_id": name}, {"casino_id": last}, "has sums but is not there"),
    )
    for record, old, found, problem in damages:
        change = Change(record, lambda row, old=old, found=found: old.items() <= row.items() and found)
        with Middle(WALLET, change) as middle:
            done = run("--config", middle.config, "check", "--json", code=1)
            result = json.loads(done.stdout)
            check(change.falsified, f"{record}: the row was seen")
            check(not result["ok"] and result["problem_count"] >= 1, done.stdout)
            check(any(problem in line for line in result["problems"]),
                  f"{record} {problem}: {result['problems']}")
            check("problem: " in run("--config", middle.config, "check", code=1).stdout, "text")
    check(ctl_json("check")["ok"], "without the damage")


def case_damaged_chain():
    """A list of movements that are not the player's, or that has no end, is none."""
    name = dealer_new().casino_id
    user, other = player_new(name), player_new(name)
    with Operator(WALLET.sockets / "edge.sock") as link:
        link.transfer(name, other, 55500, "chain-0")
        for i in range(3):
            link.transfer(name, user, 10000, f"chain-{i + 1}")
    rows = ctl_json("player", "ledger", name, user)["entries"]
    equal([row["entry_seq"] for row in rows], [3, 2, 1], "movements, the last first")
    first = rows[2]["transaction_id"]
    for previous, told in ((first - cb.ID_STRIDE, "which is another player's"),
                           (rows[1]["transaction_id"], "which is a movement of another number")):
        def change(row, previous=previous):
            return (row.entry_seq, row.previous) == (2, first) and {"previous": previous}
        with Middle(WALLET, Change("TRANSACTION", change)) as middle:
            for words in (("player", "ledger", name, user),
                          ("transfer", "list", "--casino", name, "--user", user)):
                done = run("--config", middle.config, *words, code=1)
                check(told in done.stderr and "run creditbridgectl check" in done.stderr,
                      done.stderr)


# -- audit, status, output

def case_audit():
    name = dealer_new().casino_id
    user = player_new(name)
    ctl("player", "adjust", name, user, "5", "--reason", "a gift")
    ctl("player", "suspend", name, user, "--reason", "odd")
    ctl("dealer", "key-add", name)
    ctl("dealer", "suspend", name, "--reason", "night")
    rows = ctl_json("audit", "--limit", "6")["audit"]
    equal([(row["action"], row["reason"]) for row in rows],
          [("dealer suspend", "night"), ("dealer key-add", ""), ("player suspend", "odd"),
           ("player adjust", "a gift"), ("player add", ""), ("dealer add", "")], "actions")
    equal([row["seq"] for row in rows], list(range(rows[0]["seq"], rows[0]["seq"] - 6, -1)), "seq")
    for row in rows:
        equal((row["uid"], row["peer_uid"]), (os.getuid(), os.getuid()), "who")
        check(abs(row["time_ms"] - cb.now_ms()) < 60000, "when")
        check(name in row["object"], "what")
    # A refused command has no row in the audit, and neither has one that reads.
    ctl("dealer", "key-add", name, code=1)
    ctl("dealer", "list")
    equal(ctl_json("audit", "--limit", "1")["audit"][0]["seq"], rows[0]["seq"], "nothing more")
    check("a gift" in ctl("audit").stdout, "table")
    ctl("dealer", "suspend", name, "--reason", "x" * 257, code=2)


def case_status():
    status = ctl_json("status")
    for key in ("version", "installation", "pid", "parent_pid", "halted", "storage_low",
                "disk_free_bytes", "log_bytes", "uptime_ms", "schema", "last_transaction_id",
                "dealers", "connections", "commands", "batches", "commits", "checkpoints",
                "refused_busy", "clients_cut"):
        check(key in status, key)
    equal(status["parent_pid"], WALLET.ledger.pid, "the parent")
    check(status["pid"] in WALLET.engine_pids(), "the engine")
    check(status["installation"] in ctl("status").stdout, "text")
    refused("not_allowed_now", "resume")
    # The verdict is first, the worst cause before the others.
    lines = ctl("status").stdout.split("\n\n")[0].splitlines()
    levels = [problem["level"] for problem in status["problems"]]
    equal(sorted(levels, key=["failure", "attention"].index), levels, "the worst first")
    equal(status["verdict"], levels[0] if levels else "ok", "the verdict")
    equal(lines, [f"{problem['level'].upper()}: {problem['found']}. To do: {problem['remedy']}."
                  for problem in status["problems"]] or ["OK: nothing needs the operator."], "the first lines")


def standing(wallet):
    """What `status` says first: the verdict, and the remedies, of which the first is the worst's."""
    status = wallet.ctl_json("status")
    first = wallet.ctl("status").splitlines()[0]
    check(first.startswith(f"{status['verdict'].upper()}: "), f"{first}: {status}")
    return status["verdict"], [problem["remedy"] for problem in status["problems"]]


def case_standing():
    """Each cause that `status` knows, and that a better one hides none."""
    with cb.Instance("cbstanding", settings={"sweep_overdue_s": 60}) as wallet:
        equal(standing(wallet), ("ok", []), "a new installation")
        wallet.dealer_add("plain")
        equal(standing(wallet), ("attention", ["creditbridgectl backup DIR"]), "no backup")
        wallet.ctl("backup", wallet.dir / "backup")
        equal(standing(wallet), ("ok", []), "a backup")
        wallet.dealer_add("bare", mode="seamless")
        equal(standing(wallet)[1], ["creditbridgectl dealer set CASINO --url URL"], "no URL")
        wallet.ctl("dealer", "set", "bare", "--url", "https://dealer.example")
        wallet.ctl("dealer", "hold", "bare", "--reason", "a test")
        equal(standing(wallet), ("attention", ["creditbridgectl reconcile, then creditbridgectl release"]), "held")
        wallet.stop()
        wallet.write_config({"sweep_overdue_s": 1, "disk_low_water_mib": 16777216})
        wallet.start()
        cb.wait_until(lambda: len(standing(wallet)[1]) == 3, 20, "a sweeper that did not run")
        equal(standing(wallet), ("failure", [
            "make room on the ledger's disk",
            "creditbridgectl sweep; then look at creditbridge-sweep.timer or cron",
            "creditbridgectl reconcile, then creditbridgectl release"]), "the worst first")


def case_output():
    with open("/dev/full", "w", encoding="ascii") as full:
        argv = WALLET.ctl_argv("dealer", "list")
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, timeout=30 * cb.PATIENCE, check=False)
    equal(done.returncode, 1, "what is not written is no success")
    # On a terminal headings are bold, unless NO_COLOR or one that cannot.
    for env, bold in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        leader, follower = os.openpty()
        done = subprocess.run(WALLET.ctl_argv("dealer", "list"), stdout=follower, timeout=30 * cb.PATIENCE,
                              check=True, env={"PATH": os.environ["PATH"], "TERM": "xterm", **env})
        os.close(follower)
        text = os.read(leader, 65536).decode(errors="replace")
        os.close(leader)
        equal("\033[" in text, bold, f"colours with {env}")


# -- sign, request

def case_sign():
    path = WALLET.dir / "sign-key"
    body = WALLET.dir / "body"
    body.write_bytes('{"ünï":1}\n'.encode())
    hashes = {"hmac-sha256": hashlib.sha256, "hmac-sha512": hashlib.sha512,
              "hmac-sha1": hashlib.sha1}
    for algorithm, function in hashes.items():
        for number, encoding in enumerate(("hex", "base64")):
            key = f"{len(algorithm)}{number}{algorithm[-1]}".encode().hex().ljust(64, "a")
            path.write_text(key + "\n")
            digest = hmac.new(key.encode(), body.read_bytes(), function).digest()
            text = base64.b64encode(digest).decode() if number else digest.hex()
            name = new("dealer")
            ctl("dealer", "add", name, "--currency", "thb", "--mode", "transfer", "--algorithm",
                algorithm, "--encoding", encoding, "--key-file", path)
            equal(ctl("sign", name, body).stdout.strip(), text, f"{algorithm} {encoding}")
            # Without ledger and configuration.
            equal(run("sign", "--key-file", path, "--algorithm", algorithm, "--encoding", encoding,
                      body).stdout.strip(), text, f"{algorithm} {encoding} by key file")
    equal(ctl_json("sign", name, "-", stdin="")["signature"],
          base64.b64encode(hmac.new(key.encode(), b"", hashlib.sha1).digest()).decode(), "empty")
    refused("dealer_not_found", "sign", "nobody", body)
    ctl("sign", name, "/nonexistent", code=1)
    # The argument that looks like CASINO is the body's file.
    done = run("sign", "demo", "--key-file", path, code=1)
    check("cannot read demo: No such file" in done.stderr and "no CASINO" in done.stderr,
          done.stderr)
    check("no CASINO" in run("sign", "demo", body, "--key-file", path, code=2).stderr, "two words")
    path.write_text("short")
    run("sign", "--key-file", path, body, code=1)


def what_was_seen(call):
    """Answers every call with what the server saw."""
    return 402 if "/refuse" in call.path else 200, {
        "method": call.method, "path": call.path, "headers": call.headers, "body": call.body.decode()}


def case_request():
    dealer = dealer_new()
    with Scripted(what_was_seen) as server:
        url = f"{server.url}/base/"

        def request(*words, code=0, **options):
            made = ctl_json("request", dealer.casino_id, *words, "--url", url, code=code, **options)
            equal(made["headers"]["X-Request-Id"], "r-1", "headers")
            seen = json.loads(made["body"])
            headers = seen["headers"]
            equal(headers["x-casino-id"], dealer.casino_id, "casino id")
            equal(headers["x-casino-signature"], cb.sign(dealer.key, seen["body"].encode()),
                  "signature")
            equal(headers["content-type"], "application/json", "type")
            return made, seen
        made, seen = request("PUT", "/a/b", "--body", '{"x": 1}')
        equal((made["status"], seen["method"], seen["path"], seen["body"]),
              (200, "PUT", "/base/a/b", '{"x": 1}'), "call")
        body = WALLET.dir / "request-body"
        body.write_text('{"y": 2}')
        equal(request("GET", "/a", "--body", f"@{body}")[1]["body"], '{"y": 2}', "GET with a body")
        equal(request("POST", "a", "--body", "-", stdin="{}")[1]["body"], "{}", "from stdin")
        equal(request("GET", "/a")[1]["body"], "", "without a body")
        equal(request("POST", "/refuse", "--body", "{}", code=1)[0]["status"], 402, "not 2xx")
        made, seen = request("transfer-in", "--user", "alice", "--amount", "10.5", "--reference",
                             "r1")
        equal((seen["method"], seen["path"]), ("POST", "/base" + cb.TRANSFER_IN), "transfer in")
        equal(json.loads(seen["body"]),
              {"amount": 10.5, "request_transaction_id": "r1", "user_id": "alice"}, "its body")
        made, seen = request("transfer-out", "--user", "al\"ice", "--amount", "1")
        check(len(made["request_transaction_id"]) > 20, "a reference of its own")
        equal(json.loads(seen["body"])["request_transaction_id"], made["request_transaction_id"],
              "the reference")
        made, seen = request("balance", "--user", "alice")
        equal((seen["method"], seen["path"]), ("GET", "/base" + cb.BALANCE), "balance")
        check(abs(json.loads(seen["body"])["request_timestamp"] - cb.now_ms()) < 60000, "its time")
        text = ctl("request", dealer.casino_id, "balance", "--user", "alice", "--url", url).stdout
        check(text.startswith("HTTP 200 OK\nContent-Type: application/json\n"), text)
        path = WALLET.dir / "request-key"
        path.write_text(dealer.key)
        run("request", dealer.casino_id, "GET", "/a", "--key-file", path, "--url", url)
    port = cb.free_port()
    done = refused("unreachable", "request", dealer.casino_id, "GET", "/a", "--url",
                   f"http://127.0.0.1:{port}", code=69)
    check("; start the web server there, or correct host and port" in done.stderr, done.stderr)


class Apache(http.server.BaseHTTPRequestHandler):
    """Another web server's own page; and below /creditbridge the service."""

    def do_GET(self):
        ours = self.path.startswith("/creditbridge/")
        self.send_response(405 if self.command == "GET" and ours else 200 if ours else 404)
        self.send_header("Content-Type", "application/json" if ours else "text/html")
        if ours:
            self.send_header("X-Request-Id", self.headers["X-Request-Id"])
        self.end_headers()
        self.wfile.write(b'{"amount":1}' if ours else b"<html>Not Found</html>")

    do_POST = do_GET

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


def case_request_elsewhere():
    """What is not the service is named in one sentence, with the remedy, and no page is printed."""
    dealer = dealer_new()
    words = ("request", dealer.casino_id, "transfer-in", "--user", "alice", "--amount", "1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Apache) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        done = refused("not_the_service", *words, "--url", url)
        check("<html>" not in done.stderr and "HTTP 404 by " in done.stderr and
              "give --url=URL" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
        check(ctl(*words, "--url", f"{url}/creditbridge").stdout.startswith("HTTP 200"), "the mount")
        server.shutdown()


def case_request_certificate():
    """A certificate that is refused is no web server that is down."""
    dealer = dealer_new()
    pem = WALLET.dir / "request.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                           "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", pem, "-out", f"{pem}.crt",
                           "-days", "2", "-subj", "/CN=other"], capture_output=True, check=False)
    equal(made.returncode, 0, made.stderr)
    with open(pem, "a", encoding="ascii") as key, open(f"{pem}.crt", encoding="ascii") as crt:
        key.write(crt.read())
    with TlsServer(pem) as server:
        url = server.url
        done = refused("unreachable", "request", dealer.casino_id, "GET", "/a", "--url", url, code=69)
        check("certificate" in done.stderr and "update-ca-certificates" in done.stderr, done.stderr)

        def answered():
            """On a slow machine doctor may not wait for the whole handshake."""
            found = json.loads(ctl("--json", "doctor", "--url", url, code=1).stdout)["findings"]
            one, = [one for one in found if one["check"] == "wallet_mount"]
            return None if "timeout" in one["found"] else one
        mount = cb.wait_until(answered, 20, "a handshake in the time that doctor waits")
        check("update-ca-certificates" in mount["remedy"], mount)


def case_request_finds_mount():
    """Without --url the wallet is found where base_path or Debian's package has it."""
    dealer = dealer_new()
    key = WALLET.dir / "mount-key"
    key.write_text(dealer.key)
    key.chmod(0o600)
    wrap = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if os.geteuid() or subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode:
        raise cb.Skip("there are no network namespaces here")
    words = [str(word) for word in WALLET.ctl_argv("request", dealer.casino_id, "transfer-in", "--user",
                                                   "alice", "--amount", "1", "--key-file", key)]
    done = subprocess.run([*wrap, *words], capture_output=True, text=True, timeout=60 * cb.PATIENCE, check=False)
    equal(done.returncode, 69, f"no web server: {done}")
    check("no wallet of creditbridge answers at http://127.0.0.1 and http://127.0.0.1/creditbridge: "
          "give --url=URL" in done.stderr, done.stderr)
    script = ("import http.server, subprocess, sys, threading\n" + inspect.getsource(Apache) +
              "server = http.server.ThreadingHTTPServer(('127.0.0.1', 80), Apache)\n"
              "threading.Thread(target=server.serve_forever, daemon=True).start()\n"
              "sys.exit(subprocess.run(sys.argv[1:]).returncode)\n")
    done = subprocess.run([*wrap, sys.executable, "-B", "-c", script, *words], capture_output=True,
                          text=True, timeout=60 * cb.PATIENCE, check=False)
    check(done.returncode == 0 and done.stdout.startswith("HTTP 200"), done)
    ctl("request", dealer.casino_id, "GET", "/a", "--url", "file:///etc", code=1)
    ctl("request", dealer.casino_id, "get", "/a", code=2)
    refused("dealer_not_found", "request", "nobody", "GET", "/a")


CASES = [
    ("--help of everything", case_help),
    ("errors of usage", case_usage),
    ("global options before and behind the command", case_options_anywhere),
    ("errors of the configuration", case_configuration),
    ("children that are ignored", case_children_ignored),
    ("init", case_init),
    ("no ledger", case_unreachable),
    ("a ledger that is busy, faulty, forbids, or does not answer", case_failures),
    ("not permitted", case_not_permitted),
    ("root becomes the owner of the data", case_root_drops),
    ("dealers", case_dealers),
    ("keys from files", case_keys_from_files),
    ("rotation of keys", case_key_rotation),
    ("players", case_players),
    ("a key is issued once", case_key_is_issued_once),
    ("marks of direction in ids", case_direction_marks),
    ("adjustments", case_adjust),
    ("an adjustment whose answer is lost", case_adjust_unknown),
    ("lists without a row", case_empty_lists),
    ("transfers are found", case_transfers),
    # Before there are many rows, because each one passes through the proxy.
    ("check finds damage", case_check_finds_damage),
    ("a damaged chain of movements", case_damaged_chain),
    ("check of many rows", case_check_pages),
    ("check under load", case_check_under_load),
    ("audit", case_audit),
    ("status and resume", case_status),
    ("status begins with what needs the operator", case_standing),
    ("output", case_output),
    ("sign", case_sign),
    ("request", case_request),
    ("request elsewhere", case_request_elsewhere),
    ("request with a refused certificate", case_request_certificate),
    ("request without a URL", case_request_finds_mount),
]
needs(case_output, "dealers")


def main():
    global WALLET, ctl, ctl_json, refused  # pylint: disable=global-statement
    with cb.Instance("ctl") as WALLET:
        ctl, ctl_json, refused = bind(WALLET)
        return cb.run_cases(CASES, seconds=60)


sys.exit(main())
