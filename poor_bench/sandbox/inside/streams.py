"""stdout and stderr of a child: kept up to a limit, thrown away beyond it."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_OUTPUT = 1
"""The descriptor of the file that keeps stdout and stderr together."""


class Output:
    """stdout and stderr of this process and of those that it forks.

    Attributes:
        n_bytes_left: How much is still kept.
    """

    def __init__(self) -> None:
        self.n_bytes_left = 0
        sys.stdout = self._text_stream()
        sys.stderr = self._text_stream()

    def flush(self) -> None:
        """Write out what is buffered; programs may have put anything in the streams' place."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            return

    def _text_stream(self) -> io.TextIOWrapper:
        buffered = io.BufferedWriter(_BoundedFile(self))
        return io.TextIOWrapper(
            buffered, encoding="utf-8", errors="backslashreplace", line_buffering=True
        )


class _BoundedFile(io.RawIOBase):
    def __init__(self, output: Output) -> None:
        super().__init__()
        self._output = output

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return _OUTPUT

    def write(self, content: ReadableBuffer, /) -> int:
        view = memoryview(content)
        kept = view[: self._output.n_bytes_left]
        if kept:
            self._output.n_bytes_left -= os.write(_OUTPUT, kept)
        return len(view)
