#!/usr/bin/python3
"""contract_tools.py html|postman: makes what is made of the OpenAPI documents.

    html      the reference, build/doc/*.html: single files that ask nothing of any server
    postman   a collection, build/doc/creditbridge.postman_collection.json

The npm packages that package-lock.json pins are installed into the build directory. Exit: 0 done;
1 they cannot be had here, or failed.
"""
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

SRCDIR = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SRCDIR / "tests" / "lib"))
from cb_process import HarnessError, builddir  # noqa: E402

HERE = SRCDIR / "tests" / "contract"
OPENAPI = SRCDIR / "doc" / "openapi.yaml"
CALLBACKS = SRCDIR / "doc" / "dealer-callbacks.yaml"
NODE_MIN = (18, 19)
NPM_SECONDS = 400
# npm's words for a registry that is not there; other failures of npm are failures.
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
               "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT", "ENOTCACHED", "E502", "E503", "E504",
               "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
               "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
# Node.js has certificates of its own; npm is to trust what the machine trusts.
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


class Missing(Exception):
    """The tools cannot be had here; its text says why."""


def run(argv, seconds=120, **words):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                          timeout=seconds, check=False, stdin=subprocess.DEVNULL, **words)


def node_path():
    path = shutil.which("node") or shutil.which("nodejs")
    if not path:
        raise Missing("Node.js is not installed (package nodejs)")
    said = run([path, "--version"]).stdout.strip()
    version = tuple(int(part) for part in said.lstrip("v").split(".")[:2])
    if version < NODE_MIN:
        raise Missing(f"Node.js is {said}, the tools need {'.'.join(map(str, NODE_MIN))}")
    return path


def modules(name="contract"):
    return builddir() / name / "node_modules"


def environment():
    """The environment of a tool: it finds its packages, and reports no use of itself to its
    makers."""
    return dict(os.environ, NODE_PATH=str(modules()), NO_UPDATE_NOTIFIER="1",
                REDOCLY_TELEMETRY="off", REDOCLY_SUPPRESS_UPDATE_NOTICE="true", CI="true")


def npm_environment():
    env = dict(os.environ)
    if CERTIFICATES.exists():
        env.setdefault("NODE_EXTRA_CA_CERTS", str(CERTIFICATES))
    return env


def install(source=HERE, name="contract"):
    """Installs the packages of the lock in @source into the folder @name of the build directory, unless
    they are there. Missing: they cannot be had."""
    node_path()
    builddir().mkdir(parents=True, exist_ok=True)
    # Two suites that run at the same time may need the same packages.
    with open(builddir() / f".{name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install_locked([source / "package.json", source / "package-lock.json"], builddir() / name)


def install_locked(files, folder):
    stamp = folder / "installed"
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    npm = shutil.which("npm")
    if not npm:
        raise Missing("npm is not installed (package npm)")
    stamp.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        (folder / path.name).write_bytes(path.read_bytes())
    done = run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline",
                "--fetch-retries=1", "--fetch-timeout=30000", "--loglevel=error"], NPM_SECONDS,
               cwd=folder, env=npm_environment())
    if done.returncode:
        words = done.stderr + done.stdout
        found = [word for word in UNREACHABLE if word in words]
        if found:
            raise Missing(f"npm's registry cannot be reached ({found[0]})")
        raise HarnessError(f"npm ci failed:\n{words[-3000:]}")
    stamp.write_text(digest)


def tool(name, *words):
    """The argv of a program of a package, or of a script that lies here."""
    script = HERE / name if name.endswith(".js") else (modules() / ".bin" / name).resolve()
    return [node_path(), script, *words]


def make(name, *words, seconds=120):
    """Runs a tool, which must succeed; its CompletedProcess."""
    done = run(tool(name, *words), seconds, env=environment(), cwd=SRCDIR / "doc")
    if done.returncode:
        raise HarnessError(f"{name} {' '.join(map(str, words))}: exit {done.returncode}:\n"
                           f"{(done.stdout + done.stderr)[-3000:]}")
    return done


def docs_folder():
    folder = builddir() / "doc"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def html():
    """The pages, as paths."""
    pages = []
    for document in (OPENAPI, CALLBACKS):
        page = docs_folder() / f"{document.stem}.html"
        make("redocly", "build-docs", document, "--disableGoogleFont", "--config",
             SRCDIR / "doc" / "redocly.yaml", "--output", page)
        make("html.js", page)
        pages.append(page)
    return pages


def postman():
    """The collection, as a path."""
    collection = docs_folder() / "creditbridge.postman_collection.json"
    collection.unlink(missing_ok=True)
    make("postman.js", OPENAPI, collection)
    json.loads(collection.read_text())
    return collection


def main():
    makers = {"html": html, "postman": lambda: [postman()]}
    if len(sys.argv) != 2 or sys.argv[1] not in makers:
        sys.exit(f"usage: {sys.argv[0]} html|postman")
    try:
        install()
        print(*makers[sys.argv[1]](), sep="\n")
    except (Missing, HarnessError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
