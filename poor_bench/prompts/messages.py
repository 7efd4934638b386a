"""The messages that one LLM gets for one test."""

from __future__ import annotations

from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.models.llm_id import split_think_suffix
from poor_bench.models.test import Test
from poor_bench.models.test_class import TestClass
from poor_bench.prompts.render import render_prompt


def template_for(test_class: TestClass, llm_id: str) -> str:
    """Return the template that an LLM gets for the tests of a class.

    An override for exactly this id comes first, then one for the id without its think suffix,
    then the default.
    """
    base_id, _ = split_think_suffix(llm_id)
    overrides = test_class.overrides
    return overrides.get(llm_id) or overrides.get(base_id) or test_class.templates["default"]


def build_messages(llm: LLM, test_class: TestClass, test: Test) -> tuple[Message, ...]:
    """Return the conversation that asks `llm` for `test`.

    Returns:
        The system prompts of the LLM and of the class, joined by a blank line, where there are
        any; then the rendered prompt as the user's message.
    """
    prompt = render_prompt(template_for(test_class, llm.id), test)
    user = Message("user", prompt)
    system_prompts = [part for part in (llm.base_system_prompt, test_class.system_prompt) if part]
    if not system_prompts:
        return (user,)
    return Message("system", "\n\n".join(system_prompts)), user
