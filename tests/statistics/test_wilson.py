import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.intervals import wilson_interval


# Newcombe 1998, "Two-sided confidence intervals for the single proportion", Statistics in
# Medicine 17, table I, method 3.
@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes / n, n) == pytest.approx((low, high), abs=5e-5)


@given(st.floats(0, 1), st.floats(0.1, 1e6))
def test_interval_holds_the_share_and_stays_in_range(share: float, n: float) -> None:
    low, high = wilson_interval(share, n)
    assert 0 <= low <= share <= high <= 1
    assert low < high


@given(st.floats(0, 1), st.floats(1, 1e6))
def test_interval_mirrors_with_the_share(share: float, n: float) -> None:
    low, high = wilson_interval(share, n)
    mirrored_low, mirrored_high = wilson_interval(1 - share, n)
    assert (low, high) == pytest.approx((1 - mirrored_high, 1 - mirrored_low), abs=1e-9)


@pytest.mark.parametrize(("share", "n"), [(-0.1, 5), (1.1, 5), (0.5, 0), (float("nan"), 5)])
def test_values_out_of_range_are_refused(share: float, n: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        wilson_interval(share, n)
