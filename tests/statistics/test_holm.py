import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.significance import holm

p_values = st.lists(st.floats(0, 1), max_size=30)


def test_each_step_multiplies_by_the_comparisons_that_are_left() -> None:
    assert holm([0.04, 0.01, 0.03, 0.005]) == pytest.approx([0.06, 0.03, 0.06, 0.02])


@given(p_values)
def test_adjusted_values_keep_the_order_and_never_fall(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(1 >= after >= before for before, after in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[index] for index in order] == sorted(adjusted)


@given(p_values)
def test_holm_is_never_stricter_than_bonferroni(values: list[float]) -> None:
    limits = [min(1.0, p * len(values)) for p in values]
    assert all(p <= limit for p, limit in zip(holm(values), limits, strict=True))


def test_impossible_p_values_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        holm([0.5, 1.5])
