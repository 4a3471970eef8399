"""A wallet whose players' credit is with a dealer that has a server."""
import subprocess

from dealer import LateDealer
from stands import SEAMLESS_THREADS, Wallet, cb


class Seamless:
    """A wallet whose seamless dealer answers each call after @delay_ms. The dealer can be called by
    itself, too. The sweeper of a normal run sends refunds."""

    name = "creditbridge"

    def __init__(self, delay_ms, players, silent_each=None, settings=None):
        self.dealer_server = LateDealer(delay_ms, silent_each)
        try:
            self.wallet = Wallet(0, ("lighttpd",), dealer_url=self.dealer_server.url,
                                 seamless_players=players, threads=SEAMLESS_THREADS, settings=settings)
        except BaseException:
            self.dealer_server.close()
            raise
        self.sweeper = subprocess.Popen(
            [str(cb.find_program("creditbridge-sweep")), "--config", str(self.wallet.instance.config),
             "--for", "12h"], stdout=subprocess.DEVNULL)

    def url(self, cell):
        return self.dealer_server.url if cell.kind == "dealer" else self.wallet.url(cell, "platform")

    def signer(self, cell):
        del cell
        return self.wallet.client

    def parts(self, name):
        return {**self.wallet.parts(name), "dealer": [self.dealer_server.child.pid]}

    def figures(self):
        return self.wallet.figures()

    def log_number(self):
        return self.wallet.log_number()

    def close(self):
        self.sweeper.terminate()
        self.sweeper.wait()
        self.wallet.close()
        self.dealer_server.close()
