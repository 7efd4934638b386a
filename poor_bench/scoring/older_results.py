"""Causes and formats that are not stated: rows of older versions, evaluators of users.

This is the only place that reads prose or guesses from parameters. Results of today's evaluators
carry a `Cause`, and today's evaluators declare the format that they want (`wants`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from poor_bench.scoring.verdict import MAX_DETAILS, AnswerFormat, Cause

# What the code printed, returned or was given is not what the evaluator says of it
_OUTPUT = r"^Output:\n(?P<fence>`{3,}+)text\n(?s:.*?)(?:^(?P=fence)$|\Z)"
_SHOWN_VALUE = r"\b(?:input|expected|got|call|at) (?P<ticks>`++).{0,2000}?(?P=ticks)"
_FROM_CODE = re.compile(f"{_OUTPUT}|{_SHOWN_VALUE}", re.MULTILINE)
_QUOTED = re.compile(r"(?<!`)(?P<ticks>`++).{0,2000}?(?P=ticks)")
_SAID = {
    Cause.MISSING_FUNCTION: re.compile(
        r"not found in|not defined in|no function|missing function|does not define|is missing", re.I
    ),
    Cause.ARGUMENTS: re.compile(
        r"takes (?:from )?\d[\w ]{0,30} positional arguments? but|missing \d{1,4} required"
        r"|unexpected keyword argument|argument count|arguments? (?:do|does) not fit",
        re.I,
    ),
    Cause.MISSING_MODULE: re.compile(r"ModuleNotFoundError|No module named", re.I),
    Cause.SYNTAX: re.compile(r"syntax ?error|IndentationError|does not parse", re.I),
    Cause.TIME_LIMIT: re.compile(r"timed out|time ?out|time limit|took too long", re.I),
    Cause.CRASH: re.compile(
        r"EXECUTION ERROR|exception|\braised\b|(?<=\w)Error\b|crashed|\bdied\b", re.I
    ),
}
_NEVER_QUOTED = {Cause.SYNTAX, Cause.TIME_LIMIT}
"""Stated in the evaluator's own words; others by the message of an exception."""


def read_cause(details: str, *, lacks_function: bool = True) -> tuple[Cause | None, int]:
    """Read the cause of lost score from what an evaluator said of code, and where it says so.

    Args:
        details: What the evaluator said.
        lacks_function: False if the function cannot be what is missing.

    Returns:
        The cause, None if it names none, and the place in `details`.

    Example:
        >>> read_cause("case 1: EXECUTION ERROR: division by zero")
        (<Cause.CRASH: 'crash'>, 8)
    """
    own = _blank_out(_FROM_CODE, details[:MAX_DETAILS])
    unquoted = _blank_out(_QUOTED, own)
    for cause, words in _SAID.items():
        if lacks_function or cause is not Cause.MISSING_FUNCTION:
            said = words.search(unquoted if cause in _NEVER_QUOTED else own)
            if said:
                return cause, said.start()
    return None, 0


def _blank_out(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match[0]), text)


_OF_CODE = ("function_name", "test_cases", "check_source")


def guess_format(parameters: Mapping[str, Any]) -> AnswerFormat | None:
    """Guess the wanted format from the parameters of an evaluator that does not declare it."""
    if any(parameters.get(key) is not None for key in _OF_CODE):
        return AnswerFormat.CODE
    schema = parameters.get("schema")
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind == "array" or any(
        key.startswith("expected") and isinstance(value, list) for key, value in parameters.items()
    ):
        return AnswerFormat.JSON_LIST
    is_object = kind == "object" or isinstance(parameters.get("expected"), Mapping)
    is_json = is_object or parameters.get("expected_format") == "json"
    return AnswerFormat.JSON_OBJECT if is_json else None
