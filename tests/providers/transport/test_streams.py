from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.providers.transport.reply import (
    Framing,
    MalformedJsonError,
    ObjectReader,
    dump_json,
    load_json,
    split_lines,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
json_objects = st.dictionaries(st.text(min_size=1), json_values, max_size=4)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """Cut bytes at the given places, as a network does."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def read_objects(pieces: list[bytes], framing: Framing) -> list[dict[str, Any]]:
    reader = ObjectReader(framing)
    return [value for piece in pieces for value in reader.feed(piece)] + list(reader.close())


cuts = st.lists(st.integers(0, 10_000), max_size=8)


@given(st.lists(st.binary().map(lambda line: line.replace(b"\n", b"").rstrip(b"\r"))), cuts)
def test_lines_are_the_same_however_the_stream_is_cut(
    lines: list[bytes], places: list[int]
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    assert list(split_lines(cut(data, places))) == lines


@given(st.lists(json_objects, max_size=4), cuts)
def test_objects_of_lines_are_the_same_however_the_stream_is_cut(
    values: list[dict[str, Any]], places: list[int]
) -> None:
    data = b"".join(json.dumps(value).encode() + b"\r\n" for value in values)
    assert read_objects(cut(data, places), Framing.LINES) == values


@given(st.lists(json_objects.filter(bool), max_size=4), cuts)
def test_objects_of_events_are_the_same_however_the_stream_is_cut(
    values: list[dict[str, Any]], places: list[int]
) -> None:
    data = b"".join(b"event: x\ndata: %s\n\n" % json.dumps(value).encode() for value in values)
    assert read_objects(cut(data, places), Framing.EVENTS) == values


@given(st.binary(), cuts, st.sampled_from(Framing))
def test_any_bytes_are_objects_or_malformed(
    data: bytes, places: list[int], framing: Framing
) -> None:
    try:
        found = read_objects(cut(data, places), framing)
    except MalformedJsonError:
        return
    assert all(isinstance(value, dict) for value in found)


def test_an_event_may_span_several_data_lines_and_lack_its_blank_line() -> None:
    lines = [b": comment", b"id: 1", b"data: {", b'data: "a": 1}', b"", b"retry: 3", b"data:{}"]
    pieces = [line + b"\n" for line in lines]
    assert read_objects(pieces, Framing.EVENTS) == [{"a": 1}, {}]


def test_the_end_mark_is_passed_on() -> None:
    pieces = [b'\xef\xbb\xbfdata: {"a": 1}\n\ndata: [DONE]\n\n']
    assert read_objects(pieces, Framing.EVENTS) == [{"a": 1}, {"end_of_stream": True}]


def test_a_plain_object_is_understood_where_events_were_asked_for() -> None:
    assert read_objects([b'\n {"a":\n', b" 1}"], Framing.EVENTS) == [{"a": 1}]


def test_what_is_no_object_says_how_it_began() -> None:
    with pytest.raises(MalformedJsonError) as caught:
        read_objects([b"<html>hello</html>"], Framing.EVENTS)
    assert caught.value.start == b"<html>hello</html>"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": NaN}', float("nan")),
        (b'{"a": "\\ud83d"}', "\ud83d"),
        (b'{"a": "\xff"}', "\ufffd"),
    ],
)
def test_what_strict_json_forbids_is_let_pass(data: bytes, value: Any) -> None:
    assert repr(load_json(data)["a"]) == repr(value)


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b'"x"', b"{", b"[" * 100_000])
def test_anything_but_an_object_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedJsonError):
        load_json(data)


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=()))))
def test_every_text_can_be_sent(value: dict[str, str]) -> None:
    assert json.loads(dump_json(value)) == value
