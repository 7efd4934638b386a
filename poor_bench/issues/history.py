"""Issues that need other results: an earlier run, or other models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Among, Detector, each, never
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial


def _regressions(trials: Sequence[Trial], background: Background) -> Iterable[tuple[Trial, str]]:
    now: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        key = (trial.result.llm_id, trial.result.test_id)
        if trial.result.score is not None and key in background.previous_scores:
            now[key].append(trial)
    for key, group in now.items():
        before = background.previous_scores[key]
        mean = sum(trial.result.score or 0.0 for trial in group) / len(group)
        if before >= background.pass_score > mean:
            worst = min(group, key=lambda trial: trial.result.score or 0.0)
            yield worst, f"scored {before:.2f} before, {mean:.2f} now"


def _suspicious_test(trial: Trial, background: Background) -> str | None:
    return background.suspicious_tests.get(trial.result.test_id)


DETECTORS = (
    Detector(
        id="suspicious_test",
        title="Suspicious test",
        severity=Severity.HIGH,
        meaning="The results of all models suggest that the test is wrong, not the model.",
        advice="Check the expected answer, prompt and evaluator of the test.",
        find=each(_suspicious_test),
        among=Among.LOST,
        explains_loss=never,
    ),
    Detector(
        id="regression",
        title="Worse than before",
        severity=Severity.HIGH,
        meaning="The test passed in the baseline and fails now.",
        advice="Compare the prompt, parameters and model digest of both runs.",
        find=_regressions,
        explains_loss=never,
    ),
)
