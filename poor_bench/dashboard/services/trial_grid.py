"""The trials of some LLMs as a table of tests by LLMs: what comparing looks at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialGrid:
    """Figures of every chosen LLM on every test that one of them was asked.

    Arrays have one line per test, in the order of the workspace, and one column per LLM.
    """

    table: ResultTable
    llm_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    scores: NDArray[np.float64]
    """Mean over trials, 0.0 to 1.0; NaN where nothing was scored."""
    strict_scores: NDArray[np.float64]
    """The same under the format rules."""
    spreads: NDArray[np.float64]
    """Highest minus lowest score of the trials; NaN where nothing was scored."""
    n_failed: NDArray[np.int64]
    """Trials without a score that failed to run."""
    _rows: NDArray[np.int64]
    _starts: NDArray[np.int64]

    def rows_of(self, test: int, llm: int) -> NDArray[np.int64]:
        """Return the rows of `table` behind a place of the grid."""
        place = test * len(self.llm_ids) + llm
        return self._rows[self._starts[place] : self._starts[place + 1]]

    def tests_with(self, words: str) -> set[int]:
        """Return the lines in which a trial of some LLM holds `words`, in any case."""
        import numpy as np

        places = np.flatnonzero(self.table.holding(words)[self._rows])
        cells = np.searchsorted(self._starts, places, side="right") - 1
        return set((cells // len(self.llm_ids)).tolist())


def trial_grid(table: ResultTable, tests: Mapping[str, Test], llm_ids: Sequence[str]) -> TrialGrid:
    """Return the trials of some LLMs as a grid.

    Args:
        table: All results.
        tests: Test id to test; their order is that of the lines, unknown tests come last.
        llm_ids: The columns; those without results stay empty.
    """
    import numpy as np

    columns = np.full(len(table.llm_ids) + 1, -1, dtype=np.int64)
    for column, llm_id in enumerate(llm_ids):
        columns[table.code_of("llm_id", llm_id)] = column
    columns[-1] = -1
    column_of = columns[table.codes["llm_id"]]
    rows = np.flatnonzero(column_of >= 0)
    codes, lines = np.unique(table.codes["test_id"][rows], return_inverse=True)
    ids = [str(table.values["test_id"][code]) for code in codes]
    places = {test_id: place for place, test_id in enumerate(tests)}
    order = sorted(range(len(ids)), key=lambda line: places.get(ids[line], len(places)))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    index = ranks[lines] * len(llm_ids) + column_of[rows]
    return _filled(table, tuple(llm_ids), tuple(ids[line] for line in order), rows, index)


def _filled(
    table: ResultTable,
    llm_ids: tuple[str, ...],
    test_ids: tuple[str, ...],
    rows: NDArray[np.int64],
    index: NDArray[np.int64],
) -> TrialGrid:
    import numpy as np

    shape = len(test_ids), len(llm_ids)
    size = shape[0] * shape[1]
    score = table.numbers["score"][rows]
    strict = table.numbers["strict_score"][rows]
    is_scored = ~np.isnan(score)
    places, score = index[is_scored], score[is_scored]
    strict = np.where(np.isnan(strict[is_scored]), score, strict[is_scored])
    counts = np.bincount(places, minlength=size)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, places, score)
    np.maximum.at(highest, places, score)
    order = np.argsort(index, kind="stable")
    return TrialGrid(
        table=table,
        llm_ids=llm_ids,
        test_ids=test_ids,
        scores=_means(places, score, counts).reshape(shape),
        strict_scores=_means(places, strict, counts).reshape(shape),
        spreads=np.where(counts > 0, highest - lowest, np.nan).reshape(shape),
        n_failed=_n_failed(index, table.integers["trial"][rows], is_scored, size).reshape(shape),
        _rows=rows[order],
        _starts=np.searchsorted(index[order], np.arange(size + 1)),
    )


def _means(
    places: NDArray[np.int64], values: NDArray[np.float64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    import numpy as np

    sums = np.bincount(places, weights=values, minlength=len(counts))
    means = np.full(len(counts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _n_failed(
    places: NDArray[np.int64],
    trials: NDArray[np.int64],
    is_scored: NDArray[np.bool_],
    size: int,
) -> NDArray[np.int64]:
    """Count the trials that have a failure and no score; see `TrialCounts`."""
    import numpy as np

    _, numbers = np.unique(trials, return_inverse=True)
    keys = places * (len(trials) + 1) + numbers
    has_failed_only = ~is_scored & ~np.isin(keys, keys[is_scored])
    return np.bincount(places[has_failed_only], minlength=size)
