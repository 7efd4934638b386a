from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.completion import Allowance
from poor_bench.providers.allowance import read_allowance


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
