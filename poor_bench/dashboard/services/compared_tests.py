"""The tests of a comparison with what every subject answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from poor_bench.comparison.result_set import ComparedSubject, SubjectKind
from poor_bench.extraction.thinking import split_thinking
from poor_bench.metrics.trust import NOT_RUN, list_trial_notes
from poor_bench.models.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from poor_bench.metrics.trust import TrustNote
    from poor_bench.models.test import Test
    from poor_bench.results.grid import TrialGrid
    from poor_bench.statistics.summary import StaleReason


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
    is_unlike: bool = False
    """True if it was asked or scored otherwise than the base of the same model."""

    @property
    def n_scored(self) -> int:
        """Trials that the score is over."""
        return sum(answer.n_trials for answer in self.answers if answer.score is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAnswers:
    """One test with a line for each LLM, the base first."""

    test_id: str
    test: Test | None
    """None where the test is not known any more."""
    lines: tuple[LLMLine, ...]


def read_compared_tests(
    grid: TrialGrid,
    lines: Sequence[int] | NDArray[np.int64],
    tests: Mapping[str, Test],
    is_unlike: NDArray[np.bool_] | None = None,
) -> list[TestAnswers]:
    """Read some lines of a grid with their texts, all of them at once.

    Args:
        grid: The grid.
        lines: Of it.
        tests: Test id to test.
        is_unlike: As `CompareService.mark_unlike`; None marks nothing.
    """
    cells = [
        (int(line), column, grid.find_rows(int(line), column).tolist())
        for line in lines
        for column in range(len(grid.llm_ids))
    ]
    results = grid.table.whole([row for _, _, rows in cells for row in rows])
    found: dict[int, list[LLMLine]] = {int(line): [] for line in lines}
    for line, column, rows in cells:
        score, base = float(grid.scores[line, column]), float(grid.scores[line, 0])
        answered = list(islice(results, len(rows)))
        of_llm = LLMLine(
            llm_id=grid.llm_ids[column],
            score=_drop_nan(score),
            change=_drop_nan(score - base) if column else None,
            mean_ms=_mean_ms(answered),
            answers=distinct_answers(answered),
            is_unlike=is_unlike is not None and bool(is_unlike[line, column]),
        )
        found[line].append(of_llm)
    return [
        TestAnswers(
            test_id=grid.test_ids[line], test=tests.get(grid.test_ids[line]), lines=tuple(of_llms)
        )
        for line, of_llms in found.items()
    ]


def _drop_nan(number: float) -> float | None:
    return None if math.isnan(number) else number


def _mean_ms(results: Sequence[Result]) -> float | None:
    times = [
        result.execution_time_ms
        for result in results
        if result.execution_time_ms is not None and result.failure is None
    ]
    return sum(times) / len(times) if times else None


def list_line_notes(
    line: LLMLine, find_reason: Callable[[Result], StaleReason | None]
) -> tuple[TrustNote, ...]:
    """List what lessens the trust in the score of a model on a test.

    Runs, prompt versions and parameter sets are of the past: they have no note.
    """
    if ComparedSubject.parse(line.llm_id).kind is not SubjectKind.MODEL:
        return ()
    if not line.answers:
        return (NOT_RUN,)
    results = chain.from_iterable(answer.results for answer in line.answers)
    notes = (list_trial_notes(each.failure, find_reason(each)) for each in results)
    return tuple(dict.fromkeys(chain.from_iterable(notes)))


def distinct_answers(results: Sequence[Result]) -> tuple[DistinctAnswer, ...]:
    """List the answers of some trials of one test, each wording once, most frequent first.

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
    """Show the answer without its thinking; for a failure, its reason."""
    if result.failure is not None:
        return result.failure.message
    return split_thinking(result.response).answer.strip()
