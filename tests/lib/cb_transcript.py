"""The calls that quickstart makes and prints, each by the command that a person would type."""
import collections
import json
import os
import shlex
import subprocess

from cb_http import BALANCE, TRANSFER_IN, TRANSFER_OUT, now_ms

# A printed step: its title, its command and the expected answer. @status: of HTTP; None if the
# command is not an HTTP call. @wanted: members of the answer and their values (None: any).
Step = collections.namedtuple("Step", "title command status wanted")


def signed_call(method, url, body, identity, header, signing):
    """Returns a curl command for a shell that has $CTL."""
    return (f"BODY='{body}'\n"
            f"curl -si -X {method} {url} \\\n"
            f"    -H 'Content-Type: application/json' -H '{identity}' \\\n"
            f"    -H \"{header}: $(printf %s \"$BODY\" | $CTL sign {signing} -)\" \\\n"
            "    -d \"$BODY\"")


def wallet_call(method, path, body):
    return signed_call(method, f"$URL{path}", body, "x-casino-id: demo",
                       "x-casino-signature", "demo")


def platform_call(path, body):
    return signed_call("POST", f"$PLATFORM{path}", body, "x-client-id: slots",
                       "x-client-signature", "--key-file $SLOTS_KEY")


def wallet_steps(run, player):
    return (
        Step("Transfer in", wallet_call(
            "POST", TRANSFER_IN,
            f'{{"amount":100.5,"request_transaction_id":"in-{run}","user_id":"{player}"}}'),
            200, {"current_balance": None}),
        Step("Balance", wallet_call(
            "GET", BALANCE,
            f'{{"request_timestamp":\'$(date +%s%3N)\',"user_id":"{player}"}}'),
            200, {"balance": None}),
        Step("Transfer out", wallet_call(
            "POST", TRANSFER_OUT,
            f'{{"amount":40.25,"request_transaction_id":"out-{run}","user_id":"{player}"}}'),
            200, {"current_balance": None}),
    )


def seamless_steps(run, player, casino_id):
    def bet(number):
        return platform_call(
            "/platform/bets",
            f'{{"request_transaction_id":"bet-{number}-{run}","casino_id":"{casino_id}",'
            f'"user_id":"{player}","game_id":"game-{number}-{run}","bet_amount":10,'
            '"remark":"roulette","user_bet":{"red":10}}')

    return (
        Step("A bet of a seamless player: the dealer is asked, and accepts", bet(1),
             200, {"state": "accepted"}),
        Step("Its round is won: a callback makes the dealer pay 25", platform_call(
            "/platform/results",
            f'{{"request_transaction_id":"result-1-{run}","casino_id":"{casino_id}",'
            f'"user_id":"{player}","game_id":"game-1-{run}","result":"win","payout_amount":25,'
            '"remark":"roulette","game_result":{"number":7,"color":"red"}}'),
            200, {"win_amount": 15, "callback": None}),
        Step("A command makes the dealer's server take the next betting and never answer it",
             "curl -si -X POST $DEALER/control/faults \\\n"
             "    -d '{\"fault\":\"lost\",\"kind\":\"betting\",\"ms\":4000,\"times\":1}'",
             200, {}),
        Step("A bet whose call times out: it is not known whether the dealer has it", bet(2),
             504, {"id": "dealer_timeout", "state": "refunding"}),
        Step("The sweeper, which cron starts each minute, delivers the refund",
             "$SWEEP --json", None, {"delivered": 1}),
        Step("The same bet again: its present state", bet(2),
             504, {"id": "dealer_timeout", "state": "refunded"}),
    )


class Transcript:
    def __init__(self, setup):
        self.setup = "\n".join(f"{name}={shlex.quote(value)}" for name, value in setup.items())
        self.failed = 0

    @staticmethod
    def run_id():
        return f"{os.getpid()}-{now_ms()}"

    def begin(self, text):
        say(f"\n{text}\n\n{indent(self.setup)}")

    def perform(self, steps):
        for step in steps:
            say(f"\n{step.title}:\n\n{indent(step.command)}\n")
            head, body, code = self.shell(step)
            say(indent("\n".join(line for line in (head, body) if line)))
            if not as_wanted(step, head, body, code):
                self.failed += 1
                say("    FAILED")

    def shell(self, step):
        """Runs the printed command. Returns the status line, the body of the answer and the exit
        code."""
        done = subprocess.run(["bash", "-c", f"{self.setup}\n{step.command}"],
                              capture_output=True, text=True, timeout=30, check=False)
        if step.status is None:
            return done.stderr.strip(), done.stdout.strip(), done.returncode
        head, _, body = done.stdout.replace("\r", "").partition("\n\n")
        return head.split("\n")[0] or done.stderr.strip(), body.strip(), done.returncode


def as_wanted(step, head, body, code):
    if code != 0 or (step.status is not None and f" {step.status} " not in f"{head} "):
        return False
    try:
        answer = json.loads(body) if step.wanted else {}
    except ValueError:
        return False
    return all(name in answer and value in (None, answer[name])
               for name, value in step.wanted.items())


def say(text):
    print(text, flush=True)


def indent(text):
    return "\n".join("    " + line for line in text.splitlines())
