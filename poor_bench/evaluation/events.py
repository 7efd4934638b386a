"""What a run of a suite tells its listener while it goes on."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalSuiteResult, EvalTrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStarted:
    """A run begins; nothing has been tried yet."""

    run_id: str
    suite: str
    n_trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    """An agent is given its task."""

    case_id: str
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """An agent did something; it is stored."""

    case_id: str
    trial: int
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFinished:
    """A trial ended, with a verdict or a failure of ours, and is stored."""

    result: EvalTrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFinished:
    """The run is over, or was stopped."""

    report: EvalSuiteResult


SuiteEvent = SuiteStarted | TrialStarted | StepDone | TrialFinished | SuiteFinished
