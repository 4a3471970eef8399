"""The one-time codes of RFC 6238, as an authenticator shows them."""
import base64
import hashlib
import hmac
import re
import time

STEP_S = 30


def code_of(secret, step):
    """The code in the 30-second step; @secret in base32."""
    digest = hmac.new(base64.b32decode(secret), step.to_bytes(8, "big"), hashlib.sha1).digest()
    at = digest[-1] & 15
    return f"{(int.from_bytes(digest[at:at + 4], 'big') & 0x7fffffff) % 1000000:06d}"


def one_time_code(otpauth, later=0):
    """The code of now, of the address that an authenticator reads; with @later=1 the one after it, which counts, too."""
    return code_of(re.search(r"secret=([A-Z2-7]+)", otpauth).group(1), int(time.time()) // STEP_S + later)
