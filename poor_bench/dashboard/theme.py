"""Colours and settings that components, tables and charts share."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

FONT = (
    "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', "
    "Arial, 'Liberation Sans', sans-serif"
)
MONOSPACE = (
    "'JetBrains Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
)

SERIES = ("#0072B2", "#E69F00", "#A0B472", "#B03060", "#56B4E9", "#8A2BE2")
"""Colours of test classes; any two are told apart with any common colour blindness.

Source:
    Okabe and Ito 2008, "Color Universal Design", for both blues and the orange; the others were
    searched for so that no two come near each other in CIELAB as dichromats see them.
"""
ON_SERIES = ("#FFFFFF", "#18181B", "#18181B", "#FFFFFF", "#18181B", "#FFFFFF")
"""Colours of text on them."""
FAILURE = "#D55E00"
"""Colour of what failed to run; it always stands beside a sign or a word."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
"""Points of series in line charts."""
PATTERNS = ("", "/", "x", ".", "-", "\\", "+", "|")
"""Hatching for further classes, once the colours are used up."""

_DARK = (
    "#ececf0", "#b2b6c2", "#8b90a0", "#5d6272", "#363a45", "#262a32", "#1a1d23", "#13151a",
    "#0f1115", "#0c0d10",
)  # fmt: skip
"""Greys of the dark colour scheme, lightest first; `assets/10-tokens.css` uses the same."""

MANTINE_THEME: dict[str, Any] = {
    "fontFamily": FONT,
    "fontFamilyMonospace": MONOSPACE,
    "headings": {"fontFamily": FONT, "fontWeight": "600"},
    "colors": {"dark": _DARK},
    "primaryColor": "blue",
    "primaryShade": {"light": 8, "dark": 8},
    "defaultRadius": "md",
    "cursorType": "pointer",
    "focusRing": "auto",
}


def series_style(index: int) -> tuple[str, str]:
    """Colour and hatching of the series number `index`, from 0.

    Example:
        >>> series_style(0), series_style(6)
        (('#0072B2', ''), ('#0072B2', '/'))
    """
    return SERIES[index % len(SERIES)], PATTERNS[index // len(SERIES) % len(PATTERNS)]


def series_marker(index: int) -> dict[str, Any]:
    """Build the points of the series number `index`, from 0, as Plotly takes them."""
    return {"symbol": SYMBOLS[index % len(SYMBOLS)], "size": 8}


def ink_on_series(index: int) -> str:
    """Colour of text on the colour of the series number `index`, from 0."""
    return ON_SERIES[index % len(ON_SERIES)]


def faint(color: str) -> str:
    """Make a colour through which others are seen.

    Example:
        >>> faint("#0072B2")
        'rgba(0, 114, 178, 0.14)'
    """
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.14)"


GRID_LINE = "rgba(128, 128, 128, 0.22)"
INK = "#3f3f46"


def apply_style(figure: go.Figure, *, height: int) -> go.Figure:
    """Build `figure` in the common look; text and lines follow the colour scheme by CSS.

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
    """Build the settings of `dcc.Graph`: zooming only; `image_buttons` save the picture.

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
