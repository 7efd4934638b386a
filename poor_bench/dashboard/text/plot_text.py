"""Text for charts: Plotly takes some of HTML for markup."""

from __future__ import annotations

from html import escape


def plot_id(text: str, limit: int) -> str:
    """Return an id as a chart shows it, cut in its middle: ids often differ at their end.

    Example:
        >>> plot_id("foreign_language_sentiment_level1_001", 21)
        'foreign_la…level1_001'
    """
    if len(text) <= limit:
        return plot_text(text, limit)
    half = (limit - 1) // 2
    return plot_text(f"{text[:half]}…{text[-half:]}", limit)


def plot_text(text: str, limit: int = 60) -> str:
    """Return `text` as a chart shows it literally, cut to `limit` characters.

    Example:
        >>> plot_text("<b>a & b</b>")
        '&lt;b&gt;a &amp; b&lt;/b&gt;'
    """
    line = " ".join(text.split())
    shown = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return escape(shown, quote=False)
