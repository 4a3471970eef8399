"""Runs the PHP example as a wallet's dealer: examples/php/creditbridge.php under php -S."""
import json
import os
import shutil
import subprocess

from cb_http import raw_request, request_bytes, sign
from cb_instance import temporary_directory, web_user
from cb_process import SRCDIR, Child, HarnessError, free_port, port_open
from cb_tap import Skip

RECEIVER = SRCDIR / "examples" / "php" / "creditbridge.php"
WORKERS = 8
MARIADB_PROGRAMS = ("mariadbd", "mariadb", "mariadb-install-db")


class MariaDb:
    """A separate database server on a Unix socket, with an empty database `dealer`."""

    def __init__(self):
        path = f"{os.environ.get('PATH', '')}:/usr/sbin"
        missing = [name for name in ("php", *MARIADB_PROGRAMS) if not shutil.which(name, path=path)]
        if missing:
            raise Skip(f"not installed: {', '.join(missing)}")
        modules = subprocess.run(["php", "-m"], capture_output=True, text=True, check=True).stdout
        if "pdo_mysql" not in modules.split():
            raise Skip("php-mysql is not installed")
        self.dir = temporary_directory("cbmariadb")
        self.socket = self.dir / "data" / "sock"
        self.dsn = f"mysql:unix_socket={self.socket};dbname=dealer"
        self.child = None
        (self.dir / "data").mkdir()
        common = ["--no-defaults", f"--datadir={self.dir}/data"]
        # The service creates the user mysql; the tests do not need it.
        user = web_user()
        if user:
            shutil.chown(self.dir / "data", user)
            common.append(f"--user={user}")
        try:
            subprocess.run(["mariadb-install-db", *common, "--skip-test-db",
                            "--auth-root-authentication-method=normal"], capture_output=True,
                           timeout=60, check=True)
            self.child = Child([shutil.which("mariadbd", path=path), *common,
                                f"--socket={self.socket}", "--skip-networking",
                                "--innodb-buffer-pool-size=16M"], self.dir / "log")
            self.child.wait_ready(lambda: self.sql("SELECT 1").returncode == 0, 30, "mariadbd")
            self.sql("CREATE DATABASE dealer").check_returncode()
        except BaseException:
            self.close()
            raise

    def sql(self, text):
        return subprocess.run(["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot"],
                              input=text, capture_output=True, text=True, timeout=20, check=False)

    def close(self):
        if self.child:
            self.child.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class PhpDealer:
    """A seamless dealer @casino_id of @wallet; @words are options for `dealer add`. It uses
    SQLite by default; @settings are added to its environment."""

    def __init__(self, wallet, casino_id, *words, **settings):
        if not shutil.which("php"):
            raise Skip("php is not installed")
        self.dir = temporary_directory("cbphp")
        self.port = free_port()
        self.wallet = wallet
        self.casino_id = casino_id
        self.key = wallet.dealer_add(casino_id, "--url", f"http://127.0.0.1:{self.port}",
                                     "--allow-http", *words, mode="seamless").key
        self.key_file = self.dir / "key"
        self.key_file.write_text(self.key + "\n")
        self.log = self.dir / "php.log"
        self.complaints = self.dir / "errors.log"
        self.env = {**os.environ, "CREDITBRIDGE_KEY_FILE": str(self.key_file),
                    "CREDITBRIDGE_DSN": f"sqlite:{self.dir}/dealer.sqlite",
                    "PHP_CLI_SERVER_WORKERS": str(WORKERS), **settings}
        self.argv = ["php", "-d", f"error_log={self.complaints}", "-d", "log_errors=1"]
        try:
            self.command("install")
            self.child = Child([*self.argv, "-S", f"127.0.0.1:{self.port}", RECEIVER], self.log,
                               env=self.env)
            self.child.wait_ready(lambda: port_open(self.port), 15, "php -S")
        except BaseException:
            shutil.rmtree(self.dir)
            raise

    def command(self, *words):
        done = subprocess.run([*self.argv, RECEIVER, *words], env=self.env, capture_output=True,
                              text=True, timeout=20, check=False)
        if done.returncode:
            raise HarnessError(f"{RECEIVER.name} {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def player(self, user_id, amount):
        """Adds a player with @amount at the dealer, and adds it to the wallet."""
        self.command("player", user_id, amount)
        return self.wallet.player_add(self.casino_id, user_id)

    def call(self, kind, body, key=None, headers=()):
        """Sends one signed callback."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = [("Host", "127.0.0.1"), ("Connection", "close"),
                ("x-casino-signature", sign(self.key if key is None else key, body)), *headers]
        return raw_request(self.port, request_bytes("POST", f"/{kind}", sent, body, False))

    def errors(self):
        return self.complaints.read_text() if self.complaints.exists() else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stop()
        if os.environ.get("CB_KEEP"):
            print(f"# kept: {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)
