"""Issues that people's ratings show: the evaluator or the test may be wrong."""

from __future__ import annotations

from poor_bench.issues.detector import Affected, Detector, IssueContext, IssueSeverity, TrialTable


def _find_disagreements(table: TrialTable, context: IssueContext) -> Affected:
    """Compare answers to rated tests only: their texts are read."""
    import numpy as np

    rated_tests = {people.test_id for people in context.people.values()}
    rated = np.flatnonzero(table.trials.find_entries("test_id", rated_tests.__contains__))
    found, said = [], []
    for entry, trial in zip(rated.tolist(), table.look(rated), strict=True):
        people, score = context.people.get(trial.result.answer_id), trial.result.score
        if people is not None and people.disagrees_with(score):
            raters = "1 person" if people.n_people == 1 else f"{people.n_people} people"
            found.append(entry)
            said.append(f"{raters}: {people.mean:.2f}, evaluator: {score:.2f}")
    return Affected(np.array(found, dtype=np.int64), lambda place, _: said[place])


DETECTORS = (
    Detector(
        id="people_disagree",
        title="People disagree with the evaluator",
        severity=IssueSeverity.HIGH,
        meaning="People's ratings of the answer are 0.5 or more away from the evaluator's score.",
        advice="Check the test's expected answer and evaluator, then the ratings.",
        across=_find_disagreements,
    ),
)
