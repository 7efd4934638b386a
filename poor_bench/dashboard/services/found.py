"""What a query found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.result_table import ResultTable, TrialKey


@dataclass(frozen=True, slots=True)
class Found:
    """Results in the order of a query."""

    table: ResultTable
    rows: NDArray[np.int64]
    """Rows of `table`."""

    def __len__(self) -> int:
        return len(self.rows)

    def place_of(self, key: TrialKey) -> int | None:
        """Return at which place a trial stands, from 0; None where it was not found."""
        code = self.table.code_of("test_id", key.test_id)
        places = (self.table.codes["test_id"][self.rows] == code).nonzero()[0]
        return next(
            (int(place) for place in places if self.table.key(int(self.rows[place])) == key), None
        )

    def key_at(self, place: int) -> TrialKey | None:
        """Return the trial at a place; None beyond both ends."""
        if not 0 <= place < len(self.rows):
            return None
        return self.table.key(int(self.rows[place]))
