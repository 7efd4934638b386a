from __future__ import annotations

from pathlib import Path
from typing import Any

from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.results.paths import StorePaths
from poor_bench.results.store import ResultStore


def make_result(test_id: str = "sum_001", llm_id: str = "scripted:a", **fields: Any) -> Result:
    values: dict[str, Any] = {"score": 1.0, "details": "right", "response": "4"} | fields
    if values.get("failure") is not None:
        values["score"] = None
    return Result(llm_id=llm_id, test_id=test_id, **values)


def make_failure(message: str = "refused") -> Failure:
    return Failure(kind=FailureKind.CONNECTION, message=message)


def open_test_store(folder: Path) -> ResultStore:
    return ResultStore(StorePaths(folder / "results.json"))


def scores(store: ResultStore) -> dict[tuple[str, str, int], float | None]:
    return {result.key: result.score for result in store.results()}
