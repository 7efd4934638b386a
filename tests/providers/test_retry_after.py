from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.providers.error_reply import retry_after_s

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
