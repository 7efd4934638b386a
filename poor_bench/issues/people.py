"""Issues that people's ratings show: the evaluator or the test may be wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from poor_bench.issues.detector import Detector, IssueContext, IssueSeverity, Trial, never


def _find_disagreements(
    trials: Sequence[Trial], context: IssueContext
) -> Iterable[tuple[Trial, str]]:
    rated_tests = {people.test_id for people in context.people.values()}
    for trial in trials:
        if trial.result.test_id not in rated_tests:
            continue
        people, score = context.people.get(trial.result.answer_id), trial.result.score
        if people is not None and people.disagrees_with(score):
            raters = "1 person" if people.n_people == 1 else f"{people.n_people} people"
            yield trial, f"{raters}: {people.mean:.2f}, evaluator: {score:.2f}"


DETECTORS = (
    Detector(
        id="people_disagree",
        title="People disagree with the evaluator",
        severity=IssueSeverity.HIGH,
        meaning="People's ratings of the answer are 0.5 or more away from the evaluator's score.",
        advice="Check the test's expected answer and evaluator, then the ratings.",
        find=_find_disagreements,
        explains_loss=never,
    ),
)
