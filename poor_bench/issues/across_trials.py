"""Issues that need several results: an earlier run, repeated trials, other tests or models."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from poor_bench.issues.detector import (
    Among,
    Detector,
    IssueContext,
    IssueSeverity,
    Trial,
    each,
    never,
    shorten_quote,
)


def _regressions(trials: Sequence[Trial], context: IssueContext) -> Iterable[tuple[Trial, str]]:
    now: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        key = (trial.result.llm_id, trial.result.test_id)
        if trial.result.score is not None and key in context.previous_scores:
            now[key].append(trial)
    for key, group in now.items():
        before = context.previous_scores[key]
        mean = sum(trial.result.score or 0.0 for trial in group) / len(group)
        if before >= context.pass_score > mean:
            worst = min(group, key=lambda trial: trial.result.score or 0.0)
            yield worst, f"scored {before:.2f} before, {mean:.2f} now"


def _suspicious_test(trial: Trial, context: IssueContext) -> str | None:
    return context.suspicious_tests.get(trial.result.test_id)


_HISTORY = (
    Detector(
        id="suspicious_test",
        title="The test may be at fault",
        severity=IssueSeverity.HIGH,
        meaning="The results of all models suggest that the test is wrong, not the model.",
        advice="Check the expected answer, prompt and evaluator of the test.",
        find=each(_suspicious_test),
        among=Among.LOST,
        explains_loss=never,
    ),
    Detector(
        id="regression",
        title="Worse than before",
        severity=IssueSeverity.HIGH,
        meaning="The test passed in the baseline and fails now.",
        advice="Compare the prompt, parameters and model digest of both runs.",
        find=_regressions,
        explains_loss=never,
    ),
)


_LEAST_WRONG = 5
_LEAST_SHARE = 0.6


def _group_repeated(trials: Sequence[Trial]) -> Iterable[list[Trial]]:
    """Yield the scored trials of each LLM and test that was tried more than once."""
    groups: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.result.score is not None:
            groups[trial.result.llm_id, trial.result.test_id].append(trial)
    return (group for group in groups.values() if len(group) > 1)


def _unstable(trials: Sequence[Trial], context: IssueContext) -> Iterable[tuple[Trial, str]]:
    for group in _group_repeated(trials):
        failing = [trial for trial in group if (trial.result.score or 0.0) < context.pass_score]
        if 0 < len(failing) < len(group):
            yield failing[0], f"{len(group) - len(failing)} of {len(group)} trials passed"


def _not_deterministic(
    trials: Sequence[Trial], context: IssueContext
) -> Iterable[tuple[Trial, str]]:
    for group in _group_repeated(trials):
        if context.temperatures.get(group[0].result.llm_id) == 0:
            n_answers = len({trial.result.response for trial in group})
            if n_answers > 1:
                yield group[0], f"{n_answers} different responses in {len(group)} trials"


def _one_answer_for_all(
    trials: Sequence[Trial], context: IssueContext
) -> Iterable[tuple[Trial, str]]:
    wrong: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        score = trial.result.score
        if score is not None and score < context.pass_score and trial.answer.strip():
            wrong[trial.result.llm_id, trial.facts.class_id].append(trial)
    for group in wrong.values():
        yield from _alike(group)


def _alike(wrong: list[Trial]) -> Iterable[tuple[Trial, str]]:
    answers = {id(trial): "".join(trial.answer.casefold().split()) for trial in wrong}
    [(commonest, _)] = Counter(answers.values()).most_common(1)
    alike = [trial for trial in wrong if answers[id(trial)] == commonest]
    n_tests = len({trial.result.test_id for trial in alike})
    if n_tests >= _LEAST_WRONG and len(alike) >= _LEAST_SHARE * len(wrong):
        for trial in alike:
            yield trial, f"{shorten_quote(trial.answer)!r} is the answer to {n_tests} tests"


_STABILITY = (
    Detector(
        id="unstable",
        title="Passes sometimes",
        severity=IssueSeverity.LOW,
        meaning="The same test passes in one trial and fails in another.",
        advice="Lower the temperature, or compare several trials.",
        find=_unstable,
        explains_loss=never,
    ),
    Detector(
        id="not_deterministic",
        title="Not deterministic",
        severity=IssueSeverity.LOW,
        meaning="The model gave different answers at temperature 0.",
        advice="Set a seed. Servers that batch requests or cache prompts may still differ.",
        find=_not_deterministic,
        explains_loss=never,
    ),
    Detector(
        id="one_answer_for_all",
        title="Same answer everywhere",
        severity=IssueSeverity.MEDIUM,
        meaning="Most wrong answers of this model are identical.",
        advice="Check the rendered prompt: the model may not see the question.",
        find=_one_answer_for_all,
        explains_loss=never,
    ),
)


_LEAST_TRIALS = 8
_LEAST_RATIO = 3.0
_LEAST_DEVIATIONS = 5.0
_COLD_MS = 1000.0


def _slow_outliers(trials: Sequence[Trial], _: IssueContext) -> Iterable[tuple[Trial, str]]:
    """Find times far above those of the same LLM and class, on a logarithmic scale.

    Source: modified z-score of Iglewicz and Hoaglin 1993, "How to Detect and Handle Outliers",
    with a stricter limit, since response times have long tails.
    """
    by_kind: dict[tuple[str, str], list[tuple[Trial, float]]] = defaultdict(list)
    for trial in trials:
        time_ms = trial.result.execution_time_ms
        if trial.result.score is not None and time_ms:
            by_kind[trial.result.llm_id, trial.facts.class_id].append((trial, math.log(time_ms)))
    for timed in by_kind.values():
        if len(timed) >= _LEAST_TRIALS:
            yield from _find_outliers(timed)


def _find_outliers(timed: list[tuple[Trial, float]]) -> Iterable[tuple[Trial, str]]:
    middle = _median([value for _, value in timed])
    spread = 1.4826 * _median([abs(value - middle) for _, value in timed])
    limit = middle + max(math.log(_LEAST_RATIO), _LEAST_DEVIATIONS * spread)
    for trial, value in timed:
        if value > limit:
            seconds, usual = math.exp(value) / 1000, math.exp(middle) / 1000
            yield trial, f"{seconds:.1f} s where {usual:.1f} s is typical"


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _cold_load(trial: Trial, _: IssueContext) -> str | None:
    load_ms = trial.result.load_ms
    if load_ms is None or load_ms < _COLD_MS:
        return None
    return f"{load_ms / 1000:.1f} s to load the model"


_TIMING = (
    Detector(
        id="slow_outlier",
        title="Unusually slow",
        severity=IssueSeverity.LOW,
        meaning="The request took far longer than others of this model and class.",
        advice="Check for a long answer, a busy machine, or swapping.",
        find=_slow_outliers,
        explains_loss=never,
    ),
    Detector(
        id="cold_load",
        title="Model load",
        severity=IssueSeverity.LOW,
        meaning="The model was not in memory. Load time is not part of the latency.",
        advice="If this repeats, raise keep_alive or run one model at a time.",
        find=each(_cold_load),
        explains_loss=never,
    ),
)


DETECTORS = (*_HISTORY, *_STABILITY, *_TIMING)
