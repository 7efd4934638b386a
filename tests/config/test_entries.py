from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from poor_bench.models.test import EvaluatorSpec
from tests.config.workspace_files import (
    SUM,
    TEST_CLASSES,
    errors_of,
    load,
    the_error_of,
    write_workspace,
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": 0}, "must be at least 1"),
        ({"level": True}, "must be a whole number, not true"),
        ({"level": 1.5}, "must be a whole number, not 1.5"),
        ({"level": 10**9}, "must be at most 1000"),
        ({"test_id": ""}, "must not be empty"),
        ({"test_id": " a "}, "must be one line that neither begins nor ends with a space"),
        ({"text": 5}, "must be a text, not 5"),
        ({"text": None}, "test `sum_1` has neither `text` nor `texts`"),
        ({"texts": ["a"]}, "test `sum_1` has both `text` and `texts`"),
        ({"text": None, "texts": []}, "must not be empty"),
        ({"text": None, "texts": ["a", 3]}, "must be a text, not 3"),
        ({"tags": "easy"}, 'must be a list, not "easy"'),
        ({"evaluation_module": "math"}, 'must be a mapping of keys to values, not "math"'),
        ({"evaluation_module": {"parameters": []}}, "must be a mapping of keys to values, not []"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_workspace(tmp_path, tests=[{**SUM, **changes}])
    assert the_error_of(tmp_path).message == message


def test_missing_keys_are_named(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[{"text": "x"}])
    assert {p.message for p in errors_of(tmp_path)} == {
        "`test_id` is missing",
        "`class_id` is missing",
        "`level` is missing",
    }


def test_a_test_may_name_only_parameters(tmp_path: Path) -> None:
    test = {**SUM, "evaluation_module": {"parameters": {"expected_answer": 4}}}
    workspace = load(tmp_path, tests=[test])
    assert workspace.tests[0].evaluator == EvaluatorSpec("math_evaluator", {"expected_answer": 4})


def test_comments_inside_free_mappings_are_dropped(tmp_path: Path) -> None:
    test = {**SUM, "fields": {"_why": "a comment", "language": "French"}}
    assert load(tmp_path, tests=[test]).tests[0].fields == {"language": "French"}


def test_other_templates_of_a_class_are_kept(tmp_path: Path) -> None:
    classes = TEST_CLASSES.replace(
        'default: "Solve', 'older_default: "Find {problem}"\n      default: "Solve'
    )
    templates = load(tmp_path, test_classes=classes).test_classes["sums"].templates
    assert templates == {"default": "Solve {problem}", "older_default": "Find {problem}"}


def test_duplicate_ids_name_the_first_place(tmp_path: Path) -> None:
    write_workspace(tmp_path, tests=[SUM, {**SUM, "text": "3 + 3"}])
    problem = the_error_of(tmp_path)
    assert (problem.place, problem.code) == ("tests[1]", "duplicate-id")
    assert "tests[0]" in problem.message


def test_texts_become_tuples_and_tags_are_kept(tmp_path: Path) -> None:
    test = {**SUM, "text": None, "texts": ["a", "b"], "tags": ["x"]}
    (loaded,) = load(tmp_path, tests=[test]).tests
    assert (loaded.text, loaded.texts, loaded.tags) == (None, ("a", "b"), ("x",))
