"""Compares the whole answer with the expected text.

Case, white space and surrounding punctuation do not count unless `exact` is set. If the answer
contains exactly one fenced block, the content of the block is compared; the strict score is then 0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.found import Found
from poor_bench.extraction.normalise import drop_invisible, fold_answer
from poor_bench.extraction.parameter_types import OneOrMoreTexts
from poor_bench.extraction.thinking import without_thinking
from poor_bench.scoring import Verdict
from poor_bench.scoring.verdict import MAX_SHOWN, AnswerFormat, apply_format_rule


class Parameters(BaseModel):
    """Parameters of `exact_match`."""

    model_config = ConfigDict(extra="forbid")

    expected: OneOrMoreTexts = Field(
        description="The correct answer, or a list of correct answers."
    )
    exact: bool = Field(
        default=False,
        description="Compare case, inner white space and surrounding punctuation, too.",
    )
    strict: bool = Field(default=False, description="Reject a code block around the answer.")


def evaluate(response: str, parameters: Mapping[str, Any]) -> Verdict:
    """Score 1.0 if the answer is one of the expected texts, else 0.0."""
    wanted = Parameters.model_validate(parameters)
    normal = _normalise if wanted.exact else fold_answer
    right = {normal(expected) for expected in wanted.expected}
    answer = without_thinking(response)
    for piece, found in _list_candidates(answer):
        if normal(piece) in right:
            return apply_format_rule(
                1.0,
                "the expected text",
                broken=found.wrapping,
                strict=wanted.strict,
                found=found,
                extracted=piece,
                expected=wanted.expected[0],
                got=normal(piece),
            )
    return Verdict(
        0.0,
        f"expected {wanted.expected[0]!r:.200}, got {answer.strip()!r:.200}",
        found=Found.BARE if answer.strip() else Found.MISSING,
        expected=wanted.expected[0],
        got=answer.strip()[:MAX_SHOWN],
    )


def wants(_parameters: Mapping[str, Any]) -> AnswerFormat:
    """Describe the format that the prompt should ask for."""
    return AnswerFormat.TEXT


def reference(parameters: Mapping[str, Any]) -> str:
    """Give the first right answer."""
    return Parameters.model_validate(parameters).expected[0]


def _normalise(text: str) -> str:
    return drop_invisible(unicodedata.normalize("NFC", text)).strip()


def _list_candidates(answer: str) -> Iterator[tuple[str, Found]]:
    blocks = find_fenced_blocks(answer)
    if not blocks:
        yield answer, Found.BARE
    elif len(blocks) == 1:
        yield blocks[0].body, Found.FENCED
