"""Code that loses score: wrong name, does not parse, crashes, slow."""

from __future__ import annotations

import re
from enum import StrEnum

from poor_bench.issues.detector import (
    Among,
    Background,
    Check,
    Detector,
    Severity,
    Trial,
    Wanted,
    each,
    quoted,
)
from poor_bench.scoring.verdict import MAX_DETAILS

_DEFINED = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]{0,8}=[ \t]*lambda\b", re.MULTILINE
)
_LONGEST_SEARCH = 100_000
_OUTPUT = r"^Output:\n(?P<fence>`{3,}+)text\n(?s:.*?)(?:^(?P=fence)$|\Z)"
_SHOWN_VALUE = r"\b(?:input|expected|got|call|at) (?P<ticks>`++).{0,2000}?(?P=ticks)"
_FROM_CODE = re.compile(f"{_OUTPUT}|{_SHOWN_VALUE}", re.MULTILINE)
_QUOTED = re.compile(r"(?<!`)(?P<ticks>`++).{0,2000}?(?P=ticks)")


class CodeFault(StrEnum):
    """Cause of lost score from the evaluator's details; the first that applies."""

    CODE_OVERLOOKED = "code_overlooked"
    INVENTED_NAME = "invented_function_name"
    ARGUMENTS = "arguments_do_not_fit"
    MISSING_MODULE = "missing_module"
    SYNTAX = "code_does_not_parse"
    SLOW = "code_is_slow"
    CRASH = "code_crashes"


_MISSING = re.compile(
    r"not found in|not defined in|no function|missing function|does not define|is missing", re.I
)
_SAID = {
    CodeFault.ARGUMENTS: re.compile(
        r"takes (?:from )?\d[\w ]* positional arguments? but|missing \d+ required"
        r"|unexpected keyword argument|argument count|arguments? (?:do|does) not fit",
        re.I,
    ),
    CodeFault.MISSING_MODULE: re.compile(r"ModuleNotFoundError|No module named", re.I),
    CodeFault.SYNTAX: re.compile(r"syntax ?error|IndentationError|does not parse", re.I),
    CodeFault.SLOW: re.compile(r"timed out|time ?out|time limit|took too long", re.I),
    CodeFault.CRASH: re.compile(
        r"EXECUTION ERROR|exception|\braised\b|(?<=\w)Error\b|crashed|\bdied\b", re.I
    ),
}
_NEVER_QUOTED = {CodeFault.SYNTAX, CodeFault.SLOW}
"""Reported in the evaluator's own words; others by the message of an exception."""


def code_fault(trial: Trial) -> CodeFault | None:
    """Find why code lost score; None if its result is merely wrong."""
    if trial.facts.wanted is not Wanted.CODE:
        return None
    details = trial.result.details[:MAX_DETAILS]
    name = trial.facts.function_name
    if trial.is_zero and name and _MISSING.search(details):
        names = _defined_names(trial)
        if name in names:
            return CodeFault.CODE_OVERLOOKED
        if names:
            return CodeFault.INVENTED_NAME
    return next((fault for fault in _SAID if _said(fault, details)), None)


def _said(fault: CodeFault, details: str) -> re.Match[str] | None:
    """Find a fault in details, ignoring output of the code."""
    own = _blanked(_FROM_CODE, details)
    return _SAID[fault].search(_blanked(_QUOTED, own) if fault in _NEVER_QUOTED else own)


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: " " * len(match[0]), text)


def _defined_names(trial: Trial) -> list[str]:
    found = _DEFINED.findall(trial.answer[:_LONGEST_SEARCH])
    return [function or assigned for function, assigned in found]


def _evidence(trial: Trial, fault: CodeFault) -> str:
    if fault is CodeFault.INVENTED_NAME:
        names = ", ".join(dict.fromkeys(_defined_names(trial)))
        return f"{trial.facts.function_name} was requested; the code defines {quoted(names)}"
    if fault is CodeFault.CODE_OVERLOOKED:
        return f"{trial.facts.function_name} is in the response: {quoted(trial.answer)!r}"
    words = _said(fault, trial.result.details[:MAX_DETAILS])
    start = max(0, words.start() - 60) if words else 0
    return quoted(trial.result.details[start : start + 200], 160)


def _check_of(fault: CodeFault) -> Check:
    def check(trial: Trial, _: Background) -> str | None:
        return _evidence(trial, fault) if trial.once(code_fault) is fault else None

    return check


_TEXTS = {
    CodeFault.CODE_OVERLOOKED: (
        "Code overlooked",
        "The response contains the requested function, but the evaluator did not find it.",
        "Rescore with the current evaluator, which unwraps damaged fences.",
    ),
    CodeFault.INVENTED_NAME: (
        "Wrong function name",
        "The code defines a function, but not with the name that the evaluator calls.",
        "State the function name in the prompt.",
    ),
    CodeFault.ARGUMENTS: (
        "Wrong arguments",
        "The function does not accept the arguments of the test.",
        "Check the test's inputs: a list may have been spread into several arguments.",
    ),
    CodeFault.MISSING_MODULE: (
        "Module not installed",
        "The code imports a library that is not installed.",
        "Ask for the standard library only.",
    ),
    CodeFault.SYNTAX: (
        "Code does not parse",
        "The extracted code is not valid Python.",
        "Check for truncation or surrounding prose; ask for a single code block.",
    ),
    CodeFault.SLOW: (
        "Code too slow",
        "The code did not finish within the time limit.",
        "Check for an endless loop, or raise execution_timeout.",
    ),
    CodeFault.CRASH: (
        "Code crashes",
        "The code raised an exception in at least one test case.",
        "Check the failing case. Often the prompt does not cover an edge case.",
    ),
}

DETECTORS = tuple(
    Detector(
        id=fault.value,
        title=title,
        severity=Severity.MEDIUM,
        meaning=meaning,
        advice=advice,
        find=each(_check_of(fault)),
        among=Among.LOST,
    )
    for fault, (title, meaning, advice) in _TEXTS.items()
)
