from __future__ import annotations

import pytest

from poor_bench.evaluation.browser.proxy import ByteBudget


def test_what_is_allowed_can_be_taken_and_nothing_more() -> None:
    budget = ByteBudget(10)
    budget.take(4)
    budget.take(6)
    with pytest.raises(OSError, match="too much"):
        budget.take(1)
