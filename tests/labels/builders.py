from typing import Any

from poor_bench.labels.label import Label
from poor_bench.labels.ratings import rate_answer
from poor_bench.models.result import Result

WHEN = "2026-11-22T02:00:00.000000+00:00"


def answer(response: str = "blue", score: float = 0.0, **fields: Any) -> Result:
    given = {"llm_id": "a", "test_id": "t", "prompt": "Which colour?", "response": response}
    return Result(**{**given, "score": score, **fields})


def rating(score: float | None = 1.0, result: Result | None = None, **fields: Any) -> Label:
    given = {"who": "Ann", "when": WHEN} | fields
    return rate_answer(result or answer(), score=score, **given)
