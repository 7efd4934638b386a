"""Charts of scores: of tests as bars, of models over runs, and of tests by difficulty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import plotly.graph_objects as go

from poor_bench.dashboard.services.past_runs import RunScore
from poor_bench.dashboard.text.formatting import plot_id, plot_text
from poor_bench.dashboard.theme import FAILURE, SERIES, apply_style, series_marker, series_style
from poor_bench.results.query import TestScore
from poor_bench.statistics.item_response import ItemParameters

_STUB = 0.006
"""Height of a zero, so that there is something to see and to choose."""


def score_bars_figure(bars: Sequence[TestScore], class_ids: Sequence[str]) -> go.Figure:
    """Build a bar for each test, in the order given.

    Args:
        bars: The tests.
        class_ids: All classes of the workspace: a class has the same colour in every chart.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    shown = list(dict.fromkeys(bar.class_id for bar in bars))
    for class_id in shown:
        index = class_ids.index(class_id) if class_id in class_ids else len(class_ids)
        color, pattern = series_style(index)
        _add_class(
            figure, class_id, [bar for bar in bars if bar.class_id == class_id], color, pattern
        )
    _add_failures(figure, [bar for bar in bars if bar.score is None])
    figure.update_xaxes(
        type="category",
        categoryorder="array",
        categoryarray=[bar.test_id for bar in bars],
        tickmode="array",
        tickvals=[bar.test_id for bar in bars],
        ticktext=[plot_id(bar.test_id, 31) for bar in bars],
        tickangle=-60,
        tickfont={"size": 10},
        showgrid=False,
    )
    figure.update_yaxes(title="score", range=[0, 1.02], tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_layout(bargap=0.25, barmode="overlay", showlegend=True)
    return apply_style(figure, height=400)


def _add_class(
    figure: go.Figure, class_id: str, bars: Sequence[TestScore], color: str, pattern: str
) -> None:
    scored = [bar for bar in bars if bar.score is not None]
    figure.add_bar(
        x=[bar.test_id for bar in scored],
        y=[max(bar.score or 0.0, _STUB) for bar in scored],
        name=plot_text(class_id or "removed tests"),
        marker={"color": color, "pattern": {"shape": pattern}, "line": {"width": 0}},
        customdata=[
            [bar.test_id, plot_text(bar.test_id, 80), bar.score, bar.n_trials] for bar in scored
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>score %{customdata[2]:.3f}"
        "<br>trials %{customdata[3]}<extra></extra>",
    )


def _add_failures(figure: go.Figure, bars: Sequence[TestScore]) -> None:
    if not bars:
        return
    figure.add_scatter(
        x=[bar.test_id for bar in bars],
        y=[0.03 for _ in bars],
        mode="markers",
        name="failed to run",
        marker={"symbol": "x-thin", "size": 8, "line": {"width": 2, "color": FAILURE}},
        customdata=[[bar.test_id, plot_text(bar.test_id, 80)] for bar in bars],
        hovertemplate="<b>%{customdata[1]}</b><br>failed to run<extra></extra>",
    )


MOST_LINES = 6
"""Models that one chart tells apart."""


def score_trend_figure(
    trends: Mapping[str, Sequence[RunScore]], name_of: Callable[[str], str]
) -> go.Figure:
    """Draw a line for each model over all runs, evenly spaced.

    A run of fewer tests than the largest is a hollow point with its number of tests, beside the
    line: what it scored is not what the model scores on all of them.

    Args:
        trends: Model to its scores, oldest run first; at most `MOST_LINES` of them.
        name_of: LLM id to what screens call it.
    """
    import plotly.graph_objects as go

    runs = sorted({(each.started, each.run_id) for scores in trends.values() for each in scores})
    places = {run_id: place for place, (_, run_id) in enumerate(runs, start=1)}
    figure = go.Figure()
    most = max((each.n_tests for scores in trends.values() for each in scores), default=0)
    parts = [each for scores in trends.values() for each in scores if each.n_tests < most]
    for number, (llm_id, scores) in enumerate(trends.items()):
        name = plot_text(name_of(llm_id), 40)
        whole = [each for each in scores if each.n_tests == most]
        part = [each for each in scores if each.n_tests < most]
        if whole:
            _add_runs(figure, number, name, whole, places)
        if part:
            labels = [_label_part(each, parts) for each in part]
            _add_runs(figure, number, name, part, places, labels)
            figure.data[-1].showlegend = not whole
    every = -(-len(runs) // 8)
    figure.update_xaxes(
        tickvals=[place + 1 for place in range(0, len(runs), every)],
        ticktext=[_when(runs[place][0])[5:] for place in range(0, len(runs), every)],
        range=[0.5, len(runs) + 0.5],
        showgrid=False,
    )
    figure.update_yaxes(title="score", range=[-0.03, 1.05], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return apply_style(figure, height=300)


_LABEL_HEIGHT = 0.09
"""In units of the score."""


def _label_part(point: RunScore, parts: Iterable[RunScore]) -> str:
    """Write the number of tests beside a point; empty where another label would be below it."""
    is_crowded = any(
        each is not point
        and each.run_id == point.run_id
        and abs(each.score.value - point.score.value) < _LABEL_HEIGHT
        for each in parts
    )
    return "" if is_crowded else f"n = {point.n_tests:,}"


def _add_runs(
    figure: go.Figure,
    number: int,
    name: str,
    scores: Sequence[RunScore],
    places: Mapping[str, int],
    labels: Sequence[str] = (),
) -> None:
    """Add the points of a model: hollow ones with `labels`, else a line."""
    color, _ = series_style(number)
    marker = series_marker(number)
    if labels:
        marker["symbol"] += "-open"
    aside = (number - (MOST_LINES - 1) / 2) * 0.03
    values = [each.score for each in scores]
    figure.add_scatter(
        x=[places[each.run_id] + aside for each in scores],
        y=[score.value for score in values],
        error_y={
            "type": "data",
            "array": [score.high - score.value for score in values],
            "arrayminus": [score.value - score.low for score in values],
            "thickness": 1,
            "width": 3,
        },
        name=name,
        mode="markers+text" if labels else "lines+markers",
        text=labels or None,
        textposition="middle right",
        legendgroup=name,
        line={"color": color, "width": 2},
        marker=marker,
        customdata=[
            [_when(each.started), each.score.low, each.score.high, each.n_tests] for each in scores
        ],
        hovertemplate="%{customdata[0]}<br>score %{y:.3f} (95 % CI %{customdata[1]:.2f} to "
        "%{customdata[2]:.2f})<br>tests %{customdata[3]:,}<extra>" + name + "</extra>",
    )


def _when(started: str) -> str:
    return started[:16].replace("T", " ")


_HEIGHT = 360
MOST_POINTS = 1000
"""Points of each kind: a browser takes seconds to draw ten thousand, and they cover each other."""


def item_scatter_figure(items: Sequence[ItemParameters], suspicious: Collection[str]) -> go.Figure:
    """Draw one point per test; `customdata` begins with its id.

    Of more than `MOST_POINTS` tests of a kind, every so many are drawn by discrimination, the
    lowest among them; the legend says how many.

    Args:
        items: Fitted tests.
        suspicious: Ids of tests that stand out with another colour and shape.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, is_suspicious, color, symbol in (
        ("tests", False, SERIES[0], "circle"),
        ("suspicious", True, SERIES[3], "diamond"),
    ):
        meant = [item for item in items if (item.test_id in suspicious) is is_suspicious]
        shown = _thin_out(meant)
        is_part = len(shown) < len(meant)
        figure.add_scatter(
            x=[item.difficulty for item in shown],
            y=[item.discrimination for item in shown],
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": 9, "opacity": 0.75},
            customdata=[[item.test_id, plot_text(item.test_id, 80)] for item in shown],
            hovertemplate="<b>%{customdata[1]}</b><br>difficulty %{x:.2f}"
            "<br>discrimination %{y:.2f}<extra></extra>",
            name=f"{name}: {len(shown):,} of {len(meant):,}" if is_part else name,
        )
    figure.update_xaxes(title="difficulty")
    figure.update_yaxes(title="discrimination", rangemode="tozero")
    return apply_style(figure, height=_HEIGHT)


def _thin_out(items: Sequence[ItemParameters]) -> Sequence[ItemParameters]:
    if len(items) <= MOST_POINTS:
        return items
    every = -(-len(items) // MOST_POINTS)
    return sorted(items, key=lambda item: item.discrimination)[::every]
