"""Standings of the variants of a sweep: who is dropped early, who is better, the report: pure.

All variants run the same tests in the same order, so that they can be compared test by test. A
variant is dropped as soon as the best one so far is better beyond chance on the tests that both
have done. Looking several times raises the chance of dropping a good one somewhat above 5 %; what
is claimed in the end rests on the variants that ran all tests.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from poor_bench.messages import write_count
from poor_bench.models.completion import sum_known
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.groups import find_groups
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.ranking import rank_llms
from poor_bench.statistics.significance import compute_sign_flip_p_values, holm
from poor_bench.tuning.searches import KeptSearch, StopReason, sum_result_cost

Scores = Mapping[str, Mapping[str, float]]
"""Variant id to test id to score."""

LEAST_TESTS = 4
"""Lowest number of tests before a variant is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A dropped variant."""

    variant_id: str
    leader_id: str
    behind: Estimate
    """Mean of leader minus variant on their common tests, with its 95 % interval, above 0."""


def find_losers(
    scores: Scores, kept: Collection[str] = (), tests: Mapping[str, Test] | None = None
) -> list[Dropped]:
    """Find variants that are significantly behind the best one.

    Args:
        scores: Of the variants that are still in the race.
        kept: Ids that are never dropped.
        tests: By id, for their groups.

    Source:
        The rule is that of Hoeffding races (Maron and Moore 1994, "Hoeffding Races: Accelerating
        Model Selection Search for Classification and Function Approximation", NIPS 6) with the
        paired interval of `poor_bench.statistics` in the place of Hoeffding's bound.

    Example:
        >>> tests = [str(n) for n in range(8)]
        >>> scores = {"good": dict.fromkeys(tests, 1.0), "bad": dict.fromkeys(tests, 0.0)}
        >>> [loser] = find_losers(scores)
        >>> loser.variant_id, loser.behind.value
        ('bad', 1.0)
    """
    leader = find_best(scores)
    if leader is None:
        return []
    found = []
    for variant_id, own in scores.items():
        if variant_id == leader or variant_id in kept:
            continue
        behind = lead(scores[leader], own, tests or {})
        if behind is not None and behind.n >= LEAST_TESTS and behind.low > 0:
            found.append(Dropped(variant_id=variant_id, leader_id=leader, behind=behind))
    return found


def find_best(scores: Scores) -> str | None:
    """Choose the variant with the highest mean score among those with most tests, or None."""
    ran = {variant_id: own for variant_id, own in scores.items() if own}
    most = max((len(own) for own in ran.values()), default=0)
    full = {variant_id: fmean(own.values()) for variant_id, own in ran.items() if len(own) == most}
    return max(full, key=lambda variant_id: full[variant_id], default=None)


def lead(
    one: Mapping[str, float], other: Mapping[str, float], tests: Mapping[str, Test]
) -> Estimate | None:
    """Mean of `one` minus `other` on common tests; None without any."""
    common = [test_id for test_id in one if test_id in other]
    differences = [one[test_id] - other[test_id] for test_id in common]
    groups = find_groups(common, tests)
    return estimate_paired_difference(differences, groups) if differences else None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRow:
    """Measurements of one variant."""

    variant_id: str
    score: Estimate | None
    """None where nothing was scored."""
    gain: Estimate | None
    """Mean of its score minus the base's on their common tests; None for the base itself."""
    p_adjusted: float | None
    """Of that difference, valid for all variants of the sweep together (Holm)."""
    n_failed: int
    """Tests that failed to run; they do not count as zero."""
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


def rank_variants(
    results: Mapping[str, Sequence[Result]],
    base_id: str,
    n_tests: int,
    tests: Mapping[str, Test] | None = None,
) -> list[VariantRow]:
    """Rank all variants: complete ones first, then as `rank_llms`.

    Args:
        results: Variant id to its results, one for each test; the base's among them.
        base_id: The variant without changes.
        n_tests: Tests of the sweep.
        tests: By id, for their groups.

    Source:
        `compute_sign_flip_p_values` and `holm` over all variants that are compared with the base.
    """
    scores = {
        variant_id: {item.test_id: item.score for item in own if item.score is not None}
        for variant_id, own in results.items()
    }
    p_values = _compute_p_values(scores, base_id, tests or {})
    complete = {variant_id for variant_id, own in scores.items() if len(own) == n_tests}
    frontier = _find_frontier(
        {
            variant_id: _measure_speed(results[variant_id], scores[variant_id])
            for variant_id in complete
        }
    )
    rows = [
        VariantRow(
            variant_id=variant_id,
            score=_score(scores[variant_id], tests or {}),
            gain=None
            if variant_id == base_id
            else lead(scores[variant_id], scores[base_id], tests or {}),
            p_adjusted=p_values.get(variant_id),
            n_failed=sum(item.failure is not None for item in own),
            median_ms=_compute_median(
                [item.execution_time_ms for item in own if item.failure is None]
            ),
            median_tokens=_compute_median([item.completion_tokens for item in own]),
            cost_usd=sum_known(map(sum_result_cost, own)),
            is_complete=variant_id in complete,
            is_on_frontier=variant_id in frontier,
        )
        for variant_id, own in results.items()
    ]
    order = rank_llms(
        Result(llm_id=variant_id, test_id=test_id, score=score)
        for variant_id, own in scores.items()
        for test_id, score in own.items()
    ).llm_ids
    places = {variant_id: place for place, variant_id in enumerate(order)}
    return sorted(
        rows,
        key=lambda row: (not row.is_complete, places.get(row.variant_id, len(places))),
    )


def _score(scores: Mapping[str, float], tests: Mapping[str, Test]) -> Estimate | None:
    return mean_score(list(scores.values()), find_groups(scores, tests)) if scores else None


def state_verdict(rows: Sequence[VariantRow], base_id: str) -> str:
    """Say whether the best variant is significantly better than the baseline."""
    complete = [row for row in rows if row.is_complete]
    best = complete[0] if complete else None
    base = next((row for row in complete if row.variant_id == base_id), None)
    if best is None or base is None:
        return "Too few tests were run to choose a variant."
    if best.gain is None or base.score == best.score:
        return "No variant that completed all tests scores higher than the current parameters."
    gain = best.gain
    figures = f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) on {gain.basis}"
    if best.is_better:
        return f"{best.variant_id} is significantly better than the current parameters: {figures}."
    return (
        f"{best.variant_id} scores highest, but the difference from the current parameters is not "
        f"significant after correction for {write_count(len(rows) - 1, 'variant')}: {figures}."
    )


def _compute_p_values(
    scores: Mapping[str, Mapping[str, float]], base_id: str, tests: Mapping[str, Test]
) -> dict[str, float]:
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
    p_values = compute_sign_flip_p_values(columns, groups=find_groups(base, tests)).tolist()
    return dict(zip(others, holm(p_values), strict=True))


def _measure_speed(own: Sequence[Result], scores: Mapping[str, float]) -> tuple[float, float]:
    """Median time and negative mean score; lower is better."""
    time_ms = _compute_median([item.execution_time_ms for item in own if item.failure is None])
    return math.inf if time_ms is None else time_ms, -fmean(scores.values())


def _find_frontier(points: Mapping[str, tuple[float, float]]) -> set[str]:
    return {
        name
        for name, own in points.items()
        if not any(
            other != own and other[0] <= own[0] and other[1] <= own[1] for other in points.values()
        )
    }


def _compute_median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamsReport:
    """One sweep as a screen shows it."""

    run_id: str
    header: Mapping[str, Any]
    standings: tuple[VariantRow, ...]
    """Best first."""
    dropped: Mapping[str, str]
    """Variant that was dropped early to the one that beat it."""
    reason: StopReason
    message: str
    n_calls: int | None
    """None if its process was killed: only the end counts them."""
    cost_usd: float | None
    """None if no cost is known."""
    accepted: str = ""
    """Id of the variant that was added to llms.json; empty where none was."""

    @property
    def base_id(self) -> str:
        """Id of the baseline model."""
        return str(self.header["llm"])

    @property
    def n_failed(self) -> int:
        """Tests that failed to run, of all variants."""
        return sum(row.n_failed for row in self.standings)

    @property
    def verdict(self) -> str:
        """Statement on the significance of the best variant."""
        return state_verdict(self.standings, self.base_id)

    @property
    def best(self) -> VariantRow | None:
        """The best complete variant, if it scores above the baseline."""
        first = next(iter(self.standings), None)
        is_above = first is not None and first.gain is not None and first.gain.value > 0
        return first if first is not None and first.is_complete and is_above else None

    def as_json(self) -> dict[str, Any]:
        """Convert the report to JSON values."""
        return {
            "run_id": self.run_id,
            "llm": self.base_id,
            "classes": self.header["name"],
            "n_tests": len(self.header["tests"]),
            "stopped": self.reason.value,
            "message": self.message,
            "n_calls": self.n_calls,
            "cost_usd": self.cost_usd,
            "n_failed": self.n_failed,
            "verdict": self.verdict,
            "best": self.best.variant_id if self.best else None,
            "is_better": self.best is not None and self.best.is_better,
            "variants": [
                {
                    **asdict(row),
                    "is_better": row.is_better,
                    "dropped_for": self.dropped.get(row.variant_id),
                }
                for row in self.standings
            ],
            "accepted": self.accepted or None,
        }


def read_sweep(search: KeptSearch) -> ParamsReport:
    """Read the report of a sweep from its file.

    Raises:
        StoreError: If its header is not readable.
    """
    search.require("name", "llm", "tests", "axes")
    end = search.last("end") or {}
    accepted = search.last("accepted") or {}
    dropped = {record["id"]: record["leader"] for record in search.of_kind("dropped")}
    standings = tuple(_read_row(row) for row in end.get("standings", ()))
    is_priced = any(row.cost_usd is not None for row in standings)
    return ParamsReport(
        run_id=search.run_id,
        header=search.header,
        standings=standings,
        dropped=end.get("dropped", dropped),
        reason=search.reason,
        message=str(end.get("message", "" if end else "the process ended")),
        n_calls=end.get("n_calls"),
        cost_usd=end.get("cost_usd") if is_priced else None,
        accepted=str(accepted.get("key", "")),
    )


def _read_row(row: Mapping[str, Any]) -> VariantRow:
    estimates = {name: row[name] and Estimate(**row[name]) for name in ("score", "gain")}
    return VariantRow(**{**row, **estimates})
