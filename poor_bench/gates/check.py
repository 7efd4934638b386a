"""Check gates against results, with chance taken into account."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import NamedTuple

from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ScoreChange
from poor_bench.comparison.messages import (
    difference_text,
    mismatches_text,
    names_text,
    p_text,
)
from poor_bench.gates.gate import (
    IMPLIED_GATES,
    Gate,
    GateKind,
    GateOutcome,
    GateStatus,
    made_strict,
)
from poor_bench.messages import counted
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.intervals import Estimate, mean_score, percentile, wilson_interval
from poor_bench.statistics.summary import count_trials, scored_share


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The LLMs and tests that are checked, and what is known of them."""

    llms: Sequence[LLM]
    tests: Mapping[str, Test]
    """By test id."""
    results: Mapping[str, Sequence[Result]]
    """LLM id to its results of these tests, failures included."""
    n_stale: Mapping[str, int] = field(default_factory=dict)
    """LLM id to the number of results that are out of date."""
    comparisons: Mapping[str, Mapping[str, LLMComparison]] = field(default_factory=dict)
    """Baseline to LLM id to what became of the LLM since."""
    named: frozenset[str] = frozenset()
    """Ids of LLMs that were asked for by name, and so must have results."""
    pass_score: float = 1.0

    def classes(self) -> list[str]:
        """Return the ids of the tests' classes, in the order of the tests."""
        return list(dict.fromkeys(test.class_id for test in self.tests.values()))

    def scope(self, llm_id: str, class_id: str | None) -> Scope:
        """Return what is known of one LLM on all tests, or on those of a class."""
        test_ids = {
            test_id
            for test_id, test in self.tests.items()
            if class_id is None or test.class_id == class_id
        }
        results = [result for result in self.results.get(llm_id, ()) if result.test_id in test_ids]
        return Scope(llm_id=llm_id, class_id=class_id, n_tests=len(test_ids), results=results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One LLM on all tests, or on those of a class."""

    llm_id: str
    class_id: str | None
    n_tests: int
    results: Sequence[Result]

    @property
    def scored(self) -> list[Result]:
        """The results with a score."""
        return [result for result in self.results if result.score is not None]

    @property
    def n_untold(self) -> int:
        """Scored results that do not tell what was asked or how they were scored."""
        return sum(
            not (result.request_fingerprint and result.evaluator_fingerprint)
            for result in self.scored
        )

    @property
    def n_pending(self) -> int:
        """Tests without any result."""
        return self.n_tests - len({result.test_id for result in self.results})

    def scores_by_test(self) -> dict[str, list[float]]:
        """Return the scores of each test's scored trials."""
        scores: dict[str, list[float]] = {}
        for result in self.scored:
            scores.setdefault(result.test_id, []).append(result.score or 0.0)
        return scores


_ROUNDING = 1e-9
_SLOW_SHARE = 0.05


class Observation(NamedTuple):
    """What a threshold comes to."""

    status: GateStatus
    observed: float | None
    reason: str


NOTHING = "nothing to check: "


def check_score(scope: Scope, limit: float) -> Observation:
    """Check the mean score; a score whose interval reaches the limit only warns."""
    means = [fmean(scores) for scores in scope.scores_by_test().values()]
    return _check_mean(means, limit, "score", scope)


def check_pass_rate(scope: Scope, limit: float, pass_score: float) -> Observation:
    """Check the mean share of passed trials; as `check_score`."""
    rates = [
        fmean(score >= pass_score for score in scores) for scores in scope.scores_by_test().values()
    ]
    return _check_mean(rates, limit, "pass rate", scope)


def check_p95(scope: Scope, limit: float) -> Observation:
    """Check within what time 95 % of the trials end.

    It only warns where the number of slower trials may be chance: where Wilson's interval for
    their share reaches 5 %.
    """
    times = sorted(
        result.execution_time_ms for result in scope.scored if result.execution_time_ms is not None
    )
    if not times:
        return Observation(GateStatus.FAILED, None, f"{NOTHING}no scored trial has a time")
    p95 = percentile(times, 1 - _SLOW_SHARE)
    seen = f"95 % end within {p95:.0f} ms ({counted(len(times), 'trial')})"
    if p95 <= limit + _ROUNDING:
        return Observation(GateStatus.PASSED, p95, f"{seen}; the limit is {limit:.0f} ms")
    n_slower = sum(time > limit for time in times)
    low, _ = wilson_interval(n_slower / len(times), len(times))
    if low <= _SLOW_SHARE:
        reason = f"{seen}, above {limit:.0f} ms, but too few trials to rule out chance"
        return Observation(GateStatus.WARNING, p95, reason)
    return Observation(GateStatus.FAILED, p95, f"{seen}, above {limit:.0f} ms")


def check_cost(scope: Scope, limit: float) -> Observation:
    """Check the sum of what the trials cost, failed ones included."""
    costs = [result.cost_usd for result in scope.results if result.cost_usd is not None]
    if not costs:
        return Observation(GateStatus.FAILED, None, f"{NOTHING}no result has a cost")
    total = sum(costs)
    unknown = len(scope.results) - len(costs)
    seen = f"cost ${total:.4f}" + (
        f" and {counted(unknown, 'trial')} of unknown cost" if unknown else ""
    )
    if total > limit + _ROUNDING:
        return Observation(GateStatus.FAILED, total, f"{seen}, above ${limit:.4f}")
    status = GateStatus.WARNING if unknown else GateStatus.PASSED
    return Observation(status, total, f"{seen}; the limit is ${limit:.4f}")


def check_scored_share(scope: Scope, limit: float) -> Observation:
    """Check the share of trials that ended with a score, pending tests counted as one trial."""
    counts = count_trials(scope.results)
    share = scored_share(counts.n_scored, counts.n_failed, scope.n_pending)
    seen = f"{counts.n_scored} scored, {counts.n_failed} failed to run, {scope.n_pending} pending"
    if counts.n_newer_failed:
        seen += f"; {counts.n_newer_failed} of the scored have a newer attempt that failed"
    kept = share >= limit - _ROUNDING
    return Observation(GateStatus.PASSED if kept else GateStatus.FAILED, share, seen)


def _check_mean(values: Sequence[float], limit: float, what: str, scope: Scope) -> Observation:
    if not values:
        n_failed = count_trials(scope.results).n_failed
        reason = f"{NOTHING}no scored trial ({n_failed} failed to run)"
        return Observation(GateStatus.FAILED, None, reason)
    estimate = mean_score(values)
    seen = _mean_text(what, estimate)
    if estimate.value >= limit - _ROUNDING:
        return Observation(GateStatus.PASSED, estimate.value, f"{seen}; the limit is {limit:g}")
    if estimate.high >= limit:
        reason = f"{seen} is below {limit:g}, but not significantly"
        return Observation(GateStatus.WARNING, estimate.value, reason)
    return Observation(GateStatus.FAILED, estimate.value, f"{seen} is below {limit:g}")


def _mean_text(what: str, estimate: Estimate) -> str:
    return (
        f"{what} {estimate.value:.3f} ({estimate.low:.2f} to {estimate.high:.2f}, "
        f"{counted(estimate.n, 'test')})"
    )


def check_regression(comparison: LLMComparison | None, class_id: str | None) -> Observation:
    """Check that no score fell beyond chance.

    A difference that is established (after correction for all that was compared), overall or in a
    class, fails. A lower score that may be chance, single broken tests, and tests that are not
    comparable warn.

    Args:
        comparison: The LLM with its baseline; None where the baseline does not have it.
        class_id: The class that is looked at; None looks at all, and at every class.
    """
    if comparison is None:
        return Observation(GateStatus.WARNING, None, "new: the baseline has no results of it")
    groups = _groups_of(comparison, class_id)
    if not groups:
        reasons = ", ".join(_not_comparable(comparison, class_id)) or "no test of both"
        return Observation(GateStatus.FAILED, None, f"{NOTHING}{reasons}")
    fallen = [group for group in groups if group.is_real() and group.difference.value < 0]
    observed = groups[0].difference.value
    if fallen:
        reason = "; ".join(_fallen_text(group) for group in fallen)
        return Observation(GateStatus.FAILED, observed, f"{reason}{_broken_text(groups[0])}")
    doubts = _doubts(comparison, groups[0], class_id)
    if doubts:
        return Observation(GateStatus.WARNING, observed, "; ".join(doubts))
    n_tests = len(groups[0].tests)
    return Observation(
        GateStatus.PASSED, observed, f"{difference_text(groups[0])} on {counted(n_tests, 'test')}"
    )


def _groups_of(comparison: LLMComparison, class_id: str | None) -> list[ComparedGroup]:
    if class_id is not None:
        return [group for group in comparison.by_class if group.class_id == class_id]
    if comparison.overall is None:
        return []
    return [comparison.overall, *(comparison.by_class if len(comparison.by_class) > 1 else ())]


def _doubts(comparison: LLMComparison, group: ComparedGroup, class_id: str | None) -> list[str]:
    doubts = []
    broken = _broken_text(group)
    if group.difference.value < 0 or broken:
        doubts.append(f"{difference_text(group)}, which is not significant{broken}")
    doubts += _not_comparable(comparison, class_id)
    n_unverified = sum(not test.is_verified for test in group.tests)
    if n_unverified:
        doubts.append(f"{counted(n_unverified, 'test')} with older results, which tell too little")
    return doubts


def _not_comparable(comparison: LLMComparison, class_id: str | None) -> list[str]:
    return [
        f"{mismatches_text(reasons)}: {counted(len(test_ids), 'test')} not compared"
        for reasons, test_ids in comparison.not_comparable(class_id).items()
    ]


def _fallen_text(group: ComparedGroup) -> str:
    scope = "" if group.class_id is None else f" in {group.class_id}"
    return f"score fell{scope} by {difference_text(group)}, p {p_text(group.p_adjusted)}"


def _broken_text(group: ComparedGroup) -> str:
    broken: Sequence[str] = [
        test.test_id for test in group.tests if test.outcome is ScoreChange.BROKEN
    ]
    return f"; broken: {names_text(broken, limit=5)}" if broken else ""


def check_gates(
    gates: Sequence[Gate], evidence: Evidence, *, strict: bool = False
) -> list[GateOutcome]:
    """Return what became of each gate, for every LLM and class that it names.

    Scored share and up-to-dateness are looked at in any case, and warn where something is amiss
    unless a gate asks for more. A gate that finds nothing to check fails.

    Args:
        gates: What must hold.
        evidence: What is known.
        strict: Whether every warning is a failure.

    Raises:
        ValueError: If no gate is defined.
    """
    if not gates:
        raise ValueError("no gate is defined")
    asked = {gate.kind for gate in gates}
    implied = [gate for gate in IMPLIED_GATES if gate.kind not in asked]
    outcomes = [outcome for gate in (*gates, *implied) for outcome in _outcomes_of(gate, evidence)]
    return made_strict(outcomes) if strict else outcomes


def _outcomes_of(gate: Gate, evidence: Evidence) -> list[GateOutcome]:
    outcomes = list(_checked(gate, evidence))
    if gate.only_warns:
        return [
            replace(outcome, status=GateStatus.WARNING)
            for outcome in outcomes
            if outcome.status is not GateStatus.PASSED
        ]
    if all(outcome.observed is None for outcome in outcomes):
        named = "no LLM" if not outcomes else "no model"
        reason = f"{NOTHING}{named} has results for this gate"
        failed = [outcome for outcome in outcomes if outcome.status is GateStatus.FAILED]
        return failed or [GateOutcome(gate=gate, status=GateStatus.FAILED, reason=reason)]
    return outcomes


def _checked(gate: Gate, evidence: Evidence) -> Iterator[GateOutcome]:
    for llm in evidence.llms:
        if not gate.is_about(llm.id, llm.label):
            continue
        if not evidence.results.get(llm.id):
            yield from _never_run(gate, llm, evidence)
            continue
        for class_id in _classes_of(gate, evidence):
            seen = _observe(gate, evidence.scope(llm.id, class_id), evidence)
            yield GateOutcome(
                gate=gate,
                llm_id=llm.id,
                class_id=class_id,
                status=seen.status,
                observed=seen.observed,
                reason=seen.reason,
            )


def _never_run(gate: Gate, llm: LLM, evidence: Evidence) -> Iterator[GateOutcome]:
    """Yield a failure for an LLM that was named, and else one warning for all gates together."""
    reason = f"{NOTHING}it was never run"
    if llm.id in evidence.named or gate.llm_pattern in {llm.id, llm.label}:
        yield GateOutcome(gate=gate, llm_id=llm.id, status=GateStatus.FAILED, reason=reason)
    elif gate.kind is GateKind.MIN_SCORED_SHARE:
        yield GateOutcome(gate=gate, llm_id=llm.id, status=GateStatus.WARNING, reason=reason)


def _classes_of(gate: Gate, evidence: Evidence) -> Iterable[str | None]:
    if gate.class_pattern is None:
        return [None]
    return [class_id for class_id in evidence.classes() if gate.is_about_class(class_id)]


def _observe(gate: Gate, scope: Scope, evidence: Evidence) -> Observation:
    match gate.kind:
        case GateKind.MIN_PASSED:
            return check_pass_rate(scope, gate.limit, evidence.pass_score)
        case GateKind.NO_REGRESSION:
            comparisons = evidence.comparisons.get(gate.baseline, {})
            return check_regression(comparisons.get(scope.llm_id), scope.class_id)
        case GateKind.UP_TO_DATE:
            n_untold = 0 if gate.only_warns else scope.n_untold
            return _check_up_to_date(evidence.n_stale.get(scope.llm_id, 0), n_untold)
        case _:
            return _LIMIT_CHECKS[gate.kind](scope, gate.limit)


_LIMIT_CHECKS: Mapping[GateKind, Callable[[Scope, float], Observation]] = {
    GateKind.MIN_SCORE: check_score,
    GateKind.MAX_P95_MS: check_p95,
    GateKind.MAX_COST_USD: check_cost,
    GateKind.MIN_SCORED_SHARE: check_scored_share,
}


def _check_up_to_date(n_stale: int, n_untold: int) -> Observation:
    if n_stale:
        stale = counted(n_stale, "result")
        reason = f"{stale} of another prompt, other parameters or another evaluator"
        return Observation(GateStatus.FAILED, n_stale, reason)
    if n_untold:
        reason = f"{counted(n_untold, 'result')} of an older tool, without prompt and evaluator"
        return Observation(GateStatus.WARNING, 0, reason)
    return Observation(GateStatus.PASSED, 0, "all results are up to date")
