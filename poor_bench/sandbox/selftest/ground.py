"""What the attacks are aimed at: made for them, and gone afterwards."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

_VARIABLE = "POOR_BENCH_SELFTEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Targets.

    Attributes:
        secret: Stands in this process's environment.
        secret_file: A file that must be neither read nor changed.
        port: A TCP port of this machine on which somebody listens.
        socket_names: Sockets of this machine on which somebody listens.
        victim: A process to send signals to.
    """

    secret: str
    secret_file: Path
    port: int
    socket_names: tuple[str, ...]
    victim: subprocess.Popen[bytes]

    @property
    def is_untouched(self) -> bool:
        """Whether the secret file is as it was made."""
        return self.secret_file.read_text() == self.secret and self.rights == _OWNER_ONLY

    @property
    def rights(self) -> int:
        """Rights of the secret file, as bits."""
        return self.secret_file.stat().st_mode & 0o777


_OWNER_ONLY = 0o600


@contextmanager
def prepared_ground() -> Iterator[Ground]:
    """Make the targets, and remove them afterwards."""
    secret = secrets.token_hex(8)
    with ExitStack() as made:
        folder = Path(made.enter_context(tempfile.TemporaryDirectory(prefix="selftest-")))
        secret_file = folder / "secret.txt"
        secret_file.write_text(secret)
        secret_file.chmod(_OWNER_ONLY)
        os.environ[_VARIABLE] = secret
        made.callback(os.environ.pop, _VARIABLE)
        victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        made.enter_context(victim)
        made.callback(victim.kill)
        yield Ground(
            secret=secret,
            secret_file=secret_file,
            port=_listening_port(made),
            socket_names=_listening_sockets(made, folder, secret),
            victim=victim,
        )


def _listening_port(made: ExitStack) -> int:
    listening = made.enter_context(socket.create_server(("127.0.0.1", 0)))
    port: int = listening.getsockname()[1]
    return port


def _listening_sockets(made: ExitStack, folder: Path, secret: str) -> tuple[str, ...]:
    if not hasattr(socket, "AF_UNIX"):
        return ()
    names = [str(folder / "socket")]
    if sys.platform == "linux":
        names.append(f"\0selftest-{secret}")
    for name in names:
        listening = made.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(name)
        listening.listen()
    return tuple(names)
