from __future__ import annotations

import json

import pytest

from poor_bench.extraction.schema_check import build_validator

LOOP = {"b": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/b"}}
UNUSABLE = {
    "type": ({"type": "nonsense"}, "not a JSON schema"),
    "pattern": ({"pattern": "("}, "not a JSON schema"),
    "nowhere": ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "not in it"),
    "anchor": ({"$dynamicRef": "#x"}, "not in it"),
    "elsewhere": ({"$ref": "http://127.0.0.1:9/schema.json"}, "not in it"),
    "circle": ({"$ref": "#"}, "back to itself"),
    "patterns without a time limit": (
        {"patternProperties": {"x": {}}, "allOf": [{"unevaluatedProperties": False}]},
        "no time limit can be kept",
    ),
    "long circle": ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": LOOP}, "back to itself"),
}


@pytest.mark.parametrize(("schema", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_schema_that_cannot_be_used_is_refused(schema, reason):
    with pytest.raises(ValueError, match=reason):
        build_validator(json.dumps(schema))


USABLE = {
    "definition": {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}},
    "old draft": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"$ref": "#/definitions/b"}},
        "definitions": {"b": {"type": "string"}},
    },
    "identifiers": {
        "$id": "http://example.org/s",
        "properties": {"a": {"$ref": "b"}},
        "$defs": {"b": {"$id": "b", "type": "string"}},
    },
    "anchor": {
        "properties": {"a": {"$ref": "#b"}},
        "$defs": {"b": {"$anchor": "b", "maxLength": 3}},
    },
    "pattern": {"properties": {"a": {"pattern": "^x+$"}}},
}


@pytest.mark.parametrize("schema", USABLE.values(), ids=USABLE)
def test_references_and_patterns_are_followed(schema):
    validator = build_validator(json.dumps(schema))
    assert validator.is_valid({"a": "xxx"})
    assert not all(validator.is_valid({"a": wrong}) for wrong in (3, "yyyy"))


def test_schema_may_contain_itself():
    validator = build_validator(
        json.dumps({"type": "object", "additionalProperties": {"$ref": "#"}})
    )
    assert validator.is_valid({"a": {"b": {}}})
    assert not validator.is_valid({"a": {"b": 1}})


ENDLESS = "^(a|aa)+$"
TEXT = "a" * 200 + "b"
SEARCHES = {
    "text": ({"pattern": ENDLESS}, TEXT),
    "names": ({"patternProperties": {ENDLESS: {}}}, {TEXT: 1}),
    "additional names": (
        {"additionalProperties": False, "patternProperties": {ENDLESS: {}}},
        {TEXT: 1},
    ),
}


@pytest.mark.slow(reason="waits for real processes or limits")
@pytest.mark.parametrize(("schema", "value"), SEARCHES.values(), ids=SEARCHES)
def test_search_for_a_pattern_ends_in_time(schema, value, monkeypatch):
    monkeypatch.setattr("poor_bench.extraction.schema_check._PATTERN_S", 0.1)
    validator = build_validator(json.dumps(schema))
    with pytest.raises(TimeoutError, match="the schema's pattern"):
        validator.is_valid(value)


PATTERNS = {"properties": {"id": {}}, "patternProperties": {"^n_": {"type": "number"}}}
NAMED = {
    "name that matches": ({}, {"n_a": 1}, ""),
    "value of a name that matches": ({}, {"n_a": "x"}, "'x' is not of type 'number'"),
    "other name": ({}, {"a": "x"}, ""),
    "other name where none may be": (
        {"additionalProperties": False},
        {"a": 1},
        "'a' was unexpected",
    ),
    "all names that may be": ({"additionalProperties": False}, {"id": 1, "n_a": 2}, ""),
    "value of another name": (
        {"additionalProperties": {"type": "null"}},
        {"n_a": 1, "a": 2},
        "2 is not",
    ),
    "no object": ({"additionalProperties": False}, ["n_a"], ""),
}


@pytest.mark.parametrize(("more", "value", "told"), NAMED.values(), ids=NAMED)
def test_names_are_checked_by_their_patterns(more, value, told):
    validator = build_validator(json.dumps(more | PATTERNS))
    messages = [error.message for error in validator.iter_errors(value)]
    assert len(messages) == bool(told)
    assert all(told in message for message in messages)


def test_pattern_asks_nothing_of_other_values():
    assert build_validator(json.dumps({"pattern": "x"})).is_valid(3)
