#!/usr/bin/python3
"""A dealer's calls to the wallet: Python, only its standard library.

    creditbridge.py balance USER
    creditbridge.py in  USER AMOUNT REFERENCE     credit into the platform
    creditbridge.py out USER AMOUNT REFERENCE     and out of it
    creditbridge.py result USER GAME
    creditbridge.py --vectors FILE                check sign() against signature-vectors.json

CREDITBRIDGE_URL, CREDITBRIDGE_CASINO and CREDITBRIDGE_KEY_FILE give the address, the casino id and the file that
holds the key. Prints the answer. Exit status: 0 done; 1 refused; 2 usage; 75 the outcome is not
known: the same command with the same REFERENCE, later, returns it and moves nothing twice.
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
TIMEOUT_S = 10


def sign(key, body):
    """Of the bytes that are sent. The key's characters are the key: do not decode its hex."""
    return hmac.new(key.encode("ascii"), body, hashlib.sha256).hexdigest()


def send(method, path, body):
    """One attempt: status, Retry-After or None, body. OSError or HTTPException: no answer."""
    url = urllib.parse.urlsplit(os.environ["CREDITBRIDGE_URL"])
    with open(os.environ["CREDITBRIDGE_KEY_FILE"], encoding="ascii") as file:
        key = file.read().strip()
    https = url.scheme == "https"
    kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
    connection = kind(url.hostname, url.port, timeout=TIMEOUT_S)
    try:
        # A GET has a body here, too; http.client sends it.
        connection.request(method, url.path.rstrip("/") + path, body, {
            "Content-Type": "application/json",
            "x-casino-id": os.environ["CREDITBRIDGE_CASINO"],
            "x-casino-signature": sign(key, body)})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Retry-After"), answer.read()
    finally:
        connection.close()


def is_object(text):
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def call(method, path, body):
    """Repeats the same bytes, and so the same REFERENCE, until there is an answer that counts."""
    wait_s = 1
    for attempt in range(TRIES):
        if attempt:
            time.sleep(wait_s)
        wait_s = 2 ** attempt
        try:
            status, retry_after, text = send(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            print(f"no answer: {error!r}", file=sys.stderr)
            continue
        known = status == 200 and is_object(text)
        if known or status != 200 and status < 500 and status != 429:
            print(text.decode("utf-8", "replace"))
            return 0 if known else 1
        print(f"status {status}", file=sys.stderr)
        if retry_after and retry_after.isdigit():
            wait_s = min(int(retry_after), 30)
    print("the outcome is not known: repeat with the same reference", file=sys.stderr)
    return 75


def transfer(direction, user, amount, reference):
    # The amount's digits are sent as they are, never through a float.
    if not re.fullmatch(r"(0|[1-9][0-9]{0,10})(\.[0-9]{1,4})?", amount):
        sys.exit(f"{amount}: not an amount")
    body = (f'{{"amount":{amount},"request_transaction_id":{json.dumps(reference)},'
            f'"user_id":{json.dumps(user)}}}')
    return call("POST", f"/wallet-service/credit/transfer-{direction}", body.encode())


def read(path, **members):
    return call("GET", path, json.dumps(members).encode())


def vectors(path):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["vectors"]
    wrong = [row["name"] for row in rows if row["signature"] != sign(
        row["key"], base64.b64decode(row["body_base64"]) * row["times"])]
    print(f"{len(rows) - len(wrong)} of {len(rows)} vectors", *wrong)
    return 1 if wrong or not rows else 0


def main(words):
    if len(words) == 2 and words[0] == "--vectors":
        return vectors(words[1])
    if len(words) == 4 and words[0] in ("in", "out"):
        return transfer(*words)
    if len(words) == 2 and words[0] == "balance":
        return read("/user-service/user/3rdparty-get-balance", user_id=words[1],
                    request_timestamp=int(time.time() * 1000))
    if len(words) == 3 and words[0] == "result":
        return read("/game-service/bet_game/result-inquire", user_id=words[1], game_id=words[2])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
