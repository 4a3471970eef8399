#!/usr/bin/python3
"""alerts: the rules for Prometheus and the dashboard for Grafana of contrib/, as TAP. The suite `manual` has the
cases that need no other program; with --promtool PROGRAM, promtool reads the rules, judges each alert on series that
raise it and series that do not, and parses each query of the dashboard (suite `promtool`).
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_tap import check, equal, run_cases  # noqa: E402

RULES = SRCDIR / "contrib" / "prometheus" / "creditbridge.rules.yml"
DASHBOARD = SRCDIR / "contrib" / "grafana" / "creditbridge.json"
EXPOSITIONS = sorted((SRCDIR / "src" / "metrics").glob("exposition*.c"))
METRIC = re.compile(r"\bcreditbridge_[a-z_]+")
HISTOGRAM_PARTS = ("_bucket", "_sum", "_count")
SEVERITIES = ("page", "ticket")
TEMPLATE = re.compile(r"\{\{ \$labels\.([a-z]+) \}\}")
# What Grafana puts in the place of these before it sends a query.
VARIABLES = {"$__rate_interval": "5m", "$dealer": ".*", "$instance": ".*"}
COLUMNS = 24  # of a dashboard


def metrics_of_source():
    """{name: type} of the metrics that exposition.c and exposition_dealers.c write."""
    text = "".join(path.read_text() for path in EXPOSITIONS)
    found = dict(re.findall(r'exposition_begin\(out, "(\w+)",\s*"(\w+)"', text))
    found.update(re.findall(r'\{"(\w+)",\s*"(gauge|counter)",', text))
    found.update((name, "histogram") for name in re.findall(r'\w+ = \{"(\w+)",\s*&histogram_', text))
    check(len(found) > 30, f"only {sorted(found)} were found")
    return {f"creditbridge_{name}": kind for name, kind in found.items()}


def alerts():
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels():
    return json.loads(DASHBOARD.read_text())["panels"]


def queries():
    """Pairs of a panel's title and a query."""
    return [(panel["title"], target["expr"]) for panel in panels() for target in panel.get("targets", ())]


def unknown_metrics(expression, known):
    """The names in @expression that no program exposes, or that are used as another type."""
    wrong = []
    for name in set(METRIC.findall(expression)):
        base = next((name.removesuffix(part) for part in HISTOGRAM_PARTS
                     if known.get(name.removesuffix(part)) == "histogram"), name)
        if base not in known or (known[base] == "histogram" and base == name):
            wrong.append(name)
        elif known[base] == "counter" and not re.search(
                rf"(rate|increase)\({re.escape(name)}\b", expression):
            wrong.append(f"{name} without rate() or increase()")
    return wrong


def case_metrics():
    known = metrics_of_source()
    expressions = [(alert["alert"], alert["expr"]) for alert in alerts()] + queries()
    equal({name: wrong for name, text in expressions if (wrong := unknown_metrics(text, known))}, {},
          "names that no program writes")


def headings(document):
    """The headings of a page such as creditbridgectl(8), or of README.Debian."""
    if document == "README.Debian":
        text = (SRCDIR / "debian" / "creditbridge.README.Debian").read_text()
        return re.findall(r"^(\S.*)\n-+$", text, re.MULTILINE)
    name, section = re.fullmatch(r"([a-z.-]+)\((\d)\)", document).groups()
    return [heading.strip('"') for heading in re.findall(
        r"^\.S[hs] (.*)$", (SRCDIR / "doc" / f"{name}.{section}").read_text(), re.MULTILINE)]


def case_annotations():
    """Each alert says in sentences what happened and what to do, and names a heading that exists."""
    names = [alert["alert"] for alert in alerts()]
    equal(sorted(set(names)), sorted(names), "names of alerts")
    for alert in alerts():
        name, texts = alert["alert"], alert["annotations"]
        check(re.fullmatch(r"Creditbridge[A-Z]\w+", name), name)
        check(alert["labels"]["severity"] in SEVERITIES, f"{name}: severity")
        equal(set(texts), {"happened", "action", "runbook"}, f"{name}: annotations")
        for text in (texts["happened"], texts["action"]):
            check(re.fullmatch(r"[A-Z].*\.", text), f"{name}: no sentence: {text!r}")
            check("{{" not in TEMPLATE.sub("", text), f"{name}: only labels are filled in: {text!r}")
        runbook = re.fullmatch(r'(\S+), "(.+)"', texts["runbook"])
        check(runbook, f"{name}: {texts['runbook']!r}")
        check(runbook[2] in headings(runbook[1]), f"{name}: there is no heading {texts['runbook']}")


def overlaps(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"] and
            one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


def case_dashboard():
    """What Grafana needs of a dashboard: its members, ids, places that do not overlap, a source for each query."""
    board = json.loads(DASHBOARD.read_text())
    for member in ("title", "uid", "schemaVersion", "panels", "templating", "time", "__inputs", "__requires"):
        check(member in board, f"the dashboard has no {member}")
    check(isinstance(board["schemaVersion"], int) and board["schemaVersion"] >= 36, "schemaVersion")
    check(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", board["uid"]), "uid")
    equal(board.get("id"), None, "an id would overwrite another dashboard")
    sources = {"${" + one["name"] + "}" for one in board["__inputs"] if one["type"] == "datasource"}
    check(sources, "the data source is asked for at the import")
    shown = panels()
    equal(len({panel["id"] for panel in shown}), len(shown), "ids of panels")
    kinds = {one["id"] for one in board["__requires"] if one["type"] == "panel"}
    variables = {"$" + one["name"] for one in board["templating"]["list"]}
    for at, panel in enumerate(shown):
        place = panel["gridPos"]
        check(place["x"] >= 0 and place["w"] > 0 and place["x"] + place["w"] <= COLUMNS and place["h"] > 0,
              f"{panel['title']}: place {place}")
        for other in shown[:at]:
            check(not overlaps(place, other["gridPos"]), f"{panel['title']} lies on {other['title']}")
        if panel["type"] == "row":
            continue
        check(panel["type"] in kinds, f"{panel['title']}: {panel['type']} is not in __requires")
        check(panel["targets"] and panel["description"].endswith("."), f"{panel['title']}: queries, description")
        check(panel["datasource"]["uid"] in sources, f"{panel['title']}: data source")
        check(panel["fieldConfig"]["defaults"]["unit"], f"{panel['title']}: unit")
        refs = [target["refId"] for target in panel["targets"]]
        equal(len(set(refs)), len(refs), f"{panel['title']}: refId")
        for target in panel["targets"]:
            used = set(re.findall(r"\$\w+", target["expr"]))
            check(used <= variables | set(VARIABLES), f"{panel['title']}: variables {used}")
    check(len(queries()) > 20, f"only {len(queries())} queries")


# -- promtool

SERIES = '{instance="a",job="c"}'
OF = {"instance": "a", "job": "c"}


def dealer(**labels):
    text = ",".join(f'{key}="{value}"' for key, value in {**OF, "dealer": "demo", **labels}.items())
    return "{" + text + "}"


DEALER = {**OF, "dealer": "demo"}
BUCKETS = ("0.1", "0.25", "0.5", "+Inf")


def commits(*rates):
    """A histogram whose buckets grow by these numbers each minute."""
    return [(f'creditbridge_commit_duration_seconds_bucket{{instance="a",job="c",le="{bound}"}}', f"0+{rate}x60")
            for bound, rate in zip(BUCKETS, rates)]


def dealer_requests(refused, answered):
    return [("creditbridge_dealer_requests_total" + dealer(code="409"), f"0+{refused}x60"),
            ("creditbridge_dealer_requests_total" + dealer(code="200"), f"0+{answered}x60")]


def one(name, fires, quiet, labels=None, series=SERIES, at="20m"):
    return [(name + series, fires)], [(name + series, quiet)], labels or OF, at


# {alert: (series that raise it, series that do not, the labels of its expression, when it is looked at)}; a value
# each minute.
ALERTS = {
    "CreditbridgeNotScraped": ([], [("creditbridge_build_info" + SERIES, "1x60")], {}, "20m"),
    "CreditbridgeInstanceNotScraped": (
        [("creditbridge_build_info" + SERIES, "1x10 _x50"),
         ('creditbridge_build_info{instance="b",job="c"}', "1x60")],
        [("creditbridge_build_info" + SERIES, "1x60"),
         ('creditbridge_build_info{instance="b",job="c"}', "1x60")], OF, "20m"),
    "CreditbridgeLedgerDown": one("creditbridge_ledger_up", "1x10 0x50", "1x60"),
    "CreditbridgeLedgerHalted": one("creditbridge_ledger_halted", "0x10 1x50", "0x60"),
    "CreditbridgeStorageLow": one("creditbridge_storage_low", "0x10 1x50", "0x60"),
    "CreditbridgeStorageSoonLow": (
        [("creditbridge_disk_free_bytes" + SERIES, "50000000000-10000000x600"),
         ("creditbridge_disk_low_water_bytes" + SERIES, "1000000000x600")],
        [("creditbridge_disk_free_bytes" + SERIES, "50000000000-1000000x600"),
         ("creditbridge_disk_low_water_bytes" + SERIES, "1000000000x600")], OF, "8h"),
    "CreditbridgeStoreQuorumLost": one("creditbridge_store_quorum", "0x60", "2x60"),
    "CreditbridgeStoreQuorumThin": one("creditbridge_store_quorum", "1x60", "2x60"),
    "CreditbridgeStoreLag": one("creditbridge_store_lag_bytes", "300000000x60", "300000000x5 0x55"),
    "CreditbridgeStoreInDoubt": one("creditbridge_store_in_doubt_total", "0+1x60", "2x60"),
    "CreditbridgeCountersUnreadable": one("creditbridge_counters_readable", "0x60", "1x60"),
    "CreditbridgeEngineRestarts": one("creditbridge_engine_starts_total", "1+1x60", "1x10 2x50"),
    "CreditbridgeSweeperLate": one("creditbridge_last_sweep_timestamp_seconds", "0x60", "0+60x60"),
    "CreditbridgeCallbacksOverdue": one("creditbridge_dealer_callback_overdue_seconds", "0+60x60", "290x60",
                                        DEALER, dealer()),
    "CreditbridgeCallbacksParked": (
        [("creditbridge_dealer_callbacks" + dealer(state="parked"), "1x60")],
        [("creditbridge_dealer_callbacks" + dealer(state="parked"), "0x60"),
         ("creditbridge_dealer_callbacks" + dealer(state="due"), "5x60")], {**DEALER, "state": "parked"}, "20m"),
    "CreditbridgeDealerBreakerOpen": one("creditbridge_dealer_breaker", "1x60", "1 2x59", DEALER, dealer()),
    "CreditbridgeDealersHeld": one("creditbridge_held_dealers", "1x60", "0x60", at="40m"),
    "CreditbridgeKeysUnconfirmed": one("creditbridge_unconfirmed_keys", "2x60", "0x60", at="40m"),
    "CreditbridgeBackupOld": one("creditbridge_last_backup_timestamp_seconds", "0x1700", "0x1380 82800x320",
                                 at="27h"),
    "CreditbridgeServerErrors": (
        [("creditbridge_requests_total" + dealer(operation="results", code="503"), "0+5x60"),
         ("creditbridge_requests_total" + dealer(operation="bets", code="500"), "0+5x60")],
        [("creditbridge_requests_total" + dealer(operation="results", code="503"), "0+1x60"),
         *(("creditbridge_requests_total" + dealer(operation="bets", code=code), "0+50x60")
           for code in ("502", "503", "504")),
         ("creditbridge_requests_total" + dealer(operation="bets", code="409"), "0+50x60"),
         ("creditbridge_requests_total" + dealer(operation="readyz", code="503"), "0+50x60")], OF, "20m"),
    "CreditbridgeDealerRefused": (dealer_requests(60, 40), dealer_requests(40, 60), DEALER, "30m"),
    "CreditbridgeAuthFailures": one("creditbridge_auth_failures_total", "0+120x60", "0+30x60", at="30m"),
    "CreditbridgeSlowCommits": (commits(90, 95, 100, 100), commits(90, 100, 100, 100), OF, "30m"),
    "CreditbridgeLedgerBusy": one("creditbridge_refused_busy_total", "0+1x60", "5x60"),
    "CreditbridgeRefusedCallsLeftOut": one("creditbridge_refused_calls_left_out_total", "0+120x60", "0+30x60", at="30m"),
    "CreditbridgeRefusedCallsShort": (
        [("creditbridge_refused_calls_bytes" + SERIES, "950x120"),
         ("creditbridge_refused_calls_bound_bytes" + SERIES, "1000x120"),
         ("creditbridge_refused_calls_oldest_timestamp_seconds" + SERIES, "1x120")],
        # Full, and its oldest file was not read yet; the other instance has room.
        [("creditbridge_refused_calls_bytes" + SERIES, "950x120"),
         ("creditbridge_refused_calls_bound_bytes" + SERIES, "1000x120"),
         ("creditbridge_refused_calls_oldest_timestamp_seconds" + SERIES, "0x120"),
         ('creditbridge_refused_calls_bytes{instance="b",job="c"}', "500x120"),
         ('creditbridge_refused_calls_bound_bytes{instance="b",job="c"}', "1000x120"),
         ('creditbridge_refused_calls_oldest_timestamp_seconds{instance="b",job="c"}', "1x120")], OF, "60m"),
    "CreditbridgeMoneyOwed": (
        [("creditbridge_dealer_owed" + dealer(currency="thb", of="payouts"), "0x10 250x170"),
         ("creditbridge_dealer_callbacks" + dealer(state="parked"), "0x10 1x170")],
        # Refunds are always open, each for a minute, and once a payout was parked for half an hour.
        [("creditbridge_dealer_owed" + dealer(currency="thb", of="payouts"), "0x10 250x170"),
         ("creditbridge_dealer_callbacks" + dealer(state="due"), "6x180"),
         ("creditbridge_dealer_callbacks" + dealer(state="parked"), "0x10 1x30 0x140")], DEALER, "90m"),
}


def filled(text, labels):
    return TEMPLATE.sub(lambda match: labels[match[1]], text)


def test_of(alert, series, labels, at, fires):
    """A test in the form of `promtool test rules`."""
    expected = [{"exp_labels": {**labels, **alert["labels"]},
                 "exp_annotations": {key: filled(text, labels) for key, text in alert["annotations"].items()}}]
    return {"interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series],
            "alert_rule_test": [{"eval_time": at, "alertname": alert["alert"],
                                 "exp_alerts": expected if fires else []}]}


def case_each_alert(program):
    """Each alert is raised by its series, with its sentences, and not by the series that are in order."""
    equal(sorted(ALERTS), sorted(alert["alert"] for alert in alerts()), "alerts with a test")
    tests = []
    for alert in alerts():
        raised, quiet, labels, at = ALERTS[alert["alert"]]
        check(raised != quiet, f"{alert['alert']}: series")
        tests += [test_of(alert, raised, labels, at, True), test_of(alert, quiet, labels, at, False)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "test.yml"
        path.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m",
                                        "tests": tests}))
        promtool(program, "test", "rules", path)


def promtool(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    equal(done.returncode, 0, f"promtool {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def case_rules(program):
    check("SUCCESS" in promtool(program, "check", "rules", RULES), "promtool check rules")


def case_queries(program):
    """Each query of the dashboard parses, as the expression of a rule."""
    rules = []
    for number, (_, text) in enumerate(queries()):
        for name, value in VARIABLES.items():
            text = text.replace(name, value)
        rules.append({"record": f"query:number{number}", "expr": text})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "queries.yml"
        path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
        check("SUCCESS" in promtool(program, "check", "rules", path), "promtool check rules")


CASES = (
    ("contrib: rules and dashboard use figures that there are", case_metrics),
    ("contrib: each alert says what happened, what to do, and where that is described", case_annotations),
    ("contrib: the dashboard has what Grafana needs", case_dashboard),
)
PROMTOOL = (
    ("promtool check rules", case_rules),
    ("promtool test rules: each alert", case_each_alert),
    ("promtool: the queries of the dashboard", case_queries),
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--promtool", metavar="PROGRAM")
    arguments = parser.parse_args()
    if arguments.promtool:
        CASES = tuple((name, lambda case=case: case(arguments.promtool)) for name, case in PROMTOOL)
    # promtool evaluates every rule for each minute of 27 hours.
    sys.exit(run_cases(CASES, seconds=90 if arguments.promtool else 30))
