from __future__ import annotations

import json

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


@pytest.fixture
def folder(workspace_files: WorkspaceFiles):
    workspace_files.add_tests(1, reference_response="4")
    return workspace_files.write()


def test_wrong_answers_that_pass_are_shown_by_class(folder, capsys):
    assert main(["--data", str(folder), "tests", "analyse", "--mutate"]) == 0
    out = capsys.readouterr().out
    assert "sign turned round" in out
    assert "sum_001: sign turned round, scores 1.00: -4" in out


def test_the_same_as_json(folder, capsys):
    assert main(["--data", str(folder), "tests", "analyse", "--mutate", "--json"]) == 0
    found = {each["mutation"]: each for each in json.loads(capsys.readouterr().out)["mutations"]}
    assert found["number off by one"]["n_survivors"] == 0
    assert found["sign turned round"]["survivors"][0]["answer"] == "-4"
