"""Scores of the variants, and their significance; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poor_bench.messages import counted
from poor_bench.models.result import Result
from poor_bench.statistics.intervals import Estimate, mean_score, percentile
from poor_bench.statistics.significance import holm, sign_flip_p_values
from poor_bench.tuning.params.racing import lead
from poor_bench.tuning.result_cost import result_cost_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Measurements of one variant."""

    variant_id: str
    score: Estimate | None
    """None where nothing was scored."""
    gain: Estimate | None
    """Mean of its score minus the base's on their common tests; None for the base itself."""
    p_adjusted: float | None
    """Of that difference, valid for all variants of the sweep together (Holm)."""
    n_failed: int
    """Tests that failed to run; they are no zeros."""
    median_ms: float | None
    median_tokens: float | None
    """Generated tokens."""
    cost_usd: float | None
    is_complete: bool
    """True if every test of the sweep has a score."""
    is_on_frontier: bool
    """True if no other complete variant is at least as good and faster, or better and as fast."""

    @property
    def is_better(self) -> bool:
        """True if the gain is significant, corrected for all variants."""
        return (
            self.gain is not None
            and self.gain.value > 0
            and self.p_adjusted is not None
            and self.p_adjusted < 0.05
        )


def standings(
    results: Mapping[str, Sequence[Result]], base_id: str, n_tests: int
) -> list[Standing]:
    """Rank all variants: complete ones first, then by mean score.

    Args:
        results: Variant id to its results, one for each test; the base's among them.
        base_id: The variant without changes.
        n_tests: Tests of the sweep.

    Source:
        `sign_flip_p_values` and `holm` over all variants that are compared with the base.
    """
    scores = {
        variant_id: {item.test_id: item.score for item in own if item.score is not None}
        for variant_id, own in results.items()
    }
    p_values = _p_values(scores, base_id)
    complete = {variant_id for variant_id, own in scores.items() if len(own) == n_tests}
    frontier = _frontier(
        {variant_id: _speed(results[variant_id], scores[variant_id]) for variant_id in complete}
    )
    rows = [
        Standing(
            variant_id=variant_id,
            score=mean_score(list(scores[variant_id].values())) if scores[variant_id] else None,
            gain=None if variant_id == base_id else lead(scores[variant_id], scores[base_id]),
            p_adjusted=p_values.get(variant_id),
            n_failed=sum(item.failure is not None for item in own),
            median_ms=_median([item.execution_time_ms for item in own if item.failure is None]),
            median_tokens=_median([item.completion_tokens for item in own]),
            cost_usd=_cost(own),
            is_complete=variant_id in complete,
            is_on_frontier=variant_id in frontier,
        )
        for variant_id, own in results.items()
    ]
    return sorted(
        rows, key=lambda row: (not row.is_complete, -(row.score.value if row.score else -1))
    )


def verdict_on(rows: Sequence[Standing], base_id: str) -> str:
    """Say whether the best variant is significantly better than the baseline."""
    complete = [row for row in rows if row.is_complete]
    best = complete[0] if complete else None
    base = next((row for row in complete if row.variant_id == base_id), None)
    if best is None or base is None:
        return "Too few tests were run to choose a variant."
    if best.gain is None or base.score == best.score:
        return "No variant that completed all tests scores higher than the current parameters."
    gain = best.gain
    figures = (
        f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) on {counted(gain.n, 'test')}"
    )
    if best.is_better:
        return f"{best.variant_id} is significantly better than the current parameters: {figures}."
    return (
        f"{best.variant_id} scores highest, but the difference from the current parameters is not "
        f"significant after correction for {counted(len(rows) - 1, 'variant')}: {figures}."
    )


def _p_values(scores: Mapping[str, Mapping[str, float]], base_id: str) -> dict[str, float]:
    base = scores[base_id]
    others = [name for name in scores if name != base_id and scores[name].keys() & base.keys()]
    if not others:
        return {}
    columns = [
        [
            scores[name][test_id] - base[test_id] if test_id in scores[name] else 0.0
            for name in others
        ]
        for test_id in base
    ]
    return dict(zip(others, holm(sign_flip_p_values(columns).tolist()), strict=True))


def _speed(own: Sequence[Result], scores: Mapping[str, float]) -> tuple[float, float]:
    """Median time and negative mean score; lower is better."""
    times = [item.execution_time_ms for item in own if item.failure is None]
    median = _median(times)
    return (median if median is not None else float("inf"), -sum(scores.values()) / len(scores))


def _frontier(points: Mapping[str, tuple[float, float]]) -> set[str]:
    return {
        name
        for name, own in points.items()
        if not any(
            other != own and other[0] <= own[0] and other[1] <= own[1] for other in points.values()
        )
    }


def _median(values: Sequence[float | None]) -> float | None:
    known = sorted(value for value in values if value is not None)
    return percentile(known, 0.5) if known else None


def _cost(own: Sequence[Result]) -> float | None:
    costs = [cost for cost in map(result_cost_usd, own) if cost is not None]
    return sum(costs) if costs else None
