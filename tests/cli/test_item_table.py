"""The table of `tests analyse` stays readable with very many tests."""

from __future__ import annotations

import pytest

from poor_bench.cli.tests import _describe_items
from poor_bench.statistics.items import Item


def item(number: int) -> Item:
    return Item(
        test_id=f"test_{number:03}", class_id="c", level=1, n_llms=3, n_models=3, mean_score=0.5,
        pass_rate=0.5, discrimination=None, alike=None, findings=(),
    )  # fmt: skip


@pytest.mark.parametrize(("n_items", "last"), [(100, "test_099"), (250, "150 more: --json")])
def test_a_hundred_tests_are_shown_and_the_others_counted(n_items: int, last: str) -> None:
    shown = str([*_describe_items([item(number) for number in range(n_items)], shows_all=True)])
    assert last in shown
    assert "test_100" not in shown
    assert f"Suspicious: 0 of {n_items} tests" in shown
