"""Small views of scores, models and issues: badges, marks, and coloured cells with their legend."""

from __future__ import annotations

from collections.abc import Sequence

from dash import dcc, html
from dash.development.base_component import Component

from poor_bench import metrics
from poor_bench.dashboard.components.blocks import aria, colour_key
from poor_bench.dashboard.theme import ink_on_series, series_style
from poor_bench.dashboard.url_state import Redo, run_link
from poor_bench.metrics import Metric
from poor_bench.metrics.trust import TrustNote
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.statistics.summary import Summary


def weak_sandbox_badge(level: str) -> Component | None:
    """Build the sandbox level at which code of a response ran; None for an empty one."""
    if not level:
        return None
    return html.Span(f"sandbox: {level}", className="warning-badge")


def settings_badges(notes: Sequence[str]) -> Component | None:
    """Show the findings of a probe about a model; None if it found nothing."""
    if not notes:
        return None
    badges = [html.Span(note, className="settings-badge") for note in notes]
    return html.Span(badges, className="settings-badges")


def trust_badges(notes: Sequence[TrustNote], rerun: str = "") -> Component | None:
    """Show what lessens the trust in figures; None where nothing does.

    Args:
        notes: From `list_trust_notes` (of a row) or `list_trial_notes` (of a trial).
        rerun: Address of the page Run with these trials, see `rerun_link`; empty for no link.
    """
    if not notes:
        return None
    badges: list[Component] = [
        html.Span(note.text, className=f"trust-badge is-{note.kind.value}", title=note.meaning)
        for note in notes
    ]
    if rerun:
        badges.append(rerun_button(rerun))
    return html.Span(badges, className="trust-badges")


def rerun_button(href: str) -> Component:
    """Link to the page Run with a selection, see `rerun_link`."""
    title = "Nothing starts yet."
    return dcc.Link("Re-run these", href=href, className="trust-rerun", title=title)


def rerun_link(row: Summary) -> str:
    """Write the address of the page Run for what a row lacks; empty if no run can ask its model."""
    group = row.group
    if row.n_pending is None:
        return ""
    # Where no test is pending, a trial that was never asked is not missing.
    is_repeated = row.last_trial > 1
    return run_link(
        llm_ids=[group.llm_id],
        classes=[group.class_id] if group.class_id else [],
        levels=[group.level] if group.level else [],
        trials=row.last_trial,
        redo=Redo.AGAIN if is_repeated and not row.n_pending else Redo.PENDING,
    )


def latency_colour(metric: Metric) -> str:
    """CSS class with the colour of a part of the latency."""
    return f"latency-{metric.label.split()[0].lower()}"


def latency_key() -> Component:
    """Say what the colours of the parts of the latency mean."""
    colours = [(latency_colour(metric), metric.label) for metric in metrics.LATENCY]
    return colour_key("Latency split", colours)


def score_badge(score: float | None, notes: Sequence[TrustNote] = ()) -> Component:
    """Build a score from 0.0 to 1.0 on its colour; where it is None, `notes` say why."""
    if score is None:
        failed = html.Span("failed to run", className="score-badge is-failed")
        return trust_badges(notes) or failed
    return html.Span(f"{score:.2f}", className="score-badge", style={"--score": f"{score:.3f}"})


def failure_box(failure: Failure) -> Component:
    """Say why a trial has no score."""
    is_judge = failure.kind is FailureKind.JUDGE
    kind = failure.kind.value.replace("_", " ")
    return html.Div(
        [
            html.Strong("Judge pending" if is_judge else f"Failed to run: {kind}"),
            html.P(failure.message),
            html.P("Pending, not scored.", className="quiet"),
        ],
        className="failure-box",
    )


def llm_mark(number: int) -> Component:
    """Build the mark of the LLM at a place from 0; it repeats its number for who sees no colour.

    Example:
        >>> llm_mark(0).children
        '1'
    """
    color, _ = series_style(number)
    style = {"--mark-color": color, "--mark-ink": ink_on_series(number)}
    return html.Span(str(number + 1), className="llm-mark", style=style, **aria(hidden="true"))


def describe_score(summary: Summary) -> str:
    """Write a score with its confidence interval and counts, for the tooltip of a cell."""
    failed = f"{metrics.N_FAILED.show(summary)} failed to run"
    if summary.n_unjudged:
        failed += f", {summary.n_unjudged:,} judge pending"
    if summary.score is None:
        return failed
    interval = metrics.SCORE.show_interval(summary)
    parts = [
        f"{metrics.SCORE.label.lower()} {metrics.SCORE.show(summary)} (95 % CI {interval})",
        f"{summary.n_passed} of {summary.n_scored} passed",
        failed,
        metrics.SCORE.show_groups(summary) or metrics.SCORE.show_n(summary),
        f"{metrics.N_STALE.show(summary)} stale" if summary.n_stale else "",
    ]
    return ", ".join(filter(None, parts))


def list_notes(notes: Sequence[TrustNote]) -> list[Component]:
    """Write below a score what lessens the trust in it; nothing where nothing does."""
    if not notes:
        return []
    meaning = " ".join(note.meaning for note in notes)
    names = ", ".join(note.text for note in notes)
    return [html.Small(names, className="heat-notes", title=meaning)]


def heat_legend() -> Component:
    """Explain the colours of cells; every cell also states its score."""
    scale = [
        html.Span(f"{score:.2f}", className="heat-cell", style={"--score": f"{score:.2f}"})
        for score in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return html.P(
        [
            "Score ",
            *scale,
            html.Span("n/a", className="heat-cell is-empty"),
            " no score",
        ],
        className="heat-legend",
    )
