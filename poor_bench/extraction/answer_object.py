"""Which member of a JSON object is the answer, and which objects do not tell: pure.

An object, or a list of them, tells if it has a key `answer` (in any case), one key with the word
in it (`final_answer`), or a single number. `{"a": 5, "b": 4}` gives two numbers and does not say
which one is meant, so none of them is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from poor_bench.extraction.json_value import extract_json
from poor_bench.extraction.number import number_from_json

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


def answer_member(value: Any) -> Member | None:
    """Return the member that holds the answer; None where several may, or none does.

    Example:
        >>> answer_member({"steps": 3, "final_answer": 18})
        Member(key='final_answer', value=18)
        >>> answer_member({"a": 5, "b": 4}) is None
        True
    """
    members = list(_members(value))
    named = [member for member in members if member.key == KEY]
    named = named or [member for member in members if _is_key(member.key)]
    if named:
        return named[-1] if all(member.value == named[-1].value for member in named) else None
    worded = [member for member in members if KEY in _words(member.key)]
    return _sole(worded) if worded else _sole_number(members)


def is_ambiguous(value: Any) -> bool:
    """True if a JSON value holds several numbers and does not say which one is meant."""
    return answer_member(value) is None and len(_numbers(list(_members(value)))) > 1


def holds_key(value: Any) -> bool:
    """True if a JSON value has a member `answer`, in any case and at any depth."""
    return any(_is_key(member.key) for member in _members(value))


def holds_objects(value: Any) -> bool:
    """True if a JSON value is an object with members, or a list of objects."""
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) and item for item in items)


def without_ambiguous_objects(text: str) -> str:
    """Return `text` with blanks in place of JSON whose numbers cannot be the answer.

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


def _members(value: Any, key: str = "", depth: int = 0) -> Iterator[Member]:
    """Yield the members of all objects in a value, and the items of its lists without a key."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            if _is_key(name) or not isinstance(inner, dict | list):
                yield Member(name, inner)
            else:
                yield from _members(inner, name, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _members(inner, key, depth + 1)
    elif depth:
        yield Member(key, value)


def _is_key(key: str) -> bool:
    return key.strip().casefold() == KEY


def _words(key: str) -> list[str]:
    return [word.casefold() for word in _WORDS.findall(key[:_LONGEST_KEY])]


def _sole(members: list[Member]) -> Member | None:
    return members[0] if len(members) == 1 else None


def _sole_number(members: list[Member]) -> Member | None:
    """Return the only member, or else the only one with a number that is not a text."""
    if len(members) == 1:
        return members[0]
    plain = [member for member in _numbers(members) if not isinstance(member.value, str)]
    return _sole(plain or _numbers(members))


def _numbers(members: list[Member]) -> list[Member]:
    return [member for member in members if number_from_json(member.value) is not None]
