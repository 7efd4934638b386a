"""Running code that may raise anything at all."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from poor_bench.sandbox.wire.messages import is_line
from poor_bench.sandbox.wire.plain import name_of_type

_MAX_MESSAGE = 2000


class Attempt:
    """A context that ends with its body, whatever that raises, and keeps the exception.

    Attributes:
        error: What was raised; None if nothing was.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        self.error = error
        return True


def describe_error(error: BaseException, file: str) -> tuple[str, str, int | None]:
    """Return type, message and line of an exception, as messages carry it.

    Args:
        error: Its own methods may be hostile.
        file: The line is that of the innermost frame in this file.
    """
    message, line = "", None
    with Attempt():
        line = _line_in(error.__traceback__, file)
        message = str(error)[:_MAX_MESSAGE]
        if isinstance(error, SyntaxError) and error.filename == file:
            message, line = str(error.msg)[:_MAX_MESSAGE], error.lineno
    return name_of_type(error), message, line if is_line(line) else None


def _line_in(traceback: TracebackType | None, file: str) -> int | None:
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
