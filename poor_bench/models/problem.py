"""One thing that is wrong in a file of the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    """Nothing can run until it is fixed."""
    WARNING = "warning"
    """Probably not what was meant; runs go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, where it stands, and the way out."""

    file: str
    """Path of the file as the user would write it."""
    place: str
    """Where in the file, such as `tests[12].evaluation_module.name`; empty for the whole file."""
    message: str
    """What is wrong, in one sentence."""
    hint: str = ""
    """The way out, such as the nearest valid name; may be empty."""
    severity: Severity = Severity.ERROR
    line: int | None = None
    """Line in the file, counted from 1, where it is known."""
    code: str = ""
    """Stable short name of the kind of problem, for machines and for `--fix`."""

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line else "")
        place = f" {self.place}" if self.place else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{place}: {self.message}{hint}"
