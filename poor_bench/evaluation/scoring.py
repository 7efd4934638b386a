"""Verdicts and rates of trials, cases and a suite; pure.

A trial that could not be run (`failure`) is in no rate, no average and no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from poor_bench.evaluation.checks import list_failed_checks
from poor_bench.evaluation.models import (
    CaseStatus,
    EvalCase,
    EvalCaseResult,
    EvalSuiteResult,
    EvalTagResult,
    EvalTrialResult,
)
from poor_bench.messages import write_count
from poor_bench.models.completion import Usage, cost_usd
from poor_bench.models.llm import Prices
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
        return compute_rate(sum(map(self.counts, chosen)), len(chosen))


def compute_rate(count: int, total: int) -> Rate | None:
    """`count` of `total` as a rate; None where `total` is 0.

    The interval counts trials, so it says how sure the rate is on these cases. Further trials of
    the same cases narrow it; for how other cases would do it is too narrow.
    """
    if total == 0:
        return None
    share = count / total
    return Rate(share, wilson_interval(share, total))


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None without values."""
    return sum(values) / len(values) if values else None


def compute_p95(values: Sequence[float]) -> float | None:
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


_UNKNOWN = Prices()
SHOWN_OF_TRIAL = {
    "success", "mode", "summary", "duration_ms", "actions", "input_tokens", "output_tokens",
}  # fmt: skip
"""Fields that a case takes over from the trial that stands for it."""


def score_trial(
    case: EvalCase, trial: EvalTrialResult, prices: Prices = _UNKNOWN
) -> EvalTrialResult:
    """Add cost, failed checks and verdict to a trial.

    It passes if no check fails. One that could not be run has no verdict.

    Args:
        case: The expectations.
        trial: What the agent did.
        prices: Of the LLM in llms.json; those of the case precede them.
    """
    cost = estimate_cost_usd(case, trial, prices)
    costed = trial.model_copy(update={"estimated_cost_usd": cost})
    failed = list_failed_checks(case, costed)
    passed = not failed and trial.failure is None
    return costed.model_copy(update={"failed_checks": failed, "passed": passed})


def estimate_cost_usd(
    case: EvalCase, trial: EvalTrialResult, prices: Prices = _UNKNOWN
) -> float | None:
    """Tokens times price, in US dollars; None if a price or the number of tokens is unknown.

    A playbook alone costs 0.0. An agent that acted and reports no tokens has not counted them: its
    cost is unknown, unless both prices are 0.
    """
    n_tokens = trial.input_tokens + trial.output_tokens
    if trial.mode == "playbook" or (trial.mode is None and not n_tokens):
        return 0.0
    known = _find_prices(case, prices)
    if not n_tokens:
        return 0.0 if known.input == known.output == 0 else None
    usage = Usage(prompt_tokens=trial.input_tokens, completion_tokens=trial.output_tokens)
    return cost_usd(usage, known)


def _find_prices(case: EvalCase, prices: Prices) -> Prices:
    """Prices of the case where it has some, else those of its LLM."""
    written = case.model_fields_set
    has_input = "input_token_cost_per_million_usd" in written
    has_output = "output_token_cost_per_million_usd" in written
    return Prices(
        input=case.input_token_cost_per_million_usd if has_input else prices.input,
        output=case.output_token_cost_per_million_usd if has_output else prices.output,
    )


def score_case(case: EvalCase, trials: Sequence[EvalTrialResult]) -> EvalCaseResult:
    """Judge a case over all its trials.

    A case passes if all its trials pass, or at least the share `min_trial_pass_rate`, and the
    95th percentile of their durations is at most `max_p95_duration_ms`. It fails if it could not
    pass even if every trial that was not run had passed. Otherwise a trial that was not run leaves
    it without a verdict.

    Args:
        case: The expectations.
        trials: Its trials, scored, in their order; trials that a stopped run did not reach are
            missing, and count as not run.
    """
    ran = [trial for trial in trials if trial.failure is None]
    failures = tuple(trial.failure for trial in trials if trial.failure is not None)
    status, failed = _decide(case, ran, max(case.trials, len(trials)) - len(ran))
    pass_rate = compute_rate(sum(trial.passed for trial in ran), len(ran))
    shown = _choose_trial(case, ran, trials)
    durations = [trial.duration_ms for trial in ran]
    return EvalCaseResult(
        id=case.id,
        benchmark_tags=tuple(case.benchmark_tags),
        passed=status is CaseStatus.PASSED,
        **shown.model_dump(include=SHOWN_OF_TRIAL),
        error=shown.failure.message if shown.failure else shown.error,
        trials_run=len(ran),
        trial_pass_rate=pass_rate.value if pass_rate else None,
        avg_duration_ms=mean(durations),
        p95_duration_ms=compute_p95(durations),
        avg_estimated_cost_usd=_mean_cost(ran),
        failed_checks=failed,
        trial_results=tuple(trials),
        status=status,
        trial_pass_interval=pass_rate.interval if pass_rate else None,
        failures=failures,
    )


def score_suite(name: str, cases: Sequence[EvalCaseResult]) -> EvalSuiteResult:
    """Compute the rates and averages of a suite.

    `pass_rate` is the share of passed cases among those with a verdict, 0.0 where no case has one.
    The other rates are shares of trials that ran, as `rates.RATES` defines them; averages and the
    95th percentile are over all trials that ran. They are None where there is nothing to count.
    Confidence intervals are Wilson's, of 95 %, and treat cases and trials as independent.
    """
    counts, pass_rate = _count_verdicts(cases)
    ran = [trial for case in cases for trial in case.trial_results if trial.failure is None]
    durations = [trial.duration_ms for trial in ran]
    rates = {key: rate.of(ran) for key, rate in RATES.items()}
    rates["pass_rate"] = pass_rate
    return EvalSuiteResult(
        name=name,
        **counts,
        avg_duration_ms=mean(durations),
        p95_duration_ms=compute_p95(durations),
        avg_estimated_cost_usd=_mean_cost(ran),
        case_results=tuple(cases),
        intervals={key: rate.interval for key, rate in rates.items() if rate is not None},
        pass_rate=pass_rate.value if pass_rate else 0.0,
        tag_results=_tag_results(cases),
        llms=_list_acting_llms(ran),
        deterministic_hit_rate=_read_value(rates["deterministic_hit_rate"]),
        handoff_rate=_read_value(rates["handoff_rate"]),
        handoff_rescue_rate=_read_value(rates["handoff_rescue_rate"]),
    )


def _count_verdicts(cases: Sequence[EvalCaseResult]) -> tuple[dict[str, Any], Rate | None]:
    """Count cases by verdict, and compute the share of passed ones among those with a verdict."""
    n = Counter(case.status for case in cases)
    passed, failed = n[CaseStatus.PASSED], n[CaseStatus.FAILED]
    counts = {"passed": passed, "failed": failed, "not_run": n[CaseStatus.NOT_RUN]}
    return {**counts, "total": passed + failed}, compute_rate(passed, passed + failed)


def _tag_results(cases: Sequence[EvalCaseResult]) -> tuple[EvalTagResult, ...]:
    tags = sorted({tag for case in cases for tag in case.benchmark_tags})
    return tuple(
        _tag_result(tag, [case for case in cases if tag in case.benchmark_tags]) for tag in tags
    )


def _tag_result(tag: str, cases: Sequence[EvalCaseResult]) -> EvalTagResult:
    counts, rate = _count_verdicts(cases)
    return EvalTagResult(
        tag=tag,
        **counts,
        pass_rate=rate.value if rate else 0.0,
        pass_interval=rate.interval if rate else None,
    )


def _list_acting_llms(ran: Sequence[EvalTrialResult]) -> tuple[str, ...]:
    acted = (trial for trial in ran if trial.mode in {"agent", "handoff"})
    return tuple(sorted({trial.llm_id for trial in acted if trial.llm_id}))


def _mean_cost(ran: Sequence[EvalTrialResult]) -> float | None:
    """Mean cost of trials; None where one of them is unknown, since a mean of the rest misleads."""
    known = [cost for trial in ran if (cost := trial.estimated_cost_usd) is not None]
    return mean(known) if len(known) == len(ran) else None


def _choose_trial(
    case: EvalCase, ran: Sequence[EvalTrialResult], trials: Sequence[EvalTrialResult]
) -> EvalTrialResult:
    """Choose the first trial that did not pass, else the first that ran, else the first."""
    not_passed = next((trial for trial in ran if not trial.passed), None)
    return not_passed or next(iter((*ran, *trials)), None) or EvalTrialResult(case_id=case.id)


def _decide(
    case: EvalCase, ran: Sequence[EvalTrialResult], n_not_run: int
) -> tuple[CaseStatus, tuple[str, ...]]:
    """Judge a case, with reasons if it failed; trials that were not run count as passed."""
    failed = (*_check_passed_share(case, ran, n_not_run), *_check_duration(case, ran, n_not_run))
    if failed:
        return CaseStatus.FAILED, failed
    return (CaseStatus.NOT_RUN if n_not_run else CaseStatus.PASSED), ()


def _check_passed_share(
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
        n_ran = write_count(len(ran), "trial")
        yield f"min_trial_pass_rate: {n_passed} of {n_ran} passed, {wanted:.0%} expected"


def _check_duration(
    case: EvalCase, ran: Sequence[EvalTrialResult], n_not_run: int
) -> Iterator[str]:
    most = case.expect.max_p95_duration_ms
    slow = compute_p95([trial.duration_ms for trial in ran])
    if most is not None and slow is not None and not n_not_run and slow > most:
        yield f"max_p95_duration_ms: {slow:.10g} ms, at most {most:.10g} expected"


def _read_value(rate: Rate | None) -> float | None:
    return rate.value if rate is not None else None
