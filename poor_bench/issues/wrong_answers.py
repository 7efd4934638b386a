"""Wrong answers that no other cause explains, by what the evaluator found in them."""

from __future__ import annotations

import re
from enum import StrEnum

from poor_bench.extraction.normalise import fold_answer, fold_text
from poor_bench.issues.detector import (
    Among,
    Check,
    Detector,
    IssueSeverity,
    Trial,
    shorten_quote,
)

_LONGEST_SEARCH = 4000
_SHORTEST_SOUGHT = 3
"""Characters: shorter answers, such as labels of choices, occur in any text."""
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")
_CLOSE = 0.01
"""Relative difference of numbers that rounding explains."""
_SHIFTS = (10.0, 100.0, 1000.0)


class Wrong(StrEnum):
    """How a response that scored 0 is wrong."""

    EXPECTED_IN_RESPONSE = "expected_in_response"
    NUMBER_OFF = "number_off"
    WRONG_ANSWER = "wrong_answer"
    UNKNOWN = "score_zero"


def classify_zero(trial: Trial) -> Wrong:
    """Find how a response that scored 0 is wrong."""
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
    factors = (1.0, *_SHIFTS, *(1 / shift for shift in _SHIFTS))
    return any(abs(found * factor / abs(wanted) - 1) <= _CLOSE for factor in factors)


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


def _build_check(wrong: Wrong) -> Check:
    def check(trial: Trial) -> str | None:
        is_so = trial.is_zero and trial.once(classify_zero) is wrong
        return _evidence(trial) if is_so else None

    return check


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
DETECTORS = (
    *(
        Detector(
            id=wrong.value,
            title=title,
            severity=IssueSeverity.MEDIUM,
            meaning=meaning,
            advice=advice,
            check=_build_check(wrong),
            among=Among.LOST,
        )
        for wrong, (title, meaning, advice) in _ZEROS.items()
    ),
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
PLAIN = frozenset(detector.id for detector in DETECTORS)
"""Ids of these detectors: they find every response that lost score."""
