from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.config.edit_json import write_entries

WRITTEN = """{
    "_comment": "ours ] } ,",
    "llms": [
        {"provider": "ollama",   "name": "a", "size": 1.0},

        {
            "_note": "slow",
            "provider": "ollama", "name": "b"
        }
    ],
    "_end": ["x"]
}
"""
A = {"provider": "ollama", "name": "a", "size": 1.0}
B = {"_note": "slow", "provider": "ollama", "name": "b"}
NEW = {"provider": "ollama", "name": "ö"}


def test_nothing_changes_where_entries_say_the_same() -> None:
    assert write_entries(WRITTEN, "llms", [A, B]) == WRITTEN


def test_a_new_entry_is_added_and_all_else_stays_to_the_letter() -> None:
    added = write_entries(WRITTEN, "llms", [A, B, NEW])
    assert added is not None
    start, end = WRITTEN.split("\n    ],\n")
    entry = '        {\n            "provider": "ollama",\n            "name": "ö"\n        }'
    assert added == f"{start},\n{entry}\n    ],\n{end}"


def test_a_changed_entry_is_written_in_the_form_it_had() -> None:
    changed = write_entries(WRITTEN, "llms", [A | {"size": 1}, B])
    assert changed == WRITTEN.replace(
        '{"provider": "ollama",   "name": "a", "size": 1.0}',
        '{"provider": "ollama", "name": "a", "size": 1}',
    )


NESTED = """{
  "tests": [
    {
      "test_id": "a",
      "evaluation_module": {"parameters": {"expected": "\\u00f6"}},
      "text": ["x"]
    }
  ]
}"""
TEST = {"test_id": "a", "evaluation_module": {"parameters": {"expected": "ö"}}, "text": ["x"]}


def test_values_of_a_changed_entry_stay_as_they_are_written_and_new_ones_are_like_them() -> None:
    changed = write_entries(NESTED, "tests", [TEST | {"text": ["y", "z"], "tags": ["t"]}])
    assert changed == NESTED.replace('["x"]', '["y", "z"],\n      "tags": ["t"]')
    spread = NESTED.replace('["x"]', '[\n        "x"\n      ]')
    changed = write_entries(spread, "tests", [TEST | {"text": ["y"], "tags": ["t"]}])
    tags = ',\n      "tags": [\n        "t"\n      ]'
    assert changed == spread.replace('"x"\n      ]', f'"y"\n      ]{tags}')


def test_line_ends_of_windows_stay_the_only_ones() -> None:
    added = write_entries(WRITTEN.replace("\n", "\r\n"), "llms", [A, B, NEW])
    assert added is not None
    assert added.count("\r\n") == added.count("\n") == WRITTEN.count("\n") + 4


def test_entries_on_one_line_get_neighbours_on_one_line() -> None:
    added = write_entries('[\n  {"a": 1}\n]', "llms", [{"a": 1}, {"b": [2]}])
    assert added == '[\n  {"a": 1},\n  {"b": [2]}\n]'


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ('{"llms": []}', [NEW]),
        ('{"llms": [{"a": 1}]}', [NEW]),
        ('{"llms": [\n {"a": 1},\n {"b": 2}\n]}', [{"a": 3}]),
        ('{"llms": [\n {"a": 1}, {"b": 2}\n]}', [{"a": 1}, {"b": 2}, NEW]),
    ],
    ids=["none yet", "all on one line", "one taken away, one changed", "two on a line"],
)
def test_what_cannot_be_put_in_is_written_anew(text: str, entries: list[Any]) -> None:
    assert write_entries(text, "llms", entries) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), values)


@pytest.mark.slow(reason="a long search")
@given(
    st.lists(objects, min_size=1, max_size=4),
    st.lists(objects, max_size=3),
    st.sampled_from([2, "\t"]),
    st.booleans(),
)
def test_the_text_always_says_what_it_shall(
    old: list[Any], added: list[Any], indent: int | str, is_object: bool
) -> None:
    data = {"x": old, "llms": old, "_y": 1} if is_object else old
    text = json.dumps(data, indent=indent, ensure_ascii=False)
    changed = [*old[:-1], {"new": 1}, *added]
    written = write_entries(text, "llms", changed)
    assert written is not None
    read = json.loads(written)
    assert read == ({"x": old, "llms": changed, "_y": 1} if is_object else changed)


@pytest.mark.parametrize(
    ("left", "text"),
    [
        ([{"a": 1}], '{"llms": [\n {"a" :1}\n]}'),
        ([{"b": 2}], '{"llms": [\n {"b": 2}\n]}'),
        ([{"a": 1}, {"c": 3}], '{"llms": [\n {"a" :1},\n {"c":3}\n]}'),
    ],
)
def test_entries_are_cut_out(left: list[Any], text: str) -> None:
    whole = '{"llms": [\n {"a" :1},\n {"b": 2},\n {"c":3}\n]}'
    assert write_entries(whole, "llms", left) == text
