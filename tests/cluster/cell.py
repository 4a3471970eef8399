"""Three hosts with PostgreSQL, Patroni and etcd, as an operator sets them up: one cell of the store."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import cb
from cb_process import HarnessError, process_gone, wait_until
from namespaces import CALLERS, NETWORK, TOOLS, Host, as_server, need_tools, one_user
from preloads import Preloads

SCOPE = "cell"
HOSTS = 3
START_S = 60.0
SUPERUSER = "postgres"
USER = "creditbridge"
DATABASE = "creditbridge"
SCHEMA = "creditbridge"


def postgresql_folder():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    return found[-1].parent if found else None


def need_packages():
    """Raises Skip with what is missing."""
    need_tools([*TOOLS, "patch", "etcd", "etcdctl", "patroni", "psql", "lighttpd"])
    need_tools([str((postgresql_folder() or pathlib.Path("/usr/lib/postgresql")) / "postgres")])


def get_json(url):
    """The object that @url answers; {}: no answer."""
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return json.load(error)  # a standby answers 503
    except (OSError, ValueError):
        return {}


def post_json(url):
    """The object that @url answers to an empty one; {}: no answer."""
    try:
        with urllib.request.urlopen(url, data=b"{}", timeout=1) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return {}


def dynamic_settings(quorum):
    """What Patroni's documents and doc/internals/cluster.md say; without @quorum no commit waits for a standby."""
    return {
        "ttl": 7, "loop_wait": 1, "retry_timeout": 3, "maximum_lag_on_failover": 1048576, "check_timeline": True,
        "primary_start_timeout": 0, "failsafe_mode": True,
        "synchronous_mode": quorum, "synchronous_mode_strict": quorum, "synchronous_node_count": 2,
        "postgresql": {
            "use_pg_rewind": True, "use_slots": False,
            "parameters": {
                "wal_keep_size": "1GB", "wal_sender_timeout": "2s", "wal_receiver_timeout": "2s",
                "wal_retrieve_retry_interval": "200ms", "wal_log_hints": "on", "tcp_user_timeout": 2000,
                "synchronous_commit": "on", "fsync": "on", "full_page_writes": "on",
                "max_connections": 40, "shared_buffers": "16MB", "max_wal_size": "128MB",
            },
        },
    }


def patroni_package(folder):
    """Makes a copy of Patroni 3.0.2 in @folder, corrected as patroni-3.0.2.patch says. Returns the variables with which it
    is used; {}: Patroni is another version. With CB_PATRONI_AS_IS=1, too."""
    version = subprocess.run(["patroni", "--version"], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    if "3.0.2" not in version.stdout or os.environ.get("CB_PATRONI_AS_IS"):
        return {}
    shutil.copytree("/usr/lib/python3/dist-packages/patroni", folder / "patroni")
    subprocess.run(["patch", "-s", "-d", folder, "-p1", "-i", cb.SRCDIR / "examples" / "postgresql" / "patroni-3.0.2.patch"],
                   check=True, timeout=60)
    return {"PYTHONPATH": str(folder)}


class Member(Host):
    """A host with its servers."""

    def __init__(self, number, directory, quorum, package):
        self.preloads = None
        self.package = package
        super().__init__(number, directory)
        self.etcd = None
        self.patroni = None
        self.rest = f"http://{self.address}:8008"
        self.data = self.dir / "data"
        self.own = self.dir / "own"  # of the servers' user
        self.own.mkdir(mode=0o700)
        self.config = self.dir / "patroni.json"
        self.config.write_text(json.dumps(self.patroni_config(quorum), indent=1))
        self.config.chmod(0o644)
        self.preloads = Preloads(self.dir, self.data)
        if not one_user():
            for path in (self.dir, self.own):
                shutil.chown(path, "nobody", "nogroup")

    def enter(self):
        """All programs of a host have its wall clock, except etcd, which makes system calls itself."""
        return [*super().enter(), *(self.preloads.words() if self.preloads else [])]

    def close(self):
        super().close()
        if self.preloads:
            self.preloads.close()

    def patroni_config(self, quorum):
        folder = postgresql_folder()
        account = {"password": "unused"}
        return {
            "scope": SCOPE, "name": self.name,
            "restapi": {"listen": f"{self.address}:8008", "connect_address": f"{self.address}:8008"},
            # The local member first: a client that sticks to a dead one waits for its deadline.
            "etcd3": {"hosts": ["127.0.0.1:2379"], "use_proxies": True},
            "bootstrap": {
                "dcs": dynamic_settings(quorum),
                "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, {"wal-segsize": "1"}, "no-sync", "data-checksums"],
            },
            "postgresql": {
                "listen": f"{self.address},127.0.0.1:5432", "connect_address": f"{self.address}:5432",
                "data_dir": str(self.data), "bin_dir": str(folder), "pgpass": str(self.own / "pgpass"),
                "basebackup": [{"checkpoint": "fast"}, "no-sync"],
                "authentication": {"superuser": {"username": SUPERUSER, **account},
                                   "replication": {"username": "replicator", **account},
                                   "rewind": {"username": "rewinder", **account}},
                "parameters": {"unix_socket_directories": str(self.own)},
                # Nothing outside these namespaces can reach the servers.
                "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust",
                           "host replication all 127.0.0.1/32 trust", f"host all all {NETWORK}.0/24 trust", f"host replication all {NETWORK}.0/24 trust"],
            },
        }

    def start_etcd(self, cluster, state="new"):
        peer, client = f"http://{self.address}:2380", f"http://{self.address}:2379"
        self.etcd = self.start("etcd", [
            *as_server(), "etcd", "--name", self.name, "--data-dir", self.own / "etcd", "--logger", "zap",
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--listen-client-urls", f"{client},http://127.0.0.1:2379", "--advertise-client-urls", client,
            "--initial-cluster", cluster, "--initial-cluster-state", state,
            # When etcd's leader is lost, too, every lease begins anew once there is another one.
            "--heartbeat-interval", "50", "--election-timeout", "500"])

    def etcd_ready(self):
        """Patroni ends if it asks before the members have agreed on their version."""
        version = get_json(f"http://{self.address}:2379/version").get("etcdcluster")
        return version not in (None, "not_decided")

    def start_patroni(self):
        env = {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "HOME": str(self.own), **self.package}
        self.patroni = self.start("patroni", [*self.preloads.words(disk=True), *as_server(), "patroni", self.config], env=env)

    def postmaster(self):
        """Its process id; None: none runs."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return None if process_gone(pid) else pid

    def database_pids(self):
        """The postmaster and its children."""
        parent = self.postmaster()
        if not parent:
            return []
        found = [parent]
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and \
                        pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1] == str(parent):
                    found.append(int(entry))
            except OSError:
                continue
        return found

    def state(self):
        """What Patroni's REST answers; {}: nothing."""
        return get_json(f"{self.rest}/patroni")

    def sql(self, text, check=True, seconds=20, user=SUPERUSER, database=DATABASE):
        """Runs SQL on this host's server, from the callers' network. Returns the CompletedProcess."""
        return subprocess.run(
            ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", self.address, "-U", user, "-d", database, "-c", text],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=check, timeout=seconds,
            env={**os.environ, "PGCONNECT_TIMEOUT": "2"})


class Cell:
    """Starts the servers of all hosts and waits until both standbys stream. A context manager."""

    def __init__(self, quorum=True):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="creditbridge-cell."))
        self.dir.chmod(0o755)
        self.quorum = quorum
        self.members = []
        self.started_s = None

    def __enter__(self):
        begun = time.monotonic()
        try:
            package = patroni_package(self.dir)
            self.members = [Member(number + 1, self.dir, self.quorum, package) for number in range(HOSTS)]
            for member in self.members:
                member.start_etcd(self.etcd_cluster())
            wait_until(lambda: all(member.etcd_ready() for member in self.members), START_S, "etcd", 0.05)
            for member in self.members:
                member.start_patroni()
            self.wait_streaming()
            self.make_database()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        self.started_s = time.monotonic() - begun
        return self

    def etcd_cluster(self):
        return ",".join(f"{member.name}=http://{member.address}:2380" for member in self.members)

    def make_database(self):
        leader = self.leader()
        leader.sql(f"CREATE ROLE {USER} LOGIN", database="postgres")
        leader.sql(f"CREATE DATABASE {DATABASE} OWNER {USER} ENCODING 'UTF8'", database="postgres")
        leader.sql(f"CREATE SCHEMA {SCHEMA} AUTHORIZATION {USER}")

    def leader(self):
        """The member whose server takes writes; None: none."""
        for member in self.members:
            if member.state().get("role") == "master" and member.state().get("state") == "running":
                return member
        return None

    def streaming(self):
        """The names of the standbys that the leader waits for; without a quorum, those that stream."""
        leader = self.leader()
        if not leader:
            return []
        states = "('sync', 'quorum')" if self.quorum else "('async')"
        done = leader.sql("SELECT application_name FROM pg_stat_replication WHERE state = 'streaming' "
                          f"AND sync_state IN {states}", check=False, database="postgres")
        return done.stdout.split()

    def wait_streaming(self, standbys=HOSTS - 1, seconds=START_S):
        """Waits until that many standbys are synchronous. Returns the leader."""
        wait_until(lambda: len(self.streaming()) >= standbys, seconds, f"{standbys} synchronous standbys", 0.1)
        return self.leader()

    def other(self, *members):
        """A member that is none of @members."""
        return next(member for member in self.members if member not in members)

    def return_hosts(self, members):
        """Starts hosts again that lost their power."""
        for member in members:
            member.join()
            member.start_etcd(self.etcd_cluster())
        for member in members:
            wait_until(member.etcd_ready, START_S, f"etcd of {member.name}", 0.1)
            member.start_patroni()

    def rebuild_host(self, member):
        """Starts a host that lost its power and all its files. Its etcd joins as a new member, its PostgreSQL copies."""
        other = self.other(member)
        etcdctl = ["env", "ETCDCTL_API=3", "etcdctl"]
        rows = other.inside(*etcdctl, "member", "list").stdout.splitlines()
        number = next(row.split(",")[0] for row in rows if row.split(", ")[2] == member.name)
        for path in (member.own / "etcd", member.data):
            shutil.rmtree(path)
        wait_until(lambda: other.inside(*etcdctl, "member", "remove", number, check=False).returncode == 0, START_S,
                   f"etcd without {member.name}", 0.5)
        wait_until(lambda: other.inside(*etcdctl, "member", "add", member.name, f"--peer-urls=http://{member.address}:2380",
                                        check=False).returncode == 0, START_S, f"etcd with a new {member.name}", 0.5)
        member.join()
        member.start_etcd(self.etcd_cluster(), "existing")
        wait_until(member.etcd_ready, START_S, f"etcd of {member.name}", 0.1)
        member.start_patroni()

    def etcd_leader(self):
        """The member that leads etcd, which need not be the leader of PostgreSQL."""
        def found():
            for member in self.members:
                status = post_json(f"http://{member.address}:2379/v3/maintenance/status")
                if status and status.get("leader") == status["header"]["member_id"]:
                    return member
            return None
        return wait_until(found, START_S, "a leader of etcd", 0.1)

    def may_lead(self, leader):
        """The members that Patroni would let lead in place of @leader, by its key /sync."""
        done = leader.inside("env", "ETCDCTL_API=3", "etcdctl", "get", "--print-value-only", f"/service/{SCOPE}/sync")
        names = (json.loads(done.stdout or "{}").get("sync_standby") or "").split(",")
        return [member for member in self.members if member.name in names]

    @staticmethod
    def switch_over(leader, candidate=None):
        """Asks Patroni for another leader, as an operator does. It may go on after this returns."""
        leader.inside("patronictl", "-c", leader.config, "switchover", "--master", leader.name, "--force",
                      *(["--candidate", candidate.name] if candidate else []))

    def revoke(self, member):
        """Declares @member dead: Patroni's lease of the leader ends now, if it is the leader's."""
        other = self.other(member)
        script = (f"key=/service/{SCOPE}/leader; [ \"$(etcdctl get $key --print-value-only)\" = {member.name} ] && "
                  "etcdctl lease revoke $(printf %x $(etcdctl get $key -w fields | sed -n 's/\"Lease\" : //p'))")
        other.inside("env", "ETCDCTL_API=3", "sh", "-c", script, check=False)

    def hosts_setting(self):
        return ",".join(f"{member.address}:5432" for member in self.members)

    def logs(self, lines=15):
        found = []
        for member in self.members:
            for path in sorted(member.dir.glob("*.log")):
                tail = path.read_text(errors="replace").splitlines()[-lines:]
                found.append(f"--- {member.name} {path.name}\n" + "\n".join(tail))
        return "\n".join(found)

    def __exit__(self, *_):
        for member in self.members:
            member.close()
        if os.environ.get("CB_KEEP"):
            print(f"# kept: {self.dir}")
        else:
            shutil.rmtree(self.dir, ignore_errors=True)


__all__ = ["CALLERS", "Cell", "DATABASE", "HarnessError", "SCHEMA", "USER", "need_packages"]
