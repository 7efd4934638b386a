"""Text of others inside Markdown, so that it can be nothing but text.

GitHub turns text into links, mentions of people, references to issues, headings, images and HTML.
Inside a code span it does none of that, so all text that is not ours stands in one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from poor_bench.messages import harmless

_BACKTICKS = re.compile(r"`+")
_INVISIBLE = {"Cc", "Co", "Cn"}


def quote_code(text: str, limit: int = 200) -> str:
    """Write text of others as a code span on one line.

    Args:
        text: Anything, of any length.
        limit: Characters that are shown at most, at least 1.

    Returns:
        A code span; an empty string for text without anything visible.

    Source:
        CommonMark 0.31.2, section 6.1: a code span ends at a run of as many backticks as it began
        with; GitHub Flavored Markdown 0.29, section 4.10: pipes end a table's cell even there.

    Example:
        >>> quote_code("@everyone <img src=x>"), quote_code("a `b` c")
        ('`@everyone <img src=x>`', '`` a `b` c ``')
    """
    line = " ".join("".join(map(_make_visible, harmless(text[: 4 * limit]))).split()).replace(
        "|", "¦"
    )
    if len(line) > limit:
        line = f"{line[: limit - 1]}…"
    if not line:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if longest else ""
    return f"{fence}{padding}{line}{padding}{fence}"


def write_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: int = 0) -> str:
    """Write a table.

    Args:
        headings: Ours.
        rows: Cells; texts of others must be code spans.
        right: From which column on cells stand at the right; 0 for none.
    """
    rules = ["---:" if right and column >= right else "---" for column in range(len(headings))]
    lines = [headings, rules, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_details(summary: str, body: str) -> str:
    """Write a part that is folded up at first.

    Args:
        summary: Ours, without markup.
        body: Markdown.
    """
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _make_visible(character: str) -> str:
    if character.isspace():
        return " "
    return "\ufffd" if unicodedata.category(character) in _INVISIBLE else character
