"""What a diff does to a text, and whether two diffs do the same."""

from __future__ import annotations

from collections.abc import Sequence

from poor_bench.extraction.unified_diff import Hunk

_MAX_HUNKS = 500
_MAX_HUNK_LINES = 5_000


class DiffDoesNotApplyError(ValueError):
    """A hunk does not fit the text; the message says which."""


def apply_hunks(lines: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    """Return `lines` with `hunks` applied, in order.

    Each hunk goes where its old lines stand: nearest to where its header says, after the hunk
    before it. White space at the end of lines does not count.

    Args:
        lines: The text before, without line ends.
        hunks: Hunks of one file.

    Raises:
        DiffDoesNotApplyError: If the old lines of a hunk stand nowhere.
    """
    if len(hunks) > _MAX_HUNKS:
        raise DiffDoesNotApplyError(f"more than {_MAX_HUNKS} hunks")
    source = [line.rstrip() for line in lines]
    result: list[str] = []
    position = 0
    for number, hunk in enumerate(hunks, start=1):
        old = [line.rstrip() for line in hunk.old]
        place = _find(source, old, position, _expected_place(hunk))
        if place is None:
            raise DiffDoesNotApplyError(f"hunk {number} does not fit the original")
        result += source[position:place]
        result += (line.rstrip() for line in hunk.new)
        position = place + len(old)
    return result + source[position:]


def _expected_place(hunk: Hunk) -> int:
    if hunk.start is None:
        return 0
    # By the format, an insertion's header names the line that it comes after.
    return hunk.start if not hunk.old else max(hunk.start - 1, 0)


def _find(source: Sequence[str], old: Sequence[str], first: int, expected: int) -> int | None:
    last = len(source) - len(old)
    if not old:
        return min(max(expected, first), len(source))
    places = (
        place
        for place in range(first, last + 1)
        if source[place] == old[0] and source[place : place + len(old)] == old
    )
    return min(places, key=lambda place: abs(place - expected), default=None)


def normal_changes(hunks: Sequence[Hunk]) -> list[tuple[list[str], list[str]]]:
    """Return what hunks change, independent of context, order of signs and untouched lines.

    Returns:
        Removed and added lines of each place that changes, in order. Lines that a hunk removes
        and adds again are not among them.
    """
    from rapidfuzz.distance import Indel

    changes: list[tuple[list[str], list[str]]] = []
    for hunk in hunks:
        old = [line.rstrip() for line in hunk.old]
        new = [line.rstrip() for line in hunk.new]
        if len(old) + len(new) > _MAX_HUNK_LINES:
            changes.append((old, new))
            continue
        end = (-1, -1)
        for code in Indel.opcodes(old, new):
            if code.tag == "equal":
                continue
            pieces = old[code.src_start : code.src_end], new[code.dest_start : code.dest_end]
            if (code.src_start, code.dest_start) == end:
                changes[-1][0].extend(pieces[0])
                changes[-1][1].extend(pieces[1])
            else:
                changes.append(pieces)
            end = code.src_end, code.dest_end
    return changes
