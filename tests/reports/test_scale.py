from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from poor_bench.reports.html.charts import choose_heat_step, spread_out

places = st.lists(st.floats(0, 500), max_size=30).map(sorted)


@given(places, st.floats(1, 30))
def test_labels_keep_their_distance_and_order(found: list[float], gap: float) -> None:
    spread = spread_out(found, gap)
    assert len(spread) == len(found)
    assert all(lower - upper >= gap - 1e-6 for upper, lower in pairwise(spread))


@given(places)
def test_labels_with_room_stay_in_place(found: list[float]) -> None:
    apart = [place + 1000 * number for number, place in enumerate(found)]
    assert spread_out(apart, 10.0) == apart


@given(st.floats(0, 1))
def test_every_score_has_a_colour(score: float) -> None:
    assert 0 <= choose_heat_step(score) <= 20
