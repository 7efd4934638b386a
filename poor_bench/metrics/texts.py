"""Figures as people read them: one way to write each kind of value."""

from __future__ import annotations

from decimal import Decimal


def score_text(score: float | None) -> str:
    """Write a score of 0.0 to 1.0, or a share of score.

    Example:
        >>> score_text(0.12345), score_text(None)
        ('0.123', '')
    """
    return "" if score is None else f"{score:.3f}"


def signed_text(difference: float) -> str:
    """Write a difference of scores.

    Example:
        >>> signed_text(0.04), signed_text(-0.25)
        ('+0.040', '-0.250')
    """
    return f"{difference:+.3f}"


def interval_text(low: float, high: float) -> str:
    """Write a confidence interval of scores.

    Example:
        >>> interval_text(0.2366, 0.7634)
        '0.24 to 0.76'
    """
    return f"{low:.2f} to {high:.2f}"


def margin_text(margin: float) -> str:
    """Write half the width of a confidence interval of scores.

    Example:
        >>> margin_text(0.0834)
        '±0.083'
    """
    return f"±{margin:.3f}"


def percent_text(share: float | None) -> str:
    """Write a share of 0.0 to 1.0 as a percentage.

    Example:
        >>> percent_text(0.875)
        '87.5 %'
    """
    return "" if share is None else f"{100 * share:.1f} %"


def count_text(number: float | None) -> str:
    """Write a count, or a speed, with thousands apart.

    Example:
        >>> count_text(12345), count_text(0), count_text(None)
        ('12,345', '0', '')
    """
    return "" if number is None else f"{number:,.0f}"


def speed_text(tokens_per_s: float | None) -> str:
    """Write a speed: slow ones with a decimal.

    Example:
        >>> speed_text(1234.4), speed_text(48.3), speed_text(4.25)
        ('1,234', '48', '4.2')
    """
    if tokens_per_s is None:
        return ""
    return f"{tokens_per_s:,.0f}" if tokens_per_s >= 10 else f"{tokens_per_s:.1f}"


def time_text(milliseconds: float | None) -> str:
    """Write a duration with about three digits.

    Example:
        >>> time_text(4.2), time_text(850), time_text(12_345), time_text(154_570)
        ('4.20 ms', '850 ms', '12.3 s', '155 s')
    """
    if milliseconds is None:
        return ""
    if milliseconds == 0:
        return "0 ms"
    value, unit = (milliseconds, "ms") if milliseconds < 999.5 else (milliseconds / 1000, "s")
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def cost_text(usd: float | None) -> str:
    """Write an amount in US dollars: below 10 cents with two significant digits.

    Example:
        >>> cost_text(0.000095), cost_text(0.00123), cost_text(0), cost_text(1234.5)
        ('$0.000095', '$0.0012', '$0', '$1,234.50')
    """
    if usd is None:
        return ""
    if usd == 0:
        return "$0"
    return f"${Decimal(f'{usd:.2g}'):f}" if usd < 0.1 else f"${usd:,.2f}"


def memory_text(n_bytes: float | None) -> str:
    """Write an amount of memory.

    Example:
        >>> memory_text(4_000_000_000)
        '4.0 GB'
    """
    return "" if n_bytes is None else f"{n_bytes / 1e9:.1f} GB"
