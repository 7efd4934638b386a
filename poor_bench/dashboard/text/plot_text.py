"""Text for charts: Plotly takes some of HTML for markup."""

from __future__ import annotations

from html import escape


def plot_text(text: str, limit: int = 60) -> str:
    """Return `text` as a chart shows it literally, cut to `limit` characters.

    Example:
        >>> plot_text("<b>a & b</b>")
        '&lt;b&gt;a &amp; b&lt;/b&gt;'
    """
    line = " ".join(text.split())
    shown = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return escape(shown, quote=False)
