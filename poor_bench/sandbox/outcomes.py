"""How candidate code ended."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class ErrorReport(NamedTuple):
    """An exception, as the process that raised it tells."""

    type_name: str
    message: str
    line: int | None = None
    """Line of the program, from 1; None where none is known."""


class LoadEnd(StrEnum):
    """How loading a program ended."""

    LOADED = "loaded"
    TOO_LARGE = "too large"
    SYNTAX_ERROR = "syntax error"
    RAISED = "raised"
    MISSING_FUNCTION = "missing function"
    TIMED_OUT = "timed out"
    DIED = "died"
    GARBLED = "garbled"
    """The program wrote something of its own where the answer should have been."""


class LoadOutcome(NamedTuple):
    """How loading a program ended, and why."""

    end: LoadEnd
    error: ErrorReport | None = None
    functions: tuple[str, ...] = ()
    """The functions that there are instead of the missing one."""
    cause: str = ""
    """What killed the process, if it died."""


class CaseEnd(StrEnum):
    """How one case ended."""

    RETURNED = "returned"
    RAISED = "raised"
    TIMED_OUT = "timed out"
    DIED = "died"
    """The process ended: a crash, `os._exit`, a kill."""
    GARBLED = "garbled"
    """The program wrote something of its own where the answer should have been."""
    UNSENDABLE = "unsendable"
    """The value is too large or too deeply nested to be looked at."""
    NOT_RUN = "not run"
    """The program did not load, or the time in all was used up before."""


class CaseOutcome(NamedTuple):
    """How one case ended."""

    end: CaseEnd
    value: Any = None
    """What was returned, as plain data; an `OpaqueObject` stands for anything else."""
    error: ErrorReport | None = None
    cause: str = ""
    """What killed the process, or what is wrong with the value."""
    output: str = ""
    """What the program wrote to stdout and stderr meanwhile, as far as it was kept."""


class ProgramOutcome(NamedTuple):
    """How a program and its cases ended."""

    load: LoadOutcome
    cases: tuple[CaseOutcome, ...]
    """One for each input, in order."""
    output: str = ""
    """What the program wrote while it was loaded."""


class CheckEnd(StrEnum):
    """How checking a candidate ended."""

    PASSED = "passed"
    FAILED = "failed"
    """The test raised: an assertion does not hold, or it stumbled over a value."""
    RAISED = "raised"
    """The candidate raised, and the test did not expect it."""
    TIMED_OUT = "timed out"
    DIED = "died"
    GARBLED = "garbled"
    NOT_LOADED = "not loaded"
    BROKEN = "broken"
    """The test itself cannot be run: no fault of the candidate."""


class CheckOutcome(NamedTuple):
    """How checking a candidate ended."""

    end: CheckEnd
    load: LoadOutcome
    error: ErrorReport | None = None
    source_line: str = ""
    """The line of the test at which it ended."""
    last_call: str = ""
    """The last call of the candidate and what became of it."""
    cause: str = ""
    """What killed the process, if it died."""
    output: str = ""
    """What the candidate wrote to stdout and stderr, as far as it was kept."""


class Exit(NamedTuple):
    """How a child process ended."""

    status: int
    """Exit code, or minus the number of the signal that killed it."""
    cpu_s: float
    had_too_many_tasks: bool = False
    """It was killed because of that."""
