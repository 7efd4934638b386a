from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given

from poor_bench.extraction.found import Found
from poor_bench.extraction.json_value import extract_json, parse_json
from tests.extraction.strategies import hostile_text, json_values

CASES = {
    "bare": ('{"a": 1}', {"a": 1}, Found.BARE),
    "bare with spaces": ('\n [1, 2] \n', [1, 2], Found.BARE),
    "byte order mark": ('\ufeff{"a": 1}', {"a": 1}, Found.BARE),
    "fenced": ('```json\n{"a": 1}\n```', {"a": 1}, Found.FENCED),
    "fenced with tildes": ('~~~\n{"a": 1}\n~~~', {"a": 1}, Found.FENCED),
    "fenced in prose": ('Sure!\n```JSON5\n{"a": 1}\n```\nDone.', {"a": 1}, Found.FENCED),
    "fence never closed": ('```json\n{"a": 1}', {"a": 1}, Found.FENCED),
    "last fence wins": ('```\n{"a": 1}\n```\n```\n{"a": 2}\n```', {"a": 2}, Found.FENCED),
    "fence beats prose": ('```\n{"a": 1}\n```\nlike {"a": 2}', {"a": 1}, Found.FENCED),
    "in prose": ('It is {"a": 1}.', {"a": 1}, Found.IN_PROSE),
    "last in prose wins": ('Not {"a": 1} but {"a": 2}!', {"a": 2}, Found.IN_PROSE),
    "outermost wins": ('So {"a": {"b": [1]}} it is', {"a": {"b": [1]}}, Found.IN_PROSE),
    "inner where outer is none": ('[see {"a": 1}]', {"a": 1}, Found.IN_PROSE),
    "stray bracket before": ('On [a, b) take {"a": 1}', {"a": 1}, Found.IN_PROSE),
    "stray quote before": ('5" wide: {"a": 1}', {"a": 1}, Found.IN_PROSE),
    "brackets in a string": ('Is {"a": "}{]["} right', {"a": "}{]["}, Found.IN_PROSE),
    "trailing comma": ('{"a": [1, 2,],}', {"a": [1, 2]}, Found.REPAIRED),
    "single quotes": ("{'a': 'x'}", {"a": "x"}, Found.REPAIRED),
    "comments": ('{"a": 1 // one\n}', {"a": 1}, Found.REPAIRED),
    "unquoted keys": ("So {a: 1}", {"a": 1}, Found.REPAIRED),
    "python constants": ('{"a": True}', {"a": True}, Found.REPAIRED),
    "cut off": ('{"a": [1, 2', {"a": [1, 2]}, Found.REPAIRED),
    "broken in a fence": ("```json\n{'a': 1,}\n```", {"a": 1}, Found.REPAIRED),
    "sound beats broken": ("{'a': 1,} or {\"a\": 2}", {"a": 2}, Found.IN_PROSE),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value", "found"), CASES.values(), ids=CASES)
def test_json_is_found_and_said_how(text, value, found):
    extracted = extract_json(text)
    assert extracted is not None
    assert (extracted.value, extracted.found) == (value, found)


@pytest.mark.parametrize("text", ["", "no JSON", "7", '"text"', "null", "{", "}", "{x} [y"])
def test_nothing_that_is_a_container_is_nothing(text):
    extracted = extract_json(text)
    assert extracted is None or extracted.found is Found.REPAIRED


def test_repair_is_only_tried_where_allowed():
    assert extract_json("{'a': 1}", lenient=False) is None


def test_bug_of_the_repair_library_is_survived():
    # json-repair 0.64 raises an AssertionError over this text.
    assert extract_json('{"```json```[') is None


def test_unwanted_values_are_passed_over():
    text = '{"a": 1} and {"b": 2}'
    assert extract_json(text, lambda value: "a" in value).value == {"a": 1}


def test_object_inside_an_unwanted_list_is_found():
    extracted = extract_json('[{"a": 1}]', lambda value: isinstance(value, dict))
    assert (extracted.value, extracted.found) == ({"a": 1}, Found.IN_PROSE)


def test_scalars_count_where_they_are_wanted():
    extracted = extract_json("```json\n7\n```", lambda value: isinstance(value, int))
    assert (extracted.value, extracted.found) == (7, Found.FENCED)


def test_exact_numbers_keep_their_digits():
    extracted = extract_json('{"a": 0.10000000000000000001}', exact=True)
    assert extracted.value == {"a": Decimal("0.10000000000000000001")}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NaN", "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ("1e999", "beyond a float's range"),
        ("[" * 100_000, "nested deeper than 60 levels"),
        ("[" * 61 + "]" * 61, "nested deeper than 60 levels"),
        ("1" * 5_000, "4300 digits"),
        ("", "Expecting value"),
    ],
)
def test_strict_json_refuses(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_json(text)


@given(json_values)
def test_every_json_document_is_read_back(value):
    extracted = extract_json(json.dumps(value), lambda _: True)
    assert (extracted.value, extracted.found) == (value, Found.BARE)


@given(json_values)
def test_every_container_is_found_in_prose(value):
    text = f"Well, this is it: {json.dumps([value])} - as you asked."
    extracted = extract_json(text, lambda found: found == [value])
    assert extracted.found is Found.IN_PROSE


@given(hostile_text)
def test_any_text_is_survived(text):
    extracted = extract_json(text)
    assert extracted is None or isinstance(extracted.value, dict | list)
