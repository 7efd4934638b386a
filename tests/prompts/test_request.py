from __future__ import annotations

from typing import Any

from poor_bench.models.completion import ChatRequest
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test, TestClass
from poor_bench.prompts.request import build_request

SCHEMA = {"type": "object", "properties": {"answer": {"type": "number"}}}
TEST = Test(test_id="t", class_id="c", level=1, text="2 + 2?")


def request(schema: dict[str, Any] | None, **parameters: Any) -> ChatRequest:
    llm = LLM(id="p:m", provider="p", name="m", parameters=parameters)
    test_class = TestClass(id="c", templates={"default": "Solve: {text}"}, response_schema=schema)
    return build_request(llm, test_class, TEST)


def test_request_holds_the_prompt_and_the_parameters() -> None:
    asked = request(SCHEMA, temperature=0.5)

    assert asked.messages[-1].content == "Solve: 2 + 2?"
    assert asked.parameters == {"temperature": 0.5}


def test_llm_that_keeps_to_the_class_gets_its_schema() -> None:
    asked = request(SCHEMA, response_format="class", max_tokens=5)

    wanted = {"type": "json_schema", "schema": SCHEMA}
    assert asked.parameters == {"max_tokens": 5, "response_format": wanted}


def test_class_without_a_schema_leaves_the_llm_free() -> None:
    assert request(None, response_format="class", max_tokens=5).parameters == {"max_tokens": 5}


def test_format_of_the_llms_own_counts_more_than_the_class() -> None:
    assert request(SCHEMA, response_format="json").parameters == {"response_format": "json"}
