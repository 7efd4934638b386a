from __future__ import annotations

import pytest

from poor_bench.judge.report_html import HEIGHT, WIDTH, build_radar


def test_first_dimension_stands_on_top_and_full_marks_reach_its_end() -> None:
    chart = build_radar([("run", {"a": 10.0, "b": 0.0, "c": 5.0})])
    assert chart is not None
    top = chart.axes[0]
    assert (top.x, top.anchor) == (WIDTH / 2, "middle")
    [polygon] = chart.polygons
    assert polygon.marks[0] == (top.x, top.y, "10.00")
    assert polygon.marks[1] == (WIDTH / 2, HEIGHT / 2, "0.00")
    assert polygon.points.startswith(f"{top.x:g},{top.y:g} ")


def test_labels_stand_beside_their_axes() -> None:
    chart = build_radar([("run", {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})])
    assert chart is not None
    assert [axis.anchor for axis in chart.axes] == ["middle", "start", "middle", "end"]


def test_runs_are_compared_in_what_both_have() -> None:
    first = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}
    chart = build_radar([("one", first), ("two", {"a": 2.0, "b": 2.0, "c": 2.0})])
    assert chart is not None
    assert [axis.name for axis in chart.axes] == ["a", "b", "c"]


@pytest.mark.parametrize("series", [[], [("run", {"a": 1.0, "b": 2.0})]])
def test_fewer_than_three_dimensions_make_no_area(
    series: list[tuple[str, dict[str, float]]],
) -> None:
    assert build_radar(series) is None
