"""Runs creditbridgectl in tests and checks exit codes and both forms of errors."""
import contextlib
import fcntl
import itertools
import json
import os
import struct
import subprocess
import termios

import cb
from cb_tap import check, equal

NUMBERS = itertools.count(1)


def new(word):
    """Returns a name that no other case uses."""
    return f"{word}{next(NUMBERS)}"


def run(*words, code=0, stdin="", **options):
    """Runs creditbridgectl, which must exit with @code. Returns the CompletedProcess."""
    argv = [str(cb.find_program("creditbridgectl")), *map(str, words)]
    done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=60 * cb.PATIENCE,
                          check=False, **options)
    equal(done.returncode, code, f"exit code of {' '.join(argv)}: {done.stdout}{done.stderr}")
    return done


def on_terminal(wallet, *words, answer=""):
    """Runs creditbridgectl on a terminal of 240 columns and types @answer. Returns the exit code
    and the output."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 240, 0, 0))
    child = subprocess.Popen(wallet.ctl_argv(*words), stdin=follower, stdout=follower,
                             stderr=follower, env={**os.environ, "TERM": "xterm"})
    os.close(follower)
    os.write(leader, answer.encode())
    shown = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while piece := os.read(leader, 65536):
            shown += piece
    os.close(leader)
    return child.wait(30), shown.decode().replace("\r", "")


def lone_dealer(wallet, *options, mode):
    """Adds a dealer with player alice. Its server, if it has one, does not exist. Returns its
    casino_id."""
    if mode == "seamless":
        options = ("--url", "http://127.0.0.1:1/d/", "--allow-http", "--refund-delay", "0",
                   *options)
    name = wallet.dealer_add(new("dealer"), *options, mode=mode).casino_id
    wallet.player_add(name, "alice")
    return name


def bind(wallet):
    """Returns the functions ctl(), ctl_json() and refused() for @wallet."""

    def ctl(*words, **options):
        return run("--config", wallet.config, *words, **options)

    def ctl_json(*words, **options):
        out = ctl("--json", *words, **options).stdout
        check(out.endswith("\n") and out.count("\n") == 1, f"one line of JSON: {out!r}")
        return json.loads(out)

    def refused(error_id, *words, code=1):
        """Checks that the command is refused with @error_id on standard error and in JSON."""
        done = ctl(*words, code=code)
        check(f"creditbridgectl: {error_id}: " in done.stderr, f"{words}: {done.stderr}")
        equal(done.stdout, "", f"output of {words}")
        error = ctl_json(*words, code=code)["error"]
        equal(error["id"], error_id, f"error of {words}")
        check(error["detail"], "a detail")
        return done
    return ctl, ctl_json, refused
