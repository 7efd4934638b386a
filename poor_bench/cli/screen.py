"""The terminal as rich sees it, with two habits of ours."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

_WIDEST = 10_000


class Screen(Console):
    """Cuts no table that is wider than the terminal, and leaves a closed pipe to `main`."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; where a table needs more room than there is, the terminal breaks its lines."""
        boundless = self.options.update(max_width=_WIDEST)
        tables = [item for item in objects if isinstance(item, Table)]
        needed = [self.measure(table, options=boundless).minimum for table in tables]
        self.width = max([self.width, *needed])
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Raise what every other way of printing raises.

        Raises:
            BrokenPipeError: Always.
        """
        raise BrokenPipeError
