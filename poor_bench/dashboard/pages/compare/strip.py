"""The compared models overall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dash import dcc, html

from poor_bench import metrics
from poor_bench.comparison.subject import Subject, SubjectKind
from poor_bench.dashboard.components.badges import (
    latency_colour,
    latency_key,
    llm_mark,
    rerun_link,
    trust_badges,
)
from poor_bench.dashboard.components.blocks import aria
from poor_bench.dashboard.components.tables import row, sheet
from poor_bench.dashboard.pages.compare.layout import LINKS, CompareUrl
from poor_bench.dashboard.url_state import model_link
from poor_bench.messages import write_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dash.development.base_component import Component

    from poor_bench.metrics.trust import TrustNote
    from poor_bench.statistics.comparison import PairedDifference
    from poor_bench.statistics.intervals import Estimate
    from poor_bench.statistics.summary import Summary


_FIGURES = (
    metrics.FORMAT_TAX, metrics.MEAN_TIME, metrics.THROUGHPUT, metrics.GENERATION_SPEED,
)  # fmt: skip
_HEADINGS = (
    ("Model", ""),
    (metrics.SCORE.label, metrics.SCORE.meaning),
    ("Difference", "Mean difference from the baseline on common tests, with its 95 % CI"),
    ("Changed", "What else differs from the baseline of the same model"),
    ("Won, tied, lost", "Tests scored higher, equal and lower than the baseline"),
    ("Tie group", "Models that share a letter do not differ significantly"),
    *((metric.label, metric.meaning) for metric in _FIGURES),
    ("Status", "Missing, stale, pending, failed, truncated and empty results"),
)
_SHOWN_CHANGES = 3
_OPTIONAL = (*(metric.label for metric in _FIGURES if metric.is_optional), "Changed", "Status")
"""Columns that are hidden if no model has a value."""


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
    scale = _scale([line.against.difference for line in lines if line.against])
    slowest = max((metrics.MEAN_TIME.value(line.summary) or 0.0 for line in lines), default=0.0)
    cells = [_cells(line, scale, slowest, is_ready=is_ready) for line in lines]
    shown = [
        (text, title)
        for text, title in _HEADINGS
        if text not in _OPTIONAL or any(each[text] is not None for each in cells)
    ]
    rows = [
        row(_name(line, url), *(_or_dash(each[text]) for text, _ in shown[1:]))
        for line, each in zip(lines, cells, strict=True)
    ]
    table = sheet(shown, rows, label="Compared models", kind="sheet strip")
    has_split = any(line.summary is not None and line.summary.parts for line in lines)
    return html.Div([table, latency_key()]) if has_split else table


def _cells(
    line: StripLine, scale: float, slowest: float, *, is_ready: bool
) -> dict[str, Component | str | None]:
    """Return the cells of a line by the heading of their column; None stands for nothing to say."""
    summary = line.summary
    difference, record = _against(line, scale, is_ready=is_ready)
    return {
        metrics.SCORE.label: _score(summary.score if summary else None),
        "Difference": difference,
        "Changed": _changed(line.changed),
        "Won, tied, lost": record,
        "Tie group": html.Span(line.letters or "-", className="tie-letters"),
        **{metric.label: metric.show(summary) or None for metric in _FIGURES},
        metrics.FORMAT_TAX.label: _format_gap(summary),
        metrics.MEAN_TIME.label: _time(summary, slowest),
        "Status": _status(line),
    }


def _changed(changed: Sequence[str]) -> Component | None:
    if not changed:
        return None
    shown = [html.Li(text) for text in changed[:_SHOWN_CHANGES]]
    rest = len(changed) - len(shown)
    if rest:
        shown.append(html.Li(f"and {rest} more", title="; ".join(changed)))
    return html.Ul(shown, className="changed-list")


def _or_dash(cell: Component | str | None) -> Component | str:
    return html.Span("n/a", className="quiet") if cell is None else cell


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
                    href=model_link(Subject.parse(line.llm_id).llm_id),
                    className="strip-name",
                ),
                base,
            ],
            className="strip-model",
        ),
        scope="row",
    )


def _score(score: Estimate | None) -> Component:
    if score is None:
        return html.Span("not scored", className="quiet")
    pair = [
        html.Span(metrics.score_text(score.value), className="strip-figure"),
        _build_span("interval", score.low, score.high, score.value),
    ]
    return html.Div(
        [html.Div(pair, className="strip-pair"), html.Small(score.basis, className="quiet")],
        title=f"95 % CI {score.low:.3f} to {score.high:.3f}",
    )


def _against(line: StripLine, scale: float, *, is_ready: bool) -> tuple[Component, Component]:
    if line.against is None:
        text = "" if not line.number else "no common tests" if is_ready else "computing ..."
        return html.Span(text, className="quiet"), html.Span("")
    against, seen = line.against, line.against.difference
    verdict = "not significant"
    if against.is_real():
        verdict = "better" if seen.value > 0 else "worse"
    middle = [0.5 + bound / (2 * scale) for bound in (seen.low, seen.high, seen.value)]
    need = f"; {against.needed.text} needed" if against.needed.text else ""
    difference = html.Div(
        [
            html.Span(metrics.signed_text(seen.value), className="strip-figure"),
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
    return difference, _record(against)


def _record(against: PairedDifference) -> Component:
    counts = _outcomes(against)
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


def _format_gap(summary: Summary | None) -> Component | None:
    tax = metrics.FORMAT_TAX.value(summary)
    if tax is None:
        return None
    if tax < 0.0005:
        return html.Span(
            "no loss", className="quiet", title="Every correct answer has the required format"
        )
    strict = f"{metrics.STRICT_SCORE.label.lower()} {metrics.STRICT_SCORE.show(summary)}"
    return html.Span(f"-{metrics.FORMAT_TAX.show(summary)}", className="is-tax", title=strict)


def _time(summary: Summary | None, slowest: float) -> Component | None:
    if summary is None or summary.time is None:
        return None
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
    return html.Div(
        [
            html.Span(metrics.MEAN_TIME.show(summary), className="strip-figure"),
            html.Span(bar, className="time-bar", **aria(hidden="true")),
        ],
        className="strip-pair",
        title=metrics.latency_text(summary),
    )


def _status(line: StripLine) -> Component | None:
    """Show what lessens the trust in a line, and what its responses lack; None for nothing."""
    summary = line.summary
    if summary is None:
        return None
    counts: Mapping[str, int] = {
        "truncated": summary.marks.get("truncated", 0),
        "no answer": summary.marks.get("no_answer", 0),
    }
    badges = [
        html.Span(f"{count:,} {name}", className="count-badge")
        for name, count in counts.items()
        if count
    ]
    is_model = Subject.parse(line.llm_id).kind is SubjectKind.MODEL
    trust = trust_badges(line.notes, rerun_link(summary) if is_model else "")
    shown = [*([trust] if trust else []), *badges]
    return html.Div(shown, className="count-badges") if shown else None


def _build_span(kind: str, low: float, high: float, value: float) -> Component:
    """Return a line from `low` to `high` with a point at `value`, all 0.0 to 1.0."""
    style = {"--low": f"{low:.1%}", "--width": f"{high - low:.1%}", "--value": f"{value:.1%}"}
    return html.Span(
        [html.Span(className="span-line"), html.Span(className="span-point")],
        className=f"span-of {kind}",
        style=style,
        **aria(hidden="true"),
    )


def _scale(differences: Sequence[Estimate]) -> float:
    """Return the end of the common axis of all differences."""
    widest = max((max(-seen.low, seen.high) for seen in differences), default=0.0)
    return next((end for end in (0.05, 0.1, 0.2, 0.5) if widest <= end), 1.0)


_FIELDS = (
    "llm_id", "score", "low", "high", "strict_score", "difference", "difference_low",
    "difference_high", "won", "tied", "lost", "p_adjusted", "is_real", "tie_group",
    "execution_time_ms", "tokens_per_s", "generation_tokens_per_s", "failed", "stale",
)  # fmt: skip
STRIP_COLUMNS = tuple((name, name) for name in _FIELDS)


def strip_rows(lines: Sequence[StripLine]) -> list[dict[str, Any]]:
    """Return one row per LLM; what is not known is missing."""
    return [_strip_row(line) for line in lines]


def _strip_row(line: StripLine) -> dict[str, Any]:
    row: dict[str, Any] = {"llm_id": line.llm_id, "tie_group": line.letters}
    summary, against = line.summary, line.against
    if summary is not None and summary.score is not None:
        score = summary.score
        row |= {"score": score.value, "low": score.low, "high": score.high}
        row |= {"strict_score": summary.strict_score, "tokens_per_s": summary.tokens_per_s}
        row["generation_tokens_per_s"] = summary.generation_tokens_per_s
    if summary is not None:
        row["failed"] = summary.n_failed
        row["stale"] = summary.n_stale
    if against is not None:
        seen = against.difference
        row |= {"difference": seen.value, "difference_low": seen.low, "difference_high": seen.high}
        row |= {**_outcomes(against), "p_adjusted": against.p_adjusted}
        row["is_real"] = against.is_real()
    if line.summary is not None:
        row["execution_time_ms"] = metrics.MEAN_TIME.value(line.summary)
    return row


def _outcomes(against: PairedDifference) -> dict[str, int]:
    """Count the tests that were won, tied and lost against the base."""
    n_tied = against.n_tests - against.n_better - against.n_worse
    return {"won": against.n_better, "tied": n_tied, "lost": against.n_worse}
