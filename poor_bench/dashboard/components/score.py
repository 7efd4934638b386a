"""A score as a coloured badge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import html

if TYPE_CHECKING:
    from dash.development.base_component import Component


def weak_sandbox_badge(level: str) -> Component | None:
    """Return the sandbox level at which code of a response ran; None for an empty one."""
    if not level:
        return None
    badge: Component = dmc.Badge(f"sandbox: {level}", color="orange", variant="light")
    return badge


def score_badge(score: float | None) -> Component:
    """Return a score from 0.0 to 1.0 on its colour; None stands for a failure to run."""
    if score is None:
        return html.Span("failed to run", className="score-badge is-failed")
    return html.Span(f"{score:.2f}", className="score-badge", style={"--score": f"{score:.3f}"})
