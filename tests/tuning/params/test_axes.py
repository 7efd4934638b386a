from __future__ import annotations

import pytest

from poor_bench.tuning.sweep import list_choices, read_axis


def test_a_grid_has_every_combination_once() -> None:
    axes = [read_axis("a", [1, 2]), read_axis("b", [True, False])]
    assert list(list_choices(axes)) == [
        {"a": 1, "b": True},
        {"a": 1, "b": False},
        {"a": 2, "b": True},
        {"a": 2, "b": False},
    ]


def test_true_is_not_one() -> None:
    assert read_axis("think", [True, 1]).values == (True, 1)


@pytest.mark.parametrize("values", [[], [0, 0.0], ["1..1"], ["2..1"]])
def test_values_that_make_no_sense_are_refused(values: list) -> None:
    with pytest.raises(ValueError, match="top_k: "):
        read_axis("top_k", values)


def test_a_grid_has_no_ranges() -> None:
    with pytest.raises(ValueError, match="a range needs --search optuna"):
        list(list_choices([read_axis("top_k", ["1..9"])]))


def test_a_range_is_whole_where_both_ends_are() -> None:
    assert read_axis("top_k", ["1..9"]).is_whole
    assert not read_axis("top_p", ["0.1..1"]).is_whole
