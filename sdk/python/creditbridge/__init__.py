"""A dealer's side of creditbridge: signatures, calls to the wallet, callbacks. Only the standard library."""
from .callback import Callback, CallbackError, parse_callback
from .client import Client, Refused, UnknownOutcome
from .money import amount, decode, units
from .rules import Decision, decide
from .signature import SignatureError, Verified, sign, verify
from .wsgi import Callbacks

__all__ = ["Callback", "CallbackError", "Callbacks", "Client", "Decision", "Refused", "SignatureError",
           "UnknownOutcome", "Verified", "amount", "decide", "decode", "parse_callback", "sign", "units",
           "verify"]
