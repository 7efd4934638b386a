"""Score of every test as a bar, coloured by test class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.text.formatting import plot_id, plot_text
from poor_bench.dashboard.theme import FAILURE, apply_style, series_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from poor_bench.results.query import TestScore

_STUB = 0.006
"""Height of a zero, so that there is something to see and to choose."""


def score_bars_figure(bars: Sequence[TestScore], class_ids: Sequence[str]) -> go.Figure:
    """Return a bar for each test, in the order given.

    Args:
        bars: The tests.
        class_ids: All classes of the workspace: a class has the same colour in every chart.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    shown = list(dict.fromkeys(bar.class_id for bar in bars))
    for class_id in shown:
        index = class_ids.index(class_id) if class_id in class_ids else len(class_ids)
        color, pattern = series_style(index)
        _add_class(
            figure, class_id, [bar for bar in bars if bar.class_id == class_id], color, pattern
        )
    _add_failures(figure, [bar for bar in bars if bar.score is None])
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=[bar.test_id for bar in bars],
        tickmode="array",
        tickvals=[bar.test_id for bar in bars],
        ticktext=[plot_id(bar.test_id, 31) for bar in bars],
        tickangle=-60,
        tickfont={"size": 10},
        showgrid=False,
    )
    figure.update_yaxes(title="score", range=[0, 1.02], tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_layout(bargap=0.25, barmode="overlay", showlegend=True)
    return apply_style(figure, height=400)


def _add_class(
    figure: go.Figure, class_id: str, bars: Sequence[TestScore], color: str, pattern: str
) -> None:
    scored = [bar for bar in bars if bar.score is not None]
    figure.add_bar(
        x=[bar.test_id for bar in scored],
        y=[max(bar.score or 0.0, _STUB) for bar in scored],
        name=plot_text(class_id or "removed tests"),
        marker={"color": color, "pattern": {"shape": pattern}, "line": {"width": 0}},
        customdata=[
            [bar.test_id, plot_text(bar.test_id, 80), bar.score, bar.n_trials] for bar in scored
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>score %{customdata[2]:.3f}"
        "<br>trials %{customdata[3]}<extra></extra>",
    )


def _add_failures(figure: go.Figure, bars: Sequence[TestScore]) -> None:
    if not bars:
        return
    figure.add_scatter(
        x=[bar.test_id for bar in bars],
        y=[0.03 for _ in bars],
        mode="markers",
        name="failed to run",
        marker={"symbol": "x-thin", "size": 8, "line": {"width": 2, "color": FAILURE}},
        customdata=[[bar.test_id, plot_text(bar.test_id, 80)] for bar in bars],
        hovertemplate="<b>%{customdata[1]}</b><br>failed to run<extra></extra>",
    )
