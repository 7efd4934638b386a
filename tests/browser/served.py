"""The dashboard as its users start it: a process of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).parents[2]
TOKEN = "a-token-for-journeys"


@contextmanager
def served(data_dir: Path) -> Iterator[str]:
    """Yield the address of a dashboard over a workspace; it ends with the block."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "POOR_BENCH_TOKEN": TOKEN}
    with (
        _held_port() as port,
        subprocess.Popen(
            [sys.executable, "dashboard.py", "--data", str(data_dir), "--port", str(port)],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        try:
            yield _address_told_by(process)
        finally:
            process.terminate()


def _address_told_by(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        found = re.search(r"(http://\S+)/\?token=", line)
        if found is not None:
            return found[1]
    raise AssertionError(f"the dashboard did not start: {''.join(said)}")


@contextmanager
def _held_port() -> Iterator[int]:
    """Yield a port that the system gives to nobody else, and on which the server can listen."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port
