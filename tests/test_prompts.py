from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.completion import ChatRequest, Message, Usage, cost_usd
from poor_bench.models.llm import LLM, Prices
from poor_bench.models.test import EvaluatorSpec, Test, TestClass
from poor_bench.prompts import (
    build_messages,
    build_request,
    choose_template,
    hash_evaluator,
    hash_llm,
    list_unfilled_placeholders,
    render_prompt,
    request_fingerprint,
)

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
    assert choose_template(make_class(overrides=overrides), llm) == "exact {x}"


@pytest.mark.parametrize("think", [True, False])
def test_override_without_think_suffix_serves_both_twins(think: bool) -> None:
    test_class = make_class(overrides={"ollama:a:1b": "base {x}"})
    llm = make_llm(id=f"ollama:a:1b:{think}".lower(), name="a:1b", parameters={"think": think})
    assert choose_template(test_class, llm) == "base {x}"


def test_override_with_think_suffix_comes_before_one_without() -> None:
    overrides = {"ollama:a": "base {x}", "ollama:a:true": "deep {x}"}
    llm = make_llm(id="deep", parameters={"think": True})
    assert choose_template(make_class(overrides=overrides), llm) == "deep {x}"


def test_override_under_the_id_of_an_older_tool_serves_its_llm() -> None:
    test_class = make_class(overrides={"ollama:a:1b:false": "old {x}"})
    assert choose_template(test_class, make_llm(id="ollama:a:1b", name="a:1b")) == "old {x}"


def test_other_llms_get_the_default() -> None:
    test_class = make_class(overrides={"ollama:a:1b": "base {x}"})
    assert choose_template(test_class, make_llm()) == "Solve {problem}"


def test_the_override_is_what_is_sent() -> None:
    test_class = make_class(overrides={"ollama:a": "Only for a: {problem}"})
    (user,) = build_messages(make_llm(), test_class, SUM)
    assert user.content == "Only for a: 2 + 2"


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
names = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)


def make_test(text: str | None = "2 + 2", **more: Any) -> Test:
    return Test(test_id="t", class_id="c", level=1, text=text, **more)


@pytest.mark.parametrize("name", ["problem", "task", "text", "texts", "question", "any_name"])
def test_single_placeholder_takes_the_text_whatever_its_name(name: str) -> None:
    assert render_prompt(f"Solve {{{name}}}!", make_test()) == "Solve 2 + 2!"


def test_single_placeholder_is_filled_wherever_it_stands() -> None:
    assert render_prompt("{q} again: {q}", make_test()) == "2 + 2 again: 2 + 2"


def test_texts_are_rendered_as_a_json_list_in_their_own_script() -> None:
    test = make_test(None, texts=('He said "no"', "très bien"))
    assert render_prompt("Of {texts}", test) == 'Of ["He said \\"no\\"", "très bien"]'


def test_fields_fill_their_placeholders_beside_the_text() -> None:
    test = make_test("bonjour", fields={"language": "French", "limits": [1, 2]})
    assert render_prompt("{text} in {language} {limits}", test) == "bonjour in French [1, 2]"


def test_a_field_wins_over_the_text_for_its_own_name() -> None:
    test = make_test("a", fields={"task": "b"})
    assert render_prompt("{task}", test) == "b"


def test_json_examples_survive_in_templates() -> None:
    template = 'Return {"answer": {"value": 1}, "set": {}} or { x } for {problem}'
    assert render_prompt(template, make_test()) == (
        'Return {"answer": {"value": 1}, "set": {}} or { x } for 2 + 2'
    )


def test_placeholder_inside_a_json_example_is_filled() -> None:
    assert render_prompt('{"q": {"text": {text}}}', make_test()) == '{"q": {"text": 2 + 2}}'


def test_double_braces_stand_for_a_literal_name() -> None:
    assert render_prompt("{{text}} is {text}", make_test()) == "{text} is 2 + 2"


def test_names_that_nothing_fills_stay() -> None:
    assert render_prompt("{text} and {set_member}", make_test()) == "2 + 2 and {set_member}"


def test_braces_in_a_field_are_not_expanded() -> None:
    test = make_test("secret", fields={"context": "{text}"})
    assert render_prompt("{context}|{text}", test) == "{text}|secret"


@given(texts)
def test_a_text_arrives_unchanged(text: str) -> None:
    assert render_prompt("<{problem}>", make_test(text)) == f"<{text}>"


@given(st.lists(texts, min_size=1))
def test_texts_arrive_as_json_that_reads_back(items: list[str]) -> None:
    rendered = render_prompt("{texts}", make_test(None, texts=tuple(items)))
    assert json.loads(rendered) == items


@given(texts.filter(lambda text: re.search(r"\{[A-Za-z_]\w*\}", text) is None), texts)
def test_a_template_without_names_is_left_alone(template: str, text: str) -> None:
    assert render_prompt(template, make_test(text)) == template


@given(st.dictionaries(names, texts), st.lists(names, min_size=2, unique=True))
def test_what_is_unfilled_is_what_remains(fields: dict[str, str], used: list[str]) -> None:
    template = " ".join(f"{{{name}}}" for name in used)
    remaining = list_unfilled_placeholders(template, fields)
    rendered = render_prompt(template, make_test("", fields=dict.fromkeys(fields, "")))
    assert rendered.split() == [f"{{{name}}}" for name in remaining]


LLM_A = LLM(id="p:m", provider="p", name="m", parameters={"temperature": 0, "stop": ["x"]})
PROMPT = (Message("user", "hello \ud800"),)


def asked(llm: LLM, messages: tuple[Message, ...] = PROMPT) -> str:
    return request_fingerprint(llm, ChatRequest(messages=messages, parameters=llm.parameters))


def test_request_fingerprint_follows_what_is_asked() -> None:
    known = asked(LLM_A)
    assert len(known) == 16
    assert asked(replace(LLM_A, name="n")) != known
    assert asked(replace(LLM_A, parameters={"temperature": 1})) != known
    assert asked(LLM_A, (Message("system", "be brief"), *PROMPT)) != known


def test_request_fingerprint_follows_the_parameters_that_are_sent() -> None:
    other = ChatRequest(messages=PROMPT, parameters={**LLM_A.parameters, "max_tokens": 9})
    assert request_fingerprint(LLM_A, other) != asked(LLM_A)


def test_request_fingerprint_ignores_names_places_and_transport() -> None:
    known = asked(LLM_A)
    moved = replace(LLM_A, id="other", label="x", endpoint="http://127.0.0.1:1", size=3.0)
    assert asked(moved) == known
    reordered = {"stop": ["x"], "stream": False, "temperature": 0, "keep_alive": "1h"}
    assert asked(replace(LLM_A, parameters=reordered)) == known


def test_llm_fingerprint_follows_model_and_parameters_alone() -> None:
    known = hash_llm(LLM_A)
    assert hash_llm(replace(LLM_A, base_system_prompt="be brief", label="x")) == known
    assert hash_llm(replace(LLM_A, name="n")) != known
    assert hash_llm(replace(LLM_A, parameters={"temperature": 1})) != known


def test_evaluator_fingerprint_follows_name_parameters_and_code() -> None:
    spec = EvaluatorSpec("math", {"precision": 2})
    known = hash_evaluator(spec, "code")
    assert hash_evaluator(EvaluatorSpec("math", {"precision": 3}), "code") != known
    assert hash_evaluator(EvaluatorSpec("other", {"precision": 2}), "code") != known
    assert hash_evaluator(spec, "changed") != known


def test_cached_tokens_have_their_own_price() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=0, cached_tokens=500_000)
    assert cost_usd(usage, Prices(input=2, output=8, cached_input=0.5)) == 1.25
    assert cost_usd(usage, Prices(input=2, output=8)) == 2.0
    assert cost_usd(usage, Prices()) is None
    assert cost_usd(Usage(), Prices(input=2, output=8)) is None


def test_a_cache_of_prompts_changes_no_answer() -> None:
    llm = LLM(id="x:a", provider="x", name="a")
    plain = ChatRequest(messages=(Message("user", "2+2?"),))
    cached = ChatRequest(messages=(Message("user", "2+2?", 2),), parameters={"prompt_cache": True})
    assert request_fingerprint(llm, cached) == request_fingerprint(llm, plain)
