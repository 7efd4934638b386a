"""Whether the judges and rubrics of the tests can be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poor_bench.lint.evaluator_facts import EvaluatorFacts, JudgeFault
from poor_bench.lint.finding import Finding
from poor_bench.lint.subject import Subject
from poor_bench.models.problem import Severity


def check_judges(subjects: Sequence[Subject], facts: EvaluatorFacts) -> Iterator[Finding]:
    """Find judges and rubrics that cannot be used, each once, at the first test that needs it."""
    tests_of: dict[JudgeFault, list[Subject]] = {}
    for subject in subjects:
        for fault in facts.judge_faults(subject.spec):
            tests_of.setdefault(fault, []).append(subject)
    for fault, concerned in tests_of.items():
        others = f" (and {len(concerned) - 1} more tests)" if len(concerned) > 1 else ""
        yield concerned[0].finding(
            "judge-unusable",
            ("evaluation_module",),
            f"{fault.message}{others}",
            hint=fault.hint,
            severity=Severity.ERROR,
        )
