"""Figures, parameters and messages as people read them, and text that charts show literally."""

from __future__ import annotations

import json
from html import escape

from poor_bench.errors import PoorBenchError
from poor_bench.messages import harmless
from poor_bench.metrics import cost_text, time_text

MISSING = "n/a"
"""Stands for a figure that cannot be known."""


def seconds_text(seconds: float | None) -> str:
    """Write a time in the unit that fits.

    Example:
        >>> [seconds_text(value) for value in (None, 0.0456, 2.345, 75, 7500)]
        ['-', '46 ms', '2.35 s', '1 min 15 s', '2 h 5 min']
    """
    if seconds is None:
        return "-"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def duration_text(seconds: float) -> str:
    """Write a duration in whole seconds.

    Example:
        >>> [duration_text(value) for value in (0.4, 5.2, 75)]
        ['0 s', '5 s', '1 min 15 s']
    """
    return f"{seconds:.0f} s" if seconds < 59.5 else seconds_text(round(seconds))


def milliseconds_text(milliseconds: float | None) -> str:
    """Write a time in the unit that fits; a dash where it is missing."""
    return time_text(milliseconds) or "-"


def dollars_text(dollars: float | None) -> str:
    """Write an amount of US dollars; n/a where a price is unknown."""
    return cost_text(dollars) or MISSING


def size_text(billions: float | None) -> str:
    """Write the size of a model; empty if it is not known.

    Example:
        >>> [size_text(value) for value in (None, 0.75163, 2.0, 116.8)]
        ['', '0.752 B', '2 B', '117 B']
    """
    return f"{billions:.3g} B" if billions else ""


def setting_text(name: str, value: object) -> str:
    """Write a parameter of an LLM as it is written on the console.

    Example:
        >>> setting_text("think", False), setting_text("stop", ["a"]), setting_text("mode", "x")
        ('think=false', 'stop=["a"]', 'mode=x')
    """
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"{name}={shown}"


def sentences(*parts: str) -> str:
    """Write parts of a message one after the other, each as a sentence.

    Example:
        >>> sentences("the file is gone", "", "Restore it.")
        'The file is gone. Restore it.'
    """
    text = ""
    for part in filter(None, parts):
        between = " " if text.endswith((".", "!", "?")) else ". " if text else ""
        text += between + part[:1].upper() + part[1:]
    return text


def error_text(error: PoorBenchError) -> str:
    """Describe what is wrong, and the way out."""
    return sentences(str(error), error.hint)


def limits_text(what: str, least: float, most: float | None = None) -> str:
    """Describe the numbers that a field takes.

    Example:
        >>> limits_text("trials", 1, 100)
        'trials must be 1 to 100'
        >>> limits_text("the cost limit", 0)
        'the cost limit must be 0 or more'
    """
    return f"{what} must be {range_text(least, most)}"


def range_text(least: float, most: float | None = None) -> str:
    """Write the range of numbers that a field takes; `assets/ranges.js` reads it.

    Example:
        >>> range_text(0, 1), range_text(0)
        ('0 to 1', '0 or more')
    """
    return f"{least:g} {'or more' if most is None else f'to {most:g}'}"


def plot_id(text: str, limit: int) -> str:
    """Write an id as a chart shows it, cut in its middle: ids often differ at their end.

    Example:
        >>> plot_id("foreign_language_sentiment_level1_001", 21)
        'foreign_la…level1_001'
    """
    if len(text) <= limit:
        return plot_text(text, limit)
    half = (limit - 1) // 2
    return plot_text(f"{text[:half]}…{text[-half:]}", limit)


def plot_text(text: str, limit: int = 60) -> str:
    """Write `text` as a chart shows it literally, cut to `limit` characters.

    Example:
        >>> plot_text("<b>a & b</b>")
        '&lt;b&gt;a &amp; b&lt;/b&gt;'
    """
    line = " ".join(harmless(text).split())
    shown = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return escape(shown, quote=False)
