"""What a test may leave behind for the tests that the same process carries out after it."""

from __future__ import annotations

import builtins
import os
import signal
import sys
from collections.abc import Iterator
from opcode import opmap
from types import CodeType

_CHANGES_ATTRIBUTES = {opmap["STORE_ATTR"], opmap["DELETE_ATTR"]}
_HARMLESS_MODULES = {
    *("abc", "bisect", "collections", "copy", "dataclasses", "decimal", "enum", "fractions"),
    *("functools", "heapq", "itertools", "math", "operator", "random", "re", "statistics"),
    *("string", "typing"),
}
_REACHES_FURTHER = {
    *("open", "exec", "eval", "compile", "breakpoint", "input", "globals", "locals", "vars"),
    *("getattr", "os", "_os", "sys", "_sys"),
}
_CHANGE_BY_NAME = {"setattr", "delattr", "patch"}


def interpreter_state() -> tuple[object, ...]:
    """Return what the next test would see of a change of the interpreter itself."""
    return (
        dict(vars(builtins)),
        sys.getrecursionlimit(),
        sys.get_int_max_str_digits(),
        len(sys._current_frames()),
        sys.stdout,
        sys.stderr,
        list(sys.path),
    )


def system_state() -> tuple[object, ...]:
    """Return what the next test would see of a change made through the system.

    Asking for it takes as long as ten calls of a candidate; see `reaches_system`.
    """
    return dict(os.environ), _place_and_files(), _alarm()


def reaches_system(code: CodeType) -> bool:
    """Return whether code may have to do with more than numbers, texts and their like."""
    modules = {name.partition(".")[0] for name in _imported(code)}
    return (
        not modules <= _HARMLESS_MODULES
        or not _REACHES_FURTHER.isdisjoint(code.co_names)
        or any(name.startswith("__") for name in code.co_names)
        or any(map(reaches_system, _parts(code)))
    )


def changes_attributes(code: CodeType) -> bool:
    """Return whether code may change attributes, as those of modules, which others use as well."""
    return (
        not _CHANGES_ATTRIBUTES.isdisjoint(code.co_code[::2])
        or not _CHANGE_BY_NAME.isdisjoint(code.co_names)
        or any(map(changes_attributes, _parts(code)))
    )


def _imported(code: CodeType) -> Iterator[str]:
    from dis import get_instructions  # costs every fork, if the zygote has it

    for instruction in get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            yield instruction.argval


def _parts(code: CodeType) -> Iterator[CodeType]:
    return (part for part in code.co_consts if isinstance(part, CodeType))


def _place_and_files() -> tuple[str, list[str]] | None:
    try:
        with os.scandir() as entries:
            return os.getcwd(), [entry.name for entry in entries]
    except OSError:
        return None  # it went to where it may not look around


def _alarm() -> object:
    if not hasattr(signal, "SIGALRM"):
        return None
    return signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
