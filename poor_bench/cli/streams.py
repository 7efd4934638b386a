"""Standard streams that nobody reads: closed before the start, or given up later."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def open_missing_streams() -> None:
    """Give a process that was started without standard output or error somewhere to write to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, nowhere)


def write_to_nobody() -> None:
    """Send what is still buffered nowhere, so that Python does not fail on it at the exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
