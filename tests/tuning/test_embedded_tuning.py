from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.workspace_folder import WorkspaceFolder
from tests.providers.embedded_file import real_model

pytestmark = pytest.mark.embedded

DATA = Path(__file__).parents[2] / "data"
LLM = "embedded:smollm2-135m"
N_TESTS = 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped workspace, cut down to a few tests and answers of a few tokens."""
    real_model()
    folder = tmp_path / "bench"
    folder.mkdir()
    shutil.copy(DATA / "test_classes.yaml", folder)
    tests = json.loads((DATA / "tests.json").read_text())
    tests["tests"] = [test for test in tests["tests"] if test["class_id"] == "math_problems"]
    tests["tests"] = tests["tests"][:N_TESTS]
    (folder / "tests.json").write_text(json.dumps(tests))
    parameters = {"temperature": 0, "max_tokens": 6}
    small = {"provider": "embedded", "name": "smollm2-135m", "parameters": parameters}
    idea = "<new_prompt>1 + 1\n2\n\n{problem}</new_prompt>"
    ideas = {"provider": "scripted", "name": "ideas", "parameters": {"responses": [idea]}}
    (folder / "llms.json").write_text(json.dumps({"llms": [small, ideas]}))
    return folder


def call(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["--data", str(folder), "tune", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_parameters_of_the_real_model_are_swept(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = call(folder, capsys, "params", "all", "--llm", LLM, "--param", "max_tokens=3,6")
    assert found["stopped"] == "finished"
    assert found["n_calls"] == 2 * N_TESTS
    results = list(WorkspaceFolder(folder).store.results())
    tokens = {result.llm_id: result.completion_tokens for result in results}
    assert tokens[f"{LLM}:max_tokens=3"] == 3
    assert all(result.failure is None for result in results)


def test_a_prompt_of_the_real_model_is_tuned(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--llm", LLM, "--reflection-llm", "scripted:ideas", "--patience", "2")
    found = call(folder, capsys, "prompt", "math_problems", *options)
    assert found["stopped"] in {"no_gain", "threshold"}
    assert found["n_tests"] == {"train": 1, "validation": 1, "held_out": 2}
    assert found["candidates"][0]["parents"] == []
    assert found["n_calls"] >= 4  # one of the writer, the others of the model
