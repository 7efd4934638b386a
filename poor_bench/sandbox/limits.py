"""How much candidate code may use."""

from __future__ import annotations

import math
from typing import NamedTuple

_MEBIBYTE = 1024 * 1024


class Limits(NamedTuple):
    """Limits of one program; the kernel's where it has them, else kept by watching the clock.

    A tuple, so that it can be sent to where they are set.
    """

    case_s: float = 5.0
    """Wall-clock seconds for each case, and for loading the program unless `load_s` is longer."""
    total_s: float = 50.0
    """Wall-clock seconds in all."""
    memory_bytes: int = 512 * _MEBIBYTE
    """Address space; a program that wants more gets a MemoryError."""
    file_bytes: int = 16 * _MEBIBYTE
    """Largest file, and most raw output."""
    open_files: int = 64
    output_bytes: int = 64 * 1024
    """What is kept of stdout and stderr together."""
    load_s: float = 0.0
    """Wall-clock seconds for loading a program of ours that imports a large library."""
    tasks: int = 256
    """Most threads and processes at once."""

    @property
    def longest_load_s(self) -> float:
        """Wall-clock seconds for loading the program."""
        return max(self.case_s, self.load_s)

    @property
    def cpu_s(self) -> int:
        """CPU seconds of one process over all its threads; neither loading nor a case can use more.

        A program that reaches this limit in a later case gets that case again in a new process,
        so that earlier ones do not count against it.
        """
        return max(1, math.ceil(self.longest_load_s))

    @property
    def cpu_s_in_all(self) -> int:
        """CPU seconds of one process that is not limited for each case."""
        return max(1, math.ceil(self.total_s))
