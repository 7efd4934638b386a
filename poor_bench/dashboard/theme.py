"""Colours and settings that components, tables and charts share."""

from __future__ import annotations

from typing import Any

FONT = (
    "Inter, ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', "
    "Arial, 'Liberation Sans', sans-serif"
)
MONOSPACE = (
    "'JetBrains Mono', ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
)

SERIES = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8E7CC3", "#7F8C8D",
)  # fmt: skip
"""Colours of test classes; told apart with any common colour blindness.

Source:
    Okabe and Ito 2008, "Color Universal Design", without black and yellow, which fail on a dark or
    light ground; a violet and a grey were added.
"""
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
    """Return colour and hatching of the series number `index`, from 0.

    Example:
        >>> series_style(0), series_style(8)
        (('#0072B2', ''), ('#0072B2', '/'))
    """
    return SERIES[index % len(SERIES)], PATTERNS[index // len(SERIES) % len(PATTERNS)]
