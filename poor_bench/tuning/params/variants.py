"""Parameters of a sweep, their values, and the variants of a model that they make: pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from poor_bench.models.llm import LLM
from poor_bench.prompts.fingerprint import hash_text

SYSTEM_PROMPT = "base_system_prompt"
"""Not a parameter of the request, but swept like one."""
_RANGE = re.compile(r"^(?P<low>-?\d+(?:\.\d+)?)\.\.(?P<high>-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepAxis:
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


def read_axis(name: str, values: Sequence[Any]) -> SweepAxis:
    """Build an axis from values.

    Args:
        name: The parameter, or `SYSTEM_PROMPT`.
        values: Plain data; a single text such as `0..1` is a range.

    Raises:
        ValueError: If values are missing or duplicate, or a range is empty.

    Example:
        >>> read_axis("temperature", [0, 0.4]).values
        (0, 0.4)
        >>> read_axis("top_k", ["1..100"]).is_whole
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
    return SweepAxis(name=name, values=tuple(values))


def grid(axes: Sequence[SweepAxis]) -> Iterable[dict[str, Any]]:
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


def _range_axis(name: str, low: str, high: str) -> SweepAxis:
    is_whole = "." not in low and "." not in high
    start, end = (int(low), int(high)) if is_whole else (float(low), float(high))
    if not start < end:
        raise ValueError(f"{name}: the range {low}..{high} is empty")
    return SweepAxis(name=name, low=start, high=end)


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


FREE_FORMAT = "text"
"""The `response_format` for no format."""
_TAG = "tuned"
_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A model of a sweep."""

    llm: LLM
    choice: Mapping[str, Any]
    """Differences from the baseline; empty for the baseline."""

    @property
    def id(self) -> str:
        """Under which its results stand."""
        return self.llm.id


def make_variant(base: LLM, choice: Mapping[str, Any]) -> Variant:
    """Apply values to a model.

    Its id is the base's with a suffix that says what differs, such as
    `ollama:gemma3:1b:temperature=0.4,top_p=0.9`. A value of None takes a parameter away.

    Args:
        base: The LLM as it stands in the workspace.
        choice: Parameter, or `SYSTEM_PROMPT`, to value.
    """
    parameters = {**base.parameters, **choice}
    prompt = parameters.pop(SYSTEM_PROMPT, base.base_system_prompt)
    if parameters.get("response_format") == FREE_FORMAT:
        del parameters["response_format"]
    suffix = ",".join(f"{name}={value_text(value)}" for name, value in choice.items())
    return Variant(
        llm=replace(
            base,
            id=f"{base.id}:{suffix}",
            label=f"{base.label or base.id}, {suffix}",
            base_system_prompt=str(prompt or ""),
            parameters={name: value for name, value in parameters.items() if value is not None},
            enabled=True,
            tags=(*(tag for tag in base.tags if tag != _TAG), _TAG),
        ),
        choice=dict(choice),
    )


def variant_name(variant_id: str, base_id: str) -> str:
    """Short name of a variant on screens about one model.

    Example:
        >>> variant_name("ollama:a:think=true,seed=1", "ollama:a"), variant_name("x", "x")
        ('think=true, seed=1', 'current')
    """
    if variant_id == base_id:
        return "current"
    return variant_id.removeprefix(f"{base_id}:").replace(",", ", ")


def is_like(one: LLM, other: LLM) -> bool:
    """True if two entries of a model send the same requests."""
    return one.parameters == other.parameters and one.base_system_prompt == other.base_system_prompt


def value_text(value: Any) -> str:
    """Short text of a value for ids, unique and without spaces.

    Example:
        >>> value_text(0.40), value_text(True), value_text(None), value_text("Be brief.")
        ('0.4', 'true', 'none', 'Be_brief.-213c')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    plain = re.sub(r"[^\w.+-]+", "_", text)
    if plain == text and len(text) <= _LONGEST:
        return text
    digest = hash_text(text, 4)
    return f"{plain[:12].strip('_')}-{digest}"


def make_entry(llm: LLM) -> dict[str, Any]:
    """Convert a model to an entry of llms.json, without defaults."""
    entry: dict[str, Any] = {"provider": llm.provider, "name": llm.name, "id": llm.id}
    bare = LLM(id=llm.id, provider=llm.provider, name=llm.name)
    for field in fields(LLM):
        value = getattr(llm, field.name)
        if field.name not in entry and value != getattr(bare, field.name):
            entry[field.name] = _plain(value)
    return entry


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "__dataclass_fields__"):
        return {name: part for name, part in asdict(value).items() if part is not None}
    return value
