"""Run the detectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from poor_bench.issues.background import Background, TestFacts
from poor_bench.issues.detector import Among, Detector
from poor_bench.issues.issue import Issue
from poor_bench.issues.registry import DETECTORS
from poor_bench.issues.trial import Trial
from poor_bench.models.result import Result, one_per_trial

_NO_FACTS = TestFacts()
_NO_BACKGROUND = Background()


def detect_issues(
    results: Iterable[Result],
    background: Background = _NO_BACKGROUND,
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> list[Issue]:
    """Find the issues of some results.

    Args:
        results: Scored and failed trials in any order; of a trial with a score, newer failures are
            left out.
        background: What is known beyond the results. More of it lets more detectors work.
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
    facts = background.facts
    trials = [
        Trial(result, facts.get(result.test_id, _NO_FACTS)) for result in one_per_trial(results)
    ]
    among = {kind: [trial for trial in trials if kind.includes(trial)] for kind in Among}
    uncharged = {id(trial): trial.lost_score for trial in trials}
    issues = []
    for detector in detectors:
        for trial, evidence in detector.find(among[detector.among], background):
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
