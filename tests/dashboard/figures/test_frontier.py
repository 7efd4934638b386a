from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poor_bench.dashboard.figures.frontier import (
    Box,
    FrontierPoint,
    Spot,
    find_frontier,
    frontier_figure,
    label_places,
)
from poor_bench.statistics.intervals import Estimate


def point(name: str, x: float, score: float) -> FrontierPoint:
    estimate = Estimate(value=score, low=max(0.0, score - 0.1), high=min(1.0, score + 0.1), n=9)
    return FrontierPoint(llm_id=name, name=name, x=x, score=estimate)


POINTS = st.lists(st.tuples(st.floats(0.01, 1000), st.floats(0, 1)), min_size=1, max_size=12).map(
    lambda pairs: [point(f"p{number}", *pair) for number, pair in enumerate(pairs)]
)


def test_only_what_nobody_beats_is_on_the_frontier() -> None:
    small, middling, best = point("s", 1, 0.4), point("m", 5, 0.3), point("b", 9, 0.9)
    assert find_frontier([best, middling, small]) == [small, best]


@given(POINTS)
def test_the_frontier_beats_every_other_point(points: list[FrontierPoint]) -> None:
    frontier = find_frontier(points)
    for other in points:
        assert any(
            winner.x <= other.x and winner.score.value >= other.score.value for winner in frontier
        )


@pytest.mark.slow(reason="a long search")
@given(POINTS)
def test_any_points_can_be_drawn(points: list[FrontierPoint]) -> None:
    figure = frontier_figure(points, "size")
    drawn = [x for trace in figure.data[1:] for x in trace.x]
    assert sorted(drawn) == sorted(item.x for item in points)


def test_no_name_crosses_the_line_or_an_interval() -> None:
    spots, labels = [Spot(100, 50), Spot(100, 120)], ["a name", "another"]
    bars = [Box(99, 20, 101, 160)]
    assert label_places(spots, labels, 500, bars) == ["middle right", "middle right"]
    line = Box(100, 49, 300, 51)
    assert label_places(spots, labels, 500, [*bars, line])[0] == "middle left"
    assert label_places(spots[:1], ["a name that is far too long"], 120, [*bars, line]) == [""]


def test_names_are_no_markup() -> None:
    figure = frontier_figure([point("a:<a href=javascript:b>x</a>", 1, 0.5)], "size")
    assert "<a" not in figure.to_json()


def test_models_of_one_size_do_not_cover_each_other() -> None:
    points = [point(f"a:{number}", 7, 0.5 + number / 1000) for number in range(6)]
    figure = frontier_figure(points, "size", is_spread=True)
    drawn = sorted(x for trace in figure.data[1:] for x in trace.x)
    assert len({round(x, 6) for x in drawn}) == 6
    told = [each[4] for trace in figure.data[1:] for each in trace.customdata]
    assert told == [7] * 6
    assert frontier_figure(points, "size", is_spread=True) == figure


def test_many_with_lower_scores_are_small_but_keep_their_place_on_the_frontier() -> None:
    small = replace(point("a:small", 1, 0.2), is_minor=True)
    behind = replace(point("a:behind", 9, 0.1), is_minor=True)
    figure = frontier_figure([point("a:best", 5, 0.9), small, behind], "size")
    sizes = {trace.name: len(trace.x) for trace in figure.data if trace.name}
    assert sizes["1 lower"] == 1
    assert sizes["efficient frontier"] == 2
