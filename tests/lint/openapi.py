#!/usr/bin/python3
"""openapi: doc/openapi.yaml and doc/dealer-callbacks.yaml agree with the sources, as TAP.

Routes, errors, and the members of request bodies and callbacks are read from the tables of the sources.
What answers look like is compared with the running service by tests/contract, which needs npm.
"""
import json
import pathlib
import re
import sys

import yaml

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_refusals import answers  # noqa: E402
from cb_tap import check, equal, run_cases  # noqa: E402

METHODS = ("get", "post", "put", "delete", "patch", "options", "head", "trace")
OPERATION = re.compile(r'^OPERATION\((\w+),\s*"[^"]*",\s*"([^"]+)",(.*?)\)$', re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"^(?:static )?const struct (?:body_)?field (\w+)\[\] = \{$(.*?)^\};$",
                   re.MULTILINE | re.DOTALL)
# The rows that stand for a result, and those for a player, in tables of group C.
RESULT = re.compile(r"^#define BODY_RESULT_MEMBERS((?:.*\\\n)+.*)$", re.MULTILINE)
PLAYER = re.compile(r"^#define BODY_PLAYER\(\w+\)((?:.*\\\n)+.*)$", re.MULTILINE)
# What a type of a request's member is in JSON.
JSON_TYPES = {"ID": "string", "NAME": "string", "TEXT": "string", "AMOUNT": "number",
              "PAYOUT": "number", "INTEGER": "integer", "BOOL": "boolean", "OBJECT": "object", "ARRAY": "array",
              "RESULT": "string", "WORDS": "array"}
FIELD_TYPES = {"STR": "string", "MONEY": "number", "U64": "integer", "U32": "integer",
               "TIME_MS": "integer",
               "JSON": "object"}


def source(*path):
    return (SRCDIR / "src").joinpath(*path).read_text()


def document(name):
    return yaml.safe_load((SRCDIR / "doc" / name).read_text())


OPENAPI = document("openapi.yaml")
CALLBACKS = document("dealer-callbacks.yaml")


def resolve(whole, node):
    while "$ref" in node:
        step = whole
        for part in node["$ref"].removeprefix("#/").split("/"):
            step = step[part]
        node = step
    return node


def operations(whole):
    return {(path, method): item[method] for path, item in whole["paths"].items()
            for method in METHODS if method in item}


def tables():
    """The field tables of the handlers and the callbacks: name -> text."""
    player = PLAYER.search(source("wire", "bodies.h")).group(1)
    texts = [path.read_text() for path in sorted((SRCDIR / "src" / "web" / "handlers").glob("*.c"))]
    texts.append(source("wire", "bodies.c"))
    result = RESULT.search(source("wire", "bodies.c")).group(1)
    return {name: re.sub(r"BODY_PLAYER\(\w+\)", lambda _: player, rows.replace("BODY_RESULT_MEMBERS", result))
            for text in [*texts, source("wire", "callback_body.c")]
            for name, rows in TABLE.findall(text)}


def routes():
    """(path, method) -> the rest of the row."""
    rows = OPERATION.findall(source("wire", "operations.def"))
    handled = re.findall(r"&http_operations\[OPERATION_(\w+)\]", source("web", "route.c"))
    equal([name for name, _, _ in rows], handled, "operations with a path, and handlers of route.c")
    return {(path, method.lower()): rest for _, path, rest in rows
            for method in re.findall(r"METHOD_(\w+)", rest)}


def case_routes():
    told = operations(OPENAPI)
    equal(set(told), set(routes()), "operations of openapi.yaml, and of operations.def")
    for key, rest in routes().items():
        group = "platform" if "SERVE_PLATFORM" in rest else "base"
        servers = OPENAPI["paths"][key[0]].get("servers", OPENAPI["servers"])
        equal([server["url"] for server in servers], [f"{{{group}_url}}"], f"server of {key}")
        security = told[key].get("security")
        if rest.endswith("NULL"):
            equal(security, [], f"security of {key}")
            continue
        caller = "client" if group == "platform" else "dealer"
        equal(security, [{f"{caller}Id": [], f"{caller}Signature": []}], f"security of {key}")


def case_headers():
    names = {name: scheme["name"] for name, scheme in
             OPENAPI["components"]["securitySchemes"].items()}
    equal(names, {"dealerId": "x-casino-id", "dealerSignature": "x-casino-signature",
                  "clientId": "x-client-id", "clientSignature": "x-client-signature"}, "headers")
    for name in names.values():
        variable = "HTTP_" + name.upper().replace("-", "_")
        check(variable in source("fcgi", "server.c") + source("web", "request", "headers.c"), f"{variable} is read")


def error_of(schema):
    """What @schema, one of an error's id, says each member is."""
    members = schema["allOf"][1]["properties"]
    return {name: part["const"] for name, part in members.items() if "const" in part}


def case_errors():
    """Each has a schema of its name, which says what it is."""
    schemas = OPENAPI["components"]["schemas"]
    reasons = dict(re.findall(r'\{(\d+), "([^"]+)"\}', source("wire", "render.c")))
    told = {name for name, schema in schemas.items() if name == schema.get("title")}
    equal(told, set(answers()), "schemas of errors, and refusals of refusal.def")
    for name, (code, retryable) in answers().items():
        expected = {"id": name, "code": int(code), "status": reasons[code],
                    "retryable": retryable}
        if name == "dealer_timeout":  # of an inquiry it is retryable, of a bet not
            del expected["retryable"]
        equal(error_of(schemas[name]), expected, name)


def named_in(node, found):
    """Adds the names of the schemas that @node refers to, itself or by its responses."""
    if isinstance(node, dict):
        reference = node.get("$ref", "")
        if reference.startswith("#/components/schemas/"):
            found.add(reference.rsplit("/", 1)[1])
        elif reference.startswith("#/components/responses/"):
            named_in(resolve(OPENAPI, node), found)
        for child in node.values():
            named_in(child, found)
    elif isinstance(node, list):
        for child in node:
            named_in(child, found)


def case_answers():
    """Each error is an answer of some operation, under the status that is its code."""
    used = set()
    for key, operation in operations(OPENAPI).items():
        for status, answer in operation["responses"].items():
            found = set()
            named_in(answer, found)
            errors = found & set(answers())
            used |= errors
            wrong = [name for name in errors if answers()[name][0] != status]
            equal(wrong, [], f"errors of {key} {status}")
        check("200" in operation["responses"] and "405" in operation["responses"], f"{key}")
    equal(used, set(answers()), "errors that operations answer")


def members_of(whole, schema):
    """({name: JSON type}, required) of an object, its parts put together."""
    schema = resolve(whole, schema)
    types = {name: resolve(whole, part)["type"]
             for name, part in schema.get("properties", {}).items()}
    required = set(schema.get("required", []))
    for part in schema.get("allOf", []):
        more, needed = members_of(whole, part)
        types.update(more)
        required |= needed
    return types, required


def body_of(table):
    """({name: JSON type}, required) of a table of struct body_field."""
    types, required = {}, set()
    for kind, name in re.findall(r"BODY_FIELD\(BODY_(\w+), \w+, (\w+)\)", table):
        types[name] = JSON_TYPES[kind]
        required.add(name)
    for name, kind in re.findall(r'BODY_OPTIONAL\("(\w+)", BODY_(\w+),', table):
        if not kind.startswith("HAS_"):
            types[name] = JSON_TYPES[kind]
    for name in re.findall(r'BODY_OPTIONAL_WORDS\("(\w+)"', table):
        types[name] = "array"
    return types, required


def case_bodies():
    found = tables()
    for key, rest in routes().items():
        table = rest.rsplit(maxsplit=1)[1]
        operation = operations(OPENAPI)[key]
        if table == "NULL":
            check("requestBody" not in operation, f"{key} takes no body")
            continue
        media = operation["requestBody"]["content"]["application/json"]
        equal(members_of(OPENAPI, media["schema"]), body_of(found[table]), f"body of {key}")


def case_callbacks():
    found = tables()
    paths = re.search(r"callback_default_paths\[\w+\] = \{(.*?)\};", source("domain", "callback.c"),
                      re.DOTALL).group(1)
    # The service has no default path for betting-correction; the document suggests one.
    equal(list(CALLBACKS["paths"]), [*re.findall(r'"([^"]+)"', paths), "/betting-correction"],
          "paths")
    names = ("balance_inquire", "bet", "result", "refund", "correction")
    for (path, item), name in zip(CALLBACKS["paths"].items(), names):
        media = item["post"]["requestBody"]["content"]["application/json"]
        table = found[f"{name}_body_fields"]
        types = {member: FIELD_TYPES[kind] for kind, member in
                 re.findall(r"FIELD\(FIELD_(\w+), \w+, (\w+)\)", table)}
        types.update({member: "string" for member in
                      re.findall(r"FIELD_NAMED\(\w+, (\w+),", table)})
        # callback_body_render() adds it for a dealer with send_currency.
        if name != "correction":
            types["currency"] = "string"
        # Only of a result that reports a correction (correction_win_body).
        more = {"corrects_revision", "revision"} if name == "result" else set()
        types.update({member: "integer" for member in more})
        # specification, "Bet result": the objects are optional, and are sent if the game server
        # sent them.
        required = {member for member, kind in types.items()
                    if (kind != "object" or name == "bet") and member != "currency"
                    and member not in more}
        equal(members_of(CALLBACKS, media["schema"]), (types, required), f"body of {path}")


def case_tools():
    """The npm tools are pinned, and come from whatever registry is there."""
    folder = SRCDIR / "tests" / "contract"
    package = json.loads((folder / "package.json").read_text())
    lock = json.loads((folder / "package-lock.json").read_text())
    text = (folder / "package-lock.json").read_text()
    check('"resolved"' not in text and "registry.npmjs" not in text, "an address of a registry")
    equal(lock["packages"][""]["dependencies"], package["dependencies"], "the lock is of these")
    loose = [name for name, version in {**package["dependencies"], **package["overrides"]}.items()
             if not re.fullmatch(r"\d+\.\d+\.\d+", version)]
    equal(loose, [], "versions that are not exact")
    unsure = [name for name, entry in lock["packages"].items()
              if name and not entry.get("integrity") and not entry.get("link")
              and not entry.get("inBundle")]
    equal(unsure, [], "packages without a digest")


def case_version():
    version = re.search(r"AC_INIT\(\[\w+\], \[([^\]]+)\]", (SRCDIR / "configure.ac").read_text())
    for whole in (OPENAPI, CALLBACKS):
        equal(whole["info"]["version"], version.group(1), whole["info"]["title"])


sys.exit(run_cases([
    ("operations are the routes", case_routes),
    ("headers of callers", case_headers),
    ("every error, and no other", case_errors),
    ("errors of operations", case_answers),
    ("bodies of requests", case_bodies),
    ("callbacks", case_callbacks),
    ("the npm tools are pinned", case_tools),
    ("versions", case_version),
]))
