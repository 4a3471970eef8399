"""The refusals of the service, read from the sources (domain/refusal.def)."""
import re

from cb_process import SRCDIR

# Ids that are never answers over HTTP: the empty one, and those for operators.
NO_ANSWER = {"", "already_exists", "key_not_found", "key_in_use", "too_many_keys", "key_known",
             "not_allowed_now", "too_many_dealers", "client_not_found", "role_needed",
             "session_needed", "code_needed", "sign_in_refused", "operator_not_found"}
REFUSAL = re.compile(r'^REFUSAL\(\w+, "(\w*)", (\d+), (true|false),', re.MULTILINE)


def refusals():
    """Returns [(id, code, "true" or "false": retryable)] of all refusals, in their order."""
    rows = REFUSAL.findall((SRCDIR / "src" / "domain" / "refusal.def").read_text())
    if len(rows) < 30 or not NO_ANSWER <= {row[0] for row in rows}:
        raise AssertionError("refusal.def was not read, or an exception is no refusal")
    return rows


def answers():
    """Returns {id: (code, retryable)} of those that are answers over HTTP."""
    return {name: (code, retryable == "true") for name, code, retryable in refusals()
            if name not in NO_ANSWER}
