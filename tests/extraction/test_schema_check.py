from __future__ import annotations

import json

import pytest

from poor_bench.extraction.schema_check import schema_validator

LOOP = {"b": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/b"}}
UNUSABLE = {
    "type": ({"type": "nonsense"}, "not a JSON schema"),
    "pattern": ({"pattern": "("}, "not a JSON schema"),
    "nowhere": ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "not in it"),
    "elsewhere": ({"$ref": "http://127.0.0.1:9/schema.json"}, "not in it"),
    "circle": ({"$ref": "#"}, "back to itself"),
    "long circle": ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": LOOP}, "back to itself"),
}


@pytest.mark.parametrize(("schema", "reason"), UNUSABLE.values(), ids=UNUSABLE)
def test_schema_that_cannot_be_used_is_refused(schema, reason):
    with pytest.raises(ValueError, match=reason):
        schema_validator(json.dumps(schema))


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
    validator = schema_validator(json.dumps(schema))
    assert validator.is_valid({"a": "xxx"})
    assert not all(validator.is_valid({"a": wrong}) for wrong in (3, "yyyy"))


def test_schema_may_contain_itself():
    validator = schema_validator(
        json.dumps({"type": "object", "additionalProperties": {"$ref": "#"}})
    )
    assert validator.is_valid({"a": {"b": {}}})
    assert not validator.is_valid({"a": {"b": 1}})


def test_search_for_a_pattern_ends_in_time():
    validator = schema_validator(json.dumps({"pattern": "^(a|aa)+$"}))
    with pytest.raises(TimeoutError, match="the schema's pattern"):
        validator.is_valid("a" * 200 + "b")


def test_pattern_asks_nothing_of_other_values():
    assert schema_validator(json.dumps({"pattern": "x"})).is_valid(3)
