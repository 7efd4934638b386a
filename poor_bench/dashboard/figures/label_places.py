"""Where names stand beside points so that they do not run into each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
        """Return whether both share some room."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


def label_places(
    spots: Sequence[Spot], labels: Sequence[str], width: float, obstacles: Sequence[Box] = ()
) -> list[str]:
    """Return where each label stands, as Plotly's `textposition`; empty where there is no room.

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
