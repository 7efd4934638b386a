"""How the runs of a suite went: what passed, how long it took, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from poor_bench.dashboard.figures.style import GRID_LINE, styled
from poor_bench.dashboard.text.figures_text import dollars_text, milliseconds_text
from poor_bench.dashboard.theme import series_style
from poor_bench.evaluation.models import EvalSuiteResult

if TYPE_CHECKING:
    import plotly.graph_objects as go

_MOST_LABELS = 8
_TITLES = ("pass rate", "duration of a trial (s)", "cost of a trial ($)")


def suite_trends(reports: Sequence[EvalSuiteResult]) -> go.Figure:
    """Return pass rate with its interval, duration and cost over the runs of a suite.

    Args:
        reports: Oldest first; what a run does not know leaves a gap.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=3, cols=1, shared_xaxes=True, vertical_spacing=0.05)
    figure.add_trace(_pass_rate(reports), row=1, col=1)
    durations = [_seconds(report.avg_duration_ms) for report in reports]
    p95 = [_seconds(report.p95_duration_ms) for report in reports]
    texts = [milliseconds_text(report.avg_duration_ms) for report in reports]
    p95_texts = [milliseconds_text(report.p95_duration_ms) for report in reports]
    figure.add_trace(_line(durations, "mean duration", texts, 1), row=2, col=1)
    figure.add_trace(_line(p95, "95th percentile", p95_texts, 1, dash="dot"), row=2, col=1)
    costs = [report.avg_estimated_cost_usd for report in reports]
    figure.add_trace(
        _line(costs, "mean cost", [dollars_text(cost) for cost in costs], 2), row=3, col=1
    )
    styled(figure, height=460)
    figure.update_layout(hovermode="x unified", hoverlabel={"namelength": -1})
    figure.update_xaxes(**_when(reports))
    for row, title in enumerate(_TITLES, start=1):
        figure.update_yaxes(title=title, rangemode="tozero", row=row, col=1)
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", row=1, col=1)
    return figure


def _pass_rate(reports: Sequence[EvalSuiteResult]) -> Any:
    import plotly.graph_objects as go

    color, _ = series_style(0)
    intervals = [report.intervals.get("pass_rate", (0.0, 0.0)) for report in reports]
    rates = [report.pass_rate for report in reports]
    known = [rate or 0.0 for rate in rates]
    return go.Scatter(
        x=_places(reports),
        y=rates,
        error_y={
            "type": "data",
            "array": [high - rate for rate, (_, high) in zip(known, intervals, strict=True)],
            "arrayminus": [rate - low for rate, (low, _) in zip(known, intervals, strict=True)],
            "thickness": 1,
            "width": 3,
        },
        name="pass rate, 95 % interval",
        mode="lines+markers",
        line={"color": color, "width": 2},
        customdata=[
            [report.passed, report.total, low, high]
            for report, (low, high) in zip(reports, intervals, strict=True)
        ],
        hovertemplate="%{y:.0%} (%{customdata[0]} of %{customdata[1]} cases, "
        "%{customdata[2]:.2f} to %{customdata[3]:.2f})<extra>pass rate</extra>",
    )


def _line(
    values: Sequence[float | None],
    name: str,
    texts: Sequence[str],
    series: int,
    dash: str = "solid",
) -> Any:
    import plotly.graph_objects as go

    color, _ = series_style(series)
    return go.Scatter(
        x=_places(values),
        y=list(values),
        name=name,
        mode="lines+markers",
        line={"color": color, "width": 2, "dash": dash},
        customdata=list(texts),
        hovertemplate="%{customdata}<extra>" + name + "</extra>",
    )


def _places(items: Sequence[object]) -> list[int]:
    return list(range(1, len(items) + 1))


def _when(reports: Sequence[EvalSuiteResult]) -> dict[str, Any]:
    """Return the axis of runs: evenly spaced, since days without a run say nothing."""
    every = -(-len(reports) // _MOST_LABELS)
    labelled = range(0, len(reports), every)
    return {
        "tickvals": [at + 1 for at in labelled],
        "ticktext": [reports[at].started[5:16].replace("T", " ") for at in labelled],
        "range": [0.5, len(reports) + 0.5],
        "showgrid": False,
        "showspikes": True,
        "spikethickness": 1,
        "spikecolor": GRID_LINE,
    }


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
