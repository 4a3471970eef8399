"""The targets (bars) of the benchmarks. Each is the median of one figure over the rounds. A share is computed
in each round, so that both of its sides saw the same machine."""
import collections
import operator
import statistics

from cells import MINUTE, WAIT_US, WAITING

LEAST, MOST = operator.ge, operator.le
WORDS = {LEAST: "at least", MOST: "at most"}

Bar = collections.namedtuple("Bar", "what figure holds bound unit")


def named(row, stand, server, connections):
    """True for the cells of that name; None matches any."""
    def match(cell):
        return (cell.row == row and cell.stand == stand and cell.server.endswith(server)
                and connections in (None, cell.connections))
    return match


def best(round_, match):
    rates = [row["rate"] for cell, row in round_.items() if match(cell)]
    return max(rates) if rates else None


def share(over, under):
    def figure(round_):
        upper, lower = best(round_, over), best(round_, under)
        return upper / lower if upper and lower else None
    figure.needs = (over, under)
    return figure


def figure_of(match, name):
    def figure(round_):
        return next((row[name] for cell, row in round_.items() if match(cell)), None)
    figure.needs = (match,)
    return figure


def per_second(match, of):
    """The rate, as a share of @of calls a second."""
    def figure(round_):
        rate = best(round_, match)
        return rate / of if rate else None
    figure.needs = (match,)
    return figure


def meanwhile(match):
    """The p99 as the number of calls that were served meanwhile; independent of the machine's speed."""
    def figure(round_):
        return next((row["p99_ms"] * row["rate"] / 1000 for cell, row in round_.items()
                     if match(cell)), None)
    figure.needs = (match,)
    return figure


def ours(row, server="lighttpd", connections=64):
    return named(row, "creditbridge", server, connections)


def ceiling(server, connections):
    return named("ceiling", "ceiling", server, connections)


BARS = (
    Bar("transfer-in on lighttpd at 64, of its ceiling",
        share(ours("transfer-in"), ceiling("lighttpd", 64)), LEAST, 0.65, ""),
    Bar("transfer-in on lighttpd at 64, of the best LAMP peer at any connections",
        share(ours("transfer-in"), named("transfer-in", "peer", "", None)), LEAST, 3, ""),
    Bar("transfer-in on mod_fcgid at 16, of its ceiling",
        share(ours("transfer-in", "mod_fcgid", 16), ceiling("mod_fcgid", 16)), LEAST, 0.65, ""),
    # Under mod_fcgid a program whose calls wait has less than the ceiling (doc/performance.md).
    Bar(f"the same, of one whose calls wait {WAIT_US / 1000:g} ms",
        share(ours("transfer-in", "mod_fcgid", 16), named(WAITING, WAITING, "mod_fcgid", 16)),
        LEAST, 0.65, ""),
    Bar("transfer-in on mod_fcgid at 16, of Apache and php-fpm at 16",
        share(ours("transfer-in", "mod_fcgid", 16), named("transfer-in", "peer", "apache", 16)),
        LEAST, 2, ""),
    Bar("a minute of transfers in on lighttpd at 64, p99",
        figure_of(ours(MINUTE), "p99_ms"), MOST, 10, " ms"),
    # 10 ms on a machine whose ceiling is 30,700 requests a second; 0.65 of that is 19,955 transfers.
    Bar("the same, in transfers made meanwhile", meanwhile(ours(MINUTE)), MOST, 200, ""),
    Bar("a minute of transfers in on lighttpd at 64, p99.9",
        figure_of(ours(MINUTE), "p999_ms"), MOST, 30, " ms"),
    Bar("hot player on lighttpd at 64, of random players",
        share(ours("hot player"), ours("transfer-in")), LEAST, 0.9, ""),
    Bar("get-balance on lighttpd at 64, of the ceiling",
        share(ours("get-balance"), ceiling("lighttpd", 64)), LEAST, 0.8, ""),
)

# With --beside php: the processors also work for others, and callers wait for a processor that the others use.
BUSY_BARS = (
    Bar("transfer-in on lighttpd at 64, of its ceiling",
        share(ours("transfer-in"), ceiling("lighttpd", 64)), LEAST, 0.70, ""),
    Bar("transfer-in on mod_fcgid at 16, of its ceiling",
        share(ours("transfer-in", "mod_fcgid", 16), ceiling("mod_fcgid", 16)), LEAST, 0.60, ""),
    Bar("transfer-in on lighttpd at 64, of the best LAMP peer at any connections",
        share(ours("transfer-in"), named("transfer-in", "peer", "", None)), LEAST, 4, ""),
    Bar("a minute of transfers in on lighttpd at 64, p99, in transfers made meanwhile",
        meanwhile(ours(MINUTE)), MOST, 200, ""),
)


def bet(delay, connections, *stands):
    """Bets of these stands, with the dealer that answers after @delay ms."""
    names = [f"{stand}-{delay}" for stand in stands]

    def match(cell):
        return cell.kind == "bet" and cell.stand in names and cell.connections == connections
    return match


def added_ms(delay, connections):
    """The p50 of a bet's time, less the time of a call straight to the dealer."""
    whole = bet(delay, connections, "seamless")

    def dealer(cell):
        return (cell.kind == "dealer" and cell.stand == f"seamless-{delay}"
                and cell.connections == connections)

    def figure(round_):
        values = [next((row["p50_ms"] for cell, row in round_.items() if match(cell)), None)
                  for match in (whole, dealer)]
        return None if None in values else values[0] - values[1]
    figure.needs = (whole, dealer)
    return figure


BET_PEERS = ("php", "node")
# What 256 callers could have if the wallet took 2 ms of their time.
SLOW_S = 0.052
BET_BARS = (
    Bar("bets at 64, dealer 1 ms, of the better peer",
        share(bet(1, 64, "seamless"), bet(1, 64, *BET_PEERS)), LEAST, 4, ""),
    Bar("bets at 1, dealer 1 ms, added latency p50", added_ms(1, 1), MOST, 1, " ms"),
    Bar("bets at 256, dealer 50 ms, of 256 in 52 ms",
        per_second(bet(50, 256, "seamless"), 256 / SLOW_S), LEAST, 0.9, ""),
)


def growth_bars(players):
    """Of a row of bench-growth."""
    return (Bar(f"{players:,} players, rate of that of the first size",
                operator.itemgetter("of_smallest"), LEAST, 0.7, ""),
            Bar(f"{players:,} players, recovery", operator.itemgetter("recovery_s"), MOST, 1, " s"))


def needed(cell, bars):
    """True for a cell that one of @bars is judged by."""
    return any(match(cell) for bar in bars for match in bar.figure.needs)


def judge(bars, rounds):
    """[{what, value, bound, verdict}]; a bar whose figure was not measured says so."""
    judged = []
    for bar in bars:
        values = [value for value in map(bar.figure, rounds) if value is not None]
        value = statistics.median(values) if values else None
        verdict = ("not measured" if value is None else
                   "MET" if bar.holds(value, bar.bound) else "NOT MET")
        judged.append({"what": bar.what, "value": value,
                       "bound": f"{WORDS[bar.holds]} {bar.bound:g}{bar.unit}",
                       "unit": bar.unit, "verdict": verdict})
    return judged


def told(judged):
    width = max(len(bar["what"]) for bar in judged)
    return [f"{bar['what']:<{width}}  "
            + ("" if bar["value"] is None else f"{bar['value']:.3f}{bar['unit']}").rjust(9)
            + f"  {bar['bound']:<16}  {bar['verdict']}" for bar in judged]


def missed(judged):
    """One that was not measured was not met."""
    return [bar for bar in judged if bar["verdict"] != "MET"]
