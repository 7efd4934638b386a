"""Every exception of the package, named after the boundary that was crossed.

```
PoorBenchError            one clear message; never shown with a traceback
  ConfigError             a file or flag that the user can fix            exit code 2
  PluginError             an evaluator file that cannot be used           exit code 2
  StoreError              results that cannot be read or written          exit code 4
  MissingExtraError       an optional package that is not installed       exit code 2
  ProviderError           an LLM that could not be asked                  recorded; exit code 3
  EvaluatorError          an evaluator that raised or broke its contract  recorded
  SandboxError            a sandbox that could not be set up              recorded
  AgentError              an agent (browser, endpoint) that cannot run    recorded; exit code 3
  RunRefusedError         a run while another one is under way            exit code 2
  RunCancelledError       the user stopped the run
    CostLimitError        the next step would exceed the cost limit       exit code 3
    CallLimitError        the next step would exceed the call budget      exit code 3
```

"Recorded" errors become a `Failure` beside the results: they keep their test pending and never
turn into a score.
"""

from __future__ import annotations

import os
import sysconfig
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from poor_bench.models.failure import FailureKind
    from poor_bench.models.problem import Problem


class PoorBenchError(Exception):
    """Base of all errors of ours.

    Attributes:
        exit_code: What a console command ends with when this error reaches it.
        hint: The way out, or an empty string.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Describe it to pickle, which cannot pass the keyword arguments of a constructor."""
        return _build_error, (type(self), self.args), self.__dict__


def _build_error(kind: type[PoorBenchError], args: tuple[Any, ...]) -> PoorBenchError:
    return kind.__new__(kind, *args)


class ConfigError(PoorBenchError):
    """One or more files or flags are wrong; carries every problem that was found."""

    exit_code = 2

    def __init__(self, message: str, *, problems: Sequence[Problem] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)
        for problem in self.problems:
            self.add_note(str(problem))


class PluginError(PoorBenchError):
    """An evaluator cannot be loaded or found."""

    exit_code = 2


class MissingExtraError(PoorBenchError):
    """An optional package is needed and not installed."""

    exit_code = 2


class StoreError(PoorBenchError):
    """Results cannot be read or written; what was stored before is untouched."""

    exit_code = 4


class RecordedError(PoorBenchError):
    """Base of the errors that are recorded as a failure of one test."""

    exit_code = 3

    def __init__(self, message: str, *, kind: FailureKind, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class ProviderError(RecordedError):
    """An LLM could not be asked, or its reply could not be read.

    Attributes:
        status: HTTP status, when there was a reply.
        retry_after_s: Seconds that the server asked to wait, when it did.
        attempts: How often the request was sent before giving up, at least 1.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind,
        status: int | None = None,
        retry_after_s: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, kind=kind, hint=hint)
        self.status = status
        self.retry_after_s = retry_after_s
        self.attempts = 1


class EvaluatorError(RecordedError):
    """An evaluator raised, or returned something that is not a verdict."""


class SandboxError(RecordedError):
    """Candidate code could not be run for a reason that is not its own."""

    def __init__(self, message: str, *, kind: FailureKind | None = None, hint: str = "") -> None:
        from poor_bench.models.failure import FailureKind

        super().__init__(message, kind=kind or FailureKind.SANDBOX, hint=hint)


class AgentError(RecordedError):
    """An agent could not be run for a reason that is not its own, such as a missing browser."""


class RunRefusedError(PoorBenchError):
    """A run cannot start since another one is under way."""

    exit_code = 2


class RunCancelledError(PoorBenchError):
    """The user stopped the run."""

    exit_code = 130


class CallLimitError(RunCancelledError):
    """The next step needs more calls than are left; it stays pending."""

    exit_code = 3


class CostLimitError(RunCancelledError):
    """What would be asked next costs more than may be spent; it stays pending."""

    exit_code = 3


_PACKAGE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pure: no pathlib
_LONGEST_REASON = 300


def describe_crash(error: BaseException, file: str = "", hide: Callable[[str], str] = str) -> str:
    """Describe an exception of code that a user dropped in: what it is, and its file and line.

    Args:
        error: What the code raised.
        file: The file that was dropped in, where it is known; named if no line of it was reached.
        hide: Takes secrets out of the message before it is cut: half a key is not found any more.

    Example:
        `ZeroDivisionError: division by zero (data/evaluators/mine.py:12)`
    """
    reason = hide(f"{type(error).__name__}: {error}")[:_LONGEST_REASON].rstrip(": ")
    place = _find_place(error, file) or _as_shown(file)
    return f"{reason} ({place})" if place else reason


def _find_place(error: BaseException, file: str) -> str:
    """Find the innermost line of the user: not of this package, and of no library if possible."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_as_shown(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    if file:
        chosen = [frame for frame in frames if _is_beside(frame.filename, file)][-1:]
    else:
        theirs = [frame for frame in frames if _is_theirs(frame.filename)]
        code = [frame for frame in theirs if not _is_library(frame.filename)]
        chosen = (code or theirs)[-1:]
    return f"{_as_shown(chosen[0].filename)}:{chosen[0].lineno}" if chosen else ""


def _is_theirs(path: str) -> bool:
    return not path.startswith(("<", _PACKAGE + os.sep))


def _is_beside(path: str, file: str) -> bool:
    """True if a file is the one that was dropped in, or a helper in its folder."""
    folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120 - pure: no pathlib
    return os.path.abspath(path).startswith(folder + os.sep)  # noqa: PTH100 - pure: no pathlib


def _is_library(path: str) -> bool:
    return "site-packages" in path or path.startswith(sysconfig.get_path("stdlib"))


def _as_shown(path: str) -> str:
    """Shorten a path to one that is relative to the current folder, where that is possible."""
    here = os.getcwd() + os.sep  # noqa: PTH109 - pure: no pathlib
    return path.removeprefix(here)
