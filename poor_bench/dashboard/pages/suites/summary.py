"""Figures of a run of a suite, and the trends of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.components.blocks import card, chart, tile, tiles
from poor_bench.dashboard.components.controls import image_buttons
from poor_bench.dashboard.figures.history import suite_trends
from poor_bench.dashboard.text.formatting import dollars_text, milliseconds_text
from poor_bench.evaluation.models import EvalSuiteResult, EvalTrialResult
from poor_bench.evaluation.scoring import RATES
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dash.development.base_component import Component


def suite_tiles(report: EvalSuiteResult) -> Component:
    """Figures of a run."""
    interval = report.intervals.get("pass_rate")
    note = f"95 % CI {interval[0]:.2f} to {interval[1]:.2f}" if interval else ""
    trials = write_count(count_trials(report), "trial")
    shown = [
        tile("Passed", f"{report.passed} of {report.total}", note, is_warning=report.failed > 0),
        tile("Duration per trial", milliseconds_text(report.avg_duration_ms), f"mean, {trials}"),
        tile("p95 duration", milliseconds_text(report.p95_duration_ms), trials),
        tile("Cost per trial", cost_text(report.avg_estimated_cost_usd), f"mean, {trials}"),
    ]
    if report.not_run:
        shown.insert(1, tile("Not run", str(report.not_run), "not in rates", is_warning=True))
    for name, rate in RATES.items():
        value = getattr(report, name)
        if value is not None:
            title = name.removesuffix("_rate").replace("_", " ").capitalize()
            n = write_count(sum(map(rate.among, list_ran(report))), "trial")
            shown.append(tile(title, f"{value:.0%}", f"{n}: {rate.meaning}"))
    return tiles(*shown)


def list_ran(report: EvalSuiteResult) -> list[EvalTrialResult]:
    """Trials of a run that rates and means are over."""
    trials = (trial for case in report.case_results for trial in case.trial_results)
    return [trial for trial in trials if trial.failure is None]


def count_trials(report: EvalSuiteResult) -> int:
    """Number of trials that the means of a run are over."""
    return sum(case.trials_run for case in report.case_results)


_TITLE = "Trends"
_MOST_RUNS = 50


def trend_card(reports: Sequence[EvalSuiteResult]) -> Component | None:
    """Chart of a suite; None where fewer than two runs have a verdict.

    Args:
        reports: Of one suite, oldest first.
    """
    shown = [report for report in reports if report.total][-_MOST_RUNS:]
    if len(shown) < 2:
        return None
    return card(
        _TITLE,
        chart(suite_trends(shown), _describe_runs(shown), class_name="suite-trends"),
        note="All runs of this suite by time, whatever their cases and models.",
        tools=image_buttons(_TITLE),
    )


def _describe_runs(reports: Sequence[EvalSuiteResult]) -> str:
    runs = (
        f"{write_when(report)}: {report.passed} of {report.total} passed, "
        f"{milliseconds_text(report.avg_duration_ms)}, {cost_text(report.avg_estimated_cost_usd)}, "
        f"mean of {write_count(count_trials(report), 'trial')}"
        for report in reports
    )
    return f"{_TITLE}. {'; '.join(runs)}"


def cost_text(dollars: float | None) -> str:
    """Dollars; n/a where a price is unknown."""
    return "n/a" if dollars is None else dollars_text(dollars)


def write_when(report: EvalSuiteResult) -> str:
    """When a run began, to the minute."""
    return report.started[:16].replace("T", " ")
