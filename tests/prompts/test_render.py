from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.test import Test
from poor_bench.prompts.render import list_unfilled_placeholders, render_prompt

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
