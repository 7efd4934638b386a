"""JSON schema of a judge's answer; pure."""

from __future__ import annotations

from typing import Any

from poor_bench.judge.rubric import Rubric

ADVICE = ("strengths", "weaknesses", "failures", "warnings", "recommendations")
"""Lists of texts beside the scores of an agent."""
LARGEST_SCORE = 10
_SCORE = {"type": "integer", "enum": list(range(LARGEST_SCORE + 1))}
_MOST_ITEMS = 3
_MOST_CHARACTERS = 240


def verdict_schema(
    rubric: Rubric,
    n_cases: int,
    nonce: str,
    advice: tuple[str, ...] = ADVICE,
    *,
    is_bounded: bool,
) -> dict[str, Any]:
    """Build the schema of a verdict.

    Args:
        rubric: Its dimensions are the keys of `scores`.
        n_cases: How many cases are judged.
        nonce: What `verdict_id` has to be.
        advice: Which lists of texts go with the scores.
        is_bounded: Whether lists and texts are limited. llama.cpp's grammars, and so Ollama's and
            the embedded LLMs, keep small models from endless replies by it; the strict modes of
            OpenAI and Anthropic refuse such limits.
    """
    text: dict[str, Any] = {"type": "string"}
    items: dict[str, Any] = {}
    cases: dict[str, Any] = {}
    if is_bounded:
        text |= {"maxLength": _MOST_CHARACTERS}
        items |= {"maxItems": _MOST_ITEMS}
        cases |= {"minItems": n_cases, "maxItems": n_cases}
    case = {
        "case": {"type": "integer", "enum": list(range(1, n_cases + 1))},
        "feedback": text,
        "score": _SCORE,
        "passed": {"type": "boolean"},
    }
    return _object(
        {
            "verdict_id": {"type": "string", "enum": [nonce]},
            "test_case_evaluations": {"type": "array", "items": _object(case), **cases},
            "scores": _object(dict.fromkeys(rubric.names, _SCORE)),
            **{name: {"type": "array", "items": text, **items} for name in advice},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
