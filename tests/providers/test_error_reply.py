from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.providers.error_reply import one_line, parse_error_reply


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "no"}, "no"),
        ({"error": {"message": "no"}}, "no"),
        ({"message": "no", "code": 3}, "no"),
        ({"detail": "no"}, "no"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "bad"}]}, "seed: bad"),
        ({"message": {"detail": [{"loc": ["body", "seed"], "type": "extra"}]}}, "seed: extra"),
        ({"error": {"message": "no", "metadata": {"raw": "upstream"}}}, "no: upstream"),
        ([{"error": {"message": "no"}}], "no"),
        ("no", "no"),
    ],
)
def test_the_message_is_found_wherever_it_stands(body: Any, message: str) -> None:
    assert parse_error_reply(400, orjson.dumps(body)).message == message


def test_a_web_page_is_known_by_its_title_and_never_shown_as_html() -> None:
    page = b"<!DOCTYPE html><html><head><TITLE>Bad\nGateway</TITLE></head><body>x</body></html>"
    error = parse_error_reply(502, page)
    assert (error.is_web_page, error.message) == (True, "Bad Gateway")


def test_a_web_page_without_title_is_stripped_of_tags_and_scripts() -> None:
    page = b"<html><script>alert(1)</script><body>Please <b>log in</b></body></html>"
    assert parse_error_reply(200, page).message == "Please log in"


def test_a_status_within_the_error_counts_where_http_says_nothing() -> None:
    body = orjson.dumps({"error": {"code": "429", "message": "slow"}})
    assert parse_error_reply(None, body).status == 429
    assert parse_error_reply(200, body).status == 429
    assert parse_error_reply(500, body).status == 500


def test_the_parameter_is_found() -> None:
    assert parse_error_reply(400, b'{"error": {"param": "top_k"}}').parameter == "top_k"
    detail = b'{"detail": [{"loc": ["body", "top_k"], "msg": "extra"}]}'
    assert parse_error_reply(422, detail).parameter == "top_k"


@given(st.integers(100, 599) | st.none(), st.binary())
def test_any_bytes_become_one_short_line(status: int | None, body: bytes) -> None:
    message = parse_error_reply(status, body).message
    assert len(message) <= 300
    assert message.isprintable()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "message", "detail", "code", "type", "metadata", "loc"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_understood_somehow(value: Any) -> None:
    try:
        body = orjson.dumps(value)
    except TypeError:
        return
    assert len(parse_error_reply(400, body).message) <= 300


def test_control_characters_do_not_reach_the_screen() -> None:
    assert one_line("a\x1b[31mb\r\nc\u202ed") == "a [31mb c d"
