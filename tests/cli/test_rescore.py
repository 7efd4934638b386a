from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from poor_bench.models.result import Result
from poor_bench.runner.scorer import Scorer
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.runs.killed import kill_console


def test_what_was_scored_again_before_an_interruption_is_stored(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "4")
    folder = workspace_files.write()
    assert main(["--data", str(folder), "run"]) == 0
    workspace_files.classes[0]["evaluation_module"]["parameters"] = {"expected": "5"}
    workspace_files.write()
    score = Scorer.score
    calls = count(1)

    def interrupted(self: Scorer, result: Result, *more: Any) -> Result:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return score(self, result, *more)

    monkeypatch.setattr(Scorer, "score", interrupted)
    assert main(["--data", str(folder), "rescore"]) == 130
    scores = [result.score for result in WorkspaceFolder(folder).load_results()]
    assert sorted(score or 0.0 for score in scores) == [0.0, 0.0, 1.0]


def test_judging_again_tells_its_cost_before_and_keeps_to_the_limit(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = {
        "text": '{"scores": {"kind": 8, "short": 3}}',
        "prompt_tokens": 0,
        "completion_tokens": 100,
    }
    module = {"name": "llm_judge_evaluator", "parameters": {"judge": "scripted:judge"}}
    module["parameters"]["criteria"] = ["kind"]
    workspace_files.classes[0]["evaluation_module"] = module
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", "a poem")
    prices = {"input": 0, "output": 1000}
    limits = {"max_tokens": 100}
    workspace_files.add_llm("judge", [reply], enabled=False, prices=prices, parameters=limits)
    folder = str(workspace_files.write())
    assert main(["--data", folder, "run"]) == 0
    module["parameters"]["criteria"] = ["kind", "short"]
    workspace_files.write()
    capsys.readouterr()
    assert main(["--data", folder, "rescore", "--max-cost", "0.15"]) == 3
    told = capsys.readouterr()
    assert "To be judged again: 3 responses" in told.err
    assert "Estimated cost: $" in told.out
    assert "1 response scored again" in told.out
    assert "2 responses left with earlier scores" in told.err
    assert main(["--data", folder, "rescore"]) == 0
    assert "2 responses scored again" in capsys.readouterr().out
    assert main(["--data", folder, "rescore"]) == 0
    assert "0 responses scored again" in capsys.readouterr().out


EVALUATOR = """
def evaluate(response, parameters):
    if {crashes}:
        raise RuntimeError("evaluator broke")
    return {score}, "of {score}"
"""


@pytest.fixture
def folder(workspace_files: WorkspaceFiles) -> Path:
    """A workspace with three answers, each scored 1.0."""
    workspace_files.add_tests(3)
    workspace_files.add_llm("a", {"Solve: 1": "4 first", "+": "4"})
    folder = workspace_files.write()
    assert main(["--data", str(folder), "run"]) == 0
    return folder


def change_evaluator(folder: Path, *, score: float = 0.0, crashes: str = "False") -> None:
    path = folder / "evaluators" / "has_expected.py"
    path.write_text(EVALUATOR.format(score=score, crashes=crashes))


def scores(folder: Path) -> list[float | None]:
    results = WorkspaceFolder(folder).load_results()
    return [result.score for result in sorted(results, key=lambda result: result.test_id)]


def run_json(capsys: pytest.CaptureFixture[str], folder: Path, *command: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["--data", str(folder), *command, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", ["run", "rescore"])
def test_new_scores_are_told_beside_the_earlier_ones(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    change_evaluator(folder)
    capsys.readouterr()
    assert main(["--data", str(folder), command]) == 0
    told = capsys.readouterr().out
    assert "sum_003     1.000   0.000" in told
    assert "scored again" in told
    assert "3 scores" in told
    assert "rescore --undo" in told


@pytest.mark.parametrize("command", ["run", "rescore"])
def test_a_crashing_evaluator_is_told_with_its_place_and_ends_with_3(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    change_evaluator(folder, crashes="response == '4'")
    capsys.readouterr()
    assert main(["--data", str(folder), command]) == 3
    told = capsys.readouterr()
    place = f"{folder / 'evaluators' / 'has_expected.py'}:4"
    assert f"RuntimeError: evaluator broke ({place}): 2 responses, first at sum_00" in told.err
    assert sorted(score or 0.0 for score in scores(folder)) == [0.0, 1.0, 1.0]
    assert main(["--data", str(folder), "status"]) == 0


def test_run_tells_machines_what_was_scored_again_and_what_crashed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_evaluator(folder, crashes="response == '4'")
    code, told = run_json(capsys, folder, "run")
    assert code == 3
    assert (told["n_failed"], told["n_pending"]) == (2, 2)
    rescored = told["rescored"]
    assert (rescored["n_rescored"], rescored["n_not_rescored"]) == (1, 2)
    [change] = rescored["changed"]
    assert (change["test_id"], change["old_score"], change["new_score"]) == ("sum_001", 1.0, 0.0)
    [problem] = rescored["problems"]
    assert problem["n_responses"] == 2
    assert problem["test_id"] in {"sum_002", "sum_003"}
    assert "has_expected.py:4" in problem["message"]


@pytest.mark.parametrize("command", ["run", "rescore"])
def test_previous_and_last_are_the_scores_before_and_after(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    change_evaluator(folder)
    assert main(["--data", str(folder), command]) == 0
    code, told = run_json(capsys, folder, "compare", "previous", "last")
    assert code == 0
    [llm] = told["llms"]
    [change] = llm["changes"]
    assert change["changes"] == ["evaluator"]
    assert (change["n_tests"], change["mean_before"], change["mean_after"]) == (3, 1.0, 0.0)
    assert change["n_broken"] == 3
    assert llm["not_comparable"] == [
        {"reasons": ["evaluator"], "tests": ["sum_001", "sum_002", "sum_003"]}
    ]


def test_previous_holds_all_that_a_run_changed(
    folder: Path, workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.tests[0]["text"] = "9 + 9"
    workspace_files.write()
    change_evaluator(folder)
    assert main(["--data", str(folder), "run"]) == 0
    _, told = run_json(capsys, folder, "compare", "previous", "last")
    [llm] = told["llms"]
    assert [item["changes"] for item in llm["changes"]] == [["evaluator"]]
    assert [item["reasons"] for item in llm["not_comparable"]] == [
        ["evaluator"],
        ["prompt", "evaluator"],
    ]


def test_undo_brings_the_earlier_scores_back_step_by_step(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for score in (0.5, 0.25):
        change_evaluator(folder, score=score)
        assert main(["--data", str(folder), "rescore"]) == 0
    code, told = run_json(capsys, folder, "rescore", "--undo", "--dry-run")
    assert (code, told["n_restored"], scores(folder)) == (0, 3, [0.25] * 3)
    for expected in (0.5, 1.0):
        code, told = run_json(capsys, folder, "rescore", "--undo")
        assert (code, told["n_restored"], scores(folder)) == (0, 3, [expected] * 3)
    details = {result.details for result in WorkspaceFolder(folder).load_results()}
    assert details == {"looked for 4"}
    assert main(["--data", str(folder), "rescore", "--undo"]) == 2
    assert "no rescoring is left to undo" in capsys.readouterr().err


def test_undo_restores_only_what_is_chosen_and_not_asked_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_evaluator(folder)
    assert main(["--data", str(folder), "rescore"]) == 0
    assert main(["--data", str(folder), "run", "--test", "sum_001", "--force"]) == 0
    _, told = run_json(capsys, folder, "rescore", "--undo", "--test", "sum_00[12]")
    assert [item["test_id"] for item in told["restored"]] == ["sum_002"]
    assert scores(folder) == [0.0, 1.0, 0.0]


def test_a_rescoring_without_new_scores_leaves_no_run(folder: Path) -> None:
    runs = sorted((folder / "runs").iterdir())
    assert main(["--data", str(folder), "rescore"]) == 0
    assert sorted((folder / "runs").iterdir()) == runs


@pytest.mark.slow(reason="kills a console at each step")
@pytest.mark.parametrize(("command", "n_writes"), [("rescore", 2), ("rescore", 3), ("run", 4)])
def test_nothing_is_lost_when_rescoring_is_killed_between_its_steps(
    folder: Path, command: str, n_writes: int
) -> None:
    before = sorted(WorkspaceFolder(folder).load_results(), key=lambda result: result.key)
    change_evaluator(folder)
    kill_console(n_writes, "--data", str(folder), command)
    n_replaced = scores(folder).count(0.0)
    assert n_replaced == (n_writes - 2) // 2
    assert main(["--data", str(folder), "rescore", "--undo"]) == (0 if n_replaced else 2)
    after = WorkspaceFolder(folder).load_results()
    assert sorted(after, key=lambda result: result.key) == before
    assert main(["--data", str(folder), "rescore"]) == 0
    assert scores(folder) == [0.0] * 3
