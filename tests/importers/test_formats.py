from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from poor_bench.errors import ConfigError
from poor_bench.importers.code_datasets import HUMANEVAL, MBPP
from poor_bench.importers.datasets import GSM8K, MULTIPLE_CHOICE, find_importer, recognise
from poor_bench.importers.rows import Importer, RowError, make_columns_importer, to_tests

WORDS = {"question": "2 + 2 of 1,200?", "answer": "It is <<2+2=4>>4.\n#### 1,204"}
COMPLETION = {
    "task_id": "HumanEval/7",
    "prompt": "import math\n\n\ndef half(x):\n    '''Half of x.'''\n",
    "entry_point": "half",
    "canonical_solution": "    return x / 2\n",
    "test": "def check(candidate):\n    assert candidate(4) == 2\n",
}
BASIC = {
    "task_id": 3,
    "prompt": "Write a function to add {a} and {b}.",
    "code": "def add(a, b):\r\n    return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"],
    "test_imports": [],
}
LETTERS = {"question": "Which?", "A": "x", "B": "y", "answer": "B"}


def one(importer: Importer, row: Mapping[str, Any]) -> dict[str, Any]:
    ((_, test),) = to_tests(importer, [(5, row)], "mine")
    assert not isinstance(test, RowError)
    return test


def refusal(importer: Importer, row: Mapping[str, Any]) -> str:
    ((_, test),) = to_tests(importer, [(5, row)], "mine")
    assert isinstance(test, RowError)
    return str(test)


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (WORDS, "gsm8k"),
        (COMPLETION, "humaneval"),
        (BASIC, "mbpp"),
        (LETTERS, "multiple_choice"),
        ({"question": {"stem": "?", "choices": []}, "answerKey": "A"}, "multiple_choice"),
    ],
)
def test_formats_are_recognised_by_their_columns(row: Mapping[str, Any], name: str) -> None:
    assert recognise(row).name == name
    assert find_importer(name) is recognise(row)


def test_unknown_columns_say_how_to_go_on() -> None:
    with pytest.raises(ConfigError, match="`text`, `label`") as caught:
        recognise({"text": "x", "label": "y"})
    assert "--column" in caught.value.hint


def test_an_unknown_format_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        find_importer("gsm8")
    assert "gsm8k" in caught.value.hint


def test_a_word_problem_has_its_number_and_its_worked_answer() -> None:
    test = one(GSM8K, WORDS)
    assert test["test_id"] == "mine_0005"
    assert test["evaluation_module"] == {"parameters": {"expected_answer": "1204"}}
    assert test["reference_response"] == 'It is 4.\n{"answer": 1204}'


@pytest.mark.parametrize(("n_steps", "level"), [(0, 1), (2, 1), (3, 2), (4, 3), (6, 4), (9, 5)])
def test_more_steps_are_a_higher_level(n_steps: int, level: int) -> None:
    answer = "<<1+1=2>>2 " * n_steps + "#### 2"
    assert one(GSM8K, {"question": "?", "answer": answer})["level"] == level


def test_a_word_problem_without_a_number_is_refused() -> None:
    assert "####" in refusal(GSM8K, {"question": "?", "answer": "4"})


def test_a_completion_has_its_check_and_what_comes_before_the_function() -> None:
    test = one(HUMANEVAL, COMPLETION)
    assert test["test_id"] == "mine_7"
    assert test["evaluation_module"]["parameters"] == {
        "function_name": "half",
        "check_source": COMPLETION["test"],
        "setup_code": "import math",
    }
    assert "    return x / 2" in test["reference_response"]


def test_a_completion_of_another_function_is_refused() -> None:
    assert "`third`" in refusal(HUMANEVAL, {**COMPLETION, "entry_point": "third"})


def test_plain_assertions_become_inputs_and_outputs() -> None:
    test = one(MBPP, BASIC)
    assert test["evaluation_module"]["parameters"] == {
        "function_name": "add",
        "test_cases": [
            {"input": [1, 2], "expected_output": 3},
            {"input": [-1, 1], "expected_output": 0},
        ],
    }
    assert "add {a} and {b}" in test["text"]
    assert "assert add(1, 2) == 3" in test["text"]


@pytest.mark.parametrize(
    "assertion",
    [
        "assert set(add(1, 2)) == {3}",
        "assert not add(1, 2)",
        "assert add(a=1, b=2) == 3",
        "assert add(1, 2) == float('nan')",
    ],
)
def test_other_assertions_become_a_check(assertion: str) -> None:
    parameters = one(MBPP, {**BASIC, "test_list": [assertion]})["evaluation_module"]["parameters"]
    assert parameters["check_source"] == f"def check(candidate):\n    {assertion}\n"


def test_imports_of_the_assertions_run_before_them() -> None:
    row = {**BASIC, "test_imports": ["import math"]}
    parameters = one(MBPP, row)["evaluation_module"]["parameters"]
    assert parameters["setup_code"] == "import math"


@pytest.mark.parametrize(
    "changes",
    [{"test_list": []}, {"test_list": ["assert sub(1)"]}, {"code": "def add(:"}, {"code": None}],
)
def test_problems_without_a_tested_function_are_refused(changes: dict[str, Any]) -> None:
    assert refusal(MBPP, {**BASIC, **changes})


@pytest.mark.parametrize(
    "row",
    [
        LETTERS,
        {"question": "Which?", "choice0": "x", "choice1": "y", "answer": "1"},
        {"question": "Which?", "option_a": "x", "option_b": "y", "answer": "b"},
        {"question": "Which?", "choices": ["x", "y"], "answer": 1},
        {"question": "Which?", "choices": ["x", "y"], "answer": "y"},
        {"question": "Which?", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answer": "2"},
        {
            "question": {
                "stem": "Which?",
                "choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}],
            },
            "answerKey": "B",
        },
    ],
)
def test_choices_in_all_spellings_give_the_same_test(row: Mapping[str, Any]) -> None:
    test = one(MULTIPLE_CHOICE, row)
    assert test["text"] == "Which?\n\nA) x\nB) y"
    assert test["evaluation_module"] == {"parameters": {"expected": "B", "choices": ["x", "y"]}}
    assert test["reference_response"] == "B"


@pytest.mark.parametrize(
    "row",
    [
        {**LETTERS, "answer": "C"},
        {**LETTERS, "answer": None},
        {**LETTERS, "question": ""},
        {"question": "Which?", "A": "x", "answer": "A"},
        {"question": "Which?", "choices": 5, "answer": "A"},
        {"question": "Which?", "choices": {"text": 5}, "answer": "A"},
    ],
)
def test_choices_that_do_not_hold_together_are_refused(row: Mapping[str, Any]) -> None:
    assert refusal(MULTIPLE_CHOICE, row)


def test_any_table_can_be_mapped() -> None:
    importer = make_columns_importer(
        {
            "text": "review",
            "test_id": "key",
            "level": "stars",
            "tags": "topics",
            "fields.language": "lang",
            "parameters.expected": "moods",
        },
        evaluator="list_match",
        parameters={"ordered": True},
        template="{text} in {language}",
    )
    row = {"review": "Fine", "key": 9, "stars": "3", "topics": "a, b", "lang": "de"}
    assert one(importer, {**row, "moods": '["good"]'}) == {
        "test_id": "mine_9",
        "class_id": "mine",
        "level": 3,
        "text": "Fine",
        "tags": ["a", "b"],
        "fields": {"language": "de"},
        "evaluation_module": {"parameters": {"expected": ["good"]}},
    }
    assert importer.class_entry["evaluation_module"] == {
        "name": "list_match",
        "parameters": {"ordered": True},
    }


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"txt": "a"}, "unknown part of a test: `txt`"),
        ({"fields.": "a"}, "unknown part"),
        ({"level": "a"}, "map one column to `text`"),
        ({"text": "a", "texts": "b"}, "map one column to `text`"),
    ],
)
def test_mappings_that_make_no_test_are_refused(columns: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_columns_importer(columns, evaluator="e", parameters={}, template="{text}")


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ({"text": "a"}, {"b": "x"}),
        ({"text": "a"}, {"a": " "}),
        ({"texts": "a"}, {"a": "x"}),
        ({"text": "a", "level": "b"}, {"a": "x", "b": "hard"}),
    ],
)
def test_rows_that_make_no_test_are_refused(columns: dict[str, str], row: dict[str, str]) -> None:
    importer = make_columns_importer(columns, evaluator="e", parameters={}, template="{text}")
    assert refusal(importer, row)


@pytest.mark.parametrize(
    ("more", "group"),
    [
        ({"passage_id": 12}, "mine 12"),
        ({"article": "Anna walks to the market. " * 20}, "mine "),
        ({"subject": "anatomy"}, None),
    ],
    ids=["passage", "text", "subject"],
)
def test_questions_about_one_passage_share_a_group(more: dict, group: str | None) -> None:
    row = {"question": "Where?", "choices": ["here", "there"], "answer": 0, **more}
    (_, one), (_, other) = to_tests(find_importer("multiple_choice"), [(1, row), (2, row)], "mine")
    assert one.get("group") == other.get("group")
    assert one.get("group", "").startswith(group) if group else "group" not in one
    assert len(one.get("group", "")) < 40
