from __future__ import annotations

import pytest

from poor_bench.tuning.params.variants import axis_of, grid


def test_a_grid_has_every_combination_once() -> None:
    axes = [axis_of("a", [1, 2]), axis_of("b", [True, False])]
    assert list(grid(axes)) == [
        {"a": 1, "b": True},
        {"a": 1, "b": False},
        {"a": 2, "b": True},
        {"a": 2, "b": False},
    ]


def test_true_is_not_one() -> None:
    assert axis_of("think", [True, 1]).values == (True, 1)


@pytest.mark.parametrize("values", [[], [0, 0.0], ["1..1"], ["2..1"]])
def test_values_that_make_no_sense_are_refused(values: list) -> None:
    with pytest.raises(ValueError, match="top_k: "):
        axis_of("top_k", values)


def test_a_grid_has_no_ranges() -> None:
    with pytest.raises(ValueError, match="a range needs --search optuna"):
        list(grid([axis_of("top_k", ["1..9"])]))


def test_a_range_is_whole_where_both_ends_are() -> None:
    assert axis_of("top_k", ["1..9"]).is_whole
    assert not axis_of("top_p", ["0.1..1"]).is_whole
