"""Run all detectors and group what they find by cause.

The order of the detectors decides which cause a lost score is charged to where several apply: what
kept the model from answering comes before the form of the answer, and that before the plain wrong
answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from poor_bench.issues.across_trials import DETECTORS as ACROSS_TRIALS
from poor_bench.issues.code import DETECTORS as CODE
from poor_bench.issues.detector import (
    Among,
    Detector,
    Issue,
    IssueContext,
    IssueGroup,
    IssueSeverity,
    TestFacts,
    Trial,
)
from poor_bench.issues.failed_runs import DETECTORS as FAILED_RUNS
from poor_bench.issues.form import DETECTORS as FORM
from poor_bench.issues.people import DETECTORS as PEOPLE
from poor_bench.issues.responses import DETECTORS as RESPONSES
from poor_bench.issues.wrong_answers import DETECTORS as WRONG_ANSWERS
from poor_bench.models.result import Result, one_per_trial

_SPECIFIC: tuple[Detector, ...] = (*FAILED_RUNS, *RESPONSES, *FORM, *CODE, *ACROSS_TRIALS, *PEOPLE)
DETECTORS: tuple[Detector, ...] = (*_SPECIFIC, *WRONG_ANSWERS)

READ_TEXTS = (
    "details", "response", "thinking", "prompt", "extracted", "expected", "got", "cause",
    "failure_message", "attempts",
)  # fmt: skip
"""Texts of results that `DETECTORS` and `format_tax` read."""
READ_FIELDS = (
    "llm_id", "test_id", "trial", "run_id", "finish_reason", "marks", "found", "failure_kind",
    "score", "strict_score", "execution_time_ms", "load_ms", "prompt_tokens", "completion_tokens",
)  # fmt: skip
"""The other fields of results that they read."""


def detectors_with(own: Sequence[Detector]) -> tuple[Detector, ...]:
    """Add a workspace's own detectors to the built-in ones.

    They come before the plain wrong answer, so that a loss they explain is charged to them. One
    with the id of a built-in detector replaces it.
    """
    ids = {detector.id for detector in own}
    ordered = (*_SPECIFIC, *own, *WRONG_ANSWERS)
    return tuple(item for item in ordered if item.id not in ids or item in own)


_NO_FACTS = TestFacts()
_NO_BACKGROUND = IssueContext()


def detect_issues(
    results: Iterable[Result],
    context: IssueContext = _NO_BACKGROUND,
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> list[Issue]:
    """Find the issues of some results.

    Args:
        results: Scored and failed trials in any order; of a trial with a score, newer failures are
            left out.
        context: What is known beyond the results. More of it lets more detectors work.
        detectors: Which detectors to run; their order decides which of several causes a lost
            score is charged to.

    Returns:
        Issues in the order of the detectors. A trial may have several; its lost score is charged
        to the first of them that explains it.

    Example:
        >>> result = Result(llm_id="a", test_id="t", score=0.0, details="expected 4, got 5")
        >>> [(issue.detector_id, issue.lost_score) for issue in detect_issues([result])]
        [('no_answer', 1.0), ('score_zero', 0.0)]
    """
    facts = context.facts
    trials = [
        Trial(result, facts.get(result.test_id, _NO_FACTS)) for result in one_per_trial(results)
    ]
    among = {kind: [trial for trial in trials if kind.includes(trial)] for kind in Among}
    uncharged = {id(trial): trial.lost_score for trial in trials}
    issues = []
    for detector in detectors:
        for trial, evidence in detector.find(among[detector.among], context):
            lost = 0.0
            if detector.explains_loss(trial):
                lost, uncharged[id(trial)] = uncharged[id(trial)], 0.0
            issues.append(_issue(detector, trial, evidence, lost))
    return issues


def _issue(detector: Detector, trial: Trial, evidence: str, lost_score: float) -> Issue:
    return Issue(
        detector_id=detector.id,
        llm_id=trial.result.llm_id,
        test_id=trial.result.test_id,
        trial=trial.result.trial,
        evidence=evidence,
        lost_score=lost_score,
    )


_RANKS = {severity: rank for rank, severity in enumerate(IssueSeverity)}


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


def sort_by_severity(groups: Iterable[IssueGroup]) -> list[IssueGroup]:
    """Sort groups by severity, then as they are: what makes figures unreliable comes first."""
    return sorted(groups, key=lambda group: _RANKS[group.severity])


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
