"""What a test may leave behind for the tests that the same process carries out after it."""

from __future__ import annotations

import builtins
import os
import signal
import sys
from opcode import opmap
from pathlib import Path
from types import CodeType

_CHANGES_ATTRIBUTES = {opmap["STORE_ATTR"], opmap["DELETE_ATTR"]}
_CHANGE_BY_NAME = {"setattr", "delattr", "patch"}


def visible_state() -> tuple[object, ...]:
    """Return what the next test would see of a change, as far as it can be compared."""
    return (
        dict(vars(builtins)),
        sys.getrecursionlimit(),
        sys.get_int_max_str_digits(),
        len(sys._current_frames()),
        sys.stdout,
        sys.stderr,
        list(sys.path),
        dict(os.environ),
        _place_and_files(),
        _alarm(),
    )


def changes_attributes(code: CodeType) -> bool:
    """Return whether code may change attributes, as those of modules, which others use as well."""
    return (
        not _CHANGES_ATTRIBUTES.isdisjoint(code.co_code[::2])
        or not _CHANGE_BY_NAME.isdisjoint(code.co_names)
        or any(changes_attributes(part) for part in code.co_consts if isinstance(part, CodeType))
    )


def _place_and_files() -> tuple[Path, list[str]] | None:
    try:
        with os.scandir() as entries:
            return Path.cwd(), [entry.name for entry in entries]
    except OSError:
        return None  # it went to where it may not look around


def _alarm() -> object:
    if not hasattr(signal, "SIGALRM"):
        return None
    return signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
