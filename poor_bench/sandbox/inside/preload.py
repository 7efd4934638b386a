"""What programs commonly import, loaded once so that every child has it at no cost."""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import suppress

_COMMON_MODULES = (
    "abc collections collections.abc copy enum functools heapq itertools math "
    "operator re resource string types typing"
)
"""Not those that do work at every fork (logging, random, threading), nor large ones that few use
(dataclasses brings inspect and ast): each page of memory and each library makes every fork slower.
"""


def preload() -> None:
    """Import common modules."""
    for name in _COMMON_MODULES.split():
        with suppress(ImportError):
            importlib.import_module(name)


def freeze() -> None:
    """Keep the garbage collector from touching what is there now."""
    gc.collect()
    gc.freeze()


def forget_project(folders: list[str]) -> None:
    """Let programs import from `folders` only."""
    sys.path[:] = folders
    sys.path_importer_cache.clear()
