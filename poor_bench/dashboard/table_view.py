"""What the reader chose of one table: what sorts its rows, and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TableView(NamedTuple):
    """What the reader chose of one table."""

    name: str
    sort: str = ""
    """Field that sorts the rows, after a minus where descending; empty for the usual order."""
    columns: tuple[str, ...] = ()
    """Fields of the columns that are shown; none for the usual ones."""

    @classmethod
    def read(cls, text: str) -> TableView:
        """Read what `text` writes; what is missing is empty."""
        name, sort, columns, *_ = [*text.split("~"), "", ""]
        return cls(name, sort, tuple(filter(None, columns.split("."))))

    @property
    def text(self) -> str:
        """Write it for the address; empty where nothing was chosen."""
        is_usual = not self.sort and not self.columns
        return "" if is_usual else f"{self.name}~{self.sort}~{'.'.join(self.columns)}"

    @property
    def field(self) -> str:
        """Field that sorts the rows; may be empty."""
        return self.sort.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """True if the largest value comes first."""
        return self.sort.startswith("-")

    def turn(self, field: str) -> TableView:
        """Sort by a field: ascending, then descending, then in the usual order.

        Example:
            >>> [TableView("t", sort).turn("score").sort for sort in ("", "score", "-score")]
            ['score', '-score', '']
        """
        following = {field: f"-{field}", f"-{field}": ""}
        return self._replace(sort=following.get(self.sort, field))

    def toggle(self, field: str, shown: Sequence[str]) -> TableView:
        """Show or hide a column; the first one stays.

        Args:
            field: Of the column.
            shown: Fields of the columns that are shown now.
        """
        others = tuple(each for each in shown if each != field)
        return self._replace(columns=others if field in shown else (*others, field))
