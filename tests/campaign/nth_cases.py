"""The cases of nthcall.py: the calls that fail, and the commands for nth.so (nth.c)."""
import collections
import errno
import mmap
import random
import struct

PROGRAMS = ("ledger", "wallet", "platform", "console", "sweep")
CALLS = ("read", "write", "sync", "open", "rename", "truncate", "malloc", "send", "recv")
# EINTR comes once: a call that is interrupted for ever is no machine's.
FAULTS = {
    "read": (("EIO", True), ("EINTR", False)),
    "write": (("EIO", True), ("ENOSPC", True), ("EINTR", False)),
    "sync": (("EIO", True), ("ENOSPC", True), ("EINTR", False)),
    "open": (("EMFILE", True), ("EIO", True), ("ENOMEM", True), ("ENOSPC", True), ("EINTR", False)),
    "rename": (("EIO", True), ("ENOSPC", True)),
    "truncate": (("EIO", True), ("ENOSPC", True), ("EINTR", False)),
    "malloc": (("ENOMEM", True),),
    "send": (("EIO", True), ("ENOMEM", True), ("EINTR", False)),
    "recv": (("EIO", True), ("ENOMEM", True), ("EINTR", False)),
}
# struct control (nth.c)
CONTROL = struct.Struct("=10Q9QQ")
PLACES_MAX = 1 << 16
CONTROL_BYTES = CONTROL.size + 8 * PLACES_MAX
STRUCK, MOMENT, COUNTS, NOTED = 5, 8, 10, 19

# @place: 0, and @n is counted among all calls of the kind; else among those of the place.
Case = collections.namedtuple("Case", "program call error place n forever")


def named(case):
    return (f"{case.program} {case.call} {case.error} {case.place:x} {case.n} "
            f"{'forever' if case.forever else 'once'}")


def case_of(words):
    """The case that named() named @words."""
    program, call, error, place, n, how = words
    return Case(program, call, error, int(place, 16), int(n), how == "forever")


def call_of(place):
    return CALLS[(place >> 56) - 1]


class Control:
    """What nth.so looks at."""

    def __init__(self, path):
        path.write_bytes(bytes(CONTROL_BYTES))
        self.path = path
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), CONTROL_BYTES)

    def put(self, word, value):
        struct.pack_into("=Q", self.page, 8 * word, value)

    def words(self, first, count=1):
        return struct.unpack_from(f"={count}Q", self.page, 8 * first)

    def arm(self, case):
        """@case.n is 0: nothing fails, and the places are noted."""
        self.page[:] = bytes(CONTROL_BYTES)
        CONTROL.pack_into(self.page, 0, 0, CALLS.index(case.call), case.n, case.forever,
                          getattr(errno, case.error), 0, case.place, 0, 0, case.n == 0,
                          *[0] * (len(CALLS) + 1))
        self.put(0, 1)

    def disarm(self):
        self.put(0, 0)

    def moment(self, number):
        self.put(MOMENT, number)

    def struck(self):
        return self.words(STRUCK)[0]

    def counts(self):
        return dict(zip(CALLS, self.words(COUNTS, len(CALLS))))

    def places(self):
        """place -> how often it was passed; in the order of the first times."""
        noted = min(self.words(NOTED)[0], PLACES_MAX)
        return collections.Counter(filter(None, self.words(NOTED + 1, noted)))


def each_place(places, seed):
    """Every place fails at its first call, with each error, once and from then on; and at another of
    its calls, which the seed chooses, once, unless it is an allocation."""
    for program in PROGRAMS:
        for place, count in sorted(places[program].items()):
            # Of its own: which places there are differs by a few between runs.
            chance = random.Random(f"{seed}/{place}")
            call = call_of(place)
            for error, lasting in FAULTS[call]:
                yield Case(program, call, error, place, 1, False)
                if lasting:
                    yield Case(program, call, error, place, 1, True)
                if count > 1 and call != "malloc":
                    yield Case(program, call, error, place, chance.randint(2, count), False)


def each_call(counts, first):
    """Every call fails from the @first of its kind on."""
    for program in PROGRAMS:
        for call in CALLS:
            for error, lasting in FAULTS[call]:
                for n in range(first, counts[program][call] + 1):
                    yield Case(program, call, error, 0, n, False)
                    if lasting:
                        yield Case(program, call, error, 0, n, True)


def sample(cases, count, seed):
    """@count of them: of each program and call as many as of the others."""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.program, case.call].append(case)
    chance = random.Random(seed)
    picked = []
    queues = [chance.sample(group, min(len(group), count)) for group in groups.values()]
    while len(picked) < count and any(queues):
        for queue in queues:
            if queue and len(picked) < count:
                picked.append(queue.pop())
    return picked
