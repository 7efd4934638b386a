"""Process table of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_COLUMNS = "pid=,ppid=,pgid=,stat=,command="
_PATIENCE_S = 5


@dataclass(frozen=True, slots=True)
class Process:
    """A process that has not ended."""

    number: int
    parent: int
    group: int
    command: str
    """Its arguments, with blanks between them."""


def living_processes() -> list[Process]:
    """All processes without zombies."""
    if (_PROC / "self" / "stat").exists():
        return list(_from_proc())
    with suppress(OSError, subprocess.SubprocessError):
        return list(_from_ps())
    return []


def _from_proc() -> Iterator[Process]:
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            # the name before the last bracket may hold blanks and brackets of its own
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        state, parent, group = fields[:3]
        if state not in "ZX":
            yield Process(int(folder.name), int(parent), int(group), command.replace("\0", " "))


def _from_ps() -> Iterator[Process]:
    listed = subprocess.run(
        ["ps", "-axww", "-o", _COLUMNS],
        capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False,
    )  # fmt: skip
    for line in listed.stdout.splitlines():
        number, parent, group, state, *command = line.split(maxsplit=4)
        if not state.startswith("Z"):
            yield Process(int(number), int(parent), int(group), " ".join(command))
