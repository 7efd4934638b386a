"""The label of a choice out of a response to a multiple-choice question.

First rule that fits; of several announcements the last one counts:

1. the whole response is a label, or a fenced block or the last LaTeX box is: bare, fenced, boxed;
2. words announce it ("the answer is (B)", "Answer: B", "I choose B", "so it is B", "B is
   correct"), or a JSON object holds it under `answer` or as its only member: announced;
3. the response begins with a label ("B) Paris"), and no other line does: in prose;
4. only one label is set off by brackets, quotes or emphasis, or else mentioned at all: in prose;
5. the text of only one choice occurs, where the texts are known: in prose.

Labels that the text denies ("not A", "B is wrong") do not count. Where several labels are mentioned
and none is announced, or several are announced at once ("A or B"), there is no answer: none is
guessed. Nor is there one in a refusal. In running text single letters count in their own case only,
unless they are announced and signs or the end of the line follow ("answer: b"), and `A` and `I` not
as the English words.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from poor_bench.extraction.fences import find_fenced_blocks, last_boxed
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.label import ANNOUNCING, CHOOSING, CONFIRMING, OR, is_denied
from poor_bench.extraction.normalise import WORD_CHARACTER, fold_answer, fold_text
from poor_bench.extraction.refusal import is_refusal

# Pieces of the patterns below. Repetitions are bounded or possessive, so that each is linear.
_OPENING = r"[\s*_(\[\"'`${「『【（]{0,8}(?:\\\w{1,8}\{)?"
"""Signs before a label: "(B", "**B", "\\text{B"."""
_LINE_OPENING = r"[ \t*_(\[\"'`]{0,8}"
_CLOSING = r"[)\]*_\"'`}$」』】）]{0,4}+"
_AT_AN_END = rf"(?!{WORD_CHARACTER}|'\w|[.,]\d)"
"""Not the start of a word or number: "Bob", "B's", "1.5"."""
_NO_ARTICLE = (
    r"(?!(?<=[AI])\s+"
    r"(?!(?:because|since|as|and|or|with|due|is|for|which|oder|und|ou|et|weil|ist)\b)[a-z])"
)
"""Not the English words: "A dog", "I think"; but "A because"."""
_NAMED = r"(?i:(?:option|choice|answer)\s+)?"
_ANNOUNCING = (
    r"(?:(?i:\b(?:answer|choice|option)\b[^\n.!?]{0,40}?(?:\bis\b|\bare\b|[:=])"  # the answer is B
    r"|\b(?:answer|choose|chose|pick|select|selected)\b"  # I choose B
    r"|\bit(?:\s+is|\s+must\s+be|['\N{RIGHT SINGLE QUOTATION MARK}]s)\b"  # it must be B
    r"|\b(?:so|thus|hence|therefore)[,:]?\s"  # therefore, B
    r"|\bgo(?:ing)?\s+(?:with|for)\b)"  # going with B
    rf"|{ANNOUNCING}|{CHOOSING})"
)
_PRAISE = r"(?i:is\s+(?:the\s+)?(?:most\s+)?(?:correct|right|best|accurate|true|answer)\b)"
"""Words after a label that announce it: "B is the best answer"."""
_MAX_CONTRAST = 16
"""Characters between the label that is meant and the one that is denied: "B rather than A"."""

_MAX_MENTIONS = 100


class _Patterns(NamedTuple):
    """Where a text mentions one of some labels; the last named group that matched is the label."""

    announced: re.Pattern[str]
    at_line_start: re.Pattern[str]
    set_off: re.Pattern[str]
    word: re.Pattern[str]
    alternative: re.Pattern[str]


def extract_choice(
    text: str, labels: Sequence[str], texts: Sequence[str] = ()
) -> Extracted[str] | None:
    """Find the label that `text` chooses; None where it chooses none, or several.

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
    whole = _whole(text, by_fold)
    if whole is not None or is_refusal(text):
        return whole
    return (
        _read_announced(text, by_fold, patterns)
        or _at_beginning(text, by_fold, patterns)
        or _only_one(text, by_fold, patterns)
        or _by_text(text, labels, texts)
    )


def _whole(text: str, by_fold: dict[str, str]) -> Extracted[str] | None:
    candidates = [(block.body, Found.FENCED) for block in reversed(find_fenced_blocks(text))]
    candidates.append((text, Found.BARE))
    candidates.append((_unwrap(last_boxed(text) or ""), Found.BOXED))
    for piece, found in candidates:
        label = by_fold.get(fold_answer(piece))
        if label is not None:
            return Extracted(label, found, piece.strip())
    return None


def _unwrap(boxed: str) -> str:
    r"""Unwrap `\text{B}` to `B`."""
    return re.sub(r"^\s*\\\w{1,8}\{(.*)\}\s*$", r"\1", boxed)


def _read_announced(
    text: str, by_fold: dict[str, str], patterns: _Patterns
) -> Extracted[str] | None:
    extracted = extract_json(text, lambda value: _member(value, by_fold) is not None)
    if extracted is not None:
        return Extracted(_member(extracted.value, by_fold) or "", Found.ANNOUNCED, extracted.text)
    announcements = deque(patterns.announced.finditer(text), maxlen=_MAX_MENTIONS)
    last = next((match for match in reversed(announcements) if _is_affirmed(match)), None)
    if last is None or _has_alternative(last, patterns):
        return None
    return Extracted(by_fold[fold_answer(_label_in(last))], Found.ANNOUNCED, last[0].strip())


def _is_affirmed(mention: re.Match[str]) -> bool:
    """True if the text means the label and does not deny it."""
    return not is_denied(mention.string, *mention.span(mention.lastgroup or 0))


def _label_in(mention: re.Match[str]) -> str:
    return mention[mention.lastgroup or 0]


def _has_alternative(mention: re.Match[str], patterns: _Patterns) -> bool:
    """True if another label is given in the same breath, as in "A or B"."""
    other = patterns.alternative.match(mention.string, mention.end(mention.lastgroup or 0))
    return other is not None and _label_in(other) != _label_in(mention) and _is_affirmed(other)


def _member(value: Any, by_fold: dict[str, str]) -> str | None:
    """Find the label that a JSON object holds."""
    if not isinstance(value, dict):
        return None
    member = next(iter(value.values()), None) if len(value) == 1 else value.get("answer")
    return by_fold.get(fold_answer(member)) if isinstance(member, str) else None


def _at_beginning(text: str, by_fold: dict[str, str], patterns: _Patterns) -> Extracted[str] | None:
    lines = list(islice(patterns.at_line_start.finditer(text), _MAX_MENTIONS))
    lines = [line for line in lines if _is_affirmed(line)]
    if len({_label_in(line) for line in lines}) != 1 or text[: lines[0].start()].strip():
        return None
    if _has_alternative(lines[0], patterns):
        return None
    label = by_fold[fold_answer(_label_in(lines[0]))]
    return Extracted(label, Found.IN_PROSE, lines[0][0].strip())


def _only_one(text: str, by_fold: dict[str, str], patterns: _Patterns) -> Extracted[str] | None:
    """Find the only label that is set off by signs, or else the only one at all."""
    for pattern in (patterns.set_off, patterns.word):
        mentions = list(islice(pattern.finditer(text), _MAX_MENTIONS))
        meant = [mention for mention in mentions if _is_affirmed(mention)]
        labels = {by_fold[fold_answer(_label_in(mention))] for mention in meant}
        if len(labels) > 1 or not all(_is_near(mention, meant) for mention in mentions):
            return None
        for label in labels:
            return Extracted(label, Found.IN_PROSE, label)
    return None


def _is_near(mention: re.Match[str], meant: Sequence[re.Match[str]]) -> bool:
    """True if a mention is meant, or next to one that is, as in "B, not A"."""
    return any(
        max(mention.start() - other.end(), other.start() - mention.end()) <= _MAX_CONTRAST
        for other in meant
    )


def _by_text(text: str, labels: Sequence[str], texts: Sequence[str]) -> Extracted[str] | None:
    """Find the label of the only choice whose text occurs, not counting what others contain."""
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
    mentions = re.finditer(rf"(?<!\w){re.escape(choice)}(?!\w)", folded)
    return any(map(_is_affirmed, islice(mentions, _MAX_MENTIONS)))


@lru_cache(maxsize=64)
def _patterns(labels: tuple[str, ...]) -> _Patterns:
    by_length = sorted(labels, key=len, reverse=True)  # of "A1" and "A" the longer one is read
    label = "|".join(map(_in_own_case, by_length))
    any_case = "|".join(map(re.escape, by_length))
    return _Patterns(
        announced=_build_announced_pattern(label, any_case),
        at_line_start=_line_start_pattern(label, any_case),
        set_off=re.compile(
            rf"(?<!{WORD_CHARACTER})(?<![.-])(?P<label>{label})(?=[)\]*_\"'`」』】）])"
        ),
        word=re.compile(
            rf"(?<!{WORD_CHARACTER})(?<!['.-])(?P<label>{label})"
            rf"(?!{WORD_CHARACTER}|'|[.,]\d){_NO_ARTICLE}"
        ),
        alternative=_alternative_pattern(label),
    )


def _build_announced_pattern(label: str, any_case: str) -> re.Pattern[str]:
    return re.compile(
        rf"{_ANNOUNCING}{_OPENING}{_NAMED}{_OPENING}(?:"
        rf"(?P<after>{label}){_AT_AN_END}{_NO_ARTICLE}"  # the answer is (B) because
        # answer: b, where a sign or the end of the line follows
        rf"|(?P<folded>(?i:{any_case}))(?=[)\]*_\"'`}}$.,;:!]|[ \t]*$){_AT_AN_END})"
        rf"|(?<!{WORD_CHARACTER})(?P<before>{label})[)\]*_\"'`.]{{0,4}}"  # **B** is correct
        rf"(?:\s+{_PRAISE}|{CONFIRMING})",
        re.MULTILINE,
    )


def _line_start_pattern(label: str, any_case: str) -> re.Pattern[str]:
    return re.compile(
        rf"^{_LINE_OPENING}(?P<label>{label})(?:[*_]{{0,3}}[).:\]](?!\d)|[ \t]*$)"  # B) Paris
        rf"|^{_LINE_OPENING}(?i:option|choice)\s{_OPENING}"  # Option b
        rf"(?P<named>(?i:{any_case})){_AT_AN_END}"
        rf"|\A{_LINE_OPENING}(?P<first>{label})(?={_CLOSING}"  # B because; B - Paris
        r"(?:\s+(?i:because|since|as)\b|\s*[-\N{EN DASH}\N{EM DASH},]\s))",
        re.MULTILINE,
    )


def _alternative_pattern(label: str) -> re.Pattern[str]:
    comma = r"(?:,\s{0,9}+)?"
    return re.compile(
        rf"{_CLOSING}\s{{0,9}}+(?:"
        rf"{comma}\b{OR}{_OPENING}{_NAMED}{_OPENING}(?P<either>{label})(?!\w)"  # A or B
        rf"|(?:{comma}\b(?i:and)|[,/&+]){_OPENING}{_NAMED}{_OPENING}(?P<too>{label})(?!\w)"
        # what follows must end the list: "A, B." but not "A, B happens"
        rf"{_CLOSING}\s{{0,9}}(?=$|[.,;!?/\n]|(?i:and|or|are|both|because|since)\b))"
    )


def _in_own_case(label: str) -> str:
    """Escape a label for a pattern; words such as `yes` count in any case."""
    return re.escape(label) if len(label) == 1 else f"(?i:{re.escape(label)})"
