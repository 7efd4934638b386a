"""What a search box of tests takes: words, `/patterns/` and typed filters such as `score>0.5`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from poor_bench.config.names import find_nearest_name
from poor_bench.errors import ConfigError


class Operator(StrEnum):
    """How a figure is compared with a value."""

    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    EQUAL = "="
    HOLDS = ":"
    """The text of a field holds the value, in any case; a number equals it."""


NUMBER_FIELDS = ("score", "difference", "latency", "level")
TEXT_FIELDS = ("class", "cause")


@dataclass(frozen=True, slots=True)
class Condition:
    """One typed filter."""

    field: str
    operator: Operator
    value: str
    scale: float = 1.0
    """How many of the unit of the field one of the value is."""

    @property
    def number(self) -> float:
        """The value as a number; seconds of a latency."""
        return float(self.value) * self.scale

    def is_met_by(self, text: str) -> bool:
        """True if a text equals the value or, by `:`, holds it; in any case.

        Example:
            >>> [Condition("class", each, "Sum").is_met_by("sums") for each in (":", "=")]
            [True, False]
        """
        value, known = self.value.casefold(), text.casefold()
        return value == known if self.operator == Operator.EQUAL else value in known


@dataclass(frozen=True, slots=True)
class TestFilter:
    """A search, taken apart."""

    __test__ = False

    words: str = ""
    """Looked for in any case; may be empty."""
    pattern: str = ""
    """A regular expression; may be empty."""
    conditions: tuple[Condition, ...] = ()


_BEGIN, _END = re.compile(r"(?:^|\s)/"), re.compile(r"/(?=\s|$)")
_FIELDS = (*NUMBER_FIELDS, *TEXT_FIELDS)
_CONDITION, _LIKE_CONDITION = (
    re.compile(rf"(?:^|(?<=\s))(?P<field>{name})(?P<operator><=|>=|[<>=:])(?P<value>\S+)", re.I)
    for name in ("|".join(_FIELDS), "[a-z_]+")
)
_COMPARISON = re.compile(r"\A[a-z_]{2,}[<>]=?[-+]?\.?\d\S*", re.I)
"""Of a number with a name; a name of one letter, as in `n>=1`, is sought in answers."""
_NUMBER = re.compile(r"(?P<number>[-+]?(\d{1,30}\.?\d{0,30}|\.\d{1,30}))(?P<unit>[a-z]*)", re.I)
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}


def parse_filter(text: str) -> TestFilter:
    r"""Take a search apart.

    Raises:
        ConfigError: If the value of a number is not a number, a text is compared by size, a name
            is nearly the one of a filter, or a number is compared with an unknown name.

    Example:
        >>> found = parse_filter(r"score>0.5 class:math /\d+ apples/ red")
        >>> found.words, found.pattern, [each.field for each in found.conditions]
        ('red', '\\d+ apples', ['score', 'class'])
    """
    pattern, rest = _split_pattern(text)
    conditions = tuple(map(_read_condition, _CONDITION.finditer(rest)))
    words = " ".join(_CONDITION.sub("", rest).split())
    for found in _LIKE_CONDITION.finditer(words):
        near = find_nearest_name(found["field"], _FIELDS)
        if near or _COMPARISON.fullmatch(found[0]):
            known = f"the nearest is `{near}`" if near else f"filters are {', '.join(_FIELDS)}"
            raise ConfigError(
                f"`{found['field']}` is not a filter; {known}",
                hint=f"To find the text, write /{found[0]}/",
            )
    return TestFilter(words, pattern, conditions)


def _split_pattern(text: str) -> tuple[str, str]:
    """Take the pattern between slashes out of a search; empty without one."""
    begun = _BEGIN.search(text)
    ends = list(_END.finditer(text, begun.end() + 1)) if begun else []
    if begun is None or not ends:
        return "", text
    last = ends[-1].start()
    return text[begun.end() : last], f"{text[: begun.start()]} {text[last + 1 :]}"


_MARK_S = 0.05
"""Longest search for matches to mark in one text, in seconds."""
_MOST_MARKS = 200


class Matches:
    """Finds what a search matches in the texts of a page, to mark it there.

    A pattern that takes too long in one text is sought in no further one, so that a page of many
    texts is bounded as a whole.
    """

    def __init__(self, sought: TestFilter) -> None:
        import regex

        parts = [f"(?:{sought.pattern})"] if sought.pattern else []
        parts += [regex.escape(sought.words, literal_spaces=True)] if sought.words else []
        try:
            flags = regex.IGNORECASE | regex.MULTILINE
            self._pattern = regex.compile("|".join(parts), flags) if parts else None
        except regex.error:
            self._pattern = None

    def find(self, text: str) -> list[tuple[int, int]]:
        """Find where words or pattern stand in a text.

        Returns:
            Start and end of at most 200 matches, without overlap; empty where the search takes too
            long or its pattern is not valid.

        Example:
            >>> Matches(TestFilter(words="red")).find("Red and red")
            [(0, 3), (8, 11)]
        """
        if self._pattern is None:
            return []
        try:
            found = self._pattern.finditer(text, timeout=_MARK_S)
            spans = (match.span() for match in islice(found, _MOST_MARKS))
            return [span for span in spans if span[1] > span[0]]
        except TimeoutError:
            self._pattern = None
            return []


def _read_condition(found: re.Match[str]) -> Condition:
    field, operator = found["field"].lower(), Operator(found["operator"])
    if field in NUMBER_FIELDS:
        return _read_number(found, field, operator)
    if operator not in {Operator.EQUAL, Operator.HOLDS}:
        hint = f"Example: {field}:{found['value']}"
        raise ConfigError(f"`{found[0]}`: {field} is a text and has no order", hint=hint)
    return Condition(field, operator, found["value"])


def _read_number(found: re.Match[str], field: str, operator: Operator) -> Condition:
    units = {"": 1.0} | (_SECONDS if field == "latency" else {})
    written = _NUMBER.fullmatch(found["value"])
    if written is None or written["unit"].lower() not in units:
        example = "latency<500ms, latency<2s" if field == "latency" else f"{field}>0.5"
        message = f"`{found[0]}`: {found['value']} is not a number"
        raise ConfigError(message, hint=f"Example: {example}")
    return Condition(field, operator, written["number"], units[written["unit"].lower()])
