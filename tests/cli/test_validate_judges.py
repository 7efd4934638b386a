from __future__ import annotations

import json
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


def problems_of(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], **parameters: Any
) -> list[dict[str, Any]]:
    files.classes[0]["evaluation_module"] = {
        "name": "llm_judge_evaluator",
        "parameters": parameters,
    }
    files.add_tests(3, reference_response="not scored, since that costs money")
    files.add_llm("a", "x")
    main(["--data", str(files.write()), "validate", "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["problems"]
    return [problem for problem in found if problem["severity"] == "error"]


def test_judged_tests_are_valid_without_being_judged(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    assert problems_of(workspace_files, capsys, judge="scripted:a") == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"judge": "scriptd:a"}, "the judge 'scriptd:a' does not exist"),
        ({"rubric": "### 1. A (50%)\n### 2. B"}, "custom:2"),
        ({"rubric": "missing.md"}, "missing.md: the file does not exist"),
    ],
)
def test_a_judge_or_rubric_that_cannot_be_used_is_told_once(
    workspace_files: WorkspaceFiles,
    capsys: pytest.CaptureFixture[str],
    parameters: dict[str, Any],
    message: str,
) -> None:
    (problem,) = problems_of(workspace_files, capsys, **parameters)
    assert message in problem["message"]
    assert "and 2 more tests" in problem["message"]
