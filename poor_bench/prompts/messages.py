"""The messages that one LLM gets for one test."""

from __future__ import annotations

from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.models.llm_id import resolve_llm_id
from poor_bench.models.test import Test
from poor_bench.models.test_class import TestClass
from poor_bench.prompts.render import render_prompt


def template_for(test_class: TestClass, llm: LLM) -> str:
    """Return the template that an LLM gets for the tests of a class.

    An override for exactly its id comes first, then the longest key that `resolve_llm_id` would
    find it by (`provider:name`, with or without a think suffix), then the default.
    """
    overrides = test_class.overrides
    if llm.id in overrides:
        return overrides[llm.id]
    fitting = [key for key in overrides if resolve_llm_id(key, [llm])]
    return overrides[max(fitting, key=len)] if fitting else test_class.templates["default"]


def build_messages(llm: LLM, test_class: TestClass, test: Test) -> tuple[Message, ...]:
    """Return the conversation that asks `llm` for `test`.

    Returns:
        The system prompts of the LLM and of the class, joined by a blank line, where there are
        any; then the rendered prompt as the user's message.
    """
    prompt = render_prompt(template_for(test_class, llm), test)
    user = Message("user", prompt)
    system_prompts = [part for part in (llm.base_system_prompt, test_class.system_prompt) if part]
    if not system_prompts:
        return (user,)
    return Message("system", "\n\n".join(system_prompts)), user
