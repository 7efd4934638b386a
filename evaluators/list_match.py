"""Compares a list with the expected one, in order or as a set.

The list may be JSON, bullets, numbered lines or separated by commas. If one item is expected, a
short text counts as a list of one item. Numbers are compared by value. Texts are compared without
case and surrounding punctuation. With `ordered`, the score is the number of correct places divided
by the length of the longer list. With `set`, it is the number of common items divided by the number
of all different items.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.field_comparison import build_item_key
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.list_value import extract_list
from poor_bench.extraction.thinking import without_thinking
from poor_bench.messages import write_count
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_MAX_NAMED = 5
_MAX_SOLE_ITEM = 80


class Parameters(BaseModel):
    """Parameters of `list_match`."""

    model_config = ConfigDict(extra="forbid")

    expected: list[Any] = Field(min_length=1, description="The correct items.")
    compare: Literal["ordered", "set"] = Field(
        default="ordered", description="`ordered` compares items by place, `set` in any order."
    )
    format: Literal["json", "any"] = Field(
        default="any", description="Format that the prompt asks for: a JSON list, or any notation."
    )
    strict: bool = Field(default=False, description="Accept only this format, without other text.")


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score the agreement of the two lists."""
    wanted = Parameters.model_validate(parameters)
    answer = without_thinking(response)
    extracted = extract_list(answer)
    if extracted is None and len(wanted.expected) == 1:
        extracted = _read_sole_item(answer)
    if extracted is None:
        return Verdict(
            0.0, "found no list", found=Found.MISSING, expected=_write_items(wanted.expected)
        )
    broken = extracted.found.wrapping
    if wanted.format == "json" and not broken and not extracted.text.startswith("["):
        broken = "not a JSON list"
    compare = _compare_places if wanted.compare == "ordered" else _compare_sets
    score, details = compare(wanted.expected, extracted.value)
    return apply_format_rule(
        score,
        details,
        broken=broken,
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=_write_items(wanted.expected),
        got=_write_items(extracted.value),
    )


def wants(parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    is_json = Parameters.model_validate(parameters).format == "json"
    return AnswerFormat.JSON_LIST if is_json else AnswerFormat.LIST


def reference(parameters: Mapping[str, Any]) -> str:
    """Write the expected items as JSON."""
    return _write_items(Parameters.model_validate(parameters).expected)


def _read_sole_item(answer: str) -> Extracted[list[Any]] | None:
    """Read a short answer on one line as a list of one item."""
    blocks = find_fenced_blocks(answer)
    body = (blocks[-1].body if blocks else answer).strip()
    if not body or "\n" in body or len(body) > _MAX_SOLE_ITEM:
        return None
    return Extracted([body], Found.FENCED if blocks else Found.BARE, body)


def _compare_places(expected: Sequence[Any], got: Sequence[Any]) -> tuple[float, str]:
    pairs = list(zip(expected, got, strict=False))
    wrong = [
        f"item {place}: expected {ours!r:.60}, got {theirs!r:.60}"
        for place, (ours, theirs) in enumerate(pairs, start=1)
        if build_item_key(ours) != build_item_key(theirs)
    ]
    n_right = len(pairs) - len(wrong)
    length = (
        []
        if len(got) == len(expected)
        else [f"{write_count(len(got), 'item')}, expected {len(expected)}"]
    )
    details = "; ".join([f"{n_right} of {len(expected)} right", *length, *wrong[:_MAX_NAMED]])
    return n_right / max(len(expected), len(got)), details


def _compare_sets(expected: Sequence[Any], got: Sequence[Any]) -> tuple[float, str]:
    ours = {build_item_key(item): item for item in expected}
    theirs = {build_item_key(item): item for item in got}
    missing = [item for key, item in ours.items() if key not in theirs]
    extra = [item for key, item in theirs.items() if key not in ours]
    n_common = len(ours) - len(missing)
    faults = [
        f"{name}: " + ", ".join(f"{item!r:.60}" for item in items[:_MAX_NAMED])
        for name, items in (("missing", missing), ("extra", extra))
        if items
    ]
    details = "; ".join([f"{n_common} of {len(ours)} found", *faults])
    return n_common / (len(ours) + len(extra)), details


def _write_items(items: Sequence[Any]) -> str:
    return json.dumps(items, ensure_ascii=False)
