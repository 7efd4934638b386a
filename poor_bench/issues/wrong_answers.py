"""Wrong answers: code by what is wrong with it, others by what the evaluator found in them."""

from __future__ import annotations

import re
from enum import StrEnum

from poor_bench.extraction.normalise import fold_answer, fold_text
from poor_bench.issues.detector import (
    Among,
    Detector,
    IssueSeverity,
    Trial,
    build_detectors,
    shorten_quote,
)
from poor_bench.scoring.older_results import read_cause
from poor_bench.scoring.verdict import AnswerFormat, Cause

_DEFINED = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]{0,8}=[ \t]*lambda\b", re.MULTILINE
)
_LONGEST_CODE = 100_000


class CodeFault(StrEnum):
    """Fault of code that lost score."""

    CODE_OVERLOOKED = "code_overlooked"
    INVENTED_NAME = "invented_function_name"
    ARGUMENTS = "arguments_do_not_fit"
    MISSING_MODULE = "missing_module"
    SYNTAX = "code_does_not_parse"
    SLOW = "code_is_slow"
    CRASH = "code_crashes"
    WRONG_RESULTS = "code_wrong_results"


_FAULTS = {
    Cause.ARGUMENTS: CodeFault.ARGUMENTS,
    Cause.MISSING_MODULE: CodeFault.MISSING_MODULE,
    Cause.SYNTAX: CodeFault.SYNTAX,
    Cause.TIME_LIMIT: CodeFault.SLOW,
    Cause.CRASH: CodeFault.CRASH,
}


def find_code_fault(trial: Trial) -> CodeFault | None:
    """Find why code lost score; None if some of its results are right and others wrong."""
    if trial.facts.wanted is not AnswerFormat.CODE:
        return None
    names = _list_defined_names(trial) if trial.is_zero and trial.facts.function_name else []
    cause, _ = _find_cause(trial, lacks_function=bool(names))
    if cause == Cause.MISSING_FUNCTION and names:
        overlooked = trial.facts.function_name in names
        return CodeFault.CODE_OVERLOOKED if overlooked else CodeFault.INVENTED_NAME
    if cause == Cause.WRONG_ANSWER and trial.is_zero:
        return CodeFault.WRONG_RESULTS
    return next((fault for known, fault in _FAULTS.items() if known == cause), None)


def _find_cause(trial: Trial, *, lacks_function: bool) -> tuple[str | None, int]:
    """Find the cause, and where the details speak of it."""
    if trial.result.cause:
        return trial.result.cause, 0
    return read_cause(trial.result.details, lacks_function=lacks_function)


def _list_defined_names(trial: Trial) -> list[str]:
    found = _DEFINED.findall(trial.answer[:_LONGEST_CODE])
    return [function or assigned for function, assigned in found]


def _quote_code(trial: Trial) -> str:
    fault = trial.once(find_code_fault)
    if fault is CodeFault.INVENTED_NAME:
        names = ", ".join(dict.fromkeys(_list_defined_names(trial)))
        return f"{trial.facts.function_name} was requested; the code defines {shorten_quote(names)}"
    if fault is CodeFault.CODE_OVERLOOKED:
        return f"{trial.facts.function_name} is in the response: {shorten_quote(trial.answer)!r}"
    _, place = _find_cause(trial, lacks_function=False)
    start = max(0, place - 60)
    return shorten_quote(trial.result.details[start : start + 200], 160)


_CODE = {
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
    CodeFault.WRONG_RESULTS: (
        "Code returns wrong results",
        "The code runs, and its result is wrong in every test case.",
        "Compare expected and returned values. If they agree but for form, fix the evaluator.",
    ),
}

CODE = build_detectors(_CODE, find_code_fault, _quote_code, among=Among.LOST)


_LONGEST_SEARCH = 4000
_SHORTEST_SOUGHT = 3
"""Characters: shorter answers, such as labels of choices, occur in any text."""
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")
_CLOSE = 0.01
"""Relative difference of numbers that rounding explains."""
_FACTORS = (1.0, 10.0, 100.0, 1000.0, 1 / 10, 1 / 100, 1 / 1000)


class Wrong(StrEnum):
    """How a response that scored 0 is wrong."""

    EXPECTED_IN_RESPONSE = "expected_in_response"
    NUMBER_OFF = "number_off"
    WRONG_ANSWER = "wrong_answer"
    UNKNOWN = "score_zero"


def classify_zero(trial: Trial) -> Wrong | None:
    """Find how a response that scored 0 is wrong; None for others."""
    if not trial.is_zero:
        return None
    expected, got = trial.result.expected, trial.result.got
    if expected and got and _is_number_off(expected, got):
        return Wrong.NUMBER_OFF
    if expected and _stands_in(expected, trial.answer):
        return Wrong.EXPECTED_IN_RESPONSE
    return Wrong.WRONG_ANSWER if got else Wrong.UNKNOWN


def _is_number_off(expected: str, got: str) -> bool:
    """True if two numbers differ by rounding, sign or a power of ten."""
    if not (_NUMBER.fullmatch(expected.strip()) and _NUMBER.fullmatch(got.strip())):
        return False
    wanted, found = float(expected), abs(float(got))
    if not wanted or not found:
        return False
    return any(abs(found * factor / abs(wanted) - 1) <= _CLOSE for factor in _FACTORS)


def _stands_in(expected: str, answer: str) -> bool:
    """True if a response holds the expected answer as whole words."""
    sought = fold_answer(expected)
    if len(sought) < _SHORTEST_SOUGHT:
        return False
    text = fold_text(answer[:_LONGEST_SEARCH])
    return re.search(rf"(?<!\w){re.escape(sought)}(?!\w)", text) is not None


def _evidence(trial: Trial) -> str:
    result = trial.result
    if result.expected:
        return f"expected {shorten_quote(result.expected)!r}, got {shorten_quote(result.got)!r}"
    return shorten_quote(result.details, 160)


def _partly_wrong(trial: Trial) -> str | None:
    return None if trial.is_zero else _evidence(trial)


_ZEROS = {
    Wrong.EXPECTED_IN_RESPONSE: (
        "Expected answer in the response",
        "The response holds the expected answer, but the evaluator did not take it as the answer.",
        "Read a few responses. If the answer is right, fix the evaluator; else ask for it alone.",
    ),
    Wrong.NUMBER_OFF: (
        "Number nearly right",
        "The number differs from the expected one by rounding, sign or a power of ten.",
        "State unit and precision in the prompt, or allow a tolerance in the evaluator.",
    ),
    Wrong.WRONG_ANSWER: (
        "Wrong answer",
        "The evaluator found an answer, and it differs from the expected one.",
        "Read a few responses. If they are right, fix the expected answer.",
    ),
    Wrong.UNKNOWN: (
        "Score 0, cause unknown",
        "The evaluator states neither an answer nor a cause.",
        "Read a few responses. If they are right, fix the test or evaluator.",
    ),
}
WRONG_ANSWERS = (
    *build_detectors(_ZEROS, classify_zero, _evidence, among=Among.LOST),
    Detector(
        id="partly_wrong",
        title="Partly wrong",
        severity=IssueSeverity.LOW,
        meaning="Part of the answer is right.",
        advice="Compare the failing items. One that often fails may be ambiguous.",
        check=_partly_wrong,
        among=Among.LOST,
    ),
)
PLAIN = frozenset(detector.id for detector in WRONG_ANSWERS) | {CodeFault.WRONG_RESULTS.value}
"""Ids of the detectors that only say that a response is wrong."""
