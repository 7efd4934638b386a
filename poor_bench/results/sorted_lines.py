"""Sort lines without holding them all in memory."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

MOST_BYTES = 32_000_000
"""What is held in memory at once; more is sorted in pieces on the disk."""


def sort_lines(
    lines: Iterable[bytes], folder: Path, *, most_bytes: int = MOST_BYTES
) -> Iterator[bytes]:
    """Yield lines in the order of their bytes.

    Args:
        lines: None of them holds a line break.
        folder: Where pieces are kept meanwhile; they vanish with the process.
        most_bytes: What is held in memory at once.

    Raises:
        OSError: If the disk is full.
    """
    with ExitStack() as streams:
        pieces: list[IO[bytes]] = []
        held, n_bytes = list[bytes](), 0
        for line in lines:
            held.append(line)
            n_bytes += len(line)
            if n_bytes >= most_bytes:
                piece = streams.enter_context(tempfile.TemporaryFile(dir=folder))
                _write_piece(piece, held)
                pieces.append(piece)
                held, n_bytes = [], 0
        held.sort()
        yield from heapq.merge(*map(_read_piece, pieces), held) if pieces else held


def _write_piece(piece: IO[bytes], lines: list[bytes]) -> None:
    lines.sort()
    piece.writelines(b"%s\n" % line for line in lines)
    piece.seek(0)


def _read_piece(piece: IO[bytes]) -> Iterator[bytes]:
    return (line[:-1] for line in piece)
