from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.tuning.searches import list_searches
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles

BASE = "scripted:small"


def write_workspace(files: WorkspaceFiles, n_tests: int = 24, responses: Any = "no idea") -> Path:
    """Write a workspace with an LLM whose parameter `responses` is what it says."""
    files.add_tests(n_tests)
    files.add_llm("small", responses)
    return files.write()


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    return write_workspace(workspace_files)


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def sweep(folder: Path, *arguments: str, classes: str = "all") -> int:
    return call(folder, "tune", "params", classes, "--llm", BASE, *arguments)


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def rows_of(found: Any) -> dict[str, Any]:
    return {row["variant_id"].removeprefix(f"{BASE}:"): row for row in found["variants"]}


def test_the_best_value_is_found_and_told_apart_from_the_base(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "responses=is4,is5", "--json") == 0
    found = json_of(capsys)
    assert found["best"] == f"{BASE}:responses=is4"
    assert found["is_better"]
    rows = rows_of(found)
    assert rows["responses=is4"]["score"]["value"] == 1.0
    assert rows["responses=is4"]["gain"]["low"] > 0
    assert found["n_tests"] == 24


def test_losers_are_dropped_before_they_ran_all_tests_but_the_base_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(folder, "--param", "responses=is4,is5", "--json")
    rows = rows_of(json_of(capsys))
    assert rows["responses=is5"]["dropped_for"] == f"{BASE}:responses=is4"
    assert rows["responses=is5"]["score"]["n"] == 6
    assert rows[BASE]["score"]["n"] == 24
    assert rows[BASE]["dropped_for"] is None


def test_equal_variants_are_not_called_better(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "latency_ms=0,1") == 0
    shown = capsys.readouterr().out
    assert "No variant that completed all tests scores higher than the current parameters." in shown
    assert "tune accept" not in shown


def test_every_variant_is_an_ordinary_result(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(folder, "--param", "responses=is4")
    capsys.readouterr()
    assert call(folder, "compare", BASE, f"{BASE}:responses=is4", "--json") == 0
    assert json_of(capsys)
    assert call(folder, "report", "--format", "json") == 0
    assert f"{BASE}:responses=is4" in capsys.readouterr().out
    assert [llm.id for llm in WorkspaceFolder(folder).load_llms()] == [BASE]


def test_a_second_sweep_asks_nothing_that_is_stored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(folder, "--param", "responses=is4", "--json")
    first = json_of(capsys)
    sweep(folder, "--param", "responses=is4", "--json")
    second = json_of(capsys)
    assert (first["n_calls"], second["n_calls"]) == (48, 0)
    assert first["variants"] == second["variants"]


def test_accepting_adds_the_variant_and_its_results_are_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(folder, "--param", "responses=is4")
    assert call(folder, "tune", "accept", "last", "--yes") == 0
    capsys.readouterr()
    kept = WorkspaceFolder(folder).workspace.llms_by_id[f"{BASE}:responses=is4"]
    assert kept.parameters["responses"] == "is4"
    assert kept.enabled
    assert call(folder, "tune", "accept", "last", "--yes") == 2
    assert "already exists in llms.json" in capsys.readouterr().err
    call(folder, "run", "--dry-run", "--json")
    assert f"{BASE}:responses=is4" not in json_of(capsys)["pending"]


def test_keep_adds_only_what_is_proven(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(folder, "--param", "responses=is5", "--keep", "--json")
    assert json_of(capsys)["accepted"] is None
    sweep(folder, "--param", "responses=is4", "--keep", "--json")
    assert json_of(capsys)["accepted"] == f"{BASE}:responses=is4"
    assert len(WorkspaceFolder(folder).load_llms()) == 2


def test_the_budget_is_never_exceeded_and_what_was_run_is_kept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "latency_ms=0,1", "--budget-calls", "20", "--json") == 0
    found = json_of(capsys)
    assert found["stopped"] == "budget"
    assert found["n_calls"] <= 20
    assert "Too few tests" in found["verdict"]
    assert len(list(WorkspaceFolder(folder).store.results())) == found["n_calls"]


def test_a_variant_that_fails_has_no_score(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, responses="4")
    failing = "failures={failure: bad_request, times: 1000}"
    assert sweep(folder, "--param", failing, "--json") == 0
    found = json_of(capsys)
    [name] = [row["variant_id"] for row in found["variants"] if row["variant_id"] != BASE]
    row = rows_of(found)[name.removeprefix(f"{BASE}:")]
    assert row["score"] is None
    assert row["n_failed"] == 6
    assert found["best"] is None


def test_resuming_a_sweep_runs_what_failed_and_nothing_else(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, n_tests=8)
    workspace_files.llms[0]["parameters"] = {"script": "small.json"}
    workspace_files.write()
    script = folder / "small.json"
    script.write_text('{"responses": {"3 + 3": {"failure": "bad_request"}, "": "4"}}')
    assert sweep(folder, "--param", "latency_ms=0,1") == 0
    told = capsys.readouterr().out
    assert "3 tests failed to run. To run them again: " in told
    script.write_text('{"responses": {"": "4"}}')
    assert call(folder, "tune", "params", "--resume", "last", "--json") == 0
    found = json_of(capsys)
    assert (found["n_failed"], found["n_calls"]) == (0, 3 * 8 + 3)
    assert all(row["is_complete"] for row in found["variants"])
    assert len(list_searches(folder)) == 1


def test_a_sweep_is_resumed_with_its_own_values_and_a_larger_budget(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--search", "optuna", "--trials", "3", "--param", "responses=is1,is4", "--seed", "3")
    assert sweep(folder, *options, "--budget-calls", "20") == 0
    run_id = list_searches(folder)[0].run_id
    assert f"tune params --resume {run_id}" in capsys.readouterr().out
    assert sweep(folder, "--resume", "last") == 2
    assert "omit CLASS, --llm and --param" in capsys.readouterr().err
    assert (
        call(folder, "tune", "params", "--resume", "last", "--budget-calls", "200", "--json") == 0
    )
    resumed = json_of(capsys)
    assert sweep(folder, *options, "--json") == 0
    at_once = json_of(capsys)
    assert resumed["variants"] == at_once["variants"]
    assert resumed["stopped"] == "finished"
    assert at_once["n_calls"] == 0


def test_a_sweep_whose_tests_are_gone_is_not_resumed(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, n_tests=8)
    sweep(folder, "--param", "responses=is4", "--budget-calls", "6")
    workspace_files.tests.pop()
    workspace_files.write()
    assert call(folder, "tune", "params", "--resume", "last") == 2
    assert "sum_008 no longer exists" in capsys.readouterr().err
    assert call(folder, "tune", "params") == 2
    assert "give CLASS or `all`, and --llm" in capsys.readouterr().err


def test_a_sweep_ends_with_3_when_nobody_can_be_asked(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = {"": {"failure": "auth", "message": "no key"}}
    folder = write_workspace(workspace_files, responses=failing)
    assert sweep(folder, "--param", "latency_ms=0,1") == 3
    assert "no key" in capsys.readouterr().out


def test_optuna_finds_the_best_of_a_few_values(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--search", "optuna", "--trials", "6", "--param", "responses=is1,is2,is4", "--json")
    assert sweep(folder, *options) == 0
    found = json_of(capsys)
    assert found["best"] == f"{BASE}:responses=is4"
    assert {row["variant_id"] for row in found["variants"]} <= {
        BASE,
        *(f"{BASE}:responses={value}" for value in ("is1", "is2", "is4")),
    }


def test_a_range_is_searched_by_optuna_only(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "latency_ms=0.0..0.5") == 2
    assert "a range needs --search optuna" in capsys.readouterr().err
    options = ("--search", "optuna", "--trials", "3", "--param", "latency_ms=0.0..0.5", "--json")
    assert sweep(folder, *options) == 0
    assert len(json_of(capsys)["variants"]) == 4


def test_parameters_without_effect_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "temprature=0") == 2
    assert "unknown parameter" in capsys.readouterr().err
    assert sweep(folder, "--param", "temperature=0") == 2
    assert "has no effect with scripted" in capsys.readouterr().err
    assert sweep(folder, "--param", "responses=no idea") == 2
    assert "equal the model's current parameters" in capsys.readouterr().err


def test_a_system_prompt_comes_from_a_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = tmp_path / "terse.txt"
    prompt.write_text("Be terse.\n")
    assert sweep(folder, "--param", f"base_system_prompt=@{prompt}") == 0
    results = WorkspaceFolder(folder).store.results()
    asked = {result.system_prompt for result in results if result.llm_id != BASE}
    assert asked == {"Be terse."}


def test_the_html_page_has_the_variants(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "sweep.html"
    assert sweep(folder, "--param", "responses=is4,is5", "--html", str(page)) == 0
    text = page.read_text()
    assert "responses=is4" in text
    assert text.count("dropped early: significantly behind responses=is4") >= 2


def test_a_sweep_is_shown_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(folder, "--param", "responses=is4", "--json")
    found = json_of(capsys)
    call(folder, "tune", "show", "last", "--json")
    assert json_of(capsys) == found
    assert call(folder, "tune", "show", "last") == 0
    assert (
        "responses=is4 is significantly better than the current parameters"
        in capsys.readouterr().out
    )


def test_what_it_will_cost_is_told_before(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, n_tests=4)
    workspace_files.llms[0]["prices"] = {"input": 1.0, "output": 2.0}
    workspace_files.write()
    assert sweep(folder, "--param", "latency_ms=0,1") == 0
    told = capsys.readouterr().err
    assert "on 4 tests, at most 1000 calls (about $0.01" in told
    assert call(folder, "tune", "prompt", "sums", "--llm", BASE, "--budget-calls", "5") == 0
    assert "4 tests, at most 5 calls (about $0.005" in capsys.readouterr().err


def test_a_dry_run_shows_the_plan_and_asks_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "responses=is4,is5", "--dry-run", "--json") == 0
    assert json_of(capsys)["tests"] == 24
    assert call(folder, "tune", "list") == 0
    assert "No searches yet" in capsys.readouterr().out


def test_progress_names_the_most_tests_that_the_sweep_may_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "latency_ms=0,1") == 0
    assert "50 completed, at most 72" in capsys.readouterr().err
    assert sweep(folder, "--param", "latency_ms=2,3", "--budget-calls", "30") == 0
    assert "25 completed, at most 30" in capsys.readouterr().err


def test_a_class_that_does_not_exist_is_told_without_an_option_that_was_not_given(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep(folder, "--param", "latency_ms=0,1", classes="zz") == 2
    told = capsys.readouterr().err
    assert "no test class 'zz' exists" in told
    assert "--class" not in told


def test_a_sweep_by_a_model_without_prices_has_no_known_cost(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    listed = json.loads((folder / "llms.json").read_text())
    listed["llms"].append({"provider": "openai", "name": "m"})
    (folder / "llms.json").write_text(json.dumps(listed))
    hosted = ("tune", "params", "all", "--llm", "openai:m", "--param", "temperature=0,1")
    assert call(folder, *hosted, "--dry-run", "--json") == 0
    found = json_of(capsys)
    assert (found["estimated_cost_usd"], found["plan"]["estimated_cost_usd"]) == (None, None)
