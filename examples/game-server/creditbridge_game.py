#!/usr/bin/python3
"""A game server's calls to the platform: Python, only its standard library.

    creditbridge_game.py player  CASINO USER
    creditbridge_game.py balance CASINO USER
    creditbridge_game.py bet     CASINO USER GAME REFERENCE AMOUNT [addition]
    creditbridge_game.py win     CASINO USER GAME REFERENCE PAYOUT
    creditbridge_game.py loss    CASINO USER GAME REFERENCE
    creditbridge_game.py refund  CASINO USER GAME REFERENCE
    creditbridge_game.py batch   REFERENCE FILE   up to 500 results, a JSON object a line without a reference
    creditbridge_game.py --vectors FILE           check sign() against signature-vectors.json

CREDITBRIDGE_PLATFORM_URL, CREDITBRIDGE_CLIENT and CREDITBRIDGE_CLIENT_KEY_FILE give the address, the client id and
the file that holds the key. GAME names one round. Prints the answer. Exit status: 0 done; 1 refused; 2 usage; 75
the outcome is not known: the same command with the same REFERENCE, later, returns it and moves nothing twice.
"""
import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import sys
import time
import urllib.parse

TRIES = 5
TIMEOUT_S = 10  # a dealer has 3 s for a bet, and the ledger 5 s to start again


def sign(key, body):
    """Of the bytes that are sent. The key's characters are the key: do not decode its hex."""
    return hmac.new(key.encode("ascii"), body, hashlib.sha256).hexdigest()


def send(path, body):
    """One attempt: status, Retry-After or None, body. OSError or HTTPException: no answer."""
    url = urllib.parse.urlsplit(os.environ["CREDITBRIDGE_PLATFORM_URL"])
    with open(os.environ["CREDITBRIDGE_CLIENT_KEY_FILE"], encoding="ascii") as file:
        key = file.read().strip()
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname, url.port, timeout=TIMEOUT_S)
    try:
        connection.request("POST", url.path.rstrip("/") + path, body, {
            "Content-Type": "application/json",
            "x-client-id": os.environ["CREDITBRIDGE_CLIENT"],
            "x-client-signature": sign(key, body)})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Retry-After"), answer.read()
    finally:
        connection.close()


def is_to_be_repeated(status, text):
    """Whether the same call, with the same reference, is to be made again."""
    try:
        answer = json.loads(text)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("request_id", "") == "none":
        # A web server or proxy sent it. After a 4xx the call did not arrive.
        return not 400 <= status < 500 or status == 429
    # The same batch tries again only those of its results whose error is retryable.
    items = answer.get("results", ()) if status == 200 else ()
    return status != 200 and answer.get("retryable", True) or any(item.get("retryable") for item in items)


def call(path, body):
    """Repeats the same bytes, and so the same REFERENCE, until there is an answer that counts."""
    wait_s = 1
    for attempt in range(TRIES):
        if attempt:
            time.sleep(wait_s)
        wait_s = 2 ** attempt
        try:
            status, retry_after, text = send(path, body)
        except (OSError, http.client.HTTPException) as error:
            print(f"no answer: {error!r}", file=sys.stderr)
            continue
        if not is_to_be_repeated(status, text):
            print(text.decode("utf-8", "replace"))
            return 0 if status == 200 else 1
        print(f"status {status}", file=sys.stderr)
        if retry_after and retry_after.isdigit():
            wait_s = min(int(retry_after), 30)
    print("the outcome is not known: repeat with the same reference", file=sys.stderr)
    return 75


def body_of(members, **amounts):
    """JSON with the digits of @amounts as they are, never through a float."""
    for value in amounts.values():
        if not re.fullmatch(r"(0|[1-9][0-9]{0,10})(\.[0-9]{1,4})?", value):
            sys.exit(f"{value}: not an amount")
    parts = [f'"{name}":{value}' for name, value in amounts.items()]
    parts += [f"{json.dumps(name)}:{json.dumps(value)}" for name, value in members.items()]
    return ("{" + ",".join(parts) + "}").encode()


def bet(game_id, reference, amount, *words, **player):
    members = {"request_transaction_id": reference, **player, "game_id": game_id, "remark": "roulette",
               "user_bet": {"place": "red"}, "addition": words == ("addition",)}
    return call("/platform/bets", body_of(members, bet_amount=amount))


def result(kind, game_id, reference, *words, **player):
    members = {"request_transaction_id": reference, **player, "game_id": game_id, "result": kind,
               "remark": "roulette", "game_result": {"number": 7}}
    return call("/platform/results", body_of(members, **dict(zip(("payout_amount",), words))))


def batch(reference, path):
    """The texts of the results stay as they are, with the digits of their amounts."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    return call("/platform/results/batch",
                f'{{"request_transaction_id":{json.dumps(reference)},"results":[{",".join(lines)}]}}'.encode())


def vectors(path):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["vectors"]
    wrong = [row["name"] for row in rows if row["signature"] != sign(
        row["key"], base64.b64decode(row["body_base64"]) * row["times"])]
    print(f"{len(rows) - len(wrong)} of {len(rows)} vectors", *wrong)
    return 1 if wrong or not rows else 0


def main(words):
    counts = {"--vectors": (2,), "player": (3,), "balance": (3,), "bet": (6, 7), "win": (6,), "loss": (5,),
              "refund": (5,), "batch": (3,)}
    if not words or len(words) not in counts.get(words[0], ()):
        print(__doc__, file=sys.stderr)
        return 2
    command, *more = words
    if command == "--vectors":
        return vectors(*more)
    if command == "batch":
        return batch(*more)
    player = {"casino_id": more[0], "user_id": more[1]}
    if command in ("player", "balance"):
        return call(f"/platform/{command}{'s' if command == 'player' else ''}", body_of(player))
    if command == "bet":
        return bet(*more[2:], **player)
    return result(command, *more[2:], **player)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
