from __future__ import annotations

import pytest

from poor_bench.calls.reply_cost import reply_cost_usd
from poor_bench.models.completion import Usage
from poor_bench.models.llm import Prices


def test_cached_tokens_have_prices_of_their_own() -> None:
    usage = Usage(
        prompt_tokens=1000, completion_tokens=10, cached_tokens=600, cache_write_tokens=300
    )
    prices = Prices(input=10, output=100, cached_input=1, cache_write=12.5)
    assert reply_cost_usd(usage, prices) == pytest.approx(
        (100 * 10 + 600 * 1 + 300 * 12.5 + 10 * 100) / 1e6
    )
    assert reply_cost_usd(usage, Prices(input=10, output=100)) == pytest.approx(11_000 / 1e6)
    assert reply_cost_usd(usage, prices.for_batch()) == pytest.approx(
        (100 * 10 + 600 * 1 + 300 * 12.5 + 10 * 100) / 1e6 / 2
    )


def test_a_batch_without_prices_has_no_cost() -> None:
    assert reply_cost_usd(Usage(prompt_tokens=1, completion_tokens=1), Prices().for_batch()) is None
