"""All checks of the tests of a workspace."""

from __future__ import annotations

from collections.abc import Iterator

from poor_bench.config.workspace import Workspace
from poor_bench.lint.class_checks import check_classes
from poor_bench.lint.content_checks import check_context, check_lengths
from poor_bench.lint.duplicate_checks import check_duplicates
from poor_bench.lint.evaluator_facts import EvaluatorFacts
from poor_bench.lint.finding import Finding
from poor_bench.lint.judge_checks import check_judges
from poor_bench.lint.prompt_checks import (
    check_format,
    check_function_name,
    check_labels,
)
from poor_bench.lint.reference_checks import check_blank, check_reference
from poor_bench.lint.signature_checks import check_cases, check_inputs
from poor_bench.lint.subject import Subject, subjects_of


def lint_workspace(workspace: Workspace, facts: EvaluatorFacts) -> list[Finding]:
    """Return all that is wrong with the tests of a workspace, in the order of its files.

    Args:
        workspace: What was loaded.
        facts: Answers questions about its evaluators.
    """
    subjects = list(subjects_of(workspace))
    findings = [*check_classes(workspace, subjects, facts), *check_judges(subjects, facts)]
    for subject in subjects:
        findings += _check_test(subject, workspace, facts)
    findings += check_duplicates(subjects, facts)
    return findings


def _check_test(subject: Subject, workspace: Workspace, facts: EvaluatorFacts) -> Iterator[Finding]:
    yield from check_function_name(subject)
    yield from check_cases(subject)
    yield from check_inputs(subject)
    yield from check_format(subject, facts)
    yield from check_labels(subject, facts)
    yield from check_lengths(subject, facts)
    yield from check_context(subject, workspace.llms)
    if not facts.is_judged(subject.spec):
        yield from check_reference(subject, facts)
        yield from check_blank(subject, facts)
