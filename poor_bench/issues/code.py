"""Code that loses score: wrong name, does not parse, crashes, slow."""

from __future__ import annotations

import re
from enum import StrEnum

from poor_bench.issues.detector import (
    Among,
    Check,
    Detector,
    IssueSeverity,
    Trial,
    shorten_quote,
)
from poor_bench.scoring.older_results import read_cause
from poor_bench.scoring.verdict import AnswerFormat, Cause

_DEFINED = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]{0,8}=[ \t]*lambda\b", re.MULTILINE
)
_LONGEST_SEARCH = 100_000


class CodeFault(StrEnum):
    """Fault of code that lost score."""

    CODE_OVERLOOKED = "code_overlooked"
    INVENTED_NAME = "invented_function_name"
    ARGUMENTS = "arguments_do_not_fit"
    MISSING_MODULE = "missing_module"
    SYNTAX = "code_does_not_parse"
    SLOW = "code_is_slow"
    CRASH = "code_crashes"


_FAULTS = {
    Cause.ARGUMENTS: CodeFault.ARGUMENTS,
    Cause.MISSING_MODULE: CodeFault.MISSING_MODULE,
    Cause.SYNTAX: CodeFault.SYNTAX,
    Cause.TIME_LIMIT: CodeFault.SLOW,
    Cause.CRASH: CodeFault.CRASH,
}


def code_fault(trial: Trial) -> CodeFault | None:
    """Find why code lost score; None if its result is merely wrong."""
    if trial.facts.wanted is not AnswerFormat.CODE:
        return None
    names = _list_defined_names(trial) if trial.is_zero and trial.facts.function_name else []
    cause, _ = _find_cause(trial, lacks_function=bool(names))
    if cause == Cause.MISSING_FUNCTION and names:
        overlooked = trial.facts.function_name in names
        return CodeFault.CODE_OVERLOOKED if overlooked else CodeFault.INVENTED_NAME
    return next((fault for known, fault in _FAULTS.items() if known == cause), None)


def _find_cause(trial: Trial, *, lacks_function: bool) -> tuple[str | None, int]:
    """Find the cause, and where the details speak of it."""
    if trial.result.cause:
        return trial.result.cause, 0
    return read_cause(trial.result.details, lacks_function=lacks_function)


def _list_defined_names(trial: Trial) -> list[str]:
    found = _DEFINED.findall(trial.answer[:_LONGEST_SEARCH])
    return [function or assigned for function, assigned in found]


def _evidence(trial: Trial, fault: CodeFault) -> str:
    if fault is CodeFault.INVENTED_NAME:
        names = ", ".join(dict.fromkeys(_list_defined_names(trial)))
        return f"{trial.facts.function_name} was requested; the code defines {shorten_quote(names)}"
    if fault is CodeFault.CODE_OVERLOOKED:
        return f"{trial.facts.function_name} is in the response: {shorten_quote(trial.answer)!r}"
    _, place = _find_cause(trial, lacks_function=False)
    start = max(0, place - 60)
    return shorten_quote(trial.result.details[start : start + 200], 160)


def _build_check(fault: CodeFault) -> Check:
    def check(trial: Trial) -> str | None:
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
        severity=IssueSeverity.MEDIUM,
        meaning=meaning,
        advice=advice,
        check=_build_check(fault),
        among=Among.LOST,
    )
    for fault, (title, meaning, advice) in _TEXTS.items()
)
