"""Score of models over their runs, with confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.text.formatting import plot_text
from poor_bench.dashboard.theme import apply_style, series_marker, series_style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import plotly.graph_objects as go

    from poor_bench.dashboard.services.score_trends import RunScore

MOST_LINES = 6
"""Models that one chart tells apart."""


def score_trend_figure(
    trends: Mapping[str, Sequence[RunScore]], name_of: Callable[[str], str]
) -> go.Figure:
    """Draw a line for each model over all runs, evenly spaced.

    Args:
        trends: Model to its scores, oldest run first; at most `MOST_LINES` of them.
        name_of: LLM id to what screens call it.
    """
    import plotly.graph_objects as go

    runs = sorted({(each.started, each.run_id) for scores in trends.values() for each in scores})
    places = {run_id: place for place, (_, run_id) in enumerate(runs, start=1)}
    figure = go.Figure()
    for number, (llm_id, scores) in enumerate(trends.items()):
        _add_model(figure, number, plot_text(name_of(llm_id), 40), scores, places)
    every = -(-len(runs) // 8)
    figure.update_xaxes(
        tickvals=[place + 1 for place in range(0, len(runs), every)],
        ticktext=[_when(runs[place][0])[5:] for place in range(0, len(runs), every)],
        range=[0.5, len(runs) + 0.5],
        showgrid=False,
    )
    figure.update_yaxes(title="score", range=[-0.03, 1.05], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return apply_style(figure, height=300)


def _add_model(
    figure: go.Figure,
    number: int,
    name: str,
    scores: Sequence[RunScore],
    places: Mapping[str, int],
) -> None:
    color, _ = series_style(number)
    aside = (number - (MOST_LINES - 1) / 2) * 0.03
    values = [each.score for each in scores]
    figure.add_scatter(
        x=[places[each.run_id] + aside for each in scores],
        y=[score.value for score in values],
        error_y={
            "type": "data",
            "array": [score.high - score.value for score in values],
            "arrayminus": [score.value - score.low for score in values],
            "thickness": 1,
            "width": 3,
        },
        name=name,
        mode="lines+markers",
        line={"color": color, "width": 2},
        marker=series_marker(number),
        customdata=[
            [_when(each.started), each.score.low, each.score.high, each.n_tests] for each in scores
        ],
        hovertemplate="%{customdata[0]}<br>score %{y:.3f} (95 % CI %{customdata[1]:.2f} to "
        "%{customdata[2]:.2f})<br>tests %{customdata[3]:,}<extra>" + name + "</extra>",
    )


def _when(started: str) -> str:
    return started[:16].replace("T", " ")
