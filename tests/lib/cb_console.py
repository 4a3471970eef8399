"""The web console under lighttpd, over admin.sock (tests/console/console_admin.c) or desk.sock, and a browser that
has no script: requests with cookies, and pages read by Python's own parser."""
import base64
import hashlib
import html.parser
import http.client
import pathlib
import re
import shutil
import signal
import urllib.parse

from cb_instance import temporary_directory
from cb_process import SRCDIR, Child, builddir, free_port, port_open, socket_ready
from cb_servers import APACHE_MODULES, find_server
from cb_tap import check, equal

FRONT = "0123456789abcdef" * 4
CODE = "123456"
PASSWORD = "pass"
USERS = ("rita", "nok", "kim", "ann", "lou", "max", "vera", "zoe")  # zoe is no operator
PREFIX = "/console"
VOID = {"meta", "link", "input", "br", "hr"}


def front_setting(stack):
    """The settings of a console: a file of the front secret, which is gone when @stack (an ExitStack) ends, and as
    many pages a second as a test wants to read."""
    folder = temporary_directory("front")
    stack.callback(shutil.rmtree, folder)
    front = folder / "front"
    front.touch(mode=0o600)
    front.write_text(FRONT + "\n")
    return {"console_front_file": str(front), "console_page_rate": 1000}


class Console:
    """lighttpd and a console of @wallet. Port @port is plain http on the loopback; @tls has HTTPS=on,
    @bare passes no user, and @unfronted no front secret."""

    def __init__(self, wallet, program=None):
        self.wallet = wallet
        self.dir = pathlib.Path(wallet.dir) / "console"
        self.dir.mkdir(mode=0o755)
        self.socket = self.dir / "console.sock"
        argv = program or [builddir() / "tests/console/console_admin", wallet.sockets / "admin.sock",
                           self.socket, PREFIX]
        self.program = Child([str(word) for word in argv], wallet.logs / "console.log")
        self.program.wait_ready(lambda: socket_ready(self.socket), 20, "the socket of the console")
        self.socket.chmod(0o666)
        self.listen()

    def listen(self):
        """Starts lighttpd."""
        self.port, self.tls, self.bare, self.unfronted = (free_port() for _ in range(4))
        (self.dir / "users").write_text("".join(f"{user}:{PASSWORD}\n" for user in USERS))
        (self.dir / "front.conf").write_text(
            f'setenv.add-environment = ( "CREDITBRIDGE_FRONT" => "{FRONT}" )\n')
        (self.dir / "none.conf").write_text("\n")
        (self.dir / "tls.conf").write_text(
            f'setenv.add-environment = ( "CREDITBRIDGE_FRONT" => "{FRONT}", "HTTPS" => "on" )\n')
        (self.dir / "server.conf").write_text(self.config())
        self.server = Child([find_server("lighttpd"), "-D", "-f", self.dir / "server.conf"],
                            self.wallet.logs / f"console-lighttpd-{self.port}.log")
        self.server.wait_ready(lambda: port_open(self.port), 20, "lighttpd")

    def mount(self, front, server="lighttpd"):
        text = (SRCDIR / "fcgi-conf" / f"console-{server}.conf.in").read_text()
        values = {"prefix": PREFIX, "socket": self.socket, "front": self.dir / front,
                  "users": self.dir / "hashes"}
        return re.sub(r"@([a-z]+)@", lambda match: str(values[match.group(1)]), text)

    def config(self):
        bare = re.sub(r"auth\.require = \(.*?\) \)\n", "", self.mount("front.conf"), flags=re.DOTALL)
        scopes = "".join(f'$SERVER["socket"] == "127.0.0.1:{port}" {{\n{text}}}\n' for port, text in (
            (self.tls, self.mount("tls.conf")), (self.bare, bare),
            (self.unfronted, self.mount("none.conf"))))
        return f"""\
server.bind = "127.0.0.1"
server.port = {self.port}
server.document-root = "{self.dir}"
server.modules = ( "mod_auth", "mod_authn_file", "mod_setenv", "mod_fastcgi" )
auth.backend = "plain"
auth.backend.plain.userfile = "{self.dir}/users"
$SERVER["socket"] == "127.0.0.1:{self.port}" {{
{self.mount("front.conf")}}}
{scopes}"""

    def other(self, name, front=FRONT):
        """Starts Apache or nginx with the same mount; @front "": without the front secret. Returns the process and its
        port."""
        port = free_port()
        folder = self.dir / (name if front else f"{name}-unfronted")
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
        (self.dir / "hashes").write_text("".join(f"{user}:{{SHA}}{digest}\n" for user in USERS))
        form = {"apache": f"SetEnv CREDITBRIDGE_FRONT {front}\n",
                "nginx": f"fastcgi_param CREDITBRIDGE_FRONT {front};\n"}[name] if front else "\n"
        (self.dir / f"front-{folder.name}.conf").write_text(form)
        (folder / "mount.conf").write_text(self.mount(f"front-{folder.name}.conf", name))
        config, argv = {"apache": self.apache, "nginx": self.nginx}[name](folder, port)
        (folder / "server.conf").write_text(config)
        child = Child(argv, self.wallet.logs / f"console-{folder.name}.log")
        child.wait_ready(lambda: port_open(port), 20, name)
        return child, port

    def apache(self, folder, port):
        user = self.wallet.user
        identity = f"User {user}\nGroup {user}\n" if user else ""
        load = "\n".join(f"LoadModule {module}_module {APACHE_MODULES}/mod_{module}.so" for module in (
            "mpm_event", "authn_core", "authz_core", "authn_file", "authz_user", "auth_basic", "env",
            "proxy", "proxy_fcgi"))
        return f"""\
ServerRoot "{folder}"
ServerName localhost
DefaultRuntimeDir "{folder}"
PidFile "{folder}/apache.pid"
Mutex "file:{folder}"
DocumentRoot "{folder}"
ErrorLog "{folder}/error.log"
{identity}{load}
Listen 127.0.0.1:{port}
<VirtualHost 127.0.0.1:{port}>
Include {folder}/mount.conf
</VirtualHost>
""", [find_server("apache2"), "-D", "FOREGROUND", "-f", folder / "server.conf"]

    def nginx(self, folder, port):
        identity = f"user {self.wallet.user};\n" if self.wallet.user else ""
        temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in
                              ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return f"""\
{identity}daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 64; }}
http {{
access_log off;
root {folder};
{temporary}
server {{
listen 127.0.0.1:{port};
include {folder}/mount.conf;
}}
}}
""", [find_server("nginx"), "-e", folder / "error.log", "-p", folder, "-c", folder / "server.conf"]

    def close(self):
        self.server.stop()
        self.program.stop()


class Installed(Console):
    """The installed program under lighttpd, over desk.sock. @config: of another ledger."""

    def __init__(self, wallet, name, config=None, threads=2):
        self.wallet, self.dir, self.socket = wallet, wallet.dir / name, wallet.dir / f"{name}.sock"
        self.argv = [wallet.worker, "--config", config or wallet.config, "--serve", "console",
                     "--base-path", PREFIX, "--loopback-http", "--threads", threads,
                     "--socket", self.socket]
        self.log = wallet.logs / f"console-{name}.log"
        self.start()
        self.dir.mkdir(mode=0o755)
        self.listen()

    def start(self):
        self.program = Child(self.argv, self.log)
        self.program.wait_ready(lambda: socket_ready(self.socket), 20, "the socket of the console")
        self.socket.chmod(0o666)

    def kill(self):
        """The program dies at once, and another one is started."""
        self.program.stop(signal.SIGKILL)
        self.socket.unlink(missing_ok=True)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Node:
    """An element of a page."""

    def __init__(self, name, attributes):
        self.name, self.attributes, self.children = name, dict(attributes), []

    def all(self, element=None, **attributes):
        """The elements below this one."""
        for child in self.children:
            if not isinstance(child, Node):
                continue
            if (not element or child.name == element) and all(
                    child.attributes.get(key.rstrip("_").replace("_", "-")) == value
                    for key, value in attributes.items()):
                yield child
            yield from child.all(element, **attributes)

    def text(self):
        return "".join(child.text() if isinstance(child, Node) else child for child in self.children)


class Reader(html.parser.HTMLParser):
    """Reads a page. Any element that is not closed in its turn fails."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.stack = [self.root]
        self.feed(text)
        self.close()
        equal([node.name for node in self.stack], [""], "every element is closed")

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        equal(len(names), len(set(names)), f"attributes of {tag} occur once")
        node = Node(tag, attrs)
        self.stack[-1].children.append(node)
        if tag not in VOID:
            self.stack.append(node)

    def handle_startendtag(self, tag, attrs):
        raise AssertionError(f"<{tag}/> is not what the builder writes")

    def handle_endtag(self, tag):
        equal(tag, self.stack[-1].name, "the element that is closed")
        self.stack.pop()

    def handle_data(self, data):
        self.stack[-1].children.append(data)


def cells(node):
    """The cells of the rows in @node, a table or what has one, as text."""
    return [[cell.text() for cell in row.all("td")] for row in node.all("tr") if list(row.all("td"))]


def table(document, caption=""):
    """The first table whose caption begins so."""
    return next(node for node in document.all("table") if next(node.all("caption")).text().startswith(caption))


def rows_of(document, caption=""):
    """The cells of that table, as text."""
    return cells(table(document, caption))


def dicts_of(document, caption=""):
    """The rows of that table, each by its headings."""
    node = table(document, caption)
    heads = [head.text() for head in node.all("th")]
    return [dict(zip(heads, row)) for row in cells(node)]


class Page:
    """An answer."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.text = body.decode()

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def document(self):
        """The tree of the page, with what holds for every page."""
        root = Reader(self.text).root
        equal(len(list(root.all("h1"))), 1, "a page has one h1")
        equal(len(list(root.all("main"))), 1, "a page has one main")
        for node in root.all():
            check("style" not in node.attributes, f"an inline style at {node.name}")
            check(not any(name.startswith("on") for name in node.attributes), "an inline handler")
            check(node.name != "script" or node.attributes.get("src"), "an inline script")
            check(node.name != "style", "an inline style sheet")
        for node in root.all("input"):
            labelled = (node.attributes.get("type") == "hidden" or "aria-label" in node.attributes or
                        any(node in list(label.all("input")) for label in root.all("label")))
            check(labelled, f"the input {node.attributes.get('name')} has a label")
        return root


class Browser:
    """One operator's browser, without a script."""

    def __init__(self, console, user=None, port=None):
        self.console, self.user, self.port = console, user, port or console.port
        self.cookies = {}

    def request(self, method, target, form=None, headers=None, body=None):
        """Sends one request. @headers replace the default values; None omits one."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"}
        if self.user:
            sent["Authorization"] = basic(self.user)
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if form is not None:
            body = urllib.parse.urlencode(form).encode()
        if body is not None:
            scheme = "https" if self.port == self.console.tls else "http"
            sent |= {"Content-Type": "application/x-www-form-urlencoded",
                     "Origin": f"{scheme}://127.0.0.1:{self.port}", "Sec-Fetch-Site": "same-origin"}
        sent |= headers or {}
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        link.request(method, target, body, {key: value for key, value in sent.items()
                                            if value is not None})
        answer = link.getresponse()
        page = Page(answer.status, answer.getheaders(), answer.read())
        link.close()
        for key, value in page.headers:
            if key.lower() == "set-cookie":
                name, _, rest = value.partition("=")
                self.cookies[name] = rest.partition(";")[0]
                if not self.cookies[name]:
                    del self.cookies[name]
        return page

    def get(self, path, **query):
        """GET of a page below the mount; @path may be an address of the console."""
        target = path if path.startswith(PREFIX) else PREFIX + path
        if query:
            target += "?" + urllib.parse.urlencode(query)
        return self.request("GET", target)

    def follow(self, page):
        """The page to which an answer leads."""
        while page.status == 303:
            page = self.get(page.header("Location"))
        return page

    def post(self, path, form, **options):
        target = path if path.startswith(PREFIX) else PREFIX + path
        return self.request("POST", target, form, **options)

    def sign_in(self):
        page = self.post("/sign-in", {"code": CODE})
        equal(page.status, 303, f"{self.user} signs in: {page.text[:500]}")
        return self

    def token(self):
        """A token of a form, from the page of the search."""
        return next(self.get("/search").document().all("input", name="token")).attributes["value"]


def basic(user):
    return "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
