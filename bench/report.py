"""What the runs came to: a table, JSON, and a picture."""
import argparse
import json
import pathlib
import statistics
import textwrap

import bars
import picture
from cells import BET_STANDS, DELAYS_MS, MINUTE, WAIT_US, WAITING

# Of the table: head, name of the figure, form.
COLUMNS = (("row", "row", "s"), ("stand", "stand", "s"), ("server", "server", "s"),
           ("conns", "connections", "d"), ("req/s", "rate", ".0f"),
           ("of ceiling", "of_ceiling", ".2f"), ("p50 ms", "p50_ms", ".2f"),
           ("p99 ms", "p99_ms", ".2f"), ("p99.9 ms", "p999_ms", ".2f"), ("errors", "errors", "d"),
           ("client us", "client_us", ".0f"), ("server us", "server_us", ".0f"),
           ("worker us", "worker_us", ".0f"), ("ledger us", "ledger_us", ".0f"),
           ("busy", "busy", ".2f"), ("per commit", "commands_a_commit", ".1f"))
TEXTS = 3
LEGEND = """\
rate, latency and processor time per request are medians of the rounds; of ceiling is the median of
the rounds' shares. Of a round, cells with the same web server and as many connections take turns of two
seconds, and latency is the median of a cell's turns; the steady minute is one piece. client is wrk,
which shares the machine ({client}). In the rows of the peers, worker is php-fpm or Node and ledger is MariaDB. busy: the
share of the machine's processors that all of them used; the rest was idle, or used by other
programs. per commit: transfers that shared one fdatasync of the log. Each call of "{waiting}"
waits {wait_ms:g} ms, as for a disk. Apache is mpm_{mpm}."""
CLIENTS = {"batch": "and does not interrupt the server when an answer wakes it",
           "eager": "and interrupts the server when an answer wakes it"}


def made_folder(name):
    """Of a command's line: found or made before anything is measured."""
    path = pathlib.Path(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{name}: {error.strerror}") from error
    return path


def add_out(parser):
    parser.add_argument("--out", type=made_folder, default="results", metavar="DIR",
                        help="for the files it writes (default: %(default)s, in the current directory)")


def below(bars, least):
    """Prints each (name, ratio) against @least. Whether one is below it."""
    for what, figure in bars:
        print(f"{'MISSED' if figure < least else 'ok'}: {what}: {figure:.3f}, at least {least}")
    return any(figure < least for _, figure in bars)


def rounds_of(runs):
    """[{cell: row}], a round each, of {cell: {round: row}}."""
    numbers = sorted({number for rows in runs.values() for number in rows})
    return [{cell: rows[number] for cell, rows in runs.items() if number in rows}
            for number in numbers]


def of_ceiling(cell, rounds):
    """The median share of what was measured beside it."""
    if cell.stand not in ("ceiling", WAITING, "creditbridge") or cell.seconds:
        return None
    share = bars.share(lambda other: other == cell, bars.ceiling(cell.server, cell.connections))
    shares = [value for value in map(share, rounds) if value is not None]
    return statistics.median(shares) if shares else None


def medians(runs, failed):
    """One row a cell: the median of each figure over the rounds, and the share of the ceiling."""
    rounds = rounds_of(runs)
    rows = []
    for cell, measured in runs.items():
        if not measured and cell not in failed:
            continue
        row = {"row": cell.row, "stand": cell.stand, "server": cell.server,
               "connections": cell.connections, "rounds": len(measured),
               "errors": failed.get(cell, 0)}
        for name in {name for run in measured.values() for name in run}:
            row[name] = statistics.median(run[name] for run in measured.values() if name in run)
        row["of_ceiling"] = of_ceiling(cell, rounds)
        rows.append(row)
    return rows


def aligned(lines, texts):
    """@lines of texts as columns, the first @texts of them to the left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(text.ljust(width) if i < texts else text.rjust(width)
                      for i, (text, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def formed(value, form):
    return "" if value is None else format(value, form)


def table(rows):
    return aligned([[head for head, _, _ in COLUMNS]]
                   + [[formed(row.get(name), form) for _, name, form in COLUMNS] for row in rows],
                   TEXTS)


def find(rows, **wanted):
    return next((row for row in rows if "rate" in row
                 and all(row[name] == value for name, value in wanted.items())), None)


def added_latency(rows):
    """Of bets: their time, less the time of a call straight to the same dealer."""
    lines = []
    for delay in DELAYS_MS:
        for connections in sorted({row["connections"] for row in rows}):
            dealer = find(rows, row=f"dealer {delay} ms", connections=connections)
            for stand in BET_STANDS:
                bet = find(rows, row=f"bet, dealer {delay} ms", connections=connections,
                           stand=f"{stand}-{delay}")
                if bet and dealer:
                    lines.append([f"{stand}, dealer {delay} ms, {connections} connections",
                                  f"{bet['rate']:.0f}"]
                                 + [f"{bet[name] - dealer[name]:.2f}"
                                    for name in ("p50_ms", "p99_ms", "p999_ms")])
    head = ["bets", "bets/s", "added p50 ms", "added p99 ms", "added p99.9 ms"]
    return aligned([head] + lines, 1) if lines else []


def minute(rows):
    row = find(rows, row=MINUTE)
    return [f"the {MINUTE} saw {row['checkpoints']:.0f} checkpoints and {row['log_switches']:.0f} "
            "log switches"] if row else []


def limits(machine):
    return [f"fdatasync of this disk, 512 bytes {name}: "
            f"{statistics.median(round_[name] for round_ in machine['syncs']):.0f}/s"
            for name in (machine["syncs"][0] if machine["syncs"] else ())]


def sizes(sized):
    if not sized:
        return []
    lines = [["size", "processes", "resident MiB", "of it its own"]]
    lines += [[what, str(count), f"{resident:.1f}", f"{own:.1f}"]
              for what, (count, resident, own) in sized["resident"].items()]
    return aligned(lines, 1) + [""] + aligned(
        [["start", "ms to the first answer"]]
        + [[what, f"{took:.1f}"] for what, took in sized["starts"].items()], 1)


def legend(machine):
    text = LEGEND.format(client=CLIENTS[machine["client"]], waiting=WAITING,
                         wait_ms=WAIT_US / 1000, mpm=machine["mpm"])
    return textwrap.wrap(text, 100)


def refund_lines(refunds):
    return [f"refunds, {name}: {row['refunds']} of {row['silent']} bets that the dealer did not answer, "
            f"each once; the last {row['seconds']:.1f} s after the calls ended (a bet waits 3 s for the dealer)"
            for name, row in refunds.items()]


def write(run, absent, options):
    """Of bench.Run. Prints all and writes bench.json and bench.svg; the bars as they were judged."""
    machine = run.machine
    rows = medians(run.rows, run.errors)
    judged = bars.judge(options.judged, rounds_of(run.rows))
    blocks = (table(rows) if rows else [], legend(machine), added_latency(rows),
              limits(machine) + minute(rows), sizes(run.sized), refund_lines(run.refunds),
              [f"{name} is absent: {reason}" for name, reason in absent.items()],
              bars.told(judged))
    print("\n" + "\n\n".join("\n".join(block) for block in blocks if block))
    (options.out / "bench.json").write_text(json.dumps(
        {"machine": machine, "sizes": run.sized, "absent": absent, "rows": rows, "bars": judged,
         "refunds": run.refunds},
        indent=1) + "\n")
    (options.out / "bench.svg").write_text(picture.draw(rows, judged))
    return judged
