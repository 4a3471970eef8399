"""What the benchmark needs of Debian beside what the build does."""
import contextlib
import os
import pathlib
import shutil
import subprocess

PACKAGES = ("apache2", "libapache2-mod-fcgid", "libfcgi-dev", "lighttpd", "mariadb-server",
            "nginx-light", "node-mysql", "node-undici", "nodejs", "php-cli", "php-curl", "php-fpm",
            "php-mysql", "wrk")
POLICY = pathlib.Path("/usr/sbin/policy-rc.d")


@contextlib.contextmanager
def nothing_starts():
    """Debian starts a server when it is installed: not beside what is measured."""
    ours = not POLICY.exists()
    if ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        yield
    finally:
        if ours:
            POLICY.unlink()


def missing_of(packages):
    return [name for name in packages if subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", name], capture_output=True,
        text=True, check=False).stdout != "installed"]


def apt(*words):
    return subprocess.run(["apt-get", *words], stdout=subprocess.DEVNULL, check=False,
                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode


def install(packages=PACKAGES):
    """Installs the missing packages, if we may. The row of a package that is still missing reports
    it."""
    missing = missing_of(packages)
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"# installing {' '.join(missing)}", flush=True)
        with nothing_starts():
            apt("update", "-q")
            apt("install", "-y", "-q", "--no-install-recommends", *missing)
        missing = missing_of(packages)
    if missing:
        print(f"# missing packages; as root: apt-get install {' '.join(missing)}", flush=True)
    if not shutil.which("wrk"):
        raise SystemExit("FAILED: wrk is not installed")
