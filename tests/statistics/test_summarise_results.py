from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.models.result import Result
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summarise_results import summarise_results
from tests.results.test_columns_agree import FAILED, SCORED, flatten

TRIALS = st.lists(
    SCORED | FAILED, max_size=12, unique_by=lambda each: (*each.key, each.score is None)
)


@given(TRIALS)
def test_rows_are_those_of_columns(trials: list[Result]) -> None:
    found, expected = summarise_results(iter(trials)), summarise(trials)
    assert [row.group for row in found] == [row.group for row in expected]
    for one, other in zip(found, expected, strict=True):
        record = flatten({**asdict(other), "group": None})
        assert flatten({**asdict(one), "group": None}) == pytest.approx(record, rel=1e-12)
