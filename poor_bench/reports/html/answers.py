"""The tests with what each LLM answered; bounded, so that any number of results makes a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from poor_bench import metrics
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.reports.html.charts import heat_step
from poor_bench.reports.report_data import ReportData

MAX_TESTS = 1000
MAX_CHARACTERS = 6_000_000
_PROMPT, _RESPONSE, _THINKING, _DETAILS = 4000, 4000, 1500, 2000
_FACTS = (metrics.MEAN_TIME, metrics.FIRST_TOKEN, metrics.COMPLETION_TOKENS)
CUT = "\n[... shortened]"
LEFT_OUT = "[left out of this page: see the CSV or JSON report]"


class Answer(NamedTuple):
    """One trial."""

    llm_id: str
    name: str
    trial: int
    step: int | None
    """Step of the palette; None for a trial that failed to run."""
    score_text: str
    failure: str
    response: str
    thinking: str
    details: str
    facts: list[tuple[str, str]]


class Cell(NamedTuple):
    """One LLM on one test, as a coloured dot."""

    step: int | None
    title: str


class AnsweredTest(NamedTuple):
    """One test with all that was answered."""

    test_id: str
    class_id: str
    level: int
    mean: float
    """Mean score of the scored trials; -1 where there is none."""
    mean_text: str
    n_scored: int
    """Trials that the mean is over."""
    spread: float
    """Highest minus lowest score, 0.0 to 1.0."""
    has_failure: bool
    prompt: str
    system_prompt: str
    cells: list[Cell]
    answers: list[Answer]


class Answers(NamedTuple):
    """Tests on the page."""

    tests: list[AnsweredTest]
    n_left_out: int
    """Tests that are not shown; those that lost most score are."""


def answers(data: ReportData, *, max_characters: int = MAX_CHARACTERS) -> Answers:
    """Collect the tests that have results.

    Args:
        data: The report.
        max_characters: How much text of prompts, responses and details is shown in all.
    """
    by_test: dict[str, list[Result]] = {}
    for result in data.results:
        by_test.setdefault(result.test_id, []).append(result)
    costly = sorted(by_test, key=lambda test_id: _mean(by_test[test_id]))[:MAX_TESTS]
    budget = _Budget(max_characters)
    shown = {
        test_id: _test(data.tests[test_id], by_test[test_id], data, budget) for test_id in costly
    }
    ordered = [shown[test_id] for test_id in data.tests if test_id in shown]
    return Answers(ordered, len(by_test) - len(ordered))


class _Budget:
    """Cuts texts, and leaves them out altogether once enough was shown."""

    def __init__(self, n_characters: int) -> None:
        self._left = n_characters

    def take(self, text: str, limit: int) -> str:
        if not text:
            return ""
        if self._left <= 0:
            return LEFT_OUT
        shown = text if len(text) <= limit else text[:limit] + CUT
        self._left -= len(shown)
        return shown


def _mean(results: Sequence[Result]) -> float:
    scores = [result.score for result in results if result.score is not None]
    return sum(scores) / len(scores) if scores else -1.0


def _test(test: Test, results: Sequence[Result], data: ReportData, budget: _Budget) -> AnsweredTest:
    ordered = sorted(results, key=lambda result: (data.places[result.llm_id], result.trial))
    scores = [result.score for result in results if result.score is not None]
    mean = _mean(results)
    asked = next((result for result in ordered if result.prompt), None)
    return AnsweredTest(
        test_id=test.test_id,
        class_id=test.class_id,
        level=test.level,
        mean=mean,
        mean_text=f"{mean:.2f}" if scores else "-",
        n_scored=len(scores),
        spread=max(scores) - min(scores) if scores else 0.0,
        has_failure=len(scores) < len(results),
        prompt=budget.take(asked.prompt if asked else test.text or "", _PROMPT),
        system_prompt=budget.take(asked.system_prompt if asked else "", _PROMPT),
        cells=[_cell(result, data) for result in ordered],
        answers=[_answer(result, data, budget) for result in ordered],
    )


def _cell(result: Result, data: ReportData) -> Cell:
    told = "failed to run" if result.score is None else f"{result.score:.2f}"
    step = None if result.score is None else heat_step(result.score)
    return Cell(step, f"{data.name(result.llm_id)}: {told}")


def _answer(result: Result, data: ReportData, budget: _Budget) -> Answer:
    failure = result.failure
    return Answer(
        llm_id=result.llm_id,
        name=data.name(result.llm_id),
        trial=result.trial,
        step=None if result.score is None else heat_step(result.score),
        score_text="-" if result.score is None else f"{result.score:.2f}",
        failure=f"{failure.kind.value}: {failure.message}"[:_DETAILS] if failure else "",
        response=budget.take(result.response, _RESPONSE),
        thinking=budget.take(result.thinking, _THINKING),
        details=budget.take(result.details, _DETAILS),
        facts=_facts(result),
    )


def _facts(result: Result) -> list[tuple[str, str]]:
    """List what else is known, names first."""
    found = [
        ("expected", result.expected[:200]),
        ("got", result.got[:200]),
        ("found", result.found),
        (metrics.STRICT_SCORE.label, metrics.STRICT_SCORE.show_trial(result)),
        ("finished", result.finish_reason),
        ("flags", ", ".join(result.marks)),
        *((metric.label, metric.show_trial(result)) for metric in _FACTS),
    ]
    return [(name, value) for name, value in found if value]
