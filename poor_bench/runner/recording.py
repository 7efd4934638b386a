"""Errors become failures beside the results: the only place of a run that catches everything."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from poor_bench.errors import PluginError, PoorBenchError, RecordedError, RunCancelledError
from poor_bench.messages import bounded_text
from poor_bench.models.failure import FailureKind
from poor_bench.models.result import Result

_LONGEST_MESSAGE = 4000
Failed = Callable[[FailureKind, str, int], Result]
"""Makes the result of a failure out of its kind, its message and how often it was tried."""


def recorded(make: Callable[[], Result], failed: Failed) -> tuple[Result, RecordedError | None]:
    """Return what `make` makes, or the failure that its error amounts to.

    Returns:
        The result, and the error where the result is a failure that was foreseen.

    Raises:
        RunCancelledError: If the run was cancelled; the trial stays pending.
    """
    try:
        return make(), None
    except RunCancelledError:
        raise
    except RecordedError as error:
        return failed(error.kind, _said(error), getattr(error, "attempts", 1)), error
    except PluginError as error:
        return failed(FailureKind.EVALUATOR, _said(error), 1), None
    except PoorBenchError as error:
        return failed(FailureKind.SETTINGS, _said(error), 1), None
    except Exception as error:  # noqa: BLE001 - a bug of ours must not end the run
        return failed(FailureKind.INTERNAL, _where(error), 1), None


def _said(error: Exception) -> str:
    return bounded_text(str(error), _LONGEST_MESSAGE)


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {_said(error)}{place}"
