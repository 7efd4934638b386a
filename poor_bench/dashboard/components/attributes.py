"""Attributes with a hyphen, which Python does not take as names of arguments."""

from __future__ import annotations

from typing import Any


def aria(**attributes: str) -> dict[str, Any]:
    """Return accessibility attributes for a component.

    Example:
        >>> aria(label="Pages", hidden="true")
        {'aria-label': 'Pages', 'aria-hidden': 'true'}
    """
    return {f"aria-{name}": value for name, value in attributes.items()}


def data(**attributes: str) -> dict[str, Any]:
    """Return data attributes for a component, which scripts and styles look for.

    Example:
        >>> data(seen_store="x")
        {'data-seen-store': 'x'}
    """
    return {f"data-{name.replace('_', '-')}": value for name, value in attributes.items()}
