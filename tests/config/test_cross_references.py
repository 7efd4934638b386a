from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from poor_bench.config.load import load_workspace
from tests.config.workspace_files import (
    SUM,
    TEST_CLASSES,
    errors_of,
    load,
    the_error_of,
    warnings_of,
    write_workspace,
)

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


def test_parameters_are_checked_as_merged(tmp_path: Path) -> None:
    seen = []

    def check(name: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        seen.append((name, dict(parameters)))
        return [("cases[0].input", "unknown parameter", "did you mean `x`?")]

    module = {"name": "math_evaluator", "parameters": {"expected_answer": 4}}
    write_workspace(tmp_path, tests=[{**SUM, "evaluation_module": module}])
    problem = the_error_of(tmp_path, check_parameters=check)
    assert seen == [("math_evaluator", {"precision": 2, "expected_answer": 4})]
    assert problem.place == "tests[0].evaluation_module.parameters.cases[0].input"


def test_parameters_of_unknown_evaluators_are_not_checked(tmp_path: Path) -> None:
    def check(name: str, parameters: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        raise AssertionError(name)

    write_workspace(tmp_path)
    assert the_error_of(tmp_path, known_evaluators=[], check_parameters=check)


def test_without_evaluator_facts_names_are_not_checked(tmp_path: Path) -> None:
    assert load_workspace(write_workspace(tmp_path)).tests
