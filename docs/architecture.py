"""Draw `docs/images/architecture.svg` from the imports of the package.

python docs/architecture.py

A box is a package or module of `poor_bench/`; a line is an import, to what stands further down.
An import that follows from others is not drawn: the picture changes only when the structure does.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from html import escape
from pathlib import Path
from typing import NamedTuple

import grimp

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
_PACKAGE = "poor_bench"
_PURE_CONTRACT = "Pure layers know no files, network or clock"
_WIDTH, _ROW, _BOX, _GAP, _LETTER, _TOP = 1000, 66, 32, 22, 7.6, 44
_SWEEPS = 12
"""Passes that move boxes closer to what they are connected with; the order settles before."""

_STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328;
  text-anchor: middle; dominant-baseline: central }
rect { fill: #eef2f7; stroke: #8c98a8 } .pure rect { fill: #e3f3e6; stroke: #6fa57b }
path { fill: none; stroke: #8c98a8; stroke-opacity: .6 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } rect { fill: #1c2430; stroke: #66748a }
  .pure rect { fill: #173022; stroke: #4d8a5c }
}
"""

Imports = dict[str, frozenset[str]]
"""Part of the package to the parts that it imports."""


class Box(NamedTuple):
    """Place of one part in the picture: the middle of its box, and the width."""

    x: float
    y: float
    width: float


def read_imports() -> Imports:
    """Read which parts of the package import which; imports for type checkers count too."""
    graph = grimp.build_graph(_PACKAGE, cache_dir=None)
    imports: dict[str, set[str]] = {
        name.split(".")[1]: set() for name in graph.find_children(_PACKAGE)
    }
    for module in graph.modules - {_PACKAGE}:
        part = module.split(".")[1]
        targets = graph.find_modules_directly_imported_by(module) - {_PACKAGE}
        imports[part] |= {target.split(".")[1] for target in targets} - {part}
    return {part: frozenset(found) for part, found in imports.items()}


def find_rows(imports: Imports) -> list[list[str]]:
    """Sort parts into rows, the lowest first: each stands above all that it imports.

    Raises:
        RecursionError: If the imports have a cycle.
    """

    @cache
    def height(part: str) -> int:
        return 1 + max((height(other) for other in imports[part]), default=-1)

    rows: list[list[str]] = [[] for _ in range(1 + max(map(height, imports)))]
    for part in sorted(imports):
        rows[height(part)].append(part)
    return rows


def drop_implied(imports: Imports) -> Imports:
    """Drop imports of what another import reaches as well (the transitive reduction)."""

    @cache
    def reach(part: str) -> frozenset[str]:
        return imports[part].union(*(reach(other) for other in imports[part]))

    return {
        part: frozenset(
            target for target in own if not any(target in reach(other) for other in own)
        )
        for part, own in imports.items()
    }


def place_boxes(rows: list[list[str]], imports: Imports) -> dict[str, Box]:
    """Give each part a place: rows from top to bottom, connected parts close to each other."""
    neighbours: dict[str, set[str]] = {part: set(own) for part, own in imports.items()}
    for part, own in imports.items():
        for target in own:
            neighbours[target].add(part)
    boxes = _spread(rows)
    for _ in range(_SWEEPS):
        for row in rows:
            row.sort(
                key=lambda part: (
                    round(
                        sum(boxes[other].x for other in neighbours[part])
                        / max(1, len(neighbours[part]))
                    ),
                    part,
                )
            )
        boxes = _spread(rows)
    return boxes


def _spread(rows: list[list[str]]) -> dict[str, Box]:
    boxes = {}
    for number, row in enumerate(reversed(rows)):
        widths = [round(len(part) * _LETTER + 24) for part in row]
        gap = max(_GAP, (_WIDTH - sum(widths)) / (len(row) + 1))
        x = (_WIDTH - sum(widths) - gap * (len(row) - 1)) / 2
        for part, width in zip(row, widths, strict=True):
            boxes[part] = Box(round(x + width / 2, 1), _TOP + number * _ROW, width)
            x += width + gap
    return boxes


def draw(imports: Imports, pure: frozenset[str]) -> str:
    """Draw the picture; the same imports always give the same text.

    Args:
        imports: Of all parts.
        pure: Parts that use neither files nor network nor clock.
    """
    rows, drawn = find_rows(imports), drop_implied(imports)
    boxes = place_boxes(rows, drawn)
    height = _TOP * 2 + (len(rows) - 1) * _ROW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>Parts of poor_bench and their imports, which point down</title>",
        f"<style>{_STYLE}</style>",
    ]
    for part in sorted(drawn):
        lines += [_line(boxes[part], boxes[target]) for target in sorted(drawn[part])]
    lines += [_box(part, boxes[part], is_pure=part in pure) for part in sorted(boxes)]
    return "\n".join([*lines, "</svg>", ""])


def _line(above: Box, below: Box) -> str:
    start, end = above.y + _BOX / 2, below.y - _BOX / 2
    bend = (end - start) / 2
    curve = f"{above.x} {start + bend} {below.x} {end - bend} {below.x} {end}"
    return f'<path d="M{above.x} {start} C{curve}"/>'


def _box(part: str, box: Box, *, is_pure: bool) -> str:
    x, y = box.x - box.width / 2, box.y - _BOX / 2
    shape = f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width}" height="{_BOX}" rx="6"/>'
    text = f'<text x="{box.x}" y="{box.y}">{escape(part)}</text>'
    return f'<g class="{"pure" if is_pure else "part"}">{shape}{text}</g>'


def read_pure_parts() -> frozenset[str]:
    """Read from pyproject.toml which parts are held to be pure, as a whole."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [pure] = [each for each in contracts if each["name"] == _PURE_CONTRACT]
    names = [module.split(".") for module in pure["source_modules"]]
    return frozenset(name[1] for name in names if len(name) == 2)


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(draw(read_imports(), read_pure_parts()), encoding="utf-8")
    sys.stdout.write(f"Wrote {PICTURE}\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # grimp finds the package as Python does
    main()
