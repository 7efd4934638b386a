"""Results with everything a comparison wants to know, of which single facts are overridden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.comparison.result_set import ResultSet, RunFacts
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.models.test import Test

KNOWN: Mapping[str, Any] = {
    "prompt": "Solve: 1 + 1",
    "request_fingerprint": "asked",
    "evaluator_fingerprint": "scored",
    "model_digest": "weights",
}


def scored(test_id: str = "t", score: float = 1.0, *, llm_id: str = "a", **facts: Any) -> Result:
    return Result(**{**KNOWN, "llm_id": llm_id, "test_id": test_id, "score": score, **facts})


def failed(test_id: str = "t", *, llm_id: str = "a") -> Result:
    failure = Failure(kind=FailureKind.CONNECTION, message="refused")
    return Result(llm_id=llm_id, test_id=test_id, failure=failure)


def side(*results: Result, runs: Mapping[str, RunFacts] | None = None, **fields: Any) -> ResultSet:
    return ResultSet(**{"name": "side", "results": results, "runs": runs or {}, **fields})


def make_tests(*test_ids: str, class_id: str = "sums") -> dict[str, Test]:
    return {
        test_id: Test(test_id=test_id, class_id=class_id, level=1, text="1") for test_id in test_ids
    }
