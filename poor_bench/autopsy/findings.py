"""Plan and findings of an autopsy: which cause took how much of a change; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

from poor_bench.comparison.causes import ChangedFacts
from poor_bench.messages import write_count
from poor_bench.metrics import write_signed
from poor_bench.statistics.attribution import (
    Effect,
    RerunObservation,
    Screening,
    compute_exchange_p_value,
    find_budget,
)
from poor_bench.statistics.differences import estimate_paired_difference
from poor_bench.statistics.intervals import Estimate
from poor_bench.statistics.significance import compute_sign_flip_p_values

ALPHA = 0.05
_MOST_CHECKS = 3
ENVIRONMENT_ALPHA = 0.03
"""What cannot be re-run is tested beside all that can, so it gets less."""
_FLIPS = 4.0
"""How many times alpha the sign-flip p-value may be where trials of one run are independent."""
_REPEATING = 0.6
"""Trials of one run that differ by less than this share of what runs differ are not independent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The part of a change that one cause took."""

    name: str
    kind: str
    """`prompt`, `parameter`, `evaluator` or `environment`."""
    estimate: Estimate
    """After minus before on the mean score of all compared tests, with its 95 % interval."""
    is_cause: bool
    basis: str
    """`re-runs`, `stored answers scored again`, `stored scores` or `elimination`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutopsyPlan:
    """What an autopsy asks at most."""

    facts: ChangedFacts
    screening: Screening
    n_trials: int
    """Trials of the stored runs."""
    n_pairs: int
    """Pairs of re-runs at most."""
    n_checks: int
    """Re-runs of each test with all changes taken back, to see what is left; mostly 0."""

    @property
    def n_calls(self) -> int:
        """Re-runs at most."""
        return 2 * self.n_pairs + len(self.facts.tests) * self.n_checks

    @property
    def n_full(self) -> int:
        """Re-runs of the full factorial, with as many trials as the stored runs."""
        return self.screening.n_full * self.n_trials

    @property
    def text(self) -> str:
        """Describe it in one sentence."""
        changes = write_count(len(self.facts.factors), "change")
        if not self.n_calls:
            return "No re-run is needed."
        return (
            f"At most {write_count(self.n_calls, 're-run')} for {changes} "
            f"(full factorial: {self.n_full})."
        )


def make_plan(
    facts: ChangedFacts, n_trials: int, change: float, max_calls: int | None
) -> AutopsyPlan:
    """Plan the fewest re-runs that tell the changes apart; none where stored scores do.

    Args:
        facts: What changed.
        n_trials: Trials of each test in the stored runs, at least 1.
        change: Change of the mean score without the evaluator's part, -1.0 to 1.0.
        max_calls: Most re-runs; None for a quarter of the full factorial.
    """
    screening = Screening(
        applies=tuple(facts.concerns(test) for test in facts.tests),
        moved=tuple(test.before != test.after for test in facts.tests),
        change=change,
    )
    n_factors, n_tests = len(facts.factors), len(facts.tests)
    needs_check = bool(facts.fixed) and n_factors > 0
    budget = find_budget(screening, n_trials) if max_calls is None else max_calls
    if needs_check and max_calls is None:
        budget = max(budget, n_tests * min(n_factors, 2))  # few changes: no quarter would do
    n_checks = count_checks(budget, n_tests) if needs_check else 0
    n_pairs = (budget - n_tests * n_checks) // 2 if n_factors > 1 else 0
    return AutopsyPlan(
        facts=facts,
        screening=screening,
        n_trials=n_trials,
        n_pairs=len(screening.list_pairs(n_pairs)),
        n_checks=n_checks,
    )


def count_checks(budget: int, n_tests: int) -> int:
    """Count how often each test is asked with all changes taken back: 3 times, or for half of all.

    Returns:
        0 to 3; 0 where the budget does not allow one re-run of each test.
    """
    return 0 if budget < n_tests else min(_MOST_CHECKS, max(1, budget // (2 * n_tests)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Why the mean score changed."""

    llm_id: str
    change: Estimate
    """Of the stored scores, with its 95 % interval."""
    change_p_value: float
    shares: tuple[Share, ...]
    """Causes first, the largest first."""
    n_tests: int
    n_calls: int
    """Re-runs that were made."""
    n_full: int
    """Re-runs of the full factorial."""
    stopped: str = ""
    """Why it ended early; empty if it did not."""
    remarks: tuple[str, ...] = ()

    @property
    def causes(self) -> list[Share]:
        """Shares that are significant."""
        return [share for share in self.shares if share.is_cause]

    @property
    def unexplained(self) -> float:
        """Change of the stored scores that no cause takes, trial noise included."""
        return self.change.value - sum(share.estimate.value for share in self.causes)

    @property
    def verdict(self) -> str:
        """Sum it up in one sentence."""
        total = write_signed(self.change.value)
        if self.causes:
            named = "; ".join(
                f"{write_signed(share.estimate.value)} of {total}: {share.name}"
                for share in self.causes
            )
            return f"{named}. Not explained (with trial noise): {write_signed(self.unexplained)}."
        if self.change_p_value >= ALPHA:
            return f"No cause found: the change of {total} is within the noise of single trials."
        return f"No cause found for the change of {total}."

    def as_json(self) -> dict[str, Any]:
        """Convert it for `--json`."""
        return {
            "llm_id": self.llm_id,
            "change": asdict(self.change),
            "change_p_value": self.change_p_value,
            "causes": [_share_to_json(share) for share in self.shares if share.is_cause],
            "others": [_share_to_json(share) for share in self.shares if not share.is_cause],
            "unexplained": self.unexplained,
            "n_tests": self.n_tests,
            "n_calls": self.n_calls,
            "n_calls_full_factorial": self.n_full,
            "stopped": self.stopped,
            "remarks": list(self.remarks),
            "verdict": self.verdict,
        }


def _share_to_json(share: Share) -> dict[str, Any]:
    change = share.estimate
    figures = {"value": change.value, "low": change.low, "high": change.high}
    return {"name": share.name, "kind": share.kind, **figures, "basis": share.basis}


def add_pairs(
    plan: AutopsyPlan,
    taken_back: Mapping[str, Sequence[float]],
    observations: Sequence[RerunObservation],
    effects: Sequence[Effect],
) -> dict[str, list[float]]:
    """Add the scores of pairs in which all found causes were taken back: they tell as much.

    Args:
        plan: What was planned.
        taken_back: Test id to its scores today with everything as before.
        observations: What the pairs came to.
        effects: Of each change that re-runs can take back.
    """
    causes = [place for place, effect in enumerate(effects) if effect.is_cause]
    scores = {test_id: list(own) for test_id, own in taken_back.items()}
    for seen in observations:
        test_id = plan.facts.tests[seen.pair.test].test.test_id
        if test_id in scores:
            scores[test_id] += seen.list_scores_without(causes)
    return scores


def measure_environment(
    plan: AutopsyPlan, taken_back: Mapping[str, Sequence[float]], *, is_same_model: bool
) -> Share | None:
    """Estimate what is left when all changes are taken back, today against the earlier run.

    Args:
        plan: What was planned.
        taken_back: Test id to its scores today with everything as before.
        is_same_model: False if today's model is not that of the later run: then today's scores
            tell nothing of that run.

    Returns:
        None if nothing such changed, or it was not measured.
    """
    facts = plan.facts
    tests = [test for test in facts.tests if test.test.test_id in taken_back]
    if not facts.fixed or not is_same_model or (facts.factors and not tests):
        return None
    tests = tests if facts.factors else list(facts.tests)
    before = [test.scores_before for test in tests]
    left = [taken_back[t.test.test_id] if facts.factors else t.scores_after for t in tests]
    return Share(
        name=f"{', '.join(facts.fixed)} (not re-run)",
        kind="environment",
        estimate=estimate_paired_difference(
            _subtract(left, before), [test.test.group for test in tests]
        ),
        is_cause=is_moved(before, left, ENVIRONMENT_ALPHA),
        basis="elimination",
    )


def _subtract(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(one) - fmean(other) for one, other in zip(first, second, strict=True)]


def is_moved(
    before: Sequence[Sequence[float]], after: Sequence[Sequence[float]], alpha: float
) -> bool:
    """True if the scores of these tests moved by more than their trials differ.

    Where trials of a run agree with each other more than with another run, exchanges alone would
    take a few tests that flip by chance for a change: the flips must have a direction, too, and
    where a run repeats itself they alone must tell. A server that repeats itself in 90 % of the
    tests is called moved in 4 % to 7 % of simulations, one that does in half of them in 7 % to 12 %
    (`benchmarks/statistics/autopsy.py`).
    """
    p_value = _compute_p_value(_subtract(after, before))
    limit = ALPHA if _does_run_repeat(before, after) else _FLIPS * alpha
    return p_value < limit and compute_exchange_p_value(after, before) < alpha


def _does_run_repeat(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> bool:
    """True if trials of one run agree more than independent ones would.

    What two runs differ beyond the change of the mean is noise of trials, and independent trials of
    one run would differ as much.
    """
    between = within = change = 0.0
    for pair in zip(before, after, strict=True):
        repeated = [side for side in pair if len(side) > 1]
        if repeated:
            one, other = pair
            within += fmean(_measure_distance(side) for side in repeated)
            between += fmean(abs(a - b) for a in one for b in other)
            change += fmean(one) - fmean(other)
    return within < _REPEATING * (between - abs(change))


def _measure_distance(trials: Sequence[float]) -> float:
    """Compute the mean distance of two of at least two trials."""
    return fmean(abs(one - other) for one, other in combinations(trials, 2))


def measure_single(
    plan: AutopsyPlan, taken_back: Mapping[str, Sequence[float]], *, has_environment: bool
) -> list[Share]:
    """Estimate the share of the only change: no pairs of re-runs are needed."""
    facts = plan.facts
    if len(facts.factors) != 1 or (has_environment and not taken_back):
        return []
    tests = [test for test in facts.tests if facts.concerns(test)[0]]
    if has_environment:
        tests = [test for test in tests if test.test.test_id in taken_back]
    after = [test.scores_after for test in tests]
    before = [taken_back[t.test.test_id] if has_environment else t.scores_before for t in tests]
    if not tests:
        return []
    differences = _subtract(after, before)
    estimate = estimate_paired_difference(differences, [test.test.group for test in tests])
    weight = len(tests) / len(facts.tests)
    scaled = Estimate(
        value=estimate.value * weight,
        low=estimate.low * weight,
        high=estimate.high * weight,
        n=estimate.n,
    )
    return [
        Share(
            name=facts.factors[0].text,
            kind=facts.factors[0].kind,
            estimate=scaled,
            is_cause=is_moved(before, after, ALPHA),
            basis="re-runs" if has_environment else "stored scores",
        )
    ]


def share_effects(facts: ChangedFacts, effects: Sequence[Effect]) -> list[Share]:
    """Name the effects that pairs of re-runs have shown."""
    return [
        Share(
            name=factor.text,
            kind=factor.kind,
            estimate=effect.estimate,
            is_cause=effect.is_cause,
            basis="re-runs",
        )
        for factor, effect in zip(facts.factors, effects, strict=True)
    ]


def share_evaluators(changes: Mapping[str, Sequence[float]], n_tests: int) -> list[Share]:
    """Compute the share of each changed evaluator, by scoring the same stored answers.

    Args:
        changes: Name of the evaluator to what it alone added to the difference of each test.
        n_tests: All compared tests.
    """
    shares = []
    for name, values in changes.items():
        value = sum(values) / n_tests
        exact = Estimate(value=value, low=value, high=value, n=len(values))
        shares.append(
            Share(
                name=f"evaluator {name}",
                kind="evaluator",
                estimate=exact,
                is_cause=any(values),
                basis="stored answers scored again",
            )
        )
    return shares


def conclude(
    plan: AutopsyPlan,
    shares: Sequence[Share],
    differences: Sequence[float],
    n_calls: int,
    stopped: str = "",
    remarks: Sequence[str] = (),
) -> Findings:
    """Put the shares in order.

    Args:
        plan: What was planned.
        shares: Of all causes that were looked at.
        differences: Stored score after minus stored score before, by test.
        n_calls: Re-runs that were made.
        stopped: Why it ended early; empty if it did not.
        remarks: What a reader must know.
    """
    groups = [test.test.group for test in plan.facts.tests]
    return Findings(
        llm_id=plan.facts.llm_id,
        change=estimate_paired_difference(differences, groups),
        change_p_value=_compute_p_value(differences, groups),
        shares=tuple(
            sorted(shares, key=lambda share: (not share.is_cause, -abs(share.estimate.value)))
        ),
        n_tests=len(plan.facts.tests),
        n_calls=n_calls,
        n_full=plan.n_full,
        stopped=stopped,
        remarks=(*plan.facts.remarks, *remarks),
    )


def _compute_p_value(
    differences: Sequence[float], groups: Sequence[str | None] | None = None
) -> float:
    return float(compute_sign_flip_p_values([[value] for value in differences], groups=groups)[0])
