"""Runs real web servers with the files of fcgi-conf/ that operators include."""
import functools
import os
import pathlib
import re
import shutil
import signal
import socket
import stat

from cb_front import FRONT, Front
from cb_process import SRCDIR, Child, HarnessError, free_port, pids_end, port_open
from cb_server import WebServer
from cb_tap import check, equal, needs

FCGI_CONF = SRCDIR / "fcgi-conf"
APACHE_MODULES = pathlib.Path("/usr/lib/apache2/modules")


def find_server(name):
    """Returns the path of a web server. It is in sbin, which is not on every user's PATH."""
    path = shutil.which(name, path=f"/usr/sbin:/sbin:{os.environ.get('PATH', '')}")
    if not path:
        raise HarnessError(f"{name} is not installed")
    return path


class Server(WebServer):
    """A web server of the instance. Ports that are not given are chosen."""

    template = ""      # in fcgi-conf/, without .conf.in
    processes_default = 2
    platform_processes = 2
    together = ""

    def __init__(self, instance, prefix="", processes=None, threads=8, port=None,
                 platform_port=None):
        super().__init__(instance, prefix, port or free_port(), platform_port or free_port())
        self.processes = processes or self.processes_default
        self.threads = threads
        self.dir = pathlib.Path(instance.dir) / f"{self.name}-{self.port}"
        self.log = instance.logs / f"{self.name}-{self.port}.log"
        self.child = None
        self.front = None
        self.workers = {}
        self.prepare()
        self.start()
        if FRONT:
            self.front = Front(self)

    # -- files

    def prepare(self):
        self.dir.mkdir(mode=0o711)
        (self.dir / "empty").mkdir(mode=0o755)  # the document root
        sockets = self.dir / "sockets"  # created by the server or its user's workers
        sockets.mkdir(mode=0o755)
        temporary = self.dir / "tmp"
        temporary.mkdir(mode=0o755)
        if self.instance.user:
            for folder in (sockets, temporary):
                shutil.chown(folder, self.instance.user, self.instance.user)
        # The server's user reads these files but may not be able to reach our sources.
        shutil.copytree(FCGI_CONF / "errors", self.dir / "errors")
        (self.dir / "errors").chmod(0o755)
        for path in list((self.dir / "errors").glob("*.json")):
            path.with_suffix(".html").symlink_to(path.name)
        self.log.touch(mode=0o644)
        if self.instance.user:
            shutil.chown(self.log, self.instance.user)
        self.mounts = {serve: self.render(serve) for serve in ("wallet", "platform")}
        (self.dir / "server.conf").write_text(self.config())

    def socket(self, serve):
        return self.dir / "sockets" / f"{serve}.sock"

    def values(self, serve):
        return {
            "worker": self.instance.worker, "config": self.instance.config, "serve": serve,
            "prefix": self.prefix if serve == "wallet" else "", "socket": self.socket(serve),
            "errors": self.dir / "errors",
            "together": self.together if serve == "wallet" else "",
            "processes": self.processes if serve == "wallet" else self.platform_processes,
            "threads": self.threads,
        }

    def render(self, serve):
        """Fills in the template for a mount. Returns the path of the result."""
        values = self.values(serve)
        text = (FCGI_CONF / f"{self.template}.conf.in").read_text()
        text = re.sub(r"@([a-z]+)@", lambda match: str(values[match.group(1)]), text)
        path = self.dir / f"{serve}.conf"
        path.write_text(text)
        return path

    def config(self):
        """Returns the server's own configuration around the mounts."""
        raise NotImplementedError

    def argv(self):
        raise NotImplementedError

    # -- processes

    def start(self):
        if self in self.instance.servers:
            raise HarnessError(f"{self.name} runs already")
        with self.starting():
            if not self.spawns:
                for serve in ("wallet", "platform"):
                    self.worker_start(serve)
            self.child = Child(self.argv(), self.log)
            self.child.wait_ready(
                lambda: all(port_open(port, self.address) for port in (self.port, self.platform_port)), 15,
                f"{self.name} listening on port {self.port}")

    def worker_start(self, serve):
        """Starts a worker for a server that starts none itself."""
        path = self.socket(serve)
        values = self.values(serve)
        argv = [values["worker"], "--config", values["config"], "--serve", serve,
                f"--base-path={values['prefix']}", "--threads", self.threads]
        child = Child([*argv, "--socket", path], self.instance.logs / f"worker-{serve}.log",
                      user=self.instance.user)
        self.workers[serve] = child
        child.wait_ready(path.exists, 20, f"the socket of the {serve} worker")

    def restart(self):
        """Starts the server again after it died, without waiting for it. Kills its remaining
        children and workers, which hold the ports and the sockets."""
        self.child.stop()
        if self.spawns:
            pids_end(self.worker_pids(), signals=(signal.SIGKILL,))
        self.child = Child(self.argv(), self.log)

    def stop(self):
        self.leave()
        if self.front:
            self.front.stop()
            self.front = None
        if self.child:
            self.child.stop()
            self.child = None
        for child in self.workers.values():
            child.stop()
        self.workers = {}
        if not self.instance.servers:
            pids_end(self.instance.worker_pids())


class Lighttpd(Server):
    name = "lighttpd"
    starts_unasked = True
    template = "lighttpd"

    def config(self):
        user = self.instance.user
        identity = f'server.username = "{user}"\nserver.groupname = "{user}"\n' if user else ""
        return f"""\
server.bind = "{self.address}"
server.port = {self.port}
server.document-root = "{self.dir}/empty"
server.errorlog = "{self.log}"
server.upload-dirs = ( "{self.dir}/tmp" )
server.max-fds = 4096
{identity}include "{FCGI_CONF}/lighttpd-global.conf"
include "{self.mounts['wallet']}"
$SERVER["socket"] == "{self.address}:{self.platform_port}" {{
include "{self.mounts['platform']}"
}}
"""

    def argv(self):
        return [*self.instance.enter, find_server("lighttpd"), "-D", "-f", self.dir / "server.conf"]


def apache_threads(per_child, children=2):
    """Returns the configuration of threads. If all threads of a child are busy, it closes kept
    connections, which breaks a call that has just been sent on one of them."""
    return f"""\
StartServers {children}
ServerLimit {children}
ThreadLimit {per_child}
ThreadsPerChild {per_child}
MaxRequestWorkers {children * per_child}
MaxSpareThreads {children * per_child}"""


def apache_directories(root):
    """Returns the directory settings of Debian's apache2.conf; @root: of the documents. Without
    them, Apache looks for .htaccess and links in each folder of the path at each request."""
    return f"""\
<Directory "/">
	Options FollowSymLinks
	AllowOverride None
	Require all denied
</Directory>
<Directory "{root}">
	Require all granted
</Directory>"""


class Apache(Server):
    """The common part of both ways to run workers under Apache."""

    mpm = "event"  # as in Debian
    threads_per_child = 64
    modules = ()
    extra = ""

    def config(self):
        user = self.instance.user
        identity = f"User {user}\nGroup {user}\n" if user else ""
        load = "\n".join(f"LoadModule {module}_module {APACHE_MODULES}/mod_{module}.so"
                         for module in (f"mpm_{self.mpm}", "authz_core", "alias", *self.modules))
        vhosts = "\n".join(
            f"Listen 127.0.0.1:{port}\n<VirtualHost 127.0.0.1:{port}>\n"
            f"Include {self.mounts[serve]}\n</VirtualHost>"
            for serve, port in (("wallet", self.port), ("platform", self.platform_port)))
        # File locks, as in some apache2.conf; mod_fcgid cannot work with them, so its global lines
        # must override them.
        return f"""\
ServerRoot "{self.dir}"
ServerName localhost
DefaultRuntimeDir "{self.dir}/tmp"
PidFile "{self.dir}/apache.pid"
Mutex "file:{self.dir}/tmp"
DocumentRoot "{self.dir}/empty"
ErrorLog "{self.log}"
LogLevel warn
{apache_threads(self.threads_per_child)}
{identity}{load}
{apache_directories(f"{self.dir}/empty")}
{self.extra.format(dir=self.dir)}
{vhosts}
"""

    def argv(self):
        if not APACHE_MODULES.is_dir():
            raise HarnessError(f"{APACHE_MODULES} is missing: apache2 is not installed")
        return [find_server("apache2"), "-D", "FOREGROUND", "-f", self.dir / "server.conf"]


class ApacheFcgid(Apache):
    name = "apache-mod_fcgid"
    template = "apache-mod_fcgid"
    modules = ("fcgid", "reqtimeout")
    processes_default = platform_processes = 40  # one request at a time
    extra = (f"Include {FCGI_CONF}/apache-mod_fcgid-tuning.conf\n"
             "FcgidIPCDir {dir}/sockets\nFcgidProcessTableFile {dir}/sockets/table")

    @property
    def together(self):
        return f" --together --threads {self.processes}"


class ApacheProxyFcgi(Apache):
    name = "apache-mod_proxy_fcgi"
    template = "apache-mod_proxy_fcgi"
    modules = ("proxy", "proxy_fcgi", "reqtimeout")
    spawns = False

    def worker_start(self, serve):
        """The worker gets its socket as descriptor 0, as from systemd."""
        path = self.socket(serve)
        values = self.values(serve)
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)
            if self.instance.user:
                shutil.chown(path, self.instance.user)
            listener.listen(1024)
            self.workers[serve] = Child(
                [values["worker"], "--config", values["config"], "--serve", serve,
                 f"--base-path={values['prefix']}", "--threads", self.threads],
                self.instance.logs / f"worker-{serve}.log", user=self.instance.user,
                stdin=listener)


class Nginx(Server):
    name = "nginx"
    template = "nginx"
    spawns = False

    def config(self):
        identity = f"user {self.instance.user};\n" if self.instance.user else ""
        temporary = "\n".join(f"\t{kind}_temp_path {self.dir}/tmp/{kind};" for kind in
                              ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        servers = "\n".join(
            f"\tserver {{\n\t\tlisten 127.0.0.1:{port};\n\t\tinclude {self.mounts[serve]};\n\t}}"
            for serve, port in (("wallet", self.port), ("platform", self.platform_port)))
        return f"""\
{identity}daemon off;
worker_processes 1;
pid {self.dir}/nginx.pid;
error_log {self.log} warn;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	root {self.dir}/empty;
{temporary}
{servers}
}}
"""

    def argv(self):
        return [find_server("nginx"), "-e", self.log, "-p", self.dir, "-c",
                self.dir / "server.conf"]


# A front hides the differences between the servers.
SERVERS = (Lighttpd,) if FRONT else (Lighttpd, ApacheFcgid, ApacheProxyFcgi, Nginx)


def bench_cases(bench, cases, where=None):
    """Returns the cases @cases of a server for run_cases(). @bench has start() and stop(), a
    wallet, a kind of server, and the server after its start. Returns no cases if a front hides
    that kind."""
    def guarded(function):
        def run():
            check(bench.server, "the server did not start")
            function(bench)
        return needs(run, starts, stops)

    def books():
        done = bench.wallet.ctl_run("check")
        equal(done.returncode, 0, f"creditbridgectl check: {done.stdout}{done.stderr}")

    if FRONT and bench.kind not in SERVERS:
        return
    where = where or bench.kind.name
    starts, stops = f"{where}: starts", f"{where}: stops"
    yield starts, needs(functools.partial(bench.start), stops)
    for name, function in cases:
        yield f"{where}: {name}", guarded(function)
    yield f"{where}: the books are right", books
    yield stops, needs(functools.partial(bench.stop), starts)
