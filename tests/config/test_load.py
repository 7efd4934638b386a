from __future__ import annotations

import json
from pathlib import Path

import pytest

from poor_bench.config.load import load_workspace
from poor_bench.errors import ConfigError
from poor_bench.models.test import EvaluatorSpec, Test
from tests.config.workspace_files import (
    SCRIPTED,
    SUM,
    TEST_CLASSES,
    errors_of,
    load,
    the_error_of,
    warnings_of,
    write_workspace,
)


def test_a_complete_workspace_loads(tmp_path: Path) -> None:
    workspace = load(tmp_path)
    assert workspace.tests == (Test(test_id="sum_1", class_id="sums", level=1, text="2 + 2"),)
    assert workspace.test_classes["sums"].evaluator == EvaluatorSpec(
        "math_evaluator", {"precision": 2}
    )
    assert list(workspace.llms_by_id) == ["scripted:demo"]
    assert workspace.problems == ()


def test_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    write_workspace(
        tmp_path,
        test_classes=TEST_CLASSES.replace("default:", "defautl:"),
        tests=[{**SUM, "level": 0}, {**SUM, "test_id": 7}],
        llms=[{**SCRIPTED, "concurrency": 0}],
    )
    places = [(Path(p.file).name, p.place) for p in errors_of(tmp_path)]
    assert places == [
        ("test_classes.yaml", "test_classes[0].work_prompt_template.defautl"),
        ("tests.json", "tests[0].level"),
        ("tests.json", "tests[1].test_id"),
        ("llms.json", "llms[0].concurrency"),
    ]


def test_the_error_counts_problems_and_names_files(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[{**SUM, "level": 0}], llms=[{"provider": "scripted"}])
    with pytest.raises(ConfigError, match=r"(?m)^2 problems in .*tests\.json, .*llms\.json$"):
        load_workspace(tmp_path)


def test_a_traceback_shows_every_problem(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[{**SUM, "level": 0}], llms=[{"provider": "scripted"}])
    with pytest.raises(ConfigError) as raised:
        load_workspace(tmp_path)
    assert raised.value.__notes__ == [str(problem) for problem in raised.value.problems]
    assert "tests[0].level" in raised.value.__notes__[0]


def test_places_and_lines_lead_to_the_mistake(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[SUM, {**SUM, "test_id": "b", "level": "one"}])
    problem = the_error_of(tmp_path)
    line = (tmp_path / "tests.json").read_text(encoding="utf-8").splitlines()[problem.line - 1]
    assert problem.place == "tests[1].level"
    assert line.strip().startswith('"level": "one"')


def test_a_missing_folder_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist") as caught:
        load_workspace(tmp_path / "nowhere")
    assert "init" in caught.value.hint


def test_a_missing_file_does_not_hide_the_others(tmp_path: Path) -> None:
    write_workspace(tmp_path, llms=[{**SCRIPTED, "size": -1}])
    (tmp_path / "tests.json").unlink()
    assert [p.message for p in errors_of(tmp_path)] == [
        "the file does not exist",
        "must be at least 0.0",
    ]


def test_unknown_keys_are_warnings_and_comments_are_not(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[{**SUM, "author": "me", "_note": "kept", "$schema": "x"}])
    (warning,) = warnings_of(tmp_path)
    assert warning.place == "tests[0].author"


@pytest.mark.parametrize(
    ("key", "meant"), [("txt", "text"), ("clas_id", "class_id"), ("Level", "level")]
)
def test_misspelt_keys_are_errors_with_the_right_name(tmp_path: Path, key: str, meant: str) -> None:
    write_workspace(tmp_path, tests=[{**SUM, key: "x"}])
    problem = the_error_of(tmp_path)
    assert problem.place == f"tests[0].{key}"
    assert f"`{meant}`" in problem.hint


def test_a_misspelt_required_key_is_one_problem(tmp_path: Path) -> None:
    test = {key.replace("class_id", "clas_id"): value for key, value in SUM.items()}
    write_workspace(tmp_path, tests=[test])
    assert the_error_of(tmp_path).code == "misspelt-key"


def test_bare_lists_are_accepted(tmp_path: Path) -> None:
    write_workspace(tmp_path)
    (tmp_path / "llms.json").write_text(json.dumps([SCRIPTED]), encoding="utf-8")
    (tmp_path / "tests.json").write_text(json.dumps([SUM]), encoding="utf-8")
    assert load_workspace(tmp_path).llms_by_id.keys() == {"scripted:demo"}


@pytest.mark.parametrize("version", ['"2.0"', "3", "two"])
def test_another_format_version_is_refused(tmp_path: Path, version: str) -> None:
    classes = TEST_CLASSES.replace('"1.0"', version)
    write_workspace(tmp_path, test_classes=classes)
    assert the_error_of(tmp_path).code == "bad-version"


@pytest.mark.parametrize("version", ["1", "1.0", '"1.5"'])
def test_versions_of_our_format_are_accepted(tmp_path: Path, version: str) -> None:
    assert load(tmp_path, test_classes=TEST_CLASSES.replace('"1.0"', version)).tests


@pytest.mark.parametrize("content", ["7", '"text"', "null", '{"test": []}', '{"tests": {}}'])
def test_a_wrong_top_level_is_one_clear_error(tmp_path: Path, content: str) -> None:
    write_workspace(tmp_path)
    (tmp_path / "tests.json").write_text(content, encoding="utf-8")
    assert "tests" in str(the_error_of(tmp_path))


def test_entries_that_are_no_mappings_are_named(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[SUM, 7])  # type: ignore[list-item]
    assert the_error_of(tmp_path).place == "tests[1]"
