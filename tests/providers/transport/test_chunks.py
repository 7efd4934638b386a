from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.providers.transport.reply import BadChunkError, ChunkedBody


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def chunked(pieces: list[bytes], ending: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + ending


@given(st.lists(st.binary(min_size=1)), st.lists(st.integers(0, 10_000), max_size=8))
def test_the_body_is_the_same_however_the_network_cuts_it(
    pieces: list[bytes], places: list[int]
) -> None:
    body = ChunkedBody()
    found = b"".join(body.feed(part) for part in cut(chunked(pieces), places))
    assert found == b"".join(pieces)
    assert body.at_end


@pytest.mark.parametrize(
    "data",
    [b"2;name=value\r\nab\r\n0\r\nTrailer: x\r\n\r\n", b"2 \r\nab\r\n000\r\n\r\n", b"2\nab\n0\n\n"],
    ids=["extensions and trailers", "spaces and zeros", "bare line feeds"],
)
def test_what_servers_may_send_besides_is_passed_over(data: bytes) -> None:
    body = ChunkedBody()
    assert body.feed(data) == b"ab"
    assert body.at_end


@pytest.mark.parametrize(
    "data",
    [
        *(b"-2\r\nab", b"+2\r\nab", b"0x2\r\nab", b"1_0\r\n", b"\r\n", b"fffffffff\r\n"),
        *(b"2\r\nabc\r\n", b"f" * 70_000, b"0\r\n\r\nmore"),
    ],
    ids=range(9),
)
def test_bytes_that_are_not_chunked_are_refused(data: bytes) -> None:
    with pytest.raises(BadChunkError):
        ChunkedBody().feed(data)


def test_a_body_that_breaks_off_is_not_at_its_end() -> None:
    body = ChunkedBody()
    assert body.feed(b"5\r\nab") == b"ab"
    assert not body.at_end
