"""Figures of a run, and cases, tags and runs of a suite as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from dash import html
from dash.development.base_component import Component

from poor_bench.dashboard.components.blocks import aria, card, chart, tile, tiles
from poor_bench.dashboard.components.controls import image_buttons
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable, head_limits, in_percent
from poor_bench.dashboard.components.tables import number, quiet
from poor_bench.dashboard.figures.history import suite_trends
from poor_bench.dashboard.pages.suites.layout import LINKS, SuiteUrl
from poor_bench.dashboard.text.formatting import dollars_text, milliseconds_text
from poor_bench.evaluation.models import (
    EvalCaseResult,
    EvalSuiteResult,
    EvalTagResult,
    EvalTrialResult,
)
from poor_bench.evaluation.scoring import RATES
from poor_bench.messages import write_count, write_share
from poor_bench.metrics import interval_text


def suite_tiles(report: EvalSuiteResult) -> Component:
    """Figures of a run."""
    interval = report.intervals.get("pass_rate")
    note = f"95 % CI {interval_text(*interval)}" if interval else ""
    trials = write_count(count_trials(report), "trial")
    shown = [
        tile("Passed", f"{report.passed} of {report.total}", note, is_warning=report.failed > 0),
        tile("Duration", milliseconds_text(report.avg_duration_ms), f"mean, {trials}"),
        tile("p95", milliseconds_text(report.p95_duration_ms), trials),
        tile("Cost", dollars_text(report.avg_estimated_cost_usd), _cost_note(report)),
    ]
    if report.not_run:
        shown.insert(1, tile("Not run", str(report.not_run), "not in rates", is_warning=True))
    for name, rate in RATES.items():
        value = getattr(report, name)
        if value is not None:
            title = name.removesuffix("_rate").replace("_", " ").capitalize()
            n = write_count(sum(map(rate.among, list_ran(report))), "trial")
            shown.append(tile(title, write_share(value), f"{n}: {rate.meaning}"))
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
        tools=image_buttons(_TITLE),
    )


def _describe_runs(reports: Sequence[EvalSuiteResult]) -> str:
    runs = (
        f"{write_when(report)}: {report.passed} of {report.total} passed, "
        f"{milliseconds_text(report.avg_duration_ms)}, "
        f"{dollars_text(report.avg_estimated_cost_usd)}, "
        f"mean of {write_count(count_trials(report), 'trial')}"
        for report in reports
    )
    return f"{_TITLE}. {'; '.join(runs)}"


def _cost_note(report: EvalSuiteResult) -> str:
    """Say over how many trials the mean cost is, or of how many it is unknown."""
    unknown = sum(trial.estimated_cost_usd is None for trial in list_ran(report))
    if unknown:
        return f"unknown for {write_count(unknown, 'trial')}"
    return f"mean, {write_count(count_trials(report), 'trial')}"


def write_when(report: EvalSuiteResult) -> str:
    """When a run began, to the minute."""
    return report.started[:16].replace("T", " ")


R = TypeVar("R")
NO_CHOICE = SuiteUrl()
_SHOWN_RUNS = 50
_RATE = "Pass rate"
_CI_LOW, _CI_HIGH = head_limits(f"{_RATE} (%)")


def define_cases(url: SuiteUrl = NO_CHOICE, run_id: str = "") -> SheetTable[EvalCaseResult]:
    """Table of the cases of a run; each links to its replay."""

    def link(case: EvalCaseResult) -> Component:
        return LINKS.link(case.id, url.change(run=run_id, case=case.id, trial=0).search)

    return SheetTable(
        name="cases",
        label="Cases",
        columns=[
            SheetColumn(field="case", heading="Case", value=lambda case: case.id, cell=link),
            SheetColumn(
                field="verdict", heading="Verdict", value=lambda case: case.status.value,
                cell=lambda case: verdict(case.status.value),
            ),
            SheetColumn(
                field="by", heading="By", value=lambda case: case.mode,
            ),
            SheetColumn(
                field="passed", heading="Passed", value=_count_passed,
                cell=lambda case: number(f"{_count_passed(case)} of {case.trials_run}"),
                further=[("Trials", lambda case: case.trials_run)],
            ),
            _time("duration", "Duration", lambda case: case.avg_duration_ms,
                  lambda case: case.trials_run, hint="Mean"),
            _time("p95", "p95", lambda case: case.p95_duration_ms, lambda case: case.trials_run),
            SheetColumn(
                field="actions", heading="Actions",
                value=lambda case: case.actions if case.trials_run else None,
            ),
            _dollars(lambda case: case.avg_estimated_cost_usd, lambda case: case.trials_run),
            SheetColumn(
                field="reason", heading="Reason", value=_write_reasons,
                cell=lambda case: quiet(next(iter(_list_reasons(case)), ""), "suite-why"),
            ),
            SheetColumn(
                field="tags", heading="Tags", value=lambda case: ", ".join(case.benchmark_tags),
                is_hidden=True,
            ),
        ],
    )  # fmt: skip


def define_runs(url: SuiteUrl = NO_CHOICE) -> SheetTable[EvalSuiteResult]:
    """Table of the runs of a suite; each links to its cases."""

    def link(report: EvalSuiteResult) -> Component:
        search = url.change(suite=report.name, run=report.run_id, trial=0).search
        return LINKS.link(write_when(report) or report.run_id, search, title=report.run_id)

    return SheetTable(
        name="runs",
        label="Runs",
        kept=[("Run ID", lambda each: each.run_id), ("Suite", lambda each: each.name)],
        columns=[
            SheetColumn(
                field="run", heading="Run", value=lambda each: each.started, cell=link,
                file_heading="Started",
            ),
            SheetColumn(
                field="passed", heading="Passed", value=lambda each: each.passed,
                cell=lambda each: number(f"{each.passed} of {each.total}"),
                file_heading="Passed",
                further=[("Cases", lambda each: each.total),
                         ("Not run", lambda each: each.not_run)],
            ),
            SheetColumn(
                field="rate", heading=_RATE, cell=_pass_bar,
                value=lambda each: in_percent(_pass_rate(each)),
                file_heading=f"{_RATE} (%)",
                further=[(_CI_LOW, lambda each: _bound(each, 0)),
                         (_CI_HIGH, lambda each: _bound(each, 1))],
            ),
            _time("duration", "Duration", lambda each: each.avg_duration_ms, count_trials,
                  hint="Mean", is_hidden=True),
            _time("p95", "p95", lambda each: each.p95_duration_ms, count_trials),
            _dollars(lambda each: each.avg_estimated_cost_usd, count_trials),
            _share("playbook", "By playbook", "deterministic_hit_rate"),
            _share("handed-off", "Handed off", "handoff_rate"),
            SheetColumn(field="model", heading="Model", value=lambda each: each.models,
                        cell=lambda each: quiet(each.models)),
            SheetColumn(field="note", heading="Note", value=_write_note,
                        cell=lambda each: quiet(_write_note(each))),
        ],
    )  # fmt: skip


TAGS: SheetTable[EvalTagResult] = SheetTable(
    name="tags",
    label="Tags",
    columns=[
        SheetColumn(field="tag", heading="Tag", value=lambda tag: tag.tag),
        SheetColumn(
            field="passed", heading="Passed", value=lambda tag: tag.passed,
            cell=lambda tag: number(f"{tag.passed} of {tag.total}"),
            file_heading="Passed", further=[("Cases", lambda tag: tag.total)],
        ),
        SheetColumn(
            field="rate", heading=_RATE,
            value=lambda tag: in_percent(tag.pass_rate) if tag.total else None,
            cell=lambda tag: number(_percent(tag.pass_rate if tag.total else None)),
            file_heading=f"{_RATE} (%)",
        ),
        SheetColumn(
            field="interval", heading="95 % CI", value=lambda tag: _limit(tag.pass_interval, 0),
            cell=lambda tag: _write_interval(tag.pass_interval), file_heading=_CI_LOW,
            further=[(_CI_HIGH, lambda tag: _limit(tag.pass_interval, 1))],
        ),
        SheetColumn(
            field="note", heading="Note",
            value=lambda tag: f"{tag.not_run} not run" if tag.not_run else "",
            cell=lambda tag: quiet(f"{tag.not_run} not run" if tag.not_run else ""),
        ),
    ],
)  # fmt: skip


def case_table(report: EvalSuiteResult, url: SuiteUrl, open_case: str) -> Component:
    """Cases of a run."""
    table = define_cases(url, report.run_id)
    return table.draw(
        report.case_results, LINKS, url, style=lambda case: {"is_open": case.id == open_case}
    )


def run_table(reports: Sequence[EvalSuiteResult], url: SuiteUrl, open_run: str) -> Component:
    """Runs of a suite, newest first.

    Args:
        reports: Of one suite, oldest first.
        url: Current state of the page.
        open_run: Id of the run that is shown.
    """
    return define_runs(url).draw(
        list(reversed(reports)), LINKS, url,
        style=lambda report: {"is_open": report.run_id == open_run}, n_shown=_SHOWN_RUNS,
    )  # fmt: skip


def tag_table(report: EvalSuiteResult, url: SuiteUrl) -> Component | None:
    """Results by tag; None where no case has a tag."""
    return TAGS.draw(report.tag_results, LINKS, url) if report.tag_results else None


def _time(
    field: str,
    heading: str,
    read: Callable[[R], float | None],
    count: Callable[[R], int],
    *,
    hint: str = "",
    is_hidden: bool = False,
) -> SheetColumn[R]:
    """Column of a time, with the number of trials behind it."""
    return SheetColumn(
        field=field,
        heading=heading,
        value=read,
        cell=lambda line: _mean(milliseconds_text(read(line)), read(line), count(line)),
        hint=hint,
        file_heading=f"{heading} (ms)",
        is_hidden=is_hidden,
    )


def _dollars(read: Callable[[R], float | None], count: Callable[[R], int]) -> SheetColumn[R]:
    return SheetColumn(
        field="cost",
        heading="Cost",
        value=read,
        cell=lambda line: _mean(dollars_text(read(line)), read(line), count(line)),
        hint="Mean",
        file_heading="Cost (US$)",
    )


def _share(field: str, heading: str, name: str) -> SheetColumn[EvalSuiteResult]:
    rate = RATES[name]

    def draw(report: EvalSuiteResult) -> Component:
        value = getattr(report, name)
        return _mean(_percent(value), value, sum(map(rate.among, list_ran(report))))

    return SheetColumn(
        field=field, heading=heading, cell=draw,
        value=lambda report: in_percent(getattr(report, name)),
        hint=rate.meaning, file_heading=f"{heading} (%)",
    )  # fmt: skip


def _mean(text: str, value: float | None, n: int) -> Component:
    return number(text, n=None if value is None else n)


def _count_passed(case: EvalCaseResult) -> int:
    return sum(trial.passed for trial in case.trial_results)


def _list_reasons(case: EvalCaseResult) -> tuple[str, ...]:
    return (*case.reasons, *case.read_errors)


def _write_reasons(case: EvalCaseResult) -> str:
    return "; ".join(_list_reasons(case))


def _write_note(report: EvalSuiteResult) -> str:
    words = [f"{report.not_run} not run"] if report.not_run else []
    return ", ".join([*words, "stopped early"] if report.cancelled else words)


def _pass_rate(report: EvalSuiteResult) -> float | None:
    return report.pass_rate if report.total else None


def _bound(report: EvalSuiteResult, place: int) -> float | None:
    return _limit(report.intervals.get("pass_rate"), place)


def _limit(interval: tuple[float, float] | None, place: int) -> float | None:
    """Read a limit of a confidence interval for files, in percent."""
    return None if interval is None else in_percent(interval[place])


def _write_interval(interval: tuple[float, float] | None) -> str:
    return interval_text(*interval) if interval else "n/a"


def _pass_bar(report: EvalSuiteResult) -> Component:
    share = _percent(_pass_rate(report))
    track = html.Span(
        html.Span(className="share-fill is-good", style={"--share": share}),
        className="share-track",
        **aria(hidden="true"),
    )
    return html.Span([track, html.Span(share, className="share-value")], className="share")


def verdict(status: str) -> Component:
    """A verdict as a small label, readable without its colour."""
    return html.Span(status.replace("_", " "), className=f"suite-verdict is-{status}")


def _percent(share: float | None) -> str:
    return "n/a" if share is None else write_share(share)
