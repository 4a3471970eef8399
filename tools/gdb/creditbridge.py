"""Commands of gdb for creditbridge. Load them by: source tools/gdb/creditbridge.py

    cb-fibers [FIBERS]      the fibers of this thread, each with a backtrace (default: current->fibers)
    cb-row RECORD ADDRESS   a row, member by member, such as: cb-row bet row->data
    cb-ws WS                the rows of a working set, such as: cb-ws ws

Each takes an expression of the selected frame. cb-fibers needs a live process of x86-64, since it changes
registers for each backtrace and puts them back. Do not end gdb meanwhile: the process would go on with them.
"""
import datetime

import gdb

CREDIT = 10000
BYTES_SHOWN = 80
# Indexes of gregs (sys/ucontext.h) for the registers that a call preserves.
SAVED = {"rbx": 11, "rbp": 10, "r12": 4, "r13": 5, "r14": 6, "r15": 7, "rsp": 15, "rip": 16}


def text_of(pointer):
    return pointer.string() if pointer else ""


def record_number(name):
    infos = gdb.parse_and_eval("record_infos")
    for number in range(infos.type.range()[1] + 1):
        if text_of(infos[number]["name"]) == name:
            return number
    raise gdb.GdbError(f"there is no record {name}; see domain/records.def")


def number_at(address, size, signed=False):
    data = bytes(gdb.selected_inferior().read_memory(address, size))
    return int.from_bytes(data, "little", signed=signed)


def credits_of(amount):
    return f"{'-' if amount < 0 else ''}{abs(amount) // CREDIT}.{abs(amount) % CREDIT:04}"


def member_text(field, at):
    """The member of @field in the struct at the address @at."""
    kind = str(field["type"]).rsplit("FIELD_", 1)[-1]
    at, size = at + int(field["offset"]), int(field["size"])
    if kind == "SECRET":
        return "(secret)"
    if kind == "STR":
        return repr(bytes(gdb.selected_inferior().read_memory(at, size)).split(b"\0")[0].decode("utf-8", "replace"))
    if kind in ("BYTES", "JSON"):
        data, length = number_at(at, 8), number_at(at + 8, 4)
        shown = bytes(gdb.selected_inferior().read_memory(data, min(length, BYTES_SHOWN))) if length else b""
        return f"{length} bytes {shown!r}"
    if kind in ("MONEY", "SUM"):
        return credits_of(number_at(at, size, True))
    if kind == "TIME_MS":
        time_ms = number_at(at, size, True)
        return datetime.datetime.fromtimestamp(time_ms / 1000, datetime.timezone.utc).isoformat() if time_ms else "0"
    if kind == "ENUM":
        number = number_at(at, size)
        return text_of(field["names"][number]) if number < int(field["count"]) else f"{number} (of {field['count']})"
    if kind == "GROUP":
        return f"{field['count']} of {size} bytes"
    return str(number_at(at, size, kind == "I32"))


def fields_of(table):
    at = 0
    while table[at]["name"]:
        yield table[at]
        at += 1


def print_fields(table, address, indent="  "):
    for field in fields_of(table):
        print(f"{indent}{text_of(field['name']):24} {member_text(field, address)}")
        if str(field["type"]).endswith("FIELD_GROUP"):
            for at in range(int(field["count"])):
                print(f"{indent}  [{at}]")
                start = address + int(field["offset"]) + at * int(field["size"])
                print_fields(field["sub"], start, indent + "    ")


def print_row(number, address):
    print_fields(gdb.parse_and_eval("record_infos")[number]["fields"], address)


class Row(gdb.Command):
    """cb-row RECORD ADDRESS: prints a row, member by member."""

    def __init__(self):
        super().__init__("cb-row", gdb.COMMAND_DATA)

    def invoke(self, argument, _):
        name, _, expression = argument.partition(" ")
        if not expression:
            raise gdb.GdbError("cb-row RECORD ADDRESS")
        print_row(record_number(name), int(gdb.parse_and_eval(expression)))


class WorkingSet(gdb.Command):
    """cb-ws WS: lists the rows of a working set: record, state, flags and key."""

    def __init__(self):
        super().__init__("cb-ws", gdb.COMMAND_DATA)

    def invoke(self, argument, _):
        infos = gdb.parse_and_eval("record_infos")
        row, count = gdb.parse_and_eval(f"({argument})->first"), 0
        while row:
            flags = [name for name in ("stored", "dirty", "appended", "dropped", "supposed", "left_out") if row[name]]
            info = infos[int(row["record"])]
            line = f"{text_of(info['name']):12} {str(row['state']):10} {','.join(flags) or '-'}"
            # A row that is still wanted has only its packed key.
            if row["data"]:
                keys = list(fields_of(info["fields"]))[:int(info["key_count"])]
                line += "  " + " ".join(f"{text_of(key['name'])}={member_text(key, int(row['data']))}" for key in keys)
            print(line)
            row, count = row["next"], count + 1
        print(f"{count} rows")


class Fibers(gdb.Command):
    """cb-fibers [FIBERS]: the fibers of this thread, each with a backtrace."""

    def __init__(self):
        super().__init__("cb-fibers", gdb.COMMAND_STACK)

    def backtrace(self, fiber):
        gregs = fiber["context"]["uc_mcontext"]["gregs"]
        before = {name: int(gdb.parse_and_eval(f"(long)${name}")) for name in SAVED}
        try:
            for name, index in SAVED.items():
                gdb.execute(f"set ${name} = {int(gregs[index])}", to_string=True)
            gdb.execute("backtrace 20")
        finally:
            for name, value in before.items():
                gdb.execute(f"set ${name} = {value}", to_string=True)

    def invoke(self, argument, _):
        current = gdb.parse_and_eval("current")
        if not argument and not current:
            raise gdb.GdbError("this thread runs no fiber; give the struct fibers, such as: cb-fibers pool->fibers")
        fibers = gdb.parse_and_eval(argument or "current->fibers")
        frame = gdb.selected_frame()
        level = frame.level()
        gdb.execute("frame 0", to_string=True)
        for number in range(int(fibers["count"])):
            fiber = fibers["list"][number]
            state = "ended" if fiber["ended"] else "waits" if fiber["waiting"] else "is ready"
            if fiber == current:
                state = "runs"
            print(f"fiber {number} {state}, fd {int(fiber['fd'])}{', background' if fiber['background'] else ''}")
            if state in ("waits", "is ready"):
                self.backtrace(fiber)
        gdb.execute(f"frame {level}", to_string=True)


Row()
WorkingSet()
Fibers()
