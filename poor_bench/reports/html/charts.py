"""Charts of the HTML report: heat map, score against time, where the time goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from poor_bench import metrics
from poor_bench.messages import write_count
from poor_bench.metrics import interval_text, score_text, time_text
from poor_bench.metrics.trust import write_trust
from poor_bench.reports.report_data import ReportData
from poor_bench.statistics.summary import GroupBy, Summary

_ENOUGH_TICKS = 3
HEAT_STEPS = 20
"""The palette has this many steps, and one more."""


def write_percent(share: float) -> str:
    """Write a share as a percentage for SVG, such as `83.25%`."""
    return f"{100 * share:.2f}%"


def choose_heat_step(score: float) -> int:
    """Find the step of the palette for a score of 0.0 to 1.0.

    Example:
        >>> choose_heat_step(0.0), choose_heat_step(0.5), choose_heat_step(1.0)
        (0, 10, 20)
    """
    return round(min(1.0, max(0.0, score)) * HEAT_STEPS)


def list_log_ticks(low: float, high: float) -> list[float]:
    """Choose round numbers from `low` to `high`, both above 0: 1, 2, 5 or, if few, every digit.

    Example:
        >>> list_log_ticks(0.8, 30.0), list_log_ticks(3.5, 6.5)
        ([1.0, 2.0, 5.0, 10.0, 20.0], [4.0, 5.0, 6.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), range(1, 10)):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) >= _ENOUGH_TICKS:
            break
    return shown


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Move places at least `gap` apart, each near its own, in the same order.

    Args:
        places: In ascending order.
        gap: At least 0.

    Example:
        >>> spread_out([10.0, 11.0, 40.0], gap=4.0)
        [8.5, 12.5, 40.0]
    """
    clusters: list[list[float]] = []
    for place in places:
        clusters.append([place])
        while len(clusters) > 1 and _overlap(clusters[-2], clusters[-1], gap):
            last = clusters.pop()
            clusters[-1] += last
    return [_start(cluster, gap) + gap * i for cluster in clusters for i in range(len(cluster))]


def _overlap(upper: Sequence[float], lower: Sequence[float], gap: float) -> bool:
    return _start(lower, gap) - (_start(upper, gap) + gap * (len(upper) - 1)) < gap


def _start(cluster: Sequence[float], gap: float) -> float:
    return sum(cluster) / len(cluster) - gap * (len(cluster) - 1) / 2


class HeatCell(NamedTuple):
    """One LLM on one class."""

    class_id: str
    step: int | None
    """Step of the palette; None where nothing was scored."""
    text: str
    n: str
    """Tests that the score is over; empty where nothing was scored."""
    title: str
    trust: str
    """What lessens the trust in it, such as `12 of 16 tests, 2 failed`."""


class HeatRow(NamedTuple):
    """One LLM."""

    llm_id: str
    name: str
    cells: list[HeatCell]


def build_heat_map(data: ReportData) -> list[HeatRow]:
    """Build a row for every LLM, best score first, with a cell for every class."""
    summaries = {
        (row.group.llm_id, row.group.class_id): row for row in data.summaries(GroupBy.LLM_CLASS)
    }
    rows = []
    for summary in data.summaries():
        llm_id = summary.group.llm_id
        cells = []
        for class_id in data.class_ids:
            part = summaries.get((llm_id, class_id))
            score = part.score if part else None
            trust = write_trust(part) if part else ""
            if score is None:
                cells.append(HeatCell(class_id, None, "n/a", "", "nothing scored", trust))
                continue
            title = f"{interval_text(score.low, score.high)}, {score.basis}"
            text = f"{score.value:.2f}"
            n = write_count(score.n_all, "test")
            cells.append(HeatCell(class_id, choose_heat_step(score.value), text, n, title, trust))
        rows.append(HeatRow(llm_id, data.name(llm_id), cells))
    return rows


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
    """True if no other LLM is both faster and better."""


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
    basis: str


def build_scatter(data: ReportData) -> Scatter | None:
    """Build the chart; None if fewer than two LLMs have both a score and a time."""
    llms = _list_llms(data)
    if len(llms) < 2:
        return None
    frame = _Frame(llms)
    points = sorted(_place_points(llms, frame), key=lambda point: point.x)
    ticks = list_log_ticks(frame.low_ms, frame.high_ms)
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


def _list_llms(data: ReportData) -> list[_Llm]:
    found = []
    for summary in data.summaries():
        median = metrics.MEDIAN_TIME.value(summary)
        if summary.score is not None and median:
            score = summary.score
            name = data.name(summary.group.llm_id)
            found.append(_Llm(name, median, score.value, score.low, score.high, score.basis))
    return found


def _place_points(llms: Sequence[_Llm], frame: _Frame) -> list[Point]:
    """Place the points, their labels far enough apart to be read."""
    places = spread_out([frame.y(llm.score) for llm in llms], _LABEL_GAP)
    down = max(0.0, _TOP - places[0])
    return [
        _build_point(llm, frame, place + down, is_front=not _is_beaten(llm, llms))
        for llm, place in zip(llms, places, strict=True)
    ]


def _build_point(llm: _Llm, frame: _Frame, label_y: float, *, is_front: bool) -> Point:
    times = f"{time_text(llm.median_ms)} median"
    return Point(
        label=f"{llm.name[: _LABEL_LENGTH - 1]}…" if len(llm.name) > _LABEL_LENGTH else llm.name,
        title=f"{llm.name}: {score_text(llm.score)} ({interval_text(llm.low, llm.high)}, "
        f"{llm.basis}), {times}",
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


class BarSegment(NamedTuple):
    """One phase of the mean trial."""

    kind: str
    """Name of the phase, and of its colour."""
    x: str
    width: str
    title: str


class TimeBar(NamedTuple):
    """One model."""

    name: str
    summary: Summary
    segments: list[BarSegment]


def time_bars(data: ReportData) -> list[TimeBar]:
    """Build a bar for every model whose server reports the phases, best score first."""
    split = [summary for summary in data.summaries() if summary.parts]
    longest = max((summary.parts.execution_ms for summary in split if summary.parts), default=0.0)
    return [_build_bar(summary, longest, data) for summary in split]


def _build_bar(summary: Summary, longest: float, data: ReportData) -> TimeBar:
    segments = []
    start = 0.0
    for metric in metrics.PHASES:
        milliseconds = metric.value(summary) or 0.0
        if milliseconds > 0:
            place, width = write_percent(start / longest), write_percent(milliseconds / longest)
            title = f"{metric.label}: {metric.show(summary)}"
            segments.append(BarSegment(metric.name.removesuffix("_ms"), place, width, title))
            start += milliseconds
    return TimeBar(data.name(summary.group.llm_id), summary, segments)
