"""Results as JUnit XML: a suite for every LLM, a case for every trial.

A test below the pass mark is a failure; a test that failed to run is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poor_bench import metrics
from poor_bench.models.result import Result
from poor_bench.reports.junit import JUnitCase, JUnitProblem, JUnitSuite, write_junit_pieces
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import Summary

_PROPERTIES = (
    (metrics.SCORED_SHARE, 4), (metrics.SCORE, 4), (metrics.MEDIAN_TIME, 1), (metrics.P95_TIME, 1),
    (metrics.COST, 6), (metrics.JUDGE_COST, 6), (metrics.N_STALE, 0),
)  # fmt: skip
"""Figures of a suite, and their decimals."""


def report_to_junit(data: ReportData, _by: object = None) -> Iterator[str]:
    """Write the results as JUnit XML in pieces: a suite for every LLM, a case for every trial."""
    trials: dict[str, list[Result]] = {}
    for result in data.trials:
        trials.setdefault(result.llm_id, []).append(result)
    return write_junit_pieces(
        data.title,
        (_build_suite(row, data, trials[row.group.llm_id]) for row in data.summaries()),
    )


def _build_suite(summary: Summary, data: ReportData, trials: Sequence[Result]) -> JUnitSuite:
    llm_id = summary.group.llm_id
    properties = {"llm_id": llm_id, "pass_mark": f"{data.pass_score:g}"}
    if summary.score is not None:
        estimate = summary.score
        properties["score_interval"] = f"{estimate.low:.4f} to {estimate.high:.4f}"
    for metric, digits in _PROPERTIES:
        value = metric.value(summary)
        if value is not None:
            properties[metric.name] = f"{value:.{digits}f}"
    return JUnitSuite(
        name=data.name(llm_id),
        cases=[_build_case(result, data) for result in trials],
        properties=properties,
        started=data.created,
    )


def _build_case(result: Result, data: ReportData) -> JUnitCase:
    trial = f" (trial {result.trial})" if result.trial > 1 else ""
    return JUnitCase(
        class_name=data.tests[result.test_id].class_id,
        name=f"{result.test_id}{trial}",
        time_ms=result.execution_time_ms or 0.0,
        problem=_find_problem(result, data.pass_score),
        output=result.response,
    )


def _find_problem(result: Result, pass_score: float) -> JUnitProblem | None:
    failure, score = result.failure, result.score
    if failure is not None:
        return JUnitProblem(tag="error", kind=failure.kind.value, message=failure.message)
    if score is None or score >= pass_score:
        return None
    message = f"score {score:.3f} is below {pass_score:g}"
    return JUnitProblem(tag="failure", kind="score", message=message, text=result.details)
