"""Replace a file as a whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from poor_bench.errors import ConfigError


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers see the old content or the new one, also after a crash.

    Permissions of an existing file are kept; a symbolic link is followed.

    Raises:
        ConfigError: If it cannot be written; what was there before is untouched.
    """
    target = path.resolve()
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_mode_of(target))
        temporary.replace(target)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error


def _mode_of(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return 0o644
