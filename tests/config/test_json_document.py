from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.config.document import Place, UnreadableError
from poor_bench.config.json_document import find_lines, parse_json

trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=15,
)


def places_in(tree: Any, place: Place = ()) -> list[Place]:
    if not isinstance(tree, dict | list):
        return []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [p for key, value in items for p in ((*place, key), *places_in(value, (*place, key)))]


@given(trees, st.sampled_from([None, 0, 2, "\t"]))
def test_every_part_of_any_json_has_a_line(tree: Any, indent: Any) -> None:
    text = json.dumps(tree, indent=indent)
    lines = find_lines(text)
    assert set(lines) == set(places_in(tree))
    assert all(1 <= line <= text.count("\n") + 1 for line in lines.values())


def test_lines_are_those_of_the_text() -> None:
    text = '{"a": [1,\n 2, {"b": "x,]}"\n ,"c": 3}]}'
    lines = find_lines(text)
    assert lines == {("a",): 1, ("a", 0): 1, ("a", 1): 2, ("a", 2): 2} | {
        ("a", 2, "b"): 2,
        ("a", 2, "c"): 3,
    }


def test_a_part_that_is_not_there_has_the_line_of_its_parent() -> None:
    document = parse_json('{"tests": [\n{"level": 1}]}')
    assert document.line_of(("tests", 0, "text")) == 2
    assert document.line_of(("nothing",)) is None


def test_integers_stay_exact() -> None:
    assert parse_json(f'{{"n": {2**80}}}').data == {"n": 2**80}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('{"a": 1,\n}', "line 2, column 1", "comma"),
        ('{"a": 1\n"b": 2}', "line 2, column 1", "comma"),
        ("{'a': 1}", "line 1, column 2", "double quotes"),
        ('{"a": 1} // note', "line 1, column 10", "_comment"),
        ("[1, 2,]", "line 1", "comma"),
        ('{"a": 1, "a": 2}', "`a` occurs twice", ""),
        ('{"x": {"test_id": "t1", "a": 1, "a": 2}}', "`test_id`: `t1`", ""),
        ('{"a": NaN}', "NaN", ""),
        ('{"a": -Infinity}', "-Infinity", ""),
        ('{"a": 1e999}', "1e999 is too large", ""),
        (f'{{"a": {"9" * 5000}}}', "too many digits", ""),
        ("[" * 100_000, "nested more than 100 levels", ""),
        (r'{"a": "\ud800"}', r"\\ud800 is half of a surrogate pair", ""),
    ],
)
def test_mistakes_are_named(text: str, message: str, hint: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        parse_json(text)
    assert hint in caught.value.hint


def test_escaped_pairs_are_text() -> None:
    assert parse_json(r'{"a": "\ud83d\ude00 \\ud800"}').data == {"a": "\U0001f600 \\ud800"}


def test_where_a_text_is_not_closed_is_told_once() -> None:
    with pytest.raises(UnreadableError, match=r"it ends too early, at line 1, column 4"):
        parse_json('{"a')
