import pytest

from poor_bench.issues.detector import TestFacts
from poor_bench.issues.facts import build_context, describe_test
from poor_bench.models.llm import LLM
from poor_bench.models.test import EvaluatorSpec, Test, TestClass
from poor_bench.scoring.verdict import AnswerFormat


@pytest.mark.parametrize(
    ("parameters", "facts"),
    [
        ({}, TestFacts(class_id="c")),
        ({"expected_format": "json"}, TestFacts(class_id="c", wanted=AnswerFormat.JSON_OBJECT)),
        ({"expected": [1, 2]}, TestFacts(class_id="c", wanted=AnswerFormat.JSON_LIST, n_items=2)),
        ({"schema": {"type": "object"}}, TestFacts(class_id="c", wanted=AnswerFormat.JSON_OBJECT)),
        ({"expected": {"age": 3}}, TestFacts(class_id="c", wanted=AnswerFormat.JSON_OBJECT)),
        ({"schema": {"type": "array"}}, TestFacts(class_id="c", wanted=AnswerFormat.JSON_LIST)),
        ({"schema": "no schema"}, TestFacts(class_id="c")),
        ({"test_cases": []}, TestFacts(class_id="c", wanted=AnswerFormat.CODE)),
        (
            {"function_name": "f", "expected_output": [1]},
            TestFacts(class_id="c", wanted=AnswerFormat.CODE, n_items=1, function_name="f"),
        ),
    ],
)
def test_parameters_of_the_evaluator_tell_what_is_wanted(
    parameters: dict, facts: TestFacts
) -> None:
    assert describe_test("c", EvaluatorSpec("any", parameters)) == facts


def test_a_workspace_tells_facts_and_temperatures() -> None:
    json_answer = EvaluatorSpec("math_evaluator", {"expected_format": "json"})
    context = build_context(
        {
            "t": Test(test_id="t", class_id="maths", level=1, text="1+1"),
            "u": Test(test_id="u", class_id="gone", level=1, text="1+1"),
        },
        {"maths": TestClass(id="maths", templates={"default": "{text}"}, evaluator=json_answer)},
        {
            "a": LLM(id="a", provider="ollama", name="a", parameters={"temperature": 0}),
            "b": LLM(id="b", provider="ollama", name="b"),
        },
    )
    assert dict(context.facts) == {
        "t": TestFacts(class_id="maths", wanted=AnswerFormat.JSON_OBJECT)
    }
    assert dict(context.temperatures) == {"a": 0.0}
