"""Events of a running suite."""

from __future__ import annotations

from dataclasses import dataclass

from poor_bench.evaluation.agent import Step
from poor_bench.evaluation.models import EvalSuiteResult, EvalTrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteStarted:
    """A run starts."""

    run_id: str
    suite: str
    n_trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialStarted:
    """A trial starts."""

    case_id: str
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDone:
    """A step is done and stored."""

    case_id: str
    trial: int
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFinished:
    """A trial is judged or could not be run, and is stored."""

    result: EvalTrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFinished:
    """The run is finished, or was stopped."""

    report: EvalSuiteResult


SuiteEvent = SuiteStarted | TrialStarted | StepDone | TrialFinished | SuiteFinished
