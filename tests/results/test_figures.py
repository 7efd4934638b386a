from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from poor_bench import metrics
from poor_bench.dashboard.services.services import Services
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.results.figures import ClassMeans
from poor_bench.results.query import Outcome, ResultQuery
from poor_bench.statistics.summary import GroupBy, Summary
from poor_bench.statistics.trials import find_newer_failures
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


def summary_of(services: Services) -> Summary:
    [row] = services.results.summaries(GroupBy.LLM, ["a:b"])
    return row


def test_the_time_is_split_into_means(workspace_files: WorkspaceFiles) -> None:
    services = services_over(
        workspace_files,
        result("one", execution_time_ms=100, prefill_ms=20, decode_ms=60, load_ms=900),
        result("two", execution_time_ms=200, prefill_ms=40, decode_ms=100, queue_ms=20),
    )
    values = [metric.value(summary_of(services)) for metric in metrics.LATENCY]
    assert values == [10, 30, 80, pytest.approx(30)]
    assert metrics.LOAD.value(summary_of(services)) == 900


def test_trials_without_server_timings_do_not_dilute_the_parts(
    workspace_files: WorkspaceFiles,
) -> None:
    told = result("told", execution_time_ms=1000, prefill_ms=160, decode_ms=800, load_ms=8000)
    silent = [result(f"silent {n}", execution_time_ms=10_000) for n in range(4)]
    failed = Result(
        llm_id="a:b", test_id="two", failure=Failure(kind=FailureKind.TIMEOUT, message="")
    )
    row = summary_of(services_over(workspace_files, told, *silent, failed))
    assert metrics.latency_text(row) == (
        "mean of 5 trials: 8.20 s; parts, mean of 1 trial: prompt processing 160 ms, "
        "generation 800 ms, other 40.0 ms; model load (not included), mean of 1 trial: 8.00 s"
    )


def test_where_no_trial_reports_parts_there_are_none(workspace_files: WorkspaceFiles) -> None:
    row = summary_of(services_over(workspace_files, result("one", execution_time_ms=100)))
    assert row.parts is None
    assert metrics.latency_text(row) == "mean of 1 trial: 100 ms"


def test_each_failed_trial_is_counted_once(workspace_files: WorkspaceFiles) -> None:
    rng = Random(0)
    late = Failure(kind=FailureKind.TIMEOUT, message="")
    trials = [(f"t{test}", trial) for test in range(9) for trial in (1, 2, 3)]
    scored = [trial for trial in trials if rng.random() < 0.6]
    failed = [trial for trial in trials if rng.random() < 0.6]
    first = [Result(llm_id="a:b", test_id=t, trial=n, score=0.5) for t, n in scored]
    later = [Result(llm_id="a:b", test_id=t, trial=n, failure=late) for t, n in failed]
    for test_id in dict.fromkeys(test_id for test_id, _ in trials):
        workspace_files.add_tests(1, test_id=test_id)
    services = services_of(workspace_files.write())
    services.files.config().store.add(first, "20260101T000000-a", {})
    services.files.config().store.add(later, "20260102T000000-b", {})
    counts = {
        group.has_score: {(trial.test_id, trial.number) for trial in group.trials}
        for group in services.results.failures()
    }
    assert counts == {False: set(failed) - set(scored), True: set(failed) & set(scored)}
    assert find_newer_failures(services.results.table()).sum() == len(counts[True])


def test_times_of_failed_attempts_are_in_no_mean(workspace_files: WorkspaceFiles) -> None:
    failed = Result(
        llm_id="a:b", test_id="two", execution_time_ms=60_000.0,
        failure=Failure(kind=FailureKind.TIMEOUT, message=""),
    )  # fmt: skip
    services = services_over(workspace_files, result("one", execution_time_ms=2000.0), failed)
    means = ClassMeans(services.results.table(), services.files.workspace().tests_by_id)
    assert means.of("a:b", "sums").seconds == 2.0


def test_means_by_class_are_those_of_its_scored_trials(workspace_files: WorkspaceFiles) -> None:
    workspace_files.classes.append(workspace_files.classes[0] | {"id": "others"})
    workspace_files.add_tests(1, test_id="other", class_id="others")
    results = [
        Result(llm_id=llm_id, test_id=test_id, score=1.0, execution_time_ms=seconds * 1000)
        for llm_id, test_id, seconds in [
            ("a:b", "one", 1.0), ("c:d", "two", 9.0), ("a:b", "other", 4.0), ("a:b", "two", 3.0),
        ]
    ]  # fmt: skip
    workspace_files.add_tests(1, test_id="one")
    workspace_files.add_tests(1, test_id="two")
    services = services_of(workspace_files.write())
    services.files.config().store.add(results, "20260101T000000-a", {})
    tests = services.files.workspace().tests_by_id
    means = ClassMeans(services.results.table(), tests)
    of_classes = [means.of("a:b", tests[test_id].class_id).seconds for test_id in ("one", "other")]
    assert of_classes == [2.0, 4.0]
    assert means.of("c:d", tests["other"].class_id).seconds == 9.0
    assert means.of("gone", "sums").seconds is None


def test_a_newer_failure_is_not_a_failed_trial_even_where_its_score_is_filtered_out(
    workspace_files: WorkspaceFiles,
) -> None:
    failure = Failure(kind=FailureKind.TIMEOUT, message="")
    services = services_over(
        workspace_files,
        result("one"),
        result("two"),
        Result(llm_id="a:b", test_id="two", failure=failure),
        Result(llm_id="a:b", test_id="three", failure=failure),
    )
    failed = ResultQuery(llm_id="a:b", outcomes=frozenset({Outcome.FAILED_TO_RUN}))
    [row] = services.trials.summaries(failed, GroupBy.LLM)
    assert (row.n_scored, row.n_failed, row.n_newer_failed) == (0, 1, 1)
    [row] = services.trials.summaries(replace(failed, outcomes=frozenset()), GroupBy.LLM)
    assert (row.n_scored, row.n_failed, row.n_newer_failed) == (2, 1, 1)
