"""What one LLM is asked for one test: the messages, and the parameters that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poor_bench.models.completion import ChatRequest, Message
from poor_bench.models.llm import LLM, resolve_llm_id
from poor_bench.models.test import Test, TestClass
from poor_bench.prompts.render import count_fixed_start, render_prompt


def template_for(test_class: TestClass, llm: LLM) -> str:
    """Return the template that an LLM gets for the tests of a class.

    An override for exactly its id comes first, then the longest key that `resolve_llm_id` would
    find it by (`provider:name`, with or without a think suffix), then the default.
    """
    override = find_override(test_class, llm)
    return test_class.templates["default"] if override is None else test_class.overrides[override]


def find_override(test_class: TestClass, llm: LLM) -> str | None:
    """Find the key of the template that replaces the default for an LLM; None without one."""
    overrides = test_class.overrides
    if llm.id in overrides:
        return llm.id
    fitting = [key for key in overrides if resolve_llm_id(key, [llm])]
    return max(fitting, key=len, default=None)


def build_messages(llm: LLM, test_class: TestClass, test: Test) -> tuple[Message, ...]:
    """Return the conversation that asks `llm` for `test`.

    Returns:
        The system prompts of the LLM and of the class, joined by a blank line, where there are
        any; then the rendered prompt as the user's message.
    """
    template = template_for(test_class, llm)
    user = Message("user", render_prompt(template, test), count_fixed_start(template))
    system_prompts = [part for part in (llm.base_system_prompt, test_class.system_prompt) if part]
    if not system_prompts:
        return (user,)
    return Message("system", "\n\n".join(system_prompts)), user


OF_THE_CLASS = "class"
"""The `response_format` of LLMs that keep to the schema of whatever class a test is of."""


def build_request(llm: LLM, test_class: TestClass, test: Test) -> ChatRequest:
    """Build the request that sends a test to a model."""
    return ChatRequest(
        messages=build_messages(llm, test_class, test),
        parameters=build_parameters(llm, test_class),
    )


def build_parameters(llm: LLM, test_class: TestClass) -> Mapping[str, Any]:
    """Put the schema of the class in its place; classes without one leave the LLM free."""
    parameters, schema = llm.parameters, test_class.response_schema
    if parameters.get("response_format") != OF_THE_CLASS:
        return parameters
    others = {key: value for key, value in parameters.items() if key != "response_format"}
    if schema is None:
        return others
    return {**others, "response_format": {"type": "json_schema", "schema": schema}}
