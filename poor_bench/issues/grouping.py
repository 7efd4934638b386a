"""Issues by cause: count, lost score, examples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from poor_bench.issues.detector import Detector
from poor_bench.issues.issue import Issue, IssueGroup, Severity
from poor_bench.issues.registry import DETECTORS

_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


def group_issues(
    issues: Iterable[Issue], *, n_examples: int = 3, detectors: Sequence[Detector] = DETECTORS
) -> list[IssueGroup]:
    """Group issues by detector, sorted by lost score.

    Args:
        issues: As `detect_issues` returns them, or a part of them.
        n_examples: How many examples each group keeps, at least 0.
        detectors: The detectors that found them.

    Returns:
        Groups by lost score, then by severity, then by number. Shares are of the score that was
        lost in `issues`.

    Raises:
        KeyError: If an issue comes from none of `detectors`.
    """
    by_detector: dict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        by_detector[issue.detector_id].append(issue)
    known = {detector.id: detector for detector in detectors}
    total = sum(issue.lost_score for members in by_detector.values() for issue in members)
    groups = [
        _group(known[detector_id], members, total, n_examples)
        for detector_id, members in by_detector.items()
    ]
    return sorted(
        groups, key=lambda group: (-group.lost_score, _RANKS[group.severity], -group.n_trials)
    )


def _group(detector: Detector, members: list[Issue], total: float, n_examples: int) -> IssueGroup:
    lost = sum(issue.lost_score for issue in members)
    return IssueGroup(
        detector_id=detector.id,
        title=detector.title,
        severity=detector.severity,
        meaning=detector.meaning,
        advice=detector.advice,
        n_trials=len(members),
        n_by_llm=dict(Counter(issue.llm_id for issue in members).most_common()),
        lost_score=lost,
        lost_share=lost / total if total else 0.0,
        examples=tuple(_examples(members, n_examples)),
    )


def _examples(members: list[Issue], n_examples: int) -> list[Issue]:
    """Sort by lost score, with different models first."""
    costly = sorted(members, key=lambda issue: -issue.lost_score)
    first_of_llm = {id(issue): issue for issue in {i.llm_id: i for i in reversed(costly)}.values()}
    others = [issue for issue in costly if id(issue) not in first_of_llm]
    firsts = [issue for issue in costly if id(issue) in first_of_llm]
    return [*firsts, *others][:n_examples]
