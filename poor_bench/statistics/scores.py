"""Scores by test and LLM: as a table, over classes as strata, and of many LLMs together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from poor_bench.models.test import Test
from poor_bench.statistics.groups import find_groups
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import estimate_stratified_mean
from poor_bench.statistics.trials import TrialColumns, Trials, collect_columns, order_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.statistics.intervals import Estimate


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

    def order_by_llm(self) -> ScoreTable:
        """Store the numbers of each LLM side by side, which speeds up work on its column."""
        import numpy as np

        return replace(
            self,
            scores=np.asfortranarray(self.scores),
            n_trials=np.asfortranarray(self.n_trials),
            squares=np.asfortranarray(self.squares),
        )


def build_score_table(trials: Trials) -> ScoreTable:
    """Arrange mean scores in a table of tests by LLMs; failures leave their place empty.

    Args:
        trials: Scored and failed trials in any order.

    Returns:
        LLMs and tests in the order in which they first appear with a score.

    Example:
        >>> from poor_bench.models.result import Result
        >>> table = build_score_table([Result(llm_id="a", test_id="t", score=0.5)])
        >>> table.llm_ids, table.scores.tolist()
        (('a',), [[0.5]])
    """
    columns = collect_columns(trials)
    llms, tests = (_order_scored(columns, name) for name in ("llm_id", "test_id"))
    return _fill(
        tuple(columns.values["llm_id"][code] for code in llms),
        tuple(columns.values["test_id"][code] for code in tests),
        lambda: _find_cells(columns, llms, tests),
    )


_Cells = tuple["NDArray[np.int64]", "NDArray[np.float64]"]
"""Cells of some trials, and their scores."""
_TRIALS_AT_ONCE = 1 << 20


def _order_scored(table: TrialColumns, field: str) -> list[int]:
    """List the codes of scored trials in order of first appearance."""
    codes, is_scored = table.columns[field], table.is_scored
    return order_codes(codes if is_scored.all() else codes[is_scored])


def _find_cells(table: TrialColumns, llms: Sequence[int], tests: Sequence[int]) -> Iterator[_Cells]:
    """Yield the scored trials in blocks, so that very many take little memory on the way."""
    import numpy as np

    names, used = ("test_id", "llm_id"), (tests, llms)
    numbers = [np.zeros(len(table.values[name]), dtype=np.int64) for name in names]
    for of_field, codes in zip(numbers, used, strict=True):
        of_field[codes] = np.arange(len(codes))
    for start in range(0, len(table.columns["score"]), _TRIALS_AT_ONCE):
        some = slice(start, start + _TRIALS_AT_ONCE)
        scores = table.columns["score"][some]
        rows, columns = (
            of_field[table.columns[name][some]]
            for name, of_field in zip(names, numbers, strict=True)
        )
        is_scored = ~np.isnan(scores)
        yield (rows * len(llms) + columns)[is_scored], scores[is_scored]


def _fill(
    llm_ids: tuple[str, ...], test_ids: tuple[str, ...], find: Callable[[], Iterable[_Cells]]
) -> ScoreTable:
    import numpy as np

    shape = len(test_ids), len(llm_ids)
    size = shape[0] * shape[1]
    n_trials, means, squares = np.zeros(size, dtype=np.int64), np.zeros(size), np.zeros(size)
    for cells, scores in find():
        np.add.at(n_trials, cells, 1)
        np.add.at(means, cells, scores)
    is_empty = n_trials == 0
    means /= np.maximum(n_trials, 1, out=n_trials)
    means[is_empty], n_trials[is_empty] = np.nan, 0
    for cells, scores in find():
        np.add.at(squares, cells, (scores - means[cells]) ** 2)
    return ScoreTable(
        llm_ids=llm_ids,
        test_ids=test_ids,
        scores=means.reshape(shape),
        n_trials=n_trials.reshape(shape),
        squares=squares.reshape(shape),
    )


def compute_stratified_scores(
    trials: Trials, tests: Mapping[str, Test], *, classes_weigh_alike: bool = False
) -> dict[str, Estimate]:
    """Compute each LLM's mean score over the classes, which count as chosen, not as drawn.

    Args:
        trials: Scored and failed trials in any order; failures are left out.
        tests: By id, for the class; tests that are not known are a class of their own.
        classes_weigh_alike: Whether every class weighs the same; otherwise each weighs as many
            tests as it has, which leaves the mean as it is.

    Returns:
        LLM id to mean over classes, in order of first appearance.

    Source:
        `estimate_stratified_mean`; trials of one test are averaged first.
    """
    import numpy as np

    table = build_score_table(trials)
    class_ids = [test.class_id if (test := tests.get(name)) else "" for name in table.test_ids]
    estimates = {}
    for llm_id, of_llm in zip(table.llm_ids, table.scores.T, strict=True):
        classes: dict[str, dict[str, float]] = defaultdict(dict)
        for row in np.flatnonzero(~np.isnan(of_llm)).tolist():
            classes[class_ids[row]][table.test_ids[row]] = float(of_llm[row])
        estimates[llm_id] = _estimate_stratified(
            classes, tests, classes_weigh_alike=classes_weigh_alike
        )
    return estimates


def _estimate_stratified(
    classes: Mapping[str, Mapping[str, float]],
    tests: Mapping[str, Test],
    *,
    classes_weigh_alike: bool,
) -> Estimate:
    scores = {class_id: [*of_class.values()] for class_id, of_class in classes.items()}
    groups = {class_id: find_groups(of_class, tests) for class_id, of_class in classes.items()}
    return estimate_stratified_mean(
        scores,
        dict.fromkeys(scores, 1.0) if classes_weigh_alike else None,
        {class_id: names for class_id, names in groups.items() if names},
    )


class Others(NamedTuple):
    """Scores of several models in one number; no interval, as models are not a sample."""

    mean: float
    n: int
    """Models with a score."""
    lowest: float
    highest: float


def average_scores(scores: Sequence[Estimate]) -> Others | None:
    """Average the scores of models, each with the same weight; None without any."""
    values = [score.value for score in scores]
    if not values:
        return None
    return Others(sum(values) / len(values), len(values), min(values), max(values))
