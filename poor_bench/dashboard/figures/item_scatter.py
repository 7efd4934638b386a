"""Tests by difficulty and discrimination, as item response theory sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.dashboard.text.formatting import plot_text
from poor_bench.dashboard.theme import SERIES, apply_style

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import plotly.graph_objects as go

    from poor_bench.statistics.item_response import ItemParameters

_HEIGHT = 360


def item_scatter_figure(items: Sequence[ItemParameters], suspicious: Collection[str]) -> go.Figure:
    """Draw one point per test; `customdata` begins with its id.

    Args:
        items: Fitted tests.
        suspicious: Ids of tests that stand out with another colour and shape.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, is_suspicious, color, symbol in (
        ("tests", False, SERIES[0], "circle"),
        ("suspicious", True, SERIES[3], "diamond"),
    ):
        shown = [item for item in items if (item.test_id in suspicious) is is_suspicious]
        figure.add_scatter(
            x=[item.difficulty for item in shown],
            y=[item.discrimination for item in shown],
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": 9, "opacity": 0.75},
            customdata=[[item.test_id, plot_text(item.test_id, 80)] for item in shown],
            hovertemplate="<b>%{customdata[1]}</b><br>difficulty %{x:.2f}"
            "<br>discrimination %{y:.2f}<extra></extra>",
            name=name,
        )
    figure.update_xaxes(title="difficulty (ability that passes half of the time)")
    figure.update_yaxes(title="discrimination", rangemode="tozero")
    return apply_style(figure, height=_HEIGHT)
