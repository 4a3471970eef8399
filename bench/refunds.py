"""Refunds: bets that the dealer does not answer within 3 s are refunded, each once."""
import time

from cells import BET_STANDS, Cell
from measure import Failure, wrk

CONNECTIONS = 32
SECONDS = 4
PLAYERS = 1000
# Of the bets, so that the wallet's breaker stays closed (70 % of the outcomes unknown open it).
SILENT_EACH = 20
WAIT_S = 60
LOOK_S = 0.2


def measure(make, client):
    """Of the stand that @make(delay_ms, players, silent_each) makes: silent, refunds, seconds."""
    stand = make(1, PLAYERS, SILENT_EACH)
    try:
        cell = Cell("refund", stand.name, server_of(stand), CONNECTIONS, "bet")
        wrk(cell, stand, PLAYERS, SECONDS, "refund", client)
        return awaited(stand)
    finally:
        stand.close()


def server_of(stand):
    return BET_STANDS.get(stand.name, "lighttpd")


def awaited(stand):
    begin, silent, refunds, last = time.monotonic(), 0, 0, 0.0
    while time.monotonic() < begin + WAIT_S and not (silent and refunds >= silent and
                                                     time.monotonic() > begin + last + 2):
        time.sleep(LOOK_S)
        got = stand.dealer_server.received()
        silent += got["silent"]
        if got["refunds"]:
            refunds, last = refunds + got["refunds"], time.monotonic() - begin
    if not silent or refunds != silent:
        raise Failure(f"{stand.name}: {refunds} refunds of {silent} bets without an answer")
    return {"silent": silent, "refunds": refunds, "seconds": last}
