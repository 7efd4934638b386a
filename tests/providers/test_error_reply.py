from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.completion import Allowance
from poor_bench.providers.error_reply import (
    join_lines,
    parse_error_reply,
    read_allowance,
    retry_after_s,
)


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
    assert join_lines("a\x1b[31mb\r\nc\u202ed") == "a [31mb c d"


@pytest.mark.parametrize(
    ("reset", "seconds"), [("1s", 1.0), ("6m0s", 360.0), ("17ms", 0.017), ("1h2m3.5s", 3723.5)]
)
def test_the_headers_of_openai_are_read(reset: str, seconds: float) -> None:
    headers = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": reset,
    }
    expected = Allowance(limit=500, remaining=499, reset_s=seconds)
    assert read_allowance(headers) == expected


def test_the_headers_of_anthropic_are_read_against_the_date_of_the_reply() -> None:
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "3",
        "anthropic-ratelimit-requests-reset": "2026-11-23T10:00:40Z",
        "date": "Mon, 23 Nov 2026 10:00:00 GMT",
    }
    assert read_allowance(headers) == Allowance(limit=50, remaining=3, reset_s=40.0)


@given(limit=st.text(max_size=8), remaining=st.text(max_size=8), reset=st.text(max_size=30))
def test_headers_without_sense_are_passed_over(limit: str, remaining: str, reset: str) -> None:
    headers = {
        "x-ratelimit-limit-requests": limit,
        "x-ratelimit-remaining-requests": remaining,
        "x-ratelimit-reset-requests": reset,
    }
    found = read_allowance(headers)
    assert found is None or (0 <= found.remaining <= found.limit and found.reset_s >= 0)


NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
DATE = "Thu, 01 Jan 2026 12:00:30 GMT"


@pytest.mark.parametrize(
    ("headers", "message", "expected"),
    [
        ({}, "", None),
        ({"retry-after": "7"}, "", 7),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after": "-3"}, "", None),
        ({"retry-after-ms": "-1"}, "", None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": DATE}, "", 30),
        ({"retry-after": "Thu, 01 Jan 2026 11:00:00 GMT"}, "", 0),
        ({"retry-after": DATE, "date": "Thu, 01 Jan 2026 12:00:20 GMT"}, "", 10),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "inf"}, "", None),
        ({}, "Please try again in 6ms.", 0.006),
        ({}, "Please try again in 1.242s.", 1.242),
        ({}, "Please try again in 7m12s. Visit", 432),
        ({}, "try again in 1h0m0s", 3600),
        ({}, "Please retry in 22.3s.", 22.3),
        ({}, "server busy, please try again.", None),
    ],
)
def test_the_wait_is_found(headers: dict[str, str], message: str, expected: float | None) -> None:
    found = retry_after_s(headers, message, NOW)
    assert found == (None if expected is None else pytest.approx(expected))


@given(st.text(), st.text())
def test_any_header_and_message_give_a_wait_or_none(header: str, message: str) -> None:
    found = retry_after_s({"retry-after": header, "date": header}, message, NOW)
    assert found is None or found >= 0
