"""Shares of trials and averages, with what each of them means; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poor_bench.evaluation.models import EvalTrialResult
from poor_bench.statistics.percentile import percentile
from poor_bench.statistics.wilson import wilson_interval

Condition = Callable[[EvalTrialResult], bool]


@dataclass(frozen=True, slots=True)
class Rate:
    """A share, 0.0 to 1.0, and Wilson's interval of 95 %."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class TrialRate:
    """The share of trials that `counts` among those that `among` is about."""

    meaning: str
    among: Condition
    counts: Condition

    def of(self, trials: Sequence[EvalTrialResult]) -> Rate | None:
        """Return the share, or None where no trial is one that it is about."""
        chosen = [trial for trial in trials if self.among(trial)]
        return rate_of(sum(map(self.counts, chosen)), len(chosen))


def rate_of(count: int, total: int) -> Rate | None:
    """Return `count` of `total` as a rate, or None where there is nothing to count."""
    if total == 0:
        return None
    share = count / total
    return Rate(share, wilson_interval(share, total))


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, or None where there is no value."""
    return sum(values) / len(values) if values else None


def p95(values: Sequence[float]) -> float | None:
    """Return the 95th percentile, or None where there is no value.

    Interpolated between neighbours (Hyndman and Fan's type 7, the default of numpy and
    spreadsheets), so that it is the maximum only where all large values agree.
    """
    return percentile(sorted(values), 0.95) if values else None


def _began_with_playbook(trial: EvalTrialResult) -> bool:
    return trial.mode in {"playbook", "handoff"}


def _hit_deterministically(trial: EvalTrialResult) -> bool:
    return trial.mode == "playbook" and trial.passed


RATES = {
    "deterministic_hit_rate": TrialRate(
        "trials that passed by the playbook alone, of those that began with a playbook",
        _began_with_playbook,
        _hit_deterministically,
    ),
    "handoff_rate": TrialRate(
        "trials whose playbook handed off to the agent, of those that began with a playbook",
        _began_with_playbook,
        lambda trial: trial.handed_off,
    ),
    "handoff_rescue_rate": TrialRate(
        "trials that passed after the playbook had handed off, of those that handed off",
        lambda trial: trial.handed_off,
        lambda trial: trial.passed,
    ),
}
"""The rates over trials by name."""
