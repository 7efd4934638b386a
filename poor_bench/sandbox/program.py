"""What runs in the sandbox, what it may use, and how it ended.

Everything here is a tuple, so that it can be sent between processes and costs their forks little.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any, NamedTuple

_MEBIBYTE = 1024 * 1024
_MAX_CHARACTERS = 200_000


class Limits(NamedTuple):
    """Limits of one program; the kernel's where it has them, else kept by watching the clock.

    Attributes:
        case_s: Wall-clock seconds for each case, and for loading the program unless `load_s` is
            longer.
        total_s: Wall-clock seconds in total.
        memory_bytes: Address space; a program that wants more gets a MemoryError.
        file_bytes: Largest file, and most raw output.
        open_files: Most open files.
        output_bytes: What is kept of stdout and stderr together.
        load_s: Wall-clock seconds for loading a program of ours that imports a large library.
        tasks: Most threads and processes at once.
    """

    case_s: float = 5.0
    total_s: float = 50.0
    memory_bytes: int = 512 * _MEBIBYTE
    file_bytes: int = 16 * _MEBIBYTE
    open_files: int = 64
    output_bytes: int = 64 * 1024
    load_s: float = 0.0
    tasks: int = 256

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
    def total_cpu_s(self) -> int:
        """CPU seconds of one process that is not limited for each case."""
        return max(1, math.ceil(self.total_s))


class Program(NamedTuple):
    """Python source of which one function is called.

    Attributes:
        source: The program.
        function: Name of the function; None for the last public one that the program defines.
        setup: Python source of ours that runs before, in the same module.
        limits: What the program may use.
    """

    source: str
    function: str | None = None
    setup: str = ""
    limits: Limits = Limits()

    @property
    def is_too_large(self) -> bool:
        """True if the source is too long to run."""
        return len(self.source) > _MAX_CHARACTERS


class Check(NamedTuple):
    """A test in the manner of HumanEval: source that defines `check(candidate)`.

    `check` raises if the candidate is wrong. It can use the candidate under its own name as well,
    and whatever `setup` defines.

    Attributes:
        source: The test.
        setup: Python source that runs before, such as the functions that a prompt gives.
    """

    source: str
    setup: str = ""


class ErrorReport(NamedTuple):
    """An exception, as the process that raised it tells.

    Attributes:
        type_name: Name of its class.
        message: Its text.
        line: Line of the program, from 1; None where none is known.
    """

    type_name: str
    message: str
    line: int | None = None


class LoadEnd(StrEnum):
    """How loading a program ended."""

    LOADED = "loaded"
    TOO_LARGE = "too large"
    SYNTAX_ERROR = "syntax error"
    RAISED = "raised"
    MISSING_FUNCTION = "missing function"
    TIMED_OUT = "timed out"
    DIED = "died"
    GARBLED = "garbled"  # it wrote something of its own where the answer should have been


class LoadOutcome(NamedTuple):
    """How loading a program ended, and why.

    Attributes:
        end: How it ended.
        error: What the program raised.
        functions: The functions that the program defines instead of the missing one.
        cause: What killed the process, if it died.
    """

    end: LoadEnd
    error: ErrorReport | None = None
    functions: tuple[str, ...] = ()
    cause: str = ""


class CaseEnd(StrEnum):
    """How one case ended."""

    RETURNED = "returned"
    RAISED = "raised"
    TIMED_OUT = "timed out"
    DIED = "died"  # the process ended: a crash, `os._exit`, a kill
    GARBLED = "garbled"  # the program wrote something of its own where the answer should have been
    UNSENDABLE = "unsendable"  # the value is too large or too deeply nested to be looked at
    NOT_RUN = "not run"  # the program did not load, or the total time was used up before


class CaseOutcome(NamedTuple):
    """How one case ended.

    Attributes:
        end: How it ended.
        value: What was returned, as plain data; an `OpaqueObject` stands for anything else.
        error: What was raised.
        cause: What killed the process, or what is wrong with the value.
        output: What the program wrote to stdout and stderr meanwhile, as far as it was kept.
    """

    end: CaseEnd
    value: Any = None
    error: ErrorReport | None = None
    cause: str = ""
    output: str = ""


class ProgramOutcome(NamedTuple):
    """How a program and its cases ended.

    Attributes:
        load: How loading ended.
        cases: One for each input, in order.
        output: What the program wrote while it was loaded.
    """

    load: LoadOutcome
    cases: tuple[CaseOutcome, ...]
    output: str = ""


class CheckEnd(StrEnum):
    """How checking a candidate ended."""

    PASSED = "passed"
    FAILED = "failed"  # the test raised: an assertion does not hold, or a value broke the test
    RAISED = "raised"  # the candidate raised, and the test did not expect it
    TIMED_OUT = "timed out"
    DIED = "died"
    GARBLED = "garbled"
    NOT_LOADED = "not loaded"
    BROKEN = "broken"  # the test itself cannot run: not a fault of the candidate


class CheckOutcome(NamedTuple):
    """How checking a candidate ended.

    Attributes:
        end: How it ended.
        load: How loading the candidate ended.
        error: What was raised.
        source_line: The line of the test at which it ended.
        last_call: The last call of the candidate and what became of it.
        cause: What killed the process, if it died.
        output: What the candidate wrote to stdout and stderr, as far as it was kept.
    """

    end: CheckEnd
    load: LoadOutcome
    error: ErrorReport | None = None
    source_line: str = ""
    last_call: str = ""
    cause: str = ""
    output: str = ""


class Exit(NamedTuple):
    """How a child process ended.

    Attributes:
        status: Exit code, or minus the number of the signal that killed it.
        cpu_s: CPU seconds that it used.
        had_too_many_tasks: True if it was killed because of that.
    """

    status: int
    cpu_s: float
    had_too_many_tasks: bool = False
