"""Figures, cases, tags, runs and trends of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench.dashboard.components.blocks import aria, card, chart, tile, tiles
from poor_bench.dashboard.components.controls import image_buttons
from poor_bench.dashboard.components.tables import number, quiet, row, sheet
from poor_bench.dashboard.figures.history import suite_trends
from poor_bench.dashboard.pages.suites.layout import LINKS, SuiteUrl
from poor_bench.dashboard.text.formatting import dollars_text, milliseconds_text
from poor_bench.evaluation.scoring import RATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dash.development.base_component import Component

    from poor_bench.evaluation.models import EvalCaseResult, EvalSuiteResult, EvalTagResult


_SHOWN_RUNS = 50
_CASE_HEADS = (
    "Case",
    "Verdict",
    "By",
    "Trials passed",
    "Duration",
    "p95",
    "Actions",
    "Cost",
    "Reason",
)
_RUN_HEADS = (
    "Run",
    "Passed",
    "Pass rate",
    "p95",
    "Cost",
    "By playbook",
    "Handed off",
    "Model",
    "Note",
)
_TAG_HEADS = ("Tag", "Passed", "Pass rate", "95 % CI", "Note")


def suite_tiles(report: EvalSuiteResult) -> Component:
    """Figures of a run."""
    interval = report.intervals.get("pass_rate")
    note = f"95 % CI {interval[0]:.2f} to {interval[1]:.2f}" if interval else ""
    shown = [
        tile("Passed", f"{report.passed} of {report.total}", note, is_warning=report.failed > 0),
        tile("Duration per trial", milliseconds_text(report.avg_duration_ms), "mean"),
        tile("p95 duration", milliseconds_text(report.p95_duration_ms)),
        tile("Cost per trial", _cost(report.avg_estimated_cost_usd), "mean"),
    ]
    if report.not_run:
        shown.insert(1, tile("Not run", str(report.not_run), "not in rates", is_warning=True))
    for name, rate in RATES.items():
        value = getattr(report, name)
        if value is not None:
            title = name.removesuffix("_rate").replace("_", " ").capitalize()
            shown.append(tile(title, f"{value:.0%}", rate.meaning))
    return tiles(*shown)


def case_table(report: EvalSuiteResult, url: SuiteUrl, open_case: str) -> Component:
    """Cases of a run; each links to its replay."""
    rows = [
        _case_row(case, report, url, is_open=case.id == open_case) for case in report.case_results
    ]
    return sheet(_CASE_HEADS, rows)


def run_table(reports: Sequence[EvalSuiteResult], url: SuiteUrl, open_run: str) -> Component:
    """Runs of a suite, newest first.

    Args:
        reports: Of one suite, oldest first.
        url: Current state of the page.
        open_run: Id of the run that is shown.
    """
    rows = [
        _run_row(report, url, is_open=report.run_id == open_run)
        for report in reversed(reports[-_SHOWN_RUNS:])
    ]
    return sheet(_RUN_HEADS, rows)


def tag_card(report: EvalSuiteResult) -> Component | None:
    """Results by tag; None where no case has a tag."""
    if not report.tag_results:
        return None
    table = sheet(_TAG_HEADS, [_tag_row(tag) for tag in report.tag_results])
    return card("Tags", table, note="A case with several tags counts in each.")


def _tag_row(tag: EvalTagResult) -> Component:
    interval = tag.pass_interval
    return row(
        tag.tag,
        number(f"{tag.passed} of {tag.total}"),
        number(_percent(tag.pass_rate if tag.total else None)),
        f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else "-",
        quiet(f"{tag.not_run} not run" if tag.not_run else ""),
    )


def _case_row(
    case: EvalCaseResult, report: EvalSuiteResult, url: SuiteUrl, *, is_open: bool
) -> Component:
    search = url.change(run=report.run_id, case=case.id, trial=0).search
    n_passed = sum(trial.passed for trial in case.trial_results)
    reasons = (*case.reasons, *case.read_errors)
    return row(
        LINKS.link(case.id, search),
        verdict(case.status.value),
        case.mode or "",
        number(f"{n_passed} of {case.trials_run}"),
        number(milliseconds_text(case.avg_duration_ms)),
        number(milliseconds_text(case.p95_duration_ms)),
        number(str(case.actions) if case.trials_run else "-"),
        number(_cost(case.avg_estimated_cost_usd) if case.trials_run else "-"),
        quiet(reasons[0] if reasons else "", "suite-why"),
        is_open=is_open,
    )


def _run_row(report: EvalSuiteResult, url: SuiteUrl, *, is_open: bool) -> Component:
    search = url.change(suite=report.name, run=report.run_id, trial=0).search
    when = report.started[:16].replace("T", " ")
    words = [f"{report.not_run} not run"] if report.not_run else []
    words += ["stopped or running"] if report.cancelled else []
    return row(
        LINKS.link(when or report.run_id, search, title=report.run_id),
        number(f"{report.passed} of {report.total}"),
        _pass_bar(report),
        number(milliseconds_text(report.p95_duration_ms)),
        number(_cost(report.avg_estimated_cost_usd)),
        number(_percent(report.deterministic_hit_rate)),
        number(_percent(report.handoff_rate)),
        quiet(report.models),
        quiet(", ".join(words)),
        is_open=is_open,
    )


def _pass_bar(report: EvalSuiteResult) -> Component:
    share = _percent(report.pass_rate if report.total else None)
    track = html.Span(
        html.Span(className="share-fill is-good", style={"--share": share}),
        className="share-track",
        **aria(hidden="true"),
    )
    return html.Span([track, html.Span(share, className="share-value")], className="share")


def verdict(status: str) -> Component:
    """A verdict as a small label, readable without its colour."""
    return html.Span(status.replace("_", " "), className=f"suite-verdict is-{status}")


def _cost(dollars: float | None) -> str:
    return "n/a" if dollars is None else dollars_text(dollars)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


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
        f"{report.started[:16].replace('T', ' ')}: {report.passed} of {report.total} passed, "
        f"{milliseconds_text(report.avg_duration_ms)}, "
        f"{dollars_text(report.avg_estimated_cost_usd)}"
        for report in reports
    )
    return f"{_TITLE}. {'; '.join(runs)}"
