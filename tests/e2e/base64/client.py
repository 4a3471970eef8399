#!/usr/bin/python3
"""A dealer's client, written from the public documentation of 2024; see client.sh."""
import base64
import hashlib
import hmac
import http.client
import json
import os
import sys
import time
import urllib.parse


def sign(body):
    return base64.b64encode(hmac.new(os.environ["KEY"].encode(), body, hashlib.sha256).digest()).decode()


def call(method, path, values):
    body = json.dumps(values).encode()
    url = urllib.parse.urlsplit(os.environ["URL"] + path)
    connection = http.client.HTTPConnection(url.netloc, timeout=20)
    connection.request(method, url.path, body, {
        "Content-Type": "application/json", "x-casino-id": os.environ["CASINO"],
        "x-casino-signature": sign(body)})
    print(connection.getresponse().read().decode())


command, *words = sys.argv[1:]
now = int(time.time() * 1000)
if command in ("in", "out"):
    call("POST", f"/wallet-service/credit/transfer-{command}", {
        "amount": float(words[1]), "request_transaction_id": words[2], "user_id": words[0]})
elif command == "balance":
    call("GET", "/user-service/user/3rdparty-get-balance",
         {"user_id": words[0], "request_timestamp": now})
elif command == "stat":
    call("GET", "/user-service/user/stat", {
        "user_id": words[0], "include_data": ["bet_summary"], "request_timestamp": now})
elif command == "result":
    call("GET", "/game-service/bet_game/result-inquire", {"user_id": words[0], "game_id": words[1]})
elif command == "verify":
    with open(words[0], "rb") as file:
        sys.exit(not hmac.compare_digest(sign(file.read()), words[1]))
