"""The web console of `quickstart run`: the installed program under a lighttpd of its own, on the loopback.

lighttpd names the user "demo" without asking for a password. The ledger asks for a one-time code, which
is kept in a file and renewed."""
import json
import secrets
import time

from cb_codes import one_time_code
from cb_console import PREFIX
from cb_process import SRCDIR, Child, find_program, port_open, socket_ready
from cb_servers import find_server

OPERATOR = "demo"
STEP_S = 30


def front_secret(state):
    """Returns the file of the front secret in the directory @state, which is made if it is missing."""
    path = state / "console-front"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32) + "\n")
    return path


class DemoConsole:
    def __init__(self, wallet, state, port):
        self.wallet, self.port = wallet, port
        self.code_file = state / "console-code"
        self.step = 0
        self.dir = wallet.dir / "console"
        self.dir.mkdir(mode=0o755)
        self.otpauth = self.operator(state / "console-otpauth")
        self.children = []
        socket = self.dir / "console.sock"
        self.start([wallet.worker, "--config", wallet.config, "--serve", "console", "--base-path", PREFIX,
                    "--loopback-http", "--threads", "4", "--socket", socket], "console",
                   lambda: socket_ready(socket))
        self.start([find_program("creditbridgectl"), "--config", wallet.config, "job", "--listen"], "jobs",
                   lambda: socket_ready(wallet.sockets / "jobs.sock"))
        front = self.dir / "front.conf"
        front.touch(mode=0o600)
        front.write_text(f'setenv.add-environment = ( "REMOTE_USER" => "{OPERATOR}", '
                         f'"CREDITBRIDGE_FRONT" => "{front_secret(state).read_text().strip()}" )\n')
        mount = (SRCDIR / "fcgi-conf" / "console-lighttpd.conf.in").read_text()
        # The demo's lighttpd asks for no password.
        begin, end = mount.index("\tauth.require"), mount.index("\tinclude")
        mount = mount[:begin] + mount[end:]
        for name, value in (("prefix", PREFIX), ("front", front), ("socket", socket)):
            mount = mount.replace(f"@{name}@", str(value))
        user = f'server.username = "{wallet.user}"\n' if wallet.user else ""
        (self.dir / "server.conf").write_text(
            f'server.bind = "127.0.0.1"\nserver.port = {port}\nserver.document-root = "{self.dir}"\n'
            f'server.modules = ( "mod_setenv", "mod_fastcgi" )\n{user}{mount}')
        self.start([find_server("lighttpd"), "-D", "-f", self.dir / "server.conf"], "console-lighttpd",
                   lambda: port_open(port))
        self.url = f"http://127.0.0.1:{port}{PREFIX}/"
        self.renew()

    def start(self, argv, name, ready):
        child = Child(argv, self.wallet.logs / f"{name}.log")
        self.children.append(child)
        child.wait_ready(ready, 20, name)

    def operator(self, path):
        """Makes the operator unless it exists. Its secret of codes stays in @path."""
        known = [row["name"] for row in self.wallet.ctl_json("operator", "list")["operators"]]
        if OPERATOR in known and path.exists():
            return json.loads(path.read_text())
        words = ("new-code", OPERATOR) if OPERATOR in known else ("add", OPERATOR, "--role", "admin")
        otpauth = self.wallet.ctl_json("operator", *words)["otpauth"]
        path.touch(mode=0o600)
        path.write_text(json.dumps(otpauth))
        return otpauth

    def code(self):
        return one_time_code(self.otpauth)

    def renew(self):
        """Writes the code of now to its file."""
        step = int(time.time()) // STEP_S
        if step != self.step:
            self.step = step
            self.code_file.touch(mode=0o600)
            self.code_file.write_text(self.code() + "\n")

    def close(self):
        for child in reversed(self.children):
            child.stop()
        self.code_file.unlink(missing_ok=True)
