from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.config.document import UnreadableError
from poor_bench.config.yaml_document import parse_yaml

texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
)


@given(trees.filter(lambda tree: tree is not None))
def test_what_a_yaml_library_writes_reads_back(tree: Any) -> None:
    text = yaml.safe_dump(tree, allow_unicode=True, default_style='"')
    assert parse_yaml(text).data == tree


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("True", True),
        ("2026-11-21", "2026-11-21"),
        ("12:30", "12:30"),
        ("012", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("1_000", "1_000"),
        ("+5", 5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("~", None),
        ("''", ""),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("=", "="),
    ],
)
def test_scalars_follow_yaml_1_2(written: str, value: object) -> None:
    data = parse_yaml(f"key: {written}").data
    assert data == {"key": value}
    assert type(data["key"]) is type(value)


def test_aliases_and_merges_work() -> None:
    data = parse_yaml("base: &b {x: 1, y: 1}\nmore: {<<: *b, y: 2}\nsame: *b").data
    assert data == {"base": {"x": 1, "y": 1}, "more": {"x": 1, "y": 2}, "same": {"x": 1, "y": 1}}


def test_places_have_lines() -> None:
    document = parse_yaml("a:\n  - b: 1\n    c: 2\n  -\n    d: 3\n")
    assert document.line_of(("a", 0, "c")) == 3
    assert document.line_of(("a", 1, "d")) == 5
    assert document.line_of(("a", 1, "missing")) == 5
    assert document.line_of(("nothing",)) is None


def _laughs(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3", 3, "`a` occurs twice"),
        ("a: [1, 2", None, "this is not YAML"),
        ("a: b: c", 1, "mapping values"),
        ("a:\n\t- x", 2, "this is not YAML"),
        ("a: !!python/object/apply:os.system ['true']", 1, "the tag"),
        ("a: !!binary aGk=", 1, "the tag !!binary"),
        ("a: !custom x", 1, "the tag !custom"),
        ("1: x", 1, "the key 1 must be a text"),
        ("? [a]\n: x", 1, "a key must be a text"),
        ("a: .nan", 1, "not a finite number"),
        ("a: -.inf", 1, "not a finite number"),
        ("a: 1e999", 1, "too large"),
        (f"a: {'9' * 5000}", 1, "too many digits"),
        ("a: &x [*x]", 1, "contains it"),
        ("<<: 5", 1, "merges mappings only"),
        ("a: 1\n---\nb: 2", 2, "this is not YAML"),
        ("# only a comment", None, "only comments"),
        ("\x00", None, "this is not YAML"),
        (_laughs(12), 7, "aliases expand to more than"),
    ],
)
def test_mistakes_are_named(text: str, line: int | None, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        parse_yaml(text)
    assert line is None or caught.value.line == line


@given(st.text(max_size=60))
def test_any_text_is_data_or_a_clear_error(text: str) -> None:
    with contextlib.suppress(UnreadableError):
        json.dumps(parse_yaml(text).data, allow_nan=False)


@pytest.mark.parametrize(
    "text",
    ["[" * 30_000, "{a: " * 30_000, "- " * 30_000, "? " * 30_000, "a: " + "[" * 30_000,
     "\n".join(" " * depth + "a:" for depth in range(3_000))],
)  # fmt: skip
def test_depth_is_refused_before_the_parser_recurses(text: str) -> None:
    with pytest.raises(UnreadableError, match="nested more than 100"):
        parse_yaml(text)


@pytest.mark.slow(reason="a long text")
def test_many_brackets_side_by_side_are_no_depth() -> None:
    assert parse_yaml("a: [" + "[], " * 30_000 + "]").data == {"a": [[]] * 30_000}
