"""A forward proxy that all traffic of a browser under test has to go through.

Redirects, subresources, popups and WebSockets are nothing special here: each is a connection
that is asked for, judged by the `Gatekeeper`, and made to exactly the address that was judged.
Every connection of the browser carries one request, so that a server can never be handed a
request that was meant for another one.
"""

from __future__ import annotations

import threading
from types import TracebackType

from poor_bench.evaluation.browser.safety.network import Gatekeeper, Network, Refusal, SystemNetwork
from poor_bench.evaluation.browser.safety.proxy_server import ProxyServer


class FilteringProxy:
    """The proxy of one trial, on a free loopback port; use it as a context manager."""

    def __init__(self, *, allow_private: bool, network: Network | None = None) -> None:
        self._gatekeeper = Gatekeeper(network or SystemNetwork(), allow_private=allow_private)
        self._server = ProxyServer(self._gatekeeper)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def address(self) -> str:
        """The URL that the browser is given."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Everything that was refused so far, in order."""
        return self._gatekeeper.refusals

    def complaint(self, host: str) -> str | None:
        """Why the last connection to a host failed; None if it succeeded."""
        return self._gatekeeper.complaint(host)

    def __enter__(self) -> FilteringProxy:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._server.break_off()
        self._thread.join()
