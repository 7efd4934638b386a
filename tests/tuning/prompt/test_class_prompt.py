from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.llm_manager import LLMManager
from poor_bench.models.failure import FailureKind
from poor_bench.tuning.prompt.cases import CaseFailedError
from poor_bench.tuning.prompt.subjects import ClassPart, ClassPromptSubject
from poor_bench.workspace_folder import WorkspaceFolder
from tests.conftest import WorkspaceFiles
from tests.providers.fake_clock import FakeClock
from tests.runner.test_judged_run import judged_workspace, verdict


def subject_in(
    folder: Path, part: ClassPart = ClassPart.TEMPLATE, **llm: Any
) -> ClassPromptSubject:
    config = WorkspaceFolder(folder)
    manager = LLMManager(folder, clock=FakeClock())
    return ClassPromptSubject(config, manager, config.workspace.llms[0], "sums", part)


def never() -> bool:
    return False


def test_an_attempt_asks_with_the_candidate_and_tells_why_it_failed(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", {"Please: 1 + 1": "5", "Solve": "4"})
    subject = subject_in(workspace_files.write())
    attempt = subject.attempt("Please: {problem}", "sum_001", never)
    assert (attempt.score, attempt.given, attempt.answer) == (0.0, "1 + 1", "5")
    assert "looked for 4" in attempt.feedback
    assert subject.attempt(subject.base_text, "sum_001", never).score == 1.0


def test_a_system_prompt_is_sent_as_one(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    workspace_files.classes[0]["system_prompt"] = "Be nice."
    subject = subject_in(workspace_files.write(), ClassPart.SYSTEM_PROMPT)
    assert subject.base_text == "Be nice."
    assert subject.placeholders == ()
    assert subject.attempt("Be {strict}.", "sum_001", never).given == "Solve: 1 + 1"


def test_a_judged_class_counts_its_judge(workspace_files: WorkspaceFiles) -> None:
    subject = subject_in(judged_workspace(workspace_files, verdict(7)))
    attempt = subject.attempt("Please: {problem}", "sum_001", never)
    assert attempt.score == pytest.approx(0.7)
    assert subject.n_calls_per_case == 2
    assert [llm.id for llm in subject.llms] == ["scripted:a", "scripted:judge"]


def test_a_judge_that_fails_gives_no_score(workspace_files: WorkspaceFiles) -> None:
    subject = subject_in(judged_workspace(workspace_files, {"failure": "server_error"}))
    with pytest.raises(CaseFailedError) as failed:
        subject.attempt("Please: {problem}", "sum_001", never)
    assert failed.value.failure.kind is FailureKind.JUDGE


def test_a_template_that_is_not_in_force_is_not_tuned(workspace_files: WorkspaceFiles) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    overrides = {"scripted:a": "Mine: {problem}"}
    workspace_files.classes[0]["work_prompt_template"]["overrides"] = overrides
    with pytest.raises(ConfigError, match="has a separate template"):
        subject_in(workspace_files.write())


def test_a_class_without_system_prompt_has_nothing_to_start_from(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(1)
    workspace_files.add_llm("a", "4")
    with pytest.raises(ConfigError, match="has no system prompt"):
        subject_in(workspace_files.write(), ClassPart.SYSTEM_PROMPT)


def test_the_fingerprint_changes_with_everything_but_the_text(
    workspace_files: WorkspaceFiles,
) -> None:
    workspace_files.add_tests(2)
    workspace_files.add_llm("a", "4")
    before = subject_in(workspace_files.write()).fingerprint
    workspace_files.classes[0]["work_prompt_template"]["default"] = "Other: {problem}"
    assert subject_in(workspace_files.write()).fingerprint == before
    workspace_files.tests[0]["text"] = "8 + 8"
    changed = subject_in(workspace_files.write()).fingerprint
    assert changed != before
    workspace_files.llms[0]["parameters"]["latency_ms"] = 1
    assert subject_in(workspace_files.write()).fingerprint not in {before, changed}


def solved_in(files: WorkspaceFiles, *answers: str, **test: Any) -> Any:
    files.add_tests(1, **test)
    files.add_llm("a", "4")
    return subject_in(files.write()).find_solved("sum_001", answers)


def test_a_test_is_solved_by_the_first_answer_that_gets_full_marks(
    workspace_files: WorkspaceFiles,
) -> None:
    found = solved_in(workspace_files, "boom", "5", "it is 4 ", "4")
    assert found == ("sum_001", "1 + 1", "it is 4")


def test_a_test_is_solved_by_its_reference(workspace_files: WorkspaceFiles) -> None:
    found = solved_in(workspace_files, "5", reference_response='{"answer": 4}')
    assert found.answer == '{"answer": 4}'


def test_an_evaluator_knows_a_right_answer(workspace_files: WorkspaceFiles) -> None:
    module = {"name": "exact_match", "parameters": {"expected": "two"}}
    workspace_files.classes[0]["evaluation_module"] = {"name": "exact_match", "parameters": {}}
    assert solved_in(workspace_files, "II", evaluation_module=module).answer == "two"


def test_an_answer_in_the_wrong_form_solves_nothing(workspace_files: WorkspaceFiles) -> None:
    parameters = {"expected_answer": 4, "precision": 0, "expected_format": "json"}
    module = {"name": "math_evaluator", "parameters": parameters}
    workspace_files.classes[0]["evaluation_module"] = {"name": "math_evaluator", "parameters": {}}
    found = solved_in(workspace_files, 'It is: {"answer": 4}', evaluation_module=module)
    assert found.answer == '{"answer": 4}'


def test_what_an_llm_judges_is_solved_by_nothing_that_is_known(
    workspace_files: WorkspaceFiles,
) -> None:
    subject = subject_in(judged_workspace(workspace_files, verdict(10)))
    assert subject.find_solved("sum_001", ["praised"]) is None
