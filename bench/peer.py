"""The peer: what a LAMP operator would have instead. bench/peer-lamp in php-fpm over MariaDB, behind
Apache and nginx, each commit on the disk as ours are.

How it is tuned, and why: opcache with the JIT, files never looked at again; for each server a static pool
of as many processes as it keeps connections, since a kept one occupies a process; persistent connections
to the database by Unix socket; a procedure, so that a transfer is one round trip; a buffer pool that holds everything, a
log that seldom needs a checkpoint, no binary log; innodb_flush_log_at_trx_commit=1.
"""
import glob
import os
import pathlib
import shutil
import subprocess

from cb_process import Child, free_port, port_open
from cb_servers import APACHE_MODULES, apache_directories, apache_threads, find_server
from guard import descendants
from stands import APACHE_THREADS, TRANSFER_DEALER, cb, temporary_directory

HERE = pathlib.Path(__file__).resolve().parent / "peer-lamp"
CREDIT = 1_000_000 * 10_000
CHUNK = 5000
FPM_PROCESSES = 64
USER = "www-data"
# Program and package of each web server.
SERVERS = {"apache": ("apache2", "apache2"), "nginx": ("nginx", "nginx-light")}


class Absent(Exception):
    """The peer cannot be had here; the text says why."""


def needs(package):
    return Absent(f"the package {package} is missing: apt-get install {package}")


def found(name, package):
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not path:
        raise needs(package)
    return path


def fpm_found(*modules):
    """The newest php-fpm, which has these (module, package)."""
    fpm = sorted(glob.glob("/usr/sbin/php-fpm8*"))
    if not fpm:
        raise needs("php-fpm")
    has = subprocess.run([fpm[-1], "-m"], capture_output=True, text=True, check=False).stdout.split()
    for module, package in modules:
        if module not in has:
            raise needs(package)
    return fpm[-1]


class MariaDb:
    """MariaDB with @players players, and what runs beside it."""

    SCHEMAS = (HERE / "schema.sql",)
    CASINO = TRANSFER_DEALER

    def __init__(self):
        if os.geteuid() != 0:
            raise Absent("only root can start it as it should be: under users of their own")
        self.mariadbd = found("mariadbd", "mariadb-server")
        self.dir = temporary_directory("peer")
        self.children = {}

    def close(self):
        for name in list(self.children)[::-1]:
            self.children.pop(name).stop()
        shutil.rmtree(self.dir, ignore_errors=True)
    def child(self, name, argv, ready, user=None):
        child = Child(argv, self.dir / f"{name}.log", user=user)
        self.children[name] = child
        child.wait_ready(ready, 60, name)

    # -- MariaDB

    def sql(self, text, database="wallet"):
        done = subprocess.run(["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot",
                               database], input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise cb.HarnessError(f"mariadb: {done.stderr.strip()}")

    def database_start(self):
        data = self.dir / "data"
        data.mkdir(mode=0o750)
        self.dir.chmod(0o755)
        shutil.chown(data, "mysql", "mysql")
        (self.dir / "db").mkdir(mode=0o755)
        shutil.chown(self.dir / "db", "mysql", "mysql")
        self.socket = self.dir / "db" / "mysqld.sock"
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=mysql",
                        "--skip-test-db", "--auth-root-authentication-method=normal"],
                       check=True, capture_output=True)
        self.child("mariadb", [
            self.mariadbd, "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
            "--user=mysql", "--skip-networking", "--skip-log-bin", "--skip-name-resolve",
            "--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=2G",
            "--innodb-log-file-size=2G", "--innodb-log-buffer-size=64M",
            "--performance-schema=OFF", "--max-connections=600", "--thread-cache-size=100",
            f"--pid-file={self.dir}/db/pid"],
            lambda: subprocess.run(["mariadb-admin", "--no-defaults", f"--socket={self.socket}",
                                    "-uroot", "ping"], capture_output=True,
                                   check=False).returncode == 0)

    def database_fill(self, players):
        self.sql("CREATE DATABASE wallet", "mysql")
        for schema in self.SCHEMAS:
            self.sql(schema.read_text())
        self.sql("CREATE USER wallet@localhost IDENTIFIED BY '';"
                 "GRANT EXECUTE, SELECT ON wallet.* TO wallet@localhost")
        for first in range(0, players, CHUNK):
            rows = ",".join(f"('{self.CASINO}','u{i}','player{i:014d}',{CREDIT})"
                            for i in range(first, min(first + CHUNK, players)))
            self.sql(f"INSERT INTO player (casino_id, user_id, player_id, balance) VALUES {rows}")


class Peer(MariaDb):
    """php-fpm and MariaDB behind Apache (event MPM, mod_proxy_fcgi) and nginx."""

    name = "peer"
    dealer = (TRANSFER_DEALER, "b" * 64)
    SCRIPTS = (HERE / "wallet.php",)  # the first one is served
    POOLS = ("apache", "nginx")
    PROCESSES = FPM_PROCESSES

    def __init__(self, players):
        self.fpm_program = fpm_found(("pdo_mysql", "php-mysql"))
        for pool in self.POOLS:
            found(*SERVERS[pool])
        super().__init__()
        try:
            self.database_start()
            self.database_fill(players)
            self.scripts_write({"key": self.dealer[1], "socket": self.socket})
            self.fpm_start()
            self.ports = {f"php-fpm on {pool}": free_port() for pool in self.POOLS}
            for pool in self.POOLS:
                getattr(self, f"{pool}_start")(self.ports[f"php-fpm on {pool}"])
        except BaseException:
            self.close()
            raise

    # -- PHP

    def scripts_write(self, words):
        root = self.dir / "root"
        root.mkdir(mode=0o755)
        for script in self.SCRIPTS:
            text = script.read_text()
            for name, value in words.items():
                text = text.replace(f"@{name}@", str(value))
            made = root / script.name
            made.write_text(text)
            made.chmod(0o644)

    def fpm_start(self):
        pools = "".join(f"""
[{name}]
user = {USER}
group = {USER}
listen = {self.fpm_socket(name)}
listen.owner = {USER}
listen.backlog = 1024
pm = static
pm.max_children = {self.PROCESSES}
""" for name in self.POOLS)
        config = self.dir / "fpm.conf"
        config.write_text(f"""\
[global]
error_log = {self.dir}/fpm-error.log
daemonize = no
{pools}""")
        self.child("php-fpm", [
            self.fpm_program, "-F", "-y", config, "-d", "opcache.enable=1",
            "-d", "opcache.validate_timestamps=0", "-d", "opcache.jit=tracing",
            "-d", "opcache.jit_buffer_size=64M", "-d", "realpath_cache_ttl=600"],
            lambda: all(self.fpm_socket(name).exists() for name in self.POOLS))

    def fpm_socket(self, name):
        return self.dir / f"fpm-{name}.sock"

    # -- the servers

    def apache_start(self, port):
        load = "\n".join(f"LoadModule {module}_module {APACHE_MODULES}/mod_{module}.so"
                         for module in (f"mpm_{cb.Apache.mpm}", "authz_core", "proxy",
                                        "proxy_fcgi"))
        config = self.dir / "apache.conf"
        config.write_text(f"""\
ServerRoot "{self.dir}"
ServerName localhost
DefaultRuntimeDir "{self.dir}"
PidFile "{self.dir}/apache.pid"
Mutex "file:{self.dir}"
DocumentRoot "{self.dir}/root"
ErrorLog "{self.dir}/apache-error.log"
{apache_threads(APACHE_THREADS)}
User {USER}
Group {USER}
{load}
{apache_directories(f"{self.dir}/root")}
Listen 127.0.0.1:{port}
<Proxy "unix:{self.fpm_socket('apache')}|fcgi://peer">
	ProxySet enablereuse=on max={self.PROCESSES // 2}
</Proxy>
<Location "/">
	SetHandler "proxy:unix:{self.fpm_socket('apache')}|fcgi://peer"
	ProxyFCGISetEnvIf "true" SCRIPT_FILENAME "{self.dir}/root/{self.SCRIPTS[0].name}"
</Location>
""")
        self.child("apache", [find_server("apache2"), "-D", "FOREGROUND", "-f", config],
                   lambda: port_open(port))

    def nginx_start(self, port):
        config = self.dir / "nginx.conf"
        temporary = "\n".join(f"\t{kind}_temp_path {self.dir}/{kind};" for kind in
                              ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config.write_text(f"""\
user {USER};
daemon off;
worker_processes 1;
pid {self.dir}/nginx.pid;
error_log {self.dir}/nginx-error.log warn;
events {{ worker_connections 1024; }}
http {{
	access_log off;
{temporary}
	upstream peer {{ server unix:{self.fpm_socket('nginx')}; keepalive {self.PROCESSES}; }}
	server {{
		listen 127.0.0.1:{port};
		client_body_buffer_size 64k;
		location / {{
			include /etc/nginx/fastcgi_params;
			fastcgi_param SCRIPT_FILENAME {self.dir}/root/{self.SCRIPTS[0].name};
			fastcgi_keep_conn on;
			fastcgi_pass peer;
		}}
	}}
}}
""")
        self.child("nginx", [find_server("nginx"), "-e", self.dir / "nginx-error.log", "-p",
                             self.dir, "-c", config], lambda: port_open(port))

    # -- as the other stands

    def url(self, cell):
        return f"http://127.0.0.1:{self.ports[cell.server]}"

    def signer(self, cell):
        del cell
        return self.dealer

    def parts(self, name):
        server = "apache" if name.endswith("apache") else "nginx"
        return {"server": descendants(self.children[server].pid),
                "worker": descendants(self.children["php-fpm"].pid),
                "ledger": descendants(self.children["mariadb"].pid)}
