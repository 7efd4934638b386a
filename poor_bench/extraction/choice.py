"""The label of a choice out of a response to a multiple-choice question.

A response mentions choices, and the first rule that its mentions satisfy names the answer:

1. the whole response is a label, or a fenced block or the last LaTeX box is: bare, fenced, boxed;
2. words announce it ("the answer is (B)", "Answer: B", "I choose B", "so it is B", "B is
   correct"; the last announcement counts), or a JSON object holds it under `answer` or as its only
   member: announced;
3. the response begins with a label ("B) Paris"), and no other line does: in prose;
4. only one label is set off by brackets, quotes or emphasis, or else mentioned at all: in prose;
5. the text of only one choice occurs, where the texts are known: in prose.

Mentions that the text denies ("not A", "B is wrong") or does not decide ("I cannot tell whether B
is right") do not count. Where several labels are mentioned and none is announced, or several are
announced at once ("A or B"), there is no answer: none is guessed. Nor is there one in a refusal. In
running text single letters count in their own case only, unless they are announced and signs or the
end of the line follow ("answer: b"), and `A` and `I` not as the English words.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from poor_bench.extraction.fences import find_fenced_blocks, find_last_boxed
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.label import (
    ANNOUNCING,
    CHOOSING,
    CONFIRMING,
    OR,
    drop_undecided,
    is_denied,
)
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
    r"|\b(?i:correct|right|best|true) (?i:one|statement|solution|response|letter)"
    r"\s(?i:is|would be)\b[: ]?"  # the correct one is B
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
    known = _compile(tuple(labels))
    whole = _read_whole(text, known)
    if whole is not None or is_refusal(text):
        return whole
    text = drop_undecided(text)
    return (
        _read_json(text, known)
        or _take_last_announced(text, known)
        or _take_first_line(text, known)
        or _take_only_label(text, known)
        or _take_only_text(text, labels, texts)
    )


class _Mention(NamedTuple):
    """A place where a text mentions a choice."""

    label: str
    match: re.Match[str]
    """With the words that announce it; the last named group that matched is the label."""

    @property
    def span(self) -> tuple[int, int]:
        """Where the label stands."""
        return self.match.span(self.match.lastgroup or 0)

    @property
    def is_meant(self) -> bool:
        """False if the text denies it."""
        return not is_denied(self.match.string, *self.span)


class _Labels(NamedTuple):
    """The labels of a test, and patterns of their mentions."""

    by_fold: dict[str, str]
    announced: re.Pattern[str]
    at_line_start: re.Pattern[str]
    set_off: re.Pattern[str]
    word: re.Pattern[str]
    alternative: re.Pattern[str]

    def name(self, written: str) -> str | None:
        """Find the label that a piece of text consists of."""
        return self.by_fold.get(fold_answer(written))

    def find(self, pattern: re.Pattern[str], text: str) -> Iterator[_Mention]:
        """Yield the mentions that match a pattern."""
        return filter(None, map(self._read_mention, pattern.finditer(text)))

    def has_alternative(self, mention: _Mention) -> bool:
        """True if another label is given in the same breath, as in "A or B"."""
        match = self.alternative.match(mention.match.string, mention.span[1])
        other = match and self._read_mention(match)
        return other is not None and other.label != mention.label and other.is_meant

    def _read_mention(self, match: re.Match[str]) -> _Mention | None:
        """Read a match; None where patterns know more spellings: a dotless i matches "I"."""
        label = self.name(match[match.lastgroup or 0])
        return None if label is None else _Mention(label, match)


def _read_whole(text: str, known: _Labels) -> Extracted[str] | None:
    pieces = [(block.body, Found.FENCED) for block in reversed(find_fenced_blocks(text))]
    pieces += [(text, Found.BARE), (_unwrap(find_last_boxed(text) or ""), Found.BOXED)]
    for piece, found in pieces:
        label = known.name(piece)
        if label is not None:
            return Extracted(label, found, piece.strip())
    return None


def _unwrap(boxed: str) -> str:
    r"""Unwrap `\text{B}` to `B`."""
    return re.sub(r"^\s*\\\w{1,8}\{(.*)\}\s*$", r"\1", boxed)


def _read_json(text: str, known: _Labels) -> Extracted[str] | None:
    def read_label(value: Any) -> str | None:
        if not isinstance(value, dict):
            return None
        member = next(iter(value.values()), None) if len(value) == 1 else value.get("answer")
        return known.name(member) if isinstance(member, str) else None

    extracted = extract_json(text, lambda value: read_label(value) is not None)
    label = extracted and read_label(extracted.value)
    return Extracted(label, Found.ANNOUNCED, extracted.text) if extracted and label else None


def _take_last_announced(text: str, known: _Labels) -> Extracted[str] | None:
    announced = deque(known.find(known.announced, text), maxlen=_MAX_MENTIONS)
    last = next((mention for mention in reversed(announced) if mention.is_meant), None)
    if last is None or known.has_alternative(last):
        return None
    return Extracted(last.label, Found.ANNOUNCED, last.match[0].strip())


def _take_first_line(text: str, known: _Labels) -> Extracted[str] | None:
    mentions = islice(known.find(known.at_line_start, text), _MAX_MENTIONS)
    meant = [mention for mention in mentions if mention.is_meant]
    if len({mention.label for mention in meant}) != 1 or text[: meant[0].match.start()].strip():
        return None
    if known.has_alternative(meant[0]):
        return None
    return Extracted(meant[0].label, Found.IN_PROSE, meant[0].match[0].strip())


def _take_only_label(text: str, known: _Labels) -> Extracted[str] | None:
    """Take the only label that is set off by signs; where none is, the only one at all."""
    for pattern in (known.set_off, known.word):
        mentions = list(islice(known.find(pattern, text), _MAX_MENTIONS))
        if mentions:
            break
    meant = [mention for mention in mentions if mention.is_meant]
    labels = {mention.label for mention in meant}
    if len(labels) != 1 or not all(_is_near(mention, meant) for mention in mentions):
        return None
    label = labels.pop()
    return Extracted(label, Found.IN_PROSE, label)


def _is_near(mention: _Mention, meant: Sequence[_Mention]) -> bool:
    """True if a mention is meant, or next to one that is, as in "B, not A"."""
    start, end = mention.span
    return any(max(start - other.span[1], other.span[0] - end) <= _MAX_CONTRAST for other in meant)


def _take_only_text(
    text: str, labels: Sequence[str], texts: Sequence[str]
) -> Extracted[str] | None:
    """Take the only choice whose text occurs, not counting those within others that do."""
    folded = f" {fold_text(text)} "
    choices = [(fold_answer(choice), label) for label, choice in zip(labels, texts, strict=False)]
    meant = [mention for each in choices for mention in _find_text(folded, *each)]
    widest = [
        mention
        for mention in meant
        if not any(
            mention.match[0] != other.match[0] and mention.match[0] in other.match[0]
            for other in meant
        )
    ]
    if len(widest) != 1:
        return None
    return Extracted(widest[0].label, Found.IN_PROSE, widest[0].match[0])


def _find_text(folded: str, choice: str, label: str) -> Iterator[_Mention]:
    """Yield the first mention of a choice's text that is not denied."""
    pattern = rf"(?<!\w){re.escape(choice)}(?!\w)"
    found = (_Mention(label, match) for match in re.finditer(pattern, folded)) if choice else ()
    yield from islice((each for each in islice(found, _MAX_MENTIONS) if each.is_meant), 1)


@lru_cache(maxsize=64)
def _compile(labels: tuple[str, ...]) -> _Labels:
    by_length = sorted(labels, key=len, reverse=True)  # of "A1" and "A" the longer one is read
    label = "|".join(map(_in_own_case, by_length))
    any_case = "|".join(map(re.escape, by_length))
    comma = r"(?:,\s{0,9}+)?"
    before_named = rf"{_OPENING}{_NAMED}{_OPENING}"
    return _Labels(
        by_fold={fold_answer(label): label for label in labels},
        announced=re.compile(
            rf"{_ANNOUNCING}{before_named}(?:"
            rf"(?P<after>{label}){_AT_AN_END}{_NO_ARTICLE}"  # the answer is (B) because
            # answer: b, where a sign or the end of the line follows
            rf"|(?P<folded>(?i:{any_case}))(?=[)\]*_\"'`}}$.,;:!]|[ \t]*$){_AT_AN_END})"
            rf"|(?<!{WORD_CHARACTER})(?P<before>{label})[)\]*_\"'`.]{{0,4}}"  # **B** is correct
            rf"(?:\s+{_PRAISE}|{CONFIRMING})",
            re.MULTILINE,
        ),
        at_line_start=re.compile(
            rf"^{_LINE_OPENING}(?P<label>{label})(?:[*_]{{0,3}}[).:\]](?!\d)|[ \t]*$)"  # B) Paris
            rf"|^{_LINE_OPENING}(?i:option|choice)\s{_OPENING}"  # Option b
            rf"(?P<named>(?i:{any_case})){_AT_AN_END}"
            rf"|\A{_LINE_OPENING}(?P<first>{label})(?={_CLOSING}"  # B because; B - Paris
            r"(?:\s+(?i:because|since|as)\b|\s*[-\N{EN DASH}\N{EM DASH},]\s))",
            re.MULTILINE,
        ),
        set_off=re.compile(
            rf"(?<!{WORD_CHARACTER})(?<![.-])(?P<label>{label})(?=[)\]*_\"'`」』】）])"
        ),
        word=re.compile(
            rf"(?<!{WORD_CHARACTER})(?<!['.-])(?P<label>{label})"
            rf"(?!{WORD_CHARACTER}|'|[.,]\d){_NO_ARTICLE}"
        ),
        alternative=re.compile(
            rf"{_CLOSING}\s{{0,9}}+(?:"
            rf"{comma}\b{OR}{before_named}(?P<either>{label})(?!\w)"  # A or B
            rf"|(?:{comma}\b(?i:and)|[,/&+、]){before_named}(?P<too>{label})(?!\w)"
            # what follows must end the list: "A, B." but not "A, B happens"
            rf"{_CLOSING}\s{{0,9}}(?=$|[.,;!?/\n]|(?i:and|or|are|both|because|since)\b))"
        ),
    )


def _in_own_case(label: str) -> str:
    """Escape a label for a pattern; words such as `yes` count in any case."""
    return re.escape(label) if len(label) == 1 else f"(?i:{re.escape(label)})"
