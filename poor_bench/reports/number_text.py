"""Numbers as people read them."""

from __future__ import annotations


def time_text(milliseconds: float | None) -> str:
    """Return a duration with about three digits, or an empty string.

    Example:
        >>> time_text(4.2), time_text(850), time_text(12_345), time_text(154_570)
        ('4.20 ms', '850 ms', '12.3 s', '155 s')
    """
    if milliseconds is None:
        return ""
    value, unit = (milliseconds, "ms") if milliseconds < 1000 else (milliseconds / 1000, "s")
    return f"{value:.{_decimals(value)}f} {unit}"


def cost_text(usd: float | None) -> str:
    """Return an amount in US dollars, or an empty string.

    Example:
        >>> cost_text(0.00123), cost_text(12.5)
        ('$0.0012', '$12.50')
    """
    if usd is None:
        return ""
    return f"${usd:.2f}" if usd >= 1 else f"${usd:.4f}"


def count_text(number: float | None) -> str:
    """Return a count with thousands apart, or an empty string where there is none.

    Example:
        >>> count_text(12345), count_text(0)
        ('12,345', '')
    """
    return f"{number:,.0f}" if number else ""


def memory_text(n_bytes: int | None, gpu_share: float | None) -> str:
    """Return what a model takes and how much of it lies on the GPU, or an empty string.

    Example:
        >>> memory_text(4_000_000_000, 0.75), memory_text(4_000_000_000, None)
        ('4.0 GB, 75 % GPU', '4.0 GB')
    """
    if n_bytes is None:
        return ""
    on_gpu = "" if gpu_share is None else f", {100 * gpu_share:.0f} % GPU"
    return f"{n_bytes / 1e9:.1f} GB{on_gpu}"


def _decimals(value: float) -> int:
    if value >= 100:
        return 0
    return 1 if value >= 10 else 2
