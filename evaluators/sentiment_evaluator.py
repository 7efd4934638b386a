"""Compares a list of sentiments with the expected ones, item by item.

Case and punctuation do not count. A list with the wrong number of items scores 0. Some deviations
from a JSON list are accepted, but the strict score is then 0: text around the list, a list in an
object, objects with the key `sentiment`, and lines that each begin or end with a sentiment. If one
sentiment is expected, a short text that names exactly one is accepted, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.label import find_sole_label, is_labelled
from poor_bench.extraction.list_value import extract_list
from poor_bench.extraction.normalise import fold_answer
from poor_bench.extraction.thinking import without_thinking
from poor_bench.messages import write_count
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import AnswerFormat, apply_format_rule

_KEYS = ("sentiment", "label")
_USUAL_SENTIMENTS = frozenset({"positive", "negative", "neutral"})
_MAX_SHOWN = 40
_MAX_SHORT_TEXT = 200


class Parameters(BaseModel):
    """Parameters of `sentiment_evaluator`."""

    model_config = ConfigDict(extra="forbid")

    expected_sentiments: list[Annotated[str, Field(pattern=r"\w")]] = Field(
        min_length=1, description="The correct sentiments, in the order of the texts."
    )
    response_format: Literal["list_of_sentiments"] = Field(
        default="list_of_sentiments",
        description="Format that the prompt asks for: a JSON list of sentiments.",
    )
    strict: bool = Field(default=False, description="Accept only this list, without other text.")


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score the share of expected sentiments in the correct place."""
    wanted = Parameters.model_validate(parameters)
    expected = [fold_answer(sentiment) for sentiment in wanted.expected_sentiments]
    known = _USUAL_SENTIMENTS.union(expected)
    extracted = _extract(without_thinking(response), known, n_expected=len(expected))
    if extracted is None:
        return Verdict(
            0.0, "found no list", found=Found.MISSING, expected=_write_sentiments(expected)
        )
    is_json = extracted.text.startswith("[")
    got = [_read_sentiment(item, known, is_json=is_json) for item in extracted.value]
    score, details = _compare(expected, got)
    return apply_format_rule(
        score,
        details,
        broken=extracted.found.wrapping or _explain_broken_list(extracted.value, is_json=is_json),
        strict=wanted.strict,
        found=extracted.found,
        extracted=extracted.text,
        expected=_write_sentiments(expected),
        got=_write_sentiments(got),
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.JSON_LIST


def reference(parameters: Mapping[str, Any]) -> str:
    """Write a right answer in the right format."""
    return json.dumps(Parameters.model_validate(parameters).expected_sentiments)


def _extract(text: str, known: frozenset[str], *, n_expected: int) -> Extracted[list[Any]] | None:
    extracted = extract_list(
        text,
        _is_list_of_sentiments,
        accepts_item=lambda item: fold_answer(item) in known or is_labelled(item, known),
    )
    if extracted is None and n_expected == 1 and len(text) <= _MAX_SHORT_TEXT:
        sole = find_sole_label(text, known)
        return Extracted([sole], Found.IN_PROSE, text.strip()) if sole else None
    return extracted


def _is_list_of_sentiments(value: list[Any]) -> bool:
    return not value or any(isinstance(item, str | dict) for item in value)


def _read_sentiment(item: Any, known: frozenset[str], *, is_json: bool) -> str:
    """Find the sentiment that an item gives, folded; empty where it gives none."""
    if isinstance(item, dict):
        item = _find_sentiment(item)
    if not isinstance(item, str):
        return ""
    sentiment = fold_answer(item)
    if is_json or sentiment in known:
        return sentiment
    return find_sole_label(item, known) or sentiment


def _find_sentiment(item: dict[str, Any]) -> Any:
    for key in _KEYS:
        if key in item:
            return item[key]
    return next(iter(item.values())) if len(item) == 1 else None


def _explain_broken_list(items: Sequence[Any], *, is_json: bool) -> str:
    if not is_json:
        return "not a JSON list"
    return "" if all(isinstance(item, str) for item in items) else "items are not texts"


def _compare(expected: Sequence[str], got: Sequence[str]) -> tuple[float, str]:
    if len(got) != len(expected):
        return 0.0, f"expected {write_count(len(expected), 'sentiment')}, got {len(got)}"
    wrong = [
        f"item {position}: expected {wanted}, got {item[:_MAX_SHOWN] or 'no sentiment'}"
        for position, (wanted, item) in enumerate(zip(expected, got, strict=True), start=1)
        if wanted != item
    ]
    n_right = len(expected) - len(wrong)
    details = "; ".join([f"{n_right} of {len(expected)} right", *wrong])
    return n_right / len(expected), details


def _write_sentiments(sentiments: Sequence[str]) -> str:
    return ", ".join(sentiments[:_MAX_SHOWN])
