from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.runner.selection import Selection
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, write_results

PRICES = {"input": 10.0, "output": 100.0}


def test_time_and_cost_come_from_stored_results(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("paid", "4", prices=PRICES, concurrency=1)
    folder = workspace_files.write()
    row = scored("sum_001", 1.0, execution_time_ms=2000, prompt_tokens=1000, completion_tokens=100)
    write_results(folder, {"scripted:paid": [row]})
    preview = services_of(folder).preview(Selection())
    [llm] = preview.llms
    assert llm.n_items == 2
    assert llm.seconds == preview.seconds == pytest.approx(4.0)
    assert llm.cost_usd == preview.cost_usd == pytest.approx(0.04)


def test_what_was_never_measured_is_unknown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("new", "4", prices=PRICES)
    preview = services_of(workspace_files.write()).preview(Selection())
    assert (preview.n_items, preview.seconds, preview.cost_usd) == (2, None, None)


def test_a_class_without_results_takes_the_means_of_the_llm(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.classes.append({**workspace_files.classes[0], "id": "others"})
    workspace_files.add_tests(1)
    workspace_files.add_tests(1, class_id="others")
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    write_results(folder, {"scripted:one": [scored("sum_001", 1.0, execution_time_ms=3000)]})
    [llm] = services_of(folder).preview(Selection()).llms
    assert llm.seconds is not None


def test_nothing_pending_means_an_empty_plan(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    write_results(folder, {"scripted:one": [scored("sum_001", 1.0)]})
    services = services_of(folder)
    assert services.preview(Selection()).llms == ()
    assert services.preview(Selection(force=True)).n_items == 1


def test_failures_are_grouped_and_counted_in_the_plan(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("one", "4")
    folder: Path = workspace_files.write()
    rows = [
        {"test_id": name, "score": 0.0, "details": "", "response": "[API ERROR] refused"}
        for name in ("sum_001", "sum_002")
    ]
    write_results(folder, {"scripted:one": rows})
    services = services_of(folder)
    [group] = services.failures()
    assert [trial.test_id for trial in group.trials] == ["sum_001", "sum_002"]
    assert group.message == "refused"
    [llm] = services.preview(Selection()).llms
    assert (llm.n_items, llm.n_failed) == (2, 2)


def test_a_filter_that_matches_nothing_is_an_error(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    with pytest.raises(ConfigError):
        services.preview(Selection(classes=("no such class",)))
