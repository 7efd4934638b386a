from __future__ import annotations

import json
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles

OLD, NEW = "Be brief.\nSolve: {problem}\nNumber only.", "Be short.\nSolve: {problem}\nNow."


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    """Two runs of 20 tests; between them two lines of the prompt and a parameter changed."""
    workspace_files.add_tests(20)
    workspace_files.add_llm("a", {"Number only": "4"})
    workspace_files.llms[0]["parameters"] |= {"default": "none", "temperature": 0}
    template = workspace_files.classes[0]["work_prompt_template"]
    template["default"] = OLD
    call(workspace_files, "run")
    template["default"] = NEW
    workspace_files.llms[0]["parameters"] |= {"temperature": 0.7}
    call(workspace_files, "run")
    return workspace_files


def call(files: WorkspaceFiles, *arguments: str) -> int:
    return main(["--data", str(files.write()), *arguments])


def why(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], *arguments: str
) -> dict[str, Any]:
    capsys.readouterr()
    assert call(files, "compare", "--why", "--json", *arguments) == 0
    [found] = json.loads(capsys.readouterr().out)["why"]
    assert isinstance(found, dict)
    return found


def test_hunk_that_broke_the_answers_is_the_cause(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    found = why(files, capsys)
    [cause] = found["causes"]
    assert cause["name"].endswith("hunk 2 of 2 ('Number only.' -> 'Now.')")
    assert len(found["others"]) == 2
    assert abs(found["unexplained"]) < 0.01
    assert 0 < found["n_calls"] <= found["n_calls_full_factorial"] / 4


def test_results_stay_as_they_are_and_reruns_are_used_again(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (files.folder / "results.json").read_bytes()
    first = why(files, capsys)
    [journal] = (files.folder / "autopsies").glob("*.jsonl")
    size = journal.stat().st_size
    assert why(files, capsys) == first
    assert journal.stat().st_size == size
    assert (files.folder / "results.json").read_bytes() == before


def test_dry_run_sends_nothing(files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]) -> None:
    plan = why(files, capsys, "--dry-run")
    assert len(plan["changed"]) == 3
    assert plan["n_calls"] == plan["n_calls_full_factorial"] / 4
    assert not (files.folder / "autopsies").exists()


def test_call_limit_is_kept(files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]) -> None:
    assert why(files, capsys, "--max-calls", "6")["n_calls"] == 6


def test_single_change_needs_no_reruns(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    call(files, "run", "--force")
    files.classes[0]["work_prompt_template"]["default"] = NEW + "\nNumber only."
    call(files, "run")
    found = why(files, capsys)
    assert found["n_calls"] == 0
    assert [cause["basis"] for cause in found["causes"]] == ["stored scores"]


def test_nothing_changed_is_noise(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    call(files, "run", "--force")
    found = why(files, capsys)
    assert found["causes"] == []
    assert "No cause found" in found["verdict"]


def test_limits_need_why(files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(files, "compare", "--max-calls", "3") == 2
    assert "need --why" in capsys.readouterr().err


def test_changed_evaluator_needs_no_requests(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    call(files, "run", "--force")
    files.classes[0]["evaluation_module"]["parameters"] = {"expected": "none"}
    call(files, "run")
    found = why(files, capsys, "previous", "last")
    [cause] = found["causes"]
    assert (cause["name"], cause["value"]) == ("evaluator has_expected", 1.0)
    assert found["n_calls"] == 0


def test_run_records_parameters_and_server(files: WorkspaceFiles) -> None:
    [newest] = sorted((files.folder / "runs").glob("*.jsonl"))[-1:]
    header = json.loads(newest.read_text().splitlines()[0])["run"]
    assert header["parameters"]["scripted:a"]["temperature"] == 0.7
    assert header["servers"] == {}
