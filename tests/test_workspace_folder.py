from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.models.failure import Failure, FailureKind
from poor_bench.models.result import Result
from poor_bench.workspace_folder import WorkspaceFolder
from tests.config.workspace_files import SCRIPTED, SUM, TEST_CLASSES, write_workspace

EVALUATOR = '''"""Full score for everything."""


def evaluate(response, parameters):
    return 1.0, "fine"
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    classes = TEST_CLASSES.replace("math_evaluator", "generous")
    write_workspace(tmp_path, test_classes=classes, tests=[SUM, {**SUM, "test_id": "sum_2"}])
    (tmp_path / "evaluators").mkdir()
    (tmp_path / "evaluators" / "generous.py").write_text(EVALUATOR, encoding="utf-8")
    return tmp_path


def scored(test_id: str, **more: Any) -> Result:
    return Result(llm_id="scripted:demo", test_id=test_id, score=1.0, **more)


def test_the_names_of_the_spec_give_what_the_files_hold(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    assert [test_class.id for test_class in config.load_test_classes()] == ["sums"]
    assert [test.test_id for test in config.load_tests()] == ["sum_1", "sum_2"]
    assert [llm.id for llm in config.load_llms()] == ["scripted:demo"]
    assert config.load_results() == []


def test_a_folder_may_be_given_as_text(folder: Path) -> None:
    assert WorkspaceFolder(str(folder)).data_dir == folder


def test_what_has_a_score_is_not_pending(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    config.save_results([scored("sum_1")], "run-1")
    assert [test.test_id for test in config.get_pending_tests("scripted:demo")] == ["sum_2"]
    assert [result.test_id for result in config.load_results()] == ["sum_1"]


@pytest.mark.slow(reason="takes over a quarter of a second")
def test_a_frame_holds_a_row_per_result_and_no_zero_for_a_failure(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    timeout = Failure(kind=FailureKind.TIMEOUT, message="")
    failed = Result(llm_id="scripted:demo", test_id="sum_2", failure=timeout)
    config.save_results([scored("sum_1"), failed], "run-1")
    frame = config.load_frame().set_index("test_id")
    assert list(frame["class_id"]) == ["sums", "sums"]
    assert frame["score"].mean() == 1.0
    assert frame.loc["sum_2", "failure_kind"] == FailureKind.TIMEOUT


def test_a_frame_without_results_is_empty(folder: Path) -> None:
    assert len(WorkspaceFolder(folder).load_frame()) == 0


def test_results_under_an_older_key_belong_to_their_llm(folder: Path) -> None:
    rows = [{"test_id": "sum_1", "score": 0.5, "details": "", "response": "", "think": False}]
    content = {"version": "1.0", "results": {"scripted:demo:false": rows}}
    (folder / "results.json").write_text(json.dumps(content), encoding="utf-8")
    config = WorkspaceFolder(folder)
    assert [result.llm_id for result in config.load_results()] == ["scripted:demo"]
    assert [test.test_id for test in config.get_pending_tests("scripted:demo")] == ["sum_2"]


def test_evaluators_of_the_workspace_are_known(folder: Path) -> None:
    assert "generous" in WorkspaceFolder(folder).evaluators.names()


def test_a_broken_evaluator_is_reported_once(folder: Path) -> None:
    (folder / "evaluators" / "generous.py").write_text("import nothing_of_this_name", "utf-8")
    with pytest.raises(ConfigError) as caught:
        WorkspaceFolder(folder).load_tests()
    (problem,) = caught.value.problems
    assert "generous.py" in problem.message


def test_added_llms_are_seen_at_once(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    assert len(config.load_llms()) == 1
    config.add_llms([{**SCRIPTED, "name": "other"}])
    assert [llm.name for llm in config.load_llms()] == ["demo", "other"]


def test_changed_files_are_read_again_after_reload(folder: Path) -> None:
    config = WorkspaceFolder(folder)
    assert len(config.load_tests()) == 2
    (folder / "tests.json").write_text(json.dumps({"tests": [SUM]}), encoding="utf-8")
    assert len(config.load_tests()) == 2
    config.reload()
    assert len(config.load_tests()) == 1
