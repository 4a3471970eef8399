"""The cells of the table: what is called, on which stand, through which server, by how many
connections. One cell is some runs of wrk or of ledger_load."""
import collections

from stands import SERVERS

BET_CONNECTIONS = (1, 16, 64, 256)
# Of bets: the web server of each stand.
BET_STANDS = {"seamless": "lighttpd", "php": "php-fpm on nginx", "node": "node"}

CONNECTIONS = (1, 16, 64)
OPERATIONS = ("transfer-in", "transfer-out", "hot player", "get-balance", "user stat")
# Each peer runs under the same web server.
PEERS = {"mod_fcgid": "php-fpm on apache", "nginx": "php-fpm on nginx"}
# A user's statistics would take bets, which this peer has none of.
PEER_OPERATIONS = ("transfer-in", "transfer-out", "hot player", "get-balance")
DELAYS_MS = (1, 50)
BET_KINDS = ("dealer", "bet", "round")
# hello, but each call waits, as for a disk: the ceiling under mod_fcgid for a program that cannot
# answer at once.
WAIT_US = 300
WAITING = "waiting ceiling"
MINUTE_S = 60
MINUTE = "steady minute"

# @row: its name in the table. @stand: key of the stands. @kind: of load.lua. @seconds: None, as the
# others.
Cell = collections.namedtuple("Cell", "row stand server connections kind seconds", defaults=(None,))


def http_cells():
    """The ceiling first of what it is the ceiling of, the peer last."""
    cells = []
    for server in SERVERS:
        for connections in CONNECTIONS:
            cells.append(Cell("ceiling", "ceiling", server, connections, "transfer-in"))
            if (server, connections) == ("mod_fcgid", 16):
                cells.append(Cell(WAITING, WAITING, server, connections, "transfer-in"))
            cells += [Cell(row, "creditbridge", server, connections, row) for row in OPERATIONS]
            if server in PEERS:
                cells += [Cell(row, "peer", PEERS[server], connections, row)
                          for row in PEER_OPERATIONS]
    cells.append(Cell(MINUTE, "creditbridge", "lighttpd", 64, "transfer-in", MINUTE_S))
    return cells


def ledger_cells():
    """By the ledger's own socket: with each commit on the disk, and with the state in memory."""
    return [Cell(row, stand, "socket", connections, row)
            for connections in CONNECTIONS
            for stand, row in (("creditbridge", "transfer"), ("creditbridge", "balance"),
                               ("no disk", "transfer"))]


def bet_cells():
    """Calls straight to the dealer, beside the bets that ask it: the dealer's time is not the
    wallet's. Then bets and results in turn. The peers last."""
    return [Cell(f"{row}dealer {delay} ms", f"{stand}-{delay}", BET_STANDS[stand], connections, kind)
            for delay in DELAYS_MS for connections in BET_CONNECTIONS
            for row, kind, stands in (("", "dealer", ("seamless",)), ("bet, ", "bet", BET_STANDS),
                                      ("bets and results, ", "round", BET_STANDS))
            for stand in stands]


def cells_all():
    return http_cells() + ledger_cells() + bet_cells()


def group(cell):
    """What is compared with each other, follows each other in cells_all(), and is measured in turn."""
    if cell.kind in BET_KINDS:
        return cell.stand.rsplit("-", 1)[1], cell.connections
    server = next((ours for ours, peers in PEERS.items() if peers == cell.server), cell.server)
    return server, cell.connections, cell.seconds
