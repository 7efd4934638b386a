"""How the scores of an agent went from run to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from poor_bench.dashboard.figures.style import styled
from poor_bench.dashboard.text.plot_text import plot_text
from poor_bench.dashboard.theme import series_marker, series_style
from poor_bench.judge.history.summary import RunSummary

if TYPE_CHECKING:
    import plotly.graph_objects as go


def judge_history(summaries: Sequence[RunSummary]) -> go.Figure:
    """Return overall score and dimensions over the runs of an agent.

    Args:
        summaries: Oldest first; runs without a judgement leave a gap.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    x = [summary.run.header.started[:19].replace("T", " ") for summary in summaries]
    names = dict.fromkeys(name for summary in summaries for name in summary.panel.scores)
    figure.add_scatter(
        x=x,
        y=[summary.panel.overall_score for summary in summaries],
        name="overall",
        mode="lines+markers",
        line={"color": "#8b8f98", "width": 3},
        hovertemplate="overall %{y:.2f}<extra></extra>",
    )
    for index, name in enumerate(names):
        color, _ = series_style(index)
        figure.add_scatter(
            x=x,
            y=[summary.panel.scores.get(name) for summary in summaries],
            name=plot_text(name.replace("_", " "), 24),
            mode="lines+markers",
            line={"color": color, "width": 1.5, "dash": "dot"},
            marker=series_marker(index),
            hovertemplate="%{y:.2f}<extra></extra>",
        )
    figure.update_xaxes(type="category", showgrid=False, nticks=8)
    figure.update_yaxes(title="score", range=[0, 10.3], tickvals=[0, 2.5, 5, 7.5, 10])
    return styled(figure, height=280)
