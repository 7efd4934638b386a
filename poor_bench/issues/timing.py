"""Latency outliers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from poor_bench.issues.background import Background
from poor_bench.issues.detector import Detector, each, never
from poor_bench.issues.issue import Severity
from poor_bench.issues.trial import Trial

_LEAST_TRIALS = 8
_LEAST_RATIO = 3.0
_LEAST_DEVIATIONS = 5.0
_COLD_MS = 1000.0


def _slow_outliers(trials: Sequence[Trial], _: Background) -> Iterable[tuple[Trial, str]]:
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
            yield from _outliers_of(timed)


def _outliers_of(timed: list[tuple[Trial, float]]) -> Iterable[tuple[Trial, str]]:
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


def _cold_load(trial: Trial, _: Background) -> str | None:
    load_ms = trial.result.load_ms
    if load_ms is None or load_ms < _COLD_MS:
        return None
    return f"{load_ms / 1000:.1f} s to load the model"


DETECTORS = (
    Detector(
        id="slow_outlier",
        title="Unusually slow",
        severity=Severity.LOW,
        meaning="The request took far longer than others of this model and class.",
        advice="Check for a long answer, a busy machine, or swapping.",
        find=_slow_outliers,
        explains_loss=never,
    ),
    Detector(
        id="cold_load",
        title="Model load",
        severity=Severity.LOW,
        meaning="The model was not in memory. Load time is not part of the latency.",
        advice="If this repeats, raise keep_alive or run one model at a time.",
        find=each(_cold_load),
        explains_loss=never,
    ),
)
