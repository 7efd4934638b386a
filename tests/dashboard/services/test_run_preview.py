from __future__ import annotations

from pathlib import Path

import pytest

from poor_bench.errors import ConfigError
from poor_bench.runner.selection import Selection
from poor_bench.workspace_folder import WorkspaceFolder
from poor_bench.workspace_runner import WorkspaceRunner
from tests.conftest import WorkspaceFiles
from tests.dashboard.results_written import scored, services_of, write_results

PRICES = {"input": 10.0, "output": 100.0}


def test_time_and_cost_come_from_stored_results(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("paid", "4", prices=PRICES, concurrency=1)
    folder = workspace_files.write()
    row = scored("sum_001", 1.0, execution_time_ms=2000, prompt_tokens=1000, completion_tokens=100)
    write_results(folder, {"scripted:paid": [row]})
    preview = services_of(folder).plans.preview(Selection())
    [llm] = preview.llms
    assert llm.n_items == 2
    assert llm.seconds == preview.seconds == pytest.approx(4.0)
    assert llm.cost_usd == preview.cost_usd == pytest.approx(0.04)


def test_how_long_takes_what_never_ran_is_unknown(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("new", "4", prices=PRICES)
    preview = services_of(workspace_files.write()).plans.preview(Selection())
    assert (preview.n_items, preview.seconds) == (2, None)


def test_an_llm_that_never_ran_is_priced_by_its_prompts(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("new", "4", prices=PRICES, parameters={"max_tokens": 100})
    folder = workspace_files.write()
    cost = services_of(folder).plans.preview(Selection()).cost_usd
    runner = WorkspaceRunner(WorkspaceFolder(folder))
    assert cost == pytest.approx(runner.estimate_cost(runner.plan()).usd)
    assert cost == pytest.approx(2 * 100 * 100 / 1e6, rel=0.05)


def test_a_class_of_many_tests_is_priced_by_some_of_them(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(99)
    workspace_files.add_llm("new", "4", prices=PRICES)
    folder = workspace_files.write()
    runner = WorkspaceRunner(WorkspaceFolder(folder))
    whole = runner.estimate_cost(runner.plan()).usd
    assert services_of(folder).plans.preview(Selection()).cost_usd == pytest.approx(whole, rel=0.02)


def test_judges_are_part_of_the_cost(workspace_files: WorkspaceFiles) -> None:
    workspace_files.classes[0]["evaluation_module"] = {
        "name": "llm_judge_evaluator",
        "parameters": {"judge": "scripted:judge", "samples": 3},
    }
    workspace_files.add_tests(2)
    workspace_files.add_llm("free", "4")
    prices = {"input": 0, "output": 1000}
    workspace_files.add_llm("judge", "unused", enabled=False, prices=prices)
    preview = services_of(workspace_files.write()).plans.preview(Selection())
    assert preview.cost_usd == pytest.approx(2 * 3 * 0.5)


def test_what_is_known_is_summed_and_what_is_not_is_counted(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("paid", "4", prices=PRICES)
    hosted = {"provider": "openai", "endpoint": "https://llm.example/v1", "api_key_env": "K"}
    workspace_files.llms.append(hosted | {"name": "unpriced"})
    services = services_of(workspace_files.write())
    preview = services.plans.preview(Selection())
    assert preview.cost_usd is not None
    assert (preview.n_unpriced, preview.n_untimed) == (1, 2)
    assert services.plans.preview(Selection(llms=("openai:*",))).cost_usd is None


def test_a_class_without_results_takes_the_means_of_the_llm(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.classes.append({**workspace_files.classes[0], "id": "others"})
    workspace_files.add_tests(1)
    workspace_files.add_tests(1, class_id="others")
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    write_results(folder, {"scripted:one": [scored("sum_001", 1.0, execution_time_ms=3000)]})
    [llm] = services_of(folder).plans.preview(Selection()).llms
    assert llm.seconds is not None


def test_nothing_pending_means_an_empty_plan(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    folder = workspace_files.write()
    write_results(folder, {"scripted:one": [scored("sum_001", 1.0)]})
    services = services_of(folder)
    assert services.plans.preview(Selection()).llms == ()
    assert services.plans.preview(Selection(force=True)).n_items == 1


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
    [group] = services.results.failures()
    assert [trial.test_id for trial in group.trials] == ["sum_001", "sum_002"]
    assert group.message == "refused"
    [llm] = services.plans.preview(Selection()).llms
    assert (llm.n_items, llm.n_failed) == (2, 2)


def test_a_filter_that_matches_nothing_is_an_error(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("one", "4")
    services = services_of(workspace_files.write())
    with pytest.raises(ConfigError):
        services.plans.preview(Selection(classes=("no such class",)))
