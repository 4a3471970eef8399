"""A seamless dealer: WSGI, storage by sqlite3.

    dealer.py player USER AMOUNT     sets what a player has
    dealer.py serve PORT

CREDITBRIDGE_DATABASE is the database, CREDITBRIDGE_KEY_FILE has your live keys, one a line."""
import contextlib
import os
import socketserver
import sqlite3
import sys
import wsgiref.simple_server

from creditbridge import Callbacks, decide, units

TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS players (
    user_id TEXT NOT NULL PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
-- The primary key is what lets one transaction_id move credit once. Never delete from here.
CREATE TABLE IF NOT EXISTS transactions (
    transaction_id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL, user_id TEXT NOT NULL,
    game_id TEXT NOT NULL, amount INTEGER NOT NULL, result TEXT NOT NULL, shortfall INTEGER NOT NULL);
"""


def database():
    db = sqlite3.connect(os.environ["CREDITBRIDGE_DATABASE"], timeout=2, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA synchronous = FULL")
    return contextlib.closing(db)


def dealer(environ, start_response):
    callback = environ["creditbridge.callback"]
    user, number = callback.body["user_id"], callback.body.get("transaction_id", 0)
    with database() as db:
        # Locked for writing at once. An exception ends as a 500: the platform repeats or refunds.
        db.execute("BEGIN IMMEDIATE")
        player = db.execute("SELECT * FROM players WHERE user_id = ?", [user]).fetchone()
        row = db.execute("SELECT * FROM transactions WHERE transaction_id = ?", [number]).fetchone()
        made = decide(callback, row, player and player["balance"], "thb")
        if made.row:
            db.execute("REPLACE INTO transactions VALUES "
                       "(:id, :state, :user_id, :game_id, :amount, :result, :shortfall)",
                       {"id": number, "shortfall": 0, **made.row})
        if made.balance is not None:
            db.execute("UPDATE players SET balance = ? WHERE user_id = ?", [made.balance, user])
        db.execute("COMMIT")
    start_response(f"{made.status} Answered", [("Content-Type", "application/json")])
    return [made.json.encode()]


class Server(socketserver.ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True
    request_queue_size = 128


def main(command, *words):
    if command == "player":
        with database() as db:
            db.executescript(TABLES)
            db.execute("REPLACE INTO players VALUES (?, ?)", [words[0], units(words[1])])
        return
    with open(os.environ["CREDITBRIDGE_KEY_FILE"], encoding="ascii") as file:
        application = Callbacks(dealer, file.read().split())
    wsgiref.simple_server.make_server("127.0.0.1", int(words[0]), application, Server).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
