"""Score against what it costs, with the efficient frontier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poor_bench.dashboard.figures.style import styled
from poor_bench.dashboard.text.plot_text import plot_text
from poor_bench.dashboard.theme import SERIES
from poor_bench.statistics.estimate import Estimate

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ON_FRONTIER, _BELOW = SERIES[0], "#8a8f98"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One LLM of the chart."""

    llm_id: str
    name: str
    x: float
    """What is spent: size, seconds, ...; above 0, less is better."""
    score: Estimate


def frontier_of(points: Sequence[Point]) -> list[Point]:
    """Return the points that no other beats in one thing without being worse in the other.

    Returns:
        Cheapest first; each scores higher than all that spend as much or less.
    """
    frontier: list[Point] = []
    for point in sorted(points, key=lambda point: (point.x, -point.score.value)):
        if not frontier or point.score.value > frontier[-1].score.value:
            frontier.append(point)
    return frontier


def frontier_figure(points: Sequence[Point], x_title: str) -> go.Figure:
    """Return the scores over what is spent, on a logarithmic axis.

    Args:
        points: One for each LLM.
        x_title: Name and unit of the horizontal axis.
    """
    import plotly.graph_objects as go

    frontier = frontier_of(points)
    on_frontier = {point.llm_id for point in frontier}
    below = [point for point in points if point.llm_id not in on_frontier]
    figure = go.Figure()
    figure.add_scatter(
        x=[point.x for point in frontier],
        y=[point.score.value for point in frontier],
        mode="lines",
        line={"color": _ON_FRONTIER, "width": 1.5, "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
        showlegend=False,
    )
    _add_points(figure, below, "others", _BELOW, "circle")
    _add_points(figure, frontier, "efficient frontier", _ON_FRONTIER, "diamond")
    figure.update_xaxes(title=x_title, type="log", dtick="D2" if _is_narrow(points) else None)
    figure.update_yaxes(title="score", range=[0, 1.08], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return styled(figure, height=360)


def _add_points(
    figure: go.Figure, points: Sequence[Point], name: str, color: str, symbol: str
) -> None:
    figure.add_scatter(
        x=[point.x for point in points],
        y=[point.score.value for point in points],
        error_y={
            "type": "data",
            "array": [point.score.high - point.score.value for point in points],
            "arrayminus": [point.score.value - point.score.low for point in points],
            "thickness": 1,
            "width": 3,
            "color": color,
        },
        mode="markers+text",
        marker={"color": color, "size": 11, "symbol": symbol},
        text=[plot_text(_short(point.name), 26) for point in points],
        textposition="top center",
        textfont={"size": 11},
        customdata=[
            [point.llm_id, plot_text(point.name, 80), point.score.low, point.score.high]
            for point in points
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>%{x:,.3~g}<br>score %{y:.3f} "
        "(%{customdata[2]:.2f} to %{customdata[3]:.2f})<extra></extra>",
        name=name,
        cliponaxis=False,
    )


def _short(name: str) -> str:
    """Return a name without its provider, for a label beside a point."""
    return name.partition(":")[2] or name


def _is_narrow(points: Sequence[Point]) -> bool:
    values = [point.x for point in points]
    return bool(values) and max(values) / min(values) < 100
