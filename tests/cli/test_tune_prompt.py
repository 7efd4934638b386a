from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.tuning.searches import TuningFile, find_search, list_searches
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.tuning.prompt_searches import BETTER, marked, write_workspace

TUNE = ("tune", "prompt", "sums", "--llm", "scripted:small", "--reflection-llm", "scripted:writer")


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    return write_workspace(workspace_files)


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def template(folder: Path) -> str:
    return WorkspaceFolder(folder).workspace.test_classes["sums"].templates["default"]


def test_the_difference_and_the_proof_are_shown_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, *TUNE) == 0
    shown = capsys.readouterr().out
    assert "+Be exact: {problem}" in shown
    assert "Significant gain: +1.000" in shown
    assert f"Nothing is written yet. Next: python main.py --data {folder} tune accept" in shown
    assert template(folder) == "Solve: {problem}"


def test_accepting_writes_the_prompt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(folder, *TUNE, "--json")
    found = json_of(capsys)
    assert found["accepted"] is None
    assert call(folder, "tune", "accept", "last", "--yes", "--json") == 0
    assert json_of(capsys) == {"run_id": found["run_id"], "accepted": found["best"]}
    assert template(folder) == BETTER


def test_accepting_asks_before_it_writes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(folder, *TUNE)
    assert call(folder, "tune", "accept", "last") == 2
    assert "add --yes" in capsys.readouterr().err
    assert template(folder) == "Solve: {problem}"


def test_a_prompt_that_was_changed_meanwhile_is_not_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, *TUNE)
    WorkspaceFolder(folder).change_template("sums", "Mine: {problem}")
    assert call(folder, "tune", "accept", "last", "--yes") == 2
    assert "was edited after this search" in capsys.readouterr().err
    assert template(folder) == "Mine: {problem}"
    assert call(folder, "tune", "accept", "last", "--yes", "--force") == 0
    assert template(folder) == BETTER


def test_yes_writes_what_is_proven_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, *TUNE, "--yes") == 0
    assert "Written: prompt" in capsys.readouterr().out
    assert template(folder) == BETTER


def test_yes_writes_nothing_that_is_not_proven(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    half = {"/Be exact: [1-9] /": "4", "": "no idea"}
    folder = write_workspace(workspace_files, n_tests=14, small=half)
    assert call(folder, *TUNE, "--ideas", "writer", "--yes", "--json") == 0
    found = json_of(capsys)
    assert found["best"] is not None
    assert not found["proof"]["is_proven"]
    assert template(folder) == "Solve: {problem}"


def test_searches_are_listed_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(folder, *TUNE, "--json")
    found = json_of(capsys)
    call(folder, "tune", "list", "--json")
    [row] = json_of(capsys)["searches"]
    assert row["run_id"] == found["run_id"]
    assert row["ended"] == "threshold"
    call(folder, "tune", "show", found["run_id"][:10], "--json")
    assert json_of(capsys) == found


def test_the_parts_are_told_and_when_they_can_prove_nothing(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, n_tests=12)
    assert call(folder, *TUNE) == 0
    told = capsys.readouterr()
    parts = "Tests: 4 training, 4 validation, 4 held out for the final test: too few for"
    assert parts in told.err
    assert parts in told.out
    assert "No significant difference: +1.000" in told.out


def test_calls_are_told_while_nothing_changes(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, writer="no idea", n_tests=40)
    assert call(folder, *TUNE, "--ideas", "writer", "--budget-calls", "70") == 0
    told = capsys.readouterr().err
    assert "7 calls  testing the current prompt" in told
    assert "14 calls" in told


def test_a_search_that_was_killed_says_how_it_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, *TUNE)
    [path] = (folder / "tuning").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(('{"proof', '{"end'))))
    capsys.readouterr()
    assert call(folder, "tune", "show", "last") == 0
    shown = capsys.readouterr().out
    assert "The process did not finish." in shown
    assert "Nothing is written yet. To accept it anyway: python main.py" in shown
    assert f"To continue, add --resume {path.stem}\n" in shown
    assert call(folder, *TUNE, "--resume", "last") == 0
    assert "Significant gain: +1.000" in capsys.readouterr().out


def test_a_small_budget_is_told_as_what_is_in_the_way(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, *TUNE, "--budget-calls", "25")
    assert "add --resume 2" in (shown := capsys.readouterr().out)
    assert "and a larger --budget-calls" in shown
    assert "the call budget is used up" in shown
    assert call(folder, *TUNE, "--budget-calls", "3") == 2
    assert "3 calls are too few" in capsys.readouterr().err


def test_an_unknown_class_is_named_with_its_nearest(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, "tune", "prompt", "sumss", "--llm", "scripted:small") == 2
    assert "did you mean `sums`?" in capsys.readouterr().err


def test_a_limit_of_money_needs_known_prices(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files)
    hosted = {"provider": "openai", "name": "gpt", "endpoint": "https://api.example.com/v1"}
    workspace_files.llms.append(hosted)
    workspace_files.write()
    options = ("--reflection-llm", "openai:gpt", "--max-cost", "1")
    assert call(folder, "tune", "prompt", "sums", "--llm", "scripted:small", *options) == 2
    assert "--max-cost needs the prices of openai:gpt" in capsys.readouterr().err


def test_an_llm_that_cannot_be_asked_ends_with_3(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_workspace(workspace_files, small={"": {"failure": "auth", "message": "no key"}})
    assert call(folder, *TUNE) == 3
    assert "no key" in capsys.readouterr().out


def test_a_system_prompt_is_tuned(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.classes[0]["system_prompt"] = "Be nice."
    folder = write_workspace(workspace_files, writer=[marked("Be {strict}.")])
    assert call(folder, *TUNE, "--part", "system_prompt", "--json") == 0
    found = json_of(capsys)
    assert found["subject"] == "system prompt of class sums"
    assert found["best"] is None


def test_a_dry_run_shows_the_plan_and_a_search_is_not_made_twice_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(folder, *TUNE, "--dry-run", "--json") == 0
    plan = json_of(capsys)
    assert plan["budget_calls"] > 0 < plan["held_out"]
    assert list_searches(folder) == []
    assert call(folder, *TUNE) == 0
    search = find_search(folder, "last")
    file = TuningFile(search.path)
    try:
        capsys.readouterr()
        assert call(folder, *TUNE) == 2
        assert f"the search {search.run_id} is already running" in capsys.readouterr().err
        assert call(folder, *TUNE, "--beside") == 0
    finally:
        file.close()


def test_a_running_and_a_killed_search_are_told_apart(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, *TUNE)
    search = find_search(folder, "last")
    lines = search.path.read_bytes().splitlines(keepends=True)
    search.path.write_bytes(
        b"".join(line for line in lines if not line.startswith((b'{"end"', b'{"proof"')))
    )
    file = TuningFile(search.path)
    capsys.readouterr()
    call(folder, "tune", "list")
    call(folder, "tune", "show", "last")
    shown = capsys.readouterr().out
    assert "running" in shown.splitlines()[3]
    assert "The search is still running." in shown
    assert "--resume" not in shown
    file.close()
    call(folder, "tune", "list")
    call(folder, "tune", "show", "last")
    shown = capsys.readouterr().out
    assert "interrupted" in shown
    assert f"add --resume {search.run_id}" in shown


def test_a_prompt_that_is_in_use_already_is_not_accepted_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(folder, *TUNE, "--yes")
    capsys.readouterr()
    assert call(folder, "tune", "accept", "last", "--yes") == 2
    assert "is the prompt template of class sums already" in capsys.readouterr().err


def test_a_cost_without_prices_is_unknown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call(folder, *TUNE, "--json")
    told = json_of(capsys)
    assert told["cost_usd"] is told["run"]["cost_usd"] is None
    assert told["n_calls"] > 0


@pytest.mark.parametrize("header", ['{"run":{"kind":"prompt"}}', '{"run":{"kind":"params"}}', "\0"])
def test_a_search_without_a_readable_header_is_reported(
    folder: Path, header: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "tuning" / "20261122T000000-aaaaaa.jsonl"
    path.parent.mkdir()
    path.write_text(f"{header}\n")
    assert call(folder, "tune", "list") == 0
    assert call(folder, "tune", "show", "last") == 4
    assert "aaaaaa.jsonl has no readable header" in capsys.readouterr().err
    assert call(folder, "tune", "accept", "last", "--yes") in {2, 4}
    assert call(folder, *TUNE, "--resume", "20261122T000000-aaaaaa") in {2, 4}
    assert call(folder, "tune", "params", "--resume", "20261122T000000-aaaaaa") in {2, 4}
