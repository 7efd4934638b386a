from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.completion import (
    Message,
    Usage,
    cost_usd,
    estimate_cost_usd,
    estimate_tokens,
)
from poor_bench.models.llm import Prices

ASKED = (Message("system", "x" * 380), Message("user", "x" * 580))
PRICES = Prices(input=1.0, output=10.0)


def test_an_estimate_counts_prompt_and_reply() -> None:
    assert estimate_cost_usd(PRICES, ASKED) == pytest.approx((250 + 10 * 500) / 1e6)
    assert estimate_cost_usd(PRICES, ASKED, max_tokens=50) == pytest.approx(750 / 1e6)
    seen = estimate_cost_usd(PRICES, ASKED, expected_reply_tokens=20)
    assert seen == pytest.approx(450 / 1e6)


def test_without_prices_nothing_is_known() -> None:
    assert estimate_cost_usd(Prices(), ASKED) is None
    assert estimate_cost_usd(Prices(input=1.0), ASKED) is None


def test_cached_tokens_have_their_own_price() -> None:
    usage = Usage(prompt_tokens=1000, completion_tokens=0, cached_tokens=400)
    prices = Prices(input=1.0, output=1.0, cached_input=0.5)
    assert cost_usd(usage, prices) == pytest.approx(800 / 1e6)


def test_tokens_read_from_and_written_to_a_cache_have_prices_of_their_own() -> None:
    usage = Usage(
        prompt_tokens=1000, completion_tokens=10, cached_tokens=600, cache_write_tokens=300
    )
    prices = Prices(input=10, output=100, cached_input=1, cache_write=12.5)
    assert cost_usd(usage, prices) == pytest.approx(
        (100 * 10 + 600 * 1 + 300 * 12.5 + 10 * 100) / 1e6
    )
    assert cost_usd(usage, Prices(input=10, output=100)) == pytest.approx(11_000 / 1e6)
    assert cost_usd(usage, prices.for_batch()) == pytest.approx(
        (100 * 10 + 600 * 1 + 300 * 12.5 + 10 * 100) / 1e6 / 2
    )


def test_a_batch_without_prices_has_no_cost() -> None:
    assert cost_usd(Usage(prompt_tokens=1, completion_tokens=1), Prices().for_batch()) is None


@pytest.mark.slow(reason="a long search")
@given(st.text(), st.text())
def test_a_longer_text_has_no_fewer_tokens(first: str, second: str) -> None:
    assert estimate_tokens(first) <= estimate_tokens(first + second)
