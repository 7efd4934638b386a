from __future__ import annotations

from typing import Any

from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test
from poor_bench.models.test_class import TestClass
from poor_bench.prompts.messages import build_messages, template_for

SUM = Test(test_id="t", class_id="c", level=1, text="2 + 2")


def make_class(**more: Any) -> TestClass:
    return TestClass(id="c", templates={"default": "Solve {problem}"}, **more)


def make_llm(**more: Any) -> LLM:
    return LLM(**{"id": "ollama:a", "provider": "ollama", "name": "a", **more})


def test_without_system_prompts_only_the_user_speaks() -> None:
    assert build_messages(make_llm(), make_class(), SUM) == (Message("user", "Solve 2 + 2"),)


def test_system_prompts_of_llm_and_class_are_joined_by_a_blank_line() -> None:
    llm = make_llm(base_system_prompt="Be brief.")
    system, _ = build_messages(llm, make_class(system_prompt="Use JSON."), SUM)
    assert system == Message("system", "Be brief.\n\nUse JSON.")


def test_a_lone_system_prompt_stands_alone() -> None:
    system, _ = build_messages(make_llm(), make_class(system_prompt="Use JSON."), SUM)
    assert system == Message("system", "Use JSON.")


def test_override_for_exactly_this_llm_comes_first() -> None:
    overrides = {"ollama:a:1b": "base {x}", "ollama:a:1b:false": "exact {x}"}
    assert template_for(make_class(overrides=overrides), "ollama:a:1b:false") == "exact {x}"


def test_override_without_think_suffix_serves_both_twins() -> None:
    test_class = make_class(overrides={"ollama:a:1b": "base {x}"})
    assert template_for(test_class, "ollama:a:1b:true") == "base {x}"
    assert template_for(test_class, "ollama:a:1b:false") == "base {x}"


def test_other_llms_get_the_default() -> None:
    test_class = make_class(overrides={"ollama:a:1b": "base {x}"})
    assert template_for(test_class, "ollama:a:4b") == "Solve {problem}"


def test_the_override_is_what_is_sent() -> None:
    test_class = make_class(overrides={"ollama:a": "Only for a: {problem}"})
    (user,) = build_messages(make_llm(), test_class, SUM)
    assert user.content == "Only for a: 2 + 2"
