r"""Which of the numbers in a response is its answer.

First rule that fits:

1. the whole response is a number, or a fenced block is: bare, fenced;
2. the last `\boxed{}`: boxed; where it holds digits but no number, there is none;
3. what the last "answer is", "Answer:", "answer =" or `####` announces, after an announced
   equation its right-hand side; or else what stands before the last "which is the answer":
   announced;
4. a first line that is nothing but a number, or what the last sentence concludes
   (`... = 18 apples`, `... equals 18`, `... costs 18 euros`, `Total: 18`): stated;
5. the last number in the text: in prose. Without any digit, the only number word.

A response that is a JSON object gives the member that is the answer: of an object, or a list of
them, that is a key `answer` (in any case), one key with the word in it (`final_answer`), or a
single number. `{"a": 5, "b": 4}` gives two numbers and does not say which one is meant, so it is
passed over, and so are lists that a response begins with. An offer of more help at the end
("Let me know if ...") is not read. Of lines that all name a number (`a: 5`, `b: 4`), the last
states the answer only if its name says so (`Total: 9`).

After a correction ("Wait, ...", "No, ...") what follows comes first, if the rules 3 and 4 fit
there. Numbers that are parts of something else, or denied, never count: see `find_meant_numbers`.
Nor do those of which the text cannot tell whether they are right. A refusal that mentions a number
has no answer.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from poor_bench.extraction.fences import find_fenced_blocks, find_last_boxed
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.label import ANNOUNCING, drop_undecided
from poor_bench.extraction.normalise import drop_offer
from poor_bench.extraction.number import (
    Number,
    NumberInText,
    find_first_number,
    find_last_number,
    find_meant_numbers,
    find_numbers,
    find_sole_number,
    parse_number,
    read_json_number,
    write_decimal_point,
)
from poor_bench.extraction.plain_math import read_number_words, read_sole_word, write_plain_math
from poor_bench.extraction.refusal import is_refusal

KEY = "answer"
_WORDS = re.compile(r"[^\W_]+")
_LONGEST_KEY = 200
_MAX_DEPTH = 60
_MOST_OBJECTS = 8
"""Each costs reading the text once more."""
_MAY_BEGIN_A_LIST = frozenset("[`~")


class Member(NamedTuple):
    """A member of an object."""

    key: str
    value: Any


def find_answer_member(value: Any) -> Member | None:
    """Find the member that holds the answer; None where several may, or none does.

    Example:
        >>> find_answer_member({"steps": 3, "final_answer": 18})
        Member(key='final_answer', value=18)
        >>> find_answer_member({"a": 5, "b": 4}) is None
        True
    """
    members = list(_list_members(value))
    named = [member for member in members if member.key == KEY]
    named = named or [member for member in members if _is_key(member.key)]
    if named:
        return named[-1] if all(member.value == named[-1].value for member in named) else None
    worded = [member for member in members if KEY in _list_words(member.key)]
    return _find_sole(worded) if worded else _find_sole_number(members)


def is_ambiguous(value: Any) -> bool:
    """True if a JSON value holds several numbers and does not say which one is meant."""
    return find_answer_member(value) is None and len(_list_numbers(list(_list_members(value)))) > 1


def holds_key(value: Any) -> bool:
    """True if a JSON value has a member `answer`, in any case and at any depth."""
    return any(_is_key(member.key) for member in _list_members(value))


def holds_objects(value: Any) -> bool:
    """True if a JSON value is an object with members, or a list of objects."""
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) and item for item in items)


def blank_ambiguous_objects(text: str) -> str:
    """Put blanks in place of JSON whose numbers cannot be the answer.

    A list counts only where the text begins with it: `[5, 4]` within prose may be anything.
    """
    for _ in range(_MOST_OBJECTS):
        if "{" not in text and text.lstrip()[:1] not in _MAY_BEGIN_A_LIST:
            return text
        extracted = extract_json(text, partial(_may_hide, text=text))
        if extracted is None or not is_ambiguous(extracted.value):
            return text
        start = text.rfind(extracted.text)
        text = f"{text[:start]} {text[start + len(extracted.text) :]}"
    return text.partition("{")[0]


def _may_hide(value: Any, text: str) -> bool:
    begins_with_list = text.lstrip()[:1] in _MAY_BEGIN_A_LIST
    return isinstance(value, dict) or (isinstance(value, list) and begins_with_list)


def _list_members(value: Any, key: str = "", depth: int = 0) -> Iterator[Member]:
    """Yield the members of all objects in a value, and the items of its lists without a key."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            if _is_key(name) or not isinstance(inner, dict | list):
                yield Member(name, inner)
            else:
                yield from _list_members(inner, name, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _list_members(inner, key, depth + 1)
    elif depth:
        yield Member(key, value)


def _is_key(key: str) -> bool:
    return key.strip().casefold() == KEY


def _list_words(key: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(key[:_LONGEST_KEY])]


def _find_sole(members: list[Member]) -> Member | None:
    return members[0] if len(members) == 1 else None


def _find_sole_number(members: list[Member]) -> Member | None:
    """Find the only member, or else the only one with a number that is not a text."""
    if len(members) == 1:
        return members[0]
    plain = [member for member in _list_numbers(members) if not isinstance(member.value, str)]
    return _find_sole(plain or _list_numbers(members))


def _list_numbers(members: list[Member]) -> list[Member]:
    return [member for member in members if read_json_number(member.value) is not None]


_ANNOUNCEMENT = re.compile(
    r"\banswer\b[^\n.!?:=]{0,80}?(?:\bis\b|\bare\b|\bequals?\b|[:=])"
    r"|^[^\w\n]{0,8}(?:\w{1,9}[ ]){0,2}answer[^\w\n]{0,4}\n"
    rf"|\#{{4}}|{ANNOUNCING}",
    re.IGNORECASE | re.MULTILINE,
)
_ANNOUNCEMENT_AFTERWARDS = re.compile(
    r"\b(?:(?:which|this|that|it)\s)?is\s(?:the|my|our|your)\s"
    r"(?:(?:final|correct|right|exact|required)\s)?answer\b",
    re.IGNORECASE,
)
_BEFORE_CONCLUSION = re.compile(
    r"(?:[=≈]|:\s|\b(?:is|are|was|were|equals?|costs?|makes?|gives?|leaves?|has|have|be|gets?|pays?|so)\b)"
    r"(?:\s(?:now|then|only|exactly|about|approximately|indeed|equal to|a total of))*"
    r"[\s(]*$",
    re.IGNORECASE,
)
_AFTER_NO_CONCLUSION = re.compile(
    r"\s{0,9}+(?:[-+*/^=<>]|:\d|(?:of|out of|times|plus|minus|divided|multiplied)\b)", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"\b(?:wait|no|actually|sorry|correction|hmm)\b\s?[,.!:\N{EN DASH}\N{EM DASH}-]", re.IGNORECASE
)
_DIGIT = re.compile(r"\d")
_EMPHASIS = re.compile(r"`|__|(?<!\d)\*\*|\*\*(?!\d)")
_NAMED_NUMBER = re.compile(r"^[^\w\n]{0,8}(?P<name>\w[^:\n]{0,60}):[^\w\n]{0,8}\d[^\n]{0,60}")
_NAME_OF_ANSWER = re.compile(
    r"\b(?:answer|total|result|sum|solution|overall|altogether|final)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
_MAX_LINE = 200
_MAX_ANNOUNCEMENTS = 200
_MAX_GAP = 30
_MAX_BEFORE_CONCLUSION = 60


def extract_number(text: str, *, decimal_comma: bool = False) -> Extracted[Number] | None:
    """Find the number that `text` gives as its answer, or None.

    Args:
        text: An answer, without thinking.
        decimal_comma: Whether `1,234` and `1.234` mean what they mean in German: a bit more than
            one, and a thousand. By default they are read as in English. Numbers of JSON always
            have a decimal point.

    Example:
        >>> extract_number("6 boxes of 3 make $18.00").value.value
        Decimal('18.00')
    """
    if decimal_comma and not _is_json(text):
        text = write_decimal_point(text)
    text = drop_offer(text)
    extracted = _read_fenced(text) or _read_whole(text, Found.BARE) or _read_boxed(text)
    if extracted is not None or _DIGIT.search(find_last_boxed(text) or ""):
        return extracted
    if of_object := _read_object(text, decimal_comma=decimal_comma):
        return of_object
    if is_refusal(text):
        return None
    text = drop_undecided(blank_ambiguous_objects(text))
    return (
        _read_corrected(text)
        or _read_announced(text)
        or _read_announced_afterwards(text)
        or _read_first_line(text)
        or _read_concluded(text)
        or _find_last(text)
        or _read_worded(text)
    )


def _read_whole(text: str, found: Found) -> Extracted[Number] | None:
    number = parse_number(text)
    return Extracted(number, found, text.strip()) if number else None


def _read_fenced(text: str) -> Extracted[Number] | None:
    for block in reversed(find_fenced_blocks(text)):
        extracted = _read_whole(block.body, Found.FENCED)
        if extracted:
            return extracted
    return None


def _read_boxed(text: str) -> Extracted[Number] | None:
    content = find_last_boxed(text)
    if content is None:
        return None
    number = parse_number(content) or find_sole_number(content.rpartition("=")[2])
    return Extracted(number, Found.BOXED, content) if number else None


def _is_json(text: str) -> bool:
    extracted = extract_json(text, holds_objects, lenient=False)
    return extracted is not None and extracted.found in {Found.BARE, Found.FENCED}


def _read_object(text: str, *, decimal_comma: bool) -> Extracted[Number] | None:
    """Read the number of a response that is nothing but a JSON object."""
    extracted = extract_json(text, holds_objects, lenient=False, exact=True)
    if extracted is None or extracted.found not in {Found.BARE, Found.FENCED}:
        return None
    member = find_answer_member(extracted.value)
    number = read_json_number(member.value, decimal_comma=decimal_comma) if member else None
    return Extracted(number, Found.ANNOUNCED, extracted.text) if number else None


def _read_corrected(text: str) -> Extracted[Number] | None:
    for correction in deque(_CORRECTION.finditer(text), maxlen=1):
        rest = text[correction.end() :]
        return _read_announced(rest) or _read_whole(rest, Found.STATED) or _read_concluded(rest)
    return None


def _read_announced(text: str) -> Extracted[Number] | None:
    announcements = list(_ANNOUNCEMENT.finditer(text))
    for announcement in reversed(announcements[-_MAX_ANNOUNCEMENTS:]):
        rest = text[announcement.end() : announcement.end() + _MAX_LINE].lstrip()
        extracted = _find_first_after(rest.partition("\n")[0])
        if extracted:
            return extracted
    return None


def _find_first_after(line: str) -> Extracted[Number] | None:
    """Read the number at the beginning of an announced line, or of its last right-hand side."""
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
    for piece in (sentence.rpartition("=")[2], sentence):
        plain = write_plain_math(piece)
        first = find_first_number(plain)
        if first and first.start <= _MAX_GAP:
            return _extract(first, plain, Found.ANNOUNCED)
        if not _DIGIT.search(piece) and (value := read_number_words(piece)) is not None:
            return Extracted(Number(value), Found.ANNOUNCED, piece.strip())
    return None


def _read_announced_afterwards(text: str) -> Extracted[Number] | None:
    announcements = list(_ANNOUNCEMENT_AFTERWARDS.finditer(text))
    for announcement in reversed(announcements[-_MAX_ANNOUNCEMENTS:]):
        before = text[max(0, announcement.start() - _MAX_LINE) : announcement.start()]
        plain = write_plain_math(before)
        last = find_last_number(plain)
        if last and len(plain) - last.end <= _MAX_GAP:
            return _extract(last, plain, Found.ANNOUNCED)
    return None


def _read_first_line(text: str) -> Extracted[Number] | None:
    line = text.lstrip().partition("\n")[0].rstrip()
    is_list_item = line.endswith((".", ")", ":")) or line.startswith("- ")
    return None if is_list_item else _read_whole(line, Found.STATED)


def _read_concluded(text: str) -> Extracted[Number] | None:
    if _is_mapping(text):
        return None
    last_line = text.rstrip().rpartition("\n")[2][-_MAX_LINE:]
    sentences = _SENTENCE_END.split(_EMPHASIS.sub("", last_line))
    plain = write_plain_math(next((piece for piece in reversed(sentences) if piece.strip()), ""))
    conclusions = list(_list_conclusions(plain))
    return _extract(conclusions[-1], plain, Found.STATED) if conclusions else None


def _is_mapping(text: str) -> bool:
    """True if all lines name a number, and the last one's name is not that of an answer."""
    lines = [line for line in text.splitlines() if line.strip()]
    named = [match for line in lines if (match := _NAMED_NUMBER.fullmatch(line.rstrip()))]
    return len(lines) == len(named) > 1 and not _NAME_OF_ANSWER.search(named[-1]["name"])


def _list_conclusions(sentence: str) -> Iterator[NumberInText]:
    for candidate in find_meant_numbers(sentence, list(find_numbers(sentence))):
        before = sentence[max(0, candidate.start - _MAX_BEFORE_CONCLUSION) : candidate.start]
        goes_on = _AFTER_NO_CONCLUSION.match(sentence, candidate.end)
        if _BEFORE_CONCLUSION.search(before) and not goes_on:
            yield candidate


def _find_last(text: str) -> Extracted[Number] | None:
    plain = write_plain_math(text)
    last = find_last_number(plain)
    return _extract(last, plain, Found.IN_PROSE) if last else None


def _read_worded(text: str) -> Extracted[Number] | None:
    """Read a text without digits: "seven", or "There are seven days"."""
    if _DIGIT.search(text):
        return None
    for read, found in ((read_number_words, Found.STATED), (read_sole_word, Found.IN_PROSE)):
        value = read(text)
        if value is not None:
            return Extracted(Number(value), found, text.strip())
    return None


def _extract(of: NumberInText, text: str, found: Found) -> Extracted[Number]:
    return Extracted(of.number, found, text[of.start : of.end].strip())
