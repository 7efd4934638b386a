"""Options that name a file to write: its ending must fit what is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class OutputFile(click.Path):
    """A file to write; any other ending than the given ones is refused."""

    def __init__(self, *endings: str) -> None:
        """Describe a file.

        Args:
            endings: Such as `.html`, the usual one first.
        """
        super().__init__(path_type=Path, dir_okay=False)
        self._endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the ending; a name without one, such as /dev/stdout, is left alone."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.suffix and path.suffix.lower() not in self._endings:
            self.fail(f"{path}: the name must end in {one_of(self._endings)}", param, ctx)
        return path


def one_of(endings: tuple[str, ...]) -> str:
    """List endings in words.

    Example:
        >>> one_of((".md", ".csv", ".json"))
        '.md, .csv or .json'
    """
    *others, last = endings
    return f"{', '.join(others)} or {last}" if others else last


HTML_FILE = OutputFile(".html", ".htm")
