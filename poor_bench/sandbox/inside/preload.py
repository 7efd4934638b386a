"""What programs commonly import, loaded once so that every child has it at no cost."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress

_COMMON_MODULES = (
    "abc collections collections.abc copy enum functools heapq itertools math "
    "operator re resource string types typing"
)
"""Not those that do work at every fork (logging, random, threading), nor large ones that few use
(dataclasses brings inspect and ast): each page of memory and each library makes every fork slower.
"""


_SIZES = range(16, 513, 16)
_POOL_SIZE, _POOL_HEADER = 16 * 1024, 48
"""Of CPython's memory for small objects, which come in these sizes (Objects/obmalloc.c)."""
_MOST_GAPS = 10_000
_EMPTY_BYTES = 33
_fillers: list[object] = []


def preload() -> None:
    """Import common modules."""
    for name in _COMMON_MODULES.split():
        with suppress(ImportError):
            importlib.import_module(name)


def freeze() -> None:
    """Keep the garbage collector, and memory for new objects, away from what is there now."""
    gc.collect()
    _fillers.extend(_filling_gaps())
    gc.freeze()


def forget_project(folders: list[str]) -> None:
    """Let programs import from `folders` only."""
    sys.path[:] = folders
    sys.path_importer_cache.clear()


def _filling_gaps() -> Iterator[object]:
    """Yield objects that fill the gaps between those that are there, where Python leaves any.

    What a child makes then lies together in new memory, instead of on many pages to be copied.
    """
    for size in _SIZES:
        for _ in range(_MOST_GAPS):
            filler = _object_of(size)
            if id(filler) % _POOL_SIZE == _POOL_HEADER:
                break  # the first in new memory: there is no gap left
            yield filler


def _object_of(size: int) -> object:
    if size == sys.getsizeof(object()):
        return object()
    return complex(size) if size == sys.getsizeof(0j) else bytes(size - _EMPTY_BYTES)
