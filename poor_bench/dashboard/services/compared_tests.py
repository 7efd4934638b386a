"""The tests of a comparison with what each LLM answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poor_bench.extraction.thinking import split_thinking
from poor_bench.models.result import Result, record_to_result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.dashboard.services.trial_grid import TrialGrid
    from poor_bench.models.test import Test


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctAnswer:
    """What one or more trials of a test answered in the same words."""

    text: str
    """The answer without thinking, or why there is none."""
    score: float | None
    """Mean over these trials; None where they failed to run."""
    results: tuple[Result, ...]
    """The trials, the first one standing for all."""

    @property
    def n_trials(self) -> int:
        """How many trials answered so."""
        return len(self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class LLMLine:
    """One LLM on one test."""

    llm_id: str
    score: float | None
    """Mean over trials; None where nothing was scored."""
    change: float | None
    """Score minus the base's; None for the base, and where one of both has none."""
    mean_ms: float | None
    answers: tuple[DistinctAnswer, ...]
    """The most frequent first; empty where the test was never tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTest:
    """One test with a line for each LLM, the base first."""

    test_id: str
    test: Test | None
    """None where the test is not known any more."""
    lines: tuple[LLMLine, ...]


def compared_tests(
    grid: TrialGrid, lines: Sequence[int] | NDArray[np.int64], tests: Mapping[str, Test]
) -> list[ComparedTest]:
    """Return some lines of a grid with their texts, which are read from disk."""
    return [_compared(grid, int(line), tests) for line in lines]


def _compared(grid: TrialGrid, line: int, tests: Mapping[str, Test]) -> ComparedTest:
    test_id = grid.test_ids[line]
    base = float(grid.scores[line, 0])
    found = []
    for column, llm_id in enumerate(grid.llm_ids):
        records = grid.table.records(grid.rows_of(line, column))
        score = float(grid.scores[line, column])
        found.append(
            _line(llm_id, records, _known(score), _known(score - base) if column else None)
        )
    return ComparedTest(test_id=test_id, test=tests.get(test_id), lines=tuple(found))


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def _line(
    llm_id: str, records: Sequence[Mapping[str, Any]], score: float | None, change: float | None
) -> LLMLine:
    results = [record_to_result(llm_id, record) for record in records]
    times = [
        result.execution_time_ms
        for result in results
        if result.execution_time_ms is not None and result.failure is None
    ]
    return LLMLine(
        llm_id=llm_id,
        score=score,
        change=change,
        mean_ms=sum(times) / len(times) if times else None,
        answers=distinct_answers(results),
    )


def distinct_answers(results: Sequence[Result]) -> tuple[DistinctAnswer, ...]:
    """Return what some trials of one test answered, each wording once, the most frequent first.

    Example:
        >>> trials = [Result(llm_id="a", test_id="t", score=1.0, response=text, trial=number)
        ...           for number, text in enumerate(["4", "five", " 4"], start=1)]
        >>> [(answer.text, answer.n_trials) for answer in distinct_answers(trials)]
        [('4', 2), ('five', 1)]
    """
    by_text: dict[tuple[bool, str], list[Result]] = {}
    for result in results:
        text = answer_text(result)
        by_text.setdefault((result.failure is None, text), []).append(result)
    answers = [
        DistinctAnswer(
            text=text,
            score=sum(result.score or 0.0 for result in members) / len(members)
            if is_scored
            else None,
            results=tuple(members),
        )
        for (is_scored, text), members in by_text.items()
    ]
    return tuple(sorted(answers, key=lambda answer: -answer.n_trials))


def answer_text(result: Result) -> str:
    """Return what an LLM answered, without thinking; for a failure, why there is no answer."""
    if result.failure is not None:
        return result.failure.message
    return split_thinking(result.response).answer.strip()
