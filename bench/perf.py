#!/usr/bin/python3
"""Where the processor's time goes: profiles the web server, the worker and the ledger with perf, during
transfers in.

Writes perf-server.txt, perf-worker.txt and perf-ledger.txt into --out, each with the time by group and
its top symbols, and prints the groups as microseconds per transfer. Exits with 1 when any answer was an
error, with 77 when perf cannot be used here.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cells import Cell  # noqa: E402
from guard import everything_ends  # noqa: E402
from measure import Failure, Play, in_turn  # noqa: E402
from packages import PACKAGES, install  # noqa: E402
from report import add_out, aligned  # noqa: E402
from stands import SERVERS, Wallet, cb  # noqa: E402
from wrk import add_eager_client  # noqa: E402

FREQUENCY = 1999
SETTLE_S = 2
PARTS = ("server", "worker", "ledger")
SYMBOLS = 12
SKIP = 77
EVENTS = ("cycles", "cpu-clock")
USABLE_S = 30

# By the file that the code is in.
LIBRARIES = (
    (r"libjansson", "JSON (jansson)"),
    (r"libgnutls|libnettle|libhogweed|libgmp|libcrypto", "HMAC (gnutls, nettle)"),
    (r"libdb-", "libdb"),
    (r"libc\.so|libc-|ld-linux|libm\.so|\[vdso\]", "libc"),
    (r"mod_|lighttpd|apache2|libapr|nginx|libpcre|libxxhash|libbrotli|libz", "web server"),
    (r"creditbridge", "creditbridge itself"),
)
# Of libc, by the symbol.
LIBC = (
    (r"malloc|calloc|realloc|free|cfree|arena", "libc: memory"),
    (r"pthread|mutex|lll_|futex|cond_", "libc: locks"),
    (r"mem(cpy|move|set|cmp|chr)|str|_avx|_sse|_evex", "libc: strings"),
    (r"printf|strto|itoa", "libc: numbers and text"),
)
SYSCALL = re.compile(r"^(?:__x64_sys_|__do_sys_|__se_sys_|__arm64_sys_|ksys_)(\w+)$")
INTERRUPTS = r"sysvec|irq|_interrupt"


def usable(*choices):
    """The first of @choices, options of perf record, that it can be used with here; ends the program
    with 77 when there is none."""
    reason = "perf is not installed"
    for choice in choices:
        try:
            done = subprocess.run(["perf", "record", "-q", *choice, "-o", "/dev/null", "--", "true"],
                                  capture_output=True, text=True, check=False, timeout=USABLE_S)
        except OSError:
            break
        except subprocess.TimeoutExpired:
            reason = f"perf does not end within {USABLE_S} s"
            continue
        if not done.returncode:
            return choice
        reason = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "perf failed"
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def kernel_group(frames):
    """By the system call that the kernel was in; @frames from the inside out."""
    names = [symbol for symbol, _ in frames]
    for name in reversed(names):
        found = SYSCALL.match(name)
        if found:
            return f"system call {found.group(1)}"
    # A call whose function ended in a jump to do_NAME() left no other trace.
    if "do_syscall_64" in names[1:]:
        inner = names[names.index("do_syscall_64") - 1]
        if inner.startswith("do_"):
            return f"system call {inner.removeprefix('do_').removeprefix('sys_')}"
    if any(re.search(INTERRUPTS, name) for name in names):
        return "interrupts"
    return "in and out of the kernel"


def group_of(frames):
    """What a sample counts as: the kernel's by system call, the others by library."""
    symbol, place = frames[0]
    if place.startswith("[kernel"):
        return kernel_group([frame for frame in frames if frame[1].startswith("[kernel")])
    for pattern, group in LIBRARIES:
        if re.search(pattern, place):
            if group == "libc":
                return next((name for words, name in LIBC if re.search(words, symbol)),
                            "libc: other")
            return group
    return "other"


def read_samples(data):
    """Lists of (symbol, file) of each sample, from the inside out."""
    done = subprocess.run(["perf", "script", "-i", str(data), "-F", "ip,sym,dso"],
                          capture_output=True, text=True, check=False)
    frames = []
    for line in [*done.stdout.splitlines(), ""]:
        found = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
        if found:
            frames.append((found.group(1).split("+")[0], os.path.basename(found.group(2))))
        elif frames:
            yield frames
            frames = []


class Profile:
    """The samples of a part."""

    def __init__(self, data):
        self.groups = collections.Counter()
        self.symbols = {}
        for frames in read_samples(data):
            group = group_of(frames)
            self.groups[group] += 1
            self.symbols.setdefault(group, collections.Counter())[frames[0]] += 1
        self.count = sum(self.groups.values())

    def lines(self, part_us):
        """Groups and their top symbols, with microseconds per transfer."""
        if not self.count:
            return ["no samples"]
        out = []
        for group, count in self.groups.most_common():
            share = count / self.count
            out.append(f"{share * 100:5.1f} %  {share * part_us:6.2f} us  {group}")
            for (symbol, place), times in self.symbols[group].most_common(SYMBOLS):
                if times / self.count >= 0.002:
                    out.append(f"    {times / self.count * 100:5.1f} %  {symbol} ({place})")
        return out


def measure(stand, cell, options, run):
    play = Play(cell, stand, options.players, run, options.client)
    in_turn([play], options.seconds)
    return play.row()


def record(stand, cell, options, folder, event):
    """(row, {part: Profile}): one run of the cell with perf beside it."""
    recorders = {}
    for part, pids in stand.parts(cell.server).items():
        recorders[part] = cb.Child(
            ["perf", "record", "-q", "-e", event, "-F", str(FREQUENCY), "-g", "-o",
             folder / f"{part}.data", "-p", ",".join(map(str, pids)), "--", "sleep",
             str(options.seconds + SETTLE_S)], folder / f"{part}.log")
    row = measure(stand, cell, options, "perf")
    for part, child in recorders.items():
        child.process.wait(60)
        if not (folder / f"{part}.data").exists():
            raise Failure(f"perf record: {child.log_tail()}")
    return row, {part: Profile(folder / f"{part}.data") for part in recorders}


def summary(row, profiles):
    names = collections.Counter()
    for part, profile in profiles.items():
        for group, count in profile.groups.items():
            names[group] += count / max(1, profile.count) * row[f"{part}_us"]
    lines = [["microseconds of processor time a transfer", *PARTS]]
    for group, total in names.most_common():
        if total < 0.1:
            continue
        lines.append([group] + [
            f"{profiles[part].groups[group] / max(1, profiles[part].count) * row[f'{part}_us']:.1f}"
            if profiles[part].groups[group] else "" for part in PARTS])
    lines.append(["all", *(f"{row[f'{part}_us']:.1f}" for part in PARTS)])
    return aligned(lines, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--players", type=int, default=100000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--server", default="lighttpd", choices=SERVERS)
    parser.add_argument("--kind", default="transfer-in", help="kind of call, of bench/load.lua")
    add_out(parser)
    add_eager_client(parser)
    options = parser.parse_args()
    install((*PACKAGES, "linux-perf"))
    event = usable(*(("-g", "-e", event) for event in EVENTS))[-1]
    cell = Cell(options.kind, "creditbridge", options.server, options.connections, options.kind)
    with everything_ends() as ends:
        try:
            stand = Wallet(options.players, (options.server,))
            plain = measure(stand, cell, options, "plain")
            row, profiles = record(stand, cell, options, ends.folder(), event)
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    for part in PARTS:
        head = (f"{options.kind}, {options.server}, {options.connections} connections: {part}, "
                f"{plain[f'{part}_us']:.1f} us of processor time each, {profiles[part].count} "
                f"samples of {event}")
        (options.out / f"perf-{part}.txt").write_text(
            "\n".join([head, "", *profiles[part].lines(plain[f"{part}_us"]), ""]))
    print(f"{plain['rate']:.0f}/s without perf, {row['rate']:.0f}/s with it ({event})\n")
    print("\n".join(summary(plain, profiles)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
