"""Two texts side by side: what stands in both, and what in one only."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum

_MOST_CHARACTERS = 6000
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class Side(StrEnum):
    """Where a piece of text stands."""

    BOTH = "both"
    FIRST = "first"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters of a comparison."""

    side: Side
    text: str


def compare_texts(first: str, second: str) -> list[Piece]:
    """Return both texts as one sequence of pieces, compared word by word.

    Texts of more than some 6,000 characters together are compared line by line, so that the time
    stays short.

    Example:
        >>> [(piece.side.value, piece.text) for piece in compare_texts("a b", "a c")]
        [('both', 'a '), ('first', 'b'), ('second', 'c')]
    """
    if len(first) + len(second) > _MOST_CHARACTERS:
        old, new = first.splitlines(keepends=True), second.splitlines(keepends=True)
    else:
        old, new = _WORDS.findall(first), _WORDS.findall(second)
    pieces = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(Piece(Side.BOTH, "".join(old[old_start:old_end])))
            continue
        for side, words in (
            (Side.FIRST, old[old_start:old_end]),
            (Side.SECOND, new[new_start:new_end]),
        ):
            if words:
                pieces.append(Piece(side, "".join(words)))
    return pieces
