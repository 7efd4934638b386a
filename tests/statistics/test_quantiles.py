import pytest
from scipy import stats

from poor_bench.statistics.intervals import Z_95, t_quantile_95


def test_z_is_the_normal_quantile() -> None:
    assert pytest.approx(stats.norm.ppf(0.975)) == Z_95


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 8, 12, 30, 100, 10_000])
def test_t_quantile_agrees_with_scipy(degrees: int) -> None:
    assert t_quantile_95(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-3)


def test_t_quantile_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        t_quantile_95(0)
