"""Scores by test and LLM: as a table, by coverage, and with test classes as strata."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.groups import groups_of
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import estimate_stratified_mean

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
    """Arrange mean scores in a table of tests by LLMs; failures leave their place empty.

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


COMPARABLE_SHARE = 0.9
"""Least share of the tests with which a mean score stands in a ranking.

The tests that are missing move a mean by at most their share.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """On how many tests an LLM was scored."""

    n_tests: int
    n_all: int
    """Tests that any of the LLMs was scored on."""

    @property
    def is_comparable(self) -> bool:
        """True if the mean score may stand in a ranking with those of the other LLMs."""
        return self.n_tests == 0 or self.n_tests >= COMPARABLE_SHARE * self.n_all

    @property
    def text(self) -> str:
        """Text for screens, such as `scored on 32 of 64 tests; not comparable`."""
        seen = f"scored on {self.n_tests:,} of {self.n_all:,} tests"
        return seen if self.is_comparable else f"{seen}; not comparable"

    def as_dict(self) -> dict[str, Any]:
        """Describe it for machines."""
        return {
            "n_tests": self.n_tests,
            "n_all": self.n_all,
            "is_comparable": self.is_comparable,
        }


def coverages(tests_of: Mapping[str, Collection[str]]) -> dict[str, Coverage]:
    """Count the tests of each LLM against those of all LLMs.

    Args:
        tests_of: LLM id to the ids of the tests that it was scored on.

    Example:
        >>> both = coverages({"a": {"t1", "t2"}, "b": {"t2"}})
        >>> both["b"].text, both["a"].is_comparable
        ('scored on 1 of 2 tests; not comparable', True)
    """
    n_all = len(set().union(*tests_of.values()))
    return {llm_id: Coverage(n_tests=len(ids), n_all=n_all) for llm_id, ids in tests_of.items()}


def compute_coverages(results: Iterable[Result]) -> dict[str, Coverage]:
    """Compute the coverage of each LLM that has a result, failures included."""
    tests_of: dict[str, set[str]] = {}
    for result in results:
        tests = tests_of.setdefault(result.llm_id, set())
        if result.score is not None:
            tests.add(result.test_id)
    return coverages(tests_of)


def compute_stratified_scores(
    results: Iterable[Result], tests: Mapping[str, Test], *, classes_weigh_alike: bool = False
) -> dict[str, Estimate]:
    """Compute each LLM's mean score over the classes, which count as chosen, not as drawn.

    Args:
        results: Scored and failed trials in any order; failures are left out.
        tests: By id, for the class; tests that are not known are a class of their own.
        classes_weigh_alike: Whether every class weighs the same; otherwise each weighs as many
            tests as it has, which leaves the mean as it is.

    Returns:
        LLM id to mean over classes, in order of first appearance.

    Source:
        `estimate_stratified_mean`; trials of one test are averaged first.
    """
    trials: dict[str, dict[str, dict[str, list[float]]]] = {}
    for result in results:
        if result.score is not None:
            test = tests.get(result.test_id)
            classes = trials.setdefault(result.llm_id, defaultdict(lambda: defaultdict(list)))
            classes[test.class_id if test else ""][result.test_id].append(result.score)
    return {
        llm_id: _estimate_stratified(classes, tests, classes_weigh_alike=classes_weigh_alike)
        for llm_id, classes in trials.items()
    }


def _estimate_stratified(
    classes: Mapping[str, Mapping[str, list[float]]],
    tests: Mapping[str, Test],
    *,
    classes_weigh_alike: bool,
) -> Estimate:
    scores = {
        class_id: [sum(values) / len(values) for values in of_class.values()]
        for class_id, of_class in classes.items()
    }
    groups = {class_id: groups_of(of_class, tests) for class_id, of_class in classes.items()}
    return estimate_stratified_mean(
        scores,
        dict.fromkeys(scores, 1.0) if classes_weigh_alike else None,
        {class_id: names for class_id, names in groups.items() if names},
    )
