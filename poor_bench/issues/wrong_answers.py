"""Lost score that no other cause explains: the answer is wrong."""

from __future__ import annotations

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Among, Detector, each
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial, quoted


def _evidence(trial: Trial) -> str:
    result = trial.result
    if result.expected:
        return f"expected {quoted(result.expected)!r}, got {quoted(result.got)!r}"
    return quoted(result.details, 160)


def _score_zero(trial: Trial, _: Background) -> str | None:
    return _evidence(trial) if trial.is_zero else None


def _partly_wrong(trial: Trial, _: Background) -> str | None:
    return None if trial.is_zero else _evidence(trial)


DETECTORS = (
    Detector(
        id="score_zero",
        title="Score 0",
        severity=Severity.MEDIUM,
        meaning="The answer is wrong, and no other cause explains it.",
        advice="Read a few responses. If they are right, fix the test or evaluator.",
        find=each(_score_zero),
        among=Among.LOST,
    ),
    Detector(
        id="partly_wrong",
        title="Partly wrong",
        severity=Severity.LOW,
        meaning="Part of the answer is right.",
        advice="Compare the failing items. One that often fails may be ambiguous.",
        find=each(_partly_wrong),
        among=Among.LOST,
    ),
)
