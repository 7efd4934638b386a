"""The reply to one request while it arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from poor_bench.errors import ProviderError
from poor_bench.models.failure import FailureKind
from poor_bench.providers.transport.watch import CallWatch

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

MOST_BYTES = 32 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
_DRAIN_S = 0.2


class Reply:
    """The reply to one request while it arrives."""

    def __init__(self, response: BaseHTTPResponse, watch: CallWatch) -> None:
        self._response = response
        self._at_end = False
        self.watch = watch
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it arrives.

        Raises:
            ProviderError: If a deadline passes, or the body is larger than 32 MiB.
            RunCancelledError: If the run was cancelled.
        """
        received = 0
        while piece := self._response.read1(_PIECE_BYTES):
            received += len(piece)
            if received > MOST_BYTES:
                raise ProviderError(
                    "the reply is larger than 32 MiB", kind=FailureKind.MALFORMED_REPLY
                )
            self.watch.raise_if_over()
            yield piece
        self._at_end = True
        self.watch.raise_if_over()

    def read(self) -> bytes:
        """Return the whole body; raises as `pieces`."""
        return b"".join(self.pieces())

    def finish(self) -> None:
        """Keep the connection for the next call if nothing is left on it, else close it."""
        if not self._at_end:
            self._at_end = self._ends_now()
        self.abandon()
        self._response.release_conn()

    def abandon(self) -> None:
        """Close the connection unless the reply has ended."""
        if not self._at_end:
            self._response.close()

    def _ends_now(self) -> bool:
        """Return whether nothing follows, waiting for a moment only: a server may stay silent."""
        sock = getattr(self._response.connection, "sock", None)
        if sock is None:
            return False
        timeout = sock.gettimeout()
        sock.settimeout(_DRAIN_S)
        try:
            rest = self._response.read1(_PIECE_BYTES)
            sock.settimeout(timeout)
        except transport_exceptions():
            return False
        return not rest


def transport_exceptions() -> tuple[type[Exception], ...]:
    """Return what the libraries below raise when a request fails on its way."""
    from http.client import HTTPException

    from urllib3.exceptions import HTTPError

    return HTTPError, HTTPException, OSError


def is_hang_up(error: Exception) -> bool:
    """Return whether the other side closed the connection before it replied anything."""
    from urllib3.exceptions import ProtocolError

    causes = error.args if isinstance(error, ProtocolError) else (error,)
    return any(isinstance(cause, ConnectionError) for cause in causes)
