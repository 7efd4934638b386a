from __future__ import annotations

import json

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


def judged(files: WorkspaceFiles, reply: object) -> str:
    files.classes[0]["evaluation_module"] = {
        "name": "llm_judge_evaluator",
        "parameters": {"judge": "scripted:judge", "criteria": ["kind"]},
    }
    files.add_tests(2)
    files.add_llm("a", "a poem")
    files.add_llm("judge", reply, enabled=False)
    return str(files.write())


def test_a_run_tells_who_waits_and_who_judges(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = judged(workspace_files, json.dumps({"scores": {"kind": 8}}))
    assert main(["--data", folder, "run"]) == 0
    told = capsys.readouterr().err
    assert "scripted:a: 0/2  2 wait for the judge" in told
    assert "scripted:judge: judges 2 responses" in told


def test_a_judge_that_cannot_be_asked_is_told_and_the_run_fails(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = judged(workspace_files, [{"failure": "auth", "message": "no such key"}])
    assert main(["--data", folder, "run"]) == 3
    told = capsys.readouterr().err
    assert "no such key" in told
    assert "responses wait" in told
