from __future__ import annotations

import pytest

from poor_bench.dashboard.services.services import Services
from poor_bench.dashboard.services.time_split import time_split
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import services_of


def services_over(files: WorkspaceFiles, *results: Result) -> Services:
    for test_id in dict.fromkeys(result.test_id for result in results):
        files.add_tests(1, test_id=test_id)
    services = services_of(files.write())
    services.files.config().store.add(results, "20260101T000000-a", {})
    return services


def result(test_id: str, **fields: float) -> Result:
    return Result(llm_id="a:b", test_id=test_id, score=1.0, **fields)  # type: ignore[arg-type]


def test_the_time_is_split_into_means(workspace_files: WorkspaceFiles) -> None:
    split = services_over(
        workspace_files,
        result("one", execution_time_ms=100, prefill_ms=20, decode_ms=60, load_ms=900),
        result("two", execution_time_ms=200, prefill_ms=40, decode_ms=100, queue_ms=20),
    ).results.times("a:b")
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
    times = services.results.times("a:b")
    assert times is not None
    assert times.n == 0
    assert services.results.times("nobody") is None


def test_trials_without_server_timings_do_not_dilute_the_parts(
    workspace_files: WorkspaceFiles,
) -> None:
    told = result("told", execution_time_ms=1000, prefill_ms=160, decode_ms=800, load_ms=8000)
    silent = [result(f"silent {n}", execution_time_ms=10_000) for n in range(4)]
    services = services_over(workspace_files, told, *silent)
    split = time_split(services.results.table(), "a:b")
    assert split is not None
    assert (split.n, split.prefill_ms, split.decode_ms, split.other_ms) == (1, 160, 800, 40)
    assert (split.n_timed, split.mean_ms) == (5, 8200)
    assert (split.n_loads, split.load_ms) == (1, 8000)
    latency = services.results.times("a:b")
    assert latency is not None
    assert (latency.n, latency.decode_ms, latency.other_ms) == (1, 800, 40)


def test_where_no_trial_tells_parts_all_of_the_time_is_other(
    workspace_files: WorkspaceFiles,
) -> None:
    services = services_over(workspace_files, result("one", execution_time_ms=100))
    split = time_split(services.results.table(), "a:b")
    assert split is not None
    assert (split.n, split.decode_ms, split.other_ms, split.load_ms) == (0, 0, 100, None)
