from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from poor_bench.statistics.sequential import anytime_margin


def test_the_limit_is_where_the_mixed_likelihood_ratio_reaches_the_error() -> None:
    variance, scale, error = 0.002, 0.05, 0.05
    margin = float(anytime_margin(variance, scale=scale, error=error))
    effects = np.linspace(0, 1, 200_001)
    density = 2 * norm.pdf(effects, scale=scale)
    ratio = norm.pdf(margin, effects, variance**0.5) / norm.pdf(margin, 0, variance**0.5)
    assert float(np.trapezoid(ratio * density, effects)) == pytest.approx(1 / error, rel=1e-3)


def test_the_margin_shrinks_with_the_variance() -> None:
    margins = anytime_margin([0.01, 0.001, 0.0001], scale=0.05)
    assert (np.diff(margins) < 0).all()


def test_all_looks_at_a_random_walk_together_err_at_most_as_often_as_wanted() -> None:
    rng = np.random.default_rng(4)
    steps = np.arange(1, 301)
    means = rng.normal(size=(2000, 300)).cumsum(axis=1) / steps
    margins = anytime_margin(1 / steps, scale=0.3)
    assert (means > margins).any(axis=1).mean() < 0.05
    assert (means > norm.ppf(0.95) / np.sqrt(steps)).any(axis=1).mean() > 0.2


@pytest.mark.parametrize(("scale", "error"), [(0, 0.05), (0.1, 0), (0.1, 0.5)])
def test_parameters_out_of_range_are_refused(scale: float, error: float) -> None:
    with pytest.raises(ValueError, match="scale must be above 0"):
        anytime_margin(0.1, scale=scale, error=error)
