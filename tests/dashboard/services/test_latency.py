from __future__ import annotations

import pytest

from poor_bench.dashboard.services.services import Services
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of


def services_over(files: WorkspaceFiles, *results: Result) -> Services:
    services = services_of(files.write())
    services.config().store.add(results, "20260101T000000-a", {})
    return services


def result(test_id: str, **fields: float) -> Result:
    return Result(llm_id="a:b", test_id=test_id, score=1.0, **fields)  # type: ignore[arg-type]


def test_the_time_is_split_into_means(workspace_files: WorkspaceFiles) -> None:
    split = services_over(
        workspace_files,
        result("one", execution_time_ms=100, prefill_ms=20, decode_ms=60, load_ms=900),
        result("two", execution_time_ms=200, prefill_ms=40, decode_ms=100, queue_ms=20),
    ).latency("a:b")
    assert split is not None
    assert (split.prefill_ms, split.decode_ms, split.queue_ms) == (30, 80, 10)
    assert split.other_ms == pytest.approx(30)
    assert split.load_ms == 900


def test_trials_that_do_not_tell_are_left_out(workspace_files: WorkspaceFiles) -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, message="")
    services = services_over(
        workspace_files,
        result("one", execution_time_ms=100),
        Result(llm_id="a:b", test_id="two", failure=failure),
    )
    assert services.latency("a:b") is None
    assert services.latency("nobody") is None
