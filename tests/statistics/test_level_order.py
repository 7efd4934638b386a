import numpy as np
import pytest

from poor_bench.statistics.items import Item, LevelVerdict, compare_levels


def item(level: int, mean_score: float, class_id: str = "maths") -> Item:
    return Item(
        test_id="t",
        class_id=class_id,
        level=level,
        n_llms=5,
        n_models=5,
        mean_score=mean_score,
        pass_rate=mean_score,
        discrimination=None,
        alike=None,
        findings=(),
    )


def test_harder_levels_that_are_harder_follow() -> None:
    [order] = compare_levels([item(level, 1 - level / 6) for level in (1, 2, 3, 4, 5)] * 2)
    assert order.verdict is LevelVerdict.FOLLOWS
    assert list(order.difficulty) == [1, 2, 3, 4, 5]


def test_levels_that_stand_upside_down_are_reversed() -> None:
    [order] = compare_levels([item(level, level / 6) for level in (1, 2, 3, 4, 5)] * 2)
    assert order.verdict is LevelVerdict.REVERSED


def test_one_hard_test_of_many_easy_ones_proves_nothing() -> None:
    [order] = compare_levels([item(1, 1.0)] * 11 + [item(1, 0.9), item(2, 0.9)])
    assert order.correlation.value > 0.6
    assert order.verdict is LevelVerdict.UNCLEAR


def test_a_single_level_has_no_order() -> None:
    [order] = compare_levels([item(1, score / 10) for score in range(10)])
    assert order.correlation is None
    assert order.verdict is LevelVerdict.UNCLEAR


def test_classes_are_judged_apart_and_unknown_tests_left_out() -> None:
    orders = compare_levels([item(1, 0.5), item(2, 0.4, "code"), item(0, 0.1, "")])
    assert [order.class_id for order in orders] == ["maths", "code"]


@pytest.mark.slow(reason="simulates thousands of samples")
def test_levels_without_meaning_are_seldom_said_to_follow() -> None:
    rng = np.random.default_rng(5)
    verdicts = [
        compare_levels(
            [item(int(level), score) for level, score in zip(levels, scores, strict=True)]
        )[0].verdict
        for levels, scores in zip(rng.integers(1, 4, (60, 15)), rng.random((60, 15)), strict=True)
    ]
    assert sum(verdict is not LevelVerdict.UNCLEAR for verdict in verdicts) <= 7
