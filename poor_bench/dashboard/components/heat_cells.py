"""Coloured cells of scores: the words behind a cell, and the legend of the colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

from poor_bench import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dash.development.base_component import Component

    from poor_bench.metrics.trust import TrustNote
    from poor_bench.statistics.summary import Summary


def describe_score(summary: Summary) -> str:
    """Write a score with its confidence interval and counts, for the tooltip of a cell."""
    failed = f"{summary.n_failed} failed to run"
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
