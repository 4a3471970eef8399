"""Uses the wallet that Debian's package installed on this machine, as its operator does. The
init system runs the services. The web servers use the package's configuration files.

Replaces Instance and the classes of cb_servers.py. Run it as root, on a machine that may be
changed."""
import os
import pathlib
import subprocess
import time

from cb_instance import WORKER, Instance
from cb_process import HarnessError, pids_running, port_open, wait_until
from cb_server import WebServer

CONFIG = pathlib.Path("/etc/creditbridge/creditbridge.conf")
WORKER_PATH = pathlib.Path("/usr/libexec/creditbridge") / WORKER
LEDGER_PATH = pathlib.Path("/usr/sbin/creditbridge-ledger")
SAMPLES = pathlib.Path("/usr/share/creditbridge/fcgi-conf")
PREFIX = "/creditbridge"
PORT = 80
PLATFORM_PORT = 8091
LEDGER_UNITS = ("creditbridge-ledger-edge.socket", "creditbridge-ledger-admin.socket",
                "creditbridge-ledger.service")


def systemd():
    """Returns True if systemd is the init system."""
    return os.path.isdir("/run/systemd/system")


def run(*argv, check=True, **options):
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True,
                          timeout=120, check=False, stdin=subprocess.DEVNULL, **options)
    if check and done.returncode:
        raise HarnessError(f"{' '.join(map(str, argv))}: exit {done.returncode}: "
                           f"{done.stdout}{done.stderr}")
    return done


def service(action, name):
    """Runs `systemctl ACTION NAME` or `service NAME ACTION`, whichever the machine has."""
    if systemd():
        run("systemctl", action, name)
    else:
        run("service", name, action)


class Installed(Instance):
    """The wallet of /etc/creditbridge. Its dealers get new names in each run, because the state
    is kept."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.user = "www-data"
        self.config = CONFIG
        self.worker = WORKER_PATH
        self.state = pathlib.Path("/var/lib/creditbridge")
        self.sockets = pathlib.Path("/run/creditbridge")
        self.servers = []
        self.run_name = f"{time.time_ns() // 1000000:x}"
        self.start()

    def start(self):
        if systemd():
            run("systemctl", "start", *LEDGER_UNITS)
        else:
            run("service", "creditbridge-ledger", "start")
        wait_until(self.answering, 20, "the ledger's first answer")

    def stop(self):
        if systemd():
            run("systemctl", "stop", *LEDGER_UNITS)
        else:
            run("service", "creditbridge-ledger", "stop")

    def engine_pids(self):
        """Returns the ledger processes whose parent is also a ledger process."""
        pids = pids_running(LEDGER_PATH)
        parents = {pid: int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
                            .split()[1]) for pid in pids}
        return [pid for pid in pids if parents[pid] in pids]

    def ctl_argv(self, *words):
        return ["/usr/bin/creditbridgectl", *[str(word) for word in words]]

    def dealer_add(self, casino_id, *options, **words):
        return super().dealer_add(f"{casino_id}-{self.run_name}", *options, **words)

    def close(self):
        for server in list(self.servers):
            server.stop()


class InstalledServer(WebServer):
    """A web server of Debian with the package's files for it. The wallet is at its default path
    on port 80, the platform's mount on its own port."""

    package = ""  # also the name of the service
    prefix = PREFIX   # on every virtual host

    def __init__(self, instance, prefix=PREFIX):
        if prefix != self.prefix:
            raise HarnessError(f"the package mounts the wallet at {self.prefix}, not {prefix}")
        super().__init__(instance, prefix, PORT, PLATFORM_PORT)
        with self.starting():
            for other in {"apache2", "lighttpd"} - {self.package}:  # they use the same port
                if pathlib.Path("/etc/init.d", other).exists():
                    service("stop", other)
            self.enable()
            service("restart", self.package)
            wait_until(lambda: port_open(self.port) and port_open(self.platform_port), 15,
                       f"{self.package} listening")

    def enable(self):
        raise NotImplementedError

    def disable(self):
        raise NotImplementedError

    def stop(self):
        self.leave()
        service("stop", self.package)
        self.disable()
        wait_until(lambda: not self.worker_pids(), 20, "the end of the workers")


class InstalledFcgid(InstalledServer):
    name = "packaged Apache mod_fcgid"
    package = "apache2"

    # README.Debian's recipe for one virtual host, as the first host. Debian's default site has no
    # ServerName and would otherwise receive the tests' calls to 127.0.0.1.
    site = pathlib.Path("/etc/apache2/sites-available/000-creditbridge-test.conf")
    # creditbridge-tuning is for this machine: many workers are killed and started, and no other
    # site is served.
    confs = ("creditbridge-platform", "creditbridge-tuning")

    def enable(self):
        self.site.write_text(f"""\
<VirtualHost *:{PORT}>
	ServerName localhost
	ServerAlias 127.0.0.1
	IncludeOptional {SAMPLES}/apache-mod_fcgid-wallet.conf
</VirtualHost>
""")
        run("a2ensite", self.site.stem)
        run("a2enconf", *self.confs)

    def site_remove(self):
        run("a2dissite", "--purge", self.site.stem)
        self.site.unlink()

    def disable(self):
        self.site_remove()
        run("a2disconf", *self.confs)


class InstalledLighttpd(InstalledServer):
    name = "packaged lighttpd"
    package = "lighttpd"

    modules = ("creditbridge", "creditbridge-platform")

    def enable(self):
        done = run("lighty-enable-mod", *self.modules, check=False)
        # 2: a module that both need was already enabled.
        if done.returncode not in (0, 2):
            raise HarnessError(f"lighty-enable-mod: {done.stdout}{done.stderr}")

    def disable(self):
        done = run("lighty-disable-mod", *self.modules, "creditbridge-common", check=False)
        if done.returncode not in (0, 2):
            raise HarnessError(f"lighty-disable-mod: {done.stdout}{done.stderr}")


class InstalledProxyFcgi(InstalledServer):
    """Uses the sample files and systemd's worker sockets; `a2enconf creditbridge` uses
    mod_fcgid."""

    name = "packaged Apache mod_proxy_fcgi"
    package = "apache2"
    spawns = False
    conf = pathlib.Path("/etc/apache2/conf-available/proxy-fcgi-test.conf")
    units = tuple(f"creditbridge-worker-{serve}.{kind}" for serve in ("wallet", "platform")
                  for kind in ("socket", "service"))

    def enable(self):
        wallet, platform = (SAMPLES / f"apache-mod_proxy_fcgi-{serve}.conf"
                            for serve in ("wallet", "platform"))
        self.conf.write_text(f"""\
Include {wallet}
Listen 127.0.0.1:{PLATFORM_PORT}
<VirtualHost 127.0.0.1:{PLATFORM_PORT}>
Include {platform}
</VirtualHost>
""")
        run("a2enmod", "proxy_fcgi")
        run("a2enconf", self.conf.stem)
        run("systemctl", "start", *self.units)

    def disable(self):
        run("systemctl", "stop", *self.units)
        run("a2disconf", "--purge", self.conf.stem)
        run("a2dismod", "proxy_fcgi")
        self.conf.unlink()


INSTALLED = {"apache-fcgid": InstalledFcgid, "apache-proxy-fcgi": InstalledProxyFcgi,
             "lighttpd": InstalledLighttpd}
