"""Charts of runs: trends of a suite, scores of an agent by run and by dimension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from poor_bench.dashboard.text.formatting import dollars_text, milliseconds_text, plot_text
from poor_bench.dashboard.theme import GRID_LINE, apply_style, faint, series_marker, series_style
from poor_bench.evaluation.models import EvalSuiteResult
from poor_bench.judge.judged_run import RunSummary
from poor_bench.messages import write_count

_MOST_LABELS = 8


def suite_trends(reports: Sequence[EvalSuiteResult]) -> go.Figure:
    """Draw pass rate with its confidence interval, duration and cost over the runs of a suite.

    Args:
        reports: Oldest first; unknown values leave a gap.
    """
    from plotly.subplots import make_subplots

    parts = [[_pass_rate(reports)], _durations(reports)]
    titles = ["Pass rate, 95 % CI", "Duration (s): mean, p95"]
    if any(report.avg_estimated_cost_usd for report in reports):
        parts.append([_cost(reports)])
        titles.append("Cost (US$)")
    figure = make_subplots(
        rows=len(parts), cols=1, shared_xaxes=True, subplot_titles=titles, vertical_spacing=0.12
    )
    for row, traces in enumerate(parts, start=1):
        figure.add_traces(traces, rows=row, cols=1)
    apply_style(figure, height=150 * len(parts))
    figure.update_layout(showlegend=False, margin={"t": 24})
    figure.update_annotations(x=0, xanchor="left", font={"size": 12})
    figure.update_traces(hovertext=[_when(report) for report in reports])
    figure.update_xaxes(**_run_axis(reports))
    figure.update_yaxes(rangemode="tozero", nticks=5)
    figure.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", row=1, col=1)
    return figure


def _pass_rate(reports: Sequence[EvalSuiteResult]) -> go.Scatter:
    import plotly.graph_objects as go

    color, _ = series_style(0)
    intervals = [report.intervals.get("pass_rate", (0.0, 0.0)) for report in reports]
    rates = [report.pass_rate for report in reports]
    known = [rate or 0.0 for rate in rates]
    return go.Scatter(
        x=_run_numbers(reports),
        y=rates,
        error_y={
            "type": "data",
            "array": [high - rate for rate, (_, high) in zip(known, intervals, strict=True)],
            "arrayminus": [rate - low for rate, (low, _) in zip(known, intervals, strict=True)],
            "thickness": 1,
            "width": 3,
        },
        name="pass rate",
        mode="lines+markers",
        line={"color": color, "width": 2},
        customdata=[
            [report.passed, report.total, low, high]
            for report, (low, high) in zip(reports, intervals, strict=True)
        ],
        hovertemplate="%{hovertext}<br>%{y:.0%} (%{customdata[0]} of %{customdata[1]} cases, "
        "%{customdata[2]:.2f} to %{customdata[3]:.2f})<extra>pass rate</extra>",
    )


def _durations(reports: Sequence[EvalSuiteResult]) -> list[go.Scatter]:
    found = {
        "mean": [report.avg_duration_ms for report in reports],
        "95th percentile": [report.p95_duration_ms for report in reports],
    }
    return [
        _line(
            [_seconds(value) for value in values],
            name,
            _tell_trials(reports, map(milliseconds_text, values)),
            1,
        )
        for name, values in found.items()
    ]


def _cost(reports: Sequence[EvalSuiteResult]) -> go.Scatter:
    costs = [report.avg_estimated_cost_usd for report in reports]
    return _line(costs, "mean", _tell_trials(reports, map(dollars_text, costs)), 2)


def _tell_trials(reports: Sequence[EvalSuiteResult], texts: Iterable[str]) -> list[str]:
    """Add to figures of runs over how many trials they are."""
    counts = (sum(case.trials_run for case in report.case_results) for report in reports)
    return [f"{text}, {write_count(n, 'trial')}" for text, n in zip(texts, counts, strict=True)]


def _line(
    values: Sequence[float | None],
    name: str,
    texts: Sequence[str],
    series: int,
) -> go.Scatter:
    import plotly.graph_objects as go

    color, _ = series_style(series)
    return go.Scatter(
        x=_run_numbers(values),
        y=list(values),
        name=name,
        mode="lines+markers",
        line={"color": color, "width": 2, "dash": "solid" if name == "mean" else "dot"},
        customdata=list(texts),
        hovertemplate="%{hovertext}<br>%{customdata}<extra>" + name + "</extra>",
    )


def _run_numbers(items: Sequence[object]) -> list[int]:
    return list(range(1, len(items) + 1))


def _run_axis(reports: Sequence[EvalSuiteResult]) -> dict[str, Any]:
    """Axis of runs: evenly spaced, since days without a run mean nothing."""
    every = -(-len(reports) // _MOST_LABELS)
    labelled = range(0, len(reports), every)
    return {
        "tickvals": [at + 1 for at in labelled],
        "ticktext": [_when(reports[at])[5:] for at in labelled],
        "range": [0.5, len(reports) + 0.5],
        "showgrid": False,
    }


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _when(report: EvalSuiteResult) -> str:
    return report.started[:16].replace("T", " ")


def judge_history(summaries: Sequence[RunSummary]) -> go.Figure:
    """Build overall score and dimensions over the runs of an agent.

    Args:
        summaries: Oldest first; runs without a judgement leave a gap.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    x = [summary.run.header.started[:19].replace("T", " ") for summary in summaries]
    judgements = [write_count(len(each.run.usable_judgements), "judgement") for each in summaries]
    names = dict.fromkeys(name for summary in summaries for name in summary.panel.scores)
    figure.add_scatter(
        x=x,
        y=[summary.panel.overall_score for summary in summaries],
        name="overall",
        mode="lines+markers",
        line={"color": "#8b8f98", "width": 3},
        customdata=judgements,
        hovertemplate="overall %{y:.2f}, %{customdata}<extra></extra>",
    )
    for index, name in enumerate(names):
        color, _ = series_style(index)
        figure.add_scatter(
            x=x,
            y=[summary.panel.scores.get(name) for summary in summaries],
            name=plot_text(name.replace("_", " "), 24),
            mode="lines+markers",
            line={"color": color, "width": 1.5, "dash": "dot"},
            marker=series_marker(index),
            customdata=judgements,
            hovertemplate="%{y:.2f}, %{customdata}<extra></extra>",
        )
    figure.update_xaxes(type="category", showgrid=False, nticks=8)
    figure.update_yaxes(title="score", range=[0, 10.3], tickvals=[0, 2.5, 5, 7.5, 10])
    return apply_style(figure, height=280)


def judge_radar(series: Sequence[tuple[str, Mapping[str, float]]]) -> go.Figure:
    """Build the dimensions that all series have, each 0 to 10.

    Args:
        series: Label, and dimension to score, of each run; at least one.
    """
    import plotly.graph_objects as go

    names = [name for name in series[0][1] if all(name in scores for _, scores in series)]
    figure = go.Figure()
    for index, (label, scores) in enumerate(series):
        color, _ = series_style(index)
        figure.add_scatterpolar(
            r=[scores[name] for name in (*names, *names[:1])],
            theta=[_write_name(name) for name in (*names, *names[:1])],
            name=plot_text(label),
            fill="toself",
            fillcolor=faint(color),
            line={"color": color, "width": 2},
            marker=series_marker(index),
            hovertemplate="%{theta}: %{r:.2f}<extra></extra>",
        )
    figure.update_polars(
        bgcolor="rgba(0, 0, 0, 0)",
        radialaxis={"range": [0, 10], "tickvals": [2.5, 5, 7.5, 10], "gridcolor": GRID_LINE},
        angularaxis={"gridcolor": GRID_LINE, "linecolor": GRID_LINE, "direction": "clockwise"},
    )
    apply_style(figure, height=340)
    return figure.update_layout(
        margin={"l": 60, "r": 60, "t": 36, "b": 64 if len(series) > 1 else 28},
        showlegend=len(series) > 1,
        legend={"orientation": "v", "y": -0.12, "yanchor": "top"},
    )


def _write_name(name: str) -> str:
    return plot_text(name.replace("_", " "), 24)
