from __future__ import annotations

from typing import Any

import pytest

from poor_bench.scoring.verdict import AnswerFormat
from tests.lint.workspaces import FakeFacts, codes, lint, make_llm, make_test

ADD = {"function_name": "add"}


def test_a_test_without_faults_has_no_findings() -> None:
    assert lint(make_test()) == []


def test_a_function_name_that_the_prompt_never_tells_is_found() -> None:
    (finding,) = lint(make_test(text="adds two numbers", parameters=ADD))
    assert finding.problem.code == "function-name-untold"
    assert finding.problem.place == "tests[0].text"
    (fix,) = finding.fixes
    assert fix.value == "adds two numbers (name the function `add`)"


@pytest.mark.parametrize(
    "workspace",
    [{"template": "Write add(a, b): {text}"}, {"system_prompt": "The function is called `add`."}],
)
def test_a_function_name_anywhere_in_the_prompt_is_enough(workspace: dict[str, Any]) -> None:
    assert lint(make_test(text="sum up", parameters=ADD), **workspace) == []


@pytest.mark.parametrize("text", ["add_numbers", "adds two numbers", "Add"])
def test_a_name_within_another_word_does_not_count(text: str) -> None:
    assert codes(lint(make_test(text=text, parameters=ADD))) == ["function-name-untold"]


def test_a_sentence_is_mended_by_a_sentence() -> None:
    (finding,) = lint(make_test(text="Write a function.", parameters=ADD))
    assert finding.fixes[0].value == "Write a function. Name the function `add`."


def test_the_llms_whose_prompt_is_silent_are_named() -> None:
    (finding,) = lint(
        make_test(text="sum up", parameters=ADD),
        template="Write `add`: {text}",
        overrides={"scripted:b": "Just {text}"},
        llms=[make_llm("a"), make_llm("b")],
    )
    assert "for scripted:b does not" in finding.problem.message


def test_llms_that_are_switched_off_do_not_count() -> None:
    assert not lint(
        make_test(text="sum up", parameters=ADD),
        template="Write `add`: {text}",
        overrides={"scripted:b": "Just {text}"},
        llms=[make_llm("a"), make_llm("b", enabled=False)],
    )


@pytest.mark.parametrize(
    ("wanted", "asking"),
    [
        (AnswerFormat.JSON_OBJECT, "Reply in JSON."),
        (AnswerFormat.JSON_LIST, 'Reply like ["a"].'),
        (AnswerFormat.CODE, "Write a Python function."),
        (AnswerFormat.DIFF, "Show a unified diff."),
        (AnswerFormat.CHOICE, "Which letter?"),
        (AnswerFormat.LIST, "Separate them by commas."),
    ],
)
def test_the_prompt_must_ask_for_the_format(wanted: AnswerFormat, asking: str) -> None:
    facts = FakeFacts(format=wanted)
    assert codes(lint(make_test(text="Do it"), facts=facts)) == ["format-untold"]
    assert lint(make_test(text="Do it"), facts=facts, template=f"{{text}} {asking}") == []


@pytest.mark.parametrize("wanted", [None, AnswerFormat.TEXT, AnswerFormat.NUMBER])
def test_formats_that_come_by_themselves_need_not_be_asked_for(
    wanted: AnswerFormat | None,
) -> None:
    assert lint(make_test(text="How much?"), facts=FakeFacts(format=wanted)) == []


def test_keys_that_the_evaluator_looks_for_must_be_told() -> None:
    facts = FakeFacts(
        format=AnswerFormat.JSON_OBJECT, reference_of=lambda _spec: '{"answer": 4, "unit": "m"}'
    )
    (finding,) = lint(make_test(), facts=facts, template='{text} As JSON: {"answer": 1}')
    assert finding.problem.code == "key-untold"
    assert "`unit`" in finding.problem.message


def test_labels_must_be_offered() -> None:
    test = make_test(parameters={"expected_sentiments": ["Positive", "mixed", "mixed"]})
    (finding,) = lint(test, template="Is it positive or negative? {text}")
    assert finding.problem.code == "label-untold"
    assert "`mixed`" in finding.problem.message


def test_the_expected_choice_must_be_offered() -> None:
    test = make_test(text="Which? A) red B) a fish", parameters={"expected": "D"})
    (finding,) = lint(test, facts=FakeFacts(format=AnswerFormat.CHOICE))
    assert (finding.problem.code, "`D`" in finding.problem.message) == ("label-untold", True)
    offered = make_test(text="Which? A) red B) a fish", parameters={"expected": "B"})
    assert lint(offered, facts=FakeFacts(format=AnswerFormat.CHOICE)) == []
    assert lint(test, template="{text} C) blue D) big", facts=FakeFacts()) == []
