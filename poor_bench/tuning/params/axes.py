"""Parameters and values of a sweep; pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

SYSTEM_PROMPT = "base_system_prompt"
"""Not a parameter of the request, but swept like one."""
_RANGE = re.compile(r"^(?P<low>-?\d+(?:\.\d+)?)\.\.(?P<high>-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One parameter: either values to try, or a range to search."""

    name: str
    values: tuple[Any, ...] = ()
    low: int | float | None = None
    high: int | float | None = None

    @property
    def is_range(self) -> bool:
        """True if the axis is a range."""
        return self.low is not None

    @property
    def is_whole(self) -> bool:
        """True for a range of whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


def axis_of(name: str, values: Sequence[Any]) -> Axis:
    """Build an axis from values.

    Args:
        name: The parameter, or `SYSTEM_PROMPT`.
        values: Plain data; a single text such as `0..1` is a range.

    Raises:
        ValueError: If there is no value, one stands twice, or a range is empty.

    Example:
        >>> axis_of("temperature", [0, 0.4]).values
        (0, 0.4)
        >>> axis_of("top_k", ["1..100"]).is_whole
        True
    """
    if not values:
        raise ValueError(f"{name}: give at least one value")
    if len(values) == 1 and isinstance(values[0], str):
        match = _RANGE.fullmatch(values[0])
        if match is not None:
            return _range_axis(name, match["low"], match["high"])
    for position, value in enumerate(values):
        if any(_is_same(value, other) for other in values[:position]):
            raise ValueError(f"{name}: duplicate value {value!r}")
    return Axis(name=name, values=tuple(values))


def grid(axes: Sequence[Axis]) -> Iterable[dict[str, Any]]:
    """Yield every combination of values, the last axis running fastest.

    Raises:
        ValueError: If an axis is a range.
    """
    for axis in axes:
        if axis.is_range:
            raise ValueError(
                f"{axis.name}: a range needs --search optuna; for a grid, list the values"
            )
    for values in itertools.product(*(axis.values for axis in axes)):
        yield dict(zip((axis.name for axis in axes), values, strict=True))


def _range_axis(name: str, low: str, high: str) -> Axis:
    is_whole = "." not in low and "." not in high
    start, end = (int(low), int(high)) if is_whole else (float(low), float(high))
    if not start < end:
        raise ValueError(f"{name}: the range {low}..{high} is empty")
    return Axis(name=name, low=start, high=end)


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
