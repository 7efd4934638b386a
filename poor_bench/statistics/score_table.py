"""Scores as a table of tests by LLMs, for everything that looks at many at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.models.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Mean score of every test and LLM over the scored trials.

    All arrays have one row per test and one column per LLM.
    """

    llm_ids: tuple[str, ...]
    test_ids: tuple[str, ...]
    scores: NDArray[np.float64]
    """Mean over trials, 0.0 to 1.0; NaN where nothing was scored."""
    n_trials: NDArray[np.int64]
    """Scored trials."""
    squares: NDArray[np.float64]
    """Sum of the squared deviations of trials from their mean, at least 0.0."""


def score_table(results: Iterable[Result]) -> ScoreTable:
    """Return the mean scores of `results` as a table; failures leave their place empty.

    Args:
        results: Scored and failed trials in any order.

    Returns:
        LLMs and tests in the order in which they first appear with a score.

    Example:
        >>> table = score_table([Result(llm_id="a", test_id="t", score=0.5)])
        >>> table.llm_ids, table.scores.tolist()
        (('a',), [[0.5]])
    """
    import numpy as np

    rows: dict[str, int] = {}
    columns: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    scores: list[float] = []
    for result in results:
        if result.score is not None:
            row = rows.setdefault(result.test_id, len(rows))
            places.append((row, columns.setdefault(result.llm_id, len(columns))))
            scores.append(result.score)
    index = np.array(places, dtype=np.int64).reshape(-1, 2) @ np.array([len(columns), 1])
    return _table(tuple(columns), tuple(rows), index, np.array(scores))


def _table(
    llm_ids: tuple[str, ...],
    test_ids: tuple[str, ...],
    index: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> ScoreTable:
    import numpy as np

    shape = len(test_ids), len(llm_ids)
    size = shape[0] * shape[1]
    n_trials = np.bincount(index, minlength=size)
    sums = np.bincount(index, weights=scores, minlength=size)
    means = np.divide(sums, n_trials, out=np.full(size, np.nan), where=n_trials > 0)
    squares = np.zeros(size)
    np.add.at(squares, index, (scores - means[index]) ** 2)
    return ScoreTable(
        llm_ids=llm_ids,
        test_ids=test_ids,
        scores=means.reshape(shape),
        n_trials=n_trials.reshape(shape),
        squares=squares.reshape(shape),
    )
