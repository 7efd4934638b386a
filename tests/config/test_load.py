from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


OTHER_CLASS = """\
  - id: words
    work_prompt_template: {default: "{text} in {language}"}
"""


def test_an_unknown_class_is_named_with_the_nearest(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[SUM, {**SUM, "test_id": "b", "class_id": "sum"}])
    problem = the_error_of(tmp_path)
    assert (problem.place, problem.code) == ("tests[1].class_id", "unknown-class")
    assert "`sums`" in problem.hint


def test_tests_of_an_invalid_class_are_not_blamed(tmp_path: Path) -> None:
    write_workspace(tmp_path, test_classes=TEST_CLASSES + OTHER_CLASS.replace("{default", "{a"))
    test = {**SUM, "test_id": "b", "class_id": "words"}
    write_workspace(
        tmp_path,
        test_classes=TEST_CLASSES + "  - {id: words, description: 5}\n",
        tests=[SUM, test],
    )
    assert {Path(p.file).name for p in errors_of(tmp_path)} == {"test_classes.yaml"}


def test_a_class_without_tests_is_a_warning(tmp_path: Path) -> None:
    write_workspace(tmp_path, test_classes=TEST_CLASSES + OTHER_CLASS)
    (warning,) = warnings_of(tmp_path)
    assert (warning.code, warning.place) == ("empty-class", "test_classes[1]")


def test_a_placeholder_that_no_field_fills_is_one_error(tmp_path: Path) -> None:
    classes = TEST_CLASSES.replace("Solve {problem}", "Solve {problem} in {langauge}")
    tests = [{**SUM, "test_id": f"t{n}", "fields": {"language": "French"}} for n in range(3)]
    write_workspace(tmp_path, test_classes=classes, tests=tests)
    problem = the_error_of(tmp_path)
    assert "{langauge} in 3 of 3 tests" in problem.message
    assert "{language}" in problem.hint
    assert "{{langauge}}" in problem.hint


def test_a_placeholder_that_a_field_fills_is_fine(tmp_path: Path) -> None:
    classes = TEST_CLASSES.replace("Solve {problem}", "Solve {problem} in {language}")
    workspace = load(
        tmp_path, test_classes=classes, tests=[{**SUM, "fields": {"language": "French"}}]
    )
    assert workspace.problems == ()


@pytest.mark.parametrize(
    ("template", "code"), [("Hi", "no-placeholder"), ("{a} {b}", "no-content-placeholder")]
)
def test_a_template_that_never_shows_the_text_is_a_warning(
    tmp_path: Path, template: str, code: str
) -> None:
    classes = TEST_CLASSES.replace("Solve {problem}", template)
    fields = {"a": "1", "b": "2"}
    write_workspace(tmp_path, test_classes=classes, tests=[{**SUM, "fields": fields}])
    assert [warning.code for warning in warnings_of(tmp_path)] == [code]


@pytest.mark.parametrize(
    ("llm_id", "codes"),
    [
        ("scripted:demo", []),
        ("scripted:demo:false", []),
        ("scripted:demos", ["unknown-llm"]),
    ],
)
def test_overrides_for_llms_that_are_not_listed_are_warnings(
    tmp_path: Path, llm_id: str, codes: list[str]
) -> None:
    overrides = f'\n      overrides: {{"{llm_id}": "Just {{x}}"}}'
    classes = TEST_CLASSES.replace('{problem}"', '{problem}"' + overrides)
    write_workspace(tmp_path, test_classes=classes)
    assert [warning.code for warning in warnings_of(tmp_path)] == codes


def test_a_test_without_any_evaluator_is_an_error(tmp_path: Path) -> None:
    test = {**SUM, "class_id": "words", "fields": {"language": "x"}}
    write_workspace(tmp_path, test_classes=TEST_CLASSES + OTHER_CLASS, tests=[test])
    assert the_error_of(tmp_path).code == "no-evaluator"


def test_an_unknown_evaluator_of_a_class_is_one_error(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[SUM, {**SUM, "test_id": "b"}])
    problem = the_error_of(tmp_path, known_evaluators=["maths_evaluator"])
    assert problem.place == "test_classes[0].evaluation_module.name"
    assert "`maths_evaluator`" in problem.hint


def test_an_unknown_evaluator_of_a_test_is_named(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[{**SUM, "evaluation_module": {"name": "nothing"}}])
    problem = the_error_of(tmp_path, known_evaluators=["math_evaluator"])
    assert problem.place == "tests[0].evaluation_module.name"


class _Checks:
    def takes_any(self, _name: str) -> bool:
        return False


def test_parameters_of_evaluators_that_take_any_are_not_checked(tmp_path: Path) -> None:
    class Checks(_Checks):
        def __call__(self, name: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
            raise AssertionError(name)

        def takes_any(self, name: str) -> bool:
            return name == "math_evaluator"

    write_workspace(tmp_path)
    assert load_workspace(tmp_path, check_parameters=Checks()).tests
    problem = the_error_of(tmp_path, known_evaluators=["other"], check_parameters=Checks())
    assert problem.message == "unknown evaluator `math_evaluator`"


def test_parameters_are_checked_as_merged(tmp_path: Path) -> None:
    seen = []

    class Checks(_Checks):
        def __call__(self, name: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
            seen.append((name, dict(parameters)))
            return [("cases[0].input", "unknown parameter", "did you mean `x`?")]

    module = {"name": "math_evaluator", "parameters": {"expected_answer": 4}}
    write_workspace(tmp_path, tests=[{**SUM, "evaluation_module": module}])
    problem = the_error_of(tmp_path, check_parameters=Checks())
    assert seen == [("math_evaluator", {"precision": 2, "expected_answer": 4})]
    assert problem.place == "tests[0].evaluation_module.parameters.cases[0].input"


def test_parameters_of_unknown_evaluators_are_not_checked(tmp_path: Path) -> None:
    class Checks(_Checks):
        def __call__(self, name: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
            raise AssertionError(name)

    write_workspace(tmp_path)
    assert the_error_of(tmp_path, known_evaluators=[], check_parameters=Checks())


def test_without_evaluator_facts_names_are_not_checked(tmp_path: Path) -> None:
    assert load_workspace(write_workspace(tmp_path)).tests
