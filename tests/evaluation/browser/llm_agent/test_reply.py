from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from poor_bench.evaluation.browser.actions import ACTION_TYPES, Click, Done, Type
from poor_bench.evaluation.browser.llm_forms import (
    BadReplyError,
    make_reply_schema,
    parse_reply,
)

CLICK = {"thought": "go", "action": {"action": "click", "ref": "e12"}}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CLICK),
        f"Sure!\n```json\n{json.dumps(CLICK)}\n```",
        f"<think>hmm {{}}</think>{json.dumps(CLICK)} Done.",
        '{"thought": "go", "action": "click", "ref": "e12"}',
        "{'thought': 'go', 'action': {'action': 'click', 'ref': 'e12',}}",
    ],
    ids=["bare", "fenced", "thinking", "flat", "repaired"],
)
def test_an_action_is_found_however_it_is_wrapped(text: str) -> None:
    reply = parse_reply(text)
    assert reply.action == Click(action="click", ref="e12")
    assert reply.thought == "go"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I click the button.", 'does not contain a JSON object with the key "action"'),
        ('{"action": {"action": "fly"}}', "fly"),
        ('{"action": {"action": "click"}}', "ref: Field required"),
        ('{"action": {"action": "click", "ref": "#buy"}}', "ref: String should match"),
        ('{"action": {"action": "back", "x": 1}}', "x: Extra inputs"),
        ('{"action": {"action": "wait", "seconds": 9999}}', "less than or equal to 10"),
    ],
)
def test_the_llm_is_told_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(BadReplyError) as raised:
        parse_reply(text)
    assert message in str(raised.value)


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(BadReplyError):
        parse_reply(text)


def test_defaults_are_filled_in() -> None:
    assert parse_reply('{"action": {"action": "done", "summary": "ok"}}').action == Done(
        action="done", summary="ok"
    )
    typed = parse_reply('{"action": {"action": "type", "ref": "f1e2", "text": "a"}}').action
    assert typed == Type(action="type", ref="f1e2", text="a", submit=False)


def test_the_schema_is_valid_has_no_references_and_knows_every_action() -> None:
    schema = make_reply_schema(None)
    Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    assert len(schema["properties"]["action"]["anyOf"]) == len(ACTION_TYPES)
    assert Draft202012Validator(schema).is_valid(CLICK)
    assert not Draft202012Validator(schema).is_valid({"thought": "", "action": {"action": "fly"}})


def test_the_schema_of_the_data_is_asked_of_done() -> None:
    data = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    validator = Draft202012Validator(make_reply_schema(data))
    done = {"action": "done", "summary": "", "data": {"n": 1}}
    assert validator.is_valid({"thought": "", "action": done})
    assert not validator.is_valid({"thought": "", "action": {**done, "data": {"n": "1"}}})


def test_references_are_those_of_the_page_where_they_are_known() -> None:
    validator = Draft202012Validator(make_reply_schema(None, ["e12", "f1e2"]))
    assert validator.is_valid(CLICK)
    assert not validator.is_valid({"thought": "", "action": {"action": "click", "ref": "e13"}})
    many = Draft202012Validator(make_reply_schema(None, [f"e{n}" for n in range(1000)]))
    assert many.is_valid({"thought": "", "action": {"action": "click", "ref": "e5000"}})
