"""Which differences between the chosen LLMs are real, found in the background."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.dashboard.services.computations import Computations, Computed
from poor_bench.statistics.comparison import Comparison, PairedDifference, compare_llms
from poor_bench.statistics.intervals import Estimate, paired_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poor_bench.dashboard.services.result_table import ResultTable
    from poor_bench.dashboard.services.trial_grid import TrialGrid
    from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """An LLM against the base, on the tests that both have scored."""

    difference: Estimate
    """Its mean score minus the base's."""
    n_won: int
    n_lost: int
    p_adjusted: float
    """Valid for all chosen LLMs together."""
    is_real: bool
    needed_tests: int | None
    """Common tests that would show a difference as large as this one; None where none is seen."""

    @property
    def n_tied(self) -> int:
        """Tests on which both scored alike."""
        return self.difference.n - self.n_won - self.n_lost


class Comparisons:
    """Compares the chosen LLMs; shared by all browsers."""

    def __init__(self) -> None:
        self._background: Computations[Comparison] = Computations()

    def compare(self, table: ResultTable, llm_ids: Sequence[str]) -> Computed[Comparison]:
        """Return what is known by now of all pairs of some LLMs."""
        topic = frozenset(llm_ids)
        version = tuple(table.llm_versions.get(llm_id) for llm_id in sorted(topic))
        return self._background.ask(topic, version, lambda: _compared(table, sorted(topic)))


def _compared(table: ResultTable, llm_ids: Sequence[str]) -> Comparison:
    return compare_llms(
        result for llm_id in llm_ids for result in table.light(table.rows_of(llm_id))
    )


def against_base(comparison: Comparison, base: str) -> dict[str, Against]:
    """Return every other LLM against the base; those without common tests are missing."""
    found = {}
    for pair in comparison.pairs:
        if pair.llm_a == base:
            found[pair.llm_b] = _turned(pair)
        elif pair.llm_b == base:
            found[pair.llm_a] = _as_is(pair)
    return found


def _as_is(pair: PairedDifference) -> Against:
    return Against(
        difference=pair.difference,
        n_won=pair.n_better,
        n_lost=pair.n_worse,
        p_adjusted=pair.p_adjusted,
        is_real=pair.is_real(),
        needed_tests=pair.needed_tests,
    )


def _turned(pair: PairedDifference) -> Against:
    seen = pair.difference
    return Against(
        difference=Estimate(value=-seen.value, low=-seen.high, high=-seen.low, n=seen.n),
        n_won=pair.n_worse,
        n_lost=pair.n_better,
        p_adjusted=pair.p_adjusted,
        is_real=pair.is_real(),
        needed_tests=pair.needed_tests,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScore:
    """Mean score of an LLM on a class, and against the base."""

    score: float | None
    """None where nothing was scored."""
    against_base: Estimate | None
    """Mean paired difference to the base; None for the base and without common tests."""


def class_scores(grid: TrialGrid, tests: Mapping[str, Test]) -> dict[str, tuple[ClassScore, ...]]:
    """Return for each class one entry per LLM of the grid; unknown tests are class "" ."""
    import numpy as np

    lines_by_class: dict[str, list[int]] = {}
    for line, test_id in enumerate(grid.test_ids):
        class_id = tests[test_id].class_id if test_id in tests else ""
        lines_by_class.setdefault(class_id, []).append(line)
    found = {}
    for class_id, lines in lines_by_class.items():
        scores = grid.scores[np.array(lines)]
        found[class_id] = tuple(
            _class_score(scores[:, column].tolist(), scores[:, 0].tolist() if column else None)
            for column in range(len(grid.llm_ids))
        )
    return found


def _class_score(scores: Sequence[float], base: Sequence[float] | None) -> ClassScore:
    known = [score for score in scores if not math.isnan(score)]
    changes = [
        score - other
        for score, other in zip(scores, base or (), strict=False)
        if not math.isnan(score - other)
    ]
    return ClassScore(
        score=sum(known) / len(known) if known else None,
        against_base=paired_interval(changes) if changes else None,
    )
