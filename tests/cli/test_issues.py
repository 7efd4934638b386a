from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles

RECORDED = Path(__file__).resolve().parents[2] / "examples" / "recorded"


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    """A workspace in which one LLM is right in prose, and the other one says nothing."""
    workspace_files.add_tests(30)
    workspace_files.add_llm("a", "The answer is 4.", label="\x1b[2JAnn")
    workspace_files.add_llm("b", "")
    call(workspace_files, "run")
    return workspace_files


def call(files: WorkspaceFiles, *arguments: str) -> int:
    return main(["--data", str(files.write()), *arguments])


def test_causes_are_listed_with_their_share_and_what_to_try(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "issues") == 0
    shown = capsys.readouterr().out
    assert "no_answer" in shown
    assert "100.0 %" in shown
    assert "Check the model's chat template" in shown
    assert "\x1b" not in shown


def test_trials_of_a_cause_are_listed_up_to_a_limit(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "issues", "no_answer") == 0
    few = capsys.readouterr().out
    assert "sum_001" in few
    assert "10 more" in few
    assert call(files, "issues", "no_answer", "--all") == 0
    assert "sum_030" in capsys.readouterr().out


def test_machines_get_groups_and_format_tax(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "issues", "--llm", "scripted:b", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["issues"][0]["n_by_llm"] == {"scripted:b": 30}
    assert told["format_tax"] == []
    assert call(files, "issues", "no_answer", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["issues"]) == 30


def test_a_cause_that_nothing_has_is_said(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "issues", "refusal") == 0
    assert "No trial has the cause `refusal`" in capsys.readouterr().out


def test_an_unknown_cause_gets_the_nearest_name(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(files, "issues", "refusals") == 2
    assert "nearest: `refusal`" in capsys.readouterr().err


def test_without_results_the_next_step_is_named(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    assert call(workspace_files, "issues") == 0
    assert "Next: python main.py --data" in capsys.readouterr().out


def test_what_format_alone_costs_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = shutil.copytree(RECORDED, tmp_path / "recorded")
    assert main(["--data", str(recorded), "issues", "--class", "math*"]) == 0
    shown = capsys.readouterr().out
    assert "Format tax" in shown
    assert "announced" in shown


def test_a_detector_of_the_workspace_is_shown_everywhere_and_a_broken_one_is_named(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert call(files, "issues", "new", "in_prose") == 0
    own = files.folder / "issues" / "in_prose.py"
    own.write_text('"""Says <is>."""\ndef detect(result):\n    return "The answer is"')
    (own.parent / "broken.py").write_text("def detect(result):\n    return result.nothing")
    capsys.readouterr()
    assert call(files, "issues") == 0
    shown = capsys.readouterr()
    assert "in_prose" in shown.out
    assert "Detector failed: AttributeError" in shown.err
    assert "broken.py:2)" in shown.err
    assert call(files, "issues", "in_prose") == 0
    assert "The answer is" in capsys.readouterr().out
    page = tmp_path / "report.html"
    assert call(files, "report", "--format", "html", "--output", str(page)) == 0
    assert "Says &lt;is&gt;" in page.read_text()
    assert "broken.py:2)" in page.read_text()
    capsys.readouterr()
    assert call(files, "report", "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {"in_prose", "detector_failed"} <= {group["detector_id"] for group in told["issues"]}


def test_a_new_detector_needs_a_name_and_a_cause_takes_none(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(files, "issues", "new") == 2
    assert call(files, "issues", "no_answer", "truncated") == 2
    assert call(files, "issues", "new", "no_answer") == 2
    assert not (files.folder / "issues").exists()
