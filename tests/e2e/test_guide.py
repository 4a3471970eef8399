#!/usr/bin/python3
"""doc/integrator-guide.md: its commands and programs are run in their order, its figures are the
code's, its pictures and links are whole."""
import contextlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cb  # noqa: E402
from cb import Skip, check, equal  # noqa: E402
from cb_listener import Listening, Quiet  # noqa: E402
from cb_platform import LOOPBACK  # noqa: E402

GUIDE = (cb.SRCDIR / "doc" / "integrator-guide.md").read_text()
VECTORS = json.loads((cb.SRCDIR / "doc" / "signature-vectors.json").read_text())["vectors"]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# How a block's text is run; the programs of the guide are files without what is around them.
RUN = {"sh": None, "bash": "bash {}", "php": "php {}", "python": "/usr/bin/python3 {}",
       "js": "node {}", "perl": "perl {}"}
HEADS = {"php": "<?php\n"}
# Shown, and not run: an answer, a picture.
SHOWN = {"json", "sequence"}
MADE_ANEW = {"player_id", "request_id", "transaction_id"}
WALLET = SERVER = None


def blocks():
    """[(language, text)] in the page's order."""
    found = [(language, re.sub(rf"(?m)^{indent}", "", text))
             for indent, language, text in BLOCK.findall(GUIDE)]
    check(len(found) > 25 and {kind for kind, _ in found} == set(RUN) | SHOWN,
          f"{len(found)} blocks of {sorted({kind for kind, _ in found})}")
    equal(len(re.findall(r"(?m)^ *```", GUIDE)), 2 * len(found), "blocks that are not closed")
    return found


def staged(folder):
    """The examples as they are installed, and a creditbridgectl that knows this wallet."""
    shutil.copytree(cb.SRCDIR / "examples", folder / "examples",
                    ignore=shutil.ignore_patterns("*.inc"))
    shutil.copy(cb.SRCDIR / "doc" / "signature-vectors.json", folder / "examples")
    (folder / "bin").mkdir()
    shim = folder / "bin" / "creditbridgectl"
    shim.write_text("#!/bin/sh\nexec " + " ".join(WALLET.ctl_argv()) + ' "$@"\n')
    shim.chmod(0o755)
    (folder / "work").mkdir()


def script(folder):
    """All blocks as one script that marks where each begins."""
    names = {"https://wallet.example": SERVER.base_url, ":9000": f":{cb.free_port()}",
             "/usr/share/doc/creditbridge/examples": str(folder / "examples")}
    lines = ["set -euo pipefail"]
    for number, (language, text) in enumerate(blocks()):
        if language in SHOWN:
            continue
        for name, value in names.items():
            text = text.replace(name, value)
        lines.append(f"echo @@{number}")
        if RUN[language] is None:
            lines.append(text)
            continue
        path = folder / f"block-{number}"
        path.write_text(HEADS.get(language, "") + text)
        lines.append(RUN[language].format(path))
    return "\n".join(lines) + "\n"


def outputs():
    """What each block printed, by its number; every block has to succeed."""
    folder = WALLET.dir / "guide"
    folder.mkdir()
    staged(folder)
    (folder / "script").write_text(script(folder))
    env = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    with open(folder / "out", "w+", encoding="utf-8") as out, \
            open(folder / "err", "w+", encoding="utf-8") as err:
        with subprocess.Popen(["bash", folder / "script"], cwd=folder / "work", env=env, stdout=out,
                              stderr=err, stdin=subprocess.DEVNULL, start_new_session=True) as child:
            try:
                code = child.wait(100)
            finally:  # Servers that it started in the background.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
    text = (folder / "out").read_text()
    parts = re.split(r"(?m)^@@(\d+)\n", text)[1:]
    equal(code, 0, f"the guide's blocks: {text[-900:]}\n{(folder / 'err').read_text()[-900:]}")
    return dict(zip(map(int, parts[::2]), parts[1::2]))


def same_answer(shown, came, what):
    equal(sorted(shown), sorted(came), f"{what}: members")
    for name, value in shown.items():
        if name not in MADE_ANEW:
            equal(came[name], value, f"{what}: {name}")


def refusal():
    """The body of a refused call."""
    done = WALLET.ctl_run("--json", "request", "demo", "balance", "--user", "nobody", "--url",
                          SERVER.base_url)
    return json.loads(done.stdout)["body"]


def case_commands():
    missing = [name for name in ("node", "php", "perl", "curl", "openssl") if not shutil.which(name)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}")
    printed = outputs()
    page = blocks()
    last = answers = signatures = 0
    for number, (language, text) in enumerate(page):
        if language == "json":
            shown = json.loads(text)
            came = refusal() if "id" in shown else printed[last].strip().splitlines()[-1]
            same_answer(shown, json.loads(came), text)
            answers += 1
        elif language != "sequence":
            last = number
        if VECTORS[0]["key"] in text and language in RUN:
            equal(printed[number].strip(), VECTORS[0]["signature"], f"{language}: {text}")
            signatures += 1
        elif language in ("php", "js"):
            equal(json.loads(printed[number])["balance"], 100, text)
    equal((answers, signatures), (3, 5), "answers and signatures that the guide shows")
    everything = "".join(printed.values())
    equal(everything.count(f"{len(VECTORS)} of {len(VECTORS)} vectors"), 5, "vectors")
    equal(everything.count("exit status 1"), 4, "refusals")
    check("a signature of key k1 of the dealer 'demo-php'" in printed[last], printed[last])
    check(re.search(r"(?m)^passed +[1-9]\d*\nfailed +0\nskipped +0$", everything), everything[-600:])


def case_vectors():
    rows = re.findall(r"(?m)^\| ([^|]+) \| ([12]) \| ([^|]+) \| `([0-9a-f]{64})` \|$", GUIDE)
    equal([(name, about, signature) for name, _, about, signature in rows],
          [(row["name"], row["about"], row["signature"]) for row in VECTORS], "the table")
    keys = {"1": "0123456789abcdef" * 4, "2": "fedcba9876543210" * 4}
    equal([keys[row[1]] for row in rows], [row["key"] for row in VECTORS], "the keys")


def defines(path):
    text = (cb.SRCDIR / path).read_text()
    return dict(re.findall(r"(?m)^#define (\w+) +([^/\n]*[^/\n ])", text))


def case_figures():
    """What the guide says in numbers is what the code does."""
    options = dict(re.findall(r'(?m)^\tOPTION\(OPTION_NUMBER, (\w+), "(\d+)"',
                              (cb.SRCDIR / "src/base/settings_options.c").read_text()))
    settings = (cb.SRCDIR / "src/cmd/ctl/dealer_settings.def").read_text()
    delay = re.search(r'"refund-delay".*"(\d+)"\)', settings).group(1)
    inflight = re.search(r'"max-inflight".*"(\d+)"\)', settings).group(1)
    decimals = re.search(r'"decimals".*?, (\d+), (\d+), "(\d+)"\)', settings).groups()
    body = int(defines("src/wire/body.h")["BODY_MAX"])
    bets = defines("src/domain/records.h")["ROUND_BETS_MAX"]

    def s(name):
        return int(options[name]) // 1000

    told = {
        f"within {options['request_window_s']} s of the wallet's clock": 1,
        f"more than {options['request_window_s']} s off": 1,
        f"keeps a call for up to {s('ledger_deadline_ms')} s": 1,
        f"at most {body:,} bytes": 1,
        f"More than {body:,} bytes": 1,
        f"A body has up to {body // 1024} KiB": 1,
        f"{bets} bets in one round": 1,
        f"at once, {s('result_second_attempt_ms')} s later, {s('result_third_attempt_ms')} s after "
        "that": 1,
        f"1, 2, 4 … {s('refund_backoff_max_ms')} s apart for "
        f"{int(options['refund_give_up_s']) // 3600} h": 1,
        f"at most {inflight} calls at a time": 1,
        f"stops for {s('breaker_open_ms')} s": 1,
        f"Be faster than {s('callback_timeout_ms')} s": 1,
        f"`refund_delay` seconds ({delay},": 1,
        f"the refund delay, by default {delay} s": 2,
        f"({decimals[2]}, unless the operator set\n  another number from {decimals[0]} to "
        f"{decimals[1]})": 1,
    }
    equal({words: GUIDE.count(words) for words in told}, told, "how often the guide says so")


class Echo(Quiet):
    """Answers with the method and the body of the request, as far as it is framed."""

    def do_GET(self):
        body = self.body()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{self.command} {body.decode()}".encode())

    do_POST = do_GET


def case_clients_of_get():
    """What the guide says of clients that send, drop or refuse the body of a GET."""
    php = "$c = curl_init($argv[1]); curl_setopt_array($c, [%s]); curl_exec($c);"
    node = "require('http').request(process.argv[1], {method: 'GET'%s}, " \
        "(a) => a.pipe(process.stdout)).end('{}')"
    tries = [
        (("curl", "-s", "-X", "GET", "--data-binary", "{}"), "GET {}"),
        (("php", "-r", php % "CURLOPT_CUSTOMREQUEST => 'GET', CURLOPT_POSTFIELDS => '{}'"),
         "GET {}"),
        (("php", "-r", php % "CURLOPT_POSTFIELDS => '{}', CURLOPT_HTTPGET => true"), "GET "),
        (("php", "-r", php % "CURLOPT_HTTPGET => true, CURLOPT_POSTFIELDS => '{}'"), "POST {}"),
        (("/usr/bin/python3", "-c", "import sys, urllib.request as u; print(u.urlopen(u.Request("
          "sys.argv[1], b'{}', method='GET')).read().decode())"), "GET {}"),
        (("node", "-e", node % ", headers: {'Content-Length': 2}"), "GET {}"),
        (("node", "-e", node % ""), "GET "),
        (("node", "-e", "fetch(process.argv[1], {method: 'GET', body: '{}'})"
          ".then((a) => a.text()).catch((e) => e.name).then(console.log)"), "TypeError"),
        (("perl", "-MHTTP::Tiny", "-e",
          "print HTTP::Tiny->new->request('GET', $ARGV[0], {content => '{}'})->{content}"),
         "GET {}"),
    ]
    missing = {words[0] for words, _ in tries if not shutil.which(words[0])}
    with Listening(Echo) as server:
        for words, wanted in tries:
            if words[0] in missing:
                continue
            done = subprocess.run([*words, server.url], text=True,
                                  capture_output=True, timeout=20, check=False)
            equal(done.stdout.rstrip("\n"), wanted, f"{words}: {done.stderr}")
    if missing:
        raise Skip(f"not installed: {', '.join(sorted(missing))} (the others passed)")


def case_html():
    path = cb.builddir() / "doc" / "integrator-guide.html"
    if not shutil.which("cmark-gfm"):
        raise Skip("cmark-gfm is not installed: the guide is not built")
    page = path.read_text()
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    equal(len(pictures), sum(kind == "sequence" for kind, _ in blocks()), "pictures")
    for picture in pictures:
        root = xml.etree.ElementTree.fromstring(picture)
        width = float(root.get("width"))
        check(len(root.findall("text")) > 8 and len(root.findall("path")) > 3, "a picture")
        for text in root.findall("text"):
            check(0 < float(text.get("x")) < width and len(text.text) < 45, text.text)
    # Every line of a picture's source is in it.
    words = [line.split(": ", 1)[1] for kind, text in blocks() if kind == "sequence"
             for line in text.splitlines()[1:]]
    drawn = [html.unescape(text) for picture in pictures
             for text in re.findall(r'class="text">([^<]*)<', picture)]
    equal(drawn, words, "what the pictures tell")
    anchors = set(re.findall(r'<h[23] id="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    check(len(links) > 8 and links <= anchors, f"links to nothing: {links - anchors}")
    equal(len(anchors), len(re.findall("<h[23]", page)), "headings of one name")
    check("<table>" in page and "| --- |" not in page and "```" not in page, "tables and blocks")
    equal(re.findall(r'(?:src|href)="(?!#|https://)[^"]*"', page), [], "files beside it")


CASES = [
    ("every command and program is run", case_commands),
    ("the table of vectors", case_vectors),
    ("clients and the body of a GET", case_clients_of_get),
    ("figures", case_figures),
    ("HTML", case_html),
]

if __name__ == "__main__":
    slow = {"callback_timeout_ms": 6000, "callback_lease_ms": 15000,
            "callback_connect_timeout_ms": 3000}
    with cb.Instance("creditbridge-guide", settings={**LOOPBACK, **slow}) as WALLET, \
            cb.Lighttpd(WALLET) as SERVER:
        result = cb.run_cases(CASES, seconds=120)
    sys.exit(result)
