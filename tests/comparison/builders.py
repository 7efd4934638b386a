"""Results with everything a comparison wants to know, of which single facts are overridden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poor_bench.comparison.compared_tests import ComparedTest, ComparedTests, ScoreChange, sum_bits
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


def in_columns(tests: Sequence[ComparedTest]) -> ComparedTests:
    """The same tests as a comparison gives them; scores of single trials are left out."""
    columns: dict[str, list[Any]] = {
        name: [getattr(test, name) for test in tests]
        for name in ("before", "after", "is_verified", "same_answers", "repeats_alike")
    }
    columns["outcome"] = [[*ScoreChange].index(test.outcome) for test in tests if test.outcome]
    columns["bits"] = [sum_bits(test.mismatches) for test in tests]
    for place, name in enumerate(("before", "after")):
        columns[f"n_{name}"] = [test.n_trials[place] for test in tests]
        columns[f"squares_{name}"] = [test.squares[place] for test in tests]
    texts = {
        name: np.array([getattr(test, name) for test in tests], dtype=object)
        for name in ("test_id", "class_id", "group")
    }
    return ComparedTests(
        texts | {name: np.array(column) for name, column in columns.items()},
        (np.zeros(0), np.zeros(0)),
    )
