"""Check that a model's score on the same tests did not drop beyond a tolerance; plan its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from poor_bench.comparison.compare import ComparedGroup, LLMComparison
from poor_bench.comparison.compared_tests import ComparedTest, Mismatch, ScoreChange
from poor_bench.comparison.messages import describe_mismatches
from poor_bench.gates.gate import NOTHING, GateStatus, Observation
from poor_bench.messages import join_names, write_count
from poor_bench.statistics.non_inferiority import (
    ERROR,
    GateVerdict,
    TrialPlan,
    Trials,
    VarianceSource,
    decide,
    estimate_trial_variance,
    gather_trials,
    measure_change,
)
from poor_bench.statistics.trials import TrialColumns


def gather_sides(tests: Sequence[ComparedTest]) -> tuple[Trials, Trials]:
    """Gather the trials of the baseline, and those that it does not have."""
    return (
        gather_trials([test.scores_before for test in tests]),
        gather_trials([test.scores_after for test in tests]),
    )


def plan_against_baseline(
    tests: Sequence[ComparedTest], tolerance: float
) -> tuple[TrialPlan, VarianceSource]:
    """Plan trials that are compared with the stored baseline.

    Args:
        tests: Comparable tests, at least one.
        tolerance: Accepted drop of the mean score, above 0.0.
    """
    before, after = gather_sides(tests)
    variance = estimate_trial_variance(before, after)
    plan = TrialPlan(
        n_tests=len(tests),
        variance=variance.value,
        tolerance=tolerance,
        mean=_bound_mean(float(before.mean.mean())),
        n_before=len(tests) / sum(1 / len(test.scores_before) for test in tests),
    )
    return plan, variance.source


def plan_without_baseline(
    test_ids: Sequence[str], trials: TrialColumns, tolerance: float
) -> tuple[TrialPlan, VarianceSource]:
    """Plan a baseline and as many trials that are compared with it.

    Args:
        test_ids: At least one.
        trials: Of one LLM; their scatter is what is known.
        tolerance: Accepted drop of the mean score, above 0.0.
    """
    scores: dict[str, list[float]] = {test_id: [] for test_id in test_ids}
    trials = trials.pick(trials.is_scored & trials.find_entries("test_id", scores.__contains__))
    names = trials.values["test_id"]
    for code, score in zip(
        trials.columns["test_id"].tolist(), trials.columns["score"].tolist(), strict=True
    ):
        scores[names[code]].append(score)
    nothing: list[list[float]] = [[] for _ in scores]
    variance = estimate_trial_variance(gather_trials(list(scores.values())), gather_trials(nothing))
    means = [fmean(values) for values in scores.values() if values]
    plan = TrialPlan(
        n_tests=len(scores),
        variance=variance.value,
        tolerance=tolerance,
        mean=_bound_mean(fmean(means)) if means else 1.0,
    )
    return plan, variance.source


def _bound_mean(mean: float) -> float:
    """Keep a mean score away from 0.0, from where nothing can drop."""
    return max(mean, 0.001)


_STATUSES = {
    GateVerdict.PASSED: GateStatus.PASSED,
    GateVerdict.FAILED: GateStatus.FAILED,
    GateVerdict.UNDECIDED: GateStatus.WARNING,
}
_OTHER_MODEL = {Mismatch.PARAMETERS_CHANGED, Mismatch.MODEL_MOVED}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDrop:
    """Change of the mean score of some tests, with the limits that its verdict rests on."""

    group: ComparedGroup
    tolerance: float
    value: float
    """After minus before."""
    low: float
    high: float
    error: float
    """Accepted chance of each wrong verdict."""
    is_repeatable: bool
    """True if every test was repeated, and no answer of it ever differed."""

    @property
    def verdict(self) -> GateVerdict:
        """Verdict by the limits."""
        return decide(self.low, self.high, self.tolerance)

    @property
    def n_new(self) -> int:
        """Tests with a trial that the baseline does not have."""
        return sum(bool(test.scores_after) for test in self.group.tests)

    @property
    def _figures(self) -> tuple[float, float, float]:
        return self.value, self.low, self.high

    @property
    def text(self) -> str:
        """Describe the change, such as `change -0.010 (90 % CI -0.035 to +0.015), 60 tests`."""
        value, low, high = (f"{round(each, 3) + 0.0:+.3f}" for each in self._figures)
        limits = f"{100 * (1 - 2 * self.error):.0f} % CI {low} to {high}"
        n_tests = write_count(len(self.group.tests), "test")
        repeats = ", all answers repeat" if self.is_repeatable else ""
        return f"{value} ({limits}; {n_tests}, {_describe_trials(self.group.tests)}{repeats})"


def measure_drop(
    group: ComparedGroup, tolerance: float, *, error: float = ERROR, is_sequential: bool = False
) -> MeasuredDrop:
    """Measure the change of a group by trials that the baseline does not have.

    Args:
        group: Comparable tests.
        tolerance: Accepted drop of the mean score, 0.0 to 1.0.
        error: Accepted chance of each wrong verdict.
        is_sequential: Whether the limits must hold at every look.
    """
    is_repeatable = are_repeatable(group.tests)
    change = measure_change(*gather_sides(group.tests), is_repeatable=is_repeatable)
    margins = (
        change.compute_anytime_margin(tolerance, error)
        if is_sequential
        else change.compute_margin(error)
    )
    value, margin = float(change.value), float(margins)
    return MeasuredDrop(
        group=group,
        tolerance=tolerance,
        value=value,
        low=max(-1.0, value - margin),
        high=min(1.0, value + margin),
        error=error,
        is_repeatable=is_repeatable,
    )


def are_repeatable(tests: Sequence[ComparedTest]) -> bool:
    """True if the model gave the same answer whenever a test was repeated, and each was."""
    new = [test for test in tests if test.scores_after]
    return bool(new) and all(
        test.repeats_alike and not _OTHER_MODEL & set(test.mismatches) for test in new
    )


def check_regression(
    comparison: LLMComparison | None,
    class_id: str | None,
    tolerance: float,
    *,
    is_sequential: bool = False,
) -> Observation:
    """Check that the mean score of the same tests did not drop by more than a tolerance.

    It fails where it is shown to have dropped further, overall or in a class; it passes where that
    is ruled out overall. Without enough evidence, and for tests that are not comparable, it warns.

    Args:
        comparison: The LLM with its baseline; None where the baseline does not have it.
        class_id: The class that is looked at; None looks at all, and at every class.
        tolerance: Accepted drop of the mean score, 0.0 to 1.0.
        is_sequential: Whether the verdict has to hold however often it is looked at.
    """
    if comparison is None:
        return Observation(GateStatus.WARNING, None, "new: the baseline has no results of it")
    groups = select_groups(comparison, class_id)
    if not groups:
        reasons = ", ".join(_list_not_comparable(comparison, class_id)) or "no test of both"
        return Observation(GateStatus.FAILED, None, f"{NOTHING}{reasons}")
    whole, *by_class = (
        measure_drop(
            group,
            tolerance,
            error=ERROR if place == 0 else ERROR / (len(groups) - 1),
            is_sequential=is_sequential,
        )
        for place, group in enumerate(groups)
    )
    fallen = [drop for drop in (whole, *by_class) if drop.verdict is GateVerdict.FAILED]
    verdict = GateVerdict.FAILED if fallen else whole.verdict
    doubts = [] if fallen else _list_doubts(comparison, whole.group, class_id)
    status = _STATUSES[verdict]
    if doubts and status is GateStatus.PASSED:
        status = GateStatus.WARNING
    reason = "; ".join([_explain(whole, fallen), *doubts])
    return Observation(status, whole.value, reason, verdict, whole.low, whole.high)


def select_groups(comparison: LLMComparison, class_id: str | None) -> list[ComparedGroup]:
    """Select all comparable tests and then each class of several, or a class alone."""
    if class_id is not None:
        return [group for group in comparison.by_class if group.class_id == class_id]
    if comparison.overall is None:
        return []
    return [comparison.overall, *(comparison.by_class if len(comparison.by_class) > 1 else ())]


def _explain(whole: MeasuredDrop, fallen: Sequence[MeasuredDrop]) -> str:
    broken = _describe_broken(whole.group)
    if fallen:
        return "; ".join(_describe_fallen(drop) for drop in fallen) + broken
    if not whole.n_new:
        return "the same results as in the baseline; no test was asked since"
    within = f"tolerance {whole.tolerance:g}"
    if whole.verdict is GateVerdict.PASSED:
        return f"change {whole.text} within {within}{broken}"
    shown = "a drop is shown, but not that it is greater; " if whole.high < 0 else ""
    return f"not enough evidence: change {whole.text}, {within}; {shown}{_advise(whole)}{broken}"


def _describe_fallen(drop: MeasuredDrop) -> str:
    scope = "" if drop.group.class_id is None else f" in {drop.group.class_id}"
    return f"score fell{scope} by more than {drop.tolerance:g}: change {drop.text}"


def _advise(drop: MeasuredDrop) -> str:
    """Say what would decide the question."""
    plan, _ = plan_against_baseline(drop.group.tests, drop.tolerance)
    if drop.is_repeatable:
        return "each answer repeats, so more trials show nothing new; add tests"
    n_trials = plan.find_trials_to_pass()
    n_made = min(len(test.scores_after) for test in drop.group.tests)
    if n_trials is not None and n_trials <= n_made:
        return "only more trials can decide, above all in the baseline"
    if n_trials is not None:
        trials = write_count(n_trials, "trial")
        return f"an unchanged model passes in 80 % of cases with {trials} per test"
    n_both = replace(plan, n_before=None).find_trials_to_pass()
    if n_both is None:
        return "too few tests for this tolerance"
    return f"the baseline has too few trials: make it with {n_both} per test, and compare as many"


def _describe_trials(tests: Sequence[ComparedTest]) -> str:
    before = sorted({len(test.scores_before) for test in tests})
    after = sorted({len(test.scores_after) for test in tests})
    return f"trials {_range_text(before)} before, {_range_text(after)} after"


def _range_text(numbers: Sequence[int]) -> str:
    first, last = numbers[0], numbers[-1]
    return f"{first}" if first == last else f"{first}-{last}"


def _list_doubts(
    comparison: LLMComparison, group: ComparedGroup, class_id: str | None
) -> list[str]:
    doubts = _list_not_comparable(comparison, class_id)
    n_unverified = sum(bool(test.scores_after) > test.is_verified for test in group.tests)
    if n_unverified:
        doubts.append(
            f"{write_count(n_unverified, 'test')} with older results, which tell too little"
        )
    return doubts


def _list_not_comparable(comparison: LLMComparison, class_id: str | None) -> list[str]:
    return [
        f"{describe_mismatches(reasons)}: {write_count(len(test_ids), 'test')} not compared"
        for reasons, test_ids in comparison.not_comparable(class_id).items()
    ]


def _describe_broken(group: ComparedGroup) -> str:
    broken: Sequence[str] = [
        test.test_id for test in group.tests if test.outcome is ScoreChange.BROKEN
    ]
    return f"; broken: {join_names(broken, limit=5)}" if broken else ""
