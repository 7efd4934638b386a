r"""Markdown of evaluators, which may quote an LLM, without anything that leads elsewhere.

What remains is emphasis, lists, headings, quotes, tables and code. Links, images, HTML and
footnotes become the text that they are written with.

How: code spans of one line and fenced blocks are found first and written anew with longer fences
than anything in them. In all other text every character that can open code, a link, an image, HTML
or an entity is escaped, so nothing but our own fences opens code, whatever a parser makes of the
rest. Addresses, which many parsers turn into links by themselves, become code. Lines stay lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from poor_bench.messages import harmless

_CODE = re.compile(
    r"^(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n`]*)\n(?P<block>.*?)(?:^(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?P<span>[^\n]{1,2000}?)(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|www\.)[^\s`|]*"
    r"|(?:mailto|xmpp|javascript|data):[^\s`|]+"
    r"|(?<![^\s`|@])[^\s`|@]+@[^\s`|@]+\.[^\s`|@]+",
    re.IGNORECASE,
)
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "&": "&amp;", "<": "&lt;", "[": "\\[", "]": "\\]", "`": "\\`", "~": "\\~"}
)
_LINE_BREAK = " \N{DOWNWARDS ARROW WITH CORNER LEFTWARDS} "
_LONGEST_TICKS = re.compile(r"`+")


def safe_markdown(text: str) -> str:
    r"""Write Markdown that renders like `text`, without links, images and HTML.

    Example:
        >>> print(safe_markdown("**Got** `[1, 2]`, see [this](javascript:alert(1)) <b>"))
        **Got** ` [1, 2] `, see \[this\](` javascript:alert(1)) ` &lt;b>
    """
    pieces, end = [], 0
    text = harmless(text.replace("\r\n", "\n").replace("\r", "\n"))
    for match in _CODE.finditer(text):
        pieces.append(_prose(text[end : match.start()]))
        pieces.append(_code(match))
        end = match.end()
    pieces.append(_prose(text[end:]))
    return _join(pieces)


_MOST_IN_CELL = 300


def one_line_markdown(text: str) -> str:
    """Write the same for a table cell: on one line, and cut.

    Line breaks become a sign, so that what stood on different lines stays apart.
    """
    lines = (" ".join(line.split()) for line in text[: 4 * _MOST_IN_CELL].splitlines())
    line = _LINE_BREAK.join(filter(None, lines))
    return safe_markdown(line if len(line) <= _MOST_IN_CELL else f"{line[: _MOST_IN_CELL - 1]}…")


def _code(match: re.Match[str]) -> str:
    block = match["block"]
    if block is not None:
        fence = "`" * max(3, _longest_run(block) + 1)
        return f"\n\n{fence}\n{block.rstrip(chr(10))}\n{fence}\n\n"
    span = match["span"]
    return _prose(match[0]) if "|" in span else _span(span)


def _span(text: str) -> str:
    ticks = "`" * (_longest_run(text) + 1)
    return f"{ticks} {text} {ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _LONGEST_TICKS.findall(text)), default=0)


def _join(pieces: Iterable[str]) -> str:
    """Join pieces; the fences of two that meet would become one."""
    text: list[str] = []
    for piece in filter(None, pieces):
        if text and text[-1].endswith("`") and piece.startswith("`"):
            text.append(" ")
        text.append(piece)
    return "".join(text)


def _prose(text: str) -> str:
    pieces, end = [], 0
    for match in _ADDRESS.finditer(text):
        pieces.append(text[end : match.start()].translate(_ESCAPES))
        pieces.append(_span(match[0]))
        end = match.end()
    pieces.append(text[end:].translate(_ESCAPES))
    return _join(pieces).replace("\n", "  \n")  # two spaces: a line break, not a blank
