"""Where a plug-in failed: file, line and error, as messages show them."""

from __future__ import annotations

import traceback
from pathlib import Path

_MAX_REASON = 300


def crash_text(error: BaseException, file: Path) -> str:
    """Describe an error that came out of a plug-in.

    Args:
        error: The error.
        file: Source of the plug-in; the innermost line in it is named.

    Returns:
        A text such as `issues/greets.py:12: KeyError: 'name'`.
    """
    line = _line_in(error, file)
    where = f"{file}:{line}" if line else str(file)
    reason = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{where}: {type(error).__name__}: {reason:.{_MAX_REASON}}".rstrip(": ")


def _line_in(error: BaseException, file: Path) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None)
