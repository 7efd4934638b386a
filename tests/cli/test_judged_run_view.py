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
    assert "scripted:a: 0/2  2 waiting for the judge" in told
    assert "scripted:judge: judges 2 responses" in told


def test_a_judge_that_cannot_be_asked_is_told_and_the_run_fails(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = judged(workspace_files, [{"failure": "auth", "message": "no such key"}])
    assert main(["--data", folder, "run"]) == 3
    told = capsys.readouterr().err
    assert "no such key" in told
    assert "left to judge" in told


def test_what_the_judge_cost_stands_beside_what_the_llm_cost(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = json.dumps({"scores": {"kind": 8}})
    reply = {"text": verdict, "prompt_tokens": 0, "completion_tokens": 1000}
    folder = judged(workspace_files, [reply])
    workspace_files.llms[1]["prices"] = {"input": 0, "output": 250}
    workspace_files.write()
    assert main(["--data", folder, "run", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["llms"]
    assert (row["cost_usd"], row["judge_cost_usd"]) == (None, 0.5)
    for form in ("md", "html", "csv", "junit"):
        assert main(["--data", folder, "report", "--format", form]) == 0
        told = capsys.readouterr().out
        assert "0.50" in told or "0.25" in told, form
    assert main(["--data", folder, "report"]) == 0
    told = capsys.readouterr().out
    assert "Judge" in told
    assert "$0.50" in told
