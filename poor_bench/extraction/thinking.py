"""Thinking apart from answer, where both came as one text.

Servers that know a model's format return its thinking apart; others pass on the raw text with the
markers in it. The markers below are the ones that open models are trained on.

Rules:
- A block runs from an opening marker to the next closing marker of its family.
- A closing marker without an opening one (the chat template had already written it into the
  prompt) makes everything before it thinking; a stray one at the very end changes nothing.
- A block that is never closed runs to the end: what the model would have answered is unknown.
- A marker between quotes, or in a closed code block of the answer, is text.
- The tokens that end a turn are no part of either.
- Nor are characters that nobody sees, for evaluators: see `without_thinking`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poor_bench.extraction.fences import find_fenced_blocks
from poor_bench.extraction.normalise import drop_invisible


@dataclass(frozen=True, slots=True)
class ThinkingSplit:
    """A response in two parts.

    Attributes:
        answer: What the model said to the user; empty where thinking never ended.
        thinking: All blocks of thinking, separated by blank lines; may be empty.
        is_unclosed: Whether the last block of thinking never ended.
    """

    answer: str
    thinking: str
    is_unclosed: bool


@dataclass(frozen=True, slots=True)
class _Family:
    """Markers that belong together, as regular expressions that begin with one of `<[◁`."""

    opening: str
    closing: str


_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|seed:think|longcat_think"
_CONSTRAINED = r"[^<]{0,200}(?:<\|constrain\|>[^<]{0,40})?"
_FAMILIES = {
    # DeepSeek, Qwen, EXAONE, Reka, Seed-OSS and most others
    "tag": _Family(rf"<(?:{_TAGS})(?:\s[^<>]{{0,200}})?>", rf"</(?:{_TAGS})\s*>"),
    # Mistral; lower case would be an ordinary word in brackets
    "mistral": _Family(r"(?-i:\[THINK\])", r"(?-i:\[/THINK\])"),
    # Kimi-VL
    "kimi": _Family("◁think▷", "◁/think▷"),
    # OpenThinker, Sky-T1
    "openthinker": _Family(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    # Cohere Command
    "cohere": _Family(r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    # Step
    "step": _Family(r"<\|THINK_START\|>", r"<\|THINK_END\|>"),
    # Apertus
    "apertus": _Family(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    # Gemma 4, MedGemma
    "gemma": _Family(r"<\|channel>(?:thought\b)?", r"<channel\|>"),
    "medgemma": _Family(r"<unused94>(?:thought\b)?", r"<unused95>"),
    # gpt-oss: several channels, of which only the final one is the answer
    "harmony": _Family(
        rf"<\|channel\|>(?:analysis|commentary){_CONSTRAINED}<\|message\|>",
        rf"<\|channel\|>final{_CONSTRAINED}<\|message\|>",
    ),
}
_BEGINNING = re.compile(r"[<\[◁](?=[/|a-z])", re.IGNORECASE)
_MARKER = re.compile(
    "|".join(
        f"(?P<open_{name}>{family.opening})|(?P<close_{name}>{family.closing})"
        for name, family in _FAMILIES.items()
    ),
    re.IGNORECASE,
)
_CONTROL_TOKEN = re.compile(
    r"<\|(?:start\|>assistant|(?:start|end|return|message|call)\|>)"
    r"|<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>"
)
_LONGEST_END = 100
"""White space that may follow a token which ends a turn, and the last sign of that token."""
_END_OF_TURN = re.compile(
    r"(?:(?:<\|(?:im_end|eot_id|eom_id|eot|eos|endoftext|end_of_text|end|return|user|assistant"
    r"|end_of_role|END_OF_TURN_TOKEN)\|>|<end_of_turn>|<turn\|>|<end_of_utterance>|</s>|</?eos>"
    # DeepSeek writes it with a full-width line and blocks for spaces
    "|<\uff5cend\u2581of\u2581sentence\uff5c>"
    r"|\[/?INST\]|\[END FINAL RESPONSE\]|\[e~\[)\s{0,99}){1,9}\Z"
)
_AT_THE_EDGES = " \t\r\n\u200b\u200c\u200d\u2060\ufeff"
_QUOTES = "`'\""
_WORDED_FAMILIES = (
    # gpt-oss after a decoder that drops special tokens
    (re.compile(r"^\s*analysis(?=[A-Z])"), re.compile(r"assistantfinal")),
    # Granite 3.2 says it in words
    (
        re.compile(r"^\s*Here(?:'s| is) my thought process:", re.IGNORECASE),
        re.compile(r"Here(?:'s| is) my response:", re.IGNORECASE),
    ),
    # Apriel
    (
        re.compile(r"^\s*Here are my reasoning steps:", re.IGNORECASE),
        re.compile(r"\[BEGIN FINAL RESPONSE\]"),
    ),
)
"""Markers that are ordinary words: they count only where the response begins with them."""


def split_thinking(text: str) -> ThinkingSplit:
    """Split a response into answer and thinking; without any marker the answer is all.

    Example:
        >>> split_thinking("<think>2 and 2 make 4</think>4")
        ThinkingSplit(answer='4', thinking='2 and 2 make 4', is_unclosed=False)
    """
    if text[-_LONGEST_END:].rstrip().endswith((">", "]", "[")):  # few do: the search is slow
        text = _END_OF_TURN.sub("", text)
    for opening, closing in _WORDED_FAMILIES:
        beginning = opening.match(text)
        if beginning is not None:
            return _split_at(text, beginning.end(), closing)
    markers = _find_unquoted_markers(text)
    if not markers:
        return ThinkingSplit(answer=text, thinking="", is_unclosed=False)
    splitter = _Splitter(text)
    for marker, block_start in zip(markers, _find_block_starts(text, markers), strict=True):
        splitter.take(marker, block_start)
    return splitter.finish()


def without_thinking(text: str, *, keep_invisible: bool = False) -> str:
    r"""Cut the answer out of a response as evaluators read it.

    Thinking, tokens that end a turn, byte order marks and invisible characters are no part of the
    answer, so they break no format rule either; everything else is.

    Args:
        text: A response.
        keep_invisible: Whether to remove invisible characters at both ends only, where those
            within may be meant: in code and in files.

    Example:
        >>> without_thinking("<think>2 + 2</think>\ufeff4</s>")
        '4'
    """
    answer = split_thinking(text).answer
    if answer.isascii():
        return answer
    return answer.strip(_AT_THE_EDGES) if keep_invisible else drop_invisible(answer)


def _split_at(text: str, start: int, closing: re.Pattern[str]) -> ThinkingSplit:
    end = closing.search(text, start)
    return ThinkingSplit(
        answer=text[end.end() :].strip() if end else "",
        thinking=text[start : end.start() if end else None].strip(),
        is_unclosed=end is None,
    )


def _find_unquoted_markers(text: str) -> list[re.Match[str]]:
    candidates = (_MARKER.match(text, sign.start()) for sign in _BEGINNING.finditer(text))
    return [marker for marker in candidates if marker and not _is_quoted(text, marker)]


def _is_quoted(text: str, marker: re.Match[str]) -> bool:
    before = text[marker.start() - 1 : marker.start()]
    return bool(before) and before in _QUOTES and text.startswith(before, marker.end())


def _find_block_starts(text: str, markers: Sequence[re.Match[str]]) -> Iterator[int]:
    """Yield for each marker where the code block around it starts, or -1."""
    blocks = (block for block in find_fenced_blocks(text) if block.is_closed)
    block = next(blocks, None)
    for marker in markers:
        while block is not None and block.end <= marker.start():
            block = next(blocks, None)
        is_inside = block is not None and block.start <= marker.start()
        yield block.start if block is not None and is_inside else -1


class _Splitter:
    """Walks over the markers of one text and sorts what stands between them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text.rstrip())
        self._answer: list[str] = []
        self._thinking: list[str] = []
        self._position = 0
        self._open = ""
        self._has_closed = False

    def take(self, marker: re.Match[str], block_start: int) -> None:
        """Go on to the next marker, given the start of the code block around it, or -1."""
        kind, _, family = (marker.lastgroup or "").partition("_")
        if self._open:
            if kind == "close" and family == self._open:
                self._close(marker)
        elif block_start >= self._position:
            return
        elif kind == "open":
            self._move_to(marker, self._answer)
            self._open = family
        else:
            self._close_unopened(marker)

    def finish(self) -> ThinkingSplit:
        """Give the two parts, once all markers were taken."""
        rest = self._text[self._position :]
        (self._thinking if self._open else self._answer).append(rest)
        thoughts = (_CONTROL_TOKEN.sub("", part).strip() for part in self._thinking)
        return ThinkingSplit(
            answer=_CONTROL_TOKEN.sub("", "".join(self._answer)).strip(),
            thinking="\n\n".join(thought for thought in thoughts if thought),
            is_unclosed=bool(self._open),
        )

    def _close(self, marker: re.Match[str]) -> None:
        self._move_to(marker, self._thinking)
        self._open = ""
        self._has_closed = True

    def _close_unopened(self, marker: re.Match[str]) -> None:
        is_stray = self._has_closed and marker.end() >= self._end
        self._move_to(marker, self._answer)
        if not is_stray:
            self._thinking.append("".join(self._answer))
            self._answer.clear()
            self._has_closed = True

    def _move_to(self, marker: re.Match[str], part: list[str]) -> None:
        part.append(self._text[self._position : marker.start()])
        self._position = marker.end()
