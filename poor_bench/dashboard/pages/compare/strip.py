"""The compared models overall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.comparison.result_set import ComparedSubject, SubjectKind
from poor_bench.dashboard.components.badges import (
    latency_colour,
    latency_key,
    llm_mark,
    rerun_link,
    trust_badges,
)
from poor_bench.dashboard.components.blocks import aria
from poor_bench.dashboard.components.sheets import SheetColumn, SheetTable, head_limits
from poor_bench.dashboard.components.tables import quiet
from poor_bench.dashboard.pages.compare.layout import LINKS, CompareUrl
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import write_count
from poor_bench.metrics import Metric
from poor_bench.metrics.trust import TrustNote
from poor_bench.statistics.comparison import PairedDifference
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.summary import Summary

NO_CHOICE = CompareUrl()
_SCORE_LOW, _SCORE_HIGH = head_limits("Score")
_CHANGE_LOW, _CHANGE_HIGH = head_limits("Difference")
_FIGURES = (metrics.THROUGHPUT, metrics.GENERATION_SPEED)
_SHOWN_CHANGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StripLine:
    """What the line of one LLM shows."""

    llm_id: str
    name: str
    number: int
    """Its place among the compared, from 0; the base is 0."""
    summary: Summary | None
    """None where it has no results."""
    against: PairedDifference | None
    """None for the base, while it is computed, and without common tests."""
    letters: str
    changed: tuple[str, ...] = ()
    """What changed since the baseline; empty for another model."""
    notes: Sequence[TrustNote] = ()
    """What lessens the trust in its figures."""


def strip(lines: Sequence[StripLine], url: CompareUrl, *, is_ready: bool) -> Component:
    """Build the table of the compared models.

    Args:
        lines: One for each LLM, the base first.
        url: State of the page, for links to other states.
        is_ready: True once the differences are computed.
    """
    table = define_strip(lines, url, is_ready=is_ready).draw(lines, LINKS, url, kind="sheet strip")
    has_split = any(line.summary is not None and line.summary.parts for line in lines)
    return html.Div([table, latency_key()]) if has_split else table


def define_strip(
    lines: Sequence[StripLine] = (), url: CompareUrl = NO_CHOICE, *, is_ready: bool = True
) -> SheetTable[StripLine]:
    """Define the table; see `strip`."""
    scale = _scale([line.against.difference for line in lines if line.against])
    slowest = max((metrics.MEAN_TIME.value(line.summary) or 0.0 for line in lines), default=0.0)
    return SheetTable(
        name="overall",
        label="Overall",
        kept=[("Subject", lambda line: line.llm_id)],
        columns=[
            SheetColumn(field="model", heading="Model", value=lambda line: line.name,
                        cell=lambda line: _name(line, url)),
            SheetColumn(field="score", heading=metrics.SCORE.label, hint=metrics.SCORE.meaning,
                        value=lambda line: metrics.SCORE.value(line.summary), cell=_score,
                        further=[(_SCORE_LOW, lambda line: _limit(line, "low")),
                                 (_SCORE_HIGH, lambda line: _limit(line, "high")),
                                 _count(metrics.N_TESTS)]),
            SheetColumn(field="status", heading="Status", value=_write_status, cell=_status,
                        is_optional=True,
                        further=[_count(metrics.N_FAILED), _count(metrics.N_STALE)]),
            *_against_columns(scale, is_ready=is_ready),
            SheetColumn(field="format-tax", heading=metrics.FORMAT_TAX.label, is_optional=True,
                        hint=metrics.FORMAT_TAX.meaning, cell=_format_gap,
                        value=lambda line: metrics.FORMAT_TAX.value(line.summary),
                        further=[_count(metrics.STRICT_SCORE)]),
            SheetColumn(field="time", heading=metrics.MEAN_TIME.label, cell=_time_cell(slowest),
                        hint=metrics.MEAN_TIME.meaning,
                        file_heading=metrics.MEAN_TIME.file_heading,
                        value=lambda line: _scale_figure(metrics.MEAN_TIME, line)),
            *map(_figure, _FIGURES),
            _figure(metrics.COST, is_hidden=True),
        ],
    )  # fmt: skip


def _against_columns(scale: float, *, is_ready: bool) -> list[SheetColumn[StripLine]]:
    """Define the columns of what differs from the baseline."""

    def read(name: str) -> Callable[[StripLine], Any]:
        return lambda line: getattr(line.against.difference, name) if line.against else None

    return [
        SheetColumn(field="difference", heading="Difference", value=read("value"),
                    cell=lambda line: _difference(line, scale, is_ready=is_ready),
                    further=[(_CHANGE_LOW, read("low")),
                             (_CHANGE_HIGH, read("high")),
                             ("Common tests", lambda line: _of(line, lambda it: it.n_tests)),
                             ("Corrected p", lambda line: _of(line, lambda it: it.p_adjusted)),
                             ("Significant", lambda line: _of(line, lambda it: it.is_real()))]),
        SheetColumn(field="changed", heading="Changes", is_optional=True,
                    value=lambda line: "; ".join(line.changed) or None,
                    cell=lambda line: _list_changes(line.changed)),
        SheetColumn(field="record", heading="Won, tied, lost", file_heading="Won",
                    value=lambda line: _of(line, lambda it: it.n_better), cell=_record,
                    further=[("Tied", lambda line: _of(line, count_tied)),
                             ("Lost", lambda line: _of(line, lambda it: it.n_worse))]),
        SheetColumn(field="tie-group", heading="Tie group", value=lambda line: line.letters or None,
                    cell=lambda line: html.Span(line.letters or "-", className="tie-letters"),
                    hint="Same letter: not significant"),
    ]  # fmt: skip


def _of(line: StripLine, read: Callable[[PairedDifference], Any]) -> Any:
    """Read a figure of the difference from the baseline; None where there is none."""
    return None if line.against is None else read(line.against)


def count_tied(against: PairedDifference) -> int:
    """Count the common tests with equal scores."""
    return against.n_tests - against.n_better - against.n_worse


def _limit(line: StripLine, name: str) -> float | None:
    score = line.summary.score if line.summary else None
    return None if score is None else getattr(score, name)


def _count(metric: Metric) -> tuple[str, Callable[[StripLine], Any]]:
    """Heading and value of a further figure in files."""
    return metric.file_heading, lambda line: metric.value(line.summary)


def _scale_figure(metric: Metric, line: StripLine) -> float | None:
    value = metric.value(line.summary)
    return None if value is None else value * metric.scale


def _figure(metric: Metric, *, is_hidden: bool = False) -> SheetColumn[StripLine]:
    """Define the column of a metric, with the trials behind it."""

    def draw(line: StripLine) -> Component:
        if line.summary is None or metric.value(line.summary) is None:
            return quiet("n/a")
        n = html.Small(metric.show_n(line.summary), className="quiet")
        return html.Td([html.Div(metric.show(line.summary)), n])

    return SheetColumn(
        field=metric.name.replace("_", "-"), heading=metric.label, hint=metric.meaning, cell=draw,
        value=lambda line: _scale_figure(metric, line), file_heading=metric.file_heading,
        is_optional=metric.is_optional, is_hidden=is_hidden,
    )  # fmt: skip


def _list_changes(changed: Sequence[str]) -> Component | None:
    if not changed:
        return None
    shown = [html.Li(text) for text in changed[:_SHOWN_CHANGES]]
    rest = len(changed) - len(shown)
    if rest:
        shown.append(html.Li(f"and {rest} more", title="; ".join(changed)))
    return html.Ul(shown, className="changed-list")


def _name(line: StripLine, url: CompareUrl) -> Component:
    base: Component = html.Span("baseline", className="base-mark")
    if line.number:
        search = url.change(base=line.llm_id, left="", right="").search
        base = LINKS.link(
            "set as baseline", search, className="make-base", label=f"Set {line.name} as baseline"
        )
    return html.Th(
        html.Div(
            [
                llm_mark(line.number),
                dcc.Link(
                    line.name,
                    href=model_link(ComparedSubject.parse(line.llm_id).llm_id),
                    className="strip-name",
                ),
                base,
            ],
            className="strip-model",
        ),
        scope="row",
    )


def _score(line: StripLine) -> Component:
    score = line.summary.score if line.summary else None
    if score is None:
        return html.Span("not scored", className="quiet")
    pair = [
        html.Span(metrics.score_text(score.value), className="strip-figure"),
        _build_span("interval", score.low, score.high, score.value),
    ]
    return html.Div(
        [html.Div(pair, className="strip-pair"), html.Small(score.basis, className="quiet")],
        title=f"95 % CI {metrics.interval_text(score.low, score.high)}",
    )


def _difference(line: StripLine, scale: float, *, is_ready: bool) -> Component | None:
    if line.against is None:
        if not line.number:
            return None  # the baseline
        text = "no common tests" if is_ready else "computing ..."
        return html.Span(text, className="quiet")
    against, seen = line.against, line.against.difference
    verdict = "not significant"
    if against.is_real():
        verdict = "better" if seen.value > 0 else "worse"
    middle = [0.5 + bound / (2 * scale) for bound in (seen.low, seen.high, seen.value)]
    need = f"; {against.needed.text} needed" if against.needed.text else ""
    return html.Div(
        [
            html.Span(metrics.write_signed(seen.value), className="strip-figure"),
            _build_span(f"difference is-{verdict.replace(' ', '-')}", *middle),
            html.Span(
                [verdict, " ", html.Small(f"n = {against.n_tests:,}", className="quiet")],
                className=f"verdict is-{verdict.replace(' ', '-')}",
            ),
        ],
        className="strip-pair has-verdict",
        title=f"95 % CI {seen.low:+.3f} to {seen.high:+.3f}, "
        f"{write_count(against.n_tests, 'common test')}, corrected p = {against.p_adjusted:.3f}"
        f"{'' if against.is_real() else need}",
    )


def _record(line: StripLine) -> Component | None:
    if line.against is None:
        return None
    counts = _outcomes(line.against)
    return html.Div(
        [
            html.Span(" / ".join(map(str, counts.values())), className="record-text"),
            html.Span(
                [
                    html.Span(className=f"record-part is-{name}", style={"flexGrow": count})
                    for name, count in counts.items()
                ],
                className="record-bar",
                **aria(hidden="true"),
            ),
        ],
        className="record",
        title=", ".join(f"{name} {count}" for name, count in counts.items()),
    )


def _format_gap(line: StripLine) -> Component:
    summary = line.summary
    tax = metrics.FORMAT_TAX.value(summary)
    if summary is None or tax is None:
        return quiet("n/a")
    if tax < 0.0005:
        return html.Span("none", className="quiet")
    strict = f"{metrics.STRICT_SCORE.label.lower()} {metrics.STRICT_SCORE.show(summary)}"
    return html.Td(
        [
            html.Div(f"-{metrics.FORMAT_TAX.show(summary)}", className="is-tax", title=strict),
            html.Small(metrics.FORMAT_TAX.show_n(summary), className="quiet"),
        ]
    )


def _time_cell(slowest: float) -> Callable[[StripLine], Component]:
    return lambda line: _time(line.summary, slowest)


def _time(summary: Summary | None, slowest: float) -> Component:
    if summary is None or summary.time is None:
        return quiet("n/a")
    parts = {metric: metric.value(summary) or 0.0 for metric in metrics.LATENCY}
    if summary.parts is None:
        parts = {metrics.OTHER: summary.time.mean_ms}
    bar = [
        html.Span(
            className=f"time-part {latency_colour(metric)}",
            style={"width": f"{share / slowest:.1%}" if slowest else "0"},
        )
        for metric, share in parts.items()
    ]
    pair = [
        html.Span(metrics.MEAN_TIME.show(summary), className="strip-figure"),
        html.Span(bar, className="time-bar", **aria(hidden="true")),
    ]
    n = html.Small(metrics.MEAN_TIME.show_n(summary), className="quiet")
    title = metrics.latency_text(summary)
    return html.Div([html.Div(pair, className="strip-pair"), n], title=title)


def _lacks(summary: Summary) -> list[str]:
    """List what responses lack."""
    counts = {"truncated": "truncated", "no answer": "no_answer"}
    found = {name: summary.marks.get(mark, 0) for name, mark in counts.items()}
    return [f"{count:,} {name}" for name, count in found.items() if count]


def _write_status(line: StripLine) -> str | None:
    lacks = _lacks(line.summary) if line.summary is not None else []
    return ", ".join([*(note.text for note in line.notes), *lacks]) or None


def _status(line: StripLine) -> Component | None:
    """Show what lessens the trust in a line, and what its responses lack; None for nothing."""
    summary = line.summary
    if summary is None:
        return None
    badges = [html.Span(text, className="count-badge") for text in _lacks(summary)]
    is_model = ComparedSubject.parse(line.llm_id).kind is SubjectKind.MODEL
    trust = trust_badges(line.notes, rerun_link(summary) if is_model else "")
    shown = [*([trust] if trust else []), *badges]
    return html.Div(shown, className="count-badges") if shown else None


def _build_span(kind: str, low: float, high: float, value: float) -> Component:
    """Build a line from `low` to `high` with a point at `value`, all 0.0 to 1.0."""
    style = {"--low": f"{low:.1%}", "--width": f"{high - low:.1%}", "--value": f"{value:.1%}"}
    return html.Span(
        [html.Span(className="span-line"), html.Span(className="span-point")],
        className=f"span-of {kind}",
        style=style,
        **aria(hidden="true"),
    )


def _scale(differences: Sequence[Estimate]) -> float:
    """Find the end of the common axis of all differences."""
    widest = max((max(-seen.low, seen.high) for seen in differences), default=0.0)
    return next((end for end in (0.05, 0.1, 0.2, 0.5) if widest <= end), 1.0)


def _outcomes(against: PairedDifference) -> dict[str, int]:
    """Count the tests that were won, tied and lost against the base."""
    return {"won": against.n_better, "tied": count_tied(against), "lost": against.n_worse}
