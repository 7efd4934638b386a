"""Check each test by scoring: its reference response must pass, and an empty one must not."""

from __future__ import annotations

from collections.abc import Iterator

from poor_bench.command_line import next_command
from poor_bench.errors import PoorBenchError, SandboxError
from poor_bench.lint.evaluator_facts import EvaluatorFacts
from poor_bench.lint.finding import Finding
from poor_bench.lint.subject import Subject
from poor_bench.models.problem import Severity

_BROKEN = "correct the evaluator or its `parameters`: it must score any response"


def check_reference(subject: Subject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests whose reference response does not score 1.0."""
    reference = subject.test.reference_response
    if reference is None:
        return
    score = score_or_reason(subject, reference, facts)
    if score != 1.0:
        yield subject.finding(
            "reference-fails",
            ("reference_response",),
            _told("the reference response", score, "1.0"),
            hint=_hint(score, "correct the reference response or the evaluator's parameters"),
            severity=_severity(score),
        )


def check_blank(subject: Subject, facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find tests that an empty response does not fail."""
    score = score_or_reason(subject, "", facts)
    if score != 0.0:
        yield subject.finding(
            "blank-passes",
            ("evaluation_module",),
            _told("an empty response", score, "0"),
            hint=_hint(score, "give the evaluator the expected answer in its `parameters`"),
            severity=_severity(score),
        )


class Unscored(str):
    """In words why a response has no score, for a reason that is not the test's."""

    __slots__ = ()


def score_or_reason(subject: Subject, response: str, facts: EvaluatorFacts) -> float | str:
    """Return a score, or in words why there is none."""
    try:
        return facts.score(subject.spec, response)
    except SandboxError as error:
        return Unscored(f"cannot be checked on this machine: {error}")
    except PoorBenchError as error:
        return f"cannot be scored: {error}"


def _severity(score: float | str) -> Severity:
    """A sandbox that does not start says nothing against a test."""
    return Severity.WARNING if isinstance(score, Unscored) else Severity.ERROR


def _told(response: str, score: float | str, required: str) -> str:
    if isinstance(score, str):
        return f"{response} {score}"
    return f"{response} scores {score:.3g}, but must score {required}"


def _hint(score: float | str, hint_for_score: str) -> str:
    """Choose the hint; a score that is missing is the fault of the evaluator or the sandbox."""
    if isinstance(score, Unscored):
        return f"see {next_command('doctor')}"
    return _BROKEN if isinstance(score, str) else hint_for_score
