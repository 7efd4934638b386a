"""Guess what a user meant to write."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

_ALIKE_RATIO = 0.75
_NEAR_RATIO = 0.6
_TYPO_LENGTH_DIFFERENCE = 2


def nearest_name(written: str, valid: Collection[str]) -> str | None:
    """Return the valid name that is most like `written`, or None where none is.

    Example:
        >>> nearest_name("evaluaton_module", ["evaluation_module", "text"])
        'evaluation_module'
    """
    folded = {name.lower(): name for name in valid}
    near = difflib.get_close_matches(written.lower(), folded, n=1, cutoff=_ALIKE_RATIO)
    return folded[near[0]] if near else None


def misspelt_name(written: str, valid: Collection[str]) -> str | None:
    """Return the valid name that `written` surely is a misspelling of, or None.

    Example:
        >>> misspelt_name("overides", ["default", "overrides"])
        'overrides'
        >>> misspelt_name("bad_default", ["default", "overrides"]) is None
        True
    """
    near = nearest_name(written, valid)
    if near is None or abs(len(near) - len(written)) > _TYPO_LENGTH_DIFFERENCE:
        return None
    return near


def names_hint(written: str, valid: Collection[str], limit: int = 12) -> str:
    """Return a hint that names up to three names like `written`, else valid ones.

    Example:
        >>> names_hint("math_01", ["math_001", "code_001"])
        'nearest: `math_001`'
        >>> names_hint("nope", ["math_001", "code_001"])
        'known: `code_001`, `math_001`'
    """
    near = near_names(written, valid)
    return nearest_hint(near) if near else list_known_names(valid, limit)


def near_names(written: str, valid: Collection[str]) -> list[str]:
    """List up to three valid names like `written`, the most alike first."""
    return difflib.get_close_matches(written, valid, n=3, cutoff=_NEAR_RATIO)


def nearest_hint(names: Iterable[str]) -> str:
    """Make the hint that names the nearest names."""
    return "nearest: " + ", ".join(f"`{name}`" for name in names)


def name_hint(written: str, valid: Collection[str]) -> str:
    """Return a hint that names the nearest valid name, else the valid names, else nothing."""
    near = nearest_name(written, valid)
    if near is not None:
        return f"did you mean `{near}`?"
    return list_known_names(valid)


def list_known_names(valid: Collection[str], limit: int = 12) -> str:
    """Return a hint that lists valid names in order, at most `limit` of them."""
    if not valid:
        return ""
    names = sorted(valid)
    listed = ", ".join(f"`{name}`" for name in names[:limit])
    return f"known: {listed}" + (", ..." if len(names) > limit else "")
