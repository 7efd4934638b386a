"""What runs in the sandbox, what it may use, and how it ended."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, NamedTuple

_MEBIBYTE = 1024 * 1024


class Limits(NamedTuple):
    """Limits of one program; the kernel's where it has them, else kept by watching the clock.

    A tuple, so that it can be sent to where they are set.
    """

    case_s: float = 5.0
    """Wall-clock seconds for each case, and for loading the program unless `load_s` is longer."""
    total_s: float = 50.0
    """Wall-clock seconds in all."""
    memory_bytes: int = 512 * _MEBIBYTE
    """Address space; a program that wants more gets a MemoryError."""
    file_bytes: int = 16 * _MEBIBYTE
    """Largest file, and most raw output."""
    open_files: int = 64
    output_bytes: int = 64 * 1024
    """What is kept of stdout and stderr together."""
    load_s: float = 0.0
    """Wall-clock seconds for loading a program of ours that imports a large library."""
    tasks: int = 256
    """Most threads and processes at once."""

    @property
    def longest_load_s(self) -> float:
        """Wall-clock seconds for loading the program."""
        return max(self.case_s, self.load_s)

    @property
    def cpu_s(self) -> int:
        """CPU seconds of one process over all its threads; neither loading nor a case can use more.

        A program that reaches this limit in a later case gets that case again in a new process,
        so that earlier ones do not count against it.
        """
        return max(1, math.ceil(self.longest_load_s))

    @property
    def cpu_s_in_all(self) -> int:
        """CPU seconds of one process that is not limited for each case."""
        return max(1, math.ceil(self.total_s))


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


_MAX_CHARACTERS = 200_000


class Program(NamedTuple):
    """Python source of which one function is called."""

    source: str
    function: str | None = None
    """Its name; None for the last public function that the program defines."""
    setup: str = ""
    """Python source of ours that runs before, in the same module."""
    limits: Limits = Limits()

    @property
    def is_too_large(self) -> bool:
        """Whether the source is longer than what is run."""
        return len(self.source) > _MAX_CHARACTERS


class Check(NamedTuple):
    """A test in the manner of HumanEval: source that defines `check(candidate)`.

    `check` raises if the candidate is wrong. It can use the candidate under its own name as well,
    and whatever `setup` defines.
    """

    source: str
    setup: str = ""
    """Python source that runs before, such as the helpers that a prompt gives."""
