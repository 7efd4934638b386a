"""Scores by dimension of one or two runs, as a radar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poor_bench.dashboard.figures.style import GRID_LINE, styled
from poor_bench.dashboard.text.plot_text import plot_text
from poor_bench.dashboard.theme import faint, series_marker, series_style

if TYPE_CHECKING:
    import plotly.graph_objects as go


def judge_radar(series: Sequence[tuple[str, Mapping[str, float]]]) -> go.Figure:
    """Return the dimensions that all series have, each 0 to 10.

    Args:
        series: Label, and dimension to score, of each run; at least one.
    """
    import plotly.graph_objects as go

    names = [name for name in series[0][1] if all(name in scores for _, scores in series)]
    figure = go.Figure()
    for index, (label, scores) in enumerate(series):
        color, _ = series_style(index)
        figure.add_scatterpolar(
            r=[scores[name] for name in (*names, *names[:1])],
            theta=[_shown(name) for name in (*names, *names[:1])],
            name=plot_text(label),
            fill="toself",
            fillcolor=faint(color),
            line={"color": color, "width": 2},
            marker=series_marker(index),
            hovertemplate="%{theta}: %{r:.2f}<extra></extra>",
        )
    figure.update_polars(
        bgcolor="rgba(0, 0, 0, 0)",
        radialaxis={"range": [0, 10], "tickvals": [2.5, 5, 7.5, 10], "gridcolor": GRID_LINE},
        angularaxis={"gridcolor": GRID_LINE, "linecolor": GRID_LINE, "direction": "clockwise"},
    )
    styled(figure, height=340)
    return figure.update_layout(
        margin={"l": 60, "r": 60, "t": 36, "b": 64 if len(series) > 1 else 28},
        showlegend=len(series) > 1,
        legend={"orientation": "v", "y": -0.12, "yanchor": "top"},
    )


def _shown(name: str) -> str:
    return plot_text(name.replace("_", " "), 24)
