"""What all charts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.theme import FONT

if TYPE_CHECKING:
    import plotly.graph_objects as go

GRID_LINE = "rgba(128, 128, 128, 0.22)"
INK = "#3f3f46"


def styled(figure: go.Figure, *, height: int) -> go.Figure:
    """Return `figure` in the common look; text and lines follow the colour scheme by CSS.

    Args:
        figure: The chart; it is changed.
        height: In pixels.
    """
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        font={"family": FONT, "size": 12, "color": INK},
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        hoverlabel={"font": {"family": FONT, "size": 12}, "align": "left"},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "title": None},
        template="none",
    )
    figure.update_xaxes(gridcolor=GRID_LINE, zeroline=False, automargin=True, linecolor=GRID_LINE)
    figure.update_yaxes(gridcolor=GRID_LINE, zeroline=False, automargin=True, linecolor=GRID_LINE)
    return figure


def graph_config() -> Any:
    """Return the settings of `dcc.Graph`: zooming only; `image_buttons` save the picture.

    Nothing is uploaded: Plotly has a button for that unless it is taken away.
    """
    return {
        "displaylogo": False,
        "displayModeBar": "hover",
        "showSendToCloud": False,
        "plotlyServerURL": "",
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "toImage"],
        "responsive": True,
    }
