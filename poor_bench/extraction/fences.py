"""Fenced blocks of Markdown, as LLMs write them.

The rules are CommonMark's (fences of three or more ``` ` ``` or `~`, closed by at least as many),
with three allowances for what LLMs do: any indentation, a whole block on one line, and a block
that is never closed, which ends with the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE_LINE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_LABEL = re.compile(r"[^\s`]+")
_ONE_LINE = re.compile(r"(?:(?P<label>[A-Za-z][\w+#-]*)[ \t]+)?(?P<body>.*)")


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """One fenced block.

    Attributes:
        label: First word after the opening fence, in lower case; may be empty.
        body: What stands between the fences.
        start: Offset of the opening fence's line.
        end: Offset after the closing fence, or the end of the text.
        is_closed: Whether there is a closing fence.
    """

    label: str
    body: str
    start: int
    end: int
    is_closed: bool


def fenced_blocks(text: str) -> list[FencedBlock]:
    r"""Return the fenced blocks of `text`, in order; they never overlap.

    Example:
        >>> [(block.label, block.body) for block in fenced_blocks("So:\n```json\n[1]\n```")]
        [('json', '[1]\n')]
    """
    blocks: list[FencedBlock] = []
    opening: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text):
        if opening is None:
            one_line = _one_line_block(line)
            if one_line is not None:
                blocks.append(one_line)
            elif "`" not in line["info"] or line["fence"][0] == "~":
                opening = line
        elif _closes(line, opening):
            blocks.append(_block(text, opening, line.start(), line.end(), is_closed=True))
            opening = None
    if opening is not None:
        blocks.append(_unclosed_block(text, opening))
    return blocks


def _closes(line: re.Match[str], opening: re.Match[str]) -> bool:
    return line["fence"].startswith(opening["fence"]) and not line["info"].strip()


def _block(
    text: str, opening: re.Match[str], body_end: int, end: int, *, is_closed: bool
) -> FencedBlock:
    label = _LABEL.search(opening["info"])
    return FencedBlock(
        label=label[0].lower() if label else "",
        body=text[opening.end() + 1 : body_end],
        start=opening.start(),
        end=end,
        is_closed=is_closed,
    )


def _unclosed_block(text: str, opening: re.Match[str]) -> FencedBlock:
    """Return the block up to a last line of fence characters, else up to the end.

    A closing fence that is too short (six backticks closed by three) closes nothing by the rules,
    but is not part of the body either.
    """
    body_end = len(text.rstrip().rstrip(opening["fence"][0]))
    if body_end <= opening.end() or text[body_end - 1] != "\n":
        body_end = len(text)
    return _block(text, opening, body_end, len(text), is_closed=False)


def _one_line_block(line: re.Match[str]) -> FencedBlock | None:
    inside = line["info"].rstrip()
    if not inside.endswith(line["fence"]):
        return None
    match = _ONE_LINE.fullmatch(inside.removesuffix(line["fence"]).strip())
    if match is None or not match["body"]:
        return None
    return FencedBlock(
        label=(match["label"] or "").lower(),
        body=match["body"],
        start=line.start(),
        end=line.end(),
        is_closed=True,
    )
