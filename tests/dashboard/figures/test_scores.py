from __future__ import annotations

from poor_bench.dashboard.figures.scores import score_bars_figure
from poor_bench.dashboard.theme import graph_config
from poor_bench.results.query import TestScore


def bar(test_id: str, score: float | None, class_id: str = "sums") -> TestScore:
    return TestScore(test_id=test_id, class_id=class_id, score=score, n_trials=1)


def test_bars_stand_by_test_from_0_to_1_coloured_by_class() -> None:
    figure = score_bars_figure([bar("a", 1.0), bar("b", 0.5, "moods")], ["sums", "moods"])
    assert [trace.name for trace in figure.data] == ["sums", "moods"]
    assert figure.data[0].marker.color != figure.data[1].marker.color
    assert list(figure.layout.xaxis.categoryarray) == ["a", "b"]
    assert figure.layout.xaxis.tickangle == -60
    assert tuple(figure.layout.yaxis.range) == (0, 1.02)


def test_a_class_has_the_same_colour_whatever_else_is_shown() -> None:
    alone = score_bars_figure([bar("b", 0.5, "moods")], ["sums", "moods"])
    beside = score_bars_figure([bar("a", 1.0), bar("b", 0.5, "moods")], ["sums", "moods"])
    assert alone.data[0].marker.color == beside.data[1].marker.color


def test_a_failure_is_no_zero() -> None:
    figure = score_bars_figure([bar("a", 0.0), bar("b", None)], ["sums"])
    assert [(trace.type, trace.name) for trace in figure.data] == [
        ("bar", "sums"),
        ("scatter", "failed to run"),
    ]
    assert list(figure.data[0].x) == ["a"]


def test_names_are_no_markup() -> None:
    figure = score_bars_figure([bar("<b>x</b>", 1.0, "<i>c</i>")], [])
    assert "&lt;b&gt;" in figure.layout.xaxis.ticktext[0]
    assert figure.data[0].name == "&lt;i&gt;c&lt;/i&gt;"


def test_nothing_can_be_drawn_too() -> None:
    assert len(score_bars_figure([], []).data) == 0


def test_no_chart_can_be_sent_anywhere() -> None:
    config = graph_config()
    assert config["showSendToCloud"] is False
    assert config["plotlyServerURL"] == ""
