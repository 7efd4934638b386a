"""Judged runs as JSON, and as one HTML page with a chart of scores by dimension; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from poor_bench.judge.judged_run import RunSummary
from poor_bench.judge.report_text import list_run_notes, run_cost_text, spread_text, write_verdict
from poor_bench.reports.html.page import render_page

WIDTH, HEIGHT = 640, 420
_RADIUS = 150.0
_LABEL_RADIUS = 172.0
_LARGEST = 10.0
_RINGS = (2.5, 5.0, 7.5, 10.0)
_LEAST_AXES = 3


class Axis(NamedTuple):
    """One dimension; places in pixels."""

    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str
    """`start`, `middle` or `end`: on which side of its place the label begins."""


class Polygon(NamedTuple):
    """The scores of one run."""

    label: str
    points: str
    """Coordinates as SVG wants them."""
    marks: list[tuple[float, float, str]]
    """Place and text of each score."""


class Radar(NamedTuple):
    """The whole chart."""

    width: int
    height: int
    x: float
    y: float
    """Its centre."""
    axes: list[Axis]
    rings: list[tuple[str, str]]
    """Coordinates and score of each ring."""
    polygons: list[Polygon]


def build_radar(series: Sequence[tuple[str, Mapping[str, float]]]) -> Radar | None:
    """Build the chart of the dimensions common to all series.

    Args:
        series: Label, and dimension to score (0.0 to 10.0), of each run.

    Returns:
        None for fewer than three dimensions, which make no area.
    """
    if not series:
        return None
    names = [name for name in series[0][1] if all(name in scores for _, scores in series)]
    if len(names) < _LEAST_AXES:
        return None
    angles = [2 * math.pi * index / len(names) - math.pi / 2 for index in range(len(names))]
    return Radar(
        width=WIDTH,
        height=HEIGHT,
        x=WIDTH / 2,
        y=HEIGHT / 2,
        axes=[_build_axis(name, angle) for name, angle in zip(names, angles, strict=True)],
        rings=[(_write_points([ring] * len(names), angles), f"{ring:g}") for ring in _RINGS],
        polygons=[
            _build_polygon(label, [scores[name] for name in names], angles)
            for label, scores in series
        ],
    )


def _build_axis(name: str, angle: float) -> Axis:
    x, y = _place(_RADIUS, angle)
    label_x, label_y = _place(_LABEL_RADIUS, angle)
    side = round(math.cos(angle), 3)
    anchor = "middle" if side == 0 else "start" if side > 0 else "end"
    return Axis(name.replace("_", " "), x, y, label_x, label_y, anchor)


def _build_polygon(label: str, scores: Sequence[float], angles: Sequence[float]) -> Polygon:
    marks = [
        (*_place(_RADIUS * score / _LARGEST, angle), f"{score:.2f}")
        for score, angle in zip(scores, angles, strict=True)
    ]
    return Polygon(label, _write_points(scores, angles), marks)


def _write_points(scores: Sequence[float], angles: Sequence[float]) -> str:
    places = [
        _place(_RADIUS * score / _LARGEST, angle)
        for score, angle in zip(scores, angles, strict=True)
    ]
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _place(radius: float, angle: float) -> tuple[float, float]:
    x = WIDTH / 2 + radius * math.cos(angle)
    return round(x, 1), round(HEIGHT / 2 + radius * math.sin(angle), 1)


def run_to_json(summary: RunSummary, *, with_parts: bool = False) -> dict[str, Any]:
    """Convert a run with its figures.

    Args:
        summary: The run.
        with_parts: True if its conversations and judgements come with it.
    """
    run, panel = summary.run, summary.panel
    record: dict[str, Any] = {
        **asdict(run.header),
        "ended": run.ended,
        "is_complete": run.is_complete,
        "approved": summary.is_approved,
        "n_cases_with_broken_rules": summary.n_broken,
        "overall_score": panel.overall_score,
        "scores": dict(panel.scores),
        "case_scores": dict(panel.case_scores),
        "n_judgements": len(run.usable_judgements),
        "n_fallbacks": panel.n_fallbacks,
        "is_self_judged": panel.is_self_judged,
        "noise": summary.noise,
        "disagreement": panel.disagreement,
        "dimension_disagreement": dict(panel.dimension_disagreement),
        "alpha": panel.alpha,
        "judges_apart": [asdict(member) for member in panel.members],
        "cost_usd": run.cost_usd,
        "is_cost_whole": run.is_cost_whole,
        "notes": list(list_run_notes(summary)),
    }
    if with_parts:
        record["conversations"] = [talk.as_dict() for talk in run.conversations]
        record["judgements"] = [judgement.as_dict() for judgement in run.judgements]
    return record


def runs_to_html(summaries: Sequence[RunSummary], created: str) -> str:
    """Render a page for one or several runs.

    Args:
        summaries: At least one; the chart lays them over one another.
        created: When the page is made, ISO 8601, UTC.
    """
    names = list(dict.fromkeys(summary.run.header.agent for summary in summaries))
    content = {
        "title": " and ".join(names),
        "created": created,
        "radar": build_radar([(_label(summary), summary.panel.scores) for summary in summaries]),
        "runs": [
            (summary, write_verdict(summary), list_run_notes(summary)) for summary in summaries
        ],
    }
    return render_page(
        "judge_report.html",
        content,
        package="poor_bench.judge",
        style="judge_report.css",
        filters={"spread": spread_text, "cost": run_cost_text},
    )


def _label(summary: RunSummary) -> str:
    header = summary.run.header
    return f"{header.agent} ({header.llm_id}), {header.started[:16].replace('T', ' ')}"
