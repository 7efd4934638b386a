"""A score as a coloured badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import html

if TYPE_CHECKING:
    from dash.development.base_component import Component


def score_badge(score: float | None) -> Component:
    """Return a score from 0.0 to 1.0 on its colour; None stands for a failure to run."""
    if score is None:
        return html.Span("failed to run", className="score-badge is-failed")
    return html.Span(f"{score:.2f}", className="score-badge", style={"--score": f"{score:.3f}"})
