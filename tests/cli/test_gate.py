from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


@pytest.fixture(autouse=True)
def _no_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    """A workspace whose LLM has 10 of 10 tests right."""
    workspace_files.add_tests(10)
    workspace_files.add_llm("a", "4", label="Ann")
    call(workspace_files, "run")
    return workspace_files


def call(files: WorkspaceFiles, *arguments: str) -> int:
    return main(["--data", str(files.write()), *arguments])


def gates_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    gates: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["gates"]
    return gates


def break_all(files: WorkspaceFiles) -> None:
    """Let the LLM answer wrongly from now on, under the same name."""
    files.llms[0]["parameters"]["responses"] = "none"
    call(files, "run")


def test_gate_ends_with_0_where_all_is_fine_and_with_1_where_not(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(files, "gate", "--min-score", "0.8", "--max-p95-ms", "sums=60000") == 0
    assert "Gates passed: 0 failed, 0 warnings, 2 passed" in capsys.readouterr().out
    break_all(files)
    assert call(files, "gate", "--min-score", "sums=0.8") == 1
    assert "score 0.000 (0.00 to 0.28, 10 tests) is below 0.8" in capsys.readouterr().out


def test_junit_file_is_written(files: WorkspaceFiles, tmp_path: Path) -> None:
    path = tmp_path / "gates.xml"
    assert call(files, "gate", "--min-score", "0.8", "--junit", str(path)) == 0
    assert 'failures="0"' in path.read_text()
    assert call(files, "gate", "--min-score", "0.8", "--junit", "gates.json") == 2


def test_regression_against_a_file_fails(
    files: WorkspaceFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = tmp_path / "run.json"
    assert call(files, "report", "--json", "--output", str(baseline)) == 0
    gate = ("gate", "--no-regression", "--baseline", str(baseline), "--json")
    capsys.readouterr()
    assert call(files, *gate) == 0
    assert gates_of(capsys)[0]["observed"] == 0.0
    break_all(files)
    capsys.readouterr()
    assert call(files, *gate) == 1
    assert gates_of(capsys)[0]["observed"] == -1.0


def test_gates_file_is_read_and_its_baseline_may_be_a_run(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = "gates: [{no_regression: true, baseline: previous}, {llm_id: Ann, min_score: 0.5}]"
    (files.folder / "gates.yaml").write_text(gates)
    break_all(files)
    capsys.readouterr()
    assert call(files, "gate", "--json") == 1
    assert [gate["status"] for gate in gates_of(capsys)] == ["failed", "failed"]


def test_changed_prompt_without_a_run_warns_and_fails_when_strict(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    files.tests[0]["text"] = "another question"
    capsys.readouterr()
    assert call(files, "gate", "--min-score", "0.5") == 0
    assert "1 result of another prompt" in capsys.readouterr().out
    assert call(files, "gate", "--min-score", "0.5", "--strict") == 1


def test_named_llm_without_results_fails(files: WorkspaceFiles) -> None:
    files.add_llm("new", "4")
    assert call(files, "gate", "--min-score", "0.5") == 0
    assert call(files, "gate", "--min-score", "0.5", "--llm", "scripted:new") == 1


def test_github_gets_a_summary_and_annotations(
    files: WorkspaceFiles,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    break_all(files)
    capsys.readouterr()
    assert call(files, "gate", "--min-score", "0.8") == 1
    assert summary.read_text().startswith("before\n### ❌ Gates failed: 1 failed")
    assert "::error::score at least 0.8: scripted:a: score 0.000" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no gate is given"),
        (["--no-regression"], "no regression against what?"),
        (["--no-regression", "--baseline", "nowhere.json"], "is not a model, a run or a file"),
        (["--min-score", "sum=0.8"], "did you mean `sums`?"),
        (["--min-score", "high"], "give a number from 0 to 1"),
        (["--min-score", "1.2"], "give a number from 0 to 1"),
        (["--max-p95-ms", "nan"], "give a number of at least 0"),
        (["--gates", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_wrong_use_ends_with_2(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    capsys.readouterr()
    assert call(files, "gate", *arguments) == 2
    complaint = capsys.readouterr().err
    assert words in complaint
    assert "Traceback" not in complaint
