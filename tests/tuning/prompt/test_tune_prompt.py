from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poor_bench.calls.budget import SpendingLimits
from poor_bench.config.load import Workspace
from poor_bench.errors import ConfigError, MissingExtraError
from poor_bench.pool.control import RunControl
from poor_bench.tuning.prompt.edits import IdeaSource
from poor_bench.tuning.prompt.session import PromptProgress
from poor_bench.tuning.searches import StopReason, find_search, list_searches
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.tuning.prompt_searches import BETTER, marked, open_search, write_workspace


def workspace_of(folder: Path) -> Workspace:
    return WorkspaceFolder(folder).workspace


def test_a_better_prompt_is_found_and_proven_on_held_out_tests(
    workspace_files: WorkspaceFiles,
) -> None:
    folder = write_workspace(workspace_files)
    tuner, task = open_search(folder)
    report = tuner.run(task)
    assert report.end.reason is StopReason.THRESHOLD
    assert report.improved is not None
    assert report.improved.text == BETTER
    assert report.proof is not None
    assert (report.proof.mean_base, report.proof.mean_new) == (0.0, 1.0)
    assert report.proof.is_proven
    assert "+Be exact: {problem}" in report.diff


def test_nothing_is_written_into_the_workspace(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files)
    before = (folder / "test_classes.yaml").read_text()
    tuner, task = open_search(folder)
    tuner.run(task)
    assert (folder / "test_classes.yaml").read_text() == before
    assert not list(WorkspaceFolder(folder).store.results())


def test_a_prompt_that_nothing_improves_stays(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files, writer=[marked("Solve it: {problem}")])
    tuner, task = open_search(folder)
    report = tuner.run(task)
    assert report.end.reason is StopReason.NO_GAIN
    assert report.improved is None
    assert report.proof is None
    assert report.diff == ""


def test_the_budget_is_kept_and_leaves_room_for_the_proof(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files, small={"Be exact, 3": "4", "": "no idea"})
    tuner, task = open_search(folder, limits=SpendingLimits(n_calls=25))
    report = tuner.run(task)
    assert report.end.reason is StopReason.BUDGET
    assert report.n_calls <= 25


def test_a_prompt_that_cannot_be_tried_is_dropped_and_not_scored_zero(
    workspace_files: WorkspaceFiles,
) -> None:
    failing = {"Be exact": {"failure": "context_overflow"}, "Solve": "no idea"}
    folder = write_workspace(workspace_files, small=failing)
    tuner, task = open_search(folder)
    report = tuner.run(task)
    assert [candidate.text for candidate in report.end.candidates] == ["Solve: {problem}"]
    search = find_search(folder, "last")
    assert {record["text"] for record in search.of_kind("attempt")} == {
        report.end.candidates[0].key
    }
    assert search.of_kind("failed")


def test_a_resumed_search_tries_again_what_failed_to_run(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files)
    workspace_files.llms[0]["parameters"] = {"script": "small.json"}
    workspace_files.write()
    script = folder / "small.json"
    script.write_text('{"responses": {"Be exact": {"failure": "bad_request"}, "Solve": "no idea"}}')
    tuner, task = open_search(folder)
    failed = tuner.run(task)
    assert failed.end.reason is StopReason.NO_GAIN
    assert failed.n_failed > 0
    assert failed.improved is None
    script.write_text('{"responses": {"Be exact": "4", "Solve": "no idea"}}')
    tuner, task = open_search(folder)
    resumed = tuner.resume(task, find_search(folder, failed.run_id))
    assert resumed.n_failed == 0
    assert resumed.improved is not None
    assert resumed.proof is not None
    assert resumed.proof.is_proven


def test_a_search_ends_when_its_llm_cannot_be_asked(workspace_files: WorkspaceFiles) -> None:
    replies = {"3 + 3": {"failure": "connection"}, "Solve": "no idea"}
    folder = write_workspace(workspace_files, small=replies)
    tuner, task = open_search(folder)
    report = tuner.run(task)
    assert report.end.reason is StopReason.LLM_FAILED
    assert report.proof is None


def test_a_search_ends_when_nobody_writes_prompts(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files, writer={"never asked": "y"})
    tuner, task = open_search(folder)
    report = tuner.run(task)
    assert report.end.reason is StopReason.LLM_FAILED
    assert "scripted:writer could not write a prompt" in report.end.message
    assert len(report.end.candidates) == 1


def test_an_interrupted_search_goes_on_where_it_was(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files)
    control, told = RunControl(), []

    def cancel_at_nine(now: PromptProgress) -> None:
        told.append(now)
        if len(told) == 9:
            control.cancel()

    tuner, task = open_search(folder, control=control, tell=cancel_at_nine)
    stopped = tuner.run(task)
    assert stopped.end.reason is StopReason.CANCELLED
    tuner, task = open_search(folder)
    resumed = tuner.resume(task, find_search(folder, stopped.run_id))
    tuner, task = open_search(folder)
    at_once = tuner.run(task)
    assert resumed.end.candidates == at_once.end.candidates
    assert resumed.proof == at_once.proof
    assert resumed.n_calls == at_once.n_calls


def test_a_missing_library_is_named_before_anything_is_done(
    workspace_files: WorkspaceFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_workspace(workspace_files)
    monkeypatch.setitem(sys.modules, "gepa.api", None)
    tuner, task = open_search(folder)
    with pytest.raises(MissingExtraError) as missing:
        tuner.run(task)
    assert missing.value.hint.endswith("pip install 'gepa>=0.1.4,<0.2'")
    assert list_searches(folder) == []


def test_no_more_money_is_spent_than_allowed(workspace_files: WorkspaceFiles) -> None:
    reply = {"text": "no idea", "prompt_tokens": 0, "completion_tokens": 1_000_000}
    folder = write_workspace(workspace_files, small=[reply])
    workspace_files.llms[0]["prices"] = {"input": 1.0, "output": 1.0}
    workspace_files.write()
    tuner, task = open_search(folder, limits=SpendingLimits(cost_usd=9.5))
    report = tuner.run(task)
    assert report.end.reason is StopReason.COST
    assert "30 % of the money is reserved for the final test" in report.end.message
    assert 0 < report.cost_usd <= 9.5


def test_calls_that_do_not_even_do_for_the_prompt_in_use_are_refused(
    workspace_files: WorkspaceFiles,
) -> None:
    folder = write_workspace(workspace_files)
    tuner, task = open_search(folder, limits=SpendingLimits(n_calls=5))
    with pytest.raises(ConfigError, match="5 calls are too few") as caught:
        tuner.run(task)
    assert "--budget-calls" in caught.value.hint
    assert not list((folder / "tuning").glob("*.jsonl"))


def test_the_writer_is_told_of_before_it_is_asked(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files)
    told: list[PromptProgress] = []
    tuner, task = open_search(folder, tell=told.append)
    tuner.run(task)
    first = next(n for n, now in enumerate(told) if now.is_writing)
    assert told[first].base_score is not None
    assert not told[-1].is_writing


def test_a_search_of_changed_tests_does_not_go_on(workspace_files: WorkspaceFiles) -> None:
    folder = write_workspace(workspace_files)
    tuner, task = open_search(folder, limits=SpendingLimits(n_calls=20))
    stopped = tuner.run(task)
    workspace_files.tests[0]["text"] = "7 + 7"
    workspace_files.write()
    tuner, task = open_search(folder)
    with pytest.raises(ConfigError, match="cannot resume"):
        tuner.resume(task, find_search(folder, stopped.run_id))


def solvable(files: WorkspaceFiles, **llms: Any) -> Path:
    """Write a workspace in which `small` is right where its prompt shows an example."""
    folder = write_workspace(files, small={"4\n\nSolve": "4", "": "no idea"}, **llms)
    for test in files.tests:
        test["reference_response"] = "4"
    files.write()
    return folder


def test_a_worked_example_out_of_the_training_tests_needs_no_writer(
    workspace_files: WorkspaceFiles,
) -> None:
    folder = solvable(workspace_files, writer={"never asked": "y"})
    tuner, task = open_search(folder)
    report = tuner.run(replace(task, ideas=IdeaSource.EDITS))
    assert report.improved is not None
    assert report.improved.made_by == "example"
    assert report.proof is not None
    assert report.proof.is_proven
    [shown] = [line for line in report.improved.text.splitlines() if line.startswith("Solve: 1")]
    held_out = set(report.header["split"]["held_out"])
    texts = {test.text for test in workspace_of(folder).tests if test.test_id in held_out}
    assert shown.removeprefix("Solve: ") not in texts


def test_a_writer_that_says_one_thing_over_and_over_leaves_its_turn_to_the_edits(
    workspace_files: WorkspaceFiles,
) -> None:
    folder = solvable(workspace_files, writer=[marked("Always be exact and careful. " * 99)])
    tuner, task = open_search(folder)
    report = tuner.run(task)
    assert {candidate.made_by for candidate in report.end.candidates} == {"", "example"}
