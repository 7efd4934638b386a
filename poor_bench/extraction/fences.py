"""Fenced blocks of Markdown, as LLMs write them, and LaTeX's box.

The rules are CommonMark's (fences of three or more ``` ` ``` or `~`, closed by at least as many),
with three allowances for what LLMs do: any indentation, a whole block on one line, and a block
that is never closed, which ends with the text. A fence four or more columns deeper than the opening
one, as in the docstring of a function, closes only what no other fence closes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE_LINE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE
)
_LABEL = re.compile(r"[^\s`]+")
_ONE_LINE = re.compile(r"(?:(?P<label>[A-Za-z][\w+#-]*)[ \t]+)?(?P<body>.*)")

_DEEP = 4


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


def find_fenced_blocks(text: str) -> list[FencedBlock]:
    r"""Find the fenced blocks of `text`, in order; they never overlap.

    Example:
        >>> [(block.label, block.body) for block in find_fenced_blocks("So:\n```json\n[1]\n```")]
        [('json', '[1]\n')]
    """
    scan = _FenceScan(text)
    for line in _FENCE_LINE.finditer(text):
        scan.take(line)
    return scan.finish()


class _FenceScan:
    """Walks over the lines of one text that may be fences."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._blocks: list[FencedBlock] = []
        self._opening: re.Match[str] | None = None
        self._deep_end: re.Match[str] | None = None

    def take(self, line: re.Match[str]) -> None:
        """Go on to the next line."""
        if self._deep_end is not None and line["info"].strip() and not self._is_deep(line):
            self._close(self._deep_end)
        if self._opening is None:
            self._open(line)
        elif _closes(line, self._opening):
            if self._is_deep(line):
                self._deep_end = self._deep_end or line
            else:
                self._close(line)

    def finish(self) -> list[FencedBlock]:
        """Give all blocks, once all lines were taken."""
        if self._deep_end is not None:
            self._close(self._deep_end)
        if self._opening is not None:
            self._blocks.append(_read_unclosed_block(self._text, self._opening))
        return self._blocks

    def _open(self, line: re.Match[str]) -> None:
        one_line = _read_one_line_block(line)
        if one_line is not None:
            self._blocks.append(one_line)
        elif "`" not in line["info"] or line["fence"][0] == "~":
            self._opening = line

    def _close(self, line: re.Match[str]) -> None:
        assert self._opening is not None
        block = _make_block(self._text, self._opening, line.start(), line.end(), is_closed=True)
        self._blocks.append(block)
        self._opening = self._deep_end = None

    def _is_deep(self, line: re.Match[str]) -> bool:
        return (
            self._opening is not None
            and _measure_depth(line) >= _measure_depth(self._opening) + _DEEP
        )


def _measure_depth(line: re.Match[str]) -> int:
    return len(line["indent"].expandtabs(_DEEP))


def _closes(line: re.Match[str], opening: re.Match[str]) -> bool:
    return line["fence"].startswith(opening["fence"]) and not line["info"].strip()


def _make_block(
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


def _read_unclosed_block(text: str, opening: re.Match[str]) -> FencedBlock:
    """Read the block up to a last line of fence characters, else up to the end.

    A closing fence that is too short (six backticks closed by three) closes nothing by the rules,
    but is not part of the body either.
    """
    body_end = len(text.rstrip().rstrip(opening["fence"][0]))
    if body_end <= opening.end() or text[body_end - 1] != "\n":
        body_end = len(text)
    return _make_block(text, opening, body_end, len(text), is_closed=False)


def _read_one_line_block(line: re.Match[str]) -> FencedBlock | None:
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


_OPENING = "\\boxed{"
_MAX_LENGTH = 1000


def find_last_boxed(text: str) -> str | None:
    r"""Find the content of the last `\boxed{}`, up to 1,000 characters; None without one."""
    start = text.rfind(_OPENING)
    if start < 0:
        return None
    start += len(_OPENING)
    depth = 1
    for offset, character in enumerate(text[start : start + _MAX_LENGTH]):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return text[start : start + offset]
    return None
