"""Group C: the platform's game servers, and dealers of a wallet that have their own servers."""
import collections
import json

from cb_dealer import ReferenceDealer
from cb_http import raw_request, request_bytes, sign
from cb_process import free_port

PLAYERS = "/platform/players"
PLAYER_BALANCE = "/platform/balance"
BETS = "/platform/bets"
BETS_CANCEL = "/platform/bets/cancel"
RESULTS = "/platform/results"
RESULTS_BATCH = "/platform/results/batch"
CORRECTIONS = "/platform/corrections"
PLATFORM_PATHS = (PLAYERS, PLAYER_BALANCE, BETS, BETS_CANCEL, RESULTS, RESULTS_BATCH, CORRECTIONS)
# The settings with which an Instance can reach dealers on this machine.
LOOPBACK = {"callback_networks": ["127.0.0.0/8"]}

Client = collections.namedtuple("Client", "client_id key")


def client_add(wallet, client_id):
    made = wallet.ctl_json("client", "add", client_id)
    return Client(made["client_id"], made["key"])


def platform_call(server, path, body=None, *, client=None, client_id=None, signature=None,
                  method="POST", headers=(), chunked=False, timeout=20.0):
    """Sends one request to the platform's mount of @server. @body, @headers and @chunked are as
    in call(). @client signs. @client_id and @signature replace the default values; "" omits a
    header."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if client is not None:
        client_id = client.client_id if client_id is None else client_id
        signature = sign(client.key, body or b"") if signature is None else signature
    sent = [("Host", f"127.0.0.1:{server.platform_port}"), ("Connection", "close")]
    if client_id:
        sent.append(("x-client-id", client_id))
    if signature:
        sent.append(("x-client-signature", signature))
    data = request_bytes(method, path, sent + list(headers), body, chunked)
    return raw_request(server.platform_port, data, method, timeout)


def seamless_dealer(wallet, casino_id, *options, words=()):
    """Adds a dealer of @wallet whose players' credit is in a new ReferenceDealer. @words are
    options for `dealer add`, @options for the dealer's program. Returns both; close the second."""
    port = free_port()
    dealer = wallet.dealer_add(casino_id, "--url", f"http://127.0.0.1:{port}", "--allow-http",
                               *words, mode="seamless")
    return dealer, ReferenceDealer(*options, port=port, key=dealer.key)
