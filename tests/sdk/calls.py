"""calls.py JSON: makes the calls [[METHOD, WORD...], ...] with the Python client. Prints for each its outcome and
its waits, as a line of JSON. ["at", URL, KEY_FILE] is no call: those after it go there, with that key."""
import json
import os
import sys

from creditbridge import Client

waits = []


def client(url, key_file):
    with open(key_file, encoding="ascii") as file:
        wallet = Client(url, os.environ["CREDITBRIDGE_CASINO"], file.read().strip(), wait=waits.append)
    return {"in": wallet.transfer_in, "out": wallet.transfer_out, "balance": wallet.balance,
            "stat": lambda user: wallet.stat(user, bet_summary=True), "result": wallet.result_inquire,
            "out_all": wallet.transfer_out_all, "inquire": wallet.transfer_inquire, "feed": wallet.feed,
            "history": wallet.history, "callbacks": wallet.callbacks, "resend": wallet.resend}


calls = client(os.environ["CREDITBRIDGE_URL"], os.environ["CREDITBRIDGE_KEY_FILE"])
for method, *words in json.loads(sys.argv[1]):
    if method == "at":
        calls = client(*words)
        continue
    try:
        outcome = {"answer": calls[method](*words)}
    except Exception as error:
        outcome = {"error": type(error).__name__.replace("Error", ""),
                   **{name: getattr(error, name, None) for name in ("id", "conclusive", "attempts")}}
    print(json.dumps({**outcome, "waits": waits}))
    waits.clear()
