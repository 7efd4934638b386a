from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.lint.cheats import CheatFile
from tests.conftest import WorkspaceFiles


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    workspace_files.add_tests(6, reference_response="4")
    workspace_files.add_llm("a", "4")
    return workspace_files.write()


def call(folder: Path, *arguments: str) -> int:
    return main(["--data", str(folder), *arguments])


def cheat(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert call(folder, "tests", "cheat", "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_tests_with_one_answer_for_all_are_passed_without_a_model(folder, capsys):
    found = cheat(folder, capsys)
    [class_id] = found["classes"]
    assert found["classes"][class_id]["most frequent answer"] == 1.0
    assert any("passed without a model" in problem["message"] for problem in found["problems"])
    assert call(folder, "tests", "lint") in {0, 1}
    assert "passed without a model" in capsys.readouterr().out


def test_the_report_shows_the_floor_until_a_test_changes(folder, capsys):
    cheat(folder, capsys)
    assert call(folder, "run") == 0
    capsys.readouterr()
    call(folder, "report")
    assert "most frequent answer" in capsys.readouterr().out
    call(folder, "report", "--format", "html")
    assert "most frequent answer" in capsys.readouterr().out
    call(folder, "report", "--format", "md")
    assert "*most frequent answer*" in capsys.readouterr().out
    path = folder / "tests.json"
    path.write_text(path.read_text(encoding="utf-8").replace("1 + 1", "1 + 3"), encoding="utf-8")
    call(folder, "report", "--json")
    assert json.loads(capsys.readouterr().out)["floor"] == []


@pytest.mark.parametrize("rubbish", [b"", b"[]", b"{", b'{"version": 1, "tests": 5}', b"\xff"])
def test_rubbish_in_the_file_is_as_no_file(folder, capsys, rubbish):
    cheat(folder, capsys)
    CheatFile(folder).path.write_bytes(rubbish)
    assert call(folder, "run") == 0
    assert call(folder, "report") == 0
    assert "most frequent answer" not in capsys.readouterr().out
