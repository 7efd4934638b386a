"""Check gates against results, with chance taken into account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial

from poor_bench import metrics
from poor_bench.comparison.compare import LLMComparison
from poor_bench.gates.gate import (
    IMPLIED_GATES,
    NOTHING,
    Gate,
    GateKind,
    GateOutcome,
    GateStatus,
    Observation,
)
from poor_bench.gates.regression import check_regression
from poor_bench.messages import write_count
from poor_bench.metrics import Metric
from poor_bench.models.llm import LLM
from poor_bench.models.result import Result
from poor_bench.models.test import Test
from poor_bench.statistics.means import mean_score
from poor_bench.statistics.summarise import summarise
from poor_bench.statistics.summary import Summary, compute_scored_share
from poor_bench.statistics.trials import TrialColumns, Trials, collect_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The LLMs and tests that are checked, and what is known of them."""

    llms: Sequence[LLM]
    tests: Mapping[str, Test]
    """By test id."""
    results: Mapping[str, Trials]
    """LLM id to its results of these tests, failures included."""
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    """LLM id to the figures of its results, where they are known already."""
    n_untold: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """LLM id and class id to scored results that do not record both request and evaluator."""
    n_stale: Mapping[str, int] = field(default_factory=dict)
    """LLM id to the number of results that are out of date."""
    comparisons: Mapping[str, Mapping[str, LLMComparison]] = field(default_factory=dict)
    """Baseline to LLM id to what became of the LLM since."""
    named: frozenset[str] = frozenset()
    """Ids of LLMs that were asked for by name, and so must have results."""
    pass_score: float = 1.0
    is_sequential: bool = False
    """True if verdicts on regressions have to hold however often they are looked at."""

    def classes(self) -> list[str]:
        """List the ids of the tests' classes, in the order of the tests."""
        return list(dict.fromkeys(test.class_id for test in self.tests.values()))

    def scope(self, llm_id: str, class_id: str | None) -> Scope:
        """Collect the results of one LLM on all tests, or on those of a class."""
        tests, n_untold = self.tests, self.n_untold.get(llm_id, {})
        trials = collect_columns(self.results.get(llm_id, ()))
        if class_id is not None:
            tests = {name: test for name, test in tests.items() if test.class_id == class_id}
            trials = trials.pick(trials.find_entries("test_id", tests.__contains__))
        known = self.summaries.get(llm_id) if class_id is None else None
        rows = [known] if known else summarise(trials, tests=self.tests, pass_score=self.pass_score)
        return Scope(
            llm_id=llm_id,
            class_id=class_id,
            n_tests=len(tests),
            n_untold=sum(n_untold.values() if class_id is None else [n_untold.get(class_id, 0)]),
            trials=trials,
            summary=rows[0] if rows else None,
        )


def count_untold(scored: Iterable[Result], tests: Mapping[str, Test]) -> dict[str, Counter[str]]:
    """Count the scored results that do not record both request and evaluator.

    Args:
        scored: Results with a score.
        tests: By test id.

    Returns:
        LLM id to class id to their number.
    """
    found: dict[str, Counter[str]] = {}
    for result in scored:
        if not (result.request_fingerprint and result.evaluator_fingerprint):
            found.setdefault(result.llm_id, Counter())[tests[result.test_id].class_id] += 1
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One LLM on all tests, or on those of a class."""

    llm_id: str
    class_id: str | None
    n_tests: int
    n_untold: int
    """Scored results that do not record both request and evaluator."""
    trials: TrialColumns
    summary: Summary | None
    """Figures of `trials`; None without any result."""

    @property
    def n_pending(self) -> int:
        """Tests without any result."""
        import numpy as np

        return self.n_tests - int(np.count_nonzero(np.bincount(self.trials.columns["test_id"])))


_ROUNDING = 1e-9
_SLOW_SHARE = 0.05


def _check_p95(scope: Scope, limit: float) -> Observation:
    """Check within what time 95 % of the trials end.

    It only warns where the number of slower trials may be chance: where the interval of their share
    reaches 5 %. Trials of one test are alike and count by their tests.
    """
    figure = metrics.P95_TIME.compute(scope.summary) if scope.summary else None
    if figure is None:
        return Observation(GateStatus.FAILED, None, f"{NOTHING}no scored trial has a time")
    seen = f"95 % end within {figure.value:.0f} ms ({write_count(figure.n, 'trial')})"
    if figure.value <= limit + _ROUNDING:
        return Observation(GateStatus.PASSED, figure.value, f"{seen}; the limit is {limit:.0f} ms")
    timed = scope.trials.pick(scope.trials.is_scored)
    timed = timed.pick(~timed.is_missing("execution_time_ms"))
    slower = [float(time_ms > limit) for time_ms in timed.columns["execution_time_ms"].tolist()]
    if mean_score(slower, timed.columns["test_id"].tolist()).low <= _SLOW_SHARE:
        reason = f"{seen}, above {limit:.0f} ms, but too few trials to rule out chance"
        return Observation(GateStatus.WARNING, figure.value, reason)
    return Observation(GateStatus.FAILED, figure.value, f"{seen}, above {limit:.0f} ms")


def _check_cost(scope: Scope, limit: float) -> Observation:
    """Check the sum of what the trials cost, failed ones included."""
    figure = metrics.COST.compute(scope.summary) if scope.summary else None
    if figure is None:
        return Observation(GateStatus.FAILED, None, f"{NOTHING}no result has a cost")
    unknown = scope.trials.pick(scope.trials.is_missing("cost_usd")).count_trials()
    seen = f"cost {metrics.COST.text(figure.value)}" + (
        f" and {write_count(unknown, 'trial')} of unknown cost" if unknown else ""
    )
    limit_text = metrics.COST.text(limit)
    if figure.value > limit + _ROUNDING:
        return Observation(GateStatus.FAILED, figure.value, f"{seen}, above {limit_text}")
    status = GateStatus.WARNING if unknown else GateStatus.PASSED
    return Observation(status, figure.value, f"{seen}; the limit is {limit_text}")


def _check_scored_share(scope: Scope, limit: float) -> Observation:
    """Check the share of trials that ended with a score, pending tests counted as one trial."""
    row = scope.summary
    n_scored, n_failed = (row.n_scored, row.n_failed) if row else (0, 0)
    share = compute_scored_share(n_scored, n_failed, scope.n_pending)
    seen = f"{n_scored} scored, {n_failed} failed to run, {scope.n_pending} pending"
    if row and row.n_newer_failed:
        seen += f"; {row.n_newer_failed} of the scored have a newer attempt that failed"
    kept = share >= limit - _ROUNDING
    return Observation(GateStatus.PASSED if kept else GateStatus.FAILED, share, seen)


def _check_mean(metric: Metric, scope: Scope, limit: float) -> Observation:
    """Check a mean over tests; one whose interval reaches the limit only warns."""
    figure = metric.compute(scope.summary) if scope.summary else None
    if figure is None or figure.low is None or figure.high is None:
        n_failed = scope.summary.n_failed if scope.summary else 0
        reason = f"{NOTHING}no scored trial ({n_failed} failed to run)"
        return Observation(GateStatus.FAILED, None, reason)
    interval = metrics.interval_text(figure.low, figure.high)
    n_tests = metric.write_n(figure)
    seen = f"{metric.label.lower()} {metrics.score_text(figure.value)} ({interval}, {n_tests})"
    if figure.value >= limit - _ROUNDING:
        return Observation(GateStatus.PASSED, figure.value, f"{seen}; the limit is {limit:g}")
    if figure.high >= limit:
        reason = f"{seen} is below {limit:g}, but not significantly"
        return Observation(GateStatus.WARNING, figure.value, reason)
    return Observation(GateStatus.FAILED, figure.value, f"{seen} is below {limit:g}")


def check_gates(gates: Sequence[Gate], evidence: Evidence) -> list[GateOutcome]:
    """Check each gate for every LLM and class that it names.

    Scored share and up-to-dateness are looked at in any case, and warn where something is amiss
    unless a gate asks for more. A gate that finds nothing to check fails.

    Args:
        gates: What must hold.
        evidence: What is known.

    Raises:
        ValueError: If no gate is defined.
    """
    if not gates:
        raise ValueError("no gate is defined")
    asked = {gate.kind for gate in gates}
    implied = [gate for gate in IMPLIED_GATES if gate.kind not in asked]
    scope = cache(evidence.scope)
    return [
        outcome
        for gate in (*gates, *implied)
        for outcome in _list_outcomes(gate, list(_check_gate(gate, evidence, scope)))
    ]


def _list_outcomes(gate: Gate, outcomes: list[GateOutcome]) -> list[GateOutcome]:
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


def _check_gate(
    gate: Gate, evidence: Evidence, scope: Callable[[str, str | None], Scope]
) -> Iterator[GateOutcome]:
    for llm in evidence.llms:
        if not gate.is_about(llm.id, llm.label):
            continue
        if not scope(llm.id, None).summary:
            yield from _list_never_run(gate, llm, evidence)
            continue
        for class_id in list_classes(gate, evidence):
            seen = _observe(gate, scope(llm.id, class_id), evidence)
            yield GateOutcome(gate=gate, llm_id=llm.id, class_id=class_id, **asdict(seen))


def _list_never_run(gate: Gate, llm: LLM, evidence: Evidence) -> Iterator[GateOutcome]:
    """Yield a failure for an LLM that was named, and else one warning for all gates together."""
    reason = f"{NOTHING}it was never run"
    if llm.id in evidence.named or gate.llm_pattern in {llm.id, llm.label}:
        yield GateOutcome(gate=gate, llm_id=llm.id, status=GateStatus.FAILED, reason=reason)
    elif gate.kind is GateKind.MIN_SCORED_SHARE:
        yield GateOutcome(gate=gate, llm_id=llm.id, status=GateStatus.WARNING, reason=reason)


def list_classes(gate: Gate, evidence: Evidence) -> Iterable[str | None]:
    """List the classes that a gate checks apart; None stands for all tests together."""
    if gate.class_pattern is None:
        return [None]
    return [class_id for class_id in evidence.classes() if gate.is_about_class(class_id)]


def _observe(gate: Gate, scope: Scope, evidence: Evidence) -> Observation:
    match gate.kind:
        case GateKind.NO_REGRESSION:
            comparisons = evidence.comparisons.get(gate.baseline, {})
            return check_regression(
                comparisons.get(scope.llm_id),
                scope.class_id,
                gate.limit,
                is_sequential=evidence.is_sequential,
            )
        case GateKind.UP_TO_DATE:
            n_untold = 0 if gate.only_warns else scope.n_untold
            return _check_up_to_date(evidence.n_stale.get(scope.llm_id, 0), n_untold)
        case _:
            return _LIMIT_CHECKS[gate.kind](scope, gate.limit)


_LIMIT_CHECKS: Mapping[GateKind, Callable[[Scope, float], Observation]] = {
    GateKind.MIN_SCORE: partial(_check_mean, metrics.SCORE),
    GateKind.MIN_PASSED: partial(_check_mean, metrics.PASS_RATE),
    GateKind.MAX_P95_MS: _check_p95,
    GateKind.MAX_COST_USD: _check_cost,
    GateKind.MIN_SCORED_SHARE: _check_scored_share,
}


def _check_up_to_date(n_stale: int, n_untold: int) -> Observation:
    if n_stale:
        stale = write_count(n_stale, "result")
        reason = f"{stale} of another prompt, other parameters or another evaluator"
        return Observation(GateStatus.FAILED, n_stale, reason)
    if n_untold:
        reason = f"{write_count(n_untold, 'result')} of an older tool, without prompt and evaluator"
        return Observation(GateStatus.WARNING, 0, reason)
    return Observation(GateStatus.PASSED, 0, "all results are up to date")
