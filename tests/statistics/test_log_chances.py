from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import logsumexp

from poor_bench.statistics.log_chances import add_log_chances

LOGS = st.one_of(st.just(-np.inf), st.floats(-1e4, 700))


@pytest.mark.parametrize("axis", [0, 1])
@given(logs=arrays(np.float64, array_shapes(min_dims=2, max_dims=3, max_side=4), elements=LOGS))
def test_chances_are_added_as_scipy_does(logs: np.ndarray, axis: int) -> None:
    with np.errstate(divide="ignore"):
        wanted = logsumexp(logs, axis=axis)
    assert add_log_chances(logs, axis=axis) == pytest.approx(wanted)
