"""Whether the figures of one LLM keep to a limit, with chance taken into account."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from poor_bench.gates.evidence import Part
from poor_bench.gates.outcome import GateStatus
from poor_bench.messages import counted
from poor_bench.statistics.intervals import Estimate, mean_score, percentile, wilson_interval
from poor_bench.statistics.summary import count_trials, scored_share

_ROUNDING = 1e-9
_SLOW_SHARE = 0.05


class Finding(NamedTuple):
    """What a threshold comes to."""

    status: GateStatus
    observed: float | None
    reason: str


NOTHING = "nothing to check: "


def check_score(part: Part, limit: float) -> Finding:
    """Check the mean score; a score whose interval reaches the limit only warns."""
    means = [fmean(scores) for scores in part.scores_by_test().values()]
    return _check_mean(means, limit, "score", part)


def check_pass_rate(part: Part, limit: float, pass_score: float) -> Finding:
    """Check the mean share of passed trials; as `check_score`."""
    rates = [
        fmean(score >= pass_score for score in scores) for scores in part.scores_by_test().values()
    ]
    return _check_mean(rates, limit, "pass rate", part)


def check_p95(part: Part, limit: float) -> Finding:
    """Check within what time 95 % of the trials end.

    It only warns where the number of slower trials may be chance: where Wilson's interval for
    their share reaches 5 %.
    """
    times = sorted(
        result.execution_time_ms for result in part.scored if result.execution_time_ms is not None
    )
    if not times:
        return Finding(GateStatus.FAILED, None, f"{NOTHING}no scored trial has a time")
    p95 = percentile(times, 1 - _SLOW_SHARE)
    seen = f"95 % end within {p95:.0f} ms ({counted(len(times), 'trial')})"
    if p95 <= limit + _ROUNDING:
        return Finding(GateStatus.PASSED, p95, f"{seen}; {limit:.0f} ms is the limit")
    n_slower = sum(time > limit for time in times)
    low, _ = wilson_interval(n_slower / len(times), len(times))
    if low <= _SLOW_SHARE:
        reason = f"{seen}, above {limit:.0f} ms, but too few trials to rule out chance"
        return Finding(GateStatus.WARNING, p95, reason)
    return Finding(GateStatus.FAILED, p95, f"{seen}, above {limit:.0f} ms")


def check_cost(part: Part, limit: float) -> Finding:
    """Check the sum of what the trials cost, failed ones included."""
    costs = [result.cost_usd for result in part.results if result.cost_usd is not None]
    if not costs:
        return Finding(GateStatus.FAILED, None, f"{NOTHING}no result has a cost")
    total = sum(costs)
    unknown = len(part.results) - len(costs)
    seen = f"cost ${total:.4f}" + (
        f" and {counted(unknown, 'trial')} of unknown cost" if unknown else ""
    )
    if total > limit + _ROUNDING:
        return Finding(GateStatus.FAILED, total, f"{seen}, above ${limit:.4f}")
    status = GateStatus.WARNING if unknown else GateStatus.PASSED
    return Finding(status, total, f"{seen}; ${limit:.4f} are allowed")


def check_scored_share(part: Part, limit: float) -> Finding:
    """Check the share of trials that ended with a score, pending tests counted as one trial."""
    counts = count_trials(part.results)
    share = scored_share(counts.n_scored, counts.n_failed, part.n_pending)
    seen = f"{counts.n_scored} scored, {counts.n_failed} failed to run, {part.n_pending} pending"
    if counts.n_newer_failed:
        seen += f"; {counts.n_newer_failed} of the scored have a newer attempt that failed"
    kept = share >= limit - _ROUNDING
    return Finding(GateStatus.PASSED if kept else GateStatus.FAILED, share, seen)


def _check_mean(values: Sequence[float], limit: float, what: str, part: Part) -> Finding:
    if not values:
        n_failed = count_trials(part.results).n_failed
        reason = f"{NOTHING}no scored trial ({n_failed} failed to run)"
        return Finding(GateStatus.FAILED, None, reason)
    estimate = mean_score(values)
    seen = _mean_text(what, estimate)
    if estimate.value >= limit - _ROUNDING:
        return Finding(GateStatus.PASSED, estimate.value, f"{seen}; at least {limit:g} is asked")
    if estimate.high >= limit:
        reason = f"{seen} is below {limit:g}, but not significantly"
        return Finding(GateStatus.WARNING, estimate.value, reason)
    return Finding(GateStatus.FAILED, estimate.value, f"{seen} is below {limit:g}")


def _mean_text(what: str, estimate: Estimate) -> str:
    return (
        f"{what} {estimate.value:.3f} ({estimate.low:.2f} to {estimate.high:.2f}, "
        f"{counted(estimate.n, 'test')})"
    )
