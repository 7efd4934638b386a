"""The label of a choice out of a response to a multiple-choice question.

First rule that fits; of several announcements the last one counts:

1. the whole response is a label, or a fenced block or the last LaTeX box is: bare, fenced, boxed;
2. words announce it ("the answer is (B)", "Answer: B", "I choose B", "so it is B", "B is
   correct"), or a JSON object holds it under `answer` or as its only member: announced;
3. the response begins with a label ("B) Paris"), and no other line does: in prose;
4. only one label is set off by brackets, quotes or emphasis, or else mentioned at all: in prose;
5. the text of only one choice occurs, where the texts are known: in prose.

Where several labels are mentioned and none is announced, there is no answer: none is guessed. In
running text labels count in their own case only, and `A` and `I` not as the English words.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from poor_bench.extraction.boxed import last_boxed
from poor_bench.extraction.fences import fenced_blocks
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.normalise import fold_answer, fold_text

_OPENING = r"[\s*_(\[\"'`${]{0,8}(?:\\\w{1,8}\{)?"
_NOT_RULED_OUT = r"(?!\W{0,4}\s(?i:is|was|seems)\s(?i:not|wrong|incorrect|false|out)\b)"
_NO_ARTICLE = r"(?!(?<=[AI])\s+(?!(?:because|since|as|and|or|with|due|is|for|which)\b)[a-z])"


class _Patterns(NamedTuple):
    announced: re.Pattern[str]
    at_line_start: re.Pattern[str]
    set_off: re.Pattern[str]
    word: re.Pattern[str]


def extract_choice(
    text: str, labels: Sequence[str], texts: Sequence[str] = ()
) -> Extracted[str] | None:
    """Return the label that `text` chooses, or None.

    Args:
        text: An answer, without thinking.
        labels: All labels, such as `A` to `D`.
        texts: What the choices say, in the order of `labels`; may be empty.

    Example:
        >>> extract_choice("I think the answer is (B).", ["A", "B"]).value
        'B'
    """
    by_fold = {fold_answer(label): label for label in labels}
    patterns = _patterns(tuple(labels))
    return (
        _whole(text, by_fold)
        or _announced(text, by_fold, patterns)
        or _at_beginning(text, patterns)
        or _only_one(text, patterns)
        or _by_text(text, labels, texts)
    )


def _whole(text: str, by_fold: dict[str, str]) -> Extracted[str] | None:
    candidates = [(block.body, Found.FENCED) for block in reversed(fenced_blocks(text))]
    candidates.append((text, Found.BARE))
    candidates.append((_unwrapped(last_boxed(text) or ""), Found.BOXED))
    for piece, found in candidates:
        label = by_fold.get(fold_answer(piece))
        if label is not None:
            return Extracted(label, found, piece.strip())
    return None


def _unwrapped(boxed: str) -> str:
    r"""Return `B` of `\text{B}`."""
    return re.sub(r"^\s*\\\w{1,8}\{(.*)\}\s*$", r"\1", boxed)


def _announced(text: str, by_fold: dict[str, str], patterns: _Patterns) -> Extracted[str] | None:
    extracted = extract_json(text, lambda value: _member(value, by_fold) is not None)
    if extracted is not None:
        return Extracted(_member(extracted.value, by_fold) or "", Found.ANNOUNCED, extracted.text)
    for last in deque(patterns.announced.finditer(text), maxlen=1):
        return Extracted(last["after"] or last["before"], Found.ANNOUNCED, last[0].strip())
    return None


def _member(value: Any, by_fold: dict[str, str]) -> str | None:
    """Return the label that a JSON object holds."""
    if not isinstance(value, dict):
        return None
    member = next(iter(value.values()), None) if len(value) == 1 else value.get("answer")
    return by_fold.get(fold_answer(member)) if isinstance(member, str) else None


def _at_beginning(text: str, patterns: _Patterns) -> Extracted[str] | None:
    lines = list(patterns.at_line_start.finditer(text))
    if len({line["label"] for line in lines}) != 1 or text[: lines[0].start()].strip():
        return None
    return Extracted(lines[0]["label"], Found.IN_PROSE, lines[0][0].strip())


def _only_one(text: str, patterns: _Patterns) -> Extracted[str] | None:
    """Return the only label that is set off by signs, or else the only one at all."""
    for pattern in (patterns.set_off, patterns.word):
        mentioned = {match["label"] for match in pattern.finditer(text)}
        if len(mentioned) > 1:
            return None
        for label in mentioned:
            return Extracted(label, Found.IN_PROSE, label)
    return None


def _by_text(text: str, labels: Sequence[str], texts: Sequence[str]) -> Extracted[str] | None:
    """Return the label of the only choice whose text occurs, not counting what others contain."""
    folded = f" {fold_text(text)} "
    occurring = [
        (fold_answer(choice), label)
        for label, choice in zip(labels, texts, strict=False)
        if fold_answer(choice) and _has_words(folded, fold_answer(choice))
    ]
    widest = [
        (choice, label)
        for choice, label in occurring
        if not any(choice != other and choice in other for other, _ in occurring)
    ]
    if len(widest) != 1:
        return None
    choice, label = widest[0]
    return Extracted(label, Found.IN_PROSE, choice)


def _has_words(folded: str, choice: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(choice)}(?!\w)", folded) is not None


@lru_cache(maxsize=64)
def _patterns(labels: tuple[str, ...]) -> _Patterns:
    label = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
    announcing = (
        r"(?i:\b(?:answer|choice|option)\b[^\n.!?]{0,40}?(?:\bis\b|\bare\b|[:=])"
        r"|\b(?:answer|choose|chose|pick|select|selected)\b"
        r"|\bit(?:\s+is|\s+must\s+be|['\N{RIGHT SINGLE QUOTATION MARK}]s)\b"
        r"|\b(?:so|thus|hence|therefore),?\s|\bgo(?:ing)?\s+(?:with|for)\b)"
    )
    praise = r"(?i:is\s+(?:the\s+)?(?:most\s+)?(?:correct|right|best|accurate|answer)\b)"
    return _Patterns(
        announced=re.compile(
            rf"{announcing}{_OPENING}(?i:(?:option|choice|answer)\s+)?{_OPENING}"
            rf"(?P<after>{label})(?!\w|'\w){_NO_ARTICLE}{_NOT_RULED_OUT}"
            rf"|(?<!\w)(?P<before>{label})[)\]*_\"'`.]{{0,4}}\s+{praise}"
        ),
        at_line_start=re.compile(
            rf"^[ \t*_(\[\"'`]{{0,8}}(?P<label>{label})(?:[*_]{{0,3}}[).:\]]|[ \t]*$)", re.MULTILINE
        ),
        set_off=re.compile(rf"(?<!\w)(?P<label>{label})(?=[)\]*_\"'`])"),
        word=re.compile(rf"(?<![\w'])(?P<label>{label})(?![\w']){_NO_ARTICLE}"),
    )
