"""The console that the browsers of test_browser.py visit: the installed program over desk.sock, its jobs, and Apache,
lighttpd and nginx before it."""
import pathlib
import sys

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("lib", "contract", "e2e")]
import cb  # noqa: E402
import test_console  # noqa: E402
import test_replay  # noqa: E402
from cb import TRANSFER_IN, check, equal, find_program  # noqa: E402
from cb_codes import one_time_code  # noqa: E402
from cb_console import FRONT, PASSWORD, PREFIX, Browser, Installed, front_setting  # noqa: E402
from cb_process import Child, free_port  # noqa: E402

ROLES = {"rita": "read", "nok": "support", "kim": "finance", "ann": "admin", "lou": "admin"}
SERVERS = ("lighttpd", "apache", "nginx")
# A replay of a dozen takes some seconds, in which it can be stopped.
SETTINGS = test_console.SETTINGS | {"replay_rate": 5}


class Desk(Installed):
    """The console. Its Apache has another site, whose owner may write .htaccess."""

    def apache(self, folder, port):
        text, argv = super().apache(folder, port)
        self.site = folder / "site"
        self.site.mkdir(mode=0o755)
        (self.site / "page").write_text("a page of the site\n")
        self.site_port = free_port()
        return text + f"""\
Listen 127.0.0.1:{self.site_port}
<VirtualHost 127.0.0.1:{self.site_port}>
DocumentRoot "{self.site}"
<Directory "{self.site}">
AllowOverride FileInfo
</Directory>
</VirtualHost>
""", argv

    def forge(self, login, front):
        """The owner of the site sends its requests to the console, as @login, with a guess of the front secret."""
        (self.site / ".htaccess").write_text(f"""\
SetHandler "proxy:unix:{self.socket}|fcgi://localhost/"
SetEnv REMOTE_USER {login}
SetEnv CREDITBRIDGE_FRONT {front}
ProxyFCGISetEnvIf "true" SCRIPT_NAME "{PREFIX}"
ProxyFCGISetEnvIf "true" PATH_INFO "/"
""")
        (self.site / ".htaccess").chmod(0o644)
        return f"http://127.0.0.1:{self.site_port}/page"


class Stranger(Installed):
    """A console that the web server's user started with what it may read."""

    def __init__(self, office):  # pylint: disable=super-init-not-called
        self.wallet, self.dir = office.wallet, office.wallet.dir / "stranger"
        self.dir.mkdir(mode=0o777)
        self.dir.chmod(0o777)
        self.socket = self.dir / "own.sock"
        user = self.wallet.user
        self.argv = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--", *office.console.argv[:-1],
                     self.socket]
        self.log = self.wallet.logs / "console-stranger.log"
        self.start()
        self.listen()


class Office:
    """What is above, and the operators of ROLES. @stack ends it."""

    def __init__(self, stack, name, settings=None):
        self.wallet = wallet = stack.enter_context(
            cb.Instance(name, settings=SETTINGS | front_setting(stack) | (settings or {})))
        test_console.WALLET = test_replay.WALLET = wallet
        self.world = test_console.WORLD = test_console.World(wallet)
        jobs = Child([find_program("creditbridgectl"), "--config", wallet.config, "job", "--listen"],
                     wallet.logs / "jobs.log")
        stack.callback(jobs.stop)
        socket = wallet.sockets / "jobs.sock"
        jobs.wait_ready(socket.exists, 20, "jobs.sock")
        socket.chmod(0o666)  # The console's process runs as this user.
        # The end of the web server ends all workers, and so the console.
        self.calls = stack.enter_context(cb.Lighttpd(wallet))
        self.console = Desk(wallet, "desk", threads=4)
        stack.callback(self.console.close)
        self.ports = {"lighttpd": (self.console.port, self.console.unfronted)}
        for server in ("apache", "nginx"):
            made = [self.console.other(server, front) for front in ("", FRONT)]
            for child, _ in made:
                stack.callback(child.stop)
            self.ports[server] = (made[1][1], made[0][1])
        self.roles, self.secrets = {}, {}
        self.stack = stack
        self.stranger = None
        self.skipped = []  # scenarios, with the reason

    @staticmethod
    def url(port):
        return f"http://127.0.0.1:{port}{PREFIX}/"

    def servers(self):
        """As the scripts of the browser take them."""
        return [{"name": name, "url": self.url(self.ports[name][0]), "unfronted": self.url(self.ports[name][1])}
                for name in SERVERS]

    def code(self, user):
        """A code of the operator that was not used. The operator's sessions end."""
        words = ("new-code", user) if user in self.roles else ("add", user, "--role", ROLES[user])
        self.roles.setdefault(user, ROLES[user])
        self.secrets[user] = self.wallet.ctl_json("operator", *words)["otpauth"]
        return one_time_code(self.secrets[user])

    def next_code(self, user):
        """The code after that of code(). The operator's sessions go on."""
        return one_time_code(self.secrets[user], later=1)

    def cookie(self, user):
        """The cookie of a session, which is one for the ports of all servers."""
        browser = Browser(self.console, user)
        page = browser.post("/sign-in", {"code": self.code(user)})
        check(page.status == 303, f"{user} signs in: {page.status} {page.text[-800:]}")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())

    def refuse(self, reference, *, request_id=None, user="alice"):
        """A call with a wrong signature. Returns its request id, once it is kept."""
        headers = [("X-Request-Id", request_id)] if request_id else []
        answer = cb.call(self.calls, "POST", TRANSFER_IN, {
            "user_id": user, "amount": 100, "request_transaction_id": reference}, casino="demo", signature="0" * 64,
            headers=headers)
        equal(answer.status, 401, "a wrong signature")

        def kept():
            words = ("--id", request_id) if request_id else ()
            rows = [row for row in self.wallet.ctl_json("refused", "list", *words)["refused"]
                    if row["request_transaction_id"] == reference]
            return rows and rows[0]["request_id"]
        return cb.wait_until(kept, 20, "the refused call")

    def strange(self):
        """The addresses of a console that the web server's user started, by server."""
        if not self.stranger:
            self.stranger = Stranger(self)
            self.stack.callback(self.stranger.close)
            ports = {"lighttpd": self.stranger.port}
            for server in ("apache", "nginx"):
                child, ports[server] = self.stranger.other(server)
                self.stack.callback(child.stop)
            self.strange_ports = ports
        return self.strange_ports
