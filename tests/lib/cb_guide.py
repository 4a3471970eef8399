"""The blocks of a guide (doc/*-guide.md): runs them in their order, and reads the page that `make` makes."""
import contextlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import yaml
from cb_process import SRCDIR, builddir
from cb_tap import Skip, check, equal

BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# How a block's text is run; the programs of a guide are files without what is around them.
RUN = {"sh": None, "bash": "bash {}", "php": "php {}", "python": "/usr/bin/python3 {}",
       "js": "node {}", "perl": "perl {}"}
HEADS = {"php": "<?php\n"}
# Shown, and not run here: an answer, a request, a picture, what tests/sdk/test_recipes.py runs.
SHOWN = {"json", "http", "rule", "sequence", "recipe"}
MADE_ANEW = {"player_id", "request_id", "transaction_id", "webhook_id", "timestamp", "date", "next"}
METHODS = {"get", "post", "put", "delete", "patch"}


def operations(name, mount=""):
    """{path: its methods} of the signed operations below @mount in the OpenAPI document doc/@name."""
    paths = yaml.safe_load((SRCDIR / "doc" / name).read_text())["paths"]
    found = {path: {method.upper() for method, row in item.items()
                    if method in METHODS and row.get("security") != []}
             for path, item in paths.items() if path.startswith(mount)}
    return {path: methods for path, methods in found.items() if methods}


class Ids:
    """The ids that a guide shows, and the real ones: an id stands for the same one wherever it is shown, and
    a greater number for a greater one."""

    def __init__(self):
        self.real = {}

    def pair(self, name, shown, came, what):
        equal(self.real.setdefault((name, shown), came), came, f"{what}: the {name} that is shown as {shown}")
        pairs = sorted((one, other) for (kind, one), other in self.real.items() if kind == name)
        equal([pair[1] for pair in pairs], sorted({pair[1] for pair in pairs}),
              f"{what}: the order of {[pair[0] for pair in pairs]}")


class Guide:
    """@name: the page's, without its suffix."""

    def __init__(self, name):
        self.name = name
        self.text = (SRCDIR / "doc" / f"{name}.md").read_text()

    def blocks(self):
        """[(language, text)] in the page's order."""
        found = [(language, re.sub(rf"(?m)^{indent}", "", text))
                 for indent, language, text in BLOCK.findall(self.text)]
        equal(len(re.findall(r"(?m)^ *```", self.text)), 2 * len(found), "blocks that are not closed")
        return found

    def staged(self, folder, wallet):
        """The examples as they are installed, and a creditbridgectl that knows @wallet."""
        shutil.copytree(SRCDIR / "examples", folder / "examples",
                        ignore=shutil.ignore_patterns("*.inc"))
        shutil.copy(SRCDIR / "doc" / "signature-vectors.json", folder / "examples")
        (folder / "bin").mkdir()
        shim = folder / "bin" / "creditbridgectl"
        shim.write_text("#!/bin/sh\nexec " + " ".join(wallet.ctl_argv()) + ' "$@"\n')
        shim.chmod(0o755)
        (folder / "work").mkdir()

    def script(self, folder, names):
        """All blocks as one script that marks where each begins. @names: {what is replaced: by what}."""
        names = {**names, "/usr/share/doc/creditbridge/examples": str(folder / "examples")}
        lines = ["set -euo pipefail"]
        for number, (language, text) in enumerate(self.blocks()):
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

    def outputs(self, wallet, names):
        """Runs the blocks, which must all succeed. Returns their outputs by number."""
        folder = wallet.dir / self.name
        folder.mkdir()
        self.staged(folder, wallet)
        (folder / "script").write_text(self.script(folder, names))
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

    def rules(self):
        """[(heading, path, the body as text, the answer that the guide shows)] of its rule blocks."""
        found = []
        for section in re.split(r"(?m)^### ", self.text)[1:]:
            heading, _, text = section.partition("\n")
            for path, body, answer in re.findall(r"```rule\nPOST (\S+)\n\n(.*?)\n```\n\n```json\n(.*?)\n```",
                                                 text, re.DOTALL):
                found.append((heading, path, body, json.loads(answer)))
        return found

    def requests(self):
        """[(method, path, body, the answer that the guide shows)] of its http blocks."""
        page = self.blocks()
        found = []
        for (language, text), (after, answer) in zip(page, page[1:]):
            if language == "http":
                head, _, body = text.partition("\n\n")
                equal(after, "json", f"what is after {text}")
                found.append((*head.split(), json.loads(body), json.loads(answer)))
        return found

    def page_check(self):
        """The HTML that `make` made: whole pictures, anchors and tables, and nothing from elsewhere."""
        if not shutil.which("cmark-gfm"):
            raise Skip("cmark-gfm is not installed: the guide is not built")
        page = (builddir() / "doc" / f"{self.name}.html").read_text()
        # Each picture is drawn for a wide screen, and for a phone.
        drawings = re.findall(r'<figure class="(wide|narrow)">\n(<svg.*?</svg>)', page, re.DOTALL)
        sources = [text for kind, text in self.blocks() if kind == "sequence"]
        equal([form for form, _ in drawings], ["wide", "narrow"] * len(sources), "pictures")
        for form, picture in drawings:
            root = xml.etree.ElementTree.fromstring(picture)
            width = float(root.get("width"))
            check(form == "wide" or width <= 370, f"a picture for a phone: {width}")
            check(len(root.findall("text")) > 8 and len(root.findall("path")) > 3, "a picture")
            for text in root.findall("text"):
                check(0 < float(text.get("x")) < width and len(text.text) < 45, text.text)
        # Every line of a picture's source is in both.
        words = [line.split(": ", 1)[1] for text in sources for line in text.splitlines()[1:]]
        for wanted in ("wide", "narrow"):
            drawn = [html.unescape(text) for form, picture in drawings if form == wanted
                     for text in re.findall(r'class="text">([^<]*)<', picture)]
            equal(drawn, words, "what the pictures show")
        anchors = set(re.findall(r'<h[23] id="([^"]+)"', page))
        links = set(re.findall(r'href="#([^"]+)"', page))
        check(len(links) > 8 and links <= anchors, f"links to nothing: {links - anchors}")
        equal(len(anchors), len(re.findall("<h[23]", page)), "headings of one name")
        ids = re.findall(r' id="([^"]+)"', page)
        equal(len(ids), len(set(ids)), "anchors of one name")
        check(all(f'<tr id="{name}">' in page for name in ("bad_request", "bet_rejected")), "anchors of errors")
        equal(page.count("<td>"), 0, "cells without the name of their column")
        check("<table>" in page and "| --- |" not in page and "```" not in page, "tables and blocks")
        equal(re.findall(r'(?:src|href)="(?!#|https://|[a-z]+-guide\.html)[^"]*"', page), [],
              "files beside it")
        equal(re.findall(r"<script[^>]+src", page), [], "scripts from elsewhere")


def json_type(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def same_answer(shown, came, what, ids=None):
    """@came has the members of @shown, and their values. What is made anew each time has the same type, and
    agrees with @ids, if given."""
    equal(json_type(came), json_type(shown), f"{what}: type")
    if isinstance(shown, list):
        equal(len(came), len(shown), f"{what}: rows")
        for one, other in zip(shown, came):
            same_answer(one, other, what, ids)
        return
    if not isinstance(shown, dict):
        equal(came, shown, what)
        return
    equal(sorted(came), sorted(shown), f"{what}: members")
    for name, value in shown.items():
        if name not in MADE_ANEW:
            same_answer(value, came[name], f"{what}: {name}", ids)
            continue
        equal(json_type(came[name]), json_type(value), f"{what}: type of {name}")
        if ids and name in ("transaction_id", "webhook_id"):
            ids.pair(name, value, came[name], what)
