"""Evidence about one LLM on a few tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from poor_bench.gates.check import Evidence, count_untold
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from tests.comparison.builders import make_tests, scored

LLM_A = LLM(id="a", provider="scripted", name="a", label="Ann")
LLM_B = LLM(id="b", provider="scripted", name="b")


def scores(values: Sequence[float], **facts: Any) -> list[Result]:
    return [scored(f"t{number}", value, **facts) for number, value in enumerate(values)]


def evidence(trials: Sequence[Result], n_tests: int | None = None, **fields: Any) -> Evidence:
    ids = [f"t{number}" for number in range(len(trials) if n_tests is None else n_tests)]
    given = {"llms": [LLM_A], "tests": make_tests(*ids), "results": {"a": list(trials)}}
    told = [result for result in trials if result.score is not None and result.test_id in ids]
    given["n_untold"] = count_untold(told, given["tests"])
    return Evidence(**{**given, **fields})
