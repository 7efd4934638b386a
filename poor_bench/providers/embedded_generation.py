"""One reply of an embedded model, computed in a thread of its own.

Whoever wants the reply only waits for its pieces, and so notices Ctrl-C, a cancelled run or a
deadline at once, also while llama.cpp is busy with a long prompt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import Any

from poor_bench.errors import ProviderError, RunCancelledError

_LOOK_EVERY_S = 0.05

Piece = Mapping[str, Any]
Compute = Callable[[Callable[[Piece], bool]], None]
"""Computes a reply and hands over each piece; stops when handing over returns true."""


class Generation:
    """Computes one reply; to be used once."""

    def __init__(self, compute: Compute, ended: Callable[[Generation], None]) -> None:
        """Compute nothing yet.

        Args:
            compute: Does the work; raises ProviderError where the request makes no sense.
            ended: Is told when the computation has really ended.
        """
        self._ended = ended
        self._pieces: SimpleQueue[Piece | ProviderError | RunCancelledError | None] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._work, args=(compute,), name="poor-bench-embedded", daemon=True
        )

    def start(self) -> None:
        """Begin to compute."""
        self._thread.start()

    def pieces(self, check: Callable[[], None]) -> Iterator[Piece]:
        """Yield the pieces of the reply as they are computed.

        Args:
            check: Called several times a second; raises when the reply is no longer wanted.

        Raises:
            ProviderError: If the request makes no sense.
            RunCancelledError: If the generation was abandoned.
        """
        while True:
            check()
            try:
                piece = self._pieces.get(timeout=_LOOK_EVERY_S)
            except Empty:
                continue
            if piece is None:
                return
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def stop(self) -> None:
        """Let the computation end at its next step."""
        self._stopped.set()

    def abandon(self) -> None:
        """Stop, and tell whoever waits for pieces."""
        self._stopped.set()
        self._pieces.put(RunCancelledError("the model is being unloaded"))

    def join(self, seconds: float) -> None:
        """Wait until the computation has ended, but not longer than `seconds`."""
        self._thread.join(seconds)

    def _work(self, compute: Compute) -> None:
        try:
            compute(self._take)
        except ProviderError as error:
            self._pieces.put(error)
        finally:
            self._pieces.put(None)
            self._ended(self)

    def _take(self, piece: Piece) -> bool:
        if self._stopped.is_set():
            return True
        self._pieces.put(piece)
        return False
