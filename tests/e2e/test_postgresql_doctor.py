#!/usr/bin/python3
"""creditbridgectl doctor with the store on PostgreSQL: each fault of the servers is made for real."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import check, equal, wait_until  # noqa: E402
from cb_postgresql import Server  # noqa: E402

ROLE = "credit_ledger"
MIB = 1 << 20
SERVER = WALLET = None


def doctor(**changes):
    """The findings of the store, with some settings changed: {check: [(result, about, found + remedy)]}."""
    config = pathlib.Path(WALLET.config)
    text = config.read_text()
    for name, value in changes.items():
        text, count = re.subn(rf"(?m)^{name} = .*$", f'{name} = "{value}"', text)
        equal(count, 1, f"lines of {name}")
    other = config.with_name("changed.conf")
    other.write_text(text)
    done = subprocess.run([str(cb.find_program("creditbridgectl")), "--config", str(other), "--json", "doctor"],
                          capture_output=True, text=True, timeout=90, check=False, stdin=subprocess.DEVNULL)
    found = {}
    for row in json.loads(done.stdout)["findings"]:
        if row["check"].startswith("store_"):
            check(row["result"] in ("PASS", "SKIP") or row["remedy"], f"no remedy: {row}")
            found.setdefault(row["check"], []).append((row["result"], row["about"], f"{row['found']}. {row['remedy']}"))
    return found


def diagnose(expected, **changes):
    """Demands the findings {"RESULT check": regular expression}; the other checks pass or look at nothing."""
    found = doctor(**changes)
    bad = {f"{result} {name}": text for name, rows in found.items() for result, _, text in rows
           if result in ("WARN", "FAIL")}
    equal(set(bad), set(expected), f"{found}")
    for name, pattern in expected.items():
        check(re.search(pattern, bad[name]), f"{name}: {pattern!r} is not in {bad[name]!r}")
    return found


def set_server(**settings):
    """Changes settings of the server; None: the default."""
    for name, value in settings.items():
        SERVER.sql(f"ALTER SYSTEM RESET {name}" if value is None else f"ALTER SYSTEM SET {name} = '{value}'")
    SERVER.sql("SELECT pg_reload_conf()")
    for name, value in settings.items():
        if value is not None:
            wait_until(lambda n=name, v=value: SERVER.sql(f"SHOW {n}").stdout.strip() == v, seconds=20,
                       what=f"{name} = {value}")


def write_log(mib):
    SERVER.sql(f"SELECT pg_logical_emit_message(false, 'x', repeat('x', {MIB})) FROM generate_series(1, {mib})")


def case_healthy():
    found = diagnose({})
    equal(sorted(found), ["store_lag", "store_quorum", "store_roles", "store_servers", "store_settings", "store_space"],
          "the checks")
    check("takes writes, PostgreSQL 1" in found["store_servers"][0][2], f"{found}")


def case_figures():
    """What the store measures, in `status` and for Prometheus."""
    figures = {row["name"]: row["value"] for row in WALLET.ctl_json("status")["store"]}
    equal(sorted(figures), ["epoch", "in_doubt", "lag", "reconnects", "trip", "turn"], "figures without a quorum")
    check(figures["epoch"] > 0 and figures["turn"] > 0 and figures["trip"] > 0, f"{figures}")
    check("PostgreSQL" in WALLET.ctl("status"), "the row of `status`")
    text = WALLET.ctl("metrics")
    check(f"creditbridge_store_epoch {figures['epoch']}\n" in text, text)
    check("creditbridge_store_trip_seconds 0." in text and "creditbridge_store_quorum" not in text, text)


def case_servers():
    here = SERVER.directory
    diagnose({"WARN store_servers": "does not answer.*pg_hba.conf"}, postgresql_hosts=f"/nowhere,{here}")
    found = doctor(postgresql_hosts="/nowhere")
    equal([row[0] for row in found["store_servers"]], ["FAIL", "FAIL"], f"{found}")
    check("promote none by hand" in found["store_servers"][1][2], f"{found}")
    for name in ("store_quorum", "store_settings", "store_lag", "store_roles", "store_space"):
        equal([row[0] for row in found[name]], ["SKIP"], f"{name}: {found}")
    diagnose({"FAIL store_servers": "the schema nothing has no tables"}, postgresql_schema="nothing")


def case_two_primaries():
    other = Server()
    other.sql(f"CREATE ROLE {ROLE} LOGIN")
    diagnose({"FAIL store_servers": "two servers take writes.*stop the other"},
             postgresql_hosts=f"{SERVER.directory},{other.directory}")
    other.close()


def case_settings():
    for name, pattern in (("fsync", "FAIL"), ("full_page_writes", "FAIL"), ("synchronous_commit", "WARN"),
                          ("autovacuum", "WARN")):
        set_server(**{name: "off"})
        diagnose({f"{pattern} store_settings": f"{name} is off.*set {name} = on"})
        set_server(**{name: None})
    wait_until(lambda: SERVER.sql("SHOW autovacuum").stdout.strip() == "on", seconds=20, what="the default")


def case_roles():
    schema = WALLET.settings["postgresql_schema"]
    SERVER.sql(f"CREATE ROLE stranger LOGIN; GRANT UPDATE ON {schema}.player TO stranger")
    found = diagnose({"WARN store_roles": f'REVOKE .* IN SCHEMA {schema} FROM "stranger"'})
    equal(found["store_roles"][0][1], "stranger", "the role")
    SERVER.sql(f"REVOKE UPDATE ON {schema}.player FROM stranger")
    found = doctor(postgresql_user="creditbridge")["store_roles"]
    check(re.search("is a superuser.*schema --sql", found[0][2]), f"{found}")


def case_space():
    SERVER.sql("SELECT pg_create_physical_replication_slot('left_behind', true)")
    write_log(140)  # more than twice max_wal_size of pg_server.sh
    diagnose({"WARN store_space": "MiB of log for the slot left_behind.*pg_drop_replication_slot"})
    SERVER.sql("SELECT pg_drop_replication_slot('left_behind')")
    diagnose({})


def case_lacking():
    """The server that takes writes has less than was answered, as after a wrong promotion."""
    here, cell = SERVER.directory, f"{WALLET.settings['postgresql_schema']}.cell"
    standby = Server(SERVER)
    WALLET.stop()
    try:
        equal(WALLET.ctl_json("cluster", "status")["lacks_answered"], False, "before")
        answered = (WALLET.state / "served").read_text()
        turn, epoch = [int(answered.split()[at]) for at in (3, 1)]
        wait_until(lambda: int(standby.sql(f"SELECT turn FROM {cell}").stdout) >= turn, seconds=20, what="the standby")
        standby.sql("SELECT pg_wal_replay_pause()")
        SERVER.sql(f"UPDATE {cell} SET turn = {turn - 2}")
        there = f"{here},{standby.directory}"
        diagnose({"FAIL store_servers": f"has turn {turn - 2} of epoch {epoch}, and turn {turn} of epoch {epoch} was "
                  f"answered.*{standby.directory} has them.*patronictl failover --candidate"}, postgresql_hosts=there)
        diagnose({"FAIL store_servers": "lacks batches that were answered.*adopt --copied"})
        found = WALLET.ctl_json("cluster", "status")
        equal((found["lacks_answered"], found["answered_turn"], found["turn"]), (True, turn, turn - 2), "cluster status")
        check(f"turn {turn} of epoch {epoch}, which the server" in WALLET.ctl("cluster", "status"), "in words")
        stands_by(there, turn, epoch)
        WALLET.ctl("adopt", "--copied", "--reason", "the turn is put back by hand")
        check(int(SERVER.sql(f"SELECT turn FROM {cell}").stdout) > turn + 1000, "the turn of data that begin anew")
        diagnose({})
    finally:
        standby.close()
        WALLET.start()


def stands_by(hosts, turn, epoch):
    """A ledger that finds another server with what is missing does not halt: it serves as soon as that one leads."""
    text = WALLET.config.read_text()
    log = WALLET.logs / "ledger.log"
    WALLET.config.write_text(re.sub(r"(?m)^postgresql_hosts = .*$", f'postgresql_hosts = "{hosts}"', text))
    WALLET.ledger_start()
    try:
        wait_until(lambda: f"has them: it has turn {turn - 2} of epoch {epoch}" in log.read_text(), seconds=30,
                   what="the server that has them, in the log")
        check("ledger_halted" not in log.read_text(), "it is not halted")
    finally:
        WALLET.stop()
        WALLET.config.write_text(text)


def case_quorum():
    diagnose({"FAIL store_quorum": "no standby is named"}, postgresql_durability="quorum")
    set_server(synchronous_standby_names="ANY 1 (*)")
    try:
        diagnose({"FAIL store_quorum": "commits wait: 0 standbys.*wants 1"}, postgresql_durability="quorum")
    finally:
        set_server(synchronous_standby_names=None)


def case_standby():
    standby = Server(SERVER)
    hosts = f"{SERVER.directory},{standby.directory}"
    set_server(synchronous_standby_names="ANY 1 (*)")
    try:
        wait_until(lambda: SERVER.sql("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'").stdout,
                   seconds=30, what="the standby")
        found = diagnose({"WARN store_quorum": "one standby is attached.*third server"}, postgresql_hosts=hosts,
                         postgresql_durability="quorum")
        check("1 standbys answer" in found["store_lag"][0][2], f"{found}")
        SERVER.sql(f"REVOKE pg_read_all_stats FROM {ROLE}")
        diagnose({"WARN store_quorum": f"hides its standbys.*GRANT .* TO {ROLE}"}, postgresql_hosts=hosts,
                 postgresql_durability="quorum")
        SERVER.sql(f"GRANT pg_read_all_stats TO {ROLE}")
        standby.sql("SELECT pg_wal_replay_pause()")
        write_log(20)
        found = diagnose({"WARN store_lag": "lacks .* MiB of the log"}, postgresql_hosts=hosts)
        equal(found["store_lag"][0][1], standby.directory, "the standby")
    finally:
        set_server(synchronous_standby_names=None)
        standby.close()


CASES = [
    ("healthy", case_healthy),
    ("figures", case_figures),
    ("servers", case_servers),
    ("two primaries", case_two_primaries),
    ("settings", case_settings),
    ("roles", case_roles),
    ("space", case_space),
    ("no quorum", case_quorum),
    ("a server that lacks what was answered", case_lacking),
    ("a standby", case_standby),
]


def main():
    global SERVER, WALLET  # pylint: disable=global-statement
    SERVER = Server()
    settings = SERVER.settings()
    schema = settings["postgresql_schema"]
    SERVER.sql(f"CREATE ROLE {ROLE} LOGIN; GRANT pg_read_all_stats, pg_read_all_settings TO {ROLE};"
               f"ALTER SCHEMA {schema} OWNER TO {ROLE}")
    settings["postgresql_user"] = ROLE
    with cb.Instance("pgdoctor", settings=settings) as WALLET:
        WALLET.settings = settings
        WALLET.dealer_add("demo")
        return cb.run_cases(CASES, seconds=60)


if __name__ == "__main__":
    sys.exit(main())
