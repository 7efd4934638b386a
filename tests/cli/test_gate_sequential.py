from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles

N_TESTS = 20


def call(files: WorkspaceFiles, *arguments: str) -> int:
    return main(["--data", str(files.write()), *arguments])


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    workspace_files.add_tests(N_TESTS)
    workspace_files.add_llm("a", "4", label="Ann")
    call(workspace_files, "run", "--trials", "3")
    return workspace_files


@pytest.fixture
def baseline(files: WorkspaceFiles, tmp_path: Path) -> str:
    path = tmp_path / "baseline.json"
    assert call(files, "report", "--output", str(path)) == 0
    return str(path)


def answer(files: WorkspaceFiles, text: str) -> None:
    """Let the LLM give another answer from now on."""
    files.llms[0]["parameters"]["responses"] = text


def check(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], baseline: str, *more: str
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    options = ("--sequential", "--no-regression", "--baseline", baseline, "--json", *more)
    code = call(files, "gate", *options)
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, document


def test_a_broken_model_fails_after_few_trials(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(files, "none")
    code, document = check(files, capsys, baseline)
    assert (code, document["gates"][0]["verdict"]) == (1, "fail")
    assert document["sequential"]["stopped_by"] == "decided"
    assert document["sequential"]["n_calls"] <= 2 * N_TESTS


def test_a_model_that_repeats_its_answers_passes_as_soon_as_that_is_sure(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(files, "it is 4")
    code, document = check(files, capsys, baseline)
    assert (code, document["gates"][0]["verdict"]) == (0, "pass")
    assert document["sequential"]["n_calls"] == 3 * N_TESTS


def test_results_that_the_baseline_holds_are_not_counted_again(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = check(files, capsys, baseline)
    assert (code, document["sequential"]["n_calls"]) == (0, 0)
    assert "the same results" in document["gates"][0]["reason"]


def test_the_budget_ends_it_and_the_next_check_goes_on(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(files, "it is 4")
    code, document = check(files, capsys, baseline, "--max-calls", str(N_TESTS + 5))
    assert (code, document["gates"][0]["verdict"]) == (0, "not_enough_evidence")
    assert document["sequential"]["stopped_by"] == "max_calls"
    assert document["sequential"]["n_calls"] == N_TESTS
    assert check(files, capsys, baseline, "--max-calls", "1", "--strict")[0] == 1
    code, document = check(files, capsys, baseline)
    assert (code, document["sequential"]["n_calls"]) == (0, 2 * N_TESTS)


def test_it_ends_at_the_most_trials(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(files, "it is 4")
    _, document = check(files, capsys, baseline, "--max-trials", "2")
    assert document["sequential"]["stopped_by"] == "max_trials"
    assert document["sequential"]["n_calls"] == 2 * N_TESTS


def test_a_model_that_cannot_be_asked_ends_it(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files.llms[0]["parameters"]["failures"] = [{"failure": "bad_request", "times": 1000}]
    code, document = check(files, capsys, baseline)
    assert (code, document["sequential"]["stopped_by"]) == (1, "trials_failed")
    assert document["sequential"]["n_calls"] <= N_TESTS


def test_text_says_why_it_stopped(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(files, "it is 4")
    capsys.readouterr()
    assert call(files, "gate", "--sequential", "--no-regression", "--baseline", baseline) == 0
    printed = capsys.readouterr()
    assert "Stopped after 3 looks and 60 requests: every question is decided." in printed.out
    assert "Trial 1: Ann undecided" in printed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sequential", "--min-score", "0.5"], "decides about regressions only"),
        (["--sequential", "--no-regression", "--baseline", "last"], "would not stay the same"),
        (["--max-calls", "5", "--min-score", "0.5"], "--max-calls needs --sequential"),
        (["--tolerance", "0", "--min-score", "0.5"], "--tolerance"),
    ],
)
def test_wrong_use_ends_with_2(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    capsys.readouterr()
    assert call(files, "gate", *arguments) == 2
    assert words in capsys.readouterr().err


def test_plan_tells_trials_on_the_console_and_for_machines(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert call(files, "gate", "--plan", "--drop", "0.2") == 0
    assert "Ann: 20 tests" in capsys.readouterr().out
    options = ("--plan", "--no-regression", "--baseline", baseline, "--json")
    assert call(files, "gate", *options) == 0
    [plan] = json.loads(capsys.readouterr().out)["plans"]
    assert (plan["n_tests"], plan["n_trials_before"]) == (20, pytest.approx(3))
    assert plan["variance_source"] == "repeats"


def test_tolerance_of_the_file_goes_before_the_option(
    files: WorkspaceFiles, baseline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = [
        {"no_regression": True, "baseline": baseline, "tolerance": 0.2},
        {"no_regression": True, "baseline": baseline},
    ]
    (files.folder / "gates.yaml").write_text(json.dumps({"gates": gates}))
    capsys.readouterr()
    assert call(files, "gate", "--tolerance", "0.1", "--json") == 0
    assert [row["limit"] for row in json.loads(capsys.readouterr().out)["gates"]] == [0.2, 0.1]
