"""What stands in the place of data: nothing there, still loading, something wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dash_mantine_components as dmc
from dash import html

from poor_bench.dashboard.components.attributes import aria
from poor_bench.dashboard.components.icon import icon
from poor_bench.dashboard.components.ticked_text import ticked_text
from poor_bench.errors import ConfigError, PoorBenchError

if TYPE_CHECKING:
    from dash.development.base_component import Component

_SHOWN_PROBLEMS = 20


def empty_state(
    title: str, text: str | Sequence[str | Component], *actions: Component
) -> Component:
    """Return what to show where there is nothing yet: what it means and what to do."""
    return html.Div(
        [
            html.Div(icon("empty"), className="empty-mark"),
            html.H2(title, className="empty-title"),
            html.P(text, className="empty-text"),
            html.Div(actions, className="empty-actions") if actions else None,
        ],
        className="empty-state",
    )


def loading_state(n_lines: int = 4) -> Component:
    """Return grey lines in the shape of what is about to come."""
    lines = [dmc.Skeleton(h=14, w=f"{95 - 12 * (line % 4)}%") for line in range(n_lines)]
    return html.Div(lines, className="loading-state", role="status", **aria(label="Loading"))


def warning_banner(title: str, *texts: str) -> Component:
    """Return what the reader should know before going on, and what to do about it."""
    paragraphs = [html.P(ticked_text(text)) for text in texts]
    return html.Div(
        [icon("warning"), html.Div([html.Strong(title), *paragraphs])],
        className="error-banner",
        role="alert",
    )


def error_banner(error: PoorBenchError) -> Component:
    """Return what is wrong, where, and the way out."""
    problems = error.problems if isinstance(error, ConfigError) else ()
    more = len(problems) - _SHOWN_PROBLEMS
    return html.Div(
        [
            icon("warning"),
            html.Div(
                [
                    html.Strong(ticked_text(str(error))),
                    html.Ul(
                        [
                            html.Li(ticked_text(str(problem)))
                            for problem in problems[:_SHOWN_PROBLEMS]
                        ]
                    )
                    if problems
                    else None,
                    html.P(f"... and {more} more") if more > 0 else None,
                    html.P(ticked_text(error.hint)) if error.hint else None,
                ]
            ),
        ],
        className="error-banner",
        role="alert",
    )
