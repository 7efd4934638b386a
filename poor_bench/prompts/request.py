"""What one LLM is asked for one test: the messages, and the parameters that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.models.test_class import TestClass
from poor_bench.prompts.messages import build_messages

OF_THE_CLASS = "class"
"""The `response_format` of LLMs that keep to the schema of whatever class a test is of."""


def build_request(llm: LLM, test_class: TestClass, test: Test) -> ChatRequest:
    """Return what asks `llm` for `test`."""
    return ChatRequest(
        messages=build_messages(llm, test_class, test),
        parameters=_parameters(llm.parameters, test_class.response_schema),
    )


def _parameters(
    parameters: Mapping[str, Any], schema: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Put the schema of the class in its place; classes without one leave the LLM free."""
    if parameters.get("response_format") != OF_THE_CLASS:
        return parameters
    others = {key: value for key, value in parameters.items() if key != "response_format"}
    if schema is None:
        return others
    return {**others, "response_format": {"type": "json_schema", "schema": schema}}
