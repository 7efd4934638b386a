"""From trials to verdicts on trials, cases and a suite; pure.

A trial that could not be run (`failure`) is in no rate, no average and no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from poor_bench.evaluation.checks import failed_checks
from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCase,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTrialResult,
)
from poor_bench.evaluation.rates import RATES, Rate, mean, p95, rate_of

_MILLION = 1_000_000


def score_trial(case: EvalCase, trial: EvalTrialResult) -> EvalTrialResult:
    """Return a trial with its cost, its failed checks and its verdict.

    It passes if no check fails. One that could not be run has no verdict.
    """
    costed = replace(trial, estimated_cost_usd=estimated_cost_usd(case, trial))
    failed = failed_checks(case, costed)
    return replace(costed, failed_checks=failed, passed=not failed and trial.failure is None)


def estimated_cost_usd(case: EvalCase, trial: EvalTrialResult) -> float:
    """Return tokens times the case's cost per million; 0.0 where only the playbook acted."""
    if case.execution_mode == "playbook_only" or trial.mode == "playbook":
        return 0.0
    cost = trial.input_tokens * case.input_token_cost_per_million_usd
    cost += trial.output_tokens * case.output_token_cost_per_million_usd
    return cost / _MILLION


def score_case(case: EvalCase, trials: Sequence[EvalTrialResult]) -> EvalCaseResult:
    """Return the verdict on a case.

    A case passes if all its trials pass, or at least the share `min_trial_pass_rate`, and the
    95th percentile of their durations keeps `max_p95_duration_ms`. It fails if it could not pass
    any more even if every trial that was not run had passed. Else a trial that was not run leaves
    it without a verdict.

    Args:
        case: What was expected.
        trials: Its trials, scored, in their order; those that a stopped run did not come to are
            missing, and count as not run.
    """
    ran = [trial for trial in trials if trial.failure is None]
    failures = tuple(trial.failure for trial in trials if trial.failure is not None)
    status, failed = _verdict(case, ran, max(case.trials, len(trials)) - len(ran))
    pass_rate = rate_of(sum(trial.passed for trial in ran), len(ran))
    shown = _shown_trial(case, ran, trials)
    durations = [trial.duration_ms for trial in ran]
    return EvalCaseResult(
        id=case.id,
        passed=status is CaseStatus.PASSED,
        success=shown.success,
        mode=shown.mode,
        summary=shown.summary,
        error=shown.failure.message if shown.failure else shown.error,
        duration_ms=shown.duration_ms,
        actions=shown.actions,
        input_tokens=shown.input_tokens,
        output_tokens=shown.output_tokens,
        trials_run=len(ran),
        trial_pass_rate=pass_rate.value if pass_rate else None,
        avg_duration_ms=mean(durations),
        p95_duration_ms=p95(durations),
        avg_estimated_cost_usd=mean([trial.estimated_cost_usd for trial in ran]),
        failed_checks=failed,
        trial_results=tuple(trials),
        status=status,
        trial_pass_interval=pass_rate.interval if pass_rate else None,
        failures=failures,
    )


def score_suite(name: str, cases: Sequence[EvalCaseResult]) -> EvalSuiteResult:
    """Return the rates and averages of a suite.

    `pass_rate` is the share of passed cases among those with a verdict. The other rates are of
    trials that ran, and defined in `rates.RATES`; averages and the 95th percentile are over all
    trials that ran. What has nothing to count is None. Intervals are Wilson's, of 95 %, and take
    cases and trials as independent of each other.
    """
    counts = {status: sum(case.status is status for case in cases) for status in CaseStatus}
    total = counts[CaseStatus.PASSED] + counts[CaseStatus.FAILED]
    ran = [trial for case in cases for trial in case.trial_results if trial.failure is None]
    durations = [trial.duration_ms for trial in ran]
    rates = {key: rate.of(ran) for key, rate in RATES.items()}
    rates["pass_rate"] = rate_of(counts[CaseStatus.PASSED], total)
    return EvalSuiteResult(
        name=name,
        passed=counts[CaseStatus.PASSED],
        failed=counts[CaseStatus.FAILED],
        not_run=counts[CaseStatus.NOT_RUN],
        total=total,
        avg_duration_ms=mean(durations),
        p95_duration_ms=p95(durations),
        avg_estimated_cost_usd=mean([trial.estimated_cost_usd for trial in ran]),
        case_results=tuple(cases),
        intervals={key: rate.interval for key, rate in rates.items() if rate is not None},
        pass_rate=_value(rates["pass_rate"]),
        deterministic_hit_rate=_value(rates["deterministic_hit_rate"]),
        handoff_rate=_value(rates["handoff_rate"]),
        handoff_rescue_rate=_value(rates["handoff_rescue_rate"]),
    )


def _shown_trial(
    case: EvalCase, ran: Sequence[EvalTrialResult], trials: Sequence[EvalTrialResult]
) -> EvalTrialResult:
    """Return the first trial that did not pass, else the first that ran, else the first."""
    not_passed = next((trial for trial in ran if not trial.passed), None)
    return not_passed or next(iter((*ran, *trials)), None) or EvalTrialResult(case_id=case.id)


def _verdict(
    case: EvalCase, ran: Sequence[EvalTrialResult], n_not_run: int
) -> tuple[CaseStatus, tuple[str, ...]]:
    """Return the status and why it failed; what was not run is given the benefit of the doubt."""
    failed = (*_too_few_passed(case, ran, n_not_run), *_too_slow(case, ran, n_not_run))
    if failed:
        return CaseStatus.FAILED, failed
    return (CaseStatus.NOT_RUN if n_not_run else CaseStatus.PASSED), ()


def _too_few_passed(
    case: EvalCase, ran: Sequence[EvalTrialResult], n_not_run: int
) -> Iterator[str]:
    wanted = case.expect.min_trial_pass_rate
    n_passed = sum(trial.passed for trial in ran)
    if (n_passed + n_not_run) / (len(ran) + n_not_run) >= (1.0 if wanted is None else wanted):
        return
    for trial in ran:
        prefix = f"trial {trial.trial}: " if case.trials > 1 else ""
        yield from (f"{prefix}{check}" for check in trial.failed_checks)
    if wanted is not None:
        yield f"min_trial_pass_rate: {n_passed} of {len(ran)} trials passed, {wanted:g} expected"


def _too_slow(case: EvalCase, ran: Sequence[EvalTrialResult], n_not_run: int) -> Iterator[str]:
    most = case.expect.max_p95_duration_ms
    slow = p95([trial.duration_ms for trial in ran])
    if most is not None and slow is not None and not n_not_run and slow > most:
        yield f"max_p95_duration_ms: {slow:.10g} ms, at most {most:.10g} expected"


def _value(rate: Rate | None) -> float | None:
    return rate.value if rate is not None else None
