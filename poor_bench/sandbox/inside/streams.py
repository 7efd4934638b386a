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
    """stdout and stderr of a child; made in the zygote, put in place in the child."""

    def __init__(self) -> None:
        self._n_bytes_left = 0
        self._streams = self._text_stream(), self._text_stream()

    def install(self, n_bytes: int) -> None:
        """Let `print` and its like write `n_bytes` in all, and do nothing from then on."""
        self._n_bytes_left = n_bytes
        sys.stdout, sys.stderr = self._streams

    def write(self, content: memoryview) -> None:
        """Write what is still allowed."""
        kept = content[: self._n_bytes_left]
        if kept:
            self._n_bytes_left -= os.write(_OUTPUT, kept)

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
        self._output.write(view)
        return len(view)
