"""The common part of all web servers that run the wallet, whatever made their configuration."""
import contextlib
import signal

from cb_process import blocks_signal, command_of, wait_until


class WebServer:
    """A web server for @instance: the wallet at @prefix on @port, and the platform's mount at
    the root of @platform_port. A subclass has start() and stop()."""

    name = ""        # of the server, and in file names
    spawns = True    # starts and restarts the workers itself
    starts_unasked = False  # starts a worker when one has ended, before a request needs it
    address = "127.0.0.1"

    def __init__(self, instance, prefix, port, platform_port):
        self.instance = instance
        self.prefix = prefix
        self.port = port
        self.platform_port = platform_port
        self.base_url = f"http://{self.address}:{port}{prefix}"
        self.platform_url = f"http://{self.address}:{platform_port}"

    def other(self):
        """The server that a caller asks next when this one did not answer."""
        return self

    @contextlib.contextmanager
    def starting(self):
        """Registers the server with the instance. Stops it if the body of the `with` statement
        fails."""
        self.instance.servers.append(self)
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def leave(self):
        """Removes the server from the instance."""
        if self in self.instance.servers:
            self.instance.servers.remove(self)

    def worker_pids(self, serve=None):
        """Returns the workers under this server; with @serve, only those of that mount."""
        found = []
        for pid in self.instance.worker_pids():
            argv = command_of(pid).split(b"\0")
            if serve is None or (b"--serve" in argv
                                 and argv[argv.index(b"--serve") + 1] == serve.encode()):
                found.append(pid)
        return found

    def wait_for_successors(self, before, serve):
        """Waits until the workers @before of the mount @serve have ended, and until others serve where the
        server starts them without being asked. Until then it answers 503 by itself."""
        def succeeded():
            pids = self.worker_pids(serve)
            return not set(before) & set(pids) and (not self.starts_unasked or len(
                [pid for pid in pids if blocks_signal(pid, signal.SIGTERM)]) >= len(before))
        wait_until(succeeded, 20, f"other workers of {self.name} than {before}")

    def stop(self):
        """Ends the server and its workers."""
        raise NotImplementedError

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
