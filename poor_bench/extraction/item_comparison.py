"""Single values of answers compared as people mean them."""

from __future__ import annotations

from typing import Any

from poor_bench.extraction.normalise import fold_answer
from poor_bench.extraction.number import number_from_json, parse_number


def item_key(item: Any) -> object:
    """Return what two items share exactly if they mean the same.

    Numbers agree by value, however they are written (`18`, `18.0`, `"18"`); texts but for case,
    white space and punctuation around; true, false and null with themselves only, or as texts.

    Example:
        >>> item_key("18.0") == item_key(18), item_key("Red.") == item_key("red")
        (True, True)
    """
    number = parse_number(item) if isinstance(item, str) else number_from_json(item)
    if number is not None:
        return number
    if isinstance(item, str):
        return fold_answer(item)
    if item is None or isinstance(item, bool):
        return {None: "null", True: "true", False: "false"}[item]
    if isinstance(item, list):
        return tuple(item_key(part) for part in item)
    if isinstance(item, dict):
        return frozenset((fold_answer(key), item_key(value)) for key, value in item.items())
    return str(item)
