"""The run in the header of every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dash import dcc, html

from poor_bench.dashboard.services.run_state import RunState

if TYPE_CHECKING:
    from dash.development.base_component import Component


def run_status(state: RunState) -> Component | None:
    """Return how far the run is, as a link to its page; nothing while there is none."""
    if not state.is_active:
        return None
    figures = f"{state.n_done:,} / {state.n_items:,}" if state.n_items else "starting"
    return dcc.Link(
        [html.Span(className="pulse"), html.Span(f"{state.phase.value} {figures}")],
        href="/run",
        className="run-pill",
    )
