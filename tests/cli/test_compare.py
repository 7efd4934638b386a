from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from poor_bench.cli.main import main
from tests.conftest import WorkspaceFiles


@pytest.fixture
def files(workspace_files: WorkspaceFiles) -> WorkspaceFiles:
    """A workspace with two runs: the second asks two of six tests with another prompt."""
    workspace_files.add_tests(6)
    workspace_files.add_llm("a", {"Solve: 1": "none", "Kindly": "none", "+": "4"})
    run(workspace_files)
    workspace_files.tests[0]["text"] = "Quickly: 1 + 1"
    workspace_files.tests[1]["text"] = "Kindly: 2 + 2"
    run(workspace_files)
    return workspace_files


def run(files: WorkspaceFiles, *arguments: str) -> None:
    assert main(["--data", str(files.write()), "run", *arguments]) == 0


def compare(files: WorkspaceFiles, *arguments: str) -> int:
    return main(["--data", str(files.folder), "compare", *arguments])


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_without_arguments_the_last_run_is_compared_with_what_was_before(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert compare(files, "--allow", "prompt", "--json") == 0
    [llm] = json_of(capsys)["llms"]
    assert [test["test_id"] for test in llm["tests"]["fixed"]] == ["sum_001"]
    assert [test["test_id"] for test in llm["tests"]["broken"]] == ["sum_002"]
    assert llm["despite"] == {"prompt": 2}
    assert llm["overall"]["n_tests"] == 2


def test_filters_choose_also_tests_that_only_the_results_before_have(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert compare(files, "--test", "sum_00[1-4]", "--json") == 0
    [llm] = json_of(capsys)["llms"]
    assert {"reasons": ["only_before"], "tests": ["sum_003", "sum_004"]} in llm["not_comparable"]


def test_changed_prompt_is_named_and_not_compared(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert compare(files, "previous", "now") == 0
    shown = capsys.readouterr().out
    assert "Not compared, prompt changed: 2 tests (sum_001, sum_002)" in shown
    assert "--allow prompt" in shown
    assert "(prompt changed)" in shown
    assert "no significant difference" in shown
    assert (
        "4 tests can be compared directly, with the same prompt, parameters, model and evaluator "
        "on both sides. On 2 tests the prompt changed, so a difference may come from that alone. "
        "Lines in brackets show these differences apart. `--allow prompt` counts them under `all` "
        "as if nothing had changed."
    ) in shown
    assert "Fixed (prompt changed): sum_001 (0.00 -> 1.00)" in shown


def test_times_of_this_machine_are_compared(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    run(files, "--force")
    capsys.readouterr()
    assert compare(files, "before:last", "last", "--json") == 0
    [llm] = json_of(capsys)["llms"]
    assert llm["times_problem"] == ""
    assert llm["times"]["ratio"]["n"] == 6


def test_changed_evaluator_is_named(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluator = files.folder / "evaluators" / "has_expected.py"
    files.write()
    evaluator.write_text(evaluator.read_text().replace("'4'", "'none'"))
    assert main(["--data", str(files.folder), "run"]) == 0
    capsys.readouterr()
    assert compare(files) == 0
    shown = capsys.readouterr().out
    assert "No test can be compared directly" in shown
    assert "(evaluator changed)" in shown
    assert "Not compared, evaluator changed: 6 tests" in shown
    assert "--rescore, or --allow evaluator" in shown
    assert compare(files, "--rescore", "--json") == 0
    [llm] = json_of(capsys)["llms"]
    assert llm["not_comparable"] == []
    assert (llm["overall"]["n_tests"], llm["overall"]["n_unchanged"]) == (6, 6)


def test_filters_choose_tests_of_both_sides(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert compare(files, "previous", "now", "--test", "sum_00[45]", "--json") == 0
    [llm] = json_of(capsys)["llms"]
    assert llm["overall"]["n_tests"] == 2


def test_two_llms_are_compared(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(8)
    workspace_files.add_llm("good", "4", label="\x1b[2JGood")
    workspace_files.add_llm("bad", "none")
    run(workspace_files)
    capsys.readouterr()
    assert compare(workspace_files, "scripted:bad", "scripted:good") == 0
    shown = capsys.readouterr().out
    assert "Overall: better; 8 fixed, 0 broken" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scripted:a", "nothing"], "is not a model, a run or a file"),
        (["previous", "last", "--pass-mark", "0"], "--pass-mark"),
        (["previous", "last", "--allow", "luck"], "--allow"),
        (["previous", "last", "--test", "sum_999"], "matches nothing"),
    ],
)
def test_wrong_use_gets_one_clear_message(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    capsys.readouterr()
    assert compare(files, *arguments) == 2
    assert words in capsys.readouterr().err


def test_nothing_in_common_is_no_comparison(
    files: WorkspaceFiles, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.json"
    rows = [{"test_id": "sum_001", "score": 1.0}]
    other.write_text(json.dumps({"results": {"x": rows, "y": rows}}))
    assert compare(files, str(other)) == 2
    told = capsys.readouterr().err
    assert "no model has results in both" in told
    assert "before: x, y; after: scripted:a" in told


@pytest.mark.parametrize("reference", ["last", "now", "scripted:a"])
def test_a_side_is_not_compared_with_itself(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str], reference: str
) -> None:
    capsys.readouterr()
    assert compare(files, reference, reference) == 2
    told = capsys.readouterr().err
    assert "nothing to compare: both sides are" in told


def test_an_llm_that_is_new_is_told_and_compared_with_no_other_one(
    workspace_files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace_files.add_tests(8)
    workspace_files.add_llm("good", "4")
    run(workspace_files)
    workspace_files.add_llm("bad", "none", label="Newcomer")
    run(workspace_files)
    capsys.readouterr()
    assert compare(workspace_files) == 0
    shown = capsys.readouterr().out
    assert "New, with no earlier results to compare: Newcomer" in shown
    assert "worse" not in shown
    assert compare(workspace_files, "--json") == 0
    told = json_of(capsys)
    assert (told["llms"], told["llms_only_after"]) == ([], ["scripted:bad"])
    assert compare(workspace_files, "previous", "last") == 2
    assert compare(workspace_files, "previous", "scripted:bad") == 2
    assert "Name two models to compare one with the other" in capsys.readouterr().err


def test_short_times_keep_their_digits(
    files: WorkspaceFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert compare(files, "previous", "now") == 0
    shown = capsys.readouterr().out
    assert re.search(r"Time: median \d\S* ms -> \d\S* ms, p95 \d\S* m?s -> \d\S* m?s; per", shown)
    assert "0.00 s" not in shown
