"""Shares of trials and averages, each with its meaning; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from poor_bench.evaluation.models import EvalTrialResult
from poor_bench.statistics.intervals import percentile, wilson_interval

Condition = Callable[[EvalTrialResult], bool]


@dataclass(frozen=True, slots=True)
class Rate:
    """A share, 0.0 to 1.0, and Wilson's 95 % confidence interval."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class TrialRate:
    """Share of the trials that meet `counts`, of those that meet `among`."""

    meaning: str
    among: Condition
    counts: Condition

    def of(self, trials: Sequence[EvalTrialResult]) -> Rate | None:
        """Compute the share; None where no trial meets `among`."""
        chosen = [trial for trial in trials if self.among(trial)]
        return rate_of(sum(map(self.counts, chosen)), len(chosen))


def rate_of(count: int, total: int) -> Rate | None:
    """`count` of `total` as a rate; None where `total` is 0."""
    if total == 0:
        return None
    share = count / total
    return Rate(share, wilson_interval(share, total))


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None without values."""
    return sum(values) / len(values) if values else None


def p95(values: Sequence[float]) -> float | None:
    """95th percentile; None without values.

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
        "trials that the playbook passed alone, of those that started with a playbook",
        _began_with_playbook,
        _hit_deterministically,
    ),
    "handoff_rate": TrialRate(
        "trials whose playbook handed off to the agent, of those that started with a playbook",
        _began_with_playbook,
        lambda trial: trial.handed_off,
    ),
    "handoff_rescue_rate": TrialRate(
        "trials that passed after a handoff, of those that were handed off",
        lambda trial: trial.handed_off,
        lambda trial: trial.passed,
    ),
}
"""The rates over trials by name."""
