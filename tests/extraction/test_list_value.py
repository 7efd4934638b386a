from __future__ import annotations

import pytest
from hypothesis import given

from poor_bench.extraction.found import Found
from poor_bench.extraction.list_value import extract_list
from tests.extraction.strategies import hostile_text

CASES = {
    "json": ('["a", 1]', ["a", 1], Found.BARE),
    "fenced json": ('```json\n["a"]\n```', ["a"], Found.FENCED),
    "json in an object": ('{"items": ["a", "b"]}', ["a", "b"], Found.IN_PROSE),
    "json beats bullets": ('- x\n- y\n["a"]', ["a"], Found.IN_PROSE),
    "bullets": ("- a\n* b\n\n• c", ["a", "b", "c"], Found.BARE),
    "numbered": ("1. a\n2) b\n(3) c", ["a", "b", "c"], Found.BARE),
    "bullets in prose": ("Here:\n- a\n- b", ["a", "b"], Found.IN_PROSE),
    "lines": ("a\nb", ["a", "b"], Found.BARE),
    "commas": ("a, b;c", ["a", "b", "c"], Found.BARE),
    "last one after and": ("a, b and c", ["a", "b", "c"], Found.BARE),
    "last one after comma and": ("a, b, and c.", ["a", "b", "c."], Found.BARE),
    "last one after a Korean and": ("a, b, 그리고 c", ["a", "b", "c"], Found.BARE),
    "two": ("a and b", ["a", "b"], Found.BARE),
    "comma at the end": ("a, b,", ["a", "b"], Found.BARE),
    "numbers and spaces": ("1 -2 3.5", ["1", "-2", "3.5"], Found.BARE),
    "heading": ("Colors: a, b", ["a", "b"], Found.ANNOUNCED),
    "heading on a line": ("Sure:\na\nb", ["a", "b"], Found.ANNOUNCED),
    "heading before a line": ("Sure:\na, b", ["a", "b"], Found.ANNOUNCED),
    "sentence": ("The colors are a, b, and c.", ["a", "b", "c."], Found.ANNOUNCED),
    "boxed": (r"\boxed{1, 2}", ["1", "2"], Found.BOXED),
    "letters and dashes": ("a) x\nb) y\n\N{EN DASH} z", ["x", "y", "z"], Found.BARE),
    "bullets below": ("1. a\n   - x\n2. b\n   - y", ["a", "b"], Found.BARE),
    "indented bullets": ("- a\n  - b\n  - c", ["a", "b", "c"], Found.BARE),
    "fenced lines": ("Here:\n```\na\nb\n```", ["a", "b"], Found.FENCED),
}


@pytest.mark.parametrize(("text", "items", "found"), CASES.values(), ids=CASES)
def test_list_is_found_and_said_how(text, items, found):
    extracted = extract_list(text)
    assert extracted is not None
    assert (extracted.value, extracted.found) == (items, found)


SENTENCES = ["The text is positive, with a neutral tone.", "Yes, it is, as far as I know!"]


@pytest.mark.parametrize("text", ["", "one", "x" * 90 + "\n" + "y" * 90, "\n\n", *SENTENCES])
def test_what_is_no_list(text):
    assert extract_list(text) is None


def test_plain_items_that_do_not_count_make_no_list():
    assert extract_list("yes, red\nblue", accepts_item=str.isalpha) is None
    assert extract_list("red, blue", accepts_item=str.isalpha).value == ["red", "blue"]


@given(hostile_text)
def test_any_text_is_survived(text):
    extracted = extract_list(text)
    assert extracted is None or isinstance(extracted.value, list)
