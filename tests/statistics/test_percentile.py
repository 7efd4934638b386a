import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.statistics.intervals import percentile


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1))
def test_agrees_with_numpy(values: list[float], share: float) -> None:
    expected = np.percentile(values, share * 100)
    assert percentile(sorted(values), share) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], 1.5), ([1.0], -0.1)])
def test_values_out_of_range_are_refused(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        percentile(values, share)
