"""The order of LLMs on screens: defined here, and fair to those scored on other tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.scores import ScoreTable, build_score_table
from poor_bench.statistics.summary import Summary
from poor_bench.statistics.trials import Trials, collect_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


COMPARABLE_SHARE = 0.9
"""Least share of the tests with which an LLM has a rank and may be called the best.

The tests that are missing move a mean by at most their share.
"""
PLACED_SHARE = 0.5
"""Least share of the tests with which an LLM has a place by its adjusted score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """On how many tests an LLM was scored."""

    n_tests: int
    n_all: int
    """Tests that any of the LLMs was scored on."""
    n_linked: int
    """Tests of the LLMs that chains of common tests link; 0 where it is not one of them."""

    @property
    def is_complete(self) -> bool:
        """True if no test is missing, or nothing is scored yet."""
        return self.n_tests in {0, self.n_all}

    @property
    def is_comparable(self) -> bool:
        """True if the LLM may have a rank, and be called the best."""
        return self.n_tests == 0 or self.n_tests >= COMPARABLE_SHARE * self.n_all

    @property
    def is_placed(self) -> bool:
        """True if the adjusted score gives the LLM a place among the others."""
        return self.n_linked > 0 and self.n_tests >= PLACED_SHARE * self.n_linked

    @property
    def badge(self) -> str:
        """Warning beside a score, such as `48 of 64 tests`; empty where no test is missing."""
        return "" if self.is_complete else f"{self.n_tests:,} of {self.n_all:,} tests"

    @property
    def text(self) -> str:
        """Badge and its consequence, such as `48 of 64 tests; no rank`."""
        if self.is_complete or self.is_comparable:
            return self.badge
        return f"{self.badge}; {'no rank' if self.is_placed else 'not comparable'}"

    def as_dict(self) -> dict[str, Any]:
        """Describe it for machines."""
        return {
            "n_tests": self.n_tests,
            "n_all": self.n_all,
            "is_comparable": self.is_comparable,
            "is_placed": self.is_placed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Order of some LLMs, and how much of the tests it rests on."""

    llm_ids: tuple[str, ...]
    """Best first; at the end those that are not comparable with the others."""
    coverage: Mapping[str, Coverage]
    adjusted: Mapping[str, float] = field(default_factory=dict)
    """Score that each LLM would probably have on all tests, 0.0 to 1.0; empty where no LLM misses
    a test, as the scores themselves are comparable then."""
    predicted: Mapping[str, Estimate] = field(default_factory=dict)
    """Predicted full score of each LLM that ran the short form only, see `predict_short_forms`."""

    def is_comparable(self, llm_id: str) -> bool:
        """True if an LLM may have a rank, and be called the best."""
        return llm_id not in self.coverage or self.coverage[llm_id].is_comparable

    def sort(self, summaries: Iterable[Summary]) -> list[Summary]:
        """Put rows in order.

        Rows of classes and levels stand by their own scores, those of LLMs without a rank last.
        """
        places = {llm_id: place for place, llm_id in enumerate(self.llm_ids)}

        def place(row: Summary) -> tuple[float, float]:
            llm_id, score = row.group.llm_id, row.score.value if row.score else -1.0
            if row.group.class_id is None and row.group.level is None:
                return float(places.get(llm_id, len(places))), -score
            return float(not self.is_comparable(llm_id)), -score

        return sorted(summaries, key=place)

    def adjust(self, summaries: Iterable[Summary]) -> list[Summary]:
        """Add adjusted and predicted scores to the rows that span all classes and levels."""
        return [
            replace(
                row,
                adjusted_score=self.adjusted.get(row.group.llm_id),
                predicted_score=self.predicted.get(row.group.llm_id),
            )
            if row.group.class_id is None and row.group.level is None
            else row
            for row in summaries
        ]


def rank_llms(trials: Trials, dropped: Collection[str] = ()) -> Ranking:
    """Rank all LLMs that have a result, as `rank_table`; those without a score come last."""
    columns = collect_columns(trials)
    return rank_table(build_score_table(columns), columns.find_values("llm_id"), dropped)


def rank_table(
    table: ScoreTable, llm_ids: Iterable[str] = (), dropped: Collection[str] = ()
) -> Ranking:
    """Rank LLMs by the score that each would probably have on all tests.

    Where every LLM was scored on every test, that is the mean score. Else a missing score is
    filled with the sum of an effect of the LLM and one of the test, fitted by least squares, so
    that an LLM gains nothing by easy tests. With two LLMs this is the comparison on common tests.
    An LLM with fewer than half of the tests, or without common tests, comes last.

    Args:
        table: Mean score of each test and LLM.
        llm_ids: LLMs without a score, or all of them.
        dropped: LLMs that left a race early: they come last.

    Returns:
        The ranking; LLMs with the same score stand in the order of the table.

    Source:
        Intra-block analysis of incomplete blocks: Yates 1936, "Incomplete randomized blocks",
        Annals of Eugenics 7. Against plain means, common tests and a logistic model:
        `benchmarks/statistics/ranking.py`.

    Example:
        >>> from poor_bench.models.result import Result
        >>> scores = {"a": {"easy": 0.9, "hard": 0.4}, "b": {"easy": 0.8}}
        >>> ranking = rank_llms(
        ...     Result(llm_id=llm_id, test_id=test_id, score=score)
        ...     for llm_id, own in scores.items() for test_id, score in own.items()
        ... )
        >>> ranking.llm_ids, round(ranking.adjusted["b"], 2), ranking.coverage["b"].text
        (('a', 'b'), 0.55, '1 of 2 tests; no rank')
    """
    import numpy as np

    n_all, is_scored = len(table.test_ids), ~np.isnan(table.scores)
    adjusted, is_linked = _fit(table.scores)
    n_linked = int(is_scored[:, is_linked].any(axis=1).sum())
    coverage = {
        llm_id: Coverage(n_tests=n_tests, n_all=n_all, n_linked=n_linked if linked else 0)
        for llm_id, n_tests, linked in zip(
            table.llm_ids, is_scored.sum(axis=0).tolist(), is_linked.tolist(), strict=True
        )
    }
    for llm_id in llm_ids:
        coverage.setdefault(llm_id, Coverage(n_tests=0, n_all=n_all, n_linked=0))
    scores = dict(zip(table.llm_ids, adjusted.tolist(), strict=True))
    is_whole = all(each.is_complete for each in coverage.values())
    return Ranking(
        llm_ids=tuple(
            sorted(
                coverage,
                key=lambda llm_id: (
                    not coverage[llm_id].is_placed or llm_id in dropped,
                    -scores.get(llm_id, -1.0),
                ),
            )
        ),
        coverage=coverage,
        adjusted={} if is_whole else {k: v for k, v in scores.items() if coverage[k].is_placed},
    )


def _fit(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Compute each column's mean with missing scores filled, and if it is linked to most others."""
    import numpy as np

    is_known = ~np.isnan(scores)
    if scores.size and is_known.all():
        return scores.mean(axis=0), np.ones(scores.shape[1], bool)
    scores, is_known = scores[is_known.any(axis=1)], is_known[is_known.any(axis=1)]
    if not scores.size or is_known.all():
        return scores.mean(axis=0) if scores.size else np.zeros(0), np.ones(scores.shape[1], bool)
    known, values = is_known.astype(np.float64), np.nan_to_num(scores)
    n_of_test = known.sum(axis=1)
    of_test = values.sum(axis=1) / n_of_test
    shared = (known / n_of_test[:, None]).T @ known
    equations = np.diag(known.sum(axis=0)) - shared
    ability = np.linalg.pinv(equations, rcond=1e-9, hermitian=True) @ (
        values.sum(axis=0) - known.T @ of_test
    )
    difficulty = of_test - known @ ability / n_of_test
    filled = np.where(is_known, values, np.clip(ability + difficulty[:, None], 0.0, 1.0))
    return filled.mean(axis=0), _find_linked(shared > 0)


def _find_linked(shares: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the largest set of columns that chains of common tests link; the first of equals."""
    import numpy as np

    reach = shares.copy()
    for _ in range(max(1, len(shares).bit_length())):
        reach = (reach.astype(np.float64) @ reach.astype(np.float64)) > 0
    return np.asarray(reach[int(np.argmax(reach.sum(axis=1)))])
