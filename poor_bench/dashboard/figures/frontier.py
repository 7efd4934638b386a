"""Score against size or time, with the efficient frontier and labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import plotly.graph_objects as go

from poor_bench.dashboard.text.formatting import plot_text
from poor_bench.dashboard.theme import SERIES, apply_style
from poor_bench.statistics.intervals import Estimate

_CHARACTER_WIDTH = 6.3
_LINE_HEIGHT = 14.0
_MARKER = 11.0
_GAP = 9.0
_CORNER = 5.0
"""How far from the middle of its point a label at one of its corners begins."""


class Spot(NamedTuple):
    """A point in pixels, x to the right and y upwards."""

    x: float
    y: float


class Box(NamedTuple):
    """What takes room, in pixels."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """True if both share some room."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def label_places(
    spots: Sequence[Spot], labels: Sequence[str], width: float, obstacles: Sequence[Box] = ()
) -> list[str]:
    """Choose where each label stands, as Plotly's `textposition`; empty without room.

    Earlier points choose first.

    Args:
        spots: The points, in pixels.
        labels: Their names.
        width: Width of the drawing in pixels; labels stay inside.
        obstacles: Lines and the like, which no label may cross.

    Example:
        >>> label_places([Spot(30, 50), Spot(60, 50)], ["a", "b"], width=100)
        ['top center', 'top center']
        >>> label_places([Spot(50, 50), Spot(52, 50)], ["a long one", "another"], width=100)
        ['top center', 'bottom center']
    """
    markers = [_around(spot, _MARKER, _MARKER) for spot in spots]
    taken = list(obstacles)
    places = []
    for index, (spot, label) in enumerate(zip(spots, labels, strict=True)):
        others = markers[:index] + markers[index + 1 :]
        place = _first_free(spot, label, [*taken, *others], width)
        places.append(place)
        if place:
            taken.append(_candidates(spot, label)[place])
    return places


def _first_free(spot: Spot, label: str, taken: Sequence[Box], width: float) -> str:
    for place, box in _candidates(spot, label).items():
        is_inside = box.left >= 0 and box.right <= width
        if is_inside and not any(box.meets(other) for other in taken):
            return place
    return ""


def _candidates(spot: Spot, label: str) -> dict[str, Box]:
    width = _CHARACTER_WIDTH * len(label)
    aside, corner, apart = width / 2 + _GAP, width / 2 + _CORNER, _GAP + 4
    centres = {
        "top center": Spot(spot.x, spot.y + apart),
        "bottom center": Spot(spot.x, spot.y - apart),
        "middle right": Spot(spot.x + aside, spot.y),
        "middle left": Spot(spot.x - aside, spot.y),
        "top right": Spot(spot.x + corner, spot.y + apart),
        "top left": Spot(spot.x - corner, spot.y + apart),
        "bottom right": Spot(spot.x + corner, spot.y - apart),
        "bottom left": Spot(spot.x - corner, spot.y - apart),
    }
    return {place: _around(centre, width, _LINE_HEIGHT) for place, centre in centres.items()}


def _around(spot: Spot, width: float, height: float) -> Box:
    return Box(spot.x - width / 2, spot.y - height / 2, spot.x + width / 2, spot.y + height / 2)


_ON_FRONTIER, _BELOW = SERIES[0], "#8a8f98"
_WIDTH, _HEIGHT = 500.0, 270.0
"""Size of the drawing that labels are placed for, in pixels: that of a narrow window."""
_TOP = 1.1
_MARGIN = 0.12
"""Room at both ends of the horizontal axis, as a share of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierPoint:
    """One LLM of the chart."""

    llm_id: str
    name: str
    x: float
    """What is spent: size, seconds, ...; above 0, less is better."""
    score: Estimate
    is_minor: bool = False
    """True for one of many with lower scores: drawn small unless it is on the frontier."""


def find_frontier(points: Sequence[FrontierPoint]) -> list[FrontierPoint]:
    """Find the points that no other beats in one thing without being worse in the other.

    Returns:
        Cheapest first; each scores higher than all that spend as much or less.
    """
    frontier: list[FrontierPoint] = []
    for point in sorted(points, key=lambda point: (point.x, -point.score.value)):
        if not frontier or point.score.value > frontier[-1].score.value:
            frontier.append(point)
    return frontier


def frontier_figure(
    points: Sequence[FrontierPoint], x_title: str, *, is_spread: bool = False
) -> go.Figure:
    """Build the scores over what is spent, on a logarithmic axis.

    Args:
        points: One for each LLM, at least one.
        x_title: Name and unit of the horizontal axis.
        is_spread: Draw points with equal x side by side instead of on top of each other.
    """
    import plotly.graph_objects as go

    frontier = find_frontier(points)
    behind = [point for point in points if point not in frontier]
    below = [point for point in behind if not point.is_minor]
    minor = [point for point in behind if point.is_minor]
    low, high = _log_range(points)
    figure = go.Figure()
    _add_line(figure, frontier)
    ordered = [*frontier, *below, *minor]
    drawn = _spread(ordered, low, high) if is_spread else [_Drawn(each, each.x) for each in ordered]
    n_major = len(frontier) + len(below)
    _add_minor(figure, drawn[n_major:])
    places = _places(drawn[:n_major], len(frontier), low, high)
    _add_points(
        figure, drawn[: len(frontier)], places, "efficient frontier", _ON_FRONTIER, "diamond"
    )
    rest = drawn[len(frontier) : n_major]
    _add_points(figure, rest, places[len(frontier) :], "others", _BELOW, "circle")
    ticks = round_numbers(10**low, 10**high)
    figure.update_xaxes(
        title=x_title,
        type="log",
        range=[low, high],
        tickvals=ticks,
        ticktext=[f"{tick:g}" for tick in ticks],
    )
    figure.update_yaxes(title="score", range=[0, _TOP], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return apply_style(figure, height=360)


def round_numbers(low: float, high: float) -> list[float]:
    """List the numbers 1, 2, 5 and their multiples by ten between two numbers above 0.

    Example:
        >>> round_numbers(0.4, 30)
        [0.5, 1, 2, 5, 10, 20]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [int(step) if step >= 1 else step for step in steps if low <= step <= high]


def _log_range(points: Sequence[FrontierPoint]) -> tuple[float, float]:
    values = [math.log10(point.x) for point in points]
    room = max((max(values) - min(values)) * _MARGIN, 0.2)
    return min(values) - room, max(values) + room


class _Drawn(NamedTuple):
    """A point, and where it is drawn: beside its place where another one is there."""

    point: FrontierPoint
    x: float


def spread_spots(spots: Sequence[Spot], step: float) -> list[float]:
    """Move points sideways, alternately right and left, until they do not cover each other.

    Args:
        spots: The points, in pixels; earlier ones stay where they are.
        step: Width and height of a point, in pixels.

    Example:
        >>> spread_spots([Spot(50, 10), Spot(50, 12), Spot(50, 40), Spot(50, 11)], step=10)
        [0.0, 10.0, 0.0, -10.0]
    """
    taken: list[Spot] = []
    moved: list[float] = []
    for spot in spots:
        near = [other for other in taken if abs(other.y - spot.y) < step]
        free = (
            offset
            for offset in _OFFSETS
            if all(abs(other.x - spot.x - offset * step) >= step - 1e-9 for other in near)
        )
        moved.append(next(free, _OFFSETS[-1]) * step)
        taken.append(Spot(spot.x + moved[-1], spot.y))
    return moved


_OFFSETS = (0.0, *(side * place for place in range(1, 9) for side in (1.0, -1.0)))
"""Where a point may stand, in widths of a point: as near as possible to its place."""


def _spread(points: Sequence[FrontierPoint], low: float, high: float) -> list[_Drawn]:
    across = [(math.log10(point.x) - low) / (high - low) * _WIDTH for point in points]
    spots = [Spot(x, _up(point.score.value)) for x, point in zip(across, points, strict=True)]
    moved = spread_spots(spots, _MARKER)
    return [
        _Drawn(point, point.x * 10 ** (offset / _WIDTH * (high - low)))
        for point, offset in zip(points, moved, strict=True)
    ]


def _places(points: Sequence[_Drawn], n_frontier: int, low: float, high: float) -> list[str]:
    """Choose where the labels stand; the first `n_frontier` points are joined by a line."""
    across = [(math.log10(each.x) - low) / (high - low) * _WIDTH for each in points]
    scores = [each.point.score for each in points]
    spots = [Spot(x, _up(score.value)) for x, score in zip(across, scores, strict=True)]
    bars = [
        Box(x - 1, _up(score.low), x + 1, _up(score.high))
        for x, score in zip(across, scores, strict=True)
    ]
    line = spots[:n_frontier]
    for first, second in pairwise(line):
        bars.append(Box(first.x, first.y - 1, second.x, first.y + 1))
        bars.append(Box(second.x - 1, first.y, second.x + 1, second.y))
    return label_places(spots, [_label(each.point) for each in points], _WIDTH, bars)


def _up(score: float) -> float:
    return score / _TOP * _HEIGHT


def _label(point: FrontierPoint) -> str:
    """Write a name without its provider, for a label beside a point."""
    return plot_text(point.name.partition(":")[2] or point.name, 26)


def _add_line(figure: go.Figure, frontier: Sequence[FrontierPoint]) -> None:
    figure.add_scatter(
        x=[point.x for point in frontier],
        y=[point.score.value for point in frontier],
        mode="lines",
        line={"color": _ON_FRONTIER, "width": 1.5, "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
        showlegend=False,
    )


def _add_points(
    figure: go.Figure,
    drawn: Sequence[_Drawn],
    places: Sequence[str],
    name: str,
    color: str,
    symbol: str,
) -> None:
    points = [each.point for each in drawn]
    shown = list(zip(points, places, strict=False))
    figure.add_scatter(
        x=[each.x for each in drawn],
        y=[point.score.value for point in points],
        error_y={
            "type": "data",
            "array": [point.score.high - point.score.value for point in points],
            "arrayminus": [point.score.value - point.score.low for point in points],
            "thickness": 1,
            "width": 3,
            "color": color,
        },
        mode="markers+text",
        marker={"color": color, "size": 11, "symbol": symbol},
        text=[_label(point) if place else "" for point, place in shown],
        textposition=[place or "top center" for _, place in shown],
        textfont={"size": 11},
        customdata=list(map(_list_hover, points)),
        hovertemplate=_HOVER,
        name=name,
        cliponaxis=False,
    )


def _add_minor(figure: go.Figure, drawn: Sequence[_Drawn]) -> None:
    """Add the many with lower scores: small, with name and interval on hovering only."""
    if not drawn:
        return
    figure.add_scatter(
        x=[each.x for each in drawn],
        y=[each.point.score.value for each in drawn],
        mode="markers",
        marker={"color": _BELOW, "size": 6, "opacity": 0.55},
        customdata=[_list_hover(each.point) for each in drawn],
        hovertemplate=_HOVER,
        name=f"{len(drawn):,} lower",
        cliponaxis=False,
    )


def _list_hover(point: FrontierPoint) -> list[object]:
    return [point.llm_id, plot_text(point.name, 80), point.score.low, point.score.high, point.x,
            point.score.basis]  # fmt: skip


_HOVER = (
    "<b>%{customdata[1]}</b><br>%{customdata[4]:,.3~g}<br>score %{y:.3f} "
    "(95 % CI %{customdata[2]:.2f} to %{customdata[3]:.2f}, %{customdata[5]})<extra></extra>"
)
