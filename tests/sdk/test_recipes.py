#!/usr/bin/python3
"""The recipes of doc/integrator-guide.md: those that it calls "run by the tests" are run here. Raw bodies: each
framework takes a signed callback and refuses an altered one. Clients: each one's calls are answered by the
service, and the table of clients that can send a GET with a body is measured."""
import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE.parent / "contract")]
import cb  # noqa: E402
import contract_tools as tools  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_http import raw_request, request_bytes, sign  # noqa: E402
from cb_listener import Listening, Quiet  # noqa: E402
from cb_process import port_open  # noqa: E402
from cb_table import known  # noqa: E402

GUIDE = (cb.SRCDIR / "doc" / "integrator-guide.md").read_text()
RECIPE = re.compile(r"^\*\*([^*]+)\*\* \((run by the tests|reviewed, not run by the tests)[^)]*\)"
                    r"(?:(?!```).)*```recipe\n(.*?)^```", re.MULTILINE | re.DOTALL)
RECIPES = {name: (run == "run by the tests", text) for name, run, text in RECIPE.findall(GUIDE)}
KEY = "0123456789abcdef" * 4
PHP = "<?php\nrequire '/usr/share/php/{}/autoload.php';\n"
# How a recipe is served or run: its file, what is added to it, and the program.
SERVED = {
    "Express": ("app.mjs", "{}", ["node", "app.mjs"]),
    "Fastify": ("app.mjs", "{}", ["node", "app.mjs"]),
    "Django": ("views.py", "{}", ["/usr/bin/python3", HERE / "serve_wsgi.py", "django"]),
    "Flask": ("views.py", "{}", ["/usr/bin/python3", HERE / "serve_wsgi.py", "flask"]),
    "Symfony": ("index.php", PHP.format("Symfony/Component/HttpFoundation") + "{}"
                "(new BettingController())(Request::createFromGlobals())->send();\n", ["php", "-S", "127.0.0.1:PORT", "index.php"]),
}
RUN = {
    "axios": ("call.mjs", "{}", ["node", "call.mjs"]),
    "fetch()": ("call.mjs", "{}", ["node", "call.mjs"]),
    "Guzzle": ("call.php", PHP.format("GuzzleHttp") + "{}", ["php", "call.php"]),
    "requests": ("call.py", "{}", ["/usr/bin/python3", "call.py"]),
}
LIBRARY = "standardwebhooks"
WALLET = SERVER = KEY_FILE = None


def staged(name, table):
    """(folder, argv) of a recipe."""
    path, around, argv = table[name]
    if not shutil.which(str(argv[0])):
        raise Skip(f"not installed: {argv[0]}")
    folder = WALLET.dir / f"recipe-{re.sub('[^a-z]', '', name.lower())}"
    folder.mkdir()
    (folder / path).write_text(around.replace("{}", RECIPES[name][1], 1))
    if argv[0] == "node":
        (folder / "node_modules").symlink_to(packages())
    return folder, argv


def packages():
    try:
        tools.install(HERE, "sdk")
    except tools.Missing as missing:
        raise Skip(str(missing)) from missing
    return tools.modules("sdk")


def case_complete():
    """Each framework and client has a recipe, and the guide says which ones are run."""
    equal({name for name, (run, _) in RECIPES.items() if run}, {*SERVED, *RUN, LIBRARY}, "recipes that are run")
    equal({name for name, (run, _) in RECIPES.items() if not run},
          {"Laravel", "WordPress", "Go net/http", "ASP.NET"}, "recipes that are reviewed")
    equal(GUIDE.count("```recipe\n"), len(RECIPES), "recipes")


def post(port, body, signature):
    headers = [("Host", "127.0.0.1"), ("Connection", "close"), ("Content-Type", "application/json"),
               ("X-Casino-Signature", signature)]
    return raw_request(port, request_bytes("POST", "/betting", headers, body, False))


def serves(name):
    folder, argv = staged(name, SERVED)
    port = cb.free_port()
    key = folder / "key"
    key.write_text(KEY + "\n")
    argv = [str(word).replace("PORT", str(port)) for word in argv]
    child = cb.Child(["env", "-C", folder, *argv], folder / "log",
                     env={**os.environ, "CREDITBRIDGE_KEY_FILE": str(key), "PORT": str(port),
                          "PYTHONDONTWRITEBYTECODE": "1"})
    try:
        child.wait_ready(lambda: port_open(port), 20, name)
        vectors = json.loads((cb.SRCDIR / "doc" / "signature-vectors.json").read_text())
        bodies = [row["body"].encode() for row in vectors["webhook"]] + [
            b'{ "user_id" : "\\u0e1c\\/", "bet_amount" : 0.30,\r\n "remark":"' + "ฝาก".encode() + b'" }',
            b'{"user_bet":"' + b"x" * 60000 + b'"}']
        for body in bodies:
            for text in (sign(KEY, body), sign(KEY, body).upper()):
                got = post(port, body, text)
                equal((got.status, got.body.strip()), (200, b"{}"), f"{name} {body[:60]}: {child.log_tail()}")
        body = bodies[0]
        for what, changed, text in (("another body", body + b" ", sign(KEY, body)),
                                    ("another key", body, sign("f" * 64, body)), ("no signature", body, ""),
                                    ("half a signature", body, sign(KEY, body)[:32]),
                                    ("no hex", body, "g" * 64)):
            got = post(port, changed, text)
            equal((got.status, got.json["id"]), (401, "invalid_signature"), f"{name}: {what}")
    finally:
        child.stop()


def calls(name):
    folder, argv = staged(name, RUN)
    done = subprocess.run([str(word) for word in argv], cwd=folder, capture_output=True, text=True, timeout=40,
                          check=False, env={**os.environ, "CREDITBRIDGE_URL": SERVER.base_url,
                                            "CREDITBRIDGE_CASINO": "demo",
                                            "CREDITBRIDGE_KEY_FILE": str(KEY_FILE)})
    equal(done.returncode, 0, f"{name}: {done.stdout}{done.stderr}")
    equal(json.loads(done.stdout)["balance"], 0, name)


def of_each(function, names):
    def case():
        skipped = []

        def one(name):
            try:
                function(name)
            except Skip as skip:
                skipped.append(f"{name}: {skip}")
        cb.each_in_thread(one, names)
        if skipped:
            raise Skip(f"{'; '.join(sorted(skipped))} (the others passed)")
    return case


def case_library():
    """The recipe of the stock library verifies our headers, with either key."""
    modules = packages()
    folder = WALLET.dir / "recipe-library"
    folder.mkdir()
    (folder / "node_modules").symlink_to(modules)
    rows = json.loads((cb.SRCDIR / "doc" / "signature-vectors.json").read_text())["webhook"]
    # It compares with its own clock, so the vector's key signs an attempt of now.
    row, now = rows[-1], str(int(time.time()))
    signed = f"{row['id']}.{now}.{row['body']}".encode()
    signatures = " ".join("v1," + base64.b64encode(hmac.digest(key.encode(), signed, hashlib.sha256)).decode()
                          for key in row["keys"])
    headers = {"webhook-id": row["id"], "webhook-timestamp": now, "webhook-signature": signatures}
    for number, key in enumerate(row["keys"]):
        for what, body, code in (("good", row["body"], 0), ("bad", row["body"] + " ", 1)):
            path = folder / f"{what}-{number}.mjs"
            path.write_text(f"const key = {json.dumps(key)}, rawBody = {json.dumps(body)}, "
                            f"headers = {json.dumps(headers)};\n{RECIPES[LIBRARY][1]}")
            done = subprocess.run(["node", path], capture_output=True, text=True, timeout=20, check=False)
            equal(done.returncode, code, f"{what}: {done.stdout}{done.stderr}")
            check(code or "17" in done.stdout, done.stdout)


class Echo(Quiet):
    """Answers with the method and the body of the request, as far as it is framed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        answer = f"{self.command} {self.body().decode()}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET


def case_get():
    """The table of clients: what each makes of a GET with a body."""
    rows = re.findall(r"(?m)^\| ([^|]+) \| (sends it|refuses|drops it) \|", GUIDE)
    programs = {"mjs": ["node"], "php": ["php"], "py": ["/usr/bin/python3"]}
    measured = {}
    missing = []
    folder = WALLET.dir / "get"
    folder.mkdir()
    (folder / "node_modules").symlink_to(packages())
    with Listening(Echo) as server:
        for suffix, argv in programs.items():
            if not shutil.which(argv[0]):
                missing.append(argv[0])
                continue
            shutil.copy(HERE / f"get.{suffix}", folder)
            done = subprocess.run([*argv, f"get.{suffix}", server.url], cwd=folder, capture_output=True, text=True,
                                  timeout=60, check=False)
            equal(done.returncode, 0, f"get.{suffix}: {done.stdout}{done.stderr}")
            measured.update(json.loads(done.stdout))
    check(len(measured) >= 8 or missing, f"measured: {measured}")
    words = {"GET {}": "sends it", "GET ": "drops it", "refused": "refuses"}
    pinned = json.loads((HERE / "package.json").read_text())["dependencies"]
    for name in ("axios", "undici", "got", "standardwebhooks"):
        version = pinned[name]
        check(f"{name} {version}" in GUIDE or f"version {version} of npm" in GUIDE, f"{name} {version}")
    told = dict(rows)
    equal({name: told.get(name) for name in measured}, {name: words.get(got, got) for name, got in measured.items()},
          "what the guide says of clients")
    if missing:
        raise Skip(f"not installed: {', '.join(missing)} (the others passed)")


CASES = [
    ("every recipe is run, or is marked", case_complete),
    ("raw bodies in each framework", of_each(serves, SERVED)),
    ("clients that are generated, with a hook that signs", of_each(calls, RUN)),
    ("the stock library of Standard Webhooks", case_library),
    ("clients and the body of a GET", case_get),
]

if __name__ == "__main__":
    with cb.Instance("creditbridge-recipes") as WALLET, cb.Lighttpd(WALLET) as SERVER:
        KEY_FILE = WALLET.dir / "demo.key"
        dealer = WALLET.dealer_add("demo")
        KEY_FILE.write_text(dealer.key + "\n")
        WALLET.player_add("demo", "alice")
        known(lambda: cb.call(SERVER, "POST", cb.BALANCE, {"user_id": "alice", "request_timestamp": cb.now_ms()},
                              dealer=dealer))
        result = cb.run_cases(CASES, seconds=60)
    sys.exit(result)
