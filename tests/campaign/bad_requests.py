"""Bad requests, generated: each with the status and the error id that the contract gives it.

An operation is described by its fields, as the contract states them, and a valid body. A Maker draws what to
break and how. Nothing here looks at what the service's own tables say.
"""
import collections
import json

from cb import BALANCE, RESULT_INQUIRE, STAT, TRANSFER_IN, TRANSFER_OUT, now_ms, sign
from cb_platform import BETS, PLAYER_BALANCE, PLAYERS, RESULTS

BODY_MAX = 65536
NESTING_MAX = 16

Field = collections.namedtuple("Field", "type required")
ID, NAME, AMOUNT, PAYOUT, TIME, TEXT, BOOL, RESULT, WORDS, OBJECT = range(10)
Operation = collections.namedtuple("Operation", "path methods fields")
Request = collections.namedtuple("Request", "what mount method path headers body status id")

OPERATIONS = {
    "wallet": (
        Operation(TRANSFER_IN, ("POST",), {
            "user_id": Field(ID, True), "request_transaction_id": Field(ID, True),
            "amount": Field(AMOUNT, True)}),
        Operation(TRANSFER_OUT, ("POST",), {
            "user_id": Field(ID, True), "request_transaction_id": Field(ID, True),
            "amount": Field(AMOUNT, True)}),
        Operation(BALANCE, ("GET", "POST"), {
            "user_id": Field(ID, True), "request_timestamp": Field(TIME, True)}),
        Operation(STAT, ("GET", "POST"), {
            "user_id": Field(ID, True), "request_timestamp": Field(TIME, True),
            "include_data": Field(WORDS, False)}),
        Operation(RESULT_INQUIRE, ("GET", "POST"), {
            "user_id": Field(ID, True), "game_id": Field(ID, True)}),
    ),
    "platform": (
        Operation(PLAYERS, ("POST",), {
            "casino_id": Field(NAME, True), "user_id": Field(ID, True)}),
        Operation(PLAYER_BALANCE, ("POST",), {
            "casino_id": Field(NAME, True), "user_id": Field(ID, True)}),
        Operation(BETS, ("POST",), {
            "request_transaction_id": Field(ID, True), "casino_id": Field(NAME, True),
            "user_id": Field(ID, True), "game_id": Field(ID, True),
            "bet_amount": Field(AMOUNT, True), "remark": Field(TEXT, False),
            "user_bet": Field(OBJECT, False), "addition": Field(BOOL, False)}),
        Operation(RESULTS, ("POST",), {
            "request_transaction_id": Field(ID, True), "casino_id": Field(NAME, True),
            "user_id": Field(ID, True), "game_id": Field(ID, True), "result": Field(RESULT, True),
            "payout_amount": Field(PAYOUT, True), "remark": Field(TEXT, False),
            "user_bet": Field(OBJECT, False), "game_result": Field(OBJECT, False),
            "user_bet_result": Field(OBJECT, False)}),
    ),
}

# JSON texts of the wrong type, by what they are.
JSON_TYPES = {
    "string": ('"1"', '"x"', '""', '"true"', '"{}"'), "number": ("1", "-1", "0", "1.5", "1e3"),
    "boolean": ("true", "false"), "null": ("null",), "array": ("[]", "[1]", '["a"]', "[{}]"),
    "object": ("{}", '{"a":1}'),
}
TYPE_OF = {ID: "string", NAME: "string", AMOUNT: "number", PAYOUT: "number", TIME: "number",
           TEXT: "string", BOOL: "boolean", RESULT: "string", WORDS: "array", OBJECT: "object"}
CONTROLS = ('"a\\u0000b"', '"a\\nb"', '"\\u001f"', '"\\u007f"', '"tab\\there"', '"\\u0000"')
# Of the right type, and out of range: bad_request.
OUT_OF_RANGE = {
    ID: ('""', '"' + "x" * 129 + '"', '"' + "\u00e9" * 65 + '"', '"' + "\U0001f3b2" * 33 + '"', *CONTROLS),
    NAME: ('""', '"' + "x" * 65 + '"', '"a b"', '"a/b"', '"\u00e9"', '"a:b"', '"a,b"', *CONTROLS),
    TIME: ("-1", "1.5", "9007199254740993", "1e3"),
    TEXT: ('"' + "x" * 257 + '"', *CONTROLS),
    RESULT: ('"won"', '"WIN"', '""', '"lose"', '"win "', '"draw"'),
    WORDS: ('["bets"]', "[1]", '["bet_summary","x"]', "[null]", "[[]]", '["BET_SUMMARY"]'),
}
AMOUNTS_TOO_MUCH = ("100000000000", "1e11", "1e300", "99999999999.99999", "9007199254740993",
                    "9223372036854775807", "9223372036854775808", "1e400",
                    "123456789012345678901234567890")
AMOUNTS_TOO_FINE = ("0.001", "1.005", "10.123", "0.0001", "1e-3", "1.00001", "0.00001", "5e-324")
AMOUNTS_NOT_ABOVE = ("0", "0.0", "-0.0", "-1", "-0.01", "-1e300", "-100000000000", "0e5")
# What no JSON text may be.
NO_JSON = ("NaN", "Infinity", "-Infinity", "+1", "01", "1.", ".5", "0x10", "'x'", "undefined", "True",
           "1e", "--1", "1\0", "1.5\0", "true\0", '"\\x41"', '"\\ud800"', '"unended', "[1,]",
           '{"a":1,}', "/*x*/1")
HEX = "0123456789abcdef"


class Maker:
    """Draws bad requests. @keys: of the signer by mount, (id, key). @user, @casino: a player that
    exists; @stranger: a key that is none of theirs."""

    def __init__(self, random, keys, casino, user, stranger):
        self.random, self.keys, self.casino, self.user = random, keys, casino, user
        self.stranger = stranger
        self.count = 0
        self.kinds = (self.missing, self.wrong_type, self.out_of_range, self.no_json, self.shape,
                      self.cut, self.bytes_wrong, self.signature, self.path, self.method,
                      self.too_large, self.amount, self.stale, self.unknown)

    # -- parts

    def operation(self, mount=None, wanted=lambda operation: True):
        while True:
            where = mount or self.random.choice(("wallet", "platform"))
            operation = self.random.choice(OPERATIONS[where])
            if wanted(operation):
                return where, operation

    def texts(self, operation):
        """The JSON text of each field of a valid body."""
        self.count += 1
        valid = {"user_id": json.dumps(self.user), "casino_id": json.dumps(self.casino),
                 "request_transaction_id": f'"bad-{self.count}"', "game_id": f'"g-{self.count}"',
                 "amount": "1", "bet_amount": "1", "payout_amount": "1", "result": '"win"',
                 "request_timestamp": str(now_ms()), "remark": '"roulette"', "addition": "false",
                 "include_data": '["bet_summary"]'}
        return {name: valid.get(name, '{"red":1}') for name in operation.fields}

    def body(self, texts):
        names = list(texts)
        self.random.shuffle(names)
        space = self.random.choice(("", "", " ", "\n\t"))
        return ("{" + ("," + space).join(f'"{name}":{space}{texts[name]}' for name in names)
                + "}").encode()

    def signed(self, mount, body):
        who = "casino" if mount == "wallet" else "client"
        ident, key = self.keys[mount]
        return [(f"x-{who}-id", ident), (f"x-{who}-signature", sign(key, body))]

    def request(self, what, mount, operation, body, status=400, id_="bad_request", method=None):
        return Request(what, mount, method or self.random.choice(operation.methods), operation.path,
                       self.signed(mount, body), body, status, id_)

    def field(self, operation, types=None, required=None):
        names = [name for name, field in operation.fields.items()
                 if (types is None or field.type in types)
                 and (required is None or field.required == required)]
        return self.random.choice(names)

    # -- what is broken

    def missing(self):
        # A result's payout may be left out of a refund; a player may be named in another way.
        mount, operation = self.operation()
        texts = self.texts(operation)
        name = self.field(operation, required=True)
        del texts[name]
        return self.request(f"without {name}", mount, operation, self.body(texts))

    def wrong_type(self):
        mount, operation = self.operation()
        texts = self.texts(operation)
        name = self.field(operation)
        right = TYPE_OF[operation.fields[name].type]
        wrong = self.random.choice([kind for kind in JSON_TYPES if kind != right])
        texts[name] = self.random.choice(JSON_TYPES[wrong])
        return self.request(f"{name}: {texts[name]}", mount, operation, self.body(texts))

    def out_of_range(self):
        mount, operation = self.operation()
        texts = self.texts(operation)
        name = self.field(operation, types=[ID, NAME, TIME, TEXT, RESULT, WORDS])
        texts[name] = self.random.choice(OUT_OF_RANGE[operation.fields[name].type])
        return self.request(f"{name}: {texts[name]}", mount, operation, self.body(texts))

    def no_json(self):
        mount, operation = self.operation()
        texts = self.texts(operation)
        name = self.random.choice([self.field(operation), "unknown"])
        texts[name] = self.random.choice(NO_JSON)
        return self.request(f"{name}: {texts[name]}", mount, operation, self.body(texts))

    def shape(self):
        """What is JSON, and not one object as it should be."""
        mount, operation = self.operation()
        texts = self.texts(operation)
        good = self.body(texts)
        name = self.field(operation)
        nested = self.random.choice(("[", '{"a":'))
        depth = NESTING_MAX + self.random.choice((0, 1, 50, 1000))
        deep = nested * depth + "1" + ("]" if nested == "[" else "}") * depth
        body = self.random.choice((
            b"", b" ", b"[]", b"1", b'"x"', b"null", b"[" + good + b"]", good + good,
            good + b" x", good + b"\0", b"\xef\xbb\xbf" + good,
            good[:-1] + f',"{name}":{texts[name]}'.encode() + b"}",
            good[:-1] + b',"x":1,"x":1}', good[:-1] + b',"x":{"y":1,"y":2}}',
            good[:-1] + b',"deep":' + deep.encode() + b"}"))
        return self.request("shape", mount, operation, body)

    def cut(self):
        mount, operation = self.operation()
        good = self.body(self.texts(operation))
        return self.request("cut", mount, operation, good[:self.random.randrange(len(good))])

    def bytes_wrong(self):
        """A byte that no UTF-8 has there, within a string."""
        mount, operation = self.operation()
        texts = self.texts(operation)
        name = self.random.choice([self.field(operation, types=[ID, NAME, TEXT, RESULT]), "x"])
        texts[name] = '"a@b"'
        wrong = self.random.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80",
                                    b"\x80", b"\xe2\x82", b"\x01", b"\n", b"\x00"))
        return self.request(f"{name}: {wrong!r}", mount, operation,
                            self.body(texts).replace(b"a@b", b"a" + wrong + b"b"))

    def amount(self):
        mount, operation = self.operation(wanted=lambda one: any(
            field.type in (AMOUNT, PAYOUT) for field in one.fields.values()))
        texts = self.texts(operation)
        name = self.field(operation, types=[AMOUNT, PAYOUT])
        values = AMOUNTS_TOO_MUCH + tuple(
            text for text in AMOUNTS_NOT_ABOVE
            if operation.fields[name].type == AMOUNT or float(text) < 0)
        if operation.path not in (RESULTS,):  # whose round is looked for before its decimals
            values += AMOUNTS_TOO_FINE
        texts[name] = self.random.choice(values)
        return self.request(f"{name}: {texts[name]}", mount, operation, self.body(texts), 400,
                            "invalid_amount")

    def stale(self):
        mount, operation = self.operation("wallet", lambda one: "request_timestamp" in one.fields)
        texts = self.texts(operation)
        off = self.random.choice((-1, 1)) * self.random.choice((310, 400, 3600, 86400)) * 1000
        texts["request_timestamp"] = self.random.choice(
            (str(now_ms() + off), str(now_ms() // 1000), "0", "9007199254740991"))
        return self.request("stale", mount, operation, self.body(texts), 401, "stale_request")

    def unknown(self):
        """Well-formed, of what is not there."""
        mount, operation = self.operation()
        texts = self.texts(operation)
        if operation.path == PLAYERS:
            texts["casino_id"] = '"nobody"'
            found = "dealer_not_found"
        elif operation.path == RESULT_INQUIRE:
            found = "game_not_found"
        elif operation.path == RESULTS:
            found = "game_not_found"  # which bets would have been of
        else:
            texts["user_id"] = f'"stranger-{self.count}"'
            found = "user_not_found"
        return self.request("unknown", mount, operation, self.body(texts), 404, found)

    def signature(self):
        mount, operation = self.operation()
        body = self.body(self.texts(operation))
        (id_name, ident), (name, right) = self.signed(mount, body)
        at = self.random.randrange(64)
        other = self.random.choice([digit for digit in HEX if digit != right[at]])
        headers = self.random.choice((
            [], [(id_name, ident)], [(name, right)], [(id_name, ident), (name, "")],
            [(id_name, ident), (name, right[:at] + other + right[at + 1:])],
            [(id_name, ident), (name, right[:at])], [(id_name, ident), (name, right + "0")],
            [(id_name, ident), (name, right[:at] + "g" + right[at + 1:])],
            [(id_name, ident), (name, sign(self.stranger, body))],
            [(id_name, ident), (name, sign(self.keys[mount][1], body + b"\n"))],
            [(id_name, "nobody"), (name, right)], [(id_name, ident + "x"), (name, right)],
            [(id_name, ident), (name, right), (name, right)],
            [(id_name, ident), (id_name, ident), (name, right)],
            [(id_name, ident + "," + ident), (name, right)],
            [(id_name, ident), (name, right[:32] + " " + right[32:])],
        ))
        return self.request("signature", mount, operation, body, 401, "invalid_signature")._replace(
            headers=headers)

    def path(self):
        mount, operation = self.operation()
        body = self.body(self.texts(operation))
        at = self.random.randrange(1, len(operation.path))
        wrong = self.random.choice((
            operation.path + "/", operation.path + "x", operation.path[:at],
            operation.path[:at] + "X" + operation.path[at + 1:], operation.path.upper(),
            "/x" + operation.path, "/"))
        return self.request("path", mount, operation, body, 404, "not_found")._replace(path=wrong)

    def method(self):
        mount, operation = self.operation()
        body = self.body(self.texts(operation))
        method = self.random.choice(("PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"))
        if "GET" not in operation.methods and self.random.random() < 0.5:
            method = "GET"
        return self.request("method", mount, operation, body, 405, "method_not_allowed", method)

    def too_large(self):
        mount, operation = self.operation()
        texts = self.texts(operation)
        texts["pad"] = '"' + "x" * (BODY_MAX + self.random.choice((-60, 1, 1000, BODY_MAX))) + '"'
        body = self.body(texts)
        if len(body) <= BODY_MAX:
            body = body + b" " * (BODY_MAX + 1 - len(body))
        return self.request("too large", mount, operation, body, 413, "payload_too_large")

    def make(self):
        # Bodies of 64 KiB and more are seldom drawn: they are all alike.
        kind = self.random.choice(self.kinds)
        if kind == self.too_large and self.random.random() < 0.8:
            kind = self.wrong_type
        return kind()
