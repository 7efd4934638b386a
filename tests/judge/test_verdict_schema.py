from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from poor_bench.judge.prompt import build_verdict_schema
from tests.judge.judging import LISTS, TWO

NONCE = "0123456789abcdef"


def right(**more: Any) -> dict[str, Any]:
    case = {"case": 1, "feedback": "fine", "score": 7, "passed": True}
    return {
        "verdict_id": NONCE,
        "test_case_evaluations": [case],
        "scores": {"tone": 8, "facts": 4},
        **{name: ["text"] for name in LISTS},
    } | more


@pytest.mark.parametrize("is_bounded", [True, False])
def test_a_right_verdict_fits(is_bounded: bool) -> None:
    jsonschema.validate(right(), build_verdict_schema(TWO, 1, NONCE, is_bounded=is_bounded))


@pytest.mark.parametrize(
    "wrong",
    [
        right(verdict_id="another"),
        right(scores={"tone": 11, "facts": 4}),
        right(scores={"tone": 8}),
        right(strengths=["text"] * 9),
        right(test_case_evaluations=[]),
    ],
)
def test_a_wrong_verdict_does_not_fit(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, build_verdict_schema(TWO, 1, NONCE, is_bounded=True))


def test_strict_modes_get_no_limits_that_they_refuse() -> None:
    told = str(build_verdict_schema(TWO, 2, NONCE, is_bounded=False))
    assert not any(word in told for word in ("maxItems", "minItems", "maxLength", "minimum"))
