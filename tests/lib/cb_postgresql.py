"""A private PostgreSQL for the suites that run with CB_STORE=postgresql: one for each program, a schema for each instance."""
import atexit
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from cb_process import wait_until

SCRIPT = pathlib.Path(__file__).with_name("pg_server.sh")
START_S = 60.0


class Server:
    def __init__(self, primary=None):
        """@primary: another Server, of which this one is a standby."""
        self.directory = tempfile.mkdtemp(prefix="creditbridge-pg.")
        self.process = subprocess.Popen([SCRIPT, self.directory, *([primary.directory] if primary else [])], stdin=subprocess.DEVNULL)
        self.schemas = 0
        atexit.register(self.close)
        deadline = time.monotonic() + START_S
        while self.sql("SELECT 1", check=False).returncode:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start: see {self.directory}")
            time.sleep(0.05)

    def psql(self, text):
        return ["psql", "-qAtX", "-h", self.directory, "-U", "creditbridge", "-d", "postgres", "-c", text]

    def sql(self, text, check=True):
        return subprocess.run(self.psql(text), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=check)

    def sql_until(self, text, question):
        """Runs @text again and again until @question has a row; a run that still waits then is left to the server."""
        def asked():
            if running[-1].poll() is not None:
                running.append(subprocess.Popen(self.psql(text), stdout=subprocess.DEVNULL))
            return self.sql(question).stdout
        running = [subprocess.Popen(self.psql(text), stdout=subprocess.DEVNULL)]
        try:
            wait_until(asked, 30, question)
        finally:
            running[-1].kill()
            for process in running:
                process.wait()

    def settings(self):
        """The settings of an instance with an empty schema of its own."""
        self.schemas += 1
        name = f"instance_{self.schemas}"
        self.sql(f"CREATE SCHEMA {name}")
        return {"store": "postgresql", "postgresql_hosts": self.directory, "postgresql_database": "postgres",
                "postgresql_schema": name, "postgresql_durability": "local"}

    def close(self):
        self.process.send_signal(2)  # a fast shutdown: it ends the sessions
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class Kept:
    """The PostgreSQL of `quickstart run --store postgresql`: its data stays in @data, and it ends with this process.

    Only this user reaches its socket. PostgreSQL refuses to run as root. As root, it runs as another user, and keeps
    one right of root, to enter the folders above @data; it has to be that of reading files, too.
    """

    def __init__(self, data, sockets):
        self.data, self.sockets, self.process = data, sockets, None
        self.bin = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))[-1]
        self.user = ["setpriv", "--pdeathsig", "INT"]
        data.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() == 0:
            self.user += ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups",
                          "--inh-caps", "-all,+dac_read_search", "--ambient-caps", "+dac_read_search",
                          "--bounding-set", "-all,+dac_read_search"]
            for path in (data, sockets):
                shutil.chown(path, "nobody", "nogroup")
        sockets.chmod(0o700)

    def start(self):
        with open(self.sockets / "server.log", "ab") as log:
            if not (self.data / "PG_VERSION").exists():
                subprocess.run([*self.user, self.bin / "initdb", "--pgdata", self.data, "--username", "creditbridge",
                                "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--data-checksums"],
                               cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
            self.process = subprocess.Popen(
                [*self.user, self.bin / "postgres", "-D", self.data, "-k", self.sockets, "-c", "listen_addresses="],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while self.psql("-c", "SELECT 1").returncode:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start: {(self.sockets / 'server.log').read_text()[-600:]}")
            time.sleep(0.05)

    def psql(self, *words, text=None):
        return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", self.sockets, "-U", "creditbridge",
                               "-d", "postgres", *words], **({"input": text} if text else {"stdin": subprocess.DEVNULL}),
                              capture_output=True, text=True, check=False)

    def make_tables(self, statements):
        """Runs what `creditbridgectl schema --sql` prints, unless the schema is there."""
        if self.psql("-c", "SELECT 1 FROM pg_namespace WHERE nspname = 'creditbridge'").stdout:
            return
        done = self.psql(text=statements)
        if done.returncode:
            raise RuntimeError(f"the tables cannot be made: {done.stderr}")

    def settings(self):
        return {"store": "postgresql", "postgresql_hosts": str(self.sockets), "postgresql_database": "postgres",
                "postgresql_user": "creditbridge_ledger", "postgresql_durability": "local"}

    def close(self):
        if self.process:
            self.process.send_signal(2)  # a fast shutdown
            self.process.wait()


server = None


def settings_of_store():
    """Settings by $CB_STORE; none for Berkeley DB."""
    global server
    if os.environ.get("CB_STORE") != "postgresql":
        return {}
    server = server or Server()
    return server.settings()
