"""Agreement in words; pure."""

from __future__ import annotations

from collections.abc import Iterator

from poor_bench.judge.agreement.agreement import Agreement
from poor_bench.statistics.intervals import Estimate

FEW_ITEMS = 20
"""Below this number of labelled things, agreement figures are little more than a hint."""
_WEAK, _FAIR = 0.667, 0.8
"""Limits of alpha: below the first, Krippendorff advises against conclusions; from the second on,
scores can be relied upon.

Source:
    Krippendorff 2004, "Content Analysis", 2nd edition, section 11.4.
"""


def trust_text(agreement: Agreement) -> str:
    """Rate a judge's agreement with people in one line."""
    if agreement.n == 0:
        return "no labels yet"
    few = f" (only {agreement.n} labelled)" if agreement.n < FEW_ITEMS else ""
    if agreement.alpha is None:
        return f"all scores are equal: agreement is undefined{few}"
    if agreement.alpha < _WEAK:
        return f"not reliable{few}"
    if few:
        return f"agrees with people so far, but on too few labels{few}"
    return "reliable" if agreement.alpha >= _FAIR else "sufficient for tentative conclusions"


def biases_of(agreement: Agreement) -> Iterator[str]:
    """List significant biases."""
    bias, length = agreement.bias, agreement.length_bias
    if bias is not None and not bias.low <= 0 <= bias.high:
        side = "kinder" if bias.value > 0 else "stricter"
        yield f"{side} than people by {abs(bias.value):.2f} points"
    if length is not None and not length.low <= 0 <= length.high:
        kind = "long" if length.value > 0 else "short"
        yield f"prefers {kind} answers more than people do"


def figure_text(figure: float | None) -> str:
    """Format a figure with two decimals, or a dash."""
    return "-" if figure is None else f"{figure:.2f}"


def estimate_text(estimate: Estimate | None) -> str:
    """Format an estimate with its interval, or a dash.

    Example:
        >>> estimate_text(Estimate(value=0.5, low=0.1, high=0.8, n=9))
        '0.50 (0.10 to 0.80)'
    """
    if estimate is None:
        return "-"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
