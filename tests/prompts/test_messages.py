from __future__ import annotations

from typing import Any

import pytest

from poor_bench.models.completion import Message
from poor_bench.models.llm import LLM
from poor_bench.models.test import Test, TestClass
from poor_bench.prompts.request import build_messages, template_for

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
    overrides = {"ollama:a:1b": "base {x}", "quick": "exact {x}", "ollama:a:1b:false": "off {x}"}
    llm = make_llm(id="quick", name="a:1b", parameters={"think": False})
    assert template_for(make_class(overrides=overrides), llm) == "exact {x}"


@pytest.mark.parametrize("think", [True, False])
def test_override_without_think_suffix_serves_both_twins(think: bool) -> None:
    test_class = make_class(overrides={"ollama:a:1b": "base {x}"})
    llm = make_llm(id=f"ollama:a:1b:{think}".lower(), name="a:1b", parameters={"think": think})
    assert template_for(test_class, llm) == "base {x}"


def test_override_with_think_suffix_comes_before_one_without() -> None:
    overrides = {"ollama:a": "base {x}", "ollama:a:true": "deep {x}"}
    llm = make_llm(id="deep", parameters={"think": True})
    assert template_for(make_class(overrides=overrides), llm) == "deep {x}"


def test_override_under_the_id_of_an_older_tool_serves_its_llm() -> None:
    test_class = make_class(overrides={"ollama:a:1b:false": "old {x}"})
    assert template_for(test_class, make_llm(id="ollama:a:1b", name="a:1b")) == "old {x}"


def test_other_llms_get_the_default() -> None:
    test_class = make_class(overrides={"ollama:a:1b": "base {x}"})
    assert template_for(test_class, make_llm()) == "Solve {problem}"


def test_the_override_is_what_is_sent() -> None:
    test_class = make_class(overrides={"ollama:a": "Only for a: {problem}"})
    (user,) = build_messages(make_llm(), test_class, SUM)
    assert user.content == "Only for a: 2 + 2"
