"""The chart of score against time: which LLM is worth its wait."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from poor_bench.reports.html.scale import log_ticks, spread_out
from poor_bench.reports.number_text import time_text
from poor_bench.reports.report_data import ReportData

WIDTH, LEAST_HEIGHT = 1000, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 320, 16, 44
_LABEL_GAP = 16.0
_LABEL_LENGTH = 46


class Point(NamedTuple):
    """One LLM on the chart; places in pixels."""

    label: str
    title: str
    x: float
    y: float
    y_low: float
    y_high: float
    label_y: float
    is_front: bool
    """Whether no other LLM is both faster and better."""


class Tick(NamedTuple):
    """A mark on an axis."""

    place: float
    text: str


class Scatter(NamedTuple):
    """The whole chart."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    """Edges of the plot itself."""
    points: list[Point]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    front: str
    """Points of the line through the LLMs that nobody beats."""


class _Llm(NamedTuple):
    name: str
    median_ms: float
    score: float
    low: float
    high: float


def scatter(data: ReportData) -> Scatter | None:
    """Return the chart, or None where fewer than two LLMs have both a score and a time."""
    llms = _llms_of(data)
    if len(llms) < 2:
        return None
    frame = _Frame(llms)
    points = sorted(_points_of(llms, frame), key=lambda point: point.x)
    ticks = log_ticks(frame.low_ms, frame.high_ms)
    return Scatter(
        width=WIDTH,
        height=frame.height,
        left=_LEFT,
        right=WIDTH - _RIGHT,
        top=_TOP,
        bottom=frame.height - _BOTTOM,
        points=points,
        x_ticks=[Tick(frame.x(tick), _tick_text(tick)) for tick in ticks],
        y_ticks=[Tick(frame.y(share), f"{share:.1f}") for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)],
        front=" ".join(f"{point.x},{point.y}" for point in points if point.is_front),
    )


class _Frame:
    """Where figures lie; high enough for a label of every LLM."""

    def __init__(self, llms: Sequence[_Llm]) -> None:
        self.low_ms = min(llm.median_ms for llm in llms) / 1.4
        self.high_ms = max(llm.median_ms for llm in llms) * 1.4
        self.height = max(LEAST_HEIGHT, round(_LABEL_GAP * len(llms)) + _TOP + _BOTTOM)

    def x(self, milliseconds: float) -> float:
        share = math.log(milliseconds / self.low_ms) / math.log(self.high_ms / self.low_ms)
        return round(_LEFT + share * (WIDTH - _RIGHT - _LEFT), 1)

    def y(self, score: float) -> float:
        return round(_TOP + (1 - score) * (self.height - _BOTTOM - _TOP), 1)


def _llms_of(data: ReportData) -> list[_Llm]:
    medians = {effort.llm_id: effort.median_ms for effort in data.efforts}
    found = []
    for summary in data.summaries():
        median = medians.get(summary.group.llm_id)
        if summary.score is not None and median:
            score = summary.score
            name = data.name(summary.group.llm_id)
            found.append(_Llm(name, median, score.value, score.low, score.high))
    return found


def _points_of(llms: Sequence[_Llm], frame: _Frame) -> list[Point]:
    """Return the points, their labels so far apart that all can be read."""
    places = spread_out([frame.y(llm.score) for llm in llms], _LABEL_GAP)
    down = max(0.0, _TOP - places[0])
    return [
        _point(llm, frame, place + down, is_front=not _is_beaten(llm, llms))
        for llm, place in zip(llms, places, strict=True)
    ]


def _point(llm: _Llm, frame: _Frame, label_y: float, *, is_front: bool) -> Point:
    times = f"{time_text(llm.median_ms)} median"
    return Point(
        label=f"{llm.name[: _LABEL_LENGTH - 1]}…" if len(llm.name) > _LABEL_LENGTH else llm.name,
        title=f"{llm.name}: {llm.score:.3f} ({llm.low:.2f} to {llm.high:.2f}), {times}",
        x=frame.x(llm.median_ms),
        y=frame.y(llm.score),
        y_low=frame.y(llm.low),
        y_high=frame.y(llm.high),
        label_y=round(label_y, 1),
        is_front=is_front,
    )


def _is_beaten(llm: _Llm, llms: Sequence[_Llm]) -> bool:
    return any(other.median_ms < llm.median_ms and other.score >= llm.score for other in llms)


def _tick_text(milliseconds: float) -> str:
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:g} s"
