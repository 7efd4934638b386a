"""Findings about tests, grouped by kind: what, how many tests, an example, and a fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poor_bench.issues.detector import IssueSeverity
from poor_bench.messages import write_count, write_share
from poor_bench.models.problem import Problem, Severity
from poor_bench.statistics.items import Item, ItemFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFinding:
    """One finding about one test."""

    kind: str
    """Stable short name; alike findings share it."""
    severity: IssueSeverity
    title: str
    text: str
    """What is wrong with this test; may quote models."""
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """Tests with findings of one kind."""

    kind: str
    severity: IssueSeverity
    title: str
    test_ids: tuple[str, ...]
    example: TestFinding
    """That of the first test."""


_TITLES = {
    "reference-fails": "Reference response fails",
    "blank-passes": "Empty response passes",
    "cheat-passes": "Passes without a model",
    "contradicting-tests": "Contradicts another test",
    "duplicate-test": "Duplicate test",
    "near-duplicate": "Near duplicate",
    "shared-template": "Template without a group",
    "function-name-untold": "Prompt lacks function name",
    "format-untold": "Prompt lacks answer format",
    "key-untold": "Prompt lacks answer key",
    "label-untold": "Prompt lacks label",
    "list-input-spread": "List input is spread",
    "input-does-not-fit": "Input does not fit",
    "prompt-too-long": "Prompt exceeds context",
    "length-mismatch": "Lengths do not match",
    "no-reference": "No reference response",
    "judge-unusable": "Judge unusable",
}
_BY_RESULTS = {
    ItemFinding.ALL_FAIL_ALIKE: (
        "Models fail alike",
        "Check expected answer.",
    ),
    ItemFinding.TWO_ANSWERS: (
        "Two answers compete",
        "Accept both, or reword.",
    ),
    ItemFinding.FAVOURS_THE_WEAK: (
        "Weak models do better",
        "Check expected answer.",
    ),
    ItemFinding.NOBODY_PASSES: (
        "No model passes",
        "Check expected answer.",
    ),
    ItemFinding.EVERYBODY_PASSES: (
        "Every model passes",
        "Disable, or keep as smoke test.",
    ),
}
_SEVERITIES = {Severity.ERROR: IssueSeverity.HIGH, Severity.WARNING: IssueSeverity.MEDIUM}
_LOW_KINDS = frozenset({"no-reference", "shared-template"})
_FLAKY = 0.2
"""Flip rate from which a test counts as flaky: about one trial in ten differs."""


def list_test_findings(
    test_id: str, problems: Mapping[str, tuple[Problem, ...]], item: Item | None
) -> Iterator[TestFinding]:
    """List what is wrong with a test: by its files, then by the results.

    Args:
        test_id: The test.
        problems: Test id to problems, from the checks of tests.
        item: What results say; None if nothing is known.
    """
    for problem in problems.get(test_id, ()):
        yield _describe_problem(problem, test_id)
    if item is None:
        return
    for finding in item.findings[-1:]:  # the gravest; what is suspicious is told in one line
        title, fix = _BY_RESULTS[finding]
        yield TestFinding(
            kind=finding.value,
            severity=_grade(finding, item),
            title=title,
            text=item.suspicion or f"{title}: {item.n_llms} tried.",
            fix=fix,
        )
    if item.flip_rate is not None and item.flip_rate >= _FLAKY:
        yield TestFinding(
            kind="flaky",
            severity=IssueSeverity.LOW,
            title="Passes sometimes",
            text=f"Flakiness: {write_share(item.flip_rate)}, "
            f"over {write_count(item.n_repeated, 'model')}.",
            fix="Lower the temperature.",
        )


def _grade(finding: ItemFinding, item: Item) -> IssueSeverity:
    if item.is_suspicious and finding is not ItemFinding.EVERYBODY_PASSES:
        return IssueSeverity.HIGH
    return IssueSeverity.LOW


def _describe_problem(problem: Problem, test_id: str) -> TestFinding:
    title = _TITLES.get(problem.code, problem.code.replace("-", " ").capitalize())
    is_low = problem.code in _LOW_KINDS
    return TestFinding(
        kind=problem.code,
        severity=IssueSeverity.LOW if is_low else _SEVERITIES[problem.severity],
        title=title or "Other problem",
        text=message_about(problem, test_id),
        fix=problem.hint,
    )


def message_about(problem: Problem, of: str) -> str:
    """Describe what is wrong with the class or test `of`, without its name."""
    before, _, rest = problem.message.partition(f"`{of}`: ")
    return rest or before


_RANKS = {severity: rank for rank, severity in enumerate(IssueSeverity)}


def group_test_findings(findings: Mapping[str, tuple[TestFinding, ...]]) -> list[FindingGroup]:
    """Group findings by kind, the most harmful first: by severity, then by number of tests.

    Args:
        findings: Test id to findings.
    """
    by_kind: dict[tuple[str, IssueSeverity], dict[str, TestFinding]] = {}
    for test_id, of_test in findings.items():
        for finding in of_test:
            by_kind.setdefault((finding.kind, finding.severity), {}).setdefault(test_id, finding)
    groups = [
        FindingGroup(
            kind=kind,
            severity=severity,
            title=next(iter(members.values())).title,
            test_ids=tuple(members),
            example=next(iter(members.values())),
        )
        for (kind, severity), members in by_kind.items()
    ]
    return sorted(groups, key=lambda group: (_RANKS[group.severity], -len(group.test_ids)))


def rate_severity(findings: tuple[TestFinding, ...]) -> IssueSeverity | None:
    """Find the worst severity; None without findings."""
    return min((each.severity for each in findings), key=_RANKS.__getitem__, default=None)
